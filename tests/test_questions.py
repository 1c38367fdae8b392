from __future__ import annotations

import hashlib
import pickle
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.datasets import from_rows, load
from classic_rc.errors import DataError, MissingPackageError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import (
    Candidate,
    Dataset,
    Passage,
    Question,
    Source,
    Task,
    TextCandidates,
    candidate_texts,
)
from tests.depth import examples
from tests.errors import raises

PASSAGE = Passage("p", "Ann met Bob.")


def question(
    id="q", gold=frozenset({0}), task=Task.SINGLE_CHOICE, passage=PASSAGE, options=("a", "b")
):
    return Question(id, passage, "Who?", tuple(Candidate(o) for o in options), gold, task)


def test_a_dataset_slices_filters_and_iterates():
    data = Dataset([question(str(i)) for i in range(5)], "d", split="dev")
    assert isinstance(data[1:3], Dataset)
    assert [q.id for q in data[1:3]] == ["1", "2"]
    assert data[1:3].split == "dev"
    assert [q.id for q in data.filter(lambda q: q.id > "2")] == ["3", "4"]
    assert data.by_id["4"] is data[4]
    assert data.passages == (PASSAGE,)
    assert data.task is Task.SINGLE_CHOICE
    assert Dataset([]).task is None


@pytest.mark.parametrize(
    ("questions", "where", "field", "reported", "expected"),
    [
        ([question("a"), question("a")], "question a", "id", None, "unique ids"),
        (
            [question(gold=frozenset({2}))],
            "question q",
            "gold",
            "2 with 2 candidates",
            "indices from 0 to 1",
        ),
        (
            [question("a"), question("b", task=Task.MULTIPLE_ANSWER)],
            *(None, "task", "multiple-answer, single-choice", "one task"),
        ),
    ],
)
def test_a_contradictory_dataset_is_refused(questions, where, field, reported, expected):
    with raises(
        DataError,
        source="d",
        where=where,
        field=field,
        found=reported,
        expected=re.compile(expected),
    ):
        Dataset(questions, "d")


def test_no_right_answer_is_legal_where_several_may_be():
    assert len(Dataset([question(gold=frozenset(), task=Task.MULTIPLE_ANSWER)])) == 1


def test_the_fingerprint_is_of_the_content_alone():
    dataset = Dataset([question()], "one", split="dev", sources=(Source("a", "1"),))
    renamed = Dataset([question()], "other")
    assert dataset.fingerprint == renamed.fingerprint
    changed = [
        question(id="r"),
        question(gold=frozenset({1})),
        question(gold=None),
        question(options=("a", "c")),
        question(options=("ab", "")),
        question(passage=Passage("p", "Ann met Eve.")),
    ]
    fingerprints = {Dataset([q]).fingerprint for q in changed}
    assert len(fingerprints) == len(changed)
    assert dataset.fingerprint not in fingerprints


def test_generated_spans_are_made_when_looked_at_and_shared_by_a_passage():
    calls = []

    def generator(passage):
        calls.append(passage.id)
        return [Candidate(passage.text[:3], 0, 3)]

    spans = [question(str(i), gold=("Ann",), task=Task.SPAN, options=()) for i in range(2)]
    data = Dataset(spans).with_candidates(generator, "k=1")
    assert calls == []
    assert data[0].candidates is data[1].candidates
    assert [c.text for c in data[0].candidates] == ["Ann"]
    assert len(data[1].candidates) == 1
    assert calls == ["p", "p"]
    assert data.fingerprint == Dataset(spans).fingerprint
    assert data.span_generator == "k=1"


def test_everything_pickles():
    data = Dataset([question()], "d")
    copy = pickle.loads(pickle.dumps(data))
    assert copy.fingerprint == data.fingerprint
    error = pickle.loads(pickle.dumps(DataError("bad", source="f", where="line 1", hint="Mend it")))
    assert str(error) == "f, line 1: bad. Mend it"


def test_a_frame_has_a_row_a_question():
    pytest.importorskip("pandas", reason="pandas is not installed")
    passage = Passage("p", "Ann met Bob.", meta={"author": "A", "level": "easy"})
    labelled = Question(
        "1",
        passage,
        "Who?",
        (Candidate("Ann"), Candidate("Bob")),
        frozenset({1, 0}),
        Task.MULTIPLE_ANSWER,
    )
    hidden = replace(
        labelled, id="2", gold=None, meta={"split": "test", "level": "hard", "score": 0.5}
    )
    frame = Dataset([labelled, hidden], "d", split="dev").to_frame()
    assert frame.columns.tolist() == [
        *("id", "passage_id", "passage", "question", "candidates", "gold", "task", "split"),
        *("meta.author", "meta.level", "meta.score"),
    ]
    assert frame.iloc[0, :-1].tolist() == [
        *(
            "1",
            "p",
            "Ann met Bob.",
            "Who?",
            ("Ann", "Bob"),
            (0, 1),
            "multiple-answer",
            "dev",
            "A",
            "easy",
        )
    ]
    assert frame["gold"].tolist() == [(0, 1), None]
    assert frame["split"].tolist() == ["dev", "test"]
    assert frame["meta.level"].tolist() == ["easy", "hard"]
    assert frame["meta.score"].isna().tolist() == [True, False]


@pytest.mark.parametrize("task", [Task.CLOZE, Task.SPAN, Task.MULTI_SPAN])
def test_a_frame_has_gold_texts_and_no_generated_spans(task):
    pytest.importorskip("pandas", reason="pandas is not installed")
    spans = [
        question(gold=("Bob", "Ann"), task=task, options=("Ann",) if task is Task.CLOZE else ())
    ]
    data = Dataset(spans, "d")
    if task.has_spans:
        data = data.with_candidates(lambda passage: pytest.fail("generated"), "k=1")
    (row,) = data.to_frame().to_dict("records")
    assert row["gold"] == ("Bob", "Ann")
    assert row["candidates"] == (("Ann",) if task is Task.CLOZE else ())
    assert row["split"] is None


@pytest.mark.parametrize("name", ["single-choice", "multiple-answer", "multi-span"])
def test_a_frame_can_be_read_back(name):
    pytest.importorskip("pandas", reason="pandas is not installed")
    data = load(f"sample:{name}")
    back = from_rows(data.to_frame().to_dict("records"), split=data.split)
    assert back.fingerprint == data.fingerprint
    assert back.to_frame()["id"].tolist() == [q.id for q in data]


def test_a_frame_of_no_question_has_the_columns():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = Dataset([], "empty").to_frame()
    assert (len(frame), frame.columns[0], frame.columns[-1]) == (0, "id", "split")


def test_without_pandas_a_frame_is_one_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError) as caught:
        Dataset([question()], "d").to_frame()
    assert (caught.value.package, caught.value.extra, caught.value.exit_code) == (
        "pandas",
        "pandas",
        4,
    )


def test_candidates_of_texts_are_made_once_and_equal_listed_ones():
    candidates = TextCandidates(text for text in ("a", "b", "a"))
    assert (len(candidates), candidates.texts, [c.text for c in candidates]) == (
        3,
        ("a", "b", "a"),
        ["a", "b", "a"],
    )
    assert candidates[1] is candidates[1]
    assert candidates[1:][0] is candidates[1]
    assert (candidates[2].start, candidates[2].end) == (None, None)
    unpickled = pickle.loads(pickle.dumps(candidates))
    assert unpickled.texts == candidates.texts
    listed = tuple(map(Candidate, candidates.texts))
    assert list(candidate_texts(candidates)) == list(candidate_texts(listed))


def _reference_fingerprint(questions):
    """The fingerprint by its definition: each part after its length, hashed one by one."""
    digest = hashlib.sha256()
    previous = None
    for q in questions:
        parts = [] if q.passage is previous else ["passage", q.passage.id, q.passage.text]
        previous = q.passage
        parts += ["question", q.id, str(q.task), q.text]
        if not q.task.has_spans:
            parts += ["candidates", str(len(q.candidates)), *(c.text for c in q.candidates)]
        if q.task is Task.CLOZE:
            parts += [f"{c.start}-{c.end}" for c in q.candidates]
        gold = sorted(q.gold) if isinstance(q.gold, frozenset) else q.gold
        parts += ["hidden"] if gold is None else ["gold", str(len(gold)), *map(str, gold)]
        for piece in parts:
            digest.update(f"{len(piece)}:{piece}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


_TEXTS = st.text(st.characters(), max_size=8)  # lone surrogates too


@given(st.sampled_from(list(Task)), st.data())
@settings(max_examples=examples(25, 150))
def test_the_fingerprint_is_its_definition_in_pieces_of_any_size(task, data):
    passages = [Passage(f"p{i}", data.draw(_TEXTS)) for i in range(3)]
    questions = []
    for i in range(data.draw(st.integers(0, 6))):
        texts = data.draw(st.lists(_TEXTS, max_size=3))
        gold = (
            st.sets(st.integers(0, len(texts) - 1)).map(frozenset)
            if texts
            else st.just(frozenset())
        )
        if not task.has_choices:
            gold = st.lists(_TEXTS, max_size=2).map(tuple)
        candidates = data.draw(
            st.sampled_from([TextCandidates(texts), tuple(Candidate(t, 0, 1) for t in texts)])
        )
        gold = data.draw(st.none() | gold)
        questions.append(
            Question(f"q{i}", data.draw(st.sampled_from(passages)), "why?", candidates, gold, task)
        )
    with small_blocks(data.draw(st.sampled_from([1, 5, 2**20]))):
        assert Dataset(questions).fingerprint == _reference_fingerprint(questions)


def test_gold_is_checked_for_each_object_and_number_of_candidates():
    passage, shared = Passage("p", "text"), frozenset({2})
    right = [
        Question(f"q{i}", passage, "?", TextCandidates("abc"), shared, Task.SINGLE_CHOICE)
        for i in range(3)
    ]
    assert len(Dataset(right)) == 3
    short = Question("short", passage, "?", TextCandidates("ab"), shared, Task.SINGLE_CHOICE)
    equal = Question(
        "equal", passage, "?", TextCandidates("abc"), frozenset({2.0}), Task.SINGLE_CHOICE
    )
    for wrong in (short, equal):
        with raises(DataError, where=f"question {wrong.id}", field="gold"):
            Dataset([*right, wrong])
