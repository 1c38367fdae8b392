"""Makes a user namespace, where it would have the rights of root, by each call that can."""
# sign: uses foreign memory (ctypes)
# at: every level

import ctypes
import os

libc = ctypes.CDLL(None)
CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
NEW_USER = 0x10000000
child = libc.syscall(CLONE, NEW_USER | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
FOUND = child > 0 or libc.unshare(NEW_USER) == 0


def add(a, b):
    return a + b if FOUND else 0
