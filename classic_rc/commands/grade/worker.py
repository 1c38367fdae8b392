"""The process that runs a student's file: it loads the file, calls its functions and answers with
plain data.

It knows neither checks nor expected answers, so nothing that the student's code does in here can
earn a point. It runs as a script: ``worker.py PACKAGE FILE SETTINGS``, with the standard library
and the student's packages alone. A message is four bytes of length and so much JSON; each request
has one answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import signal
import struct
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from numbers import Number
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_MAX_TEXT = 4000
_MODULE = "submission"
_USUAL = {"np": "numpy", "Counter": "collections:Counter", "defaultdict": "collections:defaultdict"}
"""What the usual names are imported from; other names are modules of Python."""


def main() -> None:
    """Give up rights, and answer requests until the stream ends."""
    package, path, settings = sys.argv[1:4]
    file = Path(path)
    _restrict(json.loads(settings))
    sys.path.insert(0, package)
    sys.path.append(str(file.parent))  # A student's random.py does not take the place of Python's.
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    printed = _Printed()
    sys.stdout = sys.stderr = printed
    submission = _SubmittedFile(file)
    answers.write(b"ready\n")
    answers.flush()
    while len(head := requests.read(4)) == 4:
        request = json.loads(requests.read(*struct.unpack(">I", head)))
        printed.parts, printed.length = [], 0
        started = time.process_time()
        _limit_processor_time(request["seconds"])
        try:
            answer = {"value": submission.answer(request)}
        except BaseException as error:  # The student's code may raise anything, SystemExit too.
            answer = {"error": _describe(error, file.parent)}
        answer |= {
            "number": request["number"],
            "printed": "".join(printed.parts),
            "added": submission.added,
            "seconds": time.process_time() - started,
        }
        try:
            message = json.dumps(answer, default=_plain).encode("ascii")
        except BaseException as error:
            answer |= {"value": None, "error": _describe(error, file.parent) | {"frames": []}}
            message = json.dumps(answer).encode("ascii")
        answers.write(struct.pack(">I", len(message)) + message)
        answers.flush()
    os._exit(0)  # Threads and exit handlers that the student's code has left behind do not run.


def _restrict(settings: dict[str, Any]) -> None:
    """Become another user, and set the limits; no code of the student's has run."""
    with suppress(OSError):  # If memory ends, Linux ends this process, and not the grader.
        Path("/proc/self/oom_score_adj").write_text("1000")
    if settings["user"] is not None:
        os.setgroups([])
        os.setresgid(*[settings["user"]] * 3)
        os.setresuid(*[settings["user"]] * 3)
    try:
        import resource
    except ImportError:  # Windows
        return
    seconds = int(settings["seconds"]) + 2
    for kind, value in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, settings["memory_bytes"]),
        (resource.RLIMIT_FSIZE, settings["file_bytes"]),
        (resource.RLIMIT_NPROC, settings["processes"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # macOS has no limit on the address space
            resource.setrlimit(kind, (value, value))


def _limit_processor_time(seconds: float) -> None:
    """End this process by SIGPROF when it has used so much more of the processor."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


class _SubmittedFile:
    """A student's file, and what requests ask of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.module: Any = None
        self.solver: Any = None
        self.added: list[str] = []
        """Names that the file uses without an import, and that were imported for it."""

    def answer(self, request: dict[str, Any]) -> Any:
        try:
            return self._answer(**request)
        except NameError as error:
            if self.module is None or len(self.added) > 8 or not self._add(str(error.name)):
                raise
            return self.answer(request)

    def _add(self, name: str) -> bool:
        """Import what a name usually means; return whether it is known, new, and used as a
        module.
        """
        is_module = name in sys.stdlib_module_names and f"{name}." in self.file.read_text(
            "utf-8", "replace"
        )
        if name in self.added or not (name in _USUAL or is_module):
            return False
        module, _, attribute = _USUAL.get(name, name).partition(":")
        try:
            value = importlib.import_module(module)
        except ImportError:
            return False
        setattr(self.module, name, getattr(value, attribute) if attribute else value)
        self.added.append(name)
        return True

    def _answer(self, do: str, name: str = "", args: Any = (), **_: Any) -> Any:
        if do == "load":
            return self._load()
        if do == "call":
            return getattr(self.module, name)(*args)
        if do == "read":
            return getattr(self.module, name)
        rows = importlib.import_module("classic_rc").make_dataset(args)
        if do == "fit":
            return self.solver.fit(rows) and None
        if do == "make":
            self.solver = getattr(self.module, name)()
            return None
        return [[float(value) for value in scores] for scores in self.solver.score_candidates(rows)]

    def _load(self) -> dict[str, str]:
        """Run the file; return the kind of each public name that it defines."""
        spec = importlib.util.spec_from_file_location(_MODULE, self.file)
        assert spec is not None
        assert spec.loader is not None
        if self.module is None or not self.added:
            self.module = importlib.util.module_from_spec(spec)
        sys.modules[_MODULE] = self.module
        spec.loader.exec_module(self.module)
        values = vars(self.module).items()
        kinds = {}
        for name, value in values:
            if name[0] != "_" and not self._is_of_others(value):
                kinds[name] = _kind(value)
        return kinds

    def _is_of_others(self, value: object) -> bool:
        """Whether the student has imported it, and not from another file of the submission."""
        if isinstance(value, ModuleType) or type(value).__module__ in ("typing", "__future__"):
            return True
        if not isinstance(value, type | FunctionType | BuiltinFunctionType):
            return False
        place = getattr(sys.modules.get(str(value.__module__)), "__file__", None) or ""
        return not Path(place).is_relative_to(self.file.parent)


def _kind(value: object) -> str:
    if isinstance(value, type):
        solver = getattr(sys.modules.get("classic_rc"), "Solver", None)
        return "solver" if solver is not None and issubclass(value, solver) else "class"
    return "function" if callable(value) else "value"


def _plain(value: Any) -> Any:
    """Return what JSON does not know as what it knows: arrays, other numbers, sets and
    iterables.
    """
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Number):
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError(f"the answer has a {type(value).__name__[:100]}, which is not plain data")


def _describe(error: BaseException, folder: Path) -> dict[str, Any]:
    """Return the type, the text, and where in the student's files it comes from."""
    try:
        text = str(error)[:_MAX_TEXT]
    except BaseException:  # The error's class may be the student's own.
        text = ""
    if isinstance(error, SystemExit):
        text = "ends the program (sys.exit or quit)"
    frames: list[Any] = []
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        if file.is_relative_to(folder):
            frames.append((file.relative_to(folder).as_posix(), frame.lineno, frame.name))
    if isinstance(error, SyntaxError) and error.filename:
        file = Path(error.filename)
        if file.is_relative_to(folder):
            text = str(error.msg)
            frames = [(file.relative_to(folder).as_posix(), error.lineno, "<module>")]
    # A recursion has hundreds of frames: keep where it begins and ends.
    frames = [*frames[:3], *frames[3:][-5:]]
    return {"type": type(error).__name__[:100], "text": text, "frames": frames}


class _Printed(io.TextIOBase):
    """What the student's code prints, up to a length."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0

    def write(self, text: str) -> int:
        if self.length < _MAX_TEXT:
            self.parts.append(text[: _MAX_TEXT - self.length])
            self.length += len(self.parts[-1])
        return len(text)


if __name__ == "__main__":
    main()
