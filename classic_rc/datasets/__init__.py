"""Read questions from published datasets (files, folders, archives), the user's own files, and rows in memory."""

from __future__ import annotations

from typing import Any

from classic_rc.datasets.base import Reader
from classic_rc.datasets.joined import join_datasets
from classic_rc.datasets.registry import READERS, expand_sample_names, from_rows, load
from classic_rc.deprecated import find_deprecated

__all__ = ["READERS", "Reader", "expand_sample_names", "from_rows", "join_datasets", "load"]


def __getattr__(name: str) -> Any:
    return find_deprecated(__name__, name, {"expand": "classic_rc.datasets:expand_sample_names"})
