"""Solvers by name, and from the command line's ``SOLVER[:VARIANT][,key=value]...``."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.questions import Task
from classic_rc.solvers.base import Solver
from classic_rc.solvers.cues import Length, NegationWords, PositionPrior, VerbatimOverlap
from classic_rc.solvers.frequency import ExclusiveFrequency, MaximumFrequency
from classic_rc.solvers.ir import IRSolver
from classic_rc.solvers.random import Random
from classic_rc.solvers.saved_solver import SavedSolver
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.sliding import SlidingWindow, SlidingWindowDistance, WordDistance
from classic_rc.solvers.surface import SurfaceLR
from classic_rc.solvers.trivial import (
    AllNegative,
    AllPositive,
    ConstantPosition,
    LongestCandidate,
    ShortestCandidate,
)

__all__ = ["DEFAULT_SOLVERS", "SOLVERS", "parse_solver"]

SOLVERS: Mapping[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        Random,
        AllPositive,
        AllNegative,
        ConstantPosition,
        LongestCandidate,
        ShortestCandidate,
        MaximumFrequency,
        ExclusiveFrequency,
        SlidingWindow,
        WordDistance,
        SlidingWindowDistance,
        IRSolver,
        SurfaceLR,
        Length,
        NegationWords,
        PositionPrior,
        VerbatimOverlap,
        ScoreFile,
        SavedSolver,
    )
}
"""Every solver, in the order of tables."""

_MATCHERS = ("sliding-window", "word-distance", "sw+d", "ir")

DEFAULT_SOLVERS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("random", "constant-position", "longest", "shortest", *_MATCHERS),
    Task.MULTIPLE_ANSWER: ("random", "all-positive", "all-negative", "longest", "shortest", *_MATCHERS),
    Task.CLOZE: ("random", "max-frequency", "exclusive-frequency", *_MATCHERS),
    Task.SPAN: ("random", *_MATCHERS),
    Task.MULTI_SPAN: ("random", *_MATCHERS),
}
"""What runs on a task when nothing is named."""


def parse_solver(spec: str) -> Solver:
    """The solver that a specification names.

    Parameters
    ----------
    spec : str
        ``SOLVER[:VARIANT][,key=value]...``, or ``path/to/file.py:Class[,key=value]...`` for one's own.

    Raises
    ------
    UsageError
        The solver, the variant or a parameter does not exist.

    Examples
    --------
    >>> parse_solver("sw+d:mctest160").distance_weight
    10.0
    >>> parse_solver("sliding-window,window=30").window
    30
    """
    head, *assignments = spec.split(",")
    params = dict(_assignment(text, spec) for text in assignments)
    head = head.strip()
    file, colon, class_name = head.rpartition(":")
    if colon and file.endswith(".py"):
        return _own_solver(Path(file), class_name).from_params(params)
    name, _, variant = head.partition(":")
    if name not in SOLVERS:
        raise unknown_name("solver", name, SOLVERS)
    solver = SOLVERS[name]
    return solver.variant(variant, **params) if variant else solver.from_params(params)


def _assignment(text: str, spec: str) -> tuple[str, Any]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"{text.strip()!r} in solver {spec!r} is no key=value: after the first comma come parameters; "
            "name several solvers with one -s each"
        )
    return key.strip(), _value(value.strip())


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text in ("True", "False", "None"):
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _own_solver(path: Path, class_name: str) -> type[Solver]:
    if not path.is_file():
        raise DataError("there is no such file", source=str(path), hint="Give path/to/file.py:Class")
    spec = importlib.util.spec_from_file_location(f"classic_rc_user_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UsageError(f"{path}, line {error.lineno}: {error.msg}") from error
    except Exception as error:
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    found = {n: c for n, c in vars(module).items() if isinstance(c, type) and issubclass(c, Solver)}
    if class_name not in found:
        own = {n for n, c in found.items() if c.__module__ == module.__name__}
        raise unknown_name(f"solver class in {path}", class_name, own or ["(none: subclass classic_rc.Solver)"])
    if getattr(found[class_name], "__abstractmethods__", None):
        raise UsageError(f"{class_name} in {path} must write score_candidates(questions) -> Scores")
    return found[class_name]
