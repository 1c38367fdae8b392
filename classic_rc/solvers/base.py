"""What every solver is: the interface, declared parameters, named variants, and questions without their gold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, ClassVar, Literal, Self

from sklearn.base import BaseEstimator, clone

from classic_rc.decisions import Decision, default_decision
from classic_rc.errors import UsageError, unknown_name
from classic_rc.metrics.registry import primary_metric
from classic_rc.predictions import Prediction, Scores
from classic_rc.questions import Dataset, Question, Task
from classic_rc.solvers.explanation import Explanation
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.encode import SharedQuestions, encode, texts_only, without_gold
from classic_rc.text.encoded import EncodedDataset
from classic_rc.text.stop_words import STOP_LISTS, stop_list_signature


@dataclass(frozen=True)
class Variant:
    """A published bundle of a solver's parameters.

    Parameters
    ----------
    params : mapping
        Constructor parameters, the decision included; nothing else makes a variant.
    description : str
        What it reproduces, and the bugs it has on purpose.
    citation : str
        The paper and section, or the release, that the choices come from.
    tuned_on : mapping of str to str
        Names of the splits on which its constants were tuned, by content fingerprint.
    cites : tuple of str
        Keys of the references behind `citation`; its solver's where there are none.
    """

    params: Mapping[str, Any]
    description: str
    citation: str
    tuned_on: Mapping[str, str] = field(default_factory=dict)
    cites: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """What is declared of a constructor parameter, once for all that need to know it.

    Parameters
    ----------
    help : str
        What it says, in one line.
    allowed : tuple
        The values that it may have. Where it names files, the words that name none.
    also : str
        In words, which other values it may have.
    fits : callable, optional
        Whether a value is one of those others. Without it a value outside of `allowed` is refused, unless
        `allowed` is empty or the parameter names files: then the solver itself finds out.
    is_file : bool
        Whether a text that is not in `allowed` may name a file or a folder.
    joined_by : str
        What separates several files in one text.
    signed : callable, optional
        What a signature says of a value; by default the value, or a file's name and content.
    """

    help: str
    allowed: tuple[Any, ...] = ()
    also: str = ""
    fits: Callable[[Any], bool] | None = None
    is_file: bool = False
    joined_by: str = ""
    signed: Callable[[Any], Any] | None = None

    @property
    def choices(self) -> str:
        """Its values in words: ``one of 'a', 'b' or a number``; empty where they are the solver's own affair."""
        listed = ", ".join(map(repr, self.allowed))
        some = f"one of {listed}" if len(self.allowed) > 1 else listed
        return " or ".join(part for part in (some, self.also) if part)

    def accepts(self, value: Any) -> bool:
        """Whether a value is among those declared."""
        if value in self.allowed:
            return True
        if self.fits is not None:
            return self.fits(value)
        return self.is_file or not self.allowed

    def names_file(self, value: str) -> bool:
        """Whether a text may be the path of a file or a folder."""
        return self.is_file and bool(value) and value not in self.allowed


def is_whole(value: Any, least: float = -inf, below: float = inf) -> bool:
    """Whether a value is a whole number within bounds; ``True`` and ``False`` are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < below


def is_number(value: Any, least: float = -inf, most: float = inf) -> bool:
    """Whether a value is a finite number within bounds; ``True`` and ``False`` are none."""
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and isfinite(value) and least <= value <= most


ANALYZER = Parameter("how texts become words", signed=lambda value: get_analyzer(value).signature)
DECISION = Parameter("how scores become answers; None is the task's usual rule")
SEED = Parameter("what draws depend on besides the questions", also="a whole number", fits=is_whole)
REGULARISATION = Parameter(
    "the inverse strength of the regularisation",
    also="a positive number",
    fits=lambda value: is_number(value) and value > 0,
)
UNIT = Parameter("what length is counted in", ("characters", "words"))
STOP_WORDS = Parameter(
    "a stop list's name or a file",
    tuple(STOP_LISTS),
    is_file=True,
    signed=lambda value: stop_list_signature(value) if isinstance(value, str) else value,
)
ANNOTATIONS = Parameter("a file of annotation, in place of raw text", is_file=True)
CATEGORIES = Parameter("a folder of question categories", is_file=True)
WORDNET = Parameter("the folder of a WordNet database, or where systems have it", (None, "auto"), is_file=True)
PATH = Parameter("the path of a file", is_file=True)
CORPUS = Parameter(
    "where texts come from", ("passage", "paragraphs", "passages", "queries"), is_file=True, joined_by="+"
)

SHARED_PARAMETERS: Mapping[str, Parameter] = {
    "analyzer": ANALYZER,
    "decision": DECISION,
    "stop_words": STOP_WORDS,
    "annotations": ANNOTATIONS,
    "categories": CATEGORIES,
    "wordnet": WORDNET,
    "path": PATH,
    "corpus": CORPUS,
}
"""What is taken of a parameter that a class does not declare, by its name: a solver of one's own need not."""


class Solver(BaseEstimator, ABC):
    """Scores the candidates of questions. A subclass must write :meth:`score_candidates` and nothing else.

    A constructor takes keyword-only parameters and stores them unchanged under their own names, so that
    scikit-learn's `clone`, `get_params` and `GridSearchCV` work. One named `analyzer` says how texts become
    tokens; one named `decision` how scores become answers, None being the task's usual rule.

    Attributes
    ----------
    name : str
        As on the command line.
    learns_from : {"nothing", "passages", "gold"}
        What :meth:`fit` looks at: nothing, the passages' text (never gold), or gold.
    tasks : frozenset of Task
        The tasks that it can be used for.
    variants : mapping of str to Variant
    parameters : mapping of str to Parameter
        Those of the constructor. What is declared is checked (:meth:`check_parameters`), and files that are named
        are kept with run records; a solver of one's own may leave parameters out.
    takes_encoding : bool
        Whether :meth:`score_candidates` makes use of questions that are encoded under its analyzer already.
    needs_only_arrays : bool
        Whether :meth:`score_candidates` looks at an encoding's arrays and never at a question object, so that
        other processes need not be sent those.
    source_file : str or None
        Of a class that ``path/to/file.py:Class`` named, that path.
    cites : tuple of str
        Keys of the references (``classic_rc/reports/references.bib``) behind `citation`; our own: ``"classic_rc"``.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    learns_from: Literal["nothing", "passages", "gold"] = "nothing"
    tasks: ClassVar[frozenset[Task]] = frozenset(Task)
    variants: ClassVar[Mapping[str, Variant]] = {}
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    takes_encoding: ClassVar[bool] = True
    needs_only_arrays: ClassVar[bool] = False
    source_file: ClassVar[str | None] = None
    cites: ClassVar[tuple[str, ...]] = ()

    analyzer: Any = None
    decision: Decision | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    @abstractmethod
    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score every candidate of every question; higher is better.

        A question's scores may depend on fitted state and on that question, never on the others.

        Parameters
        ----------
        questions : sequence of Question
            A dataset, a list, or an :class:`~classic_rc.text.encoded.EncodedDataset`.

        Returns
        -------
        Scores
        """

    def score_with_jobs(self, questions: Sequence[Question], jobs: int) -> Scores:
        """As :meth:`score_candidates`; who takes long may divide the work among up to `jobs` processes."""
        return self.score_candidates(questions)

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Learn from `questions`, or only check the parameters; `y` is there for scikit-learn and ignored.

        Raises
        ------
        UsageError
            A parameter has a value that it cannot have.
        """
        return self

    def fit_for(self, asked: Sequence[Question], train: Sequence[Question] | None = None) -> Self:
        """Fit as `learns_from` says: to `train`, to the texts of `train` and `asked`, or just for `asked`.

        Parameters
        ----------
        asked : sequence of Question
            What is to be answered; its gold is never seen.
        train : sequence of Question, optional

        Raises
        ------
        UsageError
            It learns from gold, and there is no `train`.
        """
        if self.learns_from == "gold":
            return self.fit(self._training(train))
        if self.learns_from == "passages":
            return self.fit([*texts_only(train), *texts_only(asked)] if train else texts_only(asked))
        return self.fit(without_gold(asked))

    def _training(self, train: Sequence[Question] | None) -> Sequence[Question]:
        if train is None:
            raise UsageError(
                f"{self.name} learns from gold answers: give training data (--train DATA), "
                "or learn out of fold (--cv 5)"
            )
        return train

    def tune(self, questions: Sequence[Question]) -> Self:
        """Set ``decision_``: the decision rule, fitted to the scores of `questions` and their gold."""
        decision = clone(self.decision_for(_task(questions)))
        self.decision_ = decision.fit(self.score_candidates(questions), questions)
        return self

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """Answer the questions: the decision rule applied to the scores.

        Raises
        ------
        NotFittedError
            The decision has a threshold that nothing has tuned.
        """
        decision = getattr(self, "decision_", None) or self.decision_for(_task(questions))
        return decision.decide(self.score_candidates(questions), questions)

    def score(self, questions: Sequence[Question], y: Any = None) -> float:
        """The task's main metric (accuracy, F1a or F1) of the predictions, in 0..1."""
        return primary_metric(_task(questions))(questions, self.predict(questions))

    def default_decision(self, task: Task) -> Decision:
        """The rule where `decision` is None: the task's usual one, unless a solver has its own."""
        return default_decision(task)

    def decision_for(self, task: Task) -> Decision:
        """The rule in force for a task, not yet fitted."""
        return self.decision if self.decision is not None else self.default_decision(task)

    @property
    def tunes_parameters(self) -> bool:
        """Whether :meth:`tune` chooses more than the decision's constants."""
        return False

    def expectation(self, questions: Sequence[Question]) -> list[Prediction] | None:
        """Predictions over which metrics give this solver's expected value in closed form.

        None, the default, where the solver does not draw at random.
        """
        return None

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """What the reader of its numbers on these questions should know, once it is fitted.

        By default what :meth:`fit` has put into ``caveats_``: that a learner stopped early, for one.
        """
        return getattr(self, "caveats_", ())

    @property
    def members(self) -> Sequence[Solver]:
        """The solvers that it is made of, once fitted the fitted ones; none by default."""
        return ()

    def published_tuning(self) -> Mapping[str, str]:
        """The splits, by content fingerprint, that constants of its or its members' variants were tuned on."""
        variant = self.variant_name()
        splits = dict(self.variants[variant].tuned_on) if variant else {}
        for member in self.members:
            splits |= member.published_tuning()
        return splits

    def signature_facts(self) -> Mapping[str, Any]:
        """What its scores depend on besides its parameters and the named data, for the signature.

        None by default; a search corpus for one.
        """
        return {}

    def explain(self, question: Question) -> Explanation:
        """What produced each candidate's score."""
        scores = self.score_candidates([question])
        return Explanation.from_scores(self.name, question, scores)

    @classmethod
    def variant(cls, name: str, **changes: Any) -> Self:
        """The solver with the parameters of a named variant, `changes` applied on top.

        Raises
        ------
        UsageError
            There is no such variant, or no such parameter.
        """
        if name not in cls.variants:
            if not cls.variants:
                raise UsageError(f"solver {cls.name!r} has no variants, so not {name!r} either")
            raise unknown_name(f"variant of {cls.name}", name, cls.variants)
        return cls.from_params({**cls.variants[name].params, **changes})

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Self:
        """The solver with these constructor parameters, unknown ones refused by name."""
        known = cls._get_param_names()
        for key in params:
            if key not in known:
                raise unknown_name(f"parameter of {cls.name}", key, known)
        try:
            return cls(**params)
        except TypeError as error:
            raise UsageError(f"solver {cls.name!r} cannot be made: {error}") from error

    @classmethod
    def parameter(cls, name: str) -> Parameter:
        """What is declared of a parameter; of one that is not, what its name says."""
        return cls.parameters.get(name) or SHARED_PARAMETERS.get(name, Parameter(""))

    def check_parameters(self) -> None:
        """Refuse values that are not among those declared.

        Raises
        ------
        UsageError
        """
        known = self._get_param_names()
        for name, parameter in type(self).parameters.items():
            if name in known and not parameter.accepts(value := getattr(self, name)):
                raise UsageError(f"parameter {name!r} of {self.name} must be {parameter.choices}, got {value!r}")

    def variant_name(self) -> str | None:
        """The variant with just this solver's parameters; None if there is none.

        The decision may be another one, but of variants that differ in nothing else, the one with this
        solver's decision is meant.
        """
        if not self.variants:
            return None
        defaults = type(self)().get_params(deep=False)
        mine = self.get_params(deep=False)
        alike = [
            name
            for name, variant in self.variants.items()
            if _without_decision(mine) == _without_decision({**defaults, **variant.params})
        ]
        decided = [name for name in alike if _same_rule(self.variants[name].params.get("decision"), self.decision)]
        return next(iter([*decided, *alike]), None)

    def encoded(self, questions: Sequence[Question]) -> EncodedDataset:
        """`questions` as token ids under this solver's analyzer."""
        return encode(questions, get_analyzer(self.analyzer))


def _without_decision(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "decision"}


def _same_rule(one: Decision | None, other: Decision | None) -> bool:
    """Whether two decisions are of one kind with equal parameters, the seed apart."""
    if one is None or other is None:
        return one is other
    params = [{k: v for k, v in d.get_params(deep=False).items() if k != "seed"} for d in (one, other)]
    return type(one) is type(other) and params[0] == params[1]


def _task(questions: Sequence[Question]) -> Task:
    if not len(questions):
        raise UsageError("there is no question")
    return questions[0].task


def provenance(questions: Sequence[Question]) -> dict[str, Any]:
    """The name, the size and, of a dataset, the content fingerprint of what a solver is fitted to.

    Returns
    -------
    dict
        ``name`` and ``fingerprint`` (None for a bare list), ``passages``, ``questions`` and ``candidates``.
    """
    while isinstance(questions, EncodedDataset | SharedQuestions):
        questions = questions.questions
    known = questions if isinstance(questions, Dataset) else None
    lists = {id(q.candidates): q.candidates for q in questions}
    sizes = {key: len(candidates) for key, candidates in lists.items()}  # generated spans are made to be counted
    return {
        "name": known and known.name,
        "fingerprint": known and known.fingerprint,
        "passages": len({id(q.passage) for q in questions}),
        "questions": len(questions),
        "candidates": sum(sizes[id(q.candidates)] for q in questions),
    }
