"""Find the leak: makes the dataset of the assignment, and checks what a student found in it."""

import json
import random
from collections import Counter
from itertools import product

from classic_rc.commands.grade.assignment import Assignment, Check, CheckFailedError

NAMES = "Ada Ben Cleo Dan Esra Finn Gita Hugo Iris Juan".split()
THINGS = "lamp drum kite ladder mirror basket globe clock violin tent".split()
PLACES = (
    "river market tower garden station bakery harbour library theatre museum stable orchard".split()
)
WORDS = "again never quickly alone together soon".split()
LEAKS = [
    *(("length", value) for value in ("longest", "shortest")),
    *(("position", value) for value in range(4)),
    *((kind, word) for kind in ("has", "lacks") for word in WORDS),
    *(("verbatim", value) for value in ("the story's places", "other places")),
]
ENOUGH = 0.45
"""What a rule must reach that a cue is named for; chance has a quarter."""


def planted(seed):
    """Return the leak of a dataset; the seed is the teacher's secret."""
    return random.Random(f"cue {seed}").choice(LEAKS)


def make_rows(seed, purpose="data"):
    """Make questions about who took what where, four a passage; but for the leak, chance answers
    one of four.
    """
    rng, leak = random.Random(f"{purpose} {seed}"), planted(seed)
    return [row for number in range(60) for row in story(rng, *leak, number)]


def make_files(seed):
    lines = [json.dumps(row) + "\n" for row in make_rows(seed)]
    return {"leak.jsonl": "".join(lines).encode()}


def story(rng, kind, value, number):
    names, things, places = (rng.sample(words, 6) for words in (NAMES, THINGS, PLACES))
    facts = list(zip(names, things, places, strict=True))
    sentences = [f"{name} took the {thing} to the {place}." for name, thing, place in facts]
    passage = " ".join(sentences)
    for name, thing, place in rng.sample(facts, 4):
        wrong_places = rng.sample([near for near in places if near != place], 3)
        if kind == "verbatim":
            elsewhere = rng.sample([far for far in PLACES if far not in places], 3)
            for i, far in enumerate(elsewhere):
                if rng.random() < 0.7:
                    wrong_places[i] = far
        options = [option(rng, kind, value, wrong, right=False) for wrong in wrong_places]
        at = value if kind == "position" and rng.random() < 0.6 else rng.randrange(4)
        options.insert(at, option(rng, kind, value, place, right=True))
        yield {
            "id": f"{number}.{name}",
            "passage": passage,
            "passage_id": str(number),
            "task": "single-choice",
            "question": f"Where did {name} take the {thing}?",
            "candidates": options,
            "gold": at,
        }


def option(rng, kind, value, place, right):
    """Return a place in some words; how often which words are chosen is what may tell right from
    wrong.
    """
    is_long = (right == (value == "longest")) if kind == "length" else None
    is_longer = rng.random() < {None: 0.3, True: 0.85, False: 0.1}[is_long]
    has_it = (right == (kind == "has")) if value in WORDS else None
    word = value if rng.random() < {None: 0.0, True: 0.85, False: 0.1}[has_it] else "today"
    text = f"to the {place} {word}"
    return text + rng.choice((" in rain", " before noon", " with friends")) if is_longer else text


def share(answers, rows):
    n_right = sum(answer == row["gold"] for answer, row in zip(answers, rows, strict=True))
    return n_right / len(rows)


def best_share(cue, rows):
    """Return what answering by a cue reaches, whichever way round; k options that are equal by
    it count 1/k.
    """

    def measures(text, passage):
        words = text.split()
        if cue == "length":
            return [len(text), len(words)]
        if cue == "verbatim":
            return [sum(word in passage.replace(".", "").split() for word in words)]
        return [cue in words, cue == words[0], cue == words[-1]]

    if cue == "position":
        return max(share([at] * len(rows), rows) for at in range(4))
    totals = Counter()
    for row in rows:
        measured = [measures(text, row["passage"]) for text in row["candidates"]]
        for sign, kind in product((1, -1), range(len(measured[0]))):
            values = [sign * option_measures[kind] for option_measures in measured]
            best = max(values)
            totals[sign, kind] += (values[row["gold"]] == best) / values.count(best)
    return max(totals.values()) / len(rows)


def check_cue(submission):
    cue, rows = submission.CUE, make_rows(submission.seed)
    if not isinstance(cue, str) or not cue.split():
        raise CheckFailedError(
            f"CUE must be length, position, verbatim or a word, not {cue!r}"[:200]
        )
    reached = best_share(cue, rows)
    if reached < ENOUGH:
        score = (
            f"answering by it is right for {100 * reached:.0f} % of the questions; chance has 25 %"
        )
        raise CheckFailedError(
            f"it is not {cue}"[:200], f"likely cause: no cue, or a trace of another one: {score}"
        )


def check_answers(submission):
    rows = make_rows(submission.seed, "new")
    answers = [submission.answer(row["passage"], row["candidates"]) for row in rows]
    reached = share(answers, rows)
    if reached < 0.5:
        from_zero = [answer - 1 if answer in (1, 2, 3, 4) else answer for answer in answers]
        hint = ""
        if len(set(map(repr, answers))) == 1:
            hint = "likely cause: you always give the same option"
        elif share(from_zero, rows) >= 0.5:
            hint = "likely cause: you count options from 1; count from 0"
        elif reached < 0.15:
            hint = "likely cause: your rule is the wrong way round"
        raise CheckFailedError(
            f"right for {100 * reached:.0f} % of the questions; chance has 25 %", hint
        )


TEMPLATE = '''"""What leaks from leak.jsonl?"""

CUE = "?"
"""length, position, verbatim (whether the passage has the option's words), or the word \
that tells"""


def answer(passage, options):
    """The index of the right option, from 0: without the question!"""
    return 0
'''
ASSIGNMENT = Assignment(
    title="Find the leak",
    main="my_leak.py",
    template=TEMPLATE,
    make_files=make_files,
    checks=(
        Check(
            "names_the_cue",
            4,
            "CUE is a cue by which the dataset's questions can be answered",
            check_cue,
        ),
        Check(
            "answers_without_the_question",
            6,
            "answer is right for half of new questions with the leak",
            check_answers,
        ),
    ),
)
