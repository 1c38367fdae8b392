"""Texts with linguistic annotation (lemmas, coreference), and runs of content words as a
fallback.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from classic_rc.io.files import sha256_of_text
from classic_rc.text.analyzers import Analyzer


class Chain(NamedTuple):
    """Mentions of one entity: a coreference chain."""

    # token range (start, end) of each mention, the end exclusive
    mentions: tuple[tuple[int, int], ...]
    representative: int | None = None  # index of the mention that names the entity best
    # the words of the representative mention, if they are known but not its place; `representative`
    # is then None
    words: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A passage, a question or a candidate with its annotation; None means that a layer is not
    annotated.
    """

    # as the annotator made them: its case, with punctuation if the annotator kept it
    tokens: tuple[str, ...]
    lemmas: tuple[str, ...] | None = None  # one per token
    places: tuple[tuple[int, int], ...] | None = (
        None  # character offsets of each token, the end exclusive
    )
    sentences: tuple[int, ...] | None = None  # first token of each sentence, beginning with 0
    chains: tuple[Chain, ...] | None = None  # coreference
    sha256: str | None = None  # of the annotated text: `classic_rc.io.files.sha256_of_text`
    # False: `tokens` and `lemmas` are sets, the words that the text is known to share with its
    # passage
    complete: bool = True
    # first token of each sentence, counted before the annotator dropped punctuation
    unfiltered_sentences: tuple[int, ...] | None = None

    def fits(self, text: str) -> bool:
        """Return whether this can be an annotation of `text`.

        With a sha256, the hashes decide. Without one, all tokens must occur in the text (in order,
        unless the annotation is incomplete) and leave nothing between them but punctuation and
        clitics.
        """
        if self.sha256 is not None:
            return self.sha256 == sha256_of_text(text)
        if not self.complete:
            lowered = text.lower()
            return all(token in lowered for token in {token.lower() for token in self.tokens})
        return locate_tokens(self.tokens, text) is not None

    def token_places(self, text: str) -> tuple[tuple[int, int], ...] | None:
        """Return `places` if they are known, else the offsets found by :func:`locate_tokens`."""
        return self.places if self.places is not None else locate_tokens(self.tokens, text)


@dataclass(frozen=True, slots=True)
class AnnotatedQuestion:
    """A question with the annotation of its text and of its candidates."""

    text: AnnotatedText
    candidates: tuple[AnnotatedText, ...]  # in the dataset's order
    negated: bool | None = None  # whether the question is negated
    categories: frozenset[str] = frozenset()  # such as "who"


def locate_tokens(tokens: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    r"""Return the offsets of tokens that occur in a text in order, ignoring case, and cover its
    words; else None.

    A token that is not found but has no letter or digit (such as a respelt quote), or is written
    like ``-LRB-``, gets an empty span at the end of the token before it.

    Examples
    --------
    >>> locate_tokens(["``", "no", "''", "said", "fox", "cub"], '"No," said Fox\'s cub.')
    ((0, 0), (1, 3), (3, 3), (6, 10), (11, 14), (17, 20))
    >>> locate_tokens(["yes"], "Yes, said Fox.") is None
    True
    """
    # keeps the length, so offsets hold
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    skipped, next_places = _SkippedText(lowered), dict.fromkeys(map(str.lower, tokens), 0)
    places, end = [], 0
    for token in tokens:
        word = token.lower()
        # Each token remembers its next place, so that one that is far away is not searched for
        # again and again.
        start = next_places[word]
        if 0 <= start <= end:
            start = next_places[word] = lowered.find(word, end)
        if end <= start <= skipped.limit(end):
            places.append((start, end := start + len(token)))
        elif _is_respelt(token):
            places.append((end, end))
        else:
            return None
    return tuple(places) if skipped.limit(end) == len(lowered) else None


_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W_]+")


class _SkippedText:
    """Where the text ends that an annotator may drop between tokens: punctuation, and clitics such
    as 's.

    All is computed once for a text, because long stretches of punctuation lie before and after many
    tokens.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        words = [match.span() for match in _WORD.finditer(text)]
        self._word_starts = [start for start, _ in words]
        self._word_ends = [end for _, end in words]
        letters = [match.span() for match in _LETTERS.finditer(text)]
        self._letter_starts = [start for start, _ in letters]
        self._letter_ends = [end for _, end in letters]
        # The first letters of words that are not clitics.
        self._kept: list[int] = []
        for start, end in words:
            if text[max(start - 1, 0) : start] in ("'", "’"):
                continue
            first = self._first_letter(start)
            if first < end:
                self._kept.append(first)

    def limit(self, start: int) -> int:
        """Return the largest number up to which the text from `start` may be dropped."""
        word = bisect_right(self._word_starts, start) - 1
        # in a word, whose apostrophe is before `start`
        if word >= 0 and start < (end := self._word_ends[word]):
            if (first := self._first_letter(start)) < end:
                return first
            start = end
        following = bisect_left(self._kept, start)
        return self._kept[following] if following < len(self._kept) else self._length

    def _first_letter(self, start: int) -> int:
        """Return the place of the first letter or digit from `start`."""
        i = bisect_right(self._letter_ends, start)
        return max(self._letter_starts[i], start) if i < len(self._letter_starts) else self._length


def _is_respelt(token: str) -> bool:
    if not any(c.isalnum() for c in token):
        return True
    return token[0] == token[-1] == "-" and token[1:-1].isalpha()


_WITHIN_RUN = re.compile(r"\s*|-")
"""Text between two words of a run: blanks or one hyphen, but no other mark."""


class TextChunk(NamedTuple):
    """A run of adjacent words."""

    words: tuple[str, ...]  # as the analyzer returns them; never empty
    start: int  # first character in the text
    end: int  # one after the last character
    sentence: int = 0  # index of its sentence


def content_runs(
    text: str,
    sentences: Sequence[tuple[int, int]],
    analyzer: Analyzer,
    stop_words: frozenset[str],
    *,
    single: bool = False,
) -> list[TextChunk]:
    """Return the maximal runs of content words, delimited by stop words, punctuation and sentence
    borders.

    They approximate the noun and verb phrases of a shallow parser, which would need a trained
    model. The analyzer must drop punctuation. Stop words are compared with the lower-cased word; a
    text that has only stop words keeps them: "the three" is a run then. With `single`, each word is
    a run of its own.

    Examples
    --------
    >>> from classic_rc.text.analyzers import get_analyzer
    >>> text = "Who pulled the big-eared fox, sly Tom, out of the grocery store?"
    >>> stops = frozenset(["who", "the", "out", "of"])
    >>> [chunk.words for chunk in content_runs(text, [(0, len(text))], get_analyzer("word"), stops)]
    [('pulled',), ('big', 'eared', 'fox'), ('sly', 'tom'), ('grocery', 'store')]
    """
    located = []
    for number, (begin, finish) in enumerate(sentences):
        for word, start, end in analyzer.locate(text[begin:finish]):
            located.append((word, start + begin, end + begin, number))
    content = [token for token in located if token[0].lower() not in stop_words] or located
    runs: list[list[tuple[str, int, int, int]]] = []
    for token in content:
        if (
            not single
            and runs
            and token[3] == runs[-1][-1][3]
            and _WITHIN_RUN.fullmatch(text, runs[-1][-1][2], token[1])
        ):
            runs[-1].append(token)
        else:
            runs.append([token])
    chunks = []
    for run in runs:
        words = tuple(word for word, *_ in run)
        _, start, _, sentence = run[0]
        _, _, end, _ = run[-1]
        chunks.append(TextChunk(words, start, end, sentence))
    return chunks
