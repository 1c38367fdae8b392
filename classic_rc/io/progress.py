"""Progress on stderr: a bar on a terminal; elsewhere a line when nothing was written for 15 seconds."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from classic_rc.io.printable import printable

CLOCK_NAME = "classic_rc progress"
"""The name of the threads that show progress."""

_DELAY_SECONDS = 1.0
_REFRESH_SECONDS = 0.2
_LINE_SECONDS = 15.0
"""Seconds between two lines where there is no terminal. A long step can delay a line by some seconds."""

_IDLE_SECONDS = 5.0
"""Work that begins this long after the last work ended does not continue its silence."""


class _Silence:
    """The time since the last line. It spans pieces of work, so that many short ones are not silent either."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Count from now."""
        self.since = self.last_work = time.monotonic()

    def resume(self) -> None:
        """Count from now, or go on counting if other work ended just before."""
        if time.monotonic() > self.last_work + _IDLE_SECONDS:
            self.start()


_silence = _Silence()


def start_command() -> None:
    """Count the time without a line from now, whatever other work this process did before."""
    _silence.start()


class Progress:
    """What is known about a piece of work in progress. Calling it with a number of steps counts them as done.

    Attributes
    ----------
    steps_done : int
    stage_name : str
        What is being done now; empty at first.
    """

    def __init__(self) -> None:
        self.steps_done = 0
        self.stage_name = ""
        self._results: deque[str] = deque()

    def __call__(self, steps: int) -> None:
        """Count steps as done."""
        self.steps_done += steps

    def stage(self, name: str) -> None:
        """Name what is done from now on."""
        self.stage_name = name

    def finished(self, result: str) -> None:
        """Add a finished result. It is shown at once if the work is long enough to show progress."""
        self._results.append(result)

    def take_results(self) -> list[str]:
        """Return the results since the last call."""
        return [self._results.popleft() for _ in range(len(self._results))]


@contextmanager
def progress_bar(description: str, total: int | None, shown: bool, unit: str = "question") -> Iterator[Progress]:
    """Show the progress of the block on stderr.

    On a terminal it is a bar, which appears after one second. Elsewhere, as in a log file, a line appears when
    nothing was written for 15 seconds. A thread writes both, so they go on during a long step.

    Parameters
    ----------
    description : str
    total : int, optional
        The number of steps; None when it is unknown.
    shown : bool
        Whether to show anything.
    unit : str
        The name of a step. With ``"B"`` (bytes) the counts are shown with k, M and G.

    Yields
    ------
    Progress
        To be called with the number of steps since the last call.
    """
    progress = Progress()
    if not shown:
        yield progress
        return
    done = threading.Event()
    _silence.resume()

    def draw() -> None:
        if _has_terminal():
            _draw_bar(progress, done, printable(description), total, unit)
        else:
            _write_lines(progress, done, printable(description), total)

    clock = threading.Thread(target=draw, daemon=True, name=CLOCK_NAME)
    clock.start()
    try:
        yield progress
    finally:
        done.set()
        clock.join()
        _silence.last_work = time.monotonic()


def _has_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _draw_bar(progress: Progress, done: threading.Event, description: str, total: int | None, unit: str) -> None:
    if done.wait(_DELAY_SECONDS):
        return
    from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = 0  # tqdm's own thread would outlive the bar, and a process with threads is not forked

    form = None if total is not None else "{desc} {elapsed}"
    with Bar(desc=description, total=total, unit=unit, unit_scale=unit == "B", leave=False, bar_format=form) as bar:
        bar.start_t -= _DELAY_SECONDS
        finished = False
        while not finished:
            finished = done.wait(_REFRESH_SECONDS)
            for result in progress.take_results():
                bar.write(f"classic-rc: {printable(result)}", file=sys.stderr)
            bar.n = progress.steps_done
            bar.set_description_str(_describe(description, progress), refresh=False)
            bar.refresh()


def _write_lines(progress: Progress, done: threading.Event, description: str, total: int | None) -> None:
    """Write a line when none was written for some time; from the first line on, also write results at once."""
    start, is_long, finished = time.monotonic(), False, False
    while not finished:
        wait = _REFRESH_SECONDS if is_long else _silence.since + _LINE_SECONDS - time.monotonic()
        finished = done.wait(max(wait, 0.0))
        now = time.monotonic()
        is_due = not finished and now >= _silence.since + _LINE_SECONDS
        is_long |= is_due
        lines = progress.take_results() if is_long else []
        if is_due:
            share = "" if not total else f", {min(progress.steps_done / total, 1):.0%}"
            lines.append(f"{_describe(description, progress)}{share}, {now - start:.0f} s")
        if lines:
            _silence.since = now
            with suppress(OSError):  # without stderr there is nowhere to report an error
                sys.stderr.write("".join(f"classic-rc: {printable(line)}\n" for line in lines))
                sys.stderr.flush()


def _describe(description: str, progress: Progress) -> str:
    return f"{description}: {printable(progress.stage_name)}" if progress.stage_name else description
