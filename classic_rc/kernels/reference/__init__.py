"""The algorithms in plain Python, one lesson per file: for reading, and for checking the fast
kernels.

If a lesson has a kernel, both give equal results to the bit; only the probabilities of Kneser-Ney,
the objectives of logistic regression, and the ranker's features with an exponential or a logarithm
differ by rounding. Word weights are integers (:mod:`classic_rc.kernels.weights`), so no sum depends
on the order of addition.

The lessons in reading order:

1. ``window``: the sliding window. Richardson et al. 2013 (MCTest), Algorithm 1.
2. ``distance``: the word distance. Richardson et al. 2013, Algorithm 2, and the authors' released
   scores.
3. ``sw_d``: SW+D, both together. Richardson et al. 2013, Algorithms 1 and 2.
4. ``sweep``: all window sizes at once. Lai et al. 2017 (RACE), sliding window baseline.
5. ``phrases``: how often a passage mentions a candidate. Hermann et al. 2015, section 3.1,
   frequency baselines.
6. ``cloze``: the word distance of cloze queries. Hermann et al. 2015, section 3.1, word distance
   benchmark.
7. ``cloze_shift``: the sliding window of cloze queries. Hill et al. 2015, sliding window baseline.
8. ``spans``: the question's words around a span. Rajpurkar et al. 2016 (SQuAD), section 5.1.
9. ``bm25``: BM25, and the best sentence for an option. Robertson et al. 1994 (Okapi at TREC-3), as
   in Lucene 8; Clark et al. 2016, section "IR".
10. ``tfidf``: TF-IDF, as in Lucene 5, ``ClassicSimilarity``.
11. ``lexical``: the components of the lexical matcher. Smith et al. 2015.
12. ``kneser_ney``: the n-gram model. Chen and Goodman 1998, section 4.1.6 and equation 26.
13. ``surface``: the features of the surface-feature learner. Merkhofer et al. 2018; Khashabi et al.
    2018 (MultiRC).
14. ``alignment``: the best support graph of an option. Khashabi et al. 2018 (AAAI).
15. ``logistic``: what logistic regression and conditional logit minimise. Fan et al. 2008; McFadden
    1974.
16. ``evidence``: how much of question and candidate is in each sentence. The feature ranker's
    groups `sentences`, `coverage`, `contrast` and `speakers`.
17. ``proximity``: words near each other. Its groups `windows` and `distance`.
18. ``ngrams``: n-grams and subsequences. Its group `ngrams`.
19. ``ranker``: all its dense features but the facts of the surface.
20. ``entities``: its features of cloze candidates. Chen et al. 2016, section 3.1.
21. ``trees``: a tree of gradient boosting. Friedman 2001; Chen and Guestrin 2016.
"""

from classic_rc.kernels.reference import (
    bm25,
    cloze,
    entities,
    evidence,
    lexical,
    ngrams,
    proximity,
    tfidf,
)
from classic_rc.kernels.reference.alignment import best_support_graph
from classic_rc.kernels.reference.cloze import cloze_distance
from classic_rc.kernels.reference.cloze_shift import cloze_window
from classic_rc.kernels.reference.distance import word_distance
from classic_rc.kernels.reference.entities import ClozeQuestion, entity_features
from classic_rc.kernels.reference.kneser_ney import ReferenceKneserNey
from classic_rc.kernels.reference.logistic import binary_objective, conditional_objective
from classic_rc.kernels.reference.phrases import longest_run, phrase_count
from classic_rc.kernels.reference.ranker import RankerQuestion, ranker_features
from classic_rc.kernels.reference.spans import span_overlap
from classic_rc.kernels.reference.surface import surface_features
from classic_rc.kernels.reference.sw_d import sliding_window_distance
from classic_rc.kernels.reference.sweep import window_sweep
from classic_rc.kernels.reference.trees import best_first_tree
from classic_rc.kernels.reference.window import sliding_window

__all__ = [
    "ClozeQuestion",
    "RankerQuestion",
    "ReferenceKneserNey",
    "best_first_tree",
    "best_support_graph",
    "binary_objective",
    "bm25",
    "cloze",
    "cloze_distance",
    "cloze_window",
    "conditional_objective",
    "entities",
    "entity_features",
    "evidence",
    "lexical",
    "longest_run",
    "ngrams",
    "phrase_count",
    "proximity",
    "ranker_features",
    "sliding_window",
    "sliding_window_distance",
    "span_overlap",
    "surface_features",
    "tfidf",
    "window_sweep",
    "word_distance",
]
