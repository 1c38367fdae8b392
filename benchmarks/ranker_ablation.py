"""What each group of the feature ranker's features earns, by cross-validation on a training set.

python -m benchmarks.ranker_ablation FILE [FILE...]: each row learns out of fold, five folds of whole passages.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.report import markdown
from benchmarks.timing import Table
from classic_rc.datasets import load
from classic_rc.evaluation import evaluate
from classic_rc.evaluation.resampling import percentile_interval
from classic_rc.evaluation.significance import resample_metrics
from classic_rc.folds import passage_groups
from classic_rc.metrics.registry import METRICS, primary_metric
from classic_rc.questions import Dataset
from classic_rc.solvers.feature_ranker.solver import GROUPS, FeatureRanker


def configurations() -> dict[str, FeatureRanker]:
    """Return the rows: all groups, all but one, one alone, and less input."""
    rows = {"all": FeatureRanker()}
    for group in GROUPS:
        rows[f"without {group}"] = FeatureRanker(features="+".join(other for other in GROUPS if other != group))
    for group in GROUPS:
        rows[f"{group} alone"] = FeatureRanker(features=group)
    without_contrast = "+".join(group for group in GROUPS if group != "contrast")
    rows["question and options"] = FeatureRanker(inputs="no-passage")
    rows["options"] = FeatureRanker(inputs="candidates")
    rows["options, without contrast"] = FeatureRanker(inputs="candidates", features=without_contrast)
    return rows


def ablation(dataset: Dataset, n: int = 10_000) -> Table:
    """Measure all rows on one dataset, with paired differences from all groups; passages are resampled."""
    assert dataset.task is not None
    rows = configurations()
    evaluation = evaluate(dataset, list(rows.values()), cv=5, progress=True)
    metric = METRICS[primary_metric(dataset.task).name]
    statistics = [row.outcomes.statistics[metric.name] for row in evaluation.rows]
    draws = list(resample_metrics([(metric, own) for own in statistics], passage_groups(dataset), n=n, seed=0))
    base = metric.aggregate(statistics[0])
    table = []
    for name, own, drawn in zip(rows, statistics, draws, strict=True):
        value = metric.aggregate(own)
        low, high = percentile_interval(np.asarray(drawn) - np.asarray(draws[0]))
        difference = [f"{100 * (value - base):+.2f}", f"[{100 * low:+.2f}, {100 * high:+.2f}]"]
        table.append([name, round(100 * value, 2), *(difference if name != "all" else ["", ""])])
    return {
        "title": f"Groups of features, {dataset.name}, {len(dataset):,} questions",
        "header": ["features", metric.label, "difference", "95 % interval"],
        "rows": table,
        "notes": ["Out of fold, 5 folds of whole passages. Differences are from all groups, paired by passage."],
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print a table for each dataset."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranker_ablation", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="training data; FILE+FILE joins two files")
    for name in parser.parse_args(argv).files:
        parts = [load(part) for part in name.split("+")]
        joined = Dataset([q for part in parts for q in part], " + ".join(part.name for part in parts))
        print(markdown(ablation(joined)), flush=True)


if __name__ == "__main__":
    main()
