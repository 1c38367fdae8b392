from __future__ import annotations

import random

import numpy as np
import pytest

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import EncodedDataset, encode
from classic_rc.text.spans import SpanGenerator


def words(encoded, tokens, offsets):
    return [[encoded.vocabulary[t] for t in tokens[a:b]] for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


@pytest.mark.parametrize("analyzer", ["word", "mctest", "word+porter", "treebank+cased+stop=smart", "char"])
def test_the_arrays_say_what_the_analyzer_says(analyzer):
    dataset = list(synthetic_dataset(Task.SINGLE_CHOICE))
    random.Random(0).shuffle(dataset)  # passages are no longer neighbours
    encoded = encode(dataset, analyzer)
    analyze, arrays = get_analyzer(analyzer).analyze, encoded.arrays
    asked = [dataset[i] for i in encoded.order]
    assert words(encoded, arrays.question_tokens, arrays.question_offsets) == [analyze(q.text) for q in asked]
    candidates = [analyze(text) for q in asked for text in dict.fromkeys(c.text for c in q.candidates)]
    assert words(encoded, arrays.candidate_tokens, arrays.candidate_offsets) == candidates
    passages = words(encoded, arrays.passage_tokens, arrays.passage_offsets)
    assert [passages[p] for p in arrays.question_passage] == [analyze(q.passage.text) for q in asked]
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
    assert [row.tolist() for row in scores] == [[len(analyze(c.text)) for c in q.candidates] for q in dataset]


def test_equal_candidates_are_scored_once():
    cloze = list(synthetic_dataset(Task.CLOZE))
    random.Random(2).shuffle(cloze)
    encoded = encode(cloze, "word")
    n_distinct = sum(len({c.text for c in q.candidates}) for q in cloze)
    assert len(encoded.arrays.candidate_question) == n_distinct < sum(len(q.candidates) for q in cloze)
    for whole in (encoded, *encoded.shards(3)):
        lengths = np.diff(whole.arrays.candidate_offsets).astype(float)
        expected = [[len(c.text.split()) for c in q.candidates] for q in whole]
        assert [row.tolist() for row in whole.scores(lengths, lengths > 0)] == expected


def test_shards_are_the_whole():
    encoded = encode(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=7), "word")
    shards = encoded.shards(3)
    assert len(shards) == 3
    assert [q.id for shard in shards for q in shard] == [encoded.questions[i].id for i in encoded.order]
    joined = np.concatenate([shard.arrays.candidate_tokens for shard in shards])
    assert joined.tolist() == encoded.arrays.candidate_tokens.tolist()


def test_shards_can_leave_the_questions_behind():
    [whole] = encode(synthetic_dataset(Task.SINGLE_CHOICE), "word").shards(1, with_questions=False)
    assert len(whole) == 24
    assert encode(whole, "word") is whole
    with pytest.raises(LookupError, match="not sent"):
        whole[0]


def test_an_encoding_is_not_made_twice():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE)
    encoded = encode(dataset, "word")
    assert encode(encoded, "word") is encoded
    again = encode(encoded, "mctest")
    assert isinstance(again, EncodedDataset)
    assert again.analyzer == get_analyzer("mctest")
    assert list(again) == list(dataset)


def test_no_questions_and_no_words():
    assert len(encode([], "word").arrays.candidate_question) == 0
    empty = Question("q", Passage("p", ""), "", (Candidate(""),), frozenset({0}), Task.SINGLE_CHOICE)
    assert encode([empty], "word").vocabulary == []


def test_shared_spans_are_analysed_once_for_a_passage():
    passage = Passage("p", "Ann met Bob in Rome.")
    spans = SpanGenerator(max_tokens=2)(passage)
    asked = [Question(str(i), passage, "Who?", spans, ("Ann",), Task.SPAN) for i in range(3)]
    arrays = encode(asked, "word").arrays
    n = len(spans)
    assert len(arrays.candidate_question) == 3 * n
    one = arrays.candidate_tokens[: arrays.candidate_offsets[n]]
    assert arrays.candidate_tokens.tolist() == one.tolist() * 3


def test_a_cloze_query_has_no_placeholder():
    question = Question(
        "q", Passage("p", "Ann left."), "@placeholder left", (Candidate("Ann"),), ("Ann",), Task.CLOZE
    )
    encoded = encode([question], "word")
    assert words(encoded, encoded.arrays.question_tokens, encoded.arrays.question_offsets) == [["left"]]


def test_stop_flags_follow_case_and_stem():
    question = Question(
        "q", Passage("p", "Having The foxes"), "having", (Candidate("x"),), frozenset({0}), Task.SINGLE_CHOICE
    )
    stemmed = encode([question], "word+porter")
    assert [w for w, f in zip(stemmed.vocabulary, stemmed.stop_flags("smart"), strict=True) if not f] == ["fox"]
    cased = encode([question], "word+cased")
    flags = dict(zip(cased.vocabulary, cased.stop_flags("smart").tolist(), strict=True))
    assert flags["The"]
    assert flags["Having"]
    assert not flags["foxes"]
