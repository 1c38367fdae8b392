"""The most frequent candidate: baselines for cloze questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.kernels.cloze import phrase_counts
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver
from classic_rc.text.encode import EncodedDataset
from classic_rc.text.placeholder import tokens_before_placeholder


class MaximumFrequency(Solver):
    """The candidate whose words stand most often, one after the other, in the passage.

    Parameters
    ----------
    analyzer : str or Analyzer
    decision : Decision, optional
    """

    name = "max-frequency"
    description = "the candidate that the passage names most often"
    citation = "Hermann et al. 2015, Teaching Machines to Read and Comprehend, symbolic matching baselines"
    cites = ("hermann2015",)
    tasks = frozenset({Task.CLOZE})
    needs_only_arrays: ClassVar[bool] = True

    def __init__(self, *, analyzer: Any = "word", decision: Decision | None = None) -> None:
        self.analyzer = analyzer
        self.decision = decision

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """How often each candidate stands in the passage; no evidence at 0."""
        return self._scores(self.encoded(questions))

    def _scores(self, encoded: EncodedDataset) -> Scores:
        counts = phrase_counts(encoded.arrays)
        return encoded.scores(counts.astype(np.float64), counts > 0)


class ExclusiveFrequency(MaximumFrequency):
    """The candidate that the passage names most often among those that the query does not name.

    A candidate that stands in the query scores 0.

    Parameters
    ----------
    analyzer : str or Analyzer
    decision : Decision, optional
    """

    name = "exclusive-frequency"
    needs_only_arrays = False
    description = "the candidate that the passage names most often and the query does not"

    def _scores(self, encoded: EncodedDataset) -> Scores:
        arrays = encoded.arrays
        # The same count, with each query as the text that is searched: what stands before the placeholder and what
        # stands behind it as two texts, for nothing is named across it.
        starts = arrays.question_offsets[:-1]
        gaps = starts + tokens_before_placeholder([encoded[i] for i in encoded.order], encoded.analyzer)
        halves = arrays._replace(
            passage_tokens=arrays.question_tokens,
            passage_offsets=np.append(np.column_stack((starts, gaps)), arrays.question_offsets[-1]),
        )
        numbers = 2 * np.arange(len(starts))
        in_query = sum(phrase_counts(halves._replace(question_passage=numbers + half)) for half in (0, 1))
        counts = np.where(in_query > 0, 0, phrase_counts(arrays))
        return encoded.scores(counts.astype(np.float64), counts > 0)
