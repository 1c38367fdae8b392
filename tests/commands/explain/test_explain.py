"""``classic-rc explain`` shows where scores come from, in every format."""

from __future__ import annotations

import json
import re

import pytest


def test_the_best_candidate_is_first_and_the_right_one_is_marked(cli, single):
    done = cli("explain", single, "q1")
    first, *others = [line for line in done.out.splitlines() if "|  score" in line]
    assert first.startswith("(B) Omar  |  score ")
    assert first.endswith("|  RIGHT")
    assert not any(line.endswith("RIGHT") for line in others)
    passage = done.out.partition("\n(B) ")[2].partition("\n(")[0]
    assert "*{Omar}* _{built}_" in passage


def test_the_command_in_the_error_of_an_untrained_solver_works(cli):
    args = ("explain", "sample:single-choice", "lantern.1", "-s", "length")
    cli(*args).fails(2, "--train DATA", "--cv 5", field="train")
    done = cli(*args, "--cv", 5)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("lantern.1: ")
    assert cli(*args, "--train", "sample:single-choice").code == 0


def test_several_solvers_one_after_the_other(cli, single, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    specs = ("-s", "Window=sw", "-s", "sw+d", "-s", "sw+d,window=2")
    names = ["Window", "sw+d", "sw+d,window=2"]
    done = cli("explain", single, "q1", *specs)
    assert [line for line in done.out.splitlines() if line.startswith("solver: ")] == [
        f"solver: {n}" for n in names
    ]
    plain = cli("explain", single, "q1", *specs, "--format", "json").json
    assert [explanation["solver"] for explanation in plain["explanations"]] == names
    alone = cli("explain", single, "q1", "-s", "sw+d", "--format", "json").json
    shared = {key: plain[key] for key in ("version", "schema")}
    assert alone == {**shared, **plain["explanations"][1]}
    page = cli("explain", single, "q1", *specs, "--format", "html").out
    assert [f"<h2>{name}</h2>" in page for name in names] == [True, True, True]


def test_a_passage_is_as_wide_as_the_terminal(cli, single, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    narrow = cli("explain", single, "q1", "-s", "sw", "-s", "longest").out
    assert max(len(line) for line in narrow.splitlines() if line.startswith("    [[")) <= 60


OWN = """
from classic_rc.solvers import Solver


class Plain(Solver):
    def score_candidates(self, questions):
        return [
            [float(sum(w in q.passage.text for w in c.text.split())) for c in q.candidates]
            for q in questions
        ]


class Wrong(Plain):
    def explain_each(self, questions):
        return ["because" for question in questions]


class Same(Solver):
    def score_candidates(self, questions):
        return [[1.0] * len(q.candidates) for q in questions]


class Fragile(Plain):
    def score_candidates(self, questions):
        if "  " in "".join(q.passage.text for q in questions):
            raise KeyError("two blanks")
        return super().score_candidates(questions)
"""


def test_ones_own_solver_is_explained_by_its_words_or_by_itself(cli, single, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    done = cli("explain", single, "q1", "-s", f"{file}:Plain", "--format", "json").json
    assert "do not add up" in done["note"]
    omar = next(c for c in done["candidates"] if c["text"] == "Omar")
    assert omar["score"] == 1.0
    assert omar["numbers"] == {'candidate "Omar"': 1.0, 'passage "Omar"': 1.0}
    assert [done["passage"][m["start"] : m["end"]] for m in omar["marks"]] == ["Omar"]
    assert (
        "note: ablation: no word changes a score"
        in cli("explain", single, "q1", "-s", f"{file}:Same").out
    )
    wrong = cli("explain", single, "q1", "-s", f"{file}:Wrong")
    wrong.fails(5, "must return", name="Wrong", place=re.compile("own.py, line "))
    fragile = cli("explain", single, "q1", "-s", f"{file}:Fragile")
    assert fragile.code == 0
    assert "note: no ablation: the solver cannot score a question without a word" in fragile.out


@pytest.mark.parametrize(
    ("answers", "verdict", "note"),
    [
        (["A"], "WRONG. A “Nora” is chosen; right: B “Omar”.", ""),
        (["The answer is B"], "RIGHT. B “Omar” is chosen.", ""),
        (["who knows"], "WRONG. There is no answer; right: B “Omar”.", "; 1 of 1 could not be"),
        (["A", "B", "hm"], "PARTLY RIGHT. Several answers are possible: ", "; 1 of 3 could not be"),
    ],
)
def test_a_files_answer_is_shown_with_the_solvers(cli, single, write, answers, verdict, note):
    ids = [row["id"] for row in map(json.loads, single.read_text("utf-8").splitlines())]
    rows = [{"id": id, "answer": answer} for id in ids for answer in answers]
    file = write("llm.jsonl", rows)
    explain = ("explain", single, "q1", "-s", f"LLM={file}", "-s", "sw")
    done = cli(*explain)
    text = " ".join(done.out.split())
    assert f"solver: LLM answer: {verdict}" in text
    assert f"the file's answers that choose the candidate{note}" in text
    assert "solver: sliding-window" in done.out
    page = cli(*explain, "--format", "html").out
    assert "<h2>LLM</h2>" in page
    assert "answers that choose the candidate" in page
    first = cli(*explain, "--format", "json").json["explanations"][0]
    scores = {c["text"]: c["score"] for c in first["candidates"]}
    letters = {"Nora": "A", "Omar": "B"}
    for name, letter in letters.items():
        share = sum(answer.endswith(letter) for answer in answers) / len(answers)
        assert scores[name] == pytest.approx(share)
    alone = cli("explain", single, "q1", "-s", file).out
    assert "solver: llm\n" in alone


def test_a_files_scores_are_shown_with_the_solvers(cli, single, tmp_path):
    file = tmp_path / "scores.jsonl"
    assert cli("predict", single, "-s", "sw", "--scores", "-o", file).code == 0
    explain = ("explain", single, "q1", "-s", f"LLM={file}", "-s", "sw")
    file_scores, solver_scores = cli(*explain, "--format", "json").json["explanations"]
    assert file_scores["solver"] == "LLM"
    assert [c["score"] for c in file_scores["candidates"]] == [
        c["score"] for c in solver_scores["candidates"]
    ]
    assert file_scores["verdict"]["chosen"] == solver_scores["verdict"]["chosen"]
    done = cli(*explain)
    assert "read from the file" in done.out
    assert "ablation" not in done.out
    assert "<h2>LLM</h2>" in cli(*explain, "--format", "html").out


def test_a_row_of_a_record_cannot_be_explained(cli, single, tmp_path):
    assert cli("run", single, "-s", "sw", "--save", tmp_path / "r").code == 0
    row = f"{tmp_path / 'r'}#sliding-window"
    cli("explain", single, "q1", "-s", row).fails(2, "row of a run record", field="--solver")


def test_html_is_one_page_in_a_file_or_on_stdout(cli, single, tmp_path):
    file = tmp_path / "q1.html"
    done = cli("explain", single, "q1", "--format", "html", "-o", file)
    assert (done.code, done.out) == (0, "")
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert '<span class="mark k0 pair-question question window">' in page
    assert "wins by" in page
    assert cli("explain", single, "q1", "--format", "html").out == page


def test_colours_are_for_terminals_unless_an_option_overrides(cli, single, monkeypatch):
    colours = "\x1b[36m"
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    explain = ("explain", single, "q1")
    assert colours not in cli(*explain).out
    assert colours in cli(*explain, "--color", "always").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert colours in cli(*explain, "--color", "always").out
