"""Goes on for ever before it is asked anything."""
# sign: takes too long
# seconds: 1.5

while True:
    pass
