"""For the leak that the checker plants as it comes: wrong options often name a place that the
story has not.
"""

CUE = "verbatim"


def answer(passage, options):
    """The option with most of its words in the passage."""
    shares = [
        sum(word in passage for word in option.split()) / len(option.split()) for option in options
    ]
    return shares.index(max(shares))
