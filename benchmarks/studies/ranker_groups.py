"""What a fitted feature ranker reads: its accuracy if the values of a group of features change
places between the options of a question, and if the dataset is perturbed.

Run ``python -m benchmarks.studies.ranker_groups RANKER.npz DATA``. Nothing is learned. Options have
the values of each other option in turn, and the accuracy is the mean over these turns. Questions
that the ranker learned from are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import markdown
from benchmarks.timing import Table
from classic_rc.datasets import load, perturb_dataset
from classic_rc.folds import passage_groups
from classic_rc.metrics.base import primary_metric
from classic_rc.questions import Dataset, Question
from classic_rc.results.resampling import percentile_interval, resample_means
from classic_rc.solvers import load_solver
from classic_rc.solvers.feature_ranker.solver import FeatureRanker
from classic_rc.solvers.saved import learned_by

PERTURBATIONS = ("other-passage", "no-passage", "no-question", "options-only")


class Exchanged(FeatureRanker):
    """A fitted ranker in which options have the values of another option in some columns."""

    exchanged: tuple[list[int], int] = ([], 0)  # columns, and how many options further to look

    def _features(
        self, texts: Any, groups: tuple[str, ...], lexical: NDArray[np.float64] | None
    ) -> NDArray[np.floating[Any]]:
        values = super()._features(texts, groups, lexical)
        columns, turn = self.exchanged
        offsets = self._offsets(texts.encoded)
        sizes = np.repeat(np.diff(offsets), np.diff(offsets))
        starts = np.repeat(offsets[:-1], np.diff(offsets))
        places = np.arange(len(values)) - starts
        sources = starts + (places + turn) % sizes
        values[:, columns] = values[sources][:, columns]
        return values


def credits(ranker: FeatureRanker, questions: list[Question]) -> NDArray[np.float64]:
    """Return how right the answer to each question is."""
    metric = primary_metric(questions[0])
    return metric.statistics(questions, ranker.predict(questions))[:, 0]


def configurations(
    ranker: Exchanged, dataset: Dataset, rows: list[int]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the name and the credits of each row of the table."""
    questions = [dataset[i] for i in rows]
    yield "nothing", credits(ranker, questions)
    table, n_turns = ranker.table_, max(len(q.candidates) for q in questions) - 1
    names = table.names_of(ranker._groups())
    for group in ranker._groups():
        columns = [j for j, name in enumerate(names) if table.group_of(name) == group]
        turns = []
        for turn in range(1, n_turns + 1):
            ranker.exchanged = columns, turn
            turns.append(credits(ranker, questions))
        ranker.exchanged = [], 0
        yield f"`{group}`", np.mean(turns, axis=0)
    for name in PERTURBATIONS:
        perturbed = perturb_dataset(dataset, name)
        yield name, credits(ranker, [perturbed[i] for i in rows])


def measure(ranker: Exchanged, dataset: Dataset) -> Table:
    """Measure all rows with the ranker's trees and without them."""
    flags = [trained_on.copied(dataset) for trained_on in learned_by(ranker)]
    is_copied = np.any([mask for mask in flags if mask is not None], axis=0)
    rows = np.flatnonzero(~np.broadcast_to(is_copied, len(dataset))).tolist()
    forest, cells = ranker.forest_, []
    for ranker.forest_ in (None, forest):
        names, values = zip(*configurations(ranker, dataset, rows), strict=True)
        groups = passage_groups([dataset[i] for i in rows])
        drawn = resample_means(np.stack(values, axis=1), groups)
        column = [f"{100 * values[0].mean():.2f}"]
        for k in range(1, len(names)):
            low, high = percentile_interval(drawn[:, k] - drawn[:, 0])
            difference = (values[k] - values[0]).mean()
            column.append(f"{100 * difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]")
        cells.append(column)
    return {
        "title": f"{dataset.name}, {len(rows):,} questions without copies",
        "header": ["exchanged between options, or perturbed", "log-linear", "with trees"],
        "rows": [list(row) for row in zip(names, *cells, strict=True)],
        "notes": ["Accuracy, and differences from it with 95 % intervals, paired by passage."],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.ranker_groups", description=__doc__
    )
    parser.add_argument("ranker", help="a saved feature ranker of single-choice questions")
    parser.add_argument("data", help="a file or the name of a split; FILE,split=NAME")
    args = parser.parse_args()
    path, _, split = args.data.partition(",split=")
    ranker: Any = load_solver(args.ranker)
    ranker.__class__ = Exchanged
    print(markdown(measure(ranker, load(path, split=split or None))), flush=True)


if __name__ == "__main__":
    main()
