"""What the error for rows of an unknown form proposes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from classic_rc.datasets import load
from classic_rc.errors import ClassicRCError, DataError
from tests.errors import raises


def propose(path: Path) -> tuple[ClassicRCError, dict[str, str]]:
    """Load rows of an unknown form; return the error, and the options of its command as arguments
    of `load`.
    """
    found = re.compile("^rows with ")
    with raises(DataError, source=str(path), problem="unknown format", found=found) as caught:
        load(path)
    assert isinstance(caught.value, DataError)
    command = str(caught.value.hint).partition("classic-rc run ")[2]
    source, *options = shlex.split(command)
    assert source == str(path)
    names = [flag.removeprefix("--").replace("-", "_") for flag in options[::2]]
    return caught.value, dict(zip(names, options[1::2], strict=True))
