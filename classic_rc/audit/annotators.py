"""Answers of several annotators: accuracy, agreement, majority vote, and the held-out annotator.

Annotators answer single-choice questions, not necessarily all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.agreement import (
    MISSING,
    Estimate,
    Measure,
    cohen_kappa,
    count_answers,
    estimate_measures,
    fleiss_kappa,
    free_marginal_s,
    krippendorff_alpha,
    observed_agreement,
    ratio,
)
from classic_rc.encodings import MismatchError, Option, Written, check_reading, decide_reading, decode, explain
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.resampling import Resampling
from classic_rc.folds import passage_groups
from classic_rc.io.json import Node, describe_value, json_lines, parse_json
from classic_rc.io.text import read_text, table_records
from classic_rc.questions import Dataset, Task, candidate_texts

MAX_ANNOTATORS_IN_PAIRS = 12
"""With more annotators, pairs are left out: there would be too many to read."""

_ANSWER_AS = Option("answer_as='{}'", " in Python, or write letters or texts of options")
_FIELDS = {
    "id": ("id", "question_id", "qid"),
    "annotator": ("annotator", "annotator_id", "worker", "user"),
    "answer": ("answer", "label", "choice"),
}


@dataclass(frozen=True)
class Annotations:
    """The answers of annotators to the questions of a dataset.

    Parameters
    ----------
    annotators : tuple of str
        Their names, in the order of their first answers.
    answers : ndarray of int64, shape (n_questions, n_annotators)
        The position of the chosen option, from 0; :data:`~classic_rc.audit.agreement.MISSING` without an answer.
    notes : tuple of str
    """

    annotators: tuple[str, ...]
    answers: NDArray[np.int64]
    notes: tuple[str, ...] = ()


def read_annotations(path: str | Path, dataset: Dataset, *, answer_as: str | None = None) -> Annotations:
    """Read the answers of annotators from a table (CSV, TSV) or JSON lines.

    A row has the id of a question, the name of an annotator and an answer: ``id``, ``annotator``, ``answer``. An
    empty cell, null, or no row at all is a missing answer.

    Parameters
    ----------
    path : path-like
    dataset : Dataset
        Of single-choice questions.
    answer_as : {"index0", "index1", "letter", "text"}, optional
        How answers name options; by default the one way that fits all answers.

    Returns
    -------
    Annotations

    Raises
    ------
    UsageError
        The questions are no single-choice questions, or `answer_as` is unknown.
    DataError
        The file is malformed, answers other questions, or has two answers of an annotator to a question; or the
        coding of answers is ambiguous.
    """
    if dataset.task is not Task.SINGLE_CHOICE:
        raise UsageError(
            f"annotators answer single-choice questions, but {dataset.name} has {dataset.task} questions",
            field="dataset",
            found=str(dataset.task),
            expected=str(Task.SINGLE_CHOICE),
        )
    if answer_as is not None:
        check_reading(answer_as)
    places = {question.id: i for i, question in enumerate(dataset)}
    texts = [list(candidate_texts(question.candidates)) for question in dataset]
    skipped = {question.id for question in dataset.whole or ()} - places.keys()
    is_open = dataset.log is not None and bool(dataset.log.left_out)
    rows, n_skipped = [], 0
    for node in _read_rows(read_text(path), str(path)):
        row = _parse_row(node, places, dataset, skipped, is_open)
        rows += [] if row is None else [row]
        n_skipped += row is None
    given = [row for row in rows if row.answer is not None]
    if not given:
        raise DataError("no answers", source=str(path), expected="rows with id, annotator and answer")
    written = [Written(r.node, r.answer, texts[r.place], explain(r.answer, texts[r.place])) for r in given]
    coding = answer_as or decide_reading(written, field="answer", option=_ANSWER_AS)
    annotators = tuple(dict.fromkeys(row.annotator for row in given))
    column = {name: j for j, name in enumerate(annotators)}
    answers = np.full((len(dataset), len(annotators)), MISSING, dtype=np.int64)
    for row in given:
        try:
            (answer,) = decode(row.answer, texts[row.place], coding)
        except MismatchError as error:
            raise row.node.error(
                "invalid answer", field="answer", found=error.found, expected=error.expected
            ) from None
        except ValueError:
            raise row.node.error(
                "several answers", field="answer", found=describe_value(row.answer), expected="one option"
            ) from None
        if answers[row.place, column[row.annotator]] != MISSING:
            raise row.node.error(
                "second answer of an annotator to a question",
                field="answer",
                found=f"annotator {row.annotator!r}, question {dataset[row.place].id!r}",
                expected="one answer",
            )
        answers[row.place, column[row.annotator]] = answer
    unanswered = int((answers == MISSING).all(axis=1).sum())
    notes = [f"no annotator answers {unanswered:,} of {len(dataset):,} questions"] if unanswered else []
    if n_skipped:
        notes.append(f"{n_skipped:,} answers to questions that are left out of the data are not used")
    return Annotations(annotators, answers, tuple(notes))


class _Row(NamedTuple):
    node: Node
    place: int  # of the question in the dataset
    annotator: str
    answer: Any  # None if missing


def _read_rows(text: str, source: str) -> Iterator[Node]:
    content = text.strip()
    if content.startswith("["):
        yield from Node(parse_json(text, source), source).elements()
    elif content.startswith("{"):
        yield from json_lines(text, source)
    else:
        records = ((line, [cell.strip() for cell in cells]) for line, cells in table_records(text, source))
        rows = ((line, cells) for line, cells in records if any(cells))
        _, header = next(rows, (1, []))
        for line, cells in rows:
            if len(cells) != len(header):
                raise DataError(
                    "wrong number of columns",
                    source=source,
                    where=f"line {line}",
                    found=str(len(cells)),
                    expected=f"{len(header)}, as in the header",
                )
            yield Node(dict(zip(header, cells, strict=True)), source, line)


def _parse_row(
    row: Node, places: dict[str, int], dataset: Dataset, skipped: AbstractSet[str], is_open: bool
) -> _Row | None:
    """Return an answer; None if the dataset left its question out: one of `skipped`, or any if `is_open`."""
    if not isinstance(row.value, dict):
        raise row.error("wrong type", found=describe_value(row.value), expected="an object with an answer")
    keys = {role: next((key for key in names if key in row.value), None) for role, names in _FIELDS.items()}
    for role in ("id", "annotator", "answer"):
        if keys[role] is None:
            raise row.error(
                "missing",
                field=role,
                found=describe_value(row.value),
                expected=f"the key {role}",
                hint="Write a row for each answer: id,annotator,answer",
            )
    id_, answer = row.name(str(keys["id"])), row.value[keys["answer"]]
    if id_ in skipped or (is_open and id_ not in places):
        return None
    if id_ not in places:
        raise row.error(
            f"answer to a question that is not in {dataset.name}",
            field=keys["id"],
            found=repr(id_),
            expected=f"ids of {dataset.name}, such as {next(iter(places), '')!r}",
        )
    return _Row(row, places[id_], row.name(str(keys["annotator"])), None if answer in ("", None) else answer)


# ------------------------------------------------------------------------------------------------------------------
# Measures


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """The agreement of two annotators on the questions that both answer."""

    first: str
    second: str
    observed: Estimate  # the share of equal answers
    kappa: Estimate  # Cohen's
    s: Estimate  # chance 1/k


@dataclass(frozen=True)
class AnnotatorReport:
    """Accuracy and agreement of annotators.

    Parameters
    ----------
    dataset : Dataset
    annotators : tuple of str
    accuracy : tuple of Estimate
        Of each annotator, on the questions that they answer and whose gold is known; empty if all gold is hidden.
    against_others : tuple of Estimate
        The share of each annotator's answers that are the majority of the others' answers.
    mean_accuracy : Estimate or None
        The mean over all answers to questions whose gold is known; None if all gold is hidden.
    majority : Estimate or None
        The accuracy of the majority vote. If t options tie, the right one among them has a credit of 1/t.
    held_out : Estimate
        The mean over all answers of the agreement with the others' majority: the usual estimate of human
        performance without gold of its own.
    pairs : tuple of PairAgreement
        Empty for more than :data:`MAX_ANNOTATORS_IN_PAIRS` annotators.
    observed, fleiss, alpha, s : Estimate
        The agreement of all annotators, on the questions with two or more answers.
    resampling : Resampling
    notes : tuple of str
    """

    dataset: Dataset
    annotators: tuple[str, ...]
    accuracy: tuple[Estimate, ...]
    against_others: tuple[Estimate, ...]
    mean_accuracy: Estimate | None
    majority: Estimate | None
    held_out: Estimate
    pairs: tuple[PairAgreement, ...]
    observed: Estimate
    fleiss: Estimate
    alpha: Estimate
    s: Estimate
    resampling: Resampling
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; undefined numbers are None."""
        dataset = self.dataset
        return {
            "dataset": {"name": dataset.name, "fingerprint": dataset.fingerprint, "questions": len(dataset)},
            "annotators": [
                {
                    "annotator": name,
                    "accuracy": _plain(self.accuracy[i]) if self.accuracy else None,
                    "against_others": _plain(self.against_others[i]),
                }
                for i, name in enumerate(self.annotators)
            ],
            **{name: _plain(getattr(self, name)) for name in ("mean_accuracy", "majority", "held_out")},
            "agreement": {name: _plain(getattr(self, name)) for name in ("observed", "fleiss", "alpha", "s")},
            "pairs": [
                {"first": pair.first, "second": pair.second}
                | {name: _plain(getattr(pair, name)) for name in ("observed", "kappa", "s")}
                for pair in self.pairs
            ],
            "resampling": self.resampling.to_dict(),
            "notes": list(self.notes),
        }


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    value = None if np.isnan(estimate.value) else estimate.value
    return {"value": value, "interval": estimate.interval and list(estimate.interval), "questions": estimate.n}


def measure_annotators(
    dataset: Dataset,
    annotations: Annotations,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    group: str | None = None,
) -> AnnotatorReport:
    """Measure the accuracy and the agreement of annotators, with intervals over resampled passages.

    Parameters
    ----------
    dataset : Dataset
        Gold may be hidden: accuracy is measured on the labelled questions.
    annotations : Annotations
    resamples : int
        Number of resamples of passages. A resample has the answers of all annotators to the questions about its
        passages; every number is computed again from them.
    seed : int
    group : str, optional
        A key of `meta` whose equal values stay together, as equal passages do.

    Returns
    -------
    AnnotatorReport

    Raises
    ------
    UsageError
        There are fewer than two annotators.

    Examples
    --------
    >>> import classic_rc
    >>> dataset = classic_rc.load("sample:single-choice")
    >>> right = np.array([next(iter(question.gold)) for question in dataset])
    >>> first = np.where(np.arange(len(right)) < 6, (right + 1) % 4, right)
    >>> annotations = Annotations(("a", "b"), np.column_stack([first, right]))
    >>> report = measure_annotators(dataset, annotations, resamples=100)
    >>> round(report.accuracy[0].value, 2), round(report.s.value, 2)
    (0.75, 0.67)
    """
    answers, names = annotations.answers, annotations.annotators
    if len(names) < 2:
        raise UsageError(
            f"agreement needs two or more annotators, found {len(names)}", field="annotators", found=str(len(names))
        )
    n_options = np.array([len(question.candidates) for question in dataset], dtype=np.int64)
    groups = passage_groups(dataset, group)
    resampling = Resampling(int(groups.max(initial=-1)) + 1, resamples, seed, group=group)
    counts = count_answers(answers, int(n_options.max(initial=1)))
    measures: dict[str, Measure] = {"observed": observed_agreement(counts), "fleiss": fleiss_kappa(counts)}
    measures |= {"alpha": krippendorff_alpha(counts), "s": free_marginal_s(counts, n_options)}
    credit = _credit_against_others(answers, counts)
    has_answer = answers != MISSING
    has_others = has_answer & (counts.sum(axis=1)[:, None] > 1)
    measures["held_out"] = ratio((credit * has_others).sum(axis=1), has_others.sum(axis=1))
    for j, name in enumerate(names):
        measures[f"others:{name}"] = ratio(credit[:, j] * has_others[:, j], has_others[:, j])
    is_labelled = np.array([question.gold is not None for question in dataset], dtype=np.bool_)
    has_gold = bool(is_labelled.any())
    if has_gold:
        right = np.zeros_like(counts)
        for i, question in enumerate(dataset):
            right[i, [g for g in question.gold or () if isinstance(g, int)]] = 1
        is_right = np.take_along_axis(right, np.maximum(answers, 0), axis=1) * has_answer
        is_scored = has_answer & is_labelled[:, None]
        measures["mean_accuracy"] = ratio(is_right.sum(axis=1), is_scored.sum(axis=1))
        best = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
        vote = (best * right).sum(axis=1) / np.maximum(best.sum(axis=1), 1)
        measures["majority"] = ratio(vote, is_scored.any(axis=1))
        for j, name in enumerate(names):
            measures[f"accuracy:{name}"] = ratio(is_right[:, j], is_scored[:, j])
    pairs = list(combinations(range(len(names)), 2)) if len(names) <= MAX_ANNOTATORS_IN_PAIRS else []
    for i, j in pairs:
        both = answers[:, [i, j]]
        both = np.where((both == MISSING).any(axis=1, keepdims=True), MISSING, both)
        own = count_answers(both, counts.shape[1])
        measures[f"observed:{i}:{j}"] = observed_agreement(own)
        measures[f"kappa:{i}:{j}"] = cohen_kappa(both, counts.shape[1])
        measures[f"s:{i}:{j}"] = free_marginal_s(own, n_options)
    found = estimate_measures(measures, groups, resampling)
    notes = [] if pairs else [f"pairs of {len(names)} annotators are left out"]
    if has_gold and not is_labelled.all():
        notes.append(f"accuracy is measured on the {int(is_labelled.sum()):,} questions whose gold is known")
    return AnnotatorReport(
        dataset=dataset,
        annotators=names,
        accuracy=tuple(found[f"accuracy:{name}"] for name in names) if has_gold else (),
        against_others=tuple(found[f"others:{name}"] for name in names),
        mean_accuracy=found.get("mean_accuracy"),
        majority=found.get("majority"),
        held_out=found["held_out"],
        pairs=tuple(
            PairAgreement(names[i], names[j], *(found[f"{kind}:{i}:{j}"] for kind in ("observed", "kappa", "s")))
            for i, j in pairs
        ),
        observed=found["observed"],
        fleiss=found["fleiss"],
        alpha=found["alpha"],
        s=found["s"],
        resampling=resampling,
        notes=(*annotations.notes, *notes),
    )


def _credit_against_others(answers: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1/t where an answer is one of the t most frequent of the others, else 0; shape of `answers`."""
    credit = np.zeros(answers.shape)
    rows = np.arange(len(answers))
    for j in range(answers.shape[1]):
        own = np.maximum(answers[:, j], 0)
        others = counts.copy()
        others[rows, own] -= answers[:, j] != MISSING
        most = others.max(axis=1)
        tied = (others == most[:, None]).sum(axis=1)
        credit[:, j] = np.where((answers[:, j] != MISSING) & (most > 0) & (others[rows, own] == most), 1 / tied, 0)
    return credit
