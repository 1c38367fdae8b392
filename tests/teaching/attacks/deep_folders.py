"""Makes folders in folders in folders, which are hard to delete."""
# sign: uses os.chdir

import os

for _ in range(1100):
    os.mkdir("deeper")
    os.chdir("deeper")


def add(a, b):
    return 0
