"""Command lines in a process of their own, all in one: Python starts for longer than most of
them run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_RUN_ALL = """
import contextlib, io, json, sys
from classic_rc.cli.main import main
done = []
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    done.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(done))
"""


class ProcessOutcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def run_commands(
    *commands: tuple[str, ...], path: list[str], cwd: Path | None = None
) -> list[ProcessOutcome]:
    """Run command lines one after the other in a process with this path of modules."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN_ALL, json.dumps(commands)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        cwd=cwd,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return [ProcessOutcome(*fields) for fields in json.loads(done.stdout)]
