"""False alarms of the audit: real data whose gold is drawn anew, so that nothing can be found.

Seven shapes have gold permuted within each question. Two families keep dependence within passages: gold of whole
passages is exchanged between passages of the same shape, after options were shuffled; and the questions of a
passage have their right option at the same place. An alarm is any finding. Gold order is what the second family
really has, so it counts as an alarm only elsewhere.

Run ``python -m benchmarks audit-nulls [FOLDER] [--draws N] [--only NAME]``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import classic_rc
from classic_rc.audit import Kind, check_dataset
from classic_rc.questions import Dataset, Question, TextCandidates

_RACE = "race/RACE-train-dev.tar.gz"
Change = Callable[[Sequence[Question], random.Random], list[Question]]
SHAPES: dict[str, tuple[str, dict[str, str], int]] = {
    "MCScript, 2 options, shared passages": ("mcscript/dev-data.xml", {}, 1411),
    "DREAM, 3 options, 30 questions": ("dream/dev.json", {}, 30),
    "DREAM, 3 options, 300 questions": ("dream/dev.json", {}, 300),
    "C3, 2 to 4 options": ("foreign/c3-m-dev.json", {}, 1000),
    "RACE, 4 options, 4,000 questions": (_RACE, {"split": "dev"}, 4000),
    "LogiQA, 5 options": ("foreign/logiqa_eval.txt", {}, 651),
    "MultiRC, several right": ("multirc", {"split": "dev"}, 953),
}


def permute_gold(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Draw as many right options as there are, for each question by itself."""
    return [replace(q, gold=frozenset(rng.sample(range(len(q.candidates)), len(q.gold or ())))) for q in questions]


def exchange_passages(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Shuffle options, then exchange the gold of passages whose questions have the same numbers of options."""
    questions = shuffle_options(questions, rng)
    groups: dict[str, list[int]] = {}
    for i, q in enumerate(questions):
        groups.setdefault(q.passage.id, []).append(i)
    by_shape: dict[tuple[int, ...], list[list[int]]] = {}
    for own in groups.values():
        by_shape.setdefault(tuple(len(questions[i].candidates) for i in own), []).append(own)
    gold = [q.gold for q in questions]
    for alike in by_shape.values():
        others = rng.sample(alike, len(alike))
        for own, other in zip(alike, others, strict=True):
            for i, j in zip(own, other, strict=True):
                gold[i] = questions[j].gold
    return [replace(q, gold=g) for q, g in zip(questions, gold, strict=True)]


def keep_neighbours_together(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Put the right option of all questions of a passage at one place, drawn for each passage."""
    place: dict[str, float] = {}
    return [
        replace(q, gold=frozenset({int(place.setdefault(q.passage.id, rng.random()) * len(q.candidates))}))
        for q in questions
    ]


def shuffle_options(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Shuffle the options of each question, with gold."""
    shuffled = []
    for q in questions:
        order = rng.sample(range(len(q.candidates)), len(q.candidates))
        texts = TextCandidates(q.candidates[i].text for i in order)
        gold = frozenset(order.index(i) for i in q.gold or () if isinstance(i, int))
        shuffled.append(replace(q, candidates=texts, gold=gold))
    return shuffled


def add_fifth_option(questions: Sequence[Question], rng: random.Random) -> list[Question]:
    """Give each question an option of another one too."""
    pool = [c.text for q in questions for c in q.candidates]
    return [
        replace(q, candidates=TextCandidates([*(c.text for c in q.candidates), rng.choice(pool)]))
        for q in questions
    ]


DEPENDENT: dict[str, Change] = {
    "whole passages exchanged": exchange_passages,
    "gold of neighbours together": keep_neighbours_together,
}


def make_families(folder: Path, only: str) -> Iterator[tuple[str, Dataset, Change]]:
    """Yield the name of each family of nulls that has `only` in its name, its data, and what draws its gold."""
    for name, (path, options, most) in SHAPES.items():
        if only in name:
            data = classic_rc.load(folder / path, **options)[:most]
            questions = [q for q in data if q.gold]
            if name.startswith("LogiQA"):
                questions = add_fifth_option(questions, random.Random(1))
            yield name, replace(data, questions=questions, read_with=None, parts=()), permute_gold
    for name, change in DEPENDENT.items():
        if only in name:
            yield name, classic_rc.load(folder / _RACE, split="dev")[:1500], change


def find_alarm(data: Dataset, change: Change, seed: int) -> str:
    """Return the first finding in one draw; an empty text if there is none."""
    null = replace(data, questions=change(data.questions, random.Random(seed)), read_with=None, parts=())
    found = check_dataset(null, header=False, seed=seed, duplicates=False).cues
    counted = [cue for cue in found if cue.kind is not Kind.GOLD_ORDER or change is not keep_neighbours_together]
    return (
        f"{counted[0].kind} {counted[0].name} z {counted[0].z:.2f} bound {counted[0].bound:.2f}" if counted else ""
    )


def main(arguments: list[str] | None = None) -> None:
    """Draw from each family in turn; print each alarm, and the table after each round."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks audit-nulls", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--draws", type=int, default=57, help="from each family (default 57)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first draw (default 0)")
    parser.add_argument("--only", default="", help="a part of the name of the families")
    args = parser.parse_args(arguments)
    families = sorted(make_families(args.folder, args.only), key=lambda family: len(family[1]))
    alarms = {name: 0 for name, _, _ in families}
    for seed in range(args.first, args.first + args.draws):
        for name, data, change in families:
            found = find_alarm(data, change, seed)
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
