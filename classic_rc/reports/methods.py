"""The paragraph on methods of a paper's table: data, systems, training, tuning, intervals, tests and versions.

It says what the run records say, in sentences, with citations and their BibTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from classic_rc.datasets.official import FINGERPRINTS
from classic_rc.datasets.registry import READERS
from classic_rc.evaluation.comparison import SystemResults
from classic_rc.evaluation.results import ALPHA, Block
from classic_rc.evaluation.signature import Signature
from classic_rc.io.printable import printable
from classic_rc.metrics.registry import METRICS
from classic_rc.reports.paper_data import PaperDataset
from classic_rc.reports.paper_formats import join_words
from classic_rc.reports.paper_table import PaperTable
from classic_rc.reports.references import citation_text, references
from classic_rc.solvers.base import is_number
from classic_rc.solvers.registry import SOLVERS
from classic_rc.tables.latex import latex_escape
from classic_rc.tables.markup import markdown_escape
from classic_rc.tables.model import IntervalStyle

_OPEN, _CLOSE = "\ue000", "\ue001"
"""Around the keys of citations in a sentence, until it is escaped for its format."""
_CITATION = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")

_SPLITS = {"train": "training", "dev": "development", "test": "test"}
_TIES = {
    "partial": "if k candidates share the best score, each gets 1/k of the credit",
    "first": "if several candidates share the best score, the first of them is the answer",
    "random": "if several candidates share the best score, one of them is drawn with a fixed seed",
    "strict": "if several candidates share the best score, the question counts as wrong",
}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PACKAGES = {"numpy": "NumPy", "scipy": "SciPy", "scikit-learn": "scikit-learn"}


def methods_text(table: PaperTable, form: str = "latex", intervals: IntervalStyle = "lines") -> tuple[str, str]:
    r"""Return the paragraph on methods, and the BibTeX entries that it cites.

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
    paragraph, bibtex : str
        Each ends with a line break.
    """
    sentences = [printable(text) for text in _sentences(table, intervals)]
    keys = dict.fromkeys(key for text in sentences for group in _CITATION.findall(text) for key in group.split(","))
    escape = {"latex": _latex, "markdown": markdown_escape}.get(form, str)
    cite: Callable[[list[str]], str] = _citep if form == "latex" else _authors_and_years
    shown = []
    for text in sentences:
        # Every second part is the keys of a citation, which are not escaped.
        parts = _CITATION.split(text)
        shown.append("".join(cite(part.split(",")) if i % 2 else escape(part) for i, part in enumerate(parts)))
    return " ".join(shown) + "\n", "\n\n".join(references()[key] for key in keys) + "\n"


def _latex(text: str) -> str:
    escaped = latex_escape(text).replace("†", r"$^{\dagger}$")
    escaped = escaped.replace("If k candidates", "If $k$ candidates").replace(" 1/k ", " $1/k$ ")
    return re.sub(r"\bp \\textless\{\} ([\d.]+)", r"$p < \1$", escaped)


def _citep(keys: list[str]) -> str:
    return rf"~\citep{{{','.join(keys)}}}"


def _authors_and_years(keys: list[str]) -> str:
    return f" ({'; '.join(map(citation_text, keys))})"


def _cited(*keys: str) -> str:
    """Return a mark for citations; nothing if there are none of others' work."""
    known = [key for key in dict.fromkeys(keys) if key in references()]
    return f"{_OPEN}{','.join(known)}{_CLOSE}" if known else ""


def _sentences(table: PaperTable, intervals: IntervalStyle) -> Iterator[str]:
    datasets, shown = table.shown_datasets, {row.name for row in table.rows}
    systems: dict[str, list[tuple[PaperDataset, SystemResults]]] = {}
    for dataset in datasets:
        for system in dataset.results.systems:
            if system.name in shown:
                systems.setdefault(system.name, []).append((dataset, system))
    yield _data(table, datasets, len(systems))
    yield from _blocks(table, systems)
    sources = _known_sources(datasets)
    yield from _training(systems, sources)
    yield from _tuning(systems, sources)
    yield from _decisions(systems)
    yield from _answers(systems)
    yield from _metrics(table)
    if intervals != "none":
        yield from _intervals(datasets)
    yield from _tests(table)
    yield from _software(datasets)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _count(n: int, what: str) -> str:
    return f"{_number(n)} {what}{'' if n == 1 else 's'}"


def _number(n: int) -> str:
    return _SMALL[n] if n < len(_SMALL) else f"{n:,}"


def _fact(dataset: PaperDataset, *path: str) -> Any:
    """Return a recorded value, or None: records of other versions may lack some."""
    value: Any = dataset.results.facts
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


# ------------------------------------------------------------------------------------------------------------------
# Data and systems


def _data(table: PaperTable, datasets: Sequence[PaperDataset], n_systems: int) -> str:
    versions = sorted({str(_fact(dataset, "version")) for dataset in datasets})
    splits = {dataset.split for dataset in datasets}
    common = _SPLITS.get(next(iter(splits)) or "") if len(splits) == 1 else None
    described = [_describe_dataset(dataset, "" if common else _set_of(dataset.split)) for dataset in datasets]
    sets = f"the {common} set{'s' if len(datasets) > 1 else ''} of " if common else ""
    return (
        f"We evaluate {_count(n_systems, 'system')} on {sets}{join_words(described)} with classic_rc "
        f"{' and '.join(versions)}{_cited('classic_rc')}."
    )


def _set_of(split: str | None) -> str:
    return f"the {_SPLITS[split]} set of " if split in _SPLITS else ""


def _describe_dataset(dataset: PaperDataset, before: str) -> str:
    passages, reader = _fact(dataset, "dataset", "passages"), _fact(dataset, "dataset", "reader")
    size = f"{len(dataset.results.groups):,} questions"
    size += f" about {passages:,} passages" if isinstance(passages, int) else ""
    keys = READERS[reader].cites if isinstance(reader, str) and reader in READERS else ()
    return f"{before}{dataset.label} ({size}){_cited(*_others(keys))}"


def _others(keys: Sequence[str]) -> list[str]:
    """Return the keys of others' work: the package itself is cited once, at the beginning."""
    return [key for key in keys if key != "classic_rc"]


def _blocks(table: PaperTable, systems: dict[str, list[tuple[PaperDataset, SystemResults]]]) -> Iterator[str]:
    names = {block: [row.name for row in table.rows if row.block is block] for block in Block}
    verbs = {
        Block.UNTRAINED: ("learns nothing from gold answers", "learn nothing from gold answers"),
        Block.TRAINED: ("is trained on gold answers", "are trained on gold answers"),
        Block.GIVEN: ("is given by its answers or scores", "are given by their answers or scores"),
    }
    for block, (one, several) in verbs.items():
        own = [_describe_system(name, systems[name][0][1]) for name in names[block] if name in systems]
        if own:
            verb = one if len(own) == 1 else several
            yield f"{_capital(_count(len(own), 'system'))} {verb}: {join_words(own)}."
    if names[Block.PUBLISHED]:
        rows = [row for row in table.rows if row.block is Block.PUBLISHED]
        cites = _cited(*(row.cites for row in rows if row.cites))
        yield f"Published results are as printed in their sources{cites} and are not part of any comparison."


def _describe_system(name: str, system: SystemResults) -> str:
    """Return a system's name, what it is if the name does not say so, and its citations."""
    facts = system.facts
    variant, params = facts.get("variant"), facts.get("params")
    kind = f"{system.solver}:{variant}" if isinstance(variant, str) else system.solver
    try:
        parts = Signature.parse(str(facts.get("signature"))).parts
    except ValueError:
        parts = {}
    changed = [
        f"{key}={value}"
        for key, value in parts.items()
        if isinstance(params, dict) and params.get(key) is not None and key not in ("analyzer", "seed")
    ]
    details = [*([kind] if not name.startswith(kind) and system.solver != "score-file" else []), *changed]
    shown = f"{name} ({', '.join(details)})" if details and ",".join(details) != name else name
    return shown + _cited(*_others(_solver_cites(system.solver, variant)))


def _solver_cites(solver: str, variant: Any) -> tuple[str, ...]:
    if solver not in SOLVERS:
        return ()
    found = SOLVERS[solver]
    bundle = found.variants.get(variant) if isinstance(variant, str) else None
    return (bundle.cites if bundle is not None else ()) or found.cites


# ------------------------------------------------------------------------------------------------------------------
# Training, tuning and decisions

_Found = dict[str, list[tuple[PaperDataset, SystemResults]]]


def _grouped(
    systems: _Found, key: Callable[[PaperDataset, SystemResults], Any]
) -> dict[Any, tuple[list[str], list[str]]]:
    """Return the names of systems and datasets by a property that is not None."""
    found: dict[Any, tuple[list[str], list[str]]] = {}
    for name, results in systems.items():
        for dataset, system in results:
            value = key(dataset, system)
            if value is not None:
                names, labels = found.setdefault(value, ([], []))
                names += [name] if name not in names else []
                labels += [dataset.label] if dataset.label not in labels else []
    return found


def _known_sources(datasets: Sequence[PaperDataset]) -> dict[str, str]:
    """Return the papers' names of the data that the records name: what they report, train and tune on."""
    known = {}
    for dataset in datasets:
        known[dataset.results.dataset] = _set_of(dataset.split) + dataset.label
        for role in ("train", "tune"):
            name, fingerprint = (_fact(dataset, "protocol", role, key) for key in ("name", "fingerprint"))
            if isinstance(name, str) and isinstance(fingerprint, str) and fingerprint in FINGERPRINTS:
                label, split = FINGERPRINTS[fingerprint]
                known[name] = _set_of(split) + label
    return known


def _folds(text: str, sources: Mapping[str, str]) -> str:
    """Return what was learned or tuned on, in words."""
    match = re.fullmatch(r"cv(\d+)", text)
    if match is None:
        return f"on {sources.get(text, text)}"
    n = int(match[1])
    folds = f"{_number(n)}-fold cross-validation"
    return f"by {folds} over whole passages"


def _training(systems: _Found, sources: Mapping[str, str]) -> Iterator[str]:
    trained = _grouped(systems, lambda _, system: system.facts.get("trained_on"))
    for source, (names, labels) in trained.items():
        verb = "is" if len(names) == 1 else "are"
        yield f"On {join_words(labels)}, {join_words(names)} {verb} trained {_folds(str(source), sources)}."


def _tuning(systems: _Found, sources: Mapping[str, str]) -> Iterator[str]:
    def key(_: PaperDataset, system: SystemResults) -> tuple[str, str, bool] | None:
        facts = system.facts
        if not isinstance(facts.get("tuned_on"), str):
            return None
        match = re.search(r"\|tuned_for:(\w+)", str(facts.get("signature")))
        metric = METRICS[match[1]].label if match and match[1] in METRICS else ""
        what = f"decision thresholds|{metric}" if facts.get("threshold") is not None else "parameters|"
        return what, facts["tuned_on"], system.tuned_here

    for (what, source, here), (names, labels) in _grouped(systems, key).items():
        parameters, _, metric = what.partition("|")
        goal = f" for {metric}" if metric else ""
        how = _folds(source, sources) + (", the data that is reported (marked †)" if here else "")
        yield f"On {join_words(labels)}, the {parameters} of {join_words(names)} are tuned{goal} {how}."
    if any("|folds:near" in str(s.facts.get("signature")) for found in systems.values() for _, s in found):
        yield "Folds keep equal and nearly equal passages together."


def _decisions(systems: _Found) -> Iterator[str]:
    policies = _grouped(systems, lambda _, system: system.facts.get("ties"))
    known = {policy: names for policy, (names, _) in policies.items() if policy in _TIES}
    for policy, names in known.items():
        yield _capital(_TIES[policy] + (f" ({join_words(names)})" if len(known) > 1 else "")) + "."
    for threshold, (names, labels) in _grouped(systems, _fixed_threshold).items():
        verb = "selects" if len(names) == 1 else "select"
        chosen = f"options with a score above {threshold:g}"
        yield f"On {join_words(labels)}, {join_words(names)} {verb} the {chosen}."
    expected = [name for name, results in systems.items() if any(system.expected for _, system in results)]
    if expected:
        yield f"Results of {join_words(expected)} are expectations over all random draws, in closed form."


def _answers(systems: _Found) -> Iterator[str]:
    notes = _grouped(systems, lambda _, system: (system.answers and system.answers.note) or None)
    told = [f"{join_words(names)} on {join_words(labels)}, {note}" for note, (names, labels) in notes.items()]
    if told:
        yield f"Answers that could not be parsed or are empty count as wrong: {'; '.join(told)}."


def _fixed_threshold(_: PaperDataset, system: SystemResults) -> float | None:
    threshold = system.facts.get("threshold")
    return threshold if is_number(threshold) and system.facts.get("tuned_on") is None else None


# ------------------------------------------------------------------------------------------------------------------
# Numbers


def _metrics(table: PaperTable) -> Iterator[str]:
    found: dict[str, tuple[list[str], list[str]]] = {}
    for dataset in table.shown_datasets:
        metrics = dict.fromkeys(c.metric for c in table.columns if c.dataset == dataset.label)
        keys = [key for metric in metrics for key in _others(metric.cites)]
        labels = ["accuracy" if metric.name == "accuracy" else metric.label for metric in metrics]
        names = join_words(labels) + _cited(*keys)
        found.setdefault(names, ([], []))[0].append(dataset.label)
    parts = [f"{metrics} on {join_words(labels)}" for metrics, (labels, _) in found.items()]
    yield f"We report {join_words(parts)}, in percent."


def _intervals(datasets: Sequence[PaperDataset]) -> Iterator[str]:
    made = [dataset.resampling for dataset in datasets if dataset.resampling is not None]
    if not made:
        return
    counts = " or ".join(f"{n:,}" for n in sorted({r.n for r in made}))
    seeds = " and ".join(str(seed) for seed in sorted({r.seed for r in made}))
    yield (
        f"Intervals are {100 * made[0].level:g}% percentile intervals from {counts} bootstrap resamples of "
        f"{_units(datasets)} (seed {seeds})."
    )


def _units(datasets: Sequence[PaperDataset]) -> str:
    keys = sorted({dataset.results.group for dataset in datasets if dataset.results.group is not None})
    return f"whole passages, grouped by {join_words(keys)} where it is known" if keys else "whole passages"


def _tests(table: PaperTable) -> Iterator[str]:
    tested = [column for column in table.columns if column.is_tested]
    datasets = [dataset for dataset in table.shown_datasets if dataset.label in {c.dataset for c in tested}]
    settings = [dataset.tests for dataset in datasets if dataset.tests is not None]
    if not datasets or table.baseline is None:
        return
    n = max([made.n for made in settings], default=10_000)
    seeds = " and ".join(str(seed) for seed in sorted({made.seed for made in settings} or {0}))
    metrics = join_words(list(dict.fromkeys(column.metric_label for column in tested)))
    sizes = sorted({len(dataset.results.systems) - 1 for dataset in datasets})
    family = _count(sizes[-1], "comparison")
    family = family if len(sizes) == 1 else f"{_number(sizes[0])} to {family}"
    draws = f"exact, or {n:,} random permutations with seed {seeds} if there are more"
    yield (
        f"An asterisk marks a system that differs significantly from {table.baseline} in the primary metric "
        f"({metrics}) at p < {ALPHA:g}: a two-sided paired permutation test that swaps the outcomes of "
        f"{_units(datasets)} between the two systems ({draws}), with Holm's correction for the {family} of a "
        "dataset."
    )
    if any(column.group is not None for column in tested):
        yield "The systems of each group of questions are a family of their own."
    if any(not column.is_tested for column in table.columns if column.dataset in {d.label for d in datasets}):
        yield "Other metrics are not tested."


def _software(datasets: Sequence[PaperDataset]) -> Iterator[str]:
    found = set()
    for dataset in datasets:
        python, packages = _fact(dataset, "environment", "python"), _fact(dataset, "environment", "packages")
        if isinstance(python, str) and isinstance(packages, dict):
            names = [f"{name} {packages[key]}" for key, name in _PACKAGES.items() if packages.get(key)]
            found.add(join_words([f"Python {python}", *names]))
    if found:
        yield f"The runs used {'; or '.join(sorted(found))}."
