"""The learner of the span ranker: conditional logit by AdaGrad over batches of questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.solvers.spans.columns import N_COLUMNS, Asked, ColumnMaker, blocks_of
from classic_rc.solvers.spans.texts import Lexicon

# A batch is a step of the learner, so neither number may depend on how much memory there is.
_BATCH_QUESTIONS = 64
_BATCH_SIZE = 2**17


class Case(NamedTuple):
    """A training question."""

    id: str
    asked: Asked
    right: tuple[tuple[int, ...], ...]  # groups of right candidates; one of each group is enough


def learn_weights(
    cases: Sequence[Case],
    lexicon: Lexicon,
    maker: ColumnMaker,
    epochs: int,
    rate: float,
    damping: float,
    seed: int = 0,
) -> NDArray[np.float32]:
    r"""Minimise the mean over groups of right candidates of :math:`\log \sum e^s - \log \sum_{right} e^s`.

    Each epoch has its own random order of the questions, which depends on their ids and the seed only. Columns of
    features are made again for each batch, so memory does not grow with the candidates.

    Parameters
    ----------
    cases : sequence of Case
    lexicon : Lexicon
        That of their texts.
    maker : ColumnMaker
    epochs : int
    rate : float
        A step is the gradient times this, divided by the root of the sum of all squared gradients so far.
    damping : float
        The first summand of that sum.
    seed : int

    Returns
    -------
    ndarray of float32, shape (N_COLUMNS,)
    """
    weights = np.zeros(N_COLUMNS, dtype=np.float32)
    squares = np.full(N_COLUMNS, damping, dtype=np.float32)
    sums = np.zeros(N_COLUMNS)
    draws = uniform_draws(text_keys([case.id for case in cases]), np.full(len(cases), epochs), seed)
    for of_epoch in draws.reshape(len(cases), epochs).T:
        order = np.argsort(of_epoch, kind="stable").tolist()
        sizes = [cases[i].asked.size for i in order]
        for start, stop in blocks_of(sizes, _BATCH_SIZE, _BATCH_QUESTIONS):
            batch = [cases[i] for i in order[start:stop]]
            columns = maker.make([case.asked for case in batch], lexicon)
            of_scores = loss_gradient(columns.scores(weights), columns.offsets, [case.right for case in batch])
            used = columns.add_gradient(of_scores / len(batch), sums)
            step = sums[used].astype(np.float32)
            sums[used] = 0
            squares[used] += step * step
            weights[used] -= np.float32(rate) * step / np.sqrt(squares[used])
    return weights


def loss_gradient(
    scores: NDArray[np.float64], offsets: NDArray[np.int64], right: Sequence[Sequence[Sequence[int]]]
) -> NDArray[np.float64]:
    """Return the gradient of the loss by the scores.

    It is the probability of each candidate minus its share of the right ones: each group of right candidates has
    the same share, divided by their probabilities.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_candidates,)
    offsets : ndarray of int64, shape (n_questions + 1,)
        No question is without candidates.
    right : sequence
        For each question its groups of right candidates, numbered within the question.
    """
    starts = offsets[:-1]
    question = np.repeat(np.arange(len(starts)), np.diff(offsets))
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
    gradient = powers / np.add.reduceat(powers, starts)[question]
    groups = [(start, own, len(of_question)) for start, of_question in zip(starts.tolist(), right, strict=True)
              for own in of_question]  # fmt: skip
    places = np.concatenate([start + np.array(own) for start, own, _ in groups])
    lengths = np.array([len(own) for _, own, _ in groups])
    shares = np.repeat([1 / n for _, _, n in groups], lengths)
    # A group may be too improbable for its powers, so its own greatest score is the reference.
    firsts, group = offsets_of(lengths)[:-1], np.repeat(np.arange(len(groups)), lengths)
    own = np.exp(scores[places] - np.maximum.reduceat(scores[places], firsts)[group])
    np.subtract.at(gradient, places, shares * own / np.add.reduceat(own, firsts)[group])
    return gradient
