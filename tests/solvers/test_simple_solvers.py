from __future__ import annotations

import numpy as np
import pytest

from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.metrics import METRICS
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.solvers import (
    AllNegative,
    AllPositive,
    ConstantPosition,
    ExclusiveFrequency,
    LongestCandidate,
    MaximumFrequency,
    Random,
    ScoreFile,
    ShortestCandidate,
    parse_solver,
)

PASSAGE = Passage("p", "Ann met Bob. Bob Lee met Ann, and Bob left.")


def ask(*options, gold=frozenset({0}), task=Task.SINGLE_CHOICE, text="Who?", id="q"):
    return Question(id, PASSAGE, text, tuple(map(Candidate, options)), gold, task)


def scores_of(solver, *questions):
    return [row.tolist() for row in solver.score_candidates(questions)]


def test_constants():
    question = ask("a", "b", task=Task.MULTIPLE_ANSWER)
    assert AllPositive().predict([question])[0].answers == (frozenset({0, 1}),)
    assert AllNegative().predict([question])[0].answers == (frozenset(),)


def test_positions():
    two, three = ask("a", "b"), ask("a", "b", "c", id="r")
    assert scores_of(ConstantPosition(), two, three) == [[1, 0], [1, 0, 0]]
    assert scores_of(ConstantPosition(position="last"), two, three) == [[0, 1], [0, 0, 1]]
    assert scores_of(ConstantPosition(position=2), two, three) == [[0, 1], [0, 0, 1]]


def test_the_majority_is_learned():
    train = [ask("a", "b", gold=frozenset({g}), id=str(i)) for i, g in enumerate([0, 1, 1])]
    solver = ConstantPosition(position="majority")
    assert solver.learns_from == "gold"
    with pytest.raises(NotFittedError, match="--train"):
        solver.score_candidates(train)
    assert scores_of(solver.fit(train), train[0]) == [[0, 1]]
    with pytest.raises(UsageError, match="gold"):
        solver.fit([ask("a", gold=None)])


@pytest.mark.parametrize("position", ["middle", -1, True])
def test_an_unusable_position_is_named(position):
    with pytest.raises(UsageError, match=f"got {position!r}"):
        ConstantPosition(position=position).fit([ask("a")])


def test_lengths():
    question = ask("a b c", "abcdefg")
    assert scores_of(LongestCandidate(), question) == [[5, 7]]
    assert scores_of(ShortestCandidate(unit="words"), question) == [[-3, -1]]
    with pytest.raises(UsageError, match="'tokens'"):
        LongestCandidate(unit="tokens").score_candidates([question])


def test_frequencies_count_whole_names():
    question = ask("Bob", "Bob Lee", "Ann", "Eve", gold=("Bob",), task=Task.CLOZE, text="@placeholder knows Ann.")
    assert scores_of(MaximumFrequency(), question) == [[3, 1, 2, 0]]
    scores = ExclusiveFrequency().score_candidates([question])
    assert scores.values.tolist() == [3, 1, 0, 0]
    assert scores.evidence.tolist() == [True, True, False, False]


def test_nothing_is_named_across_the_placeholder():
    passage = Passage("p", "They live in York. Ann and Bob moved in York.")
    candidates = (Candidate("in York"), Candidate("Ann"))
    question = Question("q", passage, "In @placeholder York, Ann sang.", candidates, ("in York",), Task.CLOZE)
    assert ExclusiveFrequency().score_candidates([question]).values.tolist() == [2, 0]


def test_random_weighs_a_text_by_its_mentions():
    question = ask("Ann", "Bob", "Ann", gold=("Ann",), task=Task.CLOZE, text="@placeholder left.")
    solver = Random()
    assert METRICS["em"]([question], solver.expectation([question])) == pytest.approx(2 / 3)
    drawn = [Random(seed=s).predict([question])[0].answers[0] == ("Ann",) for s in range(600)]
    assert np.mean(drawn) == pytest.approx(2 / 3, abs=0.06)


def test_random_chooses_each_option_equally():
    question = ask("a", "b", "c", "d")
    assert METRICS["accuracy"]([question], Random().expectation([question])) == 0.25
    assert scores_of(Random(seed=1), question) == scores_of(Random(seed=1), question)
    assert scores_of(Random(seed=1), question) != scores_of(Random(seed=2), question)


def test_a_score_file_gives_its_scores_by_question(tmp_path):
    from classic_rc.formats import write_predictions
    from classic_rc.predictions import Scores
    from classic_rc.questions import Dataset

    dataset = Dataset([ask("a", "b"), ask("a", id="r")])
    path = tmp_path / "scores.jsonl"
    write_predictions(path, dataset, Scores.from_lists([[1.5, 2.0], [0.25]]), format="jsonl")
    solver = ScoreFile(path=str(path)).fit(dataset)
    assert scores_of(solver, dataset[1], dataset[0]) == [[0.25], [1.5, 2.0]]
    with pytest.raises(DataError, match="none for question_id 'z'"):
        solver.score_candidates([ask("a", id="z")])
    with pytest.raises(NotFittedError):
        ScoreFile(path=str(path)).score_candidates(dataset)
    with pytest.raises(UsageError, match="path=FILE"):
        ScoreFile().fit(dataset)


@pytest.mark.parametrize(
    ("spec", "params"),
    [
        ("random", {"seed": 0}),
        ("random,seed=3", {"seed": 3}),
        ("sw+d:mctest160,window=5", {"window": 5, "distance_weight": 10.0, "analyzer": "mctest"}),
        ("sliding-window, window=passage", {"window": "passage"}),
        ("sw+d,distance_weight=1e-3", {"distance_weight": 0.001}),
        ("word-distance,decision=None", {"decision": None}),
    ],
)
def test_specifications(spec, params):
    solver = parse_solver(spec)
    assert {name: solver.get_params()[name] for name in params} == params


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("slidingwindow", "did you mean 'sliding-window'"),
        ("sw+d:mctest600", "did you mean 'mctest"),
        ("random:uniform", "has no variants"),
        ("random,sede=1", "did you mean 'seed'"),
        ("random,sw+d", "one -s each"),
        ("sliding-window:mctest,window=100000000000000000000", "positive number of tokens"),
    ],
)
def test_wrong_specifications(spec, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_solver(spec).fit([ask("a")])


@pytest.mark.parametrize(
    "spec",
    [
        "random,seed=abc",
        "random,seed=1.5",
        "constant-position,position=100000000000000000000",
        "sw+d,analyzer=5",
        "sw+d,stop_words=5",
    ],
)
def test_unusable_parameters_end_in_one_error(spec):
    with pytest.raises(UsageError):
        parse_solver(spec).score_candidates([ask("a")])


def test_ones_own_solver(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from classic_rc import Scores, Solver\n"
        "class Mine(Solver):\n"
        "    def __init__(self, *, sign=1):\n"
        "        self.sign = sign\n"
        "    def score_candidates(self, questions):\n"
        "        return Scores.from_lists([[self.sign * len(c.text) for c in q.candidates] for q in questions])\n"
        "class Unfinished(Solver):\n"
        "    pass\n",
        encoding="utf-8",
    )
    assert scores_of(parse_solver(f"{path}:Mine,sign=-1"), ask("a", "bcd")) == [[-1, -3]]
    with pytest.raises(UsageError, match="did you mean 'Mine'"):
        parse_solver(f"{path}:Min")
    with pytest.raises(UsageError, match="must write score_candidates"):
        parse_solver(f"{path}:Unfinished")
    with pytest.raises(DataError, match="no such file"):
        parse_solver(f"{tmp_path / 'other.py'}:Mine")
    path.write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be imported: ZeroDivisionError"):
        parse_solver(f"{path}:Mine")
    path.write_text("class :\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1"):
        parse_solver(f"{path}:Mine")
