"""Engines by name: each in the registry keeps the contract, and a plug-in is one like the
package's own.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import textwrap

import pytest

from classic_rc.errors import ClassicRCError, UsageError
from classic_rc.retrieval.registry import ENGINES, get_engine, open_corpus
from classic_rc.testing import check_engine
from tests.errors import raises
from tests.processes import run_commands


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_keeps_the_contract(name, tmp_path):
    engine_type = ENGINES[name]
    if engine_type.needs_place:
        pytest.skip("its indexes are outside of this process: tests of its own have a server")
    try:
        engine_type().index(["A fox."])
    except ClassicRCError as error:  # a package or a program is missing
        pytest.skip(f"{name} cannot run here: {error}")
    numbers = itertools.count()
    check_engine(engine_type, lambda: str(tmp_path / f"place-{next(numbers)}"))


@pytest.mark.parametrize("name", ["google", "", "Sparse"])
def test_an_unknown_engine_is_called_unknown(name):
    for look in (get_engine, lambda engine: open_corpus("fables", engine=engine)):
        with raises(UsageError, field="engine", found=name) as caught:
            look(name)
        assert "unknown engine" in str(caught.value)


def test_an_engine_without_stored_indexes_neither_opens_nor_builds_any(tmp_path):
    (name, *_) = (name for name, engine in ENGINES.items() if not engine.stored_as)
    with raises(UsageError, field="engine", found=name):
        open_corpus("fables", engine=name)
    with raises(UsageError, field="place", found=str(tmp_path)):
        get_engine(name, place=tmp_path)


PLUGIN = """
    import json
    from classic_rc.retrieval import Engine, Hits

    class Shared(Engine):
        name = "shared"
        description = "A sentence scores the number of query terms that it has."
        citation = "None."
        stored_as = "a JSON file"
        _sentences = ()

        @classmethod
        def open(cls, place, *, similarity=None):
            engine = cls(similarity=similarity, place=place)
            with open(place, encoding="utf-8") as file:
                engine._sentences = json.load(file)
            return engine

        def index(self, sentences):
            self._sentences = list(sentences)
            if self.place is not None:
                with open(self.place, "w", encoding="utf-8") as file:
                    json.dump(self._sentences, file)
            return self

        @property
        def n_sentences(self):
            return len(self._sentences)

        def sentence(self, number):
            self.check_number(number)
            return self._sentences[number]

        def top(self, queries, k=10):
            return Hits.of(self._search(set(self.analyzer.analyze(query)), k) for query in queries)

        def _search(self, terms, k):
            shared = [len(terms & set(self.analyzer.analyze(text))) for text in self._sentences]
            pairs = [(number, float(count)) for number, count in enumerate(shared) if count]
            return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]
"""


@pytest.fixture
def plugin(tmp_path):
    """The path of a process in which a package with the engine `shared` is installed."""
    info = tmp_path / "site" / "rc_shared-1.2.dist-info"
    info.mkdir(parents=True)
    (tmp_path / "site" / "rc_shared.py").write_text(textwrap.dedent(PLUGIN), encoding="utf-8")
    for name, content in {
        "METADATA": "Metadata-Version: 2.1\nName: rc-shared\nVersion: 1.2\n",
        "entry_points.txt": "[classic_rc.engines]\nshared = rc_shared:Shared\n",
    }.items():
        (info / name).write_text(content, encoding="utf-8")
    return [str(tmp_path / "site"), *sys.path]


def test_a_plugin_is_listed_builds_searches_and_explains_like_our_own_engines(plugin, tmp_path):
    (tmp_path / "text.txt").write_text("A fox ran.\nA hen slept.\n", encoding="utf-8")
    sample = "sample:single-choice"
    listed, ran, built, checked, added, searched, explained = run_commands(
        ("list", "engines"),
        ("run", sample, "-s", "ir:paragraphs,engine=shared", "-s", "ir,engine=shared", "-v"),
        ("index", "text.txt", "-o", "place.json", "--engine", "shared", "--quiet"),
        ("index", "place.json", "--check", "--engine", "shared"),
        ("index", "text.txt", "-o", "other", "--engine", "shared", "--append"),
        ("run", sample, "-s", "ir,engine=shared,corpus=place.json", "-v"),
        ("explain", sample, "lantern.1", "-s", "ir:paragraphs,engine=shared"),
        path=plugin,
        cwd=tmp_path,
    )
    assert "(plug-in of rc-shared 1.2)" in listed.out
    assert (ran.code, ran.out.count("|engine:shared of rc-shared 1.2|")) == (0, 2), ran.err
    assert built.code == 0, built.err
    assert built.out.startswith("place.json: 2 sentences; shared:bm25:lucene-english; fingerprint ")
    assert checked.out.startswith(f"{built.out}  intact\n  search it: classic-rc run DATA -s ir,")
    assert added.code == 2
    assert "place.json@" in searched.out, searched.err
    assert explained.code == 0, explained.err


@pytest.mark.ci
def test_a_plugin_keeps_the_contract(plugin, tmp_path):
    code = """
        import itertools, sys
        from classic_rc.retrieval import engine_class
        from classic_rc.testing import check_engine
        numbers = itertools.count()
        check_engine(engine_class("shared"), lambda: f"{sys.argv[1]}/place-{next(numbers)}")
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(plugin)}
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    done = subprocess.run(
        command, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
