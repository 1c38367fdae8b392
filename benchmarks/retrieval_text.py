"""Sentences to search and questions to ask: real ones if the datasets' files are there, else
generated ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from benchmarks import DATA
from benchmarks.generate import zipf_words
from classic_rc.datasets.registry import load
from classic_rc.kernels.arrays import offsets_of
from classic_rc.questions import Question
from classic_rc.text.analyzers import Analyzer, stop_words
from classic_rc.text.encode import TextEncoder
from classic_rc.text.sentences import passage_sentences

FILES = (
    "race/RACE-train-dev.tar.gz",
    *(f"multirc/{name}" for name in ("train_456-fixedIds.json", "dev_83-fixedIds.json")),
    *(f"mctest/{name}.tsv" for name in ("mc160.train", "mc160.dev", "mc500.train", "mc500.dev")),
    *(f"dream/{split}.json" for split in ("train", "dev")),
)
N_WORDS = 60_000
"""The size of the vocabulary of generated text."""


class Material(NamedTuple):
    """The sentences that a benchmark searches, and its questions."""

    sentences: list[str]  # without line breaks
    questions: list[str]  # each has at least one index term
    options: list[list[str]]  # of each question; each option has at least one index term
    origin: str  # where the sentences come from, for the table's notes


def material(
    n_sentences: int, n_questions: int, analyzer: Analyzer, seed: int = 0, *, alike: bool = True
) -> Material:
    """Return sentences and questions; a longer list of questions starts with the shorter one.

    `alike` says whether made sentences fill up the real ones.
    """
    rng = np.random.default_rng(seed)
    if DATA.is_dir():
        real, asked = _real(seed)
        which = np.sort(rng.permutation(len(real))[:n_sentences])
        sentences = [real[i] for i in which.tolist()]
        origin = (
            f"{len(sentences):,} of the {len(real):,} sentences of RACE, MultiRC, MCTest and DREAM "
            "(train and dev)"
        )
        n_missing = n_sentences - len(sentences)
        if n_missing and alike:
            sentences += _alike(real, n_missing, rng)
            origin += f", and {n_missing:,} made of their words, drawn by frequency"
    else:
        sentences, asked = generated(n_sentences, n_questions, rng)
        origin = f"{n_sentences:,} generated sentences, words drawn by Zipf's law"
    return Material(sentences, *with_terms(asked[:n_questions], analyzer), origin)


def analyzed(texts: Sequence[str], analyzer: Analyzer) -> Iterator[list[str]]:
    """Yield the index terms of each text."""
    encoder = TextEncoder(analyzer)
    for start in range(0, len(texts), 10_000):
        tokens, ends = encoder.encode(texts[start : start + 10_000])
        vocabulary = encoder.vocabulary
        terms = [vocabulary[token] for token in tokens.tolist()]
        yield from (terms[first:last] for first, last in pairwise(ends.tolist()))


@cache
def _real(seed: int) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return all sentences of the datasets, and their questions in random order."""
    questions: list[Question] = list(chain.from_iterable(load(DATA / name) for name in FILES))
    passages = {q.passage.text: q.passage for q in questions}.values()
    sentences = [_line(p.text[start:end]) for p in passages for start, end in passage_sentences(p)]
    order = np.random.default_rng(seed).permutation(len(questions)).tolist()
    return sentences, [
        (_line(q.query), [_line(c.text) for c in q.candidates])
        for q in map(questions.__getitem__, order)
    ]


def _alike(sentences: Sequence[str], n: int, rng: np.random.Generator) -> list[str]:
    """Return `n` more sentences with words and lengths drawn from the given ones."""
    words = " ".join(sentences).split()
    lengths = rng.choice([len(s.split()) for s in sentences], n)
    return _texts(
        [words[i] for i in rng.integers(len(words), size=int(lengths.sum())).tolist()], lengths
    )


def generated(
    n_sentences: int, n_questions: int, rng: np.random.Generator
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return generated texts as long as real ones, with words drawn by Zipf's law.

    Every second of the 66 most frequent words is a stop word.
    """
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    spelled = ["".join(syllables[i // 90**k % 90] for k in range(3)) for i in range(N_WORDS)]
    spelled[: 2 * 33 : 2] = sorted(stop_words("lucene"))

    def texts(n: int, mean: float) -> list[str]:
        lengths = 1 + rng.poisson(mean - 1, n)
        return _texts(
            [spelled[i] for i in zipf_words(rng, int(lengths.sum()), N_WORDS).tolist()], lengths
        )

    sentences, questions, options = (
        texts(n_sentences, 15),
        texts(n_questions, 10),
        texts(4 * n_questions, 5),
    )
    return sentences, [(q, options[4 * i : 4 * i + 4]) for i, q in enumerate(questions)]


def _texts(words: list[str], lengths: np.ndarray) -> list[str]:
    ends = offsets_of(lengths).tolist()
    return [" ".join(words[first:last]) for first, last in zip(ends[:-1], ends[1:], strict=True)]


def with_terms(
    asked: Sequence[tuple[str, list[str]]], analyzer: Analyzer
) -> tuple[list[str], list[list[str]]]:
    """Return the questions and options that have an index term."""
    kept = [
        (q, [o for o in options if analyzer.analyze(o)])
        for q, options in asked
        if analyzer.analyze(q)
    ]
    return [q for q, options in kept if options], [options for _, options in kept if options]


def _line(text: str) -> str:
    return " ".join(text.split())
