"""Releases: what is in them, and that their line makes the same table in another folder."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil

import pytest

from classic_rc import load
from tests.running.test_runs import write_answers

ROW = {"question": "Who?", "candidates": ["Ann", "Eve"]}
ROWS = [{"id": f"q{i}", "passage": f"Ann met Bob {i}.", **ROW, "gold": i % 2} for i in range(12)]
OWN = "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files of answers, one of a sample, labels and own data, in the working directory."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    dataset = load("sample:single-choice")
    for seed in (2, 3):
        are_right = [i % seed == 0 for i in range(len(dataset))]
        write_answers(tmp_path / "work" / f"r{seed}.jsonl", dataset, are_right)
    write_answers(tmp_path / "work" / "h.jsonl", dataset[:10], [True] * 10)
    labels = "".join(f"{q.id},{'odd' if i % 2 else 'even'}\n" for i, q in enumerate(dataset))
    (tmp_path / "work" / "labels.csv").write_text(f"id,parity\n{labels}", encoding="utf-8")
    (tmp_path / "work" / "own.jsonl").write_text(OWN, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "by", [["--by", "type"], ["--labels", "labels.csv", "--by", "parity", "--by", "type,parity"]]
)
def test_a_release_makes_the_same_table_elsewhere(cli, files, monkeypatch, by):
    systems = [
        "-s",
        "LLM=r2.jsonl",
        "-s",
        "LLM=r3.jsonl",
        "-s",
        "SW=sw+d",
        "-s",
        "random",
        "-s",
        "Human=95",
    ]
    more = [
        "-s",
        "People=h.jsonl,sample=10",
        "--baseline",
        "LLM",
        "--baseline",
        "SW",
        "--intervals",
        "100",
    ]
    assert cli("run", "sample:single-choice", *systems, *more, *by, "--save", "a", "-q").code == 0
    assert (
        cli(
            "run",
            "own.jsonl",
            "-s",
            "SW=sw+d",
            "-s",
            "random",
            "--intervals",
            "100",
            "--save",
            "b",
            "-q",
        ).code
        == 0
    )
    options = ["--by", by[-1], "--rename", "own=Own data"]
    release = files / "release"
    done = cli("table", "a", "b", *options, "-o", "paper.tex", "--release", release)
    assert done.code == 0, done.err
    assert done.messages("note", "own.jsonl is copied into the release")
    elsewhere = files / "elsewhere"
    release.rename(elsewhere)
    (files / "work").rename(files / "gone")
    monkeypatch.chdir(elsewhere)
    table = (elsewhere / "paper.tex").read_bytes()
    (elsewhere / "paper.tex").unlink()
    line = re.search(
        r"^classic-rc .*$", (elsewhere / "README.md").read_text(encoding="utf-8"), re.M
    )[0]
    for command in line.split(" && "):
        assert cli(*shlex.split(command)[1:], "-q").code == 0
    assert (elsewhere / "paper.tex").read_bytes() == table
    for entry in (elsewhere / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, _, name = entry.partition("  ")
        assert hashlib.sha256((elsewhere / name).read_bytes()).hexdigest() == digest
    answers = (elsewhere / "predictions" / "sample_single-choice" / "SW.jsonl").read_text(
        encoding="utf-8"
    )
    assert len(answers.splitlines()) == 24
    assert str(files) not in (elsewhere / "suite.toml").read_text(encoding="utf-8")


def test_a_release_needs_a_new_folder_and_no_code_of_its_own(cli, files):
    (files / "work" / "full").mkdir()
    (files / "work" / "full" / "file").touch()
    assert cli("run", "own.jsonl", "-s", "longest", "--save", "b", "-q").code == 0
    cli("table", "b", "--release", "full").fails(2, field="--release", found="full")


def test_data_are_copied_only_if_their_licence_is_open(cli, files):
    article = {
        "id": "middle1.txt",
        "article": "Ann met Bob.",
        "questions": ["Who?", "Whom?"],
        "options": [["Ann", "Eve", "Bob", "Ian"]] * 2,
        "answers": ["A", "C"],
    }
    text = json.dumps(article)
    for split in ("train", "dev"):
        folder = files / "work" / "RACE" / split / "middle"
        folder.mkdir(parents=True)
        (folder / "1.txt").write_text(text.replace("Bob", split), encoding="utf-8")
    settings = [
        "RACE/dev/middle",
        "-s",
        "SW=sw+d",
        "-s",
        "majority",
        "--train",
        "RACE/train/middle",
    ]
    assert cli("run", *settings, "--save", "a", "-q").code == 0
    release = files / "release"
    done = cli("table", "a", "--release", release)
    assert done.messages("note", "`classic-rc fetch race` gets it")
    assert not list(release.rglob("*1.txt"))
    (sums, _) = sorted(release.rglob("ABSENT-SHA256SUMS"))
    digest = hashlib.sha256(text.replace("Bob", "dev").encode()).hexdigest()
    assert sums.read_text(encoding="utf-8") == f"{digest}  middle/1.txt\n"
    readme = (release / "README.md").read_text(encoding="utf-8")
    assert "non-commercial research only" in readme
    assert "`classic-rc fetch race`" in readme
    # The author's own files, in the place that the README names, make it again.
    for folder, split in zip(sorted((release / "data").iterdir()), ("dev", "train"), strict=True):
        shutil.copytree(files / "work" / "RACE" / split, folder, dirs_exist_ok=True)
    assert cli("run", release / "suite.toml", "--save", release / "runs", "-q").code == 0
    with_data = files / "with-data"
    assert cli("table", "a", "--release", with_data, "--with-data").code == 0
    copies = [path.read_text(encoding="utf-8") for path in sorted(with_data.rglob("1.txt"))]
    assert copies == [text.replace("Bob", split) for split in ("dev", "train")]
    assert not list(with_data.rglob("ABSENT-SHA256SUMS"))
    assert "--with-data" not in (with_data / "README.md").read_text(encoding="utf-8")


def test_files_of_one_name_and_notes_of_systems_are_kept(cli, files):
    work = files / "work"
    (work / "train").mkdir()
    (work / "train" / "own.jsonl").write_text(OWN.replace("met", "saw"), encoding="utf-8")
    (work / "s.toml").write_text(
        """
        [datasets.own]
        path = "own.jsonl"
        train = "train/own.jsonl"
        [systems]
        LR = {default = "lr", note = "as in 2018"}
        """,
        encoding="utf-8",
    )
    assert cli("run", "s.toml", "--save", "runs", "-q").code == 0
    release = files / "release"
    assert cli("table", "runs", "--release", release, "-q").code == 0
    texts = {path.read_text(encoding="utf-8") for path in (release / "data").rglob("own.jsonl")}
    assert texts == {OWN, OWN.replace("met", "saw")}
    suite = (release / "suite.toml").read_text(encoding="utf-8")
    assert 'note = "as in 2018"' in suite
    assert cli("run", release / "suite.toml", "--save", release / "runs", "-q").code == 0
    assert "LR: as in 2018." in cli("table", release / "runs", "--methods", "-q").out
