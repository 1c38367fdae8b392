"""Exact match and F1: SQuAD's, which ReCoRD uses too, those of every other scorer, and SQuAD 2.0's
for questions with and without an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import NO_ANSWER, Metric, TextMetric, gold_of
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task
from classic_rc.text.scorers import SCORERS, Scorer

_PAPER = (
    "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 6.1, as in the evaluation script "
    "v1.1; the evaluation script of ReCoRD (Zhang et al. 2018); without an answer: Rajpurkar, Jia "
    "and Liang 2018, as in the evaluation script v2.0"
)
_PAPER_2 = (
    "Rajpurkar, Jia and Liang 2018, Know What You Don't Know, as in the evaluation script v2.0"
)
_TASKS = frozenset({Task.CLOZE, Task.SPAN})
_SQUAD = SCORERS["squad"]


def compare_exactly(scorer: Scorer, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return which texts are equal for a scorer, shape (n_texts, n_texts)."""
    numbers = _numbers(scorer.normalise(text) for text in texts)
    return (numbers[:, None] == numbers).astype(np.float64)


def compare_f1(scorer: Scorer, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return a scorer's F1 of each text if each text were gold, shape (n_texts, n_texts)."""
    if not scorer.counts_bags:
        return np.array([[scorer.f1((gold,), text) for gold in texts] for text in texts])
    units = list(map(scorer.cut, texts))
    lengths = np.array(list(map(len, units)), dtype=np.int64)
    numbers = _numbers(chain.from_iterable(units))
    n_units = numbers.max(initial=-1) + 1
    counts = np.zeros((len(texts), n_units), dtype=np.int64)
    text_of_unit = np.repeat(np.arange(len(texts)), lengths)
    np.add.at(counts, (text_of_unit, numbers), 1)
    shared = np.minimum(counts[:, None], counts).sum(axis=2)
    totals = lengths[:, None] + lengths
    f1 = 2 * shared / np.maximum(totals, 1)
    return np.where(totals > 0, f1, float(scorer.empty))


def _numbers(texts: Iterable[str]) -> NDArray[np.int64]:
    """Return a number for each text, the same for equal ones."""
    number_of: dict[str, int] = {}
    return np.array([number_of.setdefault(text, len(number_of)) for text in texts], dtype=np.int64)


class ScorerMetric(TextMetric):
    """A number of a scorer of span questions: exact match or F1, the best over the gold texts.

    Parameters
    ----------
    scorer : Scorer
    is_f1 : bool
    """

    tasks = frozenset({Task.SPAN})

    def __init__(self, scorer: Scorer, is_f1: bool) -> None:
        self._measure = scorer.f1 if is_f1 else scorer.exact_match
        self.compare = partial(compare_f1 if is_f1 else compare_exactly, scorer)  # type: ignore[method-assign]
        self.name, self.label = [*scorer.labels.items()][is_f1]  # type: ignore[misc]
        self.description = (  # type: ignore[misc]
            f"mean F1 of {scorer.name}: {scorer.about}"
            if is_f1
            else f"share of questions answered exactly, as {scorer.name} normalises"
        )
        self.citation = scorer.source  # type: ignore[misc]
        self.cites = scorer.cites  # type: ignore[misc]

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return the scorer's number of an answer; 0 unless the answer is one text."""
        return self._measure(gold, *answer) if len(answer) == 1 else 0.0


def __getattr__(name: str) -> ScorerMetric:
    """Return the metric of a scorer, such as ``klue_f1``."""
    scorer, _, kind = name.rpartition("_")
    if scorer in SCORERS and kind in ("em", "f1"):
        return ScorerMetric(SCORERS[scorer], kind == "f1")
    raise AttributeError(name)


class ExactMatch(TextMetric):
    """The share of questions whose answer equals an accepted text after normalisation."""

    name = "em"
    label = "EM"
    description = "share of questions whose normalised answer equals an accepted text"
    citation = _PAPER
    cites = ("rajpurkar2016", "zhang2018", "rajpurkar2018")
    tasks = _TASKS
    compare = partial(compare_exactly, _SQUAD)

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return 1 if the answer is one text and equals any text of `gold`; else 0."""
        return _SQUAD.exact_match(gold, *answer) if len(answer) == 1 else 0.0


class F1(TextMetric):
    """The mean over questions of the answer's best word F1 with an accepted text.

    Words come from the normalised texts, as multisets. An answer that shares no word with a text
    scores 0 against it, even if nothing is left of either, as in the scripts of SQuAD 1.1 and
    ReCoRD. Where the empty text is accepted, an empty prediction scores 1: in SQuAD 2.0 for
    questions without an answer, and for those whose accepted texts all normalise to nothing (the
    reader adds the empty text to these).
    """

    name = "f1"
    label = "F1"
    description = "mean word F1 of the normalised answer with the best-matching accepted text"
    citation = _PAPER
    cites = ("rajpurkar2016", "zhang2018", "rajpurkar2018")
    tasks = _TASKS
    compare = partial(compare_f1, _SQUAD)

    def value(self, gold: tuple[str, ...], answer: tuple[str, ...]) -> float:
        """Return the answer's best F1 with a text of `gold`, in 0..1; 0 unless the answer is one
        text.
        """
        if len(answer) != 1:
            return 0.0
        if "" in gold and not _SQUAD.normalise(*answer):
            return 1.0
        return _SQUAD.f1(gold, *answer)


class _OfPart(Metric):
    """A metric over the questions that have an answer, or over those that have none; 0 if there
    are none.
    """

    citation = _PAPER_2
    cites = ("rajpurkar2018",)
    tasks = frozenset({Task.SPAN})
    needs_unanswerable = True
    measure: ClassVar[TextMetric]
    has_answer: ClassVar[bool]

    def statistics(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> NDArray[np.float64]:
        """Return each question's value (0 outside the part) and whether it is inside, shape
        (n_questions, 2).
        """
        inside = np.array(
            [(gold_of(question) != NO_ANSWER) == self.has_answer for question in questions]
        )
        values = self.measure.statistics(questions, predictions)[:, 0]
        return np.stack((values * inside, inside), axis=1)

    def from_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean value over the part."""
        shares = means[..., 1]
        return np.divide(means[..., 0], shares, out=np.zeros_like(shares), where=shares > 0)


class HasAnswerExactMatch(_OfPart):
    """The exact match over questions that have an answer."""

    name = "has_ans_em"
    label = "HasAns EM"
    description = "exact match over questions that have an answer"
    measure = ExactMatch()
    has_answer = True


class HasAnswerF1(_OfPart):
    """The F1 over questions that have an answer."""

    name = "has_ans_f1"
    label = "HasAns F1"
    description = "mean word F1 over questions that have an answer"
    measure = F1()
    has_answer = True


class NoAnswerExactMatch(_OfPart):
    """The share of questions without an answer that are left unanswered."""

    name = "no_ans_em"
    label = "NoAns EM"
    description = "share of questions without an answer whose prediction is empty"
    measure = ExactMatch()
    has_answer = False


class NoAnswerF1(_OfPart):
    """The F1 over questions without an answer, which equals their exact match."""

    name = "no_ans_f1"
    label = "NoAns F1"
    description = "word F1 over questions without an answer: 1 for an empty prediction"
    measure = F1()
    has_answer = False
