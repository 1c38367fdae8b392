"""The commands by name: the package's own, and those that other packages add by entry points."""

from __future__ import annotations

from typing import Any, NamedTuple

from classic_rc.errors import UsageError
from classic_rc.plugins import Registry


class Command(NamedTuple):
    """A command's entry in the registry: what ``--help`` shows without importing the command."""

    help: str  # one line
    module: str  # has `OPTIONS`, its options, and `handle`, which runs it and returns the exit code
    lists: tuple[str, ...] = ()  # what `classic-rc list` shows of it: names in the module's `LISTS`


def _from_module(name: str, module: Any) -> Command:
    """Return the entry of a command of another package, which names a module."""
    if missing := [
        attribute for attribute in ("HELP", "OPTIONS", "handle") if not hasattr(module, attribute)
    ]:
        raise UsageError(
            f"a command is a module with HELP (one line), OPTIONS and handle; {', '.join(missing)} "
            "is missing",
            field="command",
            found=name,
            expected="a module with HELP, OPTIONS and handle",
        )
    return Command(module.HELP, module.__name__, tuple(getattr(module, "LISTS", ())))


COMMANDS: Registry[Command] = Registry(
    "command",
    {
        "run": Command(
            "score datasets with baselines and print a table of results.",
            "classic_rc.commands.run.command",
        ),
        "floor": Command(
            "show what systems without understanding get on known datasets, without any data.",
            "classic_rc.commands.floor.command",
        ),
        "predict": Command(
            "write a solver's answers, or its scores, to a file in an official submission format.",
            "classic_rc.commands.predict",
        ),
        "compare": Command(
            "compare systems: differences, intervals, p-values, and which questions each solves.",
            "classic_rc.commands.compare.command",
        ),
        "table": Command(
            "make one table for a paper from saved runs, its figure, or its paragraph on methods.",
            "classic_rc.commands.table.command",
        ),
        "check": Command(
            "test whether a dataset can be answered without reading it, and look for defects.",
            "classic_rc.commands.check.command",
        ),
        "reproduce": Command(
            "compare published scores, or the scores of a saved run, with scores computed here.",
            "classic_rc.commands.reproduce.command",
        ),
        "perturb": Command(
            "write a copy of a dataset without something that a reader needs, for any system.",
            "classic_rc.commands.check.perturb",
        ),
        "explain": Command(
            "show how solvers score each candidate of one question.",
            "classic_rc.commands.explain.command",
        ),
        "report": Command(
            "write one HTML page about a dataset: results, leaks, statistics and every question.",
            "classic_rc.commands.report.command",
        ),
        "fit": Command(
            "train a solver on a dataset and save it to a file.",
            "classic_rc.commands.fit",
        ),
        "fetch": Command(
            "download datasets into the cache, so that other commands read them by name.",
            "classic_rc.commands.fetch",
        ),
        "index": Command(
            "build, extend or check a search index of sentences.",
            "classic_rc.commands.index",
        ),
        "grade": Command(
            "grade the files of students, each in a process of its own.",
            "classic_rc.commands.grade.command",
            lists=("assignments",),
        ),
        "list": Command(
            "list what exists: solvers, variants, datasets, metrics, formats and more, or its "
            "BibTeX.",
            "classic_rc.commands.list",
        ),
    },
    _from_module,
)
"""All commands, in the order of ``classic-rc --help``. To add a command, add one entry here."""
