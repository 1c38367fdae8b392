"""The features of cloze candidates against the plain-Python reference, and the ranker that
learns from them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

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
from classic_rc.solvers import ExclusiveFrequency, FeatureRanker, save_solver
from classic_rc.solvers.feature_ranker.entities import (
    ENTITY_FEATURES,
    ENTITY_TABLE,
    EntityTexts,
    entity_features,
    entity_texts,
    mention_sentences,
)
from tests.depth import examples
from tests.errors import raises
from tests.kernels.builders import flags_of, problems
from tests.solvers.feature_ranker.builders import (
    CLOZE,
    DEV,
    PEOPLE,
    THINGS,
    TRAIN,
    encode_problem,
    equal_scores,
    flat_integers,
    list_offsets,
)

NAMES = [feature.name for feature in ENTITY_TABLE]


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
    stop = draw(st.sets(st.integers(0, problem.n_words - 1), max_size=3))
    return problem, lengths, placeholders, stop


def texts_of_problem(problem, lengths, placeholders, stop):
    return EntityTexts(
        encode_problem(problem, "word", [f"w{i}" for i in range(problem.n_words)]),
        flags_of(problem.n_words, stop),
        offsets_of(flat_integers(lengths)),
        list_offsets(lengths),
        np.array(placeholders, dtype=np.int64),
    )


def plain_questions(texts):
    """The questions of the texts as the reference takes them."""
    arrays, sentence_bounds = texts.encoded.arrays, texts.sentence_offsets.tolist()

    def lists(tokens, bounds):
        return [tokens[a:b].tolist() for a, b in pairwise(bounds)]

    queries = lists(arrays.question_tokens, arrays.question_offsets.tolist())
    candidates = lists(arrays.candidate_tokens, arrays.candidate_offsets.tolist())
    for i, query in enumerate(queries):
        passage = int(arrays.question_passage[i])
        first, last = texts.passage_sentences[[passage, passage + 1]].tolist()
        sentences = lists(arrays.passage_tokens, sentence_bounds[first : last + 1])
        of_question = [candidates[c] for c in np.flatnonzero(arrays.candidate_question == i)]
        yield reference.ClozeQuestion(sentences, query, int(texts.placeholders[i]), of_question)


def assert_equals_reference(texts):
    features = entity_features(texts)
    stop = set(np.flatnonzero(texts.stop).tolist())
    rows = []
    for question in plain_questions(texts):
        for i in range(len(question.candidates)):
            expected = reference.entity_features(question, i, stop)
            assert set(expected) == set(NAMES)
            rows.append([np.float32(expected[name]) for name in NAMES])
    assert features.tolist() == rows


@settings(max_examples=examples(41, 250))
@given(problem=cloze_problems())
def test_features_of_random_texts_equal_the_reference(problem):
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
            nearest, sentence = np.inf, -1
            for mention in mentions:
                steps = [
                    reference.entities.nearest_steps(passage, word, mention, 20) for word in content
                ]
                if sum(steps) < nearest:
                    nearest, sentence = sum(steps), mention.sentence
            expected.append(sentence)
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
        steps = mention_distances(arrays, postings, *mentions, gaps, counted, max_distance)
    expected = []
    for (q, _), (passage, query, candidate) in zip(problem.candidates, problem.texts, strict=True):
        aligned = reference.cloze.alignments(
            passage, query, placeholders[q], candidate, max_distance=max_distance, ignored=stop
        )
        expected += [sum(word.steps for word in words) for _, words in aligned]
    assert steps.tolist() == expected


@settings(max_examples=examples(16, 100))
@given(problem=cloze_problems())
def test_no_phrase_of_a_query_spans_its_gap(problem):
    problem, _, placeholders, _ = problem
    counts = query_counts(problem.arrays, np.array(placeholders, dtype=np.int64)).tolist()
    rows = zip(counts, problem.candidates, problem.texts, strict=True)
    for count, (q, _), (_, query, candidate) in rows:
        before, after = query[: placeholders[q]], query[placeholders[q] :]
        n_before = reference.phrase_count(before, candidate)
        assert count == n_before + reference.phrase_count(after, candidate)


def test_features_of_real_questions_equal_the_reference(shared_data):
    assert_equals_reference(entity_texts(load(shared_data / "record/record_explorer_123.json")))


def test_features_of_synthetic_questions_equal_the_reference():
    assert_equals_reference(entity_texts(CLOZE))


def ask(passage, query, *names):
    candidates = tuple(map(Candidate, names))
    return Question("q", Passage("p", passage), query, candidates, None, Task.CLOZE)


def features_of(question):
    rows = entity_features(entity_texts([question])).tolist()
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def test_features_of_a_story_are_those_counted_by_hand():
    passage = (
        "Ann Lee sold her red boat. The red boat that Bob bought sank.\n@highlight\nAnn Lee's "
        "luck\n@highlight\nBob"
    )
    query = "The boat that @placeholder bought was Bob's."
    rows = features_of(ask(passage, query, "Ann Lee", "Bob", "Eve"))
    columns = {name: [row[name] for row in rows] for name in NAMES}
    assert columns["in passage"] == [1, 1, 0]
    assert columns["in question"] == [0, 1, 0]
    assert columns["frequency"] == [2, 2, 0]
    assert columns["first position"] == [0, np.float32(10 / 17), 1]
    assert columns["context: 1 left"] == columns["context: 2 left, 1 right"] == [0, 1, 0]
    assert columns["context: 2 right"] == [0, 0, 0]
    ann, bob, eve = columns["distance: least"]
    assert bob < ann < eve == 20
    ann, bob, eve = columns["aligned: least"]
    assert bob < ann < eve == 8
    # The query's content words are boat, bought and Bob; Ann's first sentence has one of them.
    assert columns["words in sentence"] == [np.float32(1 / 3), 1, 0]
    assert columns["entity in sentence"] == [0, 0, 0]


@pytest.mark.parametrize(
    ("passage", "query", "names", "expected"),
    [
        ("Ann met Bob. Eve left.", "@placeholder knows Bob.", ("Ann", "Bob", "Eve"), [1, 0, 0]),
        # the candidates are one mention
        ("Bob Ray left.", "@placeholder, or Bob, left.", ("Bob Ray", "Bob"), [0, 0]),
    ],
)
def test_a_sentence_can_have_another_candidate_of_the_query(passage, query, names, expected):
    rows = features_of(ask(passage, query, *names))
    assert [row["entity in sentence"] for row in rows] == expected


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
def test_questions_without_a_text_or_a_placeholder_are_scored(passage, query):
    question = ask(passage, query, "Ann", "Bob", "", "Ann")
    assert_equals_reference(entity_texts([question]))
    solver = FeatureRanker(C=0.1).fit(CLOZE)
    scores = solver.score_candidates([question])
    assert np.isfinite(scores.values).all()
    assert scores.values[0] == scores.values[3]
    assert scores.evidence.tolist() == [bool(passage), False, False, bool(passage)]
    explained = solver.explain(question)
    assert [candidate.score for candidate in explained.candidates] == scores.values.tolist()
    assert [len(explained.candidates[i].marks) for i in (0, 3)] == [bool(passage)] * 2


def news(n: int, seed: int) -> Dataset:
    """Passages that say who sold what; the query asks who sold one of the things."""
    rng = np.random.default_rng(seed)
    questions = []
    for i in range(n):
        people = rng.permutation(PEOPLE)[:5].tolist()
        things = rng.permutation(THINGS)[:5].tolist()
        sentences = [f"Yesterday {a} sold the {b}." for a, b in zip(people, things, strict=True)]
        first, second, *_ = people
        sentences += [f"{first} met {second}.", f"{first} was happy."]
        target = int(rng.integers(5))
        query = f"The {things[target]} was sold by @placeholder."
        question = ask(" ".join(sentences), query, *people, first, second, first)
        passage = replace(question.passage, id=f"p{i}")
        gold = (people[target],)
        questions.append(replace(question, id=f"q{i}", passage=passage, gold=gold))
    return Dataset(questions, f"news {seed}")


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
    without_copies = [replace(q, candidates=q.candidates[:5]) for q in dataset]
    solver, expected = FeatureRanker().fit(dataset), FeatureRanker().fit(without_copies)
    assert np.array_equal(solver.ranker_.weights, expected.ranker_.weights)
    (scores,) = solver.score_candidates(dataset[:1])
    (distinct_scores,) = expected.score_candidates(without_copies[:1])
    assert scores.tolist() == distinct_scores[[0, 1, 2, 3, 4, 0, 1, 0]].tolist()


def test_a_question_can_have_several_gold_texts():
    dataset = [replace(q, gold=(*q.gold, q.candidates[0].text, "the THING")) for q in news(30, 4)]
    assert FeatureRanker(C=0.1).fit(dataset).caveats_ == ()


def test_gold_that_no_candidate_equals_is_a_caveat():
    dataset = news(30, 4)
    unanswerable = [replace(question, gold=("nobody",)) for question in dataset[:3]]
    solver = FeatureRanker(C=0.1).fit([*unanswerable, *dataset[3:]])
    (caveat,) = solver.caveats_
    assert caveat.startswith("3 of 30 training questions ")
    assert np.isfinite(solver.score_candidates(dataset).values).all()


def test_the_same_fit_gives_the_same_file(tmp_path):
    for name in ("one", "two"):
        save_solver(FeatureRanker().fit(CLOZE), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "change", [{"table": "options"}, {"table": "verbs"}, {"words": []}, {"features": ["window 6"]}]
)
def test_a_state_that_does_not_match_is_refused(change):
    state, arrays = FeatureRanker(C=0.1).fit(CLOZE).fitted_state()
    with pytest.raises((KeyError, ValueError)):
        FeatureRanker(C=0.1).restore({**state, **change}, arrays)


def test_the_sentence_with_the_evidence_is_marked():
    dataset = news(30, 5)
    question = dataset[0]
    explanation = FeatureRanker(C=0.1).fit(dataset).explain(question)
    right = next(c for c in explanation.candidates if c.text == question.gold[0])
    (mark,) = right.marks
    assert question.text.split()[1] in question.passage.text[mark.start : mark.end]


def test_hidden_inputs_are_not_read():
    other_passage = Passage("other", "Ann met Bob.")
    dataset = news(30, 6)
    no_passage = FeatureRanker(inputs="no-passage", C=0.1).fit(dataset)
    assert set(no_passage.ranker_.design.names) <= {"in question"}
    swapped = [replace(q, passage=other_passage) for q in dataset]
    assert equal_scores(no_passage.score_candidates(swapped), no_passage.score_candidates(dataset))
    assert not no_passage.score_candidates(dataset).evidence.any()
    candidates = FeatureRanker(inputs="candidates", C=0.1).fit(dataset)
    assert not candidates.score_candidates(dataset).values.any()


@pytest.mark.parametrize(("features", "dataset"), [("windows", CLOZE), ("mentions", TRAIN)])
def test_groups_of_another_task_are_refused(features, dataset):
    with raises(UsageError, field="group of features"):
        FeatureRanker(features=features).fit(dataset)


def test_questions_of_another_task_are_refused():
    with raises(UsageError, field="task"):
        FeatureRanker(C=0.1).fit(CLOZE).score_candidates(DEV)


def test_only_the_features_of_some_groups_are_in_use():
    solver = FeatureRanker(features="mentions+distance", C=0.1).fit(CLOZE)
    names = {*ENTITY_FEATURES["mentions"], *ENTITY_FEATURES["distance"]}
    assert set(solver.ranker_.design.names) <= names
