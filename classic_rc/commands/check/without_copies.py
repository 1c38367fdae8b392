"""Which questions repeat nothing? Systems are measured on them too."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.duplicates import COPIES, paired_ids
from classic_rc.commands.check.kinds import Finding
from classic_rc.questions import Dataset
from classic_rc.results.grouping import WITHOUT_COPIES, Grouping


def copied_questions(dataset: Dataset, duplicates: Iterable[Finding]) -> NDArray[np.bool_]:
    """Return which questions repeat, or have passages that repeat, training data or an earlier part
    of the dataset.

    Equal and near copies count: the findings of
    :data:`~classic_rc.commands.check.duplicates.COPIES`.
    """
    findings = list(duplicates)
    of_passages = {name for name in COPIES if name.startswith("passage-")}
    passages = paired_ids(findings, of_passages)
    questions = paired_ids(findings, COPIES - of_passages)
    return np.array([q.id in questions or q.passage.id in passages for q in dataset], dtype=bool)


def group_original_questions(dataset: Dataset, duplicates: Iterable[Finding]) -> Grouping:
    """Return the questions that are not copies (:func:`copied_questions`), as a group for
    :func:`~classic_rc.results.break_down`.

    Examples
    --------
    >>> import classic_rc
    >>> from classic_rc.commands.check.duplicates import find_duplicates
    >>> data = classic_rc.load("sample:single-choice")
    >>> grouping = group_original_questions(data, find_duplicates(data, data[:12]))
    >>> int(grouping.masks["without copies"].sum())
    12
    """
    copied = copied_questions(dataset, duplicates)
    note = (
        f"{copied.sum():,} repeat others, or their passages do, counted from the second time on, "
        "or are in training data"
    )
    return Grouping("copies", {WITHOUT_COPIES: ~copied}, np.ones_like(copied), note=note)
