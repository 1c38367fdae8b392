"""``classic-rc list``: list what exists: solvers, variants, datasets, metrics, formats and more,
or its BibTeX.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from classic_rc.cli.console import check_writable, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.cli.registry import COMMANDS
from classic_rc.errors import UsageError, unknown_name
from classic_rc.io.json import render_json
from classic_rc.plugins import Registry

if TYPE_CHECKING:
    from classic_rc.text.tokenizers import Tokenizer

Entry = tuple[str, str]


OPTIONS: Choice = (
    option(
        "what",
        nargs="?",
        metavar="WHAT",
        help="analyzers, assignments, datasets, engines, formats, keys, metrics, perturbations, "
        "readers, solvers, stop-lists or variants",
    ),
    *under(
        "output",
        option(
            "--bibtex",
            nargs="*",
            metavar="NAME",
            help="print the BibTeX of solvers (SOLVER[:VARIANT]), datasets and metrics instead of "
            "a list; without names: of the package and all",
        ),
    ),
    "--format",
    vary_option("--output", help="write the list or the BibTeX to a file instead of stdout"),
)

_MAX_SHOWN_SPLITS = 12  # Belebele has 122 languages


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    if (args.what is None) is (args.bibtex is None):
        expected = (
            "either WHAT, such as `classic-rc list solvers`, or `classic-rc list --bibtex NAME...`"
        )
        raise UsageError(f"list needs {expected}", field="WHAT", found=args.what, expected=expected)
    check_writable(args.output)
    if args.bibtex is None:
        write_output(_list_text(args), args.output)
        return 0
    if args.format != "table":
        raise UsageError(
            f"BibTeX has one format: leave out --format {args.format}",
            field="--format",
            found=args.format,
        )
    from classic_rc.reports.references import bibliography

    write_output(bibliography(tuple(args.bibtex)), args.output)
    return 0


def _list_text(args: argparse.Namespace) -> str:
    lists = _all_lists()
    if args.what not in lists:
        raise unknown_name("list", args.what, lists)
    from classic_rc.tables import Column, RowGroup, Table, render

    entries = list(lists[args.what]())
    if args.format == "json":
        return render_json(
            {args.what: [{"name": name, "description": text} for name, text in entries]}
        )
    table = Table(args.what, [Column("name"), Column("description")], [RowGroup(entries)])
    return render(table, args.format)


def _list_solvers() -> Iterator[Entry]:
    from classic_rc.solvers.registry import SOLVER_ENTRIES, SOLVERS

    for name in SOLVERS:
        # the package's own solvers are listed without importing them
        line = SOLVER_ENTRIES.get(name) or SOLVERS[name]
        variants = f" [{', '.join(line.variants)}]" if line.variants else ""
        yield name, line.description + variants + _origin(SOLVERS.package_of(name))


def _list_variants() -> Iterator[Entry]:
    from classic_rc.solvers.registry import SOLVERS

    for name, solver in SOLVERS.items():
        for variant, bundle in solver.variants.items():
            citation = f" ({bundle.citation})" if bundle.citation else ""
            yield f"{name}:{variant}", bundle.description + citation


def _list_datasets() -> Iterator[Entry]:
    from classic_rc.datasets.fetch import format_size, is_split_cached, named_datasets
    from classic_rc.datasets.known_sketches import sketched_names

    sketched = set(sketched_names())
    for name, dataset in named_datasets().items():
        cached = [split for split in dataset.splits.values() if is_split_cached(split)]
        state = "cached" if len(cached) == len(dataset.splits) else "not cached"
        if cached and state != "cached":
            state = f"cached: {', '.join(split.split for split in cached)}"
        size = "size unknown" if dataset.size is None else format_size(dataset.size)
        sketches = [split.split for split in dataset.splits.values() if split.name in sketched]
        if sketches:
            state += f"; sketches: {_join_splits(sketches)}"
        split_names = _join_splits(list(dataset.splits))
        yield name, f"{split_names} ({dataset.title}; {size}; {dataset.licence}; {state})"


def _join_splits(splits: Sequence[str]) -> str:
    more = f", … {len(splits)} in all" * (len(splits) > _MAX_SHOWN_SPLITS)
    return ", ".join(splits[:_MAX_SHOWN_SPLITS]) + more


def _describe_analyzer(tokenizer: Tokenizer) -> str:
    from classic_rc.text.analyzers import Analyzer

    return Analyzer.named(tokenizer.name).description


def _origin(package: str | None) -> str:
    return f" (plug-in of {package})" if package else ""


def _entries_of(home: str, describe: Callable[[Any], str]) -> Callable[[], Iterator[Entry]]:
    """Return a function that lists the registry ``"module:NAME"``, which it imports."""

    def entries() -> Iterator[Entry]:
        module, _, name = home.partition(":")
        registry: Mapping[str, Any] = getattr(import_module(module), name)
        for name, entry in registry.items():
            package = registry.package_of(name) if isinstance(registry, Registry) else None
            yield name, describe(entry) + _origin(package)

    return entries


_LISTS = {
    "solvers": _list_solvers,
    "variants": _list_variants,
    "datasets": _list_datasets,
    "readers": _entries_of(
        "classic_rc.datasets.registry:READERS", lambda r: f"{r.title}: {r.description}"
    ),
    "engines": _entries_of("classic_rc.retrieval.registry:ENGINES", lambda e: e.description),
    "metrics": _entries_of(
        "classic_rc.metrics.base:METRICS", lambda m: f"{m.description} ({m.citation})"
    ),
    "scorers": _entries_of("classic_rc.text.scorers:SCORERS", lambda s: f"{s.about} ({s.source})"),
    "analyzers": _entries_of("classic_rc.text.analyzers:TOKENIZERS", _describe_analyzer),
    "formats": _entries_of("classic_rc.formats.registry:FORMATS", lambda f: f.description),
    "keys": _entries_of("classic_rc.results.grouping:DERIVED_KEYS", lambda k: k.description),
    "perturbations": _entries_of(
        "classic_rc.datasets.perturbations:PERTURBATIONS",
        lambda p: f"{p.removes} A reader loses {p.loses}.",
    ),
    "stop-lists": _entries_of("classic_rc.text.analyzers:STOP_LISTS", str),
}


def _all_lists() -> dict[str, Callable[[], Iterable[Entry]]]:
    """Return what can be listed: the parts of the package, then what the commands have."""
    of_commands = {name: command.module for command in COMMANDS.values() for name in command.lists}
    return {
        **_LISTS,
        **{
            name: partial(_entries_of_command, module, name) for name, module in of_commands.items()
        },
    }


def _entries_of_command(module: str, name: str) -> Iterable[Entry]:
    entries: Iterable[Entry] = import_module(module).LISTS[name]()
    return entries
