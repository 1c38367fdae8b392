"""Counted n-grams against a counter of tuples, in pieces of any size."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.kneser_ney import NGrams, count_ngrams, find, suffix_ranks

N_WORDS = 5
TEXTS = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=12), max_size=8)


def arrays(texts):
    tokens = np.array([token for text in texts for token in text], dtype=np.int32)
    return tokens, offsets_of(np.array([len(text) for text in texts], dtype=np.int64))


def spelled(tables: list[NGrams], n_words: int = N_WORDS) -> list[list[tuple[int, ...]]]:
    """The words of every n-gram of every table."""
    words = [[(key,) for key in tables[0].keys.tolist()]]
    for table in tables[1:]:
        words.append([(*words[-1][key // n_words], key % n_words) for key in table.keys.tolist()])
    return words


@given(TEXTS, st.integers(1, 5), st.integers(1, 40))
def test_counts_are_those_of_a_counter_whatever_the_chunk(texts, order, chunk):
    tables = count_ngrams(*arrays(texts), N_WORDS, order, chunk=chunk)
    assert len(tables) == order
    for k, (table, words) in enumerate(zip(tables, spelled(tables), strict=True), start=1):
        expected = Counter(tuple(text[i : i + k]) for text in texts for i in range(len(text) - k + 1))
        found = {ngram: count for ngram, count in zip(words, table.counts.tolist(), strict=True) if count}
        assert found == expected
        assert words == sorted(words)
        if k > 1:
            assert table.counts.min(initial=1) > 0


@given(TEXTS, st.integers(2, 5))
def test_suffixes_are_the_last_words(texts, order):
    tables = count_ngrams(*arrays(texts), N_WORDS, order)
    words = spelled(tables)
    suffixes = suffix_ranks(tables, N_WORDS)
    assert len(suffixes) == order - 1
    for shorter, longer, ranks in zip(words[:-1], words[1:], suffixes, strict=True):
        assert [shorter[rank] for rank in ranks.tolist()] == [ngram[1:] for ngram in longer]


def test_keys_of_five_words_fit_where_the_words_do_not():
    n_words = 2**22  # five ids have 110 bits
    text = [n_words - 1, 7, n_words - 1, n_words - 2, 3, n_words - 1, n_words - 1]
    tables = count_ngrams(*arrays([text, text]), n_words, 5)
    expected = sorted(tuple(text[i : i + 5]) for i in range(3))
    assert spelled(tables, n_words)[-1] == expected
    assert tables[-1].counts.tolist() == [2, 2, 2]


@given(st.sets(st.integers(0, 50)), st.lists(st.integers(0, 50)))
def test_find_is_the_place_of_each_key(keys, wanted):
    rising = sorted(keys)
    places = find(np.array(rising, dtype=np.int64), np.array(wanted, dtype=np.int64))
    assert places.tolist() == [rising.index(key) if key in keys else -1 for key in wanted]


def test_find_looks_in_pieces(monkeypatch):
    from classic_rc.kernels import kneser_ney as ngrams

    rng = np.random.default_rng(0)
    keys, wanted = np.unique(rng.integers(0, 500, 200)), rng.integers(0, 500, 1000)
    whole = find(keys, wanted)
    monkeypatch.setattr(ngrams, "_CHUNK", 7)
    assert np.array_equal(find(keys, wanted), whole)


@pytest.mark.parametrize("texts", [[], [[]], [[], []], [[1]]])
def test_texts_that_are_too_short_have_none(texts):
    tables = count_ngrams(*arrays(texts), N_WORDS, 3)
    assert [len(table.keys) for table in tables] == [N_WORDS, 0, 0]
