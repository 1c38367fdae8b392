"""The completed cloze query, slid over the passage: after Hill et al. 2015."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import NotFittedError
from classic_rc.kernels.cloze import cloze_window
from classic_rc.kernels.pairs import word_counts
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant, check_choice
from classic_rc.solvers.cloze.explain import explain_window
from classic_rc.solvers.explanation import Explanation
from classic_rc.text.encode import EncodedDataset
from classic_rc.text.placeholder import tokens_before_placeholder


class ClozeWindow(Solver):
    r"""The best place in the passage for the query with the candidate in it, token on token.

    .. math:: cw = \max_s \sum_{k:\,P_{s+k} = Q'_k} w(Q'_k)

    with P the passage and Q' the query in which the candidate's words stand in the placeholder's place. Order
    counts: the same without it, any word of Q' anywhere in a window, is
    :class:`~classic_rc.solvers.SlidingWindow`.

    Parameters
    ----------
    analyzer : str or Analyzer
    anchored : bool
        Whether only places s count at which the whole candidate stands on a mention of its own. If not, the words
        around the placeholder may match without it, and candidates that add nothing tie.
    weights : {"passage", "idf"}
        A word's w: ``ln(1 + 1 / C)`` with its count in the passage (Richardson et al. 2013), or ``ln(1 + N / n)``
        with n of the N passages of :meth:`fit` having it.
    decision : Decision, optional

    Attributes
    ----------
    n_passages_ : int
    passage_counts_ : dict of str to int
        With ``weights="idf"``, how many of the fitted passages have each word.
    """

    name = "cloze-window"
    description = "the completed query laid over the passage token on token, at its best place"
    citation = "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, sliding window baseline"
    cites = ("hill2015",)
    tasks = frozenset({Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = {
        "hill2015": Variant(
            {"weights": "idf"},
            "weights by idf; the paper leaves tokens, order, window and ties unsaid, so its figures are no target",
            "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, arXiv:1511.02301",
        ),
    }

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        anchored: bool = False,
        weights: Literal["passage", "idf"] = "passage",
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.anchored = anchored
        self.weights = weights
        self.decision = decision

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """Passages where weights are by idf, else nothing."""
        return "passages" if self.weights == "idf" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters; with ``weights="idf"`` count in how many of the questions' passages words are."""
        self._check()
        if self.weights == "idf":
            encoded = self.encoded(questions)
            arrays, words = encoded.arrays, encoded.vocabulary
            own = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words).words
            self.n_passages_ = len(arrays.passage_offsets) - 1
            self.passage_counts_ = {
                words[i]: int(n) for i, n in enumerate(np.bincount(own, minlength=len(words))) if n
            }
        return self

    def _check(self) -> None:
        check_choice(self, "anchored", (True, False))
        check_choice(self, "weights", ("passage", "idf"))

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The weight at each candidate's best place; no evidence where nothing matches."""
        self._check()
        encoded = self.encoded(questions)
        placeholders = tokens_before_placeholder([encoded[i] for i in encoded.order], encoded.analyzer)
        values = cloze_window(encoded.arrays, placeholders, self.anchored, self.word_weights(encoded)) / SCALE
        return encoded.scores(values, values > 0)

    def word_weights(self, encoded: EncodedDataset) -> NDArray[np.int32] | None:
        """The fixed-point weights of the vocabulary's words; None where each passage has its own."""
        if self.weights == "passage":
            return None
        if not hasattr(self, "passage_counts_"):
            raise NotFittedError(
                f"{self.name} with weights='idf' counts the passages that have a word: call fit(questions) first"
            )
        # A word that no fitted passage has is as rare as can be: a count of 1.
        counts = np.array([self.passage_counts_.get(word, 1) for word in encoded.vocabulary], dtype=np.int64)
        return inverse_count_weights(counts, total=self.n_passages_)

    def explain(self, question: Question) -> Explanation:
        """The best place of each candidate, and the words that match there."""
        return explain_window(self, question)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """How many passages there were, and how many have each word."""
        self.word_weights(self.encoded([]))  # refuses where nothing was fitted
        counts = self.passage_counts_
        state = {"passages": self.n_passages_, "words": list(counts)}
        return state, {"counts": np.array(list(counts.values()), dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Become fitted again, from what :meth:`fitted_state` gave."""
        self.n_passages_ = int(state["passages"])
        self.passage_counts_ = dict(zip(state["words"], arrays["counts"].tolist(), strict=True))
        return self
