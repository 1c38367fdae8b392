"""Analyzers (tokenizer, case, stemmer and stop list in one value), and the named analyzers and tokenizers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from classic_rc.errors import unknown_name
from classic_rc.plugins import Registry, accept_instances, by_name
from classic_rc.text.chinese import JiebaTokenizer
from classic_rc.text.clitics import CliticTokenizer
from classic_rc.text.dream import DreamTokenizer
from classic_rc.text.lucene_english import LuceneEnglishTokenizer
from classic_rc.text.stemmers import STEMMERS, stemmer
from classic_rc.text.stop_words import STOP_LISTS, stop_list_signature, stop_words
from classic_rc.text.tokenizers import (
    ASCII_BLANKS,
    CharTokenizer,
    MultiRCTokenizer,
    RegexTokenizer,
    Tokenizer,
    WordTokenizer,
)
from classic_rc.text.treebank import MCTestTreebankTokenizer, TreebankTokenizer, blank_mctest_escapes


class MCTestTokenizer(RegexTokenizer):
    r"""The tokens behind the scores that MCTest's authors released.

    Only blanks and ``. , ; : ?`` separate tokens: ``"stop!"`` with its quotes is one token. The literal
    two-character escapes ``\newline`` and ``\tab`` of MCTest's files count as blanks.
    """

    name = "mctest"
    description = "The MCTest authors' tokenizer: splits only at blanks and . , ; : ?."
    citation = "Richardson, Burges and Renshaw (EMNLP 2013); recovered from their released score files."
    separators = ASCII_BLANKS + ".,;:?"
    pattern = re.compile(r"[^\s.,;:?]+")

    def prepare(self, text: str) -> str:
        """Return the text with blanks for escapes."""
        return blank_mctest_escapes(text)


class WhitespaceTokenizer(RegexTokenizer):
    """The text between blanks, punctuation attached."""

    name = "whitespace"
    description = "Words between blanks, with punctuation attached."
    citation = "Python's str.split."
    separators = ASCII_BLANKS
    pattern = re.compile(r"\S+")


TOKENIZERS = Registry[Tokenizer](
    "analyzer",
    by_name(
        WordTokenizer(),
        MCTestTokenizer(),
        TreebankTokenizer(),
        WhitespaceTokenizer(),
        CharTokenizer(),
        JiebaTokenizer(),
        DreamTokenizer(),
        MCTestTreebankTokenizer(),
        MultiRCTokenizer(),
        LuceneEnglishTokenizer(),
        CliticTokenizer(),
    ),
    accept_instances("classic_rc.text:Tokenizer"),
)
"""The tokenizers by name. Each is also the analyzer of its name, with the settings of :attr:`Tokenizer.usual`."""


def get_tokenizer(name: str) -> Tokenizer:
    """Return the tokenizer of this name.

    Raises
    ------
    UsageError
        No tokenizer has this name.

    Examples
    --------
    >>> get_tokenizer("word").tokenize("Don't pay 3.50!")
    ["Don't", 'pay', '3.50']
    >>> get_tokenizer("mctest").tokenize("Don't pay 3.50!")
    ["Don't", 'pay', '3', '50!']
    """
    if name not in TOKENIZERS:
        raise unknown_name("tokenizer", name, TOKENIZERS)
    return TOKENIZERS[name]


_CASES = {"cased": False, "lower": True}
_UNSTEMMED = "unstemmed"


@dataclass(frozen=True, slots=True, repr=False)
class Analyzer:
    """The normalisation of text into the tokens that are counted.

    Parameters
    ----------
    tokenizer : str
        A name in :data:`~classic_rc.text.analyzers.TOKENIZERS`.
    lowercase : bool, default=True
    stemmer : str, default="none"
        A name in :data:`~classic_rc.text.stemmers.STEMMERS`.
    stop_words : str, default="none"
        The words to drop: the name of a stop list or the path of a file. They are compared with the
        lower-cased, unstemmed token.

    Raises
    ------
    UsageError
        A name is unknown.
    DataError
        The file of stop words is missing or not UTF-8.

    Examples
    --------
    >>> Analyzer("word", stemmer="porter", stop_words="smart").analyze("The foxes don't run.")
    ['fox', 'run']
    """

    tokenizer: str
    lowercase: bool = True
    stemmer: str = "none"
    stop_words: str = "none"

    def __post_init__(self) -> None:
        get_tokenizer(self.tokenizer)
        if self.stemmer not in STEMMERS:
            raise unknown_name("stemmer", self.stemmer, STEMMERS)
        if self.stop_words not in STOP_LISTS:  # a file: fail now, not after the texts are read
            stop_words(self.stop_words)

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the analyzer of a tokenizer's name, with the tokenizer's usual settings."""
        return cls(name, **TOKENIZERS[name].usual)

    @property
    def spec(self) -> str:
        """The text form that :func:`get_analyzer` reads: a named analyzer and the differences from it.

        Examples
        --------
        >>> Analyzer("treebank", lowercase=False, stemmer="porter", stop_words="smart").spec
        'treebank+cased+porter+stop=smart'
        """
        return "+".join(self._spec_parts(self.stop_words))

    @property
    def signature(self) -> str:
        """The spec, with a stop list's file by name and content hash, and the version of the tokenizer's package.

        Examples
        --------
        >>> get_analyzer("jieba+cased").signature  # doctest: +SKIP
        'jieba-0.42.1+cased'
        """
        name, *others = self._spec_parts(stop_list_signature(self.stop_words))
        version = get_tokenizer(self.tokenizer).version
        return "+".join([f"{name}-{version}" if version else name, *others])

    def fold(self, types: Sequence[str]) -> list[str | None]:
        """Return the final form of each surface token of a vocabulary, or None if it is dropped.

        Case, stop words and stems depend only on the word, so they are computed once per distinct word.

        Examples
        --------
        >>> Analyzer("word", stop_words="lucene").fold(["The", "Fox"])
        [None, 'fox']
        """
        normalize, stops = get_tokenizer(self.tokenizer).normalize, stop_words(self.stop_words)
        lowered = [normalize(word, True) for word in types]
        words = lowered if self.lowercase else [normalize(word, False) for word in types]
        final: Sequence[str] = words
        if self.stemmer != "none":
            stem = stemmer(self.stemmer)
            stems = {word: stem(word) for word in dict.fromkeys(words)}
            final = [stems[word] for word in words]
        if not stops:
            return list(final)
        return [None if low in stops else word for low, word in zip(lowered, final, strict=True)]

    def analyze(self, text: str) -> list[str]:
        """Return the final tokens of `text`."""
        return [token for token in self.fold(get_tokenizer(self.tokenizer).tokenize(text)) if token is not None]

    def locate(self, text: str) -> list[tuple[str, int, int]]:
        """Return the final tokens of `text`, each with its character offsets (start, end)."""
        tokenizer = get_tokenizer(self.tokenizer)
        folded = self.fold(tokenizer.tokenize(text))
        return [
            (token, start, end)
            for token, (start, end) in zip(folded, tokenizer.locate(text), strict=True)
            if token is not None
        ]

    @property
    def description(self) -> str:
        """One sentence.

        Examples
        --------
        >>> get_analyzer("whitespace+porter").description
        'Words between blanks, with punctuation attached; lower-cased; stemmed by porter.'
        """
        tokens = get_tokenizer(self.tokenizer).description.rstrip(".")
        facts = [tokens, "lower-cased" if self.lowercase else "cased"]
        if self.stemmer != "none":
            facts.append(f"stemmed by {self.stemmer}")
        if self.stop_words != "none":
            facts.append(f"without the stop words of {self.stop_words}")
        return "; ".join(facts) + "."

    def _spec_parts(self, stop_list: str) -> list[str]:
        preset = Analyzer.named(self.tokenizer)
        parts = [self.tokenizer]
        if self.lowercase != preset.lowercase:
            parts.append("lower" if self.lowercase else "cased")
        if self.stemmer != preset.stemmer:
            parts.append(self.stemmer if self.stemmer != "none" else _UNSTEMMED)
        if self.stop_words != preset.stop_words:
            parts.append(f"stop={stop_list}")
        return parts

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        return f"<analyzer {self.spec}>"


def get_analyzer(spec: str | Analyzer) -> Analyzer:
    """Return the analyzer of a specification; an analyzer is returned unchanged.

    Parameters
    ----------
    spec : str or Analyzer
        A name in :data:`TOKENIZERS`, then modifiers with a plus before each: ``cased`` or ``lower``; the name of
        a stemmer, or ``unstemmed``; ``stop=`` and the name or path of a stop list (a path without a plus).

    Raises
    ------
    UsageError
        A name is unknown.
    DataError
        The file of stop words is missing or not UTF-8.
    MissingPackageError
        The package of its tokenizer is not installed.

    Examples
    --------
    >>> get_analyzer("word+porter+stop=smart")
    <analyzer word+porter+stop=smart>
    >>> get_analyzer("word+cased").analyze("The Fox")
    ['The', 'Fox']
    """
    if isinstance(spec, Analyzer):
        return spec
    name, *modifiers = str(spec).split("+")
    if name not in TOKENIZERS:
        raise unknown_name("analyzer", name, TOKENIZERS)
    analyzer = Analyzer.named(name)
    for modifier in modifiers:
        analyzer = _apply_modifier(analyzer, modifier)
    _ = get_tokenizer(name).version  # a missing package is an error before any text is read
    return analyzer


def _apply_modifier(analyzer: Analyzer, modifier: str) -> Analyzer:
    stemmers = STEMMERS.keys() - {"none"}
    if modifier in _CASES:
        return replace(analyzer, lowercase=_CASES[modifier])
    if modifier in stemmers:
        return replace(analyzer, stemmer=modifier)
    if modifier == _UNSTEMMED:
        return replace(analyzer, stemmer="none")
    if modifier.startswith("stop="):
        return replace(analyzer, stop_words=modifier.removeprefix("stop="))
    known = [*_CASES, *stemmers, _UNSTEMMED, *(f"stop={name}" for name in STOP_LISTS)]
    raise unknown_name("analyzer modifier", modifier, known)
