"""Penn Treebank tokenizers by nltk's rules (``do n't``, punctuation as tokens), and a counter of their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import offsets_of
from classic_rc.text.sentences import split_sentences
from classic_rc.text.tokenizers import Tokenizer


class TreebankTokenizer(Tokenizer):
    """``nltk.word_tokenize``, but with this package's sentence splitter: nltk's Punkt needs a download.

    Treebank rules split off a full stop only at the end of the string, so each sentence is tokenized separately. A
    double quote becomes two back-quotes or two apostrophes.
    """

    name = "treebank"
    description = "Penn Treebank tokens of each sentence, by nltk."
    citation = "Robert MacIntyre's tokenizer.sed (1995), as revised in nltk's NLTKWordTokenizer."

    def prepare(self, text: str) -> str:
        """Return the text to tokenize; it has the length of `text`, so offsets hold."""
        return text

    def rules(self) -> Any:
        """Return the nltk tokenizer that implements the rules."""
        return treebank_rules()

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of all sentences."""
        return [token for tokens, _ in self._sentences(text) for token in tokens]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each token, rewritten quotes included."""
        prepared = self.prepare(text)
        return [
            place for tokens, (start, end) in self._sentences(text) for place in align(tokens, prepared, start, end)
        ]

    def _sentences(self, text: str) -> Iterator[tuple[list[str], tuple[int, int]]]:
        text, tokenize = self.prepare(text), self.rules().tokenize
        return ((tokenize(text[start:end]), (start, end)) for start, end in split_sentences(text))


class MCTestTreebankTokenizer(TreebankTokenizer):
    """The Treebank tokens of 2014, with blanks for MCTest's literal ``\\newline`` and ``\\tab``.

    Line ends become blanks too (readers turn the escapes into line ends): in the 2014 code paragraphs did not end
    sentences. In that year ``nltk.word_tokenize`` used the rules that are ``TreebankWordTokenizer`` today.
    """

    name = "mcobzarenco"
    description = "Treebank tokens of each sentence, with MCTest's escapes as blanks."
    citation = "github.com/mcobzarenco/mctest (2014), which Sugawara et al. (AAAI 2017) ran."
    usual: ClassVar[Mapping[str, Any]] = {"lowercase": False, "stop_words": "mcobzarenco"}

    def prepare(self, text: str) -> str:
        """Return the text with blanks for escapes and line ends."""
        return blank_mctest_escapes(text).replace("\n", " ")

    def rules(self) -> Any:
        """Return the nltk tokenizer that implements the rules."""
        return treebank_rules_of_2014()


def blank_mctest_escapes(text: str) -> str:
    r"""Replace the two-character escapes of MCTest's files by as many blanks.

    Examples
    --------
    >>> blank_mctest_escapes(r"The end.\newline Yes.")
    'The end.         Yes.'
    """
    if "\\" not in text:
        return text
    for escape in ("\\newline", "\\tab"):
        text = text.replace(escape, " " * len(escape))
    return text


def align(tokens: Iterable[str], text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the offsets of each token in ``text[start:end]``, from which Treebank rules made the tokens.

    Examples
    --------
    >>> list(align(["``", "No", "''"], '"No"'))
    [(0, 1), (1, 3), (3, 4)]
    """
    position, end = start, len(text) if end is None else end
    for token in tokens:
        while text[position : position + 1].isspace():
            position += 1
        length = len(token)
        if not text.startswith(token, position, end):
            # Treebank rules rewrite only quotes: " and '' become `` where they open and '' elsewhere.
            length = 1 if text[position] == '"' else 2
        yield position, position + length
        position += length


# Importing nltk takes a second, so it is imported on first use.


@cache
def treebank_rules() -> Any:
    """Return the tokenizer that ``nltk.word_tokenize`` uses today."""
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


@cache
def treebank_rules_of_2014() -> Any:
    """Return the tokenizer that ``nltk.word_tokenize`` used before nltk 3.3."""
    from nltk.tokenize.treebank import TreebankWordTokenizer

    return TreebankWordTokenizer()


_CLOSERS = "])}>\"'»”’"
"""Characters that may be between a sentence's last full stop and its end."""
_OPENERS = ("''", '""', "\"''")
"""Quotes that the rules treat differently at the beginning of a sentence."""
_BORDER = "\ue000"
"""A private-use character that becomes a token of its own and occurs in no known dataset."""
_BATCH = 1000


class TreebankCounter:
    """Counts the tokens of :class:`~classic_rc.text.treebank.TreebankTokenizer` in many texts at once.

    The rules look only at the characters between two blanks, and at a full stop that ends the sentence. So a piece
    inside a sentence has the same tokens everywhere: pieces are tokenized together, once each, and cached.

    Examples
    --------
    >>> lengths, vocabulary = TreebankCounter().count(["He can't.", "", "No. Can he?"])
    >>> lengths.tolist(), len(vocabulary)
    ([4, 0, 5], 8)
    """

    def __init__(self) -> None:
        self._tokens: dict[str, list[str]] = {}

    def count(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], frozenset[str]]:
        """Return the number of tokens of each text, and the distinct tokens of all texts, case kept."""
        cut = [
            [key for start, end in split_sentences(text) for key in _split_pieces(text[start:end])]
            for text in texts
        ]
        distinct = set(chain.from_iterable(cut))
        self._tokenize_pieces(distinct - self._tokens.keys())
        sizes = {key: len(self._tokens[key]) for key in distinct}
        n_keys = sum(map(len, cut))
        size = np.fromiter(map(sizes.__getitem__, chain.from_iterable(cut)), np.int64, n_keys)
        ends = offsets_of(np.fromiter(map(len, cut), np.int64, len(cut)))
        return np.diff(offsets_of(size)[ends]), frozenset(token for key in distinct for token in self._tokens[key])

    def _tokenize_pieces(self, keys: set[str]) -> None:
        tokenize = treebank_rules().tokenize
        inner = [key for key in keys if " " not in key]
        for batch in (inner[i : i + _BATCH] for i in range(0, len(inner), _BATCH)):
            bordered = " ".join(chain.from_iterable((_BORDER, piece) for piece in batch))
            tokens = list(_between_borders(tokenize(f"{bordered} {_BORDER}")))
            if len(tokens) != len(batch):  # a piece has the border as a token of its own
                tokens = [tokenize(f"{_BORDER} {piece} {_BORDER}")[1:-1] for piece in batch]
            self._tokens.update(zip(batch, tokens, strict=True))
        for key in keys.difference(inner):
            self._tokens[key] = tokenize(key.removesuffix(" "))


def _split_pieces(sentence: str) -> Iterator[str]:
    """Yield a sentence's pieces; a piece that must be tokenized by itself has a blank in it or after it."""
    *pieces, last = sentence.split(" ")
    body = last.rstrip(_CLOSERS)
    if not body or sentence.startswith(_OPENERS):
        yield sentence + " "
        return
    yield from filter(None, pieces)
    if last[:-1].isalnum() and last.endswith("."):
        yield last[:-1]
        yield "."
    else:
        yield last + " " if last.endswith(("'", *_CLOSERS, ".")) else last


def _between_borders(tokens: list[str]) -> Iterator[list[str]]:
    borders = [i for i, token in enumerate(tokens) if token == _BORDER]
    return (tokens[start + 1 : end] for start, end in pairwise(borders))
