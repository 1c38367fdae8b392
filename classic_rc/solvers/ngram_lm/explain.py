"""Explanations of language-model scores: the log-probability of each word that a candidate changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from classic_rc.kernels.kneser_ney import MARKS
from classic_rc.questions import Question
from classic_rc.solvers.explanation import CandidateExplanation, Explanation
from classic_rc.solvers.ngram_lm.texts import Substitutions
from classic_rc.solvers.ngram_lm.windows import Scored, answer_windows, shared_windows

if TYPE_CHECKING:
    from classic_rc.solvers.ngram_lm.solver import NGramLM


_EXPLAINED_CANDIDATES = 100


def explain_tokens(solver: NGramLM, question: Question) -> Explanation:
    """The log-probabilities that add up to each candidate's score; divided by the last number, if it is a mean.

    A word stands with as much of its context as the model has seen together with it.
    """
    scores = solver.score_candidates([question])
    texts = solver.put_in([question])
    partial, weight = solver.scoring == "partial", solver.cache_weight
    shared = list(shared_windows(solver.model_, texts, partial=partial, cache_weight=weight))
    others = sum(float(part.logs.sum()) for part in shared)
    n_others = sum(len(part.logs) for part in shared)
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        row = int(texts.rows[i])
        own = answer_windows(solver.model_, texts, slice(row, row + 1), partial=partial, cache_weight=weight)
        numbers = {**_labelled(solver, texts, own), "other words": others}
        if solver.normalise == "length":
            numbers["words in all"] = float(n_others + len(own.logs))
        explained[i] = CandidateExplanation(
            explained[i].text, explained[i].score, explained[i].evidence, numbers=numbers
        )
    return Explanation(solver.name, question, tuple(explained))


def _labelled(solver: NGramLM, texts: Substitutions, own: Scored) -> dict[str, float]:
    """A log-probability a word; those of equal words in equal contexts together."""
    model = solver.model_
    words = [*MARKS, *model.words, *(f"{word}, unknown" for word in texts.vocabulary)]
    numbers: dict[str, float] = {}
    for place, log, order in zip(own.place.tolist(), own.logs.tolist(), own.orders.tolist(), strict=True):
        *context, word = (words[token] for token in own.text.tokens[place - order + 1 : place + 1].tolist())
        label = f"log p({word} | {' '.join(context)})" if context else f"log p({word})"
        numbers[label] = numbers.get(label, 0.0) + log
    return numbers
