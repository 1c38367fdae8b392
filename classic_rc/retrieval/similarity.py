"""Similarities: scoring formulas with their constants, as small values with a name."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError, unknown_name, wrong_value
from classic_rc.kernels import bm25, tfidf
from classic_rc.kernels.arrays import Counts
from classic_rc.kernels.sentence_postings import Combine, TermScores
from classic_rc.parameters import is_number
from classic_rc.plugins import Registry, accept_instances


@dataclass(frozen=True, slots=True)
class Similarity:
    """A scoring formula and its constants.

    Attributes
    ----------
    name : str
        The name in :func:`get_similarity`'s specifications.
    description, citation : str
        One sentence each.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    citation: ClassVar[str]

    @property
    def spec(self) -> str:
        """The text form that :func:`get_similarity` reads: the name, and the constants that are not
        default.

        Examples
        --------
        >>> BM25(k1=1.2, b=0.4).spec
        'bm25+k1=1.2'
        """
        default = type(self)()
        parts = [self.name]
        for constant in (f.name for f in fields(self)):
            value = getattr(self, constant)
            if value != getattr(default, constant):
                parts.append(f"{constant}={value!r}")
        return "+".join(parts)

    def __str__(self) -> str:
        return self.spec


def _check_constants(similarity: Similarity, limits: Mapping[str, float]) -> None:
    """Reject constants that are not numbers from 0 to their limit."""
    for constant, limit in limits.items():
        value = getattr(similarity, constant)
        if not is_number(value, 0, limit):
            expected = (
                f"a number from 0 to {limit}" if math.isfinite(limit) else "a number of at least 0"
            )
            raise wrong_value(constant, value, expected, similarity.name)
        object.__setattr__(similarity, constant, float(value))


class CollectionStatistics(NamedTuple):
    """How many sentences and tokens a collection has; of several collections, one array element
    each.
    """

    n_sentences: Counts  # all sentences: Lucene's maxDoc
    n_with_terms: Counts  # sentences with at least one index term: Lucene's docCount
    n_tokens: Counts  # index terms, repetitions counted: Lucene's sumTotalTermFreq

    def of(self, collections: NDArray[np.int64]) -> CollectionStatistics:
        """Return the statistics of these collections, in this order."""
        return CollectionStatistics(*(np.asarray(counts)[collections] for counts in self))


class LuceneSimilarity(Similarity):
    """A similarity of Lucene: a sum over terms that depends on counts, lengths and idf."""

    __slots__ = ()

    term_scores: ClassVar[TermScores]
    """From weights, counts and length factors, what terms add."""

    @abstractmethod
    def idfs(
        self, collection: CollectionStatistics, frequencies: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return the idf of terms with these sentence frequencies."""

    @abstractmethod
    def weights(
        self, boosts: NDArray[np.integer], idfs: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the weights of terms that occur this often in the query."""

    @abstractmethod
    def length_factors(
        self, lengths: NDArray[np.integer], collection: CollectionStatistics
    ) -> NDArray[np.float32]:
        """Return the factors by which sentence lengths scale a term's count."""

    def combine(self, n_terms: NDArray[np.integer], squares: NDArray[np.float64]) -> Combine | None:
        """Return the function from sums to scores, given queries' numbers of terms and sums of
        squared idfs.

        None means that the sums are the scores.
        """
        return None


@dataclass(frozen=True, slots=True)
class BM25(LuceneSimilarity):
    """Okapi BM25 as Lucene computes it since release 8: without the constant factor k1 + 1.

    Parameters
    ----------
    k1 : float, default=0.9
        How slowly a term's count in the sentence saturates; with 0, only presence counts.
    b : float, default=0.4
        How much the sentence's length matters, from 0 to 1.
    """

    k1: float = 0.9
    b: float = 0.4

    name: ClassVar[str] = "bm25"
    description: ClassVar[str] = "BM25 as in Lucene, with Anserini's constants: k1=0.9, b=0.4."
    citation: ClassVar[str] = (
        "Robertson et al. 1994, Okapi at TREC-3; Lucene 8, BM25Similarity; Yang, Fang and Lin "
        "2017, Anserini."
    )
    term_scores: ClassVar[TermScores] = staticmethod(bm25.term_scores)

    def __post_init__(self) -> None:
        _check_constants(self, {"k1": math.inf, "b": 1.0})

    def idfs(
        self, collection: CollectionStatistics, frequencies: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.bm25.idf`."""
        return bm25.idf(collection.n_with_terms, frequencies)

    def weights(
        self, boosts: NDArray[np.integer], idfs: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.bm25.term_weights`."""
        return bm25.term_weights(boosts, idfs)

    def length_factors(
        self, lengths: NDArray[np.integer], collection: CollectionStatistics
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.bm25.length_factors`."""
        mean = bm25.mean_length(collection.n_with_terms, collection.n_tokens)
        return bm25.length_factors(lengths, mean, self.k1, self.b)


@dataclass(frozen=True, slots=True)
class Classic(LuceneSimilarity):
    """TF-IDF as Lucene computed it up to release 5: coordination, query norm, lengths in one
    byte.
    """

    name: ClassVar[str] = "classic"
    description: ClassVar[str] = (
        "TF-IDF of Lucene up to release 5: coordination, query norm, lengths in one byte."
    )
    citation: ClassVar[str] = (
        "Lucene 5, ClassicSimilarity: the IR baseline of Khashabi et al. 2018, MultiRC."
    )
    term_scores: ClassVar[TermScores] = staticmethod(tfidf.term_scores)

    def idfs(
        self, collection: CollectionStatistics, frequencies: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.tfidf.idf`."""
        return tfidf.idf(collection.n_sentences, frequencies)

    def weights(
        self, boosts: NDArray[np.integer], idfs: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.tfidf.term_weights`."""
        return tfidf.term_weights(boosts, idfs)

    def length_factors(
        self, lengths: NDArray[np.integer], collection: CollectionStatistics
    ) -> NDArray[np.float32]:
        """See :func:`classic_rc.kernels.tfidf.length_factors`."""
        return tfidf.length_factors(lengths)

    def combine(self, n_terms: NDArray[np.integer], squares: NDArray[np.float64]) -> Combine | None:
        """See :func:`classic_rc.kernels.tfidf.apply_coordination`."""
        return partial(tfidf.apply_coordination, n_terms, tfidf.query_norms(squares))


@dataclass(frozen=True, slots=True)
class Okapi(Similarity):
    """BM25 as in textbooks; where its idf is negative, a share of the mean idf replaces it.

    Parameters
    ----------
    k1 : float, default=1.5
    b : float, default=0.75
    epsilon : float, default=0.25
        The share of the mean idf for terms that occur in more than half of the sentences.
    """

    k1: float = 1.5
    b: float = 0.75
    epsilon: float = 0.25

    name: ClassVar[str] = "okapi"
    description: ClassVar[str] = (
        "Textbook BM25: with few sentences, scores may be zero or negative."
    )
    citation: ClassVar[str] = (
        "Robertson et al. 1994, Okapi at TREC-3; the package rank_bm25, BM25Okapi."
    )

    def __post_init__(self) -> None:
        _check_constants(self, {"k1": math.inf, "b": 1.0, "epsilon": math.inf})


SIMILARITIES = Registry[Similarity](
    "similarity",
    {"bm25": BM25(), "bm25-lucene": BM25(k1=1.2, b=0.75), "classic": Classic(), "okapi": Okapi()},
    accept_instances("classic_rc.retrieval:Similarity"),
)
"""The named similarities. ``bm25`` has Anserini's constants, ``bm25-lucene`` has Lucene's and
Elasticsearch's.
"""


def get_similarity(spec: str | Similarity) -> Similarity:
    """Return the similarity of a specification; a similarity is returned unchanged.

    Parameters
    ----------
    spec : str or Similarity
        A name in :data:`SIMILARITIES`, then constants with a plus before each.

    Raises
    ------
    UsageError
        A name is unknown, or a constant is not a number in its range.

    Examples
    --------
    >>> get_similarity("bm25-lucene")
    BM25(k1=1.2, b=0.75)
    >>> get_similarity("bm25+b=0.3")
    BM25(k1=0.9, b=0.3)
    """
    if isinstance(spec, Similarity):
        return spec
    name, *settings = str(spec).split("+")
    if name not in SIMILARITIES:
        raise unknown_name("similarity", name, SIMILARITIES)
    similarity = SIMILARITIES[name]
    constants = [f.name for f in fields(similarity)]
    for setting in settings:
        constant, _, text = setting.partition("=")
        if constant not in constants:
            advice = (
                f"choose from {', '.join(constants)}" if constants else f"{name} has no constants"
            )
            problem = f"unknown constant {constant!r} of {name}: {advice}"
            raise UsageError(
                problem, field="similarity", found=constant, expected=", ".join(constants)
            )
        try:
            value = float(text)
        except ValueError:
            raise wrong_value(constant, text, "a number", name) from None
        changes: dict[str, Any] = {constant: value}
        similarity = replace(similarity, **changes)
    return similarity
