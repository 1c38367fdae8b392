"""Known gold in every coding and alphabet of options, through every way in: it is read right, or
refused.

A refusal names the option that reads it right. ``pytest -s`` prints the counts of each way.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError
from classic_rc.formats import read_predictions
from classic_rc.questions import Dataset, Passage, Question, Task, TextCandidates
from tests.depth import thinned
from tests.harness_logs import choice_row, text_row, write_log

WORDS = "heron otter badger stoat weasel marten".split()
ALPHABETS = {
    "words": WORDS,
    "letters": [*"ABCD"],
    "small letters": [*"dcba"],
    "digits from 0": [*"0123"],
    "digits from 1": [*"1234"],
    "years": ["1914", "1918", "1939", "1945"],
    "leading zeros": ["007", "008", "009", "010"],
    "yes and no": ["yes", "no"],
    "true and false": ["true", "false"],
    "one character": [*"?xB1"],
}
LABELS = {"none": None, "other order": "BCDA", "beside": "BCDA", "numbers": "2341"}
CODINGS = ("index0", "index1", "letter", "label", "text", "number")


class Case(NamedTuple):
    """Questions of one alphabet, their labels, and the gold written in one coding."""

    name: str
    coding: str
    options: list[list[str]]
    labels: list[list[str]] | None
    gold: list[int]
    values: list[Any]


def cases() -> list[Case]:
    case_list = []
    for alphabet, texts in ALPHABETS.items():
        for style, labels in LABELS.items():
            for narrow in (False, True):
                rng = random.Random(7)
                options = [rng.sample(texts, min(4, len(texts))) for _ in range(12)]
                n = len(options[0])
                gold = [i % n if not narrow else min(1 + i % 2, n - 1) for i in range(12)]
                of_row = None if labels is None else [rng.sample(labels[:n], n) for _ in options]
                if style == "other order" and of_row is not None:
                    pairs = [zip(*row, strict=True) for row in zip(of_row, options, strict=True)]
                    options = [[f"({label}) {text}" for label, text in row] for row in pairs]
                for coding in CODINGS:
                    values = written(coding, options, of_row, gold)
                    if values is not None:
                        name = f"{alphabet}, labels {style}{', narrow' * narrow}"
                        row_options = None if style == "other order" else of_row
                        case_list.append(Case(name, coding, options, row_options, gold, values))
    return case_list


def written(coding: str, options: Any, labels: Any, gold: list[int]) -> list[Any] | None:
    rows = list(zip(options, labels or options, gold, strict=True))
    match coding:
        case "index0" | "index1":
            return [right + int(coding[-1]) for *_, right in rows]
        case "letter":
            is_label = labels is not None and labels[0][0].isalpha()  # a letter is a label then
            return None if is_label else ["ABCD"[right] for *_, right in rows]
        case "label":
            return [of_row[right] for _, of_row, right in rows] if labels else None
        case "text":
            return [texts[right] for texts, _, right in rows]
    numbers = [texts[right] for texts, _, right in rows]
    return (
        [int(text) for text in numbers]
        if all(str(int(t)) == t if t.isdigit() else False for t in numbers)
        else None
    )


CASES = cases()


def plain(case: Case) -> list[dict[str, Any]]:
    return [
        {"passage": f"Story {i}.", "question": f"Which {i}?", "gold": value}
        for i, value in enumerate(case.values)
    ]


def in_columns(case: Case) -> list[dict[str, Any]]:
    rows = zip(plain(case), case.options, strict=True)
    return [{**row, **{f"candidate_{i}": text for i, text in enumerate(o)}} for row, o in rows]


def write_table(path: Path, rows: list[dict[str, Any]], separator: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def golds(dataset: Dataset) -> list[Any]:
    return [question.gold for question in dataset]


Way = Callable[[Path, Case, "str | None"], "list[Any] | None"]
"""Writes a case, and reads it with an option or none; None if it cannot be written in this way."""


def own_csv(folder: Path, case: Case, option: str | None) -> Any:
    return (
        None
        if case.labels
        else golds(load(write_table(folder / "a.csv", in_columns(case)), gold_as=option))
    )


def own_tsv(folder: Path, case: Case, option: str | None) -> Any:
    return (
        None
        if case.labels
        else golds(load(write_table(folder / "a.tsv", in_columns(case), "\t"), gold_as=option))
    )


def own_json(folder: Path, case: Case, option: str | None) -> Any:
    candidates: list[Any] = case.options
    if case.labels:
        pairs = zip(case.options, case.labels, strict=True)
        candidates = [[{"key": b, "text": t} for t, b in zip(*row, strict=True)] for row in pairs]
    rows = [
        {**row, "candidates": row_options}
        for row, row_options in zip(plain(case), candidates, strict=True)
    ]
    return golds(load(write_lines(folder / "a.jsonl", rows), gold_as=option))


def fields_csv(folder: Path, case: Case, option: str | None) -> Any:
    if case.labels:
        return None
    n = len(case.options[0])
    rows = [
        {
            "text": row["passage"],
            "ask": row["question"],
            **dict(zip("wxyz", row_options, strict=False)),
            "key": row["gold"],
        }
        for row, row_options in zip(plain(case), case.options, strict=True)
    ]
    fields = f"passage=text,question=ask,candidates={'+'.join('wxyz'[:n])},gold=key"
    return golds(load(write_table(folder / "f.csv", rows), fields=fields, gold_as=option))


def foreign(case: Case, form: str) -> tuple[list[dict[str, Any]], str]:
    """Return rows as the hub has them, with labels beside the texts, and the fields that read
    them.
    """
    rows = []
    for i, (row, row_options) in enumerate(zip(plain(case), case.options, strict=True)):
        choices: Any = row_options
        if case.labels and form == "columns":
            choices = {"text": row_options, "label": case.labels[i]}
        elif case.labels:
            choices = [
                {"label": b, "text": t} for t, b in zip(row_options, case.labels[i], strict=True)
            ]
        rows.append(
            {
                "context": row["passage"],
                "ask": row["question"],
                "choices": choices,
                "answer": row["gold"],
            }
        )
    path = "choices.text" if case.labels else "choices"
    return rows, f"passage=context,question=ask,candidates={path},gold=answer"


def fields_json(folder: Path, case: Case, option: str | None) -> Any:
    rows, fields = foreign(case, "objects")
    return golds(load(write_lines(folder / "f.jsonl", rows), fields=fields, gold_as=option))


def hub_rows(folder: Path, case: Case, option: str | None) -> Any:
    rows, fields = foreign(case, "columns")
    return golds(from_rows(rows, fields=fields, gold_as=option))


def arc_rows(folder: Path, case: Case, option: str | None) -> Any:
    if not case.labels or option is not None:
        return None
    rows = [
        {
            "id": str(i),
            "question": f"Which {i}?",
            "choices": {"text": row_options, "label": b},
            "answerKey": str(value),
        }
        for i, (row_options, b, value) in enumerate(
            zip(case.options, case.labels, case.values, strict=True)
        )
    ]
    return golds(from_rows(rows)) if case.coding == "label" else None


def asked(case: Case) -> Dataset:
    passage = Passage("p", "Story.")
    return Dataset(
        [
            Question(
                f"q{i}",
                passage,
                f"Which {i}?",
                TextCandidates(row_options),
                frozenset({right}),
                Task.SINGLE_CHOICE,
                {"option_labels": tuple(case.labels[i])} if case.labels else {},
            )
            for i, (row_options, right) in enumerate(zip(case.options, case.gold, strict=True))
        ]
    )


def answered(path: Path, case: Case, option: str | None) -> Any:
    options = {} if option is None else {"reading": option}
    return first_answers(read_predictions(path, asked(case), options=options))


def first_answers(predictions: Any) -> list[Any]:
    return [prediction.answers[0] if prediction.answers else None for prediction in predictions]


def answers_csv(folder: Path, case: Case, option: str | None) -> Any:
    rows = [{"id": f"q{i}", "answer": value} for i, value in enumerate(case.values)]
    return answered(write_table(folder / "answers.csv", rows), case, option)


def answers_json(folder: Path, case: Case, option: str | None) -> Any:
    rows = [{"id": f"q{i}", "answer": value} for i, value in enumerate(case.values)]
    return answered(write_lines(folder / "answers.jsonl", rows), case, option)


def documents(case: Case) -> list[dict[str, Any]]:
    return [
        {"passage": f"Story {i}.", "question": f"Which {i}?", "choices": row_options}
        for i, row_options in enumerate(case.options)
    ]


def log_of_choices(folder: Path, case: Case, option: str | None) -> Any:
    if case.coding not in ("index0", "text", "number") or case.labels:
        return None  # the harness writes positions from 0 or choices
    rows = [
        choice_row(i, doc, doc["choices"], [-1.0 - k for k in range(len(doc["choices"]))], value)
        for i, (doc, value) in enumerate(zip(documents(case), case.values, strict=True))
    ]
    for row, right in zip(rows, case.gold, strict=True):
        row["acc"] = float(right == 0)
    return golds(load(write_log(folder / "choices", rows), gold_as=option))


def log_of_texts(folder: Path, case: Case, option: str | None) -> Any:
    if case.labels:
        return None
    pairs = enumerate(zip(documents(case), case.values, strict=True))
    rows = [text_row(i, doc, str(value), str(value)) for i, (doc, value) in pairs]
    path = write_log(folder / "texts", rows)
    dataset = load(path, gold_as=option)
    answers = first_answers(read_predictions(path, dataset))
    assert answers == golds(dataset)
    return answers


WAYS: dict[str, Way] = {
    "own CSV": own_csv,
    "own TSV": own_tsv,
    "own JSON lines": own_json,
    "--fields CSV": fields_csv,
    "--fields JSON lines": fields_json,
    "hub rows": hub_rows,
    "hub rows of a known schema": arc_rows,
    "answers CSV": answers_csv,
    "answers JSON lines": answers_json,
    "log of choices": log_of_choices,
    "log of generated texts": log_of_texts,
}


@pytest.mark.parametrize("step", thinned([4, 1], 2))
@pytest.mark.parametrize("way", WAYS)
def test_gold_is_read_right_or_refused_with_the_option_that_reads_it(tmp_path, way, step):
    counts: Counter[str] = Counter()
    for case in CASES[::step]:
        right = [frozenset({i}) for i in case.gold]
        coding = "text" if case.coding == "number" else case.coding
        refusal: DataError | None = None
        try:
            reading = WAYS[way](tmp_path, case, None)
        except DataError as error:
            refusal = error
        if refusal is not None:
            counts["refused"] += 1
            suggested = re.findall(r"(?:--gold-as |,reading=)(\w+)", refusal.hint or "")
            assert coding in suggested, (case.name, case.coding, str(refusal))
            assert WAYS[way](tmp_path, case, coding) == right, (case.name, case.coding)
        elif reading is not None:
            counts["right"] += 1
            assert reading == right, (
                case.name,
                case.coding,
                case.options[0],
                case.values[:4],
                reading[:4],
            )
    print(
        f"\n{way}: {counts['right']} right, {counts['refused']} refused, 0 wrong of "
        f"{counts.total()}"
    )
    assert counts["right"]
