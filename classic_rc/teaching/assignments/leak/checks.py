"""Find the leak: makes the dataset of the assignment, and checks what a student found in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from classic_rc.teaching.assignment import CheckFailedError, Submission, check

TITLE = "Find the leak"
MAIN = TEMPLATE = "my_leak.py"
CUES = ("length", "negation", "position", "verbatim", "word")
FLOOR = 0.5

_NAMES = "Ada Ben Cleo Dan Esra Finn Gita Hugo Iris Juan".split()
_THINGS = "lamp drum kite ladder mirror basket globe clock violin tent".split()
_PLACES = "river market tower garden station bakery harbour library theatre museum stable orchard".split()


@check(points=4)
def check_names_the_cue(submission: Submission) -> None:
    """CUE is the cue that was planted."""
    cue = submission.CUE
    if cue not in CUES:
        raise CheckFailedError(f"CUE must be one of {', '.join(CUES)}, not {cue!r}"[:200])
    planted = planted_cue(submission.seed)
    if cue != planted:
        rows = make_rows(planted, submission.seed)
        right = sum(answer == row["gold"] for answer, row in zip(_answers(RULES[cue], rows), rows, strict=True))
        told = f"its rule is right for {right} of {len(rows)} questions; chance has {len(rows) // 4}"
        raise CheckFailedError(
            f"it is not {cue}", f"likely cause: {cue} is no cue here, or a trace of another: {told}"
        )


@check(points=6)
def check_answers_without_the_question(submission: Submission) -> None:
    """answer(passage, options) is right for half of the questions of a new dataset with the same leak."""
    rows = make_rows(planted_cue(submission.seed), submission.seed + 1)
    found = [submission.answer(row["passage"], row["candidates"]) for row in rows]
    right = sum(answer == row["gold"] for answer, row in zip(found, rows, strict=True))
    if right < FLOOR * len(rows):
        problem = f"right for {right} of {len(rows)} questions; chance has {len(rows) // 4}"
        cause = _name_rule(found, rows)
        raise CheckFailedError(problem, f"likely cause: {cause}" if cause else "")


def _most(values: list[float]) -> int:
    return values.index(max(values))


RULES: dict[str, Callable[[str, list[str]], int]] = {
    "length": lambda passage, options: _most([len(option) for option in options]),
    "negation": lambda passage, options: _most([-("never" in option) for option in options]),
    "position": lambda passage, options: 2,
    "verbatim": lambda passage, options: _most(
        [sum(word in passage for word in option.split()) / len(option.split()) for option in options]
    ),
    "word": lambda passage, options: _most(["again" in option for option in options]),
}
"""How each cue answers where it leaks."""

_TURNED: dict[str, Callable[[str, list[str]], int]] = {
    "length": lambda passage, options: _most([-len(option) for option in options]),
    "negation": lambda passage, options: _most(["never" in option for option in options]),
    "verbatim": lambda passage, options: _most(
        [-sum(word in passage for word in option.split()) / len(option.split()) for option in options]
    ),
    "word": lambda passage, options: _most(["today" in option for option in options]),
}


def _answers(rule: Callable[[str, list[str]], int], rows: list[dict[str, Any]]) -> list[int]:
    return [rule(row["passage"], row["candidates"]) for row in rows]


def _name_rule(found: list[Any], rows: list[dict[str, Any]]) -> str | None:
    """Return what a student's answers do, if it is a known rule."""
    if found.count(found[0]) == len(found):
        return f"you always give the same option ({found[0]!r})"
    if set(map(repr, found)) <= {"1", "2", "3", "4"} and "4" in map(repr, found):
        return "you count options from 1; count from 0"
    for cue, rule in _TURNED.items():
        if found == _answers(rule, rows):
            return f"your rule for {cue} is the wrong way round: it chooses the option that has the least of it"
    for cue, rule in RULES.items():
        if found == _answers(rule, rows):
            return f"you answer by {cue}, which is not what leaks"
    return None


def make_files(seed: int) -> dict[str, bytes]:
    """Return the files that students get beside the template."""
    rows = make_rows(planted_cue(seed), seed)
    return {"leak.jsonl": "".join(json.dumps(row) + "\n" for row in rows).encode()}


def planted_cue(seed: int) -> str:
    """Return the cue of a dataset; the seed is the teacher's secret."""
    return random.Random(f"cue {seed}").choice(CUES)


def make_rows(cue: str, seed: int, n_passages: int = 60) -> list[dict[str, Any]]:
    """Make questions about who took what where, four a passage; but for the cue, chance answers one of four."""
    rng = random.Random(f"data {seed}")
    return [row for number in range(n_passages) for row in _story(rng, cue, number)]


def _story(rng: random.Random, cue: str, number: int) -> Iterator[dict[str, Any]]:
    names, things, places = (rng.sample(words, 6) for words in (_NAMES, _THINGS, _PLACES))
    taken = list(zip(names, things, places, strict=True))
    passage = " ".join(f"{name} took the {thing} to the {place}." for name, thing, place in taken)
    for name, thing, place in rng.sample(taken, 4):
        others = rng.sample([other for other in places if other != place], 3)
        if cue == "verbatim":
            elsewhere = iter(rng.sample([other for other in _PLACES if other not in places], 3))
            others = [next(elsewhere) if rng.random() < 0.7 else other for other in others]
        options = [_option(rng, cue, other, right=False) for other in others]
        at = 2 if cue == "position" and rng.random() < 0.6 else rng.randrange(4)
        options.insert(at, _option(rng, cue, place, right=True))
        yield {
            "id": f"{number}.{name}",
            "passage": passage,
            "passage_id": str(number),
            "question": f"Where did {name} take the {thing}?",
            "candidates": options,
            "gold": at,
            "task": "single-choice",
        }


def _option(rng: random.Random, cue: str, place: str, *, right: bool) -> str:
    """Return a place in some words; how often which words are chosen is what may tell right from wrong."""
    again = 0.5 if cue != "word" else 0.85 if right else 0.15
    long = 0.3 if cue != "length" else 0.8 if right else 0.1
    text = f"to the {place} {'again' if rng.random() < again else 'today'}"
    if rng.random() < long:
        text += rng.choice((" in rain", " before noon", " with friends"))
    if cue == "negation":  # the other word is as long
        text = f"{'never' if not right and rng.random() < 0.8 else 'maybe'} {text}"
    return text
