"""The CoreNLP JSON of Smith et al. 2015, on an invented story."""

from __future__ import annotations

import copy
import json
import re

import pytest

from classic_rc.errors import DataError
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.text.annotated import Chain
from classic_rc.text.annotations import read_annotations
from tests.errors import raises

PASSAGE = Passage("set.0", 'The red fox ran. "It hid", said Ann.')
QUESTION = Question(
    "set.0,0", PASSAGE, "Who hid?", (Candidate("The foxes"), Candidate("a hen")), None, Task.CLOZE
)
WORDS = ["the/the", "red/red", "fox/fox", "ran/run", "it/it", "hid/hide", "said/say", "ann/ann"]


def token(form, question=(), candidate=(), coreference=(), subcoref=0):
    word, lemma = form.split("/")
    return {
        "token": {"word": word, "idf": 0.5},
        "lemma": {"word": lemma, "idf": 0.5},
        "pos": "X",
        "stopword": 0,
        "origidf": 0,
        "subcoref": subcoref,
        "coreference": [{"word": w, "idf": 0.5} for w in coreference],
        "matches": {
            "qtoken": [int("token" in question)],
            "qlemma": [int("lemma" in question)],
            "atoken": [[int("token" in candidate), 0]],
            "alemma": [[int("lemma" in candidate), 0]],
        },
    }


def story():
    tokens = [token(form) for form in WORDS]
    tokens[0] = token(WORDS[0], candidate=("token", "lemma"))
    tokens[2] = token(WORDS[2], candidate=("lemma",))
    tokens[4] = token(WORDS[4], coreference=("red", "fox"))
    tokens[5] = token(WORDS[5], question=("token", "lemma"), subcoref=1)
    return {
        "tokens": tokens,
        "sentenceoffsets": [0, 5],
        "negativeqs": [False],
        "multiqs": [0],
        "qalengths": [{"question": 2, "answers": [2, 2]}],
    }


def read(tmp_path, stories):
    path = tmp_path / "set.corenlp.json"
    path.write_text(json.dumps(stories), encoding="utf-8")
    return read_annotations(path)


def test_a_story_is_read(tmp_path):
    annotations = read(tmp_path, [story()])
    passage = annotations.passage_of(QUESTION)
    assert passage.tokens == ("the", "red", "fox", "ran", "it", "hid", "said", "ann")
    assert passage.lemmas == ("the", "red", "fox", "run", "it", "hide", "say", "ann")
    assert passage.sentences is None
    assert passage.unfiltered_sentences == (0, 5)
    assert passage.chains == (Chain(((4, 6),), words=("red", "fox")),)
    question = annotations.question_of(QUESTION)
    assert (question.text.tokens, question.text.lemmas) == (("hid",), ("hide",))
    first, second = question.candidates
    assert (first.tokens, first.lemmas) == (("the",), ("the", "fox"))
    assert second.tokens == second.lemmas == ()
    assert question.negated is False
    assert not question.text.complete


def test_it_can_be_saved_in_the_package_s_own_format(tmp_path):
    annotations = read(tmp_path, [story()])
    annotations.save(tmp_path / "own.json")
    reread = read_annotations(tmp_path / "own.json")
    assert (reread.passages, reread.questions) == (annotations.passages, annotations.questions)


def test_stories_are_numbered_from_the_file_s_name(tmp_path):
    annotations = read(tmp_path, [story(), story()])
    assert list(annotations.passages) == ["set.0", "set.1"]
    assert list(annotations.questions) == ["set.0,0", "set.1,0"]


@pytest.mark.parametrize(
    ("path", "value", "where", "field", "found_text"),
    [
        (("tokens",), None, "$[0]", "tokens", "an object"),
        (("tokens", 1, "lemma"), None, "$[0].tokens[1]", "lemma", "an object"),
        (("tokens", 1, "lemma", "word"), "", "$[0].tokens[1].lemma", "word", "''"),
        (
            ("tokens", 1, "matches", "qtoken"),
            [],
            "$[0].tokens[1].matches.qtoken",
            "[0]",
            "an empty list",
        ),
        (
            ("tokens", 0, "matches", "atoken", 0),
            [1],
            "$[0].tokens[0].matches.atoken[0]",
            "[1]",
            "a list of 1",
        ),
        (("tokens", 3, "token", "word"), "hid", "$[0].tokens[5]", "matches", "'hid' in question 0"),
        (("sentenceoffsets",), [2], "$[0]", "sentenceoffsets", "2"),
        (("sentenceoffsets",), [0, 0], "$[0]", "sentenceoffsets", "0, 0"),
        (("qalengths", 0, "answers"), None, "$[0].qalengths[0]", "answers", "an object"),
        (("negativeqs",), [3], "$[0].negativeqs", "[0]", "the number 3"),
    ],
)
def test_malformed_stories_say_where(tmp_path, path, value, where, field, found_text):
    broken = copy.deepcopy(story())
    node = broken
    for key in path[:-1]:
        node = node[key]
    if value is None:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    facts = {"where": where, "field": field, "found": re.compile(f"^{re.escape(found_text)}")}
    with raises(DataError, source=str(tmp_path / "set.corenlp.json"), **facts):
        read(tmp_path, [broken])
