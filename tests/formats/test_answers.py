"""Rows of id and answer, as scripts around language models write them."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from classic_rc.formats import get_format, read_predictions
from classic_rc.metrics import METRICS
from classic_rc.questions import Candidate, Dataset, Question, Task
from tests.errors import raises
from tests.formats.builders import (
    PASSAGE,
    ask,
    ask_each,
    ask_for_text,
    json_lines,
    select,
    selected,
)

FOUR = ("Old  Tam", "Wren", "the dog", "no one")
SINGLE = ask_each(4, *FOUR)
SEVERAL = ask_each(4, *FOUR, task=Task.MULTIPLE_ANSWER)


def read(text, dataset, *, reading=None, **more):
    notes: list[str] = []
    form = get_format("answers").with_options({} if reading is None else {"reading": reading})
    predictions = form.read(text, dataset, source="a", notes=notes, **more)
    return predictions, notes


def jsonl(*values):
    return json_lines({"id": f"q{i}", "answer": value} for i, value in enumerate(values))


def of_one(value, dataset=SINGLE):
    """The answer that a value is read as, among answers that are letters; None if it says
    nothing.
    """
    others = ["C"] * (len(dataset) - 1)
    predictions, notes = read(jsonl(value, *others), dataset)
    options = selected(predictions)[0]
    assert bool(notes) == (options is None)
    return options


@pytest.mark.parametrize(
    "value",
    [
        "B",
        "b",
        "(B)",
        "[b]",
        "B.",
        "B)",
        " B\n",
        "**B**",
        "Answer: B",
        "The answer is B.",
        "answer is (B)",
        "The correct option is: B",
        "B. Wren",
        "(B) wren",
        "B: WREN",
        "Wren",
        " wren ",
        '"Wren"',
        "Answer: Wren",
        ["B"],
        ["Wren"],
        "Wren.",
        '"Wren."',
        "\u201cWren\u201d",
        "The answer is Wren.",
        "B) Wren.",
        "**B)** Wren",
        "The correct answer is B: Wren.",
        "Sure! The answer is B.",
        "So the answer is (B).",
        "My answer is B!",
        "```\nB\n```",
        '```json\n{"answer": "B"}\n```',
        '{"answer": "Wren", "p": 0.3}',
        {"answer": "b"},
        "{'answer': 'B'}",
        "['B']",
        "B\n\nTam keeps the lighthouse.",
        "Tam keeps it.\n\nTherefore, the answer is (B).",
        "B\nAnswer: Wren",
    ],
)
def test_an_option_is_a_letter_or_a_text(value):
    assert of_one(value) == {1}


@pytest.mark.parametrize(
    "value",
    [
        "E",
        "BC",
        "B. the dog",
        "Wren is it",
        "",
        "  ",
        "I do not know",
        "A or B",
        ["A", "B"],
        [],
        {"a": 1},
        True,
        1.5,
        "B Wren",
        "Wre",
        "a dog",
        "A\nB",
        "A. Old Tam\nB. Wren",
        "I do not think the answer is B.",
        '{"p": "B"}',
        '{"answer": "A", "output": "B"}',
        "{B",
        "```\n```",
    ],
)
def test_what_says_no_option_counts_as_wrong(value):
    assert of_one(value) is None


@pytest.mark.parametrize(
    ("value", "selected"),
    [
        ("AC", {0, 2}),
        ("A,C", {0, 2}),
        ("A, C", {0, 2}),
        ("C; A", {0, 2}),
        ("A and C", {0, 2}),
        ("(A) (C)", {0, 2}),
        ("Answer: A, C", {0, 2}),
        ("The answers are A and C", {0, 2}),
        (["A", "c"], {0, 2}),
        ('["A", "C"]', {0, 2}),
        ("['A', 'C']", {0, 2}),
        ("{'answer': ['A', 'C']}", {0, 2}),
        ("```\nA, C\n```", {0, 2}),
        (["old tam", "the dog"], {0, 2}),
        ("old tam; The Dog", {0, 2}),
        ("Old Tam, the dog", {0, 2}),
        ("Old Tam\nthe dog", {0, 2}),
        ([True, False, True, False], {0, 2}),
        ("B", {1}),
        ("no one", {3}),
        ([], set()),
        ("none", set()),
        ("None.", set()),
    ],
)
def test_several_options_are_joined_or_listed(value, selected):
    assert of_one(value, SEVERAL) == selected


@pytest.mark.parametrize(
    "value", ["", "A, E", ["A", "x"], [True, False], "Tam and the cat", "perhaps A"]
)
def test_a_selection_with_an_unknown_part_says_nothing(value):
    assert of_one(value, SEVERAL) is None


@pytest.mark.parametrize("id_name", ["id", "question_id", "qid", "ID", "example_id", "idx"])
@pytest.mark.parametrize(
    "answer_name", ["answer", "prediction", "pred", "output", "response", "Predicted"]
)
def test_columns_are_known_by_name_in_every_layout(tmp_path, id_name, answer_name):
    rows = [{"model": "m", id_name: f"q{i}", answer_name: "ABCD"[i]} for i in range(4)]
    cells = [list(rows[0]), *(list(row.values()) for row in rows)]
    csv = "\n".join(map(",".join, cells))
    tsv = "\r\n".join("\t".join(reversed(row)) for row in cells) + "\r\n"
    for text in (json_lines(rows), json.dumps(rows, indent=1), csv, tsv):
        path = tmp_path / "answers"
        path.write_text(text, encoding="utf-8", newline="")
        notes: list[str] = []
        assert selected(read_predictions(path, SINGLE, notes=notes)) == [{0}, {1}, {2}, {3}]
        assert notes == []


@pytest.mark.parametrize("indent", [None, 1])
def test_one_object_maps_ids_to_answers(indent):
    text = json.dumps({f"q{i}": "ABCD"[i] for i in range(4)}, indent=indent)
    assert get_format("answers").recognises(text)
    assert selected(read(text, SINGLE)[0]) == [{0}, {1}, {2}, {3}]


def test_one_object_may_have_lists_and_null():
    text = '{"q0": ["A", "C"], "q1": "B", "q2": [], "q3": null}'
    predictions, notes = read(text, SEVERAL)
    assert selected(predictions) == [{0, 2}, {1}, set(), None]
    assert len(notes) == 1


def test_one_object_has_an_answer_to_each_question():
    with raises(DataError, source="a", found="none for 'q1'"):
        read('{"q0": "A"}', SINGLE)


def test_cells_may_have_line_ends_and_commas(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        'id,response\nq0,"B"\nq1,"Answer:\nB"\nq2,"[""A"", ""C""]"\nq3,"A, C"\n', encoding="utf-8"
    )
    assert selected(read_predictions(path, SEVERAL)) == [{1}, {1}, {0, 2}, {0, 2}]


def test_predictions_are_read_and_not_the_gold_next_to_them():
    columns = {"answer": "A", "prediction": "B", "output": "it is B"}
    predictions, (note,) = read(json_lines({"id": f"q{i}", **columns} for i in range(4)), SINGLE)
    assert selected(predictions) == [{1}] * 4
    assert "'prediction'" in note
    assert "answer, output" in note


def test_columns_that_cannot_be_told_apart_are_refused():
    with raises(DataError, source="a", found="answer, response", expected="one of them"):
        read("id,answer,response\nq0,A,B\n", SINGLE)
    with raises(DataError, source="a", expected=re.compile("^prediction or .*answer")):
        read("id,label\nq0,A\n", SINGLE)
    with raises(DataError, source="a", expected=re.compile("^id or question_id")):
        read('{"name": "q0", "answer": "A"}\n{"name": "q1", "answer": "A"}\n', SINGLE)
    with raises(DataError, source="a", where="line 1", expected="unique names"):
        read("id,answer,answer\nq0,A,B\n", SINGLE)
    with raises(DataError, source="a", where="line 3", found="1", expected=re.compile("^2")):
        read("id,answer\nq0,A\nq1\n", SINGLE)


def test_unparsed_answers_are_counted_and_count_as_wrong():
    text = jsonl("A", "I think so", None, "")
    predictions, notes = read(text, SINGLE)
    assert [len(p.answers) for p in predictions] == [1, 0, 0, 0]
    assert METRICS["accuracy"](SINGLE, predictions) == 0.25
    assert notes == [
        "a: 2 of 4 answers could not be parsed and count as wrong: first at id 'q1' (line 2): 'I "
        "think so'",
        "a: 1 of 4 questions have no answer and score 0",
    ]


def test_missing_and_unknown_questions_are_refused():
    with raises(
        DataError, source="a", problem="2 of 4 questions have no row", found="none for 'q2'"
    ):
        read(jsonl("A", "B"), SINGLE)
    extra = jsonl("A", "A", "A", "A", "A")
    with raises(
        DataError,
        source="a",
        where="line 5",
        field="id",
        found="'q4'",
        expected=re.compile("4 ids .*'q0'"),
    ):
        read(extra, SINGLE)
    assert len(read(extra, SINGLE, partial=True)[0]) == 4


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ([0, 1, 2, 3], [0, 1, 2, 3]),
        ([1, 2, 3, 4], [0, 1, 2, 3]),
        (["4", "2", "1", "1"], [3, 1, 0, 0]),
        ([0.0, 1.0, 1.0, 1.0], [0, 1, 1, 1]),
        ([0, 1, 1, "C"], [0, 1, 1, 2]),
        ([0, 1, 9, 2], [0, 1, None, 2]),
    ],
)
def test_indices_count_from_where_the_file_shows(values, options):
    expected = [None if option is None else {option} for option in options]
    for in_objects in (False, True):
        answers = [{"answer": value} for value in values] if in_objects else values
        assert selected(read(jsonl(*answers), SINGLE)[0]) == expected


def test_an_option_of_one_period_is_not_an_empty_answer():
    predictions, notes = read(jsonl("", "A"), ask_each(2, "tea", "."))
    assert predictions[0].answers == ()
    assert len(notes) == 1


@pytest.mark.parametrize("values", [[1, 2, 3, 1], [0, 4, 1, 1], [1, 2, 3, "C"]])
def test_indices_that_may_count_from_0_or_1_are_refused_unless_declared(values):
    with raises(DataError, field="answer", found=re.compile("index0: .*; index1: ")) as caught:
        read(jsonl(*values), SINGLE)
    assert re.search(
        r"-s answers:\S+,reading=index0 or -s answers:\S+,reading=index1", caught.value.hint
    )
    for first in (0, 1):
        predictions, _ = read(jsonl(*values), SINGLE, reading=f"index{first}")
        option = values[0] - first
        assert selected(predictions)[0] == (None if option < 0 else {option})


def test_numbers_that_are_texts_of_options_are_texts():
    dataset = Dataset([ask("q0", "3", "4", "2", "5"), ask("q1", "1945", "1918", "1", "0")])
    predictions, notes = read("id,answer\nq0,2\nq1,1945\n", dataset)
    assert selected(predictions) == [{2}, {0}]
    predictions, notes = read("id,answer\nq0,7\nq1,B\n", dataset)
    assert selected(predictions) == [None, {1}]
    assert len(notes) == 1


def test_several_indices_count_from_where_the_file_shows():
    from_zero, _ = read(jsonl([0, 2], [1], [], [3, 1]), SEVERAL)
    assert selected(from_zero) == [{0, 2}, {1}, set(), {1, 3}]
    from_one, _ = read(jsonl("1,3", "2", "4", "1 2"), SEVERAL)
    assert selected(from_one) == [{0, 2}, {1}, {3}, {0, 1}]


def test_lists_that_may_be_indices_or_flags_are_refused():
    with raises(
        DataError,
        field="answer",
        hint=re.compile(r"-s answers:\S+,reading=index0 or .*,reading=flags"),
    ):
        read(jsonl([1, 0, 1, 0], [0], [0], [0]), SEVERAL)


def test_a_letter_that_is_the_text_of_another_option_is_what_the_other_answers_are():
    dataset = Dataset([ask("q0", "B", "A", "C", "D"), *SINGLE[1:]])
    letters, _ = read(jsonl("A", "B", "C", "D"), dataset)
    assert selected(letters)[0] == {0}
    texts, _ = read(jsonl("A", "wren", "the dog", "no one"), dataset)
    assert selected(texts)[0] == {1}


def test_several_rows_of_a_question_are_samples_whose_mean_counts():
    rows = "q0,A q0,B q0,A q1,A q1,? q2,A q2,A q3,x".split()
    predictions, notes = read("\n".join(["id,answer", *rows]), SINGLE)
    assert [p.answers for p in predictions] == [
        (frozenset({0}), frozenset({1})),
        (frozenset({0}),),
        (frozenset({0}),),
        (),
    ]
    assert [p.weights for p in predictions] == [(2 / 3, 1 / 3), (0.5,), None, None]
    mean = (2 / 3 + 1 / 2 + 1 + 0) / 4
    assert METRICS["accuracy"](SINGLE, predictions) == pytest.approx(mean)
    assert any("2 of 8 answers" in note for note in notes)
    assert any("3 of 4 questions have several answers" in note for note in notes)


@pytest.mark.parametrize("name", ["f1_m", "f1_a", "em0", "em1", "superglue_f1_m"])
def test_an_unparsed_sample_scores_what_no_answer_scores(name):
    """Statistics of samples are averaged, and a question without an answer has all its options
    wrong.
    """
    texts = {
        "half": "id,answer\nq0,A\nq0,?\nq1,A\nq2,A\nq3,A\n",
        "all": jsonl("A", "A", "A", "A"),
        "unparsed": jsonl("?", "A", "A", "A"),
    }
    rows = {}
    for label, text in texts.items():
        predictions, _ = read(text, SEVERAL)
        rows[label] = METRICS[name].statistics(SEVERAL, predictions)[0]
    assert rows["half"] == pytest.approx((rows["all"] + rows["unparsed"]) / 2)
    assert any(rows["all"] != rows["unparsed"])


@pytest.mark.parametrize("metric", ["em", "f1"])
def test_an_unparsed_sample_of_texts_scores_0(metric):
    spans = ask_for_text(1, "Tam", "Wren")
    predictions, _ = read('{"id": "q0", "answer": "Tam"}\n{"id": "q0", "answer": ""}\n', spans)
    assert METRICS[metric](spans, predictions) == 0.5


def test_texts_of_spans_and_cloze_are_read_as_they_are():
    predictions, _ = read(jsonl("Old Tam", 1945, ["Wren"]), ask_for_text(3, "Tam"))
    assert [p.answers for p in predictions] == [(("Old Tam",),), (("1945",),), (("Wren",),)]
    mention = (Candidate("Tam", 4, 7),)
    cloze = Dataset([Question("q0", PASSAGE, "@placeholder", mention, ("Tam",), Task.CLOZE)])
    assert read("id\tpred\nq0\tA\n", cloze)[0][0].answers == (("A",),)


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        ("Tam, Wren", (("Tam, Wren",),)),
        (["Tam", "Wren"], (("Tam", "Wren"),)),
        ('["Tam", "Wren"]', (("Tam", "Wren"),)),
        (["Tam", " "], ()),
    ],
)
def test_several_spans_are_a_list(value, answers):
    questions = ask_for_text(1, "Tam", task=Task.MULTI_SPAN)
    assert read(jsonl(value), questions)[0][0].answers == answers


def test_rows_of_candidates_are_of_another_format(tmp_path):
    path = tmp_path / "rows"
    rows = []
    for i, candidate in itertools.product(range(4), range(4)):
        row = {"question_id": f"q{i}", "candidate": candidate, "selected": candidate == 0}
        rows.append(row | {"answer": "x"})
    path.write_text(json_lines(rows), encoding="utf-8")
    assert selected(read_predictions(path, SINGLE)) == [{0}] * 4


@pytest.mark.parametrize(("option", "written"), [(25, "Z"), (26, "option 26")])
def test_options_beyond_z_are_written_as_texts(option, written):
    thirty_options = ask_each(1, *(f"option {i}" for i in range(30)))
    text = get_format("answers").write(thirty_options, predictions=select(thirty_options, {option}))
    assert json.loads(text) == {"id": "q0", "answer": written}
    assert selected(read(text, thirty_options)[0]) == [{option}]


@pytest.mark.parametrize("text", ["q0,A\nq1,B\n", "id,completion\nq0,A\n", "id;completion\nq0;A\n"])
def test_a_table_without_known_columns_is_told_their_names(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with raises(DataError, hint=re.compile("such as id,prediction"), found=repr(text[:40].strip())):
        read_predictions(tmp_path / "a.csv", SINGLE)


@pytest.mark.parametrize(
    "text",
    [
        "0,A\n1,B\n2,A\n3,C\n",
        "1\tA\n2\tB\n3\tA\n4\tC\n",
        "A\nB\nA\nC\n",
        "label\nA\nB\nA\nC\n",
        "id,answer\n3,C\n0,A\n2,A\n1,B\n",
    ],
)
def test_answers_without_ids_are_those_of_the_questions_by_number(text):
    assert get_format("answers").recognises(text)
    assert not get_format("mctest-scores").recognises(text)
    by_id, _ = read("id,answer\nq0,A\nq1,B\nq2,A\nq3,C\n", SINGLE)
    predictions, notes = read(text, SINGLE)
    assert predictions == by_id
    start = text[0] if text[0] == "1" else "0"
    assert notes == [f"a: answers are matched by number: {start} is 'q0'"]


@pytest.mark.parametrize("text", ["0,A\n1,B\n", "A\nB\nA\nC\nA\n", "2,A\n3,B\n4,A\n5,C\n"])
def test_numbers_that_are_not_those_of_the_questions_are_refused(text):
    facts = {"problem": "the numbers of the answers are not those of the questions"}
    text = f"id,answer\n{text}" if text.startswith("2") else text
    with raises(DataError, source="a", expected="4 answers with numbers from 0 or 1", **facts):
        read(text, SINGLE)


def test_numbers_that_are_ids_stay_ids():
    data = Dataset([ask(str(3 - number), "a", "b") for number in range(4)])
    predictions, _ = read("0,B\n1,A\n2,A\n3,A\n", data)
    assert selected(predictions) == [{0}, {0}, {0}, {1}]
    predictions, _ = read("B\nA\nA\nA\n", data)
    assert selected(predictions) == [{1}, {0}, {0}, {0}]


def test_a_submission_of_numbered_answers_has_the_accuracy_that_plain_python_counts(shared_data):
    data, answers = (shared_data / "wild" / name for name in ("recam1_dev.jsonl", "recam_sub1.csv"))
    if not answers.exists():
        pytest.skip("the submission is not in the shared data")
    options = "+".join(f"option_{number}" for number in range(5))
    fields = f"passage=article,question=question,candidates={options},gold=label"
    dataset = load(data, fields=fields)
    predictions = read_predictions(answers, dataset)
    labels = [json.loads(line)["label"] for line in data.read_text("utf-8").splitlines()]
    pairs = (line.split(",") for line in answers.read_text("utf-8").split())
    n_right = sum(labels[int(number)] == int(answer) for number, answer in pairs)
    assert METRICS["accuracy"](dataset, predictions) == n_right / len(labels)
