"""Reads command lines, open files and memory of other processes."""
# sign: opens files
# at: every level
# seconds: 1.5

import os

FOUND = False
for process in ("self", os.getppid(), *range(1, 200)):
    for name in ("environ", "mem", "maps", "cmdline", "fd/3"):
        try:
            with open(f"/proc/{process}/{name}", "rb") as file:
                FOUND = FOUND or bool(file.read(64))
        except OSError:
            pass


def add(a, b):
    return a + b if FOUND else 0
