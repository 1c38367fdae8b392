"""The span generator: which stretches of a passage can answer a span question."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.stop_words import stop_words
from classic_rc.text.tokenizers import get_tokenizer

__all__ = ["SpanCandidates", "SpanGenerator", "oracle_recall"]

LINKS = frozenset("of the and for in on at to a de del della der des di da do dos du la las le les el al bin ibn van von".split())
"""Words in lower case that a name may hold inside: ``Bank of England``, ``Charles de Gaulle``."""

_BREAK = re.compile(r"[,;:!?()\[\]{}\"“”«»…]|[.](?=[\s.])(?<![^\W\d_][.])|\n")


@dataclass(frozen=True)
class SpanGenerator:
    max_tokens: int = 10
    stop_words: str = "nltk"

    def __call__(self, passage):
        text = passage.text
        tokens = _Tokens.of(passage, self.stop_words)
        return None
