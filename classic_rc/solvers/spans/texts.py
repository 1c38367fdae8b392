"""What the span ranker reads: tokens with classes and shapes, and the parts of a question."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classic_rc.questions import Passage, Question
from classic_rc.solvers.spans.grammar import MARKS, Grammar, QuestionParts
from classic_rc.text.porter import porter_stem
from classic_rc.text.sentences import passage_sentences, word_table
from classic_rc.text.spans import span_offsets
from classic_rc.text.tokenizers import UNSPACED

_TOKEN = re.compile(
    rf"\d+(?:[.,:]\d+)+(?!\w)|[{UNSPACED}]|['\u2019]s\b|[^\W_]+(?:['\u2019](?!s\b)[^\W_]+)?|[^\w\s]|_"
)

_CLOSED: dict[str, str] = {
    "determiner": "the a an this that these those some any each every all both no another such",
    "to": "to",
    "preposition": "about above across against along among around before behind below beneath "
    "beside besides between beyond despite down during except inside into like near off onto out "
    "outside over past per since through throughout toward towards under until up upon via within "
    "without after than",
    "and": "and or nor",
    "conjunction": "but if because although though while whereas unless so",
    "possessive": "his her its their my our your",
    "pronoun": "he she it they i we you him them us me himself herself itself themselves there",
    "wh": "who whom whose which what where when why how",
    "be": "is are was were be been being am",
    "have": "has have had having",
    "do": "do does did",
    "modal": "can could will would shall should may might must",
    "not": "not n't never",
    "numeral": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million billion trillion",
    "month": "january february march april june july august september october november december",
    "weekday": "monday tuesday wednesday thursday friday saturday sunday",
    "quantity": "more less most least many much few several about approximately nearly almost only",
    "adverb": "also then now however very too just often later first last",
}
_CLASS_OF_WORD = {word: name for name, words in _CLOSED.items() for word in words.split()}
# Each of these is a class of its own, to distinguish places, times and agents.
_OWN_CLASS = word_table("of in on at by for with from as 's")
_CLASS_OF_WORD |= {word: word for word in _OWN_CLASS}
_FUNCTION = frozenset(_CLOSED) - {"numeral", "month", "weekday"} | _OWN_CLASS
_SUFFIXES = tuple(
    (tuple(endings.split()), name)
    for endings, name in (
        ("ly", "-ly"),
        ("ing", "-ing"),
        ("ed", "-ed"),
        ("tion sion ment ness ity ance ence ism ship", "-tion"),
        ("er or ist ian", "-er"),
        ("al ous ive ic ful able ible less ary", "-al"),
        ("est", "-est"),
        ("s", "-s"),
    )
)


def word_class(token: str) -> str:
    """Return the class of a token: a function word's own list, a number, a name, a mark, or the
    suffix.

    Examples
    --------
    >>> [word_class(token) for token in ("The", "1854", "3.5", "Paris", "quickly", "of", ",")]
    ['determiner', 'year', 'number', 'name', '-ly', 'of', ',']
    """
    lower = token.lower().replace("\u2019", "'")
    if lower in _CLASS_OF_WORD:
        return _CLASS_OF_WORD[lower]
    if not token[0].isalnum():
        return MARKS.get(token, token)
    if token[0].isdigit():
        if len(token) == 4 and token.isdigit() and token[0] in "12":
            return "year"
        return "number-word" if token[-1].isalpha() else "number"
    if not token.islower():
        return "capitals" if len(token) > 1 and token.isupper() else "name"
    if len(token) > 4:
        for endings, name in _SUFFIXES:
            if token.endswith(endings):
                return name
    return "word"


_LETTERS = re.compile(r"(X|x)\1+")
_DIGITS = re.compile("d{5,}")


def word_shape(token: str) -> str:
    """Return a token's shape: capitals X, small letters x, digits d; runs of letters are one
    letter.

    Examples
    --------
    >>> [word_shape(token) for token in ("Paris", "1854", "3.5", "McCoy", "NATO", "1870s")]
    ['Xx', 'dddd', 'd.d', 'XxXx', 'X', 'ddddx']
    """
    shape = ""
    for c in token:
        if c.isdigit():
            shape += "d"
        elif c.isalpha():
            shape += "x" if c.islower() else "X"
        else:
            shape += c
    return _DIGITS.sub("ddddd", _LETTERS.sub(r"\1", shape))


def code_of(text: str) -> int:
    """Return the 32-bit code of a text, the same in every run and on every machine."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


EDGE = code_of("edge")
"""The code of what is beyond the ends of a sentence."""


class EnglishGrammar(Grammar):
    """English: closed lists of words, capitals and suffixes."""

    def tokens(self, text: str) -> list[tuple[str, int, int]]:
        """Return words, numbers with their separators, the possessive 's and single marks."""
        return [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text)]

    def stem(self, word: str) -> str:
        """Return Porter's stem."""
        return porter_stem(word)

    def word_class(self, token: str) -> str:
        """Return :func:`word_class`."""
        return word_class(token)

    def is_function_class(self, kind: str) -> bool:
        """Return whether a class is one of function words."""
        return kind in _FUNCTION

    def parts(self, tokens: Sequence[str]) -> QuestionParts:
        """Return the wh-word, with "many" and the like after "how", and the other parts."""
        words = [token.lower() for token in tokens]
        place = next((i for i, word in enumerate(words) if word in WH_WORDS), -1)
        wh = words[place] if place >= 0 else "none"
        begin = place + 1
        if wh == "how" and words[begin : begin + 1] and words[begin] in _HOW:
            wh, begin = f"how {words[begin]}", begin + 1
        classes = [word_class(token) for token in tokens]
        auxiliaries = (i for i in range(begin, len(words)) if classes[i] in _AUXILIARIES)
        auxiliary = next(auxiliaries, len(words))
        head = _find_head(words, classes, begin, auxiliary)
        verb = _find_verb(words, classes, begin, auxiliary)
        return QuestionParts(wh, place, head, auxiliary if auxiliary < len(words) else -1, verb)


ENGLISH = EnglishGrammar()


class Lexicon:
    """The types of tokens that were read, numbered in the order of reading; codes depend on the
    token and the grammar alone.
    """

    def __init__(self, grammar: Grammar = ENGLISH) -> None:
        self.grammar = grammar
        self.names: dict[int, str] = {EDGE: "edge"}
        self._numbers: dict[str, int] = {}
        self._types: list[tuple[int, int, int, int, bool, bool]] = []  # as in TypeColumns
        self._stems: list[str] = []
        self._columns: TypeColumns | None = None

    def number(self, token: str) -> int:
        """Return the number of a surface token."""
        number = self._numbers.get(token)
        if number is None:
            number = self._numbers[token] = len(self._types)
            word = token.lower().replace("\u2019", "'")
            stem, kind = self.grammar.stem(word), self.grammar.word_class(token)
            word_code, stem_code = self.code(word), self.code(stem)
            class_code, shape_code = self.code(kind), self.code(word_shape(token))
            is_content = token[0].isalnum() and not self.grammar.is_function_class(kind)
            is_name = kind in ("name", "capitals")
            codes = word_code, stem_code, class_code, shape_code
            self._types.append((*codes, is_content, is_name))
            self._stems.append(stem)
        return number

    def code(self, text: str) -> int:
        """Return the code of a text, and remember the text."""
        code = code_of(text)
        self.names[code] = text
        return code

    def stem(self, number: int) -> str:
        """Return the stem of a numbered token."""
        return self._stems[number]

    def is_content(self, number: int) -> bool:
        """Return whether a numbered token is a content word."""
        return self._types[number][4]

    def columns(self) -> TypeColumns:
        """Return the codes of all types as arrays, made again only after new types were read."""
        if self._columns is not None and len(self._columns.word) == len(self._types):
            return self._columns
        columns: Any = zip(*self._types, strict=True) if self._types else [()] * 6
        kinds: Any = 4 * [np.uint32] + 2 * [np.bool_]
        self._columns = TypeColumns(*map(np.array, columns, kinds))
        return self._columns


class TypeColumns(NamedTuple):
    """The codes of numbered tokens, each of shape (n_types,)."""

    word: NDArray[np.uint32]
    stem: NDArray[np.uint32]
    word_class: NDArray[np.uint32]
    shape: NDArray[np.uint32]
    is_content: NDArray[np.bool_]
    is_name: NDArray[np.bool_]


class ReadPassage(NamedTuple):
    """The tokens of a passage, one at least; those before the first sentence belong to it."""

    tokens: NDArray[np.int32]  # (n_tokens,): numbers of the lexicon
    starts: NDArray[np.int32]  # (n_tokens,): character offsets
    ends: NDArray[np.int32]
    sentence_offsets: NDArray[np.int32]  # (n_sentences + 1,): of the tokens; no sentence is empty

    @classmethod
    def of(cls, passage: Passage, lexicon: Lexicon) -> ReadPassage:
        """Read a passage."""
        located = lexicon.grammar.tokens(passage.text) or [("_", 0, len(passage.text))]
        words, begins, finishes = zip(*located, strict=True)
        tokens = np.array([lexicon.number(word) for word in words], dtype=np.int32)
        starts = np.array(begins, dtype=np.int32)
        ends = np.array(finishes, dtype=np.int32)
        sentence_starts = [start for start, _ in passage_sentences(passage)]
        borders = np.array(sentence_starts[1:], dtype=np.int32)
        offsets = np.concatenate(([0], np.searchsorted(starts, borders), [len(tokens)]))
        # The border of a sentence without a token is that of the next one.
        return cls(tokens, starts, ends, np.unique(offsets).astype(np.int32))


class ReadCandidates(NamedTuple):
    """The first and the last token of each candidate of a list."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @classmethod
    def of(cls, question: Question, passage: ReadPassage) -> ReadCandidates:
        """Locate the candidates of a question.

        A candidate that ends inside a token has all of it. One without a token gets the nearest.
        """
        starts, ends = span_offsets(question)
        top = len(passage.tokens) - 1
        first = np.minimum(np.searchsorted(passage.ends, starts, side="right"), top)
        last = np.clip(np.searchsorted(passage.starts, ends) - 1, first, top)
        return cls(first.astype(np.int32), last.astype(np.int32))


WH_WORDS = ("who", "whom", "whose", "when", "where", "why", "how", "what", "which")
_HOW = word_table("many much long old far often large big tall high")
_NAMING = word_table("name names type types kind kinds sort form title")


class ReadQuestion(NamedTuple):
    """The parts of a question."""

    wh: int  # the code of the wh-word, with "many" and the like after "how"
    head: int  # the code of the stem of the question's head noun, or 0
    auxiliary: int  # the code of the class of the first auxiliary: be, have, do, modal; or 0
    verb: int  # the code of the stem of the main verb, or 0
    before: int  # the code of the word before the wh-word, or 0
    after: int  # the code of the word after the wh-word, or 0
    wh_place: int  # its place among the tokens
    stems: NDArray[np.uint32]  # (n,): the codes of the stems of content words, ascending, each once
    places: NDArray[np.int32]  # (n,): of their first occurrences
    rarity: NDArray[np.float64]  # (n,)

    @classmethod
    def of(
        cls, text: str, lexicon: Lexicon, rarity: Rarity, *, wh_only: bool = False
    ) -> ReadQuestion:
        """Read a question; with `wh_only`, nothing but its wh-word."""
        grammar = lexicon.grammar
        surface = [token for token, *_ in grammar.tokens(text)]
        parts = grammar.parts(surface)
        if wh_only:
            empty = np.empty(0)
            codes, places = empty.astype(np.uint32), empty.astype(np.int32)
            return cls(lexicon.code(parts.wh), 0, 0, 0, 0, 0, 0, codes, places, empty)
        words = [token.lower() for token in surface]
        numbers = [lexicon.number(token) for token in surface]
        content = {}
        # Backwards, so that the first occurrence of a stem stays.
        for i, number in reversed(list(enumerate(numbers))):
            if lexicon.is_content(number):
                content[lexicon.stem(number)] = i
        codes = np.array([code_of(stem) for stem in content], dtype=np.uint32)
        codes, once = np.unique(codes, return_index=True)
        places = np.array(list(content.values()), dtype=np.int32)[once]
        weights = np.array([rarity.of(stem) for stem in content])[once]
        wh, wh_place = lexicon.code(parts.wh), max(parts.place, 0)
        head = auxiliary = verb = before = after = 0
        if parts.head >= 0:
            head = lexicon.code(grammar.stem(words[parts.head]))
        if parts.auxiliary >= 0:
            auxiliary = lexicon.code(grammar.word_class(surface[parts.auxiliary]))
        if parts.verb >= 0:
            verb = lexicon.code(grammar.stem(words[parts.verb]))
        if parts.place > 0:
            before = lexicon.code(words[parts.place - 1])
        place_after = wh_place + len(parts.wh.split())  # the wh-word may be two tokens
        if parts.place >= 0 and place_after < len(words):
            after = lexicon.code(words[place_after])
        return cls(wh, head, auxiliary, verb, before, after, wh_place, codes, places, weights)


_AUXILIARIES = frozenset({"be", "have", "do", "modal"})
_NO_NOUN = _FUNCTION | {"-ly", "-ed"}


def _find_head(words: Sequence[str], classes: Sequence[str], begin: int, auxiliary: int) -> int:
    """Return the place of the question's head noun, or -1.

    It is the last noun between the wh-word and the first auxiliary or verb ("what *city* hosted").
    If an auxiliary follows the wh-word at once, it is the end of the next noun phrase ("what was
    the *population* of"), and the noun after "name of" and the like.
    """
    if begin == auxiliary and auxiliary < len(words) and classes[auxiliary] == "be":
        begin += 1
    elif begin == auxiliary:
        return -1
    head = -1
    for i in range(begin, len(words)):
        if classes[i] in ("determiner", "possessive", "quantity", "adverb") and head < 0:
            continue
        if words[i] == "of" and head >= 0 and words[head] in _NAMING:
            head = -1
        elif classes[i] in _NO_NOUN or not words[i][0].isalnum():
            break
        else:
            head = i
    return head


def _find_verb(words: Sequence[str], classes: Sequence[str], begin: int, auxiliary: int) -> int:
    """Return the place of the first lower-case word after the auxiliary that may be the main
    verb, or -1.
    """
    start = auxiliary + 1 if auxiliary < len(words) else begin
    for i in range(start, len(words)):
        follows = classes[i - 1] if i > start else ""
        if classes[i] in ("-ed", "-ing", "word", "-s") and follows not in _BEFORE_NOUNS:
            return i
    return -1


_BEFORE_NOUNS = frozenset(
    {"determiner", "possessive", "of", "in", "on", "at", "by", "for", "with", "from", "'s"}
)


class Rarity:
    """How rare a stem is in the training passages: ln((N + 1) / (n + 0.5)) if n of N passages
    have it.
    """

    def __init__(
        self, stems: Sequence[str], passages_with: NDArray[np.integer], n_passages: int
    ) -> None:
        self.stems, self.passages_with, self.n_passages = list(stems), passages_with, n_passages
        weights = np.log((n_passages + 1) / (passages_with + 0.5))
        self._weights = dict(zip(self.stems, weights.tolist(), strict=True))
        self._unknown = float(np.log((n_passages + 1) / 0.5))

    def of(self, stem: str) -> float:
        """Return the rarity of a stem; one that no training passage has is the rarest."""
        return self._weights.get(stem, self._unknown)

    @classmethod
    def learn(cls, passages: Sequence[ReadPassage], lexicon: Lexicon) -> Rarity:
        """Count the passages that have each content stem."""
        counts: dict[str, int] = {}
        for passage in passages:
            numbers = np.unique(passage.tokens).tolist()
            for stem in {lexicon.stem(n) for n in numbers if lexicon.is_content(n)}:
                counts[stem] = counts.get(stem, 0) + 1
        stems = sorted(counts)
        passages_with = np.array([counts[stem] for stem in stems], dtype=np.int32)
        return cls(stems, passages_with, len(passages))
