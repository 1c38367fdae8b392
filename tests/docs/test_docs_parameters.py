"""The page of parameters has every solver, parameter and value, and is what its script makes;
suites' keys and evaluators' tasks too.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from classic_rc.errors import DataError
from classic_rc.running.suite import KEYS, read_suite
from classic_rc.solvers import SOLVERS
from classic_rc.solvers.registry import SOLVER_ENTRIES

DOCS = Path(__file__).resolve().parents[2] / "docs"

spec = importlib.util.spec_from_file_location("make_parameters", DOCS / "make_parameters.py")
assert spec is not None
assert spec.loader is not None
make_parameters = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make_parameters)

TEXT = (DOCS / "parameters.md").read_text(encoding="utf-8")


def test_the_page_is_what_the_script_makes():
    assert make_parameters.page() == TEXT, "run python docs/make_parameters.py"


def test_the_keys_of_suites_are_what_the_script_makes():
    text = (DOCS / "suites.md").read_text(encoding="utf-8")
    assert make_parameters.with_suite_keys(text) == text, "run python docs/make_parameters.py"
    assert all(f"| `{key.name}` |" in text for key in KEYS)


def test_the_tasks_of_evaluators_are_what_the_script_makes():
    text = (DOCS / "floor.md").read_text(encoding="utf-8")
    assert make_parameters.with_tasks(text) == text, "run python docs/make_parameters.py"
    assert "| `race` |" in text


def test_the_example_suite_names_what_exists():
    suite = read_suite(str(DOCS / "examples" / "paper.toml"))
    assert len(suite.datasets) == 6
    assert len(suite.systems) >= 10
    files = {
        name
        for name, of_dataset in suite.systems.items()
        if any(map(is_missing, of_dataset.values()))
    }
    assert files <= {"System A", "System B"}


def test_the_data_of_the_example_suite_is_read(shared_data, tmp_path):
    text = (DOCS / "examples" / "paper.toml").read_text(encoding="utf-8")
    assert text.count('\ndata = "data"\n') == 1
    suite = tmp_path / "paper.toml"
    suite.write_text(
        text.replace('\ndata = "data"\n', f"\ndata = '{shared_data}'\n"), encoding="utf-8"
    )
    for dataset in read_suite(str(suite)).datasets:
        for path in (
            dataset.values["path"],
            *dataset.texts("train"),
            dataset.values.get("tune", dataset.values["path"]),
        ):
            name = Path(path).relative_to(shared_data)
            assert (
                shared_data / name
            ).is_file()  # the fixture skips the test if it has not got the file


def is_missing(system):
    return isinstance(system, DataError)


@pytest.mark.parametrize("name", SOLVER_ENTRIES)
def test_a_solvers_section_names_its_parameters_and_their_values(name):
    section = TEXT.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    assert list(rows) == list(SOLVERS[name].parameters)
    for parameter, declared in SOLVERS[name].parameters.items():
        assert all(repr(value) in rows[parameter] for value in declared.allowed)
        assert declared.is_file is ("a path" in rows[parameter])
