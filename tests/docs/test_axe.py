"""axe-core in a real browser finds nothing serious, in the light on a desk and in the dark on a
phone, on any page of the site and on one of each kind that the program writes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from classic_rc.cli.main import main
from tests.pages import chromium

__all__ = ["chromium"]

pytestmark = pytest.mark.ci  # .ci/axe runs them

ROOT = Path(__file__).resolve().parents[2]
DATA = "sample:single-choice"
LOOKS = [("light", 1280), ("dark", 360)]
FAULTS = """axe.run(document, {iframes: false, resultTypes: ["violations"]}).then((result) =>
JSON.stringify(result.violations.flatMap(({id, impact, nodes}) => ["critical", "serious"]
.includes(impact) ? nodes.map(({html}) => `${id}: ${html.slice(0, 200)}`) : [])))"""


@pytest.fixture(scope="module")
def axe() -> str:
    if not (file := os.environ.get("AXE")):
        pytest.skip("AXE names no axe.min.js (.ci/axe installs it)")
    return Path(file).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each kind that the program writes."""
    folder = tmp_path_factory.mktemp("written")
    solution = ROOT / "tests" / "commands" / "grade" / "solutions" / "window.py"
    for student in ("amy", "bob"):
        (folder / "class" / student).mkdir(parents=True)
        shutil.copy(solution, folder / "class" / student)
    class_pages = ["-o", str(folder / "grades.csv"), "--html", str(folder / "grades")]
    for name, arguments in {
        "report": ["report", DATA, "--explain", "sw+d"],
        "spans": ["report", "sample:multi-span"],
        "datasheet": ["report", DATA, "--datasheet"],
        "explanation": ["explain", DATA, "lantern.1", "-s", "lexical", "--format", "html"],
        "check": ["check", DATA, "--format", "html"],
        "floor": ["floor", "--format", "html"],
    }.items():
        assert main([*arguments, "-o", str(folder / f"{name}.html")]) == 0
    main(["grade", str(folder / "class"), "--assignment", "window", "--seed", "3", *class_pages])
    return folder


def faults(chromium: Any, axe: str, folder: Path) -> Iterator[str]:
    """Yield the serious faults of each page, with all of its parts open, and each page that is
    wider than the window.
    """
    pages = sorted(folder.rglob("*.html"))
    assert pages
    for page in pages:
        chromium.open(page.as_uri())
        chromium.run('document.querySelectorAll("details").forEach((part) => part.open = true)')
        chromium.run(f"{axe};0")
        for scheme, width in LOOKS:  # a quarter of the time was to load each page for each look
            where = f"{page.relative_to(folder)}, {scheme}, {width} px"
            chromium.emulate(prefers_color_scheme=scheme)
            chromium.resize(width)
            if (page_width := chromium.run("document.documentElement.scrollWidth")) > width:
                yield f"{where}: {page_width} px wide"
            yield from (f"{where}: {fault}" for fault in json.loads(chromium.run(FAULTS)))


def test_the_pages_that_the_program_writes(chromium, axe, written):
    assert {"amy.html", "index.html"} <= {page.name for page in written.rglob("*.html")}
    assert list(faults(chromium, axe, written)) == []


def test_the_pages_of_the_site(chromium, axe):
    assert list(faults(chromium, axe, ROOT / "build" / "site")) == []
