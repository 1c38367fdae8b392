"""Skip the cases of analyzers whose package is not installed."""

from __future__ import annotations

import importlib.util

import pytest

REASON = "jieba is not installed: pip install 'classic_rc[zh]'"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that need jieba."""
    if importlib.util.find_spec("jieba") is not None:
        return
    for item in items:
        values = getattr(item, "callspec", None)
        if values is not None and any(
            str(value).startswith("jieba") for value in values.params.values()
        ):
            item.add_marker(pytest.mark.skip(reason=REASON))
