"""The questions of a report with what systems answered and why, as compact data for the page's script."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from classic_rc.evaluation.breakdown import Grouping
from classic_rc.evaluation.comparison import SOLVED_BY
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.metrics.registry import METRICS, primary_metric
from classic_rc.questions import Dataset, Question
from classic_rc.reports.explanations import LEGEND, adds_up, is_right, number_name, ranked
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark

_EXPLAINED_OPTIONS, _EXPLAINED_TEXTS = 12, 5
"""So many of a question's options, or of the different texts of its mentions or spans; the right ones besides."""
_RIGHT, _PARTLY, _WRONG = "rpw"
_EVIDENCE, _IS_RIGHT, _ADDS_UP = 1, 2, 4
_WHOLE = 1 - 1e-9
_KINDS = (*LEGEND, "pair-candidate")


def page_data(
    evaluation: Evaluation,
    explanations: Mapping[int, Iterable[Explanation]],
    groupings: Sequence[Grouping] = (),
) -> dict[str, Any]:
    """All that the script shows, as plain data; it is made to be small, and read nowhere else.

    Passages, names of terms and weights of words are written once and numbered. Marks are four numbers each: the
    kind, the start less the last mark's, the length (in code points), and the weight's number, or -1.

    Parameters
    ----------
    evaluation : Evaluation
    explanations : mapping of int to iterable of Explanation
        By the index of a row, the explanations of all questions in order; each is dropped when it is written.
    groupings : sequence of Grouping
        Ways to choose among the questions.
    """
    dataset = evaluation.dataset
    assert dataset.task is not None
    passages = {id(passage): number for number, passage in enumerate(dataset.passages)}
    shared = _Shared()
    explained = [
        {"system": row, "candidates": [_entries(shared, e) for e in given]} for row, given in explanations.items()
    ]
    return {
        "choices": dataset.task.has_choices,
        "legend": {kind: LEGEND.get(kind, "") for kind in _KINDS},
        "passages": [passage.text for passage in dataset.passages],
        "questions": [_question(question, passages[id(question.passage)]) for question in dataset],
        "groups": [
            {
                "name": grouping.key,
                "values": list(grouping.masks),
                "members": [np.flatnonzero(mask).tolist() for mask in grouping.masks.values()],
            }
            for grouping in groupings
        ],
        "systems": [
            {"name": name, **_outcomes(row, dataset)}
            for name, row in zip(system_names(evaluation.rows), evaluation.rows, strict=True)
        ],
        "explained": explained,
        "terms": shared.terms,
        "weights": shared.weights,
    }


def system_names(rows: Sequence[Row]) -> list[str]:
    """The rows' names, numbered where several would have one."""
    seen: dict[str, int] = {}
    names = []
    for row in rows:
        seen[row.name] = seen.get(row.name, 0) + 1
        names.append(row.name if seen[row.name] == 1 else f"{row.name} ({seen[row.name]})")
    return names


def _question(question: Question, passage: int) -> list[Any]:
    """Id, passage, text, options (if it has its own), and what is right: indices or texts."""
    if question.task.has_choices:
        return [
            question.id,
            passage,
            question.text,
            [candidate.text for candidate in question.candidates],
            sorted(question.gold or ()),
        ]
    return [question.id, passage, question.text, [], list(question.gold_texts)]


def _outcomes(row: Row, dataset: Dataset) -> dict[str, Any]:
    """A letter a question for right, partly or wrong; credits of the partly right, and ties, by question."""
    if row.expected:
        return {"expected": True}
    assert dataset.task is not None
    statistics, main = row.outcomes.statistics, primary_metric(dataset.task)
    solved = METRICS[SOLVED_BY[dataset.task]]
    wholly = solved.from_means(statistics[solved.name]) >= _WHOLE
    credits = main.from_means(statistics[main.name])
    verdicts = np.where(wholly, _RIGHT, np.where(credits > 0, _PARTLY, _WRONG)).tolist()
    tied = {i: n for i, n in enumerate(row.outcomes.n_tied.tolist()) if n > 1}
    return {
        "verdicts": "".join(verdicts),
        "credits": {i: round(float(credits[i]), 2) for i, verdict in enumerate(verdicts) if verdict == _PARTLY},
        "tied": tied,
        "answers": list(row.outcomes.answers),
    }


class _Shared:
    """Names of terms and weights of words, each numbered when it first comes."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.weights: list[float | str] = []
        self._numbers: dict[Hashable, int] = {}

    def term(self, name: str) -> int:
        return self._number(number_name(name), self.terms)

    def weight(self, value: float | None) -> int:
        return -1 if value is None else self._number(_rounded(value), self.weights)

    def _number(self, value: Any, values: list[Any]) -> int:
        if (number := self._numbers.get((id(values), value))) is None:
            number = self._numbers[id(values), value] = len(values)
            values.append(value)
        return number


def _entries(shared: _Shared, explanation: Explanation) -> list[list[Any]]:
    """The candidates worth a look: index or text, score, flags, terms, marks, perhaps quote and source."""
    question = explanation.question
    return [
        [
            index if question.task.has_choices else candidate.text,
            _rounded(candidate.score),
            _EVIDENCE * candidate.evidence | _IS_RIGHT * is_right(question, index) | _ADDS_UP * adds_up(candidate),
            [part for name, value in candidate.numbers.items() for part in (shared.term(name), _rounded(value))],
            list(_marks(shared, candidate.marks)),
            *(() if candidate.quote is None else (candidate.quote, candidate.source or "")),
        ]
        for index, candidate in _worth_a_look(explanation)
    ]


def _worth_a_look(explanation: Explanation) -> Iterator[tuple[int, CandidateExplanation]]:
    question = explanation.question
    has_choices = question.task.has_choices
    most = _EXPLAINED_OPTIONS if has_choices else _EXPLAINED_TEXTS
    seen: set[Hashable] = set()
    for index, candidate in ranked(explanation):
        key = index if has_choices else candidate.text
        if key not in seen and (len(seen) < most or is_right(question, index)):
            seen.add(key)
            yield index, candidate


def _marks(shared: _Shared, marks: Iterable[Mark]) -> Iterator[int]:
    last = 0
    for mark in sorted(marks, key=lambda m: (m.start, -m.end)):
        if mark.kind in _KINDS:
            yield _KINDS.index(mark.kind)
            yield mark.start - last
            yield mark.end - mark.start
            yield shared.weight(mark.weight)
            last = mark.start


def _rounded(value: float) -> float | str:
    """Five digits, whole numbers without a point; what JSON has no number for as text."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    short = float(f"{value:.5g}")
    return int(short) if short == int(short) else short
