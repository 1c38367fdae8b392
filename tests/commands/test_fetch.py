"""``classic-rc fetch``, and datasets by name in the other commands."""

from __future__ import annotations

import hashlib
import json

import pytest

from classic_rc.datasets import fetch as module
from classic_rc.datasets.known_sketches import known_sketches, sketched_names
from classic_rc.errors import UsageError
from tests.command_line import SUPERGLUE_MULTIRC
from tests.http_server import Resource, http_server


def talk(town):
    question = {"question": "Where?", "choice": [town, "at sea"], "answer": town}
    return [[f"W: It rained in {town}."], [question], town]


TALKS = json.dumps([talk(town) for town in ("Lisbon", "Oslo", "Rome")]).encode()
LINES = "".join(json.dumps(row) + "\n" for row in SUPERGLUE_MULTIRC).encode()
SOURCES = f"""
[talks]
title = "Talks"
cites = ["sun2019"]
licence = "for research only"
page = "http://talks.example/"
[talks.splits]
train = {{ reader = "dream", file = "train.json" }}
dev = {{ reader = "dream", file = "dev.json" }}
[talks.files."train.json"]
url = "http://talks.example/train.json"
[talks.files."dev.json"]
url = "http://talks.example/dev.json"
bytes = {len(TALKS)}
sha256 = "{hashlib.sha256(TALKS).hexdigest()}"

[talks.files."scores/a.txt"]
url = "http://talks.example/a.txt"
[talks.files."scores/b.txt"]
url = "http://talks.example/b.txt"
[talks.files."scores/c.txt"]
url = "http://talks.example/c.txt"

[several-answers]
title = "Several answers"
cites = ["wang2019", "khashabi2018multirc"]
licence = "free"
page = "http://several.example/"
[several-answers.splits]
dev = {{ reader = "superglue", file = "val.jsonl" }}
[several-answers.files."val.jsonl"]
url = "http://several.example/val.jsonl"
bytes = {len(LINES)}
sha256 = "{hashlib.sha256(LINES).hexdigest()}"

[packed]
title = "Packed talks"
cites = ["sun2019"]
licence = "free"
page = "http://packed.example/"
[packed.splits]
train = {{ reader = "dream", file = "all.zip", member = "train.json" }}
dev = {{ reader = "dream", file = "all.zip", member = "dev.json", copy = {{ file = "dev.json" }} }}
[packed.files."all.zip"]
url = "http://packed.example/all.zip"
[packed.files."dev.json"]
url = "http://copies.example/dev.json"
"""


@pytest.fixture(autouse=True)
def mirror(tmp_path, monkeypatch):
    """An empty cache, and a mirror of two invented datasets."""
    datasets = module.parse_datasets(SOURCES)
    monkeypatch.setattr(module, "named_datasets", lambda: datasets)
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "cache"))
    with http_server() as server:
        server.resources["/talks/train.json"] = server.resources["/talks/dev.json"] = Resource(
            TALKS
        )
        server.resources["/several-answers/val.jsonl"] = Resource(LINES)
        monkeypatch.setenv("CLASSIC_RC_MIRROR", server.address)
        yield server


def test_the_command_of_the_error_works(cli):
    first = cli("run", "talks:dev", "-s", "random")
    first.fails(3, "talks:dev")
    (error,) = first.errors
    command = error.hint.split("`")[1].split()
    assert cli(*command[1:]).code == 0
    done = cli("run", "talks:dev", "-s", "random", "-s", "sliding-window", "--format", "json")
    assert (done.run["dataset"]["name"], done.run["dataset"]["questions"]) == ("dream.dev", 3)
    assert done.row("random")["metrics"]["accuracy"] == 0.5


def test_each_file_has_a_line_with_its_size_and_place(cli, mirror, tmp_path):
    done = cli("fetch", "talks", "several-answers:dev", "talks:dev")
    assert done.code == 0
    assert done.messages("note", "Talks", "http://talks.example/", "for research only")
    lines = [line.split("  ") for line in done.out.splitlines()]
    assert [line[0] for line in lines] == [
        "talks/train.json",
        "talks/dev.json",
        "several-answers/val.jsonl",
    ]
    path = tmp_path / "cache" / "talks" / "dev.json"
    assert lines[1][1:] == [f"{len(TALKS)} bytes", "downloaded", str(path)]
    assert f"sha256 {hashlib.sha256(TALKS).hexdigest()} is recorded" in lines[0][2]
    quiet = cli("fetch", "talks", "--quiet")
    assert quiet.err == ""
    assert [line.split("  ")[2] for line in quiet.out.splitlines()] == ["in the cache"] * 2
    assert len(mirror.requests) == 3


def test_all_adds_what_no_split_needs_and_one_cause_is_one_error(cli, mirror):
    mirror.resources["/talks/scores/b.txt"] = Resource(b"0.5")
    assert cli("fetch", "talks").code == 0
    assert not [path for path, _ in mirror.requests if "scores" in path]
    done = cli("fetch", "--all", "talks")
    done.fails(3, "HTTP 404", source=f"{mirror.address}/talks/scores/a.txt")
    assert len(done.errors) == 1
    assert "talks/scores/c.txt" in done.errors[0].problem
    assert [line.split("  ")[0] for line in done.out.splitlines()][-1] == "talks/scores/b.txt"


def test_where_a_file_is_missing_copies_of_its_content_are_fetched(cli, mirror):
    mirror.resources["/packed/dev.json"] = Resource(TALKS)
    done = cli("fetch", "packed:dev")
    assert (done.code, done.out.split("  ")[0]) == (0, "packed/dev.json")
    assert done.messages("note", "packed/all.zip", "packed:dev")
    assert cli("run", "packed:dev", "-s", "random").code == 0
    done = cli("fetch", "packed")
    done.fails(3, "HTTP 404", source=f"{mirror.address}/packed/all.zip")
    assert len(done.errors) == 1
    assert cli("run", "packed:train", "-s", "random").code == 3


def test_a_wrong_name_downloads_nothing(cli, mirror):
    cli("fetch", "talks:dev", "tlaks").fails(2, field="dataset", found="tlaks", expected="talks")
    assert mirror.requests == []


def test_without_names_it_points_to_the_list(cli):
    done = cli("fetch")
    done.fails(2, "NAME[:SPLIT]")
    assert type(done.errors[0]) is UsageError
    assert "list datasets" in cli("fetch", "--help").out


def test_the_list_says_what_is_cached(cli):
    cli("fetch", "talks:dev")
    first, second, _ = cli("list", "datasets", "--format", "json").json["datasets"]
    assert (first["name"], second["name"]) == ("talks", "several-answers")
    assert "train, dev" in first["description"]
    assert "size unknown; for research only; cached: dev" in first["description"]
    assert f"{len(LINES)} bytes; free; not cached" in second["description"]
    cli("fetch", "talks")
    assert (
        "; cached; sketches: train, dev)"
        in cli("list", "datasets", "--format", "json").json["datasets"][0]["description"]
    )


def test_a_sketch_is_kept_with_what_is_fetched(cli, mirror, tmp_path):
    done = cli("fetch", "talks:dev")
    assert done.messages("note", "sketches of talks:dev", "classic-rc check")
    assert "talks:dev" in sketched_names()
    (sketch,) = (sketch for sketch in known_sketches() if sketch.name == "talks:dev")
    assert (sketch.n_questions, sketch.n_passages) == (3, 3)
    path = tmp_path / "cache" / "sketches" / "talks" / "dev.npz"
    content = path.read_bytes()
    assert not cli("fetch", "talks:dev").messages("note", "sketches")
    path.write_bytes(b"broken")
    cli("fetch", "--check", "talks:dev")
    assert path.read_bytes() == b"broken"
    cli("fetch", "talks:dev")
    assert path.read_bytes() == content


def test_what_cannot_be_read_has_no_sketch(cli, mirror, monkeypatch):
    datasets = module.parse_datasets(SOURCES.replace('reader = "superglue"', 'reader = "race"'))
    monkeypatch.setattr(module, "named_datasets", lambda: datasets)
    done = cli("fetch", "several-answers")
    assert done.code == 0
    assert done.messages("note", "no sketch of several-answers:dev")


@pytest.mark.parametrize(
    "command",
    [
        "run talks:dev -s random --train talks:train",
        "compare random longest --data talks:dev",
        "predict several-answers:dev -s longest",
        "run talks:dev --by first-word -s longest",
        "list --bibtex talks:dev several-answers",
    ],
)
def test_every_command_reads_a_name(cli, command):
    for name in ("talks", "several-answers"):
        cli("fetch", name)
    done = cli(*command.split())
    assert (done.code, done.messages("error")) == (0, [])
    assert done.out
