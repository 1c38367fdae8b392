"""How far a build of an index folder came, and whether another call is the same build."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from classic_rc.errors import DataError, UsageError
from classic_rc.io.json import Node
from classic_rc.retrieval.manifest import MANIFEST, Manifest, check_analyzer, read_json
from classic_rc.retrieval.reading import Input
from classic_rc.retrieval.storage import check_content, map_arrays, write_json
from classic_rc.retrieval.texts import Texts, add_to_fingerprint
from classic_rc.text.analyzers import Analyzer

BUILDING = "building.json"
"""The manifest of an unfinished build, and how far it came."""


@dataclass(frozen=True)
class Plan:
    """What a build was asked for.

    Parameters
    ----------
    inputs : sequence of Input
    analyzer : Analyzer
    segment_sentences : int
    append : bool
    """

    inputs: Sequence[Input]
    analyzer: Analyzer
    segment_sentences: int
    append: bool

    @property
    def options(self) -> dict[str, Any]:
        """All of it but the inputs' content, as JSON."""
        return {
            "analyzer": self.analyzer.signature,
            "segment_sentences": self.segment_sentences,
            "append": self.append,
            "inputs": [f"{source.name} ({source.settings})" for source in self.inputs],
        }

    @property
    def stamps(self) -> list[str | None]:
        """The inputs' content."""
        return [source.stamp for source in self.inputs]

    @property
    def identity(self) -> str | None:
        """What tells this plan from others; None where the inputs' content is not known before they are read."""
        if None in self.stamps:
            return None
        return hashlib.sha256(json.dumps([self.options, self.stamps]).encode("utf-8")).hexdigest()


class Position(NamedTuple):
    """How far a build came.

    Parameters
    ----------
    input : int
        Which input was being read, from 0.
    record : int
        The number of its last record that was looked at.
    taken : int
        How many sentences of that record are in a segment.
    sha256 : str
        Of the input up to that record; empty where none was looked at.
    """

    input: int = 0
    record: int = 1
    taken: int = 0
    sha256: str = ""


_START = Position()


@dataclass
class State:
    """What there is so far.

    Parameters
    ----------
    manifest : Manifest
        Of the finished segments.
    position : Position
    digest : hash object
        Of the sentences.
    """

    manifest: Manifest
    position: Position = _START
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    @classmethod
    def of(cls, folder: Path, plan: Plan) -> State:
        """What a folder holds that a plan can go on from.

        Raises
        ------
        UsageError
            It holds something else.
        DataError
            It is damaged, or the inputs have changed.
        """
        finished = Manifest.read(folder) if (folder / MANIFEST).exists() else None
        if finished and finished.built_from == plan.identity:
            return cls(finished)
        if (folder / BUILDING).exists():
            state = cls._interrupted(folder, plan)
        else:
            state = cls(_base(finished, folder, plan))
        for segment in state.manifest.segments:
            check_content(folder, segment.file)
            arrays = map_arrays(folder, segment.file)
            add_to_fingerprint(state.digest, Texts.of_arrays(arrays, "sentence").coded())
        return state

    @classmethod
    def _interrupted(cls, folder: Path, plan: Plan) -> State:
        options, stamps, state = read_json(folder / BUILDING, cls._parts)
        different = [name.replace("_", " ") for name, value in plan.options.items() if options.get(name) != value]
        if different:
            raise UsageError(
                f"{folder} holds an unfinished build that differs in its {' and '.join(different)}: "
                f"go on with the same arguments, or remove {folder / BUILDING} to give it up"
            )
        for source, stamp in list(zip(plan.inputs, stamps, strict=True))[: state.position.input]:
            if source.stamp != stamp:
                raise changed(source.name)
        return state

    @classmethod
    def _parts(cls, node: Node) -> tuple[Mapping[str, Any], Sequence[str | None], State]:
        """The options, the stamps and the state."""
        position = node.child("position")
        reached = Position(position.integer(0), position.integer(1), position.integer(2), position.text(3))
        state = cls(Manifest.from_node(node.child("manifest")), reached)
        return node.child("options").value, node.sequence("stamps"), state

    def write(self, folder: Path, plan: Plan) -> None:
        """Note it in a folder."""
        content = {"options": plan.options, "stamps": plan.stamps, "position": self.position}
        write_json(folder / BUILDING, {**content, "manifest": self.manifest.to_dict()})


def changed(name: str) -> DataError:
    """The error for an input that is not what it was when an interrupted build read it."""
    return DataError(
        "changed since the build was interrupted",
        source=name,
        hint=f"Remove {BUILDING} from the index folder to give that build up, and begin again",
    )


def _base(finished: Manifest | None, folder: Path, plan: Plan) -> Manifest:
    """What a new build starts from."""
    if finished and not plan.append:
        raise UsageError(f"{folder} holds an index: --append adds to it; or name another folder")
    if finished:
        if check_analyzer(finished, str(folder), thoroughly=True) != plan.analyzer:
            raise UsageError(f"{folder} was built with analyzer {finished.analyzer}: give the same to add to it")
        return finished
    if plan.append:
        raise UsageError(f"{folder} holds no index to add to")
    own = ("lock", "segment-*", f"{BUILDING}.tmp")
    if others := [path.name for path in folder.iterdir() if not any(map(path.match, own))]:
        raise UsageError(f"{folder} holds other files, such as {others[0]}: name a new or empty folder")
    return Manifest.empty(plan.analyzer)
