"""Tables in every format, against files; run this file as a script to write them again, and read
the diff.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classic_rc.datasets.labels import Labels
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.result_tables import breakdown_tables, cross_table
from classic_rc.results import (
    Evaluation,
    Row,
    break_down,
    cross_tabulate,
    group_questions,
    results_table,
    with_intervals,
    with_significance,
)
from classic_rc.results.outcomes import Block, Outcomes
from classic_rc.tables import Table, render
from tests.tables import headings

GOLDEN = Path(__file__).parent / "golden"
SUFFIXES = {"table": "txt", "markdown": "md", "latex": "tex", "csv": "csv", "json": "json"}
N = 48


def dataset() -> Dataset:
    options = tuple(Candidate(text) for text in "abcd")
    passages = [Passage(f"p{i}", f"Passage {i}.") for i in range(N // 4)]
    questions = []
    for i in range(N):
        passage, gold = passages[i // 4], frozenset({i % 4})
        meta = {"type": "one" if i % 5 else "multiple_&_more"}
        question = Question(f"q{i}", passage, "?", options, gold, Task.SINGLE_CHOICE, meta)
        questions.append(question)
    return Dataset(questions, "mini", "dev", "own")


def row(
    name: str, right: np.ndarray, **more: Any
) -> Row:  # the other fields of Row, each of its own type
    statistics = {"accuracy": right.reshape(-1, 1)}
    n_tied = np.where((right > 0) & (right < 1), 2, 1)
    evidence = np.ones(N, dtype=bool)
    outcomes = Outcomes(statistics, n_tied, np.ones(N), np.full(N, 4), evidence, ([0],) * N)
    solver, _, variant = name.partition(":")
    signature = f"{name}|n:{N}"
    return Row(solver, variant or None, {}, f"solver:{signature}", signature, outcomes, **more)


def evaluation(learner: bool = True) -> Evaluation:
    data, i = dataset(), np.arange(N)
    odd, third = (i % 2) * 1.0, (i % 3 == 0) * 1.0
    rows = []
    if learner:
        trained = {"block": Block.TRAINED, "trained_on": "train"}
        rows.append(row("learner", odd, ties="partial", **trained))
    rows.append(row("random", np.full(N, 0.25), expected=True))
    rows.append(row("longest", third, ties="partial"))
    rows.append(row("sw+d", np.where(i % 8 == 7, 0.5, 1 - third), ties="partial"))
    tuning = {"tuned_on": "mini", "tuned_here": True, "tuned_params": {"window": 7}}
    rows.append(row("tuned:50%", np.ones(N), ties="partial", **tuning))
    groupings = {"type": group_questions(data, "type").masks}
    evaluated = Evaluation(data, tuple(rows), groupings, "type")
    return with_significance(with_intervals(evaluated, 200), "longest", 200)


def every_form(tables: Sequence[Table], plain: Any) -> dict[str, str]:
    written = {}
    for form in ("table", "markdown", "latex", "csv"):
        written[form] = render(tables, form, signatures=True)
    written["json"] = json.dumps(plain, indent=1, allow_nan=False) + "\n"
    return written


def results() -> dict[str, str]:
    evaluated = evaluation()
    return every_form([results_table(evaluated)], evaluated.to_dict())


def breakdown() -> dict[str, str]:
    evaluated = evaluation(learner=False)
    names = ("coreference", "causal relation", "bridging")
    skills = {}
    for i, question in enumerate(evaluated.dataset[:40]):
        of_question = (name for j, name in enumerate(names) if i % (2 + 3 * j) == 0)
        skills[question.id] = frozenset(of_question)
    labels = [Labels("skills", skills, names, "skills.csv")]
    results = replace(evaluated.results, tests=None)
    keys = ("skills", "skills:alone", "skills:count")
    groupings = [group_questions(evaluated.dataset, key, labels) for key in keys]
    breakdowns = [break_down(results, grouping, n=200) for grouping in groupings]
    cross = cross_tabulate(groupings[0], groupings[0])
    tables = [*breakdown_tables(breakdowns), cross_table(cross)]
    plain = {"breakdowns": [b.to_dict() for b in breakdowns], "cross": [cross.to_dict()]}
    return every_form(tables, plain)


MADE = {"results": results, "breakdown": breakdown}


@pytest.mark.parametrize("name", MADE)
def test_every_form_is_as_it_was(name):
    for form, text in MADE[name]().items():
        assert text == (GOLDEN / f"{name}.{SUFFIXES[form]}").read_text(encoding="utf-8"), form


@pytest.mark.parametrize(
    ("form", "start", "line"),
    [
        ("table", r"^-+$", r"\[(.*)\]$|(\S+)  "),
        ("markdown", r"^\|-.*$", r"\| \*(.*?)\* \||\| (\S+) \|"),
        ("latex", r"^\\midrule$", r".*\\textit\{(.*)\}\} |(\S+) &"),
    ],
)
def test_blocks_have_headings_in_every_form(form, start, line):
    _, body = re.split(start, results()[form], maxsplit=1, flags=re.MULTILINE)
    lines = body.strip().splitlines()
    lines = [line for line in lines if not line.startswith((" &", r"\addlinespace"))]
    headings = []
    for matched in lines[:7]:
        if match := re.match(line, matched):
            headings.append(match[1] or match[2])
    rows = ["random", "longest", "sw+d", "tuned:50\\%" if form == "latex" else "tuned:50%"]
    assert headings == [Block.UNTRAINED.heading, *rows, Block.TRAINED.heading, "learner"]


def test_one_block_has_no_heading():
    evaluated = evaluation(learner=False)
    assert headings(results_table(evaluated)) == {}
    assert all(block.heading not in render(results_table(evaluated), "table") for block in Block)


def test_the_best_of_the_comparable_rows_is_bold():
    markdown, latex = results()["markdown"], results()["latex"]
    assert re.findall(r"^\| (\S+) \|.*\*\*", markdown, re.MULTILINE) == ["sw+d"]
    (bold,) = (line for line in latex.splitlines() if r"\textbf" in line)
    assert bold.startswith("sw+d &")


def test_marks_are_of_rows_that_differ():
    evaluated = evaluation()
    marked = {name for name, cell in results_table(evaluated)["Acc."].items() if cell.mark == "*"}
    significant = [measured for measured in evaluated.measure() if measured.test.is_significant]
    assert marked == {measured.row.name for measured in significant}
    assert marked


def test_small_groups_are_marked_in_every_form():
    forms = breakdown()
    assert re.search(
        r"^causal relation +\(8\) +\(20\.0\) +\(25\.00\) \[", forms["table"], re.MULTILINE
    )
    assert "| causal relation | (8) | (20.0) | (25.00) [" in forms["markdown"]
    assert r"causal relation & (8) & (20.0) & (25.00) &" in forms["latex"]
    records = csv.DictReader(io.StringIO(forms["csv"]))
    of_skills = [record for record in records if record["key"] == "skills" and record["small"]]
    small = {record["group"]: record["small"] for record in of_skills}
    assert small["causal relation"] == "True"
    assert small["coreference"] == "False"
    (skills, *_) = json.loads(forms["json"])["breakdowns"]
    assert [group["small"] for group in skills["groups"]] == [False, True, True, False]


if __name__ == "__main__":
    os.environ["COLUMNS"] = "200"  # as in the tests
    for made_name, make in MADE.items():
        for made_form, made_text in make().items():
            path = GOLDEN / f"{made_name}.{SUFFIXES[made_form]}"
            path.write_text(made_text, encoding="utf-8", newline="\n")
