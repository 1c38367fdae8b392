"""Builds an index folder segment by segment, with one writer at a time; an interrupted build can be resumed."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.hashing import sha256_of_text
from classic_rc.io.json import Node, describe_value
from classic_rc.retrieval.corpus import StoredTexts, update_fingerprint
from classic_rc.retrieval.manifest import (
    MANIFEST,
    Arrays,
    Manifest,
    SegmentCounts,
    StoredSegment,
    add_checksum,
    check_analyzer,
    check_content,
    has_right_checksum,
    map_arrays,
    quote_path,
    read_json,
    segment_name,
    write_arrays,
    write_json,
)
from classic_rc.retrieval.reading import ProgressCallback, SentencePlaceWriter, TextInput, TextRecord
from classic_rc.retrieval.segment import MAX_CACHED_PIECES, MAX_CHARACTERS, MAX_SENTENCES, SegmentBuilder
from classic_rc.retrieval.segment_files import VERIFIED, open_segment_files
from classic_rc.text.analyzers import Analyzer, get_analyzer


@contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder against all other threads and processes that use this function.

    An empty file ``lock`` remains. Its existence has no meaning.

    Parameters
    ----------
    folder : str or path
        An existing folder.

    Raises
    ------
    UsageError
        The folder is locked or not writable.
    """
    # SQLite locks files by the means of the operating system, which releases the locks of dead processes. A file
    # with a process id would not show whether that process still runs.
    import sqlite3

    try:
        with closing(sqlite3.connect(Path(folder) / "lock", timeout=0, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("BEGIN EXCLUSIVE")
            yield
    except sqlite3.Error as error:
        if "locked" not in str(error):
            raise UsageError(
                f"cannot write to the folder {folder}: {error}", field="folder", found=str(folder)
            ) from None
        raise UsageError(
            f"another build is running in {folder}: wait until it ends (if none is running, the file system does "
            "not support locks: build on a local disk and move the folder)",
            field="folder",
            found=str(folder),
            expected="an unlocked folder",
        ) from None


BUILDING = "building.json"
"""The file with the manifest and the position of an unfinished build."""


@dataclass(frozen=True)
class BuildPlan:
    """The arguments of a build."""

    inputs: Sequence[TextInput]
    analyzer: Analyzer
    segment_sentences: int
    append: bool

    @property
    def options(self) -> dict[str, Any]:
        """All arguments except the inputs' content, as JSON."""
        return {
            "analyzer": self.analyzer.signature,
            "segment_sentences": self.segment_sentences,
            "append": self.append,
            "inputs": [f"{source.name} ({source.settings})" for source in self.inputs],
        }

    @property
    def stamps(self) -> list[str | None]:
        """The stamps of the inputs' content."""
        return [source.stamp for source in self.inputs]

    @property
    def identity(self) -> str | None:
        """A hash that identifies the plan; None if the inputs' content is unknown before it is read."""
        if None in self.stamps:
            return None
        return sha256_of_text(json.dumps([self.options, self.stamps]))


class BuildPosition(NamedTuple):
    """How far a build has come."""

    input: int = 0  # the input that is being read, from 0
    record: int = 1  # the number of its last record that was examined
    taken: int = 0  # how many sentences of that record are in a segment
    sha256: str = ""  # of the input up to that record; empty if none was examined


_START = BuildPosition()


@dataclass
class BuildState:
    """The state of a build."""

    manifest: Manifest  # of the finished segments
    position: BuildPosition = _START
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)  # of the sentences

    @classmethod
    def of(cls, folder: Path, plan: BuildPlan) -> BuildState:
        """Return the state in a folder from which a plan can continue.

        Raises
        ------
        UsageError
            The folder has other content.
        DataError
            The content is damaged, or the inputs have changed.
        """
        finished = Manifest.read(folder) if (folder / MANIFEST).exists() else None
        if finished:
            finished.check_intact(folder)
        if finished and finished.built_from == plan.identity:
            return cls(finished)
        if (folder / BUILDING).exists():
            state = cls._resume(folder, plan)
        else:
            state = cls(_first_manifest(finished, folder, plan))
        for segment in state.manifest.segments:
            check_content(folder, segment.file)
            (arrays,) = open_segment_files(folder, [segment.file], content_checked=True)
            update_fingerprint(state.digest, StoredTexts.of_arrays(arrays, "sentence").coded())
        return state

    @classmethod
    def _resume(cls, folder: Path, plan: BuildPlan) -> BuildState:
        hint = f"Remove {quote_path(folder / BUILDING)} to discard the unfinished build, then start again"
        options, stamps, state = read_json(folder / BUILDING, cls._parse, hint)
        different = [name for name, value in plan.options.items() if options.get(name) != value]
        if different:
            raise UsageError(
                f"{folder} has an unfinished build with different {' and '.join(different).replace('_', ' ')}: "
                f"continue it with the same arguments, or remove {folder / BUILDING} to discard it",
                field=", ".join(different),
                found=", ".join(str(plan.options[name]) for name in different),
                expected=", ".join(str(options.get(name)) for name in different),
            )
        for source, stamp in list(zip(plan.inputs, stamps, strict=True))[: state.position.input]:
            if source.stamp != stamp:
                raise input_changed_error(source.name)
        return state

    @classmethod
    def _parse(cls, node: Node) -> tuple[Mapping[str, Any], Sequence[str | None], BuildState]:
        """Return the options, the stamps and the state."""
        position = node.child("position")
        start = BuildPosition(position.integer(0), position.integer(1), position.integer(2), position.text(3))
        if min(start[:3]) < 0:
            raise node.error(
                "below 0", field="position", found=describe_value(min(start[:3])), expected="0 or more"
            )
        options, stamps = node.child("options"), node.sequence("stamps")
        names = options.texts("inputs")
        if len(stamps) != len(names) or start.input > len(names):
            raise node.error(
                "not the number of inputs", field="stamps", found=str(len(stamps)), expected=str(len(names))
            )
        state = cls(Manifest.from_node(node.child("manifest")), start)
        if not has_right_checksum(node.value):
            raise node.error("changed since it was written")
        return options.value, stamps, state

    def write(self, folder: Path, plan: BuildPlan) -> None:
        """Write the state into a folder."""
        content = {"options": plan.options, "stamps": plan.stamps, "position": self.position}
        write_json(folder / BUILDING, add_checksum({**content, "manifest": self.manifest.to_dict()}))


def input_changed_error(name: str) -> DataError:
    """Return the error for an input that has changed since an interrupted build read it."""
    return DataError(
        "changed since the build was interrupted",
        source=name,
        hint=f"Remove {BUILDING} from the index folder to discard that build, then start again",
    )


def _first_manifest(finished: Manifest | None, folder: Path, plan: BuildPlan) -> Manifest:
    """Return the manifest that a new build starts from."""
    if finished and not plan.append:
        raise UsageError(
            f"{folder} already has an index: add to it with --append, or choose another folder",
            field="folder",
            found=str(folder),
            expected="a new or empty folder",
        )
    if finished:
        if check_analyzer(finished, str(folder), thoroughly=True) != plan.analyzer:
            raise UsageError(
                f"{folder} was built with analyzer {finished.analyzer!r}, got {plan.analyzer.spec!r}: "
                "use the same analyzer to add to it",
                field="analyzer",
                found=plan.analyzer.spec,
                expected=finished.analyzer,
            )
        return finished
    if plan.append:
        raise UsageError(
            f"{folder} has no index to add to: omit --append to build one", field="append", found=str(folder)
        )
    own_files = ("lock", "segment-*", f"{BUILDING}.tmp", f"{VERIFIED}*")
    if other_files := [path.name for path in folder.iterdir() if not any(map(path.match, own_files))]:
        raise UsageError(
            f"{folder} has other files, for example {other_files[0]}: choose a new or empty folder",
            field="folder",
            found=other_files[0],
            expected="a new or empty folder",
        )
    return Manifest.empty(plan.analyzer)


class BuildResult(NamedTuple):
    """The result of a build."""

    manifest: Manifest
    kept: int  # segments that existed before: of the index that was added to, or of an interrupted build


def build_index(
    inputs: Sequence[TextInput],
    folder: str | os.PathLike[str],
    *,
    analyzer: str | Analyzer = "lucene-english",
    segment_sentences: int = MAX_SENTENCES,
    append: bool = False,
    advance: ProgressCallback = lambda n_bytes: None,
    segment_characters: int = MAX_CHARACTERS,
    max_cached_pieces: int = MAX_CACHED_PIECES,
) -> BuildResult:
    """Index the sentences of inputs into a folder.

    All sentences are kept and numbered in the order of the inputs, including those without an index term. A segment
    ends at `segment_sentences`, or with the record that reaches `segment_characters`; no more than one segment is
    in memory. If a build is interrupted, its finished segments stay. The same call continues after them, with the
    same index as the result.

    Parameters
    ----------
    inputs : sequence of Input
        Standard input, if it is one of them, must be the last.
    folder : str or path
        A new or empty folder; or one with an unfinished build of the same arguments; or, with `append`, an index.
    analyzer : str or Analyzer
    segment_sentences : int
        From 1 to 500,000.
    append : bool
        Whether to add to the index in the folder, which can be searched meanwhile.
    advance : callable
        Gets the number of input bytes just read.
    segment_characters : int
        Bounds memory, by default at 2**26 characters. An interrupted build may continue with another value.
    max_cached_pieces : int
        How many distinct pieces of text are cached. It bounds memory and does not change the result.

    Raises
    ------
    UsageError
        The folder has other content, or another build is running in it.
    DataError
        An input cannot be read, has changed since the interruption, or there are no sentences at all.
    """
    if not 1 <= segment_sentences <= MAX_SENTENCES:
        limits = f"from 1 to {MAX_SENTENCES:,}"
        raise UsageError(
            f"segment_sentences must be {limits}, got {segment_sentences}",
            field="segment_sentences",
            found=str(segment_sentences),
            expected=limits,
        )
    plan, folder = BuildPlan(inputs, get_analyzer(analyzer), segment_sentences, append), Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create the folder {folder}: {error.strerror}", field="folder", found=str(folder)
        ) from None
    with lock_folder(folder):
        state = BuildState.of(folder, plan)
        n_reused = len(state.manifest.segments)
        if state.manifest.built_from != plan.identity:
            _remove_leftovers(folder, state.manifest)
            builder = SegmentBuilder(plan.analyzer, max_cached_pieces=max_cached_pieces)
            for batch, position in _read_batches(plan, state.position, advance, segment_characters):
                state.manifest = _write_segment(state, batch, folder, builder)
                state.position = position
                state.write(folder, plan)
            if state.position == BuildPosition():
                raise DataError("no sentences found", source=", ".join(source.name for source in inputs[:3]))
            _finish(state, folder, plan)
        return BuildResult(state.manifest, n_reused)


class _Batch:
    """The sentences of the next segment with their places."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.places = SentencePlaceWriter()
        self.characters = 0

    def add(self, source: TextInput, record: TextRecord, sentences: Sequence[str]) -> None:
        self.sentences += sentences
        self.places.add(source.name, record, len(sentences))
        self.characters += sum(map(len, sentences))


def _read_batches(
    plan: BuildPlan, start: BuildPosition, advance: ProgressCallback, segment_characters: int
) -> Iterator[tuple[_Batch, BuildPosition]]:
    """Yield the sentences of each segment after a position, and the position after it."""
    batch = _Batch()
    advance(sum(source.size or 0 for source in plan.inputs[: start.input]))
    for number, source in enumerate(plan.inputs[start.input :], start=start.input):
        last = start if number == start.input and start.sha256 else None
        digest = hashlib.sha256()
        for record in source.records(digest, advance, last.record if last else 1):
            taken = 0
            if last:  # the first record after a resumption: compare it with what the interrupted build read
                if (record.number, digest.hexdigest()) != (last.record, last.sha256):
                    raise input_changed_error(source.name)
                taken, last = last.taken, None
            while taken < len(record.sentences):
                free = plan.segment_sentences - len(batch.sentences)
                part = record.sentences[taken : taken + free]
                batch.add(source, record, part)
                taken += len(part)
                if len(part) == free or batch.characters >= segment_characters:
                    yield batch, BuildPosition(number, record.number, taken, digest.hexdigest())
                    batch = _Batch()
        if last:
            raise input_changed_error(source.name)
    if batch.sentences:
        yield batch, BuildPosition(input=len(plan.inputs))


def _write_segment(state: BuildState, batch: _Batch, folder: Path, builder: SegmentBuilder) -> Manifest:
    """Write a segment, and return the manifest that includes it."""
    segments = state.manifest.segments
    segment, texts = builder.build(batch.sentences), StoredTexts.of(batch.sentences)
    update_fingerprint(state.digest, texts.coded())
    file = write_arrays(
        folder / segment_name(len(segments)),
        {**segment._asdict(), **texts.arrays("sentence"), **batch.places.arrays()},
    )
    n_sentences, n_with_terms, n_tokens = segment.totals.tolist()
    counts = SegmentCounts(
        n_sentences,
        n_with_terms,
        n_tokens,
        text_bytes=len(texts.data),
        with_nul=sum("\0" in sentence for sentence in batch.sentences),
        with_replacement=sum("\ufffd" in sentence for sentence in batch.sentences),
    )
    stored = StoredSegment(counts, file)
    return replace(state.manifest, segments=(*segments, stored), fingerprint=state.digest.hexdigest())


def _remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove segment files that no manifest mentions, which an interruption left."""
    known = {segment.file.name for segment in manifest.segments}
    for path in folder.glob("segment-*"):
        if path.name not in known:
            path.unlink()


def _finish(state: BuildState, folder: Path, plan: BuildPlan) -> None:
    """Write the manifest that searches read, and remove the state of the build."""
    n_terms = _count_distinct_terms(map_arrays(folder, segment.file) for segment in state.manifest.segments)
    state.manifest = replace(state.manifest, n_terms=n_terms, built_from=plan.identity or "")
    state.manifest.write(folder)
    (folder / BUILDING).unlink(missing_ok=True)


def _count_distinct_terms(segments: Iterable[Arrays]) -> int:
    """Return the number of distinct terms of segments, each with sorted terms."""
    terms = heapq.merge(*(StoredTexts.of_arrays(arrays, "term").coded() for arrays in segments))
    return sum(1 for _ in itertools.groupby(terms))
