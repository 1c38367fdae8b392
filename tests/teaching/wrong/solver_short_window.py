"""questions that sliding-window has and yours has not

Loses: beats_sliding_window
"""

import re

import classic_rc


def words(text):
    return re.findall(r"\w+", text.lower())


class BestSentence(classic_rc.Solver):
    """Rare words of the passage count for more, each once a sentence."""

    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists([self.score_one(q, c) for c in q.candidates] for q in questions)

    def score_one(self, question, candidate):
        text, wanted = question.passage.text, {*words(question.query), *words(candidate.text)}
        tokens = words(text)
        return max(len(wanted.intersection(tokens[i : i + 5])) for i in range(len(tokens) or 1))
