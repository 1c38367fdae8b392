"""What commands write keeps its keys, and what earlier commits saved keeps its digits."""

from __future__ import annotations

import json
import zipfile
from importlib import import_module

import numpy as np
import pytest

from classic_rc.cli.option import Option
from classic_rc.cli.options import TABLE
from classic_rc.cli.registry import COMMANDS
from classic_rc.solvers import SOLVERS, parse_solver
from tests.saved_files import ARCHIVE, DIGITS, read_digits
from tests.written_files import COMMANDS as LINES
from tests.written_files import MODELS, PINNED, pinned_keys, run_command, written_keys

_ADVICE = f"""
A key changes only where its old name misleads, with a line in CHANGELOG.md, and with the version of
its format if programs read it. Then pin it: python -m tests.written_files ({PINNED.name})"""
_OTHER_PACKAGES = 1e-9  # relative: what other versions of the dependencies may change


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty cache of this test's own, for its floors."""
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("CLASSIC_RC_DATA", str(tmp_path / "cache"))


@pytest.fixture
def in_saved(tmp_path, monkeypatch):
    """The files that an earlier commit saved are in the working directory."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_the_keys_of_all_that_is_written_are_those_that_are_pinned(tmp_path):
    written, pinned = written_keys(tmp_path), pinned_keys()
    changes = []
    for label in sorted({*written, *pinned}):
        present, past = written.get(label, {}), pinned.get(label, {})
        for place in sorted({*present, *past}):
            lost = past.get(place, set()) - present.get(place, set())
            new = present.get(place, set()) - past.get(place, set())
            if lost or new or (place in present) != (place in past):
                changes.append(f"{label}, {place}: lost {sorted(lost)}, new {sorted(new)}")
    assert not changes, "\n".join([*changes, _ADVICE])


def _options(command) -> list[Option]:
    return list(TABLE.choose(import_module(command.module).OPTIONS))


def test_every_command_that_writes_json_or_a_record_is_among_the_pinned_ones():
    commands = {line.split()[0] for line in LINES}
    writing = {
        name
        for name, command in COMMANDS.own.items()
        for option in _options(command)
        if "--save" in option.flags or "json" in (option.settings.get("choices") or ())
    }
    assert {"run", "check", "compare", "floor"} <= writing <= commands


def test_every_solver_that_is_saved_is_among_the_pinned_ones():
    names = {type(parse_solver(spec.split(",")[0])) for spec, _ in MODELS.values()}
    assert names == {solver for solver in SOLVERS.values() if hasattr(solver, "fitted_state")}


@pytest.mark.usefixtures("in_saved")
def test_saved_solvers_an_index_and_floors_give_the_digits_that_they_gave():
    then = json.loads(DIGITS.read_text(encoding="utf-8"))
    now = read_digits()
    same_packages = now["environment"]["packages"] == then["environment"]["packages"]
    tolerance = 0 if same_packages else _OTHER_PACKAGES
    assert now["digits"].keys() == then["digits"].keys()
    assert now["digits"].pop("floors") == then["digits"].pop("floors")
    for name, digits in then["digits"].items():
        scores = digits.pop("scores")
        np.testing.assert_allclose(
            now["digits"][name].pop("scores"), scores, rtol=tolerance, atol=0, err_msg=name
        )
        assert now["digits"][name] == digits, name


@pytest.mark.usefixtures("in_saved")
def test_a_saved_record_is_read_and_every_digit_is_computed_again():
    for line in ("reproduce record", "compare record", "table record"):
        run_command(line)
