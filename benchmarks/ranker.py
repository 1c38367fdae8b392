"""The dense features of the feature ranker: questions per CPU second, by group, compared with
plain Python.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import DATA
from benchmarks.generate import dataset
from benchmarks.timing import Table, interleaved
from classic_rc.datasets import load
from classic_rc.kernels import reference
from classic_rc.questions import Question
from classic_rc.solvers.feature_ranker.features import GROUPS, STOP_RARITY, dense_features
from classic_rc.solvers.feature_ranker.texts import (
    NEGATIONS,
    RankerTexts,
    TrainingWords,
    ranker_texts,
    word_flags,
)

_FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "MC500 train": ("mctest/mc500.train.tsv", {}),
    "RACE dev": ("race/RACE-train-dev.tar.gz", {"split": "dev"}),
}
_PLAIN_QUESTIONS = 20


def run(quick: bool = False) -> list[Table]:
    """Measure generated questions, and real ones where their files are."""
    data: dict[str, list[Question]] = {
        f"generated {shape}": list(dataset(shape, 100 if quick else 500))
        for shape in ("MCTest", "RACE")
    }
    if not quick:
        data |= {
            name: list(load(DATA / path, **o))
            for name, (path, o) in _FILES.items()
            if (DATA / path).is_file()
        }
    rows = [_measure(name, questions, 3 if quick else 7) for name, questions in data.items()]
    return [
        {
            "title": "Dense features of the feature ranker",
            "header": [
                "data",
                "questions",
                "tokens/passage",
                *GROUPS,
                "all",
                "plain Python, all",
                "times faster",
            ],
            "rows": rows,
            "notes": [
                "Questions per second of CPU time on one core, encoded texts; each group alone, "
                "and all together."
            ],
        }
    ]


def _measure(name: str, questions: list[Question], rounds: int) -> list[object]:
    texts = ranker_texts(questions)
    rarity = word_rarity(texts)
    functions = {group: partial(dense_features, texts, rarity, [group]) for group in GROUPS}
    seconds = interleaved(
        {**functions, "all": partial(dense_features, texts, rarity)}, rounds, time.process_time
    )
    rates = [round(len(questions) / s) for s in seconds.values()]
    plain = _plain_seconds(texts, rarity) / _PLAIN_QUESTIONS
    length = len(texts.encoded.arrays.passage_tokens) / (
        len(texts.encoded.arrays.passage_offsets) - 1
    )
    fast = seconds["all"] / len(questions)
    return [name, len(questions), round(length), *rates, round(1 / plain, 1), round(plain / fast)]


def _plain_seconds(texts: RankerTexts, rarity: NDArray[np.int64]) -> float:
    some = random.Random(0).sample(list(plain_questions(texts)), _PLAIN_QUESTIONS)
    words = word_lists(texts, rarity)
    start = time.process_time()
    for question in some:
        for index in range(len(question.candidates)):
            reference.ranker_features(question, index, *words)
    return time.process_time() - start


def word_rarity(texts: RankerTexts) -> NDArray[np.int64]:
    """Return the rarity of each word in the texts' own passages, fixed-point."""
    return TrainingWords.learn(texts).rarity(texts.encoded.vocabulary)


def plain_questions(texts: RankerTexts) -> Iterator[reference.RankerQuestion]:
    """Yield each question of the arrays in the form that the reference takes."""

    def lists(tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[list[int]]:
        return [tokens[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]

    arrays = texts.encoded.arrays
    sentences = lists(arrays.passage_tokens, texts.sentence_offsets)
    questions = lists(arrays.question_tokens, arrays.question_offsets)
    candidates = lists(arrays.candidate_tokens, arrays.candidate_offsets)
    statements = lists(texts.statements, texts.statement_offsets)
    bounds = np.searchsorted(arrays.candidate_question, np.arange(len(questions) + 1))
    for q, passage in enumerate(arrays.question_passage.tolist()):
        own = slice(*texts.passage_sentences[passage : passage + 2].tolist())
        mine = slice(*bounds[q : q + 2].tolist())
        yield reference.RankerQuestion(
            sentences[own],
            texts.speakers[own].tolist(),
            texts.turns[own].tolist(),
            int(texts.asked_speaker[q]),
            questions[q],
            candidates[mine],
            statements[mine],
        )


class WordLists(NamedTuple):
    """What the reference needs to know about words."""

    weight: Callable[[Hashable], int]
    stop: set[Hashable]
    negations: set[Hashable]


def word_lists(texts: RankerTexts, rarity: NDArray[np.int64]) -> WordLists:
    """Return the weights and lists of words that the ranker uses."""
    weights: dict[Hashable, int] = dict(
        enumerate(np.where(texts.stop, STOP_RARITY, np.maximum(rarity, 1)).tolist())
    )
    negations = np.flatnonzero(word_flags(texts.encoded.vocabulary, NEGATIONS))
    return WordLists(
        weights.__getitem__, set(np.flatnonzero(texts.stop).tolist()), set(negations.tolist())
    )
