"""What several tests of retrieval ask of engines and of index folders."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from classic_rc.retrieval import Engine
from classic_rc.retrieval.storage import MANIFEST, Manifest, read_folder


def shares_of(engine: Engine, query: str, sentence: int) -> dict[str, float]:
    """Return what each term of a query adds to the score of a sentence."""
    return {fact.term: fact.share for fact in engine.term_facts(query, sentence).terms}


def check_index(folder: str | os.PathLike[str]) -> Manifest:
    """Verify a whole index folder, and return its manifest."""
    return read_folder(Path(folder), thoroughly=True)[0]


def edit_manifest(
    folder: Path, change: Callable[[dict[str, Any]], Any], *, signed: bool = True
) -> None:
    """Change the JSON of a manifest, with a new checksum or the old one."""
    path = folder / MANIFEST
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    if signed:
        rest = {name: value for name, value in content.items() if name != "checksum"}
        content["checksum"] = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content), encoding="utf-8")


def segment_files(folder: Path) -> list[Path]:
    """Return the segment files of an index, in the order of the index."""
    return [folder / segment.name for segment in Manifest.read(folder).segments]


def flip_bit(path: Path, place: int, bit: int = 1) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= bit
    path.write_bytes(content)


def join_queries(questions: Sequence[str], options: Sequence[Sequence[str]]) -> list[str]:
    """Return the query of each option of each question."""
    queries = []
    for question, texts in zip(questions, options, strict=True):
        queries += [f"{question} {text}" for text in texts]
    return queries
