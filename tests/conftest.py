"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from tests.cached_data import lay_out
from tests.depth import examples

os.environ["COLUMNS"] = (
    "200"  # tables fit the terminal: a line of a test is never broken by the developer's own
)

# A slow machine is no fault: tests time nothing. Before a release, the usual number of examples is
# drawn.
settings.register_profile("untimed", deadline=None, max_examples=examples(20, 100))
settings.load_profile("untimed")

# Tests start many interpreters; each would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What `pytest -m fast` runs, but for tests that are slow, random or need the authors' files.
_FAST = [
    *("kernels", "text", "io", "formats", "metrics", "decisions", "datasets"),
    *("solvers/test_solver_contract.py", "test_questions.py", "test_predictions.py"),
]
_FAST_PATHS = [Path(__file__).parent / name for name in _FAST]

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def _folder(name: str) -> Path:
    folder = _SHARED / name
    if not folder.is_dir():
        pytest.skip(
            f"the datasets' own files are not here ({folder.parent.name}/{name} beside the "
            "checkout)"
        )
    return folder


@pytest.fixture(autouse=True, scope="session")
def no_user_files(tmp_path_factory):
    """An empty cache: results follow neither from the developer's data nor from his floors."""
    before = os.environ.get("CLASSIC_RC_DATA")
    os.environ["CLASSIC_RC_DATA"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("CLASSIC_RC_DATA")
    if before is not None:
        os.environ["CLASSIC_RC_DATA"] = before


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need the authors' files, so that ``-m golden`` selects them, and those
    that are fast.
    """
    for item in items:
        if {"shared_data", "shared_golden"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("golden")
        elif (
            _is_fast(item.path)
            and not any(map(item.get_closest_marker, ("slow", "ci")))
            and not _is_random(item)
        ):
            item.add_marker("fast")


@cache
def _is_fast(path: Path) -> bool:
    return any(path.is_relative_to(fast) for fast in _FAST_PATHS)


def pytest_collection_finish() -> None:
    """Leave the collected tests out of later searches for garbage."""
    gc.freeze()


def _is_random(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file that has no fast test where ``-m fast`` asks for nothing else."""
    only_fast = config.option.markexpr == "fast" and collection_path.suffix == ".py"
    return True if only_fast and not _is_fast(collection_path) else None


@pytest.fixture(scope="session")
def shared_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The datasets' own files, which cannot be redistributed with the package.

    They are beside the checkout, or in the cache of ``classic-rc fetch``.
    """
    return (
        _SHARED / "data"
        if (_SHARED / "data").is_dir()
        else lay_out(tmp_path_factory.mktemp("data"))
    )


@pytest.fixture(scope="session")
def shared_golden() -> Path:
    """Recorded outputs of the official scorers."""
    return _folder("golden")
