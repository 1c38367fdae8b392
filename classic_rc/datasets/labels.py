"""Labels of questions from a file: skills, kinds of reasoning, whatever annotators say; several a question."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classic_rc.datasets.label_forms import is_row, json_lines, label_object, label_rows, label_table
from classic_rc.datasets.label_releases import is_mctest_skills, is_race_types, mctest_skills, race_types
from classic_rc.datasets.labelled import LabelFile, LabelledQuestion
from classic_rc.errors import DataError, UsageError
from classic_rc.files import read_text
from classic_rc.io.json import Node, parse_json
from classic_rc.questions import Dataset
from classic_rc.text.categories import read_categories


@dataclass(frozen=True, eq=False)
class Labels:
    """What annotators say of questions under one name.

    Parameters
    ----------
    name : str
        What the labels are: ``"skills"``.
    of_question : mapping of str to frozenset of str
        By question id. Nobody labelled the questions that are left out; an empty set says that there is none.
    order : tuple of str
        Labels in the order of tables, if they have one.
    source : str
        The file.
    """

    name: str
    of_question: Mapping[str, frozenset[str]]
    order: tuple[str, ...] = ()
    source: str = "labels"


def read_labels(
    path: str | Path, dataset: Dataset, *, others: bool = False, notes: list[str] | None = None
) -> tuple[Labels, ...]:
    """The labels that a file has for the questions of a dataset.

    Read are, found by content:

    * a table with a header (CSV or TSV): a column ``id``, and a column of labels for each name, several in a cell
      separated by semicolons; an empty cell is no entry, and ``-`` says that there is none;
    * JSON lines, or a list: objects with ``id`` and, by name, a label or a list of them;
    * one JSON object: by question id a label, a list of them, or an object as above without ``id``; without names
      they are called ``labels``;
    * the released skills of MCTest (Sugawara et al. 2017) and the released question types of RACE;
    * a folder of categories, as Smith et al. 2015 released them.

    Parameters
    ----------
    path : path-like
    dataset : Dataset
    others : bool
        Pass over labels of questions that are not in the dataset; else they are an error, but for the released
        files, which hold questions of several.
    notes : list of str, optional
        Gains what is to be told: labels passed over.

    Returns
    -------
    tuple of Labels
        One for each name, in the file's order.

    Raises
    ------
    DataError
        The file is malformed, names a question twice, or has labels of questions that are not there.
    """
    found = _folder(path) if Path(path).is_dir() else _parse(read_text(path), str(path))
    known = dataset.by_id
    foreign = [labelled for labelled in found.questions if labelled.id not in known]
    if len(foreign) == len(found.questions):
        raise _foreign(foreign, dataset, found, "no question of these data in it")
    passages = {question.passage.id for question in dataset}
    wrong = [q for q in foreign if q.passage in passages] if found.of_several else foreign
    if wrong and not others:
        raise _foreign(wrong, dataset, found, "labels of a question that is not in these data")
    questions = [labelled for labelled in found.questions if labelled.id in known]
    for labelled in questions:
        if fault := labelled.fault(known[labelled.id]):
            raise DataError(
                f"this is not question {labelled.id} of {dataset.name}",
                source=found.source,
                where=labelled.where,
                found=fault[0],
                expected=fault[1],
            )
    if notes is not None:
        passed_over = [f"{len(foreign):,} labelled questions are not in {dataset.name}"] if foreign else []
        notes += [f"{found.source}: {note}" for note in (*passed_over, *found.notes)]
    return tuple(
        Labels(
            name,
            {labelled.id: frozenset(labelled.labels[name]) for labelled in questions if name in labelled.labels},
            found.orders.get(name, ()),
            Path(found.source).name,
        )
        for name in found.names
    )


def check_names(labels: Sequence[Labels]) -> None:
    """Refuse labels of several files under one name.

    Raises
    ------
    UsageError
    """
    names = [own.name for own in labels]
    for name in names:
        if names.count(name) > 1:
            files = " and ".join(own.source for own in labels if own.name == name)
            raise UsageError(f"{files} both have labels called {name!r}: rename them in one")


def _parse(text: str, source: str) -> LabelFile:
    """A file's entries, its form found by its content."""
    content = text.strip()
    if not content.startswith(("{", "[")):
        return label_table(text, source)
    if content.startswith("{") and content.partition("\n")[0].rstrip().endswith("}"):
        rows = list(json_lines(text, source))
        if len(rows) > 1 or is_row(rows[0]):
            return _of_rows(rows, source)
    root = Node(parse_json(text, source), source)
    return label_object(root, source) if isinstance(root.value, dict) else _of_rows(list(root.elements()), source)


def _of_rows(rows: list[Node], source: str) -> LabelFile:
    first = rows[0].value if rows else None
    if is_mctest_skills(first):
        return mctest_skills(rows, source)
    return race_types(rows, source) if is_race_types(first) else label_rows(rows, source)


def _folder(path: str | Path) -> LabelFile:
    of_question = read_categories(path).of_question
    entries = [
        LabelledQuestion(id_, f"question {id_}", {"categories": tuple(sorted(of_question[id_]))})
        for id_ in sorted(of_question)
    ]
    return LabelFile(str(path), entries)


def _foreign(labelled: Sequence[LabelledQuestion], dataset: Dataset, found: LabelFile, problem: str) -> DataError:
    first = labelled[0]
    near = difflib.get_close_matches(first.id, dataset.by_id, n=2, cutoff=0.6)
    example = near or [next(iter(dataset.by_id), "")]
    more = f" and {len(labelled) - 1:,} more" if len(labelled) > 1 else ""
    partly = len(labelled) < len(found.questions)
    return DataError(
        problem,
        source=found.source,
        where=first.where,
        found=f"question {first.id!r}{more}",
        expected=f"ids of {dataset.name}, such as {' or '.join(map(repr, example))}",
        hint="Where the file is about other data too, pass over them (--other-questions)" if partly else None,
    )
