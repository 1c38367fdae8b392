"""Goes on for ever, also against signals."""
# sign: takes too long
# seconds: 1.5

import signal

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGXCPU):
    signal.signal(number, signal.SIG_IGN)


def add(a, b):
    while True:
        pass
