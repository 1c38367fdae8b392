"""What a student learns from a failed check: the smallest input that fails, a likely cause, and
questions lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from classic_rc.commands.grade.assignment import (
    Assignment,
    Case,
    Change,
    CheckFailedError,
    Submission,
)
from classic_rc.commands.grade.sandbox import SubmissionError
from classic_rc.decisions import default_decision
from classic_rc.errors import UsageError
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import Explanation

_MAX_CALLS = 400
_MAX_SECONDS = 5.0
"""What the search for a smaller input may cost of the student's time, so that slow code still
reaches its other checks.
"""

_MAX_SHOWN = 400
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a call came to: a value, or the kind of error that it raised."""

    value: Any = None
    error: SubmissionError | None = None

    @property
    def raised(self) -> str | None:
        return (
            None if self.error is None else self.error.problem.partition(":")[0].partition(" ")[0]
        )

    @property
    def has_ended(self) -> bool:
        return self.error is not None and self.error.is_final

    def is_right(self, expected: Any) -> bool:
        return self.error is None and is_near(self.value, expected)


class _FunctionComparison:
    """A student's function and the right one, with the results of both for the cases of a
    grading.
    """

    def __init__(
        self, submission: Submission, name: str, where: str | Callable[..., bool] | None = None
    ) -> None:
        self.submission, self.name = submission, name
        self.assignment = submission.assignment
        where = self.assignment.right(where) if isinstance(where, str) else where
        self.where = where
        self.declared = self.assignment.functions[name]
        self.built_on = [
            change
            for used_function in self.declared.uses
            for change in _own_mistakes(submission, used_function)
        ]
        drawn = cases_of(self.assignment, name, submission.seed)
        cases = [case for case in drawn if where is None or where(*case)]
        self.cases = [case for case in cases if self._has_value(case)]
        if not self.cases:  # With the student's mistake, nothing has a value.
            self.cases, self.built_on = cases, []
        if not self.cases:
            message = f"the assignment has no cases for {name}, so every answer would pass"
            raise UsageError(message, field="assignment")
        self.outcomes: list[_Outcome] = []

    def _has_value(self, case: Case) -> bool:
        """Whether the right function gives anything: with the student's mistakes, it may fail as
        theirs does.
        """
        try:
            _ = self.built_on and self.right(case)
        except Exception:
            return False
        return True

    def right(self, case: Case, *changes: Change) -> Any:
        return self.assignment.right(self.name, *self.built_on, *changes)(*case)

    def ask(self, case: Case) -> _Outcome:
        try:
            return _Outcome(self.submission.sandbox.call(self.name, *case))
        except SubmissionError as error:
            return _Outcome(error=error)

    def ask_all(self) -> list[tuple[Case, _Outcome]]:
        """Return the cases whose outcome is wrong; the last one may have ended the process."""
        for case in self.cases:
            self.outcomes.append(self.ask(case))
            if self.outcomes[-1].has_ended:
                break
        pairs = zip(self.cases, self.outcomes, strict=False)
        return [
            (case, outcome) for case, outcome in pairs if not outcome.is_right(self.right(case))
        ]

    def name_mistake(self, mistakes: Mapping[str, Sequence[Change]]) -> str | None:
        """Return the first mistake that explains every outcome."""
        return next((cause for cause, changes in mistakes.items() if self._explains(changes)), None)

    def _explains(self, changes: Sequence[Change]) -> bool:
        for case, outcome in zip(self.cases, self.outcomes, strict=False):
            try:
                if not outcome.is_right(self.right(case, *changes)):
                    return False
            except (
                Exception
            ) as error:  # What has the student's mistake may fail as the student's code does.
                if outcome.raised != type(error).__name__:
                    return False
        return True

    def name_constant(self) -> str | None:
        """Say what the function gives for every case, if it is the same."""
        values = [outcome.value for outcome in self.outcomes]
        if any(
            outcome.error is not None or outcome.value != values[0] for outcome in self.outcomes
        ):
            return None
        if values[0] is None:
            return "your function returns nothing; return the value, do not print it"
        return (
            f"your function gives {_shown(values[0])} for every input" if len(values) > 1 else None
        )

    def shrink(self, case: Case, outcome: _Outcome) -> tuple[Case, _Outcome]:
        """Return the smallest failing call that greedy steps lead to, and its outcome."""
        sandbox, n_calls, seen = self.submission.sandbox, 0, {repr(case)}
        least_seconds = sandbox.seconds_left - _MAX_SECONDS
        is_smaller = True
        while is_smaller and not outcome.has_ended:
            is_smaller = False
            for simpler in (self.declared.simplify or simpler_cases)(case):
                if repr(simpler) in seen or _size(simpler) >= _size(case):
                    continue
                seen.add(repr(simpler))
                try:
                    if not self.declared.allowed(*simpler):
                        continue
                    if self.where is not None and not self.where(*simpler):
                        continue
                    expected = self.right(simpler)
                except (ValueError, TypeError, LookupError, ArithmeticError):  # no sensible input
                    continue
                n_calls += 1
                if n_calls > _MAX_CALLS or sandbox.seconds_left < least_seconds:
                    return case, outcome
                simpler_outcome = self.ask(simpler)
                if not simpler_outcome.is_right(expected):
                    case, outcome, is_smaller = simpler, simpler_outcome, True
                    break
        return case, outcome


def compare_function(
    submission: Submission, name: str, where: str | Callable[..., bool] | None = None
) -> None:
    """Compare a student's function with the right one; explain a difference by the smallest input
    that has it.

    `where` says which calls this check is about, as for a
    :class:`~classic_rc.commands.grade.assignment.Check`.

    Raises
    ------
    CheckFailedError
        With the call, the value found and the one expected, and with the mistake if it is a known
        one.
    UsageError
        There are no cases.
    """
    if (kind := submission.kind_of(name)) != "function":
        raise CheckFailedError(f"{name} must be a function, not a {kind}")
    comparison = _FunctionComparison(submission, name, where)
    failing = comparison.ask_all()
    if not failing:
        return
    cause: str | None = None
    case, outcome = failing[-1]
    if not outcome.has_ended:
        case, outcome = min(failing, key=lambda failure: _size(failure[0]))
        repeated = comparison.ask(case)
        if repeated.raised == outcome.raised and (
            repeated.value == outcome.value or is_near(repeated.value, outcome.value)
        ):
            mistakes = comparison.assignment.known(name) | comparison.assignment.others(name)
            cause = comparison.name_mistake(mistakes) or comparison.name_constant()
            case, outcome = comparison.shrink(case, outcome)
        else:
            cause = (
                "your function gives different values when it is called twice with the same input"
            )
    raise _failure(name, case, outcome, comparison.right(case), cause)


def cases_of(assignment: Assignment, name: str, seed: int) -> list[Case]:
    """Return the arguments of the calls of a grading; those that make no sense are left out."""
    declared = assignment.functions[name]
    rng = Random(f"{assignment.name} {name} {seed}")
    return [case for case in declared.cases(rng) if declared.allowed(*case)]


def _own_mistakes(submission: Submission, name: str) -> list[Change]:
    """Return the changes of the reference that make it what a student's function is, if they are
    known.
    """
    comparison = _FunctionComparison(submission, name)
    if name in submission.names and comparison.ask_all():
        mistakes = submission.assignment.known(name)
        if (cause := comparison.name_mistake(mistakes)) is not None:
            return [*comparison.built_on, *mistakes[cause]]
    return comparison.built_on


def is_near(answer: Any, expected: Any) -> bool:
    """Return whether plain data are equal but for rounding.

    Examples
    --------
    >>> is_near([1, 0.30000000000000004], [1.0, 0.3]), is_near([1], 1), is_near(None, 0.0)
    (True, False, False)
    """
    if isinstance(expected, list | tuple):
        is_alike = isinstance(answer, list) and len(answer) == len(expected)
        return is_alike and all(map(is_near, answer, expected))
    if isinstance(expected, int | float) and isinstance(answer, int | float):
        try:
            return abs(answer - expected) <= _TOLERANCE
        except OverflowError:  # an integer of hundreds of digits
            return False
    return type(answer) is type(expected) and bool(answer == expected)


def simpler_cases(case: Case) -> Iterator[Case]:
    """Yield calls that are a little simpler: shorter lists, fewer different words, rounder numbers.

    Examples
    --------
    >>> list(simpler_cases((["a", "b"], 0)))
    [([], 0), (['b'], 0), (['a'], 0), (['a', 'a'], 0)]
    """
    for i, argument in enumerate(case):
        for simpler in _simpler(argument):
            yield (*case[:i], simpler, *case[i + 1 :])
    words = list(dict.fromkeys(value for value in _parts(case) if isinstance(value, str)))
    for i, word in enumerate(words):
        for earlier_word in words[:i]:
            yield _replace(case, word, earlier_word)


def without(values: list[Any], i: int) -> list[Any]:
    """Return a list without the element at position `i`."""
    return values[:i] + values[i + 1 :]


def with_changed(values: list[Any], i: int, element: Any) -> list[Any]:
    """Return a list with another element at position `i`."""
    return [*values[:i], element, *values[i + 1 :]]


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        size = len(value)
        while size:
            for start in range(0, len(value), size):
                yield value[:start] + value[start + size :]
            size //= 2
        for i, element in enumerate(value):
            for simpler in _simpler(element):
                yield with_changed(value, i, simpler)
    elif isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
        for key, item in value.items():
            yield from (value | {key: simpler} for simpler in _simpler(item))
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        limit = (len(repr(value)), abs(value))
        rounder = (0, 1, abs(value), int(value), round(value, 1), value // 2)
        numbers = map(type(value), rounder)
        yield from dict.fromkeys(n for n in numbers if (len(repr(n)), abs(n)) < limit)


def _parts(value: Any) -> Iterator[Any]:
    """Yield everything in a value that is not a list, and None for each list."""
    if isinstance(value, list | tuple | dict):
        yield None
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _parts(item)
    else:
        yield value


def _replace(value: Any, word: str, replacement: str) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replace(item, word, replacement) for item in value)
    if isinstance(value, dict):
        return {_replace(key, word, replacement): item for key, item in value.items()}
    return replacement if isinstance(value, str) and value == word else value


def _size(case: Case) -> tuple[float, ...]:
    """Return what makes a call hard to read: its leaves, its lists, its different words, its
    digits.
    """
    parts = list(_parts(case))
    leaves = [leaf for leaf in parts if leaf is not None]
    numbers = [leaf for leaf in leaves if isinstance(leaf, int | float)]
    n_words = len({leaf for leaf in leaves if isinstance(leaf, str)})
    n_digits = sum(len(repr(number)) for number in numbers)
    return len(leaves), len(parts), n_words, n_digits, sum(map(abs, numbers))


def _failure(
    name: str, case: Case, outcome: _Outcome, expected: Any, mistake: str | None
) -> CheckFailedError:
    call = f"{name}({', '.join(map(repr, case))})"
    answer = _shown(outcome.value) if outcome.error is None else outcome.error.problem
    lines = [] if mistake is None else [f"likely cause: {mistake}"]
    lines += [
        "the input that fails:" if outcome.has_ended else "the smallest input found that fails:",
        f"    {call}",
    ]
    lines += [f"expected: {_shown(expected)}", f"found:    {answer}"]
    if outcome.error is not None:
        return CheckFailedError(f"{call}: {answer}", "\n".join([*lines, outcome.error.details]))
    return CheckFailedError(
        f"{call} is {answer}, and should be {_shown(expected)}", "\n".join(lines)
    )


def _shown(value: Any, depth: int = 0) -> str:
    """Return a value with as many digits as a reader needs, up to a length."""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple) and depth < 8:
        elements = ", ".join(_shown(element, depth + 1) for element in value[:_MAX_SHOWN])
        text = f"[{elements}]"
    else:
        text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} ..."


def explain_scores(question: Question, **scores: Sequence[float]) -> tuple[Explanation, ...]:
    """Return explanations of a question by the scores of several systems, by name."""
    explanations = []
    for name, scores_of_system in scores.items():
        rows = Scores.from_lists([scores_of_system])
        explanation = Explanation.from_scores(name, question, rows)
        explanations.append(replace(explanation, decide=_decide))
    return tuple(explanations)


def _decide(explanation: Explanation) -> Prediction:
    questions = [explanation.question]
    decision = default_decision(explanation.question.task).fit(explanation.scores, questions)
    return decision.decide(explanation.scores, questions)[0]
