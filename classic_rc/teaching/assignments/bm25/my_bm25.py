"""BM25. It runs as it is, and earns nothing yet."""


def idf(term, sentences):
    """How rare a term is among the sentences. A sentence is a list of terms."""
    return 0.0


def score(query, sentence, weights, mean_length, k1, b):
    """How well a sentence matches a query. weights is a dictionary: the idf of each term of the query."""
    return 0.0


def best_sentence(query, sentences, k1, b):
    """The position of the best sentence, from 0; -1 if no sentence has a term of the query."""
    return None
