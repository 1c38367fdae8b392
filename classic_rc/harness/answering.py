"""Requests of lm-evaluation-harness, turned into questions and answered by a solver, a whole
task at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.datasets.perturbations import perturb_dataset
from classic_rc.decisions import TunedThreshold
from classic_rc.errors import DataError, UsageError, wrong_value
from classic_rc.formats.harness_docs import (
    Document,
    conditional_requests,
    join_documents,
    read_document,
    says_right,
)
from classic_rc.io.json import Node
from classic_rc.predictions import Scores
from classic_rc.protocol import Protocol
from classic_rc.questions import Dataset, Task
from classic_rc.running.fitted_system import EncodingCache, FittedSystem
from classic_rc.running.plan import configure_solver
from classic_rc.solvers.base import Solver, score_questions
from classic_rc.solvers.saved import SavedSolver
from classic_rc.solvers.specs import parse_solver

DEFAULT_SOLVER = "sw+d"
OPTIONS_ONLY = "options"
"""The value of ``inputs`` that hides passages and questions."""


@dataclass(frozen=True, slots=True)
class Request:
    """One continuation that the harness asks about; `index` is its position among those of the
    document.
    """

    task: str
    document_id: int
    index: int
    document: Any
    prompt: str
    continuation: str


class Answerer:
    """A solver that answers requests.

    `solver` is a specification, as of ``-s``, and `parameters` its parameters. `inputs`
    ``"options"`` hides passages and questions; other values are values of the solver's own
    parameter. Options with a score above `threshold` are right, where each option is right or wrong
    by itself. `path` is a file that ``classic-rc fit`` wrote, or the file that the solver's own
    parameter `path` names.
    """

    def __init__(
        self,
        solver: str = "",
        *,
        inputs: str | None = None,
        threshold: float | None = None,
        path: str | None = None,
        **parameters: Any,
    ) -> None:
        self.hides_text = inputs == OPTIONS_ONLY
        if inputs is not None and not self.hides_text:
            parameters["inputs"] = inputs
        if threshold is not None and (
            isinstance(threshold, bool) or not isinstance(threshold, int | float)
        ):
            raise wrong_value("threshold", threshold, "a number")
        self.threshold = threshold
        self.solver = _make_solver(str(solver), None if path is None else str(path), parameters)

    def answer(self, requests: Sequence[Request]) -> list[float]:
        """Return a number for each request: 0 for the best continuation of its document, below 0
        for the others.

        Of those that tie for the best score all have 0. The harness takes the first, so that its
        accuracy is that of ``--ties first``; and its ``acc_norm``, which divides by lengths, is
        equal to ``acc``. Equal requests, which the harness repeats, have equal numbers.
        """
        values = [0.0] * len(requests)
        places_of_task: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            places_of_task.setdefault(request.task, []).append(place)
        for places in places_of_task.values():
            answers = self._answer_task([requests[i] for i in places])
            for place, value in zip(places, answers, strict=True):
                values[place] = value
        return values

    def _answer_task(self, requests: Sequence[Request]) -> list[float]:
        of_document: dict[int, dict[int, Request]] = {}
        for request in requests:
            of_document.setdefault(request.document_id, {})[request.index] = request
        conditional = []
        for of_index in of_document.values():
            options = [of_index[i] for i in sorted(of_index)]
            prompts = [request.prompt for request in options]
            conditional.append([options[i] for i in conditional_requests(prompts)])
        documents = [_read(options) for options in conditional]
        joined = join_documents(documents, [str(options[0].document_id) for options in conditional])
        name = requests[0].task
        for document in documents:
            if document.is_label != documents[0].is_label:
                raise DataError("documents of two kinds in one task", source=f"task {name}")
        hidden = [replace(question, gold=None) for question, _ in joined]
        scored = self._score(Dataset(hidden, name=name))
        number: dict[tuple[int, int], float] = {}
        for (_, members), of_question in zip(joined, scored, strict=True):
            if documents[0].is_label:
                for i, is_selected in zip(members, of_question, strict=True):
                    right = _right_label(conditional[i])
                    for place, request in enumerate(conditional[i]):
                        is_best = (place == right) == bool(is_selected)
                        number[request.document_id, request.index] = 0.0 if is_best else -1.0
            else:
                options = conditional[members[0]]
                for request, value in zip(options, of_question.tolist(), strict=True):
                    number[request.document_id, request.index] = value
        # Requests without a prompt, which `acc_mutual_info` subtracts, change nothing.
        return [number.get((request.document_id, request.index), 0.0) for request in requests]

    def _score(self, dataset: Dataset) -> list[NDArray[Any]]:
        """Return numbers for the options of each question; whether an option is selected, if
        several may be.
        """
        if self.hides_text:
            dataset = perturb_dataset(dataset, "options-only")
        protocol = Protocol(ties="first", threshold=self.threshold)
        solver = configure_solver(self.solver, dataset, protocol)
        shared = EncodingCache()
        fitted = FittedSystem(solver, dataset, shared=shared).solver
        questions = shared.of(dataset)
        if dataset.task is Task.SINGLE_CHOICE:
            return _below_best(score_questions(fitted, questions))
        rule = fitted.decision_for(Task.MULTIPLE_ANSWER)
        if isinstance(rule, TunedThreshold) and rule.needs_fit:
            raise UsageError(
                f"{fitted.name} needs a threshold to select several options: give one in its unit "
                f"(threshold=0.5), or a solver with its own, such as path=FILE of classic-rc fit",
                field="threshold",
                found="none",
                expected="a number",
            )
        are_selected = []
        for question, prediction in zip(dataset, fitted.predict(questions), strict=True):
            options = np.arange(len(question.candidates))
            selected = [i for answer in prediction.answers for i in answer]
            are_selected.append(np.isin(options, selected))
        return are_selected


def _make_solver(spec: str, path: str | None, parameters: Mapping[str, Any]) -> Solver:
    """Return the solver of model arguments; a learned one comes from its file."""
    texts = [f"{name}={_as_text(value)}" for name, value in parameters.items()]
    default = DEFAULT_SOLVER if path is None else SavedSolver.name
    solver = parse_solver(",".join([spec or default, *texts]))
    if path is not None and "path" in solver.get_params(deep=False):
        solver.set_params(path=path)
    elif path is not None:
        if texts:
            raise UsageError(
                f"the parameters of a saved solver are in its file, and {', '.join(texts)} cannot "
                "change them: leave them out",
                field="path",
                found=", ".join(texts),
                expected="path alone",
            )
        expected, solver = solver, SavedSolver(path=path)
        loaded = solver.fit([]).solver_
        if loaded.name != expected.name:
            raise UsageError(
                f"{path} has the solver {loaded.name}: write solver={loaded.name}, or leave it out",
                field="solver",
                found=expected.name,
                expected=loaded.name,
            )
    solver.check_parameters()
    if solver.learns_from == "gold":
        name = solver.row_name()
        raise UsageError(
            f"{name} learns from gold answers: learn first (classic-rc fit DATA -s {name} -o "
            "FILE), and give the file (path=FILE)",
            field="solver",
            found=name,
            expected="path=FILE",
        )
    if isinstance(solver, SavedSolver):
        # reads the file, so that a bad one is refused before the harness loads its data
        solver.fit([])
    return solver


def _as_text(value: Any) -> str:
    """Return a parameter's text; the harness has made numbers, truth values and lists of what
    looks like them.
    """
    if not isinstance(value, list | tuple):
        return str(value)
    return f"[{'; '.join(map(_as_text, value))}]"


def _read(requests: Sequence[Request]) -> Document:
    first, last_index = requests[0], requests[-1].index
    source, where = f"task {first.task}", f"document {first.document_id}"
    if len(requests) < 2:
        raise DataError(
            "the task has no options to choose from",
            source=source,
            where=where,
            found="one continuation",
            expected="a multiple-choice task",
        )
    if last_index + 1 != len(requests):
        raise DataError(
            "options are missing",
            source=source,
            where=where,
            found=f"{len(requests)} of at least {last_index + 1}",
            expected="the requests of all options",
            hint="Run without --use_cache",
        )
    fields = first.document if isinstance(first.document, Mapping) else {}
    continuations = [request.continuation for request in requests]
    n_prompts = len({request.prompt for request in requests})
    document = read_document(Node(fields, source, where), continuations, n_prompts)
    if document.family is None and not document.question:
        # The question alone: after the blank line that ends the examples of a few-shot prompt.
        return document._replace(question=first.prompt.rstrip().rpartition("\n\n")[2])
    return document


def _right_label(requests: Sequence[Request]) -> int:
    """Return the position of the continuation that says that the option is right; the second of
    unknown ones.
    """
    return next((i for i, request in enumerate(requests) if says_right(request.continuation)), 1)


def _below_best(scores: Scores) -> list[NDArray[np.float64]]:
    """Return each question's scores minus its best one, and 0 for all that tie with it."""
    best = scores.are_best()
    below = []
    for start, stop in pairwise(scores.offsets.tolist()):
        values, is_best = scores.values[start:stop], best[start:stop]
        with np.errstate(invalid="ignore"):  # of two infinite scores
            difference = values - values.max()
        difference = np.nan_to_num(difference, nan=-np.inf, neginf=-np.inf)
        below.append(np.where(is_best, 0.0, difference))
    return below
