def best(scores):
    """The positions of the options that share the best score."""
    highest = max(scores)
    return [i for i, score in enumerate(scores) if highest - score <= 1e-9]


def credit(scores, gold):
    """What a question counts: 1 is right, 0 is wrong."""
    found = best(scores)
    k = len(found)
    return 1 / k if gold in found else 0


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
            total += gold == found[0]
        else:
            total += found == [gold]
    return total / len(questions)
