"""Published figures: their schema, and which of them are about given data."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from importlib.resources import files
from operator import itemgetter

import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.datasets.official import OfficialPart
from classic_rc.decisions import TIE_POLICIES
from classic_rc.metrics import METRICS
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.literature import STATUSES, SUBSETS, PublishedRow, load_published
from classic_rc.results.published import (
    published_figures,
    published_records,
    published_rows,
    recorded_figures,
    subset_mask,
)
from classic_rc.solvers import parse_solver

PLAIN = json.loads(
    files("classic_rc.results").joinpath("published.json").read_text(encoding="utf-8")
)
KEYS = (
    "system dataset split subset n metric value ties tuned_on source status note reproduction"
).split()
DATASETS = {
    *"MC160 MC500 MC160+MC500 RACE MultiRC ReCoRD Quoref DREAM MCScript SQuAD".split(),
    *("ARC Challenge", "ARC Easy", "CNN", "Daily Mail", "CBT", "Who-did-What"),
}


def test_every_figure_has_all_fields_with_known_values():
    for row in PLAIN["rows"]:
        assert list(row) == KEYS, row
        assert row["dataset"] in DATASETS, row
        assert set(row["split"].split("+")) <= {"train", "dev", "test"}, row
        assert row["subset"] is None or row["subset"] in SUBSETS, row
        assert row["n"] is None or row["n"] > 0, row
        assert row["metric"] in METRICS, row
        assert row["value"] is None or 0 <= row["value"] <= 100, row
        assert row["ties"] is None or row["ties"] in TIE_POLICIES, row
        assert row["tuned_on"] in (None, "nothing", "dev", "train and dev"), row
        assert row["source"] in PLAIN["sources"], row
        assert row["status"] in STATUSES, row
        assert row["reproduction"] is None or row["reproduction"] in PLAIN["reproductions"], row
        for text in ("system", "note"):
            assert row[text] is None or row[text] == row[text].strip(), row
            assert row[text] != "", row


def test_no_figure_is_there_twice_and_contradictory_ones_are_both_there():
    key_of = itemgetter("system", "dataset", "split", "subset", "metric", "source", "note")
    keys = list(map(key_of, PLAIN["rows"]))
    assert len(set(keys)) == len(keys)
    values = [row.value for row in rows_of(system="SW", dataset="RACE", subset=None)]
    assert values == [Decimal("32.2"), Decimal("37.3")]  # the table, and the text of the same paper


@pytest.mark.parametrize("name", PLAIN["reproductions"])
def test_reproductions_name_solvers_and_have_figures(name):
    how = load_published().reproductions[name]
    assert any(row.reproduction == name for row in load_published().rows)
    assert how.reason
    spec = re.sub(r"\{(rte|annotations|categories)\}", '"file"', how.solver)
    assert parse_solver(spec) is not None


TRAINED_SYSTEMS = [  # published figures that a trained system is compared with
    ("Smith et al. 2015", "MC160", "test", "74.27"),
    ("Smith et al. 2015", "MC500", "test", "65.96"),
    ("Narasimhan and Barzilay 2015", "MC160", "test", "73.23"),
    ("Narasimhan and Barzilay 2015", "MC500", "test", "63.75"),
    ("Sachan et al. 2015", "MC500", "test", "67.83"),
    ("Wang et al. 2015", "MC160", "test", "75.27"),
    ("Wang et al. 2015", "MC500", "test", "69.94"),
    ("Trischler et al. 2016", "MC160", "test", "74.58"),
    ("Trischler et al. 2016", "MC500", "test", "71.00"),
    ("GBDT++", "DREAM", "dev", "53.3"),
    ("GBDT++", "DREAM", "test", "52.8"),
]


@pytest.mark.parametrize(("system", "dataset", "split", "value"), TRAINED_SYSTEMS)
def test_figures_of_trained_systems_are_those_of_their_papers(system, dataset, split, value):
    row = row_of(system=system, dataset=dataset, split=split, subset=None)
    assert row.value == Decimal(value)
    assert row.status == ("unverified" if dataset == "DREAM" else "verified")


@pytest.mark.parametrize(
    ("system", "values"),
    [
        ("Random", ("24.6", "25.0", "24.9")),
        ("SW", ("37.3", "30.4", "32.2")),
        ("Stanford Attentive Reader", ("44.2", "43.0", "43.3")),
        ("Gated-Attention Reader", ("43.7", "44.2", "44.1")),
    ],
)
def test_the_table_of_race_has_three_test_figures_of_a_system(system, values):
    rows = rows_of(system=system, dataset="RACE")
    in_table = [row for row in rows if row.source.endswith("results table")]
    figures = {row.subset: str(row.value) for row in in_table}
    assert figures == dict(zip(("middle", "high", None), values, strict=True))
    assert {row.split for row in in_table} == {"test"}


def test_bert_on_multirc_has_no_macro_average():
    rows = rows_of(system="BERT-large", dataset="MultiRC", split="test", status="secondary")
    assert rows == rows_of(system="BERT-large", dataset="MultiRC")
    assert {row.metric: str(row.value) for row in rows} == {"f1_a": "70.0", "em0": "24.1"}


def rows_of(**facts) -> list[PublishedRow]:
    rows = list(load_published().rows)
    for key, value in facts.items():
        rows = [row for row in rows if getattr(row, key) == value]
    return rows


def row_of(**facts) -> PublishedRow:
    (row,) = rows_of(**facts)
    return row


def test_figures_keep_the_digits_that_were_printed():
    row = row_of(system="SW", dataset="MC160", split="train+dev", subset=None)
    assert (str(row.value), row.decimals, row.n, row.ties) == ("59.50", 2, 400, "random")
    assert row.to_dict()["value"] == 59.5
    assert row.source.startswith("Richardson")


def test_what_is_unknown_is_no_number():
    row = row_of(system="DSW", dataset="DREAM", split="dev")
    assert row.value is None
    assert row.share.is_nan()
    assert row.decimals == 0


def race(split: str, *levels: str) -> Dataset:
    options = tuple(map(Candidate, "abcd"))
    passage = Passage("p", "Text.")
    facts = passage, "?", options, frozenset({0}), Task.SINGLE_CHOICE
    questions = [Question(f"q{i}", *facts, {"level": level}) for i, level in enumerate(levels)]
    return Dataset(questions, f"race.{split}", split, "race")


def test_an_official_split_has_the_figures_of_all_its_subsets():
    origin, rows = published_rows(race("test", "middle", "high"))
    assert origin == OfficialPart("RACE", "test", None)
    assert {row.subset for row in rows} == {None, "middle", "high"}
    assert {row.dataset for row in rows} == {"RACE"}


def test_data_of_one_subset_has_only_that_subsets_figures():
    _, rows = published_rows(race("test", "high", "high"))
    assert {row.subset for row in rows} == {"high"}


def test_no_row_of_other_data():
    assert published_rows(race("train", "middle"))[1] == []
    assert published_rows(load("sample:cloze")) == (None, [])


def test_the_mask_of_a_subset_has_its_questions_and_is_none_without_any():
    data = race("dev", "middle", "high", "high")
    assert subset_mask(data, "high").tolist() == [False, True, True]
    assert subset_mask(data, None).all()
    assert subset_mask(data, "one") is None
    assert subset_mask(data[1:], None) is None


def test_tables_and_records_have_the_same_figures():
    data = race("test", "middle", "high")
    in_records = [(row["printed"], row["group"]) for row in recorded_figures(data)]
    figures = published_figures(data)
    for (printed, group), figure in zip(in_records, figures, strict=True):
        assert printed == figure.number.printed
        assert (group or [None, None]) == [figure.key, figure.number.group]
    records = published_records(evaluate(data, ["longest"]))
    assert [record["source"] for record in records] == [figure.source for figure in figures]
