"""How far a learner's result moves if the options of each question come in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.registry import primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Question

if TYPE_CHECKING:
    from classic_rc.evaluation.fitted_system import FittedSystem, QuestionBlock

N_ORDERS = 5
"""The number of orders that are drawn, with the seeds 0 to 4. The given order is one more."""

_N_TRIED = 200
"""A solver whose scores of this many questions do not depend on the order is not asked about the others."""

_ROUNDING = 1e-9
"""Sums in another order differ by less."""


def reorder_options(questions: Sequence[Question], seed: int) -> tuple[list[Question], NDArray[np.int64]]:
    """Return the questions with their options in a drawn order and without gold, and where each option was.

    Parameters
    ----------
    questions : sequence of Question
    seed : int

    Returns
    -------
    copies : list of Question
    places : ndarray of int64, shape (n_candidates,)
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


def range_over_orders(system: FittedSystem, block: QuestionBlock, scores: Scores) -> tuple[float, float] | None:
    """Return the lowest and the highest result over the given order of the options and :data:`N_ORDERS` others.

    Parameters
    ----------
    system : FittedSystem
        It has answered the block, which is the whole dataset.
    block : QuestionBlock
    scores : Scores
        The system's scores of the block.

    Returns
    -------
    tuple of float, or None
        In the task's primary metric. None if the scores do not depend on the order.
    """

    def score(index: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
        copies, places = reorder_options([block.questions[i] for i in index.tolist()], seed)
        values = np.empty(len(places))
        values[places] = system.score_again(block._replace(places=block.places[index], questions=copies)).values
        return values

    tried = np.unique(np.linspace(0, len(scores) - 1, _N_TRIED).round().astype(np.int64))
    if np.allclose(score(tried, 0), scores.take(tried).values, rtol=_ROUNDING, atol=_ROUNDING):
        return None
    metric = primary_metric(block.questions[0].task)
    everything = np.arange(len(scores))
    orders = [scores, *(replace(scores, values=score(everything, seed)) for seed in range(N_ORDERS))]
    results = [metric(block.questions, system.decide_for_copy(block, own)) for own in orders]
    return min(results), max(results)
