"""What a results table says of its numbers: how they were made, which are best, which say little."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from classic_rc.evaluation.derived import FEW_QUESTIONS
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.metrics.registry import metrics_for, primary_metric
from classic_rc.questions import Task

SMALL_NOTE = f"in parentheses: groups of fewer than {FEW_QUESTIONS} questions"

_TIES = {
    "partial": "tied best candidates share the credit",
    "first": "the first of tied best candidates is the answer",
    "random": "of tied best candidates one is drawn",
    "strict": "questions with tied best candidates count as wrong",
}
_BOLD = "bold: the best row, expectations and rows tuned on these data left aside"


def best_places(evaluation: Evaluation) -> set[tuple[int, int]]:
    """The cells of a results table that hold the best value of their metric or group, as it is printed.

    Rows that cannot be compared are left aside: expectations over draws, and those tuned on the data that they
    report. Where fewer than two rows are left, nothing is best; nor in a group of few questions.
    """
    compared = [(i, row) for i, row in enumerate(evaluation.rows) if not (row.expected or row.tuned_here)]
    if len(compared) < 2:
        return set()
    shown = np.round([_values(evaluation, row) for _, row in compared], 4)  # as many decimals as are printed
    best = shown == np.fmax.reduce(shown, axis=0)
    small = {j for _, j in small_places(evaluation)}
    return {
        (i, 1 + j)
        for (i, _), of_row in zip(compared, best, strict=True)
        for j in np.flatnonzero(of_row).tolist()
        if 1 + j not in small
    }


def _values(evaluation: Evaluation, row: Row) -> list[float]:
    """A row's numbers, in the order of the columns behind its name."""
    assert evaluation.dataset.task is not None
    main = primary_metric(evaluation.dataset.task).name
    return [*row.metrics().values(), *(row.metrics(mask)[main] for mask in evaluation.groups.values())]


def small_places(evaluation: Evaluation) -> set[tuple[int, int]]:
    """The cells of a results table that hold a metric of few questions: those of small groups."""
    assert evaluation.dataset.task is not None
    first = 1 + len(metrics_for(evaluation.dataset.task))
    small = [j for j, mask in enumerate(evaluation.groups.values(), first) if mask.sum() < FEW_QUESTIONS]
    return {(i, j) for i in range(len(evaluation.rows)) for j in small}


def protocol_notes(evaluation: Evaluation) -> list[str]:
    """What must be said below a table in any form: of intervals, of marks, of small groups."""
    notes = [] if evaluation.resampling is None else [evaluation.resampling.note]
    if evaluation.significance is not None:
        notes.append(evaluation.significance.note)
    return [*notes, SMALL_NOTE] if small_places(evaluation) else notes


def protocol_caption(evaluation: Evaluation, title: str) -> str:
    """A caption that lets a table stand alone in a paper."""
    return ". ".join([title, "; ".join([*_protocol(evaluation), *protocol_notes(evaluation)])]) + "."


def _protocol(evaluation: Evaluation) -> Iterator[str]:
    yield "Metrics in percent"
    ties = {row.ties for row in evaluation.rows if row.ties is not None}
    if len(ties) == 1 and evaluation.dataset.task is not Task.MULTIPLE_ANSWER:
        yield _TIES[ties.pop()]
    if any(row.expected for row in evaluation.rows):
        yield "expectations are in closed form"
    if best_places(evaluation):
        yield _BOLD
