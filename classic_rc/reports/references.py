"""BibTeX for solvers, variants, datasets and metrics, from one file of references."""

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
    """A named part of the package, and the work that it follows."""

    kind: str  # "solver", "variant", "dataset", "metric" or "statistic"
    name: str
    citation: str  # in words: what exactly it follows
    # keys of references; "classic_rc" for our own work, empty if a plug-in gives none
    cites: tuple[str, ...]

    @property
    def comment(self) -> str:
        """The BibTeX comment line above its references."""
        citation = f": {self.citation}" if self.citation else ""
        return f"% {self.kind} {self.name}{citation}"


@cache
def references() -> Mapping[str, str]:
    """Return the BibTeX entries by key, in the order of the file; the package's own entry is the
    first.

    Examples
    --------
    >>> list(references())[:2]
    ['classic_rc', 'bandarkar2024']
    """
    text = (files("classic_rc.reports") / "references.bib").read_text(encoding="utf-8")
    return {m[1]: m[0].replace("@VERSION@", __version__) for m in _ENTRY.finditer(text)}


def citation_text(key: str) -> str:
    """Return how a text cites a reference: its authors and year.

    Examples
    --------
    >>> citation_text("richardson2013"), citation_text("trinh2018"), citation_text("classic_rc")
    ('Richardson et al., 2013', 'Trinh and Le, 2018', 'The classic_rc developers, 2026')
    """
    entry = references()[key]
    (authors,) = re.findall(r"^\s*author\s*= \{(.*)\},?$", entry, re.MULTILINE)
    plain = re.sub(r"\\[a-zA-Z'`^\"]?(?=\W|_|[a-z])|[{}]", "", authors)
    names = [name.partition(",")[0].strip() for name in plain.split(" and ")]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return ", ".join([who, *re.findall(r"^\s*year\s*= \{(\d+)\}", entry, re.MULTILINE)])


def citables() -> Iterator[Citable]:
    """Yield everything that can be cited by name: solvers with their variants, datasets,
    metrics, statistics.
    """
    from classic_rc.datasets.registry import READERS
    from classic_rc.metrics.base import METRICS
    from classic_rc.solvers.registry import SOLVERS

    for name, solver in SOLVERS.items():
        yield Citable("solver", name, solver.citation, solver.cites)
        for variant, bundle in solver.variants.items():
            citation = bundle.citation or solver.citation
            yield Citable("variant", f"{name}:{variant}", citation, bundle.cites or solver.cites)
    yield from (
        Citable("dataset", name, reader.citation, reader.cites) for name, reader in READERS.items()
    )
    yield from (
        Citable("metric", name, metric.citation, metric.cites) for name, metric in METRICS.items()
    )
    yield Citable("statistic", "interval-of-mean", "Korn and Graubard 1998", ("korn1998",))
    yield Citable("statistic", "design-effect", "Kish 1965", ("kish1965",))
    yield Citable("statistic", "interval-of-runs", "Satterthwaite 1946", ("satterthwaite1946",))


def find_citable(name: str) -> list[Citable]:
    """Return everything with a name: solvers, ``SOLVER:VARIANT``, datasets (also ``NAME:SPLIT``)
    and metrics.

    The package's own name and the key of a reference are names too. The error for an unknown name
    suggests the nearest.
    """
    from classic_rc.datasets.fetch import named_datasets

    with_name = [citable for citable in citables() if citable.name == name]
    if with_name:
        return with_name
    if dataset := named_datasets().get(name.partition(":")[0]):
        return [Citable("dataset", name, dataset.title, dataset.cites)]
    if name in references():
        return [Citable("package" if name == _PACKAGE else "reference", name, "", (name,))]
    raise unknown_name(
        "solver, dataset or metric", name, {*references(), *(c.name for c in citables())}
    )


def bibliography(names: tuple[str, ...] = ()) -> str:
    """Return BibTeX for a file: comments on what each name follows, then every reference once.

    Parameters
    ----------
    names : tuple of str
        What to cite: solvers, variants (``SOLVER:VARIANT``), datasets, metrics or keys of
        references. Without names, the package and everything in it, without comments.

    Returns
    -------
    str

    Raises
    ------
    UsageError
        A name is unknown.
    """
    cited = [citable for name in names for citable in find_citable(name)]
    head = ["\n".join(citable.comment for citable in cited)] if names else []
    if not names:
        cited = [*find_citable(_PACKAGE), *citables()]
    keys = dict.fromkeys(key for citable in cited for key in citable.cites)
    return "\n\n".join([*head, *(references()[key] for key in keys)]) + "\n"
