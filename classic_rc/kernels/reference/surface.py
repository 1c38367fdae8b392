"""Lesson 13: the surface features of a candidate, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def surface_features(
    passage: Sequence[str], question: Sequence[str], candidate: Sequence[str]
) -> dict[object, float]:
    """Return every feature of one candidate, as the papers and the release define them.

    Merkhofer et al. 2018 (MITRE at SemEval-2018 Task 11) use lengths, shared words, and the
    candidate's words, by themselves and paired with words of passage and question. Khashabi et al.
    2018 (MultiRC): the released SurfaceLR counts the pairs of equal tokens in passage and question,
    and the candidate's words that the passage has more often than average.

    Parameters
    ----------
    passage, question, candidate : sequence of str
        The words of each text.

    Returns
    -------
    dict
        Feature values by name. The name of a feature of one or two words is a tuple, and its value
        is 1.

    Examples
    --------
    >>> features = surface_features(
    ...     "the cat sat on the mat".split(), ["who", "sat"], ["the", "cat"]
    ... )
    >>> features["candidate words in passage"], features["prominent", "the"]
    (2, 1)
    """
    features: dict[object, float] = {}
    for name, words in (("passage", passage), ("question", question), ("candidate", candidate)):
        features[f"{name} length in characters"] = len(" ".join(words))
        features[f"{name} length in words"] = len(words)
    features["candidate words in passage"] = len(set(candidate) & set(passage))
    features["candidate words in question"] = len(set(candidate) & set(question))
    features["question words in passage"] = len(set(question) & set(passage))
    features["question tokens in passage"] = sum(x == y for x in passage for y in question)
    features["prominent candidate words in passage"] = 0
    for word in set(candidate):
        features["answer", word] = 1
        if word in passage:
            features["text-answer", word] = 1
        # The release's "average" is types over tokens. Unless all words are distinct, it is below
        # 1: then every shared word exceeds it.
        if passage and Counter(passage)[word] > len(set(passage)) / len(passage):
            features["prominent", word] = 1
            features["prominent candidate words in passage"] += 1
        for question_word in set(question):
            features["question-answer", word, question_word] = 1
    return features
