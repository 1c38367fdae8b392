"""A damaged file of any reader is either read or refused with one error, never anything else."""

from __future__ import annotations

import contextlib
import copy
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from classic_rc.datasets import READERS, from_rows, load
from classic_rc.errors import DataError, MissingPackageError, UsageError
from tests.depth import examples

_FUZZ = settings(
    max_examples=examples(6, 60), suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 50),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(
        [
            "",
            "A",
            "<b>Sent 1: </b>x<br>",
            "@placeholder",
            "middle7.txt",
            10**30,
            [],
            {},
            [[]],
            [{}],
            [0, 1],
        ]
    ),
    st.recursive(
        st.none() | st.text(max_size=3),
        lambda x: st.lists(x) | st.dictionaries(st.text(max_size=3), x),
    ),
)


def _places(value, keys=()):
    """The paths to all the values inside a JSON value."""
    yield keys
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, element in inner:
        yield from _places(element, (*keys, key))


@st.composite
def _mutated(draw, value):
    """A JSON value with some values replaced, doubled or left out."""
    for _ in range(draw(st.integers(1, 3))):
        places = [keys for keys in _places(value) if keys]
        if not places:
            return draw(_ODD)
        *keys, last = draw(st.sampled_from(places))
        holder = value
        for key in keys:
            holder = holder[key]
        action = draw(st.sampled_from(["replace", "remove", "repeat"]))
        if action == "remove":
            del holder[last]
        elif action == "repeat" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        else:
            holder[last] = copy.deepcopy(draw(_ODD))
    return value


# the last for bytes that look like Arrow, without pyarrow
REFUSALS = (DataError, UsageError, MissingPackageError)


def _read_or_refused(path, reader):
    for name in {reader, None}:
        strict = lenient = None
        with contextlib.suppress(*REFUSALS):
            strict = load(path, name)
            assert len(strict) > 0
            assert strict.fingerprint
        with contextlib.suppress(*REFUSALS):
            lenient = load(path, name, skip="bad")
            assert len(lenient) > 0
            assert [*lenient.log.places] == [question.id for question in lenient]
            assert all(error.kind and error.place for error in lenient.log.left_out)
        if strict is not None:  # what can be read strictly is read alike
            assert lenient is not None
            assert (lenient.fingerprint, lenient.log.left_out) == (strict.fingerprint, ())


@given(data=st.data())
@_FUZZ
def test_wrong_types_at_any_place(json_form, tmp_path, write, content, data):
    value = data.draw(_mutated(content(json_form)))
    path = write(tmp_path, json_form, json.dumps(value))
    _read_or_refused(path, json_form.removesuffix("-line"))


@given(data=st.data())
@_FUZZ
def test_damaged_files_are_read_or_refused(form, tmp_path, write, data):
    path = write(tmp_path, form)
    damaged = bytearray(path.read_bytes())
    for position, byte in data.draw(
        st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4)
    ):
        damaged[position % len(damaged)] = byte
    start, end = data.draw(st.tuples(st.integers(0, len(damaged)), st.integers(0, len(damaged))))
    if data.draw(st.booleans()):
        damaged[start:end] = data.draw(
            st.sampled_from([b"", b"\n", b'"', b",", b"\t", b"[", b"}", b"null", b"NaN", b"1e999"])
        )
    path.write_bytes(damaged)
    _read_or_refused(path, form.removesuffix("-line"))


@given(
    data=st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
@_FUZZ
def test_random_bytes_are_read_or_refused(tmp_path, data):
    path = tmp_path / "a"
    path.write_bytes(data)
    for reader in READERS:
        _read_or_refused(path, reader)


@given(data=st.data())
@_FUZZ
def test_fields_of_any_rows_are_read_or_refused(tmp_path, data):
    row = {
        "p": "Ann sang.",
        "q": {"t": "Who sang?"},
        "c": [{"x": "Ann"}, {"x": "Bob"}],
        "g": "A",
        "i": 7,
    }
    value = data.draw(_mutated(row))
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(value), "utf-8")
    coding = data.draw(st.sampled_from([None, "index0", "index1", "letter", "text", "flags"]))
    with contextlib.suppress(*REFUSALS):
        load(path, fields="id=i,passage=p,question=q.t,candidates=c.x,gold=g", gold_as=coding)
    with contextlib.suppress(*REFUSALS):
        load(
            path,
            fields="id=i,passage=p,question=q.t,candidates=c.x,gold=g",
            gold_as=coding,
            skip="bad",
        )


@given(
    rows=st.lists(
        _ODD
        | st.dictionaries(
            st.sampled_from(["passage", "question", "candidates", "gold", "task", "meta"]), _ODD
        )
    )
)
@_FUZZ
def test_any_rows_are_read_or_refused(rows):
    for skip in ((), "bad"):
        with contextlib.suppress(*REFUSALS):
            from_rows(rows, skip=skip)


@given(data=st.data())
@_FUZZ
def test_any_columns_of_any_rows(tmp_path, data):
    """Hostile rows with a family of columns, and any coding: read, or refused with one error."""
    keys = ["p", "q", "A", "B", "C", "g"]
    rows = data.draw(
        st.lists(st.dictionaries(st.sampled_from(keys), _ODD | st.sampled_from(["A", "BC", "A,B"])))
    )
    path = tmp_path / "own.json"
    path.write_text(json.dumps(rows), "utf-8")
    fields = data.draw(
        st.sampled_from(
            [
                "candidates=A+B+C,gold=g",
                "candidates=A+B,gold=g",
                "candidates=const:no|yes,gold=g",
                "gold=g",
            ]
        )
    )
    coding = data.draw(st.sampled_from([None, "index0", "index1", "letter", "text", "flags"]))
    for skip in ((), "bad"):
        with contextlib.suppress(*REFUSALS):
            load(path, fields=f"passage=p,question=q,{fields}", gold_as=coding, skip=skip)


@given(text=st.text() | st.text(alphabet=',\n"\tAB1'))
@_FUZZ
def test_any_table_is_read_or_refused(tmp_path, text):
    path = tmp_path / "own.csv"
    path.write_text("passage,question,candidate_0,candidate_1,gold\nP,Q,x,y,0\n" + text, "utf-8")
    _read_or_refused(path, "table")
