from __future__ import annotations

import math
import re

import pytest

from classic_rc.decisions import Argmax, Threshold
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import SlidingWindow, SlidingWindowDistance, WordDistance
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.solvers.builders import formulas_give_the_scores, marked

PASSAGE = Passage("p", "The cat sat on the mat. A dog chased the cat.")


def ask(text, *options, gold=frozenset({0}), task=Task.SINGLE_CHOICE, passage=PASSAGE, id="q"):
    return Question(id, passage, text, tuple(map(Candidate, options)), gold, task)


def test_the_window_is_that_computed_by_hand():
    # S = {who, sat, dog}, so n = 3; "sat" and "dog" are 6 tokens apart, each occurs once: one
    # weighs ln 2
    [score] = SlidingWindow().score_candidates([ask("Who sat?", "dog")])
    assert score.tolist() == pytest.approx([math.log(2)], abs=1e-7)


def test_a_window_has_a_fixed_length_or_the_passages():
    question = ask("Who sat?", "dog")
    [wide_window] = SlidingWindow(window=7).score_candidates([question])
    [whole_passage] = SlidingWindow(window="passage").score_candidates([question])
    assert wide_window.tolist() == pytest.approx([2 * math.log(2)], abs=1e-7)
    assert whole_passage.tolist() == wide_window.tolist()


def test_no_evidence_where_nothing_matches():
    scores = SlidingWindow().score_candidates([ask("Why?", "zebra", "dog")])
    assert scores.evidence.tolist() == [False, True]
    assert scores.values[0] == 0


def test_the_distance_is_that_computed_by_hand():
    # "dog" at 7 and "chased" at 8, eleven tokens: 1 / 10
    [score] = WordDistance().score_candidates([ask("Who chased it?", "a dog", "a zebra")])
    assert score.tolist() == [-0.1, -1.0]


def test_the_combination_is_the_difference():
    question = ask("Who chased it?", "a dog", "a zebra")
    combined = SlidingWindowDistance(distance_weight=3.0).score_candidates([question])
    window = SlidingWindow().score_candidates([question])
    distance = WordDistance().score_candidates([question])
    assert combined.values.tolist() == (window.values + 3.0 * distance.values).tolist()


def test_corpus_counts_are_learned_from_passages_without_gold():
    second_question = ask("?", "x", passage=Passage("p2", "cat cat cat dog"), id="q2", gold=None)
    solver = SlidingWindow(inverse_counts="corpus").fit([ask("?", "x", gold=None), second_question])
    assert solver.word_counts_["cat"] == 5
    assert solver.learns_from == "passages"
    [score] = solver.score_candidates([ask("?", "dog")])
    assert score.tolist() == pytest.approx([math.log(1 + 1 / 2)], abs=1e-7)


def test_corpus_counts_must_be_fitted():
    with raises(NotFittedError, field="inverse_counts", found="'corpus'"):
        SlidingWindow(inverse_counts="corpus").score_candidates([ask("?", "x")])


def test_the_tuned_window_is_the_best_on_the_tuning_questions():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20)
    solver = SlidingWindow(window="tuned").tune(dataset)
    tried = [SlidingWindow(window=size).score(dataset) for size in range(2, 31)]
    assert solver.score(dataset) == max(tried)
    assert solver.window_ == 2 + tried.index(max(tried))


def test_the_window_must_be_tuned_before_it_scores():
    with raises(NotFittedError, field="window", found="'tuned'") as caught:
        SlidingWindow(window="tuned").score_candidates([ask("?", "x")])
    assert "--tune DATA" in str(caught.value)


def test_a_window_is_not_tuned_with_a_threshold_to_tune():
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER)
    with raises(UsageError, field="decision", found=re.compile("TunedThreshold")) as caught:
        SlidingWindow(window="tuned").tune(dataset)
    assert "fixed threshold" in str(caught.value)
    SlidingWindow(window="tuned", decision=Threshold(value=1.0)).tune(dataset)


def test_a_cloze_candidate_takes_the_placeholders_place():
    question = ask(
        "@placeholder sat on the mat.", "The cat", "dog", gold=("The cat",), task=Task.CLOZE
    )
    [score] = SlidingWindow().score_candidates([question])
    words = ask("sat on the mat.", "The cat", "dog")
    assert score.tolist() == SlidingWindow().score_candidates([words])[0].tolist()


def test_a_variant_is_its_parameters_and_nothing_else():
    solver = SlidingWindowDistance.variant("mctest500")
    assert solver.variant_name() == "mctest500"
    equal_parameters = SlidingWindowDistance(
        analyzer="mctest", stop_words="mctest", distance_weight=11.0
    )
    assert equal_parameters.variant_name() == "mctest500"
    assert solver.set_params(decision=Argmax(ties="first")).variant_name() == "mctest500"
    # the decision distinguishes variants that have the same other parameters
    assert SlidingWindow.variant("richardson2013").variant_name() == "richardson2013"
    assert SlidingWindow.variant(
        "richardson2013", decision=Argmax(ties="random", seed=3)
    ).variant_name() == ("richardson2013")
    assert SlidingWindow.variant("mctest").variant_name() == "mctest"
    assert SlidingWindowDistance.variant("mctest500", window=5).variant_name() is None
    assert SlidingWindowDistance().variant_name() is None


def test_unknown_variants_and_parameters_are_refused():
    with raises(
        UsageError, field="variant of sw+d", found="mctest", expected=re.compile("mctest500")
    ):
        SlidingWindowDistance.variant("mctest")
    with raises(
        UsageError, field="parameter of sliding-window", found="windows", expected="window"
    ):
        SlidingWindow.variant("mctest", windows=3)


def test_the_explanation_shows_window_words_and_pair():
    explanation = SlidingWindowDistance().explain(ask("Who chased it?", "dog", "zebra"))
    dog, zebra = explanation.candidates
    marks = marked(PASSAGE.text, dog.marks)
    for word, kind in (("dog", "candidate"), ("chased", "question")):
        assert (word, kind) in marks
        assert (word, f"pair-{kind}") in marks
    assert dog.numbers["sliding_window"] - 11 * dog.numbers["distance"] == pytest.approx(dog.score)
    assert zebra.numbers["distance"] == 1
    assert {m.kind for m in zebra.marks} == {"window", "question"}


def test_the_published_weights_know_where_they_were_tuned(shared_data):
    from classic_rc.datasets import load

    for name, variant in (("mc160", "mctest160"), ("mc500", "mctest500")):
        dataset = load(shared_data / "mctest" / f"{name}.dev.tsv")
        assert SlidingWindowDistance.variants[variant].tuned_on == {
            dataset.fingerprint: f"{name}.dev"
        }


@pytest.mark.parametrize("distance", ["mean", "min", "min+1", "first"])
def test_formulas_give_the_scores_for_each_rule_of_the_distance(distance):
    solver = SlidingWindowDistance(distance=distance)
    assert formulas_give_the_scores(solver.explain(ask("Who chased it?", "dog", "zebra")))
