"""The span-blanks solver: texts between blanks, marks or quotes."""

from __future__ import annotations

import pytest

from classic_rc import evaluate
from classic_rc.questions import Dataset, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import SpanBlanks

TEXT = "去年冠军是 野马队 他们赢了，教练在「丹佛」住。 黑豹队 输了"
PASSAGE = Passage("p", TEXT)


def asked(text: str, *gold: str, passage: Passage = PASSAGE) -> Dataset:
    return add_span_candidates(Dataset([Question("q", passage, text, (), gold, Task.SPAN)]))


def answers(dataset: Dataset, **parameters) -> set[str]:
    solver = SpanBlanks(analyzer="char", **parameters)
    scores = solver.score_candidates(dataset).values
    texts = [candidate.text for candidate in dataset[0].candidates]
    return {text for text, score in zip(texts, scores, strict=True) if score == scores.max()}


@pytest.mark.parametrize(
    ("between", "question", "answer"),
    [
        ("blanks", "去年的冠军是谁？", "野马队"),
        ("blanks", "谁输了？", "黑豹队"),
        ("marks", "谁住教练？", "丹佛"),
        ("quotes", "教练在哪里？", "丹佛"),
    ],
)
def test_the_text_beside_words_of_the_question_is_taken(between, question, answer):
    assert answers(asked(question), between=between) == {answer}


def test_a_text_of_the_question_is_no_answer():
    assert answers(asked("野马队去年的冠军是？")) != {"野马队"}


def test_length_counts_against_a_text():
    dataset = asked("x")
    assert answers(dataset, length_weight=1) == {"输了"}
    assert len(answers(dataset, length_weight=0)) > 2


def test_signs_belong_to_a_number_and_marks_of_scripts_to_their_letter():
    passage = Passage("p", "มี 95% ที่ อยู่")
    for between in ("blanks", "marks"):
        answer_texts = answers(asked("x", passage=passage), between=between, length_weight=0)
        assert answer_texts == {"มี", "95%", "ที่", "อยู่"}


def test_a_random_text_is_reported_in_expectation():
    dataset = asked("谁？", "野马队")
    (row,) = evaluate(dataset, [SpanBlanks(choice="random")]).rows
    assert row.expected
    assert row.metrics()["em"] == 1 / len(TEXT.split())


def test_without_such_texts_all_candidates_tie():
    dataset = asked("谁？", passage=Passage("p", "狐狸在河边看见了乌鸦和猫头鹰在一起"))
    scores = SpanBlanks(between="quotes").score_candidates(dataset)
    assert not scores.evidence.any()
    empty = asked("谁？", passage=Passage("p", "。"))
    assert len(SpanBlanks().score_candidates(empty).values) == 0
    assert evaluate(empty, [SpanBlanks(choice="random")]).rows[0].metrics()["em"] == 0
