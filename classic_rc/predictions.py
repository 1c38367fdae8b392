"""The output of solvers and of decisions: scores of candidates, and predicted answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import OutputError
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.questions import Question

ABSOLUTE_TIE_TOLERANCE = 1e-6
"""Scores of this package's solvers tie with the best one if they are this close to it. ln 5/4 =
ln 9/8 + ln 10/9, but the rounded weights differ by one unit of 2**-26. The smallest genuine gap
on MCTest and DREAM is 1.6e-5.
"""

RELATIVE_TIE_TOLERANCE = 1e-12
"""Scores from files tie with the best one if they are this close to it, in units of the
question's largest absolute score: such scores have any unit, so only equal scores tie, apart
from the rounding of their last digits.
"""

WHOLE_TEXT = "the whole text"
"""The place of an answer that is all of its text."""

Answer: TypeAlias = "frozenset[int] | tuple[str, ...]"
"""One answer to a question: the indices of the chosen candidates, or the predicted texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One score per candidate, ragged over questions. Higher is better.

    Raises
    ------
    OutputError
        The shapes do not fit, or a score is NaN.
    """

    values: NDArray[np.float64]  # shape (n_candidates,)
    # shape (n_questions + 1,): question i has values[offsets[i]:offsets[i + 1]]
    offsets: NDArray[np.int64]
    # shape (n_candidates,): false where the text contributes nothing to the score
    evidence: NDArray[np.bool_]
    # Whether the unit of the scores is unknown, as of those from a file: they tie within
    # `RELATIVE_TIE_TOLERANCE` of the question's largest absolute score, not within
    # `ABSOLUTE_TIE_TOLERANCE`.
    relative_ties: bool = False

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        evidence = np.ascontiguousarray(self.evidence, dtype=np.bool_)
        if (
            offsets.ndim != 1
            or len(offsets) == 0
            or offsets[0] != 0
            or np.any(np.diff(offsets) < 0)
        ):
            raise OutputError(
                "offsets must be one-dimensional, start at 0 and never decrease",
                field="offsets",
                found=str(offsets),
                expected="an array that starts at 0 and never decreases",
            )
        n = offsets[-1]
        if values.shape != (n,) or evidence.shape != values.shape:
            actual = f"{values.shape} and {evidence.shape}"
            raise OutputError(
                f"scores and evidence of {n} candidates must have shape ({n},), got {actual}",
                field="values" if values.shape != (n,) else "evidence",
                found=actual,
                expected=f"({n},)",
            )
        if np.isnan(values).any():
            index = int(np.isnan(values).argmax())
            raise OutputError(
                f"score {index} is not a number (NaN)",
                field="values",
                found="nan",
                expected="numbers",
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "evidence", evidence)

    @classmethod
    def from_lists(
        cls, scores: Iterable[Sequence[float] | NDArray[np.float64]], *, relative_ties: bool = False
    ) -> Scores:
        """Build scores from one sequence per question; every candidate has evidence.

        Raises
        ------
        OutputError
            A question's scores are not a list of numbers, or one is NaN.

        Examples
        --------
        >>> Scores.from_lists([[0.5, 1.0], []]).offsets
        array([0, 2, 2])
        """
        rows = []
        for i, row in enumerate(scores):
            try:
                numbers = np.asarray(row, dtype=np.float64)
            except (TypeError, ValueError):
                numbers = None
            if numbers is None or numbers.ndim != 1:
                described = repr(row)[:40]
                raise OutputError(
                    f"the scores of question {i} are {described}, expected a list of numbers, one "
                    "for each candidate",
                    field="scores",
                    found=described,
                    expected="a list of numbers",
                )
            rows.append(numbers)
        values = np.concatenate(rows) if rows else np.empty(0)
        offsets = offsets_of(list(map(len, rows)))
        return cls(values, offsets, np.ones(len(values), dtype=np.bool_), relative_ties)

    @classmethod
    def concatenate(cls, parts: Sequence[Scores]) -> Scores:
        """Return the scores of all questions of `parts`, in order."""
        if not parts:
            return cls.from_lists([])
        if len(parts) == 1:
            return parts[0]
        counts = np.concatenate([np.diff(p.offsets) for p in parts])
        values = np.concatenate([p.values for p in parts])
        evidence = np.concatenate([p.evidence for p in parts])
        return cls(values, offsets_of(counts), evidence, all(p.relative_ties for p in parts))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.float64]:
        """Return the scores of one question's candidates."""
        index = range(len(self))[index]
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return (self[i] for i in range(len(self)))

    def take(self, questions: Sequence[int] | NDArray[np.int64]) -> Scores:
        """Return the scores of the questions at these indices, in the given order."""
        index = np.asarray(questions, dtype=np.int64)
        counts = np.diff(self.offsets)[index]
        flat = ragged_indices(self.offsets[:-1][index], counts)
        return Scores(
            self.values[flat], offsets_of(counts), self.evidence[flat], self.relative_ties
        )

    def margins(self, tolerance: float = ABSOLUTE_TIE_TOLERANCE) -> NDArray[np.float64]:
        """Return how far below the best score of each question a score ties with it, shape
        (n_questions,).

        Parameters
        ----------
        tolerance : float
            An absolute tolerance. In place of the default, scores with `relative_ties` use theirs.
        """
        if not self.relative_ties or tolerance != ABSOLUTE_TIE_TOLERANCE:
            return np.full(len(self), tolerance, dtype=np.float64)
        sizes = np.where(np.isfinite(self.values), np.abs(self.values), 0.0)
        return RELATIVE_TIE_TOLERANCE * self._largest(sizes)

    def are_best(self, tolerance: float = ABSOLUTE_TIE_TOLERANCE) -> NDArray[np.bool_]:
        """Return whether each candidate has the best score of its question or ties with it; see
        :meth:`margins`.

        Returns
        -------
        ndarray of bool, shape (n_candidates,)

        Examples
        --------
        >>> Scores.from_lists([[9e-8, 1e-8], [1.0, 2.0]]).are_best()
        array([ True,  True, False,  True])
        >>> Scores.from_lists([[9e-8, 1e-8], [1.0, 2.0]], relative_ties=True).are_best()
        array([ True, False, False,  True])
        """
        # Subtracting from the best score, not from each score, lets infinite scores tie with each
        # other.
        lowest = self._largest(self.values) - self.margins(tolerance)
        flags: NDArray[np.bool_] = self.values >= np.repeat(lowest, np.diff(self.offsets))
        return flags

    def with_equal_ties(self, tolerance: float = ABSOLUTE_TIE_TOLERANCE) -> Scores:
        """Return the scores, each that ties with the best score of its question replaced by it.

        The result has relative ties: a file of it, read again, has the same best candidates.
        (Unless a question has scores above 10**6 that differ by less than a trillionth: a file's
        reader cannot tell them apart.)
        """
        best = np.repeat(self._largest(self.values), np.diff(self.offsets))
        values = np.where(self.are_best(tolerance), best, self.values)
        return Scores(values, self.offsets, self.evidence, relative_ties=True)

    def _largest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest of each question's values; 0 for a question without candidates."""
        filled = np.diff(self.offsets) > 0
        largest = np.zeros(len(filled))
        if filled.any():
            largest[filled] = np.maximum.reduceat(values, self.offsets[:-1][filled])
        return largest


class ReadAnswer(NamedTuple):
    """How an answer was read from its text in a file."""

    form: str  # the place in the text; empty if it could not be parsed
    example: str  # the text and what it was read as; empty except for the first answers of a form
    model: str | None  # that the file names


@dataclass(frozen=True, slots=True)
class Prediction:
    """The decided answer to one question."""

    question_id: str
    # The answers that remain after the tie policy. Normally one; under "partial" all that tie, and
    # every metric is their mean. Empty if the policy gives no credit ("strict" on a tie) or the
    # question has no candidate.
    answers: tuple[Answer, ...]
    # The weights of the answers in that mean; None means equal weights that sum to 1. If they sum
    # to less, the rest is the weight of samples without an answer, which score what no answer
    # scores.
    weights: tuple[float, ...] | None = None
    # For multiple-answer questions only: every candidate is selected independently with this
    # probability, and metrics take the expectation in closed form. `answers` is then empty.
    selection_probability: float | None = None
    n_tied: int = (
        1  # candidates that share the best score, with equal texts counted once; 1 without a tie
    )
    n_candidates: int = 0  # of the question
    n_samples: int = 1  # of a file: the number of answers to the question
    n_unparsed: int = 0  # of a file: how many of these answers could not be parsed
    read: tuple[ReadAnswer, ...] = ()  # of a file: how these answers were read

    @property
    def answered_share(self) -> float:
        """The share of the samples that have an answer: the sum of the weights; 1 without
        weights.
        """
        total = 1.0 if self.weights is None else sum(self.weights)
        return total if total < 1 - 1e-9 else 1.0  # the sum of weights of draws has rounding errors


class ChosenOptions(Sequence[Prediction]):
    """Answers to single-choice questions, as arrays; a :class:`Prediction` is made when one asks
    for it.

    Attributes
    ----------
    options : ndarray of int64
        The chosen options of all questions, by their place in the question.
    offsets : ndarray of int64, shape (n_questions + 1,)
        Those of question i are ``options[offsets[i]:offsets[i + 1]]``; all have the same weight.
    n_tied, n_candidates : ndarray of int64, shape (n_questions,)
        As in :class:`Prediction`.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        options: NDArray[np.int64],
        offsets: NDArray[np.int64],
        n_tied: NDArray[np.int64],
        n_candidates: NDArray[np.int64],
    ) -> None:
        self._questions = questions
        self.options, self.offsets = options, offsets
        self.n_tied, self.n_candidates = n_tied, n_candidates

    def __len__(self) -> int:
        return len(self.n_tied)

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Prediction]: ...
    def __getitem__(self, index: int | slice) -> Prediction | Sequence[Prediction]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        i = range(len(self))[index]
        start, stop = self.offsets[i], self.offsets[i + 1]
        answers = tuple(frozenset((option,)) for option in self.options[start:stop].tolist())
        return Prediction(
            self._questions[i].id,
            answers,
            n_tied=int(self.n_tied[i]),
            n_candidates=int(self.n_candidates[i]),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


ANSWER_COUNTS = ("answers", "unparsed", "empty")
"""The numbers of :class:`AnswerCounts`."""


class AnswerForm(NamedTuple):
    """The answers of a file that are at the same place in their texts."""

    answers: int
    examples: tuple[str, ...]  # texts, and what they were read as


class AnswerCounts(NamedTuple):
    """How many answers of a file say something, and where in their texts. All others count as
    wrong.
    """

    answers: int  # several for one question are samples
    unparsed: int  # answers that could not be parsed
    empty: int  # null, or none at all
    # "" has the answers that could not be parsed
    forms: Mapping[str, AnswerForm] = MappingProxyType({})
    models: tuple[str, ...] = ()  # that the file names

    @classmethod
    def of(cls, predictions: Sequence[Prediction]) -> AnswerCounts:
        """Count the answers of a file."""
        n = sum(p.n_samples for p in predictions)
        unparsed = sum(p.n_unparsed for p in predictions)
        n_answered = sum(round(p.answered_share * p.n_samples) for p in predictions if p.answers)
        forms: dict[str, AnswerForm] = {}
        models: dict[str, None] = {}
        for form, example, model in (reading for p in predictions for reading in p.read):
            n_of_form, examples = forms.get(form, AnswerForm(0, ()))
            if example:
                examples = (*examples, example)
            forms[form] = AnswerForm(n_of_form + 1, examples)
            if model is not None:
                models[model] = None
        return cls(n, unparsed, n - unparsed - n_answered, forms, tuple(models))

    @classmethod
    def join(cls, counts: Sequence[AnswerCounts]) -> AnswerCounts:
        """Return the counts of several files together."""
        forms: dict[str, AnswerForm] = {}
        models: dict[str, None] = {}
        for file_counts in counts:
            models |= dict.fromkeys(file_counts.models)
            for form, (n, examples) in file_counts.forms.items():
                n_of_form, earlier_examples = forms.get(form, AnswerForm(0, ()))
                forms[form] = AnswerForm(n_of_form + n, earlier_examples or examples)
        answers, unparsed, empty = (
            sum(getattr(file_counts, name) for file_counts in counts) for name in ANSWER_COUNTS
        )
        return cls(answers, unparsed, empty, forms, tuple(models))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        forms = {
            form: {"answers": n, "examples": list(examples)}
            for form, (n, examples) in self.forms.items()
        }
        return {
            **{name: getattr(self, name) for name in ANSWER_COUNTS},
            "forms": forms,
            "models": list(self.models),
        }

    @property
    def report(self) -> list[str]:
        """Lines on how texts were read: how many, and examples of each form; none if all texts
        are answers.
        """
        if not {*self.forms} - {WHOLE_TEXT, ""} and not self.models:
            return []
        read = self.answers - self.unparsed - self.empty
        share = read / max(self.answers, 1)
        of_models = f" of {', '.join(self.models)}" if self.models else ""
        lines = [f"{read:,} of {self.answers:,} texts{of_models} state an answer ({share:.1%})"]
        for form, (n, examples) in sorted(
            self.forms.items(), key=lambda item: (not item[0], -item[1].answers)
        ):
            lines.append(f"{n:,} {f'by {form}' if form else 'none'}: {'; '.join(examples)}")
        return lines

    @property
    def note(self) -> str:
        """What is wrong with the answers, and how many are concerned; empty if all say
        something.
        """
        notes = []
        for n, what in ((self.unparsed, "unparsed"), (self.empty, "empty")):
            if n:
                share = n / self.answers
                notes.append(f"{n:,} of {self.answers:,} answers {what} ({share:.1%})")
        return ", ".join(notes)
