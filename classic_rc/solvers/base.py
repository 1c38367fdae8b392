"""The solver interface and variants."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ClassVar, Literal, Protocol, Self, dataclass_transform, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classic_rc.decisions import Decision, default_decision
from classic_rc.errors import (
    DataError,
    NotFittedError,
    OutputError,
    UsageError,
    system_failures,
    unknown_name,
)
from classic_rc.facts import sentences_digest
from classic_rc.kernels.arrays import offsets_of
from classic_rc.metrics.base import primary_metric
from classic_rc.parameters import Estimator, Parameter, clone
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task
from classic_rc.sketches import Sketch
from classic_rc.solvers.explanation import Explanation, given
from classic_rc.solvers.registry import SOLVER_ENTRIES
from classic_rc.solvers.shared_parameters import SHARED_PARAMETERS
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import SharedQuestions, encode, without_answers, without_gold
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.languages import ENGLISH, dataset_language, is_english


@dataclass(frozen=True)
class Variant:
    """A named set of a solver's parameters that reproduces a publication.

    Parameters
    ----------
    params : mapping
        Constructor parameters, including the decision. A variant consists of these and nothing
        else.
    description : str
        What the variant reproduces, and the bugs it keeps on purpose.
    citation : str
        The paper and section, or the release, that the choices come from.
    tuned_on : mapping of str to str
        Content fingerprint -> name of each split that the constants were tuned on.
    cites : tuple of str
        Reference keys behind `citation`. If empty, the solver's own keys apply.
    """

    params: Mapping[str, Any]
    description: str
    citation: str
    tuned_on: Mapping[str, str] = field(default_factory=dict)
    cites: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrainedOn:
    """The data that a solver learned from in an earlier run."""

    name: str
    fingerprint: str
    datasets: tuple[str, ...]  # their names; see `provenance`
    sentences: str | None = None  # the digest of its sentence marks; see `facts`
    scorers: tuple[str, ...] = ()  # of span questions; see `Question`
    language: str | None = None  # if the solver depends on it
    sketch: Sketch | None = field(default=None, compare=False)

    def copied(self, dataset: Sequence[Question]) -> NDArray[np.bool_] | None:
        """Return which questions of `dataset` the solver has learned, or their passages, shape
        (n_questions,); None if there is no sketch.
        """
        return None if self.sketch is None else self.sketch.copied(dataset)

    def require_language(self, dataset: Sequence[Question]) -> None:
        """Refuse data of another language if the solver depends on English."""
        if self.language == ENGLISH.name and not is_english(dataset):
            language = dataset_language(dataset).name
            raise UsageError(
                f"what was learned from {self.name} is for English, and these questions are in "
                f"{language}: learn from data of that language (--train DATA)",
                field="language",
                found=language,
                expected=ENGLISH.name,
            )


class Provenance(dict[str, Any]):
    """The data that a solver is fitted on, as plain data (:func:`provenance`), and its sketch.

    A copy, such as one for another process, has the sketch only if it has been made before.
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        questions: Sequence[Question] | None = None,
        sketch: Sketch | None = None,
    ) -> None:
        super().__init__(facts)
        self._questions, self._sketch = questions, sketch

    def __reduce__(self) -> tuple[Any, ...]:
        return Provenance, (dict(self), None, self._sketch)

    @property
    def sketch(self) -> Sketch | None:
        """The sketch of the questions. It is made when it is first needed, to save the solver."""
        if self._sketch is None and self._questions is not None:
            self._sketch = Sketch.of(self._questions, self["name"])
        return self._sketch


class QuestionScorer(Protocol):
    """What scores questions instead of a solver that has learned from them."""

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate."""

    def member_scores(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the normalised scores of a combination's members."""


def require_passages(questions: Sequence[Question], hint: str | None = None) -> None:
    """Check that there is a text to read."""
    if questions and not any(question.passage.text.strip() for question in questions):
        raise DataError("no question has a passage, so there is no text to read", hint=hint)


_ExplainEach = Callable[[Any, Sequence[Question]], Iterator[Explanation]]


def _with_answers(explain_each: _ExplainEach) -> _ExplainEach:
    """Make ``explain_each`` add the answers that the solver decides on."""

    @wraps(explain_each)
    def explained(self: Solver, questions: Sequence[Question]) -> Iterator[Explanation]:
        for explanation in explain_each(self, questions):
            is_one = isinstance(explanation, Explanation)  # a user's own may return anything
            yield replace(explanation, decide=self._answer_to) if is_one else explanation

    return explained


@dataclass_transform(kw_only_default=True, eq_default=False)
class Solver(Estimator, ABC):
    """The base class of all solvers: it scores the candidates of questions.

    A subclass must write :meth:`score_candidates` and nothing else. It declares each parameter
    once, as an annotated name whose value is :func:`~classic_rc.parameters.parameter`. The
    constructor takes them as keywords and stores them unchanged under their own names, so that
    scikit-learn's `clone`, `get_params` and `GridSearchCV` work. Two names have a fixed meaning:
    `analyzer` turns texts into tokens, and `decision` turns scores into answers (None is the task's
    default rule).

    Attributes
    ----------
    name : str
        The name on the command line. Default: the class name.
    learns_from : {"nothing", "passages", "gold"}
        What :meth:`fit` reads: nothing, the text of the passages (never gold), or gold.
    tasks : frozenset of Task
        The tasks that the solver supports.
    variants : mapping of str to Variant
    parameters : mapping of str to Parameter
        What the class declares. Declared values are checked (:meth:`check_parameters`), and the
        files they name are kept with run records. A user's solver that writes its own constructor
        may leave parameters undeclared.
    takes_encoding : bool
        Whether :meth:`score_candidates` can use questions that are already encoded under its
        analyzer.
    needs_only_arrays : bool
        Whether :meth:`score_candidates` reads only the arrays of an encoding and never a question
        object. Such a solver runs in other processes without sending them the questions.
    needs_passages : bool
        Whether the solver reads nothing but passages: if no question has one, :meth:`fit_for`
        refuses.
    source_file : str or None
        The path of the class's file, if ``path/to/file.py:Class`` named it.
    source_sha256 : str
        The sha256 of that file when it was read.
    score_meaning : str
        What the score is, if it is one number that is read, counted or drawn. :meth:`explain` says
        so.
    cites : tuple of str
        Keys of the references (``classic_rc/reports/references.bib``) behind `citation`; our own:
        ``"classic_rc"``.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    learns_from: Literal["nothing", "passages", "gold"] = "nothing"
    tasks: ClassVar[frozenset[Task]] = frozenset(Task)
    variants: ClassVar[Mapping[str, Variant]] = {}
    # Parameters that are gone, each with the value that records and saved solvers may still have.
    former_params: ClassVar[Mapping[str, Any]] = {}
    takes_encoding: ClassVar[bool] = True
    needs_only_arrays: ClassVar[bool] = False
    needs_passages: ClassVar[bool] = False
    source_file: ClassVar[str | None] = None
    source_sha256: ClassVar[str] = ""
    score_meaning: ClassVar[str] = ""
    cites: ClassVar[tuple[str, ...]] = ()
    # The rule if `decision` is None, if it is not the task's default.
    usual_decision: ClassVar[type[Decision] | None] = None

    analyzer: Any = None
    decision: Decision | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__
        entry = SOLVER_ENTRIES.get(cls.name)
        if entry is not None and entry.home == f"{cls.__module__}:{cls.__name__}":
            cls.description = entry.description
        if "explain" in cls.__dict__:
            raise TypeError(f"{cls.__name__} has a method explain: write explain_each(questions)")
        if "explain_each" in cls.__dict__:
            cls.explain_each = _with_answers(cls.explain_each)  # type: ignore[method-assign]

    @abstractmethod
    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score every candidate of every question; higher is better.

        A question's scores may depend on the fitted state and on that question, never on the other
        questions: runs are divided among processes and folds.

        Parameters
        ----------
        questions : sequence of Question
            A dataset, a list, or an :class:`~classic_rc.text.encoded.EncodedDataset`.

        Returns
        -------
        Scores
            A list or an array of numbers for each question will do too: it becomes
            :meth:`Scores.from_lists` of them wherever the package uses this method.
        """

    def score_with_jobs(self, questions: Sequence[Question], jobs: int) -> Scores:
        """Score like :meth:`score_candidates`; slow solvers divide the work among up to `jobs`
        processes.
        """
        return score_questions(self, questions)

    def score_with_members(self, questions: Sequence[Question]) -> list[Scores]:
        """Return the scores of :meth:`score_candidates`, then each member's scores for a
        combination.
        """
        return [score_questions(self, questions)]

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn from `questions`, or just check the parameters. `y` exists for scikit-learn and is
        ignored.

        Raises
        ------
        UsageError
            A parameter has a value that is not allowed. For a learner: there is no question, or the
            solver does not answer questions of this task.
        DataError
            A file that a parameter names is missing or malformed. For a learner: gold is hidden, or
            no candidate is right, or none is wrong.
        """
        self.check_parameters()
        return self

    def fit_for(
        self, questions: Sequence[Question], train: Sequence[Question] | None = None
    ) -> Self:
        """Fit on the data that `learns_from` allows.

        A solver that learns from gold is fitted on `train`; one that learns from passages, on the
        texts of `train` and `questions`; any other, on `questions` without its gold.

        Parameters
        ----------
        questions : sequence of Question
            The questions to answer. Their gold is never read.
        train : sequence of Question, optional

        Raises
        ------
        UsageError
            The solver learns from gold, and `train` is missing.
        DataError
            The solver needs passages, and no question has one.
        """
        if self.needs_passages:
            require_passages(questions)
        if self.learns_from == "gold":
            return self.fit(self._training(train))
        if self.learns_from == "passages":
            return self.fit(
                [*without_answers(train), *without_answers(questions)]
                if train
                else without_answers(questions)
            )
        return self.fit(without_gold(questions))

    def _training(self, train: Sequence[Question] | None) -> Sequence[Question]:
        if train is None:
            problem = (
                f"{self.name} learns from gold answers: give training data (--train DATA), "
                "or cross-validate (--cv 5)"
            )
            raise UsageError(
                problem,
                field="train",
                found="no training data",
                expected="questions with gold answers",
            )
        return train

    def tune(self, questions: Sequence[Question], scorer: QuestionScorer | None = None) -> Self:
        """Fit the decision rule on the scores of `questions` and their gold, and store it as
        ``decision_``.

        Parameters
        ----------
        questions : sequence of Question
        scorer : Scorer, optional
            What scores `questions` in this solver's place. A solver's own scores of questions that
            it has learned from are too good to choose a threshold on; :func:`classic_rc.evaluate`
            gives the solvers of other folds (:class:`~classic_rc.solvers.learning.OutOfFold`).
        """
        decision = clone(self.decision_for(_task_of(questions)))
        if scorer is not None:
            self.decision_ = decision.fit(scorer.score_candidates(questions), questions)
            return self
        self.decision_ = decision.fit(score_questions(self, questions), questions)
        learned = getattr(self, "trained_on_", None)
        fingerprint = provenance(questions)["fingerprint"]
        if (
            self.is_trained
            and learned
            and fingerprint is not None
            and learned["fingerprint"] == fingerprint
        ):
            caveat = (
                f"tuned on {learned['name']}, whose gold it learned: its scores there are too good "
                "to tune on"
            )
            self.caveats_ = (*getattr(self, "caveats_", ()), f"{caveat} (--tune other data)")
        return self

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """Answer the questions: score their candidates, then apply the decision rule.

        Raises
        ------
        NotFittedError
            The decision has a threshold that is not tuned yet.
        """
        return list(self._rule_for(questions).decide(score_questions(self, questions), questions))

    def _rule_for(self, questions: Sequence[Question]) -> Decision:
        """Return the fitted decision, or the one that needs no fit."""
        return getattr(self, "decision_", None) or self.decision_for(_task_of(questions))

    def score(self, questions: Sequence[Question], y: Any = None) -> float:
        """Return the task's primary metric (accuracy, F1a or F1) of the predictions, in 0..1."""
        return primary_metric(questions[0])(questions, self.predict(questions))

    def default_decision(self, task: Task) -> Decision:
        """Return the rule that applies if `decision` is None: the task's default; some solvers
        have their own.
        """
        return default_decision(task) if self.usual_decision is None else self.usual_decision()

    def decision_for(self, task: Task) -> Decision:
        """Return the unfitted decision rule for `task`: `decision`, or the default."""
        return self.decision if self.decision is not None else self.default_decision(task)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether it can score: a solver that learns nothing always can."""
        return self.learns_from == "nothing" or any(name.endswith("_") for name in vars(self))

    def require_fitted(self, attribute: str, problem: str | None = None, **fields: str) -> None:
        """Check that a fit has stored an attribute.

        Raises
        ------
        NotFittedError
            It has not: `problem`, by default what the solver learns from.
        """
        if not hasattr(self, attribute):
            hint = "call fit(train) first (on the command line --train DATA or --cv 5)"
            if self.learns_from == "passages":
                hint = "call fit(questions) first"
            source = "gold answers" if self.learns_from == "gold" else "passages"
            problem = problem or f"{self.name} learns from {source}: {hint}"
            raise NotFittedError(problem, **{"field": self.name, **fields})

    @property
    def tunes_parameters(self) -> bool:
        """Whether :meth:`tune` chooses more than the decision's constants."""
        return False

    def expectation(self, questions: Sequence[Question]) -> Sequence[Prediction] | None:
        """Return predictions whose metrics are this solver's expected values in closed form.

        Return None if the solver does not draw at random, as by default.
        """
        return None

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Return the caveats for a reader of this fitted solver's numbers on `questions`.

        The default is what :meth:`fit` stored in ``caveats_``, for example that a learner stopped
        early.
        """
        return getattr(self, "caveats_", ())

    @property
    def is_trained(self) -> bool:
        """Whether gold answers shape its scores: it learns from gold, or one of its members does.

        A tuned threshold, window or weight is not training: it is noted with the data that it was
        tuned on.
        """
        return self.learns_from == "gold" or any(member.is_trained for member in self.members)

    @property
    def learned_before(self) -> tuple[TrainedOn, ...]:
        """The data with gold that it or a member learned before this run, for saved solvers."""
        return tuple(
            dict.fromkeys(
                trained_on for member in self.members for trained_on in member.learned_before
            )
        )

    @property
    def has_given_scores(self) -> bool:
        """Whether it or one of its members reads scores that another system made."""
        return any(member.has_given_scores for member in self.members)

    @property
    def members(self) -> Sequence[Solver]:
        """The solvers that this one combines (the fitted ones after :meth:`fit`); none by
        default.
        """
        return ()

    def runs_solvers(self) -> Sequence[str]:
        """Return the names of registered solvers that it runs and that no parameter names; none
        by default.
        """
        return ()

    @property
    def member_names(self) -> list[str]:
        """The members' names."""
        return []

    def companions(self) -> Sequence[Solver]:
        """Return the solvers that the command line runs too, for comparison; none by default."""
        return ()

    def published_tuning(self) -> Mapping[str, str]:
        """Return the splits that the constants of this variant and of its members' variants were
        tuned on.

        Each content fingerprint has the name of its split.
        """
        variant = self.variant_name()
        splits = dict(self.variants[variant].tuned_on) if variant else {}
        for member in self.members:
            splits |= member.published_tuning()
        return splits

    def default_tuning(self) -> Mapping[str, str]:
        """Return the splits that constants kept as defaults were tuned on, like
        :meth:`published_tuning`.
        """
        splits: dict[str, str] = {}
        for name, declared in self.parameters.items():
            if declared.default_tuned_on and self.variant_name() is None:
                default = inspect.signature(type(self)).parameters[name].default
                splits |= declared.default_tuned_on if getattr(self, name) == default else {}
        for member in self.members:
            splits |= member.default_tuning()
        return splits

    def signature_facts(self) -> Mapping[str, Any]:
        """Return what the scores depend on apart from the parameters and the named data, for the
        signature.

        Empty by default. A search corpus is one example.
        """
        return {}

    @_with_answers
    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Explain what produced the scores of each question's candidates: by default
        :attr:`score_meaning`, or nothing but the score.

        A subclass may yield marks in the passage, numbers, and a formula
        (:class:`~classic_rc.solvers.explanation.CandidateExplanation`). If it does not write this
        method, :class:`~classic_rc.running.explain.Explainer` measures what each word adds.
        """
        scores = score_questions(self, questions)
        meaning = self.score_meaning
        formula = (lambda i, score: given("score", score, meaning)) if meaning else None
        for k, question in enumerate(questions):
            yield Explanation.from_scores(self.name, question, scores.take([k]), formula)

    @final
    def explain(self, question: Question) -> Explanation:
        """Explain one question, as :meth:`explain_each` does."""
        return next(self.explain_each([question]))

    def _answer_to(self, explanation: Explanation) -> Prediction | None:
        """Return the answer that follows from explained scores; None if a threshold is not
        tuned.
        """
        questions = [explanation.question]
        decision = self._rule_for(questions)
        try:
            answers = self.expectation(questions) or decision.decide(explanation.scores, questions)
        except UsageError:
            return None
        return answers[0]

    @classmethod
    def variant(cls, name: str, **changes: Any) -> Self:
        """Return a solver with the parameters of variant `name`, with `changes` on top.

        Raises
        ------
        UsageError
            The variant or a parameter is unknown.
        """
        if name not in cls.variants:
            kind = f"variant of {cls.name}"
            if cls.variants:
                raise unknown_name(kind, name, cls.variants)
            problem = f"unknown variant {name!r}: solver {cls.name!r} has no variants"
            raise UsageError(problem, field=kind, found=name, expected="no variant")
        return cls.from_params({**cls.variants[name].params, **changes})

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """Return a solver with the constructor parameters `params`.

        Raises
        ------
        UsageError
            A parameter is unknown, or the constructor refuses the parameters.
        """
        names = cls._get_param_names()
        for key in params:
            if key not in names:
                raise unknown_name(f"parameter of {cls.name}", key, names)
        try:
            return cls(**params)
        except TypeError as error:
            raise UsageError(
                f"solver {cls.name!r} cannot be created: {error}", field=cls.name
            ) from error

    @classmethod
    def from_recorded(cls, params: Mapping[str, Any]) -> Self:
        """Return a solver with the parameters of a record or a saved solver.

        A parameter that is gone is left out if it has the value in `former_params`.
        """
        former = cls.former_params
        is_former = {name: name in former and former[name] == params[name] for name in params}
        return cls.from_params({name: params[name] for name in params if not is_former[name]})

    @classmethod
    def parameter(cls, name: str) -> Parameter:
        """Return the declaration of a parameter: the class's, or the shared one of that name, or
        an empty one.
        """
        return cls.parameters.get(name) or SHARED_PARAMETERS.get(name, Parameter(""))

    @classmethod
    def names_existing_file(cls, name: str, value: str) -> bool:
        """Return whether a parameter's value is the path of a file or folder that exists.

        Any text may be a path in a parameter that a user's class leaves undeclared.
        """
        is_undeclared = name not in cls.parameters and not cls.__module__.startswith("classic_rc.")
        may_name = cls.parameter(name).names_file(value) or (
            is_undeclared and value not in ("", ".", "..")
        )
        return may_name and os.path.exists(value)

    def variant_name(self) -> str | None:
        """Return the name of the variant that has exactly this solver's parameters, or None.

        The decision may differ. If several variants differ only in their decision, the one with
        this solver's decision wins, else the first.
        """
        if not self.variants:
            return None
        defaults = type(self)().get_params(deep=False)
        params = self.get_params(deep=False)
        matching = [
            name
            for name, variant in self.variants.items()
            if _without_decision(params) == _without_decision({**defaults, **variant.params})
        ]
        matching.sort(
            key=lambda name: (
                not _same_rule(self.variants[name].params.get("decision"), self.decision)
            )
        )
        return matching[0] if matching else None

    def row_name(self) -> str:
        """Return the name that this solver's row of results will have: its name and its variant."""
        variant = self.variant_name()
        return f"{self.name}:{variant}" if variant else self.name

    def failures(self, name: str | None = None) -> AbstractContextManager[None]:
        """Return a context for code of this solver, named `name`: see
        :func:`classic_rc.errors.system_failures`.
        """
        return system_failures(name or self.row_name(), *self._classes())

    def _classes(self) -> Iterator[type[Solver]]:
        yield type(self)
        for member in self.members:
            yield from member._classes()

    def encoded(self, questions: Sequence[Question]) -> EncodedDataset:
        """Encode `questions` as token ids under this solver's analyzer."""
        return encode(questions, get_analyzer(self.analyzer))


def _without_decision(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "decision"}


def _same_rule(first: Decision | None, second: Decision | None) -> bool:
    """Return whether two decisions have the same class and parameters, apart from the seed."""
    if first is None or second is None:
        return first is second
    params = [
        {k: v for k, v in d.get_params(deep=False).items() if k != "seed"} for d in (first, second)
    ]
    return type(first) is type(second) and params[0] == params[1]


def _task_of(questions: Sequence[Question]) -> Task:
    if isinstance(questions, Question | str) or not hasattr(questions, "__len__"):
        actual = type(questions).__name__
        is_one = isinstance(questions, Question)
        fix = "put it in brackets, [question]" if is_one else "load them: classic_rc.load(path)"
        problem = f"expected questions, got a {actual}: {fix}"
        raise UsageError(problem, field="questions", found=actual, expected="questions")
    if not len(questions):
        raise UsageError(
            "there are no questions", field="questions", found="0", expected="at least 1"
        )
    return questions[0].task


def scores_without_evidence(values: ArrayLike, questions: Sequence[Question]) -> Scores:
    """Return the scores of all candidates, in order, without evidence: for solvers that do not
    read the passage.
    """
    scores = np.asarray(values, dtype=np.float64)
    return Scores(
        scores, offsets_of(candidate_counts(questions)), np.zeros(len(scores), dtype=np.bool_)
    )


def candidate_counts(questions: Sequence[Question]) -> NDArray[np.int64]:
    """Return the number of candidates of each question: shape (n_questions,)."""
    return np.array([len(question.candidates) for question in questions], dtype=np.int64)


def provenance(questions: Sequence[Question], n_candidates: int | None = None) -> Provenance:
    """Describe the data that a solver is fitted on: names, content fingerprint and counts.

    ``name`` and ``fingerprint`` are None if `questions` is not a dataset; ``datasets`` has the
    names of the datasets that it belongs to (:func:`~classic_rc.datasets.registry.dataset_names`).
    The others are counts; `n_candidates` is that of all candidates, if it is known.
    """
    from classic_rc.datasets.registry import dataset_names

    while isinstance(questions, EncodedDataset | SharedQuestions):
        questions = questions.questions
    dataset = questions if isinstance(questions, Dataset) else None
    if n_candidates is None:
        # Questions may share one candidate list. Counting generated spans generates them, so count
        # each list once.
        lists = {id(q.candidates): q.candidates for q in questions}
        sizes = {key: len(candidates) for key, candidates in lists.items()}
        n_candidates = sum(sizes[id(q.candidates)] for q in questions)
    facts = {
        "name": dataset and dataset.name,
        "fingerprint": dataset and dataset.fingerprint,
        "sentences": dataset and sentences_digest(dataset),
        "datasets": [] if dataset is None else dataset_names(dataset),
        "passages": len({id(q.passage) for q in questions}),
        "questions": len(questions),
        "candidates": n_candidates,
    }
    if len(questions) and questions[0].scorers:
        facts["scorers"] = list(questions[0].scorers)
    return Provenance(facts, questions)


def score_questions(solver: Solver, questions: Sequence[Question]) -> Scores:
    """Return the scores of :meth:`Solver.score_candidates`; lists of numbers become
    :class:`Scores`.

    Raises
    ------
    OutputError
        It returned something else, or not one number for each candidate, or NaN.
    """
    returned: Any = solver.score_candidates(questions)
    if isinstance(returned, Scores):
        return returned
    subject = f"score_candidates of solver {solver.name!r}"
    problem = f"{subject} must return Scores, or a list of numbers for each question"

    def wrong(actual: str, expected: str) -> OutputError:
        message = f"{problem}: found {actual}, expected {expected}"
        return OutputError(message, field="score_candidates", found=actual, expected=expected)

    if not _is_list(returned):
        raise wrong(type(returned).__name__, "Scores, or a list of lists of numbers")
    if len(returned) != len(questions):
        raise wrong(f"{len(returned):,} lists", f"{len(questions):,} lists, one for each question")
    rows = []
    for question, row in zip(questions, returned, strict=True):
        if not _is_list(row):
            raise wrong(f"{type(row).__name__} for question {question.id}", "a list of numbers")
        try:
            numbers = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.full(len(row), np.nan)
        n = len(question.candidates)
        if numbers.shape != (n,):
            actual = (
                f"{len(row)} scores" if numbers.ndim == 1 else f"an array of shape {numbers.shape}"
            )
            raise wrong(f"{actual} for question {question.id}", f"{n}, one for each candidate")
        if np.isnan(numbers).any():
            actual = repr(row[int(np.isnan(numbers).argmax())])
            raise wrong(f"{actual} for a candidate of question {question.id}", "numbers")
        rows.append(numbers)
    return Scores.from_lists(rows)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
