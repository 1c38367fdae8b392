"""A student's file in a process of its own: requests go in, plain data comes out, and nothing else.

Checks, gold and expected answers stay in the process of the grader. Whatever the student's code replaces, forges or
ends, it does to its own process.
"""

from __future__ import annotations

import builtins
import json
import os
import queue
import secrets
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from classic_rc.errors import UsageError
from classic_rc.teaching.isolation import DEFAULT_LIMITS, Isolation, Limits, make_folder, remove_folder
from classic_rc.teaching.student_package import student_package

_MAX_ANSWER = 2**24
_MAX_TEXT = 4000
_START_SECONDS = 60.0
_FORGES = "writes to the grader's channel, or answers with too much data"


@dataclass(eq=False)
class SubmissionError(Exception):
    """The student's code raised an error, ended its process, took too long or answered with no plain data.

    `details` has the lines that led to it and what was printed; `summary` has no words of the student's code; after
    a final error, no later call of the check can work.
    """

    problem: str
    details: str = ""
    is_final: bool = False
    summary: str = "an error"


@dataclass
class Sandbox:
    """One student's file in a process, ready to be called. Use it as a context manager.

    `files` are the student's by name and `main` is the one that is loaded; `packages` are installed ones that the
    code may import, where ``classic_rc`` stands for the part for students.
    """

    files: Mapping[str, bytes]
    main: str
    isolation: Isolation
    limits: Limits = DEFAULT_LIMITS
    packages: tuple[str, ...] = ("numpy", "classic_rc")
    added: tuple[str, ...] = field(default=(), init=False)
    """Names that the file uses without an import, and that were imported for it."""
    _final: SubmissionError | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._seconds_left = self._check_seconds_left = self.limits.seconds

    def __enter__(self) -> Self:
        self._folder = make_folder()
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_check(self) -> None:
        """Give the next check a third of the time, and a new process if the last one has ended."""
        self._check_seconds_left = self.limits.seconds / 3
        if self._final is not None and self._seconds_left > 0:
            self.restart()

    def restart(self) -> None:
        """Go on in a new process, which knows nothing of what the old one has seen."""
        self.close()
        self._final = None
        self.__enter__()
        self.load()

    def load(self) -> dict[str, str]:
        """Run the file; return the public names that it defines, each a function, solver, class or value."""
        kinds = self._ask(do="load")
        if not isinstance(kinds, dict) or not all(isinstance(kind, str) for kind in kinds.values()):
            raise self._finish(_FORGES)
        return kinds

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the student's file with plain data and return its result as plain data."""
        return self._ask(do="call", name=name, args=args)

    def read(self, name: str) -> Any:
        """Return a value of the student's file as plain data."""
        return self._ask(do="read", name=name)

    def score(
        self, name: str, rows: Sequence[Mapping[str, Any]], train: Sequence[Mapping[str, Any]] | None = None
    ) -> list[list[float]]:
        """Make a solver, fit it if there are rows with gold, and return a number for each candidate of each row."""
        self._ask(do="make", name=name, args=[])
        if train is not None:
            self._ask(do="fit", args=train)
        scores = self._ask(do="score", args=rows)
        wanted = "score_candidates must give a finite number for each candidate"
        if not isinstance(scores, list) or len(scores) != len(rows):
            raise SubmissionError(f"{wanted} of the {len(rows)} questions", summary=wanted)
        for row, own in zip(rows, scores, strict=True):
            if not isinstance(own, list) or len(own) != len(row["candidates"]) or not all(map(_is_finite, own)):
                raise SubmissionError(f"{wanted} of {row['id']}; it gives {json.dumps(own)[:80]}", summary=wanted)
        return scores

    def close(self) -> None:
        """End the process and everything that it has started, and delete its folder."""
        if hasattr(self, "_process"):
            self._end()
            while self._reader.is_alive():  # It waits for a place in the queue.
                with suppress(queue.Empty):
                    self._parts.get(timeout=0.1)
        remove_folder(self._folder)

    def _start(self) -> None:
        isolation, folder = self.isolation.with_user(), self._folder
        package = student_package() if "classic_rc" in self.packages else {}
        content = {"worker.py": _worker()} | {f"package/{name}": own for name, own in package.items()}
        for name, own in (content | {f"work/{name}": own for name, own in self.files.items()}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(own)
        work = folder / "tmp"
        work.mkdir()
        (folder / "package").mkdir(exist_ok=True)
        if isolation.user is not None:
            folder.chmod(0o711)
            os.chown(work, isolation.user, isolation.user)
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
        environment = {"PYTHONHASHSEED": "0", "LD_LIBRARY_PATH": "/python/lib", **dict.fromkeys(names, "1")}
        place = "/tmp" if isolation.kind == "bubblewrap" else str(work)
        environment |= dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), place)
        if "SYSTEMROOT" in os.environ:  # Windows starts nothing without.
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        self._process = subprocess.Popen(
            isolation.worker_command(folder, self.main, self.packages, self.limits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=work,
            env={**os.environ, "PYTHONHASHSEED": "0"} if isolation.kind == "container" else environment,
            bufsize=0,
            start_new_session=True,
        )
        self._running = isolation
        self._deadline = time.monotonic() + _START_SECONDS
        # A full queue stops the thread, so that endless output costs no memory.
        self._parts: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._unread = bytearray()
        self._reader = threading.Thread(target=self._pump, daemon=True)
        self._reader.start()
        try:
            if self._read(6) != b"ready\n":
                raise self._finish("says something else")
        except SubmissionError as error:
            raise UsageError(
                f"students' processes do not start under {isolation.kind}: {error.problem}", field="isolation"
            ) from None

    def _ask(self, **request: Any) -> Any:
        if self._final is not None:
            raise self._final
        started = time.monotonic()
        self._deadline = started + min(self._seconds_left, self._check_seconds_left)
        try:
            return self._exchange(request)
        finally:
            used = time.monotonic() - started
            self._seconds_left -= used
            self._check_seconds_left -= used

    def _exchange(self, request: dict[str, Any]) -> Any:
        number = secrets.token_hex(8)  # An answer that the student's code has written beforehand has another one.
        message = json.dumps({**request, "number": number}).encode("ascii")
        try:
            self._write(struct.pack(">I", len(message)) + message)
            (length,) = struct.unpack(">I", self._read(4))
            if length > _MAX_ANSWER:
                raise self._finish(_FORGES)
            answer = json.loads(self._read(length), parse_constant=str)
            if answer["number"] != number:
                raise self._finish(_FORGES)
            self.added = tuple(str(name)[:40] for name in answer["added"][:9])
            error = answer.get("error")
            if error is not None:
                raise self._students_error(dict(error), answer.get("printed"))
            return answer.get("value")
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._finish(_FORGES) from None

    def _finish(self, problem: str, summary: str | None = None) -> SubmissionError:
        """End the process; each later request gets the same error."""
        self._end()
        self._final = SubmissionError(problem, is_final=True, summary=summary or problem)
        return self._final

    def _end(self) -> None:
        if self._process.stdout is None or self._process.stdout.closed:  # Its number may be another's by now.
            return
        if self._running.kind == "container" and self._process.poll() is None:
            self._process.terminate()  # which the command passes on
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._running.end_all()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError, AttributeError):
                stream.close()  # type: ignore[union-attr]

    def _write(self, data: bytes) -> None:
        """Write in a thread: a process that reads nothing must not stop the grader."""
        failures: list[Exception] = []

        def write() -> None:
            view = memoryview(data)
            try:
                while view:
                    view = view[self._process.stdin.write(view) :]  # type: ignore[union-attr]
            except (OSError, ValueError) as error:  # the process has ended, or the stream is closed
                failures.append(error)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(self._time_left())
        if failures or thread.is_alive():
            raise self._ended()

    def _read(self, length: int) -> bytes:
        while len(self._unread) < length:
            try:
                part = self._parts.get(timeout=self._time_left())
            except queue.Empty:
                part = b""
            if not part:
                raise self._ended()
            self._unread += part
        data = bytes(self._unread[:length])
        del self._unread[:length]
        return data

    def _pump(self) -> None:
        """Put what the process writes into the queue, in parts; the last one is empty."""
        with suppress(OSError, ValueError):
            while part := self._process.stdout.read(2**16):  # type: ignore[union-attr]
                self._parts.put(part)
        with suppress(queue.Full):
            self._parts.put(b"", timeout=1.0)

    def _time_left(self) -> float:
        return max(self._deadline - time.monotonic(), 0)

    def _ended(self) -> SubmissionError:
        """Say why the process does not answer: the time is up, or it has ended."""
        if self._time_left() > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
        code = self._process.poll()
        if code is None and self._check_seconds_left < self._seconds_left:
            return self._finish(f"takes longer than {self.limits.seconds / 3:.3g} s")
        if code is None:
            return self._finish(f"takes longer than {self.limits.seconds:g} s in all")
        number = -code if code < 0 else code - 128  # bubblewrap and shells add 128
        how = f"is ended by signal {number}" if number > 0 else f"ends its process (exit code {code})"
        return self._finish(how, "ends its process")

    def _students_error(self, error: Mapping[str, Any], printed: Any) -> SubmissionError:
        """Return the error that the student's code raised; nothing in it can be relied on."""
        kind, text = _text(error.get("type"))[:100], _text(error.get("text"))
        places = []
        for file, line, function in error["frames"][:8]:
            lines = self.files[file].decode("utf-8", "replace").splitlines()
            if 0 < line <= len(lines):
                where = f'  File "{file}", line {line}, in {str(function)[:40]}'
                places.append((line, f"{where}\n    {lines[line - 1].strip()}"))
        said = " ".join((f"{kind}: {text}" if text else kind).split())[:300]
        where = f" (line {places[-1][0]})" if places else ""
        known = getattr(builtins, kind, None)
        is_pythons = isinstance(known, type) and issubclass(known, BaseException)
        parts = [own for _, own in places] if kind != "SyntaxError" else []
        parts += ["printed before:", _text(printed)] if printed else []
        summary = f"an error ({kind})" if is_pythons else "an error"
        return SubmissionError(said + where, "\n".join(parts), summary=summary)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _text(value: Any) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


@cache
def _worker() -> bytes:
    """Return the worker's script. No student's code has run when it is read."""
    return Path(__file__).with_name("worker.py").read_bytes()
