"""Looking into datasets: what leaks, what is broken, what is in them."""

from classic_rc.audit.artifacts import FAMILY, PartialInput, PartialInputs, PartialResult, try_partial_inputs
from classic_rc.audit.check import CheckReport, check
from classic_rc.audit.integrity import KINDS, Finding, integrity
from classic_rc.audit.statistics import DatasetStatistics, statistics
from classic_rc.audit.words import LeakingWords, leaking_words

__all__ = [
    "FAMILY",
    "KINDS",
    "CheckReport",
    "DatasetStatistics",
    "Finding",
    "LeakingWords",
    "PartialInput",
    "PartialInputs",
    "PartialResult",
    "check",
    "integrity",
    "leaking_words",
    "statistics",
    "try_partial_inputs",
]
