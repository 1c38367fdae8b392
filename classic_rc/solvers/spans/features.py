"""The features of spans (question words around them, lengths, shapes, words), and explanations of span scores."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import unknown_name
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.questions import Question
from classic_rc.solvers.base import DECISION, Solver
from classic_rc.solvers.explanation import Explanation, Mark, Term
from classic_rc.text.encode_spans import EncodedSpans

SPAN_DECISION = DECISION.but(
    help="the rule that turns scores into answers; None selects the best span, and ties get partial credit"
)

_REGIONS = ("left", "right", "span", "sentence")

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "matching-words": tuple(f"question words, {region}" for region in _REGIONS),
    "matching-bigrams": tuple(f"question bigrams, {region}" for region in _REGIONS),
    "lengths": tuple(f"length, {region}" for region in _REGIONS),
    "span-frequency": ("word weights, span",),
}
"""The names of the numbers, by group."""


class SpanNumbers:
    """The numeric features of some questions' candidates.

    They are sums of integers, so they do not depend on the order of additions. Prefix sums over the tokens make the
    sum of any region one subtraction.

    Parameters
    ----------
    spans : EncodedSpans
    word_weights : ndarray of int64, shape (n_words,)
        The weight of each word of the encoding's vocabulary.
    """

    def __init__(self, spans: EncodedSpans, word_weights: NDArray[np.int64]) -> None:
        self._spans = spans
        # Whether a passage token matches depends on the question, so each question has its own copy of the tokens.
        # `_shift` leads from a token's position in the passages to its position in a question's copy.
        begins = spans.passage_offsets[:-1][spans.question_passage]
        lengths = np.diff(spans.passage_offsets)[spans.question_passage]
        copy = ragged_indices(begins, lengths)
        owner = np.repeat(np.arange(len(spans.questions)), lengths)
        self._shift = offsets_of(lengths)[:-1] - begins
        words = spans.tokens.astype(np.int64)
        question_words = spans.question_tokens.astype(np.int64)
        asker = np.repeat(np.arange(len(spans.questions)), np.diff(spans.question_offsets))
        n_words = len(spans.vocabulary)
        # (question, word) as one number, to test all tokens of all questions at once.
        matches = np.isin(owner * n_words + words[copy], asker * n_words + question_words)
        self._matched_words = offsets_of(np.where(matches, word_weights[words[copy]], 0))

        # A bigram is stored at its first token. The last token of a sentence begins none.
        same_sentence = np.ones(len(words), dtype=np.bool_)
        same_sentence[spans.sentence_offsets[1:][np.diff(spans.sentence_offsets) > 0] - 1] = False
        following = np.append(words[1:], 0)
        weights = word_weights[words] + np.append(word_weights[words[1:]], 0)
        pairs = question_words[:-1] * n_words + question_words[1:]
        within = asker[:-1] == asker[1:]
        # The questions' bigrams are numbered, so that (question, bigram) stays well within an int64.
        codes, number = np.unique(pairs[within], return_inverse=True)
        place = np.searchsorted(codes, words * n_words + following)
        known = same_sentence & (np.append(codes, -1)[place] == words * n_words + following)
        question_pairs = asker[:-1][within] * len(codes) + number.reshape(-1)
        matches = known[copy] & np.isin(owner * len(codes) + place[copy], question_pairs)
        self._matched_bigrams = offsets_of(np.where(matches, weights[copy], 0))
        self._all_words = offsets_of(word_weights[words])

    def matched(self, question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether the span's sentence has a word of the question: shape (n,)."""
        sentence, shift = self._spans.sentence[span], self._shift[question]
        begin, end = self._spans.sentence_offsets[sentence], self._spans.sentence_offsets[sentence + 1]
        return self._matched_words[end + shift] > self._matched_words[begin + shift]

    def of(self, groups: Sequence[str], question: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute the numbers of `groups` for pairs of a question and a span.

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
        # The regions in the order of _REGIONS, each from its first token to before its end.
        begin, end = spans.sentence_offsets[sentence], spans.sentence_offsets[sentence + 1]
        first, last = spans.first[span], spans.last[span]
        regions = ((begin, first), (last, end), (first, last), (begin, end))
        shift = self._shift[question]
        rows = []
        for group in groups:
            for start, stop in regions if group != "span-frequency" else regions[2:3]:
                if group == "matching-words":
                    rows.append(self._matched_words[stop + shift] - self._matched_words[start + shift])
                elif group == "matching-bigrams":  # a bigram at a region's last token would reach beyond the region
                    latest = np.maximum(stop - 1, start) + shift
                    rows.append(self._matched_bigrams[latest] - self._matched_bigrams[start + shift])
                elif group == "lengths":
                    rows.append(stop - start)
                elif group == "span-frequency":
                    rows.append(self._all_words[stop] - self._all_words[start])
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(span))


_LOOKS = ("x", "Xx", "XX", "0")
"""The looks of a word: lower case, capitalised, all capitals, with a digit."""
_PROPERTIES = (",", "'s")
"""Other properties of a span: punctuation between its words, and a possessive at its end."""
_N_MASKS = 2 ** (len(_LOOKS) + len(_PROPERTIES))
N_SHAPES = len(_LOOKS) ** 2 * _N_MASKS + 1
"""The number of shapes. The last one is the shape of a span without words."""
_PUNCTUATION = re.compile(r"[^\w\s]")
_DIGIT = re.compile(r"\d")


def span_shapes(spans: EncodedSpans) -> NDArray[np.int64]:
    """Return the shape of every span, a number below :data:`N_SHAPES`; see :func:`shape_name`."""
    look, punctuated, possessive = _token_looks(spans)
    first, end = spans.first, spans.last
    last = np.maximum(end - 1, first)
    present = [_any_flag(look == k, first, end) for k in range(len(_LOOKS))]
    present += [_any_flag(punctuated, first, last), possessive[last] & ~spans.cut]
    mask = sum(flags.astype(np.int64) << k for k, flags in enumerate(present))
    code = (look[first] * len(_LOOKS) + look[last]) * _N_MASKS + mask
    return np.where(first == end, N_SHAPES - 1, code)


def _any_flag(flags: NDArray[np.bool_], first: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether any flag is set from `first` to before `end`."""
    before = offsets_of(flags.astype(np.int64))
    return before[end] > before[first]


def _token_looks(spans: EncodedSpans) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the look of each token, whether punctuation follows it, and whether it is a possessive.

    The arrays have one more element at the end, for spans that begin after the last token.
    """
    rows = []
    texts = {id(q.passage): q.passage.text for q in spans.questions}.values()
    starts, ends = spans.token_starts.tolist(), spans.token_ends.tolist()
    for text, (begin, stop) in zip(texts, pairwise(spans.passage_offsets.tolist()), strict=True):
        for i in range(begin, stop):
            word = text[starts[i] : ends[i]]
            following = starts[i + 1] if i + 1 < stop else ends[i]
            is_punctuated = _PUNCTUATION.search(text, ends[i], following) is not None
            rows.append((_look_of(word), is_punctuated, word.endswith(("'s", "\u2019s"))))
    look, punctuated, possessive = np.array([*rows, (0, False, False)], dtype=np.int64).T
    return look, punctuated > 0, possessive > 0


def _look_of(word: str) -> int:
    """Return a word's look, as an index of `_LOOKS`."""
    if _DIGIT.search(word):
        return 3
    if word[:1].isupper():
        return 2 if len(word) > 1 and word.isupper() else 1
    return 0


def shape_name(shape: int) -> str:
    """Return a readable shape: the looks of the first and the last word, and in braces all properties of the span.

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
    first, last = divmod(edges, len(_LOOKS))
    present = [name for k, name in enumerate((*_LOOKS, *_PROPERTIES)) if mask >> k & 1]
    return f"{_LOOKS[first]}…{_LOOKS[last]} {{{' '.join(present)}}}"


WH_WORDS = (
    "other", "who", "whom", "whose", "what", "which", "when", "where", "why",
    "how", "how many", "how much", "how old", "how long", "how far", "how often",
)  # fmt: skip
"""The wh-words of questions; ``other`` is for a question without one."""
_WH = re.compile(rf"\b(?:{'|'.join(sorted(WH_WORDS[1:], key=len, reverse=True))})\b")


def question_kinds(questions: Sequence[str]) -> NDArray[np.int64]:
    """Return the first wh-word of each question, as an index of :data:`WH_WORDS`."""
    matches = (_WH.search(" ".join(text.lower().split())) for text in questions)
    return np.array([WH_WORDS.index(match[0]) if match else 0 for match in matches], dtype=np.int64)


SPAN_FEATURE_GROUPS: Mapping[str, str] = {
    "matching-words": "the summed tf-idf of question words left and right of the span, in it, and in its sentence",
    "matching-bigrams": "the same for question bigrams",
    "lengths": "the number of words left and right of the span, in it, and in its sentence",
    "span-frequency": "the summed tf-idf of the span's words, whether the question has them or not",
    "span-words": "the span's words themselves",
    "shape": "the span's shape: the looks of its first and its last word, and everything else in it",
    "wh-shape": "the question's wh-word together with the span's shape",
}
"""The groups of features, by name."""

_SCALE = 2**16


def span_groups(text: str) -> tuple[str, ...]:
    """Return the groups that `text` names: ``"all"``, or ``"lengths+shape"`` in the order of the table.

    Raises
    ------
    UsageError
        A group is unknown.
    """
    names = [name for part in text.split("+") for name in (SPAN_FEATURE_GROUPS if part == "all" else (part,))]
    for name in names:
        if name not in SPAN_FEATURE_GROUPS:
            raise unknown_name("group of span features", name, ["all", *SPAN_FEATURE_GROUPS])
    return tuple(group for group in SPAN_FEATURE_GROUPS if group in names)


class WordWeights(NamedTuple):
    r"""Inverse document frequencies of words, with passages as documents: :math:`1 + \ln\frac{1 + N}{1 + n_w}`.

    N is the number of passages, and n_w of them have the word. The weights are integers with the scale 2**16. A
    word that no passage has weighs the most.
    """

    words: list[str]
    weights: NDArray[np.int64]  # shape (n_words + 1,); the last one is for all unknown words

    @classmethod
    def of_counts(cls, words: Sequence[str], passages: NDArray[np.int64], n_passages: int) -> WordWeights:
        """Return the weights of `words`, where word i is in ``passages[i]`` of `n_passages` passages."""
        frequencies = np.append(passages, 0)
        weights = np.rint(_SCALE * (1 + np.log((1 + n_passages) / (1 + frequencies)))).astype(np.int64)
        return cls(list(words), weights)

    def numbers(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return each word's index in `words`, or ``len(words)`` if it is unknown."""
        known = {word: i for i, word in enumerate(self.words)}
        return np.fromiter((known.get(w, len(known)) for w in vocabulary), np.int64, len(vocabulary))


class SpanFeatures(NamedTuple):
    """The features of spans, each paired with a question."""

    numbers: NDArray[np.int64]  # shape (n_numbers, n_spans), in the order of NUMBERS
    shapes: NDArray[np.int64]  # shape (n_spans,): the span's shape
    kinds: NDArray[np.int64]  # shape (n_spans,): the question's wh-word
    # Span i's words are words[word_offsets[i]:word_offsets[i + 1]], numbered by WordWeights.
    word_offsets: NDArray[np.int64]
    words: NDArray[np.int64]
    evidence: NDArray[np.bool_]  # shape (n_spans,): whether the span's sentence has a word of the question

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        words: WordWeights,
        spans: EncodedSpans,
        question: NDArray[np.int64],
        span: NDArray[np.int64],
    ) -> SpanFeatures:
        """Compute the features of pairs of a question and one of its spans."""
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
        """Concatenate the features of several batches."""
        numbers, shapes, kinds, offsets, words, evidence = zip(*parts, strict=True)
        lengths = np.concatenate([np.diff(part) for part in offsets])
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
    solver: Solver,
    question: Question,
    spans: EncodedSpans,
    explain_score: Callable[[int, float], tuple[Mapping[str, float], Callable[[], Term]]],
) -> Explanation:
    """Explain the 100 best spans by their formulas and marks; the other spans get only their scores.

    Parameters
    ----------
    solver : Solver
    question : Question
    spans : EncodedSpans
        The spans of this question only.
    explain_score : callable
        Returns the numbers of the candidate with an index and a score, and what makes its formula.
    """
    scores = solver.score_candidates([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    in_question = np.isin(spans.tokens, spans.question_tokens)
    # A question has thousands of spans, too many to read.
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        plain = explained[i]
        numbers, make_formula = explain_score(i, plain.score)
        marks = tuple(_mark_span(spans, i, in_question))
        explained[i] = replace(plain, marks=marks, numbers=numbers, make_formula=make_formula)
    return Explanation(solver.name, question, tuple(explained))


def _mark_span(spans: EncodedSpans, i: int, in_question: NDArray[np.bool_]) -> list[Mark]:
    """Mark the span, and the question's words in the rest of its sentence."""
    first, last = spans.first[i], spans.last[i]
    begin, end = spans.sentence_offsets[spans.sentence[i] : spans.sentence[i] + 2]
    around = [*range(begin, first), *range(last, end)]
    places = [(spans.token_starts[j], spans.token_ends[j], "question") for j in around if in_question[j]]
    if first < last:
        places.append((spans.token_starts[first], spans.token_ends[last - 1], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]
