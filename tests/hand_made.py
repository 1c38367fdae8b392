"""Small datasets with numbers worked out by hand, and a solver that reads its scores from the
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import Solver


class Says(Solver):
    """Each candidate's text is its score; a score in brackets has no evidence."""

    name = "says"

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        texts = [[c.text for c in q.candidates] for q in questions]
        plain = Scores.from_lists([[float(text.strip("[]")) for text in row] for row in texts])
        evidence = np.array(
            [not text.startswith("[") for row in texts for text in row], dtype=np.bool_
        )
        return Scores(plain.values, plain.offsets, evidence)


@pytest.fixture
def says() -> Solver:
    return Says()


@pytest.fixture
def dataset() -> Callable[..., Dataset]:
    """Makes a dataset of (passage, candidates, gold) triples."""

    def make(
        task: Task, rows: Sequence[tuple[str, Sequence[str], Any]], name: str = "made", **meta: Any
    ) -> Dataset:
        passages = {
            text: Passage(f"p{i}", text)
            for i, text in enumerate(dict.fromkeys(row[0] for row in rows))
        }
        return Dataset(
            [
                Question(
                    f"q{i}",
                    passages[text],
                    "?",
                    tuple(map(Candidate, candidates)),
                    gold,
                    task,
                    {key: values[i] for key, values in meta.items()},
                )
                for i, (text, candidates, gold) in enumerate(rows)
            ],
            name,
        )

    return make
