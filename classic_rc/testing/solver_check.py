"""The checks that every solver must pass."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from classic_rc.decisions import TunedThreshold
from classic_rc.kernels.arrays import small_blocks
from classic_rc.parameters import clone
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.testing.synthetic import synthetic_dataset


def check_solver(
    solver: Solver, *, tasks: Sequence[Task] | None = None, position_matters: bool = False
) -> None:
    """Check that a solver keeps the contract of the Solver interface.

    Parameters
    ----------
    solver : Solver
    tasks : sequence of Task, optional
        The tasks to check. None means all tasks that the solver supports.
    position_matters : bool
        Whether scores may depend on a candidate's position (a constant position, a random draw).

    Raises
    ------
    AssertionError
        A check fails. The message describes the problem and names the task.

    Examples
    --------
    >>> from classic_rc.solvers import SlidingWindow
    >>> check_solver(SlidingWindow())
    """
    _check_parameters(solver)
    for task in sorted(solver.tasks if tasks is None else tasks):
        try:
            _check_task(solver, _with_candidates(synthetic_dataset(task)), position_matters)
        except AssertionError as error:
            raise AssertionError(f"{solver.name} on {task} questions: {error}") from error


def _check_parameters(solver: Solver) -> None:
    params = solver.get_params(deep=False)
    for name, value in params.items():
        assert getattr(solver, name) is value, (
            f"{solver.name}: the constructor must store {name!r} unchanged"
        )
    copy = clone(solver)
    assert type(copy) is type(solver), f"{solver.name}: clone must return the same class"


def _with_candidates(dataset: Dataset) -> Dataset:
    if dataset.task is None or not dataset.task.has_spans:
        return dataset
    from classic_rc.text.spans import SpanGenerator

    generator = SpanGenerator(max_tokens=4)
    candidates = {id(p): generator(p) for p in dataset.passages}
    return replace(
        dataset, questions=[replace(q, candidates=candidates[id(q.passage)]) for q in dataset]
    )


def _check_task(solver: Solver, dataset: Dataset, position_matters: bool) -> None:
    task = dataset.task
    assert task is not None
    before = repr(solver.get_params())
    solver = clone(solver).fit(dataset)
    if solver.tunes_parameters:
        if task is Task.MULTIPLE_ANSWER or task.has_spans:
            return
        solver.tune(dataset)
    scores = score_questions(solver, dataset)
    assert isinstance(scores, Scores), "score_candidates must return Scores"
    counts = [len(q.candidates) for q in dataset]
    assert np.diff(scores.offsets).tolist() == counts, (
        "score_candidates must return one score per candidate"
    )
    assert repr(solver.get_params()) == before, "fitting and scoring must not change a parameter"

    of_slice = score_questions(solver, dataset[5:11])
    assert _same(of_slice, scores.take(range(5, 11))), (
        "scoring a slice must equal slicing the scores"
    )
    assert len(score_questions(solver, [])) == 0, "scoring an empty list must return no scores"
    order = list(range(len(dataset)))
    random.Random(1).shuffle(order)
    shuffled = score_questions(solver, [dataset[i] for i in order])
    assert _same(shuffled, scores.take(order)), "scores must not depend on the questions' order"
    with small_blocks(10):
        assert _same(score_questions(solver, dataset), scores), (
            "scores must not depend on the size of blocks"
        )
    hidden = score_questions(solver, [replace(q, gold=None) for q in dataset])
    assert _same(hidden, scores), "scores must not depend on gold"
    if not position_matters:
        backwards = [replace(q, candidates=tuple(q.candidates)[::-1]) for q in dataset]
        reversed_scores = score_questions(solver, backwards)
        pairs = zip(reversed_scores, scores, strict=True)
        is_permuted = all(np.array_equal(row[::-1], expected) for row, expected in pairs)
        assert is_permuted, "permuting candidates must permute their scores"
    # Classes defined in a notebook or a doctest cannot be pickled.
    if _is_importable(type(solver)):
        copy = pickle.loads(pickle.dumps(solver))
        assert _same(score_questions(copy, dataset), scores), (
            "a pickled solver must give the same scores"
        )

    if isinstance(solver.decision_for(task), TunedThreshold):
        solver.tune(dataset)
    predictions = solver.predict(dataset)
    assert [p.question_id for p in predictions] == [q.id for q in dataset], (
        "predict must return one prediction per question, in order"
    )
    assert all(isinstance(p, Prediction) for p in predictions), "predict must return Predictions"
    assert 0 <= solver.score(dataset) <= 1, "score must be in 0..1"
    explanation = solver.explain(dataset[0])
    explained = [c.score for c in explanation.candidates]
    assert np.array_equal(explained, scores[0]), (
        "explain must return the same scores as score_candidates"
    )


def _is_importable(cls: type) -> bool:
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def _same(first: Scores, second: Scores) -> bool:
    return (
        np.array_equal(first.values, second.values)
        and np.array_equal(first.offsets, second.offsets)
        and np.array_equal(first.evidence, second.evidence)
    )
