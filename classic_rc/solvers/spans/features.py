"""The features of spans: question words around them, lengths, shapes and words; and how spans are explained."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import unknown_name
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.encode_spans import EncodedSpans

_REGIONS = ("left", "right", "span", "sentence")

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "matching-words": tuple(f"question words, {region}" for region in _REGIONS),
    "matching-bigrams": tuple(f"question bigrams, {region}" for region in _REGIONS),
    "lengths": tuple(f"length, {region}" for region in _REGIONS),
    "span-frequency": ("word weights, span",),
}
"""The groups that are numbers, and the numbers' names."""


class SpanNumbers:
    """The numbers among the features of some questions' candidates.

    Sums are of whole numbers, so that no order of adding changes a bit.

    Parameters
    ----------
    spans : EncodedSpans
    word_weights : ndarray of int64, shape (n_words,)
        Of each word of the encoding's vocabulary.
    """

    def __init__(self, spans: EncodedSpans, word_weights: NDArray[np.int64]) -> None:
        self._spans = spans
        # Each question has a copy of its passage's tokens.
        begins = spans.passage_offsets[:-1][spans.question_passage]
        lengths = np.diff(spans.passage_offsets)[spans.question_passage]
        copy = ragged_indices(begins, lengths)
        owner = np.repeat(np.arange(len(spans.questions)), lengths)
        self._shift = offsets_of(lengths)[:-1] - begins
        words = spans.tokens.astype(np.int64)
        asked = spans.question_tokens.astype(np.int64)
        asker = np.repeat(np.arange(len(spans.questions)), np.diff(spans.question_offsets))
        n_words = len(spans.vocabulary)
        is_asked = np.isin(owner * n_words + words[copy], asker * n_words + asked)
        self._of_words = offsets_of(np.where(is_asked, word_weights[words[copy]], 0))

        same_sentence = np.ones(len(words), dtype=np.bool_)
        same_sentence[spans.sentence_offsets[1:][np.diff(spans.sentence_offsets) > 0] - 1] = False
        following = np.append(words[1:], 0)
        weights = word_weights[words] + np.append(word_weights[words[1:]], 0)
        pairs = asked[:-1] * n_words + asked[1:]
        within = asker[:-1] == asker[1:]
        codes, number = np.unique(pairs[within], return_inverse=True)
        place = np.searchsorted(codes, words * n_words + following)
        known = same_sentence & (np.append(codes, -1)[place] == words * n_words + following)
        asked_pairs = asker[:-1][within] * len(codes) + number.reshape(-1)
        is_asked = known[copy] & np.isin(owner * len(codes) + place[copy], asked_pairs)
        self._of_bigrams = offsets_of(np.where(is_asked, weights[copy], 0))
        self._of_all = offsets_of(word_weights[words])

    def matched(self, question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether a word of the question is in the span's sentence: shape (n,)."""
        sentence, shift = self._spans.sentence[span], self._shift[question]
        begin, end = self._spans.sentence_offsets[sentence], self._spans.sentence_offsets[sentence + 1]
        return self._of_words[end + shift] > self._of_words[begin + shift]

    def of(self, groups: Sequence[str], question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of these groups, for spans each with its question.

        Parameters
        ----------
        groups : sequence of str
        question, span : ndarray of int64, shape (n,)

        Returns
        -------
        ndarray of int64, shape (n_numbers, n)
            In the order of :data:`NUMBERS`.
        """
        spans = self._spans
        sentence = spans.sentence[span]
        # Left, right, span and sentence, from one token to before another; regions in the order of their names.
        begin, end = spans.sentence_offsets[sentence], spans.sentence_offsets[sentence + 1]
        first, last = spans.first[span], spans.last[span]
        regions = ((begin, first), (last, end), (first, last), (begin, end))
        shift = self._shift[question]
        rows = []
        for group in groups:
            for start, stop in regions if group != "span-frequency" else regions[2:3]:
                if group == "matching-words":
                    rows.append(self._of_words[stop + shift] - self._of_words[start + shift])
                elif group == "matching-bigrams":  # the last token of a region begins no bigram of it
                    latest = np.maximum(stop - 1, start) + shift
                    rows.append(self._of_bigrams[latest] - self._of_bigrams[start + shift])
                elif group == "lengths":
                    rows.append(stop - start)
                elif group == "span-frequency":
                    rows.append(self._of_all[stop] - self._of_all[start])
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(span))


_CLASSES = ("x", "Xx", "XX", "0")
"""What a word looks like: lower case, a capital first, all capitals, with a digit."""
_OTHERS = (",", "'s")
"""What else a span may have: punctuation between its words, and a possessive at its end."""
_N_MASKS = 2 ** (len(_CLASSES) + len(_OTHERS))
N_SHAPES = len(_CLASSES) ** 2 * _N_MASKS + 1
"""How many shapes there are; the last is that of a span without words."""
_PUNCTUATION = re.compile(r"[^\w\s]")
_DIGIT = re.compile(r"\d")


def span_shapes(spans: EncodedSpans) -> NDArray[np.int64]:
    """The shape of every span, a number below :data:`N_SHAPES`; see :func:`shape_name`."""
    look, marked, possessive = _looks(spans)
    first, end = spans.first, spans.last
    last = np.maximum(end - 1, first)
    held = [_any(look == k, first, end) for k in range(len(_CLASSES))]
    held += [_any(marked, first, last), possessive[last] & ~spans.cut]
    mask = sum(flags.astype(np.int64) << k for k, flags in enumerate(held))
    code = (look[first] * len(_CLASSES) + look[last]) * _N_MASKS + mask
    return np.where(first == end, N_SHAPES - 1, code)


def _any(flags: NDArray[np.bool_], first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether any flag is set from `first` to before `end`."""
    before = offsets_of(flags.astype(np.int64))
    return before[end] > before[first]


def _looks(spans: EncodedSpans) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each token what it looks like, whether punctuation follows it, and whether it is a possessive.

    One more stands at the end, for spans that begin after the last token.
    """
    rows = []
    texts = {id(q.passage): q.passage.text for q in spans.questions}.values()
    starts, ends = spans.token_starts.tolist(), spans.token_ends.tolist()
    for text, (begin, stop) in zip(texts, pairwise(spans.passage_offsets.tolist()), strict=True):
        for i in range(begin, stop):
            word = text[starts[i] : ends[i]]
            following = starts[i + 1] if i + 1 < stop else ends[i]
            is_marked = _PUNCTUATION.search(text, ends[i], following) is not None
            rows.append((_class(word), is_marked, word.endswith(("'s", "\u2019s"))))
    look, marked, possessive = np.array([*rows, (0, False, False)], dtype=np.int64).T
    return look, marked > 0, possessive > 0


def _class(word: str) -> int:
    if _DIGIT.search(word):
        return 3
    if word[:1].isupper():
        return 2 if len(word) > 1 and word.isupper() else 1
    return 0


def shape_name(shape: int) -> str:
    """A shape for people: the first word's, the last word's, and in braces what the span has.

    Examples
    --------
    >>> shape_name(N_SHAPES - 1)
    'no word'
    >>> shape_name((1 * 4 + 0) * 64 + 0b010011)
    'Xx…x {x Xx ,}'
    """
    if shape == N_SHAPES - 1:
        return "no word"
    edges, mask = divmod(shape, _N_MASKS)
    first, last = divmod(edges, len(_CLASSES))
    held = [name for k, name in enumerate((*_CLASSES, *_OTHERS)) if mask >> k & 1]
    return f"{_CLASSES[first]}…{_CLASSES[last]} {{{' '.join(held)}}}"


WH_WORDS = (
    "other", "who", "whom", "whose", "what", "which", "when", "where", "why",
    "how", "how many", "how much", "how old", "how long", "how far", "how often",
)  # fmt: skip
"""What questions ask with; ``other`` is none of these."""
_WH = re.compile(rf"\b(?:{'|'.join(sorted(WH_WORDS[1:], key=len, reverse=True))})\b")


def question_kinds(questions: Sequence[str]) -> NDArray[np.int64]:
    """The first wh-word of each question, as its place in :data:`WH_WORDS`."""
    found = (_WH.search(" ".join(text.lower().split())) for text in questions)
    return np.array([WH_WORDS.index(match[0]) if match else 0 for match in found], dtype=np.int64)


GROUPS: Mapping[str, str] = {
    "matching-words": "the summed tf-idf of question words left of the span, right of it, in it, in its sentence",
    "matching-bigrams": "the same of question bigrams",
    "lengths": "how many words stand left of the span, right of it, in it, in its sentence",
    "span-frequency": "the summed tf-idf of the span's words, the question's or not",
    "span-words": "the span's words themselves",
    "shape": "the span's shape: its first and its last word's, and what else there is in it",
    "wh-shape": "the question's wh-word together with the span's shape",
}
"""The groups of features by name."""

_SCALE = 2**16


def span_groups(text: str) -> tuple[str, ...]:
    """The groups that a specification names, in the order of :data:`GROUPS`: ``"all"``, ``"lengths+shape"``.

    Raises
    ------
    UsageError
        A group does not exist.
    """
    names = [name for part in text.split("+") for name in (GROUPS if part == "all" else (part,))]
    for name in names:
        if name not in GROUPS:
            raise unknown_name("group of span features", name, ["all", *GROUPS])
    return tuple(group for group in GROUPS if group in names)


class WordWeights(NamedTuple):
    r"""The inverse document frequencies of words, passages being documents: :math:`1 + \ln\frac{1 + N}{1 + n_w}`.

    N passages, of which n_w have the word; whole numbers, of scale 2**16. A word of no passage weighs most.

    Parameters
    ----------
    words : list of str
    weights : ndarray of int64, shape (n_words + 1,)
        The last is that of all other words.
    """

    words: list[str]
    weights: NDArray[np.int64]

    @classmethod
    def of_counts(cls, words: Sequence[str], passages: NDArray[np.int64], n_passages: int) -> WordWeights:
        """The weights of words that so many of `n_passages` passages have."""
        frequencies = np.append(passages, 0)
        weights = np.rint(_SCALE * (1 + np.log((1 + n_passages) / (1 + frequencies)))).astype(np.int64)
        return cls(list(words), weights)

    def numbers(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Each word's place among the known ones; their number for all others."""
        known = {word: i for i, word in enumerate(self.words)}
        return np.fromiter((known.get(w, len(known)) for w in vocabulary), np.int64, len(vocabulary))


class SpanFeatures(NamedTuple):
    """The features of spans, each with a question.

    Parameters
    ----------
    numbers : ndarray of int64, shape (n_numbers, n_spans)
        In the order of :data:`~classic_rc.solvers.spans.features.NUMBERS`.
    shapes, kinds : ndarray of int64, shape (n_spans,)
        The span's shape, and its question's wh-word.
    word_offsets : ndarray of int64, shape (n_spans + 1,)
    words : ndarray of int64
        Span i's words are ``words[word_offsets[i]:word_offsets[i + 1]]``, numbered by :class:`WordWeights`.
    evidence : ndarray of bool, shape (n_spans,)
        Whether the span's sentence has a word of the question.
    """

    numbers: NDArray[np.int64]
    shapes: NDArray[np.int64]
    kinds: NDArray[np.int64]
    word_offsets: NDArray[np.int64]
    words: NDArray[np.int64]
    evidence: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        words: WordWeights,
        spans: EncodedSpans,
        question: NDArray[np.int64],
        span: NDArray[np.int64],
    ) -> SpanFeatures:
        """The features of some spans, each with one of its questions."""
        place = words.numbers(spans.vocabulary)
        numbers = SpanNumbers(spans, words.weights[place])
        kinds = question_kinds([q.text for q in spans.questions])
        lengths = (spans.last - spans.first)[span]
        tokens = spans.tokens[ragged_indices(spans.first[span], lengths)]
        return cls(
            numbers.of(groups, question, span),
            span_shapes(spans)[span],
            kinds[question],
            offsets_of(lengths),
            place[tokens],
            numbers.matched(question, span),
        )

    @classmethod
    def concatenate(cls, parts: Sequence[SpanFeatures]) -> SpanFeatures:
        """All of them, one after the other."""
        numbers, shapes, kinds, offsets, words, evidence = zip(*parts, strict=True)
        lengths = np.concatenate([np.diff(own) for own in offsets])
        return cls(
            np.concatenate(numbers, axis=1),
            np.concatenate(shapes),
            np.concatenate(kinds),
            offsets_of(lengths),
            np.concatenate(words),
            np.concatenate(evidence),
        )


_EXPLAINED_CANDIDATES = 100


def explain_spans(
    solver: Solver, question: Question, spans: EncodedSpans, numbers: Callable[[int], Mapping[str, float]]
) -> Explanation:
    """The best spans' terms, the others' scores.

    Parameters
    ----------
    solver : Solver
    question : Question
    spans : EncodedSpans
        Of this question alone.
    numbers : callable
        Gives the terms of the candidate of an index.
    """
    scores = solver.score_candidates([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    asked = np.isin(spans.tokens, spans.question_tokens)
    # Of thousands of spans nobody reads all.
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        plain = explained[i]
        explained[i] = CandidateExplanation(
            plain.text, plain.score, plain.evidence, tuple(_marks(spans, i, asked)), numbers(i)
        )
    return Explanation(solver.name, question, tuple(explained))


def _marks(spans: EncodedSpans, i: int, asked: np.ndarray) -> list[Mark]:
    """The span, and the question's words in its sentence outside it."""
    first, last = spans.first[i], spans.last[i]
    begin, end = spans.sentence_offsets[spans.sentence[i] : spans.sentence[i] + 2]
    around = [*range(begin, first), *range(last, end)]
    places = [(spans.token_starts[j], spans.token_ends[j], "question") for j in around if asked[j]]
    if first < last:
        places.append((spans.token_starts[first], spans.token_ends[last - 1], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]
