"""Feedback: the smallest counterexample, named mistakes, and errors with their input."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from classic_rc.commands.grade import (
    Assignment,
    CheckFailedError,
    Function,
    Isolation,
    Limits,
    Submission,
)
from classic_rc.commands.grade.feedback import compare_function, is_near, simpler_cases
from classic_rc.commands.grade.sandbox import Sandbox
from classic_rc.errors import UsageError
from tests.errors import raises

CASES = [(["b", "a", "c", "a"], 3), (["a", "b"], 7), (["d", "e", "a", "f", "a", "a"], 5), ([], 2)]
REFERENCE = "def f(words, n):\n    return n * words.count('a')\n"
ASSIGNMENT = Assignment("Counting", "mine.py", (), {"f": Function(lambda rng: CASES)})


@contextmanager
def submission(tmp_path, source: str, mistakes=None, **declared):
    (tmp_path / "reference.py").write_text(REFERENCE, encoding="utf-8")
    functions = {"f": replace(ASSIGNMENT.functions["f"], **declared)}
    mistakes_of = {"f": mistakes or {}}
    declared_assignment = replace(
        ASSIGNMENT, file=tmp_path / "checks.py", known_mistakes=mistakes_of, functions=functions
    )
    with Sandbox(
        {"mine.py": source.encode()}, "mine.py", Isolation("none"), Limits(seconds=60)
    ) as box:
        yield Submission(box, box.load(), declared_assignment)


@pytest.fixture
def feedback(tmp_path):
    def told(source: str, mistakes=None, **declared) -> CheckFailedError:
        with (
            submission(tmp_path, source, mistakes, **declared) as submitted,
            pytest.raises(CheckFailedError) as failed,
        ):
            compare_function(submitted, "f")
        return failed.value

    return told


def test_what_is_right_passes(tmp_path):
    with submission(
        tmp_path, "def f(words, n):\n    return float(n * words.count('a'))\n"
    ) as submitted:
        compare_function(submitted, "f")


def test_a_difference_is_shown_with_the_smallest_input(feedback):
    error = feedback("def f(words, n):\n    return n * min(words.count('a'), 1)\n")
    assert error.problem == "f(['a', 'a'], 1) is 1, and should be 2"
    assert error.details.splitlines() == [
        "the smallest input found that fails:",
        "    f(['a', 'a'], 1)",
        "expected: 2",
        "found:    1",
    ]


def test_a_mistake_is_named_by_what_it_gives_for_all_cases(feedback):
    source = "def f(words, n):\n    return n * len(words)\n"
    mistakes = {
        "a is counted once": ("words.count('a')", "('a' in words)"),
        "all words count": ("words.count('a')", "len(words)"),
    }
    assert feedback(source, mistakes).details.startswith("likely cause: all words count\n")
    del mistakes["all words count"]
    assert "likely cause" not in feedback(source, mistakes).details


def test_an_error_comes_with_its_input_the_traceback_and_what_was_printed(feedback):
    source = (
        "def f(words, n):\n    print('first is', words[:1])\n    return n * words.count('a') if "
        "words[0] else 0\n"
    )
    error = feedback(source, {"no words, no first one": ("return n", "words[0]; return n")})
    assert error.problem == "f([], 0): IndexError: list index out of range (line 3)"
    assert error.details.splitlines() == [
        "likely cause: no words, no first one",
        "the smallest input found that fails:",
        "    f([], 0)",
        "expected: 0",
        "found:    IndexError: list index out of range (line 3)",
        '  File "mine.py", line 3, in f',
        "    return n * words.count('a') if words[0] else 0",
        "printed before:",
        "first is []",
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(words, n): return 7", "your function gives 7 for every input"),
        (
            "def f(words, n): print(n)",
            "your function returns nothing; return the value, do not print it",
        ),
        (
            "calls = []\ndef f(words, n):\n    calls.append(1)\n    return -len(calls)\n",
            "your function gives different values when it is called twice with the same input",
        ),
    ],
)
def test_what_a_function_does_everywhere_is_said(feedback, source, message):
    assert feedback(source).details.startswith(f"likely cause: {message}")


@pytest.mark.parametrize("value", ["None", "'2'", "float('nan')"])
def test_what_is_no_number_is_wrong(feedback, value):
    assert feedback(f"def f(words, n): return {value}").problem.startswith("f([], 0)")


def test_a_process_that_ends_is_not_asked_again(feedback):
    error = feedback(
        "import os\ndef f(words, n):\n    os._exit(3) if n == 5 else 0\n    return n * "
        "words.count('a')\n"
    )
    assert error.problem == "f(['d', 'e', 'a', 'f', 'a', 'a'], 5): ends its process (exit code 3)"


def test_a_function_must_be_there_and_be_one(feedback):
    assert feedback("g = 1").problem == "the file does not define f; it defines g; wanted: f"
    assert feedback("f = 1").problem == "f must be a function, not a value"


def test_a_check_is_about_a_part_of_the_cases(tmp_path):
    with submission(
        tmp_path, "def f(words, n): return n * words.count('a') if n > 3 else -1"
    ) as submitted:
        compare_function(submitted, "f", lambda words, n: n > 3)
        with pytest.raises(CheckFailedError, match=r"f\(\[\], 3\)"):
            compare_function(submitted, "f", lambda words, n: n > 2)
        with raises(UsageError, field="assignment"):
            compare_function(submitted, "f", lambda words, n: n > 100)


def test_the_search_for_a_smaller_input_is_bounded(tmp_path):
    source = (
        "calls = []\ndef f(words, n):\n    calls.append(1)\n    return -1.5\ndef count(): return "
        "len(calls)\n"
    )
    long = [([str(i) for i in range(2000)], 1)]
    allowed = {
        "cases": lambda rng: long,
        "allowed": lambda words, n: len(words) > 1500 or words[:1] > ["0"],
    }
    with submission(tmp_path, source, **allowed) as submitted:
        with pytest.raises(CheckFailedError):
            compare_function(submitted, "f")
        assert submitted.count() <= 402


def test_simpler_cases_keep_the_kinds_of_arguments():
    for words, weights, number in simpler_cases(([["a", "b"], ["b"]], {"a": 0.25, "b": 2.0}, 0.5)):
        assert (type(words), type(weights), type(number)) == (list, dict, float)
        assert all(isinstance(weight, float) for weight in weights.values())


@pytest.mark.parametrize(
    ("actual", "expected", "near"),
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
def test_values_are_compared_but_for_rounding(actual, expected, near):
    assert is_near(actual, expected) is near
