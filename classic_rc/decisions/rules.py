"""Rules by name and parameters, the default of a task, and rules that are fitted in folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions.argmax import Argmax
from classic_rc.decisions.base import Decision
from classic_rc.decisions.expected_f1 import ExpectedF1
from classic_rc.decisions.spans import RelativeThreshold
from classic_rc.decisions.thresholds import Threshold, TunedThreshold
from classic_rc.errors import UsageError, unknown_name
from classic_rc.parameters import clone
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Question, Task

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
