"""The features of the span ranker: templates of attributes of tokens and spans, each hashed to a
column.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import distinct, offsets_of
from classic_rc.solvers.spans.texts import (
    EDGE,
    Lexicon,
    ReadCandidates,
    ReadPassage,
    ReadQuestion,
    code_of,
)

Codes = NDArray[np.uint32]

BITS = 20
"""Features are hashed to 2**20 columns for first tokens, as many for last tokens, and as many
for spans.
"""
N_COLUMNS = 3 << BITS

_MULTIPLIERS = tuple(np.uint32(m) for m in (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F))
_PATH_BASE = np.uint32(0x01000193)
_LONGEST_PATH = 5
_LONGEST_SPAN = 12
_NEAR = 6
_N_BITS = 4
_PAIR_DISTANCE = 3
_MOST_TIMES = 5
_AROUND = 8
_EIGHTHS = 8
_ROUNDING = 1e-6  # of sums of shares, so that two halves are not nine eighths
N_RARE = 6
"""How many of a question's rarest content words are paired with words of the passage."""

_RARE = tuple(f"question word {k + 1}" for k in range(N_RARE))

TOKEN_TEMPLATES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "classes": (
        ("wh", "class"),
        ("wh", "outside class"),
        ("outside class", "class"),
        ("wh", "outside class", "class"),
        ("wh", "shape"),
        ("auxiliary", "wh", "class"),
        ("farther class", "outside class"),
    ),
    "question-words": (
        ("wh", "is question word"),
        ("is question word", "outside is question word"),
        ("wh", "outside is question word"),
    ),
    "head": (
        ("head", "class"),
        ("head", "shape"),
        ("head", "outside class"),
        ("outside is head", "class"),
        ("outside is head", "wh"),
        ("is head", "wh"),
    ),
    "words": (("word",), ("outside word",), ("wh", "word"), ("wh", "outside word")),
    "head-words": (("head", "word"), ("head", "outside word")),
    "word-pairs": tuple((rare, own) for rare in _RARE for own in ("word", "outside word")),
    "distance": tuple(
        (f"{side} distance", *others)
        for side in ("left", "right")
        for others in ((), ("wh",), (f"{side} step",), (f"{side} step", "wh"))
    ),
    "near": (
        ("near share",),
        ("near share", "wh"),
        ("near share", "class"),
        ("near share", "outside class"),
    ),
    "paths": tuple(
        (f"{side} path", *others)
        for side in ("left", "right")
        for others in ((f"{side} step",), ("wh",), ("head",))
    ),
    "verb": (
        ("verb side",),
        ("verb side", "wh"),
        ("verb side", "auxiliary", "wh"),
        ("verb side", "is best", "wh"),
    ),
    "context": (
        ("verb", "class"),
        ("verb", "outside word"),
        ("verb", "outside class", "class"),
        ("word before wh", "outside word"),
        ("word before wh", "outside class", "wh"),
        ("word after wh", "class"),
        ("word after wh", "outside class", "wh"),
        ("outside word", "class", "wh"),
        ("farther word", "outside class", "wh"),
        ("farther word", "head"),
        ("farthest word", "wh"),
        ("inner class", "class", "wh"),
        ("inner word", "head"),
        ("inner word", "wh"),
        ("head", "outside class", "class"),
        ("wh", "farther class", "outside class", "class"),
        ("farther is question word", "outside is question word", "wh"),
    ),
    "repetition": (("times",), ("times", "wh"), ("times", "class")),
}
"""The features of a first or last token, by group: the attributes that are combined."""

SENTENCE_TEMPLATES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "sentence": (
        ("share",),
        ("rank",),
        ("share", "rank"),
        ("rank", "neighbours' share"),
        ("rank", "wh"),
    ),
    "sentence-words": (
        ("rare words",),
        ("rare words", "wh"),
        ("rare words", "number of words"),
        ("has verb", "has head", "rank"),
        ("pairs",),
        ("pairs", "rank"),
        ("place",),
        ("place", "rank"),
        ("sentence length", "rank"),
        ("share", "number of words"),
        ("share", "pairs"),
        ("neighbours' share", "pairs"),
    ),
}
"""The features of a sentence; a span counts as in the sentence of its first token."""

SPAN_TEMPLATES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "length": (("length",), ("length", "wh"), ("length", "head")),
    "sequence": (("sequence",), ("sequence", "wh"), ("sequence", "head")),
    "borders": (
        ("left class", "first class", "last class", "right class"),
        ("left class", "right class", "wh"),
        ("name goes on",),
        ("name goes on", "wh"),
    ),
    "shapes": (("first shape", "last shape", "wh"),),
    "inside": (("inside",), ("inside", "length"), ("inside", "rank"), ("inside", "wh")),
    "around": (
        ("around",),
        ("around", "wh"),
        ("around", "length"),
        ("around", "inside"),
        ("outside",),
        ("outside", "rank"),
    ),
    "distances": (("first's left distance", "last's right distance"),),
    "combinations": (
        ("first times", "last times", "length"),
        ("sequence", "word after wh"),
        ("sequence", "inside"),
        ("first word", "last word"),
        ("length", "first class", "last class", "wh"),
        ("neighbours' share", "rank", "outside"),
    ),
}
"""The features of a span, by group."""

TEMPLATES_CODE = code_of(repr((TOKEN_TEMPLATES, SENTENCE_TEMPLATES, SPAN_TEMPLATES)))
"""The code of all templates: weights belong to them."""

GROUPS = (*TOKEN_TEMPLATES, *SENTENCE_TEMPLATES, *SPAN_TEMPLATES)
"""The names of all groups of features."""


class AskedQuestion(NamedTuple):
    """A question that was read, with its passage and its candidates."""

    question: ReadQuestion
    passage: ReadPassage
    candidates: ReadCandidates

    @property
    def size(self) -> int:
        """How much a block grows with this question."""
        return len(self.passage.tokens) + len(self.candidates.first)


class Columns(NamedTuple):
    """The columns of the features of some questions' candidates. Every feature has the value 1.

    A candidate's features are those of its first token, its last token, its sentence and its own.
    """

    offsets: NDArray[np.int64]  # (n_questions + 1,): of the candidates
    # The row of each candidate in each part, and the columns of each row: (n_features, n_rows).
    rows: Sequence[NDArray[np.int64] | None]
    parts: Sequence[NDArray[np.int32]]
    # (n_candidates,): whether the sentence has a content word of the question
    evidence: NDArray[np.bool_]

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Add up the weights of each candidate's features, in an order that no other candidate
        changes.
        """
        total = np.zeros(len(self.evidence))
        for rows, columns in zip(self.rows, self.parts, strict=True):
            part_sums = np.zeros(columns.shape[1])
            for column in columns:
                part_sums += weights[column]
            total += part_sums if rows is None else part_sums[rows]
        return total


class Part(NamedTuple):
    """The features that the rows of one part of :class:`Columns` have."""

    name: str
    templates: Sequence[tuple[str, tuple[str, ...]]]  # each with its group
    attributes: Mapping[str, Callable[[], NDArray[Any]]]
    rows: NDArray[np.int64] | None  # of each candidate; None if each has one of its own
    n_rows: int
    first_column: int

    def values(self, name: str) -> Codes:
        """Return an attribute of each row."""
        return self.attributes[name]().astype(np.uint32, copy=False)

    def columns(self) -> NDArray[np.int32]:
        """Return the column of each template for each row: shape (n_templates, n_rows)."""
        columns = np.empty((len(self.templates), self.n_rows), dtype=np.int32)
        values: dict[str, Codes] = {}
        for (_, template), row in zip(self.templates, columns, strict=True):
            code = np.full(self.n_rows, code_of(" ".join(template)), dtype=np.uint32)
            for multiplier, name in zip(_MULTIPLIERS, template, strict=False):
                if name not in values:
                    values[name] = self.values(name)
                code += values[name] * multiplier
            # Mix, so that codes that differ little do not share their upper bits.
            code ^= code >> np.uint32(15)
            code *= np.uint32(0x2C1B3C6D)
            row[:] = code >> np.uint32(32 - BITS)
            row += self.first_column
        return columns


class ColumnMaker:
    """Makes the columns of the features of some of the :data:`GROUPS`."""

    def __init__(self, groups: Collection[str]) -> None:
        self._token = _templates_of(groups, TOKEN_TEMPLATES)
        self._sentence = _templates_of(groups, SENTENCE_TEMPLATES)
        self._span = _templates_of(groups, SPAN_TEMPLATES)

    @property
    def widths(self) -> list[int]:
        """The number of features that a row of each part has."""
        return [
            len(templates) for templates in (self._token, self._token, self._sentence, self._span)
        ]

    def make(self, questions: Sequence[AskedQuestion], lexicon: Lexicon) -> Columns:
        """Return the columns of the candidates of some questions."""
        block = TokenBlock(questions, lexicon)
        feature_parts = list(self.parts(block))
        evidence = block.share[block.sentence[block.first]] > 0
        return Columns(
            block.candidate_offsets,
            [feature_rows.rows for feature_rows in feature_parts],
            [feature_rows.columns() for feature_rows in feature_parts],
            evidence,
        )

    def parts(self, block: TokenBlock) -> Iterator[Part]:
        """Yield the parts of :class:`Columns`."""
        for name, offset, places, first_column in (
            ("first token", -1, block.first, 0),
            ("last token", 1, block.last, 1 << BITS),
        ):
            distinct_places, row_of = _distinct(places, len(block.tokens))
            attributes = block.token_attributes(distinct_places, offset)
            rows, n_rows = row_of[places], len(distinct_places)
            yield Part(name, self._token, attributes, rows, n_rows, first_column)
        rows, n_rows = block.sentence[block.first], len(block.share)
        # Sentences share the columns of first tokens.
        yield Part("sentence", self._sentence, block.sentence_attributes(), rows, n_rows, 0)
        yield Part("span", self._span, block.span_attributes(), None, len(block.first), 2 << BITS)


def _templates_of(
    groups: Collection[str], templates: Mapping[str, Sequence[tuple[str, ...]]]
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the templates of some groups, with the group of each."""
    return [
        (group, template)
        for group, group_templates in templates.items()
        if group in groups
        for template in group_templates
    ]


def _distinct(places: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct places, ascending, and the number of each."""
    flags = np.zeros(n, dtype=np.bool_)
    flags[places] = True
    return np.flatnonzero(flags), np.cumsum(flags) - 1


_QUESTION_CODES = {
    "wh": "wh",
    "head": "head",
    "auxiliary": "auxiliary",
    "verb": "verb",
    "word before wh": "before",
    "word after wh": "after",
}
"""The codes of a question: the name of the attribute, and the field of :class:`ReadQuestion`."""

_DISTANCE_BIN = np.array([0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 8, 8, 8, 8, 8, 9], dtype=np.uint32)
_NO_DISTANCE = np.uint32(10)
_STEP_BIN = np.array([0, 1, 2, 3, 4, 4, 5, 5, 5, 6], dtype=np.uint32)


class TokenBlock:
    """The tokens of some questions' passages, one copy for each question, and what is known of each
    token.

    `tokens`, `owner` (the question) and `sentence` (numbered in all copies) have shape (n_tokens,);
    `first` and `last`, the tokens of each candidate, (n_candidates,); `share`, the rarity-weighted
    share of the question's content words that each sentence has, (n_sentences,).
    """

    def __init__(self, asked: Sequence[AskedQuestion], lexicon: Lexicon) -> None:
        questions, passages = [a.question for a in asked], [a.passage for a in asked]
        self.token_offsets = offsets_of([len(p.tokens) for p in passages])
        self.tokens = np.concatenate([p.tokens for p in passages])
        self.owner = np.repeat(np.arange(len(asked)), np.diff(self.token_offsets))
        firsts = [a.candidates.first for a in asked]
        self.candidate_offsets = offsets_of(list(map(len, firsts)))
        self.candidate_question = np.repeat(np.arange(len(asked)), np.diff(self.candidate_offsets))
        shifts = self.token_offsets[:-1][self.candidate_question]
        self.first = np.concatenate(firsts) + shifts
        self.last = np.concatenate([a.candidates.last for a in asked]) + shifts
        shifted_passages = zip(passages, self.token_offsets.tolist(), strict=False)
        begins = [p.sentence_offsets[:-1] + shift for p, shift in shifted_passages]
        self.sentence_begins = np.concatenate(begins).astype(np.int64)
        lengths = np.diff(np.append(self.sentence_begins, len(self.tokens)))
        self.sentence = np.repeat(np.arange(len(lengths)), lengths)
        self.sentence_owner = self.owner[self.sentence_begins]
        # Of each token, the first token of its sentence and the one after its last.
        self.begin = self.sentence_begins[self.sentence]
        self.end = self.begin + lengths[self.sentence]
        types = lexicon.columns()
        self.word = types.word[self.tokens]
        self.word_class = types.word_class[self.tokens]
        self.shape = types.shape[self.tokens]
        self.is_name = types.is_name[self.tokens]
        self._questions: dict[str, Codes] = {}
        for name, field in _QUESTION_CODES.items():
            codes = [getattr(q, field) for q in questions]
            self._questions[name] = np.array(codes, dtype=np.uint32)
        self._match(questions, types.stem[self.tokens], types.is_content[self.tokens])
        self._rank()
        self._find_paths()
        word_keys = self.owner << 32 | self.word.astype(np.int64)
        _, word_number, times = np.unique(word_keys, return_inverse=True, return_counts=True)
        self.times = np.minimum(times, _MOST_TIMES)[word_number]

    def _match(
        self, questions: Sequence[ReadQuestion], stem: Codes, is_content: NDArray[np.bool_]
    ) -> None:
        """Find the question's words in the passage."""
        lengths = np.array([len(q.stems) for q in questions], dtype=np.int64)
        asker = np.repeat(np.arange(len(questions)), lengths)
        stems = np.concatenate([q.stems for q in questions])
        # The stems of a question ascend, so the keys do, and a binary search finds a token's key.
        keys = asker << 32 | stems.astype(np.int64)
        places = np.concatenate([q.places for q in questions])
        wh_places = np.array([q.wh_place for q in questions])
        steps = np.abs(places - wh_places[asker])
        rarity = np.concatenate([q.rarity for q in questions])
        token_keys = self.owner << 32 | stem.astype(np.int64)
        place = np.searchsorted(keys, token_keys)
        self.matched = is_content & (np.append(keys, -1)[place] == token_keys)
        self.step = np.zeros(len(token_keys), dtype=np.uint32)
        places_of_matches = place[self.matched]
        steps_of_matches = np.minimum(steps[places_of_matches], len(_STEP_BIN) - 1)
        self.step[self.matched] = _STEP_BIN[steps_of_matches]
        of_question = np.bincount(asker, rarity, minlength=len(questions))
        shares = rarity / of_question[asker]
        self._amounts = np.zeros(len(token_keys) + 1)
        self._amounts[1:][self.matched] = shares[places_of_matches]
        np.cumsum(self._amounts, out=self._amounts)
        self.is_head = (stem == self._questions["head"][self.owner]) & is_content
        self.is_verb = stem == self._questions["verb"][self.owner]
        # Each question word counts once in a sentence.
        n_keys, n_sentences = max(len(keys), 1), len(self.sentence_begins)
        matches = distinct(self.sentence[self.matched] * n_keys + places_of_matches)
        sentence, word = np.divmod(matches, n_keys)
        self.share = np.bincount(sentence, shares[word], minlength=n_sentences)
        self.n_words = np.bincount(sentence, minlength=n_sentences)
        # The rarest words first; ties in the order of their codes.
        order = np.lexsort((-rarity, asker))
        rank = np.arange(len(order)) - offsets_of(lengths)[:-1][asker]
        self._rare = np.zeros((N_RARE, len(questions)), dtype=np.uint32)
        few = rank < N_RARE
        self._rare[rank[few], asker[few]] = stems[order][few]
        bits = np.zeros(len(order), dtype=np.int64)
        bits[order] = (1 << np.minimum(rank, _N_BITS)) % (1 << _N_BITS)
        self.rare_words = np.bincount(sentence, bits[word], minlength=n_sentences)
        # Words that follow each other in the question, and in the sentence with few others between.
        in_question = np.empty(len(order), dtype=np.int64)
        in_question[np.lexsort((places, asker))] = np.arange(len(order))
        follows = np.diff(in_question[places_of_matches]) == 1
        at = np.flatnonzero(self.matched)
        is_near = np.diff(at) <= _PAIR_DISTANCE
        sentence_of_match = self.sentence[at]
        is_inside = np.diff(sentence_of_match) == 0
        pairs = sentence_of_match[1:][follows & is_near & is_inside]
        self.n_pairs = np.bincount(pairs, minlength=n_sentences)

    def _rank(self) -> None:
        """Rank the sentences of each question by their shares; the earlier one wins among
        equals.
        """
        owner = self.sentence_owner
        order = np.lexsort((-self.share, owner))
        begins = np.searchsorted(owner, np.arange(len(self.token_offsets) - 1))
        self.rank = np.empty(len(owner), dtype=np.uint32)
        # Sorting keeps the sentences of a question together, so `owner` is that of the sorted ones.
        ranks = np.arange(len(owner)) - begins[owner]
        self.rank[order] = np.minimum(ranks, 4)
        has_before = np.diff(owner, prepend=-1) == 0
        before = np.where(has_before, np.roll(self.share, 1), 0)
        has_after = np.diff(owner, append=-1) == 0
        after = np.where(has_after, np.roll(self.share, -1), 0)
        best = np.maximum(before, after)
        self.neighbours_share = np.ceil(4 * best - _ROUNDING)

    def _find_paths(self) -> None:
        """Find the nearest question word on either side, and make the sums that give the code of
        any path.
        """
        n = len(self.tokens)
        self.left, self.right = _nearest(self.matched)
        # The code of the classes from a to before b is the sum of class * base**(position - a).
        powers = np.ones(n + 1, dtype=np.uint32)
        np.multiply.accumulate(np.full(n, _PATH_BASE), out=powers[1:])
        # The base is odd, so it has an inverse modulo 2**32, whose powers move a sum to the start.
        inverse = np.uint32(pow(int(_PATH_BASE), -1, 1 << 32))
        self._down = np.ones(n + 1, dtype=np.uint32)
        np.multiply.accumulate(np.full(n, inverse), out=self._down[1:])
        self._sums = np.zeros(n + 1, dtype=np.uint32)
        np.cumsum(self.word_class * powers[:n], dtype=np.uint32, out=self._sums[1:])

    def path(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Codes:
        """Return the codes of the sequences of classes from `start` to before `stop`."""
        lengths = (stop - start).astype(np.uint32)
        sums = self._sums[stop] - self._sums[start]
        return sums * self._down[start] + lengths * _MULTIPLIERS[0]

    def path_names(self, lexicon: Lexicon) -> dict[int, str]:
        """Return the classes in words of each path and each sequence that is not longer than a
        span's.
        """
        names = [lexicon.names[code] for code in self.word_class.tolist()]
        names_of_codes = {}
        for start in range(len(names)):
            stops = np.arange(start + 1, min(start + _LONGEST_SPAN, len(names)) + 1)
            codes = self.path(np.full(len(stops), start), stops)
            for stop, code in zip(stops.tolist(), codes.tolist(), strict=True):
                names_of_codes[code] = names_of_codes[code | 1] = " ".join(names[start:stop])
        return names_of_codes

    def near(self, start: NDArray[np.int64], stop: NDArray[np.int64]) -> Codes:
        """Return the shares of the question's words between places, in eighths; each occurrence
        counts.
        """
        share = self._amounts[stop] - self._amounts[start]
        eighths = np.ceil(_EIGHTHS * share - _ROUNDING)
        return np.minimum(eighths, _EIGHTHS).astype(np.uint32)

    def of_question(self, question: NDArray[np.int64]) -> dict[str, Callable[[], NDArray[Any]]]:
        """Return the attributes of rows' questions."""
        codes = self._questions
        attributes = codes | dict(zip(_RARE, self._rare, strict=True))
        return {name: partial(np.take, values, question) for name, values in attributes.items()}

    def token_attributes(
        self, place: NDArray[np.int64], offset: int
    ) -> dict[str, Callable[[], NDArray[Any]]]:
        """Return the attributes of tokens; `offset` leads to the token outside: -1 or 1."""
        begin, end = self.begin[place], self.end[place]

        def outside(values: NDArray[np.generic], steps: int) -> Codes:
            at = place + steps * offset
            inside = (at >= begin) & (at < end)
            return np.where(inside, values[np.where(inside, at, 0)], EDGE)

        before_place, right = self.left[place], self.right[place]
        has_left, has_right = before_place >= begin, right < end
        some_left = np.where(has_left, before_place, place)
        some_right = np.where(has_right, right, place)

        def distance(steps: NDArray[np.int64], exists: NDArray[np.bool_]) -> Codes:
            bins = _DISTANCE_BIN[np.minimum(steps, len(_DISTANCE_BIN) - 1)]
            return np.where(exists, bins, _NO_DISTANCE)

        def path(
            start: NDArray[np.int64], stop: NDArray[np.int64], exists: NDArray[np.bool_]
        ) -> Codes:
            short = exists & (stop - start <= _LONGEST_PATH)
            stop = np.where(short, stop, start)
            # 0 is for no path, so the code of a path is odd.
            return np.where(short, self.path(start, stop) | np.uint32(1), 0)

        def near_share() -> Codes:
            if offset < 0:
                return self.near(np.maximum(place - _NEAR, begin), place)
            return self.near(place + 1, np.minimum(place + 1 + _NEAR, end))

        def verb_side() -> Codes:
            before, after = _nearest(self.is_verb)
            return (before[place] >= begin) + 2 * (after[place] < end)

        return self.of_question(self.owner[place]) | {
            "class": lambda: self.word_class[place],
            "shape": lambda: self.shape[place],
            "word": lambda: self.word[place],
            "is question word": lambda: self.matched[place],
            "outside class": lambda: outside(self.word_class, 1),
            "farther class": lambda: outside(self.word_class, 2),
            "farther word": lambda: outside(self.word, 2),
            "farthest word": lambda: outside(self.word, 3),
            "inner class": lambda: outside(self.word_class, -1),
            "inner word": lambda: outside(self.word, -1),
            "farther is question word": lambda: outside(self.matched, 2),
            "times": lambda: self.times[place],
            "outside word": lambda: outside(self.word, 1),
            "outside is question word": lambda: outside(self.matched, 1),
            "left distance": lambda: distance(place - some_left, has_left),
            "right distance": lambda: distance(some_right - place, has_right),
            "left step": lambda: np.where(has_left, self.step[some_left], 9),
            "right step": lambda: np.where(has_right, self.step[some_right], 9),
            "left path": lambda: path(some_left + has_left, place, has_left),
            "right path": lambda: path(place + has_right, some_right, has_right),
            "verb side": verb_side,
            "is head": lambda: self.is_head[place],
            "outside is head": lambda: outside(self.is_head, 1),
            "near share": near_share,
            "is best": lambda: self.rank[self.sentence[place]] == 0,
        }

    def sentence_attributes(self) -> dict[str, Callable[[], NDArray[Any]]]:
        """Return the attributes of all sentences."""
        begins, owner = self.sentence_begins, self.sentence_owner
        lengths = np.diff(np.append(begins, len(self.tokens)))
        place = np.arange(len(owner)) - np.searchsorted(owner, owner)

        def has(flags: NDArray[np.bool_]) -> Codes:
            return np.logical_or.reduceat(flags, begins)

        return self.of_question(self.sentence_owner) | {
            "share": lambda: np.ceil(_EIGHTHS * self.share - _ROUNDING),
            "rank": lambda: self.rank,
            "neighbours' share": lambda: self.neighbours_share,
            "rare words": lambda: self.rare_words,
            "number of words": lambda: np.minimum(self.n_words, 7),
            "has verb": lambda: has(self.is_verb),
            "has head": lambda: has(self.is_head),
            "pairs": lambda: np.minimum(self.n_pairs, 4),
            "place": lambda: np.minimum(place, 7),
            "sentence length": lambda: np.minimum(lengths // 8, 7),
        }

    def span_attributes(self) -> dict[str, Callable[[], NDArray[Any]]]:
        """Return the attributes of all candidates."""
        first, last = self.first, self.last
        begin, end = self.begin[first], self.end[last]
        has_left, has_right = first > begin, last + 1 < end
        before = np.where(has_left, first - 1, first)
        after = np.where(has_right, last + 1, last)
        matches = offsets_of(self.matched)
        from_first = self.token_attributes(first, -1)
        from_last = self.token_attributes(last, 1)
        left_name = has_left & self.is_name[before] & self.is_name[first]
        right_name = has_right & self.is_name[after] & self.is_name[last]

        def around(start: NDArray[np.int64], stop: NDArray[np.int64]) -> Codes:
            return np.minimum(self.near(start, first) + self.near(last + 1, stop), _EIGHTHS)

        return self.of_question(self.candidate_question) | {
            "length": lambda: np.minimum(last - first + 1, _LONGEST_SPAN),
            "sequence": lambda: self.path(first, last + 1),
            "left class": from_first["outside class"],
            "right class": from_last["outside class"],
            "first class": from_first["class"],
            "last class": from_last["class"],
            "first word": from_first["word"],
            "last word": from_last["word"],
            "first times": from_first["times"],
            "last times": from_last["times"],
            "neighbours' share": lambda: self.neighbours_share[self.sentence[first]],
            "first shape": from_first["shape"],
            "last shape": from_last["shape"],
            "name goes on": lambda: left_name + 2 * right_name,
            "around": lambda: around(
                np.maximum(first - _AROUND, begin), np.minimum(last + 1 + _AROUND, end)
            ),
            "outside": lambda: around(begin, end),
            "inside": lambda: np.minimum(matches[last + 1] - matches[first], 3),
            "rank": lambda: self.rank[self.sentence[first]],
            "first's left distance": from_first["left distance"],
            "last's right distance": from_last["right distance"],
        }


def _nearest(flags: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each place the nearest flagged one before it (or -1) and after it (or n)."""
    n = len(flags)
    index = np.arange(n)
    before = np.full(n, -1)
    np.maximum.accumulate(np.where(flags, index, -1)[:-1], out=before[1:])
    after = np.full(n, n)
    # from right to left
    np.minimum.accumulate(np.where(flags, index, n)[:0:-1], out=after[-2::-1])
    return before, after


def blocks_of(sizes: Sequence[int], max_size: int, n_questions: int) -> Iterator[tuple[int, int]]:
    """Divide questions into runs of at most `n_questions`, and of at most `max_size` together
    unless it is one.
    """
    start, total = 0, 0
    for i, size in enumerate(sizes):
        if i > start and (total + size > max_size or i - start == n_questions):
            yield start, i
            start, total = i, 0
        total += size
    if start < len(sizes):
        yield start, len(sizes)
