"""The questions that no system learned from: a column of its own, where learners are ranked and
tested.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate, load
from classic_rc.commands.table.formats import as_table, table_csv, table_latex
from classic_rc.commands.table.methods import methods_text
from classic_rc.commands.table.paper import make_paper_table
from classic_rc.errors import DataError
from classic_rc.folds import passage_groups
from classic_rc.metrics import METRICS
from classic_rc.results import compare, with_intervals, with_significance
from classic_rc.results.evaluation import evaluation_table
from classic_rc.results.outcomes import Row
from classic_rc.results.record import record_text, run_record
from classic_rc.results.record_reading import read_results
from classic_rc.results.resampling import holm, permutation_test
from classic_rc.results.result_table import copies_notes
from classic_rc.running.rerun import rerun
from classic_rc.running.restored_record import restore_record
from classic_rc.tables import render
from tests.errors import raises

DATA = load("sample:single-choice")
TRAIN = replace(DATA[:12], name="train")
LEFT = np.arange(len(DATA)) >= 12
GROUP = "without copies"
SYSTEMS = ["random", "sw+d", "lexical", "surface-lr", "majority"]
LEARNERS = {"surface-lr", "majority"}


@pytest.fixture(scope="module")
def evaluation():
    evaluated = evaluate(DATA, SYSTEMS, train=TRAIN, intervals=200, baseline="sw+d")
    assert {row.name for row in evaluated.rows if row.copied is not None} == LEARNERS
    return evaluated


def by_name(evaluation):
    return {row.name: row for row in evaluation.rows}


def p_values(evaluation, group=None):
    return {
        measured.row.name: measured.test.p_value for measured in evaluation.measure(group=group)
    }


def bold(table, key):
    (j,) = (j for j, column in enumerate(table.columns) if column.key == key)
    cells = (cells for block in table.row_groups for cells in block.rows)
    return {row_cells[0].value for row_cells in cells if row_cells[j].bold}


def save(evaluations, folder, change=lambda row: None):
    record = json.loads(record_text(run_record(evaluations, folder)))
    for row in record["runs"][0]["rows"]:
        if row["name"] == "majority":
            change(row)
    path = folder / "run.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def test_values_are_those_of_the_questions_that_are_left(evaluation):
    plain = {row["name"]: row for row in evaluation.to_dict()["rows"]}
    for row in evaluation.rows:
        right = row.statistics["accuracy"][LEFT, 0]
        group = plain[row.name]["groups"][GROUP]
        assert group["questions"] == 12
        assert group["metrics"]["accuracy"] == pytest.approx(right.mean())
        assert plain[row.name].get("copied") == (12 if row.name in LEARNERS else None)
        low, high = group["intervals"]["accuracy"]
        assert low <= right.mean() <= high
    json.dumps(evaluation.to_dict(), allow_nan=False)


def test_learners_are_tested_there_only(evaluation):
    rows = by_name(evaluation)
    groups, base = passage_groups(DATA), rows["sw+d"].statistics["accuracy"]

    def adjusted(names, mask):
        passages = np.unique(groups[mask], return_inverse=True)[1]
        p = []
        for name in names:
            statistics = rows[name].statistics["accuracy"][mask]
            test = permutation_test(METRICS["accuracy"], statistics, base[mask], passages)
            p.append(test.p)
        return dict(zip(names, holm(p).tolist(), strict=True))

    untested = dict.fromkeys(rows)
    everywhere = adjusted(["random", "lexical"], np.ones(len(DATA), dtype=np.bool_))
    assert p_values(evaluation) == {**untested, **everywhere}
    there = adjusted([name for name in rows if name != "sw+d"], LEFT)
    assert p_values(evaluation, GROUP) == {**untested, **there}


def test_a_baseline_that_learned_from_questions_tests_nothing_on_all_of_them(evaluation):
    tested = with_significance(evaluation, "majority")
    assert set(p_values(tested).values()) == {None}
    assert [name for name, p in p_values(tested, GROUP).items() if p is None] == ["majority"]
    letters = with_significance(evaluation, ["majority", "sw+d"])
    assert not any(
        measured.test.beats for measured in letters.measure() if measured.row.name in LEARNERS
    )


def test_the_best_of_all_questions_is_one_that_did_not_learn_from_them(evaluation):
    table = evaluation_table(evaluation)
    rows = by_name(evaluation)
    assert rows["majority"].metrics()["accuracy"] > rows["sw+d"].metrics()["accuracy"]
    assert bold(table, "accuracy") == {"sw+d"}
    there = {name: row.metrics(LEFT)["accuracy"] for name, row in rows.items()}
    del there["random"]  # an expectation is not compared
    best = max(there.values())
    assert bold(table, f"accuracy[{GROUP}]") == {name for name in there if there[name] == best}
    text = render(table, "table")
    assert "copies (12)" in text
    (note,) = copies_notes(evaluation.rows)
    assert table.notes.count(note) == 1
    latex = render(table, "latex")
    assert f"Acc. {GROUP} (12)" in latex
    assert f"{GROUP}: only the questions" in latex
    assert "learned from 12 of these 24 questions" in text


def test_groups_of_the_data_leave_out_who_learned_from_some_of_them():
    train = replace(DATA[:4], name="train")  # of the first passage
    evaluated = evaluate(DATA, SYSTEMS, train=train, by="verbatim", baseline="sw+d")
    assert list(evaluated.results.shown_groups) == [GROUP, "yes", "no"]
    for group in (None, GROUP, "yes", "no"):
        assert evaluated.results.mask(group)[:4].any() == (group != GROUP)
        left_out = {"sw+d"} if group == GROUP else {"sw+d", *LEARNERS}
        assert {name for name, p in p_values(evaluated, group).items() if p is None} == left_out
    header = render(evaluation_table(evaluated), "csv").splitlines()[0]
    assert f"accuracy,accuracy[{GROUP}],accuracy[verbatim=yes]" in header
    assert f"accuracy[{GROUP}]_p" in header


def test_without_copies_nothing_changes():
    evaluated = evaluate(DATA, ["sw+d", "majority"], cv=3, intervals=50, baseline="sw+d")
    assert evaluated.results.shown_groups == {}
    text = json.dumps(evaluated.to_dict()) + str(evaluated)
    assert "copie" not in text
    assert all("groups" not in row for row in evaluated.to_dict()["rows"])


def test_if_no_question_is_left_nothing_is_ranked_or_tested():
    evaluated = evaluate(DATA, ["sw+d", "majority", "random"], train=replace(DATA, name="train"))
    evaluated = with_significance(with_intervals(evaluated, 50), "sw+d")
    assert evaluated.results.shown_groups == {}
    assert p_values(evaluated)["majority"] is None
    assert p_values(evaluated)["random"] is not None
    table = evaluation_table(evaluated)
    assert bold(table, "accuracy") == set()
    assert any("no question is left" in note for note in table.notes)
    json.dumps(evaluated.to_dict(), allow_nan=False)


def test_a_record_keeps_the_questions(evaluation, tmp_path):
    path = save([evaluation], tmp_path)
    (results,) = read_results(path)
    for row, system in zip(evaluation.rows, results.systems, strict=True):
        assert (row.copied is None) == (system.copied is None)
        assert row.copied is None or np.array_equal(row.copied, system.copied)
    assert np.array_equal(results.shown_groups[GROUP], LEFT)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda row: row.pop("copied_questions"), "copied"),
        (lambda row: row.pop("copied"), "copied"),
        (lambda row: row.update(copied=11), "copied"),
        (lambda row: row["copied_questions"].pop(), "copied"),
        (lambda row: row["copied_questions"].append(24), "copied_questions"),
        (lambda row: row["copied_questions"].append(-1), "copied_questions"),
        (lambda row: row.update(copied_questions="1"), "copied_questions"),
        (lambda row: row["groups"][GROUP].update(questions=11), "questions"),
        (lambda row: row["groups"][GROUP]["metrics"].update(accuracy=1.0), "accuracy"),
    ],
)
def test_a_changed_record_is_refused(evaluation, tmp_path, change, field):
    path = save([evaluation], tmp_path, change)
    with raises(DataError, field=field):
        read_results(path)


def test_records_of_earlier_versions_have_no_copies(tmp_path):
    evaluated = evaluate(DATA, ["sw+d", "majority"], cv=3)
    (results,) = read_results(save([evaluated], tmp_path))
    assert all(row.copied is None for row in results.systems)
    assert results.shown_groups == {}


def test_a_record_is_reproduced(evaluation, tmp_path):
    lines = []
    for question in TRAIN:
        row = {
            "id": question.id,
            "passage": question.passage.text,
            "question": question.text,
            "candidates": [candidate.text for candidate in question.candidates],
            "gold": sorted(question.gold),
        }
        lines.append(json.dumps(row))
    (tmp_path / "train.jsonl").write_text("\n".join(lines), encoding="utf-8")
    train = load(tmp_path / "train.jsonl")
    evaluated = evaluate(DATA, SYSTEMS, train=train, intervals=100, baseline="sw+d")
    reproduced = rerun(restore_record(save([evaluated], tmp_path)))
    assert reproduced.same


def test_the_table_of_a_paper_has_the_column(evaluation):
    results = evaluation.results
    table = make_paper_table([("run", results)], baseline="sw+d", intervals=100)
    columns = [(column.group, column.questions) for column in table.columns]
    assert columns == [(None, 24), (GROUP, 12)]
    assert sum("only the questions that no system" in note for note in as_table(table).notes) == 1
    assert f"& all & {GROUP}" in table_latex(table)
    records = list(csv.DictReader(io.StringIO(table_csv(table))))
    sizes = {record["group"]: record["questions"] for record in records}
    assert sizes == {"": "24", GROUP: "12"}
    text, _ = methods_text(table, "table")
    assert "majority learned from 12 of the 24 questions of" in text
    assert "12 questions of sample:single-choice are without copies" in text
    assert "No system is ranked or tested on questions that it learned from." in text
    assert "Holm's correction for at most 4 comparisons" in text
    renamed = make_paper_table([("run", results)], rename=[f"{GROUP}=new"])
    assert renamed.columns[1].group_label == "new"


def test_records_of_several_runs_leave_out_what_any_system_learned_from(tmp_path):
    parts = []
    for i, name in enumerate(["majority", "surface-lr"]):
        (tmp_path / name).mkdir()
        train = replace(DATA[6 * i : 6 * i + 10], name=f"train{i}")
        evaluated = evaluate(DATA, [name, "sw+d"], train=train)
        parts += [(name, results) for results in read_results(save([evaluated], tmp_path / name))]
    counts = [len(DATA) - results.shown_groups[GROUP].sum() for _, results in parts]
    _, clean_column = make_paper_table(parts).columns
    assert clean_column.questions == min(len(DATA) - n for n in counts) - 4


def test_a_comparison_tests_no_pair_of_a_system_that_learned_from_questions(evaluation):
    results = evaluation.results
    for pair in compare(results, n=200).pairs:
        is_tested = LEARNERS.isdisjoint({pair.first, pair.second})
        assert (pair.p is not None) == is_tested == (pair.p_holm is not None)
    clean_comparison = compare(results.part(LEFT, GROUP), n=200)
    assert all(pair.p is not None for pair in clean_comparison.pairs)
    rows = by_name(evaluation)
    for pair in clean_comparison.pairs:
        first = rows[pair.first].metrics(LEFT)["accuracy"]
        second = rows[pair.second].metrics(LEFT)["accuracy"]
        assert pair.difference == pytest.approx(first - second)
    json.dumps(compare(results, n=200).to_dict(), allow_nan=False)


def test_a_part_and_runs_of_a_system_keep_their_questions(evaluation):
    row = by_name(evaluation)["majority"]
    assert row.part(~LEFT).copied.all()
    assert row.part(LEFT).copied is None
    second_run = replace(row, copied=np.arange(len(DATA)) == 20)
    joined = Row.join("both", [row, second_run, replace(row, copied=None)])
    assert np.flatnonzero(joined.copied).tolist() == [*range(12), 20]
