"""The strong lexical matcher of Smith et al. 2015: the variants and the solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision
from classic_rc.parameters import parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import Solver, Variant, provenance
from classic_rc.solvers.explanation import Explanation
from classic_rc.solvers.learning import check_shape, gold_labels
from classic_rc.solvers.lexical.components import (
    COMPONENTS,
    Components,
    component_scores,
    component_weights,
    learn_weights,
    parse_bugs,
)
from classic_rc.solvers.lexical.explanation import explain_components
from classic_rc.solvers.lexical.texts import AnnotatedReader, RawTexts, raw_tokens
from classic_rc.solvers.shared_parameters import (
    ANALYZER,
    ANNOTATIONS,
    CATEGORIES,
    DECISION,
    REGULARISATION,
    STOP_WORDS,
)
from classic_rc.text.analyzers import STEMMERS, get_analyzer
from classic_rc.text.annotations import Annotations, Categories, read_annotations, read_categories
from classic_rc.text.encoded import EncodedDataset

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
    "the full system without RTE, from CoreNLP annotation (annotations=FILE) and question "
    "categories (categories=FOLDER), with the released code's mistakes"
)
_BASE_TEXT = (
    "the base system, ImpSW+D, from raw text, with nltk's Treebank tokens and our sentences "
    "instead of CoreNLP's and with the released code's mistakes; negation=True and "
    "normaliser=porter add the other parts that raw text allows"
)


def _make_variants(params: Mapping[str, Any], text: str, suffix: str) -> dict[str, Variant]:
    variants = {}
    for weights, ending in (("mc160", ""), ("mc500", "-mc500")):
        description = f"{text}; {weights.upper()}'s weights"
        variant = Variant({**params, "weights": weights}, description, _CITATION)
        variants[f"smith2015{suffix}{ending}"] = variant
    return variants


LEXICAL_VARIANTS = {
    **_make_variants(_FULL, _FULL_TEXT, ""),
    **_make_variants(_BASE, _BASE_TEXT, "-raw"),
}
LINKED_CATEGORIES = frozenset({"what", "who", "when", "CD", "which", "where", "whose"})
"""The question categories for which ``coreference="rules"`` uses coreference."""


class LexicalMatcher(Solver):
    r"""The strong lexical matcher: a weighted sum of windows, word distance, bag of words and best
    sentences.

    .. math::

        w_1 \sum_{n=2}^{29} \max_j \sum_{i=j}^{j+n-1} m_i - w_2\,d + w_3 \sum_i m_i + w_4 \max_{s
        \ne t}
        \left(\sum_{i \in s} m_i + \sum_{i \in t} m_i\right)

    For a passage token i that is a word of the question or the candidate, :math:`m_i = \ln(1 + 1 /
    (1 + C))`, where C is the number of times that the word occurs in the passage; for other tokens
    it is 0. d is the word distance (:class:`~classic_rc.solvers.WordDistance`), and s and t are
    sentences. Windows and sentences compare stems; the other components compare words. All
    components except the windows leave out stop words (Smith et al. 2015, and their code).

    Attributes
    ----------
    weights_ : ndarray of float64, shape (4,)
        With ``weights="learned"``, the weights of windows, distance, bag of words and sentences.
    """

    name = "lexical"
    citation = (
        "Smith et al. 2015, A Strong Lexical Matching Method for the Machine Comprehension Test, "
        "EMNLP"
    )
    cites = ("smith2015",)
    tasks: ClassVar[frozenset[Task]] = frozenset(
        {Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE}
    )
    variants: ClassVar[Mapping[str, Variant]] = LEXICAL_VARIANTS
    takes_encoding = False  # it divides passages into sentences
    needs_passages = True

    analyzer: Any = ANALYZER.but(
        help="the analyzer that turns raw text into tokens; tokens that are punctuation or begin "
        "with it are dropped"
    )
    normaliser: str = parameter(
        "porter",
        "the name of a stemmer, or ``lemma`` for the annotation's lemmas",
        allowed=(*STEMMERS, "lemma"),
    )
    stop_words: str = STOP_WORDS
    weights: str = parameter(
        "mc500",
        "the weights of the four components: ``mc160`` or ``mc500`` (published for these "
        "datasets); ``learned``, by logistic regression on pairs of a right and a wrong candidate; "
        "or four numbers such as ``1/10/0/0``",
        also="'mc160', 'mc500', 'learned' or four numbers",
    )
    negation: bool = parameter(
        True,
        'whether each component applies the rule for negated questions ("Who did not come?"): if '
        "exactly one "
        "candidate has no word in the passage, it scores 1 and the others 0",
        allowed=(True, False),
    )
    coreference: Literal["none", "rules", "all"] = parameter(
        "none",
        "for which questions the bag of words and the sentences also score the passage with "
        "mentions replaced by what they refer to, and add the result: for none, for those whose "
        "categories are all in :data:`LINKED_CATEGORIES`, or for all",
        allowed=("none", "rules", "all"),
    )
    annotations: str | None = ANNOTATIONS.but(
        help="a file with tokens, lemmas, sentences, coreference and negation "
        "(:func:`~classic_rc.text.annotations.read_annotations`), used instead of raw text"
    )
    categories: str | None = CATEGORIES.but(
        help="a folder of question categories "
        "(:func:`~classic_rc.text.annotations.read_categories`), used in addition to the "
        "annotation's own"
    )
    bugs: str = parameter(
        "none",
        "the mistakes of the released code to repeat: names of "
        ":data:`~classic_rc.solvers.lexical.components.BUGS` joined by a plus, ``all`` or ``none``",
    )
    C: float = REGULARISATION.but(
        help="with learned weights, the inverse strength of the regularisation"
    )
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "gold"]:  # type: ignore[override]
        """``"gold"`` if the weights are learned, else ``"nothing"``."""
        return "gold" if self.weights == "learned" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters and read the files. With ``weights="learned"``, also learn the
        weights.
        """
        self._check_all()
        self._read_files()
        if self.weights == "learned":
            right = gold_labels(self.name, questions)
            encoded, scores, evidence = self._component_scores(questions)
            columns = [encoded.scores(column, evidence) for column in scores.T]
            values = np.stack([column.values for column in columns], axis=1)
            self.weights_ = learn_weights(values, columns[0].offsets, right, self.C)
            self.trained_on_ = provenance(questions)
        return self

    def score_candidates(self, questions: Sequence[Question]) -> Scores:
        """Score each candidate with the weighted sum of its components.

        A candidate has evidence if a word was found or the rule for negated questions decides.
        """
        self.component_weights()  # raises NotFittedError before the texts are read
        return self._weigh(*self._component_scores(questions))

    def _weigh(
        self,
        encoded: EncodedDataset,
        scores: NDArray[np.float64],
        evidence: NDArray[np.bool_],
    ) -> Scores:
        """Return the weighted sums of component scores."""
        values = np.zeros(len(scores))
        # Column by column: a matrix product may add in a different order on another machine.
        for weight, column in zip(self.component_weights().tolist(), scores.T, strict=True):
            values += weight * column
        return encoded.scores(values, evidence)

    def component_weights(self) -> NDArray[np.float64]:
        """Return the published, given or learned weights: shape (4,).

        Raises
        ------
        NotFittedError
            With ``weights="learned"``, before :meth:`fit`.
        """
        if self.weights != "learned":
            return component_weights(self.weights)
        self.require_fitted("weights_", field="weights", found="'learned'")
        return self.weights_

    def components(self, questions: Sequence[Question]) -> Components:
        """Compute the unweighted components of the questions' candidates."""
        self._check_all()
        bugs, linked = parse_bugs(self.bugs), None
        reader = self.annotated_reader()
        if reader is None:
            texts = self._raw_texts(questions).texts()
        else:
            texts = reader.texts(questions)
            if self.coreference != "none":
                linked = reader.texts(questions, linked=True, by_form="coreference-forms" in bugs)
        grouped = [questions[i] for i in texts.encoded.order.tolist()]
        is_linked = np.array(
            [self._uses_coreference(question) for question in grouped], dtype=np.bool_
        )
        return component_scores(texts, linked, is_linked, negation=self.negation, bugs=bugs)

    def _component_scores(
        self, questions: Sequence[Question]
    ) -> tuple[EncodedDataset, NDArray[np.float64], NDArray[np.bool_]]:
        """Return the encoding, and the component scores and evidence of its candidates in the
        arrays' order.
        """
        if self.annotations is not None:
            components = self.components(questions)
            return components.texts.encoded, components.scores, components.evidence
        self._check_all()
        raw, bugs = self._raw_texts(questions), parse_bugs(self.bugs)
        scores = [np.empty((0, len(COMPONENTS)))]
        evidence = [np.empty(0, dtype=np.bool_)]
        for texts in raw.blocks():
            unlinked = np.zeros(len(texts.negated), dtype=np.bool_)
            block = component_scores(texts, None, unlinked, negation=self.negation, bugs=bugs)
            scores.append(block.scores)
            evidence.append(block.evidence)
        return raw.encoded, np.concatenate(scores), np.concatenate(evidence)

    def _raw_texts(self, questions: Sequence[Question]) -> RawTexts:
        return RawTexts(questions, self.analyzer, self.normaliser, self.stop_words)

    def annotated_reader(self) -> AnnotatedReader | None:
        """Return a reader of the annotation's texts, or None without annotation."""
        if self.annotations is None:
            return None
        annotations = self._files()[0]
        assert annotations is not None
        return AnnotatedReader(annotations, self.analyzer, self.normaliser, self.stop_words)

    def explain_each(self, questions: Sequence[Question]) -> Iterator[Explanation]:
        """Show what each component adds, the best window and its words, and the best sentences."""
        components, reader = self.components(questions), self.annotated_reader()
        encoded, weights = components.texts.encoded, self.component_weights().tolist()
        scores = self._weigh(encoded, components.scores, components.evidence)
        bugs = parse_bugs(self.bugs)
        passage, tokens = None, []
        for k, (question, place) in enumerate(zip(questions, encoded.place.tolist(), strict=True)):
            if reader is not None:
                tokens = reader.tokens(question)
            elif question.passage is not passage:
                passage = question.passage
                tokens = raw_tokens(passage, self.analyzer, self.normaliser, self.stop_words)
            yield explain_components(
                self.name,
                question,
                scores.take([k]),
                components.of_question(place),
                weights,
                tokens,
                bugs,
            )

    def variant_name(self) -> str | None:
        """Return the variant's name. The files do not matter: they are data, and have their own
        signature.
        """
        params = {**self.get_params(deep=False), "annotations": None, "categories": None}
        return super(LexicalMatcher, type(self)(**params)).variant_name()

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the files' signatures, what the annotation provides, and what is approximated."""
        annotations, categories = self._files()
        annotated = " + ".join(self._annotated_parts())
        approximated = " + ".join(self._approximated_parts())
        return {
            "annotations": None if annotations is None else annotations.signature,
            "categories": None if categories is None else categories.signature,
            "annotated": annotated or None,
            "approximated": approximated or None,
        }

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Report what is approximated because it is not annotated.

        This applies to published variants and to solvers with an annotation file. The defaults are
        meant for raw text, so there nothing is an approximation.
        """
        if self.annotations is None and self.variant_name() is None:
            return ()
        approximated = self._approximated_parts()
        if not approximated:
            return ()
        return (f"not annotated but approximated: {', '.join(approximated)}",)

    def fitted_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the learned weights, for :func:`~classic_rc.solvers.saved.save_solver`."""
        return {}, {"weights": self.component_weights()}

    def restore(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Restore a fitted state that :meth:`fitted_state` returned, and read the files.

        A state that does not match the parameters is an error.
        """
        check_shape(arrays["weights"], (len(COMPONENTS),))
        self.weights_ = arrays["weights"]
        self._read_files()
        return self

    def _check_all(self) -> None:
        get_analyzer(self.analyzer)
        self.check_parameters()
        parse_bugs(self.bugs)
        if self.weights != "learned":
            component_weights(self.weights)
        needs_annotation = {
            "normaliser": self.normaliser == "lemma",
            "coreference": self.coreference != "none",
        }
        for name, is_needed in needs_annotation.items():
            if is_needed and self.annotations is None:
                problem = (
                    f"is {getattr(self, name)!r}, which needs an annotation file: annotations=FILE"
                )
                raise self.wrong_value(name, "annotations=FILE", problem)

    def _read_files(self) -> None:
        annotations = None if self.annotations is None else read_annotations(self.annotations)
        categories = None if self.categories is None else read_categories(self.categories)
        self.files_ = annotations, categories
        has_categories = categories is not None or (
            annotations is not None and annotations.has_categories
        )
        if self.coreference == "rules" and not has_categories:
            problem = (
                "is 'rules', which needs question categories: categories=FOLDER (or "
                "coreference='all')"
            )
            raise self.wrong_value("coreference", "categories=FOLDER", problem)

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
        if not categories:
            return "no-category" in parse_bugs(self.bugs)
        return categories <= LINKED_CATEGORIES

    def _annotated_parts(self) -> list[str]:
        """Return what is read from the annotation."""
        if self.annotations is None:
            return []
        approximations = self._approximations()
        return ["tokens", *(name for name, method in approximations.items() if method is None)]

    def _approximated_parts(self) -> list[str]:
        approximations = self._approximations()
        if self.annotations is None:
            approximations = {"tokens": get_analyzer(self.analyzer).signature, **approximations}
        return [f"{name} by {method}" for name, method in approximations.items() if method]

    def _approximations(self) -> dict[str, str | None]:
        """Return, for everything in use that an annotation can provide, its approximation, or
        None if annotated.
        """
        annotations, _ = self._files()
        passages = () if annotations is None else annotations.passages.values()
        as_released = "sentence-borders" in parse_bugs(self.bugs)
        borders = [
            p.unfiltered_sentences or p.sentences if as_released else p.sentences for p in passages
        ]
        approximations: dict[str, str | None] = {
            "sentences": None if all(borders) and borders else "rules"
        }
        if self.normaliser != "none":
            approximations["lemmas"] = None if self.normaliser == "lemma" else self.normaliser
        if self.negation:
            approximations["negation"] = (
                None if annotations is not None and annotations.has_negation else "words"
            )
        if self.coreference != "none":
            approximations["coreference"] = None
        return approximations
