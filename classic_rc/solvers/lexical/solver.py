"""The strong lexical matcher of Smith et al. 2015: the variants, the solver and its explanations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from classic_rc.decisions import Argmax, Decision
from classic_rc.kernels.arrays import TokenArrays
from classic_rc.kernels.weights import SCALE
from classic_rc.parameters import parameter
from classic_rc.predictions import Scores
from classic_rc.questions import Question, Task
from classic_rc.solvers.base import (
    ANALYZER,
    ANNOTATIONS,
    CATEGORIES,
    DECISION,
    REGULARISATION,
    STOP_WORDS,
    Solver,
    Variant,
    provenance,
)
from classic_rc.solvers.explanation import (
    CandidateExplanation,
    Explanation,
    Mark,
    Term,
    divided,
    given,
    inverse_count,
    minus,
    plus,
    times,
)
from classic_rc.solvers.learning import check_shape, gold_labels
from classic_rc.solvers.lexical.components import (
    COMPONENTS,
    SMOOTHING,
    WIDTHS,
    Components,
    assign_sentences,
    component_scores,
    component_weights,
    learn_weights,
    parse_bugs,
    smoothed_weights,
)
from classic_rc.solvers.lexical.texts import AnnotatedReader, LexicalTexts, RawTexts, Token, raw_tokens
from classic_rc.solvers.match_formulas import distance_term
from classic_rc.text.analyzers import STEMMERS, get_analyzer
from classic_rc.text.annotations import Annotations, Categories, read_annotations, read_categories
from classic_rc.text.encoded import EncodedDataset

_CITATION = "Smith, Greco, Bosnjak and Vlachos 2015, and the released code, scores and Results.md"

_RELEASED = {"analyzer": "treebank", "stop_words": "mctest", "bugs": "all", "decision": Argmax(ties="partial")}
_FULL = {**_RELEASED, "normaliser": "lemma", "coreference": "rules"}
_BASE = {**_RELEASED, "normaliser": "none", "negation": False}

_FULL_TEXT = (
    "the full system without RTE, from CoreNLP annotation (annotations=FILE) and question categories "
    "(categories=FOLDER), with the released code's mistakes"
)
_BASE_TEXT = (
    "the base system, ImpSW+D, from raw text, with nltk's Treebank tokens and our sentences instead of CoreNLP's "
    "and with the released code's mistakes; negation=True and normaliser=porter add the other parts that raw text "
    "allows"
)


def _make_variants(params: Mapping[str, Any], text: str, suffix: str) -> dict[str, Variant]:
    return {
        f"smith2015{suffix}": Variant({**params, "weights": "mc160"}, f"{text}; MC160's weights", _CITATION),
        f"smith2015{suffix}-mc500": Variant({**params, "weights": "mc500"}, f"{text}; MC500's weights", _CITATION),
    }


LEXICAL_VARIANTS = {**_make_variants(_FULL, _FULL_TEXT, ""), **_make_variants(_BASE, _BASE_TEXT, "-raw")}


LINKED_CATEGORIES = frozenset({"what", "who", "when", "CD", "which", "where", "whose"})
"""The question categories for which ``coreference="rules"`` uses coreference."""


class LexicalMatcher(Solver):
    r"""The strong lexical matcher: a weighted sum of windows, word distance, bag of words and best sentences.

    .. math:: w_1 \sum_{n=2}^{29} \max_j \sum_{i=j}^{j+n-1} m_i - w_2\,d + w_3 \sum_i m_i + w_4 \max_{s \ne t}
        \left(\sum_{i \in s} m_i + \sum_{i \in t} m_i\right)

    For a passage token i that is a word of the question or the candidate, :math:`m_i = \ln(1 + 1 / (1 + C))`, where
    C is the number of times that the word occurs in the passage; for other tokens it is 0. d is the word distance
    (:class:`~classic_rc.solvers.WordDistance`), and s and t are sentences. Windows and sentences compare stems; the
    other components compare words. All components except the windows leave out stop words (Smith et al. 2015, and
    their code).

    Attributes
    ----------
    weights_ : ndarray of float64, shape (4,)
        With ``weights="learned"``, the weights of windows, distance, bag of words and sentences.
    """

    name = "lexical"
    citation = "Smith et al. 2015, A Strong Lexical Matching Method for the Machine Comprehension Test, EMNLP"
    cites = ("smith2015",)
    tasks: ClassVar[frozenset[Task]] = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER, Task.CLOZE})
    variants: ClassVar[Mapping[str, Variant]] = LEXICAL_VARIANTS
    takes_encoding = False  # it divides passages into sentences
    needs_passages = True

    analyzer: Any = ANALYZER.but(
        help="the analyzer that turns raw text into tokens; tokens that are punctuation or begin with it are "
        "dropped"
    )
    normaliser: str = parameter(
        "porter", "the name of a stemmer, or ``lemma`` for the annotation's lemmas", allowed=(*STEMMERS, "lemma")
    )
    stop_words: str = STOP_WORDS
    weights: str = parameter(
        "mc500",
        "the weights of the four components: ``mc160`` or ``mc500`` (published for these datasets); ``learned``, "
        "by logistic regression on pairs of a right and a wrong candidate; or four numbers such as ``1/10/0/0``",
        also="'mc160', 'mc500', 'learned' or four numbers",
    )
    negation: bool = parameter(
        True,
        'whether each component applies the rule for negated questions ("Who did not come?"): if exactly one '
        "candidate has no word in the passage, it scores 1 and the others 0",
        allowed=(True, False),
    )
    coreference: Literal["none", "rules", "all"] = parameter(
        "none",
        "for which questions the bag of words and the sentences also score the passage with mentions replaced by "
        "what they refer to, and add the result: for none, for those whose categories are all in "
        ":data:`LINKED_CATEGORIES`, or for all",
        allowed=("none", "rules", "all"),
    )
    annotations: str | None = ANNOTATIONS.but(
        help="a file with tokens, lemmas, sentences, coreference and negation "
        "(:func:`~classic_rc.text.annotations.read_annotations`), used instead of raw text"
    )
    categories: str | None = CATEGORIES.but(
        help="a folder of question categories (:func:`~classic_rc.text.annotations.read_categories`), used in "
        "addition to the annotation's own"
    )
    bugs: str = parameter(
        "none",
        "the mistakes of the released code to repeat: names of "
        ":data:`~classic_rc.solvers.lexical.components.BUGS` joined by a plus, ``all`` or ``none``",
    )
    C: float = REGULARISATION.but(help="with learned weights, the inverse strength of the regularisation")
    decision: Decision | None = DECISION

    @property
    def learns_from(self) -> Literal["nothing", "gold"]:  # type: ignore[override]
        """``"gold"`` if the weights are learned, else ``"nothing"``."""
        return "gold" if self.weights == "learned" else "nothing"

    def fit(self, questions: Sequence[Question], y: Any = None) -> Self:
        """Check the parameters and read the files. With ``weights="learned"``, also learn the weights."""
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
        weights, (encoded, scores, evidence) = self.component_weights(), self._component_scores(questions)
        values = np.zeros(len(scores))
        # Column by column: a matrix product may add in a different order on another machine.
        for weight, column in zip(weights.tolist(), scores.T, strict=True):
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
        is_linked = np.array([self._uses_coreference(question) for question in grouped], dtype=np.bool_)
        return component_scores(texts, linked, is_linked, negation=self.negation, bugs=bugs)

    def _component_scores(
        self, questions: Sequence[Question]
    ) -> tuple[EncodedDataset, NDArray[np.float64], NDArray[np.bool_]]:
        """Return the encoding, and the component scores and evidence of its candidates in the arrays' order."""
        if self.annotations is not None:
            components = self.components(questions)
            return components.texts.encoded, components.scores, components.evidence
        self._check_all()
        raw, bugs = self._raw_texts(questions), parse_bugs(self.bugs)
        scores, evidence = [np.empty((0, len(COMPONENTS)))], [np.empty(0, dtype=np.bool_)]
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

    def explain(self, question: Question) -> Explanation:
        """Show what each component adds, the best window and its words, and the best sentences."""
        components, reader = self.components([question]), self.annotated_reader()
        if reader is None:
            tokens = raw_tokens(question.passage, self.analyzer, self.normaliser, self.stop_words)
        else:
            tokens = reader.tokens(question)
        weights = self.component_weights().tolist()
        scores = self.score_candidates([question])
        return explain_components(self.name, question, scores, components, weights, tokens, parse_bugs(self.bugs))

    def variant_name(self) -> str | None:
        """Return the variant's name. The files do not matter: they are data, and have their own signature."""
        params = {**self.get_params(deep=False), "annotations": None, "categories": None}
        return super(LexicalMatcher, type(self)(**params)).variant_name()

    def signature_facts(self) -> Mapping[str, Any]:
        """Return the files' signatures, what the annotation provides, and what is approximated."""
        annotations, categories = self._files()
        return {
            "annotations": None if annotations is None else annotations.signature,
            "categories": None if categories is None else categories.signature,
            "annotated": " + ".join(self._annotated_parts()) or None,
            "approximated": " + ".join(self._approximated_parts()) or None,
        }

    def caveats(self, questions: Sequence[Question]) -> tuple[str, ...]:
        """Report what is approximated because it is not annotated.

        This applies to published variants and to solvers with an annotation file. The defaults are meant for raw
        text, so there nothing is an approximation.
        """
        if self.annotations is None and self.variant_name() is None:
            return ()
        approximated = self._approximated_parts()
        return (f"not annotated but approximated: {', '.join(approximated)}",) if approximated else ()

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
        needs_annotation = {"normaliser": self.normaliser == "lemma", "coreference": self.coreference != "none"}
        for name, needed in needs_annotation.items():
            if needed and self.annotations is None:
                problem = f"is {getattr(self, name)!r}, which needs an annotation file: annotations=FILE"
                raise self.wrong_value(name, "annotations=FILE", problem)

    def _read_files(self) -> None:
        annotations = None if self.annotations is None else read_annotations(self.annotations)
        categories = None if self.categories is None else read_categories(self.categories)
        self.files_ = annotations, categories
        has_categories = categories is not None or (annotations is not None and annotations.has_categories)
        if self.coreference == "rules" and not has_categories:
            problem = "is 'rules', which needs question categories: categories=FOLDER (or coreference='all')"
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
        return categories <= LINKED_CATEGORIES if categories else "no-category" in parse_bugs(self.bugs)

    def _annotated_parts(self) -> list[str]:
        """Return what is read from the annotation."""
        if self.annotations is None:
            return []
        return ["tokens", *(name for name, approximated in self._approximations().items() if approximated is None)]

    def _approximated_parts(self) -> list[str]:
        tokens = [] if self.annotations is not None else [f"tokens by {get_analyzer(self.analyzer).signature}"]
        return tokens + [f"{name} by {method}" for name, method in self._approximations().items() if method]

    def _approximations(self) -> dict[str, str | None]:
        """Return, for everything in use that an annotation can provide, its approximation, or None if annotated."""
        annotations, _ = self._files()
        passages = () if annotations is None else annotations.passages.values()
        as_released = "sentence-borders" in parse_bugs(self.bugs)
        borders = [p.unfiltered_sentences or p.sentences if as_released else p.sentences for p in passages]
        approximations: dict[str, str | None] = {"sentences": None if all(borders) and borders else "rules"}
        if self.normaliser != "none":
            approximations["lemmas"] = None if self.normaliser == "lemma" else self.normaliser
        if self.negation:
            approximations["negation"] = None if annotations is not None and annotations.has_negation else "words"
        if self.coreference != "none":
            approximations["coreference"] = None
        return approximations


def explain_components(
    solver: str,
    question: Question,
    scores: Scores,
    components: Components,
    weights: Sequence[float],
    tokens: Sequence[Token],
    bugs: frozenset[str],
) -> Explanation:
    """Explain each score by its components, the best window of the greatest width, and the best sentences.

    The components' weighted shares add up to the score. If the rule for negated questions decides a component, the
    component's name says so. The window and the sentences are those of the original passage, in which no mention is
    replaced.
    """
    sentences, counts = assign_sentences(components.texts, bugs)
    token_weights = smoothed_weights(components.texts.stem_counts).tolist()
    rows = components.texts.encoded.candidate_rows

    def explain(i: int, plain: CandidateExplanation) -> CandidateExplanation:
        row = i if rows is None else int(rows[i])
        kinds = _match_kinds(components.texts.stems, row)
        matched = [weight if kind else 0 for weight, kind in zip(token_weights, kinds, strict=True)]
        in_sentences = [weight if counted else 0 for weight, counted in zip(matched, counts.tolist(), strict=True)]
        shares = zip(
            COMPONENTS, weights, components.scores[row].tolist(), components.ruled[row].tolist(), strict=True
        )
        quote = _quote_sentences(question.passage.text, tokens, in_sentences, sentences.tolist())
        return replace(
            plain,
            marks=_mark_window(tokens, matched, kinds),
            numbers={f"{name} (negation)" if ruled else name: weight * own for name, weight, own, ruled in shares},
            quote=quote,
            source="best sentences" if quote else None,
            make_formula=partial(
                _explain_score, _Matched(components, row, tokens, bugs), weights, plain.score, matched
            ),
        )

    return Explanation.from_scores(solver, question, scores).with_best(explain)


class _Matched(NamedTuple):
    """One candidate of the question, and the passage's tokens."""

    components: Components
    row: int  # the candidate's row in the arrays
    tokens: Sequence[Token]
    bugs: frozenset[str]

    def word(self, i: int, count: int, weight: int) -> Term:
        """Return the weight of the passage's token i."""
        return _word(self.tokens[i].word, count, weight)


def _explain_score(matched: _Matched, weights: Sequence[float], score: float, in_window: Sequence[int]) -> Term:
    """Return the score as the weighted sum of its components, each with its own numbers."""
    values = matched.components.scores[matched.row].tolist()
    ruled = matched.components.ruled[matched.row].tolist()
    own = (
        lambda value: _explain_windows(matched, in_window, value),
        lambda value: minus("", _explain_distance(matched, -value)),
        lambda value: _explain_texts("bag of words", matched, value, _bag_terms),
        lambda value: _explain_texts("sentences", matched, value, _sentence_terms),
    )
    parts = []
    for name, weight, value, by_rule, explain in zip(COMPONENTS, weights, values, ruled, own, strict=True):
        if by_rule:
            rule = "by the rule for negated questions: 1 for the only candidate that is not in the passage"
            component = given(name, value, rule)
        else:
            component = explain(value)
        parts.append(times("", given(f"weight of {name}", weight), component))
    return plus("score", *parts, value=score)


def _explain_windows(matched: _Matched, weights: Sequence[int], value: float) -> Term:
    """Return the sum over widths of the best window's sum."""
    counts = matched.components.texts.stem_counts.tolist()
    as_released = "last-window" in matched.bugs
    if as_released and len(weights) <= WIDTHS[-1]:
        words = [matched.word(i, counts[i], weight) for i, weight in enumerate(weights) if weight]
        return plus("window", *words, value=value, note="a short passage is one window")
    windows, sums_before = [], np.array([*accumulate(weights, initial=0)], dtype=np.int64)
    for width in WIDTHS:
        n_starts = max(len(weights) - width, 0) + 1
        starts = np.arange(n_starts - 1 if as_released and n_starts > 1 else n_starts)
        sums = sums_before[np.minimum(starts + width, len(weights))] - sums_before[starts]
        best = int(sums.argmax())
        inside = [i for i in range(best, min(best + width, len(weights))) if weights[i]]
        note = ", ".join(f'"{matched.tokens[i].word}"' for i in inside)
        total = sum(weights[i] for i in inside) / SCALE
        name = f"best {width} tokens"
        if inside:
            windows.append(plus(name, *(given("", weights[i] / SCALE) for i in inside), value=total, note=note))
        else:
            windows.append(given(name, 0.0))
    return plus("window", *windows, value=value, note=f"the best windows of {WIDTHS[0]} to {WIDTHS[-1]} tokens")


def _explain_distance(matched: _Matched, value: float) -> Term:
    texts = matched.components.texts
    names = texts.encoded.vocabulary
    arrays = texts.words
    start, end = arrays.candidate_offsets[matched.row : matched.row + 2].tolist()
    passage, query, answer = (
        [names[token] for token in tokens.tolist()]
        for tokens in (arrays.passage_tokens, arrays.question_tokens, arrays.candidate_tokens[start:end])
    )
    if "distance" in matched.bugs:
        content = [word for word, kept in zip(passage, texts.kept.tolist(), strict=True) if kept]
        return _released_distance(content, set(query), set(answer), value)
    stop = {word for word, kept in zip(passage, texts.kept.tolist(), strict=True) if not kept}
    return distance_term(passage, query, answer, stop, "mean", value)


def _released_distance(passage: Sequence[str], query: set[str], answer: set[str], value: float) -> Term:
    """Return the distance of the released code: one step more from each occurrence of a question word."""
    answer_places = [i for i, word in enumerate(passage) if word in answer]
    steps = []
    for i, word in enumerate(passage):
        if word in query and answer_places:
            j = min(answer_places, key=lambda place: abs(place - i))
            note = f"tokens {i + 1} and {j + 1} of the content words, and one step"
            steps.append(given(f'"{word}" to "{passage[j]}"', abs(i - j) + 1, note))
    if not steps:
        return given("distance", value, "no pair of a question word and a candidate word in the passage")
    length = given("", max(len(passage) - 1, 1))
    occurrences = given("occurrences of question words", len(steps))
    return divided("distance", plus("", *steps), times("", occurrences, length), value)


def _explain_texts(
    name: str, matched: _Matched, value: float, terms_of: Callable[[_Matched, LexicalTexts], tuple[list[Term], int]]
) -> Term:
    """Return the sum of the terms of the passage and, if it counts too, of the passage with mentions replaced."""
    terms, total = terms_of(matched, matched.components.texts)
    linked, left = matched.components.linked, value - total / SCALE
    if left and linked is not None:
        terms.append(plus("with mentions replaced", *terms_of(matched, linked)[0], value=left))
    return plus(name, *terms, value=value) if terms else given(name, value, "no word matches")


def _bag_terms(matched: _Matched, texts: LexicalTexts) -> tuple[list[Term], int]:
    counts, kept = texts.word_counts.tolist(), texts.kept.tolist()
    weights, names = smoothed_weights(texts.word_counts).tolist(), _names_of(texts)
    kinds = _match_kinds(texts.words, matched.row)
    places = [i for i, kind in enumerate(kinds) if kind and kept[i]]
    return [_word(names[i], counts[i], weights[i]) for i in places], sum(weights[i] for i in places)


def _sentence_terms(matched: _Matched, texts: LexicalTexts, n_best: int = 2) -> tuple[list[Term], int]:
    sentences, counted = (own.tolist() for own in assign_sentences(texts, matched.bugs))
    counts, weights, names = (
        texts.stem_counts.tolist(),
        smoothed_weights(texts.stem_counts).tolist(),
        _names_of(texts),
    )
    kinds = _match_kinds(texts.stems, matched.row)
    places = [i for i, kind in enumerate(kinds) if kind and counted[i]]
    sums: Counter[int] = Counter()
    for i in places:
        sums[sentences[i]] += weights[i]
    # Of equal sums the first sentence counts.
    best = sorted(number for number, _ in sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:n_best])
    terms = []
    for number in best:
        words = (_word(names[i], counts[i], weights[i]) for i in places if sentences[i] == number)
        terms.append(plus(f"sentence {number + 1}", *words, value=sums[number] / SCALE))
    return terms, sum(sums[number] for number in best)


def _names_of(texts: LexicalTexts) -> list[str]:
    """Return the words of the passage."""
    return [texts.encoded.vocabulary[token] for token in texts.words.passage_tokens.tolist()]


def _word(name: str, count: int, weight: int) -> Term:
    return inverse_count(f'"{name}"', count + SMOOTHING, weight / SCALE)


def _match_kinds(arrays: TokenArrays, candidate: int) -> list[str | None]:
    """Return for each passage token whether it is a word of the question, of the candidate, or of neither."""
    start, end = arrays.candidate_offsets[candidate : candidate + 2]
    query, answer = set(arrays.question_tokens.tolist()), set(arrays.candidate_tokens[start:end].tolist())
    return [
        "question" if token in query else "candidate" if token in answer else None
        for token in arrays.passage_tokens.tolist()
    ]


def _mark_window(tokens: Sequence[Token], matched: Sequence[int], kinds: Sequence[str | None]) -> tuple[Mark, ...]:
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


def _quote_sentences(
    text: str, tokens: Sequence[Token], matched: Sequence[int], sentences: Sequence[int], n_best: int = 2
) -> str | None:
    """Return the text of the best-matching sentences, in the order of the passage."""
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
