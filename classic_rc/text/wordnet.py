"""A reader of WordNet 3.x database files: synonyms and hypernyms, without nltk's corpora.

It reads ``index.*``, ``data.*`` and ``*.exc`` (the format is wndb(5)), which every distribution of
the database has. Debian's lacks ``lexnames``, which nltk's own reader needs.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from classic_rc.errors import DataError
from classic_rc.io.files import read_input
from classic_rc.io.members import ZIP_ERRORS, read_zip_member

_PARTS_OF_SPEECH = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_ENDINGS = {
    "n": "s- ses-s xes-x zes-z ches-ch shes-sh men-man ies-y",
    "v": "s- ies-y es-e es- ed-e ed- ing-e ing-",
    "a": "er- est- er-e est-e",
    "r": "",
}
"""Inflectional endings, each with its replacement by morphy(7WN)."""
_HYPERNYM_POINTERS = frozenset({"@", "@i"})
"""The pointers to more general synsets: hypernyms, and classes of instances."""
SYSTEM_FOLDERS = (
    *("/usr/share/wordnet", "/usr/local/WordNet-3.0/dict"),
    *(
        f"/usr/{place}/nltk_data/corpora/wordnet"
        for place in ("share", "local/share", "lib", "local/lib")
    ),
)
"""The folders in which Debian, Princeton's installer and nltk install WordNet for all users."""
_HINT = "Use the folder that contains index.noun and data.noun (Debian package: wordnet-base)"

Synset = tuple[str, int]
"""A part of speech and a synonym set's byte offset in the data file of that part."""


class WordNet:
    """Words and their synonym sets, from a folder of database files or nltk's ``wordnet.zip``."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = str(folder)
        digest = hashlib.sha256()
        self._data: dict[str, bytes] = {}
        self._index: dict[str, dict[str, tuple[int, ...]]] = {}
        self._exceptions: dict[str, dict[str, list[str]]] = {}
        for pos, name in _PARTS_OF_SPEECH.items():
            index = self._read_file(f"index.{name}")
            self._data[pos] = self._read_file(f"data.{name}")
            exceptions = self._read_file(f"{name}.exc")
            for content in (index, self._data[pos], exceptions):
                digest.update(hashlib.sha256(content).digest())
            self._index[pos] = dict(_index_entries(index, f"{self.folder}/index.{name}"))
            lines = [line.split() for line in exceptions.decode("ascii").splitlines()]
            self._exceptions[pos] = {words[0]: words[1:] for words in lines if words}
        self.sha256 = digest.hexdigest()
        self._synsets: dict[str, list[Synset]] = {}
        self._above: dict[str, dict[Synset, int]] = {}

    @property
    def signature(self) -> str:
        """The release, if the files state it, and a content hash: ``3.0@1f2e3d4c``."""
        release = re.search(rb"WordNet (?:Release )?(\d\.\d)", self._data["n"][:2000])
        return f"{release[1].decode() if release else 'WordNet'}@{self.sha256[:8]}"

    def synsets(self, word: str) -> list[Synset]:
        """Return the synonym sets of a lower-case word, or of the words it is an inflected form
        of.
        """
        if word not in self._synsets:
            synsets = []
            for pos, index in self._index.items():
                for base in self._base_forms(word, pos):
                    synsets += [(pos, place) for place in index[base]]
            self._synsets[word] = synsets
        return self._synsets[word]

    def above(self, word: str) -> Mapping[Synset, int]:
        """Return all synsets above a word's senses with the least number of steps up; the senses
        have 0 steps.
        """
        if word not in self._above:
            level = self.synsets(word)
            steps = dict.fromkeys(level, 0)
            while level:
                level = [
                    up for synset in level for up in self._hypernyms(synset) if up not in steps
                ]
                steps |= dict.fromkeys(level, max(steps.values()) + 1)
            self._above[word] = steps
        return self._above[word]

    def _read_file(self, name: str) -> bytes:
        try:
            if not self.folder.endswith(".zip"):
                return read_input(Path(self.folder, name))
            return read_zip_member(self.folder, f"wordnet/{name}")
        except (KeyError, *ZIP_ERRORS) as error:
            reason = getattr(error, "strerror", None) or error
            source = f"{self.folder}/{name}"
            raise DataError(
                f"WordNet cannot be read ({reason})", source=source, hint=_HINT
            ) from None

    def _base_forms(self, word: str, pos: str) -> list[str]:
        index = self._index[pos]
        forms = [word, *self._exceptions[pos].get(word, ())]
        if len(forms) == 1:
            for ending in _ENDINGS[pos].split():
                old, new = ending.split("-")
                if word.endswith(old):
                    forms.append(word.removesuffix(old) + new)
        return [form for form in dict.fromkeys(forms) if form in index]

    def _hypernyms(self, synset: Synset) -> Iterator[Synset]:
        pos, place = synset
        data = self._data[pos]
        fields = data[place : data.index(b"\n", place)].decode("utf-8").split()
        n_words = int(fields[3], 16)
        n_pointers = int(fields[4 + 2 * n_words])
        pointers = fields[5 + 2 * n_words :]
        for i in range(n_pointers):
            symbol, offset, target, _ = pointers[4 * i : 4 * i + 4]
            if symbol in _HYPERNYM_POINTERS:
                yield target, int(offset)


def _index_entries(content: bytes, source: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
        if not line or line[0] == " ":  # the licence
            continue
        fields = line.split()
        try:
            n_places = int(fields[2])
            yield fields[0], tuple(map(int, fields[-n_places:]))
        except (IndexError, ValueError):
            raise DataError(
                "not a WordNet index",
                source=source,
                where=f"line {number}",
                found=repr(line[:60]),
                hint=_HINT,
            ) from None


@cache
def read_wordnet(folder: str) -> WordNet:
    """Return the database in a folder, which is read once per process."""
    return WordNet(folder)


def find_wordnet() -> str | None:
    """Return the folder of a WordNet database on this machine, or nltk's archive of one, or None.

    The search goes through the ``dict`` folder of ``WNHOME``, then :data:`SYSTEM_FOLDERS`, then
    ``corpora/wordnet`` in nltk's data folders: those of ``NLTK_DATA``, of the home folder, and of
    the Python installation.
    """
    home = os.environ.get("WNHOME")
    nltk_data = os.environ.get("NLTK_DATA", "").split(os.pathsep)
    nltk_data += [str(Path.home() / "nltk_data"), str(Path(sys.prefix, "nltk_data"))]
    folders = [Path(home) / "dict"] if home else []
    folders += map(Path, SYSTEM_FOLDERS)
    folders += [Path(folder) / "corpora" / "wordnet" for folder in nltk_data if folder]
    for folder in folders:
        if (folder / "data.noun").is_file():
            return str(folder)
        if (archive := folder.with_suffix(".zip")).is_file():
            return str(archive)
    return None
