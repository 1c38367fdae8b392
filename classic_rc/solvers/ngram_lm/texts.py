"""What a language model reads: the texts it learns from, and queries with each candidate put in."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import offsets_of, ragged_indices
from classic_rc.kernels.kneser_ney import START, token_probabilities
from classic_rc.kernels.pairs import WordCounts, occurrences, word_counts
from classic_rc.questions import PLACEHOLDER, LazyCandidates, Passage, Question, Task
from classic_rc.solvers.ngram_lm.model import LanguageModel, Ragged
from classic_rc.text.encode import TextEncoder
from classic_rc.text.sentences import passage_sentences

_LAST_WORD, _FIRST_WORD = re.compile(r"\S*\Z"), re.compile(r"\S*")


class _Frame(NamedTuple):
    """A question around the place of its answer.

    Parameters
    ----------
    left, right : str
        What stands before and after that place, up to the nearest blank.
    parts : list of str
        What touches the place before, between (where there are several) and after.
    """

    left: str
    parts: list[str]
    right: str

    def filled(self, answer: str) -> str:
        """The answer with what touches it."""
        return answer.join(self.parts)


def _frame(question: Question) -> _Frame:
    """A cloze query around its placeholder; of other questions, the answer stands behind the question."""
    if question.task is not Task.CLOZE or PLACEHOLDER not in question.text:
        return _Frame(f"{question.text} ", ["", ""], "")
    left, *between, right = question.text.split(PLACEHOLDER)
    before, after = _LAST_WORD.search(left), _FIRST_WORD.match(right)
    assert before is not None
    assert after is not None
    return _Frame(left[: before.start()], [before[0], *between, after[0]], right[after.end() :])


def passage_texts(questions: Sequence[Question]) -> Iterator[str]:
    """The sentences of the questions' passages, a passage text that several of them have once."""
    passages: dict[str, Passage] = {}
    for question in questions:
        passages.setdefault(question.passage.text, question.passage)
    for passage in passages.values():
        for start, end in passage_sentences(passage):
            yield passage.text[start:end]


def gold_queries(questions: Sequence[Question]) -> Iterator[str]:
    """The questions with their gold answers put in.

    Each right candidate and each span of a multi-span answer gives a text; of accepted texts the first does.

    Raises
    ------
    DataError
        A question's gold is hidden.
    """
    for question in questions:
        if question.gold is None:
            raise DataError("a query cannot be learned, its gold answer is hidden", where=f"question {question.id}")
        frame, answers = _frame(question), question.gold_texts
        if question.task in (Task.CLOZE, Task.SPAN):
            answers = answers[:1]
        for answer in answers:
            yield frame.left + frame.filled(answer) + frame.right


class PassageWords(NamedTuple):
    """How often passages have words.

    Parameters
    ----------
    counts : WordCounts
    lengths : ndarray of int64, shape (n_passages,)
    of_question : ndarray of int64, shape (n_questions,)
        Each question's passage.
    """

    counts: WordCounts
    lengths: NDArray[np.int64]
    of_question: NDArray[np.int64]


class Substitutions(NamedTuple):
    """Questions as word ids around the places of their answers, and the answers.

    Ids are the model's; words that it does not know have ids beyond them.

    Parameters
    ----------
    left : Ragged
        Of each question, START and what stands before the answer.
    right : Ragged
        Of each question, what stands after the answer, and END.
    answers : Ragged
        The distinct answers of the questions, with what touches them, grouped by question.
    question : ndarray of int64, shape (n_answers,)
    rows : ndarray of int64, shape (n_candidates,)
        Which of the answers each candidate is.
    offsets : ndarray of int64, shape (n_questions + 1,)
        Question i's candidates are ``rows[offsets[i]:offsets[i + 1]]``.
    passages : PassageWords, optional
    vocabulary : list of str
        The words of these texts: an id beyond the model's ``n_words`` is that of ``vocabulary[id - n_words]``.
    """

    left: Ragged
    right: Ragged
    answers: Ragged
    question: NDArray[np.int64]
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    passages: PassageWords | None
    vocabulary: list[str]


def substitutions(
    model: LanguageModel, questions: Sequence[Question], *, with_passages: bool = False
) -> Substitutions:
    """Encode questions for a model.

    Parameters
    ----------
    model : LanguageModel
    questions : sequence of Question
    with_passages : bool
        Whether to count the words of their passages, too.
    """
    frames = [_frame(question) for question in questions]
    filled: dict[str, int] = {}
    members, sizes = [], []
    for question, frame in zip(questions, frames, strict=True):
        candidates = question.candidates
        made = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
        numbers = [filled.setdefault(frame.filled(candidate.text), len(filled)) for candidate in made]
        members.append(np.array(numbers, dtype=np.int64))
        sizes.append(len(numbers))
    passages = {id(question.passage): question.passage for question in questions} if with_passages else {}

    encoder = TextEncoder(model.analyzer)
    encoded = [
        encoder.encode(texts)
        for texts in (
            [frame.left for frame in frames],
            [frame.right for frame in frames],
            list(filled),
            [passage.text for passage in passages.values()],
        )
    ]
    vocabulary = encoder.vocabulary
    ids = model.ids(vocabulary)
    left, right, texts, passage_texts_ = (Ragged(ids[tokens], offsets) for tokens, offsets in encoded)

    of_question = np.repeat(np.arange(len(frames)), sizes)
    text = np.concatenate([np.empty(0, dtype=np.int64), *members])
    distinct, rows = np.unique(of_question * max(len(filled), 1) + text, return_inverse=True)
    question_, text = np.divmod(distinct, max(len(filled), 1))
    lengths = np.diff(texts.offsets)[text]
    answers = Ragged(texts.tokens[ragged_indices(texts.offsets[:-1][text], lengths)], offsets_of(lengths))
    words = None
    if with_passages:
        number = {key: i for i, key in enumerate(passages)}
        words = PassageWords(
            word_counts(*passage_texts_, model.model.n_words + len(ids)),
            np.diff(passage_texts_.offsets),
            np.array([number[id(question.passage)] for question in questions], dtype=np.int64),
        )
    offsets = offsets_of(np.array(sizes, dtype=np.int64))
    return Substitutions(left.begun(), right.ended(), answers, question_, rows, offsets, words, vocabulary)


_BLOCK_TOKENS = 2**20
_LEFT, _ANSWER, _RIGHT = range(3)


class Scored(NamedTuple):
    """Predicted tokens, in order.

    Parameters
    ----------
    owner : ndarray of int64, shape (n_tokens,)
        Whose each is: a question's, of shared ones; an answer's.
    place : ndarray of int64, shape (n_tokens,)
        Where it stands in `text`.
    text : Ragged
        The tokens with those before them.
    logs : ndarray of float64, shape (n_tokens,)
        The natural logarithm of its probability.
    orders : ndarray of int64, shape (n_tokens,)
        The length of the longest n-gram that the model has of it.
    """

    owner: NDArray[np.int64]
    place: NDArray[np.int64]
    text: Ragged
    logs: NDArray[np.float64]
    orders: NDArray[np.int64]


class Totals(NamedTuple):
    """Sums over the predicted tokens of each answer.

    Parameters
    ----------
    logs : ndarray of float64, shape (n_answers,)
    n_tokens : ndarray of int64, shape (n_answers,)
    """

    logs: NDArray[np.float64]
    n_tokens: NDArray[np.int64]


def totals(model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float) -> Totals:
    """The log-probability of each answer's text, and how many tokens it is the sum of.

    Parameters
    ----------
    model : LanguageModel
    texts : Substitutions
    partial : bool
        Whether to predict only what stands after the answer.
    cache_weight : float
        How much the passage's words weigh.
    """
    n_questions, n_answers = len(texts.left.offsets) - 1, len(texts.question)
    logs, n_tokens = np.zeros(n_answers), np.zeros(n_answers, dtype=np.int64)
    for scored in shared_windows(model, texts, partial=partial, cache_weight=cache_weight):
        logs += np.bincount(scored.owner, scored.logs, n_questions)[texts.question]
        n_tokens += np.bincount(scored.owner, minlength=n_questions)[texts.question]
    for part in _blocks(model, texts):
        own = answer_windows(model, texts, part, partial=partial, cache_weight=cache_weight)
        n_own = part.stop - part.start
        logs[part] += np.bincount(own.owner - part.start, own.logs, n_own)
        n_tokens[part] += np.bincount(own.owner - part.start, minlength=n_own)
    return Totals(logs, n_tokens)


def shared_windows(
    model: LanguageModel, texts: Substitutions, *, partial: bool, cache_weight: float
) -> Iterator[Scored]:
    """What no candidate changes: the tokens before the answer, and those further behind it than the model sees."""
    questions = np.arange(len(texts.left.offsets) - 1)
    if not partial:
        place = np.flatnonzero(texts.left.tokens != START)
        yield _score(model, texts, texts.left, place, questions, questions, cache_weight)
    position = ragged_indices(np.zeros(len(questions), dtype=np.int64), np.diff(texts.right.offsets))
    place = np.flatnonzero(position >= model.model.order - 1)
    yield _score(model, texts, texts.right, place, questions, questions, cache_weight)


def answer_windows(
    model: LanguageModel, texts: Substitutions, answers: slice, *, partial: bool, cache_weight: float
) -> Scored:
    """What some answers change: their own tokens, and the next ones that have them in their context.

    Parameters
    ----------
    model : LanguageModel
    texts : Substitutions
    answers : slice
        Which.
    partial : bool
    cache_weight : float
    """
    counts = _window_sizes(model, texts)[answers]
    question = texts.question[answers]
    n_left, n_answer = len(texts.left.tokens), len(texts.answers.tokens)
    starts = np.stack(
        (
            texts.left.offsets[1:][question] - counts[:, _LEFT],
            n_left + texts.answers.offsets[:-1][answers],
            n_left + n_answer + texts.right.offsets[:-1][question],
        ),
        axis=1,
    )
    pool = np.concatenate((texts.left.tokens, texts.answers.tokens, texts.right.tokens))
    text = Ragged(pool[ragged_indices(starts.ravel(), counts.ravel())], offsets_of(counts.sum(axis=1)))
    piece = np.repeat(np.tile([_LEFT, _ANSWER, _RIGHT], len(question)), counts.ravel())
    place = np.flatnonzero(piece == _RIGHT if partial else piece != _LEFT)
    numbers = np.arange(answers.start, answers.stop)
    return _score(model, texts, text, place, numbers, question, cache_weight)


def _window_sizes(model: LanguageModel, texts: Substitutions) -> NDArray[np.int64]:
    """How many tokens before, in and after each answer its windows have: shape (n_answers, 3)."""
    before, after = (
        np.minimum(np.diff(side.offsets), model.model.order - 1)[texts.question]
        for side in (texts.left, texts.right)
    )
    return np.stack((before, np.diff(texts.answers.offsets), after), axis=1)


def _blocks(model: LanguageModel, texts: Substitutions) -> Iterator[slice]:
    ends = offsets_of(_window_sizes(model, texts).sum(axis=1) + 1)
    starts = np.flatnonzero(np.diff(ends[:-1] // _BLOCK_TOKENS, prepend=-1)).tolist()
    return (slice(*bounds) for bounds in itertools.pairwise([*starts, len(texts.question)]))


def _score(
    model: LanguageModel,
    texts: Substitutions,
    text: Ragged,
    place: NDArray[np.int64],
    owners: NDArray[np.int64],
    questions: NDArray[np.int64],
    cache_weight: float,
) -> Scored:
    """Predict the tokens of ragged rows at some places; a row has an owner and a question."""
    found = token_probabilities(model.model, model.known(text.tokens), text.offsets)
    values = found.values[place]
    row = np.repeat(np.arange(len(owners)), np.diff(text.offsets))[place]
    if texts.passages is not None:
        passage = texts.passages.of_question[questions[row]]
        length = texts.passages.lengths[passage]
        count = occurrences(texts.passages.counts, passage, text.tokens[place])
        mixed = (1 - cache_weight) * values + cache_weight * count / np.maximum(length, 1)
        values = np.where(length > 0, mixed, values)
    return Scored(owners[row], place, text, np.log(values), found.orders[place])
