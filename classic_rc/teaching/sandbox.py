"""A student's file in a process of its own: requests go in, plain data comes out, and nothing else.

Checks, gold and expected answers stay in the process of the grader. Whatever the student's code replaces, forges or
ends, it does to its own process.
"""

from __future__ import annotations

import builtins
import json
import math
import os
import queue
import secrets
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Self

from classic_rc.errors import UsageError
from classic_rc.teaching.student_package import package_folders, python_folders, write_student_package

_FOLDER = Path(__file__).parent
_MAX_ANSWER = 2**24
_MAX_TEXT = 4000
_START_SECONDS = 60.0
_READY = b"ready\n"
"""What the worker says before it runs any of the student's code."""
_PIPE = 4096
"""An empty pipe takes so many bytes at once; there is one request at a time."""
_MEGABYTE = 2**20


class Level(StrEnum):
    """How far a student's process is apart from everything else.

    ``NAMESPACES``: it sees no files but Python's and its own, no other processes and no network. ``LANDLOCK``: it
    can open no files but these. ``PROCESS``: its own process with limits; it can read what the grader's user can
    read. ``NONE``: its own process without limits.
    """

    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    PROCESS = "process"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a student's code may use.

    Parameters
    ----------
    seconds : float
        Wall time that all calls take together. One check may use a third of it, so that an endless loop leaves time
        for the others.
    memory_bytes : int
        Address space of a process.
    file_bytes : int
        The largest file.
    folder_bytes : int
        All files together.
    processes : int
        Processes and threads, where the student's process has a user or a namespace of its own.
    """

    seconds: float = 60.0
    memory_bytes: int = 2048 * _MEGABYTE
    file_bytes: int = _MEGABYTE
    folder_bytes: int = 64 * _MEGABYTE
    processes: int = 32

    @property
    def check_seconds(self) -> float:
        """Wall time that the calls of one check take together."""
        return self.seconds / 3


@dataclass(eq=False)
class SubmissionError(Exception):
    """The student's code raised an error, ended its process, took too long or answered with no plain data.

    Parameters
    ----------
    problem : str
        In one line.
    traceback : str
        The lines of the student's file that led to the error; empty if there are none.
    printed : str
        What the student's code printed before.
    is_final : bool
        Whether the process has ended, so that no later call of this check can work.
    summary : str, optional
        The problem without any words of the student's code; by default it has none.
    """

    problem: str
    traceback: str = ""
    printed: str = ""
    is_final: bool = False
    summary: str | None = None

    @property
    def details(self) -> str:
        """The traceback, and what was printed."""
        return self.traceback + (f"\nprinted before:\n{self.printed}" if self.printed else "")

    def without_words(self) -> SubmissionError:
        """Return the error without any words of the student's code, which may be those of hidden questions."""
        if self.summary is None:
            return SubmissionError(self.problem, is_final=self.is_final)
        return SubmissionError(self.summary, traceback="the rest is left out: it could quote hidden questions")


@dataclass
class Sandbox:
    """One student's file, ready to be called. Use it as a context manager.

    Parameters
    ----------
    files : mapping of str to bytes
        The student's files by name.
    main : str
        The file that is loaded.
    limits : Limits
    levels : sequence of Level
        The levels to try, the strongest first.
    packages : tuple of str
        The installed packages that the student's code may import beside the standard library and its part of
        classic_rc.

    Raises
    ------
    UsageError
        No level can be entered.
    """

    files: Mapping[str, bytes]
    main: str
    limits: Limits = Limits()
    levels: Sequence[Level] = (Level.NAMESPACES, Level.LANDLOCK, Level.PROCESS)
    packages: tuple[str, ...] = ("numpy",)
    level: Level = field(default=Level.NONE, init=False)
    events: set[str] = field(default_factory=set, init=False)
    """What the student's code did that an honest solution has no need of, as far as its process noticed."""
    _final: SubmissionError | None = field(default=None, init=False)
    _seconds_left: float = field(init=False)
    _check_seconds_left: float = field(init=False)

    def __post_init__(self) -> None:
        self._seconds_left = self._check_seconds_left = self.limits.seconds

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="classic-rc-", ignore_cleanup_errors=True)
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_check(self) -> None:
        """Give the next check its share of the time, and a new process if the last one has ended.

        Raises
        ------
        SubmissionError
            The new process cannot run the file, or all the time is used up.
        """
        self._check_seconds_left = self.limits.check_seconds
        if self._final is not None and self._seconds_left > 0:
            self.restart()

    def restart(self) -> None:
        """Go on in a new process, which knows nothing of what the old one has seen.

        Raises
        ------
        SubmissionError
            The new process cannot run the file.
        """
        self.close()
        self._final = None
        self.__enter__()
        self.load()

    def load(self) -> dict[str, str]:
        """Run the file.

        Returns
        -------
        dict of str to str
            The public names that it defines, and their kinds: function, solver, class or value.
        """
        kinds = self._ask({"do": "load"})
        if not isinstance(kinds, dict) or not all(isinstance(kind, str) for kind in kinds.values()):
            raise self._broken("answers with something else than its names")
        return kinds

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the student's file with plain data and return its result as plain data.

        Raises
        ------
        SubmissionError
        """
        return self._ask({"do": "call", "name": name, "args": args})

    def read(self, name: str) -> Any:
        """Return a value of the student's file as plain data."""
        return self._ask({"do": "read", "name": name})

    def make_solver(self, name: str, train: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Make an instance of a solver class, and fit it to rows with gold if there are any."""
        self._ask({"do": "solver", "name": name, "train": train})

    def score(self, rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
        """Let the solver score questions.

        Parameters
        ----------
        rows : sequence of mapping
            Each with ``id``, ``passage_id``, ``passage``, ``question``, ``candidates`` and ``task``. Gold is
            removed here, whatever the rows contain.

        Returns
        -------
        list of list of float
            A finite number for each candidate of each question.

        Raises
        ------
        SubmissionError
        """
        shown = ("id", "passage_id", "passage", "question", "candidates", "task")
        scores = self._ask({"do": "score", "questions": [{key: row[key] for key in shown} for row in rows]})
        counts = [len(row["candidates"]) for row in rows]
        if not isinstance(scores, list) or len(scores) != len(rows):
            raise SubmissionError(f"score_candidates must give one list for each of the {len(rows)} questions")
        for row, own, count in zip(rows, scores, counts, strict=True):
            if not isinstance(own, list) or len(own) != count or not all(map(_is_finite, own)):
                expected = f"score_candidates must give {count} finite numbers for {row['id']}"
                raise SubmissionError(f"{expected}; it gives {json.dumps(own)[:80]}", summary=expected)
        return scores

    def close(self) -> None:
        """End the process and everything that it has started, and delete its folder."""
        if (process := getattr(self, "_process", None)) is not None:
            _end(process)
            while self._reader.is_alive():  # It waits for a place in the queue.
                with suppress(queue.Empty):
                    self._parts.get(timeout=0.1)
        try:
            self._folder.cleanup()
        except Exception:  # Folders in folders in folders are too much for Python.
            if (remove := shutil.which("rm")) is not None:
                subprocess.run([remove, "-rf", "--", self._folder.name], check=False, stderr=subprocess.DEVNULL)

    def _start(self) -> None:
        base = Path(self._folder.name).resolve()
        package, work, root = base / "package", base / "work", base / "root"
        for folder in (package, work, root):
            folder.mkdir()
        links = write_student_package(package, self.packages)
        for name, content in self.files.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(content)
        worker, jail = base / "worker.py", base / "jail.py"
        for script in (worker, jail):
            script.write_bytes(_script(script.name))
        python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        # As -I, but with PYTHONHASHSEED: sets must have the same order when a grading is repeated.
        worker_command = [python, "-P", "-s", "-S", str(worker), str(package), str(work / self.main)]
        environment = {
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
            **dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), str(work)),
        }
        if "SYSTEMROOT" in os.environ:  # Windows starts nothing without.
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        has_jail = sys.platform != "win32"
        self._process = subprocess.Popen(
            [python, "-I", "-S", str(jail)] if has_jail else worker_command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=work,
            env=environment,
            bufsize=0,
            start_new_session=True,
        )
        self._work = work
        self._deadline = time.monotonic() + _START_SECONDS
        # A full queue stops the thread, so that endless output costs no memory.
        self._parts: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._unread = bytearray()
        self._reader = threading.Thread(target=self._pump, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        try:
            if not has_jail:
                self._accept(Level.NONE)
            else:
                self._choose_level(worker_command, environment, python, [str(package), str(worker)], links)
            self._read(len(_READY))
        except SubmissionError as error:
            raise UsageError(
                f"students' processes do not start at the level {self.level}: {error.problem}. Install Python and "
                "classic_rc where every user of this computer can read them, not below /root",
                field="isolation",
                found=self.level,
            ) from None

    def _choose_level(
        self, command: list[str], environment: dict[str, str], python: str, files: list[str], links: list[Path]
    ) -> None:
        """Tell the jail what the worker needs, and read which level it has reached."""
        settings = {
            "levels": list(self.levels),
            "command": command,
            "environment": environment,
            "work": str(self._work),
            "root": str(self._work.with_name("root")),
            "visible": [*python_folders(python), *files],
            "hidden": package_folders(),
            "visible_again": [str(link) for link in links],
            "limits": asdict(self.limits) | {"cpu_seconds": math.ceil(self.limits.seconds) + 1},
        }
        self._write(json.dumps(settings).encode() + b"\n")
        level = self._read_until_line_end()
        self._accept(Level(level) if level in tuple(Level) else None)

    def _accept(self, level: Level | None) -> None:
        """Note the level that was reached, or refuse to go on without one that is allowed."""
        if level is None or level not in self.levels:
            raise UsageError(
                f"cannot isolate students' processes: this system allows none of {', '.join(self.levels)}. Grade "
                "in the container of docs/assignments/README.md, or add --unsafe for code that you trust",
                field="isolation",
                expected="--unsafe, or a container",
            )
        self.level = level

    def _ask(self, request: Mapping[str, Any]) -> Any:
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

    def _exchange(self, request: Mapping[str, Any]) -> Any:
        number = secrets.token_hex(8)  # An answer that the student's code has written beforehand has another one.
        message = json.dumps({**request, "number": number}).encode("ascii")
        try:
            self._write(struct.pack(">I", len(message)) + message)
            (length,) = struct.unpack(">I", self._read(4))
            if length > _MAX_ANSWER:
                raise self._broken("answers with too much data, or writes to the grader's channel")
            answer = json.loads(self._read(length), parse_constant=_parse_constant)
            if answer["number"] != number:
                raise self._broken("writes to the grader's channel")
            self._check_disk()
            events, error = answer["events"], answer.get("error")
            self.events.update(str(event)[:200] for event in events[:20] if isinstance(event, str))
        except _NotANumberError:
            self.events.add("answer")
            raise SubmissionError("answers with NaN, which is no number") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._broken("writes to the grader's channel") from None
        if error is None:
            return answer.get("value")
        if not isinstance(error, dict):
            raise self._broken("writes to the grader's channel")
        if error.get("type") == "MemoryError":
            self.events.add("memory")
        raise _students_error(error, _text(answer.get("printed")))

    def _broken(self, problem: str) -> SubmissionError:
        self.events.add("channel")
        return self._finish(problem)

    def _finish(self, problem: str) -> SubmissionError:
        """End the process; each later request gets the same error."""
        _end(self._process)
        self._final = SubmissionError(problem, is_final=True)
        return self._final

    def _write(self, data: bytes) -> None:
        """Write, in a thread if it may block: a process that reads nothing must not stop the grader."""
        assert self._process.stdin is not None
        failures: list[OSError] = []

        def write(stream: IO[bytes]) -> None:
            view = memoryview(data)
            try:
                while view:
                    view = view[stream.write(view) :]
            except (OSError, ValueError) as error:  # the process has ended, or the stream is closed
                failures.append(OSError(str(error)))

        thread = threading.Thread(target=write, args=(self._process.stdin,), daemon=True)
        if len(data) <= _PIPE:
            write(self._process.stdin)
        else:
            thread.start()
            thread.join(self._time_left())
        if failures or thread.is_alive():
            raise self._ended()

    def _read(self, length: int) -> bytes:
        while len(self._unread) < length:
            try:
                part = self._parts.get(timeout=min(self._time_left(), 1.0))
            except queue.Empty:
                self._check_disk()
                if self._time_left() > 0:
                    continue
                part = b""
            if not part:
                raise self._ended()
            self._unread += part
        data = bytes(self._unread[:length])
        del self._unread[:length]
        return data

    def _pump(self, stream: IO[bytes]) -> None:
        """Put what the process writes into the queue, in parts; the last one is empty."""
        with suppress(OSError, ValueError):
            while part := stream.read(2**16):
                self._parts.put(part)
        with suppress(queue.Full):
            self._parts.put(b"", timeout=1.0)

    def _check_disk(self) -> None:
        """End the process if its files are too many or too large."""
        size = 0
        for count, (folder, _, names) in enumerate(os.walk(self._work)):
            for name in names:
                with suppress(OSError):
                    size += 4096 + os.lstat(os.path.join(folder, name)).st_size
            if count > 100 or size > self.limits.folder_bytes:
                self.events.add("disk")
                raise self._finish("fills the disk")

    def _read_until_line_end(self) -> str:
        line = bytearray()
        while not line.endswith(b"\n") and len(line) < 100:
            line += self._read(1)
        return line.decode("ascii", "replace").strip()

    def _time_left(self) -> float:
        return max(self._deadline - time.monotonic(), 0)

    def _ended(self) -> SubmissionError:
        """Say why the process does not answer: the time is up, or it has ended."""
        if self._time_left() > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
        code = self._process.poll()
        if code is None:
            self.events.add("time")
            if self._check_seconds_left < self._seconds_left:
                return self._finish(f"takes longer than {self.limits.check_seconds:.3g} s")
            return self._finish(f"takes longer than {self.limits.seconds:g} s in all")
        self.events.add("exit")
        how = f"is ended by signal {code - 128}" if code > 128 else f"ends its process (exit code {code})"
        return self._finish(how)


def _students_error(error: Mapping[str, Any], printed: str) -> SubmissionError:
    """Return the error that the student's code raised; nothing in it can be relied on."""
    kind, text, line = _text(error.get("type"))[:100], _text(error.get("text")), error.get("line")
    said = " ".join((f"{kind}: {text}" if text else kind).split())[:300]
    where = f" (line {line})" if type(line) is int and 0 < line < 10**9 else ""
    known = getattr(builtins, kind, None)
    is_pythons = isinstance(known, type) and issubclass(known, BaseException)
    summary = (kind if is_pythons else "an error of a class of its own") + where
    return SubmissionError(said + where, _text(error.get("traceback")), printed, summary=summary)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


class _NotANumberError(Exception):
    """An answer has NaN, which no comparison finds unequal."""


def _parse_constant(name: str) -> float:
    if name == "NaN":
        raise _NotANumberError
    return float(name)


def _text(value: Any) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


@cache
def _script(name: str) -> bytes:
    """Return a script of this package. No student's code has run when it is read."""
    return (_FOLDER / name).read_bytes()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children, also those that have left its group: the jail finds them."""
    if process.stdout is None or process.stdout.closed:  # It has ended before: its number may be another's by now.
        return
    if sys.platform != "win32" and process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(4.0)
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
