"""``check`` and ``perturb``: find cues, defects and copies in a dataset, and mend what can be
mended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classic_rc.plugins import names_on_use

if TYPE_CHECKING:
    from classic_rc.commands.check.audit import CheckInterrupted, CheckReport, check_dataset
    from classic_rc.commands.check.cues import Cue, CueKind, Example
    from classic_rc.commands.check.duplicates import (
        DuplicateFinding,
        DuplicatePair,
        find_duplicates,
    )
    from classic_rc.commands.check.header import HeaderRow
    from classic_rc.commands.check.integrity import KINDS, find_defects
    from classic_rc.commands.check.kinds import Finding, Severity
    from classic_rc.commands.check.mend import Repairs, mend_dataset
    from classic_rc.commands.check.without_copies import group_original_questions

__all__ = [
    "KINDS",
    "CheckInterrupted",
    "CheckReport",
    "Cue",
    "CueKind",
    "DuplicateFinding",
    "DuplicatePair",
    "Example",
    "Finding",
    "HeaderRow",
    "Repairs",
    "Severity",
    "check_dataset",
    "find_defects",
    "find_duplicates",
    "group_original_questions",
    "mend_dataset",
]

__getattr__, __dir__ = names_on_use(__name__)
