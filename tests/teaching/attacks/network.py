"""Asks a server for the answers."""
# sign: uses the network (socket)
# at: every level

import socket

FOUND = False
for kind in (socket.AF_INET, socket.AF_UNIX):
    try:
        socket.socket(kind, socket.SOCK_DGRAM).connect(("127.0.0.1", 53) if kind == socket.AF_INET else "/run/x")
        FOUND = True
    except OSError:
        pass


def add(a, b):
    return a + b if FOUND else 0
