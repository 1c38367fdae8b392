"""The engine `lucene`: the protocol on small corpora with BM25 scores worked out here, and its
folders.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import joblib
import numpy as np
import pytest

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.retrieval.corpus import Corpus
from classic_rc.retrieval.engines.jvm import java_class
from classic_rc.retrieval.engines.lucene import Lucene, open_directory
from classic_rc.retrieval.similarity import BM25
from classic_rc.retrieval.verbatim import find_texts
from tests.errors import raises
from tests.retrieval.facts import flip_bit, join_queries, shares_of

pytestmark = pytest.mark.usefixtures("needs_lucene")

SENTENCES = (
    "The fox runs.",
    "",
    "A dog's fox \U0001f600 and\0 U.S. fo\ud800x",
    "dogs and foxes and foxes",
    "The fox runs.",
)


@pytest.fixture(scope="module")
def engine() -> Lucene:
    return Lucene().index(SENTENCES)


def bm25(
    tf: float, length: float, df: int, n: int, average: float, k1: float = 0.9, b: float = 0.4
) -> float:
    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + k1 * (1 - b + b * length / average))


def test_scores_are_bm25_of_the_stemmed_words(engine):
    # fox run | (none) | dog fox emoji u. fo x (a U+FFFD parts the last two) | dog fox fox | fox run
    lengths, n, average = (2, 0, 6, 3, 2), 4, 13 / 4
    counts = {0: 1, 2: 1, 3: 2, 4: 1}
    expected = {i: bm25(tf, lengths[i], 4, n, average) for i, tf in counts.items()}
    sentences, scores = engine.top(["A FOXES'"])[0]
    assert dict(zip(sentences.tolist(), scores.tolist(), strict=True)) == pytest.approx(
        expected, rel=1e-6
    )
    assert sentences.tolist() == [3, 0, 4, 2]


def test_repeated_word_counts_as_often(engine):
    _, once = engine.top(["fox dog"])[0]
    _, twice = engine.top(["fox dog fox"])[0]
    shares = shares_of(engine, "fox dog", 3)
    assert twice[0] - once[0] == pytest.approx(shares["fox"], rel=1e-6)


def test_constrained_sums_are_rounded_as_those_of_the_plain_query():
    words = [f"w{i}" for i in range(40)]
    rng = np.random.default_rng(7)
    engine = Lucene().index(" ".join(rng.choice(words, 12)) for _ in range(200))
    questions = [" ".join(rng.choice(words, 5)) for _ in range(100)]
    options = [[" ".join(rng.choice(words, size)) for size in (1, 2, 4)] for _ in questions]
    best = engine.best_constrained(questions, options)
    queries = join_queries(questions, options)
    for sentence, score, (sentences, scores) in zip(
        best.sentences, best.scores, engine.top(queries, 200), strict=True
    ):
        assert score == dict(zip(sentences.tolist(), scores, strict=True))[int(sentence)]


def test_texts_are_returned_except_unpaired_surrogates(engine):
    texts = [engine.sentence(number) for number in range(engine.n_sentences)]
    assert texts == [text.replace("\ud800", "\ufffd") for text in SENTENCES]
    for number in (-1, 5):
        with pytest.raises(IndexError, match=rf"\b5\b.* {number}$"):
            engine.sentence(number)
        with pytest.raises(IndexError, match=rf"\b5\b.* {number}$"):
            engine.term_facts("fox", number)


def test_first_hits_are_examined(engine):
    best = engine.best_among_top(
        ["Which fox?"], [["a dog", "cats"]], depth=10, overlap="word+porter+stop=smart"
    )
    assert best.sentences.tolist() == [3, -1]


def test_constants_of_the_similarity_matter():
    short, long = BM25(k1=1.2, b=0.0), BM25(k1=1.2, b=1.0)
    sentences = ["fox", "fox and a very long tail behind it"]
    flat = Lucene(similarity=short).index(sentences).top(["fox"])[0]
    assert flat[1][0] == flat[1][1]
    steep = Lucene(similarity=long).index(sentences).top(["fox"])[0]
    assert steep[1][0] > steep[1][1]


def test_long_sentences_words_and_queries():
    long_query = " ".join(f"w{number}" for number in range(100_000))
    engine = Lucene().index(["short", long_query, "x" * 300])
    assert engine.top(["w99999", "x" * 255, "x" * 45]).sentences.tolist() == [1, 2, 2]
    passage = long_query[:20_000]
    assert engine.top([passage]).sentences.tolist() == [1]
    assert engine.best_constrained([passage], [["w5 " * 3000]]).sentences.tolist() == [1]


def test_order_survives_many_segments(tmp_path):
    # More sentences than Lucene merges at once, flushed in between, so that its merges are at work.
    engine = Lucene(place=tmp_path / "index")
    engine.index(f"same word number{number}" for number in range(25_000))
    assert engine.top(["same"], k=25_000).sentences.tolist() == list(range(25_000))
    assert engine.sentence(24_999) == "same word number24999"


def test_index_replaces_the_one_before():
    engine = Lucene().index(["A fox."])
    assert engine.index(["A dog.", "A cat."]) is engine
    assert (engine.n_sentences, engine.top(["fox", "cat"]).sentences.tolist()) == (2, [1])


@pytest.mark.parametrize(
    "use",
    [
        lambda e: e.top(["fox"]),
        lambda e: e.best_constrained(["fox"], [["dog"]]),
        lambda e: e.n_sentences,
    ],
)
def test_without_an_index(use):
    with raises(NotFittedError) as caught:
        use(Lucene())
    assert "lucene" in str(caught.value)


def test_unusable_parameters(engine):
    with raises(UsageError, field="similarity", found="classic", expected="'bm25'"):
        Lucene(similarity="classic")
    with raises(UsageError, field="similarity", found="okapi", expected="'bm25'"):
        Lucene(similarity="okapi")
    with raises(UsageError, field="analyzer", found="word", expected="'lucene-english'"):
        Lucene(analyzer="word")
    with raises(UsageError, field="k", found="0"):
        engine.top(["fox"], k=0)
    with raises(UsageError, field="sentences", found="str"):
        Lucene().index("fox")
    with raises(UsageError, field="sentences[1]", found="bytes"):
        Lucene().index(["fox", b"dog"])
    assert engine.signature == "lucene:bm25:lucene-english"


def files(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_opened_folder_is_not_written(tmp_path):
    folder = tmp_path / "index"
    written = Lucene(place=folder).index(SENTENCES)
    written.close()
    (folder / "write.lock").unlink()
    before = files(folder)
    opened = Lucene.open(folder)
    assert opened.top(["fox"])[0][0].tolist() == [3, 0, 4, 2]
    assert (opened.n_sentences, opened.sentence(0)) == (5, "The fox runs.")
    with raises(UsageError, field="place", found=str(folder)):
        opened.index(["x"])
    with raises(UsageError, field="place", found=str(folder)):
        Lucene(place=folder).index(["x"])
    opened.close()
    assert files(folder) == before


def test_writer_may_write_again_and_after_an_interruption(tmp_path):
    def broken():
        yield "A fox."
        raise KeyboardInterrupt

    folder = tmp_path / "index"
    with pytest.raises(KeyboardInterrupt):
        Lucene(place=folder).index(broken())
    engine = Lucene(place=folder).index(["A dog."])
    with pytest.raises(KeyboardInterrupt):
        engine.index(broken())
    assert engine.top(["dog", "fox"]).offsets.tolist() == [0, 1, 1]
    assert Lucene.open(folder).sentence(0) == "A dog."
    assert engine.index(["A cat."]).sentence(0) == "A cat."


def test_folders_without_a_usable_index(tmp_path):
    with raises(DataError, source=str(tmp_path / "none"), problem="no such folder"):
        Lucene.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with raises(DataError, source=str(tmp_path), problem=re.compile("no Lucene index")):
        Lucene.open(tmp_path)
    Lucene(place=tmp_path / "index").index(SENTENCES).close()
    with raises(DataError, source=str(tmp_path / "index"), field="text", expected="'contents'"):
        Lucene.open(tmp_path / "index", field="text")
    for path in (tmp_path / "index").glob("segments_*"):
        path.write_bytes(path.read_bytes()[:20])
    with raises(DataError, source=str(tmp_path / "index"), field=None, hint=re.compile("release")):
        Lucene.open(tmp_path / "index")


def write_foreign(
    folder: Path, documents: Sequence[tuple[str, Mapping[str, str]]], *, analyzer: str | None = None
) -> None:
    """Write an index like Anserini's: terms in one field, stored texts in others, and a segment for
    each document; the last one is then deleted.
    """
    analyzer = analyzer or "org.apache.lucene.analysis.en.EnglishAnalyzer"
    config = java_class("org.apache.lucene.index.IndexWriterConfig")(java_class(analyzer)())
    config.setMergePolicy(java_class("org.apache.lucene.index.NoMergePolicy").INSTANCE)
    writer = java_class("org.apache.lucene.index.IndexWriter")(
        open_directory(os.fspath(folder)), config
    )
    not_stored = java_class("org.apache.lucene.document.Field$Store").NO
    text_field = java_class("org.apache.lucene.document.TextField")
    stored_field = java_class("org.apache.lucene.document.StoredField")
    term = java_class("org.apache.lucene.index.Term")
    term_query = java_class("org.apache.lucene.search.TermQuery")
    for number, (text, stored) in enumerate([*documents, ("deleted", {"raw": "deleted"})]):
        document = java_class("org.apache.lucene.document.Document")()
        document.add(text_field("contents", text, not_stored))
        document.add(text_field("number", str(number), not_stored))
        for field, value in stored.items():
            document.add(stored_field(field, value))
        writer.addDocument(document)
        if number % 3:  # some segments have two documents
            writer.flush()
    writer.deleteDocuments(term_query(term("number", str(len(documents)))))
    writer.close()


TEXTS = ("A fox.", "Two foxes, a dog.", 'She said: "The dog\'s den?" \u4ed6', "The id of contents.")


def anserini(**members: str) -> dict[str, str]:
    return {"raw": json.dumps({"id": "d1", **members}, indent=2)}


@pytest.mark.parametrize(
    "store",
    [
        lambda text: {"contents": text},
        lambda text: {"raw": text},
        lambda text: anserini(contents=text),
        lambda text: anserini(contents=text, title="Another field"),
        lambda text: anserini(_id="d", title="Another field", text=text),
        lambda text: anserini(pid="p", passage=text, spans="(0,5)"),
        lambda text: {"contents": "Something else", **anserini(contents=text)},
    ],
)
def test_texts_of_another_programs_index(tmp_path, store):
    write_foreign(tmp_path, [(text, store(text)) for text in TEXTS])
    engine = Lucene.open(tmp_path)
    assert [engine.sentence(number) for number in range(len(TEXTS))] == list(TEXTS)
    assert list(engine.sentences()) == [*TEXTS, ""]  # the last one was deleted
    assert engine.top(["fox dog"]).sentences.tolist() == [1, 0, 2]
    assert engine.best_constrained(["foxes"], [["dogs"]]).sentences.tolist() == [1]
    matches = find_texts(Corpus("index", engine, "", str), ["the dog's den?\"", "deleted", "fox"])
    assert list(matches.values()) == [[2], [], [0]]
    assert engine.without([0]).top(["fox"]).sentences.tolist() == [1]


def test_a_title_and_a_text_may_be_indexed_together(tmp_path):
    pairs = [("Foxes", "They dig."), ("", "Owls fly."), ("Dens", "")]
    documents = []
    for title, text in pairs:
        documents.append((f"{title} {text}", anserini(_id="d", title=title, text=text)))
    write_foreign(tmp_path, documents)
    expected = ["Foxes\nThey dig.", "Owls fly.", "Dens"]
    assert list(Lucene.open(tmp_path).sentences()) == expected


@pytest.mark.parametrize(
    ("store", "problem"),
    [
        (lambda text: {}, "does not store"),
        (lambda text: {"raw": f"<id>d1</id> {text}"}, "'raw' has other terms than 'contents'"),
        (lambda text: {"raw": text.replace("fox", "owl")}, "'raw' has other terms"),
        (lambda text: {"raw": f"{text} {text}"}, "'raw' has other terms"),
        (lambda text: {"raw": text[:5]}, "'raw' has other terms"),
        (lambda text: anserini(abstract=text), "'raw' has other terms"),
        (lambda text: anserini(text="", abstract=text), "'raw' has other terms"),
        (lambda text: {"raw": "[1]"}, "'raw' has other terms"),
    ],
)
def test_a_text_with_other_terms_counts_as_not_stored(tmp_path, store, problem):
    write_foreign(tmp_path, [(text, store(text)) for text in TEXTS])
    engine = Lucene.open(tmp_path)
    assert engine.top(["fox dog"]).sentences.tolist() == [1, 0, 2]
    for read in (
        lambda: engine.sentence(0),
        lambda: list(engine.sentences()),
        lambda: engine.without([1]),
        lambda: engine.best_among_top(["fox"], [["dog"]], 10, "word"),
        lambda: find_texts(Corpus("index", engine, "", str), ["fox"]),
    ):
        with raises(DataError, source=str(tmp_path), problem=re.compile(problem)):
            read()
    assert re.search(f"; no texts \\(.*{problem}", Lucene.check(os.fspath(tmp_path)))


def test_terms_of_another_analyzer_are_not_those_of_the_texts(tmp_path):
    documents = [(text, anserini(contents=text)) for text in TEXTS]
    whitespace = "org.apache.lucene.analysis.core.WhitespaceAnalyzer"
    write_foreign(tmp_path, documents, analyzer=whitespace)
    with raises(DataError, source=str(tmp_path), hint=re.compile("another analyzer")):
        Lucene.open(tmp_path).sentence(0)


def test_a_document_without_a_text_is_named(tmp_path):
    stored = [anserini(contents=text) for text in TEXTS]
    stored[2] = {}
    write_foreign(tmp_path, list(zip(TEXTS, stored, strict=True)))
    engine = Lucene.open(tmp_path)
    assert engine.sentence(1) == TEXTS[1]
    for read in (lambda: engine.sentence(2), lambda: list(engine.sentences())):
        with raises(DataError, source=str(tmp_path), where="document 2"):
            read()


def test_a_check_says_where_texts_are_and_finds_damage(tmp_path):
    folder = tmp_path / "index"
    Lucene(place=folder).index(SENTENCES).close()
    assert Lucene.check(os.fspath(folder)).endswith("; texts in contents")
    for path in [path for path in folder.iterdir() if path.suffix in (".cfs", ".fdt")]:
        flip_bit(path, path.stat().st_size // 2)
    with raises(DataError, source=str(folder)):
        Lucene.check(os.fspath(folder))


def test_processes_share_a_folder(tmp_path):
    engine = Lucene(place=tmp_path / "index").index(SENTENCES)
    expected = engine.top(["fox"])[0]
    with joblib.parallel_config(backend="loky"):
        searches = [joblib.delayed(engine.top)(["fox"])] * 2
        hits_of_processes = joblib.Parallel(n_jobs=2)(searches)
    for hits in hits_of_processes:
        np.testing.assert_array_equal(hits[0], expected)


def test_copies(engine, tmp_path):
    with raises(UsageError, field="place", found="None"):
        pickle.dumps(engine)
    fresh = pickle.loads(pickle.dumps(Lucene(similarity="bm25-lucene", place=tmp_path / "index")))
    assert fresh.index(["A fox."]).signature == "lucene:bm25+k1=1.2+b=0.75:lucene-english"
    copy = pickle.loads(pickle.dumps(fresh))
    assert (copy.signature, copy.sentence(0)) == (fresh.signature, "A fox.")
