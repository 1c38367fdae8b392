"""Rows of an evaluation: each number worked out by hand, with every caveat."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import from_rows, load
from classic_rc.decisions import Argmax, Threshold, TunedThreshold
from classic_rc.errors import DataError, OutputError, SystemFailedError, UsageError
from classic_rc.io.progress import Progress
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.running import fitted_system as scoring
from classic_rc.running.evaluate import predict
from classic_rc.solvers import (
    AllPositive,
    ConstantPosition,
    LongestCandidate,
    MaximumFrequency,
    Random,
    SlidingWindow,
    Solver,
    parse_solver,
)
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

SINGLE = [
    ("A.", ["1", "2", "3"], frozenset({2})),  # right
    ("A.", ["3", "3", "1"], frozenset({1})),  # two tie, one of them right
    ("B.", ["[2]", "[1]"], frozenset({1})),  # wrong, and without evidence
    ("B.", ["0", "[5]", "5", "5"], frozenset({0})),  # three tie, all wrong
]


@pytest.mark.parametrize(
    ("ties", "accuracy"),
    [("partial", 1.5 / 4), ("first", 1 / 4), ("strict", 1 / 4), (None, 1.5 / 4)],
)
def test_single_choice(dataset, says, ties, accuracy):
    evaluation = evaluate(dataset(Task.SINGLE_CHOICE, SINGLE), [says], ties=ties)
    (row,) = evaluation.rows
    assert row.metrics() == {"accuracy": accuracy}
    assert row.tie_rate == 2 / 4
    assert row.ties == (ties or "partial")
    assert row.no_evidence == 1
    assert {row.threshold, row.tuned_on, row.trained_on, row.seed} == {None}
    assert not row.expected
    assert evaluation.results.n_candidates == 12
    assert row.outcomes.n_tied.tolist() == [1, 2, 1, 3]
    answers = [[2], [0], [0], [1]] if ties != "strict" else [[2], None, [0], None]
    assert list(row.outcomes.answers) == answers


def test_random_ties_are_one_of_the_tied_by_question_and_seed(dataset, says):
    questions = dataset(Task.SINGLE_CHOICE, SINGLE)
    seen = set()
    for seed in range(30):
        (row,) = evaluate(questions, [says], ties="random", seed=seed).rows
        seen.add(row.outcomes.answers[3][0])
    assert seen == {1, 2, 3}
    (row,) = evaluate(questions, [says], ties="random", seed=4).rows
    (row_of_rest,) = evaluate(questions[3:], [says], ties="random", seed=4).rows
    assert row.outcomes.answers[3] == row_of_rest.outcomes.answers[0]
    assert (row.ties, row.seed) == ("random", 4)


def test_options_above_the_threshold_are_selected(dataset, says):
    rows = [
        ("A.", ["1", "5", "6"], frozenset({0, 1})),
        ("B.", ["6", "1"], frozenset()),
        ("B.", ["9"], frozenset({0})),
    ]
    questions = dataset(Task.MULTIPLE_ANSWER, rows)
    row, everything = evaluate(questions, [says, AllPositive()], threshold=4.5).rows
    # Selected: 5, 6 (one of two right, one of two found); 6 (none right, none to find); 9 (right).
    precision = (1 / 2 + 0 + 1) / 3
    recall = (1 / 2 + 1 + 1) / 3
    f1_a = 2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3)
    metrics = row.metrics()
    assert metrics["f1_m"] == pytest.approx(2 * precision * recall / (precision + recall))
    assert metrics["f1_a"] == pytest.approx(f1_a)
    assert metrics["em0"] == pytest.approx(1 / 3)
    assert metrics["em1"] == pytest.approx(2 / 3)
    assert row.selected_share == 4 / 6
    assert (row.tie_rate, row.ties, row.threshold) == (None, None, 4.5)
    assert everything.metrics()["f1_a"] == pytest.approx(2 * 0.5 / 1.5)
    assert (everything.selected_share, everything.threshold) == (1.0, None)


def test_cloze_candidates_of_one_text_are_one(dataset):
    rows = [
        ("Ann saw Bob. Ann left. Bob too.", ["Ann", "Bob", "Ann"], ("Bob",)),
        ("Bob saw Bob.", ["Bob"], ("the bob!",)),
    ]
    questions = dataset(Task.CLOZE, rows)
    counts, draws = evaluate(questions, [MaximumFrequency(), Random()]).rows
    assert counts.metrics() == {"em": 0.75, "f1": 0.75}
    assert counts.outcomes.n_tied.tolist() == [2, 1]
    mean = pytest.approx((1 / 3 + 1) / 2)
    assert draws.metrics() == {"em": mean, "f1": mean}
    assert draws.expected
    assert (draws.ties, draws.seed, draws.tie_rate) == (None, None, None)


def test_a_question_without_candidates_counts_as_wrong(dataset, says):
    for task, no_gold, first_is_gold in (
        (Task.SINGLE_CHOICE, frozenset(), frozenset({0})),
        (Task.CLOZE, ("x",), ("1",)),
    ):
        questions = dataset(task, [("A.", [], no_gold), ("A.", ["1"], first_is_gold)])
        for row in evaluate(questions, [says, Random(), LongestCandidate()]).rows:
            assert set(row.metrics().values()) == {0.5}, row.name
            assert row.outcomes.answers[0] is None
    questions = dataset(
        Task.MULTIPLE_ANSWER, [("A.", [], frozenset()), ("B.", ["1"], frozenset({0}))]
    )
    for row in evaluate(questions, [says, Random(), AllPositive()], threshold=0).rows:
        assert not any(math.isnan(value) for value in row.metrics().values())


def test_nothing_but_questions_without_candidates_is_still_measured(dataset, says):
    for task, gold in (
        (Task.SINGLE_CHOICE, frozenset()),
        (Task.MULTIPLE_ANSWER, frozenset()),
        (Task.CLOZE, ("x",)),
    ):
        questions = dataset(task, [("A.", [], gold), ("B.", [], gold)])
        evaluation = evaluate(questions, [says, Random(), SlidingWindow()])
        json.dumps(evaluation.to_dict(), allow_nan=False)
        assert all(row.selected_share is None for row in evaluation.rows)


def test_metrics_of_a_group_are_those_of_its_questions(dataset, says):
    questions = dataset(Task.SINGLE_CHOICE, SINGLE, kind=["x", "y", "x", "y"])
    evaluation = evaluate(questions, [says], by="kind")
    (row,) = evaluation.rows
    assert list(evaluation.results.shown_groups) == ["x", "y"]
    for kind, accuracy in (("x", 0.5), ("y", 0.25)):
        metrics = row.metrics(evaluation.results.shown_groups[kind])
        assert metrics["accuracy"] == accuracy
        of_kind = questions.filter(lambda q, kind=kind: q.meta["kind"] == kind)
        assert evaluate(of_kind, [says]).rows[0].metrics() == metrics


def test_groups_come_from_questions_before_passages_and_numbers_in_order(dataset, says):
    questions = dataset(Task.SINGLE_CHOICE, SINGLE, level=[10, 9, "b", None])
    masks = evaluate(questions, [says], by="level").results.shown_groups
    assert list(masks) == ["9", "10", "None", "b"]
    with raises(UsageError, field="key of made", found="levle", expected=re.compile("^level")):
        evaluate(questions, [says], by="levle")
    with raises(
        UsageError,
        field="key of made",
        found="level",
        expected=re.compile("candidates, first-word"),
    ):
        evaluate(dataset(Task.SINGLE_CHOICE, SINGLE), [says], by="level")


def test_solvers_are_never_changed():
    majority = ConstantPosition(position="majority")
    solvers = [
        parse_solver("sliding-window:race"),
        majority,
        LongestCandidate(unit="words"),
        Random(seed=3),
    ]
    questions = synthetic_dataset(Task.SINGLE_CHOICE)
    before = [repr(vars(solver)) for solver in solvers]
    evaluate(questions, solvers, train=questions, tune=questions, ties="random", seed=9)
    assert [repr(vars(solver)) for solver in solvers] == before


def test_overrides_reach_only_what_they_are_for():
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER)
    fixed = LongestCandidate(decision=Threshold(value=3.0))
    rows = evaluate(
        questions, [LongestCandidate(), fixed, AllPositive()], threshold=7.0, ties="first"
    ).rows
    assert [row.threshold for row in rows] == [7.0, 3.0, None]
    tuned = LongestCandidate(decision=TunedThreshold(metric="em0"))
    rows = evaluate(questions, [tuned, tuned], tune_metric="em1").rows
    assert all("tuned_for:em1" in row.signature for row in rows)


def test_a_rule_for_one_answer_gives_way_where_several_may_be_right():
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER)
    with_argmax, plain = evaluate(
        questions, [LongestCandidate(decision=Argmax()), LongestCandidate()]
    ).rows
    assert with_argmax.metrics() == plain.metrics()
    assert with_argmax.tuned_on == "cv5"
    (variant,) = evaluate(questions, [parse_solver("sw+d:mctest500")]).rows
    assert (variant.variant, variant.tuned_on, variant.ties) == ("mctest500", "cv5", None)


def test_a_threshold_gives_way_where_one_answer_is_right():
    questions = synthetic_dataset(Task.SINGLE_CHOICE)
    decisions = (Threshold(value=-1e9), TunedThreshold(), None)
    solvers = [LongestCandidate(decision=decision) for decision in decisions]
    *rows, plain = evaluate(questions, solvers).rows
    assert all(row.metrics() == plain.metrics() for row in rows)
    assert [row.ties for row in rows] == ["partial", "partial"]
    with raises(UsageError) as refused:
        LongestCandidate(decision=Threshold()).predict(questions)
    assert "threshold" in str(refused.value)


def test_what_thresholds_are_tried_is_in_the_signature():
    questions = synthetic_dataset(Task.MULTIPLE_ANSWER)
    (exact,) = evaluate(questions, [LongestCandidate()]).rows
    (grid,) = evaluate(questions, [LongestCandidate()], threshold="multirc2018").rows
    assert "tuned_cuts" not in exact.signature
    assert "tuned_cuts:multirc2018" in grid.signature
    assert set(grid.threshold) <= set(np.arange(-0.5, 1.0, 0.02))
    unused = evaluate(
        synthetic_dataset(Task.SINGLE_CHOICE), [LongestCandidate()], threshold="multirc2018"
    )
    (warning,) = unused.warnings
    assert "the threshold multirc2018 is not used" in warning


def test_hidden_gold_is_one_clear_error(dataset, says):
    questions = dataset(Task.SINGLE_CHOICE, [SINGLE[0], ("A.", ["1", "2"], None)])
    with raises(
        DataError, source="made", problem=re.compile("1 of 2 questions .*classic-rc predict")
    ):
        evaluate(questions, [says])


def test_no_question_and_no_solver(dataset, says):
    with raises(UsageError, field="dataset", found="made"):
        evaluate(dataset(Task.SINGLE_CHOICE, []), [says])
    evaluation = evaluate(dataset(Task.SINGLE_CHOICE, SINGLE), [])
    assert evaluation.to_dict()["rows"] == []


def test_given_predictions_are_measured_as_they_are(dataset, tmp_path):
    questions = dataset(Task.SINGLE_CHOICE, SINGLE, kind=["x", "x", "y", "y"])
    file = tmp_path / "theirs.jsonl"
    answers = ("C", "C", None, None)
    lines = [json.dumps({"id": f"q{i}", "answer": answer}) for i, answer in enumerate(answers)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    evaluation = evaluate(questions, [str(file)], by="kind", read_seconds=2.0)
    (row,) = evaluation.rows
    assert row.metrics() == {"accuracy": 0.25}
    assert (row.solver, row.no_evidence, row.tie_rate, row.seconds["read"]) == (
        "score-file",
        None,
        None,
        2.0,
    )
    assert row.metrics(evaluation.results.shown_groups["x"])["accuracy"] == 0.5


def test_scripts_without_spaces_are_named(dataset):
    chinese = dataset(
        Task.SINGLE_CHOICE, [("我们昨天去了河边。", ["河边", "山上"], frozenset({0}))]
    )
    evaluation = evaluate(chinese, [SlidingWindow()])
    (note,) = evaluation.warnings
    assert "made is in Chinese" in note
    assert "analyzer=char" in note
    assert "|analyzer:char|" in evaluation.rows[0].signature
    (warning,) = evaluate(chinese, [SlidingWindow(analyzer="word+lower")]).warnings
    assert "with the analyzer word" in warning
    assert evaluate(chinese, [LongestCandidate()]).warnings == ()
    assert evaluate(dataset(Task.SINGLE_CHOICE, SINGLE), [SlidingWindow()]).warnings == ()


class Returns(Solver):
    """Returns what a function makes of the questions."""

    def __init__(self, *, make=None):
        self.make = make

    def score_candidates(self, questions):
        return self.make(questions)


def _zeros(questions, more=0):
    return [[0.0] * (len(q.candidates) + more) for q in questions]


@pytest.mark.parametrize(
    ("make", "found_text", "expected"),
    [
        (
            lambda qs: Scores.from_lists(_zeros(qs, more=1)),
            "[0-9]+ scores in 24 rows",
            "[0-9]+ scores in 24 rows",
        ),
        (
            lambda qs: _zeros(qs, more=1),
            "^[0-9] scores for question ",
            "^[0-9], one for each candidate",
        ),
        (lambda qs: _zeros(qs)[1:], "^23 lists", "^24 lists"),
        (lambda qs: [0.0] * len(qs), "^float for question ", "list of numbers"),
        (lambda qs: {q.id: 0 for q in qs}, "^dict$", "list of lists"),
        (lambda qs: None, "^NoneType$", "list of lists"),
        (
            lambda qs: [[float("nan")] * len(q.candidates) for q in qs],
            "^nan for a candidate of ",
            "^numbers$",
        ),
        (
            lambda qs: [["high"] * len(q.candidates) for q in qs],
            "^'high' for a candidate of ",
            "^numbers$",
        ),
        (
            lambda qs: [np.zeros((1, len(q.candidates))) for q in qs],
            r"shape \(1, [0-9]\)",
            "one for each candidate",
        ),
    ],
)
def test_scores_of_the_wrong_shape_are_refused(make, found_text, expected):
    fields = {"found": re.compile(found_text), "expected": re.compile(expected)}
    with raises(
        SystemFailedError, name="Returns", place=re.compile("test_evaluate.py, line ")
    ) as failed:
        evaluate(synthetic_dataset(Task.SINGLE_CHOICE), [Returns(make=make)])
    with raises(OutputError, field="score_candidates", **fields) as refused:
        raise failed.value.__cause__
    assert refused.value.found != refused.value.expected


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_lists_of_scores_are_scores(kind):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE)

    def lengths(questions):
        return [kind([float(len(c.text)) for c in q.candidates]) for q in questions]

    solver = Returns(make=lengths)
    (row_of_lists, longest) = evaluate(dataset, [solver, LongestCandidate()]).rows
    assert row_of_lists.outcomes.answers == longest.outcomes.answers
    assert solver.score(dataset) == pytest.approx(row_of_lists.metrics()["accuracy"])
    explained = [candidate.score for candidate in solver.explain(dataset[0]).candidates]
    assert explained == [float(len(c.text)) for c in dataset[0].candidates]


def wrong_calls():  # not annotated, so that no type checker objects
    return [
        (lambda d: evaluate("a.json", ["sw"]), "dataset", "classic_rc.load('a.json')"),
        (lambda d: evaluate(list(d), ["sw"]), "dataset", "classic_rc.Dataset(questions)"),
        (lambda d: evaluate([d, d], ["sw"]), "dataset", "join_datasets"),
        (lambda d: evaluate(d, "sw"), "systems", "['sw']"),
        (lambda d: evaluate(d, SlidingWindow()), "systems", "[solver]"),
        (lambda d: evaluate(d, SlidingWindow), "systems", "[SlidingWindow()]"),
        (lambda d: evaluate(d, [SlidingWindow]), "systems", "SlidingWindow()"),
        (lambda d: evaluate(d, ["sw"], train="a.json"), "train", "classic_rc.load('a.json')"),
        (lambda d: evaluate(d, ["sw"], train=[d, "a.json"]), "train", "classic_rc.load('a.json')"),
        (lambda d: evaluate(d, ["sw"], tune=Path("a.json")), "tune", "classic_rc.load('a.json')"),
        (lambda d: evaluate(d, ["sw"], cv="5"), "cv", "a number of folds"),
        (lambda d: evaluate(d, ["sw"], metrics=[5]), "metrics", "names"),
        (lambda d: evaluate(d, ["sw"], by=["type"]), "by", "a text"),
        (lambda d: evaluate(d, ["sw"], spans="10"), "spans", "a number of tokens"),
        (lambda d: evaluate(d, ["sw"], group_by="type"), "setting", "by"),
        (lambda d: evaluate(d, ["sw"], jobs="2"), "jobs", "such as 2"),
        (lambda d: predict("a.json", SlidingWindow()), "dataset", "classic_rc.load('a.json')"),
        (lambda d: load(d), "path", "use it as it is"),
        (lambda d: load([{"passage": "x"}]), "path", "from_rows"),
        (lambda d: from_rows("a.json"), "rows", "classic_rc.load(path)"),
        (lambda d: from_rows({"passage": "x"}), "rows", "[row]"),
        (lambda d: parse_solver(SlidingWindow()), "spec", "use it as it is"),
        (lambda d: parse_solver(SlidingWindow), "spec", "SlidingWindow()"),
        (lambda d: SlidingWindow().predict(d[0]), "questions", "[question]"),
        (lambda d: SlidingWindow().predict("a.json"), "questions", "classic_rc.load(path)"),
        (lambda d: Scores.from_lists([1.0, 2.0]), "scores", "list of numbers"),
        (lambda d: Scores.from_lists([["a"]]), "scores", "list of numbers"),
    ]


@pytest.mark.parametrize(("call", "field", "fix"), wrong_calls())
def test_a_wrong_type_names_the_fix(call, field, fix):
    with raises(OutputError if field == "scores" else UsageError, field=field) as caught:
        call(load("sample:single-choice"))
    assert fix in str(caught.value)


@pytest.mark.ci
@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
def test_processes_change_no_bit(task):
    questions = synthetic_dataset(task, n_passages=2 * scoring.MIN_FORK_PASSAGES)
    solvers = [
        parse_solver(name) for name in ("sw+d", "sliding-window,inverse_counts=corpus", "random")
    ]
    serial_rows, parallel_rows = (
        evaluate(questions, solvers, threshold=1.0, jobs=jobs).rows for jobs in (1, 2)
    )
    for row, parallel_row in zip(serial_rows, parallel_rows, strict=True):
        for name, statistics in row.outcomes.statistics.items():
            assert np.array_equal(statistics, parallel_row.outcomes.statistics[name])
        assert row.outcomes.answers == parallel_row.outcomes.answers


def test_seconds_are_told_for_each_step():
    (row,) = evaluate(
        synthetic_dataset(Task.SINGLE_CHOICE), [SlidingWindow()], read_seconds=1.5
    ).rows
    assert row.seconds["read"] == 1.5
    assert all(row.seconds[step] > 0 for step in ("encode", "fit", "score"))


def test_the_line_about_a_finished_row_has_the_primary_metric(monkeypatch):
    lines = []
    monkeypatch.setattr(Progress, "finished", lambda self, line: lines.append(line))
    dataset = load("sample:cloze")
    evaluation = evaluate(dataset, {"Lex": "random"}, metrics=["em"], progress=True)
    assert lines == [f"sample:cloze: Lex: EM {100 * evaluation.rows[0].metrics()['em']:.2f}"]
