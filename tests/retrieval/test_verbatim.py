"""Texts that a corpus contains word for word, against a comparison of every text with every
sentence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.errors import ClassicRCError
from classic_rc.io.progress import progress_bar
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.retrieval import Corpus, Engine
from classic_rc.retrieval.engines.lucene import Lucene
from classic_rc.retrieval.engines.opensearch import OpenSearch
from classic_rc.retrieval.engines.rank_bm25 import RankBM25
from classic_rc.retrieval.sparse import Sparse
from classic_rc.retrieval.verbatim import find_texts, find_verbatim
from classic_rc.text.sentences import passage_sentences

WORDS = (
    *("fox", "foxes", "Fox", "the", "a", "den", "1", "1,000", "can", "can't", "_", "fo_x", "he"),
    *("Zo\u00eb", "Zoe\u0308", "\u4ed6", "said:", '"yes"', "STRASSE", "straße", "hedgehog's"),
)
MARKS = ("", "", "", ".", "?", "!", '"', ", ")
BLANKS = (" ", " ", " ", "  ", "\n", "\u00a0")


def make_text(rng: np.random.Generator, length: int) -> str:
    return "".join(str(rng.choice(parts)) for parts in (WORDS, MARKS, BLANKS) * length)


def make_texts(seed: int) -> tuple[list[str], list[str]]:
    """Return random sentences, and texts: random ones, and parts of sentences, some upper case."""
    rng = np.random.default_rng(seed)
    sentences = [make_text(rng, length) for length in rng.integers(0, 12, 60).tolist()]
    texts = [make_text(rng, length) for length in rng.integers(0, 4, 20).tolist()]
    for sentence in rng.choice([text for text in sentences if text], 60).tolist():
        start, stop = sorted(rng.integers(0, len(sentence) + 1, 2).tolist())
        excerpt = sentence[start:stop]
        texts.append(excerpt.upper() if rng.random() < 0.3 else excerpt)
    return sentences, texts


def corpus_of(engine: Engine) -> Corpus:
    return Corpus("index", engine, "", str)


def normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text.casefold()).split())


def contains(sentence: str, text: str) -> bool:
    """Return whether a sentence has a text between two places that are no middle of a word."""
    sentence, text = f" {normalise(sentence)} ", normalise(text)
    for start in range(1, len(sentence) - len(text)):
        stop = start + len(text)
        if text and sentence[start:stop] == text:
            edges = sentence[start - 1 : start + 1], sentence[stop - 1 : stop + 1]
            if not any(edge[0].isalnum() and edge[1].isalnum() for edge in edges):
                return True
    return False


def containing(engine: Engine, sentences: Sequence[str], text: str) -> list[int]:
    """Compare a text with every sentence."""
    terms = {*engine.analyzer.analyze(text)}
    numbers = []
    for number, sentence in enumerate(sentences):
        has_terms = terms and terms <= {*engine.analyzer.analyze(sentence)}
        if has_terms and contains(sentence, text):
            numbers.append(number)
    return numbers


def check_texts(engine: Engine, seed: int) -> int:
    sentences, texts = make_texts(seed)
    corpus = corpus_of(engine.index(sentences))
    expected = {text: containing(engine, sentences, text) for text in texts}
    assert find_texts(corpus, texts) == expected
    return sum(map(len, expected.values()))


@pytest.mark.parametrize("analyzer", ["lucene-english", "word"])
def test_texts_are_found_where_a_plain_comparison_finds_them(analyzer):
    n_found = 0
    for seed in range(15):
        with small_blocks(1 + 7 * seed):
            n_found += check_texts(Sparse(analyzer=analyzer), seed)
    assert n_found > 500


def test_every_engine_finds_the_same(url):
    check_texts(OpenSearch("place"), seed=1)


def test_rank_bm25_finds_the_same():
    pytest.importorskip("rank_bm25")
    check_texts(RankBM25(), seed=2)


def test_lucene_finds_the_same():
    try:
        check_texts(Lucene(), seed=3)
    except ClassicRCError as error:
        pytest.skip(f"Lucene cannot run here: {error}")


def test_more_sentences_than_a_search_returns_are_found():
    sentences = [f"{number}: what is it? A fox." for number in range(1_000)]
    matches = find_texts(corpus_of(Sparse().index(sentences)), ["What is it?"])
    assert matches == {"What is it?": list(range(1_000))}


def test_questions_answers_and_passages_are_counted_as_in_a_plain_comparison():
    dataset = load("sample:single-choice")
    passages = list({q.passage.id: q.passage for q in dataset.questions}.values())
    rng = np.random.default_rng(5)
    sentences = [p.text[i:j] for p in passages[:3] for i, j in passage_sentences(p)]
    n_own = len(sentences)
    for question in dataset.questions[::2]:
        sentences += [f"Well: {question.query}", *question.gold_texts][: rng.integers(1, 3)]
    engine = Sparse().index(sentences)
    matches = find_verbatim(corpus_of(engine), dataset.questions)
    question_matches = [
        containing(engine, sentences, question.query) for question in dataset.questions
    ]
    n_pairs = 0
    for question, numbers in zip(dataset.questions, question_matches, strict=True):
        near = "\n".join(f"{sentences[n]}\n{''.join(sentences[n + 1 : n + 2])}" for n in numbers)
        n_pairs += any(contains(near, text) for text in question.gold_texts)
    assert (matches.questions, matches.pairs) == (sum(map(bool, question_matches)), n_pairs)
    assert matches.passages == 3
    assert matches.sentences == {
        *range(n_own),
        *(n for numbers in question_matches for n in numbers),
    }
    without_passages = find_verbatim(corpus_of(engine), dataset.questions, passages=False)
    assert without_passages.sentences == {n for numbers in question_matches for n in numbers}


def test_a_passage_counts_when_all_of_its_sentences_are_there():
    passages = [Passage(str(n), text) for n, text in enumerate(("A fox ran. Hi!", "Hi! An owl."))]
    questions = [
        Question(p.id, p, "Who?", (Candidate("x"),), None, Task.SINGLE_CHOICE) for p in passages
    ]
    corpus = corpus_of(Sparse().index(["Hi! said she.", "I saw how a fox ran.", "Hi!"]))
    matches = find_verbatim(corpus, questions)
    assert (matches.questions, matches.passages) == (0, 1)
    assert matches.sentences == {0, 1, 2}
    assert str(matches) == "0 questions, 0 of them with a right answer, and 1 passages"


def test_left_out_sentences_contain_nothing():
    corpus = corpus_of(Sparse().index(["A fox ran.", "Two foxes.", "a  FOX ran. Why?"]))
    assert find_texts(corpus, ["a fox ran."]) == {"a fox ran.": [0, 2]}
    assert find_texts(corpus.without([2]), ["a fox ran."]) == {"a fox ran.": [0]}
    assert list(corpus.without([2]).engine.sentences()) == ["A fox ran.", "Two foxes.", ""]


def test_progress_is_shown_where_the_command_shows_it(capsys, monkeypatch):
    monkeypatch.setattr("classic_rc.io.progress.LINE_SECONDS", 0.0)
    monkeypatch.setattr("classic_rc.io.progress.REFRESH_SECONDS", 0.001)
    corpus = corpus_of(Sparse().index(["A fox ran."] * 30_000))
    with progress_bar("scoring", None, shown=False):
        find_texts(corpus, ["a fox"])
    assert capsys.readouterr().err == ""
    with progress_bar("scoring", None, shown=True):
        find_texts(corpus, ["a fox"])
    assert "comparing index with the questions, " in capsys.readouterr().err
