"""What the reader of the numbers should know about the data behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from classic_rc.folds import normalised_text
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.unicode_words import unspaced_share

__all__ = ["data_warnings", "overlap_warnings"]

_MANY_UNSPACED = 0.1


def data_warnings(dataset: Dataset, solvers: Sequence[Solver]) -> Iterator[str]:
    """Warn where words are sought in text of scripts that do not space them."""
    analyzers = {get_analyzer(s.analyzer) for s in solvers if s.analyzer is not None}
    if all(a.tokenizer == "char" for a in analyzers):
        return
    share = unspaced_share([p.text for p in dataset.passages])
    if share >= _MANY_UNSPACED:
        yield (
            f"{share:.0%} of the letters in {dataset.name} belong to scripts without spaces between words: "
            "analyzer=char makes each of them a token"
        )


def overlap_warnings(dataset: Dataset, *, train: Dataset | None, tune: Dataset | None) -> Iterator[str]:
    """Warn where training or tuning data shares passages or questions with the evaluated data."""
    for role, other in (("training", train), ("tuning", tune)):
        if other is None or other.fingerprint == dataset.fingerprint:
            continue
        here = {normalised_text(p.text) for p in dataset.passages}
        n_passages = sum(normalised_text(p.text) in here for p in other.passages)
        asked = {(normalised_text(q.passage.text), normalised_text(q.text)) for q in dataset}
        n_questions = sum((normalised_text(q.passage.text), normalised_text(q.text)) in asked for q in other)
        if n_passages:
            yield (
                f"{role} data {other.name} shares {n_passages} passages and {n_questions} questions "
                f"with {dataset.name}"
            )
