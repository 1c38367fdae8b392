"""SQuAD v1.1's exact match and F1, which ReCoRD uses too."""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import lru_cache

from classic_rc.metrics.base import TextMetric
from classic_rc.questions import Task

_PAPER = (
    "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 6.1, as in the evaluation script v1.1; "
    "the evaluation script of ReCoRD (Zhang et al. 2018)"
)
_TASKS = frozenset({Task.CLOZE, Task.SPAN})
PUNCTUATION = str.maketrans("", "", string.punctuation)
"""The translation that deletes ASCII punctuation."""

ARTICLE = re.compile(r"\b(?:a|an|the)\b")
"""An English article."""

# A solver's tied answers are mostly spans of one passage, so caches for the spans of a few passages are enough.
CACHED_TEXTS = 1 << 14


@lru_cache(maxsize=CACHED_TEXTS)
def normalise_squad_answer(text: str) -> str:
    """Return the text lower-cased, without ASCII punctuation and English articles, with single spaces.

    Examples
    --------
    >>> normalise_squad_answer("The  Owl's nest!")
    'owls nest'
    """
    return " ".join(ARTICLE.sub(" ", text.lower().translate(PUNCTUATION)).split())


class ExactMatch(TextMetric):
    """The share of questions whose answer equals an accepted text after normalisation."""

    name = "em"
    label = "EM"
    description = "share of questions whose normalised answer equals an accepted text"
    citation = _PAPER
    cites = ("rajpurkar2016", "zhang2018")
    tasks = _TASKS

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return 1 if the answer is one text and equals any text of `gold`; else 0."""
        return float(len(answer) == 1 and normalise_squad_answer(*answer) in _accepted(gold))


class F1(TextMetric):
    """The mean over questions of the answer's best word F1 with an accepted text.

    Words are those of the normalised texts, as multisets. An answer that shares no word with a text scores 0
    against it, even if both are empty.
    """

    name = "f1"
    label = "F1"
    description = "mean word F1 of the normalised answer with the best-matching accepted text"
    citation = _PAPER
    cites = ("rajpurkar2016", "zhang2018")
    tasks = _TASKS

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return the answer's best F1 with a text of `gold`, in 0..1; 0 unless the answer is one text."""
        if len(answer) != 1:
            return 0.0
        words = normalise_squad_answer(*answer).split()
        if _all_words(gold).isdisjoint(words):  # true for most spans of a passage
            return 0.0
        return max(_f1(Counter(words), Counter(text.split())) for text in _accepted(gold))


@lru_cache(maxsize=128)
def _accepted(gold: tuple[str, ...]) -> frozenset[str]:
    """Return the distinct normalised accepted texts: ReCoRD lists one for each mention."""
    return frozenset(map(normalise_squad_answer, gold))


@lru_cache(maxsize=128)
def _all_words(gold: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in _accepted(gold) for word in text.split())


def _f1(predicted: Counter[str], gold: Counter[str]) -> float:
    shared = (predicted & gold).total()
    if not shared:
        return 0.0
    precision, recall = shared / predicted.total(), shared / gold.total()
    return 2 * precision * recall / (precision + recall)
