"""Sketches of published splits: those that come with the package, and those in the cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.sketches import main
from classic_rc import load
from classic_rc.commands.check import check_dataset
from classic_rc.datasets.known_sketches import (
    SHIPPED,
    known_sketches,
    read_sketch,
    sketch_file,
    sketched_names,
    write_sketch,
)
from classic_rc.questions import Dataset, Task
from classic_rc.sketches import Sketch
from classic_rc.testing import synthetic_dataset


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sketches"


def test_the_sketches_of_the_package_can_be_read_and_are_small():
    sketches = {sketch.name: sketch for sketch in known_sketches()}
    assert list(sketches) == sketched_names() == sorted(sketches)
    race = sketches["race:train"]
    assert (race.n_questions, race.n_passages) == (87_866, 25_135)
    assert all(len(sketch.keys) and len(sketch.grams) for sketch in sketches.values())
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*.npz")) <= 2_000_000


def test_a_sketch_in_the_cache_wins_and_a_broken_one_does_not(cache_folder):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=20)
    path = sketch_file("race:dev", cache_folder)
    write_sketch(Sketch.of(dataset, "race:dev"), path)
    write_sketch(Sketch.of(dataset, "race:test"), sketch_file("race:test", cache_folder))
    assert "race:test" in sketched_names()
    counts = {sketch.name: sketch.n_questions for sketch in known_sketches()}
    assert (counts["race:dev"], counts["race:test"]) == (60, 60)
    path.write_bytes(path.read_bytes()[:-9])
    sketch_file("race:test", cache_folder).write_bytes(b"")
    counts = {sketch.name: sketch.n_questions for sketch in known_sketches()}
    assert (counts["race:dev"], counts.get("race:test")) == (4887, None)


def test_the_script_writes_equal_bytes_of_equal_data(tmp_path, capsys):
    arguments = ["sample:cloze", "mine:dev=sample:cloze", "--output", str(tmp_path)]
    main([*arguments[:1], *arguments[2:]])
    first = sketch_file("sample:cloze", tmp_path).read_bytes()
    main([*arguments[:1], *arguments[2:]])
    assert sketch_file("sample:cloze", tmp_path).read_bytes() == first
    dataset = load("sample:cloze")
    assert f"{len(dataset):,} questions" in capsys.readouterr().out
    sketch = read_sketch(sketch_file("sample:cloze", tmp_path))
    assert np.array_equal(sketch.copied(dataset), Sketch.of(dataset).copied(dataset))


@pytest.mark.parametrize(
    ("selection", "name", "notes"),
    [
        (slice(None), "race.dev", ()),  # the split itself
        (slice(0, 30), "race.dev", ()),
        (slice(0, 30), "mine", ("10 of 10 passages are in race:dev (sketch)",)),
        (slice(None), "mine", ("20 of 20 passages are in race:dev (sketch)",)),
    ],
)
def test_a_check_says_which_published_split_has_the_passages(cache_folder, selection, name, notes):
    generated = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=60, seed=3)
    long = [q for q in generated if len(q.passage.text.split()) > 20]
    passages = list({id(q.passage): q.passage for q in long}.values())[:20]
    questions = [q for q in long if any(q.passage is passage for passage in passages)]
    dataset = Dataset(questions, "race.dev")
    write_sketch(Sketch.of(dataset, "race:dev"), sketch_file("race:dev", cache_folder))
    examined = replace(dataset, questions=questions[selection], name=name)
    report = check_dataset(examined, header=False, draws=10)
    assert tuple(note for note in report.notes if "sketch" in note) == notes
