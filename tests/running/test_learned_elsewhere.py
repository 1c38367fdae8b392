"""What was learned from another dataset says so, and `lexical` stands beside it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from classic_rc import evaluate
from classic_rc.datasets import join_datasets
from classic_rc.datasets.registry import dataset_names
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.result_table import row_notes
from classic_rc.solvers import SurfaceLR, parse_solver, save_solver
from classic_rc.systems import System, learned_elsewhere, with_companions
from classic_rc.testing import synthetic_dataset


def data(
    name: str, reader: str | None = None, seed: int = 0, task: Task = Task.SINGLE_CHOICE
) -> Dataset:
    dataset = synthetic_dataset(task, n_passages=8, seed=seed, name=name)
    questions = [replace(question, id=f"{name} {question.id}") for question in dataset]
    return replace(dataset, questions=questions, reader=reader)


RACE, RACE_DEV = data("race.train", "race"), data("race.dev", "race", 1)
QUAIL = data("quail.dev", "quail", 2)


@pytest.mark.parametrize(
    ("first_name", "second_name", "are_splits"),
    [
        (RACE, RACE_DEV, True),
        (RACE, QUAIL, False),
        (data("mc160.train", "mctest"), data("mc500.dev", "mctest"), True),
        (data("multirc.train", "multirc"), data("superglue.val", "superglue"), True),
        (RACE, data("race", "harness"), True),  # a log of the harness's task
        (RACE, data("mine", "jsonl"), False),
        (data("mine.train", "jsonl"), data("mine_dev", "table"), True),
        (data("train", "jsonl"), data("validation", "jsonl"), True),
        (data("lessons"), data("exam"), False),
        (join_datasets([RACE, data("quail.train", "quail", 3)]), QUAIL, True),
    ],
)
def test_splits_of_one_dataset_have_a_name_in_common(first_name, second_name, are_splits):
    assert (not set(dataset_names(first_name)).isdisjoint(dataset_names(second_name))) == are_splits
    assert learned_elsewhere(SurfaceLR(), second_name, first_name) != are_splits


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize(("tested", "elsewhere"), [(RACE_DEV, False), (QUAIL, True)])
def test_the_row_says_what_was_learned_where(tmp_path, saved, tested, elsewhere):
    solver, train = SurfaceLR(), RACE
    if saved:
        save_solver(solver.fit(RACE), tmp_path / "race.npz")
        solver, train = parse_solver(f"saved,path={tmp_path / 'race.npz'}"), None
    (row,) = evaluate(tested, [solver], train=train).rows
    assert (row.trained_on, row.trained_elsewhere) == ("race.train", elsewhere)
    assert ("learned from race.train, not from this dataset" in row_notes(row)) == elsewhere
    assert f"|trained_on:race.train@{RACE.fingerprint[:8]}|" in row.signature
    names = [system.default_name for system in with_companions([System(solver)], tested, train)]
    assert names == [solver.row_name(), *["lexical"] * elsewhere]
    combined = parse_solver("combination,solvers=[sw; longest]").set_params(
        solvers=[solver, parse_solver("sw")]
    )
    (row,) = evaluate(tested, [combined], train=train).rows
    assert (row.trained_on, row.trained_elsewhere) == ("race.train", elsewhere)


def test_lexical_is_added_once_and_only_where_it_answers():
    two_systems = [System(SurfaceLR()), System(parse_solver("lexical"))]
    assert with_companions(two_systems, QUAIL, RACE) == two_systems
    twice = [System(SurfaceLR()), System(SurfaceLR(C=2.0))]
    assert [s.default_name for s in with_companions(twice, QUAIL, RACE)].count("lexical") == 1
    spans = data("other", task=Task.SPAN)
    ranker = System(parse_solver("span-ranker"))
    assert "lexical" not in [
        s.default_name for s in with_companions([ranker], spans, data("squad", task=Task.SPAN))
    ]


def test_who_learns_nothing_learned_nothing_elsewhere(tmp_path):
    (row,) = evaluate(QUAIL, ["sw"], train=RACE).rows
    assert (row.trained_on, row.trained_elsewhere) == (None, False)
    (row,) = evaluate(QUAIL, [SurfaceLR()], cv=3).rows
    assert (row.trained_on, row.trained_elsewhere) == ("cv3", False)
    missing = parse_solver(f"saved,path={tmp_path / 'none.npz'}")
    assert not learned_elsewhere(missing, QUAIL, None)


def test_a_part_of_the_training_data_under_another_name_is_not_elsewhere(tmp_path):
    rng = random.Random(1)

    def text(n: int) -> str:
        return " ".join("".join(rng.choices("aeiklmnorst", k=7)) for _ in range(n))

    questions = []
    for i in range(30):
        passage = Passage(f"story {i}", text(150))
        for k in range(4):
            options = tuple(Candidate(text(3)) for _ in range(4))
            id_, gold = f"{i}.{k}", frozenset({k})
            question = Question(id_, passage, text(5), options, gold, Task.SINGLE_CHOICE)
            questions.append(question)
    train = Dataset(questions, "mc160.dev", reader="mctest")
    save_solver(SurfaceLR().fit(train), tmp_path / "model.npz")
    solver = parse_solver(f"saved,path={tmp_path / 'model.npz'}")
    renamed_sample = [replace(q, id=f"mine {q.id}") for q in rng.sample(questions, 100)]
    mine = Dataset(renamed_sample, "mine", reader="jsonl")
    (trained_on,) = solver.learned_before
    assert trained_on.copied(mine).sum() == 100
    assert not learned_elsewhere(solver, mine, None)
    (row,) = evaluate(mine, [solver]).rows
    assert not row.trained_elsewhere
    assert learned_elsewhere(solver, QUAIL, None)
    combined = parse_solver("combination,solvers=[sw; longest]").set_params(
        solvers=[solver, parse_solver("sw")]
    )
    assert not learned_elsewhere(combined, mine, None)
