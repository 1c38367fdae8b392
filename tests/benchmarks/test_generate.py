"""Generated reading questions: the size asked for, and something for every check to find."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import classic_rc
from benchmarks.generate import ScaleShape, english_like_words, write_reading_questions
from benchmarks.scale import Measurement, table
from classic_rc.near_duplicates import similar_texts
from classic_rc.text.sentences import split_sentences


@pytest.mark.parametrize("per_passage", [1, 4])
def test_generated_questions_have_the_shape_asked_for(tmp_path, per_passage):
    path = tmp_path / "made.jsonl"
    shape = ScaleShape(200, per_passage, near_duplicates=0.05, repeated_questions=0.05)
    write_reading_questions(path, shape)
    generated = classic_rc.load(str(path))
    assert (len(generated), len(generated.passages)) == (200, 200 // per_passage)
    tokens = [len(passage.text.split()) for passage in generated.passages]
    assert 300 < np.mean(tokens) < 400
    assert all(
        8 <= n / len(split_sentences(p.text)) <= 40
        for n, p in zip(tokens, generated.passages, strict=True)
    )
    assert len(similar_texts([p.text for p in generated.passages]).pairs) > 0
    assert (
        max(Counter((q.text, tuple(c.text for c in q.candidates)) for q in generated).values()) > 1
    )


def test_equal_seeds_make_equal_files(tmp_path):
    paths = [tmp_path / name for name in ("one", "two", "three")]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        write_reading_questions(path, ScaleShape(8), seed)
    first, second, third = [path.read_bytes() for path in paths]
    assert first == second != third


def test_words_are_distinct():
    words = english_like_words(3000, np.random.default_rng(0))
    assert len(set(words)) == 3000
    assert words[0] == "the"


def test_the_exponent_of_linear_growth_is_one():
    measured = [
        Measurement("run", 1000, 2.0, 2.0, 100.0, 1.0, 2.0),
        Measurement("run", 10_000, 20.0, 20.0, 1000.0, 9.0, 20.0),
        Measurement("run", 100_000, 20.0, 20.0, None, 9.0, 200.0),
    ]
    rows = table(measured, 4)["rows"]
    assert [row[4] for row in rows] == [None, 1.0, 0.0]
    assert [row[5:9] for row in rows] == [
        [100, 2.0, 50.0, None],
        [1000, 20.0, 50.0, 1.0],
        [None, 200.0, None, None],
    ]
