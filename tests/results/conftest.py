"""The fixtures of all tests on hand-made datasets."""

from tests.hand_made import dataset, says

__all__ = ["dataset", "says"]
