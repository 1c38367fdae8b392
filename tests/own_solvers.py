"""Solvers that tests of several packages share."""

from __future__ import annotations

from classic_rc.predictions import Scores
from classic_rc.solvers import Solver


class Remembers(Solver):
    """Scores what it has seen the gold of, and says how often it was fitted."""

    learns_from = "gold"

    def __init__(self, *, decision=None):
        self.decision = decision

    def fit(self, questions, y=None):
        self.seen_ = {q.id: q.gold for q in questions}
        self.caveats_ = ("it only remembers",)
        return self

    def score_candidates(self, questions):
        return Scores.from_lists(
            [float(i in self.seen_.get(q.id, ())) for i in range(len(q.candidates))]
            for q in questions
        )
