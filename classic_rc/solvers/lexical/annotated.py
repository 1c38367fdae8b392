"""The texts of the lexical matcher from annotation, mentions as they stand or replaced by what they refer to."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import DataError
from classic_rc.kernels.arrays import TokenArrays, offsets_of
from classic_rc.kernels.lexical import token_counts
from classic_rc.questions import Question
from classic_rc.solvers.lexical.texts import Texts, Token, is_word, says_not
from classic_rc.text.analyzers import get_analyzer
from classic_rc.text.annotated import AnnotatedText
from classic_rc.text.annotations import Annotations
from classic_rc.text.encode import EncodedDataset
from classic_rc.text.sentences import passage_sentences
from classic_rc.text.stemmers import stemmer
from classic_rc.text.stop_words import stop_words as stop_list


class AnnotatedReader:
    """Makes the matcher's texts of a dataset's annotation.

    Parameters
    ----------
    annotations : Annotations
    analyzer : str
        Named by the encoding; nothing is analysed with it.
    normaliser : str
        ``"lemma"``, or the name of a stemmer.
    stop_words : str
    """

    def __init__(self, annotations: Annotations, analyzer: str, normaliser: str, stop_words: str) -> None:
        self.annotations = annotations
        self._analyzer = get_analyzer(analyzer)
        self._stem = None if normaliser == "lemma" else stemmer(normaliser)
        self._stop_words = stop_list(stop_words)

    def texts(self, questions: Sequence[Question], *, linked: bool = False, by_form: bool = False) -> Texts:
        """The questions' texts.

        Parameters
        ----------
        questions : sequence of Question
        linked : bool
            Whether mentions are replaced by the words of their chain's representative.
        by_form : bool
            Whether those words match by their forms also where the others match by their stems, and the others
            count as often as in the passage as it was: so has it the code of Smith et al. 2015.

        Raises
        ------
        DataError
            A text has no annotation, or one that does not fit it or lacks what is needed.
        """
        asked: dict[int, Question] = {}
        for q in questions:
            asked.setdefault(id(q.passage), q)
        number = {key: i for i, key in enumerate(asked)}
        passage_of = np.array([number[id(q.passage)] for q in questions], dtype=np.int64)
        order = np.argsort(passage_of, kind="stable")
        grouped = [questions[i] for i in order.tolist()]
        annotated = [self.annotations.question_of(q) for q in grouped]
        plain = [self.tokens(q) for q in asked.values()]
        passages = [self.tokens(q, linked=True) for q in asked.values()] if linked else plain

        n_candidates = np.array([len(a.candidates) for a in annotated], dtype=np.int64)
        shape = passage_of[order], np.repeat(np.arange(len(grouped)), n_candidates)
        of_questions = [self._words(a.text, q) for a, q in zip(annotated, grouped, strict=True)]
        of_candidates = [self._words(c, q) for a, q in zip(annotated, grouped, strict=True) for c in a.candidates]
        words, vocabulary = _arrays(
            [[t.word for t in tokens] for tokens in passages],
            [words for words, _ in of_questions],
            [words for words, _ in of_candidates],
            *shape,
        )
        stems, _ = _arrays(
            [[_form(t.word) if t.given and by_form else t.stem for t in tokens] for tokens in passages],
            [[*stems, *map(_form, words if by_form else ())] for words, stems in of_questions],
            [[*stems, *map(_form, words if by_form else ())] for words, stems in of_candidates],
            *shape,
        )
        starts = [self._starts(q) for q in asked.values()]
        return Texts(
            EncodedDataset(questions, self._analyzer, vocabulary, words, order, offsets_of(n_candidates), None),
            stems,
            np.array([not t.stop for tokens in passages for t in tokens], dtype=np.bool_),
            np.array([t.sentence for tokens in passages for t in tokens], dtype=np.int64),
            _counts(passages, plain, "word") if by_form else token_counts(words),
            _counts(passages, plain, "stem") if by_form else token_counts(stems),
            np.array([self.negated(q) for q in grouped], dtype=np.bool_),
            np.array([start for own in starts for start in own], dtype=np.int64),
            offsets_of(np.array([len(own) for own in starts], dtype=np.int64)),
        )

    def tokens(self, question: Question, *, linked: bool = False) -> list[Token]:
        """The words of a question's passage, punctuation dropped."""
        annotated = self.annotations.passage_of(question)
        tokens = self._all_tokens(annotated, question)
        if not linked:
            return [token for token in tokens if is_word(token.word)]
        given, replaced = self._given(annotated, tokens, question)
        return [
            token
            for i, own in enumerate(tokens)
            if i not in replaced
            for token in given.get(i, [own] if is_word(own.word) else [])
        ]

    def negated(self, question: Question) -> bool:
        """Whether a question asks for what is not so: by annotation, or else by its words."""
        annotated = self.annotations.question_of(question).negated
        return says_not(question.query) if annotated is None else annotated

    def _all_tokens(self, annotated: AnnotatedText, question: Question) -> list[Token]:
        passage, places = question.passage, annotated.token_places(question.passage.text)
        words, stems = [token.lower() for token in annotated.tokens], self._stems(annotated, question)
        if annotated.sentences is not None:
            sentences = [bisect_right(annotated.sentences, i) - 1 for i in range(len(words))]
        elif places is not None:
            starts = [start for start, _ in passage_sentences(passage)]
            sentences = [max(bisect_right(starts, start) - 1, 0) for start, _ in places]
        else:
            raise self._lacks("sentences and, its tokens being spelt otherwise than the text, no places", question)
        return [
            Token(word, stem, word in self._stop_words, sentence, None if places is None else places[i])
            for i, (word, stem, sentence) in enumerate(zip(words, stems, sentences, strict=True))
        ]

    def _given(
        self, annotated: AnnotatedText, tokens: Sequence[Token], question: Question
    ) -> tuple[dict[int, list[Token]], set[int]]:
        """By the token that begins a mention, what stands for it; and the tokens with which mentions go on."""
        if annotated.chains is None:
            raise self._lacks("coreference chains", question)
        stem_of = {token.word: token.stem for token in tokens}
        given: dict[int, list[Token]] = defaultdict(list)
        replaced: set[int] = set()
        for chain in annotated.chains:
            if chain.representative is None:
                forms = [word.lower() for word in chain.words or ()]
            else:
                forms = [token.word for token in tokens[slice(*chain.mentions[chain.representative])]]
            named = [word for word in forms if is_word(word) and word not in self._stop_words]
            for i, (start, end) in enumerate(chain.mentions):
                if named and i != chain.representative:
                    sentence, place = tokens[start].sentence, tokens[start].place
                    given[start] += [Token(w, stem_of.get(w, w), False, sentence, place, True) for w in named]
                    replaced.update(range(start + 1, end))
        return given, replaced

    def _stems(self, annotated: AnnotatedText, question: Question) -> list[str]:
        if self._stem is not None:
            return [self._stem(token.lower()) for token in annotated.tokens]
        if annotated.lemmas is None:
            raise self._lacks("lemmas", question)
        return [lemma.lower() for lemma in annotated.lemmas]

    def _words(self, annotated: AnnotatedText, question: Question) -> tuple[list[str], list[str]]:
        """The words and the stems of a question or a candidate, as sets: they need not belong together."""
        words, stems = [token.lower() for token in annotated.tokens], self._stems(annotated, question)
        if annotated.complete:
            counted = [is_word(word) for word in words]
            stems = [stem for stem, counts in zip(stems, counted, strict=True) if counts]
        return [word for word in words if is_word(word)], stems

    def _starts(self, question: Question) -> Sequence[int]:
        annotated = self.annotations.passage_of(question)
        starts = annotated.unfiltered_sentences or annotated.sentences
        if starts is not None:
            return starts
        sentences = [token.sentence for token in self._all_tokens(annotated, question)]
        return [i for i, sentence in enumerate(sentences) if i == 0 or sentence != sentences[i - 1]]

    def _lacks(self, what: str, question: Question) -> DataError:
        return DataError(
            f"the annotation has no {what}", source=self.annotations.source, where=f"question {question.id}"
        )


def _form(word: str) -> str:
    """A word among stems that is equal to none of them."""
    return f"\0{word}"


def _counts(passages: Sequence[Sequence[Token]], plain: Sequence[Sequence[Token]], view: str) -> NDArray[np.int64]:
    """Counts of given words by their form in the replaced passages, of the others in the plain ones."""
    counts: list[int] = []
    for tokens, before in zip(passages, plain, strict=True):
        given, own = Counter(t.word for t in tokens), Counter(getattr(t, view) for t in before)
        counts += [given[t.word] if t.given else own[getattr(t, view)] for t in tokens]
    return np.array(counts, dtype=np.int64)


def _arrays(
    passages: Sequence[Sequence[str]],
    questions: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[str]],
    question_passage: NDArray[np.int64],
    candidate_question: NDArray[np.int64],
) -> tuple[TokenArrays, list[str]]:
    ids: dict[str, int] = {}

    def encoded(texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        tokens = [ids.setdefault(token, len(ids)) for text in texts for token in text]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        return np.array(tokens, dtype=np.int32), offsets_of(lengths)

    parts = *encoded(passages), *encoded(questions), *encoded(candidates)
    return TokenArrays(*parts, question_passage, candidate_question, max(len(ids), 1)), list(ids)
