"""The reproducibility signature: a one-line text with everything that is needed to reproduce a
number.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from classic_rc._version import __version__
from classic_rc.datasets.registry import READERS
from classic_rc.decisions import Decision, describe_decision
from classic_rc.facts import sentences_digest
from classic_rc.identity import digest_of_class
from classic_rc.io.files import sha256_of
from classic_rc.plugins import Registry
from classic_rc.questions import SHORT_FINGERPRINT, Dataset
from classic_rc.solvers.base import Solver, TrainedOn
from classic_rc.solvers.registry import SOLVERS
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
    "data": "d",
    "revision": "rev",
    "questions": "n",
    "version": "rc",
}
_NAMES = {short: name for name, short in _ABBREVIATIONS.items()}
_PART = re.compile(r"\|(?=\w+:)")  # a bar inside a value does not start a part
_DIGEST = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


@dataclass(frozen=True)
class Signature:
    """The named parts of a signature, in order.

    ``str(signature)`` gives the long form, with all names and values:
    ``solver:sw+d|variant:mctest160|…``.

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
        cls,
        solver: str,
        variant: str | None,
        changed: Mapping[str, Any],
        dataset: Dataset,
        **facts: Any,
    ) -> Signature:
        """Return the signature of a system on a dataset, without the parts that are None.

        `changed` are the constructor parameters that differ from their defaults; `facts` are tie
        policy, thresholds, tuning and training data, and so on.
        """
        parts = {
            "solver": solver,
            "variant": variant,
            **changed,
            **facts,
            "spans": dataset.span_generator,
            "scorer": "+".join(dataset.scorers) or None,
            "data": dataset.fingerprint,
            "sentences": sentences_digest(dataset),
            "read_by": _plugin(READERS, dataset.reader),
            "revision": dataset.revision,
            "split": dataset.split,
            "questions": len(dataset),
            "version": __version__,
        }
        return cls({name: _value_text(value) for name, value in parts.items() if value is not None})

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Parse a signature in the long or short form; short digests stay short. Another text is
        a ValueError.
        """
        first, *others = _PART.split(text)
        parts = {"solver": first.removeprefix("solver:")}
        for pair in others:
            name, _, value = pair.partition(":")
            parts[_NAMES.get(name, name)] = value
        if not parts["solver"]:
            raise ValueError(f"not a signature: {text!r}")
        return cls(parts)

    @classmethod
    def join(cls, signatures: Sequence[Signature]) -> Signature:
        """Return the signature of several runs: parts that differ have all values, in order."""
        names = dict.fromkeys(name for signature in signatures for name in signature.parts)
        parts = {}
        for name in names:
            values = [signature.parts.get(name, "-") for signature in signatures]
            parts[name] = values[0] if len(set(values)) == 1 else "+".join(values)
        return cls({**parts, "runs": str(len(signatures))})

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.parts.items())

    @property
    def short(self) -> str:
        """The short form, with abbreviated names and digests: ``sw+d|v:mctest160|…``."""
        (_, solver), *others = self.parts.items()
        parts = [solver]
        for name, text in others:
            shortened = _DIGEST.sub(lambda digest: digest[0][:SHORT_FINGERPRINT], text)
            parts.append(f"{_ABBREVIATIONS.get(name, name)}:{shortened}")
        return "|".join(parts)


def dataset_signature(dataset: Dataset | TrainedOn) -> str:
    """Return a dataset's name and the start of its fingerprint, ``mc500.dev@7fba13a7``, and of the
    digest of its sentence marks if it has its own.
    """
    marks = sentences_digest(dataset) if isinstance(dataset, Dataset) else dataset.sentences
    ending = f"/sentences@{marks[:SHORT_FINGERPRINT]}" if marks else ""
    return f"{dataset.name}@{dataset.fingerprint[:SHORT_FINGERPRINT]}{ending}"


def file_digest(path: str) -> str:
    """Return the hex sha256 of a file, or `path` itself if it is not a file."""
    return sha256_of(path) if Path(path).is_file() else path


def file_signature(path: str) -> str:
    """Return a file's name, without its folder, and the start of its sha256; `path` itself if it
    is not a file.
    """
    if not Path(path).is_file():
        return path
    return f"{Path(path).name}@{file_digest(path)[:SHORT_FINGERPRINT]}"


def _signature_value(solver: Solver, name: str, value: Any) -> Any:
    """Return a parameter's value; a file is given by name and content, which are the same on
    every machine.
    """
    declared = type(solver).parameter(name)
    if declared.signed is not None:
        return _plain_value(declared.signed(value))
    value = str(value) if isinstance(value, PurePath) else value
    if (
        isinstance(value, str)
        and type(solver).names_existing_file(name, value)
        and not declared.is_file
    ):
        return file_signature(value)
    return _plain_value(declared.with_files(value, file_signature))


def _value_text(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return ",".join(map(_value_text, value))
    return str(value)


def plain_params(solver: Solver) -> dict[str, Any]:
    """Return a solver's constructor parameters as plain data."""
    return {name: _plain_value(value) for name, value in solver.get_params(deep=False).items()}


def changed_params(solver: Solver, variant: str | None) -> dict[str, Any]:
    """Return the parameters that go into a signature.

    The analyzer, or the members of a combined solver, are always among them, and a user's own file
    or a plug-in's package. Other parameters are there if they differ from their defaults and from
    what the variant's name implies. Beside that name, a file is data with a fact of its own.
    """
    params = {} if solver.analyzer is None or solver.members else {"analyzer": solver.analyzer}
    declared = inspect.signature(type(solver)).parameters
    defaults = {name: parameter.default for name, parameter in declared.items()}
    if variant is not None:
        defaults |= solver.variants[variant].params
    in_other_parts = {"analyzer", "decision", "seed"}
    for name, value in solver.get_params(deep=False).items():
        is_signed = variant is None or not type(solver).parameter(name).is_file
        is_changed = _plain_value(value) != _plain_value(defaults[name])
        if name not in in_other_parts and is_signed and is_changed:
            params[name] = value
    signed = {name: _signature_value(solver, name, value) for name, value in params.items()}
    if solver.members:
        signed["solvers"] = f"[{'; '.join(map(_member_text, solver.members))}]"
    return {**_own_code(type(solver)), **signed}


def _own_code(cls: type[Solver]) -> dict[str, str]:
    """Return the part about code that is not this package's: a plug-in, or a user's file."""
    if SOLVERS.get(cls.name) is cls:
        plugin = _plugin(SOLVERS, cls.name)
        return {} if plugin is None else {"plugin": plugin}
    if cls.__module__.startswith("classic_rc."):
        return {}
    return {"code": digest_of_class(cls) or "in memory"}


def _plugin(registry: Registry[Any], name: str | None) -> str | None:
    """Return the package and version of a plug-in, ``rc-last==1.2``."""
    package = registry.package_of(name) if name is not None and name in registry else None
    return package and package.replace(" ", "==")


def _member_text(solver: Solver) -> str:
    """Return a signature's text for one member of a combined solver."""
    variant = solver.variant_name()
    parts = [f"{solver.name}:{variant}" if variant else solver.name]
    for name, value in {**changed_params(solver, variant), **solver.signature_facts()}.items():
        if value is not None:
            parts.append(f"{name}={_value_text(value)}")
    return ",".join(parts)


def _plain_value(value: Any) -> Any:
    if isinstance(value, Decision):
        return describe_decision(value)
    if isinstance(value, Solver):
        return solver_spec(value)
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    # JSON has no infinite numbers; estimators print over several lines
    return " ".join(str(value).split())
