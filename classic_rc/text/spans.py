"""The span generator: which token spans of a passage are candidates for a span question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import ragged_indices
from classic_rc.questions import Candidate, Passage
from classic_rc.text.analyzers import get_tokenizer, stop_list_signature, stop_words
from classic_rc.text.sentences import passage_sentences, word_table

_LINKS = word_table(
    "of the and for in on at to a de del della der des di da do dos du la las le les el al bin ibn van von"
)
"""Lower-case words that a name may have inside: ``Bank of England``, ``Charles de Gaulle``."""

_NOT_IN_NAMES = re.compile(r"[^\w\s.'’&/‐-]")
_CLITIC = re.compile(r"'(?:s|m|d|re|ve|ll)\Z")
_DIGIT = re.compile(r"\d")
_SIGNS_OF_NUMBERS = re.compile(r"[$£€¥](?=\d)|(?<=\d)[%‰]")


class SpanCandidates(Sequence[Candidate]):
    """The spans of a passage as arrays of offsets, a sequence that builds each :class:`Candidate` on access.

    Attributes
    ----------
    starts, ends : ndarray of int32, shape (n_spans,)
        Character offsets in the passage, `ends` exclusive; sorted by (start, end), each pair once.
    first_tokens, last_tokens : ndarray of int32, shape (n_spans,)
        The span's first and last token, as indices into the generator's tokens of the passage.
    """

    __slots__ = ("_text", "ends", "first_tokens", "last_tokens", "starts")

    def __init__(
        self,
        text: str,
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        first_tokens: NDArray[np.int32],
        last_tokens: NDArray[np.int32],
    ) -> None:
        self._text = text
        self.starts, self.ends = starts, ends
        self.first_tokens, self.last_tokens = first_tokens, last_tokens

    def texts(self) -> list[str]:
        """Return the text of every span."""
        return [self._text[start:end] for start, end in self._offsets()]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> SpanCandidates: ...
    def __getitem__(self, index: int | slice) -> Candidate | SpanCandidates:
        if isinstance(index, slice):
            arrays = (self.starts, self.ends, self.first_tokens, self.last_tokens)
            return SpanCandidates(self._text, *(array[index] for array in arrays))
        start, end = int(self.starts[index]), int(self.ends[index])
        return Candidate(self._text[start:end], start, end)

    def __iter__(self) -> Iterator[Candidate]:
        return (Candidate(self._text[start:end], start, end) for start, end in self._offsets())

    def __repr__(self) -> str:
        return f"<{len(self)} spans>"

    def _offsets(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)


@dataclass(frozen=True)
class SpanGenerator:
    """Generates the candidate spans of a passage.

    A span lies within one sentence. It is either

    * one to `max_tokens` tokens, where neither the first nor the last token is a stop word; or
    * a name of any length, stop words included: a longest run of tokens that have a capital, or a longest such
      run that may also have lower-case words like "of" or "de" inside (``Bank of England``). Punctuation ends a
      run, except for full stop, apostrophe, hyphen, slash and ampersand. Inside a sentence ``The Who`` and
      ``May`` are names. At the start of a sentence every word has a capital, so a run of only stop words is not
      a name there.

    Punctuation is not a token, so a span begins and ends with a word. A token with a digit is never a stop word,
    and it includes the currency or per-cent sign that touches it: ``$3.50``, ``8%``. A word with a clitic
    (``they're``) is a stop word if it is one without the clitic. A span that ends in a possessive ``'s`` is
    generated without the ``'s`` too.

    Parameters
    ----------
    max_tokens : int, default=10
        At least 1.
    stop_words : str, default="nltk"
        The name of a stop list or the path of a file. The default list has no number words: they are answers.
    tokenizer : {"word", "char"}, default="word"
        The tokenizer; ``"char"`` is for scripts without spaces.

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
            expected, found = "an integer of at least 1", repr(self.max_tokens)
            message = f"max_tokens must be {expected}, got {found}"
            raise UsageError(message, field="max_tokens", found=found, expected=expected)
        if self.tokenizer not in ("word", "char"):
            expected, found = "'word' or 'char'", repr(self.tokenizer)
            message = f"tokenizer must be {expected}, got {found}"
            raise UsageError(message, field="tokenizer", found=found, expected=expected)
        stop_words(self.stop_words)

    @property
    def signature(self) -> str:
        """All parameters in one string, as part of a run's reproducibility signature."""
        stops = stop_list_signature(self.stop_words)
        return f"max_tokens={self.max_tokens},stop_words={stops},tokenizer={self.tokenizer}"

    def __call__(self, passage: Passage) -> SpanCandidates:
        """Return the spans of a passage, sorted by (start, end), without duplicates."""
        tokens = _tokenize_passage(passage, self.tokenizer, stop_words(self.stop_words))
        most = min(self.max_tokens, len(tokens.starts))
        pairs = (_window_spans(tokens, most), _name_spans(tokens), _name_spans(tokens, links=_LINKS))
        first, last = np.concatenate(pairs, axis=1)
        spans = np.stack([tokens.starts[first], tokens.ends[last], first, last])
        possessive = tokens.possessive[last]
        bare = spans[:, possessive]
        bare[1] -= len("'s")
        spans = np.concatenate([spans, bare], axis=1)
        # One key per (start, end): `ends` are at most len(text), so the product cannot mix up two spans.
        _, once = np.unique(spans[0] * (len(passage.text) + 1) + spans[1], return_index=True)
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
    follows: NDArray[np.bool_]  # whether it may continue a name: no punctuation that ends a name precedes it
    possessive: NDArray[np.bool_]  # whether it ends in 's


def _tokenize_passage(passage: Passage, tokenizer: str, stops: frozenset[str]) -> _Tokens:
    text = passage.text
    cutter = get_tokenizer(tokenizer)
    surface, offsets = cutter.tokenize(text), cutter.locate(text)
    starts, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T.copy()
    _include_signs(starts, ends, text)

    sentences = np.array(passage_sentences(passage), dtype=np.int64).reshape(-1, 2)
    sentence = np.searchsorted(sentences[:, 0], starts, side="right") - 1
    inside = ends <= np.append(sentences[:, 1], -1)[sentence]  # index -1: before the first sentence, never inside
    opens = np.diff(sentence, prepend=-2) > 0

    words = [token.lower() for token in surface]
    edge = [bool(_DIGIT.search(word)) or stops.isdisjoint((word, _CLITIC.sub("", word))) for word in words]
    capital = [token != word for token, word in zip(surface, words, strict=True)]
    breaks = np.array([mark.start() for mark in _NOT_IN_NAMES.finditer(text)], dtype=np.int64)
    previous_ends = np.append(0, ends)[: len(ends)]
    marked = np.searchsorted(breaks, starts) > np.searchsorted(breaks, previous_ends)
    return _Tokens(
        words, starts, ends, sentence, opens,
        edge=inside & np.array(edge, dtype=np.bool_),
        capital=inside & np.array(capital, dtype=np.bool_),
        follows=~opens & ~marked,
        possessive=np.array([word.endswith("'s") for word in words], dtype=np.bool_),
    )  # fmt: skip


def _include_signs(starts: NDArray[np.int64], ends: NDArray[np.int64], text: str) -> None:
    """Widen tokens, in place, by the currency and per-cent signs next to their digits."""
    for sign in _SIGNS_OF_NUMBERS.finditer(text):
        after = int(np.searchsorted(starts, sign.start()))
        if after < len(starts) and starts[after] == sign.end():
            starts[after] -= 1
        elif after and ends[after - 1] == sign.start():
            ends[after - 1] += 1


def _window_spans(tokens: _Tokens, max_tokens: int) -> NDArray[np.int64]:
    """Return first and last tokens, shape (2, n), of all windows within a sentence whose both ends may be edges."""
    index = np.arange(len(tokens.words))
    sentence_end = np.searchsorted(tokens.sentence, tokens.sentence, side="right")
    sizes = np.where(tokens.edge, np.minimum(max_tokens, sentence_end - index), 0)
    first, last = np.repeat(index, sizes), ragged_indices(index, sizes)
    return np.stack([first, last])[:, tokens.edge[last]]


def _name_spans(tokens: _Tokens, links: frozenset[str] = frozenset()) -> NDArray[np.int64]:
    """Return first and last tokens, shape (2, n), of the longest runs of capitalised tokens and inner `links`."""
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
    names = [run for run in runs if not tokens.opens[run[0]] or tokens.edge[run[0] : run[1] + 1].any()]
    return np.array(names, dtype=np.int64).reshape(-1, 2).T
