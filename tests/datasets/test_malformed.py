"""Malformed input of every reader: one error with file, place, field, what was found and expected."""

from __future__ import annotations

import json
import re

import pytest

from classic_rc.datasets import load
from classic_rc.errors import DataError


@pytest.fixture
def refused(tmp_path, write):
    """Load a content that must be refused; gives the message without the file's name, which it must begin with."""

    def load_it(form, value, **options):
        path = write(tmp_path, form, value)
        with pytest.raises(DataError) as caught:
            load(path, reader=form.removesuffix("-line"), **options)
        assert caught.value.exit_code == 3
        assert str(caught.value).startswith(str(path))
        return str(caught.value)[len(str(path)) :]

    return load_it


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
_CHANGES = [
    ("race", ("answers", 1, "E"), r", \$\.answers, field '\[1\]': gold is not among .* found 'E' and 4 options"),
    ("race", ("answers", ["A"]), ": lists of different lengths: found 2 questions, 2 options, 1 answers"),
    ("race", ("options", 1, []), r", \$\.answers, field '\[1\]': .* found 'B' and 0 options"),
    (
        "race",
        ("options", 1, 2, None),
        r", \$\.options\[1\], field '\[2\]': wrong type: found null, expected a string",
    ),
    ("race", ("article", 5), r", \$, field 'article': wrong type: found the number 5"),
    (
        "race",
        ("id", "high7.txt"),
        "field 'id': the id does not fit the file's place: found 'high7.txt', expected 'mid",
    ),
    ("race", ("id", "middle8.txt"), "expected 'middle7.txt'"),
    ("multirc", (*_P, "text", "It rained."), r", \$\.data\[0\]\.paragraph, field 'text': sentences are not marked"),
    ("multirc", (*_P, "text", "<b>Sent 2: </b>It rained.<br>"), "sentences are not marked one after the other"),
    ("multirc", (*_P, "text", "<b>Sent 1: </b><br>"), "an empty sentence: found Sent 1"),
    ("multirc", (*_Q, "answers", []), r", \$.*questions\[0\], field 'answers': no candidate: found an empty list"),
    ("multirc", (*_Q, "answers", 1, "isAnswer", 0), r"answers\[1\], field 'isAnswer': .* found the number 0"),
    (
        "multirc",
        (*_Q, "answers", 1, {"text": "x"}),
        r"answers\[1\], field 'isAnswer': missing: found an object with",
    ),
    ("multirc", (*_Q, "answers", 1, "text", None), r"answers\[1\], field 'text': wrong type: found null"),
    (
        "multirc",
        (*_Q, "sentences_used", [3]),
        r"field 'sentences_used': no such sentence: found 3, expected 0 to 2",
    ),
    ("multirc", (*_Q, "sentences_used", [True]), r"sentences_used, field '\[0\]': wrong type: found true"),
    ("multirc", (*_Q, "idx", "1"), "question News/rain.txt==1: two questions have one id"),
    (
        "superglue",
        ("passage", "questions", 0, "answers", 0, "label", 2),
        "field 'label': no such label: found the nu",
    ),
    (
        "superglue",
        ("passage", "questions", 0, "answers", 0, "label", None),
        "field 'label': wrong type: found null",
    ),
    ("superglue", ("idx", None), ", line 1, field 'idx': wrong type: found null"),
    ("record", ("data", 0, "qas", 0, "query", "He was glad"), "no placeholder in the query: found 'He was glad'"),
    ("record", ("data", 0, "passage", "entities", []), "field 'entities': no candidate: found an empty list"),
    (
        "record",
        ("data", 0, "passage", "entities", 0, "end", 99),
        r"entities\[0\]: a mention outside the passage: fo",
    ),
    ("record", ("data", 0, "passage", "entities", 0, "start", -1), "found -1 to 6, expected offsets from 0 to 49"),
    (
        "record",
        ("data", 0, "passage", "entities", 0, "start", 0.5),
        "field 'start': wrong type: found the number 0.5",
    ),
    (
        "record-line",
        ("qas", 0, "answers", 0, "text", 3),
        r", line 1, \$\.qas\[0\]\.answers\[0\], field 'text': wrong",
    ),
    (
        "squad",
        (*_S, "answers", []),
        "field 'answers': no answer: found an empty list, expected an answer, or is_imp",
    ),
    ("squad", (*_S, "answers", 0, "answer_start", "0"), "field 'answer_start': wrong type: found '0'"),
    ("squad", (*_S, "id", "s2"), "two questions have one id"),
    ("squad", ("data", 0, "paragraphs", 0, "context", None), r"\$\.data\[0\]\.paragraphs\[0\], field 'context'"),
    ("squad", ("data", 0, "paragraphs", 0, "qas", []), "no question in it"),
    (
        "quoref",
        ("data", 0, "paragraphs", 0, "context_id", []),
        "field 'context_id': wrong type: found an empty list",
    ),
    (
        "dream",
        (0, 1, 0, "answer", "run"),
        r", \$\[0\]\[1\]\[0\], field 'answer': gold is not one of .* 'run', the te",
    ),
    ("dream", (0, 1, 0, "choice", ["drive", "drive"]), "the text of 2 of them, expected the text of exactly one"),
    ("dream", (0, 1, 0, "choice", []), "field 'choice': no candidate"),
    ("dream", (0, 0, 1, 7), r", \$\[0\]\[0\], field '\[1\]': wrong type: found the number 7, expected a string"),
    ("dream", (0, [["a"], []]), r", \$\[0\], field '\[2\]': missing: found a list of 2"),
    (
        "arc",
        ("answerKey", "C"),
        ", line 1, field 'answerKey': gold is not one of .* found 'C', the label of 0 of A, B",
    ),
    ("arc", ("question", "choices", 1, "label", "A"), "found 'A', the label of 2 of A, A"),
    ("arc", ("question", "choices", []), "field 'choices': no candidate"),
    ("jsonl", ("gold", 2), ", line 1, field 'gold': .* found the number 2, expected an index from 0 to 1"),
    ("jsonl", ("gold", False), "found false, expected an index"),
    ("jsonl", ("gold", -1), "found the number -1, expected an index"),
    ("jsonl", ("gold", "Eve"), "found 'Eve', the text of 0 candidates"),
    ("jsonl", ("gold", [1, 1]), "found a list of 2 that names a candidate twice"),
    ("jsonl", ("gold", []), "no right answer: found an empty list, expected one or more"),
    ("jsonl", ("candidates", []), "field 'candidates': no candidate"),
    (
        "jsonl",
        ("candidates", {"A": "Ann"}),
        r", line 1, \$\.candidates: wrong type: found an object with A, expect",
    ),
    (
        "jsonl",
        ("candidates", 1, "start", 1),
        r", line 1, \$\.candidates\[1\]: the candidate does not stand there: fo",
    ),
    ("jsonl", ("candidates", 1, "end", 99), "the candidate does not stand there"),
    ("jsonl", ("candidates", 1, None), r"\$\.candidates, field '\[1\]': wrong type: found null"),
    (
        "jsonl",
        ("task", "singlechoice"),
        "field 'task': no such task: found 'singlechoice', expected single-choice, mu",
    ),
    ("jsonl", ("task", "cloze"), "no placeholder in the query: found 'Who sang.', expected @placeholder"),
    ("jsonl", ("task", "span"), "span questions have no candidates of their own: found 2 candidates"),
    (
        "jsonl",
        ("sentences", 1, [5, 12]),
        r"\$\.sentences\[1\]: not a sentence's offsets: found \[5, 12\], expected",
    ),
    ("jsonl", ("sentences", 1, [10, 99]), "not a sentence's offsets"),
    ("jsonl", ("sentences", 1, [10]), "not a sentence's offsets"),
    ("jsonl", ("meta", ["easy"]), r"\$\.meta: wrong type: found a list of 1, expected an object"),
    ("jsonl", ("question", None), "field 'question': wrong type: found null"),
    ("jsonl", ("passage", ["a"]), "field 'passage': wrong type: found a list of 1, expected a string"),
    ("jsonl", ("id", True), "field 'id': wrong type: found true"),
    ("huggingface", ("answer", "C"), "field 'answer': gold is not one of the candidates: found 'C'"),
]


@pytest.mark.parametrize(("which", "change", "message"), _CHANGES)
def test_wrong_values(refused, content, which, change, message):
    assert re.search(message, refused(which, _change(content(which), *change)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tblue\t", "\t", r", line 1: wrong number of columns: found 22, expected 23, separated by tabs"),
        ("mc160.dev.1\t", "\t", r", line 2, field 'id': the story has no id"),
        ("mc160.dev.1\t", "mc160.dev.0\t", "two questions have one id"),
        (
            "one: What",
            "What",
            r", line 1, field 'question 3': the question does not say .* found 'What colour was it",
        ),
    ],
)
def test_wrong_stories(refused, content, old, new, message):
    assert re.search(message, refused("mctest", content("mctest").replace(old, new)))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("A\tA\tB\tC\n", "not the answers to .*: found 1 lines, expected 2, one a story"),
        (
            "A\tA\tB\tC\nA\tB\tE\tC\n",
            r"line 2: not the answers of a story: found 'A\\tB\\tE\\tC', expected four letters",
        ),
        ("A\tA\tB\tC\nA\tB\tB\n", "line 2: not the answers of a story"),
        ("", "the file is empty"),
    ],
)
def test_wrong_answers(tmp_path, write, answers, message):
    path = write(tmp_path, "mctest")
    path.with_suffix(".ans").write_text(answers, "utf-8")
    with pytest.raises(DataError, match=message) as caught:
        load(path)
    assert caught.value.source == str(path.with_suffix(".ans"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</text>", "</txt>", r", line 4 column \d+: not well-formed XML \(mismatched tag\)"),
        ("<data>", "<date>", "not well-formed XML"),
        ("data>", "date>", ", line 2: wrong root element: found <date>, expected <data>"),
        (
            'id="4"',
            "",
            ", line 3, field 'instance/@id': attribute missing: found no attribute, expected an attribute id",
        ),
        ('correct="True"', 'correct="yes"', ", line 8, field 'answer/@correct': no such value: found 'yes'"),
        (
            'correct="True"',
            'correct="False"',
            ", line 6, field 'answer/@correct': not one right answer: found 0, exp",
        ),
        ('correct="False"', 'correct="True"', "not one right answer: found 2, expected 1"),
        ('correct="False"', "", ", line 7, field 'answer/@correct': attribute missing: found id, text"),
        ("<answer", "<option", ", line 7, field 'question': wrong element: found <option>, expected <answer>"),
        (
            "text>",
            "story>",
            ", line 3, field 'instance': wrong children: found 0 elements <text>, expected one <text>",
        ),
        (
            "<data>",
            "<!DOCTYPE data [<!ENTITY a 'aaaa'>]>\n<data>",
            ", line 2: document type and entity declarations",
        ),
        (
            "<data>",
            "<!DOCTYPE data SYSTEM 'http://127.0.0.1/x'>\n<data>",
            "document type and entity declarations are",
        ),
        ("&amp;", "&other;", r", line 4 column \d+: not well-formed XML \(undefined entity\)"),
        ("<text>", "<text>" + "<i>" * 200, "elements nested too deeply: expected at most 100"),
    ],
)
def test_wrong_xml(refused, content, old, new, message):
    assert re.search(message, refused("mcscript", content("mcscript").replace(old, new)))


def test_one_passage_id_has_one_text(refused, content):
    value = content("dream")
    other = content("dream")[0]
    other[0] = ["M: Hello."]
    assert ", $[1], field '12-3': one passage id has two texts" in refused("dream", [*value, other])


def test_broken_json_is_named_by_line_and_column(json_form, refused, content):
    text = json.dumps(content(json_form), indent=1)
    message = refused(json_form, text[:-4])
    assert ": not valid JSON (" in message
    assert message.startswith(", line ")


def test_a_wrong_line_in_the_middle_is_named(refused, content):
    line = json.dumps(content("jsonl"))
    assert refused("jsonl", f"{line}\n{line[:-1]}\n{line}\n").startswith(", line 2 column ")
    assert refused("jsonl", f"{line}\n[1]\n").startswith(
        ", line 2: wrong type: found a list of 1, expected an object"
    )
    assert refused("jsonl", f"{line}\n{line}\n").startswith(", question o1: two questions have one id")
