"""Files that are typed in place of a dataset by mistake: what each is, and the command that reads it."""

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
_DATA_SUFFIXES = (".tsv", ".json", ".jsonl", ".csv", ".txt", ".xml")
_NUMBERS = re.compile(r"\s*-?\d[\d.eE+-]*(?:[,\t]\s*-?\d[\d.eE+-]*)+\s*")
_LETTERS = re.compile(r"[A-Z](?:\t[A-Z])+\s*")
_DATA_KEYS = {"passage", "context", "article", "story", "text", "document", "question", "query", "version", "data"}


def describe_other(file: InputFile) -> DataError | None:
    """Return the error for a known file that is no dataset, with the command that reads it, or None."""
    path = file.name
    if file.suffix == ".npz" and b"header.npy" in file.data[:_START]:
        return _error(path, "a saved solver", f"`classic-rc run DATA -s saved,path={path}` runs it on DATA")
    if file.suffix == ".ans":
        stories = _find_data(Path(path))
        command = f"{stories}" if stories else f"{Path(path).with_suffix('.tsv').name},answers={path}"
        hint = f"`classic-rc run {quote_argument(command)}` reads the stories too"
        return _error(path, "MCTest's answers without the stories", hint)
    try:
        text, value = file.text, file.head
    except DataError:
        return None
    if isinstance(value, dict) and isinstance(value.get("runs"), list) and "version" in value:
        return _error(
            path,
            "a run record",
            f"`classic-rc compare {path}` compares its systems, `classic-rc table {path}` prints them",
        )
    if isinstance(value, dict) and value.keys() >= {"results", "configs", "versions"}:
        logs = [str(log) for log in sorted(Path(path).parent.glob("samples_*"))]
        hint = (
            f"`classic-rc run {logs[0]}` reads a log of its answers"
            if logs
            else "Run the harness with --log_samples"
        )
        return _error(path, "a results file of lm-evaluation-harness, without questions and answers", hint)
    is_one_value = value is not None and file.is_one_value  # and not the first of several lines
    what = _name_predictions(text.lstrip("\n").partition("\n")[0], value, is_one_value)
    if what is None:
        return None
    data = _find_data(Path(path))
    hint = f"`classic-rc run {data or 'DATA'} -s {path}` scores them"
    return _error(path, what, hint if data else f"{hint}; DATA has the questions that they answer")


def describe_other_folder(path: str) -> DataError | None:
    """Return the error for a folder that is a search index or has a run record, or None."""
    names = set(os.listdir(path)) if os.path.isdir(path) else set()
    if "run.json" in names:
        return describe_other(_input_file(Path(path, "run.json")))
    if names & _INDEX_FILES:
        return _error(
            path,
            "a search index",
            f"`classic-rc run DATA -s {quote_argument(f'ir,corpus={path}')}` searches it for DATA",
        )
    return None


def _name_predictions(line: str, value: Any, is_one_value: bool) -> str | None:
    """Return what a file of predictions has, by its first line and first JSON value; None for other files."""
    if _NUMBERS.fullmatch(line):
        return "scores of candidates"
    if _LETTERS.fullmatch(line):
        return "the letters of answers, without questions"
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, Mapping):
        return None
    is_official = {"pid", "qid", "scores"} <= first.keys() or first.keys() == {"idx", "label"}
    passage = first.get("passage")
    is_superglue = isinstance(passage, Mapping) and "questions" in passage and "text" not in passage
    is_ours = "question_id" in first and bool({"score", "selected"} & first.keys())
    if is_official or is_superglue or is_ours or (is_one_value and first is value and _maps_ids_to_answers(value)):
        return "predictions"
    return None


def _maps_ids_to_answers(value: Mapping[str, Any]) -> bool:
    """Return whether an object looks like ReCoRD's or SQuAD's predictions: texts, or lists of texts, by id."""
    if not value or _DATA_KEYS & {key.lower() for key in value}:
        return False
    answers = [answer if isinstance(answer, list) else [answer] for answer in value.values()]
    return all(isinstance(text, str) for texts in answers for text in texts)


def _find_data(path: Path) -> Path | None:
    """Return the data file whose name begins a file's name: ``mc160.dev.tsv`` for ``mc160.dev.rte.scores``."""
    stem = path.name
    while "." in stem:
        stem = stem.rpartition(".")[0]
        for folder in (path.parent, path.parent.parent):
            for data in (folder / f"{stem}{suffix}" for suffix in _DATA_SUFFIXES):
                if data.is_file() and data != path and describe_other(_input_file(data)) is None:
                    return data
    return None


def _input_file(path: Path) -> InputFile:
    return InputFile(str(path), path.parts, 0)


def _error(path: str, what: str, hint: str) -> DataError:
    return DataError("not a dataset", source=path, found=what, expected="a dataset", hint=hint)
