"""A dataset of the student's choice: its floor, its artefacts, one page; the commands are run
again.
"""

import json
import re
import shlex
import subprocess
import sys
from functools import partial
from itertools import pairwise
from pathlib import Path

from classic_rc.commands.grade.assignment import ASSIGNMENTS, Assignment, Check, CheckFailedError
from classic_rc.commands.grade.isolation import make_folder, remove_folder
from classic_rc.datasets.registry import load
from classic_rc.errors import ClassicRCError
from classic_rc.questions import Dataset, Task

NEEDED = ("random", "longest", "sliding-window")
FEWEST = 50
SECONDS = 120
ENDED = (-9, -24)
"""By SIGKILL or SIGXCPU."""

PATIENCE = 10
"""By the clock, a command may take this many times as long as on the processor."""

LIMITED = f"""
import runpy
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
except ImportError:  # Windows
    pass
runpy.run_module("classic_rc", run_name="__main__", alter_sys=True)
"""
MOST_WORDS = 700
SOLVER = r"[a-z][a-z+-]*"


def with_data(submission, run):
    """Run something with the student's data alone in a folder: nothing else of theirs may be
    loaded.
    """
    name = submission.DATA
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[\w-]+\.jsonl", name)
        or name not in submission.sandbox.files
    ):
        raise CheckFailedError("DATA must name a .jsonl file next to this one")
    folder = make_folder()
    try:
        (folder / name).write_bytes(submission.sandbox.files[name])
        return run(folder, name)
    finally:
        remove_folder(folder)


def read_data(folder: Path, name: str) -> Dataset:
    try:
        dataset = load(folder / name)
    except ClassicRCError as error:
        raise CheckFailedError(
            f"{name} cannot be read: {error}"[:300].replace(str(folder), ".")
        ) from None
    if dataset.task is not Task.SINGLE_CHOICE or len(dataset) < FEWEST:
        raise CheckFailedError(
            f"{name} must have {FEWEST} or more single-choice questions; it has {len(dataset)} of "
            f"{dataset.task}"
        )
    if any(question.gold is None for question in dataset):
        raise CheckFailedError(f"all questions of {name} must have gold")
    return dataset


def run_again(submission, words, folder, name):
    """Return what one of the student's commands prints; only run and check, with their data and
    solvers by name.
    """
    line = shlex.join(words)[:200]
    solvers, others = [], []
    for before, word in pairwise(words[1:]):
        if before == "-s":
            solvers.append(word)
        elif word != "-s":
            others.append(word)
    if (
        words[:2] not in (["classic-rc", "run"], ["classic-rc", "check"])
        or others.count(name) != 1
        or {*others} - {name, "--intervals"}
        or not all(re.fullmatch(SOLVER, solver) for solver in solvers)
    ):
        raise CheckFailedError(
            f"{line}: a command is classic-rc run or check, {name}, -s with names of solvers, "
            "--intervals"
        )
    command = [
        sys.executable,
        "-P",
        "-c",
        LIMITED,
        *[*words[1:], "--format", "json"],
    ]
    environment = {"PYTHONPATH": f"{ASSIGNMENTS.parents[3]}", "HOME": str(folder), "PATH": ""}
    environment["PYTHONPATH"] += "".join(f":{path}" for path in sys.path if path)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE * SECONDS,
            check=False,
        )
        if done.returncode in ENDED:
            raise subprocess.TimeoutExpired(command, SECONDS)
    except subprocess.TimeoutExpired:
        raise CheckFailedError(f"{line}: takes longer than {SECONDS} s") from None
    if done.returncode not in (0, 1):
        details = done.stderr[-500:].replace(str(folder), ".")
        raise CheckFailedError(f"{line}: exit code {done.returncode}", details)
    return done.stdout


def check_commands(submission):
    commands = submission.COMMANDS
    if (
        not isinstance(commands, list)
        or not 2 <= len(commands) <= 10
        or not all(isinstance(command, str) for command in commands)
    ):
        raise CheckFailedError("COMMANDS must be a list of two to ten commands")
    try:
        split = [shlex.split(command) for command in commands]
    except ValueError as error:
        raise CheckFailedError(f"COMMANDS: {error}") from None
    if {word for words in split for word in words[1:2]} != {"run", "check"}:
        raise CheckFailedError("COMMANDS must have a classic-rc run and a classic-rc check")
    for words in split:
        with_data(submission, partial(run_again, submission, words))


def check_floor(submission):
    floor = submission.FLOOR
    if not isinstance(floor, dict) or not {*NEEDED} <= floor.keys() or len(floor) > 12:
        raise CheckFailedError(
            f"FLOOR must have the accuracies, in percent, of {', '.join(NEEDED)}"
        )
    if wrong := next((name for name in floor if not re.fullmatch(SOLVER, str(name))), None):
        raise CheckFailedError(f"FLOOR has {wrong!r}, which is not the name of a solver"[:200])
    words = ["classic-rc", "run", submission.DATA]
    for name in floor:
        words += ["-s", name]
    printed = json.loads(with_data(submission, partial(run_again, submission, words)))
    rows = printed["runs"][0]["rows"]
    for name, claimed in floor.items():
        row = next(row for row in rows if row["name"] == name)
        value = 100 * row["metrics"]["accuracy"]
        if type(claimed) not in (int, float) or not abs(value - claimed) <= 0.01:
            raise CheckFailedError(
                f"FLOOR has {claimed!r} for {name}; run again, it is {value:.2f}"[:200]
            )


def check_artefacts(submission):
    words = ["classic-rc", "check", submission.DATA]
    checked = json.loads(with_data(submission, partial(run_again, submission, words)))
    findings = [{cue["label"], cue["name"]} for cue in checked["checks"][0]["findings"]]
    claimed = submission.ARTEFACTS
    if not isinstance(claimed, list):
        raise CheckFailedError("ARTEFACTS must be a list, and an empty one if nothing was found")
    names = {*map(str, claimed)}
    wrong = sorted(names.difference(*findings))
    missing = sum(not finding & names for finding in findings)
    if wrong or missing:
        found_by = f"{wrong or 'nothing'} is not found by check"
        problem = f"ARTEFACTS: {found_by}; {missing} that it finds are missing"
        raise CheckFailedError(problem[:300])


def check_page(submission):
    page = submission.sandbox.files.get("page.md", b"").decode("utf-8", "replace")
    if not 100 <= len(page.split()) <= MOST_WORDS:
        raise CheckFailedError(
            f"page.md must have 100 to {MOST_WORDS} words; it has {len(page.split())}"
        )
    required = [f"{value:.2f}" for value in submission.FLOOR.values()]
    required += map(str, submission.ARTEFACTS)
    if missing := [text for text in required if text not in page]:
        raise CheckFailedError(f"page.md does not mention {json.dumps(missing[:5])}"[:300])


TEMPLATE = '''"""The floor and the artefacts of a dataset. The data and page.md are next to \
this file."""

DATA = "data.jsonl"

COMMANDS = []
"""How to get what follows, such as classic-rc run data.jsonl -s random -s longest \
-s sliding-window"""

FLOOR = {}
"""Accuracies in percent by the names of solvers"""

ARTEFACTS = None
"""The findings of classic-rc check, as it names them; an empty list if there are none"""
'''
ASSIGNMENT = Assignment(
    title="The floor and the artefacts of a dataset",
    main="my_audit.py",
    template=TEMPLATE,
    suffixes=(".jsonl", ".md"),
    checks=(
        Check(
            "data",
            1,
            "the data can be read",
            lambda submission: with_data(submission, read_data) and None,
        ),
        Check("commands", 2, "the commands run again", check_commands, needs=("data",)),
        Check("floor", 3, "run again, solvers reach what is said", check_floor, needs=("data",)),
        Check(
            "artefacts",
            3,
            "checked again, the same artefacts are found",
            check_artefacts,
            needs=("data",),
        ),
        Check(
            "page",
            1,
            "the page has one page, the floor and the artefacts",
            check_page,
            needs=("floor", "artefacts"),
        ),
    ),
)
