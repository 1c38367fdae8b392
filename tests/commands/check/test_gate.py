"""check --fail --baseline: what an earlier check found does not fail, new findings and more do."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from classic_rc.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
CHECK = {"dataset": {"name": "own"}, "missing": [], "findings": [], "defects": []}


def write(path, *, leaks=(), doubled=0, n=240):
    """Half of the right options end in each leak; `doubled` questions have no right option."""
    rng, rows = random.Random(3), []
    for i in range(n):
        options = [f"{rng.choice('bdgk')}{rng.choice('aeiou')}l{i}{c}" for c in "mnpr"]
        gold = rng.randrange(4)
        for number, leak in enumerate(leaks):
            if i % 4 == number:
                options[gold] = options[gold][:-1] + leak
        if i < doubled:
            options[(gold + 1) % 4] = options[gold]
        rows.append(
            {"id": f"q{i}", "passage": f"Story {i}: it rained.", "question": "Which?"}
            | {"candidates": options, "gold": gold}
        )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*arguments, **content):
        write(tmp_path / "own.jsonl", **content)
        code = main(["check", "own.jsonl", *arguments])
        return code, capsys.readouterr().err

    return run


@pytest.fixture
def baseline(check):
    def make(**content):
        assert check("--format", "json", "-o", "accepted.json", **content)[0] == 0
        return ("--fail", "--baseline", "accepted.json")

    return make


def test_only_new_cues_fail(check, baseline):
    assert check("--fail", leaks="!")[0] == 1
    gate = baseline(leaks="!")
    assert check(*gate, leaks="!")[0] == 0
    code, messages = check(*gate, leaks="!z")
    assert code == 1
    failing = [line for line in messages.splitlines() if "ARTIFACT" in line]
    assert len(failing) == 1
    assert '"z"' in failing[0]


def test_more_defects_fail_and_fewer_are_said(check, baseline):
    assert check("--fail", doubled=3)[0] == 1
    gate = baseline(doubled=3)
    assert check(*gate, doubled=3)[0] == 0
    code, messages = check(*gate, doubled=5)
    assert code == 1
    assert "(5, 3 in the baseline)" in messages
    code, messages = check(*gate, doubled=2)
    assert code == 0
    assert "(2, 3 in the baseline)" in messages
    code, messages = check(*gate)
    assert code == 0
    assert "no longer found" in messages


@pytest.fixture
def lines(tmp_path, monkeypatch, capsys):
    """A check of rows, each a change of a sound one."""
    monkeypatch.chdir(tmp_path)

    def run(changes, *arguments):
        rows = [
            {"id": f"q{i}", "passage": f"Story {i}.", "question": "Which?", **change}
            for i, change in enumerate(changes)
        ]
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        Path("own.jsonl").write_text(text, encoding="utf-8")
        return main(["check", "own.jsonl", *arguments]), capsys.readouterr().err

    return run


def test_questions_left_out_for_another_reason_are_new(lines):
    sound = {"candidates": ["here", "there"], "gold": 0}
    bad_gold, bad_text = {**sound, "gold": 7}, {**sound, "question": 3}
    assert lines([sound] * 9 + [bad_gold] * 3, "--format", "json", "-o", "before.json")[0] == 0
    gate = ("--fail", "--baseline", "before.json")
    assert lines([sound] * 9 + [bad_gold] * 3, *gate)[0] == 0
    code, messages = lines([sound] * 9 + [bad_gold] * 2 + [bad_text], *gate)
    assert code == 1
    assert len([line for line in messages.splitlines() if "DEFECT" in line]) == 1


def test_an_allowed_finding_needs_no_baseline(check, baseline):
    gate = baseline(doubled=3)
    assert check(*gate, "--allow", "allow.txt", doubled=5)[0] != 0  # no such file
    what = json.loads(Path("accepted.json").read_text())["checks"][0]["defects"][0]["what"]
    for name in ("option-both", what):
        Path("allow.txt").write_text(f"{name}\n", encoding="utf-8")
        assert check(*gate, "--allow", "allow.txt", doubled=5)[0] == 0


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{",
        '{"checks": [{"dataset": {"name": "own"}, "missing": ["cues"]}]}',
        '{"checks": []}',
        json.dumps({"checks": 2 * [CHECK]}),
    ],
    ids=["list", "cut", "interrupted", "other data", "two of one name"],
)
def test_a_baseline_that_is_none_is_refused(check, content):
    with open("bad.json", "w", encoding="utf-8") as file:
        file.write(content)
    code, messages = check("--fail", "--baseline", "bad.json")
    assert code == 3
    errors = [line for line in messages.splitlines() if "error" in line]
    assert len(errors) == 1
    assert errors[0].count("bad.json") == 1


def test_the_hook_of_pre_commit_is_a_gate(check):
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = re.search(r"entry: classic-rc check (.*)", hook)[1].split()
    assert check(*entry)[0] == 0
    assert check(*entry, leaks="!")[0] == 1


def test_a_baseline_without_fail_is_refused(check):
    assert check("--baseline", "accepted.json")[0] == 2
