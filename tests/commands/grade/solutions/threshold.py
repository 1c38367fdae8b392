"""A threshold tuned on train."""


def f1(questions, threshold):
    tp = wrong = 0
    for scores, labels in questions:
        for score, label in zip(scores, labels):
            tp += score > threshold and label == 1
            wrong += (score > threshold) != (label == 1)
    return 2 * tp / (2 * tp + wrong) if tp + wrong else 1.0


def tune(questions):
    scores = sorted({score for scores, _ in questions for score in scores})
    middles = [(low + high) / 2 for low, high in zip(scores, scores[1:])]
    thresholds = [scores[-1], *middles, scores[0] - 1]
    return max((round(f1(questions, own), 12), own) for own in thresholds)[1]


def evaluate(train, test):
    threshold = tune(train)
    return [threshold, f1(test, threshold)]
