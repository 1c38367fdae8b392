"""What an index folder says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from classic_rc.errors import DataError
from classic_rc.io.hashing import sha256_of_bytes, sha256_of_text
from classic_rc.io.json import Node, describe, parse_json
from classic_rc.io.text import read_text
from classic_rc.retrieval.segment import REBUILD, StoredArray, StoredFile, write_json
from classic_rc.text.analyzers import Analyzer, get_analyzer

FORMAT = 1
"""Raised with every change of what is written, or of what analyzers make of text."""

MANIFEST = "manifest.json"

_KIND = "classic_rc sentence index"
_SAMPLE = (
    "Mrs. O'Neil's 3 dogs weren't running; she'd paid $1,234.50 for them in the U.S., at 9:30 a.m.!\n"
    "Generalizations, ponies, flies, hopefully: agreed, sized, controlling. “Zoë’s naïve café” – 東京 e-mail_x"
)

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is.

    Parameters
    ----------
    sentences : int
    with_terms : int
        Sentences that have an index term.
    tokens : int
        Index terms in all sentences, repeated ones included.
    text_bytes : int
        The sentences in UTF-8.
    with_nul, with_replacement : int
        Sentences that hold the character NUL, or U+FFFD, which stands for bytes that were not UTF-8.
    """

    sentences: int = 0
    with_terms: int = 0
    tokens: int = 0
    text_bytes: int = 0
    with_nul: int = 0
    with_replacement: int = 0

    @classmethod
    def total(cls, parts: Sequence[Counts]) -> Counts:
        """The sums."""
        return cls(*(sum(getattr(part, field.name) for part in parts) for field in fields(cls)))


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """A segment's counts and its file."""

    counts: Counts
    file: StoredFile


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index folder holds.

    Parameters
    ----------
    analyzer : str
        Its specification.
    analyzer_signature : str
        Its signature when the index was built.
    analyzer_sample : str
        What it made of some text then, as a hash.
    segments : tuple of StoredSegment
    fingerprint : str
        Hex sha256 of the sentences, in order.
    n_terms : int
        Distinct index terms.
    built_from : str
        What the inputs and options of the last build were, as a hash.
    """

    analyzer: str
    analyzer_signature: str
    analyzer_sample: str
    segments: tuple[StoredSegment, ...] = ()
    fingerprint: str = sha256_of_bytes(b"")
    n_terms: int = 0
    built_from: str = ""

    @classmethod
    def empty(cls, analyzer: Analyzer) -> Manifest:
        """Of an index without sentences."""
        return cls(analyzer.spec, analyzer.signature, _sample_of(analyzer))

    @property
    def counts(self) -> Counts:
        """Of all segments together."""
        return Counts.total([segment.counts for segment in self.segments])

    @property
    def disk_bytes(self) -> int:
        """The size of all segments' files."""
        return sum(segment.file.size for segment in self.segments)

    def write(self, folder: Path) -> None:
        """Put it into a folder, instead of the one that is there."""
        write_json(folder / MANIFEST, self.to_dict())

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """That of a folder.

        Raises
        ------
        DataError
            It is missing, damaged, or of another version of the format.
        """
        path = folder / MANIFEST
        return read_json(path, cls.from_node)

    def to_dict(self) -> dict[str, Any]:
        """Its form as JSON."""
        segments = [
            {"counts": asdict(segment.counts), **segment.file._asdict(), "arrays": dict(segment.file.arrays)}
            for segment in self.segments
        ]
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"kind": _KIND, "format": FORMAT, "counts": asdict(self.counts), **own, "segments": segments}

    @classmethod
    def from_node(cls, node: Node) -> Manifest:
        """From its form as JSON."""
        if node.text("kind") != _KIND:
            raise node.error(
                "not of an index", field="kind", found=describe(node.value["kind"]), expected=repr(_KIND)
            )
        if node.integer("format") != FORMAT:
            raise node.error(
                "made by another version of the program",
                field="format",
                found=str(node.value["format"]),
                expected=str(FORMAT),
                hint=REBUILD,
            )
        return cls(
            node.text("analyzer"),
            node.text("analyzer_signature"),
            node.text("analyzer_sample"),
            tuple(map(_segment, node.items("segments"))),
            node.text("fingerprint"),
            node.integer("n_terms"),
            node.text("built_from"),
        )


def check_analyzer(manifest: Manifest, source: str, *, thoroughly: bool) -> Analyzer:
    """The analyzer of an index.

    Parameters
    ----------
    manifest : Manifest
    source : str
        What messages call the index.
    thoroughly : bool
        Whether to look at what it makes of text, too.

    Raises
    ------
    DataError
        It is not what it was when the index was built.
    """
    analyzer = get_analyzer(manifest.analyzer)
    now, then = analyzer.signature, manifest.analyzer_signature
    if now == then and thoroughly:
        now, then = _sample_of(analyzer), manifest.analyzer_sample
    if now != then:
        raise DataError(
            f"the analyzer {analyzer.spec} is no longer what the index was built with",
            source=source,
            found=now,
            expected=then,
            hint=REBUILD,
        )
    return analyzer


def read_json(path: Path, parse: Callable[[Node], _Value]) -> _Value:
    """What `parse` makes of a JSON file that this package wrote.

    Raises
    ------
    DataError
        The file is missing or damaged, or `parse` does not take it.
    """
    try:
        return parse(Node(parse_json(read_text(path), str(path)), str(path)))
    except DataError as error:
        if error.hint == REBUILD:
            raise
        place = ", ".join(part for part in (error.where, error.field) if part)
        raise DataError(
            f"no manifest that can be read ({': '.join(part for part in (place, error.problem) if part)})",
            source=str(path),
            found=error.found,
            expected=error.expected,
            hint=REBUILD,
        ) from None


def _segment(node: Node) -> StoredSegment:
    counts = node.child("counts")
    arrays = node.child("arrays")
    table = {
        name: StoredArray(array.text(0), array.integer(1), array.integer(2))
        for name in arrays.value
        for array in [arrays.child(name)]
    }
    file = StoredFile(node.text("name"), node.integer("size"), node.text("sha256"), table)
    return StoredSegment(Counts(*(counts.integer(field.name) for field in fields(Counts))), file)


def _sample_of(analyzer: Analyzer) -> str:
    return sha256_of_text(" ".join(analyzer.analyze(_SAMPLE)))[:16]
