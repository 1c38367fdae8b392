"""Prints without measure, on every stream."""
# sign: uses os.write

import os
import sys

for _ in range(100):
    print("x" * 10**5)
    sys.stderr.write("y" * 10**5)
    os.write(1, b"z" * 10**4)


def add(a, b):
    return 0
