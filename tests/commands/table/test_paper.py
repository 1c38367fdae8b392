"""The paper's table: what it computes from run records, and what it looks like."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate, from_rows
from classic_rc.commands.table.figure import forest_figure
from classic_rc.commands.table.formats import (
    as_table,
    caption,
    marks,
    table_csv,
    table_latex,
    uneven_intervals,
)
from classic_rc.commands.table.methods import methods_text, settings_table
from classic_rc.commands.table.paper import make_paper_table, read_paper_records
from classic_rc.errors import DataError, UsageError
from classic_rc.metrics.base import METRICS
from classic_rc.reports.references import references
from classic_rc.results import with_intervals, with_significance
from classic_rc.results.measure import Measured
from classic_rc.results.outcomes import Block
from classic_rc.results.record import run_record
from classic_rc.solvers import parse_solver, save_solver
from classic_rc.systems import parse_system
from classic_rc.tables import render
from tests.errors import raises

WORDS = (
    "owl mouse barn river lamp stone cello train fence bean garden night rabbit hole bag uncle"
).split()
SYSTEMS = [
    "random",
    "longest",
    "shortest",
    "sliding-window",
    "sw+d",
    "word-distance",
    "lexical",
    "ir",
]
KINDS = (
    *("cause", "detail", "main idea", "author's attitude", "word in context", "temporal order"),
    *("reference", "negation", "arithmetic", "world knowledge"),
)


def questions(name, n=36, *, multiple=False, seed=0):
    """Questions about passages of random words; the longest option is often right."""
    draw = random.Random(f"{name}{seed}")
    rows = []
    for i in range(n):
        options = [" ".join(draw.sample(WORDS, draw.randint(1, 4))) for _ in range(4)]
        best = max(range(4), key=lambda k: len(options[k]))
        right = best if draw.random() < 0.6 else draw.randrange(4)
        words = " ".join(draw.choices(WORDS, k=30))
        level = "middle" if i % 3 else "high"
        row = {
            "id": f"{name}{i}",
            "passage": f"{i // 2} {words}.",
            "question": f"What about the {draw.choice(WORDS)}?",
            "candidates": options,
            "gold": sorted({right, draw.randrange(4)}) if multiple else right,
            "meta": {"level": level, "author": f"a{i // 8}", "kind": KINDS[i % 10]},
        }
        rows.append(row)
    return from_rows(rows, name=name, split="dev")


@pytest.fixture
def save(tmp_path):
    """Writes a record of evaluations and gives its file."""

    def save(name, *evaluations, **changed):
        path = tmp_path / name / "run.json"
        path.parent.mkdir(exist_ok=True)
        record = run_record(evaluations)
        for run in record["runs"]:
            run |= changed
        path.write_text(json.dumps(record), encoding="utf-8")
        return path

    return save


def measured(dataset, solvers, baseline=None, **options):
    evaluation = with_intervals(evaluate(dataset, solvers, **options), 200)
    return evaluation if baseline is None else with_significance(evaluation, baseline, 300)


def paper(*files, **options):
    return make_paper_table(read_paper_records(files), **options)


def table_text(table, *args, **options):
    return render(as_table(table, *args, bold=False, **options), "table")


def table_markdown(table, *args):
    return render(as_table(table, *args), "markdown")


def cell(table, row, column):
    """The cell of a row's name and a column's dataset, metric or group."""
    names = [f"{c.dataset}:{c.group or c.metric.name}" for c in table.columns]
    assert names.count(column) == 1
    return cells_of(table, row)[names.index(column)]


def cells_of(table, name):
    """The cells of the row of this name."""
    (row,) = (row for row in table.rows if row.name == name)
    return row.cells


def repeat_rows(table, n):
    """Several copies of all rows, each copy with names of its own."""
    return tuple(replace(row, name=f"{row.name} {i}") for i in range(n) for row in table.rows)


def bold_rows(table):
    """The names of the rows that are best in the first column."""
    return {row.name for row in table.rows if row.cells[0].is_best}


# --------------------------------------------------------------------------------------------------
# Numbers


def test_groups_of_passages_that_a_run_kept_together_are_named(save):
    run = with_intervals(evaluate(questions("barn"), ["longest", "sw+d"]), 200, group="author")
    assert "groups of passages" in caption(paper(save("a", run)), None, "lines")


def test_intervals_and_a_baseline_are_made_on_request(save):
    file = save("a", evaluate(questions("barn"), ["longest", "sw+d", "shortest"]))
    plain = paper(file)
    assert all(c.interval is None for c in plain.cells)
    assert all(c.test.p_value is None for c in plain.cells)
    table = paper(file, intervals=200, baseline="longest")
    assert all(c.interval is not None for c in table.cells)
    p_values = {row.name: row.cells[0].test.p_value for row in table.rows}
    assert [name for name, p in p_values.items() if p is None] == ["longest"]
    with raises(UsageError, field="baseline", found="lexical"):
        paper(file, baseline="lexical")


def test_what_is_left_out_changes_no_mark(save):
    table = paper(save("a", measured(questions("barn"), SYSTEMS, "sw+d", by="level")), by="level")
    two_rows = table.select(rows="shortest,longest", columns="barn:middle")
    assert [row.name for row in two_rows.rows] == ["shortest", "longest"]
    for name in ("shortest", "longest"):
        assert cell(two_rows, name, "barn:middle") == cell(table, name, "barn:middle")
    family = [
        c.test.p_value for c in (cell(table, row.name, "barn:accuracy") for row in table.rows)
    ]
    alone = paper(save("b", measured(questions("barn"), ["sw+d", "longest", "shortest"], "sw+d")))
    p = cell(alone, "shortest", "barn:accuracy").test.p_value
    assert p is not None
    assert p < max(q for q in family if q is not None)
    best = next(row.name for row in table.rows if row.cells[0].is_best)
    others = ",".join(row.name for row in table.rows if row.name != best)
    remaining = table.select(rows=others)
    assert not any(row.cells[0].is_best for row in remaining.rows)
    assert any("no number is bold" in note for note in remaining.notes)


def test_given_numbers_of_several_records_are_all_shown_each_in_its_own_groups(save, tmp_path):
    dataset = questions("barn")
    answers = tmp_path / "people.jsonl"
    lines = [{"id": q.id, "answer": min(q.gold)} for q in dataset[:20]]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    by_author = evaluate(dataset, {"sw+d": "sw+d", "Human": 95.5}, by="author")
    by_level = evaluate(dataset, {"sw+d": "sw+d", "People": f"{answers},sample=20"}, by="level")
    table = paper(save("a", by_author), save("b", by_level), by="level")
    assert {row.name for row in table.rows if row.is_given} == {"Human", "People"}
    assert [c.value for c in cells_of(table, "Human")] == [0.955, None, None]
    assert [c.value for c in cells_of(table, "People")] == [1.0, 1.0, 1.0]
    renamed = replace(by_author, group_by="level", groupings=by_level.groupings)
    with_both = paper(save("b", by_level), save("c", renamed), by="level")
    assert [c.sample for c in cells_of(with_both, "People")] == [20, 7, 13]
    # Groups of another key with the same names are not those of the column.
    masks = by_level.groupings["level"]
    authors = replace(by_level, group_by="author", groupings={"author": masks})
    longest = evaluate(dataset, ["longest"], by="level")
    table = paper(save("d", authors), save("e", longest), by="level")
    assert [c.sample for c in cells_of(table, "People")] == [20, None, None]


def test_choices_are_in_the_given_order_and_blocks_stay_together(save):
    run = measured(questions("barn"), ["longest", "surface-lr", "sw+d,window=30", "sw+d"], cv=2)
    lamp = measured(questions("lamp"), ["longest", "sw+d"])
    table = paper(save("a", run, lamp))
    assert [row.block for row in table.rows] == [Block.UNTRAINED] * 3 + [Block.TRAINED]
    selection = table.select(rows="surface-lr,sw+d,window=30,longest", columns="lamp,barn")
    assert [row.name for row in selection.rows] == ["sw+d,window=30", "longest", "surface-lr"]
    assert [column.dataset for column in selection.columns] == ["lamp", "barn"]
    assert cell(selection, "longest", "lamp:accuracy") == cell(table, "longest", "lamp:accuracy")
    assert selection.missing == [
        "no result of sw+d,window=30, surface-lr on lamp: not in the record"
    ]
    with raises(UsageError, field="row", found="lexical"):
        table.select(rows="longest,lexical")
    with raises(UsageError, field="column", found="bran"):
        table.select(columns="bran")


def test_the_best_is_neither_an_expectation_nor_tuned_on_the_same_data_nor_published(save):
    run = measured(questions("barn"), ["random", "longest", "shortest", "sw+d"])
    worst = min(run.rows[1:], key=lambda row: row.metrics()["accuracy"])
    perfect = {name: np.ones_like(values) for name, values in worst.outcomes.statistics.items()}
    best = replace(worst.outcomes, statistics=perfect)
    lucky = replace(worst, label="lucky", expected=True, outcomes=best)
    tuned = replace(worst, label="tuned", tuned_here=True, outcomes=best)
    tops = (*run.rows, lucky, tuned)
    figure = {
        "system": "Paper",
        "metric": "accuracy",
        "printed": "99.9",
        "source": "s",
        "cites": None,
    }
    table = paper(save("a", replace(run, rows=tops), published=[figure]), published=True)
    compared = {row.name: row.metrics()["accuracy"] for row in run.rows[1:]}
    top = max(compared.values())
    assert bold_rows(table) == {name for name, value in compared.items() if value == top}
    assert table.rows[-1].block is Block.PUBLISHED
    assert "expectations, systems tuned on the same data and published results" in caption(
        table, None, "none"
    )


def test_equal_printed_numbers_are_both_bold(save):
    run = measured(questions("barn"), ["longest", "shortest"])
    longest = run.rows[0]
    shifted = longest.outcomes.statistics["accuracy"].copy()
    shifted[0] += 0.001
    outcomes = replace(longest.outcomes, statistics={"accuracy": shifted})
    twin = replace(longest, label="twin", outcomes=outcomes)
    file = save("a", replace(run, rows=(*run.rows, twin)))
    assert bold_rows(paper(file)) == {"longest", "twin"}
    assert {row.name for row in paper(file, decimals=3).rows if row.cells[0].is_best} == {"twin"}


@pytest.mark.parametrize("system", ["{file}", "score-file,path={file}"])
@pytest.mark.parametrize("multiple", [False, True])
@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize("nothing", ["who knows", None])
def test_answers_that_say_nothing_mark_only_their_own_groups(
    save, tmp_path, system, multiple, samples, nothing
):
    if multiple and samples > 1 and "path=" in system:
        pytest.skip("scores of options cannot be several selections")
    dataset = questions("barn", multiple=multiple)
    file = tmp_path / "llm.jsonl"
    rows = []
    for question in dataset:
        answers = [["A", "B"] if multiple else "A"] * samples
        if question.id == "barn0":
            answers[0] = nothing
        rows += [{"id": question.id, "answer": answer} for answer in answers]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = evaluate(dataset, {"LLM": system.format(file=file)}, by="level")
    table = paper(save("a", run), by="level")
    cells = zip(table.columns, table.rows[0].cells, strict=True)
    marked = {column.group: "‡" in marks(cell_) for column, cell_ in cells}
    is_unknown = samples > 1 and (multiple or "path=" in system)
    assert marked == {None: True, "high": True, "middle": is_unknown}
    assert "36 answers" in caption(table, None, "none").replace("72", "36")


# --------------------------------------------------------------------------------------------------
# Records


def test_records_of_one_dataset_are_joined_and_tested_together(save):
    dataset = questions("barn")
    first = save("a", measured(dataset, ["sw+d", "longest"], "sw+d"))
    second = save("b", measured(dataset, ["shortest", "longest"]))
    table = paper(first, second)
    assert [row.name for row in table.rows] == ["sw+d", "longest", "shortest"]
    together = measured(dataset, ["sw+d", "longest", "shortest"], "sw+d")
    tests = [difference.test for difference in together.measure()]
    assert [row.cells[0].test for row in table.rows] == tests


def test_other_numbers_of_one_name_are_an_error_that_names_both_files(save):
    dataset = questions("barn")
    first = save("a", evaluate(dataset, {"mine": "longest"}))
    second = save("b", evaluate(dataset, {"mine": "shortest"}))
    with raises(DataError, source=str(second), field="rows") as caught:
        paper(first, second)
    assert str(first) in str(caught.value)
    assert "mine" in str(caught.value)


def test_a_name_that_learned_from_gold_once_is_in_the_trained_block(save):
    barn = evaluate(questions("barn"), {"mine": "longest", "other": "sw+d"})
    lamp = evaluate(questions("lamp"), {"mine": "surface-lr", "other": "sw+d"}, cv=2)
    file = save("a", barn, lamp)
    table = paper(file)
    assert {row.name: row.block for row in table.rows} == {
        "mine": Block.TRAINED,
        "other": Block.UNTRAINED,
    }
    assert any(note.startswith("mine is in the block trained") for note in table.notes)


def test_different_recorded_baselines_need_a_choice(save):
    file = save(
        "a",
        measured(questions("barn"), ["longest", "sw+d"], "sw+d"),
        measured(questions("lamp"), ["longest", "sw+d"], "longest"),
    )
    with raises(UsageError, field="--baseline"):
        paper(file)
    assert paper(file, baseline="sw+d").baselines == ("sw+d",)


def test_of_two_baselines_for_one_dataset_the_first_is_used(save):
    dataset = questions("barn")
    first = save("a", measured(dataset, ["longest", "sw+d"], "sw+d"))
    second = save("b", measured(dataset, ["longest", "shortest"], "longest"))
    table = paper(first, second)
    assert table.baselines == ("sw+d",)
    assert any("sw+d, longest" in note for note in table.notes)


def test_a_baseline_without_a_result_marks_nothing_there(save):
    file = save(
        "a",
        measured(questions("barn"), ["longest", "sw+d"]),
        measured(questions("lamp"), ["longest"]),
    )
    table = paper(file, baseline="sw+d")
    assert cell(table, "longest", "barn:accuracy").test.p_value is not None
    assert cell(table, "longest", "lamp:accuracy").test.p_value is None
    assert any("lamp: the baseline sw+d has no result" in note for note in table.notes)
    assert "No tests on lamp" in caption(table, None, "none")


def test_metrics_are_those_that_papers_report_or_the_chosen_ones(save):
    file = save(
        "a",
        evaluate(questions("barn"), ["longest"]),
        evaluate(questions("lamp", multiple=True), ["longest"]),
    )
    names = [(c.dataset, c.metric.name) for c in paper(file).columns]
    assert names == [("barn", "accuracy"), ("lamp", "f1_m"), ("lamp", "f1_a"), ("lamp", "em0")]
    two_metrics = paper(file, metrics=["em1", "f1_a"])
    columns = [(c.dataset, c.metric.name) for c in two_metrics.columns]
    assert columns == [("lamp", "em1"), ("lamp", "f1_a")]
    assert any("barn is left out" in note for note in two_metrics.notes)
    with raises(UsageError, field="--metrics", found="quoref_f1"):
        paper(file, metrics=["quoref_f1"])
    with raises(UsageError, field="metric", found="f1a"):
        paper(file, metrics=["f1a"])


def test_the_primary_metric_of_the_run_is_tested(save):
    run = measured(questions("lamp", multiple=True), ["longest", "sw+d"], "sw+d", metrics=("em1",))
    table = paper(save("a", run))
    assert [c.metric.name for c in table.columns if c.is_tested] == ["em1"]
    assert cell(table, "longest", "lamp:em1").test.p_value is not None
    assert cell(table, "longest", "lamp:f1_a").test.p_value is None


def test_group_columns_need_recorded_groups(save):
    file = save("a", evaluate(questions("barn"), ["longest"]))
    with raises(UsageError, field="--by", found="level"):
        paper(file, by="level")
    grouped = save("b", evaluate(questions("barn"), ["longest"], by="level"))
    with raises(UsageError, found="levle", expected="level"):
        paper(grouped, by="levle")


def test_small_groups_are_in_parentheses_and_have_no_best(save):
    dataset = questions("barn", n=12)
    table = paper(save("a", evaluate(dataset, ["longest", "shortest"], by="level")), by="level")
    small = [j for j, c in enumerate(table.columns) if c.is_small]
    assert [table.columns[j].questions for j in small] == [4, 8]
    assert not any(row.cells[j].is_best for row in table.rows for j in small)
    assert re.search(r"longest +\S+ +\(\S+\) +\(\S+\)", table_text(table))


def test_rows_datasets_groups_and_metrics_can_be_renamed(save):
    name = "sw+d,window=30"
    run = measured(questions("barn"), {"longest": "longest", name: name}, by="level")
    renamed = evaluate(questions("lamp"), {"SW": "sw+d", "longest": "longest"})
    rename = ["sw+d,window=30=SW", "barn=B", "high=H", "accuracy=Right", "longest=Long"]
    table = paper(save("a", run, renamed), by="level", rename=rename)
    assert [row.name for row in table.rows] == ["Long", "SW"]
    assert {c.dataset for c in table.columns} == {"B", "lamp"}
    assert {c.group_label for c in table.columns} == {None, "H", "middle"}
    assert {c.metric_label for c in table.columns} == {"Right"}
    assert [row.name for row in table.select(rows="sw+d,window=30").rows] == ["SW"]
    assert len(table.select(columns="barn:high").columns) == 1


@pytest.mark.parametrize(
    ("rename", "fields"),
    [
        ("longest", {"field": "--rename", "found": "longest"}),
        ("longset=L", {"field": "name to replace", "found": "longset"}),
        ("longest=sw+d", {"field": "--rename", "found": "sw+d"}),
        ("barn=lamp", {"field": "--rename", "found": "lamp"}),
    ],
)
def test_wrong_new_names_are_refused(save, rename, fields):
    file = save(
        "a",
        evaluate(questions("barn"), ["longest", "sw+d"]),
        evaluate(questions("lamp"), ["longest"]),
    )
    with raises(UsageError, **fields):
        paper(file, rename=[rename])


def test_why_a_system_has_no_result_is_a_note(save):
    missing = [
        {"name": "mine", "reason": "it needs training data"},
        {"name": "never", "reason": "no"},
    ]
    first = save("a", evaluate(questions("barn"), ["longest"]), missing=missing)
    second = save("b", evaluate(questions("lamp"), {"longest": "longest", "mine": "sw+d"}))
    table = paper(first, second)
    assert [row.name for row in table.rows] == ["longest", "mine"]
    assert cell(table, "mine", "barn:accuracy") == Measured(reason="it needs training data")
    assert table.missing == ["no result of mine on barn: it needs training data"]
    assert "never is left out: no" in table.notes
    for text in (table_text(table), table_markdown(table), table_latex(table)):
        assert "training data" not in text
    assert "–" in table_text(table)


def test_published_figures_are_in_the_columns_that_they_are_about(save):
    def figure(system, printed, group=None, metric="accuracy", source="s", cites=None):
        return dict(
            zip(
                ("system", "printed", "group", "metric", "source", "cites"),
                (system, printed, group, metric, source, cites),
                strict=True,
            )
        )

    figures = [
        figure("SW", "43.25", cites="lai2017"),
        figure("SW", "37.3", ["level", "middle"], cites="lai2017"),
        figure("SW", "99", ["type", "one"], cites="lai2017"),
        figure("SW", "44.0", cites="lai2017"),
        figure("SW", "1.0", metric="f1_a"),
        figure("Other", None),
        figure("Other", "50"),
    ]
    run = evaluate(questions("barn"), ["longest"], by="level")
    file = save("a", run, published=figures)
    table = paper(file, by="level", published=True)
    rows = {row.name: row for row in table.rows if row.block is Block.PUBLISHED}
    assert [c.printed for c in rows["SW"].cells] == ["43.25", None, "37.3"]
    assert [c.number(1) for c in rows["SW"].cells] == ["43.3", None, "37.3"]
    assert [c.number(1) for c in rows["Other"].cells] == ["50", None, None]
    assert any("and not 44.0 (s)" in note for note in table.notes)
    assert r"SW \citep{lai2017} & " in table_latex(table)
    assert "SW (Lai et al., 2017)" in table_markdown(table)
    assert not [row for row in paper(file).rows if row.block is Block.PUBLISHED]
    unmatched = paper(save("b", run), published=True)
    assert any("no published figures" in note for note in unmatched.notes)


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"resampling": {"level": 2, "resamples": 9, "seed": 0}}, {"field": "level"}),
        ({"resampling": {"level": 0.9, "resamples": 0, "seed": 0}}, {"field": "resamples"}),
        ({"resampling": []}, {}),
        ({"significance": {"baseline": 1, "n": 9, "seed": 0}}, {"field": "baseline"}),
        (
            {"published": [{"system": "a", "metric": "f1", "source": "s", "printed": "x"}]},
            {"field": "printed"},
        ),
        (
            {"published": [{"system": "a", "metric": "f1", "source": "s", "group": ["x"]}]},
            {"field": "group"},
        ),
        ({"published": [7]}, {}),
        ({"resampled_groups": {"key": "author", "groups": [0]}}, {"field": "groups"}),
    ],
)
def test_malformed_settings_are_errors_with_their_place(save, changed, fields):
    with raises(DataError, **fields):
        paper(save("a", evaluate(questions("barn"), ["longest"]), **changed), published=True)


# --------------------------------------------------------------------------------------------------
# Formats


@pytest.fixture(scope="module")
def wide_table(tmp_path_factory):
    """Nine systems on six datasets, one of them with three metrics, with intervals, marks and
    two blocks.
    """
    folder = tmp_path_factory.mktemp("wide")
    datasets = [questions(name) for name in ("MC160", "MC500", "RACE", "DREAM", "MCScript")]
    datasets.append(questions("MultiRC", multiple=True))
    runs = [measured(dataset, [*SYSTEMS, "surface-lr"], "sw+d", cv=2) for dataset in datasets]
    (folder / "run.json").write_text(json.dumps(run_record(runs)), encoding="utf-8")
    return paper(folder)


def test_markdown_has_bold_numbers_only(wide_table):
    text = table_markdown(wide_table)
    _, _, header, rule, first, *_ = text.splitlines()
    n_bars = {line.count("|") for line in (header, rule, first)}
    assert n_bars == {2 + len(wide_table.columns)}
    assert first.startswith("| *Learns nothing from gold answers* |")
    bold = re.findall(r"\*\*(.*?)\*\*", text)[1:]  # the first is the title
    assert len(bold) == sum(c.is_best for c in wide_table.cells)
    assert all(re.fullmatch(r"\d+\.\d", number) for number in bold)
    assert r"\*" in text


def test_csv_has_a_record_for_each_cell_in_full_precision(wide_table):
    records = list(csv.DictReader(io.StringIO(table_csv(wide_table))))
    assert len(records) == len(wide_table.rows) * len(wide_table.columns)
    longest = cell(wide_table, "longest", "RACE:accuracy")
    (record,) = (r for r in records if (r["system"], r["dataset"]) == ("longest", "RACE"))
    numbers = [float(record[key]) for key in ("value", "low", "high", "p")]
    assert numbers == [longest.value, *longest.interval, longest.test.p_value]
    assert record["significant"] == str(longest.test.is_significant)
    assert record["baseline"] == "sw+d"


def test_html_is_one_table_that_escapes(save, outline):
    run = measured(questions("<b>&"), {"<i>": "longest", "x": "shortest"})
    html = render(as_table(paper(save("a", run))), "html")
    page_outline = outline(html)
    assert [
        name for name, _ in page_outline.elements if name in ("table", "style", "script", "i", "b")
    ] == ["table"]
    assert "<i>" in page_outline.text


def test_captions_have_neither_hashes_nor_files(wide_table):
    text = caption(wide_table, None, "lines", stacked=True)
    assert text.startswith(
        "Results (%) on the development sets of MC160, MC500, RACE, DREAM, MCScript and MultiRC."
    )
    assert not re.search(r"[0-9a-f]{8}|\.json|\|", text)
    assert "Holm-adjusted over all measured systems of a column" in text
    assert "Other metrics are not tested" in text
    assert caption(wide_table, "Our floor", "none").startswith("Our floor. Bold: ")
    one_column = wide_table.select(columns="RACE")
    assert caption(one_column, None, "none").startswith(
        "Accuracy (%) on the development set of RACE."
    )


def test_plus_minus_is_the_longer_side(wide_table):
    assert 0 < uneven_intervals(wide_table) < len(list(wide_table.cells))
    assert " ± " in table_text(wide_table, intervals="pm")
    assert r"$\pm$" in table_latex(wide_table, intervals="pm")


def test_latex_takes_any_name(save):
    run = evaluate(
        questions(r"50 % \x{} _~"), {r"a_b & $c$ #^\input{x}": "longest", "é": "shortest"}
    )
    text = table_latex(paper(save("a", run)), title=r"100 % \foo_bar")
    assert r"a\_b \& \$c\$ \#\textasciicircum{}\textbackslash{}input\{x\}" in text
    assert r"\caption{100 \% \textbackslash{}foo\_bar." in text
    assert r"\label{tab:results}" in text
    with raises(UsageError, field="--label", found="a b"):
        table_latex(paper(save("a", run)), label="a b")


def tabulars(latex):
    """The numbers of columns and of rows with a number, for each tabular."""
    pattern = r"^(System &[^\n]*)\n\\midrule\n(.*?)\\bottomrule"
    sizes = []
    for header, body in re.findall(pattern, latex, re.DOTALL | re.MULTILINE):
        rows = re.findall(r"^[^&\\ \n][^&\n]*&", body, re.MULTILINE)
        sizes.append((header.count("&"), len(rows)))
    return sizes


def test_latex_is_as_wide_as_asked(wide_table):
    assert r"\begin{table*}" in table_latex(wide_table)
    small = wide_table.select(columns="MC160,MC500")
    assert r"\begin{table}" in table_latex(small)
    assert r"\begin{table*}" in table_latex(small, width="text")
    narrow = table_latex(wide_table, width="column")
    assert r"\begin{table}" in narrow
    n_rows = len(wide_table.rows)
    assert tabulars(narrow) == [(3, n_rows), (2, n_rows), (3, n_rows)]


def test_a_table_with_many_columns_has_panels_that_keep_datasets_together(wide_table):
    n = len(wide_table.columns)
    columns = tuple(replace(c, dataset=f"{c.dataset} 2") for c in wide_table.columns)
    datasets = tuple(replace(d, label=f"{d.label} 2") for d in wide_table.datasets)
    wider = replace(
        wide_table,
        columns=wide_table.columns + columns,
        datasets=(*wide_table.datasets, *datasets),
        rows=tuple(replace(row, cells=row.cells * 2) for row in wide_table.rows),
    )
    assert tabulars(table_latex(wider)) == [(n, len(wide_table.rows))] * 2
    assert [columns for columns, _ in tabulars(table_latex(wider, intervals="pm"))] == [5, 5, 3, 3]


def test_a_long_table_has_several_floats_with_one_number(wide_table):
    rows = repeat_rows(wide_table, 9)
    text = table_latex(replace(wide_table, rows=rows), intervals="none")
    assert sum(n for _, n in tabulars(text)) == len(rows)
    assert max(n for _, n in tabulars(text)) <= 40
    n_floats = text.count(r"\begin{table*}")
    assert n_floats == 3
    assert text.count(r"\addtocounter{table}{-1}") == text.count("(continued)}") == n_floats - 1
    assert text.count(r"\label{tab:results}") == 1


def test_groups_are_rows_with_the_cells_and_marks_of_the_columns(save, outline):
    run = measured(questions("barn"), ["random", "longest", "sw+d"], "sw+d", by="level")
    lamp = measured(questions("lamp"), ["longest", "surface-lr"], "longest", by="level", cv=2)
    table = paper(save("a", run), save("b", lamp), by="level", baseline="longest")
    turned = replace(table, layout="groups")
    systems, groups = as_table(table), as_table(turned)
    names = [row.name for row in table.rows]
    assert [column.name for column in groups.columns] == ["level", "n", *names]
    sizes = [
        (row_group.heading, [row[:2] for row in row_group.rows]) for row_group in groups.row_groups
    ]
    levels = [["all", 36], ["high", 12], ["middle", 24]]
    assert sizes == [("barn", levels), ("lamp", levels)]
    by_system = [cells for _, cells in systems.lines()]
    by_group = [cells for _, cells in groups.lines()]
    for j, cells in enumerate(by_group):
        assert cells[2:] == [row[j + 1] for row in by_system]
    assert "Trained on gold answers: surface-lr" in groups.notes
    text = caption(turned, None, "lines")
    assert text.startswith("Accuracy (%) by level on the development sets of barn and lamp.")
    assert "the best result of a row" in text
    assert "all measured systems of a row" in text
    assert "column" not in text
    best = max(by_group[1][3:5], key=lambda group_cell: group_cell.value)
    assert f"**{100 * best.value:.1f}**" in table_markdown(turned).splitlines()[6]
    assert re.search(r"^high +12 ", table_text(turned, intervals="none"), re.MULTILINE)
    latex = table_latex(turned, intervals="none")
    assert r"level & \multicolumn{1}{c}{n} &" in latex
    assert r"{\textit{lamp}}" in latex
    assert "high" in outline(render(groups, "html")).text
    rows = list(csv.DictReader(io.StringIO(table_csv(turned))))
    first_rows = rows[:: len(table.rows)]
    assert [row["group"] for row in first_rows] == ["", "high", "middle"] * 2
    by_system = csv.DictReader(io.StringIO(table_csv(table)))
    assert sorted(map(str, rows)) == sorted(map(str, by_system))


def test_published_systems_as_columns_have_their_source(save):
    number = {"metric": "accuracy", "printed": "60.2", "source": "s"}
    figures = [
        {"system": "longest", "cites": None, **number},
        {"system": "Smith", "cites": "smith2015", **number},
    ]
    file = save("a", evaluate(questions("barn"), ["longest"]), published=figures)
    turned = replace(paper(file, published=True), layout="groups")
    header = next(line for line in table_latex(turned).splitlines() if line.startswith("questions"))
    assert "{longest}" in header
    assert "{longest (published)}" in header
    assert r"{Smith \citep{smith2015}}" in header


@pytest.fixture
def typed(save):
    """Three datasets, each with ten types of questions, and seven systems."""
    runs = (
        measured(questions(name, 100), SYSTEMS[:7], "sw+d", by="kind")
        for name in ("barn", "lamp", "fence")
    )
    table = paper(*(save(run.dataset.name, run) for run in runs), by="kind")
    return replace(table, layout="groups")


def test_blocks_of_many_groups_fit_a_line_of_text(typed):
    lines = table_text(typed, intervals="none").splitlines()
    assert sum(line.startswith("author's attitude ") for line in lines) == 3
    header = next(line for line in lines if line.startswith("kind"))
    assert len(header) <= 95


ACL = r"""\documentclass[11pt,twocolumn]{article}
\usepackage[textwidth=455.24pt,textheight=700pt,columnsep=17.08pt]{geometry}
"""
NEURIPS = r"""\documentclass[10pt]{article}
\usepackage[textwidth=397.48pt,textheight=650pt]{geometry}
\makeatletter
\renewcommand{\footnotesize}{\@setfontsize\footnotesize\@ixpt\@xpt}
\makeatother
"""


def compiled(head, body, folder):
    """Compile a document in Times, and give its log."""
    if shutil.which("pdflatex") is None:
        pytest.skip(
            "pdflatex is not installed (apt-get install texlive-latex-extra "
            "texlive-fonts-recommended)"
        )
    source = (
        head
        + r"\usepackage{mathptmx,booktabs,adjustbox,tabularx,xcolor,natbib}"
        + "\n\\begin{document}\n"
        + body
    )
    (folder / "paper.tex").write_text(source + "\n\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "paper.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    return log


@pytest.mark.ci
@pytest.mark.parametrize("head", [ACL, NEURIPS], ids=["acl", "neurips"])
@pytest.mark.parametrize("style", ["lines", "pm", "none"])
def test_tables_compile_and_fit(wide_table, typed, head, style, tmp_path):
    assert len(wide_table.rows) >= 8
    long = replace(wide_table, rows=repeat_rows(wide_table, 6))
    warnings = [
        table_latex(wide_table, intervals=style),
        table_latex(wide_table.select(columns="RACE,DREAM"), intervals=style, label="tab:narrow"),
        table_latex(wide_table, intervals=style, label="tab:panels", width="column"),
        table_latex(long, intervals=style, label="tab:long"),
        table_latex(typed, intervals=style, label="tab:types"),
    ]
    log = compiled(head, "".join(warnings) + "Text.", tmp_path)
    assert "Overfull" not in log
    assert "Float too large" not in log
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000


# --------------------------------------------------------------------------------------------------
# Methods and figure


def test_the_paragraph_says_what_was_done_and_cites_it(wide_table):
    paragraph, bibtex = methods_text(wide_table)
    for fact in (
        "MC160 (split dev) has 36 questions about 36 passages.",
        r"sw+d, word-distance and accuracy~\citep{richardson2013}",
        "each gets an equal part of the credit",
        "95\\% percentile intervals from 200 bootstrap resamples",
        "differs significantly from sw+d in accuracy on MC160, ",
        "at $p < 0.05$",
        "F1a on MultiRC",
        "300 random permutations",
        "Other metrics are not tested",
        "Python 3.",
        r"\caption{Settings of the systems}",
    ):
        assert fact in paragraph, fact
    cited = {
        key for keys in re.findall(r"\\citep\{([^}]*)\}", paragraph) for key in keys.split(",")
    }
    assert "classic_rc" in cited
    assert "lai2017" not in cited  # these data only have the name RACE
    assert cited == set(re.findall(r"^@\w+\{([^,]+),", bibtex, re.MULTILINE))
    assert cited <= set(references())
    plain, repeated = methods_text(wide_table, "table")
    assert repeated == bibtex
    assert "(Richardson et al., 2013)" in plain
    assert "\\" not in plain


def test_notes_on_systems_are_those_of_all_records(save):
    data = questions("barn")
    first = evaluate(data, {"SW": "sw+d"})
    second = evaluate(data, {"LLM": replace(parse_system("longest"), note="of 2026, greedy")})
    text, _ = methods_text(paper(save("a", first), save("b", second), rename=["LLM=GPT"]), "table")
    assert "GPT: of 2026, greedy. " in text
    assert "of 2026" not in methods_text(paper(save("a", first)), "table")[0]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"cv": 3}, "by 3-fold cross-validation, and on elsewhere"),
        ({"train": [questions("lamp")]}, "on lamp + elsewhere"),
    ],
)
def test_methods_name_what_a_prior_learned(settings, expected, save, tmp_path):
    prior = tmp_path / "prior.npz"
    save_solver(parse_solver("feature-ranker,trees=0").fit(questions("elsewhere")), prior)
    run = evaluate(questions("barn"), [f"feature-ranker,trees=0,prior={prior}"], **settings)
    assert expected in methods_text(paper(save("a", run)), "table")[0]


def test_what_was_tuned_on_the_reported_data_is_marked(save):
    data = questions("lamp", multiple=True)
    train = questions("fence", multiple=True, seed=1)
    run = evaluate(data, ["longest", "surface-lr"], train=train, tune=data)
    settings = settings_table(paper(save("a", run)))
    assert settings["Trained"]["surface-lr"].value == "on fence"
    assert (
        settings["Tuned"]["longest"].value
        == "threshold for F1a on lamp dev, the data that it reports†"
    )
    assert settings["Trained"]["longest"].value is None


def test_a_fixed_threshold_is_a_setting(save):
    run = evaluate(questions("lamp", multiple=True), ["random", "longest", "sw+d"], threshold=0.5)
    settings = settings_table(paper(save("a", run)))
    assert settings["Settings"]["longest"].value == "score > 0.5"
    assert settings["Tuned"]["longest"].value is None
    assert settings["Settings"]["random"].value is None


def test_control_characters_in_names_are_visible_escapes(save):
    run = evaluate(questions("lamp", multiple=True), ["longest", "sw+d"])
    table = paper(save("a", run), rename=["longest=be\x07ll\n"])
    for text in (
        table_latex(table, "ti\x1btle"),
        table_markdown(table, "ti\x1btle"),
        table_text(table, "ti\x1btle"),
        methods_text(table)[0],
    ):
        assert "x07ll" in text
        assert text.replace("\n", " ").isprintable()


def test_bounds_have_no_more_digits_than_numbers(wide_table):
    table = replace(wide_table, decimals=0)
    for style in ("lines", "pm"):
        for text in (
            table_text(table, "T", style),
            table_latex(table, "T", style).partition("caption")[0],
        ):
            assert set(re.findall(r"\d*\.\d+", text)) <= {"0.05"}  # of the note on tests


def test_plain_text_has_no_note_on_bold_numbers(wide_table):
    assert any(cell.is_best for cell in wide_table.cells)
    assert "Bold" in table_markdown(wide_table)
    assert "Bold" not in table_text(wide_table)


@pytest.mark.ci
def test_the_paragraph_compiles(wide_table, tmp_path):
    compiled(ACL, methods_text(wide_table)[0], tmp_path)


def test_a_forest_plot_has_a_panel_for_each_dataset_and_no_colours(wide_table):
    pytest.importorskip("matplotlib")
    figure = forest_figure(wide_table)
    assert figure.get_figwidth() == pytest.approx(3.03)
    labels = ("MC160", "MC500", "RACE", "DREAM", "MCScript", "MultiRC: F1a")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [f"{label} (%)" for label in labels]
    first = figure.axes[0]
    names = [label.get_text() for label in first.get_yticklabels()]
    drawn = [row.name for row in wide_table.rows if row.cells[0].value is not None]
    assert [name.removesuffix(" *") for name in names] == drawn
    marked = {r.name for r in wide_table.rows if r.cells[0].test.is_significant}
    assert {name.removesuffix(" *") for name in names if name.endswith(" *")} == marked
    points = [line for line in first.lines if line.get_marker() != "None"]
    assert {line.get_marker() for line in points} == {"o", "s"}
    values = [row.cells[0].value for row in wide_table.rows]
    percents = [100 * value for value in values if value is not None]
    assert [line.get_xdata()[0] for line in points] == pytest.approx(percents)
    colours = {str(line.get_color()) for axes in figure.axes for line in axes.lines}
    assert colours <= {"black", "0.6"}


def test_a_forest_needs_numbers(wide_table):
    pytest.importorskip("matplotlib")
    with raises(UsageError, field="table"):
        forest_figure(replace(wide_table, rows=()))


def test_metrics_of_papers_are_known():
    from classic_rc.commands.table.paper import PAPER_METRICS

    for task, names in PAPER_METRICS.items():
        assert all(task in METRICS[name].tasks for name in names)
