"""Explanations are of the scores behind the rows, also out of fold and after tuning."""

from __future__ import annotations

import pytest

import classic_rc
from classic_rc.errors import UsageError
from classic_rc.formats import write_predictions
from classic_rc.metrics.base import solved_metric
from classic_rc.protocol import Protocol
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.verdict import verdict_of
from classic_rc.running.evaluate import predict
from classic_rc.running.explain import MOST_ABLATIONS, Explainer
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import Solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises

SINGLE = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10)
OTHER = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=10, seed=1, name="other")

CASES = [
    ("sw+d", {}),
    ("ir:paragraphs", {}),
    ("surface-lr", {"train": OTHER}),
    ("surface-lr", {"cv": 3}),
    ("sliding-window:race", {"tune": OTHER}),
    ("sliding-window:race", {}),  # out of fold
]


@pytest.mark.parametrize(("spec", "learning"), CASES)
def test_explanations_tell_the_scores(spec, learning):
    solver = classic_rc.parse_solver(spec)
    explainer = Explainer(solver, SINGLE, Protocol(**learning))
    expected = predict(SINGLE, solver, decide=False, **learning).scores
    explained_scores = [
        [candidate.score for candidate in explanation.candidates] for explanation in explainer
    ]
    assert explained_scores == [scores.tolist() for scores in expected]


def test_generated_spans_are_made_as_they_are_needed():
    dataset = add_span_candidates(
        synthetic_dataset(Task.SPAN, n_passages=3), SpanGenerator(max_tokens=2)
    )
    explanations = list(Explainer(classic_rc.parse_solver("span-sw"), dataset))
    assert [len(e.candidates) for e in explanations] == [len(q.candidates) for q in dataset]


class CountsQuestions(Solver):
    """Counts its questions."""

    seen = 0

    def score_candidates(self, questions):
        CountsQuestions.seen += len(questions)
        has_fox = [float("fox" in q.passage.text) for q in questions]
        pairs = zip(questions, has_fox, strict=True)
        return [[fox + len(c.text) for c in q.candidates] for q, fox in pairs]


def test_the_words_of_a_long_passage_are_left_out_together():
    passage = Passage("p", " ".join(f"word{i}" for i in range(2000)) + " fox.")
    question = Question(
        "q", passage, "Who?", (Candidate("a b"), Candidate("c")), frozenset({0}), Task.SINGLE_CHOICE
    )
    explainer = Explainer(CountsQuestions(), Dataset([question], name="long"))
    before = CountsQuestions.seen
    first = explainer.explain(0).candidates[0]
    assert CountsQuestions.seen - before <= MOST_ABLATIONS + 2
    ((name, effect),) = first.numbers.items()
    assert name.endswith('fox"')
    assert effect == 1.0
    (mark,) = first.marks
    assert passage.text[mark.start : mark.end].split()[-1] == "fox"


def test_all_questions_are_explained_without_ablation():
    before = CountsQuestions.seen
    assert all(not c.numbers for e in Explainer(CountsQuestions(), SINGLE) for c in e.candidates)
    assert CountsQuestions.seen - before == len(SINGLE)


def test_what_cannot_be_learned_or_tuned_is_refused():
    with raises(UsageError) as refused:
        Explainer(classic_rc.parse_solver("surface-lr"), SINGLE)
    assert "surface-lr learns from gold" in str(refused.value)
    multiple_answer = synthetic_dataset(Task.MULTIPLE_ANSWER)
    with raises(UsageError, field="tuning data", found="multiple-answer", expected="single-choice"):
        Explainer(
            classic_rc.parse_solver("sliding-window:race"), SINGLE, Protocol(tune=multiple_answer)
        )


@pytest.mark.parametrize("task", list(Task))
def test_the_answers_of_a_file_are_explained_on_every_task(task, tmp_path):
    dataset = add_span_candidates(
        synthetic_dataset(task, n_passages=3), SpanGenerator(max_tokens=2)
    )
    answers = predict(dataset, "random").predictions
    file = tmp_path / "answers.jsonl"
    write_predictions(file, dataset, predictions=answers, format="answers")
    explainer = Explainer(str(file), dataset)
    for i, (question, answer) in enumerate(zip(dataset, answers, strict=True)):
        explanation = explainer.explain(i)
        assert explanation.prediction.answers == answer.answers
        verdict = verdict_of(explanation)
        value = solved_metric(task)([question], [answer])
        assert (verdict.outcome == "right") == (value == pytest.approx(1))
        scores = [candidate.score for candidate in explanation.candidates]
        assert verdict.chosen == {j for j, score in enumerate(scores) if score == 1}
