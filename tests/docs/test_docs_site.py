"""The site: its links, the staged pages, and what its generated pages have. `.ci/docs` builds
the whole of it.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from classic_rc.cli.registry import COMMANDS
from classic_rc.solvers.registry import SOLVER_ENTRIES

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def build():
    before = list(sys.path)
    spec = importlib.util.spec_from_file_location("site_build", DOCS / "site" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before


@pytest.fixture(scope="module")
def generated(build):
    return build.generated.pages()


def test_every_command_has_a_page_with_output_and_options():
    assert {page.stem for page in (DOCS / "commands").glob("*.md")} == set(COMMANDS)
    for name in COMMANDS:
        text = (DOCS / "commands" / f"{name}.md").read_text(encoding="utf-8")
        runs = "".join(
            re.findall(r"^```\{run\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        ).splitlines()
        assert f"classic-rc {name} --help" in runs
        assert len(runs) > 1


@pytest.mark.parametrize("name", SOLVER_ENTRIES)
def test_every_solver_has_a_page_with_formula_parameters_and_references(name, generated):
    page = generated[f"solvers/{name}"]
    assert ".. math::" in page.partition("## Formula\n")[2].partition("## Parameters\n")[0]
    assert "| `decision` |" in page
    assert f"classic-rc list --bibtex {name}\n" in page


def test_published_figures_are_on_the_page_of_their_solver(generated):
    assert "| `sw+d:mctest500` |" in generated["solvers/sw+d"]
    assert "| SW | RACE" in generated["solvers/sliding-window"]
    assert "Published figures" not in generated["solvers/longest"]


def test_a_page_without_a_place_is_an_error(build):
    pages = [name for names in build.NAVIGATION.values() for name in names if "*" not in name]
    navigation = build.navigation([*pages, "index", "new", "assignments/one/README", "solvers/sw"])
    assert "\nnew\n" in navigation["index"]
    assert "\nassignments/one/README\n" in navigation["index"]
    assert "\n/solvers/sw\n" in navigation["solvers"]
    with pytest.raises(build.SiteError, match="place for lost/page"):
        build.navigation([*pages, "index", "lost/page"])
    with pytest.raises(build.SiteError, match="names start"):
        build.navigation([page for page in pages if page != "start"])


def test_links_lead_to_places_in_the_site(build, tmp_path):
    readme = build.relinked(DOCS.parent / "README.md", tmp_path)  # of the site's folder project/
    assert "](CHANGELOG.md)" in readme
    assert "](../usage.md)" in readme
    tour = build.relinked(DOCS / "tour.md", tmp_path)
    assert "](project/classic_rc/kernels/reference.txt)" in tour
    text = (tmp_path / "project/classic_rc/kernels/reference.txt").read_text(encoding="utf-8")
    assert "classic_rc/kernels/reference/window.py" in text


def test_the_tour_shows_what_its_notebook_shows(build, tmp_path):
    text = build.with_outputs(
        build.relinked(DOCS / "tour.md", tmp_path), DOCS / "tour.ipynb", tmp_path
    )
    pictures = re.findall(r"plt.legend.*\n\n```\n\n```\{figure\} (\S+)|```\{figure\} (\S+)", text)
    files = ["".join(names) for names in pictures]
    assert [bool(first) for first, _ in pictures] == [True, False]
    assert all((tmp_path / file).read_bytes().startswith(b"\x89PNG") for file in files)
    assert ">>> evaluation\n\n```\n\n```{raw} html\n<table" in text


def test_a_block_of_commands_has_their_output(build, tmp_path):
    page = "# A page\n\n```{run}\nclassic-rc list metrics\n```\n"
    text = build.executed(page, "page", tmp_path)
    assert text.startswith("# A page\n\n~~~~console\n$ classic-rc list metrics\n~~~~\n\n~~~~text\n")
    assert "accuracy" in text
    with pytest.raises(build.SiteError, match="ends with 2"):
        build.executed("```{run}\nclassic-rc list nothing\n```", "page", tmp_path)
    with pytest.raises(build.SiteError, match="commands of classic-rc only"):
        build.executed("```{run}\nls\n```", "page", tmp_path)


def test_files_that_commands_write_are_shown(build, tmp_path):
    commands = "classic-rc run sample:single-choice -s longest --format csv -o table.csv"
    page = f"```{{run}}\n{commands}\n```\n\n```{{made}}\ntable.csv: A table\n```\n"
    text = build.executed(page, "folder/page", tmp_path)
    assert (tmp_path / "_made/folder/page/table.csv").read_text(encoding="utf-8").strip() in text


def test_what_is_wrong_with_a_site_is_found(build, tmp_path):
    (tmp_path / "fine.html").write_text(
        '<h1 id="top"></h1><a href="#top"></a><a href="bad.html#there"></a><a '
        'href="https://example.org"></a><img src="data:image/png;base64,AA=="><link '
        'rel="canonical" href="https://example.org/">',
        encoding="utf-8",
    )
    (tmp_path / "bad.html").write_text(
        '<p id="there"></p><a href="gone.html"></a><a href="fine.html#gone"></a>'
        '<script src="https://example.org/a.js"></script><style>@import '
        '"https://example.org/a.css";</style>',
        encoding="utf-8",
    )
    (tmp_path / "site.css").write_text(
        "a { background: url(//example.org/a.png) }", encoding="utf-8"
    )
    assert build.links.problems(tmp_path) == [
        "bad.html: fine.html#gone leads to no anchor",
        "bad.html: gone.html leads to no file",
        "bad.html: https://example.org/a.css is loaded from outside the site",
        "bad.html: https://example.org/a.js is loaded from outside the site",
        "site.css: //example.org/a.png is loaded from outside the site",
    ]


def test_headings_landmarks_and_what_scrolls_can_be_reached(build):
    from reachable import reachable

    lines = "line\n" * 30
    page = (
        '<p class="caption" role="heading">Data</p><aside class="sidebar-drawer"></aside>'
        f'<aside class="toc-drawer no-toc"></aside><pre>short</pre><pre>{"long " * 20}</pre>'
        f'<pre>{lines}</pre><div class="table-wrapper docutils"></div>'
    )
    tags = re.findall(r"<(?:p|aside|pre|div)[^>]*>", reachable(page))
    assert [("aria-label" in tag, "tabindex" in tag) for tag in tags] == [
        (False, False),
        (True, False),
        (True, False),
        (False, False),
        *[(True, True)] * 3,
    ]
    assert 'aria-level="2"' in tags[0]


def test_a_command_of_several_pages_runs_once(build, tmp_path, monkeypatch):
    commands: list[str] = []
    output = build.output
    monkeypatch.setattr(build, "output", lambda *what: commands.append(what[0]) or output(*what))
    command = "classic-rc run sample:single-choice -s shortest --format csv -o table.csv"
    block = f"```{{run}}\n{command}\n```\n\n```{{made}}\ntable.csv: A table\n```\n"
    texts = [build.executed(block, name, tmp_path) for name in ("first", "second")]
    assert texts[0] == texts[1]
    assert commands == [command]
    build.executed(f"```{{run}}\nclassic-rc list metrics -o other\n{command}\n```", "", tmp_path)
    assert commands[1:] == ["classic-rc list metrics -o other", command]  # not the same folder
