"""The reader of BoolQ: yes/no questions about a passage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from classic_rc.datasets.schema import Schema, SchemaReader, convert_fields, required_keys
from classic_rc.io.json import Node, describe_value

ANSWERS = ("no", "yes")
"""The candidates. The right one is at position 0 for false and 1 for true, as in lm-evaluation-harness."""

_SUPERGLUE_KEYS = {"passage", "question", "idx", "label"}
_HIDDEN_KEYS = ({"passage", "question", "title"}, {"passage", "question", "idx"})


def _is_boolq(row: Mapping[str, Any]) -> bool:
    if "answer" in row:
        return isinstance(row["answer"], bool) and not {"options", "choices", "choice"} & row.keys()
    if "label" in row:
        return row.keys() == _SUPERGLUE_KEYS and _is_number(row["idx"]) and row["label"] in (-1, 0, 1)
    return row.keys() in _HIDDEN_KEYS and ("title" in row or _is_number(row["idx"]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _read_id(row: Node, number: int, split: str | None) -> str | None:
    """Return an id that rows of other splits do not have, as the authors' files have no ids."""
    if row.has("idx"):
        return row.name("idx")
    return None if row.line is None or split is None else f"{split}-{row.line}"


def _read_gold(node: Node) -> int | None:
    key = "answer" if node.has("answer") else "label"
    if not node.has(key):
        return None
    value = node.value[key]
    if isinstance(value, bool) or value in (0, 1):
        return int(value)
    if value == -1:
        return None
    raise node.error("gold is not true or false", field=key, found=describe_value(value), expected="true or false")


BOOLQ = Schema(
    "BoolQ",
    required_keys("passage", "question"),
    convert_fields(
        _read_id,
        passage="passage",
        question="question",
        candidates=lambda row: list(ANSWERS),
        gold=_read_gold,
        meta=lambda row: {"title": row.text("title")} if row.has("title") else {},
    ),
    _is_boolq,
)


class BoolQReader(SchemaReader):
    """BoolQ's JSON lines, the authors' or SuperGLUE's: a question with the candidates ``no`` and ``yes``.

    ``answer`` (the authors) or ``label`` (SuperGLUE) is true or false, or 1 or 0 as in Hugging Face's rows. Gold is
    hidden without it, or if it is -1. SuperGLUE's ``idx`` is the id; the authors' files have none: line 3 of dev
    is ``dev-3``. ``meta["title"]`` is the title of the article.
    """

    name: ClassVar[str] = "boolq"
    title: ClassVar[str] = "BoolQ"
    description: ClassVar[str] = "Yes/no questions about a passage: JSON lines, the authors' or SuperGLUE's."
    citation: ClassVar[str] = (
        "Clark, Lee, Chang, Kwiatkowski, Collins and Toutanova 2019, BoolQ: Exploring the Surprising Difficulty of "
        "Natural Yes/No Questions, NAACL"
    )
    cites = ("clark2019",)
    schemas: ClassVar[tuple[Schema, ...]] = (BOOLQ,)
