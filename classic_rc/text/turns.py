"""The turns of a dialogue and their speakers, and sentences that do not cross turns."""

from __future__ import annotations

import re
from typing import NamedTuple

from classic_rc.questions import Passage
from classic_rc.text.sentences import passage_sentences, split_sentences


class SpokenSentence(NamedTuple):
    """A sentence without the label of its speaker."""

    start: int  # character offsets in the passage; `end` is exclusive
    end: int
    turn: int  # the number of its turn, from 0; -1 outside turns
    speaker: str  # the label in front of its turn: "W", "Mary"; empty outside turns


_LABEL = re.compile(r"^[^\S\n]*([^\W\d_][\w.'’&-]*(?: [\w.'’&-]+){0,2}) ?[:：](?=\s|$)[^\S\n]*", re.MULTILINE)
_LEAST_TURNS = 2
_LEAST_SHARE = 0.5
"""A text is a dialogue if two or more of its lines, and more than this share of those with text, begin a turn."""


def spoken_sentences(passage: Passage) -> list[SpokenSentence]:
    """Return the sentences of a passage; in a dialogue, without the labels of speakers, and cut at turns.

    A passage is a dialogue if two or more of its lines, and more than half, begin with a label of up to three words
    and a colon. If the dataset marks sentences, those are returned, and turns are not looked for.

    Examples
    --------
    >>> for sentence in spoken_sentences(Passage("p", "W: Hi. Bob?\\nM: Yes")):
    ...     print(sentence)
    SpokenSentence(start=3, end=6, turn=0, speaker='W')
    SpokenSentence(start=7, end=11, turn=0, speaker='W')
    SpokenSentence(start=15, end=18, turn=1, speaker='M')
    """
    labels = [] if passage.sentences is not None else list(_LABEL.finditer(passage.text))
    n_lines = sum(bool(line.strip()) for line in passage.text.split("\n")) if labels else 0
    if len(labels) < _LEAST_TURNS or len(labels) <= _LEAST_SHARE * n_lines:
        return [SpokenSentence(start, end, -1, "") for start, end in passage_sentences(passage)]
    starts = [label.start() for label in labels]
    turns = [(0, starts[0], -1, "")]
    turns += [
        (label.end(), end, turn, label[1])
        for turn, (label, end) in enumerate(zip(labels, [*starts[1:], len(passage.text)], strict=True))
    ]
    return [
        SpokenSentence(first + start, first + end, turn, speaker)
        for first, last, turn, speaker in turns
        for start, end in split_sentences(passage.text[first:last])
    ]
