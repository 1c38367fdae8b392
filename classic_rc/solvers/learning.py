"""The common part of solvers that learn from gold: labels, out-of-fold scores, learners and fitted models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.folds import Folds
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.text.encode import SharedQuestions
from classic_rc.text.squad import normalise_squad_answer

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from classic_rc.kernels.blocked_matrix import Features


def require_task(solver: Solver, questions: Sequence[Question]) -> None:
    """Refuse training questions, at least one, of a task that a solver does not answer.

    Raises
    ------
    UsageError
        The solver does not answer the questions' task.
    """
    if questions[0].task not in solver.tasks:
        task, expected = str(questions[0].task), " or ".join(sorted(solver.tasks))
        raise UsageError(
            f"{solver.name} cannot learn from {task} questions, only from {expected} ones",
            field="task",
            found=task,
            expected=expected,
        )


def require_gold(learner: str, questions: Sequence[Question]) -> None:
    """Refuse training questions if there are none, or if some hide their gold.

    Raises
    ------
    UsageError
        There is no question.
    DataError
        Gold is hidden.
    """
    if not len(questions):
        raise UsageError(
            f"{learner} cannot learn without questions",
            field="questions",
            found="0",
            expected="questions with gold answers",
        )
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"{learner} learns from gold answers, but {hidden:,} of {len(questions):,} questions have none",
            found=f"{hidden:,} of {len(questions):,} questions without gold",
        )


def gold_labels(learner: str, questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return 1 for every candidate that gold accepts, and 0 for the others.

    If gold is a set of texts, a candidate is right if its text is one of them. Both are normalised as in SQuAD's
    metric.

    Parameters
    ----------
    learner : str
        The solver's name, for error messages.

    Returns
    -------
    ndarray of int64, shape (n_candidates,)
        At least one 0 and at least one 1.

    Raises
    ------
    UsageError
        There is no question.
    DataError
        Gold is hidden, or no candidate is right, or none is wrong.
    """
    require_gold(learner, questions)
    has_choices = {task: task.has_choices for task in {question.task for question in questions}}
    n_candidates, places = 0, []
    for question in questions:
        gold, n_own = question.gold or (), len(question.candidates)
        if has_choices[question.task]:
            places += [n_candidates + i for i in range(n_own) if i in gold]
        else:
            accepted = {normalise_squad_answer(str(text)) for text in gold}
            places += [
                n_candidates + i
                for i, candidate in enumerate(question.candidates)
                if normalise_squad_answer(candidate.text) in accepted
            ]
        n_candidates += n_own
    right = np.zeros(n_candidates, dtype=np.int64)
    right[places] = 1
    if not 0 < right.sum() < len(right):
        found, missing = ("right", "wrong") if len(right) and right.all() else ("wrong", "right")
        raise DataError(
            f"{learner} cannot learn",
            found=f"{len(right):,} {found} candidates and no {missing} ones",
            expected="both",
        )
    return right


class OutOfFold:
    """One solver for each fold of a dataset, each fitted on questions that the fold has nothing in common with.

    Parameters
    ----------
    learn : callable
        Returns a solver fitted on the questions that it is called with.
    train : Dataset or sequence of Question
        Questions with gold answers.
    folds : list of (ndarray of int64, ndarray of int64)
        For each fold the positions of its training questions in `train`, and those of its own questions in the
        dataset: `train` itself (:meth:`classic_rc.folds.FoldPlan.folds`), or other data
        (:meth:`classic_rc.folds.FoldPlan.folds_apart`).

    Attributes
    ----------
    solvers : list of Solver
        One for each fold that has questions.
    fold_of : ndarray of int64, shape (n_questions,)
        The fold of each question of the dataset.
    """

    def __init__(self, learn: Callable[[Any], Solver], train: Sequence[Question], folds: Folds) -> None:
        shared = SharedQuestions.of(train)
        folds = [(others, own) for others, own in folds if len(own)]
        self.solvers = [learn(shared.take(others)) for others, _ in folds]
        self.fold_of = np.zeros(sum(len(own) for _, own in folds), dtype=np.int64)
        for fold, (_, own) in enumerate(folds):
            self.fold_of[own] = fold

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score all questions of the dataset, each with the solver of its own fold."""
        return self.score(np.arange(len(questions)), questions)

    def score(self, index: NDArray[np.int64], questions: Sequence[Question]) -> Scores:
        """Score some of the dataset's questions, which have the positions `index` in it."""
        (scores,) = self._score(index, questions, lambda solver, part: [score_questions(solver, part)])
        return scores

    def member_scores(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the normalised scores of a combination's members for all questions of the dataset."""
        return self._score(np.arange(len(questions)), questions, lambda solver, part: solver.member_scores(part))

    def score_with_members(self, index: NDArray[np.int64], questions: Sequence[Question]) -> list[Scores]:
        """Score like :meth:`score`; the scores of a combination's members follow."""
        return self._score(index, questions, lambda solver, part: solver.score_with_members(part))

    def _score(
        self,
        index: NDArray[np.int64],
        questions: Sequence[Question],
        score: Callable[[Any, Sequence[Question]], list[Scores]],
    ) -> list[Scores]:
        parts, places = [], []
        shared = SharedQuestions.of(questions)
        for solver, members in self._by_fold(index):
            parts.append(score(solver, shared.take(members)))
            places.append(members)
        order = np.argsort(np.concatenate(places))
        return [Scores.concatenate(scored).take(order) for scored in zip(*parts, strict=True)]

    def decide(self, scores: Scores, questions: Sequence[Question], index: NDArray[np.int64]) -> list[Prediction]:
        """Answer some of the dataset's questions, each with the tuned decision of its own fold."""
        answers: dict[int, Prediction] = {}
        for solver, members in self._by_fold(index):
            own = [questions[i] for i in members.tolist()]
            answers.update(zip(members.tolist(), solver.decision_.decide(scores.take(members), own), strict=True))
        return [answers[i] for i in range(len(index))]

    def _by_fold(self, index: NDArray[np.int64]) -> list[tuple[Solver, NDArray[np.int64]]]:
        fold = self.fold_of[index]
        return [(solver, np.flatnonzero(fold == k)) for k, solver in enumerate(self.solvers) if (fold == k).any()]


def one_thread() -> AbstractContextManager[object]:
    """Return a context manager that limits linear algebra to one thread.

    With several threads, the order of additions depends on their number, and so do the last digits of a learner's
    weights. A tuned threshold or a repeated run would show the difference.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


LEARNERS: Mapping[str, str] = {
    "newton": "logistic regression by Newton steps to within 1e-10 of the optimal objective, the default",
    "liblinear": "LIBLINEAR's logistic regression: the same objective, slower, and it may stop before the optimum",
    "linear-svm": "LIBLINEAR's linear support vector machine",
    "naive-bayes": "multinomial naive Bayes",
}
"""The learners by name. Any scikit-learn classifier can be a learner too."""

_REMOVED = {
    "sgd": "stochastic gradient descent stops far from the optimum",
    "newton-cg": "'newton' finds the same weights many times faster",
    "lbfgs": "'newton' reaches the optimum faster, and regularises the bias as LIBLINEAR does",
}
_MAX_ITERATIONS = 1000
_CERTAIN_LOG_ODDS = 1e6
"""The value in place of infinite log-odds, because no threshold can be tuned on infinite scores."""


class Model(Protocol):
    """A fitted binary classifier: right (1) against wrong (0)."""

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """What one unit of each feature adds to the log-odds, or None if that is not a constant."""

    @property
    def bias(self) -> float:
        """The log-odds of a candidate without features."""

    def log_odds(self, features: Any) -> NDArray[np.float64]:
        """Return log(p / (1 - p)) of each row, or the classifier's substitute for it."""

    def probability(self, features: Any) -> NDArray[np.float64]:
        """Return the probability p that each row is right."""


class LogisticModel(NamedTuple):
    """A linear model of the log-odds."""

    weights: NDArray[np.float64]  # shape (n_features,)
    bias: float

    def log_odds(self, features: Any) -> NDArray[np.float64]:
        """Return the weighted sum of each row, plus the bias."""
        odds: NDArray[np.float64] = features @ self.weights + self.bias
        return odds

    def probability(self, features: Any) -> NDArray[np.float64]:
        """Return the logistic function of the log-odds."""
        from scipy.special import expit

        probability: NDArray[np.float64] = expit(self.log_odds(features))
        return probability


class ClassifierModel(NamedTuple):
    """Any fitted scikit-learn classifier."""

    classifier: Any  # its classes are 0 and 1

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The coefficients of a linear classifier, else None."""
        coefficients = getattr(self.classifier, "coef_", None)
        return None if coefficients is None else np.asarray(coefficients, dtype=np.float64).reshape(-1)

    @property
    def bias(self) -> float:
        """The intercept of a linear classifier, else 0."""
        return float(np.ravel(getattr(self.classifier, "intercept_", 0.0))[0])

    def log_odds(self, features: Any) -> NDArray[np.float64]:
        """Return the classifier's decision function or, without one, the log-odds of its probabilities.

        Infinite log-odds become +-1e6.
        """
        if hasattr(self.classifier, "decision_function"):
            return np.ravel(self.classifier.decision_function(features))
        with np.errstate(divide="ignore"):  # if all trees of a forest agree, the other probability is 0
            wrong, right = self.classifier.predict_log_proba(features).T
        return np.nan_to_num(right - wrong, posinf=_CERTAIN_LOG_ODDS, neginf=-_CERTAIN_LOG_ODDS)

    def probability(self, features: Any) -> NDArray[np.float64]:
        """Return the classifier's own probabilities.

        Raises
        ------
        UsageError
            The classifier has no ``predict_proba``.
        """
        if not hasattr(self.classifier, "predict_proba"):
            name = type(self.classifier).__name__
            raise UsageError(
                f"the learner {name} has no predict_proba: use output='log-odds'",
                field="learner",
                found=name,
                expected="a classifier with predict_proba",
            )
        return np.ascontiguousarray(self.classifier.predict_proba(features)[:, 1])


def shrinks_weights(learner: Any) -> bool:
    """Return whether `learner` is one of the two that minimise a loss plus half the squared norm of all weights.

    The bias counts as a weight.
    """
    return learner is None or (isinstance(learner, str) and learner in ("newton", "liblinear"))


def check_learner(learner: Any) -> None:
    """Raise an error if `learner` is not None, a name of :data:`LEARNERS`, or a scikit-learn classifier.

    Raises
    ------
    UsageError
        The name is unknown or removed, or the object is not a classifier.
    """
    if isinstance(learner, str) and learner in _REMOVED:
        raise UsageError(
            f"learner {learner!r} was removed: {_REMOVED[learner]}; use 'newton', the default",
            field="learner",
            found=learner,
            expected="newton",
        )
    if isinstance(learner, str) and learner not in LEARNERS:
        raise unknown_name("learner", learner, LEARNERS)
    if learner is None or isinstance(learner, str):
        return  # without scikit-learn, whose import takes longer than many fits
    from sklearn.base import BaseEstimator, is_classifier

    if not (isinstance(learner, BaseEstimator) and is_classifier(learner)):
        raise UsageError(
            f"parameter 'learner' must be one of {', '.join(map(repr, LEARNERS))} or a scikit-learn classifier, "
            f"got {learner!r}",
            field="learner",
            found=repr(learner),
            expected="a name or a scikit-learn classifier",
        )


def fit_model(
    learner: Any,
    C: float,
    features: csr_matrix | Features,
    right: NDArray[np.int64],
    copies: NDArray[np.floating[Any]] | None = None,
) -> tuple[Model, tuple[str, ...]]:
    """Fit a learner, and say in the caveats if it stopped before it converged.

    `learner` is None (Newton steps), a name of :data:`LEARNERS`, or a classifier, which is cloned; C is the inverse
    strength of the regularisation, for named linear learners. Of the candidates, some are right (1) and some not
    (0). `copies` says how many equal features each column replaces, only for learners that shrink weights
    (:func:`shrinks_weights`): the model's weights are those of one of these features.
    """
    from classic_rc.kernels.blocked_matrix import Features

    check_learner(learner)
    if learner is None or (isinstance(learner, str) and learner == "newton"):
        return _fit_newton(C, Features.of(features), right, copies)
    from scipy.sparse import csr_matrix, diags, hstack
    from sklearn.linear_model import LogisticRegression

    if isinstance(features, Features):
        blocks = [csr_matrix(block, dtype=np.float64) for block in features if block is not None]
        features = csr_matrix(hstack(blocks, format="csr"))
    scale = np.ones(features.shape[1]) if copies is None else np.sqrt(copies)
    if copies is not None:
        features = csr_matrix(features @ diags(scale))
    features.sum_duplicates()
    classifier = _make_classifier(learner, C)
    caveats = _fit_classifier(classifier, features, right)
    if not isinstance(classifier, LogisticRegression):
        return ClassifierModel(classifier), caveats
    weights, bias = np.ravel(classifier.coef_).astype(np.float64), np.ravel(classifier.intercept_)[0]
    return LogisticModel(weights / scale, float(bias)), caveats


def _make_classifier(learner: Any, C: float) -> Any:
    """Return an unfitted scikit-learn classifier."""
    from sklearn.base import clone

    # The bias is one more feature, regularised like the others, as in LIBLINEAR's `-B 1`. LIBLINEAR's default
    # tolerance of 0.01 stops far from the optimum. LIBLINEAR shuffles, so it needs a seed.
    liblinear = {"C": C, "tol": 1e-4, "max_iter": _MAX_ITERATIONS, "intercept_scaling": 1.0, "random_state": 0}
    if learner == "liblinear":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(solver="liblinear", **liblinear)
    if learner == "linear-svm":
        from sklearn.svm import LinearSVC

        return LinearSVC(dual=True, **liblinear)
    if learner == "naive-bayes":
        from sklearn.naive_bayes import MultinomialNB

        return MultinomialNB()
    return clone(learner)


def _fit_newton(
    C: float, features: Features, right: NDArray[np.int64], copies: NDArray[np.floating[Any]] | None
) -> tuple[Model, tuple[str, ...]]:
    """Fit by Newton steps; the bias is one more dense column."""
    from classic_rc.kernels.blocked_matrix import Features
    from classic_rc.kernels.logistic import fit_logistic

    ones = np.ones((features.shape[0], 1))
    dense = ones if features.dense is None else np.hstack((ones, features.dense))
    with one_thread():
        fit = fit_logistic(
            Features(dense, features.sparse),
            right,
            C,
            copies=None if copies is None else np.concatenate(([1.0], copies)),
        )
    model = LogisticModel(fit.weights[1:], float(fit.weights[0]))
    if fit.converged:
        return model, ()
    return model, (f"the learner newton stopped after {fit.n_steps} steps before it converged: scale the features",)


def _fit_classifier(classifier: Any, features: csr_matrix, right: NDArray[np.int64]) -> tuple[str, ...]:
    """Fit a classifier; turn its convergence warnings into caveats and repeat all other warnings."""
    from sklearn.exceptions import ConvergenceWarning

    name = type(classifier).__name__
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with one_thread():
                classifier.fit(features, right)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"the learner {name} cannot be fitted on sparse features: {error}", field="learner", found=name
            ) from error
    caveats = []
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            caveats.append(
                f"the learner {name} stopped before it converged: scale the features, "
                "or use a classifier with a larger max_iter"
            )
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return tuple(dict.fromkeys(caveats))
