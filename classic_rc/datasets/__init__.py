"""Datasets: their own files, folders and archives, one's own files, and rows in memory, read as questions."""

from classic_rc.datasets.base import Reader
from classic_rc.datasets.registry import READERS, expand, from_rows, load

__all__ = ["READERS", "Reader", "expand", "from_rows", "load"]
