"""The reproducibility signature: what it takes to get the same number again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc._version import __version__
from classic_rc.questions import Dataset

__all__ = ["long_signature", "short_signature", "signature_parts"]

_ABBREVIATIONS = {
    "solver": "s",
    "variant": "v",
    "ties": "t",
    "threshold": "th",
    "tuned_on": "tune",
    "trained_on": "train",
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
