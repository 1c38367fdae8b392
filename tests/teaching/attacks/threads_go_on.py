"""Leaves a thread that goes on while others are graded."""
# sign: uses threads (threading)

import threading


def forever():
    while True:
        pass


threading.Thread(target=forever).start()


def add(a, b):
    return 0
