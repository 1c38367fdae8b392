"""The lexical matcher's texts as arrays, built from raw text or from an annotation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import (
    MatchedBlock,
    TokenArrays,
    matched_blocks,
    offsets_of,
    runs_of,
)
from classic_rc.kernels.lexical import token_counts
from classic_rc.questions import Passage, Question
from classic_rc.text.analyzers import get_analyzer, stemmer
from classic_rc.text.analyzers import stop_words as stop_list
from classic_rc.text.annotated import AnnotatedText
from classic_rc.text.annotations import Annotations
from classic_rc.text.encode import encode_sentences
from classic_rc.text.encoded import EncodedDataset, stop_flags
from classic_rc.text.sentences import passage_sentences

_BLOCK_TOKENS = 2**16
"""Tokens of the questions that are scored together, unless one question has more."""

_PUNCTUATION = frozenset("'\"!?-;.,:/\\@#*&`$+=%_()[]{}")
_NEGATION = re.compile(r"\b(?:not|never)\b|n['’]t\b", re.IGNORECASE)


def is_word(token: str) -> bool:
    """Return whether a token counts: not if it begins with punctuation, as ``'s`` does (Smith et
    al. 2015).

    Brackets are punctuation too. CoreNLP writes an opening bracket as ``-LRB-``.
    """
    return token[:1] not in _PUNCTUATION


def is_negated(question: str) -> bool:
    """Return whether a question has "not", "never" or "n't", which approximate a parser's negation
    of its root.

    Examples
    --------
    >>> is_negated("Who didn't come?"), is_negated("Who tied the knot?")
    (True, False)
    """
    return _NEGATION.search(question) is not None


class Token(NamedTuple):
    """A word of a passage."""

    word: str
    stem: str
    stop: bool  # whether it is a stop word
    sentence: int  # the number of its sentence
    place: tuple[int, int] | None = None  # its character offsets in the passage, if known
    given: bool = False  # whether it replaces a mention that coreference links to it


@dataclass(frozen=True)
class LexicalTexts:
    """Passages, questions and candidates in the form that the matcher's components read."""

    # The questions, and their texts as words without punctuation.
    encoded: EncodedDataset
    # The same texts as stems or lemmas, with their own vocabulary.
    stems: TokenArrays
    # Shape (n_passage_tokens,): False for stop words.
    kept: NDArray[np.bool_]
    # Shape (n_passage_tokens,): the number of each token's sentence in its passage.
    sentences: NDArray[np.int64]
    # Where the words and the stems of questions and candidates occur in the passages.
    word_blocks: Sequence[MatchedBlock]
    stem_blocks: Sequence[MatchedBlock]
    # Shape (n_passage_tokens,): how often each token's word and stem occur in its passage.
    word_counts: NDArray[np.int64]
    stem_counts: NDArray[np.int64]
    # Shape (n_questions,), in the arrays' order: whether the question is negated.
    negated: NDArray[np.bool_]
    # Ragged over passages: the first token of each sentence, where punctuation counts as tokens.
    starts: NDArray[np.int64]
    start_offsets: NDArray[np.int64]

    @property
    def words(self) -> TokenArrays:
        """The texts as arrays of words."""
        return self.encoded.arrays

    def of_question(self, place: int) -> LexicalTexts:
        """Return the texts of one question, by its index in the arrays."""
        passage = int(self.words.question_passage[place])
        tokens = slice(*self.words.passage_offsets[passage : passage + 2].tolist())
        starts = self.starts[slice(*self.start_offsets[passage : passage + 2].tolist())]
        encoded = self.encoded.part(place, place + 1)
        stems = self.stems.slice_questions(place, place + 1)
        return LexicalTexts(
            encoded,
            stems,
            kept=self.kept[tokens],
            sentences=self.sentences[tokens],
            word_blocks=list(matched_blocks(encoded.arrays)),
            stem_blocks=list(matched_blocks(stems)),
            word_counts=self.word_counts[tokens],
            stem_counts=self.stem_counts[tokens],
            negated=self.negated[place : place + 1],
            starts=starts,
            start_offsets=np.array([0, len(starts)]),
        )


class RawTexts:
    """The matcher's texts from raw text, made with an analyzer, a stemmer and our own sentence
    splitter.

    `encoded` has the questions with all their words, punctuation too.
    """

    def __init__(
        self, questions: Sequence[Question], analyzer: str, normaliser: str, stop_words: str
    ) -> None:
        self.encoded, self._token_offsets, self._sentence_offsets = encode_sentences(
            questions, analyzer
        )
        self._questions, vocabulary = questions, self.encoded.vocabulary
        self._counts = np.fromiter(map(is_word, vocabulary), np.bool_, len(vocabulary))
        # Several words may have one stem, so stems have their own ids, numbered in the order of the
        # vocabulary.
        stems, ids = map(stemmer(normaliser), vocabulary), dict[str, int]()
        stem_ids = (ids.setdefault(stem, len(ids)) for stem in stems)
        self._stem_of = np.fromiter(stem_ids, np.int32, len(vocabulary))
        self._n_stems = max(len(ids), 1)
        self._kept = ~stop_flags(vocabulary, self.encoded.analyzer, stop_words)

    def texts(self) -> LexicalTexts:
        """Return the texts of all questions."""
        return self._texts_of(self.encoded, 0, len(self.encoded))

    def blocks(self) -> Iterator[LexicalTexts]:
        """Yield the texts of consecutive questions of the arrays.

        The arrays that the components read are many times larger than the encoding.
        """
        arrays = self.encoded.arrays
        loads = np.diff(arrays.question_offsets)
        loads = loads + np.bincount(
            arrays.candidate_question, np.diff(arrays.candidate_offsets), len(loads)
        )
        first = np.flatnonzero(np.diff(arrays.question_passage, prepend=-1))
        loads[first] += np.diff(arrays.passage_offsets)[arrays.question_passage[first]]
        for start, stop in runs_of(loads.astype(np.int64), _BLOCK_TOKENS):
            yield self._texts_of(self.encoded.part(start, stop, with_questions=False), start, stop)

    def _texts_of(self, encoded: EncodedDataset, start: int, stop: int) -> LexicalTexts:
        arrays, everything = encoded.arrays, self.encoded
        passage = int(everything.arrays.question_passage[start]) if stop > start else 0
        sentence_offsets = self._sentence_offsets[passage : passage + len(arrays.passage_offsets)]
        token_offsets = self._token_offsets[sentence_offsets[0] : sentence_offsets[-1] + 1]
        sentence_offsets = sentence_offsets - sentence_offsets[0]
        token_offsets = token_offsets - token_offsets[0]
        sentences = np.repeat(np.arange(len(token_offsets) - 1), np.diff(token_offsets))
        sentences -= np.repeat(sentence_offsets[:-1], np.diff(arrays.passage_offsets))
        words, stem_of = _keep_words(arrays, self._counts), self._stem_of
        stems = words._replace(
            passage_tokens=stem_of[words.passage_tokens],
            question_tokens=stem_of[words.question_tokens],
            candidate_tokens=stem_of[words.candidate_tokens],
            n_words=self._n_stems,
        )
        word_blocks, stem_blocks = list(matched_blocks(words)), list(matched_blocks(stems))
        order = everything.order[start:stop].tolist()
        negated = [is_negated(self._questions[i].query) for i in order]
        passage_starts = np.repeat(arrays.passage_offsets[:-1], np.diff(sentence_offsets))
        return LexicalTexts(
            encoded.with_arrays(words),
            stems,
            kept=self._kept[words.passage_tokens],
            sentences=sentences[self._counts[arrays.passage_tokens]],
            word_blocks=word_blocks,
            stem_blocks=stem_blocks,
            word_counts=token_counts(words, word_blocks),
            stem_counts=token_counts(stems, stem_blocks),
            negated=np.array(negated, dtype=np.bool_),
            starts=token_offsets[:-1] - passage_starts,
            start_offsets=sentence_offsets,
        )


def raw_tokens(passage: Passage, analyzer: str, normaliser: str, stop_words: str) -> list[Token]:
    """Return the words of a passage, the same as in :class:`RawTexts`, with their character
    offsets.
    """
    analyze, stem = get_analyzer(analyzer), stemmer(normaliser)
    words, sentences, places = [], [], []
    for number, (start, end) in enumerate(passage_sentences(passage)):
        for word, word_start, word_end in analyze.locate(passage.text[start:end]):
            if is_word(word):
                words.append(word)
                sentences.append(number)
                places.append((start + word_start, start + word_end))
    stops = stop_flags(words, analyze, stop_words).tolist()
    return list(map(Token, words, map(stem, words), stops, sentences, places))


def _keep_words(arrays: TokenArrays, counts: NDArray[np.bool_]) -> TokenArrays:
    """Drop the words that do not count from all texts."""
    parts: dict[str, Any] = {}
    for kind in ("passage", "question", "candidate"):
        tokens, offsets = getattr(arrays, f"{kind}_tokens"), getattr(arrays, f"{kind}_offsets")
        keep = counts[tokens]
        parts |= {f"{kind}_tokens": tokens[keep], f"{kind}_offsets": offsets_of(keep)[offsets]}
    return arrays._replace(**parts)


class AnnotatedReader:
    """A reader that builds the matcher's texts from a dataset's annotation.

    The encoding is labelled with the analyzer, which analyses nothing; `normaliser` is ``"lemma"``
    or a stemmer.
    """

    def __init__(
        self, annotations: Annotations, analyzer: str, normaliser: str, stop_words: str
    ) -> None:
        self.annotations = annotations
        self._analyzer = get_analyzer(analyzer)
        self._stem = None if normaliser == "lemma" else stemmer(normaliser)
        self._stop_words = stop_list(stop_words)

    def texts(
        self, questions: Sequence[Question], *, linked: bool = False, by_form: bool = False
    ) -> LexicalTexts:
        """Build the questions' texts; with `linked`, the words of a chain's representative replace
        its mentions.

        `by_form` repeats a behaviour of the code of Smith et al. 2015: the replacing words match by
        their form even where other words match by their stem, and the counts of the other words are
        those of the original passage. An annotation that is missing, does not fit the text, or
        lacks something that is needed is a DataError.
        """
        # One question of each passage, to look up the passage's annotation.
        first: dict[int, Question] = {}
        for q in questions:
            first.setdefault(id(q.passage), q)
        number = {key: i for i, key in enumerate(first)}
        passage_of = np.array([number[id(q.passage)] for q in questions], dtype=np.int64)
        # Group the questions by passage, as encodings do; a stable sort keeps the order within a
        # passage.
        order = np.argsort(passage_of, kind="stable")
        grouped = [questions[i] for i in order.tolist()]
        annotated = [self.annotations.question_of(q) for q in grouped]
        original = [self.tokens(q) for q in first.values()]
        passages = [self.tokens(q, linked=True) for q in first.values()] if linked else original

        n_candidates = np.array([len(a.candidates) for a in annotated], dtype=np.int64)
        shape = passage_of[order], np.repeat(np.arange(len(grouped)), n_candidates)
        of_questions, of_candidates = [], []
        for q, annotation in zip(grouped, annotated, strict=True):
            of_questions.append(self._words_and_stems(annotation.text, q))
            of_candidates += [self._words_and_stems(c, q) for c in annotation.candidates]
        words, vocabulary = _encode_tokens(
            [[t.word for t in tokens] for tokens in passages],
            [words for words, _ in of_questions],
            [words for words, _ in of_candidates],
            *shape,
        )
        stems, _ = _encode_tokens(
            [_passage_stems(tokens, by_form) for tokens in passages],
            [_text_stems(*question, by_form) for question in of_questions],
            [_text_stems(*candidate, by_form) for candidate in of_candidates],
            *shape,
        )
        word_blocks, stem_blocks = list(matched_blocks(words)), list(matched_blocks(stems))
        word_counts = token_counts(words, word_blocks)
        stem_counts = token_counts(stems, stem_blocks)
        if by_form:
            word_counts = _count_tokens(passages, original, "word")
            stem_counts = _count_tokens(passages, original, "stem")
        encoded = EncodedDataset(
            questions, self._analyzer, vocabulary, words, order, offsets_of(n_candidates), None
        )
        kept = np.array([not t.stop for tokens in passages for t in tokens], dtype=np.bool_)
        sentences = np.array([t.sentence for tokens in passages for t in tokens], dtype=np.int64)
        all_starts = [self._sentence_starts(q) for q in first.values()]
        return LexicalTexts(
            encoded,
            stems,
            kept,
            sentences,
            word_blocks,
            stem_blocks,
            word_counts,
            stem_counts,
            negated=np.array([self.negated(q) for q in grouped], dtype=np.bool_),
            starts=np.array([start for starts in all_starts for start in starts], dtype=np.int64),
            start_offsets=offsets_of(list(map(len, all_starts))),
        )

    def tokens(self, question: Question, *, linked: bool = False) -> list[Token]:
        """Return the words of a question's passage without punctuation; with `linked`, mentions
        are replaced.
        """
        annotated = self.annotations.passage_of(question)
        tokens = self._all_tokens(annotated, question)
        if not linked:
            return [token for token in tokens if is_word(token.word)]
        replacements, replaced = self._replacements(annotated, tokens, question)
        words = []
        for i, token in enumerate(tokens):
            if i in replaced:
                continue
            if i in replacements:
                words += replacements[i]
            elif is_word(token.word):
                words.append(token)
        return words

    def negated(self, question: Question) -> bool:
        """Return whether a question is negated: by its annotation or, if that has no negation,
        by its words.
        """
        annotated = self.annotations.question_of(question).negated
        return is_negated(question.query) if annotated is None else annotated

    def _all_tokens(self, annotated: AnnotatedText, question: Question) -> list[Token]:
        passage, places = question.passage, annotated.token_places(question.passage.text)
        words = [token.lower() for token in annotated.tokens]
        stems = self._stems(annotated, question)
        if annotated.sentences is not None:
            sentences = [bisect_right(annotated.sentences, i) - 1 for i in range(len(words))]
        elif places is not None:
            starts = [start for start, _ in passage_sentences(passage)]
            sentences = [max(bisect_right(starts, start) - 1, 0) for start, _ in places]
        else:
            raise self._missing(
                "sentences",
                question,
                ", and sentences cannot be found because its tokens differ from the text",
            )
        columns = words, stems, sentences, places or [None] * len(words)
        return [
            Token(word, stem, word in self._stop_words, sentence, place)
            for word, stem, sentence, place in zip(*columns, strict=True)
        ]

    def _replacements(
        self, annotated: AnnotatedText, tokens: Sequence[Token], question: Question
    ) -> tuple[dict[int, list[Token]], set[int]]:
        """Return the words that replace each mention, by its first token, and the other tokens
        of mentions.
        """
        if annotated.chains is None:
            raise self._missing("chains", question)
        stem_of = {token.word: token.stem for token in tokens}
        replacements: dict[int, list[Token]] = defaultdict(list)
        replaced: set[int] = set()
        for chain in annotated.chains:
            if chain.representative is None:
                forms = [word.lower() for word in chain.words or ()]
            else:
                forms = [
                    token.word for token in tokens[slice(*chain.mentions[chain.representative])]
                ]
            words = [word for word in forms if is_word(word) and word not in self._stop_words]
            for i, (start, end) in enumerate(chain.mentions):
                if words and i != chain.representative:
                    sentence, place = tokens[start].sentence, tokens[start].place
                    replacements[start] += [
                        Token(w, stem_of.get(w, w), False, sentence, place, given=True)
                        for w in words
                    ]
                    replaced.update(range(start + 1, end))
        return replacements, replaced

    def _stems(self, annotated: AnnotatedText, question: Question) -> list[str]:
        if self._stem is not None:
            return [self._stem(token.lower()) for token in annotated.tokens]
        if annotated.lemmas is None:
            raise self._missing("lemmas", question)
        return [lemma.lower() for lemma in annotated.lemmas]

    def _words_and_stems(
        self, annotated: AnnotatedText, question: Question
    ) -> tuple[list[str], list[str]]:
        """Return the words and the stems of a question or a candidate. Both are used as sets, so
        may not align.
        """
        words = [token.lower() for token in annotated.tokens]
        stems = self._stems(annotated, question)
        if annotated.complete:
            counted = [is_word(word) for word in words]
            stems = [stem for stem, counts in zip(stems, counted, strict=True) if counts]
        return [word for word in words if is_word(word)], stems

    def _sentence_starts(self, question: Question) -> Sequence[int]:
        annotated = self.annotations.passage_of(question)
        starts = annotated.unfiltered_sentences or annotated.sentences
        if starts is not None:
            return starts
        sentences = [token.sentence for token in self._all_tokens(annotated, question)]
        return np.flatnonzero(np.diff(sentences, prepend=-1)).tolist()

    def _missing(self, field: str, question: Question, reason: str = "") -> DataError:
        problem = f"missing in the annotation{reason}"
        return DataError(
            problem, source=self.annotations.source, where=f"question {question.id}", field=field
        )


def _mark_form(word: str) -> str:
    """Mark a word so that it is different from every stem."""
    return f"\0{word}"


def _passage_stems(tokens: Sequence[Token], by_form: bool) -> list[str]:
    """Return the stems of a passage; with `by_form`, the marked forms of the replacing words."""
    if not by_form:
        return [token.stem for token in tokens]
    return [_mark_form(token.word) if token.given else token.stem for token in tokens]


def _text_stems(words: Sequence[str], stems: Sequence[str], by_form: bool) -> Sequence[str]:
    """Return the stems of a question or a candidate; with `by_form`, the marked forms too.

    They match the replacing words by form, and the others by stem.
    """
    return [*stems, *map(_mark_form, words)] if by_form else stems


def _count_tokens(
    passages: Sequence[Sequence[Token]], original: Sequence[Sequence[Token]], view: str
) -> NDArray[np.int64]:
    """Count the replacing words by form in the replaced passages, and the other words in the
    original ones.
    """
    counts: list[int] = []
    view_of = attrgetter(view)
    for tokens, before in zip(passages, original, strict=True):
        forms = Counter(token.word for token in tokens)
        words = Counter(map(view_of, before))
        counts += [forms[t.word] if t.given else words[view_of(t)] for t in tokens]
    return np.array(counts, dtype=np.int64)


def _encode_tokens(
    passages: Sequence[Sequence[str]],
    questions: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[str]],
    question_passage: NDArray[np.int64],
    candidate_question: NDArray[np.int64],
) -> tuple[TokenArrays, list[str]]:
    ids: dict[str, int] = {}

    def encode(texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        tokens = [ids.setdefault(token, len(ids)) for text in texts for token in text]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        return np.array(tokens, dtype=np.int32), offsets_of(lengths)

    parts = *encode(passages), *encode(questions), *encode(candidates)
    return TokenArrays(*parts, question_passage, candidate_question, max(len(ids), 1)), list(ids)
