"""Scoring in several processes, with the bits of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from classic_rc.errors import UsageError
from classic_rc.kernels.arrays import offsets_of
from classic_rc.predictions import Scores
from classic_rc.questions import Question
from classic_rc.solvers.base import Solver
from classic_rc.text.encode import EncodedDataset

PASSAGES_A_SHARD = 25_000
"""Fewer passages than this are scored faster than another process starts and imports what it needs."""


def score_in_shards(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    """The solver's scores, worked out by up to `jobs` processes of joblib's current backend.

    A question's scores depend on that question alone, so the result is the same for any number of jobs.
    """
    if jobs == 1 or not isinstance(questions, EncodedDataset):
        return _checked(solver, questions, jobs)
    from joblib import Parallel, delayed, effective_n_jobs

    n_passages = len(questions.arrays.passage_offsets) - 1
    n_shards = min(effective_n_jobs(jobs), n_passages // PASSAGES_A_SHARD)
    if n_shards < 2:
        return _checked(solver, questions)
    shards = questions.shards(n_shards, with_questions=not solver.needs_only_arrays)
    parts = Parallel(n_jobs=n_shards)(delayed(_checked)(solver, shard) for shard in shards)
    return questions.in_order(
        np.concatenate([part.values for part in parts]), np.concatenate([part.evidence for part in parts])
    )


def _checked(solver: Solver, questions: Sequence[Question], jobs: int = 1) -> Scores:
    scores = solver.score_candidates(questions) if jobs == 1 else solver.score_with_jobs(questions, jobs)
    if not isinstance(scores, Scores):
        raise UsageError(
            f"score_candidates of solver {solver.name!r} must return Scores (see Scores.from_lists), "
            f"got {type(scores).__name__}"
        )
    if isinstance(questions, EncodedDataset):
        offsets = questions.score_offsets
    else:
        offsets = offsets_of(np.array([len(q.candidates) for q in questions], dtype=np.int64))
    if not np.array_equal(scores.offsets, offsets):
        raise UsageError(
            f"score_candidates of solver {solver.name!r} must give one score a candidate: got "
            f"{len(scores.values)} scores in {len(scores)} rows for {offsets[-1]} candidates of "
            f"{len(offsets) - 1} questions"
        )
    return scores
