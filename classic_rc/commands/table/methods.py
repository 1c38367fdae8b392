"""What a paper says about its methods: a table of settings, and short statements, each from fields
of the records.

Nothing is said of a dataset or a system that its own record does not say. Statements that are the
same for several datasets are one sentence that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from classic_rc.commands.table.data import PaperDataset
from classic_rc.commands.table.formats import lacking_notes, run_notes
from classic_rc.commands.table.model import PaperTable
from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import READERS
from classic_rc.io.text import printable
from classic_rc.metrics.base import METRICS, Metric
from classic_rc.reports.references import citables, citation_text, references
from classic_rc.results.grouping import group_without_copies
from classic_rc.results.mean_intervals import PRIOR_CORRELATION, PRIOR_ERRORS
from classic_rc.results.outcomes import Block, Row
from classic_rc.results.resampling import ALPHA, is_mean
from classic_rc.results.signature import Signature
from classic_rc.results.significance import family_pairs
from classic_rc.solvers.score_file import ScoreFile
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.latex import latex_caption, render_latex
from classic_rc.tables.markup import markdown_escape
from classic_rc.tables.model import IntervalStyle, format_count, join_words
from classic_rc.text.scorers import DEFAULT_SCORER, SCORERS

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the keys of citations in a sentence, until it is escaped for its format."""
_CITATION = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")

_TIES = {
    "partial": "if several candidates share the best score, each gets an equal part of the credit",
    "first": "if several candidates share the best score, the first of them is the answer",
    "random": "if several candidates share the best score, one of them is drawn with a fixed seed",
    "strict": "if several candidates share the best score, the question counts as wrong",
}
_OF_COUNTS = re.compile(r"could not be parsed and count as wrong|have no answer and score 0")
"""The remarks on a file whose numbers are in :class:`classic_rc.predictions.AnswerCounts`."""
_PERCENTAGE = re.compile(r"(?<![<=] )(?<![\d.])\d+\.\d\d(?![\d.%])")
_PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}


def methods_text(
    table: PaperTable, form: str = "latex", intervals: IntervalStyle = "lines", results: str = ""
) -> tuple[str, str]:
    r"""Return a paragraph on methods, the table of results and that of settings, and the BibTeX
    entries that the paragraph cites.

    Parameters
    ----------
    table : PaperTable
        Its shown datasets and systems are described.
    form : {"latex", "markdown", "table"}
        With ``\citep``, or with authors and years; ``"table"`` is plain text.
    intervals : {"lines", "pm", "none"}
        How the table shows intervals; with ``"none"`` no sentence explains them.
    results : str
        The table of results as text, if it is to come before that of settings.

    Returns
    -------
    text, bibtex : str
        Each ends with a line break.
    """
    statements = method_statements(table, intervals)
    sentences = " ".join(printable(_sentence(table, *labelled)) for labelled in statements)
    # Every second part is the keys of a citation, which are not escaped.
    parts = _CITATION.split(sentences)
    escape = {"latex": latex_caption, "markdown": markdown_escape}.get(form, str)
    cite = _citep if form == "latex" else _authors_and_years
    pieces = []
    keys: dict[str, None] = {}
    for i, part in enumerate(parts):
        if i % 2:
            cited_keys = part.split(",")
            keys |= dict.fromkeys(cited_keys)
            pieces.append(cite(cited_keys))
        else:
            pieces.append(escape(part))
    settings = settings_table(table)
    below = (
        render_latex(settings, label="tab:settings") if form == "latex" else render(settings, form)
    )
    text = "\n\n".join(filter(None, ("".join(pieces), results.rstrip("\n"), below)))
    return text, "\n\n".join(references()[key] for key in keys) + "\n"


def _sentence(table: PaperTable, labels: Sequence[str], statement: str) -> str:
    is_everywhere = len(labels) == len(table.shown_datasets)
    names_dataset = (
        statement.startswith(f"{labels[0]} ") or f"questions of {labels[0]}" in statement
    )
    if not (is_everywhere or names_dataset):
        return f"On {join_words(labels)}, {statement}."
    # a name stays as it is
    if statement.startswith((labels[0], *(row.name for row in table.rows))):
        return f"{statement}."
    return f"{statement[:1].upper()}{statement[1:]}."


def _citep(keys: list[str]) -> str:
    return rf"~\citep{{{','.join(keys)}}}"


def _authors_and_years(keys: list[str]) -> str:
    return f" ({'; '.join(map(citation_text, keys))})"


# --------------------------------------------------------------------------------------------------
# Statements


def method_statements(
    table: PaperTable, intervals: IntervalStyle = "lines"
) -> list[tuple[list[str], str]]:
    """Return what is done, each statement with the names of the datasets whose records say so.

    Statements have no full stop; the keys of their citations are between private characters.
    """
    all_labels = [dataset.label for dataset in table.shown_datasets]
    labels_of_statement: dict[str, list[str]] = {}

    def collect(*makes: Callable[[PaperTable, PaperDataset], Iterator[str]]) -> None:
        for make in makes:
            for dataset in table.shown_datasets:
                for statement in make(table, dataset):
                    labels = labels_of_statement.setdefault(statement, [])
                    labels += [dataset.label] if dataset.label not in labels else []

    collect(_data)
    labels_of_statement |= dict.fromkeys(_sources(table, intervals), all_labels)
    labels_of_statement |= dict.fromkeys(_files(table), all_labels)
    collect(_decisions, _metrics)
    labels_of_statement |= dict.fromkeys(run_notes(table, "none"), all_labels)
    collect(_copies)
    if intervals != "none":
        collect(_intervals)
    columns = {column.dataset for column in table.columns if column.is_tested}
    tested = [dataset for dataset in table.shown_datasets if dataset.label in columns]
    if tested:
        labels = [dataset.label for dataset in tested]
        labels_of_statement |= dict.fromkeys(_tests(table, tested), labels)
    labels_of_statement |= dict.fromkeys(lacking_notes(table), all_labels)
    collect(_remarks, _software)
    if any(row.block is Block.PUBLISHED and row.cites for row in table.rows):
        statement = "published results are as printed and are not part of any comparison"
        labels_of_statement[statement] = all_labels
    given_rows = [row for row in table.rows if row.is_given]
    given_systems = [row.name for row in given_rows if not any(cell.sample for cell in row.cells)]
    if given_systems:
        statement = f"the numbers of {join_words(given_systems)} are given and not measured here"
        labels_of_statement[statement] = all_labels
    return [(labels, statement) for statement, labels in labels_of_statement.items()]


def _systems(table: PaperTable, dataset: PaperDataset) -> list[Row]:
    """Return a dataset's systems that the table shows."""
    table_names = {row.name for row in table.rows if row.block is not Block.PUBLISHED}
    return [system for system in dataset.results.systems if system.name in table_names]


def _fact(dataset: PaperDataset, *path: str) -> Any:
    """Return a recorded value, or None: records of other versions may lack some."""
    value: Any = dataset.results.facts
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _data(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    passages = _fact(dataset, "dataset", "passages")
    size = format_count(dataset.results.n_questions, "question")
    size += f" about {format_count(passages, 'passage')}" if isinstance(passages, int) else ""
    split = f" (split {dataset.split})" if dataset.split else ""
    yield f"{dataset.label}{split} has {size}"


def _cited(table: PaperTable, intervals: IntervalStyle) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield data, solvers, metrics and published results with the keys of their references."""
    datasets = table.shown_datasets
    for dataset in datasets:
        reader = READERS.get(str(_fact(dataset, "dataset", "reader")))
        if reader is not None and reader.is_dataset and not reader.is_log:
            # Only official files are certain to be the cited data; others may be anyone's in their
            # format.
            is_official = dataset.results.fingerprint in FINGERPRINTS
            yield dataset.label if is_official else f"the format of {reader.title}", reader.cites
    systems = [system for dataset in datasets for system in _systems(table, dataset)]
    cites_of_solver = {citable.name: citable.cites for citable in citables()}
    for system in systems:
        yield system.kind, cites_of_solver.get(system.kind, ())
    for column in table.columns:
        yield _metric_name(column.metric), column.metric.cites
    has_intervals = intervals != "none" and any(dataset.results.resampling for dataset in datasets)
    if has_intervals and any(is_mean(column.metric) for column in table.columns):
        yield "intervals of means", ["korn1998", "kish1965"]
    if intervals != "none" and any(system.runs > 1 for system in systems):
        yield "intervals over runs", ["satterthwaite1946"]
    for row in table.rows:
        yield row.name, filter(None, [row.cites])


def _sources(table: PaperTable, intervals: IntervalStyle) -> Iterator[str]:
    """Yield the works of others, each once with all that follows it."""
    things: dict[str, dict[str, None]] = {}
    for name, keys in _cited(table, intervals):
        for key in keys:
            if key in references() and key != "classic_rc":
                things.setdefault(key, {})[name] = None
    keys_of: dict[str, list[str]] = {}
    for key, names in things.items():
        keys_of.setdefault(join_words(list(names)), []).append(key)
    sources = []
    for names_of_things, keys_of_things in keys_of.items():
        sources.append(f"{names_of_things}{_OPEN}{','.join(keys_of_things)}{_CLOSE}")
    if sources:
        yield f"sources of data, solvers and metrics: {'; '.join(sources)}"


def _files(table: PaperTable) -> Iterator[str]:
    """Yield which systems are files, and what their suites note of systems."""
    files: dict[str, None] = {}
    notes: dict[str, None] = {}
    for dataset in table.shown_datasets:
        systems, recorded = _systems(table, dataset), _recorded_names(dataset)
        files |= {system.name: None for system in systems if system.solver == ScoreFile.name}
        for entry in dataset.results.facts["systems"]:
            system = recorded.get(entry["name"])
            if entry.get("note") and system in systems:
                notes[f"{system.name}: {entry['note'].rstrip('.')}"] = None
    if files:
        yield f"the predictions of {join_words(list(files))} are read from files"
    yield from notes


def _decisions(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    systems = _systems(table, dataset)
    for policy, meaning in _TIES.items():
        names = [system.name for system in systems if system.ties == policy]
        if names:
            only = {system.ties for system in systems} - {None} == {policy}
            yield meaning + ("" if only else f" ({join_words(names)})")
    for system in systems:
        if system.expected:
            yield (
                f"the result of {system.name} is an expectation over all random draws, in closed "
                "form"
            )
    if any("|folds:near" in system.signature for system in systems):
        yield "folds keep equal and nearly equal passages together"


def _metric_name(metric: Metric) -> str:
    return "accuracy" if metric.name == "accuracy" else metric.label


def _metrics(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    metrics = (column.metric for column in table.columns if column.dataset == dataset.label)
    labels = dict.fromkeys(map(_metric_name, metrics))
    yield f"we report {join_words(list(labels))}, in percent"
    scorers = _fact(dataset, "dataset", "scorers") or []
    if scorers and scorers != [DEFAULT_SCORER]:
        rules = join_words([f"{name} ({SCORERS[name].source})" for name in scorers])
        why = (
            ", proposed by the script of the passages because the data is not known to have one"
            if _fact(dataset, "dataset", "scorers_proposed")
            else ""
        )
        yield f"answers are compared with gold by the rules of the scorer {rules}{why}"


def _units(dataset: PaperDataset) -> str:
    key = dataset.results.group
    return (
        "whole passages" if key is None else f"whole passages, grouped by {key} where it is known"
    )


def _intervals(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    if (resampling := dataset.results.resampling) is not None:
        metrics = {column.metric for column in table.columns if column.dataset == dataset.label}
        level, units = f"{100 * resampling.level:g}%", _units(dataset)
        if any(map(is_mean, metrics)):
            yield (
                f"intervals are the exact {level} binomial bounds at the effective sample size of "
                f"{units}, whose design effect is estimated with {PRIOR_ERRORS:g} errors of an "
                f"intra-class correlation of {PRIOR_CORRELATION:g} added"
            )
        if ratios := sorted(metric.label for metric in metrics if not is_mean(metric)):
            yield (
                f"the intervals of {join_words(ratios)} are {level} percentile intervals "
                f"from {resampling.n:,} bootstrap resamples of {units} (seed {resampling.seed})"
            )
        if repeated := [system.name for system in _systems(table, dataset) if system.runs > 1]:
            yield (
                f"the intervals of {join_words(repeated)} are of both sources, passages and runs: "
                "their variance is V + S/k, where V is the variance over passages and S that of "
                "the k runs, with Satterthwaite's degrees of freedom"
            )
    for row in table.rows:
        row_cells = zip(table.columns, row.cells, strict=True)
        if any(
            cell.sample and cell.interval and column.dataset == dataset.label
            for column, cell in row_cells
        ):
            yield (
                f"the intervals of {row.name} are 95% intervals of the same kind from its own "
                "passages"
            )


def _tests(table: PaperTable, datasets: Sequence[PaperDataset]) -> Iterator[str]:
    """Yield how systems are tested, on all datasets at once."""
    tested = [column for column in table.columns if column.is_tested]
    metrics = {column.dataset: _metric_name(column.metric) for column in tested}
    permutations, counts = [], []
    for dataset in datasets:
        assert dataset.results.tests is not None
        n, seed = dataset.results.tests.n, dataset.results.tests.seed
        permutations.append(f"{n:,} random permutations with seed {seed}")
        n_tests = len(family_pairs(dataset.results.names, table.baselines))
        has_copies = any(system.copied is not None for system in dataset.results.systems)
        at_most = "at most " if has_copies else ""
        counts.append(at_most + format_count(n_tests, "comparison"))
    mark = (
        "superscripts mark systems that are significantly better than"
        if table.has_letters
        else "an asterisk marks a system that differs significantly from"
    )
    labels = list(metrics)
    tested_metrics = _by_dataset(labels, metrics.values())
    units = _by_dataset(labels, map(_units, datasets))
    drawn = _by_dataset(labels, permutations)
    yield (
        f"{mark} {join_words(table.baselines)} in {tested_metrics} at p < {ALPHA:g}: two-sided "
        f"paired permutation tests that swap {units} between two systems (exact, or {drawn} if "
        f"there are more), with Holm's correction for {_by_dataset(labels, counts)}"
    )
    if any(system.runs > 1 for dataset in datasets for system in _systems(table, dataset)):
        yield "tests compare the mean outcomes of several runs"
    if any(column.group is not None for column in tested):
        yield "each group of questions is a family of tests of its own"
    if any(not column.is_tested for column in table.columns if column.dataset in metrics):
        yield "other metrics are not tested"


def _by_dataset(labels: Sequence[str], texts: Iterable[str]) -> str:
    """Return what is said of datasets, with their names if it differs."""
    labels_of: dict[str, list[str]] = {}
    for label, text in zip(labels, texts, strict=True):
        labels_of.setdefault(text, []).append(label)
    if len(labels_of) == 1:
        return next(iter(labels_of))
    return join_words(
        [f"{text} on {join_words(dataset_labels)}" for text, dataset_labels in labels_of.items()]
    )


def _copies(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    """Yield which systems learned from some of the questions, and where they are compared."""
    learned = [system for system in _systems(table, dataset) if system.copied is not None]
    for system in learned:
        assert system.copied is not None
        n_copied, n = system.copied.sum(), len(system.copied)
        yield (
            f"{system.name} learned from {n_copied:,} of the {n:,} questions of {dataset.label} "
            "(same passage or question)"
        )
    if learned:
        for mask in group_without_copies(dataset.results.systems).values():
            yield (
                f"{mask.sum():,} questions of {dataset.label} are without copies: no system "
                "learned from them or their passages"
            )
        yield "no system is ranked or tested on questions that it learned from"


def _remarks(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    """Yield what the record says about answers, data and systems, in its own words."""
    systems = _systems(table, dataset)
    shorten = _shortener(table, dataset)
    for system in systems:
        if approximated := Signature.parse(system.signature).parts.get("approximated"):
            parts = approximated.split(" + ")
            yield f"{system.name} approximates what its source annotated: {join_words(parts)}"
        caveats = map(shorten, _texts(system.caveats))
        yield from (f"{system.name}: {caveat}" for caveat in caveats)
    # What the record says of a system starts with its recorded name, and of a file also with its
    # path.
    new = _recorded_names(dataset)
    remarks = (
        text for key in ("warnings", "notes") for text in _texts(_fact(dataset, "dataset", key))
    )
    for remark in map(shorten, remarks):
        former = next((name for name in new if remark.startswith(f"{name}: ")), None)
        if former is None:
            yield remark
        elif any(system is new[former] for system in systems):
            about, path = remark.removeprefix(f"{former}: "), new[former].params.get("path")
            paths = [f"{file_path}: " for file_path in (path if isinstance(path, list) else [path])]
            file = next(filter(about.startswith, paths), "")
            about = about.removeprefix(file)
            is_counted = file and new[former].answers and _OF_COUNTS.search(about)
            if not is_counted:
                yield f"{new[former].name}: {about}"


def _shortener(table: PaperTable, dataset: PaperDataset) -> Callable[[str], str]:
    """Return what gives the percentages of a remark, which have two digits, those of the table."""
    values = [value for system in dataset.results.systems for value in system.metrics().values()]
    # Rounding the two digits again could differ from the table, which rounds the number itself.
    exact = {f"{100 * value:.2f}": 100 * value for value in values}
    digits = min(table.decimals, 2)

    def shorten(match: re.Match[str]) -> str:
        number = exact.get(match[0], Decimal(match[0]))
        return f"{number:.{digits}f}"

    return lambda text: _PERCENTAGE.sub(shorten, text)


def _recorded_names(dataset: PaperDataset) -> dict[str, Row]:
    """Return the systems by the names that their record has for them, and for their runs."""
    by_name = {system.name: system for system in dataset.results.systems}
    names = {old: by_name[new] for old, new in dataset.new_names.items()}
    for entry in dataset.results.facts["systems"]:
        if entry.get("run_of") in names:
            names[entry["name"]] = names[entry["run_of"]]
    return names


def _texts(values: Any) -> list[str]:
    return [value.rstrip(".") for value in values or () if isinstance(value, str)]


def _software(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    packages = {
        name: _fact(dataset, "environment", "packages", key) for key, name in _PACKAGES.items()
    }
    python = _fact(dataset, "environment", "python")
    versions = {"classic_rc": _fact(dataset, "version"), "Python": python, **packages}
    used = [f"{name} {version}" for name, version in versions.items() if version]
    if used:
        yield f"the runs used {join_words(used)}{_OPEN}classic_rc{_CLOSE}"


# --------------------------------------------------------------------------------------------------
# Settings


def settings_table(table: PaperTable) -> Table:
    """Return a row for each system and the datasets on which it has the same settings.

    Columns: system, datasets, solver, the settings that its signature names, what it is trained and
    tuned on.
    """
    sources = _known_sources(table.shown_datasets)
    rows: dict[tuple[str, ...], list[str]] = {}
    for dataset in table.shown_datasets:
        for system in _systems(table, dataset):
            kind = "file" if system.solver == ScoreFile.name else system.kind
            tuning_sources = sources
            if system.tuned_here:
                tuning_sources = {**sources, str(system.tuned_on): dataset.title}
            trained, tuned = _learned(system.trained_on, sources), _tuned(system, tuning_sources)
            settings = (system.name, kind, _changed(system), trained, tuned)
            rows.setdefault(settings, []).append(dataset.label)
    all_labels = [dataset.label for dataset in table.shown_datasets]
    order = {row.name: i for i, row in enumerate(table.rows)}
    columns = ("System", "Datasets", "Solver", "Settings", "Trained", "Tuned")
    body = []
    for name, *cells in sorted(rows, key=lambda settings: order[settings[0]]):
        labels = rows[name, *cells]
        shown_labels = "all" if labels == all_labels else join_words(labels)
        body.append([name, shown_labels, *(cell or None for cell in cells)])
    return Table("Settings of the systems", [Column(name) for name in columns], [RowGroup(body)])


def _changed(system: Row) -> str:
    """Return the parameters that the signature names, and a threshold that is fixed."""
    parts, threshold = Signature.parse(system.signature).parts, system.threshold
    changed = [f"{key}={value}" for key, value in parts.items() if key in system.params]
    if system.answers:
        changed += [f"model {model}" for model in system.answers.models]
    if threshold is not None and not isinstance(threshold, list) and system.tuned_on is None:
        changed.append(f"score > {threshold:g}")
    return ", ".join(changed)


def _tuned(system: Row, sources: Mapping[str, str]) -> str:
    """Return what was tuned, for which metric, and on what."""
    if system.tuned_on is None:
        return ""
    tuned = []
    for key, value in system.tuned_params.items():
        shown = list(value) if isinstance(value, tuple) else value
        tuned.append(f"{key}={shown}")
    if system.threshold is not None:
        tuned.append("threshold")
    match = re.search(r"\|tuned_for:(\w+)", system.signature)
    metric = METRICS.get(match[1]) if match else None
    goal = "" if metric is None else f" for {metric.label}"
    here = ", the data that it reports†" if system.tuned_here else ""
    return f"{', '.join(tuned) or 'parameters'}{goal} {_learned(system.tuned_on, sources)}{here}"


def _learned(source: str | None, sources: Mapping[str, str]) -> str:
    """Return what was learned or tuned on, in words."""
    if source is None:
        return ""
    if source in sources:
        return f"on {sources[source]}"
    first, *others = source.split(" + ")
    folds = re.fullmatch(r"cv(\d+)", first)
    steps = [f"by {folds[1]}-fold cross-validation"] if folds else []
    names = [sources.get(name, name) for name in (others if folds else (first, *others))]
    return ", and ".join(steps + ([f"on {' + '.join(names)}"] if names else []))


def _known_sources(datasets: Sequence[PaperDataset]) -> dict[str, str]:
    """Return the table's names of the data that the records name: what they report, train and
    tune on.
    """
    titles = {}
    for dataset in datasets:
        titles[dataset.results.dataset] = dataset.title
        for role in ("train", "tune"):
            name, fingerprint = (
                _fact(dataset, "protocol", role, key) for key in ("name", "fingerprint")
            )
            if (
                isinstance(name, str)
                and isinstance(fingerprint, str)
                and fingerprint in FINGERPRINTS
            ):
                titles.setdefault(name, " ".join(FINGERPRINTS[fingerprint]))
    return titles
