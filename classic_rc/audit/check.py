"""The check of a dataset: partial inputs, leaking words, the balance of right options, and defects."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from classic_rc.audit.artifacts import PartialInputs, PartialSearch
from classic_rc.audit.integrity import Finding, find_copies, find_own_defects, in_order
from classic_rc.audit.measuring import PartialResult, Verdict
from classic_rc.audit.words import LeakingWords, find_leaking_words
from classic_rc.datasets.registry import TrainingData, as_dataset
from classic_rc.evaluation.fitted_system import EncodingCache
from classic_rc.evaluation.plan import default_analyzer
from classic_rc.evaluation.results import dataset_record
from classic_rc.io.json import Seconds
from classic_rc.io.progress import progress_bar
from classic_rc.questions import Dataset, Task
from classic_rc.tables import Column, RowGroup, Table, render
from classic_rc.tables.records import frame_of_records

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Balance:
    """The distribution of right options over positions.

    Parameters
    ----------
    right_share : float
        The share of all options that is right.
    positions : tuple of int
        Single choice: the number of right options at each position; else empty.
    expected : tuple of float
        The numbers expected if right options were placed at random within each question.
    chi_square : float or None
        The sum over positions of (observed - expected)^2 / expected; None with fewer than two positions.
    degrees : int
        The degrees of freedom.
    p : float or None
        The probability of a chi-square at least this large; approximate if questions differ in their number of
        options.
    """

    right_share: float
    positions: tuple[int, ...] = ()
    expected: tuple[float, ...] = ()
    chi_square: float | None = None
    degrees: int = 0
    p: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def measure_label_balance(dataset: Dataset) -> Balance | None:
    """Measure how right options are distributed over positions.

    Parameters
    ----------
    dataset : Dataset
        Of choices, with gold answers.

    Returns
    -------
    Balance or None
        None if there is no option.
    """
    counts = np.array([len(q.candidates) for q in dataset], dtype=np.int64)
    rights = np.array([len(q.gold or ()) for q in dataset])
    if not counts.sum():
        return None
    share = float(rights.sum() / counts.sum())
    if dataset.task is not Task.SINGLE_CHOICE:
        return Balance(share)
    observed = np.bincount([i for q in dataset for i in q.gold or () if isinstance(i, int)], minlength=counts.max())
    # A question with k options and r right ones expects r/k right options at each of its k positions.
    has = counts[:, None] > np.arange(counts.max())
    expected = np.where(has, (rights / np.maximum(counts, 1))[:, None], 0).sum(axis=0)
    degrees = int(np.count_nonzero(expected)) - 1
    if degrees < 1:
        return Balance(share, tuple(observed.tolist()), tuple(expected.tolist()))
    from scipy.stats import chi2

    likely = expected > 0
    chi_square = float(((observed - expected)[likely] ** 2 / expected[likely]).sum())
    return Balance(
        share,
        tuple(observed.tolist()),
        tuple(expected.tolist()),
        chi_square,
        degrees,
        float(chi2.sf(chi_square, degrees)),
    )


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The results of all checks of a dataset.

    Parameters
    ----------
    dataset : Dataset
    partial_inputs : PartialInputs
    words : LeakingWords or None
        None if the questions have no options or gold is hidden.
    balance : Balance or None
        None as for `words`.
    findings : tuple of Finding
        Defects of the data.
    seconds : float
        Wall time.
    missing : tuple of str
        What an interrupted check did not finish; p-values are adjusted for what it tried.
    """

    dataset: Dataset
    partial_inputs: PartialInputs
    words: LeakingWords | None
    balance: Balance | None
    findings: tuple[Finding, ...]
    seconds: float
    missing: tuple[str, ...] = ()

    def leaks(self, verdict: Verdict | None = None) -> tuple[PartialResult, ...]:
        """Return the artifacts and shortcuts, the strongest first.

        Parameters
        ----------
        verdict : Verdict, optional
            Only these.
        """
        findings = self.partial_inputs.findings
        return tuple(result for result in findings if verdict is None or result.verdict is verdict)

    def to_frame(self) -> pandas.DataFrame:
        """Return a pandas frame with one row per partial input, such as its gain and its p-value.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        return frame_of_records(self.partial_inputs.to_dict()["results"])

    def _repr_html_(self) -> str:
        """Return the table that notebooks show: artifacts and shortcuts against chance, in percent."""
        rows = [
            [f"the right option {r.rule}", r.value, r.chance, r.gain, r.p_holm, str(r.verdict)]
            for r in self.leaks()
        ]
        columns = [
            *(Column("finding"), Column("reaches", "percent"), Column("chance", "percent")),
            *(Column("gain", "points"), Column("p (Holm)", "p"), Column("")),
        ]
        n_tested = len(self.partial_inputs.results)
        title = f"{self.dataset.name} · {len(self.dataset):,} questions · {len(rows)} of {n_tested} partial inputs"
        return render(Table(title, columns, [RowGroup(rows)]), "html")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "dataset": dataset_record(self.dataset),
            "partial_inputs": self.partial_inputs.to_dict(),
            "words": None if self.words is None else self.words.to_dict(),
            "balance": None if self.balance is None else self.balance.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
            "seconds": Seconds(check=self.seconds),
            "missing": list(self.missing),
        }


class CheckInterrupted(KeyboardInterrupt):
    """A check was interrupted.

    Attributes
    ----------
    report : CheckReport
        What was found before.
    """

    def __init__(self, report: CheckReport) -> None:
        super().__init__(f"the check of {report.dataset.name} was interrupted")
        self.report = report


def labelled_part(dataset: Dataset) -> Dataset:
    """Return the questions whose gold is known; all questions if all gold is hidden."""
    n_labelled = sum(question.gold is not None for question in dataset)
    if n_labelled in (0, len(dataset)):
        return dataset
    return dataset.filter(lambda question: question.gold is not None)


def check_dataset(
    dataset: Dataset,
    *,
    train: TrainingData | None = None,
    cv: int | None = None,
    group: str | None = None,
    level: float = 5.0,
    analyzer: str | None = None,
    regressions: bool = True,
    jobs: int = 1,
    progress: bool = False,
) -> CheckReport:
    """Check whether a dataset can be answered without comprehension, and whether its data is sound.

    Questions whose gold is hidden are only searched for defects. What is quick comes first: defects of single
    questions, the balance of right options, telling words, fixed rules and counts; then duplicates; and regressions
    at the end.

    Parameters
    ----------
    dataset : Dataset
    train, cv, group, level, regressions, jobs
        As in :func:`~classic_rc.audit.artifacts.measure_partial_inputs`. Passages and questions that are also in
        `train` are reported.
    analyzer : str, optional
        Makes words of the texts; by default ``word``, or ``char`` for scripts without spaces between words.
    progress : bool
        Whether to show progress on stderr during long checks.

    Returns
    -------
    CheckReport

    Raises
    ------
    CheckInterrupted
        The user interrupted the check (Ctrl-C). It has the report of what was found so far.
    """
    start, shared, train = time.perf_counter(), EncodingCache(), as_dataset(train)
    labelled = labelled_part(dataset)
    analyzer = analyzer or default_analyzer(labelled)
    has_options = dataset.task is not None and dataset.task.has_choices
    has_known_gold = has_options and all(question.gold is not None for question in labelled)
    balance = words = None
    findings: tuple[Finding, ...] = ()
    missing = ["defects", "balance and words of options", "duplicates"]
    if not has_known_gold:
        missing.remove("balance and words of options")
    with progress_bar(dataset.name, None, progress) as advance:
        search = PartialSearch(
            labelled,
            train=train,
            cv=cv,
            group=group,
            level=level,
            analyzer=analyzer,
            regressions=regressions,
            jobs=jobs,
            progress=advance,
            shared=shared,
        )

        def found(some: tuple[Finding, ...]) -> tuple[Finding, ...]:
            for finding in some:
                advance.finished(f"{dataset.name}, so far: {finding.count:,} {finding.kind.what}")
            return some

        try:
            advance.stage("defects")
            findings = found(find_own_defects(dataset))
            missing.remove("defects")
            if has_known_gold:
                advance.stage("balance and words of options")
                balance = measure_label_balance(labelled)
                words = find_leaking_words(labelled, analyzer=analyzer, shared=shared)
                missing.remove("balance and words of options")
            search.try_rules()
            advance.stage("duplicates")
            findings = in_order((*findings, *found(find_copies(dataset, train))))
            missing.remove("duplicates")
            search.try_regressions()
            partial = search.results()
        except KeyboardInterrupt:
            partial = search.results()
            seconds = time.perf_counter() - start
            unfinished = (*missing[:-1], *search.missing, *missing[-1:])
            raise CheckInterrupted(
                CheckReport(dataset, partial, words, balance, findings, seconds, unfinished)
            ) from None
    return CheckReport(dataset, partial, words, balance, findings, time.perf_counter() - start)
