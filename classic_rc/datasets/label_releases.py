"""Annotations that were released for benchmarks: the skills of MCTest's questions, the types of RACE's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from classic_rc.datasets.labelled import LabelFile, LabelledQuestion
from classic_rc.io.json import Node, describe
from classic_rc.questions import Question

MCTEST_SKILLS = (
    "object tracking",
    "mathematical reasoning",
    "coreference resolution",
    "logical reasoning",
    "analogy",
    "causal relation",
    "spatiotemporal relation",
    "ellipsis",
    "bridging",
    "elaboration",
    "meta knowledge",
    "schematic clause relation",
    "punctuation",
)
"""The prerequisite skills of Sugawara et al. 2017 (ACL), by the numbers of the released annotation."""

_NO_SKILL, _NONSENSE = 13, 14
_LETTERS = "ABCD"


def is_mctest_skills(row: object) -> bool:
    """Whether an entry is one of the released skills of MCTest."""
    return isinstance(row, dict) and {"original_id", "annotations"} <= row.keys()


def mctest_skills(stories: Iterable[Node], source: str) -> LabelFile:
    """The annotation of Sugawara, Kido, Yokono and Aizawa 2017 (ACL): an object a story, four questions each.

    "No skill" is an empty set of labels, and counts for nothing where it is listed beside skills. Questions that
    the annotators call nonsense or ambiguous are left out.
    """
    questions, n_nonsense, n_beside = [], 0, 0
    for story in stories:
        passage = story.text("original_id")
        for i, entry in enumerate(story.items("annotations")):
            numbers = entry.integers("skills")
            if any(not 0 <= number <= _NONSENSE for number in numbers):
                raise entry.error("no such skill", field="skills", found=str(list(numbers)), expected="0 to 14")
            if _NONSENSE in numbers:
                n_nonsense += 1
                continue
            skills = tuple(MCTEST_SKILLS[number] for number in numbers if number != _NO_SKILL)
            n_beside += _NO_SKILL in numbers and bool(skills)
            questions.append(LabelledQuestion(f"{passage},{i}", entry.where, {"skills": skills}, passage))
    notes = [f"{n_nonsense} called nonsense or ambiguous left out"] if n_nonsense else []
    if n_beside:
        notes.append(f"{n_beside} that list 'no skill' beside skills have these")
    return LabelFile(source, questions, {"skills": MCTEST_SKILLS}, of_several=True, notes=notes)


def is_race_types(row: object) -> bool:
    """Whether an entry is one of the released question types of RACE."""
    return isinstance(row, dict) and {"example_id", "question_id", "answer"} <= row.keys()


def race_types(rows: Iterable[Node], source: str) -> LabelFile:
    """Questions of RACE's train split with their type; ``question_id`` counts an article's questions from 1.

    That they are the dataset's is checked by the letters and digits of the question, and by the answer.
    """
    return LabelFile(source, list(_race_rows(rows)), of_several=True)


def _race_rows(rows: Iterable[Node]) -> Iterator[LabelledQuestion]:
    for row in rows:
        article, number = row.text("example_id").removesuffix(".txt"), row.integer("question_id")
        key = next((key for key in row.value if key.strip() == "question_type"), "question_type")
        labels = {"reasoning-type": (row.text(key).strip(),)}
        fault = partial(_race_fault, row.text("question"), row.text("answer"))
        yield LabelledQuestion(f"{article}-{number - 1}", row.where, labels, article, fault)


def _race_fault(text: str, answer: str, question: Question) -> tuple[str, str] | None:
    if _bare(text) != _bare(question.text):
        return describe(text), describe(question.text)
    right = [_LETTERS[index] for index in _right(question) if index < len(_LETTERS)]
    return None if question.gold is None or answer in right else (f"answer {answer}", f"answer {''.join(right)}")


def _right(question: Question) -> Sequence[int]:
    return sorted(index for index in question.gold or () if isinstance(index, int))


def _bare(text: str) -> str:
    """Letters and digits, as the release has other blanks and underscores."""
    return re.sub(r"[\W_]+", "", text).casefold()
