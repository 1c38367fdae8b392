"""``classic-rc compare --examples``: which questions are shown, with which answers and reasons."""

from __future__ import annotations

import json

import pytest

QUESTIONS = [
    {
        "id": f"q{i}",
        "passage": f"It rained. A fox number {i} slept. Nobody came.",
        "question": "What slept?",
        "candidates": ["fox", "a heron", "nobody at all"],
        "gold": i % 3,
    }
    for i in range(12)
]


@pytest.fixture
def animals(write):
    return write("animals.jsonl", QUESTIONS)


@pytest.fixture
def model(write):
    """The answers of a model, which is right on every question but those about the fox."""
    rows = [{"id": q["id"], "answer": "BBC"[q["gold"]]} for q in QUESTIONS]
    return write("model.jsonl", rows)


def examples(cli, *args):
    done = cli("compare", *args, "--format", "json")
    assert done.code == 0, done.err
    (comparison,) = done.json["comparisons"]
    return comparison["examples"]


def texts(example):
    return {name: (text, outcome) for name, text, outcome in example["rows"]}


def test_each_system_is_wrong_where_the_other_one_is_right(cli, animals, model):
    examples_found = examples(
        cli, model, "--baseline", "shortest", "--data", animals, "--examples", 2
    )
    assert [(e["wrong"], e["right"], e["questions"]) for e in examples_found] == [
        *[("model", "shortest", 4)] * 2, *[("shortest", "model", 8)] * 2,
    ]  # fmt: skip
    assert all(int(e["question_id"][1:]) % 3 == 0 for e in examples_found[:2])
    assert all(int(e["question_id"][1:]) % 3 for e in examples_found[2:])
    texts_shown = texts(examples_found[0])
    number = examples_found[0]["question_id"][1:]
    assert texts_shown["passage"] == (f"It rained. A fox number {number} slept. Nobody came.", "")
    assert texts_shown["question"] == ("What slept?", "")
    assert (texts_shown["A"], texts_shown["B"]) == (("fox", "right"), ("a heron", ""))
    assert (texts_shown["model"], texts_shown["shortest"]) == (
        ("B a heron", "wrong"),
        ("A fox", "right"),
    )
    assert texts_shown["why shortest"][0].startswith("A “fox” wins by 4 over B “a heron”")
    assert "why model" not in texts_shown


def test_draws_depend_on_ids_and_the_seed_alone(cli, animals, model, write):
    args = ("--data", animals, "--examples")
    three_each = examples(cli, model, "shortest", *args, 3)
    assert examples(cli, model, "shortest", *args, 1) == [three_each[0], three_each[3]]
    turned = write("turned.jsonl", QUESTIONS[::-1])
    assert examples(cli, model, "shortest", "--data", turned, "--examples", 3) == three_each
    ids = set()
    for seed in range(5):
        drawn = examples(cli, model, "shortest", *args, 3, "--seed", seed)
        ids.add(tuple(e["question_id"] for e in drawn))
    assert len(ids) > 1
    assert examples(cli, model, "shortest", "--data", animals) == []


def test_tables_have_the_examples_below_the_sets(cli, animals, model):
    args = ("compare", model, "shortest", "--data", animals, "--examples", 1, "--by", "passage")
    done = cli(*args[:-2], "--metrics", "accuracy")
    below = done.out.partition("solved by exactly these systems")[2]
    assert ": model wrong, shortest right, one of 4]" in below
    assert "drawn by their ids, seed 0" in below
    markdown = cli(*args[:-2], "--format", "markdown").out
    assert "| model | B a heron | wrong |" in markdown
    assert '<th scope="row" style="text-align: left">why shortest</th>' in (
        cli(*args[:-2], "--format", "html").out
    )


def test_groups_have_examples_of_their_own(cli, animals, model, write):
    lines = [f"q{i},k{i % 2}\n" for i in range(12)]
    labels = write("labels.csv", "id,kind\n" + "".join(lines))
    args = (model, "shortest", "--data", animals, "--labels", labels, "--by", "kind")
    done = cli("compare", *args, "--examples", 9, "--format", "json")
    for comparison in done.json["comparisons"][1:]:
        parity = int(comparison["dataset"]["name"][-1])
        numbers = [int(e["question_id"][1:]) for e in comparison["examples"]]
        assert len(numbers) == 6
        assert {number % 2 for number in numbers} == {parity}


def test_records_read_their_questions_again(cli, animals, model, tmp_path):
    folder = tmp_path / "run"
    done = cli("run", animals, "-s", f"model={model}", "-s", "shortest", "--save", folder)
    assert done.code == 0, done.err
    comparisons = examples(cli, f"{folder}#model", f"{folder}#shortest", "--examples", 1)
    cards = texts(comparisons[0])
    assert cards["shortest"] == ("A fox", "right")
    assert cards["why shortest"][0].startswith("A “fox” wins by 4 over B “a heron”")
    text = animals.read_text(encoding="utf-8")
    animals.rename(tmp_path / "moved.jsonl")
    done = cli("compare", folder, "--examples", 1, "--format", "json")
    assert done.messages("warning", "no examples", "--data DATA")
    assert done.json["comparisons"][0]["examples"] == []
    moved = examples(cli, folder, "--data", tmp_path / "moved.jsonl", "--examples", 1)
    assert [e["question_id"] for e in moved] == [e["question_id"] for e in comparisons]
    # The record's own data is gone, so its solver cannot be restored.
    assert texts(moved[0]) == {k: v for k, v in cards.items() if k != "why shortest"}
    animals.write_text(text.replace("heron", "crane"), encoding="utf-8")
    assert cli("compare", folder, "--examples", 1).messages("warning", "no examples")


def test_expectations_have_no_examples(cli, animals, model):
    assert examples(cli, "random", model, "--data", animals, "--examples", 2) == []


def test_an_answer_that_cannot_be_read_and_a_tie_are_named(cli, animals, write):
    silent = write("silent.jsonl", [{"id": q["id"], "answer": "no idea"} for q in QUESTIONS])
    (comparison,) = examples(cli, silent, "shortest", "--data", animals, "--examples", 1)
    assert texts(comparison)["silent"] == ("no answer", "wrong")
    equal_options = [question | {"candidates": ["fox", "cat", "dog"]} for question in QUESTIONS]
    data = write("same.jsonl", equal_options)
    first = write("first.jsonl", [{"id": q["id"], "answer": "A"} for q in QUESTIONS])
    (comparison,) = examples(cli, first, "shortest", "--data", data, "--examples", 1)
    assert texts(comparison)["shortest"] == ("A fox (one of 3 tied)", "partly right")


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("cloze", {"question": "@placeholder slept."}),
        ("span", {}),
    ],
)
def test_answers_without_options_are_texts(cli, write, task, fields):
    rows = []
    for question in QUESTIONS:
        row = {key: question[key] for key in ("id", "passage", "question")} | {"task": task}
        row |= {"gold": ["fox"]} | fields
        row |= {"candidates": ["fox", "Nobody"]} if task == "cloze" else {}
        rows.append(row)
    data = write(f"{task}.jsonl", rows)
    files = []
    for name, text in (("fine", "fox"), ("poor", "Nobody")):
        answers = {question["id"]: text for question in QUESTIONS}
        files.append(write(f"{name}.json", json.dumps(answers)))
    (comparison,) = examples(cli, *files, "--data", data, "--examples", 1)
    cards = texts(comparison)
    assert (comparison["wrong"], cards["gold"]) == ("poor", ("fox", "right"))
    assert (cards["fine"], cards["poor"]) == (("fox", "right"), ("Nobody", "wrong"))


def test_selections_have_all_their_options(cli, multiple_answer):
    comparisons = examples(
        cli, "all-positive", "all-negative", "--data", multiple_answer, "--examples", 9
    )
    for example in comparisons:
        cards = texts(example)
        right = [text for name, (text, outcome) in cards.items() if outcome == "right"]
        assert right
        assert cards["all-negative"][0] == "no answer"
        assert cards["all-positive"][0].startswith("A ")
        assert " + B " in cards["all-positive"][0]


def test_a_number_of_examples_is_positive(cli, animals):
    cli("compare", "longest", "shortest", "--data", animals, "--examples", 0).fails(2, "--examples")
