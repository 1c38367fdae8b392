"""Rows: our own schema, fields, and codings of gold."""

from __future__ import annotations

import itertools
import re

import pytest

from classic_rc.datasets import from_rows
from classic_rc.datasets.fields import find_value, parse_fields
from classic_rc.encodings import decode
from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node
from classic_rc.questions import Task
from tests.errors import raises

_BASE = {"passage": "Ann sang. Bob hummed.", "question": "Who sang?"}


_CHOICES = _BASE | {"candidates": ["Bob", "Ann", "Eve"]}


_CLOZE = _BASE | {
    "question": "@placeholder sang",
    "candidates": ["Bob", "Ann", "Ann"],
    "task": "cloze",
}


_FOREIGN = {"context": "Ann sang.", "q": {"text": "Who sang?"}, "choices": ["Bob", "Ann", "Eve"]}


_FIELDS = "passage=context,question=q.text,candidates=choices,gold=label"


@pytest.mark.parametrize(
    ("row", "task", "gold"),
    [
        (_CHOICES | {"gold": 1}, Task.SINGLE_CHOICE, {1}),
        (_CHOICES | {"gold": [1, 2]}, Task.MULTIPLE_ANSWER, {1, 2}),
        (_CHOICES | {"gold": []}, Task.MULTIPLE_ANSWER, frozenset()),
        (_CHOICES | {"gold": [1, 2], "task": "single-choice"}, Task.SINGLE_CHOICE, {1, 2}),
        (_CHOICES | {"gold": "Ann", "task": "single-choice"}, Task.SINGLE_CHOICE, {1}),
        (
            _CHOICES | {"gold": ["Ann", "Bob"], "task": "multiple-answer"},
            Task.MULTIPLE_ANSWER,
            {0, 1},
        ),
        (_CHOICES | {"gold": None, "task": "multiple-answer"}, Task.MULTIPLE_ANSWER, None),
        (_CHOICES | {"task": "single-choice"}, Task.SINGLE_CHOICE, None),
        (_CLOZE | {"gold": "Ann"}, Task.CLOZE, ("Ann",)),
        (_CLOZE | {"gold": ["Ann", "Anna"]}, Task.CLOZE, ("Ann", "Anna")),
        (_CLOZE | {"gold": [1, 2]}, Task.CLOZE, ("Ann",)),
        (_BASE | {"gold": "Ann", "task": "span"}, Task.SPAN, ("Ann",)),
        (_BASE | {"gold": ["Ann", "Bob"], "task": "multi-span"}, Task.MULTI_SPAN, ("Ann", "Bob")),
        (_BASE | {"task": "multi-span"}, Task.MULTI_SPAN, None),
    ],
)
def test_rows_of_our_schema_have_their_task_and_gold(row, task, gold):
    (question,) = from_rows([row])
    assert (question.task, question.gold) == (task, gold)


def test_hidden_gold_takes_the_task_of_the_other_rows():
    dataset = from_rows([_CHOICES, _CHOICES | {"gold": [0]}])
    assert dataset.task is Task.MULTIPLE_ANSWER
    assert [q.gold for q in dataset] == [None, {0}]


@pytest.mark.parametrize(
    ("rows", "where", "field", "reported", "expected"),
    [
        (
            [_CHOICES | {"gold": "Ann", "question": "@placeholder sang"}],
            "row 0",
            "task",
            "none, with gold 'Ann'",
            "a task",
        ),
        ([_BASE | {"gold": "Ann"}], "row 0", "task", "none, with gold 'Ann'", "a task"),
        ([_CHOICES | {"gold": None}], "row 0", "task", "none", "a task"),
        (
            [_CHOICES | {"gold": 0}, _CHOICES | {"gold": [0]}],
            "row 1",
            "task",
            "multiple-answer after single-choice",
            "one task",
        ),
        (
            [_BASE | {"gold": 0}],
            "row 0",
            "candidates",
            "none",
            "at least one for a single-choice question",
        ),
        (
            [_BASE | {"gold": [], "task": "span"}],
            "row 0",
            "gold",
            "an empty list",
            "a string, or a list of at",
        ),
        (
            [_BASE | {"gold": 3, "task": "multi-span"}],
            "row 0",
            "gold",
            "the number 3",
            "a string, or a list of at",
        ),
        ([_CLOZE | {"gold": 3}], "row 0", "gold", "the number 3", "an index from 0 to 2"),
        ([_CHOICES | {"gold": [0, "Bob"]}], "row 0", "gold", "'Bob'", "an index from 0 to 2"),
        (
            [_CHOICES | {"gold": {"a": 1}}],
            "row 0",
            "gold",
            "an object with a",
            "an index from 0 to 2",
        ),
        ([], None, None, None, "at least one row"),
        ([_CHOICES | {"gold": 0}, 3], "row 1", None, "the number 3", "a mapping"),
        (["train", "test"], "row 0", None, "'train'", "a mapping"),
        (
            [_CHOICES | {"gold": 0, "id": "a"}, _CHOICES | {"gold": 0, "id": "a"}],
            "row 1, question a",
            None,
            None,
            "unique",
        ),
    ],
)
def test_malformed_rows_are_refused(rows, where, field, reported, expected):
    facts = {
        "where": where,
        "field": field,
        "found": reported,
        "expected": re.compile(re.escape(expected)),
    }
    with raises(DataError, source="rows", **facts):
        from_rows(rows)


def test_equal_texts_share_one_passage():
    second_row = _CHOICES | {"passage": "Eve slept.", "gold": 0}
    dataset = from_rows([_CHOICES | {"gold": 0}, second_row, _CHOICES | {"gold": 1}])
    assert dataset[0].passage is dataset[2].passage
    assert [q.passage.id for q in dataset] == ["passage-1", "passage-2", "passage-1"]
    assert [q.id for q in dataset] == ["row-0", "row-1", "row-2"]


def test_a_passage_id_has_one_text():
    row = _CHOICES | {"gold": 0, "passage_id": "p"}
    dataset = from_rows([row, row])
    assert dataset[0].passage is dataset[1].passage
    with raises(DataError, where="row 1", found="'p'", expected="one text for each id"):
        from_rows([row, row | {"passage": "Other."}])


def test_generated_passage_ids_do_not_collide():
    given_id = _CHOICES | {"gold": 0, "passage_id": "passage-1"}
    dataset = from_rows([given_id, _CHOICES | {"gold": 0, "passage": "Other."}])
    assert [q.passage.id for q in dataset] == ["passage-1", "passage-2"]


def test_other_keys_become_meta():
    (question,) = from_rows([_CHOICES | {"gold": 0, "level": 3, "meta": {"kind": "easy"}}])
    assert question.meta == {"level": 3, "kind": "easy"}
    (question,) = from_rows([_FOREIGN | {"label": 0, "level": 3}], fields=_FIELDS, gold_as="index0")
    assert question.meta == {"level": 3}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("c.0", "x"),
        ("d.text", ["u", "v"]),
        ("d.1.text", "v"),
        ("e.text", ["s", "t"]),
        ("x.y", 2),
        ("x.y.z", None),
        ("c.9", None),
        ("c.99999999999999999999", None),
        ("d.none", None),
        ("gone", None),
        ("a.b+c.0", [1, "x"]),
        ("a.b+gone", [1]),
        ("gone+away", None),
    ],
)
def test_paths_find_nested_values(path, value):
    row = {
        "a": {"b": 1},
        "c": ["x"],
        "d": [{"text": "u"}, {"text": "v"}],
        "e": {"text": ["s", "t"]},
        "x.y": 2,
    }
    node = find_value(Node(row, "f"), path)
    assert (node.value if node else None) == value


@pytest.mark.parametrize(
    ("fields", "field", "reported", "expected"),
    [
        ("pasage=a,question=b", "field", "pasage", "passage, passage_id"),
        ("passage=a", "fields", "passage=a", "a path for question"),
        ("passage=a,question=", "fields", "question=", "one path for question"),
        ("passage=a,question=b,question=c", "fields", "question=c", "one path for question"),
        ("", "fields", "", "a path for passage and question"),
        ({"passage": "a"}, "fields", "passage=a", "a path for question"),
    ],
)
def test_wrong_fields_are_refused(fields, field, reported, expected):
    with raises(UsageError, field=field, found=reported, expected=expected):
        parse_fields(fields)


def test_a_path_that_no_row_has_is_refused():
    facts = {
        "field": "lable",
        "found": "an object with context, q, choices, label",
        "expected": "the gold",
    }
    with raises(DataError, where="row 0", **facts):
        from_rows(
            [_FOREIGN | {"label": 0}], fields=_FIELDS.replace("label", "lable"), gold_as="index0"
        )
    with raises(DataError, where="row 0", field="q.txt", expected="the question"):
        from_rows([_FOREIGN], fields=_FIELDS.replace("q.text", "q.txt"))
    dataset = from_rows([_FOREIGN | {"label": 0}, _FOREIGN], fields=_FIELDS, gold_as="index0")
    assert [q.gold for q in dataset] == [{0}, None]


def test_the_task_can_be_set_in_fields():
    row = {"text": "Ann sang.", "ask": "Who?", "spans": ["Ann"]}
    fields = "passage=text,question=ask,gold=spans"
    assert from_rows([row], fields=f"{fields},task=multi-span")[0].gold == ("Ann",)
    assert from_rows([row], fields=fields, task="span").task is Task.SPAN
    with raises(DataError, where="row 0", field="task"):
        from_rows([row], fields=fields)
    with raises(UsageError, field="task", found="spam", expected=re.compile("span")):
        from_rows([row], fields=fields, task="spam")


@pytest.mark.parametrize(
    ("gold", "coding", "right"),
    [
        (0, "index0", {0}),
        ("2", "index0", {2}),
        (2.0, "index0", {2}),
        (1, "index1", {0}),
        (["1", "3"], "index1", {0, 2}),
        ("B", "letter", {1}),
        ("b", "letter", {1}),
        (["A", "C"], "letter", {0, 2}),
        ("Ann", "text", {1}),
        (["Ann", "Bob"], "text", {0, 1}),
        ([0, 1, 1], "flags", {1, 2}),
        ([False, True, False], "flags", {1}),
        ([0, 0, 0], "flags", set()),
    ],
)
def test_gold_is_decoded_as_its_coding_says(gold, coding, right):
    assert decode(gold, _CHOICES["candidates"], coding) == right
    (question,) = from_rows([_FOREIGN | {"label": gold}], fields=_FIELDS, gold_as=coding)
    assert question.gold == right
    assert question.task is (Task.MULTIPLE_ANSWER if isinstance(gold, list) else Task.SINGLE_CHOICE)


@pytest.mark.parametrize(
    ("gold", "coding", "reported", "expected"),
    [
        (3, "index0", "the number 3", "an index from 0 to 2"),
        (0, "index1", "the number 0", "an index from 1 to 3"),
        (True, "index0", "true", "an index from 0 to 2"),
        (1.5, "index0", "the number 1.5", "an index from 0 to 2"),
        ("D", "letter", "'D'", "a letter from A to C"),
        ("AE", "letter", "'E'", "a letter from A to C"),
        ("Zoe", "text", "'Zoe', the text of 0 candidates", "the text of exactly one candidate"),
        (1, "text", "the number 1, the text of 0 candidates", "the text of exactly one candidate"),
        ([0, 1], "flags", "a list of 2", "a list of 3 values, each true or false (or 1 or 0)"),
        ([0, 1, 2], "flags", "a list of 3", "a list of 3 values, each true or false (or 1 or 0)"),
        ("010", "flags", "'010'", "a list of 3 values, each true or false (or 1 or 0)"),
        ([1, 1], "index0", "a list of 2 with a repeated candidate", "each right candidate once"),
    ],
)
def test_gold_that_does_not_fit_its_coding(gold, coding, reported, expected):
    with raises(DataError, where="row 0", field="gold", found=reported, expected=expected):
        from_rows([_FOREIGN | {"label": gold}], fields=_FIELDS, gold_as=coding)


@pytest.mark.parametrize(
    ("choices", "gold", "codings"),
    [
        (["Bob", "Ann"], 1, ["index0", "index1"]),
        (["Bob", "Ann"], "1", ["index0", "index1"]),
        (["2", "1"], "1", ["index0", "index1", "text"]),
        (["B", "A"], "B", ["letter", "text"]),
        (["Bob", "Ann"], [1, 0], ["index0", "flags"]),
    ],
)
def test_an_ambiguous_coding_is_refused_with_all_candidates(choices, gold, codings):
    with raises(DataError, where="row 0", field="gold", problem=re.compile("ambiguous")) as caught:
        from_rows([_FOREIGN | {"choices": choices, "label": gold}], fields=_FIELDS)
    assert re.findall(r"--gold-as (\w+)", caught.value.hint) == codings


@pytest.mark.parametrize(
    ("golds", "right"),
    [
        (["B", "A"], [{1}, {0}]),
        (["Ann", "Bob"], [{1}, {0}]),
        ([[True, False, True], [False, False, False]], [{0, 2}, set()]),
        ([["Ann", "Eve"], []], [{1, 2}, set()]),
        ([0], [{0}]),
        ([1, 2, 0], [{1}, {2}, {0}]),
        (["1", "0", None], [{1}, {0}, None]),
        ([1.0, 0.0], [{1}, {0}]),
        ([1, 3, 2], [{0}, {2}, {1}]),
        (["3", "1"], [{2}, {0}]),
        ([[1, 2], [0]], [{1, 2}, {0}]),
        ([[1, 2], [3]], [{0, 1}, {2}]),
        ([[1, 2], []], None),
        ([1, 2], None),
    ],
)
def test_the_only_coding_that_fits_is_used(golds, right):
    rows = [_FOREIGN | {"label": gold} for gold in golds]
    if right is None:
        with raises(
            DataError, where="row 0", field="gold", problem=re.compile("ambiguous")
        ) as caught:
            from_rows(rows, fields=_FIELDS)
        assert re.findall(r"--gold-as (\w+)", caught.value.hint) == ["index0", "index1"]
    else:
        assert [q.gold for q in from_rows(rows, fields=_FIELDS)] == right


@pytest.mark.parametrize("golds", [[0, 3], [3, 0], [1, 0, 3]])
def test_indices_that_count_from_0_and_from_1_are_refused(golds):
    with raises(
        DataError, where=f"row {len(golds) - 1}", field="gold", problem=re.compile("earlier rows")
    ):
        from_rows([_FOREIGN | {"label": gold} for gold in golds], fields=_FIELDS)


def test_gold_that_fits_no_common_coding():
    facts = {
        "found": re.compile("'Zoe'.*'Bob', 'Ann', 'Eve'"),
        "expected": re.compile("counted from 0 or .* letter"),
    }
    with raises(DataError, where="row 0", field="gold", **facts):
        from_rows([_FOREIGN | {"label": "Zoe"}], fields=_FIELDS)
    with raises(
        DataError, where="row 1", field="gold", found=re.compile("'B'"), expected="an option's text"
    ):
        from_rows([_FOREIGN | {"label": "Ann"}, _FOREIGN | {"label": "B"}], fields=_FIELDS)
    with raises(UsageError, field="gold coding", found="index2", expected=re.compile("index")):
        from_rows([_FOREIGN | {"label": 0}], fields=_FIELDS, gold_as="index2")


def test_text_gold_has_no_other_coding():
    row = _BASE | {"gold": "Ann", "task": "span"}
    assert from_rows([row], gold_as="text")[0].gold == ("Ann",)
    with raises(UsageError, field="gold_as", found="index0", expected="text"):
        from_rows([row], gold_as="index0")


def test_gold_as_applies_to_our_own_schema():
    assert from_rows([_CHOICES | {"gold": "B"}], gold_as="letter")[0].gold == {1}
    assert from_rows([_CLOZE | {"gold": 3}], gold_as="index1")[0].gold == ("Ann",)


def test_numpy_values_and_nan_become_plain_values():
    numpy = pytest.importorskip("numpy")
    row = _CHOICES | {
        "candidates": numpy.array(["Bob", "Ann"], dtype=object),
        "gold": numpy.int64(1),
    }
    hidden = row | {"gold": float("nan")}
    assert [q.gold for q in from_rows([row, hidden])] == [{1}, None]
    assert from_rows([row | {"gold": 1.0}])[0].gold == {1}


def test_any_iterable_is_read_once():
    rows = (
        {"passage": "P", "question": "Q", "candidates": ["a", "b"], "gold": i % 2}
        for i in itertools.count()
    )
    dataset = from_rows(itertools.islice(rows, 5), name="made", split="dev")
    assert (len(dataset), dataset.name, dataset.split, dataset.reader) == (5, "made", "dev", "rows")


def test_the_error_for_unknown_rows_proposes_fields():
    with raises(
        DataError,
        source="rows",
        found=re.compile(r"^rows with context \('.*, choices \(\[.*, label \(0\)$"),
    ) as caught:
        from_rows([_FOREIGN | {"label": 0}])
    call = "from_rows(rows, fields='passage=context,question=q.text,candidates=choices,gold=label')"
    assert caught.value.hint.endswith(call)


def test_a_passage_of_several_texts_has_a_line_for_each():
    row = {
        "talk": ["A: Hi.", "B: Ho."],
        "end": "Bye.",
        "question": "Who?",
        "options": ["A", "B"],
        "gold": 1,
    }
    fields = "question=question,candidates=options,gold=gold"
    (question,) = from_rows([row], fields=f"passage=talk,{fields}", gold_as="index0")
    assert question.passage.text == "A: Hi.\nB: Ho."
    (two,) = from_rows([row], fields=f"passage=talk+end,{fields}", gold_as="index0")
    assert two.passage.text == "A: Hi.\nB: Ho.\nBye."
