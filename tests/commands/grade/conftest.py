"""Files of students are no tests. A place where the user of students' processes can read Python
is made here.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

collect_ignore_glob = ["solutions/*"]

SKIPPED = shutil.ignore_patterns(
    "test", "site-packages", "__pycache__", "config-*", "idlelib", "tkinter", "lib2to3"
)


@pytest.fixture(scope="session")
def public_python():
    """A Python with our packages that every user can run, wherever this one is."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can start processes of other users")
    folder = Path(tempfile.mkdtemp(prefix="public-python-"))
    folder.chmod(0o755)
    prefix, name = Path(sys.base_prefix), f"python{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copytree(prefix / "lib" / name, folder / "lib" / name, ignore=SKIPPED)
    (folder / "bin").mkdir()
    python = folder / "bin" / "python3"
    shutil.copy(os.path.realpath(getattr(sys, "_base_executable", sys.executable)), python)
    packages = folder / "lib" / name / "site-packages"
    packages.mkdir()
    roots = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (packages / "tests.pth").write_text("\n".join(roots) + "\n", encoding="utf-8")
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IROTH | (path.stat().st_mode & stat.S_IXUSR) >> 6)
    nobody = (
        "import os; os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3); "
        "import numpy"
    )
    tried = subprocess.run([python, "-c", nobody], capture_output=True, check=False)
    if tried.returncode:
        shutil.rmtree(folder)
        pytest.skip("a copy of this Python does not run, or other users cannot read its packages")
    yield python
    shutil.rmtree(folder)
