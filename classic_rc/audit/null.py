"""The null of partial-input checks: gold moved at random among a question's candidates, predictions as they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.base import Metric, known_gold
from classic_rc.metrics.squad import normalise
from classic_rc.predictions import Prediction
from classic_rc.questions import Gold, Question

_DRAWS_AT_A_TIME = 2**14
_MOST_MOVES = 2000
_ROUNDING = 1e-9
"""Sums of the same fractions in another order differ by less: they are equal."""


class _Lot(NamedTuple):
    """What the statistics of a question can be once its gold is moved.

    Parameters
    ----------
    rows : ndarray of float64, shape (n_outcomes, n_statistics)
        Different ones; those of all metrics side by side.
    odds : ndarray of float64, shape (n_outcomes,)
    """

    rows: NDArray[np.float64]
    odds: NDArray[np.float64]


class NullDistribution(NamedTuple):
    """What a metric is when gold says nothing about the candidates.

    Parameters
    ----------
    draws : ndarray of float64, shape (n_permutations,)
    mean : float
        The chance level.
    """

    draws: NDArray[np.float64]
    mean: float


@dataclass(frozen=True)
class Null:
    """The distribution of a dataset's statistics when gold is permuted within each question.

    Nothing is simulated candidate by candidate. Of k candidates, g of them right and s of them selected (or tied
    for the best), the number selected and right is hypergeometric, so questions with the same k, g and s are alike,
    and how many of such questions have which outcome is multinomial.

    Parameters
    ----------
    metrics : sequence of Metric
    expected : ndarray of float64, shape (n_questions, n_statistics)
        Each question's expected statistics, those of all metrics side by side.
    columns : mapping of str to slice
        Which of the columns are a metric's, by its name.
    lots : sequence of (int, _Lot)
        The different lots, each with how many questions have it.
    """

    metrics: Sequence[Metric]
    expected: NDArray[np.float64]
    columns: Mapping[str, slice]
    lots: Sequence[tuple[int, _Lot]]

    def expected_of(self, metric: Metric) -> NDArray[np.float64]:
        """A metric's columns of :attr:`expected`."""
        return self.expected[:, self.columns[metric.name]]

    def distributions(self, n: int, seed: int = 0) -> dict[str, NullDistribution]:
        """The metrics over `n` permutations of all questions' gold, by name; of all metrics the same permutations.

        A mean is that of the draws, without what the draws' statistics miss their known expectation by: for
        metrics that are linear in their statistics it is exact.
        """
        rng = np.random.Generator(np.random.PCG64(seed % 2**64))
        parts = [self._means(rng, min(_DRAWS_AT_A_TIME, n - i)) for i in range(0, n, _DRAWS_AT_A_TIME)]
        means = np.concatenate(parts)
        found = {}
        for metric in self.metrics:
            own = means[:, self.columns[metric.name]]
            draws = metric.from_means(own)
            missed = metric.from_means(own.mean(axis=0)) - metric.aggregate(self.expected_of(metric))
            found[metric.name] = NullDistribution(draws, float(draws.mean() - missed))
        return found

    def _means(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        totals = np.zeros((n, self.expected.shape[1]))
        for count, lot in self.lots:
            if len(lot.odds) == 1:
                totals += count * lot.rows[0]
            else:
                totals += rng.multinomial(count, lot.odds, size=n) @ lot.rows
        return totals / len(self.expected)


def null_of(questions: Sequence[Question], predictions: Sequence[Prediction], metrics: Sequence[Metric]) -> Null:
    """The null of predictions: every question's gold permuted among its candidates, their number kept.

    Candidates of a cloze question whose texts are equal for the metrics (case, punctuation and articles aside) are
    one candidate, and an accepted text that is no candidate's stays accepted: a question whose gold is not among
    its candidates always scores what it scored.

    Parameters
    ----------
    questions : sequence of Question
        With gold answers, of choices or cloze.
    predictions : sequence of Prediction
        Tied answers must weigh the same.
    metrics : sequence of Metric

    Raises
    ------
    UsageError
        Predictions are expectations over draws, or the questions are about spans.
    DataError
        A question's gold is hidden.
    """
    made: dict[Hashable, _Lot] = {}
    counts: dict[Hashable, int] = {}
    of_question = []
    for question, prediction in zip(questions, predictions, strict=True):
        if prediction.weights is not None or prediction.selection_probability is not None:
            raise UsageError("an expectation over draws has no null: give predictions")
        if question.task.has_spans:
            raise UsageError("spans of the passage are not candidates that gold could be moved to")
        key: Hashable
        if question.task.has_choices:
            selected = frozenset(i for answer in prediction.answers for i in answer if isinstance(i, int))
            key = (len(question.candidates), len(known_gold(question)), len(selected), len(prediction.answers))
            if key not in made:
                made[key] = _lot(question, prediction, metrics, *_choice_moves(question, selected))
        else:
            lot = _lot(question, prediction, metrics, *_text_moves(question))
            key = (lot.rows.tobytes(), lot.odds.tobytes())
            made.setdefault(key, lot)
        counts[key] = counts.get(key, 0) + 1
        of_question.append(key)
    expectations = {key: lot.odds @ lot.rows for key, lot in made.items()}
    return Null(
        tuple(metrics),
        np.array([expectations[key] for key in of_question]),
        _columns(questions[:1], predictions[:1], metrics),
        [(counts[key], made[key]) for key in counts],
    )


def p_value(observed: float, null: NullDistribution, *, doubled: bool = False) -> float:
    """How often the null reaches what was observed: (1 + how often) / (1 + how many draws).

    Parameters
    ----------
    observed : float
    null : NullDistribution
    doubled : bool
        For predictions learned out of fold. They are independent of their own fold's gold, but folds learn from
        each other: a cue that by chance deviates in all folds, in whichever direction, is turned into a gain by
        learning that direction. So there are two ways to be that far above chance, of which the null with its
        fixed predictions sees one.
    """
    p = (1 + np.count_nonzero(null.draws >= observed - _ROUNDING)) / (1 + len(null.draws))
    return float(min(1, 2 * p) if doubled else p)


def _columns(
    questions: Sequence[Question], predictions: Sequence[Prediction], metrics: Sequence[Metric]
) -> dict[str, slice]:
    widths = [metric.statistics(questions, predictions).shape[1] for metric in metrics]
    stops = list(itertools.accumulate(widths))
    return {m.name: slice(stop - w, stop) for m, w, stop in zip(metrics, widths, stops, strict=True)}


def _lot(
    question: Question,
    prediction: Prediction,
    metrics: Sequence[Metric],
    golds: Sequence[Gold],
    odds: Sequence[float],
) -> _Lot:
    """What the metrics make of one prediction for each place that gold may have moved to."""
    moved = [replace(question, gold=gold) for gold in golds]
    answers = [prediction] * len(moved)
    rows = np.hstack([metric.statistics(moved, answers) for metric in metrics]).round(12)
    different, which = np.unique(rows, axis=0, return_inverse=True)
    return _Lot(different, np.bincount(which.reshape(-1), weights=odds).astype(np.float64))


def _choice_moves(question: Question, selected: frozenset[int]) -> tuple[list[Gold], list[float]]:
    """For each number of selected options that can be right, one such gold, and how likely that number is."""
    options = range(len(question.candidates))
    inside, outside = [i for i in options if i in selected], [i for i in options if i not in selected]
    n_right = len(known_gold(question))
    golds: list[Gold] = []
    odds = []
    for tp in range(max(0, n_right - len(outside)), min(n_right, len(inside)) + 1):
        golds.append(frozenset(inside[:tp] + outside[: n_right - tp]))
        ways = math.comb(len(inside), tp) * math.comb(len(outside), n_right - tp)
        odds.append(ways / math.comb(len(options), n_right))
    return golds, odds


def _text_moves(question: Question) -> tuple[list[Gold], list[float]]:
    """Every set of different candidate texts, as many as are right, as the gold; all equally likely."""
    accepted = dict.fromkeys(known_gold(question))
    texts = {normalise(c.text): c.text for c in question.candidates}
    elsewhere = tuple(text for text in accepted if normalise(text) not in texts)
    n_right = len({normalise(text) for text in accepted} & texts.keys())
    golds: list[Gold] = [elsewhere + subset for subset in _subsets(tuple(texts.values()), n_right, question.id)]
    return golds, [1 / len(golds)] * len(golds)


def _subsets(texts: tuple[str, ...], size: int, question_id: str) -> Iterator[tuple[str, ...]]:
    """All subsets of a size; of very many, some drawn at random, always the same ones for a question."""
    if math.comb(len(texts), size) <= _MOST_MOVES:
        yield from itertools.combinations(texts, size)
        return
    counts = np.array([_MOST_MOVES * len(texts)])
    draws = uniform_draws(text_keys([question_id]), counts, 0).reshape(_MOST_MOVES, -1)
    for chosen in np.argsort(draws, axis=1)[:, :size].tolist():
        yield tuple(texts[i] for i in chosen)
