"""What a solver learned from, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classic_rc.questions import Dataset, Question
from classic_rc.text.encode import EncodedDataset


def provenance(questions: Sequence[Question]) -> dict[str, Any]:
    """The name, the size and, of a dataset, the content fingerprint of what a solver is fitted to.

    Returns
    -------
    dict
        ``name`` and ``fingerprint`` (None for a bare list), ``passages``, ``questions`` and ``candidates``.
    """
    if isinstance(questions, EncodedDataset):
        questions = questions.questions
    known = questions if isinstance(questions, Dataset) else None
    lists = {id(q.candidates): q.candidates for q in questions}
    sizes = {key: len(candidates) for key, candidates in lists.items()}  # generated spans are made to be counted
    return {
        "name": known and known.name,
        "fingerprint": known and known.fingerprint,
        "passages": len({id(q.passage) for q in questions}),
        "questions": len(questions),
        "candidates": sum(sizes[id(q.candidates)] for q in questions),
    }
