"""Rules that compare options with the question, or with the passage (shortcuts)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from classic_rc.audit.options import Floats, Integers, OptionTable
from classic_rc.audit.rules.fields import text_in
from classic_rc.audit.rules.partial_input import Measure, PartialInput, has, ordered, shares
from classic_rc.audit.rules.similarity import trigrams
from classic_rc.kernels.arrays import distinct, is_in, longest_runs, runs_of
from classic_rc.questions import Passage, normalised_text
from classic_rc.text.encode import TextEncoder, encode
from classic_rc.text.sentences import passage_sentences

# The question's words in the option: the passage is not seen


_BLOCK_CHARACTERS = 2**21


def _question_overlap(table: OptionTable) -> Floats:
    if "question overlap" not in table.memory:
        asked = [q.query for q in table.questions]
        table.memory["question overlap"] = table.count_shared(asked, np.arange(len(asked)))
    return table.memory["question overlap"]


def _in_question(table: OptionTable) -> Floats:
    return text_in([q.query for q in table.questions])(table)


def _question_trigrams(table: OptionTable) -> Floats:
    """Return the share of the option's different trigrams of letters that the question has."""
    asked = [q.query for q in table.questions]
    result = np.zeros(len(table.texts))
    loads = np.array([len(text) for text in asked], dtype=np.int64) + table.sum(table.lengths).astype(np.int64)
    for start, stop in runs_of(loads, _BLOCK_CHARACTERS):
        first, last = table.offsets[start], table.offsets[stop]
        items, offsets, n_items = trigrams([*table.texts[first:last], *asked[start:stop]])
        keys = distinct(np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) * n_items + items)
        option, item = np.divmod(keys[: np.searchsorted(keys, (last - first) * n_items)], n_items)
        question = last - first + table.question[first + option] - start
        found = is_in(question * n_items + item, keys)
        shared, different = (np.bincount(own, minlength=last - first) for own in (option[found], option))
        result[first:last] = shared / np.maximum(different, 1)
    return result.round(9)


def _length_from_question(table: OptionTable) -> Floats:
    lengths = np.array([len(q.query) for q in table.questions], dtype=np.float64)
    return np.abs(table.lengths - lengths[table.question])


def _words_from_question(table: OptionTable) -> Floats:
    counts = np.diff(TextEncoder(table.analyzer).encode([q.query for q in table.questions])[1])
    return np.abs(table.word_counts - counts[table.question])


def _edge(text: str, place: int) -> str:
    return next((c.casefold() for c in (text if place == 0 else reversed(text)) if c.isalnum()), "")


def _same_letter(texts_of: Callable[[OptionTable], list[str]], own: int, other: int) -> Measure:
    """Whether the option's first (0) or last (-1) letter is the first or last letter of another text."""

    def score(table: OptionTable) -> NDArray[np.bool_]:
        number: dict[str, int] = {"": -1}
        mine = [number.setdefault(_edge(text, own), len(number)) for text in table.distinct_texts]
        texts = texts_of(table)
        others = {text: number.get(_edge(text, other), -2) for text in set(texts)}
        wanted = np.array([others[text] for text in texts], dtype=np.int64)
        letters = np.array(mine, dtype=np.int64)[table.text_index]
        return (letters == wanted[table.question]) & (letters >= 0)

    return score


def _questions(table: OptionTable) -> list[str]:
    return [q.text for q in table.questions]


def _passages(table: OptionTable) -> list[str]:
    return [q.passage.text for q in table.questions]


def _letter_rules(
    what: str, texts_of: Callable[[OptionTable], list[str]], group: str, sees: tuple[str, ...]
) -> Iterator[PartialInput]:
    for verb, own in (("start", 0), ("end", -1)):
        for name, other in (("first", 0), ("last", -1)):
            letter = f"with the {what}'s {name} letter"
            yield has(
                f"{verb}s {letter}", group, f"does not {verb} {letter}", _same_letter(texts_of, own, other), sees
            )


QUESTION_RULES: tuple[PartialInput, ...] = (
    *ordered(
        _question_overlap,
        "question",
        "one with the most words of the question",
        "one with the fewest words of the question",
        ("options", "question"),
    ),
    *ordered(
        shares(_question_overlap, lambda t: t.word_counts),
        "question",
        "one with the largest share of words of the question",
        "one with the smallest share of words of the question",
        ("options", "question"),
    ),
    has("is in the question", "question", "is not in the question", _in_question, ("options", "question")),
    *ordered(
        _question_trigrams,
        "question",
        "one spelled most like the question",
        "one spelled least like the question",
        ("options", "question"),
    ),
    *ordered(
        _length_from_question,
        "question",
        "one whose length differs most from the question's",
        "one whose length is nearest to the question's",
        ("options", "question"),
    ),
    *ordered(
        _words_from_question,
        "question",
        "one whose number of words differs most from the question's",
        "one whose number of words is nearest to the question's",
        ("options", "question"),
    ),
    *_letter_rules("question", _questions, "question", ("options", "question")),
)


# The passage without the question: shortcuts

PASSAGE = ("passage", "options")


def _different_passages(table: OptionTable) -> tuple[list[Passage], Integers]:
    """Return the different passages, and the place of each question's passage among them."""
    own = {id(q.passage): q.passage for q in table.questions}
    place = {key: i for i, key in enumerate(own)}
    return list(own.values()), np.array([place[id(q.passage)] for q in table.questions], dtype=np.int64)


def _mentions(table: OptionTable) -> tuple[Floats, Floats]:
    """Return how often the passage mentions each option, and where first; 0 and -1 without a mention."""
    if "mentions" not in table.memory:
        texts = [normalised_text(text).strip(" .,;:!?。") for text in table.distinct_texts]
        passages, index = _different_passages(table)
        count, first = np.zeros(len(table.texts)), np.full(len(table.texts), -1.0)
        option_texts, starts = table.text_index.tolist(), table.offsets.tolist()
        folded, last = "", -1
        for q in np.argsort(index, kind="stable").tolist():  # so only one passage is folded at a time
            if index[q] != last:
                last = index[q]
                folded = normalised_text(passages[last].text)
            for i in range(starts[q], starts[q + 1]):
                text = texts[option_texts[i]]
                place = folded.find(text) if text else -1
                if place >= 0:
                    count[i], first[i] = folded.count(text), place
        table.memory["mentions"] = count, first
    return table.memory["mentions"]


def n_mentions(table: OptionTable) -> Floats:
    """Return how often the passage mentions each option."""
    return _mentions(table)[0]


def _mention_places(table: OptionTable) -> Floats:
    return _mentions(table)[1]


def _first_mention(sign: int) -> Callable[[OptionTable], Floats]:
    """Options that the passage does not mention come last in both directions."""

    def score(table: OptionTable) -> Floats:
        places = _mention_places(table)
        return np.where(places >= 0, sign * places, -1e9)

    return score


def _mention_rank(rank: Callable[[Floats], Floats], at_least: int) -> Callable[[OptionTable], Floats]:
    """Prefer a rank among the mentioned options, which is given for their number."""

    def score(table: OptionTable) -> Floats:
        places = _mention_places(table)
        is_mentioned = places >= 0
        count = table.sum(is_mentioned.astype(np.float64))[table.question]
        ranks = table.rank(np.where(is_mentioned, places, np.inf))
        own = np.where(is_mentioned, -np.abs(ranks - rank(count)), -1e3)
        return np.where(count >= at_least, own, 0.0)

    return score


def _from_middle(table: OptionTable) -> Floats:
    """Return how far the first mention is from the middle of the passage; options without one are the farthest."""
    places = _mention_places(table)
    middle = np.array([len(q.passage.text) / 2 for q in table.questions])
    return np.where(places >= 0, np.abs(places - middle[table.question]), 1e9)


def sentences(table: OptionTable) -> dict[int, list[tuple[int, int]]]:
    """Return the sentences of each passage, by its identity; none for a passage without text."""
    if "sentences" not in table.memory:
        own = {id(q.passage): q.passage for q in table.questions}
        table.memory["sentences"] = {key: list(passage_sentences(passage)) for key, passage in own.items()}
    return table.memory["sentences"]


def sentence_of_mention(table: OptionTable) -> tuple[Integers, Floats]:
    """Return the number of the sentence that mentions each option first (-1 without one), and its length."""
    if "sentence of mention" not in table.memory:
        cut = sentences(table)
        number, length = np.full(len(table.texts), -1, dtype=np.int64), np.zeros(len(table.texts))
        places = _mention_places(table)
        for i in np.flatnonzero(places >= 0).tolist():
            spans = cut[id(table.questions[int(table.question[i])].passage)]  # a mention is in a sentence
            # Folding case and blanks moves few places, so the sentence is nearly always the right one.
            which = max(bisect_right(spans, (int(places[i]), 1 << 60)) - 1, 0)
            number[i], length[i] = which, spans[which][1] - spans[which][0]
        table.memory["sentence of mention"] = number, length
    return table.memory["sentence of mention"]


_PLACES = {1: "second", 2: "third", 3: "fourth", -2: "last but one"}


def _mentioned_in(which: int) -> Measure:
    def score(table: OptionTable) -> NDArray[np.bool_]:
        number = sentence_of_mention(table)[0]
        if which >= 0:
            return number == which
        cut = sentences(table)
        counts = np.array([max(len(cut[id(q.passage)]), 1) for q in table.questions])
        return (number >= 0) & (number == (counts + which)[table.question])

    return score


def _at_edge(edge: Callable[[str, str], bool]) -> Measure:
    """Whether a sentence of the passage starts or ends with the option."""

    def score(table: OptionTable) -> NDArray[np.bool_]:
        passages, index = _different_passages(table)
        cut = sentences(table)
        result = np.zeros(len(table.texts), dtype=np.bool_)
        last, own = -1, []
        mentioned = np.flatnonzero(n_mentions(table) > 0)
        for i in mentioned[np.argsort(index[table.question[mentioned]], kind="stable")].tolist():
            place = index[table.question[i]]
            if place != last:
                last, passage = place, passages[place]
                own = [_bare(passage.text[start:end]) for start, end in cut[id(passage)]]
            text = _bare(table.texts[i])
            result[i] = any(edge(sentence, text) for sentence in own)
        return result

    return score


def _bare(text: str) -> str:
    return normalised_text(text).strip(" .,;:!?。！？\"'")


def _in_sentence(which: int) -> Callable[[OptionTable], Floats]:
    """The option's words in the first or the last sentence of the passage."""

    def score(table: OptionTable) -> Floats:
        passages, index = _different_passages(table)
        cut = sentences(table)
        texts = [
            passage.text[slice(*(cut[id(passage)] or [(0, len(passage.text))])[which])] for passage in passages
        ]
        return (table.count_shared(texts, index) / np.maximum(table.word_counts, 1)).round(9)

    return score


def _runs(table: OptionTable) -> Floats:
    """Return the longest run of words that option and passage share."""
    if "runs" not in table.memory:
        encoded = encode(table.memory.get("questions", table.dataset), table.analyzer)
        runs = longest_runs(encoded.arrays).astype(np.float64)
        scores = encoded.scores(runs, runs > 0)
        table.memory["runs"] = flatten_scores(table, scores.values, scores.offsets)
    return table.memory["runs"]


def flatten_scores(table: OptionTable, values: Floats, offsets: Integers) -> Floats:
    """Return a solver's scores for the options of a table; a cloze option gets the best of its mentions."""
    if len(values) == len(table.texts):
        return values
    from classic_rc.metrics.squad import normalise_squad_answer

    result = np.full(len(table.texts), -np.inf)
    for q, row in enumerate(table.rows.tolist()):
        places: dict[str, int] = {}
        for candidate, value in zip(table.dataset[row].candidates, values[offsets[row] :].tolist(), strict=False):
            place = places.setdefault(normalise_squad_answer(candidate.text), len(places))
            where = int(table.offsets[q]) + place
            result[where] = max(result[where], value)
    return result


def _run_share(table: OptionTable) -> Floats:
    return (_runs(table) / np.maximum(table.word_counts, 1)).round(9)


def _passage_share(table: OptionTable) -> Floats:
    """Return the share of the option's different words that are in the passage."""
    passages, index = _different_passages(table)
    shared = table.count_shared([passage.text for passage in passages], index)
    return (shared / np.maximum(table.n_different_words, 1)).round(9)


def _frequent_in_passage(table: OptionTable) -> Floats:
    """Return how often the passage has the option's words, on average."""
    passages, index = _different_passages(table)
    uses = table.count_uses([passage.text for passage in passages], index)
    return (uses / np.maximum(table.word_counts, 1)).round(9)


_NAME = re.compile(r"(?<![.!?。！？\"'”’»\s])\s+([^\W\d_a-z]\w+)")
_FIGURE = re.compile(r"\d+")


def _shares_with_passage(pattern: re.Pattern[str]) -> Measure:
    """Whether the option has a word (as the pattern finds them in passages) of its passage."""

    def score(table: OptionTable) -> Floats:
        passages, index = _different_passages(table)
        return table.count_shared([" ".join(pattern.findall(passage.text)) for passage in passages], index)

    return score


PASSAGE_RULES: tuple[PartialInput, ...] = (
    *ordered(
        _runs,
        "passage",
        "one with the longest run of words from the passage",
        "one with the shortest run of words from the passage",
        PASSAGE,
    ),
    *ordered(
        _run_share,
        "passage",
        "one with the largest share copied from the passage",
        "one with the smallest share copied from the passage",
        PASSAGE,
    ),
    *ordered(
        _passage_share,
        "passage",
        "one with the largest share of words of the passage",
        "one with the smallest share of words of the passage",
        PASSAGE,
    ),
    has("is in the passage word for word", "passage", "is not in the passage word for word", n_mentions, PASSAGE),
    *ordered(
        n_mentions,
        "passage",
        "one that the passage mentions most often",
        "one that the passage mentions least often",
        PASSAGE,
    ),
    PartialInput(
        "is mentioned first in the passage",
        PASSAGE,
        "passage",
        "is mentioned first in the passage",
        "is never or seldom mentioned first in the passage",
        _first_mention(-1),
    ),
    PartialInput(
        "is mentioned last in the passage",
        PASSAGE,
        "passage",
        "is mentioned last in the passage",
        "is never or seldom mentioned last in the passage",
        _first_mention(1),
    ),
    *(
        PartialInput(
            f"is mentioned {name} in the passage",
            PASSAGE,
            "passage",
            f"is mentioned {name} in the passage",
            f"is never or seldom mentioned {name} in the passage",
            _mention_rank(rank, at_least),
        )
        for name, rank, at_least in (
            ("second", lambda n: np.ones_like(n), 3),
            ("last but one", lambda n: n - 2, 4),
            ("in the middle", lambda n: (n - 1) / 2, 3),
        )
    ),
    *(
        has(
            f"is mentioned in the {name} sentence",
            "passage",
            f"is not mentioned in the {name} sentence",
            _mentioned_in(which),
            PASSAGE,
        )
        for which, name in _PLACES.items()
    ),
    PartialInput(
        "is mentioned nearest to the middle of the passage",
        PASSAGE,
        "passage",
        "is mentioned nearest to the middle of the passage",
        "is never or seldom mentioned nearest to the middle of the passage",
        lambda t: -_from_middle(t),
    ),
    *ordered(
        lambda t: sentence_of_mention(t)[1],
        "passage",
        "one that the longest sentence mentions",
        "one that the shortest sentence mentions",
        PASSAGE,
    ),
    *ordered(
        _frequent_in_passage,
        "passage",
        "one with the words that the passage has most often",
        "one with the words that the passage has least often",
        PASSAGE,
    ),
    has("has a name of the passage", "passage", "has no name of the passage", _shares_with_passage(_NAME), PASSAGE),
    has(
        "has a number of the passage",
        "passage",
        "has no number of the passage",
        _shares_with_passage(_FIGURE),
        PASSAGE,
    ),
    has(
        "starts a sentence of the passage",
        "passage",
        "starts no sentence of the passage",
        _at_edge(str.startswith),
        PASSAGE,
    ),
    has(
        "ends a sentence of the passage",
        "passage",
        "ends no sentence of the passage",
        _at_edge(str.endswith),
        PASSAGE,
    ),
    *ordered(
        _in_sentence(0),
        "passage",
        "one with most of its words in the first sentence",
        "one with fewest of its words in the first sentence",
        PASSAGE,
    ),
    *ordered(
        _in_sentence(-1),
        "passage",
        "one with most of its words in the last sentence",
        "one with fewest of its words in the last sentence",
        PASSAGE,
    ),
    *_letter_rules("passage", _passages, "passage", PASSAGE),
)
