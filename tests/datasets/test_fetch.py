"""Datasets by name: the list of sources, the cache, downloads into it, and reading from it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from classic_rc.datasets import READERS, load
from classic_rc.datasets import fetch as module
from classic_rc.datasets.fetch import (
    cached_path,
    fetch,
    files_of,
    find_split,
    named_datasets,
    parse_datasets,
)
from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import read_split
from classic_rc.errors import DataError, UsageError
from classic_rc.io.cache import cache_folder
from classic_rc.io.files import sha256_of_bytes
from classic_rc.results.record import run_record
from classic_rc.running.evaluate import evaluate
from classic_rc.running.rerun import rerun
from classic_rc.running.restored_record import restore_record
from tests.datasets.conftest import DREAM, MCTEST, MCTEST_ANSWERS, RACE
from tests.errors import raises
from tests.http_server import Resource, http_server

TALKS = json.dumps(DREAM).encode()


def zipped(**members: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in members.items():
            archive.writestr(f"folder/{name.replace('_', '.')}", text)
    return stream.getvalue()


def race_archive() -> bytes:
    """An archive with the splits dev and test, as RACE's has them."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for split, level, number in (
            ("dev", "high", 8),
            ("dev", "middle", 7),
            ("test", "middle", 9),
        ):
            content = json.dumps({**RACE, "id": f"{level}{number}.txt"}).encode()
            member = tarfile.TarInfo(f"RACE/{split}/{level}/{number}.txt")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


EXAMS = race_archive()
STORIES = zipped(
    mc160_dev_tsv=MCTEST, mc500_test_tsv=MCTEST.replace("mc160.dev", "mc500.test"), license_pdf="x"
)
ANSWERS = zipped(mc500_test_ans=MCTEST_ANSWERS)

SOURCES = f"""
[talks]
title = "Talks"
cites = ["sun2019"]
licence = "free"
page = "http://talks.example/"
[talks.splits]
dev = {{ reader = "dream", file = "parts/dev.json" }}
train = {{ reader = "dream", file = "train.json" }}
test = {{ reader = "dream", file = "test.json" }}
[talks.files."parts/dev.json"]
url = "http://talks.example/dev.json"
bytes = {len(TALKS)}
sha256 = "{sha256_of_bytes(TALKS)}"
[talks.files."train.json"]
url = "http://talks.example/train.json"
[talks.files."test.json"]
form = "the authors send it"

[exams]
title = "Exams"
cites = ["lai2017"]
licence = "free"
page = "http://exams.example/"
[exams.splits]
dev = {{ reader = "race", file = "E.tar.gz", split = "dev" }}
test = {{ reader = "race", file = "E.tar.gz", split = "test" }}
[exams.files."E.tar.gz"]
url = "http://exams.example/E.tar.gz"
bytes = {len(EXAMS)}
sha256 = "{sha256_of_bytes(EXAMS)}"

[tales]
title = "Tales"
cites = ["richardson2013"]
licence = "free"
page = "http://tales.example/"
[tales.splits]
"mc160.dev" = {{ reader = "mctest", file = "T.zip", member = "mc160.dev.tsv" }}
"mc500.test" = {{ reader = "mctest", file = "T.zip", member = "mc500.test.tsv", answers = "A.zip" }}
[tales.files."T.zip"]
url = "http://tales.example/T.zip"
bytes = {len(STORIES)}
sha256 = "{sha256_of_bytes(STORIES)}"
[tales.files."A.zip"]
url = "http://tales.example/A.zip"
bytes = {len(ANSWERS)}
sha256 = "{sha256_of_bytes(ANSWERS)}"
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache, and two invented datasets."""
    datasets = parse_datasets(SOURCES)
    monkeypatch.setattr(module, "named_datasets", lambda: datasets)
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("CLASSIC_RC_MIRROR", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def mirror(monkeypatch):
    """A mirror of both datasets."""
    monkeypatch.setattr("classic_rc.io.download.RETRY_SECONDS", (0.0, 0.0))
    with http_server() as server:
        server.resources |= {
            "/m/talks/parts/dev.json": Resource(TALKS),
            "/m/talks/train.json": Resource(TALKS),
            "/m/exams/E.tar.gz": Resource(EXAMS),
            "/m/tales/T.zip": Resource(STORIES),
            "/m/tales/A.zip": Resource(ANSWERS),
        }
        monkeypatch.setenv("CLASSIC_RC_MIRROR", f"{server.address}/m/")
        yield server


@pytest.fixture
def no_downloads(monkeypatch):
    monkeypatch.setattr(
        "classic_rc.io.download.download",
        lambda *args, **kwargs: pytest.fail("something is downloaded"),
    )


def fetch_all(name, *, extras=False, **options):
    return [fetch(file, read_split, **options) for file in files_of(name, extras=extras)]


def names_below(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


# The list of sources


def test_every_split_has_a_reader_and_every_file_a_sum_or_a_way_to_get_it():
    for name, dataset in named_datasets().items():
        assert re.fullmatch(r"[a-z][a-z0-9-]+", name)
        assert all((dataset.title, dataset.licence, dataset.cites, dataset.page.startswith("http")))
        for split in dataset.splits.values():
            assert split.reader in READERS
            assert set(split.files) <= set(dataset.files.values())
        for file in dataset.files.values():
            assert re.fullmatch(r"https?://\S+", file.url) if file.url else file.form
            assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert (file.bytes is None) == (file.sha256 is None)


def test_the_citations_exist():
    from classic_rc.reports.references import references

    assert {key for dataset in named_datasets().values() for key in dataset.cites} <= set(
        references()
    )


def test_the_files_beside_the_checkout_have_the_listed_sums(shared_data):
    files = [file for dataset in named_datasets().values() for file in dataset.files.values()]
    here = [file for file in files if (shared_data / file.key).is_file()]
    assert len(here) > 25
    for file in here:
        data = (shared_data / file.key).read_bytes()
        assert (len(data), sha256_of_bytes(data)) == (file.bytes, file.sha256), file.key


@pytest.mark.parametrize(
    "name",
    ["dream:dev", "mcscript:dev", "multirc:dev", "quoref:dev", "dream:train", "multirc:validation"],
)
def test_the_splits_are_the_official_ones(name, shared_data, monkeypatch):
    monkeypatch.setattr(module, "named_datasets", named_datasets)
    file = find_split(name).file
    assert (shared_data / file.key).is_file()
    monkeypatch.setenv("CLASSIC_RC_DATA", str(shared_data))  # it has the layout of the cache
    dataset = load(name)
    official = FINGERPRINTS[dataset.fingerprint]
    split = name.partition(":")[2].replace("validation", "dev")
    assert (official[0].lower(), official[1]) == (file.dataset, split)


def test_the_page_has_every_dataset():
    page = (Path(__file__).resolve().parents[2] / "docs" / "datasets.md").read_text(
        encoding="utf-8"
    )
    assert re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE) == list(named_datasets())


# Names


@pytest.mark.parametrize("name", ["talks:dev", "Talks:Validation", "talks:val"])
def test_a_name_is_found_in_any_usual_spelling(name):
    assert find_split(name).name == "talks:dev"


@pytest.mark.parametrize(
    "name", ["dev.json", "c:data.json", "a/talks:dev", "http://talks.example/a", "-", ""]
)
def test_a_path_is_not_a_name(name):
    assert find_split(name) is None


def test_a_path_that_exists_wins_over_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talks:dev").write_bytes(TALKS)
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks" / "dev.json").write_bytes(TALKS)
    for path in ("talks:dev", "talks"):
        dataset = load(path)
        assert len(dataset) == 1
        assert dataset.read_with is not None
        assert dataset.read_with["path"] == path
        (run,) = run_record([evaluate(dataset, ["random"])], tmp_path)["runs"]
        assert run["dataset"]["sources"][0]["path"] == (
            "talks:dev" if path == "talks:dev" else "talks/dev.json"
        )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tlaks:dev", re.compile("^talks:dev")),
        ("talks:dve", re.compile("^talks:dev")),
        ("unlike:anything", re.compile("exams:dev, .*talks:dev")),
        ("talks", "talks:dev, talks:train, talks:test"),
    ],
)
def test_unknown_names_suggest_the_right_one(name, expected):
    with raises(UsageError, found=name, expected=expected):
        load(name)


# Reading


def test_an_uncached_name_says_how_to_get_it_and_downloads_nothing(cache, mirror, no_downloads):
    hint = re.compile(r"\(\d+ bytes\) with `classic-rc fetch talks:dev`")
    with raises(
        DataError,
        source="talks:dev",
        expected=str(cache / "talks" / "parts" / "dev.json"),
        hint=hint,
    ):
        load("talks:validation")
    assert mirror.requests == []
    assert not cache.exists()


def test_a_split_is_read_by_name_with_the_same_content_as_its_file(mirror, tmp_path):
    fetch_all("talks:dev")
    dataset = load("talks:dev")
    (tmp_path / "dev.json").write_bytes(TALKS)
    from_file = load(tmp_path / "dev.json")
    assert (dataset.name, dataset.split, dataset.fingerprint) == (
        from_file.name,
        from_file.split,
        from_file.fingerprint,
    )
    assert [(source.path, source.sha256) for source in dataset.sources] == [
        ("talks/parts/dev.json", sha256_of_bytes(TALKS))
    ]


def test_members_of_archives_and_their_answers(mirror, cache):
    fetch_all("tales:mc160.dev")
    assert names_below(cache) == ["tales/T.zip", "tales/lock"]
    hidden = load("tales:mc160.dev")
    assert (hidden.name, len(hidden), hidden[0].gold) == ("mc160.dev", 8, None)
    with raises(DataError, source="tales:mc500.test", hint=re.compile("fetch tales:mc500.test")):
        load("tales:mc500.test")
    fetch_all("tales:mc500.test")
    dataset = load("tales:mc500.test")
    assert (dataset.name, len(dataset), dataset[0].gold) == ("mc500.test", 8, frozenset({0}))
    assert [source.path for source in dataset.sources] == ["tales/T.zip", "tales/A.zip"]


def test_a_copy_is_read_if_only_the_copy_is_in_the_cache(mirror, cache, monkeypatch, tmp_path):
    copied = f"""
[copied]
title = "Copied"
cites = []
licence = "free"
page = "http://copied.example/"
[copied.splits.dev]
reader = "mctest"
file = "T.zip"
member = "mc160.dev.tsv"
copy = {{ file = "d.tsv", answers = "d.ans" }}
[copied.files."T.zip"]
url = "http://copied.example/T.zip"
bytes = {len(STORIES)}
sha256 = "{sha256_of_bytes(STORIES)}"
[copied.files."d.tsv"]
url = "http://copied.example/d.tsv"
[copied.files."d.ans"]
url = "http://copied.example/d.ans"
"""
    datasets = parse_datasets(copied)
    monkeypatch.setattr(module, "named_datasets", lambda: datasets)
    mirror.resources |= {
        "/m/copied/d.tsv": Resource(MCTEST.encode()),
        "/m/copied/d.ans": Resource(MCTEST_ANSWERS.encode()),
        "/m/copied/T.zip": Resource(STORIES),
    }
    with raises(DataError, expected=str(cache / "copied" / "T.zip")):
        load("copied:dev")
    assert [file.name for file in files_of("copied")] == ["T.zip"]
    for file in files_of("copied", extras=True)[1:]:
        assert fetch(file, read_split).is_recorded
    dataset = load("copied:dev")
    assert [source.path for source in dataset.sources] == ["copied/d.tsv", "copied/d.ans"]
    assert dataset[0].gold == {0}
    record = run_record([evaluate(dataset, ["random"])], tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(record), encoding="utf-8")
    assert rerun(restore_record(tmp_path / "run.json")).same
    fetch_all("copied:dev")
    assert [source.path for source in load("copied:dev").sources] == ["copied/T.zip"]


def test_a_split_of_a_file_that_has_several(mirror):
    fetch_all("exams:dev")
    for split, n_questions in (("dev", 4), ("test", 2)):
        dataset = load(f"exams:{split}")
        assert (len(dataset), dataset.split) == (n_questions, split)
    high = load("exams:dev", subset="high")
    assert (high.name, len(high)) == ("race.dev.high", 2)
    assert high.read_with is not None
    assert (high.read_with["path"], high.read_with["subset"]) == ("exams:dev", "high")


def test_a_name_has_one_split(mirror):
    fetch_all("talks:dev")
    assert load("talks:dev", split="validation").split == "dev"
    with raises(UsageError, field="split", found="train"):
        load("talks:dev", split="train")


def test_a_changed_file_is_not_read(mirror, cache):
    fetch_all("talks:dev")
    path = cache / "talks" / "parts" / "dev.json"
    path.write_bytes(TALKS.replace(b"walk", b"talk"))
    digest = sha256_of_bytes(path.read_bytes())
    with raises(DataError, source=str(path), found=digest, expected=sha256_of_bytes(TALKS)):
        load("talks:dev")
    with raises(DataError, source=str(path), found=digest):
        fetch_all("talks:dev", offline=True)
    notes = []
    (fetched,) = fetch_all("talks:dev", notify=notes.append)
    assert fetched.is_new
    assert str(path) in notes[0]
    assert len(load("talks:dev")) == 1


def test_records_have_the_name_and_rerun_from_the_cache(mirror, cache, tmp_path):
    fetch_all("tales")
    record = run_record([evaluate(load("tales:mc500.test"), ["random", "longest"])], tmp_path)
    (run,) = record["runs"]
    assert run["dataset"]["read_with"]["path"] == "tales:mc500.test"
    assert run["dataset"]["sources"] == [
        {"path": f"tales/{name}", "sha256": sha256_of_bytes(data), "bytes": len(data)}
        for name, data in (("T.zip", STORIES), ("A.zip", ANSWERS))
    ]
    assert str(tmp_path) not in json.dumps(run["dataset"])
    path = tmp_path / "elsewhere" / "run.json"
    path.parent.mkdir()
    path.write_text(json.dumps(record), encoding="utf-8")
    assert rerun(restore_record(path)).same
    (cache / "tales" / "A.zip").unlink()
    (change,) = restore_record(path).changes
    assert "classic-rc fetch tales:mc500.test" in change


# Downloading


def test_a_dataset_is_downloaded_once(mirror, cache):
    first, second = fetch_all("tales"), fetch_all("tales")
    assert [fetched.is_new for fetched in (*first, *second)] == [True, True, False, False]
    assert [path for path, _ in mirror.requests] == ["/m/tales/T.zip", "/m/tales/A.zip"]
    assert names_below(cache) == ["tales/A.zip", "tales/T.zip", "tales/lock"]
    assert not any(fetched.is_recorded for fetched in first)


def test_without_a_mirror_the_authors_address_is_used(monkeypatch):
    addresses = []

    def stop(url, *args, **kwargs):
        addresses.append(url)
        raise DataError("stop")

    monkeypatch.setattr("classic_rc.io.download.download", stop)
    with raises(DataError, problem="stop"):
        fetch_all("talks:dev")
    assert addresses == ["http://talks.example/dev.json"]


@pytest.mark.parametrize("address", ["ftp://a.example", "/a/folder", "https://"])
def test_a_mirror_is_an_http_address(monkeypatch, address):
    monkeypatch.setenv("CLASSIC_RC_MIRROR", address)
    with raises(UsageError, field="CLASSIC_RC_MIRROR", found=address):
        fetch_all("talks:dev")


@pytest.mark.parametrize("ending", ["", "/"])
def test_a_mirror_may_have_a_path_and_end_in_slashes(mirror, monkeypatch, ending):
    monkeypatch.setenv("CLASSIC_RC_MIRROR", f"{mirror.address}/m{ending}")
    fetch_all("talks:dev")
    assert [path for path, _ in mirror.requests] == ["/m/talks/parts/dev.json"]


def test_a_mirror_with_a_password_is_refused_and_not_shown(monkeypatch):
    monkeypatch.setenv("CLASSIC_RC_MIRROR", "http://ann:secret@a.example/")
    with raises(UsageError, field="CLASSIC_RC_MIRROR") as caught:
        fetch_all("talks:dev")
    assert "secret" not in str(caught.value)


def test_a_cache_that_cannot_be_locked_names_its_variable(mirror, cache):
    (cache / "talks" / "lock").mkdir(parents=True)
    with raises(UsageError, field="CLASSIC_RC_DATA", found=str(cache / "talks" / "lock")):
        fetch_all("talks:dev")


def test_an_interrupted_download_is_continued_by_the_next_command(mirror, cache):
    (cache / "tales").mkdir(parents=True)
    (cache / "tales" / "T.zip.part").write_bytes(STORIES[:500])
    resource = mirror.resources["/m/tales/T.zip"]
    resource.cuts = [0, 0, 0, 0]
    with raises(DataError, hint=re.compile("500 bytes are kept")):
        fetch_all("tales:mc160.dev")
    assert "tales/T.zip" not in names_below(cache)
    resource.cuts = []
    fetch_all("tales:mc160.dev")
    assert mirror.headers("Range")[-1] == "bytes=500-"
    assert (cache / "tales" / "T.zip").read_bytes() == STORIES
    assert names_below(cache) == ["tales/T.zip", "tales/lock"]


def test_a_file_with_the_wrong_sum_is_not_kept(mirror, cache):
    mirror.resources["/m/talks/parts/dev.json"].content = TALKS.replace(b"walk", b"talk")
    digest = re.compile(sha256_of_bytes(TALKS.replace(b"walk", b"talk")))
    expected = re.compile(sha256_of_bytes(TALKS))
    with raises(
        DataError,
        source=f"{mirror.address}/m/talks/parts/dev.json",
        found=digest,
        expected=expected,
    ):
        fetch_all("talks:dev")
    assert names_below(cache) == ["talks/lock"]


def test_a_missing_file_names_the_ways_out(mirror, cache):
    del mirror.resources["/m/talks/parts/dev.json"]
    place = str(cache / "talks" / "parts" / "dev.json")
    hint = re.compile(f"http://talks.example/.*{re.escape(place)}.*CLASSIC_RC_MIRROR")
    with raises(DataError, found=re.compile("HTTP 404"), hint=hint):
        fetch_all("talks:dev")


def test_a_file_without_an_address_says_where_to_get_it_and_where_to_put_it(mirror, cache):
    path = cache / "talks" / "test.json"
    hint = "The authors send it (http://talks.example/), and put it there"
    for ask in (load, fetch_all):
        with raises(DataError, source="talks/test.json", expected=str(path), hint=hint):
            ask("talks:test")
    assert [file.name for file in files_of("talks")] == ["parts/dev.json", "train.json"]
    path.parent.mkdir(parents=True)
    path.write_bytes(TALKS)
    assert len(load("talks:test")) == 1
    assert [fetched.is_recorded for fetched in fetch_all("talks")] == [False, True, True]


def test_an_unknown_sum_is_recorded_and_compared_from_then_on(mirror, cache):
    (fetched,) = fetch_all("talks:train")
    assert (fetched.is_recorded, fetched.sha256) == (True, sha256_of_bytes(TALKS))
    recorded = json.loads((cache / "talks" / "sums.json").read_text(encoding="utf-8"))
    assert recorded == {"train.json": sha256_of_bytes(TALKS)}
    assert [fetched.is_recorded for fetched in fetch_all("talks:train")] == [False]
    changed = TALKS.replace(b"walk", b"talk")
    mirror.resources["/m/talks/train.json"].content = changed
    path = cache / "talks" / "train.json"
    path.unlink()
    with raises(
        DataError,
        found=re.compile(sha256_of_bytes(changed)),
        expected=re.compile(sha256_of_bytes(TALKS)),
    ):
        fetch_all("talks:train")
    path.write_bytes(changed)
    with raises(DataError, found=sha256_of_bytes(changed), hint=re.compile("sums.json")):
        load("talks:train")
    (cache / "talks" / "sums.json").unlink()
    assert len(load("talks:train")) == 1


@pytest.mark.parametrize(
    "content", [b"Log in to read this.", TALKS[:-30]], ids=["another file", "cut short"]
)
def test_a_sum_is_recorded_only_if_the_file_can_be_read(mirror, cache, content):
    mirror.resources["/m/talks/train.json"].content = content
    digest = sha256_of_bytes(content)
    with raises(
        DataError,
        source="talks/train.json",
        field="sha256",
        found=digest,
        hint=re.compile("elsewhere"),
    ):
        fetch_all("talks:train")
    assert names_below(cache) == ["talks/lock"]
    cached = cache / "talks" / "test.json"
    cached.write_bytes(content)
    with raises(DataError, source="talks/test.json", found=digest, hint=re.compile("Delete")):
        fetch_all("talks:test")
    assert names_below(cache) == ["talks/lock", "talks/test.json"]


@pytest.mark.parametrize("content", ["{", "\ud800", '["a"]'], ids=["broken", "bytes", "list"])
def test_a_damaged_record_of_sums(mirror, cache, content):
    fetch_all("talks:train")
    path = cache / "talks" / "sums.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with raises(DataError, source=str(path), hint="Delete it"):
        load("talks:train")


def test_offline_downloads_nothing(mirror, no_downloads, cache):
    with raises(
        DataError,
        source="talks/parts/dev.json",
        hint="Download it with `classic-rc fetch talks:dev`",
    ):
        fetch_all("talks:dev", offline=True)
    assert not cache.exists()


def test_a_cache_that_cannot_be_written(mirror, tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "file"))
    with raises(UsageError, field="CLASSIC_RC_DATA"):
        fetch_all("talks:dev")


def test_the_cache_is_in_the_users_cache_folder(monkeypatch):
    import pooch

    monkeypatch.delenv("CLASSIC_RC_DATA")
    assert cache_folder() == Path(pooch.os_cache("classic_rc"))
    monkeypatch.setenv("CLASSIC_RC_DATA", os.path.join("~", "rc"))
    assert (
        cached_path(find_split("talks:dev").file)
        == Path.home() / "rc" / "talks" / "parts" / "dev.json"
    )


_FETCH = """
import sys
from classic_rc.datasets import fetch as module
datasets = module.parse_datasets(sys.stdin.read())
module.named_datasets = lambda: datasets
from classic_rc.cli.main import main
sys.exit(main(["fetch", "tales"]))
"""


@pytest.mark.ci
def test_two_processes_download_a_file_once(mirror, cache):
    mirror.resources["/m/tales/T.zip"].stalls = [300]

    def start():
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        process = subprocess.Popen(
            [sys.executable, "-c", _FETCH], **pipes, text=True, encoding="utf-8"
        )
        process.stdin.write(SOURCES)
        process.stdin.close()
        return process

    with start() as first:
        assert mirror.arrived.wait(60)  # the first one has a part of the file and the lock
        with start() as second:
            assert any("waiting" in line for line in second.stderr)
            mirror.go_on.set()
            outputs = [process.stdout.read() for process in (first, second)]
            assert [process.wait(60) for process in (first, second)] == [0, 0]
    assert sorted(path for path, _ in mirror.requests) == ["/m/tales/A.zip", "/m/tales/T.zip"]
    assert ["T.zip" in output and "A.zip" in output for output in outputs] == [True, True]
    assert hashlib.sha256((cache / "tales" / "T.zip").read_bytes()).hexdigest() == sha256_of_bytes(
        STORIES
    )
