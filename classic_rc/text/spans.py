"""Candidate spans: their generator, and their offsets in encoded passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classic_rc.errors import DataError, wrong_value
from classic_rc.kernels.arrays import TokenArrays, block_size, offsets_of, ragged_indices
from classic_rc.questions import Candidate, LazyCandidates, Passage, Question
from classic_rc.text.analyzers import (
    Analyzer,
    get_analyzer,
    get_tokenizer,
    stop_list_signature,
    stop_words,
)
from classic_rc.text.languages import Language
from classic_rc.text.segmenters import SEGMENTERS
from classic_rc.text.sentences import passage_sentences, split_sentences, word_table

_LINKS = word_table(
    "of the and for in on at to a de del della der des di da do dos du la las le les el al bin ibn "
    "van von"
)
"""Lower-case words that a name may have inside: ``Bank of England``, ``Charles de Gaulle``."""

_NOT_IN_NAMES = re.compile(r"[^\w\s.'’&/‐-]")
_CLITIC = re.compile(r"'(?:s|m|d|re|ve|ll)\Z")
_DIGIT = re.compile(r"\d")
_SIGNS_OF_NUMBERS = re.compile(r"(?P<before>[$£€¥￥＄](?=\d))|(?<=\d)[%‰％٪℃]")
_PROCLITIC = re.compile("[وفبلك](?=[\u0621-\u064a]{3})")  # Arabic: and, so, with, for, like


SPAN_TOKENIZERS = ("word", "char", "syllable", *(segmenter.name for segmenter in SEGMENTERS))
"""The tokenizers whose tokens can be the borders of spans."""


class SpanCandidates(Sequence[Candidate]):
    """The spans of a passage as arrays of offsets, a sequence that builds each :class:`Candidate`
    on access.

    Attributes
    ----------
    passage_text : str
    starts, ends : ndarray of int32, shape (n_spans,)
        Character offsets in the passage, `ends` exclusive; sorted by (start, end), each pair once.
    first_tokens, last_tokens : ndarray of int32, shape (n_spans,)
        The span's first and last token, as indices into the generator's tokens of the passage.
    """

    __slots__ = ("ends", "first_tokens", "last_tokens", "passage_text", "starts")

    def __init__(
        self,
        text: str,
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        first_tokens: NDArray[np.int32],
        last_tokens: NDArray[np.int32],
    ) -> None:
        self.passage_text = text
        self.starts, self.ends = starts, ends
        self.first_tokens, self.last_tokens = first_tokens, last_tokens

    def texts(self) -> list[str]:
        """Return the text of every span."""
        return [self.passage_text[start:end] for start, end in self._offsets()]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> SpanCandidates: ...
    def __getitem__(self, index: int | slice) -> Candidate | SpanCandidates:
        if isinstance(index, slice):
            arrays = (self.starts, self.ends, self.first_tokens, self.last_tokens)
            return SpanCandidates(self.passage_text, *(array[index] for array in arrays))
        start, end = int(self.starts[index]), int(self.ends[index])
        return Candidate(self.passage_text[start:end], start, end)

    def __iter__(self) -> Iterator[Candidate]:
        text = self.passage_text
        return (Candidate(text[start:end], start, end) for start, end in self._offsets())

    def __repr__(self) -> str:
        return f"<{len(self)} spans>"

    def _offsets(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)


@dataclass(frozen=True)
class SpanGenerator:
    """Generates the candidate spans of a passage.

    A span lies within one sentence, which a blank of Thai does not end here. It is either

    * one to `max_tokens` tokens, where neither the first nor the last token is a stop word; or
    * a name of any length, stop words included: a longest run of tokens that have a capital, or a
      longest such run that may also have lower-case words like "of" or "de" inside (``Bank of
      England``). Punctuation ends a run, except for full stop, apostrophe, hyphen, slash and
      ampersand. Inside a sentence ``The Who`` and ``May`` are names. At the start of a sentence
      every word has a capital, so a run of only stop words is not a name there.

    Punctuation is not a token, so a span begins and ends with a word. A token with a digit is never
    a stop word, and it includes the currency or per-cent sign that touches it: ``$3.50``, ``8%``. A
    word with a clitic (``they're``) is a stop word if it is one without the clitic. A span that
    ends in a possessive ``'s`` is generated without the ``'s`` too, and one that begins with an
    Arabic word of one letter that is written together with the next word, also without it.

    A tokenizer other than ``word`` cuts finer. Then one to `max_tokens` texts between blanks and
    marks are a span too, however many tokens they have.

    Parameters
    ----------
    max_tokens : int, default=10
        At least 1.
    stop_words : str, default="nltk"
        The name of a stop list or the path of a file. The default list has no number words: they
        are answers.
    tokenizer : str, default="word"
        The tokenizer whose tokens are the borders of spans: one of :data:`SPAN_TOKENIZERS`.

    Raises
    ------
    UsageError
        A parameter is invalid.
    DataError
        The file of stop words is missing or not UTF-8.

    Examples
    --------
    >>> spans = SpanGenerator(max_tokens=2)(Passage("p", "He met the Queen of Spades."))
    >>> spans.texts()
    ['met', 'Queen', 'Queen of Spades', 'Spades']
    """

    max_tokens: int = 10
    stop_words: str = "nltk"
    tokenizer: str = "word"

    def __post_init__(self) -> None:
        if not isinstance(self.max_tokens, int) or self.max_tokens < 1:
            raise wrong_value("max_tokens", self.max_tokens, "an integer of at least 1")
        if self.tokenizer not in SPAN_TOKENIZERS:
            expected = " or ".join(map(repr, SPAN_TOKENIZERS))
            raise wrong_value("tokenizer", self.tokenizer, expected)
        stop_words(self.stop_words)

    @classmethod
    def of_language(cls, language: Language, max_tokens: int | None = None) -> Self:
        """Return the generator for a language."""
        longest = cls.max_tokens if max_tokens is None else max_tokens
        return cls(longest, language.stop_words, language.segmenter)

    @property
    def signature(self) -> str:
        """All parameters in one string, as part of a run's reproducibility signature.

        A tokenizer with a dictionary has the version of its packages.
        """
        stops, version = stop_list_signature(self.stop_words), get_tokenizer(self.tokenizer).version
        tokenizer = f"{self.tokenizer}-{version}" if version else self.tokenizer
        return f"max_tokens={self.max_tokens},stop_words={stops},tokenizer={tokenizer}"

    def __call__(self, passage: Passage) -> SpanCandidates:
        """Return the spans of a passage, sorted by (start, end), without duplicates."""
        stops = stop_words(self.stop_words)
        tokens = _tokenize_passage(passage, self.tokenizer, stops)
        pairs = [
            _window_spans(tokens, self.max_tokens),
            _name_spans(tokens),
            _name_spans(tokens, links=_LINKS),
        ]
        if self.tokenizer != "word":
            texts = _tokenize_passage(passage, "word", stops)
            first, last = _window_spans(texts, self.max_tokens)
            first = np.searchsorted(tokens.starts, texts.starts[first])
            last = np.searchsorted(tokens.ends, texts.ends[last])
            pairs.append(np.stack([first, last]))
        first, last = np.concatenate(pairs, axis=1)
        spans = np.stack([tokens.starts[first], tokens.ends[last], first, last])
        bare = spans[:, tokens.possessive[last]]
        bare[1] -= len("'s")
        rest = spans[:, tokens.proclitic[first]]
        rest[0] += 1
        spans = np.concatenate([spans, bare, rest], axis=1)
        # One key per (start, end): `ends` are at most len(text), so the product cannot mix up two
        # spans.
        width = len(passage.text) + 1
        _, once = np.unique(spans[0] * width + spans[1], return_index=True)
        return SpanCandidates(passage.text, *spans[:, once].astype(np.int32))


class _Tokens(NamedTuple):
    """The tokens of one passage with their properties; every array has shape (n_tokens,)."""

    words: list[str]  # lower-cased
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    sentence: NDArray[np.int64]  # index of the token's sentence, ascending
    opens: NDArray[np.bool_]  # whether it is the first token of its sentence
    edge: NDArray[np.bool_]  # whether a span may begin or end with it
    capital: NDArray[np.bool_]  # whether it has a capital letter
    # whether it may continue a name: no punctuation that ends a name precedes it
    follows: NDArray[np.bool_]
    possessive: NDArray[np.bool_]  # whether it ends in 's
    proclitic: NDArray[np.bool_]  # whether its first letter may be a word of its own


def _tokenize_passage(passage: Passage, tokenizer: str, stops: frozenset[str]) -> _Tokens:
    text = passage.text
    cutter = get_tokenizer(tokenizer)
    surface, offsets = cutter.tokenize(text), cutter.locate(text)
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T.copy()
    _include_signs(starts, ends, text)

    borders = passage.sentences
    if borders is None:  # Thai has blanks inside names, too
        borders = tuple(split_sentences(text, at_blanks=False))
    sentences = np.array(borders, dtype=np.int64).reshape(-1, 2)
    sentence = np.searchsorted(sentences[:, 0], starts, side="right") - 1
    # index -1: before the first sentence, never inside
    inside = ends <= np.append(sentences[:, 1], -1)[sentence]
    opens = np.diff(sentence, prepend=-2) > 0

    words = [token.lower() for token in surface]
    edge = [
        bool(_DIGIT.search(word)) or stops.isdisjoint((word, _CLITIC.sub("", word)))
        for word in words
    ]
    capital = [token != word for token, word in zip(surface, words, strict=True)]
    breaks = np.array([mark.start() for mark in _NOT_IN_NAMES.finditer(text)], dtype=np.int64)
    previous_ends = np.append(0, ends)[: len(ends)]
    marked = np.searchsorted(breaks, starts) > np.searchsorted(breaks, previous_ends)
    possessive = [word.endswith("'s") for word in words]
    proclitic = [bool(_PROCLITIC.match(word)) for word in words]
    return _Tokens(
        words, starts, ends, sentence, opens,
        edge=inside & np.array(edge, dtype=np.bool_),
        capital=inside & np.array(capital, dtype=np.bool_),
        follows=~opens & ~marked,
        possessive=np.array(possessive, dtype=np.bool_),
        proclitic=np.array(proclitic, dtype=np.bool_),
    )  # fmt: skip


def _include_signs(starts: NDArray[np.int64], ends: NDArray[np.int64], text: str) -> None:
    """Widen tokens, in place, by the currency and per-cent signs next to their digits."""
    for sign in _SIGNS_OF_NUMBERS.finditer(text):
        after = int(np.searchsorted(starts, sign.start()))
        if not sign["before"]:
            ends[after - 1] += ends[after - 1] == sign.start()
        elif after < len(starts):
            starts[after] -= starts[after] == sign.end()


def _window_spans(tokens: _Tokens, max_tokens: int) -> NDArray[np.int64]:
    """Return first and last tokens, shape (2, n), of windows within a sentence that begin and
    end with edges.
    """
    index = np.arange(len(tokens.words))
    sentence_end = np.searchsorted(tokens.sentence, tokens.sentence, side="right")
    sizes = np.where(tokens.edge, np.minimum(max_tokens, sentence_end - index), 0)
    first, last = np.repeat(index, sizes), ragged_indices(index, sizes)
    return np.stack([first, last])[:, tokens.edge[last]]


def _name_spans(tokens: _Tokens, links: frozenset[str] = frozenset()) -> NDArray[np.int64]:
    """Return first and last tokens, shape (2, n), of the longest runs of capitalised tokens and
    inner `links`.
    """
    runs: list[list[int]] = []
    open_run = False
    for i, (word, capital, follows) in enumerate(
        zip(tokens.words, tokens.capital.tolist(), tokens.follows.tolist(), strict=True)
    ):
        open_run = open_run and follows and (capital or word in links)
        if capital and open_run:
            runs[-1][1] = i
        elif capital:
            runs.append([i, i])
            open_run = True
    names = []
    for first, last in runs:
        # Any word has a capital at the start of a sentence: a stop word there is no name.
        if not tokens.opens[first] or tokens.edge[first : last + 1].any():
            names.append((first, last))
    return np.array(names, dtype=np.int64).reshape(-1, 2).T


_BLOCK_CANDIDATES = 2**17


class EncodedSpans(NamedTuple):
    """Span questions as token ids; each candidate is a range of its passage's tokens.

    A *list* is the candidates that some questions of a passage share. Every token belongs to a
    sentence, and every passage has at least one sentence.
    """

    questions: list[Question]  # grouped by passage
    analyzer: Analyzer
    vocabulary: list[str]  # the token of each id
    tokens: NDArray[np.int32]  # (n_tokens,): of all passages
    token_starts: NDArray[np.int64]  # (n_tokens,): character offsets in the token's passage
    token_ends: NDArray[np.int64]  # (n_tokens,)
    # (n_sentences + 1,): sentence i of all passages is
    # `tokens[sentence_offsets[i]:sentence_offsets[i + 1]]`
    sentence_offsets: NDArray[np.int64]
    # (n_passages + 1,): the sentences of passage i are `passage_sentences[i]:passage_sentences[i +
    # 1]`
    passage_sentences: NDArray[np.int64]
    question_tokens: NDArray[np.int32]
    question_offsets: NDArray[np.int64]  # (n_questions + 1,)
    question_passage: NDArray[np.int64]  # (n_questions,): each question's passage, ascending
    question_list: NDArray[np.int64]  # (n_questions,): each question's list of candidates
    lists: list[Sequence[Candidate]]
    # (n_lists + 1,): the spans of list i are `list_offsets[i]:list_offsets[i + 1]`
    list_offsets: NDArray[np.int64]
    # (n_spans,): a span's tokens are `tokens[first:last]`: none if the analyzer drops all of them,
    # and whole tokens even where the span has only a part of one ("fox" in "fox's")
    first: NDArray[np.int64]
    last: NDArray[np.int64]  # (n_spans,)
    sentence: NDArray[np.int64]  # (n_spans,): the sentence in which the span begins

    @property
    def passage_offsets(self) -> NDArray[np.int64]:
        """The offsets of each passage's tokens: shape (n_passages + 1,)."""
        return self.sentence_offsets[self.passage_sentences]

    @property
    def candidate_offsets(self) -> NDArray[np.int64]:
        """The offsets of each question's candidates: shape (n_questions + 1,)."""
        return offsets_of(np.diff(self.list_offsets)[self.question_list])

    @property
    def candidate_span(self) -> NDArray[np.int64]:
        """The span of each candidate, question by question: shape (n_candidates,)."""
        return ragged_indices(
            self.list_offsets[self.question_list], np.diff(self.candidate_offsets)
        )

    def in_contexts(
        self, span_context: NDArray[np.int64], context_offsets: NDArray[np.int64]
    ) -> tuple[TokenArrays, NDArray[np.int64]]:
        """Pair each question with each context that has candidates of it, as if the context were
        its passage.

        `span_context` has the context (a sentence, or the passage) of each span; context i is
        ``tokens[context_offsets[i]:context_offsets[i + 1]]``. Returns arrays whose "passages" are
        the contexts and whose "questions" are the pairs of a context and a question; and for each
        candidate of the arrays its index among all questions' candidates in sequence.
        """
        question = np.repeat(np.arange(len(self.questions)), np.diff(self.candidate_offsets))
        span = self.candidate_span
        # By context, then by question: the candidates of each pair become adjacent.
        order = np.lexsort((question, span_context[span]))
        span, question = span[order], question[order]
        starts_context = np.diff(span_context[span], prepend=-1) != 0
        starts_question = np.diff(question, prepend=-1) != 0
        pair_starts = np.flatnonzero(starts_context | starts_question)
        pair_question = question[pair_starts]
        pair_lengths = np.diff(np.append(pair_starts, len(span)))
        query_starts = self.question_offsets[pair_question]
        query_lengths = np.diff(self.question_offsets)[pair_question]
        span_lengths = (self.last - self.first)[span]
        arrays = TokenArrays(
            self.tokens,
            context_offsets,
            self.question_tokens[ragged_indices(query_starts, query_lengths)],
            offsets_of(query_lengths),
            self.tokens[ragged_indices(self.first[span], span_lengths)],
            offsets_of(span_lengths),
            span_context[span[pair_starts]],
            np.repeat(np.arange(len(pair_starts)), pair_lengths),
            max(len(self.vocabulary), 1),
        )
        return arrays, order


def encode_spans(
    questions: Sequence[Question], analyzer: str | Analyzer
) -> Iterator[tuple[NDArray[np.int64], EncodedSpans]]:
    """Encode span questions in parts of bounded size; a part has at least one passage, never a
    piece of one.

    Yields the indices of the part's questions in `questions`, in the part's order, and the part.
    """
    analyzer = get_analyzer(analyzer)
    of_passage: dict[int, list[int]] = {}
    for i, question in enumerate(questions):
        of_passage.setdefault(id(question.passage), []).append(i)
    index: list[int] = []
    lists: dict[_ListKey, Sequence[Candidate]] = {}
    n_candidates = 0
    for members in of_passage.values():
        for i in members:
            key = _list_key(questions[i])
            if key not in lists:
                lists[key] = _list_candidates(questions[i].candidates)
            n_candidates += len(lists[key])
        index += members
        if n_candidates >= block_size(_BLOCK_CANDIDATES):
            yield np.array(index), _encode([questions[i] for i in index], lists, analyzer)
            index, lists, n_candidates = [], {}, 0
    if index:
        yield np.array(index), _encode([questions[i] for i in index], lists, analyzer)


_ListKey: TypeAlias = tuple[int, int]


def _list_key(question: Question) -> _ListKey:
    """Return the key of the question's list of candidates; questions with equal keys share the
    list.
    """
    return id(question.passage), id(question.candidates)


def _list_candidates(candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    return candidates.generate() if isinstance(candidates, LazyCandidates) else candidates


def _encode(
    questions: list[Question], lists: Mapping[_ListKey, Sequence[Candidate]], analyzer: Analyzer
) -> EncodedSpans:
    passages = {id(q.passage): q.passage for q in questions}
    number = {key: i for i, key in enumerate(passages)}
    located = [analyzer.locate(p.text) for p in passages.values()]
    queries = [analyzer.analyze(q.query) for q in questions]
    ids: dict[str, int] = {}
    tokens: list[int] = []
    for text_tokens in located:
        tokens += [ids.setdefault(token, len(ids)) for token, _, _ in text_tokens]
    query_tokens: list[int] = []
    for words in queries:
        query_tokens += [ids.setdefault(word, len(ids)) for word in words]

    before = offsets_of(list(map(len, located)))
    starts, ends = _split_columns([place[1:] for text_tokens in located for place in text_tokens])
    borders = [_sentence_starts(p) for p in passages.values()]
    passage_sentences = offsets_of(list(map(len, borders)))
    sentence_offsets, first, last, sentence = [], [], [], []
    for i, (begin, end) in enumerate(pairwise(before.tolist())):
        later = np.searchsorted(starts[begin:end], borders[i][1:])
        sentence_offsets += [[begin], begin + later]
    by_key = {_list_key(q): q for q in questions}
    for key, question in by_key.items():
        i = number[id(question.passage)]
        of_passage = slice(before[i], before[i + 1])
        begins, finishes = _offsets_of_all(lists[key], question)
        # From the first token that ends after the span begins, up to the first that starts at its
        # end or later.
        first.append(before[i] + np.searchsorted(ends[of_passage], begins, side="right"))
        last.append(before[i] + np.searchsorted(starts[of_passage], finishes))
        within = np.searchsorted(borders[i], begins, side="right") - 1
        sentence.append(passage_sentences[i] + np.maximum(within, 0))
    list_number = {key: i for i, key in enumerate(by_key)}
    first_token = _concatenate(first)
    # no token left: an empty range, not a negative one
    last_token = np.maximum(_concatenate(last), first_token)
    question_passage = [number[id(q.passage)] for q in questions]
    question_list = [list_number[_list_key(q)] for q in questions]
    return EncodedSpans(
        questions=questions,
        analyzer=analyzer,
        vocabulary=list(ids),
        tokens=np.array(tokens, dtype=np.int32),
        token_starts=starts,
        token_ends=ends,
        sentence_offsets=_concatenate([*sentence_offsets, before[-1:]]),
        passage_sentences=passage_sentences,
        question_tokens=np.array(query_tokens, dtype=np.int32),
        question_offsets=offsets_of(list(map(len, queries))),
        question_passage=np.array(question_passage, dtype=np.int64),
        question_list=np.array(question_list, dtype=np.int64),
        lists=[lists[key] for key in by_key],
        list_offsets=offsets_of(list(map(len, first))),
        first=first_token,
        last=last_token,
        sentence=_concatenate(sentence),
    )


def _concatenate(parts: Sequence[ArrayLike]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts], dtype=np.int64)


def span_offsets(question: Question) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the character offsets of a question's candidates, starts and ends.

    A candidate without offsets is located at the first occurrence of its text.
    """
    return _offsets_of_all(_list_candidates(question.candidates), question)


def text_codes(
    candidates: Sequence[Candidate], code_of: Callable[[str], int], *, by_words: bool
) -> NDArray[np.int64]:
    """Return the codes of the texts of candidates.

    Parameters
    ----------
    candidates : sequence of Candidate
        A :class:`SpanCandidates` is read without making its candidates.
    code_of : callable
        Returns the code of a text.
    by_words : bool
        Whether the code of a text is the sum of those of its parts between blanks. Then `code_of`
        is called once for each distinct word, and spans share most of their words.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
    """
    if isinstance(candidates, SpanCandidates):
        text = candidates.passage_text
        starts, ends = candidates.starts.astype(np.int64), candidates.ends.astype(np.int64)
    else:
        text = "".join(candidate.text for candidate in candidates)
        offsets = offsets_of([len(candidate.text) for candidate in candidates])
        starts, ends = offsets[:-1], offsets[1:]
    words = text.split(" ") if by_words else [text]
    borders = offsets_of([len(word) + 1 for word in words]) - 1  # the blanks and both ends
    sums = offsets_of([code_of(word) for word in words])
    # The blanks of a span are those from `first` to before `last`.
    first, last = np.searchsorted(borders, starts), np.searchsorted(borders, ends)
    has_blanks = first < last
    codes = sums[last - has_blanks] - sums[first]
    width = len(text) + 1
    # The parts before the first blank, and after the last one.
    for begins, finishes in (
        (starts, np.where(has_blanks, borders[first], ends)),
        (np.where(has_blanks, borders[last - 1] + 1, ends), ends),
    ):
        keys, numbers = np.unique(begins * width + finishes, return_inverse=True)
        pieces = [text[slice(*divmod(key, width))] for key in keys.tolist()]
        piece_codes = np.array([code_of(piece) for piece in pieces], dtype=np.int64)
        codes += piece_codes[numbers]
    return codes


def _split_columns(rows: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = np.array(rows, dtype=np.int64).reshape(-1, 2).T.copy()
    return first, second


def _sentence_starts(passage: Passage) -> NDArray[np.int64]:
    """Return where sentences begin; text before the first belongs to it."""
    return np.array([start for start, _ in passage_sentences(passage)] or [0], dtype=np.int64)


def _offsets_of_all(
    candidates: Sequence[Candidate], question: Question
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the character offsets of candidates: their own, or where their text occurs first."""
    if isinstance(candidates, SpanCandidates):
        return candidates.starts.astype(np.int64), candidates.ends.astype(np.int64)
    return _split_columns([_offsets_of_one(candidate, question) for candidate in candidates])


def _offsets_of_one(candidate: Candidate, question: Question) -> tuple[int, int]:
    if candidate.start is not None and candidate.end is not None:
        return candidate.start, candidate.end
    start = question.passage.text.find(candidate.text)
    if start < 0:
        raise DataError(
            "the candidate does not occur in the passage",
            where=f"question {question.id}",
            found=repr(candidate.text),
            hint="Give its start and end, or leave the candidates out to generate spans",
        )
    return start, start + len(candidate.text)
