"""Combinations: members, weights, and weights learned only from scores that are out of fold."""

from __future__ import annotations

import hashlib
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from classic_rc import evaluate
from classic_rc.decisions import Argmax, Threshold, TunedThreshold
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.formats import write_predictions
from classic_rc.metrics import METRICS
from classic_rc.predictions import Scores
from classic_rc.protocol import Protocol
from classic_rc.questions import Task
from classic_rc.running.evaluate import predict
from classic_rc.running.plan import configure_solver
from classic_rc.solvers import (
    Combination,
    IRSolver,
    LongestCandidate,
    NGramLM,
    Random,
    SavedSolver,
    ScoreFile,
    SlidingWindow,
    SlidingWindowDistance,
    Solver,
    SurfaceLR,
    WordDistance,
    load_solver,
    parse_solver,
    save_solver,
)
from classic_rc.solvers.combination import solver as combination_module
from classic_rc.solvers.combination.weights import search_shares, standardise_within_questions
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.encode import encode
from tests.depth import thinned
from tests.errors import raises
from tests.own_solvers import Remembers
from tests.solvers.builders import are_equal, by_candidate, scores_of

TRAIN = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=1, name="lessons")
DEV = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=8, seed=2, name="exam")
SEVERAL = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=1, name="several")


class Hints(Solver):
    """Selects the candidate of the question's hint; training has no effect."""

    def score_candidates(self, questions):
        return scores_of(questions, lambda q, i: i == q.meta["hint"])


def hinted(dataset, period=3):
    """Return the questions with hints; every `every`-th hint is wrong."""
    rows = []
    for n, q in enumerate(dataset):
        hint = min(q.gold)
        if n % period == 0:
            hint = (hint + 1) % len(q.candidates)
        rows.append(replace(q, meta={"hint": hint}))
    return replace(dataset, questions=rows)


def standardised(rows, **fields):
    return standardise_within_questions(Scores.from_lists(rows, **fields))


@pytest.mark.parametrize(
    ("weights", "normalise"), [([1, 0.5, -2.0], "question"), ("stacked", "none")]
)
def test_it_keeps_the_solver_contract(weights, normalise):
    members = [SlidingWindowDistance(), IRSolver(), SurfaceLR(features="lengths+overlap")]
    check_solver(Combination(solvers=members, weights=weights, normalise=normalise))


def test_tuned_weights_spans_and_nested_combinations_keep_the_solver_contract():
    inner = Combination(solvers=[SlidingWindow(), WordDistance()], normalise="question")
    check_solver(
        Combination(solvers=[inner, LongestCandidate()], weights="tuned"),
        tasks=[Task.SINGLE_CHOICE],
    )
    check_solver(
        Combination(solvers=[inner, LongestCandidate()], weights=[2, 1]),
        tasks=[Task.SPAN, Task.CLOZE],
    )


def test_fixed_weights_give_a_weighted_sum_with_any_members_evidence():
    members = [SlidingWindow(), WordDistance()]
    solver = Combination(solvers=members, weights=[0.5, 3]).fit(DEV)
    window, distance = (member.score_candidates(DEV) for member in members)
    scores = solver.score_candidates(DEV)
    assert np.array_equal(scores.values, 0.0 + 0.5 * window.values + 3.0 * distance.values)
    assert np.array_equal(scores.evidence, window.evidence | distance.evidence)
    assert (window.evidence != distance.evidence).any()
    equal = Combination(solvers=members).fit(DEV)
    assert (equal.weights_, equal.evidence_weights_, equal.bias_) == ((1.0, 1.0), (0.0, 0.0), 0.0)


ROWS = st.lists(st.lists(st.integers(-50, 50).map(float), max_size=6), max_size=6)


@given(ROWS)
def test_scores_within_a_question_are_standardised(rows):
    for row, plain in zip(standardised(rows), rows, strict=True):
        if len(set(plain)) > 1:
            assert row.mean() == pytest.approx(0, abs=1e-12)
            assert row.std() == pytest.approx(1)
        else:
            assert not row.any()


@given(ROWS, st.floats(0.01, 100), st.floats(-100, 100), st.randoms())
def test_standardised_scores_do_not_depend_on_unit_or_order(rows, scale, shift, random):
    plain = standardised(rows)
    rescaled = standardised([[scale * v + shift for v in row] for row in rows])
    assert rescaled.values == pytest.approx(plain.values, abs=1e-6)
    orders = [random.sample(range(len(row)), len(row)) for row in rows]
    shuffled = [[row[i] for i in order] for row, order in zip(rows, orders, strict=True)]
    for row, order, shuffled_row in zip(plain, orders, standardised(shuffled), strict=True):
        assert np.array_equal(row[order], shuffled_row)


def test_scores_are_standardised_over_the_scored_questions_without_their_gold():
    solver = Combination(
        solvers=[SlidingWindowDistance(), LongestCandidate()], normalise="standard"
    )
    assert solver.learns_from == "passages"
    hidden = [replace(q, gold=None) for q in DEV]
    for scores in solver.fit(hidden).member_scores(DEV):
        assert scores.values.mean() == pytest.approx(0, abs=1e-12)
        assert scores.values.std() == pytest.approx(1)
    (row,) = evaluate(DEV, [solver], train=TRAIN).rows
    assert row.trained_on == "passages of lessons + exam"


def test_the_search_finds_the_best_shares():
    tried = []

    def peak(shares):
        tried.append(shares)
        return -np.abs(shares - [0.7, 0.3]).sum()

    assert search_shares(peak, 2) == pytest.approx([0.7, 0.3])
    assert np.min(tried) >= 0
    assert np.sum(tried, axis=1) == pytest.approx(1)
    assert search_shares(lambda shares: float(shares[0] > 0.61), 2) == pytest.approx([0.62, 0.38])
    assert search_shares(lambda shares: 1.0, 4) == pytest.approx([0.25] * 4)
    best_shares = search_shares(lambda shares: -np.square(shares - [0.1, 0.6, 0.3]).sum(), 3)
    assert best_shares == pytest.approx([0.1, 0.6, 0.3], abs=0.03)


@pytest.mark.parametrize("members", [2, 3])
def test_tuned_weights_are_no_worse_on_their_split_than_a_member_or_equal_weights(members):
    solvers = [SlidingWindowDistance(), LongestCandidate(), IRSolver()][:members]
    tuned = Combination(solvers=solvers, weights="tuned").fit(TRAIN).tune(TRAIN)
    assert tuned.score(TRAIN) >= max(solver.fit(TRAIN).score(TRAIN) for solver in solvers)
    assert max(tuned.weights_) == 1
    assert min(tuned.weights_) >= 0
    retuned = clone(tuned).fit(TRAIN).tune(list(TRAIN))
    assert retuned.weights_ == tuned.weights_


def test_a_threshold_is_tuned_with_the_weights():
    solvers = [SlidingWindowDistance(), LongestCandidate()]
    tuned = Combination(solvers=solvers, weights="tuned").fit(SEVERAL).tune(SEVERAL)
    given_weights = (
        Combination(solvers=solvers, weights=list(tuned.weights_)).fit(SEVERAL).tune(SEVERAL)
    )
    assert tuned.decision_.best_threshold_ == given_weights.decision_.best_threshold_
    alone = [solver.fit(SEVERAL).tune(SEVERAL).decision_.best_score_ for solver in solvers]
    assert tuned.decision_.best_score_ >= max(alone)
    for name in ("em0", "f1_m"):
        metric, decision = METRICS[name], TunedThreshold(metric=name)
        best = clone(tuned).set_params(decision=decision).fit(SEVERAL).tune(SEVERAL)
        other_value = metric(SEVERAL, tuned.predict(SEVERAL))
        assert metric(SEVERAL, best.predict(SEVERAL)) >= other_value
    rows = evaluate(SEVERAL, [clone(tuned)], tune=SEVERAL).rows
    assert [row.tuned_on for row in rows] == ["several", "cv5"]
    assert rows[0].tuned_params == {"weights": tuned.weights_}
    assert len(rows[1].threshold) == len(rows[1].tuned_params["weights"]) == 5
    fixed = clone(tuned).set_params(decision=Threshold(value=3.0)).fit(SEVERAL).tune(SEVERAL)
    assert fixed.decision_.value == 3.0


def test_a_member_that_only_remembers_gets_no_weight():
    """It is never wrong on training data, so weights learned from in-sample scores would trust
    only this member.
    """
    train, dev = hinted(TRAIN), hinted(DEV)
    solver = Combination(solvers=[Remembers(), Hints()], weights="stacked").fit(train)
    assert solver.weights_[0] == 0
    assert solver.weights_[1] > 1
    assert solver.score(dev) == Hints().score(dev) > 0.5
    assert Remembers().fit(train).score(train) == 1
    for row in evaluate(train, [clone(solver)], cv=4).rows:
        assert row.metrics()["accuracy"] == Hints().score(train)


@pytest.mark.parametrize("group", [None, "shelf"])
def test_members_are_stacked_by_scores_of_passages_that_they_have_not_seen(group):
    fits, scored = [], []

    class NotesPassagesSeen(Remembers):
        def fit(self, questions, y=None):
            fits.append({q.passage.id for q in questions})
            self.passages_ = fits[-1]
            return super().fit(questions)

        def score_candidates(self, questions):
            scored.append((self.passages_, {q.passage.id for q in questions}))
            return super().score_candidates(questions)

    rows = []
    for q in hinted(TRAIN):
        shelf = int(q.passage.id[1:]) // 2
        rows.append(replace(q, meta={**q.meta, "shelf": shelf}))
    train = replace(TRAIN, questions=rows)
    Combination(
        solvers=[NotesPassagesSeen(), Hints()], weights="stacked", folds=3, group=group
    ).fit(train)
    everything = {q.passage.id for q in train}
    assert [len(seen) == len(everything) for seen in fits] == [True, False, False, False]
    assert all(seen.isdisjoint(scored_passages) for seen, scored_passages in scored)
    assert set().union(*(scored_passages for _, scored_passages in scored)) == everything
    if group is not None:
        shelves = [
            {int(name[1:]) // 2 for name in scored_passages} for _, scored_passages in scored
        ]
        assert sum(map(len, shelves)) == len(set().union(*shelves))


def test_a_member_that_learned_the_training_data_before_is_a_caveat(tmp_path):
    path = str(tmp_path / "saved.npz")
    save_solver(SurfaceLR().fit(TRAIN), path)
    members = [SavedSolver(path=path), SlidingWindow()]
    stacked = Combination(solvers=members, weights="stacked").fit(TRAIN)
    assert any(re.search("weights .*lessons.* saved", caveat) for caveat in stacked.caveats(DEV))
    assert not Combination(solvers=members, weights="stacked").fit(DEV).caveats_
    tuned = Combination(solvers=[SurfaceLR(), SlidingWindow()], weights="tuned").fit(TRAIN)
    assert re.search("weights .*tuned .*lessons.* surface-lr", tuned.tune(TRAIN).caveats_[0])
    assert not clone(tuned).fit(TRAIN).tune(DEV).caveats_


class Reads(Solver):
    """Records the data that it is fitted on."""

    def __init__(self, *, learns="nothing", decision=None):
        self.learns = learns
        self.decision = decision

    @property
    def learns_from(self):
        return self.learns

    def fit(self, questions, y=None):
        self.passages_ = {q.passage.text for q in questions}
        self.sees_gold_ = any(q.gold is not None for q in questions)
        self.caveats_ = ("it reads",)
        return self

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


@pytest.mark.parametrize("weights", [None, "stacked"])
def test_each_member_is_fitted_on_the_data_that_it_may_learn_from(weights):
    train, dev_passages = ({q.passage.text for q in data} for data in (TRAIN, DEV))
    solver = Combination(
        solvers=[Reads(), Reads(learns="passages"), Reads(learns="gold")], weights=weights
    )
    solver.fit_for(DEV, TRAIN)
    assert [member.passages_ for member in solver.solvers_] == [
        dev_passages,
        train | dev_passages,
        train,
    ]
    assert [member.sees_gold_ for member in solver.solvers_] == [False, False, True]
    assert solver.caveats(DEV) == ("Reads-1: it reads", "Reads-2: it reads", "Reads-3: it reads")
    with raises(UsageError) as error:
        evaluate(DEV, [solver])
    assert re.search("combination.*--train DATA", str(error.value))


@pytest.mark.parametrize(
    ("learns", "weights", "normalise", "expected"),
    [
        (("nothing", "nothing"), None, "none", "nothing"),
        (("nothing", "passages"), [1, 2], "none", "passages"),
        (("nothing", "nothing"), None, "standard", "passages"),
        (("gold", "passages"), "tuned", "standard", "gold"),
        (("nothing", "nothing"), "stacked", "none", "gold"),
    ],
)
def test_learns_from_follows_members_and_weights(learns, weights, normalise, expected):
    members = [Reads(learns=source) for source in learns]
    assert (
        Combination(solvers=members, weights=weights, normalise=normalise).learns_from == expected
    )


def test_texts_are_encoded_once_per_analyzer(monkeypatch):
    analyzers_used = []

    def counted(questions, analyzer):
        analyzers_used.append(analyzer.spec)
        return encode(questions, analyzer)

    monkeypatch.setattr(combination_module, "encode", counted)
    solver = parse_solver(
        "combination,solvers=[sw+d; sliding-window; word-distance,analyzer=treebank; ir; longest; "
        "score-file]"
    )
    solver.set_params(**{"score-file": Random()}).fit(DEV)
    plain = solver.score_candidates(DEV)
    assert sorted(analyzers_used) == ["treebank", "word"]
    analyzers_used.clear()
    encoded = encode(DEV, "treebank")
    assert are_equal(solver.score_candidates(encoded), plain)
    assert analyzers_used == ["word"]
    analyzers_used.clear()
    alike = Combination(solvers=[SlidingWindow(), WordDistance(), IRSolver()])
    assert alike.analyzer.spec == "word"
    assert solver.analyzer is None
    evaluate(DEV, [alike, SlidingWindow()])
    assert analyzers_used == []


def test_members_parameters_are_parameters_of_the_combination():
    solver = Combination(
        solvers=[SlidingWindowDistance(), ScoreFile(path="a"), ScoreFile(path="b")]
    )
    assert solver.member_names == ["sw+d", "score-file-1", "score-file-2"]
    params = solver.get_params()
    assert (params["sw+d__distance_weight"], params["score-file-2__path"]) == (11.0, "b")
    assert params["score-file-1"] is solver.solvers[1]
    assert "sw+d" not in solver.get_params(deep=False)
    copy = clone(solver).set_params(**{"score-file-1__path": "c", "sw+d": WordDistance()})
    assert copy.member_names == ["word-distance", "score-file-1", "score-file-2"]
    assert [copy.solvers[1].path, solver.solvers[1].path] == ["c", "a"]
    moved = copy.set_params(solvers=[Random(), Random()], **{"random-2__seed": 7})
    assert [member.seed for member in moved.solvers] == [0, 7]
    with pytest.raises(ValueError, match="'swd'"):
        solver.set_params(swd__window=3)


def test_grid_search_sets_members_parameters():
    grid = {"sw+d__distance_weight": [1.0, 11.0], "weights": [[1, 0], "stacked"]}
    solver = Combination(solvers=[SlidingWindowDistance(), SurfaceLR(features="lengths")])
    search = GridSearchCV(solver, grid, cv=GroupKFold(3))
    search.fit(list(TRAIN), groups=[q.passage.id for q in TRAIN])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    copy = pickle.loads(pickle.dumps(search.best_estimator_))
    assert search.best_estimator_.score(list(DEV)) == copy.score(DEV)


def test_a_seed_for_all_solvers_applies_to_members():
    solver = Combination(solvers=[Random(seed=3), SlidingWindow(decision=Argmax(seed=5))])
    ready = configure_solver(solver, DEV, Protocol(seed=9))
    assert ready.solvers[0].seed == 9
    assert (solver.solvers[0].seed, ready.solvers[1].decision.seed) == (3, 5)


def test_explanations_add_up():
    members = [SurfaceLR(), SlidingWindowDistance(), SlidingWindow()]
    solver = Combination(solvers=members, weights="stacked", normalise="question").fit(TRAIN)
    question = DEV[4]
    scored = solver.member_scores([question])
    for i, candidate in enumerate(solver.explain(question).candidates):
        numbers = dict(candidate.numbers)
        total = numbers.pop("bias")
        for k, name in enumerate(("surface-lr", "sw+d", "sliding-window")):
            assert numbers[name] == scored[k].values[i]
            share = numbers[name] * solver.weights_[k]
            share += solver.evidence_weights_[k] * scored[k].evidence[i]
            assert numbers[f"{name} weight"] == solver.weights_[k]
            assert numbers[f"{name} share"] == pytest.approx(share)
            total += numbers[f"{name} share"]
        assert candidate.score == pytest.approx(total)


@pytest.mark.parametrize("normalise", thinned(["none", "standard"], 2))
def test_it_is_saved_with_its_learning_members(tmp_path, normalise):
    path = tmp_path / "combined.npz"
    inner = Combination(solvers=[SurfaceLR(features="overlap"), SlidingWindow()], weights="stacked")
    members = [inner, SlidingWindowDistance.variant("mctest160"), SurfaceLR(C=0.5)]
    solver = Combination(solvers=members, weights="stacked", normalise=normalise).fit(TRAIN)
    save_solver(solver, path)
    loaded = load_solver(path)
    assert are_equal(loaded.score_candidates(DEV), solver.score_candidates(DEV))
    assert repr(loaded.get_params(deep=False)) == repr(solver.get_params(deep=False))
    assert loaded.trained_on_["name"] == "lessons"
    (trained_on,) = SavedSolver(path=str(path)).learned_before
    copied = trained_on.copied(TRAIN)
    assert copied is not None
    assert copied.any()
    solvers = [SavedSolver(path=str(path)), clone(solver)]
    saved, fresh = evaluate(DEV, solvers, train=TRAIN).rows
    if normalise == "none":  # standardised over the data that each was fitted for
        assert saved.metrics() == fresh.metrics()


def test_a_saved_combination_reads_score_files_of_the_data_that_it_runs_on(tmp_path):
    files = [str(tmp_path / name) for name in ("lessons", "exam")]
    for data, path in zip((TRAIN, DEV), files, strict=True):
        write_predictions(
            path, data, WordDistance().fit(data).score_candidates(data), format="jsonl"
        )
    digests = ",".join(hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in files)
    solver = Combination(solvers=[ScoreFile(path=files), SurfaceLR()], weights="stacked")
    (fresh,) = evaluate(DEV, [solver], train=TRAIN).rows
    save_solver(solver.fit(TRAIN), tmp_path / "combined.npz")
    (saved,) = evaluate(DEV, [SavedSolver(path=str(tmp_path / "combined.npz"))]).rows
    assert saved.metrics() == fresh.metrics()
    assert (
        f"|solvers:[score-file,file={digests}; surface-lr,analyzer=word,learner=newton]|"
        in saved.signature
    )
    cross = predict(DEV, clone(solver), decide=False, cv=3)
    assert len(cross.scores) == len(DEV)


def test_a_member_that_learned_from_a_file_is_saved(tmp_path):
    corpus, path = tmp_path / "corpus.txt", tmp_path / "combined.npz"
    corpus.write_text("Ann went home.\nBob sat down.\n", encoding="utf-8")
    solver = Combination(solvers=[SurfaceLR(), NGramLM(corpus=str(corpus), order=2)]).fit(TRAIN)
    scores = solver.score_candidates(DEV).values
    save_solver(solver, path)
    corpus.unlink()
    assert np.array_equal(SavedSolver(path=str(path)).fit(DEV).score_candidates(DEV).values, scores)


def test_an_error_in_saving_names_the_member(tmp_path):
    solver = Combination(
        solvers=[IRSolver(corpus="paragraphs"), SurfaceLR()], weights="stacked"
    ).fit(TRAIN)
    with raises(UsageError) as refused:
        save_solver(solver, tmp_path / "x")
    assert re.search("^ir .*--train DATA", str(refused.value))
    tuned = Combination(solvers=[SlidingWindow(), SurfaceLR()], weights="tuned").fit(TRAIN)
    with raises(NotFittedError) as unfitted:
        save_solver(tuned, tmp_path / "x")
    assert re.search("weights of combination.*--tune DATA", str(unfitted.value))
    assert not (tmp_path / "x").exists()


TWO = [SlidingWindow(), LongestCandidate()]


def test_scoring_needs_a_fit_and_tuned_weights():
    with raises(NotFittedError) as error:
        Combination(solvers=TWO).score_candidates(DEV)
    assert re.search(r"combination.*fit\(questions\)", str(error.value))
    with raises(NotFittedError) as error:
        Combination(solvers=TWO, weights="tuned").fit(DEV).score_candidates(DEV)
    assert "--tune DATA" in str(error.value)


class Constant(Solver):
    """Gives all candidates one score."""

    def __init__(self, *, constant=0.0, decision=None):
        self.constant = constant
        self.decision = decision

    def score_candidates(self, questions):
        return Scores.from_lists([[self.constant] * len(q.candidates) for q in questions])


@pytest.mark.parametrize("score", [np.inf, -np.inf])
def test_scores_that_are_not_finite_are_refused(score):
    solver = Combination(solvers=[LongestCandidate(), Constant(constant=score)]).fit(DEV)
    with raises(
        UsageError, field="solvers", found=str(score), expected=re.compile("finite")
    ) as error:
        solver.score_candidates(DEV)
    assert re.search(f"combination.* finite .*Constant.* {score}", str(error.value))


def test_tasks_are_the_common_tasks_of_all_members():
    assert Combination(solvers=[SlidingWindow(), SurfaceLR()]).tasks == SurfaceLR.tasks
    assert Combination(solvers=TWO, weights="stacked").tasks == {t for t in Task if not t.has_spans}
    with raises(UsageError) as error:
        evaluate(synthetic_dataset(Task.SPAN), [Combination(solvers=TWO, normalise="standard")])
    assert re.search("combination.* span", str(error.value))


def test_the_signature_has_the_members(tmp_path):
    path = str(tmp_path / "scores")
    write_predictions(path, DEV, WordDistance().score_candidates(DEV), format="jsonl")
    members = [ScoreFile(path=path), SlidingWindow(window=9), IRSolver(corpus="paragraphs")]
    solvers = [Combination(solvers=members, weights=weights) for weights in (None, "stacked")]
    row, stacked = evaluate(DEV, solvers, cv=3).rows
    for signature in (row.short_signature, stacked.short_signature):
        assert "|solvers:[score-file,file=" in signature
        assert "; sliding-window,analyzer=word,window=9; ir" in signature
        assert "corpus=" in signature
        assert "path" not in signature
    assert row.params["solvers"] == [
        f"score-file,path={path}",
        "sliding-window,window=9",
        "ir:paragraphs",
    ]
    assert repr(Combination.from_params(row.params | {"decision": None}).solvers) == repr(members)
    (reversed_row,) = evaluate(DEV, [Combination(solvers=members[::-1])]).rows
    assert row.signature != reversed_row.signature


def test_variants_have_published_weights_whatever_the_path_of_the_file():
    for name, weight in (("mctest160", 0.14), ("mctest500", 0.34)):
        solver = Combination.variant(f"{name}-rte", **{"score-file__path": "rte.txt"})
        assert solver.weights == [1.0, weight]
        assert solver.variant_name() == f"{name}-rte"
        assert solver.solvers[1].variant_name() == name
        assert solver.published_tuning() == SlidingWindowDistance.variants[name].tuned_on
        assert clone(solver).set_params(**{"sw+d__window": 5}).variant_name() is None
        assert Combination.variant(f"{name}-rte").solvers[0].path == ""
    mine = Combination(solvers=[SlidingWindowDistance.variant("mctest160"), Random()])
    assert mine.variant_name() is None
    assert mine.published_tuning() == SlidingWindowDistance.variants["mctest160"].tuned_on


class MetaScores(Solver):
    """The scores in the questions' meta, as a file's if `relative_ties`."""

    def __init__(self, *, key: str = "given", relative_ties: bool = False) -> None:
        self.key = key
        self.relative_ties = relative_ties

    def score_candidates(self, questions):
        return Scores.from_lists(
            [q.meta[self.key] for q in questions], relative_ties=self.relative_ties
        )


def given_scores(dataset, **rows):
    """Return the questions with these scores in their meta, by key: a function of the question
    each.
    """
    questions = []
    for q in dataset:
        scores = {key: make(q) for key, make in rows.items()}
        questions.append(replace(q, meta=scores))
    return replace(dataset, questions=questions)


is_right = by_candidate(lambda q, i: i in q.gold)


@pytest.mark.parametrize("normalise", ["question", "standard"])
def test_rounding_below_the_tolerance_of_ties_does_not_decide(normalise):
    """The noise is in the order against gold; the other member is right, and much smaller."""
    noisy = given_scores(
        DEV,
        noise=by_candidate(lambda q, i: 5.0 - 1e-8 * (i in q.gold)),
        mixed=by_candidate(lambda q, i: 5.0 - 1e-8 * (i in q.gold) - 3e-6 * (i == 3)),
        right=is_right,
    )
    for key in ("noise", "mixed"):
        members = [MetaScores(key=key), MetaScores(key="right")]
        solver = Combination(solvers=members, weights=[1, 0.1], normalise=normalise).fit(noisy)
        rows = evaluate(noisy, [members[0], members[1], solver]).rows
        assert rows[1].metrics()["accuracy"] == 1
        noise = solver.member_scores(noisy)[0]
        assert all(row[0] == row[1] for row in noise)
        if key == "noise":
            assert rows[2].metrics()["accuracy"] == 1


@pytest.mark.parametrize("relative", [False, True])
def test_scores_that_tie_at_any_rank_are_standardised_as_equal(relative):
    unit = 1e-9 if relative else 1.0
    tiny = 1e-13 if relative else 4e-7
    row = [3.0, 3.0 - tiny, 1.0, 1.0 - tiny, 2.0]
    rows = [[unit * v for v in row], [], [unit] * 2]
    scores = standardised(rows, relative_ties=relative)
    a, b, c, d, e = scores[0].tolist()
    assert a == b > e > c == d
    assert not scores[2].any()


@pytest.mark.parametrize("normalise", ["question", "standard"])
@pytest.mark.parametrize("weights", [None, "stacked"])
@pytest.mark.parametrize("unit", [1e-300, 4e307])
def test_standardised_scores_do_not_depend_on_huge_or_tiny_units(unit, normalise, weights):
    def drawn(q, scale=1.0):
        rng = np.random.default_rng(len(q.passage.text) + 7 * min(q.gold))
        return [scale * float(v) for v in rng.integers(-4, 5, len(q.candidates))]

    dataset = given_scores(DEV, plain=drawn, scaled=lambda q: drawn(q, unit))
    scores = {}
    for key in ("plain", "scaled"):
        members = [MetaScores(key=key, relative_ties=True), LongestCandidate()]
        solver = Combination(solvers=members, weights=weights, normalise=normalise)
        scores[key] = solver.fit(dataset).score_candidates(dataset)
    assert np.isfinite(scores["scaled"].values).all()
    assert scores["scaled"].values == pytest.approx(scores["plain"].values, rel=1e-6, abs=1e-9)
    assert scores["plain"].are_best().mean() < 1


def test_a_sum_that_is_too_large_is_an_error():
    dataset = given_scores(DEV, big=by_candidate(lambda q, i: 1e308 * (i == 0)))
    solver = Combination(solvers=[MetaScores(key="big"), MetaScores(key="big")]).fit(dataset)
    with raises(UsageError, field="weights"):
        solver.score_candidates(dataset)


PENALTIES = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=80, seed=3, name="penalties")


def rng_of(q, salt):
    digest = hashlib.sha256(q.id.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[salt : salt + 4], "big"))


def penalised(q):
    """Scores whose order is mostly right, with a large penalty that says nothing."""
    rng, n = rng_of(q, 0), len(q.candidates)
    noise = rng.normal(0, 0.5, n)
    is_penalised = rng.random(n) < 0.25
    penalty = -200.0 * (rng.random() < 0.3)
    return (noise + np.where(is_penalised, penalty, 0) + is_right(q)).tolist()


def saturated(q):
    """Probabilities that are nearly 0 or 1 and seldom right."""
    rng, n = rng_of(q, 4), len(q.candidates)
    best_option = min(q.gold) if rng.random() < 0.45 else int(rng.integers(n))
    return [0.97 if i == best_option else 0.01 for i in range(n)]


def test_stacked_weights_are_no_worse_than_a_member_on_their_training_data():
    dataset = given_scores(PENALTIES, penalised=penalised, saturated=saturated)
    members = [MetaScores(key="penalised"), MetaScores(key="saturated")]
    stacked = Combination(solvers=members, weights="stacked")
    evaluation = evaluate(dataset, [*members, stacked], cv=5)
    first_accuracy, second_accuracy, stacked_accuracy = (
        r.metrics()["accuracy"] for r in evaluation.rows
    )
    assert len(dataset) * 4 / 5 >= 100
    assert stacked_accuracy >= max(first_accuracy, second_accuracy) - 0.01
    caveats = [c for c in evaluation.rows[2].caveats if "out of fold on its training data" in c]
    assert 1 <= len(caveats) <= 2
    assert np.isfinite(stacked.fit(dataset).score_candidates(dataset).values).all()


@pytest.mark.parametrize("weights", [None, [0.001, 5], "stacked", "tuned"])
@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def test_a_run_warns_if_a_member_is_better(tmp_path, weights, task):
    data = synthetic_dataset(task, n_passages=12, seed=1)
    wrong = by_candidate(lambda q, i: (i not in q.gold) * 9 * (len(q.text) % 3))
    dataset = given_scores(data, right=is_right, wrong=wrong)
    members = [MetaScores(key="right"), MetaScores(key="wrong")]
    solvers = [*members, Combination(solvers=members, weights=weights)]
    evaluation = evaluate(dataset, solvers, cv=5 if weights else None)
    metric = "accuracy" if task is Task.SINGLE_CHOICE else "f1_a"
    right, _, row = (row.metrics()[metric] for row in evaluation.rows)
    warnings = [w for w in evaluation.warnings if "is below" in w]
    assert right == 1
    assert len(warnings) == (row < 1)
    if row < 1:
        assert f"{100 * row:.2f}" in warnings[0]
        assert "100.00 of its member MetaScores-1" in warnings[0]
        assert ("out of fold" in warnings[0]) == (
            weights in ("stacked", "tuned") or task is Task.MULTIPLE_ANSWER
        )
    assert weights in ("stacked", "tuned") or row < 1
