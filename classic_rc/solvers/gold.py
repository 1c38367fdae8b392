"""What solvers that learn from gold learn: which candidates are right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.metrics.squad import normalise
from classic_rc.questions import Question


def right_candidates(learner: str, questions: Sequence[Question]) -> NDArray[np.int64]:
    """1 for every candidate that gold accepts, else 0.

    Where gold is texts, a candidate is right if its text is among them, both normalised as SQuAD's metric does.

    Parameters
    ----------
    learner : str
        The solver's name, for the errors.
    questions : sequence of Question

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        Of both there is at least one.

    Raises
    ------
    UsageError
        There is no question.
    DataError
        Gold is hidden, or no candidate is right, or none is wrong.
    """
    if not len(questions):
        raise UsageError(f"{learner} cannot learn from data without a question")
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"{learner} learns from gold answers, and {hidden:,} of {len(questions):,} questions hide theirs"
        )
    flags: list[bool] = []
    for question in questions:
        gold = question.gold or ()
        if question.task.has_choices:
            flags += [i in gold for i in range(len(question.candidates))]
        else:
            accepted = {normalise(str(text)) for text in gold}
            flags += [normalise(c.text) in accepted for c in question.candidates]
    right = np.array(flags, dtype=np.int64)
    if not 0 < right.sum() < len(right):
        which = "right" if len(right) and right.all() else "wrong"
        problem = f"{learner} cannot learn: all {len(right):,} candidates are {which}"
        raise DataError(problem, hint="It needs right and wrong ones")
    return right
