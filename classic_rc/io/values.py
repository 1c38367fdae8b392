"""What a cell of any source is: a text, a number, a truth, a list, an object, or absent."""

from __future__ import annotations

import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from string import ascii_lowercase
from typing import Any
from uuid import UUID

from classic_rc.errors import DataError
from classic_rc.io.json import Node, parse_json, read_literal

Convert = Callable[[Any], Any]

PLAIN_VALUES = "texts, numbers, dates, true and false, or lists and objects of them"

_PLAIN = (str, int, bool, type(None))
_WRITTEN_OUT = (date, time, timedelta, Decimal, UUID)
_ABSENT = ("NAType", "NaTType")  # of pandas
_WHOLE_CELL = re.compile(r"-?[0-9]{1,15}\.0")
_MOST_EXACT = 2**53  # A larger float may stand for another whole number.
_JOINED = re.compile(r"""['"]\s+['"]""")
_PRINTED = re.compile(r"""\[.*['"\d.]\s+['"\d-].*\]|[\[{].*\barray\(.*""", re.DOTALL)
_DAY = 24 * 60 * 60 * 1000  # milliseconds
_EPOCH_DAYS = range(1000, 50_000)  # 1972 to 2106
_MOST_DIGITS = 13  # of such a date
_DATE_FORM = "a date as milliseconds since 1970", "Write it as text: frame[name].astype(str)"
_PRINT_FORM = (
    "NumPy's print of a list, which has no commas",
    "Write the list as JSON: frame[name].map(lambda values: json.dumps(list(values)))",
)

_EXTENSIONS = {"arrow.bool8", "arrow.uuid", "arrow.fixed_shape_tensor"}
"""The extension types of Arrow, apart from JSON, whose values Python has."""


class Midnight(str):
    """A date and time that may be only a date: all times of its column must be midnight."""

    __slots__ = ()


def plain_value(value: Any) -> Any:
    """Return a value of Python, NumPy or pandas as JSON has it; TypeError for any other type.

    NaN, ``NaT`` and ``NA`` are absent. Dates and decimals are texts.

    Examples
    --------
    >>> plain_value({"when": date(2020, 1, 1), "options": (1.0, math.nan)})
    {'when': '2020-01-01', 'options': [1.0, None]}
    """
    if type(value) in _PLAIN:
        return value
    if type(value).__name__ in _ABSENT:
        return None
    if hasattr(value, "tolist"):
        kind = getattr(getattr(value, "dtype", None), "kind", None)
        # Python has no nanoseconds: NumPy would count them.
        value = (value.astype(f"{kind}8[us]") if kind in ("M", "m") else value).tolist()
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(key): plain_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(inner) for inner in value]
    if isinstance(value, _WRITTEN_OUT):
        text = str(value)
        return Midnight(text) if text.endswith(" 00:00:00") else text
    if not isinstance(value, _PLAIN):
        raise TypeError(f"a {type(value).__name__}")
    return value


# --------------------------------------------------------------------------------------------------
# Types of Arrow.


class BytesError(TypeError):
    """A column has bytes, as of images and sound."""


def keep_value(value: Any) -> Any:
    """Return a value that is plain."""
    return value


def column_converter(kind: Any, feature: Any = None) -> Convert:
    """Return the function that makes values of a type of Arrow plain.

    `feature` is what ``datasets`` notes about the column. TypeError names an extension type that
    is unknown; of bytes it is :class:`BytesError`.
    """
    from pyarrow import types

    noted = feature.get("_type") if isinstance(feature, dict) else None
    extension = getattr(kind, "extension_name", None)
    convert: Convert = plain_value
    if extension == "arrow.json" or noted == "Json":
        convert = _parse_value
    elif extension is not None:
        if extension not in _EXTENSIONS and not extension.startswith("datasets."):
            raise TypeError(f"the extension type {extension}")
    elif noted == "ClassLabel":
        names = feature.get("names") or ()
        if not _only_count(names):  # -1 is a hidden label
            convert = lambda label: names[label] if 0 <= label < len(names) else None  # noqa: E731
    elif types.is_dictionary(kind):
        return column_converter(kind.value_type, feature)
    elif types.is_map(kind):
        inner = column_converter(kind.item_type)
        convert = lambda pairs: {str(key): inner(value) for key, value in pairs}  # noqa: E731
    elif types.is_struct(kind):
        members: dict[str, Convert] = {}
        for member in map(kind.field, range(kind.num_fields)):
            inner_feature = _inner_feature(feature, member.name)
            members[member.name] = column_converter(member.type, inner_feature)
        if set(members.values()) == {keep_value}:
            return keep_value
        convert = lambda row: {name: f(row[name]) for name, f in members.items()}  # noqa: E731
    elif hasattr(kind, "value_type"):  # the kinds of lists
        element = column_converter(kind.value_type, _inner_feature(feature))
        if element is keep_value:
            return keep_value
        convert = lambda values: [element(value) for value in values]  # noqa: E731
    elif "binary" in str(kind):
        raise BytesError("bytes")
    elif types.is_integer(kind) or "string" in str(kind):
        return keep_value
    return lambda value: None if value is None else convert(value)


def _parse_value(text: Any) -> Any:
    return plain_value(parse_json(text, "") if isinstance(text, str) else text)


def _inner_feature(feature: Any, name: str | None = None) -> Any:
    """Return the feature of a member, or of the elements of a list without a name.

    A sequence of objects is stored as an object of lists.
    """
    if isinstance(feature, list):
        return feature[0] if feature else None
    if not isinstance(feature, dict) or "_type" not in feature:
        return feature.get(name) if isinstance(feature, dict) else None
    inner = feature.get("feature")
    if name is None or not isinstance(inner, dict):
        return inner
    return {"_type": "List", "feature": inner.get(name)}


def _only_count(names: Sequence[str]) -> bool:
    """Return whether names are numbers from 0, no and yes as numbers, or a stem with a running
    number or letter: then they say no more than the number of the class.
    """
    lower = [str(name).lower() for name in names]
    stem = os.path.commonprefix(lower).rstrip("0123456789")  # noqa: RUF071
    n = len(names)
    numbers = list(map(str, range(n + 1)))
    counts = [numbers[:n]]
    if stem and n > 1:
        counts += [numbers[1:], list(ascii_lowercase[:n])]
    return lower == ["false", "true"] or [name.removeprefix(stem) for name in lower] in counts


# --------------------------------------------------------------------------------------------------
# Columns.


class _ValueColumn:
    """What the values of a column have in common, and the columns in its objects and lists.

    `form` is ``float`` if all values are whole numbers, some of them written with a fraction;
    :class:`Midnight` if they are such times; ``object`` if they are neither: then nothing changes.
    """

    def __init__(self) -> None:
        self.form: type | None = None
        self.has_absent = False
        self.closed: set[str] = set()  # the members that do not change
        self.members: dict[str | None, _ValueColumn] = defaultdict(_ValueColumn)  # None: of lists

    def note(self, value: Any, is_cell: bool) -> bool:
        """Add a value; return whether it may still change."""
        may_change = False
        if isinstance(value, dict):
            for key in value.keys() - self.closed:
                member = self.members[key]
                may_change |= member.note(value[key], is_cell)
                if member.form is object:
                    self.closed.add(key)
            return may_change
        if isinstance(value, list):
            elements = self.members[None]
            for element in value:
                if type(element) is not int and elements.form is not object:
                    may_change |= elements.note(element, is_cell)
            self.form = elements.form if elements.form is object else self.form
            return may_change
        if value is None or (is_cell and not value.strip()):
            self.has_absent = True
            return False
        form = _form_of(value, is_cell)
        self.form = form if self.form in (None, form) else object
        return self.form is not object

    def may_change(self) -> bool:
        """Return whether a value that came may still change."""
        if self.form in (float, Midnight):
            return True
        return any(member.may_change() for member in self.members.values())

    def mend(self, value: Any) -> Any:
        """Return a value in the form of its column."""
        if isinstance(value, dict):
            return {key: self.members[key].mend(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.members[None].mend(inner) for inner in value]
        if self.form is Midnight and value is not None:
            return value.removesuffix(" 00:00:00")
        if self.form is not float or not self.has_absent or value is None:
            return value
        return value.strip().removesuffix(".0") if isinstance(value, str) else int(value)


def _form_of(value: Any, is_cell: bool) -> type:
    if type(value) is Midnight:
        return Midnight
    if is_cell:
        return float if _WHOLE_CELL.fullmatch(value) else object
    is_whole = type(value) is float and value.is_integer() and abs(value) < _MOST_EXACT
    return float if is_whole else object


def read_columns(rows: Iterable[Node], *, are_cells: bool = False) -> Iterator[Node]:
    """Yield rows with numbers and times in the form that their whole column has.

    A column of whole numbers next to an absent value is one of floats in pandas and NumPy, which
    write ``1992.0``: it is read as whole numbers. Times that are all midnight are dates. With
    `are_cells`, values are the cells of a table. Rows wait only while a value may change.
    """
    columns = _ValueColumn()
    waiting: list[Node] = []
    for row in rows:
        may_change = isinstance(row.value, dict) and columns.note(row.value, are_cells)
        if not (may_change or waiting):
            yield row
            continue
        waiting.append(row)
        if not columns.may_change():
            yield from waiting
            waiting.clear()
    for row in waiting:
        yield row.with_value(columns.mend(row.value))


# --------------------------------------------------------------------------------------------------
# Values in texts, and options.


def read_nested(text: str) -> Any:
    """Return the list or object that a text writes in JSON or in Python, or the text itself.

    Examples
    --------
    >>> read_nested('["Ann", null]'), read_nested("{'A': 'Ann'}"), read_nested("['Ann' 'Eve']")
    (['Ann', None], {'A': 'Ann'}, "['Ann' 'Eve']")
    """
    if not text.lstrip().startswith(("[", "{")):
        return text
    with suppress(DataError):
        return parse_json(text, "")
    value = read_literal(text)
    # Python joins the texts of a printed array.
    is_joined = isinstance(value, list) and len(value) == 1 and _JOINED.search(text)
    return value if isinstance(value, (list, dict)) and not is_joined else text


def option_texts(values: Sequence[Any]) -> list[Any]:
    """Return options with numbers as texts, without absent ones at the end.

    Examples
    --------
    >>> option_texts(["Ann", 1990, None])
    ['Ann', '1990']
    """
    present = list(values)
    while present and present[-1] is None:
        present.pop()
    return [str(value) if type(value) in (int, float) else value for value in present]


def are_mixed_json(texts: Iterable[str]) -> bool:
    """Return whether texts are values of JSON: some are texts, others are not.

    Examples
    --------
    >>> are_mixed_json(['"Ann"', "3"]), are_mixed_json(['"Ann"', '"Bob"'])
    (True, False)
    """
    kinds = set()
    for text in texts:
        try:
            kinds.add(isinstance(parse_json(text, ""), str))
        except DataError:
            return False
    return len(kinds) == 2


def find_lost_form(text: str, *, is_list: bool = False) -> tuple[str, str] | None:
    """Return how a program wrote a value so that it cannot be read, and what to do; or None.

    With `is_list` the text should be a list, but is none.

    Examples
    --------
    >>> find_lost_form("['Ann' 'Eve']", is_list=True)[0], find_lost_form("1577836800000")[0]
    ("NumPy's print of a list, which has no commas", 'a date as milliseconds since 1970')
    """
    if is_list and _PRINTED.fullmatch(text.strip()):
        return _PRINT_FORM
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        return None
    days, rest = divmod(int(text), _DAY)
    return _DATE_FORM if not rest and days in _EPOCH_DAYS else None
