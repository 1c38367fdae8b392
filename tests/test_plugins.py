"""Plug-ins: small packages as an installer leaves them, in a temporary folder on the path."""

from __future__ import annotations

import json
import re
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

from classic_rc.errors import UsageError
from classic_rc.plugins import PluginWarning, Registry
from tests.errors import raises
from tests.processes import ProcessOutcome, run_commands

ROOT = Path(__file__).resolve().parents[1]

SOLVER = """
import classic_rc

class LastWord(classic_rc.Solver):
    name = "last-word"
    description = "whether the passage ends with it"

    def score_candidates(self, questions):
        return classic_rc.Scores.from_lists(
            [float(q.passage.text.rstrip(".").endswith(c.text)) for c in q.candidates]
            for q in questions
        )
"""

READER = '''
from classic_rc.datasets import Reader
from classic_rc.questions import Candidate, Passage, Question, Task

class Pipes(Reader):
    """A question a line: passage | question | options, the first of them right."""

    name = "pipes"
    title = "Pipes"
    description = "what pipes part"
    citation = "nobody"
    is_dataset = False

    def recognises(self, file):
        return file.text.startswith("#pipes")

    def questions(self, file, reading):
        for number, line in enumerate(file.text.splitlines()[1:], start=1):
            passage, question, *options = (part.strip() for part in line.split("|"))
            yield Question(
                str(number), Passage(str(number), passage), question,
                tuple(map(Candidate, options)), frozenset({0}), Task.SINGLE_CHOICE,
            )
'''


METRIC_AND_PERTURBATION = """
from dataclasses import replace

import numpy as np
from classic_rc.datasets import Perturbation
from classic_rc.metrics import ScoreMetric
from classic_rc.metrics.base import gold_of
from classic_rc.questions import Task

class ReciprocalRank(ScoreMetric):
    name = "mrr"
    label = "MRR"
    description = "mean reciprocal rank of the best right candidate"
    citation = "Voorhees 1999"
    cites = ("voorhees1999",)
    tasks = frozenset({Task.SINGLE_CHOICE})

    def statistics_of_scores(self, questions, scores):
        pairs = [(scores[i], list(gold_of(question))) for i, question in enumerate(questions)]
        return np.array([[1 / np.count_nonzero(own >= max(own[gold]))] for own, gold in pairs])

upper = Perturbation(
    "capitals", "The question is in capitals.", "case",
    lambda dataset, settings: (
        replace(question, text=question.text.upper()) for question in dataset
    ),
)
"""


@pytest.fixture
def install(tmp_path):
    """Lay out a package with its .dist-info: the files of a wheel, as pip unpacks them."""
    site = tmp_path / "site"

    def lay_out(package: str, source: str, version: str = "1.2", **groups: dict[str, str]) -> Path:
        module = package.replace("-", "_")
        info = site / f"{module}-{version}.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(source, encoding="utf-8")
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        lines = []
        for group, points in groups.items():
            lines.append(f"[classic_rc.{group}]")
            lines += [f"{name} = {module}:{what}".rstrip(":") for name, what in points.items()]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return site

    return lay_out


def classic_rc(site: Path, *commands: tuple[str, ...]) -> list[ProcessOutcome]:
    """Run command lines in a process that finds what is installed in `site`."""
    return run_commands(*commands, path=[str(site), str(ROOT)])


def test_a_solver_and_a_reader_plug_in(install, tmp_path):
    install("rc-last", SOLVER, solvers={"last-word": "LastWord"})
    site = install("rc-pipes", READER, version="0.3", readers={"pipes": "Pipes"})
    data = tmp_path / "questions.txt"
    data.write_text(
        "#pipes\nIt rained on Ann.|Who got wet?|Ann|Bob\nBob sang.|Who sang?|Bob|Ann\n",
        encoding="utf-8",
    )

    done, solvers, readers = classic_rc(
        site,
        ("run", str(data), "-s", "last-word", "--format", "csv", "--quiet"),
        ("list", "solvers"),
        ("list", "readers"),
    )
    assert (done.code, done.err) == (0, "")
    header, row = (line.split(",") for line in done.out.splitlines())
    assert dict(zip(header, row, strict=True))["accuracy"] == "0.75"

    name, description = solvers.out.splitlines()[-1].split(maxsplit=1)
    assert name == "last-word"
    assert description.startswith("whether the passage ends with it (")
    assert description.endswith("rc-last 1.2)")
    assert readers.out.splitlines()[-1].endswith("rc-pipes 0.3)")


def test_a_metric_and_a_perturbation_plug_in(install, tmp_path):
    site = install(
        "rc-more",
        METRIC_AND_PERTURBATION,
        metrics={"mrr": "ReciprocalRank"},
        perturbations={"capitals": "upper"},
    )
    data, copy = "sample:single-choice", tmp_path / "copy.jsonl"
    run_both = (
        "run",
        data,
        "-s",
        "sw+d",
        "-s",
        "random",
        "--metrics",
        "mrr,accuracy",
        "--format",
        "json",
    )
    done, usual, table, perturbed = classic_rc(
        site,
        (*run_both, "--intervals", "100", "--save", str(tmp_path)),
        ("run", data, "-s", "sw+d", "--format", "json"),
        ("table", str(tmp_path), "--format", "latex"),
        ("perturb", data, "--with", "capitals", "-o", str(copy)),
    )
    (run,) = json.loads(done.out)["runs"]
    (row,) = run["rows"]
    assert row["metrics"]["accuracy"] < row["metrics"]["mrr"] < 1
    (missing,) = run["missing"]  # the scores of chance are one draw
    assert missing["name"] == "random"
    assert "mrr" in missing["reason"]
    assert "mrr" not in usual.out
    assert "MRR" in table.out
    assert perturbed.code == 0
    assert "WHO" in copy.read_text("utf-8")


COMMAND = """
from classic_rc.cli import inputs
from classic_rc.cli.console import write_output
from classic_rc.cli.option import option, under

HELP = "print the longest question of a dataset."
UPPER = option("--upper", action="store_true", help="in capital letters")
OPTIONS = ("data", *under("output", UPPER), "--quiet")
LISTS = {"moods": lambda: [("loud", "with --upper")]}


def handle(args):
    longest = max((question.text for question in inputs.load_dataset(args, args.data)), key=len)
    write_output((longest.upper() if args.upper else longest) + "\\n", None)
    return 0
"""


def test_a_command_plugs_in_with_an_option_of_its_own(install):
    site = install("rc-longest", COMMAND, commands={"longest": ""})
    default, plain, upper, moods, wrong, unknown, data = classic_rc(
        site,
        ("--help",),
        ("longest", "sample:single-choice"),
        ("longest", "sample:single-choice", "--upper"),
        ("list", "moods"),
        ("longest", "sample:single-choice", "--lower"),
        ("longset", "sample"),
        ("longest", "no-such-file.jsonl"),
    )
    assert "longest" in default.out
    assert "print the longest question of a dataset." in default.out
    assert (plain.code, plain.err) == (0, "")
    assert upper.out == plain.out.upper()
    assert "loud" in moods.out
    assert (wrong.code, unknown.code, data.code) == (2, 2, 3)
    assert "--lower" in wrong.err
    assert "longest" in unknown.err


def test_what_is_no_command_is_refused_and_breaks_nothing(install):
    site = install("rc-mute", "HELP = 'say nothing.'", commands={"mute": ""})
    plugged, usual = classic_rc(site, ("mute",), ("list", "engines"))
    assert plugged.code == 2
    assert "OPTIONS, handle is missing" in plugged.err
    assert (usual.code, usual.err) == (0, "")


def test_one_that_fails_to_import_is_named_once_and_breaks_nothing(install):
    site = install("rc-broken", "import no_such_module", solvers={"one": "One", "two": "Two"})
    plain, listed, failed = classic_rc(
        site,
        ("run", "sample:single-choice", "-s", "longest", "--quiet"),
        ("list", "solvers"),
        ("run", "sample:single-choice", "-s", "one"),
    )
    assert (plain.code, plain.err) == (0, "")  # is not even looked at
    assert listed.code == 0
    for name, line in zip(("one", "two"), listed.err.splitlines(), strict=True):
        assert line.startswith(f"classic-rc: warning: solver {name!r} of rc-broken 1.2 ")
        assert line.endswith("ModuleNotFoundError: No module named 'no_such_module'")
    assert failed.code == 2
    assert failed.err.startswith("classic-rc: error: solver 'one' of rc-broken 1.2 ")
    assert "ModuleNotFoundError" in failed.err


def test_a_reader_that_fails_to_import_does_not_keep_files_from_being_read(install, tmp_path):
    site = install("rc-broken", "raise SystemExit(7)", readers={"broken": "Broken"})
    (tmp_path / "odd.txt").write_text("odd", encoding="utf-8")
    (done,) = classic_rc(site, ("run", str(tmp_path / "odd.txt"), "-s", "longest"))
    assert done.code == 3
    warning, error = done.err.splitlines()
    assert warning.startswith("classic-rc: warning: reader 'broken' of rc-broken 1.2 ")
    assert warning.endswith("SystemExit: 7")
    assert str(tmp_path / "odd.txt") in error


@pytest.fixture
def registry(install, monkeypatch):
    """A registry of numbers that looks into a folder of installed packages."""

    def accept(name: str, loaded: object) -> object:
        if not isinstance(loaded, int):
            raise UsageError("not a number")
        return loaded

    def made(**packages: tuple[str, dict[str, str]]) -> Registry[object]:
        for package, (source, points) in packages.items():
            site = install(package, textwrap.dedent(source), numbers=points)
        monkeypatch.syspath_prepend(site)
        return Registry("number", {"own": 0}, accept)

    yield made
    for module in ("rc_a", "rc_b"):
        sys.modules.pop(module, None)


def test_our_own_names_are_found_without_looking_for_others(registry, monkeypatch):
    numbers = registry(rc_a=("raise AssertionError('imported')", {"one": "x"}))
    monkeypatch.setattr("importlib.metadata.entry_points", None)
    assert numbers["own"] == 0
    assert "own" in numbers
    assert numbers.package_of("own") is None


def test_a_name_is_known_before_what_it_names_is_imported(registry):
    numbers = registry(rc_a=("x = 1", {"one": "x"}))
    assert "one" in numbers
    assert "two" not in numbers
    assert "rc_a" not in sys.modules
    assert numbers["one"] == 1
    assert dict(numbers) == {"own": 0, "one": 1}
    assert len(numbers) == 2
    assert numbers.get("two") is None
    assert numbers.package_of("one") == "rc_a 1.2"


def test_our_own_name_cannot_be_taken(registry):
    numbers = registry(rc_a=("x = 1", {"own": "x", "one": "x"}))
    with pytest.warns(PluginWarning, match=r"number 'own' of rc_a 1\.2 .*classic_rc"):
        assert dict(numbers) == {"own": 0, "one": 1}


def test_a_name_that_two_packages_give_is_refused(registry):
    numbers = registry(rc_a=("x = 1", {"one": "x", "two": "x"}), rc_b=("x = 2", {"one": "x"}))
    packages = r"number 'one' of rc_[ab] 1\.2 and rc_[ab] 1\.2 .*uninstall"
    with pytest.warns(PluginWarning, match=packages):
        assert dict(numbers) == {"own": 0, "two": 1}
    with raises(UsageError, field="number", found="one") as caught:
        numbers["one"]
    assert re.search(packages, str(caught.value))


def test_a_look_up_by_name_raises_and_does_not_warn_too(registry):
    numbers = registry(rc_a=("x = 'text'", {"one": "x", "a b": "x", "two": "y"}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, reason in (
            ("one", "not a number"),
            ("two", "has no attribute 'y'"),
            ("a b", ". _ + -"),
        ):
            with raises(UsageError, field="number", found=name) as caught:
                numbers[name]
            assert str(caught.value).startswith(f"number {name!r} of rc_a 1.2 ")
            assert str(caught.value).endswith(reason)
        assert list(numbers) == ["own"]


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        (SOLVER.replace('"last-word"', '"else"'), "'else'"),
        (SOLVER.replace("def score_candidates", "def score"), "score_candidates"),
    ],
)
def test_what_is_no_solver_is_refused(install, source, fact):
    site = install("rc-last", source, solvers={"last-word": "LastWord"})
    (done,) = classic_rc(site, ("explain", "sample:single-choice", "lantern.1", "-s", "last-word"))
    assert done.code == 2
    (line,) = done.err.splitlines()
    assert line.startswith("classic-rc: error: solver 'last-word' of rc-last 1.2 ")
    assert fact in line


def test_what_is_no_reader_is_refused(install):
    site = install(
        "rc-pipes", READER.replace('"pipes"', '"else"'), readers={"pipes": "Pipes", "no": "Task"}
    )
    (done,) = classic_rc(site, ("list", "readers"))
    refused, renamed = sorted(done.err.splitlines())
    assert "reader 'no' of rc-pipes 1.2 " in refused
    assert "reader 'pipes' of rc-pipes 1.2 " in renamed
    assert "'else'" in renamed
