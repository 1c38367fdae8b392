"""What solvers may learn from and be tuned on, kept apart from what they answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from classic_rc.errors import UsageError
from classic_rc.evaluation.system import System
from classic_rc.folds import FoldPlan, Overlap, overlap, without_overlap
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver


@dataclass(frozen=True)
class Learning:
    """The data and the folds that solvers learn from and are tuned on.

    Parameters
    ----------
    train : Dataset, optional
        What solvers learn from.
    tune : Dataset, optional
        What thresholds and tuned parameters are chosen on; without it they are chosen out of fold.
    cv : int, optional
        Learn from gold out of fold, in so many folds, in place of `train`.
    group : str, optional
        A key of `meta` whose equal values stay in one fold.
    drop_overlap : bool
        Whether :meth:`apart_from` takes out what the data shares with the evaluated data.
    notes : tuple of str
        What :meth:`apart_from` found.

    Raises
    ------
    UsageError
        There are both training data and folds to learn in.
    """

    train: Dataset | None = None
    tune: Dataset | None = None
    cv: int | None = None
    group: str | None = None
    drop_overlap: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cv is not None and self.train is not None:
            raise UsageError(
                f"solvers learn either from {self.train.name} (--train) or out of fold (--cv): give one of them"
            )

    @property
    def plan(self) -> FoldPlan:
        """The folds to learn and to tune in."""
        return FoldPlan(group=self.group) if self.cv is None else FoldPlan(self.cv, self.group)

    def apart_from(self, dataset: Dataset) -> Learning:
        """The same with a note on what the data shares with `dataset`, without it where that is wanted.

        Raises
        ------
        UsageError
            Nothing is left.
        """
        notes = []
        kept: dict[str, Dataset | None] = {}
        for name, role, other in (("train", "training", self.train), ("tune", "tuning", self.tune)):
            kept[name] = other
            if other is None:
                continue
            if self.drop_overlap:
                kept[name] = without_overlap(other, dataset)
            note = _note(f"{role} data {other.name}", other, dataset, dropped=self.drop_overlap)
            notes += [note] if note else []
        return replace(self, **kept, notes=(*self.notes, *notes))

    def system(self, solver: Solver, dataset: Dataset, *, tune: bool = False, cross_fit: bool = False) -> System:
        """A configured solver made ready for a dataset.

        Parameters
        ----------
        solver : Solver
        dataset : Dataset
        tune : bool
            Whether it is tuned on the tuning data.
        cross_fit : bool
            Whether it is tuned out of fold.
        """
        return System(
            solver,
            dataset,
            train=self.train,
            tune=self.tune if tune else None,
            cross_fit=cross_fit,
            learn_out_of_fold=self.cv is not None,
            plan=self.plan,
        )


def _note(what: str, other: Dataset, dataset: Dataset, *, dropped: bool) -> str | None:
    if other.fingerprint == dataset.fingerprint:
        return f"{what} is the data that is reported"
    shared: Overlap = overlap(other, dataset)
    if not shared:
        return None
    found = f"{what} shares {shared.passages} passages and {shared.questions} questions with {dataset.name}"
    return found + (f": {len(shared.affected)} questions are left out" if dropped else "")
