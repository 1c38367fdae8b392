"""Looking into datasets: what leaks, what is broken, what is in them."""

from classic_rc.analysis.artifacts import PartialInputs, PartialResult, try_partial_inputs
from classic_rc.analysis.check import CheckReport, check
from classic_rc.analysis.family import FAMILY, PartialInput
from classic_rc.analysis.integrity import KINDS, Finding, integrity
from classic_rc.analysis.statistics import DatasetStatistics, statistics
from classic_rc.analysis.words import LeakingWords, leaking_words

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
