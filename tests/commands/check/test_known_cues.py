"""Cues known from published artifacts: a family of few features with a bound of its own."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import classic_rc
from classic_rc.commands.check import check_dataset
from classic_rc.commands.check.features import build_features
from classic_rc.commands.check.known_cues import PUBLISHED, WORD_CUES
from classic_rc.commands.check.option_arrays import OptionTable
from classic_rc.commands.check.score_test import LEVELS, ScoreTest

WORDS = [
    f"{a}{b}" for a in "ba de ki lo mu ne po ri".split() for b in "lan mor tis vek zun".split()
]
NEGATIONS = ("no", "never", "without", "nothing", "cannot")


def make_rows(share: float, words=NEGATIONS, n: int = 300, seed: int = 4):
    """Questions of which this share has one of the words, as often in either option; in three
    quarters of them the option with it is right.
    """
    rng = random.Random(seed)
    rows: list[dict[str, object]] = []
    for i in range(n):
        options = [rng.choices(WORDS, k=6) for _ in range(2)]
        gold = place = rng.randrange(2)
        if rng.random() < share:
            place = gold if rng.random() < 0.75 else 1 - gold
            options[place][rng.randrange(6)] = rng.choice(words)
        texts = [" ".join(option) for option in options]
        rows.append({"id": str(i), "passage": f"note {i}", "question": "", "candidates": texts})
        rows[-1]["gold"] = gold
    return rows


def check(rows, **options):
    data = classic_rc.from_rows(rows)
    return check_dataset(data, header=False, duplicates=False, **options)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (NEGATIONS, "a word of negation"),
        (("all", "only", "must", "always"), "an absolute word"),
        (("some", "may", "often", "probably"), "a cautious word"),
    ],
)
def test_a_group_of_words_is_named_in_a_small_set(words, name):
    cue = check(make_rows(0.4, words)).cues[0]
    assert cue.name.startswith(f"{name} (")
    assert cue.direction == "right"
    examples = [example.option for example in cue.examples]
    assert all(any(f"[[{word}]]" in text for word in words) for text in examples)
    assert PUBLISHED[name] in cue.advice


def test_an_accepted_group_is_accepted_by_its_printed_name_and_by_its_id():
    rows = make_rows(0.4)
    first = check(rows).cues[0]
    for key in (first.name, first.id):
        report = check(rows, accepted={key: "as published"})
        assert not report.unknown
        assert first.name not in [cue.name for cue in report.cues]


@pytest.mark.parametrize("text", ["They don't go.", "They do n’t go.", "None went", "NOT here"])
def test_negations_are_found(text):
    assert WORD_CUES["a word of negation"].search(text)


@pytest.mark.parametrize("text", ["a notable north", "a noble mother", "the cantor went"])
def test_parts_of_words_are_no_negations(text):
    assert not WORD_CUES["a word of negation"].search(text)


def test_the_family_has_a_bound_of_its_own():
    """The bound of a finding is lower than that of one of the open search in the same data."""
    rows = make_rows(0.4)
    for i, row in enumerate(rows):
        if i % 3 == 0:
            row["candidates"][row["gold"]] += " indeed"
    bounds = {cue.name: cue.bound for cue in check(rows).cues}
    negation_bounds = [
        bound for name, bound in bounds.items() if name.startswith("a word of negation")
    ]
    assert negation_bounds[0] < bounds['the word "indeed"']


def test_the_levels_of_all_searches_are_five_percent():
    assert sum(LEVELS) == pytest.approx(0.05)


def test_random_gold_seldom_has_findings():
    """Each of 40 draws of gold has a finding with a chance of at most 5 %: more than 7 are not
    chance (p < 0.001).
    """
    features = build_features(OptionTable.of(classic_rc.from_rows(make_rows(0.4, n=80))))
    alarms = 0
    for seed in range(40):
        right = np.zeros((80, 2), dtype=bool)
        right[np.arange(80), np.random.default_rng(seed).integers(0, 2, 80)] = True
        table = replace(features.table, right=right.reshape(-1))
        alarms += bool(ScoreTest(replace(features, table=table), seed=seed).run())
    assert alarms <= 7
