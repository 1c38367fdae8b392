"""SQuAD's and Quoref's prediction files."""

from __future__ import annotations

from classic_rc.formats.by_id import AnswersById
from classic_rc.questions import Task


class SQuAD(AnswersById):
    """The predicted text by question id; for Quoref the list of the predicted spans' texts, or one text."""

    name = "squad"
    description = "{id: text}, or {id: [texts]} for multi-span answers; a question left out scores 0"
    citation = "Rajpurkar et al. 2016, SQuAD v1.1; Dasigi et al. 2019, Quoref: the official evaluation scripts"
    tasks = frozenset({Task.SPAN, Task.MULTI_SPAN})
    readers = frozenset({"squad", "quoref"})
