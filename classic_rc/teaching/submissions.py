"""What students have handed in: one file, a folder with a main file, or a notebook, and which of them are alike."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from classic_rc.errors import DataError
from classic_rc.io.files import read_input

_ALIKE = 0.8
"""Submissions are listed as near-equal from this share of equal runs of tokens on."""

_RUN = 5
_FEW_RUNS = 16
"""Files with less code are alike by chance."""

_MANY_RUNS = 100
"""So long a file is no part of another one by chance."""

_COPY = 60
"""Two people who write the same short function share up to 45 tokens in a row."""

_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
"""Commands to the notebook above a cell that is Python."""

_MAX_FILES = 200
_MAX_CODE = 2**18
_TOO_MUCH_CODE = f"it has more than {_MAX_CODE // 1024} kB of code"
_MAX_NOTEBOOK = 2**25


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What one student has handed in.

    Parameters
    ----------
    student : str
        The file's name without its ending, or the name of the student's folder.
    file : str
        The main file, after the student's folder if there is one.
    files : mapping of str to bytes
        Python files by their names; a notebook is here as the Python file of its code cells.
    main : str
        The key of the main file.
    problem : str or None
        Why it cannot be graded.
    """

    student: str
    file: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    main: str = ""
    problem: str | None = None


def find_submissions(folder: str | PathLike[str], main: str | None = None) -> list[HandedIn]:
    """Read the submissions in a folder, whatever they are.

    Parameters
    ----------
    folder : str or path
        It has a file or a folder for each student.
    main : str, optional
        The name of the main file where a student's folder has several.

    Returns
    -------
    list of HandedIn
        Sorted by the names of files and folders; what cannot be graded is there with its reason.

    Raises
    ------
    DataError
        The folder does not exist, is empty, or two submissions have the same name.
    """
    root = Path(folder)
    if not root.is_dir():
        hint = "Give a folder with one file or one folder for each student"
        raise DataError("no such folder", source=str(folder), hint=hint)
    found = [read_submission(path, main) for path in sorted(root.iterdir()) if not _is_hidden(path.name)]
    if not found:
        raise DataError("no submissions", source=str(folder), expected="a file or a folder for each student")
    counts = Counter(one.student for one in found)
    for one in found:
        if counts[one.student] > 1:
            raise DataError("two submissions have the same name", source=str(folder), found=one.student)
    return found


def read_submission(path: Path, main: str | None = None) -> HandedIn:
    """Read one submission: a Python file, a notebook, or a folder.

    Parameters
    ----------
    path : path
    main : str, optional
        See :func:`find_submissions`.
    """
    if path.is_symlink():
        return HandedIn(path.stem, path.name, problem="it is a link to somewhere else")
    try:
        if path.is_dir():
            return _read_folder(path, main)
        source, problem = _read_source(path)
    except OSError as error:
        return HandedIn(path.stem, path.name, problem=f"it cannot be read: {error.strerror or error}")
    name = f"{path.stem}.py"
    return HandedIn(path.stem, path.name, {name: source}, name, problem)


def _read_folder(folder: Path, main: str | None) -> HandedIn:
    refused = partial(HandedIn, folder.name, folder.name, {}, "")
    paths = [path for path in sorted(folder.rglob("*")) if _is_code(path, folder)]
    if not paths:
        others = [f"{path.name}{' (a link)' * path.is_symlink()}" for path in sorted(folder.iterdir())[:5]]
        return refused(f"the folder has no .py file and no notebook; it has {', '.join(others) or 'nothing'}")
    if len(paths) > _MAX_FILES:
        return refused(f"the folder has {len(paths)} files of code")
    chosen = _main_of(paths, main)
    if chosen is None:
        names = ", ".join(path.relative_to(folder).as_posix() for path in paths[:5])
        return refused(f"the folder has several files and none is named {main or 'main.py'}: {names}")
    files, problem = {}, None
    for path in paths:
        source, wrong = _read_source(path)
        files[path.relative_to(folder).with_suffix(".py").as_posix()] = source
        problem = problem or (wrong if path == chosen else None)
    if sum(map(len, files.values())) > _MAX_CODE:
        files, problem = {}, _TOO_MUCH_CODE
    name = chosen.relative_to(folder)
    file, key = f"{folder.name}/{name.as_posix()}", name.with_suffix(".py").as_posix()
    return HandedIn(folder.name, file, files, key, problem)


def _is_code(path: Path, folder: Path) -> bool:
    hidden = any(map(_is_hidden, path.relative_to(folder).parts))
    return path.suffix in (".py", ".ipynb") and path.is_file() and not path.is_symlink() and not hidden


def _is_hidden(name: str) -> bool:
    """Whether a system or a program has put it there: .DS_Store, __pycache__, __MACOSX, but not __init__.py."""
    return name.startswith(".") or (name.startswith("__") and not name.endswith(".py"))


def _main_of(paths: Sequence[Path], main: str | None) -> Path | None:
    """Return the file that the assignment names, the only one, or main.py."""
    stems = [Path(main).stem] if main else []
    for stem in (*stems, "main"):
        found = [path for path in paths if path.stem == stem]
        if len(found) == 1:
            return found[0]
    return paths[0] if len(paths) == 1 else None


def _read_source(path: Path) -> tuple[bytes, str | None]:
    """Return a file's Python source, and what is wrong with the file."""
    if path.suffix not in (".py", ".ipynb"):
        return b"", f"it is a {path.suffix or 'file without an ending'}, not a .py file or a notebook"
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
    """Return the code cells of a Jupyter notebook as one Python file; commands to the notebook become comments.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError
        It is not a notebook.
    """
    parts = []
    for number, cell in enumerate(json.loads(data)["cells"], 1):
        if cell["cell_type"] == "code":
            parts.append(f"# cell {number}\n{_cell_source(''.join(cell['source']).splitlines())}\n")
    return "\n".join(parts)


def _cell_source(lines: list[str]) -> str:
    if lines and lines[0].startswith("%%"):
        is_code = lines[0].split()[0] in _PYTHON_CELLS
        lines = [f"# {lines[0]}", *(lines[1:] if is_code else (f"# {line}" for line in lines[1:]))]
    source = "\n".join(lines)
    if parse_source(source.encode("utf-8", "replace")) is not None:
        return source
    return "\n".join(
        f"{line[: -len(line.lstrip())]}pass  # {line.strip()}" if _is_command(line) else line for line in lines
    )


def _is_command(line: str) -> bool:
    """Whether a line is for the notebook: %magic, !command, name = !command, ?help, help?"""
    line = line.strip()
    parts = (line, line.partition("=")[2].strip())
    return line.startswith("?") or line.endswith("?") or any(re.match(r"!|%%?[a-z]", part) for part in parts)


class AlikePair(NamedTuple):
    """Two submissions with nearly the same code, comments and names of variables aside."""

    first: str
    second: str
    share: float  # of the runs of five tokens, 0..1; of a long file, those that the other one has too


def alike_pairs(submissions: Sequence[HandedIn], template: bytes | None = None) -> list[AlikePair]:
    """Return the pairs of submissions that are equal or nearly equal, the most alike first.

    Comments, white space, docstrings and the names that a file gives do not count, and neither do the lines of the
    template.

    Parameters
    ----------
    submissions : sequence of HandedIn
    template : bytes, optional
        The file that all students start from.
    """
    runs = {one.student: _runs(one.files, template, _RUN) for one in submissions}
    runs = {student: own for student, own in runs.items() if own.total() >= _FEW_RUNS}
    found = []
    for first, second in combinations(runs, 2):
        shorter, longer = sorted((runs[first].total(), runs[second].total()))
        of = shorter if shorter >= _MANY_RUNS else longer  # Code that is added to a copy does not hide it.
        share = (runs[first] & runs[second]).total() / of
        if share >= _ALIKE:
            found.append(AlikePair(first, second, share))
    return sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second))


def has_piece_of(files: Mapping[str, bytes], pieces: Collection[tuple[str, ...]]) -> bool:
    """Return whether a student's files have one of the pieces of code of :func:`pieces_of`."""
    return not _runs(files, None, _COPY).keys().isdisjoint(pieces)


def pieces_of(sources: Iterable[Path], template: bytes | None = None) -> frozenset[tuple[str, ...]]:
    """Return all runs of tokens in Python files that are too long to be written twice by chance."""
    return frozenset(_runs({str(path): path.read_bytes() for path in sources}, template, _COPY))


def _runs(files: Mapping[str, bytes], template: bytes | None, length: int) -> Counter[tuple[str, ...]]:
    """Count the runs of so many tokens, without the template's lines."""
    given = set(_code_lines(template)) if template else set()
    lines = [line for name in sorted(files) for line in _code_lines(files[name]) if line not in given]
    tokens = [token for line in lines for token in line]
    return Counter(zip(*(tokens[i:] for i in range(length)), strict=False))


def parse_source(source: bytes) -> ast.Module | None:
    """Return the syntax tree of a student's file; None if there is none, or it is deeper than Python can go."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def own_names(tree: ast.AST) -> set[str]:
    """Return the names that a file gives: of arguments, variables, functions and classes."""
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return own | {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _code_lines(source: bytes) -> list[tuple[str, ...]]:
    """Return the tokens of each logical line; names that the file itself gives are all the same."""
    if (tree := parse_source(source)) is None:
        return [tuple(line.split()) for line in source.decode("utf-8", "replace").splitlines() if line.strip()]
    own = own_names(tree)
    lines: list[tuple[str, ...]] = []
    line: list[str] = []
    skipped = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    )
    for token in _tokens(source):
        if token.type == tokenize.NEWLINE:
            is_docstring = len(line) == 1 and line[0][:1] in "\"'rRbBuU" and line[0][-1:] in "\"'"
            if line and not is_docstring:
                lines.append(tuple(line))
            line = []
        elif token.type not in skipped:
            line.append("name" if token.type == tokenize.NAME and token.string in own else token.string)
    return lines


def _tokens(source: bytes) -> Iterator[tokenize.TokenInfo]:
    """Yield a file's tokens up to the tokenizer's first error; bytes that are not text are replaced."""
    text = source.decode("utf-8", "replace")
    with suppress(SyntaxError, LookupError, ValueError):
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(encoding, "replace")
    with suppress(tokenize.TokenError, SyntaxError):
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
