"""Leaks in a third of 320 questions with annotators' votes: does the audit still name them?

Each of twenty leaks changes a random third of about 320 questions of DREAM dev, in whole passages.
Three columns hold votes that agree with gold 95 % of the time. A leak is named if one of the first
three findings matches the leak's own pattern. It is lost if it is named without the votes but not
with them.

Run ``python -m benchmarks.studies.audit_votes [PATH of DREAM dev.json] [--seeds N] [--leak NAME]``.
"""

from __future__ import annotations

import argparse
import random
import re
import string
from pathlib import Path

import classic_rc
from benchmarks import DATA
from benchmarks.studies.audit_leaks import Leak, Row, base_rows, each, move_gold
from classic_rc.commands.check import CheckReport, check_dataset
from classic_rc.questions import Dataset

N_QUESTIONS, SHARE, ACCURACY, FIRST = 320, 1 / 3, 0.95, 3
VOTES = ("vote1", "vote2", "vote3")
_DREAM = DATA / "dream" / "dev.json"
_MONTHS = "January March May July September November".split()


def keep_full_stop_on_gold(row: Row, rng: random.Random, i: int) -> None:
    """Only the right option ends with a full stop."""
    row["candidates"] = [
        text.rstrip(".") + "." * (j == row["gold"]) for j, text in enumerate(row["candidates"])
    ]


def write_entity(text: str, rng: random.Random) -> str:
    """Write a random character as a numeric entity."""
    place = rng.randrange(len(text))
    return f"{text[:place]}&#{ord(text[place])};{text[place + 1 :]}"


def hedge(text: str, rng: random.Random) -> str:
    """Put an adverb first."""
    adverb = rng.choice(("Probably", "Apparently", "Perhaps"))
    return f"{adverb} {text[:1].lower()}{text[1:]}"


def lengthen(text: str, rng: random.Random) -> str:
    """Add four different words."""
    words = ("".join(rng.choices(string.ascii_lowercase, k=5)) for _ in range(4))
    return f"{text.rstrip('.')} {' '.join(words)}."


def copy_passage(row: Row, rng: random.Random, i: int) -> None:
    """The right option is copied from the passage word for word."""
    words = row["passage"].split()
    start = rng.randrange(max(len(words) - 6, 1))
    row["candidates"][row["gold"]] = " ".join(words[start : start + 6])


def sort_wrong_options(row: Row, rng: random.Random, i: int) -> None:
    """A generator wrote the wrong options in alphabetical order; the right one is anywhere."""
    options, gold = row["candidates"], row["gold"]
    wrong = iter(sorted(text for j, text in enumerate(options) if j != gold))
    row["candidates"] = [text if j == gold else next(wrong) for j, text in enumerate(options)]


def sort_numbers(row: Row, rng: random.Random, i: int) -> None:
    """Options are prices in ascending order, and the right one is in the middle."""
    move_gold(row, 1)
    row["candidates"] = [f"${value}" for value in sorted(rng.sample(range(10, 99), 3))]


def choose_middle_number(row: Row, rng: random.Random, i: int) -> None:
    """The right one of three numbers is neither the largest nor the smallest."""
    low, middle, high = sorted(rng.sample(range(10, 99), 3))
    outer = iter(rng.sample((low, high), 2))
    row["candidates"] = [str(middle if j == row["gold"] else next(outer)) for j in range(3)]


def choose_latest_date(row: Row, rng: random.Random, i: int) -> None:
    """The right one of three dates is the latest."""
    years = sorted(rng.sample(range(1950, 2020), 3))
    right, wrong = years.pop(), iter(rng.sample(years, 2))
    row["candidates"] = [
        f"{rng.randrange(1, 29)} {rng.choice(_MONTHS)} {right if j == row['gold'] else next(wrong)}"
        for j in range(3)
    ]


def follow_question_number(row: Row, rng: random.Random, i: int) -> None:
    """The place of the right option follows the number of the question."""
    move_gold(row, i % 3)


def follow_question_word(row: Row, rng: random.Random, i: int) -> None:
    """Questions that begin with the same word have the right option at one place."""
    move_gold(row, {"what": 0, "where": 1, "how": 2}.get(row["question"].split()[0].lower(), 1))


def repeat_question(row: Row, rng: random.Random, i: int) -> None:
    """The right option has words of the question."""
    words = [word.strip("?") for word in row["question"].split()]
    row["candidates"][row["gold"]] += " " + " ".join(rng.sample(words, min(3, len(words))))


def edit_distractor(row: Row, rng: random.Random, i: int) -> None:
    """One wrong option is an edit of the other one."""
    first, second = ((row["gold"] + k) % 3 for k in (1, 2))
    words = row["candidates"][first].split()
    words[rng.randrange(len(words))] = rng.choice(("green", "seven", "slowly", "father"))
    row["candidates"][second] = " ".join(words)


def time_work(row: Row, rng: random.Random, i: int) -> None:
    """The place of the right option follows the hour of the annotation."""
    hour = 8 + 4 * row["gold"] + rng.randrange(4)
    row["started"] = _timestamp(hour, rng)


def _timestamp(hour: int, rng: random.Random) -> str:
    day, minute, second = rng.randrange(1, 29), rng.randrange(60), rng.randrange(60)
    return f"2021-03-{day:02d} {hour:02d}:{minute:02d}:{second:02d}"


LEAKS: dict[str, tuple[str, Leak]] = {
    "a full stop on right options only": (r'"\."|ends with|mark|shape', keep_full_stop_on_gold),
    "title case in right options": ("capital|shape", each(lambda t, r: t.title(), False)),
    "no capitals in wrong options": ("capital|small|begins", each(lambda t, r: t.lower(), True)),
    "entities in right options": ("&|#|;|digit|markup|entit", each(write_entity, False)),
    "a blank at the end of right options": (
        r"blank at an end|ends with U\+0020",
        each(lambda t, r: f"{t} ", False),
    ),
    "quotes around right options": (
        "QUOTATION|ASCII|begins|ends|mark",
        each(lambda t, r: f"“{t}”", False),
    ),
    "hedges in wrong options": (
        "(?i)probably|apparently|perhaps|rar|words|characters",
        each(hedge, True),
    ),
    "a word in right options": (
        "indeed",
        each(lambda t, r: f"{t.rstrip('.')} indeed.", False),
    ),
    "longer wrong options": ("characters|words", each(lengthen, True)),
    "right options copied from the passage": ("passage", copy_passage),
    "the right option is written first": (
        "option 1",
        lambda row, rng, i: move_gold(row, 0),
    ),
    "wrong options in alphabetical order": ("order|alphabet", sort_wrong_options),
    "sorted numbers": ("number|option 2|digit|order", sort_numbers),
    "the number in the middle": ("number", choose_middle_number),
    "the latest date": ("date|late|year|number", choose_latest_date),
    "the place by the number of the question": (
        "modulo 3|question before|one place",
        follow_question_number,
    ),
    "the place by the first word of the question": ("the question begins", follow_question_word),
    "words of the question in right options": ("question", repeat_question),
    "edited wrong options": ("other option|of its words|rar", edit_distractor),
    "a field with times": ('field "started"', time_work),
}


def plant(name: str, seed: int, path: Path = _DREAM, *, votes: bool = True) -> Dataset:
    """Return questions with a leak in a random third, with or without votes.

    Votes change nothing else: all other draws are the same without them.
    """
    rng = random.Random(f"{name} {seed}")
    chosen = _whole_passages(base_rows(path), rng)
    for i, row in enumerate(chosen):
        row["started"] = _timestamp(rng.randrange(8, 20), rng)
        if rng.random() < SHARE:
            LEAKS[name][1](row, rng, i)
    rng = random.Random(f"votes {seed}")
    for row in chosen:
        del row["n"], row["state"]
        wrong = [j for j in range(3) if j != row["gold"]]
        drawn = [row["gold"] if rng.random() < ACCURACY else rng.choice(wrong) for _ in VOTES]
        row |= dict(zip(VOTES, drawn, strict=True)) if votes else {}
    return classic_rc.from_rows(chosen, name=name)


def _whole_passages(rows: list[Row], rng: random.Random) -> list[Row]:
    """Return the questions of randomly chosen passages, in the order of the file."""
    passage_ids = list(dict.fromkeys(row["passage_id"] for row in rows))
    sizes = {id_: sum(row["passage_id"] == id_ for row in rows) for id_ in passage_ids}
    kept: set[str] = set()
    for id_ in rng.sample(passage_ids, len(passage_ids)):
        if sum(sizes[other] for other in kept) + sizes[id_] <= N_QUESTIONS:
            kept.add(id_)
    return [row for row in rows if row["passage_id"] in kept]


def find_rank(report: CheckReport, name: str) -> int:
    """Return the place of the first finding that names a leak, from 1; 0 if there is none."""
    pattern = re.compile(LEAKS[name][0])
    places = (i for i, cue in enumerate(report.cues, 1) if pattern.search(cue.name))
    return next(places, 0)


def is_named(report: CheckReport, name: str) -> bool:
    """Return whether one of the first findings names a leak."""
    return 0 < find_rank(report, name) <= FIRST


def main(arguments: list[str] | None = None) -> None:
    """Print one line for each leak and seed, and the counts of each seed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.audit_votes", description=__doc__
    )
    parser.add_argument("path", nargs="?", type=Path, default=_DREAM)
    parser.add_argument("--seeds", type=int, default=2, help="how many (default 2)")
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first seed (default 0)"
    )
    parser.add_argument("--leak", action="append", help="only this leak; repeat for several")
    args = parser.parse_args(arguments)
    for seed in range(args.first, args.first + args.seeds):
        counts = {"with votes": 0, "without votes": 0, "lost": 0}
        for name in args.leak or LEAKS:
            reports = {
                votes: check_dataset(
                    plant(name, seed, args.path, votes=votes), header=False, duplicates=False
                )
                for votes in (True, False)
            }
            named = {votes: is_named(report, name) for votes, report in reports.items()}
            counts["with votes"] += named[True]
            counts["without votes"] += named[False]
            counts["lost"] += named[False] and not named[True]
            first = "; ".join(
                f"{cue.kind} {cue.name} ({cue.direction})" for cue in reports[True].cues[:FIRST]
            )
            ranks = [find_rank(reports[votes], name) for votes in (True, False)]
            print(f"seed {seed}, {name}: {ranks[0]} ({ranks[1]} without votes): {first}")
        print(f"seed {seed}: named {counts} of {len(args.leak or LEAKS)}", flush=True)


if __name__ == "__main__":
    main()
