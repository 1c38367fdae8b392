"""Token ids of questions and texts against the analyzer's own tokens; the place of a query's
placeholder.
"""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain_encoder import PlainEncoder
from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.byte_pieces import KeyCache
from classic_rc.questions import PLACEHOLDER, Candidate, Passage, Question, Task
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import TOKENIZERS, get_analyzer, get_tokenizer
from classic_rc.text.encode import TextEncoder, encode, tokens_before_placeholder
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.spans import SpanGenerator
from tests.depth import examples
from tests.text.builders import word_rows


@pytest.mark.parametrize(
    "analyzer", ["word", "mctest", "word+porter", "treebank+cased+stop=smart", "char"]
)
def test_the_arrays_have_the_tokens_of_the_analyzer(analyzer):
    dataset = list(synthetic_dataset(Task.SINGLE_CHOICE))
    random.Random(0).shuffle(dataset)  # passages are no longer neighbours
    encoded = encode(dataset, analyzer)
    analyze, arrays = get_analyzer(analyzer).analyze, encoded.arrays
    rows = partial(word_rows, encoded.vocabulary)
    queries = rows(arrays.question_tokens, arrays.question_offsets)
    candidates = iter(rows(arrays.candidate_tokens, arrays.candidate_offsets))
    passages = rows(arrays.passage_tokens, arrays.passage_offsets)
    passages_of = [passages[p] for p in arrays.question_passage]
    for i, words, passage in zip(encoded.order, queries, passages_of, strict=True):
        assert words == analyze(dataset[i].text)
        assert passage == analyze(dataset[i].passage.text)
        for text in dict.fromkeys(c.text for c in dataset[i].candidates):
            assert next(candidates) == analyze(text)
    assert not list(candidates)
    assert (np.diff(arrays.question_passage) >= 0).all()
    assert (np.diff(arrays.candidate_question) >= 0).all()
    assert len(set(encoded.vocabulary)) == len(encoded.vocabulary)


def test_scores_come_back_in_the_questions_order():
    dataset = list(synthetic_dataset(Task.SINGLE_CHOICE))
    random.Random(1).shuffle(dataset)
    encoded = encode(dataset, "word")
    lengths = np.diff(encoded.arrays.candidate_offsets).astype(float)
    scores = encoded.scores(lengths, lengths > 0)
    analyze = get_analyzer("word").analyze
    for row, question in zip(scores, dataset, strict=True):
        assert row.tolist() == [len(analyze(c.text)) for c in question.candidates]


def test_equal_candidates_are_scored_once():
    cloze = list(synthetic_dataset(Task.CLOZE))
    random.Random(2).shuffle(cloze)
    encoded = encode(cloze, "word")
    n_distinct = sum(len({c.text for c in q.candidates}) for q in cloze)
    assert (
        len(encoded.arrays.candidate_question) == n_distinct < sum(len(q.candidates) for q in cloze)
    )
    for encoded_block in (encoded, *encoded.shards(3)):
        lengths = np.diff(encoded_block.arrays.candidate_offsets).astype(float)
        expected = [[len(c.text.split()) for c in q.candidates] for q in encoded_block]
        assert [row.tolist() for row in encoded_block.scores(lengths, lengths > 0)] == expected


def test_shards_together_have_all_questions_and_tokens():
    encoded = encode(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=7), "word")
    shards = encoded.shards(3)
    assert len(shards) == 3
    ids = [question.id for shard in shards for question in shard]
    assert ids == [encoded.questions[i].id for i in encoded.order]
    joined = np.concatenate([shard.arrays.candidate_tokens for shard in shards])
    assert joined.tolist() == encoded.arrays.candidate_tokens.tolist()


def test_shards_can_leave_the_questions_behind():
    [shard] = encode(synthetic_dataset(Task.SINGLE_CHOICE), "word").shards(1, with_questions=False)
    assert len(shard) == 24
    assert encode(shard, "word") is shard
    with pytest.raises(LookupError):
        shard[0]


def test_an_encoding_is_not_made_twice():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE)
    encoded = encode(dataset, "word")
    assert encode(encoded, "word") is encoded
    reencoded = encode(encoded, "mctest")
    assert isinstance(reencoded, EncodedDataset)
    assert reencoded.analyzer == get_analyzer("mctest")
    assert list(reencoded) == list(dataset)


def test_no_questions_and_no_words_are_encoded_as_nothing():
    assert len(encode([], "word").arrays.candidate_question) == 0
    empty = Question(
        "q", Passage("p", ""), "", (Candidate(""),), frozenset({0}), Task.SINGLE_CHOICE
    )
    assert encode([empty], "word").vocabulary == []


def test_shared_spans_are_analysed_once_for_a_passage():
    passage = Passage("p", "Ann met Bob in Rome.")
    spans = SpanGenerator(max_tokens=2)(passage)
    questions = [Question(str(i), passage, "Who?", spans, ("Ann",), Task.SPAN) for i in range(3)]
    arrays = encode(questions, "word").arrays
    n = len(spans)
    assert len(arrays.candidate_question) == 3 * n
    first_tokens = arrays.candidate_tokens[: arrays.candidate_offsets[n]]
    assert arrays.candidate_tokens.tolist() == first_tokens.tolist() * 3


def test_a_cloze_query_has_no_placeholder():
    question = Question(
        "q",
        Passage("p", "Ann left."),
        "@placeholder left",
        (Candidate("Ann"),),
        ("Ann",),
        Task.CLOZE,
    )
    encoded = encode([question], "word")
    tokens, offsets = encoded.arrays.question_tokens, encoded.arrays.question_offsets
    assert word_rows(encoded.vocabulary, tokens, offsets) == [["left"]]


def test_stop_flags_follow_case_and_stem():
    question = Question(
        "q",
        Passage("p", "Having The foxes"),
        "having",
        (Candidate("x"),),
        frozenset({0}),
        Task.SINGLE_CHOICE,
    )
    stemmed = encode([question], "word+porter")
    words = np.array(stemmed.vocabulary)
    assert words[~stemmed.stop_flags("smart")].tolist() == ["fox"]
    cased = encode([question], "word+cased")
    flags = dict(zip(cased.vocabulary, cased.stop_flags("smart").tolist(), strict=True))
    assert flags["The"]
    assert flags["Having"]
    assert not flags["foxes"]


WORDS = (
    "The|a|fox|foxes,|(fox)|don't|U.S.|3.5|_|!|e\u0301t\u00e9|猫と犬|half past three|\n|\u00a0x|"
    "two  blanks"
).split("|")
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=12)


BLANKS = st.sampled_from([" ", "\t", "\n", "\x1c", "\u00a0", "\u3000", "\u2028"])
LONG = st.builds(lambda text, n: text * n, st.text(max_size=3), st.integers(0, 120))
ANY = st.text(st.characters(exclude_categories=()), max_size=9)
MIXED = st.lists(TEXT | BLANKS | LONG | ANY, max_size=6)
GROUPS = st.lists(st.lists(MIXED.map("".join), max_size=5), max_size=3)
SPECS = [
    *TOKENIZERS,
    "word+cased",
    "mctest+porter",
    "word+porter+stop=smart",
    "lucene-english+cased",
]


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=examples(10, 60))
@given(
    groups=GROUPS,
    chunk=st.integers(1, 200),
    n_slots=st.sampled_from([1, 2, 16, None]),
)
def test_ids_are_those_of_the_plain_encoder(spec, groups, chunk, n_slots):
    with pytest.MonkeyPatch.context() as patch, small_blocks(chunk):
        if n_slots is not None:  # all keys of the cache share a few slots
            patch.setattr(
                KeyCache, "_hash", lambda _, keys: (keys.first % n_slots).astype(np.int64)
            )
        encoder, plain = TextEncoder(spec), PlainEncoder(spec)
        for texts in groups:
            for ours, expected in zip(encoder.encode(texts), plain.encode(texts), strict=True):
                assert ours.dtype == expected.dtype
                assert ours.tolist() == expected.tolist()
        assert encoder.vocabulary == plain.vocabulary


@pytest.mark.parametrize(
    "spec", ["word", "lucene-english", "mctest+porter", "dream", "multirc2018+stop=smart"]
)
@given(texts=st.lists(TEXT, max_size=5))
def test_the_plain_encoder_gives_the_analyzers_tokens(spec, texts):
    plain, analyzer = PlainEncoder(spec), get_analyzer(spec)
    tokens, offsets = plain.encode(texts)
    assert word_rows(plain.vocabulary, tokens, offsets) == list(map(analyzer.analyze, texts))


def test_ids_are_given_in_the_order_of_first_sight():
    encoder = TextEncoder("word")
    encoder.encode(["b a.", "A c"])
    encoder.encode(["d b"])
    assert encoder.vocabulary == ["b", "a", "c", "d"]


def test_a_piece_is_analysed_once(monkeypatch):
    tokenizer, seen = get_tokenizer("word"), []
    tokenize = tokenizer.tokenize

    def noted(text):
        seen.append(text)
        return tokenize(text)

    monkeypatch.setattr(tokenizer, "tokenize", noted)
    encoder = TextEncoder("word")
    encoder.encode(["o'ne fi-sh tw.o fi-sh", "o'ne"])
    encoder.encode(["tw.o fi-sh"])
    assert seen == ["o'ne", "fi-sh", "tw.o"]
    assert encoder.n_pieces == 3


_TEXTS = st.text(st.sampled_from("ab Z09.,'’-\"()é猫\u00a0\n")).map(str.strip)


def query(text):
    return Question("q", Passage("p", ""), text, (), None, Task.CLOZE)


@pytest.mark.parametrize("name", [*TOKENIZERS, "word+stop=smart", "treebank+cased+porter"])
@given(text_before=_TEXTS, text_after=_TEXTS, gap=st.sampled_from(["", " "]))
def test_the_placeholder_follows_the_tokens_before_it(name, text_before, text_after, gap):
    analyzer = get_analyzer(name)
    question = query(f"{text_before}{gap}{PLACEHOLDER}{gap}{text_after}")
    (before,) = tokens_before_placeholder([question], analyzer).tolist()
    located = analyzer.locate(question.query)
    assert all(end <= len(text_before) for _, _, end in located[:before])
    assert all(start >= len(text_before) for _, start, _ in located[before:])


def test_the_first_placeholder_counts_and_without_one_all_tokens_stand_before():
    queries = [query(f"So {PLACEHOLDER} met {PLACEHOLDER}"), query("no gap here"), query("")]
    assert tokens_before_placeholder(queries, get_analyzer("word")).tolist() == [1, 3, 0]
    assert tokens_before_placeholder([], get_analyzer("treebank")).tolist() == []


def test_a_stop_before_it_is_no_end_of_the_text():
    # The Treebank tokenizer takes a stop off the last word of a text only.
    question = query(f"the U.S. {PLACEHOLDER} office")
    assert tokens_before_placeholder([question], get_analyzer("treebank")).tolist() == [2]
