"""Decisions turn scores into answers: the best candidate with a tie policy, thresholds, spans
near the best, and the text with the greatest expected F1.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, dataclass_transform, get_args

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import NotFittedError, UsageError, unknown_name, wrong_value
from classic_rc.expected_f1 import BestTexts
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.base import gold_of
from classic_rc.metrics.multirc import OptionCounts, SelectionMetric, selection_metric
from classic_rc.parameters import Estimator, clone, number, parameter, whole_number
from classic_rc.predictions import ABSOLUTE_TIE_TOLERANCE, Answer, ChosenOptions, Prediction, Scores
from classic_rc.protocol import Cuts, TiePolicy
from classic_rc.questions import Candidate, Question, Task

TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)

TIE_TOLERANCE = ABSOLUTE_TIE_TOLERANCE
"""The default of :class:`Argmax`: candidates this close to the best score tie with it. Scores
from files tie within 1e-12 of the question's largest absolute score instead.
"""

CUTS: tuple[Cuts, ...] = get_args(Cuts)


@dataclass_transform(kw_only_default=True, eq_default=False)
class Decision(Estimator, ABC):
    """A rule that turns scores into predictions."""

    @abstractmethod
    def decide(self, scores: Scores, questions: Sequence[Question]) -> Sequence[Prediction]:
        """Answer each question from its candidates' scores."""

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Tune the rule's constants, if it has any."""
        return self

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` must be called before :meth:`decide`."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether a solver that learns has something to choose inside its training data."""
        return False


class Argmax(Decision):
    """The rule that selects the candidate with the highest score.

    Candidates of a cloze or span question with equal texts are one candidate.
    """

    ties: TiePolicy = parameter(
        "partial",
        "the policy for k candidates that share the best score. ``partial``: each gets 1/k of the "
        "credit (the MCTest authors' scores, Smith et al. 2015, ARC). ``first``: the first one "
        "wins. ``random``: one is drawn "
        '(Richardson et al. 2013, "a coin flip"); the draw depends only on the question, not on '
        "the other "
        "questions. ``strict``: the question counts as not answered",
        allowed=TIE_POLICIES,
    )
    tie_tolerance: float = parameter(
        TIE_TOLERANCE,
        "scores at most this far below the best one tie with it. In place of the default, scores "
        "from a file, whose unit is unknown, tie within "
        ":data:`~classic_rc.predictions.RELATIVE_TIE_TOLERANCE` (1e-12) of the question's largest "
        "absolute score",
    )
    seed: int = parameter(0, "the seed of ``random``")

    def decide(self, scores: Scores, questions: Sequence[Question]) -> Sequence[Prediction]:
        """Answer each question with its best candidate, or with those that tie for the best score.

        Raises
        ------
        UsageError
            The tie policy is unknown, or the questions may have several right answers.
        """
        self.check_parameters()
        if len(questions) and questions[0].task is Task.MULTIPLE_ANSWER:
            raise UsageError(
                "multiple-answer questions need a threshold: use TunedThreshold or Threshold "
                "instead of Argmax",
                field="decision",
                found="Argmax",
                expected="TunedThreshold or Threshold",
            )
        flat = np.flatnonzero(scores.are_best(self.tie_tolerance))
        question_of = np.searchsorted(scores.offsets, flat, side="right") - 1
        index = flat - scores.offsets[question_of]
        sizes = np.diff(scores.offsets)
        n_tied = np.bincount(question_of, minlength=len(scores))
        if len(questions) and questions[0].task is Task.SINGLE_CHOICE:
            is_remaining = self._break_ties(questions, n_tied)
            n_remaining = np.bincount(question_of[is_remaining], minlength=len(scores))
            return ChosenOptions(
                questions, index[is_remaining], offsets_of(n_remaining), n_tied, sizes
            )
        bounds = itertools.pairwise(offsets_of(n_tied).tolist())
        tied = []
        for question, (start, stop) in zip(questions, bounds, strict=True):
            tied.append(_distinct_answers(question, index[start:stop].tolist()))
        n_answers = np.array([len(answers) for answers in tied], dtype=np.int64)
        remains = iter(self._break_ties(questions, n_answers))
        predictions = []
        for question, answers, size in zip(questions, tied, sizes.tolist(), strict=True):
            remaining = tuple(answer for answer in answers if next(remains))
            prediction = Prediction(question.id, remaining, n_tied=len(answers), n_candidates=size)
            predictions.append(prediction)
        return predictions

    def _break_ties(
        self, questions: Sequence[Question], n_tied: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which of the tied options of all questions remain: shape (n_tied.sum(),)."""
        firsts = offsets_of(n_tied)[:-1]
        remaining = np.repeat((n_tied == 1) | (self.ties == "partial"), n_tied)
        with_ties = np.flatnonzero(n_tied > 1)
        if self.ties == "first":
            remaining[firsts[with_ties]] = True
        elif self.ties == "random":
            keys = text_keys(questions[i].id for i in with_ties.tolist())
            draws = uniform_draws(keys, n_tied[with_ties], self.seed)
            rows = np.repeat(np.arange(len(with_ties)), n_tied[with_ties])
            order = np.lexsort((-draws, rows))
            drawn = order[offsets_of(n_tied[with_ties])[:-1]]
            places = np.flatnonzero(np.repeat(n_tied > 1, n_tied))
            remaining[places[drawn]] = True
        return remaining


class Threshold(Decision):
    """The rule that selects every candidate whose score is above a given value."""

    value: float = parameter(0.5, "the threshold, in the solver's units")

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the threshold."""
        return _select_above(self.value, scores, questions)


class TunedThreshold(Decision):
    """The rule that selects every candidate whose score is above a threshold tuned for a metric.

    Attributes
    ----------
    best_threshold_ : float
        The best value on the questions of :meth:`fit`. Of equally good values it is the highest,
        which selects the fewest candidates. An exact value is halfway between two neighbouring
        scores, equal to the highest score (nothing is selected) or below the lowest (everything is
        selected).
    best_score_ : float
        The metric at that value, in 0..1.
    """

    metric: str = parameter(
        "f1_a",
        "a metric of multiple-answer questions: ``f1_a``, ``f1_m``, ``em0``, …, or ``accuracy``, "
        "the share of options labelled correctly. All are in "
        ":data:`classic_rc.metrics.SELECTION_METRICS`",
    )
    cuts: Cuts = parameter(
        "exact",
        "the values to try: all that make a difference, or the grid of MultiRC's release; see "
        ":func:`classic_rc.decisions.cut_points`",
        allowed=CUTS,
    )

    @property
    def needs_fit(self) -> bool:
        """Whether :meth:`fit` has not been called yet."""
        return not hasattr(self, "best_threshold_")

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Find the best cut point, in O(n log n) for n candidates.

        Raises
        ------
        UsageError
            The metric or `cuts` is unknown, or some scores are infinite and have no exact cut
            points.
        DataError
            A question's gold is hidden.
        """
        metric = selection_metric(self.metric)
        thresholds = cut_points(scores, self.cuts)
        values = metric.from_means(sweep_thresholds(metric, scores, questions, thresholds))
        # Cumulative sums have rounding errors in the last digits, which must not choose among equal
        # values.
        best = int(np.flatnonzero(values >= values.max() - 1e-12)[0])
        self.best_threshold_, self.best_score_ = float(thresholds[best]), float(values[best])
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the candidates above the tuned threshold."""
        if self.needs_fit:
            raise NotFittedError(
                "the threshold has not been tuned: call tune() with a split that has gold answers, "
                "or use a fixed one (decision=Threshold(value=…), on the command line --threshold)",
                field="decision",
                found="TunedThreshold",
                expected="a tuned or a fixed threshold",
            )
        return _select_above(self.best_threshold_, scores, questions)


class RelativeThreshold(Decision):
    """The rule that selects the best span and all spans within a margin of its score that overlap
    no better one.

    Spans are tried from the best score down, and in passage order for equal scores. Each text is
    answered once. So a margin of 0 selects only the best span, or all spans that tie for the best
    score and do not overlap.
    """

    margin: float = number(
        0.0,
        "the largest distance from the best score, in the solver's units (log-odds for "
        "``span-ranker``). It is fixed, never tuned, because the scores of generated spans are "
        "dropped after every few passages",
        least=0,
    )
    max_spans: int | None = whole_number(
        None, "the most spans in an answer; None for any number", allowed=(None,)
    )

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with one span or several.

        Raises
        ------
        UsageError
            A parameter is invalid, or the questions are not multi-span questions.
        """
        self.check_parameters()
        if len(questions) and questions[0].task is not Task.MULTI_SPAN:
            task = questions[0].task
            message = f"a relative threshold needs multi-span questions, got {task} questions"
            raise UsageError(message, field="questions", found=task.value, expected="multi-span")
        return [self._prediction(q, row) for q, row in zip(questions, scores, strict=True)]

    def _prediction(self, question: Question, row: NDArray[np.float64]) -> Prediction:
        if not len(row):
            return Prediction(question.id, ())
        near = np.flatnonzero(row >= row.max() - self.margin).tolist()
        spans = {i: question.candidates[i] for i in near}
        texts: dict[str, None] = {}
        selected: list[Candidate] = []
        for i in sorted(near, key=lambda i: (-row[i], spans[i].start or 0, spans[i].end or 0)):
            if self.max_spans is not None and len(texts) == self.max_spans:
                break
            if not any(_overlap(spans[i], chosen_span) for chosen_span in selected):
                selected.append(spans[i])
                texts[spans[i].text] = None
        return Prediction(question.id, (tuple(texts),), n_candidates=len(row))


_SCALES = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 100.0)  # 100: the best candidate alone
_EXACT = (0.0, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)


class ExpectedF1(Decision):
    r"""The rule that selects the text with the greatest expected F1: minimum Bayes risk (Kumar and
    Byrne 2004).

    .. math:: v(a) = \sum_b p_b \, (F_1(a, b) + l \, [a = b]), \qquad p_b \propto e^{t s_b}

    b are the 30 candidates with the best scores s, and a is the text of one of them. F1 and
    equality are those of the questions' own metrics. t is `scale`, and l is `exact`. For scores
    that are log-probabilities, such as those of ``span-ranker``, t = 1 believes them. Of texts with
    equal values, the one with the better score is selected; ties get no partial credit.

    Attributes
    ----------
    scale_, exact_ : float
        What :meth:`fit` chose.
    """

    scale: float | None = number(
        None,
        "the factor of the scores before they become probabilities. None: ``span-ranker`` chooses "
        "it inside its training data, and other solvers use 1",
        allowed=(None,),
        least=0,
    )
    exact: float | None = number(
        None,
        "the weight of exact match; that of F1 is 1. None: ``span-ranker`` chooses it inside its "
        "training data, and other solvers use 0",
        allowed=(None,),
        least=0,
    )

    @property
    def is_open(self) -> bool:
        """Whether a parameter is None."""
        return self.scale is None or self.exact is None

    def fit(self, scores: Scores, questions: Sequence[Question]) -> Self:
        """Choose the parameters that are None, for the mean F1 of the answers.

        Of the values whose F1 is at most one paired standard error below the best (Breiman et al.
        1984), those with the greatest exact match are chosen.
        """
        self.check_parameters()
        scales = _SCALES if self.scale is None else (self.scale,)
        weights = _EXACT if self.exact is None else (self.exact,)
        measured = []
        for question, row in zip(questions, scores, strict=True):
            texts = BestTexts.of(question, row)
            if texts is not None:
                choices = texts.choose(np.array(scales), np.array(weights))
                measured.append(texts.measure(question)[:, choices.ravel()])
        if measured:
            f1, exact_match = np.stack(measured, axis=1)  # (n_questions, n_values)
            mean = f1.mean(axis=0).round(9)
            top = mean.argmax()
            deviation = (f1 - f1[:, [top]]).std(axis=0)
            is_near = mean >= mean[top] - deviation / np.sqrt(len(f1))
            exact_mean = np.where(is_near, exact_match.mean(axis=0).round(9), -1)
            best = int(np.lexsort((mean, exact_mean))[-1])
            i, j = divmod(best, len(weights))
            self.scale_, self.exact_ = scales[i], weights[j]
        return self

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with one text.

        Raises
        ------
        UsageError
            A parameter is invalid, or the questions have options instead of spans.
        """
        self.check_parameters()
        if len(questions) and questions[0].task.has_choices:
            task = questions[0].task
            message = f"expected F1 needs span or cloze questions, got {task} questions"
            raise UsageError(message, field="decision", found=task.value, expected="span or cloze")
        scale = getattr(self, "scale_", 1.0 if self.scale is None else self.scale)
        exact = getattr(self, "exact_", self.exact or 0.0)
        constants = np.array([scale]), np.array([exact])
        predictions = []
        for question, row in zip(questions, scores, strict=True):
            texts = BestTexts.of(question, row)
            answers: tuple[Answer, ...] = ()
            if texts is not None:
                best = texts.choose(*constants)[0, 0]
                answers = ((texts.texts[best],),)
            predictions.append(Prediction(question.id, answers, n_candidates=len(row)))
        return predictions


class GivenAnswers(Decision):
    """The rule for the answers of another system, given as scores: it repeats them.

    A candidate's score is the share of the samples that choose it: 1 or 0 if the system answered
    once. Of several right candidates, those above one half are selected. A question whose scores
    have no evidence has no answer.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Return the given answers."""
        n_flags = np.concatenate(([0], np.cumsum(scores.evidence)))  # before each candidate
        has_answers = np.diff(n_flags[scores.offsets]) > 0
        predictions = []
        for question, row, has_answer in zip(questions, scores, has_answers, strict=True):
            if has_answer:
                predictions.append(self._prediction(question, row))
            else:
                predictions.append(Prediction(question.id, (), n_candidates=len(row)))
        return predictions

    def _prediction(self, question: Question, row: NDArray[np.float64]) -> Prediction:
        if question.task is Task.MULTIPLE_ANSWER:
            selected = frozenset(np.flatnonzero(row > 0.5).tolist())
            return Prediction(question.id, (selected,), n_candidates=len(row))
        # Mentions with one text have the same share, which counts once.
        shares: dict[Answer, float] = {}
        for i in np.flatnonzero(row).tolist():
            (answer,) = _distinct_answers(question, [i])
            shares.setdefault(answer, float(row[i]))
        weights = tuple(shares.values())
        if weights == (1.0,):
            return Prediction(question.id, tuple(shares), n_candidates=len(row))
        return Prediction(question.id, tuple(shares), weights, n_candidates=len(row))


class Abstain(Decision):
    """The rule that answers every span question with the empty text: that the passage has no
    answer.
    """

    def decide(self, scores: Scores, questions: Sequence[Question]) -> list[Prediction]:
        """Answer each question with the empty text."""
        sizes = np.diff(scores.offsets).tolist()
        return [
            Prediction(q.id, (("",),), n_candidates=size)
            for q, size in zip(questions, sizes, strict=True)
        ]


RULES: Mapping[str, type[Decision]] = {
    "argmax": Argmax,
    "threshold": Threshold,
    "tuned-threshold": TunedThreshold,
    "relative-threshold": RelativeThreshold,
    "expected-f1": ExpectedF1,
}
"""The rules that a specification of a solver may name, ``span-ranker,decision=argmax``, or give
parameters of: ``sw+d,ties=first``, ``span-sw,margin=0.1``.
"""


def make_decision(params: Mapping[str, Any], base: Decision | None = None) -> Decision:
    """Return the rule that ``decision`` names, or the first of :data:`RULES` that declares all the
    parameters.

    Parameters
    ----------
    params : mapping of str to object
    base : Decision, optional
        If it is of the same class, its other parameters are kept.

    Raises
    ------
    UsageError
        No rule has the name or all the parameters, or a value is not allowed.

    Examples
    --------
    >>> make_decision({"margin": 0.1})
    RelativeThreshold(margin=0.1)
    >>> make_decision({"decision": "expected-f1"})
    ExpectedF1()
    """
    params = dict(params)
    name = params.pop("decision", None)
    if name is not None and name not in RULES:
        raise unknown_name("decision", str(name), RULES)
    rules = RULES.values() if name is None else [RULES[name]]
    rule = next((rule for rule in rules if params.keys() <= rule.parameters.keys()), None)
    if rule is None:
        names = " and ".join(params)
        groups = "; ".join(", ".join(rule.parameters) for rule in rules)
        raise UsageError(
            f"no decision has the parameters {names} together: choose from one of these groups: "
            f"{groups}",
            field="decision",
            found=names,
            expected=groups,
        )
    base_params = base.get_params(deep=False) if type(base) is rule else {}
    decision = rule(**{**base_params, **params})
    decision.check_parameters()
    return decision


def changed_decision(
    decision: Decision | None,
    base: Decision | None = None,
    usual: type[Decision] | None = None,
) -> dict[str, Any]:
    """Return the parameters that :func:`make_decision` turns into a rule, given `base`, or the
    solver's `usual` rule if it has one; empty if none are needed.

    Rules that are not in :data:`RULES` have no such parameters.
    """
    names = {rule: name for name, rule in RULES.items()}
    if decision is None or type(decision) not in names:
        return {}
    params = decision.get_params(deep=False)
    reference = (base if type(base) is type(decision) else type(decision)()).get_params(deep=False)
    changed = {name: value for name, value in params.items() if value != reference[name]}
    is_usual = type(decision) is type(base)
    if base is None:
        is_usual = type(decision) in ((Argmax, TunedThreshold) if usual is None else (usual,))
    return changed if changed or is_usual else {"decision": names[type(decision)]}


def default_decision(task: Task) -> Decision:
    """Return the rule for a task: a tuned threshold for multiple-answer questions, else the best
    candidate.
    """
    return TunedThreshold() if task is Task.MULTIPLE_ANSWER else Argmax()


def describe_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision's class name, as ``rule``, and its parameters, as plain data."""
    return {"rule": type(decision).__name__, **decision.get_params(deep=False)}


def cross_fit(
    decision: Decision,
    scores: Scores,
    questions: Sequence[Question],
    folds: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[list[Prediction], list[Decision]]:
    """Answer the questions of each fold with a rule that is fitted to the scores of the other
    folds.

    Parameters
    ----------
    decision : Decision
        It is cloned for each fold.
    scores : Scores
    questions : sequence of Question
    folds : iterable of (ndarray of int64, ndarray of int64)
        The positions of the questions to fit to, and of the fold's own.

    Returns
    -------
    predictions : list of Prediction
        In the order of the questions.
    rules : list of Decision
        One per fold.
    """
    predictions: dict[int, Prediction] = {}
    rules: list[Decision] = []
    for others, held_out in folds:
        questions_to_fit = [questions[i] for i in others.tolist()]
        rule = clone(decision).fit(scores.take(others), questions_to_fit)
        questions_of_fold = [questions[i] for i in held_out.tolist()]
        answers = rule.decide(scores.take(held_out), questions_of_fold)
        predictions.update(zip(held_out.tolist(), answers, strict=True))
        rules.append(rule)
    return [predictions[i] for i in range(len(questions))], rules


def cut_points(scores: Scores, cuts: Cuts = "exact") -> NDArray[np.float64]:
    """Return the thresholds to try on some scores, the highest first.

    Parameters
    ----------
    scores : Scores
    cuts : {"exact", "multirc2018"}
        ``"exact"``: every threshold that makes a difference, that is the highest score, the
        midpoint of each two neighbouring distinct scores, and one value below the lowest.
        ``"multirc2018"``: the fixed grid from -0.5 to 0.98 in steps of 0.02 of the tuning script in
        MultiRC's release, independent of the scores. The thresholds behind the released predictions
        (0.0499, -0.76) were set by hand and are not on it.

    Returns
    -------
    ndarray of float64, shape (n_cuts,)
        A candidate is selected if its score is *above* the threshold.

    Raises
    ------
    UsageError
        `cuts` is unknown, or it is ``"exact"`` and some scores are infinite.

    Examples
    --------
    >>> cut_points(Scores.from_lists([[3.0, 1.0], [1.0]]))
    array([3., 2., 0.])
    """
    if cuts == "multirc2018":
        return np.arange(-0.5, 1.0, 0.02)[::-1]
    if cuts != "exact":
        raise wrong_value("cuts", cuts, f"one of {', '.join(CUTS)}")
    finite = np.isfinite(scores.values)
    if not finite.all():
        infinite = str(scores.values[finite.argmin()])
        message = f"cannot tune a threshold on infinite scores, got {infinite}"
        raise UsageError(message, field="scores", found=infinite, expected="finite scores")
    falling = np.unique(scores.values)[::-1]
    if not len(falling):
        return np.zeros(1)
    upper, lower = falling[:-1], falling[1:]
    halfway = lower / 2 + upper / 2
    # Neighbouring floats may have no midpoint; the lower one itself then separates the two.
    halfway = np.where((lower <= halfway) & (halfway < upper), halfway, lower)
    lowest = float(falling[-1])
    below = min(lowest - 1, math.nextafter(lowest, -math.inf))
    return np.concatenate((falling[:1], halfway, [below]))


def sweep_thresholds(
    metric: SelectionMetric,
    scores: Scores,
    questions: Sequence[Question],
    thresholds: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the mean statistics of a metric at many thresholds, exactly, in O(n log n) for all of
    them.

    One pass goes from the best candidate down: selecting a candidate changes the statistics of its
    question only.

    Parameters
    ----------
    metric : SelectionMetric
    scores : Scores
    questions : sequence of Question
        Questions of choices, with gold.
    thresholds : ndarray of float64, shape (n_cuts,)
        In any order.

    Returns
    -------
    ndarray of float64, shape (n_cuts, n_statistics)
        Ready for ``metric.from_means``.

    Raises
    ------
    UsageError
        The questions' gold is texts.
    DataError
        A question's gold is hidden.
    """
    gold = _gold_flags(scores, questions)
    question = np.repeat(np.arange(len(scores)), np.diff(scores.offsets))
    right = np.bincount(question, weights=gold, minlength=len(scores)).astype(np.float64)
    options = np.diff(scores.offsets).astype(np.float64)

    # Within each question, candidates are selected from the best down. `tp` counts the right ones
    # among them: the running total minus the right ones of all earlier questions.
    order = np.lexsort((-scores.values, question))
    selected = np.arange(len(order)) - scores.offsets[question] + 1.0
    tp = np.cumsum(gold[order]) - (np.cumsum(right) - right)[question]
    nothing = np.zeros_like(right)
    start = metric.of_counts(OptionCounts(nothing, nothing, right, options))
    after = metric.of_counts(OptionCounts(tp, selected - tp, right[question], options[question]))
    is_first = selected[:, None] == 1
    before = np.where(is_first, start[question], np.roll(after, 1, axis=0))
    changes = after - before
    del after, before, is_first

    # Over all questions, the same steps in the order of falling scores. The sort is stable, so tied
    # candidates of a question keep their order, and each step still starts from the one before it.
    falling = np.argsort(-scores.values[order], kind="stable")
    totals = np.concatenate((start.sum(axis=0)[None], changes[falling]))
    totals = np.cumsum(totals, axis=0)
    n_above = np.searchsorted(-scores.values[order][falling], -thresholds, side="left")
    return totals[n_above] / max(len(scores), 1)


def _distinct_answers(question: Question, indices: list[int]) -> list[Answer]:
    if question.task.has_choices:
        return [frozenset((i,)) for i in indices]
    return [(text,) for text in dict.fromkeys(question.candidates[i].text for i in indices)]


def _select_above(
    threshold: float, scores: Scores, questions: Sequence[Question]
) -> list[Prediction]:
    if len(questions) and questions[0].task is not Task.MULTIPLE_ANSWER:
        task = questions[0].task
        message = f"a threshold needs multiple-answer questions, got {task} questions"
        raise UsageError(message, field="questions", found=task.value, expected="multiple-answer")
    predictions = []
    for question, row in zip(questions, scores, strict=True):
        selected = frozenset(np.flatnonzero(row > threshold).tolist())
        predictions.append(Prediction(question.id, (selected,), n_candidates=len(row)))
    return predictions


def _gold_flags(scores: Scores, questions: Sequence[Question]) -> NDArray[np.float64]:
    flags = np.zeros(len(scores.values))
    for question, start in zip(questions, scores.offsets[:-1].tolist(), strict=True):
        if not question.task.has_choices:
            raise UsageError(
                f"a threshold needs gold candidates, and gold of {question.task} questions is "
                "texts",
                field="questions",
                found=question.task.value,
                expected="single-choice or multiple-answer",
            )
        flags[[start + index for index in gold_of(question)]] = 1
    return flags


def _overlap(first: Candidate, second: Candidate) -> bool:
    if first.start is None or first.end is None or second.start is None or second.end is None:
        return False
    return first.start < second.end and second.start < first.end
