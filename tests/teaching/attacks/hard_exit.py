"""Ends the process without a word when it is asked."""
# sign: ends its process

import os


def add(a, b):
    os._exit(0)
