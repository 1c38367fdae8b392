"""The edits of perturbations: what each one drops, shuffles or replaces.

**Function words** are the words of a stop list (nltk's 179 English words by default), the
interrogatives, and contractions of such words (``he's``). All other words, numbers included, are
**content words**.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from classic_rc.errors import UsageError
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.near_duplicates import near_duplicate_groups
from classic_rc.questions import (
    PLACEHOLDER,
    Dataset,
    Passage,
    Question,
    Task,
    TextCandidates,
    candidate_texts,
)
from classic_rc.text.analyzers import stop_words
from classic_rc.text.languages import MIN_UNSPACED_SHARE
from classic_rc.text.rewriting import (
    WORDS,
    PassageEdit,
    Rewriting,
    Sentences,
    Unit,
    edit_passages,
    find_sentences,
    find_units,
    make_edit,
    without_places,
    word_key,
    write_in_order,
)
from classic_rc.text.tokenizers import UNSPACED, unspaced_share

INTERROGATIVES = frozenset(
    "what what's when when's where where's which who who's whom whose why why's how how's".split()
)
"""The words that ``interrogatives-only`` keeps; they count as function words."""
_CLITICS = frozenset("d ll m re s t ve".split())
_POSSIBLE_DONORS = 10
"""``other-passage`` draws from this many passages, those of the most similar length."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices that all perturbations share."""

    seed: int = 0
    function_words: frozenset[str] = field(default_factory=lambda: stop_words("nltk"))

    def is_function_word(self, word: str) -> bool:
        """Return whether a word is one of the list or an interrogative, or a contraction of such
        words.
        """
        key = word_key(word)
        if key in self.function_words or key in INTERROGATIVES:
            return True
        first, *rest = key.split("'")
        return (
            bool(rest)
            and first in self.function_words | INTERROGATIVES
            and _CLITICS.issuperset(rest)
        )

    def order(self, key: str, n: int) -> list[int]:
        """Return a random order of n things that depends only on the seed and the key."""
        order: list[int] = np.argsort(self.draws(key, n), kind="stable").tolist()
        return order

    def draws(self, key: str, n: int) -> NDArray[np.float64]:
        """Return n uniform numbers that depend only on the seed and the key, shape (n,)."""
        return uniform_draws(text_keys([key]), np.array([n]), self.seed)


def keep_interrogatives(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Keep only the interrogatives of each question, and its question mark."""
    for question in dataset:
        words = [word for word in WORDS.tokenize(question.text) if word_key(word) in INTERROGATIVES]
        mark = "?" if question.text.rstrip().endswith("?") else ""
        yield replace(question, text=" ".join(words) + mark)


def drop_questions(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Empty each question; a cloze query keeps its placeholder."""
    for question in dataset:
        yield replace(question, text=PLACEHOLDER if question.task is Task.CLOZE else "")


def shuffle_questions(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Put the words of each question in a random order."""
    for question in dataset:
        text = question.text
        placeholders = (
            re.finditer(re.escape(PLACEHOLDER), text) if question.task is Task.CLOZE else ()
        )
        units = find_units(text, [place.span() for place in placeholders])
        rewriting = Rewriting(text)
        order = settings.order(f"shuffled-question:{question.id}", len(units))
        write_in_order(rewriting, 0, len(text), units, [units[i] for i in order])
        yield replace(question, text=rewriting.text)


def shuffle_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Put the words of each sentence in a random order."""

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        draws = settings.draws(f"shuffled-words:{passage.id}", len(units))
        rewriting, sentences, last = Rewriting(passage.text), find_sentences(passage, units), 0
        for start, end in sentences.borders:
            rewriting.keep(last, start)
            inside = [i for i, unit in enumerate(units) if start <= unit.start and unit.end <= end]
            order = sorted(inside, key=lambda i: draws[i])
            places = [units[i] for i in inside]
            shuffled = [units[i] for i in order]
            write_in_order(rewriting, start, end, places, shuffled)
            last = end
        rewriting.keep(last, len(passage.text))
        # A sentence is as long as before.
        return make_edit(passage, rewriting, sentences.marks(sentences.borders))

    return edit_passages(dataset, change)


def shuffle_sentences(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Put the sentences of each passage in a random order."""

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        rewriting, sentences = Rewriting(passage.text), find_sentences(passage, units)
        order = settings.order(f"shuffled-sentences:{passage.id}", len(sentences.borders))
        parts = [sentences.borders[i] for i in order]
        written = write_in_order(rewriting, 0, len(passage.text), sentences.borders, parts)
        return make_edit(passage, rewriting, sentences.marks(written))

    return edit_passages(dataset, change)


def drop_function_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Drop the function words of the passages."""
    return _drop_words(dataset, settings.is_function_word)


def drop_content_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Drop the content words of the passages."""
    return _drop_words(dataset, lambda word: not settings.is_function_word(word))


def _drop_words(dataset: Dataset, is_dropped: Callable[[str], bool]) -> Iterator[Question]:
    """Drop words from sentences, with a blank next to them; mentions stay, because they are
    candidates.
    """

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        text = passage.text
        words = [unit for unit in units if not unit.is_mention]
        dropped = [word for word in words if is_dropped(text[word.start : word.end])]
        rewriting, marks, last = Rewriting(text), [], 0
        sentences = find_sentences(passage, units)
        for start, end in sentences.borders:
            rewriting.keep(last, start)
            begin, at = rewriting.length, start
            for unit in dropped:
                if start <= unit.start and unit.end <= end:
                    # The blank before a word goes with it; the one after, if there is none before
                    # or it is first.
                    kept_end = at + len(text[at : unit.start].rstrip())
                    rewriting.keep(at, kept_end)
                    at = unit.end
                    if kept_end in (unit.start, start):
                        at = end - len(text[at:end].lstrip())
            rewriting.keep(at, end)
            marks.append((begin, rewriting.length))
            last = end
        rewriting.keep(last, len(text))
        return make_edit(passage, rewriting, sentences.marks(marks))

    return edit_passages(dataset, change)


_BLANKS = re.compile(r"(?<=\S)[^\S\n]+(?=\S)")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def drop_blanks(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Drop blanks, except between two words of a script that has them between its words."""
    if unspaced_share(passage.text for passage in dataset.passages) < MIN_UNSPACED_SHARE:
        raise UsageError(
            f"no-blanks does not apply to {dataset.name}: blanks are between its words",
            field="dataset",
            found=dataset.name,
            expected="passages in a script without blanks between words",
        )

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        rewriting = _without_blanks(passage.text)
        # Marks of sentences move with the text; without marks, sentences are found anew.
        sentences = passage.sentences or ()
        places = [(start, end) for start, end in sentences if passage.text[start:end].strip()]
        marks = tuple(rewriting.locate(start, end) for start, end in places) or None
        return make_edit(passage, rewriting, marks)

    for question in edit_passages(dataset, change):
        gold = question.gold
        if isinstance(gold, tuple):
            gold = tuple(_without_blanks(text).text for text in gold)
        yield replace(question, gold=gold)


def _without_blanks(text: str) -> Rewriting:
    rewriting, last = Rewriting(text), 0
    for blanks in _BLANKS.finditer(text):
        around = text[blanks.start() - 1], text[blanks.end()]
        if not all(c.isalnum() and not _UNSPACED.match(c) for c in around):
            rewriting.keep(last, blanks.start())
            last = blanks.end()
    rewriting.keep(last, len(text))
    return rewriting


def keep_matching_sentences(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Keep, for each question, the passage's sentences with a content word of the question."""

    @cache
    def sentences_of(passage: Passage) -> Sentences:
        return find_sentences(passage, find_units(passage.text))

    @cache
    def words_of(sentence: str) -> set[str]:
        return set(map(word_key, WORDS.tokenize(sentence)))

    for question in dataset:
        passage, text = question.passage, question.passage.text
        sentences = sentences_of(passage)
        content_words = {
            word_key(w) for w in WORDS.tokenize(question.text) if not settings.is_function_word(w)
        }
        rewriting, marks, last = Rewriting(text), [], 0
        for start, end in sentences.borders:
            if not words_of(text[start:end]).isdisjoint(content_words):
                gap = text[last:start]  # blanks, and the label of the speaker
                rewriting.keep(last if rewriting.length else start - len(gap.lstrip()), start)
                marks.append((rewriting.length, rewriting.length + end - start))
                rewriting.keep(start, end)
            last = end
        edited = make_edit(passage, rewriting, sentences.marks(marks)).passage
        meta = {**edited.meta, "original_passage": passage.id}
        matching = replace(edited, id=f"{passage.id}/{question.id}", meta=meta)
        yield replace(question, passage=matching, meta=without_places(question.meta))


def drop_passages(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Empty each passage."""
    return edit_passages(
        dataset, lambda passage, units: make_edit(passage, Rewriting(passage.text), None)
    )


def keep_options(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Empty each passage and question."""
    return (replace(question, text="") for question in drop_passages(dataset, settings))


def swap_passages(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Give each passage the text of another one of similar length, never of a near duplicate or
    an equal one.
    """

    def count_words(passage: Passage) -> int:
        return len(WORDS.locate(passage.text))

    # Texts and ids break ties, so that the order of the dataset does not matter.
    passages = sorted(dataset.passages, key=lambda p: (count_words(p), p.text, p.id))
    groups = near_duplicate_groups([passage.text for passage in passages]).tolist()
    lengths = list(map(count_words, passages))
    if len(set(groups)) < 2:
        raise UsageError(
            f"other-passage needs two passages that are not near duplicates: {dataset.name} has "
            "one",
            field="dataset",
            found=dataset.name,
            expected="2 or more different passages",
        )
    donors: dict[int, Passage] = {}
    for i, passage in enumerate(passages):
        possible = _nearest_others(i, lengths, groups)
        draw = settings.draws(f"other-passage:{passage.id}", 1)[0]
        donor = passages[possible[int(draw * len(possible))]]
        meta = {**without_places(passage.meta), "other_passage": donor.id}
        donors[id(passage)] = Passage(passage.id, donor.text, donor.sentences, meta)
    for question in dataset:
        yield replace(
            question, passage=donors[id(question.passage)], meta=without_places(question.meta)
        )


def _nearest_others(i: int, lengths: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Return the positions of the passages of other groups with the most similar lengths;
    lengths ascend.
    """
    length = lengths[i]
    shorter, longer = reversed(range(i)), range(i + 1, len(lengths))
    nearest = heapq.merge(shorter, longer, key=lambda j: abs(lengths[j] - length))
    others = (j for j in nearest if groups[j] != groups[i])
    return list(itertools.islice(others, _POSSIBLE_DONORS))


def anonymise(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Replace content words by codes: the passage's words have the first numbers, in a random
    order.
    """
    codes_of: dict[int, dict[str, str]] = {}

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        words = sorted({key for _, _, key in _content_words(passage.text, settings)})
        codes = codes_of[id(passage)] = _number_words(
            words, settings, f"anonymous-words:{passage.id}", 0
        )
        rewriting = _encode(passage.text, codes, settings)
        sentences = find_sentences(passage, units)
        marks = [rewriting.locate(start, end) for start, end in sentences.borders if start < end]
        return make_edit(passage, rewriting, sentences.marks(marks))

    for original, question in zip(dataset, edit_passages(dataset, change), strict=True):
        codes = codes_of[id(original.passage)]
        texts = candidate_texts(original.candidates) if original.task.has_choices else ()
        gold = original.gold
        accepted = gold if isinstance(gold, tuple) else ()
        parts = original.text.split(PLACEHOLDER)
        keys: set[str] = set()
        for text in (*parts, *texts, *accepted):
            keys.update(key for _, _, key in _content_words(text, settings))
        new_words = sorted(keys - codes.keys())
        codes = codes | _number_words(
            new_words, settings, f"anonymous-words:{original.id}", len(codes)
        )

        candidates = question.candidates
        if texts:
            candidates = TextCandidates(_encode_texts(texts, codes, settings))
        if isinstance(gold, tuple):
            gold = tuple(_encode_texts(accepted, codes, settings))
        query = PLACEHOLDER.join(_encode_texts(parts, codes, settings))
        yield replace(question, text=query, candidates=candidates, gold=gold)


def _content_words(text: str, settings: Settings) -> Iterator[tuple[int, int, str]]:
    """Yield the place and the key of each content word; a possessive 's is not part of it."""
    for start, end in WORDS.locate(text):
        word = word_key(text[start:end])
        if settings.is_function_word(word):
            continue
        if word.endswith("'s"):
            word, end = word.removesuffix("'s"), end - 2
        yield start, end, word


def _number_words(words: Sequence[str], settings: Settings, key: str, first: int) -> dict[str, str]:
    """Return a code for each word: the numbers after `first`, in a random order."""
    order = settings.order(key, len(words))
    return {words[i]: f"@word{number}" for number, i in enumerate(order, first + 1)}


def _encode(text: str, codes: Mapping[str, str], settings: Settings) -> Rewriting:
    """Return the text with codes for its content words."""
    rewriting, last = Rewriting(text), 0
    for start, end, key in _content_words(text, settings):
        rewriting.keep(last, start)
        rewriting.keep(start, end, codes[key])
        last = end
    rewriting.keep(last, len(text))
    return rewriting


def _encode_texts(
    texts: Iterable[str], codes: Mapping[str, str], settings: Settings
) -> Iterator[str]:
    return (_encode(text, codes, settings).text for text in texts)
