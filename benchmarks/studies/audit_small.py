"""Parts of a small published set whose artifact is known: how often does the audit name it?

ARCT train (Habernal et al. 2018) has negation as its cue (Niven and Kao 2019). Seeded parts of 300,
375 and 450 of its questions are audited with their own gold, and with the gold of a random half
drawn anew, which makes the cue half as strong. The cue is named if a finding has the word "not", or
says negation.
With all gold drawn anew any finding is a false alarm.

Run ``python -m benchmarks.studies.audit_small [PATH of arct-train.tsv] [--parts N]``.
"""

from __future__ import annotations

import argparse
import random
import re
from dataclasses import replace
from pathlib import Path

import classic_rc
from benchmarks import DATA
from benchmarks.studies.audit_nulls import permute_gold
from classic_rc.commands.check import check_dataset
from classic_rc.questions import Dataset

SIZES, STRENGTHS = (300, 375, 450), (1.0, 0.5, 0.0)
_NEGATION = re.compile('"not"|negation')
_FIELDS = (
    "passage=reason,question=claim,candidates=warrant0+warrant1,gold=correctLabelW0orW1,id=#id"
)


def draw_part(data: Dataset, size: int, strength: float, seed: int) -> Dataset:
    """Return a part of the data in which this share of the questions keeps its gold."""
    rng = random.Random(f"{size} {seed}")
    chosen = [data[i] for i in sorted(rng.sample(range(len(data)), size))]
    drawn = permute_gold(chosen, rng)
    return Dataset(
        [
            question if rng.random() < strength else replace(question, gold=gold)
            for question, gold in zip(chosen, drawn, strict=True)
        ],
        f"{size} questions",
    )


def main(arguments: list[str] | None = None) -> None:
    """Print one line for each size and strength."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.audit_small", description=__doc__
    )
    parser.add_argument("path", nargs="?", type=Path, default=DATA / "artefacts" / "arct-train.tsv")
    parser.add_argument("--parts", type=int, default=20, help="of each size (default 20)")
    args = parser.parse_args(arguments)
    data = classic_rc.load(args.path, fields=_FIELDS, gold_as="index0")
    for strength in STRENGTHS:
        for size in SIZES:
            first = []
            named = 0
            for seed in range(args.parts):
                part = draw_part(data, size, strength, seed)
                cues = check_dataset(part, header=False, duplicates=False).cues
                named += any(_NEGATION.search(cue.name) for cue in cues)
                first += [cue.name for cue in cues[:1]]
            names = "; ".join(f"{first.count(name)} {name}" for name in dict.fromkeys(first))
            print(
                f"strength {strength:g}, {size} questions: negation named in {named}, anything in "
                f"{len(first)} of {args.parts}: {names}",
                flush=True,
            )


if __name__ == "__main__":
    main()
