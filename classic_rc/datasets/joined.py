"""Several datasets as one: training data from several files, with unique ids and one fingerprint for all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from classic_rc.errors import UsageError
from classic_rc.questions import Dataset, Passage, Question, ReadingLog, candidate_texts

_Value = TypeVar("_Value")


def join_datasets(datasets: Sequence[Dataset]) -> Dataset:
    """Join datasets of one task into one, in their order.

    Passages of different datasets stay different objects, even if their texts are equal. If an id of a question or
    a passage occurs in two datasets, all ids get the name of their dataset as a prefix, and a note says so. If the
    datasets have different splits, each question's `meta` names its split.

    Parameters
    ----------
    datasets : sequence of Dataset
        One or more. A single one is returned as it is.

    Returns
    -------
    Dataset
        Its name is ``"a + b"``; its split, reader and span generator are those that all datasets have, else None.
        :attr:`Dataset.parts` has the datasets, for the run record.

    Raises
    ------
    UsageError
        There is no dataset, or the datasets have different tasks, different generated spans or the same questions.

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
        raise UsageError("no dataset to join", field="datasets", found="none", expected="one or more datasets")
    if len(datasets) == 1:
        return datasets[0]
    _check_alike(datasets)
    notes = tuple(note for dataset in datasets for note in dataset.notes)
    parts: list[Sequence[Question]] = list(datasets)
    if shared := _shared_id(datasets):
        _check_distinct(datasets)
        names = _unique_names(datasets)
        parts = [_with_prefix(dataset, name) for dataset, name in zip(datasets, names, strict=True)]
        example = parts[0][0].id
        notes += (f"several datasets have the id {shared}: all ids now begin with their dataset's name: {example}",)
    if len({dataset.split for dataset in datasets}) > 1:
        parts = [_with_split(part, dataset.split) for part, dataset in zip(parts, datasets, strict=True)]
    return Dataset(
        [question for part in parts for question in part],
        name=" + ".join(dataset.name for dataset in datasets),
        split=_common(dataset.split for dataset in datasets),
        reader=_common(dataset.reader for dataset in datasets),
        sources=tuple(source for dataset in datasets for source in dataset.sources),
        notes=notes,
        span_generator=datasets[0].span_generator,
        parts=tuple(datasets),
        log=_join_logs(datasets, parts),
    )


def _join_logs(datasets: Sequence[Dataset], parts: Sequence[Sequence[Question]]) -> ReadingLog | None:
    """Return the logs of reading as one, with the ids that the questions have now; None if no dataset has one."""
    if all(dataset.log is None for dataset in datasets):
        return None
    logs = [dataset.log or ReadingLog() for dataset in datasets]
    places = {
        now.id: log.places[before.id]
        for log, dataset, part in zip(logs, datasets, parts, strict=True)
        for before, now in zip(dataset, part, strict=True)
        if before.id in log.places
    }
    left_out = tuple(error for log in logs for error in log.left_out)
    return ReadingLog(left_out, tuple(error for log in logs for error in log.repaired), places)


def _check_alike(datasets: Sequence[Dataset]) -> None:
    """Raise an error unless all datasets have questions of one task, and candidates of one kind."""
    for what, values in (
        ("questions of different tasks", [dataset.task or "no" for dataset in datasets]),
        ("spans of different generators", [dataset.span_generator for dataset in datasets]),
    ):
        if len(set(values)) > 1:
            found = ", ".join(f"{d.name} has {value}" for d, value in zip(datasets, values, strict=True))
            raise UsageError(
                f"cannot join {what}: {found}", field="datasets", found=found, expected="datasets of one kind"
            )


def _shared_id(datasets: Sequence[Dataset]) -> str | None:
    """Return an id that two datasets use for a question, or for a passage; None if there is none."""
    for ids in (
        [[question.id for question in dataset] for dataset in datasets],
        [[passage.id for passage in dataset.passages] for dataset in datasets],
    ):
        seen: set[str] = set()
        for of_dataset in ids:
            if shared := seen.intersection(of_dataset):
                return min(shared)
            seen.update(of_dataset)
    return None


def _check_distinct(datasets: Sequence[Dataset]) -> None:
    """Raise an error if two datasets have a question with the same id and the same content."""
    owner: dict[tuple[Any, ...], Dataset] = {}
    for dataset in datasets:
        contents = [_content(question) for question in dataset]
        repeated = [content for content in contents if content in owner]
        if repeated:
            other = owner[repeated[0]]
            raise UsageError(
                f"{other.name} and {dataset.name} have {len(repeated):,} questions in common, such as "
                f"{repeated[0][0]}: give every file once",
                field="datasets",
                found=f"{len(repeated)} questions in two datasets",
                expected="datasets without common questions",
            )
        owner |= dict.fromkeys(contents, dataset)


def _content(question: Question) -> tuple[Any, ...]:
    texts = () if question.task.has_spans else tuple(candidate_texts(question.candidates))
    return question.id, question.text, question.passage.text, texts


def _unique_names(datasets: Sequence[Dataset]) -> list[str]:
    """Return the datasets' names; equal names get a number."""
    total, seen = Counter(dataset.name for dataset in datasets), Counter[str]()
    names = []
    for dataset in datasets:
        seen[dataset.name] += 1
        names.append(dataset.name if total[dataset.name] == 1 else f"{dataset.name}#{seen[dataset.name]}")
    return names


def _with_prefix(dataset: Dataset, name: str) -> list[Question]:
    """Return the questions with the name before the ids of questions and passages."""
    passages: dict[int, Passage] = {id(p): replace(p, id=f"{name}/{p.id}") for p in dataset.passages}
    return [replace(q, id=f"{name}/{q.id}", passage=passages[id(q.passage)]) for q in dataset]


def _with_split(questions: Sequence[Question], split: str | None) -> Sequence[Question]:
    """Return the questions with the split in their meta."""
    return questions if split is None else [replace(q, meta={"split": split, **q.meta}) for q in questions]


def _common(values: Iterable[_Value]) -> _Value | None:
    """Return the value if all are equal, else None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
