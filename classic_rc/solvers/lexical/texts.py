"""The texts of the lexical matcher as arrays, and how they come from raw text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.lexical import token_counts
from classic_rc.questions import Passage, Question
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import EncodedDataset, encode_sentences, stop_flags
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.stemmers import stemmer

_PUNCTUATION = frozenset("'\"!?-;.,:/\\@#*&`$+=%_()[]{}")
_NEGATION = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)


def is_word(token: str) -> bool:
    """Whether a token counts: not if it begins with punctuation, as ``'s`` does (Smith et al. 2015).

    Brackets are punctuation as well: CoreNLP writes ``-LRB-`` for one.
    """
    return token[:1] not in _PUNCTUATION


def says_not(question: str) -> bool:
    """Whether a question has "not", "never" or "n't", which stand in for a parser's negation of its root.

    Examples
    --------
    >>> says_not("Who didn't come?"), says_not("Who tied the knot?")
    (True, False)
    """
    return _NEGATION.search(question) is not None


class Token(NamedTuple):
    """A word of a passage.

    Parameters
    ----------
    word, stem : str
    stop : bool
        Whether it is a stop word.
    sentence : int
        The number of its sentence.
    place : tuple of (int, int), optional
        Its characters in the passage, where they are known.
    given : bool
        Whether it stands for a mention that coreference links to it.
    """

    word: str
    stem: str
    stop: bool
    sentence: int
    place: tuple[int, int] | None = None
    given: bool = False


@dataclass(frozen=True)
class Texts:
    """Passages, questions and candidates as the matcher's components read them.

    Parameters
    ----------
    encoded : EncodedDataset
        The questions and the arrays of the words; punctuation is dropped.
    stems : TokenArrays
        The same texts as stems or lemmas, over a vocabulary of their own.
    kept : ndarray of bool, shape (n_passage_tokens,)
        False for stop words.
    sentences : ndarray of int64, shape (n_passage_tokens,)
        The number of each token's sentence in its passage.
    word_counts, stem_counts : ndarray of int64, shape (n_passage_tokens,)
        How often each token's word and stem stand in its passage.
    negated : ndarray of bool, shape (n_questions,)
        Whether each of the arrays' questions asks for what is not so.
    starts, start_offsets : ndarray of int64
        Ragged over passages: the first token of each sentence, punctuation counted.
    """

    encoded: EncodedDataset
    stems: TokenArrays
    kept: NDArray[np.bool_]
    sentences: NDArray[np.int64]
    word_counts: NDArray[np.int64]
    stem_counts: NDArray[np.int64]
    negated: NDArray[np.bool_]
    starts: NDArray[np.int64]
    start_offsets: NDArray[np.int64]

    @property
    def words(self) -> TokenArrays:
        """The arrays of the words."""
        return self.encoded.arrays


def raw_texts(questions: Sequence[Question], analyzer: str, normaliser: str, stop_words: str) -> Texts:
    """Texts as an analyzer, a stemmer and our own sentence splitter make them.

    Parameters
    ----------
    questions : sequence of Question
    analyzer, normaliser, stop_words : str
        As of :class:`~classic_rc.solvers.LexicalMatcher`.
    """
    encoded, token_offsets, sentence_offsets = encode_sentences(questions, analyzer)
    whole, vocabulary = encoded.arrays, encoded.vocabulary
    sentences = np.repeat(np.arange(len(token_offsets) - 1), np.diff(token_offsets))
    sentences -= np.repeat(sentence_offsets[:-1], np.diff(whole.passage_offsets))
    counted = np.fromiter(map(is_word, vocabulary), np.bool_, len(vocabulary))
    words = _only(whole, counted)

    stem, ids = stemmer(normaliser), dict[str, int]()
    stem_of = np.array([ids.setdefault(stem(word), len(ids)) for word in vocabulary], dtype=np.int32)
    stems = words._replace(
        passage_tokens=stem_of[words.passage_tokens],
        question_tokens=stem_of[words.question_tokens],
        candidate_tokens=stem_of[words.candidate_tokens],
        n_words=max(len(ids), 1),
    )
    return Texts(
        _with_arrays(encoded, words),
        stems,
        ~stop_flags(vocabulary, encoded.analyzer, stop_words)[words.passage_tokens],
        sentences[counted[whole.passage_tokens]],
        token_counts(words),
        token_counts(stems),
        np.array([says_not(questions[i].query) for i in encoded.order.tolist()], dtype=np.bool_),
        token_offsets[:-1] - np.repeat(whole.passage_offsets[:-1], np.diff(sentence_offsets)),
        sentence_offsets,
    )


def raw_tokens(passage: Passage, analyzer: str, normaliser: str, stop_words: str) -> list[Token]:
    """One passage's words as :func:`raw_texts` has them, with their places."""
    analyze, stem = get_analyzer(analyzer), stemmer(normaliser)
    located = [
        (word, number, (start + sentence_start, end + sentence_start))
        for number, (sentence_start, sentence_end) in enumerate(passage_sentences(passage))
        for word, start, end in analyze.locate(passage.text[sentence_start:sentence_end])
        if is_word(word)
    ]
    stops = stop_flags([word for word, _, _ in located], analyze, stop_words).tolist()
    return [
        Token(word, stem(word), stop, number, place)
        for (word, number, place), stop in zip(located, stops, strict=True)
    ]


def _only(arrays: TokenArrays, counted: NDArray[np.bool_]) -> TokenArrays:
    """The texts without the words that do not count."""
    parts: dict[str, Any] = {}
    for part in ("passage", "question", "candidate"):
        tokens, offsets = getattr(arrays, f"{part}_tokens"), getattr(arrays, f"{part}_offsets")
        keep = counted[tokens]
        parts |= {f"{part}_tokens": tokens[keep], f"{part}_offsets": offsets_of(keep)[offsets]}
    return arrays._replace(**parts)


def _with_arrays(encoded: EncodedDataset, arrays: TokenArrays) -> EncodedDataset:
    return EncodedDataset(
        encoded.questions,
        encoded.analyzer,
        encoded.vocabulary,
        arrays,
        encoded.order,
        encoded.question_offsets,
        encoded.candidate_rows,
    )
