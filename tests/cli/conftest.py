"""The fixtures of command lines."""

from tests.command_line import cli, data, hidden, many, own_files, several, single, write

__all__ = ["cli", "data", "hidden", "many", "own_files", "several", "single", "write"]
