"""The solvers by name, and the ones that run on each task by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from classic_rc.plugins import Registry, accept_classes
from classic_rc.questions import Task


@dataclass(frozen=True)
class SolverEntry:
    """A solver's entry in the registry: what lists show without importing its class."""

    home: str  # "module:Class"
    description: str  # the class's `description` too
    variants: tuple[str, ...] = ()  # names of the class's variants


SOLVER_ENTRIES: Mapping[str, SolverEntry] = {
    "random": SolverEntry("classic_rc.solvers.trivial:Random", "chance level, in expectation"),
    "all-positive": SolverEntry(
        "classic_rc.solvers.trivial:AllPositive", "every candidate is right"
    ),
    "all-negative": SolverEntry("classic_rc.solvers.trivial:AllNegative", "no candidate is right"),
    "constant-position": SolverEntry(
        "classic_rc.solvers.trivial:ConstantPosition",
        "always the candidate at one position",
        ("first", "last", "majority"),
    ),
    "majority": SolverEntry(
        "classic_rc.solvers.trivial:Majority",
        "the candidate whose text is right most often in the training data",
    ),
    "no-answer": SolverEntry(
        "classic_rc.solvers.trivial:NoAnswer",
        "always the empty answer, for data in which some questions have none",
    ),
    "longest": SolverEntry(
        "classic_rc.solvers.trivial:LongestCandidate", "the candidate with the longest text"
    ),
    "shortest": SolverEntry(
        "classic_rc.solvers.trivial:ShortestCandidate", "the candidate with the shortest text"
    ),
    "max-frequency": SolverEntry(
        "classic_rc.solvers.cloze:MaximumFrequency",
        "the candidate that the passage names most often",
    ),
    "exclusive-frequency": SolverEntry(
        "classic_rc.solvers.cloze:ExclusiveFrequency",
        "the candidate that the passage names most often and the query does not",
    ),
    "cloze-distance": SolverEntry(
        "classic_rc.solvers.cloze:ClozeDistance",
        "how far query words are from their expected positions around the candidate's best mention",
        ("hermann2015", "hill2015"),
    ),
    "cloze-window": SolverEntry(
        "classic_rc.solvers.cloze:ClozeWindow",
        "the best position-by-position match of the completed query with the passage",
        ("hill2015",),
    ),
    "sliding-window": SolverEntry(
        "classic_rc.solvers.sliding:SlidingWindow",
        "the passage window with the most weight of question and candidate words",
        ("mctest", "richardson2013", "mcobzarenco", "dream", "race"),
    ),
    "word-distance": SolverEntry(
        "classic_rc.solvers.sliding:WordDistance",
        "how close the question's words are to the candidate's words in the passage",
        ("mctest", "richardson2013", "mcobzarenco", "dream"),
    ),
    "sw+d": SolverEntry(
        "classic_rc.solvers.sliding:SlidingWindowDistance",
        "sliding window minus a multiple of the word distance",
        ("mctest160", "mctest500", "richardson2013", "mcobzarenco", "dream"),
    ),
    "lexical": SolverEntry(
        "classic_rc.solvers.lexical.solver:LexicalMatcher",
        "a weighted sum of windows, word distance, bag of words and best sentences",
        ("smith2015", "smith2015-mc500", "smith2015-raw", "smith2015-raw-mc500"),
    ),
    "ir": SolverEntry(
        "classic_rc.solvers.ir:IRSolver",
        "a search engine's score of the best sentence about both question and candidate",
        ("passage", "paragraphs", "multirc2018", "clark2016"),
    ),
    "surface-lr": SolverEntry(
        "classic_rc.solvers.surface.solver:SurfaceLR",
        "logistic regression on lengths, shared words, words, and pairs of words",
        ("multirc2018", "mitre2018"),
    ),
    "feature-ranker": SolverEntry(
        "classic_rc.solvers.feature_ranker.solver:FeatureRanker",
        "a log-linear ranker over windows, distances, sentences, n-grams, count vectors and "
        "learned words",
        ("no-passage", "candidates"),
    ),
    "span-sw": SolverEntry(
        "classic_rc.solvers.spans.sliding_window:SpanSlidingWindow",
        "question words and bigrams in the span's sentence, then the sliding window",
        ("squad2016", "squad2016-distance"),
    ),
    "span-blanks": SolverEntry(
        "classic_rc.solvers.spans.blanks:SpanBlanks",
        "the text between blanks, marks or quotes with the most question words on either side",
        ("random", "marks", "quotes"),
    ),
    "span-ranker": SolverEntry(
        "classic_rc.solvers.spans.ranker:SpanRanker",
        "a log-linear model of spans: words, classes, distances and paths at both ends, and the "
        "inside",
        ("wh-word",),
    ),
    "ngram-lm": SolverEntry(
        "classic_rc.solvers.ngram_lm.solver:NGramLM",
        "the probability of the query with the candidate in it, from an n-gram language model",
    ),
    "alignment-ilp": SolverEntry(
        "classic_rc.solvers.alignment.solver:AlignmentILP",
        "the best support graph between question, passage and candidate, by integer programming",
    ),
    "length": SolverEntry(
        "classic_rc.solvers.cues:Length", "the candidate's length; the better direction is learned"
    ),
    "negation": SolverEntry(
        "classic_rc.solvers.cues:NegationWords",
        "the number of negation words in the candidate; the better direction is learned",
    ),
    "position-prior": SolverEntry(
        "classic_rc.solvers.cues:PositionPrior",
        "how often the candidate at this position is right in the training data",
    ),
    "verbatim-overlap": SolverEntry(
        "classic_rc.solvers.cues:VerbatimOverlap",
        "the longest run of words shared by candidate and passage; the better direction is learned",
    ),
    "score-file": SolverEntry(
        "classic_rc.solvers.score_file:ScoreFile", "scores or answers read from a file (path=FILE)"
    ),
    "combination": SolverEntry(
        "classic_rc.solvers.combination.solver:Combination",
        "a weighted sum of other solvers' scores: solvers=[A; B],weights=[1; 0.5], tuned or "
        "stacked",
        ("mctest160-rte", "mctest500-rte"),
    ),
    "saved": SolverEntry(
        "classic_rc.solvers.saved:SavedSolver",
        "a fitted solver, loaded from a file (path=FILE; see `classic-rc fit`)",
    ),
}
"""The package's own solvers, in the order of tables. To add a solver, add one entry here."""


SOLVERS: Registry[Any] = Registry(
    "solver",
    {name: line.home for name, line in SOLVER_ENTRIES.items()},
    accept_classes("classic_rc:Solver"),
)
"""All solver classes: the package's own in the order of tables, then those that other packages
plug in.
"""

SHORT_NAMES: Mapping[str, str] = {
    "sw": "sliding-window",
    "swd": "sw+d",
    "bm25": "ir",
    "tfidf": "ir,similarity=classic",
    "lr": "surface-lr",
}
"""The field's short names, each with the specification that it means."""

_MATCHERS = ("sliding-window", "word-distance", "sw+d")
_FOR_CHOICES = (*_MATCHERS, "lexical", "ir")
_FOR_SPANS = ("random", "span-blanks", *_MATCHERS, "ir", "span-sw")

DEFAULT_SOLVERS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("random", "constant-position", "longest", "shortest", *_FOR_CHOICES),
    Task.MULTIPLE_ANSWER: (
        "random",
        "all-positive",
        "all-negative",
        "longest",
        "shortest",
        *_FOR_CHOICES,
    ),
    Task.CLOZE: (
        "random",
        "max-frequency",
        "exclusive-frequency",
        "cloze-distance",
        *_MATCHERS,
        "ir",
    ),
    Task.SPAN: _FOR_SPANS,
    Task.MULTI_SPAN: _FOR_SPANS,
}
"""The solvers that run on each task if none is named."""

LEARNING_SOLVERS: Mapping[Task, tuple[str, ...]] = {
    Task.SINGLE_CHOICE: ("constant-position:majority", "surface-lr", "feature-ranker"),
    Task.MULTIPLE_ANSWER: ("surface-lr", "feature-ranker"),
    Task.CLOZE: ("surface-lr",),
    Task.SPAN: ("span-ranker",),
    Task.MULTI_SPAN: ("span-ranker",),
}
"""The solvers that run in addition if there is gold to learn from."""

MOST_TRAINING_QUESTIONS: dict[str, int] = {"feature-ranker": 20_000, "span-ranker": 20_000}
"""The most training questions with which a slow learner runs by default."""
