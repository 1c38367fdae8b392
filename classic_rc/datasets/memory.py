"""Data in memory as a dataset: rows, data frames, Arrow tables, what ``datasets`` loads; and
joined datasets.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from classic_rc.datasets.fields import PROPOSAL_ROWS, parse_fields
from classic_rc.datasets.gold import parse_task
from classic_rc.datasets.known_scorers import with_scorers
from classic_rc.datasets.proposal import unknown_rows_error
from classic_rc.datasets.reading import (
    Options,
    Reading,
    check_skipped,
    content_of,
    gather,
    keep_labelled,
    no_questions_error,
)
from classic_rc.datasets.rows import is_own_row, read_questions
from classic_rc.datasets.splits import canonical_split, select_part, split_in_meta
from classic_rc.errors import DataError, MissingPackageError, UsageError
from classic_rc.io.columns import plain_rows
from classic_rc.io.json import Node, describe_value
from classic_rc.io.values import PLAIN_VALUES, plain_value, read_columns
from classic_rc.questions import Dataset, Passage, Question, ReadingLog, Task

_BATCH = 1000  # rows that are Python objects at a time


class _MemoryTable(NamedTuple):
    """Rows in memory, with what their container knows of them."""

    rows: Iterable[Any]
    name: str | None = None
    split: str | None = None


def from_rows(
    rows: Any,
    *,
    fields: str | Mapping[str, str] | None = None,
    gold_as: str | None = None,
    task: str | Task | None = None,
    name: str | None = None,
    split: str | None = None,
    skip: str | Iterable[str] = (),
    scorer: str | None = None,
) -> Dataset:
    """Read questions from rows in memory.

    Parameters
    ----------
    rows : iterable of mapping, or table
        A list of dicts; a ``Dataset`` of Hugging Face's ``datasets``, or a ``DatasetDict`` with
        `split`; a pandas data frame; or an Arrow table, as pyarrow, polars and others have it. The
        rows have our own schema (:class:`~classic_rc.datasets.own_files.JsonLinesReader`) or a
        Hugging Face schema (RACE, SuperGLUE's MultiRC and ReCoRD, SQuAD, Quoref, ARC, OpenBookQA,
        DREAM, C3, QuAIL, Cosmos QA, LogiQA, BoolQ or Belebele); or any other schema with `fields`.
    fields, gold_as
        See :func:`~classic_rc.datasets.load`.
    task : Task or str, optional
        The task. It overrides the task in the rows.
    name : str, optional
        The name of the dataset; by default the one that ``datasets`` knows, else ``"rows"``.
    split : str, optional
        The split to read, of a ``DatasetDict`` or of rows whose ``split`` says theirs; else the
        name of the split.
    skip : str or iterable of str
    scorer : str, optional
        As in :func:`~classic_rc.datasets.load`.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        The rows are malformed, have no known schema, or do not have the split.
    UsageError
        An option is unknown, `gold_as` does not apply to these rows, or a split must be chosen.

    Examples
    --------
    >>> row = {
    ...     "passage": "It rained.",
    ...     "question": "Did it?",
    ...     "candidates": ["no", "yes"],
    ...     "gold": 1,
    ... }
    >>> from_rows([row])[0].gold
    frozenset({1})
    """
    table = _as_table(rows, split)
    if table is None and isinstance(rows, str | os.PathLike | Mapping):
        is_row = isinstance(rows, Mapping)
        actual = "one mapping" if is_row else "a path"
        fix = "put it in brackets, [row]" if is_row else "read a file with classic_rc.load(path)"
        expected = "mappings, one for each row"
        raise UsageError(f"rows is {actual}: {fix}", field="rows", found=actual, expected=expected)
    table = table or _MemoryTable(rows)
    name = name or table.name or "rows"
    roles = None if fields is None else parse_fields(fields)
    task_override = None if task is None else parse_task(task)
    row_nodes = (_row_node(row, name, number) for number, row in enumerate(table.rows))
    nodes = list(read_columns(row_nodes))
    if not nodes:
        raise DataError("no rows", source=name, expected="at least one row")
    options = Options(split=split, fields=roles, gold_as=gold_as, skip=check_skipped(skip))
    reading = Reading(options)
    if roles is None and not is_own_row(nodes[0].value):
        # Deferred: it imports several other readers.
        from classic_rc.datasets.huggingface import schema_of

        schema = schema_of(nodes[0].value)
        if schema is None:
            raise unknown_rows_error(nodes[:PROPOSAL_ROWS], name, command=False)
        if gold_as is not None:
            raise UsageError(
                f"gold_as={gold_as} needs fields: {schema.name} rows have a fixed gold coding",
                field="gold_as",
                found=gold_as,
                expected="None, or fields too",
            )
        nodes = list(schema.convert(nodes, reading))
    places: dict[str, str] = {}
    questions = gather(
        read_questions(nodes, reading, roles, gold_as, task_override), name, reading, {}, places
    )
    if not questions:
        raise no_questions_error(name, reading.left_out)
    split_of = {question: table.split or split_in_meta(question) for question in questions}
    questions = select_part(questions, split_of, split, canonical_split, "split", name)
    if "unlabelled" in options.skip:
        questions = keep_labelled(questions, name, reading)
    dataset = Dataset(
        questions,
        name=name,
        split=table.split or split,
        reader="rows",
        notes=reading.notes,
        log=reading.log(places),
    )
    return with_scorers(dataset, scorer)


def is_table(value: Any) -> bool:
    """Return whether a value is a data frame, an Arrow table, or a dataset or a ``DatasetDict``
    of ``datasets``.
    """
    if isinstance(value, Mapping):
        return bool(value) and all(map(is_table, value.values()))
    # Series have a stream too, and no columns.
    is_arrow = hasattr(value, "__arrow_c_stream__") and (
        hasattr(value, "schema") or hasattr(value, "columns")
    )
    return is_arrow or _comes_from(value, "pandas", "columns") or _is_hugging(value)


def _as_table(value: Any, split: str | None) -> _MemoryTable | None:
    """Return the rows of a table, or of the table of a split; None if the value is something
    else.
    """
    if not is_table(value):
        return None
    if isinstance(value, Mapping):
        tables = {str(name): table for name, table in value.items()}
        names = ", ".join(tables)
        split_names = [
            n for n in tables if split is None or canonical_split(n) == canonical_split(split)
        ]
        if not split_names:
            raise DataError(
                "no such split", source="rows", field="split", found=names, expected=repr(split)
            )
        if len(split_names) > 1:
            example = f"classic_rc.load(data, split={list(tables)[-1]!r})"
            raise UsageError(
                f"choose one of the splits {names}: {example}",
                field="split",
                found=str(split),
                expected=f"one of {names}",
            )
        table = _as_table(tables[split_names[0]], None)
        return table and table._replace(split=split_names[0])
    if _is_hugging(value):
        info = value.info
        split_name = None if value.split is None else str(value.split)
        return _MemoryTable(
            _rows_of_hugging(value), info.dataset_name or info.builder_name, split_name
        )
    return _MemoryTable(
        _rows_of_frame(value) if _comes_from(value, "pandas", "columns") else _rows_of_arrow(value)
    )


def _comes_from(value: Any, package: str, attribute: str) -> bool:
    """Return whether a value's class is one of a package, which need not be installed, and has
    an attribute.
    """
    packages = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return package in packages and hasattr(value, attribute)


def _is_hugging(value: Any) -> bool:
    return _comes_from(value, "datasets", "with_format") and not isinstance(value, Mapping)


def _rows_of_hugging(dataset: Any) -> Iterator[dict[str, Any]]:
    schema = None if dataset.features is None else dataset.features.arrow_schema
    for table in dataset.with_format("arrow").iter(_BATCH):
        yield from plain_rows(schema or table.schema, table.to_batches())


def _rows_of_arrow(table: Any) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingPackageError(
            "pyarrow", needed_for="reading an Arrow table", extra="hf"
        ) from error
    reader = pyarrow.RecordBatchReader.from_stream(table)
    _check_names(reader.schema.names)
    return plain_rows(reader.schema, _split_batches(reader))


def _split_batches(batches: Iterable[Any]) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, len(batch), _BATCH):
            yield batch.slice(start, _BATCH)


def _rows_of_frame(frame: Any) -> list[dict[str, Any]]:
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    _check_names(map(str, frame.columns))
    return list(frame.astype(object).to_dict("records"))


def _check_names(names: Iterable[str]) -> None:
    """Refuse columns of one name: a row as a mapping would have the last one only."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problem, expected = "two columns have one name", "unique names"
            raise DataError(problem, source="rows", found=repr(name), expected=expected)
        seen.add(name)


def _row_node(row: Any, source: str, number: int) -> Node:
    node = Node(row, source, f"row {number}")
    if not isinstance(row, Mapping):
        raise node.error("not a row", found=describe_value(row), expected="a mapping")
    values = {}
    for key, value in row.items():
        try:
            values[str(key)] = plain_value(value)
        except TypeError as error:
            problem, actual = "unknown type of a value", str(error)
            raise node.error(problem, field=str(key), found=actual, expected=PLAIN_VALUES) from None
    return node.with_value(values)


# --------------------------------------------------------------------------------------------------
# Several datasets as one.


_Value = TypeVar("_Value")


def join_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Join datasets of one task into one, in their order.

    Passages of different datasets stay different objects, even if their texts are equal. If an id
    of a question or a passage occurs in two datasets, all ids get the name of their dataset as a
    prefix, and a note says so. If the datasets have different splits, each question's `meta` names
    its split.

    Parameters
    ----------
    datasets : sequence of Dataset
        One or more. A single one is returned as it is.

    Returns
    -------
    Dataset
        Its name is ``"a + b"``; its split, reader and span generator are those that all datasets
        have, else None. :attr:`Dataset.parts` has the datasets, for the run record.

    Raises
    ------
    UsageError
        There is no dataset, or the datasets have different tasks, different generated spans or the
        same questions.

    Examples
    --------
    >>> from classic_rc import load
    >>> lessons = load("sample:single-choice")
    >>> first, rest = lessons[:4], lessons[4:]
    >>> joined = join_datasets([first, rest])
    >>> joined.name, len(joined), joined.fingerprint == lessons.fingerprint
    ('sample:single-choice + sample:single-choice', 24, True)
    """
    if not datasets:
        raise UsageError(
            "no dataset to join", field="datasets", found="none", expected="one or more datasets"
        )
    if len(datasets) == 1:
        return datasets[0]
    _check_alike(datasets)
    notes = tuple(note for dataset in datasets for note in dataset.notes)
    question_lists: list[Sequence[Question]] = list(datasets)
    if shared := _shared_id(datasets):
        _check_distinct(datasets)
        names = _unique_names(datasets)
        question_lists = [
            _with_prefix(dataset, name) for dataset, name in zip(datasets, names, strict=True)
        ]
        example = question_lists[0][0].id
        notes += (
            f"several datasets have the id {shared}: all ids now begin with their dataset's name: "
            f"{example}",
        )
    if len({dataset.split for dataset in datasets}) > 1:
        question_lists = [
            _with_split(questions, dataset.split)
            for questions, dataset in zip(question_lists, datasets, strict=True)
        ]
    questions = list(itertools.chain.from_iterable(question_lists))
    sources = itertools.chain.from_iterable(dataset.sources for dataset in datasets)
    are_proposed = any(dataset.scorers_proposed for dataset in datasets)
    return Dataset(
        questions,
        name=" + ".join(dataset.name for dataset in datasets),
        split=_common(dataset.split for dataset in datasets),
        reader=_common(dataset.reader for dataset in datasets),
        sources=tuple(sources),
        notes=notes,
        span_generator=datasets[0].span_generator,
        scorers_proposed=are_proposed,
        parts=tuple(datasets),
        log=_join_logs(datasets, question_lists),
    )


def _join_logs(
    datasets: Sequence[Dataset], question_lists: Sequence[Sequence[Question]]
) -> ReadingLog | None:
    """Return the logs of reading as one, with the ids that the questions have now; None if no
    dataset has one.
    """
    if all(dataset.log is None for dataset in datasets):
        return None
    logs = [dataset.log or ReadingLog() for dataset in datasets]
    places: dict[str, str] = {}
    for log, dataset, questions in zip(logs, datasets, question_lists, strict=True):
        for before, now in zip(dataset, questions, strict=True):
            if before.id in log.places:
                places[now.id] = log.places[before.id]
    left_out = tuple(error for log in logs for error in log.left_out)
    return ReadingLog(left_out, tuple(error for log in logs for error in log.repaired), places)


def _check_alike(datasets: Sequence[Dataset]) -> None:
    for what, values in (
        ("questions of different tasks", [dataset.task or "no" for dataset in datasets]),
        ("spans of different generators", [dataset.span_generator for dataset in datasets]),
    ):
        if len(set(values)) > 1:
            names = [dataset.name for dataset in datasets]
            pairs = zip(names, values, strict=True)
            differences = ", ".join(f"{name} has {value}" for name, value in pairs)
            raise UsageError(
                f"cannot join {what}: {differences}",
                field="datasets",
                found=differences,
                expected="datasets of one kind",
            )


def _shared_id(datasets: Sequence[Dataset]) -> str | None:
    """Return an id that two datasets use for a question, or for a passage; None if there is
    none.
    """
    for lists in (datasets, [dataset.passages for dataset in datasets]):
        seen: set[str] = set()
        for members in lists:
            ids = {member.id for member in members}
            if shared := seen & ids:
                return min(shared)
            seen |= ids
    return None


def _check_distinct(datasets: Sequence[Dataset]) -> None:
    """Raise an error if two datasets have a question with the same id and the same content."""
    owner: dict[tuple[Any, ...], Dataset] = {}
    for dataset in datasets:
        contents = [(question.id, *content_of(question)) for question in dataset]
        repeated = [content for content in contents if content in owner]
        if repeated:
            example, n = repeated[0], len(repeated)
            common = f"{n:,} questions in common, such as {example[0]}"
            raise UsageError(
                f"{owner[example].name} and {dataset.name} have {common}: give each file once",
                field="datasets",
                found=f"{n} questions in two datasets",
                expected="datasets without common questions",
            )
        owner |= dict.fromkeys(contents, dataset)


def _unique_names(datasets: Sequence[Dataset]) -> list[str]:
    names = [dataset.name for dataset in datasets]
    numbers: Counter[str] = Counter()
    unique_names = []
    for name in names:
        numbers[name] += 1
        is_unique = names.count(name) == 1
        unique_names.append(name if is_unique else f"{name}#{numbers[name]}")
    return unique_names


def _with_prefix(dataset: Dataset, name: str) -> list[Question]:
    passages: dict[int, Passage] = {}
    for passage in dataset.passages:
        passages[id(passage)] = replace(passage, id=f"{name}/{passage.id}")
    questions = []
    for question in dataset:
        passage = passages[id(question.passage)]
        questions.append(replace(question, id=f"{name}/{question.id}", passage=passage))
    return questions


def _with_split(questions: Sequence[Question], split: str | None) -> Sequence[Question]:
    if split is None:
        return questions
    return [replace(question, meta={"split": split, **question.meta}) for question in questions]


def _common(values: Iterable[_Value]) -> _Value | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
