"""Copies of questions: each question with the most similar one that it repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from classic_rc.commands.check.near_questions import (
    HALF_OF_OPTIONS,
    near_options,
    near_questions,
)
from classic_rc.commands.check.question_table import EQUAL_CONTENT, QuestionTable, pair_of
from classic_rc.commands.check.similar_passages import Copy


def find_question_copies(table: QuestionTable) -> Iterator[Copy]:
    """Yield each question with the most similar one, by kind; only the first kind that applies."""
    best = {(copy.kind, copy.number): copy for copy in _equal_questions(table)}
    for search in (near_questions, near_options):
        paired = {(kind.endswith("in-train"), number) for kind, number in best}
        for copy in search(table):
            key = copy.kind, copy.number
            is_new = (copy.kind.endswith("in-train"), copy.number) not in paired
            if is_new or copy.kind.startswith("gold-differs-"):
                similarity = best[key].similarity if key in best else 0.0
                if similarity < copy.similarity:
                    best[key] = copy
    passage = table.equal_passage
    for copy in sorted(best.values(), key=lambda copy: copy.number):
        near = copy.kind.replace("gold-differs", "question-nearly")
        nearest = best.get((near, copy.number), copy)
        if (
            nearest.similarity > copy.similarity
            and passage[nearest.partner] == passage[copy.partner]
        ):
            continue  # of the questions about this passage, another one is the copy
        yield copy._replace(kind=copy.kind.replace("differs-repeated", "differs"))


def _equal_questions(table: QuestionTable) -> Iterator[Copy]:
    """Yield the questions that are equal to an earlier one or to one in training data, with an
    equal passage or equal options.
    """
    counts = np.bincount(table.text, minlength=len(table.text))
    repeated = np.flatnonzero((counts[table.text] > 1) & (table.text < table.n_dataset))
    in_dataset = repeated < table.n_dataset
    dataset_questions = repeated[in_dataset].tolist()
    train_questions = repeated[~in_dataset].tolist()
    yield from _equal_to_earlier(table, dataset_questions, "repeated", "reused")
    numbers = [*train_questions, *dataset_questions]
    yield from _equal_to_earlier(table, numbers, "in-train", "in-train")


def _equal_to_earlier(
    table: QuestionTable, numbers: Sequence[int], place: str, elsewhere: str
) -> Iterator[Copy]:
    """Yield the questions of the dataset that are equal to an earlier one of `numbers`.

    Kinds end with `place` for copies about the same passage, with `elsewhere` for those that only
    have the same options.
    """
    about: dict[tuple[int, int], list[int]] = {}
    first_with_options: dict[tuple[int, tuple[str, ...]], int] = {}
    for i in numbers:
        text, options = int(table.text[i]), table.option_key(i)
        earlier = about.setdefault((text, int(table.equal_passage[i])), [])
        if i < table.n_dataset:
            agreeing = (j for j in earlier if _agree(table, i, j))
            partner = next(agreeing, None)
            if partner is not None and table.has_other_gold(i, partner):
                yield Copy(f"gold-differs-{place}", i, partner, 1.0)
                if place == "in-train":  # answers can be looked up where gold agrees
                    with_gold = (j for j in agreeing if not table.has_other_gold(i, j))
                    partner = next(with_gold, None)
            reused = first_with_options.get((text, options))
            if partner is not None:
                yield Copy(f"question-{place}", i, partner, 1.0)
            elif options and reused is not None and _is_specific(table, i, reused):
                yield Copy(f"question-{elsewhere}", i, reused, 1.0)
        if i >= table.n_dataset or place == "repeated":
            earlier.append(i)
            first_with_options.setdefault((text, options), i)


def _agree(table: QuestionTable, first: int, second: int) -> bool:
    """Return whether equal questions share half of their options or words; else they are
    different items.
    """
    if not table.has_options[first]:
        return True
    pair = pair_of(first, second)
    shared = table.options.shared_sizes(*pair)
    return bool(table.have_similar_options(pair, shared, HALF_OF_OPTIONS)[0])


def _is_specific(table: QuestionTable, first: int, second: int) -> bool:
    """Return whether an equal question with equal options about another passage identifies a
    source.
    """
    if table.is_template[first] or table.has_other_gold(first, second):
        return False
    pair = pair_of(first, second)
    in_text, in_options = (bags.shared_content(*pair) for bags in (table.words, table.options))
    return int(in_text[0]) + int(in_options[0]) >= EQUAL_CONTENT
