"""Lesson 17: words near each other, in plain Python: windows that have words of two sets, and
distances.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from classic_rc.kernels.reference.evidence import Weight
from classic_rc.kernels.weights import DECAY_SCALE, SCALE, decay_weights, inverse_count_weight


def pair_window(
    passage: Sequence[Hashable], question: set[Hashable], candidate: set[Hashable], size: int
) -> tuple[int, int]:
    """Return the best product and the best least of two sums over the windows of a passage.

    A window's sums are those of the inverse counts of its tokens in the question's words and in the
    candidate's. In the product, each is at most 3.

    Returns
    -------
    product, least : int
        Of scale 2**52 and 2**26.
    """
    counts = Counter(passage)
    best_product = best_least = 0
    for start in range(len(passage)):
        question_sum = candidate_sum = 0
        for token in passage[start : start + size]:
            weight = inverse_count_weight(counts[token])
            question_sum += weight * (token in question)
            candidate_sum += weight * (token in candidate)
        best_least = max(best_least, min(question_sum, candidate_sum))
        product = min(question_sum, 3 * SCALE) * min(candidate_sum, 3 * SCALE)
        best_product = max(best_product, product)
    return best_product, best_least


class CandidateProximity(NamedTuple):
    """The fields of :class:`classic_rc.kernels.regions.Proximity` for one candidate."""

    mean: float
    weighted_mean: float
    least: float
    decay: float
    best_decay: float
    all_decay: float
    close: int


def proximity(
    passage: Sequence[Hashable], question: set[Hashable], words: set[Hashable], weight: Weight
) -> CandidateProximity:
    """Measure the distances between the question's words and the words N of a candidate.

    Examples
    --------
    >>> proximity(
    ...     "the cat sat on the mat".split(),
    ...     {"sat", "who"},
    ...     {"mat"},
    ...     {"sat": 1, "mat": 1, "who": 1}.get,
    ... )[:3]
    (0.6, 0.6, 0.6)
    """
    q_places = [i for i, token in enumerate(passage) if token in question]
    n_places = [i for i, token in enumerate(passage) if token in words]
    if not q_places or not n_places:
        return CandidateProximity(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0)
    span = max(len(passage) - 1, 1)
    # From each word of Q that P has to the nearest place of any word of N.
    steps: dict[Hashable, int] = {}
    for i in q_places:
        nearest = min(abs(i - j) for j in n_places)
        steps[passage[i]] = min(nearest, steps.get(passage[i], nearest))
    in_passage = sum(weight(q) for q in steps)
    in_question, in_words = sum(map(weight, question)), sum(map(weight, words))
    # From each place of a word of N to the nearest word of Q.
    back = {j: min(abs(i - j) for i in q_places) for j in n_places}
    decays_back = {j: _decay(6, d) for j, d in back.items()}
    best: Counter[Hashable] = Counter()
    for j, decayed in decays_back.items():
        best[passage[j]] = max(best[passage[j]], decayed)
    weighted_steps = sum(weight(q) * d for q, d in steps.items())
    question_decays = {q: _decay(5, d) for q, d in steps.items()}
    decays = sum(weight(q) * decayed for q, decayed in question_decays.items())
    best_decays = sum(weight(w) * decayed for w, decayed in best.items())
    all_decays = sum(weight(passage[j]) * decayed for j, decayed in decays_back.items())
    return CandidateProximity(
        mean=sum(steps.values()) / (len(steps) * span),
        weighted_mean=weighted_steps / (in_passage * span),
        least=min(steps.values()) / span,
        decay=_share(decays, in_question),
        best_decay=_share(best_decays, in_words),
        all_decay=_share(all_decays, in_words),
        close=sum(d <= 3 for d in back.values()),
    )


def _decay(reach: int, distance: int) -> int:
    """Return exp(-distance / reach) as an integer."""
    weights = decay_weights(reach)
    return int(weights[min(distance, len(weights) - 1)])


def _share(decayed: int, total: int) -> float:
    return decayed / (total * DECAY_SCALE) if total else 0.0
