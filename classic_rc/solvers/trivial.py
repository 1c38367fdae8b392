"""Trivial baselines that never read the passage: chance, constants, positions and lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np

from classic_rc.decisions import Abstain, Argmax, Decision, Threshold
from classic_rc.equality import normalised_text
from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.parameters import whole_number
from classic_rc.predictions import ChosenOptions, Prediction, Scores
from classic_rc.questions import Question, Task, candidate_texts
from classic_rc.solvers.base import Solver, Variant, candidate_counts, scores_without_evidence
from classic_rc.solvers.shared_parameters import DECISION, SEED, UNIT


class Random(Solver):
    r"""The chance baseline: a uniform draw in [0, 1) for every candidate.

    .. math:: s_c \sim U[0, 1), \qquad E[\text{accuracy}] = \frac{1}{k}

    With one right candidate of k, the row reports the expected accuracy instead of a single draw.

    It predicts the candidate with the highest draw. If several candidates may be right, it selects
    each with probability 1/2 (Khashabi et al. 2018). Each mention of an entity has its own draw, so
    an entity is chosen in proportion to its mentions, as in ReCoRD's own random baseline.
    """

    name = "random"
    citation = "uniform guessing, in closed form"
    cites = ("classic_rc",)
    score_meaning = "a draw from the question's id, the seed and the candidate's index"

    seed: int = SEED.but(
        help="the seed of the draws; a draw depends only on the question id, the seed and the "
        "candidate's index"
    )
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None takes the best draw or, if several "
        "candidates may be right, every draw above one half"
    )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Draw a score for every candidate; never with evidence, because no text is read."""
        self.check_parameters()
        draws = uniform_draws(
            text_keys([q.id for q in questions]), candidate_counts(questions), self.seed
        )
        return scores_without_evidence(draws, questions)

    def expectation(self, questions: Sequence[Question]) -> Sequence[Prediction]:
        """Return predictions whose metrics are the expected values of the draws.

        Single choice: each option with equal weight. Cloze and spans: each distinct text, in
        proportion to its number of candidates. Multiple answers: each option with probability 1/2.
        """
        if not questions or questions[0].task is not Task.SINGLE_CHOICE:
            return [_expected_prediction(q) for q in questions]
        counts = candidate_counts(questions)
        options = ragged_indices(np.zeros_like(counts), counts)
        return ChosenOptions(questions, options, offsets_of(counts), np.ones_like(counts), counts)

    def default_decision(self, task: Task) -> Decision:
        """Return the rule that takes the best draw or, if several may be right, every draw above
        one half.
        """
        return Threshold(value=0.5) if task is Task.MULTIPLE_ANSWER else Argmax()


def _expected_prediction(question: Question) -> Prediction:
    n = len(question.candidates)
    if question.task is Task.MULTIPLE_ANSWER:
        return Prediction(question.id, (), selection_probability=0.5, n_candidates=n)
    counts = Counter(c.text for c in question.candidates)
    weights = tuple(count / n for count in counts.values())
    return Prediction(question.id, tuple((text,) for text in counts), weights, n_candidates=n)


class _Constant(Solver):
    """A solver that gives every candidate the same score."""

    tasks = frozenset({Task.MULTIPLE_ANSWER})
    citation = "Khashabi et al. 2018, MultiRC, released allOnes and allZeros predictions"
    cites = ("khashabi2018multirc",)
    constant: ClassVar[float]
    score_meaning = "the same for every candidate"
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None is a threshold between the two "
        "constants"
    )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score every candidate with the constant."""
        return scores_without_evidence(
            np.full(candidate_counts(questions).sum(), self.constant), questions
        )

    def default_decision(self, task: Task) -> Decision:
        """Return a threshold between the two constants."""
        return Threshold(value=0.5)


class AllPositive(_Constant):
    r"""A baseline that selects every candidate. It has an F1m of 61.0 on MultiRC.

    .. math:: s_c = 1
    """

    name = "all-positive"
    constant = 1.0


class AllNegative(_Constant):
    r"""A baseline that selects no candidate.

    .. math:: s_c = 0
    """

    name = "all-negative"
    constant = 0.0


class ConstantPosition(Solver):
    r"""A baseline that always selects the candidate at one position.

    .. math:: s_c = [c = p]

    c is the candidate's index and p the position.

    Attributes
    ----------
    position_ : int
        The index learned with ``position="majority"``.
    """

    name = "constant-position"
    citation = "a partial-input check: answer position, without any text"
    cites = ("classic_rc",)
    tasks = frozenset({Task.SINGLE_CHOICE})
    score_meaning = "1 at the chosen position, else 0"
    variants: ClassVar[dict[str, Variant]] = {
        "first": Variant({"position": "first"}, "always the first candidate", ""),
        "last": Variant({"position": "last"}, "always the last candidate", ""),
        "majority": Variant(
            {"position": "majority"},
            "the position that is right most often in the training data",
            "",
        ),
    }

    position: int | Literal["first", "last", "majority"] = whole_number(
        "first",
        "the position of the candidate. ``'majority'`` is the one that is right most often in the "
        "data of :meth:`fit` (of equally frequent ones the first). A number is an index from 0. If "
        "a question has fewer candidates, its last one is selected",
        allowed=("first", "last", "majority"),
        least=0,
    )
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "gold"]:  # type: ignore[override]
        """``"gold"`` with ``position="majority"``, else ``"nothing"``."""
        return "gold" if self.position == "majority" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters. With ``position="majority"``, also count the right positions;
        this needs gold.
        """
        self.check_parameters()
        if self.position == "majority":
            right = [index for q in questions for index in q.gold or ()]
            if not right:
                expected = "training questions with gold answers"
                raise self.wrong_value("position", expected, f"needs {expected}")
            self.position_ = int(np.bincount(right).argmax())
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score the candidate at the position with 1, the others with 0."""
        self.check_parameters()
        counts = candidate_counts(questions)
        offsets = offsets_of(counts)
        # A question without candidates has no position to choose; it keeps its empty row of scores.
        index = np.minimum(self._chosen_index(counts), counts - 1)[counts > 0]
        values = np.zeros(offsets[-1])
        values[offsets[:-1][counts > 0] + index] = 1
        return scores_without_evidence(values, questions)

    def _chosen_index(self, counts: np.ndarray) -> np.ndarray:
        if self.position == "last":
            return counts - 1
        if self.position == "majority":
            self.require_fitted("position_", field="position", found="'majority'")
            return np.full_like(counts, self.position_)
        return np.minimum(0 if self.position == "first" else self.position, counts)


class Majority(Solver):
    r"""A baseline that selects the candidate whose text is right most often in the training data.

    .. math:: s_c = \#\{\text{training questions with the right text } c\}

    For questions with the same candidates, such as *no* and *yes*, this is the majority class, in
    whatever order the candidates are. Texts are compared without case and with single blanks.

    Attributes
    ----------
    counts_ : dict of str to int
        How often each text is right in the data of :meth:`fit`.
    """

    name = "majority"
    citation = "the majority class of the training data"
    cites = ("classic_rc",)
    tasks = frozenset({Task.SINGLE_CHOICE})
    learns_from = "gold"
    score_meaning = "how often this text is right in the training data"
    decision: Decision | None = DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Count the right texts; without gold answers, that is a UsageError."""
        self.check_parameters()
        counts = Counter(
            normalised_text(text) for question in questions for text in question.gold_texts
        )
        if not counts:
            problem = "majority needs training questions with gold answers"
            actual, expected = (
                f"{len(questions)} questions without gold",
                "training questions with gold answers",
            )
            raise UsageError(problem, field="questions", found=actual, expected=expected)
        self.counts_ = dict(counts)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the number of times that its text was right."""
        self.check_parameters()
        self.require_fitted("counts_")
        texts = [text for question in questions for text in candidate_texts(question.candidates)]
        values = [self.counts_.get(normalised_text(text), 0) for text in texts]
        return scores_without_evidence(np.array(values, dtype=np.float64), questions)


class NoAnswer(Solver):
    r"""A baseline that answers no question: the prediction is the empty text, which is right if
    there is no answer.

    .. math:: s_c = 0

    The rule always answers with the empty text.
    """

    name = "no-answer"
    citation = "Rajpurkar, Jia and Liang 2018, SQuAD 2.0"
    cites = ("rajpurkar2018",)
    tasks = frozenset({Task.SPAN})
    score_meaning = "the same for every candidate; the answer is always empty"
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None answers with the empty text"
    )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score all candidates with 0."""
        self.check_parameters()
        return scores_without_evidence(np.zeros(candidate_counts(questions).sum()), questions)

    def default_decision(self, task: Task) -> Decision:
        """Return the rule that answers with the empty text."""
        return Abstain()


class _ByLength(Solver):
    """A solver that scores a candidate by the length of its text."""

    sign: ClassVar[int]
    citation = "a partial-input check: option length, without question or passage"
    cites = ("classic_rc",)

    unit: Literal["characters", "words"] = UNIT
    decision: Decision | None = DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with its signed length, in characters or in whitespace-separated
        words.
        """
        self.check_parameters()
        texts = [text for q in questions for text in candidate_texts(q.candidates)]
        if self.unit == "words":
            lengths = [len(text.split()) for text in texts]
        else:
            lengths = [len(text) for text in texts]
        return scores_without_evidence(self.sign * np.array(lengths, dtype=np.float64), questions)


class LongestCandidate(_ByLength):
    r"""A baseline that selects the candidate with the longest text.

    .. math:: s_c = |c|

    :math:`|c|` is the length of the candidate's text.
    """

    name = "longest"
    score_meaning = "the length of the candidate"
    sign = 1


class ShortestCandidate(_ByLength):
    r"""A baseline that selects the candidate with the shortest text.

    .. math:: s_c = -|c|

    :math:`|c|` is the length of the candidate's text.
    """

    name = "shortest"
    score_meaning = "minus the length of the candidate"
    sign = -1
