"""What Sphinx does more than once, or for other outputs than these pages; none of it changes a
page.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from docutils import frontend
from docutils.nodes import Element, Node, Text
from docutils.statemachine import StateMachine
from docutils.utils import Reporter
from myst_parser.mdit_to_docutils import base as myst
from sphinx.builders import Builder
from sphinx.domains.python import PythonDomain
from sphinx.pycode.parser import Parser
from sphinx.search.en import SearchEnglish

NOT_FOR_THESE_PAGES = re.compile(
    r"sphinx\.(builders\.latex|domains\.c(pp)?)\.|sphinx\.transforms\.i18n\.(?!Preserve|Remove)"
)
"""The passes over each page that look for what no page has: C, LaTeX, translations."""


made_kinds: set[type] = {Text}
"""The classes of all nodes on the pages read so far."""

make_element = Element.__init__


def note_kind(node: Element, *text: Any, **attributes: Any) -> None:
    made_kinds.add(type(node))
    make_element(node, *text, **attributes)


@cache
def is_made(kind: type, n_kinds: int) -> bool:
    return any(issubclass(made, kind) for made in made_kinds)


def descendants(node: Node, kind: type) -> Iterator[Node]:
    """Yield a node and what is below it, in order, that is of a kind, without a generator for
    each level, and without a search for what no page has.
    """
    rest = [node] if is_made(kind, len(made_kinds)) else []
    while rest:
        node = rest.pop()
        if isinstance(node, kind):
            yield node
        if node.children:
            rest += node.children[::-1]


class States(dict[str, Any]):
    """The states of docutils' parser. A state is made when the parser first enters it.

    A new parser starts for each list and field, and most enter two states of fifteen.
    """

    def __init__(self, machine: StateMachine, classes: Iterable[type]) -> None:
        self._machine, self._classes = machine, {kind.__name__: kind for kind in classes}

    def __missing__(self, name: str) -> Any:
        state = self[name] = self._classes[name](self._machine, self._machine.debug)
        if hasattr(self._machine, "memo"):  # it runs
            state.runtime_init()
        return state


def add_states(machine: StateMachine, classes: Iterable[type]) -> None:
    machine.states = States(machine, classes)


@cache
def last_names(domain: PythonDomain, n_names: int) -> frozenset[str]:
    """Return the last part of each documented name."""
    return frozenset(name.rpartition(".")[2] for name in domain.objects)


def hasten(app: Any) -> None:
    """Make Sphinx quick."""
    # its notes are below the level that a build shows
    logging.getLogger("sphinx").setLevel(logging.WARNING)
    for passes in (app.registry.transforms, app.registry.post_transforms):
        passes[:] = [
            transform
            for transform in passes
            if not NOT_FOR_THESE_PAGES.match(f"{transform.__module__}.{transform.__name__}")
        ]

    find_obj = cache(PythonDomain.find_obj)

    def find_documented(
        domain: PythonDomain, env: Any, module: str, class_name: str, name: str, *how: Any
    ) -> list[Any]:
        # most names are words of numpydoc's types: a search through all names for each
        is_documented = name.removesuffix("()").rpartition(".")[2] in last_names(
            domain, len(domain.objects)
        )
        return find_obj(domain, env, module, class_name, name, *how) if is_documented else []

    default_settings, write_doctree = cache(frontend.get_default_settings), Builder.write_doctree

    def keep_doctree(builder: Builder, page: str, doctree: Any, **how: Any) -> None:
        if page == builder.config.root_doc:  # each page's navigation is read from its file
            write_doctree(builder, page, doctree, **how)
        else:  # one process reads and writes it
            doctree.reporter = doctree.transformer = None
            builder.env._write_doc_doctree_cache[page] = doctree

    for owner, name, quick in (
        (Builder, "write_doctree", keep_doctree),
        (Element, "__init__", note_kind),
        (Node, "_fast_findall", descendants),
        (Parser, "parse_definition", lambda parser: None),  # lines, for links to sources
        (PythonDomain, "find_obj", find_documented),
        (Reporter, "debug", lambda *what, **where: None),
        (SearchEnglish, "stem", cache(SearchEnglish.stem)),
        (StateMachine, "add_states", add_states),
        (myst, "get_default_settings", lambda *parsers: default_settings(*parsers).copy()),
    ):
        setattr(owner, name, quick)
