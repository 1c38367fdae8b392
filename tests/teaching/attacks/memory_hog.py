"""Takes all memory."""
# sign: runs out of memory


def add(a, b):
    parts = []
    while True:
        parts.append(bytearray(2**26))
