"""A student's file in a process of its own: requests go in, plain data comes out, and nothing else.

Checks, gold and expected answers stay in the process of the grader. Whatever the student's code
replaces, forges or ends, it does to its own process.
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

from classic_rc.commands.grade.isolation import (
    DEFAULT_LIMITS,
    Isolation,
    Limits,
    make_folder,
    remove_folder,
)
from classic_rc.errors import UsageError

_MAX_ANSWER = 2**24
_MAX_TEXT = 4000
_START_SECONDS = 300.0
_FORGES = "writes to the grader's channel, or answers with too much data"

_ROOT = Path(__file__).resolve().parents[2]
_PACKAGE = (
    "_version errors plugins work equality questions predictions kernels/arrays kernels/byte_pieces"
).split()
"""Modules that submissions may import as ``classic_rc``, in addition to ``io`` and ``text``."""

_INIT = """
from classic_rc._version import __version__
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers.base import Solver


def make_dataset(rows):
    passages, questions = {}, []
    for row in rows:
        passage = passages.setdefault(row["passage_id"], Passage(row["passage_id"], row["passage"]))
        candidates = tuple(Candidate(text) for text in row["candidates"])
        gold = None if row.get("gold") is None else frozenset(row["gold"])
        task = Task(row["task"])
        questions.append(Question(row["id"], passage, row["question"], candidates, gold, task))
    return Dataset(questions, "questions")
"""
_BASE = '''
from abc import ABC, abstractmethod

from classic_rc.questions import Task


class Solver(ABC):
    tasks = frozenset(Task)

    def fit(self, dataset):
        return self

    @abstractmethod
    def score_candidates(self, questions):
        """Return Scores, one list of numbers for each question."""
'''


@cache
def _own_files() -> dict[str, bytes]:
    """Return the worker's script, and the package for students, as they are before any student's
    code runs.
    """
    files = [_ROOT / f"{name}.py" for name in _PACKAGE]
    for name in ("io", "text"):
        paths = (_ROOT / name).rglob("*")
        files += [path for path in paths if path.suffix in (".py", ".txt")]
    generated = {
        "__init__.py": _INIT,
        "solvers/base.py": _BASE,
        "solvers/__init__.py": "",
        "kernels/__init__.py": "",
    }
    content = {"worker.py": Path(__file__).with_name("worker.py").read_bytes()}
    content |= {
        f"package/classic_rc/{path.relative_to(_ROOT).as_posix()}": path.read_bytes()
        for path in files
    }
    return content | {
        f"package/classic_rc/{name}": text.encode() for name, text in generated.items()
    }


@dataclass(eq=False)
class SubmissionError(Exception):
    """The student's code raised an error, ended its process, took too long or answered with no
    plain data.

    `details` has the lines that led to it and what was printed; `summary` has no words of the
    student's code; after a final error, no later call of the check can work.
    """

    problem: str
    details: str = ""
    is_final: bool = False
    summary: str = "an error"


@dataclass
class Sandbox:
    """One student's file in a process, ready to be called. Use it as a context manager.

    `files` are the student's by name and `main` is the one that is loaded; `packages` are installed
    ones that the code may import, where ``classic_rc`` is its part for students.
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
        self.seconds_left = self._check_seconds_left = self.limits.seconds

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
        if self._final is not None and self.seconds_left > 0:
            self.restart()

    def restart(self) -> None:
        """Go on in a new process, which knows nothing of what the old one has seen."""
        self.close()
        self._final = None
        self.__enter__()
        self.load()

    def load(self) -> dict[str, str]:
        """Run the file; return the public names that it defines, each a function, solver, class
        or value.
        """
        kinds = self._ask(do="load")
        if not isinstance(kinds, dict) or not all(isinstance(kind, str) for kind in kinds.values()):
            raise self._finish(_FORGES)
        return kinds

    def call(self, name: str, *args: Any) -> Any:
        """Call a function of the student's file with plain data and return its result as plain
        data.
        """
        return self._ask(do="call", name=name, args=args)

    def read(self, name: str) -> Any:
        """Return a value of the student's file as plain data."""
        return self._ask(do="read", name=name)

    def score(
        self,
        name: str,
        rows: Sequence[Mapping[str, Any]],
        train: Sequence[Mapping[str, Any]] | None = None,
    ) -> list[list[float]]:
        """Make a solver, fit it if there are rows with gold, and return a number for each
        candidate of each row.
        """
        self._ask(do="make", name=name, args=[])
        if train is not None:
            self._ask(do="fit", args=train)
        scores = self._ask(do="score", args=rows)
        rule = "score_candidates must give a finite number for each candidate"
        if not isinstance(scores, list) or len(scores) != len(rows):
            raise SubmissionError(f"{rule} of the {len(rows)} questions", summary=rule)
        for row, row_scores in zip(rows, scores, strict=True):
            if (
                not isinstance(row_scores, list)
                or len(row_scores) != len(row["candidates"])
                or not all(map(_is_finite, row_scores))
            ):
                raise SubmissionError(
                    f"{rule} of {row['id']}; it gives {json.dumps(row_scores)[:80]}", summary=rule
                )
        return scores

    def close(self) -> None:
        """End the process and everything that it has started, and delete its folder."""
        if hasattr(self, "_process"):
            self._end()
        remove_folder(self._folder)

    def _start(self) -> None:
        isolation, folder = self.isolation.with_user(), self._folder
        work = folder / "tmp"
        for place in (work, folder / "package"):
            place.mkdir()
        has_package = "classic_rc" in self.packages
        files = {
            name: content
            for name, content in _own_files().items()
            if has_package or "/" not in name
        }
        files |= {f"work/{name}": content for name, content in self.files.items()}
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        if isolation.user is not None:
            folder.chmod(0o711)
            os.chown(work, isolation.user, isolation.user)
        environment = {
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        }
        home = "/tmp" if isolation.kind == "bubblewrap" else str(work)
        environment |= dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP"), home)
        environment |= {"LD_LIBRARY_PATH": "/python/lib"} if isolation.kind == "bubblewrap" else {}
        if "SYSTEMROOT" in os.environ:  # Windows starts nothing without.
            environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
        if isolation.kind == "container":
            environment = {**os.environ, "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            isolation.worker_command(folder, self.main, self.packages, self.limits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=work,
            env=environment,
            bufsize=0,
            start_new_session=True,
        )
        self._running = isolation
        self._deadline = time.monotonic() + _START_SECONDS
        try:
            if self._exchange(b"", 6) != b"ready\n":
                raise self._finish("says something else")
        except SubmissionError as error:
            raise UsageError(
                f"students' processes do not start under {isolation.kind}: {error.problem}",
                field="isolation",
            ) from None

    def _ask(self, **request: Any) -> Any:
        if self._final is not None:
            raise self._final
        started, allowed = time.monotonic(), min(self.seconds_left, self._check_seconds_left)
        if allowed <= 0:
            raise self._takes_long()
        patience, used = self.limits.patience, None
        self._deadline = started + patience * allowed
        # An answer that the student's code has written beforehand has another one.
        number = secrets.token_hex(8)
        message = json.dumps({**request, "number": number, "seconds": allowed}).encode("ascii")
        try:
            answer = json.loads(
                self._exchange(struct.pack(">I", len(message)) + message), parse_constant=str
            )
            if answer["number"] != number:
                raise self._finish(_FORGES)
            used = max((time.monotonic() - started) / patience, float(answer["seconds"]))
            usual = {"np", "Counter", "defaultdict"} | sys.stdlib_module_names
            added = dict.fromkeys(answer["added"][:9])
            self.added = tuple(name for name in added if name in usual)
            error = answer.get("error")
            if error is not None:
                raise self._students_error(dict(error), answer.get("printed"))
            return answer.get("value")
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._finish(_FORGES) from None
        finally:
            if used is None:
                used = min(time.monotonic() - started, allowed)
            self.seconds_left -= used
            self._check_seconds_left -= used

    def _exchange(self, message: bytes, length: int | None = None) -> bytes:
        """Write a message and return the answer: in a thread, as a process that does neither
        must not stop us.
        """
        done: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

        def exchange() -> None:
            try:
                view = memoryview(message)
                while view:
                    view = view[self._process.stdin.write(view) :]  # type: ignore[union-attr]
                size = struct.unpack(">I", self._read(4))[0] if length is None else length
                done.put(self._read(size) if size <= _MAX_ANSWER else b"")
            except (
                OSError,
                ValueError,
                struct.error,
            ):  # the process has ended, or the stream is closed
                done.put(None)

        threading.Thread(target=exchange, daemon=True).start()
        with suppress(queue.Empty):
            if (answer := done.get(timeout=max(self._deadline - time.monotonic(), 0))) is not None:
                return answer
        raise self._ended()

    def _read(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            chunk = self._process.stdout.read(min(length - len(data), 2**16))  # type: ignore[union-attr]
            if not chunk:
                raise ValueError("the process has ended")
            data += chunk
        return bytes(data)

    def _finish(self, problem: str, summary: str | None = None) -> SubmissionError:
        """End the process; each later request gets the same error."""
        self._end()
        self._final = SubmissionError(problem, is_final=True, summary=summary or problem)
        return self._final

    def _end(self) -> None:
        # Its number may be another's by now.
        if self._process.stdout is None or self._process.stdout.closed:
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

    def _ended(self) -> SubmissionError:
        """Say why the process does not answer: the time is up, or it has ended."""
        if self._deadline > time.monotonic():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
        code = self._process.poll()
        if code is None:
            return self._takes_long()
        number = -code if code < 0 else code - 128  # bubblewrap and shells add 128
        if number in (getattr(signal, "SIGPROF", None), getattr(signal, "SIGXCPU", None)):
            return self._takes_long()
        how = (
            f"is ended by signal {number}" if number > 0 else f"ends its process (exit code {code})"
        )
        return self._finish(how, "ends its process")

    def _takes_long(self) -> SubmissionError:
        """Say which limit of time is passed; a clock that ran out is the same to a student."""
        seconds = self.limits.seconds
        is_check = self._check_seconds_left < self.seconds_left
        limit = f"{seconds / 3:.3g} s" if is_check else f"{seconds:g} s in all"
        return self._finish(f"takes longer than {limit}")

    def _students_error(self, error: Mapping[str, Any], printed: Any) -> SubmissionError:
        """Return the error that the student's code raised; nothing in it can be relied on."""
        kind, text = _text(error.get("type"))[:100], _text(error.get("text"))
        places = []
        for file, line, function in error["frames"][:8]:
            lines = self.files[file].decode("utf-8", "replace").splitlines()
            if 0 < line <= len(lines):
                where = f'  File "{file}", line {line}, in {str(function)[:40]}'
                places.append((line, f"{where}\n    {lines[line - 1].strip()}"))
        problem = " ".join((f"{kind}: {text}" if text else kind).split())[:300]
        where = f" (line {places[-1][0]})" if places else ""
        builtin = getattr(builtins, kind, None)
        is_pythons = isinstance(builtin, type) and issubclass(builtin, BaseException)
        parts = [quoted for _, quoted in places] if kind != "SyntaxError" else []
        parts += ["printed before:", _text(printed)] if printed else []
        summary = f"an error ({kind})" if is_pythons else "an error"
        return SubmissionError(problem + where, "\n".join(parts), summary=summary)


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _text(value: Any) -> str:
    return value[:_MAX_TEXT] if isinstance(value, str) else ""
