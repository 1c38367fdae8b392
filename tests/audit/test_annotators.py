"""Annotators: published examples of each coefficient, numbers counted by hand, and files that are refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from classic_rc.audit.agreement import (
    MISSING,
    cohen_kappa,
    count_answers,
    fleiss_kappa,
    free_marginal_s,
    krippendorff_alpha,
    observed_agreement,
)
from classic_rc.audit.annotators import Annotations, measure_annotators, read_annotations
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, ReadingLog, Task
from classic_rc.reports import annotator_tables
from tests.errors import raises


def made(golds: str, n_options: int = 4, questions_per_passage: int = 1) -> Dataset:
    """A question for each letter, which is its gold."""
    options = tuple(Candidate(f"option {i}") for i in range(n_options))
    passages = [Passage(f"p{i}", f"Passage number {i}.") for i in range(len(golds))]
    return Dataset(
        [
            Question(
                f"q{i}",
                passages[i // questions_per_passage],
                f"Question {i}?",
                options,
                frozenset({"abcdefgh".index(gold)}),
                Task.SINGLE_CHOICE,
            )
            for i, gold in enumerate(golds)
        ],
        "made",
    )


def answered(*annotators: str) -> np.ndarray:
    """A column for each annotator, a letter for each question; a full stop is a missing answer."""
    return np.array([[MISSING if a == "." else "abcdefgh".index(a) for a in letters] for letters in annotators]).T


KRIPPENDORFF = answered("abccbadab...", "abccbbdabe.c", ".cccbcdbbea.", "abccbddabea.")
"""Krippendorff 2011, section C: four observers, twelve units, five values, seven missing ones."""

FLEISS = np.array(
    [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]
)  # fmt: skip
"""The worked example of the article "Fleiss' kappa" in Wikipedia: ten subjects, fourteen raters."""


def test_alpha_of_krippendorff_2011():
    assert krippendorff_alpha(count_answers(KRIPPENDORFF, 5)).value == pytest.approx(0.743, abs=5e-4)
    # Sections A and B: two observers of binary and of nominal data, nothing missing.
    binary = count_answers(answered("abaaaaaaba", "bbbaabaaaa"), 2)
    assert krippendorff_alpha(binary).value == pytest.approx(0.095, abs=5e-4)
    nominal = count_answers(answered("aabbdcccedda", "babbbccceddd"), 5)
    assert krippendorff_alpha(nominal).value == pytest.approx(0.692, abs=5e-4)


def test_fleiss_kappa_of_the_worked_example():
    assert fleiss_kappa(FLEISS).value == pytest.approx(0.210, abs=5e-4)
    assert observed_agreement(FLEISS).value == pytest.approx(0.378, abs=5e-4)


def test_cohen_kappa_of_the_worked_example():
    # The grant proposals of the article "Cohen's kappa" in Wikipedia: 20 and 15 agree, 5 and 10 do not.
    answers = answered("a" * 25 + "b" * 25, "a" * 20 + "b" * 5 + "a" * 10 + "b" * 15)
    assert cohen_kappa(answers, 2).value == pytest.approx(0.4)
    # Its pair of examples with equal agreement, 60 of 100, and different marginals.
    answers = answered("a" * 70 + "b" * 30, "a" * 45 + "b" * 25 + "a" * 15 + "b" * 15)
    assert cohen_kappa(answers, 2).value == pytest.approx(0.1304, abs=5e-5)
    answers = answered("a" * 60 + "b" * 40, "a" * 25 + "b" * 35 + "a" * 5 + "b" * 35)
    assert cohen_kappa(answers, 2).value == pytest.approx(0.2593, abs=5e-5)


def test_s_uses_the_number_of_options_of_each_question():
    # Two agree on 3 of 4 questions; chance is 1/4 on two of them and 1/2 on the others: 3/8 on average.
    counts = count_answers(answered("abab", "abaa"), 4)
    found = free_marginal_s(counts, np.array([4, 4, 2, 2]))
    assert found.value == pytest.approx((3 / 4 - 3 / 8) / (1 - 3 / 8))


def test_coefficients_agree_where_they_are_the_same():
    # With equal marginals of a uniform kind, all chances are 1/k.
    answers = answered("abcdabcd" * 50, "abcdbcda" * 50)
    counts = count_answers(answers, 4)
    expected = (0.5 - 0.25) / 0.75
    assert cohen_kappa(answers, 4).value == pytest.approx(expected)
    assert fleiss_kappa(counts).value == pytest.approx(expected)
    assert free_marginal_s(counts, np.full(400, 4)).value == pytest.approx(expected)
    assert krippendorff_alpha(counts).value == pytest.approx(expected, abs=2e-3)  # corrected for a small sample


def test_annotators_who_prefer_a_position_agree_by_chance_more_often():
    # Both say a nine times of ten, and agree on 82 of 100: the chance of kappa is .82, that of S is 1/4.
    answers = answered("a" * 90 + "b" * 10, "a" * 81 + "b" * 9 + "a" * 9 + "b")
    assert cohen_kappa(answers, 4).value == pytest.approx(0)
    counts = count_answers(answers, 4)
    assert free_marginal_s(counts, np.full(100, 4)).value == pytest.approx((0.82 - 0.25) / 0.75)


def test_undefined_numbers_are_nan():
    same = answered("aaaa", "aaaa")
    assert np.isnan(cohen_kappa(same, 2).value)
    assert np.isnan(observed_agreement(count_answers(answered("a.", ".b"), 2)).value)


def test_accuracy_majority_and_held_out_counted_by_hand():
    dataset = made("aaaaa")
    # q0: all right. q1: two right. q2: one right, three answers differ. q3: two answer, one right. q4: one answers.
    report = measure_annotators(
        dataset, Annotations(("x", "y", "z"), answered("aaaab", "aabb.", "abc..")), resamples=50
    )
    assert [estimate.value for estimate in report.accuracy] == pytest.approx([4 / 5, 2 / 4, 1 / 3])
    assert report.mean_accuracy is not None
    assert report.majority is not None
    assert report.mean_accuracy.value == pytest.approx(7 / 12)
    # The vote: 1, 1, 1/3 of three that tie, 1/2 of two, 0.
    assert report.majority.value == pytest.approx((1 + 1 + 1 / 3 + 1 / 2 + 0) / 5)
    # x against the others: q0 1, q1 1/2 (a and b tie), q2 0 (b and c tie), q3 0; q4 has no others.
    # y: q0 1, q1 1/2 (a and b tie), q2 0, q3 0. z: q0 1, q1 0 (a, a), q2 0.
    assert [e.value for e in report.against_others] == pytest.approx([1.5 / 4, 1.5 / 4, 1 / 3])
    assert report.held_out.value == pytest.approx(4 / 11)
    assert report.held_out.n == 4
    # Pairs that agree: q0 3 of 3, q1 1 of 3, q2 0 of 3, q3 0 of 1.
    assert report.observed.value == pytest.approx((1 + 1 / 3) / 4)
    assert {(p.first, p.second): p.observed.value for p in report.pairs} == {
        ("x", "y"): pytest.approx(2 / 4),
        ("x", "z"): pytest.approx(1 / 3),
        ("y", "z"): pytest.approx(1 / 3),
    }


def test_intervals_resample_passages():
    rng = np.random.default_rng(0)
    golds = "".join(rng.choice(list("abcd"), 400))
    right = answered(golds)[:, 0]
    # Whole passages of ten questions are easy or hard, so passages vary far more than questions do.
    easy = np.repeat(rng.random(40) < 0.5, 10)
    answers = np.stack([np.where(easy, right, (right + j) % 4) for j in (1, 2, 3)], axis=1)
    separate = measure_annotators(made(golds), Annotations(("x", "y", "z"), answers), resamples=2000)
    together = measure_annotators(
        made(golds, questions_per_passage=10), Annotations(("x", "y", "z"), answers), resamples=2000
    )
    for name in ("mean_accuracy", "observed", "alpha", "s", "fleiss"):
        one, other = getattr(separate, name), getattr(together, name)
        assert one.value == other.value
        assert other.interval.low < other.value < other.interval.high
        assert other.interval.high - other.interval.low > 2 * (one.interval.high - one.interval.low)


def test_no_interval_with_one_passage_and_no_accuracy_with_hidden_gold():
    dataset = made("ab", questions_per_passage=2)
    report = measure_annotators(dataset, Annotations(("x", "y"), answered("ab", "aa")))
    assert report.observed.interval is None
    hidden = Dataset([replace(question, gold=None) for question in dataset])
    report = measure_annotators(hidden, Annotations(("x", "y"), answered("ab", "aa")))
    assert report.accuracy == ()
    assert report.majority is None
    assert report.held_out.value == 0.5
    assert "gold is hidden" in " ".join(annotator_tables(report)[0].notes)
    json.dumps(report.to_dict(), allow_nan=False)


def test_accuracy_is_that_of_the_labelled_questions():
    whole = made("abcd")
    half = Dataset([replace(q, gold=q.gold if i < 2 else None) for i, q in enumerate(whole)])
    annotations = Annotations(("x", "y"), answered("abaa", "aa.d"))
    report = measure_annotators(half, annotations, resamples=20)
    assert [(one.value, one.n) for one in report.accuracy] == [(1.0, 2), (0.5, 2)]
    assert (report.mean_accuracy.value, report.majority.value) == (0.75, 0.75)
    assert report.observed.n == 3
    assert any("2 questions whose gold is known" in note for note in report.notes)


def test_answers_to_questions_that_are_left_out_are_counted(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id;annotator;answer\nq0;x;a\nq0;y;b\nq1;x;b\nq9;x;c\n", encoding="utf-8")
    whole = made("ab")
    labelled = Dataset([whole[0]], whole=tuple(whole))
    damaged = Dataset([whole[0]], log=ReadingLog((DataError("malformed"),)), whole=tuple(whole))
    with raises(DataError, found="'q9'"):
        read_annotations(path, labelled)
    found = read_annotations(path, damaged)
    assert found.answers.tolist() == [[0, 1]]
    assert found.notes == ("2 answers to questions that are left out of the data are not used",)


def test_one_annotator_is_refused():
    with raises(UsageError, field="annotators", found="1"):
        measure_annotators(made("ab"), Annotations(("x",), answered("ab")))


def test_tables_show_every_annotator_and_pair():
    report = measure_annotators(made("abcd"), Annotations(("x", "y"), answered("abcd", "abca")), resamples=20)
    first, second = annotator_tables(report)
    names = [["x", "y", "mean of annotators", "majority vote", "held-out annotator"], ["all", "x / y"]]
    cells = [[list(row) for group in table.row_groups for row in group.rows] for table in (first, second)]
    shown = [[[getattr(cell, "value", cell) for cell in row] for row in rows] for rows in cells]
    assert [[row[0] for row in rows] for rows in shown] == names
    assert shown[0][0][2] == 1
    assert shown[1][1][3] == pytest.approx(2 / 3)  # (3/4 - 1/4) / (3/4)


@pytest.mark.parametrize(
    "text",
    [
        "id,annotator,answer\nq0,x,a\nq0,y,B\nq1,x,c\nq1,y,\nq2,y,D\n",
        "question_id\tworker\tlabel\nq0\tx\ta\nq0\ty\tb\nq1\tx\tc\nq2\ty\td\n",
        '{"id": "q0", "annotator": "x", "answer": 0}\n{"id": "q0", "annotator": "y", "answer": 1}\n'
        '{"id": "q1", "annotator": "x", "answer": 2}\n{"id": "q1", "annotator": "y", "answer": null}\n'
        '{"id": "q2", "annotator": "y", "answer": 3}\n',
        '[{"id": "q0", "annotator": "x", "answer": "option 0"},'
        ' {"id": "q0", "annotator": "y", "answer": "option 1"},'
        ' {"id": "q1", "annotator": "x", "answer": "option 2"},'
        ' {"id": "q2", "annotator": "y", "answer": "option 3"}]',
    ],
)
def test_files(text, tmp_path):
    path = tmp_path / "answers"
    path.write_text(text, encoding="utf-8")
    found = read_annotations(path, made("abcd"))
    assert found.annotators == ("x", "y")
    assert found.answers.tolist() == [[0, 1], [2, MISSING], [MISSING, 3], [MISSING, MISSING]]
    assert found.notes == ("no annotator answers 1 of 4 questions",)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("id,annotator,answer\nq0,x,a\nq0,x,b\n", {"field": "answer", "line": 3}),
        ("id,annotator,answer\nq9,x,a\n", {"field": "id", "line": 2, "found": "'q9'"}),
        ("id,answer\nq0,a\n", {"field": "annotator", "line": 2}),
        ("id,annotator,answer\nq0,x,a\nq1,x,z\n", {"field": "answer", "line": 3}),
        ("id,annotator,answer\nq0,x\n", {"line": 2}),
        ("id,annotator,answer\nq0,x,2\n", {"field": "answer", "hint": re.compile("answer_as")}),
        ("id,annotator,answer\n", {"problem": "no answers"}),
        ('{"id": "q0", "annotator": "x", "answer": ["a", "b"]}\n', {"field": "answer", "line": 1}),
    ],
)
def test_malformed_files(text, fields, tmp_path):
    path = tmp_path / "answers"
    path.write_text(text, encoding="utf-8")
    with raises(DataError, **fields):
        read_annotations(path, made("abcd"))


def test_the_coding_can_be_said(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id,annotator,answer\nq0,x,2\nq0,y,1\n", encoding="utf-8")
    assert read_annotations(path, made("abcd"), answer_as="index1").answers[0].tolist() == [1, 0]
    with raises(UsageError, field="gold coding"):
        read_annotations(path, made("abcd"), answer_as="colour")


def test_questions_with_several_answers_are_refused(tmp_path):
    passage = Passage("p", "It rained.")
    question = Question("q", passage, "What?", (Candidate("a"),), frozenset(), Task.MULTIPLE_ANSWER)
    with raises(UsageError, field="dataset", found="multiple-answer"):
        read_annotations(tmp_path / "none", Dataset([question]))
