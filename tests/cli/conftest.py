"""The fixtures of command lines."""

from tests.command_line import (
    cli,
    data,
    forty_questions,
    hidden,
    multiple_answer,
    own_files,
    single,
    write,
)

__all__ = [
    "cli",
    "data",
    "forty_questions",
    "hidden",
    "multiple_answer",
    "own_files",
    "single",
    "write",
]
