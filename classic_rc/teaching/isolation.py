"""Where a student's process runs: under bubblewrap, in a container, as another user, or as the grader's own."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from classic_rc.errors import UsageError

_FOLDER = "classic-rc-grade-"
_USERS = range(61184, 65520)
"""Numbers of users that no account has: systemd keeps them for users without one."""

_LIBRARIES = ("/usr/lib", "/lib", "/usr/lib64", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a student's code may use: seconds of all calls (a check may take a third), and what else.

    Bytes are of the memory of one process, of one file, and of all files where these are in memory.
    """

    seconds: float = 60.0
    memory_bytes: int = 2**31
    file_bytes: int = 2**20
    folder_bytes: int = 2**26
    processes: int = 32


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Isolation:
    """How far a student's process is apart from everything else, by its kind.

    ``bubblewrap``: no files but Python's and its own, no network, no other processes. ``container``: what its
    command makes it; ``{folder}`` stands for what that must show read-only. ``other user``: it can neither read nor
    write what is closed to others; `user` is its number. ``none``: for code that you trust.
    """

    kind: str
    command: tuple[str, ...] = ()
    user: int | None = None

    def with_user(self) -> Isolation:
        """Return the isolation with a user that no account and no other submission has, where it needs one."""
        is_other = self.kind == "other user" or (self.kind == "bubblewrap" and _is_root())
        return replace(self, user=random.choice(_USERS)) if is_other else self

    def worker_command(self, folder: Path, main: str, packages: Sequence[str], limits: Limits) -> list[str]:
        """Return the command of a student's process, and show it the packages that it may use."""
        own, seen = folder / "package", "/box" if self.kind == "bubblewrap" else str(folder)
        work = f"{seen}/work"
        settings = json.dumps(asdict(limits) | {"user": self.user})
        arguments = [f"{seen}/worker.py", f"{seen}/package", f"{work}/{main}", settings]
        if self.kind == "container":
            return [*(part.replace("{folder}", seen) for part in self.command), "python3", "-P", "-s", *arguments]
        arguments = ["-P", "-s", "-S", *arguments]  # As -I, but with PYTHONHASHSEED: a grading can be repeated.
        places = [place for name in packages if name != "classic_rc" for place in _places(name)]
        if self.kind != "bubblewrap":
            for place in places:
                (own / place.name).symlink_to(place, target_is_directory=True)
            return [_PYTHON, *arguments]
        for place in places:
            (own / place.name).mkdir()
        shown = [part for place in places for part in ("--ro-bind", str(place), f"{seen}/package/{place.name}")]
        return [*_bubblewrap(limits.folder_bytes), "--ro-bind", str(folder), seen, *shown, *_INNER, *arguments]

    def end_all(self) -> None:
        """End every process of the student's user, also those that have left their group."""
        if self.user is not None and (child := os.fork()) == 0:
            with suppress(OSError):
                os.setresuid(self.user, self.user, self.user)
                os.kill(-1, signal.SIGKILL)
            os._exit(0)
        elif self.user is not None:
            os.waitpid(child, 0)


_INNER = ["--chdir", "/tmp", f"/python/bin/{Path(_PYTHON).name}"]


def _bubblewrap(size: int) -> list[str]:
    """Return the command up to the student's own files: Python at /python without packages, and memory."""
    prefix = Path(_PYTHON).parents[1]
    hidden = [path for root in (prefix / "lib", Path("/usr/lib")) for path in root.glob("python3*/*-packages")]
    own = [f"/python/lib/{path.relative_to(prefix / 'lib')}" for path in hidden if prefix in path.parents]
    command = [shutil.which("bwrap") or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    if _is_root():  # The worker becomes another user itself; a mapped root would not be bound by limits.
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--cap-drop", "ALL"]
    for path in ("/python", "/usr", "/etc"):
        command += ["--perms", "0755", "--dir", path]
    for path in _LIBRARIES:
        command += ["--ro-bind-try", path, path]
    for name in ("bin", "lib"):
        command += ["--ro-bind", str(prefix / name), f"/python/{name}"]
    for path in {*own, *(str(path) for path in hidden if path.is_relative_to("/usr/lib"))}:
        command += ["--tmpfs", path]
    return [*command, "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size", str(size), "--tmpfs", "/tmp"]


@cache
def bubblewrap_problem() -> str | None:
    """Return why bubblewrap does not work here, in one line; None if it does."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    command = [*_bubblewrap(2**20), *_INNER, "-I", "-S", "-c", ""]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    told = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return f"bubblewrap does not work here: {told[-1][:200]} (some systems refuse user namespaces)"


def choose_isolation(
    *, unsafe: bool = False, container: str | None = None, closed: Iterable[str | os.PathLike[str]] = ()
) -> Isolation:
    """Return the strongest isolation that this system has.

    Parameters
    ----------
    unsafe : bool
        Whether to go on without bubblewrap and without a container.
    container : str, optional
        The command of a container.
    closed : iterable of path
        Files and folders that students' code must not reach: hidden questions and results.

    Raises
    ------
    UsageError
        There is no isolation, and `unsafe` is not set; or students' code could reach what is closed.
    """
    if container is not None:
        return Isolation("container", tuple(container.split()))
    if (problem := bubblewrap_problem()) is None:
        return Isolation("bubblewrap")
    if not unsafe:
        raise UsageError(
            f"cannot isolate students' processes: {problem}. Give --container COMMAND (docs/assignments), "
            "or --unsafe in a container that is thrown away",
            field="isolation",
            expected="bubblewrap, --container or --unsafe",
        )
    if not _is_root():
        if places := [os.fspath(path) for path in closed]:
            raise UsageError(
                f"students' code would run as your own user, and could reach {', '.join(places)}: be root, "
                "for whom it runs as another user, or use bubblewrap or --container",
                field="--unsafe",
                found=places[0],
            )
        return Isolation("none")
    _refuse_open(closed)
    return Isolation("other user")


def _refuse_open(closed: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to start another user's process where it cannot read Python, or can reach what is closed to it."""
    package = Path(__file__).parents[1]
    places = [str(package), *map(os.path.abspath, closed)]
    stream, own = os.pipe()
    if (child := os.fork()) == 0:
        user = _USERS[0]
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        reached = [place for place in places if os.access(place, os.R_OK) or os.access(place, os.W_OK)]
        folders = {os.path.dirname(place) for place in places if place not in reached}
        reached += [
            folder for folder in folders if os.access(folder, os.W_OK)
        ]  # It could put its own in their place.
        answer = {"python": os.access(_PYTHON, os.X_OK) and os.access(os.__file__, os.R_OK), "reached": reached}
        os.write(own, json.dumps(answer).encode()[:60000])
        os._exit(0)
    os.close(own)
    with os.fdopen(stream, "rb") as told_by_child:
        answer = json.loads(told_by_child.read())
    os.waitpid(child, 0)
    if not answer["python"]:
        told = f"the user of students' processes cannot read Python: {_PYTHON}. Install it where every user can"
        raise UsageError(told, field="--unsafe", found=_PYTHON)
    if reached := answer["reached"]:
        close = f"chmod -R go-rwx {' '.join(reached)}"
        told = f"students' code could reach {', '.join(reached)}: close them with `{close}`"
        raise UsageError(told, field="--unsafe", found=reached[0])


def make_folder() -> Path:
    """Make a folder for one process, and delete those that graders which are gone have left behind."""
    for left in Path(gettempdir()).glob(f"{_FOLDER}*-*"):
        owner = left.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdecimal() and not _is_running(int(owner)):
            remove_folder(left)
    return Path(mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")).resolve()


def remove_folder(folder: Path) -> None:
    """Delete a folder, however deep it is."""
    if (remove := shutil.which("rm")) is None:
        shutil.rmtree(folder, ignore_errors=True)
    else:  # Folders in folders in folders are too much for Python.
        subprocess.run([remove, "-rf", "--", str(folder)], check=False, stderr=subprocess.DEVNULL)


def _is_running(process: int) -> bool:
    if sys.platform == "win32":  # There, asking would end it.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _places(package: str) -> list[Path]:
    """Return the folder of an installed package, and that of libraries which its wheel has beside it."""
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return []
    place = Path(next(iter(spec.submodule_search_locations))).resolve()
    return [path for path in (place, place.with_name(f"{package}.libs")) if path.is_dir()]
