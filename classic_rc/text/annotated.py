"""Texts with what linguistic analysers say of them, and groups of words where no analyser has looked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from classic_rc.io.hashing import sha256_of_text
from classic_rc.text.analyzers import Analyzer


class Chunk(NamedTuple):
    """A group of tokens that belong together.

    Parameters
    ----------
    start, end : int
        Its tokens, `end` exclusive.
    kind : str
        ``"NP"``, ``"VP"``, …
    """

    start: int
    end: int
    kind: str


class Chain(NamedTuple):
    """Mentions of one thing.

    Parameters
    ----------
    mentions : tuple of (int, int)
        Each mention's tokens, the end exclusive.
    representative : int, optional
        Which of the mentions names the thing best.
    words : tuple of str, optional
        In its place, the words of a representative of which nothing else is known.
    """

    mentions: tuple[tuple[int, int], ...]
    representative: int | None = None
    words: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A passage, a question or a candidate with its annotation; None stands for what is not annotated.

    Parameters
    ----------
    tokens : tuple of str
        As the annotator made them, in its case, punctuation included if it has kept it.
    lemmas, pos : tuple of str, optional
        A lemma and a part-of-speech tag a token.
    places : tuple of (int, int), optional
        Where each token stands in the text, in characters, the end exclusive.
    sentences : tuple of int, optional
        The first token of each sentence, beginning with 0.
    chunks : tuple of Chunk, optional
    chains : tuple of Chain, optional
        Coreference.
    sha256 : str, optional
        Of the annotated text: :func:`~classic_rc.io.hashing.sha256_of_text`.
    complete : bool
        False where `tokens` and `lemmas` are no sequences but sets: the words that the text is known to share with
        its passage.
    unfiltered_sentences : tuple of int, optional
        The first token of each sentence as they were numbered before the annotator dropped punctuation.
    """

    tokens: tuple[str, ...]
    lemmas: tuple[str, ...] | None = None
    pos: tuple[str, ...] | None = None
    places: tuple[tuple[int, int], ...] | None = None
    sentences: tuple[int, ...] | None = None
    chunks: tuple[Chunk, ...] | None = None
    chains: tuple[Chain, ...] | None = None
    sha256: str | None = None
    complete: bool = True
    unfiltered_sentences: tuple[int, ...] | None = None

    def fits(self, text: str) -> bool:
        """Whether it can be an annotation of `text`.

        By the sha256 where there is one; else all tokens must stand in the text, one after the other unless the
        annotation is incomplete, and leave nothing but punctuation and clitics.
        """
        if self.sha256 is not None:
            return self.sha256 == sha256_of_text(text)
        if not self.complete:
            return all(token.lower() in text.lower() for token in self.tokens)
        return locate_tokens(self.tokens, text) is not None

    def token_places(self, text: str) -> tuple[tuple[int, int], ...] | None:
        """`places`, or else where the tokens are found in the text; None where they are not."""
        return self.places if self.places is not None else locate_tokens(self.tokens, text)


@dataclass(frozen=True, slots=True)
class AnnotatedQuestion:
    """A question with the annotation of its text and of its candidates.

    Parameters
    ----------
    text : AnnotatedText
    candidates : tuple of AnnotatedText
        In the dataset's order.
    negated : bool, optional
        Whether the question asks for what is not so.
    categories : frozenset of str
        What kinds of question it is.
    """

    text: AnnotatedText
    candidates: tuple[AnnotatedText, ...]
    negated: bool | None = None
    categories: frozenset[str] = frozenset()


_NO_WORD = re.compile(r"(?:[\W_]|['’]\w+)*")
"""What may stand between tokens of which an annotator has dropped some: punctuation, and clitics such as 's."""


def locate_tokens(tokens: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """Where tokens stand in a text, one after the other, case apart.

    A token without letter or digit that is not found, as a quote that was respelt, and ``-LRB-`` and its like stand
    for characters before the next token, and have no length.

    Returns
    -------
    tuple of (int, int), or None
        None where they do not stand there, or leave a word over.

    Examples
    --------
    >>> locate_tokens(["``", "no", "''", "said", "fox", "cub"], '"No," said Fox\\'s cub.')
    ((0, 0), (1, 3), (3, 3), (6, 10), (11, 14), (17, 20))
    >>> locate_tokens(["yes"], "Yes, said Fox.") is None
    True
    """
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # of the same length
    places, end = [], 0
    for token in tokens:
        start = lowered.find(token.lower(), end)
        if start >= 0 and _NO_WORD.fullmatch(lowered, end, start):
            places.append((start, end := start + len(token)))
        elif _is_respelt(token):
            places.append((end, end))
        else:
            return None
    return tuple(places) if _NO_WORD.fullmatch(lowered, end) else None


def _is_respelt(token: str) -> bool:
    return not any(c.isalnum() for c in token) or (token[0] == token[-1] == "-" and token[1:-1].isalpha())


_JOINT = re.compile(r"\s*|-")
"""What may stand between two words of a run: blanks or one hyphen, but no other mark."""


class TextChunk(NamedTuple):
    """A group of words that stand together.

    Parameters
    ----------
    words : tuple of str
        As the analyzer has them; never empty.
    start, end : int
        Its characters in the text, `end` exclusive.
    sentence : int
        The number of its sentence.
    """

    words: tuple[str, ...]
    start: int
    end: int
    sentence: int = 0


def content_runs(
    text: str,
    sentences: Sequence[tuple[int, int]],
    analyzer: Analyzer,
    stop_words: frozenset[str],
    *,
    single: bool = False,
) -> list[TextChunk]:
    """Maximal runs of content words: what stands between stop words, punctuation and the borders of sentences.

    They stand in for the noun and verb groups of a shallow parser, which needs a model.

    Parameters
    ----------
    text : str
    sentences : sequence of (int, int)
        Character offsets, the end exclusive.
    analyzer : Analyzer
        One that drops punctuation.
    stop_words : frozenset of str
        Compared with the lower-cased word. A text of nothing else keeps them: "the three" is a run then.
    single : bool
        Each word by itself.

    Examples
    --------
    >>> from classic_rc.text.analyzers import get_analyzer
    >>> text = "Who pulled the big-eared fox, sly Tom, out of the grocery store?"
    >>> stops = frozenset(["who", "the", "out", "of"])
    >>> [chunk.words for chunk in content_runs(text, [(0, len(text))], get_analyzer("word"), stops)]
    [('pulled',), ('big', 'eared', 'fox'), ('sly', 'tom'), ('grocery', 'store')]
    """
    located = [
        (word, start + begin, end + begin, number)
        for number, (begin, finish) in enumerate(sentences)
        for word, start, end in analyzer.locate(text[begin:finish])
    ]
    content = [token for token in located if token[0].lower() not in stop_words] or located
    runs: list[list[tuple[str, int, int, int]]] = []
    for token in content:
        if (
            not single
            and runs
            and token[3] == runs[-1][-1][3]
            and _JOINT.fullmatch(text, runs[-1][-1][2], token[1])
        ):
            runs[-1].append(token)
        else:
            runs.append([token])
    return [TextChunk(tuple(t[0] for t in run), run[0][1], run[-1][2], run[0][3]) for run in runs]
