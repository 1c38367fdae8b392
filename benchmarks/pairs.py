"""A command of this checkout and of another one, in turn:
``python -m benchmarks.pairs --checkout DIR -- run FILE -s sw+d``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import markdown
from benchmarks.timing import Table

_HERE = Path(__file__).parents[1]


class Run(NamedTuple):
    """What one run of a command needed, with Python's own start and all its processes."""

    cpu: float  # seconds
    peak: float  # MB, of the largest process


def measure(command: Sequence[str], checkout: Path) -> Run:
    """Run a command of a checkout, in an empty folder."""
    return run_python(["-m", "classic_rc", *command], checkout)


def run_python(arguments: Sequence[str], checkout: Path) -> Run:
    """Run Python in an empty folder, where it imports a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"exit code {code} of {checkout}: python {' '.join(arguments)}")
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def make_table(command: Sequence[str], pairs: Sequence[tuple[Run, Run]]) -> Table:
    """Return the table of pairs of runs: of this checkout and of the other one."""
    ratios = [this.cpu / other.cpu for this, other in pairs]
    sides = zip(("this", "other"), zip(*pairs, strict=True), strict=True)
    return {
        "title": f"classic-rc {' '.join(command)}",
        "header": ["checkout", "CPU s, median", "range", "peak MB, median"],
        "rows": [
            [
                name,
                f"{statistics.median(run.cpu for run in runs):.2f}",
                f"{min(run.cpu for run in runs):.2f} to {max(run.cpu for run in runs):.2f}",
                f"{statistics.median(run.peak for run in runs):.0f}",
            ]
            for name, runs in sides
        ],
        "notes": [
            f"Ratio of CPU seconds in {len(pairs)} pairs, one run after the other: "
            f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}). "
            f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end."
        ],
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one command and print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--checkout", type=Path, required=True, metavar="DIR")
    parser.add_argument("--pairs", type=int, default=5, metavar="N")
    parser.add_argument("command", nargs="+", help="after --, with absolute paths")
    args = parser.parse_args(argv)
    pairs = [
        (measure(args.command, _HERE), measure(args.command, args.checkout.absolute()))
        for _ in range(args.pairs)
    ]
    print(markdown(make_table(args.command, pairs)))


if __name__ == "__main__":
    main()
