"""Labels of questions, read from tables, JSON, folders of categories, and the releases for
MCTest and RACE.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node, describe_value, json_lines, parse_json, table_rows
from classic_rc.io.text import read_text
from classic_rc.questions import Dataset, Question
from classic_rc.text.annotations import read_categories

_IDS = ("id", "question_id")
_DEFAULT_NAME = "labels"
_NO_LABEL = "-"
_LABEL_FORMS = "a label, or a list of labels"

MCTEST_SKILLS = (
    "object tracking",
    "mathematical reasoning",
    "coreference resolution",
    "logical reasoning",
    "analogy",
    "causal relation",
    "spatiotemporal relation",
    "ellipsis",
    "bridging",
    "elaboration",
    "meta knowledge",
    "schematic clause relation",
    "punctuation",
)
"""The prerequisite skills of Sugawara et al. 2017 (ACL), indexed by their number in the released
annotation.
"""

_NO_SKILL, _NONSENSE = 13, 14

_LETTERS = "ABCD"


@dataclass(frozen=True, eq=False)
class Labels:
    """One kind of labels of questions, such as skills."""

    name: str  # the kind of labels: "skills"
    # By question id. A missing question was not labelled; an empty set means that no label applies.
    of_question: Mapping[str, frozenset[str]]
    order: tuple[str, ...] = ()  # the order of the labels in tables, if they have one
    source: str = "labels"  # the file


def read_labels(
    path: str | Path, dataset: Dataset, *, notes: list[str] | None = None
) -> tuple[Labels, ...]:
    """Read the labels of a dataset's questions from a file.

    The content determines the form:

    * a table with a header (CSV or TSV): a column ``id``, and one column of labels per name.
      Semicolons separate several labels in a cell; an empty cell is not an entry, and ``-`` means
      that no label applies;
    * JSON lines, or a JSON list: objects with ``id`` and, by name, a label or a list of labels;
    * one JSON object: by question id a label, a list of labels, or an object as above without
      ``id``. Labels without a name get the name ``labels``;
    * the released skills of MCTest (Sugawara et al. 2017) and the released question types of RACE;
    * a folder of categories in the form that Smith et al. 2015 released.

    The result has one for each name, in the file's order. `notes` receives what a user should know,
    such as the number of labels of other questions, which are skipped. A file that labels none of
    the dataset's questions, or one twice, is a DataError.
    """
    source = str(path)
    file_labels = _read_folder(path) if Path(path).is_dir() else _parse(read_text(path), source)
    names = dict.fromkeys(name for labelled in file_labels.questions for name in labelled.labels)
    if not names:
        raise DataError("no labels", source=source, expected="an id and labels for each question")
    by_id: dict[str, LabelledQuestion] = {}
    for labelled in file_labels.questions:
        if by_id.setdefault(labelled.id, labelled) is not labelled:
            raise DataError(
                "duplicate question id",
                source=source,
                where=labelled.where,
                found=repr(labelled.id),
                expected="one entry with all labels of the question",
            )
    question_of = dataset.by_id
    unknown = [labelled for labelled in file_labels.questions if labelled.id not in question_of]
    if len(unknown) == len(by_id):
        raise _unknown_questions_error(unknown, dataset, source)
    questions = [labelled for labelled in file_labels.questions if labelled.id in question_of]
    for labelled in questions:
        if fault := labelled.fault(question_of[labelled.id]):
            problem = f"question {labelled.id} differs from the one in {dataset.name}"
            raise DataError(
                problem, source=source, where=labelled.where, found=fault[0], expected=fault[1]
            )
    if notes is not None:
        if unknown:
            example = f"{unknown[0].id!r} ({unknown[0].where})"
            notes.append(
                f"{source}: {len(unknown):,} labelled questions are not in {dataset.name}, such as "
                f"{example}"
            )
        notes += [f"{source}: {note}" for note in file_labels.notes]
    all_labels = []
    for name in names:
        labels_by_id = {
            labelled.id: frozenset(labelled.labels[name])
            for labelled in questions
            if name in labelled.labels
        }
        order = file_labels.orders.get(name, ())
        all_labels.append(Labels(name, labels_by_id, order, Path(path).name))
    return tuple(all_labels)


def check_names(labels: Sequence[Labels]) -> None:
    """Raise UsageError if two files have labels of the same name."""
    names = [file_labels.name for file_labels in labels]
    for name in names:
        if names.count(name) > 1:
            files = " and ".join(
                file_labels.source for file_labels in labels if file_labels.name == name
            )
            raise UsageError(
                f"{files} both have labels named {name!r}: rename them in one file",
                field="labels",
                found=name,
                expected="unique names",
            )


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """The entry of one question in a file of labels."""

    id: str
    where: str  # the place in the file
    # by name, without the names that the entry does not mention
    labels: Mapping[str, tuple[str, ...]]
    # Takes the dataset's question. Returns None if it is the labelled question, else the two texts
    # that differ: the file's and the question's.
    fault: Callable[[Question], tuple[str, str] | None] = lambda question: None


class _LabelFile(NamedTuple):
    """All entries of a file of labels."""

    questions: Sequence[LabelledQuestion]
    # by name, the order of the labels if any
    orders: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    notes: Sequence[str] = ()  # for the user


def _parse(text: str, source: str) -> _LabelFile:
    """Parse a file of labels; its content determines its form."""
    rows = list(_read_rows(text, source))
    match rows:
        case [Node(value={"original_id": _, "annotations": _}), *_]:
            return _parse_mctest_skills(rows)
        case [Node(value={"example_id": _, "question_id": _, "answer": _}), *_]:
            return _LabelFile(list(_parse_race_rows(rows)))
    return _LabelFile([_parse_row(row) for row in rows])


def _read_rows(text: str, source: str) -> Iterable[Node]:
    """Return the entries of a file as objects with an id; those of an object by id get its keys."""
    content = text.strip()
    if not content.startswith(("{", "[")):
        return _read_table(text, source)
    if content.startswith("{") and content.partition("\n")[0].rstrip().endswith("}"):
        # A single line is one row of JSON lines if it has an id, else one object of labels by
        # question id.
        rows = list(json_lines(text, source))
        if len(rows) > 1 or (
            isinstance(rows[0].value, dict) and not rows[0].value.keys().isdisjoint(_IDS)
        ):
            return rows
    root = Node(parse_json(text, source), source)
    if not isinstance(root.value, dict):
        return root.elements()

    def row(id_: str, entry: Any) -> Node:
        labels = entry if isinstance(entry, dict) else {_DEFAULT_NAME: entry}
        return root.at(id_).with_value({**labels, _IDS[0]: id_})

    return itertools.starmap(row, root.value.items())


def _read_folder(path: str | Path) -> _LabelFile:
    of_question = read_categories(path).of_question
    entries = []
    for id_ in sorted(of_question):
        categories = tuple(sorted(of_question[id_]))
        entries.append(LabelledQuestion(id_, f"question {id_}", {"categories": categories}))
    return _LabelFile(entries)


def _unknown_questions_error(
    labelled: Sequence[LabelledQuestion], dataset: Dataset, source: str
) -> DataError:
    first = labelled[0]
    near = difflib.get_close_matches(first.id, dataset.by_id, n=2, cutoff=0.6)
    examples = " or ".join(map(repr, near or [next(iter(dataset.by_id), "")]))
    more = f" and {len(labelled) - 1:,} more" if len(labelled) > 1 else ""
    return DataError(
        f"no labels for questions of {dataset.name}",
        source=source,
        where=first.where,
        found=f"question {first.id!r}{more}",
        expected=f"ids of {dataset.name}, such as {examples}",
    )


def _read_table(text: str, source: str) -> Iterator[Node]:
    """Yield the rows of a comma- or tab-separated table; semicolons separate the labels in a
    cell.
    """
    for row in table_rows(text, source):
        key = next((key for key in _IDS if key in row.value), None)
        if key is None or len(row.value) < 2:
            raise DataError(
                "malformed header of a table of labels",
                source=source,
                where="line 1",
                found=describe_value(text.partition("\n")[0]),
                expected="id and other columns with unique names, or JSON",
            )
        labels = {name: _split_cell(cell) for name, cell in row.value.items()}
        yield row.with_value({**labels, key: row.value[key]})


def _split_cell(cell: str) -> list[str] | None:
    """Return the labels in a cell; None for an empty cell."""
    if cell.strip() == _NO_LABEL:
        return []
    return [label.strip() for label in cell.split(";") if label.strip()] if cell.strip() else None


def _parse_row(row: Node) -> LabelledQuestion:
    """Parse an object with an id and, by name, a label or a list of labels. null is not an
    entry.
    """
    key = next((key for key in _IDS if row.has(key)), _IDS[0])
    id_ = row.name(key)
    labels: dict[str, tuple[str, ...]] = {}
    for name, value in row.value.items():
        if name != key and value is not None:
            labels[name] = _parse_labels(value, name, row)
    return LabelledQuestion(id_, row.where, labels)


def _parse_labels(value: Any, name: str, node: Node) -> tuple[str, ...]:
    label_values = value if isinstance(value, list) else [value]
    for label in label_values:
        if not isinstance(label, (str, int, float)) or not str(label).strip():
            raise node.error(
                "invalid label", field=name, found=describe_value(label), expected=_LABEL_FORMS
            )
    return tuple(map(_label_text, label_values))


def _label_text(label: str | float) -> str:
    if isinstance(label, bool):
        return "yes" if label else "no"
    return str(label).strip()


def _parse_mctest_skills(stories: Iterable[Node]) -> _LabelFile:
    """Parse the annotation of Sugawara, Kido, Yokono and Aizawa 2017 (ACL): one object per story of
    four questions.

    "No skill" without other skills is an empty set of labels; otherwise it is ignored. Questions
    that the annotators call nonsense or ambiguous are left out.
    """
    questions, n_nonsense, n_mixed = [], 0, 0
    for story in stories:
        passage = story.text("original_id")
        for i, entry in enumerate(story.items("annotations")):
            numbers = entry.integers("skills")
            if any(not 0 <= number <= _NONSENSE for number in numbers):
                raise entry.error(
                    "unknown skill", field="skills", found=str(list(numbers)), expected="0 to 14"
                )
            if _NONSENSE in numbers:
                n_nonsense += 1
                continue
            skills = tuple(MCTEST_SKILLS[number] for number in numbers if number != _NO_SKILL)
            n_mixed += _NO_SKILL in numbers and bool(skills)
            questions.append(LabelledQuestion(f"{passage},{i}", entry.where, {"skills": skills}))
    notes = [f"{n_nonsense} nonsense or ambiguous questions are left out"] if n_nonsense else []
    if n_mixed:
        notes.append(f"'no skill' is ignored for {n_mixed} questions that also list skills")
    return _LabelFile(questions, {"skills": MCTEST_SKILLS}, notes)


def _parse_race_rows(rows: Iterable[Node]) -> Iterator[LabelledQuestion]:
    """Parse questions of RACE's train split with their type; ``question_id`` counts an article's
    questions from 1.

    The letters and digits of the question, and the answer, confirm that it is the dataset's
    question.
    """
    for row in rows:
        article, number = row.text("example_id").removesuffix(".txt"), row.integer("question_id")
        key = next((key for key in row.value if key.strip() == "question_type"), "question_type")
        labels = {"reasoning-type": (row.text(key).strip(),)}
        fault = partial(_find_race_mismatch, row.text("question"), row.text("answer"))
        yield LabelledQuestion(f"{article}-{number - 1}", row.where, labels, fault)


def _find_race_mismatch(text: str, answer: str, question: Question) -> tuple[str, str] | None:
    if _letters_and_digits(text) != _letters_and_digits(question.text):
        return describe_value(text), describe_value(question.text)
    gold = question.gold or ()
    right = "".join(letter for i, letter in enumerate(_LETTERS) if i in gold)
    if question.gold is None or answer in [*right]:
        return None
    return f"answer {answer}", f"answer {right}"


def _letters_and_digits(text: str) -> str:
    """Return the letters and digits: blanks and underscores differ between the release and the
    dataset.
    """
    return re.sub(r"[\W_]+", "", text).casefold()
