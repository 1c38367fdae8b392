"""``classic-rc compare``: compare systems: differences, intervals, p-values, and which questions
each solves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from classic_rc.cli import inputs
from classic_rc.cli.console import Failures, check_writable, write_output
from classic_rc.cli.option import (
    Choice,
    option,
    parser_of,
    under,
)
from classic_rc.cli.options import vary_option
from classic_rc.errors import ClassicRCError, DataError, SystemFailedError, UsageError, unknown_name
from classic_rc.io.json import render_json
from classic_rc.protocol import DEFAULT_RESAMPLES, Protocol, integer_kind

if TYPE_CHECKING:
    from classic_rc.questions import Dataset
    from classic_rc.results.comparison import Comparison
    from classic_rc.results.outcomes import Row
    from classic_rc.results.shared_results import SharedResults
    from classic_rc.running.explain import Explainer
    from classic_rc.systems import System

    Explainers = dict[tuple[str, str], Callable[[], Explainer]]
    """What makes the explainer of a solver, by the fingerprint of the data and its row."""


OPTIONS: Choice = (
    option(
        "systems",
        nargs="+",
        metavar="[NAME=]SYSTEM",
        help="a record of `run --save` (its folder or file; FOLDER#NAME for one row), or, together "
        "with --data, a file of predictions or a solver",
    ),
    "--data",
    "reading",
    vary_option(
        "--metrics",
        help="a comparison for each of these metrics (default: the main metric of the task)",
    ),
    vary_option(
        "--baseline",
        help="test only the differences from this system, the name of a row or one more system",
    ),
    *under(
        "metrics and tests",
        option(
            "--test",
            choices=("permutation", "mcnemar"),
            default="permutation",
            help="how to compute p-values: swap passages between systems (permutation, the "
            "default), or McNemar's test, which assumes independent questions",
        ),
    ),
    vary_option(
        "--intervals",
        help="the number of draws for p-values and for intervals of ratios (default 10,000)",
    ),
    vary_option(
        "--by", help="also compare on the groups of this key; for records, a key that they recorded"
    ),
    "--labels",
    *under(
        "breakdown",
        option(
            "--examples",
            type=parser_of(integer_kind(1)),
            metavar="N",
            help="show N questions that one system of each pair has wrong and the other one right, "
            "and N the other way round, with both answers and why a solver gives its own",
        ),
    ),
    "training and tuning",
    "--analyzer of systems",
    "decisions",
    "--jobs",
    "--format",
    vary_option(
        "--verbose",
        help="show each system's signature below a plain-text table, and the first questions that "
        "each set of systems solves; CSV and JSON have all of them",
    ),
    "--output",
    "--quiet",
)


def handle(args: argparse.Namespace) -> int:
    """Run the sub-command."""
    from classic_rc.results.comparison import compare

    systems, baseline = _parse_arguments(args.systems), None
    if args.baseline is not None:
        systems, baseline = _add_baseline(systems, args.baseline)
    system_files = [str(s.record) if s.record else s.path for s in systems]
    check_writable(args.output, args.data, *args.train, args.tune, *system_files)
    n_draws = Protocol(intervals=args.intervals or True).resamples or DEFAULT_RESAMPLES
    comparisons, failures = [], Failures()
    explainers: Explainers = {}
    for results, chance in _iter_parts(
        args, _iter_shared_results(args, systems, failures, explainers)
    ):
        names = [system.name for system in results.systems]
        if failures.exit_code and (
            len(names) < 2 or (baseline is not None and baseline not in names)
        ):
            continue  # nothing is left to compare
        for metric in args.metrics or (None,):
            comparison = compare(
                results,
                metric=metric,
                baseline=baseline,
                test=args.test,
                chance=chance,
                n=n_draws,
                seed=args.seed or 0,
            )
            comparisons.append(comparison)
        # Like the sets that systems solve, examples do not depend on the metric.
        if args.examples and (questions := _read_again(args, results)):
            from classic_rc.commands.compare.examples import find_examples

            examples = find_examples(comparison, questions, explainers, args.examples)
            comparisons[-1] = replace(comparison, examples=list(examples))
        compared = [finished.metric for finished in comparisons if finished.results is results]
        if warning := comparison.resampling.warning(compared):
            inputs.report_notes(args, "warning", [warning], results.dataset)
    if comparisons:
        write_output(_render(comparisons, args.format, args.verbose), args.output)
    return failures.exit_code


def _iter_parts(
    args: argparse.Namespace, answered: Iterator[tuple[SharedResults, Row | None]]
) -> Iterator[tuple[SharedResults, Row | None]]:
    """Yield the results on each dataset and on the groups of ``--by`` and ``--labels``, each
    with chance.
    """
    for results, chance in answered:
        yield results, chance
        for value, mask in replace(results, by=None).shown_groups.items():
            name = f"{results.dataset}, {value}"
            yield results.part(mask, name), chance and chance.part(mask)
        for key in args.by or list(results.groupings):
            if not results.groupings:
                raise UsageError(
                    f"the records of {results.dataset} have no groups of questions: run with --by "
                    f"{key}, or add --data DATA",
                    field="--by",
                    found=key,
                    expected="records of `run --by`",
                )
            if key not in results.groupings:
                raise unknown_name(
                    f"key of groups in the records of {results.dataset}", key, results.groupings
                )
            for value, mask in results.groupings[key].items():
                name = f"{results.dataset}, {key} {value}"
                if defining := replace(results, by=key).defining(value):
                    text = (
                        f"it is defined as the questions that {', '.join(sorted(defining))} solves "
                        "or does not"
                    )
                    inputs.report_notes(args, "warning", [text], name)
                if len(set(results.groups[mask].tolist())) > 1:
                    yield results.part(mask, name), chance and chance.part(mask)


def _render(comparisons: list[Comparison], form: str, verbose: bool) -> str:
    from classic_rc.commands.compare.tables import comparison_tables
    from classic_rc.tables import render

    if form == "json":
        return render_json({"comparisons": [comparison.to_dict() for comparison in comparisons]})
    # Which questions each system solves does not depend on the metric that is compared: one table
    # for each dataset.
    tables = []
    results = None
    for comparison in comparisons:
        if comparison.results is results:
            comparison = replace(comparison, regions=())
        results = comparison.results
        tables += comparison_tables(comparison, verbose=verbose)
    return render(tables, form, signatures=verbose)


# --------------------------------------------------------------------------------------------------
# The systems


@dataclass(frozen=True)
class _SystemArgument:
    """A system argument: a solver, a file of predictions, or a run record with an optional row."""

    text: str  # the argument
    system: System  # with the user's name; its path may be that of a run record
    row: str | None = None  # a row of the record, after the "#"

    @property
    def name(self) -> str | None:
        """The user's name for the system, or None."""
        return self.system.name

    @property
    def path(self) -> str | None:
        """The file of predictions or the run record; None for a solver."""
        return self.system.path

    @property
    def record(self) -> Path | None:
        """The file of the run record at `path`, or None."""
        from classic_rc.systems import record_file

        return None if self.path is None else record_file(self.path)

    @property
    def label(self) -> str:
        """A label that distinguishes its rows from rows of the same name in other systems."""
        if self.name is not None or self.path is None:
            return self.name or self.text
        return self.record.resolve().parent.name if self.record else Path(self.path).stem

    def rows_of(self, results: SharedResults) -> SharedResults:
        """Return the results with only the rows of this argument, renamed if it has a name."""
        rows = results.systems
        if self.row is not None:
            rows = tuple(row for row in rows if row.name == self.row)
            if not rows:
                raise unknown_name(
                    f"row of {self.path}", self.row, [row.name for row in results.systems]
                )
        is_predictions_file = self.path is not None and self.record is None
        if self.name is not None or is_predictions_file:
            if len(rows) == 1:
                names = [self.label]
            else:
                names = [f"{self.label}: {row.name}" for row in rows]
            return _rename_rows(results, rows, names)
        return replace(results, systems=rows)


def _rename_rows(
    results: SharedResults, rows: Iterable[Row], names: Sequence[str]
) -> SharedResults:
    """Return the results with only these rows, under these names."""
    renamed = tuple(replace(row, label=name) for row, name in zip(rows, names, strict=True))
    return replace(results, systems=renamed)


def _parse_argument(text: str) -> _SystemArgument:
    """Parse a system argument, with or without ``NAME=``: a record, or whatever ``-s`` of
    ``run`` takes.
    """
    from classic_rc.systems import System, parse_system, split_name, split_record

    name, spec = split_name(text)
    if (record := split_record(spec)) is not None:
        return _SystemArgument(text, System(path=record[0], name=name), record[1])
    if spec and Path(spec).is_dir():
        raise DataError(
            "no run record in this folder",
            source=spec,
            hint="`classic-rc run --save DIR` writes one",
        )
    return _SystemArgument(text, replace(parse_system(spec or text), name=name))


def _parse_arguments(texts: Sequence[str]) -> list[_SystemArgument]:
    """Parse system arguments; solvers and files of predictions get the names that they have in
    ``run``.
    """
    from classic_rc.systems import name_systems

    systems = [_parse_argument(text) for text in texts]
    nameable = [system for system in systems if system.name is not None or system.record is None]
    with_names = iter(name_systems([system.system for system in nameable]))
    return [
        replace(system, system=next(with_names)) if system in nameable else system
        for system in systems
    ]


def _add_baseline(
    systems: list[_SystemArgument], baseline: str
) -> tuple[list[_SystemArgument], str]:
    """Return the systems, with the baseline among them, and the name of its row.

    The baseline is the name of a row, one of the arguments, or, if all systems are solvers and
    files of predictions, one more of them.
    """
    from classic_rc.systems import find_baseline

    if any(system.record is not None for system in systems):
        argument = next(
            (system for system in systems if baseline in (system.name, system.text)), None
        )
        return systems, baseline if argument is None or argument.name is None else argument.name
    all_systems, name = find_baseline([system.system for system in systems], baseline)
    added = [_SystemArgument(baseline, system) for system in all_systems[len(systems) :]]
    return [*systems, *added], name


def _iter_shared_results(
    args: argparse.Namespace,
    systems: Sequence[_SystemArgument],
    failures: Failures,
    explainers: Explainers,
) -> Iterator[tuple[SharedResults, Row | None]]:
    """Yield, for each dataset that all systems answered, the results and the row of `random` (None
    if unknown).

    Solvers and predictions answer the questions of ``--data``. `failures` gets the systems that
    fail, and `explainers` the solvers.
    """
    from classic_rc.results.outcomes import Row
    from classic_rc.running.evaluate import evaluate
    from classic_rc.solvers.trivial import Random

    dataset = _read_questions(args, systems)
    answered = list(_evaluate_systems(args, systems, dataset, failures, explainers))
    if not answered:
        return
    chance: dict[str, Row] = {}
    for _, system_results in answered:
        for fingerprint, results in system_results.items():
            chance.update((fingerprint, row) for row in results.systems if row.is_chance)
    if dataset is not None:
        protocol = inputs.protocol_for(Protocol(metrics=args.metrics), args.data)
        (chance[dataset.fingerprint],) = evaluate(dataset, [Random()], protocol).rows
    labels = [system.label for system, _ in answered]
    by_system = [
        {fingerprint: system.rows_of(results) for fingerprint, results in system_results.items()}
        for system, system_results in answered
    ]
    for fingerprint in _shared_fingerprints(args, by_system):
        shared = [system_results[fingerprint] for system_results in by_system]
        results = _join_with_unique_names(labels, shared, args.by if dataset is None else ())
        run_of = {
            str(system.name): system.system.row for system in systems if system.name is not None
        }
        groupings = results.groupings if args.by else {}
        if dataset is not None:
            results = replace(results, read=lambda: dataset)
            groupings = {
                grouping.key: grouping.masks
                for grouping in inputs.read_groups(args, dataset).groupings
            }
        results = replace(
            results, systems=Row.join_renamed(results.systems, run_of), groupings=groupings
        )
        if args.group is not None and dataset is not None:
            from classic_rc.folds import passage_groups

            find_groups = partial(passage_groups, dataset, args.group)
            results = replace(results, find_groups=find_groups, group=args.group)
        yield results, chance.get(fingerprint)


def _read_questions(args: argparse.Namespace, systems: Sequence[_SystemArgument]) -> Dataset | None:
    """Read the questions of ``--data``; return None if only run records are compared."""
    if args.data is not None:
        return inputs.load_dataset(args, args.data)
    for system in systems:
        if system.record is None:
            kind = "not a run record" if system.path is not None else "a solver"
            raise UsageError(
                f"{system.path or system.text} is {kind}: name the questions that it answers with "
                "--data DATA",
                field="--data",
            )
    if args.group is not None:
        raise UsageError(
            "--group needs the questions, and run records do not have them: add --data DATA",
            field="--group",
        )
    return None


def _evaluate_systems(
    args: argparse.Namespace,
    systems: Sequence[_SystemArgument],
    dataset: Dataset | None,
    failures: Failures,
    explainers: Explainers,
) -> Iterator[tuple[_SystemArgument, Mapping[str, SharedResults]]]:
    """Yield the results of each system, by dataset fingerprint; one that fails is left out."""
    from classic_rc.results.record_reading import read_results
    from classic_rc.running.evaluate import evaluate
    from classic_rc.running.restored_record import restore_record

    # of the differences, not of each system
    protocol = replace(inputs.read_protocol(args), intervals=None)
    protocol = protocol if args.data is None else inputs.protocol_for(protocol, args.data)
    for system in systems:
        record = system.record
        if record is not None:
            recorded = {results.fingerprint: results for results in read_results(record)}
            if not recorded:
                raise DataError("the record has no runs", source=str(record), field="runs")
            if args.examples:
                with suppress(ClassicRCError):  # its data has changed, or its code is a user's own
                    for run in restore_record(record).runs:
                        _add_explainers(explainers, run.dataset, run.systems, run.protocol)
            yield system, recorded
            continue
        assert dataset is not None  # _read_questions() raises if a system needs it
        try:
            evaluation = evaluate(
                dataset,
                [system.system],
                protocol,
                jobs=args.jobs,
                progress=inputs.shows_progress(args),
            )
        except SystemFailedError as error:
            failures.add(error)
            continue
        inputs.report_notes(args, "warning", evaluation.warnings)
        results = evaluation.results
        _add_explainers(explainers, dataset, [system.system], protocol)
        yield system, {results.fingerprint: results}


def _add_explainers(
    explainers: Explainers, dataset: Dataset, systems: Sequence[System], protocol: Protocol
) -> None:
    """Add the explainers of the solvers among the systems; one that learns does so on first use."""
    from classic_rc.running.explain import Explainer
    from classic_rc.running.plan import add_span_candidates

    questions = add_span_candidates(dataset, protocol.spans)
    for system in systems:
        if system.solver is not None:
            make_explainer = partial(Explainer, system, questions, protocol)
            explainers[dataset.fingerprint, str(system.name)] = cache(make_explainer)


def _shared_fingerprints(
    args: argparse.Namespace, by_system: Sequence[Mapping[str, SharedResults]]
) -> list[str]:
    """Return the fingerprints of the datasets that all systems answered."""
    from classic_rc.results.shared_results import join_results

    first, *others = by_system
    shared = [
        fingerprint
        for fingerprint in first
        if all(fingerprint in dataset_results for dataset_results in others)
    ]
    if not shared:
        fingerprint, results = next(iter(first.items()))
        without = [system_results for system_results in others if fingerprint not in system_results]
        # always raises: its error describes how the questions differ
        join_results([results, *(next(iter(results_of.values())) for results_of in without)])
    labels = {}
    for system_results in by_system:
        for fingerprint, results in system_results.items():
            if fingerprint not in shared:
                labels[fingerprint] = results.label
    notes = [
        f"{label} is left out: not all systems have answers for it" for label in labels.values()
    ]
    inputs.report_notes(args, "warning", notes)
    return shared


def _join_with_unique_names(
    labels: Sequence[str], results_of_systems: Sequence[SharedResults], keys: Sequence[str]
) -> SharedResults:
    """Join results; rows that share a name get the label of their source, and a number if they
    still do.
    """
    from classic_rc.results.shared_results import join_results

    results = join_results(results_of_systems, keys)
    names = [row.name for row in results.systems]
    names_with_labels = []
    for label, system_results in zip(labels, results_of_systems, strict=True):
        for row in system_results.systems:
            is_shared = names.count(row.name) > 1
            names_with_labels.append(f"{label}: {row.name}" if is_shared else row.name)
    unique_names = []
    for i, name in enumerate(names_with_labels):
        if names_with_labels.count(name) > 1:
            name = f"{name} ({names_with_labels[: i + 1].count(name)})"
        unique_names.append(name)
    return _rename_rows(results, results.systems, unique_names)


def _read_again(args: argparse.Namespace, results: SharedResults) -> Dataset | None:
    """Return the questions of results; None, with a warning, if they cannot be read."""
    with suppress(ClassicRCError, TypeError):  # an older version had other options
        dataset = results.read and results.read()
        if dataset and dataset.fingerprint == results.fingerprint:
            return dataset
    inputs.report_notes(
        args,
        "warning",
        ["no examples, because the questions cannot be read: add --data DATA"],
        results.dataset,
    )
    return None
