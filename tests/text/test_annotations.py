"""Annotation files and folders of categories: their content, whether they fit, errors of
malformed ones.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
from dataclasses import replace

import pytest

from classic_rc.errors import DataError, UsageError
from classic_rc.io.files import sha256_of_text
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText, Chain, locate_tokens
from classic_rc.text.annotations import Annotations, read_annotations, read_categories
from tests.errors import raises

PASSAGE = Passage("p", "The old fox ran. It hid (well).")
QUESTION = Question(
    "p,0",
    PASSAGE,
    "Who didn't hide?",
    (Candidate("the fox"), Candidate("a hen")),
    None,
    Task.SINGLE_CHOICE,
)
FILE = {
    "format": "classic_rc annotations",
    "version": 1,
    "passages": {
        "p": {
            "text": PASSAGE.text,
            "tokens": ["The", "old", "fox", "ran", ".", "It", "hid", "-LRB-", "well", "-RRB-", "."],
            "lemmas": [
                "the",
                "old",
                "fox",
                "run",
                ".",
                "it",
                "hide",
                "-lrb-",
                "well",
                "-rrb-",
                ".",
            ],
            "sentences": [0, 5],
            "chains": [{"mentions": [[0, 3], [5, 6]], "representative": 0}],
        }
    },
    "questions": {
        "p,0": {
            "tokens": ["Who", "did", "n't", "hide", "?"],
            "lemmas": ["who", "do", "not", "hide", "?"],
            "negated": True,
            "categories": ["who", "neg"],
            "candidates": [
                {"tokens": ["the", "fox"], "lemmas": ["the", "fox"]},
                {"tokens": ["hen"], "complete": False, "sha256": sha256_of_text("a hen")},
            ],
        }
    },
}


def write(tmp_path, value, name="a.json"):
    path = tmp_path / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture(name="annotations")
def _annotations(tmp_path) -> Annotations:
    return read_annotations(write(tmp_path, FILE))


def test_everything_is_read(annotations):
    passage = annotations.passage_of(QUESTION)
    assert passage.lemmas is not None
    assert passage.lemmas[6] == "hide"
    assert passage.chains == (Chain(((0, 3), (5, 6)), 0),)
    assert passage.sentences == (0, 5)
    question = annotations.question_of(QUESTION)
    assert (question.negated, question.categories) == (True, {"who", "neg"})
    assert [c.complete for c in question.candidates] == [True, False]
    assert annotations.has_negation
    assert annotations.has_categories


@pytest.mark.parametrize("name", ["b.json", "b.json.gz"])
def test_what_is_saved_is_read_again(annotations, tmp_path, name):
    annotations.save(tmp_path / name)
    reread = read_annotations(tmp_path / name)
    assert (reread.passages, reread.questions) == (annotations.passages, annotations.questions)
    first = (tmp_path / name).read_bytes()
    reread.save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert first.startswith(b"\x1f\x8b") is name.endswith(".gz")


def test_packed_or_not_the_fingerprint_is_the_same(tmp_path):
    plain = write(tmp_path, FILE)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    assert read_annotations(plain).sha256 == read_annotations(tmp_path / "a.json.gz").sha256
    assert read_annotations(plain).signature.startswith("a.json@")


def test_words_of_representatives_can_stand_for_their_places(annotations, tmp_path):
    chain = Chain(((5, 6),), words=("old", "fox"))
    text = AnnotatedText(("a",) * 6, chains=(chain,), unfiltered_sentences=(0, 9))
    chained = Annotations({"p": text}, {"q": AnnotatedQuestion(text, ())})
    chained.save(tmp_path / "c.json")
    assert read_annotations(tmp_path / "c.json").passages == {"p": text}


@pytest.mark.parametrize(
    ("change", "where", "problem", "found_text", "expected"),
    [
        ({"id": "p,9"}, "question p,9", "the question", "1 ids, such as 'p,0'", None),
        (
            {"passage": Passage("z", PASSAGE.text)},
            "question p,0",
            "passage z",
            "1 ids, such as 'p'",
            None,
        ),
        (
            {"passage": Passage("p", "The old fox ran.")},
            *(
                "question p,0",
                "passage p",
                "'The old fox ran . It hid -LRB- well -RRB- .'",
                "'The old fox ran.'",
            ),
        ),
        (
            {"text": "Who hid?"},
            "question p,0",
            "the question",
            '"Who did n\'t hide ?"',
            "'Who hid?'",
        ),
        ({"candidates": QUESTION.candidates[:1]}, "question p,0", "candidates", "2", "1"),
        (
            {"candidates": QUESTION.candidates[::-1]},
            "question p,0",
            "candidate 0",
            "'the fox'",
            "'a hen'",
        ),
        (
            {"candidates": (Candidate("the fox"), Candidate("a hen!"))},
            *("question p,0", "candidate 1", "'hen'", "'a hen!'"),
        ),
    ],
)
def test_what_does_not_fit_names_the_question(
    annotations, change, where, problem, found_text, expected
):
    question = replace(QUESTION, **change)
    look_up = annotations.passage_of if "passage" in change else annotations.question_of
    facts = {"where": where, "found": found_text, "expected": expected}
    with raises(DataError, source=annotations.source, problem=re.compile(problem), **facts):
        look_up(question)


def test_annotations_without_a_question_have_no_ids_to_show(annotations):
    with raises(DataError, found="no ids"):
        replace(annotations, questions={}).question_of(QUESTION)


def changed(*path, to):
    """The file with one value changed; `to=None` takes it out."""
    value = copy.deepcopy(FILE)
    node = value
    for key in path[:-1]:
        node = node[key]
    if to is None:
        del node[path[-1]]
    else:
        node[path[-1]] = to
    return value


IN_PASSAGE = ("passages", "p")
IN_QUESTION = ("questions", "p,0")


ONE_OF_TWO = "either 'representative' or 'words'"
STARTS = "ascending token indices that begin with 0, below 11"


@pytest.mark.parametrize(
    ("value", "where", "field", "found_text", "expected"),
    [
        ({"some": "thing"}, "$", None, "an object with some", "'classic_rc annotations'"),
        (changed("version", to=2), "$", "version", "2", "1"),
        (changed("passages", to=[]), "$.passages", None, "an empty list", "an object"),
        (changed("questions", to=None), "$", "questions", "passages", "an object or a list"),
        (changed("question", to={}), "$", "question", None, "format, version, passages, questions"),
        (changed(*IN_PASSAGE, "tokens", to=None), "$.passages.p", "tokens", "an object", "a list"),
        (
            changed(*IN_PASSAGE, "tokens", 3, to=7),
            "$.passages.p.tokens",
            "[3]",
            "the number 7",
            "a string",
        ),
        (changed(*IN_PASSAGE, "tokens", 3, to=""), "$.passages.p", "tokens", "'' at index 3", None),
        (
            changed(*IN_PASSAGE, "lemma", to=[]),
            "$.passages.p",
            "lemma",
            None,
            "one of tokens, lemmas",
        ),
        (changed(*IN_PASSAGE, "lemmas", to=["the"]), "$.passages.p", "lemmas", "1", "11"),
        (changed(*IN_PASSAGE, "places", to=[[0, 3]]), "$.passages.p", "places", "1", "11"),
        (
            changed(*IN_PASSAGE, "places", to=[[3, 0]]),
            "$.passages.p.places[0]",
            None,
            "3 to 0",
            "start <= end",
        ),
        (changed(*IN_PASSAGE, "sentences", to=[1, 5]), "$.passages.p", "sentences", "1, 5", STARTS),
        (
            changed(*IN_PASSAGE, "sentences", to=[0, 5, 5]),
            "$.passages.p",
            "sentences",
            "0, 5, 5",
            STARTS,
        ),
        (
            changed(*IN_PASSAGE, "sentences", to=[0, 11]),
            "$.passages.p",
            "sentences",
            "0, 11",
            STARTS,
        ),
        (
            changed(*IN_PASSAGE, "chains", 0, "representative", to=2),
            *("$.passages.p.chains[0]", "representative", "2", "below 2"),
        ),
        (
            changed(*IN_PASSAGE, "chains", 0, "representative", to=None),
            *("$.passages.p.chains[0]", None, "neither", ONE_OF_TWO),
        ),
        (
            changed(*IN_PASSAGE, "chains", 0, "words", to=["x"]),
            *("$.passages.p.chains[0]", None, "both", ONE_OF_TWO),
        ),
        (
            changed(*IN_PASSAGE, "chains", 0, "mentions", to=[[5, 5]]),
            *("$.passages.p.chains[0].mentions[0]", None, "5 to 5", "start < end"),
        ),
        (
            changed(*IN_PASSAGE, "sha256", to="0"),
            *("$.passages.p", "sha256", "'0'", sha256_of_text(PASSAGE.text)),
        ),
        (
            changed(*IN_QUESTION, "candidates", to=None),
            "$.questions['p,0']",
            "candidates",
            "an object",
            "a list",
        ),
        (
            changed(*IN_QUESTION, "negated", to="yes"),
            "$.questions['p,0']",
            "negated",
            "'yes'",
            "true or false",
        ),
        (
            changed(*IN_QUESTION, "categories", to=[1]),
            *("$.questions['p,0'].categories", "[0]", "the number 1", "a string"),
        ),
        (
            changed(*IN_QUESTION, "candidates", 0, "negated", to=True),
            *("$.questions['p,0'].candidates[0]", "negated", None, "one of tokens"),
        ),
    ],
)
def test_malformed_files_say_where(tmp_path, value, where, field, found_text, expected):
    path = write(tmp_path, value)
    facts = {"found": found_text, "expected": expected}
    patterns = {name: text and re.compile(re.escape(text)) for name, text in facts.items()}
    with raises(DataError, source=str(path), where=where, field=field, **patterns):
        read_annotations(path)


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"{", {"line": 1, "found": "the end of the text"}),
        (b'"text"', {"where": "$", "found": "'text'"}),
        (b"\xff{}", {"line": 1, "found": "the byte 0xff", "expected": "UTF-8 text"}),
        (
            gzip.compress(b"{}" * 999, mtime=0)[:-20],
            {"where": None, "problem": re.compile("damaged")},
        ),
        (b"\x1f\x8b but no more", {"where": None, "problem": re.compile("damaged")}),
        (
            gzip.compress(b"[{}]", mtime=0),
            {"where": "$[0]", "field": "tokens", "expected": "a list"},
        ),
    ],
)
def test_other_files_are_refused(tmp_path, data, facts):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with raises(DataError, source=str(path), **facts):
        read_annotations(path)


def test_missing_files_and_folders_are_named(annotations, tmp_path):
    with raises(DataError, source=str(tmp_path / "none.json"), where=None):
        read_annotations(tmp_path / "none.json")
    with pytest.raises(UsageError, match=re.escape(str(tmp_path / "none" / "a.json"))):
        annotations.save(tmp_path / "none" / "a.json")


@pytest.mark.parametrize(
    ("tokens", "text", "places"),
    [
        (["fox", "Ran"], "The FOX ran", None),
        (["the", "fox", "ran"], "The FOX ran", ((0, 3), (4, 7), (8, 11))),
        (["the", "fox"], "The FOX ran", None),
        (["fox", "den"], "Fox's den.", ((0, 3), (6, 9))),
        (["fox", "'s", "den"], "Fox's den.", ((0, 3), (3, 5), (6, 9))),
        (["``", "no", "''"], '"No"', ((0, 0), (1, 3), (3, 3))),
        (["no", "...", "yes"], "No… Yes", ((0, 2), (2, 2), (4, 7))),
        (["-LRB-", "no", "-RRB-"], "(No)", ((0, 0), (1, 3), (3, 3))),
        ([], "", ()),
        ([], "word", None),
        (["i̇x"], "İx", None),
    ],
)
def test_tokens_are_located(tokens, text, places):
    assert locate_tokens(tokens, text) == places


def test_incomplete_annotation_fits_by_its_words():
    words = AnnotatedText(("fox", "the"), complete=False)
    assert words.fits("The old fox")
    assert not words.fits("The old hen")


def test_given_places_are_kept():
    text = AnnotatedText(("fox",), places=((4, 7),))
    assert text.token_places("The fox") == ((4, 7),)
    assert replace(text, places=None).token_places("Fox") == ((0, 3),)


def test_a_question_can_have_several_categories(tmp_path):
    (tmp_path / "who.txt").write_text("a.0,0\n\na.0,1\n", encoding="utf-8")
    (tmp_path / "neg.txt").write_text("a.0,1", encoding="utf-8")
    categories = read_categories(tmp_path)
    assert categories.of_question == {"a.0,0": {"who"}, "a.0,1": {"who", "neg"}}


def test_the_signature_is_of_the_content(tmp_path):
    signatures = []
    for i, line_end in enumerate(("\n", "\r\n", "x\n")):
        folder = tmp_path / str(i) / "dev"
        folder.mkdir(parents=True)
        (folder / "who.txt").write_bytes(f"a{line_end}b".encode())
        signatures.append(read_categories(folder).signature)
    assert signatures[0] == signatures[1] != signatures[2]
    assert signatures[0].startswith("dev@")


def test_what_is_no_folder_of_categories_is_refused(tmp_path):
    with raises(DataError, source=str(tmp_path / "none")):
        read_categories(tmp_path / "none")
    with raises(DataError, source=str(tmp_path), expected=re.compile(r"who\.txt")):
        read_categories(tmp_path)
    (tmp_path / "who.txt").write_text("a.0,0\na.0,1\na.0,0\n", encoding="utf-8")
    with raises(DataError, source=str(tmp_path / "who.txt"), line=3, found="'a.0,0'"):
        read_categories(tmp_path)
