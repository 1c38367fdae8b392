"""The process that checks one submission. It writes the outcome of each check to its original stdout."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Check = Callable[[ModuleType], None]

_MAX_MESSAGE = 500


def main() -> None:
    """Run ``worker.py PACKAGE CHECKER [FILE]``: check the file, or list the checks if no file is given.

    PACKAGE is the folder that contains this package, for the case that it is not installed. A line of JSON is
    written as soon as a check ends, so its outcome is kept even if the submission ends or hangs this process later.
    """
    package, *paths = sys.argv[1:]
    sys.path.append(package)
    checker, *files = map(Path, paths)
    with _own_stdout() as channel:

        def send(**fields: Any) -> None:
            channel.write(json.dumps(fields) + "\n")
            channel.flush()

        try:
            checks = find_checks(load_module(checker, "checker"))
        except BaseException as error:
            send(broken=describe_error(error, checker))
            return
        if not files:
            send(checks=[(name, _title(check)) for name, check in checks.items()])
            return
        problem, submission = None, None
        try:
            submission = load_module(files[0], "submission")
        except BaseException as error:
            problem = describe_error(error, files[0])
        for name, check in checks.items():
            send(check=name, problem=problem if submission is None else _run_check(check, submission, files[0]))
    os._exit(0)  # Skip any threads and exit handlers that the submission has left behind.


def find_checks(checker: ModuleType) -> dict[str, Check]:
    """Return the functions of a checker that start with ``check_``, by the rest of the name, in file order."""
    own = {
        name.removeprefix("check_"): value
        for name, value in vars(checker).items()
        if name.startswith("check_") and getattr(value, "__module__", None) == checker.__name__
    }
    if not own:
        raise ValueError("no function has a name that begins with check_")
    return own


def load_module(file: Path, name: str) -> ModuleType:
    """Run a file as a module and register it under `name`, so that what it defines can be pickled."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def describe_error(error: BaseException, file: Path) -> str:
    """Describe an error in one line: a check's own message, or the error's type, text and line in `file`."""
    if isinstance(error, SystemExit):
        return "ends the program (sys.exit or quit)"
    try:
        text = " ".join(str(error)[:_MAX_MESSAGE].split())
    except Exception:  # The submission's own error classes can have a broken __str__.
        text = ""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} (line {error.lineno})"
    own_lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if _is_in(frame.filename, file)
    ]
    if isinstance(error, AssertionError) and not own_lines:
        return text or "the check failed"
    where = f" (line {own_lines[-1]})" if own_lines else ""
    return f"{type(error).__name__}: {text}{where}" if text else f"{type(error).__name__}{where}"


def _run_check(check: Check, submission: ModuleType, file: Path) -> str | None:
    try:
        check(submission)
    except BaseException as error:
        return describe_error(error, file)
    return None


def _title(check: Check) -> str:
    return (check.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def _is_in(filename: str, file: Path) -> bool:
    return filename == str(file)


def _own_stdout() -> Any:
    """Return the original stdout for the worker only; what the submission prints is discarded."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return channel


if __name__ == "__main__":
    main()
