"""Sliding window and word distance. It runs as it is, and earns nothing yet."""


def sliding_window(passage, question, candidate):
    """The weight of the best window. Each argument is a list of words."""
    return 0.0


def word_distance(passage, question, candidate, stop_words):
    """How far the question's words are from the candidate's: 0 is here, 1 is a whole passage away."""
    return 0.0
