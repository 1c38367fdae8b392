"""The datasheet: the same facts in three formats, safe for any text, the same bytes each time."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import classic_rc
from classic_rc.cli.main import main
from classic_rc.commands.check.audit import check_dataset
from classic_rc.commands.check.integrity import find_defects
from classic_rc.commands.check.without_copies import group_original_questions
from classic_rc.commands.report.datasheet import (
    DATASHEET_FORMATS,
    Datasheet,
    datasheet_facts,
    datasheet_tables,
    render_datasheet,
)
from classic_rc.datasets.statistics import describe_datasets
from classic_rc.results import with_intervals
from classic_rc.results.breakdown import break_down
from tests.tables import headings, texts

HOSTILE = "</title><script>alert(1)</script> \\input{x} $%&#_ `* | 中文 \u202e \u0161"


@pytest.fixture(scope="module")
def sheet():
    data = classic_rc.load("sample:single-choice")
    train = data[:4]
    check = replace(check_dataset(data), defects=find_defects(data, train))
    evaluation = with_intervals(classic_rc.evaluate(data, ["sw+d", "random"]), n=50)
    return Datasheet(
        data,
        describe_datasets([data]),
        describe_datasets([train]),
        check,
        evaluation,
        break_down(evaluation.results, group_original_questions(data, check.defects), n=50),
        {"Licence": "CC BY 4.0"},
        "classic-rc report sample:single-choice --datasheet -o sheet.md",
    )


def table(sheet, title):
    (matching,) = [t for t in datasheet_tables(sheet) if t.title.startswith(title)]
    return matching


def test_facts_have_the_task_the_licence_and_the_files(sheet):
    facts = dict(datasheet_facts(sheet))
    assert facts["Task"] == "single choice"
    assert facts["Licence"] == "CC BY 4.0"
    assert facts["Fingerprint"] == sheet.dataset.fingerprint[:16]
    assert facts["Files"].startswith("single_choice.jsonl (sha256 ")
    assert "Citation" not in facts  # the format of one's own data is nothing to cite


def test_sizes_and_lengths_are_those_of_the_statistics(sheet):
    sizes = table(sheet, "Size")
    test_row, train_row = texts(sizes)
    assert test_row[:4] == ["sample:single-choice", "6", "24", "96"]
    assert train_row[:4] == ["sample:single-choice (training)", "1", "4", "16"]
    lengths = {row[0]: row[1:] for row in texts(table(sheet, "Lengths"))}
    (row,) = [r for r in sheet.statistics.rows if r.statistic.label == "tokens a passage"]
    numbers = row.measures[0].numbers
    quantiles = np.quantile(numbers, [0.5, 0.05, 0.95])
    expected = [f"{numbers.mean():,.1f}", *(f"{value:,.0f}" for value in quantiles)]
    assert lengths["tokens a passage"] == expected


def test_shapes_sum_to_all(sheet):
    for title in ("First words", "Positions"):
        (cells,) = texts(table(sheet, title))
        assert sum(map(float, cells[1:])) == pytest.approx(100, abs=0.5)


def test_floors_findings_and_scores_without_duplicates(sheet):
    floors = table(sheet, "Floors:")
    assert [row[0] for row in texts(floors)] == ["sw+d", "random"]
    assert texts(floors)[1][1].startswith("25.00 [")
    assert ["error", "questions that are in the training data", "4"] in texts(
        table(sheet, "Findings")
    )
    assert "training" in headings(table(sheet, "Duplicates"))[0]
    uncopied = texts(table(sheet, "Floors without copies"))
    assert [row[:2] for row in uncopied] == [["total", "24"], ["without copies", "20"]]
    assert texts(table(sheet, "What it takes"))[0][0] == "options only"
    (note,) = table(sheet, "Cues").notes
    assert int(note.split()[0]) == sheet.check.n_features > 50


def test_hidden_gold_leaves_floors_and_positions_out(sheet):
    data = sheet.dataset
    hidden = replace(data, questions=[replace(q, gold=None) for q in data])
    titles = [t.title for t in datasheet_tables(Datasheet(hidden, describe_datasets([hidden])))]
    assert titles == ["Size", "Lengths", "First words of questions"]


def test_the_command_of_the_page_can_be_given_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["report", "sample:single-choice", "--datasheet", "--without", "floors,check"]
    assert main([*words, "-o", "first.md"]) == 0
    (line,) = [x for x in Path("first.md").read_text().splitlines() if x.startswith("classic-rc")]
    first = Path("first.md").read_bytes()
    assert main(shlex.split(line)[1:]) == 0
    assert Path("first.md").read_bytes() == first


@pytest.mark.parametrize("form", DATASHEET_FORMATS)
def test_every_format_has_everything_and_is_reproducible(sheet, form):
    text = render_datasheet(sheet, form)
    assert text == render_datasheet(sheet, form)
    if form != "json":
        for title in [t.title for t in datasheet_tables(sheet)]:
            assert title in text
        assert "CC BY 4.0" in text
        assert "report sample:single-choice" in text


def test_markdown_and_html_show_any_text_literally(sheet, outline):
    hostile = replace(sheet, title=HOSTILE, facts={HOSTILE: HOSTILE}, command=f"a ``` {HOSTILE}")
    markdown = render_datasheet(hostile, "markdown")
    assert "<script>" not in re.sub(r"````.*?````", "", markdown, flags=re.DOTALL).replace(
        "\\<script>", ""
    )
    page = outline(render_datasheet(hostile, "html"))
    assert "script" not in [tag for tag, _ in page.elements]
    assert "<script>alert(1)</script>" in page.text


def compile_latex(folder, source, name="sheet.tex", outer=None):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    (folder / name).write_text(source, encoding="utf-8")
    (folder / "outer.tex").write_text(outer or source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "outer.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    return done.stdout.decode(errors="replace")


@pytest.mark.ci
def test_latex_is_one_page_by_itself(sheet, tmp_path):
    assert "(1 page" in compile_latex(tmp_path, render_datasheet(sheet, "latex"))


@pytest.mark.ci
def test_latex_breaks_long_paths_and_names(sheet, tmp_path):
    name = "/".join(["a_folder_with_a_long_name"] * 6) + "x" * 120
    command = f"classic-rc report {name} --datasheet -o {name}.tex"
    long = replace(sheet, title=name, facts={name: name}, command=command)
    assert "Overfull" not in compile_latex(tmp_path, render_datasheet(long, "latex"))


@pytest.mark.ci
def test_latex_is_part_of_another_document(sheet, tmp_path):
    packages = r"\usepackage{booktabs,adjustbox,tabularx,multicol}"
    body = r"\begin{document}Before.\input{sheet}After.\end{document}"
    outer = rf"\documentclass{{article}}{packages}{body}"
    compile_latex(tmp_path, render_datasheet(sheet, "latex"), outer=outer)


@pytest.mark.ci
def test_latex_compiles_with_any_text(sheet, tmp_path):
    hostile = replace(sheet, title=HOSTILE, facts={HOSTILE: HOSTILE}, command=HOSTILE)
    compile_latex(tmp_path, render_datasheet(hostile, "latex"))
