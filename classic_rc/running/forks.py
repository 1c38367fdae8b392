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
from contextvars import copy_context
from functools import partial
from typing import Any, NoReturn, TypeVar

from classic_rc.errors import UsageError
from classic_rc.io.progress import CLOCK_NAME
from classic_rc.io.reporters import reporters

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


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
    other threads.

    A fork has one thread, and a lock that another thread holds at that moment stays locked in it.
    The thread that shows progress is harmless, because forks show nothing.
    """
    names = [
        thread.name for thread in threading.enumerate() if thread is not threading.main_thread()
    ]
    is_main = threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and is_main and all(name == CLOCK_NAME for name in names)


def map_in_forks(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Return the function's result for each item, all computed at the same time: the first one in
    this process, each other one in a fork of its own.

    The function neither prints nor starts threads. Items are not copied; results are pickled. What
    the function raised for the first item where it raised something is raised here, and a
    RuntimeError if a fork was killed.
    """
    with reporters(len(items)) as reporting:
        tasks = [partial(reporter, function) for reporter in reporting]
        forks: list[tuple[int, int]] = []
        try:
            for task, item in zip(tasks[1:], items[1:], strict=True):
                forks.append(_start(task, item))
            # In a context of its own, because a reporter hides the work that this process reports.
            first = copy_context().run(tasks[0], items[0])
            return [first, *(_receive(pipe) for _, pipe in forks)]
        finally:
            for process, pipe in forks:
                os.close(pipe)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGTERM)
                os.waitpid(process, 0)


def _receive(pipe: int) -> Any:
    with open(pipe, "rb", closefd=False) as stream:
        content = stream.read()
    if not content:
        raise RuntimeError("a forked process was killed, perhaps because memory ran out")
    is_result, value = pickle.loads(content)
    if not is_result:
        raise value
    return value


def _start(function: Callable[[Any], Any], item: Any) -> tuple[int, int]:
    """Fork, and return the process and the pipe that its result comes from."""
    pipe, end = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of any thread; see can_fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        _send_result(function, item, end)
    os.close(end)
    return process, pipe


def _send_result(function: Callable[[Any], Any], item: Any, end: int) -> NoReturn:
    """Run the function, write its result or its exception, and end the process without any
    cleaning up.
    """
    try:
        gc.disable()  # a collection would write to every object, and so copy the memory
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            content = pickle.dumps((True, function(item)), pickle.HIGHEST_PROTOCOL)
        except BaseException as error:
            try:
                content = pickle.dumps((False, error))
            except Exception:
                content = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        with open(end, "wb") as stream:
            stream.write(content)
    finally:
        os._exit(0)
