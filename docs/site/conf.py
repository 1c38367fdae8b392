"""How Sphinx makes the site; `python docs/site/build.py` stages the pages and calls it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from classic_rc._version import __version__

project, author, release = "classic_rc", "The classic_rc developers", __version__
html_title = f"classic_rc {release}"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_made"]
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links to headings are those of GitHub
highlight_language = "text"
smartquotes = False  # quotation marks are typed as they are meant, and this took a twentieth of the build

nitpicky = True
# Docstrings name types in words ("ndarray of float64") and private modules; that the names in their roles exist is
# tested in tests/docs/test_references.py.
nitpick_ignore_regex = [(r"py:.*", r".*")]
suppress_warnings = ["ref.python", "myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_use_type_comments = False
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_rtype = False
viewcode_line_numbers = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["explained.css", "site.css"]
html_js_files = ["copy.js"]
html_search_scorer = str(Path(__file__).parent / "_static" / "search.js")
html_extra_path = ["_made"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5394", "color-brand-content": "#0b5394"},
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}


def setup(app: Any) -> None:
    """Write formulas as MathML, which browsers show without a script, and show the sources of algorithms only."""
    from docutils.nodes import SkipNode
    from docutils.utils.math.latex2mathml import tex2mathml
    from sphinx.environment.adapters.toctree import global_toctree_for_doc

    def inline(writer: Any, node: Any) -> None:
        writer.body.append(tex2mathml(node.astext()))
        raise SkipNode

    def block(writer: Any, node: Any) -> None:
        writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
        raise SkipNode

    def without_links_back(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
        # viewcode expects all names of a module on the page of one package, and other links lead nowhere.
        if page.startswith("_modules/"):
            context["body"] = re.sub(r'<a class="viewcode-back".*?</a>', "", context.get("body", ""))

    whole: list[str] = []

    def navigation(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
        # The theme asks for the whole navigation on each page: a third of the build. Here it is made once, and
        # a page gets it with links from its folder, and with itself and its parent marked.
        def adapted(**options: Any) -> str:
            if not whole:
                nodes = global_toctree_for_doc(app.env, "index", app.builder, tags=app.tags, **options)
                whole.append(app.builder.render_partial(nodes)["fragment"])
            found = whole[0]
            for name in (page, page.rpartition("/")[0]):
                for item in re.findall(f'<li class="[^"]*"><a class="[^"]*" href="{re.escape(name)}.html">', found):
                    found = found.replace(item, item.replace('class="', 'class="current '))
            return re.sub(r' href="(?!\w+:)', f' href="{"../" * page.count("/")}', found)

        context["toctree"] = adapted

    def source(app: Any, module: str) -> tuple[str, dict[str, Any]] | None:
        # Sources are for reading the algorithms; those of all modules would double the time of the build.
        return None if module.startswith(("classic_rc.kernels", "classic_rc.solvers")) else ("", {})

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("html-page-context", without_links_back)
    app.connect("html-page-context", navigation, priority=400)
    app.connect("viewcode-find-source", source)
