"""Spans as positions among the tokens of their passage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, LazyCandidates, Passage, Question, Task
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.spans import SpanGenerator, encode_spans
from tests.errors import raises

PASSAGE = Passage("p", "The old fox ran. A hen saw the fox.")


def question(
    *candidates: Candidate, passage: Passage = PASSAGE, text: str = "Who ran?"
) -> Question:
    return Question("q", passage, text, candidates, ("fox",), Task.SPAN)


def only(questions, analyzer="word"):
    ((index, spans),) = encode_spans(questions, analyzer)
    assert index.tolist() == list(range(len(questions)))
    return spans


def texts(spans):
    words = np.array(spans.vocabulary)[spans.tokens]
    ranges = zip(spans.first, spans.last, strict=True)
    return [words[first:last].tolist() for first, last in ranges]


def test_spans_are_stretches_of_tokens_in_a_sentence():
    spans = only(
        [question(Candidate("old fox", 4, 11), Candidate("hen", 19, 22), Candidate("fox.", 31, 35))]
    )
    assert texts(spans) == [["old", "fox"], ["hen"], ["fox"]]
    assert spans.sentence.tolist() == [0, 1, 1]
    assert spans.sentence_offsets.tolist() == [0, 4, 9]
    assert [spans.vocabulary[token] for token in spans.question_tokens] == ["who", "ran"]


def test_words_that_the_analyzer_drops_are_in_no_span():
    spans = only(
        [
            question(
                Candidate("The", 0, 3), Candidate("The old", 0, 7), Candidate("saw the", 23, 30)
            )
        ],
        "word+stop=lucene",
    )
    assert texts(spans) == [[], ["old"], ["saw"]]


def test_a_candidate_without_offsets_is_at_the_first_occurrence_of_its_text():
    assert only([question(Candidate("fox"))]).first.tolist() == [2]
    with raises(DataError, where="question q", found="'goose'"):
        only([question(Candidate("goose"))])


@pytest.mark.parametrize(("text", "sentences"), [("", None), ("fox", ()), ("?!", None)])
def test_every_passage_has_a_sentence(text, sentences):
    spans = only([question(passage=Passage("p", text, sentences))])
    assert np.diff(spans.passage_sentences).tolist() == [1]
    assert spans.candidate_offsets.tolist() == [0, 0]


@pytest.mark.parametrize("analyzer", ["word", "word+stop=smart+porter"])
def test_generated_spans_keep_their_words_and_sentences(analyzer):
    dataset = synthetic_dataset(Task.MULTI_SPAN)
    generator = SpanGenerator(max_tokens=3)
    questions = [replace(q, candidates=generator(q.passage)) for q in dataset]
    spans = only(questions, analyzer)
    analyze = get_analyzer(analyzer).analyze
    span_texts = [_whole_words(candidates, q.passage.text) for q, candidates in _lists(spans)]
    assert texts(spans) == [analyze(text) for passage_spans in span_texts for text in passage_spans]
    for q, candidates in enumerate(spans.question_list):
        passage_spans = slice(*spans.list_offsets[candidates : candidates + 2])
        passage = questions[q].passage
        within = spans.sentence[passage_spans] - spans.passage_sentences[spans.question_passage[q]]
        borders = passage_sentences(passage)
        for s, candidate in zip(within, spans.lists[candidates], strict=True):
            assert borders[s][0] <= candidate.start < candidate.end <= borders[s][1]


def _lists(spans):
    questions = {
        number: q for q, number in zip(spans.questions, spans.question_list.tolist(), strict=True)
    }
    return [(questions[number], candidates) for number, candidates in enumerate(spans.lists)]


def _whole_words(candidates, text):
    """The candidates' texts, with the possessive ending that one may lack."""
    whole = []
    for candidate in candidates:
        lacks_ending = text.startswith("'s", candidate.end)
        whole.append(candidate.text + "'s" * lacks_ending)
    return whole


def test_parts_are_bounded_and_spans_are_generated_once_a_passage():
    generated = []

    def generate(passage):
        generated.append(passage.id)
        return SpanGenerator(max_tokens=2)(passage)

    dataset = synthetic_dataset(Task.SPAN)
    lazy = {id(p): LazyCandidates(p, generate) for p in dataset.passages}
    questions = [replace(q, candidates=lazy[id(q.passage)]) for q in dataset]
    order = [*range(0, len(questions), 2), *range(1, len(questions), 2)]
    with small_blocks(50):
        parts = list(encode_spans([questions[i] for i in order], "word"))
    assert len(parts) > 2
    assert sorted(generated) == sorted(p.id for p in dataset.passages)
    assert sorted(np.concatenate([index for index, _ in parts])) == list(range(len(questions)))
    for index, spans in parts:
        ids = [questions[order[i]].id for i in index]
        assert ids == [question.id for question in spans.questions]


def test_no_question_makes_no_part():
    assert list(encode_spans([], "word")) == []
