"""The types that docstrings name exist."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import classic_rc

PACKAGE = Path(classic_rc.__file__).parent
TYPE = re.compile(r"^(?:Returns|Yields)\n-+\n([A-Z]\w+)$|^\w+ : ([A-Z]\w+)(?:, optional)?$", re.MULTILINE)
FROM_ELSEWHERE = {"None", "Namespace"}


def test_types_in_docstrings_are_names_of_the_code():
    known = {*dir(builtins), *FROM_ELSEWHERE}
    named: list[tuple[str, str]] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.ImportFrom | ast.Import):
                known.update((alias.asname or alias.name) for alias in node.names)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                known.update(target.id for target in targets if isinstance(target, ast.Name))
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found = TYPE.findall(ast.get_docstring(node) or "")
                named += [(f"{path.relative_to(PACKAGE)}: {node.name}", a or b) for a, b in found]
    assert len(named) > 100
    assert [(where, name) for where, name in named if name not in known] == []
