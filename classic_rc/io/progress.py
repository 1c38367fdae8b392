"""Progress on stderr: a bar on a terminal; elsewhere a line every 30 seconds."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from classic_rc.io.text import printable

CLOCK_NAME = "classic_rc progress"
"""The name of the threads that show progress."""

DELAY_SECONDS = 1.0
"""Seconds before a bar appears."""

REFRESH_SECONDS = 0.2
"""Seconds between two looks at the work."""

LINE_SECONDS = 30.0
"""Seconds between two lines where there is no terminal; so many short pieces of work are not
silent either.
"""

_IDLE_SECONDS = (
    5.0  # Work that begins this long after the last work ended does not continue its silence.
)

_last_line = _last_work = time.monotonic()


def start_command() -> None:
    """Count the time without a line from now, whatever other work this process did before."""
    global _last_line, _last_work
    _last_line = _last_work = time.monotonic()


class Progress:
    """What is known about a piece of work in progress. Calling it with a number of steps counts
    them as done.

    With `shows_results`, every result is shown at once, even if the work turns out to be short.
    `steps_kept` are the steps that were done before, so that they took no time; `start` is the time
    by :func:`time.monotonic`.
    """

    def __init__(self, *, shows_results: bool = False) -> None:
        self.steps_done = self.steps_kept = 0
        self.stage_name = ""
        self.shows_results, self.start = shows_results, time.monotonic()
        self._results: deque[str] = deque()

    def __call__(self, steps: int) -> None:
        """Count steps as done."""
        self.steps_done += steps

    def keep(self, steps: int) -> None:
        """Count steps as done that were done before this work began."""
        self.steps_done += steps
        self.steps_kept += steps

    def stage(self, name: str) -> None:
        """Name what is done from now on."""
        self.stage_name = name

    def describe(self, description: str) -> str:
        """Return a description with the stage."""
        return f"{description}: {printable(self.stage_name)}" if self.stage_name else description

    def finished(self, result: str) -> None:
        """Add a finished result. It is shown at once if the work is long enough to show
        progress.
        """
        self._results.append(result)

    def take_results(self) -> list[str]:
        """Return the results since the last call."""
        return [self._results.popleft() for _ in range(len(self._results))]


@contextmanager
def progress_bar(
    description: str,
    total: int | None,
    shown: bool | None,
    unit: str = "question",
    progress: Progress | None = None,
) -> Iterator[Progress]:
    """Show the progress of the block on stderr; call the yielded :class:`Progress` with the number
    of new steps.

    On a terminal it is a bar, which appears after one second. Elsewhere, as in a log file, a line
    every 30 seconds says what runs, the share that is done, the time so far, and about how much is
    left. A thread writes both, so they go on during a long step. Without `total`, the number of
    steps is unknown; the unit ``"B"`` (bytes) is shown with k, M and G; `progress` is work that
    began in an earlier block and goes on here. With `shown` None, it is shown if the block around
    it is.
    """
    global _last_work
    progress = progress or Progress()
    if shown is None:
        shown = any(thread.name == CLOCK_NAME for thread in threading.enumerate())
    if not shown:
        yield progress
        return
    if time.monotonic() > _last_work + _IDLE_SECONDS:
        start_command()
    done = threading.Event()
    show = _draw_bar if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else _write_lines
    facts = (progress, done, printable(description), total, unit)
    clock = threading.Thread(target=show, args=facts, daemon=True, name=CLOCK_NAME)
    clock.start()
    try:
        yield progress
    finally:
        done.set()
        clock.join()
        _last_work = time.monotonic()


def _draw_bar(
    progress: Progress, done: threading.Event, description: str, total: int | None, unit: str
) -> None:
    if done.wait(DELAY_SECONDS):
        _write(progress.take_results() if progress.shows_results else [])
        return
    from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = (
            0  # tqdm's own thread would outlive the bar, and a process with threads is not forked
        )

    form = None if total is not None else "{desc} {elapsed}"
    with Bar(
        desc=description,
        total=total,
        unit=unit,
        unit_scale=unit == "B",
        leave=False,
        bar_format=form,
    ) as bar:
        bar.start_t -= time.monotonic() - progress.start
        finished = False
        while not finished:
            finished = done.wait(REFRESH_SECONDS)
            for result in progress.take_results():
                bar.write(f"classic-rc: {printable(result)}", file=sys.stderr)
            bar.n, bar.initial = progress.steps_done, progress.steps_kept
            bar.set_description_str(progress.describe(description), refresh=False)
            bar.refresh()


def _write_lines(
    progress: Progress, done: threading.Event, description: str, total: int | None, _: str
) -> None:
    """Write a line every now and then; from the first line on, also write results at once."""
    global _last_line
    is_long, finished = progress.shows_results, False
    while not finished:
        finished = done.wait(REFRESH_SECONDS)
        now = time.monotonic()
        is_due = not finished and now >= _last_line + LINE_SECONDS
        is_long |= is_due
        lines = progress.take_results() if is_long else []
        if is_due:
            lines.append(f"{progress.describe(description)}{_describe_times(progress, total, now)}")
            _last_line = now
        _write(lines)


def _write(lines: list[str]) -> None:
    if lines:
        with suppress(OSError):  # without stderr there is nowhere to report an error
            sys.stderr.write("".join(f"classic-rc: {printable(line)}\n" for line in lines))
            sys.stderr.flush()


def _describe_times(progress: Progress, total: int | None, now: float) -> str:
    """Return the share that is done, the time so far and the expected rest: ``", 40%, 00:14,
    00:21 left"``.
    """
    from tqdm import tqdm

    form = ", {percentage:.0f}%, {elapsed}, {remaining} left" if total else ", {elapsed}"
    times = progress.steps_done, total, now - progress.start
    return tqdm.format_meter(*times, initial=progress.steps_kept, bar_format=form)
