"""Perturbed copies of a dataset: each lacks something that a reader needs, and keeps the ids and
the gold.

A system that scores as high on a copy as on the original did not use what the copy lacks. The
method is by Sugawara, Stenetorp, Inui and Aizawa 2020 (AAAI): "Assessing the Benchmarking Capacity
of Machine Reading Comprehension Datasets". They tag parts of speech; here a stop list decides, so
that a copy needs no tagger.

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

from classic_rc.errors import DataError, UsageError, unknown_name
from classic_rc.kernels.draws import text_keys, uniform_draws
from classic_rc.near_duplicates import near_duplicate_groups
from classic_rc.plugins import Registry, accept_instances, by_name
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
_CHOICES = frozenset({Task.SINGLE_CHOICE, Task.MULTIPLE_ANSWER})
_QUESTIONS = frozenset(Task) - {Task.CLOZE}
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


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way to take something from the questions of a dataset."""

    name: str
    removes: str  # what it does to the texts, a sentence
    loses: str  # "a reader loses …"
    # yields a question for each question, in order
    apply: Callable[[Dataset, Settings], Iterable[Question]]
    draws: bool = False  # whether the result depends on the seed
    tasks: frozenset[Task] = frozenset(Task)  # for which the copy can still be answered
    refusal: str = ""  # why it does not apply to other tasks


def perturb_dataset(
    dataset: Dataset, name: str, *, seed: int = 0, function_words: str = "nltk"
) -> Dataset:
    """Return a perturbed copy of a dataset.

    Parameters
    ----------
    dataset : Dataset
    name : str
        A name in :data:`PERTURBATIONS`.
    seed : int
        The seed of the random choices.
    function_words : str
        A stop list of :data:`~classic_rc.text.analyzers.STOP_LISTS`, or the path of a file with one
        word per line.

    Returns
    -------
    Dataset
        The same ids, options (unless words are replaced) and gold, in the same order. Questions
        about one passage share the perturbed passage, except where it depends on the question
        (``matching-sentences``); the `meta` of passages then has ``original_passage``. Its notes
        count what can no longer be answered.

    Raises
    ------
    UsageError
        The name is unknown, the perturbation does not apply to the task, or there is no other
        passage to take.
    DataError
        The dataset has no questions.

    Examples
    --------
    >>> from classic_rc import from_rows
    >>> row = {
    ...     "id": "q",
    ...     "passage": "The fox ran. It was cold.",
    ...     "question": "Who ran?",
    ...     "candidates": ["a", "b"],
    ... }
    >>> dataset = from_rows([{**row, "gold": 0}])
    >>> perturb_dataset(dataset, "no-function-words")[0].passage.text
    'fox ran. cold.'
    >>> perturb_dataset(dataset, "interrogatives-only")[0].text
    'Who?'
    """
    perturbation = get_perturbation(name, dataset)
    settings = Settings(seed, stop_words(function_words))
    questions = list(perturbation.apply(dataset, settings))
    if dataset.task is not None and dataset.task.has_spans:
        questions = [replace(question, candidates=()) for question in questions]
    drawn = f" (seed {seed})" if perturbation.draws else ""
    notes = (f"{name}{drawn}: {perturbation.removes}", *_count_notes(dataset, questions))
    return Dataset(questions, f"{dataset.name}+{name}", dataset.split, notes=notes)


def get_perturbation(name: str, dataset: Dataset) -> Perturbation:
    """Return the perturbation of this name, after checking that it applies to the dataset."""
    if name not in PERTURBATIONS:
        raise unknown_name("perturbation", name, PERTURBATIONS)
    if dataset.task is None:
        raise DataError("the dataset has no questions", source=dataset.name)
    perturbation = PERTURBATIONS[name]
    if dataset.task not in perturbation.tasks:
        possible = [p.name for p in PERTURBATIONS.values() if dataset.task in p.tasks]
        raise UsageError(
            f"{name} does not apply to the {dataset.task} questions of {dataset.name}: "
            f"{perturbation.refusal}",
            field="perturbation",
            found=name,
            expected=" or ".join(possible),
        )
    return perturbation


def count_unanswerable(original: Sequence[Question], perturbed: Sequence[Question]) -> int:
    """Return the number of span questions whose answer was in the passage and is no longer in
    the perturbed one.
    """
    return sum(
        _has_answer(old) and not _has_answer(new)
        for old, new in zip(original, perturbed, strict=True)
    )


def _has_answer(question: Question) -> bool:
    if not question.task.has_spans or question.gold is None:
        return True
    is_in_passage = [text in question.passage.text for text in question.gold_texts]
    return all(is_in_passage) if question.task is Task.MULTI_SPAN else any(is_in_passage)


def _count_notes(original: Dataset, perturbed: Sequence[Question]) -> Iterator[str]:
    n = len(perturbed)
    if lost := count_unanswerable(original, perturbed):
        yield (
            f"{lost:,} of {n:,} questions no longer have a right answer in the passage; they count "
            "as wrong"
        )
    pairs = list(zip(original, perturbed, strict=True))
    if empty := sum(
        not new.passage.text.strip() and bool(old.passage.text.strip()) for old, new in pairs
    ):
        yield f"{empty:,} of {n:,} questions have no passage left"
    words = WORDS.tokenize
    if empty := sum(not words(new.text) and bool(words(old.text)) for old, new in pairs):
        yield f"{empty:,} of {n:,} questions have no word left"
    if 2 * (n_equal := sum(_texts(new) == _texts(old) for old, new in pairs)) > n:
        yield f"{n_equal:,} of {n:,} questions are as before"


def _texts(question: Question) -> tuple[str, ...]:
    options = () if question.task.has_spans else candidate_texts(question.candidates)
    return question.passage.text, question.text, *options


# Questions


def _keep_interrogatives(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    for question in dataset:
        words = [word for word in WORDS.tokenize(question.text) if word_key(word) in INTERROGATIVES]
        mark = "?" if question.text.rstrip().endswith("?") else ""
        yield replace(question, text=" ".join(words) + mark)


def _drop_questions(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    for question in dataset:
        yield replace(question, text=PLACEHOLDER if question.task is Task.CLOZE else "")


def _shuffle_questions(dataset: Dataset, settings: Settings) -> Iterator[Question]:
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


# Passages


def _shuffle_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        draws = settings.draws(f"shuffled-words:{passage.id}", len(units))
        rewriting, sentences, last = Rewriting(passage.text), find_sentences(passage, units), 0
        for start, end in sentences.borders:
            rewriting.keep(last, start)
            inside = [i for i, unit in enumerate(units) if start <= unit.start and unit.end <= end]
            order = sorted(inside, key=lambda i: draws[i])
            units_of_sentence = [units[i] for i in inside]
            shuffled_units = [units[i] for i in order]
            write_in_order(rewriting, start, end, units_of_sentence, shuffled_units)
            last = end
        rewriting.keep(last, len(passage.text))
        # A sentence is as long as before.
        return make_edit(passage, rewriting, sentences.marks(sentences.borders))

    return edit_passages(dataset, change)


def _shuffle_sentences(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        rewriting, sentences = Rewriting(passage.text), find_sentences(passage, units)
        order = settings.order(f"shuffled-sentences:{passage.id}", len(sentences.borders))
        parts = [sentences.borders[i] for i in order]
        written = write_in_order(rewriting, 0, len(passage.text), sentences.borders, parts)
        return make_edit(passage, rewriting, sentences.marks(written))

    return edit_passages(dataset, change)


def _drop_function_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    return _drop_words(dataset, settings.is_function_word)


def _drop_content_words(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    return _drop_words(dataset, lambda word: not settings.is_function_word(word))


def _drop_words(dataset: Dataset, is_dropped: Callable[[str], bool]) -> Iterator[Question]:
    """Drop words from sentences, with a blank next to them; mentions stay, because they are
    candidates.
    """

    def change(passage: Passage, units: list[Unit]) -> PassageEdit:
        text = passage.text
        dropped = [u for u in units if not u.is_mention and is_dropped(text[u.start : u.end])]
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


def _drop_blanks(dataset: Dataset, settings: Settings) -> Iterator[Question]:
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
        places = [place for place in passage.sentences or () if passage.text[slice(*place)].strip()]
        marks = tuple(rewriting.locate(*place) for place in places) or None
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


def _keep_matching_sentences(dataset: Dataset, settings: Settings) -> Iterator[Question]:
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
        question_passage = replace(edited, id=f"{passage.id}/{question.id}", meta=meta)
        yield replace(question, passage=question_passage, meta=without_places(question.meta))


def _drop_passages(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    return edit_passages(
        dataset, lambda passage, units: make_edit(passage, Rewriting(passage.text), None)
    )


def _keep_options(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    return (replace(question, text="") for question in _drop_passages(dataset, settings))


def _swap_passages(dataset: Dataset, settings: Settings) -> Iterator[Question]:
    """Give each passage the text of another one of similar length, never of a near duplicate or
    an equal one.
    """
    passages = sorted(dataset.passages, key=lambda p: (len(WORDS.locate(p.text)), p.text, p.id))
    groups = near_duplicate_groups([passage.text for passage in passages]).tolist()
    lengths = [len(WORDS.locate(passage.text)) for passage in passages]
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
        (draw,) = settings.draws(f"other-passage:{passage.id}", 1)
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
    shorter, longer = range(i - 1, -1, -1), range(i + 1, len(lengths))
    nearest = heapq.merge(shorter, longer, key=lambda j: abs(lengths[j] - lengths[i]))
    others = (j for j in nearest if groups[j] != groups[i])
    return list(itertools.islice(others, _POSSIBLE_DONORS))


# Vocabulary


def _anonymise(dataset: Dataset, settings: Settings) -> Iterator[Question]:
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
        keys = set()
        for text in (*parts, *texts, *accepted):
            keys |= {key for _, _, key in _content_words(text, settings)}
        new_words = sorted(keys - codes.keys())
        codes = codes | _number_words(
            new_words, settings, f"anonymous-words:{original.id}", len(codes)
        )

        coded_text = PLACEHOLDER.join(_encode_texts(parts, codes, settings))
        candidates = question.candidates
        if texts:
            candidates = TextCandidates(_encode_texts(texts, codes, settings))
        if isinstance(gold, tuple):
            gold = tuple(_encode_texts(gold, codes, settings))
        yield replace(question, text=coded_text, candidates=candidates, gold=gold)


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
    return {words[i]: f"@word{first + rank + 1}" for rank, i in enumerate(order)}


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


_SPAN_IN_PASSAGE = "the answer is part of the passage"

PERTURBATIONS = Registry[Perturbation](
    "perturbation",
    by_name(
        Perturbation(
            "interrogatives-only",
            "Only the interrogatives of the question are left (who, what, how), or nothing if it "
            "has none.",
            "what the question asks about; the kind of the answer remains",
            _keep_interrogatives,
            tasks=_QUESTIONS,
            refusal="a cloze query has no interrogative",
        ),
        Perturbation(
            "no-question",
            "The question is empty; a cloze query keeps only the placeholder.",
            "what is asked",
            _drop_questions,
        ),
        Perturbation(
            "shuffled-question",
            "The words of the question change places; punctuation and the placeholder's word stay "
            "whole.",
            "the grammar of the question: who did what to whom",
            _shuffle_questions,
            draws=True,
        ),
        Perturbation(
            "no-function-words",
            "The passage has no function words; entity mentions stay whole.",
            "pronouns, prepositions, negation, tense: how the words of a sentence belong together",
            _drop_function_words,
        ),
        Perturbation(
            "no-content-words",
            "The passage has only function words; entity mentions stay whole.",
            "what the passage is about",
            _drop_content_words,
        ),
        Perturbation(
            "shuffled-words",
            "The words of each sentence of the passage change places; punctuation and labels of "
            "speakers stay.",
            "the grammar of sentences: who did what to whom",
            _shuffle_words,
            draws=True,
        ),
        Perturbation(
            "shuffled-sentences",
            "The sentences of the passage change places; labels of speakers stay.",
            "the order of events, what pronouns mean, and who said what",
            _shuffle_sentences,
            draws=True,
        ),
        Perturbation(
            "matching-sentences",
            "The passage has only the sentences with a content word of the question; each question "
            "has its own.",
            "everything that does not repeat a word of the question: context and other sentences",
            _keep_matching_sentences,
            tasks=_QUESTIONS,
            refusal="entities whose sentences go would no longer be candidates",
        ),
        Perturbation(
            "no-blanks",
            "The passage has no blanks, except between words of scripts that need them; gold texts "
            "have none either.",
            "borders that blanks give away in a script without blanks between words",
            _drop_blanks,
        ),
        Perturbation(
            "other-passage",
            "The passage is another one of similar length, but not a near duplicate.",
            "the passage; a text of its kind and length remains",
            _swap_passages,
            draws=True,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
        Perturbation(
            "anonymous-words",
            "Each content word of passage, question and options is a code (@word7), equal within a "
            "question.",
            "what words mean, and that two forms of a word belong together; equal words remain "
            "equal",
            _anonymise,
            draws=True,
        ),
        Perturbation(
            "no-passage",
            "The passage is empty.",
            "the passage",
            _drop_passages,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
        Perturbation(
            "options-only",
            "Passage and question are empty.",
            "passage and question",
            _keep_options,
            tasks=_CHOICES,
            refusal=_SPAN_IN_PASSAGE,
        ),
    ),
    accept_instances("classic_rc.datasets:Perturbation"),
)
"""The perturbations by name, in the order of tables."""
