"""Labels in the texts of options are cut once, and decide what letters of gold and answers mean."""

from __future__ import annotations

import json
import random

import pytest

from classic_rc.datasets import from_rows, load
from classic_rc.datasets.own_files import to_jsonl
from classic_rc.errors import DataError
from classic_rc.formats import read_predictions
from classic_rc.option_labels import CutOptions, cut_labels
from tests.contents import all_options
from tests.errors import raises

FORMS: tuple[str, ...] = (
    "({}) {}",
    "({}){}",
    "{}. {}",
    "{}.{}",
    "{}) {}",
    "{}．{}",
    "（{}）{}",
    "{}、{}",
    "[{}] {}",
)
FORMS += ("{}: {}", "  {} . {}", "({}). {}")
TEXTS = ("red", "blue hat", "東京", "1930s", "17 × 26", "Zoé", "the (B) side", "-5", "A. Smith")
FIELDS = {"passage": "p", "question": "q", "candidates": "o", "gold": "k"}


def _labelled(rng: random.Random, form: str, marks: str) -> tuple[list[str], list[str], list[str]]:
    """Return labels in any order, texts, and both in a form."""
    n = rng.randint(2, len(marks))
    labels, texts = rng.sample(marks[:n], n), rng.sample(TEXTS, n)
    return labels, texts, [form.format(*pair) for pair in zip(labels, texts, strict=True)]


@pytest.mark.parametrize("marks", ["ABCDE", "abcd", "12345", "0123"])
@pytest.mark.parametrize("form", FORMS)
def test_labels_in_any_order_are_cut(form, marks):
    rng = random.Random(1)
    for _ in range(60):
        labels, texts, options = _labelled(rng, form, marks)
        if form == "{}.{}" and marks[0].isdigit() and any(text[0].isdigit() for text in texts):
            continue  # 1.17 is a number
        cut = cut_labels(options)
        assert cut == CutOptions([label.upper() for label in labels], texts), options


@pytest.mark.parametrize(
    "texts",
    [
        ["A. Smith", "I. Newton"],
        ["A. Smith", "B. Smith"],
        ["1.5 metres", "2.5 metres"],
        ["2:45", "1:15", "3:45"],
        ["1. May", "2. May"],
        ["A", "B"],
        ["(A)", "(B)"],
        ["A.", "B."],
        ["(A) red"],
        ["AB) red", "CD) blue"],
        ["(A) red", "(A) blue"],
        [],
    ],
)
def test_other_beginnings_are_no_labels(texts):
    assert cut_labels(texts) is None


def _row(i: int, options: list[str], gold: str) -> dict:
    return {"p": f"The hat is blue {i}.", "q": f"Which {i}?", "o": options, "k": gold}


@pytest.mark.parametrize("gold_as", [None, "letter", "label"])
@pytest.mark.parametrize("form", FORMS)
def test_gold_is_the_label(form, gold_as, tmp_path):
    rng = random.Random(2)
    rows, right, texts = [], [], []
    for i in range(20):
        labels, gold_labels, options = _labelled(rng, form, "ABCD")
        gold = i % len(labels)
        rows.append(_row(i, options, labels[gold]))
        right.append({gold})
        texts.append(gold_labels)
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for dataset in (from_rows(rows, fields=FIELDS, gold_as=gold_as), load(path, fields=FIELDS)):
        assert [q.gold for q in dataset] == right
        assert all_options(dataset) == texts
        assert any("begin with labels, which are cut: 20" in note for note in dataset.notes)


def test_gold_may_be_a_text_with_or_without_its_label():
    options = ["(B)red", "(A)blue", "(C)green"]
    for gold in ("(A)blue", "blue", "A. Blue", "(a) blue."):
        (question,) = from_rows([_row(0, options, gold)], fields=FIELDS)
        assert question.gold == {1}
    with raises(DataError, field="gold"):
        from_rows([_row(0, options, "(A)red")], fields=FIELDS)


def test_own_keys_are_cut_too():
    row = {"passage": "P", "question": "Q", "candidates": ["(A)red", "(B)blue"], "gold": 1}
    dataset = from_rows([row, {**row, "question": "R", "candidates": ["(A)red", "blue"]}])
    assert all_options(dataset) == [
        ["red", "blue"],
        ["(A)red", "blue"],
    ]
    assert any("some of their options, where no label is cut: 1" in n for n in dataset.notes)


def test_copies_of_cut_data_read_alike(tmp_path):
    rows = [_row(i, ["(B)red", "(A)blue"], "AB"[i % 2]) for i in range(4)]
    dataset = from_rows(rows, fields=FIELDS)
    path = tmp_path / "copy.jsonl"
    path.write_text(to_jsonl(dataset))
    assert load(path).fingerprint == dataset.fingerprint


@pytest.mark.parametrize("form", FORMS)
def test_answers_are_read_with_the_labels(form, tmp_path):
    rows = [_row(0, ["(B)red", "(C)blue", "(A)green"], "A")]
    dataset = from_rows(rows, fields=FIELDS)
    path = tmp_path / "answers.jsonl"
    for answer in ("C", "(C)", form.format("C", "blue"), "Answer: C", "blue"):
        path.write_text(json.dumps({"id": dataset[0].id, "answer": answer}))
        (prediction,) = read_predictions(path, dataset)
        assert prediction.answers == (frozenset({1}),), answer


@pytest.mark.parametrize(
    ("name", "n_cut"),
    [("lsat-rc", 269), ("sat-en", 206), ("gaokao-english", 306), ("logiqa-en", 642)],
)
def test_gold_of_exams_is_the_option_with_the_label(name, n_cut, shared_data):
    path = shared_data / "wild" / f"agieval-{name}.jsonl"
    if not path.is_file():
        pytest.skip("files as their owners publish them are not here (shared/data/wild)")
    fields = "passage=passage,question=question,candidates=options,gold=label"
    dataset = load(path, fields=fields)
    assert any(f"which are cut: {n_cut}" in note for note in dataset.notes)
    n_labelled = 0
    for line, question in zip(path.read_text("utf-8").splitlines(), dataset, strict=True):
        row = json.loads(line)
        marks = [option.strip().lstrip("(")[:1] for option in row["options"]]
        if sorted(marks) == list("ABCDE"[: len(marks)]):
            n_labelled += 1
            assert question.gold == {marks.index(row["label"])}
        else:
            assert question.gold == {"ABCDE".index(row["label"])}
    assert n_labelled >= n_cut
