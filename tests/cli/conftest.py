"""The fixtures of command lines."""

from tests.command_line import *  # noqa: F403
