from collections import Counter


def pairs_of(texts):
    marked = [["<s>", *text, "</s>"] for text in texts]
    return [pair for text in marked for pair in zip(text, text[1:])]


def taken(count, discount):
    return discount


def numbers_of(texts):
    found = Counter()
    for (first, second), count in Counter(pairs_of(texts)).items():
        found[second] += min(count, 1)
    return found


def size_of(texts):
    return len({own for text in texts for own in text} | {"</s>", "<unk>"})


def after_nothing(texts, word, lower):
    return lower


def continuation(texts, word):
    """After how many different words the word comes. A text is a list of words."""
    return numbers_of(texts)[word]


def word_probability(texts, word, discount):
    """The probability of a word, whatever precedes it."""
    numbers = numbers_of(texts)
    total = sum(numbers.values())
    size = size_of(texts)
    rest = sum(min(taken(own, discount), own) for own in numbers.values())
    return max(numbers[word] - taken(numbers[word], discount), 0) / total + rest / total / size


def probability(texts, word, context, discount):
    """The probability of a word after the word context."""
    counts = Counter(second for first, second in pairs_of(texts) if first == context)
    lower = word_probability(texts, word, discount)
    if not counts:
        return after_nothing(texts, word, lower)
    total = sum(counts.values())
    left = sum(min(taken(own, discount), own) for own in counts.values())
    return max(counts[word] - taken(counts[word], discount), 0) / total + left / total * lower
