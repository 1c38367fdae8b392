"""Progress on stderr: a bar on a terminal; elsewhere a line every 30 seconds."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from classic_rc.io.text import printable
from classic_rc.work import CURRENT_WORK, Work

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


class Progress(Work):
    """A piece of work that a bar shows. Calling it with a number of steps counts them as done.

    If the number of steps, `n_steps`, is unknown, the work is one step. With `shows_results`,
    every result is shown at once, even if the work turns out to be short. `steps_kept` are the
    steps that were done before, so that they took no time; `start` is the time by
    :func:`time.monotonic`.
    """

    def __init__(self, *, shows_results: bool = False) -> None:
        super().__init__()
        self.n_steps: int | None = None
        self.steps_kept = 0
        self.shows_results, self.start = shows_results, time.monotonic()
        self._results: deque[str] = deque()
        self._seen = (0.0, self.start)

    def look(self, now: float) -> tuple[float, float | None]:
        """Return the share that is done at a time, and about how many seconds are left, if known.

        The estimate follows from the last step seen, so that it never grows between two steps.
        """
        share = max(self.share, self._seen[0])
        if share > self._seen[0]:
            self._seen = share, now
        new = share - self.steps_kept / self.total
        if new <= 0:
            return share, None
        seconds = (1 - share) * (self._seen[1] - self.start) / new
        return share, seconds - (now - self._seen[1])

    def keep(self, steps: int) -> None:
        """Count steps as done that were done before this work began."""
        self(steps)
        self.steps_kept += steps

    def stage(self, name: str, steps: float | None = None) -> None:
        """Name what is done from now on, and how many steps it is."""
        self.stage_name = name
        self.step_size = self.step_size if steps is None else steps

    def describe(self, description: str) -> str:
        """Return a description with the stage."""
        return ": ".join([description, *map(printable, self.stage_names[-1:])])

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
    shown: bool,
    unit: str = "question",
    progress: Progress | None = None,
) -> Iterator[Progress]:
    """Show the progress of the block on stderr; call the yielded :class:`Progress` with the number
    of new steps.

    On a terminal it is a bar, which appears after one second. Elsewhere, as in a log file, a line
    every 30 seconds says what runs, the share that is done, the time so far, and about how much is
    left. A thread writes both, so they go on during a long step. Loops inside a step
    (:func:`~classic_rc.work.tracked`) move the bar too. Without `total`, the number of
    steps is unknown, and only such loops do; the unit ``"B"`` (bytes) is shown with k, M and G;
    `progress` is work that began in an earlier block and goes on here. Inside the block of another
    bar, there is only that one.
    """
    global _last_work
    progress = progress or Progress()
    progress.total, progress.n_steps = total or 1, total
    if CURRENT_WORK.get() is not None:
        with progress.run():
            yield progress
        return
    if not shown:
        yield progress
        return
    if time.monotonic() > _last_work + _IDLE_SECONDS:
        start_command()
    done = threading.Event()
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    show = _draw_bar if is_terminal else _write_lines
    facts = (progress, done, printable(description), unit)
    clock = threading.Thread(target=show, args=facts, daemon=True, name=CLOCK_NAME)
    clock.start()
    try:
        with progress.run():
            yield progress
    finally:
        done.set()
        clock.join()
        _last_work = time.monotonic()


def _draw_bar(progress: Progress, done: threading.Event, description: str, unit: str) -> None:
    if done.wait(DELAY_SECONDS):
        _write(progress.take_results() if progress.shows_results else [])
        return
    from tqdm import tqdm

    class Bar(tqdm):
        monitor_interval = (
            0  # tqdm's own thread would outlive the bar, and a process with threads is not forked
        )

        @property
        def format_dict(self) -> dict[str, Any]:
            return {**super().format_dict, "left": _describe_left(seconds)}

    seconds: float | None = None
    form = "{l_bar}{bar}| {n:.0f}/{total:.0f} [{elapsed}<{left}]"
    if progress.n_steps is None:
        form = "{l_bar}{bar}| [{elapsed}<{left}]"
    elif unit == "B":
        form = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{left}, {rate_fmt}]"
    with Bar(
        desc=description,
        total=progress.total,
        unit=unit,
        unit_scale=unit == "B",
        leave=False,
        bar_format="{desc} {elapsed}",
    ) as bar:
        bar.start_t -= time.monotonic() - progress.start
        finished = False
        while not finished:
            finished = done.wait(REFRESH_SECONDS)
            for result in progress.take_results():
                bar.write(f"classic-rc: {printable(result)}", file=sys.stderr)
            share, seconds = progress.look(time.monotonic())
            if share > 0 or progress.n_steps is not None:
                bar.bar_format = form
            bar.n, bar.initial = share * progress.total, progress.steps_kept
            bar.set_description_str(progress.describe(description), refresh=False)
            bar.refresh()


def _write_lines(progress: Progress, done: threading.Event, description: str, _: str) -> None:
    lines = Lines(progress, description)
    finished = False
    while not finished:
        finished = done.wait(REFRESH_SECONDS)
        _write(lines.due(time.monotonic(), finished=finished))


class Lines:
    """The lines of a log about a piece of work."""

    def __init__(self, progress: Progress, description: str) -> None:
        self._progress, self._description = progress, description
        self._is_long = progress.shows_results

    def due(self, now: float, *, finished: bool = False) -> list[str]:
        """Return the lines to write now: one every now and then; from it on, also results at
        once.
        """
        global _last_line
        share, seconds = self._progress.look(now)
        is_due = not finished and now >= _last_line + LINE_SECONDS
        self._is_long |= is_due
        lines = self._progress.take_results() if self._is_long else []
        if is_due:
            elapsed = _describe_left(now - self._progress.start)
            elapsed_and_left = f", {elapsed}, {_describe_left(seconds)} left"
            has_share = share > 0 or self._progress.n_steps is not None
            times = f", {100 * share:.0f}%{elapsed_and_left}" if has_share else f", {elapsed}"
            lines.append(f"{self._progress.describe(self._description)}{times}")
            _last_line = now
        return lines


def _write(lines: list[str]) -> None:
    if lines:
        with suppress(OSError):  # without stderr there is nowhere to report an error
            sys.stderr.write("".join(f"classic-rc: {printable(line)}\n" for line in lines))
            sys.stderr.flush()


def _describe_left(seconds: float | None) -> str:
    """Return seconds as ``"00:21"``; ``"?"`` if they are unknown, or over."""
    from tqdm import tqdm

    return "?" if seconds is None or seconds < 0 else tqdm.format_interval(seconds)
