"""The declarations of parameters that several solvers have."""

from __future__ import annotations

from collections.abc import Mapping

from classic_rc.parameters import Parameter, is_integer, is_number, parameter
from classic_rc.text.analyzers import STOP_LISTS, get_analyzer, stop_list_signature

STOP_LIST_KEY = "stop="
"""What comes before the name of a stop list in the text of an analyzer."""

STOP_WORDS = parameter(
    "smart",
    "the name of a stop list, or a file",
    allowed=tuple(STOP_LISTS),
    is_file=True,
    fits=lambda value: True,  # the parser of the list names the nearest one in its error
    signed=lambda value: stop_list_signature(value) if isinstance(value, str) else value,
)
ANALYZER = parameter(
    "word",
    "the analyzer that turns texts into words",
    also="a name or an Analyzer",
    inner=(STOP_LIST_KEY, STOP_WORDS),
    signed=lambda value: get_analyzer(value).signature,
)
DECISION = parameter(
    None,
    "the rule that turns scores into answers; None is the task's default: the best candidate with "
    "partial credit for ties, or a tuned threshold if several candidates may be right",
    also="a Decision or None",
)
SPAN_DECISION = DECISION.but(
    help="the rule that turns scores into answers; None selects the best span, and ties get "
    "partial credit"
)
SEED = parameter(0, "the seed of random draws", also="a whole number", fits=is_integer)
REGULARISATION = parameter(
    1.0,
    "the inverse strength of the regularisation",
    also="a positive number",
    fits=lambda value: is_number(value) and value > 0,
)
UNIT = parameter(
    "characters",
    "the unit of length; words are separated by whitespace",
    allowed=("characters", "words"),
)
ANNOTATIONS = parameter(
    None, "an annotation file, used instead of raw text", allowed=(None,), is_file=True
)
CATEGORIES = parameter(None, "a folder of question categories", allowed=(None,), is_file=True)
WORDNET = parameter(
    None,
    "the folder of a WordNet database; 'auto' searches the usual places",
    allowed=(None, "auto"),
    is_file=True,
)
PATH = parameter("", "the path of a file", is_file=True)
CORPUS = parameter(
    "passage",
    "the source of the texts",
    allowed=("passage", "paragraphs", "passages", "queries"),
    is_file=True,
    joined_by="+",
    is_list=True,
)

SHARED_PARAMETERS: Mapping[str, Parameter] = {
    "analyzer": ANALYZER,
    "decision": DECISION,
    "stop_words": STOP_WORDS,
    "annotations": ANNOTATIONS,
    "categories": CATEGORIES,
    "wordnet": WORDNET,
    "path": PATH,
    "corpus": CORPUS,
}
"""Declarations by parameter name, for users' solvers that do not declare a parameter themselves."""
