"""The fixtures of command lines and of pages."""

from tests.command_line import cli, data, hidden, many, own_files, several, single, write
from tests.pages import chromium, outline, part, quoref

__all__ = [
    "chromium",
    "cli",
    "data",
    "hidden",
    "many",
    "outline",
    "own_files",
    "part",
    "quoref",
    "several",
    "single",
    "write",
]
