"""Word distance around a cloze query's placeholder: Hermann et al. 2015."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError
from classic_rc.kernels.cloze import Alignment, OwnWords, cloze_distance
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant, check_choice
from classic_rc.solvers.cloze.explain import explain_distance
from classic_rc.solvers.explanation import Explanation
from classic_rc.text.encode import EncodedDataset
from classic_rc.text.placeholder import tokens_before_placeholder


class ClozeDistance(Solver):
    r"""How far the query's words are from their places when a mention is put in the placeholder's; minus d.

    .. math:: d = \min_{m \in M} \sum_{i} \min\left(D,\ \min_{j:\,P_j = q_i} |j - (m + i)|\right)

    with P the passage, :math:`q_i` the query's word i places from the placeholder (negative before it), M the
    places where the candidate's words stand in the passage, one after the other, and D the `max_distance`
    (Hermann et al. 2015, section 3.1). Without a mention d is D a word. Mentions with one text share their best
    score.

    Parameters
    ----------
    analyzer : str or Analyzer
        How texts become words; words that it drops are gone, and positions are counted without them.
    max_distance : int
        What a word costs at most, and if the passage does not have it.
    alignment : {"ends", "first", "last"}
        Which word of a mention of several is m: the first for what precedes the placeholder and the last for what
        follows, as if the mention were written into the query; or one of them for both.
    own_words : {"match", "cap"}
        A query word that is also one of the candidate's: it matches like any other, or it costs `max_distance`.
    stop_words : str
        A stop list's name or a file; its words are not added up, but keep their positions.
    punctuation : bool
        Whether tokens without a letter or digit, if the analyzer makes any, are added up.
    decision : Decision, optional
    """

    name = "cloze-distance"
    description = "how far query words stand from their places around the candidate's best mention"
    citation = "Hermann et al. 2015, Teaching Machines to Read and Comprehend, section 3.1, word distance benchmark"
    cites = ("hermann2015",)
    tasks = frozenset({Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = {
        "hermann2015": Variant(
            {"max_distance": 8},
            "at most 8 steps a word, as tuned on the validation sets of CNN and Daily Mail; without the "
            "alignment by coreference",
            "Hermann et al. 2015, section 3.1",
        ),
        "hill2015": Variant(
            {"max_distance": 5},
            "at most 5 steps a word, as for the Children's Book Test",
            "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, arXiv:1511.02301",
            cites=("hill2015",),
        ),
    }

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        max_distance: int = 8,
        alignment: Alignment = "ends",
        own_words: OwnWords = "match",
        stop_words: str = "none",
        punctuation: bool = True,
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.max_distance = max_distance
        self.alignment = alignment
        self.own_words = own_words
        self.stop_words = stop_words
        self.punctuation = punctuation
        self.decision = decision

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters."""
        self._check()
        return self

    def _check(self) -> None:
        check_choice(self, "alignment", get_args(Alignment))
        check_choice(self, "own_words", get_args(OwnWords))
        check_choice(self, "punctuation", (True, False))
        steps = self.max_distance
        if not isinstance(steps, int) or isinstance(steps, bool) or not 0 < steps < 2**31:
            raise UsageError(
                f"parameter 'max_distance' of {self.name} must be a positive number of steps, got {steps!r}"
            )

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Minus each candidate's distance; no evidence where no query word is nearer than `max_distance`."""
        self._check()
        encoded = self.encoded(questions)
        distances, found = cloze_distance(
            encoded.arrays,
            tokens_before_placeholder([encoded[i] for i in encoded.order], encoded.analyzer),
            self.counted(encoded),
            self.max_distance,
            self.alignment,
            self.own_words,
        )
        return encoded.scores(-distances.astype(np.float64), found)

    def counted(self, encoded: EncodedDataset) -> NDArray[np.bool_]:
        """Which words of the vocabulary are added up: shape (n_words,)."""
        counted = ~encoded.stop_flags(self.stop_words)
        if not self.punctuation:
            counted &= np.array([any(map(str.isalnum, word)) for word in encoded.vocabulary], dtype=np.bool_)
        return counted

    def explain(self, question: Question) -> Explanation:
        """The best mention of each candidate, and the words that stand near their places around it."""
        return explain_distance(self, question)
