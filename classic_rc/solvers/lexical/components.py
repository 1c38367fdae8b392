"""The four components of the lexical matcher's score, their published or learned weights, and
the released bugs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.kernels.arrays import offsets_of
from classic_rc.kernels.distance import word_distance
from classic_rc.kernels.lexical import bag_of_words, best_sentences, occurrence_distance
from classic_rc.kernels.logistic import fit_logistic
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.kernels.window import window_sweep
from classic_rc.solvers.learning import one_thread
from classic_rc.solvers.lexical.texts import LexicalTexts

COMPONENTS = ("window", "distance", "bag of words", "sentences")
"""The components' names, in the order of columns and weights."""

WIDTHS = range(2, 30)
"""The widths of windows in tokens: 2 to 29, as in the release."""

SMOOTHING = 1
"""Added to every count, as in the release: a word that occurs C times in the passage weighs ln(1
+ 1 / (C + 1)).
"""

BUGS: Mapping[str, str] = {
    "last-window": "the last window of each width is skipped; a passage of fewer than 30 words is "
    "one window",
    "distance": "it is measured in the passage without stop words, from each occurrence of a "
    "question word to the candidate's nearest word, which may be the question word itself, and one "
    "step is added",
    "sentence-borders": "sentence borders are at their positions in the full text although "
    "punctuation and stop words are dropped, so they come too late; the text after the last border "
    "is skipped",
    "coreference-forms": "when stems are compared, words that replace a mention are compared by "
    "their forms; only their counts are those of the passage with mentions replaced",
    "no-category": "a question without a category is treated like one of a category for which "
    "coreference helps",
}
"""The mistakes of the released code, by name. They apply only if a variant or ``bugs=`` names
them.
"""


def parse_bugs(bugs: str) -> frozenset[str]:
    """Return the bugs that ``"all"``, ``"none"`` or several names joined by a plus name."""
    if bugs in ("all", "none"):
        return frozenset(BUGS if bugs == "all" else ())
    names = str(bugs).split("+")
    for name in names:
        if name not in BUGS:
            raise unknown_name("bug of lexical", name, (*BUGS, "all", "none"))
    return frozenset(names)


class Components(NamedTuple):
    """The component scores of the candidates, in the arrays' order."""

    texts: LexicalTexts  # the texts that the components have read
    linked: LexicalTexts | None  # those with mentions replaced, if there are any
    scores: NDArray[np.float64]  # shape (n_candidates, 4), columns as in COMPONENTS
    evidence: NDArray[np.bool_]  # shape (n_candidates,): whether a component found anything
    # shape (n_candidates, 4): where the rule for negated questions decides
    ruled: NDArray[np.bool_]

    def of_question(self, place: int) -> Components:
        """Return the components of one question's candidates, by its index in the arrays."""
        bounds = np.searchsorted(self.texts.words.candidate_question, [place, place + 1])
        rows = slice(*bounds.tolist())
        linked = None if self.linked is None else self.linked.of_question(place)
        texts = self.texts.of_question(place)
        return Components(texts, linked, self.scores[rows], self.evidence[rows], self.ruled[rows])


def component_scores(
    texts: LexicalTexts,
    linked: LexicalTexts | None,
    is_linked: NDArray[np.bool_],
    *,
    negation: bool,
    bugs: Collection[str],
) -> Components:
    """Compute each component's score of each candidate.

    `linked` are the same texts with mentions replaced by what they refer to: for the questions of
    `is_linked`, the bag of words and the sentences score these too, and add the result. `negation`
    applies the rule for negated questions: if exactly one candidate has no word in the text that a
    component reads, that candidate scores 1 there and the others 0. `bugs` are names of
    :data:`BUGS`.
    """
    distance, is_measured = _score_distance(texts, bugs)
    bag, sentences = _score_bag(texts), _score_sentences(texts, bugs)
    if linked is not None:
        is_counted = is_linked[texts.words.candidate_question]
        bag += np.where(is_counted, _score_bag(linked), 0)
        sentences += np.where(is_counted, _score_sentences(linked, bugs), 0)
    window = _score_window(texts, bugs)
    scores = np.stack((window / SCALE, -distance, bag / SCALE, sentences / SCALE), axis=1)
    evidence = is_measured | (window > 0) | (bag > 0) | (sentences > 0)
    ruled = np.zeros(scores.shape, dtype=np.bool_)
    if negation:
        absent, ruled = _apply_negation_rule(texts)
        scores = np.where(ruled, absent, scores)
        evidence |= ruled.any(axis=1)
    return Components(texts, linked, scores, evidence, ruled)


def assign_sentences(
    texts: LexicalTexts, bugs: Collection[str]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return each passage token's sentence, and whether it counts there: arrays of shape
    (n_passage_tokens,).
    """
    if "sentence-borders" not in bugs:
        return texts.sentences, texts.kept
    # The released code drops punctuation and stop words, but compares the positions that remain
    # with the sentence starts of the full text. So `place` counts only kept tokens, and
    # `texts.starts` counts all.
    lengths = np.diff(texts.words.passage_offsets)
    passage = np.repeat(np.arange(len(lengths)), lengths)
    n_kept_before = _count_kept_before(texts)
    kept_before_passage = n_kept_before[texts.words.passage_offsets[:-1]]
    place = n_kept_before[:-1] - np.repeat(kept_before_passage, lengths)
    # (passage, place) as one number, to look up the borders of all passages at once. The stride is
    # larger than any place, so passages do not overlap.
    stride = 1 + max(int(place.max(initial=0)), int(texts.starts.max(initial=0)))
    n_sentences = np.diff(texts.start_offsets)
    borders = np.repeat(np.arange(len(lengths)), n_sentences) * stride + texts.starts
    sentence = np.searchsorted(borders, passage * stride + place, side="right")
    sentence -= texts.start_offsets[passage]
    return sentence, texts.kept & (sentence < n_sentences[passage])


def _count_kept_before(texts: LexicalTexts) -> NDArray[np.int64]:
    """Return the number of tokens before each token that are not stop words: shape
    (n_passage_tokens + 1,).
    """
    return offsets_of(texts.kept.astype(np.int8))


def _score_window(texts: LexicalTexts, bugs: Collection[str]) -> NDArray[np.int64]:
    as_released = "last-window" in bugs
    sums = window_sweep(
        texts.stems,
        WIDTHS,
        smoothing=SMOOTHING,
        last_window=not as_released,
        matched=texts.stem_blocks,
    ).sum(axis=1)
    if not as_released:
        return sums
    arrays = texts.stems
    # In the release, a passage of less than 30 words is one window: the bag of all its words.
    length = np.diff(arrays.passage_offsets)[arrays.question_passage[arrays.candidate_question]]
    bags = bag_of_words(arrays, smoothed_weights(texts.stem_counts), texts.stem_blocks)
    return np.where(length <= WIDTHS[-1], bags, sums)


def _score_distance(
    texts: LexicalTexts, bugs: Collection[str]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    words = texts.words
    if "distance" not in bugs:
        is_stop_word = np.zeros(words.n_words, dtype=np.bool_)
        is_stop_word[words.passage_tokens[~texts.kept]] = True
        return word_distance(words, is_stop_word, matched=texts.word_blocks)
    offsets = _count_kept_before(texts)[words.passage_offsets]
    content = words._replace(
        passage_tokens=words.passage_tokens[texts.kept], passage_offsets=offsets
    )
    return occurrence_distance(content)


def _score_bag(texts: LexicalTexts) -> NDArray[np.int64]:
    weights = np.where(texts.kept, smoothed_weights(texts.word_counts), 0)
    return bag_of_words(texts.words, weights, texts.word_blocks)


def _score_sentences(texts: LexicalTexts, bugs: Collection[str]) -> NDArray[np.int64]:
    sentences, counts = assign_sentences(texts, bugs)
    weights = np.where(counts, smoothed_weights(texts.stem_counts), 0)
    return best_sentences(texts.stems, weights, sentences, matched=texts.stem_blocks)


def smoothed_weights(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the weights of words that occur so often."""
    return inverse_count_weights(counts + SMOOTHING)


def _apply_negation_rule(
    texts: LexicalTexts,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which candidates of negated questions have no word in the passage, and where the rule
    decides: shape (n_candidates, 4).
    """
    question = texts.words.candidate_question
    negated = texts.negated[question]
    option_words = [block.candidates_alone(negated[block.where]) for block in texts.word_blocks]
    option_stems = [block.candidates_alone(negated[block.where]) for block in texts.stem_blocks]
    n_stems = np.zeros(len(question), dtype=np.int64)
    for block in option_stems:
        n_stems[block.where] = np.diff(block.additions.offsets)
    is_content = texts.kept.astype(np.int32)
    in_words = bag_of_words(texts.words, is_content, option_words) > 0
    in_sentences = bag_of_words(texts.stems, is_content, option_stems) > 0
    views = (n_stems > 0, in_words, in_words, in_sentences)
    absent = ~np.stack(views, axis=1)
    n_absent = np.zeros((len(texts.negated), len(views)), dtype=np.int64)
    np.add.at(n_absent, question, absent)
    return absent, negated[:, None] & (n_absent == 1)[question]


PUBLISHED_WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "mc160": (1.0, 10.0, 1.0, 1.0),
    "mc500": (1.0, 11.0, 6.0, 1.0),
}
"""The published weights, by dataset. RTE scores from a file (``RTE/*.scores``), if added, weigh
50 and 19.
"""


def component_weights(weights: str) -> NDArray[np.float64]:
    """Return the four weights that the parameter `weights` names or lists.

    Raises
    ------
    UsageError
        The text is neither a known name nor four finite numbers.

    Examples
    --------
    >>> component_weights("mc500")
    array([ 1., 11.,  6.,  1.])
    >>> component_weights("1/10/0/0")
    array([ 1., 10.,  0.,  0.])
    """
    if isinstance(weights, str) and weights in PUBLISHED_WEIGHTS:
        return np.array(PUBLISHED_WEIGHTS[weights])
    try:
        numbers = np.array([float(number) for number in str(weights).split("/")])
    except ValueError:
        numbers = np.empty(0)
    if len(numbers) != len(COMPONENTS) or not np.isfinite(numbers).all():
        names = ", ".join(map(repr, (*PUBLISHED_WEIGHTS, "learned")))
        expected = (
            f"one of {names} or four numbers for {', '.join(COMPONENTS)}, for example '1/11/6/1'"
        )
        problem = f"parameter 'weights' of lexical must be {expected}, got {weights!r}"
        raise UsageError(problem, field="weights", found=repr(weights), expected=expected)
    return numbers


def learn_weights(
    scores: NDArray[np.float64], offsets: NDArray[np.int64], right: NDArray[np.int64], C: float
) -> NDArray[np.float64]:
    r"""Learn weights w that make right candidates outscore the wrong candidates of their question.

    The weights minimise :math:`\frac{1}{2}\|w \sigma\|^2 + C \sum_q \frac{1}{n_q} \sum_{i,j} \log(1
    + e^{-w \cdot (x_i - x_j)})` over the :math:`n_q` pairs of a right candidate i and a wrong
    candidate j of a question q; :math:`\sigma` has the components' root mean square differences.
    DataError if no question has both a right and a wrong candidate, or these never differ in a
    component.
    """
    n_components = scores.shape[1]
    pairs, shares = [np.empty((0, n_components))], [np.empty(0)]
    for start, end in pairwise(offsets.tolist()):
        rows, is_right = scores[start:end], right[start:end] > 0
        differences = rows[is_right][:, None] - rows[~is_right]
        differences = differences.reshape(-1, n_components)
        pairs.append(differences)
        shares.append(np.full(len(differences), 1 / max(len(differences), 1)))
    x, share = np.concatenate(pairs), np.concatenate(shares)
    spread = np.zeros(n_components)
    if len(x):
        spread = np.sqrt((x**2).mean(axis=0))
    if not spread.any():
        raise DataError(
            "lexical cannot learn weights",
            found="no question with a right and a wrong candidate that differ in a component",
            expected="at least one",
        )
    scale = np.where(spread > 0, spread, 1.0)
    with one_thread():
        fit = fit_logistic(x / scale, np.ones(len(x)), C, importance=share, tolerance=1e-12)
    weights: NDArray[np.float64] = fit.weights / scale
    return weights
