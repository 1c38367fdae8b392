"""Tables of several annotators' answers: accuracy, and agreement."""

from __future__ import annotations

from classic_rc.audit.agreement import Estimate
from classic_rc.audit.annotators import AnnotatorReport
from classic_rc.display import EMPTY_CELL, Table, format_percent
from classic_rc.evaluation.results import dataset_title


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
    rows = [[name, _percent(found), _count(found)] for name, found in shares.items() if found is not None]
    rows += [[name, _number(found), _count(found)] for name, found in coefficients.items()]
    title = f"Agreement of {len(report.annotators)} annotators"
    return Table(title, ["", "value", "questions"], rows, frozenset({0}), [report.resampling.note, *report.notes])


def _accuracy_table(report: AnnotatorReport) -> Table:
    rows = []
    for i, (name, others) in enumerate(zip(report.annotators, report.against_others, strict=True)):
        accuracy = report.accuracy[i] if report.accuracy else None
        rows.append([name, _count(accuracy or others), _percent(accuracy), _percent(others)])
    n_alone = len(rows)
    rows.append(["mean of annotators", _count(report.mean_accuracy), _percent(report.mean_accuracy), EMPTY_CELL])
    rows.append(["majority vote", _count(report.majority), _percent(report.majority), EMPTY_CELL])
    rows.append(["held-out annotator", _count(report.held_out), EMPTY_CELL, _percent(report.held_out)])
    notes = [
        "against others: the share of answers that are the majority of the other annotators' answers; t options "
        "that tie have a credit of 1/t",
        "held-out annotator: the mean of that over all answers, an estimate of human performance without gold",
        report.resampling.note,
        *report.notes,
    ]
    if not report.accuracy:
        notes.insert(0, "gold is hidden, so there is no accuracy")
    header = ["annotator", "questions", "accuracy", "against others"]
    title = f"{dataset_title(report.dataset)} · {len(report.annotators)} annotators"
    return Table(title, header, rows, frozenset({0}), notes, headings={0: "alone", n_alone: "together"})


def _agreement_table(report: AnnotatorReport) -> Table:
    rows = [
        [
            "all",
            _count(report.observed),
            _percent(report.observed),
            *map(_number, (report.s, report.fleiss, report.alpha)),
        ]
    ]
    for pair in report.pairs:
        both = f"{pair.first} / {pair.second}"
        rows.append([both, _count(pair.observed), _percent(pair.observed), _number(pair.s), _number(pair.kappa)])
        rows[-1].append(EMPTY_CELL)
    notes = [
        "S: chance is 1/k for k options, as where options are in random order; kappa (all: Fleiss, pairs: Cohen) "
        "and Krippendorff's alpha: chance from how often each position is chosen",
        "agreement of all: over the questions with two or more answers",
        report.resampling.note,
    ]
    header = ["annotators", "questions", "agreement", "S", "kappa", "alpha"]
    return Table("agreement", header, rows, frozenset({0}), notes)


def _count(estimate: Estimate | None) -> str:
    return EMPTY_CELL if estimate is None else f"{estimate.n:,}"


def _percent(estimate: Estimate | None) -> str:
    return EMPTY_CELL if estimate is None else format_percent(estimate.value, interval=estimate.interval)


def _number(estimate: Estimate) -> str:
    if estimate.value != estimate.value:
        return EMPTY_CELL
    bounds = "" if estimate.interval is None else f" [{estimate.interval.low:.2f}, {estimate.interval.high:.2f}]"
    return f"{estimate.value:.3f}{bounds}"
