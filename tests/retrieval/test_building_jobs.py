"""Indexes that several workers build have the files of one process, byte by byte, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import os
import signal
from pathlib import Path

import pytest
from joblib import parallel_config

from classic_rc.errors import DataError, UsageError
from classic_rc.questions import Passage
from classic_rc.retrieval import building
from classic_rc.retrieval.build_state import BUILDING
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval import open_corpus
from classic_rc.retrieval.storage import read_folder
from classic_rc.retrieval.reading import PassageInput, TextFile
from tests.errors import raises

ASCII = [f"The fox number {n * n % 37} ran to {n}." if n % 11 else "" for n in range(70)]
OTHER = [f"Zoë's {n}th café, 東京 {n % 7}\0{'é' * (n % 3)}" for n in range(40)]
BROKEN = b"".join(b"A \xff fox\xfe %d.\r\n" % (n % 9) for n in range(20))


@pytest.fixture
def corpora(tmp_path):
    """Inputs of each kind, by name; each call makes new objects."""
    texts = {
        "ascii.txt": "\n".join(ASCII).encode(),
        "other.txt": "\n".join(OTHER).encode(),
        "broken.txt": BROKEN,
        "empty.txt": b"\n \n",
        "paragraphs.txt": "\n".join(" ".join(ASCII[n : n + n % 5]) for n in range(30)).encode(),
        "other.txt.gz": gzip.compress("\n".join(OTHER).encode()),
    }
    rows = [{"id": f"r{n % 17}", "text": ASCII[n] if n % 5 else OTHER[n]} for n in range(36)]
    del rows[33]["id"]
    rows[30]["text"] = " "
    texts["rows.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
    passages = [Passage(f"p{n}", " ".join(ASCII[n : n + n % 6])) for n in range(20)]

    def file(name, **options):
        return TextFile(str(tmp_path / name), **options)

    return {
        "one file": lambda: [file("ascii.txt")],
        "not ASCII": lambda: [file("other.txt")],
        "compressed": lambda: [file("other.txt.gz")],
        "not UTF-8": lambda: [file("broken.txt")],
        "paragraphs": lambda: [file("paragraphs.txt", paragraphs=True)],
        "ids": lambda: [file("rows.jsonl")],
        "passages": lambda: [PassageInput("set", passages), PassageInput("none", [])],
        "all": lambda: [
            *(file("empty.txt"), file("ascii.txt"), file("rows.jsonl", paragraphs=True), file("empty.txt")),
            *(PassageInput("set", passages), file("other.txt.gz"), file("broken.txt"), file("other.txt")),
        ],
    }


KINDS = ["one file", "not ASCII", "compressed", "not UTF-8", "paragraphs", "ids", "passages", "all"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


@pytest.fixture
def threads():
    """Workers that are threads: each has a cache of its own, as a process has."""
    with parallel_config(backend="threading"):
        yield


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("size", "jobs"), [(9, 3), (20, 2), (1000, 2)])
def test_every_corpus_gives_the_files_of_one_process(corpora, tmp_path, kind, size, jobs):
    for name, n in (("one", 1), ("several", jobs)):
        build_index(corpora[kind](), tmp_path / name, segment_sentences=size, jobs=n)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("limit", [60, 500])
def test_segments_that_end_with_much_text_are_the_same(corpora, tmp_path, limit):
    for name, n in (("one", 1), ("several", 2)):
        build_index(corpora["all"](), tmp_path / name, segment_sentences=25, segment_characters=limit, jobs=n)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


def test_processes_give_the_files_of_one_process(corpora, tmp_path):
    build_index(corpora["all"](), tmp_path / "one", segment_sentences=40)
    build_index(corpora["all"](), tmp_path / "several", segment_sentences=40, jobs=2)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


def test_dask_workers_give_the_files_of_one_process(corpora, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    build_index(corpora["all"](), tmp_path / "one", segment_sentences=40)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        build_index(corpora["all"](), tmp_path / "several", segment_sentences=40, jobs=-1)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


@pytest.mark.usefixtures("threads")
def test_adding_gives_the_files_of_one_process(corpora, tmp_path):
    for name, jobs in (("one", 1), ("several", 2)):
        build_index(corpora["ids"](), tmp_path / name, segment_sentences=25, jobs=jobs)
        build_index(corpora["all"](), tmp_path / name, segment_sentences=25, jobs=jobs, append=True)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")
    assert check_index(tmp_path / "several").counts.sentences > 150


@pytest.mark.usefixtures("threads")
def test_progress_is_that_of_one_process(corpora, tmp_path):
    for jobs in (1, 2):
        read = []
        inputs = corpora["all"]()
        build_index(inputs, tmp_path / str(jobs), segment_sentences=25, jobs=jobs, advance=read.append)
        assert sum(read) == sum(source.size for source in inputs)


@pytest.fixture
def bad_rows(tmp_path):
    """JSON lines of which the 42nd is none, and a function that mends it."""
    path = tmp_path / "bad.jsonl"
    rows = [json.dumps({"text": text}) + "\n" for text in ASCII if text]
    path.write_text("".join([*rows[:41], "{no\n", *rows[41:]]), encoding="utf-8")
    return path, lambda: path.write_text("".join(rows), encoding="utf-8")


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", [10, 25])
def test_an_error_is_that_of_one_process_and_keeps_as_much(bad_rows, tmp_path, size):
    path, mend = bad_rows
    for name, jobs in (("one", 1), ("several", 2)):
        with raises(DataError, source=str(path), line=42):
            build_index([TextFile(str(path))], tmp_path / name, segment_sentences=size, jobs=jobs)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")
    n_kept = len(list((tmp_path / "several").glob("segment-*")))
    assert n_kept == 41 // size
    mend()
    build_index([TextFile(str(path))], tmp_path / "whole", segment_sentences=size)
    for name, jobs in (("one", 2), ("several", 1)):  # each goes on with the other's number
        built = build_index([TextFile(str(path))], tmp_path / name, segment_sentences=size, jobs=jobs)
        assert built.kept == n_kept
    whole = files_of(tmp_path / "whole")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "several") == whole


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("calls", [1, 2, 3])
def test_an_interruption_keeps_what_is_being_built(corpora, tmp_path, monkeypatch, calls):
    reads = iter(range(calls))
    real = building._SegmentReader.finish

    def interrupt(reader, position):
        if next(reads, None) is None:
            raise KeyboardInterrupt
        return real(reader, position)

    with monkeypatch.context() as patched:
        patched.setattr(building._SegmentReader, "finish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_index(corpora["all"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert len(list((tmp_path / "index").glob("segment-*"))) == calls // 2 * 2
    with raises(DataError, source=str(tmp_path / "index")):
        open_corpus(tmp_path / "index")
    for name in ("index", "whole"):
        build_index(corpora["all"](), tmp_path / name, segment_sentences=20, jobs=2)
    assert files_of(tmp_path / "index") == files_of(tmp_path / "whole")


def test_a_killed_worker_is_one_error_and_loses_no_finished_segment(corpora, tmp_path, monkeypatch):
    last = str(tmp_path / "killed")

    def write_or_die(texts, *args):
        if "ran to 62." in "".join(texts):
            Path(last).touch()
            os.kill(os.getpid(), signal.SIGTERM)  # Windows has no other
        return building._write_in_worker(texts, *args)  # in the worker it is the real function

    with monkeypatch.context() as patched:
        patched.setattr(building, "_write_in_worker", write_or_die)
        with raises(UsageError, field="jobs") as caught:
            build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert os.path.exists(last)
    assert "run the same command again" in str(caught.value)
    assert json.loads((tmp_path / "index" / BUILDING).read_text(encoding="utf-8"))["position"][1] == 44
    assert build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2).kept == 2
    build_index(corpora["one file"](), tmp_path / "whole", segment_sentences=20)
    assert files_of(tmp_path / "index") == files_of(tmp_path / "whole")


@pytest.mark.usefixtures("threads")
def test_an_error_of_a_worker_is_raised_as_it_is(corpora, tmp_path, monkeypatch):
    def refuse(path, arrays, sync):
        raise UsageError(f"cannot write {path}: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(building, "write_arrays", refuse)
        with pytest.raises(UsageError, match="No space left"):
            build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20).kept == 0


@pytest.mark.usefixtures("threads")
def test_files_of_workers_are_on_the_disk_before_the_build_counts_them(corpora, tmp_path, monkeypatch):
    synced = []
    real = os.fsync

    def sync(number):
        synced.append(os.fstat(number).st_ino)
        real(number)

    monkeypatch.setattr(os, "fsync", sync)
    folder = tmp_path / "index"
    monkeypatch.setattr(
        building.BuildState, "write", lambda state, *_: counted.append((state.n_segments, [*synced]))
    )
    counted = []
    build_index(corpora["one file"](), folder, segment_sentences=20, jobs=2)
    files = [path.stat().st_ino for path in sorted(folder.glob("segment-*"))]
    assert [n for n, _ in counted] == list(range(1, len(files) + 1))
    assert all(set(files[:n]) <= set(seen) for n, seen in counted)


@pytest.mark.usefixtures("threads")
def test_workers_without_the_folder_are_one_error(corpora, tmp_path, monkeypatch):
    real = building._write_in_worker

    def write_elsewhere(texts, places, folder, *args):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        return real(texts, places, elsewhere, *args)

    monkeypatch.setattr(building, "_write_in_worker", write_elsewhere)
    with raises(
        UsageError, field="folder", found=str(tmp_path / "index"), expected="a folder that all workers share"
    ):
        build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)


@pytest.mark.usefixtures("threads")
def test_what_lost_workers_left_is_removed(corpora, tmp_path):
    (tmp_path / "index").mkdir()
    for name in ("segment-0123.part", "segment-0123.part.tmp"):
        (tmp_path / "index" / name).write_bytes(b"x")
    build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert {name for name in files_of(tmp_path / "index") if "part" in name} == set()


def test_no_jobs_are_refused(corpora, tmp_path):
    with raises(UsageError, field="jobs", found="0"):
        build_index(corpora["one file"](), tmp_path / "index", jobs=0)
