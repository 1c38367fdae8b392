"""Scoring candidates by a language model: what all candidates of a question share is scored once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.kneser_ney import START, token_probabilities
from classic_rc.kernels.pairs import occurrences
from classic_rc.solvers.ngram_lm.model import LanguageModel, Ragged
from classic_rc.solvers.ngram_lm.texts import Substitutions

_BLOCK_TOKENS = 2**20
_LEFT, _ANSWER, _RIGHT = range(3)


class Scored(NamedTuple):
    """Predicted tokens, in order.

    Parameters
    ----------
    owner : ndarray of int64, shape (n_tokens,)
        Whose each is: a question's, of shared ones; an answer's.
    place : ndarray of int64, shape (n_tokens,)
        Where it stands in `text`.
    text : Ragged
        The tokens with those before them.
    logs : ndarray of float64, shape (n_tokens,)
        The natural logarithm of its probability.
    orders : ndarray of int64, shape (n_tokens,)
        The length of the longest n-gram that the model has of it.
    """

    owner: NDArray[np.int64]
    place: NDArray[np.int64]
    text: Ragged
    logs: NDArray[np.float64]
    orders: NDArray[np.int64]


class Totals(NamedTuple):
    """Sums over the predicted tokens of each answer.

    Parameters
    ----------
    logs : ndarray of float64, shape (n_answers,)
    n_tokens : ndarray of int64, shape (n_answers,)
    """

    logs: NDArray[np.float64]
    n_tokens: NDArray[np.int64]


def totals(model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float) -> Totals:
    """The log-probability of each answer's text, and how many tokens it is the sum of.

    Parameters
    ----------
    model : LanguageModel
    texts : Substitutions
    partial : bool
        Whether to predict only what stands after the answer.
    cache_weight : float
        How much the passage's words weigh.
    """
    n_questions, n_answers = len(texts.left.offsets) - 1, len(texts.question)
    logs, n_tokens = np.zeros(n_answers), np.zeros(n_answers, dtype=np.int64)
    for scored in shared_windows(model, texts, partial=partial, cache_weight=cache_weight):
        logs += np.bincount(scored.owner, scored.logs, n_questions)[texts.question]
        n_tokens += np.bincount(scored.owner, minlength=n_questions)[texts.question]
    for part in _blocks(model, texts):
        own = answer_windows(model, texts, part, partial=partial, cache_weight=cache_weight)
        n_own = part.stop - part.start
        logs[part] += np.bincount(own.owner - part.start, own.logs, n_own)
        n_tokens[part] += np.bincount(own.owner - part.start, minlength=n_own)
    return Totals(logs, n_tokens)


def shared_windows(
    model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float
) -> Iterator[Scored]:
    """What no candidate changes: the tokens before the answer, and those further behind it than the model sees."""
    questions = np.arange(len(texts.left.offsets) - 1)
    if not partial:
        place = np.flatnonzero(texts.left.tokens != START)
        yield _score(model, texts, texts.left, place, questions, questions, cache_weight)
    position = ragged_indices(np.zeros(len(questions), dtype=np.int64), np.diff(texts.right.offsets))
    place = np.flatnonzero(position >= model.model.order - 1)
    yield _score(model, texts, texts.right, place, questions, questions, cache_weight)


def answer_windows(
    model: LanguageModel, texts: Substitutions, answers: slice, *, partial: bool, cache_weight: float
) -> Scored:
    """What some answers change: their own tokens, and the next ones that have them in their context.

    Parameters
    ----------
    model : LanguageModel
    texts : Substitutions
    answers : slice
        Which.
    partial : bool
    cache_weight : float
    """
    counts = _window_sizes(model, texts)[answers]
    question = texts.question[answers]
    n_left, n_answer = len(texts.left.tokens), len(texts.answers.tokens)
    starts = np.stack(
        (
            texts.left.offsets[1:][question] - counts[:, _LEFT],
            n_left + texts.answers.offsets[:-1][answers],
            n_left + n_answer + texts.right.offsets[:-1][question],
        ),
        axis=1,
    )
    pool = np.concatenate((texts.left.tokens, texts.answers.tokens, texts.right.tokens))
    text = Ragged(pool[ragged_indices(starts.ravel(), counts.ravel())], offsets_of(counts.sum(axis=1)))
    piece = np.repeat(np.tile([_LEFT, _ANSWER, _RIGHT], len(question)), counts.ravel())
    place = np.flatnonzero(piece == _RIGHT if partial else piece != _LEFT)
    numbers = np.arange(answers.start, answers.stop)
    return _score(model, texts, text, place, numbers, question, cache_weight)


def _window_sizes(model: LanguageModel, texts: Substitutions) -> NDArray[np.int64]:
    """How many tokens before, in and after each answer its windows have: shape (n_answers, 3)."""
    before, after = (
        np.minimum(np.diff(side.offsets), model.model.order - 1)[texts.question]
        for side in (texts.left, texts.right)
    )
    return np.stack((before, np.diff(texts.answers.offsets), after), axis=1)


def _blocks(model: LanguageModel, texts: Substitutions) -> Iterator[slice]:
    ends = offsets_of(_window_sizes(model, texts).sum(axis=1) + 1)
    starts = np.flatnonzero(np.diff(ends[:-1] // _BLOCK_TOKENS, prepend=-1)).tolist()
    return (slice(*bounds) for bounds in itertools.pairwise([*starts, len(texts.question)]))


def _score(
    model: LanguageModel,
    texts: Substitutions,
    text: Ragged,
    place: NDArray[np.int64],
    owners: NDArray[np.int64],
    questions: NDArray[np.int64],
    cache_weight: float,
) -> Scored:
    """Predict the tokens of ragged rows at some places; a row has an owner and a question."""
    found = token_probabilities(model.model, model.known(text.tokens), text.offsets)
    values = found.values[place]
    row = np.repeat(np.arange(len(owners)), np.diff(text.offsets))[place]
    if texts.passages is not None:
        passage = texts.passages.of_question[questions[row]]
        length = texts.passages.lengths[passage]
        count = occurrences(texts.passages.counts, passage, text.tokens[place])
        mixed = (1 - cache_weight) * values + cache_weight * count / np.maximum(length, 1)
        values = np.where(length > 0, mixed, values)
    return Scored(owners[row], place, text, np.log(values), found.orders[place])
