"""Where the placeholder of a cloze query stands among its tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import PLACEHOLDER, Question
from classic_rc.text.analyzers import Analyzer, get_tokenizer
from classic_rc.text.encode import TextEncoder


def tokens_before_placeholder(questions: Sequence[Question], analyzer: Analyzer) -> NDArray[np.int64]:
    """How many of each query's tokens stand before its placeholder, the first if there are several.

    All of them where it has none.

    Parameters
    ----------
    questions : sequence of Question
    analyzer : Analyzer

    Returns
    -------
    ndarray of int64, shape (n_questions,)

    Examples
    --------
    >>> from classic_rc.questions import Passage, Task
    >>> from classic_rc.text.analyzers import get_analyzer
    >>> query = Question("q", Passage("p", ""), "It was @placeholder who sang.", (), None, Task.CLOZE)
    >>> tokens_before_placeholder([query], get_analyzer("word")).tolist()
    [2]
    """
    before = [question.text.partition(PLACEHOLDER)[0] for question in questions]
    if get_tokenizer(analyzer.tokenizer).blanks_separate:  # what stands before a blank has its tokens for itself
        return np.diff(TextEncoder(analyzer).encode(before)[1])
    located = (analyzer.locate(question.query) for question in questions)
    counts = (sum(end <= len(left) for _, _, end in tokens) for left, tokens in zip(before, located, strict=True))
    return np.fromiter(counts, np.int64, len(questions))
