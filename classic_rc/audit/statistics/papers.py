"""The tables of statistics that papers print about their datasets, with each paper's own definitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from classic_rc.audit.statistics.measures import (
    AnalyzerCounter,
    DatasetContents,
    MeasuredValues,
    Statistic,
    TokenCounter,
    Vocabulary,
    candidates_per_question,
    gold_per_question,
    n_passages,
    n_questions,
    sentences_per_passage,
    tokens_per_candidate,
    tokens_per_passage,
    tokens_per_question,
)
from classic_rc.questions import Question, normalised_text
from classic_rc.text.treebank import TreebankCounter

PublishedValue: TypeAlias = "float | tuple[float, float]"
"""A count, a mean or a share in percent; a pair if the paper also prints the standard deviation."""


@dataclass(frozen=True)
class PaperRow(Statistic):
    """A statistic as a paper defines it."""

    published: Mapping[str, PublishedValue] = field(
        default_factory=dict
    )  # the paper's figures by column, as printed
    split: str | None = None  # the only split that it counts


@dataclass(frozen=True)
class PaperTable:
    """The definition of a paper's own table."""

    title: str
    datasets: tuple[str, ...]  # its datasets, by the names of `official_parts`
    columns: tuple[str, ...]
    column_of: Callable[[str, str | None, Question], str | None]  # from dataset, split and question
    counter: Callable[[], TokenCounter]  # makes the token counter
    rows: tuple[PaperRow, ...]
    notes: tuple[str, ...] = ()  # facts for a comparison, such as why our figures differ
    total: str | None = None  # the heading of a last column of all questions
    splits: tuple[str, ...] = ("train", "dev", "test")  # the splits that the paper's figures cover


# MCTest ---------------------------------------------------------------------------------------------------------

_MCTEST = PaperTable(
    "MCTest, Table 3 (Richardson, Burges and Renshaw 2013)",
    ("MC160", "MC500"),
    ("MC160", "MC500"),
    lambda dataset, split, question: dataset,
    lambda: AnalyzerCounter("whitespace"),
    (
        PaperRow("stories", "story texts", n_passages, published={"MC160": 160, "MC500": 500}),
        PaperRow(
            "words a story", "whitespace-separated", tokens_per_passage, 0, published={"MC160": 204, "MC500": 212}
        ),
        PaperRow(
            "words a question",
            "whitespace-separated, without the prefix one: or multiple:",
            tokens_per_question,
            published={"MC160": 8.0, "MC500": 7.7},
        ),
        PaperRow(
            "words an answer",
            "whitespace-separated, of all four options",
            tokens_per_candidate,
            published={"MC160": 3.4, "MC500": 3.4},
        ),
    ),
    ("The paper does not define a word; whitespace-separated words come closest to its figures.",),
)


# RACE -----------------------------------------------------------------------------------------------------------


def race_passage_length(contents: DatasetContents) -> MeasuredValues:
    """Count the spaces between an article's Treebank tokens, one less than the tokens (released preprocess.py)."""
    return MeasuredValues(contents.passages.lengths - 1)


def race_question_length(contents: DatasetContents) -> MeasuredValues:
    """Count the spaces between a question's Treebank tokens (released preprocess.py)."""
    return MeasuredValues(contents.questions.lengths - 1)


def race_option_length(contents: DatasetContents) -> MeasuredValues:
    """Count the spaces between an option's Treebank tokens (released preprocess.py)."""
    return MeasuredValues(contents.candidates.lengths - 1)


def race_vocabulary(contents: DatasetContents) -> Vocabulary:
    """Collect the distinct lower-cased Treebank tokens."""
    return Vocabulary(frozenset(token.lower() for token in contents.vocabulary))


def _published_in(*names: str) -> Callable[..., dict[str, PublishedValue]]:
    """Return a function that assigns figures to these columns, in order."""
    return lambda *figures: dict(zip(names, figures, strict=False))


_RACE = _published_in("RACE-M", "RACE-H", "RACE")
_LEVELS = {"middle": "RACE-M", "high": "RACE-H"}

_RACE_TABLE = PaperTable(
    "RACE, Tables 2 and 3 (Lai, Xie, Liu, Yang and Hovy 2017)",
    ("RACE",),
    ("RACE-M", "RACE-H"),
    lambda dataset, split, question: _LEVELS.get(str(question.meta_value("level"))),
    TreebankCounter,
    (
        PaperRow("questions, train", "Table 2", n_questions, published=_RACE(25421, 62445), split="train"),
        PaperRow("questions, dev", "Table 2", n_questions, published=_RACE(1436, 3451), split="dev"),
        PaperRow("questions, test", "Table 2", n_questions, published=_RACE(1436, 3498), split="test"),
        PaperRow(
            "passage length",
            "spaces between Treebank tokens: one less than the tokens",
            race_passage_length,
            published=_RACE(231.1, 353.1, 321.9),
        ),
        PaperRow(
            "question length",
            "spaces between Treebank tokens",
            race_question_length,
            published=_RACE(9.0, 10.4, 10.0),
        ),
        PaperRow(
            "option length", "spaces between Treebank tokens", race_option_length, published=_RACE(3.9, 5.8, 5.3)
        ),
        PaperRow(
            "vocabulary",
            "distinct tokens in lower case",
            race_vocabulary,
            published=_RACE(32811, 125120, 136629),
        ),
    ),
    (
        "The paper's lengths count the spaces between tokens, not the tokens, as its released preprocessing does; "
        "sentences are this package's, not Punkt's, which needs a download. Vocabularies depend on nltk's version.",
    ),
    total="RACE",
)


# MultiRC --------------------------------------------------------------------------------------------------------


def used_sentences(contents: DatasetContents) -> MeasuredValues:
    """Count the sentences that each question needs, as annotated."""
    return MeasuredValues(
        np.array([len(q.meta["sentences_used"]) for q in _questions_with_sentences(contents)], dtype=np.int64)
    )


def sentence_distance(contents: DatasetContents) -> MeasuredValues:
    """Return the distances from one needed sentence to the next: 1 for neighbours."""
    gaps = [np.diff(sorted(q.meta["sentences_used"])) for q in _questions_with_sentences(contents)]
    return MeasuredValues(np.concatenate([np.empty(0, dtype=np.int64), *gaps]))


def _questions_with_sentences(contents: DatasetContents) -> list[Question]:
    return [question for question in contents.dataset if question.meta.get("sentences_used")]


def correct_verbatim(contents: DatasetContents) -> MeasuredValues:
    """Return whether the paragraph contains each right option, ignoring case."""
    return _options_verbatim(contents, right=True)


def incorrect_verbatim(contents: DatasetContents) -> MeasuredValues:
    """Return whether the paragraph contains each wrong option, ignoring case."""
    return _options_verbatim(contents, right=False)


def _options_verbatim(contents: DatasetContents, right: bool) -> MeasuredValues:
    passages = contents.lowered_passages
    verbatim = [
        normalised_text(candidate.text) in passages[id(q.passage)]
        for q in contents.dataset
        if q.gold is not None
        for i, candidate in enumerate(q.candidates)
        if (i in q.gold) is right
    ]
    return MeasuredValues(np.array(verbatim, dtype=np.bool_))


_MULTIRC = _published_in("MultiRC")

_MULTIRC_TABLE = PaperTable(
    "MultiRC, Table 2 (Khashabi, Chaturvedi, Roth, Upadhyay and Roth 2018)",
    ("MultiRC",),
    ("MultiRC",),
    lambda dataset, split, question: "MultiRC",
    lambda: AnalyzerCounter("whitespace"),
    (
        PaperRow(
            "tokens a paragraph",
            "whitespace-separated, without the sentence marks",
            tokens_per_passage,
            published=_MULTIRC((263.1, 92.4)),
        ),
        PaperRow("sentences a paragraph", "as marked", sentences_per_passage, published=_MULTIRC((14.3, 4.1))),
        PaperRow("tokens a question", "whitespace-separated", tokens_per_question, published=_MULTIRC((10.9, 4.8))),
        PaperRow("tokens an option", "whitespace-separated", tokens_per_candidate, published=_MULTIRC((4.7, 5.5))),
        PaperRow("sentences used", "needed, as annotated", used_sentences, 2, published=_MULTIRC((2.37, 0.63))),
        PaperRow(
            "distance between them",
            "steps from one needed sentence to the next",
            sentence_distance,
            2,
            published=_MULTIRC((2.4, 2.58)),
        ),
        PaperRow("options a question", "all", candidates_per_question, 2, published=_MULTIRC(5.44)),
        PaperRow("right options a question", "may be 0", gold_per_question, 2, published=_MULTIRC(2.58)),
        PaperRow(
            "right options verbatim %",
            "in the paragraph, in lower case",
            correct_verbatim,
            2,
            True,
            published=_MULTIRC(34.96),
        ),
        PaperRow(
            "wrong options verbatim %",
            "in the paragraph, in lower case",
            incorrect_verbatim,
            2,
            True,
            published=_MULTIRC(25.84),
        ),
    ),
    (
        "The paper's numbers of options differ from the release's. It does not define distance "
        "or verbatim; no rule tried gives its share of yes/no questions (27.57 %), which is left out.",
    ),
)


# ReCoRD ---------------------------------------------------------------------------------------------------------


def record_entities(contents: DatasetContents) -> MeasuredValues:
    """Count the entity mentions of each passage, including repeated names."""
    mentions = {id(q.passage): len(q.candidates) for q in contents.dataset}
    return MeasuredValues(np.array(list(mentions.values()), dtype=np.int64))


_SPLITS = _published_in("train", "dev", "test")

_RECORD_TABLE = PaperTable(
    "ReCoRD, Table 1 (Zhang, Liu, Liu, Gao, Duh and Van Durme 2018)",
    ("ReCoRD",),
    ("train", "dev", "test", "other"),
    lambda dataset, split, question: split if split in ("train", "dev", "test") else "other",
    lambda: AnalyzerCounter("whitespace"),
    (
        PaperRow("queries", "all", n_questions, published=_SPLITS(100730, 10000, 10000)),
        PaperRow("unique passages", "with a query", n_passages, published=_SPLITS(65709, 7133, 7279)),
        PaperRow(
            "tokens a passage",
            "whitespace-separated, including highlights",
            tokens_per_passage,
            published=_SPLITS(169.5, 168.6, 168.1),
        ),
        PaperRow("entities a passage", "mentions", record_entities, published=_SPLITS(17.8, 17.5, 17.3)),
        PaperRow(
            "tokens a query", "whitespace-separated", tokens_per_question, published=_SPLITS(21.3, 22.1, 22.2)
        ),
    ),
    ("The paper does not define a token; here tokens are whitespace-separated.",),
    splits=(),
)


# Quoref ---------------------------------------------------------------------------------------------------------

_QUOREF_TABLE = PaperTable(
    "Quoref, sizes (Dasigi, Liu, Marasović, Smith and Gardner 2019; figures from secondary transcriptions)",
    ("Quoref",),
    ("train", "dev", "test", "other"),
    lambda dataset, split, question: split if split in ("train", "dev", "test") else "other",
    lambda: AnalyzerCounter("whitespace"),
    (
        PaperRow("questions", "all", n_questions, published=_SPLITS(19399, 2418, 2537)),
        PaperRow("paragraphs", "with a question", n_passages, published=_SPLITS(3771, 454, 477)),
    ),
    splits=(),
)

PAPER_TABLES: tuple[PaperTable, ...] = (_MCTEST, _RACE_TABLE, _MULTIRC_TABLE, _RECORD_TABLE, _QUOREF_TABLE)
