"""The language of texts: which analyzer matches their words, and where spans may begin and end.

Only letters decide, so a dataset has the same language whether or not its gold is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from weakref import WeakKeyDictionary

from classic_rc.errors import MissingPackageError
from classic_rc.questions import Dataset, Question
from classic_rc.text.analyzers import get_tokenizer
from classic_rc.text.scripts import dominant_script
from classic_rc.text.tokenizers import unspaced_share


@dataclass(frozen=True)
class Language:
    """How texts of a language are cut into words, and where spans of them may begin and end."""

    name: str
    analyzer: str = "word"  # of the words that are matched
    # of the borders of spans: the first one whose package is installed
    segmenters: tuple[str, ...] = ("word",)
    stop_words: str = "none"  # with which no span begins or ends

    @property
    def segmenter(self) -> str:
        """The tokenizer whose tokens are the borders of spans."""
        *dictionaries, simple = self.segmenters
        return next((name for name in dictionaries if _missing(name) is None), simple)

    @property
    def missing_extra(self) -> str | None:
        """The extra of this package that would give better borders; None if nothing is missing."""
        missing = _missing(self.segmenters[0])
        return None if missing is None else missing.extra


def _missing(tokenizer: str) -> MissingPackageError | None:
    try:
        _ = get_tokenizer(tokenizer).version
    except MissingPackageError as error:
        return error
    return None


ENGLISH = Language("English", stop_words="nltk")
UNKNOWN = Language("a language with blanks between words")
_BY_SCRIPT = {
    "arabic": Language("Arabic", analyzer="word+arabic"),
    "han": Language("Chinese", "char", ("char",)),
    "japanese": Language("Japanese", "char", ("fugashi", "char")),
    "hangul": Language("Korean", "syllable", ("kiwi", "syllable")),
    "thai": Language("Thai", "syllable", ("newmm", "syllable")),
    **{
        script: Language(script.capitalize(), "syllable", ("syllable",))
        for script in ("khmer", "lao", "myanmar")
    },
}

_ENGLISH_WORDS = (" the ", " of ", " and ")
_LEAST_ENGLISH_WORDS = 1 / 250  # a character; one in 50 to 80 in English prose
_ENOUGH_CHARACTERS = 2000  # fewer do not tell English from other languages in Latin letters
MIN_UNSPACED_SHARE = 0.1
"""The share of letters and digits from which on texts are in a script without blanks."""


def language_of(texts: Iterable[str]) -> Language:
    """Return the language of texts.

    Examples
    --------
    >>> language_of(["東京タワーの高さ"]).name, language_of(["北京大学"]).analyzer
    ('Japanese', 'char')
    """
    texts = list(texts)
    n_characters = sum(map(len, texts))
    others = [text for text in texts if not text.isascii()]
    # Most data is large and in ASCII, whose letters need no lookup.
    is_ascii = 2 * sum(map(len, others)) < n_characters
    script = "latin" if is_ascii else dominant_script(others)
    if script in ("latin", None):
        n_english = sum(text.count(word) for text in texts for word in _ENGLISH_WORDS)
        is_english = n_english >= _LEAST_ENGLISH_WORDS * n_characters
        return ENGLISH if is_english or n_characters < _ENOUGH_CHARACTERS else UNKNOWN
    return _BY_SCRIPT.get(script, UNKNOWN)


_languages: WeakKeyDictionary[Dataset, Language] = WeakKeyDictionary()


def dataset_language(questions: Sequence[Question]) -> Language:
    """Return the language of the passages, or of the questions if there is no passage; computed
    once for a dataset.

    If its words have blanks between them, but at least a tenth of the letters and digits belong to
    scripts without blanks, the analyzer is ``char``: ``word`` would make one token of a sentence.
    """
    if isinstance(questions, Dataset):
        if questions not in _languages:
            _languages[questions] = _find_language(questions)
        return _languages[questions]
    return _find_language(questions)


def is_english(questions: Sequence[Question]) -> bool:
    """Return whether the passages are in English, or the questions if they are long enough.

    Either will do, because a perturbation can change the other.
    """
    texts = [question.text for question in questions]
    is_enough = sum(map(len, texts)) >= _ENOUGH_CHARACTERS
    is_asked_in_english = is_enough and language_of(texts) == ENGLISH
    return is_asked_in_english or dataset_language(questions).name == ENGLISH.name


def _find_language(questions: Sequence[Question]) -> Language:
    passages = list({id(q.passage): q.passage.text for q in questions}.values())
    texts = [question.text for question in questions]
    language = language_of(passages if any(passages) else texts)
    is_unspaced = unspaced_share(chain(passages, texts)) >= MIN_UNSPACED_SHARE
    if language.analyzer == "word" and is_unspaced:
        language = replace(language, analyzer="char")
    return language
