from math import exp, log  # noqa: F401 -- a rule uses log

STRONGEST = None


def features(passage, question, option):
    """Three numbers: words there, the best sentence, and length. A passage is a list of
    sentences of words.
    """
    there = {word for sentence in passage for word in sentence}
    wanted = set(question + option)
    shared = [len(wanted & set(sentence)) for sentence in passage]
    first = sum(word in there for word in set(option)) / max(len(set(option)), 1)
    return [first, max(shared, default=0) / max(len(wanted), 1), len(option) / 10]


def fit(rows, labels, rate, steps, l2):
    """The weights of the features, and the bias last."""
    weights = [0.0] * (len(rows[0]) + 1)
    for _ in range(steps):
        errors = []
        for row, label in zip(rows, labels):
            z = sum(w * x for w, x in zip(weights, [*row, 1.0]))
            errors.append(1 / (1 + exp(-z)) - label)
        n = len(rows)
        for j in range(len(weights)):
            gradient = sum(e * [*row, 1.0][j] for e, row in zip(errors, rows)) / n
            if j < len(rows[0]):
                gradient += l2 * weights[j]
            weights[j] -= rate * gradient
    return weights


def accuracy(questions, weights):
    """The share of questions answered. A question is the rows of its options and the right
    position.
    """
    total = 0
    for rows, gold in questions:
        scores = [round(sum(w * x for w, x in zip(weights, row)), 9) for row in rows]
        best = [i for i, own in enumerate(scores) if own == max(scores)]
        total += (gold in best) / len(best)
    return total / len(questions)


def ablation(train, test, rate, steps, l2):
    """For each feature, what accuracy on test loses if the feature is 0 everywhere."""

    def reached(left_out):
        train_, test_ = (
            [
                [[[0 if j == left_out else x for j, x in enumerate(row)] for row in rows], gold]
                for rows, gold in part
            ]
            for part in (train, test)
        )
        rows = [row for own, gold in train_ for row in own]
        labels = [int(i == gold) for own, gold in train_ for i in range(len(own))]
        return accuracy(test_, fit(rows, labels, rate, steps, l2))

    return [reached(None) - reached(j) for j in range(len(train[0][0][0]))]
