"""Damaged and foreign texts: wrong decoding, lost characters, HTML entities, other scripts and languages."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html.entities import html5
from statistics import median

from classic_rc.questions import Dataset, Passage, Question, candidate_texts

# The characters that the bytes 0x80 to 0xBF become in Windows-1252 (or Latin-1, for those that it lacks).
_TRAIL = "".join(bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0xC0)).replace("�", "")
_TRAIL = re.escape(_TRAIL + "\x81\x8d\x8f\x90\x9d")
_QUOTE = "‘’“”–—…"  # these follow letters in sound text too
_MOJIBAKE = re.compile(
    rf"[ÂÃ](?![{_QUOTE}])[{_TRAIL}]|[â-ï][{_TRAIL}]{{2}}|ð[{_TRAIL}]{{3}}|(?:[ÐÑ](?![{_QUOTE}])[{_TRAIL}]){{2}}"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
_ENTITY = re.compile(r"&(?:([A-Za-z][A-Za-z0-9]{1,30});|#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};)")
_MIXED_WORD = re.compile(r"[A-Za-z][\u0400-\u0481\u048a-\u04ff]|[\u0400-\u0481\u048a-\u04ff][A-Za-z]")

DAMAGE: Mapping[str, Callable[[str], bool]] = {
    "mojibake": lambda text: not text.isascii() and _MOJIBAKE.search(text) is not None,
    "lost-character": lambda text: "\ufffd" in text,
    "control-character": lambda text: not text.isprintable() and _CONTROL.search(text) is not None,
    "html-entity": lambda text: "&" in text and has_entity(text),
    "mixed-script": lambda text: not text.isascii() and _MIXED_WORD.search(text) is not None,
}
"""Tests of a text, by the name of the kind of defect."""

_SCRIPTS = frozenset(
    "LATIN GREEK CYRILLIC ARABIC HEBREW DEVANAGARI BENGALI TAMIL TELUGU THAI HANGUL ARMENIAN GEORGIAN".split()
)
_EAST_ASIAN = frozenset("CJK HIRAGANA KATAKANA".split())
_MOST_OF_TEXT = 0.6  # of the letters, to be the text's script

_FUNCTION_WORDS = {
    "English": "the of and to was that with his were for",
    "German": "der die und das ist nicht ein mit den von",
    "French": "le la les des est une dans pour qui et",
    "Spanish": "el los las una por con del para y que",
    "Italian": "il di che un per non sono della gli è",
    "Portuguese": "o os uma com não para dos em do e",
    "Dutch": "de het een van en niet dat op zijn met",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _FUNCTION_WORDS.items()}
_LEAST_WORDS = 20
_LEAST_SHARE = 0.1  # of function words, to be in a language
_LEAD = 1.5  # times the share of the second language

_LETTERS = re.compile(r"[^\W\d_]+")
_N_FREQUENT, _FREQUENT_IN = 100, 0.1  # at most so many words, each in this share of the passages
_FEWEST_WORDS, _FEWEST_PASSAGES, _MOST_SAMPLED = 12, 10, 2000
_OWN_LANGUAGE = 0.3
"""A passage is foreign if its share of the dataset's frequent words is below this part of the median. The passages
of MCTest, DREAM, MultiRC, Quoref, ReCoRD and MCScript are above .4. Of the 25,135 in RACE train, 22 are below .35:
timetables and price lists, and texts without blanks."""
_RUNNING_TEXT = 0.6  # of the words begin in lower case, unlike those of timetables and price lists


def find_text_defects(dataset: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the kinds of damaged and foreign texts, each with the id of the question.

    A question's texts are its passage, itself and its candidates. A text is foreign if its script, or for a passage
    its language, is not that of most.
    """
    of_passage = {id(p): _damage_of((p.text,)) for p in dataset.passages}
    scripts = _foreign(((p, find_script(p.text)) for p in dataset.passages), len(dataset.passages))
    languages = _foreign(((p, find_language(p.text)) for p in dataset.passages), len(dataset.passages))
    languages |= _without_frequent_words(dataset.passages)
    own_scripts = _foreign(((q, find_script(" ".join(_own_texts(q)))) for q in dataset), len(dataset))
    for question in dataset:
        damage = of_passage[id(question.passage)] | _damage_of(_own_texts(question))
        for kind in DAMAGE:
            if kind in damage:
                yield kind, question.id
        if id(question.passage) in scripts or id(question) in own_scripts:
            yield "other-script", question.id
        elif id(question.passage) in languages:
            yield "other-language", question.id


def has_entity(text: str) -> bool:
    """Return whether a text has an HTML entity.

    Examples
    --------
    >>> has_entity("Tom &amp; Ann"), has_entity("R&D; AT&T")
    (True, False)
    """
    return any(match[1] is None or f"{match[1]};" in html5 for match in _ENTITY.finditer(text))


def find_script(text: str) -> str | None:
    """Return the script of most letters of a text; None without letters, or if no script has most.

    Examples
    --------
    >>> find_script("Ann sang."), find_script("Анна пела."), find_script("12.5 %")
    ('LATIN', 'CYRILLIC', None)
    """
    if text.isascii():
        return "LATIN" if any(map(str.isalpha, text)) else None
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha() and (script := _script_of(character)):
            counts[script] += count
    if not counts:
        return None
    script, most = counts.most_common(1)[0]
    return script if most >= _MOST_OF_TEXT * counts.total() else None


def find_language(text: str) -> str | None:
    """Return the language of a text of 20 words or more, by its function words; None if unclear.

    Examples
    --------
    >>> find_language("Der Hund und die Katze " * 4), find_language("Ann sang.")
    ('German', None)
    """
    words = text.lower().split()
    if len(words) < _LEAST_WORDS:
        return None
    counts = Counter(words)
    hits = sorted(((sum(counts[word] for word in own), name) for name, own in _LANGUAGES.items()), reverse=True)
    (most, name), (second, _) = hits[:2]
    return name if most >= _LEAST_SHARE * len(words) and most >= _LEAD * second else None


def _foreign(found: Iterable[tuple[Passage | Question, str | None]], total: int) -> set[int]:
    """Return the identities of the texts that differ from the value that more than half of all texts have."""
    known = [(id(item), value) for item, value in found if value is not None]
    counts = Counter(value for _, value in known)
    if not counts or max(counts.values()) * 2 <= total:
        return set()
    common = counts.most_common(1)[0][0]
    return {item for item, value in known if value != common}


def _without_frequent_words(passages: Sequence[Passage]) -> set[int]:
    """Return the identities of running texts that have few of the words that most passages have.

    This finds the languages that :func:`find_language` does not know, in data of any language. A sample of the
    passages says which words are frequent.
    """
    sample = [_LETTERS.findall(p.text) for p in passages[:: len(passages) // _MOST_SAMPLED + 1]]
    sample = [words for words in sample if len(words) >= _FEWEST_WORDS]
    if len(sample) < _FEWEST_PASSAGES:
        return set()
    counts = Counter(word for words in sample for word in {w.lower() for w in words})
    frequent = {word for word, n in counts.most_common(_N_FREQUENT) if n > _FREQUENT_IN * len(sample)}

    def share(words: Sequence[str]) -> float:
        return sum(map(frequent.__contains__, words)) / max(len(words), 1)

    least = _OWN_LANGUAGE * median(share([w.lower() for w in words]) for words in sample)
    found = set()
    for passage in passages:
        if share(passage.text.lower().split()) < least:  # quick, and too low where marks follow words
            words = _LETTERS.findall(passage.text)
            is_text = len(words) >= _FEWEST_WORDS
            is_text = is_text and sum(w[0].islower() for w in words) >= _RUNNING_TEXT * len(words)
            if is_text and share([w.lower() for w in words]) < least:
                found.add(id(passage))
    return found


def _own_texts(question: Question) -> tuple[str, ...]:
    options = () if question.task.has_spans else candidate_texts(question.candidates)
    return (question.text, *options)


def _damage_of(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(kind for text in texts for kind, has in DAMAGE.items() if has(text))


@lru_cache(maxsize=1 << 16)
def _script_of(character: str) -> str | None:
    words = unicodedata.name(character, "").split("-")[0].split()
    if not words:
        return None
    name = words[1] if words[0] in ("FULLWIDTH", "HALFWIDTH") and len(words) > 1 else words[0]
    return "EAST ASIAN" if name in _EAST_ASIAN else name if name in _SCRIPTS else None
