"""Score files: scores in any order or for a part of the questions, and what a file must have."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from classic_rc import evaluate
from classic_rc.datasets import load
from classic_rc.decisions import Argmax
from classic_rc.errors import DataError, NotFittedError, UsageError
from classic_rc.formats import write_predictions
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, Dataset, Passage, Question, Task
from classic_rc.results.curves import PrecisionRecallCurve
from classic_rc.running.evaluate import predict
from classic_rc.solvers import Combination, ScoreFile, SlidingWindow, Solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.solvers.builders import are_equal, score_lists, scores_of

SEVERAL = synthetic_dataset(Task.MULTIPLE_ANSWER, name="several")


def stories(name: str, n: int = 4) -> Dataset:
    """Stories of four questions, as MCTest's; ids and texts differ by name and number."""
    options = tuple(map(Candidate, ("a fox", "a crow", "a cheese", "nobody")))
    questions = []
    for i in range(n):
        passage = Passage(f"{name}.{i}", f"The crow of {name} {i} drops a cheese. A fox runs.")
        for k in range(4):
            id, text, gold = f"{passage.id},{k}", f"Who has it at {k}?", frozenset({k})
            questions.append(Question(id, passage, text, options, gold, Task.SINGLE_CHOICE))
    return Dataset(questions, name)


def drawn(questions, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return scores_of(questions, lambda q, i: rng.integers(0, 99) / 4)


@pytest.fixture
def write(tmp_path):
    """Writes scores of a dataset, gives the file's path."""

    def write(dataset, scores, form, name="scores"):
        path = tmp_path / name
        write_predictions(path, dataset, scores, format=form)
        return str(path)

    return write


@pytest.mark.parametrize("form", ["jsonl", "mctest-scores"])
def test_fitted_to_all_it_gives_any_part_in_any_order(write, form):
    dataset = stories("dev")
    scores = drawn(dataset)
    solver = ScoreFile(path=write(dataset, scores, form)).fit(dataset)
    order = [7, 0, 3, 15, 2]
    assert are_equal(solver.score_candidates([dataset[i] for i in order]), scores.take(order))
    assert are_equal(solver.score_candidates(dataset[4:8]), scores.take(range(4, 8)))
    assert are_equal(pickle.loads(pickle.dumps(solver)).score_candidates(dataset), scores)


@pytest.mark.parametrize("form", ["jsonl", "multirc"])
def test_files_that_name_questions_may_have_more_of_them(write, form):
    scores = drawn(SEVERAL)
    path = write(SEVERAL, scores, form)
    subset = [SEVERAL[i] for i in (9, 2, 5)]
    assert are_equal(
        ScoreFile(path=path).fit(subset).score_candidates(subset), scores.take([9, 2, 5])
    )


def test_a_part_with_only_zeros_still_has_scores(write):
    scores = drawn(SEVERAL)
    scores.values[: len(SEVERAL[0].candidates)] = 0
    solver = ScoreFile(path=write(SEVERAL, scores, "multirc")).fit(SEVERAL[:1])
    assert not solver.score_candidates(SEVERAL[:1]).values.any()


def test_evidence_is_the_files(write):
    dataset = stories("dev")
    theirs = SlidingWindow().score_candidates(dataset)
    assert not theirs.evidence.all()
    path = write(dataset, theirs, "jsonl")
    assert are_equal(ScoreFile(path=path).fit(dataset).score_candidates(dataset), theirs)


def test_missing_scores_are_named(write):
    dataset = stories("dev")
    path = write(dataset[:8], drawn(dataset[:8]), "jsonl")
    with raises(DataError, source=path, exit_code=3) as caught:
        ScoreFile(path=path).fit(dataset)
    assert re.search(r"32 of 64 .*dev\.2,0", str(caught.value))
    path = write(dataset, drawn(dataset), "mctest-scores")
    with raises(DataError, source=path, found=re.compile(r"\b4\b"), expected=re.compile(r"\b2\b")):
        ScoreFile(path=path).fit(dataset[:8])
    with raises(UsageError) as wrong:
        ScoreFile(path=path).fit(dataset[:3])
    assert "4 consecutive questions" in str(wrong.value)


def test_a_wrong_count_is_found_at_its_line(write, tmp_path):
    dataset = stories("dev")
    path = write(dataset, drawn(dataset), "mctest-scores")
    lines = (tmp_path / "scores").read_text(encoding="utf-8").split("\n")
    lines[2] = lines[2].replace(", ", "\t", 1)
    (tmp_path / "scores").write_text("\n".join(lines), encoding="utf-8")
    with raises(
        DataError, source=path, line=3, found=re.compile(r"\b5\b"), expected=re.compile(r"\b4\b")
    ):
        ScoreFile(path=path).fit(dataset)


def test_each_dataset_finds_its_own_of_several_files(write):
    train, dev = stories("train", 6), stories("dev")
    paths = [
        write(train, drawn(train, 1), "mctest-scores", "a"),
        write(dev, drawn(dev, 2), "mctest-scores", "b"),
    ]
    solver = ScoreFile(path=paths).fit(dev)
    assert are_equal(solver.score_candidates(dev), drawn(dev, 2))
    assert are_equal(solver.score_candidates(train), drawn(train, 1))
    with raises(DataError, problem=re.compile(r"2 score files.* 8 questions.*/a.*/b")):
        solver.fit(stories("test", 2))
    paths_of_both = [paths[1], write(dev, drawn(dev), "mctest-scores", "b2")]
    with raises(UsageError, field="path", found=", ".join(paths_of_both)) as caught:
        ScoreFile(path=paths_of_both).fit(dev)
    assert "16 questions" in str(caught.value)


def test_an_id_of_other_data_is_another_question(write):
    """Both splits of many datasets number their questions from 0."""
    dev = stories("dev")
    others = {p.id: Passage(p.id, "Another.") for p in dev.passages}
    train = Dataset([replace(q, passage=others[q.passage.id]) for q in dev], "train")
    solver = ScoreFile(path=write(dev, drawn(dev), "jsonl")).fit(dev)
    swapped = [replace(q, candidates=q.candidates[::-1]) for q in dev]
    with raises(DataError, source=solver.path, line=1):
        solver.score_candidates(swapped)
    assert train[0].id == dev[0].id
    paths = [
        write(dev, drawn(dev), "mctest-scores", "a"),
        write(train, drawn(train, 3), "mctest-scores", "b"),
    ]
    with raises(UsageError, field="path", found=", ".join(paths)):
        ScoreFile(path=paths).fit(dev).score_candidates(train)


def test_it_needs_a_file_and_a_fit(tmp_path, write):
    dataset = stories("dev")
    for path in ("", [], ["a", ""], 2013, None):
        with raises(UsageError, field="path", found=repr(path)) as caught:
            ScoreFile(path=path).fit(dataset)
        assert "path=FILE" in str(caught.value)
    with raises(DataError, source=str(tmp_path / "none")):
        ScoreFile(path=str(tmp_path / "none")).fit(dataset)
    path = write(dataset, drawn(dataset), "jsonl")
    with raises(NotFittedError, field="score-file"):
        clone(ScoreFile(path=path).fit(dataset)).score_candidates(dataset)


def test_the_signature_has_the_content_and_not_the_place(write, tmp_path):
    dataset = stories("dev")
    (tmp_path / "there").mkdir()
    here = write(dataset, drawn(dataset), "mctest-scores")
    there = write(dataset, drawn(dataset), "mctest-scores", "there/renamed")
    here_row, there_row = evaluate(dataset, [ScoreFile(path=here), ScoreFile(path=there)]).rows
    digest = hashlib.sha256((tmp_path / "scores").read_bytes()).hexdigest()
    assert here_row.signature == there_row.signature
    assert f"|file:{digest}|" in here_row.signature
    assert f"|file:{digest[:8]}|" in here_row.short_signature
    assert "path" not in here_row.signature
    assert here_row.params["path"] == here
    write(dataset, drawn(dataset, 5), "mctest-scores")
    assert evaluate(dataset, [ScoreFile(path=here)]).rows[0].signature != here_row.signature


def test_it_is_measured_broken_down_and_drawn_as_any_solver(write):
    dataset = load("sample:multiple-answer")
    theirs = SlidingWindow().fit(dataset).score_candidates(dataset)
    solver = ScoreFile(path=write(dataset, theirs, "jsonl"))
    rows = evaluate(dataset, [solver, SlidingWindow()], tune=dataset).rows
    assert [row.solver for row in rows] == ["score-file"] * 2 + ["sliding-window"] * 2
    metrics = [row.metrics() for row in rows]
    assert metrics[:2] == metrics[2:]
    result = predict(dataset, solver, decide=False)
    curve, breakdown = (
        PrecisionRecallCurve.from_scores(scores, dataset) for scores in (result.scores, theirs)
    )
    assert np.array_equal(curve.precision, breakdown.precision)
    explained = solver.fit(dataset).explain(dataset[1])
    assert [c.score for c in explained.candidates] == theirs[1].tolist()


class Near(Solver):
    """Scores with small differences, in units of `gap` above `base`."""

    def __init__(
        self, *, base: float = 1.0, gap: float = 4e-7, decision: Argmax | None = None
    ) -> None:
        self.base = base
        self.gap = gap
        self.decision = decision

    def score_candidates(self, questions):
        rng = np.random.default_rng(0)
        return scores_of(questions, lambda q, i: self.base + self.gap * rng.integers(0, 6))


def probabilities(dataset, low: float) -> Scores:
    """Scores of a perfect system: nine times `low` for gold, `low` for the others."""
    return scores_of(dataset, lambda q, i: 9 * low if i in q.gold else low, relative_ties=True)


@pytest.mark.parametrize("form", ["jsonl", "mctest-scores"])
@pytest.mark.parametrize("low", [1e-8, 1e-300, 1e300, 0.1, 1.0])
def test_a_files_scores_have_any_unit(write, form, low):
    dataset = stories("dev")
    path = write(dataset, probabilities(dataset, low), form)
    (row,) = evaluate(dataset, [ScoreFile(path=path)]).rows
    assert (row.metrics()["accuracy"], row.tie_rate, row.block) == (1, 0, "given scores")
    assert "tie_tolerance:1e-12 relative" in row.signature.split("|")
    rescaled = write(
        dataset, ScoreFile(path=path).fit(dataset).score_candidates(dataset), form, "again"
    )
    assert evaluate(dataset, [ScoreFile(path=rescaled)]).rows[0].metrics() == row.metrics()


@pytest.mark.parametrize("ties", ["partial", "first", "strict"])
@pytest.mark.parametrize("form", ["jsonl", "mctest-scores"])
@pytest.mark.parametrize(
    "solver",
    [
        Near(),
        Near(gap=2e-6),
        Near(base=0, gap=3e-7),
        Near(gap=0.2, decision=Argmax(tie_tolerance=0.5)),
    ],
)
def test_scores_that_are_written_and_read_decide_as_before(write, form, solver, ties):
    dataset = stories("dev")
    path = write(dataset, predict(dataset, solver, decide=False).scores, form)
    before, after = evaluate(dataset, [solver, ScoreFile(path=path)], ties=ties).rows
    assert before.metrics() == after.metrics()
    assert before.outcomes.answers == after.outcomes.answers
    assert before.outcomes.n_tied.tolist() == after.outcomes.n_tied.tolist()
    assert before.outcomes.n_tied.max() > 1


def test_a_combination_decides_on_its_own_scores(write):
    dataset = stories("dev")
    small = ScoreFile(path=write(dataset, probabilities(dataset, 1e-8), "jsonl"))
    solvers = [Combination(solvers=[small, small], weights=[w, w]) for w in (1.0, 1e6)]
    rows = evaluate(dataset, solvers).rows
    assert [row.tie_rate for row in rows] == [1, 0]
    assert all("tie_tolerance" not in row.signature for row in rows)


def test_thresholds_get_the_scores_as_they_are(write):
    scores = scores_of(SEVERAL, lambda q, i: 1 + 1e-9 * i)
    for form in ("jsonl", "multirc"):
        path = write(SEVERAL, scores, form)
        assert are_equal(ScoreFile(path=path).fit(SEVERAL).score_candidates(SEVERAL), scores)


def decisions(tmp_path, rows, name="answers.jsonl"):
    path = tmp_path / name
    lines = [json.dumps({"id": id, "answer": answer}) + "\n" for id, answer in rows]
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def answers(dataset, answer):
    """Return an answer to each question, made of the question and its place."""
    return [(q.id, answer(q, i)) for i, q in enumerate(dataset)]


CLOZE = synthetic_dataset(Task.CLOZE, name="cloze")
SINGLE = stories("dev")
UNPARSED = {**dict.fromkeys(range(5), "perhaps A"), 5: None, 6: None}
FILES = {
    "letters": (SINGLE, lambda q, i: "ABCD"[i % 4]),
    "unparsed": (SINGLE, lambda q, i: UNPARSED.get(i, "A")),
    "selections": (SEVERAL, lambda q, i: ["A"] if i % 3 else []),
    "unparsed selections": (SEVERAL, lambda q, i: ["B"] if i % 4 else "?"),
    "mentions": (CLOZE, lambda q, i: q.candidates[i % 2].text),
    "blank mentions": (CLOZE, lambda q, i: q.candidates[-1].text if i % 3 else ""),
    "normalised mentions": (CLOZE, lambda q, i: f"the {q.candidates[0].text.upper()}!"),
}
SAMPLES = [(q.id, answer) for q in SINGLE for answer in ("A", "B", "A", "perhaps")]


@pytest.mark.parametrize("name", [*FILES, "samples"])
def test_decisions_score_what_score_says_and_are_never_tuned(tmp_path, name):
    """A question without an answer stays without one: it is no tie, and no empty selection."""
    dataset, answer = FILES.get(name, (SINGLE, None))
    rows = answers(dataset, answer) if answer else SAMPLES
    path = decisions(tmp_path, rows)
    (direct,) = evaluate(dataset, [path]).rows
    evaluation = evaluate(
        dataset, [ScoreFile(path=path)], tune=dataset, ties="first", threshold=0.3
    )
    (row,) = evaluation.rows
    assert row.metrics() == pytest.approx(direct.metrics(), abs=1e-12)
    assert row.selected_share == pytest.approx(direct.selected_share)
    assert (row.ties, row.threshold, row.tuned_on) == (None, None, None)
    assert sum("not used" in warning for warning in evaluation.warnings) == 3
    unparsed = any(answer in ("perhaps A", "perhaps", "?", "") for _, answer in rows)
    assert any("could not be parsed" in caveat for caveat in row.caveats) == unparsed


def test_decisions_give_the_scores_of_any_part_in_any_order(tmp_path):
    path = decisions(tmp_path, answers(*FILES["letters"]))
    questions = [SINGLE[i] for i in (5, 2)]
    for fitted_on in (SINGLE, questions):
        solver = ScoreFile(path=path).fit(fitted_on)
        assert score_lists(solver, *questions) == [[0, 1, 0, 0], [0, 0, 1, 0]]


@pytest.mark.parametrize("form", ["mctest-answers", "jsonl", "multirc", "record"])
def test_decisions_in_official_formats_are_read(tmp_path, form):
    dataset = {"multirc": SEVERAL, "record": CLOZE}.get(form, SINGLE)
    answers = predict(dataset, SlidingWindow(), ties="first", tune=dataset).predictions
    path = tmp_path / "answers"
    write_predictions(path, dataset, None, answers, form)
    (row,) = evaluate(dataset, [ScoreFile(path=str(path))]).rows
    (direct,) = evaluate(dataset, [str(path)]).rows
    assert row.metrics() == pytest.approx(direct.metrics(), abs=1e-12)


def test_answers_that_are_no_scores_of_candidates_are_refused(tmp_path):
    spans = synthetic_dataset(Task.SPAN, name="spans")
    path = decisions(tmp_path, [(q.id, "a text") for q in spans])
    with raises(UsageError, field="path", found="answers") as caught:
        evaluate(spans, [ScoreFile(path=path)])
    assert f"classic-rc run DATA -s {path}" in str(caught.value)
    rows = answers(CLOZE, lambda q, i: "somebody else" if i == 1 else q.candidates[0].text)
    path = decisions(tmp_path, rows)
    with raises(
        UsageError, field="path", found=f"'somebody else' to question {CLOZE[1].id}"
    ) as caught:
        evaluate(CLOZE, [ScoreFile(path=path)])
    assert "1 answers" in str(caught.value)
    path = decisions(tmp_path, [(q.id, a) for q in SEVERAL for a in ("A", "B")])
    with raises(UsageError, field="path", found=f"2 answers to {SEVERAL[0].id}"):
        evaluate(SEVERAL, [ScoreFile(path=path)])


def test_files_of_scores_and_of_decisions_do_not_mix(write, tmp_path):
    train, dev = stories("train"), stories("dev")
    decided = decisions(tmp_path, [(q.id, "A") for q in train])
    paths = [write(dev, drawn(dev), "jsonl"), decided]
    with raises(UsageError, field="path", found=f"{paths[0]} and {decided}"):
        evaluate(dev, [ScoreFile(path=paths)])


def test_decisions_are_members_of_a_combination(tmp_path):
    gold = decisions(tmp_path, [(q.id, "ABCD"[min(q.gold)]) for q in SINGLE])
    solver = Combination(solvers=[ScoreFile(path=gold), SlidingWindow()], weights=[100.0, 1.0])
    (row,) = evaluate(SINGLE, [solver]).rows
    assert row.metrics()["accuracy"] == 1
    selections = answers(SEVERAL, lambda q, _: ["ABCDEFGHIJ"[i] for i in q.gold])
    gold = decisions(tmp_path, selections, "several.jsonl")
    solver = Combination(solvers=[ScoreFile(path=gold), SlidingWindow()], weights=[100.0, 1.0])
    (row,) = evaluate(SEVERAL, [solver]).rows
    assert row.metrics()["f1_a"] > 0.95
    assert row.tuned_on == "cv5"
