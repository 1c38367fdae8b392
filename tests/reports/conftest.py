"""The fixtures of pages."""

from tests.pages import chromium, html_part, outline, quoref

__all__ = ["chromium", "html_part", "outline", "quoref"]
