"""length is no cue here, or a trace of another

Loses: names_the_cue
"""

CUE = "length"


def answer(passage, options):
    """The option with most of its words in the passage."""
    shares = [sum(word in passage for word in option.split()) / len(option.split()) for option in options]
    return shares.index(max(shares))
