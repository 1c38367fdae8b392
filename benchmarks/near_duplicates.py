"""Near duplicates of passages, the groups of folds, and all duplicates of a dataset: CPU seconds.

``CLASSIC_RC_COMPARE=PATH python -m benchmarks near_duplicates`` also times the detector of the checkout at PATH, in
the same process and in turn with this one, and checks that both find the same pairs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path
from types import ModuleType

from benchmarks import DATA
from benchmarks.end_to_end import COMPARE
from benchmarks.generate import dataset
from benchmarks.timing import Table, interleaved
from classic_rc import load, near_duplicates
from classic_rc.audit.duplicates import find_duplicates
from classic_rc.questions import Dataset

_PUBLISHED = {
    "MC500 train": ("mctest/mc500.train.tsv", None, None),
    "DREAM dev, and train": ("dream/dev.json", None, "dream/train.json"),
    "MultiRC dev, and train": ("multirc/dev_83-fixedIds.json", None, "multirc/train_456-fixedIds.json"),
    "RACE dev, and train": ("race/RACE-train-dev.tar.gz", "dev", "race/RACE-train-dev.tar.gz"),
}


def run(quick: bool = False) -> list[Table]:
    """Measure generated data and, where their files are there, published datasets."""
    compared = os.environ.get(COMPARE)
    other = _load_other(Path(compared)) if compared else None
    cases: dict[str, tuple[Dataset, Dataset | None]] = {
        "generated RACE": (dataset("RACE", 200 if quick else 2000), None)
    }
    for name, (own, split, train) in _PUBLISHED.items():
        if (DATA / own).is_file() and not (quick and "RACE" in name):
            rest = None if train is None else load(DATA / train, split="train" if split else None)
            cases[name] = load(DATA / own, split=split), rest
    rows = [_row(name, *case, other, 1 if quick else 3) for name, case in cases.items()]
    compared_header = ["search in passages, other", "of the other"] if other else []
    return [
        {
            "title": "Near duplicates, CPU seconds",
            "header": [
                "data",
                "questions",
                "passages",
                "pairs of passages",
                "search in passages",
                *compared_header,
                "all duplicates",
            ],
            "rows": rows,
            "notes": [
                "Search in passages: near duplicates among all passages of both parts, the median of three rounds. "
                "All duplicates: `find_duplicates` of the first part, with the second one as training data."
            ],
        }
    ]


def _row(
    name: str, own: Dataset, train: Dataset | None, other: ModuleType | None, rounds: int
) -> list[str | int | float | None]:
    texts = [passage.text for part in (own, train) if part is not None for passage in part.passages]

    def pairs(module: ModuleType) -> list[list[int]]:
        module._recent_pairs.clear()
        found: list[list[int]] = module.near_duplicate_pairs(texts).tolist()
        return found

    versions = {"this": near_duplicates, **({"other": other} if other else {})}
    found = [pairs(module) for module in versions.values()]
    if any(one != found[0] for one in found):
        raise AssertionError(f"{name}: the two versions find different pairs")
    functions = {key: lambda module=module: pairs(module) for key, module in versions.items()}
    seconds = interleaved(functions, rounds, time.process_time)
    near_duplicates._recent_pairs.clear()
    start = time.process_time()
    find_duplicates(own, train)
    everything = time.process_time() - start
    before = seconds.get("other")
    return [
        name,
        len(own) + (0 if train is None else len(train)),
        len(texts),
        len(found[0]),
        round(seconds["this"], 3),
        *([round(before, 3), round(seconds["this"] / before, 2)] if before else []),
        round(everything, 2),
    ]


def _load_other(checkout: Path) -> ModuleType:
    """Load the detector of another checkout; what it imports is this package's."""
    spec = importlib.util.spec_from_file_location(
        "other_near_duplicates", checkout / "classic_rc/near_duplicates.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["near_duplicates"])
