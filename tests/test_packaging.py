"""The installed package: setup.cfg names every data file, and everything that it names exists."""

from __future__ import annotations

import configparser
import doctest
import re
import shlex
import tomllib
from importlib import import_module
from pathlib import Path

from classic_rc import __version__
from classic_rc._version import RELEASE
from classic_rc.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "classic_rc"

SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")


def installed() -> dict[str, set[Path]]:
    """The files that each pattern of package_data matches."""
    data = {
        name: value.replace(",", " ").split()
        for name, value in SETUP["options.package_data"].items()
    }
    packages = [path.parent for path in PACKAGE.rglob("__init__.py")]
    folders = {
        name: packages if name == "*" else [ROOT.joinpath(*name.split("."))] for name in data
    }
    return {
        f"{name}: {pattern}": {
            path for folder in folders[name] for path in folder.glob(pattern) if path.is_file()
        }
        for name, patterns in data.items()
        for pattern in patterns
    }


def test_every_file_that_is_no_module_is_installed():
    files = {
        path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert files - set().union(*installed().values()) == set()


def test_every_pattern_matches_a_file():
    assert [pattern for pattern, files in installed().items() if not files] == []


def test_every_folder_of_modules_is_a_package():
    assignments = PACKAGE / "commands" / "grade" / "assignments"  # found by their files
    folders = {path.parent for path in PACKAGE.rglob("*.py") if assignments not in path.parents}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_files_that_are_type_checked_exist():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert [path for path in settings["files"] if not (ROOT / path).exists()] == []


def test_the_citation_has_the_version_of_the_package():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {RELEASE}" in lines


def test_the_version_of_a_checkout_says_that_its_code_can_be_edited():
    assert __version__ == RELEASE.removesuffix("+dev") + "+dev"


def test_the_source_distribution_names_folders_and_files_that_there_are():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    listed = [
        name
        for line in lines
        if line.startswith(("include ", "graft "))
        for name in line.split()[1:]
    ]
    assert [name for name in listed if not (ROOT / name).exists()] == []
    tested = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"][
        "ini_options"
    ]
    assert set(tested["testpaths"]) - {"classic_rc", "README.md"} <= set(listed)


def test_the_command_is_a_function_that_there_is():
    _, _, target = SETUP["options.entry_points"]["console_scripts"].partition("=")
    module, _, function = target.strip().partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_long_description_has_absolute_links_and_commands_that_need_no_clone(
    tmp_path, monkeypatch, capsys
):
    assert SETUP["metadata"]["long_description"] == "file: DESCRIPTION.md"
    file = ROOT / "DESCRIPTION.md"
    text = file.read_text(encoding="utf-8")
    assert all(link.startswith("https://") for link in re.findall(r"\]\((.*?)\)", text))
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^classic-rc (.*?)(?:  +#.*)?$", text, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    assert doctest.testfile(str(file), module_relative=False).failed == 0
