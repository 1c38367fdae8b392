"""The guides of the assignments: what they list, the options they name, and what they say of the
bug.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import classic_rc
from classic_rc.cli.main import main
from classic_rc.commands.grade import list_assignments, load_assignment
from classic_rc.commands.grade.assignment import ASSIGNMENTS
from tests.depth import thinned

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "assignments"
GUIDE = GUIDES / "README.md"


def solver_of(source: str):
    names: dict = {}
    exec(compile(source, "buggy.py", "exec"), names)
    return names["WindowAndDistance"]()


def test_the_guide_lists_every_assignment():
    listed = re.findall(r"^\| \[?`(\S+)`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in listed if name in list_assignments()] == list_assignments()


@pytest.mark.parametrize("guide", sorted(GUIDES.glob("*.md")), ids=lambda guide: guide.stem)
def test_a_guide_names_options_that_exist(guide, capsys):
    lines = [
        line
        for line in guide.read_text(encoding="utf-8").splitlines()
        if "grade" in line or line[:1] not in ("", " ")
    ]
    text = re.sub(r"--container .*", "--container", "\n".join(lines).partition("```dockerfile")[0])
    flags = set(re.findall(r"(?<=[\s`(])--[a-z-]+", text))
    assert main(["grade", "--help"]) == 0
    printed = capsys.readouterr().out
    assert {flag for flag in flags if flag not in printed} == set()
    assert "--assignment" in flags


def test_the_help_is_short_enough(capsys):
    counts = []
    for flag in ("-h", "--help"):
        assert main(["grade", flag]) == 0
        counts.append(len(re.findall(r"^  -", capsys.readouterr().out, re.MULTILINE)))
    assert counts[0] <= 20
    assert counts[1] <= 32


def test_the_solver_is_of_twenty_lines():
    source = (
        GUIDES.parents[1] / "tests" / "commands" / "grade" / "solutions" / "solver.py"
    ).read_text(encoding="utf-8")
    code = [line for line in source.splitlines() if line.strip() and '"""' not in line]
    assert len(code) <= 20


def test_the_bug_is_not_seen_in_accuracy_on_the_sample():
    dataset, bug = classic_rc.load("sample:single-choice"), load_assignment("bug")
    buggy, mended = solver_of(bug.start().decode()), solver_of(bug.source())
    assert buggy.score(dataset) == mended.score(dataset)
    scores = zip(buggy.score_candidates(dataset), mended.score_candidates(dataset), strict=True)
    differing = [
        q.id
        for q, (buggy_score, correct) in zip(dataset, scores, strict=True)
        if abs(buggy_score - correct).max() > 1e-9
    ]
    assert len(differing) == 5
    assert differing[0] == "hedgehog.4"


@pytest.mark.parametrize(
    "name", thinned(["mc160.dev", "mc160.train", "mc500.train", "mc500.dev"], 4)
)
def test_the_bug_costs_what_the_page_says(shared_data, name):
    page = (ASSIGNMENTS / "bug" / "README.md").read_text(encoding="utf-8")
    header, buggy, mended = (
        [cell.strip() for cell in row.split("|")]
        for row in re.findall(r"^\|.*\d\d.*", page, re.M)[:3]
    )
    column = [cell.lower().replace(" ", ".") for cell in header].index(name)
    dataset = classic_rc.load(shared_data / "mctest" / f"{name}.tsv")
    solver = solver_of(load_assignment("bug").start().decode())
    assert f"{100 * solver.score(dataset):.2f}" == buggy[column]
    assert f"{100 * classic_rc.parse_solver('sw+d').score(dataset):.2f}" == mended[column]
    if name == "mc500.train":
        assert round(float(mended[column]) - float(buggy[column])) == 8
