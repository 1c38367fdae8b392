"""Constructor parameters: each is declared once, and a bad value gives a one-sentence error that names it."""

from __future__ import annotations

import inspect
import math
import re
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.solvers import SOLVERS, LongestCandidate, SlidingWindow, Solver, SurfaceLR
from classic_rc.solvers.base import SHARED_PARAMETERS, Parameter
from classic_rc.testing import synthetic_dataset

OWN = [name for name in SOLVERS if SOLVERS.package_of(name) is None]
DECLARED = [(name, parameter) for name in OWN for parameter in SOLVERS[name].parameters]
IMPOSSIBLE = "what no parameter allows"
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
    said = f"parameter {parameter!r} of {name} must be {SOLVERS[name].parameters[parameter].choices}, got "
    with pytest.raises(UsageError, match=re.escape(said)):
        solver.check_parameters()


@pytest.mark.parametrize(("name", "parameter"), DECLARED)
def test_what_is_declared_and_the_default_are_accepted(name, parameter):
    declared = SOLVERS[name].parameters[parameter]
    default = inspect.signature(SOLVERS[name]).parameters[parameter].default
    for value in (default, *declared.allowed):
        assert declared.accepts(value)
        SOLVERS[name]().set_params(**{parameter: value}).check_parameters()


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (Parameter("?", ("a", "b")), "one of 'a', 'b'"),
        (Parameter("?", ("a", "b"), "a number", callable), "one of 'a', 'b' or a number"),
        (Parameter("?", ("a",), "a number", callable), "'a' or a number"),
        (Parameter("?", also="a number", fits=callable), "a number"),
        (Parameter("?"), ""),
    ],
)
def test_the_words_for_what_a_value_may_be(declared, said):
    assert declared.choices == said


def test_parameters_that_name_files():
    named = {(s, p) for s, p in DECLARED if SOLVERS[s].parameters[p].is_file}
    assert {p for _, p in named} == {"path", "corpus", "stop_words", "annotations", "categories", "wordnet"}
    corpus, stop_words = SOLVERS["ngram-lm"].parameter("corpus"), SOLVERS["sw+d"].parameter("stop_words")
    assert not corpus.names_file("passages")
    assert corpus.names_file("passage")  # a word of ir alone
    assert not stop_words.names_file("smart")
    assert stop_words.names_file("words.txt")
    assert not stop_words.names_file("")


class Undeclared(Solver):
    """A solver of one's own that declares nothing."""

    def __init__(self, *, path="", scale=1, stop_words="smart"):
        self.path = path
        self.scale = scale
        self.stop_words = stop_words

    def score_candidates(self, questions):
        return Scores.from_lists([[0.0] * len(q.candidates) for q in questions])


def test_a_solver_need_not_declare_its_parameters():
    Undeclared(scale="any", stop_words=3).check_parameters()
    assert Undeclared.parameter("path") is SHARED_PARAMETERS["path"]
    assert Undeclared.parameter("stop_words").signed("smart") == "smart"
    assert Undeclared.parameter("stop_words").signed(3) == 3
    assert not Undeclared.parameter("scale").is_file
    assert Undeclared.parameter("scale").accepts(3)


class Declaring(Undeclared):
    parameters: ClassVar = {"scale": Parameter("how much", (1, 2)), "gone": Parameter("of a base class", (1,))}


def test_a_solver_of_ones_own_is_checked_if_it_declares_them():
    Declaring(scale=2).check_parameters()
    with pytest.raises(UsageError, match="parameter 'scale' of Declaring must be one of 1, 2, got 3"):
        Declaring(scale=3).check_parameters()


class Infinite(Solver):
    def score_candidates(self, questions):
        return Scores.from_lists([[-np.inf] * len(q.candidates) for q in questions])


TWO = [SlidingWindow(), LongestCandidate()]
LEARNING = [SurfaceLR(), SlidingWindow()]

REFUSED: dict[str, list[tuple[dict[str, object], str]]] = {
    "constant-position": [
        ({"position": "middle"}, "got 'middle'"),
        ({"position": -1}, "must be one of 'first', 'last', 'majority' or an index from 0, got -1"),
        ({"position": True}, "got True"),
        ({"position": 10**20}, "got 100000000000000000000"),
    ],
    "longest": [({"unit": "tokens"}, "'tokens'")],
    "length": [({"unit": "pages"}, "'unit'")],
    "verbatim-overlap": [({"unit": "pages"}, "'unit'")],
    "random": [
        ({"seed": "a"}, "parameter 'seed' of random must be a whole number, got 'a'"),
        ({"seed": 1.5}, "got 1.5"),
    ],
    "sliding-window": [
        ({"window": 0}, "'passage', 'tuned' or a positive number of tokens, got 0"),
        ({"window": True}, "got True"),
        ({"window": "wide"}, "got 'wide'"),
        ({"inverse_counts": "all"}, "got 'all'"),
    ],
    "word-distance": [({"distance": "max"}, "got 'max'")],
    "sw+d": [
        ({"window": "tuned"}, "must be one of 'set', 'passage' or a positive number of tokens, got 'tuned'"),
        ({"distance_weight": math.nan}, "parameter 'distance_weight' of sw.d must be a finite number, got nan"),
        ({"distance_weight": "much"}, "got 'much'"),
        ({"analyzer": 5}, "analyzer"),
        ({"stop_words": 5}, "stop"),
    ],
    "cloze-distance": [
        ({"max_distance": 0}, "'max_distance' of cloze-distance must be a positive number of steps, got 0"),
        ({"max_distance": 2.5}, "got 2.5"),
        ({"alignment": "head"}, "'alignment' of cloze-distance must be one of 'ends', 'first', 'last'"),
        ({"own_words": "skip"}, "'match', 'cap', got 'skip'"),
        ({"punctuation": "maybe"}, "True, False, got 'maybe'"),
        ({"stop_words": "smrt"}, "did you mean 'smart'"),
    ],
    "cloze-window": [
        ({"weights": "tf"}, "'weights' of cloze-window must be one of 'passage', 'idf', got 'tf'"),
        ({"anchored": "yes"}, "True, False, got 'yes'"),
    ],
    "lexical": [
        ({"normaliser": "lemma"}, "parameter 'normaliser' of lexical is 'lemma', which takes annotation"),
        ({"coreference": "all"}, "parameter 'coreference' of lexical is 'all', which takes annotation"),
        ({"normaliser": "lemmas"}, "parameter 'normaliser' of lexical must be one of"),
        ({"coreference": True}, "parameter 'coreference' of lexical must be one of 'none', 'rules', 'all'"),
        ({"negation": "maybe"}, "parameter 'negation' of lexical must be one of True, False"),
        ({"weights": "mc16"}, "parameter 'weights' of lexical must be one of 'mc160', 'mc500', 'learned' or four"),
        ({"weights": "1/2/3"}, "four numbers for window, distance, bag of words, sentences such as '1/11/6/1'"),
        ({"weights": "1/2/3/nan"}, "four numbers"),
        ({"weights": [1, 2]}, "four numbers"),
        ({"bugs": "last"}, "unknown bug of lexical 'last'"),
        ({"C": 0}, "parameter 'C' of lexical must be a positive number, got 0"),
        ({"analyzer": "wrod"}, "unknown analyzer 'wrod': did you mean 'word'"),
        ({"stop_words": "smrt"}, "unknown stop list 'smrt'"),
    ],
    "ir": [
        ({"engine": "google"}, "parameter 'engine' of ir must be one of 'sparse', 'lucene'"),
        ({"depth": 10}, "parameter 'depth' of ir is for a corpus"),
        ({"depth": 0, "corpus": "paragraphs"}, "parameter 'depth' of ir must be a positive number of hits, got 0"),
        ({"overlap": "word", "corpus": "paragraphs"}, "give depth too"),
        ({"corpus": ["passage", "paragraphs"]}, "the question's own passage alone: nothing can be added to it"),
        ({"engine": "rank-bm25"}, "engine 'rank-bm25' searches a corpus"),
        ({"engine": "opensearch", "corpus": "paragraphs"}, "searches an index that its cluster has"),
        ({"similarity": "okapi"}, "'bm25' or 'classic'"),
        ({"analyzer": "none"}, "unknown analyzer 'none'"),
    ],
    "surface-lr": [
        ({"features": "lenghts"}, "unknown group of features 'lenghts': did you mean 'lengths'"),
        ({"inputs": "passage"}, "parameter 'inputs' of surface-lr must be one of 'all', 'no-passage'"),
        ({"features": "text-answer", "inputs": "no-passage"}, "no feature is left"),
        ({"scaling": "max"}, "parameter 'scaling' of surface-lr must be one of 'rms', 'none', got 'max'"),
        ({"output": "margin"}, "parameter 'output' of surface-lr must be one of"),
        ({"question_words": 0}, "parameter 'question_words' of surface-lr must be a positive whole number or None"),
        ({"hashing": 2.5}, "parameter 'hashing' of surface-lr must be a positive whole number or None, got 2.5"),
        ({"C": -1}, "parameter 'C' of surface-lr must be a positive number, got -1"),
        ({"C": "small"}, "parameter 'C' of surface-lr must be a positive number, got 'small'"),
        ({"learner": "naive-bays"}, "unknown learner 'naive-bays': did you mean 'naive-bayes'"),
        ({"learner": LogisticRegression}, "parameter 'learner' must be a name or a classifier"),
        ({"learner": 3}, "parameter 'learner' must be a name or a classifier"),
        ({"learner": LogisticRegression(C=-1)}, "the learner LogisticRegression cannot learn"),
    ],
    "span-sw": [
        ({"context": "page"}, "'context' of span-sw must be one of 'sentence', 'passage', got 'page'"),
        ({"distance": "mode"}, "'distance' of span-sw must be one of None, 'mean'"),
        ({"distance_weight": -1}, "must be a number from 0, got -1"),
        ({"distance_weight": math.inf}, "got inf"),
    ],
    "span-lr": [
        ({"buckets": 1}, "'buckets' of span-lr must be a whole number of at least 2, got 1"),
        ({"negatives": 0}, "'negatives' of span-lr must be a whole number of at least 1 or None, got 0"),
        ({"negatives": 2.5}, "got 2.5"),
        ({"seed": "a"}, "'seed' of span-lr must be a whole number, got 'a'"),
        ({"C": 0}, "'C' of span-lr must be a positive number, got 0"),
        ({"C": math.nan}, "got nan"),
        ({"learner": "naive-bayes"}, "'learner' of span-lr must be one of 'liblinear', 'lbfgs', 'sgd'"),
        ({"features": "shapes"}, "did you mean 'shape'"),
    ],
    "ngram-lm": [
        ({"order": 0}, "parameter 'order' of ngram-lm must be one of 1, 2, 3, 4, 5, got 0"),
        ({"order": 6}, "'order'"),
        ({"discounts": 0.0}, "must be 'modified' or a number above 0, at most 1, got 0.0"),
        ({"discounts": "good-turing"}, "'discounts'"),
        ({"cache_weight": 1.0}, "must be a number from 0 to below 1, got 1.0"),
        ({"cache_weight": -0.1}, "'cache_weight'"),
        ({"cache_weight": "much"}, "'cache_weight'"),
        ({"scoring": "half"}, "'scoring'"),
        ({"normalise": "words"}, "'normalise'"),
        ({"corpus": "passage"}, "must name 'passages', 'queries' or text files: there is no file 'passage'"),
        ({"corpus": "passages+none.txt"}, "there is no file 'none.txt'"),
        ({"corpus": "passages+"}, "there is no file ''"),
        ({"corpus": ""}, "there is no file ''"),
    ],
    "alignment-ilp": [
        ({"chunks": "phrases"}, "'runs', 'words', 'groups'"),
        ({"chunks": "groups"}, "annotations=FILE"),
        ({"annotations": "x.json"}, "chunks='groups'"),
        ({"normaliser": "lemma"}, "'porter'"),
        ({"offset": 1.5}, "from 0 to 1"),
        ({"question_weight": -1}, "not below 0"),
        ({"sentence_weight": 1}, "not above 0"),
        ({"long_option_weight": math.inf}, "finite"),
        ({"max_edges": 0}, "positive number or None"),
        ({"max_copies": True}, "positive number or None"),
        ({"min_question_share": 2}, "share from 0 to 1"),
        ({"align_option": "no"}, "True, False"),
        ({"node_limit": None}, "positive number"),
        ({"stop_words": None}, "unknown stop list 'None'"),
    ],
    "combination": [
        ({"solvers": []}, "combination needs two solvers or more"),
        ({"solvers": TWO[:1]}, "combination needs two solvers or more"),
        ({"solvers": "sw+d"}, "combination needs two solvers or more"),
        ({"solvers": [SlidingWindow(), "ir"]}, "member 2 of combination is no solver: 'ir'"),
        (
            {"solvers": [LongestCandidate(), SlidingWindow(window="tuned")]},
            "member 2 .*parameters of its own to tune",
        ),
        ({"solvers": [LongestCandidate(), Infinite()]}, "Infinite gives an infinite score"),
        ({"solvers": TWO, "weights": [1]}, "a finite number for each of its 2 members"),
        ({"solvers": TWO, "weights": [1, "x"]}, "a finite number for each"),
        ({"solvers": TWO, "weights": [1, float("nan")]}, "a finite number for each"),
        ({"solvers": TWO, "weights": "learned"}, "must be 'tuned', 'stacked' or"),
        ({"solvers": TWO, "weights": 3}, "must be 'tuned', 'stacked' or"),
        ({"solvers": TWO, "normalise": "rank"}, "'none', 'question', 'standard'"),
        ({"solvers": TWO, "C": 0}, "'C' of combination must be a positive number"),
        ({"solvers": LEARNING, "folds": 2.5}, "'folds' of combination must be a positive number"),
        ({"solvers": LEARNING, "weights": "stacked", "folds": 1}, "at least 2 folds"),
        (
            {"solvers": LEARNING, "weights": "stacked", "group": "shelf"},
            "unknown meta key|no meta to group by",
        ),
    ],
}
ASKED = {"ngram-lm": Task.CLOZE}
"""The task that a solver is asked, if not the first that it is for."""
NEEDS_NO_FIT = {"longest", "random", "cloze-distance", "cloze-window", "span-sw", "alignment-ilp"}


@pytest.mark.parametrize(
    ("name", "params", "said"), [(name, *row) for name, rows in REFUSED.items() for row in rows]
)
def test_an_unusable_parameter_ends_in_one_error(name, params, said):
    solver = SOLVERS[name](**params)
    task = ASKED.get(name) or next(task for task in Task if task in SOLVERS[name]().tasks or name == "combination")
    questions = synthetic_dataset(task, n_passages=12, seed=1)
    with pytest.raises(UsageError, match=said):
        solver.fit(questions).score_candidates(questions)
    if name in NEEDS_NO_FIT:
        with pytest.raises(UsageError, match=said):
            SOLVERS[name](**params).score_candidates(questions)
