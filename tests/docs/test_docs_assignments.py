"""The assignments: solutions get all points, templates none, and the pages are correct."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import classic_rc
from classic_rc.audit import check_dataset
from classic_rc.cli.main import main
from classic_rc.teaching import CheckFailedError, Level, grade_file, list_assignments, load_assignment
from classic_rc.teaching.assignment import ASSIGNMENTS
from classic_rc.teaching.grading import DEFAULT_ASSIGNMENT

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "tests" / "teaching" / "solutions"
GUIDE = ROOT / "docs" / "assignments" / "README.md"


def loaded(file: Path):
    spec = importlib.util.spec_from_file_location(f"assignment_{file.parent.name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seed_of(name: str) -> int:
    """A seed for which the solution is right: that of `leak` depends on what is planted."""
    if name != "leak":
        return 1
    return next(seed for seed in range(100) if LEAK.planted_cue(seed) == "verbatim")


@pytest.mark.parametrize("name", list_assignments())
def test_an_untouched_template_earns_nothing(name):
    template = load_assignment(name).template_file
    assert template is not None
    grade = grade_file(template, name, seed=1, levels=list(Level))
    assert (grade.earned, grade.signs, grade.problem) == (0, (), None)


@pytest.mark.parametrize("name", ["bug", "leak", "solver"])
def test_a_solution_gets_all_points(name):
    grade = grade_file(SOLUTIONS / f"{name}.py", name, seed=seed_of(name), levels=list(Level))
    assert [check.problem for check in grade.checks] == [None] * len(grade.checks)
    assert grade.signs == ()


@pytest.mark.parametrize("name", list_assignments())
def test_an_assignment_has_ten_points_and_its_page_says_for_what(name):
    assignment = load_assignment(name)
    assert assignment.points == 10
    page = (ASSIGNMENTS / name / "README.md").read_text(encoding="utf-8")
    told = "grade my_solver.py" if name == DEFAULT_ASSIGNMENT else f"--assignment {name}"
    assert told in page
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", page.partition("| points |")[2], re.MULTILINE)
    assert rows == [(check.name, f"{check.points:g}") for check in assignment.checks]


def test_the_guide_lists_every_assignment():
    listed = re.findall(r"^\| \[?`(\S+)`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name in listed if name in list_assignments()] == list_assignments()


def test_the_guide_names_options_that_exist(capsys):
    guide = GUIDE.read_text(encoding="utf-8")
    recipe = guide.partition("```dockerfile")[2].partition("```")[0]
    assert 'ENTRYPOINT ["classic-rc", "grade"]' in recipe
    flags = set(re.findall(r"(?<=[\s`])--[a-z-]+", guide)) - {"--unsafe"}
    of_docker = set(re.findall(r"--[a-z-]+", guide.partition("docker run")[2].partition("classic-rc-grade /")[0]))
    of_docker |= set(re.findall(r"--[a-z-]+", recipe))
    assert main(["grade", "--help"]) == 0
    told = capsys.readouterr().out
    assert {flag for flag in flags - of_docker if flag not in told} == set()
    assert "--assignment" in flags


def test_the_solver_is_of_twenty_lines():
    source = (SOLUTIONS / "solver.py").read_text(encoding="utf-8")
    code = [line for line in source.splitlines() if line.strip() and '"""' not in line]
    assert len(code) <= 20


def test_the_bug_is_not_seen_in_accuracy_on_the_sample():
    dataset = classic_rc.load("sample:single-choice")
    files = (ASSIGNMENTS / "bug" / "buggy.py", SOLUTIONS / "bug.py")
    buggy, mended = (loaded(file).WindowAndDistance() for file in files)
    assert buggy.score(dataset) == mended.score(dataset)
    scores = zip(buggy.score_candidates(dataset), mended.score_candidates(dataset), strict=True)
    differing = [q.id for q, (one, other) in zip(dataset, scores, strict=True) if abs(one - other).max() > 1e-9]
    assert len(differing) == 5
    assert differing[0] == "hedgehog.4"


@pytest.mark.parametrize("name", ["mc160.train", "mc160.dev", "mc500.train", "mc500.dev"])
def test_the_bug_costs_what_the_page_says(shared_data, name):
    page = (ASSIGNMENTS / "bug" / "README.md").read_text(encoding="utf-8")
    header, buggy, mended = (
        [cell.strip() for cell in row.split("|")] for row in re.findall(r"^\|.*\d\d.*", page, re.M)[:3]
    )
    column = [cell.lower().replace(" ", ".") for cell in header].index(name)
    dataset = classic_rc.load(shared_data / "mctest" / f"{name}.tsv")
    solver = loaded(ASSIGNMENTS / "bug" / "buggy.py").WindowAndDistance()
    assert f"{100 * solver.score(dataset):.2f}" == buggy[column]
    assert f"{100 * classic_rc.parse_solver('sw+d').score(dataset):.2f}" == mended[column]
    if name == "mc500.train":
        assert round(float(mended[column]) - float(buggy[column])) == 8


LEAK = loaded(ASSIGNMENTS / "leak" / "checks.py")

EXPLOITS = {
    "length": lambda passage, options: max(range(4), key=lambda i: len(options[i])),
    "negation": lambda passage, options: min(range(4), key=lambda i: "never" in options[i]),
    "position": lambda passage, options: 2,
    "verbatim": loaded(SOLUTIONS / "leak.py").answer,
    "word": lambda passage, options: max(range(4), key=lambda i: "again" in options[i]),
}
FOUND_BY = {
    "length": "characters|words",
    "negation": "never",
    "position": "is option 3",
    "verbatim": "of the passage|copied from the passage",
    "word": "today|again",
}


def reached(rows, answer) -> float:
    return sum(answer(row["passage"], row["candidates"]) == row["gold"] for row in rows) / len(rows)


@pytest.mark.parametrize("cue", LEAK.CUES)
def test_each_leak_is_found_and_used_by_its_own_cue_alone(cue):
    report = check_dataset(classic_rc.from_rows(LEAK.make_rows(cue, seed=3), name=cue), header=False)
    assert re.search(FOUND_BY[cue], report.cues[0].name)
    rows = LEAK.make_rows(cue, seed=4)
    assert [name for name, answer in EXPLOITS.items() if reached(rows, answer) >= LEAK.FLOOR] == [cue]


def test_the_data_are_questions_that_can_be_answered(tmp_path):
    (tmp_path / "leak.jsonl").write_bytes(LEAK.make_files(2)["leak.jsonl"])
    dataset = classic_rc.load(tmp_path / "leak.jsonl")
    assert (len(dataset), len(dataset.passages)) == (240, 60)
    for question in dataset:
        who, thing = re.fullmatch(r"Where did (\w+) take the (\w+)\?", question.text).groups()
        (place,) = re.findall(rf"{who} took the {thing} to the (\w+)\.", question.passage.text)
        (gold,) = question.gold
        right = [i for i, c in enumerate(question.candidates) if f"to the {place} " in c.text]
        assert right == [gold]


def test_every_cue_can_be_planted():
    assert {LEAK.planted_cue(seed) for seed in range(50)} == set(LEAK.CUES)
    seed = next(seed for seed in range(50) if LEAK.planted_cue(seed) != "position")
    with pytest.raises(CheckFailedError, match="it is not position"):
        LEAK.check_names_the_cue(SimpleNamespace(CUE="position", seed=seed))
