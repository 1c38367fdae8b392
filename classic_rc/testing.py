"""For tests, ours and our users': synthetic questions, and what every solver must do."""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from classic_rc.decisions import TunedThreshold
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, Gold, Passage, Question, Task
from classic_rc.solvers.base import Solver

__all__ = ["check_solver", "synthetic_dataset"]

_WORDS = (
    "the a of to in was and she he it not who what where did garden river letter Ann Bob Carla old small "
    "red house found lost went asked gave three seven don't friend's"
).split()


def synthetic_dataset(task: Task, n_passages: int = 8, seed: int = 0, *, name: str = "synthetic") -> Dataset:
    """Questions made of random words, awkward ones included.

    Among them: an empty passage, an empty question, an empty candidate, candidates that are equal, and, where
    several answers may be right, questions without any. Span questions come without candidates.

    Parameters
    ----------
    task : Task
    n_passages : int
        Each has three questions.
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
        return tuple(Candidate(rng.choice(("Ann", "Bob", "Carla", "the old house"))) for _ in range(5))
    texts = [" ".join(rng.choices(_WORDS, k=rng.randint(1, 4))) for _ in range(rng.randint(2, 5))]
    if passage.id == "p2":
        texts[0], texts[1] = "", texts[-1]
    return tuple(map(Candidate, texts))


def _gold(rng: random.Random, task: Task, passage: Passage, candidates: Sequence[Candidate]) -> Gold:
    if task is Task.SINGLE_CHOICE:
        return frozenset({rng.randrange(len(candidates))})
    if task is Task.MULTIPLE_ANSWER:
        return frozenset(i for i in range(len(candidates)) if rng.random() < 0.4)
    if task is Task.CLOZE:
        return (rng.choice(candidates).text,)
    words = passage.text.split() or ["nothing"]
    return tuple(dict.fromkeys(rng.choices(words, k=2 if task is Task.MULTI_SPAN else 1)))


def check_solver(solver: Solver, *, tasks: Sequence[Task] | None = None, position_matters: bool = False) -> None:
    """Check that a solver keeps the interface's promises.

    Parameters
    ----------
    solver : Solver
    tasks : sequence of Task, optional
        By default all that the solver says it is for.
    position_matters : bool
        Whether scores may depend on a candidate's position (a constant position, a random draw).

    Raises
    ------
    AssertionError
        With what is wrong, and for which task.

    Examples
    --------
    >>> from classic_rc.solvers import SlidingWindow
    >>> check_solver(SlidingWindow())
    """
    _check_parameters(solver)
    for task in sorted(solver.tasks if tasks is None else tasks):
        try:
            _check_task(solver, _with_candidates(synthetic_dataset(task)), position_matters)
        except AssertionError as error:
            raise AssertionError(f"{solver.name} on {task} questions: {error}") from error


def _check_parameters(solver: Solver) -> None:
    params = solver.get_params(deep=False)
    for name, value in params.items():
        assert getattr(solver, name) is value, f"{solver.name}: the constructor must store {name!r} as it is given"
    copy = clone(solver)
    assert type(copy) is type(solver), f"{solver.name}: clone gives another class"


def _with_candidates(dataset: Dataset) -> Dataset:
    if dataset.task is None or not dataset.task.has_spans:
        return dataset
    from classic_rc.text.spans import SpanGenerator

    generator = SpanGenerator(max_tokens=4)
    made = {id(p): generator(p) for p in dataset.passages}
    return replace(dataset, questions=[replace(q, candidates=made[id(q.passage)]) for q in dataset])


def _check_task(solver: Solver, dataset: Dataset, position_matters: bool) -> None:
    task = dataset.task
    assert task is not None
    before = repr(solver.get_params())
    solver = clone(solver).fit(dataset)
    if solver.tunes_parameters:
        if task is Task.MULTIPLE_ANSWER or task.has_spans:
            return
        solver.tune(dataset)
    scores = solver.score_candidates(dataset)
    assert isinstance(scores, Scores), "score_candidates must return Scores"
    counts = [len(q.candidates) for q in dataset]
    assert np.diff(scores.offsets).tolist() == counts, "there must be one score for every candidate"
    assert repr(solver.get_params()) == before, "fitting and scoring must not change a parameter"

    part = solver.score_candidates(dataset[5:11])
    assert _same(part, scores.take(range(5, 11))), "scoring a slice must equal slicing the scores"
    assert len(solver.score_candidates([])) == 0, "no question must give no scores"
    order = list(range(len(dataset)))
    random.Random(1).shuffle(order)
    shuffled = solver.score_candidates([dataset[i] for i in order])
    assert _same(shuffled, scores.take(order)), "scores must not depend on the questions' order"
    hidden = solver.score_candidates([replace(q, gold=None) for q in dataset])
    assert _same(hidden, scores), "scoring must not look at gold"
    if not position_matters:
        reversed_ = solver.score_candidates([replace(q, candidates=tuple(q.candidates)[::-1]) for q in dataset])
        same = all(np.array_equal(a[::-1], b) for a, b in zip(reversed_, scores, strict=True))
        assert same, "permuting candidates must permute their scores"
    if _is_importable(type(solver)):  # a class of a notebook or a doctest cannot be pickled by anyone
        copy = pickle.loads(pickle.dumps(solver))
        assert _same(copy.score_candidates(dataset), scores), "a pickled solver must give the same scores"

    if isinstance(solver.decision_for(task), TunedThreshold):
        solver.tune(dataset)
    predictions = solver.predict(dataset)
    assert [p.question_id for p in predictions] == [q.id for q in dataset], "each question needs its prediction"
    assert all(isinstance(p, Prediction) for p in predictions), "predict must return Predictions"
    assert 0 <= solver.score(dataset) <= 1, "score must lie in 0..1"
    explanation = solver.explain(dataset[0])
    explained = [c.score for c in explanation.candidates]
    assert np.array_equal(explained, scores[0]), "explain must tell the scores that score_candidates gives"


def _is_importable(cls: type) -> bool:
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def _same(one: Scores, other: Scores) -> bool:
    return (
        np.array_equal(one.values, other.values)
        and np.array_equal(one.offsets, other.offsets)
        and np.array_equal(one.evidence, other.evidence)
    )
