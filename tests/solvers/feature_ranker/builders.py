"""Questions, texts and checks that several tests of the feature ranker share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.reports.verdict import parts_sum_to_score
from classic_rc.solvers import FeatureRanker, load_solver, save_solver
from classic_rc.solvers.feature_ranker.tables import QUESTION
from classic_rc.solvers.feature_ranker.texts import RankerTexts, ranker_texts
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encoded import EncodedDataset
from tests.kernels.builders import Problem

FIXED: dict[str, Any] = {"C": 0.01, "lexical_C": 0.03}
TASKS = [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE]
TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=1, name="lessons")
DEV = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=2, name="exam")
CLOZE = synthetic_dataset(Task.CLOZE, n_passages=12, seed=1)
THINGS = (
    "kettle lamp violin anchor blanket ladder candle mirror basket hammer bottle window".split()
)
PEOPLE = "Ann Bob Carla Dan Eve Fred Gina Hugo".split()

SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=8)


def random_values(sizes: list[int], seed: int, n: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return features of the candidates of questions of these sizes, and the questions' offsets."""
    offsets = offsets_of(np.array(sizes))
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (int(offsets[-1]), n)) / 3, offsets


def texts_of(seed: int, n_passages: int) -> RankerTexts:
    return ranker_texts(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=n_passages, seed=seed))


def encode_problem(problem: Problem, analyzer: str, vocabulary: list[str]) -> EncodedDataset:
    arrays, n_questions = problem.arrays, len(problem.questions)
    offsets = offsets_of(np.bincount(arrays.candidate_question, minlength=n_questions))
    order = np.arange(n_questions)
    return EncodedDataset([], get_analyzer(analyzer), vocabulary, arrays, order, offsets, None)


def flat_integers(lists: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.array([number for numbers in lists for number in numbers], dtype=np.int64)


def list_offsets(lists: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return offsets_of(np.array(list(map(len, lists)), dtype=np.int64))


def equal_scores(scores: Scores, expected: Scores) -> bool:
    is_equal = np.array_equal(scores.values, expected.values)
    return is_equal and np.array_equal(scores.evidence, expected.evidence)


def assert_a_loaded_solver_is_equal(
    solver: FeatureRanker, questions: Sequence[Question], path: Path
) -> None:
    save_solver(solver, path)
    loaded = load_solver(path)
    assert equal_scores(loaded.score_candidates(questions), solver.score_candidates(questions))
    assert loaded.explain(questions[4]).to_dict() == solver.explain(questions[4]).to_dict()
    assert loaded.signature_facts() == solver.signature_facts()


def assert_numbers_add_up(solver: FeatureRanker, questions: Sequence[Question]) -> None:
    """Bias and groups, added in their order, are exactly the score."""
    for question in questions:
        for candidate in solver.explain(question).candidates:
            assert reduce(add, candidate.numbers.values()) == candidate.score
            assert parts_sum_to_score(candidate)
            assert set(candidate.numbers) <= {"bias", QUESTION, *solver.table_.groups}
