"""A progress bar on stderr for work that takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from classic_rc.io.printable import printable

CLOCK_NAME = "classic_rc progress"
"""The name of the threads that redraw progress bars."""

_DELAY_SECONDS = 1.0
_REFRESH_SECONDS = 0.2


@contextmanager
def progress_bar(
    description: str, total: int | None, shown: bool, unit: str = "question"
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar while the block runs. It appears after one second.

    A thread redraws the bar, so its clock keeps going during a long step.

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
    callable
        Takes the number of steps done since the last call.
    """
    if not shown:
        yield lambda steps: None
        return
    done, steps_done = threading.Event(), [0]

    def advance(steps: int) -> None:
        steps_done[0] += steps

    def draw() -> None:
        if done.wait(_DELAY_SECONDS):
            return
        from tqdm import tqdm

        form = None if total is not None else "{desc} {elapsed}"
        with tqdm(
            desc=printable(description),
            total=total,
            unit=unit,
            unit_scale=unit == "B",
            leave=False,
            bar_format=form,
        ) as bar:
            bar.start_t -= _DELAY_SECONDS
            while not done.wait(_REFRESH_SECONDS):
                bar.n = steps_done[0]
                bar.refresh()

    clock = threading.Thread(target=draw, daemon=True, name=CLOCK_NAME)
    clock.start()
    try:
        yield advance
    finally:
        done.set()
        clock.join()
