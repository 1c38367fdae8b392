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
    golds = [next(iter(question.gold)) for question in dataset]
    rows = [
        {"id": q.id, "answer": "ABCD"[gold if is_right else (gold + 1) % 4]}
        for q, gold, is_right in zip(dataset, golds, right, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def runs(tmp_path):
    """Three files of the sample with 12, 16 and 17 of 24 right answers."""
    dataset = load("sample:single-choice")
    return dataset, [
        write_answers(tmp_path / f"{n}.jsonl", dataset, [i < n for i in range(len(dataset))])
        for n in (12, 16, 17)
    ]


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
    mean = np.mean(
        [evaluate(dataset, {"A": file}).rows[0].outcomes.statistics["accuracy"] for file in files],
        axis=0,
    )
    alone = evaluate(dataset, {"LLM": files[0], "SW": "sw+d"}, baseline="LLM")
    assert llm.outcomes.statistics["accuracy"].mean(axis=1) == pytest.approx(mean)
    assert evaluation.measure()[1].test.p_value != alone.measure()[1].test.p_value


def test_f1a_is_the_mean_of_the_runs_and_not_of_their_sums(tmp_path):
    dataset = load("sample:multiple-answer")
    files = []
    for name, answer in (("all", "all"), ("one", "A")):
        rows = [
            {
                "id": q.id,
                "answer": list("ABCDEFGH"[: len(q.candidates)]) if answer == "all" else ["A"],
            }
            for q in dataset
        ]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        files.append(str(tmp_path / f"{name}.jsonl"))
    row = next(row for row in evaluate(dataset, {"M": files}).rows if row.name == "M")
    alone = [
        next(row for row in evaluate(dataset, {"M": file}).rows if row.name == "M").metrics()[
            "f1_a"
        ]
        for file in files
    ]
    assert row.metrics()["f1_a"] == pytest.approx(statistics.mean(alone))


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
    assert [(s.name, s.row) for s in systems] == [
        ("R (run 1)", "R"),
        ("R (run 2)", "R"),
        ("S", "S"),
    ]
