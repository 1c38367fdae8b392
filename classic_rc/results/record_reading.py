"""Read run records: every dataset's results, checked against themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.fetch import is_hub_name
from classic_rc.datasets.registry import load
from classic_rc.errors import UsageError, unknown_name
from classic_rc.io.json import Node, describe_value, parse_json
from classic_rc.io.text import read_text
from classic_rc.metrics.base import HasTask, metric_of_task, metrics_for
from classic_rc.parameters import is_number
from classic_rc.predictions import ANSWER_COUNTS, AnswerCounts, AnswerForm
from classic_rc.questions import Dataset, Task
from classic_rc.results.outcomes import Block, Outcomes, Row
from classic_rc.results.resampling import Interval, Resampling
from classic_rc.results.shared_results import SharedResults
from classic_rc.results.signature import Signature
from classic_rc.results.significance import Significance
from classic_rc.text.scorers import SCORERS

MAX_DRAWS = 10**9
"""More resamples or swaps than anyone waits for: a record with a larger number is damaged."""

_Kind = TypeVar("_Kind")

_RUN_FACTS = ("given", "dataset", "protocol", "published")


def read_results(path: str | Path) -> list[SharedResults]:
    """Read every dataset of a run record, with all its rows.

    Rows that do not answer the same questions, or numbers that contradict each other, are a
    DataError.
    """
    source = str(path)
    root = Node(parse_json(read_text(path), source), source)
    facts = ("version", "environment", "interrupted")
    software = {name: root.value.get(name) for name in facts} if root.has("runs") else {}
    return [_read_contest(run, software, Path(path).parent) for run in root.items("runs")]


def read_row(path: str, name: str, dataset: Dataset) -> Row:
    """Return a row of a run record, with its outcomes on a dataset's questions."""
    by_content = {results.fingerprint: results for results in read_results(path)}
    if (record_results := by_content.get(dataset.fingerprint)) is None:
        raise UsageError(
            f"the record {path} has no results on {dataset.name}: its questions are others",
            field="solver",
            found=path,
            expected=f"a record of the questions with the fingerprint {dataset.fingerprint[:8]}",
        )
    rows = {row.name: row for row in record_results.systems}
    if name not in rows:
        raise unknown_name(f"row of {path}", name, rows)
    return rows[name]


def _read_contest(run: Node, software: Mapping[str, Any], folder: Path) -> SharedResults:
    dataset = run.child("dataset")
    subject = read_task(dataset)
    n_questions = dataset.integer("questions")
    if n_questions < 1:
        raise dataset.error(
            "no questions", field="questions", found=_short(n_questions), expected="1 or more"
        )
    groups, group = _read_groups(run, "passage_groups", n_questions), None
    if run.has("resampled_groups"):
        resampled = run.child("resampled_groups")
        groups, group = _read_groups(resampled, "groups", n_questions), resampled.text("key")
    ids, rows = read_rows(run, subject, n_questions)
    missing = run.items("missing") if run.has("missing") else ()
    resampling = read_resampling(run)
    if resampling is not None:
        resampling = replace(resampling, n_groups=int(groups.max()) + 1, group=group)
    facts = {name: run.value.get(name) for name in _RUN_FACTS}
    results = SharedResults(
        dataset=dataset.text("name"),
        fingerprint=dataset.text("fingerprint"),
        task=subject.task,
        find_groups=lambda: groups,
        systems=tuple(rows),
        group=group,
        groupings=_read_groupings(run, n_questions),
        by=run.child("grouping").text("key") if run.has("grouping") else None,
        primary_metric=_read_primary(dataset, rows),
        resampling=resampling,
        tests=read_significance(run),
        missing={entry.text("name"): entry.text("reason") for entry in missing},
        facts={**facts, **software},
        read=_reader_of(dataset.value.get("read_with"), folder),
        ids=tuple(ids),
        scorers=subject.scorers,
    )
    for node, row in zip(run.items("rows"), rows, strict=True):
        _check_row(node, _consequences(node, row, dataset, results.shown_groups))
    return results


def _read_primary(dataset: Node, rows: Sequence[Row]) -> str | None:
    """Return the name of the recorded primary metric, or None if not all rows have it."""
    name = dataset.text("primary_metric") if dataset.has("primary_metric") else None
    return name if all(name in row.statistics for row in rows) else None


def _reader_of(options: Any, folder: Path) -> Callable[[], Dataset] | None:
    """Return the function that reads the data of a record in a folder again."""
    path = options.get("path") if isinstance(options, dict) else None
    if not isinstance(path, str) or is_hub_name(path):
        return None
    answers = options.get("answers") and folder / options["answers"]
    place = folder / path
    return partial(
        load, **{**options, "path": place if place.exists() else path, "answers": answers}
    )


_READ: Mapping[str, Callable[[Node, str], Any]] = {
    "str": Node.text,
    "bool": Node.flag,
    "int": Node.integer,
    "float": lambda node, key: node.get(key, "a number"),
    "tuple[str, ...]": lambda node, key: tuple(node.texts(key)),
    "Mapping[str, Any]": lambda node, key: _read_object(node, key),
    "Interval": lambda node, key: Interval(*node.sequence(key)),
}
"""How a value is read, by the annotation of its field."""


def read_fields(node: Node, kind: type[_Kind], **values: Any) -> _Kind:
    """Return a dataclass read from an object. `values` are fields that are known already, and
    optional ones may be missing.
    """
    for declared_field in fields(kind):  # type: ignore[arg-type]
        name, declared = declared_field.name, str(declared_field.type)
        if name in values:
            continue
        has_default = declared_field.default is not MISSING
        is_required = not has_default and not declared.endswith(" | None")
        if node.has(name) or is_required:
            read = _READ[declared.removesuffix(" | None")]
            values[name] = read(node, name)
        elif not has_default:
            values[name] = None
    return kind(**values)


def read_resampling(run: Node) -> Resampling | None:
    """Read how the intervals of a run were made, or None."""
    if not run.has("resampling"):
        return None
    recorded = run.child("resampling")
    level = recorded.get("level", "a number")
    if not is_number(level) or not 0 < level < 1:
        raise recorded.error(
            "not a level", field="level", found=describe_value(level), expected="between 0 and 1"
        )
    n_groups = recorded.integer("groups") if recorded.has("groups") else 0
    draws = {"n": _read_draws(recorded, "resamples"), "seed": recorded.integer("seed")}
    return read_fields(
        recorded, Resampling, n_groups=n_groups, level=float(level), unit="passages", **draws
    )


def read_significance(run: Node) -> Significance | None:
    """Read how the tests of a run were made, or None."""
    if not run.has("significance"):
        return None
    recorded = run.child("significance")
    others = recorded.texts("others") if recorded.has("others") else ()
    draws = {"n": _read_draws(recorded, "n"), "seed": recorded.integer("seed")}
    return read_fields(
        recorded, Significance, baselines=(recorded.text("baseline"), *others), **draws
    )


def _read_draws(node: Node, key: str) -> int:
    number = node.integer(key)
    if not 0 < number <= MAX_DRAWS:
        actual = describe_value(number)
        raise node.error(
            "not a number of resamples", field=key, found=actual, expected=f"1 to {MAX_DRAWS:,}"
        )
    return number


def _read_groups(node: Node, key: str, n_questions: int) -> NDArray[np.int64]:
    """Return the group of each question, shape (n_questions,)."""
    listed = node.integers(key)
    if len(listed) != n_questions or set(listed) != set(range(len(set(listed)))):
        raise node.error(
            "passage groups do not match the questions",
            field=key,
            found=f"{len(listed)} entries",
            expected=f"{_short(n_questions)} group numbers, one per question, counted from 0 "
            "without gaps",
        )
    return np.array(listed, dtype=np.int64)


def _read_groupings(run: Node, n_questions: int) -> dict[str, dict[str, NDArray[np.bool_]]]:
    """Return the masks of the recorded groups, by key and value; those of the rows' own groups
    come first.
    """
    masks = {}
    if run.has("grouping"):
        grouping = run.child("grouping")
        masks[grouping.text("key")] = _read_masks(grouping.child("groups"), n_questions)
    others = run.child("groupings") if run.has("groupings") else Node({}, run.source)
    return {**masks, **{key: _read_masks(others.child(key), n_questions) for key in others.value}}


def _read_masks(groups: Node, n_questions: int) -> dict[str, NDArray[np.bool_]]:
    values = groups.value if isinstance(groups.value, dict) else ()
    return {value: _read_mask(groups, value, n_questions) for value in values}


def _read_mask(node: Node, key: str, n_questions: int) -> NDArray[np.bool_]:
    """Return the mask of recorded positions of questions."""
    positions = node.integers(key)
    if any(not 0 <= position < n_questions for position in positions):
        raise node.error(
            "no such question",
            field=key,
            found=str(max(positions)),
            expected=f"below {n_questions}",
        )
    return np.isin(np.arange(n_questions), positions)


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**18 else describe_value(number)


class RecordedTask(NamedTuple):
    """What decides how the answers of a recorded run were measured."""

    task: Task
    scorers: tuple[str, ...]


def read_task(dataset: Node) -> RecordedTask:
    """Return the task and the scorers that a record's entry about a dataset has."""
    name = dataset.text("task")
    if name not in set(Task):
        raise dataset.error(
            "unknown task", field="task", found=repr(name), expected=" or ".join(Task)
        )
    scorers = tuple(dataset.texts("scorers")) if dataset.has("scorers") else ()
    for scorer in scorers:
        if scorer not in SCORERS:
            raise dataset.error(
                "unknown scorer", field="scorers", found=scorer, expected=", ".join(SCORERS)
            )
    return RecordedTask(Task(name), scorers)


def read_rows(run: Node, subject: HasTask, n_questions: int) -> tuple[list[str], list[Row]]:
    """Read rows and the ids of their questions.

    :func:`~classic_rc.results.record.rows_to_plain` writes them.

    Intervals and p-values are not restored: they follow from the outcomes. A row may lack fields
    that records did not always have. Rows that do not answer the same questions are a DataError.
    """
    rows: list[Row] = []
    first_ids: list[str] = []
    for row in run.items("rows"):
        ids = list(_read_object(row, "outcomes"))
        outcomes = row.child("outcomes")
        first_ids = first_ids if rows else ids
        if len(ids) != n_questions or ids != first_ids:
            raise row.error(
                "the rows have outcomes for different questions",
                field="outcomes",
                found=f"{len(ids)} questions" if len(ids) != len(first_ids) else "different ids",
                expected=f"the same {n_questions} questions in every row",
            )
        rows.append(_read_row(row, outcomes, subject))
    return first_ids, rows


def _read_object(node: Node, key: str) -> dict[str, Any]:
    value = node.get(key, "an object")
    if isinstance(value, dict):
        return value
    raise node.error("wrong type", field=key, found=describe_value(value), expected="an object")


def _read_row(row: Node, outcomes: Node, subject: HasTask) -> Row:
    block = row.text("block") if row.has("block") else str(Block.UNTRAINED)
    if block not in set(Block):
        raise row.error(
            "unknown block", field="block", found=repr(block), expected=", ".join(Block)
        )
    params = _read_object(row, "params") if row.has("params") else {}
    tuned_params = _read_object(row, "tuned_params") if row.has("tuned_params") else {}
    seconds = _read_object(row, "seconds") if row.has("seconds") else {}
    tuned_on = row.text("tuned_on") if row.has("tuned_on") else None
    # JSON has lists for the tuple of one parameter too; a list has the values of the folds.
    by_fold = tuned_on is not None and re.fullmatch(r"cv\d+(/.*)?", tuned_on) is not None
    if not by_fold:
        tuned_params = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in tuned_params.items()
        }
    orders = tuple(row.sequence("option_orders")) if row.has("option_orders") else None
    has_copies = row.has("copied_questions")
    copied = _read_mask(row, "copied_questions", len(outcomes.value)) if has_copies else None
    answers = _read_answer_counts(row.child("answers")) if row.has("answers") else None
    return read_fields(
        row,
        Row,
        params=params,
        expected=row.flag("expected"),
        threshold=_read_threshold(row),
        tuned_params=tuned_params,
        option_orders=orders,
        block=Block(block),
        copied=copied,
        answers=answers,
        seconds={step: time for step, time in seconds.items() if is_number(time)},
        label=row.text("name") if row.has("name") else None,
        outcomes=_read_outcomes(row, outcomes, subject),
    )


def _read_threshold(row: Node) -> float | list[float] | None:
    threshold = row.value.get("threshold")
    numbers = threshold if isinstance(threshold, list) else [] if threshold is None else [threshold]
    if not all(map(is_number, numbers)):
        actual = describe_value(threshold)
        raise row.error(
            "not a threshold",
            field="threshold",
            found=actual,
            expected="a number, or one for each fold",
        )
    return threshold


def _read_answer_counts(answers: Node) -> AnswerCounts:
    form_nodes = answers.child("forms") if answers.has("forms") else Node({}, answers.source)
    answered, unparsed, empty = map(answers.integer, ANSWER_COUNTS)
    forms = {}
    for name in form_nodes.value:
        node = form_nodes.child(name)
        forms[name] = AnswerForm(node.integer("answers"), tuple(node.texts("examples")))
    models = tuple(answers.texts("models")) if answers.has("models") else ()
    return AnswerCounts(answered, unparsed, empty, forms, models)


def _read_outcomes(row: Node, outcomes: Node, subject: HasTask) -> Outcomes:
    first = next(iter(outcomes.value), None)
    measured = () if first is None else outcomes.child(first).child("statistics").value
    # A row has the metrics that its table shows, and those that the run named.
    run_metrics = [metric_of_task(subject, name) for name in measured]
    metrics = dict.fromkeys([*metrics_for(subject), *run_metrics])
    n_questions = len(outcomes.value)
    selections = row.child("selections") if row.has("selections") else Node({}, row.source)
    evidence = None
    if selections.has("evidence"):
        positions = set(selections.integers("evidence"))
        evidence = np.array([i in positions for i in range(n_questions)], dtype=np.bool_)
    statistics = {metric.name: _read_statistics(outcomes, metric.name) for metric in metrics}
    n_tied = [_count_of(outcomes, id_, "tied") for id_ in outcomes.value]
    return Outcomes(
        statistics=statistics,
        n_tied=np.array(n_tied, dtype=np.int64),
        n_selected=_read_counts(selections, "selected", n_questions),
        n_candidates=_read_counts(selections, "candidates", n_questions).astype(np.int64),
        evidence=evidence,
        answers=tuple(outcome.get("answer") for outcome in outcomes.value.values()),
    )


_MOST = 2**53
"""Larger counts are not exact as floating-point numbers, and no question has as many candidates."""


def _count_of(outcomes: Node, id_: str, name: str) -> int:
    # Rows have many outcomes: only a wrong one is worth a node, for its place in the error.
    outcome = outcomes.value[id_]
    count = outcome.get(name) if isinstance(outcome, dict) else None
    if type(count) is int and 0 <= count <= _MOST:
        return count
    node = outcomes.child(id_)
    raise node.error(
        "not a count",
        field=name,
        found=describe_value(node.get(name, "a count")),
        expected=f"0 to {_MOST}",
    )


def _read_counts(node: Node, key: str, n_questions: int) -> NDArray[np.float64]:
    """Return the counts of all questions, shape (n_questions,); zeros if a record has none."""
    counts = node.sequence(key) if node.has(key) else [0] * n_questions
    if len(counts) != n_questions or not all(
        is_number(count) and 0 <= count <= _MOST for count in counts
    ):
        raise node.error(
            "invalid counts", field=key, found=repr(counts)[:40], expected=f"{n_questions} counts"
        )
    return np.array(counts, dtype=np.float64)


_EQUAL = 1e-9
"""Numbers that differ by less, relative or absolute, may come from other versions of NumPy."""


def _check_row(row: Node, consequences: Iterable[tuple[Node, str, Any]]) -> None:
    """Raise an error unless a row has what follows from its outcomes and agrees with its
    signature.
    """
    for node, name, expected in consequences:
        recorded = node.get(name)
        is_same = str(recorded) == str(expected)  # a signature has numbers as texts
        if is_number(expected) and is_number(recorded):
            is_same = math.isclose(recorded, expected, rel_tol=_EQUAL, abs_tol=_EQUAL)
        if not is_same:
            raise node.error(
                f"row {row.get('name')!r} contradicts itself: was the record edited?",
                field=name,
                found=str(recorded),
                expected=f"{expected}, which follows from its outcomes or its signature",
            )


def _consequences(
    node: Node, row: Row, dataset: Node, groups: Mapping[str, NDArray[np.bool_]]
) -> Iterator[tuple[Node, str, Any]]:
    """Yield the fields whose values follow from others, each with its place and that value."""
    parts = [(node, np.ones(len(row.outcomes.n_tied), dtype=np.bool_))]
    if node.has("groups"):
        group_nodes = node.child("groups")
        parts += [(group_nodes.child(value), mask) for value, mask in groups.items()]
    for place, mask in parts:
        yield place, "questions", int(mask.sum())
        metrics = place.child("metrics")
        yield from ((metrics, name, value) for name, value in row.metrics(mask).items())
    if row.ties:
        yield node, "tie_rate", row.tie_rate
    try:
        signature = Signature.parse(row.signature)
    except ValueError:
        raise node.error("not a signature", field="signature", found=row.signature) from None
    yield node, "short_signature", signature.short
    yield from ((node, name, signature.parts.get(name)) for name in ("solver", "variant", "ties"))
    if row.copied is not None or node.has("copied") or "copied" in signature.parts:
        yield node, "copied", None if row.copied is None else int(row.copied.sum())
        if row.runs == 1:
            yield node, "copied", signature.parts.get("copied")
    for name, part_name in (
        ("fingerprint", "data"),
        ("questions", "questions"),
        ("split", "split"),
    ):
        yield dataset, name, signature.parts.get(part_name)


def _read_statistics(outcomes: Node, metric: str) -> NDArray[np.float64]:
    """Return a metric's statistics for all questions, of one run or of several; see
    :class:`Outcomes`.
    """
    # Valid statistics are read at once. Only of others does the loop look for the first wrong one.
    with suppress(AttributeError, LookupError, OverflowError, TypeError, ValueError):
        rows = [outcome["statistics"][metric] for outcome in outcomes.value.values()]
        by_run = [row if isinstance(row[0], list) else [row] for row in rows]
        types = {type(number) for runs in by_run for run in runs for number in run}
        if types <= {int, float}:  # NumPy would take true and "1" for numbers too
            array = np.array(rows, dtype=np.float64)
            if array.ndim in (2, 3) and array.size and np.isfinite(array).all():
                return array
    width = 0
    for id_ in outcomes.value:
        node = outcomes.child(id_).child("statistics")
        row = node.sequence(metric)
        width = width or len(row) or 1
        if len(row) != width or not all(map(is_number, row)):
            raise node.error(
                "invalid statistics",
                field=metric,
                found=repr(row)[:40],
                expected=f"{width} numbers",
            )
    raise outcomes.error("invalid statistics", field=metric, expected="numbers of each question")
