import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.metrics import get_metric
from classic_rc.predictions import Prediction
from classic_rc.questions import Task

accuracy = get_metric("accuracy")


def choose(*options: int, weights=None) -> Prediction:
    return Prediction("q", tuple(frozenset({option}) for option in options), weights)


@pytest.fixture
def question(ask):
    return ask(Task.SINGLE_CHOICE, frozenset({2}), 4)


def test_the_right_option_scores_one_and_a_wrong_one_nothing(question):
    predictions = [choose(option) for option in (2, 2, 1, 2)]
    assert accuracy([question] * 4, predictions) == 0.75


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_tie_of_k_options_is_worth_one_kth(question, k):
    wrong = [0, 1, 3][: k - 1]
    assert accuracy([question], [choose(2, *wrong)]) == pytest.approx(1 / k)


def test_a_tie_without_the_right_option_is_worth_nothing(question):
    assert accuracy([question], [choose(0, 1)]) == 0


def test_where_several_options_are_right_any_of_them_will_do(ask):
    question = ask(Task.SINGLE_CHOICE, frozenset({0, 2}), 4)
    rows = accuracy.statistics([question] * 3, [choose(0), choose(2), choose(3)])
    assert rows.tolist() == [[1], [1], [0]]
    assert accuracy([question], [choose(0, 1, 2, 3)]) == 0.5


def test_choosing_two_options_at_once_is_not_right(ask):
    question = ask(Task.SINGLE_CHOICE, frozenset({2}), 4)
    assert accuracy([question], [Prediction("q", (frozenset({2, 3}),))]) == 0
    assert accuracy([question], [Prediction("q", (frozenset(),))]) == 0


@given(st.integers(1, 8), st.data())
def test_a_uniform_guess_scores_the_share_of_right_options(ask, n, data):
    gold = data.draw(st.frozensets(st.integers(0, n - 1)))
    question = ask(Task.SINGLE_CHOICE, gold, n)
    assert accuracy([question], [choose(*range(n))]) == pytest.approx(len(gold) / n)
