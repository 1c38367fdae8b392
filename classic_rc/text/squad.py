"""The normal form of answers in SQuAD's scripts."""

from __future__ import annotations

import re
import string
from functools import lru_cache

PUNCTUATION = str.maketrans("", "", string.punctuation)
"""The translation that deletes ASCII punctuation."""

ARTICLE = re.compile(r"\b(?:a|an|the)\b")
"""An English article."""

# A solver's tied answers are mostly spans of one passage, so caches for the spans of a few passages
# are enough.
CACHED_TEXTS = 1 << 14


@lru_cache(maxsize=CACHED_TEXTS)
def normalise_squad_answer(text: str) -> str:
    """Return the text lower-cased, without ASCII punctuation and English articles, with single
    spaces.

    Examples
    --------
    >>> normalise_squad_answer("The  Owl's nest!")
    'owls nest'
    """
    return " ".join(ARTICLE.sub(" ", text.lower().translate(PUNCTUATION)).split())
