"""The explanation of the feature ranker's scores: groups that add up, features, cells, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import Explanation, Mark, Term, given, plus, times
from classic_rc.solvers.feature_ranker.lexical import LexicalCells
from classic_rc.solvers.feature_ranker.texts import RankerTexts

_SHOWN_FEATURES = 6
_SHOWN_CELLS = 4


class ScoreParts(NamedTuple):
    """What the scores of one question's candidates consist of."""

    groups: Mapping[str, NDArray[np.float64]]  # by group, (n_candidates,): these add up to the scores
    names: Sequence[str]  # of the features
    values: NDArray[np.floating[Any]]  # (n_features, n_candidates)
    added: NDArray[np.float64]  # (n_features, n_candidates): what each feature adds
    # of each feature, its columns: their names, and their values and weights, (n_candidates,)
    columns: Sequence[Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]]]
    group_of: Sequence[str]  # of each feature
    cells: Sequence[Mapping[str, float]]  # of each candidate, the largest weights in the lexical score
    evidence: NDArray[np.int64]  # (n_candidates,): the sentence with the evidence, or -1
    sentences: Sequence[tuple[int, int]]  # of the passage, as character offsets


def explain_parts(solver: str, question: Question, scores: Scores, parts: ScoreParts) -> Explanation:
    """Explain each candidate's score.

    The numbers of the bias and of the groups of features, added in their order, are exactly the score. The text
    behind them names the features with the largest effects, each with its value, and the cells with the largest
    weights in the lexical score. The sentence with the evidence is marked.
    """
    explained = []
    for i, plain in enumerate(Explanation.from_scores(solver, question, scores).candidates):
        numbers = {group: float(amounts[i]) for group, amounts in parts.groups.items()}
        largest = np.argsort(-np.abs(parts.added[:, i]), kind="stable")[:_SHOWN_FEATURES].tolist()
        lines = [
            f"{parts.names[j]} = {parts.values[j, i]:.4g} adds {parts.added[j, i]:+.4f}"
            for j in largest
            if parts.added[j, i]
        ]
        lines += [f"{name} has the lexical weight {weight:+.4f}" for name, weight in parts.cells[i].items()]
        marks: tuple[Mark, ...] = ()
        if parts.evidence[i] >= 0:
            marks = (Mark(*parts.sentences[int(parts.evidence[i])], "sentence"),)
        text, source = ("; ".join(lines), "largest features") if lines else (None, None)
        explained.append(
            replace(
                plain,
                marks=marks,
                numbers=numbers,
                quote=text,
                source=source,
                make_formula=partial(_explain_score, parts, i, plain.score),
            )
        )
    return Explanation(solver, question, tuple(explained))


def _explain_score(parts: ScoreParts, i: int, score: float) -> Term:
    """Return the sum over groups of what their features add: each column's value times its weight."""
    groups = []
    for group, amounts in parts.groups.items():
        members = [j for j, own in enumerate(parts.group_of) if own == group and parts.added[j, i]]
        features = [_explain_feature(parts, j, i) for j in members]
        amount = float(amounts[i])
        groups.append(plus(group, *features, value=amount) if features else given(group, amount))
    return plus("score", *groups, value=score)


def _explain_feature(parts: ScoreParts, j: int, i: int) -> Term:
    columns = [(name, float(values[i]), float(weights[i])) for name, values, weights in parts.columns[j]]
    terms = [times("", value, weight) for _, value, weight in columns if value * weight]
    note = f"feature {parts.values[j, i]:.4g}: " + " + ".join(
        name for name, value, weight in columns if value * weight
    )
    return plus(parts.names[j], *terms, value=float(parts.added[j, i]), note=note)


def largest_cells(cells: LexicalCells, weights: NDArray[np.float32], texts: RankerTexts) -> list[dict[str, float]]:
    """Return the cells of each distinct candidate that have the largest weights, with these weights."""
    found: list[dict[str, float]] = []
    for _, (columns, sizes) in cells.blocks(texts):
        for own in np.split(columns, np.cumsum(sizes)[:-1]):
            of_own = weights[own].astype(np.float64)
            chosen = np.argsort(-np.abs(of_own), kind="stable")[:_SHOWN_CELLS]
            labels = cells.describe(own[chosen].tolist())
            found.append({label: float(w) for label, w in zip(labels, of_own[chosen], strict=True) if w})
    return found
