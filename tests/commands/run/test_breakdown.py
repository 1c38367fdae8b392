"""Groups of questions: ``run --by`` and ``--labels``."""

from __future__ import annotations

import os

import pytest

GROUPS = ("--figure", "groups", "-o")
LABELS = "id,skills\nq1,who;where\nq2,who\nq3,-\n"


@pytest.fixture
def labels(write):
    return write("labels.csv", LABELS)


def counts(done) -> dict[str, dict[str, int]]:
    """The numbers of questions by key and group."""
    sizes = {}
    for breakdown in done.run["breakdowns"]:
        sizes[breakdown["key"]] = {g["group"]: g["questions"] for g in breakdown["groups"]}
    return sizes


def test_without_keys_all_that_labels_say(cli, single, labels):
    done = cli("run", single, "-s", "longest", "--labels", labels, "--format", "json")
    assert done.code == 0
    assert counts(done) == {
        "skills": {"where": 1, "who": 2, "no label": 1},
        "skills:alone": {"where, with others": 1, "who, alone": 1, "who, with others": 1},
        "skills:count": {"0": 1, "1": 1, "2": 1},
    }


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_every_format_has_the_groups_the_cross_tabulation_and_the_signatures(
    cli, single, labels, form
):
    done = cli(
        *("run", single, "-s", "sw+d", "--labels", labels, "--by", "skills", "--intervals", 50),
        *("--by", "skills,kind", "--by", "skills,skills", "--format", form),
    )
    assert done.code == 0
    for text in ("no label", "where", "sw+d", "what", "kind"):
        assert text in done.out
    if form == "csv":
        records = done.records
        (record,) = (r for r in records if (r["group"], r["cross_key"]) == ("who", "skills"))
        assert record["where"] == "1"
    if form == "json":
        cross_table = done.run["cross"][1]
        assert cross_table["counts"]["who"] == {"where": 1, "who": 2, "no label": 0}


def test_labels_of_other_questions_are_noted(cli, single, write):
    labels = write("more.csv", LABELS + "elsewhere,who\n")
    done = cli("run", single, "-s", "longest", "--labels", labels)
    assert done.code == 0
    assert done.messages("note", "more.csv", "1 ", "single", "'elsewhere'")


@pytest.mark.parametrize(
    ("args", "facts", "fields"),
    [
        (["--by", "knid"], ["'knid'", "'kind'"], {"found": "knid", "expected": "kind"}),
        (
            ["--by", "kind", *GROUPS, "x.jpg"],
            ["x.jpg", ".pdf, .png, .svg"],
            {"field": "--output", "found": "x.jpg"},
        ),
        (
            ["--by", "kind", *GROUPS, "LABELS"],
            ["labels.csv", ".pdf, .png, .svg"],
            {"field": "--output"},
        ),
        (["--by", "kind", "-o", "DATA"], ["single.jsonl"], {"field": "--output"}),
        (["--labels", "LABELS", "--labels", "AGAIN"], ["labels.csv", "'skills'"], {}),
    ],
)
def test_wrong_uses_are_refused(cli, single, labels, args, facts, fields):
    paths = {"DATA": single, "LABELS": labels, "AGAIN": os.path.relpath(labels)}
    done = cli("run", single, "-s", "longest", *(paths.get(arg, arg) for arg in args))
    done.fails(2, *facts, **fields)


def test_one_key_of_run_is_columns_and_a_cross_tabulation_is_a_table(cli, single, labels):
    done = cli("run", single, "-s", "longest", "--by", "kind", "--by", "kind,verbatim")
    assert "Acc. who (1)" in done.out
    assert "by kind: Acc." not in done.out
    assert "questions by kind / verbatim" in done.out
    plain = cli("run", single, "-s", "longest", "--by", "kind", "--format", "json").run
    assert set(plain["rows"][0]["groups"]) == {"who", "what", "when"}
    assert "breakdowns" not in plain


def test_the_figure_of_run_needs_groups_of_one_dataset(cli, single, tmp_path):
    path = tmp_path / "bars.svg"
    cli("run", single, "-s", "longest", *GROUPS, path).fails(2, "--by KEY", field="--figure")
    cli("run", "sample", "-s", "longest", "--by", "verbatim", *GROUPS, path).fails(
        2, "--pool", field="DATA"
    )
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    done = cli("run", single, "-s", "longest", "--by", "kind", *GROUPS, path, "--intervals", 50)
    assert done.code == 0
    assert path.read_bytes().startswith(b"<?xml")
    assert "Acc. who (1)" in done.out


def test_an_unknown_key_of_one_dataset_does_not_stop_the_others(cli, single, multiple_answer):
    done = cli("run", single, multiple_answer, "-s", "longest", "--threshold", 1, "--by", "kind")
    assert done.code == 2
    assert "single (jsonl)" in done.out
