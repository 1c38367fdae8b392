"""Tables of several annotators' answers: accuracy, and agreement."""

from __future__ import annotations

from classic_rc.audit.agreement import Estimate
from classic_rc.audit.annotators import AnnotatorReport
from classic_rc.evaluation.results import dataset_title
from classic_rc.tables import Cell, Column, RowGroup, Table


def annotator_tables(report: AnnotatorReport) -> list[Table]:
    """Return two tables: the accuracy of annotators, alone and together, and their agreement.

    Parameters
    ----------
    report : AnnotatorReport

    Returns
    -------
    list of Table
    """
    return [_accuracy_table(report), _agreement_table(report)]


def annotator_summary(report: AnnotatorReport) -> Table:
    """Return the numbers of all annotators together: a table for one column of a page.

    Parameters
    ----------
    report : AnnotatorReport

    Returns
    -------
    Table
    """
    shares = {
        "accuracy, the mean": report.mean_accuracy,
        "accuracy of the majority vote": report.majority,
        "held-out annotator": report.held_out,
        "agreement": report.observed,
    }
    coefficients = {
        "S (chance 1/k)": report.s,
        "Fleiss' kappa": report.fleiss,
        "Krippendorff's alpha": report.alpha,
    }
    rows = [[name, _cell(found), None, _count(found)] for name, found in shares.items() if found is not None]
    rows += [[name, None, _cell(found), _count(found)] for name, found in coefficients.items()]
    title = f"Agreement of {len(report.annotators)} annotators"
    columns = [Column(""), Column("%", "percent"), Column("coefficient", "number"), Column("questions", "count")]
    return Table(title, columns, [RowGroup(rows)], [report.resampling.note, *report.notes])


def _accuracy_table(report: AnnotatorReport) -> Table:
    alone = []
    for i, (name, others) in enumerate(zip(report.annotators, report.against_others, strict=True)):
        accuracy = report.accuracy[i] if report.accuracy else None
        alone.append([name, _count(accuracy or others), _cell(accuracy), _cell(others)])
    together = [
        ["mean of annotators", _count(report.mean_accuracy), _cell(report.mean_accuracy), None],
        ["majority vote", _count(report.majority), _cell(report.majority), None],
        ["held-out annotator", _count(report.held_out), None, _cell(report.held_out)],
    ]
    notes = [
        "against others: the share of answers that are the majority of the other annotators' answers; t options "
        "that tie have a credit of 1/t",
        "held-out annotator: the mean of that over all answers, an estimate of human performance without gold",
        report.resampling.note,
        *report.notes,
    ]
    if not report.accuracy:
        notes.insert(0, "gold is hidden, so there is no accuracy")
    columns = [Column("annotator"), Column("questions", "count")]
    columns += [Column("accuracy", "percent"), Column("against others", "percent")]
    title = f"{dataset_title(report.dataset)} · {len(report.annotators)} annotators"
    return Table(title, columns, [RowGroup(alone, "alone"), RowGroup(together, "together")], notes)


def _agreement_table(report: AnnotatorReport) -> Table:
    rows = [["all", _count(report.observed), *map(_cell, (report.observed, report.s, report.fleiss, report.alpha))]]
    for pair in report.pairs:
        both = f"{pair.first} / {pair.second}"
        rows.append([both, _count(pair.observed), *map(_cell, (pair.observed, pair.s, pair.kappa, None))])
    notes = [
        "S: chance is 1/k for k options, as where options are in random order; kappa (all: Fleiss, pairs: Cohen) "
        "and Krippendorff's alpha: chance from how often each position is chosen",
        "agreement of all: over the questions with two or more answers",
        report.resampling.note,
    ]
    columns = [Column("annotators"), Column("questions", "count"), Column("agreement", "percent")]
    columns += [Column(name, "number") for name in ("S", "kappa", "alpha")]
    return Table("agreement", columns, [RowGroup(rows)], notes)


def _count(estimate: Estimate | None) -> int | None:
    return None if estimate is None else estimate.n


def _cell(estimate: Estimate | None) -> Cell:
    return Cell() if estimate is None else Cell(estimate.value, estimate.interval)
