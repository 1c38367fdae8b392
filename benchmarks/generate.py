"""Generated data with the size and shape of real datasets; words follow Zipf's law."""

from __future__ import annotations

import numpy as np

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

SHAPES = {
    # tokens per passage, questions per passage, tokens per question, tokens per option
    "MCTest": (210, 4, 8, 3),
    "RACE": (300, 4, 10, 6),
}


def zipf_words(rng: np.random.Generator, n: int, n_words: int = 30_000) -> np.ndarray:
    """Draw `n` word ids from a vocabulary in which the r-th word has a probability proportional to 1 / r."""
    weights = 1 / np.arange(1, n_words + 1)
    return rng.choice(n_words, n, p=weights / weights.sum()).astype(np.int32)


def token_arrays(shape: str, n_passages: int, seed: int = 0) -> TokenArrays:
    """Return encoded questions with four options each, in one of the :data:`SHAPES`."""
    rng = np.random.default_rng(seed)
    passage, per_passage, question, option = SHAPES[shape]
    n_questions = n_passages * per_passage

    def ragged(n: int, mean: int) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.maximum(rng.poisson(mean, n), 1)
        return zipf_words(rng, int(lengths.sum())), offsets_of(lengths)

    return TokenArrays(
        *ragged(n_passages, passage),
        *ragged(n_questions, question),
        *ragged(4 * n_questions, option),
        np.repeat(np.arange(n_passages), per_passage),
        np.repeat(np.arange(n_questions), 4),
        30_000,
    )


def dataset(shape: str, n_passages: int, seed: int = 0) -> Dataset:
    """Return the same questions as text, with pronounceable words in sentences of ten words."""
    arrays = token_arrays(shape, n_passages, seed)
    syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in "aeiou"]
    words = [
        "".join(syllables[i // len(syllables) ** k % len(syllables)] for k in range(3 if i > 8000 else 2))
        for i in range(arrays.n_words)
    ]

    def texts(tokens: np.ndarray, offsets: np.ndarray) -> list[str]:
        spelled = [[words[t] for t in tokens[a:b]] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
        return [". ".join(" ".join(w[i : i + 10]) for i in range(0, len(w), 10)) for w in spelled]

    passages = [Passage(f"p{i}", t) for i, t in enumerate(texts(arrays.passage_tokens, arrays.passage_offsets))]
    options = texts(arrays.candidate_tokens, arrays.candidate_offsets)
    questions = [
        Question(
            f"q{i}",
            passages[int(arrays.question_passage[i])],
            text,
            tuple(map(Candidate, options[4 * i : 4 * i + 4])),
            frozenset({i % 4}),
            Task.SINGLE_CHOICE,
        )
        for i, text in enumerate(texts(arrays.question_tokens, arrays.question_offsets))
    ]
    return Dataset(questions, f"generated {shape}")
