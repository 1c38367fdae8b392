"""Feedback: the smallest counterexample, named mistakes, and questions lost."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace

import pytest

from classic_rc.cli.main import main
from classic_rc.errors import UsageError
from classic_rc.teaching.assignment import CheckFailedError, Submission
from classic_rc.teaching.feedback import compare_function, is_near, own_function, questions_lost, simpler_cases
from classic_rc.teaching.sandbox import Limits, Sandbox
from classic_rc.teaching.stories import made_stories
from tests.errors import raises

CASES = [(["b", "a", "c", "a"], 3), (["a", "b"], 7), (["d", "e", "a", "f", "a", "a"], 5), ([], 2)]


def right(words, n):
    return n * words.count("a")


@contextmanager
def submission(source: str, **rest):
    with Sandbox({"mine.py": source.encode()}, "mine.py", Limits(seconds=60)) as box:
        yield Submission(box, box.load(), **rest)


def feedback(source: str, mistakes=None, cases=CASES) -> CheckFailedError:
    with submission(source) as own, pytest.raises(CheckFailedError) as failed:
        compare_function(own, "f", cases, right, mistakes=mistakes)
    return failed.value


def test_what_is_right_passes():
    with submission("def f(words, n):\n    return float(n * words.count('a'))\n") as own:
        compare_function(own, "f", CASES, right)


def test_a_difference_is_shown_with_the_smallest_input():
    error = feedback("def f(words, n):\n    return n * min(words.count('a'), 1)\n")
    assert error.problem == "f(['a', 'a'], 1) is 1, and should be 2"
    assert error.details.splitlines() == [
        "the smallest input found that fails:",
        "    f(['a', 'a'], 1)",
        "expected: 2",
        "found:    1",
    ]


def test_a_mistake_is_named_by_what_it_gives_for_all_cases():
    source = "def f(words, n):\n    return n * len(words)\n"
    mistakes = {
        "a is counted once": lambda words, n: n * ("a" in words),
        "all words count": lambda words, n: n * len(words),
    }
    assert feedback(source, mistakes).details.startswith("likely cause: all words count\n")
    del mistakes["all words count"]
    assert "likely cause" not in feedback(source, mistakes).details


def test_an_error_comes_with_its_input_the_traceback_and_what_was_printed():
    source = (
        "def f(words, n):\n    print('first is', words[:1])\n    return n * words.count('a') if words[0] else 0\n"
    )
    mistakes = {"no words, no first one": lambda words, n: n * words.count("a") if words[0] else 0}
    error = feedback(source, mistakes)
    assert error.problem == "f([], 0): IndexError: list index out of range (line 3)"
    assert error.details.splitlines() == [
        "likely cause: no words, no first one",
        "the smallest input found that fails:",
        "    f([], 0)",
        "expected: 0",
        "found:    IndexError: list index out of range (line 3)",
        '  File "mine.py", line 3, in f',
        "    return n * words.count('a') if words[0] else 0",
        *[line for line in error.details.splitlines() if set(line.strip()) <= {"~", "^"}],
        "printed before:",
        "first is []",
    ]


def test_one_value_for_everything_is_said_to_be():
    assert (
        "likely cause: your function gives 7 whatever it is called with"
        in feedback("def f(words, n): return 7").details
    )


def test_a_function_that_changes_is_said_to():
    error = feedback("calls = []\ndef f(words, n):\n    calls.append(1)\n    return -len(calls)\n")
    assert error.details.startswith("likely cause: your function gives different values when it is called twice")


@pytest.mark.parametrize("value", ["None", "'2'", "float('nan')", "float('inf')", "[1]", "{}"])
def test_what_is_no_number_is_wrong(value):
    assert feedback(f"def f(words, n): return {value}").problem.startswith("f([], 0)")


def test_a_process_that_ends_is_not_asked_again():
    error = feedback(
        "import os\ndef f(words, n):\n    os._exit(3) if n == 5 else 0\n    return n * words.count('a')\n"
    )
    assert error.problem == "f(['d', 'e', 'a', 'f', 'a', 'a'], 5): ends its process (exit code 3)"


def test_a_function_must_be_there_and_be_one():
    with submission("g = 1") as own:
        with pytest.raises(CheckFailedError, match="does not define f; it defines g"):
            compare_function(own, "f", CASES, right)
        with pytest.raises(CheckFailedError, match="g must be a function, not a value"):
            compare_function(own, "g", CASES, right)


def test_a_check_without_cases_passes_nobody():
    with submission("def f(words, n): return 0") as own, raises(UsageError, field="assignment"):
        compare_function(own, "f", CASES, right, where=lambda words, n: n > 100)


def test_a_check_is_about_a_part_of_the_cases():
    with submission("def f(words, n): return n * words.count('a') if n > 3 else -1") as own:
        compare_function(own, "f", CASES, right, where=lambda words, n: n > 3)
        with pytest.raises(CheckFailedError, match=r"f\(\[\], 3\)"):
            compare_function(own, "f", CASES, right, where=lambda words, n: n > 2)


def test_a_function_may_be_called_like_a_method_of_submissions():
    with submission("def score(words, n): return n * words.count('a')") as own:
        compare_function(own, "score", CASES, right)


def test_the_search_for_a_smaller_input_is_bounded():
    source = "calls = []\ndef f(words, n):\n    calls.append(1)\n    return -1.5\ndef count(): return len(calls)\n"
    long = [([str(i) for i in range(2000)], 1)]
    with submission(source) as own:
        with pytest.raises(CheckFailedError):
            compare_function(own, "f", long, lambda words, n: n if len(words) > 1500 else int(words[0]))
        assert own.count() <= 402


def test_simpler_cases_keep_the_kinds_of_arguments():
    case = ([["a", "b"], ["b"]], {"a": 0.25, "b": 2.0}, 0.5)
    for words, weights, number in simpler_cases(case):
        assert isinstance(words, list)
        assert isinstance(weights, dict)
        assert isinstance(number, float)
        assert all(isinstance(weight, float) for weight in weights.values())


@pytest.mark.parametrize(
    ("found", "expected", "near"),
    [
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        ([1, 2], (1.0, 2.0), True),
        ([1], [1, 2], False),
        (None, 0, False),
        ("1", 1, False),
        (float("nan"), 1.0, False),
        (True, 1, True),
        ("a", "a", True),
        ([1], 1, False),
    ],
)
def test_values_are_compared_but_for_rounding(found, expected, near):
    assert is_near(found, expected) is near


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(words, n): return n * words.count('a')", 3),
        ("def f(words, n): return 2 * n * words.count('a')", 6),  # a known mistake
        ("def f(words, n): return 5 * n * words.count('a')", 3),  # an unknown one: nothing can be gained by it
        ("def f(words, n): return len(words) / 0", 3),
        ("g = 1", 3),
    ],
)
def test_what_is_built_on_a_known_mistake_can_be_right(source, expected):
    mistakes = {"twice": lambda words, n: 2 * n * words.count("a")}
    with submission(source) as own:
        assert own_function(own, "f", CASES, right, mistakes)(["a"], 3) == expected


SOLVER = """
import classic_rc
class Longest(classic_rc.Solver):
    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([float(len(c.text)) for c in q.candidates] for q in questions)
"""


def test_lost_questions_come_with_the_command_that_explains_them(tmp_path, monkeypatch, capsys):
    questions = made_stories(5, 100)
    with submission(SOLVER, seed=5, questions=questions) as own:
        told = questions_lost(own, "sliding-window")
        assert questions_lost(replace(own, _scores={}), "random").startswith("questions that random has")
    lines = told.splitlines()
    assert re.fullmatch(r"questions that sliding-window has .*: \d+ of 400; the first:", lines[0])
    assert sum("right" in line for line in lines) == 5
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(SOLVER, encoding="utf-8")
    commands = [line.split()[1:] for line in lines if line.startswith("    classic-rc")]
    assert len(commands) == 3
    assert [main(command) for command in commands] == [0, 0, 0]
    id = commands[1][2]
    assert {question.id: question.query for question in questions}[id] in capsys.readouterr().out


def test_of_hidden_questions_only_the_number_is_told():
    questions = made_stories(5, 10)
    with submission(SOLVER, seed=5, questions=questions, is_hidden=True) as own:
        told = questions_lost(own, "sliding-window")
    assert re.fullmatch(r"questions that sliding-window has and yours has not, or less of: \d+ of 40", told)


def test_nothing_lost_is_nothing_told():
    with submission(SOLVER, seed=5, questions=made_stories(5, 10)) as own:
        own._scores[own.questions.fingerprint] = [
            [float(i in question.gold) for i in range(4)] for question in own.questions
        ]
        assert questions_lost(own, "sliding-window") == ""
