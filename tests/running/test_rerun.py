"""Run records run again: every number is the same, and changed inputs are reported before the
run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

import classic_rc
from classic_rc import evaluate
from classic_rc.datasets import from_rows, load
from classic_rc.decisions import Argmax, Threshold
from classic_rc.errors import DataError, UsageError
from classic_rc.formats import FORMATS
from classic_rc.questions import Task
from classic_rc.results import with_intervals
from classic_rc.results.record import recorded_file, run_record
from classic_rc.running import restored_record
from classic_rc.running.evaluate import predict
from classic_rc.running.plan import add_span_candidates
from classic_rc.running.rerun import Difference, rerun
from classic_rc.running.restored_record import restore_record
from classic_rc.solvers import SOLVERS, parse_solver, save_solver
from classic_rc.solvers.codec import solver_from_record, solver_to_record
from classic_rc.text.analyzers import Analyzer
from classic_rc.text.spans import SpanGenerator
from tests.depth import thinned
from tests.errors import raises

TASKS = [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE, Task.MULTI_SPAN]
NEEDS_MORE = {"score-file", "saved", "combination"}
"""Solvers that cannot be made without files or members; each is run with some below."""


def save(evaluations, folder: Path, change=lambda record: None) -> Path:
    """A record in its folder, as the command line writes it, changed by a function."""
    folder.mkdir(parents=True, exist_ok=True)
    record = json.loads(json.dumps(run_record(evaluations, folder), allow_nan=False))
    change(record)
    path = folder / "run.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    return path


def again(path: Path, *places: Path):
    """What comes out of a record; nothing may have changed."""
    ready = restore_record(path, [str(place) for place in places])
    assert ready.changes == ()
    return rerun(ready)


def solvers_for(task: Task, folder: Path) -> list:
    """Every registered solver that is for a task, those that need files or members with some."""
    dataset = add_span_candidates(load(f"sample:{task}"))
    solvers = [cls() for name, cls in SOLVERS.items() if name not in NEEDS_MORE]
    solvers = [solver for solver in solvers if task in solver.tasks]
    learner = parse_solver("span-ranker" if task.has_spans else "surface-lr").fit(dataset)
    save_solver(learner, folder / "learner.npz")
    solvers.append(parse_solver(f'saved,path="{(folder / "learner.npz").as_posix()}"'))
    members = "sw+d; word-distance"
    if not task.has_spans:
        scored = predict(dataset, parse_solver("ir"), decide=False)
        (folder / "scores.jsonl").write_text(
            FORMATS["jsonl"].write(dataset, scored.scores, None), encoding="utf-8"
        )
        scores = f'score-file,path="{(folder / "scores.jsonl").as_posix()}"'
        solvers.append(parse_solver(scores))
        members = f"sw+d; {scores}"
        solvers.append(parse_solver(f"combination,solvers=[{members}],weights=tuned"))
        solvers.append(parse_solver(f"combination,solvers=[{members}],weights=stacked"))
    solvers.append(parse_solver(f"combination,solvers=[{members}],weights=[1; 0.5]"))
    return solvers


@pytest.mark.parametrize("task", thinned(TASKS, 4))
def test_every_solver_comes_out_again_to_the_last_digit(task, tmp_path):
    dataset, solvers = load(f"sample:{task}"), solvers_for(task, tmp_path)
    evaluation = with_intervals(evaluate(dataset, solvers, cv=2, by="type"), 20, seed=3)
    path = save([evaluation], tmp_path / "record")
    result = again(path)
    assert result.same, result
    (run,) = result.runs
    assert [row.system for row in run.rows] == [row.name for row in evaluation.rows]


def test_no_registered_solver_is_left_out(tmp_path):
    ran = {type(solver).name for task in TASKS for solver in solvers_for(task, tmp_path)}
    # No sample has plain span questions; tests/commands/check/test_defects.py reruns `no-answer`.
    assert ran | {"no-answer"} == {name for name in SOLVERS if SOLVERS.package_of(name) is None}


def test_rows_tuned_here_on_another_split_and_out_of_fold_come_out_again(tmp_path):
    several, single = load("sample:multiple-answer"), load("sample:single-choice")
    evaluations = [
        evaluate(several, ["sw+d", "surface-lr"], tune=several, train=several),
        evaluate(several, ["sw+d"], tune_metric="em0", threshold="multirc2018"),
        evaluate(several, ["ir:multirc2018"], threshold=0.25, seed=7),
        evaluate(several, ["position-prior"], cv=4),
        evaluate(single, ["sliding-window:race", "random"], ties="random", seed=0),
    ]
    rows = [row for evaluation in evaluations for row in evaluation.rows]
    assert {row.tuned_here for row in rows} == {True, False}
    assert {"cv5", "cv4", several.name} <= {row.tuned_on for row in rows}
    assert again(save(evaluations, tmp_path)).same


def test_decisions_analyzers_and_spans_of_the_python_interface_are_kept(tmp_path):
    multiple_answer = load("sample:multiple-answer")
    configured = parse_solver("sw+d").set_params(
        analyzer=Analyzer("treebank", stemmer="porter"), decision=Threshold(value=1.25)
    )
    ties = parse_solver("sw+d").set_params(decision=Argmax(ties="strict", tie_tolerance=0.5))
    spans = SpanGenerator(max_tokens=3)
    evaluations = [
        evaluate(multiple_answer, [configured]),
        evaluate(load("sample:single-choice"), [ties]),
        evaluate(load("sample:multi-span"), [parse_solver("span-sw,margin=0.5")], spans=spans),
    ]
    assert again(save(evaluations, tmp_path)).same


@pytest.mark.parametrize(
    "spec", ["sw+d:mctest160", "ir,corpus=paragraphs", "sw+d,distance_weight=inf", "lexical"]
)
def test_a_kept_solver_is_the_solver(spec):
    solver = parse_solver(spec)
    record = json.loads(json.dumps(solver_to_record(solver, recorded_file)))
    restored = solver_from_record(record, find=lambda file_record: file_record["path"])
    assert repr(restored) == repr(solver)
    assert restored.variant_name() == solver.variant_name()


# --- what differs
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def evaluation():
    solvers = [parse_solver("sw+d"), parse_solver("longest")]
    return evaluate(load("sample:single-choice"), solvers)


def test_what_differs_is_told_by_row_number_and_question(evaluation, tmp_path):
    def change(record):
        row = record["runs"][0]["rows"][1]
        row["metrics"]["accuracy"] += 2**-50
        for id_ in list(row["outcomes"])[3:5]:
            row["outcomes"][id_]["tied"] += 1

    result = again(save([evaluation], tmp_path, change))
    equal_row, different_row = result.runs[0].rows
    assert equal_row.same
    assert not different_row.same
    assert not result.same
    (difference,) = different_row.differences
    was = evaluation.rows[1].metrics()["accuracy"]
    assert difference == Difference("metrics.accuracy", was + 2**-50, was)
    assert different_row.questions == tuple(q.id for q in evaluation.dataset[3:5])


def test_a_row_that_is_gone_or_new_is_a_difference(evaluation, tmp_path):
    def remove(record):
        record["runs"][0]["rows"].pop()

    gone = again(save([evaluation], tmp_path / "gone", remove))
    assert [row.same for row in gone.runs[0].rows] == [True, False]
    assert gone.runs[0].rows[1].differences[0].now == "longest"

    def twice(record):
        rows = record["runs"][0]["rows"]
        rows.append(rows[-1])

    more = again(save([evaluation], tmp_path / "more", twice))
    (difference,) = more.runs[0].rows[2].differences
    assert (difference.recorded, difference.now) == ("longest", None)


def test_versions_that_differ_are_notes_and_no_differences(evaluation, tmp_path):
    def older(record):
        record["version"] = "0.0.9"
        record["environment"]["packages"]["numpy"] = "1.0"

    path = save([evaluation], tmp_path, older)
    notes = restore_record(path).notes
    assert [note.split(":")[0] for note in notes] == ["classic_rc", "numpy"]
    assert classic_rc.__version__ in notes[0]
    assert "0.0.9" in notes[0]
    assert again(path).same


# --- where files are, and what they hold
# -------------------------------------------------------------------------

ROWS = [
    {
        "passage": "Nora planted beans. Omar built a fence.",
        "question": "Who?",
        "candidates": ["Nora", "Omar"],
    },
    {
        "passage": "The train left at nine. Omar had a cello.",
        "question": "When?",
        "candidates": ["ten", "nine"],
    },
]


@pytest.fixture
def data(tmp_path) -> Path:
    path = tmp_path / "data" / "mine.jsonl"
    path.parent.mkdir()
    lines = [json.dumps({"id": f"q{i}", "gold": 1, **row}) for i, row in enumerate(ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def record(data, tmp_path, monkeypatch) -> Path:
    """A record beside its data, made with relative paths: tmp_path/data/mine.jsonl,
    tmp_path/runs/one/run.json.
    """
    monkeypatch.chdir(tmp_path)
    return save(
        [evaluate(load("data/mine.jsonl"), [parse_solver("sw+d")])], Path("runs/one")
    ).resolve()


def test_relative_paths_are_relative_to_the_record_and_work_from_any_folder(
    record, tmp_path, monkeypatch
):
    content = json.loads(record.read_text(encoding="utf-8"))["runs"][0]["dataset"]
    assert content["read_with"]["path"] == content["sources"][0]["path"] == "../../data/mine.jsonl"
    monkeypatch.chdir(record.parent.parent)
    assert again(record).same
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for folder in ("data", "runs"):
        shutil.move(tmp_path / folder, moved / folder)
    assert again(moved / "runs" / "one" / "run.json").same


def test_a_changed_byte_is_told_as_such_before_anything_is_read(record, data, monkeypatch):
    content = data.read_bytes()
    data.write_bytes(content.replace(b"cello", b"cellO"))
    monkeypatch.setattr(restored_record, "load", lambda *args, **kwargs: pytest.fail("it was read"))
    ready = restore_record(record)
    (change,) = ready.changes
    assert str(data) in change
    assert "changed" in change
    with raises(UsageError, field="record", found=str(record)) as refused:
        rerun(ready)
    assert change in str(refused.value)


def test_a_file_of_the_same_content_is_found_below_data_under_any_name(record, data, tmp_path):
    attic = tmp_path / "attic" / "deep"
    attic.mkdir(parents=True)
    shutil.copy(data, attic / "renamed.jsonl")
    (attic / "decoy.jsonl").write_bytes(data.read_bytes().replace(b"cello", b"cellO"))
    data.write_text("other", encoding="utf-8")
    assert again(record, tmp_path / "attic").same
    data.unlink()
    assert again(record, tmp_path / "attic").same


def test_a_missing_file_is_told_with_what_to_do(record, data, tmp_path):
    data.unlink()
    (change,) = restore_record(record).changes
    assert "missing" in change
    assert "--search DIR" in change
    (tmp_path / "empty").mkdir()
    (change,) = restore_record(record, [str(tmp_path / "empty")]).changes
    assert "below --search" in change
    with raises(DataError, source=str(tmp_path / "nowhere"), hint=re.compile("--search DIR")):
        restore_record(record, [str(tmp_path / "nowhere")])


def test_every_part_of_joined_training_data_is_found_and_checked(data, tmp_path):
    second_file = data.with_name("other.jsonl")
    second_file.write_text(
        data.read_text(encoding="utf-8").replace("Nora", "Lena"), encoding="utf-8"
    )
    parts = [load(second_file), load("sample:single-choice")]
    run = evaluate(load(data), [parse_solver("constant-position:majority")], train=parts)
    path = save([run], tmp_path / "runs")
    assert again(path).same
    second_file.write_bytes(second_file.read_bytes() + b"\n")
    (change,) = restore_record(path).changes
    assert str(second_file) in change


@pytest.fixture
def own_files() -> Path:
    return Path(__file__).resolve().parents[2] / "data"


@pytest.mark.parametrize("name", ["mctest/sample.dev.tsv", "race"])
def test_official_layouts_come_out_again_in_place_and_moved(own_files, name, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(own_files, folder)
    path = save([evaluate(load(folder / name), [parse_solver("sw+d")])], tmp_path / "runs")
    assert again(path).same
    moved = tmp_path / "somewhere" / "else"
    shutil.move(folder, moved)
    assert len(restore_record(path).changes) == 1
    assert again(path, tmp_path / "somewhere").same


def test_a_changed_answer_beside_the_data_and_a_new_file_in_a_folder_are_changes(
    own_files, tmp_path
):
    folder = tmp_path / "copy"
    shutil.copytree(own_files, folder)
    names = ["mctest/sample.dev.tsv", "race"]
    evaluations = [evaluate(load(folder / name), ["longest"]) for name in names]
    path = save(evaluations, tmp_path / "runs")
    answers = folder / "mctest" / "sample.dev.ans"
    answers.write_bytes(answers.read_bytes().replace(b"A", b"B", 1))
    shutil.copy(folder / "race/dev/high/1.txt", folder / "race/dev/high/2.txt")
    text = (folder / "race/dev/high/2.txt").read_text(encoding="utf-8")
    (folder / "race/dev/high/2.txt").write_text(text.replace("high1", "high2"), encoding="utf-8")
    first, second = restore_record(path).changes
    assert "sample.dev.ans" in first
    assert str(folder / "race") in second


def test_files_that_solvers_read_are_kept_found_and_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    for name in ("stop.txt", "drop.txt"):
        Path("mine", name).write_text("the\nwho\n", encoding="utf-8")
    Path("mine", "text.txt").write_text("Omar built a fence in the garden.\n", encoding="utf-8")
    specs = [
        "sw+d,stop_words=mine/stop.txt,analyzer=word+stop=mine/drop.txt+porter",
        "ngram-lm,corpus=passages+mine/text.txt",
    ]
    evaluation = evaluate(load("sample:single-choice"), specs)
    path = save([evaluation], Path("runs")).resolve()
    monkeypatch.chdir(path.parent)
    assert again(path).same
    shutil.move(tmp_path / "mine", tmp_path / "moved")
    assert len(restore_record(path).changes) == 2  # one a solver
    assert again(path, tmp_path).same
    changed = tmp_path / "moved" / "text.txt"
    changed.write_bytes(changed.read_bytes().replace(b"fence", b"Fence"))
    (change,) = restore_record(path, [str(tmp_path)]).changes
    assert "text.txt" in change


def test_a_search_index_is_kept_by_the_content_of_its_folder(tmp_path, monkeypatch):
    from classic_rc.retrieval.building import build_index
    from classic_rc.retrieval.reading import TextFile

    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("Omar built a fence.\nThe train left at nine.\n", encoding="utf-8")
    build_index([TextFile("text.txt")], "index")
    solver = parse_solver("ir,corpus=index")
    path = save([evaluate(load("sample:single-choice"), [solver])], tmp_path / "runs")
    assert again(path).same
    shutil.move(tmp_path / "index", tmp_path / "old")
    assert "missing" in restore_record(path).changes[0]
    (tmp_path / "attic").mkdir()
    shutil.move(tmp_path / "old", tmp_path / "attic" / "index")
    assert again(path, tmp_path / "attic").same


# --- what cannot be run again
# ------------------------------------------------------------------------------------

OWN = """
from classic_rc import Scores, Solver

class Shouting(Solver):
    def __init__(self, *, mark="!"):
        self.mark = mark

    def score_candidates(self, questions):
        return Scores.from_lists(
            [[float(len(c.text + self.mark)) for c in q.candidates] for q in questions]
        )
"""


def test_code_of_ones_own_runs_only_if_it_is_trusted_and_unchanged(tmp_path):
    code = tmp_path / "mine.py"
    code.write_text(OWN, encoding="utf-8")
    solver = parse_solver(f"{code}:Shouting,mark=??")
    path = save([evaluate(load("sample:single-choice"), [solver])], tmp_path / "runs")
    with raises(UsageError) as refused:
        restore_record(path)
    assert "--trust" in str(refused.value)
    assert rerun(restore_record(path, trust=True)).same
    code.write_text(OWN.replace("float(len", "-float(len"), encoding="utf-8")
    assert "mine.py" in restore_record(path, trust=True).changes[0]


CONFUSING = """
from classic_rc import Scores, Solver

class Confusing(Solver):
    def __init__(self, *, file="", kind="", items=(), params=1.0, path="", solver=""):
        self.file, self.kind, self.items = file, kind, items
        self.params, self.path, self.solver = params, path, solver

    def score_candidates(self, questions):
        return Scores.from_lists(
            [[float(len(c.text + self.kind)) for c in q.candidates] for q in questions]
        )
"""


def test_no_name_or_value_of_a_parameter_is_mistaken_for_the_form_of_a_record(tmp_path):
    code, text = tmp_path / "mine.py", tmp_path / "text.txt"
    code.write_text(CONFUSING, encoding="utf-8")
    text.write_text("x", encoding="utf-8")
    values = {
        "file": str(text),
        "kind": "file",
        "items": ["items", ("kind", float("inf")), Path(text)],
        "params": float("-inf"),
        "path": text,
        "solver": parse_solver(f"{code}:Confusing,file=solver"),
    }
    solver = type(parse_solver(f"{code}:Confusing"))(**values)
    solver_record = json.loads(json.dumps(solver_to_record(solver, recorded_file), allow_nan=False))
    restored = solver_from_record(
        solver_record, lambda solver_record: solver_record["path"], trust=True
    )
    restored_texts = {name: str(value) for name, value in restored.get_params(deep=False).items()}
    assert restored_texts == {name: str(value) for name, value in values.items()}
    path = save([evaluate(load("sample:single-choice"), [solver])], tmp_path / "runs")
    assert rerun(restore_record(path, trust=True)).same


def test_verifying_compares_files_and_code_and_runs_nothing(tmp_path):
    code, helper = tmp_path / "mine.py", tmp_path / "rc_verified.py"
    code.write_text(
        "import sys\nsys.path.insert(0, __file__[:-7])\nimport rc_verified\n" + OWN,
        encoding="utf-8",
    )
    helper.write_text("x = 1\n", encoding="utf-8")
    solver = parse_solver(f"{code}:Shouting")
    path = save([evaluate(load("sample:single-choice"), [solver])], tmp_path / "runs")
    sys.path.remove(f"{tmp_path}/")
    del sys.modules["rc_verified"]
    assert restore_record(path, trust=None).code == ()
    helper.write_text("x = 1  # a comment\n", encoding="utf-8")
    assert restore_record(path, trust=None).code == ()
    helper.write_text("x = 2\n", encoding="utf-8")
    (change,) = restore_record(path, trust=None).code
    assert change.startswith("Shouting:")
    code.unlink()
    (change,) = restore_record(path, trust=None).changes
    assert "mine.py" in change
    assert "rc_verified" not in sys.modules


def test_what_was_in_memory_alone_is_refused_with_the_reason(tmp_path):
    solver = parse_solver("sw+d")
    rows = [{"id": f"q{i}", "gold": 1, **row} for i, row in enumerate(ROWS)]
    path = save([evaluate(from_rows(rows), [solver])], tmp_path / "rows")
    (change,) = restore_record(path).changes
    assert "in memory" in change
    subset = load("sample:single-choice")[:9]
    assert (
        "in memory"
        in restore_record(save([evaluate(subset, [solver])], tmp_path / "part")).changes[0]
    )

    class Here(type(solver)):
        pass

    with raises(UsageError) as refused:
        restore_record(save([evaluate(load("sample:single-choice"), [Here()])], tmp_path / "class"))
    assert "Here" in str(refused.value)


def _other_reader(record):
    record["runs"][0]["dataset"]["fingerprint"] = "0" * 64


def options_of(record):
    return record["runs"][0]["protocol"]["settings"]


HUGE = {"resamples": 10**400, "seed": 0, "level": 0.95, "group": None}


def test_learned_rows_under_other_versions_are_compared_within_a_tolerance(tmp_path):
    """Without other versions, and in rows that learn nothing, every digit counts."""
    dataset = load("sample:multiple-answer")
    learned = evaluate(dataset, [parse_solver("surface-lr"), parse_solver("longest")], cv=3)

    def nudge(row, by, versions=True):
        def change(record):
            if versions:
                record["environment"]["packages"]["numpy"] = "1.0"
            thresholds = record["runs"][0]["rows"][row]["threshold"]
            thresholds[0] += by

        return change

    def check(change, name):
        prepared = restore_record(save([learned], tmp_path / name, change))
        return rerun(prepared).same, any("within 1e-09" in note for note in prepared.notes)

    assert check(nudge(0, 1e-13), "learned") == (True, True)
    assert check(nudge(0, 1e-13, versions=False), "learned-same") == (False, False)
    assert check(nudge(0, 1e-6), "learned-far") == (False, True)
    assert check(nudge(1, 1e-13), "nothing-learned") == (False, True)


@pytest.mark.parametrize(
    ("change", "field", "found_text"),
    [
        (lambda record: record.pop("schema"), "schema", "none"),
        (lambda record: record.update(schema=99), "schema", "99"),
        (lambda record: record["runs"][0]["dataset"].pop("sources"), "sources", None),
        (lambda record: record["runs"][0].pop("rows"), "rows", None),
        (lambda record: record["runs"][0]["rows"][0].pop("outcomes"), "outcomes", None),
        (lambda record: record["runs"][0].update(rows=[1]), None, re.compile("^TypeError: ")),
        (lambda record: options_of(record).update(seed=10**400), "seed", re.compile("^1000")),
        (
            lambda record: options_of(record).update(threshold=10**400),
            "threshold",
            re.compile("^1000"),
        ),
        (lambda record: options_of(record).update(cv="5"), "cv", "'5'"),
        (lambda record: options_of(record).update(unheard_of=1), "setting", "unheard_of"),
        (
            lambda record: record["runs"][0].update(resampling=HUGE),
            "resamples",
            re.compile("18 digits"),
        ),
        (
            lambda record: record["runs"][0]["dataset"].update(read_with=7),
            None,
            re.compile("^TypeError: "),
        ),
    ],
)
def test_a_malformed_record_is_refused_with_its_place(
    evaluation, tmp_path, change, field, found_text
):
    path = save([evaluation], tmp_path, change)
    with raises(DataError, source=str(path), field=field, found=found_text):
        restore_record(path)


def test_data_that_is_read_differently_is_a_change(evaluation, tmp_path):
    (change,) = restore_record(save([evaluation], tmp_path, _other_reader)).changes
    assert evaluation.dataset.fingerprint in change
    assert "0" * 64 in change


def test_no_number_depends_on_the_order_of_a_folder(tmp_path):
    from classic_rc.io.files import sha256_of

    for i, folder in enumerate(("one", "two")):
        (tmp_path / folder / "inner").mkdir(parents=True)
        for name in ("a", "inner/b")[:: 1 - 2 * i]:
            (tmp_path / folder / name).write_text(name, encoding="utf-8")
    (tmp_path / "two" / "lock").touch()
    assert sha256_of(tmp_path / "one") == sha256_of(tmp_path / "two")
    os.rename(tmp_path / "two" / "a", tmp_path / "two" / "c")
    assert sha256_of(tmp_path / "one") != sha256_of(tmp_path / "two")
