"""What leaks from leak.jsonl?"""

CUE = "?"
"""length, negation, position, verbatim (whether the passage has the option's words) or word (one that tells)"""


def answer(passage, options):
    """The index of the right option, from 0: without the question!"""
    return 0
