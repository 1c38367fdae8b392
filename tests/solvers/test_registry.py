"""The registry: its lines agree with the classes, and only the solvers that are used are
imported.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

import classic_rc.solvers
from classic_rc.solvers import DEFAULT_SOLVERS, LEARNING_SOLVERS, SOLVERS
from classic_rc.solvers.registry import SOLVER_ENTRIES

FAMILIES = {entry.home.split(".")[2].partition(":")[0] for entry in SOLVER_ENTRIES.values()}
"""The modules and packages of solvers."""


def loaded_by(code: str) -> set[str]:
    """The modules that a new process has after some code."""
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return set(done.stderr.split())


def families(modules: set[str]) -> set[str]:
    """The families of solvers among modules."""
    parts = [name.split(".") for name in modules if name.startswith("classic_rc.solvers.")]
    return {part[2] for part in parts} & FAMILIES


def run(spec: str, data: str = "sample:single-choice") -> str:
    return (
        f"from classic_rc.cli.main import main; main(['run', {data!r}, '-s', {spec!r}, '--quiet', "
        "'--cv', '2'])"
    )


@pytest.mark.parametrize("name", SOLVER_ENTRIES)
def test_a_line_agrees_with_its_class(name):
    line, solver = SOLVER_ENTRIES[name], SOLVERS[name]
    assert line.home == f"{solver.__module__}:{solver.__qualname__}"
    assert (name, line.description) == (solver.name, solver.description)
    assert line.variants == tuple(solver.variants)


def test_the_usual_solvers_are_known():
    usual = {
        spec for specs in (*DEFAULT_SOLVERS.values(), *LEARNING_SOLVERS.values()) for spec in specs
    }
    assert {spec.partition(":")[0] for spec in usual} <= set(SOLVER_ENTRIES)


def test_every_public_name_is_found_and_an_unknown_one_is_no_attribute():
    assert dir(classic_rc.solvers) == sorted(classic_rc.solvers.__all__)
    assert all(getattr(classic_rc.solvers, name) is not None for name in classic_rc.solvers.__all__)
    assert {solver.__name__ for solver in SOLVERS.values()} <= set(classic_rc.solvers.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Perceptron'"):
        classic_rc.solvers.Perceptron  # noqa: B018


def test_solvers_are_listed_without_importing_one():
    code = "from classic_rc.cli.main import main; main(['list', 'solvers'])"
    modules = loaded_by(code)
    assert "classic_rc.solvers.registry" in modules
    assert families(modules) == set()
    assert not {"classic_rc.solvers.base", "sklearn", "scipy"} & modules


def test_the_registry_is_imported_without_a_solver():
    assert families(loaded_by("import classic_rc.solvers.registry")) == set()


@pytest.mark.ci
@pytest.mark.parametrize(
    ("spec", "data", "family"),
    [
        ("sw+d", "sample:multiple-answer", {"sliding", "trivial"}),
        ("span-ranker,seed=1", "sample:multi-span", {"spans"}),
        ("lexical,coreference=none", "sample:single-choice", {"lexical"}),
    ],
)
def test_a_run_imports_only_its_own_family(spec, data, family):
    assert families(loaded_by(run(spec, data))) == family
