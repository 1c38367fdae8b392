"""Downloads from a server on this machine: good, bad, slow, interrupted and changed in between."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import random
import re
import subprocess
import sys

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.io import download as module
from classic_rc.io.download import Expected, download
from classic_rc.io.files import exclusive_lock
from tests.errors import raises
from tests.http_server import Resource, http_server

CONTENT = random.Random(1).randbytes(300_000)  # several blocks
OTHER = random.Random(2).randbytes(300_000)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


EXPECTED = Expected(len(CONTENT), sha256(CONTENT))
UNKNOWN = Expected()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(module, "RETRY_SECONDS", (0.0, 0.0))
    with http_server() as server:
        server.resources["/a"] = Resource(CONTENT)
        yield server


@pytest.fixture
def partial_file(tmp_path):
    return tmp_path / "a.part"


@pytest.fixture
def interrupted(partial_file):
    """A partial file, as an interrupted download leaves it."""
    partial_file.write_bytes(CONTENT[:100_000])
    return partial_file


def test_a_file_is_downloaded_in_one_request(server, partial_file):
    steps = []
    assert download(f"{server.address}/a", partial_file, EXPECTED, advance=steps.append) == sha256(
        CONTENT
    )
    assert partial_file.read_bytes() == CONTENT
    assert sum(steps) == len(CONTENT)
    assert server.headers("Range") == [None]


def test_an_interrupted_download_is_continued(server, interrupted):
    steps = []
    assert download(f"{server.address}/a", interrupted, EXPECTED, advance=steps.append) == sha256(
        CONTENT
    )
    assert server.headers("Range") == ["bytes=100000-"]
    assert steps[0] == 100_000
    assert sum(steps) == len(CONTENT)


def test_a_connection_that_breaks_is_continued_at_once(server, partial_file):
    server.resources["/a"].cuts = [70_000, 0, 130_000]
    assert download(f"{server.address}/a", partial_file, EXPECTED) == sha256(CONTENT)
    ranges = server.headers("Range")
    assert (len(ranges), ranges[0]) == (4, None)
    assert ranges[1] == ranges[2] != ranges[3]
    assert all(re.fullmatch(r"bytes=[1-9]\d{4,5}-", byte_range) for byte_range in ranges[1:])


def test_without_a_known_sum_a_download_starts_again(server, interrupted):
    """Nothing could tell whether old and new bytes belong together."""
    server.resources["/a"].cuts = [70_000]
    steps = []
    assert download(f"{server.address}/a", interrupted, UNKNOWN, advance=steps.append) == sha256(
        CONTENT
    )
    assert sum(steps) == len(CONTENT)
    assert server.headers("Range") == [None, None]


def test_a_file_that_changed_is_downloaded_from_its_start(server, interrupted):
    interrupted.write_bytes(OTHER[:100_000])
    steps = []
    assert download(f"{server.address}/a", interrupted, EXPECTED, advance=steps.append) == sha256(
        CONTENT
    )
    assert sum(steps) == len(CONTENT)
    assert server.headers("Range") == ["bytes=100000-", None]


def test_a_server_without_ranges_sends_the_file_again(server, interrupted):
    server.resources["/a"].ranges = False
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert len(server.requests) == 1


@pytest.mark.parametrize("start", [CONTENT, CONTENT + b"more"], ids=["complete", "too long"])
def test_a_complete_or_longer_partial_file(server, interrupted, start):
    interrupted.write_bytes(start)
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ([] if start == CONTENT else [f"bytes={len(start)}-", None])


def test_a_part_that_was_not_asked_for_is_not_appended(server, interrupted):
    server.resources["/a"].shift = 1
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ["bytes=100000-", None]


def test_a_wrong_sum_names_both_and_leaves_nothing(server, partial_file):
    server.resources["/a"].content = OTHER
    facts = {"source": f"{server.address}/a", "field": "sha256", "hint": "ask"}
    actual_sum = re.compile(sha256(OTHER))
    expected = re.compile(f"300,000 bytes with sha256 {sha256(CONTENT)}")
    with raises(DataError, found=actual_sum, expected=expected, **facts):
        download(f"{server.address}/a", partial_file, EXPECTED, hint="ask")
    assert list(partial_file.parent.iterdir()) == []
    assert len(server.requests) == 1


def test_a_file_that_is_too_large_is_not_read_to_its_end(server, partial_file):
    server.resources["/a"].content = CONTENT + bytes(5_000_000)
    with raises(DataError, field="sha256", found=re.compile(r"^[34]\d\d,\d\d\d bytes")):
        download(f"{server.address}/a", partial_file, EXPECTED)


@pytest.mark.parametrize(("status", "n_requests"), [(403, 1), (404, 1), (410, 1), (503, 3)])
def test_a_server_without_the_file(server, partial_file, status, n_requests):
    server.resources["/a"].status = status
    with raises(
        DataError, source=f"{server.address}/a", found=re.compile(f"HTTP {status}"), hint="ask"
    ):
        download(f"{server.address}/a", partial_file, EXPECTED, hint="ask")
    assert len(server.requests) == n_requests
    assert list(partial_file.parent.iterdir()) == []


def test_a_server_that_always_truncates(server, partial_file):
    server.resources["/a"] = Resource(CONTENT, ranges=False, cuts=[9_000] * 9)
    with raises(DataError, hint=re.compile("bytes are kept")):
        download(f"{server.address}/a", partial_file, EXPECTED)
    assert partial_file.read_bytes() == CONTENT[: partial_file.stat().st_size]
    with raises(DataError, hint="ask"):
        download(f"{server.address}/a", partial_file, UNKNOWN, hint="ask")


@pytest.mark.parametrize("length", ["abc", "-5", ""])
@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_length_that_is_none_is_a_broken_connection(server, partial_file, length, expected):
    server.resources["/a"] = Resource(CONTENT, length=False, headers={"Content-Length": length})
    with raises(
        DataError, source=f"{server.address}/a", found=re.compile("Content-Length"), hint="ask"
    ):
        download(f"{server.address}/a", partial_file, expected, hint="ask")
    assert len(server.requests) == 3


def test_a_server_that_stops_sending(server, partial_file, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.2)
    server.resources["/a"].stalls = [90_000]
    assert download(f"{server.address}/a", partial_file, EXPECTED) == sha256(CONTENT)
    server.resources["/a"].stalls = [0] * 9
    partial_file.unlink()
    with raises(DataError, found="no answer within 0.2 s"):
        download(f"{server.address}/a", partial_file, EXPECTED)


def test_a_missing_server_is_an_error(server, partial_file):
    with http_server() as gone:
        pass
    with raises(
        DataError,
        source=f"{gone.address}/a",
        found=re.compile("refused", re.IGNORECASE),
        hint="ask",
    ):
        download(f"{gone.address}/a", partial_file, EXPECTED, hint="ask")


def test_redirects_are_followed_and_the_rest_is_asked_for_there(server, interrupted):
    server.resources["/old"] = Resource(b"", redirect=f"{server.address}/a")
    assert download(f"{server.address}/old", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ["bytes=100000-"] * 2


@pytest.mark.parametrize(
    "target", ["file:///etc/hostname", "ftp://127.0.0.1/a", "/old"], ids=["file", "ftp", "loop"]
)
def test_bad_redirects_are_refused(server, partial_file, target):
    server.resources["/old"] = Resource(b"", redirect=target)
    with raises(DataError, source=f"{server.address}/old", problem=re.compile("does not have")):
        download(f"{server.address}/old", partial_file, EXPECTED)


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_content_coding_that_was_not_asked_for_is_undone(server, partial_file, expected):
    server.resources["/a"] = Resource(
        gzip.compress(CONTENT), headers={"Content-Encoding": "gzip"}, cuts=[70_000]
    )
    assert download(f"{server.address}/a", partial_file, expected) == sha256(CONTENT)
    assert partial_file.read_bytes() == CONTENT


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_part_without_being_asked_for_one_is_not_the_file(server, partial_file, expected):
    server.resources["/a"] = Resource(
        CONTENT[:100], status=206, headers={"Content-Range": "bytes 0-99/300000"}
    )
    with raises(DataError, found=re.compile("not requested")):
        download(f"{server.address}/a", partial_file, expected)
    assert list(partial_file.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("resource", "facts"),
    [
        (Resource(b""), {"problem": re.compile("empty")}),
        (Resource(b"", status=204), {"problem": re.compile("empty")}),
    ],
    ids=["empty", "no content"],
)
def test_what_is_no_file_is_not_recorded_as_one(server, partial_file, resource, facts):
    server.resources["/a"] = resource
    with raises(DataError, source=f"{server.address}/a", hint="ask", **facts):
        download(f"{server.address}/a", partial_file, UNKNOWN, hint="ask")
    assert not partial_file.exists()


@pytest.mark.parametrize(
    ("length", "expected", "n_notes"),
    [(True, UNKNOWN, 0), (False, UNKNOWN, 1), (False, EXPECTED, 0)],
)
def test_a_file_whose_end_nobody_knows_is_noted(server, partial_file, length, expected, n_notes):
    server.resources["/a"] = Resource(CONTENT, length=length)
    notes = []
    download(f"{server.address}/a", partial_file, expected, notify=notes.append)
    assert len(notes) == n_notes


def test_starting_again_and_again_is_no_progress(server, partial_file):
    server.resources["/a"] = Resource(CONTENT, shift=1, cuts=[70_000] * 99)
    with raises(DataError, problem=re.compile("broke off")):
        download(f"{server.address}/a", partial_file, EXPECTED)
    assert len(server.requests) < 6


def test_a_proxy_is_used_if_the_environment_names_one(server, partial_file, monkeypatch):
    server.resources["http://data.example/a"] = Resource(CONTENT)
    monkeypatch.setenv("http_proxy", server.address)
    monkeypatch.delenv("no_proxy", raising=False)
    assert download("http://data.example/a", partial_file, EXPECTED) == sha256(CONTENT)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no full device")
def test_a_full_disk_is_an_error(server, partial_file):
    partial_file.symlink_to("/dev/full")
    with raises(UsageError, field="path", found=str(partial_file)) as caught:
        download(f"{server.address}/a", partial_file, EXPECTED)
    assert "No space left on device" in str(caught.value)


def test_a_folder_that_is_missing(server, tmp_path):
    with raises(UsageError, field="path"):
        download(f"{server.address}/a", tmp_path / "none" / "a.part", EXPECTED)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows locks files by other means")
def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="No locks"), exclusive_lock(tmp_path / "lock", lambda: None):
        pass


_HOLDER = """
import sys
from pathlib import Path
from classic_rc.io.files import exclusive_lock
with exclusive_lock(Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    sys.stdin.read(1)
"""


def test_a_lock_is_waited_for_and_ends_with_its_process(tmp_path):
    path, waits = tmp_path / "lock", []
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().split() == [b"held"]

        def kill():
            waits.append(1)
            holder.kill()  # it cannot release the lock itself

        with exclusive_lock(path, kill):
            assert waits == [1]
    with exclusive_lock(path, lambda: waits.append(2)):
        assert waits == [1]
