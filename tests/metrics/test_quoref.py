from itertools import permutations, starmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.metrics import get_metric
from classic_rc.metrics.quoref import normalise_quoref_answer
from classic_rc.predictions import Prediction

em, f1 = get_metric("quoref_em"), get_metric("quoref_f1")
texts = st.lists(
    st.sampled_from(["owl", "Owls", "the", "7", "7.0", "8", "nest", "nan"]), max_size=4
).map(" ".join)
spans = st.lists(texts, min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The well-known 7 Owls, 1.50", "well known 7.0 owls 1.5"),
        ("$1,000", "1000.0"),
        ("-5", "5.0"),
        ("A  an\tOwl", "owl"),
        ("Owl\tnest", "owl nest"),
        ("NaN infinity", "nan inf"),
        ("the", ""),
    ],
)
def test_articles_and_punctuation_go_and_numbers_are_written_alike(text, expected):
    assert normalise_quoref_answer(text) == expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        (("Bob", "Ann"), ("ann", "the Bob"), 1),
        (("Bob", "Ann"), ("Bob",), 0),
        (("Bob",), ("Bob", "bob"), 0),
        (("Bob", "Ann", "Ann"), ("Bob", "Bob", "Ann"), 1),
        (("Bob",), (), 0),
        ((" ",), ("",), 0),
        ((), (), 0),
    ],
)
def test_exact_match_compares_sets_of_spans_and_their_number(gold, answer, expected):
    assert em.value(gold, answer) == expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        (("Bob",), ("Bob",), 1),
        (("Bob", "Ann"), ("Bob",), 0.5),
        (("Bob",), ("Bob", "Ann"), 0.5),
        (("grey owl", "owl"), ("owl",), 0.5),
        (("grey owl", "owl"), ("owl", "grey"), 0.83),  # 2/3 + 1 beats 2/3 + 0
        (("7 owls",), ("8 owls",), 0),
        (("7 owls",), ("7.0 nests",), 0.5),
        (("owls",), ("8 owls",), 0.67),
        (("owl owl",), ("owl",), 1),
        (("the", "owl"), ("a", "owl"), 1),
        (("the", "owl"), ("nest", "owl"), 0.5),
        (("Bob",), (), 0),
        (("", "owl"), ("owl",), 0),
        ((), ("owl",), 0),
    ],
)
def test_f1_pairs_each_span_once(gold, answer, expected):
    assert f1.value(gold, answer) == expected


def test_an_f1_on_the_edge_is_rounded_as_numpy_does():
    gold = " ".join(f"w{i}" for i in range(200))
    # 3 of 200 words in common: 0.015, a little less in binary
    answer = " ".join(f"w{i}" for i in range(197, 397))
    assert f1.value((gold,), (answer,)) == np.round(0.015, 2) == 0.02


def pair_f1(right, text):
    """The F1 of one gold text and one predicted text, from its definition."""
    gold = set(normalise_quoref_answer(right).split())
    predicted = set(normalise_quoref_answer(text).split())
    if not gold and not predicted:
        return 1.0
    numbers = gold & {"7.0", "8.0", "nan"}
    if numbers and not numbers & predicted:
        return 0.0
    return 2 * len(gold & predicted) / (len(gold) + len(predicted))


@given(spans, spans)
def test_f1_is_the_best_of_all_pairings(gold, answer):
    if len(gold) <= len(answer):
        pairings = (zip(gold, order, strict=True) for order in permutations(answer, len(gold)))
    else:
        pairings = (zip(order, answer, strict=True) for order in permutations(gold, len(answer)))
    best = max(sum(starmap(pair_f1, pairing)) for pairing in pairings)
    expected = best / max(len(gold), len(answer)) if gold[0].strip() else 0.0
    assert f1.value(gold, answer) == pytest.approx(expected, abs=0.005 + 1e-9)


@given(spans, spans, st.randoms(use_true_random=False))
def test_the_order_of_spans_does_not_matter(gold, answer, random):
    shuffled = random.sample(answer, len(answer))
    assert f1.value(gold, answer) == f1.value(gold, tuple(shuffled))
    assert em.value(gold, answer) == em.value(gold, tuple(shuffled))


@pytest.fixture(scope="module")
def quoref_dev(shared_data):
    return load(shared_data / "quoref" / "quoref-dev-v0.1.json")


def test_recorded_outputs_of_the_official_script(quoref_dev, golden, text_predictions):
    (recorded,) = golden("quoref")
    predictions = text_predictions(quoref_dev, recorded["predictions"])
    for metric, key, official in ((em, "em", 0), (f1, "f1", 1)):
        rows = metric.statistics(quoref_dev, predictions)
        assert metric.aggregate(rows) == pytest.approx(recorded["expected"][official], abs=1e-12)
        expected = [recorded["per_question"].get(q.id, {key: 0.0})[key] for q in quoref_dev]
        assert rows[:, 0].tolist() == expected


def test_gold_scores_one_on_quoref(quoref_dev):
    predictions = [Prediction(q.id, (q.gold,)) for q in quoref_dev]
    assert (em(quoref_dev, predictions), f1(quoref_dev, predictions)) == (1, 1)
