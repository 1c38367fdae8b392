"""``classic-rc run``: each option does what it says."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc import __version__
from classic_rc.datasets import load
from classic_rc.protocol import Protocol
from classic_rc.solvers import registry
from tests.command_line import read_record

SAMPLES = ["sample:single-choice", "sample:multiple-answer", "sample:cloze", "sample:multi-span"]


def json_of(cli, *args):
    done = cli("run", *args, "--format", "json")
    assert done.code == 0, done.err
    return done


def test_without_a_solver_the_default_set_for_the_task_runs(cli):
    done = json_of(cli, "sample:cloze")
    assert [row["solver"] for row in done.rows] == [
        *("random", "max-frequency", "exclusive-frequency", "cloze-distance"),
        *("sliding-window", "word-distance", "sw+d", "ir"),
    ]


def test_sample_means_a_dataset_of_each_task(cli):
    done = json_of(cli, "sample")
    assert [run["dataset"]["name"] for run in done.json["runs"]] == SAMPLES
    assert done.err == ""
    have_em = ["EM" in "".join(run["dataset"]["notes"]) for run in done.json["runs"]]
    assert have_em == [False, False, False, True]


def test_several_datasets_are_several_tables_in_their_order(cli, single, multiple_answer):
    done = cli("run", multiple_answer, single, "-s", "random")
    assert done.code == 0
    assert done.titles == ["several", "single"]


def test_a_folder_is_a_table_for_each_dataset_and_one_with_pool(cli, write):
    row = {"passage": "Ann saw a cat.", "candidates": ["Ann", "Bob"], "gold": 0}
    for split in ("train", "dev"):
        lines = [json.dumps({**row, "question": f"{split} {i}?"}) for i in range(3)]
        path = write(f"own/{split}.jsonl", "\n".join(lines))
    write("own/notes.md", "# notes")
    args = (path.parent, "-s", "longest")
    done = json_of(cli, *args)
    datasets = [run["dataset"] for run in done.json["runs"]]
    assert [(d["name"], d["questions"]) for d in datasets] == [("dev", 3), ("train", 3)]
    assert done.messages("note", "notes.md")
    pooled = json_of(cli, *args, "--pool", "--by", "split")
    assert (pooled.run["dataset"]["name"], pooled.run["dataset"]["questions"]) == ("own", 6)
    sizes = {value: group["questions"] for value, group in pooled.rows[0]["groups"].items()}
    assert sizes == {"dev": 3, "train": 3}
    alone = json_of(cli, *args, "--split", "train")
    assert [run["dataset"]["name"] for run in alone.json["runs"]] == ["own"]
    assert alone.run["dataset"]["questions"] == 3


def test_a_run_on_a_pooled_folder_can_be_repeated(cli, write, tmp_path):
    row = {"passage": "Ann saw a cat.", "candidates": ["Ann", "Bob"], "gold": 0}
    for i in (1, 2):
        path = write(f"own/x-{i}.jsonl", json.dumps({**row, "question": f"{i}?"}))
    assert cli("run", path.parent, "-s", "longest", "--save", tmp_path / "kept").code == 0
    done = cli("reproduce", tmp_path / "kept")
    assert done.code == 0, done.err
    assert done.out.startswith("x ")


def test_solvers_are_rows_in_their_order_with_variant_and_parameters(cli, single):
    done = json_of(
        cli, single, "-s", "sw+d:mctest160", "-s", "sliding-window,window=3,analyzer=whitespace"
    )
    first, second = done.rows
    assert (first["solver"], first["variant"], first["params"]["distance_weight"]) == (
        "sw+d",
        "mctest160",
        10,
    )
    assert (second["solver"], second["variant"]) == ("sliding-window", None)
    assert (second["params"]["window"], second["params"]["analyzer"]) == (3, "whitespace")
    assert "window:3" in second["signature"]
    assert "analyzer:whitespace" in second["signature"]


def test_all_positive_is_added_if_several_answers_can_be_right(cli, multiple_answer, single):
    assert [row["solver"] for row in json_of(cli, multiple_answer, "-s", "longest").rows] == [
        "all-positive",
        "longest",
    ]
    assert len(json_of(cli, multiple_answer, "-s", "all-positive").rows) == 1
    assert len(json_of(cli, single, "-s", "longest").rows) == 1


def test_reader_names_the_format(cli, single, write):
    assert json_of(cli, f"{single},reader=jsonl").run["dataset"]["reader"] == "jsonl"
    assert cli("run", f"{single},reader=mctest").code == 3


def test_split_and_subset_choose_parts(cli, own_files):
    race = own_files / "race"
    whole_subset, high = (
        json_of(cli, race, "-s", "random"),
        json_of(cli, f"{race},subset=high", "-s", "random"),
    )
    assert (whole_subset.run["dataset"]["questions"], high.run["dataset"]["questions"]) == (8, 4)
    assert json_of(cli, race, "--split", "dev", "-s", "random").run["dataset"]["split"] == "dev"
    assert cli("run", race, "--split", "test").code == 3


def test_answers_may_lie_elsewhere(cli, own_files, tmp_path):
    stories = tmp_path / "stories.tsv"
    stories.write_bytes((own_files / "mctest" / "sample.dev.tsv").read_bytes())
    (tmp_path / "elsewhere").mkdir()
    answers = tmp_path / "elsewhere" / "right.ans"
    answers.write_bytes((own_files / "mctest" / "sample.dev.ans").read_bytes())
    assert cli("run", stories, "-s", "longest").code == 3
    with_answers = json_of(cli, f"{stories},answers={answers}", "-s", "longest").row("longest")
    next_to_data = json_of(cli, own_files / "mctest" / "sample.dev.tsv", "-s", "longest").row(
        "longest"
    )
    assert with_answers["metrics"] == next_to_data["metrics"]


def test_fields_and_gold_as_read_a_file_of_ones_own(cli, write):
    rows = [
        {
            "story": "It rained all day.",
            "q": {"text": "How was it?"},
            "options": ["dry", "wet"],
            "right": "B",
        }
    ]
    mine = write("mine.jsonl", rows)
    fields = "passage=story,question=q.text,candidates=options,gold=right"
    done = json_of(
        cli, mine, "--fields", fields, "--gold-as", "letter", "-s", "constant-position:last"
    )
    assert done.row("constant-position")["metrics"] == {"accuracy": 1.0}
    assert cli("run", mine).code == 3


def test_fields_are_for_data_and_not_for_training_data_of_a_known_format(cli, write, single):
    row = {"story": "It rained all day.", "ask": "How was it?", "options": [], "right": "B"}
    rows = [{**row, "ask": f"How was it {i}?", "options": [f"dry {i}", f"wet {i}"]} for i in "abc"]
    mine, fields = (
        write("mine.jsonl", rows),
        "passage=story,question=ask,candidates=options,gold=right",
    )
    solver = ("-s", "constant-position:majority")
    ways = [
        (mine, "--fields", fields, "--train", single),
        (f"{mine},fields={fields},gold_as=letter", "--train", single),
        (f"{mine},fields={fields}", "--train", f"{mine},fields={fields}"),
        (mine, "--fields", fields, "--train", mine),
    ]
    metrics = [json_of(cli, *way, *solver).row("constant-position")["metrics"] for way in ways]
    assert metrics[0] == metrics[1]
    assert metrics[2] == metrics[3] == {"accuracy": 1.0}


CHOICE = {"question": "q", "candidates": ["a", "b", "c"]}


def test_train_takes_a_folder(cli, single, write, tmp_path):
    (tmp_path / "lessons").mkdir()
    for i, gold in enumerate((0, 2, 2)):
        write(
            f"lessons/part{i}.jsonl",
            [{**CHOICE, "id": f"q{i}", "passage": f"Text {i}.", "gold": gold}],
        )
    majority = ("-s", "constant-position:majority")

    def metrics(train):
        return json_of(cli, single, "--train", train, *majority).rows[0]["metrics"]

    firsts = metrics(tmp_path / "lessons" / "part0.jsonl")
    lasts = metrics(tmp_path / "lessons" / "part2.jsonl")
    assert metrics(tmp_path / "lessons") == lasts != firsts
    lesson = tmp_path / "lessons" / "part0.jsonl"
    done = cli("run", single, "--train", tmp_path / "lessons", "--train", lesson, *majority)
    done.fails(2, "lessons", "part0", "1 questions", "q0", field="datasets")


@pytest.mark.parametrize("command", ["run", "check"])
def test_training_files_that_cannot_be_one_are_refused(cli, single, command):
    done = cli(command, single, "--train", "sample:single-choice", "--train", "sample:cloze")
    done.fails(2, "different tasks", "single-choice", "cloze", field="datasets")


def names_of(rows):
    return [r["solver"] + (f":{r['variant']}" if r["variant"] else "") for r in rows]


RANKERS = ["feature-ranker", "feature-ranker:no-passage", "feature-ranker:candidates"]


def test_with_something_to_learn_from_the_default_set_has_what_learns(cli):
    rows = json_of(cli, "sample:single-choice", "--train", "sample:single-choice").rows
    assert names_of(rows)[-5:] == ["constant-position:majority", "surface-lr", *RANKERS]
    assert json_of(cli, "sample:multi-span", "--cv", "2").rows[-1]["solver"] == "span-ranker"


def test_a_slow_learner_is_left_out_of_the_default_set_when_there_is_much_to_learn_from(
    cli, monkeypatch
):
    n = len(load("sample:single-choice"))
    monkeypatch.setitem(registry.MOST_TRAINING_QUESTIONS, "feature-ranker", n)
    assert "feature-ranker" in names_of(json_of(cli, "sample:single-choice", "--cv", 2).rows)
    monkeypatch.setitem(registry.MOST_TRAINING_QUESTIONS, "feature-ranker", n - 1)
    done = json_of(cli, "sample:single-choice", "--cv", 2)
    assert "feature-ranker" not in names_of(done.rows)
    assert done.messages("note", "feature-ranker is left out", "-s")


@pytest.mark.ci
def test_the_feature_ranker_comes_with_its_partial_inputs(cli):
    def rows(*args):
        return names_of(json_of(cli, "sample:single-choice", "--cv", 2, *args).rows)

    assert rows("-s", "feature-ranker") == RANKERS
    assert rows("-s", "feature-ranker:candidates", "-s", "feature-ranker") == [
        RANKERS[2],
        *RANKERS[:2],
    ]
    default_rows = json_of(
        cli, "sample:single-choice", "--cv", 2, "-s", "feature-ranker,C=0.1"
    ).rows
    assert names_of(default_rows) == RANKERS
    assert all(row["params"]["C"] == 0.1 for row in default_rows)


def test_training_data_of_another_task_is_left_to_those_it_suits(cli):
    done = cli(
        "run", "sample:single-choice", "sample:cloze", "--train", "sample:cloze", "-s", "random"
    )
    assert done.code == 0
    assert done.messages("warning", "training data", "sample:cloze")
    assert cli("run", "sample:single-choice", "--train", "sample:cloze").code == 0


def test_every_setting_reaches_the_protocol(cli, single, multiple_answer, write, tmp_path):
    """What the settings mean is tested with the library; here, that options arrive."""
    training = write(
        "other.jsonl",
        [json.loads(line) for line in multiple_answer.read_text(encoding="utf-8").splitlines()],
    )
    settings = {
        **{
            "ties": "first",
            "seed": 3,
            "threshold": 1.5,
            "tune_metric": "em0",
            "analyzer": "word+lower",
        },
        **{"intervals": 20, "metrics": ["f1_a", "em0"], "by": "question-type", "baseline": "B"},
    }
    words = ["--tune", training, "--train", training]
    for name, value in settings.items():
        text = ",".join(value) if isinstance(value, list) else value
        words += [f"--{name.replace('_', '-')}", text]
    systems = ("-s", "A=longest", "-s", "B=sw")
    cli("run", multiple_answer, *systems, *words, "--save", tmp_path / "a")
    protocol = read_record(tmp_path / "a")["runs"][0]["protocol"]
    assert protocol["settings"] == {**Protocol().to_plain(), **settings}
    assert protocol["tune"]["name"] == protocol["train"]["name"] == "other"
    words = ["--cv", 2, "--group", "kind", "--drop-overlap"]
    cli("run", single, *systems, *words, "--save", tmp_path / "b")
    protocol = read_record(tmp_path / "b")["runs"][0]["protocol"]
    changed = {"cv": 2, "group": "kind", "drop_overlap": True}
    assert protocol["settings"] == {**Protocol().to_plain(), **changed}


ROW_KEYS = {
    *(
        "solver",
        "variant",
        "signature",
        "params",
        "metrics",
        "expected",
        "tie_rate",
        "ties",
        "seed",
        "threshold",
    ),
    *("tuned_on", "trained_on", "questions", "no_evidence"),
}


DATASET_KEYS = {"name", "reader", "split", "fingerprint", "passages", "questions", "candidates"}


METRICS = {
    "sample:single-choice": {"accuracy"},
    "sample:multiple-answer": {"f1_m", "f1_a", "em0", "em1", "superglue_f1_m"},
    "sample:cloze": {"em", "f1"},
    "sample:multi-span": {"quoref_em", "quoref_f1"},
}


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


def test_json_has_the_documented_keys_for_every_task(cli, tmp_path):
    done = cli("run", "sample", "--format", "json")
    document = json.loads(done.out, parse_constant=no_constant)
    assert set(document) == {"version", "schema", "runs", "times"}
    assert document["version"] == __version__
    for i, run in enumerate(document["runs"]):
        assert set(run["dataset"]) >= DATASET_KEYS
        assert len(run["dataset"]["fingerprint"]) == 64
        for j, row in enumerate(run["rows"]):
            assert set(row) >= ROW_KEYS
            assert set(row["metrics"]) == METRICS[run["dataset"]["name"]]
            assert all(0 <= value <= 1 for value in row["metrics"].values())
            assert set(document["times"][f"/runs/{i}/rows/{j}"]) == {
                "read",
                "encode",
                "fit",
                "score",
            }
            assert row["questions"] == run["dataset"]["questions"]
            assert row["expected"] is (row["solver"] == "random")
            assert (row["tie_rate"] is None) is (row["ties"] is None)


def test_csv_has_a_record_for_each_row_of_each_dataset(cli, single, multiple_answer):
    done = cli("run", single, multiple_answer, "-s", "random", "-s", "longest", "--format", "csv")
    records = done.records
    assert [(r["dataset"], r["solver"]) for r in records] == [
        *(("single", "random"), ("single", "longest")),
        *(("several", "all-positive"), ("several", "random"), ("several", "longest")),
    ]
    assert float(records[0]["accuracy"]) == pytest.approx(1 / 3, abs=1e-15)
    assert records[2]["accuracy"] == ""
    assert float(records[2]["f1_a"]) > 0
    assert records[4]["tuned_on"] == "cv5"
    assert len(records[4]["threshold"].split(";")) == 2


def test_a_run_in_which_all_systems_fail_leaves_no_record(cli, write, tmp_path):
    row = {"passage": "Dogs bark.", "question": "What barks?", "candidates": ["dogs", "cats"]}
    data = write("one.jsonl", [{**row, "id": i, "gold": 0} for i in "ab"])
    learners = ("-s", "feature-ranker", "-s", "lexical,weights=learned")
    failure = cli("run", data, "--cv", 2, *learners, "--save", tmp_path / "saved")
    failure.fails(2, "two different passages")
    assert not (tmp_path / "saved" / "run.json").exists()


def test_save_onto_a_file_is_refused_before_anything_is_read(cli, single):
    done = cli("run", single, "--save", single)
    done.fails(2, "folder", field="--save", found=str(single))
    assert done.out == ""


def test_a_baseline_need_not_be_named_again(cli):
    done = cli(
        "run", "sample:single-choice", "-s", "A=longest", "--baseline", "B=sw", "--format", "json"
    )
    assert [row["name"] for row in done.rows] == ["A", "B"]
    assert done.run["significance"]["baseline"] == "B"
    done = cli(
        "run",
        "sample:single-choice",
        "-s",
        "A=longest",
        "-s",
        "swd",
        "--baseline",
        "longest",
        "--format",
        "json",
    )
    assert [row["name"] for row in done.rows] == ["A", "sw+d"]
    assert done.run["significance"]["baseline"] == "A"


def test_a_baseline_without_a_row_loses_no_other_row(cli):
    systems = ("-s", "SW=sw", "-s", "L=longest", "--baseline", "Frequency=max-frequency")
    done = cli("run", "sample:single-choice", "sample:cloze", *systems, "--format", "json")
    assert done.code == 0, done.err
    single, cloze = done.json["runs"]
    assert [row["name"] for row in single["rows"]] == ["SW", "L"]
    assert "significance" not in single
    assert cloze["significance"]["baseline"] == "Frequency"
    assert done.messages(
        "warning", "nothing is tested against the baseline Frequency: it has no row here"
    )
    done = cli("run", "sample:single-choice", "-s", "SW=sw", "--baseline", "SW")
    assert done.code == 0
    assert "44.79" in done.out
    assert done.messages("warning", "nothing is tested against the baseline SW: it is the only row")


def test_systems_that_do_not_fit_are_dashes_with_their_reasons(cli):
    datasets = ("sample:single-choice", "sample:multi-span")
    done = cli(
        "run", *datasets, "-s", "sw", "-s", "Spans=span-sw", "-s", "L=longest", "--format", "json"
    )
    assert done.code == 0
    single, span = done.json["runs"]
    assert [row["name"] for row in single["rows"]] == ["sliding-window", "L"]
    assert [entry["name"] for entry in single["missing"]] == ["Spans"]
    assert "span-sw" in single["missing"][0]["reason"]
    assert [row["name"] for row in span["rows"]] == ["sliding-window", "Spans", "L"]
    assert done.messages("note", "Spans", "span-sw")
    table = cli("run", "sample:single-choice", "-s", "sw", "-s", "Spans=span-sw")
    table.fails(2, "Spans", "span-sw", field="task")
    assert "Spans" in table.out
    assert "44.79" in table.out


def test_files_of_predictions_are_systems(cli, tmp_path):
    file = tmp_path / "bert=large.jsonl"
    assert (
        cli("predict", "sample:single-choice", "-s", "sw+d", "--ties", "first", "-o", file).code
        == 0
    )
    done = cli(
        "run",
        "sample:single-choice",
        "-s",
        f"BERT={file}",
        "-s",
        str(file),
        "-s",
        "swd",
        "--format",
        "json",
    )
    assert [row["name"] for row in done.rows] == ["BERT", "bert=large", "sw+d"]
    assert len({row["metrics"]["accuracy"] for row in done.rows}) == 1
    assert [row["block"] for row in done.rows] == ["given scores", "given scores", "learns nothing"]
    assert "BERT" not in done.rows[0]["signature"]
    done = cli("run", "sample:single-choice", "-s", f"{tmp_path}/none.jsonl")
    done.fails(3, source=f"{tmp_path}/none.jsonl")


def test_a_name_with_a_slash_is_explained(cli):
    done = cli("run", "sample:single-choice", "-s", "SW/D=swd")
    done.fails(3, "the name in NAME=SYSTEM has none of", source="SW/D=swd")


def test_intervals_are_in_the_table_and_explained(cli, forty_questions):
    table = cli("run", forty_questions, "-s", "longest", "--intervals", "200").out
    assert "longest  32.50 [" in table
    assert "effective sample size of 40 passages" in " ".join(table.split())


@pytest.mark.parametrize(
    "order", [("--intervals", "50", "DATA"), ("--intervals", "DATA"), ("DATA", "--intervals")]
)
def test_intervals_may_stand_anywhere(cli, single, order):
    arguments = [single if word == "DATA" else word for word in order]
    done = cli("run", *arguments, "-s", "longest", "--format", "json", "--quiet")
    assert done.run["resampling"]["resamples"] == (50 if "50" in order else 10_000)


def test_wrong_tuning_data_loses_only_what_is_tuned(cli):
    done = cli("run", "sample:multiple-answer", "-s", "longest", "--tune", "sample:single-choice")
    done.fails(2, "sample:single-choice", "multiple-answer", field="tuning data")
    assert "all-positive  63.50" in done.out


def test_questions_without_passages_are_rows_and_dashes(cli, write):
    questions = [
        {"id": "1", "question": "What barks?", "candidates": ["a dog", "a cat"], "gold": 0},
        {
            "id": "2",
            "question": "What swims in rivers?",
            "candidates": ["a lamp", "a trout"],
            "gold": 1,
        },
    ]
    path = write("arc.jsonl", questions)
    plain = cli("run", path)
    assert (plain.code, plain.messages("error")) == (0, [])
    assert re.search(r"^ir:passage .*– +–", plain.out, re.MULTILINE)
    assert "Search an index: -s ir,corpus=DIR" in plain.out
    cli("run", path, "-s", "ir:clark2016").fails(3, "no question has a passage")
    mixed = write("mixed.jsonl", [{**questions[0], "passage": "Dogs bark."}, questions[1]])
    cli("run", mixed).fails(3, "'passage'", where="line 2")
