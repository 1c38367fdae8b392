"""Builds an index folder segment by segment, with one writer at a time; finished segments are
never built again.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import ClassicRCError, DataError, UsageError, wrong_value
from classic_rc.io.files import exclusive_lock
from classic_rc.io.forks import ForkPool, can_fork, count_jobs, note_processes
from classic_rc.kernels.arrays import block_size
from classic_rc.retrieval.reading import ProgressCallback, SentencePlaceWriter, TextBlock, TextInput
from classic_rc.retrieval.segment import (
    MAX_CHARACTERS,
    MAX_SENTENCES,
    AnalyzedSentences,
    SegmentBuilder,
)
from classic_rc.retrieval.storage import (
    MANIFEST,
    SEGMENTS,
    VERIFIED,
    Arrays,
    IndexCounts,
    Manifest,
    StoredSegment,
    find_segment,
    map_segment,
    open_segments,
    segment_key,
    segment_name,
    write_segment,
)
from classic_rc.retrieval.texts import StoredTexts
from classic_rc.text.analyzers import Analyzer, get_analyzer


class BuildResult(NamedTuple):
    """The result of a build."""

    manifest: Manifest
    # segments that existed before: of the index that was added to, or of an interrupted build
    kept: int


def build_index(
    inputs: Sequence[TextInput],
    folder: str | os.PathLike[str],
    *,
    analyzer: str | Analyzer = "lucene-english",
    segment_sentences: int = MAX_SENTENCES,
    append: bool = False,
    jobs: int = 1,
    advance: ProgressCallback = lambda n_bytes: None,
) -> BuildResult:
    """Index the sentences of inputs into a folder.

    All sentences are kept and numbered in the order of the inputs, including those without an index
    term. A segment ends at `segment_sentences` (1 to 500,000), or with the record that reaches
    2**26 characters, which bounds memory. A segment's file has the name of its content. So a build
    reads all inputs and builds only the segments that the folder lacks: those of an interrupted
    build, or those that were damaged.

    `folder` is new or empty, or has an unfinished build, or, with `append`, an index, which can be
    searched meanwhile. If it has the segments of these inputs already, it stays as it is. `jobs`
    processes (-1: one for each core) share the work; the files do not depend on it. They are this
    one and its forks; where it cannot fork, or another backend of joblib is active, they are
    workers of that backend, which must have the folder under the same path. A single segment is
    built in this process. `advance` gets the number of input bytes just read.
    """
    if not 1 <= segment_sentences <= MAX_SENTENCES:
        raise wrong_value("segment_sentences", segment_sentences, f"from 1 to {MAX_SENTENCES:,}")
    if jobs == 0:
        raise wrong_value("jobs", jobs, "1 or more, or -1")
    analyzer, folder = get_analyzer(analyzer), Path(os.path.abspath(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create the folder {folder}: {error.strerror}",
            field="folder",
            found=str(folder),
        ) from None
    with lock_folder(folder):
        old = _read_old_manifest(folder, analyzer, append)
        segments, n_found = [], 0
        contents = _read_segments(inputs, advance, segment_sentences, block_size(MAX_CHARACTERS))
        tasks = _Tasks(contents, folder, analyzer, expected=None if append else old)
        for stored, was_there in _run(tasks, jobs):
            segments.append(stored)
            n_found += was_there
        if not segments:
            raise DataError(
                "no sentences found", source=", ".join(source.name for source in inputs[:3])
            )
        if old is None:
            old = Manifest.empty(analyzer)
        elif _has_all(old.segments, segments):
            return BuildResult(old, len(old.segments) - len(segments) + n_found)
        manifest = _describe(old, folder, segments)
        manifest.write(folder)
        _remove_leftovers(folder, manifest)
        return BuildResult(manifest, len(old.segments) + n_found)


@contextmanager
def lock_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Lock a folder against all other threads and processes that use this function.

    An empty file ``lock`` remains. Its existence has no meaning.
    """

    def refuse() -> None:
        problem = f"another build is running in {folder}: wait until it ends"
        raise UsageError(problem, field="folder", found=str(folder), expected="an unlocked folder")

    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_lock(Path(folder) / "lock", refuse))
        except OSError as error:
            problem = f"cannot write to the folder {folder}: {error.strerror or error}"
            raise UsageError(problem, field="folder", found=str(folder)) from None
        yield


def has_unfinished_segments(folder: str | os.PathLike[str]) -> bool:
    """Return whether a folder has finished segments of a build that has not ended."""
    folder = Path(folder)
    try:
        listed = {segment.name for segment in Manifest.read(folder).segments}
    except (ClassicRCError, OSError):
        listed = set()
    complete = (path.name for path in folder.glob(SEGMENTS) if path.suffix == ".bin")
    return any(name not in listed for name in complete)


def _read_old_manifest(folder: Path, analyzer: Analyzer, append: bool) -> Manifest | None:
    """Return the manifest of the index in a folder, or None if it has none and can get one."""
    if not (folder / MANIFEST).exists():
        if append:
            raise UsageError(
                f"{folder} has no index to add to: omit --append to build one",
                field="append",
                found=str(folder),
            )
        own_files = ("lock", SEGMENTS, f"{VERIFIED}*", ".classic-rc-*.tmp")
        for path in folder.iterdir():
            if not any(map(path.match, own_files)):
                name, expected = path.name, "a new or empty folder"
                problem = f"{folder} has other files, for example {name}: choose {expected}"
                raise UsageError(problem, field="folder", found=name, expected=expected)
        return None
    old = Manifest.read(folder)
    if old.check_analyzer(str(folder), thoroughly=True) == analyzer:
        return old
    if not append:
        raise _not_empty_error(folder)
    problem = (
        f"{folder} was built with analyzer {old.analyzer!r}, got {analyzer.spec!r}: use the same "
        "one to add to it"
    )
    raise UsageError(problem, field="analyzer", found=analyzer.spec, expected=old.analyzer)


def _not_empty_error(folder: Path) -> UsageError:
    problem = f"{folder} already has an index: add to it with --append, or choose another folder"
    return UsageError(problem, field="folder", found=str(folder), expected="a new or empty folder")


class _Content(NamedTuple):
    """The sentences of a segment, and where they come from."""

    texts: StoredTexts
    places: dict[str, NDArray[Any]]  # of a SentencePlaceWriter


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
        """Add the sentences of a block from number `start` on that have room, and return the end
        of these.
        """
        end = min(len(block.sentences), start + self._max_sentences - len(self))
        lengths = map(len, block.sentences[start:end])
        totals = self._characters + np.cumsum([0, *lengths])
        # up to the last sentence of the record that reaches the limit
        if totals[-1] >= self._max_characters:
            last = start + int(np.searchsorted(totals[1:], self._max_characters))
            end = min(end, int(np.searchsorted(block.numbers, block.numbers[last], side="right")))
        self._sentences += block.sentences[start:end]
        self._places.add(name, block.numbers[start:end], block.labels)
        self._characters = int(totals[end - start])
        return end

    def finish(self) -> _Content:
        return _Content(StoredTexts.of(self._sentences), self._places.arrays())


def _read_segments(
    inputs: Sequence[TextInput], advance: ProgressCallback, max_sentences: int, max_characters: int
) -> Iterator[_Content]:
    """Yield the content of each segment."""
    segment = _SegmentReader(max_sentences, max_characters)
    for source in inputs:
        for block in source.blocks(advance):
            n_taken = 0
            while n_taken < len(block.sentences):
                n_taken = segment.add(source.name, block, n_taken)
                if segment.is_full:
                    yield segment.finish()
                    segment = _SegmentReader(max_sentences, max_characters)
    if len(segment):
        yield segment.finish()


class _Tasks:
    """The arguments of :func:`_build_segment` for each segment, until the inputs end or cannot
    be read further.
    """

    def __init__(
        self,
        contents: Iterator[_Content],
        folder: Path,
        analyzer: Analyzer,
        expected: Manifest | None,
    ) -> None:
        self._contents, self.folder, self.analyzer = contents, folder, analyzer
        self._expected = (
            expected  # the finished index in the folder, which must begin with these segments
        )
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        # joblib reads tasks in threads of its own, where an error would be lost.
        try:
            for number, (texts, places) in enumerate(self._contents):
                key = segment_key(texts, places, self.analyzer)
                if self._expected is not None:
                    names = [
                        segment.name for segment in self._expected.segments[number : number + 1]
                    ]
                    if names != [segment_name(key)]:
                        raise _not_empty_error(self.folder)
                yield key, texts, places, self.folder
        except BaseException as error:
            self.error = error


def _run(tasks: _Tasks, jobs: int) -> Iterator[tuple[StoredSegment, bool]]:
    """Build the segments, and yield each in order; raise the error of the tasks at their end."""
    arguments = iter(tasks)
    # The first two: a single segment gains nothing from another process.
    first = [] if jobs == 1 else list(itertools.islice(arguments, 2))
    # Popped, so that a segment's texts are not kept after it is built.
    arguments = itertools.chain((first.pop(0) for _ in range(len(first))), arguments)
    n_forks = count_jobs(jobs) - 1 if can_fork() else None
    if len(first) < 2 or n_forks == 0:
        builder = SegmentBuilder(tasks.analyzer)
        yield from (_build_segment(builder, None, *task) for task in arguments)
    else:
        try:
            yield from (
                _run_in_workers(arguments, tasks, jobs)
                if n_forks is None
                else _run_in_forks(arguments, SegmentBuilder(tasks.analyzer), n_forks)
            )
        except Exception as error:
            # dask's error after the death of a worker has no common base class with the errors of
            # process pools.
            if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
                raise UsageError(
                    "a worker process died, perhaps for lack of memory: finished segments are "
                    "kept, run the same command again to continue, with fewer --jobs if it "
                    "happens again",
                    field="jobs",
                ) from error
            raise
    if tasks.error is not None:
        raise tasks.error


def _run_in_forks(
    tasks: Iterator[tuple[Any, ...]], builder: SegmentBuilder, n_forks: int
) -> Iterator[tuple[StoredSegment, bool]]:
    """Build segments in forks, which know the words of this process.

    This process analyses the words of the first segment, and later ones of a segment that would
    wait for a fork otherwise.
    """
    with ForkPool(n_forks) as pool:
        for task in tasks:
            key, texts, _, folder = task
            encoded = None
            if (builder.is_new or pool.is_full()) and not (folder / segment_name(key)).exists():
                encoded = builder.encode(list(texts))
            pool.start(partial(_build_segment, builder, encoded, *task))
        yield from pool.finish()


def _run_in_workers(
    arguments: Iterator[tuple[Any, ...]], tasks: _Tasks, jobs: int
) -> Iterator[tuple[StoredSegment, bool]]:
    """Build segments in workers of joblib's backend, which each analyse words for themselves."""
    from joblib import Parallel, delayed, effective_n_jobs

    note_processes(effective_n_jobs(jobs))
    # As many segments are in memory as there are workers: a worker that ends one gets the next.
    parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch="n_jobs")
    for stored, was_there in parallel(
        delayed(_build_in_worker)(os.getpid(), tasks.analyzer, *task) for task in arguments
    ):
        if not (tasks.folder / stored.name).exists():
            raise UsageError(
                f"a worker wrote {stored.name}, and {tasks.folder} does not have it: use a folder "
                "that all workers share, or --jobs 1",
                field="folder",
                found=str(tasks.folder),
                expected="a folder that all workers share",
            )
        yield stored, was_there


_worker = threading.local()
"""The builder of this thread: one that builds several segments analyses each distinct word once."""


def _build_in_worker(parent: int, analyzer: Analyzer, *task: Any) -> tuple[StoredSegment, bool]:
    if os.getpid() != parent and threading.current_thread() is threading.main_thread():
        # A terminal sends Ctrl-C to all processes. The parent ends its workers.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _build_segment(_builder_of_thread(analyzer), None, *task)


def _builder_of_thread(analyzer: Analyzer) -> SegmentBuilder:
    if getattr(_worker, "analyzer", None) != analyzer:
        _worker.analyzer, _worker.builder = analyzer, SegmentBuilder(analyzer)
    builder: SegmentBuilder = _worker.builder
    return builder


def _build_segment(
    builder: SegmentBuilder,
    encoded: AnalyzedSentences | None,
    key: str,
    texts: StoredTexts,
    places: Arrays,
    folder: Path,
) -> tuple[StoredSegment, bool]:
    """Return a segment, and whether the folder had it; else build it and write its file."""
    segment_on_disk = find_segment(folder, key)
    if segment_on_disk is not None:
        return segment_on_disk, True
    segment = builder.build(encoded or builder.encode(list(texts)))
    arrays = {**segment._asdict(), **texts.arrays("sentence"), **places}
    return write_segment(folder, key, arrays), False


def _has_all(segments: Sequence[StoredSegment], run: Sequence[StoredSegment]) -> bool:
    """Return whether some consecutive segments are the wanted ones."""
    n, wanted = len(run), list(run)
    return any(list(segments[i : i + n]) == wanted for i in range(len(segments)))


def _describe(old: Manifest, folder: Path, segments: Sequence[StoredSegment]) -> Manifest:
    """Return the manifest of an index with new segments after its old ones."""
    open_segments(folder, old.segments)  # which verifies them
    everything = (*old.segments, *segments)
    digest, counts = hashlib.sha256(), IndexCounts()
    for stored in everything:
        arrays = map_segment(folder, stored)
        texts = StoredTexts.of_arrays(arrays, "sentence")
        texts.hash_into(digest)
        sizes = [len(texts.data), texts.count_with("\0"), texts.count_with("\ufffd")]
        counts += IndexCounts(*[*arrays["totals"].tolist(), *sizes])
    arrays_of_segments = (map_segment(folder, stored) for stored in everything)
    terms = (StoredTexts.of_arrays(arrays, "term").coded() for arrays in arrays_of_segments)
    # Each segment's terms are sorted, so equal ones of several segments are neighbours.
    n_terms = sum(1 for _ in itertools.groupby(heapq.merge(*terms)))
    return replace(
        old, segments=everything, fingerprint=digest.hexdigest(), n_terms=n_terms, counts=counts
    )


def _remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """Remove segment files that the manifest does not list: incomplete ones, and ones of other
    builds.
    """
    listed = {segment.name for segment in manifest.segments}
    for path in folder.glob(SEGMENTS):
        if path.name not in listed:
            path.unlink(missing_ok=True)
