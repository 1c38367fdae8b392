"""Work in forked copies of this process, which see its arrays without a copy and send back their
results.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, NoReturn, Self, TypeVar

from classic_rc.errors import UsageError
from classic_rc.io.progress import CLOCK_NAME
from classic_rc.io.reporters import reporters

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

PROCESS_COUNTS: ContextVar[list[int]] = ContextVar("PROCESS_COUNTS")
"""How many processes shared each piece of work of the command that set this list."""


def note_processes(number: int) -> int:
    """Return the number, after noting that so many processes share work."""
    if number > 1:
        PROCESS_COUNTS.get([]).append(number)
    return number


def count_jobs(jobs: int) -> int:
    """Return the number of jobs; -1 is one for each core that this process may use, -2 one less;
    0 is refused.
    """
    if jobs == 0:
        raise UsageError(
            "jobs must be 1 or more, or -1 for all cores, got 0",
            field="jobs",
            found="0",
            expected="1 or more, or -1",
        )
    if jobs > 0:
        return jobs
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    return max(cores + 1 + jobs, 1)


def can_fork() -> bool:
    """Return whether this process can be forked safely: on Linux, from the main thread, without
    other threads; and no other backend of joblib was chosen.

    A fork has one thread, and a lock that another thread holds at that moment stays locked in it.
    The thread that shows progress is harmless, because forks show nothing.
    """
    threads = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform != "linux" or not is_main or any(t.name != CLOCK_NAME for t in threads):
        return False
    if "joblib" not in sys.modules:  # so no backend was chosen
        return True
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


class ForkPool:
    """Compute results in forks of this process, one a fork; at most `size` forks run at once.

    The functions neither print nor start threads. Items are not copied; results are pickled.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._running: dict[int, tuple[int, int]] = {}  # process and pipe of each started number
        self._results: dict[int, Any] = {}
        note_processes(1 + size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for number in list(self._running):
            self._stop(number)

    def is_full(self, timeout: float | None = 0) -> bool:
        """Return whether no further fork can start, after receiving the results that come until
        `timeout`: those that are there, or, with None, at least one.
        """
        from multiprocessing.connection import wait

        ready = wait([pipe for _, pipe in self._running.values()], timeout)
        for number, (_, pipe) in list(self._running.items()):
            if pipe in ready:
                self._receive(number)
        return len(self._running) >= self._size

    def start(self, function: Callable[[], Any]) -> None:
        """Start a fork that calls a function, if need be after another one has ended."""
        while len(self._running) >= self._size:
            self.is_full(timeout=None)
        self._running[len(self._running) + len(self._results)] = _start(function)

    def finish(self) -> list[Any]:
        """Return all results in the order of the starts.

        What a function raised is raised here or earlier, and a BrokenExecutor if a fork was killed.
        """
        for number in list(self._running):
            self._receive(number)
        return [self._results[number] for number in range(len(self._results))]

    def _receive(self, number: int) -> None:
        with open(self._running[number][1], "rb", closefd=False) as stream:
            content = stream.read()
        self._stop(number)
        if not content:
            raise BrokenExecutor("a forked process was killed, perhaps because memory ran out")
        is_result, value = pickle.loads(content)
        if not is_result:
            raise value
        self._results[number] = value

    def _stop(self, number: int) -> None:
        process, pipe = self._running.pop(number)
        os.close(pipe)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGTERM)
        os.waitpid(process, 0)


def map_in_forks(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Return the function's result for each item, all computed at the same time: the first one in
    this process, each other one in a fork of its own.

    What the function raised for the first item where it raised something is raised here.
    """
    with reporters(len(items)) as reporting, ForkPool(len(items) - 1) as pool:
        tasks = [partial(reporter, function) for reporter in reporting]
        for task, item in zip(tasks[1:], items[1:], strict=True):
            pool.start(partial(task, item))
        # In a context of its own, because a reporter hides the work that this process reports.
        return [copy_context().run(tasks[0], items[0]), *pool.finish()]


def _start(function: Callable[[], Any]) -> tuple[int, int]:
    """Fork, and return the process and the pipe that its result comes from."""
    pipe, end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of any thread; see can_fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        _send_result(function, end)
    os.close(end)
    return process, pipe


def _send_result(function: Callable[[], Any], end: int) -> NoReturn:
    """Run the function, write its result or its exception, and end the process without any
    cleaning up.
    """
    try:
        gc.disable()  # a collection would write to every object, and so copy the memory
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            content = pickle.dumps((True, function()), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:
            try:
                content = pickle.dumps((False, error))
            except Exception:
                content = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        with open(end, "wb") as stream:
            stream.write(content)
    finally:
        os._exit(0)
