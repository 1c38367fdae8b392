"""Answers with a list that contains itself."""
# sign: answers with no plain data


def add(a, b):
    value = []
    value.append(value)
    return value
