"""Assignments: what students write, the rules that a class draws, the checks, and the submission
they are given.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import random
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.commands.grade.sandbox import Sandbox, SubmissionError
from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.questions import Dataset
from classic_rc.solvers.explanation import Explanation

ASSIGNMENTS = Path(__file__).with_name("assignments")
"""The folder of the assignments that come with the package; each is a folder with ``checks.py``."""

DECLARATION = "assignment.json"
"""The file by which a folder says what its submissions are."""

Case: TypeAlias = tuple[Any, ...]
"""The arguments of one call: numbers, strings, and lists and dictionaries of them."""

Change: TypeAlias = tuple[str, str]
"""A piece of the reference's text, and its replacement."""


EXAMPLE = re.compile(r"^    (\w+\(.*\))  # (.*)$", re.MULTILINE)
"""A call on an assignment's page, with its value by the rules of the page."""

_LABELS = {
    "By hand: ": "By hand, by the published rules: ",
    "In Python:": "In Python, by the rules of your class:",
    "To think about": "To think about (numbers are of the published rules)",
}
"""What the page's parts are called in a class."""


@dataclass(eq=False)
class CheckFailedError(AssertionError):
    """A check found a problem; its details are more lines, such as the smallest counterexample and
    a likely cause.

    `explained` are questions that show it, each explained by one system or several.
    """

    problem: str
    details: str = ""
    explained: tuple[tuple[Explanation, ...], ...] = ()


@dataclass(frozen=True)
class Function:
    """A function that students write; theirs is compared with the one of ``reference.py``.

    Parameters
    ----------
    cases : callable
        Takes a generator of random numbers and returns the arguments of each call.
    uses : tuple of str
        Functions that it uses: a function that uses one with a known mistake can be right.
    allowed : callable
        Takes arguments, and returns whether a call with them makes sense.
    simplify : callable, optional
        Takes arguments and returns simpler ones, where they depend on each other.
    """

    cases: Callable[[random.Random], Sequence[Case]]
    uses: tuple[str, ...] = ()
    allowed: Callable[..., bool] = lambda *case: True
    simplify: Callable[[Case], Any] | None = None


@dataclass(frozen=True)
class Check:
    """One check: a function to compare, or what takes a submission and raises an error if something
    is wrong.

    `where` takes the arguments of a call, and returns whether the check is about it; as a name, it
    is a function of the class's reference, and so depends on the rules. Unless those
    that it `needs` pass, it earns nothing. A check of 0 points is only a gate for others. `run` may
    return the share that is earned.
    """

    name: str
    points: float
    title: str
    run: str | Callable[[Submission], float | None]
    where: str | Callable[..., bool] | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """What a submission is checked for; a teacher's file has one with the name ``ASSIGNMENT``.

    Next to that file are ``README.md``, the page for students; ``reference.py`` with the right
    functions; and ``rules.toml``: what each class draws (rules in words, each with its piece of the
    reference; the first one is the page's, which no class draws; one with ``{2-40}`` is drawn with
    a number, ``{}`` in its piece), and known mistakes (pieces of the reference, and what takes
    their place).

    Parameters
    ----------
    title, main : str
        What it is about, and the name of the student's file.
    checks : tuple of Check
    functions : mapping of str to Function
    packages : tuple of str
        What submissions may import in addition to Python's library; ``classic_rc`` is its part for
        students.
    floor : str or None
        The solver that accuracy is compared with.
    make_questions, make_files : callable, optional
        Take the seed and return questions to measure on; and more files for students by name.
    template : Change, str or None
        What students start from: a change of the reference, a text, or its functions without
        bodies.
    suffixes : tuple of str
        The kinds of files, other than code, that belong to a submission.
    name, file, rules, known_mistakes, choice
        Set when it is loaded; `choice` are the class's rules in words.
    """

    title: str
    main: str
    checks: tuple[Check, ...]
    functions: Mapping[str, Function] = field(default_factory=dict)
    packages: tuple[str, ...] = ("numpy",)
    floor: str | None = None
    make_questions: Callable[[int], Dataset] | None = None
    make_files: Callable[[int], dict[str, bytes]] | None = None
    template: Change | str | None = None
    suffixes: tuple[str, ...] = ()
    name: str = ""
    file: Path = Path()
    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    known_mistakes: Mapping[str, Mapping[str, Change]] = field(default_factory=dict)
    choice: Mapping[str, str] = field(default_factory=dict)

    @property
    def own_files(self) -> list[Path]:
        """The files that say what is right, if they are a teacher's."""
        siblings = [
            self.file.with_name(name) for name in ("reference.py", "rules.toml", "README.md")
        ]
        return (
            [] if ASSIGNMENTS in self.file.parents else [self.file, *filter(Path.is_file, siblings)]
        )

    @property
    def points(self) -> float:
        """The points of all checks together."""
        return sum(check.points for check in self.checks)

    def drawn(self, seed: int) -> Assignment:
        """Return the assignment with the rules of the class that has this seed."""
        rng = random.Random(f"rules {self.name} {seed}")
        # The first rule of each is the page's; no class gets it.
        choice = {}
        for key, rules in self.rules.items():
            _, *rules_of_classes = rules
            choice[key] = rng.choice(rules_of_classes)
        return replace(self, choice=choice)

    @cached_property
    def _reference(self) -> str:
        file = self.file.with_name("reference.py")
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def source(self, *changes: Change, first: tuple[Change, ...] = ()) -> str:
        """Return the text of the class's reference with changes; those without a place in it are
        left out.
        """
        text = self._reference
        all_changes = [*first]
        for key, rule in self.choice.items():
            pieces = self.rules[key]
            page_piece = next(iter(pieces.values()))
            all_changes.append((page_piece, pieces[rule]))
        for old, new in (*all_changes, *changes):
            text = text.replace(old, new)
        return text

    def right(self, name: str, *changes: Change) -> Callable[..., Any]:
        """Return a function of the class's reference, with changes."""
        function = _run_source(self.source(*changes))[name]
        assert callable(function)
        return function

    def known(self, name: str) -> dict[str, tuple[Change, ...]]:
        """Return what may be wrong with a function, and the change of the reference that makes
        it so.
        """
        source = self.source()
        mistakes = self.known_mistakes.get(name, {})
        return {words: ((old, new),) for words, (old, new) in mistakes.items() if old in source}

    def others(self, name: str) -> dict[str, tuple[Change, ...]]:
        """Return the rules of other classes for a function, and the changes of the reference
        that make them so.
        """
        pages = {key: next(iter(rules)) for key, rules in self.rules.items()}
        source = self.source()
        other_functions = {*self.functions} - {name}
        body = ast.parse(source).body
        nodes = [node for node in body if getattr(node, "name", name) in other_functions]
        elsewhere = "".join(ast.get_source_segment(source, node) or "" for node in nodes)
        changes_of_rules: dict[str, tuple[Change, ...]] = {}
        for key, rules in self.rules.items():
            rule_of_class = self.choice.get(key, pages[key])
            piece_of_class = rules[rule_of_class]
            # A rule whose piece is in another function is about that function.
            if piece_of_class.strip() in elsewhere:
                continue
            for rule, piece in rules.items():
                if rule != rule_of_class:
                    cause = f"{rule}; in your class, {rule_of_class}"
                    changes_of_rules[cause] = ((piece_of_class, piece),)
        if self.choice:
            changes_to_page = []
            for key, rule_of_class in self.choice.items():
                rules = self.rules[key]
                changes_to_page.append((rules[rule_of_class], rules[pages[key]]))
            cause = "these are the rules of the page; your class has its own"
            changes_of_rules[cause] = tuple(changes_to_page)
        return changes_of_rules

    def start(self) -> bytes:
        """Return the file that students start from."""
        if isinstance(self.template, str):
            return self.template.encode()
        if self.template is not None:
            return self.source(first=(self.template,)).encode()
        tree = ast.parse(self.source())
        statements: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Assign)]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
                node.body[1:] = ast.parse("return None").body
                statements.append(node)
        text = f'"""{self.title}. It runs as it is, and earns nothing yet."""\n\n\n'
        return (text + "\n\n\n".join(map(ast.unparse, statements)) + "\n").encode()

    def example(self, call: str) -> str:
        """Return a call as the page shows it, with its value by the rules of the class."""
        value = eval(call, _run_source(self.source()))
        rounded = [round(number, 4) for number in value] if isinstance(value, list) else value
        rounded = round(value, 4) if isinstance(value, float) else rounded
        return f"    {call}  # {rounded}"

    def hand_out(self, seed: int) -> dict[str, bytes]:
        """Return the files of a class by name: the page with its rules, the file to start from,
        and made data.
        """
        assignment = self.drawn(seed)
        page = self.file.with_name("README.md")
        text = page.read_text(encoding="utf-8") if page.is_file() else f"# {self.title}\n"
        if assignment.choice:
            rules = ""
            for key, rule in assignment.choice.items():
                page_rule = next(iter(self.rules[key]))
                rules += f"- {rule}\n  (not: {page_rule})\n"
            for label, label_of_class in _LABELS.items():
                text = text.replace(label, label_of_class)
            text = EXAMPLE.sub(lambda call: assignment.example(call[1]), text)
            head, _, rest = text.partition("\n")
            text = (
                f"{head}\n\n**The rules of your class** take the place of what this page "
                f"says:\n\n{rules}{rest}"
            )
        declared = (
            json.dumps(
                {"assignment": self.name, "rules": assignment.choice}, indent=2, ensure_ascii=False
            )
            + "\n"
        )
        files = {
            "README.md": text.encode(),
            DECLARATION: declared.encode(),
            self.main: assignment.start(),
        }
        return files | (self.make_files(seed) if self.make_files else {})


@lru_cache(maxsize=512)
def _run_source(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, "reference.py", "exec"), names)
    return names


def list_assignments() -> list[str]:
    """Return the names of the assignments that come with the package."""
    return sorted(path.parent.name for path in ASSIGNMENTS.glob("*/checks.py"))


def load_assignment(
    which: Assignment | str | PathLike[str], rules: Mapping[str, str] | None = None
) -> Assignment:
    """Load an assignment: the name of one of the package, or a teacher's file; with the rules of a
    class in words.

    One that is loaded already is returned as it is.

    Raises
    ------
    UsageError
        No such assignment or rule; or the file raises an error, or it has no ``ASSIGNMENT`` that
        can be used.
    """
    if isinstance(which, Assignment):
        return which
    is_own = str(which) in list_assignments()
    file = ASSIGNMENTS / str(which) / "checks.py" if is_own else Path(which)
    if not file.is_file():
        raise unknown_name("assignment or file", str(which), list_assignments())
    if file.suffix != ".py":
        raise UsageError(
            f"{file} is no assignment: expected a file of Python, or one of the names of "
            "`classic-rc list assignments`",
            field="assignment",
            found=str(which),
            expected="a .py file",
        )
    try:
        assignment = replace(
            _import(file).ASSIGNMENT, name=file.parent.name if is_own else file.stem, file=file
        )
        data = (
            tomllib.loads(path.read_text("utf-8"))
            if (path := file.with_name("rules.toml")).is_file()
            else {}
        )
        assignment = replace(
            assignment,
            rules=_expand(data.get("rules", {})),
            known_mistakes=data.get("mistakes", {}),
        )
        names = [check.name for check in assignment.checks]
        for check in assignment.checks:
            if isinstance(check.run, str):
                assignment.right(check.run)
            if isinstance(check.where, str):
                assignment.right(check.where)
            if missing := [
                name for name in check.needs if name not in names[: names.index(check.name)]
            ]:
                raise ValueError(
                    f"the check {check.name} needs {missing[0]!r}, which is not an earlier check"
                )
        for key, rule in (rules or {}).items():
            if rule not in assignment.rules.get(key, ()):
                raise ValueError(f"it has no rule {key}: {rule}")
    except (Exception, SystemExit) as error:
        problem = f"cannot use the assignment {file}: {type(error).__name__}: {error}"
        raise UsageError(problem, field="assignment", found=str(which)) from error
    return replace(assignment, choice=dict(rules or {}))


def read_declaration(place: Path) -> tuple[str, dict[str, str], int | None] | None:
    """Return what a declaration, its folder or a file next to it says: a name, rules, and
    perhaps a seed.
    """
    folders = (place, place.parent) if place.is_file() else (place,)
    candidates = (
        [place] if place.suffix == ".json" else [folder / DECLARATION for folder in folders]
    )
    file = next((file for file in candidates if file.is_file()), None)
    if file is None:
        return None
    try:
        content = json.loads(file.read_bytes())
        name = content["assignment"]
        rules, seed = dict(content.get("rules", {})), content.get("seed")
        if not isinstance(name, str) or not (seed is None or type(seed) is int):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        expected = '{"assignment": NAME, "rules": {...}} and perhaps a "seed"'
        raise DataError(
            "no declaration of an assignment", source=str(file), expected=expected
        ) from None
    return name, rules, seed


def _expand(rules: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return rules with one entry for each number that a class may draw."""
    expanded: dict[str, dict[str, str]] = {}
    for key, pieces in rules.items():
        expanded[key] = {}
        for words, piece in pieces.items():
            start, stop = re.search(r"\{(\d+)-(\d+)\}", words + "{0-0}").groups()  # type: ignore[union-attr]
            for number in range(int(start), int(stop) + 1):
                rule = re.sub(r"\{\d+-\d+\}", str(number), words)
                expanded[key][rule] = piece.replace("{}", str(number))
    return expanded


def _import(file: Path) -> Any:
    name = f"classic_rc_assignment_{file.parent.name}_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class Submission:
    """A student's file as checks see it: functions to call, values to read, a solver to ask for
    scores.

    ``submission.double(3)`` calls the student's function in the student's process with plain data
    and returns plain data; ``submission.CUE`` is a value. Each raises
    :class:`~classic_rc.commands.grade.SubmissionError` if the student's code fails. `names` are the
    file's public names and their kinds.
    """

    sandbox: Sandbox
    names: Mapping[str, str]
    assignment: Assignment
    seed: int = 0
    questions: Dataset | None = None
    train: Dataset | None = None
    is_hidden: bool = False
    _scores: dict[str, list[list[float]]] = field(default_factory=dict, repr=False)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if self.kind_of(name) == "value":
            return self.sandbox.read(name)
        return lambda *args: self.sandbox.call(name, *args)

    def kind_of(self, name: str) -> str:
        """Return whether a name of the file is a function, a solver, a class or a value; fail
        without it.
        """
        if name not in self.names:
            defined = ", ".join(sorted(self.names)) or "nothing"
            expected = ", ".join(sorted({name, *self.assignment.functions}))
            raise CheckFailedError(
                f"the file does not define {name}; it defines {defined}; wanted: {expected}"
            )
        return self.names[name]

    @property
    def solver_name(self) -> str:
        """The name of the one solver class that the file defines."""
        solvers = [name for name, kind in self.names.items() if kind == "solver"]
        if len(solvers) != 1:
            names = ", ".join(solvers) or "none"
            raise CheckFailedError(
                f"the file must define exactly one subclass of classic_rc.Solver; found: {names}"
            )
        return solvers[0]

    def score(self, dataset: Dataset) -> list[list[float]]:
        """Return the solver's scores of a dataset: a finite number for each candidate. Gold
        stays here.
        """
        key = dataset.fingerprint
        if key not in self._scores:
            train = None if self.train is None else rows_of(self.train, with_gold=True)
            try:
                self._scores[key] = self.sandbox.score(self.solver_name, rows_of(dataset), train)
            finally:
                # What has seen them must not quote them later.
                if self.is_hidden and dataset is self.questions:
                    with suppress(SubmissionError):
                        self.sandbox.restart()
        return self._scores[key]


def rows_of(dataset: Dataset, *, with_gold: bool = False) -> list[dict[str, Any]]:
    """Return questions as plain data for a student's process, without their ids, which could be
    remembered.
    """
    passages: dict[str, str] = {}
    rows = []
    for number, question in enumerate(dataset):
        passage_id = passages.setdefault(question.passage.id, f"passage {len(passages)}")
        row = {
            "id": f"question {number}",
            "passage_id": passage_id,
            "passage": question.passage.text,
            "question": question.query,
            "candidates": [candidate.text for candidate in question.candidates],
            "task": str(question.task),
        }
        if with_gold and question.gold is not None:
            row["gold"] = sorted(question.gold, key=str)  # type: ignore[arg-type]
        rows.append(row)
    return rows
