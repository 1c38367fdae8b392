"""How many random examples a costly property gets: few in the suite, all in a step of CI."""

from __future__ import annotations

import os


def examples(few: int, all_of_them: int) -> int:
    """Return the number of examples: all of them where ``CLASSIC_RC_DEEP`` is set, as in ``.ci/deep``."""
    return all_of_them if os.environ.get("CLASSIC_RC_DEEP") else few
