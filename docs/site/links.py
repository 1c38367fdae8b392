"""Check a built site: each link leads to a file and an anchor of the site, and nothing is loaded
from outside.

python docs/site/links.py FOLDER
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("link", "href"),
    ("object", "data"),
}
"""What a browser loads by itself; any other link waits for a click, and may lead out of the
site.
"""

NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author", "genindex"}
"""The relations of a <link> that is not loaded."""

STYLE_ADDRESS = re.compile(r"(?:url\(|@import\s)\s*['\"]?((?:https?:)?//[^'\")\s]+)")


class Page(HTMLParser):
    """The anchors of a page, and its links: the address, and whether the browser loads it
    without being asked.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the tag's anchor and addresses."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        loaded = not NOT_LOADED & set(values.get("rel", "").split())
        for name in ("href", "src", "data"):
            if name in values and tag != "base":
                self.links.append((values[name], loaded and (tag, name) in LOADED))
        self.links += [
            (part.split()[0], True) for part in values.get("srcset", "").split(",") if part.strip()
        ]


def problems(site: Path) -> list[str]:
    """Return what is wrong with a site, one line each."""
    return sorted({*broken_links(site), *far_styles(site)})


def broken_links(site: Path) -> Iterator[str]:
    """Yield the links that lead nowhere, and the addresses outside the site that a page loads."""
    read = cache(Page)
    for file in sorted(site.rglob("*.html")):
        for address, loaded in read(file).links:
            where = f"{file.relative_to(site)}: {address}"
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    yield f"{where} is loaded from outside the site"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.is_file():
                yield f"{where} leads to no file"
            elif parts.fragment and target.suffix == ".html":
                anchor = unquote(parts.fragment)
                if anchor not in read(target).anchors:
                    yield f"{where} leads to no anchor"


def far_styles(site: Path) -> Iterator[str]:
    """Yield what style sheets load from outside the site."""
    for file in sorted([*site.rglob("*.css"), *site.rglob("*.html")]):
        for address in STYLE_ADDRESS.findall(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site)}: {address} is loaded from outside the site"


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]).resolve())
    print(*found, sep="\n")
    sys.exit(bool(found))
