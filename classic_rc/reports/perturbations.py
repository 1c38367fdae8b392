"""The table of systems on perturbed copies, each next to its score on the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from classic_rc.audit.ablation import PerturbedEvaluation, PerturbedScore
from classic_rc.evaluation.results import dataset_title
from classic_rc.tables import Cell, Column, RowGroup, Table, records_csv
from classic_rc.tables.model import Value


def perturbation_table(evaluation: PerturbedEvaluation) -> Table:
    """Return the table: for each system a block with its score on the original, then on each copy.

    Parameters
    ----------
    evaluation : PerturbedEvaluation

    Returns
    -------
    Table
        Scores in percent, differences in points.
    """
    dataset = evaluation.dataset
    assert dataset.task is not None
    has_spans = dataset.task.has_spans
    columns = [
        *(Column("copy"), Column(evaluation.metric.label, "percent"), Column("by seed", "percent", 1)),
        Column("difference", "points"),
        *([Column("unanswerable", "percent", 1)] if has_spans else []),
    ]
    blocks = []
    for original in evaluation.originals:
        learned = [f"learned from {original.trained_on}"] if original.trained_on else []
        learned += [f"tuned on {original.tuned_on}"] if original.tuned_on else []
        rows: list[list[Cell | Value]] = [["original", Cell(original.score, original.interval), None, None]]
        rows += [_score_cells(score) for score in evaluation.scores if score.system == original.system]
        shown = len(columns)  # the cells of scores have the share of unanswerable questions, which others have not
        block = [[*row, None][:shown] for row in rows]
        blocks.append(RowGroup(block, "; ".join([original.system, *learned])))
    return Table(f"{dataset_title(dataset)} · perturbed", columns, blocks, list(_notes(evaluation)))


def _score_cells(score: PerturbedScore) -> list[Cell | Value]:
    low, high = min(score.by_seed), max(score.by_seed)
    spread = f"{100 * low:.1f}-{100 * high:.1f}" if len(score.by_seed) > 1 else None
    difference = Cell(score.difference, score.interval)
    return [score.perturbation, score.score, spread, difference, score.unanswerable]


def _notes(evaluation: PerturbedEvaluation) -> Iterator[str]:
    seeds = evaluation.seeds
    drawn = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    yield f"copies that draw: the mean over {drawn}; difference: copy - original, in points, paired"
    yield evaluation.learning_note
    if not evaluation.trained_on_perturbed and any(original.tuned_on for original in evaluation.originals):
        yield (
            "tuned thresholds are the original's: a copy that lowers all scores selects fewer candidates "
            "(perturbed_train=True tunes them on the copy)"
        )
    yield f"function words: the list {evaluation.function_words}, interrogatives, and contractions of both"
    yield evaluation.resampling.note + "; intervals are not adjusted for their number"
    for name, reason in evaluation.left_out.items():
        yield f"not made: {name}: {reason}"
    for name, error in evaluation.errors.items():
        yield f"not measured: {name}: {error}"


def perturbations_csv(evaluations: Sequence[PerturbedEvaluation]) -> str:
    """Return a CSV line for each dataset, system and copy, the original among them; scores are fractions."""
    return records_csv([record for evaluation in evaluations for record in evaluation.records()])
