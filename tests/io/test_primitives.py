"""Only io opens, compresses, replaces and hashes files."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "classic_rc"
PRIMITIVES = {"gzip", "zlib", "bz2", "lzma", "tarfile", "zipfile", "tempfile"}
EXCEPTIONS = {
    ("teaching/autograder.py", "zipfile"),
    ("teaching/isolation.py", "tempfile"),
    ("testing/reader_check.py", "tempfile"),
    ("solvers/spans/texts.py", "zlib"),
}
"""An autograder is a zip in memory. Submissions run, and readers are tried, in folders of their own. A checksum
compresses nothing. The questions of a page are in its HTML."""


def primitives_of(source: str) -> set[str]:
    """The modules for compressed and temporary files that a source imports, and ``os.replace``."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {(node.module or "").partition(".")[0]}
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"}
    return found & (PRIMITIVES | {"os.replace"})


def test_only_io_imports_them():
    found = {
        (file.relative_to(PACKAGE).as_posix(), primitive)
        for file in PACKAGE.rglob("*.py")
        if file.parent != PACKAGE / "io"
        for primitive in primitives_of(file.read_text(encoding="utf-8"))
    }
    assert found == EXCEPTIONS
