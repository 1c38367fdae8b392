"""Question categories in a folder of lists, as Smith et al. 2015 released them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classic_rc.errors import DataError
from classic_rc.io.text import read_text


@dataclass(frozen=True, eq=False)
class Categories:
    """Which categories questions belong to.

    Parameters
    ----------
    of_question : mapping of str to frozenset of str
        By question id; questions of no category are left out.
    signature : str
        The folder's name and content, wherever it lies.
    """

    of_question: Mapping[str, frozenset[str]]
    signature: str


def read_categories(path: str | Path) -> Categories:
    """Read a folder that has a file for each category, ``who.txt``, with the id of a question on each line.

    Raises
    ------
    DataError
        There is no such folder, none of its files is a category's, or one names a question twice.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DataError("there is no such folder", source=str(path), hint="Give the folder of who.txt and its like")
    found: dict[str, set[str]] = {}
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.txt")):
        ids = [line.strip() for line in read_text(file).split("\n")]
        for number, id in enumerate(ids, start=1):
            categories = found.setdefault(id, set()) if id else set()
            if file.stem in categories:
                raise DataError("named twice", source=str(file), where=f"line {number}", found=repr(id))
            categories.add(file.stem)
        digest.update("\n".join([file.stem, *ids, ""]).encode("utf-8", "surrogatepass"))
    if not found:
        raise DataError(
            "no category in the folder", source=str(path), expected="who.txt and its like, an id a line"
        )
    of_question = {id: frozenset(categories) for id, categories in found.items()}
    return Categories(of_question, f"{folder.name}@{digest.hexdigest()[:8]}")
