"""What the comparison of a dataset with an index costs: one pass over its texts, and searches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import DATA
from benchmarks.retrieval_text import material
from benchmarks.timing import Table, interleaved
from classic_rc.datasets.registry import load
from classic_rc.equality import normalised_text
from classic_rc.errors import ClassicRCError
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.corpus import Corpus
from classic_rc.retrieval.engines.lucene import Lucene
from classic_rc.retrieval.sparse import Sparse
from classic_rc.retrieval.verbatim import contains_text, find_texts, find_verbatim
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences

N_SENTENCES = 500_000
N_SEARCHED = 300
"""How many sentences of passages are also searched for."""

_HITS = 100


def run(quick: bool = False) -> list[Table]:
    """Compare RACE dev with indexes of sentences of several datasets, RACE dev among them."""
    path = DATA / "race/RACE-train-dev.tar.gz"
    if not path.is_file():
        return [{"title": _TITLE, "header": ["", ""], "rows": [], "notes": ["RACE is missing."]}]
    questions = list(load(path, split="dev"))
    found = material(N_SENTENCES // (20 if quick else 1), 1, get_analyzer("lucene-english"))
    rows: list[list[Any]] = []
    with TemporaryDirectory() as folder:
        for engine in (Sparse(), Lucene(place=Path(folder, "lucene"))):
            try:
                engine.index(found.sentences)
            except ClassicRCError as error:
                rows.append([engine.name, str(error)])
                continue
            corpus = Corpus(engine.name, engine, "", str)
            rows.append([engine.name, engine.n_sentences, *_measure(corpus, questions)])
    return [{"title": _TITLE, "header": _HEADER, "rows": rows, "notes": [_NOTE, found.origin]}]


_TITLE = "RACE dev compared with an index, word for word"
_HEADER = [
    "engine",
    "sentences",
    f"{N_SEARCHED} sentences, {_HITS} hits of each",
    "found",
    "the same, one pass",
    "found",
    "all questions and passages, one pass or two",
    "in the index",
]
_NOTE = (
    "CPU seconds of the process, the median of three rounds by turns; all questions and passages: "
    "once. Before, engines without postings of their own examined the best hits of each text."
)


def _measure(corpus: Corpus, questions: Sequence[Any]) -> list[Any]:
    texts = [
        question.passage.text[start:end]
        for question in questions[:N_SEARCHED]
        for start, end in passage_sentences(question.passage)
    ]
    texts = list(dict.fromkeys(texts))[:N_SEARCHED]
    ways: dict[str, Callable[[], Any]] = {
        "search": partial(_search, corpus.engine, texts),
        "pass": partial(find_texts, corpus, texts),
    }
    seconds = interleaved(ways, rounds=3, clock=time.process_time)
    n_found = {name: sum(map(len, way().values())) for name, way in ways.items()}
    start = time.process_time()
    found = find_verbatim(corpus, questions)
    everything = time.process_time() - start
    return [
        f"{seconds['search']:.2f}",
        n_found["search"],
        f"{seconds['pass']:.2f}",
        n_found["pass"],
        f"{everything:.2f}",
        str(found),
    ]


def _search(engine: Engine, texts: Sequence[str]) -> dict[str, list[int]]:
    """Return those of the best hits of each text that contain it."""
    found: dict[str, list[int]] = {}
    for text, (numbers, _) in zip(texts, engine.top(texts, _HITS), strict=True):
        terms = {*engine.analyzer.analyze(text)}
        hits = {number: engine.sentence(number) for number in numbers.tolist()}
        found[text] = [
            number
            for number, hit in hits.items()
            if terms <= {*engine.analyzer.analyze(hit)}
            and contains_text(normalised_text(hit), normalised_text(text))
        ]
    return found
