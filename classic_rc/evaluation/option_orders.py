"""How far a learner's result moves if the options of each question come in another order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.base import primary_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question

N_ORDERS = 5
"""The number of orders that are drawn, with the seeds 0 to 4. The given order is one more."""

_N_TRIED = 200
"""A solver whose scores of this many questions do not depend on the order is not asked about the others."""

_ROUNDING = 1e-9
"""Sums in another order differ by less."""


def reorder_options(questions: Sequence[Question], seed: int) -> tuple[list[Question], NDArray[np.int64]]:
    """Return the questions with their options in a drawn order and without gold, and where each option was.

    Option i of all copies is option ``places[i]`` of all questions.
    """
    sizes = np.array([len(question.candidates) for question in questions], dtype=np.int64)
    draws = uniform_draws(text_keys(question.id for question in questions), sizes, seed)
    places = np.lexsort((draws, np.repeat(np.arange(len(sizes)), sizes)))
    copies = []
    for question, start, size in zip(questions, offsets_of(sizes).tolist(), sizes.tolist(), strict=False):
        order = (places[start : start + size] - start).tolist()
        copies.append(replace(question, candidates=tuple(question.candidates[i] for i in order), gold=None))
    return copies, places


def range_over_orders(
    questions: Sequence[Question],
    scores: Scores,
    score_reordered: Callable[[NDArray[np.int64], int], NDArray[np.float64]],
    decide: Callable[[Scores], Sequence[Prediction]],
) -> tuple[float, float] | None:
    """Return the lowest and the highest result over the given order of the options and :data:`N_ORDERS` others.

    It is in the task's primary metric; None if the scores do not depend on the order. `score_reordered` takes the
    positions of some questions and the seed of an order, and returns the scores that their options have in that
    order, flat, with the options in the given order.
    """
    tried = np.unique(np.linspace(0, len(scores) - 1, _N_TRIED).round().astype(np.int64))
    if np.allclose(score_reordered(tried, 0), scores.take(tried).values, rtol=_ROUNDING, atol=_ROUNDING):
        return None
    metric, everything = primary_metric(questions[0].task), np.arange(len(scores))
    orders = [scores, *(replace(scores, values=score_reordered(everything, seed)) for seed in range(N_ORDERS))]
    results = [metric(questions, decide(own)) for own in orders]
    return min(results), max(results)
