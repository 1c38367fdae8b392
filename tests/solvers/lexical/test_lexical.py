"""The lexical matcher on invented stories: components, annotation, coreference, negation,
weights.
"""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from math import log

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


def question(id, text, *candidates, gold=0):
    return Question(
        id,
        STORY,
        text,
        tuple(map(Candidate, candidates)),
        frozenset({gold}),
        Task.SINGLE_CHOICE,
        meta={},
    )


QUESTIONS = Dataset(
    [
        question("s,0", "Who rode to the lake?", "Mary", "Tom", "a dog", "Ann"),
        question(
            "s,1",
            "What did Tom not do at the lake?",
            "swam",
            "leave the water",
            "take a towel",
            "fish",
        ),
        question("s,2", "What did the girl give Tom?", "A bike!", "towels", "supper", "", gold=1),
    ],
    "stories",
)


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
    annotations = {
        q.id: AnnotatedQuestion(
            annotated(Passage("", q.text)),
            tuple(annotated(Passage("", c.text)) for c in q.candidates),
            **facts.get(q.id, {"negated": is_negated(q.query)}),
        )
        for q in questions
    }
    Annotations(passages, annotations).save(path)
    return str(path)


# The components, against formulas in plain Python.


def expected_components(solver, q):
    """The four components from the reference functions."""
    tokens = raw_tokens(q.passage, solver.analyzer, solver.normaliser, solver.stop_words)
    stem = stemmer(solver.normaliser)
    words, stems = [t.word for t in tokens], [t.stem for t in tokens]
    stops = {t.word for t in tokens if t.stop}
    query, *answers = (
        get_analyzer(solver.analyzer).analyze(text)
        for text in (q.text, *(c.text for c in q.candidates))
    )
    unit = 2**26
    for answer in answers:
        views = [stem(w) for w in query], [stem(w) for w in answer]
        kept = [
            0 if t.stop else w
            for t, w in zip(tokens, reference_lexical.smoothed_weights(words), strict=True)
        ]
        kept_stems = [
            0 if t.stop else w
            for t, w in zip(tokens, reference_lexical.smoothed_weights(stems), strict=True)
        ]
        yield (
            reference_lexical.window_sum(stems, *views) / unit,
            -reference.word_distance(words, query, answer, stops),
            reference_lexical.bag_of_words(words, query, answer, kept) / unit,
            reference_lexical.best_sentences(
                stems, *views, kept_stems, [t.sentence for t in tokens]
            )
            / unit,
        )


@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER])
@pytest.mark.parametrize("normaliser", ["none", "porter"])
def test_scores_are_the_weighted_sums_of_the_reference(task, normaliser):
    solver = LexicalMatcher(normaliser=normaliser, negation=False, weights="1/2/3/4")
    dataset = synthetic_dataset(task, n_passages=12, seed=3)
    for q, scores in zip(dataset, solver.score_candidates(dataset), strict=True):
        expected = [np.dot((1, 2, 3, 4), row) for row in expected_components(solver, q)]
        assert scores.tolist() == pytest.approx(expected, abs=1e-12)


def test_one_word_by_hand():
    q = question("s,3", "", "bike")
    row = LexicalMatcher().components([q]).scores[0]
    weight = log(1 + 1 / 2)
    assert row.tolist() == pytest.approx([28 * weight, -1, weight, weight], abs=1e-6)


def test_a_window_at_the_end_counts_without_the_bug():
    passage = Passage("e", "word " * 40 + "end")
    q = replace(question("e,0", "", "end"), passage=passage)
    assert LexicalMatcher(weights="1/0/0/0").score_candidates([q]).values[0] == pytest.approx(
        28 * log(1.5)
    )
    assert LexicalMatcher(weights="1/0/0/0", bugs="last-window").score_candidates(
        [q]
    ).values.tolist() == [0]
    short = replace(q, passage=Passage("e", "one end"))
    assert LexicalMatcher(weights="1/0/0/0", bugs="last-window").score_candidates([short]).values[
        0
    ] == pytest.approx(log(1.5))


def test_borders_are_shifted_with_the_bug():
    # Kept are fox ran | hen slept | owl flew; the borders 0, 4, 8 of all tokens fall after "slept"
    # and beyond.
    passage = Passage("b", "The fox ran. The hen slept. The owl flew.")
    q = replace(question("b,0", "", "ran slept flew", "fox flew"), passage=passage)
    solver = LexicalMatcher(analyzer="treebank", weights="0/0/0/1", normaliser="none")
    assert solver.score_candidates([q]).values == pytest.approx(
        [2 * log(1.5), 2 * log(1.5)], abs=1e-6
    )
    solver.set_params(bugs="sentence-borders")
    assert solver.score_candidates([q]).values == pytest.approx(
        [3 * log(1.5), 2 * log(1.5)], abs=1e-6
    )
    tail = replace(
        passage,
        text="The fox ran. The hen slept far off. Owl, rat, cat, bat, gnat, hawk, dove flew.",
    )
    q = replace(q, passage=tail, candidates=(Candidate("flew"),))
    assert solver.score_candidates([q]).values.tolist() == [0]


def test_distance_as_released():
    # Without stop words: fox ran fox bit hen. From fox 4 + 1 and 2 + 1, of 5 - 1 steps.
    q = replace(
        question("d,0", "the fox?", "a hen", "the fox"),
        passage=Passage("d", "The fox ran. The fox bit a hen."),
    )
    solver = LexicalMatcher(
        weights="0/1/0/0", stop_words="mctest", bugs="distance", normaliser="none"
    )
    assert solver.score_candidates([q]).values.tolist() == [-(5 + 3) / (2 * 4), -(1 + 1) / (2 * 4)]
    solver.set_params(bugs="none")
    assert solver.score_candidates([q]).values.tolist() == [-3 / 7, -1]


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
def test_words_of_negation(text, negated):
    assert is_negated(text) is negated


def test_a_negated_question_prefers_the_one_candidate_without_a_word():
    (scores,) = LexicalMatcher(weights="1/10/2/3").score_candidates(QUESTIONS[1:2])
    assert scores.tolist() == [0, 0, 0, 16]
    plain = LexicalMatcher(weights="1/10/2/3", negation=False).score_candidates(QUESTIONS[1:2])
    assert plain[0].argmax() != 3
    two = replace(QUESTIONS[1], candidates=(*QUESTIONS[1].candidates, Candidate("sing")))
    assert LexicalMatcher().score_candidates([two])[0].argmax() != 3


def test_each_component_decides_by_what_it_reads():
    q = question("s,4", "What is not there?", "the", "Tom")
    components = LexicalMatcher().components([q])
    # The windows read stop words and find "the"; the others do not.
    assert components.ruled.tolist() == [[False, True, True, True]] * 2


# Annotation.


@pytest.mark.parametrize("bugs", ["none", *BUGS, "all"])
@pytest.mark.parametrize("task", thinned([Task.SINGLE_CHOICE, Task.CLOZE], 2))
def test_annotation_by_the_package_s_own_analysis_changes_nothing(tmp_path, task, bugs):
    dataset = synthetic_dataset(task, n_passages=10, seed=5)
    # In raw text, equal candidates are counted once, which would change the rule for negation.
    dataset = Dataset(
        [
            replace(q, candidates=tuple({c.text: c for c in q.candidates}.values()), gold=None)
            for q in dataset
        ]
    )
    path = annotate(dataset, tmp_path / "a.json.gz")
    raw = LexicalMatcher(analyzer="treebank", bugs=bugs)
    with_own_analysis = LexicalMatcher(normaliser="lemma", annotations=path, bugs=bugs)
    assert (
        with_own_analysis.score_candidates(dataset).values.tolist()
        == raw.score_candidates(dataset).values.tolist()
    )


CHAINS = (
    Chain(((0, 1), (6, 7)), representative=0),  # Mary, She
    Chain(((2, 5), (8, 9)), representative=0),  # a red bike, it
    Chain(((15, 16),), words=("Tom",)),
)


def test_mentions_are_replaced_by_what_they_refer_to(tmp_path):
    solver = LexicalMatcher(
        normaliser="none",
        annotations=annotate(QUESTIONS, tmp_path / "a.json", CHAINS),
        coreference="all",
    )
    tokens = solver.annotated_reader().tokens(QUESTIONS[0], linked=True)
    assert [t.word for t in tokens][
        :14
    ] == "mary had a red bike mary rode red bike to the big lake tom".split()
    assert [t.word for t in tokens if t.given] == ["mary", "red", "bike", "tom"]
    assert [t.sentence for t in tokens][4:7] == [0, 1, 1]

    # "Mary rode" is a sentence only once "She" is Mary.
    linked, plain = (
        solver.components(QUESTIONS),
        solver.set_params(coreference="none").components(QUESTIONS),
    )
    bag, sentences = COMPONENTS.index("bag of words"), COMPONENTS.index("sentences")
    mary = log(1 + 1 / 3)  # it occurs twice now
    rode_lake = log(1 + 1 / 3) + log(1 + 1 / 2)
    assert linked.scores[0, bag] - plain.scores[0, bag] == pytest.approx(
        2 * mary + 2 * log(4 / 3) + log(1.5), abs=1e-6
    )
    assert linked.scores[0, sentences] - plain.scores[0, sentences] == pytest.approx(
        2 * mary + rode_lake, abs=1e-6
    )
    assert linked.scores[:, :2].tolist() == plain.scores[:, :2].tolist()


@pytest.mark.parametrize("coreference", ["none", "all"])
@pytest.mark.parametrize("bugs", ["none", "all"])
def test_formulas_have_replaced_mentions_and_released_mistakes(tmp_path, coreference, bugs):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    solver = LexicalMatcher(
        normaliser="none", annotations=path, coreference=coreference, bugs=bugs
    ).fit(QUESTIONS)
    explanations = [solver.explain(question) for question in QUESTIONS]
    for explanation in explanations:
        assert_formulas_add_up(explanation)
    text = explanation_text(explanations[0], every=True)
    assert ("with mentions replaced = " in text) is (coreference == "all")
    assert ("of the content words, and one step" in text) is (bugs == "all")


def test_rules_go_by_categories(tmp_path):
    facts = {
        "s,0": {"negated": False, "categories": frozenset({"who"})},
        "s,1": {"negated": False, "categories": frozenset({"what", "neg"})},
        "s,2": {"negated": False},
    }
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS, **facts)
    scores = {
        name: LexicalMatcher(annotations=path, negation=False, **params).score_candidates(QUESTIONS)
        for name, params in {
            "none": {},
            "all": {"coreference": "all"},
            "rules": {"coreference": "rules"},
            "no-category": {"coreference": "rules", "bugs": "no-category"},
        }.items()
    }
    equal_scores = {
        (one, other): [
            np.array_equal(a, b) for a, b in zip(scores[one], scores[other], strict=True)
        ]
        for one, other in [("rules", "none"), ("rules", "all"), ("no-category", "all")]
    }
    assert equal_scores["rules", "none"] == [False, True, True]
    assert equal_scores["rules", "all"] == [True, False, False]
    assert equal_scores["no-category", "all"] == [True, False, True]


def test_categories_of_a_folder_are_added(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    folder = tmp_path / "dev"
    folder.mkdir()
    (folder / "who.txt").write_text("s,0\n", encoding="utf-8")
    solver = LexicalMatcher(
        annotations=path, categories=str(folder), coreference="rules", negation=False
    ).fit(QUESTIONS)
    everywhere = LexicalMatcher(
        annotations=path, coreference="all", negation=False
    ).score_candidates(QUESTIONS)
    scores = solver.score_candidates(QUESTIONS)
    assert [np.array_equal(a, b) for a, b in zip(scores, everywhere, strict=True)] == [
        True,
        False,
        False,
    ]
    assert solver.signature_facts()["categories"].startswith("dev@")


def test_forms_with_the_bug(tmp_path):
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
    q = question("s,0", *QUESTIONS[0].text.splitlines(), *(c.text for c in QUESTIONS[0].candidates))
    right, wrong = (
        LexicalMatcher(**params, bugs=bugs).score_candidates([q])[0]
        for bugs in ("none", "coreference-forms")
    )
    assert right[2] > wrong[2]


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
def test_a_field_that_is_missing_in_the_annotation(tmp_path, field, params):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    file = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    del file["passages"]["s"][field]
    (tmp_path / "a.json").write_text(json.dumps(file), encoding="utf-8")
    with raises(DataError, source=path, where="question s,0", field=field):
        LexicalMatcher(annotations=path, **params).score_candidates(QUESTIONS)


def test_sentences_that_are_not_annotated_are_found(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json")
    with_sentences = LexicalMatcher(annotations=path).fit(QUESTIONS)
    expected = with_sentences.score_candidates(QUESTIONS).values
    assert "sentences" in with_sentences.signature_facts()["annotated"]
    file = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    del file["passages"]["s"]["sentences"]
    (tmp_path / "a.json").write_text(json.dumps(file), encoding="utf-8")
    solver = LexicalMatcher(annotations=path).fit(QUESTIONS)
    assert solver.score_candidates(QUESTIONS).values.tolist() == expected.tolist()
    assert solver.signature_facts()["approximated"] == "sentences by rules + lemmas by porter"
    assert solver.caveats(QUESTIONS) == (
        "not annotated but approximated: sentences by rules, lemmas by porter",
    )


# Weights.


def test_learned_weights_rank_the_training_data(tmp_path):
    dataset = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=30, seed=2)
    best = LexicalMatcher(weights="0/0/0/1").score_candidates(dataset)
    dataset = Dataset(
        [replace(q, gold=frozenset({int(s.argmax())})) for q, s in zip(dataset, best, strict=True)]
    )
    solver = LexicalMatcher(weights="learned", C=1000.0)
    with raises(NotFittedError, field="weights", found="'learned'") as caught:
        solver.score_candidates(dataset)
    assert "--train DATA" in str(caught.value)
    assert solver.learns_from == "gold"
    assert solver.fit(dataset).score(dataset) > LexicalMatcher().score(dataset)
    assert solver.weights_.argmax() == 3

    save_solver(solver, tmp_path / "s.npz")
    reloaded = load_solver(tmp_path / "s.npz")
    for copy in (reloaded, pickle.loads(pickle.dumps(solver))):
        assert (
            copy.score_candidates(dataset).values.tolist()
            == solver.score_candidates(dataset).values.tolist()
        )


def test_learned_weights_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    scores, offsets = rng.normal(size=(40, 4)), np.arange(0, 41, 4)
    right = (np.arange(40) % 4 == rng.integers(0, 4)).astype(np.int64)
    weights = learn_weights(scores, offsets, right, 1.0)
    scaled = learn_weights(scores * (1, 10, 100, 0.1), offsets, right, 1.0)
    assert scaled * (1, 10, 100, 0.1) == pytest.approx(weights, rel=1e-6)


def test_nothing_to_learn_from():
    equal_candidates = Dataset([question("s,0", "", "Ann", "Bob")])
    with raises(DataError, found=re.compile("differ in a component")):
        LexicalMatcher(weights="learned").fit(equal_candidates)
    with raises(DataError, found="3 of 3 questions without gold"):
        LexicalMatcher(weights="learned").fit([replace(q, gold=None) for q in QUESTIONS])


def test_only_learned_weights_can_be_saved(tmp_path):
    with raises(UsageError, found="lexical", expected="a solver that learns"):
        save_solver(LexicalMatcher().fit(QUESTIONS), tmp_path / "s.npz")


# Parameters, names and explanations.


def test_rules_without_categories_are_refused(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    with raises(UsageError, field="coreference", found="'rules'", expected="categories=FOLDER"):
        LexicalMatcher(annotations=path, coreference="rules").fit(QUESTIONS)


def test_variants_keep_their_names_whatever_file_they_read(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    solver = parse_solver(f"lexical:smith2015,annotations={path},categories=x")
    assert solver.variant_name() == "smith2015"
    assert solver.set_params(weights="mc500").variant_name() == "smith2015-mc500"
    assert solver.set_params(bugs="none").variant_name() is None
    assert parse_solver("lexical:smith2015-raw").variant_name() == "smith2015-raw"
    assert isinstance(solver.decision, Argmax)
    facts = LexicalMatcher(annotations=path).fit(QUESTIONS).signature_facts()
    assert facts["annotations"].startswith("a.json@")
    assert facts["annotated"] == "tokens + sentences + negation"
    assert facts["approximated"] == "lemmas by porter"


def test_explanations_add_up(tmp_path):
    path = annotate(QUESTIONS, tmp_path / "a.json", CHAINS)
    for solver in (
        LexicalMatcher(),
        LexicalMatcher(annotations=path, coreference="all", bugs="all"),
    ):
        for q in QUESTIONS:
            explanation = solver.explain(q)
            for candidate in explanation.candidates:
                assert sum(candidate.numbers.values()) == pytest.approx(candidate.score)
    explanation = LexicalMatcher().explain(QUESTIONS[0])
    mary = explanation.candidates[0]
    assert list(mary.numbers) == list(COMPONENTS)
    assert mary.quote == "Mary had a red bike / She rode it to the big lake"
    words = {STORY.text[m.start : m.end]: m.kind for m in mary.marks}
    assert words["Mary"] == "candidate"
    assert words["lake"] == "question"
    window = next(m for m in mary.marks if m.kind == "window")
    assert window.weight == pytest.approx(sum(m.weight or 0 for m in mary.marks if m is not window))
    negated = LexicalMatcher().explain(QUESTIONS[1]).candidates[3]
    assert negated.numbers["window (negation)"] == 1
