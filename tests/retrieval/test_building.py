"""Building index folders: one writer at a time, segments, interruptions, additions."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc.errors import DataError, UsageError
from classic_rc.kernels.arrays import offsets_of, small_blocks
from classic_rc.questions import Passage
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.building import build_index, lock_folder
from classic_rc.retrieval.corpus import passage_corpus
from classic_rc.retrieval.reading import PassageInput, TextFile
from classic_rc.retrieval.sparse import Sparse
from classic_rc.retrieval.storage import MANIFEST, Manifest
from classic_rc.retrieval.texts import fingerprint
from tests.depth import examples
from tests.errors import raises
from tests.retrieval.facts import check_index, flip_bit

WORDS = "fox foxes grape grapes sour the of ran run running Zoë vine 東京".split()
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
SENTENCES = st.lists(TEXTS, min_size=1, max_size=14)


@pytest.fixture
def corpus(tmp_path):
    """A text file of 40 lines, three of them blank, and JSON lines with ids and several
    sentences each.
    """
    text, rows = tmp_path / "fables.txt", tmp_path / "more.jsonl"
    lines = [f"{WORDS[i % 13]} {WORDS[i * 5 % 13]} number {i}." for i in range(40)]
    lines[::13] = [""] * len(lines[::13])
    text.write_text("\n".join(lines), encoding="utf-8")
    json_lines = []
    for i in range(15):
        sentences = [f"The {word} number {i}-{j} ran." for j, word in enumerate(WORDS[: i % 4])]
        json_lines.append(json.dumps({"id": f"r{i}", "text": " ".join(sentences)}))
    rows.write_text("\n".join(json_lines) + "\n", encoding="utf-8")
    return text, rows


def inputs_of(corpus):
    text, rows = corpus
    return [TextFile(str(text)), TextFile(str(rows), paragraphs=True)]


def answers(folder, similarity="bm25"):
    """Return the hits and the best sentences for some queries, as bytes."""
    return answers_of(open_corpus(folder, similarity=similarity).engine)


def answers_of(engine):
    hits = engine.top([*WORDS, "fox number", "sour grapes number 3", "nothing"], 5)
    best = engine.best_constrained(
        ["the running fox", "grape number"], [["sour", "vine number"], ["Zoë", "東京", ""]]
    )
    parts = (hits.sentences, hits.scores, hits.offsets, best.sentences, best.scores)
    return [(array.dtype, array.tobytes()) for array in parts]


def files_of(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob("segment-*")
    }


class _CrashError(BaseException):
    """Stands in for the death of the process."""


@settings(max_examples=examples(8, 40))
@given(SENTENCES, st.integers(1, 15))
@pytest.mark.parametrize("similarity", ["bm25", "classic"])
def test_any_division_into_segments_gives_the_same_bits(
    tmp_path_factory, similarity, sentences, size
):
    folder = tmp_path_factory.mktemp("split")
    built = build_index(
        [PassageInput("p", [_passage(sentences)])], folder / "index", segment_sentences=size
    )
    assert len(built.manifest.segments) == -(-len(sentences) // size)
    assert built.manifest.fingerprint == fingerprint(sentences)
    unsegmented = Sparse(similarity=similarity).index(sentences)
    assert answers(folder / "index", similarity) == answers_of(unsegmented)


def _passage(sentences):
    starts = offsets_of([len(sentence) + 1 for sentence in sentences]).tolist()
    marks = tuple((start, end - 1) for start, end in itertools.pairwise(starts))
    return Passage("p", " ".join(sentences), marks)


def test_the_manifest_counts(corpus, tmp_path):
    manifest = build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=7).manifest
    engine = open_corpus(tmp_path / "index").engine
    sentences = [engine.sentence(i) for i in range(engine.n_sentences)]
    terms = [engine.analyzer.analyze(sentence) for sentence in sentences]
    counts = manifest.counts
    assert counts.sentences == len(sentences) == 36 + 21
    assert counts.tokens == sum(map(len, terms))
    assert counts.with_terms == sum(map(bool, terms))
    assert counts.text_bytes == sum(len(sentence.encode()) for sentence in sentences)
    assert manifest.n_terms == len({term for sentence_terms in terms for term in sentence_terms})
    assert manifest.fingerprint == fingerprint(sentences)
    assert manifest == Manifest.read(tmp_path / "index") == check_index(tmp_path / "index")
    assert [segment.n_sentences for segment in engine.segments] == [7] * 8 + [1]


def test_passages_give_the_index_that_is_made_of_them_in_memory(tmp_path):
    passages = [
        Passage("a", "Foxes ran. Grapes are sour!"),
        Passage("b", "The vine.", ((0, 3), (4, 9))),
    ]
    build_index([PassageInput("p", passages)], tmp_path / "index")
    stored, in_memory = open_corpus(tmp_path / "index"), passage_corpus(passages, Sparse())
    assert stored.fingerprint == in_memory.fingerprint
    assert answers_of(stored.engine) == answers_of(in_memory.engine)


def test_segments_end_with_much_text_too(corpus, tmp_path):
    build_index(inputs_of(corpus), tmp_path / "whole")
    with small_blocks(100):
        manifest = build_index(inputs_of(corpus), tmp_path / "index").manifest
    assert len(manifest.segments) > 8
    assert answers(tmp_path / "index") == answers(tmp_path / "whole")


def _build_crashes(corpus, folder, size, step, monkeypatch):
    """Return whether a build is killed at a disk operation: before it syncs, replaces or removes
    a file.
    """
    steps = itertools.count(1)

    def before(real):
        def crash(*args, **kwargs):
            if next(steps) == step:
                raise _CrashError
            return real(*args, **kwargs)

        return crash

    with monkeypatch.context() as patched:
        for holder, name in ((os, "fsync"), (os, "replace"), (Path, "unlink")):
            patched.setattr(holder, name, before(getattr(holder, name)))
        try:
            build_index(inputs_of(corpus), folder, segment_sentences=size)
        except _CrashError:
            return True
    return False


def test_a_build_killed_at_any_step_resumes_with_the_same_index(corpus, tmp_path, monkeypatch):
    uninterrupted = build_index(
        inputs_of(corpus), tmp_path / "whole", segment_sentences=20
    ).manifest
    expected, segments_kept = answers(tmp_path / "whole"), set()
    for step in itertools.count(1):
        index = tmp_path / f"index-{step}"
        if not _build_crashes(corpus, index, 20, step, monkeypatch):
            break
        if (index / MANIFEST).exists():
            assert answers(index) == expected
        else:
            with raises(
                DataError,
                source=str(index),
                problem=re.compile("unfinished|no index|no such folder"),
            ):
                open_corpus(index)
        segments_kept.add(build_index(inputs_of(corpus), index, segment_sentences=20).kept)
        assert check_index(index) == uninterrupted
        assert files_of(index) == files_of(tmp_path / "whole")
        assert answers(index) == expected
    assert step > 7
    assert segments_kept == {0, 1, 2, 3}


def test_a_build_killed_repeatedly_finishes(corpus, tmp_path, monkeypatch):
    """Three steps are enough for one more segment."""
    runs = 0
    while _build_crashes(corpus, tmp_path / "index", 9, 3, monkeypatch):
        runs += 1
    build_index(inputs_of(corpus), tmp_path / "whole", segment_sentences=9)
    assert runs > 3
    assert files_of(tmp_path / "index") == files_of(tmp_path / "whole")
    assert {*os.listdir(tmp_path / "index")} == {"lock", MANIFEST, *files_of(tmp_path / "whole")}


def test_a_finished_build_is_not_done_again(corpus, tmp_path):
    first = build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=9)
    second_build = build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=9)
    assert second_build.manifest == first.manifest
    assert (first.kept, second_build.kept) == (0, 7)


@pytest.fixture
def unfinished(corpus, tmp_path):
    """An index folder whose build was killed after two segments."""
    build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=15)
    (tmp_path / "index" / MANIFEST).unlink()
    for path in sorted((tmp_path / "index").glob("segment-*"))[2:]:
        path.unlink()
    return tmp_path / "index"


def test_finished_segments_are_not_written_again(unfinished, corpus):
    before = {path: path.stat().st_mtime_ns for path in unfinished.glob("segment-*")}
    built = build_index(inputs_of(corpus), unfinished, segment_sentences=15)
    assert built.kept == len(before) == 2
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_an_unfinished_index_is_not_searched(unfinished):
    for look in (open_corpus, check_index):
        with raises(
            DataError, source=str(unfinished), problem=re.compile("unfinished"), found=None
        ):
            look(unfinished)


@pytest.mark.parametrize(
    "options",
    [{"segment_sentences": 14}, {"segment_sentences": 15, "analyzer": "word"}],
    ids=["size", "analyzer"],
)
def test_a_build_with_other_options_replaces_an_unfinished_one(
    unfinished, corpus, tmp_path, options
):
    assert build_index(inputs_of(corpus), unfinished, **options).kept == 0
    build_index(inputs_of(corpus), tmp_path / "whole", **options)
    assert files_of(unfinished) == files_of(tmp_path / "whole")
    assert check_index(unfinished) == Manifest.read(tmp_path / "whole")


def test_what_changed_in_an_input_is_built_again(corpus, tmp_path):
    text, _ = corpus
    build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=15)
    (tmp_path / "index" / MANIFEST).unlink()
    text.write_text(
        text.read_text(encoding="utf-8").replace("number 38", "numeral 38"), encoding="utf-8"
    )
    assert build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=15).kept == 3
    build_index(inputs_of(corpus), tmp_path / "whole", segment_sentences=15)
    assert check_index(tmp_path / "index") == Manifest.read(tmp_path / "whole")


@pytest.mark.parametrize("place", [0, 100, -50, -41, -36, -1])
@pytest.mark.parametrize("is_finished", [True, False])
def test_a_damaged_or_missing_segment_is_built_again(corpus, tmp_path, place, is_finished):
    index = tmp_path / "index"
    first_manifest = build_index(inputs_of(corpus), index, segment_sentences=15).manifest
    expected = files_of(index)
    if not is_finished:
        (index / MANIFEST).unlink()
    damaged, missing = sorted(index.glob("segment-*"))[:2]
    flip_bit(damaged, place)
    missing.unlink()
    built = build_index(inputs_of(corpus), index, segment_sentences=15)
    assert (built.manifest, built.kept) == (first_manifest, 2)
    assert files_of(index) == expected
    check_index(index)


def test_an_index_of_other_content_is_not_replaced(corpus, tmp_path):
    text, rows = inputs_of(corpus)
    build_index([text, rows], tmp_path / "index", segment_sentences=15)
    before = files_of(tmp_path / "index")
    for inputs, size in (([rows], 15), ([text, rows], 14), ([text, rows, text], 15)):
        with raises(UsageError, field="folder", found=str(tmp_path / "index")):
            build_index(inputs, tmp_path / "index", segment_sentences=size)
    assert files_of(tmp_path / "index") == before
    check_index(tmp_path / "index")


def test_a_truncated_file_keeps_segments_and_the_complete_one_finishes(tmp_path):
    text = "".join(f"The fox number {number * number} ran.\n" for number in range(5000))
    path = tmp_path / "corpus.txt.gz"
    complete_file = gzip.compress(text.encode())
    path.write_bytes(complete_file[: len(complete_file) * 2 // 3])
    with raises(
        DataError, source=str(path), problem=re.compile("damaged"), hint=re.compile("complete file")
    ):
        build_index([TextFile(str(path))], tmp_path / "index", segment_sentences=500)
    segments_kept = files_of(tmp_path / "index")
    assert segments_kept
    path.write_bytes(complete_file)
    assert build_index(
        [TextFile(str(path))], tmp_path / "index", segment_sentences=500
    ).kept == len(segments_kept)
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    build_index([TextFile(str(tmp_path / "corpus.txt"))], tmp_path / "plain", segment_sentences=500)
    assert (
        check_index(tmp_path / "index").fingerprint == Manifest.read(tmp_path / "plain").fingerprint
    )
    assert answers(tmp_path / "index") == answers(tmp_path / "plain")


def test_adding_gives_the_index_of_all(corpus, tmp_path):
    text, rows = inputs_of(corpus)
    build_index([text, rows], tmp_path / "whole")
    build_index([text], tmp_path / "index")
    first = open_corpus(tmp_path / "index")
    built = build_index([rows], tmp_path / "index", append=True)
    assert (built.kept, len(built.manifest.segments)) == (1, 2)
    extended, built_at_once = open_corpus(tmp_path / "index"), open_corpus(tmp_path / "whole")
    assert extended.fingerprint == built_at_once.fingerprint
    assert built.manifest.n_terms == Manifest.read(tmp_path / "whole").n_terms
    assert answers_of(extended.engine) == answers_of(built_at_once.engine)
    assert first.engine.n_sentences == 36
    for number in (0, 35, 36):
        assert extended.source(number) == built_at_once.source(number)
    assert build_index([rows], tmp_path / "index", append=True).manifest == built.manifest


def test_an_addition_is_searched_when_it_is_complete(corpus, tmp_path, monkeypatch):
    text, rows = inputs_of(corpus)
    build_index([text], tmp_path / "index")
    before = answers(tmp_path / "index")
    with monkeypatch.context() as patched:
        patched.setattr(Manifest, "write", lambda *args: (_ for _ in ()).throw(_CrashError))
        with pytest.raises(_CrashError):
            build_index([rows], tmp_path / "index", append=True, segment_sentences=9)
    assert answers(tmp_path / "index") == before
    assert build_index([rows], tmp_path / "index", append=True, segment_sentences=9).kept == 4
    assert answers(tmp_path / "index") != before


def test_indexes_that_cannot_be_added_to(corpus, tmp_path):
    text, rows = inputs_of(corpus)
    with raises(UsageError, field="append", found=str(tmp_path / "index")):
        build_index([rows], tmp_path / "index", append=True)
    build_index([text], tmp_path / "index", analyzer="word")
    with raises(UsageError, field="folder", found=str(tmp_path / "index")) as caught:
        build_index([rows], tmp_path / "index", analyzer="word")
    assert "--append" in str(caught.value)
    with raises(UsageError, field="analyzer", found="lucene-english", expected="word"):
        build_index([rows], tmp_path / "index", append=True)


def test_an_empty_corpus_is_one_error_and_leaves_the_folder_free(tmp_path, corpus):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n", encoding="utf-8")
    for inputs, source in (
        ([TextFile(str(empty))], str(empty)),
        ([PassageInput("none", [])], "none"),
    ):
        with raises(DataError, source=source, line=None):
            build_index(inputs, tmp_path / "index")
    build_index(inputs_of(corpus), tmp_path / "index")
    before = answers(tmp_path / "index")
    with raises(DataError, source=str(empty), line=None):
        build_index([TextFile(str(empty))], tmp_path / "index", append=True)
    assert answers(tmp_path / "index") == before


def test_sentences_without_terms_are_kept(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("the\n...\nof the\n", encoding="utf-8")
    counts = build_index([TextFile(str(path))], tmp_path / "index").manifest.counts
    assert (counts.sentences, counts.with_terms, counts.tokens) == (3, 0, 0)
    assert len(open_corpus(tmp_path / "index").engine.top(["the fox"])[0][0]) == 0


def test_nuls_broken_bytes_and_long_lines(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"A fox\0ran.\n\xff\xfe grapes\n" + b"fox " * 250_000 + b"\nsour\n")
    counts = build_index(
        [TextFile(str(path))], tmp_path / "index", segment_sentences=3
    ).manifest.counts
    assert (counts.sentences, counts.with_nul, counts.with_replacement) == (4, 1, 1)
    corpus = open_corpus(tmp_path / "index")
    assert corpus.engine.sentence(0) == "A fox\0ran."
    assert corpus.engine.sentence(1) == "\ufffd\ufffd grapes"
    assert len(corpus.engine.sentence(2)) == 999_999
    assert sorted(corpus.engine.top(["fox"])[0][0].tolist()) == [0, 2]


@pytest.mark.parametrize("size", [0, 500_001])
def test_segment_sentences_is_limited(size, tmp_path, corpus):
    with raises(
        UsageError, field="segment_sentences", found=str(size), expected="from 1 to 500,000"
    ):
        build_index(inputs_of(corpus), tmp_path / "index", segment_sentences=size)


def test_a_folder_with_other_files_is_left_alone(tmp_path, corpus):
    with raises(UsageError, field="folder", found=re.compile(r"^(fables\.txt|more\.jsonl)$")):
        build_index(inputs_of(corpus), tmp_path)
    with raises(UsageError, field="folder", found=str(corpus[0] / "index")):
        build_index(inputs_of(corpus), corpus[0] / "index")


def test_progress_counts_the_bytes_of_the_inputs(corpus, tmp_path):
    read = []
    build_index(inputs_of(corpus), tmp_path / "index", advance=read.append)
    assert sum(read) == sum(path.stat().st_size for path in corpus)


@pytest.mark.ci
def test_two_builds_of_one_folder_at_once_are_refused(corpus, tmp_path):
    """The second is another process, started in the middle of the first."""
    code = (
        "import sys\n"
        "from classic_rc.retrieval.building import build_index\n"
        "from classic_rc.retrieval.reading import TextFile\n"
        "build_index([TextFile(sys.argv[1])], sys.argv[2])\n"
    )
    command = [sys.executable, "-c", code, str(corpus[0]), str(tmp_path / "index")]
    done = []

    def advance(n_bytes):
        if not done:
            done.append(
                subprocess.run(
                    command, capture_output=True, text=True, encoding="utf-8", check=False
                )
            )

    build_index(inputs_of(corpus), tmp_path / "index", advance=advance)
    assert done[0].returncode == 1
    assert re.search(
        rf"UsageError: another build .*{re.escape(str(tmp_path / 'index'))}", done[0].stderr
    )
    check_index(tmp_path / "index")


HOLD = """
import sys
from classic_rc.retrieval.building import lock_folder
with lock_folder(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a folder until it ends."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"held"
    yield process
    process.kill()
    process.communicate()


def test_a_second_writer_is_refused_until_the_first_is_done(holder, tmp_path):
    with (
        raises(UsageError, field="folder", found=str(tmp_path), expected="an unlocked folder"),
        lock_folder(tmp_path),
    ):
        pass
    holder.communicate()
    with lock_folder(tmp_path):
        pass


@pytest.mark.ci
def test_the_lock_of_a_killed_writer_is_released(holder, tmp_path):
    holder.kill()
    holder.wait()
    with lock_folder(tmp_path):
        pass


def test_a_lock_holds_within_one_process_and_is_released_after_an_error(tmp_path):
    locked = raises(UsageError, field="folder", found=str(tmp_path), expected="an unlocked folder")
    with locked, lock_folder(tmp_path), lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass
