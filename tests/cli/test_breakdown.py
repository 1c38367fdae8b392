"""Groups of questions: ``run --by``, ``stats --by``, and ``classic-rc breakdown``, their old name."""

from __future__ import annotations

import re

import pytest

LABELS = "id,skills\nq1,who;where\nq2,who\nq3,-\n"


@pytest.fixture
def labels(write):
    return write("labels.csv", LABELS)


def counts(done) -> dict[str, dict[str, int]]:
    """The numbers of questions by key and group."""
    return {b["key"]: {g["group"]: g["questions"] for g in b["groups"]} for b in done.json["breakdowns"]}


def test_without_keys_all_that_labels_say(cli, single, labels):
    done = cli("breakdown", single, "--labels", labels, "--format", "json")
    assert done.code == 0
    assert counts(done) == {
        "skills": {"where": 1, "who": 2, "no label": 1},
        "skills:alone": {"where, with others": 1, "who, alone": 1, "who, with others": 1},
        "skills:count": {"0": 1, "1": 1, "2": 1},
    }


def test_keys_of_labels_of_the_data_and_of_every_question(cli, single, labels):
    keys = ("skills", "kind", "verbatim", "question-type")
    by = [part for key in keys for part in ("--by", key)]
    done = cli("breakdown", single, "--labels", labels, *by, "--format", "json")
    assert list(counts(done)) == [*keys]
    assert counts(done)["kind"] == {"what": 1, "when": 1, "who": 1}


def test_systems_are_solvers_predictions_and_records(cli, single, tmp_path):
    cli("run", single, "-s", "sw+d", "-s", "longest", "--save", tmp_path / "run")
    cli("predict", single, "-s", "longest", "--as", "jsonl", "-o", tmp_path / "mine.jsonl", "--ties", "first")
    systems = ["shortest", f"old={tmp_path / 'run'}#longest", tmp_path / "mine.jsonl"]
    options = [part for system in systems for part in ("-s", system)]
    done = cli("breakdown", single, *options, "--by", "kind", "--resamples", 50, "--format", "json")
    (breakdown,) = done.json["breakdowns"]
    assert list(breakdown["total"]["systems"]) == ["shortest", "old", "mine"]
    wanted = {
        row["solver"]: row["metrics"]["accuracy"]
        for row in cli("run", single, "-s", "shortest", "-s", "longest", "--format", "json").rows
    }
    assert breakdown["total"]["systems"]["old"]["value"] == wanted["longest"]
    assert breakdown["total"]["systems"]["shortest"]["value"] == wanted["shortest"]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_every_format_has_the_groups_the_cross_tabulation_and_the_signatures(cli, single, labels, form):
    done = cli(
        *("breakdown", single, "-s", "sw+d", "--labels", labels, "--by", "skills", "--resamples", 50),
        *("--cross", "skills,kind", "--cross", "skills", "--format", form),
    )
    assert done.code == 0
    for text in ("no label", "where", "sw+d", "what", "kind"):
        assert text in done.out
    if form == "csv":
        records = done.records
        (both,) = (r for r in records if (r["group"], r["cross_key"]) == ("who", "skills"))
        assert both["where"] == "1"
    if form == "json":
        own = done.json["cross"][1]
        assert own["counts"]["who"] == {"where": 1, "who": 2, "no label": 0}


def test_cross_tabulations_without_keys(cli, single):
    done = cli("breakdown", single, "--cross", "kind,verbatim", "--format", "csv")
    assert done.code == 0
    assert all(record["cross_key"] == "verbatim" for record in done.records)


def test_labels_of_other_questions_are_refused_or_noted(cli, single, write):
    labels = write("more.csv", LABELS + "elsewhere,who\n")
    refused = cli("breakdown", single, "--labels", labels)
    refused.fails(3, source=str(labels), line=5, found=re.compile("'elsewhere'"))
    done = cli("breakdown", single, "--labels", labels, "--other-questions")
    assert done.code == 0
    assert done.messages("note", "more.csv", "1 ", "single")
    assert not cli("stats", single, "--labels", labels, "--other-questions", "--quiet").err


def test_partial_coverage_is_stated(cli, single, write):
    done = cli("breakdown", single, "--labels", write("some.csv", "id,skills\nq1,who\n"))
    assert "skills: 1 of 3 questions (from some.csv); the others are left out" in done.out


@pytest.mark.parametrize(
    ("args", "facts", "fields"),
    [
        ([], ["--by KEY", "`classic-rc list keys`", "--labels FILE"], {"field": "--by"}),
        (["--by", "knid"], ["'knid'", "'kind'"], {"found": "knid", "expected": "kind"}),
        (["--by", "kind", "-s", "sw+dd"], ["'sw+dd'", "'sw+d'"], {"field": "solver", "found": "sw+dd"}),
        (["--by", "kind", "-s", "sw+d", "--metrics", "f1_a"], ["f1_a", "single-choice"], {}),
        (["--by", "kind", "--plot", "x.jpg"], ["x.jpg", ".pdf, .png, .svg"], {"field": "--plot", "found": "x.jpg"}),
        (["--by", "kind", "--plot", "LABELS"], ["labels.csv", ".pdf, .png, .svg"], {"field": "--plot"}),
        (["--by", "kind", "-o", "DATA"], ["single.jsonl"], {"field": "--output"}),
        (["--labels", "LABELS", "--labels", "LABELS"], ["labels.csv", "'skills'"], {}),
    ],
)
def test_wrong_uses(cli, single, labels, args, facts, fields):
    paths = {"DATA": single, "LABELS": labels}
    cli("breakdown", single, *(paths.get(arg, arg) for arg in args)).fails(2, *facts, **fields)


def test_labels_that_are_not_there(cli, single, tmp_path):
    assert cli("breakdown", single, "--labels", tmp_path / "none.csv").code == 3


def test_a_record_of_other_questions(cli, single, several, tmp_path):
    cli("run", several, "-s", "longest", "--save", tmp_path / "run", "--threshold", 1)
    done = cli("breakdown", single, "--by", "kind", "-s", tmp_path / "run")
    done.fails(2, "run ", "other questions", "single")


def test_bars_are_drawn(cli, single, labels, tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    for suffix, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        path = tmp_path / f"bars.{suffix}"
        done = cli("breakdown", single, "-s", "sw+d", "--labels", labels, "--resamples", 50, "--plot", path)
        assert done.code == 0
        assert path.read_bytes().startswith(magic)


def test_the_old_name_runs_with_a_notice(cli, single):
    done = cli("breakdown", single, "--by", "kind", "--system", "longest")
    assert done.code == 0
    assert [line.split()[3] for line in done.messages("notice")] == ["is", "is"]
    assert done.messages("notice", "breakdown", "run DATA --by KEY", "report DATA --datasheet --by KEY")
    assert done.messages("notice", "--system is now --solver")


def test_several_keys_of_run_are_tables_after_the_results(cli, single, labels):
    systems = ("-s", "sw+d", "-s", "longest")
    keys = ("--by", "kind", "--by", "verbatim")
    done = cli("run", single, *systems, *keys)
    assert done.code == 0
    first, kind, verbatim = (
        done.out.index(text) for text in ("single (jsonl)", "by kind: Acc.", "by verbatim: Acc.")
    )
    assert first < kind < verbatim
    (old,) = cli("breakdown", single, *systems, "--by", "kind", "--format", "json").json["breakdowns"]
    plain = cli("run", single, *systems, *keys, "--format", "json").run
    assert plain["breakdowns"][0] == old
    assert [b["key"] for b in plain["breakdowns"]] == ["kind", "verbatim"]
    assert "groups" not in plain["rows"][0]


def test_one_key_of_run_is_columns_and_a_cross_tabulation_is_a_table(cli, single, labels):
    done = cli("run", single, "-s", "longest", "--by", "kind", "--cross", "kind,verbatim")
    assert "Acc. who (1)" in done.out
    assert "by kind: Acc." not in done.out
    assert "questions by kind / verbatim" in done.out
    plain = cli("run", single, "-s", "longest", "--by", "kind", "--format", "json").run
    assert set(plain["rows"][0]["groups"]) == {"who", "what", "when"}
    assert "breakdowns" not in plain


def test_labels_of_run_are_tables_in_every_format(cli, single, labels):
    args = ("run", single, "-s", "longest", "--labels", labels, "--intervals", 50)
    for form in ("table", "markdown", "latex"):
        out = cli(*args, "--format", form).out
        assert all(text in out for text in ("by skills: Acc.", "by skills:count: Acc.", "who, alone"))
    records = cli(*args, "--format", "csv").records
    assert (records[0]["system"], records[0]["key"]) == ("longest", "")
    assert {record["key"] for record in records[1:]} == {"skills", "skills:alone", "skills:count"}
    assert cli(*args, "--format", "json").run["breakdowns"][0]["key"] == "skills"


def test_the_figure_of_run_needs_groups_of_one_dataset(cli, single, tmp_path):
    path = tmp_path / "bars.svg"
    cli("run", single, "-s", "longest", "--plot", path).fails(2, "--by KEY", field="--plot")
    cli("run", "sample", "-s", "longest", "--by", "verbatim", "--plot", path).fails(2, "--pool", field="DATA")
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    done = cli("run", single, "-s", "longest", "--by", "kind", "--plot", path, "--intervals", 50)
    assert done.code == 0
    assert path.read_bytes().startswith(b"<?xml")
    assert "Acc. who (1)" in done.out


def test_stats_count_the_questions_of_groups(cli, single, several, labels):
    done = cli("stats", single, "--labels", labels, "--cross", "skills,kind", "--format", "json")
    (groups,) = done.json["groups"]
    assert {g["group"]: g["questions"] for g in groups["breakdowns"][0]["groups"]} == {
        "where": 1,
        "who": 2,
        "no label": 1,
    }
    assert groups["cross"][0]["counts"]["where"] == {"what": 0, "when": 0, "who": 1}
    two = cli("stats", single, several, "--by", "verbatim")
    assert [f"{name} questions, data" in two.out for name in ("single (3", "several (4")] == [True, True]
    records = cli("stats", single, "--by", "kind", "--format", "csv").records
    assert [r["questions"] for r in records if r["group"] in ("who", "total")] == ["3", "1"]
    assert "groups" not in cli("stats", single, "--format", "json").json


def test_an_unknown_key_of_one_dataset_does_not_stop_the_others(cli, single, several):
    done = cli("run", single, several, "-s", "longest", "--threshold", 1, "--by", "kind")
    assert done.code == 2
    assert "single (jsonl)" in done.out
