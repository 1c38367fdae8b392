"""Every registered solver keeps the promises of the interface, on all its tasks and in all its
variants.
"""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.decisions import Argmax
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.solvers import SOLVERS, Solver
from classic_rc.testing import check_solver, synthetic_dataset
from tests.depth import thinned
from tests.solvers.builders import scores_of

NEEDS_MORE = {"score-file", "saved", "combination"}
"""Solvers that need files or members; their own tests check them."""
NEEDS_ANNOTATION = {"lexical:smith2015", "lexical:smith2015-mc500"}
POSITION_MATTERS = {"random", "constant-position", "position-prior", "feature-ranker"}

SPECS = [
    (name, variant)
    for name, solver in SOLVERS.items()
    if name not in NEEDS_MORE
    for variant in (None, *solver.variants)
    if f"{name}:{variant}" not in NEEDS_ANNOTATION
]


@pytest.mark.parametrize("on_all", thinned([False, True], 2))
@pytest.mark.parametrize(("name", "variant"), SPECS)
def test_solver_keeps_its_promises(name, variant, on_all):
    """The default on all tasks; variants, which are other parameters, on all in CI."""
    solver = SOLVERS[name]() if variant is None else SOLVERS[name].variant(variant)
    tasks = solver.tasks
    # picks one candidate, so it does not suit several right answers
    if isinstance(solver.decision, Argmax):
        tasks = tasks - {Task.MULTIPLE_ANSWER}
    elif solver.decision is not None:  # a threshold suits only several right answers
        tasks = tasks & {Task.MULTIPLE_ANSWER}
    if variant is not None and not on_all:
        tasks = sorted(tasks)[:1]
    check_solver(solver, tasks=sorted(tasks), position_matters=name in POSITION_MATTERS)


class Length(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([[float(len(c.text)) for c in q.candidates] for q in questions])


class LooksAtGold(Length):
    def score_candidates(self, questions):
        return scores_of(questions, lambda q, i: i in (q.gold or ()))


class DependsOnOthers(Length):
    def score_candidates(self, questions):
        return Scores.from_lists([[float(len(questions))] * len(q.candidates) for q in questions])


class LikesTheFirst(Length):
    def score_candidates(self, questions):
        return scores_of(questions, lambda q, i: -i)


class ForgetsOne(Length):
    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * (len(q.candidates) - 1) for q in questions])


class ChangesItself(Length):
    def __init__(self, *, size=1):
        self.size = size

    def fit(self, questions, y=None):
        self.size = 2
        return self


def test_a_solver_of_one_method_passes():
    check_solver(Length())
    assert Length.name == "Length"


@pytest.mark.parametrize(
    ("solver", "broken_promise"),
    [
        (LooksAtGold, "depend on gold"),
        (DependsOnOthers, "slice"),
        (LikesTheFirst, "permuting"),
        (ForgetsOne, "one score per candidate"),
        (ChangesItself, "change a parameter"),
    ],
)
def test_check_solver_finds_the_mistake(solver, broken_promise):
    with pytest.raises(AssertionError, match=broken_promise):
        check_solver(solver(), tasks=[Task.SINGLE_CHOICE])


def test_a_solver_without_its_method_cannot_be_created():
    class Nothing(Solver):
        pass

    with pytest.raises(TypeError, match="score_candidates"):
        Nothing()


def test_grid_search_works_by_passage():
    from sklearn.model_selection import GridSearchCV, GroupKFold

    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12)
    groups = [q.passage.id for q in dataset]
    search = GridSearchCV(SOLVERS["sliding-window"](), {"window": [2, 10, "set"]}, cv=GroupKFold(3))
    search.fit(list(dataset), groups=groups)
    assert search.best_params_["window"] in (2, 10, "set")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
