"""Makes the dataset of the assignment, and checks what a student found in it. For the teacher: it tells the answer.

python check.py leak.jsonl
"""

import json
import random
import sys

SEED = 1
"""Another number, another dataset, and often another leak."""

CUES = ("length", "negation", "position", "verbatim", "word")
FLOOR = 0.5

NAMES = "Ada Ben Cleo Dan Esra Finn Gita Hugo Iris Juan".split()
THINGS = "lamp drum kite ladder mirror basket globe clock violin tent".split()
PLACES = "river market tower garden station bakery harbour library theatre museum stable orchard".split()


def check_names_the_cue(submission):
    """CUE is the cue that was planted."""
    assert submission.CUE in CUES, f"CUE must be one of {', '.join(CUES)}, not {submission.CUE!r}"
    assert planted_cue(SEED) == submission.CUE, f"it is not {submission.CUE}"


def check_answers_without_the_question(submission):
    """answer(passage, options) is right for half of the questions of a new dataset with the same leak."""
    rows = made_rows(planted_cue(SEED), seed=SEED + 1)
    right = sum(submission.answer(row["passage"], list(row["candidates"])) == row["gold"] for row in rows)
    assert right >= FLOOR * len(rows), f"right for {right} of {len(rows)} questions; chance has {len(rows) // 4}"


def planted_cue(seed):
    return random.Random(f"cue {seed}").choice(CUES)


def made_rows(cue, seed, n_passages=60):
    """Questions about who took what where, four a passage; chance answers one of four but for the planted cue."""
    rng = random.Random(f"data {seed}")
    return [row for number in range(n_passages) for row in story(rng, cue, number)]


def story(rng, cue, number):
    names, things, places = (rng.sample(words, 6) for words in (NAMES, THINGS, PLACES))
    taken = list(zip(names, things, places, strict=True))
    passage = " ".join(f"{name} took the {thing} to the {place}." for name, thing, place in taken)
    for name, thing, place in rng.sample(taken, 4):
        others = rng.sample([other for other in places if other != place], 3)
        if cue == "verbatim":
            elsewhere = iter(rng.sample([other for other in PLACES if other not in places], 3))
            others = [next(elsewhere) if rng.random() < 0.7 else other for other in others]
        options = [option(rng, cue, other, right=False) for other in others]
        at = 2 if cue == "position" and rng.random() < 0.6 else rng.randrange(4)
        options.insert(at, option(rng, cue, place, right=True))
        yield {
            "id": f"{number}.{name}",
            "passage": passage,
            "passage_id": str(number),
            "question": f"Where did {name} take the {thing}?",
            "candidates": options,
            "gold": at,
            "task": "single-choice",
        }


def option(rng, cue, place, *, right):
    """A place in some words; how often which words are chosen is what may tell right from wrong."""
    again = 0.5 if cue != "word" else 0.85 if right else 0.15
    long = 0.3 if cue != "length" else 0.8 if right else 0.1
    text = f"to the {place} {'again' if rng.random() < again else 'today'}"
    if rng.random() < long:
        text += rng.choice((" in rain", " before noon", " with friends"))
    if cue == "negation":  # the other word is as long
        text = f"{'never' if not right and rng.random() < 0.8 else 'maybe'} {text}"
    return text


def main(path):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row) + "\n" for row in made_rows(planted_cue(SEED), SEED))


if __name__ == "__main__":
    main(*sys.argv[1:])
