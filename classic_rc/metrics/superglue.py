"""The F1m of SuperGLUE's MultiRC scorer in Hugging Face's `evaluate`, which is not the paper's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classic_rc.metrics.selection import Counts, SelectionMetric


class SuperGLUEF1Macro(SelectionMetric):
    r"""The mean over questions of scikit-learn's macro-averaged F1 of the labels right and wrong.

    With fn = right - tp and tn = options - right - fp,

    .. math:: F1_{right} = \frac{2 tp}{2 tp + fp + fn}, \quad F1_{wrong} = \frac{2 tn}{2 tn + fp + fn}

    and a question scores the mean of the two, or, where a label stands neither in the gold labels nor in the
    predicted ones, the other one alone. Macro-averaging takes the labels that occur, and a label that occurs
    makes its denominator positive: `zero_division` of ``sklearn.metrics.f1_score`` never comes into play, whatever
    its value. A question without options, which scikit-learn refuses, scores 0.

    The paper's F1m (:class:`classic_rc.metrics.multirc.F1Macro`) is another quantity; the two must not share a
    column.
    """

    name = "superglue_f1_m"
    label = "F1m (SuperGLUE)"
    description = "mean of the questions' macro-averaged F1, as Hugging Face's super_glue multirc reports f1_m"
    citation = "Wang et al. 2019, SuperGLUE, as computed by the super_glue metric of Hugging Face's evaluate"
    cites = ("wang2019", "khashabi2018multirc")

    def of_counts(self, counts: Counts) -> NDArray[np.float64]:
        """The macro-averaged F1 of each selection, shape (n, 1)."""
        wrong = counts.mislabelled
        hits = np.stack([counts.tp, counts.options - counts.right - counts.fp])
        denominators = 2 * hits + wrong
        occurs = denominators > 0
        f1 = 2 * hits / np.where(occurs, denominators, 1)
        return (f1.sum(axis=0) / np.maximum(occurs.sum(axis=0), 1))[:, None]
