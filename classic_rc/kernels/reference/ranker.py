"""Lesson 19: the dense features of the feature ranker for one candidate, in plain Python.

The names are as in :data:`classic_rc.solvers.feature_ranker.features.FEATURES`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from classic_rc.kernels.reference.evidence import (
    Weight,
    around_question,
    at_question,
    attention,
    best_products,
    best_region,
    content_set,
    coverage,
    evidence_sentence,
    mean_jaccard,
    new_words,
    regions_of,
    turns_of,
    weight_in,
)
from classic_rc.kernels.reference.ngrams import common_subsequence, ngram_share
from classic_rc.kernels.reference.phrases import longest_run
from classic_rc.kernels.reference.proximity import pair_window, proximity
from classic_rc.kernels.reference.window import sliding_window
from classic_rc.kernels.weights import SCALE

_RARITY_SCALE = 2**20


class RankerQuestion(NamedTuple):
    """A question with its passage and its candidates, no two of them equal."""

    sentences: Sequence[Sequence[Hashable]]
    speakers: Sequence[int]  # of each sentence; -1 outside turns
    turns: Sequence[int]
    asked: int  # the speaker that the question names, or -1
    question: Sequence[Hashable]
    candidates: Sequence[Sequence[Hashable]]
    # the question with each candidate in the answer's place
    statements: Sequence[Sequence[Hashable]]


def ranker_features(
    texts: RankerQuestion,
    index: int,
    weight: Weight,
    stop_words: Collection[Hashable] = (),
    negations: Collection[Hashable] = (),
) -> dict[str, float]:
    """Return the features of candidate `index`, without the facts of its surface."""
    passage = [token for sentence in texts.sentences for token in sentence]
    candidate, statement = texts.candidates[index], texts.statements[index]
    q = content_set(texts.question, stop_words)
    sets = [content_set(option, stop_words) for option in texts.candidates]
    a = sets[index]
    n = new_words(a, q)
    return {
        **_windows(passage, texts.question, candidate, q, a, n),
        **_distances(passage, q, n, weight),
        **_sentences(texts.sentences, q, a, n, weight),
        **_coverage(texts.sentences, passage, candidate, q, a, n, weight),
        **_ngrams(texts, passage, candidate, statement, q, a, n, weight, negations),
        **_contrast(texts.sentences, passage, q, n, sets, index, weight),
        **_speakers(texts, n, weight),
    }


def _windows(
    passage: Sequence[Hashable],
    question: Sequence[Hashable],
    candidate: Sequence[Hashable],
    q: set[Hashable],
    a: set[Hashable],
    n: set[Hashable],
) -> dict[str, float]:
    features = {"window set": sliding_window(passage, question, candidate) / SCALE}
    for size in (6, 12, 20, 30, 60):
        features[f"window {size}"] = sliding_window(passage, question, candidate, size) / SCALE
    sweep = sum(sliding_window(passage, question, candidate, size) for size in range(2, 30))
    features["window sweep"] = sweep / SCALE
    for size in (10, 20, 40):
        features[f"content window {size}"] = sliding_window(passage, list(q), list(a), size) / SCALE
    for size in (12, 25, 50):
        product, smaller_sum = pair_window(passage, q, n, size)
        features[f"pair window {size}"] = math.sqrt(product) / SCALE
        features[f"least window {size}"] = smaller_sum / SCALE
    return features


def _distances(
    passage: Sequence[Hashable], q: set[Hashable], n: set[Hashable], weight: Weight
) -> dict[str, float]:
    measured = proximity(passage, q, n, weight)
    return {
        "distance mean": measured.mean,
        "distance weighted": measured.weighted_mean,
        "distance least": measured.least,
        "question decay": measured.decay,
        "candidate decay": measured.best_decay,
        "candidate decay of all": measured.all_decay,
        "close words": math.log1p(measured.close),
    }


def _sentences(
    sentences: Sequence[Sequence[Hashable]],
    q: set[Hashable],
    a: set[Hashable],
    n: set[Hashable],
    weight: Weight,
) -> dict[str, float]:
    features = {}
    for size in (1, 2, 3):
        regions, s = regions_of(sentences, size), f"sentences {size}"
        features[f"{s}: candidate"] = max((coverage(a, r, weight) for r in regions), default=0.0)
        features[f"{s}: union"] = max((coverage(a | q, r, weight) for r in regions), default=0.0)
        features[f"{s}: product"] = best_products(regions, q, n, weight)
        features[f"{s}: attention"] = attention(regions, q, n, weight)
        features[f"{s}: at question"] = at_question(regions, q, n, weight)
        sums = (coverage(n, r, weight) + coverage(q, r, weight) for r in regions)
        features[f"{s}: sum"] = max(sums, default=0.0)
    around = around_question(sentences, q, n, weight)
    features["two products"] = best_products(sentences, q, n, weight, n_best=2)
    features["after question"] = around.after
    features["before question"] = around.before
    return features


def _coverage(
    sentences: Sequence[Sequence[Hashable]],
    passage: Sequence[Hashable],
    candidate: Sequence[Hashable],
    q: set[Hashable],
    a: set[Hashable],
    n: set[Hashable],
    weight: Weight,
) -> dict[str, float]:
    size = len(passage)
    n_in_passage = sum(token in passage for token in candidate)
    first_third = [w for i, w in enumerate(passage) if 3 * i < size]
    last_third = [w for i, w in enumerate(passage) if 3 * i >= 2 * size]
    return {
        "coverage of candidate": coverage(a, passage, weight),
        "coverage of new words": coverage(n, passage, weight),
        "coverage of tokens": n_in_passage / len(candidate) if candidate else 0.0,
        "tokens found": n_in_passage,
        "tokens missing": len(candidate) - n_in_passage,
        "frequency": math.log1p(sum(token in n for token in passage)),
        "rarity": weight_in(a, a, weight) / _RARITY_SCALE,
        "share in question": coverage(a, q, weight),
        "coverage of first third": coverage(n, first_third, weight),
        "coverage of last third": coverage(n, last_third, weight),
        "coverage of first sentence": coverage(n, sentences[0], weight) if sentences else 0.0,
        "coverage of last sentence": coverage(n, sentences[-1], weight) if sentences else 0.0,
    }


def _ngrams(
    texts: RankerQuestion,
    passage: Sequence[Hashable],
    candidate: Sequence[Hashable],
    statement: Sequence[Hashable],
    q: set[Hashable],
    a: set[Hashable],
    n: set[Hashable],
    weight: Weight,
    negations: Collection[Hashable],
) -> dict[str, float]:
    features: dict[str, float] = {}
    for name, text, sizes in (
        ("candidate", candidate, (2, 3)),
        ("statement", statement, (2, 3, 4)),
    ):
        for size in sizes:
            share, count = ngram_share(passage, text, size, weight)
            features[f"{name} {size}-grams"] = share
            features[f"{name} {size}-grams found"] = count
    run = min(longest_run(passage, candidate), 5)
    features["longest run"] = run
    features["longest run share"] = run / min(len(candidate), 5) if candidate else 0.0
    best = evidence_sentence(texts.sentences, q, n, weight)
    if best < 0:
        best = best_region(texts.sentences, q | a, weight)
    sentence: Sequence[Hashable] = texts.sentences[best] if best >= 0 else []
    common = common_subsequence(statement, sentence)
    features["subsequence"] = common
    features["subsequence share"] = common / len(statement) if statement else 0.0
    in_text = any(token in negations for token in (*texts.question, *candidate))
    features["negation agrees"] = in_text == any(token in negations for token in sentence)
    return features


def _contrast(
    sentences: Sequence[Sequence[Hashable]],
    passage: Sequence[Hashable],
    q: set[Hashable],
    n: set[Hashable],
    sets: Sequence[set[Hashable]],
    index: int,
    weight: Weight,
) -> dict[str, float]:
    others = [words for i, words in enumerate(sets) if i != index]
    of_others = {word for words in others for word in words}
    unique_words = n - of_others
    return {
        "jaccard": mean_jaccard(sets[index], others),
        "shared words": coverage(sets[index], of_others, weight),
        "own words": coverage(unique_words, passage, weight),
        "own product": best_products(sentences, q, unique_words, weight),
        "own attention": attention(sentences, q, unique_words, weight),
    }


def _speakers(texts: RankerQuestion, n: set[Hashable], weight: Weight) -> dict[str, float]:
    names = "own turns", "own last turns", "turns of others"
    turns = turns_of(texts.speakers, texts.turns, texts.asked)
    features = {}
    for name, positions in zip(names, turns, strict=True):
        turn_words = {w for i in positions for w in texts.sentences[i]}
        features[name] = coverage(n, turn_words, weight)
    return features
