"""Explanations of surface features: those that weigh most, and where the passage has the candidate's words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from classic_rc.questions import Question, Task
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.solvers.surface.features import INPUTS
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import EncodedDataset

if TYPE_CHECKING:
    from classic_rc.solvers.surface.solver import SurfaceLR


_SHOWN_FEATURES = 8
_EXPLAINED_CANDIDATES = 100

_LABELS = {
    "answer": "candidate has {word!r}",
    "text-answer": "passage and candidate have {word!r}",
    "prominent": "candidate has prominent {word!r}",
    "question-answer": "question has {asked!r} and candidate {word!r}",
}
_OF_PASSAGE = ("text-answer", "prominent")


def explain_features(solver: SurfaceLR, question: Question) -> Explanation:
    """What the heaviest features add to each candidate's log-odds, by name.

    Together with the other features and the bias, which come last, they add up to the log-odds. Features that all
    candidates of a question have alike (how long its passage is) decide nothing between them, so where one
    candidate is sought they are among the others. Of the passage, the words that the candidate shares are marked.
    A model without weights has its scores alone.
    """
    scores = solver.score_candidates([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    if solver.model_.weights is None:
        return Explanation(solver.name, question, tuple(explained))
    encoded = solver.encoded([question])
    terms = _terms(solver, encoded)
    located = get_analyzer(solver.analyzer).locate(question.passage.text)
    reads_passage = "passage" in INPUTS[solver.design_.features.inputs]
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        row = i if encoded.candidate_rows is None else int(encoded.candidate_rows[i])
        of_word: dict[str, float] = defaultdict(float)
        for term in terms[row]:
            if term.group in _OF_PASSAGE:
                of_word[term.word] += term.weight
        shared = {word for word in _words(encoded, row) if reads_passage}
        explained[i] = CandidateExplanation(
            explained[i].text,
            explained[i].score,
            explained[i].evidence,
            tuple(Mark(start, end, "candidate", of_word.get(w)) for w, start, end in located if w in shared),
            _numbers(terms[row], solver.model_.bias, one_is_sought=question.task is not Task.MULTIPLE_ANSWER),
        )
    return Explanation(solver.name, question, tuple(explained))


class _Term(NamedTuple):
    """What one feature adds to the log-odds."""

    label: str
    weight: float
    group: str = ""
    word: str = ""


def _terms(solver: SurfaceLR, encoded: EncodedDataset) -> Mapping[int, list[_Term]]:
    """The terms of each of the arrays' candidates."""
    design, weights = solver.design_, solver.model_.weights
    assert weights is not None
    n_numbers = len(design.features.numbers)
    word_ids = design.columns.word_ids(encoded.vocabulary)
    terms: dict[int, list[_Term]] = defaultdict(list)
    for block in design.features.blocks(encoded):
        start = block.where.start
        for row, added in enumerate((block.numbers / design.scale * weights[:n_numbers]).tolist(), start):
            terms[row] += map(_Term, design.features.numbers, added)
        for group, found in block.words.items():
            usable, keys = design.columns.keys(group, found, word_ids)
            places = design.columns.of_keys(group, keys)
            asked = found.words if found.asked is None else found.asked
            for row, word, other, place in zip(
                *(ids[usable].tolist() for ids in (found.rows, found.words, asked)), places.tolist(), strict=True
            ):
                if place >= 0:
                    texts = {"word": encoded.vocabulary[word], "asked": encoded.vocabulary[other]}
                    weight = float(weights[n_numbers + place])
                    terms[start + row].append(_Term(_LABELS[group].format(**texts), weight, group, texts["word"]))
    return terms


def _numbers(terms: list[_Term], bias: float, *, one_is_sought: bool) -> dict[str, float]:
    deciding = [term for term in terms if "candidate" in term.label or not one_is_sought]
    shown = sorted(deciding, key=lambda term: (-abs(term.weight), term.label))[:_SHOWN_FEATURES]
    numbers = {term.label: term.weight for term in shown if term.weight}
    numbers["other features"] = sum(term.weight for term in terms) - sum(numbers.values())
    numbers["bias"] = bias
    return numbers


def _words(encoded: EncodedDataset, row: int) -> set[str]:
    start, end = encoded.arrays.candidate_offsets[row : row + 2]
    return {encoded.vocabulary[token] for token in encoded.arrays.candidate_tokens[start:end]}
