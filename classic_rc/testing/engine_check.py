"""The checks that every search engine must pass."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator

import numpy as np

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.retrieval.base import Engine
from classic_rc.retrieval.reading import ProgressCallback, TextBlock, TextInput

_SENTENCES = (
    "A fox dug a den under the old oak.",
    "The oak lost its leaves in autumn.",
    "Foxes sleep by day.",
    "The and of.",
    "",
    "A fox dug a den under the old oak.",
    "Leaves, leaves, leaves!",
)
_QUESTIONS = ("Which animal lived under the oak?", "the of", "When do leaves fall?")
_OPTIONS = (("a fox", "a zebra", "autumn", "the", ""), ("fox",), ())


def check_engine(engine_type: type[Engine], new_place: Callable[[], str] | None = None) -> None:
    """Check that an engine keeps the contract of the Engine interface.

    Parameters
    ----------
    engine_type : type
        A subclass of :class:`~classic_rc.retrieval.base.Engine`. Its default analyzer must drop
        English stop words and stem.
    new_place : callable, optional
        Returns a new place each time, for an engine that stores indexes: a path, or the name of an
        index.

    Raises
    ------
    AssertionError
        A check fails. The message describes the problem.

    Examples
    --------
    >>> from classic_rc.retrieval import engine_class
    >>> check_engine(engine_class("sparse"))
    """
    name = engine_type.name
    assert re.fullmatch(r"[\w.+-]+", name), (
        f"{name!r}: a name may have only letters, digits and . _ + -"
    )
    assert engine_type.description, f"{name}: the description is missing"
    assert engine_type.citation, f"{name}: the citation is missing"
    assert not engine_type.needs_place or engine_type.stored_as, (
        f"{name}: needs_place without stored_as"
    )

    def make() -> Engine:
        if engine_type.needs_place and new_place:
            return engine_type(place=new_place())
        return engine_type()

    engine = make()
    assert engine.index(iter(_SENTENCES)) is engine, f"{name}: index must return the engine"
    _check_searches(engine)
    _check_explanations(engine)
    if not engine_type.needs_place:
        _check_passages(engine)
        rest = engine.without([0])
        assert rest.n_sentences == len(_SENTENCES), (
            f"{name}: without must keep the numbers of sentences"
        )
        assert 0 not in rest.top(["fox"])[0][0], f"{name}: without must leave the sentence out"
        assert 0 in engine.top(["fox"])[0][0], f"{name}: without must not change the engine"
        plain = Engine.without(engine, [0])
        for ours, theirs in zip(rest.top(_SENTENCES), plain.top(_SENTENCES), strict=True):
            is_same = [array.tolist() for array in ours] == [array.tolist() for array in theirs]
            assert is_same, f"{name}: without must score like an index of the remaining sentences"
    empty = make().index([])
    assert (empty.n_sentences, len(empty.top(["fox"]))) == (0, 1), f"{name}: an index may be empty"
    assert empty.best_constrained(["fox"], [["oak"]]).sentences.tolist() == [-1], (
        f"{name}: nothing is found in it"
    )
    if engine_type.stored_as and new_place is not None:
        _check_stored(engine_type, new_place())


def _check_searches(engine: Engine) -> None:
    name = engine.name
    assert engine.n_sentences == len(_SENTENCES), f"{name}: sentences without a term count, too"
    texts = [engine.sentence(number) for number in range(len(_SENTENCES))]
    assert texts == list(_SENTENCES), f"{name}: sentences must come back unchanged, in their order"
    assert list(engine.sentences()) == texts, f"{name}: all sentences at once must be the same"
    for number in (-1, len(_SENTENCES)):
        for look in (engine.sentence, lambda number: engine.term_facts("fox", number)):
            try:
                look(number)
            except IndexError:
                continue
            raise AssertionError(f"{name}: sentence {number} must raise IndexError")
    hits = engine.top(["fox den", "zebra", "leaves", ""])
    types = hits.sentences.dtype, hits.scores.dtype
    assert types == (np.int64, np.float32), (
        f"{name}: sentences must be int64 and scores float32, got {types}"
    )
    sentence_hits = [(numbers.tolist(), scores) for numbers, scores in hits]
    sorted_numbers = [sorted(numbers) for numbers, _ in sentence_hits]
    assert sorted_numbers == [[0, 2, 5], [], [1, 6], []], f"{name}: other hits"
    for numbers, scores in sentence_hits:
        pairs = list(zip((-scores).tolist(), numbers, strict=True))
        assert pairs == sorted(pairs), f"{name}: hits must go by descending score, then by number"
    assert len(engine.top(["fox den"], k=1).sentences) == 1, f"{name}: k limits the hits"
    best = engine.best_constrained(_QUESTIONS, _OPTIONS)
    assert best.offsets.tolist() == [0, 5, 6, 6], f"{name}: wrong offsets of options"
    assert best.found.tolist() == [True, False, True, False, False, False], (
        f"{name}: wrong sentences found"
    )
    assert best.sentences[0] in (0, 5), f"{name}: another sentence about the fox"
    assert best.sentences[2] == 1, f"{name}: another sentence about autumn"
    assert not best.scores[~best.found].any(), f"{name}: a score without a sentence must be 0"
    depth = len(_SENTENCES)
    among = engine.best_among_top(_QUESTIONS, _OPTIONS, depth, engine.analyzer)
    assert among.sentences.tolist() == best.sentences.tolist(), (
        f"{name}: the best among all hits must be the best"
    )
    queries: list[str] = []
    for question, options in zip(_QUESTIONS, _OPTIONS, strict=True):
        queries += [f"{question} {option}" for option in options]
    for number, score, query in zip(
        best.sentences.tolist(), best.scores.tolist(), queries, strict=True
    ):
        numbers, scores = engine.top([query])[0]
        score_of = dict(zip(numbers.tolist(), scores.tolist(), strict=True))
        assert number < 0 or score_of[number] == score, (
            f"{name}: the score must belong to question and option"
        )


def _check_explanations(engine: Engine) -> None:
    query = "The old bears and the fox's old dens"
    numbers, scores = engine.top([query])[0]
    for number, score in zip(numbers.tolist(), scores.tolist(), strict=True):
        terms = engine.term_facts(query, number).terms
        total = sum(fact.share for fact in terms)
        assert not terms or np.isclose(total, score, rtol=1e-5), (
            f"{engine.name}: shares must sum to the score"
        )
        order = [fact.term for fact in terms]
        expected = [term for term in ("old", "fox", "den") if term in order]
        assert order == expected, f"{engine.name}: terms must be in the order of the query"
    assert engine.term_facts("zebra the", 0).terms == [], (
        f"{engine.name}: only terms of the sentence are explained"
    )


def _check_passages(engine: Engine) -> None:
    texts = " ".join(_SENTENCES[:3]), "An oak has leaves. A fox sleeps.", ""
    passages = [Passage(str(number), text) for number, text in enumerate(texts)]
    texts_with_options = zip(_QUESTIONS, _OPTIONS, strict=True)
    questions = []
    pairs = itertools.product(passages, texts_with_options)
    for number, (passage, (text, options)) in enumerate(pairs):
        candidates = tuple(map(Candidate, options))
        question = Question(str(number), passage, text, candidates, None, Task.SINGLE_CHOICE)
        questions.append(question)
    ours, plain = engine.best_in_passages(questions), Engine.best_in_passages(engine, questions)
    for attribute in ("sentences", "scores", "offsets"):
        message = (
            f"{engine.name}: the best sentences of passages must be those of an engine over each "
            "passage"
        )
        assert getattr(ours, attribute).tolist() == getattr(plain, attribute).tolist(), message
    assert engine.n_sentences == len(_SENTENCES), (
        f"{engine.name}: searches of passages must not change the engine"
    )


def _check_stored(engine_type: type[Engine], place: str) -> None:
    name = engine_type.name
    report = engine_type.build([_SentenceLines()], place)
    assert os.fspath(place) in report.summary, f"{name}: the report of a build must name its place"
    opened = engine_type.open(place)
    _check_searches(opened)
    assert opened.fingerprint == engine_type.open(place).fingerprint, (
        f"{name}: the fingerprint must not change"
    )
    for number in range(opened.n_sentences):
        assert opened.source(number), f"{name}: sentence {number} must have a source"
    assert place in engine_type.check(place), f"{name}: the report of a check must name the place"


class _SentenceLines(TextInput):
    """The sentences as the lines of an input."""

    name, size = "lines", None

    def blocks(self, advance: ProgressCallback) -> Iterator[TextBlock]:
        yield TextBlock(list(_SENTENCES), np.arange(1, len(_SENTENCES) + 1), {})
