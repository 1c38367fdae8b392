"""Downloads from a server on this machine: good, bad, slow, interrupted and changed in between."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import random
import re
import subprocess
import sys

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.io import download as module
from classic_rc.io.download import Expected, download, exclusive_lock, finish_download
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
def part(tmp_path):
    return tmp_path / "a.part"


@pytest.fixture
def interrupted(part):
    """A partial file, as an interrupted download of version 1 leaves it."""
    part.write_bytes(CONTENT[:100_000])
    part.with_name("a.part.json").write_text(json.dumps({"if_range": '"v1"'}), encoding="utf-8")
    return part


def test_a_file_is_downloaded_in_one_request(server, part):
    steps = []
    assert download(f"{server.address}/a", part, EXPECTED, advance=steps.append) == sha256(CONTENT)
    assert part.read_bytes() == CONTENT
    assert sum(steps) == len(CONTENT)
    assert server.headers("Range") == [None]


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_an_interrupted_download_is_continued(server, interrupted, expected):
    steps = []
    assert download(f"{server.address}/a", interrupted, expected, advance=steps.append) == sha256(CONTENT)
    assert (server.headers("Range"), server.headers("If-Range")) == (["bytes=100000-"], ['"v1"'])
    assert steps[0] == 100_000
    assert sum(steps) == len(CONTENT)


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_connection_that_breaks_is_continued_at_once(server, part, expected):
    server.resources["/a"].cuts = [70_000, 0, 130_000]
    assert download(f"{server.address}/a", part, expected) == sha256(CONTENT)
    assert server.headers("Range") == [None, "bytes=70000-", "bytes=70000-", "bytes=200000-"]


def test_a_date_identifies_the_version_if_there_is_no_strong_tag(server, part):
    date = "Mon, 02 Mar 2020 10:00:00 GMT"
    server.resources["/a"] = Resource(CONTENT, etag='W/"v1"', last_modified=date, cuts=[50_000])
    download(f"{server.address}/a", part, UNKNOWN)
    assert server.headers("If-Range") == [None, date]


def test_a_file_that_changed_is_downloaded_from_its_start(server, interrupted):
    server.resources["/a"] = Resource(OTHER, etag='"v2"')
    steps = []
    assert download(f"{server.address}/a", interrupted, UNKNOWN, advance=steps.append) == sha256(OTHER)
    assert interrupted.read_bytes() == OTHER
    assert sum(steps) == len(OTHER)
    assert server.headers("Range") == ["bytes=100000-"]


def test_a_server_without_ranges_sends_the_file_again(server, interrupted):
    server.resources["/a"].ranges = False
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert len(server.requests) == 1


def test_without_a_version_only_a_known_sum_allows_to_continue(server, part):
    server.resources["/a"].etag = None
    for expected, asked in ((EXPECTED, "bytes=100000-"), (UNKNOWN, None)):
        server.requests.clear()
        part.write_bytes(CONTENT[:100_000])
        assert download(f"{server.address}/a", part, expected) == sha256(CONTENT)
        assert server.headers("Range") == [asked]


def test_a_bad_start_is_downloaded_again_once(server, part):
    server.resources["/a"].etag = None
    part.write_bytes(OTHER[:100_000])
    assert download(f"{server.address}/a", part, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ["bytes=100000-", None]


@pytest.mark.parametrize("start", [CONTENT, CONTENT + b"more"], ids=["complete", "too long"])
def test_a_complete_or_longer_partial_file(server, interrupted, start):
    interrupted.write_bytes(start)
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ([] if start == CONTENT else [f"bytes={len(start)}-", None])


def test_a_part_that_was_not_asked_for_is_not_appended(server, interrupted):
    server.resources["/a"].shift = 1
    assert download(f"{server.address}/a", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ["bytes=100000-", None]


def test_a_wrong_sum_names_both_and_leaves_nothing(server, part):
    server.resources["/a"].content = OTHER
    facts = {"source": f"{server.address}/a", "field": "sha256", "hint": "ask"}
    found, expected = re.compile(sha256(OTHER)), re.compile(f"300,000 bytes with sha256 {sha256(CONTENT)}")
    with raises(DataError, found=found, expected=expected, **facts):
        download(f"{server.address}/a", part, EXPECTED, hint="ask")
    assert list(part.parent.iterdir()) == []
    assert len(server.requests) == 1


def test_a_file_that_is_too_large_is_not_read_to_its_end(server, part):
    server.resources["/a"].content = CONTENT + bytes(5_000_000)
    with raises(DataError, field="sha256", found=re.compile(r"^[34]\d\d,\d\d\d bytes")):
        download(f"{server.address}/a", part, EXPECTED)


@pytest.mark.parametrize(("status", "n_requests"), [(403, 1), (404, 1), (410, 1), (503, 3)])
def test_a_server_without_the_file(server, part, status, n_requests):
    server.resources["/a"].status = status
    with raises(DataError, source=f"{server.address}/a", found=re.compile(f"HTTP {status}"), hint="ask"):
        download(f"{server.address}/a", part, EXPECTED, hint="ask")
    assert len(server.requests) == n_requests
    assert list(part.parent.iterdir()) == []


def test_a_server_that_always_truncates(server, part):
    server.resources["/a"] = Resource(CONTENT, ranges=False, cuts=[1_000] * 9)
    with raises(DataError, found="1,000 of 300,000 bytes", hint=re.compile("1,000 bytes are kept")):
        download(f"{server.address}/a", part, EXPECTED)
    assert part.read_bytes() == CONTENT[:1_000]


def test_a_server_that_stops_sending(server, part, monkeypatch):
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.2)
    server.resources["/a"].stalls = [90_000]
    assert download(f"{server.address}/a", part, EXPECTED) == sha256(CONTENT)
    server.resources["/a"].stalls = [0] * 9
    part.unlink()
    with raises(DataError, found="no answer within 0.2 s"):
        download(f"{server.address}/a", part, EXPECTED)


def test_no_server(server, part):
    with http_server() as gone:
        pass
    with raises(DataError, source=f"{gone.address}/a", found=re.compile("refused", re.IGNORECASE), hint="ask"):
        download(f"{gone.address}/a", part, EXPECTED, hint="ask")


def test_redirects_are_followed_and_the_rest_is_asked_for_there(server, interrupted):
    server.resources["/old"] = Resource(b"", redirect=f"{server.address}/a")
    assert download(f"{server.address}/old", interrupted, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == ["bytes=100000-"] * 2


@pytest.mark.parametrize(
    "target", ["file:///etc/hostname", "ftp://127.0.0.1/a", "/old"], ids=["file", "ftp", "loop"]
)
def test_bad_redirects(server, part, target):
    server.resources["/old"] = Resource(b"", redirect=target)
    with raises(DataError, source=f"{server.address}/old", found=re.compile("HTTP 302")):
        download(f"{server.address}/old", part, EXPECTED)


@pytest.mark.parametrize("address", ["http://[::1/a", "http://[bad/"], ids=["mirror", "redirect"])
def test_addresses_that_are_none(server, part, address):
    server.resources["/old"] = Resource(b"", redirect=address)
    start = address if "::" in address else f"{server.address}/old"
    with raises(DataError, source=start, found=re.compile("Invalid IPv6"), hint="ask"):
        download(start, part, EXPECTED, hint="ask")


def test_messages_have_one_line_whatever_the_server_says(server, part):
    server.resources["/old"] = Resource(b"", redirect="/old")
    with raises(DataError) as caught:
        download(f"{server.address}/old", part, EXPECTED)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_content_coding_that_was_not_asked_for_is_undone(server, part, expected):
    server.resources["/a"] = Resource(gzip.compress(CONTENT), headers={"Content-Encoding": "gzip"}, cuts=[70_000])
    assert download(f"{server.address}/a", part, expected) == sha256(CONTENT)
    assert part.read_bytes() == CONTENT
    assert not part.with_name("a.part.json").exists()
    server.resources["/a"].headers["Content-Encoding"] = "br"
    part.unlink()
    with raises(DataError, field="Content-Encoding", found="br", expected="identity"):
        download(f"{server.address}/a", part, expected)


def test_damaged_gzip_is_no_file(server, part):
    server.resources["/a"] = Resource(CONTENT, headers={"Content-Encoding": "gzip"})
    with raises(DataError, found=re.compile("damaged gzip")):
        download(f"{server.address}/a", part, UNKNOWN)


def test_a_version_that_the_server_mixes_up_is_not_appended(server, interrupted):
    """Some servers ignore If-Range."""
    server.resources["/a"] = Resource(OTHER, etag='"v2"', heeds_if_range=False)
    assert download(f"{server.address}/a", interrupted, UNKNOWN) == sha256(OTHER)
    assert server.headers("Range") == ["bytes=100000-", None]


@pytest.mark.parametrize("expected", [EXPECTED, UNKNOWN])
def test_a_part_without_being_asked_for_one_is_not_the_file(server, part, expected):
    server.resources["/a"] = Resource(CONTENT[:100], status=206, headers={"Content-Range": "bytes 0-99/300000"})
    with raises(DataError, found=re.compile("not asked for")):
        download(f"{server.address}/a", part, expected)
    assert list(part.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("resource", "facts"),
    [
        (Resource(b""), {"problem": re.compile("empty")}),
        (Resource(b"", status=204), {"found": re.compile("HTTP 204")}),
        (
            Resource(b"<html>Log in", headers={"Content-Type": "text/html; charset=utf-8"}),
            {"field": "Content-Type", "found": "text/html"},
        ),
    ],
    ids=["empty", "no content", "web page"],
)
def test_what_is_no_file_is_not_recorded_as_one(server, part, resource, facts):
    server.resources["/a"] = resource
    with raises(DataError, source=f"{server.address}/a", hint="ask", **facts):
        download(f"{server.address}/a", part, UNKNOWN, hint="ask")
    assert not part.exists()


def test_a_connection_that_ends_early_without_a_length_is_continued(server, part):
    server.resources["/a"] = Resource(CONTENT, length=False, cuts=[70_000])
    assert download(f"{server.address}/a", part, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == [None, "bytes=70000-"]


@pytest.mark.parametrize(
    ("length", "expected", "n_notes"), [(True, UNKNOWN, 0), (False, UNKNOWN, 1), (False, EXPECTED, 0)]
)
def test_a_file_whose_end_nobody_knows_is_noted(server, part, length, expected, n_notes):
    server.resources["/a"] = Resource(CONTENT, length=length)
    notes = []
    download(f"{server.address}/a", part, expected, notify=notes.append)
    assert len(notes) == n_notes


def test_a_file_of_unknown_size_has_a_limit(server, part, monkeypatch):
    monkeypatch.setattr("classic_rc.io.files.MAX_INPUT", 200_000)
    with raises(DataError, source=f"{server.address}/a", found=re.compile("more than 200,000 bytes")):
        download(f"{server.address}/a", part, UNKNOWN)
    assert list(part.parent.iterdir()) == []


def test_starting_again_and_again_is_no_progress(server, part):
    server.resources["/a"] = Resource(CONTENT, shift=1, cuts=[70_000] * 99)
    with raises(DataError, problem=re.compile("broke off")):
        download(f"{server.address}/a", part, EXPECTED)
    assert len(server.requests) < 6


def test_a_proxy_is_used_if_the_environment_names_one(server, part, monkeypatch):
    server.resources["http://data.example/a"] = Resource(CONTENT)
    monkeypatch.setattr("urllib.request._opener", None)  # it keeps the proxies of its first use
    monkeypatch.setenv("http_proxy", server.address)
    monkeypatch.delenv("no_proxy", raising=False)
    assert download("http://data.example/a", part, EXPECTED) == sha256(CONTENT)


def test_a_full_disk_keeps_what_has_arrived(server, part, monkeypatch):
    class FullDisk:
        """A file that has space for one block."""

        def __init__(self, file):
            self.file, self.n_blocks = file, 0

        def write(self, block):
            self.n_blocks += 1
            if self.n_blocks > 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return self.file.write(block)

        def __getattr__(self, name):
            return getattr(self.file, name)

    with monkeypatch.context() as patched:
        patched.setattr(module, "open", lambda *args: FullDisk(open(*args)), raising=False)  # noqa: SIM115
        with raises(UsageError, field="path", found=str(part)) as caught:
            download(f"{server.address}/a", part, EXPECTED)
    assert "No space left on device" in str(caught.value)
    n_kept = part.stat().st_size
    assert 0 < n_kept < len(CONTENT)
    assert download(f"{server.address}/a", part, EXPECTED) == sha256(CONTENT)
    assert server.headers("Range") == [None, f"bytes={n_kept}-"]


def test_a_folder_that_is_missing(server, tmp_path):
    with raises(UsageError, field="path"):
        download(f"{server.address}/a", tmp_path / "none" / "a.part", EXPECTED)


def test_a_complete_file_is_moved_and_leaves_nothing(server, part):
    download(f"{server.address}/a", part, EXPECTED)
    finish_download(part, part.with_name("a"))
    assert [path.name for path in part.parent.iterdir()] == ["a"]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(module, "_lock_file", refuse)
    with raises(UsageError, field="path", found=str(tmp_path / "lock")), exclusive_lock(tmp_path / "lock"):
        pass


_HOLDER = """
import sys
from pathlib import Path
from classic_rc.io.download import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
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
