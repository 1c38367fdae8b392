"""The ranker's features of cloze candidates: mentions, their contexts, distances and sentences, in
one pass.

They are those of Chen, Bolton and Manning 2016 (A Thorough Examination of the CNN/Daily Mail
Reading Comprehension Task, section 3.1), without the dependency parse. Candidates of a question
with equal texts are one candidate, e. A mention is an occurrence of its words in the passage P, one
after the other. Q are the query's words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import (
    BLOCK_TOKENS,
    Postings,
    TokenArrays,
    distinct_words,
    is_in,
    offsets_of,
    passage_postings,
    ragged_indices,
    sums_by,
)
from classic_rc.kernels.cloze import (
    counted_lengths,
    mention_distances,
    phrase_counts,
    phrase_places,
    query_counts,
)
from classic_rc.kernels.window import row_chunks
from classic_rc.kernels.word_sets import share
from classic_rc.questions import Passage, Question
from classic_rc.solvers.feature_ranker.features import Feature, names_by_group
from classic_rc.solvers.feature_ranker.texts import PassageSentences
from classic_rc.text.encode import encode_pieces, tokens_before_placeholder
from classic_rc.text.encoded import EncodedDataset, stop_flags
from classic_rc.text.question_texts import Passages
from classic_rc.text.sentences import passage_sentences

ANALYZER = "clitics+unstemmed"
STOP_LIST = "smart"

ALIGNED_REACH = 8
"""The largest distance of a word from its expected place, as of the word distance of Hermann et
al. 2015.
"""
REACH = 20
"""The largest distance of a word from a mention, about the length of a sentence."""

_PAIRS = 2**18
"""How many pairs of a mention with a word or another mention are processed at a time."""

CONTEXTS = tuple((left, right) for left in range(3) for right in range(3) if left or right)
"""How many tokens on the left and on the right of the placeholder are compared."""

_HIGHLIGHT = re.compile(r"\s*@highlight\b\s*")


def context_name(n_left: int, n_right: int) -> str:
    """Return the name of the feature that compares this many tokens on the left and on the
    right.
    """
    sides = []
    if n_left:
        sides.append(f"{n_left} left")
    if n_right:
        sides.append(f"{n_right} right")
    return f"context: {', '.join(sides)}"


ENTITY_TABLE: tuple[Feature, ...] = (
    Feature("mentions", "in passage", "1 if P mentions e"),
    Feature("mentions", "in question", "1 if Q has e's words, one after the other"),
    Feature("mentions", "frequency", "number of mentions"),
    Feature("mentions", "first position", "place of the first mention / |P|, 1 without one"),
    *(
        Feature(
            "contexts",
            context_name(left, right),
            f"1 if the {left} tokens before the placeholder and the {right} after it are around a "
            "mention too",
        )
        for left, right in CONTEXTS
    ),
    Feature(
        "distance",
        "aligned: least",
        "mean over Q's content words of the steps to their places if a mention fills the "
        "placeholder, best mention",
    ),
    Feature(
        "distance",
        "aligned: mean",
        "the same, mean over the mentions; both at most 8, and 8 without a mention",
    ),
    Feature(
        "distance",
        "distance: least",
        "mean over Q's content words of the steps to a mention, nearest mention",
    ),
    Feature(
        "distance",
        "distance: mean",
        "the same, mean over the mentions; both at most 20, and 20 without one",
    ),
    Feature(
        "sentences",
        "words in sentence",
        "largest share of Q's content words, without e's, next to e in a sentence",
    ),
    Feature(
        "sentences", "entity in sentence", "1 if a sentence has e and another candidate that Q has"
    ),
)
"""All features of cloze candidates."""

ENTITY_GROUPS = ("mentions", "contexts", "distance", "sentences")

ENTITY_FEATURES = names_by_group(ENTITY_TABLE, ENTITY_GROUPS)
"""The names of the columns of each group, in order."""


@dataclass(frozen=True)
class EntityTexts:
    """Cloze questions in the form that the features read, grouped by passage like their
    encoding.
    """

    encoded: EncodedDataset
    stop: NDArray[np.bool_]  # (n_words,)
    # (n_sentences + 1,): sentence i of all passages is `passage_tokens[offsets[i]:offsets[i + 1]]`.
    sentence_offsets: NDArray[np.int64]
    passage_sentences: NDArray[np.int64]  # (n_passages + 1,): the sentences of each passage
    placeholders: NDArray[np.int64]  # (n_questions,): how many tokens precede the placeholder

    @property
    def types(self) -> NDArray[np.int64]:
        """The type of each question; all have the same."""
        return np.zeros(len(self.placeholders), dtype=np.int64)


def entity_texts(questions: Sequence[Question]) -> EntityTexts:
    """Build the texts of questions; encodings are shared as :func:`~classic_rc.text.encode.encode`
    shares them.

    Words are in lower case, without clitics, and not stemmed: Chen et al. compare words as they
    are.
    """
    encoded, sentence_offsets, of_passage = encode_pieces(
        questions, ANALYZER, entity_sentence_texts
    )
    grouped = [questions[i] for i in encoded.order.tolist()]
    placeholders = tokens_before_placeholder(grouped, encoded.analyzer)
    stop = stop_flags(encoded.vocabulary, encoded.analyzer, STOP_LIST)
    return EntityTexts(encoded, stop, sentence_offsets, of_passage, placeholders)


def entity_sentence_texts(passages: Passages) -> Iterator[list[str]]:
    """Yield the sentences of :func:`entity_sentences` of each passage as texts."""
    for passage in passages:
        text = passage.text
        yield [text[start:end] for start, end in entity_sentences(passage)]


def entity_sentences(passage: Passage) -> list[tuple[int, int]]:
    """Return the sentences of a passage; they also end at the marks of ReCoRD's highlights, and
    have no marks.

    Examples
    --------
    >>> entity_sentences(
    ...     Passage("p", "Ann left. Bob too.\\n@highlight\\nAnn was ill\\n@highlight\\nBob")
    ... )
    [(0, 9), (10, 18), (30, 41), (53, 56)]
    """
    pieces = []
    for start, end in passage_sentences(passage):
        for mark in _HIGHLIGHT.finditer(passage.text, start, end):
            pieces.append((start, mark.start()))
            start = mark.end()
        pieces.append((start, end))
    return [(start, end) for start, end in pieces if start < end]


def entity_features(
    texts: EntityTexts, rarity: None = None, groups: Collection[str] = ENTITY_GROUPS
) -> NDArray[np.float32]:
    """Return the features of the distinct candidates of each question, in the order of
    :data:`ENTITY_FEATURES`.

    This is :func:`classic_rc.kernels.reference.entity_features` for all candidates at once, rounded
    to float32: the 380,000 training questions of CNN have about ten million candidates. No rarity
    of words is needed.
    """
    names = [name for group in ENTITY_GROUPS if group in groups for name in ENTITY_FEATURES[group]]
    matrix = np.zeros((len(texts.encoded.arrays.candidate_question), len(names)), dtype=np.float32)
    for block in _blocks(texts):
        columns: _Columns = {}
        for group, compute in _COLUMNS.items():
            if group in groups:
                columns |= compute(block)
        for j, name in enumerate(names):
            matrix[block.where, j] = columns[name]
    return matrix


def is_mentioned(texts: EntityTexts) -> NDArray[np.bool_]:
    """Return whether the passage mentions each candidate."""
    return phrase_counts(texts.encoded.arrays) > 0


def mention_sentences(texts: EntityTexts, rarity: None = None) -> NDArray[np.int64]:
    """Return the sentence, in its passage, of each candidate's mention that is nearest to the
    query's words.

    Of equally near mentions the first counts; without a mention, it is -1. Shape (n_candidates of
    the arrays,).
    """
    best = np.full(len(texts.encoded.arrays.candidate_question), -1, dtype=np.int64)
    for block in _blocks(texts):
        distances = _distances(block, is_aligned=False)
        # The nearest mention, of equally near ones the first, is assigned last.
        order = np.lexsort((-np.arange(len(distances)), -distances))
        passages = block.arrays.question_passage[block.question]
        within = block.sentences - block.passage_sentences[passages]
        best[block.where.start + block.candidates[order]] = within[order]
    return best


class _MentionBlock(NamedTuple):
    """A block of whole questions, with the mentions of its candidates."""

    where: slice  # the block's candidates among all
    arrays: TokenArrays
    postings: Postings
    candidates: NDArray[np.int64]  # (n_mentions,): ascending
    # (n_mentions,): the position of each mention's first token, ascending
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]  # (n_mentions,): the position after its last token
    question: NDArray[np.int64]  # (n_mentions,)
    # (n_mentions,): the sentence of its first token, among the block's
    sentences: NDArray[np.int64]
    in_query: NDArray[np.bool_]  # (n_candidates,)
    placeholders: NDArray[np.int64]  # (n_questions,)
    counted: NDArray[np.bool_]  # (n_words,): no stop words
    sentence_offsets: NDArray[np.int64]  # (n_sentences + 1,): of the block's passages
    passage_sentences: NDArray[np.int64]  # (n_passages + 1,)

    @property
    def n(self) -> int:
        """The number of candidates."""
        return len(self.arrays.candidate_question)

    def any_mention(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return whether any mention of each candidate has a flag."""
        return np.bincount(self.candidates[flags], minlength=self.n) > 0


_Columns = dict[str, NDArray[Any]]
"""Columns by name, a row for each candidate of a block."""


def _blocks(texts: EntityTexts) -> Iterator[_MentionBlock]:
    arrays = texts.encoded.arrays
    for where, block in arrays.blocks(BLOCK_TOKENS, whole_questions=True):
        first, last = arrays.candidate_question[[where.start, where.stop - 1]].tolist()
        passage = int(arrays.question_passage[first])
        next_passage = passage + len(block.passage_offsets) - 1
        sentences = PassageSentences.of(
            texts.sentence_offsets, texts.passage_sentences, passage, next_passage
        )
        postings = passage_postings(block)
        candidates, starts = phrase_places(block, postings)
        question = block.candidate_question[candidates]
        places = block.passage_offsets[block.question_passage[question]] + starts
        lengths = np.diff(block.candidate_offsets)
        placeholders = texts.placeholders[first : last + 1]
        yield _MentionBlock(
            where,
            block,
            postings,
            candidates,
            starts,
            stops=starts + lengths[candidates],
            question=question,
            sentences=np.searchsorted(sentences.offsets, places, side="right") - 1,
            in_query=query_counts(block, placeholders) > 0,
            placeholders=placeholders,
            counted=~texts.stop,
            sentence_offsets=sentences.offsets,
            passage_sentences=sentences.of_passage,
        )


def _mention_columns(block: _MentionBlock) -> _Columns:
    arrays = block.arrays
    counts = np.bincount(block.candidates, minlength=block.n)
    first = np.ones(block.n)
    mentioned, at = np.unique(block.candidates, return_index=True)
    lengths = np.diff(arrays.passage_offsets)[arrays.question_passage[block.question[at]]]
    first[mentioned] = block.starts[at] / lengths
    return {
        "in passage": counts > 0,
        "in question": block.in_query,
        "frequency": counts,
        "first position": first,
    }


def _context_columns(block: _MentionBlock) -> _Columns:
    arrays, question = block.arrays, block.question
    passage = arrays.question_passage[question]
    starts, ends = arrays.passage_offsets[passage], arrays.passage_offsets[passage + 1]
    query_starts = arrays.question_offsets[question]
    query_ends = arrays.question_offsets[question + 1]
    gap = query_starts + block.placeholders[question]
    longest = max(map(max, CONTEXTS))

    def common(
        place: NDArray[np.int64], query_place: NDArray[np.int64], step: int
    ) -> NDArray[np.int64]:
        """Return how many tokens from two places on, in one direction, are equal, at most
        `longest`.
        """
        size = np.zeros(len(question), dtype=np.int64)
        going = np.arange(len(question))
        for i in range(longest):
            at = place[going] + step * i
            query_at = query_place[going] + step * i
            inside = (at >= starts[going]) & (at < ends[going])
            inside &= (query_at >= query_starts[going]) & (query_at < query_ends[going])
            going, at, query_at = going[inside], at[inside], query_at[inside]
            going = going[arrays.passage_tokens[at] == arrays.question_tokens[query_at]]
            size[going] += 1
        return size

    n_left = common(starts + block.starts - 1, gap - 1, -1)
    n_right = common(starts + block.stops, gap, 1)
    columns: _Columns = {}
    for left, right in CONTEXTS:
        is_context = (n_left >= left) & (n_right >= right)
        columns[context_name(left, right)] = block.any_mention(is_context)
    return columns


def _distances(block: _MentionBlock, is_aligned: bool) -> NDArray[np.int64]:
    """Return how far the query's content words are from each mention, or from their places
    around it, added up.
    """
    reach = ALIGNED_REACH if is_aligned else REACH
    return mention_distances(
        block.arrays,
        block.postings,
        block.candidates,
        block.starts,
        block.placeholders,
        block.counted,
        reach,
        is_aligned,
    )


def _distance_columns(block: _MentionBlock) -> _Columns:
    counts = np.bincount(block.candidates, minlength=block.n)
    n_words = counted_lengths(block.arrays, block.counted)[block.arrays.candidate_question]
    measured = (counts > 0) & (n_words > 0)
    columns: _Columns = {}
    measures = (("aligned", True, ALIGNED_REACH), ("distance", False, REACH))
    for name, is_aligned, reach in measures:
        sums = _distances(block, is_aligned)
        smallest = reach * n_words
        np.minimum.at(smallest, block.candidates, sums)
        nearest = share(smallest.astype(np.float64), n_words.astype(np.float64))
        total = sums_by(block.candidates, sums, block.n)
        mean = share(total, (counts * n_words).astype(np.float64))
        columns[f"{name}: least"] = np.where(measured, nearest, reach)
        columns[f"{name}: mean"] = np.where(measured, mean, reach)
    return columns


def _sentence_columns(block: _MentionBlock) -> _Columns:
    return {
        "words in sentence": _words_in_sentence(block),
        "entity in sentence": _entity_in_sentence(block),
    }


def _words_in_sentence(block: _MentionBlock) -> NDArray[np.float64]:
    arrays, n_words = block.arrays, block.arrays.n_words
    keys = distinct_words(arrays.question_tokens, arrays.question_offsets, n_words)
    keys = keys[block.counted[keys % n_words]]
    words = keys % n_words
    sizes = np.bincount(keys // n_words, minlength=len(arrays.question_passage))
    offsets = offsets_of(sizes)
    of_candidates = distinct_words(arrays.candidate_tokens, arrays.candidate_offsets, n_words)
    owner = of_candidates // n_words
    in_question = arrays.candidate_question[owner] * n_words + of_candidates % n_words
    n_shared = np.bincount(owner[is_in(in_question, keys)], minlength=block.n)
    n_query_words = sizes[arrays.candidate_question] - n_shared
    of_sentences = distinct_words(arrays.passage_tokens, block.sentence_offsets, n_words)
    best = np.zeros(block.n, dtype=np.int64)
    for chunk in row_chunks(np.arange(len(block.candidates)), sizes[block.question], _PAIRS):
        questions = block.question[chunk]
        counts = sizes[questions]
        word = words[ragged_indices(offsets[questions], counts)]
        row = np.repeat(chunk, counts)
        in_sentence = is_in(block.sentences[row] * n_words + word, of_sentences)
        in_sentence &= ~is_in(block.candidates[row] * n_words + word, of_candidates)
        n_in_sentence = np.bincount(row[in_sentence] - chunk[0], minlength=len(chunk))
        np.maximum.at(best, block.candidates[chunk], n_in_sentence)
    return share(best.astype(np.float64), n_query_words.astype(np.float64))


def _entity_in_sentence(block: _MentionBlock) -> NDArray[np.bool_]:
    # Mentions of one question in one sentence have equal keys.
    keys = block.question * len(block.sentence_offsets) + block.sentences
    query_mentions = np.flatnonzero(block.in_query[block.candidates])
    query_mentions = query_mentions[np.argsort(keys[query_mentions], kind="stable")]
    query_keys = keys[query_mentions]
    starts = np.searchsorted(query_keys, keys)
    n_query_mentions = np.searchsorted(query_keys, keys, side="right") - starts
    together = np.zeros(len(keys), dtype=np.bool_)
    for chunk in row_chunks(np.arange(len(keys)), n_query_mentions, _PAIRS):
        counts = n_query_mentions[chunk]
        mention = np.repeat(chunk, counts)
        query_mention = query_mentions[ragged_indices(starts[chunk], counts)]
        apart = block.stops[mention] <= block.starts[query_mention]
        apart |= block.stops[query_mention] <= block.starts[mention]
        apart &= block.candidates[mention] != block.candidates[query_mention]
        together[mention[apart]] = True
    return block.any_mention(together)


_COLUMNS = {
    "mentions": _mention_columns,
    "contexts": _context_columns,
    "distance": _distance_columns,
    "sentences": _sentence_columns,
}
"""The functions that compute the features of each group."""
