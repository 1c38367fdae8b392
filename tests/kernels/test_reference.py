"""The plain-Python reference: its index, and SW+D against the solver."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from classic_rc.datasets import load
from classic_rc.kernels import reference
from classic_rc.solvers import SlidingWindowDistance, parse_solver
from classic_rc.text.encode import encode
from tests.kernels.builders import texts_of

SPECS = (
    "sw+d",
    *(f"sw+d:{name}" for name in SlidingWindowDistance.variants),
    "sw+d,window=7,distance=min",
)


def test_the_index_names_every_lesson_once_in_order():
    listed = re.findall(r"^(\d+)\. ``(\w+)``: ", reference.__doc__, flags=re.MULTILINE)
    modules = {file.stem for file in Path(reference.__file__).parent.glob("*.py")} - {"__init__"}
    assert Counter(name for _, name in listed) == Counter(modules)
    for expected, (number, name) in enumerate(listed, start=1):
        assert int(number) == expected
        lesson = import_module(f"{reference.__name__}.{name}")
        assert lesson.__doc__.startswith(f"Lesson {number}: "), name


def test_no_exported_function_hides_its_module():
    modules = {file.stem for file in Path(reference.__file__).parent.glob("*.py")}
    for name in reference.__all__:
        assert isinstance(getattr(reference, name), ModuleType) == (name in modules), name


def plain_scores(solver, encoded):
    """The score of every candidate of the encoded arrays from the lesson, with the solver's
    parameters.
    """
    stop = set(np.flatnonzero(encoded.stop_flags(solver.stop_words)).tolist())
    counts = None
    if solver.inverse_counts == "corpus":

        def counts(token):
            return solver.word_counts_.get(encoded.vocabulary[token], 1)

    return [
        reference.sliding_window_distance(
            *texts,
            window=solver.window,
            counts=counts,
            stop_words=stop,
            distance=solver.distance,
            distance_weight=solver.distance_weight,
        )
        for texts in texts_of(encoded.arrays)
    ]


def assert_scores_are_the_lessons(spec, dataset):
    solver = parse_solver(spec).fit(dataset)
    encoded = encode(dataset, solver.analyzer)
    scores = np.array(plain_scores(solver, encoded))
    expected = encoded.scores(scores, np.ones(len(scores), dtype=np.bool_))
    assert solver.score_candidates(dataset).values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("sample", ["sample:single-choice", "sample:multiple-answer"])
@pytest.mark.parametrize("spec", SPECS)
def test_sw_d_is_the_solver_on_the_sample(spec, sample):
    assert_scores_are_the_lessons(spec, load(sample))


@pytest.mark.parametrize("name", ["mc160.dev"])
@pytest.mark.parametrize("spec", ["sw+d:mctest160", "sw+d:mcobzarenco", "sw+d:dream"])
def test_sw_d_is_the_solver_on_mctest(shared_data, spec, name):
    assert_scores_are_the_lessons(spec, load(shared_data / "mctest" / f"{name}.tsv"))
