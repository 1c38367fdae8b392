"""Analyzers: tokenizer, case, stemmer and stop list in one value; tokenizers, stemmers and stop
lists by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from classic_rc.errors import DataError, unknown_name
from classic_rc.io.files import read_input, sha256_of_text
from classic_rc.plugins import Registry, accept_instances, by_name
from classic_rc.text.clitics import CliticTokenizer
from classic_rc.text.dream import DreamTokenizer
from classic_rc.text.lucene_english import LuceneEnglishTokenizer
from classic_rc.text.porter import porter_stem
from classic_rc.text.segmenters import SEGMENTERS
from classic_rc.text.tokenizers import (
    ASCII_BLANKS,
    CharTokenizer,
    MultiRCTokenizer,
    RegexTokenizer,
    SyllableTokenizer,
    Tokenizer,
    WordTokenizer,
)
from classic_rc.text.treebank import (
    MCTestTreebankTokenizer,
    TreebankTokenizer,
    blank_mctest_escapes,
)


class MCTestTokenizer(RegexTokenizer):
    r"""The tokens behind the scores that MCTest's authors released.

    Only blanks and ``. , ; : ?`` separate tokens: ``"stop!"`` with its quotes is one token. The
    literal two-character escapes ``\newline`` and ``\tab`` of MCTest's files count as blanks.
    """

    name = "mctest"
    description = "The MCTest authors' tokenizer: splits only at blanks and . , ; : ?."
    citation = (
        "Richardson, Burges and Renshaw (EMNLP 2013); recovered from their released score files."
    )
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
        SyllableTokenizer(),
        *(segmenter() for segmenter in SEGMENTERS),
        DreamTokenizer(),
        MCTestTreebankTokenizer(),
        MultiRCTokenizer(),
        LuceneEnglishTokenizer(),
        CliticTokenizer(),
    ),
    accept_instances("classic_rc.text:Tokenizer"),
)
"""The tokenizers by name. Each is also the analyzer of its name, with the settings of
:attr:`Tokenizer.usual`.
"""


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


STEMMERS: dict[str, str] = {
    "none": "No stemming.",
    "porter": "Porter (1980) with its author's later changes, as in Lucene's PorterStemFilter.",
    "arabic": "The Arabic stemmer of Snowball, as nltk has it.",
}
"""A one-sentence description of each stemmer."""


@cache
def stemmer(name: str) -> Callable[[str], str]:
    """Return the stemming function of this name; its input should be lower case.

    It does not change case.

    Raises
    ------
    UsageError
        No stemmer has this name.

    Examples
    --------
    >>> stemmer("porter")("happily"), stemmer("none")("trees")
    ('happili', 'trees')
    """
    if name not in STEMMERS:
        raise unknown_name("stemmer", name, STEMMERS)
    if name == "none":
        return _identity
    # Cached: the words of queries are mostly words of the passages, stemmed already.
    return lru_cache(maxsize=2**17)(porter_stem if name == "porter" else _arabic_stem)


def _arabic_stem(word: str) -> str:
    from nltk.stem.snowball import ArabicStemmer

    # nltk's stemmer keeps state between words, so each word gets a new one
    return str(ArabicStemmer().stem(word))


def _identity(word: str) -> str:
    return word


STOP_LISTS: dict[str, str] = {
    "none": "No words.",
    "smart": "The SMART retrieval system's 570 English words (571 lines in its file: 'would' is "
    "there twice).",
    "mctest": "The MCTest authors' list: SMART, ten punctuation marks and brackets, and 's.",
    "mcobzarenco": "The list of Sugawara et al. (AAAI 2017): MCTest's list and four more quotes "
    "and marks.",
    "lucene": "Lucene's 33 English words (EnglishAnalyzer; Elasticsearch's _english_).",
    "nltk": "nltk's 179 English words (its list until 2024), used in DREAM's sliding window.",
    "sklearn": "scikit-learn's 318 English words (ENGLISH_STOP_WORDS).",
}
"""A one-sentence description of each named list."""

_SHIPPED = ("smart", "lucene", "nltk")
_MCTEST_MARKS = frozenset([",", "?", ";", "_", "$", "'s", ".", "-LRB-", "-RRB-", '"', ":"])
_MCOBZARENCO_MARKS = frozenset(["!", "'", "''", "``"])


@cache
def stop_words(name_or_path: str) -> frozenset[str]:
    """Return the words of a stop list.

    Parameters
    ----------
    name_or_path : str
        A name in :data:`STOP_LISTS`, or the path of a UTF-8 text file with one word per line. A
        string with a slash, a backslash or a full stop is a path. The file is read once and
        lower-cased.

    Returns
    -------
    frozenset of str

    Raises
    ------
    UsageError
        No list has this name.
    DataError
        The file is missing or not UTF-8.

    Examples
    --------
    >>> len(stop_words("lucene")), "?" in stop_words("mctest"), stop_words("none")
    (33, True, frozenset())
    """
    if name_or_path == "none":
        return frozenset()
    if name_or_path == "mctest":
        return stop_words("smart") | _MCTEST_MARKS
    if name_or_path == "mcobzarenco":
        return stop_words("mctest") | _MCOBZARENCO_MARKS
    if name_or_path == "sklearn":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if name_or_path in _SHIPPED:
        shipped = files("classic_rc.text") / "stop_lists" / f"{name_or_path}.txt"
        return frozenset(shipped.read_text(encoding="utf-8").split())
    if not any(mark in name_or_path for mark in "/\\."):
        raise unknown_name("stop list", name_or_path, STOP_LISTS)
    return _read_stop_list(name_or_path)


def stop_list_signature(name_or_path: str) -> str:
    """Return a named list's name, or a file's name and content hash (``mine.txt@1f2e3d4c``)
    without its folder.
    """
    if name_or_path in STOP_LISTS:
        return name_or_path
    content = "\n".join(sorted(stop_words(name_or_path)))
    return f"{Path(name_or_path).name}@{sha256_of_text(content)[:8]}"


def _read_stop_list(path: str) -> frozenset[str]:
    try:
        text = read_input(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(
            "no such file",
            source=path,
            hint=f"Use a file of stop words or one of {', '.join(STOP_LISTS)}",
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(
            "the stop list is not UTF-8",
            source=path,
            where=f"byte {error.start}",
            hint="Save it as UTF-8",
        ) from None
    except OSError as error:
        raise DataError("the stop list cannot be read", source=path, found=error.strerror) from None
    return frozenset(line.strip().lower() for line in text.splitlines()) - {""}


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
        A name in :data:`~classic_rc.text.analyzers.STEMMERS`.
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
        """The text form that :func:`get_analyzer` reads: a named analyzer and the differences from
        it.

        Examples
        --------
        >>> Analyzer("treebank", lowercase=False, stemmer="porter", stop_words="smart").spec
        'treebank+cased+porter+stop=smart'
        """
        return "+".join(self._spec_parts(self.stop_words))

    @property
    def signature(self) -> str:
        """The spec, with a stop list's file by name and content hash, and the version of the
        tokenizer's package.

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

        Case, stop words and stems depend only on the word, so they are computed once per distinct
        word.

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
        return [
            token
            for token in self.fold(get_tokenizer(self.tokenizer).tokenize(text))
            if token is not None
        ]

    def locate(self, text: str) -> list[tuple[str, int, int]]:
        """Return the final tokens of `text`, each with its character offsets (start, end)."""
        tokenizer = get_tokenizer(self.tokenizer)
        folded = self.fold(tokenizer.tokenize(text))
        located = zip(folded, tokenizer.locate(text), strict=True)
        return [(token, start, end) for token, (start, end) in located if token is not None]

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
        A name in :data:`TOKENIZERS`, then modifiers with a plus before each: ``cased`` or
        ``lower``; the name of a stemmer, or ``unstemmed``; ``stop=`` and the name or path of a stop
        list (a path without a plus).

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
    modifiers = [*_CASES, *stemmers, _UNSTEMMED, *(f"stop={name}" for name in STOP_LISTS)]
    raise unknown_name("analyzer modifier", modifier, modifiers)
