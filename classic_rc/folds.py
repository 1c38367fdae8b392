"""Groups of passages that must stay together, and out-of-fold plans over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.draws import text_keys
from classic_rc.questions import Question

__all__ = ["folds", "normalised_text", "passage_groups"]


def normalised_text(text: str) -> str:
    """Case-folded, with runs of white space as one blank: what makes two passages the same passage."""
    return " ".join(text.casefold().split())


def passage_groups(questions: Sequence[Question]) -> NDArray[np.int64]:
    """Which questions belong together because their passages' normalised texts are equal.

    Returns
    -------
    ndarray of int64, shape (n_questions,)
        Group numbers from 0. They follow from the set of passages, not from the order of the questions.
    """
    by_passage = {id(q.passage): normalised_text(q.passage.text) for q in questions}
    distinct = sorted(set(by_passage.values()))
    # By a hash of the text, so that neighbours in a file (often of one source) are spread over the folds.
    rank = np.argsort(np.argsort(text_keys(distinct), kind="stable"), kind="stable")
    number = dict(zip(distinct, rank.tolist(), strict=True))
    return np.array([number[by_passage[id(q.passage)]] for q in questions], dtype=np.int64)


def folds(questions: Sequence[Question], n_folds: int = 5) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Split questions into folds of whole passage groups.

    Parameters
    ----------
    questions : sequence of Question
    n_folds : int
        At most; with fewer groups, a fold each.

    Returns
    -------
    list of (ndarray of int64, ndarray of int64)
        For each fold, the indices of the other folds' questions and of its own.

    Raises
    ------
    UsageError
        There are fewer than two passages.
    """
    groups = passage_groups(questions)
    n_groups = int(groups.max(initial=-1)) + 1
    if n_groups < 2:
        raise UsageError(
            f"cross-fitting needs at least two different passages, got {n_groups}: "
            "tune on another split (--tune) or fix the threshold (--threshold)"
        )
    fold = groups % min(n_folds, n_groups)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(min(n_folds, n_groups))]
