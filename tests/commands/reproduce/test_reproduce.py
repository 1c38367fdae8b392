"""``classic-rc reproduce`` and ``run --published``."""

from __future__ import annotations

import csv
import io

import pytest

from classic_rc.commands.reproduce import reproduction

STORY = "Bo and Ada met a fox.  The fox ate bread in the park."


@pytest.fixture
def stories(tmp_path):
    """Two stories of our own in MCTest's form, named as MC160's."""
    lines, answers = [], []
    for i in range(2):
        columns = [f"mc160.dev.{i}", "Author: us", STORY]
        for kind in ("one", "multiple") * 2:
            columns += [f"{kind}: What did the fox eat?", "bread", "Ada", "a park", "rain"]
        lines.append("\t".join(columns))
        answers.append("\t".join("AAAA"))
    file = tmp_path / "mc160.dev.tsv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "mc160.dev.ans").write_text("\n".join(answers) + "\n", encoding="utf-8")
    return file


def test_ours_is_next_to_theirs(cli, stories):
    done = cli("reproduce", stories)
    assert (done.code, done.err) == (0, "")
    assert "theirs" in done.out
    assert "sliding-window:mctest" in done.out
    assert "official file" in done.out


def test_json_and_csv_have_the_same_figures(cli, stories):
    document = cli("reproduce", stories, "--format", "json").json
    assert list(document) == ["version", "schema", "figures"]
    figures = document["figures"]
    records = cli("reproduce", stories, "--format", "csv").records
    assert len(figures) == len(records) > 10
    assert figures[0]["ours"] == pytest.approx(float(records[0]["ours"]))


def test_a_figure_that_should_come_out_and_does_not_is_a_failed_check(cli, stories, monkeypatch):
    monkeypatch.setattr(
        reproduction.ReproducedFigure, "fails", property(lambda r: r.agrees is False)
    )
    done = cli("reproduce", stories, "--quiet")
    assert done.code == 1
    lines = [line for line in done.err.splitlines() if "SW on mc160.dev" in line]
    assert any("57.99" in line for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "sample:multi-span,spans=3"],
        ["index", "sample:multi-span,spans=3", "-o", "index"],
        ["perturb", "sample:multi-span,spans=3", "--with", "no-question", "-o", "copy.jsonl"],
    ],
)
def test_candidate_spans_that_have_no_effect_are_refused(cli, arguments):
    cli(*arguments).fails(
        2, "spans=3 has no effect", field="DATA", found="sample:multi-span,spans=3"
    )


def test_a_file_of_the_user_gives_the_scores_of_its_system(cli, stories, tmp_path):
    scores = tmp_path / "mc160.dev.scores"
    line = "\t".join(["1,0,0,0"] * 4) + "\n"
    scores.write_text(2 * line, encoding="utf-8")
    done = cli("reproduce", stories, "--file", f"rte={scores}", "--format", "json")
    ours = {(figure["system"], figure["split"]): figure["ours"] for figure in done.json["figures"]}
    assert ours["RTE", "dev"] == 100.0


@pytest.mark.parametrize("value", ["rte", "rte=", "=file"])
def test_a_file_without_name_or_path_is_refused(cli, stories, value):
    done = cli("reproduce", stories, "--file", value)
    done.fails(2, field="--file", found=value, expected="NAME=FILE")


def test_nothing_is_published_about_the_sample(cli):
    done = cli("reproduce", "sample:cloze")
    done.fails(2, "published", "docs/reproduction.md")


def test_run_shows_published_rows(cli, stories):
    done = cli("run", stories, "-s", "sliding-window:mctest", "--published", "--by", "type")
    assert done.code == 0
    assert done.messages("warning", "mc160.dev", "official MC160 dev")
    published = done.out.partition("[published by others]\n")[2].splitlines()
    line = next(line for line in published if line.startswith("SW "))
    assert {"57.99", "55.72", "60.85"} <= set(line.split())  # all, multiple, one
    assert "MC160 dev" in done.out
    assert "published" not in cli("run", stories, "-s", "sliding-window:mctest").out


def test_published_rows_in_json_and_csv(cli, stories):
    run = cli("run", stories, "-s", "random", "--published", "--format", "json").run
    assert any((row["system"], row["value"]) == ("SW", 57.99) for row in run["published"])
    assert {(row["block"], row["split"]) for row in run["published"]} == {("published", "dev")}
    out = cli("run", stories, "-s", "random", "--published", "--format", "csv", "--quiet").out
    records = {record["system"]: record for record in csv.DictReader(io.StringIO(out))}
    assert float(records["published: RTE"]["accuracy"]) == pytest.approx(0.5924)
    rte = records["published: RTE"]
    assert (rte["status"], rte["split"], rte["block"]) == ("derived", "dev", "published")
    assert records["random"]["block"] == "learns nothing"


def test_data_without_published_figures_gets_a_warning(cli):
    done = cli("run", "sample:cloze", "-s", "random", "--published")
    assert done.code == 0
    assert done.messages("warning", "sample:cloze", "published")
