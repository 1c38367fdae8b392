"""The state of an index build: its lock, its arguments, and how far it has come, so that it can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.hashing import sha256_of_text
from classic_rc.io.json import Node, describe_value
from classic_rc.io.text import replace_file
from classic_rc.retrieval.corpus import StoredTexts
from classic_rc.retrieval.manifest import (
    MANIFEST,
    Manifest,
    StoredSegment,
    add_checksum,
    check_analyzer,
    check_content,
    has_right_checksum,
    quote_path,
    read_json,
    segment_name,
    write_json,
)
from classic_rc.retrieval.reading import TextInput
from classic_rc.retrieval.segment_files import VERIFIED, open_segment_files
from classic_rc.text.analyzers import Analyzer


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
            StoredTexts.of_arrays(arrays, "sentence").hash_into(state.digest)
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

    @property
    def n_segments(self) -> int:
        """The number of finished segments."""
        return len(self.manifest.segments)

    def add(self, folder: Path, stored: StoredSegment, texts: StoredTexts, position: BuildPosition) -> None:
        """Add the next segment. A worker's file has another name until now, and may not be on the disk yet.

        Raises
        ------
        UsageError
            The file is not in the folder.
        """
        name = segment_name(self.n_segments)
        if stored.file.name != name:
            try:
                with open(folder / stored.file.name, "rb+") as file:  # Windows syncs only files open for writing
                    os.fsync(file.fileno())
                replace_file(folder / stored.file.name, folder / name)
            except OSError as error:
                raise UsageError(
                    f"a worker wrote {stored.file.name}, and {folder} does not have it ({error.strerror}): "
                    "use a folder that all workers share, or --jobs 1",
                    field="folder",
                    found=str(folder),
                    expected="a folder that all workers share",
                ) from None
            stored = replace(stored, file=stored.file._replace(name=name))
        texts.hash_into(self.digest)
        segments = (*self.manifest.segments, stored)
        self.manifest = replace(self.manifest, segments=segments, fingerprint=self.digest.hexdigest())
        self.position = position

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
