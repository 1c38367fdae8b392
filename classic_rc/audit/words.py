"""Leaking words: words that distinguish right from wrong options, independent of the question."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.resampling import benjamini_hochberg
from classic_rc.kernels.arrays import distinct, ragged_indices
from classic_rc.metrics.base import gold_of
from classic_rc.questions import Dataset
from classic_rc.text.encode import encode
from classic_rc.text.encoded import EncodedDataset


@dataclass(frozen=True, slots=True)
class WordCount:
    """The occurrences of a word in right and wrong options."""

    word: str
    right: int  # right options with the word, each counted once
    wrong: int  # wrong options with the word, each counted once
    expected: float  # right options with the word if they were drawn at random within each question
    passages: int  # passages with such an option
    pmi: float  # smoothed pointwise mutual information with being right, in nats
    p: float  # two-sided
    q: float  # `p` adjusted for the number of words tested


@dataclass(frozen=True, slots=True)
class LeakingWords:
    """The words of a dataset's options that indicate whether an option is right.

    Parameters
    ----------
    words : tuple of WordCount
        The words with q up to `level`, by falling absolute PMI.
    n_tested : int
        Number of words that were tested.
    at_least : int
        A word is tested if at least this many options have it.
    smoothing : float
        The average count added per class.
    level : float
        The largest q-value of a listed word.
    analyzer : str
        The analyzer that makes words of the options.
    """

    words: tuple[WordCount, ...]
    n_tested: int
    at_least: int
    smoothing: float
    level: float
    analyzer: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _OptionWords:
    """Which options have which words; a (option, word) pair is there once."""

    option: NDArray[np.int64]  # of each pair, shape (n_pairs,)
    word: NDArray[np.int64]  # of each pair, shape (n_pairs,)
    question: NDArray[np.int64]  # of each option, shape (n_options,)
    right: NDArray[np.bool_]  # whether each option is right, shape (n_options,)
    passage: NDArray[np.int64]  # of each question, shape (n_questions,)
    n_words: int


def find_leaking_words(
    dataset: Dataset,
    *,
    analyzer: str = "word",
    at_least: int = 20,
    smoothing: float = 100.0,
    level: float = 0.05,
    shared: EncodingCache | None = None,
) -> LeakingWords:
    r"""Find the words whose presence in an option best indicates whether it is right.

    For each word w, with n(w, y) the number of options of class y (right or wrong) that have it, the words are
    ranked by the pointwise mutual information of Gururangan et al. 2018

    .. math:: \mathrm{PMI}(w, \mathit{right}) = \ln \frac{p(w, \mathit{right})}{p(w)\, p(\mathit{right})}

    from smoothed counts. They add 100 to the count of every word in every class. Their classes have equal sizes.
    Most options are wrong, however, and 100 for both classes would pull every word towards one half. So the 200
    added to a word are divided between the classes in the proportion of all options, which is their rule for equal
    classes.

    The test is that of Cochran, Mantel and Haenszel, stratified by question. If right options were drawn at random
    within each question, in their given number, the count of those with the word would have a known mean and
    variance (those of a sum of hypergeometric numbers). Its deviation is treated as normal, with continuity
    correction. The test assumes that different questions are independent. A word that recurs in the questions
    about one passage (its hero's name) may look more certain than it is: look at its number of passages.

    Parameters
    ----------
    dataset : Dataset
        Of choices, with gold answers.
    analyzer : str
        The analyzer that makes words of the options.
    at_least : int
        A word is tested if at least this many options have it.
    smoothing : float
        The number added to each count, on average over the two classes.
    level : float
        The largest q-value (Benjamini and Hochberg) of a listed word.
    shared : EncodingCache, optional
        Encodings to share with other checks of the dataset.

    Returns
    -------
    LeakingWords

    Raises
    ------
    UsageError
        The questions have no options that are each right or wrong, or `at_least` or `smoothing` is not positive.
    DataError
        A question's gold is hidden.
    """
    if dataset.task is None or not dataset.task.has_choices:
        raise UsageError(
            f"{dataset.name} has no options that are each right or wrong",
            field="dataset",
            found=f"{dataset.task or 'no'} questions",
        )
    if at_least < 1:
        raise UsageError(
            f"the number of options with a word must be at least 1, got {at_least}",
            field="at_least",
            found=str(at_least),
        )
    if not smoothing > 0:
        raise UsageError(f"smoothing must be above 0, got {smoothing:g}", field="smoothing", found=f"{smoothing:g}")
    encoded = encode((shared or EncodingCache()).of(dataset), analyzer)
    option_words = _find_pairs(encoded)
    right, wrong, pmi = _count_words(option_words, smoothing)
    tested = np.flatnonzero(right + wrong >= at_least)
    expected, variance = _null_moments(option_words)
    deviation = np.maximum(np.abs(right - expected) - 0.5, 0)[tested]
    spread = np.sqrt(2 * variance[tested])
    # erfc(|z| / sqrt(2)) is the two-sided p-value of a normal deviate z.
    p = [math.erfc(d / s) if s > 0 else 1.0 for d, s in zip(deviation.tolist(), spread.tolist(), strict=True)]
    q = benjamini_hochberg(p)
    passages = _count_passages(option_words)
    words = [
        WordCount(
            encoded.vocabulary[w],
            int(right[w]),
            int(wrong[w]),
            float(expected[w]),
            int(passages[w]),
            float(pmi[w]),
            p[i],
            float(q[i]),
        )
        for i, w in enumerate(tested.tolist())
        if q[i] <= level
    ]
    words.sort(key=lambda count: (-abs(count.pmi), count.word))
    return LeakingWords(tuple(words), len(tested), at_least, smoothing, level, str(analyzer))


def _find_pairs(encoded: EncodedDataset) -> _OptionWords:
    arrays = encoded.arrays
    text = np.repeat(np.arange(len(arrays.candidate_question)), np.diff(arrays.candidate_offsets))
    pairs = distinct(text * arrays.n_words + arrays.candidate_tokens)
    text, word = pairs // arrays.n_words, pairs % arrays.n_words
    # The arrays have options of one text only once: give each option the words of its text.
    n_options = int(encoded.question_offsets[-1])
    rows = encoded.candidate_rows if encoded.candidate_rows is not None else np.arange(n_options)
    counts = np.bincount(text, minlength=len(arrays.candidate_question))[rows]
    flat = ragged_indices(np.searchsorted(text, rows), counts)
    question = np.repeat(np.arange(len(encoded)), np.diff(encoded.question_offsets))
    right = np.zeros(n_options, dtype=np.bool_)
    for i, start in zip(encoded.order.tolist(), encoded.question_offsets[:-1].tolist(), strict=True):
        right[[start + index for index in gold_of(encoded[i])]] = True
    return _OptionWords(
        np.repeat(np.arange(n_options), counts),
        word[flat],
        question,
        right,
        arrays.question_passage,
        arrays.n_words,
    )


def _count_words(
    option_words: _OptionWords, smoothing: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of right and of wrong options with each word, and each word's PMI with being right."""
    n_words = option_words.n_words
    total = np.bincount(option_words.word, minlength=n_words)
    right = np.bincount(option_words.word[option_words.right[option_words.option]], minlength=n_words)
    added = 2 * smoothing
    share = option_words.right.mean() if len(option_words.right) else 0.0
    in_options = total > 0
    smooth_right, smooth = right + added * share, total + added
    overall = smooth_right[in_options].sum() / max(smooth[in_options].sum(), 1)
    pmi = np.log(smooth_right / smooth / overall) if overall > 0 else np.zeros(n_words)
    return right, total - right, pmi


def _null_moments(option_words: _OptionWords) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of the number of right options with each word, drawn within each question."""
    n_words, n_questions = option_words.n_words, len(option_words.passage)
    options = np.bincount(option_words.question, minlength=n_questions)
    rights = np.bincount(option_words.question, weights=option_words.right, minlength=n_questions)
    cells, having = np.unique(
        option_words.question[option_words.option] * n_words + option_words.word, return_counts=True
    )
    # Of k options, r are right and `having` have the word: the number in both is hypergeometric, with share = r/k.
    k, share = options[cells // n_words], (rights / np.maximum(options, 1))[cells // n_words]
    mean = having * share
    variance = mean * (1 - share) * (k - having) / np.maximum(k - 1, 1)
    mean, variance = (np.bincount(cells % n_words, moment, n_words) for moment in (mean, variance))
    return mean.astype(np.float64), variance.astype(np.float64)


def _count_passages(option_words: _OptionWords) -> NDArray[np.int64]:
    """Return for each word the number of passages whose options have it."""
    passage = option_words.passage[option_words.question[option_words.option]]
    cells = distinct(passage * option_words.n_words + option_words.word)
    return np.bincount(cells % option_words.n_words, minlength=option_words.n_words)
