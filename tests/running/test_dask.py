"""Scoring on a cluster: joblib's backend decides where shards run, and the bits are the same."""

from __future__ import annotations

import pytest

from classic_rc import evaluate
from classic_rc.questions import Task
from classic_rc.solvers import parse_solver
from classic_rc.testing import synthetic_dataset

distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
pytestmark = pytest.mark.ci


def test_dask_workers_give_the_bits_of_one_process(monkeypatch):
    from joblib import effective_n_jobs, parallel_config

    monkeypatch.setattr("classic_rc.running.fitted_system.MIN_SHARD_PASSAGES", 5)
    dataset, solver = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=30), parse_solver("sw+d")
    [alone] = evaluate(dataset, [solver]).rows
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        assert effective_n_jobs(-1) == 3
        [spread] = evaluate(dataset, [solver], jobs=-1).rows
    assert spread.signature == alone.signature
    assert spread.outcomes.answers == alone.outcomes.answers
    assert spread.outcomes.n_tied.tolist() == alone.outcomes.n_tied.tolist()
