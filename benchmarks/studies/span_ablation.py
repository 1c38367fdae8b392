"""What the span ranker's groups of features earn, by cross-validation over whole articles, and its
learning curve.

Run ``python -m benchmarks.studies.span_ablation FILE [TABLE...] [--every N] [--folds K] [--test
FILE]``.

FILE is in SQuAD's form; with ``--every 4`` only every fourth passage is used. Tables: ``groups``
leaves out one group of features at a time; ``artefacts`` shows what the kind of answer alone gives
away; ``curve`` learns from parts of the training data and answers the test data.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import markdown
from benchmarks.timing import Table
from classic_rc.datasets import load
from classic_rc.decisions import Argmax
from classic_rc.folds import FoldPlan
from classic_rc.metrics.base import metrics_for
from classic_rc.predictions import Prediction
from classic_rc.questions import Dataset, Question
from classic_rc.results.resampling import percentile_interval, resample_means
from classic_rc.running.plan import add_span_candidates
from classic_rc.running.span_oracle import oracle_predictions
from classic_rc.solvers import SpanRanker, SpanSlidingWindow
from classic_rc.solvers.spans.columns import GROUPS
from classic_rc.solvers.spans.texts import (
    Lexicon,
    Rarity,
    ReadCandidates,
    ReadPassage,
    ReadQuestion,
)
from classic_rc.text.squad import normalise_squad_answer

N_DRAWS = 10_000
SIZES = (1_500, 3_000, 6_000)
"""How many training questions the curve learns from, before all of them."""
PUBLISHED = (40.0, 51.0)
"""EM and F1 of logistic regression on SQuAD dev (Rajpurkar et al. 2016)."""

Answer = Callable[[list[Question], list[Question]], list[Prediction]]
"""What answers the second questions, given the first to learn from."""


def out_of_fold(dataset: Dataset, answer: Answer, n_folds: int) -> NDArray[np.float64]:
    """Return each question's exact match and F1, answered after learning from the other folds'
    articles.
    """
    questions = list(dataset)
    rows = np.zeros((len(questions), 2))
    for training, held in FoldPlan(n_folds, "title").folds(dataset):
        own = [questions[i] for i in held.tolist()]
        rows[held] = values_of(own, answer([questions[i] for i in training.tolist()], own))
    return rows


def values_of(questions: list[Question], predictions: list[Prediction]) -> NDArray[np.float64]:
    """Return the exact match and the F1 of each answer: shape (n_questions, 2)."""
    metrics = metrics_for(questions[0])
    return np.stack([metric.statistics(questions, predictions)[:, 0] for metric in metrics], axis=1)


def ranker(**parameters: Any) -> Answer:
    """Return what learns and answers by a span ranker."""
    return lambda training, own: SpanRanker(**parameters).fit(training).predict(own)


Kind = tuple[int, int, int]


def kinds_of(question: Question, lexicon: Lexicon, rarity: Rarity) -> tuple[int, list[Kind]]:
    """Return the wh-word of a question, and the kind of each candidate: classes of both ends,
    and length.
    """
    passage = ReadPassage.of(question.passage, lexicon)
    candidates = ReadCandidates.of(question, passage)
    classes = lexicon.columns().word_class[passage.tokens]
    lengths = np.minimum(candidates.last - candidates.first + 1, 4)
    columns = (
        classes[candidates.first].tolist(),
        classes[candidates.last].tolist(),
        lengths.tolist(),
    )
    wh = ReadQuestion.of(question.text, lexicon, rarity, wh_only=True).wh
    return wh, list(zip(*columns, strict=True))


def random_of_kind(
    training: list[Question], own: list[Question], *, known: bool
) -> list[Prediction]:
    """Answer by a random span of the right kind: that of the gold span if it is `known`, else by
    the wh-word.

    By the wh-word, a kind is drawn as often as it was right in training, among those that the
    passage has.
    """
    lexicon, rarity = Lexicon(), Rarity([], np.zeros(0, dtype=np.int64), 1)
    generator = np.random.default_rng(0)
    counts: dict[int, Counter[Kind]] = defaultdict(Counter)

    def right_kind(question: Question, kinds: Sequence[Kind]) -> Kind | None:
        gold = {normalise_squad_answer(text) for text in question.gold_texts}
        places = (
            i for i, c in enumerate(question.candidates) if normalise_squad_answer(c.text) in gold
        )
        return next((kinds[i] for i in places), None)

    for question in training if not known else ():
        wh, kinds = kinds_of(question, lexicon, rarity)
        kind = right_kind(question, kinds)
        if kind is not None:
            counts[wh][kind] += 1
    predictions = []
    for question in own:
        wh, kinds = kinds_of(question, lexicon, rarity)
        if known:
            kind = right_kind(question, kinds)
        else:
            present = [(kind, counts[wh][kind]) for kind in sorted(set(kinds)) if counts[wh][kind]]
            shares = np.array([n for _, n in present], dtype=float)
            kind = (
                present[generator.choice(len(present), p=shares / shares.sum())][0]
                if present
                else None
            )
        places = [i for i, other in enumerate(kinds) if kind is None or other == kind]
        text = question.candidates[int(generator.choice(places))].text
        predictions.append(Prediction(question.id, ((text,),), n_candidates=len(kinds)))
    return predictions


def group_rows(epochs: int) -> dict[str, Answer]:
    """The ranker with its best span, and the ranker without each group of features in turn."""
    best_span = partial(ranker, epochs=epochs, decision=Argmax())
    rows = {"all": best_span()}
    for group in GROUPS:
        others = "+".join(name for name in GROUPS if name != group)
        rows[f"without {group}"] = best_span(features=others)
    return rows


def artefact_rows(epochs: int) -> dict[str, Answer]:
    """What reads no question, or nothing but its wh-word, beside the ranker and a perfect
    choice.
    """
    return {
        "`span-ranker`": ranker(epochs=epochs),
        "`span-ranker:wh-word`": ranker(epochs=epochs, inputs="wh-word"),
        "random span of a kind drawn by the wh-word": partial(random_of_kind, known=False),
        "random span of the kind of the gold span": partial(random_of_kind, known=True),
        "`span-sw`": lambda training, own: SpanSlidingWindow(decision=Argmax(ties="first")).predict(
            own
        ),
        "a perfect choice": lambda training, own: oracle_predictions(own),
    }


ROWS = {"groups": group_rows, "artefacts": artefact_rows}
TITLES = {
    "groups": "Groups of features of the span ranker",
    "artefacts": "What the kind of answer alone gives away",
}


def fold_table(dataset: Dataset, name: str, n_folds: int, epochs: int) -> Table:
    """Measure rows out of fold."""
    parts = {}
    for label, answer in ROWS[name](epochs).items():
        print(f"{name}: {label}", file=sys.stderr, flush=True)
        parts[label] = out_of_fold(dataset, answer, n_folds)
    titles = [str(question.meta_value("title")) for question in dataset]
    note = (
        f"Out of fold, {n_folds} folds of whole articles; intervals resample the "
        f"{len(set(titles))} articles."
    )
    return {
        **_table(parts, titles, TITLES[name]),
        "notes": [f"{note} Differences are from the first row."],
    }


def curve_table(dataset: Dataset, test: Dataset) -> Table:
    """Learn from parts of one dataset, answer the other, and continue the line."""
    training, asked = list(dataset), list(test)
    order = np.random.default_rng(0).permutation(len(training)).tolist()
    sizes = [*(n for n in SIZES if n < len(training)), len(training)]
    parts = {}
    for n in sizes:
        print(f"curve: {n:,}", file=sys.stderr, flush=True)
        parts[f"{n:,}"] = values_of(
            asked, ranker()([training[i] for i in sorted(order[:n])], asked)
        )
    notes = [
        f"Learned from {dataset.name}, tested on {test.name}; intervals resample the "
        f"{len(test.passages)} passages."
    ]
    for k, (name, published) in enumerate(zip(("EM", "F1"), PUBLISHED, strict=True)):
        values = [100 * own[:, k].mean() for own in parts.values()]
        slope, start = np.polyfit(np.log2(sizes), values, 1)
        notes.append(
            f"{name}: {slope:+.2f} for each doubling. The line continued to 80,000 questions, an "
            f"extrapolation and no measurement, is at {start + slope * np.log2(80_000):.1f}; "
            f"Rajpurkar et al. 2016 have {published}."
        )
    notes.append(
        "Training data and test questions differ from the paper's, so its figures are for "
        "orientation."
    )
    passages = [str(id(question.passage)) for question in asked]
    return {**_table(parts, passages, "Learning curve of the span ranker"), "notes": notes}


def _table(parts: dict[str, NDArray[np.float64]], group_of: Sequence[str], title: str) -> Table:
    """Return EM and F1 of each row with intervals, and the difference of its F1 from the first
    row's.
    """
    groups = np.unique(group_of, return_inverse=True)[1]
    drawn = 100 * resample_means(np.hstack(list(parts.values())), groups, n=N_DRAWS, seed=0)
    drawn = drawn.reshape(-1, len(parts), 2)
    means = 100 * np.array([own.mean(axis=0) for own in parts.values()])
    table: list[list[object]] = []
    for row, name in enumerate(parts):
        cells = [_interval(means[row, k], drawn[:, row, k]) for k in range(2)]
        difference = _interval(means[row, 1] - means[0, 1], drawn[:, row, 1] - drawn[:, 0, 1], "+")
        table.append([name, *cells, difference if row else ""])
    return {
        "title": f"{title}, {len(group_of):,} questions",
        "header": ["", "EM", "F1", "F1, difference"],
        "rows": table,
        "notes": [],
    }


def _interval(value: float, drawn: NDArray[np.float64], sign: str = "") -> str:
    low, high = percentile_interval(drawn)
    return f"{value:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.span_ablation", description=__doc__
    )
    parser.add_argument(
        "file", metavar="FILE", help="training data in SQuAD's form, with titles of articles"
    )
    parser.add_argument(
        "tables",
        nargs="*",
        metavar="TABLE",
        default=list(ROWS),
        help=f"of {', '.join(ROWS)}, curve",
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="use every Nth passage")
    parser.add_argument("--folds", type=int, default=5, metavar="K", help="the number of folds")
    parser.add_argument(
        "--epochs", type=int, default=SpanRanker.epochs, help="as in the ranker, out of fold"
    )
    parser.add_argument("--test", metavar="FILE", help="the data that the curve is measured on")
    args = parser.parse_args(argv)
    if unknown := [name for name in args.tables if name not in (*ROWS, "curve")]:
        parser.error(f"no table {unknown[0]!r}: known are {', '.join(ROWS)}, curve")
    if "curve" in args.tables and args.test is None:
        parser.error("the curve needs --test FILE")
    dataset = load(args.file)
    some = {id(passage) for passage in dataset.passages[:: args.every]}
    dataset = add_span_candidates(dataset.filter(lambda question: id(question.passage) in some))
    for name in args.tables:
        if name == "curve":
            print(markdown(curve_table(dataset, add_span_candidates(load(args.test)))), flush=True)
        else:
            print(markdown(fold_table(dataset, name, args.folds, args.epochs)), flush=True)


if __name__ == "__main__":
    main()
