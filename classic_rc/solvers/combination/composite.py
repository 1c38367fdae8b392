"""The base class of solvers that combine other solvers: named members, whose parameters are its parameters too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from classic_rc.errors import UsageError, unknown_name
from classic_rc.parameters import clone, parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.solvers.specs import parse_solver
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import encode
from classic_rc.text.encoded import EncodedDataset


class Composite(Solver):
    """The base class of solvers that combine others: the parameter `solvers` and, after a fit, ``solvers_``.

    A member's name is its solver's name; members with the same name are numbered from 1. A member's parameters are
    also the composite's, after the member's name and two underscores as in scikit-learn: ``sw+d__distance_weight``.
    """

    solvers: Sequence[Solver] = parameter(
        (), "the members, at least two; see :class:`Composite` for their names", also="a list of solvers"
    )

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return a solver with the parameters `params`.

        Members may be specifications, and a parameter may be a member's (``MEMBER__PARAMETER``).

        Raises
        ------
        UsageError
            A member or a parameter is unknown, or a specification is invalid.
        """
        own = {name: value for name, value in params.items() if "__" not in name}
        if "solvers" in own:
            own["solvers"] = _make_members(cls.name, own["solvers"])
        composite = super().from_params(own)
        members = composite._members_by_name()
        for name, value in params.items():
            if name in own:
                continue
            member, _, parameter = name.partition("__")
            if member not in members:
                raise unknown_name(f"member of {cls.name}", member, members or ["(none: give solvers=[A; B])"])
            known = members[member].get_params()
            if parameter not in known:
                raise unknown_name(f"parameter of {member}", parameter, known)
            members[member].set_params(**{parameter: value})
        return composite

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep`, also the members by name and the members' parameters."""
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
        """``"gold"`` if a member learns from gold, else ``"passages"`` if one learns from these."""
        sources = {member.learns_from for member in self._members_by_name().values()}
        return "gold" if "gold" in sources else "passages" if "passages" in sources else "nothing"

    @property
    def tasks(self) -> frozenset[Task]:  # type: ignore[override]
        """The tasks that all members support."""
        return frozenset(Task).intersection(*(member.tasks for member in self._members_by_name().values()))

    @property
    def analyzer(self) -> Any:
        """The analyzer of the members that take encoded questions, or None if they do not share one."""
        analyzers = {get_analyzer(member.analyzer) for member in self.members if _scores_encoded(member)}
        return next(iter(analyzers)) if len(analyzers) == 1 else None

    @property
    def needs_only_arrays(self) -> bool:  # type: ignore[override]
        """Whether no member reads a question object."""
        return self.analyzer is not None and all(_scores_encoded(m) and m.needs_only_arrays for m in self.members)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Return the composite's own caveats, then its members'."""
        members = zip(self.member_names, self.members, strict=True)
        theirs = (f"{name}: {caveat}" for name, member in members for caveat in member.caveats(questions))
        return (*super().caveats(questions), *theirs)

    def score_members(self, members: Sequence[Solver], questions: Sequence[Question]) -> list[Scores]:
        """Return the scores of some fitted members. Members with the same analyzer share one encoding.

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
        for member in members:
            readable = plain
            if _scores_encoded(member):
                analyzer = get_analyzer(member.analyzer)
                readable = encodings[analyzer] = encodings.get(analyzer) or encode(plain, analyzer)
            scores = score_questions(member, readable)
            finite = np.isfinite(scores.values)
            if not finite.all():
                found = str(scores.values[~finite][0])
                raise UsageError(
                    f"{self.name} needs finite scores, and member {member.name} has the score {found}",
                    field="solvers",
                    found=found,
                    expected="finite scores",
                )
            scored.append(scores)
        return scored

    def check_members(self) -> None:
        """Check that the members can be combined.

        Raises
        ------
        UsageError
            There are fewer than two, or one is not a solver or has parameters to tune.
        """
        if not isinstance(self.solvers, list | tuple) or len(self.solvers) < 2:
            raise UsageError(
                f"{self.name} needs two solvers or more: solvers=[A; B], got {self.solvers!r}",
                field="solvers",
                found=repr(self.solvers),
                expected="two solvers or more",
            )
        for number, member in enumerate(self.solvers, start=1):
            if not isinstance(member, Solver):
                raise UsageError(
                    f"member {number} of {self.name} is not a solver: {member!r}",
                    field="solvers",
                    found=repr(member),
                    expected="a solver",
                )
            if member.tunes_parameters:
                raise UsageError(
                    f"member {number} of {self.name}, {member.name}, has parameters that are tuned: "
                    "set them to fixed values",
                    field="solvers",
                    found=member.name,
                    expected="a solver whose parameters are fixed",
                )

    def _members_by_name(self) -> dict[str, Solver]:
        """Return the members by name, without those that are not solvers: :meth:`check_members` reports them."""
        listed = self.solvers if isinstance(self.solvers, list | tuple) else ()
        solvers = [solver for solver in listed if isinstance(solver, Solver)]
        total, seen = Counter(type(solver).name for solver in solvers), Counter[str]()
        by_name = {}
        for solver in solvers:
            name = type(solver).name
            seen[name] += 1
            by_name[f"{name}-{seen[name]}" if total[name] > 1 else name] = solver
        return by_name


def clone_members_unfitted(estimator: Any) -> Any:
    """Return a clone without learned state."""
    return clone(estimator)


def _scores_encoded(member: Solver) -> bool:
    """Return whether the member scores encoded questions."""
    return member.takes_encoding and member.analyzer is not None


def _make_members(name: str, solvers: Any) -> list[Any]:
    """Parse specifications and clone solvers, so that setting a member's parameters changes no other solver."""
    if not isinstance(solvers, list | tuple):
        raise UsageError(
            f"parameter 'solvers' of {name} must be a list, solvers=[A; B], got {solvers!r}",
            field="solvers",
            found=repr(solvers),
            expected="a list",
        )
    members = []
    for number, member in enumerate(solvers, start=1):
        try:
            members.append(parse_solver(member) if isinstance(member, str) else clone(member, safe=False))
        except UsageError as error:
            raise UsageError(
                f"member {number} of {name}, {member!r}: {error}",
                field=error.field,
                found=error.found,
                expected=error.expected,
            ) from error
    return members
