"""Retrieval as a solver: a search engine's score of the best sentence about question and candidate."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from classic_rc.decisions import Decision, Threshold
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.predictions import Scores
from classic_rc.questions import LazyCandidates, Question
from classic_rc.retrieval.base import Best, Engine
from classic_rc.retrieval.corpus import Corpus, find_verbatim, passage_corpus
from classic_rc.retrieval.passages import best_in_passages
from classic_rc.retrieval.registry import ENGINES, get_engine, open_corpus
from classic_rc.solvers.base import ANALYZER, DECISION, Parameter, Solver, Variant, is_whole
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences

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


class IRSolver(Solver):
    """The search engine's score of the best sentence that shares a word with the question and the candidate.

    The query is question and candidate together; a sentence qualifies that has a word of the question and a
    word of the candidate, stop words apart. A candidate without such a sentence scores 0, without evidence
    (Clark et al. 2016, section "IR"; Khashabi et al. 2018, MultiRC, IR(paragraphs) and IR(web)).

    Parameters
    ----------
    corpus : "passage", "paragraphs", path, Corpus, or several
        Which sentences are searched: those of the question's own passage, each passage with statistics of its
        own; those of all passages of :meth:`fit`; or an index's (``classic-rc index``). Of several, in a list
        or with a plus between, the best sentence of all is taken.
    engine : str
        What searches; see :data:`classic_rc.retrieval.ENGINES`.
    similarity : str or Similarity
        ``"bm25"`` as Lucene has it, ``"classic"`` as Lucene had it before release 6, …
    analyzer : str or Analyzer
        How sentences and queries become index terms; an index brings its own.
    depth : int, optional
        Look for a qualifying sentence among so many best hits of the query alone; by default among all.
    overlap : str or Analyzer, optional
        With `depth`, what the words are that must be shared; by default index terms.
    exclude_verbatim : bool
        Leave out the sentences that hold a question of :meth:`fit` word for word or, in an index, one of their
        passages: as if they had never been indexed.
    decision : Decision, optional

    Attributes
    ----------
    corpora_ : list of Corpus
        What is searched, if not the own passage.
    excluded_ : int
        How many sentences were left out.
    """

    name = "ir"
    description = "a search engine's score of the best sentence about both question and candidate"
    citation = "Clark, Etzioni, Khashabi, Khot, Sabharwal, Tafjord and Turney 2016; Khashabi et al. 2018, MultiRC"
    cites = ("clark2016", "khashabi2018multirc", "robertson1994")
    variants: ClassVar[Mapping[str, Variant]] = IR_VARIANTS
    takes_encoding = False  # it divides passages into sentences

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "corpus": Parameter("which sentences are searched", ("passage", "paragraphs"), is_file=True, joined_by="+"),
        "engine": Parameter("what searches", tuple(ENGINES)),
        "similarity": Parameter("how a sentence is scored"),
        "analyzer": ANALYZER,
        "depth": Parameter(
            "how many best hits of the query alone are looked at; by default all",
            also="a positive number of hits",
            fits=lambda value: value is None or is_whole(value, 1),
        ),
        "overlap": Parameter("the analyzer of the words that must be shared; by default index terms"),
        "exclude_verbatim": Parameter("whether sentences that hold a question word for word are left out"),
        "decision": DECISION,
    }

    def __init__(
        self,
        *,
        corpus: Any = "passage",
        engine: str = "sparse",
        similarity: Any = "bm25",
        analyzer: Any = "lucene-english",
        depth: int | None = None,
        overlap: Any = None,
        exclude_verbatim: bool = False,
        decision: Decision | None = None,
    ) -> None:
        self.corpus = corpus
        self.engine = engine
        self.similarity = similarity
        self.analyzer = analyzer
        self.depth = depth
        self.overlap = overlap
        self.exclude_verbatim = exclude_verbatim
        self.decision = decision

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """Passages where those of all questions are searched, else nothing."""
        return "passages" if "paragraphs" in self._parts() else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Index the questions' passages, or open the indexes, as `corpus` says.

        Raises
        ------
        UsageError
            A parameter has a value that it cannot have.
        DataError
            There is no such index, or it is damaged.
        """
        self._check()
        self.corpora_ = [self._corpus(part, questions) for part in self._parts()]
        self.excluded_ = 0
        if self.exclude_verbatim:
            self.corpora_ = [
                self._without_verbatim(part, corpus, questions)
                for part, corpus in zip(self._parts(), self.corpora_, strict=True)
            ]
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The score of the best qualifying sentence of any corpus; no evidence where there is none."""
        found = self.best_sentences(questions)
        evidence = np.any([best.found for best in found], axis=0)
        # A score may be negative, with 'okapi': the 0 of a corpus that has no such sentence is not above it.
        values = np.max([np.where(best.found, best.scores, -np.inf) for best in found], axis=0)
        return Scores(np.where(evidence, values, 0.0).astype(np.float64), found[0].offsets, evidence)

    def best_sentences(self, questions: Sequence[Question]) -> list[Best]:
        """For each corpus, the best qualifying sentence of each candidate.

        Returns
        -------
        list of Best
            One a corpus; for the own passage one, whose sentences are numbered within the passage.
        """
        self._check()
        if not self._parts():
            return [best_in_passages(questions, similarity=self.similarity, analyzer=self.analyzer)]
        if not hasattr(self, "corpora_"):
            raise NotFittedError(f"{self.name} has no sentences to search: call fit(questions) first")
        asked = [q.query for q in questions]
        options = [_texts(q) for q in questions]
        return [self._in_corpus(corpus.engine, asked, options) for corpus in self.corpora_]

    def explain(self, question: Question) -> Explanation:
        """The best sentence of each candidate, where it comes from, and what each term adds to its score."""
        return explain_sentences(self, question)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """What of the questions stands in the searched sentences word for word, and what was left out."""
        said = [f"{self.excluded_} sentences left out"] if self.exclude_verbatim else []
        for corpus, part in zip(self.corpora_, self._parts(), strict=True):
            found = find_verbatim(corpus, questions, passages=part != "paragraphs")
            if found:
                said.append(f"{corpus.name} holds, word for word, {found}")
        return tuple(said)

    def signature_facts(self) -> Mapping[str, Any]:
        """The corpora by name, content and size."""
        corpora = getattr(self, "corpora_", [])
        return {"corpus": " + ".join(corpus.signature for corpus in corpora)} if corpora else {}

    def _parts(self) -> list[Any]:
        """What `corpus` names, one by one; nothing for the own passage."""
        corpus = self.corpus
        if isinstance(corpus, str) and not os.path.exists(corpus):
            corpus = corpus.split("+")
        parts = list(corpus) if isinstance(corpus, list | tuple) else [corpus]
        return [] if parts == ["passage"] else parts

    @property
    def searches_corpora(self) -> bool:
        """Whether it searches more than the question's own passage."""
        return bool(self._parts())

    def searching(self, paths: Sequence[str] = (), *, exclude_verbatim: bool = False) -> Self:
        """A clone that searches these indexes too (or instead of the own passage), or leaves sentences out."""
        from sklearn.base import clone

        copy: Self = clone(self)
        if paths:
            copy.corpus = [*self._parts(), *paths]
        copy.exclude_verbatim = exclude_verbatim or self.exclude_verbatim
        return copy

    def _corpus(self, part: Any, questions: Sequence[Question]) -> Corpus:
        if isinstance(part, Corpus):
            return part
        if part == "passage":
            raise UsageError("corpus='passage' is the question's own passage alone: nothing can be added to it")
        if part == "paragraphs":
            engine = get_engine(self.engine, similarity=self.similarity, analyzer=self.analyzer)
            return passage_corpus((q.passage for q in questions), engine)
        return open_corpus(part, engine=self.engine, similarity=self.similarity)

    def _without_verbatim(self, part: Any, corpus: Corpus, questions: Sequence[Question]) -> Corpus:
        found = find_verbatim(corpus, questions, passages=part != "paragraphs")
        self.excluded_ += len(found.sentences)
        return corpus.without(sorted(found.sentences))

    def _check(self) -> None:
        self.check_parameters()
        if self.engine == "opensearch" and "paragraphs" in self._parts():
            raise UsageError("engine 'opensearch' searches an index that its cluster has: corpus=NAME")
        if self.engine != "sparse" and not self._parts():
            raise UsageError(
                f"engine {self.engine!r} searches a corpus: a passage's own sentences are for 'sparse'"
            )
        if self.depth is None and self.overlap is not None:
            raise UsageError("parameter 'overlap' of ir says which words of the first hits count: give depth too")
        if self.depth is not None and not self._parts():
            raise UsageError("parameter 'depth' of ir is for a corpus: a passage's own sentences are all looked at")

    def _in_corpus(self, engine: Engine, asked: Sequence[str], options: Sequence[Sequence[str]]) -> Best:
        if self.depth is None:
            return engine.best_constrained(asked, options)
        return engine.best_among_top(asked, options, self.depth, self.overlap or engine.analyzer)


def _texts(question: Question) -> list[str]:
    candidates = question.candidates
    made = candidates.generate() if isinstance(candidates, LazyCandidates) else candidates
    return [c.text for c in made]


_EXPLAINED_CANDIDATES = 100


class _Found(NamedTuple):
    """Where a sentence is."""

    engine: Engine
    number: int
    source: str | None  # None for the own passage


def explain_sentences(solver: IRSolver, question: Question) -> Explanation:
    """The best sentence of each candidate: marked where it is in the passage, else quoted with its source."""
    scores = solver.score_candidates([question])
    bests = solver.best_sentences([question])
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    own = None if solver.searches_corpora else _own_engine(solver, question)
    for i in np.argsort(-scores[0], kind="stable")[:_EXPLAINED_CANDIDATES].tolist():
        found = _best(solver, bests, i, own)
        if found is not None:
            explained[i] = _explained(solver, question, explained[i], found)
    return Explanation(solver.name, question, tuple(explained))


def _best(solver: IRSolver, bests: list[Best], candidate: int, own: Engine | None) -> _Found | None:
    """Where the best sentence of a candidate is, the first of equal ones."""
    best = max(bests, key=lambda b: b.scores[candidate] if b.found[candidate] else -np.inf)
    if not best.found[candidate]:
        return None
    number = int(best.sentences[candidate])
    if own is not None:
        return _Found(own, number, None)
    corpus = solver.corpora_[bests.index(best)]
    return _Found(corpus.engine, number, corpus.source(number))


def _explained(
    solver: IRSolver, question: Question, plain: CandidateExplanation, found: _Found
) -> CandidateExplanation:
    shares = found.engine.term_scores(f"{question.query} {plain.text}", found.number)
    marks: tuple[Mark, ...] = ()
    if found.source is None:
        marks = tuple(_marks(solver, question, plain.text, found.number, dict(shares)))
    quote = None if found.source is None else found.engine.sentence(found.number)
    return CandidateExplanation(
        plain.text, plain.score, plain.evidence, marks, dict(shares), quote=quote, source=found.source
    )


def _marks(
    solver: IRSolver, question: Question, option: str, number: int, shares: dict[str, float]
) -> Iterator[Mark]:
    """The sentence, and in it the words of question and candidate."""
    analyzer = get_analyzer(solver.analyzer)
    asked = set(analyzer.analyze(question.query))
    offered = set(analyzer.analyze(option))
    start, end = passage_sentences(question.passage)[number]
    yield Mark(start, end, "sentence")
    for term, first, last in analyzer.locate(question.passage.text[start:end]):
        if term in asked or term in offered:
            yield Mark(start + first, start + last, "question" if term in asked else "candidate", shares.get(term))


def _own_engine(solver: IRSolver, question: Question) -> Engine:
    passage = question.passage
    engine = get_engine("sparse", similarity=solver.similarity, analyzer=solver.analyzer)
    return engine.index([passage.text[start:end] for start, end in passage_sentences(passage)])
