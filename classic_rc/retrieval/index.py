"""Opens and checks index folders: their files are mapped into memory and searched by the default engine."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

from classic_rc.errors import DataError, UsageError
from classic_rc.retrieval.build_state import BUILDING
from classic_rc.retrieval.corpus import Corpus, StoredTexts
from classic_rc.retrieval.manifest import (
    MANIFEST,
    REBUILD_HINT,
    Arrays,
    Manifest,
    SegmentCounts,
    StoredFile,
    check_analyzer,
    check_content,
    quote_path,
)
from classic_rc.retrieval.reading import sentence_place
from classic_rc.retrieval.segment import Segment
from classic_rc.retrieval.segment_files import open_segment_files
from classic_rc.retrieval.similarity import Similarity
from classic_rc.retrieval.sparse import Sparse


def open_index(
    path: str | os.PathLike[str], *, similarity: str | Similarity | None = None, n_jobs: int | None = None
) -> Corpus:
    """Open an index folder.

    The files are mapped read-only: several processes share one copy in memory. A file is read as a whole and
    verified when it is opened for the first time or has changed; after that only the pages in use are read. A
    corpus is pickled as the path of its folder.

    Parameters
    ----------
    path : str or path
    similarity : str or Similarity, default="bm25"
    n_jobs : int, optional
        How many joblib workers search segments in parallel.

    Returns
    -------
    Corpus
        It has the folder's name.

    Raises
    ------
    DataError
        There is no finished index; a file is missing or has changed; the index has another version, or its analyzer
        has changed.
    UsageError
        An unknown similarity.
    """
    folder = Path(os.path.abspath(path))
    manifest = _read_manifest(folder)
    analyzer = check_analyzer(manifest, str(folder), thoroughly=False)
    engine = StoredSparse.open(folder, manifest, similarity=similarity, analyzer=analyzer, n_jobs=n_jobs)
    manifest.check_intact(folder)
    return Corpus(folder.name, engine, manifest.fingerprint, engine.source)


def check_index(path: str | os.PathLike[str]) -> Manifest:
    """Read a whole index folder and compare it with its manifest.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Manifest

    Raises
    ------
    DataError
        As in :func:`open_index`, or the content of a file has changed.
    """
    folder = Path(path)
    manifest, digest = _read_manifest(folder), hashlib.sha256()
    check_analyzer(manifest, str(folder), thoroughly=True)
    for stored in manifest.segments:
        check_content(folder, stored.file)
        (arrays,) = open_segment_files(folder, [stored.file], content_checked=True)
        _check_counts(folder, stored.counts, arrays)
        StoredTexts.of_arrays(arrays, "sentence").hash_into(digest)
    _check_manifest_value(folder, "fingerprint", manifest.fingerprint, digest.hexdigest())
    manifest.check_intact(folder)
    return manifest


class StoredSparse(Sparse):
    """The default engine over an index folder, whose content stays on disk until it is used.

    Attributes
    ----------
    folder : Path
    fingerprint : str
        The fingerprint of the sentences when the folder was opened.
    """

    folder: Path
    fingerprint: str
    _arrays: list[Arrays]

    @classmethod
    def open(cls, folder: Path, manifest: Manifest, **parameters: Any) -> Self:
        """Return the engine over a folder that a manifest describes."""
        arrays: list[Arrays] = [*open_segment_files(folder, [segment.file for segment in manifest.segments])]
        for stored, own in zip(manifest.segments, arrays, strict=True):
            _check_counts(folder, stored.counts, own)
        segments = [MappedSegment.of(folder, s.file, own) for s, own in zip(manifest.segments, arrays, strict=True)]
        engine = cls.from_segments(
            segments, [StoredTexts.of_arrays(own, "sentence") for own in arrays], **parameters
        )
        engine.folder, engine.fingerprint, engine._arrays = folder, manifest.fingerprint, arrays
        return engine

    def index(self, sentences: Iterable[str]) -> NoReturn:
        """Refuse: an opened index is read-only.

        Raises
        ------
        UsageError
        """
        raise UsageError(
            f"the index in {self.folder} is read-only: "
            f"add to it with `classic-rc index CORPUS -o {quote_path(self.folder)} --append`"
        )

    def source(self, number: int) -> str:
        """Return where a sentence comes from: ``"a.txt:1234"`` or ``"a.jsonl#id"``.

        The number is that of the line; the id is that of the row or passage.
        """
        segment, place = self._locate(number)
        return sentence_place(self._arrays[segment], place)

    def without(self, numbers: Sequence[int]) -> Sparse:
        """Return the engine as if these sentences had no index term; all others keep their numbers."""
        rest = super().without(numbers)
        parameters = {"similarity": self.similarity, "analyzer": self.analyzer, "n_jobs": self.n_jobs}
        engine = _ReducedIndex.from_segments(rest.segments, rest.texts, **parameters)
        engine.complete, engine.left_out = self, numbers
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (str(self.folder), self.fingerprint, self.similarity, self.n_jobs)


class _ReducedIndex(Sparse):
    """An index without some sentences, pickled as the index and the numbers of those sentences."""

    complete: StoredSparse
    left_out: Sequence[int]

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredSparse.without, (self.complete, self.left_out)


class MappedSegment(Segment):
    """A segment that is pickled as the path of its file."""

    folder: Path
    file: StoredFile

    @classmethod
    def of(cls, folder: Path, file: StoredFile, arrays: Arrays) -> Self:
        """Return the segment of a file, from the file's arrays."""
        segment = cls._make(arrays[name] for name in Segment._fields)
        segment.folder, segment.file = folder, file
        return segment

    def __reduce__(self) -> tuple[Any, ...]:
        return _remap, (self.folder, self.file)


def _remap(folder: Path, file: StoredFile) -> MappedSegment:
    (arrays,) = open_segment_files(folder, [file])
    return MappedSegment.of(folder, file, arrays)


def _reopen(folder: str, fingerprint: str, similarity: Similarity, n_jobs: int | None) -> StoredSparse:
    corpus = open_index(folder, similarity=similarity, n_jobs=n_jobs)
    if corpus.fingerprint != fingerprint:
        raise DataError("the index has changed since it was opened", source=folder, hint="Open it again")
    assert isinstance(corpus.engine, StoredSparse)
    return corpus.engine


def _check_counts(folder: Path, counts: SegmentCounts, arrays: Arrays) -> None:
    expected = [counts.sentences, counts.with_terms, counts.tokens]
    _check_manifest_value(folder, "counts", expected, arrays["totals"].tolist())


def _check_manifest_value(folder: Path, field: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise DataError(
            "does not match the segment files",
            source=str(folder / MANIFEST),
            field=field,
            found=str(found),
            expected=str(expected),
            hint=REBUILD_HINT,
        )


def _read_manifest(folder: Path) -> Manifest:
    if os.path.exists(folder / MANIFEST):
        return Manifest.read(folder)
    if os.path.exists(folder / BUILDING):
        raise DataError(
            "the index is unfinished",
            source=str(folder),
            hint="Repeat the command that built it: it continues after the finished segments",
        )
    raise DataError(
        "no index" if os.path.isdir(folder) else "no such folder",
        source=str(folder),
        expected=f"a folder with {MANIFEST}",
        hint="Build one with `classic-rc index CORPUS -o DIR`",
    )
