"""``classic-rc run``: each option does what it says."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from importlib import import_module

import joblib
import pytest

from classic_rc import __version__
from classic_rc.cli import run as run_command
from classic_rc.cli.main import main
from classic_rc.datasets import load
from classic_rc.evaluation import fitted_system as scoring
from classic_rc.io.progress import Progress
from classic_rc.questions import Task
from classic_rc.solvers import parse_solver, registry
from classic_rc.testing import synthetic_dataset

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
    (note,) = done.err.splitlines()
    assert note.startswith("classic-rc: note: sample:multi-span: ")
    assert "EM" in note


def test_several_datasets_are_several_tables_in_their_order(cli, single, several):
    done = cli("run", several, single, "-s", "random")
    assert done.code == 0
    titles = [line.split(" ", 1)[0] for line in done.out.splitlines() if "questions" in line]
    assert titles == ["several", "single"]


def test_a_folder_is_a_table_for_each_dataset_and_one_with_pool(cli, write):
    row = {"passage": "Ann saw a cat.", "candidates": ["Ann", "Bob"], "gold": 0}
    for split in ("train", "dev"):
        lines = [json.dumps({**row, "question": f"{split} {i}?"}) for i in range(3)]
        path = write(f"own/{split}.jsonl", "\n".join(lines))
    write("own/notes.md", "# notes")
    args = (path.parent, "-s", "longest")
    done = json_of(cli, *args)
    assert [(run["dataset"]["name"], run["dataset"]["questions"]) for run in done.json["runs"]] == [
        ("dev", 3),
        ("train", 3),
    ]
    assert done.messages("note", "notes.md")
    pooled = json_of(cli, *args, "--pool", "--by", "split")
    assert (pooled.run["dataset"]["name"], pooled.run["dataset"]["questions"]) == ("own", 6)
    assert {value: group["questions"] for value, group in pooled.rows[0]["groups"].items()} == {
        "dev": 3,
        "train": 3,
    }
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
    done = json_of(cli, single, "-s", "sw+d:mctest160", "-s", "sliding-window,window=3,analyzer=whitespace")
    first, second = done.rows
    assert (first["solver"], first["variant"], first["params"]["distance_weight"]) == ("sw+d", "mctest160", 10)
    assert (second["solver"], second["variant"]) == ("sliding-window", None)
    assert (second["params"]["window"], second["params"]["analyzer"]) == (3, "whitespace")
    assert "window:3" in second["signature"]
    assert "analyzer:whitespace" in second["signature"]


def test_all_positive_is_added_if_several_answers_can_be_right(cli, several, single):
    assert [row["solver"] for row in json_of(cli, several, "-s", "longest").rows] == ["all-positive", "longest"]
    assert len(json_of(cli, several, "-s", "all-positive").rows) == 1
    assert len(json_of(cli, single, "-s", "longest").rows) == 1


def test_reader_names_the_format(cli, single, write):
    assert json_of(cli, f"{single},reader=jsonl").run["dataset"]["reader"] == "jsonl"
    assert cli("run", f"{single},reader=mctest").code == 3


def test_split_and_subset_choose_parts(cli, own_files):
    race = own_files / "race"
    both, high = json_of(cli, race, "-s", "random"), json_of(cli, f"{race},subset=high", "-s", "random")
    assert (both.run["dataset"]["questions"], high.run["dataset"]["questions"]) == (8, 4)
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
    next_to_data = json_of(cli, own_files / "mctest" / "sample.dev.tsv", "-s", "longest").row("longest")
    assert with_answers["metrics"] == next_to_data["metrics"]


def test_fields_and_gold_as_read_a_file_of_ones_own(cli, write):
    rows = [{"story": "It rained all day.", "q": {"text": "How was it?"}, "options": ["dry", "wet"], "right": "B"}]
    mine = write("mine.jsonl", rows)
    fields = "passage=story,question=q.text,candidates=options,gold=right"
    done = json_of(cli, mine, "--fields", fields, "--gold-as", "letter", "-s", "constant-position:last")
    assert done.row("constant-position")["metrics"] == {"accuracy": 1.0}
    assert cli("run", mine).code == 3


def test_spans_sets_how_long_candidates_may_be(cli):
    short, long = (json_of(cli, f"sample:multi-span,spans={k}", "-s", "random").run["dataset"] for k in ("1", "3"))
    assert short["candidates"] < long["candidates"]
    assert "max_tokens=1" in short["spans"]
    assert "max_tokens=3" in long["spans"]
    assert short["fingerprint"] == long["fingerprint"]


def test_train_teaches_the_majority_position(cli, single, write):
    lasts = write("train.jsonl", [{"passage": "p", "question": "q", "candidates": ["a", "b", "c"], "gold": 2}])
    row = json_of(cli, single, "--train", lasts, "-s", "constant-position:majority").row("constant-position")
    assert row["trained_on"] == "train"
    assert row["metrics"] == {"accuracy": 0.0}
    assert "trained_on:train@" in row["signature"]


CHOICE = {"question": "q", "candidates": ["a", "b", "c"]}


def test_train_takes_several_files(cli, single, write):
    firsts = write("firsts.jsonl", [{**CHOICE, "passage": "First.", "gold": 0}])
    lasts = write("lasts.jsonl", [{**CHOICE, "passage": f"Last {i}.", "gold": 2} for i in range(2)])
    majority = ("-s", "constant-position:majority")
    done = cli("run", single, "--train", firsts, "--train", lasts, *majority, "--format", "json")
    row = done.row("constant-position")
    assert (row["trained_on"], row["block"]) == ("firsts + lasts", "trained")
    assert row["metrics"] == json_of(cli, single, "--train", lasts, *majority).row("constant-position")["metrics"]
    assert done.messages("note", "firsts + lasts", "all ids now begin with their dataset's name")
    other = json_of(cli, single, "--train", lasts, "--train", firsts, *majority).row("constant-position")
    digests = {re.search(r"trained_on:[^@]+@(\w+)", made["signature"])[1] for made in (row, other)}
    assert len(digests) == 2


def test_train_takes_a_folder(cli, single, write, tmp_path):
    (tmp_path / "lessons").mkdir()
    for i, gold in enumerate((0, 2, 2)):
        write(f"lessons/part{i}.jsonl", [{**CHOICE, "id": f"q{i}", "passage": f"Text {i}.", "gold": gold}])
    majority = ("-s", "constant-position:majority")
    row = json_of(cli, single, "--train", tmp_path / "lessons", *majority).row("constant-position")
    (lasts, firsts) = (
        json_of(cli, single, "--train", tmp_path / "lessons" / f"part{i}.jsonl", *majority).row("constant-position")
        for i in (2, 0)
    )
    assert row["metrics"] == lasts["metrics"] != firsts["metrics"]
    again = tmp_path / "lessons" / "part0.jsonl"
    done = cli("run", single, "--train", tmp_path / "lessons", "--train", again, *majority)
    done.fails(2, "lessons", "part0", "1 questions", "q0", field="datasets")


def test_what_several_training_files_share_with_the_data_is_left_out(cli, single, write):
    shared = write("shared.jsonl", [json.loads(line) for line in single.read_text(encoding="utf-8").splitlines()])
    other = write("other.jsonl", [{**CHOICE, "id": "other", "passage": "Another text.", "gold": 2}])
    args = (single, "--train", other, "--train", shared, "-s", "constant-position:majority")
    told = cli("run", *args)
    assert told.messages("warning", "other + shared shares")
    assert cli("run", *args, "--drop-overlap").messages("warning", "other + shared shares", "left out")
    alone = json_of(cli, single, "--train", other, "-s", "constant-position:majority").row("constant-position")
    dropped = json_of(cli, *args, "--drop-overlap").row("constant-position")
    assert dropped["metrics"] == alone["metrics"]
    assert dropped["signature"].partition("@")[0].endswith("other + shared")


@pytest.mark.parametrize(
    ("files", "facts"),
    [
        (["sample:single-choice", "sample:single-choice"], ["24 questions", "give every file once"]),
        (["sample:single-choice", "sample:cloze"], ["different tasks", "single-choice", "cloze"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_training_files_that_cannot_be_one(cli, single, command, files, facts):
    done = cli(command, single, *(part for file in files for part in ("--train", file)))
    done.fails(2, *facts, field="datasets")


def names_of(rows):
    return [r["solver"] + (f":{r['variant']}" if r["variant"] else "") for r in rows]


RANKERS = ["feature-ranker", "feature-ranker:no-passage", "feature-ranker:candidates"]


def test_with_something_to_learn_from_the_default_set_has_what_learns(cli):
    rows = json_of(cli, "sample:single-choice", "--train", "sample:single-choice").rows
    assert names_of(rows)[-5:] == ["constant-position:majority", "surface-lr", *RANKERS]
    assert json_of(cli, "sample:multi-span", "--cv", "2").rows[-1]["solver"] == "span-ranker"


@pytest.mark.parametrize("learning", [("--train", "sample:single-choice"), ("--cv", 2)])
def test_a_slow_learner_is_left_out_of_the_default_set_when_there_is_much_to_learn_from(cli, monkeypatch, learning):
    n = len(load("sample:single-choice"))
    monkeypatch.setitem(registry.MOST_TRAINING_QUESTIONS, "feature-ranker", n)
    assert "feature-ranker" in names_of(json_of(cli, "sample:single-choice", *learning).rows)
    monkeypatch.setitem(registry.MOST_TRAINING_QUESTIONS, "feature-ranker", n - 1)
    done = json_of(cli, "sample:single-choice", *learning)
    assert "feature-ranker" not in names_of(done.rows)
    assert done.messages("note", "feature-ranker is left out", "-s")


def test_the_feature_ranker_comes_with_its_partial_inputs(cli):
    def rows(*args):
        return names_of(json_of(cli, "sample:single-choice", "--cv", 2, *args).rows)

    assert rows("-s", "feature-ranker") == RANKERS
    assert rows("-s", "feature-ranker:candidates", "-s", "feature-ranker") == [RANKERS[2], *RANKERS[:2]]
    assert rows("-s", "feature-ranker:no-passage") == [RANKERS[1]]
    own = json_of(cli, "sample:single-choice", "--cv", 2, "-s", "feature-ranker,C=0.1").rows
    assert names_of(own) == RANKERS
    assert all(row["params"]["C"] == 0.1 for row in own)


def test_train_split_chooses_what_to_learn_from(cli, single, write):
    row = {"passage": "p", "question": "q", "candidates": ["a", "b", "c"]}
    both = write("both.jsonl", [{**row, "gold": 0, "split": "train"}, {**row, "gold": 2, "split": "dev"}])
    args = (single, "-s", "constant-position:majority", "--train")
    first, last = (
        json_of(cli, *args, f"{both},split={split}").row("constant-position") for split in ("train", "dev")
    )
    assert (first["metrics"]["accuracy"], last["metrics"]["accuracy"]) == (pytest.approx(1 / 3), 0)


def test_training_data_of_another_task_is_left_to_those_it_suits(cli):
    done = cli("run", "sample:single-choice", "sample:cloze", "--train", "sample:cloze", "-s", "random")
    assert done.code == 0
    assert done.messages("warning", "training data", "sample:cloze")
    assert cli("run", "sample:single-choice", "--train", "sample:cloze").code == 0


def test_threshold_takes_the_place_of_tuning(cli, several):
    done = json_of(cli, several, "--threshold", "4.5", "-s", "longest")
    row = done.row("longest")
    assert (row["threshold"], row["tuned_on"]) == (4.5, None)
    # "beans" and "a fence", "an uncle" and "a rabbit", and so on: everything but "Omar".
    assert row["selected_share"] == pytest.approx(9 / 10)
    assert "threshold:4.5" in row["signature"]


def test_tune_chooses_the_threshold_on_other_data(cli, several, write):
    other = write("other.jsonl", list(_several_elsewhere()))
    row = json_of(cli, several, "--tune", other, "-s", "longest").row("longest")
    assert (row["tuned_on"], row["tuned_here"]) == ("other", False)
    assert isinstance(row["threshold"], float)
    assert "tuned_on:other@" in row["signature"]


def _several_elsewhere():
    for number in range(3):
        yield {
            "passage": f"Passage {number}.",
            "question": "Which?",
            "candidates": ["tiny", "enormously long"],
            "gold": [1],
        }


def test_tune_split_chooses_what_to_tune_on(cli, several, write):
    long_is_right = [{**row, "split": "train"} for row in _several_elsewhere()]
    all_are_right = [{**row, "gold": [0, 1], "split": "dev"} for row in _several_elsewhere()]
    both = write("both.jsonl", [*long_is_right, *all_are_right])
    args = (several, "-s", "longest", "--tune")
    train, dev = (
        json_of(cli, *args, f"{both},split={split}").row("longest")["threshold"] for split in ("train", "dev")
    )
    assert train > dev


def test_a_row_tuned_on_its_own_data_is_marked_and_followed_by_the_out_of_fold_row(cli, several, tmp_path):
    copy = tmp_path / "another name.jsonl"
    copy.write_bytes(several.read_bytes())
    here, cv5 = json_of(cli, several, "--tune", copy, "-s", "longest", "-s", "all-positive").rows[:2]
    assert (here["tuned_on"], here["tuned_here"]) == ("another name", True)
    assert (cv5["tuned_on"], cv5["tuned_here"]) == ("cv5", False)
    assert isinstance(cv5["threshold"], list)
    table = cli("run", several, "--tune", copy, "-s", "longest").out
    assert "tuned on another name = THIS DATA" in table


def test_tune_metric_is_what_thresholds_are_tuned_for(cli, several):
    args = (several, "--tune", several, "-s", "longest", "--tune-metric")
    best = {m: json_of(cli, *args, m).rows[1]["metrics"] for m in ("em0", "f1_a", "em1")}
    for metric, metrics in best.items():
        assert metrics[metric] == max(other[metric] for other in best.values())


@pytest.mark.parametrize(("ties", "accuracy"), [("partial", 0.25), ("first", 1.0), ("strict", 0.0)])
def test_ties_are_resolved_by_the_policy(cli, write, ties, accuracy):
    rows = [{"passage": "p", "question": "q", "candidates": ["aa", "bb", "cc", "dd"], "gold": 0}]
    row = json_of(cli, write("ties.jsonl", rows), "-s", "longest", "--ties", ties).row("longest")
    assert row["metrics"]["accuracy"] == accuracy
    assert (row["ties"], row["tie_rate"]) == (ties, 1.0)


def test_seed_changes_what_is_drawn_and_nothing_else(cli):
    args = ("sample:single-choice", "-s", "longest", "--ties", "random", "--seed")
    rows = [json_of(cli, *args, seed).row("longest") for seed in (0, 0, 1, 2, 3, -7)]
    accuracies = [row["metrics"]["accuracy"] for row in rows]
    assert accuracies[0] == accuracies[1]
    assert len(set(accuracies)) > 1
    assert [row["seed"] for row in rows] == [0, 0, 1, 2, 3, -7]
    without = [json_of(cli, *args[:3], "--seed", seed).row("longest")["metrics"] for seed in (0, 1)]
    assert without[0] == without[1]


def test_group_by_breaks_the_metrics_down(cli, single):
    row = json_of(cli, single, "--by", "kind", "-s", "constant-position:first").row("constant-position")
    assert row["groups"] == {
        "what": {"questions": 1, "metrics": {"accuracy": 1.0}},
        "when": {"questions": 1, "metrics": {"accuracy": 0.0}},
        "who": {"questions": 1, "metrics": {"accuracy": 0.0}},
    }
    header = cli("run", single, "--by", "level", "-s", "random").out.splitlines()[1]
    assert header.index("Acc. 9 (1)") < header.index("Acc. 10 (1)") < header.index("Acc. ? (1)")


def test_jobs_change_no_bit(cli, monkeypatch):
    monkeypatch.setattr(scoring, "MIN_SHARD_PASSAGES", 1)
    scored = []
    plain = scoring._checked
    monkeypatch.setattr(scoring, "_checked", lambda *args: scored.append(len(args[1])) or plain(*args))
    args = ("sample:single-choice", "-s", "sw+d", "-s", "sliding-window:mcobzarenco")
    with joblib.parallel_config(backend="threading"):
        one, two, all_cores = (json_of(cli, *args, "--jobs", jobs).rows for jobs in ("1", "2", "-1"))
    assert scored[:2] == [24, 24]
    assert len(scored) > 6
    assert max(scored[2:6]) < 24
    for rows in (two, all_cores):
        assert [row["metrics"] for row in rows] == [row["metrics"] for row in one]
        assert [row["signature"] for row in rows] == [row["signature"] for row in one]


def test_quiet_keeps_notes_to_itself(cli, single):
    args = ("run", single, "-s", "random", "--threshold", "1")
    assert cli(*args).messages("warning", "threshold 1")
    assert cli(*args, "--quiet").err == ""


def test_options_that_nothing_uses_are_named(cli, single):
    done = cli("run", single, "-s", "random", "--ties", "first", "--tune", single, "--tune-metric", "em0")
    assert done.code == 0
    for facts in (("tuning data", "single"), ("'em0'",)):
        assert done.messages("warning", *facts)
    assert "'first'" not in done.err
    several = cli("run", "sample:multiple-answer", "-s", "all-negative", "--ties", "first")
    assert several.messages("warning", "'first'")


def test_save_keeps_the_run_with_every_outcome(cli, single, tmp_path):
    folder = tmp_path / "runs" / "today"
    done = cli("run", single, "-s", "longest", "--save", folder)
    assert done.code == 0
    assert "longest" in done.out
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    (run,) = record["runs"]
    assert run["dataset"]["sources"][0]["path"] == str(single)
    assert len(run["dataset"]["sources"][0]["sha256"]) == 64
    assert set(run["rows"][0]["outcomes"]) == {"q1", "q2", "q3"}
    assert run["rows"][0]["outcomes"]["q1"]["answer"] == [2]
    assert record["environment"]["packages"]["numpy"]


ROW_KEYS = {
    *("solver", "variant", "signature", "params", "metrics", "expected", "tie_rate", "ties", "seed", "threshold"),
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
            assert set(document["times"][f"/runs/{i}/rows/{j}"]) == {"read", "encode", "fit", "score"}
            assert row["questions"] == run["dataset"]["questions"]
            assert row["expected"] is (row["solver"] == "random")
            assert (row["tie_rate"] is None) is (row["ties"] is None)


def test_csv_has_a_record_for_each_row_of_each_dataset(cli, single, several):
    done = cli("run", single, several, "-s", "random", "-s", "longest", "--format", "csv")
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


def test_markdown_and_latex(cli, single):
    markdown = cli("run", single, "-s", "random", "--format", "markdown").out
    assert "| system | Acc. | ties | notes |\n|---|---:|---:|---|\n| random | 33.33 |" in markdown
    latex = cli("run", single, "-s", "random", "--format", "latex").out
    assert "\\begin{tabular}{@{}l*{2}{r}l@{}}" in latex
    assert "\nrandom & 33.33 & -- & expectation" in latex


def test_save_onto_a_file_is_refused_before_anything_is_read(cli, single):
    done = cli("run", single, "--save", single)
    done.fails(2, "folder", field="--save", found=str(single))
    assert done.out == ""


def test_run_takes_the_same_keys(cli, single):
    done = cli("run", single, "-s", "longest", "--by", "question-type", "--format", "json")
    assert {name: group["questions"] for name, group in done.rows[0]["groups"].items()} == {
        "what": 1,
        "who": 1,
        "when": 1,
    }


def test_a_baseline_is_tested_against(cli):
    done = cli(
        "run", "sample:single-choice", "-s", "sw+d", "-s", "longest", "--baseline", "longest", "--format", "json"
    )
    assert done.run["significance"]["baseline"] == "longest"
    assert 0 < done.row("sw+d")["p_values"]["accuracy"] <= 1
    assert done.row("longest")["p_values"] == {}
    table = cli("run", "sample:single-choice", "-s", "sw+d", "-s", "longest", "--baseline", "longest")
    assert "*: Acc. differs from longest, p < 0.05" in table.out


def test_a_baseline_need_not_be_named_again(cli):
    done = cli("run", "sample:single-choice", "-s", "A=longest", "--baseline", "B=sw", "--format", "json")
    assert [row["name"] for row in done.rows] == ["A", "B"]
    assert done.run["significance"]["baseline"] == "B"
    done = cli(
        "run", "sample:single-choice", "-s", "A=longest", "-s", "swd", "--baseline", "longest", "--format", "json"
    )
    assert [row["name"] for row in done.rows] == ["A", "sw+d"]
    assert done.run["significance"]["baseline"] == "A"


def test_a_baseline_that_is_no_system_is_refused_before_anything_runs(cli):
    done = cli("run", "sample:single-choice", "-s", "Longest=longest", "--baseline", "Longst")
    done.fails(2, field="baseline", found="Longst")
    assert not done.out


def test_a_baseline_without_a_row_loses_no_other_row(cli):
    systems = ("-s", "SW=sw", "-s", "L=longest", "--baseline", "Frequency=max-frequency")
    done = cli("run", "sample:single-choice", "sample:cloze", *systems, "--format", "json")
    assert done.code == 0, done.err
    single, cloze = done.json["runs"]
    assert [row["name"] for row in single["rows"]] == ["SW", "L"]
    assert "significance" not in single
    assert cloze["significance"]["baseline"] == "Frequency"
    assert done.messages("warning", "nothing is tested against the baseline Frequency: it has no row here")
    done = cli("run", "sample:single-choice", "-s", "SW=sw", "--baseline", "SW")
    assert done.code == 0
    assert "44.79" in done.out
    assert done.messages("warning", "nothing is tested against the baseline SW: it is the only row")


def test_systems_that_do_not_fit_are_dashes_with_their_reasons(cli):
    both = ("sample:single-choice", "sample:multi-span")
    done = cli("run", *both, "-s", "sw", "-s", "Spans=span-sw", "-s", "L=longest", "--format", "json")
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
    assert cli("predict", "sample:single-choice", "-s", "sw+d", "--ties", "first", "-o", file).code == 0
    done = cli(
        "run", "sample:single-choice", "-s", f"BERT={file}", "-s", str(file), "-s", "swd", "--format", "json"
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


def test_a_run_with_a_baseline_comes_out_again(cli, single, tmp_path):
    cli(
        "run",
        single,
        "-s",
        "sw+d",
        "-s",
        "longest",
        "--baseline",
        "sw+d",
        "--by",
        "kind",
        "--intervals",
        50,
        "--save",
        tmp_path,
    )
    assert cli("reproduce", tmp_path / "run.json").code == 0


def test_every_row_gets_them(cli, many):
    done = cli("run", many, "-s", "random", "-s", "longest", "--intervals", "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert done.run["resampling"] == {"level": 0.95, "resamples": 10_000, "seed": 0, "groups": 40, "group": None}
    assert done.rows[0]["intervals"] == {"accuracy": [0.5, 0.5]}
    low, high = done.rows[1]["intervals"]["accuracy"]
    assert low < done.rows[1]["metrics"]["accuracy"] < high


def test_they_are_in_the_table_the_csv_and_the_record(cli, many, tmp_path):
    args = ("run", many, "-s", "longest", "--intervals", "200")
    table = cli(*args, "--save", tmp_path / "saved").out
    assert "longest  32.50 [" in table
    assert "95 % interval: 200 resamples of 40 passages, seed 0" in table
    (record,) = cli(*args, "--format", "csv").records
    saved = json.loads((tmp_path / "saved" / "run.json").read_text(encoding="utf-8"))["runs"][0]["rows"][0]
    assert [float(record["accuracy_low"]), float(record["accuracy_high"])] == saved["intervals"]["accuracy"]


def test_without_the_option_there_are_none(cli, many):
    done = cli("run", many, "-s", "longest", "--format", "json")
    assert done.run["resampling"] is None
    assert done.rows[0]["intervals"] == {}
    assert "[" not in cli("run", many, "-s", "longest").out


def test_the_seed_is_that_of_everything_drawn(cli, many):
    args = ("run", many, "-s", "longest", "--intervals", "100", "--format", "json")
    zero, none, one = (cli(*args, *seed).rows[0]["intervals"] for seed in (["--seed", 0], [], ["--seed", 1]))
    assert zero == none != one


def test_group_keeps_passages_together(cli, write):
    rows = [
        {
            "passage": f"{i}",
            "question": "?",
            "candidates": ["a", "bb"],
            "gold": i // 20,
            "meta": {"author": i // 20},
        }
        for i in range(40)
    ]
    done = cli(
        "run", write("a.jsonl", rows), "-s", "longest", "--intervals", "--group", "author", "--format", "json"
    )
    assert done.rows[0]["intervals"] == {"accuracy": [0, 1]}
    assert done.run["resampling"]["group"] == "author"


def test_few_passages_are_warned_about(cli, single):
    done = cli("run", single, "-s", "longest", "--intervals")
    assert done.messages("warning", "intervals", "2 passages", "30")
    assert "too narrow" in done.out
    assert cli("run", single, "-s", "longest", "--intervals", "--quiet").err == ""


@pytest.mark.parametrize("n", ["0", "-5", "many"])
def test_a_wrong_number_is_refused(cli, single, n):
    cli("run", single, f"--intervals={n}").fails(2, n, field="--intervals")


@pytest.mark.parametrize("order", [("--intervals", "50", "DATA"), ("--intervals", "DATA"), ("DATA", "--intervals")])
def test_intervals_may_stand_anywhere(cli, single, order):
    arguments = [single if word == "DATA" else word for word in order]
    done = cli("run", *arguments, "-s", "longest", "--format", "json", "--quiet")
    assert done.run["resampling"]["resamples"] == (50 if "50" in order else 10_000)


def test_the_table_of_a_dataset_is_printed_when_it_is_finished(cli, single, several, monkeypatch, capsys):
    printed = []
    real = run_command._evaluate

    def evaluate(args, data, *more):
        printed.append(capsys.readouterr().out)
        return real(args, data, *more)

    monkeypatch.setattr(run_command, "_evaluate", evaluate)
    main(["run", str(several), str(single), "-s", "random"])
    printed.append(capsys.readouterr().out)
    assert printed[0] == ""
    assert [text.strip().split()[0] for text in printed[1:]] == ["several", "single"]
    monkeypatch.undo()
    assert "".join(printed) == cli("run", several, single, "-s", "random").out


def test_finished_rows_are_told_at_once_and_in_order(monkeypatch):
    told, evaluation = [], import_module("classic_rc.evaluation.evaluate")

    class Recorder(Progress):
        def stage(self, name):
            told.append(name)

        def finished(self, result):
            told.append(result)

    monkeypatch.setattr(evaluation, "progress_bar", lambda *args: nullcontext(Recorder()))
    made = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, name="made")
    rows = evaluation.evaluate(made, [parse_solver("longest"), parse_solver("sw+d")], progress=True).rows
    values = [f"{100 * row.metrics()['accuracy']:.2f}" for row in rows]
    assert told[-6:] == [
        "fitting longest",
        "scoring longest",
        f"made: longest: Acc. {values[0]}",
        "fitting sw+d",
        "scoring sw+d",
        f"made: sw+d: Acc. {values[1]}",
    ]


def test_wrong_tuning_data_loses_only_what_is_tuned(cli):
    done = cli("run", "sample:multiple-answer", "-s", "longest", "--tune", "sample:single-choice")
    done.fails(2, "sample:single-choice", "multiple-answer", field="tuning data")
    assert "all-positive  63.50" in done.out
