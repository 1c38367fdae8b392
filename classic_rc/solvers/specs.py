"""Solver specifications, ``SOLVER[:VARIANT][,key=value]…``: parsing and printing them, and loading
users' classes.

A value is a number, ``True``, ``False``, ``None`` or a string. A string in double quotes, as in
JSON, may contain anything. The path of a file or folder is a string even if it looks like a number
(``path=2024``). ``[value; value]`` is a list. A comma inside brackets or quotes does not end a
parameter, so the members of a combination are a list of specifications:
``combination,solvers=[sw+d; score-file,path=rte.txt]``.

The parameters of a decision (:data:`classic_rc.decisions.RULES`) are given like those of the
solver: ``sw+d,ties=first``. ``decision=expected-f1`` names one.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from classic_rc.decisions import RULES, Decision, changed_decision, make_decision
from classic_rc.errors import DataError, UsageError, system_failures, unknown_name
from classic_rc.io.files import read_bytes, sha256_of_bytes
from classic_rc.solvers.base import Solver
from classic_rc.solvers.registry import SHORT_NAMES, SOLVERS
from classic_rc.text.analyzers import Analyzer

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[][,;]')
_CONSTANTS = {"True": True, "False": False, "None": None}


def parse_solver(spec: str) -> Solver:
    """Return the solver that a specification names.

    Parameters
    ----------
    spec : str
        ``SOLVER[:VARIANT][,key=value]...``, or ``path/to/file.py:Class[,key=value]...`` for a
        user's class. The field's short names work too: ``sw``, ``swd``, ``bm25``, ``tfidf``,
        ``lr``.

    Raises
    ------
    UsageError
        The solver, the variant or a parameter is unknown, or the brackets do not match.

    Examples
    --------
    >>> parse_solver("sw+d:mctest160").distance_weight
    10.0
    >>> parse_solver("sliding-window,window=30").window
    30
    >>> parse_solver("combination,solvers=[sw+d; ir,similarity=classic],weights=[1; 0.5]").weights
    [1, 0.5]
    """
    if not isinstance(spec, str):
        if isinstance(spec, Solver):
            actual, fix = f"the solver {spec.name}", "use it as it is"
        elif isinstance(spec, type) and issubclass(spec, Solver):
            actual, fix = f"the class {spec.__name__}", f"make a solver of it: {spec.__name__}()"
        else:
            actual, fix = type(spec).__name__, 'give a text such as "sw+d,window=30"'
        raise UsageError(
            f"{actual} is not a specification: {fix}", field="spec", found=actual, expected="a text"
        )
    head, *assignments = _split(spec, ",")
    if head.strip() in SHORT_NAMES:
        head, *more = _split(SHORT_NAMES[head.strip()], ",")
        assignments = [*more, *assignments]
    texts = dict(_split_assignment(text, spec) for text in assignments)
    head = head.strip()
    file, colon, class_name = head.rpartition(":")
    if colon and file.endswith(".py"):
        user_class = load_solver_class(Path(file), class_name)
        with system_failures(class_name, user_class):
            user_solver = user_class.from_params(_parse_params(user_class, texts, None))
            user_solver.row_name()  # needs every parameter
            return user_solver
    name, _, variant = head.partition(":")
    if name not in SOLVERS:
        raise unknown_name("solver", name, [*SOLVERS, *SHORT_NAMES])
    solver = SOLVERS[name]
    base = solver.variants[variant].params.get("decision") if variant in solver.variants else None
    params = _parse_params(solver, texts, base)
    return solver.variant(variant, **params) if variant else solver.from_params(params)


def solver_spec(solver: Solver) -> str:
    """Return the specification of a solver, which :func:`parse_solver` turns back into the solver.

    It cannot be parsed back if the solver is not registered, or if a value is an object in memory
    such as a corpus.

    Examples
    --------
    >>> solver_spec(parse_solver("sw+d:mctest160"))
    'sw+d:mctest160'
    >>> solver_spec(parse_solver("combination,solvers=[random; sw+d,window=9],weights=[1; 0.5]"))
    'combination,solvers=[random; sw+d,window=9],weights=[1; 0.5]'
    """
    cls, variant = type(solver), solver.variant_name()
    changed = [f"{name}={text}" for name, text in changed_texts(solver).items()]
    return ",".join([f"{cls.name}:{variant}" if variant else cls.name, *changed])


def changed_texts(solver: Solver) -> dict[str, str]:
    """Return the parameters that differ from the solver's variant, or from the defaults, as texts.

    A decision is shown by its parameters, or by its name.
    """
    cls, variant = type(solver), solver.variant_name()
    if variant is None:
        base = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
    else:
        base = cls.variant(variant).get_params(deep=False)
    params = solver.get_params(deep=False)
    params.pop("decision", None)
    texts = {name: _format_value(value) for name, value in params.items()}
    base_texts = {name: _format_value(base[name]) for name in texts}
    changed = {name: text for name, text in texts.items() if text != base_texts[name]}
    deciding = changed_decision(solver.decision, base.get("decision"), cls.usual_decision)
    return changed | {
        name: _format_value(value) for name, value in deciding.items() if name not in texts
    }


def change_paths(solver: Solver, change: Callable[[str], str]) -> Solver:
    """Return a copy of an unfitted solver, or the solver itself, with other paths in its
    parameters.

    `change` takes a parameter's value, or a part of it, that may name a file, and returns the value
    to use.
    """
    cls, params = type(solver), solver.get_params(deep=False)
    changed = {name: _change_path(cls, name, value, change) for name, value in params.items()}
    return solver if changed == params else cls.from_params(changed)


def _change_path(cls: type[Solver], name: str, value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, Solver):
        return change_paths(value, change)
    if isinstance(value, list | tuple) and any(isinstance(item, Solver) for item in value):
        return type(value)(_change_path(cls, name, item, change) for item in value)
    return cls.parameter(name).with_files(value, change)


def _split(text: str, separator: str) -> list[str]:
    """Split `text` at the separators that are neither in brackets nor in quotes."""
    parts, depth, start = [], 0, 0
    for token in _TOKENS.finditer(text):
        depth += {"[": 1, "]": -1}.get(token[0], 0)
        if depth < 0:
            break
        if token[0] == separator and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    if depth:
        problem = (
            f"the brackets in {text!r} do not match: close them, or put a value that contains "
            "brackets in double quotes"
        )
        raise UsageError(problem, field="solver", found=text, expected="matching brackets")
    return [*parts, text[start:]]


def _split_assignment(text: str, spec: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        problem = (
            f"invalid parameter {text.strip()!r} in solver {spec!r}: expected key=value; "
            "to name several solvers, give each its own -s"
        )
        raise UsageError(problem, field="solver", found=text.strip(), expected="key=value")
    return key.strip(), value.strip()


def _parse_params(
    solver: type[Solver], texts: Mapping[str, str], base: Decision | None
) -> dict[str, Any]:
    """Parse the texts of parameters; a decision's parameters change the variant's decision."""
    names = solver._get_param_names()
    rules = set()
    if "decision" in names:
        rules = {name for rule in RULES.values() for name in rule.parameters} - {*names}
        rules.add("decision")
    deciding = {key: _parse_value(text) for key, text in texts.items() if key in rules}
    is_default = deciding == {"decision": None}
    params: dict[str, Any] = {}
    if deciding:
        params["decision"] = None if is_default else make_decision(deciding, base)
    for key, text in texts.items():
        if key in deciding:
            continue
        member, _, name = key.rpartition("__")  # MEMBER__PARAMETER of a combination
        owner: Any = SOLVERS.get(member.rpartition("__")[2], Solver) if member else solver
        params[key] = _parse_value(text, is_path=owner.parameter(name).is_file)
    return params


def _parse_value(text: str, is_path: bool = False) -> Any:
    """Return the value of a text. A path stays as it is written, even if it looks like a number."""
    if text in _CONSTANTS and not (is_path and text != "None"):
        return _CONSTANTS[text]
    if text.startswith("[") and text.endswith("]"):
        items = text[1:-1].strip()
        return [_parse_value(item.strip(), is_path) for item in _split(items, ";")] if items else []
    if text.startswith('"') and text.endswith('"'):
        try:
            return json.loads(text)
        except ValueError as error:
            problem = f"{text} is not a valid JSON string: {error}"
            raise UsageError(
                problem, field="solver", found=text, expected="a JSON string in double quotes"
            ) from None
    for number in () if is_path else (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _format_value(value: Any) -> str:
    """Return the text that `_parse_value` reads as `value`."""
    if isinstance(value, Solver):
        return solver_spec(value)
    if isinstance(value, list | tuple):
        return f"[{'; '.join(map(_format_value, value))}]"
    if isinstance(value, Analyzer):
        value = value.spec
    if isinstance(value, str):
        is_bare = value != "" and value == value.strip() and set('[],;"').isdisjoint(value)
        return value if is_bare and _parse_value(value) == value else json.dumps(value)
    return " ".join(str(value).split())


_is_trusted: ContextVar[bool] = ContextVar("is_trusted", default=True)


@contextmanager
def own_code(*, trusted: bool) -> Iterator[None]:
    """Say whether users' own files may run while solvers are made.

    What a user types may run. What a file names (a suite, a record, a saved solver) may run if the
    user says so.
    """
    token = _is_trusted.set(trusted and _is_trusted.get())
    try:
        yield
    finally:
        _is_trusted.reset(token)


def load_solver_class(path: Path, class_name: str) -> type[Solver]:
    """Import a user's file, which runs its code, and return its solver class `class_name`.

    Raises
    ------
    DataError
        The file is missing.
    UsageError
        A file names this code, and it may not run (:func:`own_code`). The file cannot be imported,
        or has no such solver class, or the class lacks ``score_candidates``.
    """
    if not path.is_file():
        raise DataError("no such file", source=str(path), hint="Use path/to/file.py:Class")
    if not _is_trusted.get():
        problem = f"{path}:{class_name} runs the code of {path}: check that file, then add --trust"
        raise UsageError(
            problem, field="--trust", found="not set", expected=f"--trust, to run {path}"
        )
    spec = importlib.util.spec_from_file_location(f"classic_rc_user_{path.stem}", path)
    assert spec is not None
    source = read_bytes(path)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look up their module while they are created, so it must be in `sys.modules` during
    # the import. It must not stay there: pickling would then send its classes to other processes by
    # name, without their code.
    sys.modules[spec.name] = module
    # Python reuses the old bytecode of a file that is edited twice within one second.
    writes_no_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        exec(compile(source, str(path), "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        raise UsageError(
            f"{path}, line {error.lineno}: {error.msg}", field="solver", found=str(path)
        ) from error
    except Exception as error:
        raise UsageError(
            f"cannot import {path}: {type(error).__name__}: {error}",
            field="solver",
            found=str(path),
        ) from error
    finally:
        sys.dont_write_bytecode = writes_no_bytecode
        sys.modules.pop(spec.name, None)
    classes = {}
    for name, member in vars(module).items():
        if isinstance(member, type) and issubclass(member, Solver):
            classes[name] = member
    if class_name not in classes:
        defined = {n for n, c in classes.items() if c.__module__ == module.__name__}
        if not defined:
            problem = (
                f"{path} defines no solver class {class_name!r}: write a subclass of "
                "classic_rc.Solver"
            )
            actual, expected = class_name, "a subclass of classic_rc.Solver"
            raise UsageError(
                problem, field=f"solver class in {path}", found=actual, expected=expected
            )
        raise unknown_name(f"solver class in {path}", class_name, defined)
    solver_class = classes[class_name]
    if getattr(solver_class, "__abstractmethods__", None):
        problem = f"{class_name} in {path} must implement score_candidates(questions) -> Scores"
        actual, expected = class_name, "score_candidates(questions) -> Scores"
        raise UsageError(problem, field=f"solver class in {path}", found=actual, expected=expected)
    solver_class.source_file, solver_class.source_sha256 = str(path), sha256_of_bytes(source)
    return solver_class
