"""Build the site: stage the pages, run the commands that they show, call Sphinx, check every link.

python docs/site/build.py [-o FOLDER]

Pages keep their form for readers of the repository. In the staged copies, links lead to places in
the site, the commands of a block `{run}` have their output, a block `{made}` shows files that these
commands wrote, and a block `{explained}` shows how a solver answers a question. `generated.py` adds
a page for each solver, below what `docs/solvers` says of it, and one for each package. A page that
the navigation lacks is an error. So is each warning of Sphinx, each command that fails, and each
link that leads nowhere (`links.py`).
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import replace
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCS = ROOT / "docs"
sys.path[:0] = [str(ROOT), str(DOCS), str(HERE)]  # this checkout, whatever is installed

import generated  # noqa: E402
import links  # noqa: E402
import make_notebook  # noqa: E402

from classic_rc.reports.html import question_style  # noqa: E402

NAVIGATION = {
    "Start here": ("start", "explain", "afternoon", "tour", "gallery", "glossary"),
    "By task": ("tasks/paper", "tasks/llm", "tasks/dataset", "tasks/hidden-test", "tasks/class"),
    "Reference": ("commands", "solvers", "parameters", "usage", "datasets", "api"),
    "Results": (
        "floor",
        "results",
        "reproduction",
        "speed",
        "paper",
        "report",
        "records",
        "suites",
    ),
    "Data": ("check", "copies", "datasheet", "perturb", "breakdowns", "llm"),
    "Systems": (
        "lexical",
        "cloze",
        "spans",
        "scorers",
        "ngram-lm",
        "alignment-ilp",
        "combination",
        "feature-ranker",
    ),
    "More": ("*",),
    "Teaching": ("assignments/*",),
    "Project": (
        "architecture",
        "packages",
        "releasing",
        "project/README",
        "project/CHANGELOG",
        "project/*",
    ),
}
"""The sections of the navigation with their pages, in order. A pattern takes what no other entry
names.
"""

PARENTS = {"commands/": "commands", "solvers/": "solvers", "api/": "api"}
"""Folders whose pages are below another page in the navigation."""

OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages outside docs/. Others join when a page links to them."""

LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```\{(run|made|explained)\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class SiteError(Exception):
    """What keeps the site from being built."""


def place(path: Path) -> str:
    """Return the place in the site of a file or folder of the repository."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return "project/" + path.relative_to(ROOT).as_posix()


def stage(folder: Path) -> None:
    """Write everything from which Sphinx builds the site into a folder."""
    pages = generated.pages()
    for source in sources(folder):
        text = relinked(source, folder)
        if (notebook := source.with_suffix(".ipynb")).exists():
            text = with_outputs(text, notebook, folder)
        text = re.sub(r"^```python\n(?=>>> )", "```pycon\n", text, flags=re.M)
        name = place(source).removesuffix(".md")
        pages[name] = generated.with_reference(text, pages[name]) if name in pages else text
    for command in generated.commands():
        if f"commands/{command}" not in pages:
            raise SiteError(f"the command {command} has no page: write docs/commands/{command}.md")
    for name, toctrees in navigation(list(pages)).items():
        pages[name] += "\n" + toctrees
    failed = []
    for name, text in pages.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            file.write_text(executed(text, name, folder), encoding="utf-8")
        except SiteError as error:
            failed.append(str(error))
    if failed:
        raise SiteError("\n".join(failed))
    shutil.copytree(HERE / "static", folder / "_static")
    (folder / "_static" / "explained.css").write_text(question_style(), encoding="utf-8")
    shutil.copy(HERE / "conf.py", folder)


def sources(folder: Path) -> Iterator[Path]:
    """Yield the pages of docs/ and all that they link to, and copy the other files that they
    link to.
    """
    queue = [*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in OUTSIDE)]
    seen = set(queue)
    while queue:
        source = queue.pop(0)
        yield source
        for target in targets(source):
            if target.suffix == ".md" and target not in seen:
                seen.add(target)
                queue.append(target)
            elif target.is_file() and target.suffix != ".md":
                copy = folder / place(target)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(target, copy)


def targets(source: Path) -> Iterator[Path]:
    """Yield the files to which a page links; for a folder its README.md, or else the files in
    it.
    """
    for prose in FENCE.split(source.read_text(encoding="utf-8"))[::2]:
        for match in LINK.finditer(prose):
            yield from files_of((source.parent / match[1]).resolve())


def files_of(target: Path) -> list[Path]:
    if target.is_dir():
        readme = target / "README.md"
        return (
            [readme]
            if readme.exists()
            else sorted(file for file in target.iterdir() if file.is_file())
        )
    return [target]


def relinked(source: Path, folder: Path) -> str:
    """Return a page's text with its links as they are in the site."""

    def site_link(match: re.Match[str]) -> str:
        target = (source.parent / match[1]).resolve()
        if not target.exists():
            raise SiteError(f"{source.relative_to(ROOT)} links to {match[1]}, which does not exist")
        if target.is_dir():
            target = (
                files_of(target)[0] if (target / "README.md").exists() else listing(target, folder)
            )
        there = os.path.relpath(place(target), Path(place(source)).parent)
        return Path(there).as_posix() + (match[2] or "")

    parts = FENCE.split(source.read_text(encoding="utf-8"))
    parts[::2] = [LINK.sub(site_link, prose) for prose in parts[::2]]
    return "".join(parts)


def with_outputs(text: str, notebook: Path, folder: Path) -> str:
    """Return a page with the pictures and tables that its notebook has: each follows the code
    that makes it.
    """
    cells = iter(json.loads(notebook.read_text(encoding="utf-8"))["cells"])
    name, parts = (
        notebook.stem,
        re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL),
    )
    for i in range(1, len(parts), 2):
        shown = []
        for _ in make_notebook.sources(parts[i]):
            cell = next(cell for cell in cells if cell["cell_type"] == "code")
            for output in cell["outputs"]:
                data = output.get("data", {})
                if "image/png" in data:
                    picture = folder / "_made" / name / f"{cell['id']}.png"
                    picture.parent.mkdir(parents=True, exist_ok=True)
                    picture.write_bytes(b64decode(data["image/png"]))
                    shown.append(figure(name, picture.name, "The plot that this code draws"))
                elif "text/html" in data:
                    shown.append("```{raw} html\n" + "".join(data["text/html"]) + "\n```\n")
        code = parts[i].replace(make_notebook.SKIPPED, "")
        parts[i] = "\n".join([f"```python\n{code}```\n", *shown])
    return "".join(parts)


def listing(target: Path, folder: Path) -> Path:
    """Return one text file that has all files of a folder, which a page links to as a whole."""
    text = "\n\n".join(
        f"{'#' * 8} {file.relative_to(ROOT).as_posix()}\n\n{file.read_text(encoding='utf-8')}"
        for file in files_of(target)
    )
    made = target.with_name(target.name + ".txt")
    copy = folder / place(made)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")
    return made


def navigation(pages: list[str]) -> dict[str, str]:
    """Return the tables of contents to add to pages: the whole navigation to the first, and the
    pages below a page.

    Raises
    ------
    SiteError
        The navigation names a page that does not exist, or has no place for a page.
    """
    below = {
        page: parent
        for page in pages
        for start, parent in PARENTS.items()
        if page.startswith(start)
    }
    below = {page: parent for page, parent in below.items() if page != parent}
    named = {name for names in NAVIGATION.values() for name in names}
    free = [page for page in pages if page not in named and page not in below and page != "index"]
    toctrees = []
    for caption, names in NAVIGATION.items():
        entries = []
        for name in names:
            if "*" not in name and name not in pages:
                raise SiteError(f"NAVIGATION of docs/site/build.py names {name}, which is no page")
            found = [page for page in free if matches(page, name)]
            free = [page for page in free if page not in found]
            entries += found if "*" in name else [name]
        toctrees.append(toctree(entries, caption))
    if free:
        raise SiteError(
            f"no section of NAVIGATION in docs/site/build.py has a place for {', '.join(free)}"
        )
    made = {"index": "\n".join(toctrees)}
    for parent in dict.fromkeys(below.values()):
        made[parent] = toctree([f"/{page}" for page in below if below[page] == parent])
    return made


def matches(page: str, pattern: str) -> bool:
    """Return whether a page is one of a pattern: `*` is for the pages in no folder, `FOLDER/*`
    for all below it.
    """
    return fnmatchcase(page, pattern) and ("/" in pattern or "/" not in page)


def toctree(entries: list[str], caption: str = "") -> str:
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return "```{toctree}\n" + options + "\n" + "".join(f"{entry}\n" for entry in entries) + "```\n"


def executed(text: str, name: str, folder: Path) -> str:
    """Return a page with the output of its commands. They run in order, in a folder of the
    page's own.
    """
    if not BLOCK.search(text):
        return text
    with tempfile.TemporaryDirectory() as work:
        Path(work, "docs").mkdir()
        shutil.copytree(DOCS / "examples", Path(work, "docs", "examples"))
        with chdir(work):
            makers: dict[str, Callable[[str, str, Path], str]] = {
                "run": shown,
                "made": made,
                "explained": explained,
            }
            # What shows a file may be above the command that writes it.
            blocks = sorted(BLOCK.finditer(text), key=lambda match: match[1] == "made")
            results = {match.start(): makers[match[1]](match[2], name, folder) for match in blocks}
            return BLOCK.sub(lambda match: results[match.start()], text)


def explained(block: str, name: str, folder: Path) -> str:
    """Return the view of a question that `DATA QUESTION SOLVER` names; a learner learns from all
    of DATA.
    """
    from classic_rc import load, parse_solver
    from classic_rc.reports.explanations import question_values
    from classic_rc.reports.html import question_cell
    from classic_rc.running.plan import add_span_candidates

    del name, folder
    data, question, spec = shlex.split(block)
    dataset = add_span_candidates(load(data))
    # spans in memory
    asked = replace(dataset.by_id[question], candidates=dataset.by_id[question].candidates[:])
    explanation = parse_solver(spec).fit_for(dataset, dataset).explain(asked)
    return f"```{{raw}} html\n{question_cell(question_values(explanation))}\n```\n"


def shown(block: str, name: str, folder: Path) -> str:
    """Return the commands of a block, each with what it prints."""
    del folder
    parts = []
    for command in block.splitlines():
        printed = output_once(command, name)
        parts.append(f"~~~~console\n$ {command}\n~~~~\n")
        if printed:
            parts.append(f"~~~~text\n{printed}\n~~~~\n")
    return "\n".join(parts)


OUTPUTS: dict[tuple[str, tuple[tuple[str, bytes], ...]], tuple[str, dict[str, bytes]]] = {}
"""What each command printed and the files that it wrote, by the files that were there before."""


def output_once(command: str, name: str) -> str:
    """Return what a command prints, and leave what it writes. Several pages show the same."""
    before = contents()
    key = command, tuple(before.items())
    if key not in OUTPUTS:
        printed = output(command, name)
        after = contents()
        OUTPUTS[key] = printed, dict(after.items() - before.items())
        return printed
    printed, written = OUTPUTS[key]
    for file, data in written.items():
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(data)
    return printed


def contents() -> dict[str, bytes]:
    """Return the files of the working folder."""
    return {str(file): file.read_bytes() for file in sorted(Path().rglob("*")) if file.is_file()}


def output(command: str, name: str) -> str:
    """Return what a command prints, notes included.

    Raises
    ------
    SiteError
        It fails.
    """
    from classic_rc.cli.main import main

    program, *arguments = shlex.split(command)
    if program != "classic-rc":
        raise SiteError(f"{name}: a block {{run}} has commands of classic-rc only, not {command!r}")
    gc.freeze()  # each command searches for garbage: only in what came since the last one
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code  # type: ignore[assignment]
    printed.seek(0)
    text = printed.read().replace(str(Path.cwd()) + os.sep, "").rstrip()
    if code:
        raise SiteError(f"{name}: {command} ends with {code}:\n{text}")
    return text


def made(block: str, name: str, folder: Path) -> str:
    """Return what shows files that commands wrote: images, web pages, and other files as text."""
    parts = []
    for line in block.splitlines():
        file, _, title = line.partition(": ")
        copy = folder / "_made" / name / Path(file).name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        up = "../" * name.count("/")
        if copy.suffix in (".svg", ".png"):
            parts.append(figure(name, copy.name, title))
        elif copy.suffix == ".html":
            address = escape(f"{up}{name}/{copy.name}")
            parts.append(
                f'<p><a href="{address}">{escape(title)}</a> (the page itself):</p>\n'
                f'<iframe class="made" src="{address}" title="{escape(title)}" '
                'loading="lazy"></iframe>\n'
            )
        else:
            parts.append(
                f"{title}:\n\n~~~~text\n{copy.read_text(encoding='utf-8').rstrip()}\n~~~~\n"
            )
    return "\n".join(parts)


def figure(name: str, file: str, title: str) -> str:
    """Return what shows a picture that was made for a page."""
    up = "../" * name.count("/")
    return f"```{{figure}} {up}_made/{name}/{file}\n:alt: {title}\n\n{title}\n```\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the site into a folder.")
    parser.add_argument(
        "-o", dest="folder", default=str(ROOT / "build" / "site"), help="default: build/site"
    )
    site = Path(parser.parse_args(arguments).folder).resolve()
    os.environ |= {"COLUMNS": "80", "PYTHONPATH": str(ROOT)}
    from sphinx.cmd.build import build_main

    gc.disable()  # it was a fifth of the build, which needs half a gigabyte without it
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "source")
        folder.mkdir()
        try:
            stage(folder)
        except SiteError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        print(f"staged in {time.monotonic() - began:.0f} s")
        site.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{site.name}-", dir=site.parent))
        folders = ["-d", str(Path(temporary, "doctrees")), str(folder), str(staging / "new")]
        # Warnings are errors, and all of them are listed.
        failed = build_main(["-q", "-n", "-W", "--keep-going", *folders])
    problems = [] if failed else links.problems(staging / "new")
    for problem in problems:
        print(problem, file=sys.stderr)
    # the site is the last complete one until the new one is complete
    if not (failed or problems):
        if site.exists():
            site.rename(staging / "old")
        (staging / "new").rename(site)
        print(
            f"{site}: {len(list(site.rglob('*.html')))} pages in {time.monotonic() - began:.0f} s"
        )
    shutil.rmtree(staging)
    return failed or bool(problems)


if __name__ == "__main__":
    sys.exit(main())
