"""Sketches: what a dataset contains, as hashes without its texts.

A sketch has sampled hashes of the n-grams of a dataset's passages, and hashes of whole passages
and of questions. :meth:`Sketch.copied` uses them to find verbatim, shortened and slightly edited
copies in another dataset. It does not need the sketched texts.

N-grams are of 8 words, or of 12 characters in scripts without blanks. Those are sampled whose hash
has zeros in its last bits (modulo sampling; Broder 1997: On the resemblance and containment of
documents). So two datasets sample the same n-grams. A passage is a copy if the sketch has at least
a fifth of its sampled n-grams, at least three of them, and enough of them to represent twelve
n-grams of the passage. Unrelated texts share only stock phrases. Short passages must be equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    distinct,
    offsets_of,
    ragged_indices,
    run_starts,
    runs_of,
    sums_by,
)
from classic_rc.kernels.draws import mix, text_keys
from classic_rc.kernels.hashes import ngram_hashes, sums_between, text_sums
from classic_rc.questions import Dataset, Question, candidate_texts
from classic_rc.text.analyzers import stop_words
from classic_rc.text.dream import without_speakers
from classic_rc.text.encode import TextEncoder

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Flags = NDArray[np.bool_]
_Item = TypeVar("_Item")

VERSION = 1
"""The version of the hashes. Sketches of another version cannot be compared."""

MAX_GRAMS = 2**19
"""The most hashes of n-grams in a sketch: 0.7 MB."""

_WORD_GRAM, _CHARACTER_GRAM = 8, 12
_GRAMS_PER_PASSAGE = 32
"""The most sampled n-grams per passage, on average; at least half as many are expected."""
_MIN_BUDGET = 2**12
"""A dataset with fewer n-grams has all of them in its sketch."""

_GRAM_BITS = 28
"""Of a stored n-gram. A passage needs three hits, so false ones do not matter."""
_KEY_BITS = 44
"""Of a stored passage or question, where one hit is enough: 100,000 questions and a sketch of
100,000 have a false hit with a probability of 6e-4.
"""
_MAX_HALVINGS = 32

_COPIED_SHARE = 0.2
_MIN_HITS = 3
_MIN_SHARED_GRAMS = 12
"""About twenty words in a row."""

_CONTENT_WORDS = 8
"""A passage, or a question with its options, identifies its source with this many different words
that a stop list lacks. A character counts as half a word.
"""
_MAX_PASSAGES_OF_GRAM = 10
"""An n-gram of more passages than this is of a common header or an instruction, and does not
count.
"""
_MAX_PASSAGES_OF_QUESTION = 3
"""A question about more passages than this is a template and identifies none."""

_BLOCK_TEXTS, _BLOCK_TOKENS = 2**9, 2**18


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a dataset contains, as hashes; see the module.

    Examples
    --------
    >>> from classic_rc import load
    >>> dataset = load("sample:single-choice")
    >>> sketch = Sketch.of(dataset)
    >>> sketch, int(sketch.copied(dataset).sum()), int(sketch.copied(load("sample:cloze")).sum())
    (<Sketch sample:single-choice: 24 questions, 6 passages>, 24, 0)
    """

    name: str
    n_questions: int
    n_passages: int  # with different texts
    halvings: int  # the share of sampled n-grams is 0.5 ** halvings
    grams: Integers  # 28-bit hashes of sampled n-grams, ascending, without repetition
    keys: Integers  # 44-bit hashes of passages and of questions, ascending, without repetition

    def __repr__(self) -> str:
        counts = f"{self.n_questions:,} questions, {self.n_passages:,} passages"
        return f"<Sketch {self.name}: {counts}>"

    @classmethod
    def of(cls, questions: Sequence[Question], name: str | None = None) -> Self:
        """Sketch a dataset. The order of its questions does not matter."""
        hashed = _hash_questions(questions)
        halvings, grams = hashed.halvings, hashed.grams
        while len(stored := _stored_grams(grams)) > MAX_GRAMS:
            halvings += 1
            grams = grams[_is_sampled(grams, halvings)]
        keys = np.concatenate([hashed.passage_keys, hashed.question_keys])
        return cls(
            str(name or getattr(questions, "name", "questions")),
            len(questions),
            len(hashed.passage_keys),
            halvings,
            stored,
            _ascending(keys[keys > 0] >> np.uint64(64 - _KEY_BITS)),
        )

    @property
    def sampling_rate(self) -> float:
        """The share of n-grams that are sampled."""
        return 0.5**self.halvings

    def copied(self, dataset: Sequence[Question]) -> Flags:
        """Return which questions of `dataset`, or their passages, are in the sketched data.

        Returns
        -------
        ndarray of bool, shape (n_questions,)
        """
        hashed = _hash_questions(dataset)
        in_passage = self._has_passages(hashed)[hashed.passage_of_question]
        return in_passage | self._has_keys(hashed.question_keys)

    def copied_passages(self, dataset: Dataset) -> Flags:
        """Return which passages of `dataset` are in the sketched data, shape (n_passages,)."""
        hashed = _hash_questions(dataset)
        passage_ids = [id(question.passage) for question in dataset]
        row_of = dict(zip(passage_ids, hashed.passage_of_question.tolist(), strict=True))
        rows = [row_of[id(passage)] for passage in dataset.passages]
        return self._has_passages(hashed)[rows]

    def _has_passages(self, hashed: _HashedQuestions) -> Flags:
        sampled = _is_sampled(hashed.grams, self.halvings)
        passage, n_passages = hashed.passage_of_gram[sampled], len(hashed.passage_keys)
        hits = _is_member(hashed.grams[sampled] >> np.uint64(64 - _GRAM_BITS), self.grams)
        n_hits = np.bincount(passage[hits], minlength=n_passages)
        n_sampled = np.bincount(passage, minlength=n_passages)
        sampling_rate = 0.5 ** max(self.halvings, hashed.halvings)
        min_hits = max(_MIN_HITS, _MIN_SHARED_GRAMS * sampling_rate)
        is_similar = (n_hits >= min_hits) & (n_hits >= _COPIED_SHARE * n_sampled)
        return is_similar | self._has_keys(hashed.passage_keys)

    def _has_keys(self, keys: Hashes) -> Flags:
        is_present = _is_member(keys >> np.uint64(64 - _KEY_BITS), self.keys)
        return is_present & (keys > 0)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sketch as compact arrays for a file."""
        counts = [VERSION, self.n_questions, self.n_passages, self.halvings]
        sizes = [len(self.grams), len(self.keys)]
        return {
            "name": np.frombuffer(self.name.encode("utf-8", "surrogatepass"), dtype=np.uint8),
            "counts": np.array([*counts, *sizes], dtype=np.int64),
            "grams": _pack_ascending(self.grams, _GRAM_BITS),
            "keys": _pack_ascending(self.keys, _KEY_BITS),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the sketch of arrays that :meth:`to_arrays` returned. Their content may be
        anything.

        Raises
        ------
        KeyError, TypeError or ValueError
            The arrays are no sketch.
        """
        types = {"name": "uint8", "counts": "int64", "grams": "uint8", "keys": "uint8"}
        for name, dtype in types.items():
            array = arrays[name]
            if array.dtype != dtype or array.ndim != 1:
                described = f"of type {array.dtype} and {array.ndim} dimensions"
                raise TypeError(f"{name} of the sketch is {described}, expected {dtype} and 1")
        if len(arrays["counts"]) != 6 or arrays["counts"].min() < 0:
            raise ValueError("the sketch does not have six counts")
        version, n_questions, n_passages, halvings, n_grams, n_keys = arrays["counts"].tolist()
        if version != VERSION:
            raise ValueError(f"the sketch is of version {version}, expected {VERSION}")
        if halvings > _MAX_HALVINGS:
            raise ValueError(f"the sketch has {halvings} halvings, expected {_MAX_HALVINGS}")
        return cls(
            arrays["name"].tobytes().decode("utf-8", "surrogatepass"),
            n_questions,
            n_passages,
            halvings,
            _unpack_ascending(arrays["grams"], n_grams, _GRAM_BITS),
            _unpack_ascending(arrays["keys"], n_keys, _KEY_BITS),
        )


class _HashedQuestions(NamedTuple):
    """The hashes of a dataset, of 64 bits. A key of 0 identifies nothing."""

    halvings: int
    grams: Hashes  # the sampled n-grams of the passages
    passage_of_gram: Integers
    passage_keys: Hashes  # shape (n_passages,): passages with different texts
    passage_of_question: Integers  # shape (n_questions,)
    question_keys: Hashes  # shape (n_questions,)


_hashed_datasets: WeakKeyDictionary[Dataset, _HashedQuestions] = WeakKeyDictionary()
"""A dataset is looked up in many sketches."""


def _hash_questions(questions: Sequence[Question]) -> _HashedQuestions:
    if not isinstance(questions, Dataset):
        return _compute_hashes(questions)
    if questions not in _hashed_datasets:
        _hashed_datasets[questions] = _compute_hashes(questions)
    return _hashed_datasets[questions]


def _compute_hashes(questions: Sequence[Question]) -> _HashedQuestions:
    passages = {id(question.passage): question.passage for question in questions}
    number: dict[bytes, int] = {}  # by digests, because whole texts would fill the memory
    row_of: dict[int, int] = {}

    def different() -> Iterator[str]:
        for key, passage in passages.items():
            n, text = len(number), without_speakers(passage.text)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
            row_of[key] = number.setdefault(digest, n)
            if len(number) > n:
                yield text

    texts = _SketchedTexts(_blocks(different()))
    passage_of_question = np.array([row_of[id(q.passage)] for q in questions], dtype=np.int64)
    budget = max(_GRAMS_PER_PASSAGE * len(number), _MIN_BUDGET)
    halvings = max(texts.n_grams - 1, 0) // budget
    halvings = min(halvings.bit_length(), _MAX_HALVINGS)
    passage_hashes = texts.hashes()
    is_specific = texts.content_weights(texts.offsets) >= _CONTENT_WORDS
    grams, passage_of_gram = _without_common(*texts.sample_grams(halvings))
    del texts  # which fill the memory
    return _HashedQuestions(
        halvings,
        grams,
        passage_of_gram,
        np.where(is_specific, passage_hashes, np.uint64(0)),
        passage_of_question,
        _question_keys(questions, passage_hashes[passage_of_question]),
    )


def _without_common(grams: Hashes, passage: Integers) -> tuple[Hashes, Integers]:
    """Return each n-gram of a passage once, but none that many passages have."""
    order = np.lexsort((passage, grams))
    grams, passage = grams[order], passage[order]
    is_first = np.ones(len(grams), dtype=bool)
    is_first[1:] = (np.diff(grams) != 0) | (np.diff(passage) != 0)
    grams, passage = grams[is_first], passage[is_first]
    n_passages = np.diff(np.append(run_starts(grams), len(grams)))
    is_rare = np.repeat(n_passages <= _MAX_PASSAGES_OF_GRAM, n_passages)
    return grams[is_rare], passage[is_rare]


def _question_keys(questions: Sequence[Question], passages: Hashes) -> Hashes:
    """Return a hash of each question's words and options, whatever the options' order; of a
    question without options its words and its passage. Questions that identify no source have 0.
    """
    counts: list[int] = []

    def blocks() -> Iterator[list[str]]:
        for block in _blocks(questions):
            parts = [_parts_of(question) for question in block]
            counts.extend(map(len, parts))
            yield list(chain.from_iterable(parts))

    texts = _SketchedTexts(blocks())
    starts = offsets_of(counts)
    hashes = texts.hashes()
    hashes[starts[:-1]] = ~hashes[starts[:-1]]  # the question's own text is no option
    keys = mix(sums_between(mix(hashes), starts))
    keys[texts.content_weights(texts.offsets[starts]) < _CONTENT_WORDS] = 0
    pairs = np.unique(np.stack([keys, passages], axis=1), axis=0)
    pair_keys, n_passages = np.unique(pairs[:, 0], return_counts=True)
    keys[np.isin(keys, pair_keys[n_passages > _MAX_PASSAGES_OF_QUESTION])] = 0
    return keys


def _parts_of(question: Question) -> list[str]:
    if question.task.has_choices:
        return [question.text, *candidate_texts(question.candidates)]
    return [question.text, without_speakers(question.passage.text)]


def _blocks(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Yield items in blocks."""
    items = iter(items)
    while block := list(islice(items, _BLOCK_TEXTS)):
        yield block


class _SketchedTexts:
    """The words of texts, which are characters in scripts without blanks, and their hashes."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        encoder, stops = TextEncoder("char"), stop_words("smart")
        joined = bytearray()  # grows in place: whole copies would fill the memory
        lengths = [np.empty(0, dtype=np.int64)]
        for block in texts:
            tokens, offsets = encoder.encode(block)
            joined += tokens.astype(np.int32, copy=False).tobytes()
            lengths.append(np.diff(offsets))
        self.tokens = np.frombuffer(joined, dtype=np.int32)
        self.lengths = np.concatenate(lengths)
        self.offsets = offsets_of(self.lengths)
        vocabulary = encoder.vocabulary
        self._keys = text_keys(vocabulary)
        is_character = (len(word) == 1 and not word.isascii() for word in vocabulary)
        self._is_character = np.fromiter(is_character, dtype=bool, count=len(vocabulary))
        is_stop_word = np.array([word in stops for word in vocabulary], dtype=bool)
        self._weights = np.where(is_stop_word, 0.0, np.where(self._is_character, 0.5, 1.0))
        self._order = np.where(self._has_characters(), _CHARACTER_GRAM, _WORD_GRAM)

    def _has_characters(self) -> Flags:
        n_characters = np.zeros_like(self.lengths)
        for start, stop in runs_of(self.lengths, _BLOCK_TOKENS):
            own = self.offsets[start : stop + 1]
            before = offsets_of(self._is_character[self.tokens[own[0] : own[-1]]])
            n_characters[start:stop] = np.diff(before[own - own[0]])
        return 2 * n_characters > self.lengths

    def hashes(self) -> Hashes:
        """Return a hash of each text."""
        hashes = np.empty(len(self.lengths), dtype=np.uint64)
        for start, stop in runs_of(self.lengths, _BLOCK_TOKENS):
            tokens = self.tokens[self.offsets[start] : self.offsets[stop]]
            lengths = self.lengths[start:stop]
            sums = text_sums(self._keys[tokens], lengths)
            hashes[start:stop] = mix(sums + lengths.astype(np.uint64))
        return hashes

    def content_weights(self, offsets: Integers) -> NDArray[np.float64]:
        """Return how many different content words there are between each two offsets."""
        weights = np.empty(len(offsets) - 1)
        n_words = max(len(self._keys), 1)
        for start, stop in runs_of(np.diff(offsets), _BLOCK_TOKENS):
            lengths = np.diff(offsets[start : stop + 1])
            text = np.repeat(np.arange(len(lengths)), lengths)
            cells = text * n_words + self.tokens[offsets[start] : offsets[stop]]
            text, words = np.divmod(distinct(cells), n_words)
            weights[start:stop] = sums_by(text, self._weights[words], len(lengths))
        return weights

    @property
    def n_grams(self) -> int:
        """The number of n-grams in all texts."""
        return int(np.maximum(self.lengths - self._order + 1, 0).sum())

    def sample_grams(self, halvings: int) -> tuple[Hashes, Integers]:
        """Return the hashes of the sampled n-grams, and the text of each."""
        grams = [np.empty(0, dtype=np.uint64)]
        rows = [np.empty(0, dtype=np.int64)]
        for order in (_WORD_GRAM, _CHARACTER_GRAM):
            texts = np.flatnonzero((self._order == order) & (self.lengths >= order))
            for block in runs_of(self.lengths[texts], _BLOCK_TOKENS):
                block_texts = texts[slice(*block)]
                lengths = self.lengths[block_texts]
                places = ragged_indices(self.offsets[block_texts], lengths)
                keys = self._keys[self.tokens[places]]
                del places
                hashes, row = ngram_hashes(keys, lengths, order)
                sampled = _is_sampled(hashes, halvings)
                grams.append(hashes[sampled])
                rows.append(block_texts[row[sampled]])
        return np.concatenate(grams), np.concatenate(rows)


def _is_sampled(grams: Hashes, halvings: int) -> Flags:
    return grams & np.uint64(2**halvings - 1) == 0


def _stored_grams(grams: Hashes) -> Integers:
    return _ascending(grams >> np.uint64(64 - _GRAM_BITS))


def _ascending(hashes: Hashes) -> Integers:
    return distinct(hashes).astype(np.int64)


def _is_member(hashes: Hashes, members: Integers) -> Flags:
    if not len(members):
        return np.zeros(len(hashes), dtype=bool)
    values = hashes.astype(np.int64)
    places = np.searchsorted(members, values)
    return members[np.minimum(places, len(members) - 1)] == values


def _pack_ascending(values: Integers, bits: int) -> NDArray[np.uint8]:
    """Return ascending numbers of some bits in the code of Elias (1974) and Fano (1971): less than
    half a bit a number more than the least possible.
    """
    n_low = _low_bits(len(values), bits)
    low = (values[:, None] >> np.arange(n_low)) & 1
    high = np.zeros(len(values) + 2 ** (bits - n_low), dtype=np.uint8)
    high[(values >> n_low) + np.arange(len(values))] = 1
    return np.concatenate([np.packbits(high), np.packbits(low.astype(np.uint8))])


def _unpack_ascending(packed: NDArray[np.uint8], n: int, bits: int) -> Integers:
    n_low = _low_bits(n, bits)
    n_high = n + 2 ** (bits - n_low)
    size = -(-n_high // 8)
    if n >= 2**bits or len(packed) != size - (-n * n_low // 8):
        raise ValueError(f"{len(packed)} bytes are not {n:,} hashes of {bits} bits")
    high = np.flatnonzero(np.unpackbits(packed[:size]))
    if len(high) != n or (n and high[-1] >= n_high):
        raise ValueError(f"the hashes are not {n:,}")
    bits_of_low = np.unpackbits(packed[size:], count=n * n_low).reshape(n, n_low)
    low = (bits_of_low.astype(np.int64) << np.arange(n_low)).sum(axis=1)
    values: Integers = ((high - np.arange(n)) << n_low) | low
    if (np.diff(values) <= 0).any():
        raise ValueError("the hashes are not ascending")
    return values


def _low_bits(n: int, bits: int) -> int:
    """Return how many bits of each number are stored as they are."""
    return max(bits - max(n, 1).bit_length(), 0)
