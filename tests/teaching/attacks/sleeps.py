"""Waits until somebody gives up."""
# sign: takes too long
# seconds: 1.5

import time


def add(a, b):
    time.sleep(600)
