"""What was computed: cells, signatures and comparisons know all that a solver can read.

``python -m tests.test_facts`` prints the inputs and changes, and whether cells are used again.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from classic_rc.cli.main import main
from classic_rc.datasets import from_rows, load
from classic_rc.facts import facts_digest, sentences_digest, values_digest
from classic_rc.questions import Dataset
from classic_rc.results.floors import load_floors
from classic_rc.results.signature import Signature

NAMES = "Ann Bob Eve Tom Kim Zoe Leo Mia".split()
FIELDS = "id=id,passage=text,question=ask,candidates=options,gold=key"


def _rows() -> list[dict[str, Any]]:
    rng = random.Random(3)
    rows = []
    for i in range(40):
        options = rng.sample(NAMES, 4)
        text = f"{options[i % 4]} met {rng.choice(NAMES)} in town {i}. They ate rice with {i}."
        half = text.index(". ") + 1
        question = {"id": f"q{i}", "text": text, "ask": f"Who met someone in town {i}?"}
        gold = {"options": options, "key": i % 4}
        authors = {"m1": {"author": f"a{i % 8}"}, "m2": {"author": f"b{i % 5}"}}
        marks = {"offs": [[0, half], [half + 1, len(text)]], "more": [[0, len(text)]]}
        rows.append(question | gold | authors | marks)
    return rows


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


Suite = dict[str, Any]
"""The settings of the dataset of a suite; its rows are under ``rows``."""


def _suite(**changes: Any) -> Suite:
    settings = {"rows": _rows(), "fields": f"{FIELDS},meta=m1", "group": "author", "cv": 3}
    return {**settings, **changes}


def _each(change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | change(row) for row in _rows()]


def _label_options(row: dict[str, Any]) -> dict[str, Any]:
    return {"options": list(map("({}) {}".format, "ABCD", row["options"]))}


AGAIN, REUSED = "computed again", "reused"
CHANGES: dict[str, tuple[Suite, str]] = {
    "nothing": (_suite(), REUSED),
    "the group's field": (_suite(fields=f"{FIELDS},meta=m2"), AGAIN),
    "no group": (_suite(group=None), AGAIN),
    "values of the group": (_suite(rows=_each(lambda r: {"m1": r["m2"]})), AGAIN),
    "sentences": (_suite(fields=f"{FIELDS},meta=m1,sentences=offs"), AGAIN),
    "other sentences": (_suite(fields=f"{FIELDS},meta=m1,sentences=more"), AGAIN),
    "a new field": (_suite(rows=_each(lambda r: {"new": 1})), AGAIN),
    "the order of keys": (_suite(rows=[dict(sorted(r.items())) for r in _rows()]), REUSED),
    "gold": (_suite(rows=_each(lambda r: {"key": (r["key"] + 1) % 4})), AGAIN),
    "gold as letters": (_suite(rows=_each(lambda r: {"key": "ABCD"[r["key"]]})), REUSED),
    "labels in options": (_suite(rows=_each(_label_options)), REUSED),
    "a passage": (_suite(rows=_each(lambda r: {"text": r["text"].replace("rice", "fish")})), AGAIN),
    "ids": (_suite(rows=_each(lambda r: {"id": f"new {r['id']}"})), AGAIN),
    "folds": (_suite(cv=4), AGAIN),
    "the seed": (_suite(seed=5), AGAIN),
    "ties": (_suite(ties="first"), AGAIN),
    "groups of the report": (_suite(by="author"), REUSED),
}
"""The settings after each change, and what should happen to the cells of ``surface-lr``."""


def run_suite(folder: Path, suite: Suite) -> list[str]:
    """Run a suite in a folder; return for each cell whether it was computed again."""
    _write_rows(folder / "rows.jsonl", suite["rows"])
    lines = ["[datasets.mine]"]
    for name, value in (suite | {"path": "rows.jsonl", "rows": None}).items():
        if value is not None:
            lines.append(f"{name} = {json.dumps(value)}")
    path = folder / "suite.toml"
    path.write_text("\n".join([*lines, "[systems]", 'Learned = "surface-lr"', ""]))
    cells = folder / "out" / "cells"
    before = set(cells.iterdir()) if cells.is_dir() else set()
    assert main(["run", str(path), "--save", str(folder / "out"), "-q"]) == 0
    return [AGAIN] * len(set(cells.iterdir()) - before) or [REUSED]


@pytest.mark.parametrize("change", CHANGES)
def test_cells_are_used_again_where_nothing_that_counts_changed(change, tmp_path):
    assert run_suite(tmp_path, _suite()) == [AGAIN]
    suite, expected = CHANGES[change]
    assert set(run_suite(tmp_path, suite)) == {expected}


def _signature(path: Path, capsys: Any, *arguments: str) -> Signature:
    command = ["run", str(path), "-s", "surface-lr", "--cv", "3", "--format", "json", "-q"]
    assert main([*command, *arguments]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return Signature.parse(run["rows"][0]["signature"])


def test_other_facts_have_other_signatures_and_are_not_compared(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    _write_rows(path, _rows())
    ways = {
        "plain": [FIELDS],
        "one": [f"{FIELDS},sentences=offs"],
        "other": [f"{FIELDS},sentences=more"],
        "grouped": [f"{FIELDS},meta=m1", "--group", "author"],
    }
    signatures = {}
    for name, way in ways.items():
        saved = ("--save", str(tmp_path / name))
        signatures[name] = _signature(path, capsys, *saved, "--fields", *way)
    assert len({str(signature) for signature in signatures.values()}) == 4
    assert len({signature.parts["data"] for signature in signatures.values()}) == 1
    assert "sentences" not in signatures["plain"].parts
    for marked, what in (("one", "sentence marks"), ("other", "sentence marks")):
        assert main(["compare", str(tmp_path / "plain"), str(tmp_path / marked)]) == 2
        assert what in capsys.readouterr().err
        assert main(["table", str(tmp_path / "plain"), str(tmp_path / marked)]) == 2
        assert what in capsys.readouterr().err
    _write_rows(path, _each(lambda r: {"m1": r["m2"]}))
    regrouped = ["--save", str(tmp_path / "again"), "--fields", *ways["grouped"]]
    assert str(_signature(path, capsys, *regrouped)) != str(signatures["grouped"])
    assert main(["compare", str(tmp_path / "grouped"), str(tmp_path / "again")]) == 2
    assert "values of 'author'" in capsys.readouterr().err


def _dataset(**changes: Any) -> Dataset:
    fields = {"id": "id", "passage": "text", "question": "ask", "candidates": "options"}
    return from_rows(_rows(), fields=fields | {"gold": "key"} | changes)


def test_digests_follow_the_content():
    plain, marked = _dataset(), _dataset(sentences="offs")
    assert sentences_digest(plain) is None
    assert sentences_digest(marked) not in (None, sentences_digest(_dataset(sentences="more")))
    assert facts_digest(plain) == facts_digest(_dataset()) != facts_digest(marked)
    grouped, regrouped = _dataset(meta="m1"), _dataset(meta="m2")
    assert values_digest(grouped, "author") != values_digest(regrouped, "author")
    assert plain.fingerprint == marked.fingerprint == grouped.fingerprint


def test_signatures_of_the_floor_have_the_facts_that_they_depend_on():
    for floor in load_floors().values():
        for row in floor.rows:
            parts = Signature.parse(row.signature).parts
            assert "sentences" not in parts
            follows = floor.group is not None and "folds" in parts
            assert (parts.get("groups") or "").startswith(f"{floor.group}@" if follows else "")
            assert ("groups" in parts) == follows


def test_marks_of_releases_are_known(shared_data):
    for name in ("dev_83-fixedIds.json", "train_456-fixedIds.json"):
        dataset = load(shared_data / "multirc" / name)
        assert dataset.passages[0].sentences
        assert sentences_digest(dataset) is None
        assert sentences_digest(dataset[:50]) is not None


if __name__ == "__main__":
    for name, (suite, expected) in CHANGES.items():
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
            run_suite(Path(folder), _suite())
            (signature,) = set(run_suite(Path(folder), suite))
        print(f"{name:28} {signature:16} {'right' if signature == expected else 'WRONG'}")
