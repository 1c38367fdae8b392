"""The explanation of the feature ranker's scores: groups that add up, features, cells, and the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.solvers.feature_ranker.features import evidence_sentences
from classic_rc.text.turns import spoken_sentences

if TYPE_CHECKING:
    from classic_rc.solvers.feature_ranker.solver import FeatureRanker
    from classic_rc.solvers.feature_ranker.texts import RankerTexts

_SHOWN_FEATURES = 6
_SHOWN_CELLS = 4


def explain_ranker(solver: FeatureRanker, question: Question) -> Explanation:
    """Explain each candidate's score.

    The first numbers, of the bias and of the groups of features, add up to the score exactly, one after the other.
    Then come the features with the largest effects, ``feature NAME = VALUE``, and the cells with the largest
    weights in the lexical score, ``cell NAME``. The sentence with the evidence is marked.
    """
    scores = solver.score_candidates([question])
    plain = Explanation.from_scores(solver.name, question, scores).candidates
    if not plain:
        return Explanation(solver.name, question, ())
    texts = solver._texts([question])
    encoded = texts.encoded
    groups = next(iter(solver._group_scores(texts)))[1]
    _, values, added = next(iter(solver.contributions(texts)))
    names = solver.ranker_.design.names
    rows = np.arange(len(plain)) if encoded.candidate_rows is None else encoded.candidate_rows
    sentences = evidence_sentences(texts, solver.words_.rarity(encoded.vocabulary))
    spans = spoken_sentences(question.passage) if len(texts.sentence_offsets) > 1 else []
    cells = [] if solver.cells_ is None else _largest_cells(solver, texts)
    explained = []
    for i, candidate in enumerate(plain):
        row = int(rows[i])
        numbers = {name: float(amounts[i]) for name, amounts in groups.items()}
        for j in np.argsort(-np.abs(added[:, i]), kind="stable")[:_SHOWN_FEATURES].tolist():
            if added[j, i]:
                numbers[f"feature {names[j]} = {values[j, i]:.4g}"] = float(added[j, i])
        numbers |= cells[row] if cells else {}
        marks = ()
        if spans and sentences[row] >= 0:
            sentence = spans[int(sentences[row])]
            marks = (Mark(sentence.start, sentence.end, "sentence"),)
        explained.append(CandidateExplanation(candidate.text, candidate.score, candidate.evidence, marks, numbers))
    return Explanation(solver.name, question, tuple(explained))


def _largest_cells(solver: FeatureRanker, texts: RankerTexts) -> list[dict[str, float]]:
    """Return the cells with the largest weights of each distinct candidate, by name."""
    assert solver.cells_ is not None
    found: list[dict[str, float]] = []
    for _, (columns, sizes) in solver.cells_.blocks(texts):
        for own in np.split(columns, np.cumsum(sizes)[:-1]):
            weights = solver.cell_weights_[own].astype(np.float64)
            chosen = np.argsort(-np.abs(weights), kind="stable")[:_SHOWN_CELLS]
            labels = solver.cells_.describe(own[chosen].tolist())
            found.append({f"cell {label}": float(w) for label, w in zip(labels, weights[chosen], strict=True) if w})
    return found
