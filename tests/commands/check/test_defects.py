"""Bad, partly hidden and wrongly mapped data on the command line; the floors of such data."""

from __future__ import annotations

import json

import pytest

_ROW = {
    "passage": "Ann met Bob.",
    "question": "Who met Bob?",
    "candidates": ["Ann", "Eve"],
    "gold": 0,
}
_FIELDS = "passage=text,question=ask,candidates=A+B,gold=key"


@pytest.fixture
def damaged(write):
    rows = [
        _ROW,
        _ROW | {"gold": 7},
        _ROW | {"passage": "One cafÃ©.", "gold": None},
        {"question": "?"},
        _ROW,
    ]
    return write("damaged.jsonl", rows)


def test_check_lists_all_defects_with_their_places(cli, damaged):
    done = cli("check", damaged, "--format", "json")
    assert done.code == 0
    findings = {
        finding["what"]: (finding["count"], finding["places"])
        for finding in done.json["checks"][0]["defects"]
    }
    assert findings["left out: gold is not among the candidates"] == (
        1,
        [f"{damaged}, line 2, question q2"],
    )
    assert findings["left out: missing (passage)"] == (1, [f"{damaged}, line 4, question q4"])
    assert findings["questions with wrongly decoded text (é as Ã©)"] == (
        1,
        [f"{damaged}, line 3, question q3"],
    )
    assert findings["questions whose gold is hidden"][0] == 1
    assert done.messages("note", "gold of 1 questions is hidden", "the other 2")
    table = cli("check", damaged, "--quiet")
    assert f"{damaged.name}, line 2, question q2" in table.out
    assert table.err == ""


def test_bad_and_hidden_questions_are_left_out_on_demand(cli, damaged, tmp_path):
    done = cli("run", damaged, "-s", "random", "--skip", "bad")
    done.fails(
        3,
        "1 of 3 questions hide their gold answers",
        hint="To use the labelled questions only, add --skip unlabelled",
    )
    done = cli(
        "run", damaged, "-s", "longest", "--skip", "bad,unlabelled", "--save", tmp_path / "record"
    )
    assert (done.code, len(done.messages("note", "left out: "))) == (0, 2)
    assert done.messages("note", "gold is not among the candidates: 1", "line 2, question q2")
    assert done.messages("note", "questions left out because their gold is hidden (q3): 1")
    record = json.loads((tmp_path / "record" / "run.json").read_text("utf-8"))
    dataset = record["runs"][0]["dataset"]
    assert (dataset["questions"], dataset["read_with"]["skip"]) == (2, ["bad", "unlabelled"])
    assert cli("reproduce", tmp_path / "record").code == 0


@pytest.fixture
def wide_rows(write):
    rows = [
        {"text": "It rained.", "ask": f"What {i}?", "A": "rain", "B": "sun", "key": "AB"[i % 2]}
        for i in range(5)
    ]
    return write("wide.jsonl", rows)


def test_questions_are_shown_as_fields_map_them(cli, wide_rows):
    done = cli("run", wide_rows, "--fields", _FIELDS, "-s", "random")
    assert done.code == 0
    notes = [line.removeprefix("classic-rc: note: ") for line in done.messages("note")]
    assert notes[:4] == [
        "wide: read as single-choice questions, the first 3 of 5; [[ ]] marks right options",
        "1. passage: It rained.",
        "   question: What 0?",
        "   options: [[rain]] | sun",
    ]
    assert notes[6] == "   options: rain | [[sun]]"
    assert len(notes) == 10
    assert cli("run", wide_rows, "--fields", _FIELDS, "-s", "random", "--quiet").err == ""


def _yes_no(write):
    rows = [
        {
            "passage": f"It rained {i} times.",
            "question": f"Did it rain {i} times?",
            "candidates": options,
            "gold": gold,
        }
        for i in range(12)
        for options, gold in [
            (["no", "yes"], int(i % 3 > 0)) if i % 2 else (["yes", "no"], int(i % 3 == 0))
        ]
    ]
    return write("yes_no.jsonl", rows)


def test_the_majority_class_is_a_floor_of_constant_candidates(cli, write):
    path = _yes_no(write)
    done = cli("run", path, "--format", "csv")
    assert "majority" not in [row["system"] for row in done.records]
    assert done.messages("note", "the majority class", "--cv 5")
    done = cli("run", path, "--cv", "2", "--format", "csv")
    scores = {row["system"]: row for row in done.records}
    assert float(scores["majority"]["accuracy"]) == pytest.approx(8 / 12, abs=1e-4)
    assert scores["majority"]["block"] == "trained"


@pytest.fixture
def squad2(write):
    questions = [
        {
            "id": "s1",
            "question": "Who sang?",
            "answers": [{"text": "Ann", "answer_start": 0}],
            "is_impossible": False,
        },
        {"id": "s2", "question": "Who slept?", "answers": [], "is_impossible": True},
        {
            "id": "s3",
            "question": "Who hummed?",
            "answers": [{"text": "Bob Lee", "answer_start": 10}],
            "is_impossible": False,
        },
    ]
    data = {
        "data": [
            {
                "title": "T",
                "paragraphs": [{"context": "Ann sang. Bob Lee hummed.", "qas": questions}],
            }
        ]
    }
    return write("squad2.json", json.dumps(data))


def test_the_empty_answer_is_written_and_read_back(cli, squad2, tmp_path):
    out = tmp_path / "submission.json"
    assert cli("predict", squad2, "-s", "no-answer", "-o", out).code == 0
    assert json.loads(out.read_text("utf-8")) == {"s1": "", "s2": "", "s3": ""}
    assert (
        cli("run", squad2, "-s", out, "--format", "json").json["runs"][0]["rows"][0]["metrics"][
            "no_ans_em"
        ]
        == 1
    )


def test_a_file_that_answers_all_questions_is_scored_on_the_labelled_ones(cli, write):
    rows = [_ROW | {"gold": None}, _ROW, _ROW | {"gold": 1}]
    path = write("partly.jsonl", rows)
    out = path.with_name("answers.jsonl")
    assert cli("predict", path, "-s", "longest", "-o", out, "--format", "jsonl").code == 0
    cli("run", path, "-s", out).fails(3, "--skip unlabelled")
    done = cli("run", path, "-s", out, "--skip", "unlabelled", "--format", "json")
    (run,) = done.json["runs"]
    assert (run["dataset"]["questions"], run["rows"][0]["metrics"]["accuracy"]) == (2, 0.5)


_STORY = (
    "In story {} Ann met Bob in the park, and Carla saw Dmitri at the market. Then everyone went "
    "home."
)
_DEFECTS = {
    "question ids that an earlier, different question has": {"id": "q0"},
    "left out: gold is not among the candidates": {"gold": 7},
    "left out: gold is coded in several ways": {"gold": "Ann"},
    "left out: missing (passage)": {"passage": None},
    "questions about an empty passage": {"passage": ""},
    "empty questions": {"question": " "},
    "questions with an empty option": {"candidates": ["Ann", "", "Eva"], "gold": 0},
    "questions with an option both right and wrong": {
        "candidates": ["The park", "the park!", "Eva"],
        "gold": 0,
    },
    "questions with equal options": {"candidates": ["Eva", "the park", "The park!"], "gold": 0},
    "questions with fewer than two options": {"candidates": ["Ann"], "gold": 0},
    "questions with wrongly decoded text (é as Ã©)": {"question": "Who likes cafÃ© and thÃ©?"},
    "questions with lost characters (U+FFFD)": {"question": "Who likes caf\ufffd?"},
    "questions with control characters": {"question": "Who\u0000 met Bob?"},
    "questions with HTML entities (such as amp)": {"question": "Who met Bob &amp; Carla?"},
    "questions whose gold is hidden": {"gold": None},
}


@pytest.fixture
def everything(write):
    """Every defect of a row once, after sound questions; and the ids of the rows with a defect."""
    sound = {"question": "Who met Bob there?", "candidates": ["Ann", "Carla", "Dmitri"]}
    rows = [{**sound, "id": f"q{i}", "passage": _STORY.format(i), "gold": i % 3} for i in range(30)]
    for place, change in enumerate(_DEFECTS.values(), start=30):
        row = {**sound, "id": f"q{place}", "passage": _STORY.format(place), "gold": 0, **change}
        rows.append(
            {key: value for key, value in row.items() if key != "passage" or value is not None}
        )
    return write("everything.jsonl", rows)


def test_no_defect_hides_another(cli, everything):
    done = cli("check", everything, "--format", "json")
    assert done.code == 0, done.err
    defects = {finding["what"]: finding for finding in done.json["checks"][0]["defects"]}
    assert {name: defects.get(name, {}).get("count") for name in _DEFECTS} == dict.fromkeys(
        _DEFECTS, 1
    )
    for line, name in enumerate(_DEFECTS, start=31):
        assert f"{everything}, line {line}" in defects[name]["places"][0], name


def test_answers_to_questions_that_cannot_be_read_are_left_out(cli, everything, write):
    ids = dict.fromkeys(
        json.loads(line)["id"] for line in everything.read_text("utf-8").splitlines()
    )
    answers = write("answers.jsonl", [{"id": id_, "answer": "A"} for id_ in [*ids, "q0 (2)"]])
    options = ("--skip", "bad,unlabelled")
    for command in (
        ("run", everything, "-s", answers),
        ("compare", answers, "longest", "--data", everything),
        ("predict", everything, "-s", answers),
    ):
        done = cli(*command, *options)
        assert done.code == 0, done.err
        assert done.messages("warning", answers.name, "left out", "--skip bad")
        assert done.messages("note", "left out: gold is not among the candidates: 1")
    strict = write("strict.jsonl", [{"id": f"q{i}", "answer": "A"} for i in range(31)])
    sound = write(
        "sound.jsonl",
        [json.loads(line) for line in everything.read_text("utf-8").splitlines()[:30]],
    )
    done = cli("run", sound, "-s", strict, *options)
    assert (
        done.code,
        len(done.messages("warning", strict.name, "answers more questions than these 30")),
    ) == (0, 1)
