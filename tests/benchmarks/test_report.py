"""The page of speeds has all tables, with the lost ones first and the load of each."""

from __future__ import annotations

import os

import pytest

from benchmarks.report import RETRIEVAL, SCALE, sections
from benchmarks.timing import environment, watched_load


def make_table(title, **fields):
    table = {"title": title, "header": ["", "times"], "rows": [["ours", 2]], "notes": []}
    return {**table, "environment": environment(), **fields}


@pytest.fixture
def speed_page():
    tables = [
        make_table("won", lost=False),
        make_table("alone", load=[0.5, 1.25]),
        make_table("lost", lost=True, load=None),
    ]
    elsewhere = [make_table(title, lost=True) for title in (*SCALE, *RETRIEVAL)]
    return sections({"benchmarks": {"first": tables[:2], "second": [*tables[2:], *elsewhere]}})[
        "speed"
    ]


def test_lost_tables_lead_the_page(speed_page):
    lines = [line for line in speed_page.splitlines() if line.startswith(("##", "**"))]
    assert lines == [
        "## Where another program is better",
        "**lost**",
        "## All other tables",
        "**won**",
        "**alone**",
    ]


def test_the_page_says_loads_and_that_others_are_not_known(speed_page):
    notes = [line for line in speed_page.splitlines() if "load of the machine" in line.lower()]
    assert notes == [
        "Load of the machine: 0.5 to 1.2.",
        "Where a table has no load of the machine, it was not recorded.",
    ]


def test_the_load_is_watched_where_the_system_tells_it():
    with watched_load() as loads:
        pass
    assert bool(loads) == hasattr(os, "getloadavg")
