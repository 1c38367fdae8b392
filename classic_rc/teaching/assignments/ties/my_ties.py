"""Ties and partial credit. It runs as it is, and earns nothing yet."""


def best(scores):
    """The positions of the options that share the best score."""
    return []


def credit(scores, gold):
    """What a question counts: 1 is right, 0 is wrong."""
    return None


def accuracy(questions, policy):
    """The mean over questions. Each question is a list of scores and the position of the right option."""
    return None
