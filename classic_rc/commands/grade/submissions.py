"""What students have handed in: one file, a folder with a main file, or a notebook."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path

from classic_rc.commands.grade.assignment import DECLARATION
from classic_rc.commands.grade.similarity import parse_source
from classic_rc.errors import DataError
from classic_rc.io.files import read_input

_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
"""Commands to the notebook above a cell that is Python."""

_CODE = (".py", ".ipynb")
_MAX_FILES = 200
_MAX_LEVELS = 20
_MAX_OTHER = 2**22
_MAX_CODE = 2**18
_TOO_MUCH_CODE = f"it has more than {_MAX_CODE // 1024} kB of code"
_MAX_NOTEBOOK = 2**25


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What one student has handed in: files by name (a notebook is here as Python), or why it
    cannot be graded.

    The student is the name of the file or folder, `file` the main file with its folder, `main` its
    key in `files`.
    """

    student: str
    file: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    main: str = ""
    problem: str | None = None


def find_submissions(
    folder: str | PathLike[str], main: str | None = None, suffixes: Sequence[str] = ()
) -> list[HandedIn]:
    """Read the submissions in a folder, whatever they are, sorted by their names.

    `main` is the main file's name where a student's folder has several; files with the `suffixes`
    belong to it too.

    Raises
    ------
    DataError
        The folder does not exist, is empty, or two submissions have the same name.
    """
    root = Path(folder)
    if not root.is_dir():
        hint = "Give a folder with one file or one folder for each student"
        raise DataError("no such folder", source=str(folder), hint=hint)
    paths = [path for path in sorted(root.iterdir()) if not _is_hidden(path.name)]
    paths = [path for path in paths if path.name != DECLARATION]
    submissions = [read_submission(path, main, suffixes) for path in paths]
    if not submissions:
        raise DataError(
            "no submissions", source=str(folder), expected="a file or a folder for each student"
        )
    counts = Counter(submission.student for submission in submissions)
    if twice := next(
        (submission.student for submission in submissions if counts[submission.student] > 1), None
    ):
        raise DataError("two submissions have the same name", source=str(folder), found=twice)
    return submissions


def read_submission(path: Path, main: str | None = None, suffixes: Sequence[str] = ()) -> HandedIn:
    """Read one submission, a Python file, a notebook, or a folder, as :func:`find_submissions`
    does.
    """
    if path.is_symlink():
        return HandedIn(path.stem, path.name, problem="it is a link to somewhere else")
    try:
        if path.is_dir():
            return _read_folder(path, main, suffixes)
        source, problem = _read_source(path)
    except OSError as error:
        return HandedIn(
            path.stem, path.name, problem=f"it cannot be read: {error.strerror or error}"
        )
    name = f"{path.stem}.py"
    return HandedIn(path.stem, path.name, {name: source}, name, problem)


def _read_folder(folder: Path, main: str | None, suffixes: Sequence[str]) -> HandedIn:
    refused = partial(HandedIn, folder.name, folder.name, {}, "")
    all_paths = _files_of(folder)
    paths = [path for path in all_paths if path.suffix in _CODE]
    if not paths:
        content = []
        for path in sorted(folder.iterdir())[:5]:
            content.append(f"{path.name} (a link)" if path.is_symlink() else path.name)
        return refused(
            f"the folder has no .py file and no notebook; it has {', '.join(content) or 'nothing'}"
        )
    if len(all_paths) > _MAX_FILES:
        return refused(f"the folder has more than {_MAX_FILES} files")
    main_path = _main_of(paths, main)
    if main_path is None:
        names = ", ".join(path.relative_to(folder).as_posix() for path in paths[:5])
        return refused(
            f"the folder has several files, and not one that is {main or 'main.py'}: {names}"
        )
    files, problem = {}, None
    for path in paths:
        source, wrong = _read_source(path)
        files[path.relative_to(folder).with_suffix(".py").as_posix()] = source
        problem = problem or (wrong if path == main_path else None)
    if sum(map(len, files.values())) > _MAX_CODE:
        files, problem = {}, _TOO_MUCH_CODE
    for path in all_paths:
        if (
            path.suffix in suffixes
            and path.suffix not in _CODE
            and path.stat().st_size <= _MAX_OTHER
        ):
            files[path.relative_to(folder).as_posix()] = read_input(path)
    name = main_path.relative_to(folder)
    file, key = f"{folder.name}/{name.as_posix()}", name.with_suffix(".py").as_posix()
    return HandedIn(folder.name, file, files, key, problem)


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a student: no links, nothing hidden, and of a few levels only."""
    files: list[Path] = []
    folders = [folder]
    while folders and len(files) <= _MAX_FILES:
        for path in sorted(folders.pop().iterdir()):
            if _is_hidden(path.name) or path.is_symlink():
                continue
            if path.is_dir() and len(path.relative_to(folder).parts) < _MAX_LEVELS:
                folders.append(path)
            elif path.is_file():
                files.append(path)
    return sorted(files)


def _is_hidden(name: str) -> bool:
    """Whether a system or a program has put it there: .DS_Store, __pycache__, __MACOSX, but not
    __init__.py.
    """
    return name.startswith(".") or (name.startswith("__") and not name.endswith(".py"))


def _main_of(paths: Sequence[Path], main: str | None) -> Path | None:
    """Return the file that the assignment names, the only one, or main.py."""
    stems = [Path(main).stem] if main else []
    for stem in (*stems, "main"):
        matching = [path for path in paths if path.stem == stem]
        if len(matching) == 1:
            return matching[0]
    return paths[0] if len(paths) == 1 else None


def _read_source(path: Path) -> tuple[bytes, str | None]:
    """Return a file's Python source, and what is wrong with the file."""
    if path.suffix not in _CODE:
        return (
            b"",
            f"it is a {path.suffix or 'file without an ending'}, not a .py file or a notebook",
        )
    if not path.is_file():
        return b"", "it is not a regular file"
    largest = _MAX_CODE if path.suffix == ".py" else _MAX_NOTEBOOK
    if path.stat().st_size > largest:
        return b"", f"it has more than {largest // 1024} kB"
    source = read_input(path)
    if path.suffix == ".ipynb":
        try:
            source = notebook_source(source).encode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return b"", "it is not a Jupyter notebook"
    if not source.strip():
        return b"", "it is empty"
    return (source, None) if len(source) <= _MAX_CODE else (b"", _TOO_MUCH_CODE)


def notebook_source(data: bytes) -> str:
    """Return a notebook's code cells as one Python file; commands to the notebook become
    comments.
    """
    parts = []
    for number, cell in enumerate(json.loads(data)["cells"], 1):
        if cell["cell_type"] == "code":
            parts.append(f"# cell {number}\n{_cell_source(''.join(cell['source']).splitlines())}\n")
    return "\n".join(parts)


def _cell_source(lines: list[str]) -> str:
    if lines and lines[0].startswith("%%"):
        magic, *lines = lines
        if magic.split()[0] not in _PYTHON_CELLS:
            lines = [f"# {line}" for line in lines]
        lines = [f"# {magic}", *lines]
    source = "\n".join(lines)
    if parse_source(source.encode("utf-8", "replace")) is not None:
        return source
    python_lines = []
    for line in lines:
        if _is_command(line):
            indent = line[: -len(line.lstrip())]
            line = f"{indent}pass  # {line.strip()}"
        python_lines.append(line)
    return "\n".join(python_lines)


def _is_command(line: str) -> bool:
    """Whether a line is for the notebook: %magic, !command, name = !command, ?help, help?"""
    line = line.strip()
    parts = (line, line.partition("=")[2].strip())
    if line.startswith("?") or line.endswith("?"):
        return True
    return any(re.match(r"!|%%?[a-z]", text) for text in parts)


def plain_files(submissions: Sequence[HandedIn]) -> dict[str, bytes]:
    """Return all submissions' code as plain files for one folder, for tools that compare
    programs.
    """
    code = {}
    for submission in submissions:
        for name, source in submission.files.items():
            if name.endswith(".py"):
                path = f"{submission.student}/{name}"
                code[path.replace("/", "__")] = source
    return code
