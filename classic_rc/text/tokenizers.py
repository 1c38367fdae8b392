"""The tokenizers by name."""

from __future__ import annotations

import re

from classic_rc.errors import unknown_name
from classic_rc.text.base import RegexTokenizer, Tokenizer
from classic_rc.text.dream import DreamTokenizer
from classic_rc.text.lucene_english import LuceneEnglishTokenizer
from classic_rc.text.multirc2018 import MultiRCTokenizer
from classic_rc.text.treebank import MCTestTreebankTokenizer, TreebankTokenizer, blank_mctest_escapes
from classic_rc.text.unicode_words import CharTokenizer, WordTokenizer


class MCTestTokenizer(RegexTokenizer):
    r"""The tokens behind the scores that MCTest's authors released.

    Only blanks and ``. , ; : ?`` separate: ``"stop!"``, quotes and all, is a token. The literal two-character
    escapes ``\newline`` and ``\tab`` of MCTest's files are blanks.
    """

    name = "mctest"
    description = "MCTest's authors' own: only blanks and . , ; : ? separate."
    citation = "Richardson, Burges and Renshaw (EMNLP 2013); recovered from their released score files."
    pattern = re.compile(r"[^\s.,;:?]+")

    def prepare(self, text: str) -> str:
        """The text with blanks for escapes."""
        return blank_mctest_escapes(text)


class WhitespaceTokenizer(RegexTokenizer):
    """What stands between blanks."""

    name = "whitespace"
    description = "What stands between blanks, punctuation attached."
    citation = "Python's str.split."
    pattern = re.compile(r"\S+")


TOKENIZERS: dict[str, Tokenizer] = {
    tokenizer.name: tokenizer
    for tokenizer in (
        WordTokenizer(),
        MCTestTokenizer(),
        TreebankTokenizer(),
        WhitespaceTokenizer(),
        CharTokenizer(),
        DreamTokenizer(),
        MCTestTreebankTokenizer(),
        MultiRCTokenizer(),
        LuceneEnglishTokenizer(),
    )
}


def get_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name.

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
