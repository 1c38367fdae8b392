"""How much of a costly test runs in the suite; the rest runs in ``.ci/deep`` or before a
release.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest


def examples(few: int, all_of_them: int) -> int:
    """Return the number of random examples: all of them where ``CLASSIC_RC_DEEP`` is set, as
    before a release.
    """
    return all_of_them if os.environ.get("CLASSIC_RC_DEEP") else few


def thinned(cases: Iterable[Any], step: int, first: int = 0) -> list[Any]:
    """Return parameters of a test, with the marker ci on all but every n-th."""
    return [case if i % step == first else _in_ci(case) for i, case in enumerate(cases)]


def _in_ci(case: Any) -> Any:
    if hasattr(case, "marks"):  # of pytest.param
        return pytest.param(*case.values, marks=[*case.marks, pytest.mark.ci], id=case.id)
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.ci)
