"""Rows of an audit that learn: counted cells, characters, words and positions, all surface cues together."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules.codes import Code, option_codes, position_cells, question_codes
from classic_rc.audit.rules.partial_input import OPTIONS, PartialInput
from classic_rc.audit.rules.question_passage import flatten_scores
from classic_rc.errors import DataError, UsageError
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.kernels.arrays import distinct_words, offsets_of, ragged_indices
from classic_rc.parameters import clone
from classic_rc.solvers.base import Solver
from classic_rc.solvers.learning import one_thread
from classic_rc.solvers.surface.solver import SurfaceLR
from classic_rc.text.encode import SharedQuestions, TextEncoder

_PRIOR = 5.0
"""How many options the prior of a counted cell weighs."""

MOST_TRAINING = 8_000
"""More questions make no difference to whether a leak is found, and take longer."""

MOST_SOLVER_TRAINING = 20_000
"""The same for the solvers of :data:`SOLVER_ROWS`, which have many more features."""

_MOST_PASSAGES = 2_000
_HASH_BITS = 18
_LONGEST_TEXT = 400
"""The characters of an option, from both ends, that n-grams are taken from."""


@dataclass(frozen=True, eq=False)
class Learning:
    """What rows learn from: another dataset, or the other folds of the same one.

    Parameters
    ----------
    table : OptionTable
        The questions to answer.
    train : OptionTable or None
        The training data; None to learn out of fold.
    folds : sequence of (ndarray of int64, ndarray of int64)
        Without `train`: the questions of the other folds and of the own fold, by their place in the table.
    shared : EncodingCache
        Encodings for solvers.
    stopped : threading.Event
        Set when learners in other threads should end.
    """

    table: OptionTable
    train: OptionTable | None
    folds: Sequence[tuple[Integers, Integers]]
    shared: EncodingCache
    stopped: threading.Event = field(default_factory=threading.Event)

    def each_fold(self) -> Iterator[tuple[Integers, Integers]]:
        """Yield the folds.

        Raises
        ------
        CancelledError
            The check has `stopped`: nobody wants the result any more.
        """
        for fold in self.folds:
            if self.stopped.is_set():
                raise CancelledError
            yield fold

    def run(
        self,
        prepare: Callable[[OptionTable], Any],
        fit: Callable[[OptionTable, Any, Integers], Any],
        score: Callable[[OptionTable, Any, Any, Integers], Floats],
    ) -> Floats:
        """Score every option with a model that has not seen its question.

        `fit` gets a table, what `prepare` made of it, and the questions to learn from; `score` also gets
        a model and the options to score.
        """
        own = prepare(self.table)
        if self.train is not None:
            model = fit(self.train, prepare(self.train), np.arange(len(self.train)))
            return score(self.table, own, model, np.arange(len(self.table.texts)))
        result = np.zeros(len(self.table.texts))
        for others, members in self.each_fold():
            rows = option_rows(self.table, members)
            result[rows] = score(self.table, own, fit(self.table, own, others), rows)
        return result


def option_rows(table: OptionTable, questions: Integers) -> Integers:
    """Return the rows of all options of some questions."""
    return ragged_indices(table.offsets[:-1][questions], table.sizes[questions])


# Counted cells


def _prior(table: OptionTable) -> Floats:
    """Return the probability that each option is right if only its question's size, or its class, is known."""
    classes = table.constant_class
    if classes is None:
        return (table.n_right / table.sizes)[table.question]
    return np.bincount(classes, weights=table.right)[classes] / len(table)


def score_cells(learning: Learning, cells_of: Callable[[OptionTable, dict[Any, int]], Integers]) -> Floats:
    """Score each option with the share of right options in its cell, smoothed towards chance."""
    number: dict[Any, int] = {}
    table, train = learning.table, learning.train
    own = cells_of(table, number)
    prior = _prior(table)
    if train is not None:
        cells = cells_of(train, number)
        n_cells = int(max(own.max(initial=0), cells.max(initial=0))) + 1
        right = np.bincount(cells, weights=train.right, minlength=n_cells)
        count = np.bincount(cells, minlength=n_cells)
        return (right[own] + _PRIOR * prior) / (count[own] + _PRIOR)
    fold = np.zeros(len(table), dtype=np.int64)
    for i, (_, members) in enumerate(learning.folds):
        fold[members] = i
    cell_in_fold = own * len(learning.folds) + fold[table.question]
    cell_in_fold = np.unique(cell_in_fold, return_inverse=True)[1].reshape(-1)  # most cells are empty
    right, count = (np.bincount(cell_in_fold, weights=w)[cell_in_fold] for w in (table.right, np.ones(len(own))))
    others_right = np.bincount(own, weights=table.right)[own] - right
    others = np.bincount(own)[own] - count
    return (others_right + _PRIOR * prior) / (others + _PRIOR)


def cell_rows(table: OptionTable) -> Iterator[tuple[PartialInput, Callable[[Learning], Floats]]]:
    """Yield the rows that count how often each position, or option, is right for each value of a code."""
    seen: set[bytes] = set()
    what, rule = "position", "is at the position that follows from"
    if table.constant_class is not None:
        what, rule = "answer", "is the answer that follows from"
    for code in question_codes(table):
        row = PartialInput(f"{what} by {code.name}", code.sees, code.group, f"{rule} {code.name}")
        yield from _counted(row, code, table, seen, position_cells)
    if table.constant_class is None:
        seen = set()
        for code in option_codes(table):
            row = PartialInput(
                f"counts of {code.name}", code.sees, code.group, f"follows from {code.name} (counted)"
            )
            yield from _counted(row, code, table, seen, lambda values, _: values)


def _counted(
    row: PartialInput,
    code: Code,
    table: OptionTable,
    seen: set[bytes],
    cells_of: Callable[[Integers, OptionTable], Integers],
) -> Iterator[tuple[PartialInput, Callable[[Learning], Floats]]]:
    """Yield the row of a code, unless its values never return or divide the data as those of an earlier code do."""
    number: dict[Any, int] = {}
    numbered = _numbered(code.values(table), number)
    digest = hashlib.sha256(numbered.tobytes()).digest()
    if not 2 <= len(number) <= 0.8 * len(numbered) or digest in seen:
        return
    seen.add(digest)
    own = numbered.astype(np.int32)  # there are more than a hundred of them

    def learn(learning: Learning) -> Floats:
        def cells(of: OptionTable, _: dict[Any, int]) -> Integers:
            return cells_of(own.astype(np.int64) if of is table else _numbered(code.values(of), number), of)

        return score_cells(learning, cells)

    yield row, learn


def _numbered(values: Sequence[Any], number: dict[Any, int]) -> Integers:
    return np.array([number.setdefault(value, len(number)) for value in values], dtype=np.int64)


# Logistic regression on hashed features


def _sample(questions: Integers, most: int) -> Integers:
    """Return at most so many questions, evenly spread."""
    if len(questions) <= most:
        return questions
    return questions[np.linspace(0, len(questions) - 1, most).astype(np.int64)]


def _fit_weights(
    table: OptionTable, matrix: Callable[[Integers], Any], questions: Integers, C: float, most: int
) -> Floats:
    """Fit a conditional logit if each question has one right option, else a logistic regression of all options."""
    from classic_rc.kernels.blocked_matrix import Features
    from classic_rc.kernels.logistic import fit_logistic

    usable = (table.n_right > 0) & (table.n_right < table.sizes)
    if not table.selects_several:
        usable &= table.n_right == 1
    chosen = _sample(questions[usable[questions]], most)
    if not len(chosen):
        raise DataError("nothing to learn from", found="no question with right and wrong options")
    rows = option_rows(table, chosen)
    offsets = None if table.selects_several else offsets_of(table.sizes[chosen])
    features = Features.of(matrix(rows))
    dense, sparse = features.dense, features.sparse
    assert sparse is not None
    # Most hashed columns are empty, and many are in one option only: these cannot teach anything about others.
    used = np.flatnonzero(np.bincount(sparse.indices, minlength=sparse.shape[1]) > 1)
    n_dense = 0 if dense is None else dense.shape[1]
    if not n_dense and not len(used):
        return np.zeros(sparse.shape[1])
    with one_thread():
        fit = fit_logistic(Features(dense, sparse[:, used]), table.right[rows], C, offsets=offsets, tolerance=1e-3)
    weights = np.zeros(n_dense + sparse.shape[1])
    weights[np.concatenate((np.arange(n_dense), n_dense + used))] = fit.weights
    return weights


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    return values ^ (values >> np.uint64(29))


_LONGEST_GRAM = 4


def _gram_columns(texts: Sequence[str]) -> tuple[Integers, Integers]:
    """Return the hashed n-grams of 1 to 4 characters of each text, with its ends, and the offsets of the texts."""
    half = _LONGEST_TEXT // 2
    cut = ["\x02" + (t if len(t) <= _LONGEST_TEXT else f"{t[:half]}\x00{t[-half:]}") + "\x03" for t in texts]
    codes = np.frombuffer("".join(cut).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in cut], dtype=np.int64)
    text = np.repeat(np.arange(len(cut)), lengths)
    found_text, found = [], []
    grams = np.zeros(len(codes), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for n in range(1, _LONGEST_GRAM + 1):
            usable = len(codes) - n + 1
            if usable <= 0:
                break
            grams = grams[:usable] * np.uint64(1_000_003) + codes[n - 1 :] + np.uint64(n)
            whole = text[:usable] == text[n - 1 :]
            found.append((_mix(grams[whole]) & np.uint64(2**_HASH_BITS - 1)).astype(np.int64))
            found_text.append(text[:usable][whole])
    joined = np.concatenate(found_text)
    order = np.argsort(joined, kind="stable")
    return np.concatenate(found)[order], offsets_of(np.bincount(joined, minlength=len(cut)).astype(np.int64))


_TEXTS_AT_ONCE = 20_000


def _csr(columns: Integers, offsets: Integers) -> Any:
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(offsets) - 1, 2**_HASH_BITS))
    matrix.sum_duplicates()
    np.minimum(matrix.data, 2, out=matrix.data)
    return matrix


def _gram_matrix(table: OptionTable, rows: Integers) -> Any:
    own, index = np.unique(table.text_index[rows], return_inverse=True)
    texts = table.distinct_texts
    return _csr(*_gram_columns([texts[i] for i in own.tolist()]))[index.reshape(-1)]


def score_characters(learning: Learning) -> Floats:
    """Score options by the n-grams of their characters, as they are: case, blanks and marks included."""

    def fit(table: OptionTable, _: Any, questions: Integers) -> Floats:
        return _fit_weights(table, lambda rows: _gram_matrix(table, rows), questions, 0.1, MOST_TRAINING)

    return learning.run(lambda table: None, fit, lambda table, _, weights, rows: _score_grams(table, weights, rows))


def _score_grams(table: OptionTable, weights: Floats, rows: Integers) -> Floats:
    own, index = np.unique(table.text_index[rows], return_inverse=True)
    texts = [table.distinct_texts[i] for i in own.tolist()]
    blocks = range(0, len(texts), _TEXTS_AT_ONCE)
    scores = [_csr(*_gram_columns(texts[i : i + _TEXTS_AT_ONCE])) @ weights for i in blocks]
    return np.concatenate([np.zeros(0), *scores])[index.reshape(-1)]


def _score_words_and_positions(
    learning: Learning, texts_of: Callable[[OptionTable], list[str]], most: int
) -> Floats:
    """Score options by the words of their question's text (or passage), each with the option's place or class."""

    def prepare(table: OptionTable) -> tuple[Integers, NDArray[np.uint64], Integers]:
        number: dict[str, int] = {}
        index = np.array([number.setdefault(text, len(number)) for text in texts_of(table)], dtype=np.int64)
        encoder = TextEncoder(table.analyzer)
        tokens, offsets = encoder.encode(list(number))
        hashes = np.array([hash_text(word) for word in encoder.vocabulary], dtype=np.uint64)
        text, words = np.divmod(distinct_words(tokens, offsets, max(len(hashes), 1)), max(len(hashes), 1))
        return index, hashes[words], offsets_of(np.bincount(text, minlength=len(number)))

    def place_of(table: OptionTable) -> Integers:
        return table.position if table.constant_class is None else table.constant_class

    def matrix(table: OptionTable, prepared: tuple[Integers, Any, Integers], rows: Integers) -> Any:
        index, ids, offsets = prepared
        text = index[table.question[rows]]
        counts = np.diff(offsets)[text]
        place = place_of(table)
        with np.errstate(over="ignore"):
            keys = ids[ragged_indices(offsets[:-1][text], counts)] + np.repeat(
                place[rows].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15), counts
            )
            columns = (_mix(keys) & np.uint64(2**_HASH_BITS - 1)).astype(np.int64)
        return _csr(columns, offsets_of(counts))

    def fit(table: OptionTable, prepared: Any, questions: Integers) -> Floats:
        return _fit_weights(table, lambda rows: matrix(table, prepared, rows), questions, 0.1, most)

    def score(table: OptionTable, prepared: Any, weights: Floats, rows: Integers) -> Floats:
        # Options of equal texts at equal places are equal: four questions about a passage are scored once.
        cells = prepared[0][table.question[rows]] * (place_of(table).max(initial=0) + 1) + place_of(table)[rows]
        _, first, cell = np.unique(cells, return_index=True, return_inverse=True)
        rows = rows[first]
        blocks = [rows[i : i + _TEXTS_AT_ONCE] for i in range(0, len(rows), _TEXTS_AT_ONCE)]
        scores = [matrix(table, prepared, block) @ weights for block in blocks]
        return np.concatenate([np.zeros(0), *scores])[cell.reshape(-1)]

    return learning.run(prepare, fit, score)


def hash_text(text: str) -> int:
    """Return a hash of a text that is the same in every process."""
    import zlib

    data = text.encode("utf-8", "surrogatepass")
    return zlib.crc32(data) << 32 | zlib.adler32(data)


def score_question_words(learning: Learning) -> Floats:
    """Score positions (or constant options) by the words of the question."""
    return _score_words_and_positions(learning, lambda table: [q.text for q in table.questions], MOST_TRAINING)


def score_passage_words(learning: Learning) -> Floats:
    """Score positions (or constant options) by the words of the passage."""
    return _score_words_and_positions(
        learning, lambda table: [q.passage.text for q in table.questions], _MOST_PASSAGES
    )


_SHOWN_PLACES = 12


def surface_ranks(table: OptionTable, scores: Floats) -> NDArray[np.float16]:
    """Return each option's rank in its question, centred and between -1 and 1."""
    return (2 * table.centred(table.rank(scores.round(6))) / np.maximum(table.sizes - 1, 1)[table.question]).astype(
        np.float16
    )


def score_surface(rules: Sequence[PartialInput]) -> Callable[[Learning], Floats]:
    """Return the learner over all rules of the options together, and the n-grams of their characters.

    Each rule gives one number: the option's rank in its question, centred and between -1 and 1.
    """

    def prepare(table: OptionTable) -> NDArray[np.float16]:
        known = table.memory.pop("surface ranks", None) or {}
        result = np.zeros((len(table.texts), len(rules) + _SHOWN_PLACES), dtype=np.float16)
        for i, rule in enumerate(rules):
            assert rule.score is not None
            result[:, i] = known.pop(rule.name) if rule.name in known else surface_ranks(table, rule.score(table))
        result[np.arange(len(table.texts)), len(rules) + np.minimum(table.position, _SHOWN_PLACES - 1)] = 1
        return result

    def fit(table: OptionTable, dense: NDArray[np.float16], questions: Integers) -> Floats:
        from classic_rc.kernels.blocked_matrix import Features

        def matrix(rows: Integers) -> Any:
            return Features(dense[rows].astype(np.float64), _gram_matrix(table, rows))

        return _fit_weights(table, matrix, questions, 0.1, MOST_TRAINING // 2)

    def score(table: OptionTable, dense: NDArray[np.float16], weights: Floats, rows: Integers) -> Floats:
        n = dense.shape[1]
        blocks = [rows[i : i + _TEXTS_AT_ONCE] for i in range(0, len(rows), _TEXTS_AT_ONCE)]
        of_rules = [dense[block].astype(np.float64) @ weights[:n] for block in blocks]
        return np.concatenate([np.zeros(0), *of_rules]) + _score_grams(table, weights[n:], rows)

    return lambda learning: learning.run(prepare, fit, score)


# Solvers


def score_with(solver: Solver) -> Callable[[Learning], Floats]:
    """Return the row of a solver that learns from gold."""

    def learn(learning: Learning) -> Floats:
        table, train = learning.table, learning.train
        questions = SharedQuestions.of(learning.shared.of(table.dataset))
        own = clone(solver)
        if own.analyzer is not None:
            own.set_params(analyzer=table.analyzer)
        if train is not None:
            own.fit(
                SharedQuestions.of(learning.shared.of(train.dataset)).take(
                    _sample(train.rows, MOST_SOLVER_TRAINING)
                )
            )
            scores = own.score_candidates(questions)
            return flatten_scores(table, scores.values, scores.offsets)
        counts = np.array([len(q.candidates) for q in table.dataset], dtype=np.int64)
        offsets = offsets_of(counts)
        values = np.zeros(int(offsets[-1]))
        for others, members in learning.each_fold():
            fitted = clone(own).fit(questions.take(_sample(table.rows[others], MOST_SOLVER_TRAINING)))
            rows = table.rows[members]
            values[ragged_indices(offsets[:-1][rows], counts[rows])] = fitted.score_candidates(
                questions.take(rows)
            ).values
        return flatten_scores(table, values, offsets)

    return learn


CHARACTERS = PartialInput(
    "option characters", OPTIONS, "learned", "follows from the characters of the options (learned)"
)
SURFACE = PartialInput(
    "all surface cues of the options",
    (*OPTIONS, "other options", "order"),
    "learned",
    "follows from all surface cues of the options together (learned)",
)

_FIRST_WORDS = {1: "first word", 2: "first 2 words", 4: "first 4 words"}

SOLVER_ROWS: tuple[tuple[PartialInput, Solver], ...] = (
    (
        PartialInput("options", OPTIONS, "learned", "follows from the words of the options (learned)"),
        SurfaceLR(inputs="candidates"),
    ),
    (
        PartialInput(
            "question + options",
            ("question", "options"),
            "learned",
            "follows from the words of question and options (learned)",
        ),
        SurfaceLR(inputs="no-passage"),
    ),
    (
        PartialInput(
            "passage + options",
            ("passage", "options"),
            "learned shortcuts",
            "follows from the words of passage and options (learned)",
        ),
        SurfaceLR(inputs="no-question"),
    ),
    *(
        (
            PartialInput(
                f"{words} + passage + options",
                (f"{words} of the question", "passage", "options"),
                "learned shortcuts",
                f"follows from passage, options and the question's {words} (learned)",
            ),
            SurfaceLR(question_words=n),
        )
        for n, words in _FIRST_WORDS.items()
    ),
)
"""Logistic regressions of words and overlaps on partial inputs, with what they read.

Inputs without the passage, without the question and without both are those of Kaushik and Lipton 2018, Gururangan
et al. 2018 and Poliak et al. 2018, with a classifier of overlap features in place of neural readers. The first 1, 2
and 4 words of the question, with passage and options, are a heuristic of Sugawara et al. 2018.
"""

QUESTION_WORDS = PartialInput(
    "question",
    ("question",),
    "learned",
    "is at the position, or the constant option, that follows from the question's words (learned)",
)
PASSAGE_WORDS = PartialInput(
    "passage",
    ("passage",),
    "learned shortcuts",
    "is at the position, or the constant option, that follows from the passage's words (learned)",
)

LEARNING_ERRORS = (UsageError, DataError)
