"""Timing in one process with interleaved rounds, so that changes of the machine's speed affect
all functions.
"""

from __future__ import annotations

import os
import platform
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from classic_rc import __version__

Table = dict[str, Any]
"""A benchmark's result, ready for JSON: ``title``, ``header``, ``rows``, ``notes`` and ``lost`` if
another program can be better, which says whether one is; later ``environment`` and ``load``, the
lowest and the highest load of the machine.
"""


def interleaved(
    functions: Mapping[str, Callable[[], Any]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median of the :func:`seconds_of_rounds` of each function."""
    seconds = seconds_of_rounds(functions, rounds, clock)
    return {name: statistics.median(times) for name, times in seconds.items()}


def seconds_of_rounds(
    functions: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Return the seconds of each function in each round, after one call that is not counted.

    Parameters
    ----------
    functions : mapping of str to callable
    rounds : int
        In each round, every function is called once, in turn.
    clock : callable
        Returns seconds; ``time.process_time`` adds up the CPU seconds of all threads.
    """
    for function in functions.values():
        function()
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            start = clock()
            function()
            seconds[name].append(clock() - start)
    return seconds


def ratios(times: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return the ratio of two sides' times in each round."""
    return [time / other for time, other in zip(times, others, strict=True)]


def with_range(values: Sequence[float]) -> str:
    """Return the median of some values with the smallest and the largest one, as text."""
    middle, *ends = (
        f"{value:.2f}" if value < 10 else f"{value:,.0f}"
        for value in (statistics.median(values), min(values), max(values))
    )
    return f"{middle} ({' to '.join(ends)})"


@contextmanager
def watched_load() -> Iterator[list[float]]:
    """Collect the load of the machine, of the last minute, each second; none where the system does
    not tell.
    """
    loads: list[float] = []
    done = threading.Event()

    def watch() -> None:
        loads.append(os.getloadavg()[0])
        while not done.wait(1):
            loads.append(os.getloadavg()[0])

    thread = threading.Thread(target=watch, daemon=True)
    if hasattr(os, "getloadavg"):
        thread.start()
    try:
        yield loads
    finally:
        done.set()
        if thread.is_alive():
            thread.join()


def environment() -> dict[str, Any]:
    """Return the versions and the machine that the figures were measured with."""
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "nltk")}
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "packages": {"classic_rc": __version__, **packages},
    }
