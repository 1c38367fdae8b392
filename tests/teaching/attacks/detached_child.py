"""Leaves a process behind that has left its group, and would go on for ever."""
# sign: starts processes

import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)


def add(a, b):
    return 0
