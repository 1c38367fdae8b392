"""``run -s FILE`` gives predictions by ``predict`` the numbers of their solver, and measures
released ones.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from classic_rc.datasets import load
from classic_rc.decisions import Threshold
from classic_rc.formats import get_format, write_predictions
from classic_rc.metrics import metrics_for
from classic_rc.predictions import Prediction
from classic_rc.questions import Task
from classic_rc.running.evaluate import predict
from classic_rc.solvers.trivial import LongestCandidate
from tests.depth import thinned

SCORES = [
    ("sample:single-choice", "sw+d:mctest160", "mctest-scores"),
    ("sample:multiple-answer", "sw+d", "multirc"),
    ("superglue-multirc", "word-distance", "jsonl"),
    ("sample:cloze", "max-frequency", "jsonl"),
]


@pytest.mark.parametrize(("name", "solver", "form"), SCORES)
def test_scores_come_back_as_what_run_measures(cli, data, tmp_path, name, solver, form):
    out = tmp_path / "scores"
    done = cli("predict", data(name), "-s", solver, "--format", form, "--scores", "-o", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    scored = cli("run", data(name), "-s", out, "--format", "json").row("score-file")
    ran = cli("run", data(name), "-s", solver, "--format", "json").row(solver.split(":")[0])
    for key in ("metrics", "tie_rate", "ties", "selected_share", "threshold"):
        assert scored[key] == ran[key]
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    assert f"|file:{digest}|" in scored["signature"]
    assert "path" not in scored["signature"]
    if form == "jsonl":
        assert scored["no_evidence"] == ran["no_evidence"]


def test_options_for_scores_change_nothing_where_there_are_only_decisions(
    cli, multiple_answer, forty_questions, files, tmp_path
):
    out = tmp_path / "decisions.json"
    cli("predict", multiple_answer, "-s", "longest", "--format", "multirc", "-o", out)
    plain = cli("run", multiple_answer, "-s", out, "--format", "json").row("score-file")
    for options in (["--threshold", "0.5"], ["--tune", multiple_answer], ["--tune-metric", "em0"]):
        done = cli("run", multiple_answer, "-s", out, *options, "--format", "json")
        assert done.row("score-file") == plain
        assert done.messages("warning", options[0].strip("-").replace("-", "_"))
    done = cli(
        "run",
        forty_questions,
        "-s",
        files["longest"],
        "--ties",
        "first",
        "--seed",
        "3",
        "--intervals",
        "100",
    )
    assert done.messages("warning", "longest", "ties")


def test_a_file_with_both_is_read_for_what_the_options_need(cli, multiple_answer, tmp_path):
    out = tmp_path / "both.jsonl"
    dataset = load(multiple_answer)
    with_scores = predict(dataset, LongestCandidate(decision=Threshold(value=4.5)))
    write_predictions(out, dataset, with_scores.scores, with_scores.predictions, "jsonl")
    decided = cli("run", multiple_answer, "-s", out, "--format", "json").row("score-file")
    with_threshold = cli(
        "run",
        multiple_answer,
        "-s",
        f"score-file,path={out}",
        "--threshold",
        "4.5",
        "--format",
        "json",
    ).row("score-file")
    assert decided["metrics"] == with_threshold["metrics"]
    assert (decided["threshold"], with_threshold["threshold"]) == (None, 4.5)


def test_the_format_of_a_file_is_named_before_it(cli, single, tmp_path):
    out = tmp_path / "scores"
    cli("predict", single, "-s", "longest", "--scores", "-o", out)
    done = cli("run", single, "-s", f"jsonl:{out}", "--by", "kind", "--format", "json")
    assert set(done.row("score-file")["groups"]) == {"who", "what", "when"}
    assert cli("run", single, "-s", f"multirc:{out}").code == 2
    assert cli("run", single, "-s", f"record:{out}").code == 2
    for form in ("table", "markdown", "latex", "csv"):
        assert "score-file" in cli("run", single, "-s", out, "-v", "--format", form).out


def test_unanswered_questions_score_0_and_are_counted(cli, write, tmp_path):
    answers = write("answers.json", '{"map-maker.1": ["Edda Fairweather", "Maud"]}')
    done = cli("run", "sample:multi-span", "-s", answers, "--format", "json")
    assert done.row("score-file")["metrics"]["quoref_em"] == pytest.approx(1 / 9)
    assert done.messages("warning", "8 of 9 questions")
    assert cli("run", "sample:multi-span", "-s", answers, "--quiet").err == ""


RELEASED = {
    "human-01": (86.44, 83.77, 56.56),
    "lucene_paragraphs": (64.25, 60.04, 7.45),
    "simpleLR": (66.53, 63.18, 11.75),
    "allOnes": (61.00, 59.95, 0.84),
}


@pytest.mark.parametrize("name", RELEASED)
def test_released_multirc_predictions(cli, shared_data, name):
    folder = shared_data / "multirc"
    done = cli(
        "run",
        folder / "dev_83-fixedIds.json",
        "-s",
        folder / "baseline-scores" / f"{name}.json",
        "--format",
        "json",
    )
    metrics = done.row("score-file")["metrics"]
    rounded = tuple(round(100 * metrics[metric], 2) for metric in ("f1_m", "f1_a", "em0"))
    assert rounded == RELEASED[name]


def test_released_multirc_scores_have_their_best_threshold_found(cli, shared_data):
    folder = shared_data / "multirc"
    raw = folder / "baseline-scores" / "raw" / "lucene_paragraphs-raw.json"
    dev = folder / "dev_83-fixedIds.json"
    here, cv5 = cli(
        "run", dev, "-s", raw, "--tune", dev, "--tune-metric", "f1_m", "--format", "json"
    ).rows[1:]
    fixed = cli("run", dev, "-s", raw, "--threshold", here["threshold"], "--format", "json").row(
        "score-file"
    )
    assert here["tuned_here"]
    assert fixed["metrics"] == here["metrics"]
    assert here["metrics"]["f1_m"] >= cv5["metrics"]["f1_m"]
    assert here["metrics"]["f1_m"] >= 0.6425


FILES = [
    ("mctest/mc160.dev.tsv", None),
    ("mctest/mc500.train.tsv", None),
    ("race/RACE-train-dev.tar.gz", "dev"),
    ("multirc/dev_83-fixedIds.json", None),
    ("multirc/train_456-fixedIds.json", None),
    ("multirc/superglue/val.jsonl", None),
    ("record/record_explorer_123.json", None),
    ("record/record_fixture_12.json", None),
    ("record/superglue_format_example.jsonl", None),
    ("quoref/quoref-dev-v0.1.json", None),
    ("dream/dev.json", None),
    ("mcscript/dev-data.xml", None),
]


def gold_answer(question):
    if question.task is Task.MULTIPLE_ANSWER:
        return question.gold
    if question.task is Task.SINGLE_CHOICE:
        return frozenset({min(question.gold)})
    return question.gold if question.task is Task.MULTI_SPAN else question.gold[:1]


@pytest.mark.parametrize(("file", "split"), thinned(FILES, 5))
def test_gold_scores_100_under_every_metric(cli, shared_data, tmp_path, file, split):
    path = shared_data / file
    dataset = load(path, split=split)
    gold = [Prediction(q.id, (gold_answer(q),), n_candidates=len(q.candidates)) for q in dataset]
    write_predictions(tmp_path / "gold", dataset, None, gold)
    options = ["--split", split] if split else []
    done = cli("run", path, "-s", tmp_path / "gold", *options, "--format", "json", "--quiet")
    metrics = done.row("score-file")["metrics"]
    assert metrics == dict.fromkeys([metric.name for metric in metrics_for(dataset.task)], 1.0)


def test_released_scores_are_an_mctest_score_file(cli, shared_data, tmp_path):
    data = shared_data / "mctest" / "mc160.dev.tsv"
    released = shared_data / "mctest" / "scores" / "Baseline_SW_D" / "mc160.dev.scores"
    done = cli("predict", data, "-s", "sw+d:mctest160", "--scores", "-o", tmp_path / "ours.scores")
    assert done.code == 0
    rows = []
    for path in (released, tmp_path / "ours.scores"):
        rows.append(cli("run", data, "-s", path, "--format", "json").rows[0])
    assert round(100 * rows[0]["metrics"]["accuracy"], 2) == 60.21
    assert rows[0]["metrics"] == rows[1]["metrics"]
    assert rows[0]["tie_rate"] == rows[1]["tie_rate"]


OFFICIAL = [
    ("mctest/mc160.dev.tsv", "sw+d", "mctest-answers", ["--ties", "first"], []),
    ("multirc/dev_83-fixedIds.json", "sw+d", "multirc", [], []),
    ("multirc/superglue/val.jsonl", "sw+d", "superglue", [], []),
    ("record/record_explorer_123.json", "sw+d", "record", ["--ties", "first"], []),
    ("record/superglue_format_example.jsonl", "sw+d", "superglue", ["--ties", "first"], []),
    pytest.param(
        "race/RACE-train-dev.tar.gz",
        "longest",
        "answers",
        ["--ties", "first"],
        ["--split", "dev"],
        marks=pytest.mark.ci,
    ),
    ("dream/dev.json", "sliding-window", "answers", ["--ties", "first"], []),
    ("mcscript/dev-data.xml", "sliding-window", "answers", ["--ties", "first"], []),
]


@pytest.mark.parametrize(("file", "solver", "form", "options", "reading"), thinned(OFFICIAL, 3))
def test_submissions_score_what_run_prints(
    cli, shared_data, tmp_path, file, solver, form, options, reading
):
    """Without an option, the format is the official one. A file has the first of tied answers,
    as --ties first.
    """
    out = tmp_path / "submission"
    assert cli("predict", shared_data / file, "-s", solver, *options, *reading, "-o", out).code == 0
    text = out.read_text(encoding="utf-8")
    assert get_format(form).recognises(text)
    assert not get_format(form).has_scores(text, str(out))

    def measure(named_file):
        done = cli("run", shared_data / file, "-s", named_file, *reading, "--format", "json")
        return done.row("score-file")

    detected, declared = measure(out), measure(f"{form}:{out}")
    ran = cli("run", shared_data / file, "-s", solver, *options, *reading, "--format", "json").row(
        solver
    )
    assert detected["metrics"] == declared["metrics"] == ran["metrics"]
    assert detected["selected_share"] == pytest.approx(ran["selected_share"])


@pytest.mark.parametrize(
    ("name", "file", "names"),
    [
        (
            "multirc",
            "multirc/dev_83-fixedIds.json",
            {"f1_m": "f1_m", "f1_a": "f1_a", "em0": "em0", "em1": "em1"},
        ),
        ("record", "record/record_explorer_123.json", {"exact_match": "em", "f1": "f1"}),
        ("quoref", "quoref/quoref-dev-v0.1.json", {0: "quoref_em", 1: "quoref_f1"}),
    ],
)
def test_files_score_what_the_official_scripts_said(
    cli, shared_data, shared_golden, tmp_path, name, file, names
):
    """The recorded output of the official scripts; ReCoRD's is in percent."""
    path = tmp_path / "official.json"
    cases = json.loads((shared_golden / f"{name}_metrics.json").read_text(encoding="utf-8"))[
        "cases"
    ]
    for case in cases:
        path.write_text(json.dumps(case["predictions"]), encoding="utf-8")
        metrics = cli("run", shared_data / file, "-s", path, "--format", "json").row("score-file")[
            "metrics"
        ]
        scale = 100 if name == "record" else 1
        expected = {ours: case["expected"][theirs] / scale for theirs, ours in names.items()}
        assert {ours: metrics[ours] for ours in expected} == pytest.approx(expected, abs=1e-9)


def test_a_file_is_written_in_another_format(cli, multiple_answer, single, tmp_path):
    answers = tmp_path / "llm.csv"
    answers.write_text("id,response\nq1,(A) and (B)\nq2,A\nq3,none\nq4,B\n", encoding="utf-8")
    rows = cli("predict", multiple_answer, "-s", answers, "--format", "multirc").json
    assert [row["scores"] for row in rows] == [[1, 1, 0], [1, 0], [0, 0, 0], [0, 1]]
    cli("predict", multiple_answer, "-s", answers, "--scores").fails(
        2, field="--scores", found="answers"
    )
    cli("predict", multiple_answer, "-s", answers, "--threshold", "1").fails(2, field="--threshold")
    scores = tmp_path / "scores.jsonl"
    cli("predict", single, "-s", "longest", "--scores", "-o", scores)
    assert cli("predict", single, "-s", scores, "--scores").out == scores.read_text(
        encoding="utf-8"
    )
    assert cli("predict", single, "-s", scores).out == cli("predict", single, "-s", "longest").out


def test_answers_that_say_nothing_are_counted_for_the_user(cli, single, tmp_path):
    answers = tmp_path / "llm.csv"
    answers.write_text('id,response\nq1,B\nq2,"I think, perhaps"\nq3,C\n', encoding="utf-8")
    done = cli("run", single, "-s", answers, "--format", "json")
    assert done.row("score-file")["metrics"]["accuracy"] == pytest.approx(1 / 3)
    assert done.messages("warning", "1 of 3 answers could not be parsed", "'q2'", "line 3")
    ran = cli("run", single, "-s", f"score-file,path={answers}", "--format", "json")
    assert ran.row("score-file")["metrics"] == done.row("score-file")["metrics"]
    assert ran.messages("warning", "1 of 3 answers could not be parsed")
    record = cli("run", single, "-s", f"LLM={answers}", "--format", "json")
    assert record.rows[0]["metrics"] == done.row("score-file")["metrics"]


@pytest.fixture
def files(cli, forty_questions, tmp_path):
    """Answers of three systems to the same questions."""
    for name in ("longest", "shortest", "random"):
        assert (
            cli(
                "predict",
                forty_questions,
                "-s",
                name,
                "--ties",
                "first",
                "-o",
                tmp_path / f"{name}.jsonl",
            ).code
            == 0
        )
    return {name: tmp_path / f"{name}.jsonl" for name in ("longest", "shortest", "random")}


def test_a_bad_file_does_not_lose_the_others(cli, forty_questions, single, files, tmp_path):
    bad = tmp_path / "other.csv"
    bad.write_text("id,answer\nx,A\n", encoding="utf-8")
    done = cli("run", forty_questions, "-s", files["longest"], "-s", bad, "--format", "json")
    assert done.code == 3
    assert [row["name"] for row in done.rows] == ["longest"]
    assert done.messages("error", bad, "unknown question id")
    cli("run", forty_questions, "-s", bad).fails(3, source=str(bad))
    cli("run", forty_questions, "-s", "A=longest", "-s", f"A={bad}").fails(2, "'A'", field="name")
    cli("run", forty_questions, "-s", tmp_path / "none.csv").fails(
        3, source=str(tmp_path / "none.csv")
    )
