"""The page on hidden test sets: its blocks run as they stand, and its table has the real lines."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import classic_rc
from classic_rc.cli.main import main
from classic_rc.datasets import to_jsonl
from classic_rc.questions import candidate_texts

PAGE = (Path(__file__).parents[2] / "docs" / "tasks" / "hidden-test.md").read_text("utf-8")
BAD = {
    "answers only some questions": lambda lines: lines[:3] + lines[5:],
    "answers one question twice": lambda lines: [*lines, lines[0]],
    "has an id that is not in the data": lambda lines: [*lines, '{"id": "other.1", "answer": "A"}'],
    "has an answer that is no option": lambda lines: [
        '{"id": "lantern.1", "answer": "no such"}',
        *lines[1:],
    ],
    "is cut off": lambda lines: [*lines[:5], lines[5][:12], *lines[6:]],
}


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE).group(1)


@pytest.fixture
def board(tmp_path, monkeypatch):
    """A folder with a test set, its public file, and the submission of one team."""
    monkeypatch.chdir(tmp_path)
    Path("test.jsonl").write_text(to_jsonl(classic_rc.load("sample:single-choice")), "utf-8")
    exec(block("python"), {})
    Path("submissions").mkdir()
    assert main("predict public.jsonl -s sw+d -o submissions/team1.jsonl".split()) == 0


def test_the_public_file_has_no_gold_and_no_fields(board):
    public, test = classic_rc.load("public.jsonl"), classic_rc.load("test.jsonl")
    assert [q.id for q in public] == [q.id for q in test]
    for question, full in zip(public, test, strict=True):
        assert question.gold is None
        assert candidate_texts(question.candidates) == candidate_texts(full.candidates)
        assert not full.meta.keys() & question.meta.keys() - {"split"}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_submission_gets_the_line_of_the_table(board, capsys, fault):
    lines = Path("submissions/team1.jsonl").read_text("utf-8").splitlines()
    Path("bad.jsonl").write_text("\n".join(BAD[fault](lines)), "utf-8")
    capsys.readouterr()
    assert main(["run", "test.jsonl", "-s", "bad.jsonl,strict=yes"]) == 3
    printed = capsys.readouterr()
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| {fault} |")]
    assert row.split("`")[1] in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


@pytest.mark.ci
def test_the_board_has_the_floor_and_the_teams(board):
    script = f'classic-rc() {{ {sys.executable} -m classic_rc "$@"; }}\n{block("bash")}'
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True)
    assert "sw+d" in done.stdout
    assert "team1" in done.stdout


def test_a_squad_submission_that_lacks_a_question_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    place = {"text": "Ada", "answer_start": 0}
    questions = [{"id": i, "question": "Who?", "answers": [place]} for i in "ab"]
    passage = {"context": "Ada wrote it.", "qas": questions}
    Path("v1.json").write_text(json.dumps({"data": [{"paragraphs": [passage]}]}), "utf-8")
    Path("given.json").write_text(json.dumps({"a": "Ada"}), "utf-8")
    assert main(["run", "v1.json", "-s", "squad:given.json"]) == 0
    assert "1 of 2 questions" in capsys.readouterr().err
    assert main(["run", "v1.json", "-s", "squad:given.json,strict=yes"]) == 3
    assert "1 of 2 questions" in capsys.readouterr().err
