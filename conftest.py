"""One thread for each process of tests; which modules are imported for doctests: those that have
some; and which process of several compiles which tests.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

# Before NumPy is loaded: the processes share the cores, and threads that wait for each other use
# processor time.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Leave out doctests of modules without any."""
    collectors = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [collector for collector in collectors if type(collector) is pytest.Module]
    return collectors


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a part of the tests first, each of pytest-xdist's processes another one.

    Each process imports all tests. To rewrite the assertions of all of them takes half of this, and
    what one process has rewritten the others read.
    """
    config = session.config
    worker = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    n_workers = worker["workercount"]
    if n_workers == 1:
        return
    from _pytest.pathlib import import_path

    folders = [config.invocation_params.dir / argument for argument in config.args]
    files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
    for file in files[int(worker["workerid"].removeprefix("gw")) :: n_workers]:
        ignored = session.gethookproxy(file.parent).pytest_ignore_collect(
            collection_path=file, config=config
        )
        with suppress(Exception, pytest.skip.Exception):  # the collection says it again
            if not ignored:
                import_path(
                    file,
                    mode=config.getoption("importmode"),
                    root=config.rootpath,
                    consider_namespace_packages=False,
                )
