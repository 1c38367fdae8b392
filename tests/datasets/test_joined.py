"""Several datasets as one: ids, passages, fingerprints and what cannot be joined."""

from __future__ import annotations

from dataclasses import replace

import pytest

from classic_rc.datasets import join_datasets, load
from classic_rc.datasets.registry import as_dataset
from classic_rc.errors import UsageError
from classic_rc.folds import drop_overlap_with
from classic_rc.questions import Dataset, Task
from classic_rc.testing import synthetic_dataset
from classic_rc.text.spans import SpanGenerator
from tests.errors import raises

FIRST = synthetic_dataset(Task.SINGLE_CHOICE, name="first")
SECOND = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=1, name="second")


def renamed(dataset: Dataset, mark: str) -> Dataset:
    """The same content under other ids."""
    passages = {id(p): replace(p, id=mark + p.id) for p in dataset.passages}
    questions = []
    for q in dataset:
        questions.append(replace(q, id=mark + q.id, passage=passages[id(q.passage)]))
    return replace(dataset, questions=questions)


def test_questions_keep_their_order_and_unique_ids_stay():
    second = renamed(SECOND, "s")
    joined = join_datasets([FIRST, second])
    assert list(joined) == [*FIRST, *second]
    assert joined.passages == (*FIRST.passages, *second.passages)
    assert (joined.name, joined.parts) == ("first + second", (FIRST, second))
    assert (joined.read_with, joined.notes) == (None, ())


def test_the_fingerprint_covers_every_part():
    second = renamed(SECOND, "s")
    joined = join_datasets([FIRST, second])
    assert joined.fingerprint not in {FIRST.fingerprint, second.fingerprint}
    *others, last = second
    changed = replace(second, questions=[*others, replace(last, text=last.text + "?")])
    assert join_datasets([FIRST, changed]).fingerprint != joined.fingerprint
    assert join_datasets([second, FIRST]).fingerprint != joined.fingerprint


@pytest.mark.parametrize("names", [("first", "second"), ("same", "same")])
def test_ids_that_collide_begin_with_the_name_of_their_dataset(names):
    parts = [replace(FIRST, name=names[0]), replace(SECOND, name=names[1])]
    assert {q.id for q in FIRST} & {q.id for q in SECOND}
    joined = join_datasets(parts)
    marks = names if names[0] != names[1] else ("same#1", "same#2")
    first_ids = [f"{marks[0]}/{q.id}" for q in FIRST]
    second_ids = [f"{marks[1]}/{q.id}" for q in SECOND]
    assert [q.id for q in joined] == first_ids + second_ids
    n_passages = len(FIRST.passages) + len(SECOND.passages)
    assert len({p.id for p in joined.passages}) == len(joined.passages) == n_passages
    contents = [(q.text, q.gold) for q in (*FIRST, *SECOND)]
    assert [(q.text, q.gold) for q in joined] == contents
    (note,) = joined.notes
    assert joined[0].id in note


def test_passages_that_share_an_id_alone_get_new_ids_too():
    second = replace(SECOND, questions=[replace(q, id=f"other-{q.id}") for q in SECOND])
    joined = join_datasets([FIRST, second])
    assert joined.passages[0].id == f"first/{FIRST.passages[0].id}"
    assert len({p.id for p in joined.passages}) == len(joined.passages)


def test_overlap_is_found_in_every_part():
    joined = join_datasets([FIRST, renamed(SECOND.filter(lambda q: bool(q.passage.text)), "s")])
    exam = Dataset(SECOND[-2:], "exam")
    texts = {q.passage.text for q in exam}
    assert texts <= {q.passage.text for q in joined}
    assert not texts & {q.passage.text for q in drop_overlap_with(joined, exam)}


def test_common_facts_are_kept_and_others_dropped():
    first, second = (
        replace(dataset, split="train", reader="json") for dataset in (FIRST, renamed(SECOND, "s"))
    )
    assert (join_datasets([first, second]).split, join_datasets([first, second]).reader) == (
        "train",
        "json",
    )
    mixed = join_datasets([first, replace(second, split="dev", reader="table")])
    assert (mixed.split, mixed.reader) == (None, None)
    sources = join_datasets([load("sample:cloze")[:2], load("sample:cloze")[2:]]).sources
    assert len(sources) == 2


def test_a_part_of_a_joined_dataset_is_no_joined_dataset():
    joined = join_datasets([FIRST, renamed(SECOND, "s")])
    assert joined[:3].parts == joined.filter(lambda q: True).parts == ()


def test_one_dataset_is_itself():
    assert join_datasets([FIRST]) is as_dataset(FIRST) is as_dataset([FIRST]) is FIRST
    assert as_dataset(None) is as_dataset([]) is None


def test_the_same_data_twice_is_an_error():
    with raises(UsageError, field="datasets") as refused:
        join_datasets([FIRST, replace(FIRST, name="copy")])
    for fact in ("first", "copy", f"{len(FIRST)} questions", FIRST[0].id):
        assert fact in str(refused.value)


def test_different_tasks_are_an_error():
    with raises(UsageError, field="datasets") as refused:
        join_datasets([FIRST, synthetic_dataset(Task.CLOZE, name="holes")])
    assert "first has single-choice, holes has cloze" in str(refused.value)


def test_different_spans_are_an_error():
    spans = load("sample:multi-span")
    generator = SpanGenerator()
    with raises(UsageError, field="datasets") as refused:
        join_datasets([spans[:3], spans[3:].with_candidates(generator, generator.signature)])
    assert generator.signature in str(refused.value)
