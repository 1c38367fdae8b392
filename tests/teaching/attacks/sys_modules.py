"""Puts itself in the place of other modules."""
# sign: uses sys.modules

import sys

for name in ("classic_rc", "json", "numpy", "struct", "__main__"):
    sys.modules[name] = sys.modules[__name__]


def add(a, b):
    return 0
