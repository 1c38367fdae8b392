"""Check an error by its fields: the class, and what it says of source, line, field, found and
expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from classic_rc.errors import ClassicRCError


@contextmanager
def raises(
    kind: type[ClassicRCError], **fields: object
) -> Iterator[pytest.ExceptionInfo[ClassicRCError]]:
    """Expect exactly the class `kind`, with these values of its attributes.

    A compiled pattern is searched in the attribute; any other value has to be equal to it. The
    wording of a message is free: look at what the error is about.
    """
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert type(error) is kind, f"a {type(error).__name__}: {error}"
    for name, expected in fields.items():
        actual = getattr(error, name)
        if isinstance(expected, re.Pattern):
            assert expected.search(str(actual)), (
                f"{name} is {actual!r}, expected {expected.pattern!r}: {error}"
            )
        else:
            assert actual == expected, f"{name} is {actual!r}, expected {expected!r}: {error}"
