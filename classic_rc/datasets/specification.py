"""Specifications of data, ``DATA[,key=value]…``: a dataset and how it is read, in one text.

Commands, suites and :func:`classic_rc.load` take data as such a text.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from classic_rc.datasets.fields import ROLES
from classic_rc.errors import UsageError, unknown_name

DATA_SETTINGS: Mapping[str, str] = {
    "split": "the split to use, if the data has several",
    "subset": "the subset to use: mc160, middle, …",
    "reader": "the data format (see `classic-rc list readers`; default: detected)",
    "answers": "the answer file, if it is not next to the data file (MCTest)",
    "spans": "for span questions: candidates are the spans of up to this number of tokens (default "
    "10)",
    "scorer": "the scorer of span questions (see `classic-rc list scorers`); NAME+NAME for several",
    "fields": "field names in your own file: passage=context,question=q.text,…",
    "gold_as": "how your own file encodes the right answer",
}
"""What a specification of data can set, with help texts."""

_SETTING = re.compile(r",\s*([A-Za-z_][\w-]*)\s*=")
_MOST_TOKENS = 2**31 - 1


def quote_argument(text: str) -> str:
    """Return a word for a command line: unchanged, in double quotes (all shells), or quoted for
    POSIX shells.

    Examples
    --------
    >>> quote_argument("passage=a,question=b"), quote_argument("my file.csv")
    ('passage=a,question=b', '"my file.csv"')
    """
    if text and not re.search(r"[^\w./:\\@~,=+-]", text, re.ASCII) and not text.startswith("~"):
        return text
    return shlex.quote(text) if re.search(r'["$`!\\]', text) else f'"{text}"'


@dataclass(frozen=True)
class DataSpec:
    """A dataset and how it is read. ``str`` gives the text back."""

    path: str  # a path, or a name such as race:dev
    split: str | None = None
    subset: str | None = None
    reader: str | None = None
    answers: str | None = None
    spans: int | None = None
    scorer: str | None = None
    fields: str | None = None
    gold_as: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that are given, by name."""
        return {name: value for name in DATA_SETTINGS if (value := getattr(self, name)) is not None}

    @property
    def reading(self) -> dict[str, Any]:
        """The settings that are keywords of :func:`classic_rc.load`."""
        return {name: value for name, value in self.settings.items() if name != "spans"}

    def __str__(self) -> str:
        settings = [f",{name}={value}" for name, value in self.settings.items()]
        return "".join([self.path, *settings])

    def with_default(self, **settings: Any) -> DataSpec:
        """Return the specification with settings for those that it does not give."""
        missing = {name: settings[name] for name in settings if getattr(self, name) is None}
        return replace(self, **missing)

    def with_paths(self, change: Callable[[str], str]) -> DataSpec:
        """Return the specification with its paths changed."""
        return replace(self, path=change(self.path), answers=self.answers and change(self.answers))


def parse_data(text: str) -> DataSpec:
    """Return the specification of data that a text is: ``DATA[,split=NAME][,subset=NAME]…``,
    settings in any order.

    A path that exists is the whole text, or as much of it as possible: if there is a file
    ``a,b=c.json``, then ``a,b=c.json,split=dev`` is its split ``dev``.

    Examples
    --------
    >>> parse_data("RACE,split=dev,subset=high").settings
    {'split': 'dev', 'subset': 'high'}
    >>> str(parse_data("quoref.json, spans=5"))
    'quoref.json,spans=5'
    >>> parse_data("my.jsonl,fields=passage=text,question=q,split=dev").fields
    'passage=text,question=q'
    """
    settings = [] if os.path.exists(text) else list(_SETTING.finditer(text))
    # The longest path that exists wins: what looks like a setting may be part of a file's name.
    for i in range(len(settings) - 1, 0, -1):
        if os.path.exists(text[: settings[i].start()]):
            settings = settings[i:]
            break
    if not settings:
        return DataSpec(text)
    path = text[: settings[0].start()].strip()
    if not path:
        raise _refusal(text, "no dataset before the settings", "DATA[,key=value]…")
    values: dict[str, Any] = {}
    name = ""
    for match, end in zip(
        settings, [*(match.start() for match in settings[1:]), len(text)], strict=True
    ):
        value = text[match.end() : end].strip()
        if name == "fields" and match[1] in ROLES:
            values[name] += f",{match[1]}={value}"
            continue
        name = match[1]
        if name not in DATA_SETTINGS:
            raise unknown_name(f"setting of {shlex.quote(path)}", name, DATA_SETTINGS)
        if name in values:
            raise _refusal(text, f"{name} is given twice", f"one {name}=VALUE")
        if not value:
            raise _refusal(text, f"{name} has no value", f"{name}=VALUE")
        values[name] = _parse_spans(text, value) if name == "spans" else value
    return DataSpec(path, **values)


def _parse_spans(text: str, value: str) -> int:
    if not (
        value.isascii() and value.isdigit() and len(value) <= 10 and 1 <= int(value) <= _MOST_TOKENS
    ):
        raise _refusal(text, f"spans is {value!r}", "a number of tokens of at least 1")
    return int(value)


def _refusal(text: str, problem: str, expected: str) -> UsageError:
    return UsageError(
        f"cannot read the data {text!r}: {problem}, expected {expected}",
        field="DATA",
        found=text,
        expected=expected,
    )


def merge_settings(spec: DataSpec, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading settings of a specification together with keywords."""
    for name, value in keywords.items():
        if value is not None and getattr(spec, name) is not None:
            raise UsageError(
                f"{name} is given twice, in {str(spec)!r} and as {name}={value!r}: leave out one "
                "of them",
                field=name,
                found=str(value),
                expected="one of them",
            )
    return {**keywords, **spec.reading}


@dataclass(frozen=True)
class DatasetFiles:
    """The file, the folder or the shards of one dataset."""

    # one path, or those of all shards in order, each with the settings of its DataSpec
    paths: tuple[str, ...]
    name: str | None = None  # of the dataset that the shards make; None for one path

    def __str__(self) -> str:
        n_paths = len(self.paths)
        return self.paths[0] if n_paths == 1 else f"{self.name} ({n_paths} files)"

    @property
    def spans(self) -> int | None:
        """The longest candidate spans that the specification sets."""
        return parse_data(self.paths[0]).spans
