"""Lesson 20: the feature ranker's features of a cloze candidate, in plain Python.

Chen, Bolton and Manning 2016, section 3.1, without the dependency parse. The names are those of
:data:`classic_rc.solvers.feature_ranker.entities.ENTITY_FEATURES`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

from classic_rc.kernels.reference.cloze import alignments
from classic_rc.kernels.reference.phrases import phrase_count, phrase_starts

Tokens = Sequence[Hashable]

_CONTEXT = 2
"""The most tokens on either side of the gap that are compared."""


class ClozeQuestion(NamedTuple):
    """A cloze query with its passage and its candidates, no two of them equal."""

    sentences: Sequence[Tokens]
    query: Tokens  # without a token for the gap
    placeholder: int  # how many of its tokens precede the gap
    candidates: Sequence[Tokens]


class Mention(NamedTuple):
    """An occurrence of a candidate's token sequence in the passage."""

    start: int  # the position of its first token
    stop: int  # the position after its last one
    sentence: int  # the sentence of its first token


def entity_features(
    question: ClozeQuestion,
    index: int,
    stop_words: Collection[Hashable] = (),
    *,
    aligned_reach: int = 8,
    reach: int = 20,
) -> dict[str, float]:
    """Return the features of candidate `index`.

    Parameters
    ----------
    question : ClozeQuestion
    index : int
    stop_words : collection of tokens
        Words of the query that do not count in distances and in sentences.
    aligned_reach, reach : int
        The largest distance of a word from its expected place, and from the mention.
    """
    passage = [token for sentence in question.sentences for token in sentence]
    candidate = question.candidates[index]
    mentions = mentions_of(question, candidate)
    in_query = query_count(question, candidate)
    features = {
        "in passage": float(len(mentions) > 0),
        "in question": float(in_query > 0),
        "frequency": float(len(mentions)),
        "first position": mentions[0].start / len(passage) if mentions else 1.0,
    }
    reached = [context_sizes(question, passage, mention) for mention in mentions]
    for n_left in range(_CONTEXT + 1):
        for n_right in range(_CONTEXT + 1):
            if n_left or n_right:
                any_mention = any(left >= n_left and right >= n_right for left, right in reached)
                features[context_name(n_left, n_right)] = float(any_mention)

    content = [word for word in question.query if word not in stop_words]
    aligned = alignments(
        passage,
        question.query,
        question.placeholder,
        candidate,
        max_distance=aligned_reach,
        ignored=stop_words,
    )
    aligned_sums = [sum(word.steps for word in words) for _, words in aligned]
    sums = [
        sum(nearest_steps(passage, word, mention, reach) for word in content)
        for mention in mentions
    ]
    for name, limit, of_mentions in (
        ("aligned", aligned_reach, aligned_sums),
        ("distance", reach, sums),
    ):
        features[f"{name}: least"] = features[f"{name}: mean"] = float(limit)
        if of_mentions and content:
            features[f"{name}: least"] = min(of_mentions) / len(content)
            mean = sum(of_mentions) / (len(of_mentions) * len(content))
            features[f"{name}: mean"] = mean

    missing_words = set(content) - set(candidate)
    features["words in sentence"] = 0.0
    if mentions and missing_words:
        sentences = [set(question.sentences[mention.sentence]) for mention in mentions]
        n_words = max(len(missing_words & sentence) for sentence in sentences)
        features["words in sentence"] = n_words / len(missing_words)
    rivals = [rival for i, rival in enumerate(question.candidates) if i != index]
    rivals = [rival for rival in rivals if query_count(question, rival)]
    query_mentions = [mention for rival in rivals for mention in mentions_of(question, rival)]
    are_together = any(_are_together(m, o) for m in mentions for o in query_mentions)
    features["entity in sentence"] = float(are_together)
    return features


def mentions_of(question: ClozeQuestion, candidate: Tokens) -> list[Mention]:
    """Return the mentions of a candidate, in order."""
    passage = [token for sentence in question.sentences for token in sentence]
    sentence_of = [number for number, sentence in enumerate(question.sentences) for _ in sentence]
    return [
        Mention(i, i + len(candidate), sentence_of[i]) for i in phrase_starts(passage, candidate)
    ]


def query_count(question: ClozeQuestion, candidate: Tokens) -> int:
    """Return how often the query has a candidate's token sequence, before the gap or after it."""
    return sum(phrase_count(half, candidate) for half in _split_query(question))


def _split_query(question: ClozeQuestion) -> tuple[Tokens, Tokens]:
    return question.query[: question.placeholder], question.query[question.placeholder :]


def context_name(n_left: int, n_right: int) -> str:
    """Return the name of the feature that compares this many tokens on the left and on the
    right.
    """
    sides = {"left": n_left, "right": n_right}
    return "context: " + ", ".join(f"{size} {side}" for side, size in sides.items() if size)


def context_sizes(question: ClozeQuestion, passage: Tokens, mention: Mention) -> tuple[int, int]:
    """Return how many tokens next to the gap, on the left and on the right, are also next to a
    mention.

    Examples
    --------
    >>> question = ClozeQuestion(
    ...     ["I saw Ann in the park".split()], "you saw in the garden".split(), 2, [["Ann"]]
    ... )
    >>> context_sizes(question, question.sentences[0], Mention(2, 3, 0))
    (1, 2)
    """
    before_gap, after_gap = _split_query(question)
    left = zip(reversed(before_gap), reversed(passage[: mention.start]), strict=False)
    right = zip(after_gap, passage[mention.stop :], strict=False)
    return _common_prefix(left), _common_prefix(right)


def nearest_steps(passage: Tokens, word: Hashable, mention: Mention, reach: int) -> int:
    """Return the distance of a word's nearest occurrence to the nearer end of a mention, at most
    `reach`.
    """
    places = [i for i, token in enumerate(passage) if token == word]
    ends = mention.start, mention.stop - 1
    return min([reach, *(abs(place - end) for place in places for end in ends)])


def _common_prefix(pairs: Iterable[tuple[Hashable, Hashable]]) -> int:
    """Return how many pairs are equal before the first unequal one, at most two."""
    size = 0
    for first, second in pairs:
        if first != second or size == _CONTEXT:
            break
        size += 1
    return size


def _are_together(first: Mention, second: Mention) -> bool:
    """Return whether two mentions are in one sentence and do not overlap."""
    if first.sentence != second.sentence:
        return False
    return first.stop <= second.start or second.stop <= first.start
