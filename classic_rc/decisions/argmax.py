"""The best candidate, with a tie policy."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision, distinct_answers
from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.parameters import parameter
from classic_rc.predictions import ABSOLUTE_TIE_TOLERANCE, ChosenOptions, Prediction, Scores
from classic_rc.protocol import TiePolicy
from classic_rc.questions import Question, Task

TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)
"""The policies for candidates that share the best score; :class:`Argmax` describes them."""

TIE_TOLERANCE = ABSOLUTE_TIE_TOLERANCE
"""The default of :class:`Argmax`: candidates this close to the best score tie with it. Scores
from files tie within 1e-12 of the question's largest absolute score instead.
"""


class Argmax(Decision):
    """The rule that selects the candidate with the highest score.

    Candidates of a cloze or span question with equal texts are one candidate.
    """

    ties: TiePolicy = parameter(
        "partial",
        "the policy for k candidates that share the best score. ``partial``: each gets 1/k of the "
        "credit (the MCTest authors' scores, Smith et al. 2015, ARC). ``first``: the first one "
        "wins. ``random``: one is drawn "
        '(Richardson et al. 2013, "a coin flip"); the draw depends only on the question, not on '
        "the other "
        "questions. ``strict``: the question counts as not answered",
        allowed=TIE_POLICIES,
    )
    tie_tolerance: float = parameter(
        TIE_TOLERANCE,
        "scores at most this far below the best one tie with it. In place of the default, scores "
        "from a file, whose unit is unknown, tie within "
        ":data:`~classic_rc.predictions.RELATIVE_TIE_TOLERANCE` (1e-12) of the question's largest "
        "absolute score",
    )
    seed: int = parameter(0, "the seed of ``random``")

    def decide(self, scores: Scores, questions: Sequence[Question]) -> Sequence[Prediction]:
        """Answer each question with its best candidate, or with those that tie for the best score.

        Raises
        ------
        UsageError
            The tie policy is unknown, or the questions may have several right answers.
        """
        self.check_parameters()
        if len(questions) and questions[0].task is Task.MULTIPLE_ANSWER:
            raise UsageError(
                "multiple-answer questions need a threshold: use TunedThreshold or Threshold "
                "instead of Argmax",
                field="decision",
                found="Argmax",
                expected="TunedThreshold or Threshold",
            )
        flat = np.flatnonzero(scores.are_best(self.tie_tolerance))
        question_of = np.searchsorted(scores.offsets, flat, side="right") - 1
        index = flat - scores.offsets[question_of]
        sizes = np.diff(scores.offsets)
        n_tied = np.bincount(question_of, minlength=len(scores))
        if len(questions) and questions[0].task is Task.SINGLE_CHOICE:
            is_remaining = self._break_ties(questions, n_tied)
            n_remaining = np.bincount(question_of[is_remaining], minlength=len(scores))
            return ChosenOptions(
                questions, index[is_remaining], offsets_of(n_remaining), n_tied, sizes
            )
        bounds = itertools.pairwise(offsets_of(n_tied).tolist())
        tied = []
        for question, (start, stop) in zip(questions, bounds, strict=True):
            tied.append(distinct_answers(question, index[start:stop].tolist()))
        n_answers = np.array([len(answers) for answers in tied], dtype=np.int64)
        remains = iter(self._break_ties(questions, n_answers))
        predictions = []
        for question, answers, size in zip(questions, tied, sizes.tolist(), strict=True):
            remaining = tuple(answer for answer in answers if next(remains))
            prediction = Prediction(question.id, remaining, n_tied=len(answers), n_candidates=size)
            predictions.append(prediction)
        return predictions

    def _break_ties(
        self, questions: Sequence[Question], n_tied: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which of the tied options of all questions remain: shape (n_tied.sum(),)."""
        firsts = offsets_of(n_tied)[:-1]
        remaining = np.repeat((n_tied == 1) | (self.ties == "partial"), n_tied)
        with_ties = np.flatnonzero(n_tied > 1)
        if self.ties == "first":
            remaining[firsts[with_ties]] = True
        elif self.ties == "random":
            keys = text_keys(questions[i].id for i in with_ties.tolist())
            draws = uniform_draws(keys, n_tied[with_ties], self.seed)
            rows = np.repeat(np.arange(len(with_ties)), n_tied[with_ties])
            order = np.lexsort((-draws, rows))  # the largest draw of a question wins
            drawn = order[offsets_of(n_tied[with_ties])[:-1]]
            places = np.flatnonzero(np.repeat(n_tied > 1, n_tied))
            remaining[places[drawn]] = True
        return remaining
