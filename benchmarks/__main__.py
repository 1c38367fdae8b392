"""``python -m benchmarks [NAME…] [--quick] [-o FILE]``: run the benchmarks and print their tables."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks import encoding, end_to_end, growth, kernels
from benchmarks.timing import Table, environment

BENCHMARKS = {"kernels": kernels, "growth": growth, "encoding": encoding, "end_to_end": end_to_end}


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer rounds")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the figures as JSON")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}: known are {', '.join(BENCHMARKS)}")
    results = {"environment": environment(), "benchmarks": {}}
    for name in args.names or BENCHMARKS:
        tables = BENCHMARKS[name].run(args.quick)
        results["benchmarks"][name] = tables
        for table in tables:
            print(markdown(table), flush=True)
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8", newline="\n")


def markdown(table: Table) -> str:
    """A table as Markdown, its title above and its notes below."""
    lines = [table["header"], ["---"] + ["---:"] * (len(table["header"]) - 1), *table["rows"]]
    cells = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join([f"**{table['title']}**", "", *cells, *(f"\n{note}" for note in table["notes"]), ""])


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


if __name__ == "__main__":
    main()
