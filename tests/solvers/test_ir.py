from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from classic_rc import evaluate
from classic_rc.decisions import Threshold
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.formats import read_scores
from classic_rc.kernels.reference import bm25, tfidf
from classic_rc.metrics import get_metric
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.retrieval import get_engine, passage_corpus
from classic_rc.solvers import IRSolver, parse_solver
from classic_rc.solvers.specs import solver_spec
from classic_rc.testing import synthetic_dataset
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences
from tests.errors import raises
from tests.solvers.builders import are_equal, formulas_give_the_scores, marked

FOX = Passage("fox", "The fox slept in the barn. A hen crossed the river. The hen met a duck.")
BOAT = Passage("boat", "Nora sold a boat. The duck swam around the boat in the river.")


def make_question(passage, text, *options, gold=0, id="q"):
    return Question(
        id, passage, text, tuple(map(Candidate, options)), frozenset({gold}), Task.SINGLE_CHOICE
    )


QUESTION = make_question(
    FOX, "Where did the fox sleep?", "in the barn", "in the river", "on a boat"
)


def write_index(folder, sentences):
    from classic_rc.cli.main import main

    text = folder / "text.txt"
    text.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    assert (
        main(["index", str(text), "-o", str(folder / "index"), "--lines", "sentences", "--quiet"])
        == 0
    )
    return str(folder / "index")


def test_a_candidate_needs_a_sentence_that_shares_words_with_it_and_the_question():
    scores = IRSolver().fit([QUESTION]).score_candidates([QUESTION])
    assert scores.evidence.tolist() == [True, False, False]
    assert scores.values[0] > 0
    assert scores.values[1:].tolist() == [0, 0]


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
@pytest.mark.parametrize("task", [Task.SINGLE_CHOICE, Task.CLOZE])
def test_each_passage_is_a_separate_index(task, similarity):
    dataset = synthetic_dataset(task)
    scores = IRSolver(similarity=similarity).score_candidates(dataset)
    for row, question in zip(scores, dataset, strict=True):
        text = question.passage.text
        engine = get_engine("sparse", similarity=similarity)
        engine.index([text[start:end] for start, end in passage_sentences(question.passage)])
        best = engine.best_constrained([question.query], [[c.text for c in question.candidates]])
        assert row.tolist() == best.scores.tolist()


def test_paragraphs_searches_the_passages_of_all_questions():
    boat = make_question(BOAT, "What did Nora sell?", "a boat", id="other")
    river = make_question(FOX, "Where did the duck swim?", "in the river", "in the barn")
    river_scores = IRSolver().score_candidates([river])
    all_ = IRSolver(corpus="paragraphs").fit([river, boat]).score_candidates([river])
    assert river_scores.evidence.tolist() == [False, False]
    assert all_.evidence.tolist() == [True, False]


def test_a_text_of_several_passages_is_indexed_once():
    twin = make_question(replace(FOX, id="twin"), "?", "a", id="2")
    boat = make_question(BOAT, "?", "b", id="3")
    solver = IRSolver(corpus="paragraphs").fit([QUESTION, twin, boat])
    assert solver.corpora_[0].engine.n_sentences == 5


def test_a_result_row_names_what_was_searched():
    dataset = Dataset([QUESTION], "dev")
    train = Dataset([make_question(BOAT, "What did Nora sell?", "a boat", id="other")], "train")
    (row,) = evaluate(dataset, [IRSolver.variant("paragraphs")], train=train).rows
    assert row.name == "ir:paragraphs"
    assert row.trained_on == "passages of train + dev"
    fingerprint = passage_corpus([BOAT, FOX], get_engine("sparse")).fingerprint
    assert f"corpus:passages@{fingerprint[:8]}(5 sentences)" in row.signature
    (alone,) = evaluate(dataset, [IRSolver()]).rows
    assert (alone.name, alone.trained_on) == ("ir:passage", None)
    assert "corpus" not in alone.signature


def test_the_best_sentence_of_several_indexes_counts(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first_index = write_index(tmp_path / "one", ["A fox may sleep in the river.", "Hens do not."])
    second_index = write_index(tmp_path / "two", ["Who sleeps on a boat? A fox!", "Hens do not."])

    def search(corpus):
        return IRSolver(corpus=corpus).fit([QUESTION]).score_candidates([QUESTION])

    scores = search([first_index, second_index])
    best = np.maximum(search(first_index).values, search(second_index).values)
    assert scores.values.tolist() == best.tolist()
    assert scores.evidence.tolist() == [False, True, True]
    assert are_equal(search(f"{first_index}+{second_index}"), scores)
    assert search(["paragraphs", first_index, second_index]).evidence.all()


def test_verbatim_sentences_are_reported_and_can_be_excluded(tmp_path):
    index = write_index(
        tmp_path,
        [
            "WHERE did the  fox sleep? In the river!",
            "Foxes sleep in the river.",
            "The fox slept in the barn.",
            "A hen crossed the river.",
            "The hen met a duck.",
        ],
    )
    dataset = Dataset([replace(QUESTION, gold=frozenset({1}))], "dev")
    everything = evaluate(dataset, [IRSolver(corpus=index)])
    (warning,) = everything.warnings
    assert re.search(
        "^ir,corpus=index: index .*1 questions, 1 .*right answer, .*1 passages", warning
    )
    excluded = evaluate(dataset, [IRSolver(corpus=index, exclude_verbatim=True)])
    (warning,) = excluded.warnings
    assert re.search("^ir,corpus=index: 4 sentences", warning)
    assert excluded.rows[0].signature != everything.rows[0].signature
    solver = IRSolver(corpus=index, exclude_verbatim=True).fit(dataset)
    assert solver.excluded_ == 4
    assert solver.best_sentences(dataset)[0].sentences.tolist() == [-1, 1, -1]
    alone = get_engine("sparse").index(["Foxes sleep in the river."])
    best = alone.best_constrained([QUESTION.query], [[c.text for c in QUESTION.candidates]])
    assert solver.score_candidates(dataset).values.tolist() == best.scores.tolist()


def test_the_searched_passages_are_not_reported_as_verbatim():
    dataset = Dataset(
        [
            make_question(FOX, "The hen met a duck", "duck"),
            make_question(FOX, "Met a hen?", "duck", id="2"),
        ],
        "dev",
    )
    (warning,) = evaluate(dataset, [IRSolver.variant("paragraphs")]).warnings
    assert re.search("^ir:paragraphs: passages .*1 questions, 1 .*right answer$", warning)


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
def test_formulas_give_the_scores_of_each_similarity(similarity):
    assert formulas_give_the_scores(IRSolver(similarity=similarity).explain(QUESTION))


def test_an_explanation_marks_the_sentence_and_its_words():
    explanation = IRSolver().explain(QUESTION)
    best, *others = explanation.candidates
    (sentence, _), *words = marked(FOX.text, best.marks)
    assert sentence == "The fox slept in the barn."
    assert words == [("fox", "question"), ("barn", "candidate")]
    assert sum(best.numbers.values()) == pytest.approx(best.score, rel=1e-6)
    assert all(
        not other_candidate.marks and not other_candidate.evidence for other_candidate in others
    )


def test_an_explanation_quotes_a_sentence_of_another_text_with_its_source(tmp_path):
    boat = make_question(BOAT, "What did Nora sell?", "a boat", id="other")
    question = make_question(FOX, "Where did the duck swim?", "in the river", "in the barn")
    solver = IRSolver(corpus="paragraphs").fit([question, boat])
    best = solver.explain(question).candidates[0]
    assert (best.quote, best.source) == (
        "The duck swam around the boat in the river.",
        "passage boat",
    )
    assert {"duck", "river"} <= set(best.numbers)
    index = write_index(tmp_path, ["Hens.", "The duck swims in the river."])
    best = IRSolver(corpus=index).fit([question]).explain(question).candidates[0]
    assert best.quote == "The duck swims in the river."
    assert best.source.endswith("text.txt:2")


def test_a_missing_index_is_one_clear_error(tmp_path):
    folder = str(tmp_path / "nowhere")
    with raises(DataError, source=folder, hint=re.compile("classic-rc index")):
        IRSolver(corpus=folder).fit([QUESTION])


def test_an_index_of_another_engine_is_named(tmp_path):
    (tmp_path / "segments_1").write_bytes(b"")
    with raises(UsageError, field="engine", found="sparse", expected="lucene"):
        IRSolver(corpus=str(tmp_path)).fit([QUESTION])


def test_an_index_without_texts_is_searched_but_not_compared_word_for_word():
    corpus = passage_corpus([FOX], get_engine("sparse"))
    solver = IRSolver(corpus=corpus).fit([QUESTION])
    expected = solver.score_candidates([QUESTION]).values.tolist()

    def no_text(number):
        raise DataError("the index does not store the text", where=f"document {number}")

    corpus.engine.sentence = no_text
    question = replace(
        QUESTION, text="The hen met a duck", passage=Passage("other", "A hen met a duck.")
    )
    (caveat,) = solver.caveats([question])
    assert "word for word" in caveat
    assert "does not store" in caveat
    assert solver.score_candidates([QUESTION]).values.tolist() == expected


def test_an_unfitted_solver_neither_scores_nor_explains_and_has_no_caveats():
    solver = IRSolver(corpus="paragraphs", exclude_verbatim=True)
    with raises(NotFittedError):
        solver.score_candidates([QUESTION])
    with raises(NotFittedError):
        solver.explain(QUESTION)
    assert solver.caveats([QUESTION]) == ()
    assert IRSolver().caveats([QUESTION]) == ()


@pytest.mark.parametrize("variant", ["passage", "paragraphs", "clark2016"])
def test_questions_without_passages_have_no_text_to_search(variant, tmp_path):
    bare = make_question(
        Passage("none", " "), "Where did the fox sleep?", "in the barn", "on a boat"
    )
    with raises(DataError, hint=re.compile("corpus=DIR")):
        IRSolver.variant(variant).fit([bare])
    index = write_index(tmp_path, ["The fox sleeps in the barn."])
    solver = IRSolver.variant("clark2016", corpus=["paragraphs", index]).fit([bare])
    assert solver.score_candidates([bare]).evidence.tolist() == [True, False]


def test_a_variant_that_searches_an_index_keeps_its_name(tmp_path):
    index = write_index(tmp_path, ["The fox sleeps in the barn."])
    for variant in ("paragraphs", "clark2016", "multirc2018"):
        solver = parse_solver(f"ir:{variant},corpus=paragraphs+{index}")
        assert solver.row_name() == f"ir:{variant},corpus=paragraphs+index"
        assert solver_spec(solver) == f"ir:{variant},corpus=paragraphs+{index}"
    for spec in ("ir:clark2016", "ir:multirc2018", "ir"):
        assert parse_solver(f"{spec},corpus={index}").row_name() == f"{spec},corpus=index"
    assert parse_solver("ir,corpus=paragraphs").row_name() == "ir:paragraphs"
    assert parse_solver("ir:clark2016,analyzer=word").row_name() == "ir,corpus=paragraphs"


@pytest.mark.parametrize("variant", ["passage", "paragraphs"])
def test_a_variant_named_after_what_it_searches_takes_no_other_corpus(variant):
    with raises(UsageError, field="corpus", found="idx") as caught:
        parse_solver(f"ir:{variant},engine=lucene,corpus=idx")
    assert "ir,engine=lucene,corpus=idx" in str(caught.value)


@pytest.mark.parametrize(
    ("params", "field", "found_text"),
    [
        ({"corpus": ["passage", "paragraphs"]}, "corpus", "['passage', 'paragraphs']"),
        ({"corpus": "paragraphs", "engine": "opensearch"}, "corpus", "'paragraphs'"),
        (
            {"corpus": "index", "engine": "opensearch", "exclude_verbatim": True},
            "engine",
            "'opensearch'",
        ),
        ({"corpus": ["a", "b", "a"]}, "corpus", "['a', 'b', 'a']"),
        ({"depth": 10}, "depth", "10"),
        ({"corpus": "paragraphs", "overlap": "word"}, "overlap", "'word'"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(params, field, found_text):
    with raises(UsageError, field=field, found=found_text):
        IRSolver(**params).fit([QUESTION])


def test_a_textbook_engine_can_search():
    solver = IRSolver(corpus="paragraphs", engine="rank-bm25", similarity="okapi").fit([QUESTION])
    assert solver.score_candidates([QUESTION]).evidence.tolist() == [True, False, False]


def test_a_threshold_is_ignored_if_one_answer_is_right():
    (row,) = evaluate(Dataset([QUESTION], "dev"), [IRSolver.variant("multirc2018")]).rows
    assert (row.variant, row.ties, row.threshold) == ("multirc2018", "partial", None)


@pytest.mark.ci
def test_most_of_the_released_scores_of_multirc_are_reproduced(shared_data):
    """The hidden test paragraphs are missing here, so most but not all scores agree."""
    from classic_rc.datasets import load

    folder = shared_data / "multirc"
    train, dev = (load(folder / f"{name}-fixedIds.json") for name in ("train_456", "dev_83"))
    evaluation = evaluate(dev, [IRSolver.variant("multirc2018")], train=train)
    (row,) = evaluation.rows
    assert row.tuned_here
    assert row.threshold == 0.0499
    metrics = row.metrics()
    assert 100 * metrics["f1_m"] == pytest.approx(64.4, abs=0.3)
    assert 100 * metrics["f1_a"] == pytest.approx(60.2, abs=0.3)
    ours = IRSolver.variant("multirc2018").fit([*train, *dev]).score_candidates(dev)
    theirs = read_scores(folder / "baseline-scores" / "raw" / "lucene_paragraphs-raw.json", dev)
    assert np.corrcoef(ours.values, theirs.values)[0, 1] >= 0.94
    assert ((ours.values > 0) == (theirs.values > 0)).mean() >= 0.92
    decided = Threshold(value=0.0499).decide(ours, dev)
    assert get_metric("f1_m")(dev, decided) == pytest.approx(metrics["f1_m"])


@pytest.mark.parametrize("similarity", ["bm25", "classic"])
def test_sentences_without_a_term_are_sentences_of_their_passage(similarity):
    passage = Passage("p", "A fox ran. It is as it was. A dog slept. And was it? A fox slept.")
    question = make_question(passage, "Who slept?", "a fox", "a dog")
    analyze = get_analyzer("lucene-english").analyze
    sentences = [analyze(passage.text[start:end]) for start, end in passage_sentences(passage)]
    assert sum(not terms for terms in sentences) == 2
    score = tfidf.score if similarity == "classic" else bm25.score
    expected, query = [], analyze(question.text)
    for candidate in question.candidates:
        _, best = bm25.best_constrained(query, analyze(candidate.text), sentences, score)
        expected.append(float(best))
    scores = IRSolver(similarity=similarity).score_candidates([question])
    assert scores.values.tolist() == expected


def test_classic_counts_all_sentences_of_the_passage():
    question = make_question(Passage("p", "A fox ran. It is as it was. A dog slept."), "fox", "fox")
    row = IRSolver(similarity="classic").score_candidates([question]).values
    # The query has one term twice: 2 idf^2, over the query norm sqrt(2) idf. In one byte,
    # 1 / sqrt(2) is 0.625.
    idf = 1 + math.log(3 / 2)
    assert row == pytest.approx([math.sqrt(2) * idf * 0.625], rel=1e-6)
