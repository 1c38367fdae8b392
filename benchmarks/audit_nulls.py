"""False alarms of the audit: real data whose gold is drawn anew, so that nothing can be found.

Seven shapes have gold permuted within each question. Two families keep dependence within passages: gold of whole
passages is exchanged between passages of the same shape, after options were shuffled; and the questions of a
passage have their right option at the same place. An alarm is any finding. Gold order is what the second family
really has, so it counts as an alarm only elsewhere.

Run ``python -m benchmarks audit-nulls [FOLDER] [--draws N]``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import classic_rc
from classic_rc.audit import Kind, check_dataset
from classic_rc.questions import Dataset, Question, TextCandidates

_DATA = Path("../shared/data")
SHAPES: dict[str, tuple[str, dict[str, str], int]] = {
    "MCScript, 2 options, shared passages": ("mcscript/dev-data.xml", {}, 1411),
    "DREAM, 3 options, 30 questions": ("dream/dev.json", {}, 30),
    "DREAM, 3 options, 300 questions": ("dream/dev.json", {}, 300),
    "C3, 2 to 4 options": ("foreign/c3-m-dev.json", {}, 1000),
    "RACE, 4 options, 4,000 questions": ("race/RACE-train-dev.tar.gz", {"split": "dev"}, 4000),
    "LogiQA, 5 options": ("foreign/logiqa_eval.txt", {}, 651),
    "MultiRC, several right": ("multirc", {"split": "dev"}, 953),
}
FAMILIES = ("whole passages exchanged", "gold of neighbours together")


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


def count_alarms(
    data: Dataset, change: Callable[[Sequence[Question], random.Random], list[Question]], draws: int, name: str
) -> int:
    """Return in how many draws there is an alarm."""
    alarms = 0
    for seed in range(draws):
        null = replace(data, questions=change(data.questions, random.Random(seed)), read_with=None, parts=())
        found = check_dataset(null, header=False, seed=seed, duplicates=False).cues
        kinds = [cue for cue in found if cue.kind is not Kind.GOLD_ORDER or name != FAMILIES[1]]
        alarms += bool(kinds)
        if kinds:
            print(f"  {name}, draw {seed}: {kinds[0].kind} {kinds[0].name} z {kinds[0].z:.2f}", flush=True)
    return alarms


def main(arguments: list[str] | None = None) -> None:
    """Print the table of alarms."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks audit-nulls", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=_DATA)
    parser.add_argument("--draws", type=int, default=57, help="of each shape (default 57)")
    parser.add_argument("--dependent", type=int, default=50, help="of each dependent family (default 50)")
    parser.add_argument("--only", help="a part of the name of what to draw")
    args = parser.parse_args(arguments)
    total = drawn = 0
    for name, (path, options, most) in SHAPES.items():
        if args.only and args.only not in name:
            continue
        data = classic_rc.load(args.folder / path, **options)[:most]
        if name.startswith("LogiQA"):
            data = replace(data, questions=add_fifth_option(data.questions, random.Random(1)), read_with=None)
        data = replace(data, questions=[q for q in data if q.gold], read_with=None, parts=())
        alarms = count_alarms(data, permute_gold, args.draws, name)
        total, drawn = total + alarms, drawn + args.draws
        print(f"{name}: {alarms} alarms in {args.draws} draws", flush=True)
    print(f"permuted within questions: {total} alarms in {drawn} draws", flush=True)
    for name, change in zip(FAMILIES, (exchange_passages, keep_neighbours_together), strict=True):
        if args.only and args.only not in name:
            continue
        data = classic_rc.load(args.folder / "race/RACE-train-dev.tar.gz", split="dev")[:1500]
        alarms = count_alarms(data, change, args.dependent, name)
        print(f"{name}: {alarms} alarms in {args.dependent} draws", flush=True)


if __name__ == "__main__":
    main()
