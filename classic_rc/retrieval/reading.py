"""What an index is built from: files of lines, JSON lines or passages, as streams of sentences with places."""

from __future__ import annotations

import hashlib
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node, parse_json
from classic_rc.questions import Passage
from classic_rc.retrieval.corpus import STDIN, Advance, fingerprint, read_lines
from classic_rc.text.sentences import passage_sentences, split_sentences

LINES = ("auto", "sentences", "paragraphs")
"""What a line, or the text of a JSON line, may be taken for."""

_JSON_LINES = (".jsonl", ".ndjson")
_COMPRESSED = (".gz", ".bz2", ".xz")
_SAMPLE_TEXTS, _SAMPLE_CHARACTERS = 1000, 2**20
_PARAGRAPH_SHARE = 0.25
"""The share of texts with several sentences above which they are paragraphs. The splitter divides under 1 % of
single sentences, and 50 % or more of the paragraphs of dialogues, stories and encyclopedias."""


class Record(NamedTuple):
    """A line, a JSON line or a passage.

    Parameters
    ----------
    number : int
        Its number in its input, from 1.
    label : str, optional
        Its id, where it has one.
    sentences : list of str
        Without blanks around them, none empty.
    """

    number: int
    label: str | None
    sentences: list[str]


class Input(ABC):
    """A part of what an index is built from.

    Attributes
    ----------
    name : str
        What messages and sources call it.
    size : int, optional
        In bytes; None where nobody knows.
    stamp : str, optional
        Differs where the content has changed; None where that cannot be told before it is read.
    settings : str
        How it is read.
    """

    name: str
    size: int | None
    stamp: str | None
    settings: str = ""

    @abstractmethod
    def records(self, digest: hashlib._Hash, advance: Advance, start: int = 1) -> Iterator[Record]:
        """The records from number `start` on.

        Parameters
        ----------
        digest : hash object
            Is given the content up to each record that is yielded, skipped ones included.
        advance : callable
            Is told how many of the input's bytes have just been read.
        start : int

        Raises
        ------
        DataError
            The input is malformed or cannot be read.
        """


class TextFile(Input):
    """A file with a text a line, or a JSON object with a text a line.

    It is JSON lines if its name says so (``.jsonl``, ``.ndjson``) or its first line is an object.

    Parameters
    ----------
    path : str
        Or ``"-"``, standard input, which can be read once.
    paragraphs : bool
        Whether to split the texts into sentences; else each is one.
    field : str
        Where JSON lines have the text.
    id_field : str
        Where they may have an id.
    """

    def __init__(self, path: str, *, paragraphs: bool = False, field: str = "text", id_field: str = "id") -> None:
        self.name = "stdin" if path == STDIN else path
        self.path, self.paragraphs, self.field, self.id_field = path, paragraphs, field, id_field
        self.size = self.stamp = None
        self._stdin = read_lines(STDIN, lambda n_bytes: None) if path == STDIN else None
        if path != STDIN:
            status = os.stat(path)
            self.size, self.stamp = status.st_size, f"{status.st_size} {status.st_mtime_ns}"

    @property
    def settings(self) -> str:  # type: ignore[override]
        """What its lines are, and the fields."""
        return f"{'paragraphs' if self.paragraphs else 'sentences'}, {self.field}, {self.id_field}"

    def records(self, digest: hashlib._Hash, advance: Advance, start: int = 1) -> Iterator[Record]:
        """The records of the lines that are not blank."""
        for number, label, text in self._texts(self._stdin or read_lines(self.path, advance), digest, start):
            if self.paragraphs:
                yield Record(number, label, [text[first:end] for first, end in split_sentences(text)])
            else:
                yield Record(number, label, [text])

    def sample(self) -> Iterator[str]:
        """Its texts as they stand, without using up standard input."""
        lines: Iterator[str]
        if self._stdin is None:
            lines = read_lines(self.path, lambda n_bytes: None)
        else:
            self._stdin, lines = itertools.tee(self._stdin)
        return (text for _, _, text in self._texts(lines, hashlib.sha256(), 1))

    def _texts(
        self, lines: Iterator[str], digest: hashlib._Hash, start: int
    ) -> Iterator[tuple[int, str | None, str]]:
        is_json: bool | None = None
        for number, line in enumerate(lines, start=1):
            digest.update(line.encode("utf-8"))
            if line.isspace():
                continue
            if is_json is None:
                is_json = without_compression(self.path).endswith(_JSON_LINES) or isinstance(
                    _json_value(line), dict
                )
            if number < start:
                continue
            if not is_json:
                yield number, None, line.strip()
                continue
            row = Node(parse_json(line, self.name, number), self.name, number)
            label = row.name(self.id_field) if row.has(self.id_field) else None
            if text := row.text(self.field).strip():
                yield number, label, text


class Passages(Input):
    """The passages of a dataset.

    Parameters
    ----------
    name : str
    passages : sequence of Passage
    """

    def __init__(self, name: str, passages: Sequence[Passage]) -> None:
        self.name, self._passages = name, passages
        self.size = sum(len(p.text.encode("utf-8", "surrogatepass")) for p in passages)
        self.stamp = fingerprint(text for p in passages for text in (p.id, p.text, str(p.sentences)))

    def records(self, digest: hashlib._Hash, advance: Advance, start: int = 1) -> Iterator[Record]:
        """A record a passage, its label the passage's id."""
        for number, passage in enumerate(self._passages, start=1):
            coded = passage.text.encode("utf-8", "surrogatepass")
            digest.update(coded)
            advance(len(coded))
            if number >= start:
                sentences = [passage.text[first:end] for first, end in passage_sentences(passage)]
                yield Record(number, passage.id, sentences)


def read_texts(path: str, *, lines: str = "auto", field: str = "text", id_field: str = "id") -> list[TextFile]:
    """The files of a path, ready to be read.

    Parameters
    ----------
    path : str
        A file, a folder, or ``"-"`` for standard input; see :func:`find_files`.
    lines : {"auto", "sentences", "paragraphs"}
        What a line, or the text of a JSON line, is. ``"auto"`` takes all of the path for paragraphs if more than a
        quarter of its first texts have several sentences: of the first 1,000, or of those in the first 2**20
        characters.
    field, id_field : str
        As of :class:`TextFile`.

    Raises
    ------
    UsageError
        Another value of `lines`.
    DataError
        There is no such path, or a file cannot be read.
    """
    if lines not in LINES:
        raise UsageError(f"lines must be one of {', '.join(map(repr, LINES))}, got {lines!r}")
    files = [TextFile(file, field=field, id_field=id_field) for file in find_files(path)]
    if lines == "auto":
        paragraphs = _are_paragraphs(text for file in files for text in file.sample())
    else:
        paragraphs = lines == "paragraphs"
    for file in files:
        file.paragraphs = paragraphs
    return files


def find_files(path: str) -> list[str]:
    """The file that a path is, or all files of a folder, in sorted order, each folder's own before its folders'.

    Names that begin with a point and ``__MACOSX`` are passed over; links to folders are not followed.

    Raises
    ------
    DataError
        There is no such path, or no file in the folder.
    """
    if path == STDIN or os.path.isfile(path):
        return [path]
    if not os.path.exists(path):
        raise DataError("no such file or folder", source=path)
    if not os.path.isdir(path):
        raise DataError("neither a file nor a folder", source=path, hint="Give - and pipe it in")
    found = []
    for folder, folders, files in os.walk(path, onerror=_refuse_folder):
        folders[:] = sorted(name for name in folders if not _is_junk(name))
        found += [os.path.join(folder, name) for name in sorted(files) if not _is_junk(name)]
    if not found:
        raise DataError("the folder holds no file", source=path)
    return found


def first_line(path: str) -> Any:
    """The first line of a file that is not blank: its JSON value if it is JSON, else its text; None without one."""
    line = next((line for line in read_lines(path, lambda n_bytes: None) if not line.isspace()), None)
    return None if line is None else _json_value(line, otherwise=line)


def _json_value(line: str, otherwise: Any = None) -> Any:
    if not line.lstrip().startswith(("{", "[")):
        return otherwise
    try:
        return parse_json(line, "")
    except DataError:
        return otherwise


def without_compression(path: str) -> str:
    """A file's name in lower case, without the ending that says how it is compressed.

    Examples
    --------
    >>> without_compression("Corpus.JSONL.gz")
    'corpus.jsonl'
    """
    name = path.lower()
    return next((name.removesuffix(suffix) for suffix in _COMPRESSED if name.endswith(suffix)), name)


def _is_junk(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _refuse_folder(error: OSError) -> None:
    raise DataError(f"the folder cannot be read ({error.strerror})", source=error.filename) from None


def _are_paragraphs(texts: Iterable[str]) -> bool:
    seen = several = characters = 0
    for text in itertools.islice(texts, _SAMPLE_TEXTS):
        seen += 1
        several += len(split_sentences(text)) > 1
        characters += len(text)
        if characters > _SAMPLE_CHARACTERS:
            break
    return several > _PARAGRAPH_SHARE * seen
