"""The MCTest baselines (Richardson et al. 2013) and their variants: sliding window, word
distance, and both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision
from classic_rc.errors import UsageError
from classic_rc.kernels.distance import DistanceRule, window_and_distance, word_distance
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.kernels.window import sliding_window, window_sweep
from classic_rc.metrics.base import primary_metric
from classic_rc.parameters import number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import QuestionScorer, Solver, Variant
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
from classic_rc.solvers.match_formulas import best_window, distance_term, neighbours
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION, STOP_WORDS
from classic_rc.text.analyzers import Analyzer, get_analyzer, stemmer, stop_words
from classic_rc.text.encoded import EncodedDataset
from classic_rc.work import tracked

_RELEASE = "the authors' released score files (partial credit for ties)"
_PAPER = "Richardson, Burges and Renshaw 2013, MCTest"
_PORT = (
    "the public Python port mcobzarenco/mctest, the 'Baseline SW+D' of Sugawara et al. 2017 "
    "(AAAI), Table 3"
)
_DREAM = "Sun et al. 2019, DREAM, and the released dsw++/run.py"
_PORT_CITES = ("richardson2013", "sugawara2017")
_DREAM_CITES = ("richardson2013", "sun2019")

_MCTEST_PARAMS = {"analyzer": "mctest", "decision": Argmax(ties="partial")}
_COIN_FLIP_PARAMS = {"analyzer": "mctest", "decision": Argmax(ties="random")}
_MCOBZARENCO_PARAMS = {"analyzer": "mcobzarenco", "decision": Argmax(ties="first")}
_DREAM_PARAMS = {"analyzer": "dream", "decision": Argmax(ties="first")}

_MCOBZARENCO_NOTE = (
    "cased tokens, stop words removed first, ties to the first option; the distance is that of the "
    "first pair found (a bug)"
)
_DREAM_NOTE = "without the speaker focus, the dropped turns and the ConceptNet similarity of DSW++"

# The splits that the authors tuned their distance weights on, by content fingerprint.
_MC160_DEV = {"965e7973287df919e25559a0416490fbafccb726309018470c1b949669964151": "mc160.dev"}
_MC500_DEV = {"7fba13a76aeade81e73f40766ac2e98dce076c733c000d43e8752380380778fa": "mc500.dev"}

WINDOW_VARIANTS = {
    "mctest": Variant(
        {**_MCTEST_PARAMS},
        "as released by the authors: their tokenizer, a window of |S|, counts within the passage",
        f"{_RELEASE}, Baseline_SW",
    ),
    "richardson2013": Variant(
        {**_COIN_FLIP_PARAMS},
        "as in the paper: ties are broken by a coin flip, so its tables show one draw and cannot "
        "be reproduced",
        f"{_PAPER}, Algorithm 1",
    ),
    "mcobzarenco": Variant(
        {**_MCOBZARENCO_PARAMS, "inverse_counts": "corpus"},
        f"counts over all passages of the file, {_MCOBZARENCO_NOTE}",
        _PORT,
        cites=_PORT_CITES,
    ),
    "dream": Variant(
        {**_DREAM_PARAMS}, f"the SW row of DREAM, {_DREAM_NOTE}", _DREAM, cites=_DREAM_CITES
    ),
    "race": Variant(
        {"analyzer": "treebank", "window": "tuned", "decision": Argmax(ties="partial")},
        "one window for all questions, tuned on a split; the paper does not specify tokens, "
        "weights and ties, so this variant does not aim to match its results",
        "Lai et al. 2017, RACE, sliding window baseline",
        cites=("richardson2013", "lai2017"),
    ),
}

DISTANCE_VARIANTS = {
    "mctest": Variant(
        {**_MCTEST_PARAMS, "distance": "mean", "stop_words": "mctest"},
        "the distance as released: the mean over question words",
        f"{_RELEASE}, Baseline_SW_D",
    ),
    "richardson2013": Variant(
        {**_COIN_FLIP_PARAMS, "distance": "min", "stop_words": "mctest"},
        "the distance as in the paper: the minimum over question words",
        f"{_PAPER}, Algorithm 2",
    ),
    "mcobzarenco": Variant(
        {**_MCOBZARENCO_PARAMS, "distance": "first", "stop_words": "none"},
        _MCOBZARENCO_NOTE,
        _PORT,
        cites=_PORT_CITES,
    ),
    "dream": Variant(
        {**_DREAM_PARAMS, "distance": "min+1", "stop_words": "nltk"},
        f"the minimum distance plus one step, {_DREAM_NOTE}",
        _DREAM,
        cites=_DREAM_CITES,
    ),
}


def _combine_variants(
    name: str, weight: float, release: str, tuned_on: dict[str, str] | None = None
) -> Variant:
    distance, window = DISTANCE_VARIANTS[name], WINDOW_VARIANTS[name]
    return Variant(
        {**window.params, **distance.params, "distance_weight": weight},
        f"{window.description}; {distance.description}; weight {weight:g}",
        release,
        tuned_on or {},
        window.cites,
    )


WINDOW_AND_DISTANCE_VARIANTS = {
    "mctest160": _combine_variants("mctest", 10.0, f"{_RELEASE}, Baseline_SW_D", _MC160_DEV),
    "mctest500": _combine_variants("mctest", 11.0, f"{_RELEASE}, Baseline_SW_D", _MC500_DEV),
    "richardson2013": _combine_variants(
        "richardson2013", 1.0, f"{_PAPER}, Algorithms 1 and 2; BaselineInPaper_SW_D as released"
    ),
    "mcobzarenco": _combine_variants("mcobzarenco", 1.0, _PORT),
    "dream": _combine_variants("dream", 1.0, _DREAM),
}


WINDOW_SIZES = range(2, 31)
"""The window lengths, in tokens, that ``window="tuned"`` chooses from."""

_WINDOW = whole_number(
    "set",
    "the window's length: ``|S|`` as published; the whole passage; or a number of tokens",
    allowed=("set", "passage"),
)
_INVERSE_COUNTS = parameter(
    "passage",
    "where the counts C come from: the candidate's own passage (as in the authors' code), or all "
    "passages that the solver is fitted on",
    allowed=("passage", "corpus"),
)
_DISTANCE = parameter(
    "mean",
    "how the distances of the question's words become one: their mean (the released scores) or "
    "their minimum (the paper as printed); see :func:`classic_rc.kernels.word_distance` for the "
    "other two",
    allowed=get_args(DistanceRule),
)
_STOP_WORDS = STOP_WORDS.but(
    help="the name of a stop list, or a file; its words are not in S_Q and S_A but still occupy "
    "their positions"
)


class _Matcher(Solver):
    """The common part of the three solvers: fitting word counts, word weights, and explanations."""

    needs_only_arrays = True
    needs_passages = True

    inverse_counts = "passage"

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """``"passages"`` if words are counted in a corpus, else ``"nothing"``."""
        return "passages" if self.inverse_counts == "corpus" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters. With ``inverse_counts="corpus"``, also count the words of the
        passages.
        """
        self.check_parameters()
        if self.inverse_counts == "corpus":
            encoded = self.encoded(questions)
            counts = encoded.passage_word_counts()
            counted_words = zip(encoded.vocabulary, counts.tolist(), strict=True)
            self.word_counts_ = {word: n for word, n in counted_words if n}
        return self

    def _word_weights(self, encoded: EncodedDataset) -> NDArray[np.int32] | None:
        if self.inverse_counts == "passage":
            return None
        problem = (
            f"{self.name} with inverse_counts='corpus' needs word counts: call fit(questions) first"
        )
        self.require_fitted("word_counts_", problem, field="inverse_counts", found="'corpus'")
        # A word that is in no fitted passage counts as if seen once: it is rare, so its weight is
        # the largest. A count of 0 would mean a weight of 0.
        counts = np.array([self.word_counts_.get(w, 1) for w in encoded.vocabulary], dtype=np.int64)
        return inverse_count_weights(counts)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Mark the best window and the nearest word pair of each candidate."""
        return explain_matches(self, questions)


class SlidingWindow(_Matcher):
    r"""The sliding window baseline: the passage window with the most weight of question and
    candidate words.

    .. math::

        sw = \max_j \sum_{i=0}^{n-1} [P_{j+i} \in S]\, \ln\left(1 + \frac{1}{C(P_{j+i})}\right)

    P is the passage, S the set of question and candidate words, n the window's length in tokens,
    and C(w) the number of times that w occurs (Richardson et al. 2013, Algorithm 1).

    Attributes
    ----------
    word_counts_ : dict of str to int
        With ``inverse_counts="corpus"``, how often each word occurs in the fitted passages.
    window_ : int
        With ``window="tuned"``, the chosen length in tokens.
    """

    name = "sliding-window"
    citation = "Richardson, Burges and Renshaw 2013, MCTest, Algorithm 1"
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = WINDOW_VARIANTS

    analyzer: Any = ANALYZER.but(
        help="the analyzer that turns texts into words; stop words that it drops are missing "
        "everywhere, also from windows"
    )
    window: int | Literal["set", "passage", "tuned"] = _WINDOW.but(
        help="the window's length: ``|S|`` as published; the whole passage; the length in 2..30 "
        "with the best value of the task's primary metric on the questions of :meth:`tune`; or a "
        "number of tokens",
        allowed=("set", "passage", "tuned"),
    )
    inverse_counts: Literal["passage", "corpus"] = _INVERSE_COUNTS
    decision: Decision | None = DECISION

    @property
    def tunes_parameters(self) -> bool:
        """Whether :meth:`tune` also chooses the window."""
        return self.window == "tuned"

    def tune(self, questions: Sequence[Question], scorer: QuestionScorer | None = None) -> Self:
        """Fit the decision on `questions`; with ``window="tuned"``, choose the window on them
        first.

        Raises
        ------
        UsageError
            With ``window="tuned"``, the decision itself needs tuning.
        """
        if self.tunes_parameters:
            self.check_parameters()
            encoded, metric = self.encoded(questions), primary_metric(questions[0])
            decision = self.decision_for(questions[0].task)
            if decision.needs_fit:
                expected = "a decision without parameters to tune, such as a fixed threshold"
                problem = f"window='tuned' needs {expected}"
                raise UsageError(problem, field="decision", found=repr(decision), expected=expected)
            sums = window_sweep(encoded.arrays, WINDOW_SIZES, self._word_weights(encoded)) / SCALE
            score_sets = [encoded.scores(column, column > 0) for column in sums.T]
            values = [
                metric(questions, decision.decide(scores, questions))
                for scores in tracked(score_sets, len(score_sets))
            ]
            # the shortest of equally good windows
            self.window_ = WINDOW_SIZES[int(np.argmax(values))]
        return super().tune(questions, scorer)

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with its best window's weight; no evidence if no word of the
        passage matches.
        """
        self.check_parameters()
        if self.window == "tuned":
            problem = (
                "the window is not tuned: call tune(questions) with gold answers (on the command "
                "line --tune DATA)"
            )
            self.require_fitted("window_", problem, field="window", found="'tuned'")
        encoded = self.encoded(questions)
        window = self.window_ if self.window == "tuned" else self.window
        best = sliding_window(encoded.arrays, window, self._word_weights(encoded))
        if self.inverse_counts == "passage":
            encoded.results["window", window] = best
        values = best / SCALE
        return encoded.scores(values, values > 0)


class WordDistance(_Matcher):
    r"""The word distance baseline: how close the question's words are to the candidate's; the score
    is -d.

    .. math:: d = \frac{1}{|S_Q|\,(|P| - 1)} \sum_{q \in S_Q} \min_{a \in S_A} |i_q - i_a|

    The minimum is over all occurrences of the words in the passage P. S_Q has the question's words,
    and S_A the candidate's words that are not in the question; both have only words of P that are
    not stop words. If either is empty, d = 1 (Richardson et al. 2013, Algorithm 2, as in the
    authors' released scores).
    """

    name = "word-distance"
    citation = "Richardson, Burges and Renshaw 2013, MCTest, Algorithm 2"
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = DISTANCE_VARIANTS

    analyzer: Any = ANALYZER
    distance: DistanceRule = _DISTANCE
    stop_words: str = _STOP_WORDS
    decision: Decision | None = DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with minus its word distance; no evidence if there is no pair of
        words.
        """
        self.check_parameters()
        encoded = self.encoded(questions)
        distances, is_measured = word_distance(
            encoded.arrays, encoded.stop_flags(self.stop_words), self.distance
        )
        encoded.results["distance", self.stop_words, self.distance] = distances, is_measured
        return encoded.scores(-distances, is_measured)


class SlidingWindowDistance(_Matcher):
    r"""Sliding window minus weighted word distance: ``sw - distance_weight * d``.

    .. math:: s = sw - \lambda\, d

    sw is the score of :class:`SlidingWindow`, d the distance of :class:`WordDistance`, and
    :math:`\lambda` the `distance_weight`.

    The default weight of 11 is a published constant: the authors tuned it on MC500 dev. So a row on
    MC500 dev is marked as tuned on its own data; on any other data the weight is fixed.
    """

    name = "sw+d"
    citation = (
        "Richardson, Burges and Renshaw 2013, MCTest, Algorithms 1 and 2, and the authors' release"
    )
    cites = ("richardson2013",)
    variants: ClassVar[Mapping[str, Variant]] = WINDOW_AND_DISTANCE_VARIANTS

    analyzer: Any = ANALYZER
    window: int | Literal["set", "passage"] = _WINDOW
    inverse_counts: Literal["passage", "corpus"] = _INVERSE_COUNTS
    distance: DistanceRule = _DISTANCE
    stop_words: str = _STOP_WORDS
    distance_weight: float = number(
        11.0,
        "the cost of a distance as long as the whole passage (d = 1), in units of the window's "
        "weight",
        default_tuned_on=_MC500_DEV,
    )
    decision: Decision | None = DECISION

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with window minus weighted distance; no evidence if both find
        nothing.
        """
        self.check_parameters()
        encoded = self.encoded(questions)
        windows_key = "window", self.window
        distances_key = "distance", self.stop_words, self.distance
        results = encoded.results
        if self.inverse_counts == "passage" and {windows_key, distances_key} <= results.keys():
            best = results[windows_key]
            distances, is_measured = results[distances_key]
        else:
            best, distances, is_measured = window_and_distance(
                encoded.arrays,
                encoded.stop_flags(self.stop_words),
                window=self.window,
                word_weights=self._word_weights(encoded),
                rule=self.distance,
            )
        windows = best / SCALE
        return encoded.scores(
            windows - self.distance_weight * distances, (windows > 0) | is_measured
        )


class _TokenizedPassage(NamedTuple):
    tokens: list[str]
    places: list[tuple[int, int]]  # the character offsets of each token
    count_of: Callable[[str], int]
    stop: set[str] | None  # None without a distance


def explain_matches(solver: _Matcher, questions: Sequence[Question]) -> Iterator[Explanation]:
    """Explain questions' scores by the best window and the nearest word pair of each candidate.

    A solver without a window or without a distance has only the marks of the other.
    """
    params = solver.get_params(deep=False)
    analyzer = get_analyzer(params["analyzer"])
    encoded = solver.encoded(questions)
    scores = solver.score_candidates(encoded)
    measured: Iterable[NDArray[np.float64] | None] = repeat(None)
    listed: set[str] | None = None
    if "stop_words" in params:
        stop_flags = encoded.stop_flags(params["stop_words"])
        measured = encoded.scores(*word_distance(encoded.arrays, stop_flags, params["distance"]))
        stem = stemmer(analyzer.stemmer)
        listed = {stem(word) for word in stop_words(params["stop_words"])}
    passages: dict[int, _TokenizedPassage] = {}
    for i, (question, distances) in enumerate(zip(questions, measured, strict=False)):
        key = id(question.passage)
        if key not in passages:
            passages = {key: _read_passage(solver, analyzer.locate(question.passage.text), listed)}
        explain = _candidate_explainer(
            solver, analyzer, passages[key], analyzer.analyze(question.query), distances
        )
        plain = Explanation.from_scores(solver.name, question, scores.take([i]))
        yield plain.with_best(explain)


def _read_passage(
    solver: Any, located: Sequence[tuple[str, int, int]], listed: set[str] | None
) -> _TokenizedPassage:
    tokens = [token for token, _, _ in located]
    places = [(start, end) for _, start, end in located]

    def count_in_corpus(word: str) -> int:
        return int(solver.word_counts_.get(word, 1))

    in_corpus = solver.learns_from == "passages"
    count_of = count_in_corpus if in_corpus else Counter(tokens).__getitem__
    stop = None if listed is None else {t for t in set(tokens) if t.lower() in listed}
    return _TokenizedPassage(tokens, places, count_of, stop)


def _candidate_explainer(
    solver: _Matcher,
    analyzer: Analyzer,
    passage: _TokenizedPassage,
    query: Sequence[str],
    distances: NDArray[np.float64] | None,
) -> Callable[[int, CandidateExplanation], CandidateExplanation]:
    """Return the function that explains a candidate of a question."""
    params = solver.get_params(deep=False)
    window = getattr(solver, "window_", params.get("window"))
    stop = passage.stop

    def explain_candidate(i: int, plain: CandidateExplanation) -> CandidateExplanation:
        answer = analyzer.analyze(plain.text)
        marks: list[Mark] = []
        numbers: dict[str, float] = {}
        sum_of_weights: Term | None = None
        if window is not None:
            sum_of_weights, inside = best_window(
                passage.tokens, query, answer, window, passage.count_of
            )
            numbers["sliding_window"] = sum_of_weights.value
            marks += _mark_window(passage, {*query}, inside, sum_of_weights)
        if stop is not None and distances is not None:
            numbers["distance"] = float(distances[i])
            if "distance_weight" in params:
                numbers["distance_weight"] = float(params["distance_weight"])
            marks += _nearest_pair(passage, query, answer, stop)

        def formula() -> Term:
            parts = [] if sum_of_weights is None else [sum_of_weights]
            if stop is not None:
                rule, value = params["distance"], numbers["distance"]
                distance = distance_term(passage.tokens, query, answer, stop, rule, value)
                if "distance_weight" in params:
                    weight = given("distance weight", numbers["distance_weight"])
                    distance = times("", weight, distance)
                parts.append(minus("", distance))
            if len(parts) == 1:
                return parts[0].renamed("score")
            return plus("score", *parts, value=plain.score)

        return replace(plain, marks=tuple(marks), numbers=numbers, make_formula=formula)

    return explain_candidate


def _mark_window(
    passage: _TokenizedPassage, question_words: set[str], inside: range, total: Term
) -> list[Mark]:
    if not inside:
        return []
    # A word has the same weight wherever it is.
    weights = {term.name: term.value for term in total.parts}
    begin, _ = passage.places[inside[0]]
    _, end = passage.places[inside[-1]]
    marks = [Mark(begin, end, "window", total.value)]
    for i in inside:
        weight = weights.get(f'"{passage.tokens[i]}"')
        if weight is not None:
            kind = "question" if passage.tokens[i] in question_words else "candidate"
            marks.append(Mark(*passage.places[i], kind, weight))
    return marks


def _nearest_pair(
    passage: _TokenizedPassage, query: Sequence[str], answer: Sequence[str], stop: set[str]
) -> list[Mark]:
    question_words = set(query) - stop
    candidate_words = set(answer) - set(query) - stop
    question_places = [i for i, token in enumerate(passage.tokens) if token in question_words]
    answer_places = [i for i, token in enumerate(passage.tokens) if token in candidate_words]
    if not question_places or not answer_places:
        return []
    pairs = ((i, j) for i in question_places for j in neighbours(answer_places, i))
    _, i, j = min((abs(i - j), i, j) for i, j in pairs)
    return [Mark(*passage.places[i], "pair-question"), Mark(*passage.places[j], "pair-candidate")]
