"""What each part of the feature ranker earns, by cross-validation on a training set.

Run ``python -m benchmarks.studies.ranker_ablation FILE [FILE...]``. Every row learns out of fold,
five folds of whole passages. The features of a fold are made once, and each row learns its weights
on a part of them, with the penalties that were chosen for all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import markdown
from benchmarks.timing import Table
from classic_rc.datasets import join_datasets, load
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.questions import Dataset, Task
from classic_rc.results.resampling import percentile_interval, resample_means
from classic_rc.solvers.feature_ranker.solver import FeatureRanker
from classic_rc.solvers.feature_ranker.tables import OPTIONS
from classic_rc.solvers.feature_ranker.texts import RankerTexts
from classic_rc.solvers.feature_ranker.training import Cases, Design, Learner, Ranker
from classic_rc.solvers.learning import one_thread

_GROUPS = tuple(group for group in OPTIONS.groups if group in OPTIONS.default)
N_FOLDS = 5
N_DRAWS = 10_000


class Fold(NamedTuple):
    """The features of one fold's training questions and of those that it holds out."""

    held: NDArray[np.int64]  # (n_held,): questions of the dataset, in the order of the arrays
    C: float
    cases: Cases
    values: NDArray[np.floating[Any]]  # (n_training_candidates, n_features)
    texts: RankerTexts
    held_values: NDArray[np.floating[Any]]
    held_texts: RankerTexts


class Recorded(FeatureRanker):
    """A feature ranker that keeps the features of the last questions that it has seen."""

    def _learn(
        self, texts: RankerTexts, cases: Cases, folds: NDArray[np.int64], groups: tuple[str, ...]
    ) -> None:
        self.seen_cases = cases
        super()._learn(texts, cases, folds, groups)

    def _features(
        self, texts: RankerTexts, groups: tuple[str, ...], lexical: NDArray[np.float64] | None
    ) -> NDArray[np.floating[Any]]:
        self.seen_texts = texts
        self.seen_values = super()._features(texts, groups, lexical)
        return self.seen_values


def folds_of(dataset: Dataset, make: Callable[[], Recorded] = Recorded) -> list[Fold]:
    """Fit one ranker a fold, and return the features that it has seen."""
    questions = list(dataset)
    made = []
    for number, (training, held) in enumerate(FoldPlan(N_FOLDS).folds(dataset), 1):
        print(f"{dataset.name}: features of fold {number}", file=sys.stderr, flush=True)
        ranker = make().set_params(trees=0).fit([questions[i] for i in training.tolist()])
        values, texts = ranker.seen_values, ranker.seen_texts
        ranker.score_candidates([questions[i] for i in held.tolist()])
        order = held[ranker.seen_texts.encoded.order]
        C = ranker.chosen_["C"]
        made.append(
            Fold(order, C, ranker.seen_cases, values, texts, ranker.seen_values, ranker.seen_texts)
        )
    return made


def held_scores(fold: Fold, names: Sequence[str], used: Sequence[int]) -> NDArray[np.float64]:
    """Return the scores of the candidates that a fold holds out, by weights of some of the
    features.
    """
    own = [names[j] for j in used]
    crossed = np.array([j for j, name in enumerate(own) if name in OPTIONS.crossed], dtype=np.int64)
    values, offsets = fold.values[:, list(used)], fold.texts.encoded.question_offsets
    design = Design.learn(own, crossed, values, offsets, raw=fold.cases.offsets is None)
    matrix = design.matrix(values, fold.texts.types, offsets)
    none = np.zeros(0, dtype=np.int64)
    with one_thread():
        weights, _ = Learner(matrix, fold.cases, offsets, none, none).fit(fold.C)
    ranker, texts = Ranker(design, weights), fold.held_texts
    added = ranker.contributions(
        fold.held_values[:, list(used)], texts.types, texts.encoded.question_offsets
    )
    return added.sum(axis=0) + ranker.bias


def measure(
    dataset: Dataset, folds: Sequence[Fold], names: Sequence[str], used: Sequence[int]
) -> NDArray[np.float64]:
    """Return each question's part of the measure's numerator and denominator: shape (n_questions,
    2).

    They are accuracy's, ties counted in part; for multiple answers those of F1a, with the threshold
    that is best for the pooled scores.
    """
    questions = list(dataset)
    parts = np.zeros((len(questions), 2))
    scores = [held_scores(fold, names, used) for fold in folds]
    if dataset.task is not Task.MULTIPLE_ANSWER:
        for fold, own in zip(folds, scores, strict=True):
            for i, values in zip(fold.held.tolist(), _split(fold, own), strict=True):
                gold = set(questions[i].gold or ())
                best = np.flatnonzero(values >= values.max() - 1e-12)
                parts[i] = sum(int(j) in gold for j in best) / len(best), 1
        return parts
    rows = [
        (i, values, np.isin(np.arange(len(values)), list(questions[i].gold or ())))
        for fold, own in zip(folds, scores, strict=True)
        for i, values in zip(fold.held.tolist(), _split(fold, own), strict=True)
    ]
    flat, right = (np.concatenate([row[k] for row in rows]) for k in (1, 2))
    order = np.argsort(-flat, kind="stable")
    hits = np.cumsum(right[order])
    best_place = int(np.argmax(2 * hits / (np.arange(1, len(hits) + 1) + right.sum())))
    threshold = flat[order[best_place]]
    for i, values, is_right in rows:
        chosen = values >= threshold
        parts[i] = 2 * (chosen & is_right).sum(), chosen.sum() + is_right.sum()
    return parts


def _split(fold: Fold, scores: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    return np.split(scores, fold.held_texts.encoded.question_offsets[1:-1])


def configurations(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows and their features: all, all but one group, and one alone."""
    group_of = [OPTIONS.group_of(name) for name in names]
    every = range(len(names))
    rows = {"all": list(every)}
    for group in _GROUPS:
        rows[f"without {group}"] = [j for j in every if group_of[j] != group]
    for group in _GROUPS:
        rows[f"{group} alone"] = [j for j in every if group_of[j] == group]
    return rows


def ablation(dataset: Dataset) -> Table:
    """Measure all rows on one dataset, with paired differences from all features; passages are
    resampled.
    """
    folds = folds_of(dataset)
    names = OPTIONS.names_of(_GROUPS)
    rows = configurations(names)
    parts = []
    for number, (name, used) in enumerate(rows.items(), 1):
        print(f"{dataset.name}: {number}/{len(rows)} {name}", file=sys.stderr, flush=True)
        parts.append(measure(dataset, folds, names, used))
    value = [own[:, 0].sum() / own[:, 1].sum() for own in parts]
    means = resample_means(np.hstack(parts), passage_groups(dataset), n=N_DRAWS, seed=0)
    drawn = means[:, 0::2] / means[:, 1::2]
    table: list[list[object]] = []
    for row, name in enumerate(rows):
        low, high = percentile_interval(drawn[:, row] - drawn[:, 0])
        difference = [
            f"{100 * (value[row] - value[0]):+.2f}",
            f"[{100 * low:+.2f}, {100 * high:+.2f}]",
        ]
        table.append([name, f"{100 * value[row]:.2f}", *(difference if row else ["", ""])])
    metric = "F1a" if dataset.task is Task.MULTIPLE_ANSWER else "Acc."
    notes = [
        "Out of fold, five folds of whole passages. Differences are from all features, paired by "
        "passage."
    ]
    if metric == "F1a":
        notes.append(
            "The threshold is the best one for the pooled scores, so F1a is a little too high in "
            "all rows."
        )
    return {
        "title": f"Features of the ranker, {dataset.name}, {len(dataset):,} questions",
        "header": ["features", metric, "difference", "95 % interval"],
        "rows": table,
        "notes": notes,
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Print a table for each dataset."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.ranker_ablation", description=__doc__
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="training data; FILE+FILE joins two files"
    )
    args = parser.parse_args(argv)
    for name in args.files:
        dataset = join_datasets([load(part) for part in name.split("+")])
        print(markdown(ablation(dataset)), flush=True)


if __name__ == "__main__":
    main()
