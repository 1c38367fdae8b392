r"""Answers in the texts of language models: final forms, and what is too uncertain to be an
answer.
"""

from __future__ import annotations

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.formats import get_format
from classic_rc.predictions import AnswerCounts
from classic_rc.questions import Task
from tests.errors import raises
from tests.formats.builders import ask_each, ask_for_text, json_lines, selected

FOUR = ("Old Tam", "Wren", "the dog", "no one")


def read(*texts, options=FOUR, task=Task.SINGLE_CHOICE, pattern=None):
    """The options that each text is read as, next to a last answer B; None if it states none."""
    dataset = ask_each(len(texts) + 1, *options, task=task)
    form = get_format("answers").with_options({} if pattern is None else {"pattern": pattern})
    predictions = form.read(text_rows(*texts, "B"), dataset, source="a")
    return selected(predictions[:-1]), predictions


def text_rows(*texts):
    return json_lines({"id": f"q{i}", "text": text} for i, text in enumerate(texts))


@pytest.mark.parametrize(
    "text",
    [
        "The answer is (B) because the sky is blue.",
        "I think the answer is B, since it says so",
        "So we get \\boxed{B}.",
        "$\\boxed{\\text{B}}$",
        "\\boxed{(B)}",
        "\\( \\boxed{\\textbf{B}} \\)",
        "<answer>B</answer>",
        "Hm. <answer> B </answer>",
        "<think>The answer is A.</think>\nB",
        "<think>A</think> The answer is B.",
        "B is correct",
        "B is correct because",
        "Option B is the correct answer.",
        "### B",
        "**B**",
        "*B*",
        "`B`",
        "> B",
        "- B",
        "[B]",
        "B:",
        "Answer: B",
        "Answer:\n\nB",
        "Answer (B)",
        "Answer - B",
        "**Answer:** B",
        "**Answer: B**",
        "Final Answer: B",
        "ANSWER: B",
        "The final answer is $B$.",
        "The best answer is B.",
        "The answer is: **(B) Wren**",
        "The answer is B (Wren).",
        "The correct answer is B: Wren",
        'The answer is "B".',
        "The answer is Option B.",
        "The answer is choice B",
        "The answer is b.",
        "answer: b",
        "The answer is B, not A.",
        "The answer is B!",
        "The answer is \uff22\u3002",
        "\uff08\uff22\uff09",
        "B) because the text says so",
        "(B) The text says so",
        "B. The text says so.",
        "B - so it says",
        "It isn't A, so the answer is B.",
        "There is no doubt that the answer is B.",
        "Tam owns it. Therefore, (B).",
        "The answer to question 3 is B.",
        "I would choose option B.",
        "I choose B over A",
        "A is wrong. B is right.",
        "A. Old Tam\nB. Wren\nC. the dog\nD. no one\n\nAnswer: B",
        "B\n\nExplanation: A is wrong since it barks",
        'Here:\n```json\n{"answer": "B", "why": "it barks"}\n```',
        '{"reasoning": "A?", "answer": "B"}',
        "Wren",
        "The answer is Wren because he is a dog.",
        "The answer is 'Wren'.",
        "Wren, because he barks",
        "Correct: B",
        "The answer is Wren, not Old Tam",
        "not A but B",
        "The answer is B; the others are wrong.",
        "The correct answer is B. Wren is his dog.",
        "Since A, C and D are wrong, the answer is B.",
        "You might think it is A, but the answer is B.",
        "The answer is A. Wait, no, it is B.",
        "The answer isn't A. It's B.",
        "The second option",
        "The answer is not explicitly stated, but based on the text, the best answer is B.",
        "A: Tam\nB: a cat\nC: the dog\nStep 1: Tam left. Step 2: Wren barked. Answer: B",
        "Old Tam\nWren\nthe dog\nno one\nAnswer: B",
        "Ich denke, die richtige Antwort ist B.",
        "La bonne réponse est donc la B.",
        "La respuesta correcta es la B",
        "所以，正确答案是（Ｂ）。",
        "故选B",
        "第二个",
        "B、Wren",
        "したがって、正解はBです。",
    ],
)
def test_final_forms_state_an_answer(text):
    assert read(text)[0] == [{1}]


@pytest.mark.parametrize(
    "text",
    [
        "The answer is not B.",
        "The answer isn't B",
        "I don't think the answer is B.",
        "Not B",
        "I doubt that the answer is B",
        "It can't be that B is correct.",
        "B is not correct.",
        "B is incorrect.",
        "Neither A nor B is correct.",
        "If the answer is B, he owns it",
        "The answer may be B.",
        "Is the answer B?",
        "The answer is B?",
        "Which of A and B is correct?",
        "Saying the answer is B is wrong.",
        "The answer is B, which is wrong.",
        "The wrong answer is B",
        "Wrong answer: B",
        "A and B",
        "A, B",
        "The answer is A or B.",
        "The answer: A/B",
        "The answer is A and B.",
        "The answer is A. The answer is B.",
        "Answer: A\nAnswer: B",
        "A\nB",
        "\\boxed{A}, \\boxed{B}",
        "<answer>A</answer><answer>B</answer>",
        "The answer is B. the dog",
        "The answer is Wren, the dog",
        "The answer is the dog or Wren",
        "<think>The answer is B",
        "A dog barked.",
        "The answer is A dog.",
        "The answer is a dog.",
        "I think so",
        "A is the first letter",
        "Vitamin B is good.",
        "Plan B is what they did",
        "C. elegans is a worm",
        "D. Trump won",
        "The answer is E.",
        "The answer is E. The answer is B.",
        "The answer is unclear.",
        "Wren barked at Tam.",
        "Wren is right that it rains",
        "The answer is 2.5 million",
        "The answer is 2",
        "",
        "None",
        "The least likely answer is B.",
        "It would be a mistake to think B is correct.",
        "B is correct, as is A",
        "The answer is B. But A could also be right.",
        "The answer is B. Wait, no.",
        "Some say that the answer is B.",
        "At first glance, the answer is B.",
        "If B were correct, the text would say so.",
        "If the dog barked, the answer is B.",
        "I cannot determine whether the answer is B.",
        "(B) Wren is partly correct.",
        "B. Incorrect.",
        "Options: A) Old Tam B) Wren C) the dog D) no one",
        "A. Old Tim\nB. Wren\nC. a dog\nI cannot say.",
        "B\n\nQuestion: Who is Tam?\nA. a dog\nB. a man\nAnswer: A",
        "Die Antwort ist nicht B.",
        "La réponse n'est pas B.",
        "La respuesta no es B.",
        "答案是B吗？",
        "正解はBではありません。",
    ],
)
def test_what_is_uncertain_states_none(text):
    assert read(text)[0] == [None]


def test_yes_and_no_at_the_start():
    texts = ["No, he did not.", "Yes, although it does not say so.", "Yes, but no.", "No, wait."]
    assert read(*texts, options=("yes", "no"))[0] == [{1}, {0}, None, None]
    assert read("No, he did not.", "Wren, his dog, barked.")[0] == [None, None]


def test_the_words_of_an_option_are_not_words_about_it():
    options = (
        "we should copy others answers",
        "the answer is unknown",
        "it is not B",
        "why not?",
    )
    texts = [
        *("A. we should copy others answers", "The answer is unknown.", "Answer: it is not B"),
        *(
            "The answer is: why not?",
            "(C) It is not B, because Tam says so",
            "B. the answer is unknown",
        ),
        "The answer is not (B) the answer is unknown.",
    ]
    assert read(*texts, options=options)[0] == [{0}, {1}, {2}, {3}, {2}, {1}, None]
    assert read("The answer is no.", "No.", "It is not a no", options=("yes", "no"))[0] == [
        {1},
        {1},
        None,
    ]


def test_letters_that_are_words_and_options_that_are_articles():
    ten_options = tuple(f"option {i}" for i in range(10))
    assert read(
        "The answer is I.", "I think that it rains", "The answer is I think B", options=ten_options
    )[0] == [
        {8},
        None,
        None,
    ]
    assert read("The answer is A because he keeps it", "The answer is A, as it says")[0] == [
        {0},
        {0},
    ]
    assert read("The answer is A dog", "A dog.", options=("A dog", "a cat", "it"))[0] == [{0}, {0}]
    assert read(
        "Yes, he did.", "No, because he left", "The answer is no one", options=("yes", "no")
    )[0] == [
        {0},
        {1},
        None,
    ]


def test_numbers_in_texts_are_options_only_if_all_answers_are_numbers():
    assert read("The answer is 2", "\\boxed{1}", "The answer is (B)")[0] == [None, None, {1}]
    numbers = ["The answer is 0", "\\boxed{1}", "The answer is 2."]
    assert read(*numbers, options=("red", "blue", "green"))[0] == [None] * 3  # the last row is B
    dataset, lines = ask_each(3, "red", "blue", "green"), text_rows(*numbers)
    predictions = get_format("answers").read(lines, dataset, source="a")
    assert selected(predictions) == [{0}, {1}, {2}]
    with raises(DataError, field="text"):
        get_format("answers").read(lines.replace("is 0", "is 1"), dataset, source="a")


def test_a_final_form_may_state_several_options():
    texts = [
        "The answers are A and C because they bark",
        "\\boxed{A, C}",
        "So: <answer>A; C</answer>",
        "A, C",
        "Answer: AC",
        "The answer is A. The answer is C.",
    ]
    assert read(*texts, task=Task.MULTIPLE_ANSWER)[0] == [{0, 2}] * 5 + [None]


def test_a_pattern_replaces_all_forms():
    texts = [
        "I vote for B; the answer is A",
        "vote for A, vote for B",
        "The answer is B",
        "<think>vote for A</think>vote for (C)",
    ]
    pattern = r"vote for \(?([A-D])"
    assert read(*texts, pattern=pattern)[0] == [{1}, None, None, {2}]
    # without a group the whole match counts
    assert read(*texts, pattern=r"v(?:)ote for \(?[A-D]")[0] == [None] * 4


def test_unusable_options_of_a_file_are_refused():
    with raises(UsageError, field="pattern", found="("):
        get_format("answers").with_options({"pattern": "("})
    with raises(UsageError, field="reading", found="index", expected="index1, index0"):
        get_format("answers").with_options({"reading": "index"})
    with raises(UsageError, field="id"):
        get_format("answers").with_options({"id": "a"})
    with raises(UsageError, field="pattern"):
        get_format("squad").with_options({"pattern": "x"})


@pytest.mark.parametrize(
    ("text", "options", "answers"),
    [
        ("<think>Wren?</think>Tam", {}, (("Tam",),)),
        ("It is [Tam].", {"pattern": r"\[(.*?)\]"}, (("Tam",),)),
        ("It is [Tam] or [Wren].", {"pattern": r"\[(.*?)\]"}, ()),
        ("It is Tam.", {"pattern": r"\[(.*?)\]"}, ()),
    ],
)
def test_spans_are_the_text_after_the_reasoning_or_what_the_pattern_finds(text, options, answers):
    form = get_format("answers").with_options(options)
    (prediction,) = form.read(text_rows(text), ask_for_text(1, "Tam"), source="a")
    assert prediction.answers == answers


def test_the_report_counts_each_way_and_shows_three_examples():
    texts = [
        *["The answer is A."] * 2,
        *["So the answer is (B), yes"] * 5,
        "Hm. I cannot tell.",
        "\\boxed{C}",
    ]
    counts = AnswerCounts.of(read(*texts)[1])
    assert (counts.answers, counts.unparsed, counts.empty) == (10, 1, 0)
    first, *ways = counts.report
    assert first == "9 of 10 texts state an answer (90.0%)"
    assert {form: n for form, (n, _) in counts.forms.items()} == {
        "the whole text": 3,
        "the answer is …": 5,
        "\\boxed{…}": 1,
        "": 1,
    }
    assert counts.forms["the answer is …"].examples == ("'So the answer is (B), yes' -> B",) * 3
    assert ways[-1] == "1 none: 'Hm. I cannot tell.'"
    assert AnswerCounts.of(read("A", "B")[1]).report == []


def test_long_texts_are_read_in_linear_time():
    text = 'The answer is not clear, because A is wrong. <answer \\boxed{ {"answer" I choose ' * 200
    assert read(text + "\nAnswer: B", text)[0] == [{1}, None]
