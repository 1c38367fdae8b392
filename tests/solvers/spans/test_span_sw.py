"""Overlap and sliding window over spans, against their definition in plain Python."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.kernels import SCALE, reference
from classic_rc.kernels.reference.spans import span_overlap
from classic_rc.questions import Candidate, Passage, Question, Task
from classic_rc.running.plan import add_span_candidates
from classic_rc.solvers import SpanSlidingWindow
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.analyzers import get_analyzer, stop_words
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.spans import SpanGenerator
from tests.depth import thinned
from tests.solvers.builders import formulas_give_the_scores, marked


def expected(
    question: Question, candidate: Candidate, solver: SpanSlidingWindow
) -> tuple[float, bool]:
    """Return the score of one span, and whether there is evidence, from the formulas."""
    assert candidate.start is not None
    assert candidate.end is not None
    analyzer = get_analyzer(solver.analyzer)
    located = analyzer.locate(question.passage.text)
    sentences = passage_sentences(question.passage)
    begin, end = next(s for s in sentences if s[0] <= candidate.start < s[1])
    before: list[str] = []
    words: list[str] = []
    after: list[str] = []
    for token, start, stop in located:
        if candidate.start < stop and start < candidate.end:
            words.append(token)
        elif begin <= start < end:
            (before if stop <= candidate.start else after).append(token)
    sentence = [*before, *words, *after]
    question_words = analyzer.analyze(question.text)
    context = sentence if solver.context == "sentence" else [token for token, _, _ in located]
    overlap = span_overlap(sentence, question_words, len(before), len(before) + len(words))
    score = reference.sliding_window(context, question_words, words) / SCALE
    unit = len(located) + 1.0
    if solver.distance is not None:
        stops = stop_words(solver.stop_words)
        distance = reference.word_distance(context, question_words, words, stops, solver.distance)
        score -= solver.distance_weight * distance
        unit += solver.distance_weight
    return overlap * unit + score, overlap > 0


def spans_of(task: Task = Task.MULTI_SPAN, seed: int = 0) -> list[Question]:
    generator = SpanGenerator(max_tokens=4)
    return [replace(q, candidates=generator(q.passage)) for q in synthetic_dataset(task, seed=seed)]


def make_question(text: str, passage: str, *candidates: str) -> Question:
    places = []
    for candidate in candidates:
        start = passage.index(candidate)
        places.append(Candidate(candidate, start, start + len(candidate)))
    return Question("q", Passage("p", passage), text, tuple(places), ("x",), Task.SPAN)


@pytest.mark.parametrize("context", ["sentence", "passage"])
@pytest.mark.parametrize("distance", [None, "min", "mean"])
@pytest.mark.parametrize("analyzer", thinned(["word", "whitespace"], 2))
def test_scores_equal_the_definition(context, distance, analyzer):
    solver = SpanSlidingWindow(
        analyzer=analyzer,
        context=context,
        distance=distance,
        distance_weight=2.5,
        stop_words="nltk",
    )
    questions = spans_of()
    scores = solver.score_candidates(questions)
    values = [expected(q, c, solver) for q in questions for c in q.candidates]
    assert scores.values.tolist() == pytest.approx([value for value, _ in values], rel=1e-14)
    assert scores.evidence.tolist() == [evidence for _, evidence in values]


def test_overlap_comes_before_any_window():
    question = make_question(
        "red fox", "A red hen saw long grey geese there. A goose ran.", "hen", "goose"
    )
    hen, goose = SpanSlidingWindow().score_candidates([question])[0]
    assert hen > goose
    more = make_question(
        "red", "Red hen. Long grey geese saw seven small brown owls.", "hen", "Long grey geese"
    )
    few_scores, many_scores = SpanSlidingWindow(
        context="passage", distance="min", distance_weight=50.0
    ).score_candidates([more])[0]
    assert few_scores > many_scores


def test_windows_choose_among_equal_overlaps():
    hen, ran = SpanSlidingWindow().score_candidates(
        [make_question("fox", "The fox saw a hen run.", "hen", "hen run")]
    )[0]
    assert ran - hen == pytest.approx(math.log(2), abs=1e-7)


def test_question_words_inside_the_span_do_not_count():
    inside, outside = SpanSlidingWindow().score_candidates(
        [make_question("fox", "Fox hid. Fox ran.", "Fox", "ran")]
    )[0]
    assert inside < outside
    scores = SpanSlidingWindow().score_candidates([make_question("fox", "Fox hid.", "Fox", "hid")])
    assert scores.evidence.tolist() == [False, True]


def test_variants_set_the_context_and_the_distance():
    plain, distance = (
        SpanSlidingWindow.variant(name) for name in ("squad2016", "squad2016-distance")
    )
    assert (plain.context, plain.distance) == ("sentence", None)
    assert (distance.context, distance.distance, distance.distance_weight) == (
        "sentence",
        "min",
        1.0,
    )
    assert SpanSlidingWindow().variant_name() == "squad2016"


@pytest.mark.parametrize(
    "parameters",
    [{"context": "passage", "distance": "first"}, {"analyzer": "word+porter+stop=smart"}],
)
def test_it_keeps_the_solver_contract_with_other_parameters(parameters):
    check_solver(SpanSlidingWindow(**parameters))


def test_explanations_show_the_terms_and_mark_matches():
    question = make_question(
        "Who saw the red hen?", "The fox saw the hen. An owl slept.", "fox", "owl"
    )
    explanation = SpanSlidingWindow(distance="min").explain(question)
    assert formulas_give_the_scores(explanation)
    fox, owl = explanation.candidates
    assert fox.numbers["overlap"] == 4  # the, saw, hen, saw the
    assert owl.numbers["overlap"] == 0
    assert marked(question.passage.text, fox.marks) == [
        ("The", "question"),
        ("fox", "candidate"),
        ("saw", "question"),
        ("the", "question"),
        ("hen", "question"),
    ]
    n_words, weight = 8, 1.0
    terms = fox.numbers
    overlap = terms["overlap"] * (n_words + weight + 1)
    assert fox.score == overlap + terms["sliding_window"] - terms["distance"]


def test_a_question_without_spans_can_be_scored_and_explained():
    question = Question("q", Passage("p", ""), "Who?", (), ("x",), Task.SPAN)
    assert len(SpanSlidingWindow().score_candidates([question]).values) == 0
    assert SpanSlidingWindow().explain(question).candidates == ()


def test_scores_of_quoref_equal_the_definition(shared_data):
    dataset = add_span_candidates(
        load(shared_data / "quoref" / "quoref-dev-v0.1.json")[:6], SpanGenerator(max_tokens=3)
    )
    solver = SpanSlidingWindow.variant("squad2016-distance")
    questions = [replace(q, candidates=q.candidates.generate()) for q in dataset]
    scores = solver.score_candidates(questions)
    pairs = [(q, c) for q in questions for c in q.candidates]
    sample = np.linspace(0, len(pairs) - 1, 150).astype(int).tolist()
    defined = [expected(*pairs[i], solver)[0] for i in sample]
    assert scores.values[sample] == pytest.approx(defined, rel=1e-14)


@pytest.mark.slow
def test_the_metrics_of_quoref_dev_are_those_of_the_docs(shared_data):
    dataset = load(shared_data / "quoref" / "quoref-dev-v0.1.json")
    solvers = [SpanSlidingWindow.variant(name) for name in ("squad2016", "squad2016-distance")]
    plain, distance = (row.metrics() for row in evaluate(dataset, solvers).rows)
    assert plain == pytest.approx({"quoref_em": 0.0026, "quoref_f1": 0.0443}, abs=5e-5)
    assert distance == pytest.approx({"quoref_em": 0.0025, "quoref_f1": 0.0437}, abs=5e-5)
