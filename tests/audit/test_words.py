"""Leaking words: counts and PMI by hand, the test against permutations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from classic_rc.audit.words import find_leaking_words
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

ONE, TWO = Passage("p1", "One."), Passage("p2", "Two.")


def ask(id_, passage, candidates, gold, task=Task.SINGLE_CHOICE):
    return Question(id_, passage, "?", tuple(map(Candidate, candidates)), frozenset(gold), task)


# "cat" stands in 3 right and 1 wrong options of both passages, "dog" in 1 right and 5 wrong ones.
DATASET = Dataset(
    [
        ask("q1", ONE, ["cat cat", "dog", "dog"], {0}),
        ask("q2", TWO, ["dog", "a Cat"], {1}),
        ask("q3", ONE, ["cat", "dog", "dog dog"], {0}),
        ask("q4", TWO, ["dog", "cat"], {0}),
    ]
)


def found(dataset=DATASET, **options):
    report = find_leaking_words(dataset, **{"at_least": 1, "level": 1.0, **options})
    return {w.word: w for w in report.words}


def test_each_option_counts_a_word_once():
    words = found()
    assert (words["cat"].right, words["cat"].wrong, words["cat"].passages) == (3, 1, 2)
    assert (words["dog"].right, words["dog"].wrong, words["dog"].passages) == (1, 5, 2)


def test_equal_options_count_each():
    words = found(Dataset([ask("q", ONE, ["x", "x", "y"], {1})]))
    assert (words["x"].right, words["x"].wrong) == (1, 1)


def test_pmi_by_hand():
    """4 of 10 options are right. Add-2 smoothing gives each of 3 words 4 more, 1.6 in right, 2.4 in wrong options.

    cat: 3 + 1.6 right of 4 + 4; all words: 5 + 4.8 right of 11 + 12.
    """
    words = found(smoothing=2.0)
    assert words["cat"].pmi == pytest.approx(math.log((4.6 / 8) / (9.8 / 23)))
    assert words["dog"].pmi == pytest.approx(math.log((2.6 / 10) / (9.8 / 23)))


def test_smoothing_is_add_s_where_classes_are_equal():
    two = Dataset([ask("q1", ONE, ["cat", "dog"], {0}), ask("q2", ONE, ["cat", "cow"], {0})])
    pmi = found(two, smoothing=100.0)["cat"].pmi
    assert pmi == pytest.approx(math.log((102 * 604) / (202 * (2 + 300))))


def test_the_expectation_is_that_of_permuted_gold():
    words = found()
    assert words["cat"].expected == pytest.approx(1 / 3 + 1 / 2 + 1 / 3 + 1 / 2)
    assert words["dog"].expected == pytest.approx(2 / 3 + 1 / 2 + 2 / 3 + 1 / 2)


def test_the_p_value_by_hand():
    """cat: the variance is 2 (1/3)(2/3) + 2 (1/2)(1/2); dog, twice in some options, has the same."""
    z = (3 - 5 / 3 - 0.5) / math.sqrt(4 / 9 + 1 / 2)
    assert found()["cat"].p == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert found()["dog"].p == pytest.approx(found()["cat"].p)


def test_the_p_value_is_that_of_permutations(simulated):
    dataset = simulated(Task.MULTIPLE_ANSWER, 3)
    rng = np.random.default_rng(0)
    for found_word in find_leaking_words(dataset, at_least=60, level=1.0).words[:4]:
        has = [np.array([found_word.word in c.text.split() for c in q.candidates]) for q in dataset]
        deviations = np.array(
            [
                sum(h[rng.permutation(len(h))[: len(q.gold)]].sum() for h, q in zip(has, dataset, strict=True))
                for _ in range(400)
            ]
        )
        far = np.abs(deviations - found_word.expected) >= abs(found_word.right - found_word.expected) - 1e-9
        assert found_word.p == pytest.approx(far.mean(), abs=0.1)


def test_only_what_is_frequent_is_tested_and_only_what_tells_is_listed(simulated, leaks):
    dataset = simulated(Task.SINGLE_CHOICE, 4, leak=leaks["word"])
    report = find_leaking_words(dataset)
    assert report.words[0].word == "indeed"
    assert report.words[0].pmi > 0
    assert all(w.right + w.wrong >= 20 and w.q <= 0.05 for w in report.words)
    assert len(report.words) < report.n_tested
    assert find_leaking_words(dataset, at_least=10_000).n_tested == 0


def test_words_that_tell_nothing_are_seldom_listed(simulated):
    listed = sum(bool(find_leaking_words(simulated(Task.SINGLE_CHOICE, seed)).words) for seed in range(30))
    assert listed <= 4


def test_awkward_options():
    find_leaking_words(synthetic_dataset(Task.MULTIPLE_ANSWER), at_least=1)
    assert find_leaking_words(Dataset([ask("q", ONE, ["", "!"], {0})])).words == ()


@pytest.mark.parametrize(("field", "value"), [("at_least", 0), ("smoothing", 0), ("smoothing", math.nan)])
def test_bad_options(field, value):
    with raises(UsageError, field=field, found=str(value)):
        find_leaking_words(DATASET, **{field: value})


def test_without_options_there_are_no_words():
    with raises(UsageError, field="dataset", found="cloze questions"):
        find_leaking_words(synthetic_dataset(Task.CLOZE))


def test_hidden_gold_is_no_wrong_option():
    hidden = replace(DATASET, questions=[*DATASET[:-1], replace(DATASET[-1], gold=None)])
    with raises(DataError, where=f"question {DATASET[-1].id}"):
        find_leaking_words(hidden)
