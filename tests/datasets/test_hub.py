"""The Hugging Face hub and folders of ``save_to_disk``, with the real ``datasets`` and a hub of
our own.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from classic_rc.datasets import load
from classic_rc.datasets.fetch import is_hub_name
from classic_rc.datasets.folder import list_datasets
from classic_rc.errors import DataError, MissingPackageError, UsageError
from tests.errors import raises
from tests.fake_hub import fake_hub

needs_datasets = pytest.mark.skipif(
    find_spec("datasets") is None, reason="datasets is missing: pip install '.[hf]'"
)
FIELDS = "passage=ctx,question=q,candidates=opts,gold=lab"
PLAIN = [
    {"ctx": "Ann met Bob.", "q": f"Who {i}?", "opts": ["Ann", "Bob"], "lab": i % 2}
    for i in range(4)
]
CARD = b"""---
configs:
- config_name: high
  data_files:
  - split: train
    path: high/train-*
  - split: validation
    path: high/validation-*
- config_name: middle
  data_files:
  - split: validation
    path: middle/validation-*
---
"""


def _race(n):
    return [
        {
            "example_id": f"high{i // 2}.txt",
            "article": f"Ann met Bob in {i // 2}.",
            "question": f"Who {i}?",
            "answer": "ABCD"[i % 4],
            "options": ["Ann", "Bob", "Eve", "Rome"],
        }
        for i in range(n)
    ]


def _parquet(rows):
    from datasets import Dataset

    buffer = io.BytesIO()
    Dataset.from_list(rows).to_parquet(buffer)
    return buffer.getvalue()


def _lines(rows):
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub with some datasets. Its address has to be set before ``datasets`` is imported."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, fake_hub() as server:
        patch.setenv("HF_ENDPOINT", server.address)
        patch.setenv("HF_HOME", str(home / "hf"))
        patch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
        patch.setenv("CLASSIC_RC_DATA", str(home / "data"))
        for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_TOKEN"):
            patch.delenv(name, raising=False)
        assert "datasets" not in sys.modules, "datasets has read another address"
        race = {"README.md": CARD}
        for subset, split, n in (
            ("high", "train", 8),
            ("high", "validation", 4),
            ("middle", "validation", 2),
        ):
            race[f"{subset}/{split}-00000-of-00001.parquet"] = _parquet(_race(n))
        plain = server.add("own/plain", {"train.jsonl": _lines(PLAIN)})
        newer = server.add("own/plain", {"train.jsonl": _lines(PLAIN[:2])}, branch="refs/pr/1")
        server.add(
            "own/program", {"program.py": b"raise SystemExit('ran')", "train.jsonl": _lines(PLAIN)}
        )
        server.add("own/gated", {"README.md": b"", "train.jsonl": _lines(PLAIN)}, gated=True)
        commits = SimpleNamespace(race=server.add("own/race", race), plain=plain, newer=newer)
        yield SimpleNamespace(server=server, commits=commits, home=home)


@pytest.fixture
def offline(hub, monkeypatch):
    """No connection is allowed, and the test fails if one is tried."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    before = len(hub.server.requests)
    yield
    assert hub.server.requests[before:] == []


def test_malformed_names_of_hub_datasets_are_refused():
    assert is_hub_name("hf:own/plain@v2:train")
    assert not is_hub_name("race:dev")
    with raises(UsageError, field="path", found="hf:own/plain/high"):
        load("hf:own/plain/high")
    with raises(UsageError, field="split", found="test"):
        load("hf:own/plain:train", split="test")
    with raises(UsageError, field="answers"):
        load("hf:own/plain", answers="x.ans")


def test_without_datasets_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with raises(MissingPackageError, package="datasets", extra="hf"):
        load("hf:own/plain")


def test_a_folder_of_the_same_name_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("own/plain")
    with raises(UsageError, found="own/plain"):
        load("hf:own/plain")


@needs_datasets
def test_a_known_form_needs_no_fields(hub):
    dataset = load("hf:own/race:dev", subset="high")
    assert (dataset.name, dataset.split, dataset.reader) == (
        "race.high.validation",
        "validation",
        "huggingface",
    )
    assert [sorted(question.gold) for question in dataset] == [[0], [1], [2], [3]]
    assert dataset.revision == hub.commits.race
    (source,) = dataset.sources
    assert source.path == f"hf:own/race@{hub.commits.race}:validation"
    assert source.sha256 == dataset.fingerprint
    assert dataset.read_with["path"] == source.path
    reloaded = load(**dataset.read_with)
    assert reloaded.fingerprint == dataset.fingerprint


@needs_datasets
def test_own_columns_and_a_revision(hub):
    assert len(load("hf:own/plain", fields=FIELDS)) == 4
    newer = load("hf:own/plain@refs/pr/1", fields=FIELDS)
    assert (len(newer), newer.revision) == (2, hub.commits.newer)
    assert len(load(f"hf:own/plain@{hub.commits.plain}:train", fields=FIELDS)) == 4
    with raises(
        DataError, found=re.compile(r"^rows with ctx \(.*, q \(.*, opts \(.*, lab \(0, 1\)$")
    ) as caught:
        load("hf:own/plain@refs/pr/1")
    assert (
        "classic-rc run hf:own/plain@refs/pr/1:train --fields passage=ctx,question=q,"
        in caught.value.hint
    )


@needs_datasets
def test_subsets_and_splits_are_listed(hub):
    with raises(DataError, field="subset", found="high, middle"):
        load("hf:own/race")
    with raises(DataError, field="subset", found="high, middle", expected="'low'"):
        load("hf:own/race", subset="low")
    with raises(DataError, field="split", found="train, validation") as caught:
        load("hf:own/race", subset="high")
    assert "hf:own/race:train or hf:own/race:validation" in caught.value.hint
    with raises(DataError, field="split", found="validation", expected="'test'"):
        load("hf:own/race:test", subset="middle")
    names = [
        f"hf:own/race@{hub.commits.race}:{split},subset=high" for split in ("train", "validation")
    ]
    assert [str(listed) for listed in list_datasets("hf:own/race,subset=high").datasets] == names
    assert [str(listed) for listed in list_datasets("hf:own/race,subset=middle").datasets] == [
        "hf:own/race,subset=middle"
    ]


@needs_datasets
def test_errors_of_the_hub_name_the_dataset(hub, monkeypatch):
    with raises(DataError, source="hf:own/none"):
        load("hf:own/none")
    with raises(DataError, source="hf:own/plain", found="v9", problem="unknown revision"):
        load("hf:own/plain@v9")
    with raises(DataError, source="hf:own/gated", problem="the dataset is gated"):
        load("hf:own/gated")
    monkeypatch.setattr(hub.server, "status", 403)
    with raises(DataError, source="hf:own/plain", found="HTTP status 403"):
        load("hf:own/plain")
    import datasets

    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", "http://127.0.0.1:9")
    with raises(DataError, source="hf:own/plain", problem="the Hugging Face hub cannot be reached"):
        load("hf:own/plain")


@needs_datasets
def test_a_program_never_runs(hub):
    with raises(DataError, source="hf:own/program@main", found="program.py") as caught:
        load("hf:own/program")
    assert "hf:own/program@refs/convert/parquet" in caught.value.hint
    assert not any(path.endswith("program.py") for _, path in hub.server.requests)


@needs_datasets
def test_what_was_read_is_read_offline(hub, offline):
    assert load("hf:own/race:dev", subset="high", fields=None).revision == hub.commits.race
    with raises(DataError, source="hf:own/plain@refs/pr/1", found=re.compile(hub.commits.newer)):
        load("hf:own/plain@refs/pr/1", fields=FIELDS)
    with raises(DataError, source="hf:own/other@main"):
        load("hf:own/other")


@needs_datasets
def test_a_commit_that_was_read_needs_no_network(hub):
    before = len(hub.server.requests)
    assert len(load(f"hf:own/race@{hub.commits.race}:train", subset="high")) == 8
    assert hub.server.requests[before:] == []


@needs_datasets
def test_what_others_have_cached_is_read_offline(hub, offline, tmp_path, monkeypatch):
    import datasets

    if tuple(map(int, datasets.__version__.split(".")[:2])) < (2, 16):
        pytest.skip("this version of datasets does not note the commit in its cache")
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path))
    assert load("hf:own/race:dev", subset="high").revision == hub.commits.race
    with raises(DataError, found=", ".join(sorted([hub.commits.plain, hub.commits.newer]))):
        load("hf:own/plain", fields=FIELDS)
    assert len(load(f"hf:own/plain@{hub.commits.newer}", fields=FIELDS)) == 2
    assert list(tmp_path.iterdir()) == []


@needs_datasets
def test_the_signature_and_the_record_name_the_revision(hub, tmp_path, monkeypatch, capsys):
    from classic_rc.cli.main import main

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    out = tmp_path / "record"
    arguments = ["hf:own/race:dev,subset=high", "-s", "sw", "--save", str(out), "--format", "json"]
    assert main(["run", *arguments]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert f"revision:{hub.commits.race}|" in run["rows"][0]["signature"]
    assert f"rev:{hub.commits.race[:8]}|" in run["rows"][0]["short_signature"]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["reproduce", str(out)]) == 0


@needs_datasets
@pytest.mark.parametrize("n_shards", [1, 2])
def test_folders_of_save_to_disk(hub, tmp_path, n_shards):
    from datasets import ClassLabel, Dataset, DatasetDict, Features, Sequence, Value

    features = Features(
        {
            "ctx": Value("string"),
            "ask": {"text": Value("string")},
            "opts": Sequence(Value("string")),
            "lab": ClassLabel(names=["A", "B"]),
        }
    )
    rows = [
        {"ctx": row["ctx"], "ask": {"text": row["q"]}, "opts": row["opts"], "lab": row["lab"]}
        for row in PLAIN
    ]
    data = Dataset.from_list(rows, features=features)
    splits = {"train": data, "test_hard": data.select(range(2))}
    DatasetDict(splits).save_to_disk(tmp_path / "dict", num_shards=dict.fromkeys(splits, n_shards))
    data.filter(lambda row: row["lab"] == 1).save_to_disk(tmp_path / "one", num_shards=n_shards)
    fields = "passage=ctx,question=ask.text,candidates=opts,gold=lab"

    train = load(tmp_path / "dict", split="train", fields=fields)
    assert [question.gold_texts for question in train] == [("Ann",), ("Bob",)] * 2
    assert train.fingerprint == load(tmp_path / "dict" / "train", fields=fields).fingerprint
    assert load(tmp_path / "dict" / "train", fields=fields).split == "train"
    assert len(load(tmp_path / "dict", split="test_hard", fields=fields)) == 2
    with raises(DataError, field="split", found=r"test_hard, train"):
        load(tmp_path / "dict", split="dev", fields=fields)
    content = list_datasets(str(tmp_path / "dict"), fields=fields)
    assert [str(listed) for listed in content.datasets] == [
        str(tmp_path / "dict" / s) for s in ("test_hard", "train")
    ]
    assert content.others == ()
    assert len(load(tmp_path / "one", fields=fields)) == 2
    next((tmp_path / "one").glob("*.arrow")).unlink()
    with raises(DataError, problem="a file of the dataset is missing"):
        load(tmp_path / "one", fields=fields)
