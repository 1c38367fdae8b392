"""The WordNet reader, on a database of six words in the format of wndb(5)."""

from __future__ import annotations

import re
import zipfile

import pytest

from classic_rc.errors import DataError
from classic_rc.text.wordnet import WordNet, find_wordnet
from tests.errors import raises

LICENCE = "  1 A tiny database, WordNet 3.0 by format alone.\n"
# Each synset: its words and the synsets above it, by number within the part of speech.
NOUNS = (
    (("animal",), ()),
    (("dog", "domestic_dog"), (0,)),
    (("puppy",), (1,)),
    (("leaf",), ()),
    (("fox",), (0,)),
)
VERBS = ((("move",), ()), (("run", "go"), (0,)))


def data_file(synsets, pos):
    """The file and the place of each synset in it."""
    width, places, lines = 8, [], []
    for pass_ in range(2):  # places are known once the lengths are
        offset, lines = len(LICENCE), []
        for number, (words, above) in enumerate(synsets):
            pointers = [f"@ {places[up] if pass_ else 0:0{width}d} {pos} 0000" for up in above]
            fields = [
                f"{len(words):02x}",
                *(f"{word} 0" for word in words),
                f"{len(above):03d}",
                *pointers,
            ]
            line = f"{offset:0{width}d} 03 {pos} {' '.join(fields)} | a gloss\n"
            lines.append(line)
            if not pass_:
                places.append(offset)
            assert places[number] == offset
            offset += len(line)
    return LICENCE + "".join(lines), places


def index_file(synsets, places, pos):
    senses = {}
    for (words, _), place in zip(synsets, places, strict=True):
        for word in words:
            senses.setdefault(word, []).append(place)
    entries = []
    for word, word_places in sorted(senses.items()):
        n, offsets = len(word_places), " ".join(f"{p:08d}" for p in word_places)
        entries.append(f"{word} {pos} {n} 1 @ {n} 0 {offsets}  \n")
    return LICENCE + "".join(entries)


@pytest.fixture
def folder(tmp_path):
    for pos, name, synsets, exceptions in (
        ("n", "noun", NOUNS, "leaves leaf\n"),
        ("v", "verb", VERBS, "ran run\n"),
        ("a", "adj", (), ""),
        ("r", "adv", (), ""),
    ):
        data, places = data_file(synsets, pos)
        (tmp_path / f"data.{name}").write_text(data, encoding="utf-8", newline="\n")
        (tmp_path / f"index.{name}").write_text(
            index_file(synsets, places, pos), encoding="utf-8", newline="\n"
        )
        (tmp_path / f"{name}.exc").write_text(exceptions, encoding="utf-8", newline="\n")
    return tmp_path


def steps_up(wordnet, word, general):
    """Return the least steps up from a sense of `word` to one of `general`; None without a path."""
    above = wordnet.above(word)
    return min(
        (above[synset] for synset in wordnet.synsets(general) if synset in above), default=None
    )


def test_steps_are_counted_up_to_a_hypernym_only(folder):
    wordnet = WordNet(folder)
    assert steps_up(wordnet, "puppy", "animal") == 2
    assert steps_up(wordnet, "dog", "domestic_dog") == 0
    assert steps_up(wordnet, "fox", "animal") == 1
    assert steps_up(wordnet, "animal", "fox") is None
    assert steps_up(wordnet, "dog", "fox") is None
    assert steps_up(wordnet, "unknown", "animal") is steps_up(wordnet, "dog", "unknown") is None


def test_inflected_forms_are_looked_up_by_their_bases(folder):
    wordnet = WordNet(folder)
    assert steps_up(wordnet, "puppies", "dogs") == 1
    assert steps_up(wordnet, "foxes", "fox") == 0
    assert steps_up(wordnet, "leaves", "leaf") == 0  # an exception
    assert steps_up(wordnet, "ran", "moving") == 1
    assert steps_up(wordnet, "going", "runs") == 0


def test_the_signature_is_the_content(folder):
    before = WordNet(folder).signature
    assert before.startswith("3.0@")
    assert WordNet(folder).signature == before
    (folder / "verb.exc").write_text("ran run\nwent go\n", encoding="utf-8")
    assert WordNet(folder).signature != before


def test_nltks_archive_is_read_as_it_is(folder, tmp_path):
    with zipfile.ZipFile(tmp_path / "wordnet.zip", "w") as archive:
        for file in folder.glob("*.*"):
            if file.suffix != ".zip":
                archive.write(file, f"wordnet/{file.name}")
    assert WordNet(tmp_path / "wordnet.zip").signature == WordNet(folder).signature


def test_what_is_missing_is_named(folder, tmp_path):
    (folder / "data.verb").unlink()
    with raises(DataError, source=f"{folder}/data.verb", hint=re.compile("wordnet-base")):
        WordNet(folder)
    (tmp_path / "bad.zip").write_bytes(b"no archive")
    with raises(DataError, source=f"{tmp_path}/bad.zip/index.noun"):
        WordNet(tmp_path / "bad.zip")


def test_an_index_of_something_else_is_refused(folder):
    (folder / "index.noun").write_text("fox is a word\n", encoding="utf-8")
    with raises(DataError, source=f"{folder}/index.noun", line=1, found="'fox is a word'"):
        WordNet(folder)


def test_it_is_found_where_nltk_has_it(folder, tmp_path, monkeypatch):
    home = tmp_path / "data" / "corpora"
    home.mkdir(parents=True)
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("classic_rc.text.wordnet.SYSTEM_FOLDERS", ())
    (home / "wordnet.zip").write_bytes(b"")
    assert find_wordnet() == str(home / "wordnet.zip")
    (home / "wordnet").mkdir()
    (home / "wordnet" / "data.noun").write_bytes(b"")
    assert find_wordnet() == str(home / "wordnet")
    monkeypatch.setenv("WNHOME", str(tmp_path / "nowhere"))
    assert find_wordnet() == str(home / "wordnet")


def test_it_is_found_nowhere(tmp_path, monkeypatch):
    monkeypatch.setattr("classic_rc.text.wordnet.SYSTEM_FOLDERS", ())
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    for name in ("WNHOME", "NLTK_DATA"):
        monkeypatch.delenv(name, raising=False)
    assert find_wordnet() is None
