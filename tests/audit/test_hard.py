"""Hard subsets: solved questions are counted by hand, chance is enumerated, learners are out of fold."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.audit.hard import chance_removed, find_hard_subset
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import Solver, parse_solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises


class Right(Solver):
    """Right, wrong or tied, as one letter a question says: r, w, or 2, 3, … for a tie of so many.

    ``0`` is a tie of all but the right one.
    """

    def __init__(self, *, plan: str = "") -> None:
        self.plan = plan

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        return Scores.from_lists([self._scores(q, self.plan[int(q.id)]) for q in questions])

    @staticmethod
    def _scores(question: Question, letter: str) -> list[float]:
        n, right = len(question.candidates), next(iter(question.meta["right"]))
        others = [i for i in range(n) if i != right]
        best = {"r": [right], "w": others[:1], "0": others}.get(letter)
        best = [right, *others[: int(letter) - 1]] if best is None else best
        return [float(i in best) for i in range(n)]


def made(n: int, n_candidates: int = 4, passages: int | None = None) -> Dataset:
    """Questions whose right option is the last; each of its own passage, unless there are fewer."""
    texts = [Passage(f"p{i}", f"Passage number {i}.") for i in range(passages or n)]
    options = tuple(Candidate(f"option {i}") for i in range(n_candidates))
    gold = frozenset({n_candidates - 1})
    meta = {"right": gold}
    return Dataset(
        [
            Question(str(i), texts[i % len(texts)], f"Question {i}?", options, gold, Task.SINGLE_CHOICE, meta)
            for i in range(n)
        ],
        "made",
    )


def kept(found) -> str:
    return "".join(question.id for question in found.dataset)


def test_training_data_with_a_part_that_is_filtered_is_refused():
    data, other = load("sample:single-choice"), synthetic_dataset(Task.SINGLE_CHOICE, name="other")
    with raises(UsageError, field="train", found=data.name):
        find_hard_subset(data, [parse_solver("surface-lr")], train=[other, data])


def test_what_nobody_solves_is_hard_and_members_are_down_to_nothing():
    found = find_hard_subset(made(6), [Right(plan="rrwwww"), Right(plan="rwrwww")], intervals=10)
    assert kept(found) == "345"
    assert found.n_solved.tolist() == [2, 1, 1, 0, 0, 0]
    assert found.removed["removed"].value == 0.5
    assert [after.value for before, after in found.scores[:2]] == [0, 0]
    assert [before.value for before, after in found.scores[:2]] == [2 / 6, 2 / 6]
    assert found.n_members == 2


def test_at_most_k_may_solve_what_is_kept():
    members = [Right(plan="rrrw"), Right(plan="rrww"), Right(plan="rwww")]
    assert [kept(find_hard_subset(made(4), members, max_solved=k, intervals=10)) for k in range(3)] == [
        "3",
        "23",
        "123",
    ]


def test_a_tie_is_not_solved():
    plan = "r2340w"  # credits 1, 1/2, 1/3, 1/4, 0 (a tie of the wrong ones) and 0
    found = find_hard_subset(made(6), [Right(plan=plan)], intervals=10)
    assert kept(found) == "12345"
    assert found.solves(found.evaluation.rows[0]).sum() == 1
    # On what is kept, a member still has its shares of ties.
    assert found.scores[0][1].value == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 5)


def test_reported_systems_have_no_part_in_the_choice_and_random_is_always_one():
    found = find_hard_subset(made(4), [Right(plan="rrww")], report=[Right(plan="rwrw")], intervals=10)
    assert kept(found) == "23"
    assert [row.name for row in found.evaluation.rows] == ["Right,plan=rrww", "random", "Right,plan=rwrw"]
    assert [after.value for _, after in found.scores] == [0, 0.25, 0.5]
    named = [parse_solver("random"), Right(plan="rrww")]
    again = find_hard_subset(made(4), named, report=[parse_solver("random")], intervals=10)
    assert [row.name for row in again.evaluation.rows] == ["Right", "random"]
    assert again.n_members == 1


def test_nothing_left_and_nothing_removed():
    all_solved = find_hard_subset(made(3), [Right(plan="rrr")], intervals=10)
    assert kept(all_solved) == ""
    assert all_solved.scores[0] == (all_solved.scores[0][0], None)
    assert json.loads(json.dumps(all_solved.to_dict(), allow_nan=False))["rows"][0]["after"] is None
    none_solved = find_hard_subset(made(3), [Right(plan="www")], intervals=10)
    assert kept(none_solved) == "012"
    assert none_solved.removed["removed"].value == 0


# --- chance ------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(2, 7), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_chance_is_what_counting_all_guesses_gives(n_candidates, members, most):
    chance = chance_removed(np.array([1 / n for n in n_candidates]), members, min(most, members - 1))
    for n, probability in zip(n_candidates, chance, strict=True):
        guesses = list(itertools.product(range(n), repeat=members))
        removed = sum(guess.count(0) > min(most, members - 1) for guess in guesses)
        assert probability == pytest.approx(removed / len(guesses))


def test_chance_has_the_candidates_of_each_question_and_all_members():
    found = find_hard_subset(made(4, n_candidates=5), [Right(plan="wwww")] * 3, max_solved=1, intervals=10)
    assert found.removed["chance"].value == pytest.approx(3 * 0.2**2 * 0.8 + 0.2**3)
    several = load("sample:multiple-answer")
    of_all = find_hard_subset(several, [parse_solver("longest")], intervals=10).chance
    assert of_all == pytest.approx([0.5 ** len(q.candidates) for q in several])


def test_guessers_remove_what_chance_says_and_the_excess_is_near_nothing():
    rng = np.random.default_rng(1)
    plans = ["".join(np.where(rng.random(3000) < 0.25, "r", "w")) for _ in range(3)]

    dataset = made(3000)
    found = find_hard_subset(dataset, [Right(plan=plan) for plan in plans], intervals=500)
    assert found.removed["chance"].value == pytest.approx(1 - 0.75**3)
    low, high = found.removed["excess"].interval
    assert low < 0 < high
    assert high - low < 0.05
    # Three times the same guesser removes what one does.
    alike = find_hard_subset(dataset, [Right(plan=plans[0])] * 3, intervals=10)
    assert alike.removed["removed"].value == pytest.approx(0.25, abs=0.03)
    assert alike.removed["excess"].value < -0.25


def test_intervals_resample_whole_passages():
    apart = find_hard_subset(made(40, passages=40), [Right(plan="rw" * 20)], intervals=2000)
    together = find_hard_subset(made(40, passages=8), [Right(plan="rw" * 20)], intervals=2000)
    widths = [np.diff(found.removed["removed"].interval)[0] for found in (apart, together)]
    assert widths[1] > widths[0]
    one = find_hard_subset(made(4, passages=1), [Right(plan="rwww")], intervals=10)
    assert one.removed["removed"].interval is None
    assert [share.interval for share, _ in one.scores] == [None, None]


def test_same_seed_same_digits():
    first, second, other = (
        find_hard_subset(made(40), [Right(plan="rw" * 20)], intervals=50, seed=seed).to_dict() for seed in (0, 0, 1)
    )
    assert first == second
    assert first["share_removed"]["interval"] != other["share_removed"]["interval"]


# --- learning ----------------------------------------------------------------------------------------------------


def test_what_learns_learns_out_of_fold_or_from_other_data():
    dataset = load("sample:single-choice")
    surface = [parse_solver("surface-lr")]
    assert find_hard_subset(dataset, surface, intervals=10).evaluation.rows[0].trained_on == "cv5"
    assert find_hard_subset(dataset, surface, cv=3, intervals=10).evaluation.rows[0].trained_on == "cv3"
    found = find_hard_subset(dataset, [parse_solver("sw+d")], report=surface, intervals=10)
    assert [row.trained_on for row in found.evaluation.rows] == [None, None, "cv5"]
    with raises(UsageError, field="train", found=dataset.name):
        find_hard_subset(dataset, surface, train=dataset)
    several = load("sample:multiple-answer")
    assert find_hard_subset(several, [parse_solver("sw+d")], intervals=10).evaluation.rows[0].tuned_on == "cv5"
    with raises(UsageError, field="tune", found=several.name):
        find_hard_subset(several, [parse_solver("sw+d")], tune=several)


@pytest.mark.parametrize("task", ["single-choice", "multiple-answer", "cloze", "multi-span"])
def test_every_task_has_hard_questions(task):
    dataset = load(f"sample:{task}")
    found = find_hard_subset(dataset, [parse_solver("sw+d"), parse_solver("ir")], intervals=10)
    answered = found.solves(found.evaluation.rows[0]) | found.solves(found.evaluation.rows[1])
    assert found.hard.tolist() == (~answered).tolist()
    assert found.metric.name == {"single-choice": "accuracy", "multiple-answer": "em0", "cloze": "em"}.get(
        task, "quoref_em"
    )


@pytest.mark.parametrize(
    ("changes", "field", "found", "expected"),
    [
        ({"solvers": []}, "solvers", "no other solver", None),
        ({"solvers": [parse_solver("random")]}, "solvers", "no other solver", None),
        ({"max_solved": 1}, "max_solved", "1", "0 to 0"),
        ({"max_solved": -1}, "max_solved", "-1", "0 to 0"),
        ({"intervals": 0}, "intervals", "0", re.compile("number of resamples")),
    ],
)
def test_what_cannot_be_is_refused(changes, field, found, expected):
    with raises(UsageError, field=field, found=found, expected=expected):
        find_hard_subset(**{"dataset": made(3), "solvers": [Right(plan="rww")], **changes})
