"""The lexical solver: the strong lexical matcher of Smith et al. 2015."""

from __future__ import annotations

from classic_rc.solvers.lexical.solver import LexicalMatcher

__all__ = ["LexicalMatcher"]
