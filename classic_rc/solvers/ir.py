"""The IR solver: a search engine's score of the best sentence about question and candidate, and
its explanation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from classic_rc.decisions import Decision, Threshold
from classic_rc.errors import DataError, UsageError
from classic_rc.kernels import bm25, tfidf
from classic_rc.parameters import parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Passage, Question
from classic_rc.retrieval.base import Best, Engine, QueryFacts, TermFacts
from classic_rc.retrieval.corpus import Corpus, passage_corpus
from classic_rc.retrieval.registry import (
    DEFAULT_ENGINE,
    ENGINES,
    engine_class,
    get_engine,
    open_corpus,
)
from classic_rc.retrieval.similarity import BM25, Classic, Okapi, Similarity
from classic_rc.retrieval.verbatim import find_verbatim
from classic_rc.solvers.base import Solver, Variant, require_passages
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    divided,
    given,
    logarithm,
    plus,
    root,
    times,
)
from classic_rc.solvers.shared_parameters import ANALYZER, CORPUS, DECISION
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.sentences import passage_sentences

# Content fingerprint and name of the split that the released threshold was tuned on.
_MULTIRC_DEV = {"59ccab9c3201599dc8c41355616ace2c70cffee10d5c3e863b644fbea42ac494": "multirc.dev"}

IR_VARIANTS = {
    "passage": Variant(
        {},
        "the sentences of the question's own passage, with separate statistics for each passage; "
        "BM25",
        "after Clark et al. 2016",
        cites=("clark2016", "robertson1994"),
    ),
    "paragraphs": Variant(
        {"corpus": "paragraphs"},
        "the sentences of all passages; BM25 instead of the paper's TF-IDF",
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
        "the sentences of all passages (the released scores also had those of the hidden test "
        "set); Lucene's TF-IDF; the best of 200 hits that shares stemmed words with question and "
        "option, not counting SMART's stop words",
        "Khashabi et al. 2018, MultiRC, IR(paragraphs), released scores and threshold; Porter's "
        "stemmer instead of Morpha",
        _MULTIRC_DEV,
        cites=("khashabi2018multirc",),
    ),
    "clark2016": Variant(
        {"corpus": "paragraphs", "similarity": "classic"},
        "the sentences of all passages; Lucene's similarity of that time (TF-IDF)",
        "Clark et al. 2016, Combining Retrieval, Statistics, and Inference to Answer Elementary "
        "Science Questions",
        cites=("clark2016",),
    ),
}

_NAMED_AFTER_CORPUS = {
    "passage": "the question's own passage",
    "paragraphs": "the passages of all questions",
}
"""What the variants search that are named after it; others keep their name with any corpus."""


def _sign_engine(name: Any) -> str:
    """Return what a signature shows of an engine: a plug-in also has its package and version."""
    package = ENGINES.package_of(name) if name in ENGINES else None
    return f"{name} of {package}" if package else str(name)


class IRSolver(Solver):
    r"""The IR baseline: the search engine's score of the best sentence about both question and
    candidate.

    .. math:: s = \max_{x \in X} \sum_{t \in q \cup c}
        \ln\left(1 + \frac{N - n_t + 0.5}{n_t + 0.5}\right)
        \frac{f_t}{f_t + k_1 (1 - b + b\,|x| / L)}

    x is a qualifying sentence. It has :math:`|x|` terms, among them :math:`f_t` times the term t. L
    is the mean length of the N sentences, of which :math:`n_t` have t. This is BM25; `similarity`
    changes it.

    The query is the question and the candidate together. A sentence qualifies if it has a word of
    the question and a word of the candidate that are not stop words. A candidate without a
    qualifying sentence scores 0, without evidence (Clark et al. 2016, section "IR"; Khashabi et al.
    2018, MultiRC, IR(paragraphs) and IR(web)).

    Attributes
    ----------
    corpora_ : list of Corpus
        The searched corpora; empty if only the question's own passage is searched.
    excluded_ : int
        The number of sentences left out.
    """

    name = "ir"
    citation = (
        "Clark, Etzioni, Khashabi, Khot, Sabharwal, Tafjord and Turney 2016; Khashabi et al. 2018, "
        "MultiRC"
    )
    cites = ("clark2016", "khashabi2018multirc", "robertson1994")
    variants: ClassVar[Mapping[str, Variant]] = IR_VARIANTS
    takes_encoding = False  # it divides passages into sentences

    corpus: Any = CORPUS.but(
        help="the sentences to search: those of the question's own passage, where each passage has "
        "its own statistics; those of all passages of :meth:`fit`; or those of an index "
        "(``classic-rc index``) or a Corpus. Of several, in a list or joined by a plus, the best "
        "sentence counts",
        allowed=("passage", "paragraphs"),
    )
    engine: str = parameter(
        DEFAULT_ENGINE,
        "the search engine (see `classic-rc list engines`). One that stores indexes outside of "
        "this process needs the name of an index as `corpus`",
        signed=_sign_engine,
    )
    similarity: Any = parameter(
        "bm25",
        "how the engine scores a sentence: ``'bm25'`` as in Lucene, ``'classic'`` as in Lucene "
        "before release 6, …",
        also="a name or a Similarity",
    )
    analyzer: Any = ANALYZER.but(
        default="lucene-english",
        help="the analyzer that turns sentences and queries into index terms; an index uses its "
        "own instead",
    )
    depth: int | None = whole_number(
        None,
        "among how many best hits of the query to look for a qualifying sentence; None for all "
        "sentences",
        allowed=(None,),
    )
    overlap: Any = parameter(
        None,
        "with `depth`, the analyzer of the words that a sentence must share; None for the index "
        "terms",
        also="a name, an Analyzer or None",
    )
    exclude_verbatim: bool = parameter(
        False,
        "whether to leave out sentences that contain a question of :meth:`fit` word for word or, "
        "in an index, one of their passages. The statistics are then those of an index that never "
        "had these sentences",
    )
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "passages"]:  # type: ignore[override]
        """``"passages"`` if the passages of all questions are searched, else ``"nothing"``."""
        return "passages" if "paragraphs" in self._parts() else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Index the questions' passages, or open the indexes that `corpus` names.

        Raises
        ------
        UsageError
            A parameter has a value that is not allowed.
        DataError
            An index is missing or damaged, or there is no text to search.
        """
        self._check_values()
        self.corpora_ = [self._open(source, questions) for source in self._parts()]
        self.excluded_ = 0
        if self.exclude_verbatim:
            searched = zip(self._parts(), self.corpora_, strict=True)
            self.corpora_ = [
                self._exclude_verbatim(source, corpus, questions) for source, corpus in searched
            ]
        if not any(corpus.engine.n_sentences for corpus in self.corpora_):
            require_passages(questions, hint="Search an index: -s ir,corpus=DIR")
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the best qualifying sentence of any corpus; no evidence if
        there is none.
        """
        return self._best_scores(self.best_sentences(questions))

    @staticmethod
    def _best_scores(bests: Sequence[Best]) -> Scores:
        evidence = np.any([best.found for best in bests], axis=0)
        # Scores of the 'okapi' similarity may be negative. A corpus without a qualifying sentence
        # reports 0, which must not win over a negative score of another corpus.
        values = np.max([np.where(best.found, best.scores, -np.inf) for best in bests], axis=0)
        values = np.where(evidence, values, 0.0).astype(np.float64)
        return Scores(values, bests[0].offsets, evidence)

    def best_sentences(self, questions: Sequence[Question]) -> list[Best]:
        """Find the best qualifying sentence of each candidate in each corpus.

        Returns
        -------
        list of Best
            One for each corpus. If only the question's own passage is searched, there is one, and
            it numbers the sentences within the passage.

        Raises
        ------
        NotFittedError
            There are corpora to search, and :meth:`fit` has not opened them.
        """
        self._check_values()
        if not self._parts():
            return [self._new_engine().best_in_passages(questions)]
        self.require_fitted(
            "corpora_", f"{self.name} has not opened its corpora: call fit(questions) first"
        )
        queries = [q.query for q in questions]
        options = [[c.text for c in q.candidates] for q in questions]
        return [self._search(corpus.engine, queries, options) for corpus in self.corpora_]

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show the best sentence of each candidate, its source, and what each term adds to its
        score.
        """
        return explain_sentences(self, questions)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Report the sentences left out, and the questions and passages that a corpus contains word
        for word.

        Like other solvers, an unfitted one has no caveats.
        """
        if not hasattr(self, "corpora_"):
            return ()
        caveats = [f"{self.excluded_} sentences left out"] if self.exclude_verbatim else []
        for corpus, source in zip(self.corpora_, self._parts(), strict=True):
            try:
                verbatim = find_verbatim(corpus, questions, passages=source != "paragraphs")
            except DataError as error:  # an index without the texts can be searched, but not read
                caveats.append(
                    f"{corpus.name} is not compared with the questions word for word: {error}"
                )
                continue
            if verbatim:
                caveats.append(f"{corpus.name} contains, word for word, {verbatim}")
        return tuple(caveats)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the corpora's signatures: name, content and size."""
        corpora = getattr(self, "corpora_", [])
        return {"corpus": " + ".join(corpus.signature for corpus in corpora)} if corpora else {}

    def _parts(self) -> list[Any]:
        """Return the corpora that `corpus` names, or an empty list for the question's own
        passage.
        """
        corpus = self.corpus
        # An existing path may itself contain a plus.
        if isinstance(corpus, str) and not os.path.exists(corpus):
            corpus = corpus.split("+")
        parts = list(corpus) if isinstance(corpus, list | tuple) else [corpus]
        return [] if parts == ["passage"] else parts

    @property
    def searches_corpora(self) -> bool:
        """Whether the solver searches corpora instead of the question's own passage."""
        return bool(self._parts())

    @classmethod
    def variant(cls, name: str, **changes: Any) -> Self:
        """See :meth:`Solver.variant`; a variant that is named after its corpus must search it.

        Raises
        ------
        UsageError
            The variant or a parameter is unknown, or the corpus is not what the variant's name
            says.
        """
        solver = super().variant(name, **changes)
        if name in _NAMED_AFTER_CORPUS and name not in (solver._parts() or ["passage"]):
            expected = "no corpus" if name == "passage" else f"{name}, or {name}+INDEX"
            settings = ",".join(f"{parameter}={value}" for parameter, value in changes.items())
            problem = (
                f"{cls.name}:{name} searches {_NAMED_AFTER_CORPUS[name]}, not {solver.corpus}: to "
                f"search that, use {cls.name},{settings}"
            )
            raise UsageError(problem, field="corpus", found=str(solver.corpus), expected=expected)
        return solver

    def variant_name(self) -> str | None:
        """See :meth:`Solver.variant_name`; a variant that searches indexes, too or instead,
        keeps its name.
        """
        variant, parts = super().variant_name(), self._parts()
        if variant is not None or parts in ([], ["paragraphs"]):
            return variant
        of_paragraphs = self.from_params(
            {**self.get_params(deep=False), "corpus": "paragraphs"}
        ).variant_name()
        return (
            of_paragraphs
            if "paragraphs" in parts or of_paragraphs not in _NAMED_AFTER_CORPUS
            else None
        )

    def row_name(self) -> str:
        """See :meth:`Solver.row_name`; the name also says what is searched, unless the variant's
        name does.
        """
        parts = []
        for source in self._parts():
            if isinstance(source, Corpus):
                parts.append(source.name)
            else:
                parts.append(Path(str(source)).name)
        is_shown = not parts or (parts == ["paragraphs"] and self.variant_name() is not None)
        return super().row_name() if is_shown else f"{super().row_name()},corpus={'+'.join(parts)}"

    def _open(self, source: Any, questions: Sequence[Question]) -> Corpus:
        if isinstance(source, Corpus):
            return source
        if source == "passage":
            problem = (
                "corpus='passage' is the question's own passage: it cannot be combined with other "
                "corpora"
            )
            raise UsageError(problem, field="corpus", found=repr(self.corpus))
        if source == "paragraphs":
            return passage_corpus((q.passage for q in questions), self._new_engine())
        return open_corpus(source, engine=self.engine, similarity=self.similarity)

    def _new_engine(self) -> Engine:
        return get_engine(self.engine, similarity=self.similarity, analyzer=self.analyzer)

    def _exclude_verbatim(
        self, source: Any, corpus: Corpus, questions: Sequence[Question]
    ) -> Corpus:
        verbatim = find_verbatim(corpus, questions, passages=source != "paragraphs")
        self.excluded_ += len(verbatim.sentences)
        return corpus.without(sorted(verbatim.sentences))

    def _check_values(self) -> None:
        self.check_parameters()
        parts = self._parts()
        engine = engine_class(self.engine)
        if engine.needs_place and (not parts or "paragraphs" in parts):
            problem = f"engine {self.engine!r} searches only {engine.stored_as}: corpus=NAME"
            raise UsageError(
                problem, field="corpus", found=repr(self.corpus), expected=engine.stored_as
            )
        if self.exclude_verbatim and engine.needs_place:
            problem = (
                f"engine {self.engine!r} cannot leave out sentences: use an engine with indexes in "
                "memory"
            )
            raise UsageError(
                problem, field="engine", found=repr(self.engine), expected="an engine in memory"
            )
        if len({source for source in parts if isinstance(source, str)}) < sum(
            isinstance(source, str) for source in parts
        ):
            raise self.wrong_value(
                "corpus", "different corpora", f"names a corpus twice: {self.corpus}"
            )
        if self.depth is None and self.overlap is not None:
            problem = "has an effect only with depth: set depth=HITS too"
            raise self.wrong_value("overlap", "None, or depth too", problem)
        if self.depth is not None and not parts:
            problem = (
                "needs a corpus (corpus=paragraphs or an index): without one, all sentences of the "
                "question's own passage are searched"
            )
            raise self.wrong_value("depth", "None, or a corpus", problem)

    def _search(
        self, engine: Engine, queries: Sequence[str], options: Sequence[Sequence[str]]
    ) -> Best:
        if self.depth is None:
            return engine.best_constrained(queries, options)
        return engine.best_among_top(queries, options, self.depth, self.overlap or engine.analyzer)


_NO_SENTENCE = "no sentence shares a word with both question and candidate"


class _SentenceLocation(NamedTuple):
    """Where a sentence is."""

    engine: Engine  # the engine that scored it
    number: int  # in its corpus, or in its passage
    source: str | None  # None for the question's own passage


def explain_sentences(solver: IRSolver, questions: Sequence[Question]) -> Iterator[Explanation]:
    """Explain each candidate by its best sentence: marked if it is in the passage, else quoted with
    its source.

    Only the 100 best candidates have a sentence; the others have only their scores.
    """
    bests = solver.best_sentences(questions)
    scores = solver._best_scores(bests)
    engine: Engine | None = None
    passage: Passage | None = None
    for k, question in enumerate(questions):
        if not solver.searches_corpora and question.passage is not passage:
            passage, engine = question.passage, _index_passage(solver, question)
        explanation = Explanation.from_scores(solver.name, question, scores.take([k]))
        candidates = []
        for plain in explanation.candidates:
            if not plain.evidence:
                make_formula = partial(given, "score", plain.score, _NO_SENTENCE)
                plain = replace(plain, make_formula=make_formula)
            candidates.append(plain)
        explain = partial(_explain_best, solver, question, bests, int(scores.offsets[k]), engine)
        yield replace(explanation, candidates=tuple(candidates)).with_best(explain)


def _explain_best(
    solver: IRSolver,
    question: Question,
    bests: list[Best],
    offset: int,
    passage_engine: Engine | None,
    i: int,
    plain: CandidateExplanation,
) -> CandidateExplanation:
    """Explain candidate i of the question whose candidates start at `offset`."""
    location = _locate_best(solver, bests, offset + i, passage_engine)
    return plain if location is None else _explain_candidate(solver, question, plain, location)


def _locate_best(
    solver: IRSolver, bests: list[Best], candidate: int, passage_engine: Engine | None
) -> _SentenceLocation | None:
    """Return the location of a candidate's best sentence, or None; of equal ones, the first
    corpus's.
    """
    qualifying = [best for best in bests if best.found[candidate]]
    if not qualifying:
        return None
    best = max(qualifying, key=lambda best: best.scores[candidate])
    number = int(best.sentences[candidate])
    if passage_engine is not None:
        return _SentenceLocation(passage_engine, number, None)
    corpus = solver.corpora_[bests.index(best)]
    return _SentenceLocation(corpus.engine, number, corpus.source(number))


def _explain_candidate(
    solver: IRSolver, question: Question, plain: CandidateExplanation, location: _SentenceLocation
) -> CandidateExplanation:
    engine, number, source = location
    query = f"{question.query} {plain.text}"
    facts = engine.term_facts(query, number)
    term_scores = {fact.term: fact.share for fact in facts.terms}

    def formula() -> Term:
        if not facts.terms:
            return given(
                "score", plain.score, f"engine {engine.name} does not report what each term adds"
            )
        terms = (_explain_term(engine.similarity, fact, facts) for fact in facts.terms)
        return plus("score", *terms, value=plain.score)

    marks: tuple[Mark, ...] = ()
    if source is None:
        marks = tuple(_mark_sentence(solver, question, plain.text, number, term_scores))
    quote = None if source is None else engine.sentence(number)
    return replace(
        plain, marks=marks, numbers=term_scores, quote=quote, source=source, make_formula=formula
    )


def _explain_term(similarity: Similarity, fact: TermFacts, facts: QueryFacts) -> Term:
    """Return what one term adds, from the counts of the term, the sentence and the collection."""
    name, factors = f'"{fact.term}"', []
    if fact.frequency is None or fact.n_sentences is None or fact.idf is None:
        return given(name, fact.share, "the engine does not report the counts")
    if fact.boost != 1:
        factors.append(given("times in the query", fact.boost))
    count = given("tf", fact.frequency)
    if isinstance(similarity, BM25):
        n_others = facts.n_with_terms - fact.n_sentences + 0.5
        odds = divided("", n_others, fact.n_sentences + 0.5)
        note = f"{fact.n_sentences} of {facts.n_with_terms} sentences have it"
        factors.append(logarithm("idf", plus("", 1, odds), fact.idf, note))
        length = int(bm25.byte4_lengths(np.array([facts.length]))[0])
        mean = divided("", facts.n_tokens, facts.n_with_terms)
        relative = times("", similarity.b, divided("", length, mean))
        rounded = f", {facts.length} terms rounded as in Lucene" if length != facts.length else ""
        note = f"k1 * (1 - b + b * length / mean length){rounded}"
        norm = times("length norm", similarity.k1, plus("", 1 - similarity.b, relative), note=note)
        return times(
            name, *factors, divided("", count, plus("", fact.frequency, norm)), value=fact.share
        )
    if isinstance(similarity, Classic):
        ratio = divided("", max(facts.n_sentences, 1), fact.n_sentences + 1)
        note = f"{fact.n_sentences} of {facts.n_sentences} sentences have it"
        idf = plus("idf", 1, logarithm("", ratio), value=fact.idf, note=note)
        factor = float(tfidf.length_factors(np.array([facts.length]))[0])
        matched = sum(term_facts.boost for term_facts in facts.terms)
        length_norm = given("length norm", factor, f"1 / sqrt({facts.length}) in one byte")
        norm = root("", facts.sum_of_squares)
        query_norm = divided("query norm", 1, norm, note="from the idf of all query terms")
        note = "query terms that the sentence has"
        coordination = divided("coordination", matched, facts.n_query_terms, note=note)
        # The idf counts twice: in the query's weight of the term, and in the sentence's.
        factors += [root("", count), idf, given("", fact.idf)]
        factors += [length_norm, query_norm, coordination]
        return times(name, *factors, value=fact.share)
    assert isinstance(similarity, Okapi)
    note = f"{fact.n_sentences} of {facts.n_sentences} sentences have it"
    n_others, n_with = facts.n_sentences - fact.n_sentences + 0.5, fact.n_sentences + 0.5
    if n_others < n_with:
        mean_idf = given(
            "mean idf of all terms", fact.idf / similarity.epsilon if similarity.epsilon else 0.0
        )
        factors.append(
            times(
                "idf", similarity.epsilon, mean_idf, value=fact.idf, note=f"{note}, more than half"
            )
        )
    else:
        factors.append(logarithm("idf", divided("", n_others, n_with), fact.idf, note))
    relative = times(
        "", similarity.b, divided("", facts.length, divided("", facts.n_tokens, facts.n_sentences))
    )
    note = "k1 * (1 - b + b * length / mean length)"
    norm = times("length norm", similarity.k1, plus("", 1 - similarity.b, relative), note=note)
    saturated = times("", fact.frequency, similarity.k1 + 1)
    return times(name, *factors, divided("", saturated, plus("", count, norm)), value=fact.share)


def _mark_sentence(
    solver: IRSolver, question: Question, option: str, number: int, term_scores: dict[str, float]
) -> Iterator[Mark]:
    """Yield a mark for the sentence, then for each question or candidate word in it."""
    analyzer = get_analyzer(solver.analyzer)
    question_terms = set(analyzer.analyze(question.query))
    option_terms = set(analyzer.analyze(option))
    start, end = passage_sentences(question.passage)[number]
    yield Mark(start, end, "sentence")
    for term, first, last in analyzer.locate(question.passage.text[start:end]):
        if term in question_terms or term in option_terms:
            kind = "question" if term in question_terms else "candidate"
            yield Mark(start + first, start + last, kind, term_scores.get(term))


def _index_passage(solver: IRSolver, question: Question) -> Engine:
    passage = question.passage
    sentences = [passage.text[start:end] for start, end in passage_sentences(passage)]
    return solver._new_engine().index(sentences)
