"""Groups of questions: by meta, by derived keys, by labels that overlap."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets.labels import Labels
from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results import group_questions
from classic_rc.results.grouping import DERIVED_KEYS, read_groupings
from tests.errors import raises


def questions(
    *texts: str,
    passage="Ann met Bob in the old town.",
    task=Task.SINGLE_CHOICE,
    gold=frozenset({0}),
    **more,
):
    about = Passage("p", passage)
    options = tuple(map(Candidate, more.get("options", ["Bob", "Eve"])))
    listed = [Question(f"q{i}", about, text, options, gold, task) for i, text in enumerate(texts)]
    return Dataset(listed, "made")


def members(grouping) -> dict[str, list[int]]:
    return {name: np.flatnonzero(mask).tolist() for name, mask in grouping.masks.items()}


_SKILLS = {"q0": "ab", "q1": "b", "q2": "", "q4": "z"}
SKILLS = Labels(
    "skills", {id_: frozenset(names) for id_, names in _SKILLS.items()}, ("z", "b"), "skills.csv"
)

FIVE = questions("?", "?", "?", "?", "?")


def test_labels_overlap_in_their_own_order_and_cover_what_is_labelled():
    grouping = group_questions(FIVE, "skills", [SKILLS])
    assert members(grouping) == {"z": [4], "b": [0, 1], "a": [0], "no label": [2]}
    assert list(grouping.masks) == ["z", "b", "a", "no label"]
    assert grouping.overlapping
    assert grouping.covered.tolist() == [True, True, True, False, True]
    assert (
        grouping.coverage == "skills: 4 of 5 questions (from skills.csv); the others are left out"
    )


def test_alone_splits_each_label_into_alone_and_with_others():
    grouping = group_questions(FIVE, "skills:alone", [SKILLS])
    assert members(grouping) == {
        "z, alone": [4],
        "b, alone": [1],
        "b, with others": [0],
        "a, with others": [0],
    }


def test_count_groups_by_the_number_of_labels():
    grouping = group_questions(FIVE, "skills:count", [SKILLS])
    assert members(grouping) == {"0": [2], "1": [1, 4], "2": [0]}
    assert not grouping.overlapping


def test_one_label_each_is_never_with_others(dataset):
    questions = dataset(Task.SINGLE_CHOICE, [("A.", ["1"], frozenset())] * 2, kind=["x", "y"])
    with raises(UsageError, field="key", found="kind:alone", expected="kind"):
        group_questions(questions, "kind:alone")


def test_lists_in_meta_are_labels_and_missing_values_a_group(dataset):
    rows = [("A.", ["1"], frozenset())] * 4
    questions = dataset(
        Task.SINGLE_CHOICE, rows, sentences=[(3, 10), [3], (), {2}], level=[10, 9, "b", None]
    )
    grouping = group_questions(questions, "sentences")
    assert members(grouping) == {"2": [3], "3": [0, 1], "10": [0], "no label": [2]}
    assert list(grouping.masks) == ["2", "3", "10", "no label"]
    counts = group_questions(questions, "sentences:count")
    assert members(counts) == {"0": [2], "1": [1, 3], "2": [0]}
    passage = Passage("p9", "?")
    unlevelled = Question("more", passage, "?", (), frozenset(), Task.SINGLE_CHOICE)
    with_unlevelled = Dataset([*questions, unlevelled], "made")
    assert members(group_questions(with_unlevelled, "level"))["?"] == [4]


def test_labels_go_before_meta_and_meta_before_what_is_derived(dataset):
    questions = dataset(Task.SINGLE_CHOICE, [("A.", ["1"], frozenset())] * 2, verbatim=["m", "m"])
    assert list(group_questions(questions, "verbatim").masks) == ["m"]
    labels = Labels("verbatim", {"q0": frozenset({"l"})})
    assert list(group_questions(questions, "verbatim", [labels]).masks) == ["l"]


def test_unknown_keys_are_answered_with_the_known(dataset):
    labelled_data = dataset(Task.SINGLE_CHOICE, [("A.", ["1"], frozenset())] * 2, level=["x", "y"])
    for wrong, right in (
        ("levle", "level"),
        ("skils", "skills"),
        ("first-wrod", "first-word"),
        ("level:alnoe", "level"),
    ):
        with raises(
            UsageError, field="key of made", found=wrong, expected=re.compile(rf"^{right}\b")
        ):
            group_questions(labelled_data, wrong, [SKILLS])


QUESTION_TYPES = {
    "What is it?": "what",
    "In WHAT town?": "what",
    "Whom did he see?": "who",
    "Who's there?": "who",
    "Whose is it?": "whose",
    "How many are there?": "how many",
    "How much?": "how many",
    "How is it?": "how",
    "Did she know why?": "why",
    "Did she know?": "yes/no",
    "Isn't it?": "yes/no",
    "The writer thinks _ .": "cloze",
    "Say what _ is.": "cloze",
    "@placeholder won": "cloze",
    "Tell me.": "other",
    "": "other",
}


@pytest.mark.parametrize("text", QUESTION_TYPES)
def test_the_first_question_word_gives_the_type(text):
    (kind,) = group_questions(questions(text), "question-type").masks
    assert kind == QUESTION_TYPES[text]


def test_rare_first_words_are_together():
    grouping = group_questions(
        questions(*["What?"] * 10, *["Who?"] * 9, "", "“Where”?"), "first-word"
    )
    sizes = {name: mask.sum() for name, mask in grouping.masks.items()}
    assert sizes == {"other": 11, "what": 10}


def test_lengths_come_in_bins_from_short_to_long():
    lengths = [0, 1, 5, 6, 20, 21, 100]
    grouping = group_questions(questions(*("w " * n for n in lengths)), "question-length")
    assert members(grouping) == {"0-5": [0, 1, 2], "6-10": [3], "16-20": [4], "21 and more": [5, 6]}
    assert list(grouping.masks) == ["0-5", "6-10", "16-20", "21 and more"]


@pytest.mark.parametrize(
    ("options", "gold", "task", "group_names"),
    [
        (["BOB!", "x"], frozenset({0}), Task.SINGLE_CHOICE, "yes"),
        (["the old", "x"], frozenset({0}), Task.SINGLE_CHOICE, "yes"),
        (["ol", "x"], frozenset({0}), Task.SINGLE_CHOICE, "no"),  # a part of a word is no word
        (["old the", "x"], frozenset({0}), Task.SINGLE_CHOICE, "no"),
        (["...", "x"], frozenset({0}), Task.SINGLE_CHOICE, "no"),
        (["Bob", "Ann"], frozenset({0, 1}), Task.MULTIPLE_ANSWER, "all"),
        (["Bob", "Eve"], frozenset({0, 1}), Task.MULTIPLE_ANSWER, "some"),
        (["Bob", "Eve"], frozenset({1}), Task.MULTIPLE_ANSWER, "none"),
        (["Bob", "Eve"], frozenset(), Task.MULTIPLE_ANSWER, "no right answer"),
        ([], ("Eve", "Bob"), Task.SPAN, "yes"),
        ([], ("Eve", "Bob"), Task.MULTI_SPAN, "some"),
    ],
)
def test_an_answer_is_verbatim_if_its_words_are_in_a_row(options, gold, task, group_names):
    question_data = questions("?", options=options, gold=gold, task=task)
    assert list(group_questions(question_data, "verbatim").masks) == [group_names]


def test_hidden_gold_is_not_covered():
    question_data = questions("?", gold=None)
    for key in ("verbatim", "right-answers"):
        grouping = group_questions(question_data, key)
        assert not grouping.masks
        assert not grouping.covered.any()
    assert list(group_questions(question_data, "candidates").masks) == ["2"]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=30))
def test_every_question_is_in_one_group_of_each_derived_key(texts):
    question_data = questions(*texts)
    for key, derived in DERIVED_KEYS.items():
        grouping = group_questions(question_data, key)
        n_groups = np.sum([*grouping.masks.values()], axis=0)
        assert n_groups.tolist() == [1] * len(texts)
        assert not grouping.overlapping
        if derived.order:
            assert set(grouping.masks) <= set(derived.order)


@pytest.mark.parametrize("key", ["alone", "count"])
def test_a_key_may_be_called_as_a_view_is(key):
    with_key = [replace(question, meta={key: str(i % 2)}) for i, question in enumerate(FIVE)]
    marked = replace(FIVE, questions=with_key)
    assert members(group_questions(marked, key)) == {"0": [0, 2, 4], "1": [1, 3]}
    assert members(group_questions(marked, f"{key}:count")) == {"1": [0, 1, 2, 3, 4]}


def test_labels_are_grouped_by_themselves_alone_and_by_their_number():
    keys = [grouping.key for grouping in read_groupings(FIVE, [], [SKILLS])]
    assert keys == ["skills", "skills:alone", "skills:count"]
    assert read_groupings(FIVE, ["skills, skills"], [SKILLS]) == []
