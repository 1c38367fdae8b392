"""A parameter is declared once in its class: constructor, defaults, docstring and checks follow."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
import typing
from typing import Any, ClassVar

import pytest
import sklearn.base
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from classic_rc.decisions import Argmax, RelativeThreshold, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.parameters import Parameter, clone, is_number, number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Task
from classic_rc.solvers import AllPositive, Length, SlidingWindow, Solver
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION
from classic_rc.testing import check_solver, synthetic_dataset
from tests.errors import raises

CHOICES = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4, seed=1)


class Scaled(Solver):
    """The length of a candidate, scaled.

    More about it.

    Attributes
    ----------
    seen_ : int
        How many questions it has seen.
    """

    shared: ClassVar[dict[str, int]] = {}
    unit = "characters"

    scale: float = parameter(1.5, "what lengths are multiplied by", also="a number", fits=is_number)
    words: str = parameter(
        "", "a file of words; " + "more words " * 20 + "than a line has", is_file=True
    )
    analyzer: Any = ANALYZER

    def score_candidates(self, questions):
        lengths = ([len(c.text) for c in q.candidates] for q in questions)
        return Scores.from_lists([self.scale * n for n in row] for row in lengths)


class Shifted(Scaled):
    """It has a parameter more, and the analyzer comes last.

    Parameters
    ----------
    shift : float
        Written by hand.
    """

    shift: float = parameter(0.0, "what is added")
    analyzer: Any = ANALYZER.but(default="treebank")


class ByHand(Scaled):
    """It writes its own constructor."""

    bonus: int = parameter(1, "what is added", allowed=(1, 2))

    def __init__(self, *, bonus=1):
        super().__init__(scale=2.0)
        self.bonus = bonus


class Listing(Scaled):
    items: list[int] = parameter(help="an own list for each object", factory=lambda: [1])
    plain = parameter(None, "a parameter without an annotation")


def test_the_constructor_has_the_declared_keywords_defaults_and_types():
    signature = inspect.signature(Scaled)
    assert {name: p.default for name, p in signature.parameters.items()} == {
        "scale": 1.5,
        "words": "",
        "analyzer": "word",
    }
    assert all(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())
    assert typing.get_type_hints(Scaled.__init__) == {
        "scale": float,
        "words": str,
        "analyzer": Any,
        "return": type(None),
    }
    assert (Scaled.scale, Scaled.analyzer, Scaled(scale=3).scale) == (1.5, "word", 3)
    assert repr(Scaled(words="a.txt", scale=2)) == "Scaled(scale=2, words='a.txt')"


def test_inherited_parameters_come_first_and_a_redeclared_one_moves():
    assert list(inspect.signature(Shifted).parameters) == ["scale", "words", "shift", "analyzer"]
    assert (Shifted().analyzer, Scaled().analyzer) == ("treebank", "word")
    assert list(inspect.signature(AllPositive).parameters) == ["decision"]


def test_only_declared_names_are_arguments():
    assert Length._get_param_names() == ["decision", "unit"]
    for wrong in ({"shared": {}}, {"name": "x"}, {"learns_from": "gold"}, {"decision": None}):
        with pytest.raises(TypeError):
            Scaled(**wrong)


def test_wrong_calls_are_worded_by_python():
    class Hand:
        def __init__(self, *, scale=1.5):
            self.scale = scale

    wrong: Any = [((), {"skale": 2}), ((2,), {})]
    for args, kwargs in wrong:
        worded = []
        for estimator_class in (Hand, Scaled):
            with pytest.raises(TypeError) as caught:
                estimator_class(*args, **kwargs)
            worded.append(str(caught.value).partition("__init__()"))
        assert worded[0][1:] == worded[1][1:]
        assert worded[1][0] == "Scaled."


@pytest.mark.parametrize("cloning", [clone, sklearn.base.clone, copy.deepcopy])
@pytest.mark.parametrize(
    "estimator", [Scaled(scale=7), Shifted(shift=2), ByHand(bonus=2), Listing(items=[3])]
)
def test_declared_estimators_are_cloned_pickled_and_changed(estimator, cloning):
    for copy_ in (cloning(estimator), pickle.loads(pickle.dumps(estimator))):
        assert type(copy_) is type(estimator)
        assert copy_.get_params() == estimator.get_params()
        assert copy_.set_params(**estimator.get_params()).get_params() == estimator.get_params()


def test_values_are_stored_unchanged():
    value = ["x"]
    assert Scaled(words=value).words is value


def test_a_factory_makes_a_default_for_each_object():
    assert inspect.signature(Listing).parameters["items"].default == [1]
    first, second = Listing(), Listing()
    first.items.append(2)
    assert (first.items, second.items, Listing.items) == ([1, 2], [1], [1])
    assert repr(second) == "Listing()"
    assert Listing(plain=3).plain == 3
    with pytest.raises(TypeError, match="default"):
        parameter(help="nothing to start from")


def test_a_hand_written_constructor_stays_and_its_declarations_are_checked():
    estimator = ByHand(bonus=3)
    assert (estimator.scale, list(inspect.signature(ByHand).parameters)) == (2.0, ["bonus"])
    with raises(UsageError, field="bonus", found="3", expected="one of 1, 2"):
        estimator.fit(CHOICES)
    with pytest.raises(TypeError, match=r"ByHand\.__init__"):
        type("Sub", (ByHand,), {"more": parameter(1, "one more")})


def test_the_default_fit_checks():
    with raises(UsageError, field="scale", found="'x'", expected="a number"):
        Scaled(scale="x").fit(CHOICES)


def test_the_docstring_gets_the_section_before_the_others():
    text = inspect.getdoc(Scaled) or ""
    before, _, section = text.partition("\n\nParameters\n----------\n")
    section, _, after = section.partition("\n\nAttributes\n----------\n")
    assert before.endswith("More about it.")
    assert after.startswith("seen_ : int")
    assert section.startswith(
        "scale : a number, default 1.5\n    What lengths are multiplied by.\nwords : a path, "
    )
    assert "\nanalyzer : a name or an Analyzer, default 'word'\n" in section
    assert all(len(line) <= 112 for line in section.splitlines())
    assert "Written by hand" in (Shifted.__doc__ or "")
    assert "what is added" not in (Shifted.__doc__ or "")
    for rule in (Argmax, TunedThreshold, RelativeThreshold):
        assert all(f"\n{name} : " in (rule.__doc__ or "") for name in rule.parameters)


def test_a_class_that_declares_nothing_documents_what_it_inherits():
    class Quiet(Scaled):
        """Nothing of its own."""

    assert "Nothing of its own.\n\nParameters\n----------\nscale : " in (Quiet.__doc__ or "")
    assert Quiet(scale=4).scale == 4


def test_a_class_that_travels_by_value_arrives_whole():
    """Processes that score in parallel get a class from a user's file as its content."""
    namespace: dict[str, Any] = {
        "Solver": Solver,
        "parameter": parameter,
        "DECISION": DECISION,
        "__name__": "gone",
    }
    source = (
        "class Own(Solver):\n"
        " 'Its text.'\n"
        " size: int = parameter(2, 'a size', also='below 5', fits=lambda value: value < 5)\n"
        " kept: list = parameter(help='a list', factory=list)\n"
        " decision = DECISION\n"
        " def score_candidates(self, questions): return [[self.size for c in q.candidates] for q "
        "in questions]\n"
    )
    exec(source, namespace)
    exec(
        "def told(own): return own.check_parameters(), repr(own), type(own)().kept, "
        "type(own).__doc__",
        namespace,
    )
    solver = namespace["Own"](size=3)
    (there,) = Parallel(n_jobs=2)(delayed(namespace["told"])(sent) for sent in (solver,))
    assert there == namespace["told"](solver)
    assert there[1:3] == ("Own(size=3)", [])


@pytest.mark.ci
def test_optimised_python_has_no_docstrings_and_the_same_constructor():
    program = (
        "from classic_rc.solvers import SlidingWindow\n"
        "print(SlidingWindow(window=3), SlidingWindow.__doc__, "
        "SlidingWindow.parameters['window'].choices)"
    )
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout
        == f"SlidingWindow(window=3) None {SlidingWindow.parameters['window'].choices}\n"
    )


def test_the_contract_holds_for_a_declared_solver():
    check_solver(Scaled(scale=2))


def test_a_grid_search_sets_declared_parameters():
    search = GridSearchCV(Scaled(), {"scale": [-1.0, 1.0]}, cv=2).fit(list(CHOICES))
    assert search.best_params_["scale"] in (-1.0, 1.0)


def test_a_solver_that_learns_nothing_is_a_step_of_a_pipeline():
    questions = list(CHOICES)
    for solver in (SlidingWindow(), Scaled()):
        pipeline = make_pipeline(FunctionTransformer(), solver)
        assert pipeline.fit(questions).predict(questions) == solver.predict(questions)
        sklearn.utils.validation.check_is_fitted(pipeline)


def test_a_solver_that_learns_is_fitted_after_fit():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        sklearn.utils.validation.check_is_fitted(Length())
    sklearn.utils.validation.check_is_fitted(Length().fit(CHOICES))


@pytest.mark.parametrize(
    ("declared", "words", "good", "bad"),
    [
        (
            whole_number(3, "n"),
            "a positive whole number, below 2**31",
            (1, 2**31 - 1),
            (0, 2**31, 1.0, True, None, "1"),
        ),
        (
            whole_number(3, "n", least=2, allowed=(None,)),
            "None or a whole number of at least 2, below 2**31",
            (2, None),
            (1,),
        ),
        (
            number(3, "x"),
            "a finite number",
            (-1e300, 7),
            (float("inf"), float("nan"), True, "x", 10**400),
        ),
        (number(0, "x", least=0), "a number of at least 0", (0, 1.5), (-0.1,)),
        (number(0, "x", least=0, most=1), "a number from 0 to 1", (0, 1), (-0.1, 1.1)),
    ],
)
def test_numbers_are_declared_with_their_bounds(declared, words, good, bad):
    assert declared.choices == words
    assert all(map(declared.accepts, good))
    assert not any(map(declared.accepts, bad))


def test_declarations_change_by_copy():
    word = ANALYZER.but(default="treebank", help="another text")
    assert isinstance(word, Parameter)
    assert (word.default, ANALYZER.default, word.signed) == ("treebank", "word", ANALYZER.signed)
    tuned = parameter(11.0, "a weight", default_tuned_on={"abc": "dev"})
    assert tuned.but(help="the same weight").default_tuned_on == {"abc": "dev"}
    assert tuned.but(default=3.0).default_tuned_on == {}
