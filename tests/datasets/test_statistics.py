"""Statistics: definitions on handmade questions, and the papers' figures on their data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.studies.paper_statistics import (
    PAPERS,
    measure_paper,
    record_entities,
    sentence_distance,
    used_sentences,
    verbatim,
)
from classic_rc.datasets import load
from classic_rc.datasets.statistics import (
    DatasetContents,
    MeasuredValues,
    Total,
    describe_datasets,
    measure_label_balance,
)
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.text.encode import TextEncoder

GARDEN = Passage("g", "Nora planted beans. She won't rest.")
STATION = Passage("s", "The train left.")


def question(id: str, passage: Passage, text: str, options: list[str], gold, **meta) -> Question:
    task = Task.MULTIPLE_ANSWER
    return Question(id, passage, text, tuple(map(Candidate, options)), gold, task, meta)


QUESTIONS = [
    question(
        "1",
        GARDEN,
        "What did Nora plant?",
        ["Beans", "two cellos"],
        frozenset({0}),
        sentences_used=(0, 3, 4),
    ),
    question(
        "2",
        GARDEN,
        "Who rests?",
        ["nobody", "the train", "NORA"],
        frozenset({0, 2}),
        sentences_used=(1,),
    ),
    question("3", STATION, "what left", ["The  Train"], frozenset(), sentences_used=()),
    question("4", STATION, "When?", ["at noon"], None),
]
DATA = Dataset(QUESTIONS, "mine", "dev")


def measured(function):
    return function(DatasetContents(DATA, TextEncoder("whitespace"))).numbers.tolist()


def common(*datasets, analyzer="whitespace"):
    table = describe_datasets(datasets, analyzer)
    return table, {row.statistic.label: row.measures for row in table.rows}


def test_the_common_table_counts_texts_and_tokens():
    table, rows = common(DATA)
    assert table.columns == ("mine",)
    assert [rows[name][0].value for name in ("passages", "questions", "candidates")] == [2, 4, 7]
    assert rows["questions a passage"][0].numbers.tolist() == [2, 2]
    assert rows["candidates a question"][0].numbers.tolist() == [2, 3, 1, 1]
    assert rows["right ones a question"][0].numbers.tolist() == [1, 2, 0]
    assert rows["tokens a passage"][0].numbers.tolist() == [6, 3]
    assert rows["sentences a passage"][0].numbers.tolist() == [2, 1]
    assert rows["tokens a question"][0].numbers.tolist() == [4, 2, 2, 1]
    assert rows["tokens a right answer"][0].numbers.tolist() == [1, 1, 1]
    assert rows["right answers verbatim %"][0].numbers.tolist() == [True, False, True]
    assert rows["questions with what %"][0].value == 0.5
    assert rows["questions with when %"][0].value == 0.0  # "When?" has no blank before its mark


def test_parts_of_one_dataset_are_pooled_over_texts_not_over_parts():
    train = Dataset([replace(QUESTIONS[2], id="5")], "other", "train")
    table, rows = common(DATA, train)
    assert table.columns == ("mine", "other", "all")
    assert [measure.value for measure in rows["tokens a question"]] == [2.25, 2.0, 2.2]
    assert [measure.value for measure in rows["questions"]] == [4, 1, 5]
    assert rows["vocabulary"][2].value == rows["vocabulary"][0].value


def test_different_datasets_are_not_pooled():
    table, _ = common(load("sample:cloze"), load("sample:multi-span"))
    assert table.columns == ("sample:cloze", "sample:multi-span")


def test_the_balance_of_right_options_is_tested_as_scipy_tests_it():
    stats = pytest.importorskip("scipy.stats")
    passage = Passage("p", "It rained.")
    golds = np.random.default_rng(3).choice(4, size=60, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    questions = [
        Question(
            f"q{i}",
            passage,
            "Did it?",
            tuple(Candidate(f"option {j}") for j in range(4)),
            frozenset({gold}),
            Task.SINGLE_CHOICE,
        )
        for i, gold in enumerate(golds)
    ]
    balance = measure_label_balance(Dataset(questions, name="made"))
    test = stats.chisquare(np.bincount(golds, minlength=4))
    assert (balance.chi_square, balance.p) == pytest.approx(
        (test.statistic, test.pvalue), rel=1e-12
    )
    assert balance.positions == tuple(np.bincount(golds, minlength=4).tolist())


def test_what_a_dataset_lacks_is_left_out():
    _, rows = common(load("sample:multi-span"))
    assert "candidates a question" not in rows
    assert "tokens a right answer" in rows


def test_a_dataset_of_several_splits_is_taken_apart():
    questions = [
        replace(q, meta={"split": s})
        for q, s in zip(QUESTIONS, ("dev", "dev", "train", "train"), strict=True)
    ]
    table, rows = common(Dataset(questions, "own"))
    assert table.columns == ("own.dev", "own.train", "all")
    assert [measure.value for measure in rows["questions"]] == [2, 2, 4]


def test_multirc_counts_sentences_and_verbatim_options():
    assert measured(used_sentences) == [3, 1]
    assert measured(sentence_distance) == [3, 1]
    assert measured(verbatim(right=True)) == [True, False, True]
    assert measured(verbatim(right=False)) == [False, False, True]


def test_record_counts_mentions_once_a_passage():
    assert measured(record_entities) == [3, 1]


def test_measures_have_mean_spread_and_quartiles():
    values = MeasuredValues(np.array([1, 2, 3, 6]))
    assert (values.value, values.spread) == (3.0, pytest.approx(math.sqrt(3.5)))
    assert values.to_dict() == {
        **{"n": 4, "mean": 3.0, "sd": values.spread, "min": 1.0, "q25": 1.75, "median": 2.5},
        **{"q75": 3.75, "max": 6.0},
    }
    assert MeasuredValues(np.array([])).to_dict() == {"n": 0}
    assert MeasuredValues(np.array([])).value is None
    assert Total(2) + Total(3) == Total(5)
    assert (Total(frozenset("ab")) + Total(frozenset("bc"))).value == 3


def test_statistics_equal_table_3_of_mctest(shared_data):
    """Means of what stands between blanks; the published ones have the test stories too."""
    names = ("mc160.train", "mc160.dev", "mc500.train", "mc500.dev")
    rows = measure_paper(
        PAPERS["MCTest"], [load(shared_data / "mctest" / f"{name}.tsv") for name in names]
    )
    assert [measure.value for measure, _ in rows["stories"].values()] == [100, 350]
    means = {
        label: [round(measure.value, 2) for measure, _ in cells.values()]
        for label, cells in rows.items()
    }
    assert means["words a story"] == [204.96, 214.61]
    assert means["words a question"] == [7.88, 7.75]
    assert means["words an answer"] == [3.25, 3.44]
    for label, tolerance in (
        ("words a story", 3),
        ("words a question", 0.15),
        ("words an answer", 0.15),
    ):
        for measure, published in rows[label].values():
            assert measure.value == pytest.approx(published, abs=tolerance)


def test_statistics_equal_table_2_of_multirc(shared_data):
    files = ("train_456-fixedIds.json", "dev_83-fixedIds.json")
    rows = measure_paper(
        PAPERS["MultiRC"], [load(shared_data / "multirc" / file) for file in files]
    )
    printed = {
        label: (round(cells["all"][0].value, 2), round(cells["all"][0].spread, 2))
        for label, cells in rows.items()
    }
    assert printed["tokens a paragraph"] == (262.16, 91.47)
    assert printed["sentences a paragraph"] == (14.39, 4.01)
    assert printed["sentences used"] == (2.33, 0.59)
    assert printed["distance between them"] == (2.02, 2.18)
    for label in (
        "tokens a paragraph",
        "sentences a paragraph",
        "tokens a question",
        "tokens an option",
    ):
        mean, spread = rows[label]["all"][1]
        assert printed[label] == (pytest.approx(mean, rel=0.02), pytest.approx(spread, rel=0.04))


@pytest.mark.slow
def test_lengths_of_race_dev_equal_the_paper(shared_data):
    data = load(shared_data / "race" / "RACE-train-dev.tar.gz", split="dev")
    rows = measure_paper(PAPERS["RACE"], [data])
    assert [rows["questions, dev"][c][0].value for c in ("RACE-M", "RACE-H", "all")] == [
        1436,
        3451,
        4887,
    ]
    assert all(measure is None for measure, _ in rows["questions, test"].values())
    for label, tolerance in (
        ("question length", 0.2),
        ("option length", 0.1),
        ("passage length", 5),
    ):
        for measure, published in rows[label].values():
            assert measure.value == pytest.approx(published, abs=tolerance)


@pytest.mark.slow
def test_statistics_equal_table_3_of_race(shared_data):
    """Question and option lengths to 0.1; passages as near as the missing 1,407 test articles
    allow.
    """
    rows = measure_paper(PAPERS["RACE"], [load(shared_data / "race" / "RACE-train-dev.tar.gz")])
    for label in ("questions, train", "questions, dev"):
        assert all(measure.value == published for measure, published in rows[label].values())
    for label in ("question length", "option length"):
        for measure, published in rows[label].values():
            assert measure.value == pytest.approx(published, abs=0.1)
    for column, n_test in (("RACE-M", 362), ("RACE-H", 1045), ("all", 1407)):
        measure, published = rows["passage length"][column]
        n = len(measure.numbers)
        implied = (published * (n + n_test) - measure.value * n) / n_test
        assert abs(implied - measure.value) < 2.5 * measure.spread / math.sqrt(n_test)
        assert measure.value == pytest.approx(published, abs=0.3)
