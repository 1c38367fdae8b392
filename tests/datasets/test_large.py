"""Large data: texts in a temporary file, lines that are read one by one. What is read stays the
same.
"""

from __future__ import annotations

import copy
import gzip
import pickle
import tempfile
import zipfile
from dataclasses import replace

import pytest

from classic_rc import load
from classic_rc.datasets.text_store import StoredCandidates, StoredPassage, TextStore
from classic_rc.errors import DataError
from classic_rc.io.archives import InputFile, open_input
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, Passage, TextCandidates, candidate_texts
from classic_rc.text.encode import encode
from tests.errors import raises

pytestmark = pytest.mark.ci  # real data

LONG = "A lone surrogate \ud800, é, and a long tail. " * 50_000


def as_plain(dataset):
    plain = []
    for q in dataset:
        passage = q.passage.id, q.passage.text, q.passage.sentences, q.passage.meta
        candidates = [(c.text, c.start, c.end) for c in q.candidates]
        plain.append((q.id, passage, q.text, q.gold, q.task, q.meta, candidates))
    return plain


def test_every_reader_reads_large_data_alike(form, tmp_path, write):
    path = write(tmp_path, form)
    usual = load(path)
    with small_blocks(1):
        large = load(path)
    assert as_plain(large) == as_plain(usual)
    assert (large.fingerprint, large.sources, large.notes) == (
        usual.fingerprint,
        usual.sources,
        usual.notes,
    )
    assert len(large.passages) == len(usual.passages)
    usual_codes, large_codes = encode(usual, "word"), encode(large, "word")
    pairs = zip(usual_codes.arrays[:-1], large_codes.arrays[:-1], strict=True)
    assert all((usual_array == large_array).all() for usual_array, large_array in pairs)


@pytest.fixture
def store():
    """A store whose texts go to the file."""
    with small_blocks(1):
        text_store = TextStore()
    text_store.make_passage("first", "two", None, None)
    assert text_store.is_open
    return text_store


@pytest.mark.parametrize("text", ["", "short", LONG])
def test_a_stored_passage_is_a_passage(store, text):
    stored = store.make_passage("p", text, ((0, 0),), {"level": 3})
    store.keep_candidates(TextCandidates(["x"]))
    assert isinstance(stored, StoredPassage)
    for stored_passage in (
        stored,
        pickle.loads(pickle.dumps(stored)),
        copy.deepcopy(stored),
        replace(stored),
    ):
        assert (stored_passage.id, stored_passage.text) == ("p", text)
        assert (stored_passage.sentences, stored_passage.meta) == (((0, 0),), {"level": 3})
    assert replace(stored, text="new").text == "new"


@pytest.mark.parametrize(
    "candidates",
    [TextCandidates(["red", LONG]), (Candidate("red", 3, 6), Candidate("blue")), [Candidate("a")]],
)
def test_stored_candidates_are_candidates(store, candidates):
    stored = store.keep_candidates(candidates)
    assert isinstance(stored, StoredCandidates)
    assert store.keep_candidates(candidates) is stored
    assert store.keep_candidates(stored) is stored
    places = [(c.text, c.start, c.end) for c in candidates]
    for copy_ in (stored, pickle.loads(pickle.dumps(stored))):
        assert len(copy_) == len(candidates)
        assert [(c.text, c.start, c.end) for c in copy_] == places
        assert list(candidate_texts(copy_)) == list(candidate_texts(candidates))
        assert copy_[-1].text == candidates[-1].text


def test_without_a_temporary_file_texts_stay_in_memory(store, monkeypatch):
    def refuse(**_):
        raise OSError("no space left")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    stored = store.make_passage("p", LONG, None, None)
    assert isinstance(stored, StoredPassage)
    assert not store.is_open
    assert type(store.make_passage("r", LONG, None, None)) is Passage
    assert not store.is_open
    assert stored.text == LONG


OWN = (
    '{"id": "q%d", "passage": "It rained.", "question": "Did it?", "candidates": ["no", "yes"], '
    '"gold": %d}\n'
)
ROWS = "".join(OWN % (i, i % 2) for i in range(2_000))
TABLE = "id,passage,question,candidate_0,candidate_1,gold\n" + "".join(
    f'q{i},"It ""rained"",\nand more.",Did it?,no,yes,{i % 2}\n' for i in range(2_000)
)


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (ROWS, None),
        ("\n" + ROWS.replace("\n", "\r\n\r\n", 3) + "\n \n", None),
        (TABLE, None),
        (ROWS + "{\n", "line 2001"),
        (ROWS.replace('"q1900"', '"q2"'), "line 1901"),
        (ROWS + ROWS[:20] + "\xff", "byte offset"),
        (ROWS + "\0", "byte offset"),
        (TABLE + 'q,"a\n', "line 4002"),
        (TABLE + "q,a\n", "line 4002"),
    ],
)
@pytest.mark.parametrize("packed", ["plain", "gz", "zip"])
@pytest.mark.parametrize("skip", [(), "bad"])
def test_lines_are_read_one_by_one_with_the_same_result_or_error(
    tmp_path, content, where, packed, skip
):
    """The text is never in memory as a whole."""
    data = content.encode("latin-1")
    path = tmp_path / "rows.jsonl"
    path.write_bytes(gzip.compress(data) if packed == "gz" else data)
    if packed == "zip":
        path = tmp_path / "rows.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.jsonl", data)

    def read():
        try:
            dataset = load(path, skip=skip)
        except DataError as error:
            return str(error), error.where
        log = dataset.log
        if log is not None:
            log = [*map(str, log.left_out), *map(str, log.repaired), log.places]
        return dataset.fingerprint, dataset.notes, dataset.sources, log

    usual = read()
    assert where or len(usual) == 4
    with small_blocks(1000):
        assert all(file.is_large for file in open_input(path).files)
        assert read() == usual
    assert skip or (where or "") in str(usual[1])


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.jsonl.gz"])
@pytest.mark.parametrize("skip", [(), "bad"])
def test_lines_are_never_a_whole_text(tmp_path, monkeypatch, name, skip):
    path = tmp_path / name
    data = (TABLE if "csv" in name else ROWS).encode()
    if skip:
        at = data.index(b"q1900")
        data = data[:at] + b"\xff" + data[at:-3]
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    monkeypatch.setattr(
        InputFile, "data", property(lambda file: pytest.fail("it is read as a whole"))
    )
    with small_blocks(1000):
        dataset = load(path, skip=skip)
    assert len(dataset) == 2_000 - bool(skip)
    if skip:
        line = 3802 if "csv" in name else 1901
        assert [error.where for error in dataset.log.repaired] == [f"line {line}"]
        (left_out,) = dataset.log.left_out
        last = "line 4000" if "csv" in name else "line 2000"
        assert left_out.where.partition(" column")[0] == last


@pytest.mark.parametrize("n_bad", [3, 1_500])
def test_of_text_with_more_damaged_than_sound_lines_nothing_is_read(tmp_path, n_bad):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(ROWS.encode().replace(b"rained", b"rai\xffned", n_bad))
    with small_blocks(1000):
        if n_bad < 1_000:
            assert len(load(path, skip="bad").log.repaired) == n_bad
        else:
            with raises(
                DataError, problem="the file is not valid text", where="byte offset 31 (line 1)"
            ):
                load(path, skip="bad")
