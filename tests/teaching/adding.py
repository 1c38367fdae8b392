"""An assignment for tests: a function that adds."""

from __future__ import annotations

import random

from classic_rc.teaching import CheckFailedError, check


@check(points=2)
def check_has_add(submission):
    """There is a function."""
    if "add" not in submission.names:
        raise CheckFailedError("define add(a, b)")


@check(points=8, needs="has_add")
def check_adds(submission):
    """It adds."""
    rng = random.Random(submission.seed)
    for _ in range(20):
        a, b = rng.randrange(2, 1000), rng.randrange(2, 1000)
        found, expected = submission.add(a, b), a + b
        if abs(found - expected) > 1e-9:
            raise CheckFailedError(f"add({a}, {b}) is {found} and should be {expected}", f"add({a}, {b})")
