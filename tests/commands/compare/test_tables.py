"""Tables and records of a small handmade comparison, exact to the letter."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from classic_rc.commands.compare import comparison_tables
from classic_rc.metrics import get_metric
from classic_rc.questions import Task
from classic_rc.results import Row, SharedResults
from classic_rc.results.comparison import (
    Comparison,
    PairedDifference,
    SolvedRegion,
    SystemEstimate,
)
from classic_rc.results.outcomes import Outcomes
from classic_rc.results.resampling import Interval, Resampling
from classic_rc.tables import render
from tests.tables import texts

ONES = np.ones(4, dtype=np.int64)
OUTCOMES = Outcomes({"accuracy": np.ones((4, 1))}, ONES, np.ones(4), 4 * ONES, None, (None,) * 4)
CONTENDERS = (
    Row("sw+d", None, {}, "sw+d|n:4", "sw+d|n:4", OUTCOMES),
    Row("x", None, {}, "x|n:4", "x|n:4", OUTCOMES, label="a|b_%"),
)
MADE = Comparison(
    SharedResults("mini", "0123456789", Task.SINGLE_CHOICE, lambda: np.arange(4), CONTENDERS),
    get_metric("accuracy"),
    "permutation",
    Resampling(50, 10_000, 0),
    0.25,
    (
        SystemEstimate(
            "sw+d", "sw+d|n:4", 0.6, Interval(0.551, 0.6449), 0.35, Interval(0.3, 0.4), 1.4
        ),
        SystemEstimate("a|b_%", "x|n:4", 0.5, Interval(0.45, 0.55), None, None, None),
    ),
    (
        PairedDifference(
            "sw+d", "a|b_%", 0.1, Interval(-0.01, 0.2), 0.0321, False, 0.0642, 1234, 5, 6
        ),
    ),
    get_metric("em0"),
    (
        SolvedRegion(("sw+d", "a|b_%"), 2, 0.5, ("q1", "q3")),
        SolvedRegion(("sw+d",), 1, 0.25, ("q2",)),
        SolvedRegion(("a|b_%",), 0, 0.0, ()),
        SolvedRegion((), 1, 0.25, ("q4",)),
    ),
    ("random",),
)


def test_texts_have_values_with_their_intervals():
    systems, pairs, regions = comparison_tables(MADE)
    assert texts(systems) == [
        ["sw+d", "60.00 [55.1, 64.5]", "+35.00 [+30.0, +40.0]", "+140.0"],
        ["a|b_%", "50.00 [45.0, 55.0]", "–", "–"],
    ]
    assert systems.notes == [
        MADE.resampling.note,
        "chance: random scores 25.00, in expectation; relative gain: gain / chance",
    ]
    assert systems.signatures == {"sw+d": "sw+d|n:4", "a|b_%": "x|n:4"}
    assert texts(pairs) == [
        ["sw+d", "a|b_%", "+10.00 [-1.0, +20.0]", "0.0321", "0.0642", "1,234", "5", "6"]
    ]
    assert texts(regions) == [
        ["yes", "yes", "2", "50.0"],
        ["yes", "–", "1", "25.0"],
        ["–", "yes", "0", "0.0"],
        ["–", "–", "1", "25.0"],
    ]
    assert regions.notes == ["left out: random"]
    *_, regions = comparison_tables(MADE, verbose=True)
    assert regions.notes[1:] == ["sw+d + a|b_%: q1 q3", "sw+d: q2", "no system: q4"]


def test_csv_has_a_record_for_each_system_pair_and_region():
    records = list(csv.DictReader(io.StringIO(render(comparison_tables(MADE), "csv"))))
    assert [record["kind"] for record in records] == [
        "system",
        "system",
        "pair",
        "region",
        "region",
        "region",
        "region",
    ]
    system, _, pair, region, *_ = records
    system_cells = [
        system[key] for key in ("system", "value", "value_low", "gain_high", "signature")
    ]
    assert system_cells == ["sw+d", "0.6", "0.551", "0.4", "sw+d|n:4"]
    pair_cells = [pair[key] for key in ("first", "difference", "difference_low", "p_holm", "test")]
    assert pair_cells == ["sw+d", "0.1", "-0.01", "0.0642", "permutation"]
    region_cells = [region[key] for key in ("systems", "questions", "ids", "metric")]
    assert region_cells == ["sw+d + a|b_%", "2", "q1 q3", "em0"]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"chance": None}, "gain over chance: unknown"),
        ({"resampling": Resampling(6)}, Resampling(6).note),
        ({"resampling": Resampling(1)}, Resampling(1).note),
        (
            {"pairs": (replace(MADE.pairs[0], exact=True),)},
            "exact: from all swaps of groups of passages",
        ),
        (
            {"pairs": (MADE.pairs[0], replace(MADE.pairs[0], exact=True))},
            "(or all swaps, if there are fewer)",
        ),
        ({"test": "mcnemar"}, "p: two-sided, McNemar's test, exact"),
        (
            {
                "results": replace(
                    MADE.results, systems=(replace(CONTENDERS[0], expected=True), CONTENDERS[1])
                )
            },
            "against sw+d, in expectation, the null hypothesis is that differences by passage are "
            "symmetric",
        ),
    ],
)
def test_a_note_stands_only_below_tables_that_need_it(change, note):
    notes = [line for table in comparison_tables(replace(MADE, **change)) for line in table.notes]
    assert any(note in line for line in notes)
    assert not any(note in line for table in comparison_tables(MADE) for line in table.notes)


def test_without_sets_there_is_no_table_of_them():
    assert len(comparison_tables(replace(MADE, regions=()))) == 2
