"""Where Lucene's jars are found, with jars that hold nothing but two class files' beginnings."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.retrieval.engines import jvm as lucene_jars
from classic_rc.retrieval.engines.jvm import JARS_VARIABLE, find_jars

CORE = "org/apache/lucene/util/Version.class"
ANALYZERS = "org/apache/lucene/analysis/en/EnglishAnalyzer.class"
PARTS = {"core": [CORE], "analyzers-common": [ANALYZERS], "backward-codecs": [], "demo": []}


def jar(path: Path, *classes: str, java: int = 8) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in classes:
            archive.writestr(name, b"\xca\xfe\xba\xbe\0\0" + (java + 44).to_bytes(2, "big") + b"the rest")
    return path


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(JARS_VARIABLE, raising=False)
    monkeypatch.setattr(lucene_jars, "_DEBIAN", tmp_path / "usr" / "share" / "java")
    monkeypatch.setattr(lucene_jars.importlib.util, "find_spec", lambda name: None)


@pytest.fixture
def pyserini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package that must not be imported, with a jar."""
    monkeypatch.undo()
    monkeypatch.delenv(JARS_VARIABLE, raising=False)
    monkeypatch.setattr(lucene_jars, "_DEBIAN", tmp_path / "usr" / "share" / "java")
    package = tmp_path / "site" / "pyserini"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    return jar(package / "resources" / "jars" / "anserini-1.7.1-fatjar.jar", CORE, ANALYZERS, java=11)


def test_nothing_found_says_what_to_install():
    with pytest.raises(UsageError, match=r"no-deps pyserini.*liblucene8-java.*CLASSIC_RC_LUCENE_JARS"):
        find_jars()


@pytest.mark.parametrize("form", ["{folder}", "{folder}/*.jar", "{core}{sep}{analyzers}", "{sep}{folder}{sep}"])
def test_variable_names_folder_files_or_pattern(form, tmp_path, monkeypatch):
    folder = tmp_path / "jars"
    core, analyzers = jar(folder / "core.jar", CORE, java=11), jar(folder / "english.jar", ANALYZERS, java=11)
    named = form.format(folder=folder, core=core, analyzers=analyzers, sep=os.pathsep)
    monkeypatch.setenv(JARS_VARIABLE, named)
    found = find_jars()
    assert (set(found.paths), found.source, found.java) == ({core, analyzers}, JARS_VARIABLE, 11)


def test_variable_goes_before_pyserini_and_pyserini_before_debian(pyserini, tmp_path, monkeypatch):
    debian = tmp_path / "usr" / "share" / "java"
    jar(debian / "lucene-core-8.7.0.jar", CORE)
    jar(debian / "lucene-analyzers-common-8.7.0.jar", ANALYZERS)
    assert find_jars().paths == (pyserini,)
    assert "pyserini" not in sys.modules
    own = jar(tmp_path / "own.jar", CORE, ANALYZERS, java=21)
    monkeypatch.setenv(JARS_VARIABLE, str(own))
    assert (find_jars().paths, find_jars().java) == ((own,), 21)


def test_pyserini_without_its_jar_is_passed_over(pyserini):
    pyserini.unlink()
    with pytest.raises(UsageError, match="found no jars"):
        find_jars()


def test_debian_release_is_the_newest_and_whole(tmp_path):
    debian = tmp_path / "usr" / "share" / "java"
    for version in ("8.7.0", "8.11.2"):
        for part, name in (
            ("core", CORE),
            ("analyzers-common", ANALYZERS),
            ("backward-codecs", "x"),
            ("demo", "x"),
        ):
            jar(debian / f"lucene-{part}-{version}.jar", name)
    assert [path.name for path in find_jars().paths] == [
        "lucene-core-8.11.2.jar",
        "lucene-analyzers-common-8.11.2.jar",
        "lucene-backward-codecs-8.11.2.jar",
    ]


@pytest.mark.parametrize(
    ("held", "complaint"),
    [
        ((), "hold no Lucene core"),
        ((CORE,), "hold no Lucene analyzers"),
        ((CORE, ANALYZERS, CORE), "hold 2 times a Lucene core"),
    ],
)
def test_variable_must_name_one_whole_release(held, complaint, tmp_path, monkeypatch):
    folder = tmp_path / "jars"
    folder.mkdir()
    for number, name in enumerate(held):
        jar(folder / f"{number}.jar", name)
    monkeypatch.setenv(JARS_VARIABLE, str(folder))
    with pytest.raises(UsageError, match=complaint):
        find_jars()


def test_damaged_jar_is_named(tmp_path, monkeypatch):
    damaged = tmp_path / "lucene.jar"
    damaged.write_bytes(b"no archive")
    monkeypatch.setenv(JARS_VARIABLE, str(damaged))
    with pytest.raises(DataError, match=r"lucene\.jar.*no jar that can be read"):
        find_jars()
