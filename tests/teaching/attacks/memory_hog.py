"""Takes all memory."""
# sign: runs out of memory
# at: every level


def add(a, b):
    parts = []
    while True:
        parts.append(bytearray(2**26))
