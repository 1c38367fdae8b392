"""Synthetic questions of every task, with edge cases."""

from __future__ import annotations

import random
from collections.abc import Sequence

from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, Gold, Passage, Question, Task

_WORDS = (
    "the a of to in was and she he it not who what where did garden river letter Ann Bob Carla old "
    "small red house found lost went asked gave three seven don't friend's"
).split()


def synthetic_dataset(
    task: Task, n_passages: int = 8, seed: int = 0, *, name: str = "synthetic"
) -> Dataset:
    """Return questions of random words, with edge cases.

    The edge cases are an empty passage, an empty question, an empty candidate, equal candidates
    and, for multiple-answer questions, questions without a right answer. Span questions have no
    candidates.

    Parameters
    ----------
    task : Task
    n_passages : int
        The number of passages; each has three questions.
    seed : int
    name : str

    Returns
    -------
    Dataset

    Examples
    --------
    >>> synthetic_dataset(Task.CLOZE, n_passages=2)
    <Dataset synthetic: 6 cloze questions>
    """
    rng = random.Random(f"{task}-{seed}")
    questions = []
    for p in range(n_passages):
        sentences = ["".join(_sentence(rng)) for _ in range(rng.randint(2, 6))]
        passage = Passage(f"p{p}", "" if p == 1 else " ".join(sentences))
        questions += [_question(rng, task, passage, f"p{p},{i}", i) for i in range(3)]
    return Dataset(questions, name)


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(3, 12))).capitalize() + rng.choice(".!?")


def _question(rng: random.Random, task: Task, passage: Passage, id: str, index: int) -> Question:
    text = "" if index == 2 and passage.id == "p0" else _sentence(rng)
    if task is Task.CLOZE:
        text = f"{PLACEHOLDER} {text}"
    candidates = _candidates(rng, task, passage)
    return Question(id, passage, text, candidates, _gold(rng, task, passage, candidates), task)


def _candidates(rng: random.Random, task: Task, passage: Passage) -> tuple[Candidate, ...]:
    if task.has_spans:
        return ()
    if task is Task.CLOZE:
        return tuple(
            Candidate(rng.choice(("Ann", "Bob", "Carla", "the old house"))) for _ in range(5)
        )
    n_texts = rng.randint(2, 5)
    texts = [" ".join(rng.choices(_WORDS, k=rng.randint(1, 4))) for _ in range(n_texts)]
    if passage.id == "p2":
        texts[0], texts[1] = "", texts[-1]
    return tuple(map(Candidate, texts))


def _gold(
    rng: random.Random, task: Task, passage: Passage, candidates: Sequence[Candidate]
) -> Gold:
    if task is Task.SINGLE_CHOICE:
        return frozenset({rng.randrange(len(candidates))})
    if task is Task.MULTIPLE_ANSWER:
        return frozenset(i for i in range(len(candidates)) if rng.random() < 0.4)
    if task is Task.CLOZE:
        return (rng.choice(candidates).text,)
    words = passage.text.split() or ["nothing"]
    return tuple(dict.fromkeys(rng.choices(words, k=2 if task is Task.MULTI_SPAN else 1)))
