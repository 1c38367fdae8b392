"""Logistic regression on surface features: the variants, the solver and its explanations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import DataError
from classic_rc.kernels.blocked_matrix import (
    Features,
    count_entries,
    find_equal_columns,
    renumber_columns,
)
from classic_rc.parameters import parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant, provenance
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    divided,
    given,
    plus,
    times,
)
from classic_rc.solvers.learning import (
    LEARNERS,
    LogisticModel,
    check_shape,
    fit_model,
    gold_labels,
    require_task,
)
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION, REGULARISATION
from classic_rc.solvers.surface.features import (
    INPUTS,
    FeatureSet,
    SurfaceDesign,
    TrainingMatrix,
    feature_groups,
)
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encoded import EncodedDataset, renumber_words

SURFACE_VARIANTS = {
    "multirc2018": Variant(
        {
            "analyzer": "multirc2018",
            "features": "lengths+token-overlap+answer+text-answer+question-answer+prominent",
            "scaling": "none",
        },
        "the features that MultiRC's authors released, unscaled; a word is 'prominent' if it "
        "occurs in the passage more often than the passage's ratio of types to tokens, which is "
        "true of every word of a passage in which any word recurs (a bug), so shared words count "
        "twice. Not copied: the prediction script reads the header of LIBLINEAR's output as the "
        "first prediction; lengths in characters exclude blanks at a text's ends",
        "Khashabi et al. 2018, MultiRC, SurfaceLR, and the released surfaceLR_train.pl",
        cites=("khashabi2018multirc",),
    ),
    "mitre2018": Variant(
        {"features": "all", "scaling": "none"},
        "the features as the paper describes them: the candidate's words, those shared by story "
        "and candidate, the product of question and candidate, three counts of shared words and "
        "the lengths, unscaled; the paper does not specify its tokens and its ensemble",
        "Merkhofer et al. 2018, MITRE at SemEval-2018 Task 11, logistic regression",
        cites=("merkhofer2018",),
    ),
}


class SurfaceLR(Solver):
    r"""Logistic regression on lengths, shared words, words and word pairs; the score is the
    log-odds.

    .. math:: \log \frac{p}{1 - p} = b + \sum_j w_j x_j

    p is the probability that the candidate is right, and x its features. The weights w and the bias
    b minimise :math:`\frac{1}{2}(\|w\|^2 + b^2) + C \sum_i \log(1 + e^{-y_i (b + w \cdot x_i)})`
    over the candidates i of the training questions, where y is 1 or -1 (LIBLINEAR's ``-s 0 -B 1``).

    Attributes
    ----------
    design_ : SurfaceDesign
        The features and their columns.
    model_ : LogisticModel
        The weights.
    caveats_ : tuple of str
        A message if the learner stopped before it converged.
    """

    name = "surface-lr"
    former_params: ClassVar = {"output": "log-odds"}
    citation = (
        "Merkhofer et al. 2018, MITRE at SemEval-2018 Task 11; Khashabi et al. 2018, SurfaceLR"
    )
    cites = ("merkhofer2018", "khashabi2018multirc")
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset(
        {Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE}
    )
    variants: ClassVar[Mapping[str, Variant]] = SURFACE_VARIANTS
    needs_only_arrays = True

    analyzer: Any = ANALYZER
    features: str = parameter(
        "all",
        "groups of features joined by a plus, or ``all``, which is "
        "``lengths+overlap+answer+text-answer+question-answer``; see "
        ":data:`~classic_rc.solvers.surface.features.SURFACE_FEATURE_GROUPS`",
    )
    inputs: Literal["all", "no-passage", "no-question", "candidates"] = parameter(
        "all",
        "the inputs to read. Features that need other inputs are left out, which makes a "
        "partial-input baseline (after Kaushik and Lipton 2018)",
        allowed=tuple(INPUTS),
    )
    question_words: int | None = whole_number(
        None,
        "how many words to read from the start of the question (after Sugawara et al. 2018); None "
        "for all",
        allowed=(None,),
    )
    scaling: Literal["rms", "none"] = parameter(
        "rms",
        "whether to divide lengths and counts by their root mean square in training",
        allowed=("rms", "none"),
    )
    learner: Literal["newton", "liblinear"] | None = parameter(
        None,
        "the learner of the weights; None is ``newton``. ``liblinear`` is the learner of the "
        "papers; with unscaled lengths it stops short of the same optimum, without a warning",
        allowed=(None, *LEARNERS),
    )
    C: float = REGULARISATION
    decision: Decision | None = DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn the weights from right and wrong candidates; without a feature, that is a
        DataError.
        """
        features = self._feature_set()
        right = gold_labels(self.name, questions)
        require_task(self, questions)
        encoded = self.encoded(questions)
        rows, repeats = encoded.candidate_rows, None
        right = encoded.in_arrays(right)
        if rows is not None:
            repeats = np.bincount(rows, minlength=len(encoded.arrays.candidate_question))
            right = right[np.argsort(rows, kind="stable")]
        self.design_, matrix = SurfaceDesign.fit(
            features, encoded, scaled=self.scaling == "rms", repeats=repeats
        )
        if not self.design_.n_features:
            raise DataError(
                f"{self.name} cannot learn: no candidate has any of the features {self.features!r}"
            )
        self.model_, self.caveats_ = self._learn(matrix, right)
        self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with its log-odds.

        A candidate has evidence if the passage is read and has one of its words.
        """
        self.check_parameters()
        self.require_fitted("model_")
        model = self.model_
        encoded = self.encoded(questions)
        n_distinct = len(encoded.arrays.candidate_question)
        values, evidence = np.empty(n_distinct), np.empty(n_distinct, dtype=np.bool_)
        for block, features in self.design_.blocks(encoded):
            values[block.where] = model.log_odds(features)
            evidence[block.where] = block.evidence
        return encoded.scores(values, evidence)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the default learner: the papers have another one."""
        return {"learner": LEARNERS[0]} if self.learner is None else {}

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show the features with the largest effect on each score, and the candidate's words in
        the passage.
        """
        return explain_features(self, questions)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the words, the columns and the weights, for
        :func:`~classic_rc.solvers.saved.save_solver`.
        """
        self.require_fitted("model_")
        model = self.model_
        state, arrays = self.design_.to_state()
        return {"bias": model.bias, **state}, {"weights": model.weights, **arrays}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned; one that does not match is
        an error.
        """
        design = SurfaceDesign.from_state(self._feature_set(), state, arrays)
        weights = arrays["weights"]
        check_shape(weights, (design.n_features,))
        self.design_, self.model_ = design, LogisticModel(weights, float(state["bias"]))
        return self

    def _feature_set(self) -> FeatureSet:
        self.check_parameters()
        return FeatureSet(feature_groups(self.features), self.inputs, self.question_words)

    def _learn(
        self, matrix: TrainingMatrix, right: NDArray[np.int64]
    ) -> tuple[LogisticModel, tuple[str, ...]]:
        from scipy.sparse import csr_matrix

        numbers, columns, offsets = matrix
        n_numbers = numbers.shape[1]
        # Most word pairs occur in exactly the same candidates as other pairs. One column for all of
        # them is enough for a learner that shrinks weights, and takes less than half of the time
        # and the memory.
        sets = find_equal_columns(columns, offsets, self.design_.columns.n_columns)
        # Products with the matrix are faster if columns with equally many entries are neighbours.
        by_size = np.argsort(-count_entries(columns, len(sets.set_of))[sets.first], kind="stable")
        place = np.full(len(sets.set_of), -1, dtype=np.int32)
        place[sets.first[by_size]] = np.arange(len(sets.first), dtype=np.int32)
        new_column = place[sets.first][sets.set_of]
        columns, offsets = renumber_columns(columns, offsets, place)
        copies = np.append(np.ones(n_numbers), sets.copies[by_size].astype(np.float64))
        ones = np.ones(len(columns), dtype=np.int8)
        words = csr_matrix((ones, columns, offsets), shape=(len(numbers), len(sets.first)))
        features = Features(numbers, words)
        (weights, bias), caveats = fit_model(self.learner, self.C, features, right, copies)
        weights = np.append(weights[:n_numbers], weights[n_numbers:][new_column])
        return LogisticModel(weights, bias), caveats


_SHOWN_FEATURES = 8

_LABELS = {
    "answer": "candidate has {word!r}",
    "text-answer": "passage and candidate have {word!r}",
    "prominent": "candidate has prominent {word!r}",
    "question-answer": "question has {question_word!r} and candidate {word!r}",
}
_KINDS = {
    "answer": "the candidate's words",
    "text-answer": "words of passage and candidate",
    "prominent": "prominent words",
    "question-answer": "pairs of question and candidate words",
}
_PASSAGE_GROUPS = ("text-answer", "prominent")


def explain_features(solver: SurfaceLR, questions: Sequence[Question]) -> Iterator[Explanation]:
    """Explain each candidate's log-odds by the features that add the most, by name.

    The last two numbers are "other features" and "bias"; all numbers add up to the log-odds.
    Features that are equal for all candidates of a question, such as the passage's length, cannot
    decide between them, so they are among the other features if only one candidate is right. The
    words that a candidate shares with the passage are marked.
    """
    encoded = solver.encoded(questions)
    scores = solver.score_candidates(encoded)
    for k, (question, place) in enumerate(zip(questions, encoded.place.tolist(), strict=True)):
        plain = Explanation.from_scores(solver.name, question, scores.take([k]))
        yield plain.with_best(_candidate_explainer(solver, question, _alone(encoded, place)))


def _alone(encoded: EncodedDataset, place: int) -> EncodedDataset:
    """Return the encoding of one question, by its index in the arrays: sums are in the order of its
    own words, whatever the other questions are.
    """
    question = encoded.part(place, place + 1)
    arrays, words = renumber_words(question.arrays, question.vocabulary)
    borders = question.order, question.question_offsets, question.candidate_rows
    return EncodedDataset(question.questions, question.analyzer, words, arrays, *borders)


def _candidate_explainer(
    solver: SurfaceLR, question: Question, encoded: EncodedDataset
) -> Callable[[int, CandidateExplanation], CandidateExplanation]:
    """Return the function that explains a candidate of an encoded question."""
    terms = _compute_terms(solver, encoded)
    located = get_analyzer(solver.analyzer).locate(question.passage.text)
    reads_passage = "passage" in INPUTS[solver.design_.features.inputs]
    bias, one_is_right = solver.model_.bias, question.task is not Task.MULTIPLE_ANSWER

    def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
        row = i if encoded.candidate_rows is None else int(encoded.candidate_rows[i])
        word_weights: dict[str, float] = defaultdict(float)
        for term in terms[row]:
            if term.group in _PASSAGE_GROUPS:
                word_weights[term.word] += term.weight
        shared = _candidate_words(encoded, row) if reads_passage else set()
        marks = [
            Mark(start, end, "candidate", word_weights.get(w))
            for w, start, end in located
            if w in shared
        ]
        numbers = _shown_numbers(terms[row], bias, one_is_right=one_is_right)
        return replace(
            plain,
            marks=tuple(marks),
            numbers=numbers,
            make_formula=partial(_explain_score, terms[row], bias, plain.score),
        )

    return explain


class _FeatureTerm(NamedTuple):
    """A feature and what it adds to the log-odds."""

    label: str
    weight: float
    group: str = ""
    word: str = ""
    value: float = 1.0  # of the feature, in its unit
    unit: float = 1.0

    def formula(self) -> Term:
        """Return the feature's value in its unit times its weight."""
        if self.group:
            return given(self.label, self.weight)
        scaled = given("", self.value) if self.unit == 1 else divided("", self.value, self.unit)
        factor = self.weight / (self.value / self.unit) if self.value else 0.0
        return times(self.label, scaled, given("", factor), value=self.weight)


def _explain_score(terms: Sequence[_FeatureTerm], bias: float, score: float) -> Term | None:
    """Return the log-odds as a sum; None if the model adds up in another way."""
    kinds: dict[str, list[Term]] = {}
    for term in sorted(terms, key=lambda t: (-abs(t.weight), t.label)):
        if term.weight:
            kind = _KINDS.get(term.group, "lengths and counts")
            kinds.setdefault(kind, []).append(term.formula())
    sums = [plus(kind, *kind_terms) for kind, kind_terms in kinds.items()]
    formula = plus("score", *sums, given("bias", bias))
    if not math.isclose(formula.value, score, rel_tol=1e-6, abs_tol=1e-6):
        return None
    return replace(formula, value=score)


def _compute_terms(solver: SurfaceLR, encoded: EncodedDataset) -> Mapping[int, list[_FeatureTerm]]:
    """Return the terms of each candidate row of the arrays."""
    design, weights = solver.design_, solver.model_.weights
    n_numbers = len(design.features.numbers)
    word_ids = design.columns.word_ids(encoded.vocabulary)
    terms: dict[int, list[_FeatureTerm]] = defaultdict(list)
    for block in design.features.blocks(encoded):
        start = block.where.start
        added = (block.numbers / design.scale * weights[:n_numbers]).tolist()
        names, units = design.features.numbers, design.scale.tolist()
        rows = zip(added, block.numbers.tolist(), strict=True)
        for row, (row_weights, values) in enumerate(rows, start):
            columns = zip(names, row_weights, values, units, strict=True)
            for label, weight, value, unit in columns:
                terms[row].append(_FeatureTerm(label, weight, value=value, unit=unit))
        for group, features in block.words.items():
            usable, keys = design.columns.keys(features, word_ids)
            question_words = features.words if features.asked is None else features.asked
            ids = [features.rows, features.words, question_words]
            if usable is not None:
                ids = [array[usable] for array in ids]
            ids.append(design.columns.of_keys(group, keys))
            entries = zip(*(array.tolist() for array in ids), strict=True)
            for row, word_id, question_word_id, column in entries:
                if column >= 0:
                    word = encoded.vocabulary[word_id]
                    question_word = encoded.vocabulary[question_word_id]
                    label = _LABELS[group].format(word=word, question_word=question_word)
                    weight = float(weights[n_numbers + column])
                    terms[start + row].append(_FeatureTerm(label, weight, group, word))
    return terms


def _shown_numbers(
    terms: list[_FeatureTerm], bias: float, *, one_is_right: bool
) -> dict[str, float]:
    """Return the heaviest terms that can decide between candidates, the sum of all others, and
    the bias.
    """
    deciding = [term for term in terms if "candidate" in term.label or not one_is_right]
    deciding.sort(key=lambda term: (-abs(term.weight), term.label))
    heaviest = deciding[:_SHOWN_FEATURES]
    numbers = {term.label: term.weight for term in heaviest if term.weight}
    numbers["other features"] = sum(term.weight for term in terms) - sum(numbers.values())
    numbers["bias"] = bias
    return numbers


def _candidate_words(encoded: EncodedDataset, row: int) -> set[str]:
    start, end = encoded.arrays.candidate_offsets[row : row + 2]
    return {encoded.vocabulary[token] for token in encoded.arrays.candidate_tokens[start:end]}
