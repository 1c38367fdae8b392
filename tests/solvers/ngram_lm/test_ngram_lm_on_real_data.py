"""The n-gram language model on the datasets' own files: perplexity falls, and the documented
numbers hold.
"""

from __future__ import annotations

import itertools

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.solvers import parse_solver
from classic_rc.solvers.ngram_lm.model import LanguageModel, passage_texts
from tests.depth import thinned


@pytest.fixture(scope="module")
def multirc(shared_data):
    return load(shared_data / "multirc" / "train_456-fixedIds.json")


@pytest.fixture(scope="module")
def texts(multirc):
    """Return the sentences of 400 paragraphs for training and of the other 56, which are held
    out.
    """
    ids = {passage.id for passage in multirc.passages[:400]}
    learned = multirc.filter(lambda q: q.passage.id in ids)
    held_out = multirc.filter(lambda q: q.passage.id not in ids)
    return list(passage_texts(learned)), list(passage_texts(held_out))


def perplexity(learned, held_out, order, vocabulary=()):
    return LanguageModel.fit(
        learned, analyzer="word", order=order, vocabulary=vocabulary
    ).perplexity(held_out)


def test_perplexity_of_held_out_passages_falls_with_the_order(texts):
    learned, held_out = texts
    by_order = [perplexity(learned, held_out, order) for order in (1, 2, 3)]
    assert by_order == sorted(by_order, reverse=True)
    assert by_order[0] > 1.5 * by_order[2]


@pytest.mark.parametrize("order", thinned([1, 2, 3], 3))
def test_perplexity_of_held_out_passages_falls_with_more_text(texts, order):
    """All models have the same vocabulary; otherwise, with little text, most words are one
    unknown word.
    """
    learned, held_out = texts
    parts = [learned[: len(learned) // n] for n in (8, 4, 2, 1)]
    by_size = [
        perplexity(learned_texts, held_out, order, vocabulary=learned) for learned_texts in parts
    ]
    assert all(fewer > more for fewer, more in itertools.pairwise(by_size))


def test_discounts_of_real_text_are_estimated_and_rise_with_the_count(texts):
    model = LanguageModel.fit(texts[0], analyzer="word", order=5)
    assert model.fallback_orders == []
    for once, twice, more in model.model.discounts.tolist():
        assert 0 < once < twice < more < 3


def test_training_text_has_the_lowest_perplexity(texts):
    learned, held_out = texts
    model = LanguageModel.fit(learned, analyzer="word", order=3)
    assert model.perplexity(learned[:500]) < model.perplexity(held_out) / 5


RECORD = {
    "ngram-lm,order=1": (12.04, 12.45),
    "ngram-lm,order=2": (20.85, 21.80),
    "ngram-lm": (18.95, 19.90),
    "ngram-lm,order=5": (20.58, 21.53),
    "ngram-lm,cache_weight=0.1": (24.78, 25.32),
    "ngram-lm,scoring=partial": (12.72, 13.13),
    "ngram-lm,normalise=length": (15.97, 17.92),
}
WITH_MULTIRC = {"ngram-lm": (20.05, 20.60), "ngram-lm,cache_weight=0.1": (25.61, 26.15)}


@pytest.mark.parametrize(("documented", "with_multirc"), [(RECORD, False), (WITH_MULTIRC, True)])
def test_record_has_the_documented_numbers(shared_data, multirc, documented, with_multirc):
    dataset = load(shared_data / "record" / "record_explorer_123.json")
    solvers = [parse_solver(spec) for spec in documented]
    rows = evaluate(dataset, solvers, train=multirc if with_multirc else None).rows
    for row, (em, f1) in zip(rows, documented.values(), strict=True):
        metrics = row.metrics()
        percentages = 100 * metrics["em"], 100 * metrics["f1"]
        assert percentages == pytest.approx((em, f1), abs=0.006), row.signature


def test_mctest_has_the_documented_numbers(shared_data):
    dataset = load(shared_data / "mctest" / "mc500.dev.tsv")
    documented = {"ngram-lm": 36.12, "ngram-lm,normalise=length": 48.88}
    rows = evaluate(dataset, [parse_solver(spec) for spec in documented]).rows
    for row, accuracy in zip(rows, documented.values(), strict=True):
        assert 100 * row.metrics()["accuracy"] == pytest.approx(accuracy, abs=0.006)
