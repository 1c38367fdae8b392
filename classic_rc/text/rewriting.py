"""Texts put together from parts of other texts: words, sentences, and where each part went."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.dream import spoken_sentences

WORDS = get_tokenizer("char")
"""The tokenizer of words; in scripts without spaces, of characters."""


class Unit(NamedTuple):
    """A word, or an entity mention, which is never torn apart."""

    start: int
    end: int
    is_mention: bool = False


def word_key(word: str) -> str:
    """Return the form in which words are compared: NFC, plain apostrophes, lower case."""
    return unicodedata.normalize("NFC", word).replace("’", "'").lower()


def find_units(text: str, mentions: Iterable[tuple[int, int]] = ()) -> list[Unit]:
    """Return the words and mentions in order. Overlapping mentions, and words that overlap one,
    are one unit.
    """
    spans = [Unit(start, end) for start, end in WORDS.locate(text)]
    spans += [Unit(start, end, True) for start, end in mentions]
    units: list[Unit] = []
    for unit in sorted(spans):
        if units and unit.start < units[-1].end:
            last = units.pop()
            unit = Unit(last.start, max(last.end, unit.end), last.is_mention or unit.is_mention)
        units.append(unit)
    return units


class Sentences(NamedTuple):
    """The sentences of a passage, without the labels of speakers."""

    borders: list[tuple[int, int]]
    in_turns: bool  # whether they are the turns of a dialogue, which solvers find by its labels

    def marks(self, borders: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...] | None:
        """Return these borders as the marks of a rewritten passage.

        They keep the splitter from finding other sentences in a text without the capitals and stops
        that it needs. A dialogue has none, because turns are looked for only where no sentences are
        marked.
        """
        if self.in_turns:
            return None
        return tuple((start, end) for start, end in borders if start < end) or None


def find_sentences(passage: Passage, units: Sequence[Unit]) -> Sentences:
    """Return the sentences; a unit that crosses a border moves it, and sentences that a unit
    joins are one.
    """
    starts = [unit.start for unit in units]

    def crossing(place: int) -> Unit:
        at = bisect_left(starts, place) - 1  # the last unit that begins before
        if at >= 0 and units[at].end > place:
            return units[at]
        return Unit(place, place)

    spoken = spoken_sentences(passage)
    borders: list[tuple[int, int]] = []
    for sentence in spoken:
        start, end = crossing(sentence.start).start, crossing(sentence.end).end
        if borders and start < borders[-1][1]:
            first, last = borders.pop()
            start, end = min(start, first), max(end, last)
        borders.append((start, end))
    return Sentences(borders, any(sentence.turn >= 0 for sentence in spoken))


class Rewriting:
    """A text put together from parts of another one; it knows where each part went."""

    def __init__(self, text: str) -> None:
        self.original, self.parts, self.length = text, [""], 0
        self.moves: list[
            tuple[int, int, int, int, bool]
        ] = []  # old start and end, new ones, and whether as it was

    def keep(self, start: int, end: int, written: str | None = None) -> None:
        """Append a part of the original text, or what is written instead of it."""
        stretch = self.original[start:end] if written is None else written
        new_end = self.length + len(stretch)
        self.moves.append((start, end, self.length, new_end, written is None))
        self.add(stretch)

    def add(self, text: str) -> None:
        """Append new text."""
        self.parts.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """The new text."""
        return "".join(self.parts)

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the new text of a part of the old one; its ends may be within kept
        parts.
        """
        moves = [move for move in self.moves if move[0] < end and move[1] > start]
        old_start, _, new_start, _, is_copy = min(moves)
        if is_copy:
            new_start += max(start - old_start, 0)
        _, old_end, _, new_end, is_copy = max(moves)
        if is_copy:
            new_end -= max(old_end - end, 0)
        return new_start, new_end


def write_in_order(
    rewriting: Rewriting,
    start: int,
    end: int,
    places: Sequence[tuple[int, ...]],
    parts: Sequence[tuple[int, ...]],
) -> list[tuple[int, int]]:
    """Write a stretch of text with other parts in the places; return where each part begins and
    ends.
    """
    written = []
    for place, stretch in zip(places, parts, strict=True):
        rewriting.keep(start, place[0])
        written.append((rewriting.length, rewriting.length + stretch[1] - stretch[0]))
        rewriting.keep(stretch[0], stretch[1])
        start = place[1]
    rewriting.keep(start, end)
    return written


_PLACES = frozenset({"sentences_used", "spans", "turns"})
"""The keys of `meta` that have numbers of sentences (MultiRC) or offsets in the passage (SQuAD's
forms, DREAM).
"""


class PassageEdit(NamedTuple):
    """A perturbed passage, and the map from the original's offsets."""

    passage: Passage
    rewriting: Rewriting


def make_edit(
    passage: Passage, rewriting: Rewriting, marks: tuple[tuple[int, int], ...] | None
) -> PassageEdit:
    """Return the edit that a rewriting makes, with these marks of sentences."""
    meta = without_places(passage.meta)
    return PassageEdit(replace(passage, text=rewriting.text, sentences=marks, meta=meta), rewriting)


def without_places(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the `meta` without places in the passage's text, which are wrong in another text."""
    return {key: value for key, value in meta.items() if key not in _PLACES}


def edit_passages(
    dataset: Dataset, change: Callable[[Passage, list[Unit]], PassageEdit]
) -> Iterator[Question]:
    """Yield the questions with changed passages, one for all questions about it, and with
    mentions in place.
    """
    mentions: dict[int, set[tuple[int, int]]] = {}
    for question in dataset:
        of_passage = mentions.setdefault(id(question.passage), set())
        if question.task is Task.CLOZE:
            for candidate in question.candidates:
                start, end = candidate.start, candidate.end
                if start is not None and end and candidate.text.strip():
                    of_passage.add((start, end))
    edits: dict[int, PassageEdit] = {}
    for question in dataset:
        passage = question.passage
        if id(passage) not in edits:
            units = find_units(passage.text, mentions[id(passage)])
            edits[id(passage)] = change(passage, units)
        edit = edits[id(passage)]
        candidates = _move_mentions(question, edit)
        yield replace(
            question,
            passage=edit.passage,
            candidates=candidates,
            meta=without_places(question.meta),
        )


def _move_mentions(question: Question, edit: PassageEdit) -> Sequence[Candidate]:
    if question.task is not Task.CLOZE:
        return question.candidates
    moved = []
    for candidate in question.candidates:
        if candidate.start is None or candidate.end is None or not candidate.text.strip():
            moved.append(Candidate(candidate.text))
            continue
        start, end = edit.rewriting.locate(candidate.start, candidate.end)
        moved.append(Candidate(edit.passage.text[start:end], start, end))
    return tuple(moved)
