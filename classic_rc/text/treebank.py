"""Penn Treebank tokenizers by nltk's rules (``do n't``, punctuation as tokens)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar

from classic_rc.text.sentences import split_sentences
from classic_rc.text.tokenizers import Tokenizer


class TreebankTokenizer(Tokenizer):
    """``nltk.word_tokenize``, but with this package's sentence splitter: nltk's Punkt needs a
    download.

    Treebank rules split off a full stop only at the end of the string, so each sentence is
    tokenized separately. A double quote becomes two back-quotes or two apostrophes.
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
        places: list[tuple[int, int]] = []
        for tokens, (start, end) in self._sentences(text):
            places += align(tokens, prepared, start, end)
        return places

    def _sentences(self, text: str) -> Iterator[tuple[list[str], tuple[int, int]]]:
        text, tokenize = self.prepare(text), self.rules().tokenize
        for start, end in split_sentences(text):
            yield tokenize(text[start:end]), (start, end)


class MCTestTreebankTokenizer(TreebankTokenizer):
    """The Treebank tokens of 2014, with blanks for MCTest's literal ``\\newline`` and ``\\tab``.

    Line ends become blanks too (readers turn the escapes into line ends): in the 2014 code
    paragraphs did not end sentences. In that year ``nltk.word_tokenize`` used the rules that are
    ``TreebankWordTokenizer`` today.
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


def align(
    tokens: Iterable[str], text: str, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the offsets of each token in ``text[start:end]``, from which Treebank rules made the
    tokens.

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
            # Treebank rules rewrite only quotes: " and '' become `` where they open and ''
            # elsewhere.
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
