"""Bootstrap intervals over passages on random credits."""

from collections import Counter
from math import sqrt

from classic_rc.commands.grade.assignment import Assignment, Check, CheckFailedError, Function
from classic_rc.commands.grade.feedback import with_changed, without

MAX_ERRORS = 6
"""Draws that are as random as they must be are this many standard errors off once in 500 million
times.
"""


def draw_passages(rng):
    """Return passages of one to four questions; about some, everything is right or nothing is."""
    passages = []
    for _ in range(rng.randint(1, 5)):
        p = rng.choice((0.0, 0.5, 1.0))
        passage = []
        for _ in range(rng.randint(1, 4)):
            credit = float(rng.random() < p)
            passage.append(rng.choice((credit, 0.5)))
        passages.append(passage)
    return passages


def draw_accuracies(rng):
    cases = [([[1.0]], [0]), ([[0.0], [1.0]], [1, 1])]
    for _ in range(100):
        passages = draw_passages(rng)
        cases.append((passages, draw_positions(rng, len(passages))))
    return cases


def draw_positions(rng, n):
    return rng.choices(range(n), k=n)


def draw_intervals(rng):
    cases = [([0.5], 0.95), ([0.5, 0.5], 0.9)]
    for _ in range(80):
        values = [round(rng.random(), 2) for _ in range(rng.randint(1, 30))]
        cases.append((values, rng.choice((0.5, 0.9, 0.95))))
    return cases


def draw_differences(rng):
    cases = []
    for _ in range(60):
        first = draw_passages(rng)
        second = [[float(rng.random() < 0.5) for _ in credits] for credits in first]
        all_draws = [draw_positions(rng, len(first)) for _ in range(rng.randint(1, 12))]
        cases.append((first, second, all_draws, rng.choice((0.5, 0.9))))
    return cases


def is_draw(passages, draw):
    if not draw or not all(passages):
        return False
    credits = [credit for passage in passages for credit in passage]
    are_positions = all(0 <= i < len(passages) for i in draw)
    return are_positions and all(0 <= credit <= 1 for credit in credits)


def are_systems(first, second, all_draws, level):
    sizes, second_sizes = list(map(len, first)), list(map(len, second))
    if sizes != second_sizes or not 0 < level < 1:
        return False
    for draw in all_draws:
        if len(draw) != len(first) or not is_draw(first, draw) or not is_draw(second, draw):
            return False
    return bool(all_draws)


def simpler(case):
    """Yield comparisons with one draw, one passage or one question less, or with one simpler
    credit.
    """
    first, second, all_draws, level = case
    for i in range(len(all_draws)):
        yield first, second, without(all_draws, i), level
    for i, (passage, second_passage) in enumerate(zip(first, second, strict=True)):
        draws_of_others = []
        for draw in all_draws:
            remaining = [j - (j > i) for j in draw if j != i]
            # A draw has as many positions as there are passages.
            filled = remaining + [0] * len(first)
            draws_of_others.append(filled[: len(first) - 1])
        yield without(first, i), without(second, i), draws_of_others, level
        for j in range(len(passage)):
            changed = [(without(passage, j), without(second_passage, j))]
            changed += [(with_changed(passage, j, credit), second_passage) for credit in (0.0, 1.0)]
            changed += [(passage, with_changed(second_passage, j, credit)) for credit in (0.0, 1.0)]
            for changed_first, changed_second in changed:
                yield (
                    with_changed(first, i, changed_first),
                    with_changed(second, i, changed_second),
                    all_draws,
                    level,
                )


def check_draws(submission):
    n, size, seed = 2000, 5, submission.seed
    all_draws = ask_draws(submission, size, n, seed)
    length = len(all_draws[0])
    if all_draws.count(all_draws[0]) == n:
        raise CheckFailedError(
            "all draws are equal", "likely cause: you start the generator again for each draw"
        )
    if all(len(set(draw)) == length for draw in all_draws):
        hint = "likely cause: you draw without replacement; draw with replacement"
        raise CheckFailedError("no draw has a position twice", hint)
    for place in range(length):
        counter = Counter(draw[place] for draw in all_draws)
        counts = [counter[i] for i in range(size)]
        must_be_near(counts, n, 1 / size, f"place {place} of the draws")
    for place in range(1, length):  # equal neighbours: as frequent as chance has it
        equal = sum(draw[place] == draw[place - 1] for draw in all_draws)
        must_be_near(
            [equal], n, 1 / size, f"a position twice, at the places {place - 1} and {place},"
        )
    if ask_draws(submission, size, n, seed) != all_draws:
        raise CheckFailedError(
            f"draws({size}, {n}, {seed}) gives other draws when it is called again"
        )
    if ask_draws(submission, size, n, seed + 1) == all_draws:
        raise CheckFailedError(f"draws({size}, {n}, {seed + 1}) gives the draws of seed {seed}")
    ask_draws(submission, 1, 3, seed)


def ask_draws(submission, size, n, seed):
    all_draws = submission.draws(size, n, seed)
    call = f"draws({size}, {n}, {seed})"
    length = len(submission.assignment.right("draws")(size, 1, 0)[0])
    if not isinstance(all_draws, list) or len(all_draws) != n:
        raise CheckFailedError(f"{call} must give a list of {n} draws")
    for draw in all_draws:
        if not isinstance(draw, list) or len(draw) != length:
            raise CheckFailedError(
                f"each draw of {call} must be a list of {length} positions, not {draw!r}"[:300]
            )
        if not all(type(i) is int and 0 <= i < size for i in draw):
            cause = "likely cause: positions count from 0" if size in draw else ""
            raise CheckFailedError(
                f"the positions of {call} must be from 0 to {size - 1}: {draw!r}"[:300], cause
            )
    return all_draws


def must_be_near(counts, n, p, what):
    expected = n * p
    if max(abs(count - expected) for count in counts) > MAX_ERRORS * sqrt(expected * (1 - p)):
        raise CheckFailedError(
            f"{what}: found {counts} times in {n} draws, and should be found about {expected:.0f} "
            "times"
        )


ASSIGNMENT = Assignment(
    title="Bootstrap intervals over passages",
    main="my_bootstrap.py",
    functions={
        "accuracy": Function(draw_accuracies, allowed=is_draw),
        "interval": Function(
            draw_intervals, allowed=lambda values, level: values and 0 < level < 1
        ),
        "difference": Function(
            draw_differences, uses=("accuracy", "interval"), allowed=are_systems, simplify=simpler
        ),
    },
    checks=(
        Check("accuracies", 3, "accuracy", "accuracy"),
        Check(
            "random_draws",
            2,
            "draws: shape, range, with replacement, equally likely, repeatable",
            check_draws,
        ),
        Check("intervals", 2, "interval: also of one value", "interval"),
        Check("differences", 3, "difference", "difference"),
    ),
)
