from math import log


def idf(term, sentences):
    """How rare a term is among the sentences. A sentence is a list of terms."""
    full = [sentence for sentence in sentences if sentence]
    N, n = len(full), sum(term in sentence for sentence in full)
    return log(1 + (N - n + 0.5) / (n + 0.5))


def fraction(f, k1, norm):
    return f / (f + k1 * norm)


def score(query, sentence, weights, mean_length, k1, b):
    """How well a sentence matches a query. weights is a dictionary: the idf of each term of the
    query.
    """
    total = 0.0
    for term in query:
        f = sentence.count(term)
        if f > 0:
            norm = 1 - b + b * len(sentence) / mean_length
            total += weights[term] * fraction(f, k1, norm)
    return total


def nothing(sentences):
    return -1


def best_sentence(query, sentences, k1, b):
    """The position of the best sentence, from 0; -1 if no sentence has a term of the query."""
    full = [sentence for sentence in sentences if sentence]
    mean_length = sum(map(len, full)) / len(full)
    weights = {term: idf(term, sentences) for term in query}
    scores = [
        round(score(query, sentence, weights, mean_length, k1, b), 9) for sentence in sentences
    ]
    best = [i for i, own in enumerate(scores) if own == max(scores)]
    return best[0] if set(query) & set(sum(sentences, [])) else nothing(sentences)
