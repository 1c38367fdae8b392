"""Tokenizers that cut a script without blanks between its words by another package's dictionary:
``jieba`` (Chinese), ``fugashi`` (Japanese), ``kiwi`` (Korean) and ``newmm`` (Thai).
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import unicodedata
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from classic_rc.errors import DataError, MissingPackageError
from classic_rc.text.tokenizers import (
    HAN,
    HANGUL,
    HANGUL_ENDS,
    KANA,
    CharTokenizer,
    mark_class,
    normalise_words,
    split_pattern,
)

_LONGEST_RUN = 1000
"""The most characters that a dictionary cuts at once: for some, time grows faster than the text."""


class DictionaryTokenizer(CharTokenizer):
    """Like :class:`~classic_rc.text.tokenizers.CharTokenizer`, but runs of one script are cut into
    words.

    Each run of letters is cut by itself. So its words have no brackets, marks, digits or letters of
    other scripts, and do not depend on the text around the run.

    Attributes
    ----------
    script : str
        The letters of the runs, as a character class.
    packages : tuple of str
        The distributions that the words depend on.
    extra : str
        The extra of this package that installs them.
    """

    script: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]
    extra: ClassVar[str]

    @abstractmethod
    def cut(self, run: str) -> Iterable[str]:
        """Return the words of a run of letters in NFC; joined, they must equal the run."""

    @property
    def version(self) -> str:
        """The versions of the packages, on which the words depend."""
        return _versions(self.name, self.packages, self.extra)

    def tokenize(self, text: str) -> list[str]:
        """Return the words, NFC-normalised and with plain apostrophes."""
        if text.isascii():
            return super().tokenize(text)
        text = normalise_words(text)
        return [text[start:end] for start, end in self.locate(text)]

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the offsets of each word in the original text, normalised or not.

        Raises
        ------
        DataError
            The package returns words that are not those of the text.
        MissingPackageError
            A package is not installed.
        """
        _ = self.version  # a missing package is an error of one line
        return super().locate(text) if text.isascii() else list(self._locate(text))

    def _locate(self, text: str) -> Iterator[tuple[int, int]]:
        character, pattern = _patterns(self.script)
        for match in pattern.finditer(text):
            start, end = match.span()
            letters = list(character.finditer(text, start, end)) if match["run"] else []
            if len(letters) < 2:
                yield start, end
                continue
            written = [self.letter(letter[0]) for letter in letters]
            run = "".join(written)
            words = list(self.cut(run))
            if "".join(words) != run:
                raise DataError(
                    f"{self.name} returns words that are not in the text",
                    found=f"{' '.join(words)[:40]!r}",
                    expected=f"the words of {run[:40]!r}",
                    hint=f"Use analyzer=char, or another version of {self.packages[0]}",
                )
            places = dict(zip(accumulate(map(len, written), initial=0), letters, strict=False))
            ends = accumulate(map(len, words), initial=0)
            # A dictionary may end a word between a letter and its mark: that is no border.
            begins = sorted({places[place].start() for place in ends if place in places})
            yield from pairwise([*begins, end])

    def letter(self, text: str) -> str:
        """Return a letter and its marks in the form that :meth:`cut` expects."""
        return unicodedata.normalize("NFC", text)

    def _pattern(self) -> re.Pattern[str]:
        return _patterns(self.script)[1]


@cache
def _patterns(script: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a letter of the script, and of its runs and all other tokens."""
    letter = f"(?=[^\\W_])[{script}][{mark_class()}{HANGUL_ENDS}]*"
    run = f"(?P<run>(?:{letter}){{1,{_LONGEST_RUN}}})"
    return re.compile(letter), re.compile(f"{run}|{split_pattern(script)}")


@cache
def _versions(name: str, packages: tuple[str, ...], extra: str) -> str:
    versions = []
    for package in packages:
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise MissingPackageError(
                package, needed_for=f"the analyzer {name}", extra=extra
            ) from None
        versions.append(version if package == packages[0] else f"{package}-{version}")
    return "-".join(versions)


class JiebaTokenizer(DictionaryTokenizer):
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
    script, packages, extra = HAN, ("jieba",), "zh"

    def letter(self, text: str) -> str:
        """Return the letter without its marks."""
        return unicodedata.normalize("NFC", text[0])

    def cut(self, run: str) -> Iterable[str]:
        """Return jieba's words."""
        words: Iterable[str] = _jieba().cut(run, HMM=True)
        return words


@cache
def _jieba() -> Any:
    """Return jieba's tokenizer with its own dictionary, read anew.

    jieba by itself keeps the dictionary in a file that all users of a machine share, and logs on
    stderr.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its regular expressions and pkg_resources
        import jieba
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


class FugashiTokenizer(DictionaryTokenizer):
    """Japanese words of MeCab with the dictionary UniDic (short unit words)."""

    name = "fugashi"
    description = (
        "Japanese words (needs the extra ja: pip install 'classic_rc[ja]'); other text as in char."
    )
    citation = "McCann 2020, fugashi; MeCab with unidic-lite, which is UniDic 2.1.2."
    script, packages, extra = HAN + KANA, ("fugashi", "unidic-lite"), "ja"

    def cut(self, run: str) -> Iterable[str]:
        """Return MeCab's words."""
        return [word.surface for word in _fugashi()(run)]


@cache
def _fugashi() -> Any:
    import fugashi
    import unidic_lite

    # The machine's settings (MECABRC) may name another dictionary, so they are not read.
    return fugashi.GenericTagger(f'-r "{os.devnull}" -d "{unidic_lite.DICDIR}"')


class KiwiTokenizer(DictionaryTokenizer):
    """Korean morphemes of Kiwi; one that is part of a syllable is not cut off."""

    name = "kiwi"
    description = (
        "Korean morphemes (needs the extra ko: pip install 'classic_rc[ko]'); other text as in "
        "char."
    )
    citation = "Lee 2024, Kiwi (github.com/bab2min/kiwipiepy)."
    script, packages, extra = HANGUL, ("kiwipiepy", "kiwipiepy_model"), "ko"

    def cut(self, run: str) -> Iterable[str]:
        """Return the text between the borders of Kiwi's morphemes."""
        places = {0, len(run)}
        for morpheme in _kiwi().tokenize(run):
            places |= {morpheme.start, morpheme.start + morpheme.len}
        return [run[start:end] for start, end in pairwise(sorted(places))]


@cache
def _kiwi() -> Any:
    from kiwipiepy import Kiwi

    return Kiwi(num_workers=1)


class NewmmTokenizer(DictionaryTokenizer):
    """Thai words of PyThaiNLP: the fewest words of its dictionary."""

    name = "newmm"
    description = (
        "Thai words (needs the extra th: pip install 'classic_rc[th]'); other text as in char."
    )
    citation = "Phatthiyaphaibun et al. 2023, PyThaiNLP; its default engine newmm."
    script, packages, extra = "\u0e00-\u0e7f", ("pythainlp",), "th"

    def cut(self, run: str) -> Iterable[str]:
        """Return newmm's words."""
        from pythainlp.tokenize import newmm

        words: Iterable[str] = newmm.segment(run)
        return words


SEGMENTERS = (JiebaTokenizer, FugashiTokenizer, KiwiTokenizer, NewmmTokenizer)
"""The tokenizers with a dictionary."""
