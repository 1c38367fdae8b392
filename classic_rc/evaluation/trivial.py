"""What a constant position or a length of the options reaches, next to the systems of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from classic_rc.evaluation.outcomes import Row
from classic_rc.questions import Dataset, Task

_TRIVIAL = frozenset({"random", "constant-position", "longest", "shortest", "majority"})
_SHOWN = 3


def trivial_note(dataset: Dataset, rows: Sequence[Row]) -> str | None:
    """Return a sentence if the best constant position, or a length, beats a system; None otherwise.

    The position is chosen on the data itself, so it shows how uneven the order of the options is. Of options of
    equal length, each has an equal part of the credit.
    """
    measured = [(row.name, row.metrics().get("accuracy", 1.0)) for row in rows if row.solver not in _TRIVIAL]
    if dataset.task is not Task.SINGLE_CHOICE or not measured:
        return None
    positions: Counter[int] = Counter()
    longest = shortest = 0.0
    for question in dataset:
        gold = [option for option in question.gold or () if isinstance(option, int)]
        positions.update(gold)
        lengths = [len(candidate.text) for candidate in question.candidates]
        ends = [[i for i, length in enumerate(lengths) if length == of(lengths)] for of in (max, min)]
        longest, shortest = (
            total + len({*gold} & {*end}) / len(end) for total, end in zip((longest, shortest), ends, strict=True)
        )
    position, count = max(positions.items(), key=lambda item: (item[1], -item[0]))
    kinds = (
        (count, f"always option {position + 1}"),
        (longest, "the longest option"),
        (shortest, "the shortest option"),
    )
    best, what = max((total / len(dataset), kind) for total, kind in kinds)
    beaten = [f"{name} ({100 * value:.2f})" for name, value in measured if value < best]
    if not beaten:
        return None
    more = f" and {len(beaten) - _SHOWN} more" if len(beaten) > _SHOWN else ""
    return f"{what} reaches an accuracy of {100 * best:.2f}, above {', '.join(beaten[:_SHOWN])}{more}"
