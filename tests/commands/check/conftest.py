"""Simulated datasets."""

from tests.simulated import leaks, simulated, task

__all__ = ["leaks", "simulated", "task"]
