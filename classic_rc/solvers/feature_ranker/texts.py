"""The ranker's texts as arrays: stems, sentences and turns, types of questions, statements,
facts, rarity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.kernels.arrays import TokenArrays, offsets_of, ragged_indices, sums_by
from classic_rc.kernels.pairs import WordCounts, word_counts
from classic_rc.kernels.word_sets import flagged_or_all
from classic_rc.questions import Question
from classic_rc.solvers.learning import require_few_words
from classic_rc.text.analyzers import stemmer
from classic_rc.text.dream import SpokenSentence, iter_spoken_sentences
from classic_rc.text.encode import TextEncoder, encode_pieces
from classic_rc.text.encoded import EncodedDataset, stop_flags
from classic_rc.text.question_texts import Passages

ANALYZER = "clitics"
STOP_LIST = "smart"

QUESTION_TYPES = {
    "negated": r"\b(?:not|never|false|untrue|incorrect|wrong|except|least)\b|n['’]t\b",
    "title": r"\b(?:title|headline)\b",
    "main idea": (
        r"\b(?:main(?:ly)?|mostly) (?:idea|about|purpose|point|topic|subject"
        r"|tells?|talks?|discuss\w*)"
        r"|\bpurpose\b|\bmainly\b|\bmain\b|\btopic\b"
        r"|\b(?:passage|text|story|article) (?:is )?about\b"
    ),
    "which is true": r"\b(?:true|correct|right|following)\b",
    "cloze": r"_|[^?？\"”' ] *$",
    "inference": (
        r"\b(?:infer\w*|impl(?:y|ies|ied)|conclu\w+|suggest\w*|probably|likely|learn|know from)\b"
    ),
    "who": r"\bwho(?:m|se)?\b",
    "when": r"\bwhen\b|\bwhat (?:time|day|year|date)\b",
    "where": r"\bwhere\b|\b(?:what|which) (?:place|city|country)\b",
    "why": r"\bwhy\b|\bwhat (?:reason|made|makes|caused?)\b",
    "how many": r"\bhow (?:many|much|long|old|far|often|soon|big|tall|high)\b",
    "how": r"\bhow\b",
    "which": r"\bwhich\b",
    "what": r"\bwhat\b",
}
"""The types of questions, with a pattern of the lower-cased text. The first that matches is the
question's type.
"""

_TYPE_PATTERNS = [re.compile(pattern) for pattern in QUESTION_TYPES.values()]

_WH = "what who whom whose which where when why how"
_ADVERBS = "where when why how"
_DO = "do does did"
_AUXILIARIES = (
    "is are was were am be been has have had can could will would shall should may might must"
)
NEGATIONS = "not no never none nobody nothing neither nor without"
_EXTREMES = (
    "all always every everyone everything everybody never none nobody nothing only must most least "
    "best worst"
)

_MEN = (
    "man men boy male he him his father dad daddy husband son brother mr uncle grandfather "
    "gentleman"
)
_WOMEN = (
    "woman women girl female she her hers mother mom mum wife daughter sister mrs miss ms aunt "
    "grandmother lady"
)
_MAN_LABELS = frozenset({"m", *_MEN.split()})
_WOMAN_LABELS = frozenset({"w", "f", *_WOMEN.split()})

SURFACE = (
    "log words",
    "log characters",
    "negations",
    "extreme words",
    "has digits",
    "has capital inside",
    "above, both or none",
    "not mentioned",
    "is yes",
    "is no",
)
"""The names of the surface facts of a candidate's text."""

POSITION = ("position", "is last")
"""The names of the facts that depend on the order of the candidates. No other feature does."""

FACTS = (*SURFACE, *POSITION)
"""The columns of :attr:`RankerTexts.facts`."""

_ABOVE = re.compile(r"\b(?:of the above|both|none of|all of the|neither)\b", re.IGNORECASE)
_NOT_MENTIONED = re.compile(
    r"\bnot (?:mentioned|given|known|stated|enough|sure)\b|\bunknown\b"
    r"|\bdo(?:es)?n['’]t (?:know|say)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class RankerTexts:
    """Questions in the form that the ranker's features read, grouped by passage like their
    encoding.

    Words are stems. Candidates of a question with equal texts are one candidate of the arrays;
    `facts` alone has a row for each candidate.
    """

    encoded: EncodedDataset
    # (n_words,): whether each word is the stem of a stop word.
    stop: NDArray[np.bool_]
    # (n_sentences + 1,): sentence i of all passages is `passage_tokens[offsets[i]:offsets[i + 1]]`,
    # without the label of its speaker.
    sentence_offsets: NDArray[np.int64]
    # (n_passages + 1,): the sentences of each passage.
    passage_sentences: NDArray[np.int64]
    # (n_sentences,): the turn of each sentence and its speaker, each numbered within the passage;
    # -1 outside turns.
    turns: NDArray[np.int64]
    speakers: NDArray[np.int64]
    # (n_questions,): the speaker that the question names, or -1.
    asked_speaker: NDArray[np.int64]
    # (n_questions,): the index of the question's type in QUESTION_TYPES, or their number for none.
    types: NDArray[np.int64]
    # Ragged over the candidates of the arrays: the question with the candidate in the answer's
    # place.
    statements: NDArray[np.int32]
    statement_offsets: NDArray[np.int64]
    # (n_candidates, len(FACTS)): a row for each candidate, equal ones included, in the arrays'
    # order.
    facts: NDArray[np.float64]


def ranker_texts(questions: Sequence[Question]) -> RankerTexts:
    """Build the texts of questions; encodings are shared as
    :func:`~classic_rc.text.encode.encode` shares them.
    """
    encoded, sentence_offsets, passage_sentences = encode_pieces(questions, ANALYZER, spoken_texts)
    grouped = [questions[i] for i in encoded.order.tolist()]
    first = np.searchsorted(
        encoded.arrays.question_passage, np.arange(len(encoded.arrays.passage_offsets) - 1)
    )
    passages = [grouped[i].passage for i in first.tolist()]
    spoken = list(iter_spoken_sentences(passages))
    speakers, named_speakers = _find_speakers(spoken, grouped, encoded)
    turns = [sentence.turn for sentences in spoken for sentence in sentences]
    types = [question_type(question.query) for question in grouped]
    statements, statement_offsets = _build_statements(encoded, grouped)
    return RankerTexts(
        encoded,
        stop_flags(encoded.vocabulary, encoded.analyzer, STOP_LIST),
        sentence_offsets,
        passage_sentences,
        turns=np.array(turns, dtype=np.int64),
        speakers=speakers,
        asked_speaker=named_speakers,
        types=np.array(types, dtype=np.int64),
        statements=statements,
        statement_offsets=statement_offsets,
        facts=_candidate_facts(encoded, grouped),
    )


class PassageSentences(NamedTuple):
    """The sentences of consecutive passages, numbered from 0."""

    offsets: NDArray[np.int64]  # (n_sentences + 1,): into the tokens of these passages
    of_passage: NDArray[np.int64]  # (n_passages + 1,)
    first: int  # the first sentence among those of all passages

    @classmethod
    def of(
        cls,
        sentence_offsets: NDArray[np.int64],
        passage_sentences: NDArray[np.int64],
        start: int,
        stop: int,
    ) -> PassageSentences:
        """Return the sentences of the passages from `start` to `stop`, given those of all."""
        of_passage = passage_sentences[start : stop + 1]
        first = int(of_passage[0])
        offsets = sentence_offsets[first : of_passage[-1] + 1]
        return cls(offsets - offsets[0], of_passage - first, first)


def spoken_texts(passages: Passages) -> Iterator[list[str]]:
    """Yield the sentences of each passage without the labels of speakers."""
    for passage, sentences in zip(passages, iter_spoken_sentences(passages), strict=True):
        text = passage.text
        yield [text[sentence.start : sentence.end] for sentence in sentences]


def question_type(text: str) -> int:
    """Return the index of a question's type in :data:`QUESTION_TYPES`, or their number if it has
    none.

    Examples
    --------
    >>> [
    ...     list(QUESTION_TYPES)[question_type(text)]
    ...     for text in ("How many are there?", "They left because _ .")
    ... ]
    ['how many', 'cloze']
    """
    low = text.lower()
    matching = (i for i, pattern in enumerate(_TYPE_PATTERNS) if pattern.search(low))
    return next(matching, len(_TYPE_PATTERNS))


def word_flags(vocabulary: Sequence[str], words: str) -> NDArray[np.bool_]:
    """Return which words of a vocabulary of stems are stems of these words."""
    stems = set(map(stemmer("porter"), words.split()))
    return np.fromiter((word in stems for word in vocabulary), np.bool_, len(vocabulary))


def _find_speakers(
    spoken: Sequence[Sequence[SpokenSentence]], grouped: Sequence[Question], encoded: EncodedDataset
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each sentence's speaker, and the speaker that each question names first, or -1."""
    numbers: list[int] = []
    names: list[dict[str, int]] = []  # of each passage, the speaker that a word names
    for sentences in spoken:
        speakers: dict[str, int] = {}
        numbers += [
            speakers.setdefault(sentence.speaker, len(speakers)) if sentence.turn >= 0 else -1
            for sentence in sentences
        ]
        names.append(_name_speakers(speakers))
    named_speakers = np.full(len(grouped), -1, dtype=np.int64)
    passage_of = encoded.arrays.question_passage.tolist()
    for i, (question, passage) in enumerate(zip(grouped, passage_of, strict=True)):
        speaker_of = names[passage]
        if speaker_of:
            words = re.findall(r"[^\W_]+", question.text.lower())
            named_speakers[i] = next((speaker_of[w] for w in words if w in speaker_of), -1)
    return np.array(numbers, dtype=np.int64), named_speakers


def _name_speakers(labels: Iterable[str]) -> dict[str, int]:
    """Return the speaker that each word of questions names; of several, the first."""
    speaker_of: dict[str, int] = {}
    for number, label in enumerate(labels):
        speaker_of = dict.fromkeys(_speaker_words(label), number) | speaker_of
    return speaker_of


def _speaker_words(label: str) -> frozenset[str]:
    """Return the lower-case words of questions that refer to the speaker with this label."""
    words = frozenset(re.findall(r"[^\W_]+", label.lower()))
    if words & _MAN_LABELS:
        words |= frozenset(_MEN.split())
    if words & _WOMAN_LABELS:
        words |= frozenset(_WOMEN.split())
    return words


def _build_statements(
    encoded: EncodedDataset, grouped: Sequence[Question]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return each question with each of its candidates in the answer's place, as a ragged array.

    A blank is filled. In other questions the first question word is dropped and so is "do"; another
    auxiliary goes behind the first content word after it. The candidate takes the place of a
    question word that is the subject ("Who came?"), and else comes last; words between question
    word and auxiliary ("How many people were ...") follow it.
    """
    arrays = encoded.arrays
    tokens, offsets = arrays.question_tokens, arrays.question_offsets
    n_questions, lengths = len(offsets) - 1, np.diff(offsets)
    owner = np.repeat(np.arange(n_questions), lengths)
    at = np.arange(len(tokens)) - offsets[owner]

    def first_place(is_it: NDArray[np.bool_], after: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first place of a kind of token behind the place `after`, or the question's
        length.
        """
        place = lengths.copy()
        # reversed, so that the first one is kept
        hits = np.flatnonzero(is_it & (at > after[owner]))[::-1]
        place[owner[hits]] = at[hits]
        return place

    is_wh = word_flags(encoded.vocabulary, _WH)[tokens]
    is_do = word_flags(encoded.vocabulary, _DO)[tokens]
    is_auxiliary = word_flags(encoded.vocabulary, _AUXILIARIES)[tokens] | is_do
    is_content = ~stop_flags(encoded.vocabulary, encoded.analyzer, STOP_LIST)[tokens]
    blanks = _blank_places(encoded, grouped)
    before = np.full(n_questions, -1)
    wh = np.where(blanks < 0, first_place(is_wh, before), lengths)
    has_wh = wh < lengths
    auxiliary = np.where(has_wh, first_place(is_auxiliary, wh), lengths)
    # An auxiliary far behind the question word belongs to another clause.
    has_auxiliary = has_wh & (auxiliary < lengths) & (auxiliary <= wh + _REACH)
    subject = np.where(has_auxiliary, first_place(is_content, auxiliary), lengths)

    # Tokens are sorted by keys: twice their place, and odd numbers between the places.
    last = 2 * lengths + 2
    keys = 2 * at
    wh_of, auxiliary_of = wh[owner], np.where(has_auxiliary, auxiliary, -1)[owner]
    asked_noun = (auxiliary_of >= 0) & (at > wh_of) & (at < auxiliary_of)
    keys[asked_noun] += (last + 2)[owner][asked_noun]
    moved = at == auxiliary_of
    keys[moved] = (2 * subject + 1)[owner][moved]
    is_kept = ~(has_wh[owner] & (at == wh_of)) & ~(moved & is_do)
    # Where no auxiliary follows, the question word is the subject, unless it is an adverb.
    is_adverb = word_flags(encoded.vocabulary, _ADVERBS)
    adverb = np.zeros(n_questions, dtype=np.bool_)
    hits = np.flatnonzero(is_wh & (at == wh_of))
    adverb[owner[hits]] = is_adverb[tokens[hits]]
    slot = np.where(has_wh & ~has_auxiliary & ~adverb, 2 * wh, last)
    slot = np.where(blanks >= 0, 2 * blanks - 1, slot)

    order = np.lexsort((keys, owner))
    order = order[is_kept[order]]
    owner = owner[order]
    counts = np.bincount(owner, minlength=n_questions)
    is_left = keys[order] < slot[owner]
    n_left = np.bincount(owner[is_left], minlength=n_questions)
    return _insert_candidates(encoded, tokens[order], offsets_of(counts), n_left)


_REACH = 4
"""How many tokens behind the question word its auxiliary can be: "which of the following is"."""


def _insert_candidates(
    encoded: EncodedDataset,
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_left: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return each candidate between the first `n_left` tokens of its question and the others, as
    a ragged array.
    """
    arrays = encoded.arrays
    question = arrays.candidate_question
    n_before = n_left[question]
    # Three pieces a candidate: the question's first tokens, the candidate, the question's last.
    counts = np.empty((len(question), 3), dtype=np.int64)
    counts[:, 0] = n_before
    counts[:, 1] = np.diff(arrays.candidate_offsets)
    counts[:, 2] = np.diff(offsets)[question] - n_before
    # The tokens of candidates are behind those of questions.
    all_tokens = np.concatenate((tokens, arrays.candidate_tokens))
    starts = np.empty_like(counts)
    starts[:, 0] = offsets[:-1][question]
    starts[:, 1] = len(tokens) + arrays.candidate_offsets[:-1]
    starts[:, 2] = starts[:, 0] + n_before
    statements = all_tokens[ragged_indices(starts.ravel(), counts.ravel())]
    return statements, offsets_of(counts.sum(axis=1))


def _blank_places(encoded: EncodedDataset, grouped: Sequence[Question]) -> NDArray[np.int64]:
    """Return how many tokens precede the blank of each question, or -1 if it has none."""
    places = np.full(len(grouped), -1, dtype=np.int64)
    with_blank, texts_before = [], []
    for i, question in enumerate(grouped):
        if "_" in question.text:
            with_blank.append(i)
            texts_before.append(question.text.partition("_")[0])
    if with_blank:
        _, offsets = TextEncoder(encoded.analyzer).encode(texts_before)
        places[with_blank] = np.diff(offsets)
    return places


def _candidate_facts(encoded: EncodedDataset, grouped: Sequence[Question]) -> NDArray[np.float64]:
    """Return the facts of :data:`FACTS` for each candidate, equal ones included, in the arrays'
    order.
    """
    arrays = encoded.arrays
    n_distinct = len(arrays.candidate_question)
    rows = np.arange(n_distinct) if encoded.candidate_rows is None else encoded.candidate_rows
    owner = np.repeat(np.arange(n_distinct), np.diff(arrays.candidate_offsets))

    texts = [candidate.text for q in grouped for candidate in q.candidates]
    plain = [text.strip(" .!,").lower() for text in texts]
    lengths = np.diff(arrays.candidate_offsets)[rows]
    sizes = np.diff(encoded.question_offsets)
    position = ragged_indices(np.zeros(len(sizes), dtype=np.int64), sizes)

    def count(words: str) -> NDArray[np.float64]:
        flags = word_flags(encoded.vocabulary, words)[arrays.candidate_tokens]
        return sums_by(owner, flags, n_distinct)[rows]

    def column(numbers: Iterable[float]) -> NDArray[np.float64]:
        return np.fromiter(numbers, np.float64, len(texts))

    def found(pattern: re.Pattern[str]) -> NDArray[np.float64]:
        return column(pattern.search(text) is not None for text in texts)

    facts = {
        "log words": np.log1p(lengths),
        "log characters": np.log1p(column(map(len, texts))),
        "position": position,
        "is last": position == np.repeat(sizes - 1, sizes),
        "negations": count(NEGATIONS),
        "extreme words": count(_EXTREMES),
        "has digits": found(_DIGIT),
        "has capital inside": column(map(_has_capital_inside, texts)),
        "above, both or none": found(_ABOVE),
        "not mentioned": found(_NOT_MENTIONED),
        "is yes": column(text == "yes" for text in plain),
        "is no": column(text == "no" for text in plain),
    }
    return np.stack([facts[name].astype(np.float64) for name in FACTS], axis=1)


def _has_capital_inside(text: str) -> bool:
    """Return whether a word but the first one begins with a capital letter."""
    return any(word[0].isupper() for word in text.split()[1:])


RARITY_BITS = 20
"""The binary places of a rarity."""
MOST_WORDS = 2**20
"""Up to this many words, a key of three word numbers fits into an int64."""


@dataclass(frozen=True)
class TrainingWords:
    """The words of passages, questions and candidates of the training data."""

    words: list[str]  # ascending
    passages_with: NDArray[np.int64]  # (n_words,): how many training passages have each word
    n_passages: int

    @classmethod
    def learn(cls, texts: RankerTexts) -> TrainingWords:
        """Number the words of some texts, and count the passages that have them."""
        arrays, vocabulary = texts.encoded.arrays, texts.encoded.vocabulary
        require_few_words("feature-ranker", len(vocabulary), MOST_WORDS)
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        counts = word_counts(arrays.passage_tokens, arrays.passage_offsets, arrays.n_words)
        passages_with = np.bincount(counts.words, minlength=len(vocabulary))[order].astype(np.int64)
        return cls([vocabulary[i] for i in order], passages_with, len(arrays.passage_offsets) - 1)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def numbers_of(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each word of an encoding's vocabulary, or -1: shape
        (len(vocabulary),).
        """
        number = self._numbers
        return np.fromiter((number.get(word, -1) for word in vocabulary), np.int64, len(vocabulary))

    def rarity(self, vocabulary: Sequence[str]) -> NDArray[np.int64]:
        r"""Return how rare each word is in the training passages, in units of 2**-20: shape
        (len(vocabulary),).

        .. math:: g(w) = \ln \frac{N + 1}{df(w) + 0.5}

        N is the number of training passages, and df(w) is how many of them have w: 0 for an unknown
        word.
        """
        numbers = self.numbers_of(vocabulary)
        counts = np.zeros(len(numbers))
        is_known = numbers >= 0
        counts[is_known] = self.passages_with[numbers[is_known]]
        rarity = np.log((self.n_passages + 1) / (counts + 0.5))
        return np.rint(rarity * 2**RARITY_BITS).astype(np.int64)


def content_counts(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], stop: NDArray[np.bool_], n_words: int
) -> WordCounts:
    """Return the distinct content words of texts: all but stop words, or all if nothing is left."""
    counts = word_counts(tokens, offsets, n_words)
    texts, n_texts = counts.texts, len(offsets) - 1
    content = flagged_or_all(~stop[counts.words], texts, n_texts)
    sizes = np.bincount(texts[content], minlength=n_texts)
    return WordCounts(counts.keys[content], counts.counts[content], offsets_of(sizes), n_words)


def passage_of_candidates(arrays: TokenArrays) -> NDArray[np.int64]:
    """Return the passage of each candidate of the arrays."""
    return arrays.question_passage[arrays.candidate_question]
