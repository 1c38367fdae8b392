"""What a system answers to one question, whether it is right, and why: a sentence with the
margin and its terms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.io.text import printable
from classic_rc.metrics.base import FULL_CREDIT, HasTask, primary_metric, solved_metric
from classic_rc.predictions import Prediction
from classic_rc.questions import Question, Task
from classic_rc.reports.html import format_number
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Term
from classic_rc.tables.model import join_words

RIGHT, PARTLY, WRONG = "right", "partly right", "wrong"
_MOST_NAMES, _NAME_LENGTH = 3, 60
_MOST_REASONS = 2
_LEAST_LOSS = 0.1  # of the margin; smaller ones are left out


short = partial(format_number, digits=3)


class Piece(NamedTuple):
    """A piece of a sentence: our words, or a text of the data, which may be written in any
    direction.
    """

    text: str
    is_data: bool = False


@dataclass(frozen=True)
class Verdict:
    """The answer to one question."""

    # as the task's metrics count it; None if gold is hidden, or nothing is decided
    outcome: str | None
    credit: float | None  # the task's primary metric on this question
    # the candidates in the answer, or in one of several that share the credit
    chosen: frozenset[int]
    right: frozenset[int]  # see `right_candidates`
    rival: int | None  # the best candidate that is not chosen
    # how far the best chosen candidate is above the rival; None if no single answer wins
    margin: float | None
    pieces: tuple[Piece, ...]  # the sentence

    @property
    def sentence(self) -> str:
        """The sentence as plain text."""
        return "".join(piece.text for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        fields = ("outcome", "credit", "rival", "margin", "sentence")
        plain = {name: getattr(self, name) for name in fields}
        return {"chosen": sorted(self.chosen), "right": sorted(self.right), **plain}


def outcomes(
    subject: HasTask, statistics: Mapping[str, NDArray[np.float64]]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return for each question whether its answer is right, partly right or wrong, and its credit.

    `statistics` are those of the task's metrics, by name, each of shape (n_questions,
    n_statistics), or with runs as in :class:`~classic_rc.results.outcomes.Outcomes`.
    """
    solved, main = solved_metric(subject), primary_metric(subject)
    is_right = solved.of_questions(statistics[solved.name]) >= FULL_CREDIT
    credits = main.of_questions(statistics[main.name])
    return np.where(is_right, RIGHT, np.where(credits > 0, PARTLY, WRONG)).tolist(), credits


def _measure(
    question: Question, predictions: Sequence[Prediction]
) -> tuple[list[str], NDArray[np.float64]]:
    metrics = {solved_metric(question), primary_metric(question)}
    questions = [question] * len(predictions)
    return outcomes(question, {m.name: m.statistics(questions, predictions) for m in metrics})


def right_candidates(question: Question) -> frozenset[int]:
    """Return the candidates that are right; of cloze and span questions, those whose text the
    metric accepts.

    Of several spans that are one answer, each counts. The set is empty if gold is hidden.
    """
    gold = question.gold
    if gold is None or question.task.has_choices:
        return frozenset(i for i in gold or () if isinstance(i, int))
    texts = {c.text: None for c in question.candidates}
    metric = solved_metric(question)
    parts = [tuple(map(str, gold))]
    if question.task is Task.MULTI_SPAN:
        parts = [(str(text),) for text in gold]
    accepted = {text for text in texts if any(metric.value(answer, (text,)) for answer in parts)}  # type: ignore[attr-defined]
    return frozenset(i for i, c in enumerate(question.candidates) if c.text in accepted)


def verdict_of(explanation: Explanation) -> Verdict:
    """Return what the system answers to the explained question, whether it is right, and why."""
    question, prediction = explanation.question, explanation.prediction
    outcome = credit = None
    if question.gold is not None and prediction is not None:
        (outcome,), credits = _measure(question, [prediction])
        credit = float(credits[0])
    answered = frozenset(_chosen(question, prediction))
    ranked = [i for i, _ in rank_candidates(explanation)]
    texts = {question.candidates[i].text for i in answered}
    others = (i for i in ranked if i not in answered)
    if not question.task.has_choices:
        # A mention of the answer elsewhere in the passage is the answer, not a rival.
        others = (i for i in others if question.candidates[i].text not in texts)
    rival = next(others, None)
    writer = _Writer(explanation, answered, right_candidates(question), ranked, rival)
    return writer.verdict(outcome, credit)


def _chosen(question: Question, prediction: Prediction | None) -> Iterator[int]:
    for answer in () if prediction is None else prediction.answers:
        if isinstance(answer, frozenset):
            yield from answer
        else:
            yield from (i for i, c in enumerate(question.candidates) if c.text in answer)


class _Writer(NamedTuple):
    """Writes the sentence of a verdict."""

    explanation: Explanation
    chosen: frozenset[int]
    right: frozenset[int]
    ranked: Sequence[int]  # all candidates, best first
    rival: int | None

    def verdict(self, outcome: str | None, credit: float | None) -> Verdict:
        margin, pieces = self._answer(outcome)
        if outcome == PARTLY:
            pieces = [*pieces, Piece(f"; the credit is {short(credit or 0.0)}")]
        pieces = [*pieces, *self._gold(outcome, margin is not None), Piece(".")]
        first, *rest = pieces
        if not first.is_data:
            first = Piece(first.text[:1].upper() + first.text[1:])
        sentence = (first, *rest)
        return Verdict(outcome, credit, self.chosen, self.right, self.rival, margin, sentence)

    def _answer(self, outcome: str | None) -> tuple[float | None, list[Piece]]:
        question, prediction = self.explanation.question, self.explanation.prediction
        answered = [i for i in self.ranked if i in self.chosen]
        if not question.candidates:
            return None, [Piece("there are no candidates")]
        if prediction is None:
            return None, self._undecided()
        if prediction.selection_probability is not None:
            probability = prediction.selection_probability
            return None, [Piece(f"each candidate is drawn with probability {probability:g}")]
        answers, n_tied = prediction.answers, prediction.n_tied
        are_answers = self.explanation.are_answers
        if n_tied > 1 and not are_answers:
            return None, self._tie(len(answers), n_tied)
        if len(answers) > 1 or prediction.weights is not None:
            return None, self._shares(prediction)
        if not answers:
            return None, [Piece("there is no answer")]
        if question.task is Task.MULTIPLE_ANSWER:
            return None, self._selection(answered)
        if not answered:
            texts = [text for text in map(str, answers[0]) if text]
            if not texts:
                return None, [Piece("it says that there is no answer")]
            return None, [Piece("the answer is "), *_quoted(texts)]
        if len(answers[0]) > 1:
            return None, [*_quoted(list(map(str, answers[0]))), Piece(" are chosen together")]
        if are_answers:
            return None, [*self._name(answered[0]), Piece(" is chosen")]
        return self._win(answered[0], " too" if outcome == RIGHT else "")

    def _win(self, winner: int, too: str) -> tuple[float | None, list[Piece]]:
        if self.rival is None:
            return None, [*self._name(winner), Piece(" is the only candidate")]
        winner_score, rival_score = self._score(winner), self._score(self.rival)
        margin = winner_score - rival_score
        if not margin > 0:  # a user's own rule
            surprise = Piece(" is chosen, although its score is not the best")
            return None, [*self._name(winner), surprise]
        by = f"by {short(margin)} " if math.isfinite(margin) else ""
        pieces = self._name(winner)
        pieces += [Piece(f" wins {by}over "), *self._name(self.rival)]
        if self.rival in self.right:
            pieces.append(Piece(f", which is right{too}"))
        return margin, [*pieces, *self._reasons(winner, self.rival)]

    def _reasons(self, winner: int, rival: int) -> Iterator[Piece]:
        winning, losing = self.explanation.candidates[winner], self.explanation.candidates[rival]
        yield from self._meaning()
        rows = compare_terms(winning, losing)
        gains = [row for row in rows if row.gain > 0 and row.own is not None]
        for n, row in enumerate(gains[:_MOST_REASONS]):
            name = _term_name(row.name, winning, losing)
            words = _words_behind(row.name, winning, losing)
            behind = f" ({words})" if words else ""
            yield Piece(f"{', ' if n else ': '}{short(row.gain)} from {name}{behind}")
        loss = min(rows, key=lambda row: row.gain, default=None)
        if gains and loss is not None and loss.gain < -_LEAST_LOSS * (winning.score - losing.score):
            yield Piece(f", less {short(-loss.gain)} by {_term_name(loss.name, winning, losing)}")

    def _meaning(self) -> list[Piece]:
        """Say what a score is if it is not a formula, or that the passage adds nothing to any
        score.
        """
        formula = self.explanation.candidates[self.ranked[0]].formula
        if formula is not None and formula.operation is None and formula.note:
            return [Piece(f" (a score is {formula.note})")]
        nothing = not any(c.evidence for c in self.explanation.candidates)
        return [Piece(", without evidence in the passage for any candidate")] if nothing else []

    def _tie(self, n_answers: int, n_tied: int) -> list[Piece]:
        tied = np.flatnonzero(self.explanation.scores.are_best()).tolist()
        best = f" tie for the best score, {short(self._score(self.ranked[0]))}"
        pieces = [*self._names(tied), Piece(best), *self._meaning()]
        if n_answers == 0:
            return [*pieces, Piece(": that counts as no answer")]
        if n_answers == 1 < n_tied:
            return [*pieces, Piece(", and "), *self._names(sorted(self.chosen)), Piece(" is taken")]
        return [*pieces, Piece(f": each has 1/{n_tied} of the credit")]

    def _shares(self, prediction: Prediction) -> list[Piece]:
        n = len(prediction.answers)
        if prediction.weights is None:
            return [Piece(f"a guess: each of the {n} candidates has the probability 1/{n}")]
        shares = sorted(
            zip(prediction.weights, prediction.answers, strict=True), key=lambda row: -row[0]
        )
        pieces = [Piece("several answers are possible: ")]
        for k, (share, answer) in enumerate(shares[:_MOST_NAMES]):
            pieces.append(Piece(", " if k else ""))
            if isinstance(answer, frozenset):
                pieces += self._names(sorted(answer))
            else:
                pieces += _quoted(list(answer))
            pieces.append(Piece(f" {100 * share:.3g} %"))
        if n > _MOST_NAMES:
            pieces.append(Piece(f" and {n - _MOST_NAMES} more"))
        return pieces

    def _selection(self, selected: Sequence[int]) -> list[Piece]:
        if not selected:
            best, *others = self.ranked
            is_tie = bool(others) and self._score(best) == self._score(others[0])
            best_piece = [] if is_tie else [Piece("; the best is "), *self._name(best)]
            return [Piece("no candidate is above the threshold"), *best_piece]
        verb, subject = ("are", ", the last ") if len(selected) > 1 else ("is", ", ")
        pieces = [*self._names(selected), Piece(f" {verb} above the threshold")]
        if self.rival is None:
            return pieces
        gap = self._score(selected[-1]) - self._score(self.rival)
        pieces += [Piece(subject), Piece(f"{short(gap)} above "), *self._name(self.rival)]
        return [*pieces, Piece(", the best of the others")]

    def _undecided(self) -> list[Piece]:
        pieces = []
        if self.explanation.decide is not None:
            pieces.append(Piece("no threshold is tuned, so nothing is chosen: "))
        best, *others = self.ranked
        pieces += self._name(best)
        pieces.append(Piece(f" has the best score, {short(self._score(best))}"))
        if others:
            pieces += [Piece(", before "), *self._name(others[0])]
        return pieces

    def _gold(self, outcome: str | None, names_rival: bool) -> list[Piece]:
        question, right = self.explanation.question, self.right
        if question.gold is None:
            return [Piece("; gold is hidden")]
        if outcome == RIGHT or (
            self.explanation.prediction is None and self.explanation.decide is not None
        ):
            return []
        if (
            names_rival
            and self.rival in right
            and (right == {self.rival} or not question.task.has_choices)
        ):
            return []  # it is said already
        if question.task.has_choices:
            right_pieces = [Piece("; right: "), *self._names(sorted(right))] if right else None
            return right_pieces or [Piece("; no candidate is right")]
        texts = list(dict.fromkeys(map(str, question.gold)))
        if texts == [""]:
            return [Piece("; the passage has no answer")]
        missing = [] if right else [Piece(", which no candidate is")]
        return [Piece("; right: "), *_quoted(texts), *missing]

    def _score(self, i: int) -> float:
        return self.explanation.candidates[i].score

    def _names(self, candidates: Sequence[int]) -> list[Piece]:
        question = self.explanation.question
        if not question.task.has_choices:
            texts = dict.fromkeys(question.candidates[i].text for i in candidates)
            return _quoted(list(texts))
        if len(candidates) == 1:
            return self._name(candidates[0])
        more = [f"{len(candidates) - 26} more"] if len(candidates) > 26 else []
        return [Piece(join_words([*map(candidate_label, candidates[:26]), *more]))]

    def _name(self, i: int) -> list[Piece]:
        question = self.explanation.question
        text = _quoted([question.candidates[i].text])
        return [Piece(f"{candidate_label(i)} "), *text] if question.task.has_choices else text


def _quoted(texts: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for k, text in enumerate(texts[:_MOST_NAMES]):
        written = printable(text)
        cut = written if len(written) <= _NAME_LENGTH else f"{written[: _NAME_LENGTH - 1]}…"
        separator = " and " if k == len(texts) - 1 else ", "
        pieces += [Piece(separator if k else ""), Piece("“"), Piece(cut, True), Piece("”")]
    n_more = len(texts) - _MOST_NAMES
    if n_more > 0:
        pieces.append(Piece(f" and {n_more} more"))
    return pieces


def candidate_label(index: int) -> str:
    """Return the candidate's letter, as in tests on paper, or its index after Z."""
    return chr(ord("A") + index) if index < 26 else str(index)


def rank_candidates(explanation: Explanation) -> list[tuple[int, CandidateExplanation]]:
    """Return the candidates with their indices, best first."""
    return sorted(enumerate(explanation.candidates), key=lambda item: -item[1].score)


# --------------------------------------------------------------------------------------------------
# The terms of a score


class TermRow(NamedTuple):
    """A term of two candidates' scores; None where a score has no such term."""

    name: str
    own: float | None
    other: float | None

    @property
    def gain(self) -> float:
        """What the term adds to the difference of the scores."""
        return (self.own or 0.0) - (self.other or 0.0)


def parts_sum_to_score(candidate: CandidateExplanation) -> bool:
    """Return whether the numbers sum to the score (within 1e-6), so that bars can compare them."""
    total = sum(candidate.numbers.values())
    return bool(candidate.numbers) and math.isclose(
        total, candidate.score, rel_tol=1e-6, abs_tol=1e-6
    )


def score_terms(candidate: CandidateExplanation) -> dict[str, float]:
    """Return the terms that add up to the score, by name; empty if it is not a sum.

    They are the parts of the formula, or else the explanation's numbers.
    """
    if terms := _formula_terms(candidate.formula):
        return {name: math.fsum(term.value for term in parts) for name, parts in terms.items()}
    numbers = candidate.numbers.items() if parts_sum_to_score(candidate) else ()
    return {number_name(name): value for name, value in numbers}


def _formula_terms(formula: Term | None) -> dict[str, list[Term]]:
    """Return the parts of a sum by name: a word may be in a window twice."""
    if formula is None or formula.operation not in ("sum", "negative"):
        return {}
    terms: dict[str, list[Term]] = {}
    for operand in formula.parts if formula.operation == "sum" else (formula,):
        terms.setdefault(printable(_name_of(operand)), []).append(operand)
    total = math.fsum(operand.value for parts in terms.values() for operand in parts)
    is_sum = "" not in terms and math.isclose(total, formula.value, rel_tol=1e-6, abs_tol=1e-6)
    return terms if is_sum else {}


def _name_of(term: Term) -> str:
    """Return a term's name; for a product or a negative without one, its last part's."""
    if term.name and term.name != "score":
        return term.name
    return next((name for operand in reversed(term.parts) if (name := _name_of(operand))), "")


def compare_terms(candidate: CandidateExplanation, rival: CandidateExplanation) -> list[TermRow]:
    """Return the terms of two scores, those that differ most first; empty if one of them is not
    a sum.
    """
    ours, theirs = score_terms(candidate), score_terms(rival)
    if not ours or (not theirs and rival.score):
        return []
    rows = [TermRow(name, ours.get(name), theirs.get(name)) for name in {**ours, **theirs}]
    return sorted(rows, key=lambda row: -abs(row.gain))


def number_name(name: str) -> str:
    """Return the name of a score's term as it is shown."""
    return printable(name.replace("_", " "))


def _term_name(name: str, *candidates: CandidateExplanation) -> str:
    """Return a term's name, in quotation marks if it is a word of the texts."""
    formulas = [_formula_terms(candidate.formula) for candidate in candidates]
    is_word = name.startswith('"') or any(f'"{name}"' in terms for terms in formulas)
    return f"“{name.strip(chr(34))}”" if is_word else name


_PAIR = re.compile(r'"(.*)" to "(.*?)"')


def _words_behind(name: str, winner: CandidateExplanation, loser: CandidateExplanation) -> str:
    """Return the words that a term of the winner's score is about: its nearest pair, or what it
    adds.
    """
    ours = _leaves(_formula_terms(winner.formula).get(name, ()))
    theirs = _leaves(_formula_terms(loser.formula).get(name, ()))
    matches = [(value, _PAIR.match(key)) for key, value in ours.items()]
    pairs = [(value, pair) for value, pair in matches if pair is not None]
    if pairs:
        distance, pair = min(pairs, key=lambda row: row[0])
        apart = "next to" if distance == 1 else f"{distance:g} words from"
        return f"“{printable(pair[2])}” {apart} “{printable(pair[1])}”"
    gains = {}
    for key, value in ours.items():
        gain = value - theirs.get(key, 0.0)
        if key.startswith('"') and gain > 0:
            gains[key] = gain
    best = sorted(gains, key=lambda key: -gains[key])[:_MOST_REASONS]
    return ", ".join(re.sub('"(.*?)"', r"“\1”", printable(key)) for key in best)


def _leaves(terms: Sequence[Term]) -> dict[str, float]:
    """Return the numbers inside terms whose names are words."""
    values_by_name: dict[str, float] = {}
    for operand in (operand for term in terms for operand in term.parts):
        values = {operand.name: operand.value}
        if not operand.name.startswith('"'):
            values = _leaves([operand])
        for name, value in values.items():
            values_by_name[name] = values_by_name.get(name, 0.0) + value
    return values_by_name
