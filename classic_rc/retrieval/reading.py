"""What an index is built from: files of lines, JSON lines or passages, as streams of sentences with places."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.io.compression import STREAM_ERRORS, unpacked_stream
from classic_rc.io.json import Node, parse_json
from classic_rc.questions import Passage
from classic_rc.retrieval.corpus import Texts, fingerprint
from classic_rc.text.sentences import passage_sentences, split_sentences

STDIN = "-"
"""What standard input goes by among paths."""

Advance = Callable[[int], None]
"""Is told how many bytes of input have just been read."""

LONGEST_LINE = 2**28
_BUFFER = 2**18

_REFUSED = {
    b"PK\x03\x04": "a zip archive",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}

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


def read_lines(path: str, advance: Advance, *, longest: int = LONGEST_LINE) -> Iterator[str]:
    r"""The lines of a file, each with the ``"\n"`` that ended it.

    Parameters
    ----------
    path : str
        Plain text, or compressed with gzip, bzip2 or xz, as its first bytes tell; ``"-"`` is standard input. What
        is not UTF-8 becomes U+FFFD; a byte order mark is left out.
    advance : callable
        Is told how many bytes have just been read, as the file stores them.
    longest : int
        A line of more characters is refused.

    Raises
    ------
    DataError
        There is no such file, it cannot be read, is cut short or broken, is an archive or no UTF-8 text at all, or
        has a line of more than 2**28 characters.
    """
    try:
        with _opened(path, advance) as file, unpacked_stream(file) as stream:
            _check(stream, path)
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace")
            while line := lines.readline(longest):
                if len(line) == longest:
                    raise DataError(f"a line of more than {longest:,} characters", source=path)
                yield line
    except STREAM_ERRORS as error:
        raise _unreadable(path, error) from None


class _Raw(io.RawIOBase):
    """A file's bytes, of which someone is told as they are read."""

    def __init__(self, file: Any, advance: Advance) -> None:
        # What comes through a pipe is read as it comes.
        self._read, self._advance = getattr(file, "read1", file.read), advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._advance(len(data))
        return len(data)


@contextmanager
def _opened(path: str, advance: Advance) -> Iterator[io.BufferedReader]:
    with nullcontext(sys.stdin.buffer) if path == STDIN else open(path, "rb", buffering=0) as file:
        yield io.BufferedReader(_Raw(file, advance), _BUFFER)


def _check(stream: Any, path: str) -> None:
    head = stream.peek(512)
    refused = next((what for magic, what in _REFUSED.items() if head.startswith(magic)), None)
    if head[257:262] == b"ustar":
        refused = "a tar archive"
    if refused:
        raise DataError(
            refused,
            source=path,
            expected="UTF-8 text, plain or compressed with gzip, bzip2 or xz",
            hint="Convert or unpack it",
        )


def _unreadable(path: str, error: BaseException) -> DataError:
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"the file cannot be read ({error.strerror})", source=path)
    return DataError(f"the file is broken or cut short ({error})", source=path, hint="Get the whole file")


class PlaceWriter:
    """Notes the places of sentences as they come.

    The arrays: the names of the inputs, and the first sentence of each; the labels of the records that have one;
    and of each sentence the number of its record, or ``~i`` where the record has label i.
    """

    def __init__(self) -> None:
        self._inputs: list[str] = []
        self._starts: list[int] = []
        self._labels: list[str] = []
        self._places: list[int] = []

    def add(self, name: str, record: Record, n_sentences: int) -> None:
        """The next sentences are of this record of the input of this name."""
        if not self._inputs or self._inputs[-1] != name:
            self._inputs.append(name)
            self._starts.append(len(self._places))
        place = record.number
        if record.label is not None:
            place = ~len(self._labels)
            self._labels.append(record.label)
        self._places += [place] * n_sentences

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it."""
        places = np.array(self._places, dtype=np.int64)
        small = len(places) == 0 or places.max() < 2**31
        return {
            **Texts.of(self._inputs).arrays("input"),
            "input_starts": np.array(self._starts, dtype=np.int32),
            **Texts.of(self._labels).arrays("label"),
            "places": places.astype(np.int32) if small else places,
        }


def place_of(arrays: Mapping[str, NDArray[Any]], sentence: int) -> str:
    """Where a sentence of a segment comes from: ``"a.txt:1234"``, ``"a.jsonl#id"``.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Of :meth:`PlaceWriter.arrays`.
    sentence : int
        Its number in the segment.
    """
    number = int(np.searchsorted(arrays["input_starts"], sentence, side="right")) - 1
    name, place = Texts.of_arrays(arrays, "input")[number], int(arrays["places"][sentence])
    return f"{name}:{place}" if place > 0 else f"{name}#{Texts.of_arrays(arrays, 'label')[~place]}"
