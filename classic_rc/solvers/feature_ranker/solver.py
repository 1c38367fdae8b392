"""The feature ranker: conditional logit over matching features and a lexical score that is
learned out of fold.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Decision
from classic_rc.errors import UsageError
from classic_rc.folds import FoldPlan
from classic_rc.io.files import sha256_of
from classic_rc.kernels.arrays import offsets_of, runs_of
from classic_rc.kernels.draws import text_keys
from classic_rc.kernels.logistic import Features
from classic_rc.kernels.trees import Bins, Floats, Trees
from classic_rc.parameters import is_number, parameter, whole_number
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task, candidate_texts
from classic_rc.solvers.base import Solver, TrainedOn, Variant, provenance
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    given,
    plus,
    times,
)
from classic_rc.solvers.feature_ranker.boosting import (
    Forest,
    choose_n_trees,
    grow_trees,
    learn_bins,
)
from classic_rc.solvers.feature_ranker.lexical import CELLS, LexicalCells
from classic_rc.solvers.feature_ranker.tables import (
    ENTITIES,
    OPTIONS,
    PRIOR,
    PRIOR_COLUMNS,
    TABLES,
)
from classic_rc.solvers.feature_ranker.texts import RankerTexts, TrainingWords
from classic_rc.solvers.feature_ranker.training import (
    Cases,
    Design,
    Learner,
    Ranker,
    WeightedColumn,
    fold_numbers,
    weighted_sums,
)
from classic_rc.solvers.feature_ranker.vectors import CountVectors, vector_features
from classic_rc.solvers.learning import (
    check_ascending,
    check_shape,
    chosen_groups,
    gold_labels,
    one_thread,
    require_gold,
    require_task,
)
from classic_rc.solvers.saved import (
    learned_by,
    load_solver,
    nested_from_plain,
    nested_to_plain,
)
from classic_rc.solvers.shared_parameters import DECISION
from classic_rc.text.encode import SharedQuestions
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.languages import dataset_language
from classic_rc.work import part_of_work

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

GROUPS = tuple(group for group in OPTIONS.groups if group != PRIOR)
"""The groups of features of questions with options."""

CLOZE_GROUPS = tuple(ENTITIES.groups)
"""The groups of features of cloze questions."""

INPUTS: Mapping[str, frozenset[str]] = {
    "all": frozenset({"passage", "question"}),
    "no-passage": frozenset({"question"}),
    "candidates": frozenset(),
}
"""The inputs that are read in addition to the candidates, by name."""

_BLOCK_CANDIDATES = 2**15
_PRIOR_ARRAY = "prior."


def is_strength(value: Any) -> bool:
    """Return whether a value is the inverse strength of a penalty, or ``"cv"``."""
    return value == "cv" or (is_number(value) and value > 0)


_STRENGTH = "'cv' or a positive number"


class FeatureRanker(Solver):
    r"""A log-linear ranker over features that match candidate, question and passage.

    .. math:: s = b + \sum_j \left(w_j c_j + u_{t,j} c_j + v_j z_j\right)

    c is a feature minus its mean over the question's candidates, in units of its standard deviation
    in training, cut at 5; z is the same in units of twice its standard deviation over the
    question's candidates; t is the type of the question. One feature is a learned lexical score,
    itself a sum of weights of words, word pairs and n-grams of candidate, question and passage. It
    enters training out of fold.

    If one candidate is right, the weights minimise the loss of conditional logit (McFadden 1974),

    .. math:: \sum_q \log \sum_i e^{s_{q,i}} - s_{q,right} + \frac{1}{2C} \|w\|^2

    and a training question with several right candidates counts once for each, against its wrong
    ones. If several can be right, each candidate has the loss of logistic regression, and there are
    three more terms: standardised raw features, a bias, and the raw lexical score.

    Cloze questions have features of their own
    (:data:`~classic_rc.solvers.feature_ranker.entities.ENTITY_TABLE`, after Chen et al. 2016,
    section 3.1), without types and without a lexical score. Candidates with equal texts are one
    candidate. Chen et al. learn boosted trees (LambdaMART) instead of a log-linear model.

    If trees are in use, the last stage is gradient boosting (Friedman 2001) of the same loss: trees
    over the features, which start from s and learn what no sum of features says.

    With a prior, another ranker's score and the parts of it are features too. Its data is not that
    of the fit, so its score needs no folds.

    Questions without a right candidate, or without a wrong one, teach nothing where one candidate
    is right.

    Attributes
    ----------
    table_ : FeatureTable
        The features of the task that the solver learned.
    words_ : TrainingWords or None
    vectors_ : CountVectors or None
    cells_ : LexicalCells or None
    cell_weights_ : ndarray of float32
    columns_ : list of int
        The features in use: those that differ between candidates of a question somewhere in
        training.
    ranker_ : Ranker
    prior_ : FeatureRanker or None
    forest_ : Forest or None
        Boosted trees that correct the score.
    chosen_ : dict of str to float
        The strengths in use, and the number of trees.
    """

    name = "feature-ranker"
    citation = (
        "features after Richardson et al. 2013, MCTest, and Smith et al. 2015, for cloze questions "
        "after Chen et al. 2016, boosted trees after Friedman 2001; put together in this package"
    )
    cites = ("richardson2013", "smith2015", "chen2016", "friedman2001")
    learns_from = "gold"
    tasks: ClassVar[frozenset[Task]] = frozenset(TABLES)
    takes_encoding = False  # it divides passages into sentences and turns
    variants: ClassVar[Mapping[str, Variant]] = {
        "no-passage": Variant(
            {"inputs": "no-passage"},
            "reads the question and its candidates only",
            "after Kaushik and Lipton 2018",
        ),
        "candidates": Variant(
            {"inputs": "candidates"}, "reads candidates only", "after Kaushik and Lipton 2018"
        ),
    }

    features: str = parameter(
        "default",
        f"groups of features joined by a plus: {', '.join(GROUPS)}; for cloze questions "
        f"{', '.join(CLOZE_GROUPS)}. ``default`` means all of them but ``position``: with "
        "``default+position``, scores depend on the order of the options",
    )
    inputs: Literal["all", "no-passage", "candidates"] = parameter(
        "all",
        "the inputs to read. Texts that are not read are empty, and features without any "
        "difference are left out. So the solver becomes a partial-input baseline (after Kaushik "
        "and Lipton 2018)",
        allowed=tuple(INPUTS),
    )
    C: float | Literal["cv"] = parameter(
        "cv",
        "the inverse strength of the penalty; ``cv`` is the member of "
        ":data:`~classic_rc.solvers.feature_ranker.training.GRID` with the least loss out of fold",
        also=_STRENGTH,
        fits=is_strength,
    )
    lexical_C: float | Literal["cv"] = parameter(  # noqa: N815
        "cv",
        "the inverse strength of the penalty of the lexical score",
        also=_STRENGTH,
        fits=is_strength,
    )
    min_count: int = whole_number(
        2, "how many training candidates must have a cell of the lexical score"
    )
    folds: int = whole_number(
        5, "the number of folds; equal and nearly equal passages are in one fold", least=2
    )
    trees: int | Literal["cv"] = whole_number(
        "cv",
        "the number of boosted trees that correct the log-linear score; ``cv`` is the one with the "
        "least loss on a held-out fold, or 0 if it does not have clearly more right answers there",
        least=0,
        allowed=("cv",),
    )
    prior: str | None = parameter(
        None,
        "a saved feature ranker. Its score and the parts of it are features, crossed with the "
        "types of questions",
        allowed=(None,),
        is_file=True,
    )
    decision: Decision | None = DECISION

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn words, vectors, the lexical score and the weights; one passage is too few
        (UsageError).
        """
        self.check_parameters()
        require_gold(self.name, questions)
        require_task(self, questions)
        self.table_ = TABLES[questions[0].task]
        groups = self._groups()
        self.caveats_: tuple[str, ...] = ()
        self.prior_, self.prior_file_ = None, None
        if self.prior is not None:
            self.prior_ = self._load_prior(self.prior, questions)
            self.prior_file_ = f"{Path(self.prior).name}@{sha256_of(self.prior)[:8]}"
        fold_of_question = fold_numbers(FoldPlan(self.folds).folds(questions), len(questions))
        # Rounding, and so a tree's choice between nearly equal splits, depends on the order.
        order = np.argsort(text_keys(map(self._read_text, questions)), kind="stable")
        ordered = SharedQuestions.of(questions).take(order)
        fold_of_question = fold_of_question[order]
        texts = self._texts(ordered)
        encoded = texts.encoded
        right = encoded.in_arrays(gold_labels(self.name, ordered))
        if self._rows(encoded) is not None:
            of_rows = np.zeros(len(encoded.arrays.candidate_question), dtype=np.int64)
            of_rows[self._rows(encoded)] = (
                right  # candidates with equal texts are all right, or all wrong
            )
            right = of_rows
        one_is_right = questions[0].task is not Task.MULTIPLE_ANSWER
        cases = Cases.of(right, self._offsets(encoded), one_is_right=one_is_right)
        with one_thread():
            self._learn(texts, cases, fold_of_question[encoded.order], groups)
        n_unused = len(questions) - len(np.unique(cases.questions))
        if n_unused and one_is_right:
            unused = f"{n_unused:,} of {len(questions):,} training questions"
            self.caveats_ += (
                f"{unused} taught nothing: none of their candidates is right, or all are",
            )
        self.trained_on_ = provenance(questions)
        self.trained_on_["language"] = dataset_language(questions).name
        return self

    def _learn(
        self, texts: Any, cases: Cases, folds: NDArray[np.int64], groups: tuple[str, ...]
    ) -> None:
        table, encoded, offsets = self.table_, texts.encoded, self._offsets(texts.encoded)
        self.chosen_: dict[str, float] = {}
        self.forest_: Forest | None = None
        self.cells_: LexicalCells | None = None
        self.cell_weights_ = np.empty(0, dtype=np.float32)
        self.words_, self.vectors_ = TrainingWords.learn(texts) if table.learned else None, None
        if self.words_ is not None and "vectors" in groups and "passage" in INPUTS[self.inputs]:
            self.vectors_ = CountVectors.learn(texts, self.words_)

        learner = partial(
            Learner,
            cases=cases,
            offsets=offsets,
            folds=folds,
            passages=encoded.arrays.question_passage,
        )

        lexical = None
        if "lexical" in groups:
            with part_of_work(0.5):
                lexical = self._learn_lexical(texts, cases, learner)
        with part_of_work(0.4):
            values = self._features(texts, groups, lexical)
        names, raw = table.names_of(groups), cases.offsets is None
        self.columns_ = [
            j for j, feature in enumerate(values.T) if _differs(feature, offsets, raw=raw)
        ]
        if len(self.columns_) < len(names):
            values = values[:, self.columns_]
        used = [names[j] for j in self.columns_]
        design = Design.learn(used, self._crossed(used), values, offsets, raw=raw)
        weights = np.zeros(design.n_columns)
        if design.n_columns:
            fitted = learner(design.matrix(values, texts.types, offsets), crossed=design.crossed)
            binned = learn_bins(values, texts.types, offsets) if self.trees else None
            del values
            weights = self._fit_weights(fitted, "C", self.C, "the ranker")
            if binned is not None:
                self.forest_ = self._learn_forest(fitted, weights, *binned)
        self.ranker_ = Ranker(design, weights)

    def _load_prior(self, path: str, questions: Sequence[Question]) -> FeatureRanker:
        """Read the prior; one that does not fit these training questions is a UsageError."""
        prior = _read_prior(path)
        if (
            not isinstance(prior, FeatureRanker)
            or prior.inputs != "all"
            or not self.table_ is prior.table_ is OPTIONS
        ):
            raise UsageError(
                f"{path} cannot be a prior of {self.name} for {questions[0].task} questions",
                field="prior",
                found=prior.row_name(),
                expected="a saved feature-ranker of questions with options that reads all inputs",
            )
        for trained_on in learned_by(prior):
            trained_on.require_language(questions)
            copied = trained_on.copied(questions)
            if copied is not None and copied.any():
                self.caveats_ += (
                    f"{copied.sum():,} of {len(questions):,} training questions, or their "
                    f"passages, are in {trained_on.name}, which the prior learned: its scores "
                    "there are too good",
                )
        return prior

    def _learn_lexical(
        self, texts: Any, cases: Cases, learner: Callable[..., Learner]
    ) -> NDArray[np.float64]:
        """Learn the lexical score; return the scores of the training candidates out of fold."""
        assert self.words_ is not None
        self.cells_ = LexicalCells.learn(texts, self.words_, INPUTS[self.inputs], self.min_count)
        matrix = _expand(texts.encoded, self.cells_.matrix(texts))
        if cases.offsets is None:  # a column for the bias, which the score leaves out
            matrix = _append_ones(matrix)
        fitted = learner(Features(None, matrix), min_count=self.min_count)
        weights = self._fit_weights(fitted, "lexical_C", self.lexical_C, "the lexical score")
        self.cell_weights_ = weights[: self.cells_.n_columns].astype(np.float32)
        return fitted.score_out_of_fold(self.chosen_["lexical_C"])

    def _learn_forest(
        self, learner: Learner, weights: NDArray[np.float64], edges: Floats, bins: Bins
    ) -> Forest | None:
        """Learn trees that start from the scores of the weights."""
        n_trees = self.trees
        if isinstance(n_trees, str):
            n_trees = choose_n_trees(learner, bins, self.chosen_["C"])
        if not n_trees:
            return None
        self.chosen_["trees"] = n_trees
        scores = weighted_sums(learner.features, weights, np.arange(bins.shape[1]))
        trees = islice(grow_trees(bins, learner.cases, scores), n_trees)
        return Forest(edges, Trees.join(trees))

    def _fit_weights(
        self, learner: Learner, name: str, C: float | str, what: str
    ) -> NDArray[np.float64]:
        self.chosen_[name] = strength = (
            learner.choose_strength() if isinstance(C, str) else float(C)
        )
        weights, converged = learner.fit(strength)
        if not converged:
            self.caveats_ += (f"{what} stopped before it converged",)
        return weights

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate; it has evidence if the passage is read and has one of its words.

        A candidate of a cloze question has evidence if the passage mentions it.

        Raises
        ------
        NotFittedError
            The solver is not fitted.
        UsageError
            The questions' task has other features than the task that the solver learned.
        """
        self.check_parameters()
        self.require_fitted("ranker_")
        if not len(questions):
            return Scores(np.empty(0), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.bool_))
        texts = self._texts(questions)
        return self._scores(texts, self._contributions(texts))

    def _scores(self, texts: Any, blocks: Iterable[_Contributions]) -> Scores:
        encoded, rows = texts.encoded, self._rows(texts.encoded)
        values = np.empty(self._offsets(encoded)[-1])
        for block in blocks:
            values[block.where] = sum(block.groups.values())
        evidence = _expand(encoded, self.table_.has_evidence(texts))
        return encoded.in_order(values if rows is None else values[rows], evidence)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show the sum over feature groups, the largest features and cells, and the sentence with
        the evidence.

        The numbers of the bias and of the groups of features, added in their order, are exactly the
        score.
        """
        self.check_parameters()
        self.require_fitted("ranker_")
        if not len(questions):
            return
        texts = self._texts(questions)
        encoded, blocks = texts.encoded, list(self._contributions(texts))
        scores = self._scores(texts, blocks)
        n_distinct = len(encoded.arrays.candidate_question)
        distinct = _expand(encoded, np.arange(n_distinct))
        rows = np.arange(len(distinct)) if self._rows(encoded) is None else distinct
        cells: list[dict[str, float]] = [{}] * n_distinct
        if self.cells_ is not None:
            cells = _largest_cells(self.cells_, self.cell_weights_, texts)
        evidence = self.table_.evidence(texts, self._rarity(encoded))
        stops = [block.where.stop for block in blocks]
        explainers = [self._row_explainer(block) for block in blocks]
        for k, (question, place) in enumerate(zip(questions, encoded.place.tolist(), strict=True)):
            plain = Explanation.from_scores(self.name, question, scores.take([k]))
            where = slice(*encoded.question_offsets[place : place + 2].tolist())
            sentences = self.table_.sentences(question.passage)
            explained = []
            for candidate, row, distinct_row in zip(
                plain.candidates, rows[where].tolist(), distinct[where].tolist(), strict=True
            ):
                number = bisect_right(stops, row)
                sentence = int(evidence[distinct_row])
                marks = (Mark(*sentences[sentence], "sentence"),) if sentence >= 0 else ()
                block_row = row - blocks[number].where.start
                explanation = explainers[number](block_row, candidate, cells[distinct_row])
                explained.append(replace(explanation, marks=marks))
            yield replace(plain, candidates=tuple(explained))

    def _row_explainer(
        self, block: _Contributions
    ) -> Callable[[int, CandidateExplanation, Mapping[str, float]], CandidateExplanation]:
        """Return what explains the score of a candidate of a block by its row and its cells."""
        names = self.ranker_.design.names
        values, added, groups, boosted = block.values, block.added, block.groups, block.boosted
        columns = list(self.ranker_.columns(values.T, block.types, block.offsets))
        group_of = list(map(self.table_.group_of, names))

        def formula(row: int, score: float) -> Term:
            parts = []
            for group, amounts in groups.items():
                features = []
                for j, name in enumerate(names):
                    amount = added[j, row]
                    if group_of[j] == group and amount:
                        feature = _explain_feature(name, values[j, row], amount, columns[j], row)
                        features.append(feature)
                if group in boosted and boosted[group][row]:
                    features.append(given("trees", boosted[group][row]))
                amount = float(amounts[row])
                parts.append(
                    plus(group, *features, value=amount) if features else given(group, amount)
                )
            return plus("score", *parts, value=score)

        def explain(
            row: int, plain: CandidateExplanation, cells: Mapping[str, float]
        ) -> CandidateExplanation:
            largest = np.argsort(-np.abs(added[:, row]), kind="stable")[:_SHOWN_FEATURES]
            lines = []
            for j in largest:
                value, amount = values[j, row], added[j, row]
                if amount:
                    lines.append(f"{names[j]} = {value:.4g} adds {amount:+.4f}")
            lines += [f"{name} has the lexical weight {cells[name]:+.4f}" for name in cells]
            numbers = {group: float(amounts[row]) for group, amounts in groups.items()}
            return replace(
                plain,
                numbers=numbers,
                quote="; ".join(lines) or None,
                source="largest features" if lines else None,
                make_formula=partial(formula, row, plain.score),
            )

        return explain

    def variant_name(self) -> str | None:
        """Return the name of the inputs unless all are read, whatever the other parameters are."""
        return self.inputs if self.inputs in self.variants else None

    def companions(self) -> Sequence[Self]:
        """Return the same learner without the passage, and on candidates only: what these alone
        give away.
        """
        if self.inputs != "all":
            return ()
        return [
            self.from_params({**self.get_params(deep=False), "inputs": name})
            for name in self.variants
        ]

    @property
    def learned_before(self) -> tuple[TrainedOn, ...]:
        """What the prior learned."""
        prior = getattr(self, "prior_", None)
        if prior is None and self.prior is not None:
            prior = _read_prior(self.prior)
        return () if prior is None else learned_by(prior)

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the strengths and the number of trees that cross-validation chose, how many cells
        the lexical score has, and the prior's file.
        """
        if not hasattr(self, "ranker_"):
            return {}
        cells = {} if self.cells_ is None else {"cells": self.cells_.n_columns}
        prior = {} if self.prior_file_ is None else {"prior": self.prior_file_}
        return {**self.chosen_, **cells, **prior}

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned, for :func:`~classic_rc.solvers.saved.save_solver`."""
        self.require_fitted("ranker_")
        design = self.ranker_.design
        state: dict[str, Any] = {
            "table": self.table_.name,
            "words": None,
            "n_passages": 0,
            "chosen": self.chosen_,
            "features": list(design.names),
            "columns": self.columns_,
            "cells": None,
        }
        arrays: dict[str, NDArray[Any]] = {"scale": design.scale, "weights": self.ranker_.weights}
        if self.words_ is not None:
            state |= {"words": self.words_.words, "n_passages": self.words_.n_passages}
            arrays["passages_with"] = self.words_.passages_with.astype(np.int32)
        if design.mean is not None and design.deviation is not None:
            arrays |= {"mean": design.mean, "deviation": design.deviation}
        if self.vectors_ is not None:
            arrays |= {
                "vector_words": self.vectors_.numbers.astype(np.int32),
                "vectors": self.vectors_.vectors,
            }
        if self.cells_ is not None:
            state["cells"] = list(self.cells_.tables)
            arrays |= {f"cells.{group}": table for group, table in self.cells_.tables.items()}
            arrays["cell_weights"] = self.cell_weights_
        if self.forest_ is not None:
            arrays |= self.forest_.arrays()
        if self.prior_ is not None:
            state["prior_file"] = self.prior_file_
            state["prior"], prior_arrays = nested_to_plain(self.prior_)
            arrays |= {_PRIOR_ARRAY + name: array for name, array in prior_arrays.items()}
        return state, arrays

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned; one that does not match is
        an error.
        """
        self.table_ = {table.name: table for table in TABLES.values()}[state["table"]]
        names = self.table_.names_of(self._groups())
        columns = [int(j) for j in state["columns"]]
        if [names[j] for j in columns] != state["features"] or any(j < 0 for j in columns):
            raise ValueError("the features differ from this version's")
        if (state["words"] is None) == bool(self.table_.learned):
            raise ValueError("the words do not match the features")
        self.words_ = None if state["words"] is None else _restore_words(state, arrays)
        self.vectors_, self.cells_, self.cell_weights_ = None, None, np.empty(0, dtype=np.float32)
        if self.words_ is not None:
            self._restore_learned(self.words_, state, arrays)
        features, crossed = tuple(state["features"]), self._crossed(state["features"])
        mean, deviation = arrays.get("mean"), arrays.get("deviation")
        design = Design(features, crossed, arrays["scale"], mean, deviation)
        units = ["scale"] if mean is None else ["scale", "mean", "deviation"]
        for name in units:
            check_shape(arrays[name], (len(columns),))
        check_shape(arrays["weights"], (design.n_columns,))
        self.columns_, self.ranker_ = columns, Ranker(design, arrays["weights"])
        nested = state.get("prior")
        prior: Any = None if nested is None else nested_from_plain(nested, arrays, _PRIOR_ARRAY)
        if not isinstance(prior, FeatureRanker | None) or (prior is None) != (self.prior is None):
            raise ValueError("the prior does not match the parameters")
        self.prior_, self.prior_file_ = prior, state.get("prior_file")
        has_trees = "trees.splits" in arrays
        self.forest_ = Forest.restore(arrays, len(columns)) if has_trees else None
        if not all(map(is_number, state["chosen"].values())):
            raise TypeError("what was chosen is not numbers")
        self.chosen_ = dict(state["chosen"])
        return self

    def _restore_learned(
        self, words: TrainingWords, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        """Restore the vectors and the lexical score."""
        if "vectors" in arrays:
            numbers, vectors = arrays["vector_words"].astype(np.int64), arrays["vectors"]
            if vectors.ndim != 2 or vectors.shape[0] != len(numbers) or vectors.dtype != np.int16:
                raise ValueError("the vectors do not match their words")
            check_ascending(numbers, len(words))
            self.vectors_ = CountVectors(numbers, vectors)
        if state["cells"] is not None:
            tables = {group: arrays[f"cells.{group}"] for group in state["cells"]}
            if not set(tables) <= set(CELLS):
                raise ValueError("a group of cells is unknown")
            self.cells_ = LexicalCells(words, tables)
            for table in tables.values():
                check_ascending(table, self.cells_.base**3)
            self.cell_weights_ = arrays["cell_weights"]
            check_shape(self.cell_weights_, (self.cells_.n_columns,))

    def _groups(self) -> tuple[str, ...]:
        usual = [group for group in self.table_.groups if group != PRIOR]
        groups = chosen_groups(self.features, usual, self.table_.default)
        return groups if self.prior is None else (*groups, PRIOR)

    def _texts(self, questions: Sequence[Question]) -> Any:
        task, name = questions[0].task, self.table_.name
        learned_tasks = sorted(task for task, table in TABLES.items() if table.name == name)
        if task not in learned_tasks:
            learned = " or ".join(learned_tasks)
            problem = (
                f"{self.name} has learned from {learned} questions and cannot score {task} "
                "questions"
            )
            raise UsageError(problem, field="task", found=str(task), expected=learned)
        return self.table_.texts(questions, INPUTS[self.inputs])

    def _read_text(self, question: Question) -> str:
        """Return what is read of a training question, whatever the order of its candidates."""
        read = {"passage": question.passage.text, "question": question.text}
        inputs = [text for name, text in read.items() if name in INPUTS[self.inputs]]
        candidates = sorted(set(candidate_texts(question.candidates)))
        gold = sorted(map(str, question.gold or ()))
        return "\0".join((*inputs, *candidates, *gold))

    def _rows(self, encoded: EncodedDataset) -> NDArray[np.int64] | None:
        """Return the row of each candidate in the matrix of features; None if each has one of
        its own.
        """
        return encoded.candidate_rows if self.table_.merges_equal else None

    def _offsets(self, encoded: EncodedDataset) -> NDArray[np.int64]:
        """Return the offsets of each question's rows."""
        if self._rows(encoded) is None:
            return encoded.question_offsets
        return offsets_of(np.bincount(encoded.arrays.candidate_question, minlength=len(encoded)))

    def _rarity(self, encoded: EncodedDataset) -> NDArray[np.int64] | None:
        return None if self.words_ is None else self.words_.rarity(encoded.vocabulary)

    def _crossed(self, names: Sequence[str]) -> NDArray[np.int64]:
        crossed = [j for j, name in enumerate(names) if name in self.table_.crossed]
        return np.array(crossed, dtype=np.int64)

    def _features(
        self, texts: Any, groups: tuple[str, ...], lexical: NDArray[np.float64] | None
    ) -> NDArray[np.floating[Any]]:
        """Return the features of all rows; `lexical` replaces the lexical scores of the fitted
        weights.
        """
        encoded, table = texts.encoded, self.table_
        rarity = self._rarity(encoded)
        computed = [group for group in groups if group not in table.learned]
        parts = [table.compute(texts, rarity, computed)]
        if "vectors" in groups:
            n_distinct = len(encoded.arrays.candidate_question)
            vector_columns = np.zeros((n_distinct, len(table.groups["vectors"])))
            if self.vectors_ is not None and self.words_ is not None and rarity is not None:
                vector_columns = vector_features(texts, self.words_, self.vectors_, rarity)
            parts.append(_expand(encoded, vector_columns))
        if "lexical" in groups:
            if lexical is None:
                assert self.cells_ is not None
                lexical = _expand(encoded, self.cells_.score(texts, self.cell_weights_))
            parts.append(lexical[:, None])
        if PRIOR in groups:
            assert self.prior_ is not None
            parts.append(self.prior_._columns_as_prior(texts))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _contributions(self, texts: Any) -> Iterator[_Contributions]:
        """Yield blocks of candidates with what adds to their scores."""
        offsets, forest = self._offsets(texts.encoded), self.forest_
        features = self._features(texts, self._groups(), None)[:, self.columns_]
        group_of = list(map(self.table_.group_of, self.ranker_.design.names))
        for start, stop in runs_of(np.diff(offsets), _BLOCK_CANDIDATES):
            where = slice(int(offsets[start]), int(offsets[stop]))
            types = texts.types[start:stop]
            starts = offsets[start : stop + 1] - where.start
            values = features[where]
            added = self.ranker_.contributions(values, types, starts)
            boosted = {} if forest is None else forest.amounts(values, types, starts, group_of)
            groups = {"bias": np.full(len(values), self.ranker_.bias)}
            for group, amounts in (*zip(group_of, added, strict=True), *boosted.items()):
                groups[group] = groups[group] + amounts if group in groups else amounts
            yield _Contributions(where, types, starts, values.T, added, boosted, groups)

    def _columns_as_prior(self, texts: Any) -> NDArray[np.float64]:
        """Return the features that this ranker adds to another one: :data:`PRIOR_COLUMNS`."""
        n_rows = self._offsets(texts.encoded)[-1]
        result = np.zeros((n_rows, len(PRIOR_COLUMNS)))
        names = self.ranker_.design.names
        for block in self._contributions(texts):
            score, trees = sum(block.groups.values()), sum(block.boosted.values())
            columns: dict[str, Any] = dict(zip(names, block.values, strict=True))
            # A feature and its group can have one name: "position" is the group.
            columns |= block.groups
            columns |= {
                "score": score,
                "score without lexical": score - block.groups.get("lexical", 0.0),
                "linear score": score - trees,
                "trees": trees,
            }
            for j, name in enumerate(PRIOR_COLUMNS):
                result[block.where, j] = columns.get(name, 0.0)
        return result


def _read_prior(path: str) -> Solver:
    """Read a saved solver once: folds and rows share it, and nothing changes it."""
    return _load_once(path, sha256_of(path) if Path(path).is_file() else "")


@lru_cache(maxsize=2)
def _load_once(path: str, digest: str) -> Solver:
    return load_solver(path)


class _Contributions(NamedTuple):
    """What adds to the scores of a block of candidates."""

    where: slice  # the block
    types: NDArray[np.int64]  # of its questions
    offsets: NDArray[np.int64]  # of its questions' candidates
    values: NDArray[np.floating[Any]]  # (n_features, n_candidates)
    added: NDArray[np.float64]  # (n_features, n_candidates): what the weights add
    boosted: Mapping[str, NDArray[np.float64]]  # what the trees add, by group
    groups: Mapping[str, NDArray[np.float64]]  # bias, weights and trees, by group


def _append_ones(matrix: csr_matrix) -> csr_matrix:
    """Append a column of ones."""
    from scipy.sparse import csr_matrix, hstack

    ones = np.ones((matrix.shape[0], 1), np.float32)
    return hstack([matrix, csr_matrix(ones)], format="csr")


def _expand(encoded: EncodedDataset, values: Any) -> Any:
    """Expand values of distinct candidates to all candidates."""
    return values if encoded.candidate_rows is None else values[encoded.candidate_rows]


def _restore_words(state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainingWords:
    words = list(state["words"])
    if any(not isinstance(word, str) for word in words) or words != sorted(set(words)):
        raise ValueError("the words are not distinct strings in order")
    check_shape(arrays["passages_with"], (len(words),))
    return TrainingWords(words, arrays["passages_with"].astype(np.int64), int(state["n_passages"]))


def _differs(values: NDArray[np.floating[Any]], offsets: NDArray[np.int64], *, raw: bool) -> bool:
    """Return whether a feature differs between candidates of one question; or, if `raw`, of any
    questions.
    """
    if not len(values):
        return False
    if raw:
        return bool(values.max() > values.min())
    starts = offsets[:-1][np.diff(offsets) > 0]
    return bool((np.maximum.reduceat(values, starts) > np.minimum.reduceat(values, starts)).any())


_SHOWN_FEATURES = 6
_SHOWN_CELLS = 4


def _explain_feature(
    name: str, value: float, added: float, columns: Sequence[WeightedColumn], row: int
) -> Term:
    """Return what a feature adds: the sum of its columns' values times their weights."""
    labels, products = [], []
    for column in columns:
        weights = np.broadcast_to(column.weights, column.values.shape)
        column_value, weight = float(column.values[row]), float(weights[row])
        if column_value * weight:
            labels.append(column.name)
            products.append(times("", column_value, weight))
    note = f"feature {value:.4g}: " + " + ".join(labels)
    return plus(name, *products, value=float(added), note=note)


def _largest_cells(
    cells: LexicalCells, weights: NDArray[np.float32], texts: RankerTexts
) -> list[dict[str, float]]:
    """Return the cells of each distinct candidate that have the largest weights, with these
    weights.
    """
    cells_of_candidates: list[dict[str, float]] = []
    for _, (columns, sizes) in cells.blocks(texts):
        for candidate_columns in np.split(columns, np.cumsum(sizes)[:-1]):
            cell_weights = weights[candidate_columns].astype(np.float64)
            largest = np.argsort(-np.abs(cell_weights), kind="stable")[:_SHOWN_CELLS]
            labels = cells.describe(candidate_columns[largest].tolist())
            labelled = zip(labels, cell_weights[largest].tolist(), strict=True)
            cells_of_candidates.append({label: weight for label, weight in labelled if weight})
    return cells_of_candidates
