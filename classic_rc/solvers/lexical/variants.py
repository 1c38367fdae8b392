"""The published variants of the lexical matcher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from classic_rc.decisions import Argmax
from classic_rc.solvers.base import Variant

_CITATION = "Smith, Greco, Bosnjak and Vlachos 2015, and the released code, scores and Results.md"

_RELEASED = {
    "analyzer": "treebank",
    "stop_words": "mctest",
    "bugs": "all",
    "decision": Argmax(ties="partial"),
}
_FULL = {**_RELEASED, "normaliser": "lemma", "coreference": "rules"}
_BASE = {**_RELEASED, "normaliser": "none", "negation": False}

_FULL_TEXT = (
    "the full system without RTE from CoreNLP's annotation (annotations=FILE) and the question categories "
    "(categories=FOLDER), mistakes included"
)
_BASE_TEXT = (
    "the base system, ImpSW+D, from raw text: nltk's Treebank tokens and our sentences for CoreNLP's, mistakes "
    "included; negation=True and normaliser=porter add what raw text allows of the rest"
)


def _both(params: Mapping[str, Any], text: str, suffix: str) -> dict[str, Variant]:
    return {
        f"smith2015{suffix}": Variant({**params, "weights": "mc160"}, f"{text}; MC160's weights", _CITATION),
        f"smith2015{suffix}-mc500": Variant({**params, "weights": "mc500"}, f"{text}; MC500's weights", _CITATION),
    }


LEXICAL_VARIANTS = {**_both(_FULL, _FULL_TEXT, ""), **_both(_BASE, _BASE_TEXT, "-raw")}
