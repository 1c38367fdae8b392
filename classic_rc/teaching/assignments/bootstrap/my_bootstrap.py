"""Bootstrap intervals over passages. It runs as it is, and earns nothing yet."""


def accuracy(passages, draw):
    """The mean credit of the questions of the passages drawn. Each passage is a list of credits."""
    return None


def draws(n_passages, n, seed):
    """n random draws; each is a list of n_passages positions."""
    return None


def interval(values, level):
    """The lower and the upper bound of the middle part of the values."""
    return None


def difference(first, second, all_draws, level):
    """The difference of two systems on the same questions, and its interval."""
    return None
