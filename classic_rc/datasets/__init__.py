"""Read questions from published datasets (files, folders, archives), the user's own files, and rows in memory."""

from __future__ import annotations

from classic_rc.datasets.base import Reader
from classic_rc.datasets.memory import from_rows, join_datasets
from classic_rc.datasets.registry import READERS, expand_sample_names, load

__all__ = ["READERS", "Reader", "expand_sample_names", "from_rows", "join_datasets", "load"]
