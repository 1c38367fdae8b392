"""Rows of several runs of one system: means, deviations, intervals of both sources, and what is
refused.
"""

from __future__ import annotations

import json
import statistics

import numpy as np
import pytest

from classic_rc import evaluate, load
from classic_rc.errors import UsageError
from classic_rc.metrics.base import METRICS
from classic_rc.results.resampling import interval_of_runs, percentile_interval
from classic_rc.systems import name_systems, parse_system
from tests.errors import raises


def write_answers(path, dataset, right):
    """A file with the right letter where `right` says so, else a wrong one; return its path."""
    letters = []
    for question, is_right in zip(dataset, right, strict=True):
        (gold,) = question.gold
        letters.append("ABCD"[gold if is_right else (gold + 1) % 4])
    return write_rows(path, dataset, letters)


def write_rows(path, dataset, answers):
    """A file with an answer to each question; return its path."""
    pairs = zip(dataset, answers, strict=True)
    lines = [json.dumps({"id": question.id, "answer": answer}) for question, answer in pairs]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def runs(tmp_path):
    """Three files of the sample with 12, 16 and 17 of 24 right answers."""
    dataset, files = load("sample:single-choice"), []
    for n in (12, 16, 17):
        right = [i < n for i in range(len(dataset))]
        files.append(write_answers(tmp_path / f"{n}.jsonl", dataset, right))
    return dataset, files


def test_a_row_is_the_mean_of_its_runs(runs):
    dataset, files = runs
    evaluation = evaluate(
        dataset, {"LLM": files, "SW": "sw+d"}, baseline="LLM", intervals=200, by="type"
    )
    llm, sw = evaluation.rows
    assert (llm.name, llm.runs, sw.runs) == ("LLM", 3, 1)
    values = [12 / 24, 16 / 24, 17 / 24]
    assert llm.metrics()["accuracy"] == pytest.approx(statistics.mean(values))
    assert llm.deviation(METRICS["accuracy"]) == pytest.approx(statistics.stdev(values))
    assert llm.params["path"] == files
    assert "|runs:3" in llm.signature
    assert llm.answers.answers == 72
    rows = [evaluate(dataset, {"A": file}).rows[0] for file in files]
    mean = np.mean([row.outcomes.statistics["accuracy"] for row in rows], axis=0)
    alone = evaluate(dataset, {"LLM": files[0], "SW": "sw+d"}, baseline="LLM")
    assert llm.outcomes.statistics["accuracy"].mean(axis=1) == pytest.approx(mean)
    assert evaluation.measure()[1].test.p_value != alone.measure()[1].test.p_value


def test_f1a_is_the_mean_of_the_runs_and_not_of_their_sums(tmp_path):
    dataset = load("sample:multiple-answer")
    every_option = [list("ABCDEFGH"[: len(question.candidates)]) for question in dataset]
    files = [
        write_rows(tmp_path / "all.jsonl", dataset, every_option),
        write_rows(tmp_path / "one.jsonl", dataset, [["A"]] * len(dataset)),
    ]

    def f1_a(system):
        rows = evaluate(dataset, {"M": system}).rows
        return next(row for row in rows if row.name == "M").metrics()["f1_a"]

    assert f1_a(files) == pytest.approx(statistics.mean(map(f1_a, files)))


def test_one_run_has_the_percentile_interval():
    drawn = np.random.default_rng(0).random(500)
    assert interval_of_runs(0.5, drawn, [np.array([0.5])], 30) == percentile_interval(drawn)


def test_an_interval_of_both_sources_covers_the_mean_of_all_runs():
    """Passages and runs are drawn; nominal 95 % intervals of few runs must not miss the true
    mean more often.
    """
    rng = np.random.default_rng(1)
    covered = {2: 0, 3: 0, 5: 0}
    n = 400
    for k in covered:
        for _ in range(n):
            passages = rng.normal(0, 0.2, 60)
            noise = rng.normal(0, 0.3, (60, k)).mean(axis=0)
            runs = 0.6 + passages.mean() + rng.normal(0, 0.03, k) + noise
            spread = 0.2**2 / 60 + 0.3**2 / 60 / k
            drawn = rng.normal(runs.mean(), spread**0.5, 400)
            low, high = interval_of_runs(float(runs.mean()), drawn, [runs], 60)
            covered[k] += low <= 0.6 <= high
    assert all(hits >= 0.93 * n for hits in covered.values()), covered


@pytest.mark.parametrize(
    "texts",
    [
        ("A=sw+d", "A=sliding-window"),
        ("A=sw+d", "A=sw+d"),
        ("A=random,seed=1", "A=random,seed=1"),
        ("A=sw+d,window=3", "A=sw+d,window=4"),
        ("A=sw+d", "A=95"),
    ],
)
def test_other_systems_of_one_name_are_refused(texts):
    with raises(UsageError, field="name", found="A"):
        name_systems(map(parse_system, texts))


def test_seeds_of_one_solver_are_runs():
    systems = name_systems(map(parse_system, ("R=random,seed=1", "R=random,seed=2", "S=sw+d")))
    rows = {system.name: system.row for system in systems}
    assert rows == {"R (run 1)": "R", "R (run 2)": "R", "S": "S"}
