"""One thread for each process of tests; and which modules are imported for doctests: those that
have some.
"""

from __future__ import annotations

import os
from collections.abc import Generator
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
