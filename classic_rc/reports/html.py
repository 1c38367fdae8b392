"""HTML from Jinja2 templates: documents that load nothing else, with all text escaped.

Every value is escaped automatically, except markup made in this module. Jinja2 loads when the
first page is made.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from classic_rc.io.text import printable
from classic_rc.tables.markup import html_lines
from classic_rc.tables.model import format_count

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_BAR = 60
"""The length of the longest bar, in pixels."""

_CACHED_TEXTS = 2**14

CHOICES = 40
"""How many candidates of an explained question can be chosen: the style sheet has this many
rules.
"""


def fill_template(name: str, package: str | None = None, /, **values: Any) -> str:
    """Fill in a template of a package; text is escaped, and the same values always give the same
    HTML.

    A document may have a `script` with its `data`, and an `own_style` after that of all.
    """
    template = template_environment().get_template(f"{package}/{name}" if package else name)
    return template.render(values)


@cache
def template_environment() -> Environment:
    """Return the Jinja2 environment with our filters; ``style`` is a global name in it."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    @lru_cache(_CACHED_TEXTS)
    def escape(text: str) -> Markup:
        return Markup(escape_html(text))

    templates = Environment(
        loader=FunctionLoader(_read_template),
        autoescape=True,
        undefined=StrictUndefined,
        # Jinja2's own escaping comes after this and changes nothing. By itself it would not escape
        # control characters.
        finalize=lambda value: value if isinstance(value, Markup) else escape(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    templates.filters |= {
        "count": format_count,
        "breakable": lambda text, at: Markup(insert_break_points(text, at)),
        "json": lambda value: Markup(json_for_script(value)),
        "brief": partial(format_number, digits=3),
        "number": format_number,
        "rows": lambda table: Markup("\n".join(html_lines(table, _classes))),
        "sha256": _sha256,
        "short": "{:g}".format,
        "thousands": "{:,}".format,
    }
    explained, document = map(_read_template, ("explained.css", "document.css"))
    chosen_rules = ", ".join(
        f".explained:has(.r{number}:checked) .k{number}" for number in range(CHOICES)
    )
    explained = explained.replace(".when-chosen", chosen_rules)
    styles = {"explained_style": explained, "style": explained + document}
    templates.globals |= {key: Markup(text) for key, text in styles.items()}
    return templates


def _read_template(name: str) -> str:
    """Return the text of a template: ``FILE`` of this package, or ``PACKAGE/FILE``."""
    package, _, file = name.rpartition("/")
    return (files(package or "classic_rc.reports") / "templates" / file).read_text(encoding="utf-8")


def question_cell(values: dict[str, Any]) -> str:
    """Return a question as a part of a page, whose style sheet must have :func:`question_style`."""
    return str(template_environment().get_template("explained.html").module.cell(values))  # type: ignore[attr-defined]


def question_style() -> str:
    """Return the style sheet of an explained question."""
    return str(template_environment().globals["explained_style"])


def _classes(*looks: str) -> str:
    return f' class="{" ".join(looks)}"' if looks else ""


def escape_html(text: str) -> str:
    r"""Escape text for an element or a quoted attribute; control characters become visible, line
    breaks stay.

    Examples
    --------
    >>> escape_html('<b title="x">\x1b')
    '&lt;b title=&quot;x&quot;&gt;\\x1b'
    """
    return html.escape(printable(text, keep="\t\n"))


def safe_markup(text: str) -> Markup:
    """Return HTML of our own making that a template writes as it is; texts in it must be
    escaped.
    """
    from markupsafe import Markup

    return Markup(text)


def insert_break_points(text: str, at: str) -> str:
    """Escape text, and allow a line break after the first character of each `at`.

    Examples
    --------
    >>> insert_break_points("a|b", "|"), insert_break_points("1 [0, 2]", " [")
    ('a|<wbr>b', '1 <wbr>[0, 2]')
    """
    return escape_html(text).replace(at, f"{at[0]}<wbr>{at[1:]}")


def json_for_script(value: Any) -> str:
    r"""Return JSON that is safe in a ``<script type="application/json">``, whatever texts it holds.

    The JSON is ASCII and has no ``<``, which could begin ``</script>`` or ``<!--``.

    Examples
    --------
    >>> print(json_for_script(["</script>", "caf\u00e9"]))
    ["\u003c/script>","caf\u00e9"]
    """
    compact = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return compact.replace("<", "\\u003c")  # JSON has "<" only in strings


def format_number(value: float, digits: int = 5) -> str:
    """Format a number with this many significant digits, or all before the point, and a proper
    minus sign.

    Examples
    --------
    >>> format_number(-12.3456789), format_number(1234.5, 3), format_number(float("-inf"))
    ('−12.346', '1234', '−∞')
    """
    n_digits = max(digits, min(15, len(f"{abs(value):.0f}")))
    digits_text = f"{abs(value):.{n_digits}g}" if math.isfinite(value) else "∞"
    return f"−{digits_text}" if value < 0 else digits_text


class SignedBar(NamedTuple):
    """A bar to the right of zero, or to the left for a negative number; in pixels."""

    sign: str  # "plus" or "minus"
    start: int  # where it begins, from the left end of the longest negative bar
    length: int

    @classmethod
    def of(cls, value: float, largest: float) -> SignedBar:
        """Return the bar of a number; `largest` is the largest magnitude in the same chart."""
        # A value that is NaN, or a chart whose largest value is infinite, gets no bar.
        length = 0
        if 0 < largest < float("inf") and value == value:
            length = round(min(abs(value) / largest, 1) * _BAR)
        return cls("minus", _BAR - length, length) if value < 0 else cls("plus", _BAR, length)


def _sha256(content: str) -> str:
    """Return the hash of a content in the form of a content security policy."""
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
