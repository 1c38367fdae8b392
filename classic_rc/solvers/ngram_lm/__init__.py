"""The ngram-lm solver: n-gram language models."""

from __future__ import annotations

from classic_rc.solvers.ngram_lm.solver import NGramLM

__all__ = ["NGramLM"]
