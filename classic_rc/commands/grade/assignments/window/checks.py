"""Sliding window and word distance on random passages."""

from classic_rc.commands.grade.assignment import Assignment, Check, Function

WORDS = "the of cat dog sat ran mat hill who".split()
STOP_WORDS = ["the", "of"]


def draw_texts(rng):
    """Return passages with questions and candidates: plain ones first, then a few of everything."""

    def draw(most, least=0):
        return rng.choices(WORDS, k=rng.randint(least, most))

    plain = [(draw(14, 7), draw(3, 1), draw(2, 1)) for _ in range(200)]
    short = [(draw(6), draw(4), draw(3)) for _ in range(100)]
    edges = [([], [], []), ([], ["who"], ["cat"]), (["cat"], ["who"], ["cat"]), (["cat"], [], [])]
    return [*plain, *short, *edges]


def has_pair(passage, question, candidate, stop_words):
    if stop_words != STOP_WORDS:
        return False
    there = set(passage) - {*STOP_WORDS}
    return there & set(question) and there & set(candidate) - set(question)


ASSIGNMENT = Assignment(
    title="Sliding window and word distance",
    main="my_window.py",
    functions={
        "sliding_window": Function(draw_texts),
        "word_distance": Function(lambda rng: [(*texts, STOP_WORDS) for texts in draw_texts(rng)]),
    },
    checks=(
        Check(
            "windows",
            3,
            "sliding_window: passages longer than the window",
            "sliding_window",
            "is_longer",
        ),
        Check("all_windows", 2, "sliding_window: everything", "sliding_window", needs=("windows",)),
        Check(
            "distances",
            3,
            "word_distance: there are words to measure between",
            "word_distance",
            has_pair,
        ),
        Check(
            "all_distances", 2, "word_distance: everything", "word_distance", needs=("distances",)
        ),
    ),
)
