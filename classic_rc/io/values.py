"""What a cell of any source is: a text, a number, a truth, a list, an object, or absent."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from classic_rc.errors import DataError
from classic_rc.io.json import Node, parse_json, read_literal

Convert = Callable[[Any], Any]

_PLAIN = (str, int, bool, type(None))
_WRITTEN_OUT = (date, time, timedelta, Decimal, UUID)
_ABSENT = ("NAType", "NaTType")  # of pandas
_WHOLE_CELL = re.compile(r"-?[0-9]{1,15}\.0")
_MOST_EXACT = 2**53  # A larger float may stand for another whole number.
_COUNTED = re.compile(r"(.*?[^0-9])([0-9]+|[a-z])")  # a stem, and a number or a letter
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


def column_converter(kind: Any, feature: Any = None) -> Convert | None:
    """Return the function that makes values of a type of Arrow plain; None if they are.

    `feature` is what ``datasets`` notes about the column. TypeError names an extension type that
    is unknown.
    """
    from pyarrow import types

    noted = feature.get("_type") if isinstance(feature, dict) else None
    extension = getattr(kind, "extension_name", None)
    if extension == "arrow.json" or noted == "Json":
        return lambda text: plain_value(parse_json(text, "")) if isinstance(text, str) else text
    if extension is not None:
        if extension not in _EXTENSIONS and not extension.startswith("datasets."):
            raise TypeError(f"the extension type {extension}")
        return plain_value
    if noted == "ClassLabel":
        return _label_converter(feature.get("names"))
    if types.is_dictionary(kind):
        return column_converter(kind.value_type, feature)
    if types.is_map(kind):
        inner = column_converter(kind.item_type) or plain_value
        return lambda pairs: {str(key): _convert(inner, value) for key, value in pairs}
    if types.is_struct(kind):
        members = {}
        for i in range(kind.num_fields):
            field = kind.field(i)
            if convert := column_converter(field.type, _feature_of_member(feature, field.name)):
                members[field.name] = convert
        if not members:
            return None
        return lambda row: row | {name: _convert(f, row[name]) for name, f in members.items()}
    if hasattr(kind, "value_type"):  # the kinds of lists
        element = column_converter(kind.value_type, _feature_of_element(feature))
        return element and (lambda values: [_convert(element, value) for value in values])
    is_plain = types.is_integer(kind) or types.is_boolean(kind)
    return None if is_plain or "string" in str(kind) else plain_value


def _convert(convert: Convert, value: Any) -> Any:
    return None if value is None else convert(value)


def _feature_of_member(feature: Any, name: str) -> Any:
    """Return the feature of a member; a sequence of objects is stored as an object of lists."""
    if not isinstance(feature, dict):
        return None
    if "_type" in feature and isinstance(feature.get("feature"), dict):
        inner = feature["feature"].get(name)
        return None if inner is None else {"_type": "List", "feature": inner}
    return feature.get(name)


def _feature_of_element(feature: Any) -> Any:
    if isinstance(feature, list) and feature:
        return feature[0]
    return feature.get("feature") if isinstance(feature, dict) else None


def _label_converter(names: Any) -> Convert | None:
    """Return the function from the number of a class to its name; None if the names say no more
    than the number.

    -1 means that the label is hidden.
    """
    if not isinstance(names, list) or not names or _only_count(names):
        return None

    return lambda label: names[label] if 0 <= label < len(names) else None


def _only_count(names: Sequence[str]) -> bool:
    """Return whether names are numbers from 0, no and yes as numbers, or a stem with a running
    number or letter.
    """
    lower = [str(name).lower() for name in names]
    if lower == ["false", "true"] or lower == [str(i) for i in range(len(names))]:
        return True
    parts = [match.groups() for name in lower if (match := _COUNTED.fullmatch(name))]
    if len(parts) < len(names) or len({stem for stem, _ in parts}) > 1 or len(names) == 1:
        return False
    counts = [[str(i + first) for i in range(len(names))] for first in (0, 1)]
    return [end for _, end in parts] in [*counts, [chr(ord("a") + i) for i in range(len(names))]]


# --------------------------------------------------------------------------------------------------
# Columns.


class _Column:
    """What the values of a column have in common, and the columns in its objects and lists.

    `form` is ``float`` if all values are whole numbers written with a fraction, :class:`Midnight`
    if they are such times, ``object`` if they are neither: then nothing changes.
    """

    def __init__(self) -> None:
        self.form: type | None = None
        self.n_values = self.n_absent = 0
        self.members: dict[str | None, _Column] = defaultdict(_Column)  # None: of lists
        self.closed: set[str] = set()  # the members that do not change

    def note(self, value: Any, is_cell: bool) -> bool:
        """Add a value; return whether it may still change."""
        self.n_values += 1
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
                may_change |= elements.note(element, is_cell)
            self.form = elements.form if elements.form is object else self.form
            return may_change
        if value is None or (is_cell and not value.strip()):
            self.n_absent += 1
            return False
        if type(value) is int:
            return False
        form: type = object
        if (type(value) is float and value.is_integer() and abs(value) < _MOST_EXACT) or (
            is_cell and _WHOLE_CELL.fullmatch(value)
        ):
            form = float
        elif type(value) is Midnight:
            form = Midnight
        self.form = form if self.form in (None, form) else object
        return self.form is not object

    def may_change(self) -> bool:
        """Return whether a value that came may still change."""
        return self.form in (float, Midnight) or any(m.may_change() for m in self.members.values())

    def close(self) -> None:
        """Keep the form of columns of numbers without an absent value."""
        for key, member in self.members.items():
            is_everywhere = key is None or member.n_values == self.n_values - self.n_absent
            if member.form is float and not member.n_absent and is_everywhere:
                member.form = object
            member.close()

    def mend(self, value: Any) -> Any:
        """Return a value in the form of its column."""
        if self.form is object or value is None:
            return value
        if isinstance(value, dict):
            return {key: self.members[key].mend(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.members[None].mend(inner) for inner in value]
        if isinstance(value, Midnight):
            return value.removesuffix(" 00:00:00")
        return value.strip().removesuffix(".0") if isinstance(value, str) else int(value)


def read_columns(rows: Iterable[Node], *, are_cells: bool = False) -> Iterator[Node]:
    """Yield rows with numbers and times in the form that their whole column has.

    A column of whole numbers next to an absent value is one of floats in pandas and NumPy, which
    write ``1992.0``: it is read as whole numbers. Times that are all midnight are dates. With
    `are_cells`, values are the cells of a table. Rows wait only while a value may change.
    """
    columns = _Column()
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
    columns.close()
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
