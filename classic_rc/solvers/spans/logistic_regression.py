"""The span-lr solver: the logistic regression of Rajpurkar et al. 2016, without parse features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.kernels.pairs import word_counts
from classic_rc.metrics import quoref
from classic_rc.parameters import parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import ANALYZER, REGULARISATION, SEED, Solver, provenance
from classic_rc.solvers.explanation import Explanation, Term, given, plus, times
from classic_rc.solvers.learning import LogisticModel, fit_model, require_task
from classic_rc.solvers.spans.design import SpanDesign, bucket_edges
from classic_rc.solvers.spans.features import SPAN_DECISION, SpanFeatures, WordWeights, explain_spans, span_groups
from classic_rc.text.encode import TextEncoder
from classic_rc.text.encode_spans import EncodedSpans, encode_spans
from classic_rc.text.squad import normalise_squad_answer

_SHOWN_FEATURES = 8


class SpanLR(Solver):
    r"""Logistic regression over spans: question words around them, lengths, shapes and words.

    .. math:: \log p(c \mid q) = \sum_j w_j x_j(q, c) + \text{const}

    x has the features of question and span, each 0 or 1. The weights w separate the right spans of the training
    questions from a sample of the wrong ones by logistic regression, and the score is the log-odds. The features
    are the groups of :data:`~classic_rc.solvers.spans.features.SPAN_FEATURE_GROUPS`.
    Sums and lengths are put into buckets with
    equally many training candidates each.

    Differences from the paper: candidates are generated spans instead of constituents; there are no parse features
    (root match, parts of speech, dependency paths, lexicalised ones); the loss compares single candidates with a
    sample instead of all candidates of a question together.

    Attributes
    ----------
    design_ : SpanDesign
        The buckets and the words.
    model_ : LogisticModel
        The weights.
    caveats_ : tuple of str
        A message if the learner stopped before it converged.
    """

    name = "span-lr"
    description = "logistic regression over spans: question words around them, lengths, shapes, words"
    citation = "Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 5.2, without the features of a parse"
    cites = ("rajpurkar2016",)
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SPAN, Task.MULTI_SPAN})
    takes_encoding = False

    analyzer: Any = ANALYZER
    features: str = parameter(
        "all",
        "groups of features joined by a plus, or 'all'; see "
        ":data:`~classic_rc.solvers.spans.features.SPAN_FEATURE_GROUPS`",
    )
    buckets: int = whole_number(10, "the number of buckets of each number", least=2)
    negatives: int | None = whole_number(
        50,
        "how many wrong spans, drawn at random, to learn from in each training question; None for all",
        allowed=(None,),
    )
    learner: Literal["newton", "liblinear"] = parameter(
        "newton",
        "the learner of the weights; see :data:`~classic_rc.solvers.learning.LEARNERS`",
        allowed=("newton", "liblinear"),
    )
    C: float = REGULARISATION
    seed: int = SEED.but(
        help="the seed of the draws; a draw depends only on the seed, the question's id and the span's index"
    )
    decision: Decision | None = SPAN_DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn the weights from right and wrong spans.

        A span is right if its text is a gold text; both are normalised as in the task's metric. Questions without a
        right span are left out.

        Raises
        ------
        UsageError
            A parameter has a value that is not allowed, there is no question, or the task is not one of `tasks`.
        DataError
            Gold is hidden, or no span is right, or none is wrong.
        """
        groups = self._feature_groups()
        _require_gold(questions)
        require_task(self, questions)
        words = self._weigh_words(questions)
        parts, labels = [], []
        for _, spans in encode_spans(questions, self.analyzer):
            question, span, right = self._sample_candidates(spans)
            parts.append(SpanFeatures.of(groups, words, spans, question, span))
            labels.append(right)
        features, right = SpanFeatures.concatenate(parts), np.concatenate(labels)
        if not 0 < right.sum() < len(right):
            which = "wrong" if right.any() else "right"
            raise DataError(
                f"{self.name} cannot learn",
                found=f"no {which} candidate in {len(questions):,} questions",
                expected="right and wrong candidates",
            )
        design = SpanDesign(groups, words, bucket_edges(features.numbers, self.buckets))
        matrix = design.columns(features).matrix(design.n_columns)
        model, self.caveats_ = fit_model(self.learner, self.C, matrix, right)
        assert isinstance(model, LogisticModel)
        self.design_, self.model_ = design, model
        self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each span with its log-odds; evidence if its sentence has a word of the question."""
        model = self._fitted_model()
        parts, order = [], [np.empty(0, dtype=np.int64)]
        for index, spans in encode_spans(questions, self.analyzer):
            features = self._compute_features(spans)
            odds = model.bias + self.design_.columns(features).sums(model.weights)
            parts.append(Scores(odds, spans.candidate_offsets, features.evidence))
            order.append(index)
        return Scores.concatenate(parts).take(np.argsort(np.concatenate(order)))

    def explain(self, question: Question) -> Explanation:
        """Show the features with the largest effect on each span's score, and the question's words around it."""
        model = self._fitted_model()
        ((_, spans),) = encode_spans([question], self.analyzer)
        columns = self.design_.columns(self._compute_features(spans))

        def explain_score(i: int, score: float) -> tuple[dict[str, float], Callable[[], Term]]:
            active = np.concatenate((columns.fixed[:, i], columns.words[columns.rows == i]))
            weights: dict[str, list[float]] = defaultdict(list)
            for label, weight in zip(self.design_.labels(active), model.weights[active].tolist(), strict=True):
                weights[label].append(weight)
            terms = {label: sum(own) for label, own in weights.items()}
            heaviest = sorted(terms, key=lambda label: (-abs(terms[label]), label))
            shown = {label: terms[label] for label in heaviest[:_SHOWN_FEATURES]}
            rest = sum(terms[label] for label in heaviest[_SHOWN_FEATURES:])

            def formula() -> Term:
                features = (_feature_term(label, weights[label]) for label in heaviest)
                return plus("score", *features, given("bias", model.bias), value=score)

            return {**shown, "other features": rest, "bias": model.bias}, formula

        return explain_spans(self, question, spans, explain_score)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the learner, because earlier versions have another default."""
        return {"learner": self.learner}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the words, the buckets and the weights, for :func:`~classic_rc.solvers.saved.save_solver`."""
        model = self._fitted_model()
        state, arrays = self.design_.to_state()
        return {"bias": model.bias, **state}, {"weights": model.weights, **arrays}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned.

        Raises
        ------
        KeyError or ValueError
            The state does not match the parameters.
        """
        design, weights = SpanDesign.from_state(self._feature_groups(), state, arrays), arrays["weights"]
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

    def _compute_features(self, spans: EncodedSpans) -> SpanFeatures:
        """Compute the features of all candidates."""
        question = np.repeat(np.arange(len(spans.questions)), np.diff(spans.candidate_offsets))
        return SpanFeatures.of(self.design_.groups, self.design_.words, spans, question, spans.candidate_span)

    def _feature_groups(self) -> tuple[str, ...]:
        self.check_parameters()
        return span_groups(str(self.features))

    def _weigh_words(self, questions: Sequence[Question]) -> WordWeights:
        texts = {id(q.passage): q.passage.text for q in questions}
        encoder = TextEncoder(self.analyzer)
        tokens, offsets = encoder.encode(list(texts.values()))
        vocabulary = encoder.vocabulary
        distinct = word_counts(tokens, offsets, max(len(vocabulary), 1)).words
        passages = np.bincount(distinct, minlength=len(vocabulary))
        # Sorted words, so that the columns do not depend on the order of the passages.
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        return WordWeights.of_counts([vocabulary[i] for i in order], passages[order], len(texts))

    def _sample_candidates(
        self, spans: EncodedSpans
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the question, the span and the label of all right candidates and a sample of the wrong ones."""
        counts = np.diff(spans.candidate_offsets)
        question = np.repeat(np.arange(len(counts)), counts)
        right = _find_right_candidates(spans)
        draws = uniform_draws(text_keys([q.id for q in spans.questions]), counts, self.seed)
        # Draws are in [0, 1), so -1 sorts a question's right candidates before its wrong ones, which are in random
        # order. The first n_right + most of each question are then all right ones and the sample.
        draws[right] = -1
        order = np.lexsort((draws, question))
        rank = np.arange(len(order)) - spans.candidate_offsets[:-1][question]
        n_right = np.bincount(question[right], minlength=len(counts))[question]
        most = len(order) if self.negatives is None else self.negatives
        chosen = np.sort(order[(n_right > 0) & (rank < n_right + most)])
        return question[chosen], spans.candidate_span[chosen], right[chosen].astype(np.int64)


def _feature_term(label: str, weights: Sequence[float]) -> Term:
    """Return what a feature adds: its weight, as often as the span has it."""
    if len(weights) == 1:
        return given(label, weights[0])
    return times(label, len(weights), given("", weights[0]), value=sum(weights))


def _require_gold(questions: Sequence[Question]) -> None:
    if not len(questions):
        raise UsageError(
            f"{SpanLR.name} cannot learn without questions",
            field="questions",
            found="0",
            expected="questions with gold answers",
        )
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"{SpanLR.name} cannot learn without gold answers",
            found=f"{hidden:,} of {len(questions):,} questions with hidden gold",
        )


def _find_right_candidates(spans: EncodedSpans) -> NDArray[np.bool_]:
    """Return which candidates' texts are gold texts; both are normalised as in the task's metric."""
    flags = []
    texts: dict[int, list[str]] = {}
    for question, number in zip(spans.questions, spans.question_list.tolist(), strict=True):
        normalise = quoref.normalise_quoref_answer if question.task is Task.MULTI_SPAN else normalise_squad_answer
        if number not in texts:
            texts[number] = [normalise(candidate.text) for candidate in spans.lists[number]]
        accepted = {normalise(text) for text in question.gold_texts}
        flags.append(np.fromiter((text in accepted for text in texts[number]), np.bool_, len(texts[number])))
    return np.concatenate(flags)
