"""Partial-input solvers: each scores candidates by one cue, without reading both question and
passage.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.kernels.arrays import longest_runs, offsets_of
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, candidate_counts, scores_without_evidence
from classic_rc.solvers.explanation import Explanation, Term, given, times
from classic_rc.solvers.learning import gold_labels
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION, UNIT

_CHOICES = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER})

NEGATIONS = frozenset("no not never none nobody nothing nowhere neither nor without cannot".split())
"""The English words that :class:`NegationWords` counts, in addition to words that end in
``n't``.
"""


class _SignedCue(Solver):
    """One number per candidate, with a learned sign: whether more or less of it is better."""

    learns_from = "gold"
    tasks = _CHOICES
    cue_name: ClassVar[str]

    @abstractmethod
    def cue(self, questions: Sequence[Question]) -> Scores:
        """Return the cue of every candidate."""

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn whether more or less of the cue is better."""
        right = gold_labels(self.name, questions)
        cue = self.cue(questions)
        question = np.repeat(np.arange(len(cue)), np.diff(cue.offsets))
        # The sum of right candidates' cues, each minus the mean cue of its question, decides the
        # sign: `expected` spreads the right candidates evenly, which subtracts the mean once for
        # each.
        n_right = np.bincount(question, weights=right, minlength=len(cue))
        expected = (n_right / np.maximum(np.diff(cue.offsets), 1))[question]
        self.direction_ = 1 if np.sum(cue.values * (right - expected)) >= 0 else -1
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with its cue times the learned sign."""
        self.require_fitted("direction_")
        cue = self.cue(questions)
        return Scores(self.direction_ * cue.values, cue.offsets, cue.evidence)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show each candidate's cue and the learned sign."""
        scores = self.score_candidates(questions)
        for k, question in enumerate(questions):
            yield Explanation.from_scores(self.name, question, scores.take([k]), self._formula)

    def _formula(self, i: int, score: float) -> Term:
        sign = given("learned sign", self.direction_, "1: more is better; -1: less is better")
        return times("score", sign, given(self.cue_name, self.direction_ * score), value=score)


class Length(_SignedCue):
    r"""The length of the candidate; whether longer or shorter is better is learned.

    .. math:: s = \pm |c|

    :math:`|c|` is the length, and the sign is the learned direction.

    Attributes
    ----------
    direction_ : int
        1 if longer is better, -1 if shorter is.
    """

    name = "length"
    citation = "a partial-input check: option length, without question or passage"
    cites = ("classic_rc",)
    tasks = _CHOICES | {Task.CLOZE}
    cue_name = "length"

    unit: Literal["characters", "words"] = UNIT
    decision: Decision | None = DECISION

    def cue(self, questions: Sequence[Question]) -> Scores:
        """Return the lengths, without evidence."""
        self.check_parameters()
        texts = [c.text for q in questions for c in q.candidates]
        return scores_without_evidence(
            [len(t if self.unit == "characters" else t.split()) for t in texts], questions
        )


class NegationWords(_SignedCue):
    r"""The number of negations in the candidate; whether they count for or against it is learned.

    .. math:: s = \pm \#\{\text{negations in } c\}

    The sign is the learned direction.

    English only: the words of :data:`NEGATIONS`, and words that end in ``n't``.

    Attributes
    ----------
    direction_ : int
        1 if negations count for a candidate, -1 if against it.
    """

    name = "negation"
    citation = "negation as an artifact: Gururangan et al. 2018"
    cites = ("gururangan2018",)
    cue_name = "negation words"

    analyzer: Any = ANALYZER.but(
        help="the analyzer that turns texts into words; it must return case-folded words with "
        "their apostrophes, as ``word`` does"
    )
    decision: Decision | None = DECISION

    def cue(self, questions: Sequence[Question]) -> Scores:
        """Return the numbers of negations, without evidence."""
        encoded = self.encoded(questions)
        # One word at least, so that the array is of truth values even without a vocabulary.
        words = encoded.vocabulary or [""]
        negates = np.array([word in NEGATIONS or word.endswith("n't") for word in words])
        arrays = encoded.arrays
        candidate = np.repeat(
            np.arange(len(arrays.candidate_question)), np.diff(arrays.candidate_offsets)
        )
        counts = np.bincount(
            candidate,
            weights=negates[arrays.candidate_tokens],
            minlength=len(arrays.candidate_question),
        )
        return encoded.scores(counts.astype(np.float64), np.zeros(len(counts), dtype=np.bool_))


class VerbatimOverlap(_SignedCue):
    r"""The longest run of words that candidate and passage share; the question is not read.

    .. math:: s = \pm \max \{n : c_{i \ldots i+n-1} = P_{j \ldots j+n-1}\}

    c and P are the words of candidate and passage, and the sign is the learned direction.

    Whether a long run counts for or against a candidate is learned.

    Attributes
    ----------
    direction_ : int
        1 if the passage's own words count for a candidate, -1 if against it.
    """

    name = "verbatim-overlap"
    former_params: ClassVar = {"unit": "words"}
    needs_passages = True
    citation = (
        "a partial-input check: passage and options without the question (after Kaushik and Lipton "
        "2018)"
    )
    cites = ("kaushik2018",)
    cue_name = "longest shared run"

    analyzer: Any = ANALYZER
    decision: Decision | None = DECISION

    def cue(self, questions: Sequence[Question]) -> Scores:
        """Return the lengths of the runs, with evidence if there is a run."""
        self.check_parameters()
        encoded = self.encoded(questions)
        runs = longest_runs(encoded.arrays).astype(np.float64)
        return encoded.scores(runs, runs > 0)


class PositionPrior(Solver):
    r"""The share of right candidates at the candidate's position in training.

    .. math::

        s_c = \frac{\#\{\text{right at position } c\}}{\#\{\text{training candidates at position }
        c\}}

    This is for tasks where several candidates may be right. Its counterpart for single choice is
    :class:`~classic_rc.solvers.trivial.ConstantPosition` with the majority position.

    Attributes
    ----------
    shares_ : ndarray of float64, shape (n_positions,)
        The share of training candidates at each position that is right. A position that no training
        question has gets the share over all candidates.
    """

    name = "position-prior"
    citation = "a partial-input check: answer position, without any text"
    cites = ("classic_rc",)
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.MULTIPLE_ANSWER})
    score_meaning = "the share of training candidates at this position that are right"

    decision: Decision | None = DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Count the right candidates at each position."""
        right = gold_labels(self.name, questions)
        position = _positions(questions)
        self.shares_ = np.bincount(position, weights=right) / np.bincount(position)
        self.overall_ = float(right.mean())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the share of its position, without evidence."""
        self.require_fitted("shares_")
        position = _positions(questions)
        was_seen = position < len(self.shares_)
        values = np.where(was_seen, self.shares_[np.where(was_seen, position, 0)], self.overall_)
        return scores_without_evidence(values, questions)


def _positions(questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return each candidate's index in its question."""
    counts = candidate_counts(questions)
    offsets = offsets_of(counts)
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
