r"""``python -m tools.recorder``: keep what many commands print and write, and compare other code
with it.

``record FOLDER`` runs a broad list of commands and keeps their output, exit codes and files.
``compare FOLDER`` runs the commands of a record with the current code and prints the differences.
The current code is the package in ``PYTHONPATH``, if there is one, or else the package in the
current folder.

Every command runs in a new folder with three links: ``data``, ``inputs`` (written by the recorder)
and ``kept``, the files of the record. A comparison links to the same ``kept``, so that new code
reads files that old code wrote.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import fnmatch
import functools
import hashlib
import io
import itertools
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tools.recorder_commands import ROOT, Command, commands

DATA = ROOT.parent / "shared" / "data"

LONGEST = 600
"""The time limit of a command in seconds."""

_SHOWN = 12
_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "COLUMNS": "100",
    "MPLBACKEND": "agg",
    "PYTHONDONTWRITEBYTECODE": "1",
}


# --------------------------------------------------------------------------------------------------
# Running.


def _code(done: Any) -> int:
    """Return the exit code that ``sys.exit`` makes of its argument."""
    return done if isinstance(done, int) else int(done is not None)


def _run_step(program: str, arguments: list[str]) -> int:
    """Run a step in this process, and return the exit code that it would have in a separate one."""
    try:
        if program == "classic-rc":
            from classic_rc.cli.main import main

            return main(arguments)
        sys.argv = [program, *arguments]
        if program == "python":
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        return 0
    except SystemExit as done:
        return _code(done.code)
    except BaseException:
        traceback.print_exc(limit=0)  # the lines of the traceback may change, the error may not
        return 99


def run_here(steps: list[list[str]], output: Path, work: Path) -> None:
    """Run steps in the folder `work`, with stdin, stdout and stderr as files; this process stays
    redirected.
    """
    os.chdir(work)
    sys.dont_write_bytecode = True
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(output / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="utf-8", newline="\n")
    sys.stderr = io.TextIOWrapper(
        os.fdopen(2, "wb", 0, closefd=False), encoding="utf-8", newline="\n", write_through=True
    )
    codes = []
    for program, *arguments in steps:
        stdin = os.devnull
        if arguments[-2:-1] == ["<"]:
            stdin, arguments = arguments[-1], arguments[:-2]
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        codes.append(_run_step(program, arguments))
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
    (output / "exit").write_text(" ".join(map(str, codes)) + "\n", encoding="utf-8")


def _start(command: Command, output: Path, work: Path) -> int | subprocess.Popen[bytes]:
    """Start a command in a new process; return its id, or a Popen object if the system has no
    fork.
    """
    if not hasattr(os, "fork"):
        module = [sys.executable, "-m", "tools.recorder"]
        return subprocess.Popen(
            [*module, "step", json.dumps(command.steps), str(output), str(work)], cwd=ROOT
        )
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(LONGEST)
        run_here(command.steps, output, work)
        sys.stdout.flush()
    finally:
        os._exit(0)


@contextlib.contextmanager
def _workplace(record: Path, inputs: Path, data: Path) -> Iterator[Callable[[], Path]]:
    """Provide a function that makes new working folders with the three links."""
    with tempfile.TemporaryDirectory(prefix="record-") as name:
        numbers = itertools.count(10000)

        def make() -> Path:
            work = Path(name).resolve() / f"{next(numbers)}"
            work.mkdir()
            for link, target in (("data", data), ("inputs", inputs), ("kept", record / "commands")):
                (work / link).symlink_to(target.resolve(), target_is_directory=True)
            return work

        yield make


def _keep(work: Path, output: Path) -> None:
    """Move the files that a command wrote to its output folder, and note where it ran."""
    for link in ("data", "inputs", "kept"):
        (work / link).unlink()
    shutil.move(work, output / "files")
    (output / "where").write_text(str(work), encoding="utf-8")


def run_all(
    todo: Sequence[Command],
    outputs: Path,
    make: Callable[[], Path],
    jobs: int,
    done: Callable[[Command], None],
) -> None:
    """Run commands, at most `jobs` at the same time."""
    running: dict[Any, tuple[Command, Path]] = {}
    waiting = list(reversed(todo))
    while waiting or running:
        while waiting and len(running) < jobs:
            command = waiting.pop()
            output, work = outputs / command.id, make()
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            running[_start(command, output, work)] = (command, work)
        if hasattr(os, "fork"):
            process, status = os.wait()
        else:
            process = next(iter(running))
            status = process.wait()
        command, work = running.pop(process)
        if not (outputs / command.id / "exit").exists():
            (outputs / command.id / "exit").write_text(f"ended by {status}\n", encoding="utf-8")
        _keep(work, outputs / command.id)
        done(command)


def _warm_up() -> None:
    """Import once, before forking, what the commands import."""
    from classic_rc.cli.main import main

    said = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        page, plot = os.path.join(folder, "page.html"), os.path.join(folder, "plot.png")
        main(["report", "sample:single-choice", "-o", page, "--quiet"])
        main(["run", "sample", "--cv", "3", "--intervals", "10", "--quiet"])
        main(
            [
                "run",
                "sample:single-choice",
                "-s",
                "longest",
                "--by",
                "level",
                "--figure",
                "groups",
                "-o",
                plot,
                "--quiet",
            ]
        )
        main(
            [
                "run",
                "sample:single-choice",
                "-s",
                "alignment-ilp",
                "-s",
                "lexical:smith2015-raw",
                "--quiet",
            ]
        )


# --------------------------------------------------------------------------------------------------
# Comparing.

_VARYING = re.compile(
    rb'"(times|seconds|identity)": (?:\{(?:[^{}]|\{[^{}]*\})*\}|[\d.e-]+|"[0-9a-f]{64}")'
)
_BEFORE_VERSION = rb"\brc:|[Vv]ersion\W{1,6}|\bclassic(?:[-_ ]|\\?_)rc(?:</\w+>)?\W{1,4}"


@dataclass(frozen=True)
class Masks:
    """What may differ between runs: times, code identities, paths, and versions (where a label
    precedes them).
    """

    names: dict[str, str]  # placeholder for each path
    versions: set[str]  # of the package that made the record and of the package that is compared

    def hide(self, content: bytes, work: str) -> bytes:
        """Replace what may differ by placeholders."""
        for path, name in sorted(
            {**self.names, work: "<work>"}.items(), key=lambda item: -len(item[0])
        ):
            content = content.replace(path.encode(), name.encode())
        versions = b"|".join(re.escape(version.encode()) for version in sorted(self.versions))
        content = re.sub(
            rb"(%b)(?:%b)(?![\w.]*\d)" % (_BEFORE_VERSION, versions), rb"\1<version>", content
        )
        return _VARYING.sub(rb'"\1": {}', content)


def contents(output: Path, masks: Masks) -> dict[str, bytes]:
    """Return all output and files of a command by name, masked; an archive is split into its
    members.
    """
    work = (output / "where").read_text(encoding="utf-8")
    found: dict[str, bytes] = {}
    for path in sorted(output.rglob("*")):
        name, folder = path.relative_to(output).as_posix(), path.is_dir()
        raw = b"" if folder else path.read_bytes()
        if raw.startswith(b"PK\3\4") and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                members = {member: archive.read(member) for member in archive.namelist()}
            # the header has the version, and its length
            if "header.npy" in members and len(masks.versions) > 1:
                members["header.npy"] = members["header.npy"].partition(b"\n")[2]
                members.pop("sha256.npy", None)
            found |= {
                f"{name}!{member}": masks.hide(part, work) for member, part in members.items()
            }
        elif name != "where":
            found[name + "/" * folder] = masks.hide(raw, work)
    return found


def differences(old: dict[str, bytes], new: dict[str, bytes]) -> Iterator[str]:
    """Yield lines that describe the differences."""
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            yield f"{name}: {'only now' if before is None else 'not any more'}"
        elif before != after:
            yield f"{name}:"
            try:
                texts = [side.decode("utf-8").splitlines() for side in (before, after)]
            except UnicodeDecodeError:
                yield "  sha256 " + " is now ".join(
                    hashlib.sha256(side).hexdigest() for side in (before, after)
                )
                continue
            lines = itertools.islice(_changed(*texts), _SHOWN + 1)
            for number, line in enumerate(lines):
                yield (
                    "  …"
                    if number == _SHOWN
                    else f"  {line if len(line) < 300 else line[:300] + '…'}"
                )


def _changed(before: list[str], after: list[str]) -> Iterator[str]:
    if len(before) + len(after) > 20000:  # difflib is slow
        for number, (old, new) in enumerate(itertools.zip_longest(before, after, fillvalue="")):
            if old != new:
                yield from (f"@@ {number + 1} @@", f"-{old}", f"+{new}")
        return
    yield from itertools.islice(difflib.unified_diff(before, after, n=0, lineterm=""), 2, None)


# --------------------------------------------------------------------------------------------------
# Recording and comparing: the two commands.


def _select_commands(listed: Sequence[Command], only: str | None, quick: bool) -> list[Command]:
    return [
        c
        for c in listed
        if (only is None or fnmatch.fnmatch(c.id, only)) and (c.quick or not quick)
    ]


def _progress_printer(total: int) -> Callable[[Command], None]:
    """Return a function that shows the progress on stderr, if that is a terminal."""
    count = itertools.count(1)

    def show(command: Command) -> None:
        number = next(count)
        if sys.stderr.isatty():
            print(
                f"\r{number} of {total}: {command.id:<40}",
                end="\n" * (number == total),
                file=sys.stderr,
                flush=True,
            )

    return show


def record(
    folder: Path, data: Path, *, only: str | None = None, quick: bool = False, jobs: int = 2
) -> int:
    """Run all commands, and keep their output and files in a folder."""
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty")
    inputs, outputs = folder / "inputs", folder / "commands"
    outputs.mkdir(parents=True)
    real = data.is_dir()
    if not real:
        print(f"there is no folder {data}: only the sample is recorded (--data)", file=sys.stderr)
    with _workplace(folder, folder, data) as make:

        @functools.cache
        def listed(what: str) -> list[str]:
            place = make()
            run_all(
                [Command(what, [["classic-rc", "list", what, "--format", "json"]])],
                place,
                make,
                1,
                lambda _: None,
            )
            said = json.loads((place / what / "stdout").read_text(encoding="utf-8"))
            # Behind a variant's name is the file that it needs; behind a format's, another name of
            # it.
            return [entry["name"].split(" ")[0] for entry in said[what]]

        every = commands(inputs, real, listed)
    todo = _select_commands(every, only, quick)
    (folder / "commands.json").write_text(
        json.dumps(
            {
                "version": _version(),
                "data": str(data.resolve()),
                "commands": [asdict(c) for c in todo],
            },
            indent=1,
        )
        + "\n",
        encoding="utf-8",
    )
    show = _progress_printer(len(todo))
    with _workplace(folder, inputs, data) as make:
        for late in (False, True):
            run_all([c for c in todo if c.late is late], outputs, make, jobs, show)
    print(f"{len(todo)} commands recorded")
    return 0


def compare(
    folder: Path,
    data: Path | None = None,
    *,
    only: str | None = None,
    quick: bool = False,
    jobs: int = 2,
    numbers: bool = False,
) -> int:
    """Run the commands of a record again, and print the differences."""
    kept = json.loads((folder / "commands.json").read_text(encoding="utf-8"))
    data = data or Path(kept["data"])
    todo = _select_commands([Command(**entry) for entry in kept["commands"]], only, quick)
    differ: list[str] = []
    show = _progress_printer(len(todo))
    masks = Masks(
        {str(data.resolve()): "<data>", str(folder.resolve()): "<record>"},
        {kept["version"], _version()},
    )
    with tempfile.TemporaryDirectory(prefix="compare-") as name:
        outputs = Path(name).resolve()

        def check(command: Command) -> None:
            show(command)
            old, new = (
                contents(where / command.id, masks) for where in (folder / "commands", outputs)
            )
            if numbers:
                old, new = (
                    {name: _numbers(text) for name, text in side.items() if name != "stderr"}
                    for side in (old, new)
                )
            if old != new:
                differ.append(command.id)
                shown = " && ".join(shlex.join(step) for step in command.steps)
                print(
                    f"== {command.id}: {shown[:400]}", *differences(old, new), sep="\n", flush=True
                )
            shutil.rmtree(outputs / command.id)

        with _workplace(folder, folder / "inputs", data) as make:
            run_all(todo, outputs, make, jobs, check)
    print(f"{len(todo)} commands, {len(differ)} differ")
    return int(bool(differ))


def _numbers(content: bytes) -> bytes:
    """Return the numbers of an output, one on each line."""
    return b"\n".join(re.findall(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])", content))


def _version() -> str:
    import classic_rc

    return classic_rc.__version__


def _prefer_python_path() -> None:
    """Put ``PYTHONPATH`` before the current folder, which ``python -m`` puts first."""
    wanted = [
        os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path
    ]
    sys.path[:] = [*wanted, *(path for path in sys.path if path not in wanted)]
    os.environ.update(_ENVIRONMENT)
    import classic_rc

    package = str(Path(classic_rc.__file__ or "").resolve().parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [package, *(path for path in wanted if path != package)]
    )
    print(f"classic_rc of {package}", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.recorder", description=(__doc__ or "").split("\n")[0]
    )
    subs = parser.add_subparsers(dest="what", required=True)
    for name, function in (("record", record), ("compare", compare)):
        sub = subs.add_parser(name, help=(function.__doc__ or "").strip())
        sub.add_argument("folder", type=Path, metavar="FOLDER")
        default = DATA if name == "record" else None
        sub.add_argument(
            "--data", type=Path, default=default, metavar="DIR", help="the datasets' own files"
        )
        sub.add_argument("--only", metavar="GLOB", help="commands whose ids fit")
        sub.add_argument(
            "--quick", action="store_true", help="the sample data, and a few commands on real data"
        )
        sub.add_argument(
            "--jobs", type=int, default=2, metavar="N", help="commands at once (default 2)"
        )
        if name == "compare":
            help_text = (
                "compare exit codes and the numbers of stdout and of files, but no words and no "
                "stderr"
            )
            sub.add_argument("--numbers", action="store_true", help=help_text)
        sub.set_defaults(function=function)
    args = parser.parse_args(argv)
    start = time.perf_counter()
    _prefer_python_path()
    if hasattr(os, "fork"):
        _warm_up()
    folder = args.folder.resolve()
    options = {"numbers": args.numbers} if args.what == "compare" else {}
    code: int = args.function(
        folder, args.data, only=args.only, quick=args.quick, jobs=args.jobs, **options
    )
    print(f"{time.perf_counter() - start:.0f} seconds", file=sys.stderr)
    return code


if __name__ == "__main__":
    if sys.argv[1:2] == ["step"]:
        sys.path.pop(0)
        run_here(json.loads(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
        sys.exit()
    sys.exit(main())
