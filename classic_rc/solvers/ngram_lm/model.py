"""An n-gram language model with the vocabulary of an analyzer: fitted on texts, saved as plain data
and arrays.

The second part builds the texts that it scores: queries with each candidate inserted.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import offsets_of, ragged_indices, runs_of
from classic_rc.kernels.kneser_ney import (
    END,
    FALLBACK_DISCOUNTS,
    MARKS,
    START,
    UNKNOWN,
    KneserNey,
    count_ngrams,
    kneser_ney,
    token_probabilities,
)
from classic_rc.kernels.pairs import WordCounts, occurrences, word_counts
from classic_rc.questions import PLACEHOLDER, LazyCandidates, Passage, Question, Task
from classic_rc.text.analyzers import Analyzer, get_analyzer
from classic_rc.text.encode import TextEncoder
from classic_rc.text.sentence_arrays import iter_sentence_texts

_BATCH = 2**14
"""The number of texts that are encoded at once."""


class Ragged(NamedTuple):
    """Texts as word ids: text i is ``tokens[offsets[i]:offsets[i + 1]]``."""

    tokens: NDArray[Any]
    offsets: NDArray[np.int64]

    def begun(self) -> Ragged:
        """Return the texts with a START before each."""
        tokens = np.insert(self.tokens, self.offsets[:-1], START)
        return Ragged(tokens, self.offsets + np.arange(len(self.offsets)))

    def ended(self) -> Ragged:
        """Return the texts with an END after each."""
        tokens = np.insert(self.tokens, self.offsets[1:], END)
        return Ragged(tokens, self.offsets + np.arange(len(self.offsets)))


class LanguageModel:
    """An n-gram model, and its vocabulary in the order of the ids, which begin after the ids of the
    marks.

    Examples
    --------
    >>> model = LanguageModel.fit(["The cat sat.", "The dog sat."], analyzer="word", order=2)
    >>> round(model.perplexity(["the dog sat"]), 2), round(model.perplexity(["a bird sat"]), 2)
    (1.94, 6.67)
    """

    def __init__(self, analyzer: str | Analyzer, words: list[str], model: KneserNey) -> None:
        self.analyzer, self.words, self.model = get_analyzer(analyzer), words, model

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        *,
        analyzer: str | Analyzer,
        order: int,
        discount: float | None = None,
        vocabulary: Sequence[str] = (),
    ) -> Self:
        """Fit a model on texts. Each text is a separate sequence; the texts are read once, in
        batches.

        `order` is the n of the n-grams. `discount` is subtracted from every count; None means those
        of modified Kneser-Ney. The words of the texts `vocabulary` are added to the vocabulary
        without being counted.
        """
        encoder = TextEncoder(analyzer)
        encoder.encode(vocabulary)
        batches = [_mark_texts(*encoder.encode(batch)) for batch in _split_batches(texts)]
        no_tokens = np.empty(0, dtype=np.int32)
        tokens = np.concatenate([no_tokens, *(batch_texts.tokens for batch_texts in batches)])
        if not len(tokens):
            raise DataError("a language model cannot learn from texts without words")
        lengths = np.concatenate([np.diff(batch_texts.offsets) for batch_texts in batches])
        del batches
        n_words = len(MARKS) + len(encoder.vocabulary)
        ngrams = count_ngrams(tokens, np.append(0, np.cumsum(lengths)), n_words, order)
        discounts = None if discount is None else np.full((order, 3), float(discount))
        return cls(encoder.analyzer, encoder.vocabulary, kneser_ney(ngrams, discounts))

    def ids(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the ids of words. Each unknown word has its own id, beyond the model's ids."""
        id_of, n_words = self._ids, self.model.n_words
        ids = (id_of.get(word, n_words + i) for i, word in enumerate(vocabulary))
        return np.fromiter(ids, np.int64, len(vocabulary))

    def known(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Replace the ids of words that the model does not know by UNKNOWN."""
        return np.where(tokens < self.model.n_words, tokens, UNKNOWN)

    def perplexity(self, texts: Iterable[str]) -> float:
        """Return the inverse geometric mean of the probabilities of all words and ENDs of the
        texts.

        The model treats all unknown words as one word, so only perplexities of models with the same
        vocabulary are comparable. Texts without a word are left out; the result is NaN if no text
        is left.
        """
        total, n_tokens = 0.0, 0
        encoder = TextEncoder(self.analyzer)
        for batch in _split_batches(texts):
            tokens, offsets = encoder.encode(batch)
            ids = self.known(self.ids(encoder.vocabulary)[tokens])
            # A text without words repeats its offset: `np.unique` leaves it out.
            marked = Ragged(ids, np.unique(offsets)).begun().ended()
            values = token_probabilities(self.model, *marked).values
            predicted = marked.tokens != START
            total += float(np.log(values[predicted]).sum())
            n_tokens += int(predicted.sum())
        return float(np.exp(-total / n_tokens)) if n_tokens else float("nan")

    @property
    def fallback_orders(self) -> list[int]:
        """The n-gram orders without enough text to estimate discounts."""
        return [
            k for k, row in enumerate(self.model.discounts, 1) if tuple(row) == FALLBACK_DISCOUNTS
        ]

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the words as plain data, and the model as arrays by name."""
        arrays: dict[str, NDArray[Any]] = {"discounts": self.model.discounts}
        for name in ("keys", "probabilities", "backoffs", "counts"):
            for k, table in enumerate(getattr(self.model, name), 1):
                arrays[f"{name}.{k}"] = table
        return {"words": self.words}, arrays

    @classmethod
    def from_state(
        cls,
        analyzer: str | Analyzer,
        order: int,
        state: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Self:
        """Return the model with a state that :meth:`to_state` returned; KeyError or ValueError
        if it is none.
        """
        keys = tuple(arrays[f"keys.{k}"] for k in range(1, order + 1))
        probabilities = tuple(arrays[f"probabilities.{k}"] for k in range(1, order + 1))
        backoffs = tuple(arrays[f"backoffs.{k}"] for k in range(1, order))
        counts = tuple(arrays[f"counts.{k}"] for k in range(1, order + 1))
        model = KneserNey(keys, probabilities, backoffs, arrays["discounts"], counts)
        _check_tables(model, len(state["words"]))
        return cls(analyzer, list(state["words"]), model)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words, len(MARKS))}


def _mark_texts(tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> Ragged:
    """Put each text between START and END, and leave out texts without words."""
    return Ragged(tokens + np.int32(len(MARKS)), np.unique(offsets)).begun().ended()


def _split_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    texts = iter(texts)
    while batch := list(itertools.islice(texts, _BATCH)):
        yield batch


def _check_tables(model: KneserNey, n_words: int) -> None:
    """Check that the tables are consistent, because inconsistent ones would give wrong scores
    without an error.
    """
    if not np.array_equal(model.keys[0], np.arange(n_words + len(MARKS))):
        raise ValueError(f"the table of 1-grams does not match the {n_words} words")
    if model.discounts.shape != (model.order, 3):
        raise ValueError(
            f"discounts of shape {model.discounts.shape} for order {model.order}, expected "
            f"{(model.order, 3)}"
        )
    tables = zip(model.keys, model.probabilities, model.counts, strict=True)
    for k, (keys, probabilities, counts) in enumerate(tables, 1):
        if not keys.shape == probabilities.shape == counts.shape or np.any(np.diff(keys) <= 0):
            raise ValueError(
                f"the {k}-grams are not in order, or do not have one probability and one count each"
            )
        if (
            k > 1
            and len(keys)
            and not 0 <= keys[0] <= keys[-1] < len(model.keys[k - 2]) * model.n_words
        ):
            raise ValueError(f"a {k}-gram does not begin with a known {k - 1}-gram")
        if not np.all((probabilities >= 0) & (probabilities <= 1)):
            raise ValueError(f"the probability of a {k}-gram is not in 0..1")
    for k, (keys, backoffs) in enumerate(zip(model.keys[:-1], model.backoffs, strict=True), 1):
        if backoffs.shape != keys.shape:
            raise ValueError(f"the {k}-grams do not have one back-off weight each")
        if not np.all((backoffs >= 0) & (backoffs <= 1)):
            raise ValueError(f"the back-off weight of a {k}-gram is not in 0..1")


_TO_LAST_BLANK, _FIRST_WORD = re.compile(r"(?s:.*\s)?"), re.compile(r"\S*")


class _Frame(NamedTuple):
    """A question's text around the slot of its answer."""

    left: str  # the text before the slot, up to the last whitespace
    # the text that touches the slot: before it, between slots if there are several, and after it
    parts: list[str]
    right: str  # the text after the slot, from the next whitespace

    def fill(self, answer: str) -> str:
        """Return the answer with the text that touches it, because both may form one token
        (``'s``).
        """
        return answer.join(self.parts)


def split_question(question: Question) -> _Frame:
    """Return the frame of a cloze query's placeholder; for other questions, the answer follows
    the question.
    """
    if question.task is not Task.CLOZE or PLACEHOLDER not in question.text:
        return _Frame(f"{question.text} ", ["", ""], "")
    beginning, *between, end = question.text.split(PLACEHOLDER)
    before, after = _TO_LAST_BLANK.match(beginning), _FIRST_WORD.match(end)
    assert before is not None
    assert after is not None
    parts = [beginning[before.end() :], *between, after[0]]
    return _Frame(before[0], parts, end[after.end() :])


def passage_texts(questions: Sequence[Question]) -> Iterator[str]:
    """Return the sentences of the questions' passages, each distinct passage text once."""
    passages: dict[str, Passage] = {}
    for question in questions:
        passages.setdefault(question.passage.text, question.passage)
    return itertools.chain.from_iterable(iter_sentence_texts(passages.values()))


def gold_queries(questions: Sequence[Question]) -> Iterator[str]:
    """Yield the questions with their gold answers inserted.

    Each right candidate and each span of a multi-span answer gives one text. If gold is a list of
    accepted texts (cloze and span questions), only the first one is used.

    Raises
    ------
    DataError
        A question's gold is hidden.
    """
    for question in questions:
        if question.gold is None:
            raise DataError(
                "cannot learn from the query: its gold answer is hidden",
                where=f"question {question.id}",
                hint="Use questions with gold answers, or corpus=passages",
            )
        frame, answers = split_question(question), question.gold_texts
        if question.task in (Task.CLOZE, Task.SPAN):
            answers = answers[:1]
        for answer in answers:
            yield frame.left + frame.fill(answer) + frame.right


class PassageWords(NamedTuple):
    """The word counts of passages, for the cache."""

    counts: WordCounts
    lengths: NDArray[np.int64]  # shape (n_passages,), in words
    of_question: NDArray[np.int64]  # shape (n_questions,): each question's passage


class Substitutions(NamedTuple):
    """Questions around their slots, and the answers that fill the slots, as word ids.

    The ids are the model's. Words that the model does not know have ids beyond these.
    """

    left: Ragged  # of each question, START and the text before the answer
    right: Ragged  # of each question, the text after the answer, and END
    # the distinct answers of each question, with the text that touches them, grouped by question
    answers: Ragged
    question: NDArray[np.int64]  # shape (n_answers,): each answer's question
    rows: NDArray[np.int64]  # shape (n_candidates,): each candidate's answer
    offsets: NDArray[np.int64]  # question i's candidates are rows[offsets[i]:offsets[i + 1]]
    passages: PassageWords | None
    vocabulary: list[str]  # an id from the model's n_words on is the word vocabulary[id - n_words]


def substitute_candidates(
    model: LanguageModel, questions: Sequence[Question], *, with_passages: bool = False
) -> Substitutions:
    """Put the candidates into their questions, and encode the result, and the passages if
    wanted, for a model.
    """
    frames = [split_question(question) for question in questions]
    filled: dict[str, int] = {}  # distinct filled slots of all questions; each is encoded once
    members, sizes = [], []
    for question, frame in zip(questions, frames, strict=True):
        candidates = question.candidates
        generated = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
        numbers = [
            filled.setdefault(frame.fill(candidate.text), len(filled)) for candidate in generated
        ]
        members.append(np.array(numbers, dtype=np.int64))
        sizes.append(len(numbers))
    passages = {}
    if with_passages:
        passages = {id(question.passage): question.passage for question in questions}

    encoder = TextEncoder(model.analyzer)
    lefts, rights = [frame.left for frame in frames], [frame.right for frame in frames]
    full_texts = [passage.text for passage in passages.values()]
    encoded = [encoder.encode(texts) for texts in (lefts, rights, list(filled), full_texts)]
    vocabulary = encoder.vocabulary
    ids = model.ids(vocabulary)
    in_ids = (Ragged(ids[tokens], offsets) for tokens, offsets in encoded)
    beginnings, ends, texts, passage_words = in_ids

    # A question's candidates with the same text share one answer: find the distinct (question,
    # text) pairs.
    of_question = np.repeat(np.arange(len(frames)), sizes)
    text = np.concatenate([np.empty(0, dtype=np.int64), *members])
    n_texts = max(len(filled), 1)
    distinct, rows = np.unique(of_question * n_texts + text, return_inverse=True)
    answer_question, text = np.divmod(distinct, n_texts)
    lengths = np.diff(texts.offsets)[text]
    answer_tokens = texts.tokens[ragged_indices(texts.offsets[:-1][text], lengths)]
    answers = Ragged(answer_tokens, offsets_of(lengths))
    words = None
    if with_passages:
        number = {key: i for i, key in enumerate(passages)}
        passage_of = [number[id(question.passage)] for question in questions]
        words = PassageWords(
            word_counts(*passage_words, model.model.n_words + len(ids)),
            np.diff(passage_words.offsets),
            np.array(passage_of, dtype=np.int64),
        )
    offsets = offsets_of(sizes)
    return Substitutions(
        beginnings.begun(), ends.ended(), answers, answer_question, rows, offsets, words, vocabulary
    )


_BLOCK_TOKENS = 2**20
_LEFT, _ANSWER, _RIGHT = range(3)


class ScoredTexts(NamedTuple):
    """Predicted tokens, in order. All arrays have the shape (n_tokens,)."""

    # the question (of shared tokens) or the answer that each token belongs to
    owner: NDArray[np.int64]
    place: NDArray[np.int64]  # each token's position in `text`
    text: Ragged  # the predicted tokens and their contexts
    logs: NDArray[np.float64]  # natural logarithms of the probabilities
    # the length of the longest n-gram of the model that ends in each token
    orders: NDArray[np.int64]


class LogProbabilityTotals(NamedTuple):
    """Sums over the predicted tokens of each answer, of shape (n_answers,)."""

    logs: NDArray[np.float64]  # natural logarithms
    n_tokens: NDArray[np.int64]


def score_answers(
    model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float
) -> LogProbabilityTotals:
    """Compute the log-probability of each answer's text, and the number of tokens that it is the
    sum of.

    `partial` predicts only the text after the answer; `cache_weight` is the weight of the passage's
    words.
    """
    # The tokens that no candidate affects are scored once for each question, the others once for
    # each answer.
    n_questions, n_answers = len(texts.left.offsets) - 1, len(texts.question)
    logs, n_tokens = np.zeros(n_answers), np.zeros(n_answers, dtype=np.int64)
    for scored in score_shared_tokens(model, texts, partial=partial, cache_weight=cache_weight):
        logs += np.bincount(scored.owner, scored.logs, n_questions)[texts.question]
        n_tokens += np.bincount(scored.owner, minlength=n_questions)[texts.question]
    for block in _split_answers(model, texts):
        scored = score_answer_tokens(
            model, texts, block, partial=partial, cache_weight=cache_weight
        )
        n_part = block.stop - block.start
        logs[block] += np.bincount(scored.owner - block.start, scored.logs, n_part)
        n_tokens[block] += np.bincount(scored.owner - block.start, minlength=n_part)
    return LogProbabilityTotals(logs, n_tokens)


def score_shared_tokens(
    model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float
) -> Iterator[ScoredTexts]:
    """Score the tokens that no candidate affects.

    These are the tokens before the answer, and the tokens so far after it that it is not in their
    context.
    """
    questions = np.arange(len(texts.left.offsets) - 1)
    if not partial:
        place = np.flatnonzero(texts.left.tokens != START)
        yield _score_tokens(model, texts, texts.left, place, questions, questions, cache_weight)
    starts = np.zeros(len(questions), dtype=np.int64)
    position = ragged_indices(starts, np.diff(texts.right.offsets))
    place = np.flatnonzero(position >= model.model.order - 1)
    yield _score_tokens(model, texts, texts.right, place, questions, questions, cache_weight)


def score_answer_tokens(
    model: LanguageModel,
    texts: Substitutions,
    answers: slice,
    *,
    partial: bool,
    cache_weight: float,
) -> ScoredTexts:
    """Score the tokens that some answers affect: their own, and the next ones that have them in
    their context.
    """
    counts = _window_sizes(model, texts)[answers]
    question = texts.question[answers]
    n_left, n_answer = len(texts.left.tokens), len(texts.answers.tokens)
    # A row is the end of the left side, the answer and the start of the right side, all cut out of
    # one pool.
    pool = np.concatenate((texts.left.tokens, texts.answers.tokens, texts.right.tokens))
    left_starts = texts.left.offsets[1:][question] - counts[:, _LEFT]
    answer_starts = n_left + texts.answers.offsets[:-1][answers]
    right_starts = n_left + n_answer + texts.right.offsets[:-1][question]
    starts = np.stack((left_starts, answer_starts, right_starts), axis=1)
    tokens = pool[ragged_indices(starts.ravel(), counts.ravel())]
    text = Ragged(tokens, offsets_of(counts.sum(axis=1)))
    piece = np.repeat(np.tile([_LEFT, _ANSWER, _RIGHT], len(question)), counts.ravel())
    place = np.flatnonzero(piece == _RIGHT if partial else piece != _LEFT)
    numbers = np.arange(answers.start, answers.stop)
    return _score_tokens(model, texts, text, place, numbers, question, cache_weight)


def _window_sizes(model: LanguageModel, texts: Substitutions) -> NDArray[np.int64]:
    """Return how many tokens before, in and after each answer its n-grams reach: shape
    (n_answers, 3).
    """
    reach = model.model.order - 1
    before = np.minimum(np.diff(texts.left.offsets), reach)[texts.question]
    after = np.minimum(np.diff(texts.right.offsets), reach)[texts.question]
    return np.stack((before, np.diff(texts.answers.offsets), after), axis=1)


def _split_answers(model: LanguageModel, texts: Substitutions) -> Iterator[slice]:
    """Split the answers into blocks with a limited number of tokens."""
    # An answer without tokens has a size too, so that no block has too many answers.
    sizes = _window_sizes(model, texts).sum(axis=1) + 1
    return (slice(*bounds) for bounds in runs_of(sizes, _BLOCK_TOKENS))


def _score_tokens(
    model: LanguageModel,
    texts: Substitutions,
    text: Ragged,
    place: NDArray[np.int64],
    owners: NDArray[np.int64],
    questions: NDArray[np.int64],
    cache_weight: float,
) -> ScoredTexts:
    """Predict the tokens at positions `place` of ragged rows; each row has an owner and a
    question.
    """
    predictions = token_probabilities(model.model, model.known(text.tokens), text.offsets)
    values = predictions.values[place]
    row = np.repeat(np.arange(len(owners)), np.diff(text.offsets))[place]
    if texts.passages is not None:
        passage = texts.passages.of_question[questions[row]]
        length = texts.passages.lengths[passage]
        count = occurrences(texts.passages.counts, passage, text.tokens[place])
        mixed = (1 - cache_weight) * values + cache_weight * count / np.maximum(length, 1)
        values = np.where(length > 0, mixed, values)
    return ScoredTexts(owners[row], place, text, np.log(values), predictions.orders[place])
