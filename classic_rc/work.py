"""How much of a piece of work is done: loops count their steps, and a bar shows the share.

Only standard modules are imported: kernels count steps too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Self, TypeVar

_Item = TypeVar("_Item")

_NO_SECONDS = 0.1


class Work:
    """A piece of work of `total` steps. Calling it counts steps as done; what runs inside a step,
    of `step_size`, fills it.
    """

    def __init__(self, total: float = 1.0, stage_name: str = "") -> None:
        self.total, self.stage_name = total, stage_name
        self.steps_done: float = 0
        self.step_size = 1.0
        self._outer = CURRENT_WORK.get()
        self._filled = 0.0  # steps of the present one that finished inner work makes up
        self._inner: tuple[Work, float] | None = None  # and the steps that it makes up

    def __call__(self, steps: float) -> None:
        """Count steps as done."""
        self._filled = 0.0
        self.steps_done += steps
        self.report()

    def report(self) -> None:
        """Tell the outermost work that this one has changed."""
        if self._outer is not None:
            self._outer.report()

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1."""
        # Another thread asks. Read and written in these orders, the share is never too large.
        done = self.steps_done
        done += self._filled
        inner, steps = self._inner or (None, 0)
        done += 0 if inner is None else steps * inner.share
        return min(done / max(self.total, 1), 1.0)

    @property
    def stage_names(self) -> list[str]:
        """The names of what is done now, innermost last."""
        inner = [] if self._inner is None else self._inner[0].stage_names
        return [self.stage_name, *inner] if self.stage_name else inner

    @contextmanager
    def run(self, share: float = 1.0, steps: float = 0.0) -> Iterator[Self]:
        """Fill a share of the rest of the present step of the work around this one, or `steps`.

        Work that takes no time leaves its part to what follows.
        """
        outer, start = CURRENT_WORK.get(), time.monotonic()
        self._outer = outer
        if outer is not None:
            rest = max(outer.step_size - outer._filled, 0)
            steps = steps or share * rest
            outer._inner = self, steps
        CURRENT_WORK.set(self)
        try:
            yield self
        finally:
            CURRENT_WORK.set(outer)
            if outer is not None:
                outer._inner = None
                if time.monotonic() - start > _NO_SECONDS:
                    outer._filled += steps * self.share


CURRENT_WORK: ContextVar[Work | None] = ContextVar("work", default=None)
"""The innermost piece of work that this thread runs and a bar shows."""


def tracked(
    items: Iterable[_Item],
    total: float,
    size: Callable[[_Item], float] = lambda item: 1,
    *,
    share: float = 1.0,
    stage: str = "",
) -> Iterator[_Item]:
    """Yield items; each is a step of `size` in the work around this call, done when the next one is
    taken.

    The sizes sum to `total`. With a `share` below 1 there is room for more work after them.
    """
    if CURRENT_WORK.get() is None:
        yield from items
        return
    with Work(total, stage).run(share) as work:
        for item in items:
            work.step_size = size(item)
            yield item
            work(work.step_size)


@contextmanager
def part_of_work(share: float, stage: str = "") -> Iterator[None]:
    """Make what runs in the block a share of the rest of the work around it."""
    if CURRENT_WORK.get() is None:
        yield
        return
    with Work(1, stage).run(share):
        yield
