"""What the reader of the numbers should know about the data behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from classic_rc.decisions import Argmax, RelativeThreshold, Threshold, TunedThreshold
from classic_rc.evaluation.learning import Learning
from classic_rc.evaluation.prepare import Overrides
from classic_rc.evaluation.system import System
from classic_rc.questions import Dataset
from classic_rc.solvers.base import Solver
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.tokenizers import unspaced_share

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
