"""A Kneser-Ney model of pairs of words. It runs as it is, and earns nothing yet."""


def continuation(texts, word):
    """After how many different words the word comes. A text is a list of words."""
    return None


def word_probability(texts, word, discount):
    """The probability of a word, whatever precedes it."""
    return 0.0


def probability(texts, word, context, discount):
    """The probability of a word after the word context."""
    return 0.0
