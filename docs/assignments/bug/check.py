"""The checker of the assignment: does the mended file do what the reference does?"""

import random

import numpy as np

import classic_rc
from classic_rc.kernels import SCALE, reference
from classic_rc.text.stop_words import stop_words

STOP_WORDS = stop_words("smart")
WORDS = "the of cat dog sat ran mat hill who".split()


def check_windows_are_as_they_were(submission):
    """The sliding window still equals the reference."""
    for texts in cases():
        found, expected = submission.sliding_window(*texts), reference.sliding_window(*texts) / SCALE
        assert abs(found - expected) < 1e-6, said("sliding_window", texts, found, expected)


def check_distances_of_words_that_are_there(submission):
    """The word distance equals the reference where question and candidate have words in the passage."""
    compare_distances(submission, [texts for texts in cases() if has_pair(*texts)])


def check_all_distances(submission):
    """The word distance equals the reference everywhere."""
    compare_distances(submission, cases())


def check_scores_of_the_sample(submission):
    """The scores of the sample's questions are those of sw+d."""
    dataset = classic_rc.load("sample:single-choice")
    expected = classic_rc.parse_solver("sw+d").score_candidates(dataset)
    found = submission.WindowAndDistance().score_candidates(dataset)
    wrong = [q.id for q, a, b in zip(dataset, found, expected, strict=True) if not np.allclose(a, b, atol=1e-5)]
    assert not wrong, f"{len(wrong)} of {len(dataset)} questions differ; the first is {wrong[0]}"


def compare_distances(submission, texts_to_check):
    for texts in texts_to_check:
        found = submission.word_distance(*texts)
        expected = reference.word_distance(*texts, stop_words=STOP_WORDS)
        assert abs(found - expected) < 1e-9, said("word_distance", texts, found, expected)


def cases():
    """Passages of two words or more, questions and candidates: a few of everything that words can do."""
    rng = random.Random(0)
    sizes = [(rng.randint(2, 12), rng.randint(0, 4), rng.randint(0, 3)) for _ in range(300)]
    return [tuple(rng.choices(WORDS, k=size) for size in three) for three in sizes]


def has_pair(passage, question, candidate):
    there = set(passage) - STOP_WORDS
    return bool(there & set(question)) and bool(there & set(candidate) - set(question))


def said(function, texts, found, expected):
    quoted = ", ".join(repr(" ".join(tokens)) + ".split()" for tokens in texts)
    return f"{function}({quoted}) is {found:.4f}, and should be {expected:.4f}"
