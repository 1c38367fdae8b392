"""The text with the greatest expected F1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.base import Decision
from classic_rc.errors import UsageError
from classic_rc.metrics.base import TextMetric, gold_of, primary_metric, solved_metric
from classic_rc.parameters import number
from classic_rc.predictions import Answer, Prediction, Scores
from classic_rc.questions import LazyCandidates, Question

_MOST_SPANS = 30
_SCALES = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 100.0)  # 100: the best candidate alone
_EXACT = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)


class ExpectedF1(Decision):
    r"""The rule that selects the text with the greatest expected F1: minimum Bayes risk (Kumar and
    Byrne 2004).

    .. math:: v(a) = \sum_b p_b \, (F_1(a, b) + l \, [a = b]), \qquad p_b \propto e^{t s_b}

    b are the 30 candidates with the best scores s, and a is the text of one of them. F1 and
    equality are those of the questions' own metrics. t is `scale`, and l is `exact`. For scores
    that are log-probabilities, such as those of ``span-ranker``, t = 1 believes them. Of texts with
    equal values, the one with the better score is selected; ties get no partial credit.

    Attributes
    ----------
    scale_, exact_ : float
        What :meth:`fit` chose.
    """

    scale: float | None = number(
        None,
        "the factor of the scores before they become probabilities. None: ``span-ranker`` chooses "
        "it inside its training data, and other solvers use 1",
        allowed=(None,),
        least=0,
    )
    exact: float | None = number(
        None,
        "the weight of exact match; that of F1 is 1. None: ``span-ranker`` chooses it inside its "
        "training data, and other solvers use 0",
        allowed=(None,),
        least=0,
    )

    @property
    def is_open(self) -> bool:
        """Whether a parameter is None."""
        return self.scale is None or self.exact is None

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Choose the parameters that are None, for the mean F1 of the answers.

        Of the values whose F1 is at most one paired standard error below the best (Breiman et al.
        1984), those with the greatest exact match are chosen.
        """
        self.check_parameters()
        scales = _SCALES if self.scale is None else (self.scale,)
        weights = _EXACT if self.exact is None else (self.exact,)
        measured = []
        for question, row in zip(questions, scores, strict=True):
            texts = BestTexts.of(question, row)
            if texts is not None:
                choices = texts.choose(np.array(scales), np.array(weights))
                measured.append(texts.measure(question)[:, choices.ravel()])
        if measured:
            f1, exact_match = np.stack(measured, axis=1)  # (n_questions, n_values)
            # Rounded, because the last bits of means must not choose among equal values.
            mean = f1.mean(axis=0).round(9)
            top = mean.argmax()
            deviation = (f1 - f1[:, [top]]).std(axis=0)
            is_near = mean >= mean[top] - deviation / np.sqrt(len(f1))
            exact_mean = np.where(is_near, exact_match.mean(axis=0).round(9), -1)
            best = int(np.lexsort((mean, exact_mean))[-1])  # of equal ones, the largest constants
            i, j = divmod(best, len(weights))
            self.scale_, self.exact_ = scales[i], weights[j]
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with one text.

        Raises
        ------
        UsageError
            A parameter is invalid, or the questions have options instead of spans.
        """
        self.check_parameters()
        if len(questions) and questions[0].task.has_choices:
            task = questions[0].task
            message = f"expected F1 needs span or cloze questions, got {task} questions"
            raise UsageError(message, field="decision", found=task.value, expected="span or cloze")
        scale = getattr(self, "scale_", 1.0 if self.scale is None else self.scale)
        exact = getattr(self, "exact_", self.exact or 0.0)
        constants = np.array([scale]), np.array([exact])
        predictions = []
        for question, row in zip(questions, scores, strict=True):
            texts = BestTexts.of(question, row)
            answers: tuple[Answer, ...] = ()
            if texts is not None:
                best = texts.choose(*constants)[0, 0]
                answers = ((texts.texts[best],),)
            predictions.append(Prediction(question.id, answers, n_candidates=len(row)))
        return predictions


class BestTexts(NamedTuple):
    """The distinct texts of a question's best candidates, the best first."""

    texts: list[str]
    scores: NDArray[np.float64]  # (n_candidates,): minus the best score
    text_of: NDArray[np.int64]  # (n_candidates,)
    f1: NDArray[np.float64]  # (n_texts, n_texts): of the row's text if the column's were gold
    exact_match: NDArray[np.float64]  # the same

    @classmethod
    def of(cls, question: Question, row: NDArray[np.float64]) -> BestTexts | None:
        """Compare the texts; None without candidates."""
        if not len(row):
            return None
        lazy = question.candidates
        candidates = lazy.generate() if isinstance(lazy, LazyCandidates) else lazy
        best = np.argsort(-row, kind="stable")[:_MOST_SPANS]
        numbers: dict[str, int] = {}
        text_of = [numbers.setdefault(candidates[i].text, len(numbers)) for i in best.tolist()]
        texts, scores = list(numbers), row[best]
        f1, exact_match = (metric.compare(texts) for metric in _text_metrics(question))
        differences = np.zeros(len(best))  # of equal scores too: inf - inf is NaN
        np.subtract(scores, scores[0], out=differences, where=scores != scores[0])
        differences.clip(-1e300, out=differences)  # a product with 0 is a number
        return cls(texts, differences, np.array(text_of), f1, exact_match)

    def choose(
        self, scales: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the text with the greatest value, shape (n_scales, n_weights)."""
        powers = np.exp(scales[:, None] * self.scores)
        shares = np.zeros((len(scales), len(self.texts)))
        np.add.at(shares.T, self.text_of, powers.T)
        shares /= shares.sum(axis=1, keepdims=True)
        gains = self.f1 + weights[:, None, None] * self.exact_match
        values = (gains * shares[:, None, None]).sum(axis=3)
        # Equal texts have equal values but for rounding; the better score comes first.
        return values.round(12).argmax(axis=2)

    def measure(self, question: Question) -> NDArray[np.float64]:
        """Return the F1 and the exact match of each text, shape (2, n_texts)."""
        gold, answers = gold_of(question), [(text,) for text in self.texts]
        metrics = _text_metrics(question)
        return np.array([[metric.value(gold, answer) for answer in answers] for metric in metrics])


def _text_metrics(question: Question) -> tuple[TextMetric, TextMetric]:
    """Return F1 and exact match."""
    return cast(tuple[TextMetric, TextMetric], (primary_metric(question), solved_metric(question)))
