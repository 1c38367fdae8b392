"""What the span ranker reads of texts."""

from __future__ import annotations

import numpy as np
import pytest

from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers.spans.columns import AskedQuestion, TokenBlock
from classic_rc.solvers.spans.texts import (
    Lexicon,
    Rarity,
    ReadCandidates,
    ReadPassage,
    ReadQuestion,
)

TEXT = (
    "In 1854, Ann's brother Bob founded the Bank of Kent. It had 3,000 well-known members. Carla "
    "left."
)


def rarity() -> Rarity:
    return Rarity(["bank", "found"], np.array([9, 1]), 10)


def block(
    question_text: str, text: str = TEXT, candidates: tuple[Candidate, ...] = ()
) -> TokenBlock:
    lexicon = Lexicon()
    passage = ReadPassage.of(Passage("p", text), lexicon)
    question = Question("q", Passage("p", text), question_text, candidates, None, Task.SPAN)
    read = ReadQuestion.of(question_text, lexicon, rarity())
    asked = AskedQuestion(read, passage, ReadCandidates.of(question, passage))
    return TokenBlock([asked], lexicon)


def test_marks_are_tokens_and_possessives_and_numbers_stay_whole():
    lexicon = Lexicon()
    passage = ReadPassage.of(Passage("p", TEXT), lexicon)
    places = zip(passage.starts, passage.ends, strict=True)
    tokens = [TEXT[start:end] for start, end in places]
    assert tokens == (
        "In 1854 , Ann 's brother Bob founded the Bank of Kent . It had 3,000 well - known members "
        ". Carla left ."
    ).split(" ")
    begins = passage.sentence_offsets.tolist()
    assert [tokens[i] for i in begins[:-1]] == ["In", "It", "Carla"]
    assert begins[-1] == len(tokens)


def test_candidates_are_ranges_of_tokens_even_if_they_cut_one():
    passage = ReadPassage.of(Passage("p", TEXT), Lexicon())
    candidates = (
        Candidate("Ann", 9, 12),
        Candidate("Ann's", 9, 14),
        Candidate("Bob foun"),
        Candidate("rla"),
    )
    question = Question("q", Passage("p", TEXT), "Who?", candidates, None, Task.SPAN)
    read = ReadCandidates.of(question, passage)
    assert read.first.tolist() == [3, 3, 6, 21]
    assert read.last.tolist() == [3, 4, 7, 21]


@pytest.mark.parametrize(
    ("question", "wh", "head", "verb", "auxiliary"),
    [
        ("Who founded the Bank of Kent?", "who", None, "found", None),
        ("What city did Ann leave?", "what", "citi", "leav", "do"),
        ("What was the population of Kent?", "what", "popul", None, "be"),
        ("What is the name of the river?", "what", "river", None, "be"),
        ("In which county is it located?", "which", "counti", "locat", "be"),
        ("How many members did it have?", "how many", "member", None, "do"),
        ("How was it built?", "how", None, "built", "be"),
        ("Name the river.", "none", "name", None, None),
        ("", "none", None, None, None),
    ],
)
def test_the_parts_of_a_question_are_read(question, wh, head, verb, auxiliary):
    lexicon = Lexicon()
    read = ReadQuestion.of(question, lexicon, rarity())
    for text, code in (
        (wh, read.wh),
        (head, read.head),
        (verb, read.verb),
        (auxiliary, read.auxiliary),
    ):
        assert code == (0 if text is None else lexicon.code(text))


def test_the_wh_word_alone_leaves_nothing_else():
    read = ReadQuestion.of("How many members did it have?", Lexicon(), rarity(), wh_only=True)
    assert (read.head, read.verb, read.auxiliary, len(read.stems)) == (0, 0, 0, 0)


def test_a_sentence_s_share_counts_each_word_once_by_its_rarity():
    bank_block = block("When was the bank, the Bank of Kent, founded?")
    assert bank_block.share.tolist() == pytest.approx([1.0, 0.0, 0.0])
    assert bank_block.rank.tolist() == [0, 1, 2]
    some = block("Who left the bank?")
    weights = np.log([11 / 9.5, 1, 11 / 0.5])  # of "bank", of nothing, and of "left"
    assert some.share == pytest.approx(weights / weights.sum())
    assert some.rank.tolist() == [1, 2, 0]


def test_distances_and_paths_lead_to_the_nearest_question_word_of_the_sentence():
    bank_block = block("Who founded the Bank?")
    bob, bank, it = (np.array([i]) for i in (6, 9, 13))
    at = bank_block.token_attributes(bob, -1)
    assert at["right distance"]()[0] == 0
    # none in the sentence
    assert at["left distance"]()[0] == bank_block.token_attributes(it, -1)["left distance"]()[0]
    assert bank_block.token_attributes(bank, -1)["left distance"]()[0] == 1
    names = bank_block.path_names(class_names())
    kent = bank_block.token_attributes(np.array([11]), -1)
    assert names[int(kent["left path"]()[0])] == "of"


def class_names() -> Lexicon:
    lexicon = Lexicon()
    names = "name of determiner in year , 's -er -ed stop pronoun have number word dash -s"
    for text in names.split():
        lexicon.code(text)
    return lexicon


def test_the_code_of_a_sequence_does_not_depend_on_its_place():
    first_block = block("Who?", "Ann met Bob.", (Candidate("met Bob", 4, 11),))
    second_block = block(
        "Who?", "Then, later, Carla saw Jan there.", (Candidate("saw Jan", 19, 26),)
    )
    code = first_block.path(first_block.first, first_block.last + 1)
    assert code == second_block.path(second_block.first, second_block.last + 1)
    assert code != first_block.path(first_block.first, first_block.last)


def test_an_empty_passage_has_one_token_without_text():
    passage = ReadPassage.of(Passage("p", ""), Lexicon())
    assert (len(passage.tokens), passage.sentence_offsets.tolist()) == (1, [0, 1])
