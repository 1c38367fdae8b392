"""N-gram counts against a counter of tuples; Kneser-Ney against plain Python and nltk, and as
probabilities.
"""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classic_rc.kernels.arrays import small_blocks
from classic_rc.kernels.kneser_ney import (
    END,
    FALLBACK_DISCOUNTS,
    MARKS,
    START,
    UNKNOWN,
    NGrams,
    count_ngrams,
    find,
    kneser_ney,
    modified_discounts,
    suffix_ranks,
    token_probabilities,
)
from classic_rc.kernels.reference import ReferenceKneserNey
from tests.kernels.builders import ragged

WORDS = "abcdefgh"
TEXTS = st.lists(st.text(WORDS[:4], min_size=1, max_size=10).map(list), min_size=1, max_size=12)
ORDERS = st.integers(1, 5)

N_WORDS = 5
NUMBERS = st.lists(st.lists(st.integers(0, N_WORDS - 1), max_size=12), max_size=8)


def spelled(tables: list[NGrams], n_words: int = N_WORDS) -> list[list[tuple[int, ...]]]:
    """The words of every n-gram of every table."""
    words: list[list[tuple[int, ...]]] = [[()]]
    for table in tables:
        shorter = words[-1]
        keys = table.keys.tolist()
        words.append([(*shorter[key // n_words], key % n_words) for key in keys])
    return words[1:]


def ngrams_of(texts, n):
    return [tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1)]


@given(NUMBERS, st.integers(1, 5), st.integers(1, 40))
def test_counts_are_those_of_a_counter_whatever_the_chunk(texts, order, chunk):
    with small_blocks(chunk):
        tables = count_ngrams(*ragged(texts), N_WORDS, order)
    assert len(tables) == order
    for k, (table, words) in enumerate(zip(tables, spelled(tables), strict=True), start=1):
        # `+` leaves out the words that no text has.
        counts = +Counter(dict(zip(words, table.counts.tolist(), strict=True)))
        assert counts == Counter(ngrams_of(texts, k))
        assert words == sorted(words)
        if k > 1:
            assert table.counts.min(initial=1) > 0


@given(NUMBERS, st.integers(2, 5))
def test_suffixes_are_the_last_words(texts, order):
    tables = count_ngrams(*ragged(texts), N_WORDS, order)
    words = spelled(tables)
    suffixes = suffix_ranks(tables, N_WORDS)
    assert len(suffixes) == order - 1
    for shorter, longer, ranks in zip(words[:-1], words[1:], suffixes, strict=True):
        assert [shorter[rank] for rank in ranks.tolist()] == [ngram[1:] for ngram in longer]


def test_keys_of_five_words_fit_where_the_words_do_not():
    n_words = 2**22  # five ids have 110 bits
    last = n_words - 1
    text = [last, 7, last, n_words - 2, 3, last, last]
    tables = count_ngrams(*ragged([text, text]), n_words, 5)
    assert spelled(tables, n_words)[-1] == sorted(ngrams_of([text], 5))
    assert tables[-1].counts.tolist() == [2, 2, 2]


# Large keys leave no room to sort them together with their places.
KEYS = st.integers(0, 50) | st.integers(2**63 - 51, 2**63 - 1)


@given(st.sets(KEYS), st.lists(KEYS | st.just(-1)))
def test_find_is_the_place_of_each_key(keys, queries):
    rising = sorted(keys)
    places = find(np.array(rising, dtype=np.int64), np.array(queries, dtype=np.int64))
    assert places.tolist() == [rising.index(key) if key in keys else -1 for key in queries]


def test_find_looks_in_pieces():
    rng = np.random.default_rng(0)
    keys, queries = np.unique(rng.integers(0, 500, 200)), rng.integers(0, 500, 1000)
    unblocked = find(keys, queries)
    with small_blocks(7):
        assert np.array_equal(find(keys, queries), unblocked)


@pytest.mark.parametrize("texts", [[], [[]], [[], []], [[1]]])
def test_texts_that_are_too_short_have_none(texts):
    tables = count_ngrams(*ragged(texts), N_WORDS, 3)
    assert [len(table.keys) for table in tables] == [N_WORDS, 0, 0]


def zipfian_texts(n_texts: int, seed: int = 0) -> list[list[str]]:
    """Texts in which words are as unevenly frequent as in language, so that discounts can be
    estimated.
    """
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(200)]
    shares = 1 / np.arange(1, 201)
    shares /= shares.sum()
    lengths = rng.integers(1, 9, n_texts).tolist()
    return [rng.choice(words, length, p=shares).tolist() for length in lengths]


class Fast:
    """The kernel behind the reference's interface."""

    def __init__(self, texts, order, discounts=None):
        words = dict.fromkeys(itertools.chain(MARKS, *texts))
        self.ids = {word: i for i, word in enumerate(words)}
        self.words = [*words][len(MARKS) :]
        self.tables = count_ngrams(*self.arrays(texts), len(words), order)
        self.model = kneser_ney(self.tables, None if discounts is None else np.array(discounts))

    def ids_of(self, words):
        return [self.ids.get(word, UNKNOWN) for word in words]

    def arrays(self, texts):
        return ragged([[START, *self.ids_of(text), END] for text in texts])

    def of_texts(self, texts):
        return token_probabilities(self.model, *self.arrays(texts)).values

    def distribution(self, context):
        """Of every word that can be predicted after a context, START in it if it is written."""
        before = self.ids_of(context)
        rows = np.array([[*before, word] for word in range(END, self.model.n_words)])
        offsets = np.arange(len(rows) + 1) * rows.shape[1]
        return token_probabilities(self.model, rows.ravel(), offsets).values[offsets[1:] - 1]


def of_reference(reference, texts):
    values = []
    for text in texts:
        context = ("<s>",)
        values.append(0.0)
        for word in [*text, "</s>"]:
            values.append(reference.probability(word, context))
            context = (*context, word)
    return values


def assert_probabilities_are_the_references(fast, texts, queries):
    reference = ReferenceKneserNey(texts, fast.model.order)
    assert np.allclose(fast.model.discounts, reference.discounts, rtol=1e-12)
    assert np.allclose(fast.of_texts(queries), of_reference(reference, queries), rtol=1e-10, atol=0)


@given(TEXTS, ORDERS, st.lists(st.text(WORDS, max_size=8).map(list), min_size=1, max_size=6))
def test_probabilities_are_those_of_plain_python(texts, order, queries):
    assert_probabilities_are_the_references(Fast(texts, order), texts, queries)


@pytest.mark.parametrize("order", range(1, 6))
def test_probabilities_are_those_of_plain_python_where_discounts_are_estimated(order):
    texts = zipfian_texts(800)
    fast = Fast(texts, order)
    assert tuple(fast.model.discounts[0]) != FALLBACK_DISCOUNTS
    assert_probabilities_are_the_references(fast, texts, zipfian_texts(40, seed=1))


@given(
    TEXTS,
    ORDERS,
    st.text(WORDS, max_size=6),
    st.booleans(),
    st.sampled_from([None, 0.1, 0.75, 1.0]),
)
def test_probabilities_sum_to_one_after_any_context(texts, order, context, begins, discount):
    fast = Fast(texts, order, None if discount is None else np.full((order, 3), discount))
    values = fast.distribution(["<s>"] * begins + list(context))
    assert len(values) == len(fast.ids) - 1  # all but START
    # A discount that is estimated as 0 leaves nothing for other words.
    assert values.min() > 0 or (values.min() == 0 and not fast.model.discounts.all())
    assert values.sum() == pytest.approx(1, abs=1e-12)


@given(TEXTS, ORDERS, st.integers(1, 50))
def test_the_bits_do_not_depend_on_the_chunk(texts, order, chunk):
    with small_blocks(chunk):
        chunked = Fast(texts, order).model
    for column, expected in zip(chunked, Fast(texts, order).model, strict=True):
        assert [array.tobytes() for array in column] == [array.tobytes() for array in expected]


@given(TEXTS, ORDERS, st.randoms())
def test_the_bits_do_not_depend_on_the_order_of_texts_or_the_company(texts, order, random):
    shuffled = random.sample(texts, len(texts))
    in_order = Fast(texts, order)
    values = in_order.of_texts(texts)
    assert np.array_equal(values, Fast(shuffled, order).of_texts(texts))
    assert np.array_equal(values, np.concatenate([in_order.of_texts([text]) for text in texts]))


def nltk_model(texts, order, discount):
    from nltk.lm import KneserNeyInterpolated, Vocabulary
    from nltk.util import everygrams

    marked = [["<s>", *text, "</s>"] for text in texts]
    model = KneserNeyInterpolated(
        order, discount, vocabulary=Vocabulary(itertools.chain(*marked), unk_cutoff=1)
    )
    model.fit([everygrams(text, max_len=order) for text in marked])
    return model


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("discount", [0.1, 0.75])
def test_one_discount_is_the_model_of_nltk(order, discount):
    """It takes nothing from single words' counts, and at order 3 cannot back off to ``<s>``
    alone.
    """
    texts = zipfian_texts(60)
    discounts = np.full((order, 3), discount)
    discounts[0] = 0
    fast, theirs = Fast(texts, order, discounts), nltk_model(texts, order, discount)
    contexts = {*ngrams_of(texts, order - 1)}
    if order == 2:
        contexts.add(("<s>",))
    for context in sorted(contexts)[:40]:
        probabilities = fast.distribution(context).tolist()
        ours = dict(zip([*fast.ids][END:], probabilities, strict=True))
        assert ours.pop("<unk>") == 0
        for word in [*ours][:31]:
            assert ours[word] == pytest.approx(theirs.score(word, context), rel=1e-12)


def test_discounts_are_those_of_the_formula():
    counts = np.repeat([1, 2, 3, 4, 9], [60, 20, 10, 5, 7])
    y = 60 / (60 + 2 * 20)
    expected = [1 - 2 * y / 3, 2 - 3 * y / 2, 3 - 4 * y / 2]
    assert modified_discounts(counts).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "counts",
    [
        [],
        [0, 0],
        [2, 2, 3, 3],  # no count of 1
        [1, 1, 3],  # no count of 2
        [1, 2, 4],  # no count of 3
        [1, *[2] * 5, *[3] * 50],  # the discount of 2 would be below 0
    ],
)
def test_discounts_fall_back_where_they_cannot_be_estimated(counts):
    assert tuple(modified_discounts(np.array(counts, dtype=np.int64))) == FALLBACK_DISCOUNTS


def test_shorter_ngrams_count_the_words_before_them():
    words, pairs = Fast(["ab", "ab", "cb", "b"], 2).model.counts
    # <s>, </s>, <unk>, a, b, c
    assert words.tolist() == [0, 1, 0, 1, 3, 1]
    assert sorted(pairs.tolist()) == [1, 1, 1, 2, 2, 4]


def test_ngrams_at_the_start_of_texts_keep_their_counts():
    model = Fast(["ab", "ab", "cb", "b"], 3).model
    from_start = model.following(2, START)
    assert model.counts[1][from_start].tolist() == [2, 1, 1]


def test_an_order_of_one_has_the_counts_themselves():
    fast = Fast(["aab"], 1, [[0.5, 0.5, 0.5]])
    total, uniform = 4, 1 / 4  # a, a, b and END; a, b, END and UNKNOWN
    left_over = 3 * 0.5 / total
    a = (2 - 0.5) / total + left_over * uniform
    b = (1 - 0.5) / total + left_over * uniform
    assert fast.of_texts(["aab"]).tolist() == pytest.approx([0, a, a, b, b])


def test_each_token_has_the_length_of_its_known_context():
    fast = Fast(["abc", "abd"], 3)
    orders = token_probabilities(fast.model, *fast.arrays(["abc", "bca", "xab"])).orders
    expected = [[1, 2, 3, 3, 3], [1, 1, 2, 1, 1], [1, 1, 1, 2, 1]]
    assert orders.reshape(3, 5).tolist() == expected
