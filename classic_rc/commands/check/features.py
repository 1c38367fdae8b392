"""Features of options, generated: their text, ranks, places in context, and fields that reveal
them.

A feature is a number for each option. Most are 0 or 1, in one sparse matrix; ranks are dense. No
feature is written for a dataset: the families below say what is counted, and the data says what
there is to count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.contexts import (
    FieldSources,
    field_measurements,
    known_measurement,
    position_features,
    sources_of_fields,
)
from classic_rc.commands.check.families import FIELD, Family, FeatureSource
from classic_rc.commands.check.feature_matrix import (
    FeatureEntries,
    FeatureMatrix,
    Flag,
    flag_entries,
    join_features,
    rank_family,
)
from classic_rc.commands.check.measurements import Measurement, measure_options
from classic_rc.commands.check.option_arrays import Integers, OptionTable
from classic_rc.commands.check.text_features import text_entries

LEAST_QUESTIONS = 5
_LEAST_SHARE = 1 / 2000
"""A feature is in questions of at least this many passages, and in at least this share of the
questions.
"""
_LEAST_RANKED = 30


def least_questions(table: OptionTable) -> int:
    """Return in how many questions a feature has to be."""
    return max(LEAST_QUESTIONS, int(len(table) * _LEAST_SHARE))


def build_features(table: OptionTable, without_fields: Iterable[str] = ()) -> FeatureMatrix:
    """Generate the features of all options, without those of some fields."""
    min_questions = least_questions(table)
    fields = sources_of_fields(table, without_fields)
    ranked: list[Measurement] = []
    ranks: list[NDArray[np.float32]] = []
    edges: list[Flag] = []
    known_flags: list[tuple[int, str, Integers]] = []
    opposites: dict[str, str] = {}
    for measured in chain(measure_options(table), field_measurements(table, fields)):
        column = table.rank(measured.values).astype(np.float32)
        varies = int(np.count_nonzero(table.largest(np.abs(column)) > 0))
        # Ranks that differ in few questions are not normal; which option has most or least is
        # tested exactly.
        if varies >= min_questions:
            opposites[measured.most] = measured.least
            edges += rank_edges(table, measured)
        if varies >= max(min_questions, _LEAST_RANKED):
            ranked.append(measured._replace(values=measured.values[:0].copy()))
            ranks.append(column)
            known_flags += known_measurement(table, fields, measured)
    known_flags.sort(key=lambda known: known[0])  # by field
    fields.flags += [(name, options) for _, name, options in known_flags]
    sources = _all_entries(table, fields, edges, min_questions)
    return join_features(table, sources, min_questions, ranked, ranks, opposites)


def _all_entries(
    table: OptionTable, fields: FieldSources, edges: Sequence[Flag], min_questions: int
) -> Iterator[FeatureEntries]:
    yield from text_entries(table, min_questions)
    yield flag_entries(table, [*edges, *((FIELD, *flag) for flag in fields.flags)])
    yield from position_entries(table, fields, min_questions)


def rank_edges(table: OptionTable, measured: Measurement) -> Iterator[Flag]:
    """Yield which option alone has most, which alone has least, and which one is out of order."""
    family = rank_family(measured)
    starts = table.position == 0
    ends = np.roll(starts, -1)
    for name, sign in ((measured.most, 1), (measured.least, -1)):
        values = sign * measured.values
        before, after = np.roll(values, 1), np.roll(values, -1)
        is_less = (values < before) & ~starts
        n_less = table.sum(is_less.astype(np.int64))[table.question]
        next_is_less = np.roll(is_less, -1) & ~ends
        joined = (after < before) & ~starts & ~ends
        in_order = n_less - is_less - next_is_less + joined == 0
        out_of_order = np.flatnonzero(in_order).astype(np.int32)
        yield family, f"is out of an order whose last option {name}", out_of_order
        is_extreme = values == table.largest(values)[table.question]
        is_alone = (table.sum(is_extreme.astype(np.int64)) == 1)[table.question]
        yield family, name, np.flatnonzero(is_extreme & is_alone).astype(np.int32)


def position_entries(
    table: OptionTable, fields: FieldSources, min_questions: int
) -> Iterator[FeatureEntries]:
    """Yield positions of options, alone and in contexts."""
    for names, contexts, pairs, sees in position_features(table, fields, min_questions):
        source = FeatureSource.POSITION if sees == "options" else FeatureSource.FIELD
        if not any(contexts) and sees == "question":
            source = FeatureSource.WORD
        families = {
            context: Family(source, "{}", frozenset({sees}), context=context)
            for context in set(contexts)
        }
        yield FeatureEntries.of_pairs(
            [families[c] for c in contexts], names, pairs, np.arange(len(table.texts))
        )
