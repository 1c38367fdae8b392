"""Speed of turning text into word ids, compared with plain dictionaries, nltk's tokenizer and
scikit-learn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks import DATA
from benchmarks.generate import dataset
from benchmarks.plain_encoder import PlainEncoder
from benchmarks.timing import Table, interleaved
from classic_rc.datasets.registry import load
from classic_rc.questions import Question
from classic_rc.text.encode import SharedQuestions, TextEncoder, encode

FILES = {
    "RACE": ("race/RACE-train-dev.tar.gz",),
    "MultiRC": ("multirc/train_456-fixedIds.json",),
    "MCTest": tuple(
        f"mctest/{name}.tsv" for name in ("mc160.train", "mc160.dev", "mc500.train", "mc500.dev")
    ),
}


def run(quick: bool = False) -> list[Table]:
    """Measure microseconds per token on generated data, and on real data if its files are there."""
    return [_other_libraries(quick), *([_plain_encoder(quick)] if DATA.is_dir() else [])]


def _other_libraries(quick: bool) -> Table:
    from nltk import word_tokenize
    from sklearn.feature_extraction.text import CountVectorizer

    questions = dataset("RACE", 100 if quick else 1000)
    texts = [text for part in _texts(questions) for text in part]
    few = texts[:: max(len(texts) // 500, 1)]
    n_tokens = _count_tokens(questions, "word")
    share = sum(map(len, few)) / sum(map(len, texts))
    seconds = interleaved(
        {
            "encode, analyzer word": lambda: encode(questions, "word"),
            "encode, analyzer mctest": lambda: encode(questions, "mctest"),
            "scikit-learn CountVectorizer": lambda: CountVectorizer(dtype=np.int32).fit_transform(
                texts
            ),
            "nltk word_tokenize, tokens alone": lambda: [
                word_tokenize(t, preserve_line=True) for t in few
            ],
        },
        3 if quick else 5,
    )
    seconds["nltk word_tokenize, tokens alone"] /= share
    ours = seconds["encode, analyzer word"]
    return {
        "title": "Encoding text",
        "header": ["", "us a token", "times ours"],
        "rows": [
            [name, round(1e6 * s / n_tokens, 3), round(s / ours, 2)] for name, s in seconds.items()
        ],
        "notes": [f"{n_tokens:,} tokens; nltk is timed on a sample of the texts and scaled."],
    }


def _plain_encoder(quick: bool) -> Table:
    rows = []
    for name, files in FILES.items():
        questions = [question for file in files for question in load(DATA / file)]
        if quick:
            questions = questions[:1000]
        for analyzer in ("word", "mctest"):
            functions = _encoders(questions, analyzer)
            rounds = 3 if quick or name == "RACE" else 7
            seconds = interleaved(functions, rounds, time.process_time)
            n_tokens = _count_tokens(questions, analyzer)
            plain, ours, whole = (1e6 * s / n_tokens for s in seconds.values())
            figures = (plain, ours, plain / ours, whole)
            rows.append(
                [f"{name}, {analyzer}", f"{n_tokens:,}", *(round(figure, 3) for figure in figures)]
            )
    return {
        "title": "Encoding real text, compared with plain dictionaries",
        "header": [
            "",
            "tokens",
            "dictionaries, us a token",
            "TextEncoder, us a token",
            "ratio",
            "encode(questions), us a token",
        ],
        "rows": rows,
        "notes": ["CPU time."],
    }


def _encoders(questions: Sequence[Question], analyzer: str) -> dict[str, Callable[[], object]]:
    texts = _texts(questions)

    def whole() -> object:
        return encode(SharedQuestions(questions), analyzer)

    def of(new: Callable[[], PlainEncoder | TextEncoder]) -> Callable[[], object]:
        def run_all() -> object:
            encoder = new()
            return [encoder.encode(part) for part in texts]

        return run_all

    return {
        "dictionaries": of(lambda: PlainEncoder(analyzer)),
        "TextEncoder": of(lambda: TextEncoder(analyzer)),
        "encode": whole,
    }


def _texts(questions: Sequence[Question]) -> list[list[str]]:
    """Return the passages, the queries and the candidates."""
    passages = {id(q.passage): q.passage.text for q in questions}
    return [
        list(passages.values()),
        [q.query for q in questions],
        [candidate.text for q in questions for candidate in q.candidates],
    ]


def _count_tokens(questions: Sequence[Question], analyzer: str) -> int:
    arrays = encode(questions, analyzer).arrays
    return sum(map(len, (arrays.passage_tokens, arrays.question_tokens, arrays.candidate_tokens)))
