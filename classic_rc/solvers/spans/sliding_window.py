"""The span-sw solver: the sliding window of Rajpurkar et al. 2016 for span questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.distance import DistanceRule, window_and_distance
from classic_rc.kernels.spans import span_overlap
from classic_rc.kernels.weights import SCALE
from classic_rc.kernels.window import sliding_window
from classic_rc.parameters import number, parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    given,
    minus,
    plus,
    times,
)
from classic_rc.solvers.match_formulas import best_window, distance_term
from classic_rc.solvers.shared_parameters import ANALYZER, SPAN_DECISION, STOP_WORDS
from classic_rc.text.encoded import stop_flags
from classic_rc.text.spans import EncodedSpans, encode_spans

_PAPER = "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 5.1"


class SpanSlidingWindow(Solver):
    r"""The sliding window baseline for spans: overlap with the span's sentence first, then the best
    window.

    .. math:: o\,(|P| + \lambda + 1) + sw - \lambda d

    o is the number of distinct question words and bigrams that the span's sentence has outside the
    span. sw is the sliding window (:class:`~classic_rc.solvers.SlidingWindow`) and d the word
    distance (:class:`~classic_rc.solvers.WordDistance`) of the span, with its context instead of
    the passage. ``|P|`` is the passage's length in words, and :math:`\lambda` the distance's weight
    (0 without a distance).

    The paper has two steps: keep the spans with the greatest overlap, then choose among them by the
    window. The score combines both in one number: sw is at most ``|P| ln 2`` and d at most 1, so no
    window outweighs one word of overlap. Scores of different passages are not comparable.
    """

    name = "span-sw"
    citation = _PAPER
    cites = ("rajpurkar2016",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SPAN, Task.MULTI_SPAN})
    takes_encoding = False
    variants: ClassVar[Mapping[str, Variant]] = {
        "squad2016": Variant(
            {"context": "sentence"},
            "overlap of words and bigrams, then the window within the sentence; candidates are "
            "generated spans instead of constituents of a parse",
            f"{_PAPER}, sliding window",
        ),
        "squad2016-distance": Variant(
            {"context": "sentence", "distance": "min", "distance_weight": 1.0},
            "the same with a distance within the sentence; the paper specifies neither the "
            "distance nor its weight: here they are those that Richardson et al. 2013 print",
            f"{_PAPER}, sliding window + distance",
        ),
    }

    analyzer: Any = ANALYZER
    context: Literal["sentence", "passage"] = parameter(
        "sentence",
        "the text in which window and distance are computed and words are counted: the span's "
        "sentence, as in the paper, or the entire passage",
        allowed=("sentence", "passage"),
    )
    distance: DistanceRule | None = parameter(
        None,
        "the distance rule, as in :class:`~classic_rc.solvers.WordDistance`; None for no distance",
        allowed=(None, *get_args(DistanceRule)),
    )
    distance_weight: float = number(
        1.0, "the cost of a distance as long as the entire context (d = 1)", least=0
    )
    stop_words: str = STOP_WORDS.but(
        help="the stop words of the distance: the name of a stop list, or a file"
    )
    decision: Decision | None = SPAN_DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each span by overlap, then window and distance; no evidence if its sentence
        shares no word.
        """
        self.check_parameters()
        parts, order = [], [np.empty(0, dtype=np.int64)]
        for index, spans in encode_spans(questions, self.analyzer):
            terms = self._compute_terms(spans)
            parts.append(Scores(terms.score, spans.candidate_offsets, terms.overlap > 0))
            order.append(index)
        return Scores.concatenate(parts).take(np.argsort(np.concatenate(order)))

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show the overlap, the window and the distance of each span, and the question's words
        around it.
        """
        self.check_parameters()
        return map(self._explain_question, questions)

    def _explain_question(self, question: Question) -> Explanation:
        ((_, spans),) = encode_spans([question], self.analyzer)
        terms = self._compute_terms(spans)
        in_question = np.isin(spans.tokens, spans.question_tokens)

        def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
            return replace(
                plain,
                marks=tuple(_mark_span(spans, i, in_question)),
                numbers=terms.numbers(i),
                make_formula=partial(self._formula, spans, i, plain.score, terms),
            )

        scores = Scores(terms.score, spans.candidate_offsets, terms.overlap > 0)
        return Explanation.from_scores(self.name, question, scores).with_best(explain)

    def _formula(self, spans: EncodedSpans, i: int, score: float, terms: _SpanTerms) -> Term:
        """Return a span's score with its numbers: the overlap, the window's words, and the
        distance's steps.
        """
        words = [spans.vocabulary[token] for token in spans.tokens.tolist()]
        query = [spans.vocabulary[token] for token in spans.question_tokens.tolist()]
        first, last = int(spans.first[i]), int(spans.last[i])
        sentence = spans.sentence[i]
        begin, end = spans.sentence_offsets[sentence : sentence + 2].tolist()
        answer = words[first:last]
        context = words[begin:end] if self.context == "sentence" else words
        weight = self._used_weight()
        multiplier = plus(
            "multiplier", given("", len(words)), weight, 1, note="|P| + weight of the distance + 1"
        )
        sides = words[begin:first], words[last:end]
        overlap = _explain_overlap(sides, query, int(terms.overlap[i]))
        window, _ = best_window(context, query, answer, "set", Counter(context).__getitem__)
        parts = [times("", multiplier, overlap), window]
        if terms.distance is not None:
            stops = self._stops(spans).tolist()
            stop = {word for word, is_stop in zip(spans.vocabulary, stops, strict=True) if is_stop}
            value = float(terms.distance[i])
            assert self.distance is not None
            distance = distance_term(context, query, answer, stop, self.distance, value)
            parts.append(minus("", times("", given("distance weight", weight), distance)))
        return plus("score", *parts, value=score)

    def _used_weight(self) -> float:
        return 0.0 if self.distance is None else float(self.distance_weight)

    def _stops(self, spans: EncodedSpans) -> NDArray[np.bool_]:
        return stop_flags(spans.vocabulary, spans.analyzer, self.stop_words)

    def _compute_terms(self, spans: EncodedSpans) -> _SpanTerms:
        # The context of the overlap is always the sentence; `context` does not change it.
        arrays, order = spans.in_contexts(spans.sentence, spans.sentence_offsets)
        span = spans.candidate_span[order]
        begin = spans.sentence_offsets[spans.sentence[span]]
        overlap = span_overlap(arrays, spans.first[span] - begin, spans.last[span] - begin)
        overlap = _restore_order(overlap, order)
        if self.context == "passage":
            passage = np.searchsorted(spans.passage_sentences, spans.sentence, side="right") - 1
            arrays, order = spans.in_contexts(passage, spans.passage_offsets)
        windows, distances = self._windows_and_distances(arrays, spans)
        windows, distances = _restore_order(windows, order), _restore_order(distances, order)
        weight = self._used_weight()
        lengths = np.diff(spans.passage_offsets)[spans.question_passage]
        # One unit of overlap counts more than any window (at most |P| ln 2) and distance (at most
        # `weight`).
        step = np.repeat(lengths, np.diff(spans.candidate_offsets)) + weight + 1
        score = overlap * step + windows - weight * distances
        return _SpanTerms(score, overlap, windows, None if self.distance is None else distances)

    def _windows_and_distances(
        self, arrays: TokenArrays, spans: EncodedSpans
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.distance is None:
            windows = sliding_window(arrays) / SCALE
            return windows, np.zeros_like(windows)
        best, distances, _ = window_and_distance(arrays, self._stops(spans), rule=self.distance)
        return best / SCALE, distances


class _SpanTerms(NamedTuple):
    """The scores of all questions' candidates and their terms, each of shape (n_candidates,)."""

    score: NDArray[np.float64]
    overlap: NDArray[np.int64]
    window: NDArray[np.float64]
    distance: NDArray[np.float64] | None  # None for a solver without a distance

    def numbers(self, i: int) -> dict[str, float]:
        """Return a candidate's terms by name."""
        terms = {"overlap": float(self.overlap[i]), "sliding_window": float(self.window[i])}
        return terms if self.distance is None else {**terms, "distance": float(self.distance[i])}


def _explain_overlap(sides: tuple[list[str], list[str]], query: list[str], overlap: int) -> Term:
    """Return the number of question words and bigrams on both sides of a span, with the words
    and bigrams.
    """
    single = [word for word in dict.fromkeys(query) if any(word in side for side in sides)]
    pairs = [pair for side in sides for pair in pairwise(side)]
    double = [" ".join(pair) for pair in dict.fromkeys(pairwise(query)) if pair in pairs]
    note = ", ".join(f'"{unit}"' for unit in [*single, *double])
    return given(
        "overlap", overlap, f"question words and bigrams around the span: {note or 'none'}"
    )


def _mark_span(spans: EncodedSpans, i: int, in_question: NDArray[np.bool_]) -> list[Mark]:
    """Mark the span, and the question's words in the rest of its sentence."""
    first, last = spans.first[i], spans.last[i]
    sentence = spans.sentence[i]
    begin, end = spans.sentence_offsets[sentence : sentence + 2]
    places = []
    for j in (*range(begin, first), *range(last, end)):
        if in_question[j]:
            places.append((spans.token_starts[j], spans.token_ends[j], "question"))
    if first < last:
        places.append((spans.token_starts[first], spans.token_ends[last - 1], "candidate"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]


def _restore_order(values: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    """Undo the reordering ``values = restored[order]``."""
    restored = np.empty_like(values)
    restored[order] = values
    return restored
