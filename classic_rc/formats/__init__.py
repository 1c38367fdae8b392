"""Read and write submission and score files, in the datasets' official layouts and in one of our
own.
"""

from classic_rc.formats.base import Format
from classic_rc.formats.registry import (
    FORMATS,
    default_format,
    get_format,
    read_predictions,
    read_scores,
    write_predictions,
)

__all__ = [
    "FORMATS",
    "Format",
    "default_format",
    "get_format",
    "read_predictions",
    "read_scores",
    "write_predictions",
]
