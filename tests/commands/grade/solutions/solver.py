"""The best sentence: of all sentences of the passage, the one that shares most with question and
candidate.
"""

import re
from collections import Counter
from math import log

import classic_rc


def words(text):
    return re.findall(r"\w+", text.lower())


class BestSentence(classic_rc.Solver):
    """Rare words of the passage count for more, each once a sentence."""

    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists(
            [self.score_one(q, c) for c in q.candidates] for q in questions
        )

    def score_one(self, question, candidate):
        text, wanted = question.passage.text, {*words(question.query), *words(candidate.text)}
        counts = Counter(words(text))
        shared = [
            wanted.intersection(words(sentence)) for sentence in re.split(r"(?<=[.!?])\s+", text)
        ]
        return max(sum(sorted(log(1 + 1 / counts[word]) for word in own)) for own in shared)
