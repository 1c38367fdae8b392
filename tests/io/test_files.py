"""Only regular files and standard input are read, and no input may be larger than one limit."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.datasets.labels import read_labels
from classic_rc.errors import DataError
from classic_rc.formats import read_predictions
from classic_rc.io import files
from classic_rc.io.files import read_input, sha256_of
from classic_rc.io.text import read_line_blocks, read_text
from classic_rc.retrieval.reading import find_files, read_texts
from classic_rc.solvers import load_solver
from classic_rc.text.analyzers import stop_words
from classic_rc.text.annotations import read_annotations
from classic_rc.text.wordnet import WordNet
from tests.errors import raises

ROW = {
    "id": "a",
    "passage": "Ann sang.",
    "question": "Who?",
    "candidates": ["Ann", "Bob"],
    "gold": 0,
}
UNIX = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
DATA = load("sample:single-choice")

READ = {
    "data": load,
    "text": read_text,
    "predictions": lambda path: read_predictions(path, DATA),
    "labels": lambda path: read_labels(path, DATA),
    "annotations": read_annotations,
    "saved solver": load_solver,
    "hash": sha256_of,
    "stop words": lambda path: stop_words(str(path)),
    "texts": lambda path: read_texts(str(path)),
    "lines": lambda path: list(read_line_blocks(str(path), lambda n_bytes: None)),
    "zip": lambda path: WordNet(str(path)),
}
LIMITED = sorted(READ.keys() - {"hash", "texts", "lines"})
"""What is read into memory as a whole. The others are read block by block or line by line."""


@pytest.fixture
def place(tmp_path):
    """A path that fits every kind of input by its name."""
    return lambda kind: tmp_path / {"zip": "wordnet.zip"}.get(kind, "input.jsonl")


@UNIX
@pytest.mark.parametrize("kind", READ)
def test_a_pipe_is_refused_and_never_waited_for(kind, place):
    path = place(kind)
    os.mkfifo(path)
    with raises(
        DataError, source=str(path), found="a named pipe", expected=re.compile("regular file")
    ) as caught:
        READ[kind](path)
    assert caught.value.exit_code == 3


@UNIX
def test_a_pipe_in_a_folder_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW), "utf-8")
    os.mkfifo(tmp_path / "b.jsonl")
    for read in (load, lambda path: find_files(str(path)), lambda path: read_texts(str(path))):
        with raises(DataError, source=str(tmp_path / "b.jsonl"), found="a named pipe"):
            read(tmp_path)


@UNIX
def test_a_pipe_with_the_name_of_the_answers_is_not_hidden_gold(tmp_path):
    from tests.datasets.conftest import MCTEST

    (tmp_path / "mc160.dev.tsv").write_text(MCTEST, "utf-8")
    os.mkfifo(tmp_path / "mc160.dev.ans")
    with raises(DataError, source=str(tmp_path / "mc160.dev.ans"), found="a named pipe"):
        load(tmp_path / "mc160.dev.tsv")


@pytest.mark.parametrize("kind", LIMITED)
def test_every_kind_of_input_has_the_limit(kind, place, monkeypatch):
    monkeypatch.setattr(files, "MAX_INPUT", 1000)
    path = place(kind)
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("wordnet/index.noun", bytes(1001))
    else:
        path.write_bytes(bytes(1001))
    with raises(
        DataError, problem=re.compile("^too large"), expected="at most 1,000 bytes"
    ) as caught:
        READ[kind](path)
    assert str(caught.value.source).startswith(str(path))


def test_the_limit_itself_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_INPUT", 10)
    (tmp_path / "f").write_bytes(bytes(10))
    (tmp_path / "empty").write_bytes(b"")
    assert read_input(tmp_path / "f") == bytes(10)
    assert read_input(tmp_path / "empty") == b""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="there is no file of unknown size"
)
def test_a_file_that_is_larger_than_its_size_says(monkeypatch):
    assert os.stat("/proc/self/status").st_size == 0
    assert b"VmRSS" in read_input("/proc/self/status")
    monkeypatch.setattr(files, "MAX_INPUT", 10)
    with raises(DataError, source="/proc/self/status", found="more than 10 bytes"):
        read_input("/proc/self/status")


@pytest.mark.ci
@UNIX
@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0"])
def test_standard_input_is_read_under_its_own_path(path):
    code = (
        f"from classic_rc.datasets import load; data = load({path!r}); print(len(data), "
        "*data.sources)"
    )
    row = json.dumps(ROW).encode()
    done = subprocess.run(
        [sys.executable, "-c", code], input=row, capture_output=True, check=True, timeout=120
    )
    assert done.stdout.decode().startswith("1 ")
    code = "from classic_rc.io.files import *; from classic_rc.io.files import *; "
    code += f"print(read_input({path!r}) == read_input({path!r}), sha256_of({path!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=row, capture_output=True, check=True, timeout=120
    )
    assert done.stdout.decode().split() == ["True", hashlib.sha256(row).hexdigest()]


def test_members_of_a_tar_archive_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILES", 3)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for number in range(4):
            folder = tarfile.TarInfo(f"RACE/{number}")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
    for name, data in (
        ("a.tar", stream.getvalue()),
        ("a.tar.gz", gzip.compress(stream.getvalue())),
    ):
        (tmp_path / name).write_bytes(data)
        with raises(
            DataError, source=str(tmp_path / name), found="more than 3", expected="at most 3"
        ):
            load(tmp_path / name)


def test_members_of_a_saved_solver_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILES", 3)
    path = tmp_path / "model.npz"
    np.savez(path, *(np.ones(1) for _ in range(4)))
    monkeypatch.setattr(zipfile, "ZipFile", lambda *args: pytest.fail("the table was read"))
    with raises(DataError, source=str(path), problem="too many members", found="more than 3"):
        load_solver(path)
