"""The common part of solvers that learn from gold: labels, out-of-fold scores, and logistic
regression.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.folds import Folds
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.text.encode import SharedQuestions
from classic_rc.text.scorers import scorer_of
from classic_rc.work import tracked

if TYPE_CHECKING:
    from classic_rc.kernels.blocked_matrix import Features


def require_task(solver: Solver, questions: Sequence[Question]) -> None:
    """Refuse training questions, at least one, of a task that a solver does not answer
    (UsageError).
    """
    if questions[0].task not in solver.tasks:
        task, expected = str(questions[0].task), " or ".join(sorted(solver.tasks))
        problem = f"{solver.name} cannot learn from {task} questions, only from {expected} ones"
        raise UsageError(problem, field="task", found=task, expected=expected)


def require_gold(learner: str, questions: Sequence[Question]) -> None:
    """Refuse training questions if there are none (UsageError), or if some hide their gold
    (DataError).
    """
    if not len(questions):
        problem = f"{learner} cannot learn without questions"
        raise UsageError(
            problem, field="questions", found="0", expected="questions with gold answers"
        )
    hidden = sum(question.gold is None for question in questions)
    if hidden:
        raise DataError(
            f"{learner} learns from gold answers, but {hidden:,} of {len(questions):,} questions "
            "have none",
            found=f"{hidden:,} of {len(questions):,} questions without gold",
        )


def require_few_words(learner: str, n_words: int, limit: int) -> None:
    """Refuse more words than a learner's keys have room for (UsageError)."""
    if n_words > limit:
        actual, expected = f"{n_words:,} words", f"at most {limit:,}"
        problem = f"{actual} are too many for {learner}, which takes {expected}"
        raise UsageError(problem, field="questions", found=actual, expected=expected)


def chosen_groups(
    text: str, groups: Collection[str], default: Collection[str], default_name: str = "default"
) -> tuple[str, ...]:
    """Return the groups of features that a text names, joined by a plus; `default_name` names the
    default ones.
    """
    names = str(text).split("+")
    for name in names:
        if name not in (default_name, *groups):
            raise unknown_name("group of features", name, [default_name, *groups])
    requested = {*names, *default} if default_name in names else {*names}
    return tuple(group for group in groups if group in requested)


def gold_labels(learner: str, questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return 1 for every candidate that gold accepts, and 0 for the others: shape (n_candidates,),
    with both.

    If gold is a set of texts, a candidate is right if its text is one of them. Both are normalised
    as in SQuAD's metric. `learner` is the solver's name, for messages.

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
        gold, n_of_question = question.gold or (), len(question.candidates)
        if has_choices[question.task]:
            places += [n_candidates + i for i in range(n_of_question) if i in gold]
        else:
            normalise = scorer_of(question).normalise
            accepted = {normalise(str(text)) for text in gold}
            for place, candidate in enumerate(question.candidates, n_candidates):
                if normalise(candidate.text) in accepted:
                    places.append(place)
        n_candidates += n_of_question
    right = np.zeros(n_candidates, dtype=np.int64)
    right[places] = 1
    if not 0 < right.sum() < len(right):
        present, missing = ("right", "wrong") if len(right) and right.all() else ("wrong", "right")
        problem = f"{learner} cannot learn"
        raise DataError(
            problem,
            found=f"{len(right):,} {present} candidates and no {missing} ones",
            expected="both",
        )
    return right


class OutOfFold:
    """One solver for each fold of a dataset, each fitted on questions that the fold has nothing in
    common with.

    Parameters
    ----------
    learn : callable
        Returns a solver fitted on the questions that it is called with.
    train : Dataset or sequence of Question
        Questions with gold answers.
    folds : list of (ndarray of int64, ndarray of int64)
        For each fold the positions of its training questions in `train`, and those of its own
        questions in the dataset: `train` itself (:meth:`classic_rc.folds.FoldPlan.folds`), or other
        data (:meth:`classic_rc.folds.FoldPlan.folds_apart`).

    Attributes
    ----------
    solvers : list of Solver
        One for each fold that has questions.
    fold_of : ndarray of int64, shape (n_questions,)
        The fold of each question of the dataset.
    """

    def __init__(
        self, learn: Callable[[Any], Solver], train: Sequence[Question], folds: Folds
    ) -> None:
        shared = SharedQuestions.of(train)
        folds = [(others, members) for others, members in folds if len(members)]
        tasks = tracked(folds, len(folds), share=0.8)
        self.solvers = [learn(shared.take(others)) for others, _ in tasks]
        n_questions = sum(len(members) for _, members in folds)
        self.fold_of = np.zeros(n_questions, dtype=np.int64)
        for fold, (_, members) in enumerate(folds):
            self.fold_of[members] = fold

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score all questions of the dataset, each with the solver of its own fold."""
        return self.score(np.arange(len(questions)), questions)

    def score(self, index: NDArray[np.int64], questions: Sequence[Question]) -> Scores:
        """Score some of the dataset's questions, which have the positions `index` in it."""
        (scores,) = self._score(
            index,
            questions,
            lambda solver, fold_questions: [score_questions(solver, fold_questions)],
        )
        return scores

    def member_scores(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the normalised scores of a combination's members for all questions of the
        dataset.
        """
        return self._score(
            np.arange(len(questions)),
            questions,
            lambda solver, fold_questions: solver.member_scores(fold_questions),
        )

    def score_with_members(
        self, index: NDArray[np.int64], questions: Sequence[Question]
    ) -> list[Scores]:
        """Score like :meth:`score`; the scores of a combination's members follow."""
        return self._score(
            index,
            questions,
            lambda solver, fold_questions: solver.score_with_members(fold_questions),
        )

    def _score(
        self,
        index: NDArray[np.int64],
        questions: Sequence[Question],
        score: Callable[[Any, Sequence[Question]], list[Scores]],
    ) -> list[Scores]:
        parts, places = [], []
        shared = SharedQuestions.of(questions)
        folds = self._by_fold(index)
        for solver, members in tracked(folds, len(folds)):
            parts.append(score(solver, shared.take(members)))
            places.append(members)
        order = np.argsort(np.concatenate(places))
        return [Scores.concatenate(scored).take(order) for scored in zip(*parts, strict=True)]

    def decide(
        self, scores: Scores, questions: Sequence[Question], index: NDArray[np.int64]
    ) -> list[Prediction]:
        """Answer some of the dataset's questions, each with the tuned decision of its own fold."""
        answers: dict[int, Prediction] = {}
        for solver, members in self._by_fold(index):
            index_of_fold = members.tolist()
            fold_questions = [questions[i] for i in index_of_fold]
            predictions = solver.decision_.decide(scores.take(members), fold_questions)
            answers.update(zip(index_of_fold, predictions, strict=True))
        return [answers[i] for i in range(len(index))]

    def _by_fold(self, index: NDArray[np.int64]) -> list[tuple[Solver, NDArray[np.int64]]]:
        fold = self.fold_of[index]
        solvers = []
        for k, solver in enumerate(self.solvers):
            members = np.flatnonzero(fold == k)
            if len(members):
                solvers.append((solver, members))
        return solvers


def one_thread() -> AbstractContextManager[object]:
    """Return a context manager that limits linear algebra to one thread.

    With several threads, the order of additions depends on their number, and so do the last digits
    of a learner's weights. A tuned threshold or a repeated run would show the difference.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def check_shape(array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Check the shape of an array of a saved solver."""
    if array.shape != shape:
        raise ValueError(f"an array has shape {array.shape}, expected {shape}")


def check_ascending(numbers: NDArray[Any], below: int) -> None:
    """Check that the numbers of a saved solver ascend from 0 or more, below a limit."""
    in_order = numbers.ndim == 1 and (np.diff(numbers) > 0).all()
    if not in_order or (len(numbers) and not 0 <= numbers[0] <= numbers[-1] < below):
        raise ValueError(f"numbers are not ascending and below {below}")


LEARNERS = ("newton", "liblinear")
"""Two learners of one logistic regression. Newton steps, the default, end within 1e-10 of the
optimal objective; LIBLINEAR, the learner of the papers, is slower and may stop before the
optimum.
"""

MOST_ITERATIONS = 1000
"""Of LIBLINEAR."""


class LogisticModel(NamedTuple):
    """A linear model of the log-odds that a candidate is right."""

    weights: NDArray[np.float64]  # shape (n_features,): what one unit of each feature adds
    bias: float

    def log_odds(self, features: Any) -> NDArray[np.float64]:
        """Return log(p / (1 - p)) of each row: its weighted sum, plus the bias."""
        odds: NDArray[np.float64] = features @ self.weights + self.bias
        return odds


def fit_model(
    learner: str | None,  # one of LEARNERS; None is the first
    C: float,  # the inverse strength of the regularisation; the bias is regularised too
    features: Features,
    right: NDArray[np.int64],  # (n_rows,): 1 for right candidates, 0 for the others
    # (n_columns,): how many equal features each column replaces; the model's weights are those of
    # one of them
    copies: NDArray[np.floating[Any]],
) -> tuple[LogisticModel, tuple[str, ...]]:
    """Fit a learner, and say in the caveats if it stopped before it converged."""
    if learner == "liblinear":
        return _fit_liblinear(C, features, right, copies)
    from classic_rc.kernels.blocked_matrix import Features
    from classic_rc.kernels.logistic import fit_logistic

    ones = np.ones((features.shape[0], 1))
    dense = ones if features.dense is None else np.hstack((ones, features.dense))
    copies = np.concatenate(([1.0], copies))  # of the bias, then of the features
    with one_thread():
        fit = fit_logistic(Features(dense, features.sparse), right, C, copies=copies)
    model = LogisticModel(fit.weights[1:], float(fit.weights[0]))
    if fit.converged:
        return model, ()
    return model, (
        f"the learner newton stopped after {fit.n_steps} steps before it converged: scale the "
        "features",
    )


def _fit_liblinear(
    C: float, features: Features, right: NDArray[np.int64], copies: NDArray[np.floating[Any]]
) -> tuple[LogisticModel, tuple[str, ...]]:
    from scipy.sparse import csr_matrix, diags, hstack
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    blocks = [csr_matrix(block, dtype=np.float64) for block in features if block is not None]
    scale = np.sqrt(copies)
    matrix = csr_matrix(csr_matrix(hstack(blocks, format="csr")) @ diags(scale))
    matrix.sum_duplicates()
    # The bias is one more feature, regularised like the others, as in LIBLINEAR's `-B 1`.
    # LIBLINEAR's default tolerance of 0.01 stops far from the optimum. LIBLINEAR shuffles, so it
    # needs a seed.
    classifier = LogisticRegression(
        solver="liblinear",
        C=C,
        tol=1e-4,
        max_iter=MOST_ITERATIONS,
        intercept_scaling=1.0,
        random_state=0,
    )
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a caveat instead
        classifier.fit(matrix, right)
    weights = np.ravel(classifier.coef_).astype(np.float64)
    bias = float(np.ravel(classifier.intercept_)[0])
    caveats: tuple[str, ...] = ()
    if np.max(classifier.n_iter_) >= MOST_ITERATIONS:
        caveats = ("the learner liblinear stopped before it converged: scale the features",)
    return LogisticModel(weights / scale, bias), caveats
