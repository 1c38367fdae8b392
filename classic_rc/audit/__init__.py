"""Audit datasets: find leaks and defects, and describe what they contain."""

from classic_rc.audit.artifacts import FAMILY, Gain, PartialInput, PartialInputs, PartialResult, try_partial_inputs
from classic_rc.audit.check import Balance, CheckReport, check, label_balance
from classic_rc.audit.hard import HardSubset, hard_subset
from classic_rc.audit.integrity import KINDS, Finding, Kind, Severity, integrity
from classic_rc.audit.statistics.tables import DatasetStatistics, statistics
from classic_rc.audit.words import LeakingWords, leaking_words

__all__ = [
    "FAMILY",
    "KINDS",
    "Balance",
    "CheckReport",
    "DatasetStatistics",
    "Finding",
    "Gain",
    "HardSubset",
    "Kind",
    "LeakingWords",
    "PartialInput",
    "PartialInputs",
    "PartialResult",
    "Severity",
    "check",
    "hard_subset",
    "integrity",
    "label_balance",
    "leaking_words",
    "statistics",
    "try_partial_inputs",
]
