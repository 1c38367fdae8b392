"""The n-gram language model as a solver, and the explanation of its scores."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError
from classic_rc.kernels.kneser_ney import MARKS, find
from classic_rc.kernels.pairs import occurrences
from classic_rc.parameters import is_number, parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.retrieval.reading import read_texts
from classic_rc.retrieval.texts import StoredTexts
from classic_rc.solvers.base import Solver, provenance
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Term,
    divided,
    given,
    logarithm,
    minus,
    plus,
    times,
)
from classic_rc.solvers.ngram_lm.model import (
    LanguageModel,
    ScoredTexts,
    Substitutions,
    gold_queries,
    passage_texts,
    score_answer_tokens,
    score_answers,
    score_shared_tokens,
    substitute_candidates,
)
from classic_rc.solvers.shared_parameters import ANALYZER, CORPUS, DECISION

# --------------------------------------------------------------------------------------------------
# The explanation.


class TokenExplainer(NamedTuple):
    """A question with its candidates inserted, and the model that scores them."""

    model: LanguageModel
    texts: Substitutions
    partial: bool  # whether only the text after the answer is predicted
    cache_weight: float

    def shared(self) -> list[ScoredTexts]:
        """Return the tokens that no candidate affects."""
        return list(
            score_shared_tokens(
                self.model, self.texts, partial=self.partial, cache_weight=self.cache_weight
            )
        )

    def of_answer(self, row: int) -> ScoredTexts:
        """Return the tokens that an answer affects."""
        answer = slice(row, row + 1)
        return score_answer_tokens(
            self.model, self.texts, answer, partial=self.partial, cache_weight=self.cache_weight
        )

    def n_own(self, row: int) -> int:
        """Return how many of these tokens are the answer's own; the others have it in their
        context.
        """
        return 0 if self.partial else int(np.diff(self.texts.answers.offsets)[row])

    def labels(self, scored: ScoredTexts) -> list[str]:
        """Return each token's label, with the longest context that the model has seen before it."""
        unknown_words = (f"{word}, unknown" for word in self.texts.vocabulary)
        words = [*MARKS, *self.model.words, *unknown_words]
        labels = []
        for place, order in zip(scored.place.tolist(), scored.orders.tolist(), strict=True):
            ngram = scored.text.tokens[place - order + 1 : place + 1].tolist()
            *context, word = (words[token] for token in ngram)
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
        """Return p(token | context) by the recursion of interpolated Kneser-Ney, from single
        words up.
        """
        model = self.model.model
        note = f"the same for each of the {model.n_words - 1} words, </s> and <unk> included"
        probability = divided("p0", 1, model.n_words - 1, note=note)
        for k in range(1, len(context) + 2):
            before = context[len(context) + 1 - k :]
            rank = self._rank(before) if before else 0
            if rank < 0:  # the model has no longer context either
                break
            following = model.following(k, rank)
            counts = model.counts[k - 1][following]
            discounts = model.discounts[k - 1].tolist()
            total = int(counts.sum())
            if not total:  # the texts have the context at their ends only
                continue
            # A back-off weight is what the discounts take from all counts.
            sizes = np.bincount(np.minimum(counts, 3), minlength=4)[1:].tolist()
            discounted = [
                times("", size, discount)
                for size, discount in zip(sizes, discounts, strict=True)
                if size
            ]
            words = " ".join(map(self._word, before))
            after = f"after {words!r}" if before else "of all words"
            gamma = divided(
                f"back-off {k}",
                plus("", *discounted),
                total,
                note=f"sum of the discounts / sum of the counts {after}",
            )
            lower = times("", gamma, probability)
            ngram_key = np.array([rank * model.n_words + token])
            place = int(find(model.keys[k - 1][following], ngram_key)[0])
            count = int(counts[place]) if place >= 0 else 0
            name = f"p{k}"
            ngram = " ".join(map(self._word, [*before, token]))
            if not count:
                probability = lower.renamed(name, f"order {k}: the model does not have {ngram!r}")
                continue
            of_count = plus("", count, minus("", discounts[min(count, 3) - 1]))
            share = divided(
                f"share {k}",
                of_count,
                total,
                note=f"(count - discount) / sum of the counts {after}",
            )
            value = float(model.probabilities[k - 1][following][place])
            probability = plus(name, share, lower, value=value, note=f"order {k}: {ngram}")
        return probability

    def _rank(self, words: list[int]) -> int:
        """Return the index of a k-gram among the model's k-grams, or -1."""
        model, rank = self.model.model, words[0]
        for k, word in enumerate(words[1:], 1):
            if rank >= 0:
                key = np.array([rank * model.n_words + word])
                rank = int(find(model.keys[k], key)[0])
        return rank

    def _word(self, token: int) -> str:
        n_marks = len(MARKS)
        return MARKS[token] if token < n_marks else self.model.words[token - n_marks]

    def _mix(self, label: str, probability: Term, token: int) -> Term:
        """Return the probability with the cache: the passage's own words."""
        passages = self.texts.passages
        assert passages is not None
        passage = passages.of_question[:1]
        length = int(passages.lengths[passage[0]])
        if not length:
            return probability
        count = int(occurrences(passages.counts, passage, np.array([token]))[0])
        cache = divided(
            "", given("times in the passage", count), given("words of the passage", length)
        )
        weight = given("cache weight", self.cache_weight)
        rest = given("", 1 - self.cache_weight)
        return plus(f"{label} with cache", times("", rest, probability), times("", weight, cache))


def explain_tokens(
    solver: str, question: Question, scores: Scores, tokens: TokenExplainer, *, by_length: bool
) -> Explanation:
    """Explain each candidate's score by the log-probabilities that it is the sum of.

    With `by_length`, the score is that sum divided by the number of words. Each word is shown with
    the longest context that the model has seen before it.
    """
    shared = tokens.shared()
    n_others = sum(len(block.logs) for block in shared)
    of_others = math.fsum(log for block in shared for log in block.logs.tolist())

    @cache
    def others() -> Term:
        note = "words that no candidate affects"
        return plus(
            "other words", *(term for block in shared for term in tokens.terms(block)), note=note
        )

    def formula(score: float, row: int, scored: ScoredTexts) -> Term:
        terms, n_answer_words = list(tokens.terms(scored)), tokens.n_own(row)
        parts = {
            "the answer's words": terms[:n_answer_words],
            "the words after it": terms[n_answer_words:],
        }
        sums = [plus(name, *block) for name, block in parts.items() if block]
        total = plus("", *sums, *([others()] if n_others else []))
        if by_length:
            n_words = given("words in all", n_others + len(scored.logs))
            return divided("score", total, n_words, value=score)
        return replace(total, name="score", value=score)

    def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
        row = int(tokens.texts.rows[i])
        scored = tokens.of_answer(row)
        numbers: dict[str, float] = {}
        for label, log in zip(tokens.labels(scored), scored.logs.tolist(), strict=True):
            # Equal words in equal contexts are added up.
            numbers[f"log {label}"] = numbers.get(f"log {label}", 0.0) + log
        numbers["other words"] = of_others
        if by_length:
            numbers["words in all"] = float(n_others + len(scored.logs))
        return replace(
            plain, numbers=numbers, make_formula=partial(formula, plain.score, row, scored)
        )

    return Explanation.from_scores(solver, question, scores).with_best(explain)


# --------------------------------------------------------------------------------------------------
# The solver.


_QUESTION_TEXTS = ("passages", "queries")
_MAX_ORDER = 5


class NGramLM(Solver):
    r"""The log-probability of the query with the candidate in it, from a modified Kneser-Ney n-gram
    model.

    .. math::

        s = \sum_i \ln\left((1 - \lambda)\, p_n(w_i \mid w_{i-n+1} \ldots w_{i-1}) + \lambda\,
        p_P(w_i)\right)

    The sum is over the words of the query and its END. :math:`p_n` is the model's probability
    (:func:`~classic_rc.kernels.kneser_ney.kneser_ney`), and :math:`p_P`, the cache, is a word's
    share of the passage's words (Kuhn and De Mori 1990; Hill et al. 2015). In a cloze query the
    candidate replaces the placeholder. For other questions the text is the question followed by the
    candidate.

    Attributes
    ----------
    model_ : LanguageModel
    sources_ : list of str
        The parts of `corpus`; a file has its name and the first digits of its text's sha256.
    caveats_ : tuple of str
        A message if the text was too small to estimate discounts.
    """

    name = "ngram-lm"
    citation = (
        "Chen and Goodman 1998 (modified Kneser-Ney); Hill et al. 2015 (cache); Trinh and Le 2018 "
        "(scoring)"
    )
    cites = ("chen1998", "hill2015", "trinh2018")
    takes_encoding = False  # it puts candidates in the place of the placeholder

    analyzer: Any = ANALYZER
    order: int = parameter(3, "the n of the n-grams", allowed=tuple(range(1, _MAX_ORDER + 1)))
    corpus: Any = CORPUS.but(
        default="passages",
        help="the texts to learn from: ``passages``, the sentences of the passages of :meth:`fit`; "
        "``queries``, its questions with their gold answers inserted; or the path of a text file "
        "or a folder of text files (plain or compressed, one sentence or paragraph per line, or "
        "JSON lines with a ``text``). Several are a list or are joined by a plus: "
        "``passages+queries``",
        allowed=_QUESTION_TEXTS,
    )
    discounts: float | Literal["modified"] = parameter(
        "modified",
        "the amounts to subtract from counts: ``modified`` estimates three discounts for each "
        "order from the text (Chen and Goodman 1998); a number applies to all orders and counts",
        allowed=("modified",),
        also="a number above 0, at most 1",
        fits=lambda value: is_number(value, 0, 1) and value > 0,
    )
    cache_weight: float = parameter(
        0.0,
        "the weight of the cache; a passage without words has no cache",
        also="a number from 0 to below 1",
        fits=lambda value: is_number(value, 0) and value < 1,
    )
    scoring: Literal["full", "partial"] = parameter(
        "full",
        "whether to predict the entire text, or only what follows the placeholder, given what "
        "precedes it and the candidate (Trinh and Le 2018). ``partial`` is for cloze questions "
        "only",
        allowed=("full", "partial"),
    )
    normalise: Literal["none", "length"] = parameter(
        "none",
        "whether the score is the sum, or the mean over predicted words",
        allowed=("none", "length"),
    )
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "passages", "gold"]:  # type: ignore[override]
        """``"gold"`` if `corpus` has queries, else ``"passages"`` if it has passages, else
        ``"nothing"``.
        """
        parts = self._parts()
        if "queries" in parts:
            return "gold"
        return "passages" if "passages" in parts else "nothing"

    @property
    def learns_from_files(self) -> bool:
        """Whether the model reads text files: then there is something to save even if no
        question is read.
        """
        return any(source not in _QUESTION_TEXTS for source in self._parts())

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Count the n-grams of the corpus and estimate the model; a corpus without words is a
        DataError.
        """
        self.check_parameters()
        for source in self._parts():
            is_file = source != "" and Path(source).exists()  # Path("") is the current folder
            if source not in _QUESTION_TEXTS and not is_file:
                expected = "'passages', 'queries' or text files"
                raise self.wrong_value(
                    "corpus", expected, f"must name {expected}: there is no file {source!r}"
                )
        self.sources_: list[str] = []
        self.model_ = LanguageModel.fit(
            self._read_texts(questions),
            analyzer=self.analyzer,
            order=self.order,
            discount=None if self.discounts == "modified" else float(self.discounts),
        )
        self.caveats_: tuple[str, ...] = ()
        if self.discounts == "modified" and self.model_.fallback_orders:
            orders = " and ".join(map(str, self.model_.fallback_orders))
            self.caveats_ = (f"too little text to estimate the discounts of order {orders}",)
        if self.learns_from != "nothing":
            self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the log-probability of its text.

        There is no evidence if neither the model nor the cache knows a word of the candidate.
        """
        texts = self.put_in(questions)
        sums = score_answers(
            self.model_, texts, partial=self.scoring == "partial", cache_weight=self.cache_weight
        )
        values = sums.logs / sums.n_tokens if self.normalise == "length" else sums.logs
        return Scores(values[texts.rows], texts.offsets, self._has_evidence(texts)[texts.rows])

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show the log-probability of each word that a candidate affects, and the sum over the
        other words.
        """
        scores = self.score_candidates(questions)
        for k, question in enumerate(questions):
            texts, partial = self.put_in([question]), self.scoring == "partial"
            tokens = TokenExplainer(self.model_, texts, partial, self.cache_weight)
            by_length = self.normalise == "length"
            yield explain_tokens(self.name, question, scores.take([k]), tokens, by_length=by_length)

    def put_in(self, questions: Sequence[Question]) -> Substitutions:
        """Insert the candidates into their questions, and encode them with the fitted model's word
        ids.

        Raises
        ------
        NotFittedError
            There is no model yet.
        UsageError
            A parameter has a value that is not allowed for these questions.
        """
        self.check_parameters()
        model = self._fitted_model()
        others = {question.task for question in questions} - {Task.CLOZE}
        if self.scoring == "partial" and others:
            problem = (
                f"scoring='partial' of {self.name} needs cloze queries, because it predicts what "
                f"follows the placeholder: {min(others)} questions have no placeholder"
            )
            raise UsageError(problem, field="scoring", found="'partial'", expected="'full'")
        return substitute_candidates(model, questions, with_passages=self.cache_weight > 0)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the corpus, with its files by content, if it has files."""
        sources = getattr(self, "sources_", [])
        return {"corpus": " + ".join(sources)} if any("@" in source for source in sources) else {}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the words and the tables, for :func:`~classic_rc.solvers.saved.save_solver`."""
        state, arrays = self._fitted_model().to_state()
        return {"sources": self.sources_, **state}, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned; one that does not match is
        an error.
        """
        self.check_parameters()
        self.model_ = LanguageModel.from_state(self.analyzer, self.order, state, arrays)
        self.sources_ = list(state["sources"])
        return self

    def _fitted_model(self) -> LanguageModel:
        self.require_fitted(
            "model_", f"{self.name} has no language model yet: call fit(questions) first"
        )
        return self.model_

    def _parts(self) -> list[str]:
        corpus = self.corpus
        if isinstance(corpus, list | tuple):
            return [str(source) for source in corpus]
        corpus = str(corpus)
        return [corpus] if Path(corpus).exists() else corpus.split("+")

    def _read_texts(self, questions: Sequence[Question]) -> Iterator[str]:
        for source in self._parts():
            if source == "passages":
                yield from passage_texts(questions)
            elif source == "queries":
                yield from gold_queries(questions)
            else:
                digest = hashlib.sha256()
                for file in read_texts(source):
                    for block in file.blocks(lambda n_bytes: None):
                        StoredTexts.of(block.sentences).hash_into(digest)
                        yield from block.sentences
                source = f"{Path(source).name}@{digest.hexdigest()[:8]}"
            self.sources_.append(source)

    def _has_evidence(self, texts: Substitutions) -> NDArray[np.bool_]:
        tokens = texts.answers.tokens
        answer = np.repeat(np.arange(len(texts.question)), np.diff(texts.answers.offsets))
        is_known = tokens < self.model_.model.n_words
        if texts.passages is not None:
            counts = texts.passages.counts
            passage = texts.passages.of_question[texts.question[answer]]
            is_known |= np.isin(passage * counts.n_words + tokens, counts.keys)
        return np.bincount(answer[is_known], minlength=len(texts.question)) > 0
