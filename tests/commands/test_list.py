"""``classic-rc list`` shows everything that exists, and its BibTeX."""

from __future__ import annotations

import re

import pytest

from classic_rc.datasets import READERS
from classic_rc.datasets.fetch import named_datasets
from classic_rc.formats import FORMATS
from classic_rc.metrics import METRICS
from classic_rc.reports.references import references
from classic_rc.solvers import SOLVERS, parse_solver
from classic_rc.text.analyzers import STOP_LISTS, TOKENIZERS


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("solvers", SOLVERS),
        (
            "variants",
            [
                f"{name}:{variant}"
                for name, solver in SOLVERS.items()
                for variant in solver.variants
            ],
        ),
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
    assert [entry["name"] for entry in cli("list", what, "--format", "json").json[what]] == list(
        names
    )


def test_a_list_fits_the_terminal(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, cli("list", "solvers").out.splitlines())) <= 60


def test_listed_variants_can_be_given_to_run(cli):
    for record in cli("list", "variants", "--format", "csv").records:
        spec = record["name"]
        solver, variant = parse_solver(spec), spec.partition(":")[2]
        params = solver.get_params(deep=False)
        for name, value in solver.variants[variant].params.items():
            assert repr(params[name]) == repr(value)


def test_keys_are_listed(cli):
    records = cli("list", "keys", "--format", "csv").records
    assert [record["name"] for record in records][:2] == ["question-type", "first-word"]


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["sw+d"], ["richardson2013"]),
        (["race"], ["lai2017"]),
        (["ir:clark2016", "record"], ["clark2016", "zhang2018"]),
    ],
)
def test_names_give_their_bibtex(cli, names, keys):
    done = cli("list", "--bibtex", *names)
    assert (done.code, done.err) == (0, "")
    assert re.findall(r"^@\w+\{(.*),$", done.out, re.MULTILINE) == keys


def test_without_a_name_the_bibtex_of_everything_goes_to_stdout_or_a_file(cli, tmp_path):
    out = tmp_path / "all.bib"
    assert cli("list", "--bibtex", "-o", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert text == cli("list", "--bibtex").out
    assert text.count("\n@") + 1 == len(references())


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ([], "WHAT"),
        (["metrics", "--bibtex", "f1_m"], "WHAT"),
        (["--bibtex", "f1_m", "--format", "json"], "--format"),
    ],
)
def test_a_list_or_bibtex_is_asked_for_and_not_both(cli, arguments, field):
    cli("list", *arguments).fails(2, field=field)


def test_bibtex_of_an_unknown_name_is_refused_with_the_nearest(cli):
    done = cli("list", "--bibtex", "sw+e")
    done.fails(2, found="sw+e", expected=re.compile(r"\bsw\+d\b"))
    assert done.out == ""
