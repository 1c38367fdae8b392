"""The fixed rules of an audit, by what they read: each is a named score of options, learned from nothing."""

from __future__ import annotations

from collections.abc import Iterator

from classic_rc.audit.options import OptionTable
from classic_rc.audit.rules.characters import CHARACTER_RULES
from classic_rc.audit.rules.fields import field_rules
from classic_rc.audit.rules.frequent import constant_option_rules, frequent_rules
from classic_rc.audit.rules.numbers import NUMBER_RULES
from classic_rc.audit.rules.other_questions import REUSE_RULES, order_rules, position_rules
from classic_rc.audit.rules.partial_input import PartialInput
from classic_rc.audit.rules.question_passage import PASSAGE_RULES, QUESTION_RULES
from classic_rc.audit.rules.similarity import SIMILARITY_RULES
from classic_rc.audit.rules.wording import WORDING_RULES

TEXT_RULES: tuple[PartialInput, ...] = (*WORDING_RULES, *CHARACTER_RULES, *NUMBER_RULES, *SIMILARITY_RULES)
"""The rules that read nothing but the options of one question."""

CONTEXT_RULES: tuple[PartialInput, ...] = (*REUSE_RULES, *QUESTION_RULES, *PASSAGE_RULES)
"""The rules that also read other questions, the question, or the passage."""


def rules_of_table(table: OptionTable) -> Iterator[PartialInput]:
    """Yield the rules that depend on the data: frequent words and characters, positions, answers before, fields."""
    yield from frequent_rules(table)
    yield from constant_option_rules(table)
    yield from position_rules(table)
    yield from order_rules(table)
    yield from field_rules(table)
