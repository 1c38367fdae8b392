"""The cloze baselines on a sample of ReCoRD's development set."""

from __future__ import annotations

import json
import re
import string
from collections import Counter

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.solvers import ClozeDistance, parse_solver

# What docs/cloze.md has: EM and F1 in percent.
_FIGURES = [
    ("random", 19.56, 20.30),
    ("max-frequency", 27.76, 28.50),
    ("exclusive-frequency", 31.40, 32.66),
    ("cloze-distance:hermann2015", 18.70, 19.58),
    ("cloze-distance:hill2015", 18.82, 19.70),
    ("cloze-window", 8.96, 9.28),
    ("cloze-window:hill2015", 16.27, 17.28),
]


@pytest.fixture(scope="module")
def path(shared_data):
    return shared_data / "record" / "record_explorer_123.json"


@pytest.fixture(scope="module")
def dataset(path):
    return load(path)


@pytest.mark.parametrize(("spec", "em", "f1"), _FIGURES)
def test_the_figures_of_the_docs_are_measured(dataset, spec, em, f1):
    (row,) = evaluate(dataset, [parse_solver(spec)]).rows
    metrics = row.metrics()
    assert (round(100 * metrics["em"], 2), round(100 * metrics["f1"], 2)) == (em, f1)


def test_random_is_the_mean_over_mentions(path, dataset):
    """The script of Zhang et al. 2018 draws one of a passage's mentions: the mean over all, from
    the raw file.
    """
    exact, f1 = [], []
    for entry in json.loads(path.read_text("utf-8"))["data"]:
        passage = entry["passage"]
        spans = [(entity["start"], entity["end"] + 1) for entity in passage["entities"]]
        mentions = [_words(passage["text"][start:end]) for start, end in spans]
        for qa in entry["qas"]:
            golds = [_words(answer["text"]) for answer in qa["answers"]]
            exact.append(_mean(mention in golds for mention in mentions))
            f1.append(_mean(max(_overlap(m, gold) for gold in golds) for m in mentions))
    (row,) = evaluate(dataset, [parse_solver("random")]).rows
    assert row.expected
    assert row.metrics()["em"] == pytest.approx(_mean(exact), abs=1e-12)
    assert row.metrics()["f1"] == pytest.approx(_mean(f1), abs=1e-12)


@pytest.mark.parametrize(
    "spec", ["cloze-distance", "cloze-distance,analyzer=treebank", "cloze-window"]
)
def test_scores_equal_the_reference(dataset, spec):
    solver = parse_solver(spec)
    for question in dataset[:20]:
        for candidate in solver.explain(question).candidates:
            sign = -1 if isinstance(solver, ClozeDistance) else 1
            assert candidate.score == sign * next(iter(candidate.numbers.values()))


@pytest.mark.parametrize(("analyzer", "missed"), [("word", 56), ("treebank", 70)])
def test_mentions_that_are_no_tokens_are_few(dataset, analyzer, missed):
    """``word`` has no token of its own for the name in "Serena's", ``treebank`` takes the stop
    off "U.S." alone.
    """
    evidence = parse_solver(f"max-frequency,analyzer={analyzer}").score_candidates(dataset).evidence
    assert (~evidence).sum() == missed


def _mean(values):
    values = list(values)
    return sum(values) / len(values)


def _words(text):
    """ReCoRD's normalisation: lower case, no ASCII punctuation, no articles."""
    unpunctuated = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", unpunctuated).split()


def _overlap(text, other_text):
    common = sum((Counter(text) & Counter(other_text)).values())
    return 2 * common / (len(text) + len(other_text)) if common else 0.0
