from collections import Counter
from math import log


def weigh(count, length):
    return log(1 + 1 / count)


def size_of(words):
    return len(words)


def is_longer(passage, question, candidate):
    words = [*question, *candidate]
    return 0 < len(words) == len(set(words)) and size_of(words) < len(passage)


def gather(steps):
    return sum(steps) / len(steps)


def longest_way(passage):
    return len(passage) - 1


def sliding_window(passage, question, candidate):
    """The weight of the best window. Each argument is a list of words."""
    words = set(question + candidate)
    size = size_of(words)
    counts = Counter(passage)
    starts = range(max(len(passage) - size, 0) + 1)
    windows = [passage[start : start + size] for start in starts]
    return max(
        sum(weigh(counts[word], len(passage)) for word in window if word in words)
        for window in windows
    )


def word_distance(passage, question, candidate, stop_words):
    """How far the question's words are from the candidate's: 0 is here, 1 is a whole passage
    away.
    """
    questions = {word for word in question if word in passage and word not in stop_words}
    answers = {word for word in candidate if word in passage and word not in stop_words}
    answers = answers - set(question)
    if not questions or not answers:
        return 1.0
    places = [i for i, word in enumerate(passage) if word in answers]
    starts = [[i for i, word in enumerate(passage) if word == own] for own in questions]
    steps = [min(abs(i - j) for i in own for j in places) for own in starts]
    return gather(steps) / longest_way(passage)
