"""The old name of :mod:`classic_rc.audit`."""

from __future__ import annotations

from typing import Any

from classic_rc.deprecated import find_deprecated

_NEW = {
    "FAMILY": "PARTIAL_INPUTS",
    "KINDS": "KINDS",
    "CheckReport": "CheckReport",
    "DatasetStatistics": "DatasetStatistics",
    "Finding": "Finding",
    "LeakingWords": "LeakingWords",
    "PartialInput": "PartialInput",
    "PartialInputs": "PartialInputs",
    "PartialResult": "PartialResult",
    "check": "check_dataset",
    "integrity": "find_defects",
    "leaking_words": "find_leaking_words",
    "statistics": "describe_datasets",
    "try_partial_inputs": "measure_partial_inputs",
}


def __getattr__(name: str) -> Any:
    return find_deprecated(__name__, name, {old: f"classic_rc.audit:{new}" for old, new in _NEW.items()})
