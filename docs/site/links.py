"""Check a built site: each link leads to a file and an anchor of the site, and nothing is loaded
from outside.

python docs/site/links.py FOLDER
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

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


UNREAD = re.compile(r"<!--.*?-->|(<(script|style)\b[^>]*>).*?</\2>", re.DOTALL)
TAG = re.compile(r"""<(\w+)((?:\s+[\w:@-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*)\s*/?>""")
VALUE = re.compile(
    r"""\s(id|name|href|src|data|srcset|rel)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))"""
)


class Page:
    """The anchors of a page, and its links: the address, and whether the browser loads it
    without being asked. Expressions find them: a parser took a tenth of the build.
    """

    def __init__(self, file: str) -> None:
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []
        for found in set(TAG.findall(UNREAD.sub(r"\1", Path(file).read_text("utf-8")))):
            anchors, links = read_tag(*found)
            self.anchors.update(anchors)
            self.links += links


@cache
def read_tag(tag: str, attributes: str) -> tuple[list[str], list[tuple[str, bool]]]:
    """Return the anchors of a tag and its links. Pages share most of their tags."""
    values = {name: unescape("".join(text)) for name, *text in VALUE.findall(attributes)}
    anchors = [values[name] for name in ("id", "name") if name in values]
    loaded = not NOT_LOADED & set(values.get("rel", "").split())
    links = [
        (values[name], loaded and (tag, name) in LOADED)
        for name in ("href", "src", "data")
        if name in values and tag != "base"
    ]
    sources = values.get("srcset", "").split(",")
    return anchors, links + [(part.split()[0], True) for part in sources if part.strip()]


def problems(site: Path) -> list[str]:
    """Return what is wrong with a site, one line each."""
    return sorted({*broken_links(site), *far_styles(site)})


def broken_links(site: Path) -> Iterator[str]:
    """Yield the links that lead nowhere, and the addresses outside the site that a page loads."""
    read = cache(Page)

    @cache
    def fault(folder: str, address: str, loaded: bool) -> str:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            far = loaded and parts.scheme != "data"
            return "is loaded from outside the site" if far else ""
        path = os.path.normpath(os.path.join(folder, unquote(parts.path)))
        if not os.path.isfile(path):
            return "leads to no file"
        anchor = unquote(parts.fragment)
        broken = anchor and path.endswith(".html") and anchor not in read(path).anchors
        return "leads to no anchor" if broken else ""

    for file in sorted(site.rglob("*.html")):
        for address, loaded in read(str(file)).links:
            # links of the navigation are the same on all pages of a folder
            whole = address if address[:1] not in ("", "#", "?") else quote(file.name) + address
            if problem := fault(str(file.parent), whole, loaded):
                yield f"{file.relative_to(site)}: {address} {problem}"


def far_styles(site: Path) -> Iterator[str]:
    """Yield what style sheets load from outside the site."""
    for file in sorted([*site.rglob("*.css"), *site.rglob("*.html")]):
        for address in STYLE_ADDRESS.findall(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site)}: {address} is loaded from outside the site"


if __name__ == "__main__":
    found = problems(Path(sys.argv[1]).resolve())
    print(*found, sep="\n")
    sys.exit(bool(found))
