"""What to cite: BibTeX for solvers, variants, datasets and metrics, from one file of references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from classic_rc._version import __version__
from classic_rc.errors import unknown_name

_PACKAGE = "classic_rc"
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Citable:
    """Something that has a name and follows somebody's work.

    Parameters
    ----------
    kind : str
        ``"solver"``, ``"variant"``, ``"dataset"`` or ``"metric"``.
    name : str
    citation : str
        In words: what exactly is followed.
    cites : tuple of str
        Keys of references; ``"classic_rc"`` where it is our own, none where a package that plugs it in gives none.
    """

    kind: str
    name: str
    citation: str
    cites: tuple[str, ...]

    @property
    def comment(self) -> str:
        """The line above its references."""
        said = f": {self.citation}" if self.citation else ""
        return f"% {self.kind} {self.name}{said}"


@cache
def references() -> Mapping[str, str]:
    """The BibTeX entries by key, in the order of the file; the package's own comes first.

    Examples
    --------
    >>> list(references())[:2]
    ['classic_rc', 'chen1998']
    """
    text = (files("classic_rc.reports") / "references.bib").read_text(encoding="utf-8")
    return {m[1]: m[0].replace("@VERSION@", __version__) for m in _ENTRY.finditer(text)}


def citables() -> Iterator[Citable]:
    """Everything that can be cited by name: solvers with their variants, datasets, metrics."""
    from classic_rc.datasets.registry import READERS
    from classic_rc.metrics.registry import METRICS
    from classic_rc.solvers.registry import SOLVERS

    for name, solver in SOLVERS.items():
        yield Citable("solver", name, solver.citation, solver.cites)
        for variant, bundle in solver.variants.items():
            citation = bundle.citation or solver.citation
            yield Citable("variant", f"{name}:{variant}", citation, bundle.cites or solver.cites)
    yield from (Citable("dataset", name, reader.citation, reader.cites) for name, reader in READERS.items())
    yield from (Citable("metric", name, metric.citation, metric.cites) for name, metric in METRICS.items())


def cited(name: str) -> list[Citable]:
    """What has a name: a solver, ``SOLVER:VARIANT``, a dataset (a reader's name), a metric, or several of these.

    The package's own name, and the key of a reference, stand for themselves.

    Raises
    ------
    UsageError
        Nothing has it; the message proposes the nearest names.
    """
    found = [citable for citable in citables() if citable.name == name]
    if found:
        return found
    if name in references():
        return [Citable("package" if name == _PACKAGE else "reference", name, "", (name,))]
    raise unknown_name("solver, dataset or metric", name, {*references(), *(c.name for c in citables())})


def bibliography(names: tuple[str, ...] = ()) -> str:
    """BibTeX, ready for a file: every reference once, behind comments that say what follows it.

    Parameters
    ----------
    names : tuple of str
        What to cite (:func:`cited`); without any, the package and everything in it.

    Raises
    ------
    UsageError
        A name is not known.
    """
    wanted = [c for name in names for c in cited(name)] if names else [*cited(_PACKAGE), *citables()]
    keys = dict.fromkeys(key for citable in wanted for key in citable.cites)
    comments = [citable.comment for citable in wanted] if names else []
    head = ["\n".join(comments)] if comments else []
    return "\n\n".join([*head, *(references()[key] for key in keys)]) + "\n"
