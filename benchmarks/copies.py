"""The table of docs/copies.md: which passages published splits share.

    python -m benchmarks.copies --folder ../shared/data @benchmarks/sketches.txt

The arguments are those of ``benchmarks.sketches``. Every split is looked up in every other one, and
in itself, by the definition of :mod:`classic_rc.near_duplicates`. Pairs without a copy are left
out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from classic_rc import Dataset, load
from classic_rc.datasets.fetch import has_name_form
from classic_rc.folds import shared_passages
from classic_rc.near_duplicates import similar_texts


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(
        description="Count the passages that splits share.", fromfile_prefix_chars="@"
    )
    parser.add_argument("data", nargs="+", metavar="NAME[=DATA]")
    parser.add_argument("--folder", type=Path, default=Path(), help="where relative paths start")
    args = parser.parse_args(argv)
    datasets = dict(read_named(args.data, args.folder))
    print("| passages of (passages / questions) | in | passages | questions |")
    print("|---|---|---:|---:|")
    for name, dataset in datasets.items():
        for other, passages, questions in count_copies(dataset, datasets):
            title = f"{name} ({len(dataset.passages):,} / {len(dataset):,})"
            where = "itself" if other == name else other
            print(f"| {title} | {where} | {passages:,} | {questions:,} |")
            sys.stdout.flush()


def read_named(texts: Sequence[str], folder: Path) -> Iterator[tuple[str, Dataset]]:
    """Yield the name and the dataset of each argument."""
    for text in texts:
        is_named = has_name_form(text)
        name, _, place = (text, "", text) if is_named else text.partition("=")
        yield name, load(place if is_named else str(folder / place))


def count_copies(dataset: Dataset, others: Mapping[str, Dataset]) -> Iterator[tuple[str, int, int]]:
    """Yield the names of the datasets that have passages of `dataset`, and how many passages and
    questions about them.
    """
    for name, other in others.items():
        if other is dataset:
            texts = [passage.text for passage in dataset.passages]
            pairs = similar_texts(texts).pairs
            places = np.unique(pairs[[bool(texts[i].strip()) for i in pairs[:, 0]]])
            copied = {id(dataset.passages[i]) for i in places}
        else:
            copied = {id(passage) for passage in shared_passages(dataset, other)}
        if copied:
            yield name, len(copied), sum(id(q.passage) in copied for q in dataset)


if __name__ == "__main__":
    main()
