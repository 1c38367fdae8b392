"""Opening and checking index folders."""

from __future__ import annotations

import os
import pickle
import re
import shutil
from errno import ENOENT

import numpy as np
import pytest
from joblib import Parallel, delayed

from classic_rc.datasets.specification import quote_argument
from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.reading import PassageInput, TextFile
from classic_rc.retrieval.sparse import Sparse
from classic_rc.retrieval.storage import MANIFEST, REBUILD_HINT, REPAIR_HINT
from classic_rc.solvers.ir import IRSolver
from tests.errors import raises
from tests.retrieval.facts import (
    check_index,
    edit_manifest,
    flip_bit,
    segment_files,
    shares_of,
)

SENTENCES = [
    "The fox ate the sour grapes.",
    "A crow held a cheese.",
    "...",
    "Foxes praise crows that have cheese.",
    "Zoë's vine has grapes, not cheese.",
    "A grape is a berry.",
]
QUESTIONS = ["What did the fox eat?", "Who held the cheese?"]
OPTIONS = [["grapes", "cheese", "of the"], ["a crow", "Zoë"]]


@pytest.fixture
def index(tmp_path):
    """An index of three segments, from a text file and passages."""
    text = tmp_path / "fables.txt"
    text.write_text("\n\n".join(SENTENCES[:3]), encoding="utf-8")
    passages = [Passage("p-1", " ".join(SENTENCES[3:5])), Passage("p-2", SENTENCES[5])]
    build_index(
        [TextFile(str(text)), PassageInput("set", passages)],
        tmp_path / "fables",
        segment_sentences=2,
    )
    return tmp_path / "fables"


def bits(engine):
    hits = engine.top([*QUESTIONS, *SENTENCES, "nothing here"], 3)
    best = engine.best_constrained(QUESTIONS, OPTIONS)
    parts = (hits.sentences, hits.scores, hits.offsets, best.sentences, best.scores, best.offsets)
    return [(array.dtype, array.tobytes()) for array in parts]


@pytest.mark.parametrize("similarity", [None, "bm25-lucene", "classic"])
def test_an_index_gives_the_results_of_the_engine_in_memory(index, similarity):
    engine = open_corpus(index, similarity=similarity).engine
    in_memory = Sparse(similarity=similarity).index(SENTENCES)
    assert bits(engine) == bits(in_memory)
    assert engine.signature == in_memory.signature
    assert [engine.sentence(i) for i in range(engine.n_sentences)] == SENTENCES
    for number in range(len(SENTENCES)):
        assert shares_of(engine, QUESTIONS[0], number) == shares_of(in_memory, QUESTIONS[0], number)


def test_sentences_name_their_sources(index, tmp_path):
    corpus = open_corpus(index)
    text = tmp_path / "fables.txt"
    expected = [f"{text}:1", f"{text}:3", f"{text}:5", "set#p-1", "set#p-1", "set#p-2"]
    assert [corpus.source(i) for i in range(6)] == expected
    assert corpus.name == "fables"
    assert corpus.signature.endswith("(6 sentences)")
    for look in (corpus.source, corpus.engine.sentence):
        with pytest.raises(IndexError, match=r"\b6\b.* 6$"):
            look(6)


def test_opening_maps_the_files(index):
    engine = open_corpus(index).engine
    for segment in engine.segments:
        for array in segment:
            assert isinstance(array, np.ndarray)
            assert not array.flags.owndata
            assert not array.flags.writeable


def test_an_index_is_pickled_as_its_path(index, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    corpus = open_corpus("fables", similarity="bm25+b=0.7")
    data = pickle.dumps(corpus)
    monkeypatch.chdir(index)
    there = pickle.loads(data)
    assert (there.signature, there.engine.signature) == (corpus.signature, corpus.engine.signature)
    assert bits(there.engine) == bits(corpus.engine)
    assert there.source(3) == "set#p-1"
    assert len(data) < 1000


def test_an_index_without_some_sentences_is_pickled_as_its_path(index):
    rest = open_corpus(index).without([0, 4])
    in_memory = Sparse().index(SENTENCES).without([0, 4])
    data = pickle.dumps(rest)
    assert len(data) < 1200
    for engine in (rest.engine, pickle.loads(data).engine):
        assert bits(engine) == bits(in_memory)
        assert engine.signature == in_memory.signature
    assert rest.source(3) == "set#p-1"


def test_an_index_that_changed_after_pickling_is_refused(index):
    data = pickle.dumps(open_corpus(index).engine)
    build_index([PassageInput("more", [Passage("m", "More.")])], index, append=True)
    with raises(DataError, source=str(index), hint="Open it again"):
        pickle.loads(data)


def test_several_processes_search_one_index(index):
    corpus = open_corpus(index)
    parts = Parallel(n_jobs=2)(delayed(bits)(corpus.engine) for _ in range(4))
    assert all(process_bits == bits(corpus.engine) for process_bits in parts)


def test_a_read_only_folder_can_be_searched(index):
    expected = bits(open_corpus(index).engine)
    paths = [*index.iterdir(), index]
    for path in paths:
        path.chmod(0o555)
    try:
        assert bits(open_corpus(index).engine) == expected
        check_index(index)
    finally:
        for path in reversed(paths):
            path.chmod(0o755)


def test_an_index_may_be_moved(index, tmp_path):
    expected = bits(open_corpus(index).engine)
    shutil.copytree(index, tmp_path / "elsewhere")
    assert bits(open_corpus(tmp_path / "elsewhere").engine) == expected
    check_index(tmp_path / "elsewhere")


def test_an_open_index_is_read_only(index):
    with raises(UsageError) as caught:
        open_corpus(index).engine.index(["A fox."])
    assert f"`classic-rc index CORPUS -o {index} --append`" in str(caught.value)
    index = index.rename(index.with_name("old fables; 2"))
    assert quote_argument(str(index))[0] == quote_argument(str(index))[-1] in "'\""
    with raises(UsageError) as caught:
        open_corpus(index).engine.index(["A fox."])
    assert f"`classic-rc index CORPUS -o {quote_argument(str(index))} --append`" in str(
        caught.value
    )


def test_folders_without_an_index_are_refused(tmp_path, index):
    problem, facts = "no such folder", {"expected": "a folder with manifest.json"}
    facts["hint"] = re.compile("`classic-rc index CORPUS -o DIR`")
    with raises(DataError, problem=problem, source=str(tmp_path / "nothing"), **facts):
        open_corpus(tmp_path / "nothing")
    with raises(DataError, problem="no index", source=str(tmp_path), **facts):
        open_corpus(tmp_path)
    with raises(DataError, problem=problem, source=str(index / MANIFEST), **facts):
        open_corpus(index / MANIFEST)
    for name in ("a" * 300, "a\0"):  # the system allows no such names
        with raises(DataError, problem=problem, source=os.path.abspath(name), **facts):
            IRSolver(corpus=name).fit([])
    with raises(UsageError, field="similarity", found="bm26"):
        open_corpus(index, similarity="bm26")


def test_the_analyzer_of_an_index_decides_which_words_hits_must_share(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("Foxes ran.", encoding="utf-8")
    question = Question(
        "q", Passage("p", "x."), "fox", (Candidate("ran"),), None, Task.SINGLE_CHOICE
    )
    evidence = []
    for analyzer in ("word", "lucene-english"):
        build_index([TextFile(str(text))], tmp_path / analyzer, analyzer=analyzer)
        solver = IRSolver(corpus=str(tmp_path / analyzer), depth=5).fit([question])
        evidence.append(bool(solver.score_candidates([question]).evidence[0]))
    assert evidence == [False, True]


def test_a_missing_or_short_segment_is_refused_when_opened(index):
    path = segment_files(index)[1]
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    for look in (open_corpus, check_index):
        facts = {"found": f"{len(content) - 1:,} bytes", "expected": f"{len(content):,}"}
        with raises(DataError, source=str(path), hint=REPAIR_HINT, **facts):
            look(index)
    path.unlink()
    for look in (open_corpus, check_index):
        with raises(
            DataError, source=str(path), problem=re.compile(os.strerror(ENOENT)), hint=REPAIR_HINT
        ):
            look(index)


def test_an_altered_segment_is_found_by_a_check(index):
    path = segment_files(index)[2]
    content = path.read_bytes()
    for place in range(0, len(content), 97):
        path.write_bytes(content)
        flip_bit(path, place)
        with raises(DataError, source=str(path), hint=REPAIR_HINT):
            check_index(index)
    path.write_bytes(content)
    check_index(index)


@pytest.mark.parametrize(
    ("change", "source", "field", "found_text", "expected"),
    [
        (lambda m: m.update(format=99), MANIFEST, "format", "the number 99", "2"),
        (
            lambda m: m.update(kind="recipes"),
            MANIFEST,
            "kind",
            re.compile("'recipes'"),
            "'classic_rc sentence index'",
        ),
        (lambda m: m.update(analyzer_signature="word"), "", "analyzer", "lucene-english", "word"),
    ],
)
def test_an_unusable_manifest_is_refused_when_opened(
    index, change, source, field, found_text, expected
):
    edit_manifest(index, change)
    facts = {"field": field, "found": found_text, "expected": expected, "hint": REBUILD_HINT}
    for look in (open_corpus, check_index):
        with raises(DataError, source=str(index / source), **facts):
            look(index)


def test_a_manifest_with_an_unknown_analyzer_is_refused_when_opened(index):
    edit_manifest(index, lambda m: m.update(analyzer="wordy"))
    for look in (open_corpus, check_index):
        with raises(UsageError, field="analyzer", found="wordy"):
            look(index)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b'{"kind": 1}'])
def test_a_manifest_that_is_damaged_is_one_error(index, content):
    (index / MANIFEST).write_bytes(content)
    with raises(DataError, source=str(index / MANIFEST), hint=REBUILD_HINT):
        open_corpus(index)


def test_a_check_finds_a_changed_analyzer(index):
    edit_manifest(index, lambda m: m.update(analyzer_sample="0"))
    open_corpus(index)
    with raises(
        DataError,
        source=str(index),
        field="analyzer",
        problem=re.compile("lucene-english"),
        hint=REBUILD_HINT,
    ):
        check_index(index)
