"""What is counted: values of a question that may tell the right position, and values of an option.

A row of an audit counts, in other folds or in training data, how often each position (or option) is right for each
value. Values are functions of the data, so training data have them too.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules.fields import as_text, integers, raw_fields, weekday
from classic_rc.audit.rules.other_questions import number_in_passage
from classic_rc.audit.rules.question_passage import n_mentions, sentence_of_mention, sentences


@dataclass(frozen=True)
class Code:
    """A value of each question, or of each option.

    Parameters
    ----------
    name : str
    sees : tuple of str
        What it reads.
    group : str
        The rules that share a part of the error level with it.
    values : callable
        Takes an :class:`OptionTable` and returns a hashable value for each question (or option).
    """

    name: str
    sees: tuple[str, ...]
    group: str
    values: Callable[[OptionTable], Sequence[Any]]


def question_codes(table: OptionTable) -> Iterator[Code]:
    """Yield values of each question that may tell the position of the right option."""
    k = max(int(table.sizes.max(initial=1)), 2)
    yield from _order_codes(k)
    for key, raw in raw_fields(table).items():
        yield from _field_codes(key, raw, k)
    yield from _option_places()
    yield from _text_codes("question", lambda table: [q.text for q in table.questions], k)
    yield Code("whether the question is longer than the one before", ("question",), "question", _is_longer)
    yield from _text_codes("passage", lambda table: [q.passage.text for q in table.questions], k)
    sources: tuple[tuple[str, str, Callable[[OptionTable], list[str]]], ...] = (
        ("id", "fields: id", lambda table: [q.id for q in table.questions]),
        ("passage id", "fields: passage id", lambda table: [q.passage.id for q in table.questions]),
        ("question", "question", lambda table: [q.text for q in table.questions]),
        ("passage", "passage", lambda table: [q.passage.text for q in table.questions]),
    )
    for what, sees, texts_of in sources:
        for hash_name, parts in _HASHES.items():
            for part, value in parts.items():
                yield Code(
                    f"the {hash_name} of the {what}{part}{_modulo(k, part)}",
                    (sees,),
                    "hashes",
                    _each(texts_of, value, k),
                )


def _modulo(k: int, part: str) -> str:
    return "" if part else f" modulo {k}"


# Order


_PERIODS = (2, 3, 4, 5, 6, 7, 8)
_LONG_PERIODS = (9, 10, 11, 12, 15, 16, 20, 24, 25)


def _order_codes(k: int) -> Iterator[Code]:
    def code(name: str, values: Callable[[OptionTable], Sequence[Any]]) -> Code:
        return Code(name, ("order",), "order", values)

    # Of codes that say the same, the first is named, so the simple ones come first.
    for m in sorted({*_PERIODS, k}):
        yield code(f"the question's number modulo {m}", partial(_index_modulo, m))
    yield code("the two answers before", _two_before)
    yield code("the question's number in its passage", lambda table: number_in_passage(table).tolist())
    for m in sorted({2, 3, 4, k}):
        yield code(f"the passage's number modulo {m}", partial(_passage_modulo, m))
    for name, n in (("half", 2), ("quarter", 4), ("tenth", 10)):
        yield code(f"the {name} of the data that the question is in", partial(_part_of_data, n))
    for m in _LONG_PERIODS:
        yield code(f"the question's number modulo {m}", partial(_index_modulo, m))


def _index_modulo(m: int, table: OptionTable) -> list[int]:
    return (np.arange(len(table)) % m).tolist()


def _part_of_data(n: int, table: OptionTable) -> list[int]:
    return (np.arange(len(table)) * n // max(len(table), 1)).tolist()


def _passage_modulo(m: int, table: OptionTable) -> list[int]:
    return (_passage_number(table) % m).tolist()


def _two_before(table: OptionTable) -> list[Any]:
    gold = table.gold.tolist()
    return [(gold[i - 1], gold[i - 2]) if i > 1 else None for i in range(len(table))]


def _passage_number(table: OptionTable) -> Integers:
    """Return the number of each question's passage, in the order of the questions."""
    number: dict[int, int] = {}
    return np.array([number.setdefault(p, len(number)) for p in table.passage.tolist()], dtype=np.int64)


# Fields


def _field_codes(key: str, raw: Sequence[Any], k: int) -> Iterator[Code]:
    def code(name: str, value: Callable[[Any], Any]) -> Code:
        def values(table: OptionTable) -> list[Any]:
            return [value(own) for own in raw_fields(table).get(key, [None] * len(table))]

        return Code(name, (f"fields: {key}",), "fields", values)

    def text_code(name: str, value: Callable[[str], Any]) -> Code:
        return code(name, lambda own: value(as_text(own)))

    yield text_code(key, str)
    yield text_code(f"the last character of {key}", lambda text: text[-1:])
    yield text_code(f"the first character of {key}", lambda text: text[:1])
    yield text_code(f"the length of {key}", len)
    counts = [len(integers(value)) for value in raw]
    if max(counts):
        for m in sorted({2, 3, 4, 5, 6, 7, 8, 10, k}):
            name = f"the parity of the number in {key}" if m == 2 else f"the number in {key} modulo {m}"
            yield code(name, partial(_number_at, -1, m))
        if max(counts) == 1:
            yield Code(f"the size of the number in {key}", (f"fields: {key}",), "fields", _eighths_of(key))
        for i in range(min(max(counts), 4) if max(counts) > 1 else 0):
            ordinal = ("first", "second", "third", "fourth")[i]
            yield code(f"the {ordinal} number in {key}", partial(_number_at, i, 0))
            for m in sorted({3, 5, 7, 8, 10, k}) if i == 0 else (k,):
                yield code(f"the {ordinal} number in {key} modulo {m}", partial(_number_at, i, m))
        yield text_code(f"the sum of the digits of {key} modulo {k}", lambda text: _digit_sum(text) % k)
    if any(weekday(value) >= 0 for value in raw[:100]):
        yield code(f"the day of the week of {key}", weekday)
    yield text_code(f"the sum of the character codes of {key} modulo {k}", partial(_code_sum, k))
    for i, ordinal in ((1, "second"), (2, "third"), (3, "fourth"), (4, "fifth"), (5, "sixth")):
        yield text_code(f"the {ordinal} character of {key}", partial(_character, i))
        yield text_code(f"the {ordinal} last character of {key}", partial(_last_character, i))


def _number_at(place: int, m: int, value: Any) -> int:
    found = integers(value)
    if not -len(found) <= place < len(found):
        return -1
    return found[place] % m if m else found[place]


def _character(place: int, text: str) -> str:
    return text[place : place + 1]


def _last_character(place: int, text: str) -> str:
    return text[-place - 1 : len(text) - place]


def _code_sum(m: int, text: str) -> int:
    return sum(map(ord, text)) % m


_CAPITALS = dict.fromkeys(range(ord("A"), ord("Z") + 1))


def _n_capitals(text: str) -> int:
    # Deleting ASCII letters is much faster than asking each character.
    return len(text) - len(text.translate(_CAPITALS)) if text.isascii() else sum(map(str.isupper, text))


def _letter_count(letter: str, m: int, text: str) -> int:
    return text.casefold().count(letter) % m


def _digit_sum(text: str) -> int:
    return sum(int(c) for c in text if c.isdecimal())


def _eighths_of(key: str) -> Callable[[OptionTable], list[int]]:
    def values(table: OptionTable) -> list[int]:
        raw = raw_fields(table).get(key, [None] * len(table))
        numbers = [float(v) if isinstance(v, int | float) else float((integers(v) or [0])[-1]) for v in raw]
        return _eighths(np.nan_to_num(np.array(numbers)))

    return values


def _eighths(values: Floats) -> list[int]:
    """Return which eighth of the values each value is in."""
    borders = np.quantile(values, np.arange(1, 8) / 8) if len(values) else np.zeros(0)
    return np.searchsorted(borders, values).tolist()


def _is_longer(table: OptionTable) -> list[bool]:
    lengths = np.array([len(q.query) for q in table.questions])
    return (np.diff(lengths, prepend=0) > 0).tolist()


# Places of other options


def _option_places() -> Iterator[Code]:
    sees = ("order", "options")
    for what, score in (
        ("longest option", lambda table: table.lengths),
        ("shortest option", lambda table: -table.lengths),
        ("first option in the alphabet", lambda table: -_alphabetical(table)),
        ("last option in the alphabet", lambda table: _alphabetical(table)),
    ):
        yield Code(f"the place of the {what}", sees, "counts", partial(_place_of_most, score))


def _alphabetical(table: OptionTable) -> Floats:
    texts = np.array([text.casefold().strip() for text in table.distinct_texts])
    return np.unique(texts, return_inverse=True)[1].reshape(-1).astype(np.float64)[table.text_index]


def _place_of_most(score: Callable[[OptionTable], Floats], table: OptionTable) -> list[int]:
    """Return the position of the option with the highest score, the first of several."""
    values = score(table)
    best = values == table.largest(values)[table.question]
    places = np.where(best, table.position, np.iinfo(np.int64).max)
    return np.minimum.reduceat(places, table.offsets[:-1]).tolist() if len(table) else []


# Texts of questions and passages


def _text_codes(what: str, texts_of: Callable[[OptionTable], list[str]], k: int) -> Iterator[Code]:
    def code(name: str, value: Callable[[str], Any]) -> Code:
        def values(table: OptionTable) -> list[Any]:
            known: dict[str, Any] = {}  # passages have several questions
            texts = texts_of(table)
            for text in texts:
                if text not in known:
                    known[text] = value(text)
            return [known[text] for text in texts]

        return Code(name, (what,), what, values)

    def word(text: str, place: int) -> str:
        words = re.findall(r"\w+", text.casefold()[:200] if place >= 0 else text.casefold()[-200:])
        return words[place] if len(words) > max(place, 0) else ""

    yield code(f"the {what}'s first word", lambda text: word(text, 0))
    yield code(f"the {what}'s second word", lambda text: word(text, 1))
    yield code(f"the {what}'s last word", lambda text: word(text, -1))
    yield code(f"the {what}'s first character", lambda text: text[:1])
    yield code(f"the {what}'s last characters", lambda text: text[-2:])
    yield code(
        f"the {what}'s last letter", lambda text: next((c for c in reversed(text.casefold()) if c.isalnum()), "")
    )
    yield code(f"the {what}'s length modulo {k}", lambda text: len(text) % k)
    yield code(f"the {what}'s number of words modulo {k}", lambda text: len(text.split()) % k)
    yield code(f"the {what}'s number of words", lambda text: len(text.split()))
    yield code(f"the {what}'s first character code modulo {k}", lambda text: ord(text[0]) % k if text else -1)
    yield code(f"the sum of the {what}'s character codes modulo {k}", partial(_code_sum, k))
    yield code(f"the sum of the {what}'s digits modulo {k}", lambda text: _digit_sum(text) % k)
    yield code(f"the {what}'s number of commas", lambda text: text.count(",") + text.count("，"))
    yield code(f"the {what}'s number of capitals", lambda text: min(_n_capitals(text), 20))
    yield code(
        f"the {what}'s number of vowels modulo {k}", lambda text: sum(map(text.casefold().count, "aeiou")) % k
    )
    for letter in "eatonis":
        yield code(f"the {what}'s number of '{letter}' modulo {k}", partial(_letter_count, letter, k))

    def size(table: OptionTable) -> list[int]:
        return _eighths(np.array([len(text) for text in texts_of(table)], dtype=np.float64))

    yield Code(f"the {what}'s length (in eighths)", (what,), what, size)
    if what == "passage":
        yield Code("the passage's number of sentences", (what,), what, _n_sentences)
        yield Code(
            f"the passage's number of sentences modulo {k}",
            (what,),
            what,
            lambda table: [n % k for n in _n_sentences(table)],
        )


def _n_sentences(table: OptionTable) -> list[int]:
    counts = {key: len(spans) for key, spans in sentences(table).items()}
    return [counts[id(q.passage)] for q in table.questions]


# Hashes: `int(md5(id).hexdigest(), 16) % 4` is one line


def _digest_parts(name: str) -> dict[str, Callable[[bytes, int], int]]:
    def digest(data: bytes) -> bytes:
        return hashlib.new(name, data, usedforsecurity=False).digest()

    return {
        "": lambda data, k: int.from_bytes(digest(data)) % k,
        " (its first hexadecimal digit)": lambda data, k: digest(data)[0] >> 4,
        " (its second hexadecimal digit)": lambda data, k: digest(data)[0] & 15,
    }


_HASHES: dict[str, dict[str, Callable[[bytes, int], int]]] = {
    "MD5 hash": _digest_parts("md5"),
    "SHA-1 hash": _digest_parts("sha1"),
    "SHA-256 hash": _digest_parts("sha256"),
    "CRC-32 checksum": {"": lambda data, k: zlib.crc32(data) % k},
    "Adler-32 checksum": {"": lambda data, k: zlib.adler32(data) % k},
}


def _each(
    texts_of: Callable[[OptionTable], list[str]], value: Callable[[bytes, int], int], k: int
) -> Callable[[OptionTable], list[int]]:
    def values(table: OptionTable) -> list[int]:
        known: dict[str, int] = {}
        texts = texts_of(table)
        for text in texts:
            if text not in known:
                known[text] = value(text.encode("utf-8", "surrogatepass"), k)
        return [known[text] for text in texts]

    return values


# Options, alone and with the question


def option_codes(table: OptionTable) -> Iterator[Code]:
    """Yield values of each option that may tell whether it is right."""

    def of_texts(name: str, value: Callable[[str], Any]) -> Code:
        def values(own: OptionTable) -> list[Any]:
            known = _of_distinct(own, value)
            return [known[i] for i in own.text_index.tolist()]

        return Code(name, ("options",), "counts", values)

    yield of_texts("its text", lambda text: " ".join(text.casefold().split()))
    yield of_texts("its first character", lambda text: text.lstrip()[:1])
    yield of_texts("its last character", lambda text: text.rstrip()[-1:])
    yield of_texts("its first two characters", lambda text: text.casefold().lstrip()[:2])
    yield of_texts("its last two characters", lambda text: text.casefold().rstrip()[-2:])
    yield of_texts("its last three characters", lambda text: text.casefold().rstrip()[-3:])
    yield of_texts("its first word", lambda text: _first_word(text))
    yield of_texts("its length in characters", len)
    yield of_texts("its length in words", lambda text: len(text.split()))
    yield of_texts("the shape of its words (capitals, letters, digits, marks)", shape)
    yield of_texts("the last digit of its number", lambda text: (re.findall(r"\d", text) or [""])[-1])
    for m in (4, 5, 7):
        yield of_texts(f"the sum of its character codes modulo {m}", partial(_code_sum, m))
    pairs: tuple[tuple[str, Callable[[str], Any], Callable[[str], Any]], ...] = (
        ("the question's first word and its own", _first_word, _first_word),
        ("the question's first word and the shape of its words", _first_word, shape),
        ("the question's first word and its last letters", _first_word, lambda text: text.rstrip(" .")[-2:]),
        ("the question's second word and its last letter", _second_word, lambda text: text.rstrip(" .")[-1:]),
        ("the question's last word and its first letter", _last_word, lambda text: text.casefold().lstrip()[:1]),
        (
            "the question's last letter and its first letter",
            _last_letter,
            lambda text: text.casefold().lstrip()[:1],
        ),
    )
    for name, of_question, of_option in pairs:
        yield Code(name, ("question", "options"), "counts", _pair(of_question, of_option))
    yield Code(
        "the question's first word and its rank by length", ("question", "options"), "counts", _word_and_rank
    )
    yield Code(
        "its position and its rank by length",
        ("order", "options"),
        "counts",
        lambda own: list(zip(own.position.tolist(), own.rank(own.lengths).tolist(), strict=True)),
    )
    yield Code(
        "the number of its mentions in the passage",
        ("passage", "options"),
        "passage",
        lambda own: np.minimum(n_mentions(own), 9).tolist(),
    )
    yield Code(
        "the number of the sentence that mentions it",
        ("passage", "options"),
        "passage",
        lambda own: sentence_of_mention(own)[0].tolist(),
    )


def _of_distinct(table: OptionTable, value: Callable[[str], Any]) -> list[Any]:
    """Return a value of each distinct text; shapes, which take longest, are remembered."""
    if value is not shape:
        return [value(text) for text in table.distinct_texts]
    if "shapes" not in table.memory:
        table.memory["shapes"] = [shape(text) for text in table.distinct_texts]
    return table.memory["shapes"]


def _first_word(text: str) -> str:
    return next(iter(text.casefold().split(maxsplit=1)), "")


def _second_word(text: str) -> str:
    return next(iter(text.casefold().split(maxsplit=2)[1:]), "")


def _last_word(text: str) -> str:
    return (re.findall(r"\w+", text.casefold()) or [""])[-1]


def _last_letter(text: str) -> str:
    return next((c for c in reversed(text.casefold()) if c.isalnum()), "")


def shape(text: str) -> str:
    """Return the kinds of characters of a text, without repetitions: "Aa a 0." of "The year 1984."."""
    text = re.sub(r"\d+", "0", text.strip())
    text = re.sub(r"[^\W\d_]+", lambda found: _case(found[0]), text)
    return re.sub(r"\b(\w+)(?: \1\b)+", r"\1+", text)[:12]


def _case(word: str) -> str:
    return "Aa" if word[0].isupper() and not word[1:].isupper() else "AA" if word.isupper() else "a"


def _pair(of_question: Callable[[str], Any], of_option: Callable[[str], Any]) -> Callable[[OptionTable], list[Any]]:
    def values(own: OptionTable) -> list[Any]:
        asked = [of_question(q.query) for q in own.questions]
        known = _of_distinct(own, of_option)
        pairs = zip(own.question.tolist(), own.text_index.tolist(), strict=True)
        return [(asked[q], known[i]) for q, i in pairs]

    return values


def _word_and_rank(own: OptionTable) -> list[Any]:
    asked = [_first_word(q.query) for q in own.questions]
    return [(asked[q], r) for q, r in zip(own.question.tolist(), own.rank(own.lengths).tolist(), strict=True)]


def position_cells(values: Integers, table: OptionTable) -> Integers:
    """Return the number of each option's cell: its question's value, and its position or its constant class."""
    place = table.position if table.constant_class is None else table.constant_class
    return values[table.question] * 64 + np.minimum(place, 63)
