"""Rows with many questions: paths with ``[]``, ids, facts, errors, and the commands that errors
propose.
"""

from __future__ import annotations

import csv
import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc import from_rows, load
from classic_rc.datasets.fields import split_question
from classic_rc.errors import DataError
from tests.errors import raises
from tests.proposals import propose

_PASSAGE = "Ann met Bob in Rome. They ate rice."
_QUESTIONS = [
    {"q": "Who met Bob?", "options": ["Ann", "Eve"], "gold": 0, "level": "easy"},
    {"q": "Where?", "options": ["Oslo", "Rome", "Bonn"], "gold": 1, "level": "hard"},
]
_ROWS = [
    {"name": "a", "text": _PASSAGE, "list": _QUESTIONS},
    {"name": "b", "text": "Tom saw Kim.", "list": [{**_QUESTIONS[0], "q": "Who saw?"}]},
]
_FIELDS = "passage=text,question=list[].q,candidates=list[].options,gold=list[].gold"


def _columns(row):
    keys = row["list"][0] if row["list"] else ()
    return {**row, "list": {key: [element[key] for element in row["list"]] for key in keys}}


def _parallel(row):
    lists = {f"{key}s": [question[key] for question in row["list"]] for key in row["list"][0]}
    return {"name": row["name"], "text": row["text"], **lists}


def _write(path, rows, as_list=False):
    text = json.dumps(rows) if as_list else "\n".join(map(json.dumps, rows))
    path.write_text(text, "utf-8")
    return path


def test_each_element_of_a_list_is_a_question():
    data = from_rows(_ROWS, fields=_FIELDS)
    assert [question.text for question in data] == ["Who met Bob?", "Where?", "Who saw?"]
    assert [sorted(question.gold) for question in data] == [[0], [1], [0]]
    assert [question.id for question in data] == ["row-0-0", "row-0-1", "row-1-0"]
    assert data[0].passage is data[1].passage
    assert data[1].meta == {"name": "a", "level": "hard"}


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ("id=name", ["a-0", "a-1", "b-0"]),
        ("passage_id=name", ["a-0", "a-1", "b-0"]),
        ("id=list[].q", ["Who met Bob?", "Where?", "Who saw?"]),
    ],
)
def test_ids_are_those_of_the_questions_or_made_of_the_rows(fields, ids):
    assert [question.id for question in from_rows(_ROWS, fields=f"{_FIELDS},{fields}")] == ids


def test_files_of_all_forms_have_one_content(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(_ROWS), tmp_path / "rows.parquet")
    fields = f"{_FIELDS},id=name"
    loaded = [
        load(_write(tmp_path / "rows.jsonl", _ROWS), fields=fields),
        load(_write(tmp_path / "rows.json", _ROWS, as_list=True), fields=fields),
        load(tmp_path / "rows.parquet", fields=fields),
        from_rows(map(_columns, _ROWS), fields=fields),
        from_rows([{**row, "list": json.dumps(row["list"])} for row in _ROWS], fields=fields),
        from_rows(
            map(_parallel, _ROWS),
            fields="passage=text,question=qs[],candidates=optionss[],gold=golds[],id=name",
        ),
    ]
    by_name = {row["name"]: {**row, "name": row["name"]} for row in _ROWS}
    path = tmp_path / "by_name.json"
    path.write_text(json.dumps(by_name), "utf-8")
    loaded.append(load(path, fields=fields))
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"version": "1", "data": _ROWS}), "utf-8")
    loaded.append(load(path, fields=fields))
    deep = re.sub(r"\b(text|list|name)\b", r"data[].\1", fields)
    loaded.append(load(path, fields=deep))
    path.write_text(json.dumps({"data": _ROWS}), "utf-8")
    loaded += [load(path, fields=fields), load(path, fields=deep)]
    assert len({data.fingerprint for data in loaded}) == 1


def test_a_row_that_has_no_questions_is_counted():
    data = from_rows([*_ROWS, {**_ROWS[0], "list": []}], fields=_FIELDS)
    assert "rows without questions: 1" in data.notes


def test_the_header_line_is_left_out(tmp_path):
    path = _write(tmp_path / "rows.jsonl", [{"header": {"dataset": "X"}}, *_ROWS])
    data = load(path, fields=_FIELDS)
    assert [question.id for question in data] == ["line-2-0", "line-2-1", "line-3-0"]
    assert data.notes == ("the first line, a header, is left out",)


@pytest.mark.parametrize(
    ("row", "fields", "facts"),
    [
        (
            {"text": "T", "qs": ["a", "b"], "os": [["x", "y"]], "gs": ["A", "B"]},
            "passage=text,question=qs[],candidates=os[],gold=gs[]",
            {
                "where": "row 0",
                "problem": "lists of different lengths",
                "found": "2 of qs, 1 of os, 2 of gs",
            },
        ),
        (
            {"text": "T", "list": {"q": ["a", "b"], "options": [["x", "y"]], "gold": [0, 0]}},
            _FIELDS,
            {"where": "row 0, $.list", "problem": "lists of different lengths"},
        ),
        (
            {"text": "T", "other": []},
            _FIELDS,
            {"where": "row 0", "problem": "missing", "field": "list[]"},
        ),
        (
            {"text": "T", "list": "none"},
            _FIELDS,
            {"where": "row 0, $.list", "problem": "wrong type", "found": "'none'"},
        ),
        (
            {"text": "T", "list": [_QUESTIONS[0], {"q": 3}]},
            _FIELDS,
            {"where": "row 0, $.list[1]", "problem": "wrong type", "field": "list[].q"},
        ),
        (
            {"text": "T", "data": [{"list": _QUESTIONS}]},
            _FIELDS.replace("list[]", "data.list[]"),
            {"where": "row 0", "problem": "wrong type", "found": "a list of 1"},
        ),
        (
            {"text": "T", "list": ["a"]},
            _FIELDS,
            {"where": "row 0, $.list[0]", "problem": "missing", "field": "list[].q"},
        ),
        (
            {"text": "T", "list": [{"q": "Who?"}]},
            "passage=text,question=list[].q,candidates=list[].q",
            {"where": "row 0, $.list[0]", "problem": "no options in the text of the question"},
        ),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_their_place(row, fields, facts):
    with raises(DataError, source="rows", **facts):
        from_rows([row], fields=fields)


def test_a_bad_question_is_left_out_alone(tmp_path):
    rows = [{**_ROWS[0], "list": [*_QUESTIONS, {"q": 3}]}, _ROWS[1], {"name": "c", "text": "T"}]
    data = load(_write(tmp_path / "rows.jsonl", rows), fields=f"{_FIELDS},id=name", skip="bad")
    assert [question.id for question in data] == ["a-0", "a-1", "b-0"]
    places = {(error.where, error.question) for error in data.log.left_out}
    assert places == {("line 1, $.list[2]", "a-2"), ("line 3", None)}


_names = st.sampled_from("abcd")
_elements = st.fixed_dictionaries(
    {
        "q": st.text(min_size=1, max_size=5),
        "options": st.lists(_names, min_size=2, max_size=4, unique=True),
        "gold": st.sampled_from([0, 1]),
    }
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"text": st.text(max_size=8), "list": st.lists(_elements, min_size=1, max_size=3)}
        ),
        min_size=1,
        max_size=4,
    )
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_nested_rows_are_the_rows_that_one_writes_by_hand(rows):
    rows = [
        {"text": f"{number} {row['text']}", "list": row["list"]} for number, row in enumerate(rows)
    ]
    by_hand = [
        {
            "id": f"{number}-{i}",
            "passage": row["text"],
            "question": f"{i} {element['q']}",
            "candidates": element["options"],
            "gold": element["gold"],
        }
        for number, row in enumerate(rows)
        for i, element in enumerate(row["list"])
    ]
    nested = [
        {
            "id": number,
            "text": row["text"],
            "list": [{**e, "q": f"{i} {e['q']}"} for i, e in enumerate(row["list"])],
        }
        for number, row in enumerate(rows)
    ]
    fields = f"{_FIELDS},id=id"
    expected = from_rows(by_hand, gold_as="index0")
    for form in (nested, [*map(_columns, nested)]):
        data = from_rows(form, fields=fields, gold_as="index0")
        assert data.fingerprint == expected.fingerprint
        assert [question.gold for question in data] == [question.gold for question in expected]


# --------------------------------------------------------------------------------------------------
# Options in the question's text, and answers that are objects.


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("What rose?\nA. the river\nB. rain", ("What rose?", ["the river", "rain"])),
        ("What rose?\n\n (A) it \n (B) rain", ("What rose?", ["it", "rain"])),
        ("It rose.\nIt fell.\n1) x\n2) y\n3) z", ("It rose.\nIt fell.", ["x", "y", "z"])),
        ("1. one 2. two?\nA. x\nB. y", ("1. one 2. two?", ["x", "y"])),
        ("What rose?", None),
        ("A. x\nB. y", None),
        ("What?\nA. only one", None),
    ],
)
def test_the_options_that_end_a_text_are_split_from_it(text, parts):
    assert split_question(text) == parts


def test_one_path_for_question_and_candidates_splits_the_text():
    row = {"text": "It rained.", "say": "Did it?\nA. no\nB. yes", "right": "B"}
    data = from_rows([row], fields="passage=text,question=say,candidates=say,gold=right")
    assert data[0].text == "Did it?"
    assert [candidate.text for candidate in data[0].candidates] == ["no", "yes"]
    assert data[0].gold == {1}


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ({"number": "3", "date": {"day": "", "month": "", "year": ""}, "spans": []}, ("3",)),
        ({"number": "", "date": None, "spans": ["Ann", "Bob"]}, ("Ann", "Bob")),
        ({"number": "", "date": {"day": "3", "month": "May", "year": ""}}, ("3 May",)),
    ],
)
def test_the_one_answer_in_an_object_is_gold(answer, gold):
    row = {"text": "Ann and Bob scored 3 goals.", "list": [{"q": "Who?", "answer": answer}]}
    fields = "passage=text,question=list[].q,gold=list[].answer,task=multi-span"
    assert from_rows([row], fields=fields)[0].gold == gold


def test_several_answers_in_an_object_are_refused():
    row = {"text": "T", "list": [{"q": "Who?", "answer": {"number": "3", "spans": ["Ann"]}}]}
    with raises(DataError, source="rows", where="row 0, $.list[0]", field="gold"):
        from_rows([row], fields="passage=text,question=list[].q,gold=list[].answer,task=multi-span")


# --------------------------------------------------------------------------------------------------
# Proposals.


@pytest.mark.parametrize(
    ("file", "fields"),
    [
        (
            "quality_like.jsonl",
            "passage=article,question=questions[].question,candidates=questions[].options,"
            "gold=questions[].gold_label,id=questions[].question_unique_id",
        ),
        (
            "racel.jsonl",
            "passage=article,question=questions[],candidates=options[],gold=answers[],id=id",
        ),
        (
            "mrqa_like.jsonl",
            "passage=context,question=qas[].question,gold=qas[].answers,id=qas[].qid,task=span",
        ),
        (
            "drop_like.json",
            "passage=passage,question=qa_pairs[].question,gold=qa_pairs[].answer,"
            "id=qa_pairs[].query_id,task=multi-span",
        ),
    ],
)
def test_the_error_of_a_file_with_a_list_of_questions_has_the_whole_command(
    shared_data, file, fields
):
    path = shared_data / "cases" / file
    if not path.exists():
        pytest.skip(f"{file} is not in the shared data")
    _, options = propose(path)
    assert options == {"fields": fields}
    assert len(load(path, **options)) > 0


def test_several_lists_of_questions_are_named(tmp_path):
    row = {"passage": "T", "first": [{"question": "Who?"}], "more": [{"question": "Where?"}]}
    error, _ = propose(_write(tmp_path / "rows.jsonl", [row, row]))
    assert error.hint.startswith("Put paths of one list of questions (first[], more[]) in place of")


def test_several_answers_leave_the_task_to_the_user(tmp_path):
    row = {"context": _PASSAGE, "qas": [{"question": "Who?", "answers": ["Ann", "Bob"]}]}
    error, options = propose(_write(tmp_path / "rows.jsonl", [row, row]))
    assert options["fields"].endswith(",task=TASK")
    assert error.hint.startswith("Put span in place of TASK if one of several answers is enough")


_XML = """<tests>
<test id="1"><text>Ann met Bob.</text>
{}
</test>
</tests>"""
_ASKED = """<question n="{n}">Who?
<choice{first}>Ann</choice><choice{second}>Eve</choice></question>"""


@pytest.mark.parametrize(
    ("flags", "gold", "task"),
    [
        ([(' right="yes"', ""), ("", ' right="yes"')], [{0}, {1}], "single-choice"),
        ([(' right="True"', ' right="False"')] * 2, [{0}, {0}], "single-choice"),
        ([(' right="yes"', ""), ("", "")], [{0}, None], "single-choice"),
        (
            [(' right="yes"', ' right="yes"'), ("", ' right="yes"')],
            [{0, 1}, {1}],
            "multiple-answer",
        ),
    ],
)
def test_xml_is_read_by_the_fields_that_are_proposed(tmp_path, flags, gold, task):
    questions = (
        _ASKED.format(n=n, first=first, second=second) for n, (first, second) in enumerate(flags)
    )
    path = tmp_path / "tests.xml"
    path.write_text(_XML.format("\n".join(questions)), "utf-8")
    fields = (
        "passage=test.text,question=test.question[].text,candidates=test.question[].choice.text"
    )
    fields += f",gold=test.question[].choice.right,task={task}"
    assert [question.gold for question in load(path, fields=fields)] == gold


def test_options_with_flags_are_proposed(tmp_path):
    options = [{"text": "Ann", "isAnswer": True}, {"text": "Eve", "isAnswer": False}]
    row = {"passage": _PASSAGE, "items": [{"question": "Who?", "answers": options}] * 2}
    _, options = propose(_write(tmp_path / "rows.jsonl", [row, {**row, "passage": "T"}]))
    assert options == {
        "fields": "passage=passage,question=items[].question,candidates=items[].answers.text,"
        "gold=items[].answers.isAnswer,task=single-choice"
    }


def _lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


_WILD = {
    "arlsat-ar-dev.json": lambda path: [
        (q["question"], q["options"]["ABCDE".index(q["answer"])], row["passage"])
        for row in json.loads(path.read_text("utf-8"))
        for q in row["questions"]
    ],
    "mrqa_newsqa.jsonl": lambda path: [
        (q["question"], tuple(q["answers"]), row["context"])
        for row in _lines(path)
        for q in row["qas"]
    ],
    "leval-tpo.jsonl": lambda path: [
        (
            text.partition("\nA.")[0].strip(),
            re.findall(rf"^{answer}\.[ ]*(.*)", text, re.MULTILINE)[0].strip(),
            row["input"],
        )
        for row in _lines(path)
        for text, answer in zip(row["instructions"], row["outputs"], strict=True)
    ],
    "leval-quality.jsonl": lambda path: [
        (
            text.partition("(A)")[0].strip(),
            re.findall(rf"\({answer[1]}\)(.*)", text)[0].strip(),
            row["input"],
        )
        for row in _lines(path)
        for text, answer in zip(row["instructions"], row["outputs"], strict=True)
    ],
}


def _read_qa4mre(path):
    tests = ElementTree.fromstring(path.read_text("utf-8")).iter("reading-test")
    return [
        (
            question.findtext("q_str").strip(),
            question.findtext("answer[@correct='Yes']").strip(),
            test.findtext("doc").strip(),
        )
        for test in tests
        for question in test.iter("q")
    ]


_WILD["qa4mre-2012-gs.xml"] = _read_qa4mre


@pytest.mark.parametrize("file", _WILD)
def test_files_of_others_are_read_as_plain_python_reads_them(shared_data, file):
    path = shared_data / "wild" / file
    if not path.exists():
        pytest.skip(f"{file} is not in the shared data")
    _, options = propose(path)
    data = load(path, **options)
    reading = [
        (
            question.text,
            question.gold if data.task.has_spans else question.candidates[min(question.gold)].text,
            question.passage.text,
        )
        for question in data
    ]
    assert reading == _WILD[file](path)
    assert all(question.gold for question in data)


# --------------------------------------------------------------------------------------------------
# Columns by number, and fields of one DATA.


_CELLS = [
    ["Who?", "Ann", "Eve", "A"],
    ["Where?", "Oslo", "Rome", "B"],
    ["When?", "now", "then", "B"],
]
_NUMBERED = "passage=const:,question=#1,candidates=#2+#3,gold=#4"


def _table(path, *rows):
    path.write_text("".join("\t".join(cells) + "\n" for cells in rows), "utf-8")
    return path


def test_columns_by_number_are_the_columns_by_name(tmp_path):
    path = _table(tmp_path / "rows.tsv", ["question", "A", "B", "answer"], *_CELLS)
    by_name = load(path, fields="passage=const:,question=question,candidates=A+B,gold=answer")
    assert load(path, fields=_NUMBERED).fingerprint == by_name.fingerprint


def test_a_table_without_a_header_is_noticed(tmp_path):
    path = _table(tmp_path / "rows.tsv", *_CELLS)
    error, options = propose(path)
    assert options == {"fields": _NUMBERED}
    assert error.hint.startswith("The table has no header. Read the rows with: ")
    data = load(path, **options)
    assert [question.text for question in data] == ["Who?", "Where?", "When?"]
    assert [sorted(question.gold) for question in data] == [[0], [1], [1]]
    assert [question.id for question in data] == ["line-1", "line-2", "line-3"]
    assert "the table has no header: its first line is a question too" in data.notes


def test_a_first_line_that_may_be_names_is_refused(tmp_path):
    path = _table(tmp_path / "rows.tsv", ["one", "two", "three", "four"], *_CELLS)
    facts = {"where": "line 1", "problem": "the first line may be a header or a question"}
    with raises(DataError, source=str(path), found="'one', 'two', 'three', 'four'", **facts):
        load(path, fields=_NUMBERED)


def test_a_column_without_a_name_can_be_the_id(tmp_path):
    cells = [[str(number + 7), *row] for number, row in enumerate(_CELLS)]
    path = _table(tmp_path / "rows.tsv", ["", "question", "A", "B", "answer"], *cells)
    _, options = propose(path)
    expected = "passage=const:,question=question,candidates=A+B,gold=answer,id=#1"
    assert options == {"fields": expected}
    assert [question.id for question in load(path, **options)] == ["7", "8", "9"]


def test_one_column_may_have_two_roles(tmp_path):
    path = _table(tmp_path / "rows.tsv", ["question", "A", "B", "answer"], ["Who?", "x", "y", " "])
    fields = "passage=const:,question=question,candidates=A+B,gold=answer,meta=answer"
    assert load(path, fields=f"{fields},task=single-choice")[0].gold is None


def test_a_number_that_no_column_has_is_refused(tmp_path):
    path = _table(tmp_path / "rows.tsv", *_CELLS)
    with raises(DataError, source=str(path), field="#9"):
        load(path, fields=_NUMBERED.replace("#3", "#9"))


def test_fields_are_a_setting_of_one_dataset(tmp_path):
    path = _write(tmp_path / "rows.jsonl", _ROWS)
    spec = f"{path},fields={_FIELDS},id=name,split=dev,gold_as=index0"
    data = load(spec)
    assert data.split == "dev"
    assert data.fingerprint == load(path, fields=f"{_FIELDS},id=name").fingerprint


@pytest.mark.parametrize("file", ["codah.tsv", "cmmlu_genetics.csv"])
def test_tables_of_others_are_read_as_plain_python_reads_them(shared_data, file):
    path = shared_data / "wild" / file
    if not path.exists():
        pytest.skip(f"{file} is not in the shared data")
    lines = path.read_text("utf-8").splitlines()
    if file == "codah.tsv":
        rows = [line.split("\t") for line in lines]
        expected = [(row[1], row[2 + int(row[6])]) for row in rows]
    else:
        rows = list(csv.reader(lines[1:]))
        expected = [(row[1], row[2 + "ABCD".index(row[6])]) for row in rows]
    data = load(path, **propose(path)[1])
    reading = [(question.text, question.candidates[min(question.gold)].text) for question in data]
    assert reading == expected


def test_paragraphs_of_options_are_noted(tmp_path):
    choices = [{"text": "x", "label": "A", "para": "P1"}, {"text": "y", "label": "B", "para": "P2"}]
    row = {"id": "1", "question": {"stem": "Who?", "choices": choices}, "answerKey": "B"}
    path = _write(tmp_path / "rows.jsonl", [row])
    (note,) = load(path).notes
    fields = note.partition("--fields ")[2]
    assert load(path, fields=fields)[0].passage.text == "P1\nP2"
    assert load(path, fields=fields)[0].gold == {1}


@pytest.mark.parametrize(
    ("row", "path", "lists"),
    [
        (_ROWS[0], "list.q", "list[]"),
        (_parallel(_ROWS[0]), "qs", "qs[], optionss[], golds[], levels[]"),
    ],
)
def test_several_questions_without_a_mark_are_refused_with_the_mark(row, path, lists):
    hint = f"Mark lists of questions in the paths: {lists}"
    with raises(DataError, source="rows", where="row 0", field=path, hint=hint):
        from_rows([row], fields=f"passage=text,question={path}")


def test_vague_names_count_only_without_others(tmp_path):
    row = {"context": _PASSAGE, "input": "x", "question": "Who?", "options": ["Ann", "Eve"]}
    _, options = propose(_write(tmp_path / "rows.jsonl", [{**row, "answer": "A", "output": "B"}]))
    expected = "passage=context,question=question,candidates=options,gold=answer"
    assert options == {"fields": expected}
