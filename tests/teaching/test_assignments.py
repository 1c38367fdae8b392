"""The assignments: solutions have full marks, wrong solutions lose the right points and are told why."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from classic_rc.decisions import Argmax, TunedThreshold
from classic_rc.evaluation.resampling import percentile_interval
from classic_rc.kernels.reference import ReferenceKneserNey
from classic_rc.kernels.reference import bm25 as reference_bm25
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.teaching.assignment import Submission, list_assignments, load_assignment
from classic_rc.teaching.grading import grade_file
from classic_rc.teaching.sandbox import Limits, Sandbox

HERE = Path(__file__).parent
NAMES = ["bm25", "bootstrap", "bug", "kneser-ney", "leak", "solver", "threshold", "ties", "window"]
WRONG = sorted((HERE / "wrong").glob("*.py"))


@cache
def module_of(name: str):
    return load_assignment(name).module


def seeds_of(name: str) -> list[int]:
    """Three seeds; the solution of the leak is for one cue."""
    if name != "leak":
        return [0, 1, 2]
    return [seed for seed in range(100) if module_of("leak").planted_cue(seed) == "verbatim"][:3]


def loaded(file: Path):
    spec = importlib.util.spec_from_file_location(f"student_{file.stem.replace('-', '_')}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_eight_and_the_solver():
    assert list_assignments() == NAMES
    assert sorted(file.stem for file in (HERE / "solutions").glob("*.py")) == NAMES
    assert [sum(file.stem.startswith(f"{name}_") for file in WRONG) for name in NAMES] == [3] * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_solution_has_full_marks(name):
    """In one process for all seeds: what a grading does is compared outside."""
    assignment = load_assignment(name)
    file = HERE / "solutions" / f"{name}.py"
    with Sandbox(
        {file.name: file.read_bytes()}, file.name, Limits(seconds=600), packages=assignment.packages
    ) as box:
        names = box.load()
        for seed in seeds_of(name):
            made = assignment.module.make_questions(seed) if name == "solver" else None
            submission = Submission(box, names, seed, made)
            assert {check.name: check.run(submission) for check in assignment.checks} == dict.fromkeys(
                [check.name for check in assignment.checks]
            )


LEAVES = {
    "bm25_factor_kept": 7,
    "bm25_terms_once": 8,
    "bm25_words_counted": 3,
    "bootstrap_bounds_subtracted": 9,
    "bootstrap_mean_of_means": 5,
    "bug_answers_only": 3,
    "bug_one_step_too_many": 3,
    "bug_window_changed": 2,
    "kneser-ney_backoff": 3,
    "kneser-ney_frequency": 2,
    "kneser-ney_no_start": 1,
    "threshold_lowest": 8,
    "threshold_mean_over_questions": 5,
    "threshold_peeks": 4,
    "ties_equal_only": 2,
    "ties_generous": 3,
    "ties_left_out": 6,
    "window_log_count": 3,
    "window_nothing_is_near": 0,
    "window_short_window": 3,
}
"""The fewest words and numbers that a call can have in which the wrong solution and the right one differ."""


def leaves(node: ast.AST) -> int:
    return sum(isinstance(part, ast.Constant) for part in ast.walk(node))


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_a_wrong_solution_loses_the_right_points_and_is_told_why(file):
    name = file.stem.partition("_")[0]
    told, _, loses = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n\nLoses: ")
    grade = grade_file(file, name, seed=seeds_of(name)[1] if name != "leak" else seeds_of(name)[0])
    failed = [check for check in grade.checks if not check.passed]
    assert [check.name for check in failed] == loses.split(", ")
    assert grade.earned == 10 - sum(check.points for check in failed)
    assert told in failed[0].details
    call = re.search(r"^ {4}(\w+\(.*\))$", failed[0].details, re.MULTILINE)
    assert (call is not None) == (file.stem in LEAVES)
    if call is not None:
        assert leaves(ast.parse(call[1])) <= LEAVES[file.stem], call[1]


def test_a_mistake_that_leaves_nothing_to_do_is_not_built_on(tmp_path):
    """Precision is best at the highest score."""
    source = """
def f1(questions, threshold):
    chosen = [label for scores, labels in questions for score, label in zip(scores, labels) if score > threshold]
    return sum(chosen) / len(chosen) if chosen else 1.0

def tune(questions):
    return max(score for scores, _ in questions for score in scores)

def evaluate(train, test):
    return [tune(train), f1(test, tune(train))]
"""
    (tmp_path / "ann.py").write_text(source, encoding="utf-8")
    assert grade_file(tmp_path / "ann.py", "threshold").earned == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_hand_out_has_all_that_students_need(name):
    assignment = load_assignment(name)
    page = assignment.hand_out(1)["README.md"].decode()
    assert f"classic-rc grade {assignment.module.MAIN} --assignment {name}" in page
    for wanted in (f"]({assignment.module.TEMPLATE})", "hand:", "Hints", "o think about"):
        assert wanted in page
    assert re.search(r"\b(19|20)\d\d\b", page)  # a paper


SENTENCES = [["fox", "sleep"], ["fox", "eat", "grape"], ["grape", "sour"], []]
QUESTIONS = [[[0.9, 0.4], [1, 0]], [[0.6, 0.2], [1, 1]]]
TIES = [[[2.0, 3.0, 3.0], 2], [[5.0, 1.0], 0], [[1.0, 1.0], 0]]
BY_HAND = [
    ("window", "sliding_window", ("the cat sat on the mat".split(), ["who", "sat"], ["cat"]), 1.3863),
    ("window", "word_distance", ("the cat sat on the mat".split(), ["who", "sat"], ["the", "mat"], ["the"]), 0.6),
    ("ties", "accuracy", (TIES, "partial"), 0.6667),
    ("ties", "accuracy", (TIES, "strict"), 0.3333),
    ("bm25", "idf", ("fox", SENTENCES), 0.47),
    ("bm25", "score", (["fox", "grape"], SENTENCES[1], {"fox": 0.47, "grape": 0.47}, 7 / 3, 0.9, 0.4), 0.4693),
    ("kneser-ney", "word_probability", (["ab", "cb"], "b", 0.5), 0.38),
    ("kneser-ney", "probability", (["ab", "cb"], "b", "a", 0.5), 0.69),
    ("threshold", "f1", (QUESTIONS, 0.3), 0.6667),
    ("threshold", "f1", (QUESTIONS, -0.8), 0.8571),
    ("threshold", "tune", (QUESTIONS,), -0.8),
    ("bootstrap", "accuracy", ([[1, 1, 0], [0]], [0, 0]), 0.6667),
]


@pytest.mark.parametrize(("name", "function", "args", "expected"), BY_HAND)
def test_what_is_computed_by_hand_is_right(name, function, args, expected):
    found = getattr(loaded(HERE / "solutions" / f"{name}.py"), function)(*args)
    assert round(found, 4) == expected
    assert f"{expected:g}" in load_assignment(name).hand_out(1)["README.md"].decode()


# What the checks compare with is what the package computes.


def test_ties_are_those_of_the_package():
    ties = module_of("ties")
    scores = [own for own in ties._draw_scores(3) if own]
    found = Scores.from_lists(scores).are_best(1e-9)
    assert found.tolist() == [i in ties.right_best(own) for own in scores for i in range(len(own))]
    for own, gold in ties._draw_questions(3, 50):
        question = Question(
            "q", Passage("p", ""), "", tuple(map(Candidate, map(str, own))), frozenset([gold]), Task.SINGLE_CHOICE
        )
        (prediction,) = Argmax().decide(Scores.from_lists([own]), [question])
        assert (frozenset([gold]) in prediction.answers) / len(prediction.answers) == ties.right_credit(own, gold)


def test_thresholds_are_those_of_the_package():
    threshold = module_of("threshold")
    for questions in threshold._draw(3, rounded=True):
        rows = [
            Question(
                f"q{i}",
                Passage("p", ""),
                "",
                tuple(Candidate(str(j)) for j in range(len(labels))),
                frozenset(j for j, label in enumerate(labels) if label),
                Task.MULTIPLE_ANSWER,
            )
            for i, (_, labels) in enumerate(questions)
        ]
        tuned = TunedThreshold().fit(Scores.from_lists([scores for scores, _ in questions]), rows)
        assert threshold._tune(questions) == pytest.approx(tuned.best_threshold_, abs=1e-12)
        assert threshold.right_f1(questions, tuned.best_threshold_) == pytest.approx(tuned.best_score_)


def test_intervals_are_those_of_the_package():
    bootstrap = module_of("bootstrap")
    for values, level in bootstrap._interval_cases(3):
        assert bootstrap.right_interval(values, level) == pytest.approx(
            percentile_interval(np.array(values), level)
        )


def test_pairs_are_those_of_the_package():
    kneser_ney = module_of("kneser-ney")
    for texts, word, context, discount in kneser_ney._cases(3):
        model = ReferenceKneserNey(texts, 2, discounts=[[discount] * 3] * 2)
        expected = model.probability(word, (context,))
        assert kneser_ney.pair_probability(texts, word, context, discount) == pytest.approx(expected)


def test_best_sentences_are_those_of_the_package():
    bm25 = module_of("bm25")
    n_compared = 0
    for query, sentences, k1, b in bm25._cases(3):
        top = reference_bm25.top(
            query, sentences, 2, lambda *args, k1=k1, b=b: reference_bm25.score(*args, k1=k1, b=b)
        )
        if len(top) < 2 or top[0][1] - top[1][1] > 1e-6:  # single precision breaks ties by chance
            assert bm25._right_best(query, sentences, k1, b) == (top[0][0] if top else -1)
            n_compared += 1
    assert n_compared > 50


STOPPED = [["the", "of"]]
TABLES = [
    ("window", "_WINDOW_MISTAKES", lambda own: own._cases(1), "_right_window"),
    ("window", "_DISTANCE_MISTAKES", lambda own: [(*texts, *STOPPED) for texts in own._cases(1)], "_distance"),
    ("bug", "_MISTAKES", lambda own: own._cases(1), None),
    ("ties", "_BEST_MISTAKES", lambda own: [(scores,) for scores in own._draw_scores(1)], "right_best"),
    ("ties", "_CREDIT_MISTAKES", lambda own: own._draw_questions(1, 120), "right_credit"),
    (
        "bm25",
        "_IDF_MISTAKES",
        lambda own: [(case[0][0], case[1]) for case in own._cases(1) if case[0]],
        "_right_idf",
    ),
    ("bm25", "_SCORE_MISTAKES", lambda own: own._score_cases(1), "_right_score"),
    ("bm25", "_BEST_MISTAKES", lambda own: own._cases(1), "_right_best"),
    (
        "kneser-ney",
        "_CONTINUATION_MISTAKES",
        lambda own: [case[:2] for case in own._cases(1)],
        "_right_continuation",
    ),
    ("kneser-ney", "_WORD_MISTAKES", lambda own: own._word_cases(1), "right_word_probability"),
    ("threshold", "_F1_MISTAKES", lambda own: own._f1_cases(1), "right_f1"),
    ("threshold", "_TUNE_MISTAKES", lambda own: [(drawn,) for drawn in own._draw(1, rounded=True)], "_tune"),
    ("bootstrap", "_ACCURACY_MISTAKES", lambda own: own._accuracy_cases(1), "right_accuracy"),
    ("bootstrap", "_INTERVAL_MISTAKES", lambda own: own._interval_cases(1), "right_interval"),
]


def outcome(function, case) -> str:
    try:
        value = function(*case)
    except Exception as error:
        return type(error).__name__
    return str(np.round(np.asarray(value, dtype=float), 6) + 0.0)


@pytest.mark.parametrize(("name", "table", "cases_of", "right"), TABLES, ids=lambda own: own if own else "")
def test_the_cases_tell_mistakes_apart(name, table, cases_of, right):
    """From what is right, and from each other: else a student would be told the wrong one."""
    module = module_of(name)
    functions = {**getattr(module, table), **({} if right is None else {"right": getattr(module, right)})}
    told = {key: tuple(outcome(function, case) for case in cases_of(module)) for key, function in functions.items()}
    alike = [(one, other) for one in told for other in told if one < other and told[one] == told[other]]
    assert alike == []
