"""The ranker's view of questions: types, statements, speakers and surface facts."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers.feature_ranker.texts import (
    FACTS,
    QUESTION_TYPES,
    RankerTexts,
    question_type,
    ranker_texts,
)


def ask(text: str, *options: str, passage: Passage | None = None) -> Question:
    choices = tuple(map(Candidate, options or ("an answer",)))
    return Question(
        text, passage or Passage("p", "A text."), text, choices, None, Task.SINGLE_CHOICE
    )


def statement(texts: RankerTexts, candidate: int = 0) -> str:
    start, stop = texts.statement_offsets[candidate : candidate + 2]
    return " ".join(texts.encoded.vocabulary[i] for i in texts.statements[start:stop])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which of these is NOT true?", "negated"),
        ("Why didn't he come?", "negated"),
        ("What is the best title?", "title"),
        ("What is the passage mainly about?", "main idea"),
        ("Which of the following is true?", "which is true"),
        ("He left because _ .", "cloze"),
        ("What can we infer?", "inference"),
        ("Who came?", "who"),
        ("What time did he come?", "when"),
        ("Where is it?", "where"),
        ("How many came?", "how many"),
        ("How did he come?", "how"),
        ("Which dog came?", "which"),
        ("What came?", "what"),
    ],
)
def test_a_question_has_the_type_of_the_first_pattern_that_matches(text, kind):
    assert list(QUESTION_TYPES)[question_type(text)] == kind


def test_a_question_can_have_no_type():
    assert question_type("Is it raining?") == len(QUESTION_TYPES)


@pytest.mark.parametrize(
    ("text", "option", "expected"),
    [
        ("Who wrote the book?", "Ann", "ann wrote the book"),
        ("Where did John go?", "home", "john go home"),
        ("What is the dog eating?", "meat", "the dog is eat meat"),
        ("How many dogs were there in the park?", "two", "there in the park were 2 mani dog"),
        ("He left because _ of rain.", "he was afraid", "he left becaus he wa afraid of rain"),
        ("The dog likes", "meat", "the dog like meat"),
        ("What?", "a dog", "a dog"),
        ("", "a dog", "a dog"),
    ],
)
def test_statements_have_the_candidate_in_the_place_asked_for(text, option, expected):
    assert statement(ranker_texts([ask(text, option)])) == expected


def test_statements_do_not_depend_on_other_questions():
    questions = [
        ask("Who came?", "Ann", "Bob"),
        ask("Where did he _ go?", "x y"),
        ask("", "z"),
        ask("Why is he ill?"),
    ]
    together = ranker_texts(questions)
    expected = []
    for question in questions:
        alone = ranker_texts([question])
        expected += [statement(alone, i) for i in range(len(question.candidates))]
    assert [statement(together, i) for i in range(5)] == expected


def test_speakers_are_found_by_label_gender_or_name():
    passage = Passage("p", "M: Hi, Mary.\nMary: Hello.\nM: Bye.")
    queries = "What does the man say?", "Does Mary leave?", "Why?"
    texts = ranker_texts([ask(text, passage=passage) for text in queries])
    assert texts.asked_speaker.tolist() == [0, 1, -1]
    assert texts.speakers.tolist() == [0, 1, 0]
    assert texts.turns.tolist() == [0, 1, 2]
    words = [texts.encoded.vocabulary[i] for i in texts.encoded.arrays.passage_tokens]
    assert words == ["hi", "mari", "hello", "bye"]


def test_letters_without_case_are_no_capitals():
    texts = ranker_texts(
        [ask("Which?", "in the \u00c9lan", "in the \u00e9lan", "\u4e2d \u56fd", "Ann")]
    )
    assert texts.facts[:, FACTS.index("has capital inside")].tolist() == [1, 0, 0, 0]


def test_surface_facts_have_a_row_for_equal_candidates_too():
    texts = ranker_texts([ask("Which?", "No, not New York", "Yes", "Yes", "Both of the above 3")])
    facts = dict(zip(FACTS, texts.facts.T.tolist(), strict=True))
    assert len(texts.encoded.arrays.candidate_question) == 3
    assert facts["position"] == [0, 1, 2, 3]
    assert facts["is last"] == [0, 0, 0, 1]
    assert facts["is yes"] == [0, 1, 1, 0]
    assert facts["negations"] == [2, 0, 0, 0]
    assert facts["has capital inside"] == [1, 0, 0, 0]
    assert facts["has digits"] == [0, 0, 0, 1]
    assert facts["above, both or none"] == [0, 0, 0, 1]
    np.testing.assert_array_equal(facts["log words"], np.log1p([4, 1, 1, 5]))
