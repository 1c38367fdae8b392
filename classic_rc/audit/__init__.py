"""Audit datasets: find cues, defects and copies, mend what can be mended, and describe what datasets contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.audit.ablation import PerturbedEvaluation, PerturbedScore, evaluate_perturbed
    from classic_rc.audit.check import CheckInterrupted, CheckReport, check_dataset
    from classic_rc.audit.cues import Cue, Example, Kind
    from classic_rc.audit.duplicates import DuplicateFinding, DuplicatePair, find_duplicates
    from classic_rc.audit.header import HeaderRow
    from classic_rc.audit.integrity import KINDS, Finding, Severity, find_defects
    from classic_rc.audit.mend import Repairs, mend_dataset
    from classic_rc.audit.perturb import PERTURBATIONS, Perturbation, perturb_dataset
    from classic_rc.audit.statistics import Balance, DatasetStatistics, describe_datasets, measure_label_balance
    from classic_rc.audit.without_copies import score_without

__all__ = [
    "KINDS",
    "PERTURBATIONS",
    "Balance",
    "CheckInterrupted",
    "CheckReport",
    "Cue",
    "DatasetStatistics",
    "DuplicateFinding",
    "DuplicatePair",
    "Example",
    "Finding",
    "HeaderRow",
    "Kind",
    "Perturbation",
    "PerturbedEvaluation",
    "PerturbedScore",
    "Repairs",
    "Severity",
    "check_dataset",
    "describe_datasets",
    "evaluate_perturbed",
    "find_defects",
    "find_duplicates",
    "measure_label_balance",
    "mend_dataset",
    "perturb_dataset",
    "score_without",
]

__getattr__, __dir__ = names_on_use(__name__)
