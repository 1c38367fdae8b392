"""The span ranker: a log-linear model of answer spans, learned by AdaGrad over batches of
questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision, ExpectedF1
from classic_rc.errors import DataError
from classic_rc.folds import FoldPlan
from classic_rc.io.scratch import ScratchFile
from classic_rc.kernels.arrays import block_size, offsets_of
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.metrics.quoref import normalise_quoref_answer
from classic_rc.parameters import clone, is_number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Candidate, LazyCandidates, Question, Task
from classic_rc.solvers.base import Solver, Variant, provenance
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    given,
    plus,
)
from classic_rc.solvers.learning import (
    check_ascending,
    check_shape,
    chosen_groups,
    require_gold,
    require_task,
)
from classic_rc.solvers.shared_parameters import SEED, SPAN_DECISION
from classic_rc.solvers.spans.columns import (
    GROUPS,
    N_COLUMNS,
    TEMPLATES_CODE,
    AskedQuestion,
    ColumnMaker,
    Part,
    TokenBlock,
    blocks_of,
)
from classic_rc.solvers.spans.grammar import Grammar, LearnedGrammar
from classic_rc.solvers.spans.texts import (
    ENGLISH,
    Lexicon,
    Rarity,
    ReadCandidates,
    ReadPassage,
    ReadQuestion,
    code_of,
)
from classic_rc.solvers.spans.training import TrainingFeatures, step_down
from classic_rc.text.languages import ENGLISH as ENGLISH_LANGUAGE
from classic_rc.text.languages import language_of
from classic_rc.text.scorers import scorer_of
from classic_rc.text.spans import text_codes
from classic_rc.work import tracked

Normalise = Callable[[str], str]

# A batch is a step of the learner, so neither number may depend on how much memory there is.
_BATCH_QUESTIONS = 64
_BATCH_SIZE = 2**17
_BLOCK_QUESTIONS = 64
_BLOCK_SIZE = 2**16
_READ_QUESTIONS = 2**11
_MOST_BYTES = 2**33  # of the file of features; those of SQuAD's 87,599 questions have 7.5 GB
_TUNED_FOLDS = 3
_TUNED_QUESTIONS = 2_000
"""Folds are held out, one after the other, until this many questions are scored; of each fold, at
most twice as many.
"""


def _positive(default: float, help: str) -> Any:
    return parameter(default, help, also="a positive number", fits=lambda v: is_number(v) and v > 0)


class SpanRanker(Solver):
    r"""A log-linear model of answer spans: words, classes, distances and paths at both ends, and
    the inside.

    .. math:: s(i, j) = a \cdot x(i) + b \cdot x'(j) + c \cdot y(\text{sentence}) + d \cdot z(i, j)

    i and j are the first and the last token of a span. All features are 0 or 1: combinations of
    attributes of the question (wh-word, head noun, verb, rare words), of a token and its neighbours
    (word, class, shape), of the way to the nearest question word, of the sentence's share
    of the question's words, and of the span (length, classes inside).
    :data:`~classic_rc.solvers.spans.columns.GROUPS` lists the groups. Each is hashed to one of
    2**20 columns for first tokens and sentences, as many for last tokens, and as many for spans.

    The weights minimise the loss of conditional logit over all candidates of a question,

    .. math:: \log \sum_c e^{s_c} - \log \sum_{c\ \text{right}} e^{s_c}

    by AdaGrad (Duchi et al. 2011) from zero, a few passes over the questions. A column starts with
    the squared gradient `damping`, so rare features stay light. That and the small number of passes
    are the regularisation. The features of training questions are kept in a temporary file of at
    most 8 GiB.

    A candidate is right if its text is a gold text, normalised as in the task's metric; if the data
    have offsets of the answers and one of these candidates overlaps them, only those that do. If
    several spans are the answer together, the loss is the mean over the gold texts. Questions
    without a right candidate teach nothing.

    The answer is the text with the greatest expected F1
    (:class:`~classic_rc.decisions.ExpectedF1`). Its two constants are chosen inside the training
    data: a third of the passages is scored by weights learned from the rest, and then the next
    third, until 2,000 questions are scored.

    Words are weighed by their rarity in the training passages. Word classes come from a closed list
    of function words, from digits, capitals and suffixes. Those lists are English; for training
    passages in another language, function words, suffixes and question words are learned from them
    (:class:`~classic_rc.solvers.spans.grammar.LearnedGrammar`). Nothing is downloaded.

    Attributes
    ----------
    grammar_ : Grammar
        The classes of words, chosen by the language of the training passages.
    rarity_ : Rarity
        The stems of the training passages.
    weights_ : ndarray of float32, shape (3 * 2**20,)
    decision_ : ExpectedF1
        The decision with its constants, unless `decision` is another rule or has both.
    caveats_ : tuple of str
        How many training questions taught nothing.
    """

    name = "span-ranker"
    citation = (
        "features after Rajpurkar, Zhang, Lopyrev and Liang 2016, SQuAD, section 5.2, without a "
        "parse; put together in this package"
    )
    cites = ("rajpurkar2016",)
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SPAN, Task.MULTI_SPAN})
    takes_encoding = False  # it has its own tokens, with punctuation
    usual_decision = ExpectedF1
    variants: ClassVar[Mapping[str, Variant]] = {
        "wh-word": Variant(
            {"inputs": "wh-word"},
            "reads of the question nothing but its wh-word: what the kind of answer alone gives "
            "away",
            "after Kaushik and Lipton 2018",
        )
    }

    features: str = parameter(
        "default", f"groups of features joined by a plus: {', '.join(GROUPS)}"
    )
    inputs: Literal["all", "wh-word"] = parameter(
        "all",
        "the inputs to read: all, or of the question only its wh-word",
        allowed=("all", "wh-word"),
    )
    epochs: int = whole_number(5, "the number of passes over the training questions", least=1)
    rate: float = _positive(0.05, "the learning rate")
    damping: float = _positive(0.003, "the squared gradient that each column starts with")
    seed: int = SEED.but(
        help="the seed of the order of training questions, which depends on their ids only"
    )
    decision: Decision | None = SPAN_DECISION.but(
        help="the rule that turns scores into answers; None selects the text with the greatest "
        "expected F1, whose two constants are chosen inside the training data"
    )

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn the rarity of words and the weights."""
        self._groups()
        require_gold(self.name, questions)
        require_task(self, questions)
        of_passage = _by_passage(questions)
        grammar = _learn_grammar(questions, of_passage)
        lexicon = Lexicon(grammar)
        reader = _TextReader(lexicon)
        rarity = Rarity.learn(
            [reader.passage(questions[members[0]]) for members in of_passage], lexicon
        )
        cases: dict[int, Case] = {}  # by the place of the question
        labels = _RightCandidates()
        for members in of_passage:
            for i, question in zip(members, _with_candidates(questions, members), strict=True):
                read_question = reader.asked(question, rarity, wh_only=self.inputs == "wh-word")
                cases[i] = Case(question.id, read_question, tuple(labels.of(question)))
        n_unused = sum(not case.is_useful for case in cases.values())
        if n_unused == len(questions):
            which = "wrong" if any(case.right for case in cases.values()) else "right"
            raise DataError(
                f"{self.name} cannot learn",
                found=f"no {which} candidate in {len(questions):,} questions",
                expected="right and wrong candidates",
            )
        unused = f"{n_unused:,} of {len(questions):,} training questions"
        self.caveats_: tuple[str, ...] = (
            (f"{unused} taught nothing: no candidate is right, or all are",) if n_unused else ()
        )
        self.grammar_, self.rarity_ = grammar, rarity
        maker = ColumnMaker(self._groups())
        read_questions = {i: case.asked for i, case in cases.items()}
        with ScratchFile(_MOST_BYTES) as file:
            features = TrainingFeatures(read_questions, maker, lexicon, file)
            self.weights_ = self._learn(list(cases), cases, features)
            self._choose_constants(questions, cases, features)
        n_candidates = sum(len(case.asked.candidates.first) for case in cases.values())
        self.trained_on_ = provenance(questions, n_candidates)
        return self

    def _learn(
        self, index: Sequence[int], cases: Mapping[int, Case], features: TrainingFeatures
    ) -> NDArray[np.float32]:
        """Minimise the mean loss over groups of right candidates by AdaGrad; return the weights.

        Each epoch has its own random order of the questions, which depends on their ids and the
        seed only.
        """
        index = [i for i in index if cases[i].is_useful]
        weights, sums = np.zeros((2, N_COLUMNS), dtype=np.float32)
        squares = np.full(N_COLUMNS, self.damping, dtype=np.float32)
        n_draws = np.full(len(index), self.epochs)
        draws = uniform_draws(text_keys([cases[i].id for i in index]), n_draws, self.seed)
        for of_epoch in draws.reshape(len(index), self.epochs).T:
            order = [index[i] for i in np.argsort(of_epoch, kind="stable").tolist()]
            sizes = [cases[i].asked.size for i in order]
            for start, stop in blocks_of(sizes, _BATCH_SIZE, _BATCH_QUESTIONS):
                questions = order[start:stop]
                batch = features.batch(questions)
                of_scores = loss_gradient(
                    batch.scores(weights), batch.offsets, [cases[i].right for i in questions]
                )
                batch.add_gradient(of_scores / len(questions), sums)
                n = features.n_columns
                step_down(weights[:n], squares[:n], sums[:n], self.rate)
        return features.by_column(weights)

    def _choose_constants(
        self,
        questions: Sequence[Question],
        cases: Mapping[int, Case],
        features: TrainingFeatures,
    ) -> None:
        """Choose the constants of the decision on scores of weights that were learned from other
        passages.
        """
        vars(self).pop("decision_", None)  # of an earlier fit, if this one has none to choose
        decision = self.decision_for(questions[0].task)
        if not decision.is_open:
            return
        plan = FoldPlan(_TUNED_FOLDS)
        is_divisible = plan.groups(questions).numbers.max() > 0
        held_out: list[Question] = []
        parts: list[Scores] = []
        folds = plan.folds(questions) if is_divisible else []
        for training, fold in tracked(folds, len(folds), share=0.5):
            if len(held_out) >= _TUNED_QUESTIONS:
                break
            weights = self._learn(training.tolist(), cases, features)
            order = np.argsort(text_keys([questions[i].id for i in fold.tolist()]))
            sample = np.sort(fold[order[: 2 * _TUNED_QUESTIONS]]).tolist()
            parts += self._scores([cases[i].asked for i in sample], features.lexicon, weights)
            held_out += _with_candidates(questions, sample)
        self.decision_ = clone(decision).fit(Scores.concatenate(parts), held_out)

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each span; it has evidence if its sentence has a content word of the question."""
        self.require_fitted("weights_")
        parts: list[Scores] = []
        order = [np.empty(0, dtype=np.int64)]
        for index, read_questions, lexicon in self._read(questions):
            parts += self._scores(read_questions, lexicon, self.weights_)
            order.append(index)
        return Scores.concatenate(parts).take(np.argsort(np.concatenate(order)))

    def _scores(
        self, questions: Sequence[AskedQuestion], lexicon: Lexicon, weights: NDArray[np.float32]
    ) -> Iterator[Scores]:
        """Yield the scores of blocks of questions."""
        maker = ColumnMaker(self._groups())
        sizes = [a.size for a in questions]
        for start, stop in blocks_of(sizes, block_size(_BLOCK_SIZE), _BLOCK_QUESTIONS):
            columns = maker.make(questions[start:stop], lexicon)
            yield Scores(columns.scores(weights), columns.offsets, columns.evidence)

    def _read(
        self, questions: Sequence[Question]
    ) -> Iterator[tuple[NDArray[np.int64], list[AskedQuestion], Lexicon]]:
        """Yield parts of the questions with their indices; questions about one passage stay
        together.
        """
        together = [i for members in _by_passage(questions) for i in members]
        size = block_size(_READ_QUESTIONS)
        for start in range(0, len(together), size):
            lexicon = Lexicon(self.grammar_)
            reader = _TextReader(lexicon)
            index = together[start : start + size]
            wh_only = self.inputs == "wh-word"
            read_questions = [
                reader.asked(questions[i], self.rarity_, wh_only=wh_only) for i in index
            ]
            yield np.array(index), read_questions, lexicon

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show what each group of features and each feature adds to the best spans and the right
        ones.
        """
        return map(self._explain_question, questions)

    def _explain_question(self, question: Question) -> Explanation:
        scores = self.score_candidates([question])
        if not len(scores.values):
            return Explanation.from_scores(self.name, question, scores)
        ((_, (read_question,), lexicon),) = self._read([question])
        (question,) = _with_candidates([question], [0])
        right = (
            [i for group in _RightCandidates().of(question) for i in group] if question.gold else []
        )
        block = TokenBlock([read_question], lexicon)
        parts = list(ColumnMaker(self._groups()).parts(block))
        columns = [feature_part.columns() for feature_part in parts]
        names = lexicon.names | block.path_names(lexicon)

        def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
            terms = []
            for feature_part, part_columns in zip(parts, columns, strict=True):
                row = i if feature_part.rows is None else int(feature_part.rows[i])
                terms += _part_terms(feature_part, row, part_columns[:, row], self.weights_, names)
            return replace(
                plain,
                marks=tuple(_mark_ends(block, read_question, i)),
                numbers={term.name: term.value for term in terms},
                make_formula=partial(plus, "score", *terms, value=plain.score),
            )

        return Explanation.from_scores(self.name, question, scores).with_best(explain, right)

    def companions(self) -> Sequence[Self]:
        """Return the same model that answers with its best span, and the same learner that reads
        only the wh-word of the question: what this alone gives away.
        """
        if self.inputs != "all":
            return ()
        params = self.get_params(deep=False)
        changes = [{"decision": Argmax()}] * (self.decision is None) + [{"inputs": "wh-word"}]
        return [self.from_params({**params, **change}) for change in changes]

    def variant_name(self) -> str | None:
        """Return the name of the inputs unless all are read, whatever the other parameters are."""
        return self.inputs if self.inputs in self.variants else None

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the stems and the weights that are not 0, for
        :func:`~classic_rc.solvers.saved.save_solver`.
        """
        self.require_fitted("weights_")
        columns = np.flatnonzero(self.weights_)
        state: dict[str, Any] = {
            "stems": self.rarity_.stems,
            "n_passages": self.rarity_.n_passages,
            "templates": TEMPLATES_CODE,
        }
        if isinstance(self.grammar_, LearnedGrammar):
            state["grammar"] = self.grammar_.state()
        arrays = {
            "passages_with": self.rarity_.passages_with.astype(np.int32),
            "columns": columns.astype(np.int32),
            "weights": self.weights_[columns],
        }
        return state, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned; one that does not match is
        an error.
        """
        self._groups()
        if state.get("templates") != TEMPLATES_CODE:
            raise ValueError("its weights are those of other features")
        stems = [str(stem) for stem in state["stems"]]
        passages_with = arrays["passages_with"]
        check_shape(passages_with, (len(stems),))
        columns = arrays["columns"].astype(np.int64)
        check_ascending(columns, N_COLUMNS)
        weights = arrays["weights"].astype(np.float32)
        check_shape(weights, columns.shape)
        grammar = state.get("grammar")
        self.grammar_ = ENGLISH if grammar is None else LearnedGrammar.restore(grammar)
        self.rarity_ = Rarity(stems, passages_with.astype(np.int64), int(state["n_passages"]))
        self.weights_ = np.zeros(N_COLUMNS, dtype=np.float32)
        self.weights_[columns] = weights
        return self

    def _groups(self) -> tuple[str, ...]:
        self.check_parameters()
        return chosen_groups(self.features, GROUPS, GROUPS)


def _part_terms(
    feature_part: Part,
    row: int,
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    names: Mapping[int, str],
) -> list[Term]:
    """Return what each group of one part adds to a score, with its features, the largest first."""
    groups: dict[str, list[Term]] = {}
    row_weights = weights[columns].tolist()
    for (group, template), weight in zip(feature_part.templates, row_weights, strict=True):
        labels = []
        for name in template:
            code = int(feature_part.values(name)[row])
            labels.append(f"{name} {names.get(code, str(code))!r}")
        groups.setdefault(group, []).append(given(", ".join(labels), weight))
    terms = []
    for group, group_terms in groups.items():
        title = group if group == feature_part.name else f"{feature_part.name}: {group}"
        group_terms.sort(key=lambda t: -abs(t.value))
        terms.append(plus(title, *group_terms))
    return terms


def _mark_ends(block: TokenBlock, question: AskedQuestion, i: int) -> list[Mark]:
    """Mark the span, and the question's words in the rest of its sentence."""
    passage = question.passage
    first, last = int(block.first[i]), int(block.last[i])
    begin, end = int(block.begin[first]), int(block.end[first])
    places = [(passage.starts[first], passage.ends[last], "candidate")]
    for j in (*range(begin, first), *range(last + 1, end)):
        if block.matched[j]:
            places.append((passage.starts[j], passage.ends[j], "question"))
    return [Mark(int(start), int(end), kind) for start, end, kind in sorted(places)]


def _by_passage(questions: Sequence[Question]) -> list[list[int]]:
    """Return the indices of the questions of each passage."""
    of_passage: dict[int, list[int]] = {}
    for i, question in enumerate(questions):
        of_passage.setdefault(id(question.passage), []).append(i)
    return list(of_passage.values())


def _learn_grammar(questions: Sequence[Question], of_passage: Sequence[Sequence[int]]) -> Grammar:
    """Return the English grammar, or one learned from passages of another language."""
    passages = [questions[members[0]].passage.text for members in of_passage]
    language = language_of(passages)
    if language == ENGLISH_LANGUAGE:
        return ENGLISH
    return LearnedGrammar.learn(language.segmenter, passages, [q.text for q in questions])


def _with_candidates(questions: Sequence[Question], index: Sequence[int]) -> list[Question]:
    """Return some questions with their candidates in memory, generated once for each passage."""
    generated: dict[int, Sequence[Candidate]] = {}
    complete = []
    for question in (questions[i] for i in index):
        lazy = question.candidates
        if isinstance(lazy, LazyCandidates):
            key = id(lazy)
            if key not in generated:
                generated[key] = lazy.generate()
            question = replace(question, candidates=generated[key])
        complete.append(question)
    return complete


class _TextReader:
    """Reads each passage and each list of candidates once."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._passages: dict[int, ReadPassage] = {}
        self._candidates: dict[tuple[int, int], ReadCandidates] = {}

    def passage(self, question: Question) -> ReadPassage:
        """Return the passage of a question."""
        key = id(question.passage)
        if key not in self._passages:
            self._passages[key] = ReadPassage.of(question.passage, self._lexicon)
        return self._passages[key]

    def candidates(self, question: Question) -> ReadCandidates:
        """Return the candidates of a question."""
        key = id(question.passage), id(question.candidates)
        if key not in self._candidates:
            self._candidates[key] = ReadCandidates.of(question, self.passage(question))
        return self._candidates[key]

    def asked(self, question: Question, rarity: Rarity, *, wh_only: bool) -> AskedQuestion:
        """Return the question with its passage and candidates."""
        read = ReadQuestion.of(question.text, self._lexicon, rarity, wh_only=wh_only)
        return AskedQuestion(read, self.passage(question), self.candidates(question))


class _RightCandidates:
    """Finds right candidates: those with the code of a gold text are normalised and compared."""

    def __init__(self) -> None:
        self._sums: dict[Normalise, Callable[[str], int]] = {}
        self._last: tuple[Any, ...] = (None, None, None)  # of the last list of candidates

    def of(self, question: Question) -> list[tuple[int, ...]]:
        """Return the right candidates: of each gold text if several are right together, else of
        all gold texts.
        """
        normalise: Normalise = normalise_quoref_answer
        by_words = True
        if question.task is not Task.MULTI_SPAN:
            scorer = scorer_of(question)
            normalise, by_words = scorer.normalise, scorer.by_words
        sum_of = self._sums.setdefault(normalise, cache(partial(_sum_words, normalise)))
        candidates = question.candidates
        if self._last[0] is not candidates or self._last[1] != normalise:
            codes = text_codes(candidates, sum_of, by_words=by_words)
            self._last = candidates, normalise, codes
        codes = self._last[-1]
        groups = []
        for text in dict.fromkeys(map(normalise, question.gold_texts)):
            similar = np.flatnonzero(codes == sum_of(text)).tolist()
            groups.append([i for i in similar if normalise(candidates[i].text) == text])
        groups = [group for group in groups if group]
        if question.task is not Task.MULTI_SPAN and groups:
            groups = [sorted(i for group in groups for i in group)]
        spans = question.meta.get("spans") or ()
        return [tuple(_overlapping(group, candidates, spans) or group) for group in groups]


def _sum_words(normalise: Normalise, text: str) -> int:
    """Return the sum of the codes of the words of a normalised text."""
    return sum(map(code_of, normalise(text).split()))


def _overlapping(
    places: Sequence[int], candidates: Sequence[Candidate], spans: Sequence[tuple[int, int]]
) -> list[int]:
    """Return the places of the candidates that overlap one of the spans."""
    overlapping = []
    for i in places:
        start, end = candidates[i].start, candidates[i].end
        if start is None or end is None:
            continue
        if any(start < stop and end > begin for begin, stop in spans):
            overlapping.append(i)
    return overlapping


class Case(NamedTuple):
    """A training question."""

    id: str
    asked: AskedQuestion
    right: tuple[tuple[int, ...], ...]  # groups of right candidates; one of each group is enough

    @property
    def is_useful(self) -> bool:
        """Whether some candidates are right, and some wrong."""
        return 0 < sum(map(len, self.right)) < len(self.asked.candidates.first)


def loss_gradient(
    scores: NDArray[np.float64],  # (n_candidates,)
    offsets: NDArray[np.int64],  # (n_questions + 1,); no question is without candidates
    # of each question, its groups of right candidates, from 0
    right: Sequence[Sequence[Sequence[int]]],
) -> NDArray[np.float64]:
    """Return the gradient of the loss by the scores.

    It is the probability of each candidate minus its share of the right ones: each group of right
    candidates has the same share, divided by their probabilities.
    """
    starts = offsets[:-1]
    question = np.repeat(np.arange(len(starts)), np.diff(offsets))
    powers = np.exp(scores - np.maximum.reduceat(scores, starts)[question])
    gradient = powers / np.add.reduceat(powers, starts)[question]
    members: list[NDArray[np.int64]] = []
    group_shares: list[float] = []
    for start, groups in zip(starts.tolist(), right, strict=True):
        members += [start + np.array(group) for group in groups]
        group_shares += [1 / len(groups)] * len(groups)
    places = np.concatenate(members)
    lengths = np.array(list(map(len, members)))
    shares = np.repeat(group_shares, lengths)
    firsts = offsets_of(lengths)[:-1]
    group_of = np.repeat(np.arange(len(members)), lengths)
    # A group may be too improbable for its powers, so its own greatest score is the reference.
    right_scores = scores[places]
    right_powers = np.exp(right_scores - np.maximum.reduceat(right_scores, firsts)[group_of])
    totals = np.add.reduceat(right_powers, firsts)
    np.subtract.at(gradient, places, shares * right_powers / totals[group_of])
    return gradient
