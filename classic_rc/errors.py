"""The errors of the package. Each message is one sentence: what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


class ClassicRCError(Exception):
    """Base class of all errors that this package raises on purpose.

    Attributes
    ----------
    exit_code : int
        The exit code of the command line for this error.
    """

    exit_code = 1


class UsageError(ClassicRCError, ValueError):
    """An invalid parameter or option, or an invalid combination of them.

    Parameters
    ----------
    message : str
        What is wrong and what to do, without a full stop at the end.
    field : str, optional
        The parameter, option or registry with the error: ``"k1"``, ``"--cv"``, ``"metric"``.
    found, expected : str, optional
        The refused value, and what the field takes.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        super().__init__(message)
        self.field, self.found, self.expected = field, found, expected


class NotFittedError(UsageError):
    """A solver or a decision is used before it is fitted or tuned."""


class OutputError(UsageError):
    """A solver returns scores or an explanation of a wrong shape, or with NaN."""


class SystemFailedError(ClassicRCError):
    """A system that failed: its code raised an error, or returned what it must not.

    The original error is its ``__cause__``, unless it happened in another process.

    Parameters
    ----------
    name : str
        The name of the system.
    error : str
        The last line of the error, ``"ValueError: k is 0"``.
    place : str
        The file and the line of the system's own code that raised it.
    """

    exit_code = 5

    def __init__(self, name: str, error: str, place: str) -> None:
        super().__init__(f"{error} ({place})")
        self.name, self.error, self.place = name, error, place

    def __reduce__(self) -> tuple[Any, ...]:
        return SystemFailedError, (self.name, self.error, self.place)


class InterruptedRunError(ClassicRCError):
    """A system has no result, because the run was interrupted before it was finished."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("not finished: the run was interrupted")


@contextmanager
def system_failures(name: str, *owners: type) -> Iterator[None]:
    """Turn an error of a system's code into a :class:`SystemFailedError`.

    Errors that this package raises on purpose stay as they are, except those about what the code
    returned.

    Parameters
    ----------
    name : str
        The name of the system.
    *owners : type
        Its solver's class, and those of its members. The place of the error is the last line that
        ran in the user's files among those that define them; if what a method returned is wrong,
        the first line of the method.
    """
    try:
        yield
    except SystemFailedError as failure:
        failure.name = name  # what ran further inside, perhaps in another process, did not know it
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ClassicRCError) and not isinstance(error, OutputError):
            raise
        import traceback

        text = (
            str(error)
            if isinstance(error, OutputError)
            else traceback.format_exception_only(error)[-1]
        )
        raise SystemFailedError(name, " ".join(text.split()), _find_place(error, owners)) from error


def _find_place(error: BaseException, owners: Iterable[type]) -> str:
    import inspect
    import traceback

    members = [
        (name, inspect.unwrap(getattr(f, "__func__", f)))
        for o in owners
        for name, f in inspect.getmembers(o)
    ]
    methods = [(name, method.__code__) for name, method in members if inspect.isfunction(method)]
    package = os.path.dirname(__file__)
    methods = [
        method for method in methods if not method[1].co_filename.startswith(package)
    ] or methods
    files = {code.co_filename for _, code in methods}
    ran = [
        (f.filename, f.lineno)
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename in files
    ]
    if not ran:
        method_name = getattr(error, "field", None)
        code = max(
            methods, key=lambda method: (method[0] == method_name, method[0] == "score_candidates")
        )[1]
        ran = [(code.co_filename, code.co_firstlineno)]
    file, line = ran[-1]
    return f"{file.removeprefix(os.getcwd() + os.sep)}, line {line}"


class DataError(ClassicRCError):
    """Missing or malformed input.

    Parameters
    ----------
    problem : str
        What is wrong, without a full stop at the end.
    source : str, optional
        The file or other source; ``archive.tar.gz/member`` for a member of an archive.
    where : str, optional
        The place in the source: ``"line 3"`` or a JSON path such as ``"$.data[0].qas[2].id"``.
    field : str, optional
        The field with the error.
    found, expected : str, optional
        The value in that place, and what belongs there.
    hint : str, optional
        How the user can fix it.
    question : str, optional
        The id of the question concerned, or of its passage. It is not part of the message.

    Examples
    --------
    >>> print(
    ...     DataError(
    ...         "bad gold", source="a.tsv", where="line 3", found="'E'", expected="A, B, C or D"
    ...     )
    ... )
    a.tsv, line 3: bad gold: found 'E', expected A, B, C or D
    """

    exit_code = 3

    def __init__(
        self,
        problem: str,
        *,
        source: str | None = None,
        where: str | None = None,
        field: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
        question: str | None = None,
    ) -> None:
        self.problem, self.source, self.where, self.field = problem, source, where, field
        self.found, self.expected, self.hint, self.question = found, expected, hint, question
        place = ", ".join(
            text for text in (source, where, f"field {field!r}" if field else None) if text
        )
        facts = ", ".join(
            f"{label} {value}"
            for label, value in (("found", found), ("expected", expected))
            if value
        )
        message = ": ".join(text for text in (place, problem, facts) if text)
        super().__init__(f"{message}. {hint}" if hint else message)

    @property
    def kind(self) -> str:
        """The problem without details, to count errors of one kind."""
        is_named = (
            self.field is not None and not self.field.startswith("[") and self.problem in _VAGUE
        )
        return self.problem.partition(" (")[0] + (f" ({self.field})" if is_named else "")

    @property
    def place(self) -> str:
        """The source, the place in it and the question, if they are known."""
        question = f"question {self.question}" if self.question else None
        texts = (self.source, self.where, question if question != self.where else None)
        return ", ".join(text for text in texts if text)

    @property
    def line(self) -> int | None:
        """The line number in `where`, counted from 1, or None."""
        match = re.search(r"\bline (\d+)", self.where or "")
        return int(match[1]) if match else None

    def __reduce__(self) -> tuple[Any, ...]:
        # The default pickling, used between processes, loses keyword-only parameters.
        return partial(DataError, **{name: getattr(self, name) for name in _DATA_FACTS}), (
            self.problem,
        )


_VAGUE = ("missing", "wrong type")
"""Problems that say little without their field."""

_DATA_FACTS = ("source", "where", "field", "found", "expected", "hint", "question")


class MissingPackageError(ClassicRCError, ImportError):
    """An optional package is not installed.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    needed_for : str
        What needs it.
    extra : str, optional
        The extra of this package that installs it.
    """

    exit_code = 4

    def __init__(self, package: str, *, needed_for: str, extra: str | None = None) -> None:
        self.package, self.needed_for, self.extra = package, needed_for, extra
        target = f"'classic_rc[{extra}]'" if extra else package
        super().__init__(f"{needed_for} needs the package {package}: pip install {target}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(MissingPackageError, needed_for=self.needed_for, extra=self.extra), (
            self.package,
        )


def wrong_value(name: str, value: Any, expected: str, owner: str = "") -> UsageError:
    """Return the error for a parameter, of `owner` if it is named, that has a wrong value.

    Examples
    --------
    >>> print(wrong_value("k", 0, "a positive whole number"))
    k must be a positive whole number, got 0
    """
    subject = f"{name} of {owner}" if owner else name
    return UsageError(
        f"{subject} must be {expected}, got {value!r}",
        field=name,
        found=str(value),
        expected=expected,
    )


_MAX_SHOWN_NAMES = 30


def unknown_name(kind: str, name: str, known_names: Iterable[str]) -> UsageError:
    """Return the error for a name that is not in a registry, with the closest known names.

    Examples
    --------
    >>> print(unknown_name("solver", "slidingwindow", ["random", "sliding-window"]))
    unknown solver 'slidingwindow': did you mean 'sliding-window'?
    """
    names = {known_name.lower(): known_name for known_name in sorted(known_names)}
    near = [
        names[match] for match in difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
    ]
    if near:
        advice = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        listed = list(names.values())
        more = (
            f" and {len(listed) - _MAX_SHOWN_NAMES} more" if len(listed) > _MAX_SHOWN_NAMES else ""
        )
        advice = f"choose from {', '.join(listed[:_MAX_SHOWN_NAMES])}{more}"
    expected = ", ".join(near or names.values())
    return UsageError(
        f"unknown {kind} {name!r}: {advice}", field=kind, found=name, expected=expected
    )
