"""Files that users name by mistake where a dataset is due: what each is, and the command that reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classic_rc.datasets.specification import quote_argument
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile

_START = 100  # bytes, with the name of the first member of a zip archive
_INDEX_FILES = {"manifest.json", "building.json"}
_NUMBERS = re.compile(r"\s*-?\d[\d.eE+-]*(?:[,\t]\s*-?\d[\d.eE+-]*)+\s*")
_LETTERS = re.compile(r"[A-Z](?:\t[A-Z])+\s*")
_DATA_KEYS = {"passage", "context", "article", "story", "text", "document", "question", "query", "version", "data"}


def describe_other(file: InputFile) -> DataError | None:
    """Return the error for a known file that is not a dataset, with the command that reads it, or None."""
    known = _recognise(file)
    return known and DataError(
        "not a dataset", source=file.name, found=known[0], expected="a dataset", hint=known[1]
    )


def _recognise(file: InputFile) -> tuple[str, str] | None:
    """Return what a file is, and the command that reads it; None for unknown files."""
    path = file.name
    if file.suffix == ".npz" and b"header.npy" in file.data[:_START]:
        return "a saved solver", f"`classic-rc run DATA -s saved,path={path}` runs it on DATA"
    if file.suffix == ".ans":
        stories = quote_argument(f"{Path(path).with_suffix('.tsv')},answers={path}")
        hint = f"`classic-rc run {stories}` reads the stories too"
        return "MCTest's answers without the stories", hint
    try:
        text, value = file.text, file.head
    except DataError:
        return None
    if isinstance(value, dict) and isinstance(value.get("runs"), list) and "version" in value:
        hint = f"`classic-rc compare {path}` compares its systems, `classic-rc table {path}` prints them"
        return "a run record", hint
    if isinstance(value, dict) and value.keys() >= {"results", "configs", "versions"}:
        log = next(iter(sorted(Path(path).parent.glob("samples_*"))), None)
        hint = f"`classic-rc run {log}` reads a log of its answers" if log else "Run the harness with --log_samples"
        return "a results file of lm-evaluation-harness, without questions and answers", hint
    first = value[0] if isinstance(value, list) and value else value
    line = text.lstrip("\n").partition("\n")[0]
    hint = f"`classic-rc run DATA -s {path}` scores them; DATA has the questions that they answer"
    if _NUMBERS.fullmatch(line):
        return "scores of candidates", hint
    if _LETTERS.fullmatch(line):
        return "the letters of answers, without questions", hint
    is_by_id = file.is_one_value and isinstance(value, Mapping) and _maps_ids_to_answers(value)
    return ("predictions", hint) if is_by_id or (isinstance(first, Mapping) and _is_prediction(first)) else None


def describe_other_folder(path: str) -> DataError | None:
    """Return the error for a folder that is a search index or has a run record, or None."""
    names = set(os.listdir(path)) if os.path.isdir(path) else set()
    if "run.json" in names:
        record = Path(path, "run.json")
        return describe_other(InputFile(str(record), record.parts, 0))
    if names & _INDEX_FILES:
        hint = f"`classic-rc run DATA -s {quote_argument(f'ir,corpus={path}')}` searches it for DATA"
        return DataError("not a dataset", source=path, found="a search index", expected="a dataset", hint=hint)
    return None


def _is_prediction(row: Mapping[str, Any]) -> bool:
    """Return whether a row is one of MultiRC's, SuperGLUE's or our own predictions."""
    passage = row.get("passage")
    is_superglue = isinstance(passage, Mapping) and "questions" in passage and "text" not in passage
    is_ours = "question_id" in row and bool({"score", "selected"} & row.keys())
    return is_superglue or is_ours or {"pid", "qid", "scores"} <= row.keys() or row.keys() == {"idx", "label"}


def _maps_ids_to_answers(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like ReCoRD's or SQuAD's predictions: texts, or lists of texts, by id."""
    if not value or _DATA_KEYS & {key.lower() for key in value}:
        return False
    answers = [answer if isinstance(answer, list) else [answer] for answer in value.values()]
    return all(isinstance(text, str) for texts in answers for text in texts)
