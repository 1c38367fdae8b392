"""The same rows in every way in which tables are stored have one content, or are refused by name.

``python -m tests.datasets.test_values`` prints the ways and their results.
"""

from __future__ import annotations

import csv
import datetime
import importlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.cli.main import main
from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError
from classic_rc.io.json import Node
from classic_rc.io.values import (
    find_lost_form,
    option_texts,
    plain_value,
    read_columns,
    read_nested,
)
from classic_rc.questions import Dataset, describe_difference
from tests.contents import all_options
from tests.errors import raises

WRITERS = ("pandas", "polars", "pyarrow", "datasets")
FORMS = ("CSV", "JSON lines", "Parquet", "Arrow", "memory")
WAYS = [f"{writer} {form}" for writer in WRITERS for form in FORMS]
OTHER_WAYS = [
    "plain Python",
    "JSON list",
    "TSV",
    "pandas NumPy",
    "datasets saved",
    "datasets cache",
]
WAYS += OTHER_WAYS

COLUMNS = "A+B+C"
NAMES = ("Ann", "Bob", "Eve", "Tom", 'Zoé "Z"', "José, Ann\\Bob", "東京", "line one\nline two")
PASSAGE = "Ann met Bob in Rome in 1990. " * 2


def _rows(options: Callable[[int], Any], id: Callable[[int], Any] = "q{}".format) -> list[dict]:
    """Twenty rows; options are a list for three columns or the value of one column."""
    rows = []
    for i in range(20):
        row = {"id": id(i), "passage": f"{PASSAGE}{i}", "question": f"What is {i}?"}
        value = options(i)
        columns = dict(zip("ABC", value, strict=True)) if isinstance(value, tuple) else None
        rows.append(row | (columns or {"options": value}) | {"answer": "AB"[i % 2]})
    return rows


def _day(i: int) -> datetime.date:
    return datetime.date(2020, 1, 1) + datetime.timedelta(days=i)


def _third(i: int, value: Any) -> Any:
    return None if i % 4 == 1 else value


KINDS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "texts": (COLUMNS, _rows(lambda i: tuple(NAMES[(i + k) % 8] for k in range(3)))),
    "letters": (COLUMNS, _rows(lambda i: ("B", "A", "C"))),
    "years": (COLUMNS, _rows(lambda i: (1990 + i, 1970 + i, _third(i, 1950 + i)))),
    "day as id": (COLUMNS, _rows(lambda i: ("Ann", "Bob", _third(i, "Eve")), _day)),
    "days": (COLUMNS, _rows(lambda i: (_day(i), _day(i + 30), _third(i, _day(i + 60))))),
    "times": (
        COLUMNS,
        _rows(lambda i: tuple(datetime.datetime(2020, 1, k, i, 30) for k in (1, 2, 3))),
    ),
    "number among texts": (
        COLUMNS,
        _rows(lambda i: ("Ann", 3 if i == 7 else "Bob", _third(i, "Eve"))),
    ),
    "list": ("options", _rows(lambda i: [NAMES[(i + k) % 8] for k in range(3 - i % 2)])),
    "list with null": ("options", _rows(lambda i: ["Ann", NAMES[i % 3 + 1], _third(i, "x")])),
    "list of numbers": ("options", _rows(lambda i: [1990 + i, 1980, _third(i, 1970)])),
    "list, mixed": ("options", _rows(lambda i: ["Ann", 3 if i == 7 else "Bob", "Zoé"])),
    "object": (
        "options",
        _rows(lambda i: {"A": "Ann", "B": NAMES[i % 3 + 1], "C": _third(i, "x")}),
    ),
    "object, short": (
        "options",
        _rows(lambda i: {"A": "Ann", "B": "Bob"} | ({} if i % 4 == 1 else {"C": "Zoé"})),
    ),
    "everything": (
        "options",
        _rows(
            lambda i: [
                ["Ann", "Bob", "Zoé"],
                ["A", "B", "C"],
                [1990, 1991, 1992],
                ["Ann", "Bob", None],
                ["2020-01-01", "2020-01-02", "Eve"],
                ["Ann", 3, "Eve"],
            ][i % 6]
        ),
    ),
}
"""The field of the options and the rows, by what is special about them."""

REFUSED = {
    "the options are JSON texts": ("number among texts",),
    "a date as milliseconds since 1970": ("day as id", "days"),
    "NumPy's print of a list, which has no commas": (
        *("list", "list with null", "list of numbers"),
        *("list, mixed", "everything"),
    ),
}
"""The kinds that may be refused in some ways, by the end of the message."""

TIMES_AS_STORED = {
    "polars CSV": "2020-01-01T00:30:00.000000",
    "pyarrow CSV": "2020-01-01 00:30:00.000000",
    "pandas JSON lines": "1577838600000",
    "datasets JSON lines": "1577838600000",
}
"""Texts that keep the form of their file, because programs write times in different forms."""


def _expected(kind: str) -> Dataset:
    """The content of the rows as texts, without their absent options."""
    plain = []
    for row in KINDS[kind][1]:
        options = row["options"] if "options" in row else [row[column] for column in "ABC"]
        values = list(options.values()) if isinstance(options, dict) else list(options)
        texts = [str(value) for value in values if value is not None]
        plain.append({key: row[key] for key in ("passage", "question", "answer")})
        plain[-1] |= {"id": str(row["id"]), "options": texts}
    return from_rows(plain, fields=_fields("options"), gold_as="letter")


def _fields(candidates: str) -> dict[str, str]:
    return {"id": "id", "passage": "passage", "question": "question", "candidates": candidates} | {
        "gold": "answer"
    }


def _write(way: str, rows: list[dict[str, Any]], folder: Path) -> Any:
    """Store rows in a way; return what can be loaded: a path, a table, or a list."""
    writer, _, form = way.partition(" ")
    names = {"CSV": "x.csv", "JSON lines": "x.jsonl", "Parquet": "x.parquet", "TSV": "x.tsv"}
    path = folder / names.get(form, "x.arrow")
    table = _TABLES[writer](rows, folder)
    if form in ("memory", "Python", "NumPy"):
        return _with_arrays(table) if form == "NumPy" else table
    {
        "pandas CSV": lambda: table.to_csv(path, index=False),
        "pandas JSON lines": lambda: table.to_json(path, orient="records", lines=True),
        "pandas Parquet": lambda: table.to_parquet(path),
        "pandas Arrow": lambda: table.to_feather(path),
        "polars CSV": lambda: table.write_csv(path),
        "polars JSON lines": lambda: table.write_ndjson(path),
        "polars Parquet": lambda: table.write_parquet(path),
        "polars Arrow": lambda: table.write_ipc(path),
        "pyarrow CSV": lambda: importlib.import_module("pyarrow.csv").write_csv(table, path),
        "pyarrow JSON lines": lambda: _write_json(table.to_pylist(), path, "\n"),
        "pyarrow Parquet": lambda: importlib.import_module("pyarrow.parquet").write_table(
            table, path
        ),
        "pyarrow Arrow": lambda: importlib.import_module("pyarrow.feather").write_feather(
            table, str(path)
        ),
        "datasets CSV": lambda: table.to_csv(path),
        "datasets JSON lines": lambda: table.to_json(path),
        "datasets Parquet": lambda: table.to_parquet(path),
        "datasets Arrow": lambda: table.save_to_disk(folder / "saved"),
        "datasets saved": lambda: table.save_to_disk(folder / "saved"),
        "datasets cache": lambda: _load_json(rows, folder),
        "JSON list": lambda: _write_json(rows, path, ""),
        "TSV": lambda: _write_tsv(rows, path),
    }[way]()
    if way == "datasets cache":
        return next(folder.rglob("json-train.arrow"))
    if way == "datasets Arrow":
        return folder / "saved" / "data-00000-of-00001.arrow"
    return folder / "saved" if form == "saved" else path


def _frame(rows: list[dict[str, Any]], folder: Path) -> Any:
    import pandas

    frame = pandas.DataFrame(rows)
    for column in frame.columns:  # as read_csv(parse_dates=...) gives them
        if isinstance(frame[column][0], datetime.date):
            frame[column] = pandas.to_datetime(frame[column])
    return frame


def _polars_frame(rows: list[dict[str, Any]], folder: Path) -> Any:
    import polars

    return polars.DataFrame(rows, infer_schema_length=None)


def _arrow_table(rows: list[dict[str, Any]], folder: Path) -> Any:
    import pyarrow

    return pyarrow.Table.from_pylist(rows)


def _dataset(rows: list[dict[str, Any]], folder: Path) -> Any:
    import datasets

    try:
        return datasets.Dataset.from_list(rows)
    except Exception:  # it has no type for these rows: as JSON, it has one
        return _load_json(rows, folder)


def _load_json(rows: list[dict[str, Any]], folder: Path) -> Any:
    import datasets

    _write_json(rows, folder / "rows.jsonl", "\n")
    source = str(folder / "rows.jsonl")
    return datasets.load_dataset(
        "json", data_files=source, split="train", cache_dir=str(folder / "cache")
    )


_TABLES = {
    "pandas": _frame,
    "polars": _polars_frame,
    "pyarrow": _arrow_table,
    "datasets": _dataset,
    "plain": lambda rows, folder: rows,
    "JSON": lambda rows, folder: rows,
    "TSV": lambda rows, folder: rows,
}


def _with_arrays(frame: Any) -> Any:
    """Return a frame whose lists are arrays: numbers with an absent one are floats."""
    import numpy

    def as_array(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        has_gap = isinstance(value[0], int) and None in value
        return numpy.array(value, dtype=float if has_gap else object)

    return frame.map(as_array)


def _write_json(rows: list[dict[str, Any]], path: Path, end: str) -> None:
    texts = [json.dumps(row, default=str) for row in rows]
    content = "".join(text + end for text in texts) if end else f"[{','.join(texts)}]"
    path.write_text(content)


def _write_tsv(rows: list[dict[str, Any]], path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)


def describe_way(kind: str, way: str, folder: Path) -> str:
    """Return ``same``, the difference, the refusal, or that the program does not write the rows."""
    candidates, rows = KINDS[kind]
    try:
        stored = _write(way, rows, folder)
    except Exception as error:
        return f"not written: {type(error).__name__}"
    fields = _fields(candidates)
    try:
        if isinstance(stored, list):
            dataset = from_rows(stored, fields=fields, gold_as="letter")
        else:
            dataset = load(stored, fields=fields, gold_as="letter")
    except DataError as error:
        return f"refused: {error.problem}"
    difference = describe_difference(_expected(kind), dataset)
    return "same" if difference is None else f"DIFFERENT: {difference}"


def print_table() -> None:
    """Print the ways and their results."""
    for kind in KINDS:
        print(f"\n{kind}")
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                print(f"  {way:20} {describe_way(kind, way, Path(folder))}")


@pytest.mark.parametrize("way", WAYS)
def test_the_same_rows_have_one_content_in_every_way(way, tmp_path):
    for library in WRITERS:
        if way.startswith(library):
            pytest.importorskip(library)
    for kind in KINDS:
        folder = tmp_path / kind
        folder.mkdir()
        result = describe_way(kind, way, folder)
        if result.startswith("refused"):
            expected_forms = [form for form, kinds in REFUSED.items() if kind in kinds]
            assert result.endswith(tuple(expected_forms)), (kind, result)
        elif kind == "times" and way in TIMES_AS_STORED:
            assert result.endswith(f"2020-01-01 00:30:00 / {TIMES_AS_STORED[way]}")
        else:
            assert result == "same" or result.startswith("not written"), (kind, result)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_without_other_libraries(kind, tmp_path):
    simple = ["plain Python", "JSON list", "TSV"]
    results = []
    for way in simple:
        (folder := tmp_path / way).mkdir()
        results.append(describe_way(kind, way, folder))
    assert results == ["same"] * len(simple)


def _columns(rows: list[Any], are_cells: bool = False) -> list[Any]:
    nodes = (Node(row, "rows") for row in rows)
    return [node.value for node in read_columns(nodes, are_cells=are_cells)]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ABC"), inner, max_size=3)
    ),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.sampled_from("xyz"), JSON_VALUES, max_size=3), max_size=6)


@given(ROWS)
def test_plain_values_stay_and_columns_change_whole_numbers_alone(rows):
    assert [plain_value(row) for row in rows] == rows
    changed = _columns(rows)
    assert changed == rows  # 1.0 == 1
    assert _columns(changed) == changed
    assert list(map(json.dumps, _columns(changed))) == list(map(json.dumps, changed))


@given(
    st.lists(st.none() | st.integers(-(10**14), 10**14), min_size=1, max_size=8),
    st.sampled_from(["cell", "column", "member", "list"]),
)
def test_whole_numbers_with_an_absent_one_come_back(numbers, place):
    has_absent = None in numbers
    floats = [None if number is None else float(number) for number in numbers]
    if place == "cell":
        cells = ["" if number is None else str(number) for number in floats]
        cells_read = [row["x"] for row in _columns([{"x": cell} for cell in cells], are_cells=True)]
        expected = ["" if number is None else str(number) for number in numbers]
        assert cells_read == (expected if has_absent else cells)
        return
    rows = {
        "column": [{"x": number} for number in floats],
        "member": [{"x": {"A": number, "B": "text"}} for number in floats],
        "list": [{"x": floats}],
    }[place]
    read = _columns(rows)
    cells_read = [row["x"]["A"] if place == "member" else row["x"] for row in read]
    cells_read = cells_read[0] if place == "list" else cells_read
    assert list(map(repr, cells_read)) == list(map(repr, numbers if has_absent else floats))


def test_what_is_no_column_of_whole_numbers():
    for values in (
        [1.0, 2.0],  # nothing is absent
        [1.5, None, 2.0],
        [1.0, None, "two"],
        [1.0, None, True],
        [float(2**60), None],
    ):
        rows = [{"x": value} for value in values]
        assert list(map(repr, _columns(rows))) == list(map(repr, rows))
    cells = ["1.0", "", "2"]
    assert [row["x"] for row in _columns([{"x": c} for c in cells], are_cells=True)] == cells


def test_rows_wait_only_while_they_may_change():
    read: list[int] = []

    def rows():
        for i in range(10):
            read.append(i)
            yield Node({"x": 1.0 if i < 5 else 1.5, "y": None}, "rows")

    columns = read_columns(rows())
    assert next(columns).value["x"] == 1.0
    assert len(read) == 6


def test_dates_and_other_values_of_python():
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    day = datetime.datetime(2020, 1, 2)
    values = {"x": day, "y": numpy.array(["2020-01-02"], "M8[ns]"), "z": (pandas.NaT, pandas.NA)}
    assert _columns([plain_value(values)]) == [
        {"x": "2020-01-02", "y": ["2020-01-02"], "z": [None, None]}
    ]
    later = day.replace(hour=5)
    rows = _columns([plain_value({"x": time}) for time in (day, later)])
    assert [row["x"] for row in rows] == ["2020-01-02 00:00:00", "2020-01-02 05:00:00"]
    row = {"passage": "P", "question": "Q", "candidates": ["a", {1, 2}], "gold": 0}
    with raises(DataError, field="candidates", found="a set", where="row 0"):
        from_rows([row])


def test_types_of_arrow_are_read_or_refused_by_name(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    storage = pyarrow.array(["x", "y"])
    opaque = pyarrow.opaque(pyarrow.string(), "point", "maps")
    row = {"passage": ["P", "Q"], "question": ["q", "r"], "gold": [0, 1]}
    options = pyarrow.array([['"Zo\\u00e9"', "3", "null"]] * 2, pyarrow.list_(pyarrow.string()))
    table = pyarrow.table(row | {"candidates": options.cast(pyarrow.list_(pyarrow.json_()))})
    assert all_options(load(table)) == [["Zoé", "3"]] * 2
    place = pyarrow.ExtensionArray.from_storage(opaque, storage)
    with raises(DataError, field="place", found="the extension type arrow.opaque"):
        load(table.append_column("place", place))


def test_numbers_of_pandas_in_our_own_schema(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(
        "id,passage,question,candidate_0,candidate_1,candidate_2,gold\n"
        "1.0,P,Q,1990,1991,1992.0,2.0\n2.0,P,R,1990,1991,,\n,P,S,1970,1971,1975.0,0.0\n"
    )
    dataset = load(path)
    assert [texts[2:] for texts in all_options(dataset)] == [["1992"], [], ["1975"]]
    assert [q.gold for q in dataset] == [{2}, None, {0}]
    assert [q.id for q in dataset] == ["1", "2", "line-4"]


@given(st.lists(st.text(max_size=6) | st.integers() | st.none(), min_size=1, max_size=4))
def test_lists_in_texts_are_read_as_lists(values):
    assert read_nested(json.dumps(values)) == values
    if all(value is None or str(value).isprintable() for value in values):
        assert read_nested(repr(values)) == values
    texts = option_texts(values)
    as_texts = [value if value is None else str(value) for value in values]
    assert texts == as_texts[: len(texts)]
    assert not texts or texts[-1] is not None
    assert all(value is None for value in values[len(texts) :])


def test_lists_that_lost_their_form_are_refused():
    numpy = pytest.importorskip("numpy")
    for values in (["Ann", "Eve"], [1990, 1991], [1.5, 2.0], ["it's", 'a "b"'], ["one\ntwo", "x"]):
        text = str(numpy.array(values))
        assert read_nested(text) == text
        assert find_lost_form(text, is_list=True), text
    assert find_lost_form("1577836800000")
    row = {"p": "Ann met Eve.", "q": "Who met?", "a": str(numpy.array(["Ann", "Eve"]))}
    with raises(DataError, field="a", expected="a list in JSON"):
        from_rows([row], fields="passage=p,question=q,gold=a,task=multi-span")
    for text in ("1992", "0", "1577836800001", "[sic]", "١٩٩٢", "86400000"):
        assert find_lost_form(text, is_list=True) is None


def test_compare_names_the_first_difference(tmp_path, capsys):
    text = (
        "id,passage,question,candidate_0,candidate_1,gold\n1,It opened in 1992.,When?,1991,{},1\n"
    )
    for name, year in (("one", "1992"), ("other", "1992.5")):
        (tmp_path / f"{name}.csv").write_text(text.format(year))
        folder = str(tmp_path / name)
        assert main(["run", f"{folder}.csv", "-s", "lexical", "--save", folder, "-q"]) == 0
    records = [str(tmp_path / "one"), str(tmp_path / "other")]
    difference = "1 option differs: 1992 / 1992.5"
    capsys.readouterr()
    assert main(["compare", *records]) == 2
    assert difference in capsys.readouterr().err
    (tmp_path / "other.csv").unlink()  # then only one of them can be read
    assert main(["compare", *records]) == 2
    assert difference not in capsys.readouterr().err


if __name__ == "__main__":
    print_table()
