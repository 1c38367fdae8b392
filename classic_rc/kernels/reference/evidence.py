"""Lesson 16: evidence in sentences, in plain Python: how much of question and candidate a part of
the passage has.

Texts are lists of tokens, passages lists of sentences. A word's weight is an integer, larger for
rarer words; a function `weight` returns it. Sums of integers have no order, so a ratio is rounded
only once.

Q and A are the sets of content words of question and candidate, N is A without Q, and cov(X) of a
region is the share of the weight of X that the region has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import NamedTuple

Weight = Callable[[Hashable], int]


def content_set(tokens: Sequence[Hashable], stop_words: Collection[Hashable]) -> set[Hashable]:
    """Return the distinct words without stop words, or all of them if nothing is left.

    Examples
    --------
    >>> (
    ...     sorted(content_set("the cat and the dog".split(), {"the", "and"})),
    ...     content_set(["and"], {"and"}),
    ... )
    (['cat', 'dog'], {'and'})
    """
    return {w for w in tokens if w not in stop_words} or set(tokens)


def new_words(candidate: set[Hashable], question: set[Hashable]) -> set[Hashable]:
    """Return N: the candidate's words that are not in the question, or all of them if nothing is
    left.
    """
    return candidate - question or candidate


def weight_in(words: Collection[Hashable], region: Collection[Hashable], weight: Weight) -> int:
    """Return the sum of the weights of the words that a region has."""
    return sum(weight(word) for word in words if word in region)


def coverage(words: Collection[Hashable], region: Collection[Hashable], weight: Weight) -> float:
    """Return the share of the words' weight that a region has, 0 if they weigh nothing.

    Examples
    --------
    >>> coverage({"cat", "dog"}, ["the", "cat"], {"cat": 1, "dog": 3}.__getitem__)
    0.25
    """
    total = weight_in(words, words, weight)
    return weight_in(words, region, weight) / total if total else 0.0


def regions_of(sentences: Sequence[Sequence[Hashable]], size: int) -> list[set[Hashable]]:
    """Return the words of the regions of `size` sentences that begin at each sentence; the last
    are shorter.
    """
    starts = range(len(sentences))
    return [{w for sentence in sentences[i : i + size] for w in sentence} for i in starts]


def region_products(
    regions: Sequence[Collection[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
) -> list[float]:
    """Return the weight of Q times the weight of the words in each region."""
    # As floats, because the kernels multiply floats: integers would be rounded later.
    products = []
    for region in regions:
        question_sum = float(weight_in(question, region, weight))
        products.append(question_sum * float(weight_in(words, region, weight)))
    return products


def best_products(
    regions: Sequence[Collection[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
    n_best: int = 1,
) -> float:
    """Return the sum of the `n_best` (1 or 2) largest products cov(Q) cov(words)."""
    best = sum(sorted(region_products(regions, question, words, weight))[-n_best:])
    total = float(weight_in(question, question, weight)) * float(weight_in(words, words, weight))
    return best / total if total else 0.0


def attention(
    regions: Sequence[Collection[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
) -> float:
    """Return the mean of cov(words) over regions, weighted by exp(6 cov(Q))."""
    total, attended, attended_sum = weight_in(words, words, weight), 0.0, 0.0
    for region in regions:
        region_attention = math.exp(6 * coverage(question, region, weight))
        attended_sum += region_attention
        attended += weight_in(words, region, weight) * region_attention
    return attended / (total * attended_sum) if total and regions else 0.0


def at_question(
    regions: Sequence[Collection[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
) -> float:
    """Return cov(words) of the first region with the largest cov(Q), 0 if no region has a word
    of Q.
    """
    best = best_region(regions, question, weight)
    return coverage(words, regions[best], weight) if best >= 0 else 0.0


def best_region(
    regions: Sequence[Collection[Hashable]], words: set[Hashable], weight: Weight
) -> int:
    """Return the first region that has the largest weight of these words, -1 if no region has
    one of them.
    """
    sums = [weight_in(words, region, weight) for region in regions]
    return sums.index(max(sums)) if any(sums) else -1


def evidence_sentence(
    sentences: Sequence[Sequence[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
) -> int:
    """Return the first sentence with the largest product cov(Q) cov(words), -1 if all are 0."""
    products = region_products(sentences, question, words, weight)
    return products.index(max(products)) if any(products) else -1


class Neighbours(NamedTuple):
    """The larger coverages of the sentences around the best ones; 0 where there are none."""

    after: float
    before: float


def around_question(
    sentences: Sequence[Sequence[Hashable]],
    question: set[Hashable],
    words: set[Hashable],
    weight: Weight,
) -> Neighbours:
    """Return cov(words) after and before the two sentences with the largest cov(Q)."""
    sums = [weight_in(question, sentence, weight) for sentence in sentences]
    matching = [i for i in range(len(sums)) if sums[i]]
    best = sorted(matching, key=lambda i: -sums[i])[:2]  # earlier ones first among equals
    covered = [coverage(words, sentence, weight) for sentence in sentences]
    after = [covered[i + 1] for i in best if i + 1 < len(covered)]
    before = [covered[i - 1] for i in best if i > 0]
    return Neighbours(max(after, default=0.0), max(before, default=0.0))


def mean_jaccard(words: set[Hashable], others: Sequence[set[Hashable]]) -> float:
    """Return the mean of ``|X n Y| / |X u Y|`` over the words of the other candidates, 0 for two
    empty sets.

    Examples
    --------
    >>> mean_jaccard({"cat", "dog"}, [{"cat"}, {"mouse"}])
    0.25
    """
    total = 0.0
    for other_words in others:
        if words | other_words:
            total += len(words & other_words) / len(words | other_words)
    return total / len(others) if others else 0.0


def turns_of(
    speakers: Sequence[int], turns: Sequence[int], speaker_named: int
) -> tuple[list[int], list[int], list[int]]:
    """Return the sentences of the turns of a speaker, of the speaker's last two turns, and of
    others' turns.

    `speakers` and `turns` are numbers, -1 outside turns; `speaker_named` is -1 if no speaker is
    named.

    Examples
    --------
    >>> turns_of([0, 0, 1, 0, 1, 0], [0, 0, 1, 2, 3, 4], 0)
    ([0, 1, 3, 5], [3, 5], [2, 4])
    """
    if speaker_named < 0:
        return [], [], []
    of_speaker = [i for i, speaker in enumerate(speakers) if speaker == speaker_named]
    last = sorted({turns[i] for i in of_speaker})[-2:]
    others = [i for i, speaker in enumerate(speakers) if speaker >= 0 and speaker != speaker_named]
    return of_speaker, [i for i in of_speaker if turns[i] in last], others
