"""Systems: solvers and files of predictions, each with the name of its row."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from classic_rc.datasets.registry import dataset_names, is_log
from classic_rc.errors import ClassicRCError, DataError, SystemFailedError, UsageError, unknown_name
from classic_rc.formats.harness_settings import name_of_log
from classic_rc.formats.registry import FORMATS, get_format, read_predictions
from classic_rc.io.files import archive_format, read_unpacked
from classic_rc.io.text import read_text
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Task
from classic_rc.solvers.base import Solver, TrainedOn
from classic_rc.solvers.registry import SHORT_NAMES, SOLVERS
from classic_rc.solvers.specs import change_paths, changed_texts, parse_solver

RECORD_NAME = "run.json"
"""The name of a record's file in its folder."""

# Other files begin with a version too, such as those of ReCoRD and SQuAD.
_RECORD_START = re.compile(rb'\s*\{\s*"version"\s*:\s*"[^"]*"\s*,\s*"schema"\s*:')

RECORDED = "run-record"
"""The format of a row of a run record, which is not measured again."""


def record_file(path: str) -> Path | None:
    """Return the run record at `path`, a file or its folder, or None.

    A record is recognised by its file name or by its first two keys, without reading the rest.
    """
    file = Path(path) / RECORD_NAME if Path(path).is_dir() else Path(path)
    if not file.is_file():
        return None
    with file.open("rb") as opened:
        is_record = _RECORD_START.match(opened.read(200)) is not None
    return file if is_record or file.name == RECORD_NAME else None


def split_record(spec: str) -> tuple[str, str | None] | None:
    """Return the run record, a file or a folder, that a text names, and the row after ``#`` if it
    has one; None for another text. A ``#`` may be part of a path and of a row's name.
    """
    hashes = [i for i, character in enumerate(spec) if character == "#"]
    parts: list[tuple[str, str | None]] = [(spec, None)]
    parts += [(spec[:i], spec[i + 1 :]) for i in reversed(hashes)]  # the longest path first
    return next(((path, row) for path, row in parts if path and record_file(path)), None)


@dataclass(frozen=True)
class System:
    """A solver, a file of predictions, a given number, or a system that failed; exactly one of
    them.
    """

    solver: Solver | None = None
    path: str | None = None  # of a file of predictions in one of the formats of `FORMATS`
    name: str | None = (
        None  # the user's name for it: shown and recorded, and never part of a signature
    )
    format: str | None = None  # of the file; by default it is recognised from the content
    # of the format: {"pattern": "Answer: ([A-D])"}
    options: Mapping[str, str] = field(default_factory=dict)
    failure: SystemFailedError | None = (
        None  # why the user's own solver could not be made, on any dataset
    )
    number: str | None = None  # the primary metric in percent, with its digits: "95.0"
    run_of: str | None = (
        None  # the name of the row that several runs make: files or seeds of one system
    )

    note: str | None = None  # what its user says of it: the prompt, decoding and date of a model

    @property
    def row(self) -> str:
        """The name of its row, which several runs may share."""
        return self.run_of or str(self.name)

    @property
    def is_given(self) -> bool:
        """Whether its numbers are shown next to the systems: given ones, or those of a sample of
        the questions.
        """
        return self.number is not None or "sample" in self.options

    @property
    def default_name(self) -> str:
        """The name without regard to other systems: of the solver and its variant, of the file,
        or of its model.
        """
        if self.failure is not None:
            return self.failure.name
        if self.solver is not None:
            return self.solver.row_name()
        assert self.path is not None
        stem = Path(self.path).name.partition(".")[0]
        name = name_of_log(self.path) or stem or self.path
        measure = "" if self.format is None else get_format(self.format).measure
        return f"{name} ({measure})" if measure else name

    def read(self, dataset: Dataset, notes: list[str]) -> Scores | list[Prediction]:
        """Read the file's predictions for the questions of a dataset; notes about them are added
        to `notes`.
        """
        assert self.path is not None
        return read_predictions(self.path, dataset, self.format, notes=notes, options=self.options)

    @property
    def file_facts(self) -> dict[str, Any]:
        """How its file is read, where the content does not tell: the format and its options."""
        facts: dict[str, Any] = {} if self.format is None else {"format": self.format}
        if self.options:
            facts["options"] = dict(self.options)
        return facts


SystemLike: TypeAlias = "System | Solver | str"
Systems: TypeAlias = "Mapping[str, SystemLike | float | list[SystemLike]] | Sequence[SystemLike]"
"""Systems by name, or in a list: solvers, specifications of solvers, and paths of files of
predictions.

By name also given numbers in percent, and lists of the runs of one system.
"""

OUT_OF_FOLD = " (out of fold)"
"""The end of the name of a system's second row, if the first is tuned on the data that it
reports.
"""

_NAME = re.compile(r"\s*([^=,:\[/\\]*[^=,:\[/\\\s])\s*=(.*)", re.DOTALL)


def split_name(text: str) -> tuple[str | None, str]:
    """Return the user's name for a system, or None, and the rest of the text."""
    match = _NAME.fullmatch(text)
    return (match[1], match[2].strip()) if match else (None, text.strip())


def split_format(text: str) -> tuple[str, str | None]:
    """Return the path in ``[FORMAT:]FILE`` and the name of the format, or None.

    Examples
    --------
    >>> split_format("harness-norm:out/samples.jsonl"), split_format("C:/samples.jsonl")
    (('out/samples.jsonl', 'harness-norm'), ('C:/samples.jsonl', None))
    """
    format, colon, path = text.partition(":")
    if colon and format in FORMATS and not Path(text).exists():
        return path, format
    return text, None


def split_options(text: str) -> tuple[str, dict[str, str]]:
    """Return the file in ``FILE[,key=value]…`` and the options of its format; a pattern may have
    commas.

    Examples
    --------
    >>> split_options("out.jsonl,id=meta.id,text=reply,pattern=([A-D]), done")
    ('out.jsonl', {'id': 'meta.id', 'text': 'reply', 'pattern': '([A-D]), done'})
    """
    option_names = sorted({option for format in FORMATS.values() for option in format.takes})
    text, *pattern = text.split(",pattern=", 1)
    path, *others = re.split(rf",(?=(?:{'|'.join(option_names)})=)", text)
    others += [f"pattern={regex}" for regex in pattern]
    return path, dict(option.split("=", 1) for option in others)


def parse_system(text: str, folder: str | None = None) -> System:
    r"""Return the system of a text: ``[NAME=]SOLVER[:VARIANT][,key=value]…`` or
    ``[NAME=][FORMAT:]FILE[,key=…]…``.

    A name ends at the first ``=`` that comes before any of ``, : [ / \``. A solver's name means the
    solver, even if a file has the same name; ``./NAME`` means the file. Relative paths start in
    `folder`, by default the working directory. A text that looks like a path is a DataError if
    there is no such file, any other a UsageError.

    Examples
    --------
    >>> parse_system("Window=sliding-window,window=30").name
    'Window'
    >>> parse_system("sliding-window,window=30").name is None
    True
    """
    name, spec = split_name(text)
    if name is not None and re.fullmatch(r"\d+(\.\d+)?", spec):
        return System(number=check_percent(spec), name=name)
    if not spec:
        raise UsageError(
            f"no system in {text!r}: expected NAME=SYSTEM, such as SW=sliding-window",
            field="solver",
            found=text,
            expected="[NAME=]SYSTEM",
        )

    def place(path: str) -> str:
        return path if folder is None else os.path.join(folder, os.path.expanduser(path))

    head = spec.partition(",")[0].partition(":")[0].strip()
    if head in SOLVERS or head in SHORT_NAMES or ".py:" in spec:
        try:
            solver = parse_solver(place(spec) if ".py:" in spec.partition(",")[0] else spec)
        except SystemFailedError as failure:
            return System(name=name, failure=failure)
        return System(solver if folder is None else change_paths(solver, place), name=name)
    if (record := split_record(place(spec))) is not None:
        return _recorded_system(name, *record)
    file, format = split_format(spec)
    options: dict[str, str] = {}
    if not Path(place(file)).is_file():
        file, options = split_options(file)
    path = place(file)
    if Path(path).is_file():
        if options and format is not None:
            get_format(format).with_options(options)  # refuses what it does not take
        return System(path=path, name=name, format=format, options=options)
    has_suffix = Path(file).suffix and "," not in file and ":" not in file
    if "/" in file or "\\" in file or has_suffix or os.path.lexists(path):
        problem = "no such file"
        if os.path.lexists(path):
            kind = "a folder" if Path(path).is_dir() else "not a regular file, or a link to nothing"
            problem = f"{kind}, expected a file of predictions"
        hint = "A system is a solver or a file of predictions"
        if name is None and "=" in file:
            hint += "; the name in NAME=SYSTEM has none of , : [ / \\"
        raise DataError(problem, source=path, hint=hint)
    raise unknown_name("solver", head, [*SOLVERS, *SHORT_NAMES])


def _recorded_system(name: str | None, path: str, row: str | None) -> System:
    if row is None:
        raise UsageError(
            f"{path} is a run record: name one of its rows, -s {path}#ROW (`classic-rc table "
            f"{path}` prints them, `compare` compares them)",
            field="solver",
            found=path,
            expected=f"{path}#ROW",
        )
    return System(
        path=str(record_file(path)), name=name or row, format=RECORDED, options={"row": row}
    )


def check_percent(text: str) -> str:
    """Return a number in percent; UsageError for a share."""
    if not 1 < float(text) <= 100 and float(text) != 0:
        expected = "a number above 1 and up to 100, such as 95.0"
        raise UsageError(
            f"{text} is not in percent: expected {expected}",
            field="solver",
            found=text,
            expected=expected,
        )
    return text


def as_systems(systems: Systems) -> list[System]:
    """Return the systems that the caller of :func:`classic_rc.evaluate` gave. Other values are
    UsageErrors.
    """
    if isinstance(systems, str | Solver | System) or not isinstance(systems, Iterable):
        described, example = type(systems).__name__, "[solver]"
        if isinstance(systems, type):
            described, example = systems.__name__, f"[{systems.__name__}()]"
        elif isinstance(systems, str):
            example = f"[{systems!r}]"
        raise UsageError(
            f"expected a list of systems, or a dict of systems by name, got one {described}: write "
            f"{example}",
            field="systems",
            found=described,
            expected="a list or a dict",
        )
    if isinstance(systems, Mapping):
        for name in systems:
            if not isinstance(name, str) or not name.strip():
                raise UsageError(
                    f"the name of a system must be a text, got {name!r}",
                    field="systems",
                    found=repr(name),
                )
        named_systems: list[System] = []
        for name, value in systems.items():
            runs = value if isinstance(value, list) else [value]
            named_systems += [replace(_as_system(run, name), name=name) for run in runs]
        return named_systems
    return [_as_system(value) for value in systems]


def _as_system(value: SystemLike | float, name: str | None = None) -> System:
    if isinstance(value, System):
        return value
    if name is not None and isinstance(value, int | float) and not isinstance(value, bool):
        return System(number=check_percent(str(value)))
    if isinstance(value, Solver):
        return System(value)
    if isinstance(value, str):
        return parse_system(value)
    if isinstance(value, type) and issubclass(value, Solver):
        described, fix = f"the class {value.__name__}", f"make a solver of it: {value.__name__}()"
    else:
        described, fix = type(value).__name__, 'give a solver, or its specification such as "sw+d"'
    raise UsageError(
        f"{described} is not a system: {fix}",
        field="systems",
        found=described,
        expected="a solver or a text",
    )


def systems_of_log(dataset: Dataset) -> list[System]:
    """Return the systems that a dataset brings with it: the model whose log it is; none for other
    data.

    The first measures the harness's ``acc``. A second one measures ``acc_norm``, or, where the
    harness has MultiRC's labels reversed, the model's "yes" as right; of generated answers, it is
    that of the last filter.
    """
    if not is_log(dataset) or len(dataset.sources) != 1:
        return []
    from classic_rc.formats.harness_log import read_log

    path = dataset.sources[0].path
    # A pipe or an archive cannot be a system's file.
    if not Path(path).is_file() or archive_format(read_unpacked(path)):
        return []
    names = read_log(read_text(path), path).formats
    formats = [name if FORMATS[name].measure else None for name in names]
    return [System(path=path, format=format) for format in formats]


def find_log_model(dataset: Dataset, systems: Iterable[System]) -> str | None:
    """Return the name of the first system that is the log itself that a dataset was read from,
    or None.
    """
    if not is_log(dataset) or len(dataset.sources) != 1:
        return None
    log_path = os.path.abspath(dataset.sources[0].path)
    for system in systems:
        if system.path is not None and os.path.abspath(system.path) == log_path:
            return system.name
    return None


def name_systems(systems: Iterable[System]) -> list[System]:
    """Return the systems with a name for each; no two are equal.

    A system without a name gets its solver's and variant's name. If several would share it, the
    parameters that tell them apart are added, as few as possible: ``sw+d`` and ``sw+d,window=30``.
    Files, or seeds of one solver, that were given the same name are runs of one system: ``LLM (run
    1)`` and ``LLM (run 2)``. The same name for two other systems, or that of another's row out of
    fold, is a UsageError.

    Examples
    --------
    >>> [s.name for s in name_systems(as_systems(["sw+d", "sw+d,window=30", "A=sw+d,window=9"]))]
    ['sw+d', 'sw+d,window=30', 'A']
    >>> named = System(parse_solver("sw+d"), name="sw+d")
    >>> [s.name for s in name_systems([named, System(parse_solver("sw+d,window=30"))])]
    ['sw+d', 'sw+d,window=30']
    """
    systems = _number_runs(list(systems))
    given_names = [system.name for system in systems if system.name is not None]
    rows = {system.run_of for system in systems}
    for name in given_names:
        if given_names.count(name) > 1 or name in rows:
            raise UsageError(
                f"two systems have the name {name!r}: give each its own", field="name", found=name
            )
        if name + OUT_OF_FOLD in given_names:
            row_name = name + OUT_OF_FOLD
            raise UsageError(
                f"{row_name!r} is the name of a row of {name!r}: give the other system another "
                "name",
                field="name",
                found=row_name,
            )
    by_base: dict[str, list[int]] = {}
    for i, system in enumerate(systems):
        if system.name is None:
            by_base.setdefault(system.default_name, []).append(i)
    names = [system.name for system in systems]
    for base, members in by_base.items():
        namesakes = [s for s in systems if s.name == base == s.default_name]
        details = _distinguishing_texts([*(systems[i] for i in members), *namesakes])
        for i, detail in zip(members, details, strict=False):
            names[i] = ",".join([base, *detail])
    used_names = {*given_names, *(name + OUT_OF_FOLD for name in given_names)}
    for i, system in enumerate(systems):
        if system.name is None:
            names[i] = unused_name(str(names[i]), used_names)
            used_names |= {str(names[i]), f"{names[i]}{OUT_OF_FOLD}"}
    return [replace(system, name=name) for system, name in zip(systems, names, strict=True)]


def _number_runs(systems: list[System]) -> list[System]:
    """Return the systems with different names for the runs of one system, which were given the
    same one.
    """
    by_name: dict[str, list[int]] = {}
    for i, system in enumerate(systems):
        if system.name is not None:
            by_name.setdefault(system.name, []).append(i)
    for name, members in by_name.items():
        if len(members) > 1:
            namesakes = [systems[i] for i in members]
            if fault := _find_other_system(namesakes):
                raise UsageError(
                    f"two systems have the name {name!r}, and {fault}: give each its own, or runs "
                    "of one system",
                    field="name",
                    found=name,
                    expected="other names; or different files, or one solver with different seeds "
                    "(seed=1)",
                )
            for number, i in enumerate(members, start=1):
                systems[i] = replace(systems[i], name=f"{name} (run {number})", run_of=name)
    return systems


def _find_other_system(systems: Sequence[System]) -> str | None:
    """Return why systems are not different runs of one system, or None."""
    solvers = [system.solver for system in systems if system.solver is not None]
    if any(a == b or is_same_system(a, b) for a, b in itertools.combinations(systems, 2)):
        return "they are the same"
    if not solvers and all(system.path is not None and not system.is_given for system in systems):
        return None
    if len(solvers) < len(systems):
        return "they are of different kinds"
    params = [{**solver.get_params(deep=False), "seed": None} for solver in solvers]
    kinds = list(map(type, solvers))
    is_same = all(pair == (kinds[0], params[0]) for pair in zip(kinds, params, strict=True))
    return None if is_same else "they differ in more than their seeds"


def _distinguishing_texts(systems: Sequence[System]) -> list[list[str]]:
    """Return for each system the ``key=value`` texts that tell it from the others, as few as
    possible.
    """
    changed = [{} if s.solver is None else changed_texts(s.solver) for s in systems]
    keys = list(dict.fromkeys(key for texts in changed for key in texts))
    varying = [key for key in keys if len({texts.get(key) for texts in changed}) > 1]

    def tells_apart(subset: Sequence[str]) -> bool:
        return len({tuple(map(texts.get, subset)) for texts in changed}) == len(changed)

    sizes = range(min(len(varying), 3))
    subsets = (subset for size in sizes for subset in itertools.combinations(varying, size))
    distinguishing = next(filter(tells_apart, subsets), varying)
    return [[f"{key}={texts[key]}" for key in distinguishing if key in texts] for texts in changed]


def unused_name(name: str, used_names: AbstractSet[str]) -> str:
    """Return a name that is not taken, and whose row out of fold is not: with a number if it
    must.
    """
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    names = itertools.chain([name], numbered)
    return next(n for n in names if used_names.isdisjoint({n, n + OUT_OF_FOLD}))


def with_companions(
    systems: Sequence[System], dataset: Dataset, train: Dataset | None = None
) -> list[System]:
    """Return the systems and the solvers that tables show next to them, after the system that each
    belongs to.

    For questions with several right answers, `AllPositive` comes first: F1m and F1a are high if
    everything is selected. A system that learned from other datasets only is followed by
    `LexicalMatcher`: what it learned there can be worth less than what needs no learning.
    """
    solvers = [system.solver for system in systems if system.solver is not None]
    complete: list[System] = []
    if dataset.task is Task.MULTIPLE_ANSWER:
        from classic_rc.solvers.trivial import AllPositive

        if not any(isinstance(solver, AllPositive) for solver in solvers):
            complete.append(System(AllPositive()))
    wants_lexical = not any(solver.name == "lexical" for solver in solvers)
    for system in systems:
        companions = [] if system.solver is None else list(system.solver.companions())
        learns_task = train is None or train.task is dataset.task
        if (
            wants_lexical
            and learns_task
            and system.solver
            and learned_elsewhere(system.solver, dataset, train)
        ):
            wants_lexical, lexical = False, parse_solver("lexical")
            companions += [lexical] if dataset.task in lexical.tasks else []
        others = [
            solver
            for solver in companions
            if not any(is_same_solver(solver, present) for present in solvers)
        ]
        complete += [system, *map(System, others)]
    return complete


def learned_elsewhere(solver: Solver, dataset: Dataset, train: Dataset | None) -> bool:
    """Return whether a solver learns from gold, or has learned, and all of it is from other
    datasets.

    Splits of one dataset are one dataset (:func:`~classic_rc.datasets.registry.dataset_names`). So
    is data that has copies of the questions, whatever its name, if a saved solver has a sketch of
    what it learned. A saved solver that cannot be read has learned nothing here: the run says what
    is wrong with its file.
    """
    learned: set[str] = set()
    learned_before: tuple[TrainedOn, ...] = ()
    with suppress(ClassicRCError):
        learned_before = solver.learned_before
    for trained_on in learned_before:
        learned.update(trained_on.datasets)
    if solver.learns_from == "gold":
        learned.update(dataset_names(dataset if train is None else train))
    if not learned or not learned.isdisjoint(dataset_names(dataset)):
        return False
    copied = [trained_on.copied(dataset) for trained_on in learned_before]
    return not any(flags.any() for flags in copied if flags is not None)


def find_baseline(systems: Sequence[System], baseline: str) -> tuple[list[System], str]:
    """Return the systems, with the baseline among them, and the baseline's name.

    `baseline` is the name of a system, or a text as of :func:`parse_system`: then the system is
    added.
    """
    names = [system.row for system in systems if not system.is_given]
    if baseline in names:
        return list(systems), baseline
    try:
        system = parse_system(baseline)
    except UsageError as error:
        if error.field != "solver" or baseline.partition(",")[0].partition(":")[0] in SOLVERS:
            raise
        raise unknown_name("baseline", baseline, [*names, *SOLVERS, *SHORT_NAMES]) from None
    for candidate in systems:
        if system.name in (None, candidate.name) and is_same_system(candidate, system):
            return list(systems), candidate.row
    all_systems = name_systems([*systems, system])
    return all_systems, str(all_systems[-1].name)


def find_baselines(
    systems: Sequence[System], baselines: Sequence[str]
) -> tuple[list[System], list[str]]:
    """Return the systems with the baselines among them, and the baselines' names; see
    :func:`find_baseline`.
    """
    complete, names = list(systems), list[str]()
    for baseline in baselines:
        complete, name = find_baseline(complete, baseline)
        names.append(name)
    return complete, names


def separate_runs(systems: Iterable[System]) -> list[System]:
    """Return the systems with each run as its own row, and without given numbers."""
    return [replace(system, run_of=None) for system in systems if not system.is_given]


def one_or_all(names: Sequence[str]) -> str | Sequence[str] | None:
    """Return the value of a setting that takes one name or several: None for none."""
    return (names[0] if len(names) == 1 else list(names)) if names else None


def is_same_system(first: System, second: System) -> bool:
    """Return whether two systems differ at most in their names, and files in how their format is
    found.
    """
    if first.solver is None or second.solver is None:
        if first.path is None or second.path is None:
            return False
        return Path(first.path) == Path(second.path) and first.file_facts == second.file_facts
    return is_same_solver(first.solver, second.solver)


def is_same_solver(first: Solver, second: Solver) -> bool:
    """Return whether two solvers have the same class and parameters."""
    if type(first) is not type(second):
        return False
    return first.get_params(deep=False) == second.get_params(deep=False)
