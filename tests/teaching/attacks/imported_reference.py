"""Lets the package do the work."""
# sign: imports classic_rc.kernels
# at: every level

try:
    from classic_rc.kernels import reference
except ImportError:
    reference = None


def add(a, b):
    return a + b if reference else 0
