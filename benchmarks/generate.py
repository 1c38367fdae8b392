"""Generated data with the size and shape of real datasets; words follow Zipf's law."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

SHAPES = {
    # tokens per passage, questions per passage, tokens per question, tokens per option
    "MCTest": (210, 4, 8, 3),
    "RACE": (300, 4, 10, 6),
}


def zipf_words(rng: np.random.Generator, n: int, n_words: int = 30_000) -> np.ndarray:
    """Draw `n` word ids from a vocabulary in which the r-th word has a probability proportional
    to 1 / r.
    """
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
        "".join(
            syllables[i // len(syllables) ** k % len(syllables)]
            for k in range(3 if i > 8000 else 2)
        )
        for i in range(arrays.n_words)
    ]

    def texts(tokens: np.ndarray, offsets: np.ndarray) -> list[str]:
        spelled = [
            [words[t] for t in tokens[a:b]] for a, b in zip(offsets[:-1], offsets[1:], strict=True)
        ]
        return [". ".join(" ".join(w[i : i + 10]) for i in range(0, len(w), 10)) for w in spelled]

    passages = [
        Passage(f"p{i}", t)
        for i, t in enumerate(texts(arrays.passage_tokens, arrays.passage_offsets))
    ]
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


@dataclass(frozen=True)
class ScaleShape:
    """The shape of a generated dataset for :func:`write_reading_questions`."""

    n_questions: int
    per_passage: int = 4
    passage_tokens: int = 350
    n_words: int = 12_000
    near_duplicates: float = (
        0.01  # share of the passages that copy an earlier one but for some words
    )
    repeated_questions: float = (
        0.005  # share of the questions that have the words and options of an earlier one
    )
    signal: float = (
        0.6  # share of the questions whose right option comes from the sentence they ask about
    )


def write_reading_questions(path: Path, shape: ScaleShape, seed: int = 0) -> None:
    """Write single-choice questions as JSON lines, one passage after the other, so memory does not
    grow.

    Words follow Zipf's law; the most frequent ones are English function words. Sentences have 8 to
    20 words and end with a full stop. A question asks about one sentence: it has some of its words.
    With a probability of `shape.signal` the right option has words of the same sentence; wrong
    options have words of other sentences. Right options are slightly longer, as they are in many
    datasets.

    Parameters
    ----------
    path : Path
    shape : ScaleShape
    seed : int
        Equal seeds give equal files.
    """
    rng = np.random.default_rng(seed)
    words = english_like_words(shape.n_words, rng)
    earlier: list[np.ndarray] = []  # the sentences of some passages, to be copied
    asked: list[tuple[str, list[str], int]] = []  # some questions, to be repeated
    numbers = range(0, shape.n_questions, shape.per_passage)
    weights = np.cumsum(1 / np.arange(1, shape.n_words + 1))

    def draw(n: int) -> np.ndarray:
        return np.searchsorted(weights, rng.random(n) * weights[-1]).astype(np.int32)

    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, first in enumerate(numbers):
            if earlier and rng.random() < shape.near_duplicates:
                tokens = earlier[rng.integers(len(earlier))].copy()
                changed = rng.random(len(tokens)) < 0.03
                tokens[changed] = draw(int(changed.sum()))
            else:
                tokens = draw(
                    max(int(rng.normal(shape.passage_tokens, shape.passage_tokens / 5)), 40)
                )
                if len(earlier) < 200:
                    earlier.append(tokens)
            sentences = _cut_sentences(tokens, rng)
            text = " ".join(_sentence(words, sentence) for sentence in sentences)
            for i in range(first, min(first + shape.per_passage, shape.n_questions)):
                if asked and rng.random() < shape.repeated_questions:
                    question, options, gold = asked[rng.integers(len(asked))]
                else:
                    question, options, gold = _ask(words, sentences, shape.signal, rng)
                    if len(asked) < 200:
                        asked.append((question, options, gold))
                row = {
                    "id": f"q{i}",
                    "passage": text,
                    "passage_id": f"p{number}",
                    "question": question,
                    "candidates": options,
                    "gold": gold,
                }
                file.write(json.dumps(row) + "\n")


_FUNCTION_WORDS = (
    "the of and to a in is was he for it with as his on be at by i this had not are but from or "
    "have an they which one you were her all she there would their we him been has when who will "
    "more no if out so said what up its about into than them can only other new some could time "
    "these two may then do first any my now such like our over man me even most made after also "
    "did many before must through years where much your way well down should because each just "
    "those people how too little state good very make world still own see men work long get here "
    "between both life being under never day same another know while last might us great old year "
    "off come since"
).split()


def english_like_words(n: int, rng: np.random.Generator) -> list[str]:
    """Return `n` distinct words: English function words first, then words of one to three
    syllables.
    """
    onsets = [
        *"bcdfghjklmnprstvw" * 3,
        "br",
        "ch",
        "cl",
        "gr",
        "pl",
        "pr",
        "sh",
        "sp",
        "st",
        "th",
        "tr",
    ]
    vowels, codas = (
        [*"aeiou" * 3, "ai", "ea", "oo"],
        [""] * 8 + ["n", "r", "s", "t", "l", "nd", "st", "ck"],
    )
    words = dict.fromkeys(_FUNCTION_WORDS[:n])
    while len(words) < n:
        syllables = [
            "".join(part[rng.integers(len(part))] for part in (onsets, vowels, codas))
            for _ in range(int(rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2])))
        ]
        ending = ("", "", "", "", "s", "ed", "ing", "ly")[rng.integers(8)]
        words["".join(syllables) + ending] = None
    return list(words)


def _cut_sentences(tokens: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    ends = np.cumsum(rng.integers(8, 21, len(tokens) // 8 + 1))
    return np.split(tokens, ends[ends < len(tokens)])


def _sentence(words: list[str], tokens: np.ndarray) -> str:
    spelled = [words[t] for t in tokens.tolist()]
    if len(spelled) > 12:
        spelled[6] += ","
    return " ".join(spelled).capitalize() + "."


def _ask(
    words: list[str], sentences: list[np.ndarray], signal: float, rng: np.random.Generator
) -> tuple[str, list[str], int]:
    """Return a question about one of the sentences, four options, and the position of the right
    one.
    """

    def some(tokens: np.ndarray, n: int) -> list[str]:
        return [words[t] for t in rng.permutation(tokens)[:n].tolist()]

    about = sentences[rng.integers(len(sentences))]
    opening = ("what", "who", "why", "where", "which", "how", "when")[rng.integers(7)]
    question = " ".join([opening, *some(about, 8)]).capitalize() + "?"
    gold = int(rng.integers(4))
    options = []
    for i in range(4):
        source = (
            about
            if i == gold and rng.random() < signal
            else sentences[rng.integers(len(sentences))]
        )
        options.append(
            " ".join(some(source, int(rng.integers(3, 8)) + (i == gold))).capitalize() + "."
        )
    return question, options, gold
