"""ReCoRD's prediction files."""

from __future__ import annotations

from classic_rc.formats.by_id import AnswersById
from classic_rc.questions import Task


class ReCoRD(AnswersById):
    """The text of the chosen entity by query id."""

    name = "record"
    description = "{id: text}; a query left out scores 0"
    citation = "Zhang et al. 2018, ReCoRD: the official evaluation script"
    tasks = frozenset({Task.CLOZE})
    readers = frozenset({"record"})
