"""The alignment-ilp solver: it scores each candidate by its best support graph, and explains the
graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress, pairwise
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from classic_rc.decisions import Decision
from classic_rc.io.forks import note_processes
from classic_rc.io.reporters import reporters
from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.parameters import number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.alignment.bounds import solve
from classic_rc.solvers.alignment.program import Constants, Edges, Graph, Program, SolvedProgram
from classic_rc.solvers.alignment.texts import (
    AlignedQuestion,
    Entailment,
    RunChunker,
    align_questions,
)
from classic_rc.solvers.base import Solver, candidate_counts
from classic_rc.solvers.explanation import Explanation, Mark, Term, given, minus, plus, times
from classic_rc.solvers.shared_parameters import ANALYZER, DECISION, STOP_WORDS, WORDNET
from classic_rc.text.analyzers import STEMMERS, get_analyzer, stemmer, stop_words
from classic_rc.text.annotated import TextChunk
from classic_rc.text.wordnet import WordNet, find_wordnet, read_wordnet

_QUESTIONS_PER_SHARD = 1_000
"""The least number of questions for each process: fewer are solved faster than another process
starts.
"""


class AlignmentILP(Solver):
    r"""Alignment by integer programming: the value of the best graph between question, passage and
    candidate.

    .. math:: \max \sum_{q,p} x_{qp} (e(q, p) - 0.4) + \sum_{p,a} y_{pa} (\bar e(p, a) - 0.4)
        + 0.33 \sum_q z_q - 2.5 \sum_s v_s

    The binary variables are x and y (edges), z (active chunks of the question) and v (active
    sentences). e is the directed and :math:`\bar e` the symmetric entailment of chunks. Each
    candidate has its own program. The parameters from `max_sentences` on are the constraints; None
    turns a limit off.

    Constants and constraints are those published for SemanticILP (Khashabi et al. 2018) with its
    simple matching. The original needs annotators and a private entailment service. So this solver
    is a new specification, not a reproduction: chunks are runs of content words, and entailment is
    overlap of stems, or WordNet.

    A candidate without a graph has no evidence. It scores less than any graph: -6.4, or with other
    constants the value of :meth:`~classic_rc.solvers.alignment.program.Constants.infeasible_value`.
    """

    name = "alignment-ilp"
    former_params: ClassVar = {"annotations": None}
    citation = (
        "after Khashabi, Khot, Sabharwal and Roth 2018, Question Answering as Global Reasoning "
        "over Semantic Abstractions, AAAI"
    )
    cites = ("khashabi2018semanticilp",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER})
    takes_encoding = False  # it divides passages into sentences and chunks
    needs_passages = True

    analyzer: Any = ANALYZER
    chunks: Literal["runs", "words"] = parameter(
        "runs",
        "what a chunk is: a maximal run of content words between stop words and punctuation, or a "
        "single content word",
        allowed=("runs", "words"),
    )
    stop_words: str = STOP_WORDS.but(
        default="nltk",
        help="the name of a stop list, or a file (the default did best on the training sets of "
        "MCTest)",
    )
    normaliser: str = parameter(
        "porter", "the name of a stemmer; words with equal stems are equal", allowed=tuple(STEMMERS)
    )
    wordnet: str | None = WORDNET.but(
        help="the folder of a WordNet database, or ``auto`` to look in the usual places; if none "
        "is found, the solver works without WordNet and reports this as a caveat. With None, words "
        "entail only equal words"
    )
    offset: float = number(
        0.4,
        "what is subtracted from an entailment to make an edge's weight; the question's edges must "
        "have positive weights",
        least=0,
        most=1,
    )
    question_weight: float = number(0.33, "the weight of each active question chunk", least=0)
    sentence_weight: float = number(-2.5, "the weight of each active sentence", most=0)
    long_option_weight: float = number(
        0.02, "the weight of a candidate with more than three chunks"
    )
    max_sentences: int | None = whole_number(
        2, "the greatest number of active sentences", allowed=(None,)
    )
    max_edges: int | None = whole_number(
        8, "the greatest number of edges into one sentence", allowed=(None,)
    )
    max_copies: int | None = whole_number(
        3, "the greatest number of active passage chunks with the same words", allowed=(None,)
    )
    min_question_chunks: int | None = whole_number(
        1, "the least number of active question chunks", allowed=(None,)
    )
    max_question_chunks: int | None = whole_number(
        3,
        "the greatest number of active question chunks; the only chunk of a question may always be "
        "active",
        allowed=(None,),
    )
    min_question_share: float | None = number(
        0.1, "the least share of active question chunks", least=0, most=1, allowed=(None,)
    )
    max_question_share: float | None = number(
        0.65,
        "the greatest share of active question chunks; the only chunk of a question may always be "
        "active",
        least=0,
        most=1,
        allowed=(None,),
    )
    align_without: bool = parameter(
        True,
        'whether the chunk after "without" in the question must be active',
        allowed=(True, False),
    )
    align_option: bool = parameter(
        True, "whether the candidate must have an edge", allowed=(True, False)
    )
    node_limit: int = whole_number(
        10_000,
        "the number of nodes after which the search for a candidate's graph stops, with the best "
        "graph so far",
    )
    decision: Decision | None = DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters, and read WordNet."""
        self._check_values()
        self._open_wordnet()
        return self

    @property
    def constants(self) -> Constants:
        """The weights and limits of the programs."""
        return Constants(*(getattr(self, name) for name in Constants._fields))

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the value of its best graph; no evidence if it has no graph."""
        return self._join_parts(questions, [self._score_part(questions)])

    def score_with_jobs(self, questions: Sequence[Question], jobs: int) -> Scores:
        """Score like :meth:`score_candidates`, with up to `jobs` processes."""
        from joblib import Parallel, delayed, effective_n_jobs

        n_shards = len(questions) // block_size(_QUESTIONS_PER_SHARD)
        n_shards = note_processes(min(effective_n_jobs(jobs), n_shards))
        if n_shards < 2:
            return self.score_candidates(questions)
        bounds = np.linspace(0, len(questions), n_shards + 1).astype(int).tolist()
        shards = []
        for start, end in pairwise(bounds):
            shards.append([questions[i] for i in range(start, end)])
        with reporters(n_shards) as reporting:
            pairs = zip(reporting, shards, strict=True)
            tasks = (delayed(report)(self._score_part, shard) for report, shard in pairs)
            parts = Parallel(n_jobs=n_shards)(tasks)
        return self._join_parts(questions, parts)

    def solved(
        self, questions: Sequence[Question]
    ) -> Iterator[tuple[AlignedQuestion, list[SolvedProgram]]]:
        """Yield each question with its programs and their solutions, one for each candidate."""
        self._check_values()
        constants = self.constants
        for question in align_questions(questions, self._chunker(), self._entailment(), constants):
            solutions: dict[
                int, SolvedProgram
            ] = {}  # candidates with the same text share a program: solve it once
            for program in question.programs:
                if id(program) not in solutions:
                    solutions[id(program)] = solve(program, constants, self.node_limit)
            yield question, [solutions[id(program)] for program in question.programs]

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show each candidate's graph: its edges, its sentences, and the terms of its value."""
        for question, (alignment, solutions) in zip(questions, self.solved(questions), strict=True):
            part_scores = self._score_solved([question], [(alignment, solutions)])
            scores = self._join_parts([question], [part_scores])
            plain = Explanation.from_scores(self.name, question, scores)
            yield explain_graphs(alignment, solutions, self.constants, plain)

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Report a missing WordNet, and how many programs stopped at the node limit in the last
        scoring.
        """
        caveats = []
        if self.wordnet == "auto" and self._open_wordnet() is None:
            caveats.append("no WordNet database was found: words entail only equal words")
        stopped = getattr(self, "stopped_", {})
        if n := sum(stopped.get(question.id, 0) for question in questions):
            caveats.append(
                f"{n} programs stopped at node_limit={self.node_limit}: better graphs may exist"
            )
        return tuple(caveats)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the signature of WordNet, without its path, or that it is off or absent."""
        wordnet = self._open_wordnet()
        absent = "off" if self.wordnet is None else "absent"
        return {"wordnet": absent if wordnet is None else wordnet.signature}

    def _score_part(self, questions: Sequence[Question]) -> _PartScores:
        return self._score_solved(questions, self.solved(questions))

    def _score_solved(
        self,
        questions: Sequence[Question],
        solved: Iterable[tuple[AlignedQuestion, list[SolvedProgram]]],
    ) -> _PartScores:
        constants = self.constants
        part_scores = _PartScores([], [], {})
        for question, (alignment, solutions) in zip(questions, solved, strict=True):
            infeasible = constants.infeasible_value(len(alignment.question))
            graphs = [solution.graph for solution in solutions]
            part_scores.values.extend(
                infeasible if graph is None else graph.value for graph in graphs
            )
            part_scores.evidence.extend(graph is not None for graph in graphs)
            if n := sum(not solution.complete for solution in solutions):
                part_scores.stopped[question.id] = n
        return part_scores

    def _join_parts(self, questions: Sequence[Question], parts: Sequence[_PartScores]) -> Scores:
        self.stopped_ = {id: n for part_scores in parts for id, n in part_scores.stopped.items()}
        values = [value for part_scores in parts for value in part_scores.values]
        evidence = [flag for part_scores in parts for flag in part_scores.evidence]
        offsets = offsets_of(candidate_counts(questions))
        return Scores(np.array(values), offsets, np.array(evidence))

    def _check_values(self) -> None:
        get_analyzer(self.analyzer)
        self.check_parameters()

    def _open_wordnet(self) -> WordNet | None:
        folder = find_wordnet() if self.wordnet == "auto" else self.wordnet
        return None if folder is None else read_wordnet(folder)

    def _entailment(self) -> Entailment:
        return Entailment(stemmer(self.normaliser), self._open_wordnet())

    def _chunker(self) -> RunChunker:
        stops = stop_words(str(self.stop_words))
        return RunChunker(get_analyzer(self.analyzer), stops, single=self.chunks == "words")


class _PartScores(NamedTuple):
    """The scores of one process's questions."""

    values: list[float]
    evidence: list[bool]
    stopped: dict[str, int]  # by question id, how many programs stopped at the node limit


def explain_graphs(
    alignment: AlignedQuestion,
    solutions: Sequence[SolvedProgram],
    constants: Constants,
    plain: Explanation,
) -> Explanation:
    """Explain each candidate by its graph, in words and as marks in the passage; the terms add
    up to the score.
    """
    explained = []
    columns = plain.candidates, solutions, alignment.programs, alignment.candidates
    for candidate, solution, program, option in zip(*columns, strict=True):
        graph = solution.graph
        if graph is None:
            note = "no graph fulfils the constraints: less than any graph"
            formula = partial(given, "score", candidate.score, note)
            explained.append(replace(candidate, make_formula=formula))
            continue
        explanation = replace(
            candidate,
            marks=_mark_graph(alignment, graph, program),
            numbers=graph.terms(program, constants),
            quote=_describe_graph(alignment, option, graph),
            source="support graph",
            make_formula=partial(_explain_value, alignment, option, graph, program, constants),
        )
        explained.append(explanation)
    return replace(plain, candidates=tuple(explained))


def _mark_graph(alignment: AlignedQuestion, graph: Graph, program: Program) -> tuple[Mark, ...]:
    """Mark the active sentences, from their first chunk to their last, and the aligned chunks."""
    marks = []
    for sentence in graph.active_sentences(program):
        in_sentence = program.sentences == sentence
        chunks = list(compress(alignment.passage, in_sentence.tolist()))
        marks.append(Mark(chunks[0].start, chunks[-1].end, "sentence"))
    for edges, kind in ((graph.question, "question"), (graph.option, "candidate")):
        weights: dict[int, float] = {}
        for chunk, weight in zip(edges.chunks.tolist(), edges.weights.tolist(), strict=True):
            weights[chunk] = weights.get(chunk, 0.0) + weight
        for chunk, weight in sorted(weights.items()):
            text = alignment.passage[chunk]
            marks.append(Mark(text.start, text.end, kind, weight))
    return tuple(marks)


def _describe_graph(alignment: AlignedQuestion, option: Sequence[TextChunk], graph: Graph) -> str:
    """Describe a graph edge by edge: ``question "his shoes" -> "the shoes" (sentence 2) 0.600``."""
    descriptions = []
    sides = (
        ("question", alignment.question, graph.question),
        ("option", option, graph.option),
    )
    for side, ends, edges in sides:
        for end, chunk, weight in _edge_rows(edges):
            passage = alignment.passage[chunk]
            edge = f"{side} {_edge_label(ends[end], passage)}"
            descriptions.append(f"{edge} (sentence {passage.sentence + 1}) {weight:.3f}")
    return "; ".join(descriptions) or "empty"


def _explain_value(
    alignment: AlignedQuestion,
    option: Sequence[TextChunk],
    graph: Graph,
    program: Program,
    constants: Constants,
) -> Term:
    """Return the value of a graph as the sum of its edges, chunks and sentences."""

    def edges(
        name: str, side: str, ends: Sequence[TextChunk], side_edges: Edges, value: float
    ) -> Term:
        terms = []
        for end, chunk, weight in _edge_rows(side_edges):
            passage = alignment.passage[chunk]
            label = _edge_label(ends[end], passage)
            entailment = given("", weight + constants.offset)
            offset = minus("", constants.offset)
            note = f"{side} to sentence {passage.sentence + 1}: entailment - offset"
            terms.append(plus(label, entailment, offset, value=weight, note=note))
        return plus(name, *terms, value=value) if terms else given(name, value, "none")

    values = graph.terms(program, constants)
    question_value, option_value = values["question_edges"], values["option_edges"]
    n_chunks = len(np.unique(graph.question.ends))
    n_sentences = len(graph.active_sentences(program))
    chunk_note, sentence_note = "active chunks * their weight", "active sentences * their weight"
    terms = [
        edges("question edges", "question", alignment.question, graph.question, question_value),
        edges("option edges", "option", option, graph.option, option_value),
        times("question chunks", n_chunks, constants.question_weight, note=chunk_note),
        times("sentences", n_sentences, constants.sentence_weight, note=sentence_note),
    ]
    if program.bonus:
        terms.append(given("long option", program.bonus))
    return plus("score", *terms, value=graph.value)


def _edge_label(end: TextChunk, passage: TextChunk) -> str:
    return f'"{" ".join(end.words)}" -> "{" ".join(passage.words)}"'


def _edge_rows(edges: Edges) -> list[tuple[int, int, float]]:
    """Return the end, the passage chunk and the weight of each edge, by passage chunk."""
    rows = zip(edges.ends.tolist(), edges.chunks.tolist(), edges.weights.tolist(), strict=True)
    return sorted(rows, key=lambda row: (row[1], row[0]))
