"""What a paper says about its methods: a table of settings, and short statements, each from fields
of the records.

Nothing is said of a dataset or a system that its own record does not say. Statements that are the
same for several datasets are one sentence that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from classic_rc.commands.table.data import PaperDataset
from classic_rc.commands.table.model import PaperTable
from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import READERS
from classic_rc.io.text import printable
from classic_rc.metrics.base import METRICS
from classic_rc.reports.references import citation_text, find_citable, references
from classic_rc.results.mean_intervals import PRIOR_CORRELATION, PRIOR_ERRORS
from classic_rc.results.outcomes import Block, Row
from classic_rc.results.resampling import ALPHA, is_mean
from classic_rc.results.signature import Signature
from classic_rc.results.significance import family_pairs
from classic_rc.solvers.registry import SOLVERS
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.latex import latex_caption, render_latex
from classic_rc.tables.markup import markdown_escape
from classic_rc.tables.model import IntervalStyle, format_count, join_words

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
_PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}


def methods_text(
    table: PaperTable, form: str = "latex", intervals: IntervalStyle = "lines"
) -> tuple[str, str]:
    r"""Return a paragraph on methods with the table of settings, and the BibTeX entries that it
    cites.

    Parameters
    ----------
    table : PaperTable
        Its shown datasets and systems are described.
    form : {"latex", "markdown", "table"}
        With ``\citep``, or with authors and years; ``"table"`` is plain text.
    intervals : {"lines", "pm", "none"}
        How the table shows intervals; with ``"none"`` no sentence is about them.

    Returns
    -------
    text, bibtex : str
        Each ends with a line break.
    """
    sentences = [printable(_sentence(table, *made)) for made in method_statements(table, intervals)]
    keys = dict.fromkeys(
        key for text in sentences for group in _CITATION.findall(text) for key in group.split(",")
    )
    escape = {"latex": latex_caption, "markdown": markdown_escape}.get(form, str)
    cite: Callable[[list[str]], str] = _citep if form == "latex" else _authors_and_years
    shown = []
    for text in sentences:
        # Every second part is the keys of a citation, which are not escaped.
        parts = _CITATION.split(text)
        shown.append(
            "".join(
                cite(part.split(",")) if i % 2 else escape(part) for i, part in enumerate(parts)
            )
        )
    settings = settings_table(table)
    below = (
        render_latex(settings, label="tab:settings") if form == "latex" else render(settings, form)
    )
    return f"{' '.join(shown)}\n\n{below}", "\n\n".join(references()[key] for key in keys) + "\n"


def _sentence(table: PaperTable, labels: Sequence[str], statement: str) -> str:
    # a name stays as it is
    if statement.startswith((labels[0], *(row.name for row in table.rows))):
        return (
            f"{statement}."
            if len(labels) == len(table.shown_datasets)
            else f"On {join_words(labels)}, {statement}."
        )
    if len(labels) < len(table.shown_datasets):
        return f"On {join_words(labels)}, {statement}."
    return f"{statement[:1].upper()}{statement[1:]}."


def _citep(keys: list[str]) -> str:
    return rf"~\citep{{{','.join(keys)}}}"


def _authors_and_years(keys: list[str]) -> str:
    return f" ({'; '.join(map(citation_text, keys))})"


def _cited(keys: Iterable[str]) -> str:
    """Return a mark for citations of others' work; nothing if there are none."""
    known = [key for key in dict.fromkeys(keys) if key in references() and key != "classic_rc"]
    return f"{_OPEN}{','.join(known)}{_CLOSE}" if known else ""


# --------------------------------------------------------------------------------------------------
# Statements


def method_statements(
    table: PaperTable, intervals: IntervalStyle = "lines"
) -> list[tuple[list[str], str]]:
    """Return what is done, each statement with the names of the datasets whose records say so.

    Statements have no full stop; the keys of their citations are between private characters.
    """
    every = [dataset.label for dataset in table.shown_datasets]
    found = {
        statement: [dataset.label]
        for dataset in table.shown_datasets
        for statement in _data(dataset)
    }
    found |= dict.fromkeys(_sources(table), every)
    for make in (_decisions, _metrics, _runs, _copies, _intervals, _tests, _remarks, _software):
        if make is _intervals and intervals == "none":
            continue
        for dataset in table.shown_datasets:
            for statement in make(table, dataset):
                labels = found.setdefault(statement, [])
                labels += [dataset.label] if dataset.label not in labels else []
    made = [(labels, statement) for statement, labels in found.items()]
    cites = [row.cites for row in table.rows if row.block is Block.PUBLISHED and row.cites]
    if cites:
        made.append(
            (
                every,
                f"published results are as printed{_cited(cites)} and are not part of any "
                "comparison",
            )
        )
    given = [
        row.name
        for row in table.rows
        if row.is_given and not any(cell.sample for cell in row.cells)
    ]
    if given:
        made.append((every, f"the numbers of {join_words(given)} are given and not measured here"))
    return made


def _systems(table: PaperTable, dataset: PaperDataset) -> list[Row]:
    """Return a dataset's systems that the table shows."""
    shown = {row.name for row in table.rows if row.block is not Block.PUBLISHED}
    return [system for system in dataset.results.systems if system.name in shown]


def _fact(dataset: PaperDataset, *path: str) -> Any:
    """Return a recorded value, or None: records of other versions may lack some."""
    value: Any = dataset.results.facts
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _data(dataset: PaperDataset) -> Iterator[str]:
    passages, reader = _fact(dataset, "dataset", "passages"), _fact(dataset, "dataset", "reader")
    size = format_count(len(dataset.results.groups), "question")
    size += f" about {format_count(passages, 'passage')}" if isinstance(passages, int) else ""
    split = f" (split {dataset.split})" if dataset.split else ""
    source = ""
    if (
        isinstance(reader, str)
        and reader in READERS
        and READERS[reader].is_dataset
        and not READERS[reader].is_log
    ):
        # Only official files are certain to be the cited data; others may be anyone's in their
        # format.
        is_official = dataset.results.fingerprint in FINGERPRINTS
        source = _cited(READERS[reader].cites)
        source = (
            source
            if is_official or not source
            else f" in the format of {READERS[reader].title}{source}"
        )
    yield f"{dataset.label}{split} has {size}{source}"


def _kind(system: Row) -> str:
    return system.solver if system.variant is None else f"{system.solver}:{system.variant}"


def _sources(table: PaperTable) -> Iterator[str]:
    """Yield what the solvers follow, if it is others' work."""
    systems = [system for dataset in table.shown_datasets for system in _systems(table, dataset)]
    parts = []
    for kind in dict.fromkeys(map(_kind, systems)):
        name, _, variant = kind.partition(":")
        if name in SOLVERS and (not variant or variant in SOLVERS[name].variants):
            citable = find_citable(kind)[0]
            cited = _cited(citable.cites)
            parts += [f"{kind}, {citable.citation}{cited}"] if cited else []
    if parts:
        yield f"the solvers are implemented in this package after these sources: {'; '.join(parts)}"


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


def _metrics(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    metrics = dict.fromkeys(
        column.metric for column in table.columns if column.dataset == dataset.label
    )
    labels = ["accuracy" if metric.name == "accuracy" else metric.label for metric in metrics]
    yield (
        "we report "
        f"{join_words(labels)}{_cited(key for metric in metrics for key in metric.cites)}, in "
        "percent"
    )


def _units(dataset: PaperDataset) -> str:
    key = dataset.results.group
    return (
        "whole passages" if key is None else f"whole passages, grouped by {key} where it is known"
    )


def _intervals(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    if (made := dataset.resampling) is not None:
        if several := [system.name for system in _systems(table, dataset) if system.runs > 1]:
            sentence = (
                f"the intervals of {join_words(several)} are of both sources, passages and runs: "
                "their variance is V + S/k, where V is the variance over passages and S that of "
                "the k runs, with Satterthwaite's degrees of freedom"
                f"{_cited(['satterthwaite1946'])}"
            )
        metrics = {column.metric for column in table.columns if column.dataset == dataset.label}
        level, units = f"{100 * made.level:g}%", _units(dataset)
        if any(map(is_mean, metrics)):
            yield (
                f"intervals are the exact {level} binomial bounds at the effective sample size"
                f"{_cited(['korn1998'])} of {units}, whose design effect{_cited(['kish1965'])} is "
                f"estimated with {PRIOR_ERRORS:g} errors of an intra-class correlation of "
                f"{PRIOR_CORRELATION:g} added"
            )
        if ratios := [metric.label for metric in metrics if not is_mean(metric)]:
            yield (
                f"the intervals of {join_words(sorted(ratios))} are {level} percentile intervals "
                f"from {made.n:,} bootstrap resamples of {units} (seed {made.seed})"
            )
        if several:
            yield sentence
    for row in table.rows:
        own = zip(table.columns, row.cells, strict=True)
        if any(
            cell.sample and cell.interval and column.dataset == dataset.label
            for column, cell in own
        ):
            yield (
                f"the intervals of {row.name} are 95% intervals of the same kind from its own "
                "passages"
            )


def _tests(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    columns = [column for column in table.columns if column.dataset == dataset.label]
    tested = [column for column in columns if column.is_tested]
    if not tested or dataset.tests is None:
        return
    if table.has_letters:
        n = format_count(len(family_pairs(dataset.system_names, table.baselines)), "comparison")
        yield (
            "superscripts mark systems that are significantly better than "
            f"{join_words(table.baselines)} at p < {ALPHA:g}: two-sided paired permutation tests "
            f"that swap the outcomes of {_units(dataset)} (exact, or {dataset.tests.n:,} random "
            f"permutations with seed {dataset.tests.seed} if there are more), with Holm's "
            f"correction for {n} in a column"
        )
        return
    yield (
        f"an asterisk marks a system that differs significantly from {table.baselines[0]} at p < "
        f"{ALPHA:g}: a two-sided paired permutation test that swaps the outcomes of "
        f"{_units(dataset)} between the two systems (exact, or {dataset.tests.n:,} random "
        f"permutations with seed {dataset.tests.seed} if there are more)"
    )
    metrics = join_words(list(dict.fromkeys(column.metric_label for column in tested)))
    n = format_count(len(dataset.results.systems) - 1, "comparison")
    most = "at most " if any(of.copied is not None for of in dataset.results.systems) else ""
    yield f"the tested metric is {metrics}, with Holm's correction for {most}{n}"
    if any(column.group is not None for column in tested):
        yield "the systems of each group of questions are a family of their own"
    if len(tested) < len(columns):
        yield "other metrics are not tested"


def _runs(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    """Yield what is said of rows of several runs, and of samples of the questions."""
    for system in _systems(table, dataset):
        if system.runs > 1:
            deviation = 100 * (system.deviation(dataset.primary) or 0)
            yield (
                f"{system.name} is the mean of {system.runs} runs, with a standard deviation of "
                f"{deviation:.2f} in {dataset.primary.label}; tests compare the mean of its "
                "outcomes"
            )
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell.sample and column.dataset == dataset.label and column.group is None:
                yield (
                    f"{row.name} answered a sample of {cell.sample:,} of the "
                    f"{len(dataset.results.groups):,} questions of {dataset.label}, and is not "
                    "compared"
                )
                break


def _copies(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    """Yield which systems learned from some of the questions, and where they are compared."""
    learned = [system for system in _systems(table, dataset) if system.copied is not None]
    for system in learned:
        assert system.copied is not None
        yield (
            f"{system.name} learned from {system.copied.sum():,} of the "
            f"{len(system.copied):,} questions of {dataset.label} (same passage or question)"
        )
    if learned:
        for mask in dataset.results.shown_groups(None).values():
            yield (
                f"{mask.sum():,} questions of {dataset.label} are without copies: no system "
                "learned from them or their passages"
            )
        yield "no system is ranked or tested on questions that it learned from"


def _remarks(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    """Yield what the record says about answers, data and systems, in its own words."""
    systems = _systems(table, dataset)
    lacking = [
        f"{system.name}, {system.answers.note}"
        for system in systems
        if system.answers and system.answers.note
    ]
    if lacking:
        yield f"answers that could not be parsed or are empty count as wrong: {'; '.join(lacking)}"
    for system in systems:
        if approximated := Signature.parse(system.signature).parts.get("approximated"):
            parts = approximated.split(" + ")
            yield f"{system.name} approximates what its source annotated: {join_words(parts)}"
        yield from (f"{system.name}: {caveat}" for caveat in _texts(system.caveats))
    # What the record says of a system starts with its recorded name, and of a file also with its
    # path.
    new = _recorded_names(dataset)
    for remark in (
        text for key in ("warnings", "notes") for text in _texts(_fact(dataset, "dataset", key))
    ):
        former = next((name for name in new if remark.startswith(f"{name}: ")), None)
        if former is None:
            yield remark
        elif any(system is new[former] for system in systems):
            about, paths = remark.removeprefix(f"{former}: "), new[former].params.get("path")
            known = [
                path
                for path in (paths if isinstance(paths, list) else [paths])
                if isinstance(path, str)
            ]
            path = next((path for path in known if about.startswith(f"{path}: ")), None)
            is_file = path is not None
            about = about.removeprefix(f"{path}: ")
            if not (is_file and lacking and _OF_COUNTS.search(about)):
                yield f"{new[former].name}: {about}"


def _recorded_names(dataset: PaperDataset) -> dict[str, Row]:
    """Return the systems by the names that their record has for them, and for their runs."""
    former = {old: new for new, olds in dataset.former_names.items() for old in olds}
    by_name = {system.name: system for system in dataset.results.systems}
    names = {old: by_name[new] for old, new in former.items()}
    names = {
        name: system for name, system in by_name.items() if name not in dataset.former_names
    } | names
    for entry in _fact(dataset, "protocol", "systems") or ():
        if entry.get("run_of") in names:
            names[entry["name"]] = names[entry["run_of"]]
    return names


def _texts(values: Any) -> list[str]:
    return [value.rstrip(".") for value in values or () if isinstance(value, str)]


def _software(table: PaperTable, dataset: PaperDataset) -> Iterator[str]:
    used = [f"classic_rc {version}"] if (version := _fact(dataset, "version")) else []
    python, packages = (
        _fact(dataset, "environment", "python"),
        _fact(dataset, "environment", "packages"),
    )
    used += [f"Python {python}"] if isinstance(python, str) else []
    if isinstance(packages, dict):
        used += [f"{name} {packages[key]}" for key, name in _PACKAGES.items() if packages.get(key)]
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
        own = " ".join(filter(None, (dataset.label, dataset.split)))
        for system in _systems(table, dataset):
            cells = (
                _kind(system),
                _changed(system),
                _learned(system.trained_on, sources),
                _tuned(
                    system, {**sources, str(system.tuned_on): own} if system.tuned_here else sources
                ),
            )
            rows.setdefault((system.name, *cells), []).append(dataset.label)
    every = [dataset.label for dataset in table.shown_datasets]
    order = {row.name: i for i, row in enumerate(table.rows)}
    columns = ("System", "Datasets", "Solver", "Settings", "Trained", "Tuned")
    body = [
        [name, "all" if labels == every else join_words(labels), *(cell or None for cell in cells)]
        for (name, *cells), labels in sorted(rows.items(), key=lambda row: order[row[0][0]])
    ]
    return Table("Settings of the systems", [Column(name) for name in columns], [RowGroup(body)])


def _changed(system: Row) -> str:
    """Return the parameters that the signature names, and a threshold that is fixed."""
    parts, threshold = Signature.parse(system.signature).parts, system.threshold
    changed = [f"{key}={value}" for key, value in parts.items() if key in system.params]
    changed += [f"model {model}" for model in (system.answers.models if system.answers else ())]
    fixed = threshold is not None and not isinstance(threshold, list) and system.tuned_on is None
    return ", ".join([*changed, *([f"score > {threshold:g}"] if fixed else [])])


def _tuned(system: Row, sources: Mapping[str, str]) -> str:
    """Return what was tuned, for which metric, and on what."""
    if system.tuned_on is None:
        return ""
    params = system.tuned_params.items()
    what = [f"{key}={list(value) if isinstance(value, tuple) else value}" for key, value in params]
    what += ["threshold"] if system.threshold is not None else []
    match = re.search(r"\|tuned_for:(\w+)", system.signature)
    goal = f" for {METRICS[match[1]].label}" if match and match[1] in METRICS else ""
    here = ", the data that it reports†" if system.tuned_here else ""
    return f"{', '.join(what) or 'parameters'}{goal} {_learned(system.tuned_on, sources)}{here}"


def _learned(source: str | None, sources: Mapping[str, str]) -> str:
    """Return what was learned or tuned on, in words."""
    if source is None:
        return ""
    folds = re.fullmatch(r"cv(\d+)", source)
    return f"by {folds[1]}-fold cross-validation" if folds else f"on {sources.get(source, source)}"


def _known_sources(datasets: Sequence[PaperDataset]) -> dict[str, str]:
    """Return the table's names of the data that the records name: what they report, train and
    tune on.
    """
    known = {}
    for dataset in datasets:
        known[dataset.results.dataset] = " ".join(filter(None, (dataset.label, dataset.split)))
        for role in ("train", "tune"):
            name, fingerprint = (
                _fact(dataset, "protocol", role, key) for key in ("name", "fingerprint")
            )
            if (
                isinstance(name, str)
                and isinstance(fingerprint, str)
                and fingerprint in FINGERPRINTS
            ):
                known.setdefault(name, " ".join(FINGERPRINTS[fingerprint]))
    return known
