"""One submission, one process: with a folder of its own, a time limit, and no way to write much."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

_MOST_OUTPUT = 2**20
_GRACE = 5.0
"""Seconds for what was written to be read, once its writers have been ended."""

_WORKER = Path(__file__).with_name("worker.py")
_PACKAGE = Path(__file__).resolve().parents[2]


class Ended(NamedTuple):
    """What a process told before it ended.

    Parameters
    ----------
    told : list of dict
        The lines that it wrote, each a JSON object; others are left out.
    exit_code : int or None
        None where it was ended because the time was up.
    """

    told: list[dict[str, Any]]
    exit_code: int | None


def run_checks(checker: bytes, submission: tuple[str, bytes] | None, timeout: float) -> Ended:
    """Run a checker on a submission, both written anew into a temporary folder that only they are told of.

    Parameters
    ----------
    checker : bytes
        Its source.
    submission : (str, bytes), optional
        The file's name and content; None to hear only which checks there are.
    timeout : float
        In seconds.
    """
    with TemporaryDirectory(prefix="classic-rc-", ignore_cleanup_errors=True) as folder:
        root = Path(folder).resolve()
        work = root / "work"
        work.mkdir()
        files = [root / "checker.py"]
        files[0].write_bytes(checker)
        if submission is not None:
            files.append(work / submission[0])
            files[1].write_bytes(submission[1])
        return _run(files, work, timeout)


def _run(files: Sequence[Path], folder: Path, timeout: float) -> Ended:
    process = subprocess.Popen(
        [sys.executable, "-P", *map(str, (_WORKER, _PACKAGE, *files))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))},
        bufsize=0,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = bytearray()
    reader = threading.Thread(target=_drain, args=(process.stdout, output), daemon=True)
    reader.start()
    exit_code = None
    try:
        with suppress(subprocess.TimeoutExpired):
            exit_code = process.wait(timeout)
    finally:
        _end_tree(process)
        reader.join(_GRACE)
    return Ended(_objects(bytes(output)), exit_code)


def _drain(pipe: IO[bytes], output: bytearray) -> None:
    """Read to the end, and keep what is within the limit, so that no writer waits and no memory fills."""
    with pipe:
        while data := pipe.read(2**16):
            output += data[: max(_MOST_OUTPUT - len(output), 0)]


def _end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started, as far as the system still knows them for its own."""
    if os.name == "nt":
        if process.poll() is None:
            command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(command, capture_output=True, check=False)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _objects(output: bytes) -> list[dict[str, Any]]:
    found = []
    for line in output.splitlines():
        with suppress(ValueError, RecursionError):
            if isinstance(told := json.loads(line), dict):
                found.append(told)
    return found
