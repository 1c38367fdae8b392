"""The mended file: a distance that cannot be measured is the greatest, not the least.

An option of which the text says nothing was as near as can be, and won wherever the right one
stands apart from the question's words.
"""

from collections import Counter
from math import log

import classic_rc
from classic_rc.text.analyzers import get_analyzer, stop_words

ANALYZER = get_analyzer("word")
STOP_WORDS = stop_words("smart")
DISTANCE_WEIGHT = 11


def sliding_window(passage, question, candidate):
    """The best window's weight: of as many tokens as question and candidate have distinct words."""
    words = {*question, *candidate}
    counts = Counter(passage)
    weights = [log(1 + 1 / counts[token]) if token in words else 0 for token in passage]
    starts = range(max(len(passage) - len(words), 0) + 1)
    return max(sum(weights[start : start + len(words)]) for start in starts)


def word_distance(passage, question, candidate):
    """The mean way from a question word to the nearest candidate word: 0 is here, 1 is a whole
    passage away.
    """
    questions = {word for word in question if word in passage and word not in STOP_WORDS}
    answers = {word for word in candidate if word in passage and word not in STOP_WORDS} - {
        *question
    }
    if not questions or not answers:
        return 1.0
    places = [i for i, token in enumerate(passage) if token in answers]
    total = 0
    for word in questions:
        ways = [abs(i - j) for i, token in enumerate(passage) if token == word for j in places]
        total += min(ways)
    return total / (len(questions) * (len(passage) - 1))


class WindowAndDistance(classic_rc.Solver):
    """The window, minus what the distance costs."""

    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists(
            [self.score_one(q, c) for c in q.candidates] for q in questions
        )

    def score_one(self, question, candidate):
        texts = (question.passage.text, question.query, candidate.text)
        tokens = [ANALYZER.analyze(text) for text in texts]
        return sliding_window(*tokens) - DISTANCE_WEIGHT * word_distance(*tokens)
