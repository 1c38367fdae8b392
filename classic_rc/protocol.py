"""How a run is done: every setting is declared once, here.

The options of commands, the keys of suites, the keywords of :func:`classic_rc.evaluate` and the
settings of run records follow from the fields of :class:`Protocol`. This module imports no array
library: ``--help`` stays fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

from classic_rc.encodings import READINGS
from classic_rc.errors import UsageError, unknown_name
from classic_rc.parameters import is_integer, is_number

if TYPE_CHECKING:
    from classic_rc.questions import Dataset
    from classic_rc.text.spans import SpanGenerator

TiePolicy: TypeAlias = Literal["partial", "first", "random", "strict"]
"""What to do if k candidates share the best score: give each credit 1/k, take the first, draw
one, or give none.
"""

Cuts: TypeAlias = Literal["exact", "multirc2018"]
"""The thresholds that tuning tries: all that make a difference, or the grid of MultiRC's
release.
"""

DEFAULT_RESAMPLES = 10_000
MAX_RESAMPLES = 10**9


class Step(StrEnum):
    """The first step of a run that a setting changes. What changes only reports is in no
    signature and no cell.
    """

    READ = "read"
    FIT = "fit"
    SCORE = "score"
    DECIDE = "decide"
    REPORT = "report"


@dataclass(frozen=True)
class Kind:
    """The values that a setting takes."""

    expected: str  # in words
    fits: Callable[[Any], bool]
    parse: Callable[[str], Any] = (
        str  # an argument of the command line; ValueError for one that is no such value
    )
    choices: tuple[str, ...] = ()


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _split_names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names) or len({*names}) < len(names):
        raise ValueError
    return names


def _as_names(value: str | Sequence[str]) -> Sequence[str]:
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


def integer_kind(
    least: int | None = None, below: int = 2**63, what: str = "a whole number"
) -> Kind:
    """Return the kind of whole numbers from `least` to below `below`."""
    lower = -(2**63) if least is None else least
    power = below.bit_length() - 1
    if least is None:
        bounds = "of 64 bits"
    elif power > 30:
        bounds = f"of at least {least}, below 2**{power}"
    else:
        bounds = f"from {least} to {below - 1:,}"
    return Kind(f"{what} {bounds}", lambda value: is_integer(value, lower, below), int)


def names_among(what: str, allowed: Sequence[str]) -> Kind:
    """Return the kind of some of several names; `what` says what they name."""

    def parse(text: str) -> tuple[str, ...]:
        names = _split_names(text)
        for name in names:
            if name not in allowed:
                raise unknown_name(what, name, allowed)
        return names

    def fits(value: Any) -> bool:
        return (_is_text(value) or _are_texts(value)) and {*_as_names(value)} <= {*allowed}

    return Kind(f"{', '.join(allowed)}, or several of them with commas", fits, parse)


def one_of(names: Sequence[str]) -> Kind:
    """Return the kind of one of several names."""
    return Kind(" or ".join(map(repr, names)), lambda value: value in names, choices=tuple(names))


TEXT = Kind("a text", _is_text)
NAMES = Kind(
    "different names, separated by commas",
    lambda value: _is_text(value) or _are_texts(value),
    _split_names,
)
JOBS = Kind(
    "a number of processes of at least 1, below 2**31, or -1 for all cores",
    lambda value: value == -1 or is_integer(value, 1, 2**31),
    int,
)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
RESAMPLES = Kind(
    f"true, false or a number of resamples from 1 to {MAX_RESAMPLES:,}",
    lambda value: isinstance(value, bool) or is_integer(value, 1, MAX_RESAMPLES + 1),
    int,
)
FIELDS = Kind(
    "a text, or a table of texts",
    lambda value: (
        _is_text(value) or (isinstance(value, Mapping) and all(map(_is_text, value.values())))
    ),
)
DATA = Kind(
    "a dataset, or several",
    lambda value: value is not None and not isinstance(value, bool | int | float),
)


@dataclass(frozen=True)
class Setting:
    """The declaration of one field of :class:`Protocol`, or of one keyword of
    :func:`classic_rc.load`.
    """

    kind: Kind
    affects: Step
    help: str  # one or two lines, for `--help` and for the page about suites
    metavar: str = ""
    heading: str = "decisions"  # of the option in ``--help``
    of_suite: bool = True  # whether it may be at the top of a suite, for all its datasets
    rare: bool = False  # whether only the long ``--help`` shows its option


def _reading(kind: Kind, help: str, metavar: str = "", **more: Any) -> Setting:
    return Setting(kind, Step.READ, help, metavar, heading="reading", of_suite=False, **more)


SKIPPED = ("bad", "unlabelled")
"""What reading can leave out: what cannot be read, instead of raising the error; questions whose
gold is hidden.
"""

READING: Mapping[str, Setting] = {
    "split": _reading(
        TEXT, "the split to read if DATA has several and names none (split=)", "SPLIT"
    ),
    "fields": _reading(
        FIELDS, "field names in your own file: passage=context,question=q.text,…", "FIELDS"
    ),
    "gold_as": _reading(
        one_of(tuple(READINGS)), "how your own file encodes the right answer", rare=True
    ),
    "scorer": _reading(
        TEXT,
        "the scorer of span questions (see `classic-rc list scorers`; default: that of the dataset "
        "if it is known, else one that fits the script); NAME+NAME for several columns",
        "NAME",
        rare=True,
    ),
    "skip": _reading(
        names_among("kind of question", SKIPPED),
        "what to leave out, instead of stopping: bad, the questions that cannot be read "
        "(`classic-rc check` lists them), unlabelled, the questions whose right answer is hidden, "
        "or bad,unlabelled",
        "WHAT",
        rare=True,
    ),
}
"""The options of reading, which are keywords of :func:`classic_rc.load`, by name."""


def _setting(kind: Kind, affects: Step, help: str, default: Any = None, **more: Any) -> Any:
    return field(default=default, metadata={"setting": Setting(kind, affects, help, **more)})


_LEARNING: Mapping[str, Any] = {"heading": "training and tuning", "of_suite": False}


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How systems run on a dataset. None, or False, leaves a setting as each system has it.

    Parameters are declared below; ``classic-rc run --help`` lists them. A field with a wrong value
    is a UsageError.

    Examples
    --------
    >>> Protocol(cv=5, ties="first").changed
    {'cv': 5, 'ties': 'first'}
    """

    train: Dataset | Sequence[Dataset] | None = _setting(
        DATA,
        Step.FIT,
        "the data to train solvers on: a file or a folder; repeat for several, which become one",
        metavar="DATA",
        **_LEARNING,
    )
    tune: Dataset | None = _setting(
        DATA,
        Step.FIT,
        "the data to tune thresholds and windows on; without it they are tuned out of fold",
        metavar="DATA",
        rare=True,
        **_LEARNING,
    )
    cv: int | None = _setting(
        integer_kind(2, 2**31, "a number of folds"),
        Step.FIT,
        "train out of fold, in N folds of passages, instead of on other data",
        metavar="N",
        **_LEARNING,
    )
    group: str | None = _setting(
        TEXT,
        Step.FIT,
        "a field of the data (article, author, …): questions with the same value stay together in "
        "folds and resamples",
        metavar="KEY",
        rare=True,
        **_LEARNING,
    )
    drop_overlap: bool = _setting(
        FLAG,
        Step.FIT,
        "remove passages and questions that are also in the dataset from the training and tuning "
        "data",
        default=False,
        rare=True,
        **_LEARNING,
    )
    analyzer: str | None = _setting(
        TEXT,
        Step.SCORE,
        "how systems turn text into words, unless their variant or parameters set it (see "
        "`classic-rc list analyzers`; default: each system's own, or that of the data's "
        "language)",
        metavar="ANALYZER",
        heading="solvers",
        rare=True,
    )
    spans: int | SpanGenerator | None = _setting(
        integer_kind(1, 2**31, "a number of tokens"),
        Step.SCORE,
        "for span questions: candidates are the spans of up to N tokens (default 10)",
        metavar="N",
        heading="solvers",
    )
    seed: int | None = _setting(
        integer_kind(), Step.SCORE, "the seed of all random draws (default 0)", metavar="N"
    )
    ties: TiePolicy | None = _setting(
        one_of(get_args(TiePolicy)),
        Step.DECIDE,
        "what to do if k candidates share the best score: give credit 1/k (partial), use the "
        "first, draw one (random), or count the question as wrong (strict); default: the solver's "
        "own policy, or partial",
    )
    threshold: float | Cuts | None = _setting(
        Kind(
            f"a finite number, {' or '.join(get_args(Cuts))}",
            lambda value: is_number(value) or value in get_args(Cuts),
            lambda text: text if text in get_args(Cuts) else float(text),
        ),
        Step.DECIDE,
        "select candidates that score above the number T, or tune the threshold: try all that make "
        "a difference (exact, the default), or the grid of MultiRC's release with step 0.02 "
        "(multirc2018)",
        metavar="T|exact|multirc2018",
    )
    tune_metric: str | None = _setting(
        TEXT,
        Step.DECIDE,
        "the metric to tune thresholds for: f1_a (default), f1_m, em0, em1, superglue_f1_m, "
        "accuracy",
        metavar="METRIC",
        rare=True,
    )
    metrics: tuple[str, ...] = _setting(
        NAMES,
        Step.REPORT,
        "the metrics to report; the first is the primary one, which is tested (default: the usual "
        "metrics of the task)",
        default=(),
        metavar="METRIC[,METRIC]",
        heading="metrics and tests",
        of_suite=False,
    )
    by: str | None = _setting(
        TEXT,
        Step.REPORT,
        "break the metrics down by a field of the data or a key of `classic-rc list keys`",
        metavar="KEY",
        heading="metrics and tests",
        of_suite=False,
    )
    intervals: int | bool | None = _setting(
        RESAMPLES,
        Step.REPORT,
        "add 95 % intervals; those of ratios, such as F1a, are from N resamples of passages "
        f"(default {DEFAULT_RESAMPLES})",
        metavar="N",
        heading="metrics and tests",
    )
    baseline: str | Sequence[str] | None = _setting(
        Kind(
            "a text or a list of texts",
            lambda value: _is_text(value) or (_are_texts(value) and bool(value)),
        ),
        Step.REPORT,
        "mark the systems that differ significantly from this one in the primary metric "
        "(permutation test, Holm-adjusted p < 0.05): the name of a system, or one more system; "
        "repeat for several: a letter for each that a system is better than",
        metavar="[NAME=]SYSTEM",
        heading="metrics and tests",
    )

    def __post_init__(self) -> None:
        if isinstance(self.metrics, str):
            object.__setattr__(self, "metrics", _split_names(self.metrics))
        for name, value in self.changed.items():
            check_setting(name, value)
        if self.cv is not None and self.train is not None:
            raise UsageError(
                f"train and cv {self.cv} exclude each other: solvers learn either from other data "
                "or out of fold",
                field="cv",
                found=str(self.cv),
                expected="either of them",
            )

    @classmethod
    def of(cls, protocol: Protocol | None, settings: Mapping[str, Any]) -> Protocol:
        """Return a protocol with settings changed."""
        for name in settings:
            if name not in SETTINGS:
                raise unknown_name("setting", name, SETTINGS)
        return replace(protocol or cls(), **settings)

    @property
    def changed(self) -> dict[str, Any]:
        """The settings that differ from their defaults, by name."""
        changed: dict[str, Any] = {}
        for declared in fields(self):
            value, default = getattr(self, declared.name), declared.default

            if value is not default and (default is None or value != default):
                changed[declared.name] = value
        return changed

    def affecting(self, *steps: Step) -> dict[str, Any]:
        """Return the settings whose first step is one of `steps`, by name."""
        return {
            name: getattr(self, name)
            for name, setting in SETTINGS.items()
            if setting.affects in steps
        }

    def without(self, *steps: Step) -> Self:
        """Return the protocol with the settings of some steps left as they are by default."""
        affected = [declared for declared in fields(self) if _declared(declared).affects in steps]
        defaults: dict[str, Any] = {declared.name: declared.default for declared in affected}
        return replace(self, **defaults)

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as plain data for JSON. Data to learn from is left out."""
        plain = {name: getattr(self, name) for name in SETTINGS if name not in ("train", "tune")}
        plain["metrics"] = list(self.metrics)
        if self.spans is not None and not isinstance(self.spans, int):
            plain["spans"] = vars(self.spans)
        if self.baseline is not None and not isinstance(self.baseline, str):
            plain["baseline"] = list(self.baseline)
        return plain

    @classmethod
    def from_plain(
        cls, plain: Mapping[str, Any], train: Dataset | None = None, tune: Dataset | None = None
    ) -> Protocol:
        """Return the protocol that :meth:`to_plain` made plain, with the data to learn from.

        Raises
        ------
        UsageError
            A setting is unknown or has a wrong value.
        """
        settings = dict(plain)
        if isinstance(settings.get("spans"), Mapping):
            from classic_rc.text.spans import SpanGenerator

            settings["spans"] = SpanGenerator(**settings["spans"])
        return cls.of(
            None,
            {
                **settings,
                "metrics": tuple(settings.get("metrics") or ()),
                "train": train,
                "tune": tune,
            },
        )

    @property
    def has_statistics(self) -> bool:
        """Whether it requests intervals, or tests against a baseline."""
        return self.resamples is not None or bool(self.baselines)

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the baselines."""
        if isinstance(self.baseline, str):
            return (self.baseline,)
        return tuple(dict.fromkeys(self.baseline or ()))

    @property
    def resamples(self) -> int | None:
        """The number of resamples for intervals; None without intervals."""
        if isinstance(self.intervals, bool):
            return DEFAULT_RESAMPLES if self.intervals else None
        return self.intervals


def _declared(declared: Field[Any]) -> Setting:
    setting: Setting = declared.metadata["setting"]
    return setting


SETTINGS: Mapping[str, Setting] = {
    declared.name: _declared(declared) for declared in fields(Protocol)
}
"""The settings by name, in the order of `--help`."""


def check_setting(name: str, value: Any) -> None:
    """Check the value of a setting."""
    kind = SETTINGS[name].kind
    is_generator = name == "spans" and hasattr(value, "max_tokens")
    if not (is_generator or kind.fits(value)):
        described, expected = repr(value)[:40], kind.expected
        raise UsageError(
            f"{name} is {described}, expected {expected}",
            field=name,
            found=described,
            expected=expected,
        )


def column_key(keys: Sequence[str], labels: Sequence[Any]) -> str | None:
    """Return the key whose groups are columns of a table of results; several keys, labels and
    pairs are tables.
    """
    single = [key for key in keys if "," not in key]
    return single[0] if len(single) == 1 and not labels else None
