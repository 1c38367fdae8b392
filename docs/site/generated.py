"""The pages of the site that no file has: one for each solver, one for each package, and the
list of commands.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator

import make_api
import make_parameters

from classic_rc.cli.registry import COMMANDS
from classic_rc.datasets import load
from classic_rc.questions import Task
from classic_rc.results.literature import PublishedRow, load_published
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SOLVER_ENTRIES, SOLVERS

SAMPLES = {
    Task.SINGLE_CHOICE: "sample:single-choice",
    Task.MULTIPLE_ANSWER: "sample:multiple-answer",
    Task.CLOZE: "sample:cloze",
    Task.MULTI_SPAN: "sample:multi-span",
}
"""The sample of each task, in the order in which a solver's page takes the first that the solver
answers.
"""

SPECIFICATIONS = {
    "score-file": "score-file,path=docs/examples/llm.jsonl",
    "combination": "combination,solvers=[sw+d; ir],weights=[1; 0.5]",
    "saved": "saved,path=model.npz",
}
"""How to run the solvers that need a parameter."""

BEFORE = {"saved": "classic-rc fit sample:single-choice -s surface-lr -o model.npz\n"}
"""Commands that come before those of a solver."""


def pages() -> dict[str, str]:
    """Return the text of every generated page by its place in the site."""
    made = {"commands": command_list()}
    made |= {f"solvers/{name}": solver_page(name, SOLVERS[name]) for name in SOLVER_ENTRIES}
    return made | dict(api_pages())


def commands() -> list[str]:
    return list(COMMANDS)


def command_list() -> str:
    """Return the page with one line for each command."""
    rows = "".join(
        f"| [`{name}`](commands/{name}.md) | {command.help} |\n"
        for name, command in COMMANDS.items()
    )
    return (
        "# Commands\n\nEach page has what a command prints on the sample questions, and its "
        "options. The build of this site runs the commands, so the output is that of this version. "
        "[Data and commands](usage.md) has formats, names of systems and exit codes.\n\n| command "
        f"| what it does |\n|---|---|\n{rows}"
    )


def solver_page(name: str, solver: type[Solver]) -> str:
    """Return a solver's page: a picture, its formula, variants, parameters, numbers, and what it
    cites.
    """
    text = inspect.getdoc(solver) or ""
    if ".. math::" not in text:
        raise ValueError(
            f"{solver.__module__}.{solver.__name__} has no formula (.. math::) in its docstring"
        )
    formula = re.split(r"\n(?:Parameters|Attributes)\n---+\n", text)[0]
    parameters = "".join(row(*cells) for cells in make_parameters.parameters(solver))
    return "\n".join(
        [
            f"# {name}\n",
            f"{solver.description[0].upper()}{solver.description[1:]}.{learns(solver)}\n",
            *picture(name, solver),
            "## Formula\n",
            "```{eval-rst}\n" + f".. py:currentmodule:: {solver.__module__}\n\n{formula}\n```\n",
            f"In Python it is `classic_rc.solvers.{solver.__name__}`.\n",
            *variants(name, solver),
            "## Parameters\n\n| parameter | default | what | values "
            f"|\n|---|---|---|---|\n{parameters}",
            "## Numbers\n",
            *numbers(name, solver),
            f"## References\n\n{solver.citation or 'Our own'}.\n",
            f"```{{run}}\nclassic-rc list --bibtex {name}\n```\n",
        ]
    )


def with_reference(text: str, page: str) -> str:
    """Return what `docs/solvers` says of a solver, with the formula and the tables of its
    generated page.
    """
    above, heading, python = text.partition("## In Python\n")
    formula, tables = re.split(
        r"^(?=## (?:Variants|Parameters)$)", page, maxsplit=1, flags=re.MULTILINE
    )
    return f"{above}## Formula\n{formula.partition('## Formula')[2]}{heading}{python}\n{tables}"


def learns(solver: type[Solver]) -> str:
    """Return the sentence on what a solver learns from; none where this depends on its
    parameters.
    """
    return f" It learns from {solver.learns_from}." if isinstance(solver.learns_from, str) else ""


def sample_of(solver: type[Solver]) -> str | None:
    """Return the first sample that a solver answers."""
    tasks = solver.tasks if isinstance(solver.tasks, frozenset) else frozenset(Task)
    return next((data for task, data in SAMPLES.items() if task in tasks), None)


def picture(name: str, solver: type[Solver]) -> Iterator[str]:
    """Yield what shows how a solver answers a question of the sample."""
    if (sample := sample_of(solver)) and name not in BEFORE:
        spec = shlex.quote(SPECIFICATIONS.get(name, name))
        yield f"```{{explained}}\n{sample} {load(sample)[0].id} {spec}\n```\n"


def variants(name: str, solver: type[Solver]) -> Iterator[str]:
    """Yield the table of a solver's variants."""
    if solver.variants:
        rows = "".join(
            row(f"`{name}:{key}`", found.description, found.citation)
            for key, found in solver.variants.items()
        )
        yield f"## Variants\n\n| variant | what it is | source |\n|---|---|---|\n{rows}"


def numbers(name: str, solver: type[Solver]) -> Iterator[str]:
    """Yield what a solver scores on the sample, why, and the published figures that it should
    reproduce.
    """
    if sample := sample_of(solver):
        spec = shlex.quote(SPECIFICATIONS.get(name, name))
        learning = " --cv 3" if solver.learns_from == "gold" and name != "score-file" else ""
        yield (
            "On the sample's few questions, which compare nothing and show how it "
            "looks:\n\n```{run}\n"
            f"{BEFORE.get(name, '')}classic-rc run {sample} -s {spec}{learning} --intervals\n"
            "```\n"
        )
    else:
        yield "The sample has no questions of its task.\n"
    if rows := "".join(published(name)):
        yield (
            "Published figures of this system (%). Our numbers for them, each with its command, "
            "are in [Results](../results.md) and [Reproduction](../reproduction.md).\n\n"
            "| published as | data | metric | figure | ours to the digit | with | source |\n"
            f"|---|---|---|---:|---|---|---|\n{rows}"
        )


def row(*cells: str) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def published(name: str) -> Iterator[str]:
    """Yield a table row for each published figure that a solver reproduces or fails to
    reproduce.
    """
    figures = load_published()
    for figure in figures.rows:
        ours = figures.reproductions.get(figure.reproduction or "")
        if ours and re.split("[:,]", ours.solver)[0] == name and figure.value is not None:
            exact = "yes" if ours.exact else "no"
            value, spec = str(figure.value), f"`{ours.solver}`"
            yield row(
                figure.system, data_of(figure), figure.metric, value, exact, spec, figure.source
            )


def data_of(figure: PublishedRow) -> str:
    return " ".join(part for part in (figure.dataset, figure.split, figure.subset) if part)


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield a page for each package with all that it exports; what several export is on the
    first one's page.
    """
    homes: dict[tuple[str, str], str] = {}
    for module in make_api.modules():
        lines = [
            f"# {module.name}\n",
            "```{eval-rst}",
            f".. py:module:: {module.name}\n",
            module.text,
            "```\n",
        ]
        for name in make_api.names(module):
            key = (name.home, name.origin)
            lines.append(f"## {name.name}\n")
            if not name.origin:
                lines.append(f"A module with a page of its own: [{name.home}]({name.home}.md).\n")
            elif key in homes and name.name != "__version__":
                lines.append(
                    f"{name.summary} It is on the page of [{homes[key]}]({homes[key]}.md).\n"
                )
            else:
                homes[key] = module.name
                lines.append(f"```{{eval-rst}}\n{directive(module.name, name)}\n```\n")
        yield f"api/{module.name}", "\n".join(lines)


def directive(module: str, name: make_api.Name) -> str:
    """Return the reStructuredText that documents a name."""
    full = f"{module}.{name.name}"
    match name.node:
        case make_api.ast.ClassDef() as node:
            fields = "".join(f"\n      {line}" for line in make_api.field_lines(node, name.home))
            shown = f"\n   .. code-block:: python\n{fields}\n" if fields else ""
            return f".. autoclass:: {full}\n   :members:\n{shown}"
        case make_api.ast.FunctionDef():
            return f".. autofunction:: {full}\n"
    text = name.text.replace("\n", "\n   ")
    return f".. py:data:: {full}\n\n   {text}\n"
