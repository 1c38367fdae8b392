"""The protocol of floors: which systems run on a dataset, and what those that learn learn from."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from classic_rc.datasets.registry import load
from classic_rc.io.progress import Progress
from classic_rc.results.evaluation import Evaluation
from classic_rc.results.floors import PRIOR
from classic_rc.running.cells import CellFolder, DatasetRun, ReadData, read_data
from classic_rc.running.suite import Suite, SuiteDataset
from classic_rc.solvers.saved import SavedSolver
from classic_rc.solvers.specs import parse_solver
from classic_rc.systems import System

UNTRAINED = (
    "random",
    "all-positive",
    "all-negative",
    "constant-position:first",
    "constant-position,position=1",
    "constant-position,position=2",
    "constant-position:last",
    "longest",
    "shortest",
    "max-frequency",
    "exclusive-frequency",
    "cloze-distance",
    "cloze-window",
    "sliding-window",
    "word-distance",
    "sw+d",
    "ir:passage",
    "span-blanks",
    "span-sw",
    "lexical",
)
"""The systems that learn nothing. Each runs on the datasets whose tasks it answers."""

TRAINED = (
    "constant-position:majority",
    "surface-lr",
    "feature-ranker:candidates",
    "feature-ranker:no-passage",
    "feature-ranker",
    "span-ranker",
    "span-ranker,decision=argmax",
    "span-ranker:wh-word",
)
"""The systems that learn from gold answers."""

PUBLISHED: Mapping[str, Sequence[str]] = {
    "race": ("sliding-window:race",),
    "mctest": ("sliding-window:mctest", "sw+d:mctest160", "sw+d:mctest500"),
}
"""The systems of a dataset's own paper."""

_KEYS: Mapping[str, Mapping[str, str]] = {
    "mctest": {"by": "type"},
    "quail": {"by": "type"},
    "quoref": {"group": "title"},
    "race": {"by": "level"},
}
"""The key of the groups, and the key of what never straddles folds, by dataset."""

N_FOLDS = 5


@dataclass(frozen=True)
class FloorTask:
    """A dataset whose floor is computed."""

    name: str  # of the floor: NAME:SPLIT
    data: str  # what :func:`classic_rc.load` takes
    # the training data; rows that learn are out of fold without any
    train: Sequence[str] = ()
    learned: bool = False  # whether systems that learn run too
    reading: Mapping[str, Any] = field(default_factory=dict)  # of the data, as `load` takes it
    # the file of a ranker that learned from another dataset, for a row of its own
    prior: str | None = None


def compute_floor(
    task: FloorTask,
    folder: Path,
    *,
    read: ReadData = load,
    jobs: int = 1,
    progress: Progress | None = None,
    notify: Callable[[str], object] = lambda text: None,
) -> Evaluation:
    """Run the floor's systems on a dataset, and return their results with intervals.

    Results of systems that finished are kept in `folder`, and not computed again.
    """
    progress = progress or Progress()
    dataset_name = task.name.partition(":")[0]
    specs = [*UNTRAINED, *PUBLISHED.get(dataset_name, ()), *(TRAINED if task.learned else ())]
    train = {"train": list(task.train)} if task.train else {"cv": N_FOLDS}
    values = {
        "path": task.data,
        "intervals": True,
        **task.reading,
        **_KEYS.get(dataset_name, {}),
        **(train if task.learned else {}),
    }
    entry = SuiteDataset(task.name, values)
    progress.total = len(specs) + 1
    data = read_data(entry, read, time.perf_counter)
    progress(1)
    systems = [System(parse_solver(spec), name=spec) for spec in specs]
    if task.prior is not None:
        systems.append(System(SavedSolver(path=task.prior), name=PRIOR))
    answering = {}
    for system in systems:
        if system.solver is not None and data.dataset.task in system.solver.tasks:
            answering[str(system.name)] = {task.name: system}
    run = DatasetRun(Suite(task.name, (entry,), answering), data, CellFolder(folder / "cells"))
    for _ in run.iter_cells(jobs, progress.stage):
        progress(1)
    for note in run.notes:
        notify(note)
    return run.evaluation()
