"""Answers with a number of a million digits."""
# sign: answers with no plain data


def add(a, b):
    return 10**1000000
