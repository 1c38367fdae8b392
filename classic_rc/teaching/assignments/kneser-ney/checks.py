"""Interpolated Kneser-Ney of pairs, compared with the reference on random texts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial

from classic_rc.kernels.reference import ReferenceKneserNey
from classic_rc.teaching.assignment import Submission, check
from classic_rc.teaching.feedback import compare_function, own_function

TITLE = "Kneser-Ney"
MAIN = TEMPLATE = "my_kneser_ney.py"

_WORDS = "san new york old town".split()
_Texts = list[list[str]]
_Case = tuple[_Texts, str, str, float]
"""Texts, a word, its context, and the discount."""


@check(points=3)
def check_continuations(submission: Submission) -> None:
    """continuation counts the different words that precede a word."""
    cases = [(texts, word) for texts, word, _, _ in _cases(submission.seed)]
    compare_function(submission, "continuation", cases, _right_continuation, mistakes=_CONTINUATION_MISTAKES)


@check(points=3)
def check_words(submission: Submission) -> None:
    """word_probability is right, also for unknown words."""
    cases = _word_cases(submission.seed)
    compare_function(submission, "word_probability", cases, right_word_probability, mistakes=_WORD_MISTAKES)


@check(points=2)
def check_pairs(submission: Submission) -> None:
    """probability is right after words that the texts have."""
    _compare_pairs(submission, where=lambda texts, word, context, discount: context in _contexts(texts))


@check(points=2, needs="pairs")
def check_all_pairs(submission: Submission) -> None:
    """probability is right after every word."""
    _compare_pairs(submission)


def _compare_pairs(submission: Submission, where: Callable[..., bool] | None = None) -> None:
    """Compare probabilities for the student's own probabilities of words."""
    cases, cases_of_words = _cases(submission.seed), _word_cases(submission.seed)
    lower = own_function(submission, "word_probability", cases_of_words, right_word_probability, _WORD_MISTAKES)
    right = partial(pair_probability, lower=lower)
    mistakes = {told: partial(pair_probability, lower=lower, wrong=wrong) for told, wrong in _PAIR_MISTAKES.items()}
    compare_function(submission, "probability", cases, right, where=where, mistakes=mistakes)


def _cases(seed: int) -> list[_Case]:
    rng = random.Random(f"kneser-ney {seed}")
    cases: list[_Case] = [([[]], "</s>", "<s>", 0.5), ([["san"]], "<unk>", "york", 0.75)]
    for _ in range(110):
        texts = [rng.choices(_WORDS[:4], k=rng.randint(0, 5)) for _ in range(rng.randint(1, 3))]
        word, context = rng.choice([*_WORDS, "</s>", "<unk>"]), rng.choice([*_WORDS, "<s>"])
        cases.append((texts, word, context, rng.choice((0.5, 0.75, 1.0))))
    return cases


def _word_cases(seed: int) -> list[tuple[_Texts, str, float]]:
    return [(texts, word, discount) for texts, word, _, discount in _cases(seed)]


def _pairs(texts: _Texts, *, start: bool = True, end: bool = True) -> list[tuple[str, str]]:
    marked = [[*["<s>"] * start, *text, *["</s>"] * end] for text in texts]
    return [pair for text in marked for pair in zip(text, text[1:], strict=False)]


def _contexts(texts: _Texts) -> set[str]:
    return {first for first, _ in _pairs(texts)}


def _check_inputs(texts: _Texts, word: str, discount: float = 0.5) -> None:
    if (
        not texts
        or word == "<s>"
        or not 0 < discount <= 1
        or any(own.startswith("<") for text in texts for own in text)
    ):
        raise ValueError("no texts, or no such word or discount")


def _continuation(
    texts: _Texts, word: str, *, start: bool = True, end: bool = True, counts: bool = False, after: bool = False
) -> int:
    pairs = _pairs(texts, start=start, end=end)
    return sum(pair[0 if after else 1] == word for pair in (pairs if counts else set(pairs)))


def _right_continuation(texts: _Texts, word: str) -> int:
    _check_inputs(texts, word)
    return _continuation(texts, word)


_CONTINUATION_MISTAKES = {
    "you count how often the word comes; count after how many different words": partial(_continuation, counts=True),
    "you count the words after it; count those before it": partial(_continuation, after=True),
    "<s> is missing: the first word of a text comes after it": partial(_continuation, start=False),
    "</s> is missing: it comes after the last word of a text": partial(_continuation, end=False),
}


def right_word_probability(texts: _Texts, word: str, discount: float) -> float:
    """Return the probability of a word, whatever precedes it."""
    _check_inputs(texts, word, discount)
    return ReferenceKneserNey(texts, 2, discounts=[[discount] * 3] * 2).probability(word, ())


def _word_probability(
    texts: _Texts,
    word: str,
    discount: float,
    *,
    counts: bool = False,
    extra: int = 2,
    rest: str = "D K",
    with_start: bool = False,
    start: bool = True,
) -> float:
    """Return the probability of a word; each keyword is a mistake that a student may make."""
    pairs = _pairs(texts, start=start)
    numbers = Counter(second for _, second in (pairs if counts else set(pairs)))
    vocabulary = len({own for text in texts for own in text}) + extra + with_start
    total = sum(numbers.values())
    left = {"D K": discount * len(numbers), "D": discount, "none": 0.0}[rest]
    return max(numbers[word] - discount, 0) / total + left / total / vocabulary


_WORD_MISTAKES = {
    "you count how often words come; count after how many different words": partial(_word_probability, counts=True),
    "<unk> is missing in V": partial(_word_probability, extra=1),
    "<s> counts in V, and it never comes": partial(_word_probability, with_start=True),
    "V is the number of the texts' words; </s> and <unk> are missing": partial(_word_probability, extra=0),
    "<s> is missing: the first word of a text comes after it": partial(_word_probability, start=False),
    "D / T goes to all words; it must be D K / T": partial(_word_probability, rest="D"),
    "what the discount takes goes nowhere: D K / T · 1 / V is missing": partial(_word_probability, rest="none"),
}


def pair_probability(
    texts: _Texts,
    word: str,
    context: str,
    discount: float,
    *,
    lower: Callable[[_Texts, str, float], float] = right_word_probability,
    wrong: str = "",
) -> float:
    """Return the probability of a word after another, given the probability of words, with a student's mistake."""
    _check_inputs(texts, word, discount)
    if context == "</s>":
        raise ValueError("nothing comes after the end")
    counts = Counter(second for first, second in _pairs(texts) if first == context)
    base = lower(texts, word, discount)
    if not counts:
        return 0.0 if wrong == "unseen is 0" else base
    total, count = sum(counts.values()), counts[word]
    left = discount * len(counts) / total
    if wrong == "D":
        left = discount / total
    elif wrong == "D c(v)":
        left = discount
    elif wrong == "none":
        left = 0.0
    if wrong == "backoff":
        return (count - discount) / total if count else left * base
    return (count if wrong == "no discount" else max(count - discount, 0)) / total + left * base


_PAIR_MISTAKES = {
    "you back off: P(w) is added only where the pair was not seen; add it always": "backoff",
    "D / c(v) goes to P(w); it must be D n(v) / c(v)": "D",
    "D goes to P(w); it must be D n(v) / c(v)": "D c(v)",
    "what the discount takes goes nowhere: D n(v) / c(v) · P(w) is missing": "none",
    "c(v w) is not discounted": "no discount",
    "after a word that the texts have not, the probability is 0; it must be P(w)": "unseen is 0",
}
