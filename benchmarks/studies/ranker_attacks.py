"""Attempts to break the feature ranker's result on MultiRC.

Run ``python -m benchmarks.studies.ranker_attacks TRAIN DEV``. If the result came from copies of
passages, from the order of options or from habits of annotators, a row would show it: it would lose
what the first row has, or keep what it should lose.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import markdown
from benchmarks.timing import Table
from classic_rc.datasets import load
from classic_rc.folds import drop_overlap_with, passage_groups
from classic_rc.metrics.base import METRICS
from classic_rc.questions import Dataset, Question
from classic_rc.results.intervals import resample_metrics
from classic_rc.results.resampling import percentile_interval
from classic_rc.running.evaluate import predict
from classic_rc.solvers import AllPositive
from classic_rc.solvers.base import Solver
from classic_rc.solvers.feature_ranker.solver import FeatureRanker
from classic_rc.solvers.feature_ranker.tables import OPTIONS

N_PERMUTATIONS = 20
SHOWN = ("f1_m", "f1_a", "em0")


def change_questions(dataset: Dataset, change: Callable[[Question], Question]) -> Dataset:
    """Return the dataset with each question changed."""
    return replace(dataset, questions=[change(question) for question in dataset])


def shuffle_options(dataset: Dataset, seed: int = 0) -> Dataset:
    """Return the dataset with the options of each question in another order."""
    rng = random.Random(seed)

    def change(question: Question) -> Question:
        order = rng.sample(range(len(question.candidates)), len(question.candidates))
        gold = frozenset(place for place, i in enumerate(order) if i in (question.gold or ()))
        return replace(question, candidates=tuple(question.candidates[i] for i in order), gold=gold)

    return change_questions(dataset, change)


def drop_wrong_options(dataset: Dataset, seed: int = 0) -> Dataset:
    """Return the dataset without one wrong option of each question that has two."""
    rng = random.Random(seed)

    def change(question: Question) -> Question:
        gold = question.gold or frozenset()
        wrong = [i for i in range(len(question.candidates)) if i not in gold]
        if len(wrong) < 2:
            return question
        dropped = rng.choice(wrong)
        kept = [i for i in range(len(question.candidates)) if i != dropped]
        gold = frozenset(place for place, i in enumerate(kept) if i in gold)
        return replace(question, candidates=tuple(question.candidates[i] for i in kept), gold=gold)

    return change_questions(dataset, change)


def permute_labels(dataset: Dataset, seed: int) -> Dataset:
    """Return the dataset with the labels of each question's options permuted."""
    rng = random.Random(seed)

    def change(question: Question) -> Question:
        right = rng.sample(range(len(question.candidates)), len(question.gold or ()))
        return replace(question, gold=frozenset(right))

    return change_questions(dataset, change)


def exchange_passages(dataset: Dataset) -> Dataset:
    """Return the dataset with the questions of each passage asked about the next one."""
    passages = list({id(question.passage): question.passage for question in dataset}.values())
    following = {
        id(one): other for one, other in zip(passages, [*passages[1:], passages[0]], strict=True)
    }
    return change_questions(
        dataset, lambda question: replace(question, passage=following[id(question.passage)])
    )


def keep_half(dataset: Dataset, half: int) -> Dataset:
    """Return every other passage's questions."""
    groups = passage_groups(dataset)
    return replace(
        dataset,
        questions=[q for q, group in zip(dataset, groups, strict=True) if group % 2 == half],
    )


def statistics(solver: Solver, train: Dataset, dev: Dataset) -> list[NDArray[np.float64]]:
    """Learn from the training data, tune the threshold on its scores out of fold, and measure
    the answers.
    """
    predictions = predict(dev, solver, train=train, tune=train).predictions
    assert predictions is not None
    return [METRICS[name].statistics(list(dev), predictions) for name in SHOWN]


def attack(train: Dataset, dev: Dataset) -> list[Table]:
    """Return two tables: changes of data and of features, and labels without information."""
    without_contrast = "+".join(sorted(OPTIONS.default - {"contrast"}))
    rows: dict[str, tuple[Solver, Dataset, Dataset]] = {
        "all": (FeatureRanker(), train, dev),
        "without training passages that are near dev's": (
            FeatureRanker(),
            drop_overlap_with(train, dev),
            dev,
        ),
        "options of dev in another order": (FeatureRanker(), train, shuffle_options(dev)),
        "options of train and dev in another order": (
            FeatureRanker(),
            shuffle_options(train, 1),
            shuffle_options(dev),
        ),
        "one wrong option fewer in dev": (FeatureRanker(), train, drop_wrong_options(dev)),
        "first half of the training passages": (FeatureRanker(), keep_half(train, 0), dev),
        "second half of the training passages": (FeatureRanker(), keep_half(train, 1), dev),
        "dev's questions about other passages": (FeatureRanker(), train, exchange_passages(dev)),
        "without contrast": (FeatureRanker(features=without_contrast), train, dev),
        "contrast alone": (FeatureRanker(features="contrast"), train, dev),
        "question and options": (FeatureRanker(inputs="no-passage"), train, dev),
        "options": (FeatureRanker(inputs="candidates"), train, dev),
        "options, without contrast": (
            FeatureRanker(inputs="candidates", features=without_contrast),
            train,
            dev,
        ),
    }
    measured = {}
    for name, (solver, learned, asked) in rows.items():
        print(name, file=sys.stderr, flush=True)
        measured[name] = statistics(solver, learned, asked)
    metric = METRICS["f1_a"]
    draws = resample_metrics([(metric, own[1]) for own in measured.values()], passage_groups(dev))
    table: list[list[object]] = []
    for (name, own), drawn in zip(measured.items(), draws, strict=True):
        low, high = percentile_interval(drawn - draws[0])
        interval = "" if name == "all" else f"[{100 * low:+.1f}, {100 * high:+.1f}]"
        table.append([name, *_figures(own), interval])
    title = f"Attacks on the ranker's result, {dev.name}, {len(dev):,} questions"
    return [
        {
            "title": title,
            "header": [
                "",
                *(METRICS[name].label for name in SHOWN),
                "95 % interval of the difference in F1a",
            ],
            "rows": table,
            "notes": [
                "Learned from the training data, with the threshold that is best on its scores out "
                "of fold."
            ],
        },
        _without_information(train, dev),
    ]


def _without_information(train: Dataset, dev: Dataset) -> Table:
    values = []
    for seed in range(N_PERMUTATIONS):
        print(f"permutation {seed + 1} of {N_PERMUTATIONS}", file=sys.stderr, flush=True)
        own = statistics(FeatureRanker(), permute_labels(train, seed), dev)
        values.append(
            [METRICS[name].aggregate(part) for name, part in zip(SHOWN, own, strict=True)]
        )
    low, high = np.percentile(values, [2.5, 97.5], axis=0)
    everything = [
        METRICS[name].aggregate(METRICS[name].statistics(list(dev), AllPositive().predict(dev)))
        for name in SHOWN
    ]
    return {
        "title": f"Labels permuted within each training question, {N_PERMUTATIONS} times",
        "header": ["", *(METRICS[name].label for name in SHOWN)],
        "rows": [
            ["mean", *_percent(np.mean(values, axis=0))],
            ["2.5 %", *_percent(low)],
            ["97.5 %", *_percent(high)],
            ["every option selected", *_percent(everything)],
        ],
        "notes": ["Without information, the threshold that is best for F1a selects every option."],
    }


def _figures(own: Sequence[NDArray[np.float64]]) -> list[object]:
    return _percent([METRICS[name].aggregate(part) for name, part in zip(SHOWN, own, strict=True)])


def _percent(values: Sequence[float] | NDArray[np.float64]) -> list[object]:
    return [f"{100 * value:.2f}" for value in values]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.ranker_attacks", description=__doc__
    )
    parser.add_argument("train", metavar="TRAIN")
    parser.add_argument("dev", metavar="DEV")
    args = parser.parse_args(argv)
    for table in attack(load(args.train), load(args.dev)):
        print(markdown(table), flush=True)


if __name__ == "__main__":
    main()
