"""Quoref's exact match and F1 for answers of several spans."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from classic_rc.metrics.base import TextMetric
from classic_rc.questions import Task
from classic_rc.text.squad import ARTICLE, CACHED_TEXTS, PUNCTUATION

_PAPER = (
    "Dasigi, Liu, Marasović, Smith and Gardner 2019, Quoref, as in the evaluator of "
    "allennlp-reading-comprehension, which follows DROP's (Dua et al. 2019)"
)
_TASKS = frozenset({Task.MULTI_SPAN})


class QuorefExactMatch(TextMetric):
    """The share of questions whose spans equal the gold spans: the same number and set of
    normalised texts.
    """

    name = "quoref_em"
    label = "EM"
    description = "share of questions whose normalised spans are exactly the gold spans"
    citation = _PAPER
    cites = ("dasigi2019", "dua2019")
    tasks = _TASKS

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return 1 if `answer` has as many texts as `gold` and, normalised, the same ones; else
        0.
        """
        if len(answer) != len(gold) or not _is_answerable(gold):
            return 0.0
        return float(
            set(map(normalise_quoref_answer, answer)) == set(map(normalise_quoref_answer, gold))
        )


class QuorefF1(TextMetric):
    """The mean over questions of the F1 of their spans, each paired with at most one gold span.

    The pairing has the greatest total F1. A question's F1 is that total divided by the larger
    number of spans, rounded to two decimals as in the official evaluator. A pair's F1 compares the
    two sets of words. It is 0 if the gold span has numbers and the predicted span has none of them.
    """

    name = "quoref_f1"
    label = "F1"
    description = (
        "mean over questions of the F1 of optimally paired spans, rounded to two decimals per "
        "question"
    )
    citation = _PAPER
    cites = ("dasigi2019", "dua2019")
    tasks = _TASKS

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return the F1 of the texts of `answer` with those of `gold`, in 0..1 in steps of 0.01."""
        bags = list(map(_words, answer))
        if all(map(_all_words(gold).isdisjoint, bags)):  # true for most spans of a passage
            return 0.0
        pairs = [
            [_pair_f1(bag, words, numbers) for bag in bags] for words, numbers in _gold_bags(gold)
        ]
        return _round(_greatest_total(pairs) / max(len(gold), len(answer)))


@lru_cache(maxsize=CACHED_TEXTS)
def normalise_quoref_answer(text: str) -> str:
    """Return the text's words, split at spaces and hyphens, lower-cased, without punctuation and
    articles.

    A word that reads as a number keeps its punctuation and is written in decimal form.

    Examples
    --------
    >>> normalise_quoref_answer("The well-known 7 Owls, 1.50")
    'well known 7.0 owls 1.5'
    """
    return " ".join(filter(None, map(_normalise_word, text.replace("-", " ").split(" "))))


@lru_cache(maxsize=CACHED_TEXTS)
def _normalise_word(word: str) -> str:
    word = word.lower()
    if not _is_number(word):
        word = word.translate(PUNCTUATION)
    if _is_number(word):
        word = str(float(word))
    return " ".join(ARTICLE.sub(" ", word).split())


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=CACHED_TEXTS)
def _words(text: str) -> frozenset[str]:
    # A text without words counts as one empty word: two such texts match each other fully, and
    # nothing else.
    return frozenset(normalise_quoref_answer(text).split() or [""])


@lru_cache(maxsize=128)
def _all_words(gold: tuple[str, ...]) -> frozenset[str]:
    """Return the words of all gold texts, or none if no answer can score."""
    return frozenset().union(*map(_words, gold)) if _is_answerable(gold) else frozenset()


@lru_cache(maxsize=128)
def _gold_bags(gold: tuple[str, ...]) -> list[tuple[frozenset[str], frozenset[str]]]:
    """Return the words of each gold text, and those of them that are numbers."""
    return [(words, frozenset(filter(_is_number, words))) for words in map(_words, gold)]


def _is_answerable(gold: tuple[str, ...]) -> bool:
    # The evaluator gives 0 to every answer if the first gold text is blank.
    return bool(gold) and bool(gold[0].strip())


def _pair_f1(
    predicted: frozenset[str], gold: frozenset[str], gold_numbers: frozenset[str]
) -> float:
    if predicted.isdisjoint(gold_numbers or gold):
        return 0.0
    shared = len(predicted & gold)
    precision, recall = shared / len(predicted), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


def _greatest_total(pairs: list[list[float]]) -> float:
    """Return the greatest sum of entries that share no row and no column."""
    best = [max(row) for row in pairs]
    if len(pairs[0]) == 1 or sum(map(bool, best)) <= 1:
        return max(best)
    from scipy.optimize import linear_sum_assignment

    matrix = np.array(pairs)
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum())


def _round(value: float) -> float:
    # The evaluator rounds its means with NumPy: 0.015 becomes 0.02, while round(value, 2) gives
    # 0.01.
    return round(value * 100) / 100
