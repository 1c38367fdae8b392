"""Questions with another gold than a copy of them: found however the copy was changed, with their
cause; different questions are not.
"""

from __future__ import annotations

import random

import pytest

import classic_rc
from classic_rc.commands.check import check_dataset, mend_dataset
from classic_rc.commands.check.duplicates import COPIES, OTHER_GOLD, find_duplicates
from classic_rc.commands.check.kinds import Finding
from classic_rc.commands.check.tables import duplicates_table, fail_messages
from classic_rc.commands.check.without_copies import copied_questions
from tests.commands.check.test_duplicates import passage, row
from tests.tables import texts

QUESTION = "What did captain Nemo find below the broken harbour?"
OPTIONS = ["a silver compass", "a wooden chest", "a map of Lisbon", "an old letter"]
N = 6


def make(question=QUESTION, options=OPTIONS, gold=0, cut=None, id_="t", seed=0):
    """Each row has another passage, and a word of its own in the question."""
    rng, rows = random.Random(seed), []
    for i in range(N):
        text = f"{passage(rng, 120)} Captain Nemo left the harbour with his brother Omar."
        about = question.replace("harbour", f"harbour{i}")
        options_named = [f"{option} {i}" for option in options]
        rows.append(row(rng, f"{id_}{i}", text[:cut], about, options_named, gold))
    return rows


def find(evaluated, train):
    evaluated, train = (classic_rc.from_rows(rows, gold_as="index0") for rows in (evaluated, train))
    return {finding.kind.name: finding for finding in find_duplicates(evaluated, train)}


FOUND = {
    "as it is": {},
    "a word": {"question": QUESTION.replace("find", "discover")},
    "a word more": {"question": f"Exactly, {QUESTION}"},
    "cut": {"cut": 400},
    "cut short": {"cut": 300},
    "cut, and a word": {"cut": 400, "question": QUESTION.replace("below", "beneath")},
}


@pytest.mark.parametrize("change", FOUND)
def test_copies_with_another_gold_are_found(change):
    findings = find(make(gold=1, **FOUND[change]), make(id_="d"))
    assert findings["gold-differs-in-train"].count == N
    assert not {"question-in-train", "question-nearly-in-train"} & {*findings}
    assert all(pair.cause is None for pair in findings["gold-differs-in-train"].pairs)
    is_whole = "cut" not in FOUND[change]
    assert ("passage-in-train" if is_whole else "passage-nearly-in-train") in findings


def test_shuffled_options_with_the_letter_kept_are_the_cause():
    shuffled = [OPTIONS[i] for i in (2, 0, 3, 1)]
    finding = find(make(options=shuffled, gold=0), make())["gold-differs-in-train"]
    assert {pair.cause for pair in finding.pairs} == {"options shuffled, letter kept"}
    assert finding.detail == "; in 6 the options are shuffled and the letter kept"
    assert finding.to_dict()["why"].endswith(finding.detail)
    pair = finding.to_dict()["pairs"][0]
    assert (pair["golds"], pair["cause"]) == (
        ["a map of Lisbon 0", "a silver compass 0"],
        "options shuffled, letter kept",
    )
    assert pair["diff"].startswith("gold [-a silver compass")
    follows = find(make(options=shuffled, gold=1), make())
    assert "question-in-train" in follows
    assert not OTHER_GOLD & {*follows}


DIFFERENT = {
    "not": ("Which is true of the harbour?", "Which is not true of the harbour?"),
    "n't": ("Which does fit the harbour?", "Which doesn't fit the harbour?"),
    "false": ("Which is true of the harbour?", "Which is false of the harbour?"),
    "first": (
        "What did Nemo find first in the harbour?",
        "What did Nemo find last in the harbour?",
    ),
    "name": ("What did Nemo find in the harbour?", "What did Omar find in the harbour?"),
    "he": ("What did he find in the harbour?", "What did she find in the harbour?"),
    "number": ("What was found in 1905 in the harbour?", "What was found in 1950 in the harbour?"),
    "likely": ("What is likely in the harbour?", "What is unlikely in the harbour?"),
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_different_questions_about_one_passage_may_differ_in_gold(difference):
    first, second = DIFFERENT[difference]
    assert not OTHER_GOLD & {*find(make(first, gold=1), make(second))}
    assert "gold-differs-in-train" in find(make(first, gold=1), make(first))


@pytest.mark.parametrize("options", [("Yes", "No"), ("True", "False")])
def test_templates_need_the_same_question_and_passage(options):
    def ask(words, gold, seed=0):
        return [
            {**row, "question": f"Did Nemo see {words}?", "candidates": options}
            for row in make(gold=gold, seed=seed)
        ]

    row = ask("the moon", 0)
    assert find(row, ask("the moon", 1))["gold-differs-in-train"].count == N
    assert not OTHER_GOLD & {*find(row, ask("the sun", 1))}
    assert not OTHER_GOLD & {*find(row, ask("the moon", 1, seed=1))}


def test_twins_that_differ_in_a_word_are_different():
    """As in Winograd schemas."""
    twins = []
    for word, gold in (("large", 0), ("small", 1)):
        text = f"The silver trophy does not fit into the brown suitcase because it is too {word}."
        twins.append(row(random.Random(0), word, text, "What is too it?", OPTIONS[:2], gold))
        twins.append(row(random.Random(0), f"q{word}", "", text, OPTIONS[:2], gold))
    dataset = classic_rc.from_rows(twins, gold_as="index0")
    assert not OTHER_GOLD & {finding.kind.name for finding in find_duplicates(dataset)}


def test_of_matching_questions_the_nearest_one_is_the_copy():
    training_rows = [*make("What was the cat called in the harbour?", gold=0, id_="c")]
    training_rows += make("What was the dog called in the harbour?", gold=1, id_="d")
    assert not OTHER_GOLD & {
        *find(make("What was the cat called in the harbour?", gold=0), training_rows)
    }


def test_gold_that_differs_within_a_dataset_is_found():
    rows = [*make(), *make(gold=1, id_="d", cut=500)]
    findings = find_duplicates(classic_rc.from_rows(rows, gold_as="index0"))
    (finding,) = (finding for finding in findings if finding.kind.name == "gold-differs")
    assert [(p.id, p.other) for p in finding.pairs] == [(f"d{i}", f"t{i}") for i in range(N)]


def test_a_report_and_a_repair_name_other_gold():
    evaluated, train = make(gold=1), make(id_="d")
    evaluated, train = (classic_rc.from_rows(rows, gold_as="index0") for rows in (evaluated, train))
    report = check_dataset(evaluated, train=train)
    findings: dict[str, Finding] = {finding.kind.name: finding for finding in report.defects}
    assert "gold-differs-in-train" in findings
    assert not OTHER_GOLD & COPIES
    assert copied_questions(evaluated, report.defects).all()  # by their passages
    for kinds in ("defects", "duplicates"):
        lines = fail_messages(report, frozenset({kinds}))
        assert any("training questions with another gold (6" in line for line in lines)
    repairs = mend_dataset(report, train=train)
    assert ("left out, and their gold is wrong here or in training data", N) in repairs.done
    table = duplicates_table([findings["gold-differs-in-train"]])
    assert texts(table)[0][3] == "gold [-a silver compass 0-] {+a wooden chest 0+}"


def test_all_planted_copies_are_found(shared_data):
    evaluated, train = (
        classic_rc.load(shared_data / "cases" / "copies" / f"other_gold.{split}.jsonl")
        for split in ("test", "train")
    )
    counts = {finding.kind.name: finding.count for finding in find_duplicates(evaluated, train)}
    assert (counts["gold-differs-in-train"], counts["passage-in-train"]) == (12, 12)
