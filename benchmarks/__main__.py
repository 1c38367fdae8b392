"""``python -m benchmarks [NAME…] [--quick] [-o FILE]``: run the benchmarks and print their
tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.report import markdown
from benchmarks.timing import environment, watched_load

BENCHMARKS = (
    "kernels",
    "growth",
    "encoding",
    "end_to_end",
    "script",
    "retrieval_top",
    "retrieval",
    "retrieval_indexing",
    "retrieval_pyserini",
    "verbatim",
    "ranker",
    "spans",
    "ngrams",
    "near_duplicates",
    "linearity",
    "limit",
    "scale",
    "corpora",
)
"""The modules with a function ``run``. They are imported when they run, and none imports this
one.
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, or all of them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Run benchmarks and print their tables."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default"
    )
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer rounds")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write figures as JSON; keep those of other benchmarks",
    )
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}: known are {', '.join(BENCHMARKS)}")
    results: dict[str, Any] = {"benchmarks": {}}
    if args.output and args.output.exists():
        results["benchmarks"] = json.loads(args.output.read_text(encoding="utf-8"))["benchmarks"]
    for name in args.names or BENCHMARKS:
        with watched_load() as loads:
            measured = import_module(f"benchmarks.{name}").run(args.quick)
        load = [min(loads), max(loads)] if loads else None
        conditions = {"environment": environment(), "load": load}
        tables = [{**table, **conditions} for table in measured]
        results["benchmarks"][name] = tables
        for table in tables:
            print(markdown(table), flush=True)
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
