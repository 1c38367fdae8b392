"""An n-gram language model with the vocabulary of an analyzer: fitted on texts, saved as plain data and arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.kneser_ney import (
    END,
    FALLBACK_DISCOUNTS,
    MARKS,
    START,
    UNKNOWN,
    KneserNey,
    count_ngrams,
    kneser_ney,
    token_probabilities,
)
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import TextEncoder

_BATCH = 2**14
"""The number of texts that are encoded at once."""


class Ragged(NamedTuple):
    """Texts as word ids: text i is ``tokens[offsets[i]:offsets[i + 1]]``."""

    tokens: NDArray[Any]
    offsets: NDArray[np.int64]

    def begun(self) -> Ragged:
        """Return the texts with a START before each."""
        tokens = np.insert(self.tokens, self.offsets[:-1], START)
        return Ragged(tokens, self.offsets + np.arange(len(self.offsets)))

    def ended(self) -> Ragged:
        """Return the texts with an END after each."""
        tokens = np.insert(self.tokens, self.offsets[1:], END)
        return Ragged(tokens, self.offsets + np.arange(len(self.offsets)))


class LanguageModel:
    """An n-gram model and its vocabulary.

    Parameters
    ----------
    analyzer : str or Analyzer
        Turns texts into words.
    words : list of str
        The vocabulary in the order of the ids, which begin after the ids of the marks.

    Examples
    --------
    >>> model = LanguageModel.fit(["The cat sat.", "The dog sat."], analyzer="word", order=2)
    >>> round(model.perplexity(["the dog sat"]), 2), round(model.perplexity(["a bird sat"]), 2)
    (1.94, 6.67)
    """

    def __init__(self, analyzer: str | Analyzer, words: list[str], model: KneserNey) -> None:
        self.analyzer, self.words, self.model = get_analyzer(analyzer), words, model

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        *,
        analyzer: str | Analyzer,
        order: int,
        discount: float | None = None,
        vocabulary: Sequence[str] = (),
    ) -> Self:
        """Fit a model on texts. Each text is a separate sequence; the texts are read once, in batches.

        `order` is the n of the n-grams. `discount` is subtracted from every count; None means those of modified
        Kneser-Ney. The words of the texts `vocabulary` are added to the vocabulary without being counted.
        """
        encoder = TextEncoder(analyzer)
        encoder.encode(vocabulary)
        parts = [_mark_texts(*encoder.encode(batch)) for batch in _split_batches(texts)]
        tokens = np.concatenate([np.empty(0, dtype=np.int32), *(part.tokens for part in parts)])
        if not len(tokens):
            raise DataError("a language model cannot learn from texts without words")
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        del parts
        n_words = len(MARKS) + len(encoder.vocabulary)
        ngrams = count_ngrams(tokens, np.append(0, np.cumsum(lengths)), n_words, order)
        discounts = None if discount is None else np.full((order, 3), float(discount))
        return cls(encoder.analyzer, encoder.vocabulary, kneser_ney(ngrams, discounts))

    def ids(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the ids of words. Each unknown word has its own id, beyond the model's ids."""
        known, n_words = self._ids, self.model.n_words
        ids = (known.get(word, n_words + i) for i, word in enumerate(vocabulary))
        return np.fromiter(ids, np.int64, len(vocabulary))

    def known(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Replace the ids of words that the model does not know by UNKNOWN."""
        return np.where(tokens < self.model.n_words, tokens, UNKNOWN)

    def perplexity(self, texts: Iterable[str]) -> float:
        """Return the inverse geometric mean of the probabilities of all words and ENDs of the texts.

        The model treats all unknown words as one word, so only perplexities of models with the same vocabulary are
        comparable. Texts without a word are left out; the result is NaN if no text is left.
        """
        total, n_tokens = 0.0, 0
        encoder = TextEncoder(self.analyzer)
        for batch in _split_batches(texts):
            tokens, offsets = encoder.encode(batch)
            ids = self.known(self.ids(encoder.vocabulary)[tokens])
            # A text without words repeats its offset: `np.unique` leaves it out.
            marked = Ragged(ids, np.unique(offsets)).begun().ended()
            values = token_probabilities(self.model, *marked).values
            predicted = marked.tokens != START
            total += float(np.log(values[predicted]).sum())
            n_tokens += int(predicted.sum())
        return float(np.exp(-total / n_tokens)) if n_tokens else float("nan")

    @property
    def fallback_orders(self) -> list[int]:
        """The n-gram orders whose discounts could not be estimated."""
        return [k for k, row in enumerate(self.model.discounts, 1) if tuple(row) == FALLBACK_DISCOUNTS]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the words as plain data, and the model as arrays by name."""
        arrays: dict[str, NDArray[Any]] = {"discounts": self.model.discounts}
        for name in ("keys", "probabilities", "backoffs", "counts"):
            arrays |= {f"{name}.{k}": table for k, table in enumerate(getattr(self.model, name), 1)}
        return {"words": self.words}, arrays

    @classmethod
    def from_state(
        cls, analyzer: str | Analyzer, order: int, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> Self:
        """Return the model with a state that :meth:`to_state` returned.

        Raises
        ------
        KeyError or ValueError
            The state is not that of a model of this order.
        """
        keys = tuple(arrays[f"keys.{k}"] for k in range(1, order + 1))
        probabilities = tuple(arrays[f"probabilities.{k}"] for k in range(1, order + 1))
        backoffs = tuple(arrays[f"backoffs.{k}"] for k in range(1, order))
        counts = tuple(arrays[f"counts.{k}"] for k in range(1, order + 1))
        model = KneserNey(keys, probabilities, backoffs, arrays["discounts"], counts)
        _check_tables(model, len(state["words"]))
        return cls(analyzer, list(state["words"]), model)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words, len(MARKS))}


def _mark_texts(tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
    """Put each text between START and END, and leave out texts without words."""
    return Ragged(tokens + np.int32(len(MARKS)), np.unique(offsets)).begun().ended()


def _split_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    texts = iter(texts)
    while batch := list(itertools.islice(texts, _BATCH)):
        yield batch


def _check_tables(model: KneserNey, n_words: int) -> None:
    """Check that the tables are consistent, because inconsistent ones would give wrong scores without an error."""
    if not np.array_equal(model.keys[0], np.arange(n_words + len(MARKS))):
        raise ValueError(f"the table of 1-grams does not match the {n_words} words")
    if model.discounts.shape != (model.order, 3):
        raise ValueError(
            f"discounts of shape {model.discounts.shape} for order {model.order}, expected {(model.order, 3)}"
        )
    tables = zip(model.keys, model.probabilities, model.counts, strict=True)
    for k, (keys, probabilities, counts) in enumerate(tables, 1):
        if not keys.shape == probabilities.shape == counts.shape or np.any(np.diff(keys) <= 0):
            raise ValueError(f"the {k}-grams are not in order, or do not have one probability and one count each")
        if k > 1 and len(keys) and not 0 <= keys[0] <= keys[-1] < len(model.keys[k - 2]) * model.n_words:
            raise ValueError(f"a {k}-gram does not begin with a known {k - 1}-gram")
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise ValueError(f"the probability of a {k}-gram is not in 0..1")
    for k, (keys, backoffs) in enumerate(zip(model.keys[:-1], model.backoffs, strict=True), 1):
        if backoffs.shape != keys.shape:
            raise ValueError(f"the {k}-grams do not have one back-off weight each")
        if not np.all((backoffs >= 0) & (backoffs <= 1)):
            raise ValueError(f"the back-off weight of a {k}-gram is not in 0..1")
