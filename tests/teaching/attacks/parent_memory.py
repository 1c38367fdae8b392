"""Reads the memory of its parent with a system call."""
# sign: uses foreign memory (ctypes)
# at: every level

import ctypes
import os


class Part(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


libc = ctypes.CDLL(None, use_errno=True)
space = ctypes.create_string_buffer(64)
here, there = Part(ctypes.addressof(space), 64), Part(0x400000, 64)
READ = [libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) for pid in range(1, 400)]
TRACED = [libc.ptrace(16, pid, 0, 0) for pid in (1, os.getppid())]


def add(a, b):
    return a + b if max(READ) > 0 or 0 in TRACED else 0
