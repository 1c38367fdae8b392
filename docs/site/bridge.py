"""How Sphinx renders a page: as the theme does, then mended by `reachable.py`."""

from __future__ import annotations

from typing import Any

from reachable import reachable
from sphinx.jinja2glue import BuiltinTemplateLoader


class Templates(BuiltinTemplateLoader):
    """The templates of Sphinx and the theme."""

    def render(self, template: str, context: dict[str, Any]) -> Any:
        """Render a template."""
        return reachable(super().render(template, context))
