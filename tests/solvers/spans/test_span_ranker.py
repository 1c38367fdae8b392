"""The span ranker."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.decisions import Argmax, ExpectedF1
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import SpanRanker, load_solver, save_solver
from classic_rc.solvers.spans.columns import GROUPS, ColumnMaker, blocks_of
from classic_rc.solvers.spans.ranker import loss_gradient
from classic_rc.testing import check_solver
from tests.errors import raises

NAMES = "Ann Bob Carla Dora Emil Fritz Gero Hanna Ines Jan".split()


def dataset(task: Task = Task.MULTI_SPAN, n: int = 30) -> Dataset:
    """Return questions about who found what somebody else lost; the finder follows "found by"."""
    questions = []
    for i in range(n):
        finder, year = NAMES[i % 10], str(1900 + i)
        text = (
            f"The ring of {loser(i)} was found by {finder} in {year}. Nobody else came to the old "
            "garden."
        )
        passage = Passage(f"p{i}", text)
        for key, wh, gold in (("who", "By whom", finder), ("when", "When", year)):
            question_text = f"{wh} was the ring found?"
            questions.append(Question(f"{i}-{key}", passage, question_text, (), (gold,), task))
    return add_span_candidates(Dataset(questions, "rings"))


def loser(i: int) -> str:
    return NAMES[(3 * i + 1) % 10]


def answers(solver: SpanRanker, questions) -> list[str]:
    return [
        cast("tuple[str, ...]", prediction.answers[0])[0]
        for prediction in solver.predict(questions)
    ]


@pytest.mark.parametrize("task", [Task.SPAN, Task.MULTI_SPAN])
def test_it_learns_what_answers_look_like(task):
    data = dataset(task)
    solver = SpanRanker().fit(data[:40])
    gold_texts = [text for q in data[40:] for text in q.gold_texts]
    assert answers(solver, data[40:]) == gold_texts
    assert solver.score(data[40:]) == 1.0
    assert solver.caveats_ == ()


def test_the_wh_word_alone_tells_kinds_apart_and_not_the_finder_from_the_loser():
    questions = []
    for i, q in enumerate(dataset()[::2]):
        lost = replace(q, id=f"{q.id}-lost", text="Who lost the ring?", gold=(loser(i),))
        questions += [lost, replace(q, text="Who found the ring?")]
    rings = Dataset(questions, "rings")
    assert SpanRanker(epochs=20, damping=1e-4).fit(rings).score(rings) == 1.0
    alone = SpanRanker.variant("wh-word", epochs=20, damping=1e-4).fit(rings)
    assert alone.score(rings) == pytest.approx(0.5, abs=0.05)
    assert alone.row_name() == "span-ranker:wh-word"


def test_it_is_evaluated_out_of_fold_and_on_training_data_without_spans():
    data = dataset()
    bare = Dataset([replace(q, candidates=()) for q in data[:40]], "bare")
    for evaluation in (
        evaluate(data, [SpanRanker()], cv=5),
        evaluate(data[40:], [SpanRanker()], train=bare),
    ):
        assert evaluation.rows[0].metrics() == {"quoref_em": 1.0, "quoref_f1": 1.0}


def test_the_same_data_gives_the_same_bits_in_any_order_and_any_blocks():
    data = dataset()
    solver = SpanRanker().fit(data)
    order = np.random.default_rng(3).permutation(len(data)).tolist()
    with small_blocks(3):
        refitted = SpanRanker().fit(Dataset([data[i] for i in order], "rings"))
        shuffled = refitted.score_candidates([data[i] for i in order])
    assert np.array_equal(solver.weights_, refitted.weights_)
    assert vars(refitted.decision_) == vars(solver.decision_)
    assert refitted.rarity_.stems == solver.rarity_.stems
    scores = solver.score_candidates(data)
    assert np.array_equal(scores.take(order).values, shuffled.values)
    alone = [solver.score_candidates([question])[0] for question in data]
    assert np.array_equal(np.concatenate(alone), scores.values)
    assert not np.array_equal(SpanRanker(seed=1).fit(data).weights_, solver.weights_)


def test_constants_of_the_decision_are_chosen_inside_the_training_data(monkeypatch):
    data, held_out = dataset(), []

    def fit(self, scores, questions):
        held_out.extend(question.id for question in questions)
        assert [len(row) for row in scores] == [len(q.candidates) for q in questions]
        return self

    monkeypatch.setattr(ExpectedF1, "fit", fit)
    SpanRanker().fit(data)
    assert sorted(held_out) == sorted(question.id for question in data)
    SpanRanker(decision=Argmax()).fit(data)
    SpanRanker(decision=ExpectedF1(scale=1.0, exact=0.0)).fit(data)
    assert len(held_out) == len(data)


def test_another_fit_with_another_decision_forgets_the_constants():
    solver = SpanRanker().fit(dataset())
    assert {"scale_", "exact_"} <= set(vars(solver.decision_))
    assert not hasattr(solver.set_params(decision=Argmax()).fit(dataset()), "decision_")


def test_one_passage_is_enough_to_learn_from():
    data = dataset(n=1)
    solver = SpanRanker().fit(data)
    assert not hasattr(solver.decision_, "scale_")
    assert answers(solver, data) == [text for q in data for text in q.gold_texts]


def test_questions_without_a_right_span_teach_nothing():
    data = dataset()
    lost = replace(data[0], id="lost", gold=("nowhere",))
    solver = SpanRanker().fit(Dataset([*data, lost], "rings"))
    assert np.array_equal(SpanRanker().fit(data).weights_, solver.weights_)
    assert solver.caveats_[0].startswith("1 of 61 training questions taught nothing")


def test_the_place_of_the_answer_counts_if_the_data_have_it():
    text = "Ann met Bob. Later Ann met Carla."
    question = Question("q", Passage("p", text), "Whom did Bob meet?", (), ("Ann",), Task.SPAN)
    placed = replace(question, id="r", meta={"spans": ((0, 3),)})
    data = add_span_candidates(Dataset([question, placed], "d"))
    places, place = (SpanRanker().fit([training_question]) for training_question in data)
    assert not np.array_equal(places.weights_, place.weights_)
    starts = [c.start for c in data[0].candidates]
    scores = place.score_candidates([data[0]])[0]
    row = dict(zip(starts, scores, strict=True))
    assert row[0] > row[text.rindex("Ann")]


def test_a_right_candidate_without_a_place_stays_right():
    candidates = (Candidate("Ann"), Candidate("Bob", 8, 11), Candidate("Carla", 27, 32))
    passage = Passage("p", "Ann met Bob. Later Ann met Carla.")
    meta = {"spans": ((0, 3),)}
    question = Question("q", passage, "Who met Bob?", candidates, ("Ann",), Task.SPAN, meta)
    assert answers(SpanRanker().fit([question]), [question]) == ["Ann"]


def test_the_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 4, 9])
    right = [[(1, 2)], [(0,), (3, 4)]]

    def loss(scores) -> float:
        total = 0.0
        for start, stop, groups in zip(offsets[:-1], offsets[1:], right, strict=True):
            powers = np.exp(scores[start:stop])
            sums = [powers[list(group)].sum() for group in groups]
            total += float(np.mean(np.log(powers.sum()) - np.log(sums)))
        return total

    scores = rng.normal(size=9)
    steps = 1e-6 * np.eye(9)
    numeric = [(loss(scores + step) - loss(scores - step)) / 2e-6 for step in steps]
    assert loss_gradient(scores, offsets, right) == pytest.approx(numeric, abs=1e-6)
    far = scores - 2000 * (np.arange(9) == 0)
    assert np.isfinite(loss_gradient(far, offsets, [[(0,)], [(0,)]])).all()


def test_blocks_hold_what_they_may_hold():
    assert list(blocks_of([1] * 5, 10, 2)) == [(0, 2), (2, 4), (4, 5)]
    assert list(blocks_of([4, 20, 3, 3], 6, 9)) == [(0, 1), (1, 2), (2, 4)]
    assert list(blocks_of([], 6, 9)) == []


def test_each_group_has_templates_and_can_be_left_out():
    data = dataset(n=4)
    counts = []
    for group in GROUPS:
        solver = SpanRanker(features=group, epochs=1).fit(data)
        counts.append(np.count_nonzero(solver.weights_))
        assert ColumnMaker([group]) is not None
    assert min(counts) > 0
    assert np.count_nonzero(SpanRanker(epochs=1).fit(data).weights_) > max(counts)


def test_a_restored_solver_gives_the_same_bits(tmp_path):
    data = dataset()
    solver = SpanRanker(features="classes+distance", epochs=2).fit(data)
    save_solver(solver, tmp_path / "a.npz")
    restored = load_solver(tmp_path / "a.npz")
    assert vars(restored.decision_) == vars(solver.decision_)
    assert np.array_equal(
        restored.score_candidates(data).values, solver.score_candidates(data).values
    )
    save_solver(SpanRanker(features="classes+distance", epochs=2).fit(data), tmp_path / "same.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "same.npz").read_bytes()


def test_an_inconsistent_state_is_refused():
    state, arrays = SpanRanker().fit(dataset(n=4)).fitted_state()
    n, n_stems = len(arrays["weights"]), len(state["stems"])
    with pytest.raises(ValueError, match=rf"shape \({n - 1},\), expected \({n},\)"):
        SpanRanker().restore(state, {**arrays, "weights": arrays["weights"][1:]})
    with pytest.raises(ValueError, match=rf"shape \({n_stems},\), expected \({n_stems - 1},\)"):
        SpanRanker().restore({**state, "stems": state["stems"][1:]}, arrays)
    with pytest.raises(ValueError, match="other features"):
        SpanRanker().restore({**state, "templates": 1}, arrays)
    for columns in (arrays["columns"][::-1], arrays["columns"] + 2**22, arrays["columns"] - 2**22):
        with pytest.raises(ValueError, match="not ascending"):
            SpanRanker().restore(state, {**arrays, "columns": columns})


def test_explanations_add_up_to_the_scores_and_name_the_features():
    data = dataset()
    solver = SpanRanker().fit(data)
    question = replace(data[0], candidates=data[0].candidates.generate())
    explained = solver.explain(question).candidates
    assert [c.score for c in explained] == solver.score_candidates([question])[0].tolist()
    for candidate in explained:
        assert sum(candidate.numbers.values()) == pytest.approx(candidate.score, abs=1e-6)
        assert candidate.formula is not None
        assert candidate.formula.recompute() == pytest.approx(candidate.score, abs=1e-6)
    best = max(explained, key=lambda c: c.score)
    assert best.text == question.gold_texts[0]
    assert {m.kind for m in best.marks} == {"question", "candidate"}
    formula = {
        formula_term.name: formula_term for formula_term in cast("tuple", best.formula.parts)
    }
    assert "wh 'whom', outside word 'by'" in [
        term.name for term in formula["first token: words"].parts
    ]
    assert "wh 'whom', outside word 'in'" in [
        term.name for term in formula["last token: words"].parts
    ]
    assert "sequence 'name', wh 'whom'" in [term.name for term in formula["span: sequence"].parts]


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("", ()),
        (" ", (Candidate(" ", 0, 1),)),
        ("\u0301 . ...", (Candidate(".", 2, 3), Candidate("..."))),
    ],
)
def test_odd_passages_can_be_scored_and_explained(text, candidates):
    solver = SpanRanker().fit(dataset())
    for question_text in ("Who?", "", "\u0301"):
        odd = Question("q", Passage("p", text), question_text, candidates, ("x",), Task.MULTI_SPAN)
        assert len(solver.score_candidates([odd]).values) == len(candidates)
        assert len(solver.explain(odd).candidates) == len(candidates)


def test_data_without_anything_to_learn_is_refused():
    data = dataset(n=2)
    with raises(UsageError, field="questions", found="0"):
        SpanRanker().fit([])
    with raises(UsageError, field="task", found="cloze"):
        SpanRanker().fit([replace(data[0], task=Task.CLOZE)])
    with raises(DataError, found=re.compile("^1 of 4 questions.* gold")):
        SpanRanker().fit([replace(data[0], gold=None), *data[1:]])
    with raises(DataError, found="no right candidate in 4 questions"):
        SpanRanker().fit([replace(q, gold=("nowhere",)) for q in data])
    only = Question(
        "q", Passage("p", "Ann."), "Who?", (Candidate("Ann", 0, 3),), ("Ann",), Task.SPAN
    )
    with raises(DataError, found="no wrong candidate in 1 questions"):
        SpanRanker().fit([only])
    with raises(NotFittedError) as error:
        SpanRanker().score_candidates(data)
    assert re.search("span-ranker.*--train DATA.*--cv 5", str(error.value))


@pytest.mark.parametrize(
    "parameters", [{"inputs": "wh-word"}, {"features": "classes+sentence", "epochs": 1}]
)
def test_it_keeps_the_solver_contract_with_other_parameters(parameters):
    check_solver(SpanRanker(**parameters))


@pytest.mark.ci
def test_it_is_far_above_the_sliding_window_on_other_articles_of_squad(shared_data):
    data = load(shared_data / "squad" / "train-44-articles.json")
    titles = list(dict.fromkeys(q.passage.meta["title"] for q in data))
    train = data.filter(lambda q: q.passage.meta["title"] in titles[:3])
    test = data.filter(lambda q: q.passage.meta["title"] in titles[3:5])
    ranker, window = evaluate(test, [SpanRanker(), "span-sw"], train=train).rows
    assert ranker.metrics()["f1"] > window.metrics()["f1"] + 0.1


def test_copies_for_the_benchmark_have_other_words_and_the_same_places():
    from benchmarks.spans import copied

    text = "The garden of Petersen was rediscovered in 1854."
    question = Question(
        "q",
        Passage("p", text),
        "Whose garden?",
        (),
        ("Petersen",),
        Task.SPAN,
        {"spans": ((14, 22),)},
    )
    first, second, third = copied(Dataset([question], "d"), 3)
    assert first.passage.text == text
    assert len({q.passage.text for q in (first, second, third)}) == 3
    for q in (first, second, third):
        assert q.passage.text[14:22] == q.gold_texts[0]
        assert q.passage.text.startswith("The ")
        assert q.passage.text.endswith("red in 1854.")
