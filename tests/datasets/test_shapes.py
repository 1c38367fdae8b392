"""Users' files in many shapes: the proposed command, pasted, reads what the file says, or the
shape is refused.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shlex

import pytest

import classic_rc
from classic_rc.errors import DataError
from tests.contents import all_options
from tests.errors import raises

NAMES = "Ann Bob Carla Dmitri Eva Farid Gina Hugo Ines Jonas Kofi Lena".split()
LETTERS = "ABCDEFGHIJ"


def make_questions(n=12, k=4, multiple=False):
    """Return (passage, question, options, set of gold); the first and the last option are right
    somewhere.
    """
    rng, questions = random.Random(5), []
    for i in range(n):
        options = rng.sample(NAMES, k)
        if multiple:
            gold = set(rng.sample(range(k), rng.randint(1, k - 1)))
        else:
            gold = {(0, k - 1, *range(k))[i % (k + 2)]}
        sentences = [f"{name} went to town {j}." for j, name in enumerate(options)]
        story = f"Story {i}: {' '.join(sentences)}"
        questions.append((story, f"Who went home in story {i}?", options, gold))
    return questions


def table(rows, delimiter=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def columns(names):
    return lambda options: dict(zip(names, options, strict=False))


def rows_of(questions, options, gold):
    return [{"context": p, "question": q, **options(o), **gold(o, g)} for p, q, o, g in questions]


def first(gold):
    return next(iter(gold))


def letter(key="answer", letters=LETTERS):
    return lambda options, gold: {key: letters[first(gold)]}


def index(key="answer", start=0, form=int):
    return lambda options, gold: {key: form(first(gold) + start)}


def joined(separator):
    return lambda options, gold: {"answer": separator.join(LETTERS[i] for i in sorted(gold))}


def as_lines(label):
    def write_options(options):
        lines = [f"{label(i)} {text}" for i, text in enumerate(options)]
        return {"options": "\n".join(lines)}

    return write_options


ABCD = columns(LETTERS)
AS_LIST = lambda options: {"options": options}  # noqa: E731

ONE = make_questions()
TEN = make_questions(k=10)
SEVERAL = make_questions(multiple=True)

SHAPES = {
    "option1..option10": (TEN, table, columns([f"option{i}" for i in range(1, 11)]), letter()),
    "opt_0 with 0": (ONE, table, columns([f"opt_{i}" for i in range(4)]), index()),
    "a list": (ONE, lines, lambda o: {"choices": o}, index("label")),
    "an object by letter": (ONE, lines, lambda o: {"choices": ABCD(o)}, letter()),
    "texts and labels": (
        ONE,
        lines,
        lambda o: {"choices": {"text": o, "label": [*"ABCD"]}},
        letter("answerKey"),
    ),
    "objects with texts": (
        ONE,
        lines,
        lambda o: {"options": [{"id": i, "text": t} for i, t in enumerate(o)]},
        letter(),
    ),
    "labelled lines": (ONE, lines, as_lines(lambda i: f"{LETTERS[i]}."), letter()),
    "labels in one line": (
        ONE,
        table,
        lambda o: {"options": " ".join(f"{LETTERS[i]}) {t}" for i, t in enumerate(o))},
        letter(),
    ),
    "a Python list in a cell": (ONE, table, lambda o: {"options": repr(o)}, index()),
    "a JSON list in a cell": (ONE, table, lambda o: {"options": json.dumps(o)}, index()),
    "a letter and the text": (
        ONE,
        table,
        ABCD,
        lambda o, g: {"answer": f"{LETTERS[first(g)]}. {o[first(g)]}"},
    ),
    "the name of a column": (
        ONE,
        table,
        columns([f"option{i}" for i in range(1, 5)]),
        lambda o, g: {"answer": f"option{first(g) + 1}"},
    ),
    "letters together": (SEVERAL, table, ABCD, joined("")),
    "letters and commas": (SEVERAL, table, ABCD, joined(",")),
    "a list of letters": (
        SEVERAL,
        lines,
        AS_LIST,
        lambda o, g: {"answers": [LETTERS[i] for i in sorted(g)]},
    ),
    "a list of texts": (
        SEVERAL,
        lines,
        AS_LIST,
        lambda o, g: {"answers": [o[i] for i in sorted(g)]},
    ),
    "true and false": (
        SEVERAL,
        lines,
        AS_LIST,
        lambda o, g: {"labels": [i in g for i in range(4)]},
    ),
    "semicolons": (ONE, lambda rows: table(rows, ";"), ABCD, letter()),
    "an object with rows": (
        ONE,
        lambda rows: json.dumps({"version": "1", "data": rows}, indent=1),
        AS_LIST,
        letter(),
    ),
    "rows by id": (
        ONE,
        lambda rows: json.dumps({f"q{i}": row for i, row in enumerate(rows)}, indent=1),
        AS_LIST,
        letter(),
    ),
}


def proposal(path):
    """Return the error for a file of an unknown form, and the arguments of the command that it
    proposes.
    """
    with pytest.raises(DataError) as caught:
        classic_rc.load(path)
    command = re.search(r"classic-rc run (.*)", str(caught.value), re.DOTALL)
    assert command is not None, caught.value
    file, *options = shlex.split(command[1])
    names = [flag.lstrip("-").replace("-", "_") for flag in options[::2]]
    return str(caught.value), (file, dict(zip(names, options[1::2], strict=True)))


def read_pasted(path):
    _, (file, options) = proposal(path)
    return classic_rc.load(file, **options)


def contents(dataset):
    questions = []
    for q in dataset:
        options = [c.text for c in q.candidates]
        questions.append((q.passage.text, q.text, options, q.gold and set(q.gold)))
    return questions


def write(folder, text, encoding="utf-8"):
    path = folder / ("data.json" if text[0] in "{[" else "data.csv")
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_the_proposed_command_reads_what_the_file_says(tmp_path, shape):
    questions, form, options, gold = SHAPES[shape]
    path = write(tmp_path, form(rows_of(questions, options, gold)))
    assert contents(read_pasted(path)) == questions


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_encodings_and_blank_rows_change_nothing(tmp_path, encoding):
    text = table(rows_of(ONE, ABCD, letter())) + ",,,,,,\r\n\r\n,,,,,,\r\n"
    assert contents(read_pasted(write(tmp_path, text, encoding))) == ONE


@pytest.mark.parametrize(
    "names", [("distractor1", "distractor2", "distractor3"), ("wrong_1", "wrong_2", "wrong_3")]
)
def test_a_column_of_its_own_for_the_right_answer_gives_no_place_away(tmp_path, names):
    rows = []
    for passage, question, options, gold in ONE:
        wrong = [text for i, text in enumerate(options) if i not in gold]
        right = {"correct_answer": options[first(gold)]}
        rows.append(
            {
                "context": passage,
                "question": question,
                **right,
                **dict(zip(names, wrong, strict=True)),
            }
        )
    dataset = read_pasted(write(tmp_path, table(rows)))
    gold_texts = [options[first(gold)] for _, _, options, gold in ONE]
    assert [q.candidates[first(q.gold)].text for q in dataset] == gold_texts
    assert all_options(dataset) == [sorted(o) for _, _, o, _ in ONE]
    assert len({first(q.gold) for q in dataset}) > 1
    assert any("alphabetical" in note for note in dataset.notes)
    fields = (
        "passage=context,question=question,gold=correct_answer,candidates=correct_answer+"
        + "+".join(names[:2])
    )
    with raises(DataError, field="candidates", expected="+".join(["correct_answer", *names])):
        classic_rc.load(tmp_path / "data.csv", fields=fields)


def test_ambiguous_gold_is_an_error(tmp_path):
    questions = [(*question[:3], {1 + i % 2}) for i, question in enumerate(ONE)]
    path = write(tmp_path, lines(rows_of(questions, AS_LIST, index())))
    message, (file, options) = proposal(path)
    assert options.pop("gold_as") == "CODING"
    assert "(index0 or index1)" in message
    with raises(DataError, field="gold", found=re.compile("as index0: .*; index1: ")):
        classic_rc.load(file, **options)
    letters = [(p, q, [*"BADC"], g) for p, q, _, g in ONE]
    rows = rows_of(letters, AS_LIST, lambda options, gold: {"answer": options[first(gold)]})
    path = write(tmp_path, lines(rows))
    message, (file, options) = proposal(path)
    assert "(letter or text)" in message
    assert contents(classic_rc.load(file, **{**options, "gold_as": "text"})) == letters


def test_a_label_of_minus_one_is_hidden_gold(tmp_path):
    rows = rows_of(ONE, AS_LIST, index("label"))
    for row in rows[::3]:
        row["label"] = -1
    dataset = read_pasted(write(tmp_path, lines(rows)))
    expected = [frozenset(gold) for *_, gold in ONE]
    expected[::3] = [None] * len(rows[::3])
    assert [q.gold for q in dataset] == expected
    assert any("-1" in note and "hidden" in note and note.endswith("4") for note in dataset.notes)


def test_a_column_of_candidates_is_no_gold(tmp_path):
    path = write(tmp_path, table(rows_of(ONE, ABCD, letter())))
    with raises(DataError, field="gold", found="B"):
        classic_rc.load(path, fields="passage=context,question=question,candidates=A+B+C+D,gold=B")
