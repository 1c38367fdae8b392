"""The inputs of an index: files of lines, of JSON lines, or passages, as streams of sentences
with their places.
"""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, wrong_value
from classic_rc.io.files import STDIN, check_is_regular, strip_compression_suffix
from classic_rc.io.json import Node, parse_json
from classic_rc.io.text import read_line_blocks
from classic_rc.kernels.arrays import block_size
from classic_rc.questions import Passage
from classic_rc.retrieval.texts import StoredTexts
from classic_rc.text.sentence_arrays import iter_sentence_texts, iter_sentences, split_many
from classic_rc.text.sentences import split_sentences

ProgressCallback = Callable[[int], None]
"""A callback that gets the number of input bytes just read."""

_BLOCK_PASSAGES = 2**8

LINE_KINDS = ("auto", "sentences", "paragraphs")
"""What a line, or the text of a JSON line, can be."""

_JSON_LINES = (".jsonl", ".ndjson")
_ID_FIELD = "id"
_SAMPLE_TEXTS, _SAMPLE_CHARACTERS = 1000, 2**20
_PARAGRAPH_SHARE = 0.25
"""Texts are paragraphs if more than this share of them has several sentences.

The splitter divides under 1 % of single sentences, and 50 % or more of the paragraphs of dialogues,
stories and encyclopedias.
"""


class TextBlock(NamedTuple):
    """The sentences of some consecutive records of an input: lines, JSON lines or passages."""

    sentences: list[str]  # stripped, none empty
    # (n_sentences,): the number of each sentence's record, from 1, ascending
    numbers: NDArray[np.int64]
    labels: Mapping[int, str]  # the ids of records, by number; not every record has one


class TextInput(ABC):
    """One of the inputs of an index, with its name in messages and sources, and its size in
    bytes, if known.
    """

    name: str
    size: int | None

    @abstractmethod
    def blocks(self, advance: ProgressCallback) -> Iterator[TextBlock]:
        """Yield all sentences, some records at a time; before an error, those that precede it."""


class TextFile(TextInput):
    """A file with one text per line, or one JSON object with a text per line; ``"-"`` is standard
    input.

    It is a file of JSON lines if its name has the suffix ``.jsonl`` or ``.ndjson`` or its first
    line is an object. With `paragraphs`, texts are split into sentences; otherwise each is one.
    Every line must have the `id_field`; without one, the field ``id`` is read where a line has it.
    """

    def __init__(
        self,
        path: str,
        *,
        paragraphs: bool = False,
        field: str = "text",
        id_field: str | None = None,
    ) -> None:
        self.name = "stdin" if path == STDIN else path
        self.path, self.paragraphs, self.field, self.id_field = path, paragraphs, field, id_field
        self.size = None if path == STDIN else os.stat(path).st_size
        self._stdin = read_line_blocks(STDIN, lambda n_bytes: None) if path == STDIN else None

    def blocks(self, advance: ProgressCallback) -> Iterator[TextBlock]:
        """Yield the sentences of the lines; blank ones have none."""
        yield from self._parse(self._stdin or read_line_blocks(self.path, advance), self.paragraphs)

    def sample(self) -> Iterator[str]:
        """Yield the texts, without using up standard input."""
        lines: Iterator[list[str]]
        if self._stdin is None:
            lines = read_line_blocks(self.path, lambda n_bytes: None)
        else:
            self._stdin, lines = itertools.tee(self._stdin)
        return (text for block in self._parse(lines, paragraphs=False) for text in block.sentences)

    def _parse(self, blocks: Iterable[list[str]], paragraphs: bool) -> Iterator[TextBlock]:
        is_json: bool | None = None
        first = 1
        for lines in blocks:
            if is_json is None and (line := next(filter(str.strip, lines), None)):
                name = strip_compression_suffix(self.path).lower()
                is_json = name.endswith(_JSON_LINES) or isinstance(_parse_json_line(line), dict)
            texts = list(map(str.strip, lines))
            numbers = np.arange(first, first + len(lines))
            if not all(texts):
                numbers = numbers[np.fromiter(map(bool, texts), np.bool_, len(texts))]
                texts = list(filter(None, texts))
            labels, error = dict[int, str](), None
            if is_json:
                texts, labels, error = self._parse_rows(lines, first, numbers.tolist())
                numbers = numbers[: len(texts)]
            if paragraphs or is_json:
                sentences = _split(texts) if paragraphs else [[text] * bool(text) for text in texts]
                numbers = np.repeat(numbers, list(map(len, sentences)))
                texts = list(itertools.chain.from_iterable(sentences))
            yield TextBlock(texts, numbers, labels)
            if error is not None:
                raise error
            first += len(lines)

    def _parse_rows(
        self, lines: list[str], first: int, numbers: list[int]
    ) -> tuple[list[str], dict[int, str], DataError | None]:
        """Return the texts of the JSON lines with some numbers, their labels, and the error that
        ends them.
        """
        texts: list[str] = []
        labels: dict[int, str] = {}
        for number in numbers:
            try:
                row = Node(parse_json(lines[number - first], self.name, number), self.name, number)
                if self.id_field is not None or row.has(_ID_FIELD):
                    labels[number] = row.name(self.id_field or _ID_FIELD)
                texts.append(row.text(self.field).strip())
            except DataError as error:
                return texts, labels, error
        return texts, labels, None


def _split(texts: Sequence[str]) -> list[list[str]]:
    places_of_texts = zip(texts, iter_sentences(split_many(texts)), strict=True)
    return [[text[start:end] for start, end in places] for text, places in places_of_texts]


class PassageInput(TextInput):
    """The passages of a dataset."""

    def __init__(self, name: str, passages: Sequence[Passage]) -> None:
        self.name, self._passages = name, passages
        self.size = sum(len(p.text.encode("utf-8", "surrogatepass")) for p in passages)

    def blocks(self, advance: ProgressCallback) -> Iterator[TextBlock]:
        """Yield one record per passage, with the passage's id as its label."""
        for first in range(1, len(self._passages) + 1, block_size(_BLOCK_PASSAGES)):
            passages = self._passages[first - 1 : first - 1 + block_size(_BLOCK_PASSAGES)]
            advance(sum(len(passage.text.encode("utf-8", "surrogatepass")) for passage in passages))
            sentences = list(iter_sentence_texts(passages))
            numbers = np.arange(first, first + len(passages), dtype=np.int64)
            yield TextBlock(
                list(itertools.chain.from_iterable(sentences)),
                np.repeat(numbers, list(map(len, sentences))),
                {number: passage.id for number, passage in enumerate(passages, start=first)},
            )


def read_texts(
    path: str, *, lines: str = "auto", field: str = "text", id_field: str | None = None
) -> list[TextFile]:
    """Return the files of a path (:func:`find_files`), ready to be read.

    `lines` says what a line, or the text of a JSON line, is. ``"auto"`` looks at the first 1,000
    texts, or at those in the first 2**20 characters. If more than a quarter of them have several
    sentences, all texts are paragraphs.
    """
    if lines not in LINE_KINDS:
        raise wrong_value("lines", lines, f"one of {', '.join(map(repr, LINE_KINDS))}")
    files = [TextFile(file, field=field, id_field=id_field) for file in find_files(path)]
    if lines == "auto":
        paragraphs = _are_paragraphs(text for file in files for text in file.sample())
    else:
        paragraphs = lines == "paragraphs"
    for file in files:
        file.paragraphs = paragraphs
    return files


def find_files(path: str) -> list[str]:
    """Return the path of a file, or the paths of all files in a folder, a folder's files before its
    subfolders'.

    The files of each folder are sorted. Names that begin with a full stop, and ``__MACOSX``, are
    skipped. Links to folders are not followed.
    """
    if path == STDIN or os.path.isfile(path):
        return [path]
    if not os.path.exists(path):
        raise DataError("no such file or folder", source=path)
    if not os.path.isdir(path):
        check_is_regular(path, hint="Use - and pipe it in")
    paths = []
    for folder, folders, files in os.walk(path, onerror=_refuse_folder):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        paths += [os.path.join(folder, name) for name in sorted(files) if not _is_hidden(name)]
    if not paths:
        raise DataError("the folder has no files", source=path)
    for file in paths:
        check_is_regular(file)
    return paths


def read_first_line(path: str) -> Any:
    """Return the first line of a file that is not blank: its JSON value if it is JSON, else its
    text; or None.
    """
    blocks = read_line_blocks(path, lambda n_bytes: None)
    line = next((line for lines in blocks for line in lines if line.strip()), None)
    return None if line is None else _parse_json_line(line, otherwise=line)


def _parse_json_line(line: str, otherwise: Any = None) -> Any:
    if not line.lstrip().startswith(("{", "[")):
        return otherwise
    try:
        return parse_json(line, "")
    except DataError:
        return otherwise


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _refuse_folder(error: OSError) -> None:
    raise DataError(
        f"the folder cannot be read ({error.strerror})", source=error.filename
    ) from None


def _are_paragraphs(texts: Iterable[str]) -> bool:
    seen = n_several = characters = 0
    for text in itertools.islice(texts, _SAMPLE_TEXTS):
        seen += 1
        n_several += len(split_sentences(text)) > 1
        characters += len(text)
        if characters > _SAMPLE_CHARACTERS:
            break
    return n_several > _PARAGRAPH_SHARE * seen


class SentencePlaceWriter:
    """Records the places of sentences in the order in which they come.

    Its arrays: the names of the inputs, and the first sentence of each; the labels of the records
    that have one; and for each sentence the number of its record, or ``~i`` if the record has label
    i.
    """

    def __init__(self) -> None:
        self._inputs: list[str] = []
        self._starts: list[int] = []
        self._labels: list[str] = []
        self._places: list[NDArray[np.int64]] = []
        self._n_sentences = 0

    def add(self, name: str, numbers: NDArray[np.int64], labels: Mapping[int, str]) -> None:
        """Record where the next sentences come from: the input, each sentence's record, and
        labels of records.
        """
        if not len(numbers):
            return
        if not self._inputs or self._inputs[-1] != name:
            self._inputs.append(name)
            self._starts.append(self._n_sentences)
        self._n_sentences += len(numbers)
        if not labels:
            self._places.append(numbers)
            return
        records, record_of = np.unique(numbers, return_inverse=True)
        record_labels = [labels.get(number) for number in records.tolist()]
        labelled = np.array([label is not None for label in record_labels])
        ranks = len(self._labels) + np.cumsum(labelled) - 1
        self._places.append(np.where(labelled, ~ranks, records)[record_of])
        self._labels += [label for label in record_labels if label is not None]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays."""
        places = np.concatenate([np.empty(0, dtype=np.int64), *self._places])
        if len(places) == 0 or places.max() < 2**31:
            places = places.astype(np.int32)
        return {
            **StoredTexts.of(self._inputs).arrays("input"),
            "input_starts": np.array(self._starts, dtype=np.int32),
            **StoredTexts.of(self._labels).arrays("label"),
            "places": places,
        }


def sentence_place(arrays: Mapping[str, NDArray[Any]], sentence: int) -> str:
    """Return where a sentence of a segment comes from: ``"a.txt:1234"``, ``"a.jsonl#id"``."""
    number = int(np.searchsorted(arrays["input_starts"], sentence, side="right")) - 1
    name = StoredTexts.of_arrays(arrays, "input")[number]
    place = int(arrays["places"][sentence])
    if place > 0:
        return f"{name}:{place}"
    label = StoredTexts.of_arrays(arrays, "label")[~place]
    return f"{name}#{label}"
