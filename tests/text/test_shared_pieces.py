"""Encodings that share the pieces of their texts equal encodings by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import Encoders, SharedQuestions, encode_sentences
from classic_rc.text.encoded import EncodedSentences
from classic_rc.text.question_texts import sentence_texts, whole_texts
from classic_rc.text.sentences import passage_sentences
from tests.text.builders import texts_at, word_rows

ANALYZERS = ["word", "lucene-english", "mctest", "treebank", "char", "word+porter+stop=smart"]
WORDS = ["fox", "Hen", "don't", "3.5", "a:b", "x_y", "Mr.", "ran.", "why?", "日本。猫", "é", "#1"]
BLANKS = st.sampled_from([" ", "\n\n", "\u3000", "", '" '])
ENDED_WORDS = st.tuples(st.sampled_from(WORDS), BLANKS).map("".join)
TEXTS = st.lists(ENDED_WORDS, max_size=12).map("".join)


def ask(number: int, text: str, options: list[str], *, is_marked: bool) -> Question:
    sentences = ((0, len(text) // 2),) if is_marked and len(text) > 1 else None
    passage = Passage(f"p{number}", text, sentences)
    candidates = tuple(map(Candidate, options))
    return Question(
        str(number), passage, f"{text[:5]}?", candidates, frozenset({0}), Task.SINGLE_CHOICE
    )


QUESTIONS = st.lists(
    st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=6
)


def contents(encoded: EncodedSentences) -> list[object]:
    dataset = encoded.dataset
    arrays: list[np.ndarray] = [*dataset.arrays[:-1]]
    arrays += [encoded.offsets, encoded.passage_offsets, dataset.question_offsets]
    return [*(array.tolist() for array in arrays), dataset.arrays.n_words, dataset.vocabulary]


@pytest.mark.parametrize("is_marked", [False, True])
@given(with_questions=QUESTIONS, size=st.sampled_from([1, 20, 10**6]))
def test_blocks_with_remembered_pieces_have_the_ids_of_fresh_encodings(
    is_marked, with_questions, size
):
    questions = [ask(i, *texts, is_marked=is_marked) for i, texts in enumerate(with_questions)]
    encoders = Encoders()
    with small_blocks(size):
        for block in (questions[::2], questions[1::2], questions):
            shared = SharedQuestions(block, encoders)
            for spec in ANALYZERS:
                analyzer = get_analyzer(spec)
                for cut in (whole_texts, sentence_texts):
                    fresh = SharedQuestions(block).encoding(analyzer, cut)
                    assert contents(shared.encoding(analyzer, cut)) == contents(fresh)


@pytest.mark.parametrize("spec", ANALYZERS)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6), size=st.sampled_from([1, 20, 10**6]))
@example(texts=["fox 日本。猫 ran."], size=20)  # a border inside a piece
def test_sentences_have_the_tokens_of_the_analyzer(spec, texts, size):
    questions = [ask(i, text, ["fox"], is_marked=False) for i, text in enumerate(texts)]
    with small_blocks(size):
        encoded = encode_sentences(questions, spec)
    sentences: list[str] = []
    for question in questions:
        sentences += texts_at(question.passage.text, passage_sentences(question.passage))
    tokens, vocabulary = encoded.dataset.arrays.passage_tokens, encoded.dataset.vocabulary
    sentence_words = word_rows(vocabulary, tokens.tolist(), encoded.offsets.tolist())
    assert sentence_words == list(map(get_analyzer(spec).analyze, sentences))
