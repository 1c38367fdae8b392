"""Indexes that several workers build have the files of one process, byte by byte, whatever
happens on the way.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
from pathlib import Path

import pytest
from joblib import parallel_config

from classic_rc.errors import DataError, UsageError
from classic_rc.io.forks import can_fork
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Passage
from classic_rc.retrieval import building
from classic_rc.retrieval.building import build_index
from classic_rc.retrieval.reading import PassageInput, TextFile
from tests.errors import raises
from tests.retrieval.facts import check_index

ASCII = [f"The fox number {n * n % 37} ran to {n}." if n % 11 else "" for n in range(70)]
OTHER = [f"Zoë's {n}th café, 東京 {n % 7}\0{'é' * (n % 3)}" for n in range(40)]
BROKEN = b"".join(b"A \xff fox\xfe %d.\r\n" % (n % 9) for n in range(20))


@pytest.fixture
def corpora(tmp_path):
    """Inputs of each kind, by name; each call makes new objects."""
    paragraphs = [" ".join(ASCII[n : n + n % 5]) for n in range(30)]
    texts = {
        "ascii.txt": "\n".join(ASCII).encode(),
        "other.txt": "\n".join(OTHER).encode(),
        "broken.txt": BROKEN,
        "empty.txt": b"\n \n",
        "paragraphs.txt": "\n".join(paragraphs).encode(),
        "other.txt.gz": gzip.compress("\n".join(OTHER).encode()),
    }
    row_texts = [ASCII[n] if n % 5 else OTHER[n] for n in range(36)]
    rows = [{"id": f"r{n % 17}", "text": text} for n, text in enumerate(row_texts)]
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
            *map(file, ("empty.txt", "ascii.txt")),
            file("rows.jsonl", paragraphs=True),
            PassageInput("set", passages),
            *map(file, ("empty.txt", "other.txt.gz", "broken.txt", "other.txt")),
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
        with small_blocks(limit):
            build_index(corpora["all"](), tmp_path / name, segment_sentences=25, jobs=n)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


@pytest.fixture(params=["forks", "workers"])
def processes(request):
    """Build with forks if the system can fork, and with joblib's workers if another thread runs."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    if request.param == "workers":
        thread.start()
    elif not can_fork():
        pytest.skip("only Linux forks safely")
    yield request.param
    done.set()


@pytest.mark.usefixtures("processes")
@pytest.mark.parametrize(("size", "jobs"), [(40, 2), (9, 2), (9, 4)])
def test_processes_give_the_files_of_one_process(corpora, tmp_path, size, jobs):
    build_index(corpora["all"](), tmp_path / "one", segment_sentences=size)
    build_index(corpora["all"](), tmp_path / "several", segment_sentences=size, jobs=jobs)
    assert files_of(tmp_path / "several") == files_of(tmp_path / "one")


def test_dask_workers_give_the_files_of_one_process(corpora, tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    build_index(corpora["all"](), tmp_path / "one", segment_sentences=40)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, dashboard_address=None
        ) as cluster,
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
        build_index(
            inputs, tmp_path / str(jobs), segment_sentences=25, jobs=jobs, advance=read.append
        )
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
    n_kept = len(list((tmp_path / "several").glob("segment-*.bin")))
    assert n_kept == 41 // size
    mend()
    build_index([TextFile(str(path))], tmp_path / "whole", segment_sentences=size)
    for name, jobs in (("one", 2), ("several", 1)):  # each goes on with the other's number
        built = build_index(
            [TextFile(str(path))], tmp_path / name, segment_sentences=size, jobs=jobs
        )
        assert built.kept == n_kept
    files_of_one_process = files_of(tmp_path / "whole")
    assert files_of(tmp_path / "one") == files_of(tmp_path / "several") == files_of_one_process


def test_a_killed_worker_is_one_error_and_loses_no_finished_segment(
    corpora, tmp_path, monkeypatch, processes
):
    real = building.write_segment

    def write_or_die(folder, key, arrays):
        if b"ran to 62." in arrays["sentence_data"].tobytes():
            os.kill(os.getpid(), signal.SIGTERM)  # Windows has no other
        return real(folder, key, arrays)

    build = building._build_in_worker

    def build_or_die(*task):
        building.write_segment = write_or_die
        return build(*task)

    with monkeypatch.context() as patched:
        if processes == "forks":
            patched.setattr(building, "write_segment", write_or_die)
        else:
            patched.setattr(building, "_build_in_worker", build_or_die)
        with raises(UsageError, field="jobs") as caught:
            build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert "run the same command again" in str(caught.value)
    finished = len(list((tmp_path / "index").glob("segment-*.bin")))
    assert (
        build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2).kept
        == finished
    )
    build_index(corpora["one file"](), tmp_path / "whole", segment_sentences=20)
    assert files_of(tmp_path / "index") == files_of(tmp_path / "whole")


@pytest.mark.usefixtures("threads")
def test_what_other_builds_left_is_removed(corpora, tmp_path):
    (tmp_path / "index").mkdir()
    for name in ("segment-0123.bin.1-2.tmp", "segment-0123.bin"):
        (tmp_path / "index" / name).write_bytes(b"x")
    build_index(corpora["one file"](), tmp_path / "index", segment_sentences=20, jobs=2)
    assert {name for name in files_of(tmp_path / "index") if "0123" in name} == set()


def test_no_jobs_are_refused(corpora, tmp_path):
    with raises(UsageError, field="jobs", found="0"):
        build_index(corpora["one file"](), tmp_path / "index", jobs=0)
