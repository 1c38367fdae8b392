"""A user's own solvers, combinations, language models and span solvers in every sub-command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from classic_rc.datasets import load
from classic_rc.evaluation import evaluate
from classic_rc.solvers import parse_solver

GOOD = """
from classic_rc import Scores, Solver

class Shortest(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([-len(c.text) for c in q.candidates] for q in questions)

class Weighted(Shortest):
    def __init__(self, *, weight=1.0, decision=None):
        self.weight = weight
        self.decision = decision

class Peeks(Solver):
    '''Says that it learns nothing, and tries to remember the answers.'''
    def fit(self, questions, y=None):
        self.gold_ = {q.id: q.gold or () for q in questions}
        return self
    def score_candidates(self, questions):
        return Scores.from_lists(
            [float(i in self.gold_[q.id]) for i in range(len(q.candidates))] for q in questions
        )

class Unfinished(Solver):
    pass

class AFlatList(Shortest):
    def score_candidates(self, questions):
        return [0.0 for q in questions for c in q.candidates]

class TooFew(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([0.0] for q in questions)

class NotNumbers(Shortest):
    def score_candidates(self, questions):
        return Scores.from_lists([float("nan")] * len(q.candidates) for q in questions)
"""


@pytest.fixture
def own(write):
    return write("own.py", GOOD)


@pytest.mark.parametrize("task", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_one_method_is_enough_for_every_task(cli, own, task):
    mine = cli("run", f"sample:{task}", "-s", f"{own}:Shortest", "--format", "json").row("Shortest")
    assert mine["params"] == {}
    if "multi-span" not in task and "cloze" not in task:
        theirs = cli("run", f"sample:{task}", "-s", "shortest", "--format", "json").row("shortest")
        assert mine["metrics"] == theirs["metrics"]


def test_parameters_are_given_and_recorded(cli, own, single):
    row = cli("run", single, "-s", f"{own}:Weighted,weight=2.5", "--format", "json").row("Weighted")
    assert row["params"]["weight"] == 2.5
    assert "weight:2.5" in row["signature"]
    plain = cli("run", single, "-s", f"{own}:Weighted", "--format", "json").row("Weighted")
    assert "weight" not in plain["signature"]


def test_an_infinite_parameter_is_still_json(cli, own, single):
    row = cli("run", single, "-s", f"{own}:Weighted,weight=inf", "--format", "json").row("Weighted")
    assert row["params"]["weight"] == "inf"


def test_tie_policies_and_thresholds_apply_to_it(cli, own, write, several):
    rows = [{"passage": "p", "question": "q", "candidates": ["bb", "aa"], "gold": 1}]
    tied = write("tied.jsonl", rows)
    for ties, accuracy in (("partial", 0.5), ("first", 0.0)):
        done = cli("run", tied, "-s", f"{own}:Shortest", "--ties", ties, "--format", "json")
        assert done.row("Shortest")["metrics"]["accuracy"] == accuracy
    row = cli("run", several, "-s", f"{own}:Shortest", "--threshold", "-6.5", "--format", "json").row("Shortest")
    assert row["threshold"] == -6.5


def test_a_solver_that_learns_nothing_is_never_shown_gold(cli, own):
    row = cli("run", "sample:single-choice", "-s", f"{own}:Peeks", "--format", "json").row("Peeks")
    assert row["tie_rate"] == 1.0
    assert row["metrics"]["accuracy"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("name", "code", "facts"),
    [
        ("Shortst", 2, ["'Shortst'", "'Shortest'"]),
        ("", 2, ["solver class", "''", "Shortest"]),
        ("Unfinished", 2, ["Unfinished", "score_candidates(questions) -> Scores"]),
        ("AFlatList", 5, ["AFlatList", "a list of numbers for each question", "9 lists"]),
        ("TooFew", 5, ["TooFew", "3 scores", "9 candidates"]),
        ("NotNumbers", 5, ["NaN"]),
        ("Shortest,weight=2", 2, ["parameter", "Shortest", "'weight'"]),
    ],
)
def test_a_broken_solver_is_a_clear_error(cli, own, single, name, code, facts):
    cli("run", single, "-s", f"{own}:{name}").fails(code, *facts)


def test_a_syntax_error_names_its_line(cli, write, single):
    broken = write("broken.py", "x = 1\ndef f(:\n")
    done = cli("run", single, "-s", f"{broken}:Solver")
    done.fails(2, f"{broken}, line 2")


@pytest.fixture
def theirs(cli, single, tmp_path):
    """Somebody's scores of the single-answer questions."""
    path = tmp_path / "theirs.jsonl"
    assert cli("predict", single, "-s", "word-distance", "--scores", "-o", path).code == 0
    return path


def test_it_runs_next_to_its_members_and_its_record_can_be_rerun(cli, single, theirs, tmp_path):
    spec = f"combination,solvers=[score-file,path={theirs}; sw+d,window=4],weights=[1; 0.34],normalise=question"
    done = cli("run", single, "-s", spec, "-s", "sw+d", "--format", "json", "--save", tmp_path / "run")
    assert (done.code, done.err) == (0, "")
    params = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["runs"][0]["rows"][0]["params"]
    assert params["solvers"] == [f"score-file,path={theirs}", "sw+d,window=4"]
    again = f"combination,solvers=[{'; '.join(params['solvers'])}],weights=[1; 0.34],normalise=question"
    assert cli("run", single, "-s", again, "--format", "json").rows[0]["signature"] == done.rows[0]["signature"]
    assert repr(parse_solver(again)) == repr(parse_solver(spec))


@pytest.mark.parametrize("weights", ["tuned", "stacked"])
def test_weights_are_tuned_or_learned_out_of_fold_or_elsewhere(cli, several, single, weights):
    spec = f"combination,solvers=[sw+d; longest],weights={weights}"
    for data in (single, several):
        rows = cli("run", data, "-s", spec, "--cv", "2", "--format", "json").rows
        (row,) = (row for row in rows if row["solver"] == "combination")
        assert (row["tuned_on"] or row["trained_on"]) == "cv2"
        role = "--tune" if weights == "tuned" else "--train"
        done = cli("run", data, "-s", spec, role, data)
        assert done.code == 0
        assert re.search(r"weights [\d.]+; [\d.]+" if weights == "tuned" else "learned from", done.out)
    done = cli("run", single, "-s", spec, "-s", "surface-lr")
    done.fails(2, "gold", "--train DATA")


def test_it_is_explained_predicted_and_drawn(cli, single, several, theirs):
    spec = f"combination,solvers=[score-file,path={theirs}; sw+d],weights=[1; 0.34]"
    explained = cli("explain", single, "q1", "-s", spec, "--format", "json").json
    numbers = explained["candidates"][1]["numbers"]
    assert numbers["sw+d weight"] == 0.34
    assert numbers["score-file share"] + numbers["sw+d share"] == pytest.approx(explained["candidates"][1]["score"])
    assert cli("predict", single, "-s", spec, "--scores").out.count("score") == 9
    done = cli("run", several, "--figure", "pr", "-s", "combination,solvers=[sw+d; longest]", "-s", "sw+d")
    assert (done.code, done.err) == (0, "")
    assert "\ncombination,macro," in done.out


def test_it_is_fitted_once_and_run_from_its_file(cli, single, theirs, tmp_path):
    path = tmp_path / "both.npz"
    spec = f"combination,solvers=[score-file,path={theirs}; surface-lr],weights=stacked"
    done = cli("fit", single, "-s", spec, "-o", path)
    assert done.code == 0
    saved = cli("run", single, "-s", f"saved,path={path}", "--format", "json").rows[0]
    fresh = cli("run", single, "-s", spec, "--train", single, "--format", "json").rows[0]
    assert saved["metrics"] == fresh["metrics"]
    assert saved["trained_on"] == "single"
    assert any(str(path) in caveat for caveat in saved["caveats"])


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("combination,solvers=[sw+d; rte]", ["combination", "'rte'"]),
        ("combination,solvers=[sw+d; ir", ["[sw+d; ir"]),
        ("combination,solvers=[sw+d; ir],weights=[1]", ["weights", "2"]),
        ("combination:mctest160-rte", ["score-file", "path=FILE"]),
        ("combination", ["combination", "solvers=[A; B]"]),
    ],
)
def test_errors_are_one_line(cli, single, spec, facts):
    done = cli("run", single, "-s", spec)
    done.fails(2, *facts)
    assert done.out == ""
    assert done.err.count("\n") == 1


def test_a_score_file_of_other_data_is_refused(cli, single, several, theirs):
    cli("run", several, "-s", f"score-file,path={theirs}").fails(3, source=str(theirs))


@pytest.mark.parametrize("spec", ["ngram-lm", "ngram-lm,order=2,corpus=passages+queries,cache_weight=0.1"])
def test_a_language_model_is_run_from_its_file(cli, tmp_path, spec):
    model = tmp_path / "model"
    done = cli("fit", "sample:cloze", "-s", spec, "-o", model)
    assert done.code == 0
    assert f"-s saved,path={model}" in done.err
    saved = cli("run", "sample:cloze", "-s", f"saved,path={model}", "--format", "json")
    anew = cli("run", "sample:cloze", "-s", spec, "--train", "sample:cloze", "--format", "json")
    assert saved.row("saved:ngram-lm")["metrics"] == anew.row("ngram-lm")["metrics"]


def test_a_damaged_language_model_is_refused(cli, tmp_path):
    model = tmp_path / "model"
    cli("fit", "sample:cloze", "-s", "ngram-lm", "-o", model)
    content = model.read_bytes()
    model.write_bytes(content[: len(content) // 2])
    done = cli("run", "sample:cloze", "-s", f"saved,path={model}")
    done.fails(3, "`classic-rc fit", source=str(model))
    assert done.out == ""


def test_a_text_file_is_learned_and_kept(cli, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The old lighthouse stood on the rock.\nNora waited there.\n", encoding="utf-8")
    done = cli("fit", "sample:single-choice", "-s", f"ngram-lm,corpus={text}", "-o", tmp_path / "model")
    assert done.code == 0
    text.unlink()
    done = cli("run", "sample:single-choice", "-s", f"saved,path={tmp_path / 'model'}", "--format", "json")
    assert "corpus:text.txt@" in done.row("saved:ngram-lm")["signature"]


@pytest.mark.parametrize("shape", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_it_runs_on_every_kind_of_question(cli, shape):
    done = cli("run", f"sample:{shape}", "-s", "ngram-lm,normalise=length", "--format", "json")
    assert done.code == 0
    assert done.row("ngram-lm")["metrics"]


def test_predictions_and_explanations(cli):
    done = cli("predict", "sample:cloze", "-s", "ngram-lm")
    assert done.code == 0
    assert done.out.count("\n") > 3
    explained = cli("explain", "sample:cloze", json.loads(done.out.splitlines()[0])["id"], "-s", "ngram-lm")
    assert "log p(" in explained.out
    assert "other words" in explained.out


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        ("ngram-lm,order=7", ["'order'", "ngram-lm", "1, 2, 3, 4, 5", "7"]),
        ("ngram-lm,corpus=none.txt", ["'none.txt'"]),
        ("ngram-lm,scoring=partial", ["partial", "single-choice"]),
        ("ngram-lm,corpus=queries", ["ngram-lm", "gold", "--train DATA"]),
    ],
)
def test_what_cannot_be_is_one_sentence(cli, spec, facts):
    done = cli("run", "sample:single-choice", "-s", spec)
    done.fails(2, *facts)
    assert done.out == ""


STORIES = [
    (
        "Nora met Omar and Pia in Oslo. Omar paid.",
        [("Who paid?", ["Omar"]), ("Whom did Nora meet?", ["Omar", "Pia"])],
    ),
    (
        "The letter to Ida was sent by Ulf. Ida smiled.",
        [("Who sent the letter?", ["Ulf"]), ("Who smiled?", ["Ida"])],
    ),
    ("Kaj and Lea sang in 1990. The hall was full.", [("Who sang?", ["Kaj", "Lea"]), ("When?", ["1990"])]),
    ("Old Mats sold the boat to Ruth.", [("Who sold the boat?", ["Mats"]), ("Who has the boat now?", ["Ruth"])]),
]


@pytest.fixture
def quoref(write) -> Path:
    """Four passages in Quoref's layout."""
    paragraphs = [
        {
            "context": context,
            "context_id": f"c{p}",
            "qas": [
                {
                    "id": f"c{p}q{q}",
                    "question": question,
                    "answers": [{"text": text, "answer_start": context.index(text)} for text in gold],
                }
                for q, (question, gold) in enumerate(asked)
            ],
        }
        for p, (context, asked) in enumerate(STORIES)
    ]
    return write("quoref.json", json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))


SPAN_SOLVERS = ["span-sw", "span-sw:squad2016-distance", "span-ranker"]


def test_a_run_says_what_the_spans_allow(cli, quoref):
    done = cli("run", quoref, "-s", "random")
    assert done.code == 0
    (note,) = done.messages("note", "quoref: ")
    assert note.index("EM 100.00, F1 100.00") < note.index("EM 75.00, F1 87.50")
    assert cli("run", quoref, "-s", "random", "--quiet").err == ""
    assert not cli("run", "sample:single-choice", "-s", "random").messages("note", "EM ")


@pytest.mark.parametrize("solver", SPAN_SOLVERS)
@pytest.mark.parametrize("more", ["", ",margin=0.5"])
def test_a_written_file_scores_what_a_run_says(cli, quoref, tmp_path, solver, more):
    options = ["-s", solver + (more or ",ties=first"), "--cv", "2"]  # a file holds the first of a tie
    ran = cli("run", quoref, *options, "--format", "json")
    assert ran.code == 0, ran.err
    file = tmp_path / "predictions.json"
    assert cli("predict", quoref, *options, "-o", file).code == 0
    written = json.loads(file.read_text(encoding="utf-8"))
    assert all(isinstance(texts, list) and texts for texts in written.values())
    assert more or max(map(len, written.values())) == 1
    scored = cli("run", quoref, "-s", file, "--format", "json")
    assert scored.rows[0]["metrics"] == ran.rows[0]["metrics"]


def test_the_relative_threshold_is_for_several_spans(cli, quoref):
    plain, near = (
        cli("run", quoref, "-s", f"span-sw{more}", "--format", "json").rows[0] for more in ("", ",margin=1000.0")
    )
    assert "relative_threshold:1000.0" in near["signature"]
    assert near["selected_share"] > plain["selected_share"]
    assert near["params"]["decision"] == {"rule": "RelativeThreshold", "margin": 1000.0, "max_spans": None}
    cli("run", "sample:single-choice", "-s", "sw,margin=1").fails(2, "multi-span")
    cli("run", quoref, "-s", "span-sw,margin=-1").fails(2, "at least 0", field="margin", found="-1")


def test_fitted_before_it_answers_as_fitted_now(cli, quoref, tmp_path):
    file = tmp_path / "lr.npz"
    assert cli("fit", quoref, "-s", "span-ranker,epochs=2", "-o", file).code == 0
    saved = cli("run", quoref, "-s", f"saved,path={file}", "--format", "json")
    now = cli("run", quoref, "-s", "span-ranker,epochs=2", "--train", quoref, "--format", "json")
    assert saved.rows[0]["metrics"] == now.rows[0]["metrics"]
    assert saved.messages("warning", file)


@pytest.mark.parametrize("solver", SPAN_SOLVERS)
def test_scores_can_be_explained(cli, quoref, solver):
    done = cli("explain", quoref, "c0q1", "-s", solver, "--train", quoref, "--format", "json")
    assert done.code == 0, done.err
    explained = {c["text"]: c for c in done.json["candidates"]}
    assert explained["Pia"]["numbers"]
    assert [mark["kind"] for mark in explained["Pia"]["marks"]].count("candidate") == 1


def test_span_solvers_are_for_spans(cli):
    for solver in SPAN_SOLVERS:
        done = cli("run", "sample:single-choice", "-s", solver)
        done.fails(2, solver.partition(":")[0], "multi-span", "span questions")


def test_quorefs_predictions_score_what_evaluate_says(cli, shared_data, tmp_path):
    """A few passages of Quoref, written in its official form and scored as any submission."""
    whole = json.loads((shared_data / "quoref" / "quoref-dev-v0.1.json").read_text(encoding="utf-8"))
    part = tmp_path / "part.json"
    part.write_text(json.dumps({**whole, "data": whole["data"][:4]}), encoding="utf-8")
    file = tmp_path / "predictions.json"
    assert cli("predict", part, "-s", "span-sw", "--ties", "first", "-o", file).code == 0
    scored = cli("run", part, "-s", file, "--format", "json").rows[0]["metrics"]
    assert scored == evaluate(load(part), [parse_solver("span-sw")], ties="first").rows[0].metrics()
