"""Skip the cases of analyzers whose package is not installed."""

from __future__ import annotations

import pytest

from classic_rc.errors import MissingPackageError
from classic_rc.text.segmenters import SEGMENTERS

REASON = "jieba is not installed: pip install 'classic_rc[zh]'"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases that need a package that is not installed."""
    reasons = {}
    for segmenter in SEGMENTERS:
        try:
            _ = segmenter().version
        except MissingPackageError as error:
            reasons[segmenter.name] = str(error)
    for item in items:
        values = getattr(item, "callspec", None)
        for value in values.params.values() if values is not None else ():
            name = str(value).partition("+")[0]
            if name in reasons:
                item.add_marker(pytest.mark.skip(reason=reasons[name]))
