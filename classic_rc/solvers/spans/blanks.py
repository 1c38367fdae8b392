"""The span-blanks solver: answers that blanks, marks or quotes of the passage give away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.parameters import number, parameter
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.shared_parameters import ANALYZER, SEED, SPAN_DECISION
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.spans import span_offsets
from classic_rc.text.tokenizers import mark_class

_SEPARATORS = {"blanks": "\\s", "marks": "", "quotes": '\n"“”„«»‹›「」『』《》〈〉'}


class SpanBlanks(Solver):
    r"""A baseline that takes a text between two blanks, marks or quotes of the passage.

    .. math:: s_c = o - \lambda |c|

    In languages written without blanks, translators and annotators may leave blanks around the
    answers. In the Chinese part of XQuAD, a quarter of all texts between two blanks are answers.

    c is a candidate between two blanks, without the marks at its edges, and :math:`|c|` is the
    number of its words. o is the number of distinct words and bigrams of the question in the two
    texts next to c. A text that occurs in the question, or a candidate that is not between blanks,
    is chosen only if there is no other. The rest of the passage is not read.
    """

    name = "span-blanks"
    citation = "a partial-input check: blanks and marks around the answer"
    cites = ("classic_rc",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SPAN, Task.MULTI_SPAN})
    takes_encoding = False
    score_meaning = "question words in the texts before and after, minus a part of the length"
    variants: ClassVar[Mapping[str, Variant]] = {
        "random": Variant({"choice": "random"}, "any of the texts between blanks", ""),
        "marks": Variant({"between": "marks"}, "texts between blanks and marks", ""),
        "quotes": Variant({"between": "quotes"}, "texts between quotes", ""),
    }

    analyzer: Any = ANALYZER
    between: Literal["blanks", "marks", "quotes"] = parameter(
        "blanks", "what is on both sides of the texts", allowed=tuple(_SEPARATORS)
    )
    choice: Literal["overlap", "random"] = parameter(
        "overlap",
        "the text to choose: the one with the best score, or any (then a row reports the expected "
        "value)",
        allowed=("overlap", "random"),
    )
    length_weight: float = number(0.2, "the cost of each word of the text", least=0)
    seed: int = SEED
    decision: Decision | None = SPAN_DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each text between blanks; other candidates get less than the lowest of them."""
        self.check_parameters()
        score = self._draw if self.choice == "random" else self._match
        rows, evidence = [np.empty(0)], [np.empty(0, dtype=np.bool_)]
        for question, texts in self._read(questions):
            values, overlaps = score(question, texts)
            lowest = min(values, default=0) - 1
            # the last value is that of a candidate that is no such text
            rows.append(np.array([*values, lowest])[texts.of_candidate])
            evidence.append(np.array([*overlaps, 0])[texts.of_candidate] > 0)
        offsets = offsets_of(list(map(len, rows[1:])))
        return Scores(np.concatenate(rows), offsets, np.concatenate(evidence))

    def expectation(self, questions: Sequence[Question]) -> list[Prediction] | None:
        """With ``choice="random"``, return all texts between blanks, with equal weights."""
        if self.choice != "random":
            return None
        self.check_parameters()
        predictions = []
        for question, texts in self._read(questions):
            answers = tuple((texts.texts[i],) for i in texts.candidates)
            n = len(question.candidates)
            predictions.append(Prediction(question.id, answers, n_candidates=n))
        return predictions

    def _match(self, question: Question, texts: _BlankTexts) -> tuple[list[float], list[int]]:
        question_units = _units(get_analyzer(self.analyzer).analyze(question.text))
        no_units: frozenset[object] = frozenset()
        inside = [no_units, *(units & question_units for units in texts.units), no_units]
        neighbours = zip(inside, inside[2:], strict=False)
        overlaps = [len(before | after) for before, after in neighbours]
        costs = [self.length_weight * n for n in texts.n_words]
        values = [overlap - cost for overlap, cost in zip(overlaps, costs, strict=True)]
        lowest, query = min(values, default=0) - 1, question.text.lower()
        for i, text in enumerate(texts.texts):
            if text.lower() in query:
                values[i] = lowest
        return values, overlaps

    def _draw(self, question: Question, texts: _BlankTexts) -> tuple[list[float], list[int]]:
        n = len(texts.texts)
        draws = uniform_draws(text_keys([question.id]), np.array([n]), self.seed)
        return draws.tolist(), [0] * n

    def _read(self, questions: Sequence[Question]) -> Iterator[tuple[Question, _BlankTexts]]:
        """Yield each question with the texts of its passage, read once for its questions."""
        analyzer, key, texts = get_analyzer(self.analyzer), None, None
        for question in questions:
            if texts is None or key != (id(question.passage), id(question.candidates)):
                key = id(question.passage), id(question.candidates)
                texts = _BlankTexts.of(question, self.between, analyzer)
            yield question, texts


class _BlankTexts(NamedTuple):
    """The texts between blanks of a passage."""

    texts: list[str]
    units: list[frozenset[object]]  # the words and bigrams of each
    n_words: list[int]
    of_candidate: NDArray[np.int64]  # (n_candidates,): the candidate's text, or -1
    candidates: list[int]  # the texts that are candidates

    @classmethod
    def of(cls, question: Question, between: str, analyzer: Analyzer) -> _BlankTexts:
        passage = question.passage.text
        places = [match.span() for match in _pattern(between).finditer(passage)]
        texts = [passage[start:end] for start, end in places]
        words = [analyzer.analyze(text) for text in texts]
        starts, ends = span_offsets(question)
        numbers = {place: i for i, place in enumerate(places)}
        candidate_places = zip(starts.tolist(), ends.tolist(), strict=True)
        numbers_of = [numbers.get(place, -1) for place in candidate_places]
        of_candidate = np.array(numbers_of, dtype=np.int64)
        candidates = np.unique(of_candidate[of_candidate >= 0]).tolist()
        units = [_units(text_words) for text_words in words]
        return cls(texts, units, list(map(len, words)), of_candidate, candidates)


def _units(words: Sequence[str]) -> frozenset[object]:
    """Return the words and the bigrams."""
    return frozenset(words) | frozenset(pairwise(words))


@cache
def _pattern(between: str) -> re.Pattern[str]:
    """Return the pattern of the texts, without the marks at their edges but with signs of numbers.

    A full stop or comma between two digits, and an apostrophe between letters, is no mark.
    """
    letter = f"[^\\W_][{mark_class()}]*"
    first, last = f"(?:[$£€¥￥＄](?=\\d))?{letter}", "(?:(?<=\\d)[%‰％٪℃])?"
    if between == "marks":
        inner = f"(?:{letter}|(?<=\\d)[.,](?=\\d)|(?<=[^\\W\\d_])['’](?=[^\\W\\d_]))*"
    else:
        inner = f"(?:[^{_SEPARATORS[between]}]*{letter})?"
    return re.compile(f"{first}{inner}{last}")
