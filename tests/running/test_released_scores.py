"""The published baselines, number for number, on the datasets' own files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.kernels import reference, sliding_window, word_distance
from classic_rc.questions import Dataset
from classic_rc.solvers import AllPositive, Random, parse_solver
from classic_rc.text.analyzers import get_analyzer, stop_words
from classic_rc.text.encode import encode

SETS = ("mc160.train", "mc160.dev", "mc500.train", "mc500.dev")
CANDIDATES = {"mc160.train": 1120, "mc160.dev": 480, "mc500.train": 4800, "mc500.dev": 800}
PRINTED = 0.5e-5 + 1e-7  # half of the last decimal, and the rounding of weights to 2**-26


@cache
def mctest(folder: Path, name: str) -> Dataset:
    return load(folder / "mctest" / f"{name}.tsv")


def accuracy(dataset: Dataset, spec: str, **options) -> float:
    """In percent."""
    (row,) = evaluate(dataset, [parse_solver(spec)], **options).rows
    return 100 * row.metrics()["accuracy"]


def released_scores(path: Path) -> list[list[float]]:
    """A line a story, four questions separated by tabs, each with four numbers separated by
    commas.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    cells = (cell for line in lines if line.strip() for cell in line.strip().split("\t"))
    return [list(map(float, cell.split(","))) for cell in cells]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("spec", "release"),
    [
        ("sliding-window:mctest", "Baseline_SW"),
        ("sw+d:{own}", "Baseline_SW_D"),
        ("sw+d:richardson2013", "BaselineInPaper_SW_D"),
    ],
)
def test_every_score_equals_the_authors(shared_data, name, spec, release):
    dataset = mctest(shared_data, name)
    solver = parse_solver(spec.format(own="mctest160" if name.startswith("mc160") else "mctest500"))
    ours = solver.fit(dataset).score_candidates(dataset)
    theirs = released_scores(shared_data / "mctest" / "scores" / release / f"{name}.scores")
    assert len(ours.values) == CANDIDATES[name]
    assert np.diff(ours.offsets).tolist() == [len(row) for row in theirs]
    assert np.abs(ours.values - np.concatenate(theirs)).max() <= PRINTED


@pytest.mark.parametrize(
    ("spec", "percent"),
    [
        ("sliding-window:mctest", (64.67, 57.99, 55.49, 54.33)),
        ("sw+d:{own}", (72.68, 60.21, 63.72, 59.04)),
        ("sw+d:richardson2013", (71.55, 58.96, 57.88, 56.12)),
    ],
)
def test_accuracies_with_partial_credit_equal_the_authors(shared_data, spec, percent):
    for name, expected in zip(SETS, percent, strict=True):
        variant = spec.format(own="mctest160" if name.startswith("mc160") else "mctest500")
        assert round(accuracy(mctest(shared_data, name), variant, ties="partial"), 2) == expected


@pytest.mark.parametrize(
    ("name", "one_sentence", "multiple"),
    [("mc160.dev", 60.85, 55.72), ("mc500.dev", 53.20, 55.19), ("mc500.train", 58.67, 52.82)],
)
def test_accuracies_by_how_many_sentences_a_question_needs(
    shared_data, name, one_sentence, multiple
):
    solver = parse_solver("sliding-window:mctest")
    evaluation = evaluate(mctest(shared_data, name), [solver], by="type")
    (row,) = evaluation.rows
    groups = {
        value: 100 * row.metrics(mask)["accuracy"]
        for value, mask in evaluation.results.shown_groups.items()
    }
    assert {value: round(percent, 2) for value, percent in groups.items()} == {
        "one": one_sentence,
        "multiple": multiple,
    }


@pytest.mark.parametrize("name", ["mc160.dev", "mc500.dev"])
def test_weights_tuned_on_a_split_are_marked_on_it(shared_data, name):
    rows = evaluate(
        mctest(shared_data, name), [parse_solver("sw+d:mctest160"), parse_solver("sw+d:mctest500")]
    ).rows
    assert [row.tuned_on for row in rows] == ["mc160.dev", "mc500.dev"]
    assert [row.tuned_here for row in rows] == [name == "mc160.dev", name == "mc500.dev"]


def test_the_port_agrees_with_sugawara_2017_on_every_question(shared_data):
    agreed = right = 0
    for name in ("mc160.dev", "mc500.dev"):
        marks = (shared_data / "mctest" / "sugawara2017" / f"{name}_baseline.results").read_text(
            encoding="utf-8"
        )
        theirs = [mark == "o" for mark in marks.split()]
        (row,) = evaluate(mctest(shared_data, name), [parse_solver("sw+d:mcobzarenco")]).rows
        ours = row.outcomes.statistics["accuracy"][:, 0] == 1
        assert len(ours) == len(theirs)
        agreed += int((ours == theirs).sum())
        right += int(ours.sum())
    assert (agreed, right) == (320, 163)


@pytest.mark.parametrize(
    ("spec", "percent"),
    [
        ("sliding-window,analyzer=mctest", 42.2),
        ("sw+d,analyzer=mctest,stop_words=mctest,distance=min,distance_weight=1", 44.0),
    ],
)
def test_accuracies_on_dream_are_near_the_published_ones(shared_data, spec, percent):
    dataset = load(shared_data / "dream" / "dev.json")
    assert abs(accuracy(dataset, spec, ties="first") - percent) <= 0.3


def test_random_choice_in_closed_form_equals_the_authors(shared_data):
    multirc = load(shared_data / "multirc" / "dev_83-fixedIds.json")
    race = load(shared_data / "race" / "RACE-train-dev.tar.gz", split="dev")
    for dataset in (race, *(mctest(shared_data, name) for name in SETS)):
        (row,) = evaluate(dataset, [Random()]).rows
        assert row.metrics()["accuracy"] == pytest.approx(0.25, abs=1e-12)
        assert row.expected
    rows = evaluate(multirc, [Random(), AllPositive()]).rows
    percentages = [
        {name: round(100 * value, 2) for name, value in row.metrics().items()} for row in rows
    ]
    assert (
        percentages[0].items() >= {"f1_m": 48.46, "f1_a": 46.12, "em0": 5.77, "em1": 25.29}.items()
    )
    assert percentages[1].items() >= {"f1_m": 61.00, "f1_a": 59.95, "em0": 0.84}.items()


def test_random_choice_on_record_is_by_mention(shared_data):
    """A mention is drawn, so an entity in proportion to its mentions; not each distinct text
    alike.
    """
    dataset = load(shared_data / "record" / "record_explorer_123.json")
    (row,) = evaluate(dataset, [Random()]).rows
    by_mention = [np.mean([c.text in q.gold for c in q.candidates]) for q in dataset]
    texts = [{c.text for c in q.candidates} for q in dataset]
    pairs = zip(dataset, texts, strict=True)
    by_text = [np.mean([text in q.gold for text in distinct]) for q, distinct in pairs]
    # Exact match compares normalised texts, so it lies a little above the share of equal ones.
    assert np.mean(by_mention) <= row.metrics()["em"] <= np.mean(by_mention) + 0.01
    assert np.mean(by_text) < np.mean(by_mention)


@pytest.mark.parametrize("name", ["mc160.dev", "mc500.dev"])
def test_kernels_equal_the_reference_to_the_bit(shared_data, name):
    dataset = mctest(shared_data, name)
    analyzer, listed = get_analyzer("mctest"), stop_words("mctest")
    encoded = encode(dataset, analyzer)
    windows = sliding_window(encoded.arrays, "set")
    distances, _ = word_distance(encoded.arrays, encoded.stop_flags("mctest"), "mean")
    tokens = cache(analyzer.analyze)
    expected_windows, expected_distances = [], []
    for question in dataset:
        of_question = tokens(question.passage.text), tokens(question.text)
        for candidate in question.candidates:
            texts = (*of_question, tokens(candidate.text))
            expected_windows.append(reference.sliding_window(*texts))
            expected_distances.append(reference.word_distance(*texts, listed))
    for scores, expected in ((windows, expected_windows), (distances, expected_distances)):
        in_order = encoded.scores(scores.astype(float), scores == scores)
        assert np.array_equal(in_order.values, expected)
