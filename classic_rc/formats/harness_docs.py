"""The documents of lm-evaluation-harness: the passage, question and options of each task family,
by its fields.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from classic_rc.datasets.fields import find_families
from classic_rc.equality import TextLadder, normalised_text
from classic_rc.formats.base import read_declarations
from classic_rc.formats.harness_settings import find_part
from classic_rc.io.json import Node, describe_value, read_literal
from classic_rc.option_labels import (
    OPTION_LABELS,
    CutOptions,
    cut_labels,
    name_other_places,
)
from classic_rc.questions import Passage, Question, Task, TextCandidates

RIGHT_WORDS = frozenset({"yes", "true", "correct", "1"})
WRONG_WORDS = frozenset({"no", "false", "incorrect", "0"})
_LABEL = re.compile(r"(?:(?:option|choice|answer) )?[(\[]?(\w)[)\].:]*", re.IGNORECASE)
_MIN_WORDS = 3  # of a field that a note names, because no system reads it


class Document(NamedTuple):
    """What a document asks. Its texts are never from the prompt, which can also have other
    questions' answers.
    """

    # by the names of the fields alone, so that a task has one; None if they are unknown
    family: str | None
    passage: str  # empty without one, like the question
    question: str
    options: tuple[str, ...]  # in the order of the continuations that the model scored
    is_label: bool = (
        False  # whether the one option is right or wrong by itself, and two labels were scored
    )
    label: bool | None = None  # for a label, whether the option is right; None if hidden
    id: str = ""  # the question's id, if several documents share a question
    group: Any = None  # equal for the documents of one question
    n_other_questions: int = 0  # which the document asks too, with their answers in the prompt
    right: frozenset[int] | None = (
        None  # the right options, where the document alone has them and not its target
    )
    has_options: bool = (
        True  # whether the options are the document's own, or else the continuations
    )
    is_known: bool = True  # whether its fields are those of a known family
    unread: tuple[
        str, ...
    ] = ()  # the fields of unknown documents with texts that are nowhere in the question


_AskedTexts: TypeAlias = "tuple[str, str, Sequence[str] | None]"
"""A passage, a question, and options; None where they are the continuations themselves."""

_Texts: TypeAlias = "Sequence[str] | None"


def read_document(doc: Node, continuations: Sequence[str] | None, n_prompts: int = 1) -> Document:
    """Read the ``doc`` of a row. `continuations` are what the model scored; None if it generated a
    text.

    `n_prompts` is the number of different prompts before the continuations.
    """
    fitting = (candidate for candidate in _FAMILIES if candidate.fits(doc, continuations))
    family = next(fitting, _UNKNOWN)
    if family.is_label:
        return _read_labelled(doc, family)
    passage, question, document_options = family.ask(doc)
    if document_options is None and not family.has_own_fields:
        document_options = _find_options(doc, continuations)
    truths = (doc.value.get(key) for key in ("label", "answer"))
    is_yes_or_no = any(isinstance(truth, bool) for truth in truths)
    if document_options is None and continuations is None and is_yes_or_no:
        document_options = ["no", "yes"]
    if n_prompts > 1 and not family.is_in_prompt and continuations and len(set(continuations)) == 1:
        raise doc.error(
            "only the prompts differ, not the continuations",
            found=f"{len(continuations)} times {continuations[0][:40]!r}",
            expected="a continuation for each option",
            hint="Such tasks cannot be measured here",
        )
    options = document_options
    if document_options is not None and continuations is not None and not family.is_in_prompt:
        options = _in_scored_order(doc, document_options, continuations)
    texts = [text.strip() for text in continuations or ()] if options is None else options
    if not texts:
        raise doc.error(
            "no options in the document, and none that the model scored",
            found=describe_value(doc.value),
            expected="the fields of a task with options",
            hint="Tasks whose answers are free texts cannot be measured here",
        )
    unread = () if family.has_own_fields else _find_unread(doc, (passage, question, *texts))
    n_questions = len(_race_problems(doc).value) if family.name == "race" else 1
    return Document(
        family.name,
        passage,
        question,
        tuple(texts),
        n_other_questions=n_questions - 1,
        right=_find_right(family.name, doc, options, continuations),
        has_options=options is not None,
        is_known=family.has_own_fields,
        unread=unread,
    )


def _in_scored_order(
    doc: Node, options: Sequence[str], continuations: Sequence[str]
) -> Sequence[str] | None:
    """Return the options in the order in which the model scored them; None if that order is
    unknown.
    """
    labels = _read_labels(continuations)
    if len(options) != len(continuations):
        if labels is None:
            return None
        raise doc.error(
            "options do not fit the continuations",
            found=f"{len(options)} options and {len(continuations)} continuations",
            expected="as many of each",
        )
    if (order := TextLadder(options).order(continuations)) is not None:
        return [options[i] for i in order]
    if labels is not None:
        return [options[i] for i in labels]
    scored = list(map(normalised_text, continuations))
    option_texts = list(map(normalised_text, options))
    if all(map(operator.contains, scored, option_texts)):
        return options  # in a sentence around them
    nearest = [_find_nearest(text, option_texts) for text in scored]
    is_order = sorted(nearest) == list(range(len(options)))
    return [options[i] for i in nearest] if is_order else None


def _read_labels(continuations: Sequence[str]) -> list[int] | None:
    """Return the position of the option that each label means, such as A or (1); None for other
    continuations.
    """
    matches = [_LABEL.fullmatch(text.strip()) for text in continuations]
    labels = [match[1].casefold() for match in matches if match is not None]
    if len(labels) < len(continuations) or len(set(labels)) < len(labels):
        return None
    for first in "a01":
        in_order = [chr(ord(first) + i) for i in range(len(labels))]
        if sorted(labels) == in_order:
            return [in_order.index(label) for label in labels]
    return list(range(len(labels)))  # letters of other scripts, or K to N


def _find_nearest(text: str, options: Sequence[str]) -> int:
    """Return the position of the option that shares most pieces of three characters with a text."""
    text_pieces = _pieces(text)
    shares = []
    for option_pieces in map(_pieces, options):
        n_pieces = text_pieces.total() + option_pieces.total()
        n_shared = 2 * (text_pieces & option_pieces).total()
        shares.append(n_shared / max(n_pieces, 1))  # two empty texts have no pieces
    best = max(shares)
    return shares.index(best) if best > 0 and shares.count(best) == 1 else -1


def _pieces(text: str) -> Counter[str]:
    padded = f" {text} "
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def join_documents(
    documents: Sequence[Document], ids: Sequence[str]
) -> list[tuple[Question, list[int]]]:
    """Return the questions of a task's documents, each with the positions of the documents that it
    is from.

    A document is a question; where it is one option and its label, all options of a question are
    one. Either all documents are of labels or none, and only labels give gold. `ids` are those of
    the questions; documents of labels have their own. Equal passages are one object.
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
        options: Sequence[str] = [text for i in members for text in documents[i].options]
        gold, task = None, Task.SINGLE_CHOICE
        if first.is_label:
            name = first.id or str(place)
            n_of_id[name] += 1
            name += f" ({n_of_id[name]})" if n_of_id[name] > 1 else ""
            labels = [documents[i].label for i in members]
            task = Task.MULTIPLE_ANSWER
            if None not in labels:
                gold = frozenset(option for option, label in enumerate(labels) if label)
        new_passage = Passage(f"passage-{len(passages) + 1}", first.passage)
        passage = passages.setdefault(first.passage, new_passage)
        cut = cut_labels(options)
        names, options = cut if isinstance(cut, CutOptions) else ((), options)
        meta = {OPTION_LABELS: names} if name_other_places(names) else {}
        candidates = TextCandidates(options)
        question = Question(name, passage, first.question, candidates, gold, task, meta)
        joined.append((question, members))
    return joined


def conditional_requests(prompts: Sequence[str]) -> list[int]:
    """Return the requests with a prompt; ``acc_mutual_info`` makes one more for each option,
    without it.
    """
    prompted = [i for i, prompt in enumerate(prompts) if prompt]
    return prompted if 2 * len(prompted) == len(prompts) else list(range(len(prompts)))


def says_right(continuation: str) -> bool:
    """Return whether a label says that an option is right: "yes", or a sentence that ends with
    it.
    """
    return normalised_text(continuation).rpartition(" ")[2].strip(".!?\"'") in RIGHT_WORDS


def _is_truth(continuation: str) -> bool:
    return says_right(continuation) or normalised_text(continuation) in WRONG_WORDS


# --------------------------------------------------------------------------------------------------
# Families


def _race_problems(doc: Node) -> Node:
    problems = doc.value["problems"]
    if isinstance(problems, str):
        problems = read_literal(problems)  # as the dataset stores them: the text of a Python list
    if not isinstance(problems, list) or not problems:
        raise doc.error(
            "no list of problems",
            field="problems",
            found=describe_value(doc.value["problems"]),
            expected="a list, or the text of one",
        )
    return doc.at("problems").with_value(problems)


def _read_race(doc: Node) -> _AskedTexts:
    """Read RACE's row for an article: the harness asks the last problem, and tells the answers
    of the others.
    """
    problems = _race_problems(doc)
    last = problems.child(len(problems.value) - 1)
    return doc.text("article"), last.text("question"), last.texts("options")


def _read_labelled(doc: Node, family: _TaskFamily) -> Document:
    """Read a row of one option and its label: MultiRC as SuperGLUE has it, MC-TACO, or what
    ``perturb`` writes.
    """
    target = doc.value["label"]
    if target not in (0, 1, -1, None):
        raise doc.error(
            "invalid label", field="label", found=describe_value(target), expected="0 or 1"
        )
    label = None if target in (-1, None) else bool(target)
    passage, question = doc.text(family.passage), doc.text(family.question)
    place = doc.value.get("idx")
    id_ = str(doc.value.get("id", "")) if family.options == "option" else ""
    if isinstance(place, Mapping) and {"paragraph", "question"} <= place.keys():
        id_ = f"{place['paragraph']}=={place['question']}"
    return Document(
        family.name,
        passage,
        question,
        (doc.text(family.options),),
        is_label=True,
        label=label,
        id=id_,
        group=(id_, passage, question),  # the numbers need not be unique in rows of the user's own
    )


_PASSAGES = (
    "passage context para article text story paragraph document content background dialogue body "
    "support ctx sentence sentences documents contexts plot situation premise sentence1 sent1"
).split()
_QUESTIONS = (
    "question query stem question_text qtext goal problem hypothesis sentence2 prompt q ask sent2 "
    "sentence premise input"
).split()
_OPTIONS = "options choices choice answers endings candidates".split()
"""The usual names of fields, in the order in which they are looked for."""


def _read_any(doc: Node) -> _AskedTexts:
    """Read the passage and the question of a document by the usual names of fields: QuAIL, MMLU
    and many others.
    """
    values = {str(key).lower(): value for key, value in doc.value.items()}
    question_field = next((name for name in _QUESTIONS if isinstance(values.get(name), str)), None)
    texts = (_join_texts(values.get(name)) for name in _PASSAGES if name != question_field)
    return next(filter(None, texts), ""), values[question_field] if question_field else "", None


def _join_texts(value: Any) -> str:
    """Return a text, or the lines of a list of texts such as a dialogue; else an empty text."""
    if isinstance(value, str):
        return value
    return "\n".join(value) if _is_texts(value, 1) else ""


def _find_options(doc: Node, continuations: Sequence[str] | None) -> Sequence[str] | None:
    """Return the list of options of a document, or where the model scored letters, its columns
    of options.
    """
    lists = [doc.value[key] for key in _OPTIONS if _is_texts(doc.value.get(key), 2)]
    if continuations is None:
        return next(iter(lists), None)
    fitting = [texts for texts in lists if len(texts) == len(continuations)]
    is_letters = _read_labels(continuations) is not None
    if fitting or not is_letters:
        return next(iter(fitting), None)
    columns = find_families(key for key, value in doc.value.items() if isinstance(value, str))
    families = [family for family in columns if len(family) == len(continuations)]
    if len(families) != 1:
        return next(iter(lists), None)
    return [doc.value[name] for name in families[0]]


def _find_right(
    family: str | None, doc: Node, options: _Texts, continuations: _Texts
) -> frozenset[int] | None:
    """Return the right options, where the document alone has them: from its own options and the
    continuations.
    """
    are_right: list[bool] = []
    answers = doc.value.get("answers")
    if family == "winogrande":
        are_right = [doc.value.get("answer") == number for number in ("1", "2")]
    elif family == "record" and options and continuations is not None and _is_texts(answers, 1):
        are_right = [option in answers for option in options]
    elif family == "truthfulqa":
        scored = list(map(normalised_text, continuations or ()))
        for targets in ("mc1_targets", "mc2_targets"):  # the second one has several right options
            choices = find_part(doc.value, targets, "choices")
            labels = find_part(doc.value, targets, "labels")
            if not (isinstance(choices, list) and isinstance(labels, list)):
                continue
            if [normalised_text(str(text)) for text in choices] == scored:
                are_right = [label == 1 for label in labels[: len(scored)]]
                break
    return frozenset(i for i, is_right in enumerate(are_right) if is_right) or None


def _find_unread(doc: Node, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the fields whose texts are in none of these texts."""
    folded = list(map(normalised_text, texts))
    unread = []
    for key, value in doc.value.items():
        if isinstance(value, str) and len(value.split()) >= _MIN_WORDS:
            field_text = normalised_text(value)
            if not any(field_text in text for text in folded):
                unread.append(str(key))
    return tuple(unread)


def _is_texts(value: Any, at_least: int) -> bool:
    if not isinstance(value, list) or len(value) < at_least:
        return False
    return all(isinstance(text, str) for text in value)


class _TaskFamily(NamedTuple):
    """A family of tasks whose documents have the same fields: keys, or dotted paths, of texts."""

    name: str | None
    keys: Sequence[str] = ()  # what a document of this form has
    passage: str = ""
    question: str = ""
    options: str = ""  # several texts, or one list; without them the options are the continuations
    has_own_fields: bool = True  # otherwise the usual names of fields are looked for
    is_in_prompt: bool = (
        False  # whether the options are in the prompts, and the continuation is the same for all
    )
    is_label: bool = False  # whether a document is one option, which is right or wrong by itself
    needs_words: bool = False  # whether the continuations must be yes and no

    def fits(self, doc: Node, continuations: Sequence[str] | None) -> bool:
        """Return whether a document is one of this family."""
        holder, dot, _ = self.options.rpartition(".")
        if not doc.value.keys() >= {*self.keys}:
            return False
        if dot and not isinstance(doc.value[holder], Mapping):
            return False
        return not self.needs_words or sum(map(_is_truth, continuations or ())) == 2

    def ask(self, doc: Node) -> _AskedTexts:
        """Return what a document asks."""
        if not self.has_own_fields:
            return _read_any(doc)
        if self.name == "race":
            return _read_race(doc)
        names = self.options.split()
        options: Sequence[str] | None = None
        if len(names) == 1:
            holder, _, key = names[0].rpartition(".")
            options = (doc.child(holder) if holder else doc).texts(key)
        elif names:
            options = [doc.text(name) for name in names]
        passage = doc.text(self.passage) if self.passage else ""
        question = doc.text(self.question) if self.question else ""
        return passage, question, options


_UNKNOWN = _TaskFamily(None, has_own_fields=False)

_FAMILIES = [_TaskFamily(**declared) for declared in read_declarations("families.toml")["family"]]
"""The families; the first that fits a document is its own."""
