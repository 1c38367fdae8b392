"""Known facts about the published datasets."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc import load
from classic_rc.audit.check import measure_label_balance
from classic_rc.audit.integrity import find_defects
from classic_rc.audit.words import find_leaking_words


def test_position_priors_of_race(shared_data):
    """In percent, as counted by an independent script: A to D of the middle-school training questions."""
    race = load(shared_data / "race" / "RACE-train-dev.tar.gz", split="train", subset="middle")
    balance = measure_label_balance(race)
    shares = 100 * np.array(balance.positions) / len(race)
    assert shares.round(1).tolist() == [21.4, 26.4, 27.6, 24.6]
    assert balance.p < 1e-6


@pytest.mark.parametrize(("file", "count"), [("dev_83-fixedIds.json", 3), ("train_456-fixedIds.json", 23)])
def test_multirc_questions_without_a_right_option(shared_data, file, count):
    found = {f.kind.name: f.count for f in find_defects(load(shared_data / "multirc" / file))}
    assert found["none-right"] == count


def test_right_options_of_mctest_say_and_more_often(shared_data):
    words = find_leaking_words(load(shared_data / "mctest" / "mc500.train.tsv")).words
    assert words[0].word == "and"
    assert words[0].right / (words[0].right + words[0].wrong) > 0.35  # by chance a quarter
