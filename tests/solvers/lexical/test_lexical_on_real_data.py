"""The lexical matcher on MCTest: the released scores and the published accuracies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.questions import Dataset
from classic_rc.solvers import LexicalMatcher
from classic_rc.solvers.lexical.components import BUGS
from classic_rc.text.annotations import read_annotations

pytestmark = pytest.mark.ci  # real data


@pytest.fixture(scope="module")
def mctest(shared_data: Path) -> Path:
    return shared_data / "mctest"


@pytest.fixture(scope="module")
def dev(mctest) -> Dataset:
    return load(str(mctest / "mc160.dev.tsv"))


@pytest.fixture(scope="module")
def files(mctest) -> dict[str, str]:
    return {
        "annotations": str(mctest / "smith2015" / "mc160.dev.corenlp.json.gz"),
        "categories": str(mctest / "categories" / "mc160.dev"),
    }


def read_scores(path: Path) -> np.ndarray:
    """A score file's numbers, in the order of the candidates."""
    text = path.read_text(encoding="utf-8")
    return np.array([float(number) for number in text.replace(",", " ").split()])


def test_all_released_scores_are_reproduced(mctest, dev, files):
    """The released scores have six decimals; up to a thousand weights of 26 binary digits add up
    to 2e-6.
    """
    released = read_scores(mctest / "smith2015" / "mc160.dev.norte.scores")
    values = LexicalMatcher.variant("smith2015", **files).fit(dev).score_candidates(dev).values
    assert len(values) == 480
    assert np.abs(values - released).max() < 2e-6


@pytest.mark.parametrize("bug", BUGS)
def test_every_bug_is_needed_for_the_released_scores(mctest, dev, files, bug):
    released = read_scores(mctest / "smith2015" / "mc160.dev.norte.scores")
    others = "+".join(sorted(set(BUGS) - {bug}))
    values = LexicalMatcher.variant("smith2015", **files, bugs=others).score_candidates(dev).values
    assert np.abs(values - released).max() > 0.01


@pytest.mark.parametrize(
    ("changes", "published"),
    [
        ({"normaliser": "none", "negation": False, "coreference": "none"}, 64.44),
        ({"normaliser": "none", "coreference": "none"}, 66.11),
        ({"negation": False, "coreference": "none"}, 66.25),
        ({"negation": False}, 66.53),
        ({}, 69.03),
    ],
    ids=["ImpSW+D", "+negation", "+stemming", "+coreference", "+combined"],
)
def test_published_ablations_are_reproduced_from_the_annotation(dev, files, changes, published):
    solver = LexicalMatcher.variant("smith2015", **files, **changes)
    assert round(100 * solver.score(dev), 2) == published


@pytest.mark.parametrize(
    ("name", "variant", "base", "negation"),
    [
        ("mc160.train", "smith2015-raw", 76.16, 76.52),
        ("mc160.dev", "smith2015-raw", 64.44, 66.11),
        # published with a parser's negation: 63.83
        ("mc500.train", "smith2015-raw-mc500", 63.50, 63.75),
        ("mc500.dev", "smith2015-raw-mc500", 64.00, 65.00),  # and 64.50
    ],
)
def test_published_accuracies_are_reproduced_from_raw_text(mctest, name, variant, base, negation):
    dataset = load(str(mctest / f"{name}.tsv"))
    assert round(100 * LexicalMatcher.variant(variant).score(dataset), 2) == base
    assert round(100 * LexicalMatcher.variant(variant, negation=True).score(dataset), 2) == negation


@pytest.mark.parametrize(("name", "weight"), [("mc160.dev", 50), ("mc500.dev", 19)])
def test_released_scores_with_rte_add_its_weighted_score(mctest, name, weight):
    rte = read_scores(mctest / "scores" / "RTE" / f"{name}.scores")
    plain = read_scores(mctest / "smith2015" / f"{name}.norte.scores")
    with_rte = read_scores(mctest / "smith2015" / f"{name}.rte.scores")
    assert plain + weight * rte == pytest.approx(with_rte, abs=1e-9)


def test_the_annotation_fits_and_can_be_saved(dev, files, tmp_path):
    annotations = read_annotations(files["annotations"])
    annotations.save(tmp_path / "mc160.dev.json.gz")
    saved_files = {**files, "annotations": str(tmp_path / "mc160.dev.json.gz")}
    scores = LexicalMatcher.variant("smith2015", **files).score_candidates(dev)
    saved_scores = LexicalMatcher.variant("smith2015", **saved_files).score_candidates(dev)
    assert saved_scores.values.tolist() == scores.values.tolist()
    assert all(annotations.passage_of(q).token_places(q.passage.text) for q in dev)
