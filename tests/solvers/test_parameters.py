"""Constructor parameters: each is declared once, and a bad value gives a one-sentence error that
names it.
"""

from __future__ import annotations

import inspect
import math
import re
from typing import ClassVar

import numpy as np
import pytest

from classic_rc.errors import UsageError
from classic_rc.parameters import Parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.solvers import (
    SOLVERS,
    LongestCandidate,
    SlidingWindow,
    Solver,
    SurfaceLR,
    parse_solver,
)
from classic_rc.solvers.shared_parameters import SHARED_PARAMETERS
from classic_rc.testing import synthetic_dataset
from tests.errors import raises

OWN = [name for name in SOLVERS if SOLVERS.package_of(name) is None]
DECLARED = [(name, parameter) for name in OWN for parameter in SOLVERS[name].parameters]
IMPOSSIBLE = "not a value of any parameter"
CLOSED = [(s, p) for s, p in DECLARED if not SOLVERS[s].parameters[p].accepts(IMPOSSIBLE)]


@pytest.mark.parametrize("name", OWN)
def test_every_constructor_parameter_is_declared_and_every_declared_one_exists(name):
    solver = SOLVERS[name]
    assert list(solver.parameters) == list(inspect.signature(solver).parameters)
    for declared in solver.parameters.values():
        assert declared.help
        assert "\n" not in declared.help


@pytest.mark.parametrize(("name", "parameter"), CLOSED)
def test_a_value_that_is_not_declared_is_refused_in_one_sentence(name, parameter):
    solver = SOLVERS[name]().set_params(**{parameter: IMPOSSIBLE})
    expected = SOLVERS[name].parameters[parameter].choices
    with raises(UsageError, field=parameter, found=repr(IMPOSSIBLE), expected=expected) as caught:
        solver.check_parameters()
    for fact in (parameter, name, expected, repr(IMPOSSIBLE)):
        assert fact in str(caught.value)


@pytest.mark.parametrize(("name", "parameter"), DECLARED)
def test_what_is_declared_and_the_default_are_accepted(name, parameter):
    declared = SOLVERS[name].parameters[parameter]
    default = inspect.signature(SOLVERS[name]).parameters[parameter].default
    for value in (default, *declared.allowed):
        assert declared.accepts(value)
        SOLVERS[name]().set_params(**{parameter: value}).check_parameters()


@pytest.mark.parametrize(
    ("declared", "choices"),
    [
        (Parameter("?", ("a", "b")), "one of 'a', 'b'"),
        (Parameter("?", ("a", "b"), "a number", callable), "one of 'a', 'b' or a number"),
        (Parameter("?", ("a",), "a number", callable), "'a' or a number"),
        (Parameter("?", also="a number", fits=callable), "a number"),
        (Parameter("?"), ""),
    ],
)
def test_choices_are_told_in_words(declared, choices):
    assert declared.choices == choices


def test_parameters_that_name_files_are_known():
    file_parameters = {(s, p) for s, p in DECLARED if SOLVERS[s].parameters[p].is_file}
    assert {p for _, p in file_parameters} == {
        "path",
        "prior",
        "corpus",
        "stop_words",
        "annotations",
        "categories",
        "wordnet",
    }
    corpus, stop_words = (
        SOLVERS["ngram-lm"].parameter("corpus"),
        SOLVERS["sw+d"].parameter("stop_words"),
    )
    assert not corpus.names_file("passages")
    assert corpus.names_file("passage")  # only ir has this word
    assert not stop_words.names_file("smart")
    assert stop_words.names_file("words.txt")
    assert not stop_words.names_file("")


@pytest.mark.parametrize(
    ("solver", "name", "value", "changed"),
    [
        ("sw+d", "stop_words", "smart", "smart"),
        ("sw+d", "stop_words", "own.txt", "<own.txt>"),
        ("sw+d", "analyzer", "word+stop=smart+porter", "word+stop=smart+porter"),
        ("sw+d", "analyzer", "word+stop=own.txt+porter", "word+stop=<own.txt>+porter"),
        ("sw+d", "window", "set", "set"),
        ("ngram-lm", "corpus", "passages+a.txt+b.txt", "passages+<a.txt>+<b.txt>"),
        ("ngram-lm", "corpus", ["passages", "a.txt"], ["passages", "<a.txt>"]),
        ("ngram-lm", "corpus", "exists+too", "<exists+too>"),
        ("score-file", "path", ["a", "b"], ["<a>", "<b>"]),
        ("alignment-ilp", "wordnet", None, None),
        ("alignment-ilp", "max_edges", 3, 3),
    ],
)
def test_the_files_in_a_value_are_found(solver, name, value, changed, tmp_path, monkeypatch):
    (tmp_path / "exists+too").touch()
    monkeypatch.chdir(tmp_path)
    assert SOLVERS[solver].parameter(name).with_files(value, lambda path: f"<{path}>") == changed


class UndeclaredParameters(Solver):
    """A user's solver that declares no parameters."""

    def __init__(self, *, path="", scale=1, stop_words="smart"):
        self.path = path
        self.scale = scale
        self.stop_words = stop_words

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


def test_a_solver_need_not_declare_its_parameters():
    UndeclaredParameters(scale="any", stop_words=3).check_parameters()
    assert UndeclaredParameters.parameter("path") is SHARED_PARAMETERS["path"]
    assert UndeclaredParameters.parameter("stop_words").signed("smart") == "smart"
    assert UndeclaredParameters.parameter("stop_words").signed(3) == 3
    assert not UndeclaredParameters.parameter("scale").is_file
    assert UndeclaredParameters.parameter("scale").accepts(3)


class Declaring(UndeclaredParameters):
    parameters: ClassVar = {
        "scale": Parameter("how much", (1, 2)),
        "gone": Parameter("of a base class", (1,)),
    }


def test_a_users_solver_is_checked_if_it_declares_parameters():
    Declaring(scale=2).check_parameters()
    with raises(UsageError, field="scale", found="3", expected="one of 1, 2"):
        Declaring(scale=3).check_parameters()


class Infinite(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([[-np.inf] * len(q.candidates) for q in questions])


TWO = [SlidingWindow(), LongestCandidate()]
LEARNING = [SurfaceLR(), SlidingWindow()]

# An unusable value, alone if the error names just this parameter and value; otherwise with the
# error's fields, or with a pattern for the facts in its message.
Fields = dict[str, object]
Row = Fields | tuple[Fields, Fields | str]

REFUSED: dict[str, list[Row]] = {
    "constant-position": [
        {"position": "middle"},
        {"position": -1},
        {"position": True},
        {"position": 10**20},
    ],
    "longest": [{"unit": "tokens"}],
    "length": [{"unit": "pages"}],
    "verbatim-overlap": [({"analyzer": "none"}, {"field": "analyzer", "found": "none"})],
    "random": [{"seed": "a"}, {"seed": 1.5}],
    "sliding-window": [
        {"window": 0},
        {"window": True},
        {"window": "wide"},
        {"inverse_counts": "all"},
    ],
    "word-distance": [{"distance": "max"}],
    "sw+d": [
        {"window": "tuned"},
        {"distance_weight": math.nan},
        {"distance_weight": "much"},
        ({"analyzer": 5}, {"field": "analyzer", "found": "5"}),
        ({"stop_words": 5}, {"field": "stop list", "found": "5"}),
    ],
    "cloze-distance": [
        {"max_distance": 0},
        {"max_distance": 2.5},
    ],
    "cloze-window": [{"weights": "tf"}],
    "lexical": [
        (
            {"normaliser": "lemma"},
            {"field": "normaliser", "found": "'lemma'", "expected": "annotations=FILE"},
        ),
        (
            {"coreference": "all"},
            {"field": "coreference", "found": "'all'", "expected": "annotations=FILE"},
        ),
        {"normaliser": "lemmas"},
        {"coreference": True},
        {"negation": "maybe"},
        {"weights": "mc16"},
        (
            {"weights": "1/2/3"},
            {"field": "weights", "found": "'1/2/3'", "expected": re.compile("'1/11/6/1'")},
        ),
        {"weights": "1/2/3/nan"},
        {"weights": [1, 2]},
        (
            {"bugs": "last"},
            {"field": "bug of lexical", "found": "last", "expected": re.compile("last-window")},
        ),
        {"C": 0},
        ({"analyzer": "wrod"}, {"field": "analyzer", "found": "wrod", "expected": "word"}),
        ({"stop_words": "smrt"}, {"field": "stop list", "found": "smrt", "expected": "smart"}),
    ],
    "ir": [
        ({"engine": "google"}, {"field": "engine", "found": "google"}),
        ({"depth": 10}, "'depth' of ir .* corpus"),
        ({"depth": 0, "corpus": "paragraphs"}, {"field": "depth", "found": "0"}),
        ({"overlap": "word", "corpus": "paragraphs"}, "'overlap' of ir .* depth"),
        ({"corpus": ["passage", "paragraphs"]}, "corpus='passage' is the question's own passage"),
        ({"engine": "rank-bm25"}, "engine rank-bm25 has only similarity 'okapi'"),
        (
            {"engine": "opensearch", "corpus": "paragraphs"},
            "engine 'opensearch' .* index .*corpus=NAME",
        ),
        ({"similarity": "okapi"}, "'bm25' or 'classic', got 'okapi'"),
        ({"analyzer": "none"}, {"field": "analyzer", "found": "none"}),
    ],
    "surface-lr": [
        (
            {"features": "lenghts"},
            {"field": "group of features", "found": "lenghts", "expected": "lengths"},
        ),
        {"inputs": "passage"},
        (
            {"features": "text-answer", "inputs": "no-passage"},
            "inputs='no-passage'.* 'text-answer'",
        ),
        {"scaling": "max"},
        {"question_words": 0},
        {"C": -1},
        {"C": "small"},
        {"learner": "sgd"},
        {"learner": 3},
    ],
    "span-sw": [
        {"context": "page"},
        {"distance": "mode"},
        {"distance_weight": -1},
        {"distance_weight": math.inf},
    ],
    "span-ranker": [
        {"epochs": 0},
        {"epochs": 2.5},
        {"seed": "a"},
        {"rate": 0},
        {"rate": math.nan},
        {"damping": -1},
        {"inputs": "question"},
        ({"features": "paths+length-s"}, {"found": "length-s", "expected": re.compile("length")}),
    ],
    "ngram-lm": [
        {"order": 0},
        {"order": 6},
        {"discounts": 0.0},
        {"discounts": "good-turing"},
        {"cache_weight": 1.0},
        {"cache_weight": -0.1},
        {"cache_weight": "much"},
        {"scoring": "half"},
        {"normalise": "words"},
        ({"corpus": "passage"}, "'corpus' of ngram-lm .*'passages', 'queries' .* file 'passage'"),
        ({"corpus": "passages+none.txt"}, "'corpus' of ngram-lm .* file 'none.txt'"),
        ({"corpus": "passages+"}, "'corpus' of ngram-lm .* file ''"),
        ({"corpus": ""}, "'corpus' of ngram-lm .* file ''"),
    ],
    "alignment-ilp": [
        {"chunks": "phrases"},
        {"normaliser": "lemma"},
        {"offset": 1.5},
        {"question_weight": -1},
        {"sentence_weight": 1},
        {"long_option_weight": math.inf},
        {"max_edges": 0},
        {"max_copies": True},
        {"min_question_share": 2},
        {"align_option": "no"},
        {"node_limit": None},
        ({"stop_words": None}, {"field": "stop list", "found": "None"}),
    ],
    "combination": [
        ({"solvers": []}, r"combination .*solvers=\[A; B\], got \[\]"),
        ({"solvers": TWO[:1]}, r"combination .*solvers=\[A; B\], got \[SlidingWindow\(\)\]"),
        ({"solvers": "sw+d"}, r"combination .*solvers=\[A; B\], got 'sw\+d'"),
        ({"solvers": [SlidingWindow(), "ir"]}, "member 2 of combination .*'ir'"),
        (
            {"solvers": [LongestCandidate(), SlidingWindow(window="tuned")]},
            "member 2 of combination must be.*got sliding-window",
        ),
        ({"solvers": [LongestCandidate(), Infinite()]}, "Infinite"),
        ({"solvers": TWO, "weights": [1]}, r"'weights' of combination .* 2 members.* got \[1\]"),
        ({"solvers": TWO, "weights": [1, "x"]}, r"'weights' of combination .* got \[1, 'x'\]"),
        (
            {"solvers": TWO, "weights": [1, float("nan")]},
            r"'weights' of combination .* got \[1, nan\]",
        ),
        (
            {"solvers": TWO, "weights": "learned"},
            "'weights' of combination .*'tuned', 'stacked' .* got 'learned'",
        ),
        ({"solvers": TWO, "weights": 3}, "'weights' of combination .* got 3"),
        ({"solvers": TWO, "normalise": "rank"}, {"field": "normalise", "found": "'rank'"}),
        ({"solvers": TWO, "C": 0}, {"field": "C", "found": "0"}),
        ({"solvers": LEARNING, "folds": 2.5}, {"field": "folds", "found": "2.5"}),
        ({"solvers": LEARNING, "weights": "stacked", "folds": 1}, "2 folds.* 1"),
        ({"solvers": LEARNING, "weights": "stacked", "group": "shelf"}, "meta"),
    ],
}
TASK_OF = {"ngram-lm": Task.CLOZE}
"""The task to run a solver on, if not the first that it supports."""
NEEDS_NO_FIT = {"longest", "random", "cloze-distance", "cloze-window", "span-sw", "alignment-ilp"}


def cases(rows):
    """Each row's parameters, the fields of its error, and a pattern for its message."""
    for row in rows:
        if isinstance(row, tuple):
            params, facts = row
            yield (params, {}, facts) if isinstance(facts, str) else (params, facts, "")
        else:
            ((name, value),) = row.items()
            value_text = repr(value)
            yield (
                row,
                {"field": name, "found": value_text},
                f"parameter '{name}'.*{re.escape(value_text)}",
            )


@pytest.mark.parametrize(
    ("name", "params", "fields", "facts"),
    [(name, *case) for name, rows in REFUSED.items() for case in cases(rows)],
)
def test_an_unusable_parameter_ends_in_one_error(name, params, fields, facts):
    solver = SOLVERS[name](**params)
    tasks = SOLVERS[name]().tasks
    task = TASK_OF.get(name) or next(task for task in Task if task in tasks)
    questions = synthetic_dataset(task, n_passages=12, seed=1)
    with raises(UsageError, **fields) as caught:
        solver.fit(questions).score_candidates(questions)
    assert re.search(facts, str(caught.value))
    if name in NEEDS_NO_FIT:
        with raises(UsageError, **fields) as caught:
            SOLVERS[name](**params).score_candidates(questions)
        assert re.search(facts, str(caught.value))


FILES = [
    (name, parameter) for name, parameter in DECLARED if SOLVERS[name].parameters[parameter].is_file
]


@pytest.mark.parametrize(("name", "parameter"), [file for file in FILES if file[1] != "stop_words"])
@pytest.mark.parametrize("value", [2024, True, np.int64(3), [["a"]]])
def test_a_number_is_no_path(name, parameter, value):
    """On the command line ``path=2024`` is the file of that name; in Python it is a mistake."""
    solver = SOLVERS[name]().set_params(**{parameter: value})
    questions = synthetic_dataset(next(iter(solver.tasks)), n_passages=1, seed=1)
    with raises(UsageError, field=parameter):
        solver.fit(questions).score_candidates(questions)


@pytest.mark.parametrize(("name", "parameter"), FILES)
@pytest.mark.parametrize("text", ["007", "nan", "True"])
def test_the_text_of_a_path_is_kept(name, parameter, text):
    assert getattr(parse_solver(f"{name},{parameter}={text}"), parameter) == text
    assert getattr(parse_solver(f'{name},{parameter}="{text}"'), parameter) == text
