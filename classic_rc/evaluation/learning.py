"""What solvers may learn from and be tuned on, kept apart from what they answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from classic_rc.decisions import Argmax, RelativeThreshold, Threshold, TunedThreshold
from classic_rc.errors import UsageError
from classic_rc.evaluation.fitted_system import System
from classic_rc.evaluation.plan import Overrides
from classic_rc.folds import FoldPlan, Overlap, overlap, without_overlap
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.tokenizers import unspaced_share


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


_MANY_UNSPACED = 0.1


def data_warnings(dataset: Dataset, solvers: Sequence[Solver]) -> Iterator[str]:
    """Warn where words are sought in text of scripts that do not space them."""
    analyzers = {get_analyzer(s.analyzer) for s in solvers if s.analyzer is not None}
    if all(a.tokenizer == "char" for a in analyzers):
        return
    share = unspaced_share([p.text for p in dataset.passages])
    if share >= _MANY_UNSPACED:
        yield (
            f"{share:.0%} of the letters in {dataset.name} belong to scripts without spaces between words: "
            "analyzer=char makes each of them a token"
        )


def fit_warnings(systems: Sequence[System]) -> Iterator[str]:
    """Pass on what solvers have to say."""
    yield from dict.fromkeys(f"{system.solver.name}: {caveat}" for system in systems for caveat in system.caveats)


def unused_warnings(systems: Sequence[System], overrides: Overrides, learning: Learning) -> Iterator[str]:
    """Warn where something was given that no solver had a use for."""
    train, tune = learning.train, learning.tune
    if train is not None and all(system.solver.learns_from == "nothing" for system in systems):
        yield f"training data {train.name} is not used: no solver here learns"
    cross_fitted = any(system.cross_fit for system in systems)
    if learning.cv is not None and not cross_fitted and all(s.solver.learns_from != "gold" for s in systems):
        yield f"the {learning.cv} folds are not used: no solver here learns from gold or is tuned out of fold"
    if tune is not None and all(system.tune is None for system in systems):
        yield f"tuning data {tune.name} is not used: nothing here is tuned"
    rules = [system.decision for system in systems]
    if overrides.ties is not None and not any(isinstance(rule, Argmax) for rule in rules):
        yield f"the tie policy {overrides.ties!r} is not used: no best candidate is sought here"
    if overrides.threshold is not None and not any(
        isinstance(rule, Threshold) and rule.value == overrides.threshold for rule in rules
    ):
        yield f"the threshold {overrides.threshold:g} is not used: nothing here is selected by a tuned one"
    if overrides.relative_threshold is not None and not any(isinstance(rule, RelativeThreshold) for rule in rules):
        yield (
            f"the relative threshold {overrides.relative_threshold:g} is not used: "
            "no answer here is the best of several spans"
        )
    if overrides.tune_metric is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
        yield f"the metric {overrides.tune_metric!r} is not used: no threshold is tuned here"
    if overrides.tune_cuts is not None and not any(isinstance(rule, TunedThreshold) for rule in rules):
        yield f"the cut points {overrides.tune_cuts!r} are not used: no threshold is tuned here"
