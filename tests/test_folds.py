"""Groups and folds of passages that stay together, and the overlap of two datasets."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from classic_rc import folds
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan, drop_overlap_with, find_overlap, passage_groups
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.running.evaluate import evaluate
from classic_rc.solvers import Solver
from classic_rc.testing import synthetic_dataset
from classic_rc.text.encode import SharedQuestions, encode
from tests.errors import raises


def questions_about(texts):
    passages = [Passage(f"p{i}", text) for i, text in enumerate(texts)]
    content = "?", (Candidate("a"),), frozenset({0}), Task.SINGLE_CHOICE
    return [Question(f"q{i}", passage, *content) for i, passage in enumerate(passages)]


def test_equal_passages_are_one_group_whatever_their_case_and_blanks():
    groups = passage_groups(questions_about(["One  text.", "another", "one text.\n"]))
    assert groups[0] == groups[2] != groups[1]


def test_folds_keep_groups_together_and_cover_all():
    questions = questions_about([f"text {i // 3}" for i in range(60)])
    groups = passage_groups(questions)
    plan = FoldPlan().folds(questions)
    assert len(plan) == 5
    positions = np.concatenate([held_out for _, held_out in plan])
    assert sorted(positions.tolist()) == [*range(60)]
    for others, held_out in plan:
        assert not set(groups[others]) & set(groups[held_out])
        assert len(others) + len(held_out) == 60


def test_folds_do_not_depend_on_the_order():
    def members(questions):
        return [{questions[i].id for i in fold} for _, fold in FoldPlan().folds(questions)]

    questions = questions_about([f"text {i}" for i in range(23)])
    assert members(questions) == members(questions[::-1])


def test_few_passages_make_few_folds_and_one_none():
    assert len(FoldPlan().folds(questions_about(["a", "b"]))) == 2
    with raises(UsageError, field="questions", found="1", expected="at least 2 passages") as caught:
        FoldPlan().folds(questions_about(["a", "a"]))
    assert all(option in str(caught.value) for option in ("--train", "--tune", "--threshold"))


def test_a_field_joins_groups_with_all_that_they_are_joined_to():
    questions = questions_about(["one", "two", "three", "ONE", "four", "five"])
    for i, author in enumerate(["Ann", "Bob", "Eve", "Bob"]):
        questions[i] = replace(questions[i], meta={"author": author})
    groups = passage_groups(questions, "author").tolist()
    assert groups[0] == groups[1] == groups[3]  # Ann's text is Bob's too
    assert len(set(groups)) == 4
    assert sorted(set(groups)) == [0, 1, 2, 3]
    assert passage_groups(questions[::-1], "author").tolist() == groups[::-1]
    with raises(UsageError, field="meta key", found="autor", expected="author"):
        passage_groups(questions, "autor")
    with raises(UsageError, field="meta key", found="author", expected=re.compile("meta")):
        passage_groups(questions_about(["a"]), "author")


def test_a_passages_field_counts_too():
    questions = [
        replace(q, passage=replace(q.passage, meta={"article": "a"}))
        for q in questions_about(["x", "y"])
    ]
    assert passage_groups(questions, "article").tolist() == [0, 0]
    with raises(UsageError, field="questions", found="1", expected=re.compile("groups")):
        FoldPlan(group="article").folds(questions)


def test_a_plan_has_two_folds_or_more():
    assert len(FoldPlan(3).folds(questions_about("abcdefg"))) == 3
    with raises(UsageError, field="n_folds", found="1", expected="at least 2"):
        FoldPlan(1)


def dataset(name, *rows, task=Task.SINGLE_CHOICE):
    """Each row: passage, question, options."""
    passages = {text: Passage(f"{name}-{text}", text) for text, _, _ in rows}
    gold = frozenset({0}) if task.has_choices else ("x",)
    questions = []
    for i, (text, question, options) in enumerate(rows):
        candidates = tuple(map(Candidate, options.split("|")))
        questions.append(Question(f"q{i}", passages[text], question, candidates, gold, task))
    return Dataset(questions, name)


WHY = "Why did the red fox sing loudly?"
DEV = dataset("dev", ("One  day.", "Who?", "a|b"), ("Two days.", WHY, "c|d"))


def test_passages_are_the_same_whatever_their_case_and_blanks():
    train = dataset(
        "train",
        ("one day.", "When?", "e|f"),
        ("One day.\n", "Where?", "g|h"),
        ("Else.", "Who?", "x|y"),
    )
    shared = find_overlap(train, DEV)
    assert (shared.passages, shared.questions) == (2, 0)
    assert shared.affected == {"q0", "q1"}


def test_a_question_recurs_with_its_passage_or_with_its_options():
    train = dataset(
        "train",
        ("One day.", "WHEN?", "e|f"),
        ("Else.", WHY.lower(), "D|c"),
        ("Else.", "Who?", "a|b"),  # too few words to identify it
    )
    shared = find_overlap(train, DEV)
    assert (shared.passages, shared.questions) == (1, 1)
    assert shared.affected == {"q0", "q1"}


def test_usual_options_identify_no_question():
    rows = [(f"Story {i}.", f"{WHY[:-1]} {i}?", "yes|no") for i in range(5)]
    train, dev = (dataset(name, *rows, ("X.", WHY, "yes|no")) for name in ("t", "d"))
    dev = replace(dev, questions=[replace(q, passage=Passage("y", "Y.")) for q in dev[5:]])
    assert not find_overlap(train, dev)


def test_equal_words_alone_do_not_make_a_query_recur():
    train = dataset("t", ("One.", "Who?", "a"), task=Task.CLOZE)
    dev = dataset("d", ("Two.", "Who?", "a"), task=Task.CLOZE)
    assert not find_overlap(train, dev)


def test_what_is_shared_is_left_out():
    train = dataset(
        "train", ("One day.", "When?", "e|f"), ("Else.", WHY, "d|c"), ("Else.", "Who?", "a|b|c")
    )
    rest = drop_overlap_with(train, DEV)
    assert [q.id for q in rest] == ["q2"]
    assert drop_overlap_with(rest, DEV) is rest
    with raises(UsageError, field="dataset", found="dev", expected=re.compile("dev")):
        drop_overlap_with(DEV, DEV)


WORDS = [f"w{i}" for i in range(2000)]


def near_copy(rng, text, n_words=4):
    words = text.split()
    for place in rng.sample(range(len(words)), n_words):
        words[place] = f"new{rng.randrange(10**9)}"
    return " ".join(words)


def story(rng, n_words=60):
    return " ".join(rng.choices(WORDS, k=n_words))


def straddling(plan, questions, pairs):
    """The pairs of questions that are in different folds."""
    fold_of = {}
    for fold, (_, held_out) in enumerate(plan.folds(questions)):
        fold_of.update(dict.fromkeys(held_out.tolist(), fold))
    return [(i, j) for i, j in pairs if fold_of[i] != fold_of[j]]


def test_near_duplicates_are_in_one_fold():
    rng = random.Random(1)
    texts = [story(rng) for _ in range(40)]
    copies = [near_copy(rng, text) for text in texts]
    questions = questions_about(texts + copies)
    plan = FoldPlan()
    assert straddling(plan, questions, [(i, i + 40) for i in range(40)]) == []
    assert len(plan.folds(questions)) == 5
    assert plan.groups(questions).warning is None


class FromTheNearestPassage(Solver):
    """Answers at the position that was right for the passage with most of the same words: it
    finds any leak.
    """

    learns_from = "gold"

    def __init__(self, *, decision=None):
        self.decision = decision

    def fit(self, questions, y=None):
        self.known_ = [(set(q.passage.text.split()), min(q.gold)) for q in questions]
        return self

    def score_candidates(self, questions):
        rows = []
        for question in questions:
            words = set(question.passage.text.split())
            right = max(self.known_, key=lambda entry: len(entry[0] & words))[1]
            rows.append([float(i == right) for i in range(len(question.candidates))])
        return Scores.from_lists(rows)


def test_answers_to_near_copies_do_not_carry_over():
    accuracies = []
    for seed in range(6):
        rng = random.Random(seed)
        texts = [story(rng) for _ in range(50)]
        labels = [rng.randrange(4) for _ in texts]
        texts += [near_copy(rng, text) for text in texts * 2]
        questions = []
        for i, (question, label) in enumerate(zip(questions_about(texts), labels * 3, strict=True)):
            options = tuple(Candidate(f"{i} {k}") for k in range(4))
            questions.append(replace(question, candidates=options, gold=frozenset({label})))
        row = evaluate(Dataset(questions, name="copies"), [FromTheNearestPassage()], cv=5).rows[0]
        assert "|folds:near2" in row.signature
        accuracies.append(row.metrics()["accuracy"])
    assert abs(np.mean(accuracies) - 0.25) < 0.1  # 300 stories


def test_one_group_of_most_questions_is_given_up_with_a_warning():
    rng = random.Random(2)
    text = story(rng)
    copies = [near_copy(rng, text, 2) for _ in range(30)]
    questions = questions_about(copies + [story(rng) for _ in range(20)])
    warning = FoldPlan().groups(questions).warning
    assert warning is not None
    assert "30 of 50" in warning
    assert [len(held_out) for _, held_out in FoldPlan().folds(questions)] == [10] * 5
    dataset = Dataset(questions, name="template")
    assert warning in evaluate(dataset, [FromTheNearestPassage()], cv=5).warnings
    assert warning not in evaluate(dataset, [FromTheNearestPassage()], train=dataset).warnings


def test_too_few_groups_are_given_up_with_a_warning():
    rng = random.Random(3)
    texts = [story(rng) for _ in range(4)]
    questions = questions_about([near_copy(rng, text, 2) for text in texts for _ in range(5)])
    warning = FoldPlan(5).groups(questions).warning
    assert warning is not None
    assert "4 groups for 5 folds" in warning
    assert len(FoldPlan(5).folds(questions)) == 5
    assert FoldPlan(4).groups(questions).warning is None


def test_few_equal_passages_are_no_reason_to_warn():
    assert FoldPlan(5).groups(questions_about(["one", "two", "three"] * 4)).warning is None


def repeated_questions(rows):
    """A dataset of `rows` and 20 other questions, each with its own passage."""
    rng = random.Random(4)
    rows = [*rows]
    for i in range(20):
        rows.append((f"what is number {i} of these things", f"a{i}|b{i}|c{i}"))
    return dataset("repeated", *((story(rng), *row) for row in rows))


def test_questions_repeated_with_their_options_are_in_one_fold():
    repeated = [("Why did captain Nemo leave?", "rain|war|love")] * 2
    questions = repeated_questions(repeated)
    groups = FoldPlan().groups(questions).numbers
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 21


@pytest.mark.parametrize(
    "rows",
    [
        [
            ("Why did captain Nemo leave?", "rain|war|love"),
            ("Why did captain Nemo leave?", "ice|war|love"),
        ],
        [
            ("Why did captain Nemo leave?", "yes|no"),
            ("Why did captain Nemo leave?", "yes|no"),
            ("Who?", "yes|no"),
        ],
        [("What did he do?", "ran|sat")] * 2,
        [("Why did captain Nemo leave?", "true|false")] * 5,
    ],
)
def test_questions_that_only_look_repeated_are_apart(rows):
    questions = repeated_questions(rows)
    assert len(set(FoldPlan().groups(questions).numbers.tolist())) == len(questions)


def test_questions_without_a_passage_are_grouped_by_their_own_texts():
    alone = dataset(
        "alone",
        ("", "Who ran?", "a|b"),
        (" ", "who  ran?", "c|d"),
        ("", "Why?", "a|b"),
        ("", "", "a|b"),
    )
    groups = passage_groups(alone).tolist()
    assert groups[0] == groups[1]
    assert sorted(set(groups)) == [0, 1, 2]
    unrelated = dataset("other", ("", "Where?", "e|f"))
    assert not find_overlap(alone, unrelated)


def test_near_duplicates_overlap():
    rng = random.Random(5)
    texts = [story(rng) for _ in range(3)]
    train = dataset("train", *((text, f"{text[:9]}?", "a|b") for text in texts))
    dev = dataset("dev", (near_copy(rng, texts[1]), "new?", "c|d"), (story(rng), "other?", "c|d"))
    shared = find_overlap(train, dev)
    assert (shared.passages, shared.questions, shared.affected) == (1, 0, {"q1"})
    assert [q.id for q in drop_overlap_with(train, dev)] == ["q0", "q2"]


def test_the_groups_of_a_dataset_are_found_once(monkeypatch):
    generated = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12, seed=3)
    expected = FoldPlan().groups([*generated])
    counted = Mock(wraps=folds.near_duplicate_groups)
    monkeypatch.setattr(folds, "near_duplicate_groups", counted)
    shared = SharedQuestions(generated)
    for questions in (generated, shared, encode(shared, "word"), generated):
        groups = FoldPlan().groups(questions)
        assert groups.numbers.tolist() == expected.numbers.tolist()
        assert groups.warning == expected.warning
    counted.assert_called_once()
    (texts,) = counted.call_args.args
    assert len(texts) == len({q.passage.text for q in generated})
    assert FoldPlan(3).groups(generated).numbers.tolist() == expected.numbers.tolist()
    first_groups = FoldPlan().groups([*generated][:8]).numbers
    assert FoldPlan().groups(generated[:8]).numbers.tolist() == first_groups.tolist()
