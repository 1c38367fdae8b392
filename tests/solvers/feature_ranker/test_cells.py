"""The cells of the lexical score, against a plain loop over words."""

from __future__ import annotations

import itertools
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels.arrays import small_blocks
from classic_rc.solvers.feature_ranker.lexical import CELLS, LexicalCells
from classic_rc.solvers.feature_ranker.texts import QUESTION_TYPES, RankerTexts, TrainingWords
from tests.solvers.feature_ranker.builders import texts_of

ALL = frozenset({"passage", "question"})


def plain_cells(texts: RankerTexts) -> list[set[str]]:
    """The names of each distinct candidate's cells."""
    arrays, vocabulary = texts.encoded.arrays, texts.encoded.vocabulary

    def words(tokens, offsets, i):
        return [vocabulary[t] for t in tokens[offsets[i] : offsets[i + 1]]]

    def content(text_words):
        content_words = [word for word in text_words if not texts.stop[vocabulary.index(word)]]
        return content_words or text_words

    cells = []
    for i, q in enumerate(arrays.candidate_question):
        candidate = words(arrays.candidate_tokens, arrays.candidate_offsets, i)
        question_words = words(arrays.question_tokens, arrays.question_offsets, q)
        passage = words(arrays.passage_tokens, arrays.passage_offsets, arrays.question_passage[q])
        opening = " ".join([*question_words[:2], "-", "-"][:2])
        kind = [*QUESTION_TYPES, "other"][texts.types[q]]
        names = {f"bigram: {' '.join(pair)}" for pair in pairwise(candidate)}
        trigrams = zip(candidate, candidate[1:], candidate[2:], strict=False)
        names |= {f"trigram: {' '.join(trigram)}" for trigram in trigrams}
        for word in candidate:
            names |= {
                f"word: {word}",
                f"word in passage: {word}, {'yes' if word in passage else 'no'}",
                f"word, type: {word}, {kind}",
                f"opening, word: {opening}, {word}",
            }
        for pair in itertools.product(content(candidate), content(question_words)):
            names.add(f"word, question word: {', '.join(pair)}")
        names.add(f"opening, first word: {opening}, {(candidate or ['-'])[0]}")
        names.add(f"opening, length: {opening}, {min(len(candidate), 12)}")
        cells.append(names)
    return cells


def named_cells(cells: LexicalCells, texts: RankerTexts) -> list[set[str]]:
    matrix = cells.matrix(texts)
    assert matrix.has_sorted_indices or not matrix.nnz
    assert (matrix.data == 1).all()
    rows = []
    for start, stop in pairwise(matrix.indptr.tolist()):
        names = cells.describe(matrix.indices[start:stop].tolist())
        assert len(names) == len(set(names))
        rows.append(set(names))
    return rows


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_the_cells_of_training_are_those_of_a_plain_loop(seed):
    texts = texts_of(seed, 5)
    cells = LexicalCells.learn(texts, TrainingWords.learn(texts), ALL, 1)
    assert named_cells(cells, texts) == plain_cells(texts)


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_other_texts_have_the_cells_that_training_has_seen_often_enough(seed, min_count):
    texts, others = texts_of(seed, 5), texts_of(seed + 1, 3)
    cells = LexicalCells.learn(texts, TrainingWords.learn(texts), ALL, min_count)
    counts = Counter(name for cell_names in plain_cells(texts) for name in cell_names)
    frequent = {name for name, count in counts.items() if count >= min_count}
    assert cells.n_columns == len(frequent)
    assert named_cells(cells, others) == [names & frequent for names in plain_cells(others)]


@pytest.mark.parametrize(("inputs", "hidden"), [({"question"}, "passage"), (set(), "question")])
def test_cells_that_need_hidden_inputs_are_left_out(inputs, hidden):
    texts = texts_of(0, 5)
    cells = LexicalCells.learn(texts, TrainingWords.learn(texts), frozenset(inputs), 1)
    assert set(cells.tables) == {group for group, needs in CELLS.items() if needs <= inputs}
    assert not any(hidden in CELLS[group] for group in cells.tables)


def test_scores_are_sums_of_weights_in_any_blocks():
    texts = texts_of(3, 8)
    cells = LexicalCells.learn(texts, TrainingWords.learn(texts), ALL, 2)
    weights = np.random.default_rng(0).standard_normal(cells.n_columns).astype(np.float32)
    scores, matrix = cells.score(texts, weights), cells.matrix(texts)
    names = cells.describe(range(cells.n_columns))
    weight_of = dict(zip(names, weights.tolist(), strict=True))
    expected = [sum(weight_of[name] for name in row) for row in named_cells(cells, texts)]
    assert np.allclose(scores, expected, rtol=0, atol=1e-12)
    with small_blocks(8):
        in_blocks = LexicalCells.learn(texts, cells.words, ALL, 2)
        assert in_blocks.describe(range(cells.n_columns)) == names
        assert np.array_equal(cells.score(texts, weights), scores)
        assert (cells.matrix(texts) != matrix).nnz == 0
