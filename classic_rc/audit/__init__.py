"""Audit datasets: find leaks and defects, and describe what they contain."""

from classic_rc.audit.ablation import PerturbedEvaluation, PerturbedScore, evaluate_perturbed
from classic_rc.audit.annotators import Annotations, AnnotatorReport, measure_annotators, read_annotations
from classic_rc.audit.artifacts import PARTIAL_INPUTS, PartialInputs, measure_partial_inputs
from classic_rc.audit.check import Balance, CheckInterrupted, CheckReport, check_dataset, measure_label_balance
from classic_rc.audit.duplicates import DuplicateFinding, DuplicatePair, find_duplicates
from classic_rc.audit.hard import HardSubset, find_hard_subset
from classic_rc.audit.integrity import KINDS, Finding, Kind, Severity, find_defects
from classic_rc.audit.measuring import PartialResult, Verdict
from classic_rc.audit.perturb import PERTURBATIONS, Perturbation, perturb_dataset
from classic_rc.audit.rules.partial_input import PartialInput
from classic_rc.audit.statistics.tables import DatasetStatistics, describe_datasets
from classic_rc.audit.without_copies import score_without
from classic_rc.audit.words import LeakingWords, find_leaking_words

__all__ = [
    "KINDS",
    "PARTIAL_INPUTS",
    "PERTURBATIONS",
    "Annotations",
    "AnnotatorReport",
    "Balance",
    "CheckInterrupted",
    "CheckReport",
    "DatasetStatistics",
    "DuplicateFinding",
    "DuplicatePair",
    "Finding",
    "HardSubset",
    "Kind",
    "LeakingWords",
    "PartialInput",
    "PartialInputs",
    "PartialResult",
    "Perturbation",
    "PerturbedEvaluation",
    "PerturbedScore",
    "Severity",
    "Verdict",
    "check_dataset",
    "describe_datasets",
    "evaluate_perturbed",
    "find_defects",
    "find_duplicates",
    "find_hard_subset",
    "find_leaking_words",
    "measure_annotators",
    "measure_label_balance",
    "measure_partial_inputs",
    "perturb_dataset",
    "read_annotations",
    "score_without",
]
