"""``classic-rc list`` shows everything that exists."""

from __future__ import annotations

import pytest

from classic_rc.datasets import READERS
from classic_rc.datasets.fetch import named_datasets
from classic_rc.formats import FORMATS
from classic_rc.metrics import METRICS
from classic_rc.solvers import SOLVERS, parse_solver
from classic_rc.text.analyzers import TOKENIZERS
from classic_rc.text.stop_words import STOP_LISTS


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("solvers", SOLVERS),
        ("variants", [f"{name}:{variant}" for name, solver in SOLVERS.items() for variant in solver.variants]),
        ("datasets", named_datasets()),
        ("readers", READERS),
        ("metrics", METRICS),
        ("analyzers", TOKENIZERS),
        ("formats", FORMATS),
        ("stop-lists", STOP_LISTS),
    ],
)
def test_lists_have_a_line_for_each_with_a_description(cli, what, names):
    done = cli("list", what, "--format", "csv")
    assert (done.code, done.err) == (0, "")
    assert [record["name"] for record in done.records] == list(names)
    assert all(len(record["description"]) > 5 for record in done.records)
    assert [entry["name"] for entry in cli("list", what, "--format", "json").json[what]] == list(names)


def test_a_list_fits_the_terminal(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, cli("list", "solvers").out.splitlines())) <= 60


def test_listed_variants_can_be_given_to_run(cli):
    for record in cli("list", "variants", "--format", "csv").records:
        spec = record["name"]
        solver, variant = parse_solver(spec), spec.partition(":")[2]
        given = solver.get_params(deep=False)
        assert all(repr(given[name]) == repr(value) for name, value in solver.variants[variant].params.items())


def test_keys_are_listed(cli):
    records = cli("list", "keys", "--format", "csv").records
    assert [record["name"] for record in records][:2] == ["question-type", "first-word"]
