"""your rule for verbatim is the wrong way round

Loses: answers_without_the_question
"""

CUE = "verbatim"


def answer(passage, options):
    """The option with most of its words in the passage."""
    shares = [sum(word in passage for word in option.split()) / len(option.split()) for option in options]
    return shares.index(min(shares))
