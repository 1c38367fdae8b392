"""Fresh questions about who did what, in several styles: new for each seed."""

from __future__ import annotations

import random
from typing import Any

from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

_NAMES = (
    "Ada Ben Cleo Dan Esra Finn Gita Hugo Iris Juan Kofi Lena Mia Noor Otto Pia Quinn Rosa Sami "
    "Tess"
).split()
_THINGS = (
    "lamp drum kite ladder mirror basket globe clock violin tent scarf teapot puzzle wagon map"
).split()
_KINDS = "old red broken tiny heavy green wooden striped silver borrowed".split()
_PLACES = (
    "river market tower garden station bakery harbour library theatre museum stable orchard bridge"
).split()
_TIMES = (
    "before noon",
    "at night",
    "on Monday",
    "in spring",
    "after lunch",
    "at dawn",
    "last week",
    "in winter",
)
_VERBS = {  # the word of the text, and another one that questions may use; each with its plain form
    ("took", "take"): ("carried", "carry"),
    ("found", "find"): ("discovered", "discover"),
    ("hid", "hide"): ("concealed", "conceal"),
    ("sold", "sell"): ("gave away", "give away"),
    ("repaired", "repair"): ("mended", "mend"),
    ("lost", "lose"): ("misplaced", "misplace"),
    ("painted", "paint"): ("coloured", "colour"),
    ("dropped", "drop"): ("let fall", "let fall"),
}
STYLES = {
    "stories": (
        "{name} {did} the {thing} near the {place} {time}.",
        "{name} {did} the {thing}. That happened near the {place} {time}.",
        "{name} {did} the {thing}. {filler} That happened near the {place} {time}.",
    ),
    "letters": (
        "You will not believe who {did} the {thing}: it was {name}, {time}, near the {place}.",
        "I was near the {place} {time}, and there {name} {did} the {thing} before my eyes.",
        "As for the {thing}, {name} {did} it {time}; they say near the {place}. {filler}",
    ),
    "reports": (
        "Near the {place}, {time}, the {thing} changed hands. {name} {did} it.",
        "Regarding the {thing}: {time}, a witness near the {place} saw that {name} {did} it.",
        "{filler} The {place} was where, {time}, {name} {did} the {thing}.",
    ),
    "rumours": (
        "People by the {place} whisper that the one who {did} the {thing} {time} is {name}.",
        "It was {time} that somebody {did} the {thing}; near the {place}, everybody means {name}.",
        "Ask near the {place}. {filler} The {thing}, which {name} {did} {time}, is all they talk "
        "about.",
    ),
}
_FILLERS = (
    "Nobody said a word about it.",
    "It was a long day for everybody.",
    "The others laughed and went on.",
    "Some people never learn.",
    "Then it began to rain.",
)


def made_stories(
    seed: int, n_stories: int = 60, *, style: str = "stories", name: str = "stories"
) -> Dataset:
    """Make single-choice questions with four options, four about each passage of six facts in one
    style.

    The answers are in the passages, the wrong options as well. Some questions use other words than
    the passage.

    Examples
    --------
    >>> made_stories(1, 2)
    <Dataset stories: 8 single-choice questions>
    """
    rng = random.Random(f"{style} {seed}")
    things = [f"{kind} {thing}" for thing in _THINGS for kind in _KINDS]
    questions: list[Question] = []
    for number in range(n_stories):
        # Fewer things than facts: a thing or a verb alone does not point at one sentence.
        four_things = rng.sample(things, 4)
        things_of_facts = rng.choices(four_things, k=6)
        columns = (
            rng.sample(_NAMES, 6),
            rng.choices([*_VERBS], k=6),
            things_of_facts,
            rng.sample(_PLACES, 6),
            rng.sample(_TIMES, 6),
        )
        facts = list(zip(*columns, strict=True))
        sentences = [_state_fact(rng, style, *fact) for fact in facts]
        passage = Passage(f"{style} {number}", " ".join(sentences))
        for i in rng.sample(range(6), 4):
            questions.append(_ask(rng, passage, facts, i, f"{style}.{number}.{i}"))
    return Dataset(questions, name)


def _state_fact(
    rng: random.Random,
    style: str,
    name: str,
    verb: tuple[str, str],
    thing: str,
    place: str,
    time: str,
) -> str:
    words = {"name": name, "did": verb[0], "thing": thing, "place": place, "time": time}
    text = rng.choice(STYLES[style]).format(**words, filler=rng.choice(_FILLERS))
    return f"{text} {rng.choice(_FILLERS)}" if rng.random() < 0.2 else text


def _ask(rng: random.Random, passage: Passage, facts: list[Any], index: int, id: str) -> Question:
    name, verb, thing, _, time = facts[index]
    did, do = _VERBS[verb] if rng.random() < 0.4 else verb
    thing = thing if rng.random() < 0.6 else thing.split()[-1]
    kind = rng.choice(("place", "time", "name"))
    names, _, _, places, times = zip(*facts, strict=True)
    if kind == "name":
        text, answers = f"Who {did} the {thing} {time}?", list(names)
    elif kind == "place":
        text, answers = f"Where did {name} {do} the {thing}?", [f"near the {p}" for p in places]
    else:
        text, answers = f"When did {name} {do} the {thing}?", list(times)
    wrong_answers = [answer for answer in answers if answer != answers[index]]
    options = rng.sample(wrong_answers, 3)
    gold = rng.randrange(4)
    options.insert(gold, answers[index])
    return Question(
        id, passage, text, tuple(map(Candidate, options)), frozenset([gold]), Task.SINGLE_CHOICE
    )
