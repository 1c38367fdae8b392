"""The first process of a submission: it gives up rights, says what it reached, and becomes the worker.

It runs as a script with the standard library alone: ``python -I -S jail.py``. The settings, one line of JSON, are
the first line of stdin. The first line of stdout is the level that was reached, one of the values of
:class:`~classic_rc.teaching.sandbox.Level`. Then the worker takes over both.

Levels are tried from the strongest to the weakest. Each is entered whole or not at all: a step that the system
refuses happens in a child process that ends, and the next level is tried in another one.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import resource
import shutil
import signal
import struct
import time
from pathlib import Path
from typing import Any

# From the headers of Linux: sched.h, mount.h, prctl.h, landlock.h. The numbers are the same on all 64-bit machines.
_NEW_NAMESPACES = {"ns": 0x00020000, "uts": 0x04000000, "ipc": 0x08000000, "pid": 0x20000000, "net": 0x40000000}
_NEW_USER = 0x10000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXECUTION, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = (
    1, 2, 4, 8, 32, 4096, 16384, 1 << 18
)  # fmt: skip
_SET_PARENT_DEATH_SIGNAL, _SET_DUMPABLE, _KEEP_CAPABILITIES, _SET_FILTER = 1, 4, 8, 22
_DROP_BOUND, _ADOPT_ORPHANS, _NO_NEW_RIGHTS, _AMBIENT = 24, 36, 38, 47
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_EVERYTHING = 2  # CAP_DAC_READ_SEARCH
_USERS = range(61184, 65520)
"""Numbers of users that no account has: systemd keeps them for users without one."""

# System calls that reach beyond the files that Landlock guards: their numbers on x86-64 and on other machines.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_REFUSED_CALLS = {
    **{"socket": (41, 198), "io_uring_setup": (425, 425)},  # network, and the message buses of a desktop
    **{"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_send_signal": (424, 424)},
    **{"rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"setpriority": (141, 140), "ioprio_set": (251, 30), "process_madvise": (440, 440)},
    **{"sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118)},
    **{"sched_setattr": (314, 274), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190)},
    **{"mq_open": (240, 180), "memfd_create": (319, 279), "add_key": (248, 217), "keyctl": (250, 219)},
    **{"request_key": (249, 218), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282)},
    **{"open_by_handle_at": (304, 265), "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51)},
}
_IGNORED_CALLS = {  # what Landlock lets through; copying a file makes some of them
    **{"chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54)},
    **{"utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88)},
    **{"setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463)},
    **{"removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466)},
}
_LIMITS_CALL = (302, 261)  # prlimit64 may change the limits of other processes
_CLONE_CALL = (56, 220)  # may make a user namespace, and with it new rights
_CLONE3_CALL = (435, 435)  # A filter cannot read its flags; without it, libc uses clone.

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Read the settings and enter the strongest level that the system allows."""
    settings = json.loads(_read_line(0))
    with contextlib.suppress(OSError):  # If memory runs out, the system ends these processes and not the grader.
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(OSError, AttributeError):
        _call("prctl", _ADOPT_ORPHANS, 1, 0, 0, 0)
        _call("prctl", _SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)  # nothing outlives the grader
    signal.signal(signal.SIGTERM, lambda *_: _end_all(143))
    for level in settings["levels"]:
        told, refused = os.pipe()  # Not inherited by the worker: no exit code of its own looks like a refusal.
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _enter(level, settings, refused)
        os.close(refused)
        code = _wait(child)
        if not os.read(told, 1):
            _end_all(code)
        os.close(told)
    os.write(1, b"refused\n")


def _wait(child: int) -> int:
    """Wait for one child, and return its exit code, or minus the signal that ended it."""
    while True:  # Orphans that this process has adopted end as well.
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def _end_all(code: int) -> None:
    """End every process that descends from this one, also those that have left its group, and then this one."""
    end = time.monotonic() + (3 if os.path.isdir("/proc/self") else 0)
    with contextlib.suppress(ChildProcessError, OSError):
        while time.monotonic() < end:
            for child in _children():
                os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:  # Their own children become children of this process.
                pass
            time.sleep(0.002)
    os._exit(code if code >= 0 else 128 - code)


def _children() -> list[int]:
    """Return the children of this process; without /proc, none."""
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    fields = Path(entry.path, "stat").read_text(errors="replace").rpartition(")")[2].split()
                    if int(fields[1]) == os.getpid() and fields[0] != "Z":
                        found.append(int(entry.name))
    return found


def _enter(level: str, settings: dict[str, Any], refused: int) -> None:
    """Become the worker at a level, or write to `refused` and end this process."""
    levels = {"namespaces": _enter_namespaces, "landlock": _enter_landlock, "process": _enter_process}
    enter = levels.get(level, lambda settings: None)
    try:
        enter(settings)
        os.write(1, level.encode() + b"\n")
    except (OSError, AttributeError, KeyError):  # KeyError: a machine whose system calls are not known here
        os.write(refused, b"x")
        os._exit(1)
    try:
        os.execve(settings["command"][0], settings["command"], settings["environment"])
    finally:
        os._exit(1)


def _enter_namespaces(settings: dict[str, Any]) -> None:
    """Own files, processes and network: nothing but the interpreter, the student's package and the work folder."""
    _call("prctl", _SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    is_root = os.geteuid() == 0
    user, group = os.geteuid(), os.getegid()
    _call("unshare", sum(_NEW_NAMESPACES.values()) | (0 if is_root else _NEW_USER))
    if not is_root:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"1000 {user} 1")
        Path("/proc/self/gid_map").write_text(f"1000 {group} 1")
    _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    root = Path(settings["root"])
    _make_root(root, settings)
    child = os.fork()
    if child:  # The new process is the first of its namespace: when it ends, all of them end.
        code = _wait(child)
        os._exit(code if code >= 0 else 128 - code)
    _call("prctl", _SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    os.chroot(root)
    os.chdir(settings["work"])
    _drop_capabilities()
    if is_root:
        _become_other(random.choice(_USERS))
    _call("prctl", _SET_DUMPABLE, 0, 0, 0, 0)
    child = os.fork()
    if child:  # The student's code is not the first process, because that one decides when all end.
        for stream in (0, 1):
            os.close(stream)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        os._exit(code if code >= 0 else 128 - code)
    _filter_calls()
    _set_limits(settings["limits"])


def _make_root(root: Path, settings: dict[str, Any]) -> None:
    """Build the tree of files that the student's code sees."""
    _mount_memory(root, settings["limits"]["folder_bytes"])
    for name in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink(f"/{name}"):
            (root / name).symlink_to(os.readlink(f"/{name}"))
    for path in settings["visible"]:
        _show(root, Path(path))
    for path in settings["hidden"]:
        if Path(f"{root}{path}").is_dir():
            _mount_memory(Path(f"{root}{path}"), 2**20)
    for path in settings["visible_again"]:
        _show(root, Path(path))
    for name in ("null", "zero", "urandom", "random"):
        _show(root, Path("/dev", name), writable=True)
    shown, work = Path(settings["work"]), Path(f"{root}{settings['work']}")
    shutil.copytree(shown, work)
    for path in (work, *work.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def _show(root: Path, path: Path, *, writable: bool = False) -> None:
    """Make a file or a folder visible at its own path."""
    if not path.exists() or os.path.islink(path):
        return
    place = Path(f"{root}{path}")
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
    _call("mount", os.fsencode(path), os.fsencode(place), None, _BIND, None)
    if not writable:
        # A mount from outside keeps its own restrictions, and a remount that would lift one is refused.
        kept = os.statvfs(place).f_flag & (_NO_SETUID | _NO_DEVICES | _NO_EXECUTION | 1024 | 2048 | 4096)
        times = (1024 if kept & 1024 else 0) | (2048 if kept & 2048 else 0) | ((1 << 21) if kept & 4096 else 0)
        flags = _REMOUNT | _BIND | _READ_ONLY | _NO_SETUID | (kept & 14) | times
        _call("mount", None, os.fsencode(place), None, flags, None)


def _mount_memory(place: Path, size: int) -> None:
    options = f"size={size},mode=755".encode()
    _call("mount", b"tmpfs", os.fsencode(place), b"tmpfs", _NO_SETUID | _NO_DEVICES, options)


def _enter_landlock(settings: dict[str, Any]) -> None:
    """The files of all others are out of reach, and so are signals, sockets and what else a file is not."""
    version = _libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        raise OSError("no Landlock")
    all_of_files = (1 << 13) - 1 | (1 << 13 if version >= 2 else 0) | (1 << 14 if version >= 3 else 0)
    attributes = struct.pack("=QQQ", all_of_files, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _call("syscall", _LANDLOCK_CREATE, attributes, size, 0)
    reading, listing, devices = (1 << 0) | (1 << 2) | (1 << 3), 1 << 3, (1 << 1) | (1 << 2)
    allowed = [(path, reading) for path in _without_hidden(settings["visible"], settings["hidden"])]
    # Python lists the folders of its modules. The names in hidden folders can be listed with them, but not read.
    allowed += [(os.path.dirname(path), listing) for path in settings["hidden"]]
    allowed += [(path, reading) for path in settings["visible_again"]]
    allowed += [(f"/dev/{name}", devices) for name in ("null", "zero", "urandom", "random")]
    for path, rights in [*allowed, (settings["work"], all_of_files & ~(1 << 6 | 1 << 11 | 1 << 9 | 1 << 10))]:
        with contextlib.suppress(FileNotFoundError):
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
            of_files = (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14)
            rights &= all_of_files if os.path.isdir(path) else of_files
            _call("syscall", _LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, folder), 0)
            os.close(folder)
    os.chdir(settings["work"])
    if os.geteuid() == 0:  # The limit on processes does not hold for root.
        user = random.choice(_USERS)
        for path in (settings["work"], *Path(settings["work"]).rglob("*")):
            os.chown(path, user, user)
        os.chmod(Path(settings["work"]).parent, 0o711)
        is_reachable = _is_open_to_all(settings["command"][0], *settings["visible"], *settings["visible_again"])
        _drop_capabilities(keep=not is_reachable)
        _become_other(user, reads_everything=not is_reachable)
    else:
        _drop_capabilities()
    _call("syscall", _LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    _filter_calls()
    _set_limits(settings["limits"])


def _is_open_to_all(*paths: str) -> bool:
    """Return whether every user can reach the paths."""
    folders = {folder for path in paths if os.path.exists(path) for folder in Path(path).parents}
    return all(os.stat(folder).st_mode & 1 for folder in folders)


def _become_other(user: int, *, reads_everything: bool = False) -> None:
    """Go on as another user, without rights.

    With a Python below ``/root``, the process must read what its new user cannot; Landlock still says what that is.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    if reads_everything:
        _call("prctl", _KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setresuid(user, user, user)
    if reads_everything:
        right = 1 << _READ_EVERYTHING
        header, rights = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", right, right, right, 0, 0, 0)
        _call("capset", header, rights)
        _call("prctl", _AMBIENT, 2, _READ_EVERYTHING, 0, 0)


def _filter_calls() -> None:
    """Refuse the system calls by which a process reaches others than by files; it needs ``_NO_NEW_RIGHTS``."""
    architecture, column = _ARCHITECTURES[os.uname().machine]
    # Berkeley packet filter: (operation, steps if true, steps if false, value), on nr, architecture and arguments.
    load, equal, at_least, has_bits, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse, ignore, unknown, end = 0x7FFF0000, 0x00050001, 0x00050000, 0x00050026, 0x80000000
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (give, 0, 0, end), (load, 0, 0, 0)]
    program += [(at_least, 0, 1, 0x40000000), (give, 0, 0, end)]  # the second table of calls on x86-64
    for calls, answer in ((_REFUSED_CALLS, refuse), (_IGNORED_CALLS, ignore)):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                program += [(equal, 0, 1, number), (give, 0, 0, answer)]
    program += [(equal, 0, 1, _CLONE3_CALL[column]), (give, 0, 0, unknown)]
    program += [(equal, 0, 4, _CLONE_CALL[column]), (load, 0, 0, 16)]
    program += [(has_bits, 1, 0, _NEW_USER), (give, 0, 0, allow), (give, 0, 0, refuse)]
    program += [(equal, 0, 3, _LIMITS_CALL[column]), (load, 0, 0, 16), (equal, 1, 0, 0), (give, 0, 0, refuse)]
    program += [(give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    _call("prctl", _SET_FILTER, 2, struct.pack("@HP", len(program), ctypes.addressof(code)), 0, 0)


def _without_hidden(visible: list[str], hidden: list[str]) -> list[str]:
    """Return the paths, each with a hidden folder below it replaced by what else is beside that folder."""
    paths = []
    for path in visible:
        if path in hidden or os.path.islink(path):
            continue
        if any(other.startswith(f"{path}/") for other in hidden):
            paths += _without_hidden([entry.path for entry in os.scandir(path)], hidden)
        else:
            paths.append(path)
    return paths


def _enter_process(settings: dict[str, Any]) -> None:
    """Limits alone: the files of the user and the network stay in reach."""
    os.chdir(settings["work"])
    _set_limits(settings["limits"])


def _drop_capabilities(*, keep: bool = False) -> None:
    """No program that this process starts gets a right that it has not, not even as root.

    With `keep`, the right to read every file can still be passed on.
    """
    for capability in range(64):
        if not (keep and capability == _READ_EVERYTHING):
            _libc.prctl(_DROP_BOUND, capability, 0, 0, 0)
    _call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)


def _set_limits(limits: dict[str, int]) -> None:
    for kind, value in (
        (resource.RLIMIT_CPU, limits["cpu_seconds"]),
        (resource.RLIMIT_AS, limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, limits["processes"]),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS has no limit on the address space
            resource.setrlimit(kind, (value, value))


def _call(name: str, *args: Any) -> int:
    result = int(getattr(_libc, name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def _read_line(stream: int) -> bytes:
    """Read up to a line's end and not one byte more: the rest is for the worker."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(stream, 1)
        if not byte:
            raise EOFError
        line += byte
    return bytes(line)


if __name__ == "__main__":
    main()
