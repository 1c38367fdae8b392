"""False alarms of the audit: real data whose gold is drawn anew, so that nothing can be found.

Seven shapes have gold permuted within each question. Two families keep dependence within passages:
the gold of whole passages is exchanged between passages of the same shape, after options were
shuffled; and the questions of a passage have their right option at the same place. An alarm is any
finding. Gold order is what the second family really has, so it counts as an alarm only elsewhere.

Run ``python -m benchmarks.studies.audit_nulls [FOLDER] [--draws N] [--only NAME]``. Features do not
read gold: they are made once for each family.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import classic_rc
from benchmarks import DATA
from classic_rc.commands.check import CueKind
from classic_rc.commands.check.cues import describe_steps, order_features
from classic_rc.commands.check.feature_matrix import FeatureMatrix
from classic_rc.commands.check.features import build_features
from classic_rc.commands.check.option_arrays import OptionTable
from classic_rc.commands.check.score_test import ScoreTest
from classic_rc.questions import Dataset, Question, TextCandidates
from classic_rc.text.languages import dataset_language

_RACE = "race/RACE-train-dev.tar.gz"
SHAPES: dict[str, tuple[str, dict[str, str], int]] = {
    "DREAM, 3 options, 30 questions": ("dream/dev.json", {}, 30),
    "DREAM, 3 options, 300 questions": ("dream/dev.json", {}, 300),
    "LogiQA, 5 options": ("foreign/logiqa_eval.txt", {}, 651),
    "MultiRC, several right": ("multirc", {"split": "dev"}, 953),
    "C3, 2 to 4 options": ("foreign/c3-m-dev.json", {}, 1000),
    "MCScript, 2 options, shared passages": ("mcscript/dev-data.xml", {}, 1411),
    "RACE, 4 options, 4,000 questions": (_RACE, {"split": "dev"}, 4000),
}

Gold = list[frozenset[int]]
Change = Callable[[Sequence[Question], random.Random], Gold]


def permute_gold(questions: Sequence[Question], rng: random.Random) -> Gold:
    """Draw as many right options as there are, for each question by itself."""
    return [frozenset(rng.sample(range(len(q.candidates)), len(q.gold or ()))) for q in questions]


def exchange_passages(questions: Sequence[Question], rng: random.Random) -> Gold:
    """Exchange the gold of passages whose questions have the same numbers of options."""
    groups: dict[str, list[int]] = {}
    for i, q in enumerate(questions):
        groups.setdefault(q.passage.id, []).append(i)
    by_shape: dict[tuple[int, ...], list[list[int]]] = {}
    for own in groups.values():
        by_shape.setdefault(tuple(len(questions[i].candidates) for i in own), []).append(own)
    gold = [_gold_of(q) for q in questions]
    for alike in by_shape.values():
        for own, other in zip(alike, rng.sample(alike, len(alike)), strict=True):
            for i, j in zip(own, other, strict=True):
                gold[i] = _gold_of(questions[j])
    return gold


def keep_neighbours_together(questions: Sequence[Question], rng: random.Random) -> Gold:
    """Put the right option of all questions of a passage at one place, drawn for each passage."""
    place: dict[str, float] = {}
    draws = [place.setdefault(q.passage.id, rng.random()) for q in questions]
    return [frozenset({int(x * len(q.candidates))}) for x, q in zip(draws, questions, strict=True)]


DEPENDENT: dict[str, Change] = {
    "whole passages exchanged": exchange_passages,
    "gold of neighbours together": keep_neighbours_together,
}


def shuffle_options(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Shuffle the options of each question, with gold."""
    shuffled = []
    for q in questions:
        order = rng.sample(range(len(q.candidates)), len(q.candidates))
        texts = TextCandidates(q.candidates[i].text for i in order)
        shuffled.append(
            replace(q, candidates=texts, gold=frozenset(order.index(i) for i in _gold_of(q)))
        )
    return shuffled


def add_fifth_option(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Give each question an option of another one too."""
    pool = [c.text for q in questions for c in q.candidates]
    return [
        replace(q, candidates=TextCandidates([*(c.text for c in q.candidates), rng.choice(pool)]))
        for q in questions
    ]


def _gold_of(question: Question) -> frozenset[int]:
    return frozenset(i for i in question.gold or () if isinstance(i, int))


def make_families(folder: Path, only: str) -> Iterator[tuple[str, FeatureMatrix, Change]]:
    """Yield the name of each family of nulls that has `only` in its name, its features, and what
    draws its gold.
    """
    for name, (path, options, most) in SHAPES.items():
        if only in name:
            data = classic_rc.load(folder / path, **options)[:most]
            questions = [q for q in data if q.gold]
            if name.startswith("LogiQA"):
                questions = add_fifth_option(questions, random.Random(1))
            yield name, _features_of(questions, name), permute_gold
    for name, change in DEPENDENT.items():
        if only in name:
            questions = list(classic_rc.load(folder / _RACE, split="dev")[:1500])
            yield name, _features_of(shuffle_options(questions, random.Random(2)), name), change


def _features_of(questions: Sequence[Question], name: str) -> FeatureMatrix:
    data = Dataset(questions, name)
    return build_features(OptionTable.of(data, dataset_language(data).analyzer))


def find_alarm(features: FeatureMatrix, change: Change, seed: int) -> str:
    """Return the first finding in one draw; an empty text if there is none."""
    old = features.table
    drawn = change(old.questions, random.Random(seed))
    right = np.array(
        [i in own for own, n in zip(drawn, old.sizes.tolist(), strict=True) for i in range(n)]
    )
    table = replace(old, right=right)
    test = ScoreTest(replace(features, table=table), order_features(table), seed=seed)
    test.run()
    cues = describe_steps(test, table.n_right / table.sizes)
    counted = [
        cue
        for cue in cues
        if cue.kind is not CueKind.GOLD_ORDER or change is not keep_neighbours_together
    ]
    return (
        f"{counted[0].kind} {counted[0].name} z {counted[0].z:.2f} bound {counted[0].bound:.2f}"
        if counted
        else ""
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from each family in turn; print each alarm, and the table after each round."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.audit_nulls", description=__doc__
    )
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--draws", type=int, default=58, help="from each family (default 58)")
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first draw (default 0)"
    )
    parser.add_argument("--only", default="", help="a part of the name of the families")
    args = parser.parse_args(arguments)
    families = list(make_families(args.folder, args.only))
    alarms = {name: 0 for name, _, _ in families}
    for seed in range(args.first, args.first + args.draws):
        for name, features, change in families:
            found = find_alarm(features, change, seed)
            alarms[name] += bool(found)
            if found:
                print(f"{name}, draw {seed}: {found}", flush=True)
        n = seed + 1 - args.first
        permuted = [name for name in alarms if name in SHAPES]
        total = sum(alarms[name] for name in permuted)
        counts = "; ".join(f"{name}: {count}" for name, count in alarms.items())
        print(f"alarms in {n} draws each: {counts}", flush=True)
        print(f"permuted within questions: {total} alarms in {n * len(permuted)} draws", flush=True)


if __name__ == "__main__":
    main()
