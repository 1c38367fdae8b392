"""Ends the process while it is loaded."""
# sign: ends its process

import os

os._exit(0)
