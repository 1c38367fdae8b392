"""Near duplicates of passages, the groups of folds, and all duplicates of a dataset: CPU
seconds.
"""

from __future__ import annotations

import time

from benchmarks import DATA
from benchmarks.generate import dataset
from benchmarks.timing import Table, interleaved
from classic_rc import load, near_duplicates
from classic_rc.commands.check.duplicates import find_duplicates
from classic_rc.questions import Dataset

_PUBLISHED = {
    "MC500 train": ("mctest/mc500.train.tsv", None, None),
    "DREAM dev, and train": ("dream/dev.json", None, "dream/train.json"),
    "MultiRC dev, and train": (
        "multirc/dev_83-fixedIds.json",
        None,
        "multirc/train_456-fixedIds.json",
    ),
    "RACE dev, and train": ("race/RACE-train-dev.tar.gz", "dev", "race/RACE-train-dev.tar.gz"),
}


def run(quick: bool = False) -> list[Table]:
    """Measure generated data and, where their files are there, published datasets."""
    cases: dict[str, tuple[Dataset, Dataset | None]] = {
        "generated RACE": (dataset("RACE", 200 if quick else 2000), None)
    }
    for name, (own, split, train) in _PUBLISHED.items():
        if (DATA / own).is_file() and not (quick and "RACE" in name):
            rest = None if train is None else load(DATA / train, split="train" if split else None)
            cases[name] = load(DATA / own, split=split), rest
    rows = [_row(name, *case, 1 if quick else 3) for name, case in cases.items()]
    return [
        {
            "title": "Near duplicates, CPU seconds",
            "header": [
                "data",
                "questions",
                "passages",
                "pairs of passages",
                "search in passages",
                "all duplicates",
            ],
            "rows": rows,
            "notes": [
                "Search in passages: near duplicates among all passages of both parts, the median "
                "of three rounds. All duplicates: `find_duplicates` of the first part, with the "
                "second one as training data."
            ],
        }
    ]


def _row(
    name: str, own: Dataset, train: Dataset | None, rounds: int
) -> list[str | int | float | None]:
    texts = [passage.text for part in (own, train) if part is not None for passage in part.passages]

    def pairs() -> int:
        near_duplicates._recent_pairs.clear()
        return len(near_duplicates.similar_texts(texts).pairs)

    n_pairs = pairs()
    seconds = interleaved({"search": pairs}, rounds, time.process_time)["search"]
    near_duplicates._recent_pairs.clear()
    start = time.process_time()
    find_duplicates(own, train)
    everything = time.process_time() - start
    n_questions = len(own) + (0 if train is None else len(train))
    return [name, n_questions, len(texts), n_pairs, round(seconds, 3), round(everything, 2)]
