"""Timing in one process with interleaved rounds, so that changes of the machine's speed affect
all functions.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from classic_rc import __version__

Table = dict[str, Any]
"""A benchmark's result: ``title``, ``header``, ``rows``, ``notes`` and later ``environment``,
ready for JSON.
"""


def interleaved(
    functions: Mapping[str, Callable[[], Any]],
    rounds: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median seconds of each function, after one call that is not counted.

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
    return {name: statistics.median(times) for name, times in seconds.items()}


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
