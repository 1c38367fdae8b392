"""The sentence above an explanation says what deciding and measuring say."""

from __future__ import annotations

import math

import pytest

import classic_rc
from classic_rc import evaluate
from classic_rc.decisions import Argmax, GivenAnswers, Threshold
from classic_rc.protocol import Protocol
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.verdict import compare_terms, outcomes, right_candidates, verdict_of
from classic_rc.running.explain import Explainer
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import Solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator
from tests.depth import thinned

SPECS = ("sw+d", "sw,ties=first", "sw,ties=random", "sw,ties=strict", "longest", "random", "ir")
REAL = {
    "mctest/mc160.dev.tsv": 60,
    "multirc/dev_83-fixedIds.json": 60,
    "record/record_explorer_123.json": 40,
    "quoref/quoref-dev-v0.1.json": 12,
}


def check_verdicts(dataset: Dataset, spec: str, **settings) -> None:
    """Compare each question's verdict with the row of an evaluation."""
    row = evaluate(dataset, [spec], **settings).rows[0]
    expected, credits = outcomes(dataset, row.outcomes.statistics)
    for i, explanation in enumerate(Explainer(spec, dataset, Protocol(**settings))):
        verdict, question = verdict_of(explanation), explanation.question
        assert verdict.outcome == expected[i]
        assert verdict.credit == pytest.approx(credits[i])
        answer = row.outcomes.answers[i]
        if answer is not None and row.outcomes.n_tied[i] == 1:
            if question.task.has_choices:
                assert sorted(verdict.chosen) == answer
            else:
                assert {question.candidates[k].text for k in verdict.chosen} == set(answer)
        if verdict.margin is not None:
            assert verdict.rival is not None
            winner = explanation.candidates[min(verdict.chosen)]
            rival = explanation.candidates[verdict.rival]
            assert verdict.margin == pytest.approx(winner.score - rival.score)
            assert verdict.margin > 0
            if question.task.has_choices and (rows := compare_terms(winner, rival)):
                gain = math.fsum(term.gain for term in rows)
                assert gain == pytest.approx(verdict.margin, abs=1e-5)
            if math.isfinite(verdict.margin):
                assert f" wins by {verdict.margin:.3g} over " in verdict.sentence
        elif row.outcomes.n_tied[i] > 1:
            assert " tie for the best score" in verdict.sentence


@pytest.mark.parametrize("spec", thinned(SPECS, 2))
@pytest.mark.parametrize("task", list(Task))
def test_verdicts_are_those_of_the_row(task, spec):
    dataset = synthetic_dataset(task, n_passages=4)
    check_verdicts(add_span_candidates(dataset, SpanGenerator(max_tokens=2)), spec)


@pytest.mark.ci
@pytest.mark.parametrize("spec", ["surface-lr", "feature-ranker", "length"])
def test_verdicts_of_learners_are_out_of_fold(spec):
    for sample in ("single-choice", "multiple-answer"):
        check_verdicts(classic_rc.load(f"sample:{sample}"), spec, cv=3)


@pytest.mark.ci
@pytest.mark.golden
@pytest.mark.parametrize("file", REAL)
def test_verdicts_on_real_questions(shared_data, file):
    dataset = add_span_candidates(classic_rc.load(shared_data / file)[: REAL[file]])
    for spec in ("sw+d", "ir", "random"):
        check_verdicts(dataset, spec)


PASSAGE = Passage("p", "Ann met Bob in Rome. Bob left.")


class FixedScores(Solver):
    """Has the scores that it is made with."""

    scores: tuple[float, ...] = classic_rc.parameter((), "the scores")

    def score_candidates(self, questions):
        return [list(self.scores) for _ in questions]


def say(scores, task=Task.SINGLE_CHOICE, gold=frozenset({0}), texts="ABCDE", decision=None) -> str:
    candidates = tuple(Candidate(text) for text in list(texts)[: len(scores)])
    solver = FixedScores(scores=tuple(scores))
    solver.decision = decision
    question = Question("q", PASSAGE, "Who?", candidates, gold, task)
    return verdict_of(solver.explain(question)).sentence


MANY, NONE = Task.MULTIPLE_ANSWER, frozenset[int]()
SAID = [
    (say([2, 1.5]), "A “A” wins by 0.5 over B “B”."),
    (say([1, 1.5]), "B “B” wins by 0.5 over A “A”, which is right."),
    (say([1, 3, 2]), "B “B” wins by 1 over C “C”; right: A “A”."),
    (say([1, 3, 2], gold=frozenset({0, 1})), "B “B” wins by 1 over C “C”."),
    (say([3, 2, 1], gold=frozenset({0, 1})), "A “A” wins by 1 over B “B”, which is right too."),
    (say([1, 3, 2], gold=NONE), "B “B” wins by 1 over C “C”; no candidate is right."),
    (say([1, 3, 2], gold=None), "B “B” wins by 1 over C “C”; gold is hidden."),
    (say([float("-inf"), 3]), "B “B” wins over A “A”, which is right."),
    (say([1]), "A “A” is the only candidate."),
    (say([], gold=NONE), "There are no candidates; no candidate is right."),
    (
        say([2, 2, 1]),
        "A and B tie for the best score, 2: each has 1/2 of the credit; the credit is 0.5; right: "
        "A “A”.",
    ),
    (
        say([2, 2, 1], decision=Argmax(ties="first")),
        "A and B tie for the best score, 2, and A “A” is taken.",
    ),
    (
        say([2, 2, 1], decision=Argmax(ties="strict")),
        "A and B tie for the best score, 2: that counts as no answer; right: A “A”.",
    ),
    (
        say([3, 2, 1], MANY, frozenset({0, 2}), decision=Threshold(value=1.5)),
        "A and B are above the threshold, the last 1 above C “C”, the best of the others; "
        "the credit is 0.5; right: A and C.",
    ),
    (
        say([3, 2], MANY, NONE, decision=Threshold(value=9)),
        "No candidate is above the threshold; the best is A “A”.",
    ),
    (say([3, 3], MANY, NONE, decision=Threshold(value=9)), "No candidate is above the threshold."),
    (
        say([3, 2], MANY),
        "No threshold is tuned, so nothing is chosen: A “A” has the best score, 3, before B “B”.",
    ),
    (
        say([3, 2, 1], Task.CLOZE, ("rome",), ["Bob", "Rome", "Bob"]),
        "“Bob” wins by 1 over “Rome”, which is right.",
    ),
    (say([3, 3, 1], Task.CLOZE, ("Bob",), ["Bob", "Bob", "Ann"]), "“Bob” wins by 2 over “Ann”."),
    (
        say([3, 1], Task.SPAN, ("Eve",), ["Bob", "Ann"]),
        "“Bob” wins by 2 over “Ann”; right: “Eve”, which no candidate is.",
    ),
    (
        say([3, 1], Task.SPAN, ("",), ["Bob", "Ann"]),
        "“Bob” wins by 2 over “Ann”; the passage has no answer.",
    ),
    (
        say([0.7, 0.3, 0], decision=GivenAnswers()),
        "Several answers are possible: A “A” 70 %, B “B” 30 %; the credit is 0.7; right: A “A”.",
    ),
]


@pytest.mark.parametrize(("verdict", "expected"), SAID)
def test_the_sentence_says_who_wins_and_what_is_right(verdict, expected):
    assert verdict == expected


def test_a_chosen_text_is_right_as_the_metric_counts():
    candidates = tuple(map(Candidate, ("the  Rome!", "Bob", "rome")))
    question = Question("q", PASSAGE, "Where?", candidates, ("Rome",), Task.SPAN)
    assert right_candidates(question) == {0, 2}


def sentence_of(spec: str) -> str:
    question = classic_rc.load("sample:single-choice")[0]
    return verdict_of(classic_rc.parse_solver(spec).explain(question)).sentence


def test_a_guess_says_its_probability():
    start = "A guess: each of the 4 candidates has the probability 1/4; the credit is 0.25"
    assert sentence_of("random").startswith(start)


def test_a_solver_without_a_formula_says_what_a_score_is():
    assert "(a score is the length of the candidate)" in sentence_of("longest")


def test_reasons_name_the_nearest_pair_and_the_words():
    question = classic_rc.load("sample:single-choice").by_id["lantern.4"]
    verdict = verdict_of(classic_rc.parse_solver("sw+d").explain(question))
    assert (verdict.outcome, verdict.chosen, verdict.rival) == ("wrong", {0}, 3)
    assert verdict.sentence == (
        "A “his grandmother” wins by 1.51 over D “a dog”, which is right: 1.1 from distance "
        "(“grandmother” 5 words from “passenger”), 0.405 from sliding window (“grandmother”)."
    )
