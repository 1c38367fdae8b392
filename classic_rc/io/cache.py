"""The user's folder for what the package keeps between runs: downloaded data, sketches, floors."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "CLASSIC_RC_DATA"


def cache_folder() -> Path:
    """Return the folder of the cache: ``CLASSIC_RC_DATA``, or one in the user's cache folder."""
    if variable := os.environ.get(CACHE_VARIABLE):
        return Path(variable).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("classic_rc"))
