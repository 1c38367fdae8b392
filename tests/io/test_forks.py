"""Scoring in forks: the same bits, the first error in order, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from classic_rc.errors import UsageError
from classic_rc.io.forks import can_fork, count_jobs, map_in_forks
from tests.errors import raises

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks safely")

RUN = """
import os
import classic_rc
from classic_rc import evaluate
from classic_rc.running import fitted_system
from classic_rc.questions import Task
from classic_rc.testing import synthetic_dataset

fitted_system.MIN_FORK_PASSAGES = 10
forked = []
original = fitted_system.map_in_forks
fitted_system.map_in_forks = lambda *args: forked.append(len(args[1])) or original(*args)
dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=60)
for spec in ("sw+d", "sliding-window,inverse_counts=corpus", "word-distance"):
    solver = classic_rc.parse_solver(spec)
    rows = [evaluate(dataset, [solver], jobs=jobs).rows[0] for jobs in (1, 2, 3)]
    assert len({row.signature for row in rows}) == 1
    assert all(row.outcomes.answers == rows[0].outcomes.answers for row in rows)
    assert all((row.outcomes.n_tied == rows[0].outcomes.n_tied).all() for row in rows)
print(*forked)
"""


@pytest.mark.ci
@needs_fork
def test_any_number_of_forks_gives_the_same_results():
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["2", "3"] * 3


@needs_fork
def test_each_item_has_a_process_and_results_are_in_order():
    arrays = [np.arange(100_000) + i for i in range(3)]
    results = map_in_forks(lambda array: (os.getpid(), array * 2), arrays)
    assert results[0][0] == os.getpid()
    assert len({process for process, _ in results}) == 3
    for (_, doubled), array in zip(results, arrays, strict=True):
        assert np.array_equal(doubled, 2 * array)


def _refuse_odd(number):
    if number % 2:
        raise UsageError("odd", field="number", found=str(number))
    return number


def _child_processes() -> set[str]:
    """The ids of this process's children, such as workers of other tests."""
    return {
        child
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    }


@needs_fork
def test_the_first_error_in_order_is_raised():
    before = _child_processes()
    with raises(UsageError, field="number", found="3"):
        map_in_forks(_refuse_odd, [2, 3, 5])
    assert _child_processes() <= before  # no fork is left


@needs_fork
def test_an_error_that_cannot_be_sent_is_described():
    class LocalError(Exception):
        pass

    def fail(item):
        if item:
            raise LocalError(item)

    with pytest.raises(RuntimeError, match="LocalError: here"):
        map_in_forks(fail, ["", "here"])


@needs_fork
def test_a_killed_fork_is_an_error():
    with pytest.raises(RuntimeError, match="killed"):
        map_in_forks(lambda item: item and os.kill(os.getpid(), 9), [0, 1])


def test_a_process_with_other_threads_is_not_forked():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not can_fork()
    finally:
        done.set()
        thread.join()


def test_negative_jobs_count_the_cores():
    cores = count_jobs(-1)
    assert cores >= 1
    assert (count_jobs(1), count_jobs(7)) == (1, 7)
    assert (count_jobs(-2), count_jobs(-1000)) == (max(cores - 1, 1), 1)


def test_no_job_is_an_error():
    with raises(UsageError, field="jobs", found="0"):
        count_jobs(0)
