"""The lexical matcher on invented stories: components, annotation, coreference, negation,
weights.
"""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from classic_rc.decisions import Argmax
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels import reference
from classic_rc.kernels.reference import lexical as reference_lexical
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.reports.explanations import explanation_text
from classic_rc.solvers import LexicalMatcher, load_solver, parse_solver, save_solver
from classic_rc.solvers.lexical.components import BUGS, COMPONENTS, learn_weights
from classic_rc.solvers.lexical.texts import is_negated, raw_tokens
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.analyzers import get_analyzer, stemmer
from classic_rc.text.annotated import AnnotatedQuestion, AnnotatedText, Chain
from classic_rc.text.annotations import Annotations
from classic_rc.text.sentences import passage_sentences
from tests.depth import thinned
from tests.errors import raises
from tests.reports.formulas import assert_formulas_add_up

STORY = Passage(
    "s",
    "Mary had a red bike. She rode it to the big lake. Tom swam there with the dogs. They barked "
    "and splashed until Tom left the water. Then the girl gave Tom a towel, and everybody rode "
    "home before supper time.",
)


def question(id, text, *candidates, gold=0, passage=STORY):
    choices = tuple(map(Candidate, candidates))
    return Question(id, passage, text, choices, frozenset({gold}), Task.SINGLE_CHOICE)


def scores_of(question, **params):
    return LexicalMatcher(**params).score_candidates([question]).values.tolist()


WHO = question("s,0", "Who rode to the lake?", "Mary", "Tom", "a dog", "Ann")
NEGATED = question(
    "s,1", "What did Tom not do at the lake?", "swam", "leave the water", "take a towel", "fish"
)
WHAT = question("s,2", "What did the girl give Tom?", "A bike!", "towels", "supper", "", gold=1)
QUESTIONS = Dataset([WHO, NEGATED, WHAT], "stories")


def annotated(passage, chains=None, tokenizer="treebank"):
    """A passage with the package's own tokens, stems and sentences."""
    tokens, starts = [], []
    for start, end in passage_sentences(passage):
        starts.append(len(tokens))
        tokens += get_analyzer(f"{tokenizer}+cased").analyze(passage.text[start:end])
    stems = tuple(map(stemmer("porter"), (token.lower() for token in tokens)))
    return AnnotatedText(tuple(tokens), stems, sentences=tuple(starts), chains=chains)


def annotate(questions, path, chains=(), **facts):
    """Write the package's own analysis of the questions as an annotation."""
    passages = {q.passage.id: annotated(q.passage, chains) for q in questions}
    annotations = {}
    for q in questions:
        text, *candidates = [
            annotated(Passage("", text)) for text in (q.text, *(c.text for c in q.candidates))
        ]
        question_facts = facts.get(q.id, {"negated": is_negated(q.query)})
        annotations[q.id] = AnnotatedQuestion(text, tuple(candidates), **question_facts)
    Annotations(passages, annotations).save(path)
    return str(path)


# The components, against formulas in plain Python.


def expected_components(solver, q):
    """The four components from the reference functions."""
    tokens = raw_tokens(q.passage, solver.analyzer, solver.normaliser, solver.stop_words)
    stem, analyze = stemmer(solver.normaliser), get_analyzer(solver.analyzer).analyze
    words, stems = [t.word for t in tokens], [t.stem for t in tokens]
    sentence_of = [t.sentence for t in tokens]
    stops = {t.word for t in tokens if t.stop}

    def content_weights(texts):
        weights = reference_lexical.smoothed_weights(texts)
        return [0 if t.stop else weight for t, weight in zip(tokens, weights, strict=True)]

    word_weights, stem_weights = content_weights(words), content_weights(stems)
    query = analyze(q.text)
    for candidate in q.candidates:
        answer = analyze(candidate.text)
        views = list(map(stem, query)), list(map(stem, answer))
        window = reference_lexical.window_sum(stems, *views)
        distance = reference.word_distance(words, query, answer, stops)
        bag = reference_lexical.bag_of_words(words, query, answer, word_weights)
        best = reference_lexical.best_sentences(stems, *views, stem_weights, sentence_of)
        yield window / 2**26, -distance, bag / 2**26, best / 2**26


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
@pytest.mark.parametrize("normaliser", ["none", "porter"])
def test_scores_are_the_weighted_sums_of_the_reference(task, normaliser):
    solver = LexicalMatcher(normaliser=normaliser, negation=False, weights="1/2/3/4")
    dataset = synthetic_dataset(task, n_passages=12, seed=3)
    for q, scores in zip(dataset, solver.score_candidates(dataset), strict=True):
        expected = [np.dot((1, 2, 3, 4), row) for row in expected_components(solver, q)]
        assert scores.tolist() == pytest.approx(expected, abs=1e-12)


def test_the_components_of_one_word_are_those_computed_by_hand():
    q = question("s,3", "", "bike")
    row = LexicalMatcher().components([q]).scores[0]
    weight = log(1 + 1 / 2)
    assert row.tolist() == pytest.approx([28 * weight, -1, weight, weight], abs=1e-6)


@pytest.mark.parametrize(
    ("text", "bugs", "expected"),
    [
        ("word " * 40 + "end", "none", 28 * log(1.5)),
        ("word " * 40 + "end", "last-window", 0),
        ("one end", "last-window", log(1.5)),
    ],
)
def test_a_window_at_the_end_counts_without_the_bug(text, bugs, expected):
    q = question("e,0", "", "end", passage=Passage("e", text))
    assert scores_of(q, weights="1/0/0/0", bugs=bugs) == pytest.approx([expected])


FOX = "The fox ran. The hen slept. The owl flew."
BIRDS = "The fox ran. The hen slept far off. Owl, rat, cat, bat, gnat, hawk, dove flew."


@pytest.mark.parametrize(
    ("text", "bugs", "candidate", "n_words"),
    [
        # Without stop words: fox ran | hen slept | owl flew; the borders 0, 4, 8 of all tokens
        # fall after "slept" and beyond.
        (FOX, "none", "ran slept flew", 2),
        (FOX, "sentence-borders", "ran slept flew", 3),
        (FOX, "none", "fox flew", 2),
        (FOX, "sentence-borders", "fox flew", 2),
        (BIRDS, "sentence-borders", "flew", 0),
    ],
)
def test_borders_are_shifted_with_the_bug(text, bugs, candidate, n_words):
    q = question("b,0", "", candidate, passage=Passage("b", text))
    params = {"analyzer": "treebank", "weights": "0/0/0/1", "normaliser": "none"}
    assert scores_of(q, **params, bugs=bugs) == pytest.approx([n_words * log(1.5)], abs=1e-6)


@pytest.mark.parametrize(
    ("bugs", "expected"),
    [
        # Without stop words: fox ran fox bit hen. From fox 4 + 1 and 2 + 1, of 5 - 1 steps.
        ("distance", [-(5 + 3) / (2 * 4), -(1 + 1) / (2 * 4)]),
        ("none", [-3 / 7, -1]),
    ],
)
def test_the_bug_measures_the_distance_of_occurrences(bugs, expected):
    passage = Passage("d", "The fox ran. The fox bit a hen.")
    q = question("d,0", "the fox?", "a hen", "the fox", passage=passage)
    params = {"weights": "0/1/0/0", "stop_words": "mctest", "normaliser": "none"}
    assert scores_of(q, **params, bugs=bugs) == expected


# Negation.


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Who didn't go?", True),
        ("Who did NOT go?", True),
        ("Who never left?", True),
        ("Who tied a knot?", False),
    ],
)
def test_a_question_is_negated_by_its_words(text, negated):
    assert is_negated(text) is negated


def test_a_negated_question_prefers_the_one_candidate_without_a_word():
    assert scores_of(NEGATED, weights="1/10/2/3") == [0, 0, 0, 16]
    assert np.argmax(scores_of(NEGATED, weights="1/10/2/3", negation=False)) != 3


def test_two_candidates_without_a_word_are_not_preferred():
    two = replace(NEGATED, candidates=(*NEGATED.candidates, Candidate("sing")))
    assert np.argmax(scores_of(two)) != 3


def test_each_component_decides_by_what_it_reads():
    q = question("s,4", "What is not there?", "the", "Tom")
    components = LexicalMatcher().components([q])
    # The windows read stop words and find "the"; the others do not.
    assert components.ruled.tolist() == [[False, True, True, True]] * 2


# Annotation.


@pytest.mark.parametrize("bugs", ["none", *BUGS, "all"])
@pytest.mark.parametrize("task", thinned([Task.SINGLE_CHOICE, Task.CLOZE], 2))
def test_annotation_by_the_package_s_own_analysis_changes_nothing(tmp_path, task, bugs):
    questions = []
    for q in synthetic_dataset(task, n_passages=10, seed=5):
        # In raw text, equal candidates are counted once, which would change the rule for negation.
        distinct = {candidate.text: candidate for candidate in q.candidates}
        questions.append(replace(q, candidates=tuple(distinct.values()), gold=None))
    path = annotate(questions, tmp_path / "a.json.gz")
    raw = LexicalMatcher(analyzer="treebank", bugs=bugs).score_candidates(questions)
    annotated_matcher = LexicalMatcher(normaliser="lemma", annotations=path, bugs=bugs)
    scores = annotated_matcher.score_candidates(questions)
    assert scores.values.tolist() == raw.values.tolist()


CHAINS = (
    Chain(((0, 1), (6, 7)), representative=0),  # Mary, She
    Chain(((2, 5), (8, 9)), representative=0),  # a red bike, it
    Chain(((15, 16),), words=("Tom",)),
)


@pytest.fixture
def with_chains(tmp_path) -> str:
    """The path of an annotation of the questions with coreference."""
    return annotate(QUESTIONS, tmp_path / "a.json", CHAINS)


def test_mentions_are_replaced_by_what_they_refer_to(with_chains):
    solver = LexicalMatcher(normaliser="none", annotations=with_chains, coreference="all")
    tokens = solver.annotated_reader().tokens(WHO, linked=True)
    words = [t.word for t in tokens]
    assert words[:14] == "mary had a red bike mary rode red bike to the big lake tom".split()
    assert [t.word for t in tokens if t.given] == ["mary", "red", "bike", "tom"]
    assert [t.sentence for t in tokens][4:7] == [0, 1, 1]


def test_a_mention_of_several_words_is_replaced_once(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json", (Chain(((2, 5),), words=("car",)),))
    solver = LexicalMatcher(normaliser="none", annotations=path, coreference="all")
    words = [token.word for token in solver.annotated_reader().tokens(WHO, linked=True)]
    assert words[:4] == "mary had car she".split()


def test_bag_and_sentences_add_the_passage_with_mentions_replaced(with_chains):
    solver = LexicalMatcher(normaliser="none", annotations=with_chains, coreference="all")
    linked = solver.components(QUESTIONS).scores
    plain = solver.set_params(coreference="none").components(QUESTIONS).scores
    mary = log(1 + 1 / 3)  # it occurs twice now
    rode, lake = log(1 + 1 / 3), log(1 + 1 / 2)
    in_bag = 2 * mary + 2 * rode + lake
    # "Mary rode" is a sentence only once "She" is Mary.
    in_sentences = 2 * mary + rode + lake
    assert (linked - plain)[0].tolist() == pytest.approx([0, 0, in_bag, in_sentences], abs=1e-6)
    assert linked[:, :2].tolist() == plain[:, :2].tolist()


@pytest.mark.parametrize("coreference", ["none", "all"])
@pytest.mark.parametrize("bugs", ["none", "all"])
def test_formulas_have_replaced_mentions_and_released_mistakes(with_chains, coreference, bugs):
    solver = LexicalMatcher(
        normaliser="none", annotations=with_chains, coreference=coreference, bugs=bugs
    ).fit(QUESTIONS)
    explanations = [solver.explain(question) for question in QUESTIONS]
    for explanation in explanations:
        assert_formulas_add_up(explanation)
    text = explanation_text(explanations[0], every=True)
    assert ("with mentions replaced = " in text) is (coreference == "all")
    assert ("of the content words, and one step" in text) is (bugs == "all")


@pytest.mark.parametrize(
    ("bugs", "expected", "is_equal"),
    [
        ("none", "none", [False, True, True]),
        ("none", "all", [True, False, False]),
        ("no-category", "all", [True, False, True]),
    ],
)
def test_rules_go_by_categories(tmp_path, bugs, expected, is_equal):
    facts = {
        "s,0": {"negated": False, "categories": frozenset({"who"})},
        "s,1": {"negated": False, "categories": frozenset({"what", "neg"})},
        "s,2": {"negated": False},
    }
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS, **facts)
    solver = LexicalMatcher(annotations=path, negation=False, coreference="rules", bugs=bugs)
    unruled = LexicalMatcher(annotations=path, negation=False, coreference=expected)
    assert equal_questions(solver, unruled) == is_equal


def equal_questions(solver, expected):
    """For which questions two solvers have equal scores."""
    rows = zip(*(s.score_candidates(QUESTIONS) for s in (solver, expected)), strict=True)
    return [np.array_equal(scores, expected_scores) for scores, expected_scores in rows]


def test_categories_of_a_folder_are_added(tmp_path, with_chains):
    folder = tmp_path / "dev"
    folder.mkdir()
    (folder / "who.txt").write_text("s,0\n", encoding="utf-8")
    params = {"annotations": with_chains, "negation": False}
    solver = LexicalMatcher(**params, categories=str(folder), coreference="rules").fit(QUESTIONS)
    everywhere = LexicalMatcher(**params, coreference="all")
    assert equal_questions(solver, everywhere) == [True, False, False]
    assert solver.signature_facts()["categories"].startswith("dev@")


def test_the_bug_compares_replacing_words_by_their_forms(tmp_path):
    # "dogs" replaces "They", and the question has "dog": their stems are equal, their forms are
    # not.
    chains = (Chain(((15, 16), (22, 23)), words=("dogs",)),)
    path = annotate(QUESTIONS, tmp_path / "a.json", chains)
    params = {
        "annotations": path,
        "normaliser": "lemma",
        "coreference": "all",
        "weights": "0/0/0/1",
    }
    by_stem, by_form = scores_of(WHO, **params), scores_of(WHO, **params, bugs="coreference-forms")
    assert by_stem[2] > by_form[2]


@pytest.mark.parametrize("variant", ["smith2015", "smith2015-mc500"])
@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.CLOZE])
def test_annotated_variants_keep_the_promises_of_solvers(tmp_path, task, variant):
    dataset = synthetic_dataset(task)
    path = annotate(dataset, tmp_path / "a.json.gz")
    (tmp_path / "who.txt").write_text("\n".join(q.id for q in dataset[::2]), encoding="utf-8")
    solver = LexicalMatcher.variant(variant, annotations=path, categories=str(tmp_path))
    # Candidates are annotated in their order, so they cannot be permuted.
    solver = solver.fit(dataset)
    with raises(
        DataError, source=str(tmp_path / "a.json.gz"), where=re.compile("question")
    ) as caught:
        solver.score_candidates([replace(q, candidates=tuple(q.candidates)[::-1]) for q in dataset])
    assert "candidate" in str(caught.value)
    check_solver(solver, tasks=[task], position_matters=True)


@pytest.mark.parametrize(
    ("field", "params"), [("lemmas", {"normaliser": "lemma"}), ("chains", {"coreference": "all"})]
)
def test_a_field_that_is_missing_in_the_annotation_is_named(with_chains, field, params):
    delete_field(with_chains, field)
    with raises(DataError, source=with_chains, where="question s,0", field=field):
        LexicalMatcher(annotations=with_chains, **params).score_candidates(QUESTIONS)


def delete_field(path, field):
    file = json.loads(Path(path).read_text(encoding="utf-8"))
    del file["passages"]["s"][field]
    Path(path).write_text(json.dumps(file), encoding="utf-8")


def test_sentences_that_are_not_annotated_are_found(with_chains):
    with_sentences = LexicalMatcher(annotations=with_chains).fit(QUESTIONS)
    expected = with_sentences.score_candidates(QUESTIONS).values
    assert "sentences" in with_sentences.signature_facts()["annotated"]
    delete_field(with_chains, "sentences")
    solver = LexicalMatcher(annotations=with_chains).fit(QUESTIONS)
    assert solver.score_candidates(QUESTIONS).values.tolist() == expected.tolist()
    assert solver.signature_facts()["approximated"] == "sentences by rules + lemmas by porter"
    assert solver.caveats(QUESTIONS) == (
        "not annotated but approximated: sentences by rules, lemmas by porter",
    )


# Weights.


@pytest.fixture(scope="module")
def best_sentences() -> Dataset:
    """Questions whose right candidate has the best sentences."""
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=30, seed=2)
    scores = LexicalMatcher(weights="0/0/0/1").score_candidates(dataset)
    right = [frozenset({int(values.argmax())}) for values in scores]
    return Dataset([replace(q, gold=gold) for q, gold in zip(dataset, right, strict=True)])


def test_learned_weights_rank_the_training_data(best_sentences):
    solver = LexicalMatcher(weights="learned", C=1000.0)
    assert solver.learns_from == "gold"
    assert solver.fit(best_sentences).score(best_sentences) > LexicalMatcher().score(best_sentences)
    assert solver.weights_.argmax() == 3


def test_learned_weights_need_a_fit():
    with raises(NotFittedError, field="weights", found="'learned'") as caught:
        LexicalMatcher(weights="learned").score_candidates(QUESTIONS)
    assert "--train DATA" in str(caught.value)


def test_copies_have_the_learned_weights(best_sentences, tmp_path):
    solver = LexicalMatcher(weights="learned").fit(best_sentences)
    scores = solver.score_candidates(best_sentences).values.tolist()
    save_solver(solver, tmp_path / "s.npz")
    for copy in (load_solver(tmp_path / "s.npz"), pickle.loads(pickle.dumps(solver))):
        assert copy.score_candidates(best_sentences).values.tolist() == scores


def test_learned_weights_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    scores, offsets = rng.normal(size=(40, 4)), np.arange(0, 41, 4)
    right = (np.arange(40) % 4 == rng.integers(0, 4)).astype(np.int64)
    weights = learn_weights(scores, offsets, right, 1.0)
    scaled = learn_weights(scores * (1, 10, 100, 0.1), offsets, right, 1.0)
    assert scaled * (1, 10, 100, 0.1) == pytest.approx(weights, rel=1e-6)


def test_candidates_that_differ_in_no_component_teach_nothing():
    equal_candidates = question("s,0", "", "Ann", "Bob")
    single_candidates = [
        question("s,0", "", "Mary"),
        replace(question("s,1", "", "Tom"), gold=frozenset()),
    ]
    for questions in ([equal_candidates], single_candidates):
        with raises(DataError, found=re.compile("differ in a component")):
            LexicalMatcher(weights="learned").fit(questions)


def test_questions_without_gold_teach_nothing():
    with raises(DataError, found="3 of 3 questions without gold"):
        LexicalMatcher(weights="learned").fit([replace(q, gold=None) for q in QUESTIONS])


def test_only_learned_weights_can_be_saved(tmp_path):
    with raises(UsageError, found="lexical", expected="a solver that learns"):
        save_solver(LexicalMatcher().fit(QUESTIONS), tmp_path / "s.npz")


# Parameters, names and explanations.


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"bugs": "first-window"}, "bug of lexical"),
        ({"weights": "1/2"}, "weights"),
        ({"weights": "mc999"}, "weights"),
        ({"normaliser": "lemma"}, "normaliser"),
        ({"coreference": "all"}, "coreference"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(params, field):
    with raises(UsageError, field=field):
        LexicalMatcher(**params).fit(QUESTIONS)


def test_rules_without_categories_are_refused(with_chains):
    with raises(UsageError, field="coreference", found="'rules'", expected="categories=FOLDER"):
        LexicalMatcher(annotations=with_chains, coreference="rules").fit(QUESTIONS)


def test_variants_keep_their_names_whatever_file_they_read(with_chains):
    solver = parse_solver(f"lexical:smith2015,annotations={with_chains},categories=x")
    assert solver.variant_name() == "smith2015"
    assert solver.set_params(weights="mc500").variant_name() == "smith2015-mc500"
    assert solver.set_params(bugs="none").variant_name() is None
    assert parse_solver("lexical:smith2015-raw").variant_name() == "smith2015-raw"
    assert isinstance(solver.decision, Argmax)


def test_raw_text_has_no_caveat():
    assert LexicalMatcher().caveats(QUESTIONS) == ()


def test_the_signature_says_what_is_annotated(with_chains):
    facts = LexicalMatcher(annotations=with_chains).fit(QUESTIONS).signature_facts()
    assert facts["annotations"].startswith("a.json@")
    assert facts["annotated"] == "tokens + sentences + negation"
    assert facts["approximated"] == "lemmas by porter"


def test_the_numbers_of_an_explanation_add_up(with_chains):
    for solver in (
        LexicalMatcher(),
        LexicalMatcher(annotations=with_chains, coreference="all", bugs="all"),
    ):
        for q in QUESTIONS:
            for candidate in solver.explain(q).candidates:
                assert sum(candidate.numbers.values()) == pytest.approx(candidate.score)


def test_an_explanation_marks_the_window_and_quotes_the_best_sentences():
    mary = LexicalMatcher().explain(WHO).candidates[0]
    assert list(mary.numbers) == list(COMPONENTS)
    assert mary.quote == "Mary had a red bike / She rode it to the big lake"
    window, *words = mary.marks
    assert window.kind == "window"
    assert window.weight == pytest.approx(sum(mark.weight for mark in words))
    kinds = {STORY.text[mark.start : mark.end]: mark.kind for mark in words}
    assert kinds["Mary"] == "candidate"
    assert kinds["lake"] == "question"


@pytest.mark.parametrize("bugs", ["none", "all"])
def test_short_passages_and_unmatched_candidates_have_formulas(bugs):
    q = question("e,0", "", "end", "cat", passage=Passage("e", "One end."))
    explanation = LexicalMatcher(analyzer="treebank", bugs=bugs).explain(q)
    assert_formulas_add_up(explanation)
    text = explanation_text(explanation, every=True)
    assert ("a short passage is one window" in text) is (bugs == "all")
    assert not explanation.candidates[1].marks


def test_an_explanation_says_where_the_rule_for_negated_questions_decides():
    assert LexicalMatcher().explain(NEGATED).candidates[3].numbers["window (negation)"] == 1
