"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from classic_rc.io.printable import printable

_DELAY = 1.0
_BEAT = 0.2


@contextmanager
def progress_bar(
    description: str, total: int | None, shown: bool, unit: str = "question"
) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block runs, from its second second on.

    The clock goes on while a single step works, so that a long one does not look stuck.

    Parameters
    ----------
    description : str
    total : int, optional
        How many steps there are; None where nobody knows.
    shown : bool
        Whether to show anything at all.
    unit : str
        What a step is; of ``"B"``, bytes, thousands and millions are shown as such.

    Yields
    ------
    callable
        Takes the number of steps that have just been done.
    """
    if not shown:
        yield lambda steps: None
        return
    done, steps_done = threading.Event(), [0]

    def advance(steps: int) -> None:
        steps_done[0] += steps

    def draw() -> None:
        if done.wait(_DELAY):
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
            bar.start_t -= _DELAY
            while not done.wait(_BEAT):
                bar.n = steps_done[0]
                bar.refresh()

    clock = threading.Thread(target=draw, daemon=True)
    clock.start()
    try:
        yield advance
    finally:
        done.set()
        clock.join()
