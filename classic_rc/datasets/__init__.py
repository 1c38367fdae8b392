"""Read questions from published datasets (files, folders, archives), the user's own files, and rows
in memory.

Copies that lack something, and statistics, are here too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.datasets.base import Reader
    from classic_rc.datasets.memory import from_rows, join_datasets
    from classic_rc.datasets.own_files import to_jsonl
    from classic_rc.datasets.perturbations import PERTURBATIONS, Perturbation, perturb_dataset
    from classic_rc.datasets.registry import READERS, expand_sample_names, load
    from classic_rc.datasets.statistics import (
        Balance,
        DatasetStatistics,
        describe_datasets,
        measure_label_balance,
    )

__all__ = [
    "PERTURBATIONS",
    "READERS",
    "Balance",
    "DatasetStatistics",
    "Perturbation",
    "Reader",
    "describe_datasets",
    "expand_sample_names",
    "from_rows",
    "join_datasets",
    "load",
    "measure_label_balance",
    "perturb_dataset",
    "to_jsonl",
]

__getattr__, __dir__ = names_on_use(__name__)
