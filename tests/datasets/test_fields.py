"""Fields of a user's own rows: families of columns, constants, JSON, and mappings that are
refused.
"""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import from_rows, load
from classic_rc.datasets.fields import find_families, find_value, format_fields, parse_fields
from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node
from tests.errors import raises


@pytest.mark.parametrize(
    ("names", "families"),
    [
        (
            [f"option{i}" for i in (10, 9, 1, 2, 3, 4, 5, 6, 7, 8)],
            [[f"option{i}" for i in range(1, 11)]],
        ),
        (["choice_1", "choice_0", "choice"], [["choice_0", "choice_1"]]),
        (["answerB", "answerA", "answer"], [["answerA", "answerB"]]),
        (["A", "C", "D"], []),
        (["options.b", "options.a", "q1", "q2"], [["options.a", "options.b"], ["q1", "q2"]]),
        (["a+1", "a+2"], []),
        (["option2", "option3"], []),
    ],
)
def test_columns_with_a_common_stem_are_families(names, families):
    assert find_families(names) == families


@given(
    st.dictionaries(
        st.sampled_from(["id", "candidates", "gold", "meta"]),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
)
def test_fields_are_read_from_their_text(others, passage):
    fields = {"passage": passage, "question": "q", **others}
    assert parse_fields(format_fields(fields)) == fields


@pytest.mark.parametrize(
    "text", ['{"passage": 3, "question": "q"}', "{", '{"passage": "a", "passage": "b"}']
)
def test_fields_that_are_no_json_object_of_texts(text):
    with raises(UsageError, field="fields"):
        parse_fields(text)


def test_constants_are_the_same_in_each_row():
    row = Node({"q": "Is it?"}, "rows")
    assert find_value(row, "const:no|yes").value == ["no", "yes"]
    assert find_value(row, "const:").value == ""


def test_the_last_columns_may_be_empty():
    row = Node({"a": "x", "b": "y", "c": None}, "rows")
    assert find_value(row, "a+b+c+d").value == ["x", "y"]
    assert find_value(row, "c+d") is None


def _wide(gold="C", **options):
    return {"text": "It rained.", "ask": "What?", **options, "key": gold}


def test_an_empty_column_before_a_full_one_is_refused():
    rows = [_wide(A="x", B=None, C="y")]
    with raises(DataError, field="B", found="nothing"):
        from_rows(
            rows, fields="passage=text,question=ask,candidates=A+B+C,gold=key", gold_as="letter"
        )


@pytest.mark.parametrize("path", ["A+B", "B+A+C", "C+B+A", "A+C"])
def test_a_dropped_or_moved_column_is_refused(path):
    rows = [_wide("A", A="x", B="y", C="z"), _wide("B", A="u", B="v")]
    fields = {"passage": "text", "question": "ask", "candidates": path, "gold": "key"}
    with raises(DataError, field="candidates", found=path, expected="A+B+C") as caught:
        from_rows(rows, fields=fields, gold_as="letter")
    option, value = shlex.split(caught.value.hint.removeprefix("Write "))
    assert option == "--fields"
    assert [len(q.candidates) for q in from_rows(rows, fields=value, gold_as="letter")] == [3, 2]


def test_a_column_without_any_text_is_not_missed():
    rows = [_wide("A", A="x", B="y", C=""), _wide("B", A="u", B="v", C=None)]
    dataset = from_rows(
        rows, fields="passage=text,question=ask,candidates=A+B,gold=key", gold_as="letter"
    )
    assert [len(q.candidates) for q in dataset] == [2, 2]


def test_a_misspelt_column_is_refused():
    rows = [_wide("A", A="x", B="y")]
    with raises(DataError, field="Bee"):
        from_rows(
            rows, fields="passage=text,question=ask,candidates=A+Bee,gold=key", gold_as="letter"
        )


def test_all_options_right_everywhere_is_refused_with_the_mapping_that_was_meant():
    options = [{"text": "ice", "flag": 1}, {"text": "fire", "flag": 1}]
    rows = [
        {"context": "Fire is hot.", "stem": f"{i}?", "choices": options, "answerKey": key}
        for i, key in enumerate("AB")
    ]
    fields = "passage=context,question=stem,candidates=choices.text,gold=choices.flag"
    with raises(DataError, field="gold", found="choices.flag") as caught:
        from_rows(rows, fields=fields, gold_as="flags")
    _, meant = shlex.split(caught.value.hint.removeprefix("Write "))
    assert [sorted(q.gold) for q in from_rows(rows, fields=meant)] == [[0], [1]]


@pytest.mark.parametrize("gold", ["BC", "B,C", "B, C", "B;C", "c b", ["B", "C"]])
def test_several_letters_make_multiple_answers(gold):
    rows = [_wide(gold, A="x", B="y", C="z"), _wide("A", A="x", B="y", C="z")]
    dataset = from_rows(rows, fields="passage=text,question=ask,candidates=A+B+C,gold=key")
    assert dataset.task == "multiple-answer"
    assert [sorted(q.gold) for q in dataset] == [[1, 2], [0]]


@pytest.mark.parametrize(
    "golds", [[True, False], ["True", "false"], [1, 0], ["yes", "NO"], ["1", "0"]]
)
def test_gold_may_be_yes_or_no(golds):
    rows = [{"passage": "Rain.", "question": f"Is {i}?", "a": gold} for i, gold in enumerate(golds)]
    fields = "passage=passage,question=question,candidates=const:no|yes,gold=a"
    assert [sorted(q.gold) for q in from_rows(rows, fields=fields)] == [[1], [0]]


def test_true_alone_is_the_second_constant():
    rows = [{"p": "Rain.", "q": "Q", "a": True}] * 2
    dataset = from_rows(
        [row | {"id": str(i)} for i, row in enumerate(rows)],
        fields="id=id,passage=p,question=q,candidates=const:no|yes,gold=a",
    )
    assert [q.gold_texts for q in dataset] == [("yes",), ("yes",)]


def test_keys_with_commas_are_given_in_json(tmp_path):
    row = {"a, b": "It rained.", "q=r": "What?", "c": ["rain", "sun"], "g": 0}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row), "utf-8")
    fields = format_fields({"passage": "a, b", "question": "q=r", "candidates": "c", "gold": "g"})
    assert load(path, fields=fields)[0].text == "What?"


@pytest.mark.parametrize("votes", ["v1+v1", "v1+label", "label"])
def test_a_column_of_votes_is_named_once_and_is_not_gold(votes):
    with pytest.raises(UsageError, match="not the vote of one annotator"):
        parse_fields(f"passage=p,question=q,gold=label,annotators={votes}")
