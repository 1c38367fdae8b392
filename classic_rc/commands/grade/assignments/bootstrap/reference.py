import random


def accuracy(passages, draw):
    """The mean credit of the questions of the passages drawn. Each passage is a list of credits."""
    credits = [credit for i in draw for credit in passages[i]]
    return sum(credits) / len(credits)


def draws(n_passages, n, seed):
    """n random draws; each is a list of n_passages positions."""
    rng = random.Random(seed)
    return [rng.choices(range(n_passages), k=n_passages) for _ in range(n)]


def interval(values, level):
    """The lower and the upper bound of the middle part of the values."""
    ordered = sorted(values)
    bounds = []
    for q in ((1 - level) / 2, (1 + level) / 2):
        place = q * (len(ordered) - 1)
        below = int(place + 1e-9)
        above = min(below + 1, len(ordered) - 1)
        part = max(place - below, 0)
        bounds.append(ordered[below] + part * (ordered[above] - ordered[below]))
    return bounds


def difference(first, second, all_draws, level):
    """The difference of two systems on the same questions, and its interval."""
    everything = range(len(first))
    d = accuracy(first, everything) - accuracy(second, everything)
    low, high = interval(
        [accuracy(first, draw) - accuracy(second, draw) for draw in all_draws], level
    )
    return [d, low, high]
