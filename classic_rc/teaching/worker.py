"""The process that runs a student's file: it loads the file, calls its functions and answers with plain data.

It knows neither checks nor expected answers, so nothing that the student's code does in here can earn a point. It
runs as a script, with the standard library and the student's package alone. A message is four bytes of length and
so much JSON; each request has one answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import linecache
import os
import struct
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from numbers import Number
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, BinaryIO

_MAX_TEXT = 4000
_WATCHED = (
    *("socket.", "subprocess.", "ctypes.", "shutil."),
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.kill", "os.chmod", "os.chown"),
)
_MODULE = "submission"


def main() -> None:
    """Run ``worker.py PACKAGE FILE [FOLDER...]``: answer requests until the stream ends."""
    package, file = sys.argv[1:3]
    sys.path.insert(0, package)
    sys.path.append(str(Path(file).parent))  # A student's random.py does not take the place of Python's.
    requests, answers = _own_streams()
    printed = _Printed()
    sys.stdout = sys.stderr = printed
    events = _watch(Path(file).parent, package)
    submission = _Submission(Path(file))
    answers.write(b"ready\n")
    answers.flush()
    while (request := _receive(requests)) is not None:
        printed.clear()
        events.clear()
        try:
            answer = {"value": submission.answer(request)}
        except BaseException as error:  # The student's code may raise anything, SystemExit too.
            answer = {"error": _describe(error, file)}
        answer |= {"number": request["number"], "printed": printed.text(), "events": sorted(set(events))[:20]}
        try:
            message = json.dumps(answer, default=_plain).encode("ascii")
        except BaseException as error:
            problem = _describe(error, file) | {"traceback": ""}
            answer |= {"value": None, "error": problem, "events": [*answer["events"], "answer"]}
            message = json.dumps(answer).encode("ascii")
        answers.write(struct.pack(">I", len(message)) + message)
        answers.flush()
    os._exit(0)  # Threads and exit handlers that the student's code has left behind do not run.


class _Submission:
    """A student's file, and what requests ask of it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.module: ModuleType | None = None
        self.solver: Any = None

    def answer(self, request: dict[str, Any]) -> Any:
        if request["do"] == "load":
            return self._load()
        if request["do"] == "call":
            function = getattr(self.module, request["name"])
            return function(*request["args"])
        if request["do"] == "read":
            return getattr(self.module, request["name"])
        if request["do"] == "solver":
            return self._make_solver(request["name"], request["train"])
        return self._score(request["questions"])

    def _load(self) -> dict[str, str]:
        """Run the file; return the kind of each public name that it defines."""
        spec = importlib.util.spec_from_file_location(_MODULE, self.file)
        assert spec is not None
        assert spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        sys.modules[_MODULE] = self.module
        spec.loader.exec_module(self.module)
        return {
            name: _kind(value)
            for name, value in vars(self.module).items()
            if not name.startswith("_") and not self._is_of_others(value)
        }

    def _is_of_others(self, value: object) -> bool:
        """Whether the student has imported it, and not from another file of the submission."""
        if isinstance(value, ModuleType) or type(value).__module__ in ("typing", "__future__"):
            return True
        if not isinstance(value, type | FunctionType | BuiltinFunctionType):
            return False
        place = getattr(sys.modules.get(str(value.__module__)), "__file__", None) or ""
        return not Path(place).is_relative_to(self.file.parent)

    def _make_solver(self, name: str, train: list[dict[str, Any]] | None) -> None:
        self.solver = getattr(self.module, name)()
        if train is not None:
            self.solver.fit(_make_dataset(train))

    def _score(self, rows: list[dict[str, Any]]) -> list[list[float]]:
        scores = self.solver.score_candidates(_make_dataset(rows))
        return [[float(value) for value in own] for own in scores]


def _make_dataset(rows: list[dict[str, Any]]) -> Any:
    """Return a dataset of the student's package: this file runs with that one as ``classic_rc``."""
    return importlib.import_module("classic_rc").make_dataset(rows)


def _kind(value: object) -> str:
    if isinstance(value, type):
        solver = getattr(sys.modules.get("classic_rc"), "Solver", None)
        return "solver" if solver is not None and issubclass(value, solver) else "class"
    return "function" if callable(value) else "value"


def _plain(value: Any) -> Any:
    """Return what JSON does not know as what it knows: arrays, other numbers, sets and whatever gives items."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Number):
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return list(value)
    raise TypeError(f"the answer has a {type(value).__name__[:100]}, which is no plain data")


def _describe(error: BaseException, file: str) -> dict[str, Any]:
    """Return the type, the text, the line in the student's file, and the student's part of the traceback."""
    try:
        text = str(error)[:_MAX_TEXT]
    except BaseException:  # The error's class may be the student's own.
        text = ""
    if isinstance(error, SystemExit):
        text = "ends the program (sys.exit or quit)"
    if isinstance(error, SyntaxError):
        return {"type": type(error).__name__, "text": str(error.msg), "line": error.lineno, "traceback": ""}
    linecache.checkcache()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    shown = [*frames[:3], *frames[-5:]] if len(frames) > 8 else frames
    lines = "".join(traceback.format_list(shown)).splitlines()
    told = "\n".join(line for line in lines if line.strip(" ^~"))[:_MAX_TEXT].replace(file, Path(file).name)
    return {
        "type": type(error).__name__[:100],
        "text": text,
        "line": frames[-1].lineno if frames else None,
        "traceback": told,
    }


class _Printed(io.TextIOBase):
    """What the student's code prints, up to a length."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0

    def write(self, text: str) -> int:
        if self._length < _MAX_TEXT:
            self._parts.append(text[: _MAX_TEXT - self._length])
            self._length += len(self._parts[-1])
        return len(text)

    def clear(self) -> None:
        self._parts, self._length = [], 0

    def text(self) -> str:
        return "".join(self._parts)


def _watch(work: Path, package: str) -> list[str]:
    """Note what an honest solution has no need of: network, processes, foreign memory, files of others."""
    events: list[str] = []
    known = (str(work), package, sys.prefix, sys.base_prefix, "/usr/", "/lib", "/dev/", "<")

    def note(event: str, args: tuple[Any, ...]) -> None:
        if len(events) > 1000:
            return
        if event.startswith(_WATCHED):
            events.append(event)
        elif event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str | bytes):
            with suppress(Exception):
                path = os.path.abspath(os.fsdecode(args[0]))
                if not path.startswith(known):
                    events.append(f"{event} {path}"[:200])

    code = b"".join(file.read_bytes() for file in work.rglob("*.py"))
    if any(name.encode() in code for name in os.listdir(package)):  # It takes time: only for who may use it.
        with suppress(ImportError):
            import numpy  # noqa: F401  (what numpy does while it loads is no event)
    sys.addaudithook(note)
    return events


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the streams of requests and answers; the usual numbers of both lead nowhere from now on."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    return requests, answers


def _receive(stream: BinaryIO) -> dict[str, Any] | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    request = json.loads(stream.read(length))
    assert isinstance(request, dict)
    return request


if __name__ == "__main__":
    main()
