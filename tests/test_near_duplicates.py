from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from classic_rc.kernels.arrays import small_blocks
from classic_rc.near_duplicates import (
    CONTAINMENT,
    LENGTH_RATIO,
    MIN_TOKENS,
    PART,
    SHORT_SHARE,
    near_duplicate_groups,
    similar_texts,
)
from classic_rc.text.analyzers import get_analyzer, stop_words
from tests.depth import thinned

WORDS = [f"w{i}" for i in range(3000)]


def random_text(rng, n_words, words=WORDS):
    return " ".join(rng.choices(words, k=n_words))


def replace_words(rng, text, n_words):
    words = text.split()
    for place in rng.sample(range(len(words)), n_words):
        words[place] = f"new{rng.randrange(10**9)}"
    return " ".join(words)


def near_duplicate_pairs(texts, others=None):
    return similar_texts(texts, others).pairs


def ngrams(words, order):
    return [tuple(words[i : i + order]) for i in range(len(words) - order + 1)]


def shared_grams(text, reference, order):
    """The number and the share of the n-grams of the text with fewer that the other one has."""
    grams, reference_grams = ({*ngrams(words, order)} for words in (text, reference))
    shared = len(grams & reference_grams)
    return shared, shared / max(min(len(grams), len(reference_grams)), 1)


def are_near(left_text, reference):
    """The definition, word by word."""
    a, b = (get_analyzer("char").analyze(text) for text in (left_text, reference))
    if a == b:
        return True
    a, b = sorted((a, b), key=len)
    _, share = shared_grams(a, b, 4)
    runs, share_of_runs = shared_grams(a, b, 8)
    if len(a) >= MIN_TOKENS:
        if share >= CONTAINMENT and len(a) >= LENGTH_RATIO * len(b):
            return True
        return share >= PART[0] and share_of_runs >= PART[1] and runs >= PART[2]
    if share >= CONTAINMENT and share_of_runs >= CONTAINMENT:
        return True
    common = (Counter(a) & Counter(b)).total()
    is_part = len(a) >= LENGTH_RATIO * len(b) and tuple(a) in ngrams(b, len(a))
    content = {*a} & {*b} - stop_words("smart")
    return len(content) >= 3 and (common >= SHORT_SHARE * len(b) or is_part)


def mixture(rng, n_texts):
    """Texts with versions of one another: words replaced, cut off or put in front, and equal but
    for case.
    """
    texts = [random_text(rng, rng.randrange(5, 120)) for _ in range(n_texts)]
    for _ in range(n_texts):
        text = rng.choice(texts)
        words = text.split()
        n_replaced = rng.randrange(len(words) // 4 + 1)
        length = rng.randrange(len(words) // 2, len(words)) + 1
        versions = (
            text.upper() + "!",
            replace_words(rng, text, n_replaced),
            " ".join(words[:length]),
            random_text(rng, 10) + " " + text,
        )
        texts.append(rng.choice(versions))
    rng.shuffle(texts)
    return texts


@pytest.mark.parametrize("seed", thinned(range(4), 4))
def test_pairs_are_those_of_the_definition(seed):
    texts = mixture(random.Random(seed), 60)
    pairs = near_duplicate_pairs(texts)
    first = first_of_each(texts)
    copies = [(i, j) for j, i in enumerate(first) if i < j]
    originals = itertools.combinations(sorted(set(first)), 2)
    near = [(i, j) for i, j in originals if are_near(texts[i], texts[j])]
    assert [*map(tuple, pairs.tolist())] == sorted(copies + near)
    assert len(near) > 10


def first_of_each(texts):
    """The position of the first equal text of each text."""
    analyzed = [*map(get_analyzer("char").analyze, texts)]
    return [analyzed.index(tokens) for tokens in analyzed]


@pytest.mark.parametrize("seed", range(4))
def test_pairs_with_others_are_those_of_the_definition(seed):
    texts = mixture(random.Random(seed), 50)
    texts, others = texts[:50], texts[50:]
    pairs = near_duplicate_pairs(texts, others)
    all_pairs = itertools.product(range(50), sorted(set(first_of_each(others))))
    near = [(i, j) for i, j in all_pairs if are_near(texts[i], others[j])]
    assert [*map(tuple, pairs.tolist())] == near
    assert len(near) > 20


def test_four_words_replaced_in_sixty_are_found():
    rng = random.Random(1)
    texts = [random_text(rng, 60) for _ in range(200)]
    changed = [replace_words(rng, text, 4) for text in texts]
    groups = near_duplicate_groups(texts + changed)
    np.testing.assert_array_equal(groups, np.tile(np.arange(200), 2))


def test_different_dialogues_with_the_same_phrases_are_apart():
    rng = random.Random(2)
    phrases = [
        "W: May I help you?",
        "M: Yes, I'd like to have",
        "Thank you very much.",
        "You are welcome. Good-bye!",
    ]
    texts = []
    for _ in range(100):
        turns = [f"{phrase} {random_text(rng, 8)}" for phrase in phrases]
        texts.append(" ".join(turns))
    assert len(set(near_duplicate_groups(texts).tolist())) == 100


def test_short_texts_share_content():
    text = "the fox ran over the hill and met a hen"
    texts = [text, text.replace("hen", "cat"), text.upper() + ".", "he ran over the hill and back"]
    assert near_duplicate_groups(texts).tolist() == [0, 0, 0, 1]


def test_labels_of_speakers_do_not_count():
    rng = random.Random(14)
    turns = [random_text(rng, 9) for _ in range(6)]
    labelled = "M: {}\nW: {}\nM: {}\nW: {}\nM: {}\nW: {}".format(*turns)
    inline = "m : {} . f : {} .".format(*turns)
    text = " ".join(turns)
    assert near_duplicate_groups([labelled, inline, text]).tolist() == [0, 0, 0]
    assert similar_texts([labelled], [text]).similarity.tolist() == [1]


def scan(rng, text, share):
    """A text in which a share of the words has a wrong letter."""
    words = text.split()
    for i in rng.sample(range(len(words)), int(share * len(words))):
        words[i] += "1"
    return " ".join(words)


@pytest.mark.parametrize("seed", range(12))
def test_excerpts_are_found(seed):
    rng = random.Random(seed)
    text = random_text(rng, 400)
    words = text.split()
    start = rng.randrange(300)
    excerpt = " ".join(words[start : start + 40])
    within = f"{random_text(rng, 40)} {excerpt} {random_text(rng, 40)}"
    others = [random_text(rng, 400) for _ in range(20)]
    for copy in (excerpt, within, scan(rng, text, 0.15)):
        assert similar_texts([copy], [*others, text]).pairs.tolist() == [[0, 20]]


def test_scripts_without_spaces_are_compared_by_characters():
    rng = random.Random(3)
    text = "".join(chr(0x4E00 + rng.randrange(2000)) for _ in range(60))
    changed = text[:20] + "猫狗" + text[22:]
    unrelated = "".join(chr(0x4E00 + rng.randrange(2000)) for _ in range(60))
    assert near_duplicate_groups([text, unrelated, changed]).tolist() == [0, 1, 0]


def test_texts_without_words_are_grouped_only_if_they_are_equal():
    assert near_duplicate_groups(["", "...", "", " !!", "!!", "a"]).tolist() == [0, 1, 0, 2, 2, 3]
    assert near_duplicate_groups([]).tolist() == []
    assert near_duplicate_pairs(["a"], []).shape == near_duplicate_pairs([], ["a"]).shape == (0, 2)


def test_a_repetitive_text_is_compared_too():
    rng = random.Random(4)
    loop = "round and round it goes " * 200
    texts = [loop, loop + "stop", *(random_text(rng, 1000) for _ in range(3))]
    assert near_duplicate_groups(texts).tolist() == [0, 0, 1, 2, 3]


def test_groups_are_transitive():
    rng = random.Random(5)
    chain = [random_text(rng, 100)]
    for _ in range(5):
        words = chain[-1].split()
        chain.append(" ".join(words[20:] + random_text(rng, 20).split()))
    assert not are_near(chain[0], chain[-1])
    assert near_duplicate_groups(chain).tolist() == [0] * 6


def test_many_versions_of_one_text_are_one_group():
    rng = random.Random(6)
    text = random_text(rng, 80)
    versions = [replace_words(rng, text, 4) for _ in range(1000)]
    versions.insert(500, text)
    assert not near_duplicate_groups(versions).any()


def test_many_equal_texts_make_few_pairs():
    rng = random.Random(7)
    text = random_text(rng, 50)
    pairs = near_duplicate_pairs([text] * 20_000 + [replace_words(rng, text, 2)])
    assert pairs.tolist() == [[0, j] for j in range(1, 20_001)]


def test_the_order_of_the_texts_changes_nothing():
    rng = random.Random(8)
    texts = mixture(rng, 100)
    order = rng.sample(range(len(texts)), len(texts))
    groups = near_duplicate_groups(texts)[order].tolist()
    shuffled = near_duplicate_groups([texts[i] for i in order]).tolist()
    pairs_of_groups = {*zip(groups, shuffled, strict=True)}
    assert len(pairs_of_groups) == len(set(groups)) == len(set(shuffled))


def test_blocks_change_nothing():
    texts = mixture(random.Random(9), 80)
    with small_blocks(10):
        parts = near_duplicate_pairs(texts)
    near_duplicate_pairs(["other texts", "than before"])  # pairs of the last texts are remembered
    np.testing.assert_array_equal(near_duplicate_pairs(texts), parts)


def test_pairs_of_other_texts_are_not_taken_for_known_ones():
    first, second = "a b", "c"
    assert near_duplicate_pairs([first, first]).tolist() == [[0, 1]]
    assert near_duplicate_pairs([first, second]).tolist() == []
    assert near_duplicate_pairs([first], [first]).tolist() == [[0, 0]]
    assert near_duplicate_pairs([first], [second, first]).tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        near_duplicate_pairs([first, first])[:] = 7  # other callers get them too


SHORT = "Nora planted green beans in the old garden behind the mill"
LONG = random_text(random.Random(10), 200)


@pytest.mark.parametrize(
    ("first", "second", "similarity"),
    [
        (LONG, " ".join(LONG.split()[60:120]), 0.29),
        (LONG, LONG.upper(), 1.0),
        (SHORT, SHORT.replace("green", "white"), 10 / 11),
        (SHORT, "planted green beans in the old garden", 7 / 11),
        (SHORT, f"{SHORT} {random_text(random.Random(11), 60)}", 0.12),
        (SHORT, "beans planted the garden behind old green the in mill", 10 / 11),
    ],
)
def test_similarity_is_the_share_of_the_longer_text(first, second, similarity):
    similar = similar_texts([first], [second])
    assert similar.pairs.tolist() == [[0, 0]]
    assert similar.similarity[0] == pytest.approx(similarity, abs=0.005)


@pytest.mark.parametrize(
    "changed",
    [
        "Omar planted red roses in the old garden behind the house",  # few words in common
        "beans in the old garden",  # less than half
        "Nora planted mill garden green old",  # not in a row
    ],
)
def test_short_texts_that_share_few_words_or_none_in_a_row_are_not_similar(changed):
    assert len(similar_texts([SHORT], [changed]).pairs) == 0


def test_frequent_words_make_no_short_copies():
    texts = ["What did he do to her then?", "What did she do to her then?"]
    assert len(similar_texts(texts).pairs) == 0
