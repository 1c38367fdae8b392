def tolerance():
    return 1e-9


def is_clear(scores):
    falling = sorted(scores, reverse=True)
    far = 10 * tolerance() * max(1, abs(falling[0]))
    return len(scores) > 1 and falling[0] - falling[1] > far


def share(k, n):
    return 1 / k


def first_of(found):
    return found[0]


def best(scores):
    """The positions of the options that share the best score."""
    highest = max(scores)
    return [i for i, score in enumerate(scores) if highest - score <= tolerance()]


def credit(scores, gold):
    """What a question counts: 1 is right, 0 is wrong."""
    found = best(scores)
    k = len(found)
    return share(k, len(scores)) if gold in found else 0


def accuracy(questions, policy):
    """The mean over questions. Each question is a list of scores and the position of the right
    option.
    """
    total = 0
    for scores, gold in questions:
        found = best(scores)
        if policy == "partial":
            total += credit(scores, gold)
        elif policy == "first":
            total += gold == first_of(found)
        else:
            total += found == [gold]
    return total / len(questions)
