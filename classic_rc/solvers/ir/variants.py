"""The published variants of IR."""

from __future__ import annotations

from classic_rc.decisions import Threshold
from classic_rc.solvers.base import Variant

# The split that the released threshold was tuned on, by content fingerprint.
_MULTIRC_DEV = {"59ccab9c3201599dc8c41355616ace2c70cffee10d5c3e863b644fbea42ac494": "multirc.dev"}

IR_VARIANTS = {
    "passage": Variant(
        {},
        "the sentences of the question's own passage, each passage with its own statistics; BM25",
        "after Clark et al. 2016",
        cites=("clark2016", "robertson1994"),
    ),
    "paragraphs": Variant(
        {"corpus": "paragraphs"},
        "the sentences of all the passages given, BM25 in place of the paper's TF-IDF",
        "after Khashabi et al. 2018, MultiRC, IR(paragraphs)",
        cites=("khashabi2018multirc", "robertson1994"),
    ),
    "multirc2018": Variant(
        {
            "corpus": "paragraphs",
            "similarity": "classic",
            "depth": 200,
            "overlap": "lucene-english+stop=smart",
            "decision": Threshold(value=0.0499),
        },
        "the sentences of all the passages given (the released scores had the hidden test's too), Lucene's TF-IDF, "
        "the best of 200 hits that shares stemmed words with question and option, SMART's stop words apart",
        "Khashabi et al. 2018, MultiRC, IR(paragraphs), released scores and threshold; Porter's stemmer for Morpha",
        _MULTIRC_DEV,
        cites=("khashabi2018multirc",),
    ),
    "clark2016": Variant(
        {"corpus": "paragraphs", "similarity": "classic"},
        "the sentences of all the passages given, Lucene's similarity of that time (TF-IDF)",
        "Clark et al. 2016, Combining Retrieval, Statistics, and Inference to Answer Elementary Science Questions",
        cites=("clark2016",),
    ),
}
