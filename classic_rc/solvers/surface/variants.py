"""The published variants of the surface-feature logistic regression."""

from __future__ import annotations

from classic_rc.solvers.base import Variant

SURFACE_VARIANTS = {
    "multirc2018": Variant(
        {
            "analyzer": "multirc2018",
            "features": "lengths+token-overlap+answer+text-answer+question-answer+prominent",
            "scaling": "none",
            "learner": "newton-cg",
        },
        "the features that MultiRC's authors released, unscaled; a word is 'prominent' if the passage has it more "
        "often than its types a token, which is every word of a passage in which one recurs (a bug), so shared "
        "words count twice. Not copied: the prediction script takes the header of LIBLINEAR's output for the first "
        "prediction; lengths in characters leave out blanks at a text's ends. Newton's method finds LIBLINEAR's "
        "optimum",
        "Khashabi et al. 2018, MultiRC, SurfaceLR, and the released surfaceLR_train.pl",
        cites=("khashabi2018multirc",),
    ),
    "mitre2018": Variant(
        {"features": "all", "scaling": "none", "learner": "newton-cg"},
        "the features as the paper words them: the candidate's words, those common to story and candidate, the "
        "product of question and candidate, three counts of common words and the lengths, unscaled; its tokens and "
        "the ensemble around it are not known",
        "Merkhofer et al. 2018, MITRE at SemEval-2018 Task 11, logistic regression",
        cites=("merkhofer2018",),
    ),
}
