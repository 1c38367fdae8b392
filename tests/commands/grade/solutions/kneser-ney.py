"""Interpolated Kneser-Ney of pairs, with one discount."""

from collections import Counter


def pairs(texts):
    marked = [["<s>", *text, "</s>"] for text in texts]
    return [pair for text in marked for pair in zip(text, text[1:])]


def continuation(texts, word):
    return sum(second == word for _, second in set(pairs(texts)))


def word_probability(texts, word, discount):
    seen = set(pairs(texts))
    n_words = len({second for _, second in seen})
    n_possible = len({word for text in texts for word in text}) + 2
    own = max(continuation(texts, word) - discount, 0)
    return own / len(seen) + discount * n_words / len(seen) / n_possible


def probability(texts, word, context, discount):
    counts = Counter(second for first, second in pairs(texts) if first == context)
    lower = word_probability(texts, word, discount)
    if not counts:
        return lower
    total = sum(counts.values())
    return max(counts[word] - discount, 0) / total + discount * len(counts) / total * lower
