"""Annotators: how well their votes agree with each other and with gold, and where most contradict
gold.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.fields import ANNOTATORS
from classic_rc.errors import DataError
from classic_rc.folds import FoldPlan
from classic_rc.io.json import describe_value
from classic_rc.questions import Dataset, Gold, Question, Task
from classic_rc.results.mean_intervals import mean_interval
from classic_rc.results.resampling import Interval
from classic_rc.text.scorers import DEFAULT_SCORER, SCORERS

_WHOLE = (Task.MULTIPLE_ANSWER, Task.MULTI_SPAN)
"""The tasks whose answers are sets."""


class VoteAccuracy(NamedTuple):
    """How often annotators are right: the mean over questions, with its 95 % interval over groups
    of passages.
    """

    mean: float
    interval: Interval | None


class Dispute(NamedTuple):
    """A question where most votes are not gold."""

    id: str
    gold: str
    answer: str  # the most frequent one of the annotators
    against: int  # votes that are not gold
    votes: int
    learner: float | None = None  # the share of gold that a learner finds out of fold, if measured


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the votes of annotators say; None is what they do not define."""

    names: tuple[str, ...]  # of the annotators
    n_votes: int
    alpha: float | None  # Krippendorff's, nominal
    kappa: float | None  # Cohen's, the mean over pairs of annotators
    accuracies: Mapping[str, VoteAccuracy]  # of "one annotator" and of "most annotators"
    n_tied: int  # questions where several answers have most votes
    disputes: tuple[Dispute, ...]

    def with_learner(self, hits: Mapping[str, float]) -> Agreement:
        """Return the same with the disputes first where a learner does not find gold either."""
        disputes = [dispute._replace(learner=hits.get(dispute.id)) for dispute in self.disputes]
        disputes.sort(key=lambda dispute: 1.0 if dispute.learner is None else dispute.learner)
        return replace(self, disputes=tuple(disputes))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        accuracies = {
            name: {"accuracy": round(mean, 6), "interval": interval and list(interval)}
            for name, (mean, interval) in self.accuracies.items()
        }
        return {
            "names": list(self.names),
            "votes": self.n_votes,
            "alpha": self.alpha and round(self.alpha, 6),
            "kappa": self.kappa and round(self.kappa, 6),
            **accuracies,
            "tied": self.n_tied,
            "disputes": [dispute._asdict() for dispute in self.disputes],
        }


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    r"""Return Krippendorff's alpha for nominal values; values may be missing.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C (and 2004, Content
    Analysis, chapter 11): for :math:`n_{uc}` values c of the :math:`m_u` in unit u, of the units
    with at least two, and :math:`n_c`, n their sums,

    .. math:: \alpha = \frac{(n-1) \sum_c o_{cc} - \sum_c n_c (n_c - 1)}
        {n (n-1) - \sum_c n_c (n_c - 1)}, \quad o_{cc} = \sum_u \frac{n_{uc} (n_{uc} - 1)}{m_u - 1}

    None if no unit has two values, or all values are the same.

    Examples
    --------
    >>> meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    >>> round(krippendorff_alpha(zip(meg, owen)), 3)
    0.095
    """
    pairable = [list(unit) for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    totals = Counter(value for unit in pairable for value in unit)
    n = totals.total()
    agreeing = fsum(_count_pairs(Counter(unit)) / (len(unit) - 1) for unit in pairable)
    expected = _count_pairs(totals)
    if n * (n - 1) == expected:
        return None
    return ((n - 1) * agreeing - expected) / (n * (n - 1) - expected)


def _count_pairs(counts: Counter[Hashable]) -> int:
    """Count the ordered pairs of equal values."""
    return sum(count * (count - 1) for count in counts.values())


def cohen_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Return Cohen's kappa of the values that two annotators give to the same units.

    Cohen 1960, "A Coefficient of Agreement for Nominal Scales", formula 1: (p_o - p_c) / (1 - p_c)
    for the share of equal values, and the one expected from the values of each. None without
    units, or if p_c is 1.

    Examples
    --------
    >>> cohen_kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    first = Counter(value for value, _ in pairs)
    second = Counter(value for _, value in pairs)
    n_equal = sum(first_value == second_value for first_value, second_value in pairs)
    by_chance = sum(count * second[value] for value, count in first.items())
    n = len(pairs)
    if by_chance == n * n:
        return None
    return (n * n_equal - by_chance) / (n * n - by_chance)


def measure_agreement(dataset: Dataset, plan: FoldPlan) -> Agreement | None:
    """Return what the votes of a dataset's questions say; None if it has none.

    A question's majority is right by the share of right answers among those with most votes.
    Questions without gold count for agreement alone.

    Raises
    ------
    DataError
        A vote is no answer to its question, or all are blank.
    """
    ballots = {question: votes for question in dataset if (votes := _read_votes(question))}
    if not ballots:
        if any(isinstance(question.meta.get(ANNOTATORS), Mapping) for question in dataset):
            raise DataError("all votes are blank", source=dataset.name, field=ANNOTATORS)
        return None
    names = dict.fromkeys(name for votes in ballots.values() for name in votes)
    by_pair: dict[tuple[str, str], list[tuple[Hashable, Hashable]]] = defaultdict(list)
    for votes in ballots.values():
        for first, second in combinations(sorted(votes), 2):
            by_pair[first, second].append((votes[first], votes[second]))
    kappas = [kappa for pairs in by_pair.values() if (kappa := cohen_kappa(pairs)) is not None]
    single, majority = list[float](), list[float]()
    disputes, n_tied = list[Dispute](), 0
    labelled = {q: [*votes.values()] for q, votes in ballots.items() if q.gold is not None}
    for question, values in labelled.items():
        counts = Counter(values)
        frequent = [value for value, count in counts.items() if count == max(counts.values())]
        n_right = sum(_is_right(value, question) for value in values)
        n_tied += len(frequent) > 1
        single.append(n_right / len(values))
        majority.append(fmean(_is_right(value, question) for value in frequent))
        if 2 * n_right < len(values):
            answer = " or ".join(sorted(_show(question, value) for value in frequent))
            sizes = len(values) - n_right, len(values)
            disputes.append(Dispute(question.id, _show(question, question.gold), answer, *sizes))
    disputes.sort(key=lambda dispute: -dispute.against / dispute.votes)
    accuracies = {}
    if labelled:
        groups = plan.groups([*labelled]).numbers
        accuracies["one annotator"] = _mean(single, groups)
        if len(names) > 1:
            accuracies["most annotators"] = _mean(majority, groups)
    n_votes = sum(map(len, ballots.values()))
    alpha = krippendorff_alpha([*votes.values()] for votes in ballots.values())
    kappa = fmean(kappas) if kappas else None
    return Agreement(tuple(names), n_votes, alpha, kappa, accuracies, n_tied, tuple(disputes))


def _mean(outcomes: Sequence[float], groups: NDArray[np.int64]) -> VoteAccuracy:
    interval = mean_interval(np.array(outcomes), groups) if groups.any() else None
    return VoteAccuracy(fsum(outcomes) / len(outcomes), interval)


def _read_votes(question: Question) -> dict[str, Hashable]:
    """Return the votes that are there: options, sets of them, or texts as exact match compares
    them.
    """
    votes = question.meta.get(ANNOTATORS)
    if not isinstance(votes, Mapping):
        return {}
    return {
        name: _read_vote(question, name, vote) for name, vote in votes.items() if vote is not None
    }


def _read_vote(question: Question, name: str, vote: Any) -> Hashable:
    has_choices, is_list = question.task.has_choices, isinstance(vote, (list, tuple))
    parts = vote if is_list else [vote]
    kind = int if has_choices else str
    numbers = range(len(question.candidates))
    are_valid = all(type(x) is kind and (x in numbers or not has_choices) for x in parts)
    if not are_valid or is_list > (question.task in _WHOLE):
        raise DataError(
            "a vote is no answer",
            source=question.id,
            field=f"{ANNOTATORS}.{name}",
            found=describe_value(vote),
            expected="an index from 0, a list of indices, or a text, as gold of JSON lines",
        )
    return frozenset(parts if has_choices else _normalise(question, parts))


def reorder_votes(meta: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any]:
    """Return the meta of a question with the votes of its options in another order."""
    votes: dict[str, Any] = dict(meta.get(ANNOTATORS, {}))
    for name, vote in votes.items():
        if isinstance(vote, int):
            votes[name] = order.index(vote)
        elif vote is not None:
            votes[name] = sorted(map(order.index, vote))
    return {**meta, ANNOTATORS: votes} if votes else dict(meta)


def _normalise(question: Question, texts: Iterable[Any]) -> list[str]:
    scorer = SCORERS[next(iter(question.scorers), DEFAULT_SCORER)]
    return [scorer.normalise(text) for text in texts]


def _is_right(value: Any, question: Question) -> bool:
    gold: Any = question.gold
    if not question.task.has_choices:
        gold = frozenset(_normalise(question, gold))
    return bool(value == gold if question.task in _WHOLE else value <= gold)


def _show(question: Question, answer: Gold | Hashable) -> str:
    """Return the texts of an answer."""
    parts: Any = answer
    if question.task.has_choices:
        parts = [question.candidates[i].text for i in parts]
    return "; ".join(sorted(parts)) or "none"
