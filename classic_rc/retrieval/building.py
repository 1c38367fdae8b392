"""Building an index folder: segment by segment, and on from the last one after an interruption."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.retrieval.lines import Advance
from classic_rc.retrieval.lock import exclusive
from classic_rc.retrieval.manifest import Counts, Manifest, StoredSegment
from classic_rc.retrieval.places import PlaceWriter
from classic_rc.retrieval.reading import Input, Record
from classic_rc.retrieval.resuming import BUILDING, Plan, Position, State, changed
from classic_rc.retrieval.segment import MAX_CHARACTERS, MAX_SENTENCES, SegmentBuilder
from classic_rc.retrieval.storage import Arrays, map_arrays, write_arrays
from classic_rc.retrieval.texts import Texts, add_to_fingerprint
from classic_rc.text.analyzers import Analyzer, get_analyzer


class Built(NamedTuple):
    """What came of a build.

    Parameters
    ----------
    manifest : Manifest
    kept : int
        How many segments were there already: of the index that was added to, or of an interrupted build.
    """

    manifest: Manifest
    kept: int


def build_index(
    inputs: Sequence[Input],
    folder: str | os.PathLike[str],
    *,
    analyzer: str | Analyzer = "lucene-english",
    segment_sentences: int = MAX_SENTENCES,
    append: bool = False,
    advance: Advance = lambda n_bytes: None,
) -> Built:
    """Index the sentences of inputs into a folder.

    Sentences are kept and numbered as they come, also those without an index term. A segment ends with
    `segment_sentences`, or with the record that brings it to 2**26 characters; no more than a segment is held in
    memory. If a build is interrupted, its finished segments stay; the same call goes on after them and ends with
    the same index.

    Parameters
    ----------
    inputs : sequence of Input
        Standard input, if it is one of them, comes last.
    folder : str or path
        New or empty; or with an unfinished build of the same arguments; or, with `append`, an index.
    analyzer : str or Analyzer
    segment_sentences : int
        From 1 to 500,000.
    append : bool
        Whether to add to the index that is in the folder, which can be searched meanwhile.
    advance : callable
        Is told how many bytes of input have just been read.

    Raises
    ------
    UsageError
        The folder holds something else, or another build is at work in it.
    DataError
        An input cannot be read, has changed since the interruption, or there is no sentence at all.
    """
    if not 1 <= segment_sentences <= MAX_SENTENCES:
        raise UsageError(f"a segment has from 1 to {MAX_SENTENCES:,} sentences, got {segment_sentences}")
    plan, folder = Plan(inputs, get_analyzer(analyzer), segment_sentences, append), Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}") from None
    with exclusive(folder):
        state = State.of(folder, plan)
        kept = len(state.manifest.segments)
        if state.manifest.built_from != plan.identity:
            _remove_leftovers(folder, state.manifest)
            builder = SegmentBuilder(plan.analyzer)
            for batch, position in _batches(plan, state.position, advance):
                state.manifest = _with_segment(state, batch, folder, builder)
                state.position = position
                state.write(folder, plan)
            if state.position == Position():
                raise DataError("no sentence in it", source=", ".join(source.name for source in inputs[:3]))
            _finish(state, folder, plan)
        return Built(state.manifest, kept)


class _Batch:
    """The sentences of the next segment, and where they come from."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.places = PlaceWriter()
        self.characters = 0

    def add(self, source: Input, record: Record, sentences: Sequence[str]) -> None:
        self.sentences += sentences
        self.places.add(source.name, record, len(sentences))
        self.characters += sum(map(len, sentences))


def _batches(plan: Plan, reached: Position, advance: Advance) -> Iterator[tuple[_Batch, Position]]:
    """What goes into each segment after a position, and the position after it."""
    batch = _Batch()
    advance(sum(source.size or 0 for source in plan.inputs[: reached.input]))
    for number, source in enumerate(plan.inputs[reached.input :], start=reached.input):
        last = reached if number == reached.input and reached.sha256 else None
        digest = hashlib.sha256()
        for record in source.records(digest, advance, last.record if last else 1):
            taken = 0
            if last:
                if (record.number, digest.hexdigest()) != (last.record, last.sha256):
                    raise changed(source.name)
                taken, last = last.taken, None
            while taken < len(record.sentences):
                room = plan.segment_sentences - len(batch.sentences)
                part = record.sentences[taken : taken + room]
                batch.add(source, record, part)
                taken += len(part)
                if len(part) == room or batch.characters >= MAX_CHARACTERS:
                    yield batch, Position(number, record.number, taken, digest.hexdigest())
                    batch = _Batch()
        if last:
            raise changed(source.name)
    if batch.sentences:
        yield batch, Position(input=len(plan.inputs))


def _with_segment(state: State, batch: _Batch, folder: Path, builder: SegmentBuilder) -> Manifest:
    """Write a segment; the manifest with it."""
    segments = state.manifest.segments
    segment, texts = builder.build(batch.sentences), Texts.of(batch.sentences)
    add_to_fingerprint(state.digest, texts.coded())
    file = write_arrays(
        folder / f"segment-{len(segments):05d}.bin",
        {**segment._asdict(), **texts.arrays("sentence"), **batch.places.arrays()},
    )
    n_sentences, n_with_terms, n_tokens = segment.totals.tolist()
    counts = Counts(
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
    """Remove what an interruption left of a segment that is in no manifest."""
    known = {segment.file.name for segment in manifest.segments}
    for path in folder.glob("segment-*"):
        if path.name not in known:
            path.unlink()


def _finish(state: State, folder: Path, plan: Plan) -> None:
    """Put the manifest where searches look for it."""
    n_terms = _n_distinct(map_arrays(folder, segment.file) for segment in state.manifest.segments)
    state.manifest = replace(state.manifest, n_terms=n_terms, built_from=plan.identity or "")
    state.manifest.write(folder)
    (folder / BUILDING).unlink(missing_ok=True)


def _n_distinct(segments: Iterable[Arrays]) -> int:
    """How many terms segments have, each of which has its own in order."""
    terms = heapq.merge(*(Texts.of_arrays(arrays, "term").coded() for arrays in segments))
    return sum(1 for _ in itertools.groupby(terms))
