"""The strong lexical matcher of Smith et al. 2015: its variants, the solver, and how its scores are explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision
from classic_rc.errors import NotFittedError, UsageError
from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import SCALE, inverse_count_weights
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import (
    ANALYZER,
    ANNOTATIONS,
    CATEGORIES,
    DECISION,
    REGULARISATION,
    STOP_WORDS,
    Parameter,
    Solver,
    Variant,
    provenance,
)
from classic_rc.solvers.explanation import CandidateExplanation, Explanation, Mark
from classic_rc.solvers.learning import right_candidates
from classic_rc.solvers.lexical.components import (
    COMPONENTS,
    SMOOTHING,
    WIDTHS,
    Components,
    component_scores,
    component_weights,
    counted_sentences,
    learned_weights,
    named_bugs,
)
from classic_rc.solvers.lexical.texts import AnnotatedReader, Token, raw_texts, raw_tokens
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.annotations import Annotations, Categories, read_annotations, read_categories
from classic_rc.text.stemmers import STEMMERS

_CITATION = "Smith, Greco, Bosnjak and Vlachos 2015, and the released code, scores and Results.md"

_RELEASED = {
    "analyzer": "treebank",
    "stop_words": "mctest",
    "bugs": "all",
    "decision": Argmax(ties="partial"),
}
_FULL = {**_RELEASED, "normaliser": "lemma", "coreference": "rules"}
_BASE = {**_RELEASED, "normaliser": "none", "negation": False}

_FULL_TEXT = (
    "the full system without RTE from CoreNLP's annotation (annotations=FILE) and the question categories "
    "(categories=FOLDER), mistakes included"
)
_BASE_TEXT = (
    "the base system, ImpSW+D, from raw text: nltk's Treebank tokens and our sentences for CoreNLP's, mistakes "
    "included; negation=True and normaliser=porter add what raw text allows of the rest"
)


def _both(params: Mapping[str, Any], text: str, suffix: str) -> dict[str, Variant]:
    return {
        f"smith2015{suffix}": Variant({**params, "weights": "mc160"}, f"{text}; MC160's weights", _CITATION),
        f"smith2015{suffix}-mc500": Variant({**params, "weights": "mc500"}, f"{text}; MC500's weights", _CITATION),
    }


LEXICAL_VARIANTS = {**_both(_FULL, _FULL_TEXT, ""), **_both(_BASE, _BASE_TEXT, "-raw")}


LINKED_CATEGORIES = frozenset({"what", "who", "when", "CD", "which", "where", "whose"})
"""For questions of these categories alone, ``coreference="rules"`` uses coreference."""


class LexicalMatcher(Solver):
    r"""Windows of all widths, word distance, bag of words and best sentences, added up.

    .. math:: w_1 \sum_{n=2}^{29} \max_j \sum_{i=j}^{j+n-1} m_i - w_2\,d + w_3 \sum_i m_i + w_4 \max_{s \ne t}
        \left(\sum_{i \in s} m_i + \sum_{i \in t} m_i\right)

    where :math:`m_i = \ln(1 + 1 / (1 + C))` if token i of the passage, whose word stands there C times, is a word
    of the question or the candidate, else 0; d is the word distance (:class:`~classic_rc.solvers.WordDistance`)
    and s and t are sentences. Windows and sentences compare stems, the others words; all but the windows leave
    stop words out (Smith et al. 2015, and their code).

    Parameters
    ----------
    analyzer : str or Analyzer
        How raw text becomes tokens; of those, punctuation and what begins with it is dropped.
    normaliser : str
        A stemmer's name, ``"none"``, or ``"lemma"``: the annotation's lemmas.
    stop_words : str
        A stop list's name or a file.
    weights : str
        ``"mc160"`` or ``"mc500"``, published for these; ``"learned"``, by logistic regression on pairs of a right
        and a wrong candidate; or the four weights themselves, such as ``"1/10/0/0"``.
    negation : bool
        Whether, for a negated question ("Who did not come?"), a component prefers the one candidate that has no
        word in the passage, if there is just one: 1 for it and 0 for the others.
    coreference : {"none", "rules", "all"}
        For which questions the bag of words and the sentences also score, and add, the passage in which mentions
        are replaced by what they refer to: none, those whose categories are all among
        :data:`LINKED_CATEGORIES`, or all.
    annotations : str, optional
        A file with tokens, lemmas, sentences, coreference and negation
        (:func:`~classic_rc.text.annotations.read_annotations`), in place of raw text.
    categories : str, optional
        A folder of question categories (:func:`~classic_rc.text.annotations.read_categories`), besides the
        annotation's own.
    bugs : str
        Mistakes of the released code to repeat: names of
        :data:`~classic_rc.solvers.lexical.components.BUGS` joined by a plus, ``"all"`` or ``"none"``.
    C : float
        With learned weights, the inverse strength of the regularisation.
    decision : Decision, optional
        None is the task's usual rule.

    Attributes
    ----------
    weights_ : ndarray of float64, shape (4,)
        The weights of windows, distance, bag of words and sentences.
    """

    name = "lexical"
    description = "windows of all widths, word distance, bag of words and best sentences"
    citation = "Smith et al. 2015, A Strong Lexical Matching Method for the Machine Comprehension Test, EMNLP"
    cites = ("smith2015",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = LEXICAL_VARIANTS
    takes_encoding = False  # it divides passages into sentences

    weights_: NDArray[np.float64]

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "analyzer": ANALYZER,
        "normaliser": Parameter("the stemmer, or the annotation's lemmas", (*STEMMERS, "lemma")),
        "stop_words": STOP_WORDS,
        "weights": Parameter("what each of the four components weighs"),
        "negation": Parameter("whether a negated question prefers what the passage does not have", (True, False)),
        "coreference": Parameter(
            "for which questions mentions are replaced by what they refer to", ("none", "rules", "all")
        ),
        "annotations": ANNOTATIONS,
        "categories": CATEGORIES,
        "bugs": Parameter("mistakes of the released code to repeat, joined by a plus"),
        "C": REGULARISATION,
        "decision": DECISION,
    }

    def __init__(
        self,
        *,
        analyzer: Any = "word",
        normaliser: str = "porter",
        stop_words: str = "smart",
        weights: str = "mc500",
        negation: bool = True,
        coreference: Literal["none", "rules", "all"] = "none",
        annotations: str | None = None,
        categories: str | None = None,
        bugs: str = "none",
        C: float = 1.0,
        decision: Decision | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.normaliser = normaliser
        self.stop_words = stop_words
        self.weights = weights
        self.negation = negation
        self.coreference = coreference
        self.annotations = annotations
        self.categories = categories
        self.bugs = bugs
        self.C = C
        self.decision = decision

    @property
    def learns_from(self) -> Literal["nothing", "gold"]:  # type: ignore[override]
        """Gold where weights are learned, else nothing."""
        return "gold" if self.weights == "learned" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters and read the files; learn the weights if they are to be learned.

        Raises
        ------
        UsageError
            A parameter has a value that it cannot have, or needs a file that is not named.
        DataError
            A file is missing, malformed or annotates other questions, or gold cannot be learned from.
        """
        self._check()
        self._read_files()
        if self.weights == "learned":
            right = right_candidates(self.name, questions)
            found = self.components(questions)
            columns = [found.texts.encoded.scores(column, found.evidence) for column in found.scores.T]
            values = np.stack([column.values for column in columns], axis=1)
            self.weights_ = learned_weights(values, columns[0].offsets, right, self.C)
            self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """The weighted sum of the components; evidence where a word was found or the rule for negation decided."""
        weights, found = self.component_weights(), self.components(questions)
        values = np.zeros(len(found.scores))
        # One after the other: a product of matrices may add in another order on another machine.
        for weight, column in zip(weights.tolist(), found.scores.T, strict=True):
            values += weight * column
        return found.texts.encoded.scores(values, found.evidence)

    def component_weights(self) -> NDArray[np.float64]:
        """The weights in force: shape (4,)."""
        if self.weights != "learned":
            return component_weights(self.weights)
        if not hasattr(self, "weights_"):
            raise NotFittedError(
                f"{self.name} with weights='learned' learns them from gold answers: call fit(train) first "
                "(on the command line --train DATA)"
            )
        return self.weights_

    def components(self, questions: Sequence[Question]) -> Components:
        """What the components say of the questions' candidates, before it is weighted."""
        self._check()
        bugs, linked = named_bugs(self.bugs), None
        reader = self.annotated_reader()
        if reader is None:
            texts = raw_texts(questions, self.analyzer, self.normaliser, self.stop_words)
        else:
            texts = reader.texts(questions)
            if self.coreference != "none":
                linked = reader.texts(questions, linked=True, by_form="coreference-forms" in bugs)
        grouped = [questions[i] for i in texts.encoded.order.tolist()]
        is_linked = np.array([self._uses_coreference(question) for question in grouped], dtype=np.bool_)
        return component_scores(texts, linked, is_linked, negation=self.negation, bugs=bugs)

    def annotated_reader(self) -> AnnotatedReader | None:
        """What makes texts of the annotation; None where there is none."""
        if self.annotations is None:
            return None
        annotations = self._files()[0]
        assert annotations is not None
        return AnnotatedReader(annotations, self.analyzer, self.normaliser, self.stop_words)

    def explain(self, question: Question) -> Explanation:
        """What each component adds, the best window and its words, and the best sentences."""
        return explain_components(self, question)

    def variant_name(self) -> str | None:
        """The variant, which the files do not change: they are data, and signed as such."""
        params = {**self.get_params(deep=False), "annotations": None, "categories": None}
        return super(LexicalMatcher, type(self)(**params)).variant_name()

    def signature_facts(self) -> Mapping[str, Any]:
        """The files by name and content, what was annotated and what approximated."""
        annotations, categories = self._files()
        return {
            "annotations": None if annotations is None else annotations.signature,
            "categories": None if categories is None else categories.signature,
            "annotated": " + ".join(self._annotated()) or None,
            "approximated": " + ".join(self._approximated()) or None,
        }

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """What is approximated for want of annotation, in published variants and beside an annotation.

        Elsewhere nothing stands in for anything: the defaults are meant for raw text.
        """
        if self.annotations is None and self.variant_name() is None:
            return ()
        approximated = self._approximated()
        return (f"not annotated but approximated: {', '.join(approximated)}",) if approximated else ()

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The learned weights, for :func:`~classic_rc.solvers.saved.save_solver`."""
        return {}, {"weights": self.component_weights()}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Become fitted again, from what :meth:`fitted_state` gave."""
        if arrays["weights"].shape != (len(COMPONENTS),):
            raise ValueError(f"{arrays['weights'].shape} weights")
        self.weights_ = arrays["weights"]
        self._read_files()
        return self

    def _check(self) -> None:
        get_analyzer(self.analyzer)
        self.check_parameters()
        named_bugs(self.bugs)
        if self.weights != "learned":
            component_weights(self.weights)
        needing = {"normaliser": self.normaliser == "lemma", "coreference": self.coreference != "none"}
        for parameter, needs_annotation in needing.items():
            if needs_annotation and self.annotations is None:
                raise UsageError(
                    f"parameter {parameter!r} of {self.name} is {getattr(self, parameter)!r}, which takes "
                    "annotation: annotations=FILE"
                )

    def _read_files(self) -> None:
        annotations = None if self.annotations is None else read_annotations(self.annotations)
        categories = None if self.categories is None else read_categories(self.categories)
        self.files_ = annotations, categories
        known = categories is not None or (annotations is not None and annotations.has_categories)
        if self.coreference == "rules" and not known:
            raise UsageError(
                f"parameter 'coreference' of {self.name} is 'rules', which go by question categories: "
                "categories=FOLDER (or coreference='all')"
            )

    def _files(self) -> tuple[Annotations | None, Categories | None]:
        if not hasattr(self, "files_"):
            self._read_files()
        return self.files_

    def _uses_coreference(self, question: Question) -> bool:
        if self.coreference != "rules":
            return self.coreference == "all"
        annotations, folder = self._files()
        assert annotations is not None
        categories = annotations.question_of(question).categories
        if folder is not None:
            categories |= folder.of_question.get(question.id, frozenset())
        return categories <= LINKED_CATEGORIES if categories else "no-category" in named_bugs(self.bugs)

    def _annotated(self) -> list[str]:
        """What is read of the annotation."""
        if self.annotations is None:
            return []
        return ["tokens", *(name for name, approximated in self._sources().items() if approximated is None)]

    def _approximated(self) -> list[str]:
        own = [] if self.annotations is not None else [f"tokens by {get_analyzer(self.analyzer).signature}"]
        return own + [f"{name} by {stand_in}" for name, stand_in in self._sources().items() if stand_in]

    def _sources(self) -> dict[str, str | None]:
        """For each thing in use that annotation can give, what stands in for it; None where nothing does."""
        annotations, _ = self._files()
        passages = () if annotations is None else annotations.passages.values()
        as_released = "sentence-borders" in named_bugs(self.bugs)
        borders = [p.unfiltered_sentences or p.sentences if as_released else p.sentences for p in passages]
        sources: dict[str, str | None] = {"sentences": None if all(borders) and borders else "rules"}
        if self.normaliser != "none":
            sources["lemmas"] = None if self.normaliser == "lemma" else self.normaliser
        if self.negation:
            sources["negation"] = None if annotations is not None and annotations.has_negation else "words"
        if self.coreference != "none":
            sources["coreference"] = None
        return sources


_MARKED_CANDIDATES = 100


def explain_components(solver: LexicalMatcher, question: Question) -> Explanation:
    """The components' weighted shares of each score, the best window of the greatest width, the best sentences.

    The shares add up to the score. Where the rule for negated questions has decided, a component's name says so.
    The window and the sentences are those of the passage as it stands, mentions not replaced.
    """
    scores, found = solver.score_candidates([question]), solver.components([question])
    weights, reader = solver.component_weights(), solver.annotated_reader()
    if reader is None:
        tokens = raw_tokens(question.passage, solver.analyzer, solver.normaliser, solver.stop_words)
    else:
        tokens = reader.tokens(question)
    sentences, counts = counted_sentences(found.texts, named_bugs(solver.bugs))
    token_weights = inverse_count_weights(found.texts.stem_counts + SMOOTHING).tolist()
    rows = found.texts.encoded.candidate_rows
    explained = list(Explanation.from_scores(solver.name, question, scores).candidates)
    for i in np.argsort(-scores[0], kind="stable")[:_MARKED_CANDIDATES].tolist():
        row = i if rows is None else int(rows[i])
        kinds = _matches(found.texts.stems, row)
        matched = [weight if kind else 0 for weight, kind in zip(token_weights, kinds, strict=True)]
        in_sentences = [weight if counted else 0 for weight, counted in zip(matched, counts.tolist(), strict=True)]
        explained[i] = CandidateExplanation(
            explained[i].text,
            explained[i].score,
            explained[i].evidence,
            _window(tokens, matched, kinds),
            {
                f"{name} (negation)" if ruled else name: weight * score
                for name, weight, score, ruled in zip(
                    COMPONENTS, weights.tolist(), found.scores[row].tolist(), found.ruled[row].tolist(), strict=True
                )
            },
            quote := _sentences(question.passage.text, tokens, in_sentences, sentences.tolist()),
            "best sentences" if quote else None,
        )
    return Explanation(solver.name, question, tuple(explained))


def _matches(arrays: TokenArrays, candidate: int) -> list[str | None]:
    """For each token of the passage, what it is a word of, the question or the candidate."""
    start, end = arrays.candidate_offsets[candidate : candidate + 2]
    asked, answer = set(arrays.question_tokens.tolist()), set(arrays.candidate_tokens[start:end].tolist())
    return [
        "question" if token in asked else "candidate" if token in answer else None
        for token in arrays.passage_tokens.tolist()
    ]


def _window(tokens: Sequence[Token], matched: Sequence[int], kinds: Sequence[str | None]) -> tuple[Mark, ...]:
    width = WIDTHS[-1]
    starts = range(max(len(matched) - width, 0) + 1)
    best = max(starts, key=lambda start: sum(matched[start : start + width]))
    inside = range(best, min(best + width, len(matched)))
    total = sum(matched[i] for i in inside)
    places = {i: place for i in inside if (place := tokens[i].place) is not None}
    if not total or not places:
        return ()
    window = Mark(places[inside[0]][0], places[inside[-1]][1], "window", total / SCALE)
    words = [Mark(*place, kind, matched[i] / SCALE) for i, place in places.items() if (kind := kinds[i])]
    return window, *words


def _sentences(
    text: str, tokens: Sequence[Token], matched: Sequence[int], sentences: Sequence[int], n_best: int = 2
) -> str | None:
    """The text of the sentences that match best, in the order of the passage."""
    sums: Counter[int] = Counter()
    for weight, sentence in zip(matched, sentences, strict=True):
        sums[sentence] += weight
    best = sorted(sentence for sentence, total in sums.most_common(n_best) if total)
    pieces = []
    for number in best:
        places = [t.place for t, sentence in zip(tokens, sentences, strict=True) if sentence == number and t.place]
        if places:
            pieces.append(" ".join(text[places[0][0] : places[-1][1]].split()))
    return " / ".join(pieces) or None
