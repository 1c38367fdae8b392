"""The fixtures of command lines and of pages."""

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
from tests.pages import chromium, html_part, outline, quoref

__all__ = [
    "chromium",
    "cli",
    "data",
    "forty_questions",
    "hidden",
    "html_part",
    "multiple_answer",
    "outline",
    "own_files",
    "quoref",
    "single",
    "write",
]
