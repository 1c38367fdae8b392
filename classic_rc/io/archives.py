"""The files behind a path, in one sorted order: one file, the files of a folder, or the members
of a tar or zip.
"""

from __future__ import annotations

import difflib
import io
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

from classic_rc.errors import DataError
from classic_rc.io.columns import (
    SUFFIXES,
    ColumnarRows,
    SavedDataset,
    find_saved,
    find_shards,
    join_shards,
)
from classic_rc.io.files import (
    START_BYTES,
    archive_format,
    check_count,
    column_format,
    open_regular,
    open_unpacked,
    read_bytes,
    sha256_of,
    sha256_of_bytes,
    sha256_of_listing,
    strip_compression_suffix,
    unpack,
    unpack_to_file,
)
from classic_rc.io.json import Node, parse_json, parse_json_prefix
from classic_rc.io.members import archive_members
from classic_rc.io.text import decode_blocks, decode_text, split_lines
from classic_rc.questions import Source
from classic_rc.work import tracked

MAX_DEPTH = 8
"""The deepest nesting of folders. It also stops symbolic links that form a cycle."""

_SHARD_NUMBER = re.compile(r"-(\*-of-\d+|0+-of-0*1)$")
_HEAD_LINES = 100
_LARGE = 2**24  # bytes
_MAX_LISTED_FILES = 64  # With more files than this, provenance is one digest of the folder.


@dataclass(frozen=True)
class InputFiles:
    """The files behind a path."""

    path: str  # as the user gave it
    files: tuple[InputFile, ...]  # in one sorted order, numeric where names are numbers
    archive: Source | None = None  # the archive that the files are members of
    is_folder: bool = False
    notes: tuple[str, ...] = ()  # what was skipped, with counts
    members: Mapping[tuple[str, ...], InputFile] | None = None  # all files of the archive

    @property
    def single(self) -> InputFile | None:
        """The one file at the path; None for a folder or an archive."""
        return None if self.is_folder or self.archive else self.files[0]

    @property
    def stem(self) -> str:
        """The name of the file or folder without extensions, for people."""
        if self.single:
            return self.single.stem
        name = Path(os.path.abspath(self.path)).name
        stem = strip_compression_suffix(name)
        return stem.removesuffix(".tar").removesuffix(".tgz").removesuffix(".zip") or name

    def only(self, base: str) -> InputFiles:
        """Return these files without all but those of one name, whatever their folder."""
        files = tuple(file for file in self.files if file.base == base)
        if not files:
            raise DataError(
                "no such file", source=self.path, found=list_names(self.files), expected=base
            )
        return replace(self, files=files)

    def sibling(self, file: InputFile, *parts: str) -> InputFile | None:
        """Return the file at a path relative to the folder of one of these files, or None."""
        if self.members is None:
            path = Path(file.name).parent.joinpath(*parts)
            # A device or a pipe is not left out: reading it is an error.
            exists = path.exists() and not path.is_dir()
            return InputFile(str(path)) if exists else None
        place = file.folders
        for name in parts[:-1]:
            place = place[:-1] if name == ".." else (*place, name)
        return self.members.get((*place, parts[-1]))

    def sources(self, files: list[InputFile]) -> tuple[Source, ...]:
        """Return the provenance of these files.

        For an archive it is the sha256 of the archive, and those of files from elsewhere. For more
        than 64 files of a folder it is one sha256, of the lines ``"<sha256>  <name>"`` in the
        output format of sha256sum.
        """
        if self.archive or len(files) <= _MAX_LISTED_FILES:
            sources = (file.origin or Source(file.name, file.sha256) for file in files)
            return tuple(dict.fromkeys(sources))
        return (
            Source(
                self.path, sha256_of_listing(("/".join(file.path), file.sha256) for file in files)
            ),
        )


def open_input(path: str | os.PathLike[str]) -> InputFiles:
    """List the files behind a path. Of a folder, only the file names are read.

    ``._*``, ``.DS_Store`` and ``__MACOSX`` are skipped and counted.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        if shards := find_shards(name):
            return InputFiles(name, (InputFile(name, saved=SavedDataset(shards)),))
        raise _missing_path_error(name)
    if os.path.isdir(name):
        parents = Path(os.path.abspath(name)).parts
        others, saved = _find_saved(name, list(_walk(name)))
        files = []
        for parts in (*others, *saved):
            path_of_file = os.path.join(name, *parts)
            depth = max(len(parts) - 1, 0)  # a saved dataset may be the folder itself: ()
            file = InputFile(path_of_file, parents + parts, depth, saved=saved.get(parts))
            files.append(file)
        return _make_input(name, files, None, is_folder=True)
    single = InputFile(name)
    form = archive_format(single.start)
    # A saved solver (.npz) is a zip archive: the error of reading it as text says what it is.
    if form is None or single.suffix == ".npz":
        return InputFiles(name, (single,))
    stored: BinaryIO | bytes | str
    if form == "tar":
        stored = unpack_to_file(name)
    else:
        stored = name if single.is_on_disk else single.data
    members: dict[tuple[str, ...], InputFile] = {}
    origin = Source(name, single.sha256)
    for parts, content in archive_members(stored, name):
        member_name = "/".join((name, *parts))
        members[parts] = InputFile(member_name, parts, len(parts) - 1, content, origin)
    return _make_input(name, list(members.values()), origin, members=members)


class InputFile:
    """A file, or a member of an archive.

    `name` is for error messages: the path, or ``archive.tar.gz/member``. `folders` are those that
    contain it, the innermost last, and `base` is the file name; `depth` counts the folders between
    the opened path and the file. If `damaged` is a dictionary before the text is read, damaged
    bytes are not an error, and it gets what each damaged line has. `origin` is the archive of a
    member, `split` what a dataset of Hugging Face's ``datasets`` has noted.
    """

    def __init__(
        self,
        name: str,
        parts: tuple[str, ...] | None = None,
        depth: int = 0,
        content: Callable[[], bytes] | None = None,
        origin: Source | None = None,
        saved: SavedDataset | None = None,
    ) -> None:
        self.name, self.depth = name, depth
        *folders, self.base = parts or Path(os.path.abspath(name)).parts
        self.folders = tuple(folders)
        self.blank_lines = 0
        self.damaged: dict[int, str] | None = None
        self.origin = origin
        self.split = None if saved is None else saved.split
        self._saved = saved
        self._content = content  # of a member, until it is released

    @property
    def path(self) -> tuple[str, ...]:
        """The place below the opened path: the folders and the file name."""
        return (*self.folders[len(self.folders) - self.depth :], self.base)

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file, unpacked."""
        if self._content is not None:
            return self._content()
        data = read_bytes(self.name)
        # The hash is of the stored bytes, which are available only here.
        self.__dict__["sha256"] = sha256_of_bytes(data)
        return unpack(data, self.name)

    @property
    def start(self) -> bytes:
        """The first bytes of the file, unpacked: enough to tell archives and files of columns."""
        with self._open() as stream:
            return bytes(stream.read(START_BYTES))

    def _open(self) -> AbstractContextManager[Any]:
        if self._content is not None:
            return io.BufferedReader(io.BytesIO(self.data))
        return open_unpacked(self.name)

    @property
    def is_on_disk(self) -> bool:
        """Whether the content is on the disk as it is: neither in an archive nor compressed."""
        if self._content is not None or not os.path.isfile(self.name):
            return False
        with open_regular(self.name) as file:
            return file.read(8) == self.start[:8]

    @cached_property
    def columns(self) -> ColumnarRows | None:
        """The rows of a Parquet or Arrow file, or of the files of ``save_to_disk``; None for all
        other files.
        """
        if self._saved is not None:
            return ColumnarRows(self.name, self._saved.files)
        if column_format(self.start) is None:
            return None
        return ColumnarRows(self.name, (self.name if self.is_on_disk else self.data,))

    @cached_property
    def sha256(self) -> str:
        """Hex sha256 of the file as it is stored."""
        if self._saved is not None and self.columns is not None:
            return self.columns.sha256
        return sha256_of(self.name) if self.origin is None else sha256_of_bytes(self.data)

    @property
    def stem(self) -> str:
        """The file name without the extension, and of shards without their number."""
        stem = strip_compression_suffix(self.base).rpartition(".")[0] or self.base
        return _SHARD_NUMBER.sub("", stem) if self.base.endswith(SUFFIXES) else stem

    @property
    def suffix(self) -> str:
        """The extension in lower case, without that of a compression."""
        base = strip_compression_suffix(self.base)
        return base[len(base.rpartition(".")[0] or base) :].lower()

    @cached_property
    def text(self) -> str:
        """The text of the file, with ``"\\n"`` line ends."""
        if self.columns is not None:
            raise DataError(
                "not a text file",
                source=self.name,
                found="a Parquet or Arrow file",
                expected="text",
            )
        text = decode_text(self.data, self.name, self.damaged)
        if not text or text.isspace():
            raise DataError("the file is empty", source=self.name)
        if self._content is None:
            del self.data  # It can be read again, and is as large as the text.
        return text

    @property
    def is_large(self) -> bool:
        """Whether its lines are read one by one: its text need not be in memory as a whole."""
        # it loads NumPy, which `--help` does without
        from classic_rc.kernels.arrays import block_size

        return self._size > block_size(_LARGE) and self.columns is None

    @property
    def _size(self) -> int:
        if self._content is not None:
            return len(self.data)
        return os.path.getsize(self.name) if os.path.isfile(self.name) else 0

    @cached_property
    def first_text(self) -> str:
        """The text of the file, or the first lines of a large one: enough to recognise its
        format.
        """
        if not self.is_large:
            return self.text
        text = "".join(itertools.islice(self._blocks(), 2))
        return text if text.strip() else self.text

    def _blocks(self) -> Iterator[str]:
        with self._open() as stream:
            yield from decode_blocks(stream, self.name, self.damaged)

    def lines(self) -> Iterator[str]:
        """Yield the lines without their ends."""
        blocks = self._blocks() if self.is_large else iter((self.text,))
        tracked_blocks = tracked(blocks, self._size, len, share=0.5)
        return itertools.chain.from_iterable(map(split_lines, tracked_blocks))

    def line_nodes(self) -> list[Node]:
        """Return the lines as nodes that know their place, without blank ones at the end."""
        lines = self.text.rstrip("\n").split("\n")
        return [Node(line, self.name, number) for number, line in enumerate(lines, start=1)]

    @cached_property
    def _first_value(self) -> tuple[Any, bool]:
        if self.columns is not None:
            return next(self.columns.rows(), None), False
        text = self.first_text
        start = len(text) - len(text.lstrip(" \t\n"))
        if text[start] not in "{[":
            return None, False
        try:
            value, end = parse_json_prefix(text, self.name, start=start)
        except DataError:
            # one value of many lines, or a damaged line
            if self.is_large and "text" not in self.__dict__:
                self.first_text = self.text
                return self._first_value
            # The first of many lines may be damaged: a later one then shows what the file is.
            value = _first_object_line(text, self.name)
            if value is None:
                raise
            return value, False
        return value, not text[end:].strip(" \t\n")

    @property
    def head(self) -> Any:
        """The first JSON value: the whole file, or the first of JSON lines or rows. None if it
        has neither.
        """
        return self._first_value[0]

    @property
    def is_one_value(self) -> bool:
        """Whether the whole file is one JSON value, as :attr:`head` is then."""
        return self._first_value[1]

    def root(self) -> Node:
        """Return the whole file as one JSON value, as a node that knows its place."""
        value, is_all = self.__dict__.get("_first_value", (None, False))
        return Node(value if is_all else parse_json(self.text, self.name), self.name)

    def records(self, guard: AbstractContextManager[object] | None = None) -> Iterator[Node]:
        """Return the records: JSON lines, rows, the elements of a JSON list, or a single value.

        An object with a single member that is a list of objects counts as that list. Lines are
        parsed in `guard`: if it suppresses the error of a line, that line is left out.
        """
        if self.columns is not None:
            rows = enumerate(self.columns.rows())
            return (Node(row, self.name, f"row {number}") for number, row in rows)
        value, is_all = self._first_value
        guard = nullcontext() if guard is None else guard
        if not is_all:
            return self._read_lines(guard)
        root = Node(value, self.name)
        if isinstance(value, dict) and len(value) == 1:
            ((key, inner),) = value.items()
            if (
                isinstance(inner, list)
                and inner
                and all(isinstance(element, dict) for element in inner)
            ):
                root = root.at(key)
        if isinstance(root.value, list):
            return root.elements()
        return iter([root]) if "\n" in self.text.strip() else self._read_lines(guard)

    def _read_lines(self, guard: AbstractContextManager[object]) -> Iterator[Node]:
        self.blank_lines = n_blank = 0  # those at the end do not count
        if self.is_large:  # a line may be as large as the file
            for cached in ("first_text", "_first_value"):
                self.__dict__.pop(cached, None)
        for number, line in enumerate(self.lines(), start=1):
            if line.strip(" \t"):
                self.blank_lines, n_blank = self.blank_lines + n_blank, 0
                with guard:
                    yield Node(parse_json(line, self.name, number), self.name, number)
            else:
                n_blank += 1

    def release(self) -> None:
        """Forget the content, so that a folder of thousands of files is never in memory at once."""
        for cached in ("data", "text", "first_text", "columns", "_first_value"):
            self.__dict__.pop(cached, None)
        self._content = None


def _first_object_line(text: str, source: str) -> dict[str, Any] | None:
    """Return the first of the first lines that is a whole JSON object with members, or None."""
    for line in text.split("\n", _HEAD_LINES)[:_HEAD_LINES]:
        if line.startswith("{") and line.rstrip().endswith("}"):
            with suppress(DataError):
                value = parse_json(line, source)
                if value:
                    return cast("dict[str, Any]", value)
    return None


def _make_input(
    name: str,
    files: list[InputFile],
    archive: Source | None,
    is_folder: bool = False,
    members: Mapping[tuple[str, ...], InputFile] | None = None,
) -> InputFiles:
    data_files = [file for file in files if not _is_macos_metadata(file)]
    if not data_files:
        raise DataError(f"the {'archive' if archive else 'folder'} has no files", source=name)
    natural_key = cache(_natural_key)
    data_files.sort(key=lambda file: [natural_key(folder_or_name) for folder_or_name in file.path])
    n_skipped = len(files) - len(data_files)
    notes = (
        (f"macOS metadata files skipped (._*, .DS_Store, __MACOSX): {n_skipped:,}",)
        if n_skipped
        else ()
    )
    return InputFiles(name, tuple(data_files), archive, is_folder, notes, members)


def _find_saved(
    folder: str, paths_below: list[tuple[str, ...]]
) -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], SavedDataset]]:
    """Return the other files, and the folders of ``save_to_disk`` and the shards that are one
    dataset each.
    """
    saved: dict[tuple[str, ...], SavedDataset] = {}
    for *parents, base in paths_below:
        if base == "state.json" and (dataset := find_saved(os.path.join(folder, *parents))):
            saved[tuple(parents)] = dataset
    if saved:
        lists = {(*parts[:-1], "dataset_dict.json") for parts in saved}

        def belongs_to_saved(parts: tuple[str, ...]) -> bool:
            return parts in lists or any(parts[:i] in saved for i in range(len(parts)))

        paths_below = [parts for parts in paths_below if not belongs_to_saved(parts)]
    shards = join_shards(["/".join(parts) for parts in paths_below if parts[-1].endswith(SUFFIXES)])
    joined = {path for paths in shards.values() for path in paths}
    for name, paths in shards.items():
        shard_paths = [os.path.join(folder, *path.split("/")) for path in paths]
        saved[tuple(name.split("/"))] = SavedDataset(tuple(shard_paths))
    return [
        parts for parts in paths_below if "/".join(parts) not in joined
    ] if joined else paths_below, saved


def _walk(folder: str) -> Iterator[tuple[str, ...]]:
    """Yield the places of the files below a folder."""

    def refuse(error: OSError) -> None:
        raise DataError(
            f"the folder cannot be read ({error.strerror})", source=error.filename
        ) from None

    n_files = 0
    for place, _, names in os.walk(folder, onerror=refuse, followlinks=True):
        parts = Path(place).relative_to(folder).parts
        if len(parts) > MAX_DEPTH:
            raise DataError(
                "folders nested too deeply",
                source=place,
                expected=f"at most {MAX_DEPTH} levels",
                hint="Load the folder of the data",
            )
        n_files += len(names)
        check_count(n_files, place, "files")
        for name in names:
            yield (*parts, name)


def _is_macos_metadata(file: InputFile) -> bool:
    return file.base.startswith("._") or file.base == ".DS_Store" or "__MACOSX" in file.path[:-1]


def _natural_key(name: str) -> tuple[int, int, str]:
    stem = name.partition(".")[0]
    if stem.isascii() and stem.isdigit() and len(stem) < 19:
        return 0, int(stem), name
    return 1, 0, name


def _missing_path_error(name: str) -> DataError:
    path = Path(name)
    if path.is_symlink():
        actual, expected = (
            f"a symbolic link to {os.readlink(path)!r}",
            "a file or folder at its end",
        )
        return DataError("the link leads nowhere", source=name, found=actual, expected=expected)
    folder = path.parent
    try:
        names = os.listdir(folder)
    except OSError:
        hint: str | None = f"The folder {str(folder)!r} does not exist either"
    else:
        close_names = difflib.get_close_matches(path.name, names, n=3, cutoff=0.5)
        places = " or ".join(str(folder / name) for name in close_names)
        hint = f"Did you mean {places}?" if places else None
    return DataError("no such file or folder", source=name, hint=hint)


def list_names(files: tuple[InputFile, ...]) -> str:
    """Return the names of the first files, and the number of the others."""
    more = f" and {len(files) - 5:,} more" if len(files) > 5 else ""
    return ", ".join(file.base for file in files[:5]) + more
