"""The expected F1 of the texts of the candidates whose scores are best."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.base import TextMetric, gold_of, primary_metric, solved_metric
from classic_rc.questions import LazyCandidates, Question

_MOST_SPANS = 30


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
        differences = np.zeros(len(best))
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
