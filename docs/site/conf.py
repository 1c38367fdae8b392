"""How Sphinx makes the site; `python docs/site/build.py` stages the pages and calls it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from classic_rc._version import __version__

project, author, release = "classic_rc", "The classic_rc developers", __version__
html_title = f"classic_rc {release}"
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_made"]
templates_path: list[str] = []
template_bridge = "bridge.Templates"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links to headings are those of GitHub
highlight_language = "text"
smartquotes = (
    False  # quotation marks are typed as they are meant, and this took a twentieth of the build
)

nitpicky = True
# Docstrings name types in words ("ndarray of float64") and private modules; that the names in their
# roles exist is tested in tests/docs/test_references.py.
nitpick_ignore_regex = [(r"py:.*", r".*")]
suppress_warnings = ["ref.python", "myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_use_type_comments = False
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_use_rtype = False

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
    """Write formulas as MathML, which browsers show without a script, and make once what pages
    share.
    """
    from docutils.nodes import SkipNode
    from docutils.utils.math.latex2mathml import tex2mathml
    from quick import hasten
    from sphinx.environment.adapters.toctree import global_toctree_for_doc

    def inline(writer: Any, node: Any) -> None:
        writer.body.append(tex2mathml(node.astext()))
        raise SkipNode

    def block(writer: Any, node: Any) -> None:
        writer.body.append(
            '<div class="formula" tabindex="0" role="group" aria-label="Formula">'
            f"{tex2mathml(node.astext(), as_block=True)}</div>\n"
        )
        raise SkipNode

    @cache
    def whole_navigation() -> str:
        options: dict[str, Any] = {
            "collapse": False,
            "titles_only": True,
            "maxdepth": -1,
            "includehidden": True,
        }
        nodes = global_toctree_for_doc(app.env, "index", app.builder, tags=app.tags, **options)
        fragment: str = app.builder.render_partial(nodes)["fragment"]
        return fragment

    def same_navigation(
        app: Any, page: str, template: str, context: dict[str, Any], tree: Any
    ) -> None:
        # The theme asks for the navigation of each page and parses it: 40 % of the build. So all
        # get the same one.
        context["toctree"] = lambda **options: whole_navigation()

    def own_navigation(
        app: Any, page: str, template: str, context: dict[str, Any], tree: Any
    ) -> None:
        # Then a page gets it with links from its folder, and with itself and its parent marked.
        found = context["furo_navigation_tree"]
        for name, mark in ((page, "current current-page "), (page.rpartition("/")[0], "current ")):
            address = re.escape(quote(name)) + r"\.html"
            item = rf'<li class="([^"]*"><a class=")([^"]*" href="{address}">[^<]*</a>(?:<input)?)'
            opened = ' checked=""' if name != page else ""
            found = re.sub(item, rf'<li class="{mark}\1current \2{opened}', found)
        context["furo_navigation_tree"] = re.sub(
            r' href="(?![\w+]+:|#)', f' href="{"../" * page.count("/")}', found
        )

    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("html-page-context", same_navigation, priority=400)
    app.connect("html-page-context", own_navigation, priority=600)
    hasten(app)
