"""Safe repairs of a dataset: they change form and order, and never write text of their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from classic_rc.commands.check.annotators import reorder_votes
from classic_rc.commands.check.audit import CheckReport
from classic_rc.commands.check.duplicates import OTHER_GOLD, paired_ids
from classic_rc.commands.check.families import FIELD_NAME
from classic_rc.equality import normalised_text, option_forms
from classic_rc.folds import find_overlap
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.questions import (
    Dataset,
    Passage,
    Question,
    Task,
    TextCandidates,
    candidate_texts,
)

PROVENANCE = ".repairs.json"
"""The suffix of the file next to a repaired copy that says what was done."""

_QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
)
_BLANKS = re.compile(r"\s+")
_REFERS = re.compile(
    r"(?i)\b(above|below|both|neither|(?:options?|answers?) [a-h1-9]\b|[A-H] and [A-H])"
)
"""Options that may refer to other options: their questions keep the order of options."""


@dataclass(frozen=True)
class Repairs:
    """A repaired copy, and what was done."""

    dataset: Dataset
    # each repair in words, and how many questions it changed or removed
    done: tuple[tuple[str, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: the provenance of the copy."""
        return {"repairs": [{"repair": what, "questions": count} for what, count in self.done]}


def mend_dataset(report: CheckReport, *, train: Dataset | None = None, seed: int = 0) -> Repairs:
    """Repair what a program can repair.

    Blanks, quotes and invisible characters of options become equal; exact copies of questions are
    removed, if gold agrees, and questions that training data has too; fields and ids that a cue
    names are removed or written anew; and options are shuffled, unless one may refer to the others.

    Parameters
    ----------
    report : CheckReport
        The report on the dataset; its cues name the fields that leak.
    train : Dataset, optional
    seed : int
        Of the shuffle.

    Returns
    -------
    Repairs
    """
    questions = list(report.dataset)
    done = []
    for what, repair in (
        ("blanks, quotes and invisible characters of options made equal", _normalise),
        ("exact copies removed", _without_copies),
    ):
        changed = repair(questions)
        done.append((what, _count_changes(questions, changed)))
        questions = changed
    if train is not None:
        remaining = replace(report.dataset, questions=questions, read_with=None, parts=())
        shared = find_overlap(remaining, train).affected
        other_gold = shared & paired_ids(report.defects, OTHER_GOLD)
        done += [
            ("left out because training data has them", len(shared - other_gold)),
            ("left out, and their gold is wrong here or in training data", len(other_gold)),
        ]
        questions = [q for q in questions if q.id not in shared]
    names = {*report.leaking_fields}
    for cue in report.cues:
        names.update(FIELD_NAME.findall(cue.name))
    shuffled = _shuffle(questions, seed, has_votes=report.annotators is not None)
    done.append((f"options shuffled (seed {seed})", _count_changes(questions, shuffled)))
    questions = shuffled
    if names:
        removed = _without_fields(questions, names)
        done.append(
            (
                f"leaking fields removed: {', '.join(sorted(names))}",
                _count_changes(questions, removed),
            )
        )
        questions = removed
    mended = replace(
        report.dataset,
        questions=questions,
        name=f"{report.dataset.name} (mended)",
        read_with=None,
        parts=(),
        log=None,
    )
    return Repairs(mended, tuple((what, count) for what, count in done if count))


def _count_changes(before: Sequence[Question], after: Sequence[Question]) -> int:
    if len(before) != len(after):
        return len(before) - len(after)
    return sum(a is not b for a, b in zip(before, after, strict=True))


def clean_text(text: str) -> str:
    """Return a text with plain quotes and single blanks, without invisible characters."""
    visible = "".join(filter(_is_visible, text))
    return _BLANKS.sub(" ", visible.translate(_QUOTES)).strip()


def _is_visible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in ("Cf", "Cc", "Co")


def _normalise(questions: Sequence[Question]) -> list[Question]:
    normalised = []
    for q in questions:
        texts = candidate_texts(q.candidates) if q.task.has_choices else ()
        cleaned = [clean_text(text) or text for text in texts]
        if cleaned != list(texts):
            q = replace(q, candidates=TextCandidates(cleaned))
        normalised.append(q)
    return normalised


def _without_copies(questions: Sequence[Question]) -> list[Question]:
    """Drop questions that repeat an earlier one about an equal passage, with equal options and
    the same gold.
    """
    seen: set[tuple[Any, ...]] = set()
    originals = []
    for q in questions:
        if q.task.has_choices:
            forms = option_forms(candidate_texts(q.candidates))
            gold = [text for i, text in enumerate(forms) if i in (q.gold or ())]
        else:
            forms = gold = option_forms(q.gold_texts)
        texts = normalised_text(q.passage.text), normalised_text(q.text)
        key = (*texts, tuple(sorted(forms)), tuple(sorted(gold)))
        if key not in seen or q.gold is None:
            originals.append(q)
        seen.add(key)
    return originals


def _shuffle(questions: Sequence[Question], seed: int, *, has_votes: bool) -> list[Question]:
    keys = text_keys(q.id for q in questions)
    sizes = [len(q.candidates) if q.task.has_choices else 0 for q in questions]
    counts = np.array(sizes, dtype=np.int64)
    draws = uniform_draws(keys, counts, seed)
    starts = np.cumsum(counts) - counts
    shuffled = []
    for q, start, count in zip(questions, starts.tolist(), sizes, strict=True):
        texts = candidate_texts(q.candidates)
        has_order = q.task in (Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER)
        if has_order and not any(map(_REFERS.search, texts)):
            order = np.argsort(draws[start : start + count], kind="stable").tolist()
            gold = q.gold
            if gold is not None:
                gold = frozenset(order.index(i) for i in gold if isinstance(i, int))
            meta = dict(q.meta)
            for key, value in meta.items():
                # a field with one entry an option has the new order too
                if isinstance(value, list | tuple) and len(value) == count:
                    meta[key] = [value[i] for i in order]
            if has_votes:
                meta = reorder_votes(meta, order)
            candidates = TextCandidates(texts[i] for i in order)
            q = replace(q, candidates=candidates, gold=gold, meta=meta)
        shuffled.append(q)
    return shuffled


def _without_fields(questions: Sequence[Question], names: Iterable[str]) -> list[Question]:
    """Drop fields, by the first part of their names; ids become numbers."""
    roots = {name.partition(".")[0] for name in names}
    passages: dict[int, Passage] = {}
    result = []
    for number, q in enumerate(questions, 1):
        if id(q.passage) not in passages:
            passage_meta = {key: value for key, value in q.passage.meta.items() if key not in roots}
            passage_id = f"passage-{len(passages) + 1}" if "passage id" in roots else q.passage.id
            passages[id(q.passage)] = replace(q.passage, id=passage_id, meta=passage_meta)
        meta = {key: value for key, value in q.meta.items() if key not in roots}
        id_ = f"question-{number}" if "id" in roots else q.id
        result.append(replace(q, id=id_, meta=meta, passage=passages[id(q.passage)]))
    return result
