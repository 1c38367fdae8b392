"""Builds an index folder segment by segment, with one writer at a time; an interrupted build can be resumed."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import os
import signal
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError
from classic_rc.retrieval.build_state import (
    BUILDING,
    BuildPlan,
    BuildPosition,
    BuildState,
    input_changed_error,
    lock_folder,
)
from classic_rc.retrieval.corpus import StoredTexts
from classic_rc.retrieval.manifest import (
    Arrays,
    Manifest,
    SegmentCounts,
    StoredSegment,
    map_arrays,
    segment_name,
    write_arrays,
)
from classic_rc.retrieval.reading import ProgressCallback, SentencePlaceWriter, TextBlock, TextInput
from classic_rc.retrieval.segment import MAX_CACHED_PIECES, MAX_CHARACTERS, MAX_SENTENCES, SegmentBuilder
from classic_rc.text.analyzers import Analyzer, get_analyzer


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
    jobs: int = 1,
    advance: ProgressCallback = lambda n_bytes: None,
    segment_characters: int = MAX_CHARACTERS,
    max_cached_pieces: int = MAX_CACHED_PIECES,
) -> BuildResult:
    """Index the sentences of inputs into a folder.

    All sentences are kept and numbered in the order of the inputs, including those without an index term. A
    segment ends at `segment_sentences`, or with the record that reaches `segment_characters`. If a build is
    interrupted, its finished segments stay. The same call continues after them, with the same index as the result.

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
    jobs : int
        How many segments are built at the same time, by workers of joblib's backend; -1 is as many as it has. The
        files do not depend on it. This process reads the inputs, and has up to two segments of text in memory for
        each worker. Workers on other machines must have the folder under the same path.
    advance : callable
        Gets the number of input bytes just read.
    segment_characters : int
        Bounds memory, by default at 2**26 characters. An interrupted build may continue with another value.
    max_cached_pieces : int
        How many distinct pieces of text are cached. It bounds memory and does not change the result.

    Raises
    ------
    UsageError
        The folder has other content, another build is running in it, or a worker died.
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
    if jobs == 0:
        raise UsageError(
            "jobs must be 1 or more, or -1 for all cores, got 0",
            field="jobs",
            found="0",
            expected="1 or more, or -1",
        )
    plan, folder = (
        BuildPlan(inputs, get_analyzer(analyzer), segment_sentences, append),
        Path(os.path.abspath(folder)),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create the folder {folder}: {error.strerror}", field="folder", found=str(folder)
        ) from None
    with lock_folder(folder):
        state = BuildState.of(folder, plan)
        n_reused = state.n_segments
        if state.manifest.built_from != plan.identity:
            _remove_leftovers(folder, state.manifest)
            contents = _read_segments(plan, state.position, advance, segment_characters)
            n_workers, is_large = _count_workers(jobs), sum(i.size or 0 for i in inputs) > segment_characters
            _build_segments(state, contents, folder, plan, max_cached_pieces, n_workers, is_large)
            if state.position == BuildPosition():
                raise DataError("no sentences found", source=", ".join(source.name for source in inputs[:3]))
            _finish(state, folder, plan)
        return BuildResult(state.manifest, n_reused)


class _SegmentContent(NamedTuple):
    """The sentences of a segment, and where they come from."""

    texts: StoredTexts
    places: dict[str, NDArray[Any]]  # of a SentencePlaceWriter
    position: BuildPosition  # after the last sentence


class _SegmentReader:
    """Collects the sentences of a segment until it is full."""

    def __init__(self, max_sentences: int, max_characters: int) -> None:
        self._max_sentences, self._max_characters = max_sentences, max_characters
        self._sentences: list[str] = []
        self._places = SentencePlaceWriter()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._sentences)

    @property
    def is_full(self) -> bool:
        return len(self) == self._max_sentences or self._characters >= self._max_characters

    def add(self, name: str, block: TextBlock, start: int) -> int:
        """Add the sentences of a block from number `start` on that have room, and return the end of these."""
        end = min(len(block.sentences), start + self._max_sentences - len(self))
        totals = self._characters + np.cumsum([0, *map(len, block.sentences[start:end])])
        if totals[-1] >= self._max_characters:  # up to the last sentence of the record that reaches the limit
            last = start + int(np.searchsorted(totals[1:], self._max_characters))
            end = min(end, int(np.searchsorted(block.numbers, block.numbers[last], side="right")))
        self._sentences += block.sentences[start:end]
        self._places.add(name, block.numbers[start:end], block.labels)
        self._characters = int(totals[end - start])
        return end

    def finish(self, position: BuildPosition) -> _SegmentContent:
        return _SegmentContent(StoredTexts.of(self._sentences), self._places.arrays(), position)


def _read_segments(
    plan: BuildPlan, start: BuildPosition, advance: ProgressCallback, segment_characters: int
) -> Iterator[_SegmentContent]:
    """Yield the content of each segment after a position."""
    limits = plan.segment_sentences, segment_characters
    segment = _SegmentReader(*limits)
    advance(sum(source.size or 0 for source in plan.inputs[: start.input]))
    for number, source in enumerate(plan.inputs[start.input :], start=start.input):
        last = start if number == start.input and start.sha256 else None
        digest = hashlib.sha256()
        for block in source.blocks(advance, last.record if last else 1):
            taken, hashed = 0, block.first
            if last:  # compare what the interrupted build read
                block.hash_into(digest, end=min(last.record + 1, block.end))
                if last.record >= block.end:
                    continue
                if digest.hexdigest() != last.sha256:
                    raise input_changed_error(source.name)
                taken, hashed, last = last.taken, last.record + 1, None
            while taken < len(block.sentences):
                taken = segment.add(source.name, block, taken)
                if segment.is_full:
                    record = int(block.numbers[taken - 1])
                    block.hash_into(digest, hashed, record + 1)
                    hashed = record + 1
                    of_record = taken - int(np.searchsorted(block.numbers, record))
                    yield segment.finish(BuildPosition(number, record, of_record, digest.hexdigest()))
                    segment = _SegmentReader(*limits)
            block.hash_into(digest, hashed)
        if last:
            raise input_changed_error(source.name)
    if len(segment):
        yield segment.finish(BuildPosition(input=len(plan.inputs)))


def _build_segments(
    state: BuildState,
    contents: Iterator[_SegmentContent],
    folder: Path,
    plan: BuildPlan,
    max_cached_pieces: int,
    n_workers: int,
    is_large: bool,
) -> None:
    """Build all segments, and add each to the state when it and all before it are finished."""

    def add(content: _SegmentContent, stored: StoredSegment) -> None:
        state.add(folder, stored, content.texts, content.position)
        state.write(folder, plan)

    if n_workers > 1:
        _build_in_workers(contents, add, folder, plan.analyzer, max_cached_pieces, n_workers, is_large)
        return
    builder = SegmentBuilder(plan.analyzer, max_cached_pieces=max_cached_pieces)
    for content in contents:
        path = folder / segment_name(state.n_segments)
        add(content, _write_segment(content.texts, content.places, path, builder))


def _build_in_workers(
    contents: Iterator[_SegmentContent],
    add: Callable[[_SegmentContent, StoredSegment], None],
    folder: Path,
    analyzer: Analyzer,
    max_cached_pieces: int,
    n_workers: int,
    is_large: bool,
) -> None:
    """Build as many segments at a time as there are workers, while this thread reads the next ones.

    If there will be several segments, workers start while the first ones are read.
    """
    from joblib import Parallel, delayed

    def build(parallel: Parallel, batch: Sequence[_SegmentContent]) -> list[StoredSegment]:
        # The position stays here: a worker needs only arrays, which joblib shares by memory mapping.
        shared = folder, analyzer, max_cached_pieces, os.getpid()
        return list(parallel(delayed(_write_in_worker)(*content[:2], *shared) for content in batch))

    def prepare(parallel: Parallel) -> list[StoredSegment]:
        parallel(delayed(_prepare_worker)(analyzer, max_cached_pieces) for _ in range(n_workers))
        return []

    batch: list[_SegmentContent] = []
    running: tuple[list[_SegmentContent], Future[list[StoredSegment]]] | None = None

    def start() -> None:
        nonlocal running, batch
        # A thread does not see the configured backend. One segment alone is built in this process.
        parallel = Parallel(n_jobs=min(n_workers, len(batch)), batch_size=1)
        running, batch = (batch, thread.submit(build, parallel, batch)), []

    def proceed() -> None:
        """Start the segments that have been read when those before are finished, and add these meanwhile."""
        nonlocal running
        stored = [] if running is None else _result_of(running[1])
        finished, running = [] if running is None else running[0], None
        if batch:
            start()
        try:
            for content, segment in zip(finished, stored, strict=True):
                add(content, segment)
        except BaseException:
            running = None  # no segment can be added after one that was not
            raise

    with ThreadPoolExecutor(1) as thread:
        if is_large:
            running = [], thread.submit(prepare, Parallel(n_jobs=n_workers, batch_size=1))
        try:
            for content in contents:
                batch.append(content)
                if len(batch) == n_workers:
                    proceed()
            while running or batch:
                proceed()
        except BaseException as error:
            # What was read before an error is kept, as one process keeps it; after Ctrl-C, what is being built.
            if not isinstance(error, DataError):
                batch = []
            with suppress(Exception):
                while running or batch:
                    proceed()
            raise


def _result_of(future: Future[list[StoredSegment]]) -> list[StoredSegment]:
    try:
        return future.result()
    except Exception as error:
        # dask's error for a task whose workers died has no common base class with those of process pools.
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            raise UsageError(
                "a worker process died, perhaps for lack of memory: finished segments are kept, run the same "
                "command again to continue, with fewer --jobs if it happens again",
                field="jobs",
            ) from error
        raise


def _count_workers(jobs: int) -> int:
    if jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(jobs))


_own = threading.local()
"""The builder of this thread: a worker that gets several segments analyses each distinct word once."""


def _prepare_worker(analyzer: Analyzer, max_cached_pieces: int) -> None:
    key = analyzer, max_cached_pieces
    if getattr(_own, "key", None) != key:
        _own.key, _own.builder = key, SegmentBuilder(analyzer, max_cached_pieces=max_cached_pieces)


def _write_in_worker(
    texts: StoredTexts, places: Arrays, folder: Path, analyzer: Analyzer, max_cached_pieces: int, parent: int
) -> StoredSegment:
    """Write a segment under a name that no other process uses: a worker may outlive the build that started it."""
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        # A terminal sends Ctrl-C to all processes. The parent waits for this segment, and then ends.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepare_worker(analyzer, max_cached_pieces)
    # The parent waits for the disk: it has time for that, and workers that finish together would stand idle.
    return _write_segment(texts, places, folder / f"segment-{uuid.uuid4().hex}.part", _own.builder, sync=False)


def _write_segment(
    texts: StoredTexts, places: Arrays, path: Path, builder: SegmentBuilder, *, sync: bool = True
) -> StoredSegment:
    """Build a segment and write its file."""
    segment = builder.build(list(texts))
    n_sentences, n_with_terms, n_tokens = segment.totals.tolist()
    counts = SegmentCounts(
        n_sentences,
        n_with_terms,
        n_tokens,
        text_bytes=len(texts.data),
        with_nul=texts.count_with("\0"),
        with_replacement=texts.count_with("\ufffd"),
    )
    arrays = {**segment._asdict(), **texts.arrays("sentence"), **places}
    return StoredSegment(counts, write_arrays(path, arrays, sync=sync))


def _remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove segment files that no manifest mentions, which an interruption left."""
    known = {segment.file.name for segment in manifest.segments}
    for path in folder.glob("segment-*"):
        if path.name not in known:
            path.unlink(missing_ok=True)


def _finish(state: BuildState, folder: Path, plan: BuildPlan) -> None:
    """Write the manifest that searches read, and remove the state of the build."""
    n_terms = _count_distinct_terms(map_arrays(folder, segment.file) for segment in state.manifest.segments)
    state.manifest = replace(state.manifest, n_terms=n_terms, built_from=plan.identity or "")
    state.manifest.write(folder)
    (folder / BUILDING).unlink(missing_ok=True)
    _remove_leftovers(folder, state.manifest)


def _count_distinct_terms(segments: Iterable[Arrays]) -> int:
    """Return the number of distinct terms of segments, each with sorted terms."""
    terms = heapq.merge(*(StoredTexts.of_arrays(arrays, "term").coded() for arrays in segments))
    return sum(1 for _ in itertools.groupby(terms))
