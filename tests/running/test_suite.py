"""Suite files: what is read, what is refused; cells: their keys, their files, and the evaluation
that they make.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import ClassicRCError, DataError, UsageError
from classic_rc.results import Evaluation
from classic_rc.results.record import run_record
from classic_rc.running import cells as cells_module
from classic_rc.running.cells import CellFolder, DatasetRun, read_data
from classic_rc.running.suite import SuiteDataset, read_suite, suite_text
from classic_rc.systems import System, name_systems, parse_system
from tests.errors import raises

SUITE = """
baseline = "SW"
intervals = 200
seed = 3

[datasets.choices]
path = "sample:single-choice"
cv = 3
by = "question-type"

[datasets.several]
path = "sample:multiple-answer"
metrics = ["f1_m", "f1_a"]

[datasets.spans]
path = "sample:multi-span,spans=4"

[systems]
Random = "random"
SW = "sw"
"SW+D" = {default = "sw+d", spans = "sw+d,window=3"}
Length = {choices = "length"}
LR = {choices = "surface-lr", several = "surface-lr"}
"""


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write(text, name="suite.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def folder(tmp_path):
    return CellFolder(tmp_path / "cells")


def run_dataset(suite, entry, folder, jobs=1):
    """Return the run of one dataset after all cells are finished, and these cells."""
    run = DatasetRun(suite, read_data(entry), folder)
    return run, list(run.iter_cells(jobs))


def plain(evaluation):
    """Return the numbers of an evaluation as a record has them, without times."""
    (run,) = json.loads(json.dumps(run_record([evaluation])))["runs"]
    for row in run["rows"]:
        del row["seconds"]
    del run["dataset"]["name"]
    return run


# --------------------------------------------------------------------------------------------------
# Files


def test_a_suite_has_its_datasets_and_systems_in_order(write):
    suite = read_suite(write(SUITE))
    assert [dataset.name for dataset in suite.datasets] == ["choices", "several", "spans"]
    assert list(suite.systems_of("several")) == ["Random", "SW", "SW+D", "LR"]
    assert suite.systems_of("choices")["SW+D"].solver.window == "set"
    assert suite.systems_of("spans")["SW+D"].solver.window == 3


def test_options_of_a_dataset_replace_those_of_the_suite(write):
    text = SUITE.replace("cv = 3", "cv = 3\nseed = 8\nintervals = false")
    choices, multiple_answer, _ = read_suite(write(text)).datasets
    assert (choices.values["seed"], choices.protocol().resamples) == (8, None)
    assert (multiple_answer.values["seed"], multiple_answer.protocol().resamples) == (3, 200)


def test_paths_are_relative_to_the_suite(write, tmp_path, monkeypatch):
    write("", "data/text.jsonl")
    write("", "suites/given.jsonl")
    path = write(
        'data = "../data"\n[datasets.a]\npath = "text.jsonl"\ntrain = ["text.jsonl", '
        '"sample:cloze"]\n[systems]\nOurs = "given.jsonl"\nFile = '
        '"score-file,path=given.jsonl"\nNone = "missing.jsonl"\n',
        "suites/suite.toml",
    )
    monkeypatch.chdir(tmp_path)
    suite = read_suite(path)
    (dataset,) = suite.datasets
    assert load_path(dataset.values["path"]) == tmp_path / "data/text.jsonl"
    assert dataset.texts("train")[1] == "sample:cloze"
    systems = suite.systems_of("a")
    assert load_path(systems["Ours"].path) == tmp_path / "suites/given.jsonl"
    assert load_path(systems["File"].solver.path) == tmp_path / "suites/given.jsonl"
    assert isinstance(systems["None"], DataError)
    assert load_path(systems["None"].source) == tmp_path / "suites/missing.jsonl"


def load_path(path):
    return Path(path).resolve()


MINIMAL = '[datasets.a]\npath = "sample:cloze"\n[systems]\nSW = "sw"\n'


@pytest.mark.parametrize(
    ("text", "field", "found_text", "expected"),
    [
        ("sed = 1\n" + MINIMAL, "sed", "sed", "seed"),
        (MINIMAL.replace("path", "group_by"), "datasets.a.group_by", "group_by", "datasets.a.by"),
        (MINIMAL.replace("path", "pth"), "datasets.a.pth", "pth", "datasets.a.path"),
        ("ties = 'last'\n" + MINIMAL, "ties", "last", re.compile("partial.*first.*random.*strict")),
        ("seed = 1.5\n" + MINIMAL, "seed", "the number 1.5", "a whole number of 64 bits"),
        (
            "intervals = 'many'\n" + MINIMAL,
            "intervals",
            "many",
            re.compile("true, false or a number of resamples"),
        ),
        (
            MINIMAL.replace("path", "cv = 1\npath"),
            "datasets.a.cv",
            "the number 1",
            re.compile("at least 2"),
        ),
        ("baseline = 'sw'\n" + MINIMAL, "baseline", "sw", "SW"),
        (
            MINIMAL.replace('"sw"', '"slidingwindow"'),
            "systems.SW",
            "slidingwindow",
            "sliding-window",
        ),
        (MINIMAL.replace('"sw"', "true"), "systems.SW", "true", re.compile("a solver, a file")),
        (MINIMAL.replace('"sw"', '{b = "sw"}'), "systems.SW.b", "b", "a, default"),
        ("[datasets.a]\npath = 'x'\n", "systems", "nothing", re.compile(r"a table \[systems\]")),
    ],
)
def test_a_wrong_key_is_named_with_what_belongs_there(write, text, field, found_text, expected):
    path = write(text)
    with raises(DataError, source=path, field=field, found=found_text, expected=expected):
        read_suite(path)


def test_a_file_of_a_solver_is_not_taken_from_another_folder(write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("1,2\n", "scores.txt")
    system = "score-file,path=scores.txt"
    suite = write(
        f'[datasets.a]\npath = "sample:cloze"\n[systems]\nOwn = "{system}"\n', "sub/suite.toml"
    )
    assert (
        Path(read_suite(suite).systems["Own"]["a"].solver.path) == tmp_path / "sub" / "scores.txt"
    )


def test_the_name_of_a_row_out_of_fold_is_no_name_of_another_system(write):
    text = (
        '[datasets.a]\npath = "sample:cloze"\n[systems]\nA = "sw"\n"A (out of fold)" = "longest"\n'
    )
    with raises(DataError, field="systems.A (out of fold)"):
        read_suite(write(text))
    with raises(UsageError, field="name", found="A (out of fold)"):
        name_systems([parse_system("A=sw"), parse_system("A (out of fold)=longest")])
    systems = name_systems(
        [parse_system("sliding-window (out of fold)=longest"), parse_system("sw")]
    )
    assert [system.name for system in systems] == [
        "sliding-window (out of fold)",
        "sliding-window (2)",
    ]


def test_a_dataset_without_a_system_is_refused(write):
    path = write(
        MINIMAL.replace("[systems]", '[datasets.b]\npath = "x"\n[systems]').replace(
            '"sw"', '{a = "sw"}'
        )
    )
    with raises(DataError, field="datasets.b"):
        read_suite(path)


def test_what_is_written_is_read_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sw").write_text("", encoding="utf-8")
    systems = name_systems(
        [
            parse_system('A\u00e9 "x"=sw+d,window=3'),
            System(path="sw", name="sw"),
            parse_system("ir"),
        ]
    )
    name = 'a "quoted" \x7f name'
    values = {
        "path": "sample:cloze",
        "train": ["x/y.jsonl"],
        "cv": None,
        "drop_overlap": False,
        "seed": 4,
        "ties": "first",
    }
    others = {
        "path": "z",
        "fields": {"passage": "p.q"},
        "metrics": ["em"],
        "threshold": 1e-7,
        "seed": 4,
    }
    datasets = [(SuiteDataset(name, values), systems), (SuiteDataset("b", others), systems[:1])]
    (tmp_path / "suites").mkdir()
    text = suite_text("suites/suite.toml", datasets)
    assert tomllib.loads(text)["seed"] == 4
    (tmp_path / "suites/suite.toml").write_text(text, encoding="utf-8")
    suite = read_suite("suites/suite.toml")
    first, second = suite.datasets
    assert first.name == name
    assert first.values["path"] == "sample:cloze"
    assert load_path(first.texts("train")[0]) == tmp_path / "x/y.jsonl"
    assert {key: first.values.get(key) for key in ("cv", "seed", "ties")} == {
        "cv": None,
        "seed": 4,
        "ties": "first",
    }
    expected = {"fields": {"passage": "p.q"}, "metrics": ["em"], "threshold": 1e-7}
    assert {name: second.values[name] for name in expected} == expected
    assert list(suite.systems_of(name)) == [system.name for system in systems]
    assert list(suite.systems_of("b")) == [systems[0].name]
    assert load_path(suite.systems_of(name)["sw"].path) == tmp_path / "sw"
    assert suite.systems_of(name)['A\u00e9 "x"'].solver.window == 3


# --------------------------------------------------------------------------------------------------
# Cells


@pytest.fixture
def suite(write):
    return read_suite(write(SUITE))


@pytest.mark.parametrize("i", range(3))
def test_cells_make_the_evaluation_that_all_systems_at_once_give(suite, folder, i):
    entry = suite.datasets[i]
    run, _ = run_dataset(suite, entry, folder)
    together = evaluate(load(entry.values["path"]), run.systems, run.data.protocol)
    from_cells = run.evaluation()
    assert plain(from_cells) == plain(together)
    assert from_cells.significance == together.significance
    assert set(from_cells.warnings) == set(together.warnings)
    assert from_cells.notes == together.notes


def test_a_row_from_a_file_is_the_row_that_was_computed(suite, folder):
    for entry in suite.datasets:
        _, computed = run_dataset(suite, entry, folder)
        _, reread = run_dataset(suite, entry, folder)
        assert not any(cell.is_kept for cell in computed)
        pairs = zip(computed, reread, strict=True)
        answered = [pair for pair in pairs if isinstance(pair[0].result, Evaluation)]
        assert len(answered) >= 3
        for computed_cell, read_back in answered:
            assert read_back.is_kept
            for row, row_read_back in zip(
                computed_cell.result.rows, read_back.result.rows, strict=True
            ):
                assert row.outcomes.answers == row_read_back.outcomes.answers
                for name in ("n_tied", "n_selected", "n_candidates", "evidence"):
                    assert np.array_equal(
                        getattr(row.outcomes, name), getattr(row_read_back.outcomes, name)
                    )
                    assert type(getattr(row.outcomes, name)) is type(
                        getattr(row_read_back.outcomes, name)
                    )
                assert row.outcomes.statistics.keys() == row_read_back.outcomes.statistics.keys()
                for name, statistics in row.outcomes.statistics.items():
                    assert statistics.tobytes() == row_read_back.outcomes.statistics[name].tobytes()
                assert json.dumps(replace_outcomes(row)) == json.dumps(
                    replace_outcomes(row_read_back)
                )
            assert computed_cell.result.warnings == read_back.result.warnings
            assert computed_cell.result.notes == read_back.result.notes
            assert computed_cell.result.unused == read_back.result.unused


def replace_outcomes(row):
    return {name: value for name, value in vars(row).items() if name != "outcomes"}


@pytest.mark.ci
def test_results_do_not_depend_on_the_number_of_processes(suite, tmp_path):
    for entry in suite.datasets[:2]:
        alone, _ = run_dataset(suite, entry, CellFolder(tmp_path / "one"))
        spread, cells = run_dataset(suite, entry, CellFolder(tmp_path / "two"), jobs=2)
        assert plain(alone.evaluation()) == plain(spread.evaluation())
        assert not any(cell.is_kept for cell in cells)
    assert set(os.listdir(tmp_path / "one")) == set(os.listdir(tmp_path / "two"))


@pytest.mark.ci
def test_dask_runs_the_cells(suite, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    from joblib import parallel_config

    entry = suite.datasets[1]
    alone, _ = run_dataset(suite, entry, CellFolder(tmp_path / "one"))
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        spread, _ = run_dataset(suite, entry, CellFolder(tmp_path / "two"), jobs=-1)
    assert plain(alone.evaluation()) == plain(spread.evaluation())


ROWS: list[dict[str, Any]] = [
    {
        "id": "1",
        "passage": "Ann met Bob.",
        "question": "Who met Bob?",
        "candidates": ["Ann", "Eve"],
        "gold": 0,
    },
    {
        "id": "2",
        "passage": "Eve left.",
        "question": "Who left?",
        "candidates": ["Ann", "Eve"],
        "gold": 1,
    },
]
OURS = """{"question_id": "1", "candidate": 0, "score": 1.0}
{"question_id": "1", "candidate": 1, "score": 0.0}
{"question_id": "2", "candidate": 0, "score": 0.0}
{"question_id": "2", "candidate": 1, "score": 1.0}
"""
FILES = (
    '[datasets.a]\npath = "data.jsonl"\n[systems]\nSW = "sw"\nList = "sw,window=2"\nOurs = '
    '"ours.jsonl"\nLR = "surface-lr"\n'
)


@pytest.fixture
def files(write, folder):
    """Writes data and predictions, and runs a suite on them; returns the systems that were
    computed.
    """
    from classic_rc.datasets import from_rows
    from classic_rc.datasets.own_files import to_jsonl

    def write_data(rows=ROWS):
        write(to_jsonl(from_rows(rows)), "data.jsonl")

    def computed(text=FILES):
        suite = read_suite(write(text))
        run, cells = run_dataset(suite, suite.datasets[0], folder)
        computed.notes, computed.run = run.notes, run
        systems = [cell.system for cell in cells if cell.system in run.systems]
        computed.facts = {system.name: run.facts_of(system) for system in systems}
        return [
            cell.system.name
            for cell in cells
            if isinstance(cell.result, Evaluation) and not cell.is_kept
        ]

    write_data()
    write(OURS, "ours.jsonl")
    computed.write_data = write_data
    return computed


def test_only_changed_cells_are_computed(files, write):
    assert files() == ["SW", "List", "Ours"]
    assert files() == []
    assert files(FILES.replace("window=2", "window=3")) == ["List"]
    assert files(FILES.replace("[systems]", "seed = 4\n[systems]")) == ["SW", "List", "Ours"]
    assert (
        files(FILES.replace("[systems]", 'metrics = "accuracy"\nintervals = 50\n[systems]')) == []
    )
    write(OURS.replace("1.0", "0.5"), "ours.jsonl")
    assert files() == ["Ours"]
    files.write_data([{**ROWS[0], "gold": 1}, ROWS[1]])
    assert files() == ["SW", "List", "Ours"]


def test_another_version_is_another_cell(files, monkeypatch):
    assert files()
    monkeypatch.setattr(cells_module, "__version__", "99")
    assert files() == ["SW", "List", "Ours"]


def test_a_system_and_a_dataset_may_have_other_names(files):
    files()
    renamed = (
        FILES.replace("Ours", "Theirs").replace("SW", "Window").replace("datasets.a", "datasets.b")
    )
    assert files(renamed) == []
    evaluation = files.run.evaluation()
    assert evaluation.dataset.name == "b"
    assert [row.name for row in evaluation.rows] == ["Window", "List", "Theirs"]
    assert not any("Window" in row.signature or "SW" in row.signature for row in evaluation.rows)


@pytest.mark.parametrize("damage", ["cut", "digit", "other"])
def test_a_damaged_cell_is_computed_again_with_a_note(files, folder, damage):
    files()
    path, other_path = (folder.path_of(files.facts[name]) for name in ("SW", "List"))
    text = path.read_text(encoding="utf-8")
    damaged = {"cut": text[: len(text) // 2], "digit": text.replace('"tied":1', '"tied":2', 1)}
    damaged["other"] = other_path.read_text(encoding="utf-8")
    path.write_text(damaged.get(damage, damage), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    assert len(files()) == 1
    (note,) = files.notes
    assert str(path) in note
    assert files() == []


def test_systems_that_cannot_answer_are_reasons_and_the_others_rows(files, write):
    write(OURS.replace('"1"', '"other"'), "ours.jsonl")
    files(FILES + 'Spans = "span-sw"\nGone = "gone.jsonl"\n')
    evaluation = files.run.evaluation()
    assert [row.name for row in evaluation.rows] == ["SW", "List"]
    assert set(evaluation.errors) == {"Ours", "LR", "Spans", "Gone"}
    assert all(isinstance(error, ClassicRCError) for error in evaluation.errors.values())
    assert "Gone" not in [system.name for system in evaluation.systems]


def test_a_renamed_row_that_is_tuned_here_keeps_its_second_row(write, folder):
    text = (
        '[datasets.a]\npath = "sample:multiple-answer"\ntune = '
        '"sample:multiple-answer"\n[systems]\nSW = "sw"\n'
    )
    for name in ("SW", "Window"):
        suite = read_suite(write(text.replace("SW", name)))
        run, _ = run_dataset(suite, suite.datasets[0], folder)
        assert [row.name for row in run.evaluation().rows] == [
            "all-positive",
            name,
            f"{name} (out of fold)",
        ]


def test_hidden_gold_and_unknown_keys_are_errors_of_the_dataset(write, files):
    files.write_data([{**row, "gold": None, "task": "single-choice"} for row in ROWS])
    with raises(DataError):
        files()
    files.write_data()
    with raises(UsageError, field="metric"):
        files(FILES.replace("[systems]", 'metrics = "em0"\n[systems]'))
    with raises(UsageError):
        files(FILES.replace("[systems]", 'by = "nothing"\n[systems]'))
