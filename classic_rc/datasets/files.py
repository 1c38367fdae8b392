"""A file, or a member of an archive: its bytes, its text, and the JSON in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from classic_rc.datasets.archive import gunzip, is_gzip
from classic_rc.errors import DataError
from classic_rc.files.decoding import decode
from classic_rc.files.nodes import Node
from classic_rc.files.strict_json import parse_json, parse_json_prefix


class File:
    """A file, or a member of an archive.

    Attributes
    ----------
    name : str
        What messages call it: its path, or ``archive.tar.gz/member``.
    folders : tuple of str
        The folders it is in, the nearest last; of a member, those inside the archive.
    base : str
        Its own name: ``"mc160.dev.tsv"``.
    depth : int
        How many folders below the path that was opened it lies.
    blank_lines : int
        How many blank lines were passed over in reading it.
    """

    def __init__(self, name: str, parts: tuple[str, ...], depth: int) -> None:
        self.name, self.depth = name, depth
        self.folders, self.base = parts[:-1], parts[-1]
        self.blank_lines = 0
        self._members: dict[tuple[str, ...], File] | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Its place below the path that was opened: the folders and its own name."""
        return (*self.folders[len(self.folders) - self.depth :], self.base)

    @classmethod
    def member(
        cls, name: str, parts: tuple[str, ...], content: bytes, members: dict[tuple[str, ...], File]
    ) -> File:
        """A member of an archive, whose `members` it joins."""
        file = cls(name, parts, len(parts) - 1)
        file._members = members
        file.__dict__["data"] = content
        members[parts] = file
        return file

    @cached_property
    def data(self) -> bytes:
        """Its bytes, unpacked where it is compressed with gzip."""
        data = _read(self.name)
        # Worked out now, while the stored bytes are at hand.
        self.__dict__["sha256"] = hashlib.sha256(data).hexdigest()
        return gunzip(data, self.name) if is_gzip(data) else data

    @cached_property
    def sha256(self) -> str:
        """Hex sha256 of the file as it is stored."""
        return hashlib.sha256(self.data if self._members else _read(self.name)).hexdigest()

    @property
    def stem(self) -> str:
        """Its own name without the extension."""
        return self.base.removesuffix(".gz").rpartition(".")[0] or self.base

    @property
    def suffix(self) -> str:
        """Its extension, lower-cased, ``".gz"`` left out."""
        return self.base.removesuffix(".gz")[len(self.stem) :].lower()

    def sibling(self, *parts: str) -> File | None:
        """The file at a path relative to the folder it is in; None where there is none."""
        if self._members is None:
            path = Path(self.name).parent.joinpath(*parts)
            return File(str(path), Path(os.path.abspath(path)).parts, 0) if path.is_file() else None
        place = self.folders
        for part in parts[:-1]:
            place = place[:-1] if part == ".." else (*place, part)
        return self._members.get((*place, parts[-1]))

    @cached_property
    def text(self) -> str:
        """Its text, with ``"\\n"`` line ends.

        Raises
        ------
        DataError
            It is empty, or not text.
        """
        text = decode(self.data, self.name)
        if not text.strip():
            raise DataError("the file is empty", source=self.name)
        return text

    @cached_property
    def _first_value(self) -> tuple[Any, bool]:
        text = self.text
        start = len(text) - len(text.lstrip(" \t\n"))
        if text[start] not in "{[":
            return None, False
        value, end = parse_json_prefix(text, self.name, start=start)
        return value, not text[end:].strip(" \t\n")

    @property
    def head(self) -> Any:
        """Its first JSON value, which is all of it or the first of JSON lines; None where it is not JSON.

        Raises
        ------
        DataError
            It begins as JSON does, and is not.
        """
        return self._first_value[0]

    def root(self) -> Node:
        """The one JSON value that it is, to be read with its place."""
        value, is_all = self.__dict__.get("_first_value", (None, False))
        return Node(value if is_all else parse_json(self.text, self.name), self.name)

    def records(self) -> Iterator[Node]:
        """Its JSON lines; or, where it is one JSON value, the elements of a list, or that value.

        An object with one member that is a list of objects stands for that list.
        """
        value, is_all = self._first_value
        if not is_all:
            return self._lines()
        root = Node(value, self.name)
        if isinstance(value, dict) and len(value) == 1:
            ((key, inner),) = value.items()
            if isinstance(inner, list) and inner and all(isinstance(element, dict) for element in inner):
                root = root.at(key)
        if isinstance(root.value, list):
            return root.elements()
        return iter([root]) if "\n" in self.text.strip() else self._lines()

    def _lines(self) -> Iterator[Node]:
        self.blank_lines = 0
        for number, line in enumerate(self.text.rstrip(" \t\n").split("\n"), start=1):
            if line.strip(" \t"):
                yield Node(parse_json(line, self.name, number), self.name, number)
            else:
                self.blank_lines += 1

    def release(self) -> None:
        """Forget what was read, so that a folder of thousands is never all in memory."""
        for cached in ("data", "text", "_first_value"):
            self.__dict__.pop(cached, None)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"the file cannot be read ({error.strerror or error})", source=path) from None
