def f1(questions, threshold):
    """F1 of the options above the threshold. A question is a list of scores and a list of
    labels, 1 for right.
    """
    options = [
        (score, label) for scores, labels in questions for score, label in zip(scores, labels)
    ]
    chosen = [label for score, label in options if score > threshold]
    tp = sum(chosen)
    fp, fn = len(chosen) - tp, sum(label for score, label in options) - tp
    if tp + fp + fn == 0:
        return 1
    return 2 * tp / (2 * tp + fp + fn)


def tune(questions):
    """The threshold with the best F1."""
    falling = sorted({score for scores, labels in questions for score in scores}, reverse=True)
    middles = [(upper + lower) / 2 for upper, lower in zip(falling, falling[1:])]
    cuts = [falling[0], *middles, falling[-1] - 1]
    return max(cuts, key=lambda cut: (round(f1(questions, cut), 12), cut))


def evaluate(train, test):
    """The threshold, and the F1 on the test questions."""
    return [tune(train), f1(test, tune(train))]
