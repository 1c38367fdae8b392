"""What a student learns from a failed check: the smallest input that fails, a likely cause, and questions lost."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset, Question
from classic_rc.teaching.assignment import CheckFailedError, Submission
from classic_rc.teaching.grading import DEFAULT_ASSIGNMENT, question_statistics, reference_statistics
from classic_rc.teaching.sandbox import SubmissionError

Case: TypeAlias = tuple[Any, ...]
"""The arguments of one call: numbers, strings, and lists and dictionaries of them."""

Function: TypeAlias = Callable[..., Any]

_MAX_CALLS = 400
_MAX_SECONDS = 5.0
"""What the search for a smaller input may cost. Slow code must not lose its other checks to it."""

_N_LOST = 5
_MAX_SHOWN = 400


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a call came to: a value, or the kind of error that it raised."""

    value: Any = None
    error: SubmissionError | None = None
    raised: str | None = None


def compare_function(
    submission: Submission,
    name: str,
    cases: Sequence[Case],
    reference: Function,
    *,
    where: Callable[..., bool] | None = None,
    mistakes: Mapping[str, Function] | None = None,
    simplify: Callable[[Case], Iterable[Case]] | None = None,
    tolerance: float = 1e-6,
) -> None:
    """Compare a student's function with the right one; explain a difference by the smallest input that has it.

    Parameters
    ----------
    submission : Submission
    name : str
        The student's function.
    cases : sequence of tuple
        The arguments of each call, as plain data.
    reference : callable
        The right function. It raises ValueError for arguments that nobody would call it with, so that the search
        for a smaller input does not try them.
    where : callable, optional
        Takes the arguments of a call, and says whether this check is about it. Other cases are left out, and the
        search for a smaller input does not try them.
    mistakes : mapping of str to callable, optional
        Wrong variants of the reference by what is wrong with them: "your window is one token short". The first one
        that does what the student's function does in all cases is named. A variant may raise an error.
    simplify : callable, optional
        Takes the arguments of a call that fails and returns simpler ones, where arguments depend on each other. By
        default, lists lose elements, words become other words of the call, and numbers become smaller.
    tolerance : float
        The largest difference of equal numbers.

    Raises
    ------
    CheckFailedError
        With the call, the value found and the one expected; with the traceback and what was printed if the call
        raises an error; with the mistake if it is a known one.
    SubmissionError
        Its process has ended before.
    UsageError
        There are no cases.
    """
    kind = submission.kind_of(name)
    if kind != "function":
        raise CheckFailedError(f"{name} must be a function, not a {kind}")
    if where is not None:
        cases, reference = [case for case in cases if where(*case)], _within(where, reference)
    if not cases:
        raise UsageError(f"the assignment has no cases for {name}, so every answer would pass", field="assignment")
    function = partial(submission.sandbox.call, name)
    expected = [reference(*case) for case in cases]
    found = []
    for case in cases:
        found.append(_call(function, case))
        if _has_ended(found[-1]):
            break
    failing = [
        (case, own)
        for case, own, right in zip(cases, found, expected, strict=False)
        if not _is_right(own, right, tolerance)
    ]
    if not failing:
        return
    if _has_ended(found[-1]):
        case, own = cases[len(found) - 1], found[-1]
        told = None
    else:
        case, own = min(failing, key=lambda one: _size(one[0]))
        if _is_same(_call(function, case), own, tolerance):
            told = _name_mistake(mistakes or {}, cases, found, tolerance) or _name_constant(found)
            case, own = _shrink(case, own, function, reference, simplify or simpler_cases, tolerance)
        else:
            told = "your function gives different values when it is called twice with the same input"
    raise _told(name, case, own, reference(*case), told)


def _within(where: Callable[..., bool], reference: Function) -> Function:
    def within(*case: Any) -> Any:
        if not where(*case):
            raise ValueError("not what this check is about")
        return reference(*case)

    return within


def own_function(
    submission: Submission, name: str, cases: Sequence[Case], right: Function, mistakes: Mapping[str, Function]
) -> Function:
    """Return what a student's function is, for what is built on it: a known mistake is to cost its points once.

    Parameters
    ----------
    submission : Submission
    name : str
        The student's function.
    cases : sequence of tuple
        Its arguments.
    right : callable
        What it should be; as the reference of :func:`compare_function`.
    mistakes : mapping of str to callable
        As for :func:`compare_function`.

    Returns
    -------
    callable
        The mistaken variant that does what the student's function does in all cases; `right` if there is none.
    """
    if name not in submission.names:
        return right
    function = partial(submission.sandbox.call, name)
    found = [_call(function, case) for case in cases]
    if all(_is_right(own, right(*case), 1e-6) for case, own in zip(cases, found, strict=True)):
        return right
    told = _name_mistake(mistakes, cases, found, 1e-6)
    if told is None:
        return right

    def mistaken(*args: Any) -> Any:
        expected = right(*args)  # It refuses arguments that nobody would use.
        try:
            return mistakes[told](*args)
        except Exception:  # The variant fails where the student's function does.
            return expected

    return mistaken


def _call(function: Function, case: Case) -> _Outcome:
    try:
        return _Outcome(function(*case))
    except SubmissionError as error:
        return _Outcome(error=error, raised=error.problem.partition(":")[0].partition(" ")[0])


def _has_ended(outcome: _Outcome) -> bool:
    return outcome.error is not None and outcome.error.is_final


def _is_same(one: _Outcome, other: _Outcome, tolerance: float) -> bool:
    return one.raised == other.raised and (one.value == other.value or is_near(one.value, other.value, tolerance))


def _is_right(outcome: _Outcome, expected: Any, tolerance: float) -> bool:
    return outcome.error is None and is_near(outcome.value, expected, tolerance)


def is_near(found: Any, expected: Any, tolerance: float = 1e-6) -> bool:
    """Return whether plain data are equal but for rounding.

    Examples
    --------
    >>> is_near([1, 0.30000000000000004], [1.0, 0.3]), is_near([1], 1), is_near(None, 0.0)
    (True, False, False)
    """
    if isinstance(expected, list | tuple):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(is_near(one, other, tolerance) for one, other in zip(found, expected, strict=True))
        )
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return math.isfinite(found) and abs(found - expected) <= tolerance
    return type(found) is type(expected) and bool(found == expected)


def _name_mistake(
    mistakes: Mapping[str, Function], cases: Sequence[Case], found: Sequence[_Outcome], tolerance: float
) -> str | None:
    """Return the first mistake that explains every outcome."""
    for told, variant in mistakes.items():
        if all(_explains(variant, case, own, tolerance) for case, own in zip(cases, found, strict=True)):
            return told
    return None


def _name_constant(found: Sequence[_Outcome]) -> str | None:
    values = [own.value for own in found]
    if all(own.error is None and own.value is None for own in found):
        return "your function returns nothing; return the value, do not print it"
    if all(own.error is None for own in found) and values.count(values[0]) == len(values) > 1:
        return f"your function gives {_shown(values[0])} whatever it is called with"
    return None


def _explains(variant: Function, case: Case, own: _Outcome, tolerance: float) -> bool:
    try:
        value = variant(*case)
    except Exception as error:  # The variant has the student's mistake, and may fail as the student's code does.
        return own.raised == type(error).__name__
    return own.error is None and is_near(own.value, value, tolerance)


def _shrink(
    case: Case,
    own: _Outcome,
    function: Function,
    reference: Function,
    simplify: Callable[[Case], Iterable[Case]],
    tolerance: float,
) -> tuple[Case, _Outcome]:
    """Return the smallest failing call that greedy steps lead to, and its outcome."""
    deadline, n_calls = time.monotonic() + _MAX_SECONDS, 0
    seen = {repr(case)}
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for simpler in simplify(case):
            if repr(simpler) in seen or _size(simpler) >= _size(case):
                continue
            seen.add(repr(simpler))
            try:
                right = reference(*simpler)
            except (ValueError, TypeError, LookupError, ArithmeticError):  # no input that anybody would use
                continue
            if n_calls >= _MAX_CALLS or time.monotonic() > deadline:
                return case, own
            n_calls += 1
            outcome = _call(function, simpler)
            if not _is_right(outcome, right, tolerance):
                case, own, is_smaller = simpler, outcome, True
                if _has_ended(outcome):
                    return case, own
                break
    return case, own


def simpler_cases(case: Case) -> Iterator[Case]:
    """Yield calls that are a little simpler: shorter lists, fewer different words, rounder numbers.

    Parameters
    ----------
    case : tuple
        The arguments of a call.

    Examples
    --------
    >>> list(simpler_cases((["a", "b"], 0)))
    [([], 0), (['b'], 0), (['a'], 0), (['a', 'a'], 0)]
    """
    for i, argument in enumerate(case):
        for simpler in _simpler(argument):
            yield (*case[:i], simpler, *case[i + 1 :])
    words = list(dict.fromkeys(_words(case)))
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
            for simpler in _simpler(item):
                yield [*value[:i], simpler, *value[i + 1 :]]
    elif isinstance(value, dict):
        for key in value:
            yield {own: item for own, item in value.items() if own != key}
        for key, item in value.items():
            for simpler in _simpler(item):
                yield value | {key: simpler}
    elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        simpler_ones = (type(value)(one) for one in (0, 1, abs(value), int(value), round(value, 1), value // 2))
        yield from dict.fromkeys(one for one in simpler_ones if _complexity(one) < _complexity(value))


def _complexity(number: float) -> tuple[int, float]:
    return len(repr(number)), abs(number)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value:  # of a dictionary, its keys
            yield from _words(item)


def _replace(value: Any, word: str, other: str) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_replace(item, word, other) for item in value)
    if isinstance(value, dict):
        return {_replace(key, word, other): item for key, item in value.items()}
    return other if value == word and isinstance(value, str) else value


def _size(case: Case) -> tuple[float, ...]:
    """Return what makes a call hard to read: its leaves, its lists, its different words, its digits."""
    leaves, lists, digits, numbers = 0, 0, 0, 0.0
    stack: list[Any] = list(case)
    while stack:
        value = stack.pop()
        if isinstance(value, list | tuple | dict):
            lists += 1
            stack += [*value, *value.values()] if isinstance(value, dict) else value
            continue
        leaves += 1
        if isinstance(value, int | float):
            digits += len(repr(value))
            numbers += abs(value)
    return leaves, lists, len(set(_words(case))), digits, numbers


def _told(name: str, case: Case, own: _Outcome, expected: Any, mistake: str | None) -> CheckFailedError:
    call = f"{name}({', '.join(map(repr, case))})"
    lines = [] if mistake is None else [f"likely cause: {mistake}"]
    found = "the input that fails:" if _has_ended(own) else "the smallest input found that fails:"
    lines += [found, f"    {call}", f"expected: {_shown(expected)}"]
    if own.error is None:
        problem = f"{call} is {_shown(own.value)}, and should be {_shown(expected)}"
        lines.append(f"found:    {_shown(own.value)}")
    else:
        problem = f"{call}: {own.error.problem}"
        lines.append(f"found:    {own.error.problem}")
        lines += own.error.details.splitlines()
    return CheckFailedError(problem, "\n".join(lines))


def _shown(value: Any) -> str:
    """Return a value with as many digits as a reader needs, up to a length."""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        text = f"[{', '.join(map(_shown, value[:_MAX_SHOWN]))}]"
    else:
        text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]} ..."


def scores_of(submission: Submission, dataset: Dataset) -> list[list[float]]:
    """Return the scores of the student's solver; if it raises an error, show the shortest question that has it.

    Parameters
    ----------
    submission : Submission
    dataset : Dataset
        It is shown, so it must not be hidden.

    Raises
    ------
    CheckFailedError
        With the question, the traceback and what was printed.
    SubmissionError
        No single question has the error, or the process has ended.
    """
    try:
        return submission.score(dataset)
    except SubmissionError as error:
        if error.is_final:
            raise
        deadline = time.monotonic() + _MAX_SECONDS
        for question in sorted(dataset, key=lambda own: len(own.passage.text) + len(own.query)):
            try:
                submission.score(replace(dataset, questions=[question]))
            except SubmissionError as own:
                raise CheckFailedError(own.problem, "\n".join([own.details, *question_lines(question)])) from None
            if time.monotonic() > deadline:
                break
        raise


def question_lines(question: Question) -> list[str]:
    """Return a question for the details of a check that failed."""
    options = [candidate.text for candidate in question.candidates]
    return [f"passage: {question.passage.text!r}", f"question: {question.query!r}", f"options: {options}"]


def questions_lost(submission: Submission, reference: str, assignment: str = DEFAULT_ASSIGNMENT) -> str:
    """Return the first questions that the student's solver loses to one of the package, and how to explain them.

    Of a teacher's hidden questions it returns the number only.

    Parameters
    ----------
    submission : Submission
        With questions of a choice.
    reference : str
        A solver such as ``sliding-window``.
    assignment : str
        The name of the assignment that makes the questions.

    Returns
    -------
    str
        Lines for the student; empty if no question is lost.
    """
    questions = submission.questions
    assert questions is not None
    scores = submission.score(questions)
    own = question_statistics(questions, Scores.from_lists(scores))
    other = reference_statistics(reference, questions, submission.train)
    lost = np.flatnonzero(own[:, 0] < other[:, 0]).tolist()
    if not lost:
        return ""
    count = f"questions that {reference} has and yours has not, or less of: {len(lost)} of {len(questions)}"
    if submission.is_hidden:
        return count
    lines = [f"{count}; the first:"]
    for i in lost[:_N_LOST]:
        lines += [f"{questions[i].id}: {questions[i].query}", *_options(questions, i, scores[i])]
    file, name = shlex.quote(submission.sandbox.main), questions[lost[0]].id
    lines += [
        "to see why, write the questions of this grading into a file, and explain one of them:",
        f"    classic-rc grade --assignment {assignment} --seed {submission.seed} --questions questions.jsonl",
        f"    classic-rc explain questions.jsonl {name} -s {file}:{submission.solver_name}",
        f"    classic-rc explain questions.jsonl {name} -s {reference}",
    ]
    return "\n".join(lines)


def _options(questions: Dataset, index: int, scores: Sequence[float]) -> Iterator[str]:
    question = questions[index]
    for i, (candidate, score) in enumerate(zip(question.candidates, scores, strict=True)):
        mark = "right" if i in (question.gold or ()) else ""
        yield f"    {mark:5} {score:10.4f}  {candidate.text}"
