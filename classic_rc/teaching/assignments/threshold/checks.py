"""A threshold tuned on train and measured on test, compared with the definition; peeking is found."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from classic_rc.teaching.assignment import Submission, check
from classic_rc.teaching.feedback import compare_function, own_function

TITLE = "A threshold without peeking"
MAIN = TEMPLATE = "my_threshold.py"

Questions = list[list[list[Any]]]
"""Scores and labels of each question."""


@check(points=3)
def check_f1s(submission: Submission) -> None:
    """f1 is right."""
    compare_function(
        submission, "f1", _f1_cases(submission.seed), right_f1, mistakes=_F1_MISTAKES, simplify=simpler
    )


@check(points=3)
def check_thresholds(submission: Submission) -> None:
    """tune finds the best threshold where all scores differ and one is best."""
    measure = _own_f1(submission)
    _compare_thresholds(submission, measure, _draw(submission.seed), where=partial(_has_one_best, measure=measure))


@check(points=2, needs="thresholds")
def check_all_thresholds(submission: Submission) -> None:
    """tune is right for equal scores, equally good thresholds, and questions without a right option."""
    _compare_thresholds(submission, _own_f1(submission), _draw(submission.seed, rounded=True))


def _compare_thresholds(
    submission: Submission,
    measure: Callable[[Questions, float], float],
    drawn: list[Questions],
    where: Callable[..., bool] | None = None,
) -> None:
    cases, right = [(questions,) for questions in drawn], partial(_tune, measure=measure)
    compare_function(submission, "tune", cases, right, where=where, mistakes=_TUNE_MISTAKES, simplify=simpler)


@check(points=2)
def check_no_peeking(submission: Submission) -> None:
    """evaluate tunes on train and measures on test."""
    drawn = _draw(submission.seed)
    cases = list(zip(drawn[::2], drawn[1::2], strict=False))
    measure = _own_f1(submission)
    cuts = [(questions,) for questions in drawn]
    tune = own_function(submission, "tune", cuts, partial(_tune, measure=measure), _TUNE_MISTAKES)
    parts = tune, measure
    mistakes = {told: partial(_peek, *parts, *which) for told, which in _PEEKING.items()}
    right = partial(_peek, *parts, "train", "test")
    compare_function(submission, "evaluate", cases, right, mistakes=mistakes, simplify=simpler)


def _f1_cases(seed: int) -> list[tuple[Questions, float]]:
    rng = random.Random(f"f1 {seed}")
    return [(questions, _draw_threshold(rng, questions)) for questions in _draw(seed, rounded=True)]


def _own_f1(submission: Submission) -> Callable[[Questions, float], float]:
    return own_function(submission, "f1", _f1_cases(submission.seed), right_f1, _CARRIED)


def _draw(seed: int, *, rounded: bool = False) -> list[Questions]:
    """Return sets of questions whose right options have somewhat higher scores."""
    rng = random.Random(f"threshold {seed}")
    found: list[Questions] = []
    for _ in range(80):
        questions: Questions = []
        for _ in range(rng.randint(1, 5)):
            labels = [int(rng.random() < 0.5) for _ in range(rng.randint(1, 4))]
            scores = [rng.gauss(label / 2, 0.7) for label in labels]
            questions.append([[round(score, 1 if rounded else 3) for score in scores], labels])
        found.append(questions)
    edges: list[Questions] = [[[[0.5], [0]]], [[[0.5], [1]]], [[[0.5, 0.5], [0, 1]]], [[[1.0, 2.0], [0, 0]]]]
    return found + (edges if rounded else [])


def _draw_threshold(rng: random.Random, questions: Questions) -> float:
    scores = [score for scores, _ in questions for score in scores]
    return rng.choice((rng.choice(scores), round(rng.gauss(0.2, 0.5), 2), max(scores), min(scores) - 1))


def _check_questions(questions: Questions) -> None:
    shapes = [(len(scores), len(labels)) for scores, labels in questions]
    if not shapes or any(n != m or not n for n, m in shapes):
        raise ValueError("a question has scores and as many labels")
    if any(label not in (0, 1) for _, labels in questions for label in labels):
        raise ValueError("a label is 0 or 1")


def simpler(case: tuple[Any, ...]) -> Any:
    """Yield calls with one question or one option less, or with one simpler score."""
    for i, argument in enumerate(case):
        if not isinstance(argument, list):
            continue
        for j, (scores, labels) in enumerate(argument):
            shorter = [
                [[*scores[:k], *scores[k + 1 :]], [*labels[:k], *labels[k + 1 :]]] for k in range(len(scores))
            ]
            rounded = [
                [[*scores[:k], value, *scores[k + 1 :]], labels]
                for k, score in enumerate(scores)
                for value in (0.0, 1.0, 2.0, float(round(score)), round(score, 1), abs(score))
            ]
            flipped = [[scores, [*labels[:k], 0, *labels[k + 1 :]]] for k, label in enumerate(labels) if label]
            yield (*case[:i], argument[:j] + argument[j + 1 :], *case[i + 1 :])
            for own in (*shorter, *flipped, *rounded):
                yield (*case[:i], [*argument[:j], own, *argument[j + 1 :]], *case[i + 1 :])


def _f1(
    questions: Questions,
    threshold: float,
    *,
    includes_equal: bool = False,
    nothing: float = 1.0,
    wrong: str = "",
) -> float:
    """Return F1 of all options; each keyword is a mistake that a student may make."""
    if wrong == "mean over questions":
        return sum(_f1([own], threshold) for own in questions) / len(questions)
    options = [(score, label) for scores, labels in questions for score, label in zip(scores, labels, strict=True)]
    chosen = [label for score, label in options if score > threshold or (includes_equal and score == threshold)]
    tp, n_right = sum(chosen), sum(label for _, label in options)
    if wrong == "accuracy":
        return (tp + len(options) - len(chosen) - (n_right - tp)) / len(options)
    if wrong == "precision":
        return tp / len(chosen) if chosen else nothing
    return 2 * tp / (len(chosen) + n_right) if len(chosen) + n_right else nothing


def right_f1(questions: Questions, threshold: float) -> float:
    """Return F1a, as a fraction."""
    _check_questions(questions)
    return _f1(questions, threshold)


_F1_MISTAKES = {
    "the mean of the questions' F1 (F1m); count over all options of all questions (F1a)": partial(
        _f1, wrong="mean over questions"
    ),
    "an option whose score equals the threshold is selected; it must be above": partial(_f1, includes_equal=True),
    "0 if nothing is selected and nothing is right; it must be 1": partial(_f1, nothing=0.0),
    "accuracy of the labels instead of F1": partial(_f1, wrong="accuracy"),
    "precision instead of F1": partial(_f1, wrong="precision"),
}
_CARRIED = {told: variant for told, variant in _F1_MISTAKES.items() if told != "precision instead of F1"}
"""The mistakes that tune may be built on. Precision is best at the highest score: nothing would be left to tune."""


def _cuts(questions: Questions) -> list[float]:
    """Return the thresholds to try, the highest first."""
    falling = sorted({score for scores, _ in questions for score in scores}, reverse=True)
    middles = [(upper + lower) / 2 for upper, lower in zip(falling, falling[1:], strict=False)]
    return [falling[0], *middles, falling[-1] - 1]


def _tune(
    questions: Questions,
    *,
    measure: Callable[[Questions, float], float] = _f1,
    cuts: Callable[[Questions], list[float]] = _cuts,
    lowest: bool = False,
) -> float:
    """Return the best threshold; each keyword is a mistake that a student may make."""
    _check_questions(questions)
    values = {cut: measure(questions, cut) for cut in cuts(questions)}
    best = [cut for cut, value in values.items() if value >= max(values.values()) - 1e-12]
    return min(best) if lowest else max(best)


def _has_one_best(questions: Questions, measure: Callable[[Questions, float], float]) -> bool:
    scores = [score for scores, _ in questions for score in scores]
    highest, lowest = (_tune(questions, measure=measure, lowest=lowest) for lowest in (False, True))
    return len(set(scores)) == len(scores) > 1 and highest == lowest


def _scores(questions: Questions) -> list[float]:
    return sorted({score for scores, _ in questions for score in scores}, reverse=True)


_TUNE_MISTAKES = {
    "of equally good thresholds you take the lowest; take the highest": partial(_tune, lowest=True),
    "you try the scores themselves; try the middles between them": partial(_tune, cuts=_scores),
    "the threshold below all scores is missing": partial(_tune, cuts=lambda questions: _cuts(questions)[:-1]),
    "the highest score is missing among the thresholds": partial(
        _tune, cuts=lambda questions: _cuts(questions)[1:]
    ),
    "the threshold is tuned for accuracy; tune it for F1": partial(_tune, measure=partial(_f1, wrong="accuracy")),
    "the threshold is tuned for the mean of the questions' F1 (F1m)": partial(
        _tune, measure=partial(_f1, wrong="mean over questions")
    ),
}


def _peek(
    tune: Callable[[Questions], float],
    measure: Callable[[Questions, float], float],
    tuned_on: str,
    measured_on: str,
    train: Questions,
    test: Questions,
) -> list[float]:
    """Return the threshold and F1 of an evaluation that may look at what it must not."""
    _check_questions(test)
    parts = {"train": train, "test": test, "both": train + test}
    threshold = tune(parts[tuned_on.partition(", ")[0]])
    value = measure(parts[measured_on], tune(test) if tuned_on.endswith("peeks") else threshold)
    return [threshold, value]


_PEEKING = {
    "the threshold is tuned on the test questions: that is peeking": ("test", "test"),
    "the threshold is tuned on train and test together: that is peeking": ("both", "test"),
    "F1 is that of the threshold tuned on the test questions: that is peeking": ("train, peeks", "test"),
    "F1 is measured on train; measure it on test": ("train", "train"),
    "F1 is measured on train and test together; measure it on test": ("train", "both"),
    "train and test are exchanged": ("test", "train"),
}
