"""Near copies: questions, and sets of options, that are nearly equal to those of another question.

A question alone is no evidence, because datasets ask the same question about many passages: *two
questions are near copies if three quarters of their words agree, or one is a part of the other, and
they also agree in their passage or in most words of their options (without options, in their
gold).* With the same passage and the same options, four tenths of the words are enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.commands.check.option_arrays import Integers
from classic_rc.commands.check.other_gold import contradict, gold_keys
from classic_rc.commands.check.question_table import (
    EQUAL_CONTENT,
    QuestionPairs,
    QuestionTable,
    pair_of,
)
from classic_rc.commands.check.similar_passages import Copy
from classic_rc.commands.check.word_bags import WordBags
from classic_rc.kernels.bags import least_shared, overlapping_bags
from classic_rc.near_duplicates import (
    LENGTH_RATIO,
    SHORT_SHARE,
    are_similar_words,
    connect_pairs,
)

HALF_OF_OPTIONS = 0.5
"""Questions about one passage have at least this share of their options in common."""
_OPTION_SHARE = 0.6
"""Near copies of questions have at least this share of the words of the longer set of options in
common, or of the options of the larger set.
"""
_LEAST_SHARE = 0.4
"""Below this share of the words of the longer set of options, options are not compared."""
_SAME_OPTIONS = 0.75
"""Sets of options of different questions are near copies from this share on."""
_EQUAL_OPTIONS, _SAME_QUESTION = 0.9, 0.4
"""About one passage, near copies have these shares of the words of the options and of the
question in common.
"""
_NEAR_CONTENT, _OPTIONS_CONTENT = 4, 8
"""How many different content words near copies, and sets of options, have in common at least, if
their passages differ. Fewer words do not identify a source.
"""


def _copy(table: QuestionTable, prefix: str, first: int, second: int, similarity: float) -> Copy:
    """Return a pair as a copy: the later question of the dataset repeats the earlier one, or
    training data.
    """
    if second < table.n_dataset:
        return Copy(f"{prefix}repeated", second, first, similarity)
    return Copy(f"{prefix}in-train", first, second, similarity)


def near_questions(table: QuestionTable) -> Iterator[Copy]:
    """Yield near copies of questions, and those that have another gold."""
    for search in (
        _about_similar_passages,
        _with_passage_and_options,
        _with_similar_options,
        _with_equal_gold,
    ):
        pairs = search(table)
        shared = table.words.shared_sizes(*pairs) + table.options.shared_sizes(*pairs)
        sizes = table.words.sizes + table.options.sizes
        larger = np.maximum(sizes[pairs.first], sizes[pairs.second])
        similarities = (shared / np.maximum(larger, 1)).tolist()
        numbers = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        for (first, second), similarity in zip(numbers, similarities, strict=True):
            if not contradict(table.questions[first], table.questions[second]):
                yield _copy(table, "question-nearly-", first, second, similarity)
            elif table.has_other_gold(first, second):
                yield _copy(table, "gold-differs-", first, second, similarity)


def _about_similar_passages(table: QuestionTable) -> QuestionPairs:
    """Return pairs of similar questions about similar passages, with at least half of the
    options' words.
    """
    groups = table.similar_passage
    in_dataset = np.zeros(int(groups.max(initial=0)) + 1, dtype=bool)
    in_dataset[groups[: table.n_dataset]] = True
    words = table.words.within(groups)
    pairs = _similar_texts(table, words, table.in_dataset, in_dataset[groups])
    shared = table.options.shared_sizes(*pairs)
    return pairs.where(table.have_similar_options(pairs, shared, HALF_OF_OPTIONS))


def _with_passage_and_options(table: QuestionTable) -> QuestionPairs:
    """Return pairs of questions about similar passages with the same options, which say
    something.
    """
    options = table.options
    has_content = table.has_options & (table.content.sizes >= EQUAL_CONTENT)
    min_shared = least_shared(options.sizes, _EQUAL_OPTIONS)
    bags = options.within(table.similar_passage)
    pairs = _sharing(bags, min_shared, table.in_dataset & has_content, has_content)
    larger = table.words.larger_sizes(*pairs)
    return pairs.where(table.words.shared_sizes(*pairs) >= _SAME_QUESTION * larger)


def _with_similar_options(table: QuestionTable) -> QuestionPairs:
    """Return pairs of similar questions about different passages whose options are similar."""
    pairs = _with_common_options(table)
    words, options = table.words, table.options
    pairs = pairs.where(_are_similar(table, pairs, words.shared_sizes(*pairs)))
    in_options = options.shared_content(*pairs)
    content = in_options + words.shared_content(*pairs)
    bits = options.shared_bits(*pairs) + words.shared_bits(*pairs)
    are_copies = (content >= _NEAR_CONTENT) & (bits >= table.least_bits)
    often = table.is_asked_often
    is_asked_often = often[pairs.first] | often[pairs.second]
    are_copies &= ~is_asked_often | (in_options >= _OPTIONS_CONTENT)
    pairs = pairs.where(are_copies)
    shared = options.shared_sizes(*pairs)
    are_compared = shared >= _LEAST_SHARE * options.larger_sizes(*pairs)
    pairs, shared = pairs.where(are_compared), shared[are_compared]
    return pairs.where(table.have_similar_options(pairs, shared, _OPTION_SHARE))


def _with_common_options(table: QuestionTable) -> QuestionPairs:
    """Return the pairs of questions in one group of similar texts whose options may be similar.

    Questions that are asked often need content words in common: all other pairs would be too many.
    """
    options, often = table.options, table.is_asked_often
    groups = _group_by_text(table)
    min_shared = least_shared(options.sizes, _LEAST_SHARE)
    bags = options.within(groups)
    seldom = _sharing_options(table, bags, min_shared, ~often)
    min_shared, bags = _least_content(table, _LEAST_SHARE), table.content.within(groups)
    by_content = _sharing_options(table, bags, min_shared, np.ones_like(often))
    by_content = by_content.where(often[by_content.first] | often[by_content.second])
    return QuestionPairs(*map(np.concatenate, zip(seldom, by_content, strict=True)))


def _group_by_text(table: QuestionTable) -> Integers:
    """Return the groups of questions that similar texts connect, about any passage. Options decide
    within a group.
    """
    n = len(table.text)
    numbers = np.arange(n)
    is_first = table.text == numbers
    similar = np.stack(_similar_texts(table, table.words, is_first, is_first), axis=1)
    equal = np.stack([table.text, numbers], axis=1)
    empty = np.flatnonzero(table.words.sizes == 0)
    first_empty = np.full_like(empty, empty.min(initial=n))
    without_words = np.stack([first_empty, empty], axis=1)
    return connect_pairs(n, np.concatenate([similar, equal, without_words]))


def _with_equal_gold(table: QuestionTable) -> QuestionPairs:
    """Return pairs of similar questions without options that have a gold text in common."""
    words, without_options = table.words, ~table.has_options
    pairs = _similar_texts(table, words, table.in_dataset & without_options, without_options)
    similar = words.shared_content(*pairs) >= _NEAR_CONTENT
    similar &= words.shared_bits(*pairs) >= table.least_bits
    pairs = pairs.where(similar)
    gold = {i: gold_keys(table.questions[i]) for i in np.unique(pairs).tolist()}
    numbers = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    is_common = [not gold[a].isdisjoint(gold[b]) for a, b in numbers]
    return pairs.where(np.array(is_common, dtype=bool))


def _similar_texts(
    table: QuestionTable, bags: WordBags, here: NDArray[np.bool_], there: NDArray[np.bool_]
) -> QuestionPairs:
    """Return the pairs of questions whose texts are similar; `bags` are their words, or words
    within groups.
    """
    first, second, shared = overlapping_bags(
        bags.words,
        bags.offsets,
        least_shared(bags.sizes, SHORT_SHARE),
        here=here,
        there=there,
        part_share=LENGTH_RATIO,
    )
    pairs = QuestionPairs(first, second)
    return pairs.where(_are_similar(table, pairs, shared))


def _are_similar(table: QuestionTable, pairs: QuestionPairs, shared: Integers) -> NDArray[np.bool_]:
    return are_similar_words(table.words.words, table.words.offsets, *pairs, shared)


def near_options(table: QuestionTable) -> Iterator[Copy]:
    """Yield the sets of options of different questions that are equal or nearly equal."""
    yield from _equal_options(table)
    options = table.options
    everywhere = np.ones(len(table.questions), dtype=bool)
    least_content = _least_content(table, _SAME_OPTIONS)
    pairs = _sharing_options(table, table.content, least_content, everywhere)
    share = options.shared_sizes(*pairs) / options.larger_sizes(*pairs)
    are_copies = share >= _SAME_OPTIONS
    pairs, share = pairs.where(are_copies), share[are_copies]
    are_copies = options.shared_content(*pairs) >= _OPTIONS_CONTENT
    are_copies &= options.shared_bits(*pairs) >= table.least_bits
    first, second = (numbers.tolist() for numbers in pairs.where(are_copies))
    for numbers in zip(first, second, share[are_copies].tolist(), strict=True):
        yield _copy(table, "options-", *numbers)


def _equal_options(table: QuestionTable) -> Iterator[Copy]:
    """Yield the sets of options that are equal to one in training data, and say enough."""
    n = table.n_dataset
    train_numbers = range(len(table.questions) - 1, n - 1, -1)
    first_in_train = {table.option_key(i): i for i in train_numbers}
    if not first_in_train:
        return
    for i in np.flatnonzero(~table.is_template[:n]).tolist():
        key = table.option_key(i)
        if len(key) > 1 and key in first_in_train:
            partner = first_in_train[key]
            if table.options.shared_bits(*pair_of(i, partner))[0] >= 2 * table.least_bits:
                yield _copy(table, "options-", i, partner, 1.0)


def _sharing_options(
    table: QuestionTable,
    bags: WordBags,
    min_shared: Integers,
    compared: NDArray[np.bool_],
) -> QuestionPairs:
    """Return pairs of questions about different passages whose options, which are no template,
    share words.
    """
    usual = compared & table.has_options & ~table.is_template
    pairs = _sharing(bags, min_shared, table.in_dataset & usual, usual)
    passage = table.similar_passage
    return pairs.where(passage[pairs.first] != passage[pairs.second])


def _sharing(
    bags: WordBags,
    min_shared: Integers,
    here: NDArray[np.bool_],
    there: NDArray[np.bool_],
) -> QuestionPairs:
    first, second, _ = overlapping_bags(
        bags.words, bags.offsets, min_shared, here=here, there=there
    )
    return QuestionPairs(first, second)


def _least_content(table: QuestionTable, share: float) -> Integers:
    """Return how many content words sets of options have in common that share so many of their
    words.
    """
    others = table.options.sizes - table.content.sizes  # stop words and repetitions
    return np.maximum(least_shared(table.options.sizes, share) - others, _OPTIONS_CONTENT)
