"""The reproducibility signature: what it takes to get the same number again."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from classic_rc._version import __version__
from classic_rc.decisions import Decision, describe
from classic_rc.io.hashing import sha256_of
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.solvers.specs import solver_spec

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
_NAMES = {short: name for name, short in _ABBREVIATIONS.items()}
_PART = re.compile(r"\|(?=\w+:)")  # a bar inside a value does not begin a part
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


@dataclass(frozen=True)
class Signature:
    """The parts of a signature by name, in order.

    ``str(signature)`` writes all names and values out: ``solver:sw+d|variant:mctest160|…``.

    Examples
    --------
    >>> signature = Signature.parse("solver:sw+d|variant:mctest160|ties:first")
    >>> signature.short
    'sw+d|v:mctest160|t:first'
    >>> Signature.parse(signature.short) == signature
    True
    """

    parts: Mapping[str, str]

    @classmethod
    def of(
        cls, solver: str, variant: str | None, changed: Mapping[str, Any], dataset: Dataset, **facts: Any
    ) -> Signature:
        """The signature of a system on a dataset; parts that are None are left out.

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
        return cls({name: _text(value) for name, value in parts.items() if value is not None})

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that is written here, in the long or the short form; digests stay as they are.

        Raises
        ------
        ValueError
            It is no signature.
        """
        first, *others = _PART.split(text)
        parts = {"solver": first.removeprefix("solver:")}
        for part in others:
            name, _, value = part.partition(":")
            parts[_NAMES.get(name, name)] = value
        if not parts["solver"]:
            raise ValueError(f"no signature: {text!r}")
        return cls(parts)

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.parts.items())

    @property
    def short(self) -> str:
        """The same parts with abbreviated names and digests: ``sw+d|v:mctest160|…``."""
        solver, *others = self.parts.items()
        shown = ((name, _DIGEST.sub(lambda digest: digest[0][:_SHORT_FINGERPRINT], text)) for name, text in others)
        return "|".join([solver[1], *(f"{_ABBREVIATIONS.get(name, name)}:{value}" for name, value in shown)])


def dataset_signature(dataset: Dataset) -> str:
    """A dataset's name and content: ``mc500.dev@7fba13a7``."""
    return f"{dataset.name}@{dataset.fingerprint[:_SHORT_FINGERPRINT]}"


def file_digest(path: str) -> str:
    """The hex sha256 of a file; what is no file as it is."""
    return sha256_of(path) if Path(path).is_file() else path


def file_signature(path: str) -> str:
    """A file's name and content, wherever it lies."""
    return f"{Path(path).name}@{file_digest(path)[:_SHORT_FINGERPRINT]}" if Path(path).is_file() else path


def _signed(solver: Solver, name: str, value: Any) -> Any:
    """A parameter's value; where it names a file, by that file's content, the same on every machine."""
    declared = type(solver).parameter(name)
    if declared.signed is not None:
        return _plain(declared.signed(value))
    return file_signature(value) if isinstance(value, str) and declared.names_file(value) else _plain(value)


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
    """What a signature says of the parameters: analyzer or members always, others where no variant says them."""
    params = {} if solver.analyzer is None or solver.members else {"analyzer": solver.analyzer}
    if variant is None:
        defaults = inspect.signature(type(solver)).parameters
        said_elsewhere = {"analyzer", "decision", "seed"}
        params |= {
            name: value
            for name, value in solver.get_params(deep=False).items()
            if name not in said_elsewhere and _plain(value) != _plain(defaults[name].default)
        }
    signed = {name: _signed(solver, name, value) for name, value in params.items()}
    if solver.members:
        signed["solvers"] = f"[{'; '.join(map(_member, solver.members))}]"
    return signed


def _member(solver: Solver) -> str:
    """What a signature says of a solver that another is made of."""
    variant = solver.variant_name()
    facts = {**changed_params(solver, variant), **solver.signature_facts()}
    said = [f"{name}={_text(value)}" for name, value in facts.items() if value is not None]
    return ",".join([f"{solver.name}:{variant}" if variant else solver.name, *said])


def _plain(value: Any) -> Any:
    if isinstance(value, Decision):
        return describe(value)
    if isinstance(value, Solver):
        return solver_spec(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return " ".join(str(value).split())  # JSON has no number for the infinite ones; estimators print over lines
