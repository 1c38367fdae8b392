"""The documents of lm-evaluation-harness: the passage, question and options of each task family, by its fields."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from classic_rc.formats.answers import fold_text
from classic_rc.io.json import Node, describe_value
from classic_rc.questions import Passage, Question, Task, TextCandidates

RIGHT_WORDS = frozenset({"yes", "true", "correct", "1"})
WRONG_WORDS = frozenset({"no", "false", "incorrect", "0"})
_LABEL = re.compile(r"[A-Za-z0-9]|\([A-Za-z0-9]\)")


@dataclass(frozen=True, slots=True)
class Document:
    """What a document asks.

    Attributes
    ----------
    family : str or None
        The task family by whose fields it was read; None if they are unknown.
    passage, question : str
        Empty where the document has none. They come from the document and never from the prompt, which can also
        have other questions with their answers.
    options : tuple of str
        In the order of the continuations that the model scored.
    is_label : bool
        Whether the one option is right or wrong by itself, and the model scored the two labels.
    label : bool or None
        For a label, whether the option is right; None if hidden.
    id : str
        The question's id, if several documents share a question; else empty.
    group : object
        Equal for the documents of one question.
    n_other_questions : int
        The number of questions that the document asks apart from this one, with their answers in the prompt.
    right : frozenset of int or None
        The right options, where the document alone has them and not its target.
    """

    family: str | None
    passage: str
    question: str
    options: tuple[str, ...]
    is_label: bool = False
    label: bool | None = None
    id: str = ""
    group: Any = None
    n_other_questions: int = 0
    right: frozenset[int] | None = None


_Asked: TypeAlias = "tuple[str, str, Sequence[str] | None]"
"""A passage, a question, and options; no options where they are the continuations themselves."""


def read_document(doc: Node, continuations: Sequence[str] | None, n_prompts: int = 1) -> Document:
    """Read a document.

    Parameters
    ----------
    doc : Node
        The ``doc`` of a row.
    continuations : sequence of str or None
        What the model scored; None if it generated a text.
    n_prompts : int
        The number of different prompts before the continuations.

    Raises
    ------
    DataError
        The document is malformed, or it has no options and the model generated a text.
    """
    keys = doc.value.keys()
    if keys >= {"paragraph", "question", "answer", "label"} or keys >= {"passage", "question", "option", "label"}:
        return _read_labelled(doc)
    n_others = 0
    if keys >= {"article", "problems"}:
        family: str | None = "race"
        passage, question, options, n_others = _read_race(doc)
    else:
        family = next((name for name, needed, _ in _FAMILIES if needed <= keys), None)
        read = next((read for _, needed, read in _FAMILIES if needed <= keys), _read_unknown)
        passage, question, found = read(doc)
        if found is None and family == "lists":
            family = None
        if found is None and family == "boolq" and continuations is None:
            found = ["no", "yes"]
        options = found if found is not None else [text.strip() for text in continuations or ()]
    if not options:
        raise doc.error(
            "no options in the document, and none that the model scored",
            found=describe_value(doc.value),
            expected="the fields of a task with options",
            hint="Tasks whose answers are free texts cannot be measured here",
        )
    right = None
    if family == "winogrande":
        right = frozenset(i for i in range(2) if doc.value.get("answer") == str(i + 1)) or None
    elif continuations is not None:
        if n_prompts > 1 and len(set(continuations)) == 1:
            raise doc.error(
                "the choices differ in the prompt and not in the continuation",
                found=f"{len(continuations)} times {continuations[0][:40]!r}",
                expected="a continuation for each option",
                hint="Such tasks cannot be measured here",
            )
        options = _in_scored_order(doc, options, continuations)
    return Document(family, passage, question, tuple(options), n_other_questions=n_others, right=right)


def _in_scored_order(doc: Node, options: Sequence[str], continuations: Sequence[str]) -> Sequence[str]:
    """Return the options in the order in which the model scored them."""
    scored = [fold_text(text) for text in continuations]
    own = [fold_text(option) for option in options]
    if len(own) == len(scored) and sorted(own) != sorted(scored):
        return options  # labels such as A and B, or texts in a sentence around them
    if len(own) == len(scored):
        left = list(range(len(own)))
        order = []
        for text in scored:
            order.append(next(i for i in left if own[i] == text))
            left.remove(order[-1])
        return [options[i] for i in order]
    if all(_LABEL.fullmatch(text.strip()) for text in continuations):
        raise doc.error(
            "options do not fit the continuations",
            found=f"{len(options)} options and {len(continuations)} continuations",
            expected="as many of each",
        )
    return [text.strip() for text in continuations]


def join_documents(documents: Sequence[Document], ids: Sequence[str]) -> list[tuple[Question, list[int]]]:
    """Return the questions of a task's documents, and the positions of the documents that each one is from.

    A document is a question, except for labels: the options of a question are a document each. Equal passages are
    one object.

    Parameters
    ----------
    documents : sequence of Document
        All of labels, or none.
    ids : sequence of str
        The ids of the questions; documents of labels have their own.

    Returns
    -------
    list of (Question, list of int)
        With the gold of labels; other gold is hidden.
    """
    passages: dict[str, Passage] = {}
    groups: dict[Any, list[int]] = {}
    for i, document in enumerate(documents):
        groups.setdefault(document.group if document.is_label else i, []).append(i)
    joined = []
    n_of_id: Counter[str] = Counter()
    for place, members in enumerate(groups.values()):
        first = documents[members[0]]
        name = ids[members[0]]
        options: Sequence[str] = first.options
        gold = None
        if first.is_label:
            name = first.id or str(place)
            n_of_id[name] += 1
            name += f" ({n_of_id[name]})" if n_of_id[name] > 1 else ""
            options = [documents[i].options[0] for i in members]
            labels = [documents[i].label for i in members]
            gold = None if None in labels else frozenset(option for option, label in enumerate(labels) if label)
        passage = passages.setdefault(first.passage, Passage(f"passage-{len(passages) + 1}", first.passage))
        task = Task.MULTIPLE_ANSWER if first.is_label else Task.SINGLE_CHOICE
        question = Question(name, passage, first.question, TextCandidates(options), gold, task)
        joined.append((question, members))
    return joined


def says_right(continuation: str) -> bool:
    """Return whether a label says that an option is right: "yes", or a sentence that ends with it."""
    return fold_text(continuation).rpartition(" ")[2].strip(".!?\"'") in RIGHT_WORDS


# ------------------------------------------------------------------------------------------------------------------
# Families


def _read_race(doc: Node) -> tuple[str, str, Sequence[str], int]:
    """Read RACE's row for an article: the harness asks the last problem, and tells the answers of the others."""
    problems = doc.value["problems"]
    if isinstance(problems, str):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            problems = ast.literal_eval(problems)  # as the dataset stores them: the text of a Python list
    if not isinstance(problems, list) or not problems:
        raise doc.error(
            "no list of problems",
            field="problems",
            found=describe_value(doc.value["problems"]),
            expected="a list, or the text of one",
        )
    last = Node(problems, doc.source, doc.line, doc, "problems").child(len(problems) - 1)
    return doc.text("article"), last.text("question"), last.texts("options"), len(problems) - 1


def _read_labelled(doc: Node) -> Document:
    """Read a row of one option and its label: MultiRC as SuperGLUE has it, or as ``perturb`` writes it."""
    label = doc.value["label"]
    if label not in (0, 1, -1, None):
        raise doc.error("invalid label", field="label", found=describe_value(label), expected="0 or 1")
    is_ours = "option" in doc.value
    passage, question = doc.text("passage" if is_ours else "paragraph"), doc.text("question")
    place = doc.value.get("idx")
    id_ = str(doc.value.get("id", "")) if is_ours else ""
    if isinstance(place, Mapping) and {"paragraph", "question"} <= place.keys():
        id_ = f"{place['paragraph']}=={place['question']}"
    hidden = label in (-1, None)
    return Document(
        "multirc",
        passage,
        question,
        (doc.text("option" if is_ours else "answer"),),
        is_label=True,
        label=None if hidden else bool(label),
        id=id_,
        group=(id_, passage, question),  # the numbers need not be unique in rows of the user's own
    )


def _read_arc(doc: Node) -> _Asked:
    choices = doc.value["choices"]
    if not isinstance(choices, Mapping):
        return _read_lists(doc)
    stem = "question" if doc.has("question") else "question_stem"
    return "", doc.text(stem), doc.child("choices").texts("text")


def _read_qa4mre(doc: Node) -> _Asked:
    return doc.text("document_str"), doc.text("question_str"), doc.child("answer_options").texts("answer_str")


def _fields(passage: str | None, question: str | None, *options: str) -> Callable[[Node], _Asked]:
    """Return a function that reads a text at each of these keys; without options they are the continuations."""

    def read(doc: Node) -> _Asked:
        return (
            doc.text(passage) if passage else "",
            doc.text(question) if question else "",
            [doc.text(option) for option in options] or None,
        )

    return read


_PASSAGES = ("article", "passage", "paragraph", "context", "story", "document", "support", "ctx")
_QUESTIONS = ("question", "question_text", "query", "goal", "sentence", "premise", "prompt", "input")
_OPTIONS = ("options", "choices", "answers", "endings", "candidates")


def _read_lists(doc: Node) -> _Asked:
    """Read a document with a list of options: QuAIL, LogiQA, ReClor, MMLU, AGIEval and many others."""
    options = next((doc.value[key] for key in _OPTIONS if _is_texts(doc.value.get(key))), None)
    return _first_text(doc, _PASSAGES), _first_text(doc, _QUESTIONS), options


def _read_unknown(doc: Node) -> _Asked:
    return _first_text(doc, _PASSAGES), _first_text(doc, _QUESTIONS), None


def _first_text(doc: Node, keys: Sequence[str]) -> str:
    return next((doc.value[key] for key in keys if isinstance(doc.value.get(key), str)), "")


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(text, str) for text in value)


_FAMILIES: tuple[tuple[str, set[str], Callable[[Node], _Asked]], ...] = (
    (
        "belebele",
        {"flores_passage", "question", "mc_answer1", "mc_answer4"},
        _fields("flores_passage", "question", *(f"mc_answer{i}" for i in range(1, 5))),
    ),
    (
        "sciq",
        {"support", "question", "correct_answer", "distractor1"},
        _fields("support", "question", "distractor1", "distractor2", "distractor3", "correct_answer"),
    ),
    (
        "siqa",
        {"context", "question", "answerA", "answerB", "answerC"},
        _fields("context", "question", "answerA", "answerB", "answerC"),
    ),
    (
        "cosmosqa",
        {"context", "question", "answer0", "answer3"},
        _fields("context", "question", *(f"answer{i}" for i in range(4))),
    ),
    ("qa4mre", {"document_str", "question_str", "answer_options"}, _read_qa4mre),
    # Its prompts have the options; the continuation is the end of the sentence, the same for both.
    ("winogrande", {"sentence", "option1", "option2"}, _fields(None, "sentence", "option1", "option2")),
    ("piqa", {"goal", "sol1", "sol2"}, _fields(None, "goal", "sol1", "sol2")),
    ("copa", {"premise", "choice1", "choice2", "question"}, _fields("premise", "question", "choice1", "choice2")),
    (
        "hellaswag",
        {"ctx", "endings"},
        lambda doc: (doc.text("ctx"), "", doc.texts("endings")),  # the text to continue is what is read
    ),
    ("arc", {"question", "choices", "answerKey"}, _read_arc),  # also CommonsenseQA
    ("openbookqa", {"question_stem", "choices"}, _read_arc),
    *(("lists", {key}, _read_lists) for key in _OPTIONS),
    ("boolq", {"passage", "question", "label"}, _fields("passage", "question")),
    ("boolq", {"passage", "question", "answer"}, _fields("passage", "question")),
)
"""Name, the fields that identify it, and how to read it; the first that fits is taken."""
