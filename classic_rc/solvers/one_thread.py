"""Learning that gives the same bits whatever number of cores there is."""

from __future__ import annotations

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[object]:
    """While it is open, linear algebra runs in one thread.

    With several, sums are added up in an order that depends on their number, and a learner's weights with it: in
    their last digits, which a threshold in force or a run made again would show.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
