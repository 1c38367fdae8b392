"""Our figures against published ones, on the datasets' own files and on small handmade ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc.commands.reproduce.reproduction import (
    ReproducedFigure,
    reproduce,
    reproduction_records,
    reproduction_table,
)
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.literature import load_published
from tests.errors import raises
from tests.tables import texts

pytestmark = pytest.mark.ci  # real data


def stories(split: str, n: int = 4) -> Dataset:
    """Stories that call themselves MC160's."""
    options = (Candidate("a red fox"), Candidate("hens"), Candidate("bread"), Candidate("rain"))
    questions = []
    for i in range(n):
        passage = Passage(f"mc160.{split}.{i}", "The red fox ran. Hens slept.")
        meta = {"type": "one" if i % 2 else "multiple"}
        question = Question(
            f"{passage.id},0",
            passage,
            "Who ran?",
            options,
            frozenset({0}),
            Task.SINGLE_CHOICE,
            meta,
        )
        questions.append(question)
    return Dataset(questions, f"mc160.{split}", split, "mctest")


@pytest.fixture(scope="module")
def mctest(shared_data):
    names = ("mc160.train", "mc160.dev", "mc500.train", "mc500.dev")
    files = [str(shared_data / "mctest" / "scores" / "RTE" / f"{name}.scores") for name in names]
    return reproduce(
        [load(shared_data / "mctest" / f"{name}.tsv") for name in names], {"rte": files}
    )


def test_what_is_documented_as_exact_comes_out(mctest):
    exact = [r for r in mctest if r.reproduction.exact and r.problem is None]
    assert len(exact) > 30
    assert [r.published for r in exact if r.agrees is not True] == []
    assert not any(r.fails for r in mctest)


def test_every_difference_has_a_reason(mctest):
    assert all(r.reason for r in mctest if r.agrees is not True)
    assert all(r.reason is None for r in mctest if r.agrees)


def test_figures_over_several_files(mctest):
    figures = {(r.published.system, r.data, r.published.subset): r for r in mctest}
    assert figures["SW+D (port)", "mc160.dev + mc500.dev", None].n == 320
    assert figures["SW+D (port)", "mc160.dev + mc500.dev", None].ours == pytest.approx(50.9375)
    merged = figures["SW+D (port)", "mc160.train + mc160.dev", "one"]
    assert (merged.n, round(merged.ours, 2)) == (185, 59.46)


def test_a_missing_file_is_named_with_its_option(mctest):
    problems = {r.problem for r in mctest if r.published.system.endswith("combined")}
    assert problems == {"not run: needs a file: add --file annotations=FILE"}


def test_what_learns_needs_its_training_split(shared_data):
    results = reproduce([load(shared_data / "multirc" / "dev_83-fixedIds.json")])
    assert {r.problem for r in results if r.published.system == "SurfaceLR"} == {
        "not run: needs MultiRC train: add it to the data"
    }
    everything = [r for r in results if r.published.system == "Everything selected"]
    assert [r.agrees for r in everything] == [True] * 3


def test_another_split_is_shown_but_not_compared():
    results = reproduce([stories("dev")])
    uncompared = [r for r in results if not r.is_same_data]
    assert {r.published.split for r in uncompared} == {"test", "train+dev"}
    assert all(r.agrees is None and not r.fails for r in uncompared)
    assert all("ours on mc160.dev" in (r.reason or "") for r in uncompared if r.problem is None)


def test_content_that_is_not_the_official_files_is_no_failure():
    results = [r for r in reproduce([stories("dev")]) if r.is_same_data and r.agrees is False]
    assert {r.reason for r in results} == {"the data differs from the official file"}
    assert not any(r.fails for r in results)


def test_an_undocumented_difference_fails():
    row = next(row for row in load_published().rows if row.reproduction == "sw-release")
    result = ReproducedFigure(
        row, load_published().reproductions["sw-release"], "mc160.dev", 120, float(row.value) + 0.02
    )
    assert result.fails
    assert result.reason.startswith("UNEXPLAINED")
    assert not replace(result, ours=float(row.value) + 0.004).fails
    assert not replace(result, is_official=False).fails


def test_rounding_is_to_the_printed_digits():
    row = next(row for row in load_published().rows if str(row.value) == "50.9")
    result = ReproducedFigure(row, load_published().reproductions["mcobzarenco"], "d", 320, 50.9375)
    assert result.agrees
    assert replace(result, ours=50.96).agrees is False


def test_the_table_and_the_records():
    results = reproduce([stories("dev")])
    table = reproduction_table(results)
    assert table.title.startswith("Published figures: ")
    assert len(texts(table)) == len(results)
    records = reproduction_records(results)
    row, record = texts(table)[0], records[0]
    assert row[0] == record["system"]
    assert row[5] == f"{record['ours']:.2f}"
    assert float(row[7]) == pytest.approx(record["difference"], abs=0.005)
    assert row[8:10] == [record["reason"], record["source"]]


def test_data_that_nothing_is_published_about_is_refused():
    with raises(UsageError, field="datasets", found="sample:cloze"):
        reproduce([load("sample:cloze")])
