"""Requests of lm-evaluation-harness, answered without the harness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from classic_rc import Dataset, evaluate
from classic_rc.errors import DataError, UsageError
from classic_rc.harness.answering import Answerer, Request
from classic_rc.questions import Task
from classic_rc.solvers.saved import save_solver
from classic_rc.solvers.specs import parse_solver
from classic_rc.testing import synthetic_dataset
from tests.errors import raises
from tests.harness.builders import label_documents


def requests_of(dataset: Dataset, task: str = "made", prompt: str = "prompt") -> list[Request]:
    """Return a request for each option."""
    requests = []
    for number, question in enumerate(dataset):
        texts = [candidate.text for candidate in question.candidates]
        doc = {"passage": question.passage.text, "question": question.text, "options": texts}
        for i, text in enumerate(texts):
            requests.append(Request(task, number, i, doc, prompt, f" {text}"))
    return requests


def accuracy(dataset: Dataset, values: list[float]) -> float:
    """Return the harness's accuracy: the first of the best log-likelihoods counts."""
    right, start = 0, 0
    for question in dataset:
        stop = start + len(question.candidates)
        assert question.gold is not None
        right += int(np.argmax(values[start:stop])) in question.gold
        start = stop
    return right / len(dataset)


def ours(dataset: Dataset, spec: str) -> float:
    return evaluate(dataset, [spec], ties="first").rows[0].metrics()["accuracy"]


CHOICES = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=15, seed=4)


@pytest.mark.parametrize(
    "spec",
    [
        "sw+d",
        "sliding-window,window=3",
        "lexical",
        "ir:passage",
        "longest",
        "constant-position:last",
    ],
)
def test_the_first_best_continuation_is_the_answer_of_ties_first(spec):
    values = Answerer(spec).answer(requests_of(CHOICES))
    assert accuracy(CHOICES, values) == ours(CHOICES, spec)


def test_the_best_is_0_so_that_dividing_by_lengths_changes_nothing():
    requests = requests_of(CHOICES)
    values = np.array(Answerer("sw+d").answer(requests))
    for number in range(len(CHOICES)):
        document_values = values[
            [i for i, request in enumerate(requests) if request.document_id == number]
        ]
        assert document_values.max() == 0.0
        assert (document_values[document_values < 0] < -1e-6).all()


def test_requests_may_come_in_any_order_with_repeats_and_of_several_tasks():
    requests = [*requests_of(CHOICES), *requests_of(CHOICES[:9], task="other")]
    expected = Answerer("sw+d").answer(requests)
    order = np.random.default_rng(1).permutation([*range(len(requests))] * 2)
    values = Answerer("sw+d").answer([requests[i] for i in order])
    assert values == [expected[i] for i in order]


def test_parameters_may_be_numbers_and_lists():
    requests = requests_of(CHOICES)
    assert Answerer("sliding-window", window=3).answer(requests) == Answerer(
        "sliding-window,window=3"
    ).answer(requests)
    combined = Answerer("combination", solvers="[sw; longest]", weights=[1, 0.5]).answer(requests)
    assert combined == Answerer("combination,solvers=[sw; longest],weights=[1; 0.5]").answer(
        requests
    )


def test_options_only_hides_passage_and_question():
    requests = requests_of(CHOICES)
    with raises(DataError, problem="no question has a passage, so there is no text to read"):
        Answerer("sliding-window", inputs="options").answer(requests)
    assert Answerer("longest", inputs="options").answer(requests) == Answerer("longest").answer(
        requests
    )


def test_a_learned_solver_comes_with_its_file(tmp_path):
    train = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=30, seed=5)
    path = str(tmp_path / "lr.solver")
    save_solver(parse_solver("surface-lr").fit(train), path)
    requests = requests_of(CHOICES)
    values = Answerer(path=path).answer(requests)
    assert accuracy(CHOICES, values) == ours(CHOICES, f"saved,path={path}")
    assert Answerer("surface-lr", path=path).answer(requests) == values
    with raises(UsageError, field="solver", found="feature-ranker", expected="surface-lr"):
        Answerer("feature-ranker", path=path)
    with raises(UsageError, field="path", found="C=2"):
        Answerer("surface-lr", path=path, C=2)
    with raises(UsageError, field="solver", found="surface-lr", expected="path=FILE"):
        Answerer("surface-lr")
    with pytest.raises(DataError):
        Answerer(path=str(tmp_path / "other.solver"))


def label_requests(dataset: Dataset, labels: tuple[str, str]) -> list[Request]:
    """Return two requests for each option: one for each label."""
    requests = []
    for number, document in enumerate(label_documents(dataset)):
        for i, label in enumerate(labels):
            requests.append(Request("made", number, i, document, "prompt", label))
    return requests


@pytest.mark.parametrize(
    ("labels", "right"), [((" no", " yes"), 1), ((" x\nRight? yes", " x\nRight? no"), 0)]
)
def test_options_with_labels_are_selected_by_the_threshold(labels, right):
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=4)
    values = Answerer("sliding-window", threshold=2.5).answer(label_requests(dataset, labels))
    best_labels = np.array(values).reshape(-1, 2).argmax(axis=1) == right
    scores = parse_solver("sliding-window").score_candidates(dataset).values
    assert best_labels.tolist() == (scores > 2.5).tolist()
    assert 0 < best_labels.sum() < len(best_labels)


def test_gold_of_labels_is_not_read():
    dataset = synthetic_dataset(Task.MULTIPLE_ANSWER, n_passages=12, seed=4)
    requests = label_requests(dataset, (" no", " yes"))
    relabelled = [replace(r, document={**r.document, "label": 0}) for r in requests]
    answerer = Answerer("ir:passage", threshold=0.3)
    assert answerer.answer(requests) == answerer.answer(relabelled)
    with raises(UsageError, field="threshold", found="none"):
        Answerer("sw+d").answer(requests)


def test_the_prompt_is_not_read_where_the_document_is_known():
    shots = "Ann lost the small red garden.\nQuestion: what?\nAnswer: garden\n\n"
    answerer = Answerer("sw+d")
    expected = answerer.answer(requests_of(CHOICES))
    assert answerer.answer(requests_of(CHOICES, prompt=shots)) == expected


def test_the_question_of_an_unknown_document_is_the_end_of_the_prompt(tmp_path):
    path = str(tmp_path / "lr.solver")
    train = synthetic_dataset(Task.SINGLE_CHOICE, n_passages=30, seed=5)
    save_solver(parse_solver("surface-lr,inputs=no-passage").fit(train), path)

    def answers(doc: dict[str, Any], prompt: str) -> list[float]:
        requests = requests_of(CHOICES[:1])
        return Answerer(path=path).answer(
            [replace(r, document=doc, prompt=prompt) for r in requests]
        )

    question_text = CHOICES[0].text
    expected = answers({"passage": "", "question": question_text}, "other")
    assert answers({"riddle": 1}, f"Example?\nAnswer: garden\n\n{question_text}") == expected
    assert answers({"riddle": 1}, "other") != expected


def test_mutual_information_subtracts_nothing():
    requests = requests_of(CHOICES)
    blank = [replace(r, index=r.index + 10, prompt="") for r in requests]
    values = Answerer("sw+d").answer([*requests, *blank])
    assert values[: len(requests)] == Answerer("sw+d").answer(requests)
    assert set(values[len(requests) :]) == {0.0}


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"solver": "sw+e"}, {"field": "solver", "found": "sw+e"}),
        ({"solver": "sw+d", "windo": 3}, {"field": "parameter of sw+d", "found": "windo"}),
        ({"solver": "sw+d", "window": "x"}, {"field": "window"}),
        (
            {"solver": "sw+d", "inputs": "passage"},
            {"field": "parameter of sw+d", "found": "inputs"},
        ),
        ({"solver": "sw+d", "threshold": "x"}, {"field": "threshold", "found": "x"}),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments: dict[str, Any], facts: dict[str, Any]):
    with raises(UsageError, **facts):
        Answerer(**arguments)


def test_one_continuation_and_missing_options_are_refused():
    requests = requests_of(CHOICES)
    with raises(DataError, source="task made", where="document 0", found="one continuation"):
        Answerer("sw+d").answer(requests[:1])
    del requests[1]
    with raises(
        DataError, source="task made", where="document 0", expected="the requests of all options"
    ):
        Answerer("sw+d").answer(requests)
