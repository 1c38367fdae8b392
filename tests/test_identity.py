"""Identities: what changes a system's code changes its cells; comments, docstrings and other
modules do not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import classic_rc
from classic_rc.errors import UsageError
from classic_rc.identity import UnidentifiedCodeError, identify
from classic_rc.running.cells import CellFolder, DatasetRun, read_data
from classic_rc.running.suite import Suite, SuiteDataset, read_suite
from classic_rc.solvers import parse_solver
from classic_rc.solvers.base import Parameter
from classic_rc.solvers.codec import solver_from_record, solver_to_record
from classic_rc.solvers.specs import own_code
from classic_rc.systems import System
from tests.errors import raises

ROOT = Path(__file__).resolve().parents[1]

OWN = '''
import sys
from pathlib import Path
from typing import TYPE_CHECKING
import classic_rc
from classic_rc import Scores
sys.path.insert(0, str(Path(__file__).parent))
import rc_helper

if TYPE_CHECKING:
    import rc_types

class Own(classic_rc.Solver):
    """What it is."""

    def __init__(self, *, lexicon="", scale=1):
        self.lexicon = lexicon
        self.scale = scale

    def score_candidates(self, questions):
        from rc_pack.inner import deep  # deferred

        sign = float(Path(self.lexicon).read_text()) if self.lexicon else 1.0
        return Scores.from_lists(
            [
                [sign * rc_helper.value(c.text) * deep.FACTOR for c in q.candidates]
                for q in questions
            ]
        )
'''
FILES = {
    "own.py": OWN,
    "rc_helper.py": "from rc_other import LENGTH\n\ndef value(text):\n    return "
    "float(LENGTH(text))\n",
    "rc_other.py": "LENGTH = len\n",
    "rc_pack/__init__.py": "",
    "rc_pack/inner/__init__.py": "",
    "rc_pack/inner/deep.py": "from . import numbers\nFACTOR = numbers.FACTOR\n",
    "rc_pack/inner/numbers.py": "FACTOR = 1.0\n",
    "rc_types.py": "x = 1\n",
    "rc_unused.py": "x = 1\n",
    "words.txt": "1",
}
MODULES = (
    "rc_helper",
    "rc_other",
    "rc_pack",
    "rc_pack.inner",
    "rc_pack.inner.deep",
    "rc_pack.inner.numbers",
)


@pytest.fixture
def own_suite(tmp_path, monkeypatch):
    """A user's file with local modules, and a suite that runs it; `run()` is a run in a new
    process.
    """
    monkeypatch.setattr(sys, "path", sys.path[:])
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    suite = tmp_path / "suite.toml"
    spec = f"own.py:Own,lexicon={(tmp_path / 'words.txt').as_posix()}"
    suite.write_text(
        f'[datasets.a]\npath = "sample:single-choice"\n[systems]\nOwn = "{spec}"\n',
        encoding="utf-8",
    )
    yield tmp_path
    forget()


def forget() -> None:
    for name in MODULES:
        sys.modules.pop(name, None)


def run(folder: Path, *, anew: bool = True) -> tuple[bool, str, list[str]]:
    """Run the suite, and return whether the cell was kept before, its signature, and the notes."""
    if anew:
        forget()
    suite = read_suite(str(folder / "suite.toml"), trust=True)
    dataset_run = DatasetRun(
        suite, read_data(suite.datasets[0]), CellFolder(folder / "out" / "cells")
    )
    (cell,) = dataset_run.iter_cells()
    return cell.is_kept, dataset_run.evaluation().rows[0].short_signature, dataset_run.notes


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("own.py", "sign *", "-sign *"),
        ("rc_helper.py", "float(", "-float("),
        ("rc_other.py", "len", "str.__len__"),
        ("rc_pack/__init__.py", "", "import math\n"),
        ("rc_pack/inner/deep.py", "numbers.FACTOR", "-numbers.FACTOR"),
        ("rc_pack/inner/numbers.py", "1.0", "-1."),
        ("words.txt", "1", "-1"),
    ],
)
def test_an_edited_input_is_another_cell_and_another_signature(own_suite, file, old, new):
    _, before, notes = run(own_suite)
    assert notes == []
    assert run(own_suite)[0]
    edit(own_suite / file, old, new)
    is_kept, after, _ = run(own_suite)
    assert not is_kept
    assert after != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("own.py", "# deferred", "# imported late"),
        ("own.py", '"""What it is."""', '"""What it really is."""'),
        ("rc_helper.py", "    return", "    # a comment\n    return"),
        ("rc_types.py", "1", "2"),
        ("rc_unused.py", "1", "2"),
    ],
)
def test_comments_docstrings_and_modules_that_are_not_run_change_nothing(own_suite, file, old, new):
    _, before, _ = run(own_suite)
    edit(own_suite / file, old, new)
    assert run(own_suite)[:2] == (True, before)


def test_a_module_that_changed_after_its_import_is_not_what_runs_so_nothing_is_kept(own_suite):
    assert not run(own_suite)[0]
    edit(own_suite / "rc_other.py", "len", "str.__len__")
    is_kept, _, (note,) = run(own_suite, anew=False)
    assert not is_kept
    assert "rc_other.py" in note


def test_a_signature_names_the_file_and_not_its_folder(own_suite, tmp_path_factory):
    _, before, _ = run(own_suite)
    moved = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(own_suite, moved, ignore=shutil.ignore_patterns("out"))
    edit(moved / "suite.toml", own_suite.as_posix(), moved.as_posix())
    sys.path[:] = [path for path in sys.path if path != str(own_suite)]
    assert run(moved)[1] == before
    assert "|code:own.py@" in before


class FilesUndeclared(classic_rc.Solver):
    """Its parameters say nothing of files, or that one is a number."""

    parameters = {"number": Parameter("a number")}  # noqa: RUF012

    def __init__(self, *, source="", number="", decision=None):
        self.source, self.number, self.decision = source, number, decision

    def score_candidates(self, questions):
        return [[0.0] * len(q.candidates) for q in questions]


def test_an_undeclared_parameter_that_is_a_path_names_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a file.txt").write_text("x", encoding="utf-8")
    Path("folder").mkdir()
    Path("folder/b.txt").write_text("x", encoding="utf-8")
    for value in ("a file.txt", Path("a file.txt"), ["a file.txt"], "folder"):
        plain = solver_to_record(
            FilesUndeclared(source=value, number="a file.txt"), lambda path: {"kept": path}
        )
        assert "kept" in str(plain["params"]["source"])
        assert plain["params"]["number"] == "a file.txt"
    for value in ("", ".", "no file"):
        assert (
            solver_to_record(FilesUndeclared(source=value), lambda path: {})["params"]["source"]
            == value
        )


def identity_of(spec, reader="race"):
    solver = parse_solver(spec) if isinstance(spec, str) else spec
    return identify(
        solver_to_record(solver, lambda path: {"path": path}), reader, lambda entry: entry["path"]
    )


def test_the_package_is_one_identity():
    assert identity_of("sw+d") == identity_of("surface-lr") == identity_of("sw", reader="cbt")
    packages = identity_of("sw+d").packages
    assert {"numpy", "scipy", "scikit-learn"} <= set(packages)
    assert not {"pandas", "matplotlib", "pytest", "classic_rc"} & set(packages)


def test_what_is_in_memory_is_not_identified_and_not_kept(tmp_path, monkeypatch):
    in_memory = type("Made", (FilesUndeclared,), {"__module__": "__main__"})()
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    systems = {
        "Made": in_memory,
        "Object": FilesUndeclared(source=object()),
        "SW": parse_solver("sw"),
    }
    entry = SuiteDataset("a", {"path": "sample:single-choice"})
    for solver in list(systems.values())[:2]:
        with raises(UnidentifiedCodeError, field="solver"):
            identity_of(solver)
    suite = Suite(
        "none",
        (entry,),
        {name: {"a": System(solver, name=name)} for name, solver in systems.items()},
    )
    for expected in (False, True):
        run = DatasetRun(suite, read_data(entry), CellFolder(tmp_path / "cells"))
        assert {cell.system.name: cell.is_kept for cell in run.iter_cells()} == {
            "Made": False,
            "Object": False,
            "SW": expected,
        }
        assert [note.split()[0] for note in run.notes] == ["Made", "Object"]
    assert "|code:in memory|" in run.evaluation().rows[0].signature


# --- installed packages
# -------------------------------------------------------------------------------------------

PLUGIN = """
import classic_rc
from rc_plug_words import value

class Plug(classic_rc.Solver):
    name = "plug"
    description = "a plug-in"

    def score_candidates(self, questions):
        return [[value(c.text) for c in q.candidates] for q in questions]
"""


def run_suite(folder: Path, *paths: Path, spec: str) -> tuple[bool, str]:
    """Run a system with other packages on the path, in a process of its own; return whether its
    cell was kept.
    """
    text = f'[datasets.a]\npath = "sample:single-choice"\n[systems]\nX = "{spec}"\n'
    (folder / "suite.toml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "classic_rc", "run", "suite.toml", "--save", "out", "-v"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return "1 reused" in done.stderr, done.stdout.splitlines()[-1]


@pytest.mark.ci
def test_another_version_of_a_plug_in_is_another_cell(tmp_path):
    site = tmp_path / "site"

    def install(version: str) -> None:
        shutil.rmtree(site, ignore_errors=True)
        info = site / f"rc_plug-{version}.dist-info"
        info.mkdir(parents=True)
        (site / "rc_plug.py").write_text(PLUGIN, encoding="utf-8")
        (site / "rc_plug_words.py").write_text(
            "value = lambda text: float(len(text))\n", encoding="utf-8"
        )
        metadata = f"Metadata-Version: 2.1\nName: rc-plug\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(
            "[classic_rc.solvers]\nplug = rc_plug:Plug\n", encoding="utf-8"
        )

    identities = []
    for version in ("1.0", "1.0", "1.1"):
        install(version)
        identities.append(run_suite(tmp_path, site, ROOT, spec="plug"))
    assert [is_kept for is_kept, _ in identities] == [False, True, False]
    first, _, second = (signature for _, signature in identities)
    assert "|plugin:rc-plug==1.0|" in first
    assert "|plugin:rc-plug==1.1|" in second


@pytest.mark.ci
def test_an_edit_of_a_checkout_is_another_cell_and_an_installed_package_is_its_version(tmp_path):
    package = tmp_path / "copy" / "classic_rc"
    shutil.copytree(ROOT / "classic_rc", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "setup.cfg", package.parent)  # a checkout

    def run() -> tuple[bool, str]:
        return run_suite(tmp_path, package.parent, spec="longest")

    first = run()
    assert run() == (True, first[1])
    with (package / "predictions.py").open("a", encoding="utf-8") as file:
        file.write("\nNEW = 1\n")
    assert run() == (False, first[1])
    assert first[1].endswith("+dev")
    (package.parent / "setup.cfg").unlink()  # as if it were installed
    assert [run()[0], run()[0]] == [False, True]
    with (package / "predictions.py").open("a", encoding="utf-8") as file:
        file.write("\nNEWER = 1\n")
    assert run()[0]


# --- trust
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "own.py:Own",
        "combination,solvers=[FOLDER/own.py:Own; sw]",
        'combination,solvers=["FOLDER/own\\u002epy:Own"; sw]',
        "combination,solvers=[combination,solvers=[FOLDER/own.py:Own; sw]; sw]",
    ],
)
def test_a_suite_runs_a_users_code_only_if_it_is_trusted(own_suite, spec):
    edit(
        own_suite / "own.py",
        "import rc_helper",
        "Path(__file__).with_name('ran').touch()\nimport rc_helper",
    )
    text = spec.replace("FOLDER", own_suite.as_posix())
    suite = own_suite / "suite.toml"
    suite.write_text(
        f"[datasets.a]\npath = 'sample:cloze'\n[systems]\nX = '{text}'\n", encoding="utf-8"
    )
    with raises(UsageError, field="--trust"):
        read_suite(str(suite))
    assert not (own_suite / "ran").exists()
    read_suite(str(suite), trust=True)
    assert (own_suite / "ran").exists()


def test_a_record_and_a_saved_solver_that_name_code_in_a_text_do_not_run_it(own_suite):
    edit(
        own_suite / "own.py",
        "import rc_helper",
        "Path(__file__).with_name('ran').touch()\nimport rc_helper",
    )
    members = {"kind": "list", "items": [f"{(own_suite / 'own.py').as_posix()}:Own", "sw"]}
    plain = {"spec": "combination", "solver": "combination", "params": {"solvers": members}}
    with raises(UsageError, field="--trust"):
        solver_from_record(plain, lambda entry: entry["path"])
    with own_code(trusted=False), raises(UsageError, field="--trust"):
        solver_from_record(plain, lambda entry: entry["path"], trust=True)
    assert not (own_suite / "ran").exists()
    solver_from_record(plain, lambda entry: entry["path"], trust=True)
    assert (own_suite / "ran").exists()


def test_a_text_without_trust_may_still_be_typed(own_suite):
    assert parse_solver(f"{own_suite / 'own.py'}:Own").source_file == str(own_suite / "own.py")
