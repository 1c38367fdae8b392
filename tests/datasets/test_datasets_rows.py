"""Rows: our own schema, fields, codings of gold, tables, and rows of known schemas."""

from __future__ import annotations

import itertools
import json
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from classic_rc.datasets import from_rows, load
from classic_rc.datasets.gold import CODINGS, GoldMismatchError, decode, fitting
from classic_rc.datasets.rows import lookup, parse_fields
from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node
from classic_rc.questions import Task

_BASE = {"passage": "Ann sang. Bob hummed.", "question": "Who sang?"}
_CHOICES = _BASE | {"candidates": ["Bob", "Ann", "Eve"]}
_CLOZE = _BASE | {"question": "@placeholder sang", "candidates": ["Bob", "Ann", "Ann"], "task": "cloze"}
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
        (_CHOICES | {"gold": ["Ann", "Bob"], "task": "multiple-answer"}, Task.MULTIPLE_ANSWER, {0, 1}),
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
def test_our_schema(row, task, gold):
    (question,) = from_rows([row])
    assert (question.task, question.gold) == (task, gold)


def test_hidden_gold_is_of_the_task_of_the_others():
    dataset = from_rows([_CHOICES, _CHOICES | {"gold": [0]}])
    assert dataset.task is Task.MULTIPLE_ANSWER
    assert [q.gold for q in dataset] == [None, {0}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([_CHOICES | {"gold": "Ann"}], "rows, row 0, field 'task': the task is open: found none, and gold 'Ann'"),
        ([_BASE | {"gold": "Ann"}], "the task is open.* Say which in each row's task: single-choice, "),
        ([_CHOICES | {"gold": None}], "the task is open: all gold is hidden"),
        ([_CHOICES | {"gold": 0}, _CHOICES | {"gold": [0]}], "row 1, field 'task': rows of different tasks"),
        ([_BASE | {"gold": 0}], "no candidate"),
        (
            [_BASE | {"gold": [], "task": "span"}],
            "wrong type: found an empty list, expected a string, or a list of",
        ),
        ([_BASE | {"gold": 3, "task": "multi-span"}], "wrong type: found the number 3, expected a string, or a li"),
        ([_CLOZE | {"gold": 3}], "gold is not among the candidates: found the number 3"),
        ([_CHOICES | {"gold": [0, "Bob"]}], "names a candidate twice"),
        ([_CHOICES | {"gold": {"a": 1}}], "found an object with a, expected an index"),
        ([], "rows: no row"),
        ([_CHOICES | {"gold": 0}, 3], "row 1: not a row: found the number 3"),
        (["train", "test"], "row 0: not a row: found 'train', .* of a dictionary of datasets one of them"),
        ([_CHOICES | {"gold": 0, "id": "a"}, _CHOICES | {"gold": 0, "id": "a"}], "two questions have this id"),
    ],
)
def test_rows_that_leave_something_open_or_wrong(rows, message):
    with pytest.raises(DataError, match=message):
        from_rows(rows)


def test_equal_texts_are_one_passage_object_though_apart():
    other = _CHOICES | {"passage": "Eve slept.", "gold": 0}
    dataset = from_rows([_CHOICES | {"gold": 0}, other, _CHOICES | {"gold": 1}])
    assert dataset[0].passage is dataset[2].passage
    assert [q.passage.id for q in dataset] == ["passage-1", "passage-2", "passage-1"]
    assert [q.id for q in dataset] == ["row-0", "row-1", "row-2"]


def test_an_id_shares_the_passage_and_refuses_another_text():
    row = _CHOICES | {"gold": 0, "passage_id": "p"}
    dataset = from_rows([row, row])
    assert dataset[0].passage is dataset[1].passage
    with pytest.raises(DataError, match="row 1, field 'p': one passage id has two texts"):
        from_rows([row, row | {"passage": "Other."}])


def test_a_made_id_gives_way_to_a_given_one():
    given_id = _CHOICES | {"gold": 0, "passage_id": "passage-1"}
    dataset = from_rows([given_id, _CHOICES | {"gold": 0, "passage": "Other."}])
    assert [q.passage.id for q in dataset] == ["passage-1", "passage-2"]


def test_other_keys_become_meta():
    (question,) = from_rows([_CHOICES | {"gold": 0, "level": 3, "meta": {"kind": "easy"}}])
    assert question.meta == {"level": 3, "kind": "easy"}
    (question,) = from_rows([_FOREIGN | {"label": 0, "level": 3}], fields=_FIELDS, gold_as="index0")
    assert question.meta == {"level": 3}


def test_a_split_that_rows_tell_is_selected(tmp_path):
    rows = [
        _CHOICES | {"gold": 0, "id": str(i), "meta": {"split": split}} for i, split in enumerate(["dev", "train"])
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert len(load(path)) == 2
    assert [q.id for q in load(path, split="train")] == ["1"]
    with pytest.raises(DataError, match="does not hold this split: found dev, train, expected 'test'"):
        load(path, split="test")


# --- fields


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
        ("a.b+gone", None),
    ],
)
def test_paths(path, value):
    row = {
        "a": {"b": 1},
        "c": ["x"],
        "d": [{"text": "u"}, {"text": "v"}],
        "e": {"text": ["s", "t"]},
        "x.y": 2,
    }
    found = lookup(Node(row, "f"), path)
    assert (found.value if found else None) == value


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("pasage=a,question=b", "unknown field 'pasage': did you mean 'passage'"),
        ("passage=a", "fields: say where question is"),
        ("passage=a,question=", "'question' needs one path"),
        ("passage=a,question=b,question=c", "'question' needs one path"),
        ("", "say where passage and question is"),
        ({"passage": "a"}, "say where question is"),
    ],
)
def test_wrong_fields(fields, message):
    with pytest.raises(UsageError, match=message):
        parse_fields(fields)


def test_a_path_that_no_row_has_is_refused():
    with pytest.raises(
        DataError, match="field 'lable': no row has this: found an object with context, q, choices, label"
    ):
        from_rows([_FOREIGN | {"label": 0}], fields=_FIELDS.replace("label", "lable"), gold_as="index0")
    with pytest.raises(DataError, match=r"field 'q\.txt': missing: .* expected the question"):
        from_rows([_FOREIGN], fields=_FIELDS.replace("q.text", "q.txt"))
    dataset = from_rows([_FOREIGN | {"label": 0}, _FOREIGN], fields=_FIELDS, gold_as="index0")
    assert [q.gold for q in dataset] == [{0}, None]


def test_errors_name_the_users_own_keys():
    with pytest.raises(DataError, match=r"row 0, \$\.choices, field '\[1\]': wrong type: found the number 7"):
        from_rows([_FOREIGN | {"choices": ["a", 7], "label": 0}], fields=_FIELDS, gold_as="index0")


def test_the_task_may_be_named_among_the_fields():
    row = {"text": "Ann sang.", "ask": "Who?", "spans": ["Ann"]}
    fields = "passage=text,question=ask,gold=spans"
    assert from_rows([row], fields=f"{fields},task=multi-span")[0].gold == ("Ann",)
    assert from_rows([row], fields=fields, task="span").task is Task.SPAN
    with pytest.raises(DataError, match="the task is open"):
        from_rows([row], fields=fields)
    with pytest.raises(UsageError, match="unknown task 'spam': did you mean 'span'"):
        from_rows([row], fields=fields, task="spam")


# --- codings of gold


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
def test_codings(gold, coding, right):
    assert decode(gold, _CHOICES["candidates"], coding) == right
    (question,) = from_rows([_FOREIGN | {"label": gold}], fields=_FIELDS, gold_as=coding)
    assert question.gold == right
    assert question.task is (Task.MULTIPLE_ANSWER if isinstance(gold, list) else Task.SINGLE_CHOICE)


@pytest.mark.parametrize(
    ("gold", "coding", "message"),
    [
        (3, "index0", "found the number 3, expected an index from 0 to 2"),
        (0, "index1", "found the number 0, expected an index from 1 to 3"),
        (True, "index0", "found true"),
        (1.5, "index0", r"found the number 1\.5"),
        ("D", "letter", "found 'D', expected a letter from A to C"),
        ("AB", "letter", "expected a letter"),
        ("Zoe", "text", "found 'Zoe', the text of 0 candidates, expected the text of exactly one"),
        (1, "text", "found the number 1, expected the text of exactly one candidate"),
        ([0, 1], "flags", "found a list of 2, expected a list of 3 true or false"),
        ([0, 1, 2], "flags", "expected a list of 3"),
        ("010", "flags", "expected a list of 3"),
        ([1, 1], "index0", "names a candidate twice"),
    ],
)
def test_gold_that_is_not_in_its_coding(gold, coding, message):
    with pytest.raises(DataError, match=f"row 0, field 'gold': gold is not among the candidates: .*{message}"):
        from_rows([_FOREIGN | {"label": gold}], fields=_FIELDS, gold_as=coding)


@pytest.mark.parametrize(
    ("choices", "gold", "named"),
    [
        (["Bob", "Ann"], 1, ["index0", "index1"]),
        (["Bob", "Ann"], 0, ["index0", "index1"]),
        (["Bob", "Ann"], "1", ["index0", "index1"]),
        (["2", "1"], "1", ["index0", "index1", "text"]),
        (["A", "B"], "B", ["letter", "text"]),
        (["Bob", "Ann"], [1, 0], ["index0", "flags"]),
    ],
)
def test_an_ambiguous_coding_is_refused_with_all_that_it_may_be(choices, gold, named):
    with pytest.raises(DataError, match="the coding of gold is ambiguous") as caught:
        from_rows([_FOREIGN | {"choices": choices, "label": gold}], fields=_FIELDS)
    for coding in named:
        assert f"--gold-as {coding}" in caught.value.hint


@pytest.mark.parametrize(
    ("golds", "right"),
    [
        (["B", "A"], [{1}, {0}]),
        (["Ann", "Bob"], [{1}, {0}]),
        ([[True, False, True], [False, False, False]], [{0, 2}, set()]),
        ([["Ann", "Eve"], []], [{1, 2}, set()]),
    ],
)
def test_the_only_coding_that_fits_is_taken(golds, right):
    dataset = from_rows([_FOREIGN | {"label": gold} for gold in golds], fields=_FIELDS)
    assert [q.gold for q in dataset] == right


def test_codings_that_no_value_or_not_all_values_share():
    with pytest.raises(
        DataError, match=r"row 0, field 'gold': gold that fits no coding of gold: found 'Zoe' beside the"
    ):
        from_rows([_FOREIGN | {"label": "Zoe"}], fields=_FIELDS)
    with pytest.raises(DataError, match="row 1, field 'gold': gold in another coding than before: found 'B'"):
        from_rows([_FOREIGN | {"label": "Ann"}, _FOREIGN | {"label": "B"}], fields=_FIELDS)
    with pytest.raises(UsageError, match="unknown gold coding 'index2': did you mean 'index"):
        from_rows([_FOREIGN | {"label": 0}], fields=_FIELDS, gold_as="index2")


def test_gold_that_is_text_has_no_other_coding():
    row = _BASE | {"gold": "Ann", "task": "span"}
    assert from_rows([row], gold_as="text")[0].gold == ("Ann",)
    with pytest.raises(UsageError, match="gold_as=index0 means nothing for span questions"):
        from_rows([row], gold_as="index0")


def test_a_coding_goes_with_our_own_schema_too():
    assert from_rows([_CHOICES | {"gold": "B"}], gold_as="letter")[0].gold == {1}
    assert from_rows([_CLOZE | {"gold": 3}], gold_as="index1")[0].gold == ("Ann",)


_DISTINCT = st.lists(st.text(string.ascii_lowercase, min_size=2), min_size=1, max_size=6, unique=True)


@given(_DISTINCT, st.data())
def test_encoding_and_decoding_are_inverse(texts, data):
    right = data.draw(st.sets(st.sampled_from(range(len(texts)))))
    codes = {
        "index0": lambda i: i,
        "index1": lambda i: i + 1,
        "letter": lambda i: string.ascii_uppercase[i],
        "text": lambda i: texts[i],
    }
    for coding, code in codes.items():
        assert decode([code(i) for i in right], texts, coding) == right
    assert decode([i in right for i in range(len(texts))], texts, "flags") == right


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists), _DISTINCT)
def test_any_value_is_gold_or_a_mismatch(value, texts):
    for coding in CODINGS:
        if coding in fitting(value, texts):
            assert decode(value, texts, coding) <= set(range(len(texts)))
        else:
            with pytest.raises(GoldMismatchError, match="expected"):
                decode(value, texts, coding)


# --- tables


def _table(tmp_path, text, name="own.csv", **options):
    path = tmp_path / name
    path.write_text(text, "utf-8", newline="")
    return load(path, **options)


@pytest.mark.parametrize(
    ("cell", "gold"),
    [
        ("1", {1}),
        ("1.0", {1}),
        ('"[1, 2]"', {1, 2}),
        ("[sic]", {3}),
        ("Ann", {1}),
        ('"""Ann"""', {1}),
        ('"[""Ann"", ""1990""]"', {1, 2}),
        ('"""1990"""', {2}),
        ("", None),
        ("null", None),
    ],
)
def test_gold_in_a_cell(tmp_path, cell, gold):
    task = "multiple-answer" if gold and len(gold) > 1 else "single-choice"
    text = "passage,question,candidate_0,candidate_1,candidate_2,candidate_3,gold,task\n"
    text += f"P,Q,Bob,Ann,1990,[sic],{cell},{task}\n"
    assert _table(tmp_path, text)[0].gold == gold


def test_candidates_in_one_cell_or_in_fewer(tmp_path):
    text = 'passage\tquestion\tcandidates\tgold\nP\tQ\t"[""a"", ""b""]"\t1\n'
    assert [c.text for c in _table(tmp_path, text)[0].candidates] == ["a", "b"]
    text = "passage,question,candidate_1,candidate_0,candidate_2,gold\nP,Q,b,a,,1\nP,R,b,a,c,2\n"
    assert [[c.text for c in q.candidates] for q in _table(tmp_path, text)] == [["a", "b"], ["a", "b", "c"]]
    header = ",".join(f"candidate_{i}" for i in range(11))
    text = f"passage,question,{header},gold\nP,Q,{','.join(map(str, range(11)))},10\n"
    assert [c.text for c in _table(tmp_path, text)[0].candidates][-2:] == ["9", "10"]


def test_quoted_line_ends_and_long_cells(tmp_path):
    long = "word " * 40_000
    text = f'passage,question,candidate_0,gold\r\n"one\r\ntwo ""x"", {long}",Q,a,0\r\n\r\nP,Q,a,0\r\n'
    dataset = _table(tmp_path, text)
    assert dataset[0].passage.text == f'one\ntwo "x", {long}'
    assert [q.id for q in dataset] == ["line-2", "line-5"]
    assert dataset.notes == ("blank lines passed over: 1",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("passage,question,candidate_0,gold\nP,Q,a\n", "line 2: wrong number of columns: found 3, expected 4"),
        ("passage,question,candidate_0,gold\nP,Q,a,0,1\n", "line 2: wrong number of columns: found 5, expected 4"),
        ("passage,question,candidate_0,gold,gold\nP,Q,a,0,0\n", "line 1: two columns have one name: found 'gold'"),
        ("passage,question,candidate_1,gold\nP,Q,a,0\n", "do not count from 0: found candidate_1"),
        ("passage,question,candidate_0,candidates,gold\nP,Q,a,a,0\n", "line 1: candidate columns that do not"),
        (
            "passage,question,candidate_0,candidate_1,gold\nP,Q,,a,0\n",
            "field 'candidate_0': an empty candidate before",
        ),
        ("passage,question,candidate_0,candidate_1,gold\nP,Q,,,0\n", "line 2, field 'candidates': no candidate"),
        (
            "passage,question,candidates,gold\nP,Q,\"['a']\",0\n",
            r"field 'candidates': not valid JSON .*expected JSON",
        ),
        (
            'passage,question,candidate_0,gold\nP,"Q,a,0\nP,Q,a,0\n',
            r"line 2: not a table \(unexpected end of data\)",
        ),
        ('passage,question,candidate_0,gold\nP,"Q" x,a,0\n', "line 2: not a table .*has quotes doubled"),
        ("passage,question,candidate_0,gold\n", "no question in it"),
    ],
)
def test_wrong_tables(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        _table(tmp_path, text)


def test_a_foreign_table(tmp_path):
    text = "story\task\tA\tB\tC\tanswer\tkind\nOnce upon a time.\tWho?\tx\ty\t\t2\tk\n"
    dataset = _table(
        tmp_path, text, "t.tsv", fields="passage=story,question=ask,candidates=A+B+C,gold=answer", gold_as="index1"
    )
    assert [c.text for c in dataset[0].candidates] == ["x", "y"]
    assert (dataset[0].gold, dataset[0].meta) == ({1}, {"kind": "k"})


@given(st.lists(st.text(st.characters(exclude_characters="\0\r\ufeff", exclude_categories=("Cs",))), min_size=1))
def test_a_table_and_json_lines_of_the_same_are_the_same(tmp_path_factory, texts):
    import csv
    import io

    assume(texts[-1] and all(texts))
    rows = [
        {"id": str(i), "passage": t, "question": t, "candidates": texts, "gold": i} for i, t in enumerate(texts)
    ]
    folder = tmp_path_factory.getbasetemp()
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(["id", "passage", "question", *(f"candidate_{i}" for i in range(len(texts))), "gold"])
    writer.writerows([row["id"], row["passage"], row["question"], *texts, row["gold"]] for row in rows)
    (folder / "table.csv").write_bytes(stream.getvalue().encode("utf-8"))
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    fingerprints = {load(folder / name).fingerprint for name in ("table.csv", "rows.jsonl")}
    assert fingerprints == {from_rows(rows).fingerprint}


# --- rows of known schemas


def test_rows_of_race_are_those_of_its_own_files(tmp_path, write, content):
    value = content("race")
    rows = [
        {
            "example_id": value["id"],
            "article": value["article"],
            "question": q,
            "options": options,
            "answer": answer,
        }
        for q, options, answer in zip(value["questions"], value["options"], value["answers"], strict=True)
    ]
    original = load(write(tmp_path, "race"))
    assert from_rows(rows).fingerprint == original.fingerprint
    assert [q.meta for q in from_rows(rows)] == [q.meta for q in original]


def test_rows_of_dream_are_those_of_its_own_files(tmp_path, write, content):
    (turns, ((question),), id), *_ = content("dream")
    row = {"id": 0, "dialogue_id": id, "dialogue": turns, **question}
    assert from_rows([row]).fingerprint == load(write(tmp_path, "dream")).fingerprint


def test_rows_of_multirc_one_an_answer(tmp_path, write, content):
    passage = content("superglue")["passage"]
    question = passage["questions"][0]
    rows = [
        {
            "paragraph": passage["text"],
            "question": question["question"],
            "answer": answer["text"],
            "idx": {"paragraph": 3, "question": 4, "answer": answer["idx"]},
            "label": answer["label"],
        }
        for answer in question["answers"]
    ]
    dataset = from_rows(rows)
    assert dataset.fingerprint == load(write(tmp_path, "superglue")).fingerprint
    assert dataset[0].meta == {"pid": "3", "qid": "4", "answer_idx": (9, 10)}
    assert from_rows([row | {"label": -1} for row in rows])[0].gold is None
    with pytest.raises(
        DataError, match="row 1, field 'label': no such label: found -1, expected 0 or 1, or -1 for all"
    ):
        from_rows([rows[0], rows[1] | {"label": -1}])


def test_rows_of_record(tmp_path, write, content):
    original = load(write(tmp_path, "record-line"))
    line = content("record-line")
    text = line["passage"]["text"]
    spans = [(e["start"], e["end"] + 1) for e in line["passage"]["entities"]]
    row = {
        "passage": text,
        "query": line["qas"][0]["query"],
        "entities": ["Ann Lee", "Bob", "Rome"],
        "entity_spans": {
            "text": [text[a:b] for a, b in spans],
            "start": [a for a, _ in spans],
            "end": [b for _, b in spans],
        },
        "answers": ["Bob"],
        "idx": {"passage": 5, "query": 8},
    }
    assert from_rows([row]).fingerprint == original.fingerprint
    del row["entity_spans"]
    assert [c.text for c in from_rows([row])[0].candidates] == row["entities"]
    assert from_rows([row | {"answers": []}])[0].gold is None


def test_rows_of_squad_and_quoref():
    row = {
        "id": "s1",
        "title": "Letters",
        "context": "Maya wrote to Ines.",
        "question": "Who?",
        "answers": {"text": ["Maya", "Maya"], "answer_start": [0, 0]},
    }
    empty = row | {"id": "s2", "answers": {"text": [], "answer_start": []}}
    dataset = from_rows([row, empty])
    assert [q.gold for q in dataset] == [("Maya",), ("",)]
    assert dataset[0].passage is dataset[1].passage
    assert dataset.notes == ("questions without an answer, kept with the empty text as the only right one: 1",)
    quoref = row | {"context_id": "c", "answers": {"text": ["Maya", "Ines"], "answer_start": [0, 14]}}
    assert (from_rows([quoref]).task, from_rows([quoref])[0].gold) == (Task.MULTI_SPAN, ("Maya", "Ines"))


@pytest.mark.parametrize("key", ["question", "question_stem"])
def test_rows_of_arc_and_openbookqa(key):
    row = {
        "id": "a",
        key: "What melts ice?",
        "choices": {"text": ["cold", "heat"], "label": ["1", "2"]},
        "answerKey": "2",
    }
    assert from_rows([row])[0].gold == {1}
    assert from_rows([row | {"answerKey": ""}])[0].gold is None
    with pytest.raises(DataError, match="row 0, field 'answerKey': gold is not one of the candidates: found '3'"):
        from_rows([row | {"answerKey": "3"}])
    with pytest.raises(UsageError, match="gold_as goes with fields"):
        from_rows([row], gold_as="letter")


def test_numpy_values_and_nan_are_plain_values():
    numpy = pytest.importorskip("numpy")
    row = _CHOICES | {"candidates": numpy.array(["Bob", "Ann"], dtype=object), "gold": numpy.int64(1)}
    hidden = row | {"gold": float("nan")}
    assert [q.gold for q in from_rows([row, hidden])] == [{1}, None]
    assert from_rows([row | {"gold": 1.0}])[0].gold == {1}


def test_a_frames_records():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([_CHOICES | {"gold": 1}, _CHOICES | {"gold": None}])
    assert [q.gold for q in from_rows(frame.to_dict("records"))] == [{1}, None]


def test_any_iterable_is_read_once():
    rows = ({"passage": "P", "question": "Q", "candidates": ["a", "b"], "gold": i % 2} for i in itertools.count())
    dataset = from_rows(itertools.islice(rows, 5), name="made", split="dev")
    assert (len(dataset), dataset.name, dataset.split, dataset.reader) == (5, "made", "dev", "rows")


def test_unknown_rows_are_told_what_to_say():
    with pytest.raises(DataError, match=r"found rows with context, q\.text, choices, label") as caught:
        from_rows([_FOREIGN | {"label": 0}])
    assert "from_rows(rows, fields={'passage': 'context'" in caught.value.hint
    assert "gold_as='index0'" in caught.value.hint
