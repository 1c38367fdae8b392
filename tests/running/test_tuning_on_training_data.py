"""Whoever is tuned on questions that it learned from is tuned on scores of solvers that did not
learn from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.decisions import TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, find_overlap
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset, Task
from classic_rc.solvers import Combination, LongestCandidate, parse_solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.own_solvers import Remembers


def made(n_passages: int, seed: int, name: str) -> Dataset:
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=n_passages, seed=seed, name=name)
    return replace(dataset, questions=[replace(q, id=f"{name} {q.id}") for q in dataset])


TRAIN, OTHER, EXAM = made(12, 0, "lessons"), made(6, 2, "other"), made(6, 3, "exam")
COPY = replace(TRAIN, questions=list(TRAIN), name="copy")
PART = replace(TRAIN, questions=TRAIN[:9], name="part")
MIXED = replace(TRAIN, questions=[*TRAIN[:9], *OTHER], name="mixed")


class NotesGoldSeen(Remembers):
    """Notes whose gold the solver that scores a question has learned."""

    scorings: ClassVar[list[tuple[set[str], set[str]]]] = []

    def score_candidates(self, questions):
        self.scorings.append((set(self.seen_), {q.id for q in questions}))
        return super().score_candidates(questions)


@pytest.mark.parametrize("tune", [TRAIN, COPY, PART, MIXED], ids=lambda dataset: dataset.name)
def test_no_threshold_is_chosen_on_scores_of_who_learned_the_answers(tune):
    NotesGoldSeen.scorings = []
    (row,) = evaluate(EXAM, [NotesGoldSeen()], train=TRAIN, tune=tune).rows
    exam_ids = {q.id for q in EXAM}
    tuned = [pair for pair in NotesGoldSeen.scorings if not pair[1] & exam_ids]
    scored_ids = set().union(*(scored for _, scored in tuned))
    assert scored_ids == {q.id for q in tune}
    assert all(seen and seen.isdisjoint(scored) for seen, scored in tuned)
    assert row.tuned_on == f"{tune.name} out of fold (cv5)"
    assert "out of fold (cv5)" in row.signature
    assert "folds:" in row.signature
    # all scores are 0 there, so nothing tells options apart: all are selected, or none
    assert row.threshold <= 0


def test_data_that_nothing_was_learned_from_is_scored_by_the_solver_itself():
    assert not find_overlap(TRAIN, OTHER)
    assert FoldPlan().folds_apart(TRAIN, OTHER) is None
    (row,) = evaluate(EXAM, [Remembers()], train=TRAIN, tune=OTHER).rows
    assert row.tuned_on == "other"
    assert "folds:" not in row.signature


def test_a_part_that_is_learned_from_is_out_of_each_folds_training_data():
    folds = FoldPlan(3).folds_apart(TRAIN, MIXED)
    assert folds is not None
    places = np.concatenate([fold for _, fold in folds])
    assert sorted(places.tolist()) == list(range(len(MIXED)))
    for others, fold in folds:
        passages = {TRAIN[i].passage.text for i in others.tolist()}
        assert passages.isdisjoint(MIXED[i].passage.text for i in fold.tolist())
        assert len(others) >= len(TRAIN) - 9


@pytest.mark.parametrize("spec", ["surface-lr", "feature-ranker,features=surface,C=0.01"])
def test_learners_of_the_package_are_tuned_as_their_folds_say(spec):
    (row,) = evaluate(EXAM, [parse_solver(spec)], train=TRAIN, tune=TRAIN).rows
    rows = {}
    for others, fold in FoldPlan().folds(TRAIN):
        places = fold.tolist()
        learned = replace(TRAIN, questions=[TRAIN[i] for i in others.tolist()])
        scores = parse_solver(spec).fit(learned).score_candidates([TRAIN[i] for i in places])
        rows |= dict(zip(places, scores, strict=True))
    scores = Scores.from_lists([rows[i] for i in range(len(TRAIN))])
    assert row.threshold == pytest.approx(TunedThreshold().fit(scores, TRAIN).best_threshold_)


def test_weights_are_tuned_on_members_that_have_not_learned_the_questions():
    members = [Remembers(), LongestCandidate()]
    solver = Combination(solvers=members, weights="tuned", normalise="none")
    (row,) = evaluate(EXAM, [solver], train=TRAIN, tune=TRAIN).rows
    (longest,) = evaluate(EXAM, [LongestCandidate()], tune=TRAIN).rows
    # who only remembers, tells nothing about the others
    assert row.outcomes.answers == longest.outcomes.answers
    assert not any("weight is too high" in caveat for caveat in row.caveats)


def test_folds_that_are_learned_in_are_tuned_out_of_fold_too():
    NotesGoldSeen.scorings = []
    row, _ = evaluate(TRAIN, [NotesGoldSeen()], cv=3, tune=TRAIN).rows
    assert row.tuned_on == "lessons out of fold (cv3)"
    assert all(seen.isdisjoint(scored) for seen, scored in NotesGoldSeen.scorings)


def test_who_tunes_without_given_scores_is_refused():
    class TunesAlone(Remembers):
        def tune(self, questions):
            return super().tune(questions)

    with raises(UsageError, field="tune", found="lessons"):
        evaluate(EXAM, [TunesAlone()], train=TRAIN, tune=TRAIN)
    assert evaluate(EXAM, [TunesAlone()], train=TRAIN, tune=OTHER).rows[0].tuned_on == "other"


def test_tuning_by_hand_on_the_training_data_is_a_caveat():
    solver = parse_solver("surface-lr").fit(TRAIN)
    assert not solver.tune(OTHER).caveats(EXAM)
    assert len(solver.tune(TRAIN).caveats(EXAM)) == 1
