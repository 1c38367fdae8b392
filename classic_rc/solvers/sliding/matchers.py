"""Sliding window, word distance and their combination: Richardson, Burges and Renshaw 2013."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.kernels.distance import DistanceRule, window_and_distance, word_distance
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep
from classic_rc.metrics.registry import primary_metric
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver, Variant, check_choice
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.sliding.explain import explain_match
from classic_rc.solvers.sliding.variants import DISTANCE_VARIANTS, WINDOW_AND_DISTANCE_VARIANTS, WINDOW_VARIANTS
from classic_rc.text.encode import EncodedDataset

WINDOW_SIZES = range(2, 31)
"""The fixed windows that ``window="tuned"`` chooses from."""

_DISTANCES = get_args(DistanceRule)


class _Matcher(Solver):
    """What the three have in common: tokens, inverse counts, stop words, and how to explain a match."""

    needs_only_arrays = True

    inverse_counts: Any = "passage"

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """Passages where counts are a corpus', else nothing."""
        return "passages" if self.inverse_counts == "corpus" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters; with ``inverse_counts="corpus"`` count the words of the questions' passages."""
        self._check()
        if self.inverse_counts == "corpus":
            encoded = self.encoded(questions)
            counts = encoded.passage_word_counts()
            self.word_counts_ = {w: int(n) for w, n in zip(encoded.vocabulary, counts, strict=True) if n}
        return self

    def _check(self) -> None:
        """Refuse unusable parameters."""

    def _word_weights(self, encoded: EncodedDataset) -> NDArray[np.int32] | None:
        if self.inverse_counts == "passage":
            return None
        if not hasattr(self, "word_counts_"):
            raise NotFittedError(
                f"{self.name} with inverse_counts='corpus' counts words over passages: call fit(questions) first"
            )
        # A word that no fitted passage has is as rare as can be: a count of 1.
        counts = np.array([self.word_counts_.get(w, 1) for w in encoded.vocabulary], dtype=np.int64)
        return inverse_count_weights(counts)

    def explain(self, question: Question) -> Explanation:
        """The winning window and the nearest word pair of each candidate."""
        return explain_match(self, question)


class SlidingWindow(_Matcher):
    r"""The best window of the passage over the words of question and candidate.

    .. math:: sw = \max_j \sum_{i=0}^{n-1} [P_{j+i} \in S]\, \ln\left(1 + \frac{1}{C(P_{j+i})}\right)

    with P the passage, S the set of the question's and the candidate's words, n the window's length and C(w)
    how often w occurs (Richardson et al. 2013, Algorithm 1).

    Parameters
    ----------
    analyzer : str or Analyzer
        How texts become words; stop words it drops are gone for everything.
    window : "set", "passage", "tuned" or int
        The window's length: |S| as published, the whole passage, the best of 2..30 for the task's main
        metric on the questions of :meth:`tune`, or a number of tokens.
    inverse_counts : {"passage", "corpus"}
        Where C counts: in the candidate's own passage (the authors' code) or in all passages of :meth:`fit`.
    decision : Decision, optional
        None is the task's usual rule: the best candidate with partial credit for ties, or a tuned threshold
        where several may be right.

    Attributes
    ----------
    word_counts_ : dict of str to int
        With ``inverse_counts="corpus"``, how often each word stands in the fitted passages.
    window_ : int
        With ``window="tuned"``, the chosen length.
    """

    name = "sliding-window"
    description = "the best window of the passage over the words of question and candidate"
    citation = "Richardson, Burges and Renshaw 2013, MCTest, Algorithm 1"
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = WINDOW_VARIANTS

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        window: int | Literal["set", "passage", "tuned"] = "set",
        inverse_counts: Literal["passage", "corpus"] = "passage",
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.window = window
        self.inverse_counts = inverse_counts
        self.decision = decision

    @property
    def tunes_parameters(self) -> bool:
        """Whether :meth:`tune` chooses more than the decision."""
        return self.window == "tuned"

    def _check(self) -> None:
        check_window(self)
        check_choice(self, "inverse_counts", ("passage", "corpus"))

    def tune(self, questions: Sequence[Question]) -> Self:
        """Choose the window, if it is to be tuned, and fit the decision, both on these questions."""
        if self.tunes_parameters:
            self._check()
            encoded, metric = self.encoded(questions), primary_metric(questions[0].task)
            decision = self.decision_for(questions[0].task)
            if decision.needs_fit:
                raise UsageError(
                    "window='tuned' needs a decision that has nothing to tune itself, such as a fixed threshold"
                )
            sums = window_sweep(encoded.arrays, WINDOW_SIZES, self._word_weights(encoded)) / SCALE
            tried = [encoded.scores(column, column > 0) for column in sums.T]
            values = [metric(questions, decision.decide(scores, questions)) for scores in tried]
            self.window_ = WINDOW_SIZES[int(np.argmax(values))]
        return super().tune(questions)

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The best window's weight for each candidate; no evidence where nothing in the passage matches."""
        self._check()
        if self.window == "tuned" and not hasattr(self, "window_"):
            raise NotFittedError(
                "the window has not been tuned: call tune() with a split that has gold answers "
                "(on the command line --tune DATA)"
            )
        encoded = self.encoded(questions)
        window = self.window_ if self.window == "tuned" else self.window
        values = sliding_window(encoded.arrays, window, self._word_weights(encoded)) / SCALE
        return encoded.scores(values, values > 0)


class WordDistance(_Matcher):
    r"""How near the question's words stand to the candidate's words in the passage; the score is minus d.

    .. math:: d = \frac{1}{|S_Q|\,(|P| - 1)} \sum_{q \in S_Q} \min_{a \in S_A} |i_q - i_a|

    over all occurrences of the words, with S_Q the question's words and S_A the candidate's words that are
    not in the question, both in the passage P and no stop words; d = 1 where either is empty
    (Richardson et al. 2013, Algorithm 2, as in the authors' released scores).

    Parameters
    ----------
    analyzer : str or Analyzer
    distance : {"mean", "min", "min+1", "first"}
        Over the question's words, the mean (the released scores) or the least (the paper as printed); see
        :func:`classic_rc.kernels.word_distance` for the other two.
    stop_words : str
        A stop list's name or a file; its words are no part of S_Q and S_A but keep their positions.
    decision : Decision, optional
        As in :class:`SlidingWindow`.
    """

    name = "word-distance"
    description = "how near question words stand to the candidate's words in the passage"
    citation = "Richardson, Burges and Renshaw 2013, MCTest, Algorithm 2"
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = DISTANCE_VARIANTS

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        distance: DistanceRule = "mean",
        stop_words: str = "smart",
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.distance = distance
        self.stop_words = stop_words
        self.decision = decision

    def _check(self) -> None:
        check_choice(self, "distance", _DISTANCES)

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Minus the word distance of each candidate; no evidence where there is no pair of words."""
        self._check()
        encoded = self.encoded(questions)
        distances, found = word_distance(encoded.arrays, encoded.stop_flags(self.stop_words), self.distance)
        return encoded.scores(-distances, found)


class SlidingWindowDistance(_Matcher):
    """Sliding window minus a multiple of the word distance: ``sw - distance_weight * d``.

    The default weight of 11 is fixed in advance (it is the authors' for MC500), never tuned on the data at
    hand.

    Parameters
    ----------
    analyzer, window, inverse_counts : as in :class:`SlidingWindow`, without ``window="tuned"``
    distance, stop_words : as in :class:`WordDistance`
    distance_weight : float
        What a distance of the whole passage costs, in units of the window's weight.
    decision : Decision, optional
        As in :class:`SlidingWindow`.
    """

    name = "sw+d"
    description = "sliding window minus a multiple of the word distance"
    citation = "Richardson, Burges and Renshaw 2013, MCTest, Algorithms 1 and 2, and the authors' release"
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = WINDOW_AND_DISTANCE_VARIANTS

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        window: int | Literal["set", "passage"] = "set",
        inverse_counts: Literal["passage", "corpus"] = "passage",
        distance: DistanceRule = "mean",
        stop_words: str = "smart",
        distance_weight: float = 11.0,
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.window = window
        self.inverse_counts = inverse_counts
        self.distance = distance
        self.stop_words = stop_words
        self.distance_weight = distance_weight
        self.decision = decision

    def _check(self) -> None:
        check_window(self, tuned=False)
        check_choice(self, "inverse_counts", ("passage", "corpus"))
        check_choice(self, "distance", _DISTANCES)
        if not isinstance(self.distance_weight, int | float) or not np.isfinite(self.distance_weight):
            raise UsageError(
                f"parameter 'distance_weight' of sw+d must be a finite number, got {self.distance_weight!r}"
            )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Window minus weighted distance; no evidence where no window matches and no pair stands."""
        self._check()
        encoded = self.encoded(questions)
        best, distances, found = window_and_distance(
            encoded.arrays,
            encoded.stop_flags(self.stop_words),
            window=self.window,
            word_weights=self._word_weights(encoded),
            rule=self.distance,
        )
        windows = best / SCALE
        return encoded.scores(windows - self.distance_weight * distances, (windows > 0) | found)


def check_window(solver: Solver, tuned: bool = True) -> None:
    """Refuse a window that is neither a named one nor a positive number of tokens."""
    window: Any = solver.get_params(deep=False)["window"]
    if not (isinstance(window, int) and not isinstance(window, bool) and 0 < window < 2**31):
        names = ("set", "passage", "tuned") if tuned else ("set", "passage")
        check_choice(solver, "window", names, also="a positive number of tokens")
