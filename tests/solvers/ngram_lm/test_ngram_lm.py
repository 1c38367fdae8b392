"""The n-gram language model as a solver: what it learns, its scores, and its file."""

from __future__ import annotations

import gzip
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc import evaluate
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.kernels.reference.kneser_ney import ReferenceKneserNey
from classic_rc.questions import PLACEHOLDER, Candidate, Dataset, Passage, Question, Task
from classic_rc.solvers import NGramLM, SavedSolver, load_solver, save_solver
from classic_rc.solvers.ngram_lm.model import LanguageModel, split_question
from classic_rc.solvers.saved import members_digest
from classic_rc.testing import check_solver, synthetic_dataset
from classic_rc.text.sentences import passage_sentences
from tests.errors import raises
from tests.solvers.builders import are_equal


def with_placeholder_at(share: float) -> Dataset:
    """Return the queries with the placeholder behind a share of their words."""
    questions = []
    for question in CLOZE:
        words = question.text.replace(PLACEHOLDER, "").split()
        words.insert(round(share * len(words)), PLACEHOLDER)
        questions.append(replace(question, text=" ".join(words)))
    return replace(CLOZE, questions=questions)


CLOZE = synthetic_dataset(Task.CLOZE)
"""Queries that begin with the placeholder; `MIDDLE` and `LAST` have the same words and move it
to the right.
"""
MIDDLE, LAST = map(with_placeholder_at, (0.6, 1.0))
CHOICE = synthetic_dataset(Task.SINGLE_CHOICE)

RIVER = Passage(
    "river", "Ann crossed the river. The river was cold. Bob waited for Ann by the old mill."
)


def cloze(
    text: str, *candidates: str, gold: tuple[str, ...] | None = None, passage: Passage = RIVER
) -> Question:
    return Question(f"q-{text}", passage, text, tuple(map(Candidate, candidates)), gold, Task.CLOZE)


def choice(text: str, *options: str, gold: frozenset[int] | None = None) -> Question:
    return Question(
        f"q-{text}", RIVER, text, tuple(map(Candidate, options)), gold, Task.SINGLE_CHOICE
    )


def sentences(questions) -> list[list[str]]:
    """Return the words of the passages' sentences that have words, each passage text once."""
    texts: list[str] = []
    for passage in {q.passage.text: q.passage for q in questions}.values():
        texts += [passage.text[start:end] for start, end in passage_sentences(passage)]
    return list(filter(None, map(words_of, texts)))


def words_of(text: str) -> list[str]:
    from classic_rc.text.analyzers import get_analyzer

    return get_analyzer("word").analyze(text)


def expected(reference, question, candidate, *, cache=0.0, partial=False):
    """Return the sum and the number of the log-probabilities of the text with the candidate in
    it, word by word.
    """
    if question.task is Task.CLOZE:
        before, after = question.text.split(PLACEHOLDER)
    else:
        before, after = question.text, ""
    words = ["<s>", *words_of(f"{before} {candidate} {after}"), "</s>"]
    passage = words_of(question.passage.text)
    first = len(words_of(f"{before} {candidate}")) + 1 if partial else 1
    logs = []
    for i in range(first, len(words)):
        p = reference.probability(words[i], tuple(words[:i]))
        if cache and passage:
            share = passage.count(words[i]) / len(passage)
            p = (1 - cache) * p + cache * share
        logs.append(math.log(p))
    return math.fsum(logs), len(logs)


@pytest.mark.parametrize(
    ("order", "cache", "normalise"),
    [(1, 0.0, "none"), (2, 0.3, "length"), (3, 0.3, "none"), (5, 0.0, "length")],
)
@pytest.mark.parametrize(
    ("dataset", "partial"),
    [
        (CLOZE, False),
        (CLOZE, True),
        (MIDDLE, False),
        (MIDDLE, True),
        (LAST, False),
        (LAST, True),
        (CHOICE, False),
    ],
)
def test_scores_are_those_of_whole_texts_scored_one_by_one(
    dataset, partial, order, cache, normalise
):
    solver = NGramLM(
        order=order,
        cache_weight=cache,
        scoring="partial" if partial else "full",
        normalise=normalise,
    ).fit(dataset)
    reference = ReferenceKneserNey(sentences(dataset), order)
    questions = [
        replace(q, candidates=(*q.candidates, Candidate("Zoë of Ann"))) for q in dataset[:12]
    ]
    for question, row in zip(questions, solver.score_candidates(questions), strict=True):
        for candidate, score in zip(question.candidates, row.tolist(), strict=True):
            total, n = expected(reference, question, candidate.text, cache=cache, partial=partial)
            assert score == pytest.approx(total / n if normalise == "length" else total, rel=1e-10)


@pytest.mark.parametrize(
    "solver",
    [
        NGramLM(order=5, cache_weight=0.3, normalise="length", discounts=0.4),
        NGramLM(corpus=["passages", "queries"], analyzer="treebank", order=2),
    ],
)
def test_it_keeps_the_solver_contract_with_other_parameters(solver):
    check_solver(solver)


def test_partial_scoring_keeps_the_solver_contract_for_cloze_queries_only():
    check_solver(NGramLM(scoring="partial", cache_weight=0.1), tasks=[Task.CLOZE])
    with raises(UsageError, field="scoring", found="'partial'"):
        NGramLM(scoring="partial").fit(CHOICE).score_candidates(CHOICE)


def test_only_windows_with_the_candidate_are_looked_up_for_each(monkeypatch):
    """One long query with many candidates costs a few tokens per candidate, not the query's
    length.
    """
    from classic_rc.solvers.ngram_lm import model as windows

    looked_up = []
    original = windows.token_probabilities

    def counting(model, tokens, offsets):
        looked_up.append(len(tokens))
        return original(model, tokens, offsets)

    monkeypatch.setattr(windows, "token_probabilities", counting)
    names = [f"name{i}" for i in range(50)]
    query = cloze(f"{'the river ' * 100}{PLACEHOLDER}{' was cold' * 100}", *names)
    NGramLM(order=3).fit([query]).score_candidates([query])
    assert sum(looked_up) == (1 + 200) + (200 + 1) + 50 * (2 + 1 + 2)


def test_text_that_touches_the_placeholder_is_part_of_the_word():
    solver = NGramLM(order=2).fit([cloze("", passage=Passage("p", "Ann's boat sank. Bob waited."))])
    query = cloze(f"It was ({PLACEHOLDER}'s boat)", "Ann", "Bob")
    ann, bob = solver.score_candidates([query])[0]
    assert ann > bob, "the model has ann's, not bob's"
    whole_text = solver.model_.perplexity(["It was (Ann's boat)"])
    assert math.exp(-ann / 5) == pytest.approx(whole_text)  # it, was, ann's, boat, the end
    assert "log p(bob's, unknown)" in solver.explain(query).candidates[1].numbers


def test_every_placeholder_is_filled():
    solver = NGramLM(order=3).fit([cloze("")])
    query = cloze(f"{PLACEHOLDER} waited for Bob, and {PLACEHOLDER} was cold", "Ann", "the mill")
    for score, candidate in zip(solver.score_candidates([query])[0], query.candidates, strict=True):
        text = query.text.replace(PLACEHOLDER, candidate.text)
        perplexity = math.exp(-score / (len(words_of(text)) + 1))
        assert perplexity == pytest.approx(solver.model_.perplexity([text]))


def test_a_cloze_query_without_its_placeholder_comes_before_the_candidate():
    solver = NGramLM().fit([cloze("")])
    cloze_question, choice_question = (
        cloze("Who waited?", "Bob", "Ann"),
        choice("Who waited?", "Bob", "Ann"),
    )
    assert np.array_equal(
        solver.score_candidates([cloze_question]).values,
        solver.score_candidates([choice_question]).values,
    )


def test_the_placeholder_is_filled_in_scripts_without_blanks():
    passage = Passage("p", "猫は魚を食べた。犬は肉を食べた。")
    query = cloze(f"猫は{PLACEHOLDER}を食べた。", "魚", "肉", passage=passage)
    fish, meat = NGramLM(analyzer="char", order=3).fit([query]).score_candidates([query])[0]
    assert fish > meat


def test_evidence_is_a_known_word():
    query = cloze(f"{PLACEHOLDER} was cold", "river", "Zoë", "Zoë of Ann", "", passage=RIVER)
    scores = NGramLM().fit([query]).score_candidates([query])
    assert scores.evidence.tolist() == [True, False, True, False]
    elsewhere = replace(query, passage=Passage("p", "Zoë swam."))
    assert not NGramLM().fit([query]).score_candidates([elsewhere]).evidence[1]
    cached = NGramLM(cache_weight=0.1).fit([query]).score_candidates([elsewhere])
    assert cached.evidence.tolist() == [True, True, True, False]
    assert cached[0][1] > cached[0][0] - 5


def test_the_cache_prefers_the_words_of_the_passage():
    question = choice("Who waited?", "Bob", "Ann")
    other_question = replace(question, passage=Passage("p", "Ann Ann Ann"))
    for weight, wins in ((0.0, False), (0.5, True)):
        solver = NGramLM(order=1, cache_weight=weight).fit([question])
        here, there = solver.score_candidates([question, other_question])
        assert (there[1] - there[0] > here[1] - here[0]) == wins


def test_a_passage_text_is_learned_once():
    same_passage = replace(RIVER, id="again")
    once = NGramLM(discounts=0.3).fit([cloze("")])
    twice = NGramLM(discounts=0.3).fit([cloze(""), cloze("", passage=same_passage)])
    assert np.array_equal(once.model_.model.probabilities[2], twice.model_.model.probabilities[2])


@pytest.mark.parametrize(
    ("question", "learned"),
    [
        (
            cloze(f"{PLACEHOLDER}'s hat was cold", "Ann", gold=("Bob", "Bobby")),
            ["bob's hat was cold"],
        ),
        (choice("Who waited?", "Ann", "Bob", gold=frozenset({1})), ["who waited bob"]),
        (
            replace(
                choice("Who came?", "Ann", "Bob", gold=frozenset({0, 1})), task=Task.MULTIPLE_ANSWER
            ),
            ["who came ann", "who came bob"],
        ),
        (replace(choice("Who came?"), gold=("Ann", "Ann B"), task=Task.SPAN), ["who came ann"]),
        (
            replace(choice("Who came?"), gold=("Ann", "Bob"), task=Task.MULTI_SPAN),
            ["who came ann", "who came bob"],
        ),
    ],
)
def test_queries_are_learned_with_their_gold(question, learned):
    queries = NGramLM(corpus="queries", order=2).fit([question]).model_
    texts = LanguageModel.fit(learned, analyzer="word", order=2)
    assert queries.words == texts.words
    assert np.array_equal(queries.model.probabilities[1], texts.model.probabilities[1])


def test_learns_from_follows_the_corpus():
    assert NGramLM().learns_from == "passages"
    assert NGramLM(corpus="passages+queries").learns_from == "gold"
    assert NGramLM(corpus=["queries"]).learns_from == "gold"
    with raises(DataError, where="question q-Who?", problem=re.compile("gold")):
        NGramLM(corpus="queries").fit([choice("Who?", "Ann")])
    with raises(UsageError) as error:
        evaluate(CLOZE, [NGramLM(corpus="queries")])
    assert re.search("ngram-lm.*--train DATA", str(error.value))
    (row,) = evaluate(
        CLOZE, [NGramLM(corpus="queries")], train=synthetic_dataset(Task.CLOZE, seed=1)
    ).rows
    assert "corpus:queries" in row.signature


@pytest.fixture
def story(tmp_path):
    path = tmp_path / "story.txt.gz"
    path.write_bytes(gzip.compress(b"Ann crossed the river.\n\nThe river was cold.\n"))
    return path


def test_a_text_file_is_learned_line_by_line(story):
    solver = NGramLM(corpus=str(story), order=2).fit(CLOZE)
    assert solver.learns_from == "nothing"
    texts = LanguageModel.fit(
        ["ann crossed the river", "the river was cold"], analyzer="word", order=2
    )
    assert solver.model_.words == texts.words
    assert np.array_equal(solver.model_.model.probabilities[1], texts.model.probabilities[1])
    check_solver(NGramLM(corpus=str(story)))


def test_a_signature_has_the_text_file_by_its_content(story):
    (row,) = evaluate(CLOZE, [NGramLM(corpus=f"passages+{story}")]).rows
    source = next(field for field in row.signature.split("|") if field.startswith("corpus:"))
    assert source.startswith("corpus:passages + story.txt.gz@")
    assert str(story.parent) not in row.signature
    moved = story.with_name("deep+sea.txt")
    moved.write_bytes(story.read_bytes())
    alone = NGramLM(corpus=str(moved)).fit(CLOZE)
    joined = NGramLM(corpus=[str(story), "passages"]).fit(CLOZE)
    assert alone.signature_facts()["corpus"].split("@")[1] == source.split("@")[1]
    assert joined.sources_[1] == "passages"
    assert NGramLM().fit(CLOZE).signature_facts() == {}


def test_a_fit_needs_words_and_scoring_needs_a_fit():
    with raises(DataError, problem=re.compile("language model.*words")):
        NGramLM().fit([cloze("", passage=Passage("p", " ... "))])
    with raises(NotFittedError):
        NGramLM().score_candidates(CLOZE)
    with raises(NotFittedError):
        NGramLM().fitted_state()


def test_too_little_text_is_a_caveat():
    (caveat,) = NGramLM(order=2).fit([cloze("")]).caveats_
    assert re.search("discounts of order 1 and 2$", caveat)
    assert NGramLM(order=2, discounts=0.5).fit([cloze("")]).caveats_ == ()


@pytest.mark.parametrize(
    "solver",
    [
        NGramLM(),
        NGramLM(order=2, normalise="length", cache_weight=0.2),
        NGramLM(scoring="partial", order=4),
    ],
)
def test_an_explanation_adds_up_to_the_score(solver):
    solver.fit(CLOZE)
    for question in CLOZE[:6]:
        for candidate in solver.explain(question).candidates:
            numbers = dict(candidate.numbers)
            n = numbers.pop("words in all", 1.0)
            assert sum(numbers.values()) / n == pytest.approx(candidate.score)


def test_an_explanation_shows_words_with_their_known_context():
    query = cloze(f"{PLACEHOLDER} crossed the river", "Ann", "Zoë")
    ann, zoe = NGramLM(order=3).fit([query]).explain(query).candidates
    assert list(ann.numbers) == [
        "log p(ann | <s>)",
        "log p(crossed | <s> ann)",
        "log p(the | ann crossed)",
        "other words",
    ]
    assert list(zoe.numbers) == [
        "log p(zoë, unknown)",
        "log p(crossed)",
        "log p(the | crossed)",
        "other words",
    ]


@given(st.integers(1, 5), st.sampled_from(["modified", 0.5]))
def test_perplexity_equals_the_reference(order, discounts):
    model = NGramLM(order=order, discounts=discounts).fit(CLOZE).model_
    table = None if discounts == "modified" else [[discounts] * 3] * order
    reference = ReferenceKneserNey(sentences(CLOZE), order, table)
    texts = ["Ann went to the old house", "", "Zoë lost three letters"]
    logs = []
    for words in map(words_of, filter(None, texts)):
        marked = ["<s>", *words, "</s>"]
        for i in range(1, len(marked)):
            logs.append(math.log(reference.probability(marked[i], tuple(marked[:i]))))
    assert model.perplexity(texts) == pytest.approx(math.exp(-np.mean(logs)))
    assert math.isnan(model.perplexity(["", "..."]))


def test_the_vocabulary_can_have_words_that_the_text_lacks():
    plain = LanguageModel.fit(["Ann swam."], analyzer="word", order=2)
    wider = LanguageModel.fit(
        ["Ann swam."], analyzer="word", order=2, vocabulary=["Bob swam", "Carla"]
    )
    assert sorted(wider.words) == ["ann", "bob", "carla", "swam"]
    assert wider.perplexity(["Bob"]) == wider.perplexity(["Zoë"]), (
        "both have the probability of an unseen word"
    )
    assert wider.perplexity(["Bob"]) > plain.perplexity(["Bob"]), (
        "because there are more unseen words"
    )
    with raises(DataError, problem=re.compile("language model.*words")):
        LanguageModel.fit(["..."], analyzer="word", order=2, vocabulary=["Bob"])


@pytest.mark.parametrize(
    "params", [{}, {"order": 1}, {"order": 5, "corpus": "passages+queries", "discounts": 0.3}]
)
def test_a_saved_model_scores_and_explains_like_the_fitted_one(tmp_path, params):
    path = tmp_path / "model"
    solver = NGramLM(**params).fit(CLOZE)
    save_solver(solver, path)
    loaded = load_solver(path)
    assert repr(loaded) == repr(solver)
    assert np.array_equal(
        loaded.score_candidates(CLOZE).values, solver.score_candidates(CLOZE).values
    )
    assert loaded.explain(CLOZE[0]).to_dict() == solver.explain(CLOZE[0]).to_dict()
    assert loaded.caveats_ == solver.caveats_
    check_solver(SavedSolver(path=str(path)), tasks=[Task.CLOZE, Task.SINGLE_CHOICE])


def test_a_saved_model_does_not_need_its_text(tmp_path, story):
    solver = NGramLM(corpus=str(story)).fit(CLOZE)
    save_solver(solver, tmp_path / "model")
    story.unlink()
    (row,) = evaluate(CLOZE, [SavedSolver(path=str(tmp_path / "model"))]).rows
    assert "corpus:story.txt.gz@" in row.signature
    assert row.name == "saved:ngram-lm"


def rewrite(path, change) -> None:
    """Rewrite a saved model with changed content and a valid checksum."""
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files if name != "sha256"}
    header = json.loads(members["header"].tobytes())
    change(header, members)
    members["header"] = np.frombuffer(json.dumps(header).encode("ascii"), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **members, sha256=np.frombuffer(members_digest(members), dtype=np.uint8))


@pytest.mark.parametrize(
    ("change", "cause", "facts"),
    [
        (lambda h, m: h["params"].update(order=2), ValueError, "(3, 3).* order 2"),
        (lambda h, m: h["params"].update(order=4), KeyError, "keys.4"),
        (lambda h, m: h["params"].update(order=9), UsageError, "'order'"),
        (lambda h, m: h["state"]["words"].pop(), ValueError, "1-grams.* words"),
        (lambda h, m: h["state"].pop("sources"), KeyError, "sources"),
        (lambda h, m: m.pop("array.keys.2"), KeyError, "keys.2"),
        (lambda h, m: m.pop("array.backoffs.1"), KeyError, "backoffs.1"),
        (
            lambda h, m: m.update({"array.keys.2": m["array.keys.2"][::-1].copy()}),
            ValueError,
            "2-grams.* order",
        ),
        (
            lambda h, m: m.update({"array.keys.3": m["array.keys.3"] + 10**6}),
            ValueError,
            "3-gram .*2-gram",
        ),
        (
            lambda h, m: m.update({"array.backoffs.2": np.ones(3)}),
            ValueError,
            "2-grams .*one back-off",
        ),
        (
            lambda h, m: m.update({"array.backoffs.2": -m["array.backoffs.2"]}),
            ValueError,
            "back-off.* 2-gram",
        ),
        (
            lambda h, m: m.update({"array.probabilities.3": np.ones(3)}),
            ValueError,
            "3-grams .*one probability",
        ),
        (lambda h, m: m.update({"array.counts.3": np.ones(3)}), ValueError, "3-grams .*one count"),
        (
            lambda h, m: m.update({"array.probabilities.1": -m["array.probabilities.1"]}),
            ValueError,
            "probability.* 1-gram.* 0..1",
        ),
        (
            lambda h, m: m.update({"array.probabilities.1": m["array.probabilities.1"] * np.nan}),
            ValueError,
            "probabilities.1.* finite",
        ),
    ],
)
def test_inconsistent_tables_are_refused(tmp_path, change, cause, facts):
    path = tmp_path / "model"
    save_solver(NGramLM().fit(CLOZE), path)
    rewrite(path, change)
    with raises(DataError, source=str(path), hint=re.compile("classic-rc fit")) as error:
        load_solver(path)
    assert type(error.value.__cause__) is cause
    assert re.search(facts, str(error.value.__cause__))
    assert str(error.value.__cause__) in str(error.value)


@given(data=st.data())
def test_a_damaged_model_is_refused(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damaged")
    save_solver(NGramLM(order=2).fit(CLOZE), folder / "model")
    content = bytearray((folder / "model").read_bytes())
    scores = load_solver(folder / "model").score_candidates(CLOZE)
    place = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:place]
    else:
        content[place] ^= data.draw(st.integers(1, 255))
    (folder / "model").write_bytes(content)
    try:
        loaded = load_solver(folder / "model")
    except DataError:
        return
    # Bytes without effect (dates in the archive) may change.
    assert np.array_equal(loaded.score_candidates(CLOZE).values, scores.values)


def test_a_dataset_and_a_list_of_questions_give_the_same_scores():
    solver = NGramLM().fit(list(CLOZE))
    scores = solver.score_candidates(solver.encoded(CLOZE))
    assert are_equal(scores, NGramLM().fit(CLOZE).score_candidates(Dataset(list(CLOZE))))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a" * 300_000 + " ", " " + "b" * 300_000),
        ("a" * 300_000 + " (", ") b"),
        ("", ""),
        ("x\n", "\ty"),
    ],
)
def test_the_frame_of_a_query_ends_at_the_nearest_blanks(before, after):
    frame = split_question(cloze(f"{before}{PLACEHOLDER}{after}", "Ann"))
    assert frame.left + frame.fill("Ann") + frame.right == f"{before}Ann{after}"
    assert frame.left == before[: 1 + max(before.rfind(" "), before.rfind("\n"))]
    assert not re.search(r"\s", "".join(frame.parts))
    assert frame.right == "" or frame.right[0].isspace()
