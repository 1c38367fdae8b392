"""Bootstrap intervals over passages."""

import random

import numpy as np


def accuracy(passages, draw):
    credits = [credit for i in draw for credit in passages[i]]
    return sum(credits) / len(credits)


def draws(n_passages, n, seed):
    rng = random.Random(seed)
    return [rng.choices(range(n_passages), k=n_passages) for _ in range(n)]


def interval(values, level):
    return np.quantile(values, [(1 - level) / 2, (1 + level) / 2])


def difference(first, second, all_draws, level):
    everything = range(len(first))
    differences = [accuracy(first, draw) - accuracy(second, draw) for draw in all_draws]
    low, high = interval(differences, level)
    return [accuracy(first, everything) - accuracy(second, everything), low, high]
