"""Answers with lists in lists in lists."""
# sign: answers with no plain data


def add(a, b):
    value = []
    for _ in range(100000):
        value = [value]
    return value
