"""Does the gold of a question contradict the gold of a copy of it?

Two questions with the same options are one question twice if their passages share three tenths of
the 4-grams of the shorter one, and their texts share six tenths of the words. The words that differ
must not change what is asked: a negation or an ordinal number in one of them, or two names that the
passages have, make different questions. :func:`is_same_question` has the rule.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, pairwise

from classic_rc.equality import option_forms
from classic_rc.questions import Question, candidate_texts
from classic_rc.text.analyzers import stop_words
from classic_rc.text.differences import words_only
from classic_rc.text.encode import TextEncoder
from classic_rc.text.scorers import scorer_of

_SAME_WORDS = 0.6
"""The least share of the words of the longer text that two texts of one question have in common."""
_SHARED_PASSAGE = 0.3
"""The least share of the 4-grams of the shorter passage that both passages have."""
_ORDER = 4
_LEAST_TOKENS = 40
"""Shorter passages, and questions about them, have to be equal: some datasets consist of twins,
sentences that differ in one word and in gold.
"""
_TURNING = frozenset(
    "not no never none nor neither cannot without except unlike first second third fourth fifth "
    "last next final before after more most less least fewer only true false untrue right wrong "
    "correct incorrect same different best worst better worse advantage disadvantage positive "
    "negative strengthen weaken support undermine agree disagree like dislike begin beginning end "
    "不 没 没有 非 未 无 除 nicht kein keine nie ne pas non не нет".split()
)
"""A question without one of these words is not the same question."""
_CONTRASTING = frozenset(
    "he she his her him hers i you we they when where who whom whose why how one two three four "
    "five six seven eight nine ten".split()
)
"""Two questions with different ones of these words ask about different things."""
_NOT = re.compile(".+n't|cannot")
_OPPOSITE = ("un", "in", "im", "ir", "dis", "non", "mis")


def comparable_options(question: Question) -> list[str]:
    """Return the letters and digits of each option, or its form where these are equal for
    different options.
    """
    forms = option_forms(candidate_texts(question.candidates))
    letters = [words_only(form) for form in forms]
    return letters if len(set(letters)) == len(set(forms)) else forms


def have_same_options(question: Question, second: Question) -> bool:
    """Return whether two questions have equal sets of options, or none."""
    if not question.task.has_choices or not second.task.has_choices:
        return question.task is second.task
    return sorted(comparable_options(question)) == sorted(comparable_options(second))


def contradict(question: Question, second: Question) -> bool:
    """Return whether an option is right for one question and wrong for the other one, or no gold
    text agrees.
    """
    if question.gold is None or second.gold is None:
        return False
    if not question.task.has_choices:
        return not gold_keys(question) & gold_keys(second)
    options, others = comparable_options(question), comparable_options(second)
    right = {options[i] for i in question.gold if isinstance(i, int)}
    other_right = {others[i] for i in second.gold if isinstance(i, int)}
    return bool((right ^ other_right) & {*options} & {*others})


def gold_keys(question: Question) -> set[str]:
    """Return the accepted texts as they are compared."""
    return set(map(scorer_of(question).normalise, question.gold_texts))


def is_same_question(question: Question, second: Question) -> bool:
    """Return whether two questions with the same options are one question."""
    texts = (question.text, second.text, question.passage.text, second.passage.text)
    words, other_words, *passages = _tokens(texts)
    is_long = min(map(len, passages)) >= _LEAST_TOKENS
    if passages[0] != passages[1] and not (is_long and _share_grams(*passages)):
        return False
    is_reworded = is_long and _is_reworded(words, other_words, {*chain(*passages)})
    return words == other_words or is_reworded


def _is_reworded(words: list[str], others: list[str], in_passages: set[str]) -> bool:
    """Return whether the words that differ leave the question as it is."""
    counts, other_counts = Counter(words), Counter(others)
    removed, added = counts - other_counts, other_counts - counts
    changed = {*removed, *added}
    if max(removed.total() / len(words), added.total() / len(others)) > 1 - _SAME_WORDS:
        return False
    if not changed or not _TURNING.isdisjoint(changed):
        return False
    if any(prefix + word in changed for prefix in _OPPOSITE for word in changed):
        return False
    stops = stop_words("smart")

    def contrasts(word: str) -> bool:
        if word in _CONTRASTING or any(map(str.isdigit, word)):
            return True
        return word in in_passages and word not in stops

    return not (any(map(contrasts, removed)) and any(map(contrasts, added)))


def _share_grams(tokens: list[str], others: list[str]) -> bool:
    """Return whether both passages have enough of the 4-grams of the one with fewer."""
    grams, other_grams = _grams(tokens), _grams(others)
    return len(grams & other_grams) >= _SHARED_PASSAGE * min(len(grams), len(other_grams))


def _grams(tokens: list[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[i : i + _ORDER]) for i in range(len(tokens) - _ORDER + 1)}


def find_cause(question: Question, second: Question) -> str | None:
    """Return why two copies of a question may have different gold: the options are in another
    order, and gold has the position that it had before.
    """
    if question.gold != second.gold or comparable_options(question) == comparable_options(second):
        return None
    return "options shuffled, letter kept"


def _tokens(texts: tuple[str, ...]) -> list[list[str]]:
    """Return the words of each text; characters, in scripts without spaces."""
    encoder = TextEncoder("char")
    words, offsets = encoder.encode(texts)
    forms = [_NOT.sub("not", word).removesuffix("'s") for word in encoder.vocabulary]
    names = [forms[i] for i in words.tolist()]
    return [names[start:stop] for start, stop in pairwise(offsets.tolist())]
