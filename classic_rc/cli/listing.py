"""``classic-rc list``: list what exists: solvers, variants, datasets, metrics, formats and more, or its BibTeX."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from classic_rc.cli.console import check_writable, write_output
from classic_rc.cli.options import vary_option
from classic_rc.errors import UsageError, unknown_name
from classic_rc.io.json import render_json

Entry = tuple[str, str]


OPTIONS = (
    "what",
    "--bibtex",
    "--format",
    vary_option("--output", help="write the list or the BibTeX to a file instead of stdout"),
)

_MAX_SHOWN_SPLITS = 12  # Belebele has 122 languages


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    if (args.what is None) is (args.bibtex is None):
        expected = "either WHAT, such as `classic-rc list solvers`, or `classic-rc list --bibtex NAME...`"
        raise UsageError(f"list needs {expected}", field="WHAT", found=args.what, expected=expected)
    check_writable(args.output)
    if args.bibtex is None:
        write_output(_list_text(args), args.output)
        return 0
    if args.format != "table":
        raise UsageError(
            f"BibTeX has one format: leave out --format {args.format}", field="--format", found=args.format
        )
    from classic_rc.reports.references import bibliography

    write_output(bibliography(tuple(args.bibtex)), args.output)
    return 0


def _list_text(args: argparse.Namespace) -> str:
    if args.what not in _LISTS:
        raise unknown_name("list", args.what, _LISTS)
    from classic_rc.tables import Column, RowGroup, Table, render

    entries = list(_LISTS[args.what]())
    if args.format == "json":
        return render_json({args.what: [{"name": name, "description": text} for name, text in entries]})
    table = Table(args.what, [Column("name"), Column("description")], [RowGroup(entries)])
    return render(table, args.format)


def _list_solvers() -> Iterator[Entry]:
    from classic_rc.solvers.registry import SOLVER_ENTRIES, SOLVERS

    for name in SOLVERS:
        line = (
            SOLVER_ENTRIES.get(name) or SOLVERS[name]
        )  # the package's own solvers are listed without importing them
        variants = f" [{', '.join(line.variants)}]" if line.variants else ""
        yield name, line.description + variants + _origin(SOLVERS.package_of(name))


def _list_variants() -> Iterator[Entry]:
    from classic_rc.solvers.registry import SOLVERS

    for name, solver in SOLVERS.items():
        for variant, bundle in solver.variants.items():
            yield f"{name}:{variant}", bundle.description + (f" ({bundle.citation})" if bundle.citation else "")


def _list_datasets() -> Iterator[Entry]:
    from classic_rc.datasets.fetch import format_size, is_split_cached, named_datasets

    for name, dataset in named_datasets().items():
        cached = [split for split in dataset.splits.values() if is_split_cached(split)]
        state = "cached" if len(cached) == len(dataset.splits) else "not cached"
        if cached and state != "cached":
            state = f"cached: {', '.join(split.split for split in cached)}"
        size = "size unknown" if dataset.size is None else format_size(dataset.size)
        splits = list(dataset.splits)
        shown = ", ".join(splits[:_MAX_SHOWN_SPLITS]) + f", … {len(splits)} in all" * (
            len(splits) > _MAX_SHOWN_SPLITS
        )
        yield name, f"{shown} ({dataset.title}; {size}; {dataset.licence}; {state})"


def _list_readers() -> Iterator[Entry]:
    from classic_rc.datasets.registry import READERS

    for name, reader in READERS.items():
        yield name, f"{reader.title}: {reader.description}" + _origin(READERS.package_of(name))


def _origin(package: str | None) -> str:
    return f" (plug-in of {package})" if package else ""


def _list_engines() -> Iterator[Entry]:
    from classic_rc.retrieval.registry import ENGINES

    for name, engine in ENGINES.items():
        yield name, engine.description + _origin(ENGINES.package_of(name))


def _list_metrics() -> Iterator[Entry]:
    from classic_rc.metrics.base import METRICS

    return ((name, f"{metric.description} ({metric.citation})") for name, metric in METRICS.items())


def _list_analyzers() -> Iterator[Entry]:
    from classic_rc.text.analyzers import TOKENIZERS, Analyzer

    return ((name, Analyzer.named(name).description) for name in TOKENIZERS)


def _list_formats() -> Iterator[Entry]:
    from classic_rc.formats.registry import FORMATS

    return ((name, form.description) for name, form in FORMATS.items())


def _list_stop_lists() -> Iterator[Entry]:
    from classic_rc.text.analyzers import STOP_LISTS

    return iter(STOP_LISTS.items())


def _list_keys() -> Iterator[Entry]:
    from classic_rc.evaluation.grouping import DERIVED_KEYS

    return ((name, key.description) for name, key in DERIVED_KEYS.items())


def _list_perturbations() -> Iterator[Entry]:
    from classic_rc.audit.perturb import PERTURBATIONS

    return ((name, f"{p.removes} A reader loses {p.loses}.") for name, p in PERTURBATIONS.items())


def _list_assignments() -> Iterator[Entry]:
    from classic_rc.teaching.assignment import list_assignments, load_assignment

    return ((name, load_assignment(name).title) for name in list_assignments())


_LISTS = {
    "solvers": _list_solvers,
    "variants": _list_variants,
    "datasets": _list_datasets,
    "readers": _list_readers,
    "engines": _list_engines,
    "metrics": _list_metrics,
    "analyzers": _list_analyzers,
    "formats": _list_formats,
    "keys": _list_keys,
    "perturbations": _list_perturbations,
    "stop-lists": _list_stop_lists,
    "assignments": _list_assignments,
}
