"""What the span ranker knows of a language: its tokens, the classes of words, the parts of a
question.
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Self

from classic_rc.errors import DataError
from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.sentences import SENTENCE_MARKS

MARKS = {
    **dict.fromkeys("\"'“”‘’`«»", "quote"),
    **dict.fromkeys("([{", "open"),
    **dict.fromkeys(")]}", "close"),
    **dict.fromkeys("-–—−", "dash"),
    **dict.fromkeys(".!?", "stop"),
    **dict.fromkeys(":;", "colon"),
    **dict.fromkeys("$£€¥", "currency"),
}
"""The class of a mark; another mark is a class of its own."""

_OTHER_MARKS = {
    **dict.fromkeys("„‟‚‛「」『』", "quote"),
    **dict.fromkeys("（［｛【〔《〈", "open"),
    **dict.fromkeys("）］｝】〕》〉", "close"),
    **dict.fromkeys("～〜", "dash"),
    **dict.fromkeys("".join(SENTENCE_MARKS.values()), "stop"),
    **dict.fromkeys("：；؛", "colon"),
    **dict.fromkeys("￥", "currency"),
}


class QuestionParts(NamedTuple):
    """The parts of a question that a grammar finds."""

    wh: str
    place: int  # of the wh-word among the tokens, or -1
    head: int  # the place of the head noun, or -1
    auxiliary: int  # the place of the first auxiliary, or -1
    verb: int  # the place of the main verb, or -1


class Grammar(ABC):
    """What the span ranker knows of a language."""

    @abstractmethod
    def tokens(self, text: str) -> list[tuple[str, int, int]]:
        """Return the words and the single marks, with their offsets."""

    @abstractmethod
    def stem(self, word: str) -> str:
        """Return the stem of a lower-cased word."""

    @abstractmethod
    def word_class(self, token: str) -> str:
        """Return the class of a token."""

    @abstractmethod
    def is_function_class(self, kind: str) -> bool:
        """Return whether a class is one of function words."""

    @abstractmethod
    def parts(self, tokens: Sequence[str]) -> QuestionParts:
        """Return the parts of a question."""


_FUNCTION_WORDS = 100
_ENDINGS = 60
_QUESTION_WORDS = 20
_LEAST_QUESTIONS = 0.005  # of the training questions that have a question word
_LEAST_RATIO = 4.0  # how much more frequent it is in questions than in passages
_SHORTEST_STEM = 3
_MOST_BLANKS = 0.3  # a word or mark, where blanks are not between words


class LearnedGrammar(Grammar):
    """A grammar learned from training passages and questions, for any language.

    The most frequent words are function words, each a class of its own. A question word is one that
    is far more frequent in questions than in passages. Another word has the class of its ending, if
    that is one of the most frequent ones, else of its script. Its stem is the word without the
    ending. Numbers, capitals and marks are classes as in English. If blanks do not separate words,
    a blank is a mark too.
    """

    def __init__(
        self,
        tokenizer: str,
        function_words: Iterable[str],
        endings: Iterable[str],
        question_words: Sequence[str],
        reads_blanks: bool = False,
    ) -> None:
        self.tokenizer, self.reads_blanks = tokenizer, reads_blanks
        self.function_words, self.endings = frozenset(function_words), frozenset(endings)
        self.question_words = {word: rank for rank, word in enumerate(question_words)}
        self._tokenizer = get_tokenizer(tokenizer)

    @classmethod
    def learn(cls, tokenizer: str, passages: Sequence[str], questions: Sequence[str]) -> Self:
        """Learn the words and endings of texts."""
        bare = cls(tokenizer, (), (), ())
        counts, question_counts = bare._count(passages), bare._count(questions)
        function_words = _most_frequent(counts, _FUNCTION_WORDS)
        endings: Counter[str] = Counter()
        for word in counts:
            for length in range(1, min(3, len(word) - _SHORTEST_STEM) + 1):
                endings[word[-length:]] += 1
        total, n_question_words = max(counts.total(), 1), max(question_counts.total(), 1)
        least_count = max(_LEAST_QUESTIONS * len(questions), 2)
        ratios = {}
        for word, count in question_counts.items():
            if count >= least_count:
                passage_share = (counts[word] + 1) / total
                ratios[word] = (count / n_question_words) / passage_share
        words = [word for word, ratio in ratios.items() if ratio >= _LEAST_RATIO]
        # Keep the words of the most questions. If a question has several, the one that is rarest in
        # passages is its question word, so these come first.
        words = sorted(words, key=lambda word: (-question_counts[word], word))[:_QUESTION_WORDS]
        words.sort(key=lambda word: (-ratios[word], word))
        blanks = sum(len(text.split()) for text in passages)
        reads_blanks = blanks < _MOST_BLANKS * sum(len(bare.tokens(text)) for text in passages)
        common_endings = _most_frequent(endings, _ENDINGS)
        return cls(tokenizer, function_words, common_endings, words, reads_blanks)

    def _count(self, texts: Iterable[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(token.lower() for token, *_ in self.tokens(text) if token.isalpha())
        return counts

    def state(self) -> dict[str, Any]:
        """Return plain data for JSON, with the version of the tokenizer."""
        return {
            "tokenizer": self.tokenizer,
            "version": self._tokenizer.version,
            "function_words": sorted(self.function_words),
            "endings": sorted(self.endings),
            "question_words": list(self.question_words),
            "reads_blanks": self.reads_blanks,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Restore a grammar; DataError if its tokenizer has another version now."""
        version = get_tokenizer(state["tokenizer"]).version
        if version != state["version"]:
            raise DataError(
                f"the words of {state['tokenizer']} are those of another version",
                found=version,
                expected=state["version"],
                hint="Install that version, or fit the solver again",
            )
        names = ("tokenizer", "function_words", "endings", "question_words", "reads_blanks")
        return cls(**{name: state[name] for name in names})

    def tokens(self, text: str) -> list[tuple[str, int, int]]:
        """Return the words of the tokenizer, and the single marks between them.

        If blanks do not separate words, each of them is a mark.
        """
        words = self._tokenizer.locate(text)
        bounds = [0, *(place for word in words for place in word), len(text)]
        is_mark = bool if self.reads_blanks else str.strip
        marks: list[tuple[int, int]] = []
        for start, end in zip(bounds[::2], bounds[1::2], strict=True):
            marks += [(i, i + 1) for i in range(start, end) if is_mark(text[i])]
        return [(text[start:end], start, end) for start, end in sorted(words + marks)]

    def stem(self, word: str) -> str:
        """Return the word without its longest known ending."""
        return word.removesuffix(self._ending(word))

    def _ending(self, word: str) -> str:
        longest = min(3, len(word) - _SHORTEST_STEM)
        for length in range(longest, 0, -1):
            if word[-length:] in self.endings:
                return word[-length:]
        return ""

    def word_class(self, token: str) -> str:
        """Return the class of a token."""
        word = token.lower()
        if word in self.function_words:
            return f"={word}"
        if not token[0].isalnum():
            return MARKS.get(token) or _OTHER_MARKS.get(token, token)
        if token[0].isdigit():
            if len(token) == 4 and token.isdecimal():
                return "year"
            return "number-word" if token[-1].isalpha() else "number"
        if token != word:
            return "capitals" if len(token) > 1 and token.isupper() else "name"
        ending = self._ending(word)
        return f"-{ending}" if ending else _script(token[0])

    def is_function_class(self, kind: str) -> bool:
        """Return whether a class is a frequent word."""
        return len(kind) > 1 and kind[0] == "="

    def parts(self, tokens: Sequence[str]) -> QuestionParts:
        """Return the question word and the head: the next word that is not a function word."""
        words = [token.lower() for token in tokens]
        ranks = self.question_words
        places = [i for i, word in enumerate(words) if word in ranks]
        place = min(places, key=lambda i: (ranks[words[i]], i), default=-1)
        content = []
        for i, word in enumerate(words):
            is_function_word = word in ranks or word in self.function_words
            if word[0].isalnum() and not is_function_word:
                content.append(i)
        after = [i for i in content if i > place >= 0]
        wh, head = "none", -1
        if place >= 0:
            wh = words[place]
            if content:
                head = after[0] if after else content[-1]
        return QuestionParts(wh, place, head, -1, -1)


def _most_frequent(counts: Counter[str], n: int) -> list[str]:
    return sorted(counts, key=lambda key: (-counts[key], key))[:n]


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "letter").split()[0].lower()
