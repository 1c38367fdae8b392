"""The explanation of the language model's scores: each word's probability by orders, back-off weights and cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from classic_rc.kernels.kneser_ney import MARKS, find
from classic_rc.kernels.pairs import occurrences
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.explanation import Explanation, Term, divided, given, logarithm, minus, plus, times
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
        """Return p(token | context) by the recursion of interpolated Kneser-Ney, from single words up."""
        model = self.model.model
        note = f"the same for each of the {model.n_words - 1} words, </s> and <unk> included"
        probability = divided("p0", 1, model.n_words - 1, note=note)
        for k in range(1, len(context) + 2):
            before = context[len(context) + 1 - k :]
            rank = self._rank(before) if before else 0
            if rank < 0:  # the model has no longer context either
                break
            following = model.following(k, rank)
            counts, discounts = model.counts[k - 1][following], model.discounts[k - 1].tolist()
            total = int(counts.sum())
            if not total:  # the texts have the context at their ends only
                continue
            # A back-off weight is what the discounts take from all counts.
            sizes = np.bincount(np.minimum(counts, 3), minlength=4)[1:].tolist()
            taken = [times("", size, own) for size, own in zip(sizes, discounts, strict=True) if size]
            words = " ".join(map(self._word, before))
            after = f"after {words!r}" if before else "of all words"
            gamma = divided(
                f"back-off {k}", plus("", *taken), total, note=f"sum of the discounts / sum of the counts {after}"
            )
            lower = times("", gamma, probability)
            place = int(find(model.keys[k - 1][following], np.array([rank * model.n_words + token]))[0])
            count = int(counts[place]) if place >= 0 else 0
            name, ngram = f"p{k}", " ".join(map(self._word, [*before, token]))
            if not count:
                probability = lower.renamed(name, f"order {k}: the model does not have {ngram!r}")
                continue
            of_count = plus("", count, minus("", discounts[min(count, 3) - 1]))
            share = divided(f"share {k}", of_count, total, note=f"(count - discount) / sum of the counts {after}")
            value = float(model.probabilities[k - 1][following][place])
            probability = plus(name, share, lower, value=value, note=f"order {k}: {ngram}")
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
    of_others = math.fsum(log for part in shared for log in part.logs.tolist())

    @cache
    def others() -> Term:
        note = "words that no candidate affects"
        return plus("other words", *(term for part in shared for term in tokens.terms(part)), note=note)

    def formula(score: float, scored: ScoredTexts) -> Term:
        total = plus("", *tokens.terms(scored), *([others()] if n_others else []))
        if by_length:
            n_words = given("words in all", n_others + len(scored.logs))
            return divided("score", total, n_words, value=score)
        return replace(total, name="score", value=score)

    explained = list(Explanation.from_scores(solver, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        scored = tokens.of_answer(int(tokens.texts.rows[i]))
        numbers: dict[str, float] = {}
        for label, log in zip(tokens.labels(scored), scored.logs.tolist(), strict=True):
            # Equal words in equal contexts are added up.
            numbers[f"log {label}"] = numbers.get(f"log {label}", 0.0) + log
        numbers["other words"] = of_others
        if by_length:
            numbers["words in all"] = float(n_others + len(scored.logs))
        make_formula = partial(formula, explained[i].score, scored)
        explained[i] = replace(explained[i], numbers=numbers, make_formula=make_formula)
    return Explanation(solver, question, tuple(explained))
