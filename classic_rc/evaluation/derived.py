"""What every question says of itself, and can be grouped by: its words, its answers, its length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from classic_rc.questions import PLACEHOLDER, Question, Task
from classic_rc.text.analyzers import get_tokenizer

FEW_QUESTIONS = 10
"""A number of fewer questions says next to nothing: tables grey it, and rare first words are put together."""

_OTHER = "other"
_HOW_MUCH = frozenset({"many", "much"})
_WH_WORDS = {
    **{word: word for word in ("what", "when", "where", "which", "why", "how")},
    **dict.fromkeys(("who", "whom", "who's"), "who"),
    **{"whose": "whose", "what's": "what", "where's": "where", "when's": "when", "how's": "how", "why's": "why"},
}
_AUXILIARIES = frozenset(
    "am is are was were be do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't".split()
)
_BLANK = re.compile(r"_")
_LENGTHS = (5, 10, 15, 20)


@dataclass(frozen=True, slots=True)
class DerivedKey:
    """A property of questions that needs no annotation.

    Parameters
    ----------
    description : str
        One sentence.
    values : callable
        From questions to a value each; None where it says nothing.
    order : sequence of str
        The values in the order of tables; those that are not among them follow, numbers first.
    """

    description: str
    values: Callable[[Sequence[Question]], Sequence[str | None]]
    order: Sequence[str] = ()


def _words(text: str) -> list[str]:
    return [word.lower() for word in get_tokenizer("word").tokenize(text)]


def _first_words(questions: Sequence[Question]) -> list[str | None]:
    """The first word in lower case; those that begin fewer than :data:`FEW_QUESTIONS` questions together."""
    first = [next(iter(_words(question.query)), "") for question in questions]
    counts = Counter(first)
    return [word if word and counts[word] >= FEW_QUESTIONS else _OTHER for word in first]


def _question_type(question: Question) -> str:
    if PLACEHOLDER in question.text or _BLANK.search(question.text):
        return "cloze"
    words = _words(question.text)
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word == "how" and following in _HOW_MUCH:
            return "how many"
        if word in _WH_WORDS:
            return _WH_WORDS[word]
    return "yes/no" if words and words[0] in _AUXILIARIES else _OTHER


def _question_types(questions: Sequence[Question]) -> list[str | None]:
    return [_question_type(question) for question in questions]


def _question_lengths(questions: Sequence[Question]) -> list[str | None]:
    return [_bin(len(_words(question.query))) for question in questions]


def _bin(length: int) -> str:
    least = 0
    for most in _LENGTHS:
        if length <= most:
            return f"{least}-{most}"
        least = most + 1
    return f"{least} and more"


_BINS = tuple(dict.fromkeys(_bin(length) for length in range(_LENGTHS[-1] + 2)))


def _verbatim(questions: Sequence[Question]) -> list[str | None]:
    """Whether the words of the right answers stand in the passage, in a row."""
    passages = {id(q.passage): f" {' '.join(_words(q.passage.text))} " for q in questions}
    return [_found(question, passages[id(question.passage)]) for question in questions]


def _found(question: Question, passage: str) -> str | None:
    if question.gold is None:
        return None
    found = [bool(words := _words(text)) and f" {' '.join(words)} " in passage for text in question.gold_texts]
    if not found:
        return "no right answer"
    if question.task in (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN):
        return "all" if all(found) else "some" if any(found) else "none"
    return "yes" if any(found) else "no"


def _n_candidates(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.task.has_spans else str(len(q.candidates)) for q in questions]


def _n_answers(questions: Sequence[Question]) -> list[str | None]:
    return [None if q.gold is None else str(len(q.gold)) for q in questions]


DERIVED_KEYS: Mapping[str, DerivedKey] = {
    "question-type": DerivedKey(
        "the first question word (what, how many, …); cloze for a blank, yes/no for an auxiliary in front",
        _question_types,
        (
            *("what", "who", "whose", "which", "when", "where", "why", "how", "how many"),
            *("yes/no", "cloze", _OTHER),
        ),
    ),
    "first-word": DerivedKey(
        f"the first word; those that begin fewer than {FEW_QUESTIONS} questions together", _first_words
    ),
    "question-length": DerivedKey("how many words the question has", _question_lengths, _BINS),
    "verbatim": DerivedKey(
        "whether the words of the right answer stand in the passage in a row",
        _verbatim,
        ("yes", "no", "all", "some", "none", "no right answer"),
    ),
    "candidates": DerivedKey("how many candidates there are", _n_candidates),
    "right-answers": DerivedKey("how many answers are right, or accepted", _n_answers),
}
"""What can be grouped by on any data, by name."""
