"""An assignment for tests: a function that adds."""

from __future__ import annotations

import random

from classic_rc.commands.grade import Assignment, Check, CheckFailedError


def check_has_add(submission):
    if "add" not in submission.names:
        raise CheckFailedError("define add(a, b)")


def check_adds(submission):
    rng = random.Random(submission.seed)
    for _ in range(20):
        a, b = rng.randrange(2, 1000), rng.randrange(2, 1000)
        returned, expected = submission.add(a, b), a + b
        if abs(returned - expected) > 1e-9:
            raise CheckFailedError(
                f"add({a}, {b}) is {returned} and should be {expected}", f"add({a}, {b})"
            )


ASSIGNMENT = Assignment(
    title="Adding",
    main="add.py",
    checks=(
        Check("has_add", 0, "There is a function", check_has_add),
        Check("adds", 10, "It adds", check_adds, needs=("has_add",)),
    ),
)
