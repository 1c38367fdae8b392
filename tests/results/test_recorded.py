"""Run records are read back unchanged, and malformed ones are refused with the place of the
error.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.io.json import Node
from classic_rc.results.record import rows_to_plain, run_record
from classic_rc.results.record_reading import read_results, read_rows
from classic_rc.results.result_table import row_notes
from classic_rc.solvers import DEFAULT_SOLVERS, parse_solver
from classic_rc.systems import record_file
from tests.errors import raises

SAMPLES = ["sample:single-choice", "sample:multiple-answer", "sample:cloze", "sample:multi-span"]


@pytest.fixture(scope="module")
def evaluations():
    datasets = map(load, SAMPLES)
    return [evaluate(dataset, DEFAULT_SOLVERS[dataset.task][:3]) for dataset in datasets]


@pytest.fixture(scope="module")
def whole(evaluations):
    return json.dumps(run_record(evaluations))


@pytest.fixture
def record(tmp_path, whole):
    """Writes a record, changed by a function, and gives its path."""

    def write(change=lambda record: None, name="run.json"):
        plain = json.loads(whole)
        change(plain)
        path = tmp_path / name
        path.write_text(json.dumps(plain), encoding="utf-8")
        return path

    return write


def test_outcomes_are_those_that_were_kept(record, evaluations):
    for read, evaluation in zip(read_results(record()), evaluations, strict=True):
        in_memory = evaluation.results
        for fact in ("dataset", "fingerprint", "task", "ids"):
            assert getattr(read, fact) == getattr(in_memory, fact)
        assert np.array_equal(read.groups, in_memory.groups)
        for system_read, system in zip(read.systems, in_memory.systems, strict=True):
            for fact in ("name", "solver", "signature", "expected"):
                assert getattr(system_read, fact) == getattr(system, fact)
            assert system_read.statistics.keys() == system.statistics.keys()
            for name, rows in system.statistics.items():
                assert np.array_equal(system_read.statistics[name], rows)


def test_a_record_is_found_by_its_folder_its_name_or_its_first_key(record, tmp_path):
    path = record()
    assert record_file(str(path)) == record_file(str(tmp_path)) == path
    renamed = record(name="yesterday.json")
    assert record_file(str(renamed)) == renamed
    (tmp_path / "predictions.json").write_text('{"q1": "version"}', encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for no_record in ("predictions.json", "empty", "not there"):
        assert record_file(str(tmp_path / no_record)) is None


def _without(key):
    return lambda record: record["runs"][0].pop(key)


def test_a_row_that_is_read_has_the_notes_of_the_row():
    data = load("sample:single-choice")
    solver = parse_solver("combination,solvers=[sliding-window; word-distance],weights=tuned")
    evaluated = evaluate(data, [solver], tune=data)
    plain = json.loads(json.dumps(rows_to_plain(evaluated)))
    _, rows = read_rows(Node({"rows": plain}, "made"), data.task, len(data))
    assert [*map(row_notes, rows)] == [*map(row_notes, evaluated.rows)]
    assert any(note.startswith("weights ") for note in row_notes(rows[0]))


def _put(value, *path):
    """Put a value at a place in the first run."""

    def change(record):
        *parents, last = path
        place = record["runs"][0]
        for step in parents:
            place = place[step]
        place[last] = value

    return change


def _drop_question(record):
    record["runs"][0]["rows"][1]["outcomes"].popitem()


def _rename_question(record):
    row = record["runs"][0]["rows"][1]
    row["outcomes"] = {f"x{id_}": outcome for id_, outcome in row["outcomes"].items()}


def _outcome(row=0, **values):
    def change(record):
        outcomes = record["runs"][0]["rows"][row]["outcomes"].values()
        next(iter(outcomes)).update(values)

    return change


def _accuracy(*numbers):
    return _outcome(statistics={"accuracy": list(numbers)})


def _accuracies(row, *numbers):
    def change(record):
        for outcome in record["runs"][0]["rows"][row]["outcomes"].values():
            outcome["statistics"]["accuracy"] = list(numbers)

    return change


@pytest.mark.parametrize(
    ("change", "where", "field", "found_text", "expected"),
    [
        (
            _put(10**400, "passage_groups", 0),
            r"^\$\.runs\[0\]$",
            "passage_groups",
            "^24 entries$",
            "^24 ",
        ),
        (_accuracy(10**400), r"rows\[0\]", "accuracy", "^.10000", "^1 numbers$"),
        (_accuracy(True), r"rows\[0\]", "accuracy", "^.True", "^1 numbers$"),
        (
            _put(10**400, "dataset", "questions"),
            r"^\$\.runs\[0\]$",
            "passage_groups",
            "^24 entries$",
            "over 18 digits",
        ),
        (
            _put([1], "rows", 0, "selections", "candidates"),
            r"selections$",
            "candidates",
            r"^\[1\]$",
            "^24 counts$",
        ),
        (
            _put([10**400] * 24, "rows", 0, "selections", "selected"),
            r"selections$",
            "selected",
            r"^\[10000",
            "^24 counts$",
        ),
        (
            _put("all", "rows", 0, "selections", "evidence"),
            r"selections$",
            "evidence",
            "'all'",
            "a list",
        ),
        (_outcome(tied=10**400), r"rows\[0\]", "tied", "18 digits", "^0 to "),
        (_outcome(tied="two"), r"rows\[0\]", "tied", "'two'", "^0 to "),
        (
            _put([None] * 24, "rows", 0, "outcomes"),
            r"rows\[0\]$",
            "outcomes",
            "a list of 24",
            "an object",
        ),
        (lambda record: record.pop("runs"), "^\\$?$", "runs", "^an object with ", ""),
        (_without("passage_groups"), r"^\$\.runs\[0\]$", "passage_groups", "^an object with ", ""),
        (
            _put([0] * 23, "passage_groups"),
            r"^\$\.runs\[0\]$",
            "passage_groups",
            "^23 entries$",
            "^24 ",
        ),
        (
            _put(99, "passage_groups", 0),
            r"^\$\.runs\[0\]$",
            "passage_groups",
            "^24 entries$",
            "^24 ",
        ),
        (_drop_question, r"rows\[1\]$", "outcomes", "^23 questions$", "24 questions"),
        (_rename_question, r"rows\[1\]$", "outcomes", "ids", "24 questions"),
        (_accuracy("1"), r"rows\[0\]", "accuracy", r"^\['1'\]$", "^1 numbers$"),
        (_accuracies(0), r"rows\[0\]", "accuracy", r"^\[\]$", "^1 numbers$"),
        (_put("essay", "dataset", "task"), r"dataset$", "task", "^'essay'$", "single-choice or "),
        (_put(0, "dataset", "questions"), r"dataset$", "questions", "^0$", "^1 or more$"),
        (
            _put(["race"], "rows", 0, "variant"),
            r"rows\[0\]$",
            "variant",
            "^a list of 1$",
            "^a string$",
        ),
        (_put("window", "rows", 0, "params"), r"rows\[0\]$", "params", "^'window'$", "^an object$"),
        (
            _put([0.5, "?"], "rows", 0, "threshold"),
            r"rows\[0\]$",
            "threshold",
            "^a list of 2$",
            "^a number, or one ",
        ),
    ],
)
def test_a_malformed_record_is_refused_with_its_place(
    record, change, where, field, found_text, expected
):
    path = record(change)
    patterns = {
        "where": re.compile(where),
        "found": re.compile(found_text),
        "expected": re.compile(expected),
    }
    with raises(DataError, source=str(path), field=field, **patterns):
        read_results(path)


@pytest.mark.parametrize(
    ("change", "field", "found_text", "expected"),
    [
        (_accuracies(2, 1.0), "accuracy", "^0?", "^1.0,"),
        (_outcome(2, statistics={"accuracy": [0.123]}), "accuracy", "", ""),
        (_put(0.99, "rows", 0, "metrics", "accuracy"), "accuracy", "^0.99$", ""),
        (_put("0.99", "rows", 0, "metrics", "accuracy"), "accuracy", "^0.99$", ""),
        (_outcome(2, tied=9), "tie_rate", "", ""),
        (_put(0.5, "rows", 2, "tie_rate"), "tie_rate", "^0.5$", ""),
        (_put(25, "rows", 0, "questions"), "questions", "^25$", "^24,"),
        (_put("sw|n:24", "rows", 0, "short_signature"), "short_signature", "", ""),
        (_put("solver:sw", "rows", 0, "signature"), "short_signature", "", "^sw,"),
        (_put("", "rows", 0, "signature"), "signature", "", ""),
        (_put("sw", "rows", 0, "solver"), "solver", "^sw$", "^random,"),
        (_put("first", "rows", 2, "ties"), "ties", "^first$", "^partial,"),
        (_put("race", "rows", 2, "variant"), "variant", "^race$", "^None,"),
        (
            _put("0" * 64, "dataset", "fingerprint"),
            "fingerprint",
            "^000",
            "",
        ),
    ],
)
def test_a_record_that_contradicts_itself_is_refused_with_both_values(
    record, change, field, found_text, expected
):
    path = record(change)
    patterns = {"found": re.compile(found_text), "expected": re.compile(expected)}
    where = re.compile(r"\$\.runs\[0\]")
    with raises(DataError, source=str(path), field=field, where=where, **patterns):
        read_results(path)


def test_groups_follow_from_the_outcomes_too(tmp_path):
    evaluated = evaluate(load("sample:single-choice"), [parse_solver("sw")], by="question-type")
    plain = json.loads(json.dumps(run_record([evaluated])))
    groups = plain["runs"][0]["grouping"]["groups"]
    first, second, *_ = groups.values()
    first.append(second.pop())
    path = tmp_path / "run.json"
    path.write_text(json.dumps(plain), encoding="utf-8")
    with raises(DataError, field="questions"):
        read_results(path)
