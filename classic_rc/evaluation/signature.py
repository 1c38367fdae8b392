"""The reproducibility signature: what it takes to get the same number again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc._version import __version__
from classic_rc.decisions import Decision, describe
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer

__all__ = ["changed_params", "long_signature", "plain_params", "short_signature", "signature_parts"]

_ABBREVIATIONS = {
    "solver": "s",
    "variant": "v",
    "ties": "t",
    "threshold": "th",
    "tuned_on": "tune",
    "trained_on": "train",
    "tuned_for": "for",
    "analyzer": "a",
    "spans": "spans",
    "split": "split",
    "data": "d",
    "questions": "n",
    "version": "rc",
}
_SHORT_FINGERPRINT = 8


def signature_parts(
    solver: str,
    variant: str | None,
    changed: Mapping[str, Any],
    dataset: Dataset,
    **facts: Any,
) -> dict[str, str]:
    """The parts of a signature by name, in order; those that say nothing are left out.

    Parameters
    ----------
    solver, variant : str
    changed : mapping
        Constructor parameters that differ from their defaults.
    dataset : Dataset
    **facts
        Tie policy, thresholds, tuning and training data, and so on.
    """
    parts = {
        "solver": solver,
        "variant": variant,
        **changed,
        **facts,
        "spans": dataset.span_generator,
        "data": dataset.fingerprint,
        "split": dataset.split,
        "questions": len(dataset),
        "version": __version__,
    }
    return {name: _text(value) for name, value in parts.items() if value is not None}


def long_signature(parts: Mapping[str, str]) -> str:
    """All names and values written out: ``solver:sw+d|variant:mctest160|…``."""
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def short_signature(parts: Mapping[str, str]) -> str:
    """The same parts with abbreviated names and fingerprint: ``sw+d|v:mctest160|…``."""
    shown = dict(parts)
    solver = shown.pop("solver")
    if "data" in shown:
        shown["data"] = shown["data"][:_SHORT_FINGERPRINT]
    return "|".join([solver, *(f"{_ABBREVIATIONS.get(name, name)}:{value}" for name, value in shown.items())])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value)


def plain_params(solver: Solver) -> dict[str, Any]:
    """A solver's constructor parameters as plain data."""
    return {name: _plain(value) for name, value in solver.get_params(deep=False).items()}


def changed_params(solver: Solver, variant: str | None) -> dict[str, Any]:
    """What a signature says of the parameters: the analyzer always, others where no variant says them."""
    defaults = plain_params(type(solver)())
    changed = {} if solver.analyzer is None else {"analyzer": get_analyzer(solver.analyzer).signature}
    if variant is None:
        said_elsewhere = {"analyzer", "decision", "seed"}
        params = plain_params(solver)
        changed |= {k: v for k, v in params.items() if k not in said_elsewhere and v != defaults[k]}
    return changed


def _plain(value: Any) -> Any:
    if isinstance(value, Decision):
        return describe(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
