"""Where a student's process runs: under bubblewrap, in a container, as another user, or as the
grader's own.
"""

from __future__ import annotations

import json
import os
import random
import shutil
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
_USERS = range(61184, 65519, 2)
"""Numbers of users that no account has: systemd keeps them for users without one. Those between
end processes.
"""

_OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm")
_LIBRARIES = ("/usr/lib", "/lib", "/usr/lib64", "/lib64", "/etc/ld.so.cache", "/etc/alternatives")
_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
_CLEAN_PYTHON = [_PYTHON, "-I", "-S", "-c"]
_END_ALL = (
    "import os, sys; one, own = map(int, sys.argv[1:]); os.setresuid(own, one, own); os.kill(-1, 9)"
)
_FIND_OPEN = """
import json, os, sys
needed, closed = json.load(sys.stdin)
reached = [place for place in closed if os.access(place, os.R_OK) or os.access(place, os.W_OK)]
# It could put its own there.
folders = {os.path.dirname(place) for place in closed if place not in reached}
reached += sorted(folder for folder in folders if os.access(folder, os.W_OK))
json.dump([[place for place in needed if not os.access(place, os.R_OK)], reached], sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a student's code may use: seconds of the processor for all calls (a check may take a
    third), and what else.

    By the clock, it may take `patience` times as long: a busy grader fails no right work.

    Bytes are of the memory of one process, of one file, and of all files where these are in memory.
    """

    seconds: float = 60.0
    patience: float = 10.0
    memory_bytes: int = 2**31
    file_bytes: int = 2**20
    folder_bytes: int = 2**26
    processes: int = 32


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Isolation:
    """How a student's process is separated from everything else, by its kind.

    ``bubblewrap``: no files but Python's and its own, no network, no other processes.
    ``container``: what its command makes it; ``{folder}`` is what it must show read-only. ``other
    user``: it can neither read nor write what is closed to others; `user` is its number. ``none``:
    for code that you trust.
    """

    kind: str
    command: tuple[str, ...] = ()
    user: int | None = None

    def with_user(self) -> Isolation:
        """Return the isolation with a user that no account and no other submission has, where it
        needs one.
        """
        is_other = self.kind == "other user" or (self.kind == "bubblewrap" and is_root())
        return replace(self, user=_unused_user()) if is_other else self

    def worker_command(
        self, folder: Path, main: str, packages: Sequence[str], limits: Limits
    ) -> list[str]:
        """Return the command of a student's process, and show it the packages that it may use."""
        package_folder, root = (
            folder / "package",
            "/box" if self.kind == "bubblewrap" else str(folder),
        )
        work = f"{root}/work"
        settings = json.dumps(asdict(limits) | {"user": self.user})
        arguments = [f"{root}/worker.py", f"{root}/package", f"{work}/{main}", settings]
        if self.kind == "container":
            return [
                *(argument.replace("{folder}", root) for argument in self.command),
                "python3",
                "-P",
                "-s",
                *arguments,
            ]
        # As -I, but with PYTHONHASHSEED: a grading can be repeated.
        arguments = ["-P", "-s", "-S", *arguments]
        places = [place for name in packages if name != "classic_rc" for place in _places(name)]
        if self.kind != "bubblewrap":
            for place in places:
                (package_folder / place.name).symlink_to(place, target_is_directory=True)
            return [_PYTHON, *arguments]
        bindings = ["--ro-bind", str(folder), root]
        for place in places:
            (package_folder / place.name).mkdir()
            bindings += ["--ro-bind", str(place), f"{root}/package/{place.name}"]
        return [*_bubblewrap(limits.folder_bytes), *bindings, *_INNER, *arguments]

    def end_all(self) -> None:
        """End every process of the student's user, also those that left their group, and delete
        its files.
        """
        if self.kind != "other user" or self.user is None:
            return
        # For signals to it, the process that ends them is of a third user: theirs cannot end it
        # first.
        users = [str(self.user), str(self.user + 1)]
        subprocess.run([*_CLEAN_PYTHON, _END_ALL, *users], check=False)
        for place in map(Path, _OPEN_TO_ALL):
            for path in place.iterdir() if place.is_dir() else ():
                with suppress(OSError):
                    if path.lstat().st_uid == self.user:
                        remove_folder(path)


def _unused_user() -> int:
    """Draw a user without a process: graders that run at the same time end all processes of
    theirs.
    """
    used = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            used.add(process.stat().st_uid)
    return random.choice([user for user in _USERS if user not in used])


_INNER = ["--chdir", "/tmp", f"/python/bin/{Path(_PYTHON).name}"]


def _bubblewrap(size: int) -> list[str]:
    """Return the command up to the student's own files: Python at /python without packages, and
    memory.
    """
    prefix = Path(_PYTHON).parents[1]
    hidden = [
        path
        for root in (prefix / "lib", Path("/usr/lib"))
        for path in root.glob("python3*/*-packages")
    ]
    in_prefix = [
        f"/python/lib/{path.relative_to(prefix / 'lib')}"
        for path in hidden
        if prefix in path.parents
    ]
    command = [
        shutil.which("bwrap") or "bwrap",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
    ]
    command += ["--unshare-cgroup-try", "--die-with-parent", "--new-session"]
    # The worker becomes another user itself; a mapped root would not be bound by limits.
    if is_root():
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--cap-drop", "ALL"]
    for path in ("/python", "/usr", "/etc"):
        command += ["--perms", "0755", "--dir", path]
    for path in _LIBRARIES:
        command += ["--ro-bind-try", path, path]
    for name in ("bin", "lib"):
        command += ["--ro-bind", str(prefix / name), f"/python/{name}"]
    for path in {*in_prefix, *(str(path) for path in hidden if path.is_relative_to("/usr/lib"))}:
        command += ["--tmpfs", path]
    return [
        *command,
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--perms",
        "1777",
        "--size",
        str(size),
        "--tmpfs",
        "/tmp",
    ]


@cache
def bubblewrap_problem() -> str | None:
    """Return why bubblewrap does not work here, in one line; None if it does."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)"
    command = [*_bubblewrap(2**20), *_INNER, "-I", "-S", "-c", ""]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return None
    message = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return (
        f"bubblewrap does not work here: {message[-1][:200]} (some systems refuse user namespaces)"
    )


def choose_isolation(
    *,
    unsafe: bool = False,
    container: str | None = None,
    closed: Iterable[str | os.PathLike[str]] = (),
    graders: Iterable[str | os.PathLike[str]] = (),
    packages: Iterable[str] = ("numpy",),
) -> Isolation:
    """Return the strongest isolation that this system has.

    Parameters
    ----------
    unsafe : bool
        Whether to go on without bubblewrap and without a container.
    container : str, optional
        The command of a container.
    closed, graders : iterable of path
        Files and folders that students' code must not reach: hidden questions, results, submissions
        of others; and what grades, in addition to this package.
    packages : iterable of str
        What it must be able to import.

    Raises
    ------
    UsageError
        There is no isolation, and `unsafe` is not set; or students' code could reach what is
        closed.
    """
    if container is not None:
        command = tuple(container.split())
        if not command or shutil.which(command[0]) is None:
            raise UsageError(
                f"no command {container!r} here: --container has the command that runs python3 in "
                "a container",
                field="--container",
                found=container,
                expected="a command",
            )
        return Isolation("container", command)
    if (problem := bubblewrap_problem()) is None:
        return Isolation("bubblewrap")
    if not unsafe:
        raise UsageError(
            f"cannot isolate students' processes: {problem}. Give --container COMMAND "
            "(docs/assignments), or --unsafe in a throw-away container",
            field="isolation",
            expected="bubblewrap, --container or --unsafe",
        )
    places = [os.fspath(place) for place in closed]
    if not is_root():
        if places:
            raise UsageError(
                f"students' code would run as your own user, and could reach {', '.join(places)}: "
                "be root, for whom it runs as another user, or use bubblewrap or --container",
                field="--unsafe",
                found=places[0],
            )
        return Isolation("none")
    readable = [os.__file__, *(str(place) for name in packages for place in _places(name))]
    package = Path(__file__).parents[2]
    places = [str(package), *map(os.path.abspath, (*places, *graders))]
    try:
        done = subprocess.run(
            [*_CLEAN_PYTHON, _FIND_OPEN],
            input=json.dumps([readable, places]),
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            user=_USERS[0],
            group=_USERS[0],
            extra_groups=(),
        )
        missing, reached = json.loads(done.stdout)
    except (OSError, ValueError):
        missing, reached = [_PYTHON], []
    if missing:
        message = (
            f"the user of students' processes cannot read {missing[0]}: install it where every "
            "user can"
        )
        raise UsageError(message, field="--unsafe", found=missing[0])
    if reached:
        close = f"chmod -R go-rwx {' '.join(reached)}"
        message = f"students' code could reach {', '.join(reached)}: close them with `{close}`"
        raise UsageError(message, field="--unsafe", found=reached[0])
    return Isolation("other user")


def make_folder() -> Path:
    """Make a folder for one process, and delete those that graders which are gone have left
    behind.
    """
    for folder in Path(gettempdir()).glob(f"{_FOLDER}*-*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if owner.isdecimal() and not _is_running(int(owner)):
            with suppress(OSError):
                if is_root() and (user := (folder / "tmp").lstat().st_uid) in _USERS:
                    Isolation("other user", user=user).end_all()
            remove_folder(folder)
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


def is_root() -> bool:
    """Return whether the grader may become other users."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _places(package: str) -> list[Path]:
    """Return the folder of an installed package, and the folder of libraries next to it, if its
    wheel has one.
    """
    spec = find_spec(package) if package != "classic_rc" else None
    if spec is None or spec.submodule_search_locations is None:
        return []
    place = Path(next(iter(spec.submodule_search_locations))).resolve()
    return [path for path in (place, place.with_name(f"{package}.libs")) if path.is_dir()]
