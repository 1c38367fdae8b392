"""Scoring in several processes: forks of this one, which see its arrays without a copy, or those of joblib."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np

from classic_rc.errors import OutputError, UsageError
from classic_rc.io.progress import CLOCK_NAME
from classic_rc.kernels.arrays import offsets_of
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.text.encoded import EncodedDataset

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def count_jobs(jobs: int) -> int:
    """Return the number of jobs; -1 is one for each core that this process may use, -2 one less; 0 is refused."""
    if jobs == 0:
        raise UsageError(
            "jobs must be 1 or more, or -1 for all cores, got 0",
            field="jobs",
            found="0",
            expected="1 or more, or -1",
        )
    if jobs > 0:
        return jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores + 1 + jobs, 1)


def can_fork() -> bool:
    """Return whether this process can be forked safely: on Linux, from the main thread, without other threads.

    A fork has one thread, and a lock that another thread holds at that moment stays locked in it. The thread that
    shows progress is harmless, because forks show nothing.
    """
    names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    is_main = threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and is_main and all(name == CLOCK_NAME for name in names)


def map_in_forks(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> list[_Result]:
    """Return the function's result for each item, each computed in a fork of its own, all at the same time.

    The function neither prints nor starts threads. Items are not copied; results are pickled. What the function
    raised for the first item where it raised something is raised here, and a RuntimeError if a fork was killed.
    """
    forks: list[tuple[int, int]] = []
    try:
        for item in items:
            forks.append(_start(function, item))
        results = []
        for _, pipe in forks:
            with open(pipe, "rb", closefd=False) as stream:
                content = stream.read()
            if not content:
                raise RuntimeError("a forked process was killed, perhaps because memory ran out")
            is_result, value = pickle.loads(content)
            if not is_result:
                raise value
            results.append(value)
        return results
    finally:
        for process, pipe in forks:
            os.close(pipe)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _start(function: Callable[[Any], Any], item: Any) -> tuple[int, int]:
    """Fork, and return the process and the pipe that its result comes from."""
    pipe, end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any thread; see can_fork.
        process = os.fork()
    if process == 0:
        _send_result(function, item, end)
    os.close(end)
    return process, pipe


def _send_result(function: Callable[[Any], Any], item: Any, end: int) -> NoReturn:
    """Run the function, write its result or its exception, and end the process without any cleaning up."""
    try:
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


# ------------------------------------------------------------------------------------------------------------------
# Scoring

MIN_SHARD_PASSAGES = 25_000
"""Fewer passages than this are scored faster than another process starts and imports its modules."""

MIN_FORK_PASSAGES = 1_000
"""Fewer passages than this are not worth a fork."""


def score_in_shards(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> list[Scores]:
    """Return the solver's scores, computed by up to `jobs` processes; for a combination also those of each member.

    The processes are forks if the solver needs nothing but arrays and this process can be forked, else processes of
    joblib's current backend. The scores of a question depend only on that question, so neither changes them.
    """
    if jobs == 1 or not isinstance(questions, EncodedDataset):
        return _checked_with_members(solver, questions, jobs)
    n_passages = len(questions.arrays.passage_offsets) - 1
    n_forks = min(count_jobs(jobs), n_passages // MIN_FORK_PASSAGES)
    if n_forks > 1 and _can_score_in_forks(solver):
        shards = questions.shards(n_forks, with_questions=False)
        scored_shards = map_in_forks(partial(_checked_with_members, solver), shards)
        return [_join_shards(questions, scored) for scored in zip(*scored_shards, strict=True)]
    from joblib import Parallel, delayed, effective_n_jobs

    n_shards = min(effective_n_jobs(jobs), n_passages // MIN_SHARD_PASSAGES)
    if n_shards < 2:
        return _checked_with_members(solver, questions)
    shards = questions.shards(n_shards, with_questions=not solver.needs_only_arrays)
    parts = Parallel(n_jobs=n_shards)(delayed(_checked_with_members)(solver, shard) for shard in shards)
    return [_join_shards(questions, scored) for scored in zip(*parts, strict=True)]


def _can_score_in_forks(solver: Solver) -> bool:
    """Return whether to fork: not for learned models, whose libraries may have threads."""
    if not solver.needs_only_arrays or solver.learns_from == "gold" or not can_fork():
        return False
    if "joblib" not in sys.modules:  # so nobody has chosen a backend
        return True
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


def _join_shards(questions: EncodedDataset, parts: Sequence[Scores]) -> Scores:
    scores = questions.in_order(
        np.concatenate([part.values for part in parts]), np.concatenate([part.evidence for part in parts])
    )
    return replace(scores, relative_ties=all(part.relative_ties for part in parts))


def _checked_with_members(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> list[Scores]:
    with solver.failures():  # here, because errors of other processes come without their place
        return solver.score_with_members(questions) if solver.members else [_checked(solver, questions, jobs)]


def _checked(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    """Return the solver's scores, after checking their shape."""
    scores = score_questions(solver, questions) if jobs == 1 else solver.score_with_jobs(questions, jobs)
    if isinstance(questions, EncodedDataset):
        offsets = questions.score_offsets
    else:
        offsets = offsets_of(np.array([len(q.candidates) for q in questions], dtype=np.int64))
    if not np.array_equal(scores.offsets, offsets):
        raise OutputError(
            f"score_candidates of solver {solver.name!r} must return one score per candidate: got "
            f"{len(scores.values)} scores in {len(scores)} rows for {offsets[-1]} candidates of "
            f"{len(offsets) - 1} questions",
            field="score_candidates",
            found=f"{len(scores.values)} scores in {len(scores)} rows",
            expected=f"{offsets[-1]} scores in {len(offsets) - 1} rows",
        )
    return scores
