"""Defects of gold spans: no candidate of the package, inside a word, or at several places."""

from __future__ import annotations

import re
from collections.abc import Iterator

from classic_rc.commands.check.span_views import gold_places, is_answerable
from classic_rc.questions import Dataset, Question, Task
from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.languages import dataset_language
from classic_rc.text.scorers import scorer_of
from classic_rc.text.spans import SpanGenerator

_IN_WORD = re.compile(r"[^\W_]{2}")


def find_span_defects(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the kinds of defects of gold spans, each with the id of the question."""
    if dataset.task is None or not dataset.task.has_spans:
        return
    language = dataset_language(dataset)
    generate = SpanGenerator.of_language(language)
    word = get_tokenizer(language.segmenter)
    by_passage: dict[int, list[Question]] = {}
    for question in dataset:
        if is_answerable(question):
            by_passage.setdefault(id(question.passage), []).append(question)
    for questions in by_passage.values():
        passage = questions[0].passage
        texts = set(generate(passage).texts())
        normalised: dict[str, set[str]] = {}  # by scorer
        cuts: set[int] | None = None
        for question in questions:
            gold = question.gold_texts
            # what is not in the passage is a defect of its own
            sought = [text for text in gold if text in passage.text]
            enough = all if question.task is Task.MULTI_SPAN else any
            if sought and not enough(text in texts for text in sought):
                scorer = scorer_of(question)
                if scorer.name not in normalised:
                    normalised[scorer.name] = {*map(scorer.normalise, texts)}
                if not enough(scorer.normalise(text) in normalised[scorer.name] for text in sought):
                    yield "gold-no-candidate", question.id
            places = gold_places(question)
            if not places and any(text and passage.text.count(text) > 1 for text in gold):
                yield "gold-several-times", question.id
            ends = {end for place in places for end in place}
            suspected = {i for i in ends if i and _IN_WORD.match(passage.text, i - 1)}
            if suspected and cuts is None:
                tokens = word.locate(passage.text)
                cuts = {i for start, end in tokens for i in range(start + 1, end)}
            if suspected and cuts is not None and not suspected.isdisjoint(cuts):
                yield "gold-in-word", question.id
