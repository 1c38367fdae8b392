"""The arithmetic of options, compared with plain Python."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest

import classic_rc
from classic_rc.audit.options import OptionTable
from classic_rc.audit.rules.partial_input import count_words
from classic_rc.audit.rules.question_passage import _question_trigrams

WORDS = ["the", "red", "fox", "ran", "home", "dog"]


def made_table(seed: int, most_options: int = 14) -> OptionTable:
    """Questions with 1 to `most_options` options of few different words, so that many are alike."""
    draw = random.Random(seed)

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(0, 5)))

    rows = []
    for i in range(40):
        options = [text() for _ in range(draw.randint(1, most_options))]
        rows.append(
            {"id": f"q{i}", "passage": f"{text()} {i % 7}", "question": text(), "candidates": options, "gold": 0}
        )
    return OptionTable.of(classic_rc.from_rows(rows))


@pytest.fixture(scope="module", params=[1, 2])
def table(request):
    return made_table(request.param)


def test_ranks_count_those_below_and_half_of_the_equal_ones(table):
    values = np.array([len(text) for text in table.texts], dtype=np.float64)
    ranks = table.rank(values)
    for start, stop in zip(table.offsets[:-1], table.offsets[1:], strict=True):
        own = values[start:stop]
        expected = [(own < value).sum() + ((own == value).sum() - 1) / 2 for value in own]
        assert ranks[start:stop].tolist() == expected


def test_pairs_share_items_with_their_repetitions(table):
    tokens, offsets = table.tokens
    shared = table.shared_in_pairs(tokens, offsets, len(table.vocabulary))
    bags = [Counter(words) for words in table.words]
    one, other = table.pairs
    assert len(one) > 500
    expected = [
        (bags[table.text_index[a]] & bags[table.text_index[b]]).total() for a, b in zip(one, other, strict=True)
    ]
    assert shared.tolist() == expected


def test_items_with_very_large_numbers_are_shared_too(table):
    tokens, offsets = table.tokens
    huge = tokens.astype(np.int64) * 2**58
    expected = table.shared_in_pairs(tokens, offsets, len(table.vocabulary))
    assert table.shared_in_pairs(huge, offsets, 2**62).tolist() == expected.tolist()


def test_options_share_different_words_with_a_text(table):
    texts = [question.text for question in table.questions]
    index = np.arange(len(texts))[::-1].copy()
    expected = [
        len(set(table.words[table.text_index[i]]) & set(texts[index[q]].split()))
        for i, q in enumerate(table.question.tolist())
    ]
    assert table.count_shared(texts, index).tolist() == expected


def test_texts_use_the_words_of_options(table, monkeypatch):
    texts = [f"{question.text} {question.text} fox" for question in table.questions]
    index = np.arange(len(texts))[::-1].copy()
    expected = [
        sum(texts[index[q]].split().count(word) for word in table.words[table.text_index[i]])
        for i, q in enumerate(table.question.tolist())
    ]
    assert table.count_uses(texts, index).tolist() == expected
    monkeypatch.setattr("classic_rc.audit.options._BLOCK_CHARACTERS", 100)
    assert table.count_uses(texts, index).tolist() == expected


def test_options_have_different_words(table):
    expected = [len(set(table.words[i])) for i in table.text_index.tolist()]
    assert table.n_different_words.tolist() == expected


@pytest.mark.parametrize("pattern", ["the|d.g", r"\w+e", "wolf"])
def test_words_are_matched_in_full(table, pattern):
    find = re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE).findall
    assert count_words(pattern)(table).tolist() == [len(find(text)) for text in table.texts]


def test_trigrams_of_option_and_question():
    rows = [
        {"id": f"q{i}", "passage": "p", "question": "Red fox?", "candidates": ["a fox", "FOX", ""], "gold": i}
        for i in range(2)
    ]
    # " a ", "a f", " fo", "fox", "ox " and " fo", "fox", "ox "; an empty option has two blanks and no trigram.
    assert _question_trigrams(OptionTable.of(classic_rc.from_rows(rows))).tolist() == pytest.approx(
        [2 / 5, 2 / 3, 0] * 2
    )


def test_passages_with_equal_texts_are_one(table):
    texts = [" ".join(question.passage.text.split()) for question in table.questions]
    same = [[a == b for b in texts] for a in texts]
    assert (table.passage[:, None] == table.passage).tolist() == same
