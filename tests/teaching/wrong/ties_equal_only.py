"""only equal scores tie; scores at most 1e-9 below the best must tie too

Loses: ties
"""


def best(scores):
    return [i for i, score in enumerate(scores) if score == max(scores)]


def credit(scores, gold):
    tied = best(scores)
    return 1 / len(tied) if gold in tied else 0.0


def accuracy(questions, policy):
    total = 0.0
    for scores, gold in questions:
        tied = best(scores)
        if policy == "partial" or len(tied) == 1:
            total += credit(scores, gold)
        elif policy == "first":
            total += tied[0] == gold
    return total / len(questions)
