"""What a student learns from a failed check: the smallest input that fails, a likely cause, and questions lost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, TypeAlias

from classic_rc.errors import UsageError
from classic_rc.questions import Question
from classic_rc.teaching.assignment import Assignment, Case, Change, CheckFailedError, Submission
from classic_rc.teaching.sandbox import SubmissionError

Variant: TypeAlias = Callable[..., Any]

_MAX_CALLS = 400
_MAX_SECONDS = 5.0
"""What the search for a smaller input may cost. Slow code must not lose its other checks to it."""

_MAX_SHOWN = 400


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a call came to: a value, or the kind of error that it raised."""

    value: Any = None
    error: SubmissionError | None = None

    @property
    def raised(self) -> str | None:
        return None if self.error is None else self.error.problem.partition(":")[0].partition(" ")[0]

    @property
    def has_ended(self) -> bool:
        return self.error is not None and self.error.is_final

    def is_right(self, expected: Any, tolerance: float) -> bool:
        return self.error is None and is_near(self.value, expected, tolerance)


def compare_function(submission: Submission, name: str, where: Callable[..., bool] | None = None) -> None:
    """Compare a student's function with the right one; explain a difference by the smallest input that has it.

    `where` takes the arguments of a call, and says whether this check is about it.

    Raises
    ------
    CheckFailedError
        With the call, the value found and the one expected, and with the mistake if it is a known one.
    UsageError
        There are no cases.
    """
    assignment, declared = submission.assignment, submission.assignment.functions[name]
    if (kind := submission.kind_of(name)) != "function":
        raise CheckFailedError(f"{name} must be a function, not a {kind}")
    built_on = [change for other in declared.uses for change in _own_mistakes(submission, other)]
    plain = assignment.right(name, *built_on)

    def right(*case: Any) -> Any:
        if not declared.allowed(*case) or (where is not None and not where(*case)):
            raise ValueError("not what this check is about")
        return plain(*case)

    cases = [case for case in cases_of(assignment, name, submission.seed) if where is None or where(*case)]
    if not cases:
        raise UsageError(f"the assignment has no cases for {name}, so every answer would pass", field="assignment")
    function = partial(_call, submission, name)
    expected = [right(*case) for case in cases]
    found: list[_Outcome] = []
    for case in cases:
        found.append(function(case))
        if found[-1].has_ended:
            break
    outcomes = zip(cases, found, expected, strict=False)
    failing = [(case, own) for case, own, value in outcomes if not own.is_right(value, declared.tolerance)]
    if not failing:
        return
    told: str | None = None
    case, own = failing[-1]
    if not own.has_ended:
        case, own = min(failing, key=lambda one: _size(one[0]))
        again = function(case)
        if again.raised == own.raised and (again.value == own.value or is_near(again.value, own.value)):
            mistakes = assignment.known(name) | assignment.others()
            told = _name_mistake(mistakes, assignment, name, built_on, cases, found) or _name_constant(found)
            simplify = declared.simplify or simpler_cases
            case, own = _shrink(case, own, function, right, simplify, declared.tolerance)
        else:
            told = "your function gives different values when it is called twice with the same input"
    raise _told(name, case, own, right(*case), told)


def cases_of(assignment: Assignment, name: str, seed: int) -> list[Case]:
    """Return the arguments of the calls of a grading; those that nobody would use are left out."""
    declared = assignment.functions[name]
    return [case for case in declared.cases(Random(f"{assignment.name} {name} {seed}")) if declared.allowed(*case)]


def _own_mistakes(submission: Submission, name: str) -> list[Change]:
    """Return the changes of the reference that make it what a student's function is, if they are known."""
    assignment, declared = submission.assignment, submission.assignment.functions[name]
    built_on = [change for other in declared.uses for change in _own_mistakes(submission, other)]
    if name not in submission.names:
        return built_on
    cases = cases_of(assignment, name, submission.seed)
    found = [_call(submission, name, case) for case in cases]
    if _explains(assignment.right(name, *built_on), cases, found, declared.tolerance):
        return built_on
    known = assignment.known(name)
    told = _name_mistake(known, assignment, name, built_on, cases, found)
    return built_on if told is None else [*built_on, *known[told]]


def _call(submission: Submission, name: str, case: Case) -> _Outcome:
    try:
        return _Outcome(submission.sandbox.call(name, *case))
    except SubmissionError as error:
        return _Outcome(error=error)


def is_near(found: Any, expected: Any, tolerance: float = 1e-6) -> bool:
    """Return whether plain data are equal but for rounding.

    Examples
    --------
    >>> is_near([1, 0.30000000000000004], [1.0, 0.3]), is_near([1], 1), is_near(None, 0.0)
    (True, False, False)
    """
    if isinstance(expected, list | tuple):
        is_alike = isinstance(found, list) and len(found) == len(expected)
        return is_alike and all(is_near(one, other, tolerance) for one, other in zip(found, expected, strict=True))
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isfinite(found) and abs(found - expected) <= tolerance
    return type(found) is type(expected) and bool(found == expected)


def _name_mistake(
    mistakes: Mapping[str, Sequence[Change]],
    assignment: Assignment,
    name: str,
    built_on: list[Change],
    cases: Sequence[Case],
    found: Sequence[_Outcome],
) -> str | None:
    """Return the first mistake that explains every outcome."""
    tolerance = assignment.functions[name].tolerance
    for told, changes in mistakes.items():
        if _explains(assignment.right(name, *built_on, *changes), cases, found, tolerance):
            return told
    return None


def _explains(variant: Variant, cases: Sequence[Case], found: Sequence[_Outcome], tolerance: float) -> bool:
    for case, own in zip(cases, found, strict=True):
        try:
            if not own.is_right(variant(*case), tolerance):
                return False
        except (
            Exception
        ) as error:  # The variant has the student's mistake, and may fail as the student's code does.
            if own.raised != type(error).__name__:
                return False
    return True


def _name_constant(found: Sequence[_Outcome]) -> str | None:
    values = [own.value for own in found]
    if any(own.error is not None or own.value != values[0] for own in found):
        return None
    if values[0] is None:
        return "your function returns nothing; return the value, do not print it"
    return f"your function gives {_shown(values[0])} whatever it is called with" if len(found) > 1 else None


def _shrink(
    case: Case,
    own: _Outcome,
    function: Callable[[Case], _Outcome],
    right: Variant,
    simplify: Callable[[Case], Iterable[Case]],
    tolerance: float,
) -> tuple[Case, _Outcome]:
    """Return the smallest failing call that greedy steps lead to, and its outcome."""
    deadline, n_calls, seen = time.monotonic() + _MAX_SECONDS, 0, {repr(case)}
    is_smaller = True
    while is_smaller and not own.has_ended:
        is_smaller = False
        for simpler in simplify(case):
            if repr(simpler) in seen or _size(simpler) >= _size(case):
                continue
            seen.add(repr(simpler))
            try:
                expected = right(*simpler)
            except (ValueError, TypeError, LookupError, ArithmeticError):  # no input that anybody would use
                continue
            n_calls += 1
            if n_calls > _MAX_CALLS or time.monotonic() > deadline:
                return case, own
            outcome = function(simpler)
            if not outcome.is_right(expected, tolerance):
                case, own, is_smaller = simpler, outcome, True
                break
    return case, own


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
        for other in words[:i]:
            yield _replace(case, word, other)


def _simpler(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        size = len(value)
        while size:
            for start in range(0, len(value), size):
                yield value[:start] + value[start + size :]
            size //= 2
        for i, item in enumerate(value):
            yield from ([*value[:i], simpler, *value[i + 1 :]] for simpler in _simpler(item))
    elif isinstance(value, dict):
        for key in value:
            yield {own: item for own, item in value.items() if own != key}
        for key, item in value.items():
            yield from (value | {key: simpler} for simpler in _simpler(item))
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        ones = (type(value)(one) for one in (0, 1, abs(value), int(value), round(value, 1), value // 2))
        yield from dict.fromkeys(one for one in ones if (len(repr(one)), abs(one)) < (len(repr(value)), abs(value)))


def _parts(value: Any) -> Iterator[Any]:
    """Yield everything in a value that is no list, and None for each list."""
    if isinstance(value, list | tuple | dict):
        yield None
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _parts(item)
    else:
        yield value


def _replace(value: Any, word: str, other: str) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replace(item, word, other) for item in value)
    if isinstance(value, dict):
        return {_replace(key, word, other): item for key, item in value.items()}
    return other if isinstance(value, str) and value == word else value


def _size(case: Case) -> tuple[float, ...]:
    """Return what makes a call hard to read: its leaves, its lists, its different words, its digits."""
    parts = list(_parts(case))
    leaves, numbers = [part for part in parts if part is not None], [p for p in parts if isinstance(p, int | float)]
    n_words = len({part for part in leaves if isinstance(part, str)})
    return len(leaves), len(parts), n_words, sum(len(repr(one)) for one in numbers), sum(map(abs, numbers))


def _told(name: str, case: Case, own: _Outcome, expected: Any, mistake: str | None) -> CheckFailedError:
    call = f"{name}({', '.join(map(repr, case))})"
    found = _shown(own.value) if own.error is None else own.error.problem
    lines = [] if mistake is None else [f"likely cause: {mistake}"]
    lines += ["the input that fails:" if own.has_ended else "the smallest input found that fails:", f"    {call}"]
    lines += [f"expected: {_shown(expected)}", f"found:    {found}"]
    if own.error is not None:
        return CheckFailedError(f"{call}: {found}", "\n".join([*lines, own.error.details]))
    return CheckFailedError(f"{call} is {found}, and should be {_shown(expected)}", "\n".join(lines))


def _shown(value: Any) -> str:
    """Return a value with as many digits as a reader needs, up to a length."""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    is_list = isinstance(value, list | tuple)
    text = f"[{', '.join(map(_shown, value[:_MAX_SHOWN]))}]" if is_list else repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} ..."


def question_lines(question: Question) -> list[str]:
    """Return a question for the details of a check that failed."""
    options = [candidate.text for candidate in question.candidates]
    return [f"passage: {question.passage.text!r}", f"question: {question.query!r}", f"options: {options}"]
