"""Time and memory of whole commands as datasets grow: ``python -m benchmarks.scale``."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.generate import ScaleShape, write_reading_questions
from benchmarks.report import markdown
from benchmarks.timing import Table

COMMANDS: dict[str, list[str]] = {
    "run": ["--jobs", "2"],
    "run -s random -s sw+d": [],
    "predict -s sw+d": [],
    "check": [],
}
"""The commands that are measured, with their further options. The solvers of `run` are the
default ones.
"""

SIZES = (2_000, 20_000, 200_000)

_POLL_SECONDS = 1.0


class Measurement(NamedTuple):
    """What one command needed."""

    command: str
    questions: int
    wall: float  # seconds
    cpu: float  # seconds, of all processes
    peak: float | None  # MB, of all processes together; None where the system does not tell
    longest_silence: float  # seconds without output on stdout or stderr
    file: float  # MB of the dataset


def run(quick: bool = False) -> list[Table]:
    """Measure every command on four questions a passage, as in RACE, and on one."""
    sizes = (200, 2_000) if quick else SIZES
    return [table(measure(sizes, per_passage), per_passage) for per_passage in (4, 1)]


def measure(
    sizes: Sequence[int],
    per_passage: int = 4,
    commands: Sequence[str] = tuple(COMMANDS),
    checkout: str | None = None,
) -> list[Measurement]:
    """Write a dataset of each size, and run every command on it.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of questions.
    per_passage : int
        Questions about each passage.
    commands : sequence of str
        Of :data:`COMMANDS`.
    checkout : str, optional
        Another clone of this project, whose code is measured.
    """
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / f"generated-{size}.jsonl"
            write_reading_questions(path, ScaleShape(size, per_passage))
            for command in commands:
                measured.append(_measure(command, path, size, checkout))
            path.unlink()
    return measured


def table(measured: Sequence[Measurement], per_passage: int) -> Table:
    """Return the measurements as a table, with the exponents of growth between sizes."""
    rows: list[list[object]] = []
    for command in dict.fromkeys(m.command for m in measured):
        own = [m for m in measured if m.command == command]
        before: list[Measurement | None] = [None, *own]
        for m, previous in zip(own, before, strict=False):
            peak, ratio = (
                (None, None) if m.peak is None else (round(m.peak), round(m.peak / m.file, 2))
            )
            times = round(m.wall, 1), round(m.cpu, 1), _exponent(m, previous, "cpu")
            memory = peak, round(m.file, 1), ratio, _exponent(m, previous, "peak")
            rows.append([command, m.questions, *times, *memory, round(m.longest_silence)])
    return {
        "title": f"Whole commands on generated 350-token passages, {per_passage} questions a "
        "passage",
        "header": [
            *("command", "questions", "s", "CPU s", "exponent"),
            *("peak MB", "file MB", "peak/file", "exponent of the peak", "longest silence, s"),
        ],
        "rows": rows,
        "notes": [
            "An exponent of 1 is linear: the slope of CPU time, or of the peak, between two sizes, "
            "both logarithmic. Commands without solvers run the default ones with `--jobs 2`. "
            "The peak is the memory of all processes together, with Python and NumPy."
        ],
    }


def _exponent(m: Measurement, previous: Measurement | None, field: str) -> float | None:
    values = None if previous is None else (getattr(m, field), getattr(previous, field))
    if previous is None or values is None or None in values:
        return None
    return round(math.log(values[0] / values[1]) / math.log(m.questions / previous.questions), 2)


def _measure(command: str, path: Path, size: int, checkout: str | None) -> Measurement:
    name, *options = command.split()
    output = path.with_suffix(f".{name}.txt")
    options += [*COMMANDS[command], "-o", str(output)]
    arguments = [sys.executable, "-m", "classic_rc", name, str(path), *options]
    environment = dict(os.environ)
    if checkout is not None:
        environment["PYTHONPATH"] = checkout
    before, start = cpu_of_children(), time.perf_counter()
    process = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=checkout,
        text=True,
    )
    watch = MemoryWatch(process.pid)
    silence, last = 0.0, start
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        now = time.perf_counter()
        silence, last = max(silence, now - last), now
    code = process.wait()
    peak = watch.stop()
    end = time.perf_counter()
    if code:
        raise RuntimeError(f"{' '.join(arguments)} ended with {code}: {''.join(lines[-5:])}")
    cpu, mb = cpu_of_children() - before, path.stat().st_size / 2**20
    return Measurement(command, size, end - start, cpu, peak, max(silence, end - last), mb)


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that were started from here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


class MemoryWatch:
    """Adds up the memory of a process and its descendants, several times a second, and keeps the
    largest sum.
    """

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._done = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float | None:
        """Return the peak in MB, or None if the system does not tell."""
        self._done.set()
        self._thread.join()
        return self._peak / 2**10 or None

    def _watch(self) -> None:
        while not self._done.wait(_POLL_SECONDS):
            self._peak = max(self._peak, sum(_memory(pid) for pid in _descendants(self._pid)))


def _descendants(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _descendants(int(child))


def _memory(pid: int) -> int:
    """Return a process's proportional share of memory in KB: pages that processes share count
    once in all.
    """
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return 0


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="numbers of questions"
    )
    parser.add_argument(
        "--per-passage", type=int, default=4, metavar="N", help="questions a passage (default 4)"
    )
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=tuple(COMMANDS))
    parser.add_argument("--checkout", metavar="DIR", help="measure the code of another clone")
    args = parser.parse_args(argv)
    measured = measure(args.sizes, args.per_passage, args.commands, args.checkout)
    print(markdown(table(measured, args.per_passage)))


if __name__ == "__main__":
    main()
