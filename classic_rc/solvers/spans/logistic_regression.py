"""Logistic regression over spans: Rajpurkar et al. 2016, without a parse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.kernels.pairs import word_counts
from classic_rc.metrics import quoref, squad
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import (
    ANALYZER,
    DECISION,
    REGULARISATION,
    SEED,
    Parameter,
    Solver,
    is_whole,
    provenance,
)
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.learning import LogisticModel, fit_model
from classic_rc.solvers.spans.design import SpanDesign, bucket_edges
from classic_rc.solvers.spans.features import SpanFeatures, WordWeights, explain_spans, span_groups
from classic_rc.text.encode import TextEncoder
from classic_rc.text.encode_spans import EncodedSpans, encode_spans

_SHOWN_FEATURES = 8


class SpanLR(Solver):
    r"""How much like an answer a span looks, by the question's words around it, its lengths, shape and words.

    .. math:: \log p(c \mid q) = \sum_j w_j x_j(q, c) + \text{const}

    with x the features of question and span, each 0 or 1, and w learned by telling the right spans of the training
    questions from a sample of the others: a logistic regression, of which the score is the log-odds. Features are
    the groups of :data:`~classic_rc.solvers.spans.features.GROUPS`; sums and lengths are put into buckets that hold
    equally many training candidates each.

    Against the paper: candidates are generated spans, not constituents, and there are no features of a parse (root
    match, parts of speech, dependency paths, the lexical ones); the loss is that of single candidates against a
    sample, not of all candidates of a question together.

    Parameters
    ----------
    analyzer : str or Analyzer
    features : str
        Groups of features joined by a plus, or ``"all"``.
    buckets : int
        Into how many buckets numbers are put, from 2.
    negatives : int or None
        How many wrong spans of each training question are learned from, drawn at random; None for all.
    learner : {"liblinear", "lbfgs", "sgd"}
        Names of :data:`~classic_rc.solvers.learning.LEARNERS`.
    C : float
        The inverse strength of the regularisation.
    seed : int
        Of the draws, which depend on the question's id and the span's place alone.
    decision : Decision, optional
        None is the best span, ties getting partial credit.

    Attributes
    ----------
    design_ : SpanDesign
        The buckets and the words.
    model_ : LogisticModel
        The weights.
    caveats_ : tuple of str
        That the learner stopped before it converged, if it did.
    """

    name = "span-lr"
    description = "logistic regression over spans: question words around them, lengths, shapes, words"
    citation = "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 5.2, without the features of a parse"
    cites = ("rajpurkar2016",)
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SPAN, Task.MULTI_SPAN})
    takes_encoding = False

    design_: SpanDesign
    model_: LogisticModel

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "analyzer": ANALYZER,
        "features": Parameter("groups of features joined by a plus, or 'all'"),
        "buckets": Parameter(
            "into how many buckets numbers are put",
            also="a whole number of at least 2",
            fits=lambda value: is_whole(value, 2),
        ),
        "negatives": Parameter(
            "how many wrong spans of a question are learned from; None for all",
            also="a whole number of at least 1 or None",
            fits=lambda value: value is None or is_whole(value, 1),
        ),
        "learner": Parameter("what learns the weights", ("liblinear", "lbfgs", "sgd")),
        "C": REGULARISATION,
        "seed": SEED,
        "decision": DECISION,
    }

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        features: str = "all",
        buckets: int = 10,
        negatives: int | None = 50,
        learner: Literal["liblinear", "lbfgs", "sgd"] = "liblinear",
        C: float = 1.0,
        seed: int = 0,
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.features = features
        self.buckets = buckets
        self.negatives = negatives
        self.learner = learner
        self.C = C
        self.seed = seed
        self.decision = decision

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn which features right and wrong spans have.

        A span is right where its text is a gold text, both normalised as the task's metric does. Questions without
        a right span teach nothing.

        Raises
        ------
        UsageError
            A parameter has a value that it cannot have, there is no question, or the task is not one of `tasks`.
        DataError
            Gold is hidden, or no span is right, or none is wrong.
        """
        groups = self._groups()
        _require_gold(questions)
        if questions[0].task not in self.tasks:
            raise UsageError(f"span-lr cannot learn from {questions[0].task} questions")
        words = self._word_weights(questions)
        parts, labels = [], []
        for _, spans in encode_spans(questions, self.analyzer):
            question, span, right = self._sample(spans)
            parts.append(SpanFeatures.of(groups, words, spans, question, span))
            labels.append(right)
        features, right = SpanFeatures.concatenate(parts), np.concatenate(labels)
        if not 0 < right.sum() < len(right):
            which = "wrong" if right.any() else "right"
            raise DataError(f"span-lr cannot learn: no candidate of the {len(questions):,} questions is {which}")
        design = SpanDesign(groups, words, bucket_edges(features.numbers, self.buckets))
        matrix = design.columns(features).matrix(design.n_columns)
        model, self.caveats_ = fit_model(self.learner, self.C, matrix, right)
        assert isinstance(model, LogisticModel)
        self.design_, self.model_ = design, model
        self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The log-odds; evidence where the span's sentence has a word of the question."""
        model = self._fitted_model()
        parts, order = [], [np.empty(0, dtype=np.int64)]
        for index, spans in encode_spans(questions, self.analyzer):
            features = self._features(spans)
            odds = model.bias + self.design_.columns(features).sums(model.weights)
            parts.append(Scores(odds, spans.candidate_offsets, features.evidence))
            order.append(index)
        return Scores.concatenate(parts).take(np.argsort(np.concatenate(order)))

    def explain(self, question: Question) -> Explanation:
        """The features that weigh most in each span's score, and the question's words around it."""
        model = self._fitted_model()
        ((_, spans),) = encode_spans([question], self.analyzer)
        columns = self.design_.columns(self._features(spans))

        def numbers(i: int) -> dict[str, float]:
            own = np.concatenate((columns.fixed[:, i], columns.words[columns.rows == i]))
            terms: dict[str, float] = defaultdict(float)
            for label, weight in zip(self.design_.labels(own), model.weights[own].tolist(), strict=True):
                terms[label] += weight
            heaviest = sorted(terms, key=lambda label: (-abs(terms[label]), label))
            shown = {label: terms[label] for label in heaviest[:_SHOWN_FEATURES]}
            rest = sum(terms[label] for label in heaviest[_SHOWN_FEATURES:])
            return {**shown, "other features": rest, "bias": model.bias}

        return explain_spans(self, question, spans, numbers)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The words, the buckets and the weights, for :func:`~classic_rc.solvers.saved.save_solver`."""
        model = self._fitted_model()
        state, arrays = self.design_.to_state()
        return {"bias": model.bias, **state}, {"weights": model.weights, **arrays}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Become fitted again, from what :meth:`fitted_state` gave."""
        design, weights = SpanDesign.from_state(self._groups(), state, arrays), arrays["weights"]
        if weights.shape != (design.n_columns,):
            raise ValueError(f"{len(weights)} weights for {design.n_columns} features")
        self.design_, self.model_ = design, LogisticModel(weights, float(state["bias"]))
        return self

    def _fitted_model(self) -> LogisticModel:
        if not hasattr(self, "model_"):
            raise NotFittedError(
                f"{self.name} learns from gold answers: call fit(train) first (on the command line --train DATA or "
                "--cv 5)"
            )
        return self.model_

    def _features(self, spans: EncodedSpans) -> SpanFeatures:
        """The features of all candidates."""
        question = np.repeat(np.arange(len(spans.questions)), np.diff(spans.candidate_offsets))
        return SpanFeatures.of(self.design_.groups, self.design_.words, spans, question, spans.candidate_span)

    def _groups(self) -> tuple[str, ...]:
        self.check_parameters()
        return span_groups(str(self.features))

    def _word_weights(self, questions: Sequence[Question]) -> WordWeights:
        texts = {id(q.passage): q.passage.text for q in questions}
        encoder = TextEncoder(self.analyzer)
        tokens, offsets = encoder.encode(list(texts.values()))
        vocabulary = encoder.vocabulary
        held = word_counts(tokens, offsets, max(len(vocabulary), 1)).words
        passages = np.bincount(held, minlength=len(vocabulary))
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        return WordWeights.of_counts([vocabulary[i] for i in order], passages[order], len(texts))

    def _sample(self, spans: EncodedSpans) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The question, the span and the label of every right candidate, and of some of the wrong ones."""
        counts = np.diff(spans.candidate_offsets)
        question = np.repeat(np.arange(len(counts)), counts)
        right = _right_candidates(spans)
        draws = uniform_draws(text_keys([q.id for q in spans.questions]), counts, self.seed)
        draws[right] = -1
        order = np.lexsort((draws, question))
        rank = np.arange(len(order)) - spans.candidate_offsets[:-1][question]
        n_right = np.bincount(question[right], minlength=len(counts))[question]
        most = len(order) if self.negatives is None else self.negatives
        chosen = np.sort(order[(n_right > 0) & (rank < n_right + most)])
        return question[chosen], spans.candidate_span[chosen], right[chosen].astype(np.int64)


def _require_gold(questions: Sequence[Question]) -> None:
    if not len(questions):
        raise UsageError("span-lr cannot learn from data without a question")
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"span-lr learns from gold answers, and {hidden:,} of {len(questions):,} questions hide theirs"
        )


def _right_candidates(spans: EncodedSpans) -> NDArray[np.bool_]:
    """Which candidates' texts are gold texts, both normalised as the task's metric does."""
    flags = []
    texts: dict[int, list[str]] = {}
    for question, number in zip(spans.questions, spans.question_list.tolist(), strict=True):
        normalise = quoref.normalise if question.task is Task.MULTI_SPAN else squad.normalise
        if number not in texts:
            texts[number] = [normalise(candidate.text) for candidate in spans.lists[number]]
        accepted = {normalise(text) for text in question.gold_texts}
        flags.append(np.fromiter((text in accepted for text in texts[number]), np.bool_, len(texts[number])))
    return np.concatenate(flags)
