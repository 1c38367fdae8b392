"""Fresh questions about little made-up stories: new for each seed, so that nobody can have seen them."""

from __future__ import annotations

import random
from typing import NamedTuple

from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

_NAMES = "Ada Ben Cleo Dan Esra Finn Gita Hugo Iris Juan Kofi Lena Mia Noor Otto Pia Quinn Rosa Sami Tess".split()
_THINGS = "lamp drum kite ladder mirror basket globe clock violin tent scarf teapot puzzle wagon map".split()
_KINDS = "old red broken tiny heavy green wooden striped silver borrowed".split()
_PLACES = "river market tower garden station bakery harbour library theatre museum stable orchard bridge".split()
_TIMES = ("before noon", "at night", "on Monday", "in spring", "after lunch", "at dawn", "last week", "in winter")
_VERBS = {  # the story's word, and another one that questions may use
    "took": "carried",
    "found": "discovered",
    "hid": "concealed",
    "sold": "gave away",
    "repaired": "mended",
    "lost": "misplaced",
    "painted": "coloured",
    "dropped": "let fall",
}
_BASE = {"took": "take", "found": "find", "hid": "hide", "sold": "sell", "repaired": "repair", "lost": "lose"}
_BASE |= {"painted": "paint", "dropped": "drop", "carried": "carry", "discovered": "discover", "mended": "mend"}
_BASE |= {"concealed": "conceal", "gave away": "give away", "misplaced": "misplace", "coloured": "colour"}
_BASE |= {"let fall": "let fall"}
_FILLERS = (
    "Nobody said a word about it.",
    "It was a long day for everybody.",
    "The others laughed and went on.",
    "Some people never learn.",
    "That surprised the whole street.",
    "Then it began to rain.",
)


class _Fact(NamedTuple):
    name: str
    verb: str
    thing: str
    place: str
    time: str


def made_stories(seed: int, n_stories: int = 60, *, n_questions: int = 4, name: str = "stories") -> Dataset:
    """Make single-choice questions with four options about stories of a dozen sentences.

    The answers are in the stories, the wrong options as well. Some facts take two sentences, some questions use
    other words than the story.

    Parameters
    ----------
    seed : int
        The same seed makes the same questions on every machine.
    n_stories, n_questions : int
        The number of stories, and of questions about each.
    name : str
        Of the dataset.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> made_stories(1, 2)
    <Dataset stories: 8 single-choice questions>
    """
    rng = random.Random(f"stories {seed}")
    questions: list[Question] = []
    for number in range(n_stories):
        facts = _draw_facts(rng)
        passage = Passage(f"story {number}", _tell(rng, facts))
        asked = rng.sample(facts, min(n_questions, len(facts)))
        questions += [_ask(rng, passage, facts, fact, f"{number}.{i}") for i, fact in enumerate(asked)]
    return Dataset(questions, name)


def _draw_facts(rng: random.Random) -> list[_Fact]:
    n = 6
    names, places, times = rng.sample(_NAMES, n), rng.sample(_PLACES, n), rng.sample(_TIMES, n)
    # Fewer things than facts: a thing or a verb alone does not point at one sentence.
    things = rng.choices(rng.sample([f"{kind} {thing}" for thing in _THINGS for kind in _KINDS], 4), k=n)
    return [_Fact(*fact) for fact in zip(names, rng.choices([*_VERBS], k=n), things, places, times, strict=True)]


def _tell(rng: random.Random, facts: list[_Fact]) -> str:
    sentences = []
    for fact in facts:
        if rng.random() < 0.5:
            sentences.append(f"{fact.name} {fact.verb} the {fact.thing} near the {fact.place} {fact.time}.")
        else:
            sentences.append(f"{fact.name} {fact.verb} the {fact.thing}.")
            if rng.random() < 0.3:
                sentences.append(rng.choice(_FILLERS))
            sentences.append(f"That happened near the {fact.place} {fact.time}.")
        if rng.random() < 0.3:
            sentences.append(rng.choice(_FILLERS))
    return " ".join(sentences)


def _ask(rng: random.Random, passage: Passage, facts: list[_Fact], fact: _Fact, id: str) -> Question:
    verb = _VERBS[fact.verb] if rng.random() < 0.4 else fact.verb
    thing = fact.thing if rng.random() < 0.6 else fact.thing.split()[-1]
    kind = rng.choice(("place", "time", "name"))
    if kind == "name":
        text, values = f"Who {verb} the {thing} {fact.time}?", [own.name for own in facts]
    elif kind == "place":
        text, values = (
            f"Where did {fact.name} {_BASE[verb]} the {thing}?",
            [f"near the {own.place}" for own in facts],
        )
    else:
        text, values = f"When did {fact.name} {_BASE[verb]} the {thing}?", [own.time for own in facts]
    right = values[facts.index(fact)]
    options = rng.sample([value for value in values if value != right], 3)
    gold = rng.randrange(4)
    options.insert(gold, right)
    candidates = tuple(map(Candidate, options))
    return Question(id, passage, text, candidates, frozenset([gold]), Task.SINGLE_CHOICE)
