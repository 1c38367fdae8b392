"""How results name a dataset: its title in tables, its sizes in words, its entry in JSON."""

from __future__ import annotations

from typing import Any

from classic_rc.questions import SHORT_FINGERPRINT, Dataset
from classic_rc.tables.model import format_count


def dataset_record(dataset: Dataset) -> dict[str, Any]:
    """Return what JSON says of a dataset, whatever was measured on it."""
    return {
        "name": dataset.name,
        "reader": dataset.reader,
        "split": dataset.split,
        "task": None if dataset.task is None else str(dataset.task),
        "fingerprint": dataset.fingerprint,
        "passages": len(dataset.passages),
        "questions": len(dataset),
    }


def dataset_title(dataset: Dataset, *more: str) -> str:
    """Return the title of a dataset's table: its name, sizes (and the counts in `more`) and
    fingerprint.
    """
    name = dataset.name + (f" ({dataset.reader})" if dataset.reader else "")
    return " · ".join(
        [name, dataset_sizes(dataset, *more), f"data {dataset.fingerprint[:SHORT_FINGERPRINT]}"]
    )


def dataset_sizes(dataset: Dataset, *more: str) -> str:
    """Return the numbers of questions and passages in words, and the counts in `more`."""
    return ", ".join([format_count(len(dataset), "question"), count_passages(dataset), *more])


def count_passages(dataset: Dataset) -> str:
    """Return the number of passages in words."""
    return format_count(len(dataset.passages) if has_passages(dataset) else 0, "passage")


def has_passages(dataset: Dataset) -> bool:
    """Return whether there is any text to read."""
    return any(passage.text.strip() for passage in dataset.passages)
