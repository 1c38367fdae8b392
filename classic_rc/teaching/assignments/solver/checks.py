"""A solver of twenty lines: does it keep the interface's contract and beat the sliding window?"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from classic_rc.questions import Dataset, Task
from classic_rc.teaching.assignment import CheckFailedError, Submission, check
from classic_rc.teaching.feedback import question_lines, questions_lost, scores_of
from classic_rc.teaching.grading import compare_solvers
from classic_rc.teaching.stories import made_stories
from classic_rc.testing.synthetic import synthetic_dataset

TITLE = "A solver of twenty lines"
MAIN = TEMPLATE = "my_solver.py"
REFERENCE = "sliding-window"


def make_questions(seed: int) -> Dataset:
    """Return the questions that solvers are measured on."""
    return made_stories(seed, 100)


@check(points=2)
def check_beats_chance(submission: Submission) -> None:
    """The solver answers more questions than chance, by more than luck."""
    _must_beat(submission, "random")


@check(points=3, needs="beats_chance")
def check_keeps_the_contract(submission: Submission) -> None:
    """Scores depend on the question alone: not on the order, the other questions or a candidate's position."""
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, seed=submission.seed)
    scores = scores_of(submission, dataset)
    order = list(range(len(dataset)))
    random.Random(submission.seed).shuffle(order)
    shuffled = submission.score(replace(dataset, questions=[dataset[i] for i in order]))
    for i, own in zip(order, shuffled, strict=True):
        _same(scores[i], own, dataset, i, "in another order of the questions")
    for i, question in enumerate(dataset):
        alone = submission.score(replace(dataset, questions=[question]))
        _same(scores[i], alone[0], dataset, i, "when it is the only question")
    turned = [replace(question, candidates=tuple(question.candidates)[::-1], gold=None) for question in dataset]
    for i, own in enumerate(submission.score(replace(dataset, questions=turned))):
        _same(scores[i], own[::-1], dataset, i, "with its options in reversed order")


@check(points=5, needs="keeps_the_contract")
def check_beats_sliding_window(submission: Submission) -> None:
    """The solver answers more questions than the sliding window, by more than luck."""
    _must_beat(submission, REFERENCE)


def _must_beat(submission: Submission, reference: str) -> None:
    if not submission.is_hidden:
        assert submission.questions is not None
        scores_of(submission, submission.questions)
    found = compare_solvers(submission, reference)
    if found.difference_interval is None:
        raise CheckFailedError("the questions are about one passage: nothing can be said about luck")
    low, high = (100 * bound for bound in found.difference_interval)
    if low > 0:
        return
    problem = (
        f"accuracy {100 * found.value:.2f}, {reference} {100 * (found.value - found.difference):.2f}: "
        f"the difference of {100 * found.difference:+.2f} "
    )
    if high < 0:
        problem += f"is more than bad luck ({low:+.2f} to {high:+.2f})"
    else:
        problem += f"is within luck ({low:+.2f} to {high:+.2f})"
    if reference == REFERENCE:
        raise CheckFailedError(problem, questions_lost(submission, reference))
    turned = "likely cause: low scores are good in your solver; high ones must be" if high < 0 else ""
    raise CheckFailedError(problem, turned)


_CAUSES = {
    "in another order of the questions": "score_candidates keeps something from one question to the next",
    "when it is the only question": "a score depends on the other questions",
    "with its options in reversed order": "a candidate's score depends on its position, or on the other options",
}


def _same(first: list[float], second: list[float], dataset: Dataset, i: int, when: str) -> None:
    if not np.allclose(first, second, rtol=1e-5):  # Sums in another order are rounded in another way.
        details = [f"likely cause: {_CAUSES[when]}", *question_lines(dataset[i])]
        raise CheckFailedError(f"the scores change {when}: {first} and {second}", "\n".join(details))
