"""The features of cloze candidates against the plain-Python reference, and the ranker that
learns from them.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.errors import UsageError
from classic_rc.kernels import reference
from classic_rc.kernels.arrays import offsets_of, passage_postings, small_blocks
from classic_rc.kernels.cloze import mention_distances, phrase_places, query_counts
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.verdict import parts_sum_to_score
from classic_rc.solvers import ExclusiveFrequency, FeatureRanker, load_solver, save_solver
from classic_rc.solvers.feature_ranker.entities import (
    ENTITY_FEATURES,
    ENTITY_GROUPS,
    ENTITY_TABLE,
    EntityTexts,
    entity_features,
    entity_texts,
    mention_sentences,
)
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encoded import EncodedDataset
from tests.depth import examples
from tests.errors import raises
from tests.kernels.builders import flags_of, problems

NAMES = [feature.name for feature in ENTITY_TABLE]
CLOZE = synthetic_dataset(Task.CLOZE, n_passages=12, seed=1)
PEOPLE = "Ann Bob Carla Dan Eve Fred Gina Hugo".split()
THINGS = (
    "kettle lamp violin anchor blanket ladder candle mirror basket hammer bottle window".split()
)


@st.composite
def cloze_problems(draw):
    """Small random texts with sentences, some of them empty, gaps and stop words."""
    problem = draw(problems(n_words=7, n_passages=3, passage=30, question=7, candidate=3))
    lengths = []
    for passage in problem.passages:
        cuts = sorted(draw(st.lists(st.integers(0, len(passage)), max_size=6)))
        bounds = [0, *cuts, len(passage)] if passage or draw(st.booleans()) else [0]
        lengths.append(np.diff(bounds).tolist())
    placeholders = [draw(st.integers(0, len(query))) for _, query in problem.questions]
    return (
        problem,
        lengths,
        placeholders,
        draw(st.sets(st.integers(0, problem.n_words - 1), max_size=3)),
    )


def texts_of_problem(problem, lengths, placeholders, stop):
    n_questions = len(problem.questions)
    sizes = np.bincount(problem.arrays.candidate_question, minlength=n_questions)
    vocabulary = [f"w{i}" for i in range(problem.n_words)]
    encoded = EncodedDataset(
        [],
        get_analyzer("word"),
        vocabulary,
        problem.arrays,
        np.arange(n_questions),
        offsets_of(sizes),
        None,
    )
    return EntityTexts(
        encoded,
        flags_of(problem.n_words, stop),
        offsets_of(
            np.array([n for passage_lengths in lengths for n in passage_lengths], dtype=np.int64)
        ),
        offsets_of(np.array([len(passage_lengths) for passage_lengths in lengths], dtype=np.int64)),
        np.array(placeholders, dtype=np.int64),
    )


def plain_questions(texts):
    """The questions of the texts as the reference takes them."""
    arrays, sentence_bounds = texts.encoded.arrays, texts.sentence_offsets.tolist()

    def lists(tokens, bounds):
        return [tokens[a:b].tolist() for a, b in itertools.pairwise(bounds)]

    queries = lists(arrays.question_tokens, arrays.question_offsets.tolist())
    candidates = lists(arrays.candidate_tokens, arrays.candidate_offsets.tolist())
    for i, query in enumerate(queries):
        passage = int(arrays.question_passage[i])
        first, last = texts.passage_sentences[[passage, passage + 1]].tolist()
        sentences = lists(arrays.passage_tokens, sentence_bounds[first : last + 1])
        question_candidates = [
            candidates[c] for c in np.flatnonzero(arrays.candidate_question == i)
        ]
        yield reference.ClozeQuestion(
            sentences, query, int(texts.placeholders[i]), question_candidates
        )


def assert_equals_reference(texts):
    got = entity_features(texts)
    stop = set(np.flatnonzero(texts.stop).tolist())
    expected = [
        reference.entity_features(question, i, stop)
        for question in plain_questions(texts)
        for i in range(len(question.candidates))
    ]
    assert got.shape == (len(expected), len(NAMES))
    for j, name in enumerate(NAMES):
        assert got[:, j].tolist() == [np.float32(features[name]) for features in expected], name
    assert all(set(features) == set(NAMES) for features in expected)


@settings(max_examples=examples(41, 250))
@given(problem=cloze_problems())
def test_features_of_random_texts(problem):
    assert_equals_reference(texts_of_problem(*problem))


@settings(max_examples=examples(10, 60))
@given(problem=cloze_problems(), size=st.integers(1, 60))
def test_blocks_change_no_bit(problem, size):
    texts = texts_of_problem(*problem)
    with small_blocks(size):
        in_blocks = entity_features(texts)
    assert in_blocks.tolist() == entity_features(texts).tolist()


@settings(max_examples=examples(16, 100))
@given(problem=cloze_problems())
def test_evidence_is_the_sentence_of_the_nearest_mention(problem):
    texts = texts_of_problem(*problem)
    stop = set(np.flatnonzero(texts.stop).tolist())
    expected = []
    for question in plain_questions(texts):
        passage = [token for sentence in question.sentences for token in sentence]
        content = [word for word in question.query if word not in stop]
        for candidate in question.candidates:
            mentions = reference.entities.mentions_of(question, candidate)
            sums = [
                sum(
                    reference.entities.nearest_steps(passage, word, mention, 20) for word in content
                )
                for mention in mentions
            ]
            expected.append(mentions[sums.index(min(sums))].sentence if mentions else -1)
    assert mention_sentences(texts).tolist() == expected


@settings(max_examples=examples(16, 100))
@given(problem=cloze_problems(), max_distance=st.integers(1, 12), pairs=st.integers(1, 40))
def test_distances_of_mentions_equal_the_reference(problem, max_distance, pairs):
    problem, _, placeholders, stop = problem
    arrays, gaps = problem.arrays, np.array(placeholders, dtype=np.int64)
    postings = passage_postings(arrays)
    mentions = phrase_places(arrays, postings)
    counted = ~flags_of(problem.n_words, stop)
    with small_blocks(pairs):
        got = mention_distances(arrays, postings, *mentions, gaps, counted, max_distance).tolist()
    expected = []
    for (q, _), (passage, query, candidate) in zip(problem.candidates, problem.texts, strict=True):
        aligned = reference.cloze.alignments(
            passage, query, placeholders[q], candidate, max_distance=max_distance, ignored=stop
        )
        expected += [sum(word.steps for word in words) for _, words in aligned]
    assert got == expected


@settings(max_examples=examples(16, 100))
@given(problem=cloze_problems())
def test_no_phrase_of_a_query_spans_its_gap(problem):
    problem, _, placeholders, _ = problem
    expected = [
        reference.phrase_count(query[: placeholders[q]], candidate)
        + reference.phrase_count(query[placeholders[q] :], candidate)
        for (q, _), (_, query, candidate) in zip(problem.candidates, problem.texts, strict=True)
    ]
    assert query_counts(problem.arrays, np.array(placeholders, dtype=np.int64)).tolist() == expected


def test_features_of_real_questions(shared_data):
    assert_equals_reference(entity_texts(load(shared_data / "record/record_explorer_123.json")))


def test_features_of_synthetic_questions():
    assert_equals_reference(entity_texts(CLOZE))


def ask(passage, query, *names, gold=None):
    candidates = tuple(map(Candidate, names))
    return Question("q", Passage("p", passage), query, candidates, gold, Task.CLOZE)


def features_of(question):
    return [
        dict(zip(NAMES, row, strict=True))
        for row in entity_features(entity_texts([question])).tolist()
    ]


def test_a_worked_example():
    passage = (
        "Ann Lee sold her red boat. The red boat that Bob bought sank.\n@highlight\nAnn Lee's "
        "luck\n@highlight\nBob"
    )
    ann, bob, eve = features_of(
        ask(passage, "The boat that @placeholder bought was Bob's.", "Ann Lee", "Bob", "Eve")
    )
    assert (ann["in passage"], bob["in passage"], eve["in passage"]) == (1, 1, 0)
    assert (ann["in question"], bob["in question"], eve["in question"]) == (0, 1, 0)
    assert (ann["frequency"], bob["frequency"], eve["frequency"]) == (2, 2, 0)
    assert (ann["first position"], bob["first position"], eve["first position"]) == (
        0,
        np.float32(10 / 17),
        1,
    )
    assert (bob["context: 2 left"], bob["context: 1 right"], bob["context: 2 left, 1 right"]) == (
        1,
        1,
        1,
    )
    assert (bob["context: 2 right"], ann["context: 1 left"], eve["context: 1 left"]) == (0, 0, 0)
    assert bob["distance: least"] < ann["distance: least"] < eve["distance: least"] == 20
    assert bob["aligned: least"] < ann["aligned: least"] < eve["aligned: least"] == 8
    # The query's content words are boat, bought and Bob; Ann's first sentence has one of them.
    assert ann["words in sentence"] == np.float32(1 / 3)
    assert bob["words in sentence"] == 1
    assert (ann["entity in sentence"], bob["entity in sentence"]) == (0, 0)


def test_another_candidate_of_the_query_in_the_sentence():
    ann, bob, eve = features_of(
        ask("Ann met Bob. Eve left.", "@placeholder knows Bob.", "Ann", "Bob", "Eve")
    )
    assert (ann["entity in sentence"], bob["entity in sentence"], eve["entity in sentence"]) == (
        1,
        0,
        0,
    )
    full_name, partial_name = features_of(
        ask("Bob Ray left.", "@placeholder, or Bob, left.", "Bob Ray", "Bob")
    )
    # they are one mention
    assert (full_name["entity in sentence"], partial_name["entity in sentence"]) == (0, 0)


@pytest.mark.parametrize(
    ("passage", "query"),
    [
        ("", "@placeholder left."),
        ("Ann left.", ""),
        ("Ann left.", "who left"),  # no placeholder
        ("Ann left.", "@placeholder"),
        ("Ann left.", "@placeholder and @placeholder left."),
    ],
)
def test_missing_parts(passage, query):
    question = ask(passage, query, "Ann", "Bob", "", "Ann")
    assert_equals_reference(entity_texts([question]))
    solver = FeatureRanker(C=0.1).fit(CLOZE)
    scores = solver.score_candidates([question])
    assert np.isfinite(scores.values).all()
    assert scores.values[0] == scores.values[3]
    assert scores.evidence.tolist() == [bool(passage), False, False, bool(passage)]
    explained = solver.explain(question)
    assert [candidate.score for candidate in explained.candidates] == scores.values.tolist()
    assert len(explained.candidates[0].marks) == len(explained.candidates[3].marks) == bool(passage)


def news(n: int, seed: int) -> Dataset:
    """Passages that say who sold what; the query asks who sold one of the things."""
    rng = np.random.default_rng(seed)
    questions = []
    for i in range(n):
        people, things = rng.permutation(PEOPLE)[:5].tolist(), rng.permutation(THINGS)[:5].tolist()
        sold = [
            f"Yesterday {person} sold the {thing}."
            for person, thing in zip(people, things, strict=True)
        ]
        text = " ".join([*sold, f"{people[0]} met {people[1]}.", f"{people[0]} was happy."])
        target = int(rng.integers(5))
        mentions = tuple(map(Candidate, [*people, people[0], people[1], people[0]]))
        query = f"The {things[target]} was sold by @placeholder."
        questions.append(
            Question(
                f"q{i}", Passage(f"p{i}", text), query, mentions, (people[target],), Task.CLOZE
            )
        )
    return Dataset(questions, f"news {seed}")


def same(scores, other_scores):
    return np.array_equal(scores.values, other_scores.values) and np.array_equal(
        scores.evidence, other_scores.evidence
    )


def test_it_learns_who_is_meant():
    solver = FeatureRanker().fit(news(60, 0))
    assert solver.score(news(40, 1)) > 0.95
    assert FeatureRanker(features="mentions").fit(news(60, 0)).score(news(40, 1)) < 0.6
    assert set(solver.signature_facts()) == {"C"}
    assert solver.caveats_ == ()


def test_a_run_with_folds_beats_the_most_frequent_entity():
    result = evaluate(news(30, 2), [ExclusiveFrequency(), FeatureRanker()], cv=5)
    frequency, ranker = (row.metrics()["em"] for row in result.rows)
    assert ranker > frequency + 0.5


def test_equal_mentions_are_one_candidate():
    dataset = list(news(30, 3))
    once = [
        replace(q, candidates=tuple(map(Candidate, dict.fromkeys(c.text for c in q.candidates))))
        for q in dataset
    ]
    with_copies, without_copies = FeatureRanker().fit(dataset), FeatureRanker().fit(once)
    assert np.array_equal(with_copies.ranker_.weights, without_copies.ranker_.weights)
    (copied_scores,), (distinct_scores,) = (
        with_copies.score_candidates(dataset[:1]),
        without_copies.score_candidates(once[:1]),
    )
    assert copied_scores[:5].tolist() == distinct_scores.tolist()
    assert copied_scores[5:].tolist() == [
        distinct_scores[0],
        distinct_scores[1],
        distinct_scores[0],
    ]


def test_several_gold_texts_and_gold_that_no_candidate_equals():
    dataset = list(news(30, 4))
    several_golds = [replace(q, gold=(*q.gold, q.candidates[0].text, "the THING")) for q in dataset]
    assert FeatureRanker(C=0.1).fit(several_golds).caveats_ == ()
    changed = [replace(q, gold=("nobody",)) if i < 3 else q for i, q in enumerate(dataset)]
    solver = FeatureRanker(C=0.1).fit(changed)
    (caveat,) = solver.caveats_
    assert caveat.startswith("3 of 30 training questions ")
    assert np.isfinite(solver.score_candidates(dataset).values).all()


def test_a_second_fit_changes_nothing():
    solver = FeatureRanker(C=0.1).fit(CLOZE)
    assert np.array_equal(FeatureRanker(C=0.1).fit(CLOZE).ranker_.weights, solver.ranker_.weights)


def test_the_same_fit_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        save_solver(FeatureRanker().fit(CLOZE), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "params", [{}, {"features": "contexts+sentences"}, {"inputs": "no-passage"}]
)
def test_a_loaded_solver_scores_and_explains_as_the_saved_one(params, tmp_path):
    solver = FeatureRanker(C=0.1, **params).fit(CLOZE)
    save_solver(solver, tmp_path / "ranker.npz")
    loaded = load_solver(tmp_path / "ranker.npz")
    assert same(loaded.score_candidates(CLOZE), solver.score_candidates(CLOZE))
    assert loaded.explain(CLOZE[4]).to_dict() == solver.explain(CLOZE[4]).to_dict()
    assert loaded.words_ is None


@pytest.mark.parametrize(
    "change", [{"table": "options"}, {"table": "verbs"}, {"words": []}, {"features": ["window 6"]}]
)
def test_a_state_that_does_not_match_is_refused(change):
    state, arrays = FeatureRanker(C=0.1).fit(CLOZE).fitted_state()
    with pytest.raises((KeyError, ValueError)):
        FeatureRanker(C=0.1).restore({**state, **change}, arrays)


def test_an_explanation_adds_up_exactly_group_by_group():
    dataset = news(30, 5)
    solver = FeatureRanker(C=0.1).fit(dataset)
    for question in [*dataset[:6], *CLOZE[:6]]:
        for candidate in solver.explain(question).candidates:
            assert reduce(add, candidate.numbers.values()) == candidate.score
            assert parts_sum_to_score(candidate)
            assert set(candidate.numbers) <= {"bias", *ENTITY_GROUPS}
    question = dataset[0]
    right = solver.explain(question).candidates[
        [c.text for c in question.candidates].index(question.gold[0])
    ]
    (mark,) = right.marks
    assert question.text.split()[1] in question.passage.text[mark.start : mark.end]


def test_hidden_inputs_are_not_read():
    other_passage = Passage("other", "Ann met Bob.")
    dataset = news(30, 6)
    no_passage = FeatureRanker(inputs="no-passage", C=0.1).fit(dataset)
    assert set(no_passage.ranker_.design.names) <= {"in question"}
    swapped = [replace(q, passage=other_passage) for q in dataset]
    assert same(no_passage.score_candidates(swapped), no_passage.score_candidates(dataset))
    assert not no_passage.score_candidates(dataset).evidence.any()
    candidates = FeatureRanker(inputs="candidates", C=0.1).fit(dataset)
    assert not candidates.score_candidates(dataset).values.any()


def test_groups_and_tasks_that_do_not_fit():
    with raises(UsageError, field="group of features"):
        FeatureRanker(features="windows").fit(CLOZE)
    with raises(UsageError, field="group of features"):
        FeatureRanker(features="mentions").fit(synthetic_dataset(Task.SINGLE_CHOICE, n_passages=12))
    choices = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=3)
    with raises(UsageError, field="task"):
        FeatureRanker(C=0.1).fit(CLOZE).score_candidates(choices)
    feature_names = (
        FeatureRanker(features="mentions+distance", C=0.1).fit(CLOZE).ranker_.design.names
    )
    assert set(feature_names) <= {*ENTITY_FEATURES["mentions"], *ENTITY_FEATURES["distance"]}
