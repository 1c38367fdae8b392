"""Explanations of single questions by a solver that is fitted as for an evaluation, or of its
words by ablation; of a file, the answers that it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from classic_rc.errors import DataError, OutputError, UsageError
from classic_rc.kernels.arrays import block_size
from classic_rc.predictions import Prediction, Scores
from classic_rc.protocol import Protocol
from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, LazyCandidates, Passage, Question
from classic_rc.running.fitted_system import FittedSystem, QuestionBlock, iter_blocks
from classic_rc.running.plan import make_plan
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.solvers.explanation import Explanation, Mark
from classic_rc.systems import SystemLike

_BLOCK_QUESTIONS = 256


class Explainer:
    """A solver fitted and tuned as in :func:`classic_rc.evaluate`, to explain the scores behind its
    row, or a file of predictions.

    If the solver learns or is tuned out of fold, the solver of the fold that has not seen a
    question explains it. The answer equals the row's: a threshold is tuned when the first answer is
    requested, if gold is known.

    Of a file of answers, a candidate's score is the share of the answers that choose it.

    Parameters
    ----------
    solver : Solver, str or System
        A solver is cloned, never changed. A row of a run record has no scores: it is a UsageError.
    dataset : Dataset
        Span questions must have candidates (:func:`~classic_rc.running.plan.add_span_candidates`).
    protocol : Protocol, optional
        How it is fitted and tuned.

    Examples
    --------
    >>> import classic_rc
    >>> explainer = Explainer(
    ...     classic_rc.parse_solver("sw+d"), classic_rc.load("sample:single-choice")
    ... )
    >>> next(iter(explainer)).candidates[0].numbers["distance_weight"]
    11.0
    """

    def __init__(
        self,
        solver: SystemLike,
        dataset: Dataset,
        protocol: Protocol | None = None,
    ) -> None:
        plan = make_plan(dataset, [solver], protocol or Protocol())
        (ready,) = plan.systems
        if ready.row is not None:
            raise UsageError(
                f"{ready.name} is a row of a run record, which has no scores: explain its solver "
                "or its file",
                field="--solver",
                found=ready.name,
                expected="a solver or a file of predictions",
            )
        self.dataset, self._name = dataset, ready.name
        self._answers = ready.predictions  # of a file of answers, else empty
        self.file_notes = plan.notes
        # what the data to learn from or to tune on shares with the dataset
        self.notes = plan.overlap
        if ready.solver is None:
            return
        tunes = FittedSystem.needs_tuning(ready.solver, dataset)
        is_hidden = not ready.solver.tunes_parameters and any(
            question.gold is None for question in dataset
        )
        self._cross_fits = tunes and plan.separated.tune is None and not is_hidden
        self._system = FittedSystem(
            ready.solver,
            dataset,
            plan.separated,
            tune=tunes,
            cross_fit=self._cross_fits,
            name=ready.name,
        )

    @cached_property
    def _cross_fitted(self) -> Sequence[Prediction]:
        """The answers to all questions, by thresholds that are tuned on the other folds."""
        (block,) = iter_blocks(self.dataset)
        return self._system.decide(block, self._system.score(block))

    def _decide(self, i: int, explanation: Explanation) -> Prediction | None:
        """Return the row's answer to question `i`; None if a threshold cannot be tuned."""
        block = QuestionBlock(np.array([i]), [explanation.question])
        try:
            if self._cross_fits and self.dataset.span_generator is None:
                return self._cross_fitted[i]
            return self._system.decide_in_expectation(block, explanation.scores)[0]
        except (UsageError, DataError):
            return None

    def explain(self, i: int) -> Explanation:
        """Return the explanation of the question at position `i`, by ablation if the solver has
        none.
        """
        (explanation,) = self.each([i])
        explains = (
            c.numbers or c.marks or c.quote or c.make_formula for c in explanation.candidates
        )
        if self._answers or any(explains):
            return explanation
        with self._system.failures():
            return measure_words(self._system.solver_of(i), explanation)

    def __iter__(self) -> Iterator[Explanation]:
        """Yield the explanations of all questions, in order."""
        return self.each(range(len(self.dataset)))

    def each(self, places: Iterable[int]) -> Iterator[Explanation]:
        """Yield the explanations of the questions at these positions.

        Questions are explained in blocks, except those about spans.
        """
        pairs = self._read(places)
        if self._answers:
            for i, question in pairs:
                yield explain_answers(self._name, question, self._answers[i])
            return
        task = self.dataset.task
        size = 1 if task is None or task.has_spans else block_size(_BLOCK_QUESTIONS)
        for solver, group in groupby(pairs, lambda pair: self._system.solver_of(pair[0])):
            while block := list(islice(group, size)):
                explanations = iter(solver.explain_each([question for _, question in block]))
                for i, question in block:
                    with self._system.failures():
                        explanation = _check(solver, question, next(explanations, None))
                    yield replace(explanation, decide=partial(self._decide, i))

    def _read(self, places: Iterable[int]) -> Iterator[tuple[int, Question]]:
        """Yield questions with their positions; consecutive ones about one passage share its
        generated spans.
        """
        passage: Passage | None = None
        candidates: Sequence[Candidate] = ()
        for i in places:
            question = self.dataset[i]
            if isinstance(question.candidates, LazyCandidates):
                if question.passage is not passage:
                    passage, candidates = question.passage, question.candidates.generate()
                question = replace(question, candidates=candidates)
            yield i, question


def _check(solver: Solver, question: Question, explanation: Any) -> Explanation:
    """Return a solver's own explanation, which a user may have written."""
    if not isinstance(explanation, Explanation):
        actual = type(explanation).__name__
    elif len(explanation.candidates) != len(question.candidates):
        actual = f"{len(explanation.candidates)} candidates for question {question.id}"
    else:
        return explanation
    expected = f"an Explanation of {len(question.candidates)} candidates"
    raise OutputError(
        f"explain of solver {solver.name!r} must return {expected}, found {actual}",
        field="explain",
        found=actual,
        expected=expected,
    )


SHARES_NOTE = "a score is the share of the file's answers that choose the candidate"


def explain_answers(name: str, question: Question, prediction: Prediction) -> Explanation:
    """Return the explanation of a file's answers: a candidate's score is the share of the answers
    that choose it.
    """
    answers, n = prediction.answers, len(question.candidates)
    weights = prediction.weights or [1 / len(answers) for _ in answers]
    shares = np.zeros(n)
    for weight, answer in zip(weights, answers, strict=True):
        for i, candidate in enumerate(question.candidates):
            value = i if isinstance(answer, frozenset) else candidate.text
            shares[i] += weight * (value in answer)
    scores = Scores(shares, np.array([0, n]), np.full(n, bool(answers)))
    note = SHARES_NOTE
    if prediction.n_unparsed:
        note += f"; {prediction.n_unparsed} of {prediction.n_samples} could not be parsed"
    return replace(
        Explanation.from_scores(name, question, scores),
        note=note,
        decide=lambda _: prediction,
        are_answers=True,
    )


MOST_ABLATIONS = 256
"""How many copies of a question are scored to explain a solver that does not explain itself."""
_SHOWN_WORDS = 10
_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
ABLATION_NOTE = (
    "ablation: a number is the score minus the score of the same question without the word; "
    "the numbers do not add up to the score"
)
NO_EFFECT_NOTE = "ablation: no word changes a score when it is left out"


class _OmittedWords(NamedTuple):
    """Words that are left out together."""

    where: str  # "passage", "question" or "candidate"
    text: str
    start: int
    end: int


def measure_words(solver: Solver, explanation: Explanation) -> Explanation:
    """Explain scores by ablation: how much each word of passage, question and candidate changes
    each score.

    Blanks take the place of a word, so that all other words keep their places. A question is scored
    at most :data:`MOST_ABLATIONS` times; words of a long passage are left out several at a time. An
    effect is the score minus the score without the word; effects do not add up to the score. The
    words of the largest effects are the numbers of the explanation, and are marked in the passage.
    A note says so if the solver cannot score a question without one of its words.
    """
    question = explanation.question
    if not explanation.candidates:
        return explanation
    parts = _parts_of(question)
    try:
        scores = score_questions(
            solver, [question, *(_without(question, words) for words in parts)]
        )
    except Exception as error:  # the solver may be a user's own
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return replace(
            explanation,
            note=f"no ablation: the solver cannot score a question without a word ({reason})",
        )
    first = scores[0]
    others = np.array([scores[k] for k in range(1, len(parts) + 1)])
    explained = []
    for i, plain in enumerate(explanation.candidates):
        effects = (first[i] - others[:, i]).tolist() if len(parts) else []
        changes = [(effect, words) for effect, words in zip(effects, parts, strict=True) if effect]
        changes.sort(key=lambda change: -abs(change[0]))
        numbers: dict[str, float] = {}
        for effect, words in changes[:_SHOWN_WORDS]:
            name = f'{words.where} "{words.text}"'
            n_before = sum(own == name or own.startswith(f"{name} (") for own in numbers)
            numbers[f"{name} ({n_before + 1})" if n_before else name] = effect
        passage = sorted(
            (words.start, words.end, effect)
            for effect, words in changes
            if words.where == "passage"
        )
        marks = tuple(Mark(start, end, "effect", effect) for start, end, effect in passage)
        explained.append(replace(plain, numbers=numbers, marks=marks))
    note = ABLATION_NOTE if any(own.numbers for own in explained) else NO_EFFECT_NOTE
    return replace(explanation, candidates=tuple(explained), note=note)


def _parts_of(question: Question) -> list[_OmittedWords]:
    """Return the words to leave out; those of the candidates are left out of all candidates at
    once.
    """
    text = question.text.replace(PLACEHOLDER, " " * len(PLACEHOLDER))
    parts = [_OmittedWords("question", m[0], *m.span()) for m in _WORD.finditer(text)]
    if question.task.has_choices:
        texts = (candidate.text for candidate in question.candidates)
        distinct_words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
        parts += [_OmittedWords("candidate", word, 0, 0) for word in distinct_words]
    parts = parts[: MOST_ABLATIONS // 2]
    passage = question.passage.text
    spans = [m.span() for m in _WORD.finditer(passage)]
    together = -(-len(spans) // (MOST_ABLATIONS - len(parts)))
    for first in range(0, len(spans), max(together, 1)):
        omitted = spans[first : first + together]
        start, end = omitted[0][0], omitted[-1][1]
        words = " ".join(passage[start:end].split())
        parts.append(_OmittedWords("passage", words, start, end))
    return parts


def _without(question: Question, words: _OmittedWords) -> Question:
    """Return the question with blanks in place of words."""

    def blank(text: str) -> str:
        blanks = " " * (words.end - words.start)
        return text[: words.start] + blanks + text[words.end :]

    if words.where == "passage":
        return replace(
            question, passage=replace(question.passage, text=blank(question.passage.text))
        )
    if words.where == "question":
        return replace(question, text=blank(question.text))
    word = re.compile(rf"(?<!\w){re.escape(words.text)}(?!\w)")
    blanks = " " * len(words.text)
    candidates = tuple(replace(c, text=word.sub(blanks, c.text)) for c in question.candidates)
    return replace(question, candidates=candidates)
