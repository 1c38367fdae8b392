"""Where the chunks that are aligned come from: the text alone, or an annotation of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from classic_rc.errors import DataError
from classic_rc.questions import Question
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.annotated import AnnotatedText
from classic_rc.text.annotations import Annotations
from classic_rc.text.encode import TextChunk, content_runs
from classic_rc.text.sentences import passage_sentences

_NOUNS = re.compile(r"N|JJ|CD|PROPN|ADJ")
_VERBS = re.compile(r"V|RP")


class Chunker(Protocol):
    """What finds the chunks of a question's texts."""

    def passage(self, question: Question) -> list[TextChunk]:
        """Those of its passage, with the numbers of their sentences."""

    def question(self, question: Question) -> list[TextChunk]:
        """Those of the question itself."""

    def candidates(self, question: Question) -> list[list[TextChunk]]:
        """Those of each candidate."""


class RunChunker(NamedTuple):
    """Runs of content words, or each by itself: :func:`~classic_rc.text.encode.content_runs`."""

    analyzer: Analyzer
    stop_words: frozenset[str]
    single: bool = False

    def passage(self, question: Question) -> list[TextChunk]:
        """Runs within the passage's sentences."""
        return self._runs(question.passage.text, passage_sentences(question.passage))

    def question(self, question: Question) -> list[TextChunk]:
        """Runs within the question."""
        return self._runs(question.query, [(0, len(question.query))])

    def candidates(self, question: Question) -> list[list[TextChunk]]:
        """Runs within each candidate."""
        return [self._runs(c.text, [(0, len(c.text))]) for c in question.candidates]

    def _runs(self, text: str, sentences: Sequence[tuple[int, int]]) -> list[TextChunk]:
        return content_runs(text, sentences, self.analyzer, self.stop_words, single=self.single)


class GroupChunker(NamedTuple):
    """The groups of an annotation, without their stop words.

    Where it has none but has part-of-speech tags, groups are runs of nouns, adjectives and numbers, and runs of
    verbs and particles, by the tags of the Penn Treebank or of Universal Dependencies.
    """

    annotations: Annotations
    stop_words: frozenset[str]

    def passage(self, question: Question) -> list[TextChunk]:
        """Groups of the passage."""
        annotated = self.annotations.passage_of(question)
        groups = self._groups(annotated, question.passage.text, question)
        if annotated.sentences is not None:
            starts, places = annotated.sentences, [first for first, _, _ in groups]
        else:
            starts = tuple(start for start, _ in passage_sentences(question.passage))
            places = [chunk.start for _, _, chunk in groups]
        numbers = [max(bisect_right(starts, place) - 1, 0) for place in places]
        return [chunk._replace(sentence=n) for (_, _, chunk), n in zip(groups, numbers, strict=True)]

    def question(self, question: Question) -> list[TextChunk]:
        """Groups of the question."""
        annotated = self.annotations.question_of(question).text
        return [chunk for _, _, chunk in self._groups(annotated, question.text, question)]

    def candidates(self, question: Question) -> list[list[TextChunk]]:
        """Groups of each candidate."""
        annotated = self.annotations.question_of(question).candidates
        return [
            [chunk for _, _, chunk in self._groups(own, candidate.text, question)]
            for own, candidate in zip(annotated, question.candidates, strict=True)
        ]

    def _groups(self, annotated: AnnotatedText, text: str, question: Question) -> list[tuple[int, int, TextChunk]]:
        """Each group's tokens, the end exclusive, and its words; a text without content words is one group."""
        places = annotated.token_places(text) if annotated.complete else None
        if places is None or (annotated.chunks is None and annotated.pos is None):
            raise DataError(
                "the annotation has neither chunks nor part-of-speech tags of a text in its order",
                source=self.annotations.source,
                where=f"question {question.id}",
            )
        own = annotated.chunks
        spans = tagged(annotated.pos or ()) if own is None else ((c.start, c.end) for c in own)
        kept = [(span, [i for i in range(*span) if self._counts(annotated.tokens[i])]) for span in spans]
        if not any(words for _, words in kept):
            everything = [i for i, token in enumerate(annotated.tokens) if any(c.isalnum() for c in token)]
            kept = [((0, len(annotated.tokens)), everything)]
        forms = annotated.lemmas or annotated.tokens
        return [
            (*span, TextChunk(tuple(forms[i].lower() for i in words), places[words[0]][0], places[words[-1]][1]))
            for span, words in kept
            if words
        ]

    def _counts(self, token: str) -> bool:
        return any(c.isalnum() for c in token) and token.lower() not in self.stop_words


def tagged(tags: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of nominal and of verbal tags, the end exclusive.

    Examples
    --------
    >>> list(tagged(["DT", "JJ", "NN", "VBD", "RP", "IN", "CD", "NNS", "."]))
    [(1, 3), (3, 5), (6, 8)]
    """
    kinds = ["n" if _NOUNS.match(tag) else "v" if _VERBS.match(tag) else "" for tag in tags]
    start = 0
    for i in range(1, len(kinds) + 1):
        if i == len(kinds) or kinds[i] != kinds[start]:
            if kinds[start]:
                yield start, i
            start = i
