"""Tests that hold for every format: registry, recognition, round trips, refusals."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.formats import (
    FORMATS,
    default_format,
    get_format,
    read_predictions,
    read_scores,
    write_predictions,
)
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Task
from tests.errors import raises
from tests.formats.builders import select

DECISIONS = [
    ("mctest-answers", "single-choice"),
    ("multirc", "multiple-answer"),
    ("superglue", "superglue"),
    ("superglue", "cloze"),
    ("record", "cloze"),
    ("squad", "span"),
    ("squad", "multi-span"),
    *product(
        ("answers", "jsonl"), ("single-choice", "multiple-answer", "cloze", "span", "multi-span")
    ),
]
SCORES = [
    ("mctest-scores", "single-choice"),
    ("multirc", "multiple-answer"),
    ("jsonl", "single-choice"),
    ("jsonl", "cloze"),
]
SKIPPING = {"record", "squad", "answers", "jsonl"}
"""Formats that can leave a question without an answer."""

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
spoken = texts.filter(str.strip)  # a blank text of an own file says nothing


def answers(question, format):
    """A strategy for one answer to a question, or none where the format can say so."""
    options = st.integers(0, len(question.candidates) - 1)
    written = spoken if format == "answers" else texts
    if question.task is Task.MULTIPLE_ANSWER:
        return st.tuples(st.frozensets(options))
    if question.task is Task.SINGLE_CHOICE:
        answer = options.map(lambda i: frozenset({i}))
    elif question.task is Task.MULTI_SPAN:
        answer = st.lists(written, min_size=1, max_size=3).map(tuple)
    elif question.task is Task.CLOZE:
        answer = st.sampled_from([(c.text,) for c in question.candidates])
    else:
        answer = st.tuples(written)
    answers_to_question = st.tuples(answer)
    return answers_to_question | st.just(()) if format in SKIPPING else answers_to_question


def finite_scores(dataset, numbers):
    sizes = [len(question.candidates) for question in dataset]
    rows = (st.lists(numbers, min_size=n, max_size=n) for n in sizes)
    return st.tuples(*rows).map(Scores.from_lists)


def facts(predictions):
    return [(p.question_id, p.answers, p.weights, p.n_tied, p.n_candidates) for p in predictions]


@pytest.mark.parametrize(("format", "shape"), DECISIONS)
@given(data=st.data())
def test_decisions_survive_a_round_trip(task_datasets, format, shape, data):
    dataset, layout = task_datasets[shape], get_format(format)
    predictions = []
    for question in dataset:
        answer = data.draw(answers(question, format))
        n_candidates = len(question.candidates)
        predictions.append(Prediction(question.id, answer, n_candidates=n_candidates))
    text = layout.write(dataset, predictions=predictions)
    pairs = zip(dataset, predictions, strict=True)
    blocks = []
    for _, pairs_of_passage in groupby(pairs, key=lambda pair: pair[0].passage.id):
        questions, decisions = zip(*pairs_of_passage, strict=True)
        blocks.append((questions, None, decisions))
    assert text == "".join(layout.write_blocks(blocks))
    assert layout.recognises(text)
    assert facts(layout.read(text, dataset, source="a")) == facts(predictions)
    assert text.endswith("\n")
    assert "\r" not in text
    assert text.isascii()


@pytest.mark.parametrize(("format", "shape"), SCORES)
@given(data=st.data())
def test_scores_survive_a_round_trip(task_datasets, format, shape, data):
    dataset, layout = task_datasets[shape], get_format(format)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    if format == "mctest-scores":
        numbers = st.integers(-(10**9), 10**9).map(lambda i: i / 100_000)
    scores = data.draw(finite_scores(dataset, numbers))
    text = layout.write(dataset, scores)
    assert layout.recognises(text)
    if set(scores.values.tolist()) <= {0.0, 1.0} and format == "multirc":
        return  # holds decisions, by the rule of that format
    read = layout.read(text, dataset, source="a")
    assert read.values.tolist() == scores.values.tolist()
    assert read.offsets.tolist() == scores.offsets.tolist()
    assert layout.read_scores(text, dataset, source="a").values.tolist() == scores.values.tolist()


@pytest.mark.parametrize(("format", "shape"), DECISIONS)
def test_a_file_has_the_first_of_tied_answers(task_datasets, format, shape):
    dataset, layout = task_datasets[shape], get_format(format)
    choices = dataset.task.has_choices
    tie = (frozenset({0}), frozenset()) if choices else (("Wren",), ("Tam",))
    tied = [Prediction(q.id, tie, (0.5, 0.5), n_tied=2) for q in dataset]
    first = [Prediction(q.id, tie[:1]) for q in dataset]
    assert layout.write(dataset, predictions=tied) == layout.write(dataset, predictions=first)


@pytest.mark.parametrize(
    ("format", "shape"), [pair for pair in DECISIONS if pair[0] not in SKIPPING]
)
def test_a_question_without_an_answer_is_named(task_datasets, format, shape):
    dataset = task_datasets[shape]
    answer = frozenset({0}) if dataset.task.has_choices else ("Wren",)
    predictions = [Prediction(q.id, (answer,)) for q in dataset[:-1]]
    predictions.append(Prediction(dataset[-1].id, ()))
    with raises(UsageError, field="predictions", found=f"no answer to {dataset[-1].id}") as caught:
        get_format(format).write(dataset, predictions=predictions)
    assert "--ties first" in str(caught.value)


def test_selection_probabilities_cannot_be_written(task_datasets):
    dataset = task_datasets["multiple-answer"]
    predictions = [Prediction(q.id, (), selection_probability=0.5) for q in dataset]
    for format in ("multirc", "answers", "jsonl"):
        with raises(
            UsageError, field="predictions", found=f"a selection probability for {dataset[0].id}"
        ):
            get_format(format).write(dataset, predictions=predictions)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_refuses_unsupported_tasks(task_datasets, format):
    layout = get_format(format)
    assert layout.description
    assert layout.citation
    assert layout.holds <= {"scores", "decisions"}
    for dataset in task_datasets.values():
        if dataset.task not in layout.tasks:
            facts = {
                "field": "format",
                "found": dataset.task.value,
                "expected": " or ".join(sorted(layout.tasks)),
            }
            with raises(UsageError, **facts) as caught:
                layout.write(dataset, predictions=[Prediction(q.id, ()) for q in dataset])
            assert format in str(caught.value)
            with raises(UsageError, **facts):
                layout.read("", dataset, source="a")


def test_missing_scores_or_decisions_are_refused(task_datasets):
    with raises(UsageError, field="scores", found="none") as caught:
        get_format("mctest-scores").write(task_datasets["single-choice"], predictions=[])
    assert "mctest-scores" in str(caught.value)
    with raises(UsageError, field="decisions or scores", found="none"):
        get_format("jsonl").write(task_datasets["cloze"])
    one_of_three = [Prediction("17", (("Tam",),))]
    with raises(UsageError, field="decisions", found="1", expected="3"):
        get_format("record").write(task_datasets["cloze"], predictions=one_of_three)


def test_scores_that_do_not_fit_or_are_infinite_are_refused(task_datasets):
    rows_and_facts = (
        ([1, 2, 3], {"found": "3", "expected": "2"}),
        ([1, -np.inf], {"found": "-inf"}),
    )
    for row, facts_of_error in rows_and_facts:
        scores = Scores.from_lists([[1, 2, 3], row, [1]])
        with raises(UsageError, field="scores", **facts_of_error) as caught:
            get_format("multirc").write(task_datasets["multiple-answer"], scores)
        assert "news/one.txt==1" in str(caught.value)


def test_a_format_of_decisions_ignores_scores(task_datasets):
    scores = Scores.from_lists([[np.inf, 1, 2, 3]] * 3)
    predictions = [Prediction(q.id, (("Tam",),)) for q in task_datasets["cloze"]]
    text = get_format("record").write(task_datasets["cloze"], scores, predictions)
    assert text == get_format("record").write(task_datasets["cloze"], predictions=predictions)


def test_an_unknown_format_proposes_the_closest_name():
    with raises(
        UsageError, field="format", found="mctest-score", expected=re.compile("^mctest-scores")
    ):
        get_format("mctest-score")


@pytest.mark.parametrize(
    ("shape", "reader", "decisions", "scores"),
    [
        ("single-choice", "mctest", "mctest-answers", "mctest-scores"),
        ("single-choice", "race", "answers", "jsonl"),
        ("single-choice", "dream", "answers", "jsonl"),
        ("multiple-answer", "multirc", "multirc", "multirc"),
        ("superglue", "superglue", "superglue", "jsonl"),
        ("cloze", "record", "record", "jsonl"),
        ("multi-span", "quoref", "squad", "jsonl"),
        ("span", "squad", "squad", "jsonl"),
        ("span", None, "answers", "jsonl"),
        ("span", "mctest", "answers", "jsonl"),
    ],
)
def test_the_default_format_is_the_official_one_of_the_reader(
    task_datasets, shape, reader, decisions, scores
):
    dataset = replace(task_datasets[shape], reader=reader)
    assert (default_format(dataset).name, default_format(dataset, "scores").name) == (
        decisions,
        scores,
    )


def test_record_in_superglues_form_is_written_in_superglues_form(task_datasets):
    numbered = [replace(question, meta={"idx": question.id}) for question in task_datasets["cloze"]]
    assert default_format(Dataset(numbered, reader="record")).name == "superglue"


@pytest.mark.parametrize(("format", "shape"), sorted({*DECISIONS, *SCORES}))
def test_files_are_recognised_from_their_content(task_datasets, tmp_path, format, shape):
    dataset, layout = task_datasets[shape], get_format(format)
    answer = frozenset({0}) if dataset.task.has_choices else ("Wren",)
    decisions = scores = None
    if "decisions" in layout.holds:
        decisions = [Prediction(q.id, (answer,)) for q in dataset]
    else:
        scores = Scores.from_lists([[0.25] * len(q.candidates) for q in dataset])
    path = tmp_path / "answers"
    write_predictions(path, dataset, scores, decisions, format)
    content = read_predictions(path, dataset)
    if decisions is None:
        assert content.values.tolist() == scores.values.tolist()
    else:
        assert [p.answers for p in content] == [(answer,)] * len(dataset)
    assert type(read_predictions(path, dataset, format)) is type(content)


def test_files_are_written_in_the_official_format_with_plain_line_ends(task_datasets, tmp_path):
    path = tmp_path / "spans.json"
    predictions = [Prediction(f"s{i}", (("Inês",),)) for i in range(3)]
    write_predictions(path, task_datasets["multi-span"], predictions=predictions)
    expected = b'{\n"s0": ["In\\u00eas"],\n"s1": ["In\\u00eas"],\n"s2": ["In\\u00eas"]\n}\n'
    assert path.read_bytes() == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_and_other_line_ends_are_read(task_datasets, tmp_path, encoding):
    path = tmp_path / "answers"
    path.write_bytes("A\tB\tC\tD\r\nD\tC\tB\tA\r\n".encode(encoding))
    dataset = task_datasets["single-choice"]
    expected = select(dataset, {0}, {1}, {2}, {3}, {3}, {2}, {1}, {0})
    answers_read = [p.answers for p in read_predictions(path, dataset)]
    assert answers_read == [p.answers for p in expected]


def test_invalid_bytes_missing_files_and_unknown_content_are_refused(task_datasets, tmp_path):
    path = tmp_path / "answers"
    with raises(DataError, source=str(path), problem=re.compile("cannot be read")):
        read_predictions(path, task_datasets["cloze"])
    path.write_bytes(b'{"17": "Caf\xe9"}')
    with raises(DataError, source=str(path), where="byte offset 11 (line 1)"):
        read_predictions(path, task_datasets["cloze"])
    path.write_bytes(b"yes, maybe")
    with raises(
        DataError,
        source=str(path),
        found="'yes, maybe'",
        expected=re.compile("mctest-scores.* jsonl"),
    ):
        read_predictions(path, task_datasets["cloze"])
    path.write_bytes(b"\n")
    with raises(DataError, source=str(path), found="an empty file"):
        read_predictions(path, task_datasets["cloze"])


def test_a_file_for_another_task_is_refused(task_datasets, tmp_path):
    path = tmp_path / "answers"
    path.write_text('[{"pid": "a", "qid": "0", "scores": [1]}]', encoding="utf-8")
    with raises(UsageError, field="format", found="cloze", expected="multiple-answer") as caught:
        read_predictions(path, task_datasets["cloze"])
    assert "multirc" in str(caught.value)


def test_a_path_that_cannot_be_written_is_refused(task_datasets, tmp_path):
    with raises(UsageError, field="path", found=str(tmp_path / "no" / "a")):
        write_predictions(
            tmp_path / "no" / "a", task_datasets["cloze"], predictions=[Prediction("17", ())] * 3
        )


def test_missing_questions_are_counted(task_datasets, tmp_path):
    path = tmp_path / "answers"
    path.write_text('{"18": "Tam"}', encoding="utf-8")
    notes: list[str] = []
    predictions = read_predictions(path, task_datasets["cloze"], notes=notes)
    assert [p.answers for p in predictions] == [(), (("Tam",),), ()]
    assert notes == [f"{path}: 2 of 3 questions have no answer and score 0"]


def test_decisions_have_no_scores(task_datasets, tmp_path):
    path = tmp_path / "answers"
    path.write_text("A\tB\tC\tD\nD\tC\tB\tA\n", encoding="utf-8")
    with raises(UsageError, found="decisions", expected="scores") as caught:
        read_scores(path, task_datasets["single-choice"])
    assert str(path) in str(caught.value)


def test_an_empty_dataset_has_empty_files():
    nothing = Dataset([])
    # logs are only read
    written = [layout for name, layout in FORMATS.items() if not name.startswith("harness")]
    for layout in written:
        text = layout.write(nothing, Scores.from_lists([]), [])
        assert len(layout.read(text, nothing, source="a")) == 0
