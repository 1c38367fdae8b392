"""Generated datasets: without any leak in many shapes, and with one planted leak each."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classic_rc.questions import Candidate, Dataset, Passage, Question, Task

Rng = np.random.Generator

_SYLLABLES = "ba ce di fo gu ha ki lo mu ne pa ri so ta vu we yo za".split()


def _vocabulary(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < n:
        words["".join(rng.choice(_SYLLABLES, size=rng.integers(1, 4)))] = None
    return list(words)


_WORDS = np.array(_vocabulary(400, 0))
_HAN = np.array([chr(code) for code in range(0x4E00, 0x4E00 + 400)])


@dataclass
class Draft:
    """A question before it is made; a leak changes it in view of its gold."""

    index: int
    passage: str
    question: str
    options: list[str]
    gold: int
    rng: Rng
    id: str
    before: list[int]  # the gold positions of all earlier questions
    in_passage: list[Draft]  # the earlier questions of the passage
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def wrong(self) -> list[int]:
        return [i for i in range(len(self.options)) if i != self.gold]

    def often(self, share: float) -> bool:
        """Whether the leak applies to this question."""
        return self.rng.random() < share

    def words(self, n: int) -> list[str]:
        return [str(w) for w in self.rng.choice(_WORDS, size=n)]

    def move_gold(self, position: int) -> None:
        """Swap the right option with the one at a position."""
        position %= len(self.options)
        self.options[position], self.options[self.gold] = self.options[self.gold], self.options[position]
        self.gold = position


Leak = Callable[[Draft], None]


def text(rng: Rng, least: int, most: int, han: bool = False) -> str:
    n = int(rng.integers(least, most + 1))
    return "".join(rng.choice(_HAN, size=2 * n)) if han else " ".join(rng.choice(_WORDS, size=n))


def make(
    seed: int, leak: Leak | None = None, *, n: int = 800, k: int = 4, per_passage: int = 4, han: bool = False
) -> Dataset:
    """Single-choice questions with random gold; `leak` changes each of them."""
    rng = np.random.default_rng([seed, 77])
    questions: list[Question] = []
    before: list[int] = []
    drafts: list[Draft] = []
    passage = Passage("", "")
    for i in range(n):
        if i % per_passage == 0:
            stop = "。" if han else ". "
            passage = Passage(
                f"p{i // per_passage}", stop.join(text(rng, 6, 10, han) for _ in range(5)) + stop.strip()
            )
            drafts = []
        options = [text(rng, 1, 6, han) for _ in range(k)]
        draft = Draft(
            i, passage.text, text(rng, 4, 9, han) + "?", options, int(rng.integers(k)), rng, f"q{i}", before, drafts
        )
        if leak is not None:
            leak(draft)
        before.append(draft.gold)
        drafts.append(draft)
        candidates = tuple(map(Candidate, draft.options))
        questions.append(
            Question(
                draft.id,
                passage,
                draft.question,
                candidates,
                frozenset({draft.gold}),
                Task.SINGLE_CHOICE,
                draft.meta,
            )
        )
    return Dataset(questions, f"planted {seed}")


def on_gold(share: float, change: Callable[[str], str]) -> Leak:
    def leak(d: Draft) -> None:
        if d.often(share):
            d.options[d.gold] = change(d.options[d.gold])

    return leak


def on_wrong(share: float, change: Callable[[str], str]) -> Leak:
    def leak(d: Draft) -> None:
        if d.often(share):
            for i in d.wrong:
                d.options[i] = change(d.options[i])

    return leak


def moved(share: float, position: Callable[[Draft], int]) -> Leak:
    def leak(d: Draft) -> None:
        if d.often(share):
            d.move_gold(position(d))

    return leak


def with_meta(key: str, share: float, value: Callable[[Draft], Any], other: Callable[[Draft], Any]) -> Leak:
    def leak(d: Draft) -> None:
        d.meta[key] = value(d) if d.often(share) else other(d)

    return leak


def letter_in_id(d: Draft) -> None:
    d.id = f"q{d.index}-{'ABCD'[d.gold if d.often(0.6) else int(d.rng.integers(4))]}"


def number_in_id(d: Draft) -> None:
    """The id is a multiple of four, plus the position of the right option."""
    own = d.gold if d.often(0.6) else int(d.rng.integers(4))
    d.id = f"{d.index}x_{10_000 + 4 * int(d.rng.integers(10**6)) + own}"


def edits_of_gold(d: Draft) -> None:
    """Each distractor is the right option with one other word changed."""
    words = d.words(6)
    d.options[d.gold] = " ".join(words)
    for i in d.wrong:
        own = list(words)
        own[int(d.rng.integers(6))] = d.words(1)[0]
        d.options[i] = " ".join(own)


def reused_in_passage(d: Draft) -> None:
    """The passage's questions share their distractors."""
    if d.in_passage and d.often(0.7):
        first = d.in_passage[0]
        for i, j in zip(d.wrong, first.wrong, strict=True):
            d.options[i] = first.options[j]


def reused_gold(d: Draft) -> None:
    """Distractors are right options of earlier questions of the passage."""
    if d.in_passage and d.often(0.8):
        for i in d.wrong[:2]:
            other = d.in_passage[int(d.rng.integers(len(d.in_passage)))]
            d.options[i] = other.options[other.gold]


def numbers(place: int) -> Leak:
    def leak(d: Draft) -> None:
        values = sorted(d.rng.choice(900, size=4, replace=False).tolist())
        own = int(values[place]) if d.often(0.45) else int(values[int(d.rng.integers(4))])
        rest = [v for v in values if v != own]
        d.rng.shuffle(rest)
        d.options = [f"{v} {d.words(1)[0]}" for v in rest]
        d.options.insert(d.gold, f"{own} {d.words(1)[0]}")

    return leak


def middle_number(d: Draft) -> None:
    values = sorted(d.rng.choice(900, size=5, replace=False).tolist())
    own = values[2] if d.often(0.5) else values[int(d.rng.integers(5))]
    rest = [v for v in values if v != own]
    d.rng.shuffle(rest)
    d.gold = int(d.rng.integers(5))
    d.options = [str(v) for v in rest]
    d.options.insert(d.gold, str(own))


def never_longest(d: Draft) -> None:
    longest = max(range(len(d.options)), key=lambda i: len(d.options[i]))
    if longest == d.gold:
        other = d.wrong[int(d.rng.integers(3))]
        d.options[d.gold], d.options[other] = d.options[other], d.options[d.gold]


def never_twice(d: Draft) -> None:
    if d.before and d.gold == d.before[-1]:
        d.move_gold(d.gold + 1 + int(d.rng.integers(3)))


def alphabetical(d: Draft) -> None:
    """Options are sorted, except for the right one."""
    rest = sorted(d.options[i] for i in d.wrong)
    d.options = [*rest[: d.gold], d.options[d.gold], *rest[d.gold :]]


def copied(d: Draft) -> None:
    if d.often(0.35):
        words = d.passage.split()
        start = int(d.rng.integers(len(words) - 4))
        d.options[d.gold] = " ".join(words[start : start + 4])


def first_sentence(d: Draft) -> None:
    sentences = d.passage.split(". ")
    for i in range(len(d.options)):
        source = sentences[0 if i == d.gold and d.often(0.5) else 1 + int(d.rng.integers(len(sentences) - 1))]
        d.options[i] = " ".join(source.strip(".").split()[:3])


def word_in_question(d: Draft) -> None:
    if d.often(0.3):
        d.options[d.gold] += " " + d.question.strip("?").split()[1]


def length_of_question(d: Draft) -> None:
    if d.often(0.35):
        d.question = " ".join(d.words(4 + (d.gold - 4) % 4)) + "?"


def list_in_meta(d: Draft) -> None:
    values = d.rng.random(4)
    if d.often(0.5):
        values[d.gold] = 2.0
    d.meta["votes"] = values.round(3).tolist()


def shuffled_words(d: Draft) -> None:
    """Distractors repeat a word."""
    for i in d.wrong:
        if d.often(0.4):
            d.options[i] += " " + d.options[i].split()[0]


def longer(d: Draft) -> None:
    if d.often(0.45):
        d.options[d.gold] += " " + " ".join(d.words(4))


def even_length(d: Draft) -> None:
    while d.often(0.8) and len(d.options[d.gold]) % 2:
        d.options[d.gold] = " ".join(d.words(int(d.rng.integers(1, 7))))


def second_longest(d: Draft) -> None:
    if d.often(0.35):
        place = sorted(range(4), key=lambda i: len(d.options[i]))[-2]
        d.options[d.gold], d.options[place] = d.options[place], d.options[d.gold]


def remainder(d: Draft) -> None:
    """The right option has a number of characters that 3 divides."""
    while d.often(0.8) and len(d.options[d.gold]) % 3:
        d.options[d.gold] = " ".join(d.words(int(d.rng.integers(1, 7))))


def first_letter_of_passage(d: Draft) -> None:
    if d.often(0.4):
        d.options[d.gold] = d.passage[0] + d.options[d.gold][1:]


def last_letter_of_question(d: Draft) -> None:
    """All options get a word; that of the right one often ends as the question does."""
    own = [word for word in d.words(30) if word[-1] == d.question.strip("?")[-1]]
    for i in range(len(d.options)):
        d.options[i] += " " + (own[0] if own and i == d.gold and d.often(0.5) else d.words(1)[0])


def british(d: Draft) -> None:
    pairs = [("colour", "color"), ("theatre", "theater"), ("realise", "realize"), ("favourite", "favorite")]
    place = int(d.rng.integers(len(pairs)))
    for i in range(len(d.options)):
        is_british = i == d.gold if d.often(0.4) else d.rng.random() < 0.5
        d.options[i] += " " + pairs[place][0 if is_british else 1]


def answer_in_next_question(d: Draft) -> None:
    if d.in_passage and d.often(0.6):
        before = d.in_passage[-1]
        d.question = f"{d.question.strip('?')} {before.options[before.gold]}?"


def each_letter_once(d: Draft) -> None:
    """No two answers of a passage are at the same position."""
    free = set(range(4)) - {other.gold for other in d.in_passage}
    if free and d.often(0.8):
        d.move_gold(sorted(free)[int(d.rng.integers(len(free)))])


def second_sentence(d: Draft) -> None:
    sentences = d.passage.split(". ")
    for i in range(len(d.options)):
        source = sentences[1 if i == d.gold and d.often(0.5) else [0, 2, 3, 4][int(d.rng.integers(4))]]
        d.options[i] = " ".join(source.strip(".").split()[:3])


def article_of_question(d: Draft) -> None:
    """The question ends with an article, and the right option goes with it."""
    wants_vowel = d.often(0.5)
    d.question = f"{d.question.strip('?')} {'an' if wants_vowel else 'a'}"
    for i in range(len(d.options)):
        has_vowel = wants_vowel if i == d.gold and d.often(0.8) else d.often(0.5)
        d.options[i] = ("aeiou"[int(d.rng.integers(5))] if has_vowel else "") + d.options[i]


def nested_meta(d: Draft) -> None:
    own = d.gold if d.often(0.4) else int(d.rng.integers(4))
    d.meta["info"] = {"n": int(d.rng.integers(900)), "source": {"key": own, "page": int(d.rng.integers(90))}}


def votes_by_letter(d: Draft) -> None:
    values = d.rng.random(4)
    if d.often(0.4):
        values[d.gold] = 2.0
    d.meta["votes"] = dict(zip("ABCD", values.round(3).tolist(), strict=True))


def day_of_week(d: Draft) -> None:
    own = d.gold if d.often(0.4) else int(d.rng.integers(4))
    day = datetime.date(2024, 1, 1) + datetime.timedelta(
        7 * int(d.rng.integers(200)) + own
    )  # a Monday, plus 0 to 3
    d.meta["date"] = day.isoformat()


def sorted_in_meta(d: Draft) -> None:
    """The meta data list the options, the right one first."""
    first = d.gold if d.often(0.4) else int(d.rng.integers(4))
    d.meta["all"] = [d.options[first], *(o for i, o in enumerate(d.options) if i != first)]


def in_meta(form: Callable[[str], Any]) -> Leak:
    """Four of ten entries `key` are a form of the right option, the others of any option."""
    return with_meta(
        "key", 0.4, lambda d: form(d.options[d.gold]), lambda d: form(d.options[int(d.rng.integers(4))])
    )


def spans_of_passage(d: Draft) -> list[int]:
    """Make all options two words of the passage each; return where in its words they start."""
    words = d.passage.split()
    starts = d.rng.choice(len(words) // 2 - 1, size=len(d.options), replace=False) * 2
    d.options = [" ".join(words[i : i + 2]).strip(".") for i in starts]
    return [int(i) for i in starts]


def end_in_meta(d: Draft) -> None:
    words, starts = d.passage.split(), spans_of_passage(d)
    place = d.gold if d.often(0.4) else int(d.rng.integers(4))
    before = " ".join(words[: starts[place]])
    d.meta["end"] = len(before) + bool(before) + len(d.options[place])


def word_in_meta(d: Draft) -> None:
    starts = spans_of_passage(d)
    d.meta["word"] = starts[d.gold if d.often(0.4) else int(d.rng.integers(4))]


def starts_sentence(d: Draft) -> None:
    spans_of_passage(d)
    if d.often(0.4):
        sentence = d.passage.split(". ")[int(d.rng.integers(5))]
        d.options[d.gold] = " ".join(sentence.split()[:2])


def after_the_longest(d: Draft) -> None:
    if d.often(0.5):
        longest = max(range(4), key=lambda i: len(d.options[i]))
        if longest == d.gold:
            other = d.wrong[0]
            d.options[longest], d.options[other] = d.options[other], d.options[longest]
            longest = other
        d.move_gold(longest + 1)


def shifted(text: str) -> str:
    return "".join(chr(ord("a") + (ord(c) - ord("a") + 3) % 26) if c.isalpha() else c for c in text)


def spelling_mixture(d: Draft) -> None:
    """Many small signs, none of them frequent: only a learner sees all of them."""
    if d.often(0.5):
        sign = "xqj"[int(d.rng.integers(3))] + "aeiou"[int(d.rng.integers(5))]
        own = d.options[d.gold]
        place = int(d.rng.integers(len(own) + 1))
        d.options[d.gold] = own[:place] + sign + own[place:]


@dataclass(frozen=True)
class Planted:
    """A leak and the names of findings that name it."""

    leak: Leak
    names: tuple[str, ...]
    verdict: str = "artifact"
    k: int = 4


_UPPER = "starts with a capital"

_MARK = ("ends with '.'", "ends with a punctuation mark", "has the character '.'")

PLANTED: dict[str, Planted] = {
    # the leaks that the check did not see before
    "final full stop": Planted(on_gold(0.6, lambda t: t + "."), _MARK),
    "capital": Planted(
        on_gold(0.6, str.capitalize), (_UPPER, "is the one with the most capitals", "has every word capitalised")
    ),
    "trailing space": Planted(
        on_gold(0.6, lambda t: t + " "), ("ends with white space", "ends with space (U+0020)")
    ),
    "distractors edit gold": Planted(
        edits_of_gold,
        (
            "is the one from which most others differ in one word",
            "is the one most like the others in words",
            "is the one most like the others in spelling",
            "is never or seldom the odd one out in words",
        ),
    ),
    "distractors reused in the passage": Planted(
        reused_in_passage,
        (
            "is not an option of another question of the passage",
            "is the one that fewest questions of the passage have",
            "is the one that fewest questions have",
        ),
    ),
    "gold reused as distractor": Planted(
        reused_gold,
        (
            "is an option of another question of the passage",
            "is not an option of another question of the passage",
            "is the one that fewest questions of the passage have",
            "was not right in an earlier question of the passage",
        ),
    ),
    "middle number": Planted(middle_number, ("is the middle number",), k=4),
    "smallest number": Planted(numbers(0), ("is the smallest number",)),
    "largest number": Planted(numbers(3), ("is the largest number",)),
    "letter in the id": Planted(
        letter_in_id, ("has its letter in id", "position by the last character of id", "has its text in id")
    ),
    "id modulo 4": Planted(
        number_in_id,
        (
            "position by the number in id modulo 4",
            "position by the last character of id",
            "position by the parity of the number in id",
        ),
    ),
    "letter in meta": Planted(
        with_meta("key", 0.6, lambda d: "abcd"[d.gold], lambda d: "abcd"[int(d.rng.integers(4))]),
        ("has its letter in meta key",),
    ),
    "index in meta": Planted(
        with_meta("n", 0.6, lambda d: d.gold + 1, lambda d: int(d.rng.integers(1, 5))),
        ("has its number in meta n, from 1",),
    ),
    "text in meta": Planted(
        with_meta("note", 0.5, lambda d: f"see {d.options[d.gold]} there", lambda d: ""),
        ("has its text in meta note",),
    ),
    "never the longest": Planted(never_longest, ("is never or seldom the longest in characters",)),
    "longer": Planted(longer, ("is the longest in characters", "is the longest in words")),
    "first option": Planted(moved(0.3, lambda d: 0), ("is option 1",)),
    "ABCD": Planted(
        moved(0.4, lambda d: d.index),
        (
            "position by the question's number modulo 4",
            "is where the answer to the question before is, plus 1",
            "position by the question's number in its passage",
            "position by the question's number modulo 8",
        ),
    ),
    "never the same letter twice": Planted(
        never_twice, ("is never or seldom where the answer to the question before is",)
    ),
    "a word": Planted(
        on_gold(0.3, lambda t: f"{t} indeed"), ("has the word 'indeed'", "ends with the word 'indeed'")
    ),
    "a hedge": Planted(
        on_gold(0.35, lambda t: f"usually {t}"),
        ("has a hedge (usually, some, may)", "has the word 'usually'", "starts with the word 'usually'"),
    ),
    "distractors are absolute": Planted(
        on_wrong(0.5, lambda t: f"always {t}"),
        ("has no absolute (always, never, all)", "lacks the word 'always'", "does not start with 'always'"),
    ),
    "copied from the passage": Planted(
        copied,
        (
            "is the one with the longest run of words from the passage",
            "is in the passage word for word",
            "is the one with the largest share copied from the passage",
            "is the one that the passage mentions most often",
        ),
        "shortcut",
    ),
    "from the first sentence": Planted(
        first_sentence,
        ("is the one with most of its words in the first sentence", "is mentioned first in the passage"),
        "shortcut",
    ),
    # others
    "no-break space": Planted(
        on_gold(0.4, lambda t: t.replace(" ", "\u00a0") + "\u00a0"),
        (
            "has an odd blank or an invisible character",
            "has the character no-break space (U+00A0)",
            "ends with white space",
            "ends with no-break space (U+00A0)",
            "has a character beyond ASCII",
            "is the one with the largest share beyond ASCII",
        ),
    ),
    "zero-width space": Planted(
        on_gold(0.3, lambda t: t + "\u200b"),
        (
            "has an odd blank or an invisible character",
            "has the character zero width space (U+200B)",
            "ends with zero width space (U+200B)",
            "has a character beyond ASCII",
            "is the one with the largest share beyond ASCII",
        ),
    ),
    "Cyrillic letter": Planted(
        on_gold(0.4, lambda t: t.replace("a", "а")),
        ("has the character 'а'", "has a character beyond ASCII", "is the one with the largest share beyond ASCII"),
    ),
    "even length": Planted(even_length, ("has an even number of characters",)),
    "sorted but for gold": Planted(alphabetical, ("is out of alphabetical order",)),
    "question's word": Planted(
        word_in_question,
        (
            "is the one with the most words of the question",
            "is in the question",
            "is the one with the largest share of words of the question",
        ),
    ),
    "question's length": Planted(
        length_of_question,
        ("position by the question's number of words modulo 4", "position by the question's number of words"),
    ),
    "votes in meta": Planted(list_in_meta, ("has the largest number in meta votes",)),
    "distractors repeat a word": Planted(shuffled_words, ("repeats no word",)),
    "double blank": Planted(on_gold(0.6, lambda t: t.replace(" ", "  ")), ("has two blanks in a row",)),
    "quotation marks": Planted(
        on_gold(0.35, lambda t: f'"{t}"'),
        (
            "has quotation marks",
            "has the character '\"'",
            "ends with '\"'",
            "starts with a punctuation mark",
            "ends with a punctuation mark",
            "is the one with the most punctuation",
        ),
    ),
    "rare spellings": Planted(
        spelling_mixture,
        ("is the one with the rarest words", "option characters", "all surface cues of the options"),
    ),
    "second longest": Planted(second_longest, ("is the second longest in characters",)),
    "length modulo 3": Planted(remainder, ("has a number of characters that leaves 0 when divided by 3",)),
    "passage's first letter": Planted(
        first_letter_of_passage, ("starts with the passage's first letter",), "shortcut"
    ),
    "question's last letter": Planted(last_letter_of_question, ("ends with the question's last letter",)),
    "British spelling": Planted(british, ("has a British spelling", "has no American spelling")),
    "answer in the next question": Planted(
        answer_in_next_question,
        (
            "is in the text of another question of the passage",
            "is the one with the most words of the passage's other questions",
        ),
    ),
    "each letter once in a passage": Planted(
        each_letter_once, ("is the position least often right before in the passage",)
    ),
    "second sentence": Planted(
        second_sentence,
        ("is mentioned in the second sentence", "counts of the number of the sentence that mentions it"),
        "shortcut",
    ),
    "a or an": Planted(article_of_question, ("counts of the question's last word and its first letter",)),
    "MD5 of the id": Planted(
        moved(0.4, lambda d: int(hashlib.md5(d.id.encode()).hexdigest(), 16)),
        (
            "position by the MD5 hash of the id modulo 4",
            "position by the MD5 hash of the passage id modulo 4",
        ),
    ),
    "key in nested meta": Planted(
        nested_meta, ("has its number in meta info.source.key, from 0", "position by meta info.source.key")
    ),
    "votes by letter in meta": Planted(votes_by_letter, ("has the largest number in meta votes",)),
    "day of the week in meta": Planted(day_of_week, ("position by the day of the week of meta date",)),
    "sorted in meta": Planted(sorted_in_meta, ("is the first text in meta all", "has its text in meta all[0]")),
    "MD5 of the answer in meta": Planted(
        with_meta(
            "check",
            0.4,
            lambda d: hashlib.md5(d.options[d.gold].encode()).hexdigest(),
            lambda d: hashlib.md5(d.options[int(d.rng.integers(4))].encode()).hexdigest(),
        ),
        ("has its text, as MD5, in meta check",),
    ),
    "length in meta": Planted(
        with_meta(
            "size",
            0.4,
            lambda d: len(d.options[d.gold]),
            lambda d: len(d.options[int(d.rng.integers(4))]),
        ),
        ("has as many characters as meta size says",),
    ),
    "cut digest in meta": Planted(
        in_meta(lambda text: hashlib.sha512(text.encode()).hexdigest()[:12]),
        ("has its text, as SHA-512, in meta key",),
    ),
    "beginning in meta": Planted(in_meta(lambda text: text[:3]), ("starts with the text of meta key",)),
    "shifted alphabet in meta": Planted(
        in_meta(shifted), ("has its text, in a shifted alphabet (as in ROT13), in meta key",)
    ),
    "sum of codes in meta": Planted(
        in_meta(lambda text: sum(map(ord, text))), ("has the sum of character codes that meta key says",)
    ),
    "end in meta": Planted(end_in_meta, ("ends in the passage at the character that meta end gives",), "shortcut"),
    "word number in meta": Planted(
        word_in_meta, ("is in the passage at the word that meta word gives",), "shortcut"
    ),
    "starts a sentence": Planted(starts_sentence, ("starts a sentence of the passage",), "shortcut"),
    "after the longest": Planted(after_the_longest, ("position by the place of the longest option",)),
    "words in order": Planted(
        on_gold(0.6, lambda text: " ".join(sorted(text.split()))), ("has its words in alphabetical order",)
    ),
    "stretches of the data": Planted(
        moved(0.4, lambda d: d.index // 80),  # of 800 questions, tenths
        (
            "position by the quarter of the data that the question is in",
            "position by the tenth of the data that the question is in",
        ),
    ),
    "all of the above": Planted(
        on_gold(0.25, lambda t: "all of the above"),
        (
            "is all or none of the above",
            "has an absolute (always, never, all)",
            "has the word 'above'",
            "has the word 'all'",
            "starts with the word 'all'",
            "ends with the word 'above'",
            "has the word 'the'",
            "has the word 'of'",
        ),
    ),
}
"""Each leak has a gain of at least 15 points (or, for what right options never are, a loss of as much)."""


# Data without a leak


def null_dataset(seed: int) -> Dataset:
    """A dataset whose gold says nothing: 2 to 10 options, yes and no, several right, Chinese, tiny, balanced."""
    rng = np.random.default_rng([seed, 5])
    shape = seed % 8
    n = int(rng.choice([40, 120, 300, 600]))
    if shape == 0:
        return make(seed, n=n, k=int(rng.integers(2, 11)))
    if shape == 1:
        return _relabelled(make(seed, n=n, k=2), rng, yes=float(rng.choice([0.5, 0.65, 0.8])))
    if shape == 2:
        return _several(make(seed, n=n, k=5), rng)
    if shape == 3:
        return make(seed, n=n, han=True)
    if shape == 4:
        return make(seed, n=int(rng.integers(8, 30)), k=int(rng.integers(2, 6)))
    if shape == 5:
        return _balanced(make(seed, n=n, k=int(rng.integers(2, 6))), rng)
    if shape == 6:
        return _with_fields(make(seed, n=n), rng)
    return _relabelled(make(seed, n=n, k=2), rng, yes=None)


def _relabelled(dataset: Dataset, rng: Rng, yes: float | None) -> Dataset:
    """Yes-or-no questions, with a share of yes; None for exactly as many yes as no."""
    n = len(dataset)
    gold = rng.permutation(np.arange(n) % 2) if yes is None else (rng.random(n) > yes).astype(int)
    options = (Candidate("yes"), Candidate("no"))
    return Dataset(
        [
            Question(q.id, q.passage, q.text, options, frozenset({int(g)}), q.task)
            for q, g in zip(dataset, gold, strict=True)
        ],
        dataset.name,
    )


def _several(dataset: Dataset, rng: Rng) -> Dataset:
    questions = []
    for q in dataset:
        candidates = q.candidates[: int(rng.integers(2, 6))]
        gold = frozenset(np.flatnonzero(rng.random(len(candidates)) < 0.45).tolist())
        questions.append(Question(q.id, q.passage, q.text, candidates, gold, Task.MULTIPLE_ANSWER))
    return Dataset(questions, dataset.name)


def _balanced(dataset: Dataset, rng: Rng) -> Dataset:
    """Every position is right equally often."""
    golds = rng.permutation(np.arange(len(dataset)) % len(dataset[0].candidates)).tolist()
    return Dataset(
        [
            Question(q.id, q.passage, q.text, q.candidates, frozenset({g}), q.task)
            for q, g in zip(dataset, golds, strict=True)
        ],
        dataset.name,
    )


def _with_fields(dataset: Dataset, rng: Rng) -> Dataset:
    """Many fields that say nothing."""
    questions = []
    for q in dataset:
        meta = {
            f"f{i}": [
                int(rng.integers(4)),
                "abcd"[int(rng.integers(4))],
                rng.random(4).round(2).tolist(),
                str(rng.random()),
            ][i % 4]
            for i in range(12)
        }
        questions.append(Question(q.id, q.passage, q.text, q.candidates, q.gold, q.task, meta))
    return Dataset(questions, dataset.name)
