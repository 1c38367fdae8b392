"""Malformed input of every reader: one error with file, place, field, what was found and
expected.
"""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError
from tests.errors import raises


@pytest.fixture
def refused(tmp_path, write):
    """Load a content that must be refused with these facts of the error."""

    def load_it(form, value, **facts):
        path = write(tmp_path, form, value)
        with raises(DataError, source=str(path), **facts) as caught:
            load(path, reader=form.removesuffix("-line"))
        assert caught.value.exit_code == 3

    return load_it


def _containing(text):
    return None if text is None else re.compile(re.escape(text))


def _at(value, *keys):
    for key in keys:
        value = value[key]
    return value


def _change(value, *keys_and_new):
    *keys, last, new = keys_and_new
    _at(value, *keys)[last] = new
    return value


_P = ("data", 0, "paragraph")
_Q = (*_P, "questions", 0)
_S = ("data", 0, "paragraphs", 0, "qas", 0)
_PARAGRAPH, _QUESTION = "$.data[0].paragraph", "$.data[0].paragraph.questions[0]"
_SG_ANSWER = "line 1, $.passage.questions[0].answers[0]"
_QA, _ENTITY = "$.data[0].paragraphs[0].qas[0]", "$.data[0].passage.entities[0]"
_ID = "a non-empty string or a whole number"
_CHANGES = [
    # form, keys of the change and the new value; the facts of the error
    (
        "race",
        ("answers", 1, "E"),
        "$.answers",
        "[1]",
        "'E' with 4 options",
        "the letter of an option",
    ),
    (
        "race",
        ("answers", ["A"]),
        "$",
        None,
        "2 questions, 2 options, 1 answers",
        "one of each for every",
    ),
    ("race", ("options", 1, 2, None), "$.options[1]", "[2]", "null", "a string"),
    ("race", ("id", "high7.txt"), "$", "id", "'high7.txt'", "'middle7.txt'"),
    ("multirc", (*_P, "text", "It rained."), _PARAGRAPH, "text", "'It rained.'", "'<b>Sent 1"),
    (
        "multirc",
        (*_P, "text", "<b>Sent 2: </b>It rained.<br>"),
        _PARAGRAPH,
        "text",
        "'<b>Sent 2: </b>It rained.<br>'",
        "'<b>Sent 1: </b>…<br><b>Sent 2: </b>…<br>'",
    ),
    ("multirc", (*_P, "text", "<b>Sent 1: </b><br>"), _PARAGRAPH, "text", "Sent 1", "text"),
    ("multirc", (*_Q, "answers", []), _QUESTION, "answers", "an empty list", "at least one answer"),
    (
        "multirc",
        (*_Q, "answers", 1, "isAnswer", 0),
        f"{_QUESTION}.answers[1]",
        "isAnswer",
        "the number 0",
        "true or false",
    ),
    ("multirc", (*_Q, "sentences_used", [3]), _QUESTION, "sentences_used", "3", "0 to 2"),
    (
        "multirc",
        (*_Q, "sentences_used", [True]),
        f"{_QUESTION}.sentences_used",
        "[0]",
        "true",
        "a whole number",
    ),
    (
        "superglue",
        ("passage", "questions", 0, "answers", 0, "label", 2),
        _SG_ANSWER,
        "label",
        "the number 2",
        "0 or 1",
    ),
    (
        "superglue",
        ("passage", "questions", 0, "answers", 0, "label", None),
        _SG_ANSWER,
        "label",
        "null",
        "a whole",
    ),
    ("superglue", ("idx", None), "line 1", "idx", "null", _ID),
    (
        "record",
        ("data", 0, "qas", 0, "query", "He was glad"),
        "$.data[0].qas[0]",
        "query",
        "'He was glad'",
        "@placeholder",
    ),
    (
        "record",
        ("data", 0, "passage", "entities", []),
        "$.data[0].passage",
        "entities",
        "an empty list",
        "at least one entity",
    ),
    (
        "record",
        ("data", 0, "passage", "entities", 0, "end", 99),
        _ENTITY,
        None,
        "0 to 99",
        "offsets from 0 to 49",
    ),
    (
        "record",
        ("data", 0, "passage", "entities", 0, "start", -1),
        _ENTITY,
        None,
        "-1 to 6",
        "offsets from 0 to",
    ),
    (
        "squad",
        (*_S, "answers", []),
        _QA,
        "answers",
        "an empty list",
        "at least one answer, is_impossible: true",
    ),
    ("squad", ("data", 0, "paragraphs", 0, "qas", []), None, None, None, "at least one question"),
    (
        "dream",
        (0, 1, 0, "answer", "run"),
        "$[0][1][0]",
        "answer",
        "'run', the text of 0 candidates",
        "the text of",
    ),
    (
        "dream",
        (0, 1, 0, "choice", ["drive", "drive"]),
        "$[0][1][0]",
        "answer",
        "'drive', the text of 2 candidates",
        "the text of exactly one candidate",
    ),
    ("dream", (0, 1, 0, "choice", []), "$[0][1][0]", None, "none", "at least one"),
    ("dream", (0, [["a"], []]), "$[0]", "[2]", "a list of 2", "a string or a whole number"),
    (
        "c3",
        (0, 1, 0, "answer", "飞"),
        "$[0][1][0]",
        "answer",
        "'飞', the text of 0 candidates",
        "the text of",
    ),
    ("c3", (0, 0, "女：你好"), "$[0]", "[0]", "'女：你好'", "a list"),
    (
        "quail-line",
        ("correct_answer_id", "4"),
        "line 1",
        "correct_answer_id",
        "'4'",
        "an index from 0 to 3",
    ),
    ("logiqa2", ("answer", 4), "line 1", "answer", "the number 4", "an index from 0 to 3"),
    (
        "belebele",
        ("correct_answer_num", 0),
        "line 1",
        "correct_answer_num",
        "the number 0",
        "from 1 to 4",
    ),
    ("arc", ("answerKey", "C"), "line 1", "answerKey", "'C'", "one of the labels A, B"),
    (
        "arc",
        ("question", "choices", 1, "label", "A"),
        "line 1",
        "answerKey",
        "the labels A, A",
        "a label of its own",
    ),
    ("arc", ("question", "choices", []), "line 1", None, "none", "at least one"),
    ("jsonl", ("gold", 2), "line 1", "gold", "the number 2", "an index from 0 to 1"),
    (
        "jsonl",
        ("gold", "Eve"),
        "line 1",
        "gold",
        "'Eve', the text of 0 candidates",
        "the text of exactly one",
    ),
    (
        "jsonl",
        ("gold", [1, 1]),
        "line 1",
        "gold",
        "a list of 2 with a repeated candidate",
        "each right",
    ),
    ("jsonl", ("gold", []), "line 1", "gold", "an empty list", "at least one"),
    (
        "jsonl",
        ("candidates", []),
        "line 1",
        "candidates",
        "none",
        "at least one for a single-choice question",
    ),
    (
        "jsonl",
        ("candidates", {"A": "Ann"}),
        "line 1, $.candidates",
        None,
        "an object with A",
        "a list",
    ),
    (
        "jsonl",
        ("candidates", 1, "start", 1),
        "line 1, $.candidates[1]",
        None,
        "'Ann', with 'nn' from 1 to 3",
        "the passage's text from start to end (exclusive)",
    ),
    (
        "jsonl",
        ("task", "singlechoice"),
        "line 1",
        "task",
        "'singlechoice'",
        "single-choice, multiple-answer",
    ),
    ("jsonl", ("task", "cloze"), "line 1", "question", "'Who sang?'", "@placeholder"),
    ("jsonl", ("task", "span"), "line 1", "candidates", "2 candidates", "none"),
    (
        "jsonl",
        ("sentences", 1, [5, 12]),
        "line 1, $.sentences[1]",
        None,
        "[5, 12]",
        "[start, end] in order",
    ),
    (
        "jsonl",
        ("sentences", 1, [10]),
        "line 1, $.sentences[1]",
        None,
        "[10]",
        "[start, end] in order, from 9",
    ),
    ("jsonl", ("meta", ["easy"]), "line 1, $.meta", None, "a list of 1", "an object"),
    ("huggingface", ("answer", "C"), "line 1", "answer", "'C'", "a letter from A to B"),
]


@pytest.mark.parametrize(("which", "change", "where", "field", "reported", "expected"), _CHANGES)
def test_wrong_values_are_refused(
    refused, content, which, change, where, field, reported, expected
):
    value = _change(content(which), *change)
    refused(which, value, where=where, field=field, found=reported, expected=_containing(expected))


@pytest.mark.parametrize(
    ("old", "new", "where", "field", "reported", "expected"),
    [
        ("\tblue\t", "\t", "line 1", None, "22", "23, separated by tabs"),
        ("mc160.dev.1\t", "\t", "line 2", "id", None, "the id of the story"),
        (
            "mc160.dev.1\t",
            "mc160.dev.0\t",
            "line 2, question mc160.dev.0,0",
            None,
            None,
            "unique ids",
        ),
        (
            "one: What",
            "What",
            "line 1",
            "question 3",
            "'What colour was it?'",
            "'one: …' or 'multiple: …'",
        ),
    ],
)
def test_wrong_stories_are_refused(refused, content, old, new, where, field, reported, expected):
    text = content("mctest").replace(old, new)
    refused(
        "mctest", text, where=where, field=field, found=reported, expected=_containing(expected)
    )


@pytest.mark.parametrize(
    ("answers", "where", "field", "reported", "expected"),
    [
        ("A\tA\tB\tC\n", None, None, "1", "2 lines, one for each story"),
        (
            "A\tA\tB\tC\nA\tB\tE\tC\n",
            "line 2",
            None,
            r"'A\tB\tE\tC'",
            "four letters from A to D, separated by",
        ),
        (
            "A\tA\tB\tC\nA\tB\tB\n",
            "line 2",
            None,
            r"'A\tB\tB'",
            "four letters from A to D, separated by tabs",
        ),
    ],
)
def test_wrong_answers_are_refused(tmp_path, write, answers, where, field, reported, expected):
    path = write(tmp_path, "mctest")
    file = path.with_suffix(".ans")
    file.write_text(answers, "utf-8")
    facts = {"where": where, "field": field, "found": reported, "expected": _containing(expected)}
    with raises(DataError, source=str(file), **facts):
        load(path)


def test_an_empty_file_of_answers(tmp_path, write):
    path = write(tmp_path, "mctest")
    path.with_suffix(".ans").write_text("", "utf-8")
    with raises(DataError, source=str(path.with_suffix(".ans")), problem=re.compile("empty")):
        load(path)


@pytest.mark.parametrize(
    ("old", "new", "where", "field", "reported", "expected"),
    [
        ("</text>", "</txt>", "line 4 column 43", None, None, None),
        ("<data>", "<date>", "line 12 column 3", None, None, None),
        ("data>", "date>", "line 2", None, "<date>", "<data>"),
        ('id="4"', "", "line 3", "instance/@id", "no attributes", "an attribute id"),
        ('correct="True"', 'correct="yes"', "line 8", "answer/@correct", "'yes'", "True or False"),
        ('correct="True"', 'correct="False"', "line 6", "answer/@correct", "0", "1"),
        ('correct="False"', 'correct="True"', "line 6", "answer/@correct", "2", "1"),
        ('correct="False"', "", "line 7", "answer/@correct", "id, text", "an attribute correct"),
        ("<answer", "<option", "line 7", "question", "<option>", "<answer>"),
        ("text>", "story>", "line 3", "instance", "0 <text> elements", "1"),
        (
            "<data>",
            "<!DOCTYPE data [<!ENTITY a 'aaaa'>]>\n<data>",
            "line 2",
            None,
            "'data'",
            "elements and text",
        ),
        (
            "<data>",
            "<!DOCTYPE data SYSTEM 'x' [<!ENTITY a 'aaaa'>]>\n<data>",
            "line 2",
            None,
            "'data'",
            "elements and",
        ),
        (
            "<data>",
            "<!DOCTYPE data SYSTEM 'x' []>\n<data>",
            "line 2",
            None,
            "'data'",
            "elements and",
        ),
        (
            "<data>",
            "<!DOCTYPE data SYSTEM 'x' [\n%a;]>\n<data>",
            "line 2",
            None,
            "'data'",
            "elements and",
        ),
        ("<data>", "<!DOCTYPE data SYSTEM>\n<data>", "line 2 column 22", None, None, None),
        (
            "<data>",
            "<!DOCTYPE data SYSTEM 'x'>\n<!DOCTYPE data SYSTEM 'x'>\n<data>",
            "line 3",
            None,
            "'data'",
            "at most one",
        ),
        ("<data>", "<data><!DOCTYPE data SYSTEM 'x'>", "line 2 column 9", None, None, None),
        ("&amp;", "&other;", "line 4 column 26", None, None, None),
        ("<text>", "<text>" + "<i>" * 200, "line 4", None, None, "at most 100 levels"),
    ],
)
def test_wrong_xml_is_refused(refused, content, old, new, where, field, reported, expected):
    text = content("mcscript").replace(old, new)
    refused(
        "mcscript", text, where=where, field=field, found=reported, expected=_containing(expected)
    )


@pytest.mark.parametrize(
    ("old", "new", "where", "field", "reported", "expected"),
    [
        ('correct="True"', 'correct="yes"', "line 18", "a/@correct", "'yes'", "True or False"),
        ('correct="False"', 'correct="True"', "line 28", "a/@correct", "2", "1"),
        ('id="f7"', "", "line 2", "text/@id", "domain", "an attribute id"),
        ("text_body>", "body>", "line 2", "text", "0 <text_body> elements", "1"),
        ("</q>", "</p>", re.compile("line 27 column"), None, None, None),
    ],
)
def test_wrong_xml_of_quail_is_refused(
    refused, content, old, new, where, field, reported, expected
):
    text = content("quail").replace(old, new)
    if old == "text_body>":
        text += "<!-- <text_body -->"
    refused("quail", text, where=where, field=field, found=reported, expected=expected)


@pytest.mark.parametrize(
    ("old", "new", "where", "field", "reported"),
    [
        (",1\n", ",4\n", "line 2", "label", "'4'"),
        (",Cold .", "", "line 2", None, "7"),
        ("context,question", "context,context", "line 1", None, "'context'"),
    ],
)
def test_a_wrong_table_of_cosmos_qa_is_refused(refused, content, old, new, where, field, reported):
    text = content("cosmosqa").replace(old, new)
    if "context,context" in text:
        text = (
            text.replace("answer3,label", "answer3,label,question")
            .replace(",1\n", ",1,x\n")
            .replace(",0\n", ",0,x\n")
        )
    refused("cosmosqa", text, where=where, field=field, found=reported)


@pytest.mark.parametrize(
    ("old", "new", "where", "reported", "expected"),
    [
        ("\nd\n", "\ne\n", "line 11", "'e'", "a letter from a to d"),
        ("C.Both\n", "", "line 11", "6 before a blank line", "7: the right letter, the passage"),
        ("\n\nd", "\nd", "line 3", "14 before a blank line", "7: the right letter, the passage"),
    ],
)
def test_a_wrong_text_of_logiqa_is_refused(refused, content, old, new, where, reported, expected):
    refused(
        "logiqa",
        content("logiqa").replace(old, new),
        where=where,
        found=reported,
        expected=_containing(expected),
    )


@pytest.mark.parametrize("start", ["", "<!DOCTYPE data SYSTEM 'MCScript.dtd'>"])
@pytest.mark.parametrize("old", ["&amp;", 'text="'])
def test_an_undefined_entity_is_refused_with_and_without_a_document_type(
    refused, content, start, old
):
    """A parser that reads no declarations would drop it, and change the text."""
    text = content("mcscript").replace("<data>", f"{start}<data>").replace(old, f"{old}&nbsp;", 1)
    refused(
        "mcscript",
        text,
        where=re.compile(r"^line \d+ column \d+$"),
        problem=re.compile("undefined entity"),
    )


def test_one_passage_id_has_one_text(refused, content):
    value = content("dream")
    changed = content("dream")[0]
    changed[0] = ["M: Hello."]
    refused(
        "dream", [*value, changed], where="$[1]", found="'12-3'", expected="one text for each id"
    )


def test_broken_json_is_named_by_line_and_column(json_form, refused, content):
    text = json.dumps(content(json_form), indent=1)
    refused(
        json_form, text[:-4], where=re.compile(r"^line \d+ column \d+$"), problem=re.compile("JSON")
    )


def test_a_wrong_line_in_the_middle_is_named(refused, content):
    line = json.dumps(content("jsonl"))
    refused(
        "jsonl", f"{line}\n{line[:-1]}\n{line}\n", where=re.compile(r"^line 2 column \d+$"), line=2
    )
    refused(
        "jsonl",
        f"{line}\n[1]\n",
        where="line 2",
        found="a list of 1",
        expected=_containing("an object"),
    )
    refused("jsonl", f"{line}\n{line}\n", where="line 2, question o1", expected="unique ids")
