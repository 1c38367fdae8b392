"""BM25 as Lucene 8 has it."""

from math import log


def idf(term, sentences):
    sentences = [sentence for sentence in sentences if sentence]
    n = sum(term in sentence for sentence in sentences)
    return log(1 + (len(sentences) - n + 0.5) / (n + 0.5))


def score(query, sentence, weights, mean_length, k1, b):
    total = 0.0
    for term in query:
        f = sentence.count(term)
        if f:
            total += weights[term] * f / (f + k1 * (1 - b + b * len(sentence) / mean_length))
    return total


def best_sentence(query, sentences, k1, b):
    lengths = [len(sentence) for sentence in sentences if sentence]
    mean = sum(lengths) / len(lengths)
    weights = {term: idf(term, sentences) for term in query}
    scores = [round(score(query, sentence, weights, mean, k1, b), 9) for sentence in sentences]
    return scores.index(max(scores)) if max(scores) > 0 else -1
