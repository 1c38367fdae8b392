"""The cloze kernels against their plain-Python reference, down to the bits."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.kernels import TokenArrays, cloze_distance, cloze_window, inverse_count_weights
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.cloze import phrase_places
from classic_rc.kernels.postings import passage_postings
from classic_rc.kernels.reference import cloze as reference_cloze


def ragged(rows):
    return np.array([t for row in rows for t in row], dtype=np.int32), offsets_of(
        np.array([len(row) for row in rows], dtype=np.int64)
    )


@st.composite
def problems(draw):
    """Passages with queries with candidates, of small ints; a placeholder a query; words that do not count."""
    n_words = draw(st.integers(1, 6))
    words = st.integers(0, n_words - 1)
    passages = draw(st.lists(st.lists(words, max_size=25), min_size=1, max_size=3))
    questions, placeholders, candidates = [], [], []
    for passage in range(len(passages)):
        for _ in range(draw(st.integers(0, 2))):
            query = draw(st.lists(words, max_size=6))
            questions.append((passage, query))
            placeholders.append(draw(st.integers(0, len(query))))
            filling = st.lists(words, max_size=3)
            candidates += [(len(questions) - 1, c) for c in draw(st.lists(filling, max_size=4))]
    return n_words, passages, questions, placeholders, candidates, draw(st.sets(words, max_size=2))


def arrays_of(n_words, passages, questions, candidates):
    return TokenArrays(
        *ragged(passages),
        *ragged([q for _, q in questions]),
        *ragged([c for _, c in candidates]),
        np.array([p for p, _ in questions], dtype=np.int64),
        np.array([q for q, _ in candidates], dtype=np.int64),
        n_words,
    )


def each(passages, questions, placeholders, candidates):
    for q, candidate in candidates:
        p, query = questions[q]
        yield passages[p], query, placeholders[q], candidate


def places(*numbers):
    return np.array(numbers, dtype=np.int64)


@settings(max_examples=300)
@given(
    problem=problems(),
    max_distance=st.sampled_from([1, 2, 5, 8, 10**6]),
    alignment=st.sampled_from(["ends", "first", "last"]),
    own_words=st.sampled_from(["match", "cap"]),
    pairs=st.sampled_from([1, 10, 2**18]),
)
def test_cloze_distance_equals_reference(problem, max_distance, alignment, own_words, pairs):
    n_words, passages, questions, placeholders, candidates, ignored = problem
    counted = np.array([word not in ignored for word in range(n_words)])
    arrays = arrays_of(n_words, passages, questions, candidates)
    distances, found = cloze_distance(
        arrays, places(*placeholders), counted, max_distance, alignment, own_words, pairs
    )
    options = {"max_distance": max_distance, "ignored": ignored, "alignment": alignment, "own_words": own_words}
    texts = list(each(passages, questions, placeholders, candidates))
    assert distances.tolist() == [reference_cloze.cloze_distance(*t, **options) for t in texts]
    matched = [
        any(word.place is not None for _, words in reference_cloze.alignments(*t, **options) for word in words)
        for t in texts
    ]
    assert found.tolist() == matched


@settings(max_examples=300)
@given(
    problem=problems(),
    anchored=st.booleans(),
    idf=st.booleans(),
    cells=st.sampled_from([1, 40, 2**18]),
)
def test_cloze_window_equals_reference(problem, anchored, idf, cells):
    n_words, passages, questions, placeholders, candidates, _ = problem
    weights = inverse_count_weights(np.arange(1, n_words + 1), total=n_words) if idf else None
    arrays = arrays_of(n_words, passages, questions, candidates)
    got = cloze_window(arrays, places(*placeholders), anchored, weights, cells)
    weigh = (lambda word: int(weights[word])) if idf else None
    assert got.tolist() == [
        reference_cloze.cloze_window(*texts, anchored=anchored, weigh=weigh)
        for texts in each(passages, questions, placeholders, candidates)
    ]


@settings(max_examples=200)
@given(problem=problems())
def test_phrases_stand_where_the_reference_finds_them(problem):
    n_words, passages, questions, placeholders, candidates, _ = problem
    if not candidates:
        return
    arrays = arrays_of(n_words, passages, questions, candidates)
    rows, starts = phrase_places(arrays, passage_postings(arrays))
    expected = [
        (row, start)
        for row, (passage, _, _, candidate) in enumerate(each(passages, questions, placeholders, candidates))
        for start in reference_cloze.phrase_starts(passage, candidate)
    ]
    assert list(zip(rows.tolist(), starts.tolist(), strict=True)) == expected


def test_a_block_in_the_middle_takes_its_own_placeholders(monkeypatch):
    passages = [[0, 1, 2, 3]] * 3
    questions = [(p, [1, 3]) for p in range(3)]
    candidates = [(q, [2]) for q in range(3)]
    arrays = arrays_of(4, passages, questions, candidates)
    whole = cloze_distance(arrays, places(1, 0, 2), np.ones(4, dtype=bool))[0].tolist()
    window = cloze_window(arrays, places(1, 0, 2)).tolist()
    assert len(set(whole)) > 1
    for module in ("cloze",):
        monkeypatch.setattr(f"classic_rc.kernels.{module}.BLOCK_TOKENS", 1)
    assert cloze_distance(arrays, places(1, 0, 2), np.ones(4, dtype=bool))[0].tolist() == whole
    assert cloze_window(arrays, places(1, 0, 2)).tolist() == window


def test_a_mention_of_two_words_is_met_at_both_ends():
    # passage "rain fell on Ann Lee in May", query "on _ in"
    passage, query, candidate = list(range(7)), [2, 5], [3, 4]
    arrays = arrays_of(7, [passage], [(0, query)], [(0, candidate)])
    by = {
        a: cloze_distance(arrays, places(1), np.ones(7, dtype=bool), alignment=a)[0].item()
        for a in ("ends", "first", "last")
    }
    assert by == {"ends": 0, "first": 1, "last": 1}
