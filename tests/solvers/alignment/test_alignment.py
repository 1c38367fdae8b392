"""Alignment by integer programming, from texts to scores, on invented stories."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.errors import DataError
from classic_rc.kernels.arrays import small_blocks
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import AlignmentILP
from classic_rc.solvers.alignment.program import SolvedProgram
from classic_rc.testing import check_solver, synthetic_dataset
from tests.errors import raises
from tests.reports.formulas import assert_formulas_add_up

STORY = Passage(
    "s",
    "Mary rode a red bike. She went to the old lake. A sly fox stole the bike near the lake. It "
    "rained all day.",
)


def question(text, *candidates, id="q"):
    choices = tuple(map(Candidate, candidates))
    return Question(id, STORY, text, choices, frozenset({0}), Task.SINGLE_CHOICE)


def scores(question, **params):
    return AlignmentILP(**params).fit([question]).score_candidates([question])


def terms(question, **params):
    return [c.numbers for c in AlignmentILP(**params).fit([question]).explain(question).candidates]


WHO = question("Who stole the bike, near the lake?", "a sly fox", "Mary", "the old lake", "an owl")
"""Chunks: stole; bike; near; lake. Two of the four may be active."""


def test_values_equal_those_computed_by_hand():
    """Sentence 3 is "sly fox stole", "bike near" and "lake": "lake" covers a chunk, "bike" half
    of one.
    """
    of_question = 0.6 + 0.1 + 2 * 0.33
    solver_scores = scores(WHO)
    # all of "sly fox" in "sly fox stole", and two thirds the other way
    fox = (1.0 + 2 / 3) / 2 - 0.4
    lake = (1 / 2 + 1.0) / 2 - 0.4  # "old lake" with "lake"
    expected = [of_question + option - 2.5 for option in (fox, -0.4, lake, -0.4)]
    assert solver_scores.values.tolist() == pytest.approx(expected, abs=1e-9)
    assert solver_scores.evidence.all()


def test_terms_use_the_published_constants():
    fox, *_ = terms(WHO)
    assert fox == pytest.approx(
        {
            "question_edges": 0.7,
            "option_edges": 5 / 6 - 0.4,
            "question_chunks": 0.66,
            "sentences": -2.5,
            "long_option": 0.0,
        }
    )


def test_a_candidate_without_a_graph_has_no_evidence_and_scores_less_than_any_with_one():
    nothing = scores(question("Why does an owl hoot?", "a fox", "a bike"))
    assert not nothing.evidence.any()
    assert nothing.values.tolist() == [-6.4, -6.4]
    some = scores(question("Who stole the bike?", "an owl", ""))
    assert some.evidence.tolist() == [True, False]
    assert some.values[1] == -6.4 < some.values[0]


def test_a_question_of_one_chunk_may_use_it():
    assert scores(question("What of the lake?", "old", "an owl")).evidence.all()


@pytest.mark.parametrize(
    ("text", "params", "has_graph"),
    [
        ("Who rode to the lake without the bike?", {}, True),
        ("Who rode to the lake without a towel?", {}, False),
        ("Who rode to the lake without a towel?", {"align_without": False}, True),
        ("Who rode to the lake without it?", {}, True),
    ],
)
def test_the_chunk_after_without_must_be_aligned(text, params, has_graph):
    assert scores(question(text, "Mary"), **params).evidence.tolist() == [has_graph]


@pytest.mark.parametrize(("params", "bonus"), [({}, 0.02), ({"long_option_weight": 0.0}, 0.0)])
def test_a_long_option_has_a_small_bonus(params, bonus):
    options = "a fox, an owl, a cat and a dog", "a fox, an owl and a cat"
    four, three = terms(question("Who stole the bike?", *options), **params)
    assert (four["long_option"], three["long_option"]) == (bonus, 0.0)


def test_chunks_can_be_single_words():
    bike_question = question("Who stole the bike, near the lake?", "sly fox")
    words, runs = terms(bike_question, chunks="words"), terms(bike_question)
    assert words[0]["option_edges"] == pytest.approx(1.2)
    assert runs[0]["option_edges"] == pytest.approx(5 / 6 - 0.4)


@pytest.mark.ci
def test_it_keeps_the_solver_contract():
    unlimited = AlignmentILP(chunks="words", max_sentences=None, sentence_weight=-0.3)
    check_solver(unlimited, tasks=[Task.SINGLE_CHOICE])


def test_any_number_of_processes_gives_the_same_scores():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6)
    solver = AlignmentILP().fit(dataset)
    with small_blocks(5):
        serial, parallel = solver.score_candidates(dataset), solver.score_with_jobs(dataset, 2)
    assert np.array_equal(serial.values, parallel.values)
    assert np.array_equal(serial.evidence, parallel.evidence)


def test_any_number_of_processes_gives_the_same_metrics():
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=6)
    with small_blocks(5):
        (serial,) = evaluate(dataset, [AlignmentILP()], jobs=1).rows
        (parallel,) = evaluate(dataset, [AlignmentILP()], jobs=2).rows
    assert serial.metrics() == parallel.metrics()


def test_programs_that_stopped_are_reported(monkeypatch):
    monkeypatch.setattr(
        "classic_rc.solvers.alignment.solver.solve",
        lambda *args: SolvedProgram(None, complete=False),
    )
    solver = AlignmentILP(node_limit=7).fit([WHO])
    assert solver.caveats([WHO]) == ()
    solver.score_candidates([WHO])
    (caveat,) = solver.caveats([WHO])
    assert re.search("^4 programs .*node_limit=7", caveat)
    assert solver.caveats([replace(WHO, id="other")]) == ()


class TestExplanation:
    def test_terms_add_up_to_the_score(self):
        dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=4)
        solver = AlignmentILP().fit(dataset)
        for dataset_question in dataset:
            for candidate in solver.explain(dataset_question).candidates:
                if candidate.evidence:
                    total = math.fsum(candidate.numbers.values())
                    assert total == pytest.approx(candidate.score, abs=1e-9)
                else:
                    assert not candidate.numbers
                    assert not candidate.marks

    @pytest.mark.parametrize("text", ["Who stole the bike?", "Why does an owl hoot?"])
    def test_formulas_add_up(self, text):
        options = "a fox, an owl, a cat and a dog", "the bike"
        assert_formulas_add_up(AlignmentILP().explain(question(text, *options)))

    def test_the_graph_is_described_and_marked(self):
        fox = AlignmentILP().explain(WHO).candidates[0]
        assert fox.source == "support graph"
        assert fox.quote == (
            'question "bike" -> "bike near" (sentence 3) 0.100; question "lake" -> "lake" '
            '(sentence 3) 0.600; option "sly fox" -> "sly fox stole" (sentence 3) 0.433'
        )
        assert [mark.kind for mark in fox.marks] == [
            "sentence",
            "question",
            "question",
            "candidate",
        ]
        assert [STORY.text[mark.start : mark.end] for mark in fox.marks] == [
            "sly fox stole the bike near the lake",
            "bike near",
            "lake",
            "sly fox stole",
        ]


class TestWordNet:
    class Known:
        """A fake database in which a bicycle is a vehicle, and a bike is another word for it."""

        signature = "3.0@01234567"

        def synsets(self, word):
            return [
                ("n", {"bicycle": 0, "bike": 0, "vehicle": 1, "object": 2}.get(word, hash(word)))
            ]

        def above(self, word):
            bike = {("n", 0): 0, ("n", 1): 1, ("n", 2): 3}
            return bike if word in ("bike", "bicycle") else {self.synsets(word)[0]: 0}

    @pytest.fixture
    def wordnet_known(self, monkeypatch):
        monkeypatch.setattr("classic_rc.solvers.alignment.solver.find_wordnet", lambda: "somewhere")
        monkeypatch.setattr(
            "classic_rc.solvers.alignment.solver.read_wordnet", lambda folder: self.Known()
        )

    def test_more_general_words_are_entailed_in_one_direction(self, wordnet_known):
        vehicle_question = question("Who rode, to the lake?", "a vehicle", "a bicycle")
        vehicle, bicycle = terms(vehicle_question, wordnet="auto")
        # "red bike" entails "vehicle" by 1/2, which entails nothing, and "bicycle" by 1, which
        # entails half of it
        assert vehicle["option_edges"] == pytest.approx((1 / 2 + 0) / 2 - 0.4)
        assert bicycle["option_edges"] == pytest.approx((1 + 1 / 2) / 2 - 0.4)
        assert all(t["option_edges"] == pytest.approx(-0.4) for t in terms(vehicle_question))

    def test_too_general_hypotheses_are_ignored(self, wordnet_known):
        (edge_term,) = terms(question("Who rode, to the lake?", "an object"), wordnet="auto")
        assert edge_term["option_edges"] == pytest.approx(-0.4)

    def test_the_signature_names_the_database(self, wordnet_known, monkeypatch):
        def signature(**params):
            (row,) = evaluate(Dataset([WHO]), [AlignmentILP(**params)]).rows
            return row.signature, row.caveats

        assert "|wordnet:3.0@01234567|" in signature(wordnet="auto")[0]
        assert "|wordnet:3.0@01234567|" in signature(wordnet="/a/folder")[0]
        assert "|wordnet:off|" in signature()[0]
        monkeypatch.setattr("classic_rc.solvers.alignment.solver.find_wordnet", lambda: None)
        text, caveats = signature(wordnet="auto")
        assert "|wordnet:absent|" in text
        assert [("WordNet" in caveat) for caveat in caveats] == [True]
        assert np.array_equal(scores(WHO, wordnet="auto").values, scores(WHO).values)

    def test_a_folder_without_wordnet_is_an_error(self, tmp_path):
        with raises(DataError, source=re.compile(re.escape(str(tmp_path)))):
            AlignmentILP(wordnet=str(tmp_path)).fit([WHO])

    def test_scores_do_not_depend_on_earlier_questions(self, wordnet_known):
        """Words with the same stem are different words in WordNet."""
        solver = AlignmentILP(wordnet="auto")
        first = question("Who rode, to the lake?", "a bikes vehicles")
        second = question("Who rode, to the lake?", "a vehicle", id="r")
        joint_scores = solver.score_candidates([first, second])
        assert np.array_equal(joint_scores[1], solver.score_candidates([second])[0])
