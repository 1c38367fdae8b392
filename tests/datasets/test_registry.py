"""The registry of readers: lines, each of which is imported when it is first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from classic_rc.datasets import READERS, Reader

MODULES = {
    *("arc", "cbt", "cnn_dailymail", "dream", "huggingface", "jsonl", "mcscript", "mctest", "multirc", "race"),
    *("record", "squad", "table"),
}


def imported(code: str) -> set[str]:
    """The modules of readers that a fresh process has imported after some code."""
    code = f"import sys\nfrom classic_rc.datasets.registry import *\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {
        name.rpartition(".")[2] for name in done.stdout.split() if name.startswith("classic_rc.datasets.")
    } & MODULES


def test_the_order_of_detection():
    assert list(READERS) == [
        *("mctest", "race", "multirc", "superglue", "record", "cnn-dailymail", "cbt", "quoref", "squad", "dream"),
        *("mcscript", "arc", "huggingface", "jsonl", "table"),
    ]


def test_every_line_names_a_reader_of_its_name():
    for name, reader in READERS.items():
        assert isinstance(reader, Reader)
        assert (reader.name, READERS[name]) == (name, reader)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("list(READERS)", set()),
        ("'race' in READERS, len(READERS.package_of('race') or '')", set()),
        ("load('sample:cloze')", {"jsonl"}),
        ("load(SAMPLES['sample:cloze'], 'jsonl')", {"jsonl"}),
        ("from_rows([{'passage': 'p', 'question': 'q', 'candidates': ['a'], 'gold': 0}])", set()),
        ("load(SAMPLES['sample:cloze'])", MODULES - {"table"}),
    ],
)
def test_only_the_readers_that_are_used_are_imported(code, expected):
    assert imported(code) == expected
