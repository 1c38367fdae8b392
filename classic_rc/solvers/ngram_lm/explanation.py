"""The explanation of the language model's scores: each word's probability by orders, back-off weights and cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from classic_rc.kernels.kneser_ney import MARKS, find
from classic_rc.kernels.pairs import occurrences
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import Explanation, Term, divided, given, logarithm, plus, times
from classic_rc.solvers.ngram_lm.model import LanguageModel
from classic_rc.solvers.ngram_lm.texts import ScoredTexts, Substitutions, score_answer_tokens, score_shared_tokens

_EXPLAINED_CANDIDATES = 100


class TokenExplainer(NamedTuple):
    """One question's candidates put in, and the model that scores them."""

    model: LanguageModel
    texts: Substitutions
    partial: bool  # whether only the text after the answer is predicted
    cache_weight: float

    def shared(self) -> list[ScoredTexts]:
        """Return the tokens that no candidate affects."""
        return list(
            score_shared_tokens(self.model, self.texts, partial=self.partial, cache_weight=self.cache_weight)
        )

    def of_answer(self, row: int) -> ScoredTexts:
        """Return the tokens that an answer affects."""
        answer = slice(row, row + 1)
        return score_answer_tokens(
            self.model, self.texts, answer, partial=self.partial, cache_weight=self.cache_weight
        )

    def labels(self, scored: ScoredTexts) -> list[str]:
        """Return each token's label, with the longest context that the model has seen before it."""
        words = [*MARKS, *self.model.words, *(f"{word}, unknown" for word in self.texts.vocabulary)]
        labels = []
        for place, order in zip(scored.place.tolist(), scored.orders.tolist(), strict=True):
            *context, word = (words[token] for token in scored.text.tokens[place - order + 1 : place + 1].tolist())
            labels.append(f"p({word} | {' '.join(context)})" if context else f"p({word})")
        return labels

    def terms(self, scored: ScoredTexts) -> Iterator[Term]:
        """Yield the log-probability of each token as a formula."""
        labels = self.labels(scored)
        tokens = self.model.known(scored.text.tokens).tolist()
        starts = np.searchsorted(scored.text.offsets, scored.place, side="right") - 1
        begins = scored.text.offsets[starts].tolist()
        rows = zip(labels, scored.place.tolist(), begins, scored.logs.tolist(), strict=True)
        for label, place, begin, log in rows:
            context = tokens[max(begin, place - self.model.model.order + 1) : place]
            probability = self._explain_probability(context, tokens[place])
            if self.texts.passages is not None:
                probability = self._mix(label, probability, int(scored.text.tokens[place]))
            yield logarithm(f"log {label}", probability, value=log)

    def _explain_probability(self, context: list[int], token: int) -> Term:
        """Return p(token | context) by the recursion of interpolated Kneser-Ney, from the 1-grams up.

        The model keeps probabilities and back-off weights, not counts. So the share of the counts at an order is
        what is left of the probability without the lower orders.
        """
        model = self.model.model
        note = f"order 1: {self._word(token)}"
        probability = given("p1", float(model.probabilities[0][token]), note)
        for k in range(1, len(context) + 1):
            rank = self._rank(context[-k:])
            if rank < 0:  # the model has no longer context either
                break
            backoff = float(model.backoffs[k - 1][rank])
            words = " ".join(map(self._word, [*context[-k:], token]))
            gamma = given(f"back-off {k + 1}", backoff, f"of {' '.join(map(self._word, context[-k:]))!r}")
            lower = times("", gamma, probability)
            place = int(find(model.keys[k], np.array([rank * model.n_words + token]))[0])
            if place < 0:
                probability = lower.renamed(f"p{k + 1}", f"order {k + 1}: the model does not have {words!r}")
                continue
            value = float(model.probabilities[k][place])
            discounts = ", ".join(f"{discount:.5g}" for discount in model.discounts[k].tolist())
            share = given(
                f"discounted share {k + 1}",
                value - lower.value,
                f"(count - discount) / total; the discounts of counts 1, 2, 3+ are {discounts}",
            )
            probability = plus(f"p{k + 1}", share, lower, value=value, note=f"order {k + 1}: {words}")
        return probability

    def _rank(self, words: list[int]) -> int:
        """Return the index of a k-gram among the model's k-grams, or -1."""
        model, rank = self.model.model, words[0]
        for k, word in enumerate(words[1:], 1):
            if rank >= 0:
                rank = int(find(model.keys[k], np.array([rank * model.n_words + word]))[0])
        return rank

    def _word(self, token: int) -> str:
        return [*MARKS, *self.model.words][token] if token < len(MARKS) else self.model.words[token - len(MARKS)]

    def _mix(self, label: str, probability: Term, token: int) -> Term:
        """Return the probability with the cache: the passage's own words."""
        passages = self.texts.passages
        assert passages is not None
        passage = passages.of_question[:1]
        length = int(passages.lengths[passage[0]])
        if not length:
            return probability
        count = int(occurrences(passages.counts, passage, np.array([token]))[0])
        cache = divided("", given("times in the passage", count), given("words of the passage", length))
        weight = given("cache weight", self.cache_weight)
        rest = given("", 1 - self.cache_weight)
        return plus(f"{label} with cache", times("", rest, probability), times("", weight, cache))


def explain_tokens(
    solver: str, question: Question, scores: Scores, tokens: TokenExplainer, *, by_length: bool
) -> Explanation:
    """Explain each candidate's score by the log-probabilities that it is the sum of.

    With `by_length`, the score is that sum divided by the number of words. Each word is shown with the longest
    context that the model has seen before it.
    """
    shared = tokens.shared()
    n_others = sum(len(part.logs) for part in shared)
    others = plus("other words", *(term for part in shared for term in tokens.terms(part)), note=_OTHERS)
    explained = list(Explanation.from_scores(solver, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        scored = tokens.of_answer(int(tokens.texts.rows[i]))
        own = list(tokens.terms(scored))
        numbers: dict[str, float] = {}
        for term in own:  # equal words in equal contexts are added up
            numbers[term.name] = numbers.get(term.name, 0.0) + term.value
        numbers["other words"] = others.value
        total = plus("", *own, *([others] if n_others else []))
        score = explained[i].score
        if by_length:
            numbers["words in all"] = float(n_others + len(own))
            formula = divided("score", total, given("words in all", n_others + len(own)), value=score)
        else:
            formula = replace(total, name="score", value=score)
        explained[i] = replace(explained[i], numbers=numbers, formula=formula)
    return Explanation(solver, question, tuple(explained))


_OTHERS = "words that no candidate affects"
