"""The floor: the file fits its schema, rows come out of the data again, and nothing unsure is
shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import MISSING, fields, replace
from importlib.resources import files
from types import NoneType
from typing import Any

import pytest

import classic_rc
from benchmarks import floor as builder
from classic_rc.commands.floor.logs import find_harness_floor, results_table
from classic_rc.commands.floor.page import floor_page
from classic_rc.commands.floor.tables import floors_table, sort_floors
from classic_rc.commands.floor.verify import row_differences, verify_rows
from classic_rc.errors import UsageError
from classic_rc.metrics.base import METRICS
from classic_rc.results.evaluator_tasks import evaluator_tasks
from classic_rc.results.floor_entries import entry_of
from classic_rc.results.floors import (
    METRIC_NAMES,
    PRIOR,
    SCHEMA,
    Floor,
    FloorDataset,
    FloorGroup,
    FloorRow,
    above,
    floor,
    load_floors,
    parse_floors,
)
from classic_rc.results.signature import Signature
from classic_rc.solvers.specs import parse_solver
from classic_rc.tables import render

FLOORS = list(load_floors().values())
TEXT = files("classic_rc.results").joinpath("floor.json").read_text(encoding="utf-8")

KINDS: Mapping[str, type | tuple[type, ...]] = {
    "str": str,
    "str | None": (str, NoneType),
    "int": int,
    "int | None": (int, NoneType),
    "float | None": (float, NoneType),
    "bool": bool,
    "Sequence[str]": list,
    "Sequence[str] | None": (list, NoneType),
    "Mapping[str, str] | None": (dict, NoneType),
    "Sequence[float] | None": (list, NoneType),
    "Sequence[FloorRow]": list,
    "Mapping[str, float]": dict,
    "Mapping[str, Sequence[float]]": dict,
    "Mapping[str, FloorGroup]": dict,
}


def check_fields(entry: Mapping[str, object], kind: type) -> None:
    required = [field for field in fields(kind) if field.default is MISSING]
    declared = {field.name: KINDS[str(field.type)] for field in required}
    assert entry.keys() == declared.keys()
    for name, value in entry.items():
        assert isinstance(value, declared[name]), name


def check_numbers(metrics: Mapping[str, float], intervals: Mapping[str, Sequence[float]]) -> None:
    assert all(0 <= value <= 1 for value in metrics.values())
    for name, (low, high) in intervals.items():
        assert 0 <= low <= high <= 1
        assert low <= metrics[name] + 0.02, "a percentile interval is about its value"
        assert high >= metrics[name] - 0.02


def test_the_file_fits_its_schema_and_is_small():
    assert len(TEXT.encode()) < 500_000
    plain = json.loads(TEXT)
    assert plain["schema"] == SCHEMA
    assert len(plain["datasets"]) >= 15
    for entry in plain["datasets"]:
        check_fields(entry, FloorDataset)
        for row in entry["rows"]:
            check_fields(row, FloorRow)
            check_numbers(row["metrics"], row["intervals"])
            for group in row["groups"].values():
                check_numbers(group["metrics"], group["intervals"])


@pytest.mark.parametrize("dataset_floor", FLOORS, ids=lambda dataset_floor: dataset_floor.name)
def test_rows_agree_with_their_signatures_and_with_each_other(dataset_floor):
    assert len({row.system for row in dataset_floor.rows}) == len(dataset_floor.rows)
    assert dataset_floor.chance.expected
    assert dataset_floor.value(dataset_floor.floor) >= dataset_floor.value(dataset_floor.chance)
    assert METRIC_NAMES[dataset_floor.metric] == METRICS[dataset_floor.metric].label
    for row in dataset_floor.rows:
        signature = Signature.parse(row.signature).parts
        assert (signature["data"], int(signature["questions"])) == (
            dataset_floor.fingerprint,
            dataset_floor.questions,
        )
        assert signature["version"] == row.version
        assert signature.get("ties") == row.ties
        assert row.learns == (row.trained_on is not None)
        if row.system != PRIOR:
            assert parse_solver(row.system).name == signature["solver"]
        if dataset_floor.by is not None:
            shares = [
                group.questions * group.metrics[dataset_floor.metric]
                for group in row.groups.values()
            ]
            n_questions = sum(group.questions for group in row.groups.values())
            if dataset_floor.metric == "accuracy" and n_questions == dataset_floor.questions:
                assert sum(shares) / n_questions == pytest.approx(
                    dataset_floor.value(row), abs=1e-9
                )


def test_the_best_trained_row_is_in_the_column_of_its_protocol():
    dataset_floor = load_floors()["mctest:mc160.dev"]
    assert (
        floors_table([dataset_floor])["trained_system"][dataset_floor.name].value
        == "feature-ranker"
    )
    without_ranker = replace(
        dataset_floor,
        rows=tuple(row for row in dataset_floor.rows if row.system != "feature-ranker"),
    )
    assert (
        floors_table([without_ranker])["trained_system"][dataset_floor.name].value == "surface-lr"
    )
    folds = floors_table([load_floors()["arct:train"]])
    assert folds["folds_system"]["arct:train"].value == "feature-ranker:candidates"
    assert folds["trained_system"]["arct:train"].value is None


def test_no_text_of_a_dataset_is_in_the_file():
    def texts(plain: object) -> list[str]:
        if isinstance(plain, str):
            return [plain]
        if isinstance(plain, dict):
            plain = list(plain.values())
        elements = plain if isinstance(plain, list) else []
        return [text for element in elements for text in texts(element)]

    allowed = set()
    for dataset_floor in FLOORS:
        allowed |= {dataset_floor.verified, *dataset_floor.notes}
        allowed |= {row.signature for row in dataset_floor.rows}
    long_texts = {text for text in texts(json.loads(TEXT)) if len(text) > 64}
    assert long_texts <= allowed


def test_a_floor_is_a_frame_of_numbers():
    pytest.importorskip("pandas", reason="frames need pandas")
    frame = classic_rc.floor("race:dev").to_frame()
    assert all(frame[column].dtype == "float64" for column in ("accuracy", "above_floor"))


def test_a_floor_is_found_by_name_in_python():
    race_floor = classic_rc.floor("RACE:validation")
    assert race_floor.dataset.name == "race:dev"
    assert race_floor.table()["accuracy"]
    assert race_floor.table()["above_floor"][race_floor.dataset.floor.system].value == 0
    assert race_floor.table()["above_chance"]["random"].value == 0
    with pytest.raises(UsageError, match="no results of race:nosuch come with the package"):
        classic_rc.floor("race:nosuch")
    with pytest.raises(
        UsageError, match="unknown dataset 'nosuch': choose from agieval, ar-lsat, arc"
    ):
        classic_rc.floor("nosuch:dev")
    with pytest.raises(UsageError, match="unknown dataset 'rase': did you mean 'race'"):
        classic_rc.floor("rase:test")
    with pytest.raises(UsageError, match=r"not computed yet: .* floor boolq:dev --compute"):
        classic_rc.floor("boolq:dev")
    with pytest.raises(UsageError, match="not kept by colour"):
        replace(race_floor, by="colour").table()


def test_the_distance_from_a_base_is_0_there_and_1_at_the_top():
    assert above(0.25, 0.25) == [0]
    assert above(1.0, 0.25, 0.4) == [1, 1]
    assert above(0.2, 0.25)[0] < 0
    assert above(1.0, 1.0) == [None]


MUTUAL = {
    "passage": "article",
    "question": "const:",
    "candidates": "options",
    "gold": "answers",
    "id": "id",
}
VERIFIED = {
    "mctest:mc160.dev": ("mctest/mc160.dev.tsv", {}),
    "mutual:dev": ("mutual/dev.jsonl", {"fields": MUTUAL, "gold_as": "letter"}),
    "record:sample": ("record/record_explorer_123.json", {}),
    "logiqa:dev": ("foreign/logiqa_eval.txt", {}),
}


@pytest.mark.parametrize("name", VERIFIED)
def test_shipped_rows_come_out_of_the_data_again(shared_data, name):
    dataset_floor, (file, reading) = load_floors()[name], VERIFIED[name]
    dataset = classic_rc.load(str(shared_data / file), **reading)
    assert dataset.fingerprint == dataset_floor.fingerprint
    verification = verify_rows(dataset_floor, dataset)
    assert verification.differences == []
    assert len(verification.rows) == sum(not row.learns for row in dataset_floor.rows)


def test_verifying_finds_the_tenth_digit_a_bound_and_another_signature():
    dataset = classic_rc.load("sample:single-choice")
    systems = {name: name for name in ("random", "sw+d", "longest")}
    evaluation = classic_rc.evaluate(dataset, systems, by="type", intervals=True)
    dataset_floor = floor_of(evaluation)
    assert verify_rows(dataset_floor, dataset).differences == []
    assert (
        verify_rows(
            dataset_floor, classic_rc.Dataset(list(dataset), "another name", split="dev")
        ).differences
        == []
    )
    row = dataset_floor.rows[1]
    value = row.metrics["accuracy"]
    group = next(iter(row.groups))
    low, _ = row.groups[group].intervals["accuracy"]
    moved = replace(row.groups[group], intervals={"accuracy": [low, 0.0]})
    planted = {
        f"sw+d, accuracy: {value}": replace(row, metrics={"accuracy": value + 1e-9}),
        f"sw+d, {group}: accuracy to": replace(row, groups={**row.groups, group: moved}),
        "sw+d, signature": replace(row, signature=row.signature.replace("sw+d", "ir")),
        "sw+d, tie_rate": replace(row, tie_rate=0.5),
    }
    for expected, wrong in planted.items():
        differences = verify_rows(
            replace(dataset_floor, rows=(dataset_floor.rows[0], wrong)), dataset
        ).differences
        assert differences
        assert all(text.startswith(expected) for text in differences[:1]), (expected, differences)


def floor_of(evaluation) -> FloorDataset:
    """The entry that the builder makes of a run, read again."""
    entry = entry_of(evaluation)
    return parse_floors([json.loads(json.dumps(entry))])[entry["name"]]


# --------------------------------------------------------------------------------------------------
# The builder


def test_a_row_of_unseen_data_stays_only_if_old_and_new_code_agree():
    evaluation = classic_rc.evaluate(
        classic_rc.load("sample:single-choice"), ["random", "longest", "sw+d"]
    )
    today = [{**entry_of(evaluation), "name": "mine:dev"}]
    (old,) = deepcopy(today)
    unseen = {**deepcopy(old), "name": "mine:test", "fingerprint": "f" * 64}

    def stays() -> list[tuple[list[str], list[str]]]:
        rows = []
        for dataset_floor in builder.unseen([old, unseen], today):
            systems = [row["system"] for row in dataset_floor["rows"]]
            rows.append((systems, dataset_floor["left_out"]))
        return rows

    assert stays() == [(["random", "longest", "sw+d"], [])]
    old["rows"][1]["metrics"]["accuracy"] += 1e-9  # other digits
    unseen["rows"][2]["signature"] = unseen["rows"][2]["signature"].replace(
        "|analyzer:word", "|analyzer:char"
    )
    assert stays() == [(["random"], ["longest", "sw+d"])]
    old["fingerprint"] = "0" * 64  # other data
    assert stays() == []


# --------------------------------------------------------------------------------------------------
# Logs and results files of lm-evaluation-harness


RACE_CODE = {
    "doc_to_choice": "def doc_to_choice(doc):\n    problem = last_problem(doc)\n"
    '    choices = [problem["options"][i] for i in range(4)]\n    return choices\n',
    "doc_to_target": 'def doc_to_target(doc):\n    letter_to_num = {"A": 0, "B": 1, "C": 2, "D": '
    '3}\n    answer = letter_to_num[last_problem(doc)["answer"]]\n    return answer\n',
}
"""The code of `race` in lm-evaluation-harness 0.4.13, as its results files have it."""


def race_results(**changes: object) -> dict[str, Any]:
    """A results file of the harness's `race`, as it would be on the validation split, with
    changes.
    """
    dataset_floor = load_floors()["race-last:dev"]
    config: dict[str, Any] = {
        "task": "race",
        "dataset_path": "EleutherAI/race",
        "dataset_name": "high",
        "test_split": "validation",
        "output_type": "multiple_choice",
        **RACE_CODE,
    }
    n = dataset_floor.questions
    plain: dict[str, Any] = {
        "results": {"race": {"acc,none": 0.5, "acc_stderr,none": 0.01}},
        "configs": {"race": config},
        "versions": {"race": 3.0},
        "n-samples": {"race": {"original": n, "effective": n}},
    }
    for place, value in changes.items():
        section, _, key = place.partition("__")
        if section == "configs":
            config[key] = value
        elif section == "n":
            plain["n-samples"]["race"][key] = value
        else:
            plain[section] = {"race": value}
    return plain


def test_a_results_file_gets_a_shipped_floor_only_if_everything_is_recorded_as_equal():
    assert find_harness_floor(race_results(), "race", "acc,none").name == "race-last:dev"
    others = [
        {"configs__task": "race_2"},
        {"configs__dataset_path": "json"},
        {"configs__dataset_name": "middle"},
        {"configs__dataset_name": None},
        {"configs__test_split": "test"},  # the harness's own default
        {"configs__process_docs": "def process_docs(docs): …"},
        {"configs__dataset_kwargs": {"data_files": "x"}},
        {"configs__doc_to_choice": "def doc_to_choice(doc): return doc['options'][:2]"},
        {"configs__doc_to_target": None},
        {"versions": 1.0},
        {"versions": None},
        {"n__effective": 100},  # --limit 100
        {"n__original": 4887},
    ]
    assert [
        change
        for change in others
        if find_harness_floor(race_results(**change), "race", "acc,none")
    ] == []
    assert find_harness_floor(race_results(), "race", "acc_norm,none") is None


def test_race_in_the_harness_never_gets_the_floor_of_race():
    floors = {task.floor for task in evaluator_tasks() if task.task == "race"}
    assert floors == {None, "race-last:dev"}
    for split in ("test", "validation"):
        for n_questions in (4887, 4934, 1021, 1045, 3451, 3498):
            changes = {
                "configs__test_split": split,
                "n__original": n_questions,
                "n__effective": n_questions,
            }
            harness_floor = find_harness_floor(race_results(**changes), "race", "acc,none")
            assert harness_floor is None or harness_floor.name == "race-last:dev"


def test_a_results_file_shows_chance_where_the_options_are_a_list_and_says_what_to_do():
    config = {
        "task": "mine",
        "output_type": "multiple_choice",
        "doc_to_choice": ["A", "B", "C", "D", "E"],
    }
    results = {
        "results": {
            "mine": {"acc,none": 0.6, "alias": "mine"},
            "race": {"acc,none": 0.3, "f1,none": 0.3},
        },
        "configs": {**race_results(configs__test_split="test")["configs"], "mine": config},
    }
    table = results_table(results, "r.json")
    assert table["chance"]["mine"].value == 0.2
    assert table["above_chance"]["mine"].value == 0.5
    assert table["chance"]["race"].value == 0.25  # by the code of its options
    results["configs"]["race"]["doc_to_choice"] = "{{options}}"
    assert results_table(results, "r.json")["chance"]["race"].value is None
    assert {cell.value for cell in table["floor"].values()} == {None}
    assert "classic-rc floor samples_TASK_*.jsonl" in table.notes[0]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        "x",
        [],
        {},
        [1],
        {"race": None},
        {"race": [2]},
        {"race": {"original": [], "acc,none": float("nan")}},
    ],
)
@pytest.mark.parametrize("section", ["results", "configs", "versions", "n-samples"])
def test_a_results_file_of_another_form_has_no_floor_and_no_traceback(section, wrong):
    table = results_table({**race_results(), section: wrong}, "r.json")
    assert json.dumps(table.records(), allow_nan=False)
    assert {cell.value for cell in table["floor"].values()} <= {None}


# --------------------------------------------------------------------------------------------------
# The page


@pytest.mark.ci
def test_the_floor_of_a_known_dataset_loads_nothing_heavy():
    code = (
        "import sys; from classic_rc.cli.main import main; main(['floor', 'race:dev', '--format', "
        "'latex']); print(*sorted({'numpy', 'scipy', 'sklearn', 'nltk', 'jinja2'} & "
        "set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stderr.split() == []
    assert "tabular" in done.stdout


def test_the_page_has_every_dataset_a_bar_and_the_numbers():
    page = floor_page(FLOORS)
    for dataset_floor in FLOORS:
        assert f'id="{dataset_floor.name}"' in page
        assert f"floor {100 * dataset_floor.value(dataset_floor.floor):.1f}" in page
    data = page.partition('id="data">')[2].partition("</script>")[0]
    names = [dataset_floor.name for dataset_floor in sort_floors(FLOORS)]
    assert [record["dataset"] for record in json.loads(data)["floors"]] == names
    assert floors_table(FLOORS)["floor"].keys() == {dataset_floor.name for dataset_floor in FLOORS}


def test_a_row_that_learned_from_questions_is_ranked_without_them_and_has_both_values():
    dataset_floor = floor("race:test").dataset
    uncopied = FloorGroup(100, {dataset_floor.metric: 0.25}, {dataset_floor.metric: (0.2, 0.3)})
    low = FloorGroup(100, {dataset_floor.metric: 0.2}, {dataset_floor.metric: (0.1, 0.3)})
    rows = [
        replace(row, groups={**row.groups, "without copies": uncopied})
        for row in dataset_floor.rows
    ]
    best = replace(
        max(rows, key=dataset_floor.value),
        system="cheat",
        learns=True,
        trained_on="train",
        metrics=dict.fromkeys(dataset_floor.chance.metrics, 0.99),
        signature="cheat|trained_on:train@1234|copied:4834|data:1",
        groups={"without copies": low},
    )
    with_best = replace(dataset_floor, rows=(*rows, best))
    assert with_best.trained(out_of_fold=False).system != "cheat"
    table = Floor(with_best).table()
    assert "without copies (100)" in [column.name for column in table.columns]
    assert "learned from train, some of these questions" in render(table, "csv")


def test_questions_without_copies_are_compared_if_a_row_that_learned_ran():
    floor = load_floors()["dream:dev"]
    (row,) = (row for row in floor.rows if row.system == "lexical")
    uncopied = row.groups["without copies"]
    assert uncopied.questions < floor.questions
    assert row_differences(row, replace(row, groups={})) == []
    changed = replace(
        uncopied, metrics={name: value + 0.1 for name, value in uncopied.metrics.items()}
    )
    differences = row_differences(row, replace(row, groups={"without copies": changed}))
    assert ["without copies" in text for text in differences] == [True]
    renamed = replace(row, groups={"why": uncopied})
    assert len(row_differences(renamed, replace(row, groups={}))) == 1
