"""Measuring decisions that somebody else made."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from classic_rc.evaluation.grouping import group_masks
from classic_rc.evaluation.outcomes import OutcomeTally
from classic_rc.evaluation.prepare import require_gold
from classic_rc.evaluation.results import Evaluation, Row
from classic_rc.evaluation.signature import file_digest, long_signature, short_signature, signature_parts
from classic_rc.predictions import Prediction
from classic_rc.questions import Dataset


def evaluate_predictions(
    dataset: Dataset,
    predictions: Sequence[Prediction],
    *,
    source: str,
    group_by: str | None = None,
    read_seconds: float = 0.0,
) -> Evaluation:
    """Measure predictions of all the dataset's questions, in its order.

    Parameters
    ----------
    dataset : Dataset
        With gold answers.
    predictions : sequence of Prediction
    source : str
        Where they come from; a part of the signature.
    group_by, read_seconds
        As in :func:`classic_rc.evaluate`.

    Returns
    -------
    Evaluation
        Of one row.
    """
    start = time.perf_counter()
    require_gold(dataset, "nothing can be measured")
    assert dataset.task is not None
    tally = OutcomeTally(dataset.task, len(dataset))
    tally.add(np.arange(len(dataset)), dataset, predictions, None)
    parts = signature_parts("score-file", None, {"file": file_digest(source)}, dataset)
    row = Row(
        solver="score-file",
        variant=None,
        params={"path": source},
        signature=long_signature(parts),
        short_signature=short_signature(parts),
        outcomes=tally.outcomes(),
        seconds={"read": read_seconds, "encode": 0.0, "fit": 0.0, "score": time.perf_counter() - start},
    )
    groups = group_masks(dataset, group_by) if group_by is not None else {}
    return Evaluation(dataset, (row,), groups, group_by)
