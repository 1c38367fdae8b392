"""Reading with ``skip``: what is left out, where it was, and what remains."""

from __future__ import annotations

import json
import pickle
import re

import pytest

from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError
from tests.errors import raises

_ROW = {"passage": "Ann met Bob.", "question": "Who?", "candidates": ["Ann", "Eve"], "gold": 0}


def _write_lines(path, rows):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def damaged(tmp_path):
    """Eleven lines, of which the first, the sixth and the last two are sound."""
    rows = [
        _ROW | {"id": "a"},
        '{"id": "b", "passage": ',
        _ROW | {"id": "c", "gold": 2},
        {"id": "d", "question": "Who?", "candidates": ["Ann", "Eve"], "gold": 0},
        _ROW | {"id": "e", "candidates": ["Ann", True]},
        _ROW | {"id": "f", "gold": 1},
        _ROW | {"id": "a"},
        _ROW | {"id": "g", "gold": "A"},
        "[1]",
        _ROW | {"id": "h"},
        _ROW | {"id": "a", "question": "Who else?"},
    ]
    return _write_lines(tmp_path / "damaged.jsonl", rows)


def test_every_defect_is_kept_with_its_place(damaged):
    with raises(DataError, where="line 2 column 24"):
        load(damaged)
    dataset = load(damaged, skip="bad")
    assert [question.id for question in dataset] == ["a", "f", "h", "a (2)"]
    assert [(error.found, error.expected) for error in dataset.log.repaired] == [("a", "a (2)")]
    places = [(error.line, error.question, error.kind) for error in dataset.log.left_out]
    assert sorted(places) == [
        (2, None, "not valid JSON"),
        (3, "c", "gold is not among the candidates"),
        (4, "d", "missing (passage)"),
        (5, "e", "wrong type"),
        (7, "a", "duplicate question id"),
        (8, "g", "gold is coded in several ways"),
        (9, None, "wrong type"),
    ]
    lines = {"a": 1, "f": 6, "h": 10, "a (2)": 11}
    places = {id: f"{damaged}, line {line}" for id, line in lines.items()}
    assert dataset.log.places == places
    assert any("duplicate question id: 1" in note and "line 7" in note for note in dataset.notes)


def test_a_damaged_first_line_does_not_hide_the_format(tmp_path):
    path = _write_lines(tmp_path / "a.jsonl", ['{"id": "x", ', _ROW, _ROW | {"gold": 1}])
    with raises(DataError, where="line 1 column 13"):
        load(path)
    dataset = load(path, skip="bad")
    assert (dataset.reader, len(dataset)) == ("jsonl", 2)
    assert [error.line for error in dataset.log.left_out] == [1]


def test_sound_data_are_the_same(tmp_path, form, write):
    path = write(tmp_path, form)
    strict, lenient = load(path), load(path, skip="bad")
    assert lenient.fingerprint == strict.fingerprint
    assert lenient.notes == strict.notes
    assert lenient.log.left_out == ()
    assert list(lenient.log.places) == [question.id for question in strict]
    assert strict.log is None


def _cut(json_form, value):
    """Damage one question in a small file of two questions or more; the id of a sound one is
    returned.
    """
    if json_form == "race":
        value["options"][0] = [1, 2]
        return "middle7-1", "$.options"
    if json_form == "multirc":
        del value["data"][0]["paragraph"]["questions"][0]["answers"]
        return "News/rain.txt==1", "$.data[0].paragraph.questions[0]"
    if json_form == "squad":
        value["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = "x"
        return "s2", "$.data[0].paragraphs[0].qas[0].answers[0]"
    raise AssertionError(json_form)


@pytest.mark.parametrize("name", ["race", "multirc", "squad"])
def test_one_bad_question_leaves_its_passage(tmp_path, write, content, name):
    value = content(name)
    sound, where = _cut(name, value)
    path = write(tmp_path, name, value)
    dataset = load(path, skip="bad")
    assert [question.id for question in dataset] == [sound]
    assert [error.where.startswith(where) for error in dataset.log.left_out] == [True]


def test_a_bad_passage_leaves_the_others(tmp_path, write, content):
    value = content("dream") + content("dream") + content("dream")
    value[0][0] = "no turns"
    value[2][2] = "12-4"
    dataset = load(write(tmp_path, "dream", value), "dream", skip="bad")
    assert [question.id for question in dataset] == ["12-3-0", "12-4-0"]
    assert [error.where for error in dataset.log.left_out] == ["$[0]"]


def test_stories_and_lines_of_mctest(tmp_path, write, content):
    lines = content("mctest").splitlines()
    lines[0] = lines[0].replace("one: What colour", "What colour")
    dataset = load(write(tmp_path, "mctest", "\n".join(lines) + "\n"), "mctest", skip="bad")
    assert len(dataset) == 7
    (error,) = dataset.log.left_out
    assert (error.line, error.question) == (1, "mc160.dev.0,2")


def test_reading_of_cbt_goes_on_after_the_next_blank_line(tmp_path, write, content):
    first, second, _ = content("cbt").split("\n\n")
    lines = first.split("\n")
    del lines[5]
    path = write(tmp_path, "cbt", "\n".join(lines) + "\n\n" + second + "\n\n")
    dataset = load(path, "cbt", skip="bad")
    assert len(dataset) == 1
    assert [(error.line, error.kind) for error in dataset.log.left_out] == [
        (6, "wrong line number")
    ]


def test_bad_rows_of_a_table_are_left_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "passage,question,candidate_0,candidate_1,gold\n"
        "Ann.,Who?,Ann,Eve,0\n"
        "Ann.,Who?,Ann\n"
        'Ann.,"Who"x,Ann,Eve,0\n'
        "Ann.,Who now?,Ann,Eve,1\n"
        ",,,,\n"
        " , ,,,\n",
        "utf-8",
    )
    dataset = load(path, skip="bad")
    assert [question.text for question in dataset] == ["Who?", "Who now?"]
    problems = {error.line: error.kind for error in dataset.log.left_out}
    assert problems == {3: "wrong number of columns", 4: "malformed table"}
    assert "rows of empty cells skipped: 2" in dataset.notes


def test_a_row_of_hugging_face_keeps_the_ids_of_the_others(tmp_path, write, content):
    row = content("huggingface")
    rows = [row, {**row, "options": 3}, {**row, "question": "What else?"}]
    path = _write_lines(tmp_path / "rows.jsonl", rows)
    assert [q.id for q in load(path, skip="bad")] == ["high2-0", "high2-2"]


def test_without_any_question_the_error_counts_all(tmp_path):
    rows = [_ROW | {"gold": gold} for gold in (5, "x", 7)]
    path = _write_lines(tmp_path / "a.jsonl", rows)
    with raises(DataError, source=str(path)) as caught:
        load(path, skip="bad")
    assert caught.value.found.startswith("3 defects, the first: ")


def test_moved_offsets_are_counted_with_their_places(tmp_path, write, content):
    value = content("squad")
    dataset = load(write(tmp_path, "squad", value), skip="bad")
    (moved,) = dataset.log.repaired
    assert (moved.question, moved.found, moved.expected) == ("s1", "'aya ' at 1", "'Maya'")


def test_wrong_gold_does_not_decide_the_coding(tmp_path):
    row = {"p": "Ann.", "o": ["x", "y", "z"]}
    rows = [row | {"q": f"{i}?", "a": gold} for i, gold in enumerate("ABCA")]
    rows += [row | {"q": "5?", "a": 2}]
    path = _write_lines(tmp_path / "a.jsonl", rows)
    fields = "passage=p,question=q,candidates=o,gold=a"
    with raises(DataError, where="line 5", field="gold"):
        load(path, fields=fields)
    with raises(DataError, where="line 5", field="gold") as caught:
        load(path, fields=fields, skip="bad")
    assert "--gold-as letter (4 of 5 rows)" in caught.value.hint
    dataset = load(path, fields=fields, skip="bad", gold_as="letter")
    assert [sorted(question.gold) for question in dataset] == [[0], [1], [2], [0]]
    assert [error.line for error in dataset.log.left_out] == [5]


@pytest.mark.parametrize("skip", [(), "bad"])
def test_indices_from_0_and_from_1_are_refused(skip):
    rows = [{"p": "Ann.", "q": "?", "o": ["x", "y", "z"], "a": gold} for gold in (0, 0, 1, 2, 3)]
    fields = "passage=p,question=q,candidates=o,gold=a"
    with raises(DataError, field="gold", where="row 4") as caught:
        from_rows(rows, fields=fields, skip=skip)
    assert "--gold-as index0 (4 of 5 rows) or --gold-as index1 (3 of 5 rows)" in caught.value.hint
    assert len(from_rows(rows, fields=fields, skip="bad", gold_as="index0")) == 4


def test_our_own_schema_counted_from_1_is_not_cut_to_what_fits():
    rows = [_ROW | {"gold": gold} for gold in (1, 2, 1)]
    with raises(DataError, field="gold", found="the number 2") as caught:
        from_rows(rows, skip="bad")
    assert "--gold-as index1" in caught.value.hint
    assert [sorted(q.gold) for q in from_rows(rows, gold_as="index1")] == [[0], [1], [0]]


def test_rows_of_another_task_are_left_out():
    rows = [_ROW | {"gold": [0]}, _ROW, _ROW | {"gold": 1}]
    dataset = from_rows(rows, skip="bad")
    assert (dataset.task, len(dataset)) == ("single-choice", 2)
    assert [error.kind for error in dataset.log.left_out] == ["the rows have different tasks"]


def test_unlabelled_questions_can_be_left_out(tmp_path):
    rows = [_ROW | {"id": f"q{i}", "gold": 0 if i % 2 else None} for i in range(10)]
    path = _write_lines(tmp_path / "a.jsonl", rows)
    dataset = load(path, skip="unlabelled")
    assert [question.id for question in dataset] == ["q1", "q3", "q5", "q7", "q9"]
    assert "questions left out because their gold is hidden (q0, q2, q4, …): 5" in dataset.notes
    assert load(**dataset.read_with).fingerprint == dataset.fingerprint
    with raises(DataError, source=str(path)):
        load(
            _write_lines(path, [_ROW | {"gold": None, "task": "single-choice"}]), skip="unlabelled"
        )


def test_how_the_data_were_read_is_kept(damaged):
    dataset = load(damaged, skip=("bad", "unlabelled"))
    assert dataset.read_with["skip"] == ["bad", "unlabelled"]
    assert load(**dataset.read_with).fingerprint == dataset.fingerprint


def test_the_question_of_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(DataError("bad", source="a", where="line 3", question="q7")))
    assert (error.question, error.place) == ("q7", "a, line 3, question q7")


def test_damaged_bytes_are_lines_with_their_numbers(tmp_path):
    rows = [
        json.dumps(_ROW | {"id": str(i), "question": "Who, café?"}, ensure_ascii=False)
        for i in range(6)
    ]
    lines = [row.encode("latin-1" if i == 4 else "utf-8") for i, row in enumerate(rows)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*lines[:2], b"\0\0", *lines[2:]]))
    with raises(DataError, line=3):
        load(path)
    dataset = load(path, skip="bad")
    assert [question.id for question in dataset] == list("012345")
    assert [q.id for q in dataset if "\ufffd" in q.text] == ["4"]
    assert [(error.line, "NUL" in error.problem) for error in dataset.log.repaired] == [
        (3, True),
        (6, False),
    ]
    path.write_bytes("\n".join(rows).encode("latin-1"))
    with raises(DataError, line=1):  # not damaged, but in another encoding
        load(path, skip="bad")


@pytest.mark.parametrize("closed", [True, False])
def test_an_open_quote_leaves_out_its_own_line_only(tmp_path, closed):
    rows = [
        f'{i},"Ann met Bob {i}.",Who?,Ann,Eve,0' if closed else f"{i},Ann,Who?,Ann,Eve,0"
        for i in range(6)
    ]
    rows[2] = '2,"Ann met Bob,Who?,Ann,Eve,0'
    rows[4] = rows[4].replace("Who?", '"Who?\nWhere?"')
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,passage,question,candidate_0,candidate_1,gold", *rows]), "utf-8")
    with raises(DataError, line=4):
        load(path)
    dataset = load(path, skip="bad")
    assert [question.id for question in dataset] == list("01345")
    assert [error.line for error in dataset.log.left_out] == [4]
    assert dataset.log.places["5"].endswith("line 8")


def test_a_line_of_wrong_answers_leaves_out_its_story(tmp_path, write, content):
    path = write(tmp_path, "mctest")
    story = content("mctest").partition("\n")[0]
    path.write_text(story.replace("mc160.dev.0", "mc160.dev.8") + "\n" + story + "\n", "utf-8")
    path.with_suffix(".ans").write_text("A\tB\tE\tD\nA\tB\tC\tD\n", "utf-8")
    with raises(DataError, line=1):
        load(path)
    dataset = load(path, skip="bad")
    assert [q.id for q in dataset] == [f"mc160.dev.0,{i}" for i in range(4)]
    assert [(error.line, error.source.endswith(".ans")) for error in dataset.log.left_out] == [
        (1, True)
    ]


@pytest.mark.parametrize("codings", ["AB12", ["Eve", "Ann", "A", "B"]])
def test_rows_divided_between_two_codings_leave_the_choice_to_the_user(tmp_path, codings):
    rows = [_ROW | {"id": str(i), "gold": gold} for i, gold in enumerate(codings)]
    path = _write_lines(tmp_path / "a.jsonl", rows)
    fields = {role: role for role in ("id", "passage", "question", "candidates", "gold")}
    with raises(DataError, field="gold") as caught:
        load(path, fields=fields, skip="bad")
    assert "--gold-as letter" in caught.value.hint
    dataset = load(path, fields=fields, skip="bad", gold_as="letter")
    assert (len(dataset), len(dataset.log.left_out)) == (2, 2)


def test_one_wrong_cell_does_not_change_how_the_others_are_read(tmp_path):
    path = tmp_path / "a.csv"
    header = "passage,question,candidate_0,candidate_1,candidate_2,gold\n"
    path.write_text(
        header + "".join(f"P{i},Q,x,y,z,{gold}\n" for i, gold in enumerate("01203")), "utf-8"
    )
    with raises(DataError, where="line 6", field="gold"):
        load(path)
    dataset = load(path, skip="bad")
    assert [sorted(question.gold) for question in dataset] == [[0], [1], [2], [0]]
    years = "".join(
        f"P{i},Q,1914,1918,1939,{gold}\n" for i, gold in enumerate(["1918", "1939", "2", "1914"])
    )
    path.write_text(header + years, "utf-8")
    for skip in ((), "bad"):
        with raises(
            DataError, where="line 4", field="gold", hint=re.compile("--gold-as text .3 of 4 rows")
        ):
            load(path, skip=skip)
