"""Sliding window, distance and textual entailment combined: the authors' files and figures."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.folds import passage_groups
from classic_rc.formats import read_scores
from classic_rc.kernels import SCALE, window_and_distance
from classic_rc.metrics import METRICS
from classic_rc.predictions import Scores
from classic_rc.results.resampling import percentile_interval, resample_means
from classic_rc.solvers import (
    Combination,
    SavedSolver,
    ScoreFile,
    Solver,
    parse_solver,
    save_solver,
)
from classic_rc.text.encode import encode

pytestmark = pytest.mark.ci  # real data


def files(shared_data, name):
    folder = shared_data / "mctest" / "scores"
    return {kind.name: str(kind / f"{name}.scores") for kind in folder.iterdir()}


def percents(dataset, solver):
    evaluation = evaluate(dataset, [solver], by="type")
    (row,) = evaluation.rows
    groups = evaluation.results.shown_groups
    masks = [groups["one"], groups["multiple"], slice(None)]
    return [round(100 * row.metrics(mask)["accuracy"], 2) for mask in masks]


@pytest.mark.parametrize(
    ("name", "rte", "together", "released"),
    [
        ("mc160.train", [67.42, 59.63, 63.30], [74.24, 77.87, 76.16], [74.24, 77.87, 76.16]),
        ("mc160.dev", [65.25, 54.48, 59.24], [72.17, 59.70, 65.21], [72.17, 59.70, 65.21]),
        ("mc500.train", [66.41, 41.22, 52.70], [70.98, 58.59, 64.24], [70.98, 58.44, 64.15]),
        ("mc500.dev", [58.14, 47.59, 52.12], [73.26, 57.24, 64.12], [73.26, 58.11, 64.62]),
    ],
)
def test_entailment_and_its_combination_have_the_released_accuracies(
    shared_data, name, rte, together, released
):
    dataset, score_files = load(shared_data / "mctest" / f"{name}.tsv"), files(shared_data, name)
    assert percents(dataset, ScoreFile(path=score_files["RTE"])) == rte
    variant = f"combination:mctest{name[2:5]}-rte,score-file__path={score_files['RTE']}"
    assert percents(dataset, parse_solver(variant)) == together
    weight = Combination.variants[f"mctest{name[2:5]}-rte"].params["weights"]
    from_files = Combination(
        solvers=[ScoreFile(path=score_files[k]) for k in ("RTE", "Baseline_SW_D")], weights=weight
    )
    assert percents(dataset, from_files) == together
    assert percents(dataset, ScoreFile(path=score_files["RTE_Plus_BaselineSW_D"])) == released


class EarlierRelease(Solver):
    """SW+D as in the authors' file of the sum: the distance divided by |P|, with weight 10 for
    both sets.
    """

    analyzer = "mctest"

    def score_candidates(self, questions):
        encoded = encode(questions, "mctest")
        arrays = encoded.arrays
        best, distances, has_distance = window_and_distance(
            arrays, encoded.stop_flags("mctest"), window="set", word_weights=None, rule="mean"
        )
        words = np.diff(arrays.passage_offsets)[arrays.question_passage[arrays.candidate_question]]
        divided = np.where(has_distance, distances * (words - 1) / words, 1.0)
        return encoded.scores(best / SCALE - 10 * divided, has_distance)


@pytest.mark.parametrize("name", ["mc160.train", "mc160.dev", "mc500.train", "mc500.dev"])
def test_the_released_sum_uses_an_earlier_release(shared_data, name):
    """All candidates agree to five decimals, the precision of the added file."""
    dataset, score_files = load(shared_data / "mctest" / f"{name}.tsv"), files(shared_data, name)
    weights = Combination.variants[f"mctest{name[2:5]}-rte"].params["weights"]
    solver = Combination(
        solvers=[ScoreFile(path=score_files["RTE"]), EarlierRelease()], weights=weights
    ).fit(dataset)
    released = read_scores(score_files["RTE_Plus_BaselineSW_D"], dataset)
    rounding = weights[1] * 0.5e-5 + 1e-7
    assert np.abs(solver.score_candidates(dataset).values - released.values).max() <= rounding


def test_rows_of_variants_are_marked_on_the_split_that_tuned_their_constants(shared_data):
    rows = []
    for name in ("mc160.dev", "mc500.dev"):
        entailment_file = files(shared_data, name)["RTE"]
        solvers = [
            parse_solver(f"combination:mctest{n}-rte,score-file__path={entailment_file}")
            for n in (160, 500)
        ]
        rows += evaluate(load(shared_data / "mctest" / f"{name}.tsv"), solvers).rows
    assert [row.name for row in rows[:2]] == [
        "combination:mctest160-rte",
        "combination:mctest500-rte",
    ]
    assert [row.tuned_here for row in rows] == [True, False, False, True]


def test_stacked_released_scores_are_better_than_the_best_of_them(shared_data):
    """Stacking the released systems improves on sliding window and distance by more than the
    interval.
    """
    folder = shared_data / "multirc"
    dataset = load(folder / "dev_83-fixedIds.json")
    raw = [
        folder / "baseline-scores" / "raw" / f"{n}-raw.json"
        for n in ("lucene_paragraphs", "simpleLR")
    ]
    members = [*(ScoreFile(path=str(path)) for path in raw), parse_solver("sw+d")]
    stacked = Combination(solvers=members, weights="stacked", normalise="question")
    rows = evaluate(dataset, [*members, stacked], cv=5).rows
    metric = METRICS["f1_a"]
    percentages = [round(100 * row.metrics()["f1_a"], 1) for row in rows]
    assert percentages == pytest.approx([58.4, 63.5, 64.4, 67.7], abs=0.11)
    statistics = [row.outcomes.statistics["f1_a"] for row in (rows[3], rows[2])]
    means = resample_means(np.column_stack(statistics), passage_groups(dataset), n=1000)
    best_means, second_means = np.split(means, 2, axis=1)
    differences = metric.from_means(best_means) - metric.from_means(second_means)
    assert percentile_interval(differences).low > 0


def test_one_question_is_explained_by_a_saved_combination_with_score_files(shared_data, tmp_path):
    """The lines of the score files do not name their questions, so the files are read for the
    entire data.
    """
    train, dev = (load(shared_data / "mctest" / f"mc160.{split}.tsv") for split in ("train", "dev"))
    score_file = ScoreFile(
        path=[files(shared_data, f"mc160.{split}")["RTE"] for split in ("train", "dev")]
    )
    stacked = Combination(solvers=[score_file, parse_solver("sw+d:mctest160")], weights="stacked")
    save_solver(stacked.fit(train), tmp_path / "stacked.npz")
    saved = SavedSolver(path=str(tmp_path / "stacked.npz")).fit(dev)
    explained_scores = [c.score for c in saved.explain(dev[9]).candidates]
    assert explained_scores == saved.score_candidates(dev)[9].tolist()


def test_scores_of_a_slice_are_a_slice_of_the_scores(shared_data):
    name = "mc160.dev"
    dataset, score_files = load(shared_data / "mctest" / f"{name}.tsv"), files(shared_data, name)
    solver = parse_solver(f"combination:mctest160-rte,score-file__path={score_files['RTE']}").fit(
        dataset
    )
    slice_scores = solver.score_candidates(dataset[30:50])
    all_scores: Scores = solver.score_candidates(dataset).take(range(30, 50))
    assert np.array_equal(slice_scores.values, all_scores.values)
    assert np.array_equal(slice_scores.evidence, all_scores.evidence)
