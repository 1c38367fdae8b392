"""The tokenizer ``jieba``: Chinese words from jieba's dictionary, and all other text as in
``char``.
"""

from __future__ import annotations

import importlib.metadata
import re
import unicodedata
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from classic_rc.errors import MissingPackageError
from classic_rc.text.tokenizers import HAN, CharTokenizer, char_pattern, mark_class, normalise_words

_PACKAGE = "jieba"


class JiebaTokenizer(CharTokenizer):
    """Like :class:`~classic_rc.text.tokenizers.CharTokenizer`, but runs of Han are cut into words.

    jieba cuts each run by itself: the most probable path through its dictionary, then a hidden
    Markov model for words that the dictionary lacks (jieba's default, ``HMM=True``). A dictionary
    of the user's has no effect.
    """

    name = "jieba"
    description = (
        "Chinese words (needs the extra zh: pip install 'classic_rc[zh]'); other text as in char."
    )
    citation = (
        "Sun Junyi, jieba 0.42 (github.com/fxsjy/jieba); default mode, with its hidden Markov "
        "model."
    )

    @property
    def version(self) -> str:
        """The version of jieba, on which the words depend."""
        return _version()

    def tokenize(self, text: str) -> list[str]:
        """Return the words, NFC-normalised and with plain apostrophes."""
        if text.isascii():
            return super().tokenize(text)
        text = normalise_words(text)
        return [text[start:end] for start, end in self.locate(text)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each word in the original text, normalised or not."""
        if text.isascii():
            return super().locate(text)
        return list(_locate(text))


def _locate(text: str) -> Iterator[tuple[int, int]]:
    for match in _pattern().finditer(text):
        start, end = match.span()
        if match.lastgroup != "han" or end - start == 1:
            yield start, end
            continue
        starts = [found.start() for found in _han_character().finditer(text, start, end)]
        # Without its marks, NFC replaces each character by one, so that words have the same
        # characters before.
        run = unicodedata.normalize("NFC", "".join(text[place] for place in starts))
        ends = accumulate(map(len, _jieba().cut(run, HMM=True)), initial=0)
        bounds = [*starts, end]
        yield from pairwise(bounds[place] for place in ends)


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(f"(?P<han>(?:{_han_character().pattern})+)|{char_pattern().pattern}")


@cache
def _han_character() -> re.Pattern[str]:
    return re.compile(f"(?=[^\\W_])[{HAN}][{mark_class()}]*")


@cache
def _version() -> str:
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingPackageError(_PACKAGE, needed_for="the analyzer jieba", extra="zh") from None


@cache
def _jieba() -> Any:
    """Return jieba's tokenizer with its own dictionary, read anew.

    jieba by itself keeps the dictionary in a file that all users of a machine share, and logs on
    stderr.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its regular expressions and pkg_resources
            import jieba
    except ImportError:
        raise MissingPackageError(_PACKAGE, needed_for="the analyzer jieba", extra="zh") from None
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
