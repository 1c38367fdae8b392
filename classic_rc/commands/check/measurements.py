"""Measurements of options, by which the options of a question are ranked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.option_arrays import (
    Floats,
    Integers,
    OptionBlock,
    OptionTable,
    count_shared_words,
)
from classic_rc.kernels.arrays import TokenArrays, longest_runs, offsets_of, ragged_indices, runs_of

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_SHORT_MONTHS = [name[:3] for name in _MONTHS]
_MONTH = re.compile(rf"(?i)\b({'|'.join(f'{m[:3]}(?:{m[3:]}|t)?' for m in _MONTHS)})\b")
_DATE = re.compile(r"(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})")
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?")
_LEAST_COPIED = 3  # words: shorter options are often in the passage
_MARK = re.compile(r"[^\w\s]")
_BLOCK_TOKENS = 2**19


class Measurement(NamedTuple):
    """A number of each option."""

    name: (
        str  # of what there is more or less; or two phrases, of most and least, with a bar between
    )
    values: Floats
    sees: tuple[str, ...] = ("options",)
    # Whether people can act on it. If not, an equivalent character gives the finding its name, the
    # advice is that of a piece of text, and the learner of the header does not read it.
    is_plain: bool = True

    @property
    def most(self) -> str:
        """What the option with the largest value is."""
        return self.name.partition("|")[0] if "|" in self.name else f"has the most {self.name}"

    @property
    def least(self) -> str:
        """What the option with the smallest value is."""
        return self.name.partition("|")[2] if "|" in self.name else f"has the fewest {self.name}"


def measure_options(table: OptionTable) -> Iterator[Measurement]:
    """Measure the options of all questions; without questions or passages, only by what options
    show.
    """
    yield from _of_text(table)
    yield from _among_options(table)
    if any(q.query.strip() for q in table.questions):
        yield from _of_question(table)
    if any(text.strip() for text in table.passages[0]):
        yield from _of_passage(table)


def _of_text(table: OptionTable) -> Iterator[Measurement]:
    characters = table.of_texts(len)
    words = np.diff(table.tokens[1])[table.text_index].astype(np.float64)
    yield Measurement("characters", characters)
    yield Measurement("words", words)
    yield Measurement(
        "has the longest words|has the shortest words", characters / np.maximum(words, 1)
    )
    for name, count in (
        ("capital letters", lambda text: sum(map(str.isupper, text))),
        ("marks", lambda text: len(_MARK.findall(text))),
        ("digits", lambda text: sum(map(str.isdigit, text))),
    ):
        # Where both say the same, the character itself is the better name: has the character ",".
        yield Measurement(name, table.of_texts(count), is_plain=False)
    numbers = table.of_texts(_first_number)
    if np.isfinite(numbers).any():
        yield Measurement(
            "has the largest number|has the smallest number, or none",
            np.where(np.isfinite(numbers), numbers, -1.0),
        )
    times = table.of_texts(point_in_time)
    if np.isfinite(times).any():
        latest = np.where(np.isfinite(times), times, -1.0)
        yield Measurement("has the latest date|has the earliest date, or none", latest)
    number, name_of = table.normalised
    order = np.empty(int(number.max(initial=-1)) + 1)
    order[sorted(range(len(order)), key=name_of)] = np.arange(len(order))
    yield Measurement(
        "is last in the alphabet|is first in the alphabet", order[number], is_plain=False
    )


def point_in_time(text: str) -> float:
    """Return a number that orders texts by their date and time of day; NaN without one."""
    if _DIGIT.search(text) is None:
        return np.nan
    date, month = _DATE.search(text), _MONTH.search(text)
    year = re.search(r"\b\d{4}\b", text)
    days = np.nan
    if date:
        days = _count_days(*map(int, date.groups()))
    elif month and year:
        day = re.search(r"\b\d{1,2}(?!\d|:)", text)
        place = _SHORT_MONTHS.index(month[1][:3].lower()) + 1
        days = _count_days(int(year[0]), place, int(day[0]) if day else 0)
    clock = _CLOCK.search(text)
    if clock is None:
        return days * 86400
    hours, minutes, seconds = (int(number or 0) for number in clock.groups())
    days = 0 if np.isnan(days) else days
    return days * 86400 + hours * 3600 + minutes * 60 + seconds


def _count_days(year: int, month: int, day: int) -> float:
    # the order of dates is all that matters, so all months may have 31 days
    return float(372 * year + 31 * month + day)


def _first_number(text: str) -> float:
    match = _NUMBER.search(text)
    if match is None or match[0].count(".") > 1:
        return np.nan
    return float(match[0].replace(",", ""))


def _among_options(table: OptionTable) -> Iterator[Measurement]:
    """Yield how often options and their words are used, and how similar an option is to the
    others.
    """
    text = table.normalised[0]
    yield Measurement(
        "is used most in other questions|is used least in other questions",
        np.bincount(text)[text].astype(np.float64),
    )
    (tokens, offsets), n_words = table.tokens, len(table.encoder.vocabulary)
    lengths, uses_of_text = np.diff(offsets), np.bincount(table.text_index)
    uses = np.bincount(tokens, np.repeat(uses_of_text, lengths), n_words)
    rarity = -np.log(np.maximum(uses, 1) / max(uses.sum(), 1))
    total = np.concatenate([[0.0], np.cumsum(rarity[tokens])])
    per_text = np.diff(total[offsets]) / np.maximum(lengths, 1)
    yield Measurement(
        "has the rarest words|has the most frequent words", np.round(per_text, 9)[table.text_index]
    )
    similar, unshared = np.zeros((2, len(table.texts)))
    for start, stop in runs_of(table.sum(lengths[table.text_index]), _BLOCK_TOKENS):
        options = np.arange(table.offsets[start], table.offsets[stop])
        option, word = _distinct_pairs(table, options)
        question = table.question[options][option] - start
        key = question * (n_words + 1) + word
        _, code, counts = np.unique(key, return_inverse=True, return_counts=True)
        others = counts[code] - 1
        similar[options] = np.bincount(option, others, minlength=len(options))
        unshared[options] = np.bincount(option, others == 0, minlength=len(options))
    different = np.maximum(table.n_different, 1)
    yield Measurement(
        "shares most of its words with other options|shares least of its words with other options",
        np.round(similar / different, 9),
    )
    yield Measurement("words that no other option has", unshared)


def _distinct_pairs(table: OptionTable, options: Integers) -> tuple[Integers, Integers]:
    """Return the different words of some options, as pairs of the option's place and the word."""
    tokens, offsets = table.tokens
    text = table.text_index[options]
    counts = np.diff(offsets)[text]
    words = tokens[ragged_indices(offsets[text], counts)]
    n_words = len(table.encoder.vocabulary) + 1
    option = np.repeat(np.arange(len(options)), counts)
    keys = np.unique(option * n_words + words)
    return keys // n_words, keys % n_words


def _of_question(table: OptionTable) -> Iterator[Measurement]:
    all_questions, questions = np.arange(len(table)), [q.query for q in table.questions]
    shared = table.count_shared(questions, all_questions)
    yield Measurement("words of the question", shared, ("options", "question"))
    share = np.round(shared / np.maximum(table.n_different, 1), 9)
    yield Measurement(
        "has most of its words in the question|has least of its words in the question",
        share,
        ("options", "question"),
    )
    passage = table.passages[1]
    order = np.argsort(passage, kind="stable")
    counts = np.bincount(passage)
    if 1 < counts.max(initial=0) < 200:
        others: list[str] = [""] * len(table)
        for start, stop in pairwise(offsets_of(counts).tolist()):
            passage_questions = order[start:stop].tolist()
            for i in passage_questions:
                others[i] = " ".join(questions[j] for j in passage_questions if j != i)
        in_others = table.count_shared(others, all_questions)
        yield Measurement(
            "words of other questions of the passage", in_others, ("options", "question")
        )


def _of_passage(table: OptionTable) -> Iterator[Measurement]:
    sees = ("options", "passage")
    passages, passage = table.passages
    shared, runs, mentions, first = np.zeros((4, len(table.texts)))
    for block in table.blocks_of(passages, passage):
        shared[block.options] = count_shared_words(block)
        runs[block.options] = _copied_runs(block)
    yield Measurement("words of the passage", shared, sees)
    share = np.round(shared / np.maximum(table.n_different, 1), 9)
    yield Measurement(
        "has most of its words in the passage|has least of its words in the passage", share, sees
    )
    yield Measurement(
        "copies the longest run of words from the passage|copies the shortest run of words from "
        "the passage",
        runs,
        sees,
    )
    sizes = np.diff(table.tokens[1])[table.text_index]
    is_copied = (runs >= sizes) & (sizes >= _LEAST_COPIED)
    yield Measurement(
        "is copied from the passage word for word|is not in the passage word for word",
        is_copied.astype(np.float64),
        sees,
    )
    folded: dict[int, str] = {}
    for i, (text, p) in enumerate(zip(table.texts, passage[table.question].tolist(), strict=True)):
        if p not in folded:
            folded = {p: passages[p].lower()}
        bare = text.lower().strip(" .,;:!?。！？、")
        place = folded[p].find(bare) if bare else -1
        first[i] = len(folded[p]) if place < 0 else place
        mentions[i] = folded[p].count(bare) if place >= 0 else 0
    yield Measurement("mentions in the passage", mentions, sees)
    yield Measurement(
        "is mentioned last in the passage, or not|is mentioned first in the passage", first, sees
    )


def _copied_runs(block: OptionBlock) -> NDArray[np.integer]:
    """Return the longest run of each option's words in its passage."""
    n_questions = len(block.text)
    no_words = np.zeros(0, dtype=np.int32), np.zeros(n_questions + 1, dtype=np.int64)
    question = np.repeat(np.arange(n_questions), block.sizes)
    tokens = TokenArrays(
        *block.words, *no_words, *block.option_words, block.text, question, block.n_words
    )
    return longest_runs(tokens)
