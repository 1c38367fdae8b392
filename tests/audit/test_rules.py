"""The rules that need no learning: each prefers the option that its name describes."""

from __future__ import annotations

import numpy as np
import pytest

import classic_rc
from classic_rc.audit import PARTIAL_INPUTS
from classic_rc.audit.options import OptionTable

PASSAGE = "The red boat came first. Then came 12 geese and one old dog. At last there was a heron."


def preferred(rule_name: str, options: list[str], question: str = "What came?") -> set[str]:
    """The options that a rule scores highest."""
    rows = [
        {
            "id": f"q{i}",
            "passage": PASSAGE,
            "question": question,
            "candidates": options,
            "gold": i % len(options),
            "task": "single-choice",
        }
        for i in range(2)
    ]
    (rule,) = (member for member in PARTIAL_INPUTS if member.name == rule_name)
    assert rule.score is not None
    scores = np.asarray(rule.score(OptionTable.of(classic_rc.from_rows(rows))))[: len(options)]
    return {option for option, score in zip(options, scores, strict=True) if score == scores.max()}


@pytest.mark.parametrize(
    ("rule", "options", "right"),
    [
        ("is the first in the alphabet", ["cat", "ant", "bee"], {"ant"}),
        ("is the last in the alphabet", ["cat", "ant", "bee"], {"cat"}),
        ("is the middle in the alphabet", ["cat", "ant", "bee"], {"bee"}),
        ("is the longest in characters", ["a bee", "an antelope", "a"], {"an antelope"}),
        ("is the shortest in characters", ["a bee", "an antelope", "a"], {"a"}),
        ("is the one with the most punctuation", ["a, b!", "a, b", "a b"], {"a, b!"}),
        ("is the one with the most capitals", ["A Cat", "A cat", "a cat"], {"A Cat"}),
        ("is mentioned first in the passage", ["a heron", "red boat", "old dog"], {"red boat"}),
        ("is mentioned last in the passage", ["heron", "red boat", "old dog"], {"heron"}),
        (
            "is the one with the longest run of words from the passage",
            ["one old dog", "a dog", "cat"],
            {"one old dog"},
        ),
        ("starts a sentence of the passage", ["then came", "came first", "heron"], {"then came"}),
        ("ends a sentence of the passage", ["then came", "came first", "a heron"], {"came first", "a heron"}),
        ("is two words", ["old dog", "dog", "one old dog"], {"old dog"}),
        ("has its words in alphabetical order", ["old dog", "Boat red", "heron"], {"Boat red"}),
        ("has its words in order of length", ["red boat", "heron red", "boat"], {"red boat"}),
        ("starts with a capital", ["A cat", "a dog", "the boat"], {"A cat"}),
        ("has a comma", ["a, b", "a b", "b a"], {"a, b"}),
        ("is the odd one out in words", ["the red cat", "the red dog", "my blue boat"], {"my blue boat"}),
    ],
)
def test_a_rule_prefers_what_its_name_says(rule, options, right):
    assert preferred(rule, options) == right
