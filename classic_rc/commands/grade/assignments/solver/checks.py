"""A solver of twenty lines: does it keep the interface's contract and beat the sliding window?"""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np

from classic_rc.commands.grade.assignment import Assignment, Check, CheckFailedError
from classic_rc.commands.grade.feedback import explain_scores
from classic_rc.commands.grade.grading import (
    compare_solvers,
    question_statistics,
    reference_statistics,
)
from classic_rc.commands.grade.stories import STYLES, made_stories
from classic_rc.datasets.registry import load
from classic_rc.predictions import Scores
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.specs import parse_solver
from classic_rc.testing.synthetic import synthetic_dataset

FLOOR = "sliding-window"
UNSEEN = {*STYLES} - {"stories"}


def make_questions(seed):
    """Return questions of several kinds; students have seen stories, and the sample."""
    stories = [question for style in STYLES for question in made_stories(seed, 25, style=style)]
    return Dataset([*load("sample:single-choice"), *stories], "questions")


def check_chance(submission):
    """What students have seen, the sample and the stories, can be answered by a list or by an
    expression.
    """
    questions = submission.questions
    unseen = [question for question in questions if question.id.partition(".")[0] in UNSEEN]
    must_beat(
        submission,
        "random",
        questions if submission.is_hidden else Dataset(unseen, "unseen questions"),
    )


def check_floor(submission):
    must_beat(submission, FLOOR, submission.questions)


def must_beat(submission, floor, questions):
    accuracy = compare_solvers(submission, questions, floor)
    if accuracy.difference_interval is None:
        raise CheckFailedError(
            "the questions are about one passage: nothing can be said about luck"
        )
    if accuracy.difference_interval[0] > 0:
        return
    is_worse = accuracy.difference_interval[1] < 0
    luck = "more than bad luck" if is_worse else "within luck"
    if is_worse and floor == "random":
        cause = "likely cause: low scores are good in your solver; high ones must be"
        raise CheckFailedError(f"{accuracy}: {luck}", cause)
    raise CheckFailedError(f"{accuracy}: {luck}", *lost_questions(submission, floor, questions))


def lost_questions(submission, floor, questions):
    """Return how many questions are lost to another solver, and the first of them, explained by
    both.
    """
    if submission.is_hidden:
        return ()
    scores = submission.score(questions)
    lost = question_statistics(questions, Scores.from_lists(scores)) < reference_statistics(
        floor, questions, submission.train
    )
    floor_solver = parse_solver(floor).fit(
        questions if submission.train is None else submission.train
    )
    summary = (
        f"questions on which {floor} earns more than yours: {lost[:, 0].sum()} of {len(questions)}"
    )
    explained = []
    for i in np.flatnonzero(lost[:, 0])[:2]:
        yours = explain_scores(questions[i], yours=scores[i])
        explained.append((*yours, floor_solver.explain(questions[i])))
    return summary, tuple(explained)


def check_sample(submission):
    """The sample counts by itself: a solver for made sentences must read others as well."""
    sample = load("sample:single-choice")
    scores = Scores.from_lists(submission.score(sample))
    earned = question_statistics(sample, scores)[:, 0].sum()
    floor = reference_statistics(FLOOR, sample, submission.train)[:, 0].sum()
    if earned <= floor:
        raise CheckFailedError(
            f"{earned:.2f} of the sample's {len(sample)} questions; {FLOOR} has {floor:.2f}"
        )


def check_contract(submission):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, seed=submission.seed)
    scores, order = submission.score(dataset), list(range(len(dataset)))
    random.Random(submission.seed).shuffle(order)
    shuffled = submission.score(replace(dataset, questions=[dataset[i] for i in order]))
    turned = [
        replace(question, candidates=tuple(question.candidates)[::-1], gold=None)
        for question in dataset
    ]
    for i, scores_again in zip(order, shuffled, strict=True):
        must_be_same(scores[i], scores_again, dataset[i], "in another order of the questions")
    for i, scores_again in enumerate(submission.score(replace(dataset, questions=turned))):
        must_be_same(
            scores[i], scores_again[::-1], dataset[i], "with its options in reversed order"
        )
    for i, question in enumerate(dataset):
        alone = submission.score(replace(dataset, questions=[question]))
        must_be_same(scores[i], alone[0], question, "when it is the only question")


def must_be_same(first, second, question, when):
    # Sums in another order are rounded in another way.
    if not np.allclose(first, second, rtol=1e-5):
        problem = f"the scores change {when}: {first} and {second}"
        raise CheckFailedError(problem, "", (explain_scores(question, before=first, after=second),))


ASSIGNMENT = Assignment(
    title="A solver of twenty lines",
    main="my_solver.py",
    packages=("numpy", "classic_rc"),
    floor=FLOOR,
    template=Path(__file__).with_name("my_solver.py").read_text(encoding="utf-8"),
    make_questions=make_questions,
    checks=(
        Check(
            "beats_chance",
            2,
            "it answers more unseen questions than chance, by more than luck",
            check_chance,
        ),
        Check(
            "keeps_the_contract",
            2,
            "scores depend on the question alone",
            check_contract,
            None,
            ("beats_chance",),
        ),
        Check(
            "beats_sliding_window",
            4,
            "it beats the sliding window by more than luck",
            check_floor,
            needs=("keeps_the_contract",),
        ),
        Check(
            "sample",
            2,
            "it answers more of the sample than the sliding window",
            check_sample,
            needs=("beats_sliding_window",),
        ),
    ),
)
