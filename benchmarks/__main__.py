"""``python -m benchmarks [NAME…] [--quick] [-o FILE]``: run the benchmarks and print their tables.

``python -m benchmarks floor`` builds the file of floors that comes with the package; it has its own options.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    corpora,
    encoding,
    end_to_end,
    floor,
    growth,
    kernels,
    limit,
    linearity,
    near_duplicates,
    ngrams,
    ranker,
    retrieval,
    retrieval_pyserini,
    retrieval_top,
    scale,
    spans,
)
from benchmarks.report import markdown
from benchmarks.timing import environment

BENCHMARKS = {
    "kernels": kernels,
    "growth": growth,
    "encoding": encoding,
    "end_to_end": end_to_end,
    "retrieval_top": retrieval_top,
    "retrieval": retrieval,
    "retrieval_pyserini": retrieval_pyserini,
    "ranker": ranker,
    "spans": spans,
    "ngrams": ngrams,
    "near_duplicates": near_duplicates,
    "linearity": linearity,
    "limit": limit,
    "scale": scale,
    "corpora": corpora,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, or all of them."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["floor"]:
        floor.main(arguments[1:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer rounds")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write figures as JSON; keep those of other benchmarks"
    )
    args = parser.parse_args(arguments)
    unknown = [name for name in args.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}: known are {', '.join(BENCHMARKS)}")
    results: dict[str, Any] = {"benchmarks": {}}
    if args.output and args.output.exists():
        results["benchmarks"] = json.loads(args.output.read_text(encoding="utf-8"))["benchmarks"]
    for name in args.names or BENCHMARKS:
        tables = [{**table, "environment": environment()} for table in BENCHMARKS[name].run(args.quick)]
        results["benchmarks"][name] = tables
        for table in tables:
            print(markdown(table), flush=True)
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
