"""The features that the span ranker's learner reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from classic_rc.io.scratch import ScratchFile
from classic_rc.questions import Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers.spans.columns import GROUPS, N_COLUMNS, AskedQuestion, ColumnMaker
from classic_rc.solvers.spans.texts import (
    Lexicon,
    Rarity,
    ReadCandidates,
    ReadPassage,
    ReadQuestion,
)
from classic_rc.solvers.spans.training import TrainingFeatures, step_down
from classic_rc.testing import synthetic_dataset

MAKER = ColumnMaker(GROUPS)


def read_questions() -> tuple[list[AskedQuestion], Lexicon]:
    lexicon = Lexicon()
    questions = []
    for question in add_span_candidates(synthetic_dataset(Task.SPAN)):
        passage = ReadPassage.of(question.passage, lexicon)
        rarity = Rarity.learn([passage], lexicon)
        read = ReadQuestion.of(question.text, lexicon, rarity)
        questions.append(AskedQuestion(read, passage, ReadCandidates.of(question, passage)))
    return [a for a in questions if len(a.candidates.first)], lexicon


def by_number(features: TrainingFeatures, weights: np.ndarray) -> np.ndarray:
    """Return weights of columns in the order of their numbers."""
    numbers = features.by_column(np.arange(1, N_COLUMNS + 1, dtype=np.float32)).astype(int)
    ordered = np.zeros_like(weights)
    ordered[numbers[numbers > 0] - 1] = weights[numbers > 0]
    return ordered


@pytest.mark.parametrize("room", [0, 40_000, 2**30])
def test_batches_have_the_scores_and_the_gradient_of_the_columns(room):
    questions, lexicon = read_questions()
    rng = np.random.default_rng(0)
    weights = rng.normal(size=N_COLUMNS).astype(np.float32)

    def check(features: TrainingFeatures, index: Sequence[int]) -> None:
        made_batch = MAKER.make([questions[i] for i in index], lexicon)
        batch = features.batch(index)
        assert batch.offsets.tolist() == made_batch.offsets.tolist()
        of_numbers = by_number(features, weights)
        assert batch.scores(of_numbers) == pytest.approx(made_batch.scores(weights), abs=1e-3)
        of_scores = rng.normal(size=made_batch.offsets[-1])
        sums = np.zeros(N_COLUMNS, dtype=np.float32)
        batch.add_gradient(of_scores, sums)
        # scores are linear in the weights, so the gradient is their adjoint
        assert sums @ of_numbers == pytest.approx(of_scores @ made_batch.scores(weights), rel=1e-3)

    with ScratchFile(room) as file:
        features = TrainingFeatures(dict(enumerate(questions)), MAKER, lexicon, file)
        for index in ([0, 1, 2, 3], [3, 0, 5, 4, 1], [7], list(range(len(questions)))):
            check(features, index)
            check(features, index[::-1])


def test_the_size_of_the_file_changes_no_bit():
    questions, lexicon = read_questions()
    steps = []
    for room in (0, 40_000, 2**30):
        with ScratchFile(room) as file:
            features = TrainingFeatures(dict(enumerate(questions)), MAKER, lexicon, file)
            weights, sums = np.zeros((2, N_COLUMNS), dtype=np.float32)
            squares = np.ones(N_COLUMNS, dtype=np.float32)
            for index in ([3, 1, 2], [1, 5, 3], [2, 4, 0]):
                batch = features.batch(index)
                batch.add_gradient(np.cos(np.arange(batch.offsets[-1])), sums)
                step_down(weights, squares, sums, 0.1)
            steps.append(features.by_column(weights))
    assert np.count_nonzero(steps[0])
    assert np.array_equal(steps[0], steps[1])
    assert np.array_equal(steps[0], steps[2])


def test_a_step_is_that_of_adagrad_and_forgets_the_gradient():
    rng = np.random.default_rng(1)
    weights, squares, gradient = (rng.random((3, 100_000)) + 1).astype(np.float32)
    expected = weights - 0.05 * gradient / np.sqrt(squares + gradient**2)
    step_down(weights, squares, gradient, 0.05)
    assert weights == pytest.approx(expected, abs=1e-6)
    assert not gradient.any()
