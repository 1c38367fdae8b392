"""The chance baseline: seeded random draws, and their expected result in closed form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from classic_rc.decisions import Argmax, Decision, Threshold
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import DECISION, SEED, Solver, candidate_counts, scores_without_evidence


class Random(Solver):
    r"""The chance baseline: a uniform draw in [0, 1) for every candidate.

    .. math:: s_c \sim U[0, 1), \qquad E[\text{accuracy}] = \frac{1}{k}

    For k candidates of which one is right, the row reports the expectation, not the draw.

    It predicts the candidate with the highest draw. If several candidates may be right, it selects each with
    probability 1/2 (Khashabi et al. 2018). Each mention of an entity has its own draw, so an entity is chosen in
    proportion to its mentions, as in ReCoRD's own random baseline.
    """

    name = "random"
    citation = "uniform guessing, in closed form"
    cites = ("classic_rc",)
    score_meaning = "a draw from the question's id, the seed and the candidate's index"

    seed: int = SEED.but(
        help="the seed of the draws; a draw depends only on the question id, the seed and the candidate's index"
    )
    decision: Decision | None = DECISION.but(
        help="the rule that turns scores into answers; None takes the best draw or, if several candidates may be "
        "right, every draw above one half"
    )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Draw a score for every candidate; never with evidence, because no text is read."""
        self.check_parameters()
        draws = uniform_draws(text_keys([q.id for q in questions]), candidate_counts(questions), self.seed)
        return scores_without_evidence(draws, questions)

    def expectation(self, questions: Sequence[Question]) -> list[Prediction]:
        """Return predictions whose metrics are the expected values of the draws.

        Single choice: each option with equal weight. Cloze and spans: each distinct text, in proportion to its
        number of candidates. Multiple answers: each option with probability 1/2.
        """
        return [_expected_prediction(q) for q in questions]

    def default_decision(self, task: Task) -> Decision:
        """Return the rule that takes the best draw or, if several may be right, every draw above one half."""
        return Threshold(value=0.5) if task is Task.MULTIPLE_ANSWER else Argmax()


def _expected_prediction(question: Question) -> Prediction:
    n = len(question.candidates)
    if question.task is Task.MULTIPLE_ANSWER:
        return Prediction(question.id, (), selection_probability=0.5, n_candidates=n)
    if question.task is Task.SINGLE_CHOICE:
        return Prediction(question.id, tuple(frozenset((i,)) for i in range(n)), n_candidates=n)
    counts = Counter(c.text for c in question.candidates)
    weights = tuple(count / n for count in counts.values())
    return Prediction(question.id, tuple((text,) for text in counts), weights, n_candidates=n)
