"""The cloze baselines: how often the passage mentions a candidate, and how well the query fits
at a mention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.kernels.cloze import cloze_distance, cloze_window, phrase_counts, query_counts
from classic_rc.kernels.pairs import word_counts
from classic_rc.kernels.reference.cloze import alignments
from classic_rc.kernels.reference.cloze_shift import best_shift
from classic_rc.kernels.weights import SCALE, inverse_count_weight, inverse_count_weights
from classic_rc.parameters import parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant
from classic_rc.solvers.explanation import (
    Explanation,
    Mark,
    Term,
    given,
    inverse_count,
    minus,
    plus,
    times,
)
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import tokens_before_placeholder
from classic_rc.text.encoded import EncodedDataset


class MaximumFrequency(Solver):
    r"""The maximum frequency baseline: the candidate that occurs most often in the passage, as a
    phrase.

    .. math:: s_c = \#\{i : P_{i \ldots i+|c|-1} = c\}

    P is the passage, and c the candidate's words.
    """

    name = "max-frequency"
    needs_passages = True
    citation = (
        "Hermann et al. 2015, Teaching Machines to Read and Comprehend, symbolic matching baselines"
    )
    cites = ("hermann2015",)
    tasks = frozenset({Task.CLOZE})
    needs_only_arrays: ClassVar[bool] = True
    score_meaning = "how often the passage has the candidate, as a phrase"

    analyzer: Any = ANALYZER
    decision: Decision | None = DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Count each candidate's occurrences in the passage; no evidence at 0."""
        return self._score_encoded(self.encoded(questions))

    def _score_encoded(self, encoded: EncodedDataset) -> Scores:
        counts = phrase_counts(encoded.arrays)
        return encoded.scores(counts.astype(np.float64), counts > 0)


class ExclusiveFrequency(MaximumFrequency):
    r"""The exclusive frequency baseline: the most frequent candidate of the passage that is not in
    the query.

    .. math:: s_c = [c \notin Q] \cdot \#\{i : P_{i \ldots i+|c|-1} = c\}

    P is the passage, Q the query, and c the candidate's words.

    A candidate that occurs in the query scores 0.
    """

    name = "exclusive-frequency"
    needs_only_arrays = False
    score_meaning = "how often the passage has the candidate, as a phrase; 0 if the query has it"

    def _score_encoded(self, encoded: EncodedDataset) -> Scores:
        in_query = query_counts(encoded.arrays, _placeholders(encoded))
        counts = np.where(in_query > 0, 0, phrase_counts(encoded.arrays))
        return encoded.scores(counts.astype(np.float64), counts > 0)


class ClozeDistance(Solver):
    r"""The word distance benchmark: align query and passage at a mention of the candidate; the
    score is -d.

    .. math:: d = \min_{m \in M} \sum_{i} \min\left(D,\ \min_{j:\,P_j = q_i} |j - (m + i)|\right)

    P is the passage, :math:`q_i` the query word i positions from the placeholder (negative before
    it), M the positions where the candidate occurs in the passage as a phrase, and D the
    `max_distance` (Hermann et al. 2015, section 3.1). Of a longer mention, m is the first word for
    words before the placeholder, and the last one for words after it, as if the mention were
    written into the query. Without a mention, d is D for each word. Candidates with the same text
    share their best score.
    """

    name = "cloze-distance"
    former_params: ClassVar = {
        "alignment": "ends",
        "own_words": "match",
        "stop_words": "none",
        "punctuation": True,
    }
    needs_passages = True
    citation = (
        "Hermann et al. 2015, Teaching Machines to Read and Comprehend, section 3.1, word distance "
        "benchmark"
    )
    cites = ("hermann2015",)
    tasks = frozenset({Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = {
        "hermann2015": Variant(
            {"max_distance": 8},
            "at most 8 positions per word, as tuned on the validation sets of CNN and Daily Mail; "
            "without the alignment by coreference",
            "Hermann et al. 2015, section 3.1",
        ),
        "hill2015": Variant(
            {"max_distance": 5},
            "at most 5 positions per word, as for the Children's Book Test",
            "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, arXiv:1511.02301",
            cites=("hill2015",),
        ),
    }

    analyzer: Any = ANALYZER.but(
        help="the analyzer that turns texts into words; words that it drops are missing, and "
        "positions do not count them"
    )
    max_distance: int = whole_number(
        8,
        "the largest cost of a word, in positions; it is also the cost of a word that the passage "
        "does not have",
    )
    decision: Decision | None = DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with minus its distance.

        There is no evidence if no query word is nearer than `max_distance`.
        """
        self.check_parameters()
        encoded = self.encoded(questions)
        distances, is_near = cloze_distance(
            encoded.arrays, _placeholders(encoded), self.max_distance
        )
        return encoded.scores(-distances.astype(np.float64), is_near)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Mark the best mention of each candidate, and the query words that the passage has near
        it.
        """
        return _explain_texts(self, questions, distance_explainer)


class ClozeWindow(Solver):
    r"""The cloze window baseline: align the completed query with the passage, token by token, at
    the best position.

    .. math:: cw = \max_s \sum_{k:\,P_{s+k} = Q'_k} w(Q'_k)

    P is the passage, and Q' is the query with the candidate's words instead of the placeholder.
    Word order counts; :class:`~classic_rc.solvers.SlidingWindow` is the same without order: any
    word of Q' anywhere in a window.

    Attributes
    ----------
    n_passages_ : int
        With ``weights="idf"``, the number of fitted passages.
    passage_counts_ : dict of str to int
        With ``weights="idf"``, how many of the fitted passages have each word.
    """

    name = "cloze-window"
    former_params: ClassVar = {"anchored": False}
    needs_passages = True
    citation = (
        "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, sliding window baseline"
    )
    cites = ("hill2015",)
    tasks = frozenset({Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = {
        "hill2015": Variant(
            {"weights": "idf"},
            "idf weights; the paper does not specify tokens, order, window and ties, so this "
            "variant does not aim to match its results",
            "Hill, Bordes, Chopra and Weston 2015, The Goldilocks Principle, arXiv:1511.02301",
        )
    }

    analyzer: Any = ANALYZER
    weights: Literal["passage", "idf"] = parameter(
        "passage",
        "a word's weight w: ``ln(1 + 1 / C)`` with C its count in the passage (Richardson et al. "
        "2013), or ``ln(1 + N / n)`` if n of the N passages of :meth:`fit` have the word",
        allowed=("passage", "idf"),
    )
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """``"passages"`` if the weights are idf, else ``"nothing"``."""
        return "passages" if self.weights == "idf" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters. With ``weights="idf"``, also count the passages that have each
        word.
        """
        self.check_parameters()
        if self.weights == "idf":
            encoded = self.encoded(questions)
            arrays, words = encoded.arrays, encoded.vocabulary
            distinct_words = word_counts(
                arrays.passage_tokens, arrays.passage_offsets, arrays.n_words
            ).words
            self.n_passages_ = len(arrays.passage_offsets) - 1
            counts = np.bincount(distinct_words, minlength=len(words)).tolist()
            self.passage_counts_ = {word: n for word, n in zip(words, counts, strict=True) if n}
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the weight at its best position; no evidence if no word
        matches.
        """
        self.check_parameters()
        encoded = self.encoded(questions)
        weights = self.word_weights(encoded)
        values = cloze_window(encoded.arrays, _placeholders(encoded), weights) / SCALE
        return encoded.scores(values, values > 0)

    def word_weights(self, encoded: EncodedDataset) -> NDArray[np.int32] | None:
        """Return the fixed-point weights of the vocabulary's words, or None if each passage has its
        own.

        Raises
        ------
        NotFittedError
            With ``weights="idf"``, before :meth:`fit`.
        """
        if self.weights == "passage":
            return None
        problem = f"{self.name} with weights='idf' needs word counts: call fit(questions) first"
        self.require_fitted("passage_counts_", problem, field="weights", found="'idf'")
        # A word that is in no fitted passage counts as if one passage had it: it is rare, so its
        # weight is the largest. A count of 0 would mean a weight of 0.
        counts = np.array(
            [self.passage_counts_.get(word, 1) for word in encoded.vocabulary], dtype=np.int64
        )
        return inverse_count_weights(counts, total=self.n_passages_)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Mark the best position of each candidate, and the words that match there."""
        encoded = self.encoded(questions)
        weights = self.word_weights(encoded)
        corpus_weights = (
            {} if weights is None else dict(zip(encoded.vocabulary, weights.tolist(), strict=True))
        )
        return _explain_texts(
            self, questions, partial(window_explainer, corpus_weights=corpus_weights)
        )

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the number of fitted passages, and how many of them have each word."""
        self.word_weights(self.encoded([]))  # raises NotFittedError before fit
        counts = self.passage_counts_
        state = {"passages": self.n_passages_, "words": list(counts)}
        return state, {"counts": np.array(list(counts.values()), dtype=np.int64)}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned."""
        self.n_passages_ = int(state["passages"])
        self.passage_counts_ = dict(zip(state["words"], arrays["counts"].tolist(), strict=True))
        return self


def _placeholders(encoded: EncodedDataset) -> NDArray[np.int64]:
    return tokens_before_placeholder([encoded[i] for i in encoded.order], encoded.analyzer)


class _ClozeTexts(NamedTuple):
    passage: list[str]
    places: list[tuple[int, int]]  # of each passage token, its character offsets
    query: list[str]
    placeholder: int  # the number of query tokens before the placeholder

    @classmethod
    def of(cls, solver: Solver, question: Question) -> _ClozeTexts:
        analyzer = get_analyzer(solver.analyzer)
        located = analyzer.locate(question.passage.text)
        passage = [token for token, _, _ in located]
        places = [(start, end) for _, start, end in located]
        placeholder = int(tokens_before_placeholder([question], analyzer)[0])
        return cls(passage, places, analyzer.analyze(question.query), placeholder)


_Parts = tuple[tuple[Mark, ...], dict[str, float], Callable[[], Term]]
"""A candidate's marks and numbers, and what makes its formula."""


def distance_explainer(solver: ClozeDistance, texts: _ClozeTexts) -> Callable[[list[str]], _Parts]:
    """Return what explains a candidate by its best mention, and by how much less than the maximum
    each matched word costs.
    """

    def mark_candidate(candidate: list[str]) -> _Parts:
        mentions = alignments(
            texts.passage,
            texts.query,
            texts.placeholder,
            candidate,
            max_distance=solver.max_distance,
        )
        if not mentions:
            note = "the passage does not mention the candidate: each query word costs the maximum"
            cost = times(
                "", given("query words", len(texts.query)), given("maximum", solver.max_distance)
            )
            numbers = {"distance": cost.value, "words": float(len(texts.query)), "matched": 0.0}
            return (), numbers, partial(minus, "score", cost, note)
        # Mark the first of equally good mentions.
        start, words = min(mentions, key=lambda mention: sum(word.steps for word in mention[1]))
        matched = [word for word in words if word.place is not None]
        savings: dict[int, float] = {}
        for word in matched:  # two query words may match one place: their savings add up
            assert word.place is not None
            savings[word.place] = savings.get(word.place, 0.0) + solver.max_distance - word.steps
        begin, _ = texts.places[start]
        _, end = texts.places[start + len(candidate) - 1]
        marks = [Mark(begin, end, "candidate")]
        for place, weight in savings.items():
            marks.append(Mark(*texts.places[place], "question", weight))
        distance = float(sum(word.steps for word in words))

        def formula() -> Term:
            steps = []
            for word in words:
                note = "not near: the maximum" if word.place is None else f"token {word.place + 1}"
                steps.append(given(f'"{texts.query[word.at]}"', word.steps, note))
            return minus("score", plus("distance", *steps), f"the mention is token {start + 1}")

        numbers = {"distance": distance, "words": float(len(words)), "matched": float(len(matched))}
        return tuple(marks), numbers, formula

    return mark_candidate


def window_explainer(
    solver: ClozeWindow, texts: _ClozeTexts, corpus_weights: Mapping[Any, int]
) -> Callable[[list[str]], _Parts]:
    """Return what explains a candidate by the best position of its completed query, and the weights
    of the matching words: `corpus_weights`, or else those of the passage.
    """
    weight_of = corpus_weights
    if not weight_of:
        counts = Counter(texts.passage)
        weight_of = {word: inverse_count_weight(n) for word, n in counts.items()}

    def weigh_word(word: str) -> Term:
        value = weight_of[word] / SCALE
        if solver.weights == "passage":
            return inverse_count(f'"{word}"', texts.passage.count(word), value)
        return inverse_count(
            f'"{word}"', solver.passage_counts_.get(word, 1), value, solver.n_passages_
        )

    def mark_candidate(candidate: list[str]) -> _Parts:
        total, shift = best_shift(
            texts.passage,
            texts.query,
            texts.placeholder,
            candidate,
            weigh=weight_of.__getitem__,
        )
        if not total:
            note = "no position has a word of the completed query"
            return (), {"window": 0.0}, partial(given, "score", 0.0, note)
        before, after = texts.query[: texts.placeholder], texts.query[texts.placeholder :]
        completed = [*before, *candidate, *after]
        inside = range(max(shift, 0), min(shift + len(completed), len(texts.passage)))
        matched = [place for place in inside if texts.passage[place] == completed[place - shift]]
        slot = shift + texts.placeholder
        candidate_places = range(slot, slot + len(candidate))
        begin, _ = texts.places[inside[0]]
        _, end = texts.places[inside[-1]]
        marks = [Mark(begin, end, "window", total / SCALE)]
        for place in matched:
            kind = "candidate" if place in candidate_places else "question"
            weight = weight_of[texts.passage[place]] / SCALE
            marks.append(Mark(*texts.places[place], kind, weight))

        def formula() -> Term:
            terms = (weigh_word(texts.passage[place]) for place in matched)
            note = f"the query begins at token {shift + 1} of the passage"
            return plus("score", *terms, value=total / SCALE, note=note)

        numbers = {"window": total / SCALE, "matched": float(len(matched))}
        return tuple(marks), numbers, formula

    return mark_candidate


def _explain_texts(
    solver: Solver,
    questions: Sequence[Question],
    explainer: Callable[[Any, _ClozeTexts], Callable[[list[str]], _Parts]],
) -> Iterator[Explanation]:
    """Add marks and numbers to the scores, once for all candidates of a question with the same
    text.
    """
    analyzer, scores = get_analyzer(solver.analyzer), solver.score_candidates(questions)
    for k, question in enumerate(questions):
        mark_words = explainer(solver, _ClozeTexts.of(solver, question))
        unmarked = Explanation.from_scores(solver.name, question, scores.take([k]))
        texts = dict.fromkeys(plain.text for plain in unmarked.candidates)
        parts = {text: mark_words(analyzer.analyze(text)) for text in texts}
        explained = []
        for plain in unmarked.candidates:
            marks, numbers, formula = parts[plain.text]
            explained.append(replace(plain, marks=marks, numbers=numbers, make_formula=formula))
        yield replace(unmarked, candidates=tuple(explained))
