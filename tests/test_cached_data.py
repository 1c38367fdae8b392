"""Tests find the authors' files in the cache of ``classic-rc fetch``, and are skipped where a
file is missing.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests import cached_data


@pytest.fixture
def laid_out(tmp_path, monkeypatch):
    """The tests' folder for a cache with some files of three datasets."""
    cache = tmp_path / "cache"
    archives = {
        "mctest/MCTest.zip": [
            "MCTest/mc160.dev.tsv",
            "MCTest/mc160.dev.ans",
            "MCTest/mc160.test.tsv",
            "MCTest/a.txt",
        ],
        "mctest/RTE.scores.zip": ["mc160.dev.scores", "mc160.test.scores"],
        "superglue-multirc/MultiRC.zip": ["MultiRC/val.jsonl", "MultiRC/train.jsonl"],
    }
    for name, members in archives.items():
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(cache / name, "w") as archive:
            for member in members:
                archive.writestr(member, member)
    (cache / "race").mkdir()
    (cache / "race" / "RACE.tar.gz").write_bytes(b"exams")
    monkeypatch.setenv("CLASSIC_RC_DATA", str(cache))
    monkeypatch.setattr(
        cached_data, "is_cached", lambda file: cached_data.cached_path(file).is_file()
    )
    return cached_data.lay_out(tmp_path / "data")


def test_files_are_where_the_tests_look(laid_out):
    files = sorted(
        path.relative_to(laid_out).as_posix()
        for path in Path(laid_out).rglob("*")
        if path.is_file()
    )
    assert files == [
        "mctest/mc160.dev.ans",
        "mctest/mc160.dev.tsv",
        "mctest/scores/RTE/mc160.dev.scores",
        "multirc/superglue/val.jsonl",
        "race/RACE-train-dev.tar.gz",
    ]
    assert (laid_out / "mctest" / "mc160.dev.tsv").read_text(
        encoding="utf-8"
    ) == "MCTest/mc160.dev.tsv"


@pytest.mark.parametrize(
    "parts", [["dream"], ["mctest", "mc500.dev.tsv"], ["multirc/dev_83-fixedIds.json"]]
)
def test_a_test_without_its_file_is_skipped_with_the_command(laid_out, parts):
    *before, missing = parts
    with pytest.raises(pytest.skip.Exception, match="classic-rc fetch --all mctest "):
        _ = laid_out.joinpath(*before) / missing


def test_the_command_fetches_what_the_tests_read():
    assert set(cached_data.FETCHED.split()) <= set(cached_data.named_datasets())
