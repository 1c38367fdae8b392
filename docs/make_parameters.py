"""Make parameters.md, the parameters of all solvers, the table of keys in suites.md, and that of
evaluators' tasks in floor.md, from their declarations.

python docs/make_parameters.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, whatever is installed

from classic_rc.parameters import Parameter
from classic_rc.results.evaluator_tasks import EvaluatorTask, evaluator_tasks
from classic_rc.running.suite import KEYS, Key
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SOLVER_ENTRIES, SOLVERS

PAGE = Path(__file__).resolve().parent / "parameters.md"
SUITES = Path(__file__).resolve().parent / "suites.md"
FLOOR = Path(__file__).resolve().parent / "floor.md"
CROSS_REFERENCE = re.compile(r":[a-z]+:`~?([^`]*)`")
SUITE_KEYS = re.compile(r"(<!-- keys: .*? -->\n).*?(<!-- end of keys -->\n)", re.DOTALL)
TASKS = re.compile(r"(<!-- tasks: .*? -->\n).*?(<!-- end of tasks -->\n)", re.DOTALL)
TASK_COLUMNS = "task | data: split | metric: here | questions | chance | baseline | floor"

HEAD = """# Parameters of the solvers

Every parameter is a keyword in Python, and is set as `-s SOLVER,key=value` on the command line.
There the parameters of a decision take the place of `decision`: `ties`, `tie_tolerance`; `value` (a
fixed threshold); `metric`, `cuts` (a tuned one); `margin`, `max_spans` (several spans); `scale`,
`exact` (expected F1). `decision=argmax` or `decision=expected-f1` names one.
`help(classic_rc.solvers.SlidingWindow)` shows the same for one class. `classic-rc list variants`
has the published settings. This page is made by `python docs/make_parameters.py`.
"""


def page() -> str:
    """Return the page as text."""
    sections = (section(name, SOLVERS[name]) for name in SOLVER_ENTRIES)
    return "\n".join([HEAD, *sections])


def section(name: str, solver: type[Solver]) -> str:
    """Return a solver's section with its table of parameters."""
    cells = ([cell.replace("|", "\\|") for cell in row] for row in parameters(solver))
    rows = "".join(f"| {' | '.join(row)} |\n" for row in cells)
    return (
        f"## {name}\n\n{solver.description}.\n\n| parameter | default | what | values "
        f"|\n|---|---|---|---|\n{rows}"
    )


def parameters(solver: type[Solver]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a table row for each parameter."""
    for name, declared in solver.parameters.items():
        help = CROSS_REFERENCE.sub(r"`\1`", declared.help)
        yield f"`{name}`", f"`{declared.default!r}`", help, values(declared)


def values(declared: Parameter) -> str:
    """Describe the values of a parameter in words."""
    file = "a path" if declared.is_file and "a path" not in declared.choices else ""
    return " or ".join(part for part in (declared.choices, file) if part)


def with_suite_keys(text: str) -> str:
    """Return the page about suites with the table of their keys."""
    rows = "".join(
        f"| `{key.name}` | {place(key)} | {key.kind.expected} | {key.help} |\n" for key in KEYS
    )
    return SUITE_KEYS.sub(
        lambda match: (
            f"{match[1]}| key | where | value | what |\n|---|---|---|---|\n{rows}{match[2]}"
        ),
        text,
    )


def place(key: Key) -> str:
    """Return where a key of a suite file may be, in words."""
    places = [
        name for name, is_place in (("top", key.of_suite), ("dataset", key.of_dataset)) if is_place
    ]
    return ", ".join(places)


def with_tasks(text: str) -> str:
    """Return the page about floors with the table of evaluators' tasks."""
    families: dict[tuple[str, ...], list[EvaluatorTask]] = {}
    for task in evaluator_tasks():
        families.setdefault((task.evaluator, task.family, task.split), []).append(task)
    rows = "".join(f"| {' | '.join(task_cells(tasks))} |\n" for tasks in families.values())
    head = f"| {TASK_COLUMNS} |\n|{'---|' * (TASK_COLUMNS.count('|') + 1)}\n"
    return TASKS.sub(lambda match: f"{match[1]}{head}{rows}{match[2]}", text)


def task_cells(tasks: list[EvaluatorTask]) -> Iterator[str]:
    """Yield the cells of tasks that differ in names only; CORE's, in baselines too."""
    first, n_names = tasks[0], len({task.task for task in tasks})
    name = re.sub(r"\{\d\}", "*", first.family)
    evaluator = "CORE " if first.evaluator == "core" else ""
    yield f"{evaluator}`{name}`" + (f" ({n_names})" if n_names > 1 else "")
    yield f"{first.data}{' ' + first.subset if first.subset else ''}: {first.split}"
    yield ", ".join(f"{theirs}: {ours or '–'}" for theirs, ours in first.metric.items())
    yield first.questions
    yield "–" if first.chance is None else f"{100 * first.chance:.1f}"
    baselines = {f"{100 * task.baseline:.1f}" for task in tasks if task.baseline is not None}
    yield ", ".join(sorted(baselines)) or "–"
    log = re.search(r"--tasks (\S+)", first.command)
    yield f"log of `{log[1]}`" if log else f"`{first.command}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
    SUITES.write_text(
        with_suite_keys(SUITES.read_text(encoding="utf-8")), encoding="utf-8", newline="\n"
    )
    FLOOR.write_text(with_tasks(FLOOR.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
