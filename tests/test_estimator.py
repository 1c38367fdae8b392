"""The estimator protocol: scikit-learn's functions and ours agree on our objects, and nothing
imports it early.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
import sklearn.base
from sklearn.linear_model import LogisticRegression

from classic_rc.parameters import Estimator, clone


class Sized(Estimator):
    def __init__(self, *, size=1, inner=None):
        self.size = size
        self.inner = inner


class Changing(Estimator):
    def __init__(self, *, size=1):
        self.size = size + 1


class SklearnSized(sklearn.base.BaseEstimator):
    def __init__(self, *, size=1, inner=None):
        self.size = size
        self.inner = inner


@pytest.mark.parametrize(
    "values", [{}, {"size": "x"}, {"inner": Sized(size=3)}, {"size": 2, "inner": [Sized()]}]
)
def test_parameters_and_representation_are_those_of_scikit_learn(values):
    ours, theirs = Sized(**values), SklearnSized(**values)
    assert ours.get_params() == theirs.get_params()
    assert ours.get_params(deep=False) == theirs.get_params(deep=False)
    assert f"Sklearn{ours!r}" == repr(theirs)


def test_nested_parameters_are_set():
    outer = Sized(inner=Sized())
    assert outer.set_params(inner__size=4, size=2) is outer
    assert (outer.size, outer.inner.size) == (2, 4)
    assert outer.set_params(inner=Sized(), inner__size=5).inner.size == 5


@pytest.mark.parametrize("name", ["sise", "sise__inner"])
def test_an_unknown_parameter_is_refused(name):
    with pytest.raises(ValueError, match="sise"):
        Sized().set_params(**{name: 1})


@pytest.mark.parametrize("cloning", [clone, sklearn.base.clone])
def test_a_clone_has_the_parameters_and_no_learned_state(cloning):
    original = Sized(size=[1, 2], inner=Sized(size=3))
    original.learned_ = 1
    copy = cloning(original)
    assert (type(copy), copy.size, copy.inner.size) == (Sized, [1, 2], 3)
    assert copy.size is not original.size
    assert copy.inner is not original.inner
    assert not hasattr(copy, "learned_")


def test_lists_and_estimators_of_scikit_learn_are_cloned():
    members = [Sized(size=2), LogisticRegression(C=3.0)]
    first, second = clone(members)
    assert (first.size, second.C) == (2, 3.0)
    assert first is not members[0]
    assert second is not members[1]
    assert clone(Sized(inner=LogisticRegression(C=3.0))).inner.C == 3.0


@pytest.mark.parametrize("cloning", [clone, sklearn.base.clone])
def test_a_constructor_that_changes_a_parameter_is_found(cloning):
    with pytest.raises(RuntimeError, match="size"):
        cloning(Changing())


@pytest.mark.parametrize("cloning", [clone, sklearn.base.clone])
@pytest.mark.parametrize("value", ["sw+d", Sized])
def test_only_estimators_are_cloned(cloning, value):
    with pytest.raises(TypeError):
        cloning(value)
    assert cloning("sw+d", safe=False) == "sw+d"


def test_notebooks_show_a_diagram():
    assert "Sized" in Sized()._repr_html_()


@pytest.mark.ci
def test_a_run_with_the_sliding_window_never_imports_scikit_learn():
    code = (
        "import sys; from classic_rc.cli.main import main; main(['run', 'sample:single-choice', "
        "'-s', 'sw+d']);print({'sklearn', 'scipy', 'pandas', 'joblib'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"
