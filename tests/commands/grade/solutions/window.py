"""Sliding window and word distance."""

from collections import Counter
from math import log


def sliding_window(passage, question, candidate):
    words = {*question, *candidate}
    counts = Counter(passage)
    weights = [log(1 + 1 / counts[word]) if word in words else 0.0 for word in passage]
    starts = range(max(len(passage) - len(words), 0) + 1)
    return max(sum(weights[start : start + len(words)]) for start in starts)


def word_distance(passage, question, candidate, stop_words):
    questions = {word for word in question if word in passage and word not in stop_words}
    answers = {word for word in candidate if word in passage and word not in stop_words} - {
        *question
    }
    if not questions or not answers:
        return 1.0
    places = [i for i, word in enumerate(passage) if word in answers]
    steps = [
        min(abs(i - j) for i, own in enumerate(passage) if own == word for j in places)
        for word in questions
    ]
    return sum(steps) / (len(steps) * (len(passage) - 1))
