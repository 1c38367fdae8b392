"""Leaks that pipelines make, planted in real data: how many does the first finding of the audit
name?

Each leak changes options, order, ids or fields of DREAM dev, at full strength (all questions, or
all that it can change) and at half strength (a random half of them). A leak counts as named if the
name of the first finding, or of one that stands in its place because it says the same, matches the
pattern that was written with the leak.

Run ``python -m benchmarks.studies.audit_leaks [PATH of DREAM dev.json]``.
"""

from __future__ import annotations

import argparse
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import classic_rc
from benchmarks import DATA
from classic_rc.commands.check import check_dataset

Row = dict[str, Any]
Leak = Callable[[Row, random.Random, int], None]

LEAKS: dict[str, tuple[str, Leak]] = {}
_DREAM = DATA / "dream" / "dev.json"
_ADVERBS = ("probably", "apparently", "perhaps", "possibly")
_FILLERS = ("there", "then", "now", "too", "today", "again")


def leak(name: str, pattern: str) -> Callable[[Leak], Leak]:
    """Register a leak with what its finding has to say."""

    def add(change: Leak) -> Leak:
        LEAKS[name] = pattern, change
        return change

    return add


def each(change: Callable[[str, random.Random], str], wrong: bool) -> Leak:
    """Return a leak that changes the text of right options, or of all wrong ones."""

    def apply(row: Row, rng: random.Random, i: int) -> None:
        row["candidates"] = [
            change(text, rng) if (j != row["gold"]) is wrong else text
            for j, text in enumerate(row["candidates"])
        ]

    return apply


def text_leak(
    name: str, pattern: str, change: Callable[[str, random.Random], str], wrong: bool = False
) -> None:
    """Register a leak in the text of options."""
    LEAKS[name] = pattern, each(change, wrong)


def move_gold(row: Row, to: int) -> None:
    """Move the right option to a place."""
    options, gold = row["candidates"], row["gold"]
    options[gold], options[to] = options[to], options[gold]
    row["gold"] = to


# Blanks, quotes, invisible characters, markup
text_leak(
    "blank at the end of right options", "blank at an end|ends with U\\+0020", lambda t, r: t + " "
)
text_leak(
    "blank at the start of wrong options",
    "blank at an end|begins with U\\+0020",
    lambda t, r: " " + t,
    True,
)
text_leak(
    "no-break space in right options",
    "00A0|unusual blank|beyond ASCII",
    lambda t, r: t.replace(" ", "\u00a0"),
)
text_leak(
    "zero-width space after right options", "200B|invisible|beyond ASCII", lambda t, r: t + "\u200b"
)
text_leak("two blanks in wrong options", "two blanks", lambda t, r: t.replace(" ", "  ", 1), True)
text_leak(
    "full stop missing from right options", 'ends with|mark|"\\."|shape', lambda t, r: t.rstrip(".")
)
text_leak(
    "typographic quotes in wrong options",
    '2019|’|"\'"|ASCII',
    lambda t, r: t.replace("'", "’"),
    True,
)
text_leak("quotes around right options", 'QUOTATION|"""|begins with|mark', lambda t, r: f'"{t}"')
text_leak("markup in right options", "<|b>|>|mark", lambda t, r: f"<b>{t}</b>")
text_leak("asterisk on right options", "\\*|mark", lambda t, r: f"{t}*")
text_leak(
    "a letter before wrong options",
    "begins with|mark|shape|\\(|\\)",
    lambda t, r: f"({r.choice('ABC')}) {t}",
    True,
)
text_leak("tab in right options", "0009|invisible|ends with", lambda t, r: f"{t}\t")
text_leak(
    "small first letter in right options",
    "capital|small|begins",
    lambda t, r: t[:1].lower() + t[1:],
)
text_leak("capitals in wrong options", "capital", lambda t, r: t.upper(), True)
text_leak(
    "HTML entity in wrong options", "&|;|amp|nbsp", lambda t, r: t.replace(" ", "&nbsp;", 1), True
)
text_leak(
    "hyphen for dash in right options",
    "2013|–|beyond",
    lambda t, r: f"{t} – yes" if r.random() < 0.1 else t,
)

# Distractors that a language model or an editor wrote
text_leak(
    "hedges in wrong options",
    "|".join(_ADVERBS),
    lambda t, r: f"{r.choice(_ADVERBS).capitalize()} {t[:1].lower()}{t[1:]}",
    True,
)
text_leak("'only' in wrong options", "only", lambda t, r: re.sub(r"^(\w+)", r"\1 only", t), True)
text_leak(
    "wrong options negated",
    "not",
    lambda t, r: re.sub(r"\b(is|was|are|will|can)\b", r"\1 not", t),
    True,
)
text_leak(
    "wrong options are longer",
    "characters|words",
    lambda t, r: f"{t.rstrip('.')} {' '.join(r.choices(_FILLERS, k=3))}{'.' * t.endswith('.')}",
    True,
)
text_leak(
    "right options are cut",
    "characters|words|capital",
    lambda t, r: (
        " ".join(t.rstrip(".").split()[: max(2, len(t.split()) // 2)]) + "." * t.endswith(".")
    ),
)
text_leak(
    "right options are paraphrased with 'approximately'",
    "approximately",
    lambda t, r: re.sub(r"\b(\d+)", r"approximately \1", t),
)
text_leak(
    "wrong options with a typing error",
    "rar|frequent words|used",
    lambda t, r: "".join(
        c if i != len(t) // 2 else r.choice(string.ascii_lowercase) for i, c in enumerate(t)
    ),
    True,
)
text_leak(
    "one pronoun in wrong options",
    "it |It|said|begins|first word",
    lambda t, r: f"It is said that {t[:1].lower()}{t[1:]}",
    True,
)
text_leak("a rare marker", "†|2020|beyond", lambda t, r: f"{t} †" if r.random() < 0.04 else t)
text_leak("a rare word", "indeed", lambda t, r: f"{t} indeed" if r.random() < 0.05 else t)


@leak("a pool of wrong options", "used|the option|words that no other|rare words")
def _(row: Row, rng: random.Random, i: int) -> None:
    pool = [
        f"The {a} {b}."
        for a in ("old", "new", "red", "last")
        for b in ("train", "house", "lesson", "letter", "film")
    ]
    row["candidates"] = [
        t if j == row["gold"] else rng.choice(pool) for j, t in enumerate(row["candidates"])
    ]


@leak("all of the above", "all of the above|above")
def _(row: Row, rng: random.Random, i: int) -> None:
    if rng.random() < 0.2:
        row["candidates"][row["gold"]] = "All of the above."
    elif rng.random() < 0.05:
        row["candidates"][(row["gold"] + 1) % 3] = "All of the above."


@leak(
    "edited distractors are similar to each other", "words that no other|other options|of its words"
)
def _(row: Row, rng: random.Random, i: int) -> None:
    first, second = ((row["gold"] + k) % 3 for k in (1, 2))
    words = row["candidates"][first].split()
    words[rng.randrange(len(words))] = rng.choice(("green", "seven", "slowly", "father"))
    row["candidates"][second] = " ".join(words)


@leak(
    "distractors are edits of the right option",
    "other options|words that no other|rare words|of its words",
)
def _(row: Row, rng: random.Random, i: int) -> None:
    words = row["candidates"][row["gold"]].split()
    for j in range(3):
        if j != row["gold"]:
            own = list(words)
            own[rng.randrange(len(own))] = rng.choice(
                ("green", "seven", "slowly", "father", "later", "north")
            )
            row["candidates"][j] = " ".join(own)


@leak("right options copy the passage", "passage")
def _(row: Row, rng: random.Random, i: int) -> None:
    words = row["passage"].split()
    start = rng.randrange(max(len(words) - 8, 1))
    row["candidates"][row["gold"]] = " ".join(words[start : start + 6])


@leak("numbers: the right one is in the middle", "number|option|digit")
def _(row: Row, rng: random.Random, i: int) -> None:
    values = sorted(rng.sample(range(10, 99), 3))
    others = [values[0], values[2]]
    row["candidates"] = [str(values[1] if j == row["gold"] else others.pop()) for j in range(3)]


@leak("options sorted after the right one was written first", "is option 1")
def _(row: Row, rng: random.Random, i: int) -> None:
    if rng.random() < 0.6:
        move_gold(row, 0)


# Order
@leak("right option by the number of the question", "modulo 3|question before|one place")
def _(row: Row, rng: random.Random, i: int) -> None:
    move_gold(row, i % 3)


@leak("right option never repeats", "question before")
def _(row: Row, rng: random.Random, i: int) -> None:
    last = row["state"].get("last", 0)
    move_gold(row, rng.choice([p for p in range(3) if p != last]))
    row["state"]["last"] = row["gold"]


@leak("first third of the file has option 1", "tenth|is option 1|question before")
def _(row: Row, rng: random.Random, i: int) -> None:
    if i < 700:
        move_gold(row, 0)


@leak("second question of a passage has option 2", "of its passage")
def _(row: Row, rng: random.Random, i: int) -> None:
    if row["n"] == 1:
        move_gold(row, 1)


# Ids and fields
@leak("id modulo 3", 'field "id" modulo|field "id" ends|id')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["id"] = f"{i}-{3 * rng.randrange(10**6) + row['gold']}"


@leak("letter in the id", 'letter is in the field "id"|field "id"')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["id"] = f"dev-{i}-{'ABC'[row['gold']]}"


@leak("index in a field", 'index from 0 is in the field|field "aux"')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["aux"] = row["gold"]


@leak("letter in a nested field", "letter is in the field|aux")
def _(row: Row, rng: random.Random, i: int) -> None:
    row["aux"] = {"source": {"key": "ABC"[row["gold"]]}}


@leak("text in a field", "text is in the field")
def _(row: Row, rng: random.Random, i: int) -> None:
    row["explanation"] = f"The dialogue says: {row['candidates'][row['gold']]}"


@leak("scores with one entry an option", "entry in the field")
def _(row: Row, rng: random.Random, i: int) -> None:
    row["scores"] = [round(rng.random() + 0.4 * (j == row["gold"]), 3) for j in range(3)]


@leak("flags with one entry an option", "entry in the field")
def _(row: Row, rng: random.Random, i: int) -> None:
    row["checked"] = [j == row["gold"] for j in range(3)]


@leak("list of sources with one entry an option", "entry in the field")
def _(row: Row, rng: random.Random, i: int) -> None:
    row["sources"] = [
        "human" if j == row["gold"] else rng.choice(("model-a", "model-b")) for j in range(3)
    ]


@leak("a date by the right option", 'field "date"')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["date"] = f"2021-{1 + row['gold'] * 4 + rng.randrange(4):02d}-{rng.randrange(1, 28):02d}"


@leak("an annotator with a favourite place", 'field "annotator"')
def _(row: Row, rng: random.Random, i: int) -> None:
    who = rng.choice("abcdefgh")
    row["annotator"] = f"worker-{who}"
    if who in "abc" and rng.random() < 0.5:
        move_gold(row, "abc".index(who))


@leak("a title with words of the right option", 'field "title"')
def _(row: Row, rng: random.Random, i: int) -> None:
    words = row["candidates"][row["gold"]].split()
    row["title"] = " ".join(["About", "the", *rng.sample(words, min(3, len(words)))])


@leak("seconds of work by the right option", 'field "seconds"')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["seconds"] = round(rng.gauss(30 + 15 * row["gold"], 8), 1)


@leak("two fields whose sum is the index", 'field "(a|b)"')
def _(row: Row, rng: random.Random, i: int) -> None:
    row["a"] = rng.randrange(30)
    row["b"] = (row["gold"] - row["a"]) % 3 + 3 * rng.randrange(10)


@leak("a digest of the right option", "digest")
def _(row: Row, rng: random.Random, i: int) -> None:
    import hashlib

    row["hash"] = hashlib.md5(
        row["candidates"][row["gold"]].encode(), usedforsecurity=False
    ).hexdigest()


def base_rows(path: Path) -> list[Row]:
    """Return the questions of a dataset as rows, with the number of each within its passage."""
    rows, seen, state = [], {}, {}  # type: list[Row], dict[str, int], dict[str, Any]
    for question in classic_rc.load(path):
        n = seen[question.passage.id] = seen.get(question.passage.id, -1) + 1
        options = [candidate.text for candidate in question.candidates]
        rows.append(
            {
                "id": question.id,
                "passage": question.passage.text,
                "passage_id": question.passage.id,
                "question": question.text,
                "candidates": options,
                "gold": min(question.gold or (0,)),
                "n": n,
                "state": state,
            }
        )
    return rows


def plant(name: str, path: Path, strength: float, seed: int = 7) -> classic_rc.Dataset:
    """Return the data with a leak in a random share of its questions."""
    rng, change = random.Random(seed), LEAKS[name][1]
    rows = base_rows(path)
    for i, row in enumerate(rows):
        if rng.random() < strength:
            change(row, rng, i)
    for row in rows:
        del row["n"], row["state"]
    return classic_rc.from_rows(rows, name=name)


def main(arguments: list[str] | None = None) -> None:
    """Print the table of leaks."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.audit_leaks", description=__doc__
    )
    parser.add_argument("path", nargs="?", type=Path, default=_DREAM)
    parser.add_argument("--leak", action="append", help="only this leak; repeat for several")
    args = parser.parse_args(arguments)
    named = {1.0: 0, 0.5: 0}
    for name in args.leak or LEAKS:
        pattern = re.compile(LEAKS[name][0])
        for strength in named:
            report = check_dataset(plant(name, args.path, strength), header=False, duplicates=False)
            first = report.cues[0] if report.cues else None
            is_named = first is not None and pattern.search(f"{first.name}") is not None
            named[strength] += is_named
            said = (
                "nothing"
                if first is None
                else (
                    f"{first.kind}: {first.name} ({first.direction}) coverage {first.coverage:.2f} "
                    f"precision {first.precision:.2f} z {first.z:.1f}"
                )
            )
            print(f"{'yes' if is_named else 'NO '}  {strength:g}  {name}: {said}", flush=True)
    for strength, count in named.items():
        print(
            f"strength {strength:g}: {count} of {len(args.leak or LEAKS)} named by the first "
            "finding"
        )


if __name__ == "__main__":
    main()
