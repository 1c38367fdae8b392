"""The published surface-feature learners on MultiRC and MCScript, if their files are there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from classic_rc.datasets import load
from classic_rc.decisions import TunedThreshold
from classic_rc.questions import Dataset
from classic_rc.solvers import SurfaceLR
from classic_rc.solvers.learning import gold_labels

pytestmark = pytest.mark.ci  # real data


@pytest.fixture(scope="module")
def multirc(shared_data: Path) -> tuple[Dataset, Dataset]:
    folder = shared_data / "multirc"
    return load(str(folder / "train_456-fixedIds.json")), load(str(folder / "dev_83-fixedIds.json"))


@pytest.fixture(scope="module")
def released(multirc) -> SurfaceLR:
    """Return the released variant fitted on MultiRC train; the released raw scores are
    probabilities minus 1.
    """
    return SurfaceLR.variant("multirc2018").fit(multirc[0])


@pytest.fixture(scope="module")
def raw_scores(shared_data: Path, multirc) -> np.ndarray:
    """Return the released scores of the dev candidates, in the dataset's order."""
    path = shared_data / "multirc" / "baseline-scores" / "raw" / "simpleLR-raw.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    by_id = {f"{row['pid']}=={row['qid']}": row["scores"] for row in rows}
    return np.concatenate([by_id[question.id] for question in multirc[1]])


def test_there_are_as_many_features_as_released(released):
    # 575,376 were counted independently; another transcription of characters outside ASCII causes
    # the difference.
    assert abs(released.design_.n_features - 575_376) < 200
    assert released.caveats_ == ()


def test_scores_correlate_with_the_released_ones(released, multirc, raw_scores):
    dev = multirc[1]
    values = expit(released.score_candidates(dev).values)
    right = gold_labels("surface-lr", dev)
    assert np.corrcoef(values, raw_scores)[0, 1] >= 0.97
    assert roc_auc_score(right, values) >= 0.71


@pytest.mark.parametrize(("metric", "low", "high"), [("f1_m", 0.67, 0.68), ("f1_a", 0.64, 0.65)])
def test_the_best_threshold_is_as_good_as_the_published_one(released, multirc, metric, low, high):
    dev = multirc[1]
    decision = TunedThreshold(metric=metric).fit(released.score_candidates(dev), dev)
    assert low <= decision.best_score_ <= high


def test_a_slice_has_the_same_scores_as_the_entire_dataset(released, multirc):
    dev = multirc[1]
    scores = released.score_candidates(dev)
    slice_scores = released.score_candidates(dev[400:600])
    assert np.array_equal(slice_scores.values, scores.take(range(400, 600)).values)


@pytest.mark.parametrize("variant", ["mitre2018", "multirc2018"])
def test_the_published_accuracy_on_mcscript_is_reproduced(shared_data: Path, variant):
    train = load(str(shared_data / "mcscript" / "train-data.xml"))
    dev = load(str(shared_data / "mcscript" / "dev-data.xml"))
    solver = SurfaceLR.variant(variant).fit(train)
    assert solver.score(dev) == pytest.approx(0.802, abs=0.005)
    assert solver.caveats_ == ()
