"""Weighted sums of solvers' scores, including the published combinations for MCTest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision, TunedThreshold
from classic_rc.errors import UsageError, unknown_name
from classic_rc.folds import FoldPlan, passage_groups
from classic_rc.metrics.base import primary_metric
from classic_rc.parameters import clone, is_number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import QuestionScorer, Solver, Variant, provenance, score_questions
from classic_rc.solvers.combination.weights import (
    TrainingResult,
    Weighting,
    centre_and_scale,
    join_ties,
    search_weights,
    stack,
    standardise,
    standardise_within_questions,
    total_out_of_fold,
)
from classic_rc.solvers.explanation import Explanation, Term, divided, given, minus, plus, times
from classic_rc.solvers.learning import OutOfFold, gold_labels
from classic_rc.solvers.saved import has_fitted_state, solver_from_plain, solver_to_plain
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.solvers.shared_parameters import DECISION, REGULARISATION
from classic_rc.solvers.sliding import WINDOW_AND_DISTANCE_VARIANTS, SlidingWindowDistance
from classic_rc.solvers.specs import parse_solver
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import encode, without_gold
from classic_rc.text.encoded import EncodedDataset
from classic_rc.work import tracked


def _entailment_variant(name: str, weight: float) -> Variant:
    params = {
        "solvers": [ScoreFile(), SlidingWindowDistance.variant(name)],
        "weights": [1.0, weight],
        "decision": Argmax(ties="partial"),
    }
    return Variant(
        params,
        f"RTE + {weight:g} (SW+D), from the authors' RTE score file (score-file__path=FILE) and "
        f"{name}; their own file of the sum uses an earlier SW+D, whose distance has weight 10 and "
        "is divided by |P|, not |P| - 1",
        "Richardson, Burges and Renshaw 2013, MCTest, Table 6, and the results page of the "
        "authors' release",
        WINDOW_AND_DISTANCE_VARIANTS[name].tuned_on,
    )


COMBINATION_VARIANTS = {
    "mctest160-rte": _entailment_variant("mctest160", 0.14),
    "mctest500-rte": _entailment_variant("mctest500", 0.34),
}


def same_members(solvers: Sequence[Solver]) -> list[Any]:
    """Return the members' classes and parameters, without decisions and file paths, to compare
    combinations.
    """
    left_out = ("decision", "path", "format", "solvers")
    members = []
    for solver in solvers:
        params = solver.get_params(deep=False)
        compared = {name: value for name, value in params.items() if name not in left_out}
        members.append((type(solver), compared, same_members(solver.members)))
    return members


def _numbers(values: Any, n: int) -> list[float]:
    """Return a list of `n` finite numbers; anything else is a ValueError."""
    if not isinstance(values, list | tuple) or len(values) != n or not all(map(is_number, values)):
        raise ValueError(f"expected {n} finite numbers, got {str(values)[:50]}")
    return list(values)


_MIN_QUESTIONS = 100
"""With fewer questions, one answer is more than a point, and members are not compared with the
regression.
"""


def _normalised(name: str, score: Term, centre: float, scale: float, value: float) -> Term:
    """Return (score - mean) / standard deviation; 0 if all scores are equal."""
    if value == 0:
        return given(
            f"{name}, normalised",
            0.0,
            f"the score {score.value:.9g} is the mean, or all scores are equal",
        )
    mean = given(f"mean of {name}", centre)
    deviation = given(f"standard deviation of {name}", scale)
    return divided(f"{name}, normalised", plus("", score, minus("", mean)), deviation, value)


def _scores_encoded(member: Solver) -> bool:
    """Return whether the member scores encoded questions."""
    return member.takes_encoding and member.analyzer is not None


def _make_members(name: str, solvers: Any) -> list[Any]:
    """Parse specifications and clone solvers, so that setting a member's parameters changes no
    other solver.
    """
    if not isinstance(solvers, list | tuple):
        problem = f"parameter 'solvers' of {name} must be a list, solvers=[A; B], got {solvers!r}"
        raise UsageError(problem, field="solvers", found=repr(solvers), expected="a list")
    members = []
    for number, member in enumerate(solvers, start=1):
        try:
            members.append(
                parse_solver(member) if isinstance(member, str) else clone(member, safe=False)
            )
        except UsageError as error:
            error.args = (f"member {number} of {name}, {member!r}: {error}",)
            raise
    return members


class Combination(Solver):
    r"""A weighted sum of other solvers' scores.

    .. math:: s = b + \sum_i (w_i s_i + v_i e_i)

    :math:`s_i` is the score that member i gives a candidate, and :math:`e_i` is 1 if member i has
    evidence for it, else 0. b and v are 0 unless the weights are stacked. The members' decisions
    are not used.

    Attributes
    ----------
    solvers_ : list of Solver
        The fitted members.
    weights_, evidence_weights_ : tuple of float
        w and v, one number for each member. The largest tuned weight is 1.
    bias_ : float
        b.
    centres_, scales_ : list of float
        With ``normalise="standard"``, the mean and the standard deviation of each member's scores.
    caveats_ : tuple of str
        Messages: the weights were fitted on data that a member had learned from, or the regression
        was no better than a member.
    """

    name = "combination"
    citation = (
        "Richardson, Burges and Renshaw 2013, MCTest (fixed weights); Clark et al. 2016 (stacked)"
    )
    cites = ("richardson2013", "clark2016")
    variants: ClassVar[Mapping[str, Variant]] = COMBINATION_VARIANTS

    solvers: Sequence[Solver] = parameter(
        (),
        "the members, at least two. A member's name is its solver's name; members with the same "
        "name are numbered from 1. A member's parameters are also the combination's, after its "
        "name and two underscores as in scikit-learn: ``sw+d__distance_weight``",
        also="a list of solvers",
    )
    weights: Sequence[float] | Literal["tuned", "stacked"] | None = parameter(
        None,
        "the weight of each member's scores. None is 1 for each. ``tuned``: the non-negative "
        "weights with the best value of the task's primary metric (or of the metric that the "
        "threshold is tuned for) on the questions of :meth:`tune`, which fits the decision "
        "together with them (see :func:`~classic_rc.solvers.combination.weights.search_shares`). "
        "``stacked``: the weights of a logistic regression over the members' standardised scores "
        "and evidence flags (after Clark et al. 2016), learned in :meth:`fit`; members that learn "
        "from gold are scored out of fold for it. If the best member alone is better out of fold "
        "on the training questions, the weights are searched as for ``tuned``, or only that member "
        "has one; from 100 questions on, and not for a fixed threshold",
        also="a list of numbers, 'tuned', 'stacked' or None",
    )
    normalise: Literal["none", "question", "standard"] = parameter(
        "none",
        "how to normalise each member's scores: not at all; by the mean and the standard deviation "
        "of the question's candidates; or by those of all candidates of the questions that it is "
        "fitted for",
        allowed=("none", "question", "standard"),
    )
    C: float = REGULARISATION.but(
        help="with stacked weights, the inverse strength of the regularisation"
    )
    folds: int = whole_number(
        5,
        "with stacked weights, the number of folds for members that learn from gold; passages are "
        "never split",
    )
    group: str | None = parameter(
        None,
        "a key of `meta`: questions with equal values stay in the same fold",
        also="a key or None",
    )
    decision: Decision | None = DECISION

    @property
    def members(self) -> Sequence[Solver]:
        """The member solvers; the fitted ones after a fit."""
        return getattr(self, "solvers_", None) or list(self._members_by_name().values())

    @property
    def member_names(self) -> list[str]:
        """The members' names."""
        return list(self._members_by_name())

    @property
    def learns_from(self) -> Literal["nothing", "passages", "gold"]:  # type: ignore[override]
        """What the members learn from; ``"gold"`` if stacked, and at least ``"passages"`` if
        standardised.
        """
        sources = {member.learns_from for member in self._members_by_name().values()}
        if self._weights_are("stacked") or "gold" in sources:
            return "gold"
        return "passages" if self.normalise == "standard" or "passages" in sources else "nothing"

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        """The tasks that all members support.

        Span tasks are not included if scores are stacked or standardised: the scores of all
        generated spans are never in memory at once.
        """
        members = self._members_by_name().values()
        of_members = frozenset(Task).intersection(*(member.tasks for member in members))
        needs_all_scores = self._weights_are("stacked") or self.normalise == "standard"
        return frozenset(task for task in of_members if not (needs_all_scores and task.has_spans))

    @property
    def analyzer(self) -> Any:
        """The analyzer of the members that take encoded questions, or None if they do not share
        one.
        """
        analyzers = {
            get_analyzer(member.analyzer) for member in self.members if _scores_encoded(member)
        }
        return next(iter(analyzers)) if len(analyzers) == 1 else None

    @property
    def needs_only_arrays(self) -> bool:  # type: ignore[override]
        """Whether no member reads a question object."""
        if self.analyzer is None:
            return False
        return all(_scores_encoded(m) and m.needs_only_arrays for m in self.members)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Return the combination's own caveats, then its members'."""
        members = zip(self.member_names, self.members, strict=True)
        theirs = (
            f"{name}: {caveat}" for name, member in members for caveat in member.caveats(questions)
        )
        return (*super().caveats(questions), *theirs)

    def score_members(
        self, members: Sequence[Solver], questions: Sequence[Question]
    ) -> list[Scores]:
        """Return the scores of some fitted members. Members with the same analyzer share one
        encoding.

        Raises
        ------
        UsageError
            A score is not finite.
        """
        encodings: dict[Analyzer, EncodedDataset] = {}
        plain = questions
        if isinstance(questions, EncodedDataset):
            encodings[questions.analyzer], plain = questions, questions.questions
        scored = []
        for member in tracked(members, len(members), share=0.9):
            readable = plain
            if _scores_encoded(member):
                analyzer = get_analyzer(member.analyzer)
                readable = encodings[analyzer] = encodings.get(analyzer) or encode(plain, analyzer)
            scores = score_questions(member, readable)
            finite = np.isfinite(scores.values)
            if not finite.all():
                actual, expected = str(scores.values[~finite][0]), "finite scores"
                problem = (
                    f"{self.name} needs {expected}, and member {member.name} has the score {actual}"
                )
                raise UsageError(problem, field="solvers", found=actual, expected=expected)
            scored.append(scores)
        return scored

    @property
    def tunes_parameters(self) -> bool:
        """Whether :meth:`tune` chooses the weights."""
        return self._weights_are("tuned")

    def variant_name(self) -> str | None:
        """Return the variant with these members and weights. The paths of the members' files do
        not matter.
        """
        key = self._comparison_key()
        return next(
            (name for name in self.variants if self.variant(name)._comparison_key() == key), None
        )

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Fit the members on `questions`. With ``weights="stacked"``, also learn the weights
        from them.
        """
        return self.fit_for(questions, questions)

    def fit_for(
        self, questions: Sequence[Question], train: Sequence[Question] | None = None
    ) -> Self:
        """Fit each member on the data that its `learns_from` allows, and stack on `train`; see
        :class:`Solver`.
        """
        self._check_values()
        self.caveats_: tuple[str, ...] = ()
        if self.learns_from == "gold":
            train = self._training(train)
            self.trained_on_ = provenance(train)
        members = tracked(self.solvers, len(self.solvers), share=0.5)
        self.solvers_ = [clone(member).fit_for(questions, train) for member in members]
        if self.normalise == "standard":
            scored = self.score_members(self.solvers_, without_gold(questions))
            pairs = [centre_and_scale(join_ties(scores)) for scores in scored]
            self.centres_ = [centre for centre, _ in pairs]
            self.scales_ = [scale for _, scale in pairs]
        if self._weights_are("stacked"):
            assert train is not None
            self._stack(self._score_unseen(questions, train), train)
        elif not self.tunes_parameters:
            weights: Any = [1.0] * len(self.solvers) if self.weights is None else self.weights
            self._set_weighting(Weighting.of_scores(weights))
        return self

    def tune(self, questions: Sequence[Question], scorer: QuestionScorer | None = None) -> Self:
        """Fit the decision on `questions`. With ``weights="tuned"``, also choose the weights on
        them.
        """
        if not self.tunes_parameters:
            return super().tune(questions, scorer)
        # Other folds' members score in place of the members that learn here.
        seen = [member for member in self.members if scorer is None or member.learns_from != "gold"]
        self._note_learned_gold(questions, "weights were tuned on", seen)
        scored = (scorer or self).member_scores(questions)
        decision, metric = self.decision_for(questions[0].task), primary_metric(questions[0])

        def objective(scores: Scores) -> float:
            fitted = clone(decision).fit(scores, questions)
            if isinstance(fitted, TunedThreshold):
                return fitted.best_score_
            return metric(questions, fitted.decide(scores, questions))

        weighting = search_weights(scored, objective)
        self._set_weighting(weighting)
        self.decision_ = clone(decision).fit(weighting.total(scored), questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the weighted sum; evidence if any member has evidence."""
        return self._fitted_weighting().total(self.member_scores(questions))

    def score_with_members(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the combined scores, then each member's normalised scores."""
        scored = self.member_scores(questions)
        return [self._fitted_weighting().total(scored), *scored]

    def member_scores(self, questions: Sequence[Question]) -> list[Scores]:
        """Return each member's normalised scores."""
        self._check_values()
        self.require_fitted(
            "solvers_", f"the members of {self.name} are not fitted: call fit(questions) first"
        )
        return self._normalise_scores(self.score_members(self.solvers_, questions))

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show each member's normalised score, its weight, and its share of the sum, including
        its evidence's.
        """
        scored = self.member_scores(questions)

        @cache
        def read() -> list[tuple[Scores, list[Explanation]]]:
            raw = self.score_members(self.solvers_, questions)
            members = zip(raw, self.solvers_, strict=True)
            return [(scores, list(member.explain_each(questions))) for scores, member in members]

        for k, question in enumerate(questions):
            question_scores = [scores.take([k]) for scores in scored]
            yield self._explain(
                question,
                question_scores,
                cache(partial(self._member_terms, k, question_scores, read)),
            )

    def _explain(
        self,
        question: Question,
        scored: Sequence[Scores],
        members: Callable[[], list[list[Term]]],
    ) -> Explanation:
        weighting = self._fitted_weighting()
        shares, total = weighting.shares(scored), weighting.total(scored)

        def formula(i: int, score: float) -> Term:
            parts: list[Term] = []
            for name, scores, weight, evidence_weight, terms in zip(
                self.member_names,
                scored,
                weighting.weights,
                weighting.evidence_weights,
                members(),
                strict=True,
            ):
                parts.append(times("", given(f"weight of {name}", weight), terms[i]))
                if evidence_weight and scores.evidence[i]:
                    parts.append(given(f"{name} has evidence", evidence_weight))
            if weighting.bias:
                parts.append(given("bias", weighting.bias))
            return plus("score", *parts, value=score)

        explained = []
        for i, plain in enumerate(
            Explanation.from_scores(self.name, question, total, formula).candidates
        ):
            numbers: dict[str, float] = {}
            for name, scores, weight, share in zip(
                self.member_names, scored, weighting.weights, shares, strict=True
            ):
                numbers[name] = float(scores.values[i])
                numbers |= {f"{name} weight": weight, f"{name} share": float(share[i])}
            if weighting.bias:
                numbers["bias"] = weighting.bias
            explained.append(replace(plain, numbers=numbers))
        return Explanation(self.name, question, tuple(explained))

    def _member_terms(
        self,
        k: int,
        scored: Sequence[Scores],
        read: Callable[[], list[tuple[Scores, list[Explanation]]]],
    ) -> list[list[Term]]:
        """Return, for each member and candidate of question `k`, the normalised score made of the
        member's own formula.
        """
        members = []
        for j, (name, (raw, explained), normalised) in enumerate(
            zip(self.member_names, read(), scored, strict=True)
        ):
            member_scores = raw.take([k])
            joined = member_scores if self.normalise == "none" else join_ties(member_scores)
            if self.normalise == "standard":
                centre, scale = self.centres_[j], self.scales_[j]
            else:
                centre, scale = centre_and_scale(joined)
            terms = []
            for plain, value, result in zip(
                explained[k].candidates,
                joined.values.tolist(),
                normalised.values.tolist(),
                strict=True,
            ):
                term = given(name, value) if plain.formula is None else plain.formula.renamed(name)
                if value != term.value:
                    term = given(name, value, f"the best score among ties with {term.value:.9g}")
                terms.append(
                    term
                    if self.normalise == "none"
                    else _normalised(name, term, centre, scale, result)
                )
            members.append(terms)
        return members

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return a solver with the parameters `params`.

        Members may be specifications, and a parameter may be a member's (``MEMBER__PARAMETER``).

        Raises
        ------
        UsageError
            A member or a parameter is unknown, or a specification is invalid.
        """
        combination_params = {name: value for name, value in params.items() if "__" not in name}
        if "solvers" in combination_params:
            combination_params["solvers"] = _make_members(cls.name, combination_params["solvers"])
        combination = super().from_params(combination_params)
        members = combination._members_by_name()
        for name, value in params.items():
            if name in combination_params:
                continue
            member, _, parameter = name.partition("__")
            if member not in members:
                raise unknown_name(
                    f"member of {cls.name}", member, members or ["(none: give solvers=[A; B])"]
                )
            member_params = members[member].get_params()
            if parameter not in member_params:
                raise unknown_name(f"parameter of {member}", parameter, member_params)
            members[member].set_params(**{parameter: value})
        return combination

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep`, also the members by name and the members'
        parameters.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        for name, member in self._members_by_name().items() if deep else ():
            params[name] = member
            params |= {f"{name}__{inner}": value for inner, value in member.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, or members' parameters."""
        if "solvers" in params:  # first, because the other names depend on the members
            self.solvers = params.pop("solvers")
        members = self._members_by_name()
        if not params.keys().isdisjoint(members):
            self.solvers = [params.pop(name, member) for name, member in members.items()]
        super().set_params(**params)
        return self

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the weights and the members' states, for
        :func:`~classic_rc.solvers.saved.save_solver`.
        """
        state: dict[str, Any] = {"weighting": list(self._fitted_weighting()), "members": []}
        if self.normalise == "standard":
            state |= {"centres": self.centres_, "scales": self.scales_}
        arrays: dict[str, NDArray[Any]] = {}
        for i, member in enumerate(self.solvers_):
            member_state = None
            if has_fitted_state(member):
                member_state, member_arrays = solver_to_plain(member)
                arrays |= {f"{i}.{name}": array for name, array in member_arrays.items()}
            state["members"].append(member_state)
        return state, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned; members that learn nothing
        are fitted anew.
        """
        self.solvers_ = []
        members = zip(self.solvers, state["members"], strict=True)
        for i, (member, member_state) in enumerate(members):
            if member_state is None:
                self.solvers_.append(clone(member).fit([]))
                continue
            prefix = f"{i}."
            member_arrays = {
                name.removeprefix(prefix): array
                for name, array in arrays.items()
                if name.startswith(prefix)
            }
            self.solvers_.append(solver_from_plain(member_state, member_arrays))
        n = len(self.solvers_)
        if self.normalise == "standard":
            self.centres_ = _numbers(state["centres"], n)
            self.scales_ = _numbers(state["scales"], n)
        weights, evidence_weights, bias = state["weighting"]
        weights, evidence_weights = _numbers(weights, n), _numbers(evidence_weights, n)
        (bias,) = _numbers([bias], 1)
        self._set_weighting(Weighting(weights, evidence_weights, bias))
        return self

    def _check_values(self) -> None:
        if not isinstance(self.solvers, list | tuple) or len(self.solvers) < 2:
            raise self.wrong_value("solvers", "two solvers or more, solvers=[A; B]")
        for number, member in enumerate(self.solvers, start=1):
            if not isinstance(member, Solver) or member.tunes_parameters:
                actual = getattr(member, "name", repr(member))
                expected = "a solver whose parameters are not tuned"
                problem = f"member {number} of {self.name} must be {expected}, got {actual}"
                raise UsageError(problem, field="solvers", found=actual, expected=expected)
        self.check_parameters()
        if self.weights is None or self._weights_are("tuned") or self._weights_are("stacked"):
            return
        weights = self.weights if isinstance(self.weights, list | tuple) else ()
        numbers = [weight for weight in weights if is_number(weight)]
        if not len(numbers) == len(weights) == len(self.solvers):
            expected = (
                f"'tuned', 'stacked' or a finite number for each of its {len(self.solvers)} members"
            )
            raise self.wrong_value("weights", expected)

    def _members_by_name(self) -> dict[str, Solver]:
        """Return the members by name, without those that are not solvers, which `_check_values`
        reports.
        """
        listed = self.solvers if isinstance(self.solvers, list | tuple) else ()
        solvers = [solver for solver in listed if isinstance(solver, Solver)]
        total = Counter(type(solver).name for solver in solvers)
        seen = Counter[str]()
        by_name = {}
        for solver in solvers:
            name = type(solver).name
            seen[name] += 1
            by_name[f"{name}-{seen[name]}" if total[name] > 1 else name] = solver
        return by_name

    def _weights_are(self, how: str) -> bool:
        """Return whether `weights` is the string `how`."""
        return isinstance(self.weights, str) and self.weights == how

    def _comparison_key(self) -> tuple[Any, ...]:
        """Return what must be equal in two combinations of the same variant."""
        params = self.get_params(deep=False)
        left_out = ("solvers", "decision")
        compared = {name: value for name, value in params.items() if name not in left_out}
        return same_members(list(self._members_by_name().values())), compared

    def _stack(self, scored: list[Scores], train: Sequence[Question]) -> None:
        """Set the weights of a logistic regression, or better ones if a member alone is better
        out of fold.
        """
        # The regression maximises the likelihood of all labels, which is not the metric: large
        # penalties in a member's scores, or probabilities that were normalised within the question,
        # cost what it knows.
        right = gold_labels(self.name, train)
        self._set_weighting(stack(scored, right, self.C))
        labels = Scores(right.astype(np.float64), scored[0].offsets, scored[0].evidence)
        result = TrainingResult(self.decision_for(train[0].task), train, labels)
        n_groups = int(passage_groups(train, self.group).max(initial=-1)) + 1
        if not result.is_defined or len(train) < _MIN_QUESTIONS or n_groups < 2:
            return

        def learn(fold_scores: list[Scores], index: NDArray[np.int64]) -> Weighting:
            return stack(fold_scores, labels.take(index).values.astype(np.int64), self.C)

        def search(fold_scores: list[Scores], index: NDArray[np.int64]) -> Weighting:
            return search_weights(fold_scores, result.of(index))

        folds = FoldPlan(self.folds, self.group).folds(train)
        everything = np.arange(len(train))
        measure = result.of(everything)
        alone = [measure(scores) for scores in scored]
        best = int(np.argmax(alone))
        best_alone = alone[best] - 1e-12
        if measure(total_out_of_fold(learn, scored, folds)) >= best_alone:
            return
        if measure(total_out_of_fold(search, scored, folds)) >= best_alone:
            weighting, instead = search(scored, everything), "the weights are searched instead"
        else:
            weighting = Weighting.of_scores([float(i == best) for i in range(len(scored))])
            instead = "only this member has a weight"
        self._set_weighting(weighting)
        self.caveats_ += (
            "out of fold on its training data, stacked scores are worse than the member "
            f"{self.member_names[best]} alone: {instead}",
        )

    def _set_weighting(self, weighting: Weighting) -> None:
        weights, evidence_weights, self.bias_ = weighting
        self.weights_, self.evidence_weights_ = tuple(weights), tuple(evidence_weights)

    def _fitted_weighting(self) -> Weighting:
        self.require_fitted(
            "weights_",
            f"the weights of {self.name} are not set: call fit(questions) and, if the weights are "
            "tuned, tune(questions) with a split that has gold answers (on the command line --tune "
            "DATA)",
        )
        return Weighting(self.weights_, self.evidence_weights_, self.bias_)

    def _normalise_scores(self, scored: list[Scores]) -> list[Scores]:
        if self.normalise == "question":
            return [standardise_within_questions(scores) for scores in scored]
        if self.normalise == "standard":
            members = zip(map(join_ties, scored), self.centres_, self.scales_, strict=True)
            return [standardise(scores, centre, scale) for scores, centre, scale in members]
        return scored

    def _score_unseen(
        self, questions: Sequence[Question], train: Sequence[Question]
    ) -> list[Scores]:
        """Return each member's normalised scores of the training questions, without having seen
        their gold.
        """
        others = [member for member in self.solvers_ if member.learns_from != "gold"]
        self._note_learned_gold(train, "weights were learned from", others)
        scores_of_others = iter(self.score_members(others, train))

        def score_out_of_fold(member: Solver) -> Scores:
            def learn(others_of_fold: Sequence[Question]) -> Solver:
                return clone(member).fit_for(questions, others_of_fold)

            folds = FoldPlan(self.folds, self.group).folds(train)
            return OutOfFold(learn, train, folds).score_candidates(train)

        scored = [
            score_out_of_fold(m) if m.learns_from == "gold" else next(scores_of_others)
            for m in self.solvers
        ]
        return self._normalise_scores(scored)

    def _note_learned_gold(
        self, questions: Sequence[Question], what: str, members: Sequence[Solver]
    ) -> None:
        """Add a caveat if weights are fitted on scores of members that have learned these
        questions' gold.
        """
        for member in members:
            trained_on = getattr(member, "trained_on_", None) or {}
            fingerprint = trained_on.get("fingerprint")
            if fingerprint is not None and fingerprint == getattr(questions, "fingerprint", None):
                self.caveats_ += (
                    f"{what} {trained_on['name']}, whose gold {member.name} has learned: its "
                    "weight is too high",
                )
