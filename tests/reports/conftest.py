"""The fixtures of pages."""

from tests.pages import chromium, outline, part, quoref

__all__ = ["chromium", "outline", "part", "quoref"]
