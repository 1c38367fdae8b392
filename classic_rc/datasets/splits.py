"""The standard names of splits, the splits in the names of files, and the choice of a split or
subset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

from classic_rc.errors import DataError
from classic_rc.questions import Question

_Item = TypeVar("_Item")
SPLIT_NAMES = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("dev", "development", "val", "valid", "validation"), "dev"),
    "test": "test",
}
"""The standard names of splits, by the names that files have."""


@lru_cache
def find_split_name(name: str) -> str | None:
    """Return the split that a name contains, as it is spelled there; None if it contains none or
    two.

    Examples
    --------
    >>> (
    ...     find_split_name("dev_83-fixedIds"),
    ...     find_split_name("val"),
    ...     find_split_name("RACE-train-dev"),
    ... )
    ('dev', 'val', None)
    """
    split_words = {word for word in re.split(r"[^a-z]+", name.lower()) if word in SPLIT_NAMES}
    return split_words.pop() if len(split_words) == 1 else None


def split_in_meta(question: Question) -> str | None:
    """Return the split that the meta of a question names, or None."""
    return str(question.meta["split"]) if "split" in question.meta else None


def canonical_split(split: str) -> str:
    """Return the standard name of a split.

    Examples
    --------
    >>> canonical_split("validation"), canonical_split("Test"), canonical_split("challenge")
    ('dev', 'test', 'challenge')
    """
    return SPLIT_NAMES.get(split.lower(), split.lower())


def select_part(
    items: list[_Item],
    part_of: Mapping[_Item, str | None],
    requested: str | None,
    normalise: Callable[[str], str],
    kind: str,
    source: str,
) -> list[_Item]:
    """Return the items of the requested part; all items if no part is requested or no split is
    known.
    """
    names = list(dict.fromkeys(name for name in part_of.values() if name is not None))
    if requested is None or (kind == "split" and not names):
        return items
    normalised = normalise(requested)
    matching_names = {name for name in names if normalise(name) == normalised}
    selected = [item for item in items if part_of[item] in matching_names]
    if not selected:
        raise DataError(
            f"no such {kind}",
            source=source,
            field=kind,
            found=", ".join(names) or f"no {kind}",
            expected=repr(requested),
        )
    return selected
