"""One writer at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from classic_rc.errors import UsageError
from classic_rc.retrieval.building import exclusive

HOLD = """
import sys
from classic_rc.retrieval.building import exclusive
with exclusive(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of a folder until it ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"held"
    yield process
    process.kill()
    process.communicate()


def test_a_second_writer_is_refused_until_the_first_is_done(holder, tmp_path):
    with pytest.raises(UsageError, match="another build is at work in"), exclusive(tmp_path):
        pass
    holder.communicate()
    with exclusive(tmp_path):
        pass


def test_a_killed_writer_holds_nothing(holder, tmp_path):
    holder.kill()
    holder.wait()
    with exclusive(tmp_path):
        pass


def test_it_is_refused_in_the_same_process_too_and_let_go_after_an_error(tmp_path):
    with pytest.raises(UsageError, match="another build"), exclusive(tmp_path), exclusive(tmp_path):
        pass
    with exclusive(tmp_path):
        pass


def test_other_folders_are_free(holder, tmp_path):
    (tmp_path / "other").mkdir()
    with exclusive(tmp_path / "other"):
        pass


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="cannot write in"), exclusive(tmp_path / "nothing"):
        pass
