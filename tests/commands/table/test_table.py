"""``classic-rc table``, and names of images where nothing is drawn."""

from __future__ import annotations

import re
import sys

import pytest

from classic_rc.errors import DataError


@pytest.fixture
def runs(cli, forty_questions, tmp_path):
    """A record of three systems with intervals and tests."""
    folder = tmp_path / "runs"
    cli(
        *(
            "run",
            forty_questions,
            "-s",
            "longest",
            "-s",
            "shortest",
            "-s",
            "sw+d",
            "--baseline",
            "sw+d",
        ),
        *("--intervals", 200, "--save", folder),
    )
    return folder


def test_a_folder_or_its_file_is_the_record(cli, runs):
    done = cli("table", runs)
    assert done.code == 0
    assert done.out.startswith("Accuracy (%) on many\n")
    assert re.search(r"^longest\s+\d+\.\d\*? \[", done.out, re.MULTILINE)
    assert cli("table", runs / "run.json").out == done.out


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.tex", "% \\usepackage{booktabs,adjustbox}\n\\begin{table}[t]"),
        ("t.md", "**Accuracy (%)"),
        ("t.csv", "system,block,"),
        ("t.html", "<table"),
        ("t.txt", "Accuracy (%)"),
    ],
)
def test_the_ending_of_the_file_is_its_format(cli, runs, tmp_path, name, start):
    done = cli("table", runs, "-o", tmp_path / name)
    assert (done.code, done.out) == (0, "")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    cli("table", runs, "-o", tmp_path / name, "--format", "csv")
    assert (tmp_path / name).read_text(encoding="utf-8").startswith("system,block,")


def test_groups_and_metrics_are_columns(cli, single, multiple_answer, tmp_path):
    cli("run", single, "-s", "longest", "--by", "kind", "--save", tmp_path / "a")
    cli("run", multiple_answer, "-s", "longest", "--save", tmp_path / "b")
    done = cli("table", tmp_path / "a", tmp_path / "b", "--by", "kind", "--format", "csv")
    columns = {(record["dataset"], record["metric"], record["group"]) for record in done.records}
    assert columns == {
        *(("single", "accuracy", group) for group in ("", "who", "what", "when")),
        *(("several", name, "") for name in ("f1_m", "f1_a", "em0")),
    }
    done = cli("table", tmp_path / "a", tmp_path / "b", "--metrics", "em1", "--format", "csv")
    assert {record["metric"] for record in done.records} == {"em1"}
    assert done.messages("note", "single is left out")
    cli("table", tmp_path / "b", "--by", "kind").fails(
        2, "classic-rc run DATA --by kind --save", field="--by"
    )


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", '{"version": "1", "runs": []}', '{"runs": [{}]}']
)
def test_broken_records_are_errors(cli, tmp_path, content):
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    done = cli("table", tmp_path)
    assert done.code == 3
    assert isinstance(done.errors[0], DataError)
    assert done.out == ""


def test_missing_records_are_errors_with_the_command_that_makes_one(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, folder in (("empty", "empty"), ("nowhere", "nowhere"), ("a/run.json", "a")):
        done = cli("table", tmp_path / name)
        done.fails(
            3, f"`classic-rc run DATA --save {tmp_path / folder}`", source=str(tmp_path / name)
        )


def test_the_paragraph_is_written_with_its_bibtex(cli, runs, tmp_path):
    done = cli("table", runs, "--methods", "--format", "latex")
    text, _, entries = done.out.partition("\n\n@")
    paragraph, bibtex = f"{text}\n", f"@{entries}"
    assert paragraph.startswith("many has 40 questions about 40 passages.")
    assert r"~\citep{richardson2013}" in paragraph
    assert "@misc{classic_rc," in bibtex
    cli("table", runs, "--methods", "-o", tmp_path / "m.tex")
    assert (tmp_path / "m.tex").read_text(encoding="utf-8") == paragraph
    assert (tmp_path / "m.bib").read_text(encoding="utf-8") == bibtex
    assert "(Richardson et al., 2013)" in cli("table", runs, "--methods").out
    cli("table", runs, "--methods", "--format", "csv").fails(2, field="--format", found="csv")


def test_the_bibtex_of_the_paragraph_replaces_nothing(cli, runs, tmp_path):
    done = cli("table", runs, "--methods", "-o", tmp_path / "new.bib")
    done.fails(
        2, field="--output", found=str(tmp_path / "new.bib"), expected=str(tmp_path / "new.tex")
    )
    assert list(tmp_path.glob("new*")) == []
    own_entry = "@Article{mine2026,\n  title = {Ours}\n}\n"
    (tmp_path / "paper.bib").write_text(own_entry, encoding="utf-8")
    cli("table", runs, "--methods", "-o", tmp_path / "paper.tex").fails(
        2, "mine2026", field="--output", found=str(tmp_path / "paper.bib")
    )
    assert (tmp_path / "paper.bib").read_text(encoding="utf-8") == own_entry
    for _ in range(2):  # its own file it replaces
        assert cli("table", runs, "--methods", "-o", tmp_path / "methods.tex").code == 0


def test_a_forest_plot_has_intervals_even_if_the_runs_have_none(cli, forty_questions, tmp_path):
    pytest.importorskip("matplotlib")
    cli("run", forty_questions, "-s", "longest", "--save", tmp_path / "a")
    done = cli("table", tmp_path / "a", "--figure", "forest", "-o", tmp_path / "f.svg")
    assert done.messages("note", "computed from the outcomes")


def test_figures_that_cannot_be_drawn_are_refused(cli, runs, tmp_path, monkeypatch):
    cli("table", runs, "--figure", "forest").fails(2, "-o FILE.pdf", field="--output")
    cli("table", runs, "--figure", "forest", "-o", tmp_path / "f.txt").fails(
        2, ".pdf", field="--output"
    )
    cli("table", runs, "--figure", "curve").fails(2, field="--figure")
    cli("table", runs, "--figure", "forest", "--methods", "-o", tmp_path / "f.pdf").fails(
        2, field="--figure"
    )
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    cli("table", runs, "--figure", "forest", "-o", tmp_path / "f.pdf").fails(
        4, package="matplotlib"
    )


@pytest.mark.parametrize(
    ("arguments", "way"),
    [
        (["run", "DATA"], "--figure groups -o OUT"),
        (["table", "RUNS"], "use --figure forest -o OUT"),
    ],
)
def test_text_is_not_written_to_images(cli, runs, single, tmp_path, arguments, way):
    places = {"DATA": str(single), "RUNS": str(runs)}
    for suffix in ("png", "PDF"):
        out = tmp_path / f"x.{suffix}"
        done = cli(*(places.get(argument, argument) for argument in arguments), "-o", out)
        done.fails(2, way.replace("OUT", str(out)), field="--output", found=str(out))
        assert not out.exists()


def test_a_number_in_a_suite_is_a_row_that_nobody_runs(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = (
        '[datasets.stories]\npath = "sample:single-choice"\n[systems]\nSW = '
        '"sliding-window"\nHuman = {}\n'
    )
    (tmp_path / "s.toml").write_text(suite.format("95.50"), encoding="utf-8")
    assert "given numbers, not compared" in cli("run", "s.toml", "--save", "out", "-q").out
    printed = cli("table", "out", "--rename", "Human=People").out
    assert "[Given numbers and samples, not compared]" in printed
    assert re.search(r"People +95\.5\n", printed)
    assert (
        "The numbers of Human are given and not measured here."
        in cli("table", "out", "--methods").out
    )
    for number in ("0.95", "101", "true", "{other = 95}"):
        (tmp_path / "s.toml").write_text(suite.format(number), encoding="utf-8")
        assert cli("run", "s.toml", "--save", "out", "-q").code == 3
