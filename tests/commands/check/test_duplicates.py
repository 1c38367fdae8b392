"""Duplicates: planted near copies are found, whatever was changed; templates and unrelated texts
are not.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

import classic_rc
from classic_rc.commands.check.duplicates import DUPLICATE_KINDS, find_duplicates
from classic_rc.commands.check.kinds import Severity
from classic_rc.commands.check.without_copies import copied_questions, group_original_questions
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.breakdown import break_down
from tests.depth import thinned

STEMS = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("nd", "rk", "st", "lm", "pt")]
WORDS = [stem + end for stem in STEMS for end in ("", "ing", "ed", "er")]
FREQUENT = "the of and to a in that it is was he for on with as".split()
TEMPLATES = (
    "Which of the following is true?",
    "What is the main idea of the passage?",
    "What can we learn?",
)


def sentence(rng, n_words, topic=WORDS):
    """Every third word is a frequent one."""
    words = [rng.choice(FREQUENT if i % 3 == 1 else topic) for i in range(n_words)]
    return " ".join(words).capitalize() + "."


def passage(rng, n_words):
    return " ".join(sentence(rng, 10) for _ in range(n_words // 10))


def replaced(rng, text, share):
    words = text.split()
    for place in rng.sample(range(len(words)), max(1, round(share * len(words)))):
        words[place] = rng.choice(WORDS)
    return " ".join(words)


def swapped(rng, text):
    sentences = text.split(". ")
    i, j = rng.sample(range(len(sentences)), 2)
    sentences[i], sentences[j] = sentences[j], sentences[i]
    return ". ".join(sentences)


def cut(text, share):
    words = text.split()
    return " ".join(words[: round(share * len(words))])


PASSAGE_EDITS = {
    "case": lambda rng, text: text.upper(),
    "blanks": lambda rng, text: text.replace(" ", " \n "),
    "punctuation": lambda rng, text: text.replace(".", " !;"),
    "beginning": lambda rng, text: cut(text, 0.6),
    "end": lambda rng, text: " ".join(text.split()[-round(0.6 * len(text.split())) :]),
    "5 % replaced": lambda rng, text: replaced(rng, text, 0.05),
    "10 % replaced": lambda rng, text: replaced(rng, text, 0.10),
    "two sentences swapped": swapped,
}
EQUAL = {"case", "blanks", "punctuation"}


def row(rng, id_, text, question=None, options=None, gold=0):
    question = question or sentence(rng, 6)
    options = options or [sentence(rng, 3) for _ in range(4)]
    texts = {"passage": text, "question": question, "candidates": options}
    return {"id": id_, "passage_id": f"p-{id_}", **texts, "gold": gold}


def dataset_of(rng, prefix, texts):
    """A dataset with a question about each text."""
    return classic_rc.from_rows([row(rng, f"{prefix}{i}", text) for i, text in enumerate(texts)])


def find(rows, train_rows=None):
    """The findings of rows, by kind."""
    train = None if train_rows is None else classic_rc.from_rows(train_rows)
    findings = find_duplicates(classic_rc.from_rows(rows), train)
    return {finding.kind.name: finding for finding in findings}


@pytest.mark.parametrize("edit", PASSAGE_EDITS)
@pytest.mark.parametrize("n_words", [20, 100])
def test_edited_copies_of_passages_are_found_in_training_data(edit, n_words):
    rng = random.Random(n_words)
    passages = [passage(rng, n_words) for _ in range(40)]
    dev = dataset_of(rng, "d", passages)
    texts = []
    for i, text in enumerate(passages):
        texts.append(PASSAGE_EDITS[edit](rng, text) if i % 2 else passage(rng, n_words))
    (finding,) = find_duplicates(dev, dataset_of(rng, "t", texts))
    assert finding.kind.name == ("passage-in-train" if edit in EQUAL else "passage-nearly-in-train")
    planted = {f"p-d{i}" for i in range(1, 40, 2)}
    pair_ids = {pair.id for pair in finding.pairs}
    assert pair_ids <= planted
    assert len(pair_ids) >= 0.95 * len(planted)
    assert all(pair.other == pair.id.replace("d", "t") for pair in finding.pairs)
    assert all((pair.similarity == 1) is (edit in EQUAL) for pair in finding.pairs)


def change_option(rng, question, options):
    place = rng.randrange(1, 4)
    return question, [*options[:place], sentence(rng, 3), *options[place + 1 :]]


QUESTION_EDITS = {
    "case": lambda rng, question, options: (question.upper(), options),
    "order of options": lambda rng, question, options: (question, options[::-1]),
    "cut": lambda rng, question, options: (cut(question, 0.6), options),
    "a word": lambda rng, question, options: (replaced(rng, question, 0.1), options),
    "an option": change_option,
    "a word and an option": lambda rng, question, options: change_option(
        rng, replaced(rng, question, 0.1), options
    ),
    "order and a word": lambda rng, question, options: (
        replaced(rng, question, 0.1),
        options[::-1],
    ),
}


@pytest.mark.parametrize("edit", QUESTION_EDITS)
@pytest.mark.parametrize("same_passage", [True, False])
@pytest.mark.parametrize("n_words", thinned([6, 24], 2))
def test_edited_copies_of_questions_are_found_in_training_data(edit, same_passage, n_words):
    rng = random.Random(n_words)
    dev, train = [], []
    for i in range(100):
        text, options = passage(rng, 50), [sentence(rng, 3) for _ in range(4)]
        question = rng.choice(TEMPLATES) if i % 4 == 0 else sentence(rng, n_words)
        dev.append(row(rng, f"d{i}", text, question, options))
        second_text = text if same_passage else passage(rng, 50)
        if i % 4 == 1:
            copy = QUESTION_EDITS[edit](rng, question, options)
            gold = copy[1].index(options[0])
            train.append(row(rng, f"t{i}", second_text, *copy, gold))
        else:
            unrelated = passage(rng, 50)
            question = rng.choice(TEMPLATES) if i % 4 == 0 else None
            train.append(row(rng, f"t{i}", unrelated, question))
    findings = find(dev, train)
    copied_ids = set()
    for kind in ("question-in-train", "question-nearly-in-train"):
        if kind in findings:
            copied_ids |= {pair.id for pair in findings[kind].pairs}
    planted = {f"d{i}" for i in range(1, 100, 4)}
    assert copied_ids <= planted
    assert len(copied_ids) >= 0.9 * len(planted)


def test_templates_and_common_options_are_no_copies():
    rng = random.Random(1)
    common_options = ["True", "False"], ["Yes", "No", "Not given"]
    questions = [*product(TEMPLATES, common_options)] * 10
    rows = [row(rng, f"q{i}", passage(rng, 60), *asked) for i, asked in enumerate(questions)]
    assert find(rows[:20], rows[20:]) == {}


def test_unrelated_texts_about_one_topic_are_no_copies():
    rng = random.Random(2)
    topic = rng.sample(WORDS, 60)
    texts = [sentence(rng, 120, topic) for _ in range(80)]
    dataset = dataset_of(rng, "q", texts)
    assert find_duplicates(dataset[:40], dataset[40:]) == ()


def test_repetitions_within_a_dataset_are_found_by_kind():
    rng = random.Random(3)
    text, second_text = passage(rng, 100), passage(rng, 100)
    options = [sentence(rng, 4) for _ in range(4)]
    first = row(rng, "q1", text, "Why did captain Nemo leave the harbour?", options)
    reworded = {
        "question": "Why did captain Nemo leave this harbour?",
        "candidates": options[::-1],
        "gold": 3,
    }
    rows = [
        first,
        {**first, "id": "q2", **reworded},
        {**first, "id": "q3", "question": "WHY did captain Nemo leave the harbour"},
        row(rng, "q4", second_text, first["question"], options),
        row(rng, "q5", replaced(rng, text, 0.05)),
        row(rng, "q6", passage(rng, 100), sentence(rng, 8), [*options[1:], options[0]]),
    ]
    findings = find(rows)
    pairs = {kind: [(p.id, p.other) for p in finding.pairs] for kind, finding in findings.items()}
    assert pairs == {
        "question-repeated": [("q3", "q1")],
        "question-reused": [("q4", "q1")],
        "question-nearly-repeated": [("q2", "q1")],
        "passage-nearly-repeated": [("p-q5", "p-q1")],
        "options-repeated": [("q6", "q1")],
    }
    assert (
        findings["question-nearly-repeated"].pairs[0].diff() == "leave [-the-] {+this+} harbour? …"
    )
    assert findings["question-repeated"].examples == ("q3",)
    plain = findings["passage-nearly-repeated"].to_dict()
    assert plain["count"] == 1
    assert plain["pairs"][0]["id"] == "p-q5"
    assert 0.6 < plain["pairs"][0]["similarity"] < 1


def test_the_same_options_about_one_passage_need_fewer_words_of_the_question():
    rng = random.Random(9)
    text, options = passage(rng, 80), [sentence(rng, 4) for _ in range(4)]
    first = row(rng, "q1", text, "Why did captain Nemo leave the harbour?", options, 2)
    reworded = {**first, "id": "q2", "question": "For what reason did captain Nemo sail?"}
    (finding,) = find([first, reworded]).values()
    assert (finding.kind.name, finding.examples) == ("question-nearly-repeated", ("q2",))
    elsewhere = {**reworded, "passage_id": "p-q2", "passage": passage(rng, 80)}
    yes_no = [{**version, "candidates": ["yes", "no"], "gold": 0} for version in (first, reworded)]
    for rows in ([first, {**reworded, "gold": 1}], [first, elsewhere], yes_no):
        assert find(rows).keys() <= {"options-repeated"}


def test_questions_with_contradictory_gold_are_different_questions():
    rng = random.Random(4)
    text, options = passage(rng, 80), ["red", "blue", "green", "yellow"]
    first = row(rng, "q1", text, "What colour was the first door of the house?", options, 0)
    second = {
        **first,
        "id": "q2",
        "question": "What colour was the second door of the house?",
        "gold": 1,
    }
    assert find([first, second]) == {}
    assert [*find([first, {**second, "gold": 0}])] == ["question-nearly-repeated"]


def cloze(id_, text, query, gold):
    candidates = tuple(map(Candidate, ("Nora", "Omar", "Eve")))
    return Question(id_, Passage(f"p-{id_}", text), query, candidates, (gold,), Task.CLOZE)


def test_without_options_gold_must_agree():
    rng = random.Random(5)
    query = "After the storm captain @placeholder sailed the broken ship into the harbour of Lisbon"
    reworded = query.replace("broken", "damaged")
    dev = Dataset([cloze("q1", passage(rng, 60), query, "Nora")], "dev")
    agreeing, contradicting = (
        Dataset([cloze("t1", passage(rng, 60), reworded, gold)], "train")
        for gold in ("nora", "Omar")
    )
    assert [f.kind.name for f in find_duplicates(dev, agreeing)] == ["question-nearly-in-train"]
    assert find_duplicates(dev, contradicting) == ()


def test_copies_are_found_without_gold_and_without_words():
    rng = random.Random(6)
    first = row(rng, "q1", passage(rng, 60))
    hidden = classic_rc.from_rows([first])
    hidden = replace(hidden, questions=[replace(q, gold=None) for q in hidden])
    assert {f.kind.name for f in find_duplicates(hidden, hidden)} == {
        "question-in-train",
        "passage-in-train",
    }
    texts = "...", "...", " ", " "
    findings = find([row(rng, f"o{i}", text, "?", ["!", "..."]) for i, text in enumerate(texts)])
    assert findings["passage-repeated"].examples == ("p-o1",)
    assert findings.keys() <= {"passage-repeated", "question-repeated"}


def test_several_training_datasets_are_one():
    rng = random.Random(7)
    dataset = dataset_of(rng, "q", [passage(rng, 60) for _ in range(4)])
    findings = find_duplicates(dataset, [dataset[:1], dataset[1:2]])
    assert {f.kind.name: f.count for f in findings} == {
        "question-in-train": 2,
        "passage-in-train": 2,
    }


def test_scores_can_leave_out_what_training_data_has():
    data = classic_rc.load("sample:single-choice")
    train = data.filter(lambda q: q.passage is data.passages[0])
    duplicates = find_duplicates(data, train)
    mask = copied_questions(data, duplicates)
    assert mask.sum() == len(train)
    evaluation = classic_rc.evaluate(data, ["sw+d", "random"])
    grouping = group_original_questions(data, duplicates)
    (uncopied,) = grouping.masks.values()
    assert grouping.covered.all()
    assert uncopied.tolist() == (~mask).tolist()
    copies = group_original_questions(data, find_duplicates(data, data))
    (none_left,) = break_down(evaluation.results, copies, n=10).to_dict()["groups"]
    assert (none_left["questions"], none_left["systems"]["sw+d"]["value"]) == (0, None)
    assert not copied_questions(data, find_duplicates(data)).any()


def test_kinds_of_duplicates_are_ordered_by_severity():
    places = [list(Severity).index(kind.severity) for kind in DUPLICATE_KINDS]
    assert places == sorted(places)


def test_dream_shares_thirty_dialogues_with_its_training_data(shared_data):
    """Read by hand: all thirty are versions, or parts, of one dialogue."""
    folder = shared_data / "dream"
    dev, train = classic_rc.load(folder / "dev.json"), classic_rc.load(folder / "train.json")
    duplicates = find_duplicates(dev, train)
    counts = {finding.kind.name: finding.count for finding in duplicates}
    assert counts["passage-nearly-in-train"] == 30
    assert counts["question-in-train"] == 10
    assert counts["gold-differs-in-train"] == 1
    assert counts["question-nearly-in-train"] < 15
    assert copied_questions(dev, duplicates).mean() < 0.1


def test_mctest_has_no_copies_across_its_splits(shared_data):
    folder = shared_data / "mctest"
    dev = classic_rc.load(folder / "mc500.dev.tsv")
    assert find_duplicates(dev, classic_rc.load(folder / "mc500.train.tsv")) == ()
