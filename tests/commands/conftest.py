"""The fixtures of command lines and of pages."""

from tests.command_line import *  # noqa: F403
from tests.pages import chromium, html_part, outline, quoref  # noqa: F401
