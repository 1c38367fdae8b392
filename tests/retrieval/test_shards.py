"""Searching the segments of an index in other processes, which get only paths, gives the same bits."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config

from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.registry import open_corpus
from classic_rc.retrieval.reading import TextFile
from classic_rc.retrieval.sparse import Sparse

SEGMENT_SENTENCES = 300
SIMILARITIES = ("bm25", "classic")

_WORDS = [f"w{i}" for i in range(200)]
_RNG = np.random.default_rng(5)


def _texts(n: int, longest: int) -> list[str]:
    """Return texts with a skewed distribution of words, so that statistics matter."""
    lengths = _RNG.integers(1, longest + 1, n)
    return [" ".join(_WORDS[i] for i in (200 * _RNG.random(length) ** 3).astype(int)) for length in lengths]


SENTENCES = _texts(2000, 30)
QUESTIONS = _texts(40, 8)
OPTIONS = [_texts(4, 3) for _ in QUESTIONS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of several segments, in which a term's frequency differs from segment to segment."""
    corpus = tmp_path_factory.mktemp("shards") / "corpus.txt"
    corpus.write_text("\n".join(SENTENCES), encoding="utf-8")
    build_index([TextFile(str(corpus))], corpus.parent / "index", segment_sentences=SEGMENT_SENTENCES)
    return corpus.parent / "index"


def search_both(engine: Sparse) -> list[np.ndarray]:
    """Return all arrays of both kinds of search."""
    hits, best = engine.top(QUESTIONS, k=20), engine.best_constrained(QUESTIONS, OPTIONS)
    return [hits.sentences, hits.scores, hits.offsets, best.sentences, best.scores, best.offsets]


def search_one_segment(similarity: str) -> list[np.ndarray]:
    """Return the same from one segment in this process."""
    engine = Sparse(similarity=similarity).index(SENTENCES)
    assert len(engine.segments) == 1
    return search_both(engine)


def assert_same_bits(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    assert [a.tobytes() for a in ours] == [b.tobytes() for b in theirs]


def test_a_segment_of_a_folder_is_sent_as_its_path(folder):
    engine = open_corpus(folder).engine
    assert len(engine.segments) == 7
    for segment in engine.segments:
        sent = pickle.dumps(segment)
        assert len(sent) < 5000 < sum(array.nbytes for array in segment)
        assert_same_bits(list(pickle.loads(sent)), list(segment))


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_two_loky_workers_give_the_bits_of_one_process(folder, similarity):
    with parallel_config(backend="loky"):
        spread = search_both(open_corpus(folder, similarity=similarity, n_jobs=2).engine)
    assert_same_bits(spread, search_one_segment(similarity))


@pytest.fixture(scope="module")
def distributed() -> Any:
    return pytest.importorskip("distributed", reason="the extra `dask` is not installed")


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_dask_workers_give_the_bits_of_one_process_though_one_is_killed(distributed, folder, similarity):
    from distributed.diagnostics.plugin import SchedulerPlugin
    from psutil import Process  # which distributed needs, too

    class Killer(SchedulerPlugin):
        """Kills the first worker that has finished a search, with its result and its other tasks."""

        def __init__(self) -> None:
            self.killed: list[str] = []
            self.gone: list[str] = []

        def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
            if finish == "memory" and not self.killed:
                self.killed.append(kwargs["worker"])
                [nanny] = (n for n in cluster.workers.values() if n.worker_address == kwargs["worker"])
                Process(nanny.pid).kill()

        def remove_worker(self, scheduler: Any, worker: str, **kwargs: Any) -> None:
            self.gone.append(worker)

    with (
        distributed.LocalCluster(n_workers=2, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        killer = Killer()
        cluster.scheduler.add_plugin(killer)
        spread = search_both(open_corpus(folder, similarity=similarity, n_jobs=-1).engine)
        assert killer.killed[0] in killer.gone
    assert_same_bits(spread, search_one_segment(similarity))
