"""What to do with findings: accept them by name, list the questions that they answer, compare two checks."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from classic_rc.audit.check import CheckReport
from classic_rc.audit.measuring import PartialResult
from classic_rc.errors import DataError, UsageError
from classic_rc.io.text import read_text


def read_allowed(path: str) -> frozenset[str]:
    """Read the names of accepted findings: one per line; empty lines and lines that start with ``#`` are ignored.

    Raises
    ------
    DataError
        The file is missing or not UTF-8.
    """
    lines = (line.strip() for line in read_text(Path(path)).splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


def format_allowed(reports: Iterable[CheckReport]) -> str:
    """Return the file that accepts all findings of some reports, with the figures of each as a comment."""
    lines = ["# Accepted findings of `classic-rc check`, one name per line: check DATA --allow FILE"]
    for report in reports:
        lines.append(f"# {report.dataset.name}")
        leading = (r for r in report.partial_inputs.findings if r.follows_from is None)
        lines += [line for r in leading for line in (f"# {r.sentence}", r.name)]
    return "\n".join(lines) + "\n"


def accept(report: CheckReport, allowed: Collection[str]) -> tuple[CheckReport, tuple[PartialResult, ...]]:
    """Return the report without findings that are accepted by name, or follow from those, and the accepted ones."""
    partial = report.partial_inputs
    accepted = tuple(r for r in partial.findings if r.name in allowed or r.follows_from in allowed)
    names = {r.name for r in accepted}
    results = tuple(r for r in partial.results if r.name not in names)
    return replace(report, partial_inputs=replace(partial, results=results)), accepted


def answered_ids(report: CheckReport) -> str:
    """Return all questions that each finding answers: lines of the finding's name, a tab and the question's id.

    Raises
    ------
    UsageError
        A question id has a tab or a line break.
    """
    lines = []
    for result in report.partial_inputs.findings:
        for id_ in result.answered:
            if "\t" in id_ or len(id_.splitlines()) > 1:
                raise UsageError(
                    f"cannot write one id per line: the question id {id_!r} has a tab or a line break; "
                    "use --format json",
                    field="--ids",
                    found=id_,
                )
            lines.append(f"{result.name}\t{id_}\n")
    return "".join(lines)


class Change(StrEnum):
    """What became of a finding between two checks."""

    NEW = "new"
    GONE = "gone"
    WORSE = "worse"
    BETTER = "better"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A finding in an earlier and in a later check; gains are distances from chance, as fractions."""

    name: str
    change: Change
    before: float | None  # None if the earlier check did not test it
    after: float | None  # None if the later check did not test it


_NOTICEABLE = 0.01
"""Gains that differ by less are the same."""


def compare_checks(earlier: Mapping[str, Any], later: CheckReport) -> tuple[Comparison, ...]:
    """Compare the findings of two checks by name; those that follow from another one in both are left out.

    Parameters
    ----------
    earlier : mapping
        ``CheckReport.to_dict()``, or one of the ``checks`` of ``check --format json``.
    later : CheckReport

    Returns
    -------
    tuple of Comparison
        New and worse findings first.
    """
    old = {row["name"]: row for row in earlier["partial_inputs"]["results"]}
    new = {result.name: result for result in later.partial_inputs.results}
    names = [name for name, row in old.items() if row["verdict"] and row["follows_from"] is None]
    names += [r.name for r in later.partial_inputs.findings if r.follows_from is None and r.name not in names]
    compared = []
    for name in names:
        was, now = old.get(name), new.get(name)
        before, after = (None if was is None else abs(was["gain"])), (None if now is None else abs(now.gain))
        if now is None or now.verdict is None:
            change = Change.GONE
        elif was is None or not was["verdict"]:
            change = Change.NEW
        else:
            difference = abs(now.gain) - abs(was["gain"])
            change = (
                Change.SAME if abs(difference) < _NOTICEABLE else Change.WORSE if difference > 0 else Change.BETTER
            )
        compared.append(Comparison(name, change, before, after))
    order = (Change.NEW, Change.WORSE, Change.SAME, Change.BETTER, Change.GONE)
    return tuple(sorted(compared, key=lambda c: order.index(c.change)))


def read_saved_check(path: str) -> Sequence[Mapping[str, Any]]:
    """Read the checks in a file that ``check --format json`` wrote.

    Raises
    ------
    DataError
        The file is missing, is not JSON, or has no checks of this version.
    """
    expected = "the output of `classic-rc check DATA --format json`"
    try:
        checks = json.loads(read_text(Path(path)))["checks"]
        for check in checks:
            _ = [
                (row["name"], row["gain"], row["verdict"], row["follows_from"])
                for row in check["partial_inputs"]["results"]
            ]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError("this is no saved check", source=path, expected=expected) from error
    return list(checks)
