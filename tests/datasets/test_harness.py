"""Questions in logs of lm-evaluation-harness."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from classic_rc import evaluate, load
from classic_rc.errors import DataError
from classic_rc.questions import Question, Task
from classic_rc.systems import systems_of_log
from tests.contents import all_options
from tests.errors import raises
from tests.harness_logs import (
    GOLD,
    QUESTIONS,
    TEXTS,
    belebele_rows,
    choice_row,
    multirc_rows,
    text_row,
    write_log,
)

VALUES = [[-1.0, -2.0, -3.0, -4.0]] * 4
TEXT, (ASKED, OPTIONS) = TEXTS[0], QUESTIONS[0]


def read_one(folder: Path, doc: dict[str, Any], continuations: list[str], target: Any) -> Question:
    values = [-1.0 - i for i in range(len(continuations))]
    (question,) = load(write_log(folder, [choice_row(0, doc, continuations, values, target)]))
    return question


def options_of(question: Question) -> list[str]:
    return [candidate.text for candidate in question.candidates]


FAMILIES = {
    "race": (
        {
            "article": TEXT,
            "problems": str(
                [
                    {"question": "What now?", "answer": "A", "options": ["w", "x", "y", "z"]},
                    {"question": ASKED, "answer": "C", "options": list(OPTIONS)},
                ]
            ),
        },
        None,
        (TEXT, ASKED, OPTIONS),
    ),
    "boolq": (
        {"passage": TEXT, "question": "are there bees", "label": 1},
        ["no", "yes"],
        (TEXT, "are there bees"),
    ),
    "multiple passages": (
        {
            "context": TEXT,
            "question": ASKED,
            "answers": list(OPTIONS),
            "correct_answer_id": 2,
            "id": "x",
        },
        None,
        (TEXT, ASKED, OPTIONS),
    ),
    "arc": (
        {
            "id": "M1",
            "question": ASKED,
            "choices": {"text": list(OPTIONS), "label": ["1", "2", "3", "4"]},
            "answerKey": "3",
        },
        None,
        ("", ASKED, OPTIONS),
    ),
    "commonsense_qa": (
        {
            "question": ASKED,
            "choices": {"label": list("ABCD"), "text": list(OPTIONS)},
            "answerKey": "C",
        },
        ["A", "B", "C", "D"],
        ("", ASKED, OPTIONS),
    ),
    "openbookqa": (
        {
            "question_stem": ASKED,
            "choices": {"text": list(OPTIONS), "label": list("ABCD")},
            "answerKey": "C",
        },
        None,
        ("", ASKED, OPTIONS),
    ),
    "sciq": (
        {
            "support": TEXT,
            "question": ASKED,
            "distractor1": OPTIONS[0],
            "distractor2": OPTIONS[1],
            "distractor3": OPTIONS[3],
            "correct_answer": OPTIONS[2],
        },
        [OPTIONS[0], OPTIONS[1], OPTIONS[2], OPTIONS[3]],
        (TEXT, ASKED, OPTIONS),
    ),
    "piqa": (
        {"goal": ASKED, "sol1": OPTIONS[0], "sol2": OPTIONS[1], "label": 1},
        None,
        ("", ASKED, OPTIONS[:2]),
    ),
    "siqa": (
        {
            "context": TEXT,
            "question": ASKED,
            "answerA": OPTIONS[0],
            "answerB": OPTIONS[1],
            "answerC": OPTIONS[2],
            "label": "2",
        },
        None,
        (TEXT, ASKED, OPTIONS[:3]),
    ),
    "hellaswag": (
        {
            "ctx": TEXT,
            "endings": list(OPTIONS),
            "query": f"Bees: {TEXT}",
            "choices": list(OPTIONS),
            "gold": 2,
        },
        None,
        (TEXT, "", OPTIONS),
    ),
    "belebele": (
        {
            "flores_passage": TEXT,
            "question": ASKED,
            **{f"mc_answer{i + 1}": o for i, o in enumerate(OPTIONS)},
        },
        ["A", "B", "C", "D"],
        (TEXT, ASKED, OPTIONS),
    ),
    "qa4mre": (
        {
            "document_str": TEXT,
            "question_str": ASKED,
            "answer_options": {"answer_id": list("1234"), "answer_str": list(OPTIONS)},
        },
        None,
        (TEXT, ASKED, OPTIONS),
    ),
    "mmlu": (
        {"question": ASKED, "choices": list(OPTIONS), "answer": 2, "subject": "bees"},
        ["A", "B", "C", "D"],
        ("", ASKED, OPTIONS),
    ),
    "swag": (
        {
            "sent1": TEXT,
            "sent2": "the bees",
            **{f"ending{i}": option for i, option in enumerate(OPTIONS)},
        },
        list(OPTIONS),
        (TEXT, "the bees"),
    ),
    "dialogue": (
        {
            "dialogue": ["M: Bees?", "W: Yes."],
            "question": ASKED,
            "choice": list(OPTIONS),
            "answer": OPTIONS[2],
        },
        None,
        ("M: Bees?\nW: Yes.", ASKED, OPTIONS),
    ),
    "columns": (
        {
            "question": ASKED,
            **{f"op{letter}": text for letter, text in zip("abcd", OPTIONS, strict=True)},
            "cop": 2,
        },
        ["A", "B", "C", "D"],
        ("", ASKED, OPTIONS),
    ),
    "nli": (
        {"premise": TEXT, "hypothesis": "Mira sells bees", "label": 2},
        ["True", "False", "Neither"],
        (TEXT, "Mira sells bees"),
    ),
    "capitals": (
        {"QUESTION": ASKED, "CONTEXTS": ["Bees.", "Honey."], "final_decision": "maybe"},
        ["yes", "no", "maybe"],
        ("Bees.\nHoney.", ASKED),
    ),
    "record": (
        {
            "passage": TEXT,
            "query": "@placeholder keeps",
            "entities": list(OPTIONS),
            "answers": [OPTIONS[2]],
        },
        None,
        (TEXT, "@placeholder keeps", OPTIONS),
    ),
    "copa": (
        {
            "premise": TEXT,
            "question": "cause",
            "choice1": OPTIONS[0],
            "choice2": OPTIONS[1],
            "label": 1,
        },
        None,
        (TEXT, "cause", OPTIONS[:2]),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_document_gives_passage_question_and_options(tmp_path, family):
    doc, scored, (passage, query, *options) = FAMILIES[family]
    expected = list(options[0]) if options else scored
    continuations = [f" {text}" for text in scored or expected]
    gold = min(2, len(expected) - 1)
    question = read_one(tmp_path, doc, continuations, gold)
    assert question.passage.text == passage
    assert question.text == query
    assert options_of(question) == expected
    assert question.gold == {gold}


def test_options_have_the_order_in_which_they_were_scored(tmp_path):
    doc = {"goal": ASKED, "sol1": "one", "sol2": "two"}
    question = read_one(tmp_path, doc, [" Two", " one"], 1)
    assert options_of(question) == ["two", "one"]
    assert question.gold == {1}


@pytest.mark.parametrize(
    ("continuations", "options"),
    [
        # in a sentence, and in another order
        ([f"So: {option}!" for option in OPTIONS[::-1]], OPTIONS[::-1]),
        (["D", "C", "B", "A"], OPTIONS[::-1]),
        (["Option A", "Option B", "Option C", "Option D"], OPTIONS),
        (["(1)", "(2)", "(3)", "(4)"], OPTIONS),
        (["가", "나", "다", "라"], OPTIONS),
        # others than the document's
        (["red", "green", "blue", "black"], ("red", "green", "blue", "black")),
    ],
)
def test_the_options_are_those_that_the_positions_of_the_log_mean(tmp_path, continuations, options):
    doc = {"passage": TEXT, "question": ASKED, "options": list(OPTIONS)}
    question = read_one(tmp_path, doc, continuations, 3)
    assert options_of(question) == list(options)
    assert question.gold == {3}


def test_an_empty_option_and_an_empty_continuation_share_nothing(tmp_path):
    question = read_one(tmp_path, {"question": ASKED, "options": ["", "blue"]}, ["", "red"], 1)
    assert options_of(question) == ["", "red"]
    assert question.gold == {1}


def test_lists_of_right_answers_are_no_options(tmp_path):
    scored = [["in a", "in b"], ["in c", "in d"], ["in e", "in f"]]
    rows = []
    for i in range(3):
        answers = list(OPTIONS[: 1 + i])
        doc = {"question": f"Where {i}?", "answers": answers, "context": TEXT}
        rows.append(choice_row(i, doc, scored[i], (-1.0, -2.0), 0))
    dataset = load(write_log(tmp_path, rows))
    assert all_options(dataset) == scored


def test_texts_that_nobody_reads_are_noted(tmp_path):
    doc = {"txt": TEXT, "qst": ASKED, "id": "a", "key": OPTIONS[0]}
    scores = (-1.0, -2.0, -3.0, -4.0)
    row = choice_row(0, doc, list(OPTIONS), scores, 0)
    dataset = load(write_log(tmp_path, [row]))
    assert any("fields txt, qst, whose role is unknown" in note for note in dataset.notes)
    row = choice_row(0, doc, [*"ABCD"], scores, 0)
    letters = load(write_log(tmp_path, [row]))
    assert any("letters without their texts" in note for note in letters.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"acc": 0.4}, "values between 0 and 1"),
        ({"acc": None, "metrics": ["mcc"]}, "other metrics (mcc)"),
    ],
)
def test_what_the_harness_measured_in_place_of_acc_is_noted(tmp_path, change, words):
    rows = belebele_rows(VALUES)
    for row in rows:
        row |= change
    assert any(words in note for note in load(write_log(tmp_path, rows)).notes)


def test_several_right_options_of_truthfulqa_and_record_are_right(tmp_path):
    targets = {"choices": ["bees", "keys", "ferries"], "labels": [1, 1, 0]}
    changed = {"choices": ["bees", "keys"], "labels": [1, 0]}
    truths = {"question": ASKED, "mc1_targets": changed, "mc2_targets": targets}
    assert read_one(tmp_path, truths, ["bees", "keys", "ferries"], 0).gold == {0, 1}
    assert read_one(tmp_path, truths, ["bees", "keys"], 0).gold == {0}
    doc = {
        "passage": TEXT,
        "query": "@placeholder sang",
        "entities": ["Al", "Al B", "Bo"],
        "answers": ["Al B", "Bo"],
    }
    assert read_one(
        tmp_path, doc, ["  - Al sang", "  - Al B sang", "  - Bo sang"], "  - Al B sang"
    ).gold == {1, 2}


@pytest.mark.parametrize(
    ("target", "gold"),
    [
        ("2", {2}),
        (2, {2}),
        ("[0, 2]", {0, 2}),
        (" IN the  snow", {1}),
        (-100, None),
        ("None", None),
    ],
)
def test_a_target_is_an_index_several_or_a_text(tmp_path, target, gold):
    doc = {"question": ASKED, "choices": list(OPTIONS)}
    row = choice_row(0, doc, list(OPTIONS), (-1.0, -2.0, -3.0, -4.0), 0)
    row["target"] = None if target == "None" else target
    (question,) = load(write_log(tmp_path, [row]))
    assert question.gold == gold


def test_a_target_that_is_no_option_is_an_error(tmp_path):
    doc = {"question": ASKED, "choices": list(OPTIONS)}
    row = choice_row(0, doc, list(OPTIONS), (-1.0, -2.0, -3.0, -4.0), 4)
    path = write_log(tmp_path, [row])
    with raises(DataError, source=str(path), where="line 1", field="target", found="'4'"):
        load(path)


def test_the_passage_never_comes_from_the_prompt(tmp_path):
    examples = zip(TEXTS, QUESTIONS, strict=True)
    shots = "\n\n".join(f"{text}\nQuestion: {q}\nAnswer: {o[0]}" for text, (q, o) in examples)
    results = {"n-shot": {"made": 4}, "results": {"made": {}}, "config": {"model": "tiny"}}
    path = write_log(tmp_path, belebele_rows(VALUES, context=shots), results=results)
    dataset = load(path)
    assert [question.passage.text for question in dataset] == list(TEXTS)
    assert [question.text for question in dataset] == [question for question, _ in QUESTIONS]
    assert [set(question.gold) for question in dataset] == [{i} for i in GOLD]
    (note,) = dataset.notes
    assert "the model saw more: 4 examples" in note


def test_unknown_documents_have_the_continuations_as_options(tmp_path):
    rows = []
    for i, (text, (_, options)) in enumerate(zip(TEXTS, QUESTIONS, strict=True)):
        continuations = [f" {option}" for option in options]
        doc = {"riddle": text, "n": i}
        rows.append(choice_row(i, doc, continuations, (-1.0, -2.0, -3.0, -4.0), i))
    dataset = load(write_log(tmp_path, rows))
    assert {question.passage.text for question in dataset} == {""}
    assert all_options(dataset) == [list(options) for _, options in QUESTIONS]
    notes = " ".join(dataset.notes)
    assert "the fields of this task's documents are unknown" in notes
    assert "passages are empty" in notes


def test_race_tells_how_many_prompts_have_other_answers(shared_golden):
    (path,) = (shared_golden / "harness").glob("samples_race_*.jsonl")
    dataset = load(path)
    assert dataset.name == "race"
    assert len(dataset) == 25
    assert all(len(question.candidates) == 4 for question in dataset)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [question.passage.text for question in dataset] == [
        row["doc"]["article"] for row in rows
    ]
    assert any(note.startswith("the model saw more: 24 of 25 prompts") for note in dataset.notes)


def test_multirc_is_one_question_for_several_rows(tmp_path):
    rows = multirc_rows([[1, 0, 1], [0, 0]], [[1, 1, 0], [0, 0]])
    dataset = load(write_log(tmp_path, rows))
    assert dataset.task is Task.MULTIPLE_ANSWER
    assert [question.id for question in dataset] == ["0==7", "1==7"]
    assert [set(question.gold) for question in dataset] == [{0, 2}, set()]
    (_, first), (_, second), *_ = QUESTIONS
    assert all_options(dataset) == [list(first[:3]), list(second[:2])]
    notes = " ".join(dataset.notes)
    assert "acc 60.00 (3 of 5)" in notes
    assert "reversed" in notes
    assert "40.00" in notes


def test_multirc_of_the_golden_log(shared_golden):
    (path,) = (shared_golden / "harness").glob("samples_multirc_*.jsonl")
    dataset = load(path)
    assert len(dataset) == 22
    assert len(dataset.passages) == 2  # both with the number 0
    rows = [json.loads(line)["doc"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert [text for question in dataset for text in options_of(question)] == [
        row["answer"] for row in rows
    ]
    right = [
        place in question.gold for question in dataset for place in range(len(question.candidates))
    ]
    assert right == [row["label"] == 1 for row in rows]
    assert any("the results file counts 274" in note for note in dataset.notes)


def test_equal_numbers_of_other_passages_are_other_questions(tmp_path):
    rows = multirc_rows([[1, 0], [0, 1]], [[1, 1], [0, 0]])
    for row in rows:
        row["doc"]["idx"]["paragraph"] = 0
    dataset = load(write_log(tmp_path, rows))
    assert [question.id for question in dataset] == ["0==7", "0==7 (2)"]
    assert [set(question.gold) for question in dataset] == [{0}, {1}]


def test_a_log_is_read_compressed(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(packed).fingerprint == load(path).fingerprint
    assert load(packed).name == "made"


def test_the_right_option_in_one_place_is_noted(tmp_path):
    rows = []
    for i in range(10):
        doc = {"question": f"Which is {i}?", "choices": ["x", "y"]}
        rows.append(choice_row(i, doc, ["x", "y"], (-1.0, -2.0), 1))
    dataset = load(write_log(tmp_path, rows))
    assert any(note.startswith("the right option is always option 2") for note in dataset.notes)
    rows[3]["target"] = "0"
    assert not any("always" in note for note in load(write_log(tmp_path, rows)).notes)


def test_a_log_that_is_cut_off_says_where(tmp_path):
    path = write_log(tmp_path, belebele_rows(VALUES))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-200], encoding="utf-8")
    with raises(
        DataError, source=str(path), where="line 4", expected="a whole JSON object"
    ) as caught:
        load(path)
    assert f"head -n 3 {path}" in str(caught.value)
    path.write_text(text.replace('"doc_id": 1', '"doc_id" 1'), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load(path)
    assert "cut off" not in str(caught.value)


def test_rows_of_several_tasks_are_an_error(tmp_path):
    belebele = belebele_rows(VALUES)
    piqa = choice_row(9, {"goal": ASKED, "sol1": "x", "sol2": "y"}, ["x", "y"], (-1.0, -2.0), 1)
    path = write_log(tmp_path, [*belebele, piqa])
    with raises(DataError, source=str(path), where="line 5", found="piqa after belebele"):
        load(path)
    twice = [*belebele, {**belebele[1], "doc_id": 0}]
    path = write_log(tmp_path, twice)
    with raises(DataError, where="line 5", found="doc_id 0 with two different documents"):
        load(path)


def test_a_task_without_options_is_an_error(tmp_path):
    rolling = {
        "doc_id": 0,
        "doc": {"page": TEXT},
        "target": TEXT,
        "arguments": {"gen_args_0": {"arg_0": TEXT}},
        "resps": [["-31.5"]],
        "filtered_resps": ["-31.5"],
        "word_perplexity": [-31.5, 15],
    }
    one_text = {**rolling, "arguments": {"gen_args_0": {"arg_0": "Mira keeps", "arg_1": " bees"}}}
    for row in (rolling, one_text):
        path = write_log(tmp_path, [row])
        with raises(DataError, where="line 1", field="arguments") as caught:
            load(path)
        assert "no options to choose from" in str(caught.value)


def test_free_answers_are_an_error(tmp_path):
    doc = {"question": "How many bees?", "answer": "#### 9"}
    with raises(DataError, where="line 1, $.doc") as caught:
        load(write_log(tmp_path, [text_row(0, doc, "9", "9")]))
    assert "no options" in str(caught.value)


def in_two_prompts(doc: dict[str, Any], target: str) -> dict[str, Any]:
    row = choice_row(0, doc, [" sang."] * 2, (-1.0, -2.0), target)
    for option, request in zip(("bee", "key"), row["arguments"].values(), strict=True):
        request["arg_0"] = f"The {option}"
    return row


def test_choices_that_differ_in_the_prompt_are_an_error(tmp_path):
    row = in_two_prompts({"text": "The _ sang."}, "sang.")
    with raises(DataError, where="line 1, $.doc", found="2 times ' sang.'"):
        load(write_log(tmp_path, [row]))


def test_winogrande_has_its_options_in_the_prompts(tmp_path):
    doc = {"sentence": "The _ sang.", "option1": "bee", "option2": "key", "answer": "2"}
    (question,) = load(write_log(tmp_path, [in_two_prompts(doc, "sang.")]))
    assert options_of(question) == ["bee", "key"]
    assert (question.passage.text, question.text, question.gold) == ("", "The _ sang.", {1})


def test_equal_options_after_one_prompt_are_options(tmp_path):
    doc = {"goal": ASKED, "sol1": "same", "sol2": "Same"}
    question = read_one(tmp_path, doc, [" same", " Same"], 1)
    assert options_of(question) == ["same", "Same"]
    assert question.gold == {1}


def test_a_letter_is_the_option_with_this_letter(tmp_path):
    doc = {
        "question": ASKED,
        "choices": {"label": list("ABCD"), "text": ["A bee", "D", *OPTIONS[2:]]},
    }
    doc["answerKey"] = "D"
    question = read_one(tmp_path, doc, [" A", " B", " C", " D"], "D")
    assert question.gold == {3}


@pytest.mark.parametrize(("acc", "gold"), [(1.0, {1}), (0.0, {2})])
def test_a_number_that_is_also_a_choice_is_read_as_the_accuracy_says(tmp_path, acc, gold):
    doc = {"question": ASKED, "options": ["1", "2", "3"]}
    row = choice_row(0, doc, ["1", "2", "3"], (-3.0, -1.0, -2.0), "2", acc=acc)
    (question,) = load(write_log(tmp_path, [row]))
    assert question.gold == gold


def test_rows_of_options_of_mc_taco_are_questions_with_several_answers(tmp_path):
    rows = []
    for i, (option, label) in enumerate([("a year", 1), ("a second", 0), ("two years", 1)]):
        doc = {"sentence": TEXT, "question": ASKED, "answer": option, "label": label, "category": 1}
        rows.append(choice_row(i, doc, [" no", " yes"], (-1.0, -2.0), label))
    (question,) = load(write_log(tmp_path, rows))
    assert (question.passage.text, question.text, question.gold) == (TEXT, ASKED, {0, 2})


def test_rows_of_options_as_perturb_writes_them_are_questions_with_several_answers(tmp_path):
    rows = []
    for i, (name, option, label) in enumerate([("a", "bee", 1), ("a", "key", 0), ("b", "bee", 0)]):
        doc = {"id": name, "passage": TEXT, "question": ASKED, "option": option, "label": label}
        rows.append(choice_row(i, doc, [" no", " yes"], (-1.0, -2.0), label))
    dataset = load(write_log(tmp_path, rows))
    assert [question.id for question in dataset] == ["a", "b"]
    assert all_options(dataset) == [["bee", "key"], ["bee"]]
    assert [question.gold for question in dataset] == [{0}, frozenset()]


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        ({"filtered_resps": [["-1", "False"]]}, {"field": "filtered_resps"}),
        (
            {"filtered_resps": [["nan", "False"]] * 4},
            {"field": "filtered_resps[0]", "expected": "a number"},
        ),
        ({"filtered_resps": [["x", "False"]] * 4}, {"field": "filtered_resps[0]", "found": "'x'"}),
        ({"arguments": {}}, {"field": "arguments"}),
        ({"arguments": [3]}, {"field": "arguments"}),
        ({"doc": 3}, {"found": None}),
    ],
    ids=["few", "nan", "text", "empty", "number", "doc"],
)
def test_a_malformed_row_is_an_error(tmp_path, change, facts):
    rows = belebele_rows(VALUES)
    rows[2] |= change
    with pytest.raises(DataError) as caught:
        load(write_log(tmp_path, rows))
    assert str(caught.value.where).startswith("line 3")
    for name, value in facts.items():
        assert value is None or getattr(caught.value, name) == value


@pytest.mark.parametrize("problems", ["[{'question': ", "__import__('os')", "[]", [], 3])
def test_broken_problems_of_race_are_an_error(tmp_path, problems):
    row = choice_row(0, {"article": TEXT, "problems": problems}, [" a", " b"], (-1.0, -2.0), 0)
    with raises(DataError, field="problems"):
        load(write_log(tmp_path, [row]))


def test_each_filter_has_its_own_rows(tmp_path):
    rows = []
    for name, answer in (("strict-match", "[invalid]"), ("flexible-extract", "C")):
        for i in range(2):
            doc = {"question": f"Which is {i}?", "choices": list(OPTIONS)}
            rows.append(text_row(i, doc, answer, "C", filter=name))
    path = write_log(tmp_path, rows)
    dataset = load(path)
    assert len(dataset) == 2
    assert any(
        "strict-match, flexible-extract" in note and "of strict-match" in note
        for note in dataset.notes
    )
    answers = {
        row.name: row.metrics()["accuracy"]
        for row in evaluate(dataset, systems_of_log(dataset)).rows
    }
    assert answers == {"samples_made": 0.0, "samples_made (last filter)": 1.0}
    with raises(
        DataError,
        where="line 5",
        field="doc_id",
        found="0",
        expected="each once, in the log of one run",
    ):
        load(write_log(tmp_path, rows * 2))


def test_a_folder_has_one_log(tmp_path):
    write_log(tmp_path, belebele_rows(VALUES), results={"config": {"model": "tiny"}})
    dataset = load(tmp_path)
    assert len(dataset) == 4
    write_log(tmp_path, belebele_rows(VALUES), task="other")
    with raises(DataError, source=str(tmp_path), expected="one log"):
        load(tmp_path)
