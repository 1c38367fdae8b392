"""Ties and partial credit, compared with their definitions on random scores."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from classic_rc.teaching.assignment import Submission, check
from classic_rc.teaching.feedback import compare_function

TITLE = "Ties and partial credit"
MAIN = TEMPLATE = "my_ties.py"

_TOLERANCE = 1e-9
_Scores = list[float]
_Best = Callable[[_Scores], list[int]]


@check(points=1)
def check_clear_winners(submission: Submission) -> None:
    """best is right where one option is far ahead."""
    cases = [(scores,) for scores in _draw_scores(submission.seed)]
    compare_function(submission, "best", cases, right_best, where=_has_winner, mistakes=_BEST_MISTAKES)


@check(points=3, needs="clear_winners")
def check_ties(submission: Submission) -> None:
    """best is right for exact and near ties, negative scores and a single option."""
    cases = [(scores,) for scores in _draw_scores(submission.seed)]
    compare_function(submission, "best", cases, right_best, mistakes=_BEST_MISTAKES)


@check(points=3)
def check_partial_credit(submission: Submission) -> None:
    """credit is right for clear winners and exact ties."""
    cases = [tuple(question) for question in _draw_questions(submission.seed, 120)]
    compare_function(submission, "credit", cases, right_credit, mistakes=_CREDIT_MISTAKES)


@check(points=1)
def check_accuracies(submission: Submission) -> None:
    """accuracy is right under the policy partial."""
    _compare_accuracies(submission, ["partial"])


@check(points=2, needs="accuracies")
def check_policies(submission: Submission) -> None:
    """accuracy is right under the policies partial, first and strict."""
    _compare_accuracies(submission, ["partial", "first", "strict"])


def _compare_accuracies(submission: Submission, policies: list[str]) -> None:
    rng = random.Random(f"accuracies {submission.seed}")
    questions = _draw_questions(submission.seed, 200)
    cases = [(rng.sample(questions, rng.randint(1, 6)), rng.choice(policies)) for _ in range(80)]
    compare_function(submission, "accuracy", cases, right_accuracy, mistakes=_ACCURACY_MISTAKES)


def _draw_scores(seed: int) -> list[_Scores]:
    """Return scores with clear winners, exact ties, and differences about as large as the tolerance."""
    rng = random.Random(f"ties {seed}")
    found: list[_Scores] = [[0.1 + 0.2, 0.3, 0.0], [7.0], [-0.0, 0.0], [0.0] * 4, [-5.0, -5.0 - 5e-9, -6.0]]
    for _ in range(100):
        base = rng.choice((-300.0, -1.0, 0.0, 2.0, 300.0))
        step = rng.choice((1.0, 1.0, 0.8e-9, 1e-12))
        found.append([base - step * rng.randint(0, 3) for _ in range(rng.randint(1, 5))])
    return found


def _draw_questions(seed: int, n: int) -> list[list[Any]]:
    rng = random.Random(f"questions {seed}")
    found: list[list[Any]] = [[[1.0], 0], [[0.0] * 4, 3]]
    for _ in range(n - len(found)):
        scores = [float(rng.randint(-2, 1)) for _ in range(rng.randint(1, 5))]
        found.append([scores, rng.randrange(len(scores))])
    return found


def _has_winner(scores: _Scores) -> bool:
    falling = sorted(scores, reverse=True)
    return len(scores) > 1 and falling[0] - falling[1] > 0.1


def right_best(scores: _Scores, tolerance: float = _TOLERANCE) -> list[int]:
    """Return the positions of the scores at most `tolerance` below the best one."""
    if not scores:
        raise ValueError("a question has an option")
    return [i for i, score in enumerate(scores) if max(scores) - score <= tolerance]


def right_credit(scores: _Scores, gold: int) -> float:
    """Return 1/k if gold is among the k best."""
    found = _exact_best(scores, gold)
    return (gold in found) / len(found)


def right_accuracy(questions: list[list[Any]], policy: str) -> float:
    """Return the mean credit under a policy."""
    if policy not in _POLICIES:
        raise ValueError("no policy")
    return sum(_POLICIES[policy](*question) for question in questions) / len(questions)


def _exact_best(scores: _Scores, gold: int) -> list[int]:
    """Return the best positions; near ties are what another check is about."""
    found = right_best(scores)
    if not 0 <= gold < len(scores) or found != right_best(scores, 0.0):
        raise ValueError("not what this check is about")
    return found


def _first(scores: _Scores, gold: int) -> float:
    return float(_exact_best(scores, gold)[0] == gold)


def _last(scores: _Scores, gold: int) -> float:
    return float(_exact_best(scores, gold)[-1] == gold)


def _strict(scores: _Scores, gold: int) -> float:
    return float(_exact_best(scores, gold) == [gold])


def _generous(scores: _Scores, gold: int) -> float:
    return float(gold in _exact_best(scores, gold))


def _of_options(scores: _Scores, gold: int) -> float:
    found = _exact_best(scores, gold)
    return (gold in found) / (1 if len(found) == 1 else len(scores))


_POLICIES = {"partial": right_credit, "first": _first, "strict": _strict}


def _linked(scores: _Scores) -> list[int]:
    """Return what ties with a score that ties: the tolerance from neighbour to neighbour."""
    lowest = max(scores)
    for score in sorted(scores, reverse=True):
        if lowest - score <= _TOLERANCE:
            lowest = score
    return [i for i, score in enumerate(scores) if score >= lowest]


_BEST_MISTAKES: dict[str, _Best] = {
    "only equal scores tie; scores at most 1e-9 below the best must tie too": partial(right_best, tolerance=0.0),
    "only the first of the best options": lambda scores: [scores.index(max(scores))],
    "only the last of the best options": lambda scores: right_best(scores, 0.0)[-1:],
    "the options with the lowest score": lambda scores: right_best([-score for score in scores]),
    "positions count from 0": lambda scores: [i + 1 for i in right_best(scores)],
    "the tolerance goes from neighbour to neighbour; measure it from the highest score": _linked,
    "the tolerance is relative; it must be 1e-9 for large scores too": lambda scores: right_best(
        scores, 1e-9 * abs(max(scores))
    ),
    "the tolerance is relative, and negative scores lose it": lambda scores: [
        i for i, score in enumerate(scores) if score >= max(scores) * (1 - 1e-9)
    ],
    "rounding is no tolerance: close scores may round to different numbers": lambda scores: [
        i for i, score in enumerate(scores) if round(score, 9) == round(max(scores), 9)
    ],
}
_CREDIT_MISTAKES = {
    "the first of the tied options gets all; the k tied ones must share": _first,
    "the last of the tied options gets all; the k tied ones must share": _last,
    "a tie gets 0; the right option must get 1/k": _strict,
    "a tie with the right option gets 1; it must get 1/k": _generous,
    "1/k is over all options; k is the number of tied ones": _of_options,
}


def _mistaken(partial_credit: Any = right_credit, first: Any = _first, strict: Any = _strict) -> Any:
    """Return accuracy with another rule for one of the policies."""
    policies = {"partial": partial_credit, "first": first, "strict": strict}
    return lambda questions, policy: sum(policies[policy](*own) for own in questions) / len(questions)


def _decided_only(questions: list[list[Any]], policy: str) -> float:
    decided = [own for own in questions if len(_exact_best(*own)) == 1] if policy == "strict" else questions
    return right_accuracy(decided, policy) if decided else 0.0


_ACCURACY_MISTAKES = {
    "under partial, a tie with the right option gets 1; it must get 1/k": _mistaken(partial_credit=_generous),
    "under partial, a tie gets 0": _mistaken(partial_credit=_strict),
    "under partial, the first of the tied options gets all": _mistaken(partial_credit=_first),
    "under first, any tied option is right; only the first is the answer": _mistaken(first=_generous),
    "under first, you take the last": _mistaken(first=_last),
    "under first, ties share as under partial": _mistaken(first=right_credit),
    "under strict, ties share as under partial; a tie must count 0": _mistaken(strict=right_credit),
    "under strict, questions with ties are left out; they must count 0": _decided_only,
    "all policies give the same": lambda questions, policy: right_accuracy(questions, "partial"),
    "the sum instead of the mean": lambda questions, policy: right_accuracy(questions, policy) * len(questions),
    "percent instead of a number from 0 to 1": lambda questions, policy: 100 * right_accuracy(questions, policy),
}
