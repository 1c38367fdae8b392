"""The engine `sparse` against Lucene itself: the same terms, the same sentences, the same bits."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.datasets import load
from classic_rc.kernels.bm25 import byte4_lengths
from classic_rc.questions import Dataset
from classic_rc.retrieval.base import Best, Hits, QueryFacts
from classic_rc.retrieval.engines.jvm import java_class
from classic_rc.retrieval.engines.lucene import Lucene
from classic_rc.retrieval.sparse import Sparse
from classic_rc.text import passage_sentences
from tests.retrieval.facts import join_queries

pytestmark = pytest.mark.usefixtures("needs_lucene")

N_QUERIES = 2000

FILES = (
    *(f"multirc/{name}-fixedIds.json" for name in ("train_456", "dev_83")),
    *(f"mctest/mc{size}.{split}.tsv" for size in (160, 500) for split in ("train", "dev")),
    *(f"dream/{split}.json" for split in ("train", "dev")),
)
RACE = "race/RACE-train-dev.tar.gz"


@dataclass
class Corpus:
    """Sentences in both engines, and questions with their options."""

    sentences: list[str]
    questions: list[str]
    options: list[list[str]]

    def __post_init__(self) -> None:
        self.lucene = Lucene().index(self.sentences)
        self.sparse = Sparse().index(self.sentences)

    def queries(self) -> list[str]:
        """Question and option, some of all."""
        queries = join_queries(self.questions, self.options)
        sampled = np.random.default_rng(0).permutation(len(queries))[:N_QUERIES]
        return [queries[i] for i in sampled]

    def with_options(self) -> tuple[list[str], list[list[str]]]:
        """Questions enough for as many options."""
        order = np.random.default_rng(1).permutation(len(self.questions))
        total = np.cumsum([len(self.options[i]) for i in order])
        sampled = order[: np.searchsorted(total, N_QUERIES) + 1]
        return [self.questions[i] for i in sampled], [self.options[i] for i in sampled]


def of_datasets(datasets: list[Dataset]) -> Corpus:
    sentences, texts, options = [], [], []
    for dataset in datasets:
        for passage in dataset.passages:
            spans = passage_sentences(passage)
            sentences += [passage.text[start:end] for start, end in spans]
        for question in dataset:
            texts.append(question.text)
            options.append([candidate.text for candidate in question.candidates])
    return Corpus(sentences, texts, options)


def invented() -> Corpus:
    """Sentences of words with a few stems and many endings, most of them rare, some of them stop
    words.
    """
    rng = np.random.default_rng(2)
    letters, vowels = list("bcdfgklmnprst"), list("aeiou")

    def stem() -> str:
        return "".join(rng.choice((letters, vowels)[i % 2]) for i in range(rng.integers(3, 8)))

    stems = [stem() for _ in range(900)]
    endings = ["", "", "", "s", "ed", "ing", "'s", "ly", "ness", "ational", "ies", "es"]
    inflected = [stem + ending for stem in stems for ending in endings]
    words = np.array(inflected + ["the", "of", "a", "not"] * 300)
    rng.shuffle(words)
    shares = 1 / np.arange(1, len(words) + 1)

    def text(n_words: int) -> str:
        return " ".join(rng.choice(words, n_words, p=shares / shares.sum()).tolist())

    sentences = [text(int(n)) for n in np.minimum(rng.geometric(0.07, 6000) - 1, 400)]
    questions = [text(int(n)) for n in rng.integers(1, 12, N_QUERIES // 4)]
    options = [[text(int(n)) for n in rng.integers(1, 9, 4)] for _ in questions]
    return Corpus(sentences, questions, options)


@pytest.fixture(scope="module", params=["invented", "real"])
def corpus(request: pytest.FixtureRequest) -> Corpus:
    """Invented; and the sentences of MultiRC, MCTest and DREAM, train and dev, and of RACE dev."""
    if request.param == "invented":
        return invented()
    data: Path = request.getfixturevalue("shared_data")
    datasets = [load(data / file) for file in FILES]
    return of_datasets([*datasets, load(data / RACE, split="dev")])


def lucene_frequencies(engine: Lucene) -> dict[str, int]:
    """Each term, and how many sentences have it."""
    terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(
        engine._reader.leaves().get(0).reader(), "contents"
    )
    term_iterator, frequencies = terms.iterator(), {}
    while (term := term_iterator.next()) is not None:
        frequencies[term.utf8ToString()] = term_iterator.docFreq()
    return frequencies


def sparse_frequencies(engine: Sparse) -> dict[str, int]:
    (segment,) = engine.segments
    data = segment.term_data.tobytes()
    bounds = pairwise(segment.term_offsets.tolist())
    terms = [data[start:stop].decode("utf-8") for start, stop in bounds]
    return dict(zip(terms, np.diff(segment.posting_offsets).tolist(), strict=True))


def assert_same(actual: Hits | Best, expected: Hits | Best) -> None:
    """Down to the bits of the scores."""
    np.testing.assert_array_equal(actual.offsets, expected.offsets)
    np.testing.assert_array_equal(actual.sentences, expected.sentences)
    np.testing.assert_array_equal(actual.scores.view(np.int32), expected.scores.view(np.int32))


def test_terms_and_their_frequencies(corpus):
    assert sparse_frequencies(corpus.sparse) == lucene_frequencies(corpus.lucene)


def test_first_ten_hits(corpus):
    queries = corpus.queries()
    assert len(queries) == N_QUERIES
    assert_same(corpus.sparse.top(queries, 10), corpus.lucene.top(queries, 10))


def test_best_constrained(corpus):
    questions, options = corpus.with_options()
    expected = corpus.lucene.best_constrained(questions, options)
    assert len(expected.found) >= N_QUERIES
    assert 0.5 < expected.found.mean() < 1
    assert_same(corpus.sparse.best_constrained(questions, options), expected)


ENGLISH = "fox foxes fox's running ran dog dogs Dog's the of not a i zebra generously"
OTHERS = "café CAFÉ naïve U.S. 3.5 a_b 狐 🦊"
WORDS = st.sampled_from(f"{ENGLISH} {OTHERS}".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def assert_same_facts(facts: QueryFacts, other_facts: QueryFacts) -> None:
    """The counts that make a score are the same; Lucene tells those of the collection only if a
    term matches.
    """
    assert facts.terms == other_facts.terms
    if facts.terms:
        assert (facts.n_with_terms, facts.n_tokens) == (
            other_facts.n_with_terms,
            other_facts.n_tokens,
        )
        assert byte4_lengths(np.array([facts.length])).tolist() == [other_facts.length]


CONSTANTS = st.sampled_from(["bm25", "bm25-lucene", "bm25+k1=0", "bm25+b=0", "bm25+k1=3+b=1"])


@given(
    sentences=st.lists(TEXTS, max_size=12),
    questions=st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3)), max_size=4),
    k=st.integers(1, 13),
    similarity=CONSTANTS,
)
def test_small_corpora_of_few_words(sentences, questions, k, similarity):
    """Ties, words in half of the sentences and more, repeated and unknown words, nothing at all."""
    lucene, sparse = (
        Lucene(similarity=similarity).index(sentences),
        Sparse(similarity=similarity).index(sentences),
    )
    texts = [text for text, _ in questions]
    options = [question_options for _, question_options in questions]
    assert_same(sparse.top(texts, k), lucene.top(texts, k))
    assert_same(sparse.best_constrained(texts, options), lucene.best_constrained(texts, options))
    for text in texts:
        for number in range(len(sentences)):
            assert_same_facts(sparse.term_facts(text, number), lucene.term_facts(text, number))
